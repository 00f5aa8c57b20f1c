/* tests/unit/test_core_messages.c - one message in a session that is there: what core decides of
 * the checklist's J and M, each test named after its rows. Sessions: test_core_lifecycle.c. */
#include "tests/unit/ask.h"

#define N(a) (sizeof(a) / sizeof *(a))

static void J_05_id_null_is_refused(void **state)
{
    bench_connect(*state, "2025-06-18");
    ask(*state, 400, "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}",
        NO_ID_PATTERN("-32600"));
}

static void J_06_C_003_other_ids_are_refused(void **state)
{
    static const char *const ids[] = {"1.5", "true", "{}", "[]"};
    bench_connect(*state, "2025-06-18");
    for (size_t i = 0; i < N(ids); i++) {
        char body[128];
        snprintf(body, sizeof body, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"ping\"}", ids[i]);
        ask(*state, 400, body, NO_ID_PATTERN("-32600"));
    }
}

static void J_07_C_001_ids_come_back_exactly(void **state)
{
    static const char *const ids[] = {"0",
                                      "-1",
                                      "1.0",
                                      "9007199254740993",
                                      "9223372036854775807",
                                      "123456789012345678901234567890",
                                      "\"\"",
                                      "\"1\"",
                                      "\"\xc5\xbc\\u00e9\\ud83d\\ude00\""};
    bench_connect(*state, "2025-06-18");
    for (size_t i = 0; i < N(ids); i++) {
        char body[256], wanted[256];
        snprintf(body, sizeof body, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"ping\"}", ids[i]);
        snprintf(wanted, sizeof wanted, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}", ids[i]);
        bench_send(*state, str_of(body));
        assert_string_equal(bench.body.p, wanted); /* byte for byte */
    }
}

static void J_10_an_empty_result_is_an_object(void **state)
{
    bench_connect(*state, "2025-06-18");
    ask(*state, 200, PING, PONG);
    assert_string_equal(bench.body.p, PONG);
}

static void J_11_J_23_notifications_are_never_answered(void **state)
{
    static const char *const bodies[] = {
        INITIALIZED,
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/foo\"}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
        "cancelled\",\"params\":{\"requestId\":{}}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\"}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\",\"params\":{\"_meta\":5}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"tools/list\"}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"initialize\"}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"ping\"}",
    };
    bench_connect(*state, "2025-06-18");
    for (size_t i = 0; i < N(bodies); i++)
        ask(*state, 202, bodies[i], "");
}

static void J_13_J_21_unknown_methods(void **state)
{
    static const char *const methods[] = {"foo/bar", "",      "Ping",
                                          "rpc.x",   "ping ", "server/discover"};
    bench_connect(*state, "2025-06-18");
    for (size_t i = 0; i < N(methods); i++)
        ask_method(*state, methods[i], "", "!{\"code\":-32601,\"message\":\"*\"}");
    ask_method(*state, "foo/bar", "", "!{\"message\":\"Method not found: foo/bar\"}");
}

static void J_14_params_that_do_not_fit_name_the_place(void **state)
{
    static const char *const cases[][3] = {
        {"tools/call", "{\"arguments\":{}}", "/params/name"},
        {"tools/call", "{\"name\":5}", "/params/name"},
        {"tools/call", "", "/params/name"},
        {"tools/call", "{\"name\":\"x\",\"arguments\":[]}", "/params/arguments"},
        {"tools/call", "{\"name\":\"x\",\"name\":\"y\"}", "/params/name"},
        {"resources/read", "{}", "/params/uri"},
        {"resources/read", "{\"uri\":42}", "/params/uri"},
        {"resources/list", "{\"cursor\":5}", "/params/cursor"},
    };
    bench_connect(*state, "2025-06-18");
    for (size_t i = 0; i < N(cases); i++) {
        char wanted[256];
        snprintf(
            wanted, sizeof wanted,
            "!{\"code\":-32602,\"data\":{\"pointer\":\"%s\",\"reason\":\"*\",\"expected\":\"*\"}}",
            cases[i][2]);
        ask_method(*state, cases[i][0], cases[i][1], wanted);
    }
    ask(*state, 200, PING, PONG);
}

static void J_15_C_011_what_is_not_json(void **state)
{
    static const char *const bodies[] = {
        "",
        "{",
        "{\"a\":}",
        PING " x",
        "{'id':7}",
        "{\"a\":1,}",
        "tru",
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/list\"",
        "{\"jsonrpc\":\"2.0\",\"id\":\"\\ud800\",\"method\":\"ping\"}"};
    bench_connect(*state, "2025-06-18");
    for (size_t i = 0; i < N(bodies); i++)
        ask(*state, 400, bodies[i], NO_ID_PATTERN("-32700"));
    ask(*state, 200, PING, PONG);
}

static void J_16_json_that_is_no_message(void **state)
{
    static const char *const bodies[] = {
        "{}",
        "\"x\"",
        "1",
        "null",
        "{\"id\":1,\"method\":\"ping\"}",
        "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[]}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"result\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"method\":\"tools/list\"}",
    };
    bench_connect(*state, "2025-06-18");
    for (size_t i = 0; i < N(bodies); i++)
        ask(*state, 400, bodies[i], ERR_PATTERN("-32600"));
}

static void J_18_C_013_what_is_not_utf8(void **state)
{
    bench_connect(*state, "2025-06-18");
    ask(*state, 400,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"_meta\":{\"k\":\"\xff\"}}"
        "}",
        NO_ID_PATTERN("-32700"));
    ask(*state, 400, "\xef\xbb\xbf" PING, NO_ID_PATTERN("-32700"));
}

static void J_20_unknown_members_are_tolerated(void **state)
{
    bench_connect(*state, "2025-06-18");
    ask_method(*state, "ping", "{\"zzz\":{\"y\":[1,{}]}}", "{}");
    ask_method(*state, "tools/list", "{\"zzz\":1}", "{\"tools\":[]}");
}

static void J_22_a_client_asks_only_what_a_client_may(void **state)
{
    static const char *const methods[] = {"sampling/createMessage",  "roots/list",
                                          "elicitation/create",      "notifications/initialized",
                                          "notifications/cancelled", "notifications/message"};
    bench_connect(*state, "2025-06-18");
    for (size_t i = 0; i < N(methods); i++)
        ask_method(*state, methods[i], "", "!{\"code\":-32601}");
}

static void J_24_C_017_deep_and_huge(void **state)
{
    struct buf body = {0};
    bench_connect(*state, "2025-06-18");
    for (int deep = 0; deep < 3; deep++) {
        static const int depths[] = {125, 126, 100000};
        buf_clear(&body);
        buf_add_lit(
            &body,
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"_meta\":{\"x\":");
        for (int i = 0; i < depths[deep]; i++)
            buf_add_char(&body, '[');
        for (int i = 0; i < depths[deep]; i++)
            buf_add_char(&body, ']');
        buf_add_lit(&body, "}}}");
        bench_send(*state, buf_str(&body));
        expect(*state, deep ? 400 : 200, deep ? NO_ID_PATTERN("-32700") : PONG, "deep nesting");
    }
    buf_clear(&body);
    buf_add_lit(&body, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"");
    for (int i = 0; i < 10000; i++)
        buf_add_char(&body, 'm');
    buf_add_lit(&body, "\"}");
    bench_send(*state, buf_str(&body));
    expect(*state, 200, ERR_PATTERN("-32601"), "a long method");
    assert_true(bench.body.n < 300);
    buf_done(&body);
    ask(*state, 200, PING, PONG);
}

static void C_009_names_are_compared_after_decoding(void **state)
{
    bench_connect(*state, "2025-06-18");
    ask(*state, 200, "{\"jsonrpc\":\"2.0\",\"id\":1,\"\\u006dethod\":\"p\\u0069ng\"}", PONG);
    ask(*state, 200, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools\\/list\"}",
        "{\"result\":{\"tools\":[]}}");
}

static void C_019_params_null_is_absent(void **state)
{
    bench_connect(*state, "2025-06-18");
    ask_method(*state, "tools/list", "null", "{\"tools\":[]}");
    ask_method(*state, "tools/list", "", "{\"tools\":[]}");
}

static void M_01_reserved_meta_keys_mean_nothing(void **state)
{
    bench_connect(*state, "2025-06-18");
    ask_method(*state, "ping", "{\"_meta\":{\"mcp.dev/x\":[{}],\"modelcontextprotocol.io/y\":7}}",
               "{}");
}

static void M_05_M_06_meta_and_progress_token_are_checked_everywhere(void **state)
{
    static const char *const methods[] = {"ping", "tools/list", "resources/list"};
    bench_connect(*state, "2025-06-18");
    for (size_t i = 0; i < N(methods); i++) {
        ask_method(*state, methods[i], "{\"_meta\":5}",
                   "!{\"code\":-32602,\"data\":{\"pointer\":\"/params/_meta\"}}");
        ask_method(*state, methods[i], "{\"_meta\":{\"progressToken\":1.5}}",
                   "!{\"code\":-32602,\"data\":{\"pointer\":\"/params/_meta/progressToken\"}}");
        ask_method(*state, methods[i], "{\"_meta\":{\"progressToken\":0}}", "{}");
        ask_method(*state, methods[i], "{\"_meta\":{\"progressToken\":\"\"}}", "{}");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BENCH_TEST(J_05_id_null_is_refused),
        BENCH_TEST(J_06_C_003_other_ids_are_refused),
        BENCH_TEST(J_07_C_001_ids_come_back_exactly),
        BENCH_TEST(J_10_an_empty_result_is_an_object),
        BENCH_TEST(J_11_J_23_notifications_are_never_answered),
        BENCH_TEST(J_13_J_21_unknown_methods),
        BENCH_TEST(J_14_params_that_do_not_fit_name_the_place),
        BENCH_TEST(J_15_C_011_what_is_not_json),
        BENCH_TEST(J_16_json_that_is_no_message),
        BENCH_TEST(J_18_C_013_what_is_not_utf8),
        BENCH_TEST(J_20_unknown_members_are_tolerated),
        BENCH_TEST(J_22_a_client_asks_only_what_a_client_may),
        BENCH_TEST(J_24_C_017_deep_and_huge),
        BENCH_TEST(C_009_names_are_compared_after_decoding),
        BENCH_TEST(C_019_params_null_is_absent),
        BENCH_TEST(M_01_reserved_meta_keys_mean_nothing),
        BENCH_TEST(M_05_M_06_meta_and_progress_token_are_checked_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
