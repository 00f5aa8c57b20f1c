/* tests/unit/test_table.c - table definitions, the checker of rows, and what is derived. */
#include "base/err.h"
#include "core/table.h"
#include "core/table_tools.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#define N(a) (sizeof(a) / sizeof *(a))

static int start(void **state)
{
    static struct arena a;
    arena_init(&a, 0);
    *state = &a;
    return 0;
}

static int stop(void **state)
{
    arena_done(*state);
    return 0;
}

static const struct tape_node *open_json(struct arena *a, const char *text)
{
    size_t n = strlen(text);
    const struct tape_node *tape;
    struct wire_fault fault;
    char *copy = arena_zalloc(a, n + JSON_PADDING_BYTES);
    memcpy(copy, text, n);
    if (tape_open((struct str){copy, (uint32_t)n}, a, &tape, &fault) < 0)
        fail_msg("not JSON: %s", text);
    return tape;
}

/* ---- The checker ---------------------------------------------------------------------------- */

static const struct {
    const char *schema, *value, *pointer, *reason; /* pointer NULL: fits */
} checks[] = {
    {"{}", "5", NULL, NULL},
    {"{\"type\":\"string\"}", "\"x\"", NULL, NULL},
    {"{\"type\":\"string\"}", "5", "", "type"},
    {"{\"type\":\"string\"}", "null", "", "type"},
    {"{\"type\":\"integer\"}", "5", NULL, NULL},
    {"{\"type\":\"integer\"}", "5.0", NULL, NULL},
    {"{\"type\":\"integer\"}", "1e30", NULL, NULL},
    {"{\"type\":\"integer\"}", "5.5", "", "type"},
    {"{\"type\":\"number\"}", "5", NULL, NULL},
    {"{\"type\":\"number\"}", "true", "", "type"},
    {"{\"type\":\"boolean\"}", "false", NULL, NULL},
    {"{\"type\":\"boolean\"}", "0", "", "type"},
    {"{\"type\":\"null\"}", "null", NULL, NULL},
    {"{\"type\":\"array\"}", "{}", "", "type"},
    {"{\"type\":\"object\"}", "[]", "", "type"},
    {"{\"type\":[\"string\",\"null\"]}", "null", NULL, NULL},
    {"{\"type\":[\"string\",\"null\"]}", "1", "", "type"},
    {"{\"enum\":[1,\"a\",null]}", "\"a\"", NULL, NULL},
    {"{\"enum\":[1,\"a\",null]}", "1.0", NULL, NULL},
    {"{\"enum\":[1,\"a\",null]}", "\"b\"", "", "enum"},
    {"{\"const\":{\"a\":1}}", "{\"a\":1}", NULL, NULL},
    {"{\"const\":{\"a\":1}}", "{\"a\":2}", "", "const"},
    {"{\"minimum\":3}", "3", NULL, NULL},
    {"{\"minimum\":3}", "2", "", "minimum"},
    {"{\"minimum\":3}", "\"x\"", NULL, NULL},
    {"{\"minimum\":9007199254740993}", "9007199254740992", "", "minimum"},
    {"{\"maximum\":2.5}", "2.5", NULL, NULL},
    {"{\"maximum\":2.5}", "3", "", "maximum"},
    {"{\"exclusiveMinimum\":0}", "0", "", "exclusiveMinimum"},
    {"{\"exclusiveMaximum\":1}", "1.0", "", "exclusiveMaximum"},
    {"{\"minLength\":2}", "\"\xc3\xa9\"", "", "minLength"},
    {"{\"maxLength\":1}", "\"\xc3\xa9\"", NULL, NULL},
    {"{\"maxLength\":1}", "\"ab\"", "", "maxLength"},
    {"{\"items\":{\"type\":\"integer\"}}", "[1,2]", NULL, NULL},
    {"{\"items\":{\"type\":\"integer\"}}", "[1,\"2\"]", "/1", "type"},
    {"{\"minItems\":1}", "[]", "", "minItems"},
    {"{\"maxItems\":1}", "[1,2]", "", "maxItems"},
    {"{\"properties\":{\"a\":{\"type\":\"string\"}}}", "{\"b\":1}", NULL, NULL},
    {"{\"properties\":{\"a\":{\"type\":\"string\"}}}", "{\"a\":1}", "/a", "type"},
    {"{\"properties\":{\"a\":{\"properties\":{\"b\":{\"items\":{\"minimum\":1}}}}}}",
     "{\"a\":{\"b\":[1,0]}}", "/a/b/1", "minimum"},
    {"{\"required\":[\"a\",\"b\"]}", "{\"a\":1}", "/b", "required"},
    {"{\"required\":[\"a\"]}", "5", NULL, NULL},
    {"{\"properties\":{\"a\":{}},\"additionalProperties\":false}", "{\"a\":1,\"b\":2}", "/b",
     "additionalProperties"},
    {"{\"additionalProperties\":{\"type\":\"string\"}}", "{\"b\":2}", "/b", "type"},
    {"{\"properties\":{\"a/b~c\":{\"type\":\"string\"}}}", "{\"a/b~c\":1}", "/a~1b~0c", "type"},
    {"{\"title\":\"t\",\"description\":\"d\",\"default\":1,\"examples\":[1],\"format\":\"date\"}",
     "\"not a date\"", "", "format"},
};

static const struct json_schema *compile(struct arena *arena, const struct tape_node *schema)
{
    const struct json_schema *compiled;
    struct schema_faults faults;
    if (json_schema_compile(schema, NULL, arena, &compiled, &faults) != 0)
        fail_msg("%s %s: %s", faults.v[0].pointer, faults.v[0].keyword, faults.v[0].expected);
    return compiled;
}

static int judge(struct arena *arena, const char *schema, const char *value,
                 struct schema_faults *faults)
{
    return json_schema_check(compile(arena, open_json(arena, schema)), open_json(arena, value),
                             faults);
}

static void TL_08_the_checker_judges_values(void **state)
{
    for (size_t i = 0; i < N(checks); i++) {
        struct schema_faults faults;
        int err = judge(*state, checks[i].schema, checks[i].value, &faults);
        if (!checks[i].pointer && err == 0)
            continue;
        const struct schema_fault *fault = &faults.v[0];
        if (err != ERR_PARAMS || !checks[i].pointer || strcmp(fault->pointer, checks[i].pointer) ||
            strcmp(fault->keyword, checks[i].reason) || !fault->expected[0])
            fail_msg("%s on %s: %d %s %s %s", checks[i].schema, checks[i].value, err,
                     fault->pointer, fault->keyword, fault->expected);
    }
}

/* ---- Definitions ---------------------------------------------------------------------------- */

#define ROW(properties)                                           \
    "\"schema\":{\"type\":\"object\",\"properties\":{" properties \
    "},\"additionalProperties\":false}"
#define BOOK                                                                                  \
    "{\"title\":\"Books\",\"description\":\"What is on the shelves\",\"primaryKey\":\"id\","  \
    "\"indexed\":[\"year\"],\"annotations\":{\"audience\":[\"user\"],\"priority\":0.5}," ROW( \
        "\"id\":{\"type\":\"integer\"},\"title\":{\"type\":\"string\",\"minLength\":1},"      \
        "\"year\":{\"type\":\"integer\",\"minimum\":1400}") "}"

static struct table book(struct arena *a)
{
    struct table t;
    struct schema_faults faults;
    if (table_parse(STR(BOOK), a, &t, &faults) < 0)
        fail_msg("%s %s", faults.v[0].pointer, faults.v[0].expected);
    t.database = STR("shop");
    t.name = STR("book");
    return t;
}

static void a_definition_is_read(void **state)
{
    struct table t = book(*state);
    assert_true(str_eq(t.title, STR("Books")));
    assert_int_equal(t.n_attributes, 3);
    assert_int_equal(t.n_indexes, 1);
    assert_true(str_eq(t.indexes[0].name, STR("by_year")));
    assert_int_equal(t.key, 0);
    assert_int_equal(t.key_type, KEY_INTEGER);
    assert_true(t.attributes[0].required && !t.attributes[1].required);
    assert_true(str_eq(t.annotations, STR("{\"audience\":[\"user\"],\"priority\":0.5}")));
    struct buf schema = {0};
    tape_write(t.schema, &schema);
    assert_true(strstr(buf_str(&schema).p, "\"required\":[\"id\"]") != NULL);
    buf_done(&schema);
}

static void bad_definitions_name_the_place(void **state)
{
    static const char *const bad[][2] = {
        {"", ""},
        {"[]", ""},
        {"{}", "/primaryKey"},
        {"{\"primaryKey\":\"id\"}", "/schema"},
        {"{\"primaryKey\":5," ROW("\"id\":{\"type\":\"integer\"}") "}", "/primaryKey"},
        {"{\"primaryKey\":\"no\"," ROW("\"id\":{\"type\":\"integer\"}") "}", "/primaryKey"},
        {"{\"primaryKey\":\"id\"," ROW("\"id\":{\"type\":\"number\"}") "}", "/primaryKey"},
        {"{\"primaryKey\":\"id\"," ROW("\"id\":{\"type\":[\"string\",\"null\"]}") "}",
         "/primaryKey"},
        {"{\"primaryKey\":\"id\"," ROW("\"id\":{}") "}", "/primaryKey"},
        {"{\"primaryKey\":\"id\"," ROW("") "}", "/schema/properties"},
        {"{\"primaryKey\":\"id\",\"schema\":{\"type\":\"array\",\"properties\":{}}}",
         "/schema/type"},
        {"{\"primaryKey\":\"id\",\"schema\":{\"type\":\"object\"}}", "/schema/properties"},
        {"{\"primaryKey\":\"a-b\"," ROW("\"a-b\":{\"type\":\"string\"}") "}",
         "/schema/properties/a-b"},
        {"{\"primaryKey\":\"id\"," ROW("\"id\":{\"type\":\"string\",\"pattern\":\"(\"}") "}",
         "/schema/properties/id/pattern"},
        {"{\"primaryKey\":\"id\",\"colour\":1," ROW("\"id\":{\"type\":\"string\"}") "}", "/colour"},
        {"{\"primaryKey\":\"id\",\"annotations\":{\"priority\":2}," ROW(
             "\"id\":{\"type\":\"string\"}") "}",
         "/annotations/priority"},
        {"{\"primaryKey\":\"id\",\"schema\":{\"type\":\"object\",\"properties\":{\"id\":{\"type\":"
         "\"string\"}},\"required\":[\"ID\"]}}",
         "/schema/required/ID"},
        {"{\"primaryKey\":\"id\"," ROW(
             "\"id\":{\"type\":\"string\"},\"a\":{\"$ref\":\"#/properties/id\"}") "}",
         "/schema/properties/a/$ref"},
        {"{\"primaryKey\":\"id\"," ROW(
             "\"id\":{\"type\":\"string\"},\"a\":{\"$ref\":\"http://a.example/\"}") "}",
         "/schema/properties/a/$ref"},
        {"{\"primaryKey\":\"id\"," ROW(
             "\"id\":{\"type\":\"string\"},\"a\":{\"$dynamicRef\":\"#a\"}") "}",
         "/schema/properties/a/$dynamicRef"},
        {"{\"primaryKey\":\"id\",\"primaryKey\":\"id\"," ROW("\"id\":{\"type\":\"string\"}") "}",
         "/primaryKey"},
    };
    for (size_t i = 0; i < N(bad); i++) {
        struct table t = {.id = 77};
        struct schema_faults faults = {0};
        int err = table_parse(str_of(bad[i][0]), *state, &t, &faults);
        if ((err != ERR_PARAMS && err != ERR_PARSE) || strcmp(faults.v[0].pointer, bad[i][1]) ||
            t.id != 77)
            fail_msg("%s: %d at %s (%s)", bad[i][0], err, faults.v[0].pointer,
                     faults.v[0].expected);
    }
}

static void names_are_limited(void **state)
{
    (void)state;
    static const char *const good[] = {"a", "Z9_", "alpha_2"};
    static const char *const bad[] = {"", "_a", "2a", "a-b", "a b", "a/b", "\xc3\xa9", "..", "a."};
    for (size_t i = 0; i < N(good); i++)
        assert_true(table_name_is_valid(str_of(good[i])));
    for (size_t i = 0; i < N(bad); i++)
        assert_false(table_name_is_valid(str_of(bad[i])));
    char text[NAME_BYTES_MAX + 2] = "";
    memset(text, 'a', NAME_BYTES_MAX);
    assert_true(table_name_is_valid(str_of(text)));
    text[NAME_BYTES_MAX] = 'a';
    assert_false(table_name_is_valid(str_of(text)));
}

static void rows_are_checked_and_keyed(void **state)
{
    struct table t = book(*state);
    struct schema_faults faults = {0};
    struct str key;
    const struct tape_node *row = open_json(*state, "{\"title\":\"x\",\"id\":7}");
    assert_int_equal(table_check_row(&t, row, &faults), 0);
    assert_int_equal(table_row_key(&t, row, *state, &key, &faults), 0);
    assert_int_equal(key.n, 8);
    row = open_json(*state, "{\"title\":\"x\"}");
    assert_int_equal(table_check_row(&t, row, &faults), ERR_PARAMS);
    assert_string_equal(faults.v[0].pointer, "/id");
    assert_int_equal(table_row_key(&t, row, *state, &key, &faults), ERR_PARAMS);
    row = open_json(*state, "{\"id\":1e30}");
    assert_int_equal(table_row_key(&t, row, *state, &key, &faults), ERR_PARAMS);
    assert_string_equal(faults.v[0].pointer, "/id");
}

/* ---- What is derived ------------------------------------------------------------------------ */

static void TL_02_derived_schemas_are_objects_that_the_checker_knows(void **state)
{
    struct table t = book(*state);
    struct search_limits limits = {100, 1000};
    for (enum table_verb verb = 0; verb < VERB_N; verb++) {
        struct buf text = {0};
        for (int output = 0; output < 2; output++) {
            buf_clear(&text);
            if (output)
                verb_write_output(verb, &t, &text);
            else
                verb_write_input(verb, &t, &limits, &text);
            buf_add_char(&text, '\0');
            const struct tape_node *schema = open_json(*state, text.p);
            compile(*state, schema);
            assert_true(str_eq(tape_str(tape_get(schema, STR("type"))), STR("object")));
        }
        buf_done(&text);
        assert_true(verb_tool_name(verb, t.name, *state).n > 5);
        assert_true(verb_title(verb, &t, *state).n > 5);
        assert_true(verb_description(verb, &t, *state).n > 20);
    }
}

static const struct {
    enum table_verb verb;
    const char *args, *pointer;
} arguments[] = {
    {VERB_GET, "{\"id\":1}", NULL},
    {VERB_GET, "{}", "/id"},
    {VERB_GET, "{\"id\":\"1\"}", "/id"},
    {VERB_GET, "{\"id\":1,\"x\":1}", "/x"},
    {VERB_SEARCH, "{}", NULL},
    {VERB_SEARCH, "{\"where\":{\"year\":1999},\"limit\":5,\"cursor\":\"c\"}", NULL},
    {VERB_SEARCH, "{\"where\":\"year > 1999\",\"order_by\":[\"-year\"],\"total\":true}", NULL},
    {VERB_SEARCH, "{\"where\":5}", "/where"},
    {VERB_SEARCH, "{\"select\":[\"yaer\"]}", "/select/0"},
    {VERB_SEARCH, "{\"order_by\":[1]}", "/order_by/0"},
    {VERB_SEARCH, "{\"limit\":0}", "/limit"},
    {VERB_SEARCH, "{\"limit\":1001}", "/limit"},
    {VERB_SEARCH, "{\"cursor\":5}", "/cursor"},
    {VERB_CREATE, "{\"id\":1,\"title\":\"t\",\"year\":1999}", NULL},
    {VERB_CREATE, "{\"title\":\"t\"}", "/id"},
    {VERB_CREATE, "{\"id\":1,\"title\":\"\"}", "/title"},
    {VERB_CREATE, "{\"id\":1,\"colour\":1}", "/colour"},
    {VERB_UPDATE, "{\"id\":1,\"changes\":{\"year\":2000}}", NULL},
    {VERB_UPDATE, "{\"changes\":{}}", "/id"},
    {VERB_UPDATE, "{\"id\":1,\"row\":{\"title\":\"t\"}}", NULL},
    {VERB_UPDATE, "{\"id\":1,\"row\":{\"id\":1}}", NULL},
    {VERB_UPDATE, "{\"id\":1,\"row\":{\"colour\":1}}", "/row/colour"},
    {VERB_UPDATE, "{\"id\":1,\"row\":{\"year\":null}}", "/row/year"},
    {VERB_UPDATE, "{\"id\":1,\"changes\":{\"id\":2}}", "/changes/id"},
    {VERB_UPDATE, "{\"id\":1,\"changes\":{\"year\":1}}", "/changes/year"},
    {VERB_DELETE, "{\"id\":1}", NULL},
    {VERB_DELETE, "{\"id\":null}", "/id"},
};

static void TL_06_arguments_are_judged_by_the_derived_schema(void **state)
{
    struct table t = book(*state);
    struct search_limits limits = {100, 1000};
    for (size_t i = 0; i < N(arguments); i++) {
        struct buf text = {0};
        struct schema_faults faults = {0};
        verb_write_input(arguments[i].verb, &t, &limits, &text);
        buf_add_char(&text, '\0');
        const struct tape_node *schema = open_json(*state, text.p);
        int err = json_schema_check(compile(*state, schema), open_json(*state, arguments[i].args),
                                    &faults);
        if (err != (arguments[i].pointer ? ERR_PARAMS : 0) ||
            (err && strcmp(faults.v[0].pointer, arguments[i].pointer)))
            fail_msg("%s: %d at %s", arguments[i].args, err, faults.v[0].pointer);
        buf_done(&text);
    }
}

static void every_failing_allocation_is_reported(void **state)
{
    (void)state;
    int err = ERR_NO_MEMORY;
    for (size_t limit = 1; err == ERR_NO_MEMORY; limit += 97) {
        struct arena a;
        struct table t;
        struct schema_faults faults;
        arena_init(&a, limit);
        err = table_parse(STR(BOOK), &a, &t, &faults);
        arena_done(&a);
    }
    assert_int_equal(err, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(TL_08_the_checker_judges_values, start, stop),
        cmocka_unit_test_setup_teardown(a_definition_is_read, start, stop),
        cmocka_unit_test_setup_teardown(bad_definitions_name_the_place, start, stop),
        cmocka_unit_test(names_are_limited),
        cmocka_unit_test_setup_teardown(rows_are_checked_and_keyed, start, stop),
        cmocka_unit_test_setup_teardown(TL_02_derived_schemas_are_objects_that_the_checker_knows,
                                        start, stop),
        cmocka_unit_test_setup_teardown(TL_06_arguments_are_judged_by_the_derived_schema, start,
                                        stop),
        cmocka_unit_test(every_failing_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
