/* tests/unit/test_pending.c - requests to a client: who may be asked, for how long, how many. Their
 * answers: test_pending_answers.c. What a request and an answer may hold: test_pending_check.c.
 * Named after the checklist.
 */
#include "tests/unit/pending_rig.h"

static struct call *call;

/* ---- Who may be asked ----------------------------------------------------------------------- */

static void L_11_SM_01_EL_01_RT_01_C_065_only_what_was_declared_is_asked(void **state)
{
    connect_operating(*state, "2025-06-18", "{}");
    call = open_call(*state);
    assert_int_equal(ask_client(call, MCP_SAMPLING_CREATE_MESSAGE, SAMPLE_ASKED), ERR_CAPABILITY);
    assert_int_equal(ask_client(call, MCP_ELICITATION_CREATE, ELICIT), ERR_CAPABILITY);
    assert_int_equal(ask_client(call, MCP_ROOTS_LIST, ""), ERR_CAPABILITY);
    call_free(call);
    connect_operating(*state, "2025-06-18", "{\"roots\":{}}");
    call = open_call(*state);
    assert_int_equal(ask_client(call, MCP_SAMPLING_CREATE_MESSAGE, SAMPLE_ASKED), ERR_CAPABILITY);
    assert_int_equal(n_notes, 0);
    assert_int_equal(ask_client(call, MCP_ROOTS_LIST, ""), 0);
    assert_int_equal(outcome.n, 0);
    assert_int_equal(n_notes, 1);
    pending_end_call(bench.core, call, ERR_CANCELLED);
    call_free(call);
}

static void L_10_EL_01_an_older_revision_has_no_elicitation(void **state)
{
    connect_operating(*state, "2025-03-26", ALL_CAPABILITIES);
    call = open_call(*state);
    assert_int_equal(ask_client(call, MCP_ELICITATION_CREATE, ELICIT), ERR_CAPABILITY);
    assert_int_equal(ask_client(call, MCP_SAMPLING_CREATE_MESSAGE, SAMPLE_ASKED), 0);
    expect_note(0, "{\"method\":\"sampling/createMessage\"}");
    pending_end_call(bench.core, call, ERR_CANCELLED);
    call_free(call);
}

static void what_is_no_request_of_a_server_is_never_asked(void **state)
{
    call = open_call(*state);
    assert_int_equal(ask_client(call, MCP_TOOLS_LIST, "{}"), ERR_CAPABILITY);
    assert_int_equal(ask_client(call, MCP_NOTIFICATIONS_MESSAGE, "{}"), ERR_CAPABILITY);
    assert_int_equal(n_notes, 0);
    call_free(call);
}

static void L_08_nothing_is_asked_before_the_client_is_ready(void **state)
{
    struct bench *b = *state;
    struct pending_ask roots = question(MCP_ROOTS_LIST, "");
    connect_with(b, "2025-06-18", ALL_CAPABILITIES);
    call = open_call(b);
    assert_int_equal(ask_client(call, MCP_ROOTS_LIST, ""), ERR_CAPABILITY);
    assert_int_equal(pending_ask_session(b->core, str_of(b->session), &roots), ERR_CAPABILITY);
    assert_int_equal(n_notes, 0);
    ask(b, 202, INITIALIZED, ""); /* the call began before it */
    assert_int_equal(ask_client(call, MCP_ROOTS_LIST, ""), 0);
    pending_end_call(b->core, call, ERR_CANCELLED);
    call_free(call);
}

static void a_client_without_a_stream_is_not_waited_for(void **state)
{
    call = open_call(*state);
    send_err = ERR_NO_STREAM;
    assert_int_equal(ask_client(call, MCP_ROOTS_LIST, ""), ERR_NO_STREAM);
    assert_int_equal(bench.core->pendings.n, 0);
    assert_int_equal(outcome.n, 0);
    call_free(call);
}

static void a_cancelled_call_asks_nothing(void **state)
{
    call = open_call(*state);
    call->cancelled = ERR_CANCELLED;
    assert_int_equal(ask_client(call, MCP_ROOTS_LIST, ""), ERR_CANCELLED);
    assert_int_equal(n_notes, 0);
    call_free(call);
}

/* ---- Time ----------------------------------------------------------------------------------- */

static void L_15_L_16_C_01_C_05_time_outs_end_the_wait_and_say_so(void **state)
{
    struct bench *b = *state;
    char pattern[512], id[128];
    call = open_call(b);
    ask_client(call, MCP_ROOTS_LIST, "");
    strcpy(id, asked_id(0));
    clock_advance_ms(ASK_TIMEOUT_MS - 5000);
    pending_tick(b->core);
    assert_int_equal(outcome.n, 0);
    clock_advance_ms(5001);
    pending_tick(b->core);
    assert_int_equal(outcome.n, 1);
    assert_int_equal(outcome.err, ERR_TIMED_OUT);
    assert_int_equal(n_notes, 2);
    assert_ptr_equal(notes[1].call, call);
    snprintf(pattern, sizeof pattern,
             "{\"method\":\"notifications/cancelled\",\"-\":[\"id\"],\"params\":{\"requestId\":%s,"
             "\"reason\":\"*\"}}",
             id);
    expect_note(1, pattern);
    answer_with(b, id, NO_ROOTS);
    pending_tick(b->core);
    assert_int_equal(outcome.n, 1);
    assert_int_equal(n_notes, 2);
    call_free(call);
}

static void L_17_each_request_has_its_own_time(void **state)
{
    struct bench *b = *state;
    struct pending_ask slow = question(MCP_ROOTS_LIST, ""), quick = slow;
    slow.timeout_ms = 600000;
    quick.timeout_ms = 1000;
    call = open_call(b);
    assert_int_equal(pending_ask_call(call, &slow), 0);
    assert_int_equal(pending_ask_call(call, &quick), 0);
    clock_advance_ms(1001);
    pending_tick(b->core);
    assert_int_equal(outcome.n, 1);
    clock_advance_ms(598000);
    pending_tick(b->core);
    assert_int_equal(outcome.n, 1);
    clock_advance_ms(1000);
    pending_tick(b->core);
    assert_int_equal(outcome.n, 2);
    call_free(call);
}

static void L_17_the_configured_time_is_the_standard(void **state)
{
    struct bench *b = *state;
    b->core->config.ask_timeout_ms = 200;
    call = open_call(b);
    ask_client(call, MCP_ROOTS_LIST, "");
    clock_advance_ms(201);
    pending_tick(b->core);
    assert_int_equal(outcome.n, 1);
    call_free(call);
}

static void L_18_G_10_progress_is_taken_and_the_maximum_holds(void **state)
{
    struct bench *b = *state;
    struct pending_ask asked = question(MCP_SAMPLING_CREATE_MESSAGE,
                                        "{\"_meta\":{\"progressToken\":\"t\"},\"messages\":[],"
                                        "\"maxTokens\":1}");
    asked.timeout_ms = INT64_MAX;
    call = open_call(b);
    assert_int_equal(pending_ask_call(call, &asked), 0);
    expect_note(0, "{\"params\":{\"_meta\":{\"progressToken\":\"t\"}}}");
    for (int i = 1; i <= 6; i++) {
        char body[256];
        assert_int_equal(outcome.n, 0);
        snprintf(body, sizeof body,
                 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{"
                 "\"progressToken\":\"t\",\"progress\":%d}}",
                 i);
        ask(b, 202, body, "");
        clock_advance_ms(ASK_TIMEOUT_MAX_MS / 6 + 1);
        pending_tick(b->core);
    }
    assert_int_equal(outcome.n, 1);
    assert_int_equal(outcome.err, ERR_TIMED_OUT);
    call_free(call);
}

/* ---- Many, and the end ---------------------------------------------------------------------- */

static void SR_03_the_101st_is_refused_at_once(void **state)
{
    struct bench *b = *state;
    struct call *others;
    call = open_call(b);
    for (int i = 0; i < PENDING_MAX; i++)
        assert_int_equal(ask_client(call, MCP_ROOTS_LIST, ""), 0);
    assert_int_equal(ask_client(call, MCP_ROOTS_LIST, ""), ERR_BUSY);
    assert_int_equal(n_notes, PENDING_MAX);
    connect_operating(b, "2025-06-18", ALL_CAPABILITIES);
    others = open_call(b);
    assert_int_equal(ask_client(others, MCP_ROOTS_LIST, ""), 0);
    pending_end_session(b->core, call->session->record.id);
    assert_int_equal(outcome.n, PENDING_MAX);
    assert_int_equal(outcome.err, ERR_SESSION_GONE);
    assert_int_equal(n_notes, PENDING_MAX + 1); /* nobody is there to be told */
    assert_int_equal(b->core->pendings.n, 1);
    call_free(call);
    pending_end_call(b->core, others, ERR_CANCELLED);
    call_free(others);
}

static void a_call_that_ends_takes_its_questions_along(void **state)
{
    struct call *other = open_call(*state);
    call = open_call(*state);
    ask_client(call, MCP_ROOTS_LIST, "");
    ask_client(other, MCP_ROOTS_LIST, "");
    ask_client(call, MCP_ROOTS_LIST, "");
    pending_end_call(bench.core, call, ERR_CANCELLED);
    assert_int_equal(outcome.n, 2);
    assert_int_equal(outcome.err, ERR_CANCELLED);
    assert_int_equal(n_notes, 5);
    expect_note(3, "{\"method\":\"notifications/cancelled\"}");
    expect_note(4, "{\"method\":\"notifications/cancelled\"}");
    assert_int_equal(bench.core->pendings.n, 1);
    answer_with(*state, asked_id(1), NO_ROOTS);
    assert_int_equal(outcome.n, 3);
    call_free(call);
    call_free(other);
}

static void an_answered_call_leaves_no_question_behind(void **state)
{
    struct bench *b = *state;
    b->n_answers = 0;
    call = open_call(b);
    call->finish = take_answer; /* frees it */
    call->transport = b;
    ask_client(call, MCP_ROOTS_LIST, "");
    call_accept(call, 202);
    assert_int_equal(b->n_answers, 1);
    assert_int_equal(outcome.n, 1);
    assert_int_equal(outcome.err, ERR_CLOSED);
    assert_int_equal(b->core->pendings.n, 0);
    clock_advance_ms(ASK_TIMEOUT_MS + 1);
    pending_tick(b->core);
    assert_int_equal(outcome.n, 1);
}

static int again_err;

static void ask_again(void)
{
    outcome.then = NULL;
    again_err = ask_client(call, MCP_ROOTS_LIST, "");
}

static void end_the_call(void)
{
    outcome.then = NULL;
    pending_end_call(bench.core, call, ERR_CANCELLED);
}

static void who_is_told_may_ask_again_or_end_its_call(void **state)
{
    struct bench *b = *state;
    call = open_call(b);
    ask_client(call, MCP_ROOTS_LIST, "");
    outcome.then = ask_again;
    pending_end_session(b->core, call->session->record.id);
    assert_int_equal(again_err, 0);
    assert_int_equal(outcome.n, 1);
    ask_client(call, MCP_ROOTS_LIST, "");
    outcome.then = end_the_call;
    clock_advance_ms(ASK_TIMEOUT_MS + 1);
    pending_tick(b->core);
    assert_int_equal(outcome.n, 3);
    assert_int_equal(b->core->pendings.n, 0);
    call_free(call);
}

static void what_waits_when_the_core_goes_is_told(void **state)
{
    struct bench *b = *state;
    struct pending_ask roots = question(MCP_ROOTS_LIST, "");
    assert_int_equal(pending_ask_session(b->core, str_of(b->session), &roots), 0);
    pending_close(b->core);
    assert_int_equal(outcome.err, ERR_CLOSED);
}

/* ---- Outside a call ------------------------------------------------------------------------- */

static void a_session_is_asked_on_its_own_stream(void **state)
{
    struct bench *b = *state;
    struct pending_ask elicit = question(MCP_ELICITATION_CREATE, ELICIT);
    assert_int_equal(pending_ask_session(b->core, str_of(b->session), &elicit), 0);
    assert_null(notes[0].call);
    assert_string_equal(notes[0].session, b->session);
    assert_in_range(notes[0].wait_ms, ASK_TIMEOUT_MS - 1000, ASK_TIMEOUT_MS);
    answer_with(b, asked_id(0), ACCEPT);
    assert_int_equal(outcome.n, 1);
    assert_int_equal(outcome.err, 0);
}

static void L_16_a_session_that_does_not_answer_is_told_on_its_stream(void **state)
{
    struct bench *b = *state;
    struct pending_ask elicit = question(MCP_ELICITATION_CREATE, ELICIT);
    assert_int_equal(pending_ask_session(b->core, str_of(b->session), &elicit), 0);
    clock_advance_ms(ASK_TIMEOUT_MS + 1);
    pending_tick(b->core);
    assert_int_equal(outcome.err, ERR_TIMED_OUT);
    expect_note(1, "{\"method\":\"notifications/cancelled\"}");
    assert_null(notes[1].call);
    assert_int_equal(notes[1].wait_ms, 0);
}

static void sessions_that_are_not_there_are_not_asked(void **state)
{
    struct bench *b = *state;
    struct pending_ask roots = question(MCP_ROOTS_LIST, "");
    assert_int_equal(pending_ask_session(b->core, STR("0123456789"), &roots), ERR_SESSION_GONE);
    assert_int_equal(pending_ask_session(b->core, STR(""), &roots), ERR_SESSION_GONE);
    assert_int_equal(n_notes, 0);
}

static void on_stdio_the_one_session_is_asked(void **state)
{
    struct bench *b = *state;
    struct pending_ask roots = question(MCP_ROOTS_LIST, "");
    b->stdio = true;
    connect_operating(b, "2025-06-18", ALL_CAPABILITIES);
    b->session[0] = '\0';
    assert_int_equal(pending_ask_session(b->core, STR(""), &roots), 0);
    answer_with(b, asked_id(0), NO_ROOTS);
    assert_int_equal(outcome.n, 1);
    assert_int_equal(outcome.err, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(L_11_SM_01_EL_01_RT_01_C_065_only_what_was_declared_is_asked),
        RIG_TEST(L_10_EL_01_an_older_revision_has_no_elicitation),
        RIG_TEST(what_is_no_request_of_a_server_is_never_asked),
        RIG_TEST(L_08_nothing_is_asked_before_the_client_is_ready),
        RIG_TEST(a_client_without_a_stream_is_not_waited_for),
        RIG_TEST(a_cancelled_call_asks_nothing),
        RIG_TEST(L_15_L_16_C_01_C_05_time_outs_end_the_wait_and_say_so),
        RIG_TEST(L_17_each_request_has_its_own_time),
        RIG_TEST(L_17_the_configured_time_is_the_standard),
        RIG_TEST(L_18_G_10_progress_is_taken_and_the_maximum_holds),
        RIG_TEST(SR_03_the_101st_is_refused_at_once),
        RIG_TEST(a_call_that_ends_takes_its_questions_along),
        RIG_TEST(an_answered_call_leaves_no_question_behind),
        RIG_TEST(who_is_told_may_ask_again_or_end_its_call),
        RIG_TEST(what_waits_when_the_core_goes_is_told),
        RIG_TEST(a_session_is_asked_on_its_own_stream),
        RIG_TEST(L_16_a_session_that_does_not_answer_is_told_on_its_stream),
        RIG_TEST(sessions_that_are_not_there_are_not_asked),
        RIG_TEST(on_stdio_the_one_session_is_asked),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
