/* tests/unit/test_access_operations.c - operations by a role: those on the structure of tables ask
 * for themselves alone, files and jobs for what may be done with the table. */
#include "core/file_transfer.h"
#include "role_rig.h"

#define N(a)    (sizeof(a) / sizeof *(a))
#define GOLD    "\"database\":\"vault\",\"table\":\"gold\""
#define CITIES  "\"database\":\"geo\",\"table\":\"cities\""
#define NOTHING "\"database\":\"geo\",\"table\":\"nothing\""
#define ON_CITIES(x) \
    "{\"databases\":{\"geo\":{\"tables\":{\"cities\":{" x "}}}},\"operations\":[\"*\"]}"

static int no_file(void *ctx, struct file_transfer *transfer)
{
    (void)ctx;
    transfer->n_rows = 1;
    return 0;
}

static int open_all(void **state)
{
    static const struct str everything[] = {STR_INIT("*")};
    static const struct core_transfer port = {NULL, no_file, no_file};
    struct core_config config = bench_config;
    (void)state;
    config.operations_allow = (struct name_globs){everything, 1};
    config.transfer = &port;
    rig_open(config);
    bench.profile = PROFILE_OPERATIONS;
    return 0;
}

#define OPERATIONS_TEST(f) cmocka_unit_test_setup_teardown(f, open_all, rig_tear_down)

static void run_all(void)
{
    while (loop_turn(&bench.loop, 0))
        ;
}

/* ---- Files ---------------------------------------------------------------------------------- */

#define EXPORT(of) "export_table", "{" of ",\"name\":\"x.csv\"}"
#define IMPORT(of) "import_table", "{" of ",\"name\":\"x.csv\"}"
#define PUT(of)    "import_table", "{" of ",\"name\":\"x.csv\",\"replace\":true}"

static const struct {
    const char *role, *operation, *arguments;
    bool works;
} transfers[] = {
    {"{\"super_user\":true}", EXPORT(GOLD), true},
    {"{\"super_user\":true}", PUT(GOLD), true},
    {ON_CITIES("\"read\":true"), EXPORT(CITIES), true},
    {ON_CITIES("\"read\":true"), EXPORT(GOLD), false},
    {ON_CITIES("\"read\":true"), IMPORT(CITIES), false},
    {ON_CITIES("\"describe\":true"), EXPORT(CITIES), false},
    {ON_CITIES("\"insert\":true"), EXPORT(CITIES), false},
    {ON_CITIES("\"insert\":true"), IMPORT(CITIES), true},
    {ON_CITIES("\"insert\":true"), PUT(CITIES), false},
    {ON_CITIES("\"insert\":true,\"update\":true"), PUT(CITIES), true},
    {ON_CITIES("\"read\":true,\"attribute_permissions\":[{\"attribute_name\":\"purse\"}]"),
     EXPORT(CITIES), false},
    {ON_CITIES("\"insert\":true,\"attribute_permissions\":[{\"attribute_name\":\"purse\"}]"),
     IMPORT(CITIES), false},
    {ON_CITIES(
         "\"insert\":true,\"attribute_permissions\":[{\"attribute_name\":\"purse\",\"insert\":"
         "true}]"),
     IMPORT(CITIES), true},
    {ON_CITIES("\"read\":true,\"attribute_permissions\":[{\"attribute_name\":\"purse\",\"read\":"
               "true}]"),
     EXPORT(CITIES), true},
};

static void files_are_for_who_reads_or_writes_whole_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < N(transfers); i++) {
        rig_become("a", transfers[i].role);
        struct str answer = rig_call(transfers[i].operation, transfers[i].arguments);
        if (rig_works(answer) != transfers[i].works)
            fail_msg("%s %s %s: " STR_FMT, transfers[i].role, transfers[i].operation,
                     transfers[i].arguments, STR_ARG(answer));
        run_all();
        if (transfers[i].works)
            continue;
        struct str absent = rig_call(transfers[i].operation, "{" NOTHING ",\"name\":\"x.csv\"}");
        bool of_gold = strstr(transfers[i].arguments, "gold") != NULL;
        rig_assert_alike(answer, of_gold ? "vault.gold" : "geo.cities", absent, "geo.nothing");
    }
}

/* ---- Structure ------------------------------------------------------------------------------ */

#define STRUCTURE "{\"operations\":[\"create_*\",\"alter_*\",\"drop_*\",\"get_job\"]}"

static void the_structure_of_tables_asks_for_the_operation_alone(void **state)
{
    (void)state;
    rig_become("a", STRUCTURE);
    assert_true(rig_works(
        rig_call("create_table",
                 "{\"database\":\"a\",\"table\":\"b\",\"definition\":" RIVERS_DEFINITION "}")));
    struct str begun = rig_call("create_index", "{" GOLD ",\"index\":{\"name\":\"i\",\"on\":"
                                                "[\"ounces\"]}}");
    assert_true(rig_works(begun));
    run_all();
    assert_true(rig_works(rig_call("drop_index", "{" GOLD ",\"index\":\"i\"}")));
    assert_true(rig_works(rig_call("drop_table", "{" GOLD "}")));
    assert_false(rig_works(rig_call("describe_table", "{" CITIES "}")));
    struct str absent = rig_call("create_index", "{" NOTHING ",\"index\":{\"name\":\"i\",\"on\":"
                                                 "[\"ounces\"]}}");
    assert_false(rig_works(absent));
}

/* ---- Jobs ----------------------------------------------------------------------------------- */

static void begin_on_gold(const char *operation, const char *arguments, char *ret_id)
{
    rig_become("root", "{\"super_user\":true}");
    struct str begun = rig_call(operation, arguments);
    const char *at = strstr(begun.p, "\"job\":\"");
    assert_non_null(at);
    sscanf(at, "\"job\":\"%63[^\"]", ret_id);
    run_all();
}

static bool sees_job(const char *role, const char *id, const char *missing)
{
    char one[128], other[128];
    snprintf(one, sizeof one, "{\"id\":\"%s\"}", id);
    snprintf(other, sizeof other, "{\"id\":\"%s\"}", missing);
    rig_become("a", role);
    struct str list = rig_call("list_jobs", "{}"), got = rig_call("get_job", one);
    assert_true(rig_works(list));
    if (rig_works(got)) {
        assert_true(rig_has(list, "gold"));
        return true;
    }
    assert_false(rig_has(list, "gold") || rig_has(list, "vault") || rig_has(list, id));
    rig_assert_alike(got, id, rig_call("get_job", other), missing);
    rig_assert_alike(rig_call("cancel_job", one), id, rig_call("cancel_job", other), missing);
    return false;
}

#define JOBS "\"operations\":[\"list_jobs\",\"get_job\",\"cancel_job\""

static void jobs_are_seen_by_who_knows_the_table_or_may_begin_them(void **state)
{
    char id[64] = "";
    (void)state;
    begin_on_gold("export_table", "{" GOLD ",\"name\":\"x.csv\"}", id);
    assert_true(sees_job("{\"super_user\":true}", id, ""));
    assert_false(sees_job("{" JOBS "]}", id, "nothing"));
    assert_false(sees_job("{" JOBS ",\"export_table\"]}", id, "nothing"));
    assert_true(sees_job("{\"databases\":{\"vault\":{\"describe\":true}}," JOBS "]}", id, ""));
}

static void jobs_on_structure_likewise(void **state)
{
    char id[64] = "";
    (void)state;
    begin_on_gold("create_index", "{" GOLD ",\"index\":{\"name\":\"i\",\"on\":[\"ounces\"]}}", id);
    assert_false(sees_job("{" JOBS ",\"alter_table\"]}", id, "nothing"));
    assert_true(sees_job("{" JOBS ",\"create_index\"]}", id, ""));
}

/* A table may be known without its rows, and without some of its attributes. */
static void what_a_job_says_of_rows_is_for_who_reads_whole_rows(void **state)
{
    char id[64] = "", one[128];
    (void)state;
    begin_on_gold("alter_table",
                  "{" CITIES
                  ",\"definition\":{\"primaryKey\":\"code\",\"schema\":{\"type\":\"object\","
                  "\"properties\":{\"code\":{\"type\":\"string\"},\"name\":{\"type\":\"string\"},"
                  "\"purse\":{\"type\":\"integer\"},\"motto\":{\"type\":\"string\","
                  "\"minLength\":99}}}}}",
                  id);
    snprintf(one, sizeof one, "{\"id\":\"%s\"}", id);
    rig_become("a", ON_CITIES("\"read\":true"));
    struct str whole = rig_call("get_job", one);
    assert_true(rig_has(whole, "\"aa\"") && rig_has(whole, "/motto"));
    static const char *const others[] = {
        "{\"databases\":{\"geo\":{\"tables\":{\"cities\":{\"describe\":true}}}}," JOBS "]}",
        "{\"databases\":{\"geo\":{\"tables\":{\"cities\":{\"read\":true,"
        "\"attribute_permissions\":[{\"attribute_name\":\"motto\"}]}}}}," JOBS "]}",
    };
    for (size_t i = 0; i < N(others); i++) {
        rig_become("b", others[i]);
        struct str got = rig_call("get_job", one), list = rig_call("list_jobs", "{}");
        assert_true(rig_works(got) && rig_has(got, "\"failed\"") && rig_has(list, id));
        assert_false(rig_has(got, "\"aa\"") || rig_has(got, "motto"));
        assert_false(rig_has(list, "\"aa\"") || rig_has(list, "motto"));
    }
}

static void a_page_of_jobs_does_not_count_those_of_others(void **state)
{
    char seen[64] = "", hidden[64] = "";
    (void)state;
    begin_on_gold("export_table", "{" CITIES ",\"name\":\"x.csv\"}", seen);
    begin_on_gold("export_table", "{" GOLD ",\"name\":\"y.csv\"}", hidden);
    rig_become("a", "{\"databases\":{\"geo\":{\"describe\":true}}," JOBS "]}");
    struct str page = rig_call("list_jobs", "{\"limit\":1}");
    assert_true(rig_has(page, seen));
    assert_false(rig_has(page, hidden));
}

/* ---- The server ----------------------------------------------------------------------------- */

static void tables_and_rows_are_counted_as_they_are_seen(void **state)
{
    (void)state;
    rig_become("a", ON_CITIES("\"describe\":true"));
    struct str seen = rig_call("system_information", "{}");
    assert_true(rig_has(seen, "\"tables\":1") && rig_has(seen, "\"rows\":2"));
    rig_become("b", "{\"super_user\":true}");
    seen = rig_call("system_information", "{}");
    assert_true(rig_has(seen, "\"tables\":4") && rig_has(seen, "\"rows\":5"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OPERATIONS_TEST(files_are_for_who_reads_or_writes_whole_rows),
        OPERATIONS_TEST(the_structure_of_tables_asks_for_the_operation_alone),
        OPERATIONS_TEST(jobs_are_seen_by_who_knows_the_table_or_may_begin_them),
        OPERATIONS_TEST(jobs_on_structure_likewise),
        OPERATIONS_TEST(what_a_job_says_of_rows_is_for_who_reads_whole_rows),
        OPERATIONS_TEST(a_page_of_jobs_does_not_count_those_of_others),
        OPERATIONS_TEST(tables_and_rows_are_counted_as_they_are_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
