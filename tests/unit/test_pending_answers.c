/* tests/unit/test_pending_answers.c - answers to requests to a client: whose they are, and how they
 * find the worker that waits. Named after the checklist.
 */
#include "tests/unit/pending_rig.h"

static struct call *call;

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
    ask_client(call, MCP_SAMPLING_CREATE_MESSAGE, SAMPLE_ASKED);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
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
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
