/* tests/unit/test_cli.c - option parsing, and the small HTTP client's parsing. */
#include "cli.h"
#include "cli_http.h"

#include "base/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const struct cli_option options[] = {
    CLI_OPTION_DATA,
    {"--workers", "N", "workers", "workers"},
    {"--quick", NULL, "a switch", NULL},
    CLI_OPTIONS_END,
};
static const struct cli_command command = {
    .name = "try",
    .operands = "ONE [TWO]",
    .summary = "Try",
    .options = options,
    .operands_min = 1,
    .operands_max = 2,
};

/* cli_parse complains on stderr, where nobody wants to read it here. */
static int parse(struct cli_args *args, int argc, const char **argv)
{
    int kept = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY);
    dup2(null, STDERR_FILENO);
    int status = cli_parse(&command, argc, (char **)argv, args);
    dup2(kept, STDERR_FILENO);
    close(kept);
    close(null);
    return status;
}
#define PARSE(args, ...)                                                             \
    parse(args, (int)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(const char *)), \
          (const char *[]){__VA_ARGS__})

static void options_and_operands_may_mix(void **state)
{
    struct cli_args args;
    (void)state;
    assert_int_equal(PARSE(&args, "a", "--data", "d", "--workers=2", "--quick", "b"), 0);
    assert_string_equal(cli_value(&args, "--data"), "d");
    assert_string_equal(cli_value(&args, "--workers"), "2");
    assert_string_equal(cli_value(&args, "--quick"), "");
    assert_string_equal(args.operands[1], "b");
}

static void the_last_of_equal_options_counts(void **state)
{
    struct cli_args args;
    (void)state;
    assert_int_equal(PARSE(&args, "--data", "x", "a", "--data=", "--", "--quick"), 0);
    assert_string_equal(cli_value(&args, "--data"), "");
    assert_null(cli_value(&args, "--quick"));
    assert_string_equal(args.operands[1], "--quick");
}

static void a_single_hyphen_is_an_operand(void **state)
{
    struct cli_args args;
    (void)state;
    assert_int_equal(PARSE(&args, "-"), 0);
    assert_string_equal(args.operands[0], "-");
}

static void wrong_usage_is_status_2(void **state)
{
    struct cli_args args;
    (void)state;
    assert_int_equal(PARSE(&args, "a", "--nope"), CLI_USAGE);
    assert_int_equal(PARSE(&args, "a", "--data"), CLI_USAGE);
    assert_int_equal(PARSE(&args, "a", "--quick=1"), CLI_USAGE);
    assert_int_equal(PARSE(&args, "--quick"), CLI_USAGE);
    assert_int_equal(PARSE(&args, "a", "b", "c"), CLI_USAGE);
    assert_int_equal(PARSE(&args, "a", "-q"), CLI_USAGE);
}

static void too_many_options_are_refused(void **state)
{
    struct cli_args args;
    const char *argv[CLI_GIVEN_MAX + 2];
    (void)state;
    for (int i = 0; i < CLI_GIVEN_MAX + 2; i++)
        argv[i] = "--quick";
    assert_int_equal(parse(&args, CLI_GIVEN_MAX + 2, argv), CLI_USAGE);
}

static void urls_are_split(void **state)
{
    struct http_url url;
    (void)state;
    assert_int_equal(http_url_parse("http://127.0.0.1:8750/mcp", &url), 0);
    assert_string_equal(url.host, "127.0.0.1");
    assert_string_equal(url.port, "8750");
    assert_string_equal(url.path, "/mcp");
    assert_int_equal(http_url_parse("http://[::1]:1/a/b", &url), 0);
    assert_string_equal(url.host, "::1");
    assert_string_equal(url.path, "/a/b");
    assert_int_equal(http_url_parse("https://x", &url), 0);
    assert_true(url.tls);
    assert_string_equal(url.port, "443");
    assert_int_equal(http_url_parse("http://x", &url), 0);
    assert_string_equal(url.port, "80");
    assert_string_equal(url.path, "/");
    static const char *const bad[] = {"",          "ftp://x",    "http://",        "https:///p",
                                      "http://a:", "http://:80", "http://a b/mcp", "x"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (http_url_parse(bad[i], &url) == 0)
            fail_msg("accepted: %s", bad[i]);
}

static void replies_by_each_framing(void **state)
{
    struct arena arena;
    struct http_reply reply;
    (void)state;
    arena_init(&arena, 0);
    assert_int_equal(http_reply_parse(STR("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"
                                          "mcp-session-id:  s1 \r\nContent-Length: 2\r\n\r\n{}xx"),
                                      &arena, &reply),
                     0);
    assert_int_equal(reply.status, 200);
    assert_true(str_eq(reply.session_id, STR("s1")));
    assert_true(str_eq(reply.body, STR("{}")));
    assert_int_equal(http_reply_parse(STR("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                                          "1;x=y\r\n{\r\n1\r\n}\r\n0\r\n\r\n"),
                                      &arena, &reply),
                     0);
    assert_true(str_eq(reply.body, STR("{}")));
    assert_int_equal(http_reply_parse(STR("HTTP/1.1 405 No\r\n\r\nrest"), &arena, &reply), 0);
    assert_true(str_eq(reply.body, STR("rest")));
    arena_done(&arena);
}

static void broken_replies_are_refused(void **state)
{
    static const char *const bad[] = {
        "",
        "SSH-2.0\r\n\r\n",
        "HTTP/1.1 abc\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n123",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffff\r\nx",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "HTTP/1.1 100 Continue\r\n\r\n",
    };
    struct arena arena;
    struct http_reply reply;
    (void)state;
    arena_init(&arena, 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (http_reply_parse(str_of(bad[i]), &arena, &reply) != ERR_BAD_FRAMING)
            fail_msg("accepted: %s", bad[i]);
    arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_and_operands_may_mix),
        cmocka_unit_test(the_last_of_equal_options_counts),
        cmocka_unit_test(a_single_hyphen_is_an_operand),
        cmocka_unit_test(wrong_usage_is_status_2),
        cmocka_unit_test(too_many_options_are_refused),
        cmocka_unit_test(urls_are_split),
        cmocka_unit_test(replies_by_each_framing),
        cmocka_unit_test(broken_replies_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
