/* tests/unit/test_http_body.c - bodies of HTTP requests and what becomes of their connections. */
#include "net_rig.h"

static struct rig rig;

#define LIMIT 100000 /* of a body here */

static char *filled(size_t n)
{
    char *body = malloc(n + 1);
    memset(body, ' ', n);
    body[0] = '1';
    body[n] = 0;
    return body;
}

static struct answer post_n(int fd, size_t announced, size_t sent)
{
    char head[512];
    char *body = filled(sent);
    snprintf(head, sizeof head, RIG_HEAD "Content-Length: %zu\r\n\r\n", announced);
    rig_send(fd, head);
    rig_send_n(fd, body, sent);
    free(body);
    return rig_read(fd);
}

static void Q_12_C_041_body_limit(void **state)
{
    (void)state;
    int fd = rig_connect(&rig);
    struct answer a = post_n(fd, LIMIT, LIMIT);
    assert_int_equal(a.status, 200);
    assert_int_equal(a.body_n, LIMIT);
    answer_done(&a);
    a = post_n(fd, LIMIT + 1, LIMIT + 1);
    assert_int_equal(a.status, 413);
    assert_true(rig_is_closed(fd));
    answer_done(&a);
    close(fd);
}

static void C_041_413_can_be_read_by_who_sends_all_first(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        int fd = rig_connect(&rig);
        struct answer a = post_n(fd, 8u << 20, 8u << 20);
        assert_int_equal(a.status, 413);
        answer_done(&a);
        close(fd);
    }
}

static void C_041_413_comes_before_the_body(void **state)
{
    (void)state;
    int fd = rig_connect(&rig);
    struct answer a = post_n(fd, LIMIT + 1, 0);
    assert_int_equal(a.status, 413);
    answer_done(&a);
    close(fd);
}

static void expect_100_continue_is_answered(void **state)
{
    (void)state;
    int fd = rig_connect(&rig);
    rig_send(fd, RIG_HEAD "Content-Length: 7\r\nExpect: 100-continue\r\n\r\n");
    struct answer a = rig_read(fd);
    assert_int_equal(a.status, 100);
    answer_done(&a);
    rig_send(fd, "{\"x\":1}");
    a = rig_read(fd);
    assert_int_equal(a.status, 200);
    assert_string_equal(a.body, "{\"x\":1}");
    answer_done(&a);
    a = rig_post(fd, "", "2");
    assert_int_equal(a.status, 200);
    answer_done(&a);
    close(fd);
    fd = rig_connect(&rig); /* too large: no invitation */
    rig_send(fd, RIG_HEAD "Content-Length: 100001\r\nExpect: 100-continue\r\n\r\n");
    a = rig_read(fd);
    assert_int_equal(a.status, 413);
    answer_done(&a);
    close(fd);
}

static struct answer post_chunked(int fd, const char *chunks)
{
    char text[1024];
    snprintf(text, sizeof text, RIG_HEAD "Transfer-Encoding: chunked\r\n\r\n%s", chunks);
    rig_send(fd, text);
    return rig_read(fd);
}

static void check_chunked(const char *chunks, int status, const char *body)
{
    int fd = rig_connect(&rig);
    struct answer a = post_chunked(fd, chunks);
    assert_int_equal(a.status, status);
    if (body)
        assert_string_equal(a.body, body);
    assert_true(rig_is_closed(fd));
    answer_done(&a);
    close(fd);
}

static void chunked_bodies(void **state)
{
    (void)state;
    check_chunked("3\r\n{\"x\r\n4\r\n\":1}\r\n0\r\n\r\n", 200, "{\"x\":1}");
    check_chunked("7\r\n\"later\"\r\n0\r\n\r\n", 200, "\"later\"");
    check_chunked("0\r\n\r\n", 200, "");
    check_chunked("x\r\n", 400, NULL);
    check_chunked("186a1\r\n", 413, NULL);
    check_chunked("fffffffffffffffff\r\n", 400, NULL);
}

static void C_041_chunked_over_the_limit_is_413(void **state)
{
    (void)state;
    int fd = rig_connect(&rig);
    char *body = filled(1000);
    rig_send(fd, RIG_HEAD "Transfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 300; i++) {
        rig_send(fd, "3e8\r\n");
        rig_send_n(fd, body, 1000);
        rig_send(fd, "\r\n");
    }
    free(body);
    struct answer a = rig_read(fd);
    assert_int_equal(a.status, 413);
    answer_done(&a);
    close(fd);
}

static void an_empty_body_reaches_core(void **state)
{
    (void)state;
    int fd = rig_connect(&rig);
    for (int i = 0; i < 2; i++) {
        struct answer a = rig_post(fd, "", "");
        assert_int_equal(a.status, 200);
        assert_int_equal(a.body_n, 0);
        answer_done(&a);
    }
    close(fd);
}

static void many_headers_and_long_ones(void **state)
{
    (void)state;
    char headers[9000];
    int n = snprintf(headers, sizeof headers, "X-Long: ");
    memset(headers + n, 'a', 3000);
    n += 3000;
    for (int i = 0; i < 100; i++)
        n += snprintf(headers + n, sizeof headers - (size_t)n, "\r\nX-%d: value", i);
    char text[10000];
    snprintf(text, sizeof text, RIG_HEAD "%s\r\nContent-Length: 1\r\n\r\n1", headers);
    assert_int_equal(rig_status(&rig, text), 200);
    char *huge = filled(20000); /* over HTTP_HEADER_BYTES: closed, without an answer */
    int fd = rig_connect(&rig);
    rig_send(fd, RIG_HEAD "X: ");
    rig_send_n(fd, huge, 20000);
    free(huge);
    assert_true(rig_is_closed(fd));
    close(fd);
    rig_is_alive(&rig);
}

static void connection_close_and_http10(void **state)
{
    (void)state;
    int fd = rig_connect(&rig);
    struct answer a = rig_post(fd, "Connection: close\r\n", "1");
    assert_int_equal(a.status, 200);
    assert_string_equal(answer_header(&a, "Connection"), "close");
    assert_true(rig_is_closed(fd));
    answer_done(&a);
    close(fd);
    fd = rig_connect(&rig);
    rig_send(fd, "POST /mcp HTTP/1.0\r\nHost: localhost:1\r\nContent-Type: application/json\r\n"
                 "Content-Length: 7\r\n\r\n{\"x\":1}");
    a = rig_read(fd);
    assert_int_equal(a.status, 200);
    assert_true(rig_is_closed(fd));
    answer_done(&a);
    close(fd);
}

static void a_slow_reader_gets_the_whole_answer(void **state)
{
    (void)state;
    int fd = rig_connect(&rig), small = 65536;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    rig_send_post(fd, "", "\"big 9000000\"");
    for (int i = 0; i < 3; i++) /* others are served meanwhile */
        rig_is_alive(&rig);
    struct answer a = rig_read(fd);
    assert_int_equal(a.status, 200);
    assert_int_equal(a.body_n, 9000000);
    answer_done(&a);
    a = rig_post(fd, "", "1"); /* and the connection is kept */
    assert_int_equal(a.status, 200);
    answer_done(&a);
    close(fd);
}

/* Waits until the core holds n calls; the calls that ask end at once and do not count. Once is
 * enough: calls that end by themselves come and go. */
static void until_held(long n)
{
    long held = rig_ask(&rig, "\"calls\"");
    for (int i = 0; i < 2000 && held != n; i++) {
        poll(NULL, 0, 1);
        held = rig_ask(&rig, "\"calls\"");
    }
    assert_int_equal(held, n);
}

static void an_orphaned_call_finishes_and_is_freed(void **state)
{
    (void)state;
    int fd = rig_connect(&rig);
    rig_send_post(fd, "", "\"never\"");
    until_held(1);
    close(fd);
    int other = rig_connect(&rig); /* a reset instead of an orderly end */
    rig_send_post(other, "", "\"never\"");
    until_held(2);
    struct linger hard = {.l_onoff = 1, .l_linger = 0};
    setsockopt(other, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    close(other);
    rig_ask(&rig, "\"release\"");
    until_held(0);
}

static void a_reset_in_the_middle_of_a_body(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        int fd = rig_connect(&rig);
        rig_send(fd, RIG_HEAD "Content-Length: 50000\r\n\r\n{\"x\":");
        struct linger hard = {.l_onoff = 1, .l_linger = 0};
        if (i % 2)
            setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
        close(fd);
    }
    rig_is_alive(&rig);
}

static void a_half_close_counts_as_gone(void **state)
{
    (void)state;
    int fd = rig_connect(&rig);
    rig_send_post(fd, "", "\"never\"");
    until_held(1);
    shutdown(fd, SHUT_WR);
    assert_true(rig_is_closed(fd));
    rig_ask(&rig, "\"release\"");
    until_held(0);
    close(fd);
}

static void a_worker_handles_many_at_once(void **state)
{
    (void)state;
    int fds[200];
    for (int i = 0; i < 200; i++) {
        fds[i] = rig_connect(&rig);
        rig_send_post(fds[i], "", i % 2 ? "\"later\"" : "\"never\"");
    }
    until_held(100);
    rig_ask(&rig, "\"release\"");
    for (int i = 0; i < 200; i++) {
        struct answer a = rig_read(fds[i]);
        assert_int_equal(a.status, 200);
        assert_string_equal(a.body, i % 2 ? "\"later\"" : "\"released\"");
        answer_done(&a);
        close(fds[i]);
    }
}

static int start(void **state)
{
    (void)state;
    struct net_config config = rig_config();
    config.body_limit_bytes = LIMIT;
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
        cmocka_unit_test(Q_12_C_041_body_limit),
        cmocka_unit_test(C_041_413_can_be_read_by_who_sends_all_first),
        cmocka_unit_test(C_041_413_comes_before_the_body),
        cmocka_unit_test(expect_100_continue_is_answered),
        cmocka_unit_test(chunked_bodies),
        cmocka_unit_test(C_041_chunked_over_the_limit_is_413),
        cmocka_unit_test(an_empty_body_reaches_core),
        cmocka_unit_test(many_headers_and_long_ones),
        cmocka_unit_test(connection_close_and_http10),
        cmocka_unit_test(a_slow_reader_gets_the_whole_answer),
        cmocka_unit_test(an_orphaned_call_finishes_and_is_freed),
        cmocka_unit_test(a_reset_in_the_middle_of_a_body),
        cmocka_unit_test(a_half_close_counts_as_gone),
        cmocka_unit_test(a_worker_handles_many_at_once),
    };
    return cmocka_run_group_tests_name("http bodies", tests, start, stop);
}
