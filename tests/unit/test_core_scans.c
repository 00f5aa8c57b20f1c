/* tests/unit/test_core_scans.c - long searches: how many run at once, who waits, what ends them. */
#include "base/limits.h"
#include "core/call.h"
#include "tests/unit/ask.h"
#include "tests/unit/hand_clock.h"

#define N(a) (sizeof(a) / sizeof *(a))

/* Of shop.page: the loop looks at one part of them, a thread at two and a bit, with a check in
 * front of each. */
#define ROWS     (3 * INLINE_SCAN_ENTRIES + 10)
#define SEARCHES (SCANS_MAX + 16)

#define ANSWERED_BUSY "\"text\":\"The server is busy. Nothing was changed; try again in a moment.\""
#define CANCELLED     "{\"error\":{\"code\":-32600,\"message\":\"Cancelled\"}}"

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

static int open_long(void **state)
{
    hand_step_ms = 0;
    when_clock_asked = NULL;
    bench_open(&bench, &bench_config);
    put_rows(&bench, bench_table(&bench, "shop", "page", NOTE_DEFINITION));
    bench_table(&bench, "shop", "note", NOTE_DEFINITION);
    bench_connect(&bench, "2025-03-26");
    *state = &bench;
    return 0;
}

#define LONG_TEST(f) cmocka_unit_test_setup_teardown(f, open_long, close_bench)

#define SEARCH(id)                                                                       \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\":" \
    "\"search_page\",\"arguments\":{\"where\":{\"text\":\"none\"}}}}"

static struct call *begin_search(struct bench *b, int id)
{
    char body[512];
    snprintf(body, sizeof body, SEARCH("%d"), id);
    struct call *call = bench_begin(b, str_of(body));
    n_clock_asked = 0;
    return call;
}

static void begin_searches(struct bench *b, int n)
{
    b->n_answers = 0;
    for (int i = 0; i < n; i++)
        begin_search(b, i);
}

static void assert_answered(struct bench *b, const char *text)
{
    if (!b->body.p || !strstr(b->body.p, text))
        fail_msg("answered %s, not %s", b->body.p ? b->body.p : "nothing", text);
}

static void finish_all(struct bench *b, unsigned n)
{
    while (b->n_answers < n)
        assert_true(loop_turn(&b->loop, 10));
    assert_int_equal(b->n_answers, n);
    assert_null(b->loop.works);
}

static unsigned count_works(const struct loop *loop)
{
    unsigned n = 0;
    for (const struct loop_work *work = loop->works; work; work = work->next)
        n++;
    return n;
}

/* ---- How many ------------------------------------------------------------------------------- */

static void at_most_SCANS_MAX_run_at_once_and_the_rest_wait_in_order(void **state)
{
    struct bench *b = *state;
    begin_searches(b, SEARCHES);
    assert_int_equal(b->n_answers, 0);
    for (int i = 0; i < SEARCHES; i++) {
        char id[32];
        int left = SEARCHES - i;
        assert_int_equal(count_works(&b->loop), left < SCANS_MAX ? left : SCANS_MAX);
        assert_true(loop_work_turn(&b->loop));
        assert_int_equal(b->n_answers, i + 1);
        snprintf(id, sizeof id, "\"id\":%d,\"result\"", i);
        assert_answered(b, id);
        assert_answered(b, "{\\\"rows\\\":[]}");
    }
    assert_null(b->loop.works);
}

static void short_requests_pass_those_that_wait(void **state)
{
    struct bench *b = *state;
    begin_searches(b, SEARCHES);
    bench_begin(b, STR(PING));
    assert_int_equal(b->n_answers, 1);
    expect(b, 200, PONG, "a ping");
    finish_all(b, SEARCHES + 1);
}

static void beyond_SCANS_WAITING_MAX_the_server_is_busy(void **state)
{
    struct bench *b = *state;
    static struct call *calls[SCANS_MAX + SCANS_WAITING_MAX];
    b->n_answers = 0;
    for (size_t i = 0; i < N(calls); i++)
        calls[i] = begin_search(b, 1);
    assert_int_equal(b->n_answers, 0);
    begin_search(b, 2);
    assert_int_equal(b->n_answers, 1);
    assert_answered(b, ANSWERED_BUSY);
    for (size_t i = 0; i < N(calls); i++)
        calls[i]->orphaned = true; /* nobody needs all these rows */
    finish_all(b, N(calls) + 1);
    begin_searches(b, 1);
    finish_all(b, 1);
    assert_answered(b, "{\\\"rows\\\":[]}");
}

static void a_thread_pool_that_is_full_refuses_those_that_wait(void **state)
{
    struct bench *b = *state;
    begin_searches(b, SCANS_MAX + 2);
    b->loop.busy = true;
    assert_true(loop_work_turn(&b->loop));
    assert_int_equal(b->n_answers, 3); /* it, and both that waited */
    b->loop.busy = false;
    finish_all(b, SCANS_MAX + 2);
}

static void the_answer_of_a_long_search_is_written_on_its_thread(void **state)
{
    struct bench *b = *state;
    b->n_answers = 0;
    struct call *call = begin_search(b, 1);
    struct loop_work *work = b->loop.works;
    assert_int_equal(call->out.body.n, 0);
    work->run(work); /* once more will do no harm: its thread finds the same */
    assert_true(call->out.body.n > 0);
    finish_all(b, 1);
    expect(b, 200, "{\"id\":1,\"result\":{\"content\":\"*\"}}", "a search");
}

/* ---- Heavy rows ----------------------------------------------------------------------------- */

#define LONG_TEXT 400000

static void put_long_row(struct bench *b)
{
    char *text = malloc(LONG_TEXT);
    assert_non_null(text);
    memset(text, 'a', LONG_TEXT);
    const struct tape_node row[] = {
        {.kind = TAPE_OBJECT, .n = 2, .v.size = 5},      {.kind = TAPE_STR, .n = 3, .v.s = "key"},
        {.kind = TAPE_STR, .n = 1, .v.s = "l"},          {.kind = TAPE_STR, .n = 4, .v.s = "text"},
        {.kind = TAPE_STR, .n = LONG_TEXT, .v.s = text},
    };
    uint32_t table = bench_table(b, "shop", "long", NOTE_DEFINITION);
    bench_write(b, (struct store_op){.kind = STORE_PUT_ROW,
                                     .if_version = STORE_ANY,
                                     .table = table,
                                     .key = STR("l"),
                                     .row = row});
    free(text);
}

/* A filter that compares each of its bytes sixty times. */
static void search_long_row(struct bench *b)
{
    b->n_answers = 0;
    bench_begin(b, STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
                       "\"name\":\"search_long\",\"arguments\":{\"where\":\"text like '%_"
                       "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab%'\"}}}"));
    n_clock_asked = 0;
}

static void a_row_that_a_pattern_takes_long_for_is_left_to_a_thread(void **state)
{
    struct bench *b = *state;
    put_long_row(b);
    search_long_row(b);
    assert_int_equal(b->n_answers, 0);
    assert_int_equal(count_works(&b->loop), 1);
    finish_all(b, 1);
    assert_answered(b, "{\\\"rows\\\":[]}");
}

static void a_search_past_SCAN_MS_MAX_ends_within_a_row(void **state)
{
    struct bench *b = *state;
    put_long_row(b);
    search_long_row(b);
    hand_step_ms = SCAN_MS_MAX / 8;
    finish_all(b, 1);
    assert_answered(b, "The search was stopped after 10 seconds.");
    assert_in_range(n_clock_asked, 7, 9);
}

/* ---- What ends them ------------------------------------------------------------------------- */

static void a_search_past_SCAN_MS_MAX_is_told_what_to_do(void **state)
{
    struct bench *b = *state;
    begin_searches(b, 1);
    hand_step_ms = SCAN_MS_MAX / 2;
    finish_all(b, 1);
    expect(b, 200, "{\"result\":{\"isError\":true,\"content\":[{\"text\":\"*\"}]}}", "a search");
    assert_answered(b, "The search was stopped after 10 seconds. Narrow it down: name the primary "
                       "key (key) in `where`, or ask for fewer rows by a smaller `limit`.");
    assert_int_equal(n_clock_asked, 2); /* in the middle of the rows */
}

static void a_search_within_SCAN_MS_MAX_comes_to_its_end(void **state)
{
    struct bench *b = *state;
    begin_searches(b, 1);
    hand_step_ms = SCAN_MS_MAX / 4;
    finish_all(b, 1);
    assert_answered(b, "{\\\"rows\\\":[]}");
    assert_int_equal(n_clock_asked, 3);
}

static unsigned n_busy;

static void count_busy(struct call *call)
{
    struct bench *b = call->transport;
    take_answer(call);
    n_busy += strstr(b->body.p, "server is busy") != NULL;
}

static void a_search_that_only_waited_for_SCAN_MS_MAX_is_refused_as_busy(void **state)
{
    struct bench *b = *state;
    n_busy = 0;
    begin_searches(b, SCANS_MAX);
    begin_search(b, SCANS_MAX)->finish = count_busy;
    begin_search(b, SCANS_MAX + 1)->finish = count_busy;
    clock_advance_ms(SCAN_MS_MAX);
    assert_true(loop_work_turn(&b->loop));
    assert_int_equal(b->n_answers, 3);
    assert_int_equal(n_busy, 2);
    assert_answered(b, "The search was stopped after"); /* who ran is told last */
    assert_int_equal(count_works(&b->loop), SCANS_MAX - 1);
    finish_all(b, SCANS_MAX + 2);
}

static void a_resource_past_SCAN_MS_MAX_is_an_error(void **state)
{
    struct core_config config = bench_config;
    struct bench *b = &bench;
    (void)state;
    config.search_page = 1000;
    bench_open(b, &config);
    put_rows(b, bench_table(b, "shop", "page", NOTE_DEFINITION));
    bench_connect(b, "2025-06-18");
    b->n_answers = 0;
    bench_begin(b, STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\",\"params\":{"
                       "\"uri\":\"db://shop/page\"}}"));
    clock_advance_ms(SCAN_MS_MAX);
    finish_all(b, 1);
    expect(b, 200, "{\"error\":{\"code\":-32603,\"message\":\"The time limit was exceeded\"}}",
           "a table");
    bench_close(b);
}

static struct call *watched;

static void leave_at_the_second_question(unsigned n)
{
    if (n == 2)
        watched->orphaned = true;
}

static void a_search_whose_client_went_away_stops_at_the_next_row_check(void **state)
{
    struct bench *b = *state;
    b->n_answers = 0;
    watched = begin_search(b, 1);
    when_clock_asked = leave_at_the_second_question;
    finish_all(b, 1);
    expect(b, 200, CANCELLED, "a search");
    assert_int_equal(n_clock_asked, 2); /* the third check saw that before it asked for the time */
}

static void a_search_in_a_batch_whose_client_went_away_stops(void **state)
{
    struct bench *b = *state;
    b->n_answers = 0;
    struct call *batch = bench_begin(b, STR("[" SEARCH("1") "," SEARCH("2") "]"));
    while (!b->loop.works)
        assert_true(loop_post_turn(&b->loop, 10));
    batch->orphaned = true;
    finish_all(b, 1);
    expect(b, 200, "[" CANCELLED "," CANCELLED "]", "a batch");
}

static void the_end_of_a_session_stops_its_searches_only(void **state)
{
    struct bench *b = *state;
    char session[128];
    strcpy(session, b->session);
    bench_connect(b, "2025-03-26");
    b->n_answers = 0;
    begin_search(b, 0); /* of the other session, and running */
    char other[128];
    strcpy(other, b->session);
    strcpy(b->session, session);
    for (int i = 1; i <= SCANS_MAX; i++)
        begin_search(b, i); /* the last one waits */
    b->verb = CALL_DELETE;
    bench_begin(b, STR(""));
    while (b->n_answers == 0)
        assert_true(loop_post_turn(&b->loop, 10));
    assert_int_equal(b->status, 204);
    assert_int_equal(b->n_answers, 2); /* the one that waited does so no longer */
    for (int i = 0; i < SCANS_MAX; i++) {
        assert_true(loop_work_turn(&b->loop));
        if (i == 0)
            assert_answered(b, "{\\\"rows\\\":[]}");
        else
            expect(b, 202, "", "a search");
    }
    finish_all(b, 2 + SCANS_MAX);
}

/* ---- Updates --------------------------------------------------------------------------------- */

static void begin_update(struct bench *b, int value)
{
    char body[256];
    snprintf(body, sizeof body,
             "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":"
             "\"update_note\",\"arguments\":{\"id\":\"k\",\"changes\":{\"a%d\":1}}}}",
             value, value);
    bench_begin(b, str_of(body));
}

/* Two updates of one row at once, each with an attribute of its own; whether an answer was an error
 * (that of the second: it comes last). */
static bool is_one_refused(struct bench *b, int first)
{
    b->n_answers = 0;
    begin_update(b, first);
    begin_update(b, first + 1);
    finish_all(b, 2);
    return strstr(b->body.p, "\"isError\":true") != NULL;
}

/* The second has read the row before the first is written, unless the writer thread was quicker:
 * then it has to be tried anew. */
static void an_update_overtaken_for_UPDATE_MS_MAX_gives_up(void **state)
{
    struct bench *b = *state;
    int n = 0;
    char lost[32];
    ask_method(b, "tools/call", "{\"name\":\"create_note\",\"arguments\":{\"key\":\"k\"}}", "{}");
    for (; n < 200; n += 2)
        assert_false(is_one_refused(b, n)); /* in time they try again */
    hand_step_ms = UPDATE_MS_MAX;
    while (n < 2000 && !is_one_refused(b, n))
        n += 2;
    hand_step_ms = 0;
    assert_true(n < 2000);
    ask_method(b, "tools/call", "{\"name\":\"get_note\",\"arguments\":{\"id\":\"k\"}}", "{}");
    snprintf(lost, sizeof lost, "a%d\\\":", n);
    assert_non_null(strstr(b->body.p, lost));
    snprintf(lost, sizeof lost, "a%d\\\":", n + 1);
    assert_null(strstr(b->body.p, lost));
}

/* ---- The end of the server ------------------------------------------------------------------ */

#define CREATE                                          \
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/" \
    "call\",\"params\":{\"name\":\"create_note\","      \
    "\"arguments\":{\"key\":\"last\"}}}"

/* As a worker does it: the connections are closed, the loop is drained, the core is freed. */
static void an_orderly_stop_leaves_nothing_of_searches_and_batches(void **state)
{
    struct bench *b = *state;
    static struct call *calls[SEARCHES + 2];
    hand_step_ms = BATCH_TURN_MS; /* one member a turn */
    b->n_answers = 0;
    for (int i = 0; i < SEARCHES; i++)
        calls[i] = begin_search(b, i);
    calls[SEARCHES] = bench_begin(b, STR("[" SEARCH("1") "," PING "," CREATE "," SEARCH("2") "]"));
    assert_true(loop_post_turn(&b->loop, 10)); /* one of its members waits, three are to come */
    calls[SEARCHES + 1] = bench_begin(b, STR("[" PING "," SEARCH("1") "]"));
    for (size_t i = 0; i < N(calls); i++)
        calls[i]->orphaned = true;
    finish_all(b, N(calls));
    ask_method(b, "tools/call", "{\"name\":\"get_note\",\"arguments\":{\"id\":\"last\"}}",
               "{\"-\":[\"isError\"]}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LONG_TEST(an_update_overtaken_for_UPDATE_MS_MAX_gives_up),
        LONG_TEST(at_most_SCANS_MAX_run_at_once_and_the_rest_wait_in_order),
        LONG_TEST(short_requests_pass_those_that_wait),
        LONG_TEST(beyond_SCANS_WAITING_MAX_the_server_is_busy),
        LONG_TEST(a_thread_pool_that_is_full_refuses_those_that_wait),
        LONG_TEST(the_answer_of_a_long_search_is_written_on_its_thread),
        LONG_TEST(a_row_that_a_pattern_takes_long_for_is_left_to_a_thread),
        LONG_TEST(a_search_past_SCAN_MS_MAX_ends_within_a_row),
        LONG_TEST(a_search_past_SCAN_MS_MAX_is_told_what_to_do),
        LONG_TEST(a_search_within_SCAN_MS_MAX_comes_to_its_end),
        LONG_TEST(a_search_that_only_waited_for_SCAN_MS_MAX_is_refused_as_busy),
        cmocka_unit_test(a_resource_past_SCAN_MS_MAX_is_an_error),
        LONG_TEST(a_search_whose_client_went_away_stops_at_the_next_row_check),
        LONG_TEST(a_search_in_a_batch_whose_client_went_away_stops),
        LONG_TEST(the_end_of_a_session_stops_its_searches_only),
        LONG_TEST(an_orderly_stop_leaves_nothing_of_searches_and_batches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
