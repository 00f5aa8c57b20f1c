/* tests/unit/test_transfer_jobs.c - export_table and import_table over the wire, with a data
 * directory: what comes of them, and that no name leads out of it. */
#include "core/operations.h"
#include "tests/unit/ask.h"
#include "transfer_jobs.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define CITY                                                                      \
    "{\"primaryKey\":\"code\",\"indexes\":[{\"name\":\"once\",\"on\":[\"name\"]," \
    "\"unique\":true}],\"schema\":{\"type\":\"object\",\"properties\":{\"code\":" \
    "{\"type\":\"string\"},\"name\":{\"type\":\"string\"},\"people\":{\"type\":"  \
    "\"integer\"}}}}"
#define GEO "\"database\":\"geo\",\"table\":\"city\""

static const struct str everything[] = {STR_INIT("*")};
static char dir[64], job_id[64];
static struct core_transfer port;

static int open_all(void **state)
{
    struct core_config config = bench_config;
    strcpy(dir, "/tmp/tenon-jobs-XXXXXX");
    assert_non_null(mkdtemp(dir));
    port = transfer_jobs(dir);
    config.operations_allow = (struct name_globs){everything, 1};
    config.transfer = &port;
    bench_open(&bench, &config);
    bench.profile = PROFILE_OPERATIONS;
    bench_connect(&bench, "2025-06-18");
    *state = &bench;
    return 0;
}

static int close_all(void **state)
{
    char command[128];
    bench_close(*state);
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    assert_int_equal(system(command), 0);
    return 0;
}

static void operate(struct bench *b, const char *name, const char *args, const char *pattern)
{
    char params[4096];
    snprintf(params, sizeof params, "{\"name\":\"%s\",\"arguments\":{%s}}", name, args);
    ask_method(b, "tools/call", params, pattern);
}

static void make_city(struct bench *b)
{
    operate(b, "create_table", GEO ",\"definition\":" CITY, "{\"structuredContent\":{" GEO "}}");
}

/* Runs the job to its end, which must fit. */
static void run(struct bench *b, const char *name, const char *args, const char *outcome)
{
    char text[1024], wanted[2048];
    snprintf(text, sizeof text, GEO ",%s", args);
    operate(b, name, text, "{\"structuredContent\":{\"job\":\"*\"},\"-\":[\"isError\"]}");
    const char *at = strstr(b->body.p, "\"job\":\"");
    assert_non_null(at);
    snprintf(job_id, sizeof job_id, "%.28s", at + strlen("\"job\":\""));
    while (loop_turn(&b->loop, 0))
        ;
    snprintf(text, sizeof text, "\"id\":\"%s\"", job_id);
    snprintf(wanted, sizeof wanted, "{\"structuredContent\":%s}", outcome);
    operate(b, "get_job", text, wanted);
}

static void put_file(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/imports", dir);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/imports/%s", dir, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void assert_file(const char *name, const char *wanted)
{
    char path[256], text[1024] = "";
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    assert_string_equal(text, wanted);
}

static void a_table_goes_out_and_in(void **state)
{
    struct bench *b = *state;
    make_city(b);
    put_file("two.ndjson", "{\"code\":\"a\",\"name\":\"A\"}\n{\"code\":\"b\",\"people\":7}\n");
    run(b, "import_table", "\"name\":\"two.ndjson\"",
        "{\"kind\":\"import_table\",\"state\":\"done\",\"result\":{\"name\":\"two.ndjson\","
        "\"rows\":2,\"bad\":0,\"-\":[\"rejects\"]}}");
    run(b, "export_table", "\"name\":\"out.csv\"",
        "{\"state\":\"done\",\"result\":{\"name\":\"out.csv\",\"rows\":2}}");
    assert_file("exports/out.csv", "\"code\",\"name\",\"people\"\n\"a\",\"A\",\n\"b\",,7\n");
    run(b, "export_table", "\"name\":\"out.csv\"", "{\"state\":\"done\"}"); /* is replaced */
    run(b, "export_table", "\"name\":\"out.json\"", "{\"state\":\"done\"}");
    assert_file("exports/out.json",
                "[\n{\"code\":\"a\",\"name\":\"A\"},\n{\"code\":\"b\",\"people\":7}\n]\n");
}

static void a_bad_record_stops_the_job_and_is_told(void **state)
{
    struct bench *b = *state;
    make_city(b);
    put_file("bad.ndjson", "{\"code\":\"a\"}\n{\"code\":\"b\",\"people\":\"x\"}\n{\"code\":3}\n");
    run(b, "import_table", "\"name\":\"bad.ndjson\"",
        "{\"state\":\"failed\",\"error\":\"bad.ndjson: it has bad records; nothing was imported\","
        "\"details\":{\"bad\":2,\"kept\":0,\"first\":[{\"line\":2,\"pointer\":\"/people\","
        "\"keyword\":\"type\",\"expected\":\"integer\",\"reason\":\"*\",\"record\":\"*\"},"
        "{\"line\":3,\"pointer\":\"/code\"}]}}");
    operate(b, "describe_table", GEO, "{\"structuredContent\":{\"rows\":0}}");
}

static void skip_bad_writes_rejects(void **state)
{
    struct bench *b = *state;
    make_city(b);
    put_file("some.ndjson",
             "{\"code\":\"a\",\"name\":\"A\"}\n{\"code\":3}\n{\"code\":\"b\",\"name\":\"A\"}\n");
    run(b, "import_table", "\"name\":\"some.ndjson\",\"skip_bad\":true",
        "{\"state\":\"done\",\"result\":{\"rows\":1,\"bad\":2,\"rejects\":\"some.ndjson.rejects\"}"
        "}");
    assert_file("imports/some.ndjson.rejects",
                "{\"line\":2,\"pointer\":\"/code\",\"keyword\":\"type\",\"expected\":\"string\","
                "\"reason\":\"/code: type, expected string\",\"record\":{\"code\":3}}\n"
                "{\"line\":3,\"pointer\":\"/name\",\"keyword\":\"unique\",\"expected\":\"a value "
                "that no other row has\",\"reason\":\"another row has the same name (unique index "
                "once)\",\"record\":{\"code\":\"b\",\"name\":\"A\"}}\n");
}

struct between {
    bool by_folder; /* a folder takes the name of the rejects; else there is no room for them */
};

static int get_in_between(void *ctx, uint64_t done, uint64_t total)
{
    const struct between *between = ctx;
    char path[128];
    struct rlimit none = {.rlim_cur = 0, .rlim_max = RLIM_INFINITY};
    (void)done;
    (void)total;
    snprintf(path, sizeof path, "%s/imports/some.ndjson.rejects", dir);
    if (between->by_folder)
        assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
    else
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    return 0;
}

static struct arena city_arena;
static uint32_t city_id;

static int take_city(void *ctx, const struct store_table *stored)
{
    struct table *table = ctx;
    struct schema_faults faults;
    assert_int_equal(table_parse(stored->definition, &city_arena, table, &faults), 0);
    table->id = stored->id;
    table->version = stored->version;
    return 1;
}

static void find_city(struct bench *b, struct table *ret)
{
    struct store_view *view;
    assert_int_equal(store_view_open(b->store, STORE_DATA, &view), 0);
    assert_int_equal(store_scan_tables(view, take_city, ret), 1);
    store_view_close(view);
}

/* The job itself, with somebody who comes in between. */
static int import_city(struct bench *b, int (*progress)(void *ctx, uint64_t done, uint64_t total),
                       void *ctx, struct file_transfer *t)
{
    static struct table table;
    find_city(b, &table);
    city_id = table.id;
    *t = (struct file_transfer){.store = b->store,
                                .table = &table,
                                .name = STR("some.ndjson"),
                                .skips_bad = true,
                                .progress = progress,
                                .progress_ctx = ctx,
                                .arena = &city_arena};
    int err = port.import_file(port.ctx, t);
    buf_done(&t->faults);
    return err;
}

static int import_some(struct bench *b, bool by_folder, struct file_transfer *t)
{
    struct between between = {.by_folder = by_folder};
    make_city(b);
    put_file("some.ndjson", "{\"code\":\"a\"}\n{\"code\":3}\n");
    return import_city(b, get_in_between, &between, t);
}

static void rejects_that_cannot_be_written_take_the_import_back(void **state)
{
    struct bench *b = *state;
    struct file_transfer t;
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    arena_init(&city_arena, 0);
    int err = import_some(b, false, &t);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(err, ERR_IO);
    assert_true(str_eq(t.why, STR("some.ndjson.rejects: File too large")));
    assert_null(t.rejects.p);
    arena_done(&city_arena);
    operate(b, "describe_table", GEO, "{\"structuredContent\":{\"rows\":0}}");
}

static void rejects_that_cannot_get_their_name_are_told_by_another(void **state)
{
    struct bench *b = *state;
    struct file_transfer t;
    char path[256];
    struct stat st;
    arena_init(&city_arena, 0);
    assert_int_equal(import_some(b, true, &t), 0);
    assert_true(str_eq(t.rejects_why, STR("some.ndjson.rejects: Is a directory")));
    snprintf(path, sizeof path, "%s/imports/" STR_FMT, dir, STR_ARG(t.rejects));
    arena_done(&city_arena);
    assert_non_null(strstr(path, ".part"));
    assert_int_equal(stat(path, &st), 0);
    assert_true(S_ISREG(st.st_mode) && st.st_size > 20);
    operate(b, "describe_table", GEO, "{\"structuredContent\":{\"rows\":1}}");
}

static void a_folder_in_place_of_rejects_stops_the_job_at_once(void **state)
{
    struct bench *b = *state;
    char path[128];
    make_city(b);
    put_file("some.ndjson", "{\"code\":\"a\"}\n{\"code\":3}\n");
    snprintf(path, sizeof path, "%s/imports/some.ndjson.rejects", dir);
    assert_int_equal(mkdir(path, 0700), 0);
    run(b, "import_table", "\"name\":\"some.ndjson\",\"skip_bad\":true",
        "{\"state\":\"failed\",\"error\":\"some.ndjson.rejects: Is a directory\"}");
    operate(b, "describe_table", GEO, "{\"structuredContent\":{\"rows\":0}}");
}

static int drop_city(void *ctx, uint64_t done, uint64_t total)
{
    struct bench *b = ctx;
    (void)done;
    (void)total;
    struct store_op op = {.kind = STORE_DROP_TABLE, .table = city_id, .if_version = STORE_ANY};
    struct store_write write = {.space = STORE_DATA, .ops = &op, .n_ops = 1};
    store_apply(b->store, &write);
    return 0;
}

static void a_table_that_is_dropped_meanwhile_is_told(void **state)
{
    struct bench *b = *state;
    struct file_transfer t;
    arena_init(&city_arena, 0);
    make_city(b);
    put_file("some.ndjson", "{\"code\":\"a\"}\n");
    assert_int_equal(import_city(b, drop_city, b, &t), ERR_ABSENT);
    assert_true(str_eq(t.why, STR("some.ndjson: the table was dropped meanwhile")));
    arena_done(&city_arena);
}

struct path {
    uint64_t first, last, total, n, goes_back, stop_at;
};

static int note_path(void *ctx, uint64_t done, uint64_t total)
{
    struct path *path = ctx;
    path->first = path->n++ ? path->first : done;
    path->goes_back += done < path->last;
    path->last = done;
    path->total = total;
    return path->stop_at && done >= path->stop_at;
}

/* Not once for each time that the file is read. */
static void an_import_goes_to_its_end_once(void **state)
{
    struct bench *b = *state;
    struct file_transfer t;
    struct path whole = {0}, stopped = {0};
    char text[40000];
    size_t n = 0;
    for (int i = 0; i < 1000; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "{\"code\":\"%d\"}\n", i);
    arena_init(&city_arena, 0);
    make_city(b);
    put_file("some.ndjson", text);
    assert_int_equal(import_city(b, note_path, &whole, &t), 0);
    assert_int_equal(whole.total, n);
    assert_int_equal(whole.last, n);
    assert_int_equal(whole.goes_back, 0);
    assert_true(whole.first > 0 && whole.first < n / 4);
    assert_int_equal(whole.n, 2 * (1000 / 256 + 1));
    stopped.stop_at = n / 2 + 1;
    assert_int_equal(import_city(b, note_path, &stopped, &t), ERR_CANCELLED);
    assert_int_equal(stopped.goes_back, 0); /* nor where it takes back */
    assert_true(stopped.last >= stopped.stop_at && stopped.last < n);
    arena_done(&city_arena);
}

static void replace_overwrites(void **state)
{
    struct bench *b = *state;
    make_city(b);
    put_file("one.json", "[{\"code\":\"a\",\"people\":1}]");
    run(b, "import_table", "\"name\":\"one.json\"", "{\"state\":\"done\"}");
    run(b, "import_table", "\"name\":\"one.json\"",
        "{\"state\":\"failed\",\"details\":{\"first\":[{\"line\":1,\"keyword\":\"exists\"}]}}");
    run(b, "import_table", "\"name\":\"one.json\",\"replace\":true", "{\"state\":\"done\"}");
}

/* By the schema of the arguments. */
static void refuse(struct bench *b, const char *name, const char *args)
{
    char body[1024];
    snprintf(body, sizeof body,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\","
             "\"arguments\":{%s}}}",
             name, args);
    ask(b, 200, body,
        "{\"error\":{\"code\":-32602,\"data\":{\"errors\":[{\"pointer\":\"/params/arguments/"
        "name\"}]}}}");
}

static void no_name_leads_out_of_the_folder(void **state)
{
    struct bench *b = *state;
    static const char *const names[] = {
        "../two.json", "/etc/x.json", ".x.json", "a/b.json", "a.txt", "", "..", "x.json\\n"};
    char args[256], path[128];
    struct stat st;
    make_city(b);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(args, sizeof args, GEO ",\"name\":\"%s\"", names[i]);
        refuse(b, "import_table", args);
        refuse(b, "export_table", args);
    }
    snprintf(path, sizeof path, "%s/exports", dir);
    assert_int_equal(stat(path, &st), -1);
}

/* The port does not rely on the schema. */
static void the_port_checks_names_as_well(void **state)
{
    static const char *const names[] = {"../a.json", ".a.json", "", "a b.json", "a\n.json", "x"};
    struct arena arena;
    (void)state;
    arena_init(&arena, 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct file_transfer t = {.name = str_of(names[i]), .arena = &arena};
        assert_int_equal(port.import_file(port.ctx, &t), ERR_PARAMS);
        assert_int_equal(port.export_file(port.ctx, &t), ERR_PARAMS);
        assert_true(t.why.n > 0);
    }
    arena_done(&arena);
}

static void links_and_pipes_are_not_followed(void **state)
{
    struct bench *b = *state;
    char path[128], other[128];
    make_city(b);
    put_file("real.ndjson", "{\"code\":\"a\"}\n");
    snprintf(path, sizeof path, "%s/imports/link.ndjson", dir);
    assert_int_equal(symlink("real.ndjson", path), 0);
    snprintf(path, sizeof path, "%s/imports/pipe.ndjson", dir);
    assert_int_equal(mkfifo(path, 0600), 0);
    snprintf(path, sizeof path, "%s/imports/folder.ndjson", dir);
    assert_int_equal(mkdir(path, 0700), 0);
    run(b, "import_table", "\"name\":\"link.ndjson\"",
        "{\"state\":\"failed\",\"error\":\"link.ndjson: not a regular file\"}");
    run(b, "import_table", "\"name\":\"pipe.ndjson\"",
        "{\"state\":\"failed\",\"error\":\"pipe.ndjson: not a regular file\"}");
    run(b, "import_table", "\"name\":\"folder.ndjson\"",
        "{\"state\":\"failed\",\"error\":\"folder.ndjson: not a regular file\"}");
    run(b, "import_table", "\"name\":\"none.ndjson\"",
        "{\"state\":\"failed\",\"error\":\"none.ndjson: No such file or directory\"}");
    snprintf(path, sizeof path, "%s/exports", dir);
    snprintf(other, sizeof other, "%s/imports", dir);
    assert_int_equal(symlink(other, path), 0);
    run(b, "export_table", "\"name\":\"real.ndjson\"", "{\"state\":\"failed\"}");
    assert_file("imports/real.ndjson", "{\"code\":\"a\"}\n");
}

static void without_files_it_says_so(void **state)
{
    struct bench *b = *state;
    make_city(b);
    operate(b, "export_table", "\"database\":\"geo\",\"table\":\"nope\",\"name\":\"x.json\"",
            "{\"isError\":true,\"content\":[{\"text\":\"There is no table geo.nope.\"}]}");
}

static void they_are_not_allowed_unless_the_config_says_so(void **state)
{
    struct core_config config = bench_config;
    (void)state;
    for (uint32_t i = 0; operation_at(i); i++) {
        struct str name = str_of(operation_at(i)->name);
        if (str_eq(name, STR("import_table")) || str_eq(name, STR("export_table")))
            assert_false(operation_is_allowed(&config, operation_at(i)));
        if (str_eq(name, STR("import_table")))
            assert_true(operation_at(i)->destructive && !operation_at(i)->read_only);
    }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        CASE(a_table_goes_out_and_in),
        CASE(a_bad_record_stops_the_job_and_is_told),
        CASE(skip_bad_writes_rejects),
        CASE(rejects_that_cannot_be_written_take_the_import_back),
        CASE(rejects_that_cannot_get_their_name_are_told_by_another),
        CASE(a_folder_in_place_of_rejects_stops_the_job_at_once),
        CASE(a_table_that_is_dropped_meanwhile_is_told),
        CASE(an_import_goes_to_its_end_once),
        CASE(replace_overwrites),
        CASE(no_name_leads_out_of_the_folder),
        CASE(the_port_checks_names_as_well),
        CASE(links_and_pipes_are_not_followed),
        CASE(without_files_it_says_so),
        CASE(they_are_not_allowed_unless_the_config_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
