/* tests/unit/test_http_limits.c - what one client can take from the others: connections, bytes in
 * flight, time. Each test starts a server whose limit is low.
 */
#include "net_rig.h"

#include "base/clock.h"

static struct rig rig;

static void start(struct net_config config)
{
    rig = (struct rig){0};
    assert_true(rig_start(&rig, config));
}

static void assert_busy(struct answer a)
{
    assert_int_equal(a.status, 503);
    assert_string_equal(answer_header(&a, "Retry-After"), "1");
    assert_string_equal(answer_header(&a, "Connection"), "close");
    assert_string_equal(a.body, "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32603,"
                                "\"message\":\"Server is busy\"}}");
    answer_done(&a);
}

/* ---- Connections ------------------------------------------------------------------------------*/

#define N_CONNS 5

static void conns_max_turns_the_next_away_and_serves_the_others(void **state)
{
    (void)state;
    int fds[N_CONNS];
    struct net_config config = rig_config();
    config.conns_max = N_CONNS;
    start(config);
    for (int i = 0; i < N_CONNS; i++)
        fds[i] = rig_connect(&rig);
    for (int round = 0; round < 20; round++) {
        int more = rig_connect(&rig);
        if (round % 2) /* whether it sends first or reads first */
            rig_send_post(more, "", "1");
        if (!rig_has_tls()) /* where it would cost a handshake first */
            assert_busy(rig_read(more));
        assert_true(rig_is_closed(more));
        close(more);
        struct answer a = rig_post(fds[round % N_CONNS], "", "{\"n\":1}");
        assert_int_equal(a.status, 200);
        answer_done(&a);
    }
    close(fds[0]); /* its place is free again, as soon as the server has seen it */
    struct answer a = {0};
    for (int i = 0; i < 1000 && a.status != 200; i++) {
        int fd = rig_connect(&rig);
        answer_done(&a);
        a = rig_post(fd, "", "1");
        close(fd);
    }
    assert_int_equal(a.status, 200);
    answer_done(&a);
    for (int i = 1; i < N_CONNS; i++)
        close(fds[i]);
    rig_stop(&rig);
}

/* ---- Bytes in flight --------------------------------------------------------------------------*/

#define BUDGET 100000 /* and the largest body: it fits only when nothing else is held */

static void start_with_budget(void)
{
    struct net_config config = rig_config();
    config.body_limit_bytes = config.bytes_in_flight_max = BUDGET;
    start(config);
}

/* Announces n bytes and sends nothing of them. */
static int announce(size_t n)
{
    char text[512];
    int fd = rig_connect(&rig);
    snprintf(text, sizeof text, RIG_HEAD "Content-Length: %zu\r\n\r\n", n);
    rig_send(fd, text);
    return fd;
}

/* What was sent before has been read: a request that takes nothing of the budget was answered. */
static void settle(void)
{
    int fd = rig_connect(&rig);
    struct answer a = rig_post(fd, "", "");
    assert_int_equal(a.status, 200);
    answer_done(&a);
    close(fd);
}

static struct answer post_filled(int fd, size_t n, const char *last)
{
    char *body = malloc(n);
    memset(body, ' ', n);
    memcpy(body + n - strlen(last), last, strlen(last));
    rig_send_n(fd, body, n);
    free(body);
    return rig_read(fd);
}

/* A body that needs the whole budget is served: soon, since the server may not have seen yet that
 * another connection is gone. */
static void assert_nothing_is_held(void)
{
    struct answer a = {0};
    for (int i = 0; i < 1000 && a.status != 200; i++) {
        answer_done(&a);
        int fd = announce(BUDGET);
        a = post_filled(fd, BUDGET, "1");
        close(fd);
    }
    assert_int_equal(a.status, 200);
    answer_done(&a);
}

static void bytes_in_flight_of_announced_bodies(void **state)
{
    (void)state;
    start_with_budget();
    int one = announce(60000);
    int two = announce(40000);
    rig_send(one, "x");
    settle();
    int three = announce(1);
    assert_busy(rig_read(three));
    assert_true(rig_is_closed(three));
    close(three);
    struct answer a = post_filled(two, 40000, "1"); /* those that came in time are served */
    assert_int_equal(a.status, 200);
    answer_done(&a);
    a = rig_post(two, "", "1");
    assert_int_equal(a.status, 200);
    answer_done(&a);
    close(one);
    close(two);
    assert_nothing_is_held();
    rig_stop(&rig);
}

static void bytes_in_flight_of_chunked_bodies(void **state)
{
    (void)state;
    start_with_budget();
    int one = announce(90000);
    settle();
    int fd = rig_connect(&rig);
    rig_send(fd, RIG_HEAD "Transfer-Encoding: chunked\r\n\r\n3e80\r\n");
    struct answer a = post_filled(fd, 16000, "1");
    assert_busy(a);
    close(fd);
    close(one);
    assert_nothing_is_held();
    rig_stop(&rig);
}

/* The reply is the result of work that was done: it is sent. What comes after it waits. */
static void bytes_in_flight_of_a_reply_that_is_not_read(void **state)
{
    (void)state;
    start_with_budget();
    int fd = rig_connect(&rig), waiting = announce(7);
    struct answer a = {0};
    settle();
    rig_send_post(fd, "", "\"big 9000000\"");
    for (int i = 0; i < 1000 && a.status != 503; i++) {
        answer_done(&a);
        int other = rig_connect(&rig);
        a = rig_post(other, "", "{\"n\":1}");
        close(other);
    }
    assert_busy(a);
    rig_send(waiting, "{\"n\":1}"); /* it had its place, but must not make another reply */
    a = rig_read(waiting);
    assert_int_equal(a.status, 503);
    assert_string_equal(answer_header(&a, "Retry-After"), "1");
    answer_done(&a);
    a = rig_read(fd);
    assert_int_equal(a.status, 200);
    assert_int_equal(a.body_n, 9000000);
    answer_done(&a);
    a = rig_post(waiting, "", "1"); /* kept alive all the time */
    assert_int_equal(a.status, 200);
    answer_done(&a);
    close(fd);
    close(waiting);
    assert_nothing_is_held();
    rig_stop(&rig);
}

/* Every way in which an exchange can end; each takes nearly all. */
static void bytes_in_flight_count_back_to_0(void **state)
{
    (void)state;
    start_with_budget();
    for (int round = 0; round < 5; round++) {
        int fd = announce(BUDGET); /* the client leaves before the body, or in it */
        rig_send(fd, round % 2 ? "x" : "");
        close(fd);
        assert_nothing_is_held();
        fd = announce(BUDGET); /* by a reset */
        const struct linger hard = {.l_onoff = 1, .l_linger = 0};
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
        close(fd);
        assert_nothing_is_held();
        fd = rig_connect(&rig); /* an orphan: its bytes are held until core has finished */
        rig_send_post(fd, "", "\"never\"");
        while (rig_ask(&rig, "\"calls\"") < 1)
            continue;
        close(fd);
        rig_ask(&rig, "\"release\"");
        assert_nothing_is_held();
        fd = rig_connect(&rig); /* refused in the middle: bad chunks */
        rig_send(fd, RIG_HEAD "Transfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n");
        struct answer a = rig_read(fd);
        assert_int_equal(a.status, 400);
        answer_done(&a);
        close(fd);
        assert_nothing_is_held();
        fd = rig_connect(&rig); /* from a thread, and with a large reply that is not read */
        rig_send_post(fd, "", round % 2 ? "\"later\"" : "\"big 9000000\"");
        close(fd);
        assert_nothing_is_held();
    }
    rig_stop(&rig);
}

/* ---- Time and bytes of those who do not read --------------------------------------------------*/

#define REPLY_BYTES 20000000 /* more than the socket buffers of both sides hold */

static int ask_for_much(void)
{
    int fd = rig_connect_narrow(&rig, 65536);
    rig_send_post(fd, "", "\"big 20000000\"");
    return fd;
}

/* How much can still be read before the server closes. */
static size_t read_rest(int fd)
{
    static char piece[65536];
    size_t total = 0;
    for (ssize_t n; (n = recv(fd, piece, sizeof piece, 0)) > 0; total += (size_t)n)
        continue;
    return total;
}

/* Until a request that takes nothing of the budget gets this status; 8 s at most. */
static void until_status(int wanted)
{
    int status = 0;
    int64_t since_ms = clock_mono_ms();
    while (status != wanted && clock_mono_ms() - since_ms < 8000) {
        int fd = rig_connect(&rig);
        struct answer a = rig_post(fd, "", "");
        status = a.status;
        answer_done(&a);
        close(fd);
    }
    assert_int_equal(status, wanted);
}

static void send_stall_ms_cuts_a_reader_that_sleeps(void **state)
{
    (void)state;
    struct net_config config = rig_config();
    config.body_limit_bytes = config.bytes_in_flight_max = BUDGET;
    config.send_stall_ms = 300;
    start(config);
    int64_t since_ms = clock_mono_ms();
    int fd = ask_for_much();
    until_status(503); /* the reply is there */
    until_status(200); /* and is given up */
    assert_true(clock_mono_ms() - since_ms >= 300);
    assert_true(read_rest(fd) < REPLY_BYTES);
    close(fd);
    rig_stop(&rig);
}

/* Something every 20 ms, so it never stalls; but all of it would take 40 s. */
static void send_max_ms_cuts_a_reader_that_trickles(void **state)
{
    (void)state;
    static char piece[10000];
    struct net_config config = rig_config();
    config.send_stall_ms = 300;
    config.send_max_ms = 1000;
    start(config);
    int64_t since_ms = clock_mono_ms();
    int fd = ask_for_much();
    size_t total = 0;
    for (int i = 0; i < 60; i++) { /* 1.2 s at least; then what is left in the buffers */
        ssize_t n = recv(fd, piece, sizeof piece, 0);
        total += n > 0 ? (size_t)n : 0;
        poll(NULL, 0, 20);
    }
    while (clock_mono_ms() - since_ms < 2500)
        poll(NULL, 0, 20);
    total += read_rest(fd);
    assert_true(total < REPLY_BYTES);
    assert_true(total > 60 * 5000);
    close(fd);
    rig_stop(&rig);
}

/* A refused client may go on for HTTP_DISCARD_BYTES, in less than the time it would be given. */
static void HTTP_DISCARD_BYTES_ends_a_refused_body(void **state)
{
    (void)state;
    static char piece[65536];
    size_t total = 0;
    start(rig_config());
    int fd = rig_connect(&rig);
    int64_t since_ms = clock_mono_ms();
    rig_send(fd, RIG_HEAD "Content-Length: 9999999999\r\n\r\n");
    struct answer a = rig_read(fd);
    assert_int_equal(a.status, 413);
    answer_done(&a);
    for (ssize_t n; (n = send(fd, piece, sizeof piece, MSG_NOSIGNAL)) > 0; total += (size_t)n)
        continue;
    assert_in_range(total, HTTP_DISCARD_BYTES, HTTP_DISCARD_BYTES + (16u << 20));
    assert_true(clock_mono_ms() - since_ms < HTTP_LINGER_MS);
    close(fd);
    rig_is_alive(&rig);
    rig_stop(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conns_max_turns_the_next_away_and_serves_the_others),
        cmocka_unit_test(bytes_in_flight_of_announced_bodies),
        cmocka_unit_test(bytes_in_flight_of_chunked_bodies),
        cmocka_unit_test(bytes_in_flight_of_a_reply_that_is_not_read),
        cmocka_unit_test(bytes_in_flight_count_back_to_0),
        cmocka_unit_test(send_stall_ms_cuts_a_reader_that_sleeps),
        cmocka_unit_test(send_max_ms_cuts_a_reader_that_trickles),
        cmocka_unit_test(HTTP_DISCARD_BYTES_ends_a_refused_body),
    };
    return cmocka_run_group_tests_name("http limits", tests, NULL, NULL);
}
