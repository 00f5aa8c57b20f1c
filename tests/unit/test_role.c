/* tests/unit/test_role.c - trees of permissions: what is refused and where, and what they allow. */
#include "base/err.h"
#include "core/role.h"

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

static const struct role *role_of(struct arena *a, const char *text)
{
    const struct role *role;
    struct schema_faults faults = {0};
    if (role_parse(str_of(text), a, &role, &faults) != 0)
        fail_msg("%s: %s: %s", text, faults.v[0].pointer, faults.v[0].expected);
    return role;
}

/* ---- What is refused ------------------------------------------------------------------------ */

#define IN_GEO(table) "{\"databases\":{\"geo\":{\"tables\":{\"cities\":" table "}}}}"
#define LISTING(list) IN_GEO("{\"read\":true,\"attribute_permissions\":" list "}")
#define AT_CITIES     "/databases/geo/tables/cities"

static const struct {
    const char *text;
    int err;
    const char *pointer, *keyword;
} refused[] = {
    {"", ERR_PARSE, "", NULL},
    {"{", ERR_PARSE, "", NULL},
    {"[]", ERR_PARAMS, "", "type"},
    {"null", ERR_PARAMS, "", "type"},
    {"\"super_user\"", ERR_PARAMS, "", "type"},
    {"{\"super_user\":1}", ERR_PARAMS, "/super_user", "type"},
    {"{\"super_user\":\"true\"}", ERR_PARAMS, "/super_user", "type"},
    {"{\"superUser\":true}", ERR_PARAMS, "/superUser", NULL},
    {"{\"super_user\":false,\"super_user\":true}", ERR_PARAMS, "/super_user", NULL},
    {"{\"databases\":[]}", ERR_PARAMS, "/databases", "type"},
    {"{\"databases\":{\"geo\":true}}", ERR_PARAMS, "/databases/geo", "type"},
    {"{\"databases\":{\"g*\":{}}}", ERR_PARAMS, "/databases/g*", "propertyNames"},
    {"{\"databases\":{\"\":{}}}", ERR_PARAMS, "/databases/", "propertyNames"},
    {"{\"databases\":{\"geo\":{\"read\":true}}}", ERR_PARAMS, "/databases/geo/read", NULL},
    {"{\"databases\":{\"geo\":{\"describe\":null}}}", ERR_PARAMS, "/databases/geo/describe",
     "type"},
    {"{\"databases\":{\"geo\":{\"tables\":{\"**\":{}}}}}", ERR_PARAMS, "/databases/geo/tables/**",
     NULL},
    {IN_GEO("\"read\""), ERR_PARAMS, AT_CITIES, "type"},
    {IN_GEO("{\"reed\":true}"), ERR_PARAMS, AT_CITIES "/reed", NULL},
    {IN_GEO("{\"read\":\"yes\"}"), ERR_PARAMS, AT_CITIES "/read", "type"},
    {IN_GEO("{\"read\":true,\"read\":false}"), ERR_PARAMS, AT_CITIES "/read", NULL},
    {LISTING("{}"), ERR_PARAMS, AT_CITIES "/attribute_permissions", "type"},
    {LISTING("[{}]"), ERR_PARAMS, AT_CITIES "/attribute_permissions/0/attribute_name", "required"},
    {LISTING("[{\"attribute_name\":\"*\"}]"), ERR_PARAMS,
     AT_CITIES "/attribute_permissions/0/attribute_name", "pattern"},
    {LISTING("[{\"attribute_name\":\"mayor.name\"}]"), ERR_PARAMS,
     AT_CITIES "/attribute_permissions/0/attribute_name", "pattern"},
    {LISTING("[{\"attribute_name\":\"a\",\"delete\":true}]"), ERR_PARAMS,
     AT_CITIES "/attribute_permissions/0/delete", NULL},
    {LISTING("[{\"attribute_name\":\"a\"},{\"attribute_name\":\"b\"},{\"attribute_name\":\"a\","
             "\"read\":true}]"),
     ERR_PARAMS, AT_CITIES "/attribute_permissions/2/attribute_name", "uniqueItems"},
    {"{\"operations\":\"*\"}", ERR_PARAMS, "/operations", "type"},
    {"{\"operations\":[\"\"]}", ERR_PARAMS, "/operations/0", "minLength"},
    {"{\"operations\":[\"a\",7]}", ERR_PARAMS, "/operations/1", "type"},
    {"{\"tools\":{}}", ERR_PARAMS, "/tools", "type"},
    {"{\"prompts\":[[]]}", ERR_PARAMS, "/prompts/0", "type"},
    {"{\"resources\":null}", ERR_PARAMS, "/resources", "type"},
    {"{\"components\":[true]}", ERR_PARAMS, "/components/0", "type"},
};

static void what_is_no_tree_is_refused_with_its_place(void **state)
{
    for (size_t i = 0; i < N(refused); i++) {
        const struct role *role = NULL;
        struct schema_faults faults = {0};
        int err = role_parse(str_of(refused[i].text), *state, &role, &faults);
        if (err != refused[i].err || role || faults.n == 0 || !faults.v[0].expected[0] ||
            strcmp(faults.v[0].pointer, refused[i].pointer) != 0 ||
            (refused[i].keyword && strcmp(faults.v[0].keyword, refused[i].keyword) != 0))
            fail_msg("%s: %d at '%s': %s: %s", refused[i].text, err, faults.v[0].pointer,
                     faults.v[0].keyword, faults.v[0].expected);
    }
}

static void a_tree_as_deep_as_JSON_DEPTH_MAX_is_refused_not_followed(void **state)
{
    struct buf text = {0};
    const struct role *role = NULL;
    struct schema_faults faults = {0};
    for (int i = 0; i < 5000; i++)
        buf_add_lit(&text, "{\"databases\":");
    assert_int_equal(role_parse(buf_str(&text), *state, &role, &faults), ERR_PARSE);
    assert_null(role);
    buf_done(&text);
}

/* `bytes` of text: an allowed tree with spaces behind it. */
static int parse_long(struct arena *a, size_t bytes, struct schema_faults *faults)
{
    const struct role *role;
    struct buf text = {0};
    buf_add_lit(&text, "{}");
    while (text.n < bytes)
        buf_add_char(&text, ' ');
    int err = role_parse(buf_str(&text), a, &role, faults);
    buf_done(&text);
    return err;
}

static void a_tree_of_ACCESS_RECORD_BYTES_is_read_and_no_longer_one(void **state)
{
    struct schema_faults faults = {0};
    assert_int_equal(parse_long(*state, ACCESS_RECORD_BYTES, &faults), 0);
    assert_int_equal(parse_long(*state, ACCESS_RECORD_BYTES + 1, &faults), ERR_PARAMS);
    assert_string_equal(faults.v[0].keyword, "length");
}

static void a_name_is_at_most_ACCESS_NAME_BYTES(void **state)
{
    const struct role *role;
    struct schema_faults faults = {0};
    for (int more = 0; more < 2; more++) {
        struct str text =
            arena_printf(*state, "{\"tools\":[\"%0*d\"]}", ACCESS_NAME_BYTES + more, 0);
        assert_int_equal(role_parse(text, *state, &role, &faults), more ? ERR_PARAMS : 0);
    }
}

static void a_table_lists_ROLE_ATTRIBUTES_MAX_attributes(void **state)
{
    struct buf text = {0};
    const struct role *role;
    struct schema_faults faults = {0};
    buf_add_lit(&text, "{\"databases\":{\"d\":{\"tables\":{\"t\":{\"read\":true,"
                       "\"attribute_permissions\":[");
    for (int i = 0; i < ROLE_ATTRIBUTES_MAX; i++)
        buf_printf(&text, "%s{\"attribute_name\":\"a%d\"}", i ? "," : "", i);
    buf_add_lit(&text, "]}}}}}");
    assert_int_equal(role_parse(buf_str(&text), *state, &role, &faults), 0);
    assert_false(role_may_attribute(role, STR("d"), STR("t"), STR("a999"), MAY_READ));
    assert_true(role_may_attribute(role, STR("d"), STR("t"), STR("a1000"), MAY_READ));
    assert_int_equal(role_each_attribute(role, STR("d"), STR("t"), NULL, NULL),
                     ROLE_ATTRIBUTES_MAX);
    text.n -= strlen("]}}}}}");
    buf_add_lit(&text, ",{\"attribute_name\":\"b\"}]}}}}}");
    assert_int_equal(role_parse(buf_str(&text), *state, &role, &faults), ERR_PARAMS);
    assert_string_equal(faults.v[0].keyword, "maxItems");
    buf_done(&text);
}

/* ---- What they allow ------------------------------------------------------------------------ */

static const char reader[] =
    "{\"databases\":{\"geo\":{\"tables\":{\"cities\":{\"read\":true,\"attribute_permissions\":["
    "{\"attribute_name\":\"mayor\"},{\"attribute_name\":\"note\",\"read\":true,\"insert\":true}]},"
    "\"rivers\":{\"describe\":true,\"read\":false},\"lakes\":{}}}}}";
static const char writer[] =
    "{\"databases\":{\"geo\":{\"describe\":true,\"tables\":{\"cities\":{\"insert\":true,\"update\":"
    "true,\"attribute_permissions\":[{\"attribute_name\":\"mayor\",\"insert\":true}]},"
    "\"*\":{\"delete\":true}}}}}";
static const char wild[] = "{\"databases\":{\"*\":{\"tables\":{\"*\":{\"read\":true},\"keys\":{}}},"
                           "\"hr\":{}}}";

/* Of describe, read, insert, update, delete: a letter where it is allowed, else a dot. */
static void write_grants(const struct role *role, const char *database, const char *table,
                         const char *attribute, char *ret)
{
    static const char letters[] = "driux";
    for (enum permission p = 0; p < PERMISSIONS; p++) {
        bool may = attribute ? role_may_attribute(role, str_of(database), str_of(table),
                                                  str_of(attribute), p)
                             : role_may_table(role, str_of(database), str_of(table), p);
        ret[p] = may ? letters[p] : '.';
    }
    ret[PERMISSIONS] = '\0';
}

static const struct {
    const char *text, *database, *table, *attribute, *grants;
} allowed[] = {
    {"{}", "geo", "cities", NULL, "....."},
    {"{\"super_user\":false}", "geo", "cities", NULL, "....."},
    {"{\"super_user\":true}", "geo", "cities", NULL, "driux"},
    {"{\"super_user\":true}", "geo", "cities", "mayor", "driux"},
    {"{\"super_user\":true,\"databases\":{}}", "geo", "cities", NULL, "driux"},
    {reader, "geo", "cities", NULL, "dr..."},
    {reader, "geo", "cities", "name", "dr..."},
    {reader, "geo", "cities", "mayor", "....."},
    {reader, "geo", "cities", "note", "dr..."},
    {reader, "geo", "rivers", NULL, "d...."},
    {reader, "geo", "rivers", "name", "d...."},
    {reader, "geo", "lakes", NULL, "....."},
    {reader, "geo", "seas", NULL, "....."},
    {reader, "hr", "cities", NULL, "....."},
    {reader, "ge", "cities", NULL, "....."},
    {reader, "geo", "citie", NULL, "....."},
    {reader, "geo", "Cities", NULL, "....."},
    {reader, "geo", "*", NULL, "....."},
    {reader, "", "", NULL, "....."},
    {writer, "geo", "cities", NULL, "d.iu."},
    {writer, "geo", "cities", "mayor", "..i.."},
    {writer, "geo", "cities", "name", "d.iu."},
    {writer, "geo", "lakes", NULL, "d...x"},
    {writer, "geo", "lakes", "mayor", "d...x"},
    {writer, "hr", "lakes", NULL, "....."},
    {wild, "geo", "cities", NULL, "dr..."},
    {wild, "geo", "keys", NULL, "....."},
    {wild, "hr", "cities", NULL, "....."},
};

static void a_tree_allows_what_it_says(void **state)
{
    for (size_t i = 0; i < N(allowed); i++) {
        char grants[PERMISSIONS + 1];
        write_grants(role_of(*state, allowed[i].text), allowed[i].database, allowed[i].table,
                     allowed[i].attribute, grants);
        if (strcmp(grants, allowed[i].grants) != 0)
            fail_msg("%s: %s.%s.%s: %s, not %s", allowed[i].text, allowed[i].database,
                     allowed[i].table, allowed[i].attribute ? allowed[i].attribute : "-", grants,
                     allowed[i].grants);
    }
}

static void operations_and_offers_go_by_globs(void **state)
{
    const struct role *role =
        role_of(*state, "{\"operations\":[\"describe_*\",\"get_job\"],\"tools\":[\"book_*\"],"
                        "\"prompts\":[\"*\"],\"resources\":[\"file:///docs/*\"],\"components\":["
                        "\"weather\"]}");
    assert_true(role_may_operation(role, STR("describe_all")));
    assert_true(role_may_operation(role, STR("get_job")));
    assert_false(role_may_operation(role, STR("get_jobs")));
    assert_false(role_may_operation(role, STR("drop_table")));
    assert_false(role_may_operation(role, STR("undescribe_all")));
    assert_true(role_may_offer(role, OFFER_TOOL, STR("books"), STR("book_find")));
    assert_false(role_may_offer(role, OFFER_TOOL, STR("books"), STR("find_book")));
    assert_true(role_may_offer(role, OFFER_TOOL, STR("weather"), STR("find_book")));
    assert_false(role_may_offer(role, OFFER_TOOL, STR("weathers"), STR("find_book")));
    assert_true(role_may_offer(role, OFFER_PROMPT, STR("books"), STR("any")));
    assert_true(role_may_offer(role, OFFER_RESOURCE, STR("books"), STR("file:///docs/a")));
    assert_false(role_may_offer(role, OFFER_RESOURCE, STR("books"), STR("file:///doc/a")));
    assert_false(role_may_offer(role_of(*state, "{}"), OFFER_PROMPT, STR(""), STR("")));
}

static void a_joined_role_may_what_one_of_its_roles_may(void **state)
{
    const struct role *both[] = {role_of(*state, reader), role_of(*state, writer)};
    const struct role *joined = role_join(both, 2, *state);
    char grants[PERMISSIONS + 1];
    write_grants(joined, "geo", "cities", NULL, grants);
    assert_string_equal(grants, "driu.");
    /* reading it is granted by neither, though each grants something of the table */
    write_grants(joined, "geo", "cities", "mayor", grants);
    assert_string_equal(grants, "..i..");
    write_grants(joined, "geo", "cities", "note", grants);
    assert_string_equal(grants, "driu.");
    assert_int_equal(role_each_attribute(joined, STR("geo"), STR("cities"), NULL, NULL), 3);
    assert_false(role_is_super(joined));
}

static void a_role_joined_of_none_may_nothing_and_of_a_super_user_everything(void **state)
{
    const struct role *none = role_join(NULL, 0, *state);
    const struct role *with[] = {none, role_super()};
    assert_false(role_is_super(none));
    assert_false(role_may_table(none, STR("geo"), STR("cities"), MAY_DESCRIBE));
    assert_false(role_may_operation(none, STR("describe_all")));
    const struct role *all = role_join(with, 2, *state);
    assert_true(role_is_super(all));
    assert_true(role_may_attribute(all, STR("a"), STR("b"), STR("c"), MAY_UPDATE));
    assert_true(role_may_offer(all, OFFER_TOOL, STR("a"), STR("b")));
    assert_true(str_eq(role_text(all), role_text(role_super())));
    assert_false(str_eq(role_text(none), role_text(role_super())));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_no_tree_is_refused_with_its_place),
        cmocka_unit_test(a_tree_as_deep_as_JSON_DEPTH_MAX_is_refused_not_followed),
        cmocka_unit_test(a_tree_of_ACCESS_RECORD_BYTES_is_read_and_no_longer_one),
        cmocka_unit_test(a_name_is_at_most_ACCESS_NAME_BYTES),
        cmocka_unit_test(a_table_lists_ROLE_ATTRIBUTES_MAX_attributes),
        cmocka_unit_test(a_tree_allows_what_it_says),
        cmocka_unit_test(operations_and_offers_go_by_globs),
        cmocka_unit_test(a_joined_role_may_what_one_of_its_roles_may),
        cmocka_unit_test(a_role_joined_of_none_may_nothing_and_of_a_super_user_everything),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("role", tests, start, stop);
}
