/* tests/unit/test_http_traps.c - one test per trap of libwebsockets 4.1.6 (fence.c lists them),
 * against a real server. K3 and K12 are banned symbols (tests/layers.sh); K7 and K8 are about
 * listening (test_supervisor.c). An argument names the tests to run (tests/net/valgrind.sh).
 */
#include "net_rig.h"

#include "base/clock.h"
#include "worker_work.h"

#include <sched.h>
#include <sys/resource.h>

static struct rig rig;

/* ---- K1 ---------------------------------------------------------------------------------------*/

static size_t put_request(char *to, size_t room, int number, const char *word)
{
    char body[64];
    int n = word ? snprintf(body, sizeof body, "%s", word)
                 : snprintf(body, sizeof body, "{\"number\":%d}", number);
    return (size_t)snprintf(to, room, RIG_HEAD "Content-Length: %d\r\n\r\n%s", n, body);
}

/* Reads answers until the end; each must be that of the next request. How many came. */
static int read_numbered(int fd, int most)
{
    for (int i = 0; i < most; i++) {
        struct answer a = rig_read(fd);
        char expected[64];
        snprintf(expected, sizeof expected, "{\"number\":%d}", i);
        if (!a.status) {
            answer_done(&a);
            return i;
        }
        assert_int_equal(a.status, 200);
        assert_string_equal(a.body, expected);
        answer_done(&a);
    }
    return most;
}

static void K1_five_posts_in_one_segment(void **state)
{
    (void)state;
    char text[4096];
    size_t n = 0;
    for (int i = 0; i < 5; i++)
        n += put_request(text + n, sizeof text - n, i, NULL);
    int fd = rig_connect(&rig);
    rig_send_n(fd, text, n);
    int answered = read_numbered(fd, 5);
    assert_true(answered >= 1);
    if (answered < 5)
        assert_true(rig_is_closed(fd));
    close(fd);
    rig_is_alive(&rig);
    assert_rests();
}

static void K1_a_second_post_while_the_first_is_pending(void **state)
{
    (void)state;
    char text[2048];
    int fd = rig_connect(&rig);
    size_t n = put_request(text, sizeof text, 0, "\"never\"");
    rig_send_n(fd, text, n);
    rig_is_alive(&rig); /* so it was read */
    n = put_request(text, sizeof text, 1, NULL);
    rig_send_n(fd, text, n);
    assert_true(rig_is_closed(fd)); /* never an answer to the second, or of its bytes */
    assert_rests();
    rig_ask(&rig, "\"release\"");
    close(fd);
}

static void K1_half_a_request_behind_a_whole_one(void **state)
{
    (void)state;
    char text[2048];
    int fd = rig_connect(&rig);
    size_t n = put_request(text, sizeof text, 0, NULL);
    n += (size_t)snprintf(text + n, sizeof text - n, "POST /mcp HT");
    rig_send_n(fd, text, n);
    assert_int_equal(read_numbered(fd, 1), 1);
    assert_rests();
    close(fd);
    rig_is_alive(&rig);
}

/* A generator of our own, so that the sequence is the same everywhere. */
static uint32_t fuzz_state;

static uint32_t fuzz_below(uint32_t n)
{
    fuzz_state = fuzz_state * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)fuzz_state * n) >> 32);
}

/* One to five requests, some answered late, cut into segments at random. */
static void fuzz_connection(void)
{
    char text[8192];
    int n_requests = 1 + (int)fuzz_below(5), fd = rig_connect(&rig);
    size_t n = 0, at = 0;
    for (int i = 0; i < n_requests; i++)
        n += put_request(text + n, sizeof text - n, i, NULL);
    while (at < n) {
        size_t piece = fuzz_below(3) ? 1 + fuzz_below(400) : n - at;
        piece = piece < n - at ? piece : n - at;
        rig_send_n(fd, text + at, piece);
        at += piece;
        if (!fuzz_below(8))
            sched_yield();
    }
    int answered = read_numbered(fd, n_requests);
    if (n_requests == 1)
        assert_int_equal(answered, 1);
    close(fd);
}

static void K1_fuzz_of_pipelining(void **state)
{
    (void)state;
    const char *rounds = getenv("TENON_FUZZ_ROUNDS");
    fuzz_state = 20250618;
    for (int i = rounds ? atoi(rounds) : 300; i > 0; i--)
        fuzz_connection();
    rig_is_alive(&rig);
    assert_rests();
}

/* ---- K4, K5, K6 -------------------------------------------------------------------------------*/

static void K4_http2_is_not_spoken(void **state)
{
    (void)state;
    static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0";
    char got[64] = {0};
    int fd = rig_connect(&rig);
    rig_send_n(fd, preface, sizeof preface - 1);
    struct pollfd p = {.fd = fd, .events = POLLIN};
    assert_int_equal(poll(&p, 1, RIG_WAIT_MS), 1);
    ssize_t n = recv(fd, got, sizeof got - 1, 0);
    assert_true(n <= 0 || !strncmp(got, "HTTP/1.", 7)); /* and no SETTINGS frame */
    close(fd);
    rig_is_alive(&rig);
}

static void post_with_upgrade(int fd, const char *upgrade)
{
    char headers[512];
    snprintf(headers, sizeof headers,
             "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: %s\r\n"
             "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n",
             upgrade);
    struct answer a = rig_post(fd, headers, "{\"up\":1}");
    assert_int_equal(a.status, 200);
    assert_memory_equal(a.head, "HTTP/1.1 200", 12);
    assert_string_equal(a.body, "{\"up\":1}");
    answer_done(&a);
}

static void K5_an_offer_to_upgrade_is_ignored(void **state)
{
    (void)state;
    int fd = rig_connect(&rig);
    post_with_upgrade(fd, "h2c");
    post_with_upgrade(fd, "H2C"); /* on a kept connection too */
    post_with_upgrade(fd, "websocket");
    struct answer a = rig_post(fd, "", "1");
    assert_int_equal(a.status, 200);
    answer_done(&a);
    close(fd);
}

/* libwebsockets answers 403 itself and goes on with freed memory. */
static void K6_an_unknown_upgrade(void **state)
{
    (void)state;
    for (int kept = 0; kept < 2; kept++)
        for (int i = 0; i < 3; i++) {
            int fd = rig_connect(&rig);
            if (kept) {
                struct answer a = rig_post(fd, "", "1");
                assert_int_equal(a.status, 200);
                answer_done(&a);
            }
            rig_send_post(fd, "Connection: Upgrade\r\nUpgrade: nonsense/1.0\r\n", "{\"up\":1}");
            struct answer a = rig_read(fd);
            assert_true(a.status == 0 || a.status == 403);
            answer_done(&a);
            close(fd);
        }
    rig_is_alive(&rig);
    assert_rests();
}

static void CONNECT_is_closed(void **state)
{
    (void)state;
    assert_int_equal(rig_status(&rig, "CONNECT a:1 HTTP/1.1\r\nHost: localhost\r\n\r\n"), 0);
    rig_is_alive(&rig);
}

/* ---- K9, K11 ----------------------------------------------------------------------------------*/

#define N_IDLE     1500
#define N_REQUESTS 100

static int64_t cpu_of_requests(void)
{
    int fd = rig_connect(&rig);
    int64_t before_ns = worker_cpu_ns();
    for (int i = 0; i < N_REQUESTS; i++) {
        struct answer a = rig_post(fd, "", "1");
        assert_int_equal(a.status, 200);
        answer_done(&a);
    }
    int64_t ns = worker_cpu_ns() - before_ns;
    close(fd);
    return ns;
}

static void keep_least(int64_t *least_ns, int64_t ns)
{
    *least_ns = ns < *least_ns ? ns : *least_ns;
}

static void open_idle(int *fds)
{
    for (int i = 0; i < N_IDLE; i++) {
        fds[i] = rig_connect(&rig);
        struct answer a = rig_post(fds[i], "", "1"); /* so each rests after a request */
        assert_int_equal(a.status, 200);
        answer_done(&a);
    }
}

/* The server has seen that they are gone: its loop rests. */
static void close_idle(const int *fds)
{
    for (int i = 0; i < N_IDLE; i++)
        close(fds[i]);
    rig_is_alive(&rig);
    assert_rests();
}

/* The least of five each, taken in turn: others on the machine only ever add to it, and what slows
 * them all (the clock of the processor) meets both. With poll() it would be some 20 times as much;
 * with a timer of libwebsockets each, 3 times. */
static void K9_K11_idle_connections_cost_nothing(void **state)
{
    (void)state;
    static int fds[N_IDLE];
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_max < N_IDLE + 100)
        skip();
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    int64_t alone_ns = INT64_MAX, crowded_ns = INT64_MAX;
    for (int i = rig_has_tls() ? 3 : 0; i < 5; i++) { /* its handshakes take long */
        keep_least(&alone_ns, cpu_of_requests());
        open_idle(fds);
        keep_least(&crowded_ns, cpu_of_requests());
        close_idle(fds);
    }
    print_message("%lld ns of CPU for a request\n", (long long)alone_ns / N_REQUESTS);
    if (crowded_ns > alone_ns * 5 / 2)
        fail_msg("%lld us alone, %lld us beside %d idle connections", (long long)alone_ns / 1000,
                 (long long)crowded_ns / 1000, N_IDLE);
}

/* ---- K10 and our own deadlines: see restart_hasty
 * -----------------------------------------------*/

/* Closed by the server, after at least `least_ms`. */
static void assert_cut(int fd, int64_t since_ms, int64_t least_ms)
{
    assert_true(rig_is_closed(fd));
    int64_t took_ms = clock_mono_ms() - since_ms;
    assert_in_range(took_ms, least_ms, 5000);
    close(fd);
}

static void a_silent_connection_is_cut(void **state)
{
    (void)state;
    int64_t since_ms = clock_mono_ms();
    assert_cut(rig_connect(&rig), since_ms, 200);
}

static void an_endless_head_is_cut(void **state)
{
    (void)state;
    int64_t since_ms = clock_mono_ms();
    int fd = rig_connect(&rig);
    rig_send(fd, "POST /mcp HTTP/1.1\r\nHost: local");
    assert_cut(fd, since_ms, 200);
}

/* This deadline is one of libwebsockets' own: nobody else sees a head that has begun. */
static void K10_its_timers_fire(void **state)
{
    (void)state;
    int fd = rig_connect(&rig);
    struct answer a = rig_post(fd, "", "1");
    answer_done(&a);
    int64_t since_ms = clock_mono_ms();
    rig_send(fd, "POST /mcp HTTP/1.1\r\nHost: local");
    assert_cut(fd, since_ms, 900);
    assert_true(clock_mono_ms() - since_ms < 1450);
}

/* Bytes keep coming, the end does not. */
static void assert_drip_is_cut(int fd, const char *begin, int64_t least_ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    int64_t since_ms = clock_mono_ms();
    rig_send(fd, begin);
    while (poll(&p, 1, 20) == 0 && clock_mono_ms() - since_ms < 5000)
        rig_send(fd, "x");
    assert_cut(fd, since_ms, least_ms);
}

static void a_dripped_head_is_cut(void **state)
{
    (void)state;
    assert_drip_is_cut(rig_connect(&rig), "POST /mcp HTTP/1.1\r\nHost: ", 200);
    int fd = rig_connect(&rig); /* on a kept connection too */
    struct answer a = rig_post(fd, "", "1");
    answer_done(&a);
    assert_drip_is_cut(fd, "POST /mcp HTTP/1.1\r\nHost: ", 200);
}

static void a_resting_connection_is_cut(void **state)
{
    (void)state;
    int fd = rig_connect(&rig);
    struct answer a = rig_post(fd, "", "1");
    answer_done(&a);
    assert_cut(fd, clock_mono_ms(), 1300);
}

static void a_stalled_body_is_cut(void **state)
{
    (void)state;
    int fd = rig_connect(&rig);
    rig_send(fd, RIG_HEAD "Content-Length: 10\r\n\r\n{");
    assert_cut(fd, clock_mono_ms(), 200);
}

static void a_dripped_body_is_cut(void **state)
{
    (void)state;
    assert_drip_is_cut(rig_connect(&rig), RIG_HEAD "Content-Length: 100000\r\n\r\n", 200);
    assert_drip_is_cut(rig_connect(&rig), RIG_HEAD "Transfer-Encoding: chunked\r\n\r\nffff\r\n",
                       200);
}

static void a_slow_call_is_not_cut(void **state)
{
    (void)state;
    int fd = rig_connect(&rig);
    rig_send_post(fd, "", "\"never\"");
    struct pollfd p = {.fd = fd, .events = POLLIN};
    assert_int_equal(poll(&p, 1, 900), 0);
    rig_ask(&rig, "\"release\"");
    struct answer a = rig_read(fd);
    assert_int_equal(a.status, 200);
    answer_done(&a);
    close(fd);
}

/* A refused client that neither reads nor leaves is not kept for ever, and costs no CPU. */
static void refused_connections_rest(void **state)
{
    (void)state;
    int fds[20];
    for (int i = 0; i < 20; i++) {
        fds[i] = rig_connect(&rig);
        rig_send(fds[i], RIG_HEAD "Origin: http://evil.example\r\nContent-Length: 9\r\n\r\n");
    }
    rig_is_alive(&rig);
    assert_rests();
    for (int i = 0; i < 20; i++)
        close(fds[i]);
    assert_rests();
}

/* ---- DELETE -----------------------------------------------------------------------------------*/

static void S_08_delete_reaches_core_when_allowed(void **state)
{
    (void)state;
    int fd = rig_connect(&rig);
    rig_send(fd, "DELETE /mcp HTTP/1.1\r\nHost: localhost\r\nMcp-Session-Id: a\r\n\r\n");
    struct answer a = rig_read(fd);
    assert_int_equal(a.status, 204);
    assert_true(rig_is_closed(fd));
    answer_done(&a);
    close(fd);
    fd = rig_connect(&rig);
    rig_send(fd, "PUT /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n");
    a = rig_read(fd);
    assert_int_equal(a.status, 405);
    assert_string_equal(answer_header(&a, "Allow"), "GET, POST, DELETE, OPTIONS");
    answer_done(&a);
    close(fd);
    assert_int_equal(rig_status(&rig, "DELETE /mcp HTTP/1.1\r\nHost: localhost\r\n"
                                      "Mcp-Session-Id:\r\n\r\n"),
                     400);
    /* a second request behind it gets no second answer */
    fd = rig_connect(&rig);
    rig_send(fd, "DELETE /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n"
                 "DELETE /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n");
    a = rig_read(fd);
    assert_true(a.status == 204 || a.status == 0);
    if (a.status)
        assert_true(rig_is_closed(fd));
    answer_done(&a);
    close(fd);
    rig_is_alive(&rig);
    assert_rests();
}

/* ---- Servers ----------------------------------------------------------------------------------*/

static int start_with(struct net_config config)
{
    if (!rig_start(&rig, config))
        return -1;
    worker = (pid_t)rig_ask(&rig, "\"pid\"");
    return 0;
}

static int start(void **state)
{
    (void)state;
    return start_with(rig_config());
}

static int stop(void **state)
{
    (void)state;
    rig_stop(&rig);
    return 0;
}

/* From here on a server with short deadlines. */
static int restart_hasty(void **state)
{
    stop(state);
    struct net_config config = rig_config();
    config.head_deadline_ms = config.body_deadline_ms = 300;
    config.keepalive_ms = 1500; /* after the second that libwebsockets gives a head at least */
    config.allow_client_delete = true;
    return start_with(config);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(K1_five_posts_in_one_segment),
        cmocka_unit_test(K1_a_second_post_while_the_first_is_pending),
        cmocka_unit_test(K1_half_a_request_behind_a_whole_one),
        cmocka_unit_test(K1_fuzz_of_pipelining),
        cmocka_unit_test(K4_http2_is_not_spoken),
        cmocka_unit_test(K5_an_offer_to_upgrade_is_ignored),
        cmocka_unit_test(K6_an_unknown_upgrade),
        cmocka_unit_test(CONNECT_is_closed),
        cmocka_unit_test(K9_K11_idle_connections_cost_nothing),
        cmocka_unit_test_setup(a_silent_connection_is_cut, restart_hasty),
        cmocka_unit_test(an_endless_head_is_cut),
        cmocka_unit_test(a_dripped_head_is_cut),
        cmocka_unit_test(K10_its_timers_fire),
        cmocka_unit_test(a_resting_connection_is_cut),
        cmocka_unit_test(a_stalled_body_is_cut),
        cmocka_unit_test(a_dripped_body_is_cut),
        cmocka_unit_test(a_slow_call_is_not_cut),
        cmocka_unit_test(refused_connections_rest),
        cmocka_unit_test(S_08_delete_reaches_core_when_allowed),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests_name("traps", tests, start, stop);
}
