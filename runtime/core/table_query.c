/* core/table_query.c - see table_query.h. */
#include "core/table_query.h"

#include "base/err.h"
#include "core/core_state.h"
#include "core/table_indexes.h"
#include "core/table_ranges.h"
#include "wire/json_write.h"

#include <stdio.h>
#include <string.h>

struct reading {
    struct call *call;
    struct arena *arena;
    const struct table *table;
    const struct tape_node *args, *order_by;
    struct table_query *query;
    const struct plan_order *wanted;
    uint32_t n_wanted;
    struct str why; /* without a call: what is wrong */
};

/* ---- Refusing ------------------------------------------------------------------------------- */

/* Pointers lead from the arguments. */
static int refuse(struct reading *r, const char *pointer, const char *keyword, const char *expected)
{
    struct schema_faults faults = {.n = 1};
    if (!r->call) {
        r->why = arena_printf(r->arena, "%s: expected %s", pointer + 1, expected);
        return r->why.p ? ERR_PARAMS : ERR_NO_MEMORY;
    }
    struct str from = arena_printf(r->arena, "/params/arguments%s", pointer);
    if (!from.p)
        return ERR_NO_MEMORY;
    schema_fault_set(&faults.v[0], keyword, "%s", expected);
    return call_explain(r->call, ERR_PARAMS, STR_NONE, call_errors_data(r->call, from.p, &faults));
}

static void write_text_member(struct buf *out, const char *name, const char *value)
{
    if (!value[0])
        return;
    buf_printf(out, ",\"%s\":", name);
    json_write_str(out, str_of(value));
}

/* The message says it in a sentence, the data in parts. */
static int refuse_filter(struct reading *r, const struct filter_fault *fault)
{
    struct buf text = {0};
    buf_add_str(&text, r->call ? STR("Invalid params: where: ") : STR("where: "));
    filter_fault_write(fault, &text);
    struct str message = arena_buf(r->arena, &text);
    if (!r->call) {
        buf_done(&text);
        r->why = message;
        return message.p ? ERR_PARAMS : ERR_NO_MEMORY;
    }
    buf_clear(&text);
    buf_add_lit(&text, "{\"errors\":[{\"pointer\":\"/params/arguments/where\",\"keyword\":\"filter"
                       "\",\"expected\":");
    json_write_str(&text, str_of(fault->expected));
    if (fault->column)
        buf_printf(&text, ",\"column\":%u", fault->column);
    write_text_member(&text, "found", fault->found);
    write_text_member(&text, "suggestion", fault->suggestion);
    buf_add_lit(&text, "}]}");
    struct str data = arena_buf(r->arena, &text);
    buf_done(&text);
    return call_explain(r->call, ERR_PARAMS, message, data);
}

/* ---- The parts of the question -------------------------------------------------------------- */

static const struct tape_node *argument(const struct reading *r, struct str name)
{
    return r->args ? tape_get(r->args, name) : NULL;
}

static int read_where(struct reading *r, const struct tape_node *where)
{
    const struct filter_columns *columns = &r->table->columns;
    const struct filter *filter;
    struct filter_fault fault = {0};
    int err = where->kind == TAPE_STR
                  ? filter_compile(tape_str(where), columns, r->arena, &filter, &fault)
                  : filter_from_object(where, columns, r->arena, &filter, &fault);
    if (err == ERR_SYNTAX || err == ERR_LIMIT)
        return refuse_filter(r, &fault);
    if (err == 0 && filter_root(filter))
        r->query->filter = filter;
    return err;
}

static const struct filter_column *key_column(const struct table *table)
{
    const struct filter_column *c = table->columns.v;
    while (c->n_names != 1 || !str_eq(c->names[0], table->attributes[table->key].name))
        c++;
    return c;
}

/* "-population": by it, from the greatest. */
static const struct filter_column *read_order(const struct table *table, struct str text,
                                              bool *ret_descending)
{
    *ret_descending = text.n && text.p[0] == '-';
    if (*ret_descending)
        text = (struct str){text.p + 1, text.n - 1};
    return table_find_column(&table->columns, text);
}

static int read_order_by(struct reading *r, const struct tape_node *list)
{
    const struct tape_node *item = list + 1;
    struct plan_order *wanted = arena_array(r->arena, (size_t)list->n + 1, sizeof *wanted);
    r->wanted = wanted;
    if (!wanted)
        return ERR_NO_MEMORY;
    for (r->n_wanted = 0; r->n_wanted < list->n; item = tape_next(item)) {
        bool descending;
        const struct filter_column *column = read_order(r->table, tape_str(item), &descending);
        char pointer[64];
        snprintf(pointer, sizeof pointer, "/order_by/%u", r->n_wanted);
        if (!column || column->type == FILTER_OBJECT || column->type == FILTER_ARRAY)
            return refuse(r, pointer, "attribute",
                          "an attribute that holds single values, with a - before it to begin "
                          "with the greatest");
        wanted[r->n_wanted++] = (struct plan_order){column->path, descending};
    }
    return 0;
}

static int make_scope(struct reading *r)
{
    struct buf text = {0};
    buf_printf(&text, "%u ", r->table->id);
    json_write_str(&text, r->call->in.access->user);
    json_write_str(&text, r->call->in.access->role_name);
    if (r->order_by && r->order_by->n)
        tape_write(r->order_by, &text);
    if (r->query->filter)
        filter_canonical(r->query->filter, &text);
    r->query->scope = arena_buf(r->arena, &text);
    buf_done(&text);
    return r->query->scope.p ? 0 : ERR_NO_MEMORY;
}

/* ---- Cursor: {"by":["-population","id"],"at":[5,"x"]} ---------------------------------------- */

static int take_position(struct reading *r, const struct tape_node *cursor)
{
    const struct tape_node *at = tape_get(cursor, STR("at")), *value = at + 1;
    struct tape_node *values = arena_array(r->arena, at->n, sizeof *values);
    if (!values)
        return ERR_NO_MEMORY;
    for (uint32_t i = 0; i < at->n; i++, value = tape_next(value))
        values[i] = *value;
    r->query->after = values;
    return at->n == r->n_wanted ? 0 : ERR_PARAMS;
}

static int open_cursor(struct reading *r, struct str payload, const struct tape_node **ret)
{
    struct wire_fault fault;
    char *padded = arena_zalloc(r->arena, (size_t)payload.n + JSON_PADDING_BYTES);
    if (!padded)
        return ERR_NO_MEMORY;
    memcpy(padded, payload.p, payload.n);
    return tape_open((struct str){padded, payload.n}, r->arena, ret, &fault);
}

static int read_cursor(struct reading *r)
{
    const struct tape_node *text = argument(r, STR("cursor")), *cursor = NULL;
    const char *pointer = "/cursor";
    const char *expected = "nextCursor of a page with the same where and order_by";
    struct str payload;
    if (!text)
        return 0;
    int err = cursor_read(&r->call->core->cursor_key, CURSOR_SEARCH, r->query->scope,
                          tape_str(text), r->arena, &payload);
    if (err == 0)
        err = open_cursor(r, payload, &cursor);
    /* what was an attribute then may be none after a change of the table */
    if (err == 0)
        err = read_order_by(r, tape_get(cursor, STR("by")));
    if (err == 0)
        err = take_position(r, cursor);
    return err == 0 || err == ERR_NO_MEMORY ? err : refuse(r, pointer, "cursor", expected);
}

static void write_order(const struct table_query *query, struct buf *out)
{
    for (uint32_t i = 0; i < query->n_order; i++) {
        struct buf name = {0};
        if (query->order[i].descending)
            buf_add_char(&name, '-');
        buf_add_str(&name, query->order[i].column->path);
        if (i)
            buf_add_char(out, ',');
        json_write_str(out, buf_str(&name));
        out->failed |= name.failed;
        buf_done(&name);
    }
}

int table_query_cursor(struct call *call, const struct table_query *query,
                       const struct tape_node *values, struct str *ret)
{
    struct buf text = {0};
    buf_add_lit(&text, "{\"by\":[");
    write_order(query, &text);
    buf_add_lit(&text, "],\"at\":[");
    for (uint32_t i = 0; i < query->n_order; i++) {
        if (i)
            buf_add_char(&text, ',');
        tape_write(&values[i], &text);
    }
    buf_add_lit(&text, "]}");
    int err = text.failed ? ERR_NO_MEMORY : text.n > CURSOR_PAYLOAD_BYTES ? ERR_TOO_LARGE : 0;
    if (err == 0)
        err = cursor_write(&call->core->cursor_key, CURSOR_SEARCH, query->scope, buf_str(&text),
                           &call->arena, ret);
    buf_done(&text);
    return err;
}

/* ---- Plan ----------------------------------------------------------------------------------- */

/* What the plan sorts by; but a cursor's own order, which says the same, as its values go by it. */
static int take_order(struct reading *r)
{
    struct table_query *q = r->query;
    const struct plan_order *from = q->after ? r->wanted : q->plan.order;
    struct query_order *order;
    q->n_order = q->after ? r->n_wanted : q->plan.n_order;
    if (!(order = arena_array(r->arena, q->n_order, sizeof *order)))
        return ERR_NO_MEMORY;
    for (uint32_t i = 0; i < q->n_order; i++)
        order[i] = (struct query_order){filter_find_column(&r->table->columns, from[i].attribute),
                                        from[i].descending};
    q->order = order;
    return 0;
}

/* As the store has them, but with paths as filters write them; those whose attributes are not to be
 * seen are left out. */
static int take_index(struct reading *r, const struct store_index *index)
{
    struct store_index_part *parts = arena_array(r->arena, index->n_parts, sizeof *parts);
    if (!parts)
        return ERR_NO_MEMORY;
    for (uint32_t i = 0; i < index->n_parts; i++) {
        const struct filter_column *column =
            table_find_column(&r->table->columns, index->parts[i].attribute);
        if (!column)
            return 0;
        parts[i] = index->parts[i];
        parts[i].attribute = column->path;
    }
    r->query->indexes[r->query->n_indexes] = *index;
    r->query->indexes[r->query->n_indexes++].parts = parts;
    return 0;
}

static int take_indexes(struct reading *r)
{
    const struct table *t = r->table;
    int err = 0;
    r->query->indexes = arena_array(r->arena, (size_t)t->n_indexes + 1, sizeof *t->indexes);
    if (!r->query->indexes)
        return ERR_NO_MEMORY;
    for (uint32_t i = 0; err == 0 && i < t->n_indexes; i++)
        err = t->indexes[i].ready ? take_index(r, &t->indexes[i]) : 0;
    return err;
}

/* Where no such place can be said, all rows are looked at and sorted. */
static int take_place(struct reading *r, const struct plan_query *query)
{
    struct table_query *q = r->query;
    const struct table_place row = {query, r->wanted, r->n_wanted, q->after};
    int err = q->after && q->plan.ordered && q->plan.access != PLAN_NOTHING
                  ? table_place_make(&q->plan, &row, r->arena, &q->after_place)
                  : 0;
    if (err == ERR_PARAMS || err == ERR_LIMIT) {
        q->plan.ordered = false;
        err = 0;
    }
    return err;
}

static int make_plan(struct reading *r)
{
    struct table_query *q = r->query;
    const struct plan_query query = {
        .filter = q->filter,
        .order = r->wanted,
        .n_order = r->n_wanted,
        .key = {.attribute = key_column(r->table)->path, .type = r->table->key_type},
        .indexes = q->indexes,
        .n_indexes = q->n_indexes,
    };
    q->wanted = r->wanted;
    q->n_wanted = r->n_wanted;
    q->after_place = STR_NONE;
    int err = plan_make(&query, r->arena, &q->plan);
    if (err == 0)
        err = take_order(r);
    if (err == 0)
        err = table_ranges_make(&q->plan, r->arena, &q->ranges, &q->n_ranges);
    return err < 0 ? err : take_place(r, &query);
}

int table_query_without_index(const struct table *table, struct arena *arena,
                              struct table_query *query)
{
    struct reading r = {.arena = arena,
                        .table = table,
                        .query = query,
                        .wanted = query->wanted,
                        .n_wanted = query->n_wanted};
    for (uint32_t i = 0; i < query->n_indexes; i++)
        if (&query->indexes[i] == query->plan.index)
            query->indexes[i].ready = false;
    return make_plan(&r);
}

int table_query_read(struct call *call, const struct table *table, const struct tape_node *args,
                     struct table_query *ret)
{
    struct reading r = {
        .call = call, .arena = &call->arena, .table = table, .args = args, .query = ret};
    const struct tape_node *limit = argument(&r, STR("limit")), *total = argument(&r, STR("total"));
    r.order_by = argument(&r, STR("order_by"));
    *ret = (struct table_query){
        .limit = limit ? (uint32_t)tape_num(limit) : call->core->config.search_page,
        .select = argument(&r, STR("select")),
        .total = total && total->kind == TAPE_TRUE,
    };
    const struct tape_node *where = argument(&r, STR("where"));
    int err = where ? read_where(&r, where) : 0;
    if (err == 0 && r.order_by)
        err = read_order_by(&r, r.order_by);
    if (err == 0)
        err = make_scope(&r);
    if (err == 0)
        err = read_cursor(&r);
    if (err == 0)
        err = take_indexes(&r);
    return err < 0 ? err : make_plan(&r);
}

/* ---- Explaining ----------------------------------------------------------------------------- */

int table_query_explain(const struct table *table, const struct tape_node *where,
                        const struct tape_node *order_by, struct arena *arena, struct buf *out,
                        struct str *ret_why)
{
    struct table_query query = {0};
    struct reading r = {.arena = arena, .table = table, .query = &query};
    int err = where ? read_where(&r, where) : 0;
    if (err == 0 && order_by)
        err = read_order_by(&r, order_by);
    if (err == 0)
        err = take_indexes(&r);
    if (err == 0)
        err = make_plan(&r);
    if (err == 0)
        plan_write_json(&query.plan, out);
    if (err == ERR_PARAMS)
        *ret_why = r.why;
    return err == 0 && out->failed ? ERR_NO_MEMORY : err;
}

/* ---- Rows ----------------------------------------------------------------------------------- */

static struct tape_node value_of(const struct filter_column *column, const struct tape_node *row)
{
    for (uint32_t i = 0; row && i < column->n_names; i++)
        row = row->kind == TAPE_OBJECT ? tape_get(row, column->names[i]) : NULL;
    if (!row)
        return (struct tape_node){.kind = TAPE_NULL};
    if (row->kind == TAPE_ARRAY || row->kind == TAPE_OBJECT)
        return (struct tape_node){.kind = TAPE_ARRAY, .v.size = 1};
    return *row;
}

int table_query_values(const struct table_query *query, const struct tape_node *row,
                       struct tape_node *ret)
{
    for (uint32_t i = 0; i < query->n_order; i++) {
        ret[i] = value_of(query->order[i].column, row);
        if (ret[i].kind == TAPE_STR && ret[i].n > INDEX_ENTRY_BYTES)
            return ERR_TOO_LARGE;
    }
    return 0;
}

static int rank(const struct tape_node *v)
{
    static const signed char ranks[] = {
        [TAPE_FALSE] = 1, [TAPE_TRUE] = 1,  [TAPE_INT] = 2,    [TAPE_NUM] = 2,
        [TAPE_STR] = 3,   [TAPE_ARRAY] = 4, [TAPE_OBJECT] = 4,
    };
    return ranks[v->kind];
}

/* Where numbers may have fractions they go as doubles, as in the keys of an index. */
static int compare_values(const struct filter_column *column, const struct tape_node *a,
                          const struct tape_node *b)
{
    int by_rank = rank(a) - rank(b);
    if (by_rank == 0 && rank(a) == 2 && column->type == FILTER_NUMBER)
        return (tape_num(a) > tape_num(b)) - (tape_num(a) < tape_num(b));
    if (by_rank || rank(a) == rank(&(struct tape_node){.kind = TAPE_NULL}) || rank(a) == 4)
        return by_rank;
    return filter_compare_nodes(a, b);
}

int table_query_compare(const struct table_query *query, const struct tape_node *a,
                        const struct tape_node *b)
{
    for (uint32_t i = 0; i < query->n_order; i++) {
        int c = compare_values(query->order[i].column, &a[i], &b[i]);
        if (c)
            return query->order[i].descending ? -c : c;
    }
    return 0;
}
