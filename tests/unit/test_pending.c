/* tests/unit/test_pending.c - requests to a client: who may be asked, and every way in which that
 * ends. What a request and an answer may hold: test_pending_check.c. Named after the checklist.
 */
#include "tests/unit/pending_rig.h"

#define ELICIT                                                                        \
    "{\"message\":\"Name?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":" \
    "{\"name\":{\"type\":\"string\"}},\"required\":[\"name\"]}}"
#define SAMPLE                                                                             \
    "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"hi\"}}]," \
    "\"maxTokens\":10}"
#define ACCEPT   "\"result\":{\"action\":\"accept\",\"content\":{\"name\":\"Ada\"}}"
#define NO_ROOTS "\"result\":{\"roots\":[]}"

static struct call *call;

/* ---- Who may be asked ----------------------------------------------------------------------- */

static void L_11_SM_01_EL_01_RT_01_C_065_only_what_was_declared_is_asked(void **state)
{
    connect_operating(*state, "2025-06-18", "{}");
    call = open_call(*state);
    assert_int_equal(ask_client(call, MCP_SAMPLING_CREATE_MESSAGE, SAMPLE), ERR_CAPABILITY);
    assert_int_equal(ask_client(call, MCP_ELICITATION_CREATE, ELICIT), ERR_CAPABILITY);
    assert_int_equal(ask_client(call, MCP_ROOTS_LIST, ""), ERR_CAPABILITY);
    call_free(call);
    connect_operating(*state, "2025-06-18", "{\"roots\":{}}");
    call = open_call(*state);
    assert_int_equal(ask_client(call, MCP_SAMPLING_CREATE_MESSAGE, SAMPLE), ERR_CAPABILITY);
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
    assert_int_equal(ask_client(call, MCP_SAMPLING_CREATE_MESSAGE, SAMPLE), 0);
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

/* ---- Answers -------------------------------------------------------------------------------- */

static void SR_01_SR_04_an_answer_ends_the_wait(void **state)
{
    call = open_call(*state);
    assert_int_equal(ask_client(call, MCP_ELICITATION_CREATE, ELICIT), 0);
    assert_ptr_equal(notes[0].call, call);
    expect_note(
        0, "{\"jsonrpc\":\"2.0\",\"id\":\"*\",\"method\":\"elicitation/create\",\"params\":" ELICIT
           "}");
    answer_with(*state, asked_id(0), ACCEPT);
    assert_int_equal(outcome.n, 1);
    assert_int_equal(outcome.err, 0);
    assert_string_equal(outcome.result, "{\"action\":\"accept\",\"content\":{\"name\":\"Ada\"}}");
    assert_int_equal(bench.core->pendings.n, 0);
    call_free(call);
}

static void J_02_J_03_J_04_ids_name_worker_and_life_and_never_come_twice(void **state)
{
    char first[128];
    struct worker_id self = bus_self(bench.core->config.bus);
    char head[64];
    call = open_call(*state);
    ask_client(call, MCP_ROOTS_LIST, "");
    ask_client(call, MCP_ROOTS_LIST, "");
    strcpy(first, asked_id(0));
    assert_string_not_equal(first, asked_id(1));
    snprintf(head, sizeof head, "\"%u.%016llx.", self.slot, (unsigned long long)self.epoch);
    assert_memory_equal(first, head, strlen(head));
    assert_int_equal(strlen(first), strlen(head) + 17);
    pending_end_call(bench.core, call, ERR_CANCELLED);
    assert_int_equal(outcome.n, 2);
    call_free(call);
}

static void SM_05_RT_05_an_error_is_passed_on(void **state)
{
    static const struct {
        const char *error;
        int code;
        const char *message;
    } cases[] = {
        {"\"error\":{\"code\":-1,\"message\":\"User rejected\"}", -1, "User rejected"},
        {"\"error\":{\"code\":-32601,\"message\":\"Roots not supported\"}", -32601,
         "Roots not supported"},
        {"\"error\":{\"code\":7,\"message\":\"\",\"data\":{\"x\":1}}", 7, ""},
        {"\"error\":{}", -32603, "The client answered with an error"},
        {"\"error\":{\"code\":\"x\",\"message\":4}", -32603, "The client answered with an error"},
        {"\"error\":{\"code\":99999999999,\"message\":\"big\"}", -32603, "big"},
    };
    call = open_call(*state);
    for (unsigned i = 0; i < N(cases); i++) {
        ask_client(call, MCP_ROOTS_LIST, "");
        answer_with(*state, asked_id(i), cases[i].error);
        assert_int_equal(outcome.n, i + 1);
        assert_int_equal(outcome.err, ERR_REMOTE);
        assert_int_equal(outcome.code, cases[i].code);
        assert_string_equal(outcome.message, cases[i].message);
    }
    call_free(call);
}

static void SR_02_a_second_answer_changes_nothing(void **state)
{
    call = open_call(*state);
    ask_client(call, MCP_ROOTS_LIST, "");
    answer_with(*state, asked_id(0), NO_ROOTS);
    answer_with(*state, asked_id(0), NO_ROOTS);
    answer_with(*state, asked_id(0), "\"error\":{\"code\":1,\"message\":\"late\"}");
    assert_int_equal(outcome.n, 1);
    assert_int_equal(outcome.err, 0);
    call_free(call);
}

static void SR_02_the_answer_of_another_session_changes_nothing(void **state)
{
    struct bench *b = *state;
    char mine[128], id[128];
    call = open_call(b);
    ask_client(call, MCP_ELICITATION_CREATE, ELICIT);
    strcpy(id, asked_id(0));
    strcpy(mine, b->session);
    connect_operating(b, "2025-06-18", ALL_CAPABILITIES);
    answer_with(b, id, ACCEPT);
    assert_int_equal(outcome.n, 0);
    strcpy(b->session, mine);
    answer_with(b, id, ACCEPT);
    assert_int_equal(outcome.n, 1);
    call_free(call);
}

static void SR_02_forged_and_foreign_ids_change_nothing(void **state)
{
    struct bench *b = *state;
    char forged[128];
    static const char *const foreign[] = {
        "1",
        "0",
        "\"\"",
        "\"x\"",
        "\".\"",
        "\"..\"",
        "\"0.1\"",
        "\"0.1.2\"",
        "\"0.0000000000000001.zzzzzzzzzzzzzzzz\"",
        "\"0.0000000000000001.0000000000000001.2\"",
        "\"64.0000000000000001.0000000000000001\"",
        "\"-1.0000000000000001.0000000000000001\"",
        "\"99999999999999999999.0000000000000001.0000000000000001\"",
        "\"5.1111111111111111.0000000000000001\"",
        "\"0.0000000000000001.000000000000000100000000000000000000000000000000000000000000\"",
    };
    call = open_call(b);
    ask_client(call, MCP_ROOTS_LIST, "");
    for (size_t i = 0; i < N(foreign); i++)
        answer_with(b, foreign[i], NO_ROOTS);
    strcpy(forged, asked_id(0));
    char *last = &forged[strlen(forged) - 2];
    *last = *last == '0' ? '1' : '0';
    answer_with(b, forged, NO_ROOTS);
    assert_int_equal(outcome.n, 0);
    assert_int_equal(n_letters, 0);
    answer_with(b, asked_id(0), NO_ROOTS);
    assert_int_equal(outcome.n, 1);
    call_free(call);
}

static void an_id_is_the_same_however_it_is_escaped(void **state)
{
    char id[256];
    call = open_call(*state);
    ask_client(call, MCP_ROOTS_LIST, "");
    const char *plain = asked_id(0);
    snprintf(id, sizeof id, "\"\\u%04x%s", (unsigned)plain[1], plain + 2);
    answer_with(*state, id, NO_ROOTS);
    assert_int_equal(outcome.n, 1);
    call_free(call);
}

static void C_09_ids_are_per_direction(void **state)
{
    struct bench *b = *state;
    char body[512];
    call = open_call(b);
    ask_client(call, MCP_ROOTS_LIST, "");
    snprintf(body, sizeof body,
             "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
             "\"requestId\":%s}}",
             asked_id(0));
    ask(b, 202, body, "");
    assert_int_equal(outcome.n, 0);
    answer_with(b, asked_id(0), NO_ROOTS);
    assert_int_equal(outcome.n, 1);
    call_free(call);
}

static void answers_in_a_batch_count_each(void **state)
{
    struct bench *b = *state;
    char body[2048], first[128];
    connect_operating(b, "2025-03-26", ALL_CAPABILITIES);
    call = open_call(b);
    ask_client(call, MCP_ROOTS_LIST, "");
    ask_client(call, MCP_SAMPLING_CREATE_MESSAGE, SAMPLE);
    strcpy(first, asked_id(0));
    snprintf(body, sizeof body,
             "[{\"jsonrpc\":\"2.0\",\"id\":%s," NO_ROOTS "},{\"jsonrpc\":\"2.0\",\"id\":%s,"
             "\"error\":{\"code\":-1,\"message\":\"no\"}}]",
             first, asked_id(1));
    ask(b, 202, body, "");
    assert_int_equal(outcome.n, 2);
    assert_int_equal(outcome.code, -1);
    call_free(call);
}

/* ---- Other workers -------------------------------------------------------------------------- */

#define OTHERS_ID "\"3.abcdef0123456789.00000000000000aa\""

static void SR_01_an_answer_for_another_worker_goes_there(void **state)
{
    struct bench *b = *state;
    struct arena a;
    other_lives = true;
    answer_with(b, OTHERS_ID, ACCEPT);
    assert_int_equal(n_letters, 1);
    arena_init(&a, 0);
    const struct tape_node *tape = open_json(&a, str_of(letter));
    assert_true(is_text(tape_get(tape, STR("session")), b->session));
    assert_true(is_text(tape_get(tape, STR("body")),
                        "{\"jsonrpc\":\"2.0\",\"id\":" OTHERS_ID "," ACCEPT "}"));
    arena_done(&a);
}

static void an_answer_for_a_dead_worker_is_dropped(void **state)
{
    answer_with(*state, OTHERS_ID, ACCEPT);
    assert_int_equal(n_letters, 0);
    other_lives = true; /* dies meanwhile */
    letter_err = ERR_LOST;
    answer_with(*state, OTHERS_ID, ACCEPT);
    assert_int_equal(n_letters, 1);
}

static void an_answer_that_cannot_be_passed_on_is_refused(void **state)
{
    other_lives = true;
    letter_err = ERR_BUSY;
    ask(*state, 503, "{\"jsonrpc\":\"2.0\",\"id\":" OTHERS_ID "," ACCEPT "}",
        NO_ID_PATTERN("-32603"));
    letter_err = ERR_STORE_FULL;
    ask(*state, 503, "{\"jsonrpc\":\"2.0\",\"id\":" OTHERS_ID "," ACCEPT "}",
        NO_ID_PATTERN("-32603"));
}

static void take_letter(struct bench *b, const char *session, const char *body)
{
    struct arena a;
    struct buf text = {0};
    arena_init(&a, 0);
    buf_printf(&text, "{\"session\":\"%s\",\"body\":", session);
    json_write_str(&text, str_of(body));
    buf_add_char(&text, '}');
    pending_take_answer(b->core, (struct worker_id){3, OTHER_EPOCH}, open_json(&a, buf_str(&text)));
    buf_done(&text);
    arena_done(&a);
}

static void SR_01_a_letter_ends_the_wait(void **state)
{
    struct bench *b = *state;
    char body[1024];
    call = open_call(b);
    ask_client(call, MCP_ELICITATION_CREATE, ELICIT);
    snprintf(body, sizeof body, "{\"jsonrpc\":\"2.0\",\"id\":%s," ACCEPT "}", asked_id(0));
    take_letter(b, "another", body);
    take_letter(b, b->session, "not JSON");
    take_letter(b, b->session, PING);
    take_letter(b, b->session, INITIALIZED);
    assert_int_equal(outcome.n, 0);
    take_letter(b, b->session, body);
    take_letter(b, b->session, body);
    assert_int_equal(outcome.n, 1);
    assert_string_equal(outcome.result, "{\"action\":\"accept\",\"content\":{\"name\":\"Ada\"}}");
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
        RIG_TEST(SR_01_SR_04_an_answer_ends_the_wait),
        RIG_TEST(J_02_J_03_J_04_ids_name_worker_and_life_and_never_come_twice),
        RIG_TEST(SM_05_RT_05_an_error_is_passed_on),
        RIG_TEST(SR_02_a_second_answer_changes_nothing),
        RIG_TEST(SR_02_the_answer_of_another_session_changes_nothing),
        RIG_TEST(SR_02_forged_and_foreign_ids_change_nothing),
        RIG_TEST(an_id_is_the_same_however_it_is_escaped),
        RIG_TEST(C_09_ids_are_per_direction),
        RIG_TEST(answers_in_a_batch_count_each),
        RIG_TEST(SR_01_an_answer_for_another_worker_goes_there),
        RIG_TEST(an_answer_for_a_dead_worker_is_dropped),
        RIG_TEST(an_answer_that_cannot_be_passed_on_is_refused),
        RIG_TEST(SR_01_a_letter_ends_the_wait),
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
