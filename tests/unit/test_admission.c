/* tests/unit/test_admission.c - what is asked before a call runs, and what a denial looks like.
 *
 * Rates are of 0.001 a second, so that nothing comes back unless the clock is moved.
 */
#include "ask.h"

#include "core/admission.h"
#include "hand_clock.h"

#define SLOW 0.001

static struct rates *rates;

static void open_limited(const struct admission_limits *limits)
{
    struct core_config config = bench_config;
    rates = calloc(1, sizeof *rates);
    assert_non_null(rates);
    assert_int_equal(rates_init(rates), 0);
    config.rates = rates;
    bench_shop(&bench, &config); /* two calls of create_book */
    config.limits[0] = config.limits[1] = *limits;
    core_reload(bench.core, &config);
}

static int close_limited(void **state)
{
    (void)state;
    bench_close(&bench);
    free(rates);
    return 0;
}

#define GET(id) "{\"name\":\"get_book\",\"arguments\":{\"id\":" #id "}}"
#define GIVEN   "{\"-\":[\"isError\"]}"

static void get(const char *pattern)
{
    ask_method(&bench, "tools/call", GET(1), pattern);
}

static bool says(const char *text)
{
    return bench.body.p && strstr(bench.body.p, text);
}

static void get_denied(const char *scope)
{
    char wanted[64];
    snprintf(wanted, sizeof wanted, "\\\"scope\\\":\\\"%s\\\"", scope);
    get("{\"isError\":true,\"-\":[\"structuredContent\"]}");
    if (!says("\\\"kind\\\":\\\"rate_limited\\\"") || !says(wanted) || !says("\\\"message\\\":"))
        fail_msg("%s", bench.body.p);
}

/* ---- Rates ---------------------------------------------------------------------------------- */

static void a_tool_has_a_limit_of_its_own_in_each_session(void **state)
{
    (void)state;
    open_limited(&(struct admission_limits){.tool = rate_of(SLOW, 2)});
    get(GIVEN);
    get(GIVEN);
    get_denied("per_tool");
    assert_true(says("\\\"tool\\\":\\\"get_book\\\""));
    ask_method(&bench, "tools/call", "{\"name\":\"search_book\",\"arguments\":{}}", GIVEN);
    bench_connect(&bench, "2025-06-18");
    get(GIVEN);
    get(GIVEN);
    get_denied("per_tool");
    clock_advance_ms(1000 * 1000);
    get(GIVEN);
    get_denied("per_tool");
}

static void a_session_has_a_limit_for_all_it_asks(void **state)
{
    (void)state;
    open_limited(&(struct admission_limits){.session = rate_of(SLOW, 2)});
    get(GIVEN);
    ask_method(&bench, "tools/call", "{\"name\":\"search_book\",\"arguments\":{}}", GIVEN);
    get_denied("session_rate");
    bench_connect(&bench, "2025-06-18");
    get(GIVEN);
}

static void a_user_has_a_limit_for_all_his_sessions(void **state)
{
    (void)state;
    open_limited(&(struct admission_limits){.client = rate_of(SLOW, 2)});
    for (int i = 0; i < 2; i++) {
        strcpy(bench.user, i ? "eve" : "adam");
        bench_connect(&bench, "2025-06-18");
        get(GIVEN);
        bench_connect(&bench, "2025-06-18");
        get(GIVEN);
        get_denied("per_client");
    }
}

/* acceptance REFERENCE a.13: all are looked at before any is charged. */
static void a_denied_call_takes_nothing_of_any_rate(void **state)
{
    (void)state;
    open_limited(&(struct admission_limits){
        .tool = rate_of(SLOW, 1), .session = rate_of(SLOW, 3), .client = rate_of(SLOW, 3)});
    get(GIVEN);
    for (int i = 0; i < 10; i++)
        get_denied("per_tool");
    ask_method(&bench, "tools/call", "{\"name\":\"search_book\",\"arguments\":{}}", GIVEN);
    ask_method(&bench, "tools/call", "{\"name\":\"delete_book\",\"arguments\":{\"id\":1}}", GIVEN);
    ask(&bench, 429,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\",\"params\":{\"uri\":"
        "\"tenon://about\"}}",
        "{\"error\":{\"code\":-32600,\"data\":{\"scope\":\"session_rate\"}}}");
}

static void a_limit_of_0_limits_nothing(void **state)
{
    (void)state;
    open_limited(&(struct admission_limits){0});
    for (int i = 0; i < 1000; i++)
        get(GIVEN);
}

static void tools_that_are_not_there_take_nothing(void **state)
{
    (void)state;
    open_limited(&(struct admission_limits){.session = rate_of(SLOW, 1)});
    for (int i = 0; i < 5; i++)
        ask_method(&bench, "tools/call", "{\"name\":\"nothing\"}", "!{\"code\":-32602}");
    get(GIVEN);
    get_denied("session_rate");
    ask_method(&bench, "tools/call", "{\"name\":\"nothing\"}", "!{\"code\":-32602}");
}

/* ---- What is not a tool --------------------------------------------------------------------- */

static const struct {
    const char *method, *params;
} others[] = {
    {"resources/read", "{\"uri\":\"tenon://about\"}"},
    {"resources/subscribe", "{\"uri\":\"http://x\"}"},
    {"completion/complete", "{\"ref\":{\"type\":\"ref/resource\",\"uri\":\"tenon://about\"},"
                            "\"argument\":{\"name\":\"a\",\"value\":\"\"}}"},
};

static uint32_t retry_after_s;

static void note_retry_after(struct call *call)
{
    retry_after_s = call->out.retry_after_s;
    take_answer(call);
}

static void ask_other(size_t i)
{
    char body[512];
    snprintf(body, sizeof body, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":%s}",
             others[i].method, others[i].params);
    struct call *call = call_new(bench.core);
    fill(&bench, call, str_of(body));
    call->finish = note_retry_after;
    bench.n_answers = 0;
    core_handle(bench.core, call);
    while (!bench.n_answers)
        assert_true(loop_turn(&bench.loop, 10));
}

static void methods_are_denied_by_429_and_say_when_to_come_again(void **state)
{
    (void)state;
    open_limited(&(struct admission_limits){.tool = rate_of(0.1, 1)});
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        ask_other(i);
        assert_int_not_equal(bench.status, 429);
        ask_other(i);
        assert_int_equal(bench.status, 429);
        assert_int_equal(retry_after_s, 10);
        assert_true(says("\"code\":-32600") && says("\"kind\":\"rate_limited\"") &&
                    says("\"scope\":\"per_tool\"") && says(others[i].method));
    }
    ask(&bench, 200, PING, PONG);
    ask_method(&bench, "tools/list", "", "{}");
}

static void members_of_a_batch_count_one_by_one(void **state)
{
    (void)state;
    open_limited(&(struct admission_limits){.session = rate_of(SLOW, 1)});
    bench_connect(&bench, "2025-03-26");
    ask(&bench, 200,
        "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\",\"params\":{\"uri\":"
        "\"tenon://about\"}},{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"resources/read\","
        "\"params\":{\"uri\":\"tenon://about\"}}]",
        "[{\"id\":1,\"result\":{}},{\"id\":2,\"error\":{\"code\":-32600}}]");
}

/* ---- Calls that run ------------------------------------------------------------------------- */

/* A create waits for the store, whose turn has not come. */
static void begin_create(int id)
{
    char body[256];
    snprintf(body, sizeof body,
             "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":"
             "\"create_note\",\"arguments\":{\"key\":\"%d\"}}}",
             id, id);
    bench_begin(&bench, str_of(body));
}

static void what_runs_is_counted_until_it_ends(void **state)
{
    (void)state;
    open_limited(&(struct admission_limits){.session_concurrency = 2});
    for (int round = 0; round < 3; round++) {
        bench.n_answers = 0;
        begin_create(10 * round + 1);
        begin_create(10 * round + 2);
        if (bench.n_answers == 0) {
            begin_create(10 * round + 3);
            assert_true(bench.n_answers == 1 && says("\\\"scope\\\":\\\"concurrency\\\""));
        }
        while (bench.n_answers < 3 && loop_turn(&bench.loop, 1))
            ;
        get(GIVEN);
    }
}

/* ---- Quotas --------------------------------------------------------------------------------- */

#define WINDOW_MS 3600000

static void get_beyond_quota(void)
{
    get("{\"isError\":true}");
    if (!says("\\\"kind\\\":\\\"quota_exceeded\\\"") || !says("\\\"tool\\\":\\\"get_book\\\"") ||
        !says("\\\"retryAfterSeconds\\\":"))
        fail_msg("%s", bench.body.p);
}

static void a_quota_lasts_for_its_window(void **state)
{
    (void)state;
    open_limited(&(struct admission_limits){.quota = 3, .quota_window_ms = WINDOW_MS});
    for (int i = 0; i < 2; i++) {
        get(GIVEN);
        get(GIVEN);
        bench_connect(&bench, "2025-06-18");
        get(GIVEN);
        get_beyond_quota();
        get_beyond_quota();
        clock_advance_ms(WINDOW_MS);
        bench_connect(&bench, "2025-06-18");
    }
}

static void each_user_has_a_quota(void **state)
{
    (void)state;
    open_limited(&(struct admission_limits){.quota = 1, .quota_window_ms = WINDOW_MS});
    for (int i = 0; i < 3; i++) {
        memset(bench.user, 'a' + i, sizeof bench.user - 1);
        bench_connect(&bench, "2025-06-18");
        get(GIVEN);
        get_beyond_quota();
    }
    ask_method(&bench, "ping", "", "{}");
}

static void what_is_cancelled_while_it_is_counted_does_not_run(void **state)
{
    (void)state;
    open_limited(&(struct admission_limits){
        .quota = 5, .quota_window_ms = WINDOW_MS, .session_concurrency = 1});
    bench.n_answers = 0;
    begin_create(7);
    assert_int_equal(bench.n_answers, 0);
    bench_begin(&bench, STR("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                            "\"params\":{\"requestId\":7}}"));
    while (bench.n_answers < 2)
        assert_true(loop_turn(&bench.loop, 10));
    assert_true(bench.status == 202 && bench.body.n == 0);
    ask_method(&bench, "tools/call", "{\"name\":\"get_note\",\"arguments\":{\"id\":\"7\"}}",
               "{\"isError\":true}");
    get(GIVEN);
}

static void a_method_beyond_the_quota_is_429(void **state)
{
    (void)state;
    open_limited(&(struct admission_limits){.quota = 1, .quota_window_ms = WINDOW_MS});
    ask_other(0);
    assert_int_equal(bench.status, 200);
    ask_other(0);
    assert_int_equal(bench.status, 429);
    assert_true(says("\"kind\":\"quota_exceeded\"") && retry_after_s > 1);
    assert_true(retry_after_s <= WINDOW_MS / 1000);
}

/* acceptance REFERENCE (c) 34: a store that cannot count denies. */
static void a_quota_that_cannot_be_counted_denies(void **state)
{
    (void)state;
    open_limited(&(struct admission_limits){.quota = 5, .quota_window_ms = WINDOW_MS});
    for (unsigned i = 0; i < QUOTAS_MAX; i += 1000) {
        struct store_op ops[1000] = {0};
        char keys[1000][16];
        for (unsigned j = 0; j < 1000; j++) {
            snprintf(keys[j], sizeof keys[j], "k%u", i + j);
            ops[j] = (struct store_op){.kind = STORE_TAKE_QUOTA,
                                       .if_version = STORE_ANY,
                                       .key = str_of(keys[j]),
                                       .n = 1,
                                       .quota_max = 1,
                                       .until_ms = clock_wall_ms() + WINDOW_MS};
        }
        struct store_write write = {.space = STORE_SYS, .ops = ops, .n_ops = 1000};
        assert_int_equal(store_apply(bench.store, &write), 0);
    }
    get_beyond_quota();
    assert_true(says("cannot be counted"));
}

#define LIMIT_TEST(f) cmocka_unit_test_teardown(f, close_limited)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIMIT_TEST(a_tool_has_a_limit_of_its_own_in_each_session),
        LIMIT_TEST(a_session_has_a_limit_for_all_it_asks),
        LIMIT_TEST(a_user_has_a_limit_for_all_his_sessions),
        LIMIT_TEST(a_denied_call_takes_nothing_of_any_rate),
        LIMIT_TEST(a_limit_of_0_limits_nothing),
        LIMIT_TEST(tools_that_are_not_there_take_nothing),
        LIMIT_TEST(methods_are_denied_by_429_and_say_when_to_come_again),
        LIMIT_TEST(members_of_a_batch_count_one_by_one),
        LIMIT_TEST(what_runs_is_counted_until_it_ends),
        LIMIT_TEST(a_quota_lasts_for_its_window),
        LIMIT_TEST(each_user_has_a_quota),
        LIMIT_TEST(what_is_cancelled_while_it_is_counted_does_not_run),
        LIMIT_TEST(a_method_beyond_the_quota_is_429),
        LIMIT_TEST(a_quota_that_cannot_be_counted_denies),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("admission", tests, NULL, NULL);
}
