/* tests/unit/test_logging.c - log levels and log messages, without streams. Named after the
 * checklist.
 */
#include "base/limits.h"
#include "core/log_messages.h"
#include "tests/unit/pending_rig.h"

static const char *const levels[] = {"debug", "info",     "notice", "warning",
                                     "error", "critical", "alert",  "emergency"};

static void set_level(struct bench *b, const char *level)
{
    char params[64];
    snprintf(params, sizeof params, "{\"level\":\"%s\"}", level);
    ask_method(b, "logging/setLevel", params, "{}");
}

static void say(struct call *call, unsigned level, const char *data)
{
    log_message_call(call, (enum mcp_logging_level)level, STR("test"), str_of(data));
}

static void LG_01_L_12_logging_is_declared_and_there(void **state)
{
    struct bench *b = *state;
    for (int profile = 0; profile < 2; profile++) {
        b->profile = profile ? PROFILE_OPERATIONS : PROFILE_APPLICATION;
        b->session[0] = b->version[0] = '\0';
        ask(b, 200, INITIALIZE("2025-06-18"), "{\"result\":{\"capabilities\":{\"logging\":{}}}}");
        strcpy(b->session, b->new_session);
        set_level(b, "debug");
    }
}

static void LG_02_all_pairs_of_levels(void **state)
{
    struct bench *b = *state;
    struct call *call = open_call(b);
    for (unsigned least = 0; least < N(levels); least++) {
        set_level(b, levels[least]);
        for (unsigned level = 0; level < N(levels); level++) {
            char pattern[256];
            n_notes = 0;
            say(call, level, "{\"a\":[1,\"x\"]}");
            assert_int_equal(n_notes, level >= least);
            if (level < least)
                continue;
            assert_ptr_equal(notes[0].call, call);
            snprintf(
                pattern, sizeof pattern,
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"-\":[\"id\"],"
                "\"params\":{\"level\":\"%s\",\"logger\":\"test\",\"data\":{\"a\":[1,\"x\"]}}}",
                levels[level]);
            expect_note(0, pattern);
        }
    }
    call_free(call);
}

static void LG_03_unknown_levels_are_refused(void **state)
{
    static const char *const params[] = {
        "{\"level\":\"verbose\"}",
        "{\"level\":\"INFO\"}",
        "{\"level\":\"\"}",
        "{\"level\":3}",
        "{\"level\":null}",
        "{\"level\":[\"info\"]}",
        "{}",
        "",
    };
    struct bench *b = *state;
    struct call *call = open_call(b);
    set_level(b, "error");
    for (size_t i = 0; i < N(params); i++)
        ask_method(b, "logging/setLevel", params[i], "!{\"code\":-32602,\"message\":\"*\"}");
    say(call, MCP_LOGGING_LEVEL_WARNING, "1"); /* as before */
    assert_int_equal(n_notes, 0);
    call_free(call);
}

static void LG_04_info_is_the_standard(void **state)
{
    struct call *call = open_call(*state);
    say(call, MCP_LOGGING_LEVEL_DEBUG, "1");
    assert_int_equal(n_notes, 0);
    say(call, MCP_LOGGING_LEVEL_INFO, "1");
    assert_int_equal(n_notes, 1);
    call_free(call);
}

static void LG_09_C_059_a_level_is_the_session_s(void **state)
{
    struct bench *b = *state;
    struct call *one = open_call(b), *two;
    char first[128];
    set_level(b, "error");
    strcpy(first, b->session);
    connect_operating(b, "2025-06-18", "{}");
    two = open_call(b);
    set_level(b, "debug");
    say(one, MCP_LOGGING_LEVEL_INFO, "1");
    assert_int_equal(n_notes, 0);
    say(two, MCP_LOGGING_LEVEL_DEBUG, "1");
    assert_int_equal(n_notes, 1);
    strcpy(b->session, first);
    set_level(b, "info"); /* while its call runs, wherever that is */
    say(one, MCP_LOGGING_LEVEL_INFO, "1");
    assert_int_equal(n_notes, 2);
    call_free(one);
    call_free(two);
}

static void LG_09_a_level_survives_what_else_is_written(void **state)
{
    struct bench *b = *state;
    connect_with(b, "2025-06-18", "{}");
    b->n_answers = 0; /* both have read the record before either is written */
    bench_begin(b, STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"logging/setLevel\","
                       "\"params\":{\"level\":\"alert\"}}"));
    bench_begin(b, str_of(INITIALIZED));
    while (b->n_answers < 2)
        assert_true(loop_turn(&b->loop, 10));
    struct call *call = open_call(b);
    assert_int_equal(call->session->state, SESSION_OPERATING);
    assert_int_equal(call->session->record.log_level, MCP_LOGGING_LEVEL_ALERT);
    call_free(call);
}

static void LG_09_on_stdio_too(void **state)
{
    struct bench *b = *state;
    b->stdio = true;
    connect_operating(b, "2025-06-18", "{}");
    b->session[0] = '\0';
    struct call *call = open_call(b);
    set_level(b, "warning");
    say(call, MCP_LOGGING_LEVEL_NOTICE, "1");
    assert_int_equal(n_notes, 0);
    log_message_session(b->core, STR(""), MCP_LOGGING_LEVEL_WARNING, STR_NONE, STR("1"));
    assert_int_equal(n_notes, 1);
    call_free(call);
}

static void LG_08_data_is_any_json(void **state)
{
    static const char *const data[] = {"null", "0", "\"text\"", "[]", "{\"a\":{\"b\":[1.5,true]}}"};
    struct call *call = open_call(*state);
    for (size_t i = 0; i < N(data); i++) {
        char pattern[128];
        snprintf(pattern, sizeof pattern,
                 "{\"params\":{\"level\":\"error\",\"data\":%s,"
                 "\"logger\":\"test\"}}",
                 data[i]);
        n_notes = 0;
        say(call, MCP_LOGGING_LEVEL_ERROR, data[i]);
        expect_note(0, pattern);
    }
    n_notes = 0;
    log_message_call(call, MCP_LOGGING_LEVEL_ERROR, STR_NONE, STR("1"));
    expect_note(0, "{\"params\":{\"level\":\"error\",\"data\":1,\"-\":[\"logger\"]}}");
    call_free(call);
}

static void what_is_no_json_goes_as_text(void **state)
{
    static const char *const data[] = {"{", "a\"b", "1 2", "}{\"x\":1", "", "\xff\n"};
    struct call *call = open_call(*state);
    for (size_t i = 0; i < N(data); i++) {
        n_notes = 0;
        say(call, MCP_LOGGING_LEVEL_ERROR, data[i]);
        expect_note(0, "{\"method\":\"notifications/message\",\"params\":{\"data\":\"*\"}}");
    }
    n_notes = 0;
    say(call, MCP_LOGGING_LEVEL_ERROR, "a\"b");
    expect_note(0, "{\"params\":{\"data\":\"a\\\"b\"}}");
    call_free(call);
}

static void LG_05_a_flood_is_bounded_and_counted(void **state)
{
    struct bench *b = *state;
    struct call *call = open_call(b);
    unsigned sent = 0;
    for (int i = 0; i < 3 * LOG_MESSAGES_PER_S; i++) {
        n_notes = 0;
        call->logged.since_ms = clock_mono_ms(); /* however slow this machine is */
        say(call, MCP_LOGGING_LEVEL_ERROR, "1");
        sent += n_notes;
    }
    assert_int_equal(sent, LOG_MESSAGES_PER_S);
    n_notes = 0;
    log_messages_end(call);
    log_messages_end(call);
    assert_int_equal(n_notes, 1);
    expect_note(0, "{\"params\":{\"level\":\"warning\",\"logger\":\"log\",\"data\":{\"dropped\":"
                   "2000}}}");
    clock_advance_ms(1001);
    say(call, MCP_LOGGING_LEVEL_ERROR, "1");
    assert_int_equal(n_notes, 2);
    call_free(call);
}

static void what_is_below_the_level_counts_for_nothing(void **state)
{
    struct call *call = open_call(*state);
    for (int i = 0; i < 2 * LOG_MESSAGES_PER_S; i++)
        say(call, MCP_LOGGING_LEVEL_DEBUG, "1");
    say(call, MCP_LOGGING_LEVEL_ERROR, "1");
    assert_int_equal(n_notes, 1);
    call_free(call);
}

static void nothing_is_said_after_the_answer_or_the_session(void **state)
{
    struct bench *b = *state;
    struct call *call = open_call(b);
    call->is_answered = true;
    say(call, MCP_LOGGING_LEVEL_ERROR, "1");
    call->is_answered = false;
    b->verb = CALL_DELETE;
    ask(b, 204, "", "");
    say(call, MCP_LOGGING_LEVEL_ERROR, "1");
    log_message_session(b->core, str_of(b->session), MCP_LOGGING_LEVEL_ERROR, STR_NONE, STR("1"));
    assert_int_equal(n_notes, 0);
    call_free(call);
}

static void L_08_the_server_s_own_messages_go_on_the_session_s_stream(void **state)
{
    struct bench *b = *state;
    connect_with(b, "2025-03-26", "{}"); /* logging is allowed before initialized */
    log_message_session(b->core, str_of(b->session), MCP_LOGGING_LEVEL_INFO, STR("jobs"),
                        STR("{\"x\":1}"));
    assert_int_equal(n_notes, 1);
    assert_null(notes[0].call);
    assert_string_equal(notes[0].session, b->session);
    assert_int_equal(notes[0].wait_ms, 0);
    set_level(b, "error");
    log_message_session(b->core, str_of(b->session), MCP_LOGGING_LEVEL_WARNING, STR("jobs"),
                        STR("{\"x\":1}"));
    assert_int_equal(n_notes, 1);
}

/* ---- What the server itself tells -------------------------------------------------------------
 */

static const struct str everything[] = {STR_INIT("*")};

static int open_operations(void **state)
{
    struct core_config config = bench_config;
    config.operations_allow = (struct name_globs){everything, 1};
    n_notes = 0;
    bench_open(&bench, &config);
    bench.profile = PROFILE_OPERATIONS;
    connect_operating(&bench, "2025-06-18", "{}");
    bench_table(&bench, "shop", "book", BOOK_DEFINITION);
    *state = &bench;
    return 0;
}

static void start_job(struct bench *b, const char *on)
{
    char params[512];
    snprintf(params, sizeof params,
             "{\"name\":\"create_index\",\"arguments\":{\"database\":\"shop\",\"table\":"
             "\"book\",\"index\":{\"on\":[\"%s\"]}}}",
             on);
    ask_method(b, "tools/call", params, "{\"structuredContent\":{\"job\":\"*\"}}");
}

/* Other things are pushed too, once a list changed. */
static const struct note *find_log(const char *session)
{
    for (unsigned i = 0; i < n_notes; i++)
        if (!notes[i].call && strcmp(notes[i].session, session) == 0 &&
            strstr(notes[i].text, "notifications/message"))
            return &notes[i];
    return NULL;
}

static void the_end_of_a_job_is_told_to_the_session_that_began_it(void **state)
{
    struct bench *b = *state;
    char mine[128];
    strcpy(mine, b->session);
    start_job(b, "year");
    connect_operating(b, "2025-06-18", "{}"); /* another one does not hear of it */
    while (loop_turn(&b->loop, 1))
        ;
    assert_null(find_log(b->session));
    const struct note *note = find_log(mine);
    assert_non_null(note);
    expect_note((unsigned)(note - notes),
                "{\"params\":{\"level\":\"info\",\"logger\":\"jobs\",\"data\":{\"id\":\"*\","
                "\"kind\":\"create_index\",\"database\":\"shop\",\"table\":\"book\",\"state\":"
                "\"done\"}}}");
}

static void a_job_that_fails_is_an_error(void **state)
{
    struct bench *b = *state;
    start_job(b, "nowhere");
    while (loop_turn(&b->loop, 1))
        ;
    const struct note *note = find_log(b->session);
    assert_non_null(note);
    expect_note(
        (unsigned)(note - notes),
        "{\"params\":{\"level\":\"error\",\"data\":{\"state\":\"failed\",\"error\":\"*\"}}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(LG_01_L_12_logging_is_declared_and_there),
        RIG_TEST(LG_02_all_pairs_of_levels),
        RIG_TEST(LG_03_unknown_levels_are_refused),
        RIG_TEST(LG_04_info_is_the_standard),
        RIG_TEST(LG_09_C_059_a_level_is_the_session_s),
        RIG_TEST(LG_09_a_level_survives_what_else_is_written),
        RIG_TEST(LG_09_on_stdio_too),
        RIG_TEST(LG_08_data_is_any_json),
        RIG_TEST(what_is_no_json_goes_as_text),
        RIG_TEST(LG_05_a_flood_is_bounded_and_counted),
        RIG_TEST(what_is_below_the_level_counts_for_nothing),
        RIG_TEST(nothing_is_said_after_the_answer_or_the_session),
        RIG_TEST(L_08_the_server_s_own_messages_go_on_the_session_s_stream),
        cmocka_unit_test_setup_teardown(the_end_of_a_job_is_told_to_the_session_that_began_it,
                                        open_operations, close_bench),
        cmocka_unit_test_setup_teardown(a_job_that_fails_is_an_error, open_operations, close_bench),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
