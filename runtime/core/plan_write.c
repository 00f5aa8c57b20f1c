/* core/plan_write.c - a plan as people and programs read it. */
#include "core/plan.h"

#include "wire/json_write.h"

static const char *const accesses[] = {
    [PLAN_NOTHING] = "nothing",
    [PLAN_SCAN] = "scan",
    [PLAN_PRIMARY] = "primary",
    [PLAN_INDEX] = "index",
};

static uint32_t shown(const struct plan *plan)
{
    return plan->n_ranges < PLAN_SHOWN_RANGES ? plan->n_ranges : PLAN_SHOWN_RANGES;
}

/* ---- Text ----------------------------------------------------------------------------------- */

static void write_condition(struct buf *out, bool *first, struct str attribute, const char *op,
                            const struct tape_node *value)
{
    buf_add_str(out, *first ? STR(" ") : STR(" and "));
    *first = false;
    buf_add_str(out, attribute);
    buf_printf(out, " %s ", op);
    tape_write(value, out);
}

static void write_range(const struct plan *plan, const struct plan_range *r, struct buf *out)
{
    bool first = true;
    for (uint32_t i = 0; i < r->n_equal; i++)
        write_condition(out, &first, plan->parts[i].attribute, "=", &r->equal[i]);
    if (r->has_lower)
        write_condition(out, &first, plan->parts[r->n_equal].attribute,
                        r->lower_strict ? ">" : ">=", &r->lower);
    if (r->has_upper)
        write_condition(out, &first, plan->parts[r->n_equal].attribute,
                        r->upper_strict ? "<" : "<=", &r->upper);
}

static void write_place(const struct plan *plan, struct buf *out)
{
    buf_add_str(out, str_of(accesses[plan->access]));
    if (plan->index) {
        buf_add_char(out, ' ');
        buf_add_str(out, plan->index->name);
    }
    for (uint32_t i = 0; i < shown(plan); i++) {
        size_t before = out->n;
        buf_add_str(out, i ? STR(",") : STR(":"));
        write_range(plan, &plan->ranges[i], out);
        if (out->n == before + 1) /* nothing to say */
            out->n = before;
    }
    if (plan->n_ranges > PLAN_SHOWN_RANGES)
        buf_printf(out, ", ... (%u ranges)", plan->n_ranges);
}

static void write_order(const struct plan *plan, struct buf *out)
{
    buf_add_str(out, plan->ordered ? STR("; in the order ") : STR("; then sorted by "));
    for (uint32_t i = 0; i < plan->n_order; i++) {
        buf_add_str(out, i ? STR(", ") : STR(""));
        buf_add_str(out, plan->order[i].descending ? STR("-") : STR(""));
        buf_add_str(out, plan->order[i].attribute);
    }
}

void plan_write_text(const struct plan *plan, struct buf *out)
{
    write_place(plan, out);
    if (plan->access == PLAN_NOTHING)
        return;
    if (plan->descending)
        buf_add_lit(out, "; backwards");
    if (plan->test)
        buf_add_lit(out, "; each row tested");
    write_order(plan, out);
    if (plan->advice.p)
        buf_printf(out, "; an index on " STR_FMT " would help", STR_ARG(plan->advice));
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void add_flag(struct buf *out, const char *name, bool value)
{
    buf_printf(out, ",\"%s\":%s", name, value ? "true" : "false");
}

static void add_end(struct buf *out, const char *name, const struct tape_node *value)
{
    buf_printf(out, ",\"%s\":", name);
    tape_write(value, out);
}

static void add_range(const struct plan *plan, const struct plan_range *r, struct buf *out)
{
    buf_add_lit(out, "{\"equal\":{");
    for (uint32_t i = 0; i < r->n_equal; i++) {
        buf_add_str(out, i ? STR(",") : STR(""));
        json_write_str(out, plan->parts[i].attribute);
        buf_add_char(out, ':');
        tape_write(&r->equal[i], out);
    }
    buf_add_char(out, '}');
    if (r->has_lower || r->has_upper) {
        buf_add_lit(out, ",\"attribute\":");
        json_write_str(out, plan->parts[r->n_equal].attribute);
    }
    if (r->has_lower)
        add_end(out, r->lower_strict ? "above" : "from", &r->lower);
    if (r->has_upper)
        add_end(out, r->upper_strict ? "below" : "to", &r->upper);
    buf_add_char(out, '}');
}

static void add_order(const struct plan *plan, struct buf *out)
{
    buf_add_lit(out, ",\"order\":[");
    for (uint32_t i = 0; i < plan->n_order; i++) {
        struct buf name = {0};
        buf_add_str(&name, plan->order[i].descending ? STR("-") : STR(""));
        buf_add_str(&name, plan->order[i].attribute);
        out->failed |= name.failed;
        buf_add_str(out, i ? STR(",") : STR(""));
        json_write_str(out, buf_str(&name));
        buf_done(&name);
    }
    buf_add_char(out, ']');
}

void plan_write_json(const struct plan *plan, struct buf *out)
{
    buf_printf(out, "{\"access\":\"%s\"", accesses[plan->access]);
    if (plan->index) {
        buf_add_lit(out, ",\"index\":");
        json_write_str(out, plan->index->name);
    }
    buf_printf(out, ",\"rangeCount\":%u,\"ranges\":[", plan->n_ranges);
    for (uint32_t i = 0; i < shown(plan); i++) {
        buf_add_str(out, i ? STR(",") : STR(""));
        add_range(plan, &plan->ranges[i], out);
    }
    buf_add_char(out, ']');
    add_flag(out, "unique", plan->unique);
    add_flag(out, "descending", plan->descending);
    add_flag(out, "test", plan->test);
    add_flag(out, "ordered", plan->ordered);
    add_order(plan, out);
    if (plan->advice.p) {
        buf_add_lit(out, ",\"advice\":");
        json_write_str(out, plan->advice);
    }
    buf_add_char(out, '}');
}
