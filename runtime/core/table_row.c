/* core/table_row.c - a row of a table: is it one, what is its key, how do clients see it. */
#include "base/err.h"
#include "core/table_parts.h"
#include "wire/json_write.h"

const struct table_attribute *table_find_attribute(const struct table *table, struct str name)
{
    for (uint32_t i = 0; i < table->n_attributes; i++)
        if (str_eq(table->attributes[i].name, name))
            return &table->attributes[i];
    return NULL;
}

int table_check_row(const struct table *table, const struct tape_node *row,
                    struct schema_faults *faults)
{
    return json_schema_check(table->rows, row, faults);
}

int table_value_key(const struct table *table, const struct tape_node *value, struct arena *arena,
                    struct str *ret, struct schema_faults *faults)
{
    int err = key_encode(table->key_type, value, arena, ret);
    if (err != ERR_PARAMS && err != ERR_LIMIT)
        return err;
    faults->n = 1;
    faults->v[0].pointer[0] = '\0';
    if (err == ERR_LIMIT)
        return schema_fault_set(&faults->v[0], "length", "1 to %d bytes of text", KEY_BYTES_MAX);
    return schema_fault_set(&faults->v[0], "type", "%s", key_type_name(table->key_type));
}

int table_row_key(const struct table *table, const struct tape_node *row, struct arena *arena,
                  struct str *ret, struct schema_faults *faults)
{
    struct str name = table->attributes[table->key].name;
    const struct tape_node *value = tape_get(row, name);
    if (!value)
        return table_fail_at(faults, "", name, "required", key_type_name(table->key_type));
    int err = table_value_key(table, value, arena, ret, faults);
    if (err == ERR_PARAMS)
        schema_fault_within(&faults->v[0], name);
    return err;
}

/* ---- As clients see it ---------------------------------------------------------------------- */

bool table_is_hidden(const struct table *table, struct str name)
{
    const struct table_attribute *a = table->n_hidden ? table_find_attribute(table, name) : NULL;
    return a && a->hidden;
}

bool table_shows_index(const struct table *table, const struct store_index *index)
{
    for (uint32_t i = 0; i < index->n_parts; i++) {
        struct str path = index->parts[i].attribute, name = str_cut(&path, '.');
        const struct table_attribute *a = table_find_attribute(table, name);
        if (a && a->unknown)
            return false;
    }
    return true;
}

struct writing {
    struct buf *out;
    const struct table *table;
    const struct tape_node *select;
    char before;
};

/* Opens the member if it is to be seen. */
static bool begin_member(struct writing *w, struct str name)
{
    if ((w->select && !table_is_named(w->select, name)) || table_is_hidden(w->table, name))
        return false;
    buf_add_char(w->out, w->before);
    json_write_str(w->out, name);
    buf_add_char(w->out, ':');
    w->before = ',';
    return true;
}

void table_write_row(const struct table *table, const struct tape_node *row, uint64_t version,
                     const struct tape_node *select, struct buf *out)
{
    const struct table_attribute *of_version = table->by_role[ROLE_VERSION];
    struct writing w = {out, table, select, '{'};
    if (table->is_unread) {
        buf_add_lit(out, "{}");
        return;
    }
    if (!select && !table->n_hidden && !of_version) {
        tape_write(row, out);
        return;
    }
    tape_each (row, name, value)
        if (begin_member(&w, tape_str(name)))
            tape_write(value, out);
    if (of_version && begin_member(&w, of_version->name))
        buf_add_u64(out, version);
    buf_printf(out, w.before == '{' ? "{}" : "}");
}
