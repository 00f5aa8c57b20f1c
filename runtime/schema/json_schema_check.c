/* schema/json_schema_check.c - does a value fit?
 *
 * A walk over value and schema together. What a subschema found evaluated of a value (for the
 * unevaluated keywords) is kept only below one of these: one byte per member or item, on a stack
 * of its own; a branch that fails puts back what was there before it. While a branch is only tried
 * (anyOf, not, if, ...) the run is quiet: nobody hears of faults, and the first one ends it. */
#include "schema/json_schema_run.h"

#include "base/clock.h"
#include "base/err.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MATCHES_PER_LOOK 8 /* at the clock */

/* ---- faults and limits ---------------------------------------------------------------------- */

__attribute__((cold)) bool run_give_up(struct run *run, const struct tape_node *value,
                                       const char *keyword, const char *expected, unsigned limit)
{
    if (run->err)
        return false;
    run->err = ERR_LIMIT;
    if (run->list.faults)
        run->list.faults->n = 0;
    fault_add(&run->list, value, STR_NONE, keyword, "%s %u", expected, limit);
    return false;
}

static bool is_stopped(struct run *run)
{
    int stop = run->stop ? atomic_load_explicit(run->stop, memory_order_relaxed) : 0;
    if (stop && !run->err)
        run->err = stop;
    return stop;
}

bool run_spend(struct run *run, uint64_t steps, const struct tape_node *value)
{
    if (is_stopped(run))
        return false;
    run->steps -= (int64_t)steps;
    return run->steps >= 0 || run_give_up(run, value, "steps", "steps of a check: at most",
                                          (unsigned)SCHEMA_STEPS_MAX);
}

static bool out_of_time(struct run *run)
{
    if (run->n_matches++ % MATCHES_PER_LOOK)
        return false;
    int64_t now = clock_mono_ms();
    if (run->n_matches == 1)
        run->until_ms = now + SCHEMA_CHECK_MS_MAX;
    return now > run->until_ms;
}

bool run_matches(struct run *run, const struct schema_pattern *pattern,
                 const struct tape_node *text, const char *keyword)
{
    if (is_stopped(run))
        return false;
    int found = out_of_time(run) ? ERR_TIMED_OUT
                                 : pattern_matches(pattern, run->schema->limits, &run->room,
                                                   tape_str(text), run->until_ms);
    if (found == ERR_TIMED_OUT)
        return run_give_up(run, text, keyword, "milliseconds of a check: at most",
                           (unsigned)SCHEMA_CHECK_MS_MAX);
    if (found == ERR_LIMIT)
        return run_give_up(run, text, keyword, "a pattern's steps in matching: at most",
                           (unsigned)SCHEMA_PATTERN_STEPS_MAX);
    if (found < 0)
        run->err = found;
    return found > 0;
}

__attribute__((cold)) static bool fail_type(struct run *run, const struct subschema *sub,
                                            const struct tape_node *value)
{
    char types[96];
    if (!run_is_heard(run))
        return false;
    keyword_type_text(sub->types, types, sizeof types);
    return fail(run, value, "type", "%s", types);
}

__attribute__((cold)) static bool fail_by_value(struct run *run, const struct tape_node *value,
                                                const char *keyword, const char *relation,
                                                const struct tape_node *limit)
{
    char text[200];
    if (!run_is_heard(run))
        return false;
    snprintf(text, sizeof text, "%s", relation);
    fault_value_text(limit, text, sizeof text);
    return fail(run, value, keyword, "%s", text);
}

/* ---- what was evaluated --------------------------------------------------------------------- */

bool run_push_seen(struct run *run, uint32_t n, struct seen *ret)
{
    if (run->n_seen + n > run->cap_seen) {
        size_t cap = (run->n_seen + n) * 2;
        uint8_t *seen = realloc(run->seen, cap);
        if (!seen) {
            run->err = ERR_NO_MEMORY;
            return false;
        }
        run->seen = seen;
        run->cap_seen = cap;
    }
    *ret = (struct seen){run->n_seen, n};
    run->n_seen += n;
    return true;
}

void run_pop_seen(struct run *run, const struct seen *seen)
{
    run->n_seen = seen->at;
}

static void mark_all(struct run *run, const struct seen *seen)
{
    if (seen && seen->n)
        memset(run->seen + seen->at, 1, seen->n);
}

/* ---- subschemas ----------------------------------------------------------------------------- */

bool run_check_same(struct run *run, const struct subschema *sub, const struct tape_node *value,
                    const struct seen *seen, const char *keyword)
{
    if (sub->is_false)
        return fail(run, value, keyword, "nothing here");
    return run_check(run, sub, value, seen);
}

bool run_try(struct run *run, const struct subschema *sub, const struct tape_node *value,
             const struct seen *seen)
{
    struct seen before;
    if (seen && !run_push_seen(run, seen->n, &before))
        return false;
    if (seen && seen->n)
        memcpy(run->seen + before.at, run->seen + seen->at, seen->n);
    run->quiet++;
    bool fits = run_check(run, sub, value, seen) && !run->err;
    run->quiet--;
    if (seen && !fits && seen->n)
        memcpy(run->seen + seen->at, run->seen + before.at, seen->n);
    if (seen)
        run_pop_seen(run, &before);
    return fits;
}

/* ---- numbers and strings -------------------------------------------------------------------- */

static bool check_number(struct run *run, const struct number_rules *rules,
                         const struct tape_node *value)
{
    bool ok = true;
    if (rules->minimum && number_compare(value, rules->minimum) < 0)
        ok = fail_by_value(run, value, "minimum", "at least ", rules->minimum);
    if (rules->maximum && number_compare(value, rules->maximum) > 0)
        ok = fail_by_value(run, value, "maximum", "at most ", rules->maximum);
    if (rules->above && number_compare(value, rules->above) <= 0)
        ok = fail_by_value(run, value, "exclusiveMinimum", "more than ", rules->above);
    if (rules->below && number_compare(value, rules->below) >= 0)
        ok = fail_by_value(run, value, "exclusiveMaximum", "less than ", rules->below);
    if (rules->multiple_of && !number_is_multiple(value, rules->multiple_of))
        ok = fail_by_value(run, value, "multipleOf", "a multiple of ", rules->multiple_of);
    return ok;
}

static uint32_t count_characters(struct str s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s.n; i++)
        n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
    return n;
}

/* Counts only where the number of bytes, at most four to a character, leaves it open. */
static bool check_length(struct run *run, const struct string_rules *rules,
                         const struct tape_node *value)
{
    uint64_t least = (value->n + 3ull) / 4, most = value->n;
    if (least >= rules->min && most <= rules->max)
        return true;
    uint32_t n = count_characters(tape_str(value));
    if (n < rules->min)
        return fail(run, value, "minLength", "characters: at least %llu",
                    (unsigned long long)rules->min);
    if (n > rules->max)
        return fail(run, value, "maxLength", "characters: at most %llu",
                    (unsigned long long)rules->max);
    return true;
}

static bool check_string(struct run *run, const struct string_rules *rules,
                         const struct tape_node *value)
{
    bool ok = check_length(run, rules, value);
    if (rules->pattern && !run_matches(run, rules->pattern, value, "pattern"))
        ok = fail(run, value, "pattern", STR_FMT, STR_ARG(rules->pattern->text));
    if (rules->format && !schema_format_fits(rules->format, tape_str(value)))
        ok = fail(run, value, "format", "%s", schema_format_name(rules->format));
    return ok;
}

/* ---- any kind of value ---------------------------------------------------------------------- */

static bool check_choices(struct run *run, const struct general_rules *rules,
                          const struct tape_node *value)
{
    char text[128] = "";
    if (!run_spend(run, tape_size(value), value))
        return false;
    if (value_set_has(rules->choices, value))
        return true;
    for (uint32_t i = 0; !run->quiet && i < rules->choices->n && strlen(text) < 100; i++) {
        strcat(text, i ? "|" : "");
        fault_value_text(rules->choices->values[i], text, sizeof text);
    }
    return fail(run, value, "enum", "%s", text[0] ? text : "nothing");
}

static bool check_constant(struct run *run, const struct general_rules *rules,
                           const struct tape_node *value)
{
    if (!run_spend(run, tape_size(value), value))
        return false;
    return tape_equal(rules->constant, value) ||
           fail_by_value(run, value, "const", "", rules->constant);
}

static bool check_all_of(struct run *run, const struct subschemas *all,
                         const struct tape_node *value, const struct seen *seen)
{
    bool ok = true;
    for (uint32_t i = 0; i < all->n && !run->err && (ok || !run->quiet); i++)
        ok &= run_check_same(run, all->v[i], value, seen, "allOf");
    return ok;
}

/* The member that the alternative asks for, if that is all that it says. */
static struct str only_required(const struct subschema *alternative)
{
    const struct tape_node *at = alternative->at;
    const struct tape_node *required =
        at->kind == TAPE_OBJECT && at->n == 1 ? tape_get(at, STR("required")) : NULL;
    return required && required->n == 1 ? tape_str(required + 1) : STR_NONE;
}

static bool name_members(const struct subschemas *alternatives, struct buf *out)
{
    for (uint32_t i = 0; i < alternatives->n; i++) {
        struct str name = only_required(alternatives->v[i]);
        if (!name.p)
            return false;
        buf_printf(out, "%s" STR_FMT, i ? "|" : "", STR_ARG(name));
    }
    return !out->failed;
}

/* Alternatives that only differ in type, or in the one member that they ask for, are told by it. */
__attribute__((cold)) static bool fail_alternatives(struct run *run,
                                                    const struct subschemas *alternatives,
                                                    const struct tape_node *value,
                                                    const char *keyword)
{
    char text[96];
    uint16_t types = 0;
    bool simple = true;
    if (!run_is_heard(run))
        return false;
    for (uint32_t i = 0; i < alternatives->n; i++) {
        simple &= alternatives->v[i]->simple;
        types |= alternatives->v[i]->types;
    }
    keyword_type_text(types, text, sizeof text);
    if (simple && text[0])
        return fail(run, value, keyword, "%s", text);
    struct buf names = {0};
    bool fine =
        name_members(alternatives, &names)
            ? fail(run, value, keyword, "one of the members " STR_FMT, STR_ARG(buf_str(&names)))
            : fail(run, value, keyword, "a value that fits one of %u alternatives",
                   alternatives->n);
    buf_done(&names);
    return fine;
}

static bool fail_several(struct run *run, const struct subschemas *one,
                         const struct tape_node *value)
{
    struct buf names = {0};
    if (run_is_heard(run) && name_members(one, &names))
        fail(run, value, "oneOf", "only one of the members " STR_FMT, STR_ARG(buf_str(&names)));
    else
        fail(run, value, "oneOf", "a value that fits only one of %u alternatives", one->n);
    buf_done(&names);
    return false;
}

static bool check_any_of(struct run *run, const struct subschemas *any,
                         const struct tape_node *value, const struct seen *seen)
{
    bool fits = false;
    for (uint32_t i = 0; i < any->n && !run->err && (!fits || seen); i++)
        fits |= run_try(run, any->v[i], value, seen);
    return fits || fail_alternatives(run, any, value, "anyOf");
}

static bool check_one_of(struct run *run, const struct subschemas *one,
                         const struct tape_node *value, const struct seen *seen)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < one->n && !run->err && n < 2; i++)
        n += run_try(run, one->v[i], value, seen);
    if (n == 0)
        return fail_alternatives(run, one, value, "oneOf");
    return n == 1 || fail_several(run, one, value);
}

static bool check_if(struct run *run, const struct general_rules *rules,
                     const struct tape_node *value, const struct seen *seen)
{
    if (run_try(run, rules->if_, value, seen))
        return !rules->then || run_check_same(run, rules->then, value, seen, "then");
    return !rules->else_ || run_check_same(run, rules->else_, value, seen, "else");
}

static bool check_general(struct run *run, const struct general_rules *rules,
                          const struct tape_node *value, const struct seen *seen)
{
    bool ok = true;
    if (rules->choices)
        ok &= check_choices(run, rules, value);
    if (rules->constant)
        ok &= check_constant(run, rules, value);
    if (rules->ref)
        ok &= run_check_same(run, rules->ref, value, seen, "$ref");
    if (rules->all_of.n)
        ok &= check_all_of(run, &rules->all_of, value, seen);
    if (rules->any_of.n)
        ok &= check_any_of(run, &rules->any_of, value, seen);
    if (rules->one_of.n)
        ok &= check_one_of(run, &rules->one_of, value, seen);
    if (rules->not &&run_try(run, rules->not, value, NULL))
        ok = fail(run, value, "not", "a value that does not fit the schema in \"not\"");
    if (rules->if_)
        ok &= check_if(run, rules, value, seen);
    return ok;
}

/* ---- the walk ------------------------------------------------------------------------------- */

static bool check_rules(struct run *run, const struct subschema *sub, const struct tape_node *value,
                        const struct seen *seen)
{
    bool ok = true;
    switch ((enum tape_kind)value->kind) {
    case TAPE_INT:
    case TAPE_NUM:
        ok = !sub->number || check_number(run, sub->number, value);
        break;
    case TAPE_STR:
        ok = !sub->string || check_string(run, sub->string, value);
        break;
    case TAPE_ARRAY:
        ok = !sub->array || run_check_array(run, sub->array, value, seen);
        break;
    case TAPE_OBJECT:
        ok = !sub->object || run_check_object(run, sub->object, value, seen);
        break;
    default:
        break;
    }
    if (sub->general && !run->err && (ok || !run->quiet))
        ok &= check_general(run, sub->general, value, seen);
    return ok;
}

/* With an unevaluated keyword, which looks at what all others left. */
static bool check_tracked(struct run *run, const struct subschema *sub,
                          const struct tape_node *value, const struct seen *outer)
{
    struct seen own;
    if (!run_push_seen(run, value->n, &own))
        return false;
    if (own.n)
        memset(run->seen + own.at, 0, own.n);
    bool ok = check_rules(run, sub, value, &own) && !run->err;
    if (ok && value->kind == TAPE_OBJECT)
        ok = run_check_unevaluated_members(run, sub->object, value, &own);
    else if (ok)
        ok = run_check_unevaluated_items(run, sub->array->unevaluated, value, &own);
    run_pop_seen(run, &own);
    if (ok)
        mark_all(run, outer);
    return ok;
}

static bool is_tracked(const struct subschema *sub, const struct tape_node *value)
{
    if (value->kind == TAPE_OBJECT)
        return sub->object && sub->object->unevaluated;
    return value->kind == TAPE_ARRAY && sub->array && sub->array->unevaluated;
}

static bool enter(struct run *run, const struct tape_node *value)
{
    if (run->depth == SCHEMA_RECURSION_MAX)
        return run_give_up(run, value, "depth", "schemas at work within each other: at most",
                           SCHEMA_RECURSION_MAX);
    if (run->err || !run_spend(run,
                               value->kind < TAPE_STR    ? 1
                               : value->kind == TAPE_STR ? 1 + value->n / 64
                                                         : 1 + value->n,
                               value))
        return false;
    run->depth++;
    return true;
}

bool run_check(struct run *run, const struct subschema *sub, const struct tape_node *value,
               const struct seen *seen)
{
    if (!takes_kind(sub, value))
        return sub->is_false ? false : fail_type(run, sub, value);
    if (sub->simple)
        return true;
    if (!enter(run, value))
        return false;
    bool ok = is_tracked(sub, value) ? check_tracked(run, sub, value, seen)
                                     : check_rules(run, sub, value, seen);
    run->depth--;
    return ok && !run->err;
}

int json_schema_check_unless(const struct json_schema *schema, const struct tape_node *value,
                             const _Atomic int *stop, struct schema_faults *faults)
{
    struct run run = {.schema = schema,
                      .stop = stop,
                      .list = {.root = value, .faults = faults},
                      .quiet = !faults,
                      .steps = SCHEMA_STEPS_MAX};
    if (faults)
        faults->n = 0;
    bool fits = run_check_same(&run, schema->root, value, NULL, "false");
    free(run.seen);
    if (run.room.data)
        pattern_room_done(&run.room);
    return run.err ? run.err : fits ? 0 : ERR_PARAMS;
}

int json_schema_check(const struct json_schema *schema, const struct tape_node *value,
                      struct schema_faults *faults)
{
    return json_schema_check_unless(schema, value, NULL, faults);
}
