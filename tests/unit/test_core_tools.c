/* tests/unit/test_core_tools.c - tools/list and tools/call: the checklist's TL and PG rows. */
#include "base/limits.h"
#include "base/log.h"
#include "tests/unit/ask.h"

#define N(a) (sizeof(a) / sizeof *(a))

/* tools/call of one tool; the pattern is that of ask_method. */
static void call_tool(struct bench *b, const char *name, const char *args, const char *pattern)
{
    char params[4096];
    snprintf(params, sizeof params, "{\"name\":\"%s\"%s%s}", name, args[0] ? ",\"arguments\":" : "",
             args);
    ask_method(b, "tools/call", params, pattern);
}

/* Takes the string at "nextCursor" out of the last answer. */
static bool take_cursor(struct bench *b, char *ret, size_t size)
{
    const char *at = strstr(b->body.p, "\"nextCursor\":\"");
    const char *end = at ? strchr(at + 14, '"') : NULL;
    if (!at)
        return false;
    snprintf(ret, size, "%.*s", (int)(end - at - 14), at + 14);
    return true;
}

/* ---- tools/list ----------------------------------------------------------------------------- */

static void TL_01_TL_02_each_table_gives_five_tools(void **state)
{
    ask_method(
        *state, "tools/list", "",
        "{\"tools\":[{\"name\":\"create_book\",\"title\":\"Create a row of "
        "Books\",\"description\":\"*\","
        "\"inputSchema\":{\"type\":\"object\",\"required\":[\"id\",\"title\"]},\"outputSchema\":{"
        "\"type\":\"object\"},"
        "\"annotations\":{\"readOnlyHint\":false,\"destructiveHint\":false,\"openWorldHint\":false}"
        "},"
        "{\"name\":\"create_note\"},"
        "{\"name\":\"delete_book\",\"annotations\":{\"destructiveHint\":true},\"inputSchema\":{"
        "\"properties\":{"
        "\"id\":{\"type\":\"integer\"}},\"required\":[\"id\"],\"additionalProperties\":false}},"
        "{\"name\":\"delete_note\"},{\"name\":\"get_book\",\"annotations\":{\"readOnlyHint\":true}}"
        ","
        "{\"name\":\"get_note\"},{\"name\":\"search_book\"},{\"name\":\"search_note\"},"
        "{\"name\":\"update_book\",\"annotations\":{\"idempotentHint\":true}},{\"name\":\"update_"
        "note\"}],"
        "\"-\":[\"nextCursor\"]}");
}

static void a_database_without_tables_has_no_tools(void **state)
{
    (void)state;
    bench_open(&bench, &bench_config);
    bench_connect(&bench, "2025-06-18");
    ask_method(&bench, "tools/list", "", "{\"tools\":[]}");
    bench_close(&bench);
}

static void L_10_a_2025_03_26_list_has_no_titles_and_no_output_schemas(void **state)
{
    bench_connect(*state, "2025-03-26");
    ask_method(*state, "tools/list", "",
               "{\"tools\":[{\"name\":\"create_book\",\"-\":[\"title\",\"outputSchema\"],"
               "\"inputSchema\":{\"type\":\"object\"},"
               "\"annotations\":{\"readOnlyHint\":false}},\"...\"]}");
}

static void tables_of_one_name_get_their_database_in_front(void **state)
{
    bench_table(*state, "attic", "book", NOTE_DEFINITION);
    bench_table(*state, "attic", "attic_book", NOTE_DEFINITION);
    call_tool(*state, "get_book", "{\"id\":1}", "{\"structuredContent\":{\"title\":\"First\"}}");
    call_tool(*state, "create_attic_book", "{\"key\":\"k\"}",
              "{\"structuredContent\":{\"key\":\"k\"}}");
    call_tool(*state, "get_attic_attic_book", "{\"id\":\"k\"}", "{\"isError\":true}");
}

/* The name of the younger of two tables would be too long with its database in front. */
static void beyond_TOOL_NAME_BYTES_MAX_a_table_has_its_number(void **state)
{
    char name[NAME_BYTES_MAX + 1] = "", database[NAME_BYTES_MAX + 1] = "", tool[256];
    memset(name, 't', NAME_BYTES_MAX);
    memset(database, 'd', NAME_BYTES_MAX);
    assert_true(sizeof database + sizeof name - 1 > TOOL_NAME_BYTES_MAX);
    bench_table(*state, "shop", name, NOTE_DEFINITION);
    uint32_t id = bench_table(*state, database, name, NOTE_DEFINITION);
    snprintf(tool, sizeof tool, "create_%s_%u", name, id);
    call_tool(*state, tool, "{\"key\":\"k\"}", "{\"structuredContent\":{\"key\":\"k\"}}");
    snprintf(tool, sizeof tool, "get_%s", name);
    call_tool(*state, tool, "{\"id\":\"k\"}", "{\"isError\":true}");
    database[TOOL_NAME_BYTES_MAX - NAME_BYTES_MAX - 1] = '\0'; /* the longest that fits */
    bench_table(*state, database, name, NOTE_DEFINITION);
    snprintf(tool, sizeof tool, "get_%s_%s", database, name);
    call_tool(*state, tool, "{\"id\":\"k\"}", "{\"isError\":true}");
}

static void tables_come_and_go(void **state)
{
    uint32_t id = bench_table(*state, "shop", "extra", NOTE_DEFINITION);
    call_tool(*state, "create_extra", "{\"key\":\"k\"}", "{\"structuredContent\":{\"key\":\"k\"}}");
    bench_write(*state,
                (struct store_op){.kind = STORE_DROP_TABLE, .if_version = STORE_ANY, .table = id});
    call_tool(*state, "get_extra", "{\"id\":\"k\"}",
              "!{\"code\":-32602,\"message\":\"Unknown tool: get_extra\"}");
}

static void a_damaged_definition_takes_away_its_table_only(void **state)
{
    log_set_level(LOG_ERROR + 1);
    bench_table(*state, "shop", "broken", "{\"primaryKey\":");
    log_set_level(LOG_INFO);
    call_tool(*state, "get_book", "{\"id\":1}", "{\"structuredContent\":{\"title\":\"First\"}}");
    call_tool(*state, "get_broken", "{\"id\":1}", "!{\"code\":-32602}");
}

/* ---- Pages ---------------------------------------------------------------------------------- */

/* Follows nextCursor to the end; returns how many tools came. */
static unsigned count_tools(struct bench *b, uint32_t page)
{
    char cursor[512], params[600] = "";
    unsigned n = 0, pages = 0;
    do {
        ask_method(b, "tools/list", params, "{\"tools\":\"*\"}");
        unsigned here = 0;
        for (const char *at = b->body.p; (at = strstr(at, "\"inputSchema\":")); at++)
            here++;
        assert_true(here <= page && here > 0);
        n += here;
        assert_true(++pages < 50);
        if (!take_cursor(b, cursor, sizeof cursor))
            return n;
        assert_int_equal(here, page);
        snprintf(params, sizeof params, "{\"cursor\":\"%s\"}", cursor);
    } while (true);
}

static void PG_02_C_057_pages_go_on_and_end(void **state)
{
    (void)state;
    for (uint32_t page = 1; page <= 12; page++) {
        struct core_config config = bench_config;
        config.tools_page[PROFILE_APPLICATION] = page;
        bench_shop(&bench, &config);
        assert_int_equal(count_tools(&bench, page), 10);
        bench_close(&bench);
    }
}

static void PG_03_cursors_survive_inserts_and_other_workers(void **state)
{
    struct core_config config = bench_config;
    struct core *other, *mine;
    char cursor[512], params[600];
    (void)state;
    config.tools_page[PROFILE_APPLICATION] = 4;
    bench_shop(&bench, &config);
    ask_method(&bench, "tools/list", "",
               "{\"tools\":[\"*\",\"*\",\"*\",{\"name\":\"delete_note\"}],\"nextCursor\":\"*\"}");
    assert_true(take_cursor(&bench, cursor, sizeof cursor));
    snprintf(params, sizeof params, "{\"cursor\":\"%s\"}", cursor);
    bench_table(&bench, "shop", "aaa", NOTE_DEFINITION); /* create_aaa, delete_aaa sort before */
    mine = bench.core;
    assert_int_equal(core_new(&bench.config, bench.store, &bench.loop, &other), 0);
    bench.core = other;
    ask_method(&bench, "tools/list", params,
               "{\"tools\":[{\"name\":\"get_aaa\"},{\"name\":\"get_book\"},{\"name\":\"get_note\"},"
               "{\"name\":\"search_aaa\"}]}");
    bench.core = mine;
    core_free(other);
    bench_close(&bench);
}

static void PG_04_PG_05_wrong_cursors_are_refused(void **state)
{
    struct core_config config = bench_config;
    char cursor[512], params[600];
    (void)state;
    config.tools_page[PROFILE_APPLICATION] = 4;
    bench_shop(&bench, &config);
    static const char *const wrong[] = {"\"\"", "\"garbage\"", "5", "null", "{}"};
    for (size_t i = 0; i < N(wrong); i++) {
        snprintf(params, sizeof params, "{\"cursor\":%s}", wrong[i]);
        ask_method(&bench, "tools/list", params,
                   "!{\"code\":-32602,\"data\":{\"pointer\":\"/params/cursor\"}}");
    }
    ask_method(&bench, "tools/list", "", "{\"nextCursor\":\"*\"}");
    assert_true(take_cursor(&bench, cursor, sizeof cursor));
    snprintf(params, sizeof params, "{\"cursor\":\"%s\"}", cursor);
    ask_method(&bench, "resources/list", params, "!{\"code\":-32602}");
    ask_method(&bench, "resources/templates/list", params, "!{\"code\":-32602}");
    cursor[3] = cursor[3] == 'A' ? 'B' : 'A';
    snprintf(params, sizeof params, "{\"cursor\":\"%s\"}", cursor);
    ask_method(&bench, "tools/list", params, "!{\"code\":-32602}");
    bench_close(&bench);
}

/* ---- tools/call ----------------------------------------------------------------------------- */

static void TL_04_TL_10_C_023_structured_content_and_the_same_as_text(void **state)
{
    call_tool(*state, "get_book", "{\"id\":2}",
              "{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"id\\\":2,\\\"title\\\":"
              "\\\"Second\\\",\\\"genre\\\":"
              "\\\"poem\\\",\\\"year\\\":1999}\"}],\"structuredContent\":{\"id\":2,\"title\":"
              "\"Second\",\"genre\":\"poem\","
              "\"year\":1999},\"-\":[\"isError\"]}");
}

static void L_10_a_2025_03_26_result_has_text_only(void **state)
{
    bench_connect(*state, "2025-03-26");
    call_tool(*state, "get_book", "{\"id\":2}",
              "{\"content\":[{\"type\":\"text\",\"text\":\"*\"}],\"-\":[\"structuredContent\"]}");
}

static void TL_05_C_021_unknown_tools(void **state)
{
    static const char *const names[] = {"no_such", "", "GET_BOOK", "get_book ", "get_", "book"};
    for (size_t i = 0; i < N(names); i++) {
        char wanted[128];
        snprintf(wanted, sizeof wanted, "!{\"code\":-32602,\"message\":\"Unknown tool: %s\"}",
                 names[i]);
        call_tool(*state, names[i], "{}", wanted);
    }
}

static void TL_05_a_long_name_is_shown_in_part(void **state)
{
    char name[2001] = "";
    memset(name, 'n', sizeof name - 1);
    call_tool(*state, name, "{}", "!{\"code\":-32602}");
    assert_true(bench.body.n < 400);
}

static void TL_06_wrong_arguments_name_the_place(void **state)
{
    static const char *const cases[][4] = {
        {"get_book", "", "/id", "required"},
        {"get_book", "{}", "/id", "required"},
        {"get_book", "{\"id\":\"1\"}", "/id", "type"},
        {"get_book", "{\"id\":1,\"x\":2}", "/x", "additionalProperties"},
        {"get_book", "{\"id\":1,\"id\":2}", "/id", "duplicate"},
        {"get_book", "{\"id\":9223372036854775808}", "/id", "type"},
        {"get_book", "{\"id\":1e999}", "/id", "range"},
        {"get_note", "{\"id\":\"\"}", "/id", "length"},
        {"create_book", "{\"id\":9}", "/title", "required"},
        {"create_book", "{\"id\":9,\"title\":\"\"}", "/title", "minLength"},
        {"create_book", "{\"id\":9,\"title\":\"t\",\"genre\":\"song\"}", "/genre", "enum"},
        {"create_book", "{\"id\":9,\"title\":\"t\",\"year\":1}", "/year", "minimum"},
        {"create_note", "{\"key\":\"\"}", "/key", "length"},
        {"search_book", "{\"where\":{\"colour\":1}}", "/where", "filter"},
        {"search_book", "{\"limit\":0}", "/limit", "minimum"},
        {"search_book", "{\"limit\":1001}", "/limit", "maximum"},
        {"search_book", "{\"cursor\":\"x\"}", "/cursor", "cursor"},
        {"update_book", "{\"id\":1}", "", "oneOf"},
        {"update_book", "{\"id\":1,\"changes\":{},\"row\":{\"title\":\"t\"}}", "", "oneOf"},
        {"update_book", "{\"id\":1,\"row\":{}}", "/row/title", "required"},
        {"update_book", "{\"id\":1,\"row\":{\"title\":\"t\",\"id\":2}}", "/row/id", "primaryKey"},
        {"update_book", "{\"id\":1,\"changes\":{},\"if_version\":\"1\"}", "/if_version", "type"},
        {"update_book", "{\"id\":1,\"changes\":{},\"if_version\":1.5}", "/if_version", "type"},
        {"update_book", "{\"id\":1,\"changes\":{},\"if_version\":null}", "/if_version", "type"},
        {"update_book", "{\"id\":1,\"changes\":{},\"if_version\":0}", "/if_version", "minimum"},
        {"update_book", "{\"id\":1,\"changes\":{\"year\":[]}}", "/changes/year", "type"},
        {"update_book", "{\"id\":1,\"changes\":{\"id\":2}}", "/changes/id", "additionalProperties"},
        {"update_note", "{\"id\":\"k\",\"changes\":{\"key\":\"l\"}}", "/changes/key", "primaryKey"},
        {"update_book", "{\"id\":1,\"changes\":{\"title\":5}}", "/changes/title", "type"},
        {"update_book", "{\"id\":1,\"changes\":{},\"if_version\":0}", "/if_version", "minimum"},
        {"update_book", "{\"id\":1,\"changes\":{},\"if_version\":\"1\"}", "/if_version", "type"},
        {"update_book", "{\"id\":1,\"changes\":{\"genre\":\"song\"}}", "/changes/genre", "enum"},
        {"delete_book", "{\"id\":null}", "/id", "type"},
    };
    for (size_t i = 0; i < N(cases); i++) {
        char wanted[256];
        snprintf(wanted, sizeof wanted,
                 "!{\"code\":-32602,\"data\":{\"errors\":[{\"pointer\":"
                 "\"/params/arguments%s\",\"keyword\":\"%s\",\"expected\":\"*\"}]}}",
                 cases[i][2], cases[i][3]);
        call_tool(*state, cases[i][0], cases[i][1], wanted);
    }
}

static const char pet_definition[] =
    "{\"primaryKey\":\"id\",\"schema\":{\"$schema\":\"https://json-schema.org/draft/2020-12/"
    "schema\",\"$id\":\"https://pets.example/pet\",\"type\":\"object\",\"properties\":{\"id\":"
    "{\"$ref\":\"#/$defs/number\",\"type\":\"integer\"},\"kind\":{\"enum\":[\"cat\",\"dog\"]},"
    "\"chip\":{\"type\":\"string\",\"pattern\":\"^[0-9]{4}$\"},\"born\":{\"type\":\"string\","
    "\"format\":\"date\"},\"tags\":{\"type\":\"array\",\"uniqueItems\":true}},\"required\":["
    "\"kind\"],\"if\":{\"properties\":{\"kind\":{\"const\":\"dog\"}}},\"then\":{\"required\":"
    "[\"chip\"]},\"unevaluatedProperties\":false,\"$defs\":{\"number\":{\"minimum\":1}}}}";

/* References, patterns, formats and conditions hold in every tool that is derived. */
static void TL_08_rows_are_checked_by_the_whole_of_json_schema(void **state)
{
    static const char *const cases[][4] = {
        {"create_pet", "{\"id\":0,\"kind\":\"cat\"}", "/id", "minimum"},
        {"create_pet", "{\"id\":2,\"kind\":\"dog\"}", "/chip", "required"},
        {"create_pet", "{\"id\":2,\"kind\":\"cat\",\"chip\":\"12\"}", "/chip", "pattern"},
        {"create_pet", "{\"id\":2,\"kind\":\"cat\",\"born\":\"2023-02-30\"}", "/born", "format"},
        {"create_pet", "{\"id\":2,\"kind\":\"cat\",\"tags\":[1,1.0]}", "/tags", "uniqueItems"},
        {"create_pet", "{\"id\":2,\"kind\":\"cat\",\"x\":1}", "/x", "unevaluatedProperties"},
        {"get_pet", "{\"id\":0}", "/id", "minimum"},
        {"update_pet", "{\"id\":1,\"changes\":{\"chip\":\"x\"}}", "/changes/chip", "pattern"},
        {"delete_pet", "{\"id\":0}", "/id", "minimum"},
    };
    bench_table(*state, "shop", "pet", pet_definition);
    for (size_t i = 0; i < N(cases); i++) {
        char wanted[256];
        snprintf(wanted, sizeof wanted,
                 "!{\"code\":-32602,\"data\":{\"errors\":[{\"pointer\":"
                 "\"/params/arguments%s\",\"keyword\":\"%s\"}]}}",
                 cases[i][2], cases[i][3]);
        call_tool(*state, cases[i][0], cases[i][1], wanted);
    }
    call_tool(*state, "create_pet", "{\"id\":1,\"kind\":\"cat\",\"born\":\"2024-02-29\"}",
              "{\"structuredContent\":{\"id\":1}}");
    call_tool(*state, "update_pet", "{\"id\":1,\"changes\":{\"kind\":\"dog\",\"z\":1}}",
              "{\"isError\":true,\"content\":[{\"text\":\"The row would not fit its schema: "
              "/chip: required, expected a value\"}]}");
    call_tool(*state, "update_pet", "{\"id\":1,\"changes\":{\"y\":1,\"z\":1}}",
              "{\"isError\":true,\"content\":[{\"text\":\"The row would not fit its schema: /y: "
              "unevaluatedProperties, expected id, kind, chip, born, tags; /z: "
              "unevaluatedProperties, expected id, kind, chip, born, tags\"}]}");
    call_tool(*state, "search_pet", "{\"where\":{\"id\":1}}",
              "{\"structuredContent\":{\"rows\":[{\"id\":1,\"kind\":\"cat\"}]}}");
}

static void TL_08_several_errors_are_told_at_once(void **state)
{
    call_tool(*state, "create_book", "{\"title\":5,\"colour\":1}",
              "!{\"code\":-32602,\"data\":{\"errors\":[{\"pointer\":\"/params/arguments/id\","
              "\"keyword\":\"required\",\"expected\":\"integer\"},{\"pointer\":\"/params/"
              "arguments/title\",\"keyword\":\"type\",\"expected\":\"string\"},{\"pointer\":"
              "\"/params/arguments/colour\",\"keyword\":\"additionalProperties\"}]}}");
}

static void a_pattern_that_explodes_is_told_and_not_taken_for_a_mismatch(void **state)
{
    bench_table(*state, "shop", "slow",
                "{\"primaryKey\":\"id\",\"schema\":{\"type\":\"object\",\"properties\":{\"id\":{"
                "\"type\":\"string\",\"pattern\":\"^(a+)+$\"}}}}");
    call_tool(*state, "get_slow", "{\"id\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\"}",
              "!{\"code\":-32602,\"data\":{\"errors\":[{\"pointer\":\"/params/arguments/id\","
              "\"keyword\":\"pattern\",\"expected\":\"a pattern's steps in matching: at most "
              "100000\"}]}}");
}

static void integers_may_be_written_with_a_fraction_of_zero(void **state)
{
    call_tool(*state, "get_book", "{\"id\":1.0}", "{\"structuredContent\":{\"id\":1}}");
    call_tool(*state, "get_book", "{\"id\":1e0}", "{\"structuredContent\":{\"id\":1}}");
}

static void TL_07_C_021_failures_inside_a_tool_are_results(void **state)
{
    static const char *const cases[][2] = {
        {"get_book", "{\"id\":99}"},
        {"create_book", "{\"id\":1,\"title\":\"again\"}"},
        {"update_book", "{\"id\":99,\"changes\":{\"title\":\"x\"}}"},
        {"get_note", "{\"id\":\"nowhere\"}"},
    };
    for (size_t i = 0; i < N(cases); i++)
        call_tool(*state, cases[i][0], cases[i][1],
                  "{\"content\":[{\"type\":\"text\",\"text\":\"*\"}],\"isError\":true,\"-\":["
                  "\"structuredContent\"]}");
    call_tool(*state, "get_book", "{\"id\":99}",
              "{\"content\":[{\"text\":\"There is no row with id 99 in shop.book.\"}]}");
    call_tool(
        *state, "get_note", "{\"id\":\"a\\\"b\"}",
        "{\"content\":[{\"text\":\"There is no row with key \\\"a\\\\\\\"b\\\" in shop.note.\"}]}");
    call_tool(*state, "create_book", "{\"id\":1,\"title\":\"again\"}",
              "{\"content\":[{\"text\":\"There is already a row with id 1 in shop.book.\"}]}");
    call_tool(*state, "get_book", "{\"id\":1}", "{\"structuredContent\":{\"title\":\"First\"}}");
}

static void create_update_delete(void **state)
{
    call_tool(*state, "create_book", "{\"title\":\"New\",\"id\":7}",
              "{\"structuredContent\":{\"id\":7,\"title\":\"New\"}}");
    call_tool(*state, "update_book", "{\"id\":7,\"changes\":{\"year\":2000,\"title\":\"Newer\"}}",
              "{\"structuredContent\":{\"id\":7,\"title\":\"Newer\",\"year\":2000}}");
    call_tool(*state, "update_book", "{\"id\":7,\"changes\":{\"year\":null}}",
              "{\"structuredContent\":{\"id\":7,\"title\":\"Newer\",\"-\":[\"year\"]}}");
    call_tool(*state, "update_book", "{\"id\":7,\"changes\":{}}",
              "{\"structuredContent\":{\"title\":\"Newer\"}}");
    call_tool(*state, "get_book", "{\"id\":7}",
              "{\"structuredContent\":{\"id\":7,\"title\":\"Newer\",\"-\":[\"year\"]}}");
    call_tool(*state, "delete_book", "{\"id\":7}",
              "{\"structuredContent\":{\"deleted\":true},\"-\":[\"isError\"]}");
    call_tool(*state, "delete_book", "{\"id\":7}",
              "{\"structuredContent\":{\"deleted\":false},\"-\":[\"isError\"]}");
    call_tool(*state, "get_book", "{\"id\":7}", "{\"isError\":true}");
}

static void rows_keep_what_the_schema_does_not_name(void **state)
{
    call_tool(*state, "create_note",
              "{\"key\":\"k\",\"text\":\"t\",\"more\":{\"a\":[1,2.5,null,\"\xc3\xa9\\u0001\"]}}",
              "{}");
    call_tool(*state, "update_note", "{\"id\":\"k\",\"changes\":{\"other\":true}}", "{}");
    call_tool(*state, "get_note", "{\"id\":\"k\"}",
              "{\"structuredContent\":{\"key\":\"k\",\"text\":\"t\",\"more\":{\"a\":[1,2.5,null,"
              "\"\xc3\xa9\\u0001\"]},\"other\":true}}");
}

static void an_update_keeps_the_order_of_the_row_and_of_what_is_new(void **state)
{
    call_tool(*state, "create_note", "{\"m\":1,\"key\":\"k\",\"a\":2,\"z\":3}", "{}");
    call_tool(*state, "update_note",
              "{\"id\":\"k\",\"changes\":{\"y\":9,\"z\":[8],\"b\":7,\"m\":{\"n\":6}}}", "{}");
    assert_non_null(strstr(bench.body.p, "\"structuredContent\":{\"m\":{\"n\":6},\"key\":\"k\","
                                         "\"a\":2,\"z\":[8],\"y\":9,\"b\":7}"));
    call_tool(*state, "update_note", "{\"id\":\"k\",\"changes\":{}}", "{}");
    assert_non_null(strstr(bench.body.p, "\"structuredContent\":{\"m\":{\"n\":6},\"key\":\"k\","
                                         "\"a\":2,\"z\":[8],\"y\":9,\"b\":7}"));
}

/* Row, patch and outcome: the examples of RFC 7396, Appendix A, that are objects. */
static void changes_are_a_merge_patch_RFC_7396(void **state)
{
    static const char *const cases[][3] = {
        {"{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
        {"{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}"},
        {"{\"a\":\"b\"}", "{\"a\":null}", "{}"},
        {"{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}"},
        {"{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
        {"{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}"},
        {"{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}", "{\"a\":{\"b\":\"d\"}}"},
        {"{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}"},
        {"{\"e\":null}", "{\"a\":1}", "{\"e\":null,\"a\":1}"},
        {"{\"a\":[1,2]}", "{\"a\":{\"a\":\"b\",\"c\":null}}", "{\"a\":{\"a\":\"b\"}}"},
        {"{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}"},
        {"{\"a\":[1]}", "{\"a\":[null,{\"b\":null}]}", "{\"a\":[null,{\"b\":null}]}"},
    };
    for (size_t i = 0; i < N(cases); i++) {
        char arguments[256], wanted[256];
        const char *row = cases[i][0] + 1, *outcome = cases[i][2] + 1;
        snprintf(arguments, sizeof arguments, "{\"key\":\"k\"%s%s", *row == '}' ? "" : ",", row);
        call_tool(*state, "create_note", arguments, "{\"-\":[\"isError\"]}");
        snprintf(arguments, sizeof arguments, "{\"id\":\"k\",\"changes\":%s}", cases[i][1]);
        call_tool(*state, "update_note", arguments, "{\"-\":[\"isError\"]}");
        snprintf(wanted, sizeof wanted, "\"structuredContent\":{\"key\":\"k\"%s%s",
                 *outcome == '}' ? "" : ",", outcome);
        assert_non_null(strstr(bench.body.p, wanted));
        call_tool(*state, "delete_note", "{\"id\":\"k\"}", "{\"-\":[\"isError\"]}");
    }
}

static void changes_by_null_leave_a_row_that_fits(void **state)
{
    call_tool(
        *state, "update_book", "{\"id\":1,\"changes\":{\"title\":null}}",
        "{\"isError\":true,\"content\":[{\"text\":\"The row would not fit its schema: /title: "
        "required, expected string\"}]}");
    call_tool(*state, "update_book", "{\"id\":1,\"changes\":{\"genre\":null}}",
              "{\"structuredContent\":{\"title\":\"First\",\"-\":[\"genre\"]}}");
    bench_table(*state, "shop", "place",
                "{\"primaryKey\":\"id\",\"schema\":{\"type\":\"object\",\"properties\":{\"id\":"
                "{\"type\":\"integer\"},\"at\":{\"type\":\"object\",\"properties\":{\"x\":{"
                "\"type\":\"number\"},\"y\":{\"type\":\"number\"}},\"required\":[\"x\"]}}}}");
    call_tool(*state, "create_place", "{\"id\":1,\"at\":{\"x\":1,\"y\":2}}", "{}");
    call_tool(*state, "update_place", "{\"id\":1,\"changes\":{\"at\":{\"y\":3}}}",
              "{\"structuredContent\":{\"at\":{\"x\":1,\"y\":3}}}");
    call_tool(*state, "update_place", "{\"id\":1,\"changes\":{\"at\":{\"x\":null}}}",
              "{\"isError\":true}");
    call_tool(*state, "get_place", "{\"id\":1}",
              "{\"structuredContent\":{\"at\":{\"x\":1,\"y\":3}}}");
}

static unsigned long long version_told(void)
{
    const char *at = strstr(bench.body.p, "\"_meta\":{\"tenon/version\":");
    assert_non_null(at);
    return strtoull(at + strlen("\"_meta\":{\"tenon/version\":"), NULL, 10);
}

static void results_carry_the_version_of_the_row(void **state)
{
    call_tool(*state, "create_book", "{\"id\":7,\"title\":\"New\"}", "{}");
    unsigned long long first = version_told();
    call_tool(*state, "get_book", "{\"id\":7}", "{}");
    assert_int_equal(version_told(), first);
    call_tool(*state, "update_book", "{\"id\":7,\"changes\":{\"year\":2000}}", "{}");
    unsigned long long second = version_told();
    assert_true(second > first);
    call_tool(*state, "get_book", "{\"id\":7}", "{}");
    assert_int_equal(version_told(), second);
    call_tool(*state, "search_book", "{}", "{\"-\":[\"_meta\"]}");
    call_tool(*state, "delete_book", "{\"id\":7}", "{\"-\":[\"_meta\"]}");
}

static void an_update_of_another_version_is_refused_with_the_current_one(void **state)
{
    char text[256], wanted[256];
    call_tool(*state, "create_book", "{\"id\":7,\"title\":\"New\"}", "{}");
    unsigned long long first = version_told();
    snprintf(text, sizeof text, "{\"id\":7,\"changes\":{\"year\":2000},\"if_version\":%llu}",
             first);
    call_tool(*state, "update_book", text, "{\"structuredContent\":{\"year\":2000}}");
    unsigned long long second = version_told();
    snprintf(wanted, sizeof wanted,
             "{\"isError\":true,\"content\":[{\"text\":\"The row 7 of shop.book has version %llu, "
             "not %llu. Nothing was changed.\"}]}",
             second, first);
    call_tool(*state, "update_book", text, wanted);
    call_tool(*state, "get_book", "{\"id\":7}", "{\"structuredContent\":{\"year\":2000}}");
    assert_int_equal(version_told(), second);
    call_tool(*state, "update_book", "{\"id\":99,\"changes\":{},\"if_version\":1}",
              "{\"isError\":true}");
}

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* If each were looked up among the others this would take several seconds. */
static void an_update_of_many_attributes_does_not_hold_the_loop(void **state)
{
    static const struct {
        const char *start, *end;
        char letter;
    } parts[] = {
        {"create_note\",\"arguments\":{\"key\":\"k\"", "}}}", 'a'},
        {"update_note\",\"arguments\":{\"id\":\"k\",\"changes\":{\"text\":\"t\"", "}}}}", 'b'}};
    struct buf body = {0};
    for (size_t i = 0; i < N(parts); i++) {
        buf_clear(&body);
        buf_printf(&body,
                   "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
                   "\"%s",
                   parts[i].start);
        for (int k = 0; k < 30000; k++)
            buf_printf(&body, ",\"%c%05d\":0", parts[i].letter, k);
        buf_printf(&body, "%s", parts[i].end);
        double start = cpu_s();
        bench_send(*state, buf_str(&body));
        assert_true(cpu_s() - start < 1.5);
        expect(*state, 200, "{\"result\":{\"-\":[\"isError\"]}}", "many attributes");
    }
    assert_non_null(strstr(bench.body.p, "\"a29999\":0,\"text\":\"t\",\"b00000\":0"));
    buf_done(&body);
}

/* ---- Writers in each other's way ------------------------------------------------------------ */

static unsigned n_finished;

static void count_good(struct call *call)
{
    unsigned *n_good = call->transport;
    buf_add(&call->out.body, "", 1);
    *n_good += call->out.http_status == 200 && !strstr(call->out.body.p, "isError");
    n_finished++;
    call_free(call);
}

/* Sends `n` updates of note "k" at once, each with an attribute of its own; returns how many
 * answers were no error. */
static unsigned update_at_once(struct bench *b, unsigned n)
{
    unsigned n_good = 0;
    b->n_answers = 0;
    for (unsigned i = 0; i < n; i++) {
        char text[512];
        struct call *call = call_new(b->core);
        snprintf(text, sizeof text,
                 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
                 "\"update_note\",\"arguments\":{\"id\":\"k\",\"changes\":{\"a%u\":%u}}}}",
                 i, i);
        fill(b, call, str_of(text));
        call->finish = count_good;
        call->transport = &n_good;
        core_handle(b->core, call);
    }
    while (n_finished < n)
        assert_true(loop_turn(&b->loop, 10));
    return n_good;
}

static void updates_at_the_same_time_lose_nothing(void **state)
{
    static const unsigned numbers[] = {2, 10, 64, 200};
    for (size_t i = 0; i < N(numbers); i++) {
        char wanted[64], *at;
        unsigned n_there = 0;
        call_tool(*state, "create_note", "{\"key\":\"k\"}", "{\"-\":[\"isError\"]}");
        n_finished = 0;
        unsigned n_good = update_at_once(*state, numbers[i]);
        assert_int_equal(n_good, numbers[i]);
        call_tool(*state, "get_note", "{\"id\":\"k\"}", "{}");
        at = strstr(bench.body.p, "structuredContent");
        for (unsigned k = 0; k < numbers[i]; k++) {
            snprintf(wanted, sizeof wanted, "\"a%u\":%u", k, k);
            n_there += strstr(at, wanted) != NULL;
        }
        assert_int_equal(n_there, n_good);
        call_tool(*state, "delete_note", "{\"id\":\"k\"}", "{\"-\":[\"isError\"]}");
    }
}

/* ---- Search --------------------------------------------------------------------------------- */

static void add_books(struct bench *b, int n)
{
    for (int i = 0; i < n; i++) {
        char args[128];
        snprintf(args, sizeof args, "{\"id\":%d,\"title\":\"T%d\",\"genre\":\"%s\"%s}", 100 + i, i,
                 i % 7 ? "novel" : "poem", i % 2 ? ",\"year\":null" : ",\"year\":1900");
        call_tool(b, "create_book", args, "{\"-\":[\"isError\"]}");
    }
}

static void search_by_equality(void **state)
{
    call_tool(*state, "search_book", "",
              "{\"structuredContent\":{\"rows\":[{\"id\":1},{\"id\":2}],\"-\":[\"nextCursor\"]}}");
    call_tool(*state, "search_book", "{\"where\":{\"genre\":\"poem\"}}",
              "{\"structuredContent\":{\"rows\":[{\"id\":2}]}}");
    call_tool(*state, "search_book", "{\"where\":{\"genre\":\"poem\",\"year\":1999}}",
              "{\"structuredContent\":{\"rows\":[{\"id\":2}]}}");
    call_tool(*state, "search_book", "{\"where\":{\"genre\":\"poem\",\"year\":1998}}",
              "{\"structuredContent\":{\"rows\":[]}}");
    call_tool(*state, "search_book", "{\"where\":{\"year\":null}}",
              "{\"structuredContent\":{\"rows\":[{\"id\":1}]}}");
    call_tool(*state, "search_book", "{\"where\":{\"id\":2}}",
              "{\"structuredContent\":{\"rows\":[{\"id\":2}],\"-\":[\"nextCursor\"]}}");
    call_tool(*state, "search_book", "{\"where\":{\"id\":2,\"genre\":\"novel\"}}",
              "{\"structuredContent\":{\"rows\":[]}}");
    call_tool(*state, "search_book", "{\"where\":{\"id\":3}}",
              "{\"structuredContent\":{\"rows\":[]}}");
    call_tool(*state, "search_note", "{}", "{\"structuredContent\":{\"rows\":[]}}");
}

static void C_057_search_pages_end(void **state)
{
    char cursor[512], args[700] = "{\"limit\":5,\"where\":{\"genre\":\"novel\"}}";
    unsigned n = 0, pages = 0;
    add_books(*state, 30);
    do {
        call_tool(*state, "search_book", args, "{\"structuredContent\":{\"rows\":\"*\"}}");
        const char *end = strstr(bench.body.p, "structuredContent");
        for (const char *at = end; (at = strstr(at, "\"title\":")); at++)
            n++;
        assert_true(++pages < 20);
        snprintf(args, sizeof args, "{\"limit\":5,\"where\":{\"genre\":\"novel\"},\"cursor\":\"");
        if (!take_cursor(*state, cursor, sizeof cursor))
            break;
        strcat(args, cursor), strcat(args, "\"}");
    } while (true);
    assert_int_equal(n, 1 + 25); /* the shop's own and 30 but every seventh */
    assert_int_equal(pages, 6);
}

static void PG_04_a_search_cursor_belongs_to_its_search(void **state)
{
    static const char *const others[] = {
        "{\"limit\":1,\"where\":{\"genre\":\"novel\"},\"cursor\":\"%s\"}",
        "{\"cursor\":\"%s\",\"where\":{\"id\":2}}",
    };
    char cursor[512], args[700];
    call_tool(*state, "search_book", "{\"limit\":1}",
              "{\"structuredContent\":{\"rows\":[{\"id\":1}],\"nextCursor\":\"*\"}}");
    assert_true(take_cursor(*state, cursor, sizeof cursor));
    for (size_t i = 0; i < N(others); i++) {
        snprintf(args, sizeof args, others[i], cursor);
        call_tool(*state, "search_book", args,
                  "!{\"code\":-32602,\"data\":{\"errors\":[{\"pointer\":\"/params/arguments/"
                  "cursor\"}]}}");
    }
    snprintf(args, sizeof args, "{\"cursor\":\"%s\"}", cursor);
    call_tool(*state, "search_note", args, "!{\"code\":-32602}");
    snprintf(args, sizeof args, "{\"cursor\":\"%s\",\"limit\":7,\"where\":{}}", cursor);
    call_tool(*state, "search_book", args, "{\"structuredContent\":{\"rows\":[{\"id\":2}]}}");
}

static void long_scans_leave_the_loop(void **state)
{
    add_books(*state, INLINE_SCAN_ENTRIES + 40);
    bench.loop.n_offloaded = 0;
    call_tool(*state, "search_book", "{\"limit\":10}",
              "{\"structuredContent\":{\"nextCursor\":\"*\"}}");
    assert_int_equal(bench.loop.n_offloaded, 0);
    call_tool(*state, "search_book", "{\"where\":{\"title\":\"T295\"}}",
              "{\"structuredContent\":{\"rows\":[{\"id\":395}]}}");
    assert_int_equal(bench.loop.n_offloaded, 1);
    call_tool(*state, "search_book", "{\"limit\":1000}", "{}");
    unsigned n = 0;
    const char *at = strstr(bench.body.p, "structuredContent");
    for (; (at = strstr(at, "\"title\":")); at++)
        n++;
    assert_int_equal(n, INLINE_SCAN_ENTRIES + 42);
    bench.loop.busy = true;
    call_tool(*state, "search_book", "{\"limit\":1000}",
              "{\"isError\":true,\"content\":[{\"text\":\"The server is busy. Nothing was changed; "
              "try again in a moment.\"}]}");
    bench.loop.busy = false;
}

static void make_note(struct bench *b, const char *key, unsigned text_bytes, unsigned numbers)
{
    struct buf body = {0};
    buf_printf(&body,
               "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
               "\"create_note\",\"arguments\":{\"key\":\"%s\",\"numbers\":[0",
               key);
    for (unsigned i = 1; i < numbers; i++)
        buf_add_lit(&body, ",0");
    buf_add_lit(&body, "],\"text\":\"");
    for (unsigned i = 0; i < text_bytes; i++)
        buf_add_char(&body, 'x');
    buf_add_lit(&body, "\"}}}");
    bench_send(b, buf_str(&body));
    expect(b, 200, "{\"result\":{\"-\":[\"isError\"]}}", "a heavy row");
    buf_done(&body);
}

static void a_page_of_much_text_leaves_the_loop(void **state)
{
    static const char *const keys[] = {"h1", "h2", "h3"};
    for (size_t i = 0; i < N(keys); i++)
        make_note(*state, keys[i], INLINE_SCAN_ENTRIES * INLINE_ENTRY_BYTES, 1);
    bench.loop.n_offloaded = 0;
    call_tool(*state, "search_note", "{\"limit\":10}",
              "{\"structuredContent\":{\"rows\":[{\"key\":\"h1\"},{\"key\":\"h2\"},{\"key\":"
              "\"h3\"}],\"-\":[\"nextCursor\"]}}");
    assert_int_equal(bench.loop.n_offloaded, 1);
}

/* None of them is written, so only what they hold counts. */
static void rows_of_many_values_leave_the_loop(void **state)
{
    make_note(*state, "h1", 1, INLINE_SCAN_ENTRIES * INLINE_ENTRY_NODES);
    make_note(*state, "h2", 1, 1);
    make_note(*state, "h3", 2, 1);
    bench.loop.n_offloaded = 0;
    call_tool(*state, "search_note", "{\"where\":{\"text\":\"xx\"}}",
              "{\"structuredContent\":{\"rows\":[{\"key\":\"h3\"}],\"-\":[\"nextCursor\"]}}");
    assert_int_equal(bench.loop.n_offloaded, 1);
}

static void arguments_of_too_many_values_are_the_clients_fault(void **state)
{
    static const unsigned counts[] = {ARGUMENT_NODES_MAX, 2000000};
    for (size_t i = 0; i < N(counts); i++) {
        struct buf body = {0};
        buf_add_lit(&body, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
                           "\"name\":\"get_book\",\"arguments\":{\"id\":[1");
        for (unsigned k = 1; k < counts[i]; k++)
            buf_add_lit(&body, ",1");
        buf_add_lit(&body, "]}}}");
        bench_send(*state, buf_str(&body));
        expect(*state, 200,
               "{\"error\":{\"code\":-32602,\"data\":{\"errors\":[{\"keyword\":\"size\","
               "\"expected\":\"at most 262144 values and member names\"}]}}}",
               "too many values");
        buf_done(&body);
    }
}

static void a_page_is_bounded_in_bytes(void **state)
{
    struct buf body = {0};
    char cursor[512], args[700];
    for (int i = 0; i < 6; i++) {
        buf_clear(&body);
        buf_printf(&body,
                   "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
                   "call\",\"params\":{\"name\":\"create_note\","
                   "\"arguments\":{\"key\":\"k%d\",\"text\":\"",
                   i);
        for (int k = 0; k < 900000; k++)
            buf_add_char(&body, 'x');
        buf_add_lit(&body, "\"}}}");
        bench_send(*state, buf_str(&body));
        expect(*state, 200, "{\"result\":{\"-\":[\"isError\"]}}", "a large row");
    }
    call_tool(*state, "search_note", "{}", "{\"structuredContent\":{\"nextCursor\":\"*\"}}");
    /* twice, as text and as JSON, and the row that passed the limit is whole */
    assert_true(bench.body.n > 2 * SEARCH_BYTES_MAX);
    assert_true(bench.body.n < 2 * (SEARCH_BYTES_MAX + ROW_BYTES_MAX));
    assert_true(take_cursor(*state, cursor, sizeof cursor));
    snprintf(args, sizeof args, "{\"cursor\":\"%s\"}", cursor);
    call_tool(*state, "search_note", args,
              "{\"structuredContent\":{\"rows\":[\"*\",\"*\",\"*\"],\"-\":[\"nextCursor\"]}}");
    buf_clear(&body);
    buf_add_lit(&body, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
                       "call\",\"params\":{\"name\":\"create_note\","
                       "\"arguments\":{\"key\":\"big\",\"text\":\"");
    for (unsigned k = 0; k < ROW_BYTES_MAX; k++)
        buf_add_char(&body, 'x');
    buf_add_lit(&body, "\"}}}");
    bench_send(*state, buf_str(&body));
    expect(*state, 200,
           "{\"result\":{\"isError\":true,\"content\":[{\"text\":\"The row is too large to be "
           "stored.\"}]}}",
           "a row too large");
    buf_done(&body);
}

/* ---- Memory --------------------------------------------------------------------------------- */

static void every_failing_allocation_is_answered(void **state)
{
    static const char *const cases[][2] = {
        {"get_book", "{\"id\":1}"},
        {"get_book", "{\"id\":99}"},
        {"get_book", "{\"id\":\"x\"}"},
        {"no_such", "{}"},
        {"search_book", "{\"limit\":1,\"where\":{\"genre\":\"novel\"}}"},
        {"search_book", "{\"cursor\":\"x\"}"},
        {"create_book", "{\"id\":1,\"title\":\"x\"}"},
        {"update_book", "{\"id\":1,\"changes\":{\"year\":1600}}"},
        {"delete_book", "{\"id\":99}"},
    };
    unsigned n_failed = 0;
    for (size_t i = 0; i < N(cases); i++) {
        char body[512];
        int status = 500;
        snprintf(body, sizeof body,
                 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
                 "call\",\"params\":{\"name\":\"%s\",\"arguments\":%s}}",
                 cases[i][0], cases[i][1]);
        for (size_t limit = 1; status == 500; limit += 16) {
            bench.arena_limit = limit;
            bench_send(*state, str_of(body));
            status = bench.status;
            n_failed += status == 500;
            if (status == 500)
                expect(*state, 500, "{\"error\":{\"code\":-32603}}", body);
        }
        bench.arena_limit = 0;
        bench_send(*state, str_of(body));
        assert_int_equal(bench.status, 200);
    }
    assert_true(n_failed > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SHOP_TEST(TL_01_TL_02_each_table_gives_five_tools),
        cmocka_unit_test(a_database_without_tables_has_no_tools),
        SHOP_TEST(L_10_a_2025_03_26_list_has_no_titles_and_no_output_schemas),
        SHOP_TEST(tables_of_one_name_get_their_database_in_front),
        SHOP_TEST(beyond_TOOL_NAME_BYTES_MAX_a_table_has_its_number),
        SHOP_TEST(tables_come_and_go),
        SHOP_TEST(a_damaged_definition_takes_away_its_table_only),
        cmocka_unit_test(PG_02_C_057_pages_go_on_and_end),
        cmocka_unit_test(PG_03_cursors_survive_inserts_and_other_workers),
        cmocka_unit_test(PG_04_PG_05_wrong_cursors_are_refused),
        SHOP_TEST(TL_04_TL_10_C_023_structured_content_and_the_same_as_text),
        SHOP_TEST(L_10_a_2025_03_26_result_has_text_only),
        SHOP_TEST(TL_05_C_021_unknown_tools),
        SHOP_TEST(TL_05_a_long_name_is_shown_in_part),
        SHOP_TEST(TL_06_wrong_arguments_name_the_place),
        SHOP_TEST(TL_08_rows_are_checked_by_the_whole_of_json_schema),
        SHOP_TEST(TL_08_several_errors_are_told_at_once),
        SHOP_TEST(a_pattern_that_explodes_is_told_and_not_taken_for_a_mismatch),
        SHOP_TEST(integers_may_be_written_with_a_fraction_of_zero),
        SHOP_TEST(TL_07_C_021_failures_inside_a_tool_are_results),
        SHOP_TEST(create_update_delete),
        SHOP_TEST(rows_keep_what_the_schema_does_not_name),
        SHOP_TEST(an_update_keeps_the_order_of_the_row_and_of_what_is_new),
        SHOP_TEST(changes_are_a_merge_patch_RFC_7396),
        SHOP_TEST(changes_by_null_leave_a_row_that_fits),
        SHOP_TEST(results_carry_the_version_of_the_row),
        SHOP_TEST(an_update_of_another_version_is_refused_with_the_current_one),
        SHOP_TEST(an_update_of_many_attributes_does_not_hold_the_loop),
        SHOP_TEST(updates_at_the_same_time_lose_nothing),
        SHOP_TEST(search_by_equality),
        SHOP_TEST(C_057_search_pages_end),
        SHOP_TEST(PG_04_a_search_cursor_belongs_to_its_search),
        SHOP_TEST(long_scans_leave_the_loop),
        SHOP_TEST(a_page_of_much_text_leaves_the_loop),
        SHOP_TEST(rows_of_many_values_leave_the_loop),
        SHOP_TEST(arguments_of_too_many_values_are_the_clients_fault),
        SHOP_TEST(a_page_is_bounded_in_bytes),
        SHOP_TEST(every_failing_allocation_is_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
