/* tests/unit/test_table_attributes.c - "attributes" of a definition: what is refused, and what
 * schemas follow. */
#include "base/clock.h"
#include "base/err.h"
#include "core/row_prepare.h"
#include "core/table.h"
#include "core/table_tools.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
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

static const struct tape_node *open_json(struct arena *a, struct str text)
{
    const struct tape_node *tape;
    struct wire_fault fault;
    char *copy = arena_zalloc(a, (size_t)text.n + JSON_PADDING_BYTES);
    memcpy(copy, text.p, text.n);
    if (tape_open((struct str){copy, text.n}, a, &tape, &fault) < 0)
        fail_msg("not JSON: " STR_FMT, STR_ARG(text));
    return tape;
}

/* ---- What is refused ------------------------------------------------------------------------ */

static const char properties[] =
    "\"id\":{\"type\":\"integer\"},\"name\":{\"type\":\"string\",\"minLength\":3},"
    "\"made\":{\"type\":\"string\",\"format\":\"date-time\"},\"ms\":{\"type\":\"integer\"},"
    "\"must\":{\"type\":\"string\"},\"mixed\":{\"type\":[\"integer\",\"string\"]},"
    "\"short\":{\"type\":\"string\",\"maxLength\":4},\"small\":{\"type\":\"integer\",\"maximum\":"
    "9}";

static int parse(struct arena *a, const char *attributes, struct table *ret,
                 struct schema_faults *faults)
{
    return table_parse(arena_printf(a,
                                    "{\"primaryKey\":\"id\",\"attributes\":%s,\"schema\":{"
                                    "\"type\":\"object\",\"properties\":{%s},\"required\":["
                                    "\"must\"]}}",
                                    attributes, properties),
                       a, ret, faults);
}

static const struct {
    const char *attributes, *pointer; /* NULL: fine */
} cases[] = {
    {"{}", NULL},
    {"{\"name\":{}}", NULL},
    {"[]", "/attributes"},
    {"{\"nobody\":{\"hidden\":true}}", "/attributes/nobody"},
    {"{\"name\":{\"hiden\":true}}", "/attributes/name/hiden"},
    {"{\"name\":{\"hidden\":1}}", "/attributes/name/hidden"},
    {"{\"name\":{\"nullable\":\"yes\"}}", "/attributes/name/nullable"},
    {"{\"name\":{\"hidden\":true,\"nullable\":true}}", NULL},
    {"{\"id\":{\"hidden\":true}}", "/attributes/id/hidden"},
    {"{\"id\":{\"hidden\":false}}", NULL},
    {"{\"id\":{\"nullable\":true}}", "/attributes/id/nullable"},
    {"{\"id\":{\"role\":\"version\"}}", "/attributes/id/role"},
    {"{\"id\":{\"default\":\"now\"}}", NULL},
    {"{\"must\":{\"hidden\":true}}", "/attributes/must/hidden"},
    {"{\"must\":{\"hidden\":true,\"default\":\"uuid\"}}", NULL},
    {"{\"ms\":{\"role\":\"author\"}}", "/attributes/ms/role"},
    {"{\"ms\":{\"role\":5}}", "/attributes/ms/role"},
    {"{\"ms\":{\"role\":\"version\"}}", NULL},
    {"{\"ms\":{\"role\":\"createdTime\"}}", NULL},
    {"{\"made\":{\"role\":\"updatedTime\",\"hidden\":true}}", NULL},
    {"{\"made\":{\"role\":\"version\"}}", "/attributes/made/role"},
    {"{\"mixed\":{\"role\":\"createdTime\"}}", "/attributes/mixed/role"},
    {"{\"must\":{\"role\":\"createdTime\"}}", "/attributes/must/role"},
    {"{\"short\":{\"role\":\"createdTime\"}}", "/attributes/short/role"},
    {"{\"small\":{\"role\":\"updatedTime\"}}", "/attributes/small/role"},
    {"{\"ms\":{\"role\":\"version\",\"nullable\":true}}", "/attributes/ms/nullable"},
    {"{\"ms\":{\"role\":\"createdTime\",\"default\":\"now\"}}", "/attributes/ms/default"},
    {"{\"ms\":{\"role\":\"createdTime\"},\"made\":{\"role\":\"createdTime\"}}",
     "/attributes/made/role"},
    {"{\"ms\":{\"role\":\"createdTime\"},\"made\":{\"role\":\"updatedTime\"}}", NULL},
    {"{\"name\":{\"default\":\"never\"}}", "/attributes/name/default"},
    {"{\"name\":{\"default\":5}}", "/attributes/name/default"},
    {"{\"name\":{\"default\":{}}}", "/attributes/name/default/value"},
    {"{\"name\":{\"default\":{\"value\":1,\"x\":2}}}", "/attributes/name/default/x"},
    {"{\"name\":{\"default\":{\"value\":\"abc\"}}}", NULL},
    {"{\"name\":{\"default\":{\"value\":\"ab\"}}}", "/attributes/name/default"},
    {"{\"name\":{\"default\":{\"value\":null}}}", "/attributes/name/default"},
    {"{\"name\":{\"default\":{\"value\":null},\"nullable\":true}}", NULL},
    {"{\"short\":{\"default\":\"uuid\"}}", "/attributes/short/default"},
    {"{\"ms\":{\"default\":\"uuid\"}}", "/attributes/ms/default"},
    {"{\"ms\":{\"default\":\"today\"}}", "/attributes/ms/default"},
    {"{\"ms\":{\"default\":\"now\"}}", NULL},
    {"{\"made\":{\"default\":\"now\"}}", NULL},
    {"{\"made\":{\"default\":\"today\"}}", "/attributes/made/default"},
    {"{\"name\":{\"default\":\"today\"}}", NULL},
};

static void definitions_of_attributes_are_checked(void **state)
{
    for (size_t i = 0; i < N(cases); i++) {
        struct table t;
        struct schema_faults faults = {0};
        int err = parse(*state, cases[i].attributes, &t, &faults);
        const char *wanted = cases[i].pointer;
        if (err != (wanted ? ERR_PARAMS : 0) || (wanted && strcmp(faults.v[0].pointer, wanted)) ||
            (wanted && (!faults.v[0].keyword || !faults.v[0].expected[0])))
            fail_msg("%s: %d at %s %s, expected %s", cases[i].attributes, err, faults.v[0].pointer,
                     faults.n ? faults.v[0].keyword : "", faults.v[0].expected);
    }
}

/* ---- What follows --------------------------------------------------------------------------- */

#define FULL                                                                                       \
    "{\"primaryKey\":\"id\",\"attributes\":{\"id\":{\"default\":\"uuid\"},\"secret\":{\"hidden\":" \
    "true,\"default\":{\"value\":\"s\"}},\"note\":{\"nullable\":true},\"kind\":{\"nullable\":"     \
    "true},\"odd\":{\"nullable\":true},\"day\":{\"default\":\"today\"},\"made\":{\"role\":"        \
    "\"createdTime\"},\"changed\":{\"role\":\"updatedTime\"},\"v\":{\"role\":\"version\"}},"       \
    "\"schema\":{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\"},\"secret\":{"    \
    "\"type\":\"string\"},\"note\":{\"type\":\"string\"},\"kind\":{\"enum\":[\"a\",\"b\"]},"       \
    "\"odd\":{\"anyOf\":[{\"const\":1},{\"const\":\"x\"}]},\"day\":{\"type\":\"string\","          \
    "\"format\":\"date\"},\"made\":{\"type\":\"string\",\"format\":\"date-time\"},\"changed\":{"   \
    "\"type\":\"integer\"},\"v\":{\"type\":\"integer\"},\"any\":true},\"required\":[\"secret\","   \
    "\"day\"],\"dependentRequired\":{\"note\":[\"secret\"]}}}"

static struct table full(struct arena *a)
{
    struct table t;
    struct schema_faults faults;
    if (table_parse(STR(FULL), a, &t, &faults) < 0)
        fail_msg("%s %s", faults.v[0].pointer, faults.v[0].expected);
    t.database = STR("d");
    t.name = t.tool_name = STR("t");
    return t;
}

/* No tool's schema or text may name what is hidden. */
static void hidden_attributes_are_in_no_text_of_a_tool(void **state)
{
    struct table t = full(*state);
    struct search_limits limits = {100, 1000};
    for (int verb = 0; verb < VERB_N; verb++) {
        struct buf text = {0};
        verb_write_input((enum table_verb)verb, &t, &limits, &text);
        verb_write_output((enum table_verb)verb, &t, &text);
        buf_add_str(&text, verb_description((enum table_verb)verb, &t, *state));
        buf_add(&text, "", 1);
        assert_null(strstr(text.p, "secret"));
        buf_done(&text);
    }
}

static bool has_names(const struct tape_node *list, const char *const *names, uint32_t n)
{
    const struct tape_node *item = list + 1;
    if (list->n != n)
        return false;
    for (uint32_t i = 0; i < n; i++, item = tape_next(item))
        if (!str_eq(tape_str(item), str_of(names[i])))
            return false;
    return true;
}

static const struct tape_node *property(const struct tape_node *schema, const char *name)
{
    return tape_get(tape_get(schema, STR("properties")), str_of(name));
}

static void what_the_server_sets_and_fills_in_is_not_asked_for(void **state)
{
    static const char *const all[] = {"id", "secret", "day"}, *const shown[] = {"id", "day"};
    struct table t = full(*state);
    assert_true(has_names(tape_get(t.schema, STR("required")), all, 3));
    assert_true(has_names(tape_get(t.shown, STR("required")), shown, 2));
    assert_int_equal(tape_get(t.given, STR("required"))->n, 0);
    assert_non_null(property(t.schema, "secret"));
    assert_null(property(t.shown, "secret"));
    assert_non_null(property(t.shown, "made"));
    assert_non_null(property(t.shown, "v"));
    assert_null(property(t.given, "made"));
    assert_null(property(t.given, "changed"));
    assert_null(property(t.given, "v"));
    assert_non_null(property(t.given, "note"));
    assert_non_null(tape_get(t.schema, STR("dependentRequired")));
    assert_null(tape_get(t.shown, STR("dependentRequired")));
}

static void where_nothing_is_special_the_schemas_are_one(void **state)
{
    struct table t;
    struct schema_faults faults;
    assert_int_equal(parse(*state, "{\"name\":{\"nullable\":true}}", &t, &faults), 0);
    assert_ptr_equal(t.schema, t.shown);
    assert_ptr_equal(t.schema, t.given);
    assert_false(t.is_filled);
}

static bool fits(struct table *t, struct arena *a, const char *row)
{
    struct schema_faults faults;
    return table_check_row(t, open_json(a, str_of(row)), &faults) == 0;
}

#define ROW(rest) "{\"id\":\"i\",\"secret\":\"s\",\"day\":\"2000-01-01\"" rest "}"

static void nullable_attributes_may_be_null_and_nothing_else_new(void **state)
{
    struct table t = full(*state);
    assert_true(fits(&t, *state, ROW("")));
    assert_true(fits(&t, *state, ROW(",\"note\":null,\"kind\":null,\"odd\":null")));
    assert_true(fits(&t, *state, ROW(",\"note\":\"n\",\"kind\":\"a\",\"odd\":\"x\"")));
    assert_false(fits(&t, *state, ROW(",\"note\":1")));
    assert_false(fits(&t, *state, ROW(",\"kind\":\"c\"")));
    assert_false(fits(&t, *state, ROW(",\"odd\":2")));
    assert_false(fits(&t, *state, "{\"id\":\"i\",\"secret\":null,\"day\":\"2000-01-01\"}"));
    assert_int_equal(filter_find_column(&t.columns, STR("note"))->type, FILTER_STRING);
}

static void a_version_is_never_stored(void **state)
{
    struct table t = full(*state);
    assert_false(fits(&t, *state, ROW(",\"v\":1")));
    assert_true(fits(&t, *state, ROW(",\"w\":1")));
}

static void filters_name_neither_what_is_hidden_nor_the_version(void **state)
{
    struct table t = full(*state);
    assert_null(filter_find_column(&t.columns, STR("secret")));
    assert_null(filter_find_column(&t.columns, STR("v")));
    assert_non_null(filter_find_column(&t.columns, STR("made")));
    assert_non_null(filter_find_column(&t.index_columns, STR("secret")));
    assert_null(filter_find_column(&t.index_columns, STR("v")));
}

static void attributes_of_boolean_schemas_are_shown_as_objects(void **state)
{
    struct table t = full(*state);
    assert_int_equal(property(t.shown, "any")->kind, TAPE_OBJECT);
    assert_int_equal(property(t.given, "any")->kind, TAPE_OBJECT);
}

/* ---- Rows ----------------------------------------------------------------------------------- */

static struct str text(struct arena *a, const struct tape_node *row)
{
    struct buf out = {0};
    tape_write(row, &out);
    struct str s = arena_buf(a, &out);
    buf_done(&out);
    return s;
}

static struct str value(const struct tape_node *row, const char *name)
{
    const struct tape_node *v = tape_get(row, str_of(name));
    assert_non_null(v);
    return tape_str(v);
}

static void an_import_is_filled_and_keeps_what_it_has(void **state)
{
    struct table t = full(*state);
    struct schema_faults faults = {0};
    const struct tape_node *row;
    struct str key;
    int64_t before = clock_wall_ms();
    assert_int_equal(table_prepare_row(&t, open_json(*state, STR("{\"note\":\"n\"}")), *state, &row,
                                       &key, &faults),
                     0);
    assert_int_equal(key.n, 36);
    assert_true(str_eq(key, value(row, "id")));
    assert_true(value(row, "id").p[14] == '4' && strchr("89ab", value(row, "id").p[19]));
    assert_true(str_eq(value(row, "secret"), STR("s")));
    assert_int_equal(value(row, "day").n, strlen("2000-01-01"));
    assert_int_equal(value(row, "made").n, strlen("2000-01-01T00:00:00.000Z"));
    assert_true(tape_get(row, STR("changed"))->v.i >= before);
    assert_null(tape_get(row, STR("v")));

    struct str given = STR(ROW(",\"made\":\"1999-01-01T00:00:00Z\",\"changed\":5"));
    assert_int_equal(table_prepare_row(&t, open_json(*state, given), *state, &row, &key, &faults),
                     0);
    assert_true(str_eq(text(*state, row), given));
}

static void an_import_with_a_version_or_a_bad_row_is_refused(void **state)
{
    static const char *const bad[][2] = {{ROW(",\"v\":1"), "/v"},
                                         {ROW(",\"kind\":5"), "/kind"},
                                         {"5", ""},
                                         {"{\"id\":\"\"}", "/id"}};
    struct table t = full(*state);
    for (size_t i = 0; i < N(bad); i++) {
        struct schema_faults faults = {0};
        const struct tape_node *row;
        struct str key;
        assert_int_equal(table_prepare_row(&t, open_json(*state, str_of(bad[i][0])), *state, &row,
                                           &key, &faults),
                         ERR_PARAMS);
        assert_string_equal(faults.v[0].pointer, bad[i][1]);
    }
}

/* Nothing is copied where nothing is added or hidden. */
static void plain_rows_are_taken_as_they_are(void **state)
{
    struct table t;
    struct schema_faults faults;
    const struct tape_node *row, *given = open_json(*state, STR("{\"id\":1,\"must\":\"m\"}"));
    struct str key;
    assert_int_equal(parse(*state, "{}", &t, &faults), 0);
    assert_int_equal(table_prepare_row(&t, given, *state, &row, &key, &faults), 0);
    assert_ptr_equal(row, given);
}

static void rows_are_written_without_what_is_hidden_and_with_their_version(void **state)
{
    static const char *const select[][2] = {
        {"[\"v\",\"note\"]", "{\"note\":\"n\",\"v\":7}"},
        {"[\"secret\"]", "{}"},
        {"[\"id\"]", "{\"id\":\"i\"}"},
        {"[\"v\"]", "{\"v\":7}"},
        {"[]", "{}"},
    };
    struct table t = full(*state);
    const struct tape_node *row = open_json(*state, STR(ROW(",\"note\":\"n\"")));
    struct buf out = {0};
    table_write_row(&t, row, 7, NULL, &out);
    assert_true(
        str_eq(buf_str(&out), STR("{\"id\":\"i\",\"day\":\"2000-01-01\",\"note\":\"n\",\"v\":7}")));
    for (size_t i = 0; i < N(select); i++) {
        buf_clear(&out);
        table_write_row(&t, row, 7, open_json(*state, str_of(select[i][0])), &out);
        assert_true(str_eq(buf_str(&out), str_of(select[i][1])));
    }
    buf_done(&out);
}

static void faults_do_not_tell_what_is_hidden(void **state)
{
    struct table t = full(*state);
    struct schema_faults faults = {.n = 3};
    strcpy(faults.v[0].pointer, "/secret");
    schema_fault_set(&faults.v[0], "required", "string");
    schema_fault_set(&faults.v[1], "dependentRequired", "secret");
    strcpy(faults.v[2].pointer, "/note");
    schema_fault_set(&faults.v[2], "type", "string");
    row_hide_faults(&t, &faults);
    for (int i = 0; i < 2; i++) {
        assert_string_equal(faults.v[i].pointer, "");
        assert_string_equal(faults.v[i].expected, "a row that the table allows");
    }
    assert_string_equal(faults.v[2].pointer, "/note");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(definitions_of_attributes_are_checked, start, stop),
        cmocka_unit_test_setup_teardown(hidden_attributes_are_in_no_text_of_a_tool, start, stop),
        cmocka_unit_test_setup_teardown(what_the_server_sets_and_fills_in_is_not_asked_for, start,
                                        stop),
        cmocka_unit_test_setup_teardown(where_nothing_is_special_the_schemas_are_one, start, stop),
        cmocka_unit_test_setup_teardown(nullable_attributes_may_be_null_and_nothing_else_new, start,
                                        stop),
        cmocka_unit_test_setup_teardown(a_version_is_never_stored, start, stop),
        cmocka_unit_test_setup_teardown(filters_name_neither_what_is_hidden_nor_the_version, start,
                                        stop),
        cmocka_unit_test_setup_teardown(attributes_of_boolean_schemas_are_shown_as_objects, start,
                                        stop),
        cmocka_unit_test_setup_teardown(an_import_is_filled_and_keeps_what_it_has, start, stop),
        cmocka_unit_test_setup_teardown(an_import_with_a_version_or_a_bad_row_is_refused, start,
                                        stop),
        cmocka_unit_test_setup_teardown(plain_rows_are_taken_as_they_are, start, stop),
        cmocka_unit_test_setup_teardown(
            rows_are_written_without_what_is_hidden_and_with_their_version, start, stop),
        cmocka_unit_test_setup_teardown(faults_do_not_tell_what_is_hidden, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
