/* tests/unit/test_json_schema_limits.c - every bound of the JSON Schema validator, of schemas and
 * of values, and what it does without memory and with several threads. */
#include "json_schema_rig.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ARENA(SC_08_too_deep_a_schema_is_refused),
        WITH_ARENA(SC_09_too_many_subschemas_are_refused),
        WITH_ARENA(SC_10_too_long_a_chain_of_references_is_refused),
        WITH_ARENA(SC_11_an_exponential_schema_meets_the_step_limit),
        WITH_ARENA(SC_12_a_pattern_that_explodes_is_a_limit),
        WITH_ARENA(SC_13_many_slow_patterns_meet_the_time_limit),
        WITH_ARENA(SC_14_recursion_is_bounded_and_fits_a_small_stack),
        WITH_ARENA(SC_15_large_arrays_are_not_compared_pairwise),
        WITH_ARENA(SC_16_a_large_enum_is_looked_up),
        WITH_ARENA(SC_20_no_memory_is_reported_wherever_it_ends),
        WITH_ARENA(SC_21_threads_share_a_schema),
        WITH_ARENA(SC_22_a_pattern_that_remembers_much_is_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
