/* completion/complete: databases, tables and rows; templates and prompts of a component. */
#include "ask.h"

#include "core/catalog.h"
#include "core/completion.h"
#include "core/component.h"
#include "core/core_state.h"

static struct tenon *tenon;
static pthread_t this_thread;

/* ---- A component ---------------------------------------------------------------------------- */

static int render(struct tenon_call *call, void *ctx)
{
    (void)ctx;
    return tenon_text(call, "x");
}

static int propose(struct tenon_call *call, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        tenon_complete(call, tenon_format(call, "%03lld", (long long)i));
    return 0;
}

/* As many as it is asked for, "n" or "n/total". */
static int complete_prompt(struct tenon_call *call, const char *argument, const char *value,
                           void *ctx)
{
    char *end;
    long long n = strtoll(value, &end, 10);
    (void)ctx;
    if (strcmp(argument, "who") == 0) {
        const char *city = tenon_context(call, "city");
        tenon_complete(call, city ? city : "nobody");
        assert_null(tenon_argument(call, "city"));
        assert_null(tenon_uri(call));
        assert_string_equal(tenon_arguments(call), "{}");
        return tenon_context(call, "other") ? TENON_ERR_FAILED : 0;
    }
    if (strcmp(value, "fail") == 0)
        return tenon_fail(call, "The list is lost");
    if (strcmp(value, "null") == 0)
        return tenon_complete(call, NULL);
    if (*end == '/')
        tenon_complete_total(call, atoll(end + 1));
    return propose(call, n);
}

static int complete_note(struct tenon_call *call, const char *variable, const char *value,
                         void *ctx)
{
    (void)ctx;
    return tenon_complete(call, tenon_format(call, "%s=%s", variable, value));
}

static int complete_inline(struct tenon_call *call, const char *variable, const char *value,
                           void *ctx)
{
    (void)variable, (void)value, (void)ctx;
    assert_true(pthread_equal(pthread_self(), this_thread));
    return tenon_complete(call, "here");
}

#define MANY 1000000

static int complete_many(struct tenon_call *call, const char *argument, const char *value,
                         void *ctx)
{
    char text[16];
    (void)argument, (void)value, (void)ctx;
    for (int i = 0; i < MANY; i++) {
        snprintf(text, sizeof text, "%d", i);
        assert_int_equal(tenon_complete(call, text), 0);
    }
    return 0;
}

static int run_complete(struct tenon_call *call, void *ctx)
{
    (void)ctx;
    return tenon_complete_total(call, 7);
}

static int add_all(struct tenon *t)
{
    static const struct tenon_prompt_argument arguments[] = {
        {.name = "n"}, {.name = "who"}, {.name = "city"}};
    tenon_add_prompt(t, &(struct tenon_prompt){.name = "trip",
                                               .description = "d",
                                               .arguments = arguments,
                                               .n_arguments = 3,
                                               .render = render,
                                               .complete = complete_prompt});
    tenon_add_prompt(t, &(struct tenon_prompt){.name = "many",
                                               .description = "d",
                                               .arguments = arguments,
                                               .n_arguments = 1,
                                               .render = render,
                                               .complete = complete_many});
    tenon_add_prompt(t, &(struct tenon_prompt){.name = "silent",
                                               .description = "d",
                                               .arguments = arguments,
                                               .n_arguments = 1,
                                               .render = render});
    tenon_add_template(t, &(struct tenon_template){.uri_template = "note://{user}/{id}",
                                                   .name = "note",
                                                   .read = render,
                                                   .complete = complete_note});
    tenon_add_template(t, &(struct tenon_template){.uri_template = "here://{x}",
                                                   .name = "here",
                                                   .is_inline = true,
                                                   .read = render,
                                                   .complete = complete_inline});
    tenon_add_template(
        t, &(struct tenon_template){.uri_template = "mute://{x}", .name = "m", .read = render});
    tenon_add_resource(t, &(struct tenon_resource){.uri = "x:fixed", .name = "f", .read = render});
    return tenon_add_tool(
        t, &(struct tenon_tool){.name = "stray", .description = "d", .run = run_complete});
}

/* ---- Asking --------------------------------------------------------------------------------- */

#define KEYED(type)                                                                              \
    "{\"primaryKey\":\"key\",\"schema\":{\"type\":\"object\",\"properties\":{\"key\":{\"type\":" \
    "\"" type "\"}}}}"

static int set_up(void **state)
{
    (void)state;
    this_thread = pthread_self();
    assert_int_equal(components_new(&tenon), 0);
    if (components_add(tenon, STR("test.so"), add_all) < 0)
        fail_msg(STR_FMT, STR_ARG(tenon->fault));
    struct core_config config = bench_config;
    config.components = tenon;
    bench_shop(&bench, &config);
    bench_table(&bench, "archive", "Book", KEYED("integer"));
    bench_table(&bench, "shop", "bookmark", KEYED("string"));
    bench_table(&bench, "SHIP", "cargo", KEYED("string"));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    bench_close(&bench);
    components_free(tenon);
    return 0;
}

static void complete(const char *ref, const char *name, const char *value, const char *context,
                     const char *pattern)
{
    char params[1024], wanted[4096];
    bool refused = pattern[0] == '!';
    snprintf(params, sizeof params,
             "{\"ref\":%s,\"argument\":{\"name\":\"%s\",\"value\":\"%s\"}%s%s%s}", ref, name, value,
             *context ? ",\"context\":{\"arguments\":" : "", context, *context ? "}" : "");
    snprintf(wanted, sizeof wanted, refused ? "%s" : "{\"completion\":%s}", pattern);
    ask_method(&bench, "completion/complete", params, wanted);
}

#define OF_PROMPT(name)     "{\"type\":\"ref/prompt\",\"name\":\"" name "\"}"
#define OF_RESOURCE(uri)    "{\"type\":\"ref/resource\",\"uri\":\"" uri "\"}"
#define TABLE               OF_RESOURCE("db://{database}/{table}")
#define ROW                 OF_RESOURCE("db://{database}/{table}/{id}")
#define SCHEMA              OF_RESOURCE("tenon://schema/{database}/{table}")
#define EXACTLY(n, ...)     "{\"values\":[" __VA_ARGS__ "],\"total\":" #n ",\"hasMore\":false}"
#define UNCOUNTED(...)      "{\"values\":[" __VA_ARGS__ "],\"hasMore\":false,\"-\":[\"total\"]}"
#define NOTHING             EXACTLY(0, )
#define IN(database, table) "{\"database\":\"" database "\",\"table\":\"" table "\"}"

/* ---- What there is -------------------------------------------------------------------------- */

static void CM_01_completions_are_declared(void **state)
{
    (void)state;
    bench.session[0] = bench.version[0] = '\0';
    ask(&bench, 200, INITIALIZE("2025-06-18"),
        "{\"result\":{\"capabilities\":{\"completions\":{}}}}");
    bench.session[0] = bench.version[0] = '\0';
    ask(&bench, 200, INITIALIZE("2025-03-26"),
        "{\"result\":{\"capabilities\":{\"completions\":{}}}}");
}

static void CM_01_the_operations_complete_nothing(void **state)
{
    (void)state;
    bench.profile = PROFILE_OPERATIONS;
    bench_connect(&bench, "2025-06-18");
    complete(TABLE, "database", "", "", "!{\"code\":-32601}");
    bench.profile = PROFILE_APPLICATION;
}

static void CM_02_what_is_asked_is_checked(void **state)
{
    static const char *const params[] = {
        "",
        "{}",
        "{\"ref\":" TABLE "}",
        "{\"ref\":" TABLE ",\"argument\":{}}",
        "{\"ref\":" TABLE ",\"argument\":{\"name\":\"database\"}}",
        "{\"ref\":" TABLE ",\"argument\":{\"value\":\"\"}}",
        "{\"ref\":" TABLE ",\"argument\":{\"name\":\"database\",\"value\":7}}",
        "{\"ref\":" TABLE ",\"argument\":{\"name\":null,\"value\":\"\"}}",
        "{\"ref\":" TABLE ",\"argument\":[]}",
        "{\"argument\":{\"name\":\"database\",\"value\":\"\"}}",
        "{\"ref\":{},\"argument\":{\"name\":\"database\",\"value\":\"\"}}",
        "{\"ref\":{\"type\":\"ref/table\",\"name\":\"x\"},\"argument\":{\"name\":\"a\",\"value\":"
        "\"\"}}",
        "{\"ref\":{\"type\":\"ref/prompt\"},\"argument\":{\"name\":\"a\",\"value\":\"\"}}",
        "{\"ref\":{\"type\":\"ref/resource\",\"name\":\"x\"},\"argument\":{\"name\":\"a\","
        "\"value\":\"\"}}",
        "{\"ref\":" TABLE ",\"argument\":{\"name\":\"table\",\"value\":\"\"},\"context\":{"
        "\"arguments\":{\"database\":7}}}",
        "{\"ref\":" TABLE ",\"argument\":{\"name\":\"table\",\"value\":\"\"},\"context\":[]}",
        "{\"_meta\":{\"progressToken\":[]},\"ref\":" TABLE
        ",\"argument\":{\"name\":\"database\",\"value\":\"\"}}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof params / sizeof *params; i++)
        ask_method(&bench, "completion/complete", params[i], "!{\"code\":-32602}");
}

static void CM_06_what_is_not_there_is_refused(void **state)
{
    (void)state;
    complete(OF_PROMPT("none"), "n", "", "",
             "!{\"code\":-32602,\"message\":\"Unknown prompt: none\"}");
    complete(OF_PROMPT("trip"), "x", "", "",
             "!{\"code\":-32602,\"message\":\"Unknown argument: x\"}");
    complete(OF_RESOURCE("none://{x}"), "x", "", "",
             "!{\"code\":-32602,\"message\":\"Unknown resource template: none://{x}\"}");
    complete(OF_RESOURCE("note://{user}/{id}"), "x", "", "", "!{\"code\":-32602}");
    complete(TABLE, "id", "", "", "!{\"code\":-32602,\"message\":\"Unknown argument: id\"}");
    complete(OF_RESOURCE("db://{database}"), "database", "", "", "!{\"code\":-32602}");
    complete(OF_RESOURCE(""), "database", "", "", "!{\"code\":-32602}");
}

static void CM_06_what_has_nothing_to_complete_has_no_values(void **state)
{
    (void)state;
    complete(OF_PROMPT("silent"), "n", "", "", NOTHING);
    complete(OF_RESOURCE("mute://{x}"), "x", "", "", NOTHING);
    complete(OF_RESOURCE("x:fixed"), "x", "", "", NOTHING);
    complete(OF_RESOURCE("tenon://about"), "x", "", "", NOTHING);
    complete(OF_RESOURCE("db://shop/book"), "id", "", "", NOTHING);
}

/* ---- Databases and tables ------------------------------------------------------------------- */

static void CM_05_databases_by_a_prefix_in_any_case(void **state)
{
    (void)state;
    complete(TABLE, "database", "", "", EXACTLY(3, "\"SHIP\",\"archive\",\"shop\""));
    complete(TABLE, "database", "sh", "", EXACTLY(2, "\"SHIP\",\"shop\""));
    complete(ROW, "database", "SHO", "", EXACTLY(1, "\"shop\""));
    complete(SCHEMA, "database", "ARCHIVE", "", EXACTLY(1, "\"archive\""));
    complete(TABLE, "database", "shops", "", NOTHING);
    complete(TABLE, "database", "hop", "", NOTHING);
    complete(TABLE, "database", "%", "", NOTHING);
    complete(TABLE, "database", "", "{\"table\":\"bookmark\"}", EXACTLY(1, "\"shop\""));
}

static void CM_07_tables_are_narrowed_by_the_database(void **state)
{
    (void)state;
    complete(TABLE, "table", "", "",
             EXACTLY(5, "\"Book\",\"book\",\"bookmark\",\"cargo\",\"note\""));
    complete(TABLE, "table", "BOOK", "", EXACTLY(3, "\"Book\",\"book\",\"bookmark\""));
    complete(TABLE, "table", "b", "{\"database\":\"shop\"}", EXACTLY(2, "\"book\",\"bookmark\""));
    complete(SCHEMA, "table", "b", "{\"database\":\"archive\",\"other\":\"x\"}",
             EXACTLY(1, "\"Book\""));
    complete(ROW, "table", "", "{\"database\":\"none\"}", NOTHING);
    complete(ROW, "table", "", "{\"database\":\"SHOP\"}", NOTHING); /* chosen is chosen */
}

static void CM_07_an_older_session_has_no_context(void **state)
{
    (void)state;
    bench_connect(&bench, "2025-03-26");
    complete(TABLE, "table", "book", "", EXACTLY(3, "\"Book\",\"book\",\"bookmark\""));
    complete(TABLE, "table", "book", "{\"database\":\"archive\"}",
             EXACTLY(3, "\"Book\",\"book\",\"bookmark\""));
}

static void CM_07_a_table_in_two_databases_is_one_name(void **state)
{
    (void)state;
    bench_table(&bench, "archive", "cargo", KEYED("integer"));
    complete(TABLE, "table", "c", "", EXACTLY(1, "\"cargo\""));
    complete(TABLE, "database", "", "{\"table\":\"cargo\"}", EXACTLY(2, "\"SHIP\",\"archive\""));
}

static void beyond_COMPLETION_TABLES_HERE_a_thread_looks(void **state)
{
    char name[32];
    (void)state;
    unsigned before = bench.loop.n_offloaded;
    complete(TABLE, "table", "cargo", "", EXACTLY(1, "\"cargo\""));
    assert_int_equal(bench.loop.n_offloaded, before);
    for (int i = 0; i < COMPLETION_TABLES_HERE; i++) {
        snprintf(name, sizeof name, "many%d", i);
        bench_table(&bench, "lot", name, KEYED("integer"));
    }
    complete(TABLE, "table", "many", "{\"database\":\"lot\"}",
             "{\"values\":[\"many0\",\"many1\",\"many10\",\"many100\",\"...\"],\"total\":256,"
             "\"hasMore\":true}");
    complete(TABLE, "database", "l", "", EXACTLY(1, "\"lot\""));
    assert_int_equal(bench.loop.n_offloaded, before + 2);
}

static void CM_09_more_members_of_a_ref_are_tolerated(void **state)
{
    (void)state;
    complete("{\"type\":\"ref/prompt\",\"name\":\"silent\",\"title\":\"S\"}", "n", "", "", NOTHING);
    complete("{\"type\":\"ref/resource\",\"uri\":\"db://{database}/{table}\",\"title\":\"S\"}",
             "database", "a", "", EXACTLY(1, "\"archive\""));
}

/* ---- Rows ----------------------------------------------------------------------------------- */

static uint32_t table_id(const char *database, const char *name)
{
    const struct catalog *c = catalog_now(bench.core);
    const struct table *t = catalog_find_table(c, str_of(database), str_of(name));
    assert_non_null(t);
    return t->id;
}

static void put(uint32_t table, enum key_type type, const char *text)
{
    struct arena arena;
    struct tape_builder tape;
    const struct tape_node *row;
    struct str key;
    arena_init(&arena, 0);
    assert_int_equal(key_from_text(type, str_of(text), &arena, &key), 0);
    tape_begin(&tape, &arena);
    tape_open_object(&tape);
    tape_add_str(&tape, STR("key"));
    key_add(type, key, &tape);
    tape_close(&tape);
    assert_int_equal(tape_finish(&tape, &row), 0);
    bench_write(&bench, (struct store_op){.kind = STORE_PUT_ROW,
                                          .if_version = STORE_ANY,
                                          .table = table,
                                          .key = key,
                                          .row = row});
    arena_done(&arena);
}

static void texts_are_completed_as_they_begin(void **state)
{
    static const char *const keys[] = {"Ada",   "ada",       "adam",    "ad",
                                       "b/c d", "\xc3\xb6l", "\xc3\xa4"};
    uint32_t table = table_id("SHIP", "cargo");
    (void)state;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        put(table, KEY_STRING, keys[i]);
    complete(ROW, "id", "ada", IN("SHIP", "cargo"), UNCOUNTED("\"ada\",\"adam\""));
    complete(ROW, "id", "A", IN("SHIP", "cargo"), UNCOUNTED("\"Ada\""));
    complete(ROW, "id", "b/", IN("SHIP", "cargo"), UNCOUNTED("\"b/c d\""));
    complete(ROW, "id", "\xc3\xb6", IN("SHIP", "cargo"), UNCOUNTED("\"\xc3\xb6l\""));
    complete(ROW, "id", "", IN("SHIP", "cargo"),
             UNCOUNTED("\"Ada\",\"ad\",\"ada\",\"adam\",\"b/c d\",\"\xc3\xa4\",\"\xc3\xb6l\""));
    complete(ROW, "id", "x", IN("SHIP", "cargo"), UNCOUNTED(""));
    complete(ROW, "id", "x", IN("SHIP", "none"), NOTHING);
    complete(ROW, "id", "x", "{\"table\":\"cargo\"}", NOTHING);
    complete(ROW, "id", "x", "{\"database\":\"SHIP\"}", NOTHING);
    complete(ROW, "id", "x", "", NOTHING);
}

static void a_text_longer_than_any_key_begins_none(void **state)
{
    char value[KEY_BYTES_MAX + 2];
    (void)state;
    memset(value, 'a', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    complete(ROW, "id", value, IN("SHIP", "cargo"), UNCOUNTED(""));
    value[KEY_BYTES_MAX] = '\0';
    complete(ROW, "id", value, IN("SHIP", "cargo"), UNCOUNTED(""));
}

static void integers_are_completed_by_their_digits(void **state)
{
    static const char *const keys[] = {
        "0",   "1",    "12",   "13",   "120",
        "129", "130",  "1200", "1299", "9223372036854775807",
        "-1",  "-12",  "-120", "-2",   "-9223372036854775808",
        "92",  "-922",
    };
    uint32_t table = table_id("archive", "Book");
    (void)state;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        put(table, KEY_INTEGER, keys[i]);
#define IDS(value, ...) complete(ROW, "id", value, IN("archive", "Book"), UNCOUNTED(__VA_ARGS__))
    IDS("12", "\"12\",\"120\",\"129\",\"1200\",\"1299\"");
    IDS("1", "\"1\",\"12\",\"13\",\"120\",\"129\",\"130\",\"1200\",\"1299\"");
    IDS("0", "\"0\"");
    IDS("9", "\"92\",\"9223372036854775807\"");
    IDS("9223372036854775807", "\"9223372036854775807\"");
    IDS("922337203685477580", "\"9223372036854775807\"");
    IDS("-1", "\"-1\",\"-12\",\"-120\"");
    IDS("-", "\"-1\",\"-2\",\"-12\",\"-120\",\"-922\",\"-9223372036854775808\"");
    IDS("-92", "\"-922\",\"-9223372036854775808\"");
    IDS("-9223372036854775808", "\"-9223372036854775808\"");
    IDS("9223372036854775808", "");
    IDS("-9223372036854775809", "");
    IDS("99999999999999999999", "");
    IDS("00", "");
    IDS("012", "");
    IDS("-0", "");
    IDS("+1", "");
    IDS("1x", "");
    IDS(" 1", "");
    IDS("1.0", "");
}

/* 300 rows behind it: 101 are looked at. */
static void CM_03_CM_04_row_ids_beyond_COMPLETIONS_MAX_are_not_counted(void **state)
{
    char text[16];
    uint32_t table = table_id("archive", "Book");
    (void)state;
    for (int i = 0; i < COMPLETIONS_MAX; i++) {
        snprintf(text, sizeof text, "%d", 1000 + i);
        put(table, KEY_INTEGER, text);
    }
    complete(ROW, "id", "1", IN("archive", "Book"),
             "{\"values\":[\"1000\",\"1001\",\"...\"],\"hasMore\":false,\"-\":[\"total\"]}");
    for (int i = 0; i < 200; i++) {
        snprintf(text, sizeof text, "%d", 1100 + i);
        put(table, KEY_INTEGER, text);
    }
    complete(ROW, "id", "1", IN("archive", "Book"),
             "{\"values\":[\"1000\",\"1001\",\"...\"],\"hasMore\":true,\"-\":[\"total\"]}");
    assert_non_null(strstr(bench.body.p, "\"1099\"]"));
}

/* Against every text there is for a few thousand numbers. */
static void digit_ranges_hold_what_begins_so_and_nothing_else(void **state)
{
    struct arena arena;
    (void)state;
    arena_init(&arena, 0);
    for (int typed = -130; typed <= 130; typed++) {
        char begin[16], text[16];
        struct completion_ranges ranges;
        int n = snprintf(begin, sizeof begin, "%d", typed);
        assert_int_equal(completion_ranges(KEY_INTEGER, str_of(begin), &arena, &ranges), 0);
        assert_true(ranges.n <= COMPLETION_RANGES_MAX);
        for (int v = -14000; v <= 14000; v += v % 1000 == 0 ? 1 : 7) {
            struct str key;
            unsigned hits = 0;
            snprintf(text, sizeof text, "%d", v);
            assert_int_equal(key_from_text(KEY_INTEGER, str_of(text), &arena, &key), 0);
            for (uint32_t i = 0; i < ranges.n; i++)
                hits += str_compare(key, ranges.v[i].from) >= 0 &&
                        (!ranges.v[i].to.p || str_compare(key, ranges.v[i].to) < 0);
            assert_int_equal(hits, strncmp(text, begin, (size_t)n) == 0);
        }
        arena_reset(&arena);
    }
    arena_done(&arena);
}

/* ---- Components ----------------------------------------------------------------------------- */

static void CM_03_at_most_COMPLETIONS_MAX_values_of_a_component(void **state)
{
    (void)state;
    complete(OF_PROMPT("trip"), "n", "3", "", EXACTLY(3, "\"000\",\"001\",\"002\""));
    complete(OF_PROMPT("trip"), "n", "0", "", NOTHING);
    complete(OF_PROMPT("trip"), "n", "100", "",
             "{\"values\":[\"000\",\"...\"],\"total\":100,\"hasMore\":false}");
    complete(OF_PROMPT("trip"), "n", "250", "",
             "{\"values\":[\"000\",\"...\"],\"total\":250,\"hasMore\":true}");
    assert_non_null(strstr(bench.body.p, "\"099\"]"));
}

static void CM_04_a_component_may_say_how_many_there_are(void **state)
{
    (void)state;
    complete(OF_PROMPT("trip"), "n", "2/150", "",
             "{\"values\":[\"000\",\"001\"],\"total\":150,\"hasMore\":true}");
    complete(OF_PROMPT("trip"), "n", "2/-1", "",
             "{\"values\":[\"000\",\"001\"],\"hasMore\":true,\"-\":[\"total\"]}");
    complete(OF_PROMPT("trip"), "n", "3/1", "", EXACTLY(3, "\"000\",\"001\",\"002\""));
    complete(OF_PROMPT("trip"), "n", "3/-2", "", "!{\"code\":-32603}");
}

static void CM_07_a_component_gets_the_context(void **state)
{
    (void)state;
    complete(OF_PROMPT("trip"), "who", "x", "{\"city\":\"Ulm\"}", EXACTLY(1, "\"Ulm\""));
    complete(OF_PROMPT("trip"), "who", "x", "{}", EXACTLY(1, "\"nobody\""));
    complete(OF_PROMPT("trip"), "who", "x", "", EXACTLY(1, "\"nobody\""));
    bench_connect(&bench, "2025-03-26");
    complete(OF_PROMPT("trip"), "who", "x", "{\"city\":\"Ulm\"}", EXACTLY(1, "\"nobody\""));
}

static void CM_02_a_variable_of_a_template_is_completed(void **state)
{
    unsigned before;
    (void)state;
    before = bench.loop.n_offloaded;
    complete(OF_RESOURCE("note://{user}/{id}"), "user", "a\\\"b", "",
             EXACTLY(1, "\"user=a\\\"b\""));
    assert_int_equal(bench.loop.n_offloaded, before + 1);
    complete(OF_RESOURCE("here://{x}"), "x", "", "", EXACTLY(1, "\"here\""));
    assert_int_equal(bench.loop.n_offloaded, before + 1);
}

static void CM_06_a_component_that_fails_is_an_internal_error(void **state)
{
    (void)state;
    complete(OF_PROMPT("trip"), "n", "fail", "",
             "!{\"code\":-32603,\"message\":\"The list is lost\"}");
    complete(OF_PROMPT("trip"), "n", "null", "", "!{\"code\":-32603}");
    complete(OF_PROMPT("trip"), "who", "x", "{\"other\":\"1\"}", "!{\"code\":-32603}");
    ask_method(&bench, "tools/call", "{\"name\":\"stray\"}", "{\"isError\":true}");
}

/* More than the memory of a call, if all were kept. */
static void a_million_proposals_take_the_room_of_a_hundred(void **state)
{
    (void)state;
    complete(OF_PROMPT("many"), "n", "", "",
             "{\"values\":[\"0\",\"1\",\"...\"],\"total\":1000000,\"hasMore\":true}");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(CM_01_completions_are_declared),
        TEST(CM_01_the_operations_complete_nothing),
        TEST(CM_02_what_is_asked_is_checked),
        TEST(CM_06_what_is_not_there_is_refused),
        TEST(CM_06_what_has_nothing_to_complete_has_no_values),
        TEST(CM_05_databases_by_a_prefix_in_any_case),
        TEST(CM_07_tables_are_narrowed_by_the_database),
        TEST(CM_07_an_older_session_has_no_context),
        TEST(CM_07_a_table_in_two_databases_is_one_name),
        TEST(beyond_COMPLETION_TABLES_HERE_a_thread_looks),
        TEST(CM_09_more_members_of_a_ref_are_tolerated),
        TEST(texts_are_completed_as_they_begin),
        TEST(a_text_longer_than_any_key_begins_none),
        TEST(integers_are_completed_by_their_digits),
        TEST(CM_03_CM_04_row_ids_beyond_COMPLETIONS_MAX_are_not_counted),
        cmocka_unit_test(digit_ranges_hold_what_begins_so_and_nothing_else),
        TEST(CM_03_at_most_COMPLETIONS_MAX_values_of_a_component),
        TEST(CM_04_a_component_may_say_how_many_there_are),
        TEST(CM_07_a_component_gets_the_context),
        TEST(CM_02_a_variable_of_a_template_is_completed),
        TEST(CM_06_a_component_that_fails_is_an_internal_error),
        TEST(a_million_proposals_take_the_room_of_a_hundred),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
