/* tests/unit/test_http.c - what a client sees of HTTP: statuses and headers. */
#include "net_rig.h"

static struct rig rig;

/* One request, and what its answer must be like. */
static void check(const char *request, int status)
{
    int got = rig_status(&rig, request);
    if (got != status)
        fail_msg("%.*s... got %d", (int)strcspn(request, "\r"), request, got);
}

/* A request with these headers and a small body; a connection that an error closed is closed. */
static void check_post(const char *line, const char *headers, int status)
{
    char text[2048];
    snprintf(text, sizeof text, "%s\r\n%s\r\n{\"x\":1}", line, headers);
    int fd = rig_connect(&rig);
    rig_send(fd, text);
    struct answer a = rig_read(fd);
    if (a.status != status)
        fail_msg("%s %s: got %d, not %d", line, headers, a.status, status);
    if (status >= 400) {
        assert_string_equal(answer_header(&a, "Connection"), "close");
        assert_true(rig_is_closed(fd));
        assert_non_null(strstr(a.body, "\"error\""));
    }
    answer_done(&a);
    close(fd);
}

#define HOST "Host: localhost:1\r\n"
#define JSON "Content-Type: application/json\r\n"
#define LEN7 "Content-Length: 7\r\n"

static void a_post_is_answered_and_the_connection_kept(void **state)
{
    (void)state;
    int fd = rig_connect(&rig);
    for (int i = 0; i < 3; i++) {
        struct answer a = rig_post(fd, "", "{\"n\":1}");
        assert_int_equal(a.status, 200);
        assert_string_equal(a.body, "{\"n\":1}");
        assert_string_equal(answer_header(&a, "Content-Type"), "application/json");
        assert_null(answer_header(&a, "Connection"));
        answer_done(&a);
    }
    close(fd);
}

static void T_08_C_035_202_has_no_body(void **state)
{
    (void)state;
    int fd = rig_connect(&rig);
    struct answer a = rig_post(fd, "", "\"note\"");
    assert_int_equal(a.status, 202);
    assert_string_equal(answer_header(&a, "Content-Length"), "0");
    assert_null(answer_header(&a, "Content-Type"));
    answer_done(&a);
    a = rig_post(fd, "", "1");
    assert_int_equal(a.status, 200);
    answer_done(&a);
    close(fd);
}

static void C_015_a_body_in_any_pieces(void **state)
{
    (void)state;
    static const char request[] =
        RIG_HEAD "Content-Length: 15\r\n\r\n{\"id\":\"\xe6\xbc\xa2\xe5\xad\x97\"}";
    for (size_t cut = sizeof request - 20; cut < sizeof request - 1; cut++) {
        int fd = rig_connect(&rig);
        rig_send_n(fd, request, cut);
        rig_send(fd, request + cut);
        struct answer a = rig_read(fd);
        assert_int_equal(a.status, 200);
        assert_string_equal(a.body, "{\"id\":\"\xe6\xbc\xa2\xe5\xad\x97\"}");
        answer_done(&a);
        close(fd);
    }
    int fd = rig_connect(&rig); /* byte by byte, headers too */
    for (size_t i = 0; i < sizeof request - 1; i++)
        rig_send_n(fd, request + i, 1);
    struct answer a = rig_read(fd);
    assert_string_equal(a.body, "{\"id\":\"\xe6\xbc\xa2\xe5\xad\x97\"}");
    answer_done(&a);
    close(fd);
}

static void T_02_C_029_foreign_origins_are_403(void **state)
{
    (void)state;
    check_post("POST /mcp HTTP/1.1", HOST JSON LEN7 "Origin: http://evil.example\r\n", 403);
    check_post("POST /mcp HTTP/1.1", HOST JSON LEN7 "Origin: null\r\n", 403);
    check_post("POST /mcp HTTP/1.1", HOST JSON LEN7 "Origin: http://localhost:5\r\n", 200);
    check_post("POST /mcp HTTP/1.1", HOST JSON LEN7 "Origin: https://app.example\r\n", 200);
    check("GET /mcp HTTP/1.1\r\n" HOST "Origin: http://evil.example\r\n\r\n", 403);
    check("DELETE /mcp HTTP/1.1\r\n" HOST "Origin: http://evil.example\r\n\r\n", 403);
    check("OPTIONS /mcp HTTP/1.1\r\n" HOST "Origin: http://evil.example\r\n\r\n", 403);
}

static void T_03_foreign_hosts_are_403(void **state)
{
    (void)state;
    check_post("POST /mcp HTTP/1.1", "Host: evil.example.com\r\n" JSON LEN7, 403);
    check_post("POST /mcp HTTP/1.1", "Host: [::1]:9\r\n" JSON LEN7, 200);
    check_post("POST /mcp HTTP/1.1", JSON LEN7, 400);
    check("POST /mcp HTTP/1.0\r\n" JSON LEN7 "\r\n{\"x\":1}", 200);
}

static void T_01_C_033_paths(void **state)
{
    (void)state;
    check_post("POST /mcp/ HTTP/1.1", HOST JSON LEN7, 200);
    check_post("POST /mcp?x=1 HTTP/1.1", HOST JSON LEN7, 200);
    check_post("POST /mcp/operations HTTP/1.1", HOST JSON LEN7, 200);
    check_post("POST /mcpx HTTP/1.1", HOST JSON LEN7, 404);
    check_post("POST / HTTP/1.1", HOST JSON LEN7, 404);
    check("GET /.well-known/oauth-protected-resource HTTP/1.1\r\n" HOST "\r\n", 404);
}

static void check_405(const char *method)
{
    char text[256];
    snprintf(text, sizeof text, "%s /mcp HTTP/1.1\r\n" HOST "\r\n", method);
    int fd = rig_connect(&rig);
    rig_send(fd, text);
    struct answer a = rig_read(fd);
    if (a.status != 405)
        fail_msg("%s: %d", method, a.status);
    assert_string_equal(answer_header(&a, "Allow"), "GET, POST, OPTIONS");
    assert_true(rig_is_closed(fd));
    answer_done(&a);
    close(fd);
}

static void T_29_other_methods_are_405(void **state)
{
    (void)state;
    static const char *const methods[] = {"DELETE", "PUT", "PATCH", "HEAD"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        check_405(methods[i]);
    check("PUT /mcp HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n", 405);
    check("PUT /mcp HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 405);
    check("PUT /mcp HTTP/1.1\r\n" HOST LEN7 "\r\n{\"x\":1}", 405);
    check("GET /mcp HTTP/1.1\r\n" HOST LEN7 "\r\n{\"x\":1}", 400);
    check("GET /mcp HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400);
    /* unknown methods get libwebsockets' own answer, or none: but the server lives */
    rig_status(&rig, "FOO /mcp HTTP/1.1\r\n" HOST "\r\n");
    rig_status(&rig, "CONNECT /mcp HTTP/1.1\r\n" HOST "\r\n");
    rig_is_alive(&rig);
}

static void T_06_C_025_accept_and_content_type(void **state)
{
    (void)state;
    check_post("POST /mcp HTTP/1.1", HOST JSON LEN7, 200);
    check_post("POST /mcp HTTP/1.1", HOST JSON LEN7 "Accept: */*\r\n", 200);
    check_post("POST /mcp HTTP/1.1", HOST JSON LEN7 "Accept: application/json\r\n", 200);
    check_post("POST /mcp HTTP/1.1", HOST JSON LEN7 "Accept: text/event-stream\r\n", 406);
    check_post("POST /mcp HTTP/1.1", HOST JSON LEN7 "Accept: application/json;q=0\r\n", 406);
    check_post("POST /mcp HTTP/1.1",
               HOST JSON LEN7 "Accept: text/event-stream\r\nAccept: application/json\r\n", 200);
    check_post("POST /mcp HTTP/1.1", HOST LEN7, 415);
    check_post("POST /mcp HTTP/1.1", HOST LEN7 "Content-Type: text/plain\r\n", 415);
    check_post("POST /mcp HTTP/1.1",
               HOST LEN7 "content-type: Application/JSON; charset=\"UTF-8\"\r\n", 200);
}

static void C_031_preflight(void **state)
{
    (void)state;
    int fd = rig_connect(&rig);
    rig_send(fd, "OPTIONS /mcp HTTP/1.1\r\n" HOST "Origin: http://localhost:6274\r\n"
                 "Access-Control-Request-Method: POST\r\n"
                 "Access-Control-Request-Headers: authorization, mcp-session-id\r\n\r\n");
    struct answer a = rig_read(fd);
    assert_int_equal(a.status, 204);
    assert_string_equal(answer_header(&a, "Access-Control-Allow-Origin"), "http://localhost:6274");
    assert_string_equal(answer_header(&a, "Vary"), "Origin");
    const char *methods = answer_header(&a, "Access-Control-Allow-Methods");
    assert_true(strstr(methods, "GET") && strstr(methods, "POST") && strstr(methods, "DELETE"));
    static const char *const headers[] = {"authorization", "content-type", "last-event-id",
                                          "mcp-protocol-version", "mcp-session-id"};
    for (size_t i = 0; i < 5; i++)
        assert_non_null(strstr(answer_header(&a, "Access-Control-Allow-Headers"), headers[i]));
    answer_done(&a);
    close(fd);
}

static void C_031_answers_expose_the_session_id(void **state)
{
    (void)state;
    int fd = rig_connect(&rig);
    struct answer a = rig_post(fd, "Origin: http://127.0.0.1:9\r\n", "1");
    assert_string_equal(answer_header(&a, "Access-Control-Allow-Origin"), "http://127.0.0.1:9");
    assert_string_equal(answer_header(&a, "Access-Control-Expose-Headers"),
                        "Mcp-Session-Id, WWW-Authenticate, Retry-After");
    answer_done(&a);
    a = rig_post(fd, "Origin: http://127.0.0.1:9\r\nX: y\r\n", "\"later\"");
    assert_string_equal(answer_header(&a, "Access-Control-Allow-Origin"), "http://127.0.0.1:9");
    answer_done(&a);
    a = rig_post(fd, "", "1");
    assert_null(answer_header(&a, "Access-Control-Allow-Origin"));
    answer_done(&a);
    close(fd);
}

static void S_14_session_and_version_headers_reach_core(void **state)
{
    (void)state;
    int fd = rig_connect(&rig);
    struct answer a = rig_post(fd, "MCP-SESSION-ID: abc  \r\nmcp-Protocol-Version:\t2025-06-18\r\n",
                               "\"session\"");
    assert_string_equal(answer_header(&a, "Mcp-Session-Id"), "abc");
    assert_string_equal(a.body, "2025-06-18");
    answer_done(&a);
    a = rig_post(fd, "", "\"session\"");
    assert_null(answer_header(&a, "Mcp-Session-Id"));
    assert_string_equal(a.body, "\"none\"");
    answer_done(&a);
    close(fd);
}

static void S_04_C_043_an_empty_session_id_is_400(void **state)
{
    (void)state;
    check_post("POST /mcp HTTP/1.1", HOST JSON LEN7 "Mcp-Session-Id:\r\n", 400);
    check_post("POST /mcp HTTP/1.1", HOST JSON LEN7 "Mcp-Session-Id: a b\r\n", 400);
}

/* A proxy in front may take the other of two, or cut the blank off. */
static void headers_that_two_may_read_in_two_ways_are_400(void **state)
{
    (void)state;
    static const char *const twice[] = {
        "Mcp-Session-Id: a\r\nMcp-Session-Id: b\r\n",
        "Mcp-Session-Id: a\r\nX: y\r\nMCP-SESSION-ID: a\r\n",
        "Mcp-Session-Id:\r\nMcp-Session-Id: b\r\n",
        "MCP-Protocol-Version: 2025-06-18\r\nMCP-Protocol-Version: 2025-06-18\r\n",
        "MCP-Protocol-Version: 2025-06-18\r\nmcp-protocol-version: 2025-03-26\r\n",
        "Host: localhost\r\n",
        "Host: evil.example\r\n",
        "host:\r\n",
        "Origin: http://localhost:5\r\nOrigin: http://localhost:5\r\n",
        "Content-Type: application/json\r\n",
        "Content-Type: text/plain\r\n",
        "Content-Length: 7\r\n",
        "Authorization: a\r\nAuthorization: b\r\n",
        "Mcp-Session-Id : a\r\n",
        "Mcp-Session-Id\t: a\r\n",
        "Mcp-Session-Id \t  \t : a\r\n",
        "MCP-Protocol-Version : 2025-06-18\r\n",
        "Host : evil.example\r\n",
        "Transfer-Encoding : chunked\r\n",
        "Content-Length  : 3\r\n",
        " Mcp-Session-Id: a\r\n",
        "X: y\r\n\tMcp-Session-Id: a\r\n",
        "X: y\nMcp-Session-Id: a\r\n",
        "X: y\rMcp-Session-Id: a\r\n",
    };
    for (size_t i = 0; i < sizeof twice / sizeof *twice; i++) {
        char headers[512];
        snprintf(headers, sizeof headers, HOST JSON LEN7 "%s", twice[i]);
        check_post("POST /mcp HTTP/1.1", headers, 400);
    }
    check_post("POST /mcp HTTP/1.1", HOST JSON LEN7 "Accept: */*\r\nX: 1\r\nX: 2\r\n", 200);
    check("DELETE /mcp HTTP/1.1\r\n" HOST "Mcp-Session-Id: a\r\nMcp-Session-Id: b\r\n\r\n", 400);
    check("GET /mcp HTTP/1.1\r\n" HOST HOST "\r\n", 400);
}

/* Each head is looked at for itself. */
static void headers_of_one_request_do_not_count_for_the_next(void **state)
{
    (void)state;
    int fd = rig_connect(&rig);
    for (int i = 0; i < 3; i++) {
        struct answer a = rig_post(fd, "Mcp-Session-Id: a\r\n", i ? "\"later\"" : "1");
        assert_int_equal(a.status, 200);
        answer_done(&a);
    }
    struct answer a = rig_post(fd, "Mcp-Session-Id: a\r\nMcp-Session-Id: a\r\n", "1");
    assert_int_equal(a.status, 400);
    answer_done(&a);
    close(fd);
}

static void smuggling_attempts_get_one_answer(void **state)
{
    (void)state;
    static const char *const headers[] = {
        "Content-Length: 7\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 7\r\n",
        "Content-Length: 7\r\nContent-Length: 3\r\n",
        "Content-Length: 7\r\nContent-Length: 7\r\n",
        "Content-Length: +7\r\n",
        "Content-Length: -5\r\n",
        "Content-Length: abc\r\n",
        "Content-Length: 7, 7\r\n",
        "Content-Length: 0x7\r\n",
        "Transfer-Encoding: chunked, identity\r\n",
        "Transfer-Encoding: xchunked\r\n",
    };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 RIG_HEAD "%s\r\n{\"x\":1}" RIG_HEAD "Content-Length: 1\r\n\r\n2", headers[i]);
        int fd = rig_connect(&rig);
        rig_send(fd, text);
        struct answer a = rig_read(fd);
        if (a.status != 400)
            fail_msg("%s: %d", headers[i], a.status);
        if (!rig_is_closed(fd))
            fail_msg("%s: a second answer", headers[i]);
        answer_done(&a);
        close(fd);
    }
    check_post("POST /mcp HTTP/1.1", HOST JSON "Content-Length: 99999999999999999999\r\n", 413);
    check_post("POST /mcp HTTP/1.1",
               HOST JSON "Content-Length: 9999999999999999999999999999999999999\r\n", 413);
    check_post("POST /mcp HTTP/1.1", HOST JSON, 411);
    rig_is_alive(&rig);
}

static void C_039_an_early_error_ends_the_connection(void **state)
{
    (void)state;
    static const char *const headers[] = {
        "Origin: http://evil.example\r\nContent-Length: 7\r\n\r\n{\"x\":1}",
        "Mcp-Session-Id:\r\nContent-Length: 7\r\n\r\n{\"x\":1}",
        "Origin: http://evil.example\r\nTransfer-Encoding: "
        "chunked\r\n\r\n7\r\n{\"x\":1}\r\n0\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        char text[1024];
        snprintf(text, sizeof text, RIG_HEAD "%s" RIG_HEAD "Content-Length: 1\r\n\r\n2",
                 headers[i]);
        int fd = rig_connect(&rig);
        rig_send(fd, text);
        struct answer a = rig_read(fd);
        assert_true(a.status == 403 || a.status == 400);
        assert_string_equal(answer_header(&a, "Connection"), "close");
        assert_true(rig_is_closed(fd));
        answer_done(&a);
        close(fd);
    }
}

static void C_039_a_body_sent_after_the_error_does_no_harm(void **state)
{
    (void)state;
    int fd = rig_connect(&rig);
    rig_send(fd, RIG_HEAD "Origin: http://evil.example\r\nContent-Length: 7\r\n\r\n");
    struct answer a = rig_read(fd);
    assert_int_equal(a.status, 403);
    assert_true(rig_is_closed(fd)); /* our side is still open */
    rig_send(fd, "{\"x\":1}");
    answer_done(&a);
    close(fd);
}

static int start(void **state)
{
    (void)state;
    static const struct str origins[] = {STR_INIT("https://app.example")};
    struct net_config config = rig_config();
    config.origins = origins;
    config.n_origins = 1;
    return rig_start(&rig, config) ? 0 : -1;
}

static int stop(void **state)
{
    (void)state;
    rig_stop(&rig);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_post_is_answered_and_the_connection_kept),
        cmocka_unit_test(T_08_C_035_202_has_no_body),
        cmocka_unit_test(C_015_a_body_in_any_pieces),
        cmocka_unit_test(T_02_C_029_foreign_origins_are_403),
        cmocka_unit_test(T_03_foreign_hosts_are_403),
        cmocka_unit_test(T_01_C_033_paths),
        cmocka_unit_test(T_29_other_methods_are_405),
        cmocka_unit_test(T_06_C_025_accept_and_content_type),
        cmocka_unit_test(C_031_preflight),
        cmocka_unit_test(C_031_answers_expose_the_session_id),
        cmocka_unit_test(S_14_session_and_version_headers_reach_core),
        cmocka_unit_test(S_04_C_043_an_empty_session_id_is_400),
        cmocka_unit_test(headers_that_two_may_read_in_two_ways_are_400),
        cmocka_unit_test(headers_of_one_request_do_not_count_for_the_next),
        cmocka_unit_test(smuggling_attempts_get_one_answer),
        cmocka_unit_test(C_039_an_early_error_ends_the_connection),
        cmocka_unit_test(C_039_a_body_sent_after_the_error_does_no_harm),
    };
    return cmocka_run_group_tests_name("http", tests, start, stop);
}
