/* tests/unit/test_access_attributes.c - attributes that a role may not read, insert or update: they
 * do not exist for it, and what it writes leaves them as they were. */
#include "core/catalog.h"
#include "core/core_state.h"
#include "role_rig.h"

#define N(a) (sizeof(a) / sizeof *(a))
#define ROLE(grants, list)                                                                         \
    "{\"databases\":{\"geo\":{\"tables\":{\"cities\":{" grants ",\"attribute_permissions\":[" list \
    "]}}}},\"operations\":[\"*\"]}"
#define ALL        "\"read\":true,\"insert\":true,\"update\":true,\"delete\":true"
#define PURSELESS  ROLE(ALL, "{\"attribute_name\":\"purse\"}")
#define WRITE_ONLY ROLE(ALL, "{\"attribute_name\":\"purse\",\"insert\":true,\"update\":true}")
#define READ_ONLY                                                                               \
    ROLE(ALL,                                                                                   \
         "{\"attribute_name\":\"purse\",\"read\":true},{\"attribute_name\":\"extra\",\"read\":" \
         "true}")

/* ---- Reading -------------------------------------------------------------------------------- */

/* With %s where the attribute stands. */
static const char *const naming[] = {
    "{\"where\":\"%s > 1\"}",     "{\"where\":\"name = 'x' and %s in (1, 2)\"}",
    "{\"where\":{\"%s\":77001}}", "{\"order_by\":[\"%s\"]}",
    "{\"order_by\":[\"-%s\"]}",   "{\"where\":\"%s = 1\",\"total\":true}",
};

static void ask_both(const char *tool, const char *form)
{
    char one[512], other[512];
    snprintf(one, sizeof one, form, "purse");
    snprintf(other, sizeof other, form, "qurse");
    rig_assert_alike(rig_call(tool, one), "purse", rig_call(tool, other), "qurse");
}

static void what_may_not_be_read_is_no_attribute_of_filters_and_orders(void **state)
{
    (void)state;
    rig_become("a", PURSELESS);
    for (size_t i = 0; i < N(naming); i++)
        ask_both("search_cities", naming[i]);
    ask_both("search_cities", "{\"select\":[\"%s\"]}");
    ask_both("get_cities", "{\"id\":\"aa\",\"%s\":1}");
    bench.profile = PROFILE_OPERATIONS;
    rig_become("a", PURSELESS);
    ask_both("explain_search", "{\"database\":\"geo\",\"table\":\"cities\",\"where\":\"%s = 1\"}");
}

/* Not as the nearest name to a misspelt one either. */
static void it_is_not_proposed(void **state)
{
    (void)state;
    rig_become("a", PURSELESS);
    assert_false(rig_has(rig_call("search_cities", "{\"where\":\"purs = 1\"}"), "purse"));
    rig_become("b", READ_ONLY);
    assert_true(rig_has(rig_call("search_cities", "{\"where\":\"purs = 1\"}"), "purse"));
}

static void it_is_not_in_rows_however_they_are_read(void **state)
{
    (void)state;
    rig_become("a", PURSELESS);
    struct str answers[] = {
        rig_call("get_cities", "{\"id\":\"aa\"}"),
        rig_call("search_cities", "{}"),
        rig_call("create_cities", "{\"code\":\"cc\",\"name\":\"Como\"}"),
        rig_call("update_cities", "{\"id\":\"aa\",\"changes\":{\"name\":\"Aix\"}}"),
        rig_ask("resources/read", "{\"uri\":\"db://geo/cities\"}"),
        rig_ask("resources/read", "{\"uri\":\"db://geo/cities/aa\"}"),
        rig_ask("resources/read", "{\"uri\":\"tenon://schema/geo/cities\"}"),
        rig_ask("resources/read", "{\"uri\":\"tenon://openapi\"}"),
        rig_ask("tools/list", "{}"),
    };
    for (size_t i = 0; i < N(answers); i++) {
        assert_true(rig_works(answers[i]));
        assert_false(rig_has(answers[i], "purse"));
        assert_false(rig_has(answers[i], "77001"));
        assert_true(rig_has(answers[i], "motto") || i == 2);
    }
}

static void the_structure_of_the_operator_is_shown_without_it(void **state)
{
    (void)state;
    bench.profile = PROFILE_OPERATIONS;
    rig_become("a", PURSELESS);
    struct str table = rig_call("describe_table", "{\"database\":\"geo\",\"table\":\"cities\"}");
    assert_true(rig_works(table) && rig_has(table, "by_name") && rig_has(table, "Towns"));
    assert_false(rig_has(table, "purse"));
    struct str all = rig_call("describe_all", "{}");
    assert_true(rig_has(all, "\"indexes\":1") && rig_has(all, "cities"));
    assert_false(rig_has(all, "rivers"));
}

/* ---- Writing -------------------------------------------------------------------------------- */

static const struct tape_node *row_of(const char *id)
{
    bench.role = NULL;
    bench.user[0] = '\0';
    bench_connect(&bench, "2025-06-18");
    char arguments[64];
    snprintf(arguments, sizeof arguments, "{\"id\":\"%s\"}", id);
    const struct tape_node *answer = open_json(&rig_arena, rig_call("get_cities", arguments));
    return tape_get(tape_get(answer, STR("result")), STR("structuredContent"));
}

static void expect_row(const char *id, const char *json)
{
    const struct tape_node *row = row_of(id), *wanted = open_json(&rig_arena, str_of(json));
    struct buf text = {0};
    tape_write(row, &text);
    if (!tape_equal(row, wanted))
        fail_msg(STR_FMT " is not %s", STR_ARG(buf_str(&text)), json);
    buf_done(&text);
}

static void what_may_not_be_written_is_refused_like_what_is_not_there(void **state)
{
    (void)state;
    rig_become("a", PURSELESS);
    struct str refused[] = {
        rig_call("create_cities", "{\"code\":\"cc\",\"name\":\"Como\",\"purse\":9}"),
        rig_call("update_cities", "{\"id\":\"aa\",\"changes\":{\"purse\":9}}"),
        rig_call("update_cities", "{\"id\":\"aa\",\"row\":{\"name\":\"A\",\"purse\":9}}"),
    };
    for (size_t i = 0; i < N(refused); i++) {
        assert_false(rig_works(refused[i]));
        assert_true(rig_has(refused[i], "no such member"));
    }
    /* the same that may be read, and one that the schema does not name */
    rig_become("b", READ_ONLY);
    assert_false(rig_works(rig_call("update_cities", "{\"id\":\"aa\",\"changes\":{\"purse\":9}}")));
    assert_false(rig_works(rig_call("update_cities", "{\"id\":\"aa\",\"changes\":{\"extra\":9}}")));
    assert_false(
        rig_works(rig_call("create_cities", "{\"code\":\"cc\",\"name\":\"C\",\"extra\":9}")));
    assert_true(rig_works(rig_call("update_cities", "{\"id\":\"aa\",\"changes\":{\"other\":9}}")));
    struct str list = rig_ask("tools/list", "{}");
    assert_int_equal(rig_count(list, "\"purse\":"), 4); /* outputs of get, search, create, update */
}

static void a_whole_row_keeps_what_it_cannot_say(void **state)
{
    (void)state;
    static const char *const roles[] = {PURSELESS, WRITE_ONLY, READ_ONLY};
    for (size_t i = 0; i < N(roles); i++) {
        rig_become("a", roles[i]);
        assert_true(
            rig_works(rig_call("update_cities", "{\"id\":\"aa\",\"row\":{\"name\":\"New\"}}")));
        expect_row("aa", "{\"code\":\"aa\",\"name\":\"New\",\"purse\":77001}");
    }
    rig_become("a", READ_ONLY);
    assert_true(rig_works(rig_call("update_cities", "{\"id\":\"bb\",\"row\":{\"name\":\"New\"}}")));
    expect_row("bb", "{\"code\":\"bb\",\"name\":\"New\",\"purse\":77002,\"extra\":\"Sideways\"}");
}

static void what_may_only_be_written_is_never_shown(void **state)
{
    (void)state;
    rig_become("a", WRITE_ONLY);
    struct str answer =
        rig_call("create_cities", "{\"code\":\"cc\",\"name\":\"Como\",\"purse\":777}");
    assert_true(rig_works(answer));
    assert_false(rig_has(answer, "777"));
    answer = rig_call("update_cities", "{\"id\":\"cc\",\"changes\":{\"purse\":778}}");
    assert_true(rig_works(answer));
    assert_false(rig_has(answer, "778"));
    struct str list = rig_ask("tools/list", "{}");
    assert_int_equal(rig_count(list, "\"purse\":"), 3); /* of create, and of update two */
    ask_both("search_cities", "{\"where\":\"%s = 1\"}");
    expect_row("cc", "{\"code\":\"cc\",\"name\":\"Como\",\"purse\":778}");
}

static void a_unique_index_does_not_tell_of_it(void **state)
{
    (void)state;
    rig_become("a", WRITE_ONLY);
    struct str answer =
        rig_call("create_cities", "{\"code\":\"cc\",\"name\":\"Como\",\"purse\":77001}");
    assert_false(rig_works(answer));
    assert_false(rig_has(answer, "purse") || rig_has(answer, "77001") || rig_has(answer, "aa"));
}

/* Its own input is told by its name; the row as a whole is not. */
static void faults_do_not_tell_of_it(void **state)
{
    (void)state;
    rig_become("a", WRITE_ONLY);
    assert_true(rig_has(rig_call("create_cities", "{\"code\":\"c\",\"name\":\"C\",\"purse\":1}"),
                        "/params/arguments/purse"));
    bench_table(
        &bench, "geo", "cities",
        "{\"primaryKey\":\"code\",\"schema\":{\"type\":\"object\",\"properties\":{\"code\":{"
        "\"type\":\"string\"},\"name\":{\"type\":\"string\"},\"purse\":{\"type\":\"integer\","
        "\"minimum\":90000}},\"dependentRequired\":{\"name\":[\"purse\"]}}}");
    rig_become("b", PURSELESS);
    struct str answers[] = {
        rig_call("create_cities", "{\"code\":\"cc\",\"name\":\"Como\"}"),
        rig_call("update_cities", "{\"id\":\"aa\",\"changes\":{\"name\":\"Aix\"}}"),
    };
    for (size_t i = 0; i < N(answers); i++) {
        assert_false(rig_works(answers[i]));
        assert_false(rig_has(answers[i], "purse") || rig_has(answers[i], "90000"));
    }
}

static void who_may_not_give_what_rows_must_have_creates_none(void **state)
{
    (void)state;
    rig_become("a", ROLE(ALL, "{\"attribute_name\":\"name\",\"read\":true,\"update\":true}"));
    struct str list = rig_ask("tools/list", "{}");
    assert_false(rig_has(list, "create_cities"));
    assert_true(rig_has(list, "update_cities"));
    rig_assert_alike(rig_call("create_cities", "{}"), "create_cities",
                     rig_call("create_nothing", "{}"), "create_nothing");
}

/* ---- Definitions that others refer to ------------------------------------------------------- */

static void shared_definitions_of_what_is_unread_are_not_shown(void **state)
{
    (void)state;
    bench_table(
        &bench, "geo", "cities",
        "{\"primaryKey\":\"code\",\"schema\":{\"type\":\"object\",\"properties\":{\"code\":{"
        "\"type\":\"string\"},\"name\":{\"$ref\":\"#/$defs/label\"},\"purse\":{\"$ref\":"
        "\"#/$defs/coins\"}},\"$defs\":{\"coins\":{\"type\":\"object\",\"properties\":{"
        "\"gold\":{\"$ref\":\"#/$defs/weight\"}}},\"weight\":{\"type\":\"integer\"},"
        "\"label\":{\"$ref\":\"#/$defs/short~1text\"},\"short/text\":{\"type\":\"string\"}}}"
        "}");
    rig_become("a", PURSELESS);
    struct str answers[] = {
        rig_ask("tools/list", "{}"),
        rig_ask("resources/read", "{\"uri\":\"tenon://schema/geo/cities\"}"),
    };
    for (size_t i = 0; i < N(answers); i++) {
        assert_true(rig_has(answers[i], "label") && rig_has(answers[i], "short/text"));
        assert_false(rig_has(answers[i], "coins") || rig_has(answers[i], "weight"));
    }
    assert_true(rig_works(rig_call("create_cities", "{\"code\":\"dd\",\"name\":\"Delft\"}")));
}

/* ---- Bytes ---------------------------------------------------------------------------------- */

static void what_is_binary_is_no_part_of_the_resource_either(void **state)
{
    (void)state;
    bench_table(
        &bench, "geo", "pics",
        "{\"primaryKey\":\"code\",\"schema\":{\"type\":\"object\",\"properties\":{\"code\":{"
        "\"type\":\"string\"},\"name\":{\"type\":\"string\"},\"purse\":{\"type\":\"string\","
        "\"contentEncoding\":\"base64\"}}}}");
    rig_row("create_pics", "{\"code\":\"pic\",\"name\":\"P\",\"purse\":\"aGVsbG8=\"}");
    assert_true(rig_has(rig_ask("resources/read", "{\"uri\":\"db://geo/pics/pic\"}"), "#purse"));
    rig_become("a", "{\"databases\":{\"geo\":{\"tables\":{\"pics\":{\"read\":true,"
                    "\"attribute_permissions\":[{\"attribute_name\":\"purse\"}]}}}}}");
    struct str row = rig_ask("resources/read", "{\"uri\":\"db://geo/pics/pic\"}");
    assert_true(rig_works(row));
    assert_false(rig_has(row, "purse") || rig_has(row, "aGVsbG8"));
    rig_assert_alike(rig_ask("resources/read", "{\"uri\":\"db://geo/pics/pic#purse\"}"), "purse",
                     rig_ask("resources/read", "{\"uri\":\"db://geo/pics/pic#qurse\"}"), "qurse");
}

/* ---- Several roles -------------------------------------------------------------------------- */

/* Each grants what its own list leaves; what neither grants is not there. */
static void roles_together_allow_what_one_of_them_does(void **state)
{
    (void)state;
    rig_become_both(
        "a", ROLE("\"read\":true", "{\"attribute_name\":\"purse\"},{\"attribute_name\":\"motto\"}"),
        ROLE("\"read\":true,\"update\":true",
             "{\"attribute_name\":\"purse\",\"update\":true},{\"attribute_name\":"
             "\"motto\",\"read\":true}"));
    struct str row = rig_call("get_cities", "{\"id\":\"aa\"}");
    assert_true(rig_has(row, "Onwards"));
    assert_false(rig_has(row, "purse"));
    assert_true(rig_works(rig_call("update_cities", "{\"id\":\"aa\",\"changes\":{\"purse\":9}}")));
    assert_false(rig_works(rig_call("update_cities", "{\"id\":\"aa\",\"changes\":{\"motto\":1}}")));
    assert_false(rig_has(rig_ask("tools/list", "{}"), "create_cities"));
    ask_both("search_cities", "{\"where\":\"%s = 9\"}");
}

/* Of what the schema does not name, rows have it or not; schemas of tools stay as they are. */
static void an_attribute_that_only_roles_name_is_in_no_schema(void **state)
{
    (void)state;
    rig_become_both("a", ROLE(ALL, "{\"attribute_name\":\"extra\",\"read\":true,\"insert\":true}"),
                    ROLE(ALL, "{\"attribute_name\":\"extra\",\"read\":true}"));
    assert_false(rig_has(rig_ask("tools/list", "{}"), "extra"));
    assert_true(rig_has(rig_call("get_cities", "{\"id\":\"aa\"}"), "Forwards"));
    assert_true(
        rig_works(rig_call("create_cities", "{\"code\":\"cc\",\"name\":\"C\",\"extra\":1}")));
    assert_false(rig_works(rig_call("update_cities", "{\"id\":\"cc\",\"changes\":{\"extra\":2}}")));
}

/* ---- Cursors -------------------------------------------------------------------------------- */

static void cursor_of(struct str answer, char *ret)
{
    const char *at = strstr(answer.p, "\"nextCursor\":\"");
    assert_non_null(at);
    sscanf(at, "\"nextCursor\":\"%255[^\"]", ret);
}

static void cursors_serve_who_got_them(void **state)
{
    char list[256], search[256], params[600];
    (void)state;
    rig_become("a", PURSELESS);
    bench.core->config.tools_page[0] = 2;
    cursor_of(rig_ask("tools/list", "{}"), list);
    cursor_of(rig_call("search_cities", "{\"limit\":1}"), search);
    for (int other = 0; other < 2; other++) {
        if (other)
            rig_become("b", PURSELESS);
        snprintf(params, sizeof params, "{\"cursor\":\"%s\"}", list);
        assert_int_equal(rig_works(rig_ask("tools/list", params)), !other);
        snprintf(params, sizeof params, "{\"limit\":1,\"cursor\":\"%s\"}", search);
        assert_int_equal(rig_works(rig_call("search_cities", params)), !other);
    }
}

/* ---- How many catalogs ---------------------------------------------------------------------- */

static void CATALOG_ROLES_MAX_roles_are_kept_and_the_oldest_goes(void **state)
{
    char role[128];
    const struct catalog *first = NULL;
    (void)state;
    for (int i = 0; i <= CATALOG_ROLES_MAX; i++) {
        snprintf(role, sizeof role, "{\"operations\":[\"o%d\"]}", i);
        rig_become("a", role);
        rig_ask("tools/list", "{}");
        if (i == 0)
            first = bench.core->views[0];
        assert_int_equal(bench.core->views[0] == first, i < CATALOG_ROLES_MAX);
    }
    uint64_t made = bench.core->n_views_made;
    rig_become("b", role); /* another of the same role */
    rig_ask("tools/list", "{}");
    assert_int_equal(bench.core->n_views_made, made);
    rig_become("c", "{}");
    rig_ask("tools/list", "{}");
    assert_int_equal(bench.core->n_views_made, made + 1);
}

static int count_views(void)
{
    int n = 0;
    for (int i = 0; i < CATALOG_ROLES_MAX; i++)
        n += bench.core->views[i] != NULL;
    return n;
}

static void together_they_have_CATALOG_BYTES_MAX(void **state)
{
    static const char *const roles[] = {"{}", "{\"operations\":[\"a\"]}", "{\"tools\":[\"a\"]}"};
    (void)state;
    for (size_t i = 0; i < N(roles); i++) {
        rig_become("a", roles[i]);
        rig_ask("tools/list", "{}");
        if (i == 1)
            bench.core->views[0]->arena.used += CATALOG_BYTES_MAX; /* as if it were large */
        assert_int_equal(count_views(), i == 2 ? 2 : i + 1);
    }
    assert_string_equal(bench.core->views[1]->role_text.p, roles[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ROLE_TEST(what_may_not_be_read_is_no_attribute_of_filters_and_orders),
        ROLE_TEST(it_is_not_proposed),
        ROLE_TEST(it_is_not_in_rows_however_they_are_read),
        ROLE_TEST(the_structure_of_the_operator_is_shown_without_it),
        ROLE_TEST(what_may_not_be_written_is_refused_like_what_is_not_there),
        ROLE_TEST(a_whole_row_keeps_what_it_cannot_say),
        ROLE_TEST(what_may_only_be_written_is_never_shown),
        ROLE_TEST(a_unique_index_does_not_tell_of_it),
        ROLE_TEST(faults_do_not_tell_of_it),
        ROLE_TEST(who_may_not_give_what_rows_must_have_creates_none),
        ROLE_TEST(shared_definitions_of_what_is_unread_are_not_shown),
        ROLE_TEST(what_is_binary_is_no_part_of_the_resource_either),
        ROLE_TEST(roles_together_allow_what_one_of_them_does),
        ROLE_TEST(an_attribute_that_only_roles_name_is_in_no_schema),
        ROLE_TEST(cursors_serve_who_got_them),
        ROLE_TEST(CATALOG_ROLES_MAX_roles_are_kept_and_the_oldest_goes),
        ROLE_TEST(together_they_have_CATALOG_BYTES_MAX),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
