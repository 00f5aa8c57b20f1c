/* tests/unit/test_core_running.c - calls that are cancelled: by their client, on this worker and on
 * another one, and by the end of their session. Two cores on one store stand for two workers.
 */
#include "base/limits.h"
#include "base/log.h"
#include "core/call.h"
#include "core/core_state.h"
#include "net/bus.h"
#include "tests/unit/ask.h"
#include "tests/unit/hand_clock.h"

#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define N(a) (sizeof(a) / sizeof *(a))
#define ROWS (3 * INLINE_SCAN_ENTRIES + 10)

/* ---- Two workers ---------------------------------------------------------------------------- */

static struct bus_slot slots[2];
static struct bus buses[2];
static int wakes[2];
static struct core *cores[2];

static void put_rows(struct bench *b, uint32_t table)
{
    static const struct tape_node row[] = {
        {.kind = TAPE_OBJECT, .n = 1, .v.size = 3},
        {.kind = TAPE_STR, .n = 3, .v.s = "key"},
        {.kind = TAPE_STR, .n = 1, .v.s = "x"},
    };
    for (int i = 0; i < ROWS; i++) {
        char key[16];
        snprintf(key, sizeof key, "k%04d", i);
        bench_write(b, (struct store_op){.kind = STORE_PUT_ROW,
                                         .if_version = STORE_ANY,
                                         .table = table,
                                         .key = str_of(key),
                                         .row = row});
    }
}

static int open_workers(void **state)
{
    static const struct str all = STR_INIT("*");
    struct core_config config = bench_config;
    config.operations_allow = (struct name_globs){&all, 1};
    hand_step_ms = 0;
    when_clock_asked = NULL;
    for (int i = 0; i < 2; i++) {
        wakes[i] = eventfd(0, EFD_NONBLOCK);
        if (wakes[i] < 0 || bus_join(&buses[i], slots, wakes, 2, (uint32_t)i) < 0)
            return -1;
    }
    config.bus = &buses[0];
    bench_open(&bench, &config);
    config.bus = &buses[1];
    assert_int_equal(core_new(&config, bench.store, &bench.loop, &cores[1]), 0);
    cores[0] = bench.core;
    put_rows(&bench, bench_table(&bench, "shop", "page", NOTE_DEFINITION));
    bench_connect(&bench, "2025-06-18");
    bench.n_answers = 0;
    *state = &bench;
    return 0;
}

/* One turn of a worker that was woken. */
static bool look_turn(void)
{
    uint64_t count;
    for (int i = 0; i < 2; i++)
        if (read(wakes[i], &count, sizeof count) == sizeof count) {
            bus_look(&buses[i]);
            return true;
        }
    return false;
}

static void settle(struct bench *b)
{
    while (look_turn() || loop_post_turn(&b->loop, 0))
        ;
}

static int close_workers(void **state)
{
    struct bench *b = *state;
    struct store_write nothing = {.space = STORE_SYS};
    while (loop_turn(&b->loop, 0) || look_turn())
        ;
    store_apply(b->store, &nothing);
    settle(b);
    core_free(cores[1]);
    bench_close(b);
    close(wakes[0]);
    close(wakes[1]);
    return 0;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, open_workers, close_workers)

/* ---- Requests ------------------------------------------------------------------------------- */

#define SEARCH(id)                                                                       \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\":" \
    "\"search_page\",\"arguments\":{\"where\":{\"text\":\"none\"}}}}"
#define CANCEL(params) \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":" params "}"
#define CANCEL_ID(id) CANCEL("{\"requestId\":" id ",\"reason\":\"not needed\"}")

/* Another session, while what is on threads stays there. */
static void connect_again(struct bench *b)
{
    struct loop_work *works = b->loop.works, **last = b->loop.last_work;
    b->loop.works = NULL;
    b->loop.last_work = &b->loop.works;
    bench_connect(b, "2025-06-18");
    b->n_answers = 0;
    assert_null(b->loop.works);
    b->loop.works = works;
    if (works)
        b->loop.last_work = last;
}

/* A notification is accepted, maybe once a letter is written. */
static void notify(struct bench *b, const char *body)
{
    unsigned before = b->n_answers;
    bench_begin(b, str_of(body));
    while (b->n_answers == before)
        if (!look_turn() && !loop_post_turn(&b->loop, 10))
            fail_msg("no answer to %s", body);
}

static void assert_accepted(struct bench *b, unsigned n_answers)
{
    assert_int_equal(b->n_answers, n_answers);
    expect(b, 202, "", "a notification or a call that was cancelled");
}

static void assert_found(struct bench *b, const char *id)
{
    char pattern[64];
    snprintf(pattern, sizeof pattern, "{\"id\":%s,\"result\":{\"content\":\"*\"}}", id);
    expect(b, 200, pattern, "a search");
}

/* ---- By the client -------------------------------------------------------------------------- */

static void C_03_a_cancelled_call_gets_no_response(void **state)
{
    struct bench *b = *state;
    struct call *call = bench_begin(b, STR(SEARCH("7")));
    assert_int_equal(b->n_answers, 0);
    assert_int_equal(call_is_cancelled(call), 0);
    notify(b, CANCEL_ID("7"));
    assert_accepted(b, 1);
    assert_int_equal(call_is_cancelled(call), ERR_CANCELLED);
    n_clock_asked = 0;
    assert_true(loop_work_turn(&b->loop));
    assert_accepted(b, 2);
    assert_int_equal(n_clock_asked, 0); /* it did not even begin */
    ask(b, 200, PING, PONG);
}

static struct call *watched;

static void cancel_at_the_second_question(unsigned n)
{
    if (n == 2)
        call_cancel(watched, ERR_CANCELLED);
}

static void C_03_a_search_stops_at_the_next_row(void **state)
{
    struct bench *b = *state;
    watched = bench_begin(b, STR(SEARCH("1")));
    n_clock_asked = 0;
    when_clock_asked = cancel_at_the_second_question;
    assert_true(loop_work_turn(&b->loop));
    assert_accepted(b, 1);
    assert_int_equal(n_clock_asked, 2);
}

static void C_03_a_search_that_waits_for_its_turn_leaves_at_once(void **state)
{
    struct bench *b = *state;
    for (int i = 0; i <= SCANS_MAX; i++)
        bench_begin(b, STR(SEARCH("1")));
    bench_begin(b, STR(SEARCH("2")));
    notify(b, CANCEL_ID("2"));
    assert_accepted(b, 2);
    bench_begin(b, STR(SEARCH("3"))); /* the list is still whole */
    for (int i = 0; i <= SCANS_MAX + 1; i++) {
        assert_true(loop_work_turn(&b->loop));
        assert_found(b, i <= SCANS_MAX ? "1" : "3");
    }
    assert_false(loop_work_turn(&b->loop));
}

static void C_02_initialize_is_never_cancelled(void **state)
{
    struct bench *b = *state;
    notify(b, CANCEL_ID("0")); /* that was it */
    assert_accepted(b, 1);
    ask(b, 200, PING, PONG);
    char session[128];
    strcpy(session, b->session);
    b->session[0] = '\0';
    b->n_answers = 0;
    struct call *call = bench_begin(b, STR(INITIALIZE("2025-06-18")));
    strcpy(b->session, session);
    assert_null(running_find(&b->core->running, call->session->record.id, STR("0")));
    while (b->n_answers == 0)
        assert_true(loop_post_turn(&b->loop, 10));
    expect(b, 200, "{\"result\":{\"protocolVersion\":\"*\"}}", "initialize");
}

static void C_04_unknown_and_finished_ids_are_ignored(void **state)
{
    struct bench *b = *state;
    notify(b, CANCEL_ID("99"));
    assert_accepted(b, 1);
    bench_begin(b, STR(SEARCH("5")));
    assert_true(loop_work_turn(&b->loop));
    assert_found(b, "5");
    notify(b, CANCEL_ID("5"));
    assert_accepted(b, 3);
    assert_int_equal(b->core->running.n, 0);
    ask(b, 200, PING, PONG);
}

static void C_06_before_the_start_twice_and_after_the_end(void **state)
{
    struct bench *b = *state;
    notify(b, CANCEL_ID("1"));
    bench_begin(b, STR(SEARCH("1")));
    assert_true(loop_work_turn(&b->loop));
    assert_found(b, "1"); /* who comes first has not come yet */
    bench_begin(b, STR(SEARCH("1")));
    notify(b, CANCEL_ID("1"));
    notify(b, CANCEL_ID("1"));
    b->n_answers = 0;
    assert_true(loop_work_turn(&b->loop));
    assert_accepted(b, 1);
    notify(b, CANCEL_ID("1"));
    assert_accepted(b, 2);
}

static void C_06_what_the_handler_found_meanwhile_is_not_sent(void **state)
{
    struct bench *b = *state;
    struct call *call = bench_begin(b, STR(SEARCH("1")));
    struct loop_work *work = b->loop.works;
    work->run(work); /* the answer is written... */
    assert_true(call->out.body.n > 0);
    notify(b, CANCEL_ID("1"));
    b->loop.works = NULL;
    b->loop.last_work = &b->loop.works;
    work->done(work); /* ...and about to be sent */
    assert_accepted(b, 2);
}

static void C_07_the_reason_is_logged(void **state)
{
    struct bench *b = *state;
    char line[512] = "";
    FILE *file = tmpfile();
    int before = dup(STDERR_FILENO);
    bench_begin(b, STR(SEARCH("7")));
    dup2(fileno(file), STDERR_FILENO);
    log_set_level(LOG_DEBUG);
    notify(b, CANCEL("{\"requestId\":7,\"reason\":\"the user\\nlost patience\"}"));
    log_set_level(LOG_INFO);
    dup2(before, STDERR_FILENO);
    close(before);
    rewind(file);
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    assert_non_null(strstr(line, "debug: tools/call 7 is cancelled by its client: the user?lost "
                                 "patience"));
    assert_true(loop_work_turn(&b->loop));
}

static void C_08_a_malformed_cancel_is_ignored(void **state)
{
    static const char *const bodies[] = {
        CANCEL("{}"),
        CANCEL("{\"requestId\":{}}"),
        CANCEL("{\"requestId\":null}"),
        CANCEL("{\"requestId\":[1]}"),
        CANCEL("{\"requestId\":true}"),
        CANCEL("{\"requestId\":1,\"reason\":7}"),
        CANCEL("{\"requestid\":1}"),
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\"}",
    };
    struct bench *b = *state;
    bench_begin(b, STR(SEARCH("1")));
    for (unsigned i = 0; i < N(bodies); i++) {
        notify(b, bodies[i]);
        assert_accepted(b, i + 1);
    }
    assert_true(loop_work_turn(&b->loop));
    assert_found(b, "1");
}

static void C_09_a_number_is_not_a_text(void **state)
{
    struct bench *b = *state;
    bench_begin(b, STR(SEARCH("1")));
    bench_begin(b, STR(SEARCH("\"1\"")));
    notify(b, CANCEL_ID("\"1\""));
    assert_true(loop_work_turn(&b->loop));
    assert_found(b, "1");
    assert_true(loop_work_turn(&b->loop));
    assert_accepted(b, 3);
}

static void a_session_cancels_its_own_calls_only(void **state)
{
    struct bench *b = *state;
    bench_begin(b, STR(SEARCH("1")));
    connect_again(b);
    notify(b, CANCEL_ID("1"));
    assert_true(loop_work_turn(&b->loop));
    assert_found(b, "1");
}

static void C_03_a_member_of_a_batch_has_no_answer_in_it(void **state)
{
    struct bench *b = *state;
    bench_connect(b, "2025-03-26");
    b->n_answers = 0;
    bench_begin(b, STR("[" SEARCH("1") "," SEARCH("2") "," CANCEL_ID("1") "]"));
    while (b->n_answers == 0)
        assert_true(look_turn() || loop_turn(&b->loop, 10));
    expect(b, 200, "[{\"id\":2,\"result\":{\"content\":\"*\"}}]", "a batch");
    b->n_answers = 0;
    bench_begin(b, STR("[" SEARCH("1") "," CANCEL_ID("1") "]"));
    while (b->n_answers == 0)
        assert_true(look_turn() || loop_turn(&b->loop, 10));
    assert_accepted(b, 1);
}

/* ---- Jobs ----------------------------------------------------------------------------------- */

#define MAKE_INDEX(id)                                                                     \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\""    \
    ":\"create_index\",\"arguments\":{\"database\":\"shop\",\"table\":\"page\",\"index\":" \
    "{\"name\":\"i\",\"on\":[\"text\"]}}}}"
#define JOBS                                                                               \
    "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/call\",\"params\":{\"name\":\"list_" \
    "jobs\",\"arguments\":{}}}"

static void connect_operator(struct bench *b)
{
    b->profile = PROFILE_OPERATIONS;
    connect_again(b);
}

static void a_job_that_its_client_never_heard_of_does_not_begin(void **state)
{
    struct bench *b = *state;
    connect_operator(b);
    struct call *call = bench_begin(b, STR(MAKE_INDEX("1")));
    call_cancel(call, ERR_CANCELLED);
    while (b->n_answers == 0)
        assert_true(loop_post_turn(&b->loop, 10));
    assert_accepted(b, 1);
    assert_int_equal(b->loop.n_offloaded, 0);
    ask(b, 200, JOBS,
        "{\"result\":{\"structuredContent\":{\"jobs\":[{\"state\":\"cancelled\"}]}}}");
}

static void a_job_goes_on_when_the_call_that_began_it_is_over(void **state)
{
    struct bench *b = *state;
    connect_operator(b);
    bench_begin(b, STR(MAKE_INDEX("1")));
    while (b->n_answers == 0)
        assert_true(loop_post_turn(&b->loop, 10));
    expect(b, 200, "{\"result\":{\"structuredContent\":{\"job\":\"*\"}}}", "a job");
    notify(b, CANCEL_ID("1"));
    while (loop_turn(&b->loop, 0))
        ;
    ask(b, 200, JOBS, "{\"result\":{\"structuredContent\":{\"jobs\":[{\"state\":\"done\"}]}}}");
}

/* ---- The check of a result ------------------------------------------------------------------ */

static void C_03_a_check_stops(void **state)
{
    static const struct tape_node value[] = {{.kind = TAPE_ARRAY, .n = 2, .v.size = 3},
                                             {.kind = TAPE_INT, .v.i = 1},
                                             {.kind = TAPE_INT}};
    struct arena arena;
    struct wire_fault fault;
    struct schema_faults faults;
    const struct tape_node *document;
    const struct json_schema *schema;
    _Atomic int stop = 0;
    char text[256] = "{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"minimum\":0}}";
    (void)state;
    arena_init(&arena, 0);
    struct str json = {text, (uint32_t)strlen(text)};
    assert_int_equal(tape_open(json, &arena, &document, &fault), 0);
    assert_int_equal(json_schema_compile(document, NULL, &arena, &schema, &faults), 0);
    assert_int_equal(json_schema_check_unless(schema, value, &stop, &faults), 0);
    stop = ERR_CANCELLED;
    assert_int_equal(json_schema_check_unless(schema, value, &stop, &faults), ERR_CANCELLED);
    assert_int_equal(json_schema_check_unless(schema, value, &stop, NULL), ERR_CANCELLED);
    arena_done(&arena);
}

/* ---- On another worker ---------------------------------------------------------------------- */

static void C_10_a_cancel_reaches_the_other_worker(void **state)
{
    struct bench *b = *state;
    struct call *call = bench_begin(b, STR(SEARCH("1")));
    assert_int_equal(bus_flags(&buses[1], 0), BUS_CALLS);
    assert_int_equal(bus_flags(&buses[0], 1), 0);
    b->core = cores[1];
    notify(b, CANCEL_ID("1"));
    assert_accepted(b, 1);
    settle(b);
    assert_int_equal(call_is_cancelled(call), ERR_CANCELLED);
    assert_true(loop_work_turn(&b->loop));
    assert_accepted(b, 2);
    b->core = cores[0];
}

static void C_04_nobody_is_told_when_nobody_has_calls(void **state)
{
    struct bench *b = *state;
    b->core = cores[1];
    bench_begin(b, STR(CANCEL_ID("1")));
    assert_accepted(b, 1); /* at once, without the store */
    b->core = cores[0];
    bench_begin(b, STR(SEARCH("1")));
    while (loop_turn(&b->loop, 0))
        ;
    assert_int_equal(bus_flags(&buses[1], 0), BUS_CALLS);
    core_tick(cores[0]); /* not every call pays for the flag */
    assert_int_equal(bus_flags(&buses[1], 0), 0);
}

static void the_end_of_a_session_reaches_all_workers(void **state)
{
    struct bench *b = *state;
    bench_begin(b, STR(SEARCH("1")));
    b->core = cores[1];
    bench_begin(b, STR(SEARCH("2")));
    char session[128];
    strcpy(session, b->session);
    connect_again(b);
    bench_begin(b, STR(SEARCH("3"))); /* of another session */
    strcpy(b->session, session);
    b->verb = CALL_DELETE;
    notify(b, "");
    assert_int_equal(b->status, 204);
    settle(b);
    b->core = cores[0];
    while (loop_turn(&b->loop, 0))
        ;
    assert_int_equal(b->n_answers, 4);
    assert_found(b, "3"); /* the last one */
}

static void a_session_that_is_gone_without_a_word_is_noticed(void **state)
{
    struct bench *b = *state;
    struct store_session gone = {.id = str_of(b->session)};
    struct store_op op = {
        .kind = STORE_DELETE_SESSION, .if_version = STORE_PRESENT, .session = &gone};
    struct store_write write = {.space = STORE_SYS, .ops = &op, .n_ops = 1};
    struct call *call = bench_begin(b, STR(SEARCH("1")));
    clock_advance_ms(BUS_LOOK_MS);
    core_tick(cores[0]);
    assert_int_equal(call_is_cancelled(call), 0);
    assert_int_equal(store_apply(b->store, &write), 0);
    core_tick(cores[0]);
    assert_int_equal(call_is_cancelled(call), 0); /* not every tick looks */
    clock_advance_ms(BUS_LOOK_MS);
    core_tick(cores[0]);
    assert_int_equal(call_is_cancelled(call), ERR_SESSION_GONE);
    assert_true(loop_work_turn(&b->loop));
    assert_accepted(b, 1);
}

static void a_stop_answers_by_an_error(void **state)
{
    struct bench *b = *state;
    bench_begin(b, STR(SEARCH("1")));
    core_close(b->core);
    core_hurry(b->core);
    assert_true(loop_work_turn(&b->loop));
    expect(b, 500, "{\"id\":1,\"error\":{\"code\":-32603,\"message\":\"Closed\"}}", "a search");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(C_02_initialize_is_never_cancelled),
        TEST(C_03_a_cancelled_call_gets_no_response),
        TEST(C_03_a_search_stops_at_the_next_row),
        TEST(C_03_a_search_that_waits_for_its_turn_leaves_at_once),
        TEST(C_03_a_member_of_a_batch_has_no_answer_in_it),
        cmocka_unit_test(C_03_a_check_stops),
        TEST(C_04_unknown_and_finished_ids_are_ignored),
        TEST(C_04_nobody_is_told_when_nobody_has_calls),
        TEST(C_06_before_the_start_twice_and_after_the_end),
        TEST(C_06_what_the_handler_found_meanwhile_is_not_sent),
        TEST(C_07_the_reason_is_logged),
        TEST(C_08_a_malformed_cancel_is_ignored),
        TEST(C_09_a_number_is_not_a_text),
        TEST(C_10_a_cancel_reaches_the_other_worker),
        TEST(a_session_cancels_its_own_calls_only),
        TEST(a_job_that_its_client_never_heard_of_does_not_begin),
        TEST(a_job_goes_on_when_the_call_that_began_it_is_over),
        TEST(the_end_of_a_session_reaches_all_workers),
        TEST(a_session_that_is_gone_without_a_word_is_noticed),
        TEST(a_stop_answers_by_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
