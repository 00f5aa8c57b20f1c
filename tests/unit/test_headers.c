/* tests/unit/test_headers.c - header values, and the judgement on a whole head. */
#include "base/err.h"
#include "net/head.h"
#include "net/headers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <string.h>

static void check_accept(const char *value, bool json, bool sse)
{
    struct header_accept got = header_accept(str_of(value));
    if (got.json != json || got.sse != sse)
        fail_msg("Accept \"%s\" reads as json %d, sse %d", value, got.json, got.sse);
}

static void C_025_accept_is_read_leniently(void **state)
{
    (void)state;
    struct header_accept absent = header_accept(STR_NONE);
    assert_true(absent.json && absent.sse);
    check_accept("", true, true);
    check_accept("*/*", true, true);
    check_accept("application/json", true, false);
    check_accept("APPLICATION/JSON", true, false);
    check_accept("application/*, text/*", true, true);
    check_accept("application/json, text/event-stream", true, true);
    check_accept("text/event-stream,application/json", true, true);
    check_accept("text/event-stream", false, true);
    check_accept("text/html", false, false);
    check_accept("application/jsonx", false, false);
    check_accept("application/json-patch+json", false, false);
    check_accept("text/html, */*;q=0.1", true, true);
}

static void T_06_quality_zero_refuses(void **state)
{
    (void)state;
    check_accept("application/json;q=0", false, false);
    check_accept("application/json;q=0.000, text/event-stream", false, true);
    check_accept("application/json; q=0.001", true, false);
    check_accept("application/json;q=0.9, text/event-stream;q=0.5", true, true);
    check_accept("*/*, application/json;q=0", false, true);
    check_accept("application/json;q=0, */*", false, true);
    check_accept("application/json;charset=\"a,b;q=0\";q=1", true, false);
    check_accept("application/json;version=1;q=0, text/event-stream", false, true);
    check_accept("*/*;q=0", false, false);
}

static void accept_survives_rubbish(void **state)
{
    (void)state;
    check_accept(",,,", false, false);
    check_accept("json", false, false);
    check_accept("/, application/json", true, false);
    check_accept("application/json;;;=, x", true, false);
    check_accept("application/json;q=\"", true, false);
    check_accept("\xff\xfe\x01, */*", true, true);
}

static void C_025_content_type_with_parameters(void **state)
{
    (void)state;
    static const char *const good[] = {"application/json", "application/json; charset=utf-8",
                                       "Application/JSON", "application/json;charset=\"UTF-8\"",
                                       "application/json ;x"};
    static const char *const bad[] = {"",
                                      "text/plain",
                                      "application/jsonx",
                                      "application/json-seq",
                                      "application/json, text/plain",
                                      "xapplication/json"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(header_is_json(str_of(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(header_is_json(str_of(bad[i])));
    assert_false(header_is_json(STR_NONE));
}

static void check_host(const char *value, const char *name)
{
    struct str got = STR_NONE;
    int err = header_host(str_of(value), &got);
    if (name ? err || !str_eq(got, str_of(name)) : err != ERR_SYNTAX)
        fail_msg("Host \"%s\" reads as \"" STR_FMT "\"", value, STR_ARG(got));
}

static void host_is_cut_from_its_port(void **state)
{
    (void)state;
    check_host("localhost", "localhost");
    check_host("localhost:8750", "localhost");
    check_host("127.0.0.1:1", "127.0.0.1");
    check_host("[::1]:80", "[::1]");
    check_host("[::1]", "[::1]");
    check_host("a.example:", "a.example");
    check_host("", NULL);
    check_host("localhost:80:80", NULL);
    check_host("localhost@evil.example", NULL);
    check_host("localhost evil.example", NULL);
    check_host("localhost,evil.example", NULL);
    check_host("localhost/x", NULL);
    check_host("[::1", NULL);
    check_host(":80", NULL);
    check_host("localhost:123456", NULL);
    assert_int_equal(header_host((struct str){"localhost\0.evil", 15}, &(struct str){0}),
                     ERR_SYNTAX);
}

static void loopback_names_are_known(void **state)
{
    (void)state;
    static const char *const good[] = {"localhost", "LOCALHOST", "127.0.0.1", "127.9.9.9", "[::1]"};
    static const char *const bad[] = {"localhost.evil.example",
                                      "127.0.0.1.evil.example",
                                      "127.0.0",
                                      "0.0.0.0",
                                      "[::2]",
                                      "xlocalhost",
                                      ""};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(header_is_loopback(str_of(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(header_is_loopback(str_of(bad[i])));
    assert_true(header_is_address(STR("10.0.0.7")) && header_is_address(STR("[fe80::1]")));
    assert_false(header_is_address(STR("10.0.0.7.example")));
}

static void S_03_session_ids_are_visible_ascii(void **state)
{
    (void)state;
    assert_true(header_is_visible(STR("!~aZ09")));
    assert_false(header_is_visible(STR("")));
    assert_false(header_is_visible(STR("a b")));
    assert_false(header_is_visible(STR("a\x7f")));
    assert_false(header_is_visible(STR("\xc3\xa4")));
    assert_false(header_is_visible((struct str){"a\0b", 3}));
}

static void check_bearer(const char *value, enum header_scheme expected, const char *token)
{
    struct str got = STR_NONE;
    if (header_bearer(str_of(value), &got) != expected)
        fail_msg("%s", value);
    if (token)
        assert_true(str_eq(got, str_of(token)));
}

static void A_07_bearer_is_read_strictly(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        " ",
        "Bearer",
        "Bearer ",
        "Bearer\ta",
        "Bearer a b",
        "Bearer a,b",
        "Bearer =a",
        "Bearer a=b",
        "Bearer \"a\"",
        "Bearer a\n",
        "Bearer a\x7f",
        "Bearer \xc3\xa9",
        ":",
        "=Bearer a",
        "Basic\ta",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check_bearer(bad[i], HEADER_BAD_SCHEME, NULL);
    check_bearer("Bearer a", HEADER_BEARER, "a");
    check_bearer("bEARER   a-b._~+/0Z==", HEADER_BEARER, "a-b._~+/0Z==");
    check_bearer("Basic dXNlcjpwYXNz", HEADER_OTHER_SCHEME, NULL);
    check_bearer("Bearers a", HEADER_OTHER_SCHEME, NULL);
    check_bearer("Digest username=\"a\", nonce=\"b\"", HEADER_OTHER_SCHEME, NULL);
    struct str got;
    assert_int_equal(header_bearer((struct str){"Bearer a\0b", 10}, &got), HEADER_BAD_SCHEME);
    assert_int_equal(header_bearer(STR_NONE, &got), HEADER_BAD_SCHEME);
}

static void content_length_is_digits_only(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "+3", "-5", "5, 5", "5,3", "0x10", "1e3", "abc", "5 5"};
    uint64_t n = 1;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(header_content_length(str_of(bad[i]), &n), ERR_SYNTAX);
    assert_int_equal(n, 1);
    assert_int_equal(header_content_length(STR("0042"), &n), 0);
    assert_int_equal(n, 42);
    assert_int_equal(header_content_length(STR("99999999999999999999"), &n), 0);
    assert_true(n == UINT64_MAX);
    assert_int_equal(header_content_length((struct str){"4\0", 2}, &n), ERR_SYNTAX);
}

/* ---- The whole head ---------------------------------------------------------------------------*/

static const struct net_address local = {"127.0.0.1", 8750};
static const struct net_address open_to_all = {"0.0.0.0", 8750};

static struct http_head good_head(void)
{
    return (struct http_head){
        .method = HTTP_POST,
        .path = STR("/mcp"),
        .host = STR("127.0.0.1:8750"),
        .content_type = STR("application/json"),
        .content_length = STR("2"),
    };
}

static int judge(const struct net_address *listen, const struct http_head *head,
                 struct http_plan *plan)
{
    static const struct str origins[] = {STR_INIT("https://app.example")};
    static const struct str hosts[] = {STR_INIT("mcp.example")};
    const struct net_config config = {.path = {"/mcp", "/mcp/operations"},
                                      .origins = origins,
                                      .n_origins = 1,
                                      .hosts = hosts,
                                      .n_hosts = 1};
    int err = head_judge(&config, listen, head, plan);
    return err ? err : head_judge_rest(&config, head, plan);
}

static void check_origin(const struct net_address *listen, const char *origin, int expected)
{
    struct http_plan plan;
    struct http_head head = good_head();
    head.origin = str_of(origin);
    int err = judge(listen, &head, &plan);
    if (err != expected)
        fail_msg("Origin \"%s\" on %s: %s", origin, listen->host, err_name(err));
    assert_true(err ? !plan.allowed_origin.p : str_eq(plan.allowed_origin, head.origin));
}

static void C_029_T_02_origins(void **state)
{
    (void)state;
    check_origin(&local, "http://localhost", 0);
    check_origin(&local, "http://localhost:6274", 0);
    check_origin(&local, "https://127.0.0.1:1", 0);
    check_origin(&local, "http://[::1]:5173", 0);
    check_origin(&local, "https://app.example", 0);
    check_origin(&local, "null", ERR_FORBIDDEN);
    check_origin(&local, "", ERR_FORBIDDEN);
    check_origin(&local, "http://evil.example", ERR_FORBIDDEN);
    check_origin(&local, "http://localhost.evil.example", ERR_FORBIDDEN);
    check_origin(&local, "http://localhost@evil.example", ERR_FORBIDDEN);
    check_origin(&local, "http://app.example", ERR_FORBIDDEN);
    check_origin(&open_to_all, "http://localhost", ERR_FORBIDDEN);
    check_origin(&open_to_all, "https://app.example", 0);
}

static void check_host_rule(const struct net_address *listen, const char *host, int expected)
{
    struct http_plan plan;
    struct http_head head = good_head();
    head.host = host ? str_of(host) : STR_NONE;
    int err = judge(listen, &head, &plan);
    if (err != expected)
        fail_msg("Host \"%s\" on %s: %s", host, listen->host, err_name(err));
}

static void T_03_hosts(void **state)
{
    (void)state;
    check_host_rule(&local, "localhost:1", 0);
    check_host_rule(&local, "[::1]", 0);
    check_host_rule(&local, "mcp.example", 0);
    check_host_rule(&local, "evil.example.com", ERR_FORBIDDEN);
    check_host_rule(&local, "10.0.0.1", ERR_FORBIDDEN);
    check_host_rule(&local, "localhost, evil.example", ERR_FORBIDDEN);
    check_host_rule(&local, "", ERR_FORBIDDEN);
    check_host_rule(&local, NULL, ERR_BAD_FRAMING);
    check_host_rule(&open_to_all, "10.0.0.1:8750", 0);
    check_host_rule(&open_to_all, "evil.example", ERR_FORBIDDEN);
}

static void C_033_paths(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        int err;
    } cases[] = {{"/mcp", 0},
                 {"/mcp/", 0},
                 {"/mcp/operations", 0},
                 {"/mcp/operations/", 0},
                 {"/", ERR_NO_ENDPOINT},
                 {"", ERR_NO_ENDPOINT},
                 {"/mcpx", ERR_NO_ENDPOINT},
                 {"/mcp//", ERR_NO_ENDPOINT},
                 {"/MCP", ERR_NO_ENDPOINT},
                 {"/.well-known/oauth-protected-resource", ERR_NO_ENDPOINT}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct http_plan plan;
        struct http_head head = good_head();
        head.path = str_of(cases[i].path);
        assert_int_equal(judge(&local, &head, &plan), cases[i].err);
    }
}

static void framing_that_can_be_read_in_two_ways_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *length, *encoding;
        bool http10;
        int err;
    } cases[] = {{"5", "chunked", false, ERR_BAD_FRAMING},
                 {NULL, "gzip", false, ERR_BAD_FRAMING},
                 {NULL, "gzip, chunked", false, ERR_BAD_FRAMING},
                 {NULL, "chunked, chunked", false, ERR_BAD_FRAMING},
                 {NULL, "", false, ERR_BAD_FRAMING},
                 {NULL, "chunked", true, ERR_BAD_FRAMING},
                 {"5,3", NULL, false, ERR_BAD_FRAMING},
                 {"-5", NULL, false, ERR_BAD_FRAMING},
                 {NULL, NULL, false, ERR_LENGTH_REQUIRED},
                 {NULL, "Chunked", false, 0},
                 {"0", NULL, false, 0},
                 {"4194304", NULL, false, 0},
                 {"4194305", NULL, false, ERR_TOO_LARGE},
                 {"99999999999999999999999999", NULL, false, ERR_TOO_LARGE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct http_plan plan;
        struct http_head head = good_head();
        head.content_length = cases[i].length ? str_of(cases[i].length) : STR_NONE;
        head.transfer_encoding = cases[i].encoding ? str_of(cases[i].encoding) : STR_NONE;
        head.http10 = cases[i].http10;
        if (judge(&local, &head, &plan) != cases[i].err)
            fail_msg("case %zu", i);
    }
}

static void a_get_with_a_body_is_refused(void **state)
{
    (void)state;
    struct http_plan plan;
    struct http_head head = good_head();
    head.method = HTTP_GET;
    assert_int_equal(judge(&local, &head, &plan), ERR_BAD_FRAMING);
    head.content_length = STR_NONE;
    assert_int_equal(judge(&local, &head, &plan), 0);
}

static void S_04_an_empty_session_id_is_400(void **state)
{
    (void)state;
    struct http_plan plan;
    struct http_head head = good_head();
    head.session_id = STR("");
    assert_int_equal(judge(&local, &head, &plan), ERR_NO_SESSION);
    head.session_id = STR("a\tb");
    assert_int_equal(judge(&local, &head, &plan), ERR_NO_SESSION);
    head.session_id = STR("a");
    assert_int_equal(judge(&local, &head, &plan), 0);
}

static void connection_tokens_decide_about_keeping_it(void **state)
{
    (void)state;
    struct http_plan plan;
    struct http_head head = good_head();
    judge(&local, &head, &plan);
    assert_false(plan.close);
    head.connection = STR("TE, Close");
    judge(&local, &head, &plan);
    assert_true(plan.close);
    head = good_head();
    head.http10 = true;
    judge(&local, &head, &plan);
    assert_true(plan.close);
    head.connection = STR("Keep-Alive");
    judge(&local, &head, &plan);
    assert_false(plan.close);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(C_025_accept_is_read_leniently),
        cmocka_unit_test(T_06_quality_zero_refuses),
        cmocka_unit_test(accept_survives_rubbish),
        cmocka_unit_test(C_025_content_type_with_parameters),
        cmocka_unit_test(host_is_cut_from_its_port),
        cmocka_unit_test(loopback_names_are_known),
        cmocka_unit_test(S_03_session_ids_are_visible_ascii),
        cmocka_unit_test(A_07_bearer_is_read_strictly),
        cmocka_unit_test(content_length_is_digits_only),
        cmocka_unit_test(C_029_T_02_origins),
        cmocka_unit_test(T_03_hosts),
        cmocka_unit_test(C_033_paths),
        cmocka_unit_test(framing_that_can_be_read_in_two_ways_is_refused),
        cmocka_unit_test(a_get_with_a_body_is_refused),
        cmocka_unit_test(S_04_an_empty_session_id_is_400),
        cmocka_unit_test(connection_tokens_decide_about_keeping_it),
    };
    return cmocka_run_group_tests_name("headers", tests, NULL, NULL);
}
