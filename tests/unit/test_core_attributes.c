/* tests/unit/test_core_attributes.c - tables with attributes that are hidden, nullable, filled in
 * or set by the server, seen by a client. */
#include "base/clock.h"
#include "base/limits.h"
#include "tests/unit/ask.h"

#define N(a) (sizeof(a) / sizeof *(a))

/* Rows may have any attribute, so that it is not the schema that refuses names. */
#define MEMBER                                                                                   \
    "{\"title\":\"Members\",\"primaryKey\":\"id\",\"indexes\":[{\"on\":[\"secret\"]},{\"on\":["  \
    "\"name\"]}],\"attributes\":{\"id\":{\"default\":\"uuid\"},\"secret\":{\"hidden\":true},"    \
    "\"token\":{\"hidden\":true,\"default\":{\"value\":\"tok\"}},\"nick\":{\"nullable\":true},"  \
    "\"level\":{\"default\":{\"value\":1}},\"made\":{\"role\":\"createdTime\"},\"changed\":{"    \
    "\"role\":\"updatedTime\"},\"rev\":{\"role\":\"version\"}},\"schema\":{\"type\":\"object\"," \
    "\"properties\":{\"id\":{\"type\":\"string\"},\"name\":{\"type\":\"string\"},\"secret\":{"   \
    "\"type\":\"string\"},\"token\":{\"type\":\"string\"},\"nick\":{\"type\":\"string\"},"       \
    "\"level\":{\"type\":\"integer\"},\"made\":{\"type\":\"string\",\"format\":\"date-time\"},"  \
    "\"changed\":{\"type\":\"integer\"},\"rev\":{\"type\":\"integer\"}},\"required\":[\"name\"," \
    "\"level\",\"token\"]}}"

static uint32_t member;

static int open_members(void **state)
{
    open_shop(state);
    member = bench_table(*state, "shop", "member", MEMBER);
    return 0;
}

#define MEMBER_TEST(f) cmocka_unit_test_setup_teardown(f, open_members, close_bench)

static void call_tool(struct bench *b, const char *name, const char *args, const char *pattern)
{
    char params[4096];
    snprintf(params, sizeof params, "{\"name\":\"%s\",\"arguments\":%s}", name, args);
    ask_method(b, "tools/call", params, pattern);
}

/* Of the last answer: what stands behind "name": in its structured content. */
static const char *told(const char *name)
{
    char wanted[64];
    const char *content = strstr(bench.body.p, "\"structuredContent\":");
    snprintf(wanted, sizeof wanted, "\"%s\":", name);
    const char *at = content ? strstr(content, wanted) : NULL;
    if (!at)
        fail_msg("no %s in %s", name, bench.body.p);
    return at + strlen(wanted);
}

static void nothing_hidden_is_told(void)
{
    assert_null(strstr(bench.body.p, "secret"));
    assert_null(strstr(bench.body.p, "token"));
    assert_null(strstr(bench.body.p, "tok"));
}

/* As the store has it, text in `scratch`. */
static const struct tape_node *stored(struct bench *b, const char *id, struct arena *scratch)
{
    struct store_view *view;
    struct store_row row;
    assert_int_equal(store_view_open(b->store, STORE_DATA, &view), 0);
    assert_int_equal(store_get_row(view, member, str_of(id), scratch, &row), 0);
    store_view_close(view);
    return row.row;
}

static bool has_text(const struct tape_node *row, const char *name, const char *text)
{
    const struct tape_node *value = tape_get(row, str_of(name));
    return value && value->kind == TAPE_STR && str_eq(tape_str(value), str_of(text));
}

static void a_new_row_is_filled_in(void **state)
{
    call_tool(*state, "create_member", "{\"name\":\"Ann\"}",
              "{\"structuredContent\":{\"id\":\"*\",\"name\":\"Ann\",\"level\":1,\"made\":\"*\","
              "\"changed\":\"*\",\"rev\":\"*\",\"-\":[\"secret\",\"token\",\"nick\"]}}");
    nothing_hidden_is_told();
    assert_int_equal(told("id")[37], '"');
    assert_int_equal(told("made")[24], 'Z');
    assert_true(strtoll(told("changed"), NULL, 10) <= clock_wall_ms());
    const char *meta = strstr(bench.body.p, "\"tenon/version\":");
    assert_non_null(meta);
    assert_true(strtoull(told("rev"), NULL, 10) ==
                strtoull(meta + strlen("\"tenon/version\":"), NULL, 10));
    call_tool(*state, "create_member", "{\"id\":\"b\",\"name\":\"Bob\",\"level\":5,\"nick\":null}",
              "{\"structuredContent\":{\"id\":\"b\",\"level\":5,\"nick\":null}}");
    struct arena scratch;
    arena_init(&scratch, 0);
    const struct tape_node *row = stored(*state, "b", &scratch);
    assert_true(has_text(row, "token", "tok"));
    assert_null(tape_get(row, STR("rev")));
    assert_null(tape_get(row, STR("secret")));
    arena_done(&scratch);
}

/* As if there were no such attributes: the fault of a schema that allows no others. */
static void what_clients_may_not_set_is_refused_as_unknown(void **state)
{
    static const char *const names[] = {"secret", "token", "made", "changed", "rev"};
    call_tool(*state, "create_member", "{\"id\":\"a\",\"name\":\"Ann\",\"more\":1}", "{}");
    for (size_t i = 0; i < N(names); i++) {
        char args[256], wanted[512];
        static const char *const forms[][3] = {
            {"create_member", "{\"name\":\"x\",\"%s\":\"y\"}", ""},
            {"update_member", "{\"id\":\"a\",\"changes\":{\"%s\":\"y\"}}", "/changes"},
            {"update_member", "{\"id\":\"a\",\"changes\":{\"%s\":null}}", "/changes"},
            {"update_member", "{\"id\":\"a\",\"row\":{\"name\":\"x\",\"%s\":\"y\"}}", "/row"},
        };
        for (size_t k = 0; k < N(forms); k++) {
            snprintf(args, sizeof args, forms[k][1], names[i]);
            snprintf(
                wanted, sizeof wanted,
                "!{\"code\":-32602,\"data\":{\"errors\":[{\"pointer\":\"/params/arguments%s/"
                "%s\",\"keyword\":\"additionalProperties\",\"expected\":\"no such member\"}]}}",
                forms[k][2], names[i]);
            call_tool(*state, forms[k][0], args, wanted);
        }
    }
}

static void hidden_attributes_stay_when_a_row_changes(void **state)
{
    struct arena scratch;
    call_tool(*state, "create_member", "{\"id\":\"a\",\"name\":\"Ann\",\"nick\":\"n\"}", "{}");
    call_tool(*state, "update_member", "{\"id\":\"a\",\"changes\":{\"level\":2}}",
              "{\"structuredContent\":{\"name\":\"Ann\",\"nick\":\"n\",\"level\":2}}");
    nothing_hidden_is_told();
    call_tool(
        *state, "update_member", "{\"id\":\"a\",\"row\":{\"name\":\"Anne\"}}",
        "{\"structuredContent\":{\"id\":\"a\",\"name\":\"Anne\",\"level\":1,\"-\":[\"nick\"]}}");
    nothing_hidden_is_told();
    arena_init(&scratch, 0);
    assert_true(has_text(stored(*state, "a", &scratch), "token", "tok"));
    arena_done(&scratch);
}

static void times_and_the_version_move_with_updates(void **state)
{
    char made[32];
    static const char *const updates[] = {"{\"id\":\"a\",\"changes\":{}}",
                                          "{\"id\":\"a\",\"row\":{\"name\":\"B\"}}"};
    call_tool(*state, "create_member", "{\"id\":\"a\",\"name\":\"Ann\"}", "{}");
    snprintf(made, sizeof made, "%.26s", told("made"));
    for (size_t i = 0; i < N(updates); i++) {
        long long changed = strtoll(told("changed"), NULL, 10);
        unsigned long long rev = strtoull(told("rev"), NULL, 10);
        clock_advance_ms(5000);
        call_tool(*state, "update_member", updates[i], "{}");
        assert_true(strtoll(told("changed"), NULL, 10) >= changed + 5000);
        assert_true(strtoull(told("rev"), NULL, 10) > rev);
        assert_memory_equal(told("made"), made, 26);
    }
}

static void one_projection_is_everywhere(void **state)
{
    call_tool(*state, "create_member", "{\"id\":\"a\",\"name\":\"Ann\"}", "{}");
    static const char *const row = "{\"id\":\"a\",\"name\":\"Ann\",\"level\":1,\"made\":\"*\","
                                   "\"changed\":\"*\",\"rev\":\"*\"}";
    char wanted[512];
    snprintf(wanted, sizeof wanted, "{\"structuredContent\":%s}", row);
    call_tool(*state, "get_member", "{\"id\":\"a\"}", wanted);
    nothing_hidden_is_told();
    snprintf(wanted, sizeof wanted, "{\"structuredContent\":{\"rows\":[%s]}}", row);
    call_tool(*state, "search_member", "{}", wanted);
    nothing_hidden_is_told();
    call_tool(*state, "search_member", "{\"order_by\":[\"-level\"],\"select\":[\"id\",\"rev\"]}",
              "{\"structuredContent\":{\"rows\":[{\"id\":\"a\",\"rev\":\"*\",\"-\":[\"name\"]}]}}");
    ask_method(*state, "resources/read", "{\"uri\":\"db://shop/member/a\"}",
               "{\"contents\":[{\"text\":\"*\"}]}");
    nothing_hidden_is_told();
    assert_non_null(strstr(bench.body.p, "\\\"rev\\\":"));
    ask_method(*state, "resources/read", "{\"uri\":\"db://shop/member\"}",
               "{\"contents\":[{\"text\":\"*\"}]}");
    nothing_hidden_is_told();
    assert_non_null(strstr(bench.body.p, "\\\"rev\\\":"));
}

static void lists_and_schemas_do_not_name_what_is_hidden(void **state)
{
    ask_method(*state, "tools/list", "", "{}");
    nothing_hidden_is_told();
    ask_method(*state, "resources/list", "", "{}");
    nothing_hidden_is_told();
    ask_method(*state, "resources/templates/list", "", "{}");
    nothing_hidden_is_told();
    ask_method(*state, "resources/read", "{\"uri\":\"tenon://schema/shop/member\"}",
               "{\"contents\":[{\"text\":\"*\"}]}");
    nothing_hidden_is_told();
    assert_non_null(strstr(bench.body.p, "by_name"));
}

/* Asked about by name, what is hidden answers like what does not exist. */
static void filters_answer_as_if_it_did_not_exist(void **state)
{
    static const char *const forms[] = {
        "{\"where\":\"%s = 'x'\"}", "{\"where\":{\"%s\":\"x\"}}", "{\"order_by\":[\"%s\"]}",
        "{\"order_by\":[\"-%s\"]}", "{\"select\":[\"%s\"]}",
    };
    for (size_t i = 0; i < N(forms); i++) {
        char args[128], hidden[4096], unknown[4096], *at;
        snprintf(args, sizeof args, forms[i], "secret");
        call_tool(*state, "search_member", args, "!{\"code\":-32602}");
        snprintf(hidden, sizeof hidden, "%s", bench.body.p);
        snprintf(args, sizeof args, forms[i], "zzzzzz");
        call_tool(*state, "search_member", args, "!{\"code\":-32602}");
        snprintf(unknown, sizeof unknown, "%s", bench.body.p);
        while ((at = strstr(hidden, "secret")))
            memcpy(at, "zzzzzz", 6);
        assert_string_equal(hidden, unknown);
    }
    /* nor is it suggested for what is nearly its name */
    call_tool(*state, "search_member", "{\"where\":\"secre = 'x'\"}", "!{\"code\":-32602}");
    assert_null(strstr(bench.body.p, "secret"));
}

static void columns_that_may_be_null_are_searched_for_it(void **state)
{
    call_tool(*state, "create_member", "{\"id\":\"a\",\"name\":\"Ann\",\"nick\":null}", "{}");
    call_tool(*state, "create_member", "{\"id\":\"b\",\"name\":\"Bob\",\"nick\":\"bo\"}", "{}");
    call_tool(*state, "search_member", "{\"where\":{\"nick\":null}}",
              "{\"structuredContent\":{\"rows\":[{\"id\":\"a\",\"nick\":null}]}}");
    call_tool(*state, "search_member", "{\"where\":\"nick = 'bo'\"}",
              "{\"structuredContent\":{\"rows\":[{\"id\":\"b\"}]}}");
}

/* ---- A whole row ---------------------------------------------------------------------------- */

static void a_whole_row_takes_the_place_of_the_old_one(void **state)
{
    call_tool(*state, "update_book", "{\"id\":2,\"row\":{\"title\":\"Other\"}}",
              "{\"structuredContent\":{\"id\":2,\"title\":\"Other\",\"-\":[\"genre\",\"year\"]}}");
    call_tool(*state, "update_book", "{\"id\":2,\"row\":{\"id\":2,\"title\":\"T\",\"year\":null}}",
              "{\"structuredContent\":{\"id\":2,\"title\":\"T\",\"year\":null}}");
    call_tool(*state, "get_book", "{\"id\":2}",
              "{\"structuredContent\":{\"id\":2,\"title\":\"T\",\"year\":null,\"-\":[\"genre\"]}}");
    call_tool(*state, "update_book", "{\"id\":99,\"row\":{\"title\":\"T\"}}", "{\"isError\":true}");
    call_tool(*state, "get_book", "{\"id\":99}", "{\"isError\":true}");
}

static void a_whole_row_is_put_only_over_the_version_that_is_named(void **state)
{
    call_tool(*state, "update_book", "{\"id\":2,\"row\":{\"title\":\"T\"},\"if_version\":1}",
              "{\"isError\":true}");
    assert_non_null(strstr(bench.body.p, "has version"));
    unsigned long long version = strtoull(strstr(bench.body.p, "has version ") + 12, NULL, 10);
    char args[128];
    snprintf(args, sizeof args, "{\"id\":2,\"row\":{\"title\":\"T\"},\"if_version\":%llu}",
             version);
    call_tool(*state, "update_book", args, "{\"structuredContent\":{\"title\":\"T\"}}");
    call_tool(*state, "update_book", args, "{\"isError\":true}");
}

static void either_changes_or_a_row(void **state)
{
    call_tool(*state, "update_book", "{\"id\":1}",
              "!{\"code\":-32602,\"data\":{\"errors\":[{\"pointer\":\"/params/arguments\","
              "\"keyword\":\"oneOf\",\"expected\":\"either changes or row\"}]}}");
    call_tool(*state, "update_book",
              "{\"id\":1,\"changes\":{\"year\":1999},\"row\":{\"title\":\"t\"}}",
              "!{\"code\":-32602,\"data\":{\"errors\":[{\"pointer\":\"/params/arguments\","
              "\"keyword\":\"oneOf\",\"expected\":\"either changes or row, not both\"}]}}");
    call_tool(*state, "get_book", "{\"id\":1}",
              "{\"structuredContent\":{\"title\":\"First\",\"-\":[\"year\"]}}");
}

/* A row is not there in part: a create that fails leaves none. */
static void every_failing_allocation_is_answered(void **state)
{
    static const char *const cases[][2] = {
        {"create_member", "{\"id\":\"a\",\"name\":\"Ann\"}"}, /* is there */
        {"create_member", "{\"id\":\"b\",\"name\":\"Bob\",\"token\":\"t\"}"},
        {"update_member", "{\"id\":\"a\",\"row\":{\"name\":\"A\"}}"},
        {"update_member", "{\"id\":\"a\",\"changes\":{\"level\":3}}"},
        {"get_member", "{\"id\":\"a\"}"},
        {"search_member", "{\"select\":[\"id\",\"rev\"]}"},
    };
    unsigned n_failed = 0;
    call_tool(*state, "create_member", "{\"id\":\"a\",\"name\":\"Ann\"}", "{}");
    for (size_t i = 0; i < N(cases); i++) {
        char body[512];
        int status = 500;
        snprintf(body, sizeof body,
                 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
                 "\"%s\",\"arguments\":%s}}",
                 cases[i][0], cases[i][1]);
        for (size_t limit = 1; status == 500; limit += 16) {
            bench.arena_limit = limit;
            bench_send(*state, str_of(body));
            status = bench.status;
            n_failed += status == 500;
        }
        bench.arena_limit = 0;
        assert_int_equal(status, 200);
    }
    assert_true(n_failed > 100);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        MEMBER_TEST(a_new_row_is_filled_in),
        MEMBER_TEST(what_clients_may_not_set_is_refused_as_unknown),
        MEMBER_TEST(hidden_attributes_stay_when_a_row_changes),
        MEMBER_TEST(times_and_the_version_move_with_updates),
        MEMBER_TEST(one_projection_is_everywhere),
        MEMBER_TEST(lists_and_schemas_do_not_name_what_is_hidden),
        MEMBER_TEST(filters_answer_as_if_it_did_not_exist),
        MEMBER_TEST(columns_that_may_be_null_are_searched_for_it),
        MEMBER_TEST(every_failing_allocation_is_answered),
        SHOP_TEST(a_whole_row_takes_the_place_of_the_old_one),
        SHOP_TEST(a_whole_row_is_put_only_over_the_version_that_is_named),
        SHOP_TEST(either_changes_or_a_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
