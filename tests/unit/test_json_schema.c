/* tests/unit/test_json_schema.c - what the public suite does not ask: what faults say and in which
 * order, which schemas are refused and where, and every bound. */
#include "base/err.h"
#include "schema/json_schema.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N(array) (sizeof(array) / sizeof *(array))

static int start(void **state)
{
    struct arena *arena = malloc(sizeof *arena);
    arena_init(arena, 64u << 20);
    *state = arena;
    return 0;
}

static int stop(void **state)
{
    arena_done(*state);
    free(*state);
    return 0;
}

static const struct tape_node *open_str(struct arena *arena, struct str text)
{
    const struct tape_node *tape;
    struct wire_fault fault;
    char *copy = arena_zalloc(arena, text.n + JSON_PADDING_BYTES);
    memcpy(copy, text.p, text.n);
    if (tape_open((struct str){copy, text.n}, arena, &tape, &fault) < 0)
        fail_msg("%s at %s: %.60s", wire_reason_name(fault.reason), fault.pointer, copy);
    return tape;
}

static const struct tape_node *open_json(struct arena *arena, const char *text)
{
    return open_str(arena, str_of(text));
}

static const struct json_schema *compile(struct arena *arena, const char *text)
{
    const struct json_schema *schema;
    struct schema_faults faults;
    int err = json_schema_compile(open_json(arena, text), NULL, arena, &schema, &faults);
    if (err < 0)
        fail_msg("%.80s: %s at %s %s, expected %s", text, err_name(err), faults.v[0].pointer,
                 faults.v[0].keyword, faults.v[0].expected);
    return schema;
}

/* ---- faults --------------------------------------------------------------------------------- */

static const struct {
    const char *schema, *value, *pointer, *keyword, *expected;
} misfits[] = {
    {"{\"type\":\"string\"}", "5", "", "type", "string"},
    {"{\"type\":[\"null\",\"string\"]}", "5", "", "type", "string|null"},
    {"{\"type\":\"integer\"}", "1.5", "", "type", "integer"},
    {"{\"type\":\"number\"}", "\"\"", "", "type", "number"},
    {"{\"minimum\":3}", "2", "", "minimum", "at least 3"},
    {"{\"maximum\":3.5}", "4", "", "maximum", "at most 3.5"},
    {"{\"exclusiveMinimum\":3}", "3", "", "exclusiveMinimum", "more than 3"},
    {"{\"exclusiveMaximum\":3}", "3", "", "exclusiveMaximum", "less than 3"},
    {"{\"multipleOf\":0.01}", "0.075", "", "multipleOf", "a multiple of 0.01"},
    {"{\"minLength\":3}", "\"\xc3\xa9\xc3\xa9\"", "", "minLength", "characters: at least 3"},
    {"{\"maxLength\":1}", "\"ab\"", "", "maxLength", "characters: at most 1"},
    {"{\"pattern\":\"^a\"}", "\"b\"", "", "pattern", "^a"},
    {"{\"format\":\"date\"}", "\"2023-02-29\"", "", "format", "date"},
    {"{\"minItems\":1}", "[]", "", "minItems", "at least 1"},
    {"{\"maxItems\":1}", "[1,2]", "", "maxItems", "at most 1"},
    {"{\"items\":{\"type\":\"null\"}}", "[null,0]", "/1", "type", "null"},
    {"{\"prefixItems\":[true],\"items\":false}", "[1,2]", "/1", "items", "nothing here"},
    {"{\"uniqueItems\":true}", "[1,1.0]", "", "uniqueItems", "items that differ from each other"},
    {"{\"contains\":{\"const\":1}}", "[2]", "", "contains", "at least one item of a certain form"},
    {"{\"contains\":true,\"maxContains\":1}", "[2,3]", "", "maxContains",
     "items of a certain form: at most 1"},
    {"{\"minProperties\":1}", "{}", "", "minProperties", "at least 1"},
    {"{\"required\":[\"a/b\"],\"properties\":{\"a/b\":{\"type\":\"string\"}}}", "{}", "/a~1b",
     "required", "string"},
    {"{\"required\":[\"a\"]}", "{}", "/a", "required", "a value"},
    {"{\"properties\":{\"a\":{},\"b\":{}},\"additionalProperties\":false}", "{\"c\":1}", "/c",
     "additionalProperties", "a, b"},
    {"{\"properties\":{\"a\":{}},\"unevaluatedProperties\":false}", "{\"c\":1}", "/c",
     "unevaluatedProperties", "a"},
    {"{\"properties\":{\"a\":false}}", "{\"a\":1}", "/a", "properties", "nothing here"},
    {"{\"propertyNames\":{\"maxLength\":1}}", "{\"ab\":1}", "/ab", "propertyNames",
     "characters: at most 1"},
    {"{\"dependentRequired\":{\"a\":[\"b\"]}}", "{\"a\":1}", "/b", "dependentRequired",
     "a value, because there is a"},
    {"{\"enum\":[\"a\",1,null]}", "2", "", "enum", "\"a\"|1|null"},
    {"{\"const\":{\"a\":[1]}}", "2", "", "const", "{\"a\":[1]}"},
    {"{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}", "2", "", "anyOf", "string|null"},
    {"{\"oneOf\":[{\"minimum\":1},{\"minimum\":2}]}", "3", "", "oneOf",
     "a value that fits only one of 2 alternatives"},
    {"{\"oneOf\":[{\"required\":[\"a\"]},{\"required\":[\"b\"]}]}", "{\"a\":1,\"b\":2}", "",
     "oneOf", "only one of the members a|b"},
    {"{\"oneOf\":[{\"required\":[\"a\"]},{\"required\":[\"b\"]}]}", "{\"c\":1}", "", "oneOf",
     "one of the members a|b"},
    {"{\"oneOf\":[{\"minimum\":5},{\"minimum\":4}]}", "3", "", "oneOf",
     "a value that fits one of 2 alternatives"},
    {"{\"not\":{}}", "3", "", "not", "a value that does not fit the schema in \"not\""},
    {"{\"if\":true,\"then\":{\"type\":\"null\"}}", "3", "", "type", "null"},
    {"{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":false}}", "3", "", "$ref", "nothing here"},
    {"false", "3", "", "false", "nothing here"},
};

static void SC_01_faults_say_where_what_and_what_was_expected(void **state)
{
    for (size_t i = 0; i < N(misfits); i++) {
        struct schema_faults faults;
        const struct json_schema *schema = compile(*state, misfits[i].schema);
        int err = json_schema_check(schema, open_json(*state, misfits[i].value), &faults);
        if (err != ERR_PARAMS || faults.n != 1 || strcmp(faults.v[0].pointer, misfits[i].pointer) ||
            strcmp(faults.v[0].keyword, misfits[i].keyword) ||
            strcmp(faults.v[0].expected, misfits[i].expected))
            fail_msg("%s: %s, %u faults, %s %s: %s", misfits[i].schema, err_name(err), faults.n,
                     faults.v[0].pointer, faults.v[0].keyword, faults.v[0].expected);
        assert_int_equal(json_schema_check(schema, open_json(*state, misfits[i].value), NULL),
                         ERR_PARAMS);
    }
}

/* Keywords stand in another order than the members, and allOf finds the same thing twice. */
static void SC_02_faults_are_in_document_order_each_once(void **state)
{
    struct schema_faults faults;
    const struct json_schema *schema =
        compile(*state, "{\"allOf\":[{\"properties\":{\"c\":{\"type\":\"null\"}}},{\"properties\":{"
                        "\"a\":{\"type\":\"null\"},\"c\":{\"type\":\"null\"}}}],\"properties\":{"
                        "\"d\":{\"minLength\":3},\"b\":{\"minimum\":4}},\"required\":[\"x\"]}");
    const struct tape_node *value = open_json(*state, "{\"a\":1,\"b\":2,\"c\":3,\"d\":\"\"}");
    static const char *const pointers[] = {"/x", "/a", "/b", "/c", "/d"};
    assert_int_equal(json_schema_check(schema, value, &faults), ERR_PARAMS);
    assert_int_equal(faults.n, N(pointers));
    for (uint32_t i = 0; i < faults.n; i++)
        assert_string_equal(faults.v[i].pointer, pointers[i]);
}

static void SC_03_the_first_ten_faults_are_told(void **state)
{
    struct schema_faults faults;
    const struct json_schema *schema = compile(
        *state, "{\"allOf\":[{\"items\":{\"type\":\"string\"}},{\"items\":{\"minimum\":1}}]}");
    const struct tape_node *value =
        open_json(*state, "[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]");
    assert_int_equal(json_schema_check(schema, value, &faults), ERR_PARAMS);
    assert_int_equal(faults.n, SCHEMA_FAULTS_MAX);
    for (uint32_t i = 0; i < faults.n; i++) {
        char pointer[16];
        snprintf(pointer, sizeof pointer, "/%u", i / 2);
        assert_string_equal(faults.v[i].pointer, pointer);
        assert_string_equal(faults.v[i].keyword, i % 2 ? "minimum" : "type");
    }
}

static void SC_04_pointers_and_expectations_are_cut_at_a_character(void **state)
{
    struct schema_faults faults;
    struct buf text = {0};
    buf_add_lit(&text, "{\"");
    for (int i = 0; i < 100; i++)
        buf_add_lit(&text, "\xc3\xa9");
    buf_add_lit(&text, "\":{\"x\":1}}");
    const struct tape_node *value = open_str(*state, buf_str(&text));
    buf_clear(&text);
    buf_add_lit(&text, "{\"additionalProperties\":{\"properties\":{\"x\":{\"const\":\"");
    for (int i = 0; i < 100; i++)
        buf_add_lit(&text, "\xc3\xa9");
    buf_add_lit(&text, "\"}}}}");
    buf_add_char(&text, '\0');
    const struct json_schema *schema = compile(*state, text.p);
    buf_done(&text);
    assert_int_equal(json_schema_check(schema, value, &faults), ERR_PARAMS);
    size_t n = strlen(faults.v[0].pointer);
    assert_true(n < JSON_POINTER_BYTES && n > JSON_POINTER_BYTES - 6);
    assert_string_equal(faults.v[0].pointer + n - 3, "...");
    assert_int_equal((unsigned char)faults.v[0].pointer[n - 4], 0xa9);
    n = strlen(faults.v[0].expected);
    assert_string_equal(faults.v[0].expected + n - 3, "...");
    assert_int_equal((unsigned char)faults.v[0].expected[n - 4], 0xa9);
}

static void SC_05_faults_are_written_as_json(void **state)
{
    struct schema_faults faults;
    struct buf out = {0};
    const struct json_schema *schema = compile(
        *state, "{\"properties\":{\"a\\\"\":{\"const\":\"\\u0001\"}},\"required\":[\"b\"]}");
    json_schema_check(schema, open_json(*state, "{\"a\\\"\":1}"), &faults);
    schema_faults_write(&faults, "/params/arguments", &out);
    buf_add_char(&out, '\0');
    assert_string_equal(
        out.p, "[{\"pointer\":\"/params/arguments/b\",\"keyword\":\"required\",\"expected\":\"a "
               "value\"},{\"pointer\":\"/params/arguments/a\\\"\",\"keyword\":\"const\","
               "\"expected\":\"\\\"\\\\u0001\\\"\"}]");
    buf_done(&out);
    faults.n = 0;
    schema_faults_write(&faults, "", &out);
    assert_true(str_eq(buf_str(&out), STR("[]")));
    buf_done(&out);
}

/* ---- schemas that are refused --------------------------------------------------------------- */

static const struct {
    const char *schema, *pointer, *keyword;
} refused[] = {
    {"5", "", "type"},
    {"[]", "", "type"},
    {"{\"type\":\"strnig\"}", "/type", "type"},
    {"{\"type\":[]}", "/type", "type"},
    {"{\"type\":[\"null\",\"null\"]}", "/type", "type"},
    {"{\"type\":[\"null\",5]}", "/type/1", "type"},
    {"{\"properties\":{\"a\":{\"type\":1}}}", "/properties/a/type", "type"},
    {"{\"properties\":{\"a\":1}}", "/properties/a", "type"},
    {"{\"properties\":[]}", "/properties", "properties"},
    {"{\"patternProperties\":{\"(\":{}}}", "/patternProperties/(", "patternProperties"},
    {"{\"additionalProperties\":1}", "/additionalProperties", "type"},
    {"{\"required\":\"a\"}", "/required", "required"},
    {"{\"required\":[1]}", "/required/0", "required"},
    {"{\"required\":[\"a\",\"a\"]}", "/required", "required"},
    {"{\"dependentRequired\":{\"a\":1}}", "/dependentRequired/a", "dependentRequired"},
    {"{\"dependentRequired\":[]}", "/dependentRequired", "dependentRequired"},
    {"{\"dependentSchemas\":1}", "/dependentSchemas", "dependentSchemas"},
    {"{\"minLength\":-1}", "/minLength", "minLength"},
    {"{\"maxLength\":1.5}", "/maxLength", "maxLength"},
    {"{\"minItems\":\"1\"}", "/minItems", "minItems"},
    {"{\"maxProperties\":null}", "/maxProperties", "maxProperties"},
    {"{\"minContains\":-2}", "/minContains", "minContains"},
    {"{\"minimum\":\"1\"}", "/minimum", "minimum"},
    {"{\"exclusiveMinimum\":true}", "/exclusiveMinimum", "exclusiveMinimum"},
    {"{\"multipleOf\":0}", "/multipleOf", "multipleOf"},
    {"{\"multipleOf\":-2}", "/multipleOf", "multipleOf"},
    {"{\"multipleOf\":{}}", "/multipleOf", "multipleOf"},
    {"{\"uniqueItems\":1}", "/uniqueItems", "uniqueItems"},
    {"{\"enum\":{}}", "/enum", "enum"},
    {"{\"allOf\":[]}", "/allOf", "allOf"},
    {"{\"allOf\":{}}", "/allOf", "allOf"},
    {"{\"anyOf\":[1]}", "/anyOf/0", "type"},
    {"{\"items\":[{}]}", "/items", "type"},
    {"{\"not\":null}", "/not", "type"},
    {"{\"pattern\":1}", "/pattern", "pattern"},
    {"{\"pattern\":\"a(\"}", "/pattern", "pattern"},
    {"{\"format\":1}", "/format", "format"},
    {"{\"$schema\":\"http://json-schema.org/draft-04/schema#\"}", "/$schema", "$schema"},
    {"{\"$schema\":7}", "/$schema", "$schema"},
    {"{\"items\":{\"$schema\":\"http://json-schema.org/draft-07/schema\"}}", "/items/$schema",
     "$schema"},
    {"{\"$vocabulary\":{}}", "/$vocabulary", "$vocabulary"},
    {"{\"$dynamicRef\":\"#a\"}", "/$dynamicRef", "$dynamicRef"},
    {"{\"$dynamicAnchor\":\"a\"}", "/$dynamicAnchor", "$dynamicAnchor"},
    {"{\"$id\":5}", "/$id", "$id"},
    {"{\"$id\":\"http://a.example/#b\"}", "/$id", "$id"},
    {"{\"$anchor\":\"1a\"}", "/$anchor", "$anchor"},
    {"{\"$defs\":{\"a\":{\"$anchor\":\"x\"},\"b\":{\"$anchor\":\"x\"}}}", "/$defs/b/$anchor",
     "$anchor"},
    {"{\"$defs\":{\"a\":{\"$id\":\"x\"},\"b\":{\"$id\":\"./x\"}}}", "/$defs/b/$id", "$id"},
    {"{\"$ref\":1}", "/$ref", "$ref"},
    {"{\"$ref\":\"#/$defs/none\"}", "/$ref", "$ref"},
    {"{\"$ref\":\"#none\"}", "/$ref", "$ref"},
    {"{\"$ref\":\"#/minimum\",\"minimum\":1}", "/$ref", "$ref"},
    {"{\"$ref\":\"#/enum/01\",\"enum\":[{},{}]}", "/$ref", "$ref"},
    {"{\"$ref\":\"#/%zz\"}", "/$ref", "$ref"},
    {"{\"$ref\":\"other.json\"}", "/$ref", "$ref"},
    {"{\"$ref\":\"https://a.example/b\"}", "/$ref", "$ref"},
    {"{\"$ref\":\"#\"}", "/$ref", "$ref"},
    {"{\"not\":{\"$ref\":\"#\"}}", "/not/$ref", "$ref"},
    {"{\"properties\":{\"a\":{\"$ref\":\"#/$defs/a\"}},\"$defs\":{\"a\":{\"anyOf\":[{},{\"$ref\":"
     "\"#/$defs/b\"}]},\"b\":{\"if\":{\"$ref\":\"#/$defs/a\"}}}}",
     "/$defs/b/if/$ref", "$ref"},
    {"{\"dependentSchemas\":{\"a\":{\"$ref\":\"#\"}}}", "/dependentSchemas/a/$ref", "$ref"},
    {"{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"dependencies\":{\"a\":[1]}}",
     "/dependencies/a/0", "dependencies"},
    {"{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"dependencies\":{\"a\":1}}",
     "/dependencies/a", "type"},
};

static void SC_06_bad_schemas_are_refused_with_a_pointer(void **state)
{
    for (size_t i = 0; i < N(refused); i++) {
        struct schema_faults faults;
        const struct json_schema *schema = NULL;
        int err = json_schema_compile(open_json(*state, refused[i].schema), NULL, *state, &schema,
                                      &faults);
        if (err != ERR_PARAMS || schema || faults.n == 0 ||
            strcmp(faults.v[0].pointer, refused[i].pointer) ||
            strcmp(faults.v[0].keyword, refused[i].keyword) || !faults.v[0].expected[0])
            fail_msg("%s: %s, %s %s: %s", refused[i].schema, err_name(err), faults.v[0].pointer,
                     faults.v[0].keyword, faults.v[0].expected);
    }
}

static void SC_07_several_faults_of_a_schema_are_told_at_once(void **state)
{
    struct schema_faults faults;
    const struct json_schema *schema;
    const struct tape_node *document =
        open_json(*state, "{\"minimum\":\"a\",\"properties\":{\"a\":{\"type\":\"x\"},\"b\":{"
                          "\"pattern\":\"[\"}},\"$ref\":\"#/no\"}");
    assert_int_equal(json_schema_compile(document, NULL, *state, &schema, &faults), ERR_PARAMS);
    assert_int_equal(faults.n, 4);
    assert_string_equal(faults.v[0].pointer, "/minimum");
    assert_string_equal(faults.v[3].pointer, "/$ref");
}

/* ---- bounds --------------------------------------------------------------------------------- */

static void expect_refusal(struct arena *arena, struct buf *text, const char *keyword)
{
    struct schema_faults faults;
    const struct json_schema *schema;
    const struct tape_node *document = open_str(arena, buf_str(text));
    assert_int_equal(json_schema_compile(document, NULL, arena, &schema, &faults), ERR_PARAMS);
    assert_string_equal(faults.v[0].keyword, keyword);
    buf_done(text);
}

static void SC_08_too_deep_a_schema_is_refused(void **state)
{
    struct buf text = {0};
    for (int i = 0; i <= SCHEMA_DEPTH_MAX; i++)
        buf_add_lit(&text, "{\"items\":");
    buf_add_lit(&text, "{}");
    for (int i = 0; i <= SCHEMA_DEPTH_MAX; i++)
        buf_add_char(&text, '}');
    expect_refusal(*state, &text, "depth");
}

static void SC_09_too_many_subschemas_are_refused(void **state)
{
    struct buf text = {0};
    buf_add_lit(&text, "{\"properties\":{");
    for (int i = 0; i < SCHEMA_SUBSCHEMAS_MAX; i++)
        buf_printf(&text, "%s\"p%d\":{}", i ? "," : "", i);
    buf_add_lit(&text, "}}");
    expect_refusal(*state, &text, "size");
}

static void SC_10_too_long_a_chain_of_references_is_refused(void **state)
{
    struct buf text = {0};
    buf_add_lit(&text, "{\"$defs\":{\"r0\":{}");
    for (int i = 1; i <= SCHEMA_REACH_MAX + 2; i++)
        buf_printf(&text, ",\"r%d\":{\"$ref\":\"#/$defs/r%d\"}", i, i - 1);
    buf_printf(&text, "},\"$ref\":\"#/$defs/r%d\"}", SCHEMA_REACH_MAX + 2);
    expect_refusal(*state, &text, "$ref");
}

static void SC_11_an_exponential_schema_meets_the_step_limit(void **state)
{
    struct schema_faults faults;
    struct buf text = {0};
    buf_add_lit(&text, "{\"$defs\":{\"b0\":{\"minimum\":0}");
    for (int i = 1; i <= 30; i++)
        buf_printf(&text,
                   ",\"b%d\":{\"allOf\":[{\"$ref\":\"#/$defs/b%d\"},{\"$ref\":\"#/$defs/b%d\"}]}",
                   i, i - 1, i - 1);
    buf_add_lit(&text, "},\"properties\":{\"x\":{\"$ref\":\"#/$defs/b30\"}}}");
    buf_add_char(&text, '\0');
    const struct json_schema *schema = compile(*state, text.p);
    buf_done(&text);
    assert_int_equal(json_schema_check(schema, open_json(*state, "{\"x\":1}"), &faults), ERR_LIMIT);
    assert_int_equal(faults.n, 1);
    assert_string_equal(faults.v[0].pointer, "/x");
    assert_string_equal(faults.v[0].keyword, "steps");
    assert_int_equal(json_schema_check(schema, open_json(*state, "{\"x\":1}"), NULL), ERR_LIMIT);
    assert_int_equal(json_schema_check(schema, open_json(*state, "{\"y\":1}"), NULL), 0);
}

/* Never "does not match", also where a mismatch would be welcome. */
static void SC_12_a_pattern_that_explodes_is_a_limit(void **state)
{
    static const char *const schemas[] = {
        "{\"properties\":{\"x\":{\"pattern\":\"^(a+)+$\"}}}",
        "{\"properties\":{\"x\":{\"not\":{\"pattern\":\"^(a|a)*$\"}}}}",
        "{\"properties\":{\"x\":{\"anyOf\":[{\"pattern\":\"^(a+)+$\"},true]}}}",
    };
    const char *value =
        "{\"x\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\"}";
    for (size_t i = 0; i < N(schemas); i++) {
        struct schema_faults faults;
        const struct json_schema *schema = compile(*state, schemas[i]);
        assert_int_equal(json_schema_check(schema, open_json(*state, value), &faults), ERR_LIMIT);
        assert_int_equal(faults.n, 1);
        assert_string_equal(faults.v[0].pointer, "/x");
        assert_string_equal(faults.v[0].keyword, "pattern");
    }
}

/* SCHEMA_PATTERN_KIB_MAX: each turn is remembered, which costs memory long before the steps run
 * out. */
static void SC_22_a_pattern_that_remembers_much_is_a_limit(void **state)
{
    struct schema_faults faults;
    struct buf text = {0};
    buf_add_char(&text, '"');
    for (int i = 0; i < 16000; i++)
        buf_add_char(&text, "ab"[i % 2]);
    buf_add_char(&text, '"');
    const struct json_schema *schema = compile(*state, "{\"pattern\":\"^(a|b)*$\"}");
    const struct tape_node *value = open_str(*state, buf_str(&text));
    buf_done(&text);
    assert_int_equal(json_schema_check(schema, value, &faults), ERR_LIMIT);
    assert_string_equal(faults.v[0].keyword, "pattern");
    assert_int_equal(json_schema_check(schema, open_json(*state, "\"abab\""), &faults), 0);
}

/* Each match stays within its own limit, all of them together do not. */
static void SC_13_many_slow_patterns_meet_the_time_limit(void **state)
{
    struct schema_faults faults;
    struct buf text = {0};
    buf_add_char(&text, '[');
    for (int i = 0; i < 20000; i++)
        buf_printf(&text, "%s\"aaaaaaaaaaaaaa!\"", i ? "," : "");
    buf_add_char(&text, ']');
    const struct json_schema *schema =
        compile(*state, "{\"items\":{\"not\":{\"pattern\":\"^(a+)+$\"}}}");
    const struct tape_node *value = open_str(*state, buf_str(&text));
    buf_done(&text);
    assert_int_equal(json_schema_check(schema, value, &faults), ERR_LIMIT);
    assert_string_equal(faults.v[0].keyword, "pattern");
    assert_true(strncmp(faults.v[0].expected, "milliseconds", 12) == 0);
}

static const char tree_schema[] =
    "{\"$defs\":{\"a\":{\"allOf\":[{\"$ref\":\"#/$defs/"
    "b\"}]},\"b\":{\"anyOf\":[{\"type\":\"null\"},"
    "{\"$ref\":\"#/$defs/c\"}]},\"c\":{\"allOf\":[{\"items\":{\"$ref\":\"#/$defs/a\"}}]}},"
    "\"$ref\":\"#/$defs/a\"}";

struct deep {
    const struct json_schema *schema;
    const struct tape_node *value;
    struct schema_faults faults;
    int err;
};

static void *check_deep(void *arg)
{
    struct deep *deep = arg;
    deep->err = json_schema_check(deep->schema, deep->value, &deep->faults);
    return NULL;
}

/* A handler thread's stack of 512 KiB is enough for what the limit allows. */
static void SC_14_recursion_is_bounded_and_fits_a_small_stack(void **state)
{
    char text[2 * JSON_DEPTH_MAX + 1];
    memset(text, '[', JSON_DEPTH_MAX);
    memset(text + JSON_DEPTH_MAX, ']', JSON_DEPTH_MAX);
    text[2 * JSON_DEPTH_MAX] = '\0';
    struct deep deep = {.schema = compile(*state, tree_schema), .value = open_json(*state, text)};
    pthread_t thread;
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 512 << 10);
    assert_int_equal(pthread_create(&thread, &attr, check_deep, &deep), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attr);
    assert_int_equal(deep.err, ERR_LIMIT);
    assert_string_equal(deep.faults.v[0].keyword, "depth");
    deep.schema = compile(*state, "{\"items\":{\"$ref\":\"#\"}}");
    check_deep(&deep);
    assert_int_equal(deep.err, 0);
}

static void SC_15_large_arrays_are_not_compared_pairwise(void **state)
{
    struct buf text = {0};
    buf_add_lit(&text, "[\"x0\"");
    for (int i = 1; i < 30000; i++)
        buf_printf(&text, ",{\"a\":%d,\"b\":[%d]}", i, i);
    buf_add_lit(&text, ",1,true,\"1\",[1],null,false,0,{\"b\":[5],\"a\":5}]");
    const struct json_schema *unique = compile(*state, "{\"uniqueItems\":true}");
    const struct tape_node *value = open_str(*state, buf_str(&text));
    assert_int_equal(json_schema_check(unique, value, NULL), ERR_PARAMS);
    text.n -= strlen(",{\"b\":[5],\"a\":5}]");
    buf_add_char(&text, ']');
    assert_int_equal(json_schema_check(unique, open_str(*state, buf_str(&text)), NULL), 0);
    buf_done(&text);
}

static void SC_16_a_large_enum_is_looked_up(void **state)
{
    struct buf text = {0};
    buf_add_lit(&text, "{\"items\":{\"enum\":[-1.5");
    for (int i = 0; i < 50000; i++)
        buf_printf(&text, ",%d,\"v%d\"", i, i);
    buf_add_lit(&text, "]}}");
    buf_add_char(&text, '\0');
    const struct json_schema *schema = compile(*state, text.p);
    buf_done(&text);
    assert_int_equal(json_schema_check(schema, open_json(*state, "[1e0,\"v49999\",-15e-1]"), NULL),
                     0);
    assert_int_equal(json_schema_check(schema, open_json(*state, "[\"v50000\"]"), NULL),
                     ERR_PARAMS);
}

/* ---- numbers -------------------------------------------------------------------------------- */

static void SC_17_numbers_are_compared_exactly(void **state)
{
    static const struct {
        const char *schema, *value;
        bool fits;
    } cases[] = {
        {"{\"maximum\":9007199254740993}", "9007199254740993", true},
        {"{\"maximum\":9007199254740992}", "9007199254740993", false},
        {"{\"exclusiveMinimum\":9223372036854775806}", "9223372036854775807", true},
        {"{\"maximum\":1e300}", "9223372036854775807", true},
        {"{\"minimum\":0.5}", "0", false},
        {"{\"minimum\":-0.5}", "0", true},
        {"{\"maximum\":-0.5}", "0", false},
        {"{\"multipleOf\":0.1}", "0.3", true},
        {"{\"multipleOf\":0.1}", "0.35", false},
        {"{\"multipleOf\":1e-8}", "12391239123", true},
        {"{\"multipleOf\":0.01}", "4.35", true},
        {"{\"multipleOf\":3}", "-9", true},
        {"{\"multipleOf\":3}", "-10", false},
        {"{\"multipleOf\":1e300}", "5", false},
        {"{\"multipleOf\":1e300}", "2e300", true},
        {"{\"multipleOf\":7}", "1e308", false},
        {"{\"multipleOf\":0.5}", "1e308", true},
        {"{\"multipleOf\":5e-324}", "1", true},
        {"{\"multipleOf\":1}", "-9223372036854775808", true},
        {"{\"type\":\"integer\"}", "1e300", true},
        {"{\"const\":1.0}", "1", true},
        {"{\"minLength\":2.0}", "\"ab\"", true},
        {"{\"maxLength\":1e300}", "\"ab\"", true},
    };
    for (size_t i = 0; i < N(cases); i++) {
        int err = json_schema_check(compile(*state, cases[i].schema),
                                    open_json(*state, cases[i].value), NULL);
        if (err != (cases[i].fits ? 0 : ERR_PARAMS))
            fail_msg("%s of %s: %s", cases[i].schema, cases[i].value, err_name(err));
    }
}

/* ---- options, memory, threads --------------------------------------------------------------- */

static void SC_18_formats_assert_only_if_asked(void **state)
{
    struct json_schema_options options = {JSON_SCHEMA_2020_12, false};
    struct schema_faults faults;
    const struct json_schema *schema;
    const struct tape_node *document = open_json(*state, "{\"format\":\"ipv4\"}");
    const struct tape_node *value = open_json(*state, "\"1.2.3\"");
    assert_int_equal(json_schema_compile(document, &options, *state, &schema, &faults), 0);
    assert_int_equal(json_schema_check(schema, value, NULL), 0);
    options.asserts_formats = true;
    assert_int_equal(json_schema_compile(document, &options, *state, &schema, &faults), 0);
    assert_int_equal(json_schema_check(schema, value, NULL), ERR_PARAMS);
}

/* A part of a tape can be checked for itself; pointers start there. */
static void SC_19_pointers_are_relative_to_the_value(void **state)
{
    struct schema_faults faults;
    const struct tape_node *all = open_json(*state, "{\"a\":{\"b\":[1,\"x\"]},\"c\":1}");
    const struct json_schema *schema =
        compile(*state, "{\"properties\":{\"b\":{\"items\":{\"type\":\"integer\"}}}}");
    assert_int_equal(json_schema_check(schema, tape_get(all, STR("a")), &faults), ERR_PARAMS);
    assert_string_equal(faults.v[0].pointer, "/b/1");
}

static void SC_20_no_memory_is_reported_wherever_it_ends(void **state)
{
    const struct tape_node *document = open_json(
        *state, "{\"$id\":\"a/b\",\"properties\":{\"a\":{\"pattern\":\"x(y)\",\"enum\":[1,2]},"
                "\"b\":{\"$ref\":\"#c\"}},\"$defs\":{\"c\":{\"$anchor\":\"c\",\"items\":{\"$ref\":"
                "\"#/properties/a\"}}},\"required\":[\"z\"],\"anyOf\":[true,{\"minimum\":3}]}");
    int err = ERR_NO_MEMORY;
    for (size_t limit = 1; err == ERR_NO_MEMORY; limit += 61) {
        struct arena arena;
        struct schema_faults faults;
        const struct json_schema *schema;
        arena_init(&arena, limit);
        err = json_schema_compile(document, NULL, &arena, &schema, &faults);
        arena_done(&arena);
    }
    assert_int_equal(err, 0);
}

#define THREADS 4

static void *check_often(void *arg)
{
    struct deep *deep = arg;
    for (int i = 0; i < 500 && deep->err == 0; i++)
        deep->err = json_schema_check(deep->schema, deep->value, &deep->faults);
    return NULL;
}

static void SC_21_threads_share_a_schema(void **state)
{
    pthread_t threads[THREADS];
    struct deep deep[THREADS];
    const struct json_schema *schema = compile(
        *state, "{\"additionalProperties\":{\"pattern\":\"^[a-z]+$\"},\"unevaluatedProperties\":"
                "false,\"propertyNames\":{\"format\":\"uuid\"}}");
    const struct tape_node *value =
        open_json(*state, "{\"2eb8aa08-aa98-11ea-b4aa-73b441d16380\":\"abc\"}");
    for (int i = 0; i < THREADS; i++) {
        deep[i] = (struct deep){.schema = schema, .value = value};
        assert_int_equal(pthread_create(&threads[i], NULL, check_often, &deep[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(deep[i].err, 0);
    }
}

#define WITH_ARENA(test) cmocka_unit_test_setup_teardown(test, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ARENA(SC_01_faults_say_where_what_and_what_was_expected),
        WITH_ARENA(SC_02_faults_are_in_document_order_each_once),
        WITH_ARENA(SC_03_the_first_ten_faults_are_told),
        WITH_ARENA(SC_04_pointers_and_expectations_are_cut_at_a_character),
        WITH_ARENA(SC_05_faults_are_written_as_json),
        WITH_ARENA(SC_06_bad_schemas_are_refused_with_a_pointer),
        WITH_ARENA(SC_07_several_faults_of_a_schema_are_told_at_once),
        WITH_ARENA(SC_08_too_deep_a_schema_is_refused),
        WITH_ARENA(SC_09_too_many_subschemas_are_refused),
        WITH_ARENA(SC_10_too_long_a_chain_of_references_is_refused),
        WITH_ARENA(SC_11_an_exponential_schema_meets_the_step_limit),
        WITH_ARENA(SC_12_a_pattern_that_explodes_is_a_limit),
        WITH_ARENA(SC_13_many_slow_patterns_meet_the_time_limit),
        WITH_ARENA(SC_14_recursion_is_bounded_and_fits_a_small_stack),
        WITH_ARENA(SC_15_large_arrays_are_not_compared_pairwise),
        WITH_ARENA(SC_16_a_large_enum_is_looked_up),
        WITH_ARENA(SC_17_numbers_are_compared_exactly),
        WITH_ARENA(SC_18_formats_assert_only_if_asked),
        WITH_ARENA(SC_19_pointers_are_relative_to_the_value),
        WITH_ARENA(SC_20_no_memory_is_reported_wherever_it_ends),
        WITH_ARENA(SC_21_threads_share_a_schema),
        WITH_ARENA(SC_22_a_pattern_that_remembers_much_is_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
