/* tests/unit/test_core_index_more.c - unique indexes and their points, cursors that lead to
 * what is gone, the longest places, and how a search is explained. */
#include "base/limits.h"
#include "core/catalog.h"
#include "core/core_state.h"
#include "core/table_query.h"
#include "tests/unit/ask.h"

#define N(a) (sizeof(a) / sizeof *(a))

#define WITHOUT_I                                                                     \
    "{\"primaryKey\":\"id\",\"schema\":{\"type\":\"object\",\"properties\":{\"id\":{" \
    "\"type\":\"integer\"},\"s\":{\"type\":\"string\"},\"o\":{\"type\":\"object\"}}}}"
#define DEFINITION                                                                          \
    "{\"primaryKey\":\"id\",\"indexes\":[{\"on\":[\"s\",\"-i\"]},"                          \
    "{\"name\":\"one\",\"on\":[\"u\"],\"unique\":true},"                                    \
    "{\"name\":\"both\",\"on\":[\"o.a\",\"-o.b\",\"o.c\"],\"unique\":true}],"               \
    "\"schema\":{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"integer\"},"        \
    "\"s\":{\"type\":\"string\"},\"i\":{\"type\":\"integer\"},\"u\":{\"type\":[\"string\"," \
    "\"null\"]},\"o\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"},"   \
    "\"b\":{\"type\":\"boolean\"},\"c\":{\"type\":\"number\"}}}}}}"

static uint32_t table_id;

static int open_table(void **state)
{
    bench_open(&bench, &bench_config);
    table_id = bench_table(&bench, "a", "t", DEFINITION);
    bench_connect(&bench, "2025-06-18");
    *state = &bench;
    return 0;
}

static int close_table(void **state)
{
    bench_close(*state);
    return 0;
}

static void call_tool(const char *tool, const char *args, const char *pattern)
{
    char params[7000];
    snprintf(params, sizeof params, "{\"name\":\"%s\",\"arguments\":%s}", tool, args);
    ask_method(&bench, "tools/call", params, pattern);
}

#define FINE       "{\"-\":[\"isError\"]}"
#define REFUSED    "{\"isError\":true}"
#define ROWS(rows) "{\"structuredContent\":{\"rows\":[" rows "]},\"-\":[\"isError\"]}"

static void a_unique_index_lets_values_in_once(void **state)
{
    (void)state;
    call_tool("create_t", "{\"id\":1,\"u\":\"x\",\"o\":{\"a\":1,\"b\":true,\"c\":2}}", FINE);
    call_tool("create_t", "{\"id\":2,\"u\":\"x\"}", REFUSED);
    call_tool("create_t", "{\"id\":2,\"o\":{\"a\":1,\"b\":true,\"c\":2.0}}", REFUSED);
    call_tool("create_t", "{\"id\":2,\"u\":null,\"o\":{\"a\":1,\"b\":true}}", FINE);
    call_tool("create_t", "{\"id\":3,\"o\":{\"a\":1,\"b\":true}}", FINE); /* null is not unique */
    call_tool("update_t", "{\"id\":1,\"changes\":{\"u\":\"x\",\"s\":\"y\"}}", FINE);
    call_tool("create_t", "{\"id\":1,\"u\":\"other\"}", REFUSED);
}

static void a_row_that_an_index_cannot_hold_is_refused(void **state)
{
    char args[1024];
    (void)state;
    snprintf(args, sizeof args, "{\"id\":1,\"u\":\"%0*d\"}", INDEX_ENTRY_BYTES, 0);
    call_tool("create_t", args, REFUSED);
    call_tool("search_t", "{}", ROWS(""));
}

static void unique_points_find_their_row(void **state)
{
    (void)state;
    call_tool("create_t", "{\"id\":1,\"u\":\"x\",\"o\":{\"a\":1,\"b\":true,\"c\":2}}", FINE);
    call_tool("create_t", "{\"id\":2,\"u\":\"\",\"o\":{\"a\":1,\"b\":false,\"c\":2}}", FINE);
    call_tool("create_t", "{\"id\":3}", FINE);
    call_tool("search_t", "{\"where\":\"u = 'x'\"}", ROWS("{\"id\":1}"));
    call_tool("search_t", "{\"where\":{\"u\":\"\"}}", ROWS("{\"id\":2}"));
    call_tool("search_t", "{\"where\":{\"u\":null}}", ROWS("{\"id\":3}"));
    call_tool("search_t", "{\"where\":\"u in ('x','','no')\",\"order_by\":[\"-u\"]}",
              ROWS("{\"id\":1},{\"id\":2}"));
    call_tool("search_t", "{\"where\":\"o.a = 1 and o.b = false and o.c = 2.0\"}",
              ROWS("{\"id\":2}"));
    call_tool("search_t", "{\"where\":\"o.a = 1 and o.b in (true, false)\"}",
              ROWS("{\"id\":1},{\"id\":2}"));
}

static bool take_cursor(char *out, size_t size)
{
    const char *at = strstr(bench.body.p, "\"nextCursor\":\"");
    if (at)
        snprintf(out, size, "%.*s", (int)strcspn(at + 14, "\""), at + 14);
    return at != NULL;
}

/* The first page goes by an index on s and -i: its cursor holds both. */
static void a_cursor_whose_attribute_is_gone_is_refused_by_name(void **state)
{
    char cursor[1024], args[2048];
    (void)state;
    call_tool("create_t", "{\"id\":1,\"s\":\"a\",\"i\":5}", FINE);
    call_tool("create_t", "{\"id\":2,\"s\":\"a\",\"i\":7}", FINE);
    call_tool("create_t", "{\"id\":3,\"s\":\"b\"}", FINE);
    call_tool("search_t", "{\"where\":\"s > '0'\",\"limit\":1}", ROWS("{\"id\":2}"));
    assert_true(take_cursor(cursor, sizeof cursor));
    snprintf(args, sizeof args, "{\"where\":\"s > '0'\",\"limit\":1,\"cursor\":\"%s\"}", cursor);
    call_tool("search_t", args, ROWS("{\"id\":1}"));
    const struct table *t = catalog_find_table(bench.core->catalog, STR("a"), STR("t"));
    assert_int_equal(t->n_indexes, 3);
    for (uint32_t left = 3; left > 0; left--) /* the catalog is that of the last call */
        assert_int_equal(store_drop_index(bench.store, table_id, t->indexes[left - 1].id), 0);
    call_tool("search_t", args, ROWS("{\"id\":1}")); /* sorted now, and goes on the same */
    bench_table(&bench, "a", "t", WITHOUT_I);
    call_tool("search_t", args,
              "!{\"code\":-32602,\"data\":{\"errors\":[{\"pointer\":\"/params/arguments/cursor\","
              "\"keyword\":\"cursor\"}]}}");
}

/* Pages of one row forth and back through places that are as long as they can be. */
static void the_longest_places_are_gone_on_from(void **state)
{
    char args[2048], cursor[1500];
    (void)state;
    for (int id = 1; id <= 3; id++) { /* 1, 507 - 1 - 2 - 8 bytes of u, 2, 8 of the id */
        snprintf(args, sizeof args, "{\"id\":%d,\"u\":\"%0*d\"}", id, INDEX_ENTRY_BYTES - 11, id);
        call_tool("create_t", args, FINE);
    }
    for (int down = 0; down < 2; down++) {
        strcpy(cursor, "");
        for (int i = 1; i <= 3; i++) {
            char wanted[128];
            snprintf(args, sizeof args, "{\"order_by\":[\"%su\"],\"limit\":1%s}", down ? "-" : "",
                     cursor);
            snprintf(wanted, sizeof wanted, ROWS("{\"id\":%d}"), down ? 4 - i : i);
            call_tool("search_t", args, wanted);
            strcpy(cursor, ",\"cursor\":\"");
            if (take_cursor(cursor + 11, sizeof cursor - 12))
                strcat(cursor, "\"");
        }
    }
}

/* ---- Explaining ----------------------------------------------------------------------------- */

static int explain(const char *args, struct arena *arena, struct buf *out, struct str *ret_why)
{
    const struct table *t = catalog_find_table(bench.core->catalog, STR("a"), STR("t"));
    const struct tape_node *tape = open_json(arena, str_of(args));
    return table_query_explain(t, tape_get(tape, STR("where")), tape_get(tape, STR("order_by")),
                               arena, out, ret_why);
}

static void a_plan_is_explained_without_a_call(void **state)
{
    static const char *const cases[][2] = {
        {"{}", "{\"access\":\"scan\",\"order\":[\"id\"],\"-\":[\"advice\",\"index\"]}"},
        {"{\"where\":\"i = 1\"}", "{\"access\":\"scan\",\"test\":true,\"advice\":\"i\"}"},
        {"{\"where\":{\"u\":\"x\"}}",
         "{\"access\":\"index\",\"index\":\"one\",\"unique\":true,\"test\":false,"
         "\"ranges\":[{\"equal\":{\"u\":\"x\"}}]}"},
        {"{\"where\":\"s = 'a' and i < 5\",\"order_by\":[\"i\"]}",
         "{\"access\":\"index\",\"index\":\"by_s_i\",\"descending\":true,\"ordered\":true,"
         "\"test\":false,\"ranges\":[{\"equal\":{\"s\":\"a\"},\"attribute\":\"i\",\"below\":5}]}"},
        {"{\"where\":\"id = 1 and id = 2\"}", "{\"access\":\"nothing\"}"},
    };
    static const char *const bad[][2] = {
        {"{\"where\":\"colour = 1\"}", "where: column 1: found colour, expected an attribute"},
        {"{\"where\":{\"colour\":1}}", "where: "},
        {"{\"order_by\":[\"s\",\"-o\"]}", "order_by/1: expected an attribute that holds single"},
    };
    struct arena arena;
    (void)state;
    arena_init(&arena, 0);
    call_tool("search_t", "{}", FINE); /* makes the catalog */
    for (size_t i = 0; i < N(cases); i++) {
        struct buf plan = {0};
        struct str why = STR_NONE;
        assert_int_equal(explain(cases[i][0], &arena, &plan, &why), 0);
        if (!fits(open_json(&arena, str_of(cases[i][1])), open_json(&arena, buf_str(&plan))))
            fail_msg("%s: " STR_FMT, cases[i][0], STR_ARG(buf_str(&plan)));
        buf_done(&plan);
    }
    for (size_t i = 0; i < N(bad); i++) {
        struct buf plan = {0};
        struct str why = STR_NONE;
        int err = explain(bad[i][0], &arena, &plan, &why);
        if (err != ERR_PARAMS || !str_starts_with(why, str_of(bad[i][1])))
            fail_msg("%s: %d " STR_FMT, bad[i][0], err, STR_ARG(why));
        buf_done(&plan);
    }
    arena_done(&arena);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, open_table, close_table)
    const struct CMUnitTest tests[] = {
        TEST(a_unique_index_lets_values_in_once),
        TEST(a_row_that_an_index_cannot_hold_is_refused),
        TEST(unique_points_find_their_row),
        TEST(a_cursor_whose_attribute_is_gone_is_refused_by_name),
        TEST(the_longest_places_are_gone_on_from),
        TEST(a_plan_is_explained_without_a_call),
    };
    return cmocka_run_group_tests_name("core_index_more", tests, NULL, NULL);
}
