/* tests/unit/test_core_batch.c - arrays of messages: the checklist's J-30 to J-39 and Q-18. */
#include "tests/unit/ask.h"
#include "tests/unit/hand_clock.h"

#define N(a)     (sizeof(a) / sizeof *(a))
#define REFUSED  "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":\"*\"}}"
#define NOTE_ANY "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/foo\"}"

static void J_30_J_37_a_batch_is_answered_by_an_array(void **state)
{
    bench_connect(*state, "2025-03-26");
    ask(*state, 200,
        "[" PING ",{\"jsonrpc\":\"2.0\",\"id\":\"b\",\"method\":\"tools/list\"}," INITIALIZED "]",
        "[" PONG ",{\"id\":\"b\",\"result\":{\"tools\":\"*\"}}]");
    ask(*state, 200, "[" PING "]", "[" PONG "]");
}

static void J_30_members_that_answer_later_are_awaited(void **state)
{
    bench_connect(*state, "2025-03-26");
    ask(*state, 200,
        "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
        "call\",\"params\":{\"name\":\"create_note\",\"arguments\":{\"key\":\"a\"}}},"
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"},"
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/"
        "call\",\"params\":{\"name\":\"create_note\",\"arguments\":{\"key\":\"b\"}}}]",
        "[{\"id\":2,\"result\":{}},{\"id\":1,\"result\":{\"content\":\"*\"}},{\"id\":3,\"result\":{"
        "\"content\":\"*\"}}]");
    ask_method(*state, "tools/call", "{\"name\":\"get_note\",\"arguments\":{\"id\":\"b\"}}",
               "{\"-\":[\"isError\"]}");
}

static void J_32_one_answer_per_request(void **state)
{
    bench_connect(*state, "2025-03-26");
    ask(*state, 200,
        "[" PING "," NOTE_ANY ",{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"foo/bar\"}]",
        "[" PONG ",{\"id\":2,\"error\":{\"code\":-32601}}]");
    ask(*state, 200, "[" PING "," PING "]", "[" PONG "," PONG "]");
}

static void J_33_an_empty_array_is_one_error(void **state)
{
    bench_connect(*state, "2025-03-26");
    ask(*state, 400, "[]", REFUSED);
    ask(*state, 400, " [ ] ", REFUSED);
}

static void J_34_invalid_members_get_their_own_error(void **state)
{
    bench_connect(*state, "2025-03-26");
    ask(*state, 200, "[1," PING "]", "[" REFUSED "," PONG "]");
    ask(*state, 200,
        "[{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}," PING ",[],[" PING "]]",
        "[" REFUSED "," PONG "," REFUSED "," REFUSED "]");
    ask(*state, 200,
        "[{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"params\":{\"_meta\":1}}]",
        "[{\"id\":7,\"error\":{\"code\":-32602}}]");
}

static void J_35_initialize_is_never_in_a_batch(void **state)
{
    ask(*state, 400, "[" INITIALIZE("2025-03-26") "]", REFUSED);
    ask(*state, 400, "[" INITIALIZE("2025-03-26") "," PING "]", REFUSED);
    assert_int_equal(bench.new_session[0], '\0');
    bench_connect(*state, "2025-03-26");
    ask(*state, 400, "[" PING "," INITIALIZE("2025-03-26") "]", REFUSED);
}

static void J_36_without_requests_there_is_no_body(void **state)
{
    bench_connect(*state, "2025-03-26");
    ask(*state, 202, "[" INITIALIZED "," NOTE_ANY "]", "");
    ask(*state, 202,
        "[{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}},{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{"
        "\"code\":1,\"message\":\"x\"}}]",
        "");
    ask(*state, 202, "[" NOTE_ANY ",{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}]", "");
}

static void J_38_requests_and_responses_do_not_mix(void **state)
{
    bench_connect(*state, "2025-03-26");
    ask(*state, 400, "[" PING ",{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}]", REFUSED);
}

static void J_39_other_revisions_have_no_batches(void **state)
{
    bench_connect(*state, "2025-06-18");
    ask(*state, 400, "[" PING "]", REFUSED);
    ask(*state, 400, "[]", REFUSED);
    ask(*state, 200, PING, PONG);
}

static void L_02_a_batch_needs_a_session(void **state)
{
    ask(*state, 400, "[" PING "]", REFUSED);
    strcpy(bench.session, "0123456789abcdef0123456789abcdef01234567");
    ask(*state, 404, "[" PING "]", REFUSED);
}

static void Q_18_a_batch_has_a_limit(void **state)
{
    struct buf body = {0};
    bench_connect(*state, "2025-03-26");
    for (int n = BATCH_MAX; n <= BATCH_MAX + 1; n++) {
        buf_clear(&body);
        for (int i = 0; i < n; i++)
            buf_printf(&body, "%s" PING, i ? "," : "[");
        buf_add_char(&body, ']');
        bench_send(*state, buf_str(&body));
        assert_int_equal(bench.status, n == BATCH_MAX ? 200 : 400);
    }
    buf_done(&body);
}

/* Twelve pages of almost 2 MiB (each twice: text and, in later revisions, structure) are more than
 * the answers of a batch may hold together. */
static void the_answers_of_a_batch_are_bounded(void **state)
{
    struct buf body = {0};
    bench_connect(*state, "2025-03-26");
    for (int i = 0; i < 4; i++) {
        buf_clear(&body);
        buf_printf(&body,
                   "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
                   "call\",\"params\":{\"name\":\"create_note\",\"arguments\":{\"key\":\"k%d\","
                   "\"text\":\"",
                   i);
        for (int k = 0; k < 900000; k++)
            buf_add_char(&body, 'x');
        buf_add_lit(&body, "\"}}}");
        bench_send(*state, buf_str(&body));
    }
    buf_clear(&body);
    for (int i = 0; i < 20; i++)
        buf_printf(&body,
                   "%s{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/"
                   "call\",\"params\":{\"name\":\"search_note\"}}",
                   i ? "," : "[", i);
    buf_add_char(&body, ']');
    bench_send(*state, buf_str(&body));
    assert_int_equal(bench.status, 200);
    assert_true(bench.body.n < BATCH_BYTES_MAX + 10000);
    assert_non_null(strstr(bench.body.p, "The answers of the batch are too large together"));
    assert_non_null(strstr(bench.body.p, "\"id\":19,"));
    buf_done(&body);
}

/* ---- Turns of the loop ------------------------------------------------------------------------
 */

static struct call *begin_pings(struct bench *b, int n)
{
    struct buf body = {0};
    for (int i = 0; i < n; i++)
        buf_printf(&body, "%s" PING, i ? "," : "[");
    buf_add_char(&body, ']');
    struct call *call = bench_begin(b, buf_str(&body));
    buf_done(&body);
    return call;
}

static int count_turns(struct bench *b, int n_pings)
{
    int n = 0;
    b->n_answers = 0;
    begin_pings(b, n_pings);
    for (; b->n_answers == 0; n++)
        assert_true(loop_post_turn(&b->loop, 10));
    assert_int_equal(b->status, 200);
    return n;
}

static void members_take_BATCH_TURN_MS_of_a_turn(void **state)
{
    static const struct {
        int step_ms, n_turns;
    } cases[] = {{0, 1}, {1, BATCH_MAX / BATCH_TURN_MS}, {BATCH_TURN_MS, BATCH_MAX}, {1000, 100}};
    bench_connect(*state, "2025-03-26");
    for (size_t i = 0; i < N(cases); i++) {
        hand_step_ms = cases[i].step_ms;
        assert_int_equal(count_turns(*state, BATCH_MAX), cases[i].n_turns);
    }
    hand_step_ms = 0;
}

static void batches_go_round_and_others_pass_them(void **state)
{
    struct bench *b = *state;
    bench_connect(b, "2025-03-26");
    hand_step_ms = BATCH_TURN_MS;
    b->n_answers = 0;
    begin_pings(b, BATCH_MAX);
    begin_pings(b, 2);
    for (int i = 0; i < 3; i++)
        assert_true(loop_post_turn(&b->loop, 10));
    bench_begin(b, STR(PING));
    assert_int_equal(b->n_answers, 1);
    expect(b, 200, PONG, "a ping");
    assert_true(loop_post_turn(&b->loop, 10));
    assert_int_equal(b->n_answers, 2);
    expect(b, 200, "[" PONG "," PONG "]", "the short batch");
    while (b->n_answers < 3)
        assert_true(loop_post_turn(&b->loop, 10));
    assert_null(b->loop.posts);
    hand_step_ms = 0;
}

static void a_batch_whose_client_went_away_runs_to_its_end(void **state)
{
    struct bench *b = *state;
    bench_connect(b, "2025-03-26");
    hand_step_ms = BATCH_TURN_MS;
    b->n_answers = 0;
    struct call *batch = bench_begin(
        b, STR("[" PING "," PING ",{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
               "\"params\":{\"name\":\"create_note\",\"arguments\":{\"key\":\"a\"}}}]"));
    assert_true(loop_post_turn(&b->loop, 10));
    batch->orphaned = true;
    while (b->n_answers == 0)
        assert_true(loop_post_turn(&b->loop, 10));
    hand_step_ms = 0;
    ask_method(b, "tools/call", "{\"name\":\"get_note\",\"arguments\":{\"id\":\"a\"}}",
               "{\"-\":[\"isError\"]}");
}

static void C_017_deep_members_are_one_parse_error(void **state)
{
    bench_connect(*state, "2025-03-26");
    struct buf body = {0};
    for (int i = 0; i < 100000; i++)
        buf_add_char(&body, '[');
    bench_send(*state, buf_str(&body));
    expect(*state, 400, "{\"id\":null,\"error\":{\"code\":-32700}}", "brackets");
    buf_done(&body);
}

static void every_failing_allocation_is_answered(void **state)
{
    static const char body[] =
        "[" PING ",{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/"
        "call\",\"params\":{\"name\":\"get_book\",\"arguments\":{\"id\":1}}}," NOTE_ANY "]";
    unsigned n_failed = 0;
    bench_connect(*state, "2025-03-26");
    for (bench.arena_limit = 1; bench.arena_limit < 40000; bench.arena_limit += 64) {
        bench_send(*state, str_of(body));
        n_failed += bench.status == 500;
        assert_true(bench.status == 500 || bench.status == 200);
    }
    assert_true(n_failed > 10);
    assert_int_equal(bench.status, 200);
    expect(*state, 200, "[" PONG ",{\"id\":2,\"result\":{\"content\":\"*\"}}]", body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BENCH_TEST(J_30_J_37_a_batch_is_answered_by_an_array),
        SHOP_TEST(J_30_members_that_answer_later_are_awaited),
        BENCH_TEST(J_32_one_answer_per_request),
        BENCH_TEST(J_33_an_empty_array_is_one_error),
        BENCH_TEST(J_34_invalid_members_get_their_own_error),
        BENCH_TEST(J_35_initialize_is_never_in_a_batch),
        BENCH_TEST(J_36_without_requests_there_is_no_body),
        BENCH_TEST(J_38_requests_and_responses_do_not_mix),
        BENCH_TEST(J_39_other_revisions_have_no_batches),
        BENCH_TEST(L_02_a_batch_needs_a_session),
        BENCH_TEST(Q_18_a_batch_has_a_limit),
        SHOP_TEST(the_answers_of_a_batch_are_bounded),
        BENCH_TEST(members_take_BATCH_TURN_MS_of_a_turn),
        BENCH_TEST(batches_go_round_and_others_pass_them),
        SHOP_TEST(a_batch_whose_client_went_away_runs_to_its_end),
        BENCH_TEST(C_017_deep_members_are_one_parse_error),
        SHOP_TEST(every_failing_allocation_is_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
