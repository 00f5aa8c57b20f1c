/* tests/unit/test_core_lifecycle.c - initialize, sessions, versions: what core decides of the
 * checklist's L, S and V, each test named after its rows. Messages as such: test_core_messages.c.
 */
#include "store/internal.h"
#include "tests/unit/ask.h"

#define N(a) (sizeof(a) / sizeof *(a))

/* ---- Life-cycle ----------------------------------------------------------------------------- */

static void L_02_S_04_C_043_nothing_runs_without_a_session(void **state)
{
    ask(*state, 400, PING, ERR_PATTERN("-32600"));
    ask(*state, 400, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}",
        ERR_PATTERN("-32600"));
    ask(*state, 400, INITIALIZED, NO_ID_PATTERN("-32600"));
    ask(*state, 400, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}",
        "{\"error\":{\"code\":-32600}}");
}

static void server_discover_without_a_session_is_refused_at_once(void **state)
{
    strcpy(bench.version, "2026-07-28");
    ask(*state, 400,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\",\"params\":{\"_meta\":{}}}",
        ERR_PATTERN("-32600"));
}

static void L_03_initialize_says_who_and_what(void **state)
{
    ask(*state, 200, INITIALIZE("2025-06-18"),
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":\"2025-06-18\","
        "\"capabilities\":{"
        "\"tools\":{\"listChanged\":true},\"resources\":{\"listChanged\":true,\"subscribe\":true"
        "},"
        "\"logging\":{},"
        "\"prompts\":{\"listChanged\":true},\"completions\":{}},"
        "\"serverInfo\":{\"name\":\"tenon\",\"title\":\"Tenon\",\"version\":\"*\"}}}");
    assert_true(bench.new_session[0]);
}

static void L_04_known_versions_are_echoed(void **state)
{
    ask(*state, 200, INITIALIZE("2025-03-26"),
        "{\"result\":{\"protocolVersion\":\"2025-03-26\",\"serverInfo\":{\"-\":[\"title\"]}}}");
    ask(*state, 200, INITIALIZE("2025-06-18"), "{\"result\":{\"protocolVersion\":\"2025-06-18\"}}");
}

static void L_05_L_06_unknown_version_gets_latest(void **state)
{
    ask(*state, 200, INITIALIZE("1999-01-01"), "{\"result\":{\"protocolVersion\":\"2025-06-18\"}}");
    ask(*state, 200, INITIALIZE("2099-12-31"), "{\"result\":{\"protocolVersion\":\"2025-06-18\"}}");
    ask(*state, 200, INITIALIZE("2026-07-28"), "{\"result\":{\"protocolVersion\":\"2025-06-18\"}}");
    ask(*state, 200, INITIALIZE("2025-11-25"), "{\"result\":{\"protocolVersion\":\"2025-06-18\"}}");
    ask(*state, 200, INITIALIZE(""), "{\"result\":{\"protocolVersion\":\"2025-06-18\"}}");
}

static void L_07_initialize_needs_its_members(void **state)
{
    static const char *const cases[][2] = {
        {"{\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}",
         "/params/protocolVersion"},
        {"{\"protocolVersion\":5,\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":"
         "\"1\"}}",
         "/params/protocolVersion"},
        {"{\"protocolVersion\":\"x\",\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}",
         "/params/capabilities"},
        {"{\"protocolVersion\":\"x\",\"capabilities\":{}}", "/params/clientInfo"},
        {"{\"protocolVersion\":\"x\",\"capabilities\":{},\"clientInfo\":{\"version\":\"1\"}}",
         "/params/clientInfo/name"},
        {"{\"protocolVersion\":\"x\",\"capabilities\":{},\"clientInfo\":{\"name\":\"c\"}}",
         "/params/clientInfo/version"},
    };
    for (size_t i = 0; i < N(cases); i++) {
        char wanted[256];
        snprintf(wanted, sizeof wanted, "!{\"code\":-32602,\"data\":{\"pointer\":\"%s\"}}",
                 cases[i][1]);
        ask_method(*state, "initialize", cases[i][0], wanted);
        assert_int_equal(bench.new_session[0], '\0');
    }
    ask_method(*state, "initialize", "", "!{\"code\":-32602}");
    ask_method(*state, "initialize", "{\"_meta\":7}", "!{\"code\":-32602}");
}

static void L_07_client_info_is_bounded(void **state)
{
    struct buf body = {0};
    buf_add_lit(&body, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
                       "\"protocolVersion\":\"2025-06-18\","
                       "\"capabilities\":{},\"clientInfo\":{\"name\":\"");
    for (unsigned i = 0; i < CLIENT_INFO_BYTES; i++)
        buf_add_char(&body, 'x');
    buf_add_lit(&body, "\",\"version\":\"1\"}}}");
    bench_send(*state, buf_str(&body));
    expect(*state, 200,
           "{\"error\":{\"code\":-32602,\"data\":{\"pointer\":\"/params/clientInfo\"}}}",
           "long clientInfo");
    assert_int_equal(bench.new_session[0], '\0');
    buf_done(&body);
}

static void L_09_Q_05_requests_before_initialized_are_served(void **state)
{
    ask(*state, 200, INITIALIZE("2025-06-18"), "{}");
    strcpy(bench.session, bench.new_session);
    ask(*state, 200, PING, PONG);
    ask_method(*state, "tools/list", "", "{\"tools\":[]}");
    ask(*state, 202, INITIALIZED, "");
    ask(*state, 202, INITIALIZED, "");
    ask(*state, 200, PING, PONG);
}

static void L_12_RS_01_what_is_not_declared_is_not_there(void **state)
{
    static const char *const methods[] = {"tasks/get", "tasks/list"};
    bench_connect(*state, "2025-06-18");
    for (size_t i = 0; i < N(methods); i++)
        ask_method(*state, methods[i], "{}", "!{\"code\":-32601}");
    ask_method(*state, "tools/list", "", "{\"tools\":[]}");
    ask_method(*state, "resources/list", "", "{\"resources\":[\"*\",\"*\"]}");
    ask_method(*state, "resources/templates/list", "",
               "{\"resourceTemplates\":[\"*\",\"*\",\"*\"]}");
}

static void L_14_unknown_capabilities_are_tolerated(void **state)
{
    ask_method(*state, "initialize",
               "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"experimental\":{\"x\":{}},"
               "\"tomorrow\":{\"y\":[1]}},"
               "\"clientInfo\":{\"name\":\"c\",\"version\":\"1\",\"extra\":1},\"more\":true}",
               "{\"protocolVersion\":\"2025-06-18\"}");
}

static void C_045_a_second_initialize_is_refused(void **state)
{
    bench_connect(*state, "2025-06-18");
    ask(*state, 400, INITIALIZE("2025-03-26"), "{\"id\":0,\"error\":{\"code\":-32600}}");
    assert_int_equal(bench.new_session[0], '\0');
    ask(*state, 400, "[" PING "]", ERR_PATTERN("-32600")); /* still 2025-06-18 */
    bench.session[0] = '\0';
    ask(*state, 200, INITIALIZE("2025-03-26"),
        "{\"id\":0,\"result\":{\"protocolVersion\":\"2025-03-26\"}}");
}

static void C_02_C_04_C_08_cancelling_nothing_is_no_fault(void **state)
{
    bench_connect(*state, "2025-06-18");
    ask(*state, 202,
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
        "cancelled\",\"params\":{\"requestId\":\"init\"}}",
        "");
    ask(*state, 202,
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
        "cancelled\",\"params\":{\"requestId\":5,\"reason\":\"user\"}}",
        "");
    ask(*state, 200, PING, PONG);
}

static void Q_10_responses_are_taken(void **state)
{
    bench_connect(*state, "2025-06-18");
    ask(*state, 202, "{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}", "");
    ask(*state, 202,
        "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"error\":{\"code\":-1,\"message\":\"no\"}}", "");
}

/* ---- Sessions ------------------------------------------------------------------------------- */

static void S_02_S_03_S_12_ids_are_random_visible_ascii(void **state)
{
    char last[128] = "";
    for (int i = 0; i < 100; i++) {
        ask(*state, 200, INITIALIZE("2025-06-18"), "{}");
        const char *id = bench.new_session;
        assert_int_equal(strlen(id), 40);
        for (const char *p = id; *p; p++)
            assert_true(*p >= 0x21 && *p <= 0x7e);
        assert_string_not_equal(id + 8, last);
        strcpy(last, id + 8);
    }
}

static void S_05_S_08_delete_ends_the_session_for_everything(void **state)
{
    bench_connect(*state, "2025-06-18");
    bench.verb = CALL_DELETE;
    ask(*state, 204, "", "");
    ask(*state, 404, "", ERR_PATTERN("-32600"));
    bench.verb = CALL_POST;
    ask(*state, 404, PING, ERR_PATTERN("-32600"));
    ask(*state, 404, INITIALIZED, ERR_PATTERN("-32600"));
    ask(*state, 404, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", ERR_PATTERN("-32600"));
    ask(*state, 404, "[" PING "]", ERR_PATTERN("-32600"));
    ask(*state, 404, INITIALIZE("2025-06-18"), ERR_PATTERN("-32600"));
    bench.session[0] = '\0';
    ask(*state, 200, INITIALIZE("2025-06-18"), "{\"result\":{}}"); /* S-07 */
}

static void S_05_a_session_expires_when_idle(void **state)
{
    bench_connect(*state, "2025-06-18");
    clock_advance_ms(bench_config.session_idle_ms - 1000);
    ask(*state, 200, PING, PONG); /* and this renews it */
    while (loop_turn(&bench.loop, 0))
        ;
    struct store_view *view;
    struct store_session session;
    struct arena a;
    arena_init(&a, 0);
    assert_int_equal(store_view_open(bench.store, STORE_SYS, &view), 0);
    assert_int_equal(store_get_session(view, str_of(bench.session), &a, &session), 0);
    store_view_close(view);
    arena_done(&a);
    clock_advance_ms(bench_config.session_idle_ms + 1000);
    ask(*state, 404, PING, ERR_PATTERN("-32600"));
}

static int64_t expiry(struct bench *b)
{
    struct store_view *view;
    struct store_session session;
    struct arena a;
    arena_init(&a, 0);
    assert_int_equal(store_view_open(b->store, STORE_SYS, &view), 0);
    assert_int_equal(store_get_session(view, str_of(b->session), &a, &session), 0);
    store_view_close(view);
    arena_done(&a);
    return session.expires_ms;
}

static void wait_for_writes(struct bench *b)
{
    struct store_session session = {.id = STR("nobody")};
    struct store_op op = {
        .kind = STORE_TOUCH_SESSION, .if_version = STORE_ANY, .session = &session};
    struct bench_write w = {
        .write = {.space = STORE_SYS, .ops = &op, .n_ops = 1, .done = bench_written}};
    store_submit(b->store, &w.write);
    while (!w.done)
        assert_true(loop_turn(&b->loop, 10));
}

static void S_15_activity_is_written_lazily(void **state)
{
    bench_connect(*state, "2025-06-18");
    int64_t at_first = expiry(*state);
    clock_advance_ms(bench_config.session_idle_ms / 20);
    ask(*state, 200, PING, PONG);
    wait_for_writes(*state);
    assert_true(expiry(*state) == at_first);
    clock_advance_ms(bench_config.session_idle_ms / 10);
    ask(*state, 200, PING, PONG);
    /* whoever was answered has the longer life already */
    assert_true(expiry(*state) > at_first + bench_config.session_idle_ms / 10);
}

#define UNINITIALIZED_MS (SESSION_UNINITIALIZED_S * 1000)

static void begin_session(struct bench *b)
{
    b->session[0] = b->version[0] = 0;
    ask(b, 200, INITIALIZE("2025-06-18"), "{\"result\":{\"protocolVersion\":\"*\"}}");
    strcpy(b->session, b->new_session);
    strcpy(b->version, "2025-06-18");
}

static void a_session_that_is_never_initialized_expires_soon(void **state)
{
    begin_session(*state);
    clock_advance_ms(UNINITIALIZED_MS + 1000);
    ask(*state, 404, PING, ERR_PATTERN("-32600"));
}

static void Q_05_requests_before_initialized_keep_the_session(void **state)
{
    begin_session(*state);
    for (int i = 0; i < 4; i++) {
        clock_advance_ms(UNINITIALIZED_MS - 1000);
        ask(*state, 200, PING, PONG);
    }
}

static void initialized_gives_the_whole_idle_time(void **state)
{
    begin_session(*state);
    clock_advance_ms(UNINITIALIZED_MS - 1000);
    ask(*state, 202, INITIALIZED, "");
    clock_advance_ms(bench_config.session_idle_ms - 1000);
    ask(*state, 200, PING, PONG);
}

static void initialize_beyond_the_cap_of_sessions_is_503(void **state)
{
    bench.store->sessions_max = 1;
    bench_connect(*state, "2025-06-18");
    char first[sizeof bench.session];
    strcpy(first, bench.session);
    bench.session[0] = 0;
    ask(*state, 503, INITIALIZE("2025-06-18"),
        "{\"id\":0,\"error\":{\"code\":-32603,\"message\":\"Too many sessions\"}}");
    assert_string_equal(bench.new_session, "");
    strcpy(bench.session, first);
    ask(*state, 200, PING, PONG);
}

static void a_late_renewal_does_not_revive_a_session(void **state)
{
    bench_connect(*state, "2025-06-18");
    clock_advance_ms(bench_config.session_idle_ms / 2);
    ask(*state, 200, PING, PONG);
    bench.verb = CALL_DELETE;
    ask(*state, 204, "", "");
    bench.verb = CALL_POST;
    wait_for_writes(*state);
    ask(*state, 404, PING, ERR_PATTERN("-32600"));
}

static void S_06_ids_that_were_never_issued(void **state)
{
    static const char *const ids[] = {
        "0123456789abcdef0123456789abcdef01234567",
        "x",
        "../../etc/passwd",
        "a b",
        "\xc3\xa9",
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"};
    for (size_t i = 0; i < N(ids); i++) {
        strcpy(bench.session, ids[i]);
        ask(*state, 404, PING, ERR_PATTERN("-32600"));
    }
}

static void S_08_delete_may_be_off(void **state)
{
    struct core_config config = bench_config;
    (void)state;
    config.allow_client_delete = false;
    bench_open(&bench, &config);
    bench_connect(&bench, "2025-06-18");
    bench.verb = CALL_DELETE;
    ask(&bench, 405, "", ERR_PATTERN("-32600"));
    bench.verb = CALL_POST;
    ask(&bench, 200, PING, PONG);
    bench_close(&bench);
}

static void S_13_a_session_belongs_to_its_user(void **state)
{
    strcpy(bench.user, "ada");
    bench_connect(*state, "2025-06-18");
    strcpy(bench.user, "bob");
    ask(*state, 404, PING, ERR_PATTERN("-32600"));
    bench.user[0] = '\0';
    ask(*state, 404, PING, ERR_PATTERN("-32600"));
    strcpy(bench.user, "ada");
    ask(*state, 200, PING, PONG);
}

static void S_15_another_worker_knows_the_session(void **state)
{
    struct core *other, *mine = bench.core;
    bench_connect(*state, "2025-06-18");
    assert_int_equal(core_new(&bench.config, bench.store, &bench.loop, &other), 0);
    bench.core = other;
    ask(*state, 200, PING, PONG);
    bench.core = mine;
    core_free(other);
}

static void a_session_of_one_profile_is_unknown_to_the_other(void **state)
{
    bench_connect(*state, "2025-06-18");
    bench.profile = PROFILE_OPERATIONS;
    ask(*state, 404, PING, ERR_PATTERN("-32600"));
    bench_connect(*state, "2025-06-18");
    ask(*state, 200, PING, PONG);
    ask_method(*state, "tools/list", "", "{\"tools\":[{\"name\":\"describe_all\"},\"...\"]}");
    ask_method(*state, "resources/list", "",
               "{\"resources\":[{\"uri\":\"tenon://about\"},{\"uri\":\"tenon://"
               "openapi\"},{\"uri\":\"tenon://operations\"}]}");
}

static void a_profile_that_is_off_has_no_endpoint(void **state)
{
    struct core_config config = bench_config;
    (void)state;
    config.profile_enabled[PROFILE_OPERATIONS] = false;
    bench_open(&bench, &config);
    bench.profile = PROFILE_OPERATIONS;
    ask(&bench, 404, INITIALIZE("2025-06-18"), ERR_PATTERN("-32600"));
    bench_close(&bench);
}

/* ---- The version header --------------------------------------------------------------------- */

static void V_01_initialize_ignores_the_header(void **state)
{
    static const char *const versions[] = {"", "-", "2025-06-18", "2025-11-25", "banana"};
    for (size_t i = 0; i < N(versions); i++) {
        strcpy(bench.version, versions[i]);
        ask(*state, 200, INITIALIZE("2025-06-18"), "{\"result\":{}}");
    }
}

static void V_02_V_03_Q_06_the_session_s_version_rules(void **state)
{
    bench_connect(*state, "2025-06-18");
    bench.version[0] = '\0';
    ask(*state, 400, "[" PING "]", ERR_PATTERN("-32600"));
    strcpy(bench.version, "2025-03-26");
    ask(*state, 400, "[" PING "]", ERR_PATTERN("-32600"));
    ask(*state, 200, PING, PONG);
    bench_connect(*state, "2025-03-26");
    strcpy(bench.version, "2025-06-18");
    ask(*state, 200, "[" PING "]", "[" PONG "]");
}

static void V_04_C_027_unsupported_versions_are_refused(void **state)
{
    static const char *const versions[] = {
        "banana", "1999-01-01", "2026-07-28", "-", "2025-06-18, 2025-03-26", "2025-06-18 "};
    bench_connect(*state, "2025-06-18");
    for (size_t i = 0; i < N(versions); i++) {
        strcpy(bench.version, versions[i]);
        ask(*state, 400, PING, ERR_PATTERN("-32600"));
        ask(*state, 400, INITIALIZED, ERR_PATTERN("-32600"));
        bench.verb = CALL_DELETE;
        ask(*state, 400, "", ERR_PATTERN("-32600"));
        bench.verb = CALL_POST;
    }
    bench.version[0] = '\0';
    ask(*state, 200, PING, PONG);
}

/* ---- stdio ---------------------------------------------------------------------------------- */

static void IO_stdio_has_one_session_without_an_id(void **state)
{
    bench.stdio = true;
    ask(*state, 400, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}",
        ERR_PATTERN("-32600"));
    ask(*state, 202, INITIALIZED, "");
    ask(*state, 202, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", "");
    strcpy(bench.version, "banana"); /* headers do not exist there */
    ask(*state, 200, INITIALIZE("2025-06-18"), "{\"result\":{\"protocolVersion\":\"2025-06-18\"}}");
    assert_int_equal(bench.new_session[0], '\0');
    ask(*state, 202, INITIALIZED, "");
    ask(*state, 200, PING, PONG);
    ask(*state, 400, INITIALIZE("2025-03-26"), "{\"id\":0,\"error\":{\"code\":-32600}}");
    ask(*state, 400, "[" PING "]", ERR_PATTERN("-32600")); /* IO-05 */
    ask(*state, 200, PING, PONG);
}

static void L_09_stdio_answers_ping_before_initialize(void **state)
{
    bench.stdio = true;
    ask(*state, 200, PING, PONG);
}

static void IO_04_stdio_takes_batches_of_2025_03_26(void **state)
{
    bench.stdio = true;
    bench_connect(*state, "2025-03-26");
    ask(*state, 200, "[" PING "," PING "]", "[" PONG "," PONG "]");
    ask(*state, 202, "[" INITIALIZED "]", "");
}

/* ---- Memory --------------------------------------------------------------------------------- */

static void every_failing_allocation_is_answered(void **state)
{
    static const char *const bodies[] = {
        INITIALIZE("2025-06-18"),
        PING,
        INITIALIZED,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"cursor\":\"x\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"foo\"}",
        "{",
        "[" PING "]",
    };
    char session[128];
    int n_failed = 0;
    bench_connect(*state, "2025-03-26");
    strcpy(session, bench.session);
    for (size_t i = 0; i < N(bodies); i++) {
        int status = 500;
        strcpy(bench.session, i ? session : "");
        for (size_t limit = 1; status == 500; limit += 16, n_failed += status == 500) {
            bench.arena_limit = limit;
            bench_send(*state, str_of(bodies[i]));
            status = bench.status;
        }
        bench.arena_limit = 0;
        bench_send(*state, str_of(bodies[i]));
        assert_int_equal(bench.status, status);
    }
    assert_true(n_failed > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BENCH_TEST(L_02_S_04_C_043_nothing_runs_without_a_session),
        BENCH_TEST(server_discover_without_a_session_is_refused_at_once),
        BENCH_TEST(L_03_initialize_says_who_and_what),
        BENCH_TEST(L_04_known_versions_are_echoed),
        BENCH_TEST(L_05_L_06_unknown_version_gets_latest),
        BENCH_TEST(L_07_initialize_needs_its_members),
        BENCH_TEST(L_07_client_info_is_bounded),
        BENCH_TEST(L_09_Q_05_requests_before_initialized_are_served),
        BENCH_TEST(L_12_RS_01_what_is_not_declared_is_not_there),
        BENCH_TEST(L_14_unknown_capabilities_are_tolerated),
        BENCH_TEST(C_045_a_second_initialize_is_refused),
        BENCH_TEST(C_02_C_04_C_08_cancelling_nothing_is_no_fault),
        BENCH_TEST(Q_10_responses_are_taken),
        BENCH_TEST(S_02_S_03_S_12_ids_are_random_visible_ascii),
        BENCH_TEST(S_05_S_08_delete_ends_the_session_for_everything),
        BENCH_TEST(S_05_a_session_expires_when_idle),
        BENCH_TEST(S_15_activity_is_written_lazily),
        BENCH_TEST(a_late_renewal_does_not_revive_a_session),
        BENCH_TEST(a_session_that_is_never_initialized_expires_soon),
        BENCH_TEST(Q_05_requests_before_initialized_keep_the_session),
        BENCH_TEST(initialized_gives_the_whole_idle_time),
        BENCH_TEST(initialize_beyond_the_cap_of_sessions_is_503),
        BENCH_TEST(S_06_ids_that_were_never_issued),
        cmocka_unit_test(S_08_delete_may_be_off),
        BENCH_TEST(S_13_a_session_belongs_to_its_user),
        BENCH_TEST(S_15_another_worker_knows_the_session),
        BENCH_TEST(a_session_of_one_profile_is_unknown_to_the_other),
        cmocka_unit_test(a_profile_that_is_off_has_no_endpoint),
        BENCH_TEST(V_01_initialize_ignores_the_header),
        BENCH_TEST(V_02_V_03_Q_06_the_session_s_version_rules),
        BENCH_TEST(V_04_C_027_unsupported_versions_are_refused),
        BENCH_TEST(IO_stdio_has_one_session_without_an_id),
        BENCH_TEST(L_09_stdio_answers_ping_before_initialize),
        BENCH_TEST(IO_04_stdio_takes_batches_of_2025_03_26),
        BENCH_TEST(every_failing_allocation_is_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
