/* tests/unit/test_table_indexes.c - the indexes that a definition names: what is read, and what is
 * said of those that cannot be. */
#include "base/err.h"
#include "base/limits.h"
#include "core/table.h"
#include "core/table_indexes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#define N(array) (sizeof(array) / sizeof *(array))

static struct arena arena;

static int start(void **state)
{
    (void)state;
    arena_init(&arena, 0);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

#define SCHEMA                                                                           \
    "\"schema\":{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"integer\"},"     \
    "\"region\":{\"type\":[\"string\",\"null\"]},\"population\":{\"type\":\"integer\"}," \
    "\"area\":{\"type\":\"number\"},\"capital\":{\"type\":\"boolean\"},"                 \
    "\"date\":{\"type\":\"string\",\"format\":\"date\"},"                                \
    "\"seen\":{\"type\":\"string\",\"format\":\"date-time\"},"                           \
    "\"either\":{\"type\":[\"string\",\"integer\"]},\"tags\":{\"type\":\"array\"},"      \
    "\"address\":{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\"},"   \
    "\"post.code\":{\"type\":\"string\"},\"post code\":{\"type\":\"string\"}}}}}"

static int parse(const char *members, struct table *ret, struct schema_faults *faults)
{
    struct buf text = {0};
    buf_printf(&text, "{\"primaryKey\":\"id\",%s," SCHEMA "}", members);
    *faults = (struct schema_faults){0};
    int err = table_parse(buf_str(&text), &arena, ret, faults);
    buf_done(&text);
    return err;
}

static void check(const char *members, const char *wanted)
{
    struct table t;
    struct schema_faults faults;
    struct buf text = {0};
    if (parse(members, &t, &faults) < 0)
        fail_msg("%s: %s %s", members, faults.v[0].pointer, faults.v[0].expected);
    table_indexes_write(t.indexes, t.n_indexes, &text);
    if (!str_eq(buf_str(&text), str_of(wanted)))
        fail_msg("%s: " STR_FMT, members, STR_ARG(buf_str(&text)));
    buf_done(&text);
}

static void definitions_of_indexes_are_read(void **state)
{
    (void)state;
    check("\"title\":\"none\"", "[]");
    check("\"indexes\":[],\"indexed\":[]", "[]");
    check("\"indexed\":[\"region\",\"-population\"]",
          "[{\"name\":\"by_region\",\"on\":[\"region\"]},"
          "{\"name\":\"by_population\",\"on\":[\"-population\"]}]");
    check("\"indexes\":[{\"on\":[\"region\",\"-population\"],\"unique\":true}]",
          "[{\"name\":\"by_region_population\",\"on\":[\"region\",\"-population\"],"
          "\"unique\":true}]");
    check("\"indexes\":[{\"name\":\"a\",\"on\":[\"area\"]},{\"name\":\"b\",\"on\":[\"area\"],"
          "\"unique\":false}],\"indexed\":[\"area\"]",
          "[{\"name\":\"a\",\"on\":[\"area\"]},{\"name\":\"b\",\"on\":[\"area\"]},"
          "{\"name\":\"by_area\",\"on\":[\"area\"]}]");
}

static void nested_and_odd_names_are_paths(void **state)
{
    (void)state;
    check("\"indexes\":[{\"on\":[\"-address.city\",\"address.post code\"]}]",
          "[{\"name\":\"by_address_city_address_post_code\","
          "\"on\":[\"-address.city\",\"address.post code\"]}]");
    check("\"indexed\":[\"date\",\"address.\\\"post code\\\"\"]",
          "[{\"name\":\"by_date\",\"on\":[\"date\"]},"
          "{\"name\":\"by_address_post_code\",\"on\":[\"address.post code\"]}]");
}

static void types_follow_from_the_schema(void **state)
{
    (void)state;
    static const enum key_type types[] = {KEY_STRING,  KEY_INTEGER, KEY_NUMBER,
                                          KEY_BOOLEAN, KEY_STRING,  KEY_STRING};
    struct table t;
    struct schema_faults faults;
    assert_int_equal(parse("\"indexes\":[{\"on\":[\"region\",\"population\",\"area\",\"capital\","
                           "\"date\",\"-seen\"]}]",
                           &t, &faults),
                     0);
    assert_int_equal(t.n_indexes, 1);
    assert_int_equal(t.indexes[0].n_parts, N(types));
    for (size_t i = 0; i < N(types); i++) {
        assert_int_equal(t.indexes[0].parts[i].type, types[i]);
        assert_int_equal(t.indexes[0].parts[i].descending, i == 5);
    }
    assert_false(t.indexes[0].ready || t.indexes[0].unique);
    assert_int_equal(t.indexes[0].id, 0);
}

static void bad_indexes_name_the_place_and_what_was_expected(void **state)
{
    (void)state;
    static const char *const bad[][3] = {
        {"\"indexed\":[\"x\"]", "/indexed/0", "name"},
        {"\"indexed\":[\"region\",\"\"]", "/indexed/1", "name"},
        {"\"indexed\":[\"-\"]", "/indexed/0", "name"},
        {"\"indexed\":[\"tags\"]", "/indexed/0", "type"},
        {"\"indexed\":[\"address\"]", "/indexed/0", "type"},
        {"\"indexed\":[\"either\"]", "/indexed/0", "type"},
        {"\"indexed\":[\"region\",\"-region\"]", "/indexed/1", "duplicate"},
        {"\"indexed\":[\"address.post.code\"]", "/indexed/0", "name"},
        {"\"indexed\":[\"address.\\\"post.code\\\"\"]", "/indexed/0", "name"},
        {"\"indexed\":[5]", "/indexed/0", "type"},
        {"\"indexes\":{}", "/indexes", "type"},
        {"\"indexes\":[\"region\"]", "/indexes/0", "type"},
        {"\"indexes\":[{}]", "/indexes/0/on", "required"},
        {"\"indexes\":[{\"on\":[]}]", "/indexes/0/on", "minItems"},
        {"\"indexes\":[{\"on\":\"region\"}]", "/indexes/0/on", "type"},
        {"\"indexes\":[{\"on\":[\"region\"],\"colour\":1}]", "/indexes/0/colour",
         "additionalProperties"},
        {"\"indexes\":[{\"on\":[\"region\"],\"unique\":1}]", "/indexes/0/unique", "type"},
        {"\"indexes\":[{\"on\":[\"region\",\"no\"]}]", "/indexes/0/on/1", "name"},
        {"\"indexes\":[{\"on\":[\"region\",\"-tags\"]}]", "/indexes/0/on/1", "type"},
        {"\"indexes\":[{\"on\":[\"region\",\"area\",\"region\"]}]", "/indexes/0/on/2", "duplicate"},
        {"\"indexes\":[{\"name\":\"\",\"on\":[\"region\"]}]", "/indexes/0/name", "name"},
        {"\"indexes\":[{\"name\":\"a-b\",\"on\":[\"region\"]}]", "/indexes/0/name", "name"},
        {"\"indexes\":[{\"name\":\"a\",\"on\":[\"region\"]},{\"name\":\"a\",\"on\":[\"area\"]}]",
         "/indexes/1", "duplicate"},
        {"\"indexes\":[{\"on\":[\"region\"]}],\"indexed\":[\"region\"]", "/indexed/0", "duplicate"},
    };
    for (size_t i = 0; i < N(bad); i++) {
        struct table t;
        struct schema_faults faults;
        int err = parse(bad[i][0], &t, &faults);
        if (err != ERR_PARAMS || strcmp(faults.v[0].pointer, bad[i][1]) ||
            strcmp(faults.v[0].keyword, bad[i][2]) || strstr(faults.v[0].expected, "..."))
            fail_msg("%s: %d at %s, %s (%s)", bad[i][0], err, faults.v[0].pointer,
                     faults.v[0].keyword, faults.v[0].expected);
    }
}

/* A table whose definition has `n_parts` integer attributes and `n` indexes, each on all of them.
 */
static int parse_many(uint32_t n_parts, uint32_t n, struct table *ret, struct schema_faults *faults)
{
    struct buf on = {0}, text = {0};
    for (uint32_t i = 0; i < n_parts; i++)
        buf_printf(&on, "%s\"a%u\"", i ? "," : "", i);
    buf_add_char(&on, '\0');
    buf_add_lit(&text, "{\"primaryKey\":\"id\",\"indexes\":[");
    for (uint32_t i = 0; i < n; i++)
        buf_printf(&text, "%s{\"name\":\"i%u\",\"on\":[%s]}", i ? "," : "", i, on.p);
    buf_add_lit(&text, "],\"schema\":{\"type\":\"object\",\"properties\":{");
    for (uint32_t i = 0; i < n_parts; i++)
        buf_printf(&text, "\"a%u\":{\"type\":\"integer\"},", i);
    buf_add_lit(&text, "\"id\":{\"type\":\"integer\"}}}}");
    *faults = (struct schema_faults){0};
    int err = table_parse(buf_str(&text), &arena, ret, faults);
    buf_done(&on);
    buf_done(&text);
    return err;
}

static void an_index_has_at_most_INDEX_PARTS_MAX_attributes(void **state)
{
    (void)state;
    struct table t;
    struct schema_faults faults;
    assert_int_equal(parse_many(INDEX_PARTS_MAX, 1, &t, &faults), 0);
    assert_int_equal(t.indexes[0].n_parts, INDEX_PARTS_MAX);
    assert_int_equal(parse_many(INDEX_PARTS_MAX + 1, 1, &t, &faults), ERR_PARAMS);
    assert_string_equal(faults.v[0].pointer, "/indexes/0/on");
    assert_string_equal(faults.v[0].expected, "at most 8 attributes");
}

static void a_table_has_at_most_TABLE_INDEXES_MAX_indexes(void **state)
{
    (void)state;
    struct table t;
    struct schema_faults faults;
    assert_int_equal(parse_many(1, TABLE_INDEXES_MAX, &t, &faults), 0);
    assert_int_equal(t.n_indexes, TABLE_INDEXES_MAX);
    assert_int_equal(parse_many(1, TABLE_INDEXES_MAX + 1, &t, &faults), ERR_PARAMS);
    assert_string_equal(faults.v[0].pointer, "/indexes/16");
    assert_string_equal(faults.v[0].expected, "at most 16 indexes of a table");
}

static void a_copy_outlives_what_it_was_made_from(void **state)
{
    (void)state;
    struct arena kept;
    struct table t;
    struct schema_faults faults;
    struct buf before = {0}, after = {0};
    arena_init(&kept, 0);
    assert_int_equal(parse("\"indexed\":[\"-address.city\",\"seen\"]", &t, &faults), 0);
    table_indexes_write(t.indexes, t.n_indexes, &before);
    const struct store_index *copy = table_indexes_copy(t.indexes, t.n_indexes, &kept);
    arena_reset(&arena);
    table_indexes_write(copy, 2, &after);
    assert_true(str_eq(buf_str(&before), buf_str(&after)));
    buf_done(&before);
    buf_done(&after);
    arena_done(&kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(definitions_of_indexes_are_read, start, stop),
        cmocka_unit_test_setup_teardown(nested_and_odd_names_are_paths, start, stop),
        cmocka_unit_test_setup_teardown(types_follow_from_the_schema, start, stop),
        cmocka_unit_test_setup_teardown(bad_indexes_name_the_place_and_what_was_expected, start,
                                        stop),
        cmocka_unit_test_setup_teardown(an_index_has_at_most_INDEX_PARTS_MAX_attributes, start,
                                        stop),
        cmocka_unit_test_setup_teardown(a_table_has_at_most_TABLE_INDEXES_MAX_indexes, start, stop),
        cmocka_unit_test_setup_teardown(a_copy_outlives_what_it_was_made_from, start, stop),
    };
    return cmocka_run_group_tests_name("table_indexes", tests, NULL, NULL);
}
