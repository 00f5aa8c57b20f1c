/* tests/unit/test_http_auth.c - who may enter: the Authorization header, 401 and 403, metadata. */
#include "net_rig.h"

#include <limits.h>

static struct rig rig;

#define HOST         "Host: 127.0.0.1\r\n"
#define METADATA     "{\"resource\":\"https://tenon.example/mcp\"}"
#define METADATA_URL "https://tenon.example/.well-known/oauth-protected-resource/mcp"

static struct answer ask(const char *request)
{
    int fd = rig_connect(&rig);
    rig_send(fd, request);
    struct answer a = rig_read(fd);
    close(fd);
    return a;
}

/* One POST with these headers: its status, and its challenge, which is "" where none is expected.
 */
static void check(const char *headers, int status, const char *challenge)
{
    int fd = rig_connect(&rig);
    struct answer a = rig_post(fd, headers, "\"who\"");
    const char *got = answer_header(&a, "WWW-Authenticate");
    if (a.status != status || strcmp(got ? got : "", challenge) != 0)
        fail_msg("%s: %d %s", headers, a.status, got);
    const char *connection = answer_header(&a, "Connection");
    if (status != 200 && !strstr(headers, "later-")) { /* then the body has been read */
        assert_string_equal(connection, "close");
        assert_true(rig_is_closed(fd));
    } else {
        assert_string_equal(a.body, status == 200 ? "good" : "");
    }
    answer_done(&a);
    close(fd);
}

#define NONE_SENT "Bearer resource_metadata=\"" METADATA_URL "\""
#define WITH(error, why)                                                                           \
    "Bearer error=\"" error "\", error_description=\"" why "\", resource_metadata=\"" METADATA_URL \
    "\""
#define MALFORMED WITH("invalid_request", "the Authorization header is malformed")
#define NOT_VALID WITH("invalid_token", "the token is not valid")

/* ---- Tokens -----------------------------------------------------------------------------------*/

static void A_04_a_good_token_says_who(void **state)
{
    (void)state;
    check("Authorization: Bearer good\r\n", 200, "");
    check("authorization:   bearer   good  \r\n", 200, "");
    check("Authorization: Bearer later-good\r\n", 200, "");
}

static void A_03_A_11_without_a_token_401_says_where_to_get_one_and_nothing_else(void **state)
{
    (void)state;
    int fd = rig_connect(&rig);
    struct answer a = rig_post(fd, "", "\"who\"");
    assert_int_equal(a.status, 401);
    assert_string_equal(answer_header(&a, "WWW-Authenticate"), NONE_SENT);
    assert_string_equal(a.body, "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,"
                                "\"message\":\"Unauthorized\"}}");
    answer_done(&a);
    close(fd);
}

static void A_06_a_bad_token_is_401(void **state)
{
    (void)state;
    check("Authorization: Bearer bad\r\n", 401, NOT_VALID);
    check("Authorization: Bearer later-bad\r\n", 401, NOT_VALID);
    check("Authorization: Bearer Good\r\n", 401, NOT_VALID);
}

static void A_07_what_cannot_be_read_is_400(void **state)
{
    (void)state;
    static const char *const malformed[] = {
        "Authorization:\r\n",
        "Authorization: \t \r\n",
        "Authorization: Bearer\r\n",
        "Authorization: Bearer good good\r\n",
        "Authorization: Bearer good, Bearer good\r\n",
        "Authorization: Bearer \"good\"\r\n",
        "Authorization: Bearer good;x=1\r\n",
        "Authorization: Bearer g\xc3\xb6od\r\n",
        "Authorization: Bearer %67ood\r\n",
        "Authorization: =\r\n",
    };
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++)
        check(malformed[i], 400, MALFORMED);
}

static void another_scheme_is_as_good_as_none(void **state)
{
    (void)state;
    check("Authorization: Basic Z29vZDpnb29k\r\n", 401, NONE_SENT);
    check("Authorization: good\r\n", 401, NONE_SENT);
}

/* What two readers might take for two different tokens. */
static void ambiguous_headers_are_malformed_whatever_the_token(void **state)
{
    (void)state;
    static const char *const malformed[] = {
        "Authorization: Bearer good\r\nAuthorization: Bearer good\r\n",
        "Authorization: Bearer good\r\nAUTHORIZATION: Bearer bad\r\n",
        "Authorization: Bearer good\r\nAuthorization:\r\n",
        "Authorization:\r\nAuthorization: Bearer good\r\n",
        "Authorization : Bearer good\r\n",
        " Authorization: Bearer good\r\n",
        "Authorization: Bearer\r\n good\r\n",
        "Authorization: Bearer good\x01\r\n",
        "Authorization: Bearer go\x7fod\r\n",
        "Authorization: Bearer good\rX: y\r\n",
        "X: y\nAuthorization: Bearer good\r\n",
        "Authorization: Bearer good\r\nTransfer-Encoding: chunked\r\n",
        "Authorization: Bearer good\r\nContent-Length: 3\r\n",
    };
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++)
        check(malformed[i], 400, "");
}

static void a_zero_byte_in_the_token_is_malformed(void **state)
{
    (void)state;
    static const char request[] =
        RIG_HEAD "Authorization: Bearer good\0bad\r\nContent-Length: 5\r\n\r\n\"who\"";
    int fd = rig_connect(&rig);
    rig_send_n(fd, request, sizeof request - 1);
    struct answer a = rig_read(fd);
    assert_int_not_equal(a.status, 200);
    answer_done(&a);
    close(fd);
    check("Authorization: Bearer good\r\n", 200, "");
}

static void check_length(size_t n, int status, const char *challenge)
{
    char *headers = calloc(1, n + 64);
    const char *scheme = "Authorization: Bearer ";
    strcpy(headers, scheme);
    memset(headers + strlen(scheme), 'a', n - strlen("Bearer "));
    strcat(headers, "\r\n");
    struct buf request = {0};
    buf_add_str(&request, str_of(RIG_HEAD));
    buf_add_str(&request, str_of(headers));
    buf_add_lit(&request, "Content-Length: 5\r\n\r\n\"who\"");
    buf_add_char(&request, 0);
    struct answer a = ask(request.p);
    assert_int_equal(a.status, status);
    assert_string_equal(answer_header(&a, "WWW-Authenticate"), challenge);
    answer_done(&a);
    buf_done(&request);
    free(headers);
}

static void a_token_over_CREDENTIAL_BYTES_is_not_looked_at(void **state)
{
    (void)state;
    check_length(CREDENTIAL_BYTES, 401, NOT_VALID);
    check_length(CREDENTIAL_BYTES + 1, 400,
                 WITH("invalid_request", "the Authorization header is too long"));
}

static void check_query(const char *query, const char *headers, int status)
{
    char request[512];
    snprintf(request, sizeof request,
             "POST /mcp?%s HTTP/1.1\r\n" HOST "Content-Type: application/json\r\n%s"
             "Content-Length: 5\r\n\r\n\"who\"",
             query, headers);
    struct answer a = ask(request);
    if (a.status != status)
        fail_msg("%s %s: %d", query, headers, a.status);
    answer_done(&a);
}

static void A_09_a_token_in_the_query_is_refused(void **state)
{
    (void)state;
    check_query("access_token=good", "", 401);
    check_query("x=1&access_token=good", "", 401);
    check_query("&&access_token=good", "", 401);
    check_query("access%5Ftoken=good", "", 401);
    check_query("access_token=", "", 401);
    check_query("access_token=good", "Authorization: Bearer good\r\n", 400);
    check_query("x=access_token", "Authorization: Bearer good\r\n", 200);
    check_query("x=1", "Authorization: Bearer good\r\n", 200);
}

static void A_07_a_scope_that_is_lacking_is_403(void **state)
{
    (void)state;
    check("Authorization: Bearer poor\r\n", 403,
          "Bearer error=\"insufficient_scope\", scope=\"tenon:use\", "
          "resource_metadata=\"" METADATA_URL "\"");
    check("Authorization: Bearer later-poor\r\n", 403,
          "Bearer error=\"insufficient_scope\", scope=\"tenon:use\", "
          "resource_metadata=\"" METADATA_URL "\"");
}

static void keys_that_cannot_be_had_are_503(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        int fd = rig_connect(&rig);
        struct answer a = rig_post(
            fd, i ? "Authorization: Bearer later-busy\r\n" : "Authorization: Bearer busy\r\n", "1");
        assert_int_equal(a.status, 503);
        assert_string_equal(answer_header(&a, "Retry-After"), "1");
        assert_null(answer_header(&a, "WWW-Authenticate"));
        answer_done(&a);
        close(fd);
    }
}

/* ---- Each request, of each method, before anything else ---------------------------------------*/

static void A_08_each_request_of_a_connection_needs_it(void **state)
{
    (void)state;
    int fd = rig_connect(&rig);
    struct answer a = rig_post(fd, "Authorization: Bearer good\r\n", "\"who\"");
    assert_int_equal(a.status, 200);
    answer_done(&a);
    a = rig_post(fd, "Authorization: Bearer good\r\n", "\"who\"");
    assert_int_equal(a.status, 200);
    answer_done(&a);
    a = rig_post(fd, "", "\"who\"");
    assert_int_equal(a.status, 401);
    answer_done(&a);
    close(fd);
}

static void S_11_GET_and_DELETE_need_it_too(void **state)
{
    (void)state;
    static const struct {
        const char *request;
        int status;
    } all[] = {
        {"GET /mcp HTTP/1.1\r\n" HOST "Accept: text/event-stream\r\n\r\n", 401},
        {"GET /mcp HTTP/1.1\r\n" HOST "Accept: text/event-stream\r\n"
         "Authorization: Bearer bad\r\n\r\n",
         401},
        {"GET /mcp HTTP/1.1\r\n" HOST "Accept: text/event-stream\r\n"
         "Authorization: Bearer good\r\n\r\n",
         200},
        {"GET /mcp HTTP/1.1\r\n" HOST "Accept: text/event-stream\r\n"
         "Authorization: Bearer later-good\r\n\r\n",
         200},
        {"GET /mcp HTTP/1.1\r\n" HOST "Accept: text/event-stream\r\n"
         "Authorization: Bearer later-bad\r\n\r\n",
         401},
        {"DELETE /mcp HTTP/1.1\r\n" HOST "\r\n", 401},
        {"DELETE /mcp HTTP/1.1\r\n" HOST "Authorization: Bearer good\r\n\r\n", 204},
        {"OPTIONS /mcp HTTP/1.1\r\n" HOST "\r\n", 204},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (rig_status(&rig, all[i].request) != all[i].status)
            fail_msg("%s", all[i].request);
}

static void A_11_who_is_asked_before_what(void **state)
{
    (void)state;
    static const char *const requests[] = {
        "POST /mcp HTTP/1.1\r\n" HOST "\r\n",
        "POST /mcp HTTP/1.1\r\n" HOST "Content-Length: 99999999999\r\n\r\n",
        "POST /mcp HTTP/1.1\r\n" HOST "Content-Type: text/plain\r\nContent-Length: 1\r\n\r\nx",
        "POST /mcp HTTP/1.1\r\n" HOST "Mcp-Session-Id: a b\r\nContent-Length: 0\r\n\r\n",
        "GET /mcp HTTP/1.1\r\n" HOST "Accept: application/json\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        if (rig_status(&rig, requests[i]) != 401)
            fail_msg("%s", requests[i]);
    /* but a foreign page learns nothing, not even that */
    assert_int_equal(rig_status(&rig, "POST /mcp HTTP/1.1\r\nHost: evil.example\r\n\r\n"), 403);
    assert_int_equal(
        rig_status(&rig, "POST /mcp HTTP/1.1\r\n" HOST "Origin: http://evil.example\r\n\r\n"), 403);
}

static void a_401_does_not_wait_for_the_body(void **state)
{
    (void)state;
    int fd = rig_connect(&rig);
    rig_send(fd, RIG_HEAD "Content-Length: 100000\r\nExpect: 100-continue\r\n\r\n");
    struct answer a = rig_read(fd);
    assert_int_equal(a.status, 401);
    answer_done(&a);
    assert_true(rig_is_closed(fd));
    close(fd);
}

static void nothing_is_kept_of_who_left(void **state)
{
    (void)state;
    static const char *const heads[] = {
        RIG_HEAD "Authorization: Bearer good\r\nContent-Length: 5\r\n\r\n\"w",
        RIG_HEAD "Authorization: Bearer later-good\r\nContent-Length: 5\r\n\r\n\"w",
        RIG_HEAD "Authorization: Bearer good\r\nContent-Length: 99999999999\r\n\r\n",
        RIG_HEAD "Authorization: Bearer later-good\r\nContent-Length: x\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        int fd = rig_connect(&rig);
        rig_send(fd, heads[i]);
        shutdown(fd, SHUT_WR);
        while (rig_byte(fd) >= 0)
            continue;
        close(fd);
    }
    int fd = rig_connect(&rig);
    struct answer a = rig_post(fd, "Authorization: Bearer good\r\n", "\"refs\"");
    assert_string_equal(a.body, "1");
    answer_done(&a);
    close(fd);
}

/* ---- A server that takes anonymous clients ----------------------------------------------------*/

static void a_refused_credential_never_counts_as_none(void **state)
{
    (void)state;
    int fd = rig_connect(&rig);
    struct answer a = rig_post(fd, "", "\"note\"");
    assert_int_equal(a.status, 202);
    answer_done(&a);
    close(fd);
    check("Authorization: Bearer bad\r\n", 401,
          "Bearer error=\"invalid_token\", "
          "error_description=\"the token is not valid\"");
    check("Authorization:\r\n", 400,
          "Bearer error=\"invalid_request\", "
          "error_description=\"the Authorization header is malformed\"");
    check("Authorization: Basic Z29vZDpnb29k\r\n", 401, "Bearer");
    check("Authorization: Bearer good\r\n", 200, "");
    check_query("access_token=good", "", 401);
}

static void without_metadata_there_is_none(void **state)
{
    (void)state;
    assert_int_equal(
        rig_status(&rig, "GET /.well-known/oauth-protected-resource HTTP/1.1\r\n" HOST "\r\n"),
        404);
}

/* ---- Metadata: RFC 9728 -----------------------------------------------------------------------*/

static void check_metadata(const char *line, const char *headers, int status)
{
    char request[512];
    snprintf(request, sizeof request, "%s HTTP/1.1\r\n" HOST "%s\r\n", line, headers);
    struct answer a = ask(request);
    if (a.status != status)
        fail_msg("%s: %d", line, a.status);
    if (status == 200) {
        assert_string_equal(a.body, METADATA);
        assert_string_equal(answer_header(&a, "Content-Type"), "application/json");
        assert_string_equal(answer_header(&a, "Access-Control-Allow-Origin"), "*");
    }
    answer_done(&a);
}

#define KNOWN "/.well-known/oauth-protected-resource"

static void A_02_metadata_is_for_everybody(void **state)
{
    (void)state;
    check_metadata("GET " KNOWN, "", 200);
    check_metadata("GET " KNOWN "/", "", 200);
    check_metadata("GET " KNOWN "/mcp", "", 200);
    check_metadata("GET " KNOWN "/mcp/operations", "", 200);
    check_metadata("GET " KNOWN "/mcp?x=1", "Origin: http://evil.example\r\n", 200);
    check_metadata("GET " KNOWN, "Authorization: Bearer bad\r\n", 200);
    check_metadata("GET " KNOWN "/other", "", 404);
    check_metadata("GET " KNOWN "x", "", 404);
    check_metadata("GET /mcp" KNOWN, "", 404);
    check_metadata("POST " KNOWN, "Content-Length: 0\r\n", 405);
    check_metadata("DELETE " KNOWN, "", 405);
    check_metadata("OPTIONS " KNOWN, "Origin: http://evil.example\r\n", 204);
    assert_int_equal(rig_status(&rig, "GET " KNOWN " HTTP/1.1\r\nHost: evil.example\r\n\r\n"), 403);
}

static void HEAD_of_metadata_has_its_length_and_no_body(void **state)
{
    (void)state;
    int fd = rig_connect(&rig);
    rig_send(fd, "HEAD " KNOWN " HTTP/1.1\r\n" HOST "\r\n");
    struct answer a = {0};
    assert_true(rig_read_head(fd, &a));
    assert_int_equal(atoi(a.head + 9), 200);
    assert_int_equal(atoi(answer_header(&a, "Content-Length")), strlen(METADATA));
    assert_true(rig_is_closed(fd));
    answer_done(&a);
    close(fd);
}

static void a_page_may_send_a_token_and_read_the_challenge(void **state)
{
    (void)state;
    struct answer a = ask("OPTIONS /mcp HTTP/1.1\r\n" HOST "Origin: http://localhost:1\r\n"
                          "Access-Control-Request-Headers: authorization\r\n\r\n");
    assert_int_equal(a.status, 204);
    assert_non_null(strstr(answer_header(&a, "Access-Control-Allow-Headers"), "authorization"));
    answer_done(&a);
    a = ask("POST /mcp HTTP/1.1\r\n" HOST "Origin: http://localhost:1\r\n\r\n");
    assert_int_equal(a.status, 401);
    assert_non_null(answer_header(&a, "WWW-Authenticate"));
    assert_non_null(strstr(answer_header(&a, "Access-Control-Expose-Headers"), "WWW-Authenticate"));
    assert_string_equal(answer_header(&a, "Access-Control-Allow-Origin"), "http://localhost:1");
    answer_done(&a);
}

/* ---- What stays of a token --------------------------------------------------------------------*/

static void a_worker_leaves_no_core_file(void **state)
{
    (void)state;
    char path[64], line[256] = "";
    int fd = rig_connect(&rig);
    struct answer a = rig_post(fd, "Authorization: Bearer good\r\n", "\"pid\"");
    snprintf(path, sizeof path, "/proc/%s/limits", a.body);
    FILE *limits = fopen(path, "r");
    while (limits && fgets(line, sizeof line, limits) && !strstr(line, "core file size"))
        continue;
    unsigned long soft = ULONG_MAX, hard = ULONG_MAX;
    sscanf(line, "Max core file size %lu %lu", &soft, &hard);
    assert_true(soft <= 1 && hard <= 1);
    fclose(limits);
    answer_done(&a);
    close(fd);
}

/* ---- */

static int start(void **state)
{
    (void)state;
    struct net_config config = rig_config();
    if (rig_refuses_anonymous) {
        config.metadata = METADATA;
        config.metadata_url = METADATA_URL;
        config.scope = "tenon:use";
    }
    config.allow_client_delete = true;
    return rig_start(&rig, config) ? 0 : -1;
}

static int start_closed(void **state)
{
    rig_refuses_anonymous = true;
    return start(state);
}

static int stop(void **state)
{
    (void)state;
    rig_stop(&rig);
    return 0;
}

/* For the last tests: from then on a server without tokens stands. */
static int open_to_all(void **state)
{
    if (!rig_refuses_anonymous)
        return 0;
    rig_stop(&rig);
    rig_refuses_anonymous = false;
    return start(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(A_04_a_good_token_says_who),
        cmocka_unit_test(A_03_A_11_without_a_token_401_says_where_to_get_one_and_nothing_else),
        cmocka_unit_test(A_06_a_bad_token_is_401),
        cmocka_unit_test(A_07_what_cannot_be_read_is_400),
        cmocka_unit_test(another_scheme_is_as_good_as_none),
        cmocka_unit_test(ambiguous_headers_are_malformed_whatever_the_token),
        cmocka_unit_test(a_zero_byte_in_the_token_is_malformed),
        cmocka_unit_test(a_token_over_CREDENTIAL_BYTES_is_not_looked_at),
        cmocka_unit_test(A_09_a_token_in_the_query_is_refused),
        cmocka_unit_test(A_07_a_scope_that_is_lacking_is_403),
        cmocka_unit_test(keys_that_cannot_be_had_are_503),
        cmocka_unit_test(A_08_each_request_of_a_connection_needs_it),
        cmocka_unit_test(S_11_GET_and_DELETE_need_it_too),
        cmocka_unit_test(A_11_who_is_asked_before_what),
        cmocka_unit_test(a_401_does_not_wait_for_the_body),
        cmocka_unit_test(nothing_is_kept_of_who_left),
        cmocka_unit_test(A_02_metadata_is_for_everybody),
        cmocka_unit_test(HEAD_of_metadata_has_its_length_and_no_body),
        cmocka_unit_test(a_page_may_send_a_token_and_read_the_challenge),
        cmocka_unit_test(a_worker_leaves_no_core_file),
        cmocka_unit_test_setup(a_refused_credential_never_counts_as_none, open_to_all),
        cmocka_unit_test_setup(without_metadata_there_is_none, open_to_all),
    };
    return cmocka_run_group_tests_name("http_auth", tests, start_closed, stop);
}
