/* core/row_prepare.c - see row_prepare.h. */
#include "core/row_prepare.h"

#include "base/clock.h"
#include "base/err.h"
#include "core/table_attributes.h"

#include <string.h>

/* ---- What clients may give ------------------------------------------------------------------ */

static bool may_be_given(const struct table_attribute *a, enum row_source source)
{
    return !a->role && !(source == ROW_CREATED ? a->no_insert : a->no_update);
}

static int fail_unknown(struct schema_faults *faults, struct str name)
{
    *faults = (struct schema_faults){.n = 1};
    schema_fault_within(&faults->v[0], name);
    return schema_fault_set(&faults->v[0], "additionalProperties", "no such member");
}

int row_check_given(const struct table *table, enum row_source source,
                    const struct tape_node *given, struct schema_faults *faults)
{
    if (!table->is_filled)
        return 0;
    for (uint32_t i = 0; i < table->n_attributes; i++) {
        const struct table_attribute *a = &table->attributes[i];
        if (!may_be_given(a, source) && tape_get(given, a->name))
            return fail_unknown(faults, a->name);
    }
    return 0;
}

/* ---- Making the row ------------------------------------------------------------------------- */

struct preparing {
    const struct table *table;
    enum row_source source;
    const struct tape_node *row, *before;
    struct arena *arena;
    int64_t now_ms;
};

/* Does the time of now take the place of what stands there? */
static bool is_renewed(const struct preparing *p, const struct table_attribute *a)
{
    return a->role == ROLE_UPDATED_TIME && p->source != ROW_IMPORTED;
}

/* What an attribute gets that the row does not have, or that is renewed; *ret NULL: nothing. */
static int fill(const struct preparing *p, const struct table_attribute *a,
                const struct tape_node **ret)
{
    bool is_new = p->source == ROW_CREATED || p->source == ROW_IMPORTED;
    bool is_key = a == &p->table->attributes[p->table->key];
    *ret = NULL;
    if (a->role == ROLE_VERSION)
        return 0;
    if (a->role == ROLE_UPDATED_TIME || (a->role && is_new))
        return table_time_value(a, p->now_ms, p->arena, ret);
    if (p->source == ROW_REPLACED && (is_key || a->hidden || !may_be_given(a, p->source))) {
        *ret = tape_get(p->before, a->name);
        return 0;
    }
    return a->fill && p->source != ROW_CHANGED ? table_default_value(a, p->now_ms, p->arena, ret)
                                               : 0;
}

static void copy_given(const struct preparing *p, struct tape_builder *b)
{
    const struct table_attribute *updated = p->table->by_role[ROLE_UPDATED_TIME];
    tape_each (p->row, name, value) {
        if (updated && is_renewed(p, updated) && str_eq(tape_str(name), updated->name))
            continue;
        tape_add_str(b, tape_str(name));
        tape_add_node(b, value);
    }
}

static int add_missing(const struct preparing *p, struct tape_builder *b)
{
    for (uint32_t i = 0; i < p->table->n_attributes; i++) {
        const struct table_attribute *a = &p->table->attributes[i];
        const struct tape_node *value;
        if (!is_renewed(p, a) && tape_get(p->row, a->name))
            continue;
        int err = fill(p, a, &value);
        if (err < 0)
            return err;
        if (!value)
            continue;
        tape_add_str(b, a->name);
        tape_add_node(b, value);
    }
    return 0;
}

/* A replaced row without its key gets that too. */
static bool is_complete(const struct preparing *p)
{
    const struct table *t = p->table;
    return !t->is_filled &&
           (p->source != ROW_REPLACED || tape_get(p->row, t->attributes[t->key].name));
}

int row_prepare(const struct table *table, enum row_source source, const struct tape_node *row,
                const struct tape_node *before, struct arena *arena, const struct tape_node **ret,
                struct schema_faults *faults)
{
    const struct preparing p = {table, source, row, before, arena, clock_wall_ms()};
    const struct table_attribute *version = table->by_role[ROLE_VERSION];
    struct tape_builder b;
    if (is_complete(&p)) {
        *ret = row;
        return 0;
    }
    if (version && source == ROW_IMPORTED && tape_get(row, version->name))
        return fail_unknown(faults, version->name);
    tape_begin(&b, arena);
    tape_open_object(&b);
    copy_given(&p, &b);
    int err = add_missing(&p, &b);
    tape_close(&b);
    return err < 0 ? err : tape_finish(&b, ret);
}

int table_prepare_row(const struct table *table, const struct tape_node *given, struct arena *arena,
                      const struct tape_node **ret_row, struct str *ret_key,
                      struct schema_faults *faults)
{
    const struct tape_node *row;
    int err = 0;
    if (given->kind == TAPE_OBJECT)
        err = row_prepare(table, ROW_IMPORTED, given, NULL, arena, &row, faults);
    else
        row = given; /* the schema refuses it */
    if (err == 0)
        err = table_check_row(table, row, faults);
    if (err == 0)
        err = table_row_key(table, row, arena, ret_key, faults);
    if (err == 0)
        *ret_row = row;
    return err;
}

/* ---- Telling -------------------------------------------------------------------------------- */

static bool tells_hidden(const struct table *table, const struct schema_fault *fault)
{
    for (uint32_t i = 0; i < table->n_attributes; i++) {
        const struct table_attribute *a = &table->attributes[i];
        if (a->hidden && (memmem(fault->pointer, strlen(fault->pointer), a->name.p, a->name.n) ||
                          memmem(fault->expected, strlen(fault->expected), a->name.p, a->name.n)))
            return true;
    }
    return false;
}

void row_hide_faults(const struct table *table, struct schema_faults *faults)
{
    for (uint32_t i = 0; table->n_hidden && i < faults->n; i++) {
        if (!tells_hidden(table, &faults->v[i]))
            continue;
        faults->v[i].pointer[0] = '\0';
        schema_fault_set(&faults->v[i], "schema", "a row that the table allows");
    }
}
