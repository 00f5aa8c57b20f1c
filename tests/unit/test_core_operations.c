/* tests/unit/test_core_operations.c - the operations profile: who may call what, and results that
 * fit the schemas they are listed with. */
#include "core/operations.h"

#include "tests/unit/ask.h"
#include "base/log_ring.h"
#include "base/log.h"
#include "wire/json_read.h"

#define BOOK                                                                      \
    "{\"primaryKey\":\"id\",\"title\":\"Books\",\"schema\":{\"type\":\"object\"," \
    "\"properties\":{\"id\":{\"type\":\"integer\"}}}}"

static struct bench bench;

static void open_with(const struct core_config *config)
{
    bench_open(&bench, config);
    bench_table(&bench, "shop", "book", BOOK);
    bench.profile = PROFILE_OPERATIONS;
    bench_connect(&bench, "2025-06-18");
}

static int setup(void **state)
{
    open_with(&bench_config);
    *state = &bench;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    bench_close(&bench);
    return 0;
}

static const struct tape_node *open_tape(struct arena *arena, struct str text)
{
    const struct tape_node *tape;
    struct wire_fault fault;
    char *padded = arena_zalloc(arena, (size_t)text.n + JSON_PADDING_BYTES);
    assert_non_null(padded);
    memcpy(padded, text.p, text.n);
    assert_int_equal(tape_open((struct str){padded, text.n}, arena, &tape, &fault), 0);
    return tape;
}

static void a_glob_takes_any_characters_for_a_star(void **state)
{
    (void)state;
    assert_true(operation_glob(STR("*"), STR("")));
    assert_true(operation_glob(STR("describe_*"), STR("describe_all")));
    assert_true(operation_glob(STR("*_*b*"), STR("drop_table")));
    assert_false(operation_glob(STR("describe_*"), STR("describe")));
    assert_false(operation_glob(STR("drop"), STR("drop_table")));
    assert_false(operation_glob(STR("?rop_table"), STR("drop_table")));
    assert_false(operation_glob(STR(""), STR("x")));
}

static void operations_are_listed_and_called(void **state)
{
    ask_method(*state, "tools/list", "",
               "{\"tools\":[{\"name\":\"describe_all\",\"annotations\":{\"readOnlyHint\":true}},"
               "{\"name\":\"describe_role\"},"
               "{\"name\":\"describe_table\"},{\"name\":\"explain_search\"},"
               "{\"name\":\"get_job\"},{\"name\":\"list_jobs\"},{\"name\":\"list_roles\"},"
               "{\"name\":\"list_sessions\"},{\"name\":\"list_tokens\"},"
               "{\"name\":\"list_users\"},{\"name\":\"read_log\"},"
               "{\"name\":\"system_information\"},{\"name\":\"whoami\"}]}");
    ask_method(*state, "tools/call", "{\"name\":\"describe_all\"}",
               "{\"structuredContent\":{\"tables\":[{\"database\":\"shop\",\"table\":\"book\","
               "\"title\":\"Books\",\"rows\":0}]}}");
    ask_method(*state, "tools/call",
               "{\"name\":\"describe_table\",\"arguments\":{\"database\":\"shop\",\"table\":"
               "\"book\"}}",
               "{\"structuredContent\":{\"primaryKey\":\"id\",\"schema\":{\"type\":\"object\"}}}");
}

static void bad_arguments_and_unknown_tables_are_told(void **state)
{
    ask_method(
        *state, "tools/call",
        "{\"name\":\"describe_table\",\"arguments\":{\"database\":\"shop\",\"table\":\"x\"}}",
        "{\"isError\":true}");
    ask_method(*state, "tools/call", "{\"name\":\"describe_table\"}", "!{\"code\":-32602}");
    ask_method(*state, "tools/call", "{\"name\":\"read_log\",\"arguments\":{\"limit\":0}}",
               "!{\"code\":-32602}");
    ask_method(*state, "tools/call", "{\"name\":\"get_book\",\"arguments\":{\"id\":1}}",
               "!{\"code\":-32602,\"message\":\"Unknown tool: get_book\"}");
}

static void an_operation_is_no_tool_of_the_application(void **state)
{
    bench.profile = PROFILE_APPLICATION;
    bench_connect(*state, "2025-06-18");
    ask_method(*state, "tools/call", "{\"name\":\"describe_all\"}",
               "!{\"code\":-32602,\"message\":\"Unknown tool: describe_all\"}");
}

static void a_table_is_described_with_its_indexes(void **state)
{
    bench_table(
        &bench, "shop", "note",
        "{\"primaryKey\":\"id\",\"title\":\"Notes\",\"description\":\"What was said\","
        "\"annotations\":{\"priority\":0.5},\"indexes\":[{\"on\":[\"by\",\"-at\"]},{\"name\":"
        "\"one\",\"on\":[\"at\"],\"unique\":true}],\"schema\":{\"type\":\"object\","
        "\"properties\":{\"id\":{\"type\":\"integer\"},\"by\":{\"type\":\"string\"},\"at\":{"
        "\"type\":\"integer\"}}}}");
    ask_method(
        *state, "tools/call",
        "{\"name\":\"describe_table\",\"arguments\":{\"database\":\"shop\",\"table\":"
        "\"note\"}}",
        "{\"structuredContent\":{\"database\":\"shop\",\"table\":\"note\",\"rows\":0,"
        "\"title\":\"Notes\",\"description\":\"What was said\",\"annotations\":{\"priority\":"
        "0.5},\"primaryKey\":\"id\",\"indexes\":[{\"name\":\"by_by_at\",\"on\":[\"by\","
        "\"-at\"]},{\"name\":\"one\",\"on\":[\"at\"],\"unique\":true}],\"-\":[\"building\"]}}");
    ask_method(*state, "tools/call", "{\"name\":\"describe_all\"}",
               "{\"structuredContent\":{\"tables\":[{\"table\":\"book\",\"indexes\":0},{\"table\":"
               "\"note\",\"title\":\"Notes\",\"indexes\":2,\"rows\":0}]}}");
}

static void a_search_is_explained_with_its_index_and_an_advice(void **state)
{
    bench_table(&bench, "geo", "city",
                "{\"primaryKey\":\"id\",\"indexes\":[{\"on\":[\"region\",\"-population\"]}],"
                "\"schema\":{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"integer\"},"
                "\"region\":{\"type\":\"string\"},\"population\":{\"type\":\"integer\"},\"mayor\":{"
                "\"type\":\"string\"}}}}");
#define EXPLAIN(rest)                                                                              \
    "{\"name\":\"explain_search\",\"arguments\":{\"database\":\"geo\",\"table\":\"city\"" rest "}" \
    "}"
    ask_method(*state, "tools/call",
               EXPLAIN(",\"where\":\"region = 'north'\",\"order_by\":[\"-population\"]"),
               "{\"structuredContent\":{\"access\":\"index\",\"index\":\"by_region_population\","
               "\"rangeCount\":1,\"ranges\":[{\"equal\":{\"region\":\"north\"}}],\"ordered\":true,"
               "\"order\":[\"-population\",\"id\"],\"-\":[\"advice\"]}}");
    ask_method(*state, "tools/call", EXPLAIN(",\"where\":{\"mayor\":\"Ann\"}"),
               "{\"structuredContent\":{\"access\":\"scan\",\"test\":true,\"advice\":\"mayor\","
               "\"-\":[\"index\"]}}");
    ask_method(*state, "tools/call", EXPLAIN(",\"where\":\"id between 1 and 5\""),
               "{\"structuredContent\":{\"access\":\"primary\"}}");
    ask_method(*state, "tools/call", EXPLAIN(",\"where\":\"nobody = 1\""), "{\"isError\":true}");
    ask_method(*state, "tools/call", EXPLAIN(",\"order_by\":[\"nobody\"]"), "{\"isError\":true}");
    ask_method(*state, "tools/call", EXPLAIN(",\"where\":1"), "!{\"code\":-32602}");
    ask_method(*state, "tools/call",
               "{\"name\":\"explain_search\",\"arguments\":{\"database\":\"geo\",\"table\":\"x\"}}",
               "{\"isError\":true}");
}

static void the_system_tells_of_itself_without_paths(void **state)
{
    static const char create[] = "{\"name\":\"create_book\",\"arguments\":{\"id\":%d}}";
    char params[100];
    bench.profile = PROFILE_APPLICATION;
    bench_connect(*state, "2025-06-18");
    for (int i = 0; i < 3; i++) {
        snprintf(params, sizeof params, create, i);
        ask_method(*state, "tools/call", params, "{\"-\":[\"isError\"]}");
    }
    bench.profile = PROFILE_OPERATIONS;
    bench_connect(*state, "2025-06-18");
    ask_method(*state, "tools/call", "{\"name\":\"system_information\"}",
               "{\"structuredContent\":{\"name\":\"tenon\",\"protocolVersions\":[\"*\",\"...\"],"
               "\"tables\":1,\"rows\":3,\"sessions\":3,\"sequence\":4,\"data\":{\"readers\":0}}}");
    assert_null(strchr(bench.body.p, '/'));
}

static void what_is_denied_is_neither_listed_nor_known(void **state)
{
    static const struct str allow[] = {STR_INIT("describe_*")}, deny[] = {STR_INIT("*_table")};
    struct core_config config = bench_config;
    (void)state;
    config.operations_allow = (struct name_globs){allow, 1};
    config.operations_deny = (struct name_globs){deny, 1};
    open_with(&config);
    ask_method(&bench, "tools/list", "",
               "{\"tools\":[{\"name\":\"describe_all\"},{\"name\":\"describe_role\"}]}");
    ask_method(&bench, "tools/call", "{\"name\":\"describe_table\"}",
               "!{\"code\":-32602,\"message\":\"Unknown tool: describe_table\"}");
    ask_method(&bench, "tools/call", "{\"name\":\"read_log\"}", "!{\"code\":-32602}");
    bench_close(&bench);
}

/* Of those that need nothing but a table; the others have tests of their own. */
static const char *args_of(const char *name)
{
    static const char *const args[][2] = {
        {"describe_all", "{}"},
        {"describe_table", "{\"database\":\"shop\",\"table\":\"book\"}"},
        {"explain_search", "{\"database\":\"shop\",\"table\":\"book\"}"},
        {"list_jobs", "{}"},
        {"list_roles", "{}"},
        {"list_sessions", "{}"},
        {"list_tokens", "{\"user\":\"ann\"}"},
        {"list_users", "{}"},
        {"read_log", "{}"},
        {"system_information", "{}"},
        {"whoami", "{}"},
    };
    for (size_t i = 0; i < sizeof args / sizeof *args; i++)
        if (strcmp(name, args[i][0]) == 0)
            return args[i][1];
    return NULL;
}

static void every_result_fits_its_output_schema(void **state)
{
    const struct operation *o;
    assert_int_equal(log_ring_open(), 0);
    log_warn("a \"line\"");
    log_warn("another");
    for (uint32_t i = 0; (o = operation_at(i)); i++) {
        struct arena arena;
        const struct json_schema *schema;
        if (!args_of(o->name))
            continue;
        struct schema_faults faults = {0};
        char params[256];
        arena_init(&arena, 0);
        snprintf(params, sizeof params, "{\"name\":\"%s\",\"arguments\":%s}", o->name,
                 args_of(o->name));
        ask_method(*state, "tools/call", params,
                   "{\"structuredContent\":\"*\",\"-\":[\"isError\"]}");
        assert_int_equal(json_schema_compile(open_tape(&arena, str_of(o->output)), NULL, &arena,
                                             &schema, &faults),
                         0);
        const struct tape_node *result =
            tape_get(open_tape(&arena, buf_str(&bench.body)), STR("result"));
        assert_int_equal(
            json_schema_check(schema, tape_get(result, STR("structuredContent")), &faults), 0);
        arena_done(&arena);
    }
    ask_method(*state, "tools/call", "{\"name\":\"read_log\",\"arguments\":{\"limit\":1}}",
               "{\"structuredContent\":{\"entries\":[{\"time\":\"*\",\"level\":\"warning\","
               "\"from\":\"*\",\"text\":\"another\"}]}}");
    log_ring_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_glob_takes_any_characters_for_a_star),
        cmocka_unit_test_setup_teardown(operations_are_listed_and_called, setup, teardown),
        cmocka_unit_test_setup_teardown(bad_arguments_and_unknown_tables_are_told, setup, teardown),
        cmocka_unit_test_setup_teardown(an_operation_is_no_tool_of_the_application, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_table_is_described_with_its_indexes, setup, teardown),
        cmocka_unit_test_setup_teardown(a_search_is_explained_with_its_index_and_an_advice, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(the_system_tells_of_itself_without_paths, setup, teardown),
        cmocka_unit_test(what_is_denied_is_neither_listed_nor_known),
        cmocka_unit_test_setup_teardown(every_result_fits_its_output_schema, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
