/* manifest/completion.c - see completion.h.
 *
 * A query reads one row for each value: from the first that begins with what was typed, then from
 * the first behind all rows with that value, and so on. So its work does not grow with the table,
 * nor with how many rows share a value. */
#include "manifest/completion.h"

#include "base/err.h"
#include "core/catalog.h"
#include "core/component_call.h"
#include "core/table_ranges.h"
#include "manifest/wording.h"

#include <string.h>

/* ---- Reading -------------------------------------------------------------------------------- */

static int read_values(const struct manifest_entry *entry, struct completion *ret)
{
    const struct tape_node *list = tape_get(entry->node, STR("values"));
    const struct tape_node *node = list + 1;
    struct str *values = arena_array(&entry->m->arena, list->n + 1, sizeof *values);
    if (!values)
        return ERR_NO_MEMORY;
    for (uint32_t i = 0; i < list->n; i++, node = tape_next(node)) {
        values[i] = arena_str(&entry->m->arena, tape_str(node));
        if (!values[i].p)
            return ERR_NO_MEMORY;
    }
    ret->values = values;
    ret->n_values = list->n;
    return 0;
}

/* Of a table of this manifest more is known than of one that is there some time. */
static const struct tape_node *find_table(const struct manifest *m, struct str name)
{
    const struct tape_node *tables = tape_get(m->root, STR("tables"));
    const struct tape_node *node = tables ? tables + 1 : NULL;
    for (uint32_t i = 0; tables && i < tables->n; i++, node = tape_next(node))
        if (str_eq(tape_str(tape_get(node, STR("table"))), name))
            return node;
    return NULL;
}

/* "on": ["name", ...] of one of `indexes`. */
static bool leads_index(const struct tape_node *table, struct str attribute)
{
    const struct tape_node *indexes = tape_get(table, STR("indexes"));
    const struct tape_node *node = indexes ? indexes + 1 : NULL;
    for (uint32_t i = 0; indexes && i < indexes->n; i++, node = tape_next(node)) {
        const struct tape_node *on = node->kind == TAPE_OBJECT ? tape_get(node, STR("on")) : NULL;
        if (on && on->kind == TAPE_ARRAY && on->n && on[1].kind == TAPE_STR &&
            str_eq(tape_str(on + 1), attribute))
            return true;
    }
    return false;
}

static bool is_indexed(const struct tape_node *table, struct str attribute)
{
    const struct tape_node *indexed = tape_get(table, STR("indexed"));
    const struct tape_node *node = indexed ? indexed + 1 : NULL;
    for (uint32_t i = 0; indexed && i < indexed->n; i++, node = tape_next(node))
        if (node->kind == TAPE_STR && str_eq(tape_str(node), attribute))
            return true;
    return str_eq(tape_str(tape_get(table, STR("primaryKey"))), attribute) ||
           leads_index(table, attribute);
}

static int check_query(const struct manifest_entry *complete)
{
    struct str attribute = manifest_str(complete, "attribute");
    const struct tape_node *table = find_table(complete->m, manifest_str(complete, "table"));
    const struct tape_node *mcp = table ? tape_get(table, STR("mcp")) : NULL;
    if (mcp && mcp->kind == TAPE_FALSE)
        return manifest_fault(complete->m,
                              manifest_at(complete->m, complete->pointer, STR("table")),
                              "expected a table that clients see, not one with \"mcp\": false");
    if (table && !is_indexed(table, attribute))
        return manifest_fault(
            complete->m, manifest_at(complete->m, complete->pointer, STR("attribute")),
            "expected the primary key of the table, or what an index begins with");
    return 0;
}

int completion_parse(const struct manifest_entry *entry, struct str name, struct completion *ret)
{
    const struct manifest_entry complete = manifest_member(entry, "complete");
    *ret = (struct completion){.name = name};
    if (!complete.node)
        return 0;
    if (tape_get(complete.node, STR("values")))
        return read_values(&complete, ret);
    struct str table = manifest_str(&complete, "table");
    ret->database = str_cut(&table, '.');
    ret->table = table;
    ret->attribute = manifest_str(&complete, "attribute");
    return check_query(&complete);
}

bool completion_is_query(const struct completion *completion)
{
    return completion->table.p != NULL;
}

/* ---- From values ---------------------------------------------------------------------------- */

static int propose_values(struct tenon_call *call, const struct completion *c, struct str typed)
{
    int err = 0;
    for (uint32_t i = 0; err == 0 && i < c->n_values; i++) {
        struct str value = c->values[i];
        if (value.n >= typed.n && str_eq_nocase((struct str){value.p, typed.n}, typed))
            err = tenon_complete(call, value.p);
    }
    return err;
}

/* ---- From a table --------------------------------------------------------------------------- */

struct query {
    struct tenon_call *call;
    struct store_view *view;
    const struct table *table;
    const struct table_attribute *attribute;
    uint32_t index; /* 0: the primary key */
    struct buf at;  /* where to go on */
    struct str end; /* exclusive */
    bool found;
    uint32_t n;
    int err;
};

/* An index that the values of the attribute lead, in their order. 0: none. */
static uint32_t find_index(const struct table *table, struct str attribute)
{
    for (uint32_t i = 0; i < table->n_indexes; i++) {
        const struct store_index *index = &table->indexes[i];
        if (index->ready && str_eq(index->parts[0].attribute, attribute) &&
            index->parts[0].type == KEY_STRING && !index->parts[0].descending)
            return index->id;
    }
    return 0;
}

/* What all keys of the value begin with; of a part without the two bytes that end it, what those
 * of all values do that begin with it. */
static int add_value(const struct query *q, struct str value, bool begins, struct buf *out)
{
    const struct tape_node node = {.kind = TAPE_STR, .n = value.n, .v.s = value.p};
    if (!q->index)
        buf_add_str(out, value);
    else if (key_add_part(KEY_STRING, false, &node, out) == 0 && begins)
        out->n -= 2;
    return out->failed ? ERR_NO_MEMORY : 0;
}

/* The first place behind what was just proposed. Of a primary key that is the value with a NUL. */
static void go_behind(struct query *q, struct str value)
{
    buf_clear(&q->at);
    q->err = add_value(q, value, false, &q->at);
    if (q->index)
        table_successor(&q->at);
    else
        buf_add_char(&q->at, '\0');
}

static bool is_c_text(struct str s)
{
    return !memchr(s.p, '\0', s.n);
}

/* The row is there until this returns. 1: one is enough. */
static int take(struct query *q, const struct tape_node *row)
{
    const struct tape_node *value = tape_get(row, q->attribute->name);
    q->found = value && value->kind == TAPE_STR;
    if (!q->found)
        return 1;
    struct str text = tape_str(value);
    const char *copy = tenon_format(q->call, STR_FMT, STR_ARG(text));
    if (is_c_text(text) && ++q->n <= COMPLETIONS_MAX)
        q->err = copy ? tenon_complete(q->call, copy) : TENON_ERR_NO_MEMORY;
    if (q->err == 0)
        go_behind(q, text);
    return 1;
}

static int take_row(void *ctx, const struct store_row *row)
{
    return take(ctx, row->row);
}

static int take_entry(void *ctx, struct str index_key, const struct store_row *row)
{
    (void)index_key;
    return take(ctx, row->row);
}

static int look(struct query *q)
{
    const struct store_range range = {.from = buf_str(&q->at), .to = q->end};
    q->found = false;
    int err = q->index ? store_scan_index(q->view, q->table->id, q->index, &range, take_entry, q)
                       : store_scan_rows(q->view, q->table->id, &range, take_row, q);
    return err < 0 && err != ERR_ABSENT ? TENON_ERR_INTERNAL : q->err;
}

static int run_query(struct query *q, struct str typed)
{
    struct buf end = {0};
    int err = add_value(q, typed, true, &q->at);
    buf_add_str(&end, buf_str(&q->at));
    table_successor(&end);
    q->end = end.n ? buf_str(&end) : STR_NONE;
    for (q->found = true; err == 0 && q->found && q->n <= COMPLETIONS_MAX;)
        err = look(q);
    if (err == 0 && q->n > COMPLETIONS_MAX)
        err = tenon_complete_total(q->call, -1);
    buf_done(&end);
    buf_done(&q->at);
    return err;
}

static int open_query(struct query *q, const struct completion *c)
{
    q->table = catalog_find_table(q->call->call->catalog, c->database, c->table);
    q->attribute = q->table ? table_find_attribute(q->table, c->attribute) : NULL;
    if (!q->attribute || q->attribute->hidden)
        return ERR_ABSENT;
    if (q->table->key_type == KEY_STRING && q->attribute == &q->table->attributes[q->table->key])
        return store_view_open(q->call->call->core->store, STORE_DATA, &q->view);
    q->index = find_index(q->table, c->attribute);
    return q->index ? store_view_open(q->call->call->core->store, STORE_DATA, &q->view)
                    : ERR_ABSENT;
}

static int propose_from_table(struct tenon_call *call, const struct completion *c, struct str typed)
{
    struct query q = {.call = call};
    if (typed.n > KEY_BYTES_MAX)
        return 0;
    int err = open_query(&q, c);
    if (err == ERR_ABSENT)
        return 0;
    if (err < 0)
        return err == ERR_READERS ? TENON_ERR_BUSY : TENON_ERR_INTERNAL;
    err = run_query(&q, typed);
    store_view_close(q.view);
    return err;
}

int completion_run(struct tenon_call *call, const struct completion *completion, const char *typed)
{
    if (completion->table.p)
        return propose_from_table(call, completion, str_of(typed));
    return propose_values(call, completion, str_of(typed));
}
