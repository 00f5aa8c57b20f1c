/* tests/unit/test_core_index.c - search_T by indexes.
 *
 * Random tables, indexes, filters, orders and pages against a plain evaluation, in memory and in
 * LMDB, while rows come and go and indexes are made and dropped between the pages and in the middle
 * of them. Each attribute takes its values from a list that is in order, so a value is its place in
 * the list, and comparing is comparing places; NOTHING is null or missing.
 */
#include "core/catalog.h"
#include "core/core_state.h"
#include "core/table_indexes.h"
#include "core/table_query.h"
#include "tests/unit/ask.h"

#include <unistd.h>

#define N(a) (sizeof(a) / sizeof *(a))

static uint32_t seed = 1;

static int roll(int n)
{
    seed = seed * 1664525 + 1013904223;
    return (int)((seed >> 8) % (uint32_t)n);
}

/* ---- Attributes and their values ------------------------------------------------------------ */

#define NOTHING (-1)
#define IDS     900 /* that may be there */

struct value {
    const char *json, *literal; /* no literal: a filter cannot write it */
};

static const struct value texts[] = {
    {"\"\"", "''"},          {"\"a\"", "'a'"},   {"\"a\\u0000\"", NULL},
    {"\"a\\u0000b\"", NULL}, {"\"ab\"", "'ab'"}, {"\"b\"", "'b'"},
    {"\"ba\"", "'ba'"},      {"\"z\"", "'z'"},   {"\"\xc3\xa9\"", "'\xc3\xa9'"},
};
static const struct value integers[] = {
    {"-9223372036854775808", NULL},
    {"-5", "-5"},
    {"0", "0"},
    {"1", "1"},
    {"2", "2"},
    {"3", "3.0"},
    {"9007199254740992", "9007199254740992"},
    {"9007199254740993", "9007199254740993"},
    {"9223372036854775807", "9223372036854775807"},
};
static const struct value numbers[] = {
    {"-1e300", "-1e300"}, {"-2.5", "-2.5"}, {"-1", "-1"}, {"0", "0"},       {"0.5", "0.5"},
    {"1.0", "1"},         {"1.25", "1.25"}, {"7", "7.0"}, {"1e15", "1e15"}, {"1e300", "1e300"},
};
static const struct value booleans[] = {{"false", "false"}, {"true", "true"}};
static const struct value dates[] = {
    {"\"2023-12-31\"", "date '2023-12-31'"},
    {"\"2024-01-31\"", "'2024-01-31'"},
    {"\"2024-02-01\"", "date '2024-02-01'"},
    {"\"2024-02-29\"", "date '2024-02-29'"},
};

enum { ID, TEXT, INTEGER, NUMBER, BOOLEAN, NESTED, DATE, ATTRIBUTES };

static const struct attribute {
    const char *name, *filter_name;
    const struct value *values;
    int n;
} attributes[ATTRIBUTES] = {
    [ID] = {"id", "id", NULL, IDS},
    [TEXT] = {"s", "s", texts, N(texts)},
    [INTEGER] = {"i", "i", integers, N(integers)},
    [NUMBER] = {"f", "f", numbers, N(numbers)},
    [BOOLEAN] = {"b", "b", booleans, N(booleans)},
    [NESTED] = {"o.k", "o.k", integers, N(integers)},
    [DATE] = {"date", "\"date\"", dates, N(dates)},
};

#define DEFINITION(id_type)                                                                 \
    "{\"primaryKey\":\"id\",\"schema\":{\"type\":\"object\",\"properties\":{\"id\":{"       \
    "\"type\":\"" id_type "\"},\"s\":{\"type\":[\"string\",\"null\"]},\"i\":{\"type\":["    \
    "\"integer\",\"null\"]},\"f\":{\"type\":[\"number\",\"null\"]},\"b\":{\"type\":["       \
    "\"boolean\",\"null\"]},\"o\":{\"type\":\"object\",\"properties\":{\"k\":{\"type\":["   \
    "\"null\",\"integer\"]}}},\"date\":{\"type\":[\"string\",\"null\"],\"format\":\"date\"" \
    "}}}}"

static bool text_ids;

/* As JSON, or as a filter writes it. */
static const char *text_of(int attribute, int value, bool literal)
{
    static char id[16];
    const struct value *v = attributes[attribute].values;
    if (value == NOTHING)
        return "null";
    if (v)
        return literal ? v[value].literal : v[value].json;
    if (text_ids)
        snprintf(id, sizeof id, literal ? "'k%03d'" : "\"k%03d\"", value);
    else
        snprintf(id, sizeof id, "%d", value - 300);
    return id;
}

/* ---- Rows ----------------------------------------------------------------------------------- */

struct row {
    bool there;
    int values[ATTRIBUTES];
};

static struct row rows[IDS];

static void call_tool(struct bench *b, const char *tool, const char *args, const char *pattern)
{
    char params[7000];
    snprintf(params, sizeof params, "{\"name\":\"%s\",\"arguments\":%s}", tool, args);
    ask_method(b, "tools/call", params, pattern);
}

static void add_member(struct buf *out, int attribute, int value)
{
    if (value == NOTHING && roll(2))
        return;
    bool nested = attribute == NESTED;
    buf_printf(out, nested ? ",\"o\":{\"k\":%s}" : ",\"%s\":",
               nested ? text_of(attribute, value, false) : attributes[attribute].name);
    if (!nested)
        buf_printf(out, "%s", text_of(attribute, value, false));
}

static void put_row(struct bench *b, int id)
{
    struct row *row = &rows[id];
    struct buf json = {0};
    row->there = true;
    row->values[ID] = id;
    buf_printf(&json, "{\"id\":%s", text_of(ID, id, false));
    for (int i = 1; i < ATTRIBUTES; i++) {
        row->values[i] = roll(5) ? roll(attributes[i].n) : NOTHING;
        add_member(&json, i, row->values[i]);
    }
    buf_printf(&json, "}%c", 0);
    call_tool(b, "create_t", json.p, "{\"-\":[\"isError\"]}");
    buf_done(&json);
}

static void delete_row(struct bench *b, int id)
{
    char args[64];
    rows[id].there = false;
    snprintf(args, sizeof args, "{\"id\":%s}", text_of(ID, id, false));
    call_tool(b, "delete_t", args, "{\"structuredContent\":{\"deleted\":true}}");
}

/* ---- Indexes -------------------------------------------------------------------------------- */

#define INDEXES_MAX 8

static uint32_t table_id;
static struct {
    uint32_t id[INDEXES_MAX];
    int n;
    unsigned made, dropped;
} indexes;

static const struct table *find_table(struct bench *b)
{
    return catalog_find_table(b->core->catalog, STR("a"), STR("t"));
}

/* {"on":["-s","id"],"unique":true}; unique ones hold the primary key. */
static void write_index(struct buf *out)
{
    bool used[ATTRIBUTES] = {false};
    int n = 1 + roll(3);
    buf_printf(out, "{\"name\":\"i%u\",\"on\":[", indexes.made);
    for (int i = 0; i < n; i++) {
        int attribute = roll(ATTRIBUTES);
        if (used[attribute])
            continue;
        used[attribute] = true;
        buf_printf(out, out->p[out->n - 1] == '[' ? "\"%s%s\"" : ",\"%s%s\"", roll(2) ? "-" : "",
                   attributes[attribute].name);
    }
    buf_printf(out, "],\"unique\":%s}", used[ID] && roll(2) ? "true" : "false");
}

static void make_index(struct bench *b)
{
    struct arena arena;
    struct buf text = {0};
    struct store_index index;
    struct schema_faults faults;
    struct store_index_build build = {.arena = &arena};
    arena_init(&arena, 0);
    write_index(&text);
    assert_int_equal(table_index_read(open_json(&arena, buf_str(&text)), &find_table(b)->columns,
                                      &arena, &index, &faults),
                     0);
    assert_int_equal(store_create_index(b->store, table_id, &index, &build), 0);
    indexes.id[indexes.n++] = build.ret_index;
    indexes.made++;
    arena_done(&arena);
    buf_done(&text);
}

static void drop_index(struct bench *b)
{
    int i = roll(indexes.n);
    assert_int_equal(store_drop_index(b->store, table_id, indexes.id[i]), 0);
    indexes.id[i] = indexes.id[--indexes.n];
    indexes.dropped++;
}

static void change_indexes(struct bench *b)
{
    if (indexes.n && (indexes.n == INDEXES_MAX || roll(3) == 0))
        drop_index(b);
    else
        make_index(b);
}

/* ---- Questions ------------------------------------------------------------------------------ */

enum { EQUAL, UNEQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, IN, BETWEEN, IS_NULL, NOT_NULL };
static const char *const signs[] = {"=", "!=", "<", "<=", ">", ">="};

struct condition {
    int attribute, op;
    int values[3], n_values;
    bool or_next; /* stands in parentheses with the next one */
};

struct question {
    struct condition conditions[4];
    int n;
    bool as_object; /* equalities only */
    int order[3];   /* attribute + 1, negative: descending */
    int n_order;
};

static int some_value(int attribute)
{
    int value = roll(attributes[attribute].n);
    return text_of(attribute, value, true) ? value : some_value(attribute);
}

static struct condition some_condition(bool equality)
{
    struct condition c = {.attribute = roll(ATTRIBUTES), .op = roll(NOT_NULL + 1)};
    if (roll(3) == 0)
        c.op = EQUAL;
    if (equality)
        c.op = roll(4) ? EQUAL : IS_NULL;
    else if (c.attribute == BOOLEAN && c.op > UNEQUAL && c.op < IS_NULL)
        c.op = IN;
    c.n_values = c.op == IN ? 1 + roll(3) : c.op == BETWEEN ? 2 : c.op < IN;
    for (int i = 0; i < c.n_values; i++)
        c.values[i] = some_value(c.attribute);
    return c;
}

static struct question some_question(void)
{
    struct question q = {.n = roll(4), .as_object = roll(6) == 0, .n_order = roll(4)};
    for (int i = 0; i < q.n; i++) {
        q.conditions[i] = some_condition(q.as_object);
        for (int k = 0; q.as_object && k < i; k++)
            if (q.conditions[k].attribute == q.conditions[i].attribute)
                q.n = i; /* members are named once */
    }
    if (!q.as_object && q.n >= 2 && roll(4) == 0)
        q.conditions[0].or_next = true;
    for (int i = 0; i < q.n_order; i++)
        q.order[i] = (1 + roll(ATTRIBUTES)) * (roll(2) ? 1 : -1);
    return q;
}

static void write_condition(const struct condition *c, struct buf *out)
{
    const char *name = attributes[c->attribute].filter_name;
    buf_printf(out, "%s ", name);
    if (c->op < IN)
        buf_printf(out, "%s %s", signs[c->op], text_of(c->attribute, c->values[0], true));
    else if (c->op == BETWEEN)
        buf_printf(out, "between %s", text_of(c->attribute, c->values[0], true));
    else if (c->op != IN)
        buf_printf(out, c->op == IS_NULL ? "is null" : "is not null");
    if (c->op == BETWEEN)
        buf_printf(out, " and %s", text_of(c->attribute, c->values[1], true));
    for (int i = 0; c->op == IN && i < c->n_values; i++)
        buf_printf(out, "%s%s", i ? ", " : "in (", text_of(c->attribute, c->values[i], true));
    if (c->op == IN)
        buf_printf(out, ")");
}

static void write_text_filter(const struct question *q, struct buf *out)
{
    struct buf text = {0};
    for (int i = 0; i < q->n; i++) {
        bool or_before = i && q->conditions[i - 1].or_next;
        buf_printf(&text, "%s%s",
                   !i          ? ""
                   : or_before ? " or "
                               : " and ",
                   q->conditions[i].or_next ? "(" : "");
        write_condition(&q->conditions[i], &text);
        buf_printf(&text, "%s", or_before ? ")" : "");
    }
    buf_printf(out, "\"where\":\"");
    for (size_t i = 0; i < text.n; i++)
        buf_printf(out, text.p[i] == '"' ? "\\%c" : "%c", text.p[i]);
    buf_printf(out, "\",");
    buf_done(&text);
}

static void write_object_filter(const struct question *q, struct buf *out)
{
    buf_printf(out, "\"where\":{");
    for (int i = 0; i < q->n; i++) {
        const struct condition *c = &q->conditions[i];
        buf_printf(out, "%s\"%s\":%s", i ? "," : "", attributes[c->attribute].name,
                   text_of(c->attribute, c->op == IS_NULL ? NOTHING : c->values[0], false));
    }
    buf_printf(out, "},");
}

static void write_question(const struct question *q, struct buf *out)
{
    if (q->n && q->as_object)
        write_object_filter(q, out);
    else if (q->n)
        write_text_filter(q, out);
    buf_printf(out, "\"order_by\":[");
    for (int i = 0; i < q->n_order; i++)
        buf_printf(out, "%s\"%s%s\"", i ? "," : "", q->order[i] < 0 ? "-" : "",
                   attributes[abs(q->order[i]) - 1].name);
    buf_printf(out, "]");
}

/* ---- The plain answer ----------------------------------------------------------------------- */

static bool holds(const struct condition *c, int value)
{
    const int *v = c->values;
    bool found = false;
    if (c->op >= IS_NULL)
        return (value == NOTHING) == (c->op == IS_NULL);
    if (value == NOTHING)
        return false;
    for (int i = 0; i < c->n_values; i++)
        found |= value == v[i];
    const bool results[] = {
        [EQUAL] = value == v[0],
        [UNEQUAL] = value != v[0],
        [LESS] = value<v[0], [LESS_EQUAL] = value <= v[0], [GREATER] = value> v[0],
        [GREATER_EQUAL] = value >= v[0],
        [IN] = found,
        [BETWEEN] = value >= v[0] && value <= v[1],
    };
    return results[c->op];
}

static bool matches(const struct question *q, const struct row *row)
{
    bool all = row->there;
    for (int i = 0; i < q->n; i++) {
        const struct condition *c = &q->conditions[i];
        bool one = holds(c, row->values[c->attribute]);
        if (c->or_next) {
            c++, i++;
            one |= holds(c, row->values[c->attribute]);
        }
        all &= one;
    }
    return all;
}

static int compare_rows(const struct question *q, const struct row *a, const struct row *b)
{
    for (int i = 0; i < q->n_order; i++) {
        int attribute = abs(q->order[i]) - 1;
        int c = a->values[attribute] - b->values[attribute];
        if (c)
            return q->order[i] < 0 ? -c : c;
    }
    return 0;
}

/* ---- Asking --------------------------------------------------------------------------------- */

static struct {
    unsigned questions, pages, by_index, in_order, dropped_between, found;
} counts;

/* The answer's ids, and whether the page was cut. */
static void take_page(struct bench *b, int *ids, int *n)
{
    struct arena arena;
    arena_init(&arena, 0);
    const struct tape_node *answer = open_json(&arena, buf_str(&b->body));
    const struct tape_node *result = tape_get(answer, STR("result"));
    const struct tape_node *page = result ? tape_get(result, STR("structuredContent")) : NULL;
    if (!page || tape_get(result, STR("isError")))
        fail_msg("%s", b->body.p);
    const struct tape_node *list = tape_get(page, STR("rows")), *row = list + 1;
    for (uint32_t i = 0; i < list->n; i++, row = tape_next(row)) {
        const struct tape_node *id = tape_get(row, STR("id"));
        assert_true(*n < 2 * IDS);
        ids[(*n)++] = text_ids ? atoi(tape_str(id).p + 1) : (int)id->v.i + 300;
    }
    arena_done(&arena);
}

static bool take_cursor(struct bench *b, char *out, size_t size)
{
    static const char name[] = "\"nextCursor\":\"";
    const char *content = strstr(b->body.p, "\"structuredContent\"");
    const char *at = content ? strstr(content, name) : NULL;
    if (at)
        snprintf(out, size, "%.*s", (int)strcspn(at + sizeof name - 1, "\""), at + sizeof name - 1);
    return at != NULL;
}

/* Like ask; but an index may go while the search waits for its thread. */
static void send_page(struct bench *b, const char *args)
{
    struct buf body = {0};
    buf_printf(&body,
               "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
               "\"search_t\",\"arguments\":{%s}}}",
               args);
    b->n_answers = 0;
    bench_begin(b, buf_str(&body));
    if (b->loop.works && indexes.n && roll(20) == 0) {
        drop_index(b);
        counts.dropped_between++;
    }
    while (b->n_answers == 0)
        assert_true(loop_turn(&b->loop, 10));
    buf_done(&body);
    counts.pages++;
}

/* A row that was deleted does not come again: it could be seen twice then. */
static void change_something(struct bench *b, bool *was_there, bool *was_deleted)
{
    int id = roll(IDS), what = roll(6);
    if (what == 0 && rows[id].there) {
        delete_row(b, id);
        was_there[id] = false;
        was_deleted[id] = true;
    } else if (what <= 1 && !rows[id].there && !was_deleted[id]) {
        put_row(b, id);
    } else if (what == 2) {
        change_indexes(b);
    }
}

static void check_answer(const struct question *q, const bool *was_there, const struct row *seen_as,
                         const int *ids, int n, const char *text)
{
    bool seen[IDS] = {false};
    for (int i = 0; i < n; i++) {
        if (!matches(q, &seen_as[ids[i]]) || seen[ids[i]])
            fail_msg("a row %s: %d of %s", seen[ids[i]] ? "twice" : "that does not match", ids[i],
                     text);
        seen[ids[i]] = true;
        if (i && compare_rows(q, &seen_as[ids[i - 1]], &seen_as[ids[i]]) > 0)
            fail_msg("not in order: %d, %d of %s", ids[i - 1], ids[i], text);
    }
    for (int id = 0; id < IDS; id++)
        if (was_there[id] && matches(q, &rows[id]) && !seen[id])
            fail_msg("a row is missing: %d of %s", id, text);
}

/* How the search will be done, as the explaining function says. */
static void count_plan(struct bench *b, const char *question)
{
    struct arena arena;
    struct buf json = {0}, plan = {0};
    struct str why = STR_NONE;
    arena_init(&arena, 0);
    buf_printf(&json, "{%s}", question);
    const struct tape_node *args = open_json(&arena, buf_str(&json));
    if (table_query_explain(find_table(b), tape_get(args, STR("where")),
                            tape_get(args, STR("order_by")), &arena, &plan, &why) < 0)
        fail_msg(STR_FMT ": %s", STR_ARG(why), question);
    buf_add_char(&plan, '\0');
    counts.by_index += strstr(plan.p, "\"access\":\"index\"") != NULL;
    counts.in_order += strstr(plan.p, "\"access\":\"index\"") && strstr(plan.p, "\"ordered\":true");
    buf_done(&json);
    buf_done(&plan);
    arena_done(&arena);
}

static void ask_all_pages(struct bench *b, const struct question *q, bool changes)
{
    static struct row seen_as[IDS];
    char cursor[4096], args[8192];
    bool was_there[IDS], was_deleted[IDS] = {false};
    int ids[2 * IDS], n = 0, limit = 1 + roll(roll(3) ? 40 : 700), pages = 0;
    struct buf text = {0};
    for (int id = 0; id < IDS; id++)
        was_there[id] = rows[id].there;
    memcpy(seen_as, rows, sizeof rows);
    write_question(q, &text);
    buf_add_char(&text, '\0');
    count_plan(b, text.p);
    snprintf(args, sizeof args, "%s,\"limit\":%d%s", text.p, limit,
             roll(4) ? "" : ",\"total\":true");
    for (;;) {
        int before = n;
        send_page(b, args);
        take_page(b, ids, &n);
        for (int i = before; i < n; i++)
            seen_as[ids[i]] = rows[ids[i]];
        if (!take_cursor(b, cursor, sizeof cursor))
            break;
        assert_true(n - before == limit && ++pages < 2 * IDS);
        snprintf(args, sizeof args, "%s,\"limit\":%d,\"cursor\":\"%s\"", text.p, limit, cursor);
        if (changes)
            change_something(b, was_there, was_deleted);
    }
    check_answer(q, was_there, seen_as, ids, n, text.p);
    counts.found += (unsigned)n;
    counts.questions++;
    buf_done(&text);
}

#define QUESTIONS 150

static void run_random(struct bench *b, bool with_text_ids)
{
    memset(rows, 0, sizeof rows);
    memset(&indexes, 0, sizeof indexes);
    memset(&counts, 0, sizeof counts);
    text_ids = with_text_ids;
    table_id = bench_table(b, "a", "t", text_ids ? DEFINITION("string") : DEFINITION("integer"));
    bench_connect(b, "2025-06-18");
    for (int i = 0; i < IDS; i++)
        if (roll(3))
            put_row(b, i);
    for (int i = 0; i < QUESTIONS; i++) {
        struct question q = some_question();
        if (roll(3) == 0)
            change_indexes(b);
        ask_method(b, "ping", "", "{}");
        call_tool(b, "search_t", "{\"limit\":1}", "{\"-\":[\"isError\"]}"); /* a fresh catalog */
        ask_all_pages(b, &q, i % 2);
    }
    print_message("# %u questions, %u pages, %u rows; %u by index, %u of them in its order; %u "
                  "indexes made, %u dropped, %u under a search\n",
                  counts.questions, counts.pages, counts.found, counts.by_index, counts.in_order,
                  indexes.made, indexes.dropped, counts.dropped_between);
    assert_true(counts.by_index > QUESTIONS / 8 && counts.in_order > QUESTIONS / 20);
    assert_true(counts.dropped_between > 2);
}

static void random_searches_by_indexes_agree_in_memory(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        bench_open(&bench, &bench_config);
        run_random(&bench, i);
        bench_close(&bench);
    }
}

static void random_searches_by_indexes_agree_in_lmdb(void **state)
{
    char dir[] = "/tmp/tenon-index-XXXXXX", command[64];
    struct store_config config = {.dir = dir, .mode = STORE_NOSYNC, .volatile_sys = true};
    struct arena arena;
    struct str why;
    (void)state;
    assert_non_null(mkdtemp(dir));
    arena_init(&arena, 0);
    bench_open(&bench, &bench_config);
    core_free(bench.core);
    store_close(bench.store);
    assert_int_equal(store_open_lmdb(&config, &arena, &bench.store, &why), 0);
    store_attach(bench.store, &bench.loop);
    assert_int_equal(core_new(&bench.config, bench.store, &bench.loop, &bench.core), 0);
    run_random(&bench, false);
    bench_close(&bench);
    arena_done(&arena);
    snprintf(command, sizeof command, "rm -r %s", dir);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const char *wanted = getenv("INDEX_SEED");
    seed = wanted ? (uint32_t)strtoul(wanted, NULL, 10) : 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_searches_by_indexes_agree_in_memory),
        cmocka_unit_test(random_searches_by_indexes_agree_in_lmdb),
    };
    return cmocka_run_group_tests_name("core_index", tests, NULL, NULL);
}
