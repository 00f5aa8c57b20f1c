/* tests/unit/test_json_schema.c - what the public suite does not ask: what faults say and in which
 * order, which schemas are refused and where. Bounds: test_json_schema_limits.c. */
#include "json_schema_rig.h"

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
        WITH_ARENA(SC_17_numbers_are_compared_exactly),
        WITH_ARENA(SC_18_formats_assert_only_if_asked),
        WITH_ARENA(SC_19_pointers_are_relative_to_the_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
