/* tests/unit/test_core_jobs.c - tables and indexes changed by tools, and jobs: begun, followed,
 * cancelled, and lost with their process.
 */
#include "core/core_state.h"
#include "core/operations.h"
#include "tests/unit/ask.h"
#include "tests/unit/hand_clock.h"
#include "wire/json_read.h"

#define CITY                                                                       \
    "{\"primaryKey\":\"code\",\"schema\":{\"type\":\"object\",\"properties\":{"    \
    "\"code\":{\"type\":\"string\"},\"region\":{\"type\":\"string\"},\"people\":{" \
    "\"type\":\"integer\"}}}}"
#define CITY_LARGE                                                                 \
    "{\"primaryKey\":\"code\",\"schema\":{\"type\":\"object\",\"properties\":{"    \
    "\"code\":{\"type\":\"string\"},\"region\":{\"type\":\"string\"},\"people\":{" \
    "\"type\":\"integer\",\"minimum\":10}}}}"
#define GEO "\"database\":\"geo\",\"table\":\"city\""

static const struct str everything[] = {STR_INIT("*")};
static char job_id[64];

static int open_all(void **state)
{
    struct core_config config = bench_config;
    config.operations_allow = (struct name_globs){everything, 1};
    bench_open(&bench, &config);
    bench.profile = PROFILE_OPERATIONS;
    bench_connect(&bench, "2025-06-18");
    *state = &bench;
    return 0;
}

static int close_all(void **state)
{
    bench_close(*state);
    return 0;
}

/* ---- Asking --------------------------------------------------------------------------------- */

static void operate(struct bench *b, const char *name, const char *args, const char *pattern)
{
    char params[4096];
    snprintf(params, sizeof params, "{\"name\":\"%s\",\"arguments\":{%s}}", name, args);
    ask_method(b, "tools/call", params, pattern);
}

static void keep_job_id(struct bench *b)
{
    const char *at = strstr(b->body.p, "\"job\":\"");
    assert_non_null(at);
    snprintf(job_id, sizeof job_id, "%.28s", at + strlen("\"job\":\""));
}

static void start(struct bench *b, const char *name, const char *args)
{
    operate(b, name, args, "{\"structuredContent\":{\"job\":\"*\"},\"-\":[\"isError\"]}");
    keep_job_id(b);
}

static void look(struct bench *b, const char *pattern)
{
    char args[128], wanted[1024];
    snprintf(args, sizeof args, "\"id\":\"%s\"", job_id);
    snprintf(wanted, sizeof wanted, "{\"structuredContent\":%s}", pattern);
    operate(b, "get_job", args, wanted);
}

static void run_all(struct bench *b)
{
    while (loop_turn(&b->loop, 0))
        ;
}

static void make_city(struct bench *b)
{
    operate(b, "create_table", GEO ",\"definition\":" CITY,
            "{\"structuredContent\":{" GEO "},\"-\":[\"isError\"]}");
}

static void put_city(struct bench *b, const char *row)
{
    char params[512];
    b->profile = PROFILE_APPLICATION;
    char session[128];
    strcpy(session, b->session);
    bench_connect(b, "2025-06-18");
    snprintf(params, sizeof params, "{\"name\":\"create_city\",\"arguments\":%s}", row);
    ask_method(b, "tools/call", params, "{\"-\":[\"isError\"]}");
    strcpy(b->session, session);
    b->profile = PROFILE_OPERATIONS;
}

/* ---- Tables --------------------------------------------------------------------------------- */

static void tables_are_made_and_dropped(void **state)
{
    struct bench *b = *state;
    make_city(b);
    operate(b, "create_table", GEO ",\"definition\":" CITY,
            "{\"isError\":true,\"content\":[{\"text\":\"Nothing was changed: geo.city is there "
            "already.\"}]}");
    operate(b, "describe_table", GEO, "{\"structuredContent\":{\"primaryKey\":\"code\"}}");
    operate(b, "drop_table", GEO, "{\"structuredContent\":{" GEO "},\"-\":[\"isError\"]}");
    operate(b, "drop_table", GEO,
            "{\"isError\":true,\"content\":[{\"text\":\"Nothing was changed: there is no table "
            "geo.city.\"}]}");
}

static void bad_arguments_are_told(void **state)
{
    struct bench *b = *state;
    operate(b, "create_table", GEO ",\"definition\":7",
            "!{\"code\":-32602,\"data\":{\"errors\":"
            "[{\"pointer\":\"/params/arguments/definition\",\"keyword\":\"type\"}]}}");
    operate(b, "create_table", GEO, "!{\"code\":-32602}");
    operate(b, "create_table", "\"database\":\"1\",\"table\":\"city\",\"definition\":" CITY,
            "{\"isError\":true}");
    operate(b, "create_table",
            GEO ",\"definition\":{\"primaryKey\":\"x\",\"schema\":{\"type\":"
                "\"object\",\"properties\":{\"a\":{}}}}",
            "{\"isError\":true,\"content\":[{\"text\":\"Nothing was changed: /primaryKey: name, "
            "expected an attribute of the schema.\"}]}");
    operate(b, "drop_index", GEO ",\"index\":\"x\"", "{\"isError\":true}");
    operate(b, "create_index", GEO ",\"index\":{\"on\":[]}", "!{\"code\":-32602}");
    operate(b, "drop_table", "\"database\":\"geo\"", "!{\"code\":-32602}");
    operate(b, "alter_table", GEO ",\"definition\":{}",
            "{\"isError\":true,\"content\":[{\"text\":\"There is no table geo.city.\"}]}");
    operate(b, "create_index", GEO ",\"index\":{\"on\":[\"x\"]}", "{\"isError\":true}");
}

/* ---- Jobs ----------------------------------------------------------------------------------- */

static void an_index_is_made_by_a_job(void **state)
{
    struct bench *b = *state;
    make_city(b);
    put_city(b, "{\"code\":\"A\",\"region\":\"n\"}");
    start(b, "create_index", GEO ",\"index\":{\"on\":[\"region\"]}");
    run_all(b);
    look(b, "{\"state\":\"done\",\"kind\":\"create_index\"," GEO ",\"result\":{\"index\":"
            "\"by_region\"},\"created\":\"*\",\"started\":\"*\",\"finished\":\"*\",\"-\":["
            "\"error\",\"cancelling\"]}");
    operate(b, "drop_index", GEO ",\"index\":\"by_region\"",
            "{\"structuredContent\":{\"index\":\"by_region\"},\"-\":[\"isError\"]}");
}

static void a_job_that_fails_says_why(void **state)
{
    struct bench *b = *state;
    make_city(b);
    put_city(b, "{\"code\":\"A\",\"people\":1}");
    start(b, "alter_table", GEO ",\"definition\":" CITY_LARGE);
    run_all(b);
    look(b, "{\"state\":\"failed\",\"details\":{\"rows\":1,\"first\":[{\"key\":\"A\",\"pointer\":"
            "\"/people\",\"keyword\":\"minimum\",\"expected\":\"at least 10\"}]},\"error\":\"*\","
            "\"-\":[\"result\"]}");
    start(b, "alter_table", GEO ",\"definition\":{\"primaryKey\":1}");
    run_all(b);
    look(b, "{\"state\":\"failed\",\"details\":{\"errors\":[{\"pointer\":\"/schema\","
            "\"keyword\":\"required\"},\"...\"]}}");
    start(b, "alter_table", GEO ",\"definition\":" CITY);
    run_all(b);
    look(b, "{\"state\":\"done\",\"result\":{\"rows\":1}}");
}

static void ids_that_are_none_are_refused(void **state)
{
    static const char *const ids[] = {"",
                                      "x",
                                      "../../etc/passwd",
                                      "\\u0000",
                                      "0123456789abcdef0123456789ab",
                                      "0123456789abcdef0123456789ab!"};
    struct bench *b = *state;
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        char args[128];
        snprintf(args, sizeof args, "\"id\":\"%s\"", ids[i]);
        operate(b, "get_job", args, "{\"isError\":true}");
        operate(b, "cancel_job", args, "{\"isError\":true}");
    }
    operate(b, "get_job", "\"id\":5", "!{\"code\":-32602}");
    operate(b, "list_jobs", "\"limit\":0", "!{\"code\":-32602}");
    operate(b, "list_jobs", "\"state\":\"odd\"", "!{\"code\":-32602}");
    operate(b, "list_jobs", "", "{\"structuredContent\":{\"jobs\":[]}}");
}

/* ---- Jobs of the test's own ----------------------------------------------------------------- */

/* A call that waits for its answer: cancel_job, whose work never runs. */
static struct call *waiting_call(struct bench *b)
{
    struct call *call = bench_begin(
        b, STR("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":"
               "\"cancel_job\",\"arguments\":{\"id\":\"x\"}}}"));
    struct loop_work **last = &b->loop.works;
    assert_non_null(*last);
    while ((*last)->next)
        last = &(*last)->next;
    *last = NULL;
    b->loop.last_work = last;
    return call;
}

static const struct tape_node *no_args(void)
{
    static const struct tape_node none = {.kind = TAPE_OBJECT, .v.size = 1};
    return &none;
}

/* Begins it, and runs the loop until the call is answered; the work of the job waits. */
static void begin_job(struct bench *b, int (*run)(struct job *job), const char *pattern)
{
    struct call *call = waiting_call(b);
    b->n_answers = 0;
    int err = job_start(call, "test", no_args(), run);
    assert_int_equal(err, CALL_LATER);
    while (b->n_answers == 0)
        assert_true(loop_post_turn(&b->loop, 10));
    expect(b, 200, pattern, "a job");
    if (strstr(pattern, "structuredContent"))
        keep_job_id(b);
}

#define BEGUN   "{\"result\":{\"structuredContent\":{\"job\":\"*\"}}}"
#define REFUSED "{\"result\":{\"isError\":true}}"

static struct job_record record_of(struct bench *b, struct arena *arena)
{
    struct store_view *view;
    struct job_record job = {0};
    assert_int_equal(store_view_open(b->store, STORE_SYS, &view), 0);
    assert_int_equal(job_record_get(view, str_of(job_id), arena, &job), 0);
    store_view_close(view);
    return job;
}

static void wish_its_end(struct bench *b)
{
    struct arena arena;
    struct job_record job;
    arena_init(&arena, 0);
    assert_int_equal(job_cancel(b->store, str_of(job_id), &arena, &job), 0);
    arena_done(&arena);
}

static uint64_t done_as_written(struct job *job, enum job_state state)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct job_record record = record_of(&bench, &arena);
    assert_int_equal(record.state, state);
    assert_true(str_eq(record.kind, STR("test")));
    assert_true(record.started_ms > 0 && job->record.started_ms == record.started_ms);
    arena_done(&arena);
    return record.done;
}

static int say_how_far(struct job *job)
{
    assert_int_equal(job_progress(job, 1, 10), 0);
    assert_int_equal(done_as_written(job, JOB_RUNNING), 0); /* not a second yet */
    clock_advance_ms(JOB_PROGRESS_MS - 1);
    assert_int_equal(job_progress(job, 2, 10), 0);
    assert_int_equal(done_as_written(job, JOB_RUNNING), 0);
    clock_advance_ms(1);
    assert_int_equal(job_progress(job, 3, 10), 0);
    assert_int_equal(done_as_written(job, JOB_RUNNING), 3);
    assert_int_equal(job_progress(job, 4, 10), 0);
    assert_int_equal(done_as_written(job, JOB_RUNNING), 3);
    buf_add_lit(&job->result, "{\"x\":1}");
    return 0;
}

static void progress_is_written_once_a_second(void **state)
{
    begin_job(*state, say_how_far, BEGUN);
    run_all(*state);
    look(*state, "{\"state\":\"done\",\"done\":10,\"total\":10,\"result\":{\"x\":1}}");
}

/* As another worker would ask: by the record only. */
static int is_cancelled_by_another(struct job *job)
{
    wish_its_end(&bench);
    assert_int_equal(job_progress(job, 1, 2), 0);
    clock_advance_ms(JOB_PROGRESS_MS);
    assert_int_equal(job_progress(job, 1, 2), ERR_CANCELLED);
    job->why = STR("it was taken back");
    return ERR_CANCELLED;
}

static void a_running_job_hears_of_its_cancellation_within_a_second(void **state)
{
    struct bench *b = *state;
    struct arena scratch;
    arena_init(&scratch, 0);
    begin_job(b, is_cancelled_by_another, BEGUN);
    run_all(b);
    look(b,
         "{\"state\":\"cancelled\",\"done\":1,\"total\":2,\"error\":\"it was taken back\",\"-\":["
         "\"result\",\"cancelling\"]}");
    assert_false(job_is_unwanted(b->store, str_of(job_id), &scratch)); /* the wish is gone */
    arena_done(&scratch);
    char args[128];
    snprintf(args, sizeof args, "\"id\":\"%s\"", job_id);
    operate(b, "cancel_job", args,
            "{\"isError\":true,\"content\":[{\"text\":\"The job is over already: it is "
            "cancelled.\"}]}");
}

static int n_ran;

static int just_run(struct job *job)
{
    n_ran++;
    buf_add_lit(&job->result, "{}");
    return 0;
}

static void a_job_that_is_cancelled_before_its_turn_does_not_begin(void **state)
{
    struct bench *b = *state;
    n_ran = 0;
    begin_job(b, just_run, BEGUN);
    wish_its_end(b);
    run_all(b);
    look(b, "{\"state\":\"cancelled\",\"error\":\"*\"}");
    assert_int_equal(n_ran, 0);
}

static int ignore_all(struct job *job)
{
    job->stop = ERR_CANCELLED; /* too late: it is done */
    buf_add_lit(&job->result, "{}");
    return 0;
}

static int break_down(struct job *job)
{
    (void)job;
    return ERR_IO;
}

static void what_a_job_says_is_what_it_did(void **state)
{
    begin_job(*state, ignore_all, BEGUN);
    run_all(*state);
    look(*state, "{\"state\":\"done\"}");
    begin_job(*state, break_down, BEGUN);
    run_all(*state);
    look(*state, "{\"state\":\"failed\",\"error\":\"Input/output error\",\"-\":[\"details\"]}");
}

static void few_jobs_run_and_some_wait(void **state)
{
    struct bench *b = *state;
    char first[64], waiting[64];
    n_ran = 0;
    for (int i = 0; i < JOBS_RUNNING_MAX + JOBS_WAITING_MAX; i++) {
        begin_job(b, just_run, BEGUN);
        strcpy(i == 0 ? first : waiting, job_id);
    }
    assert_int_equal(b->core->jobs.n_running, JOBS_RUNNING_MAX);
    assert_int_equal(b->core->jobs.n_waiting, JOBS_WAITING_MAX);
    begin_job(b, just_run, REFUSED);
    strcpy(job_id, waiting);
    jobs_cancel_here(&b->core->jobs, str_of(waiting));
    assert_int_equal(b->core->jobs.n_waiting, JOBS_WAITING_MAX - 1);
    begin_job(b, just_run, BEGUN); /* its place is free, and it is the last again */
    run_all(b);
    assert_int_equal(n_ran, JOBS_RUNNING_MAX + JOBS_WAITING_MAX);
    look(b, "{\"state\":\"done\"}");
    strcpy(job_id, waiting);
    look(b, "{\"state\":\"cancelled\"}");
    strcpy(job_id, first);
    look(b, "{\"state\":\"done\"}");
}

static void without_a_thread_a_job_fails(void **state)
{
    struct bench *b = *state;
    struct call *call = waiting_call(b);
    n_ran = 0;
    b->loop.busy = true;
    b->n_answers = 0;
    assert_int_equal(job_start(call, "test", no_args(), just_run), CALL_LATER);
    while (b->n_answers == 0)
        assert_true(loop_post_turn(&b->loop, 10));
    keep_job_id(b);
    while (loop_post_turn(&b->loop, 1)) /* the record of its end */
        ;
    b->loop.busy = false;
    look(b, "{\"state\":\"failed\",\"error\":\"Server is busy\"}");
    assert_int_equal(n_ran, 0);
    assert_int_equal(b->core->jobs.n_waiting, 0);
    b->loop.busy = true;
    operate(b, "list_jobs", "", "{\"isError\":true}");
    operate(b, "drop_table", GEO, "{\"isError\":true}");
    b->loop.busy = false;
}

static int until_it_is_stopped(struct job *job)
{
    core_stop(job->core);
    assert_int_equal(job_progress(job, 1, 0), ERR_CLOSED);
    return ERR_CANCELLED;
}

static void a_server_that_stops_ends_its_jobs(void **state)
{
    struct bench *b = *state;
    char running[64];
    n_ran = 0;
    begin_job(b, until_it_is_stopped, BEGUN);
    strcpy(running, job_id);
    for (int i = 0; i < JOBS_RUNNING_MAX; i++) /* the last waits */
        begin_job(b, just_run, BEGUN);
    run_all(b);
    look(b, "{\"state\":\"failed\",\"error\":\"the server was stopped\"}");
    strcpy(job_id, running);
    look(b, "{\"state\":\"failed\",\"error\":\"the server was stopped\"}");
    assert_int_equal(n_ran, 0);
}

/* ---- Other workers -------------------------------------------------------------------------- */

static void write_record(struct bench *b, const char *id, const char *record)
{
    struct store_job job = {.id = str_of(id), .record = str_of(record)};
    struct store_op op = {.kind = STORE_PUT_JOB, .if_version = STORE_ANY, .job = &job};
    struct store_write write = {.space = STORE_SYS, .ops = &op, .n_ops = 1};
    assert_int_equal(store_apply(b->store, &write), 0);
}

static void a_job_whose_process_is_gone_has_failed(void **state)
{
    static const char *const workers[] = {"1:1:00000000", "999999999:5:x", "", ":", "-1:a:b"};
    struct bench *b = *state;
    char args[128];
    strcpy(job_id, "000000000001000000000000000a");
    for (size_t i = 0; i < sizeof workers / sizeof *workers; i++) {
        char record[256];
        snprintf(record, sizeof record,
                 "{\"kind\":\"test\",\"state\":\"%s\",\"done\":3,\"total\":9,\"created\":1,"
                 "\"started\":2,\"worker\":\"%s\"}",
                 i % 2 ? "queued" : "running", workers[i]);
        write_record(b, job_id, record);
        look(b, "{\"state\":\"failed\",\"error\":\"the worker was lost\",\"done\":3}");
    }
    write_record(
        b, job_id,
        "{\"kind\":\"test\",\"state\":\"done\",\"done\":3,\"created\":1,\"worker\":\"1:1:1\"}");
    look(b, "{\"state\":\"done\",\"-\":[\"error\"]}");
    write_record(b, job_id, "{\"kind\":\"test\",\"state\":\"running\",\"done\":3,\"created\":1}");
    snprintf(args, sizeof args, "\"id\":\"%s\"", job_id);
    operate(b, "cancel_job", args, "{\"isError\":true}");
    operate(b, "list_jobs", "\"state\":\"failed\"",
            "{\"structuredContent\":{\"jobs\":[{\"state\":\"failed\"}]}}");
    operate(b, "list_jobs", "\"state\":\"running\"", "{\"structuredContent\":{\"jobs\":[]}}");
}

static void a_damaged_record_is_told(void **state)
{
    static const char *const records[] = {"",
                                          "[]",
                                          "{",
                                          "{}",
                                          "{\"kind\":\"x\"}",
                                          "{\"kind\":\"x\",\"state\":\"odd\",\"created\":1}",
                                          "{\"kind\":\"x\",\"state\":\"done\"}"};
    struct bench *b = *state;
    strcpy(job_id, "000000000001000000000000000a");
    for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
        char body[256];
        snprintf(body, sizeof body,
                 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
                 "\"get_job\",\"arguments\":{\"id\":\"%s\"}}}",
                 job_id);
        write_record(b, job_id, records[i]);
        ask(b, 500, body, "{\"error\":{\"code\":-32603}}");
    }
}

/* Another core on the same store stands for another worker. */
static void another_worker_tells_of_a_job_and_cancels_it(void **state)
{
    struct bench *b = *state;
    struct core *other, *own = b->core;
    char args[128];
    assert_int_equal(core_new(&b->config, b->store, &b->loop, &other), 0);
    begin_job(b, just_run, BEGUN);
    struct loop_work *job = b->loop.works; /* it has not begun */
    b->loop.works = NULL;
    b->loop.last_work = &b->loop.works;
    b->core = other;
    n_ran = 0;
    look(b, "{\"state\":\"queued\",\"-\":[\"started\",\"cancelling\"]}");
    snprintf(args, sizeof args, "\"id\":\"%s\"", job_id);
    operate(b, "cancel_job", args, "{\"structuredContent\":{\"job\":\"*\"}}");
    look(b, "{\"state\":\"queued\",\"cancelling\":true}");
    operate(b, "list_jobs", "",
            "{\"structuredContent\":{\"jobs\":[{\"state\":\"queued\",\"cancelling\":true}]}}");
    loop_offload(&b->loop, job);
    run_all(b);
    look(b, "{\"state\":\"cancelled\"}");
    assert_int_equal(n_ran, 0);
    b->core = own;
    core_free(other);
}

static void jobs_are_listed_newest_first(void **state)
{
    struct bench *b = *state;
    char args[64], pattern[256], ids[3][64];
    for (int i = 0; i < 3; i++) {
        begin_job(b, i == 1 ? break_down : just_run, BEGUN);
        run_all(b);
        strcpy(ids[i], job_id);
        clock_advance_ms(1);
    }
    snprintf(pattern, sizeof pattern,
             "{\"structuredContent\":{\"jobs\":[{\"id\":\"%s\"},{\"id\":\"%s\"}]}}", ids[2],
             ids[1]);
    operate(b, "list_jobs", "\"limit\":2", pattern);
    snprintf(pattern, sizeof pattern,
             "{\"structuredContent\":{\"jobs\":[{\"id\":\"%s\"},{\"id\":\"%s\"}]}}", ids[2],
             ids[0]);
    operate(b, "list_jobs", "\"state\":\"done\"", pattern);
    snprintf(pattern, sizeof pattern, "{\"structuredContent\":{\"jobs\":[{\"id\":\"%s\"}]}}",
             ids[2]);
    snprintf(args, sizeof args, "\"state\":\"done\",\"limit\":1");
    operate(b, "list_jobs", args, pattern);
}

/* ---- Who may ------------------------------------------------------------------------------- */

static void what_changes_tables_is_not_allowed_unless_configured(void **state)
{
    static const char *const names[] = {"create_table", "alter_table", "drop_table",
                                        "create_index", "drop_index",  "cancel_job"};
    struct bench *b = *state;
    close_all(state);
    bench_open(b, &bench_config);
    b->profile = PROFILE_OPERATIONS;
    bench_connect(b, "2025-06-18");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        operate(b, names[i], "", "!{\"code\":-32602}");
    operate(b, "list_jobs", "", "{\"structuredContent\":{\"jobs\":[]}}");
}

static void what_destroys_says_so(void **state)
{
    ask_method(*state, "tools/list", "",
               "{\"tools\":[{\"name\":\"alter_table\",\"annotations\":{\"readOnlyHint\":false,"
               "\"destructiveHint\":false}},\"...\"]}");
    for (uint32_t i = 0; operation_at(i); i++) {
        const struct operation *o = operation_at(i);
        if (strncmp(o->name, "drop_", 5) == 0)
            assert_true(o->destructive && !o->read_only);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(tables_are_made_and_dropped, open_all, close_all),
        cmocka_unit_test_setup_teardown(bad_arguments_are_told, open_all, close_all),
        cmocka_unit_test_setup_teardown(an_index_is_made_by_a_job, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_job_that_fails_says_why, open_all, close_all),
        cmocka_unit_test_setup_teardown(ids_that_are_none_are_refused, open_all, close_all),
        cmocka_unit_test_setup_teardown(progress_is_written_once_a_second, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_running_job_hears_of_its_cancellation_within_a_second,
                                        open_all, close_all),
        cmocka_unit_test_setup_teardown(a_job_that_is_cancelled_before_its_turn_does_not_begin,
                                        open_all, close_all),
        cmocka_unit_test_setup_teardown(what_a_job_says_is_what_it_did, open_all, close_all),
        cmocka_unit_test_setup_teardown(few_jobs_run_and_some_wait, open_all, close_all),
        cmocka_unit_test_setup_teardown(without_a_thread_a_job_fails, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_server_that_stops_ends_its_jobs, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_job_whose_process_is_gone_has_failed, open_all,
                                        close_all),
        cmocka_unit_test_setup_teardown(a_damaged_record_is_told, open_all, close_all),
        cmocka_unit_test_setup_teardown(another_worker_tells_of_a_job_and_cancels_it, open_all,
                                        close_all),
        cmocka_unit_test_setup_teardown(jobs_are_listed_newest_first, open_all, close_all),
        cmocka_unit_test_setup_teardown(what_changes_tables_is_not_allowed_unless_configured,
                                        open_all, close_all),
        cmocka_unit_test_setup_teardown(what_destroys_says_so, open_all, close_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
