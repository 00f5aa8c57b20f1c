/* tests/unit/test_http_stream_ends.c - how streams end that nobody ends in good order: clients that
 * leave, that talk where they should listen, that read slowly or not at all; and that thousands of
 * idle ones cost nothing. K2 of RUNTIME.md: each of these made libwebsockets spin for ever.
 */
#include "stream_rig.h"
#include "base/clock.h"
#include "worker_work.h"

#include <linux/filter.h>
#include <sys/resource.h>

static struct rig rig;
static char clock_path[] = "/tmp/tenon-clock-XXXXXX";

static void wait_for(const char *word, long number)
{
    for (int64_t since_ms = clock_mono_ms(); clock_mono_ms() - since_ms < RIG_WAIT_MS;)
        if (rig_ask(&rig, word) == number)
            return;
    fail_msg("%s is not %ld", word, number);
}

/* By what the test did, and there is no other stream. */
static void assert_lost_one(long lost_before)
{
    wait_for("\"lost\"", lost_before + 1);
    assert_int_equal(rig_ask(&rig, "\"open\""), 0);
}

static struct reader hold(void)
{
    struct reader r = reader_post(rig_connect(&rig), "\"hold\"");
    reader_expect(&r, "s.1", "{\"held\":true}");
    return r;
}

static struct reader listen_to(void)
{
    return reader_get(rig_connect(&rig), "");
}

static struct reader (*const openers[])(void) = {listen_to, hold};

/* ---- K2 ---------------------------------------------------------------------------------------*/

static void leave(struct reader *r)
{
    close(r->fd);
    r->fd = -1; /* so reader_done closes no other */
}

static void leave_by_reset(struct reader *r)
{
    const struct linger linger = {1, 0};
    setsockopt(r->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
    leave(r);
}

/* libwebsockets cannot tell it from the whole, and neither can most proxies. */
static void close_half(struct reader *r)
{
    shutdown(r->fd, SHUT_WR);
}

static void K2_a_client_that_leaves(void **state)
{
    (void)state;
    void (*const ways[])(struct reader *) = {leave, leave_by_reset, close_half};
    for (int i = 0; i < 6; i++) {
        long lost = rig_ask(&rig, "\"lost\"");
        struct reader r = openers[i % 2]();
        ways[i / 2](&r);
        assert_lost_one(lost);
        reader_done(&r);
        rig_ask(&rig, "\"end\"");
    }
    assert_int_equal(rig_ask(&rig, "\"calls\""), 0);
    assert_rests();
}

/* T-15: the call goes on, and knows. */
static void T_15_the_call_goes_on_without_its_client(void **state)
{
    (void)state;
    struct reader r = hold();
    leave(&r);
    wait_for("\"orphans\"", 1);
    assert_int_equal(rig_ask(&rig, "\"calls\""), 1);
    rig_ask(&rig, "\"finish\"");
    assert_int_equal(rig_ask(&rig, "\"calls\""), 0);
    reader_done(&r);
}

static void K2_bytes_on_a_stream(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "x",
        "\r\n",
        "GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n",
        RIG_HEAD "Content-Length: 1\r\n\r\n1",
        "POST /mcp HTTP/1.1\r\nHost: local",
    };
    for (int i = 0; i < 10; i++) {
        long lost = rig_ask(&rig, "\"lost\"");
        struct reader r = openers[i % 2]();
        rig_send(r.fd, texts[i / 2]);
        assert_true(rig_is_closed(r.fd));
        assert_lost_one(lost);
        reader_done(&r);
        rig_ask(&rig, "\"end\"");
    }
    assert_rests();
}

/* The same in one segment with the GET: there may be a head, but never two, and never a stream that
 * stays. */
static void K2_bytes_behind_a_get(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\nx",
        "GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\nGET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n" RIG_HEAD "Content-Length: 1\r\n\r\n1",
    };
    for (int i = 0; i < 3; i++) {
        int fd = rig_connect(&rig), n_heads = 0, c;
        char last[5] = {0};
        rig_send(fd, texts[i]);
        while ((c = rig_byte(fd)) >= 0) {
            memmove(last, last + 1, 3);
            last[3] = (char)c;
            n_heads += !strcmp(last, "HTTP");
        }
        assert_true(n_heads <= 1);
        close(fd);
        wait_for("\"open\"", 0);
    }
    assert_rests();
}

/* ---- Slow readers -----------------------------------------------------------------------------*/

#define N_FLOOD \
    20000 /* events of 1000 bytes: more than the kernel takes for a reader that sleeps */

static int connect_narrow(void)
{
    return rig_connect_narrow(&rig, 4096);
}

/* Nothing more goes out: the reader sleeps, and so does the worker. */
static long wait_until_stuck(void)
{
    long before = -1, now;
    while ((now = rig_ask(&rig, "\"unsent\"")) != before) {
        before = now;
        poll(NULL, 0, 20);
    }
    return now;
}

static void read_flood(struct reader *r, long n)
{
    for (long i = 1; i <= n; i++) {
        struct event e = reader_event(r);
        if (e.is_comment) {
            i--;
            continue;
        }
        char id[32];
        snprintf(id, sizeof id, "s.%ld", i);
        assert_string_equal(e.id, id);
        assert_int_equal(strlen(e.data), FLOOD_BYTES);
        free(e.data);
    }
    reader_expect_end(r);
}

/* It costs the server a fixed amount, and gets all in the end. */
static void a_slow_reader_gets_all(void **state)
{
    (void)state;
    long before_kib = worker_kib("VmRSS");
    int fd = connect_narrow();
    rig_send_post(fd, "", "\"flood 20000\"");
    long waiting = wait_until_stuck();
    assert_true(waiting > N_FLOOD / 2);
    assert_true(worker_kib("VmRSS") - before_kib < 3 * 1024);
    assert_rests();
    rig_is_alive(&rig);
    struct reader r = reader_begin(fd);
    read_flood(&r, N_FLOOD);
    answer_done(&r.head);
    free(r.in);
    struct answer a = rig_post(fd, "", "{\"kept\":1}");
    assert_string_equal(a.body, "{\"kept\":1}");
    answer_done(&a);
    close(fd);
}

/* Its kernel has all, whether it was read or not. */
static void what_a_reader_has_taken_is_known(void **state)
{
    (void)state;
    int fd = connect_narrow();
    rig_send_post(fd, "", "\"flood 20000\"");
    wait_until_stuck();
    struct reader r = listen_to();
    wait_for("\"taken\"", 1); /* the slow one has not */
    assert_int_equal(rig_ask(&rig, "\"open\""), 2);
    close(fd);
    wait_for("\"open\"", 1);
    assert_int_equal(rig_ask(&rig, "\"taken\""), 1);
    leave(&r);
    reader_done(&r);
    wait_for("\"open\"", 0);
    assert_int_equal(rig_ask(&rig, "\"taken\""), 0);
    assert_rests();
}

static void a_slow_reader_that_leaves(void **state)
{
    (void)state;
    long lost = rig_ask(&rig, "\"lost\"");
    int fd = connect_narrow();
    rig_send_post(fd, "", "\"flood 20000\"");
    assert_true(wait_until_stuck() > 0);
    close(fd);
    assert_lost_one(lost);
    assert_rests();
}

/* ---- Many -------------------------------------------------------------------------------------*/

#define N_MANY 1000

static void idle_streams_cost_nothing(void **state)
{
    (void)state;
    static struct reader r[N_MANY];
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_max < N_MANY + 100)
        skip();
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    long before_kib = worker_kib("VmRSS");
    for (int i = 0; i < N_MANY; i++)
        r[i] = listen_to();
    assert_int_equal(rig_ask(&rig, "\"open\""), N_MANY);
    long each = (worker_kib("VmRSS") - before_kib) * 1024 / N_MANY;
    print_message("%ld bytes for each of %d streams\n", each, N_MANY);
    assert_rests();
#if !defined(__SANITIZE_ADDRESS__)
    assert_true(each <= (rig_has_tls() ? 20000 : 4096));
#endif
    int fd = rig_connect(&rig);
    struct answer a = rig_post(fd, "", "\"tell {\"all\":1}\"");
    answer_done(&a);
    close(fd);
    for (int i = 0; i < N_MANY; i++) {
        reader_expect(&r[i], "s.1", "{\"all\":1}");
        reader_done(&r[i]);
    }
    wait_for("\"open\"", 0);
    assert_rests();
}

/* ---- Time -------------------------------------------------------------------------------------*/

/* In one step: the server must never read a file that is half written. */
static void set_clock(int64_t ms)
{
    char next[sizeof clock_path + 5];
    snprintf(next, sizeof next, "%s.next", clock_path);
    FILE *f = fopen(next, "w");
    fprintf(f, "%lld\n", (long long)ms);
    fclose(f);
    rename(next, clock_path);
}

/* A comment every 15 seconds of the server's clock, and none before. The clock goes on by itself
 * beside the steps, which therefore keep 5 seconds off; the question makes sure that the server has
 * noted the time of its comments before the next step.
 */
static void heartbeats(void **state)
{
    (void)state;
    static int64_t now_ms;
    struct reader r = listen_to(), held = hold();
    struct pollfd p[] = {{.fd = r.fd, .events = POLLIN}, {.fd = held.fd, .events = POLLIN}};
    for (int i = 0; i < 3; i++) {
        set_clock(now_ms += STREAM_HEARTBEAT_MS - 5000);
        assert_int_equal(poll(p, 2, 200), 0);
        set_clock(now_ms += 5100);
        reader_expect_comment(&r);
        reader_expect_comment(&held);
        assert_int_equal(rig_ask(&rig, "\"open\""), 2);
    }
    assert_int_equal(rig_ask(&rig, "\"open\""), 2);
    rig_ask(&rig, "\"end\"");
    reader_expect_end(&r);
    reader_expect_end(&held);
    reader_done(&r);
    reader_done(&held);
}

/* From here on a server with short deadlines, without the clock that is moved by hand. */

static void a_reader_that_sleeps_is_cut(void **state)
{
    (void)state;
    long lost = rig_ask(&rig, "\"lost\"");
    int fd = connect_narrow();
    rig_send_post(fd, "", "\"flood 20000\"");
    assert_lost_one(lost);
    assert_rests();
    close(fd);
}

/* It takes a little now and then, which is slow but not asleep. */
static void a_reader_that_dozes_is_not_cut(void **state)
{
    (void)state;
    static char some[200000];
    int fd = connect_narrow();
    rig_send_post(fd, "", "\"flood 20000\"");
    long lost = rig_ask(&rig, "\"lost\"");
    for (int i = 0; i < 8; i++) {
        poll(NULL, 0, 100);
        assert_true(recv(fd, some, sizeof some, MSG_DONTWAIT) > 0);
    }
    assert_int_equal(rig_ask(&rig, "\"lost\""), lost);
    close(fd);
    assert_lost_one(lost);
}

/* Nothing reaches it any more, and so nothing comes back. */
static void play_dead(int fd)
{
    struct sock_filter drop = BPF_STMT(BPF_RET | BPF_K, 0);
    const struct sock_fprog program = {1, &drop};
    assert_return_code(setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program),
                       errno);
}

/* Within two heartbeats, which are 200 ms here; who lives is left alone. */
static void a_dead_peer_is_noticed(void **state)
{
    (void)state;
    if (rig_has_tls())
        skip(); /* the socket of the test is not that of the server's peer */
    for (int i = 0; i < 2; i++) {
        long lost = rig_ask(&rig, "\"lost\"");
        struct reader dead = openers[i](), alive = listen_to();
        play_dead(dead.fd);
        int64_t since_ms = clock_mono_ms();
        while (rig_ask(&rig, "\"lost\"") == lost)
            assert_true(clock_mono_ms() - since_ms < 5000);
        assert_true(clock_mono_ms() - since_ms >= 200);
        print_message("noticed after %lld ms\n", (long long)(clock_mono_ms() - since_ms));
        for (int k = 0; k < 6; k++)
            reader_expect_comment(&alive);
        assert_int_equal(rig_ask(&rig, "\"lost\""), lost + 1);
        reader_done(&dead);
        reader_done(&alive);
        rig_ask(&rig, "\"end\"");
        wait_for("\"open\"", 0);
    }
}

/* It takes nothing, but it is there: send_stall_ms decides, not the heartbeats. */
static void a_reader_that_sleeps_is_not_dead(void **state)
{
    (void)state;
    long lost = rig_ask(&rig, "\"lost\"");
    int fd = connect_narrow();
    int64_t since_ms = clock_mono_ms();
    rig_send_post(fd, "", "\"flood 20000\"");
    assert_lost_one(lost);
    assert_true(clock_mono_ms() - since_ms >= 1500);
    close(fd);
}

static void wait_for_status(int status)
{
    int64_t since_ms = clock_mono_ms();
    for (int got = 0; got != status;) {
        assert_true(clock_mono_ms() - since_ms < RIG_WAIT_MS);
        int fd = rig_connect(&rig);
        struct answer a = rig_post(fd, "", "1");
        got = a.status;
        answer_done(&a);
        close(fd);
    }
}

/* What waits in streams counts like what waits of replies. */
static void what_waits_in_streams_counts(void **state)
{
    (void)state;
    int fd = connect_narrow();
    rig_send_post(fd, "", "\"flood 20000\"");
    wait_for_status(503);
    close(fd);
    wait_for_status(200);
    wait_for("\"open\"", 0);
}

/* ---- An orderly stop --------------------------------------------------------------------------*/

/* Who listens is told at once; who gets an answer, gets it, also by a stream that begins then. */
static void an_orderly_stop(void **state)
{
    (void)state;
    struct reader listening = listen_to();
    int fd = connect_narrow(), last_fd = rig_connect(&rig);
    rig_send_post(last_fd, "", "\"last\"");
    rig_send_post(fd, "", "\"flood 20000\"");
    wait_until_stuck();
    kill(rig.pid, SIGTERM);
    reader_expect_end(&listening);
    assert_true(rig_is_closed(listening.fd));
    struct reader last = reader_begin(last_fd);
    reader_expect(&last, "s.1", "{\"n\":1}");
    reader_expect_end(&last);
    reader_done(&last);
    struct reader r = reader_begin(fd);
    read_flood(&r, N_FLOOD);
    assert_true(rig_is_closed(fd));
    reader_done(&r);
    reader_done(&listening);
}

/* ---- The program ------------------------------------------------------------------------------*/

static int start_with(struct net_config config)
{
    rig_handle_more = rig_stream_words;
    if (!rig_start(&rig, config))
        return -1;
    worker = (pid_t)rig_ask(&rig, "\"pid\"");
    return 0;
}

static int start(void **state)
{
    (void)state;
    struct net_config config = rig_config();
    config.stall_ms = config.keeper_stall_ms = INT64_C(1) << 40; /* the clock jumps */
    close(mkstemp(clock_path));
    setenv("TENON_CLOCK_FILE", clock_path, 1);
    return start_with(config);
}

static int stop(void **state)
{
    (void)state;
    rig_stop(&rig);
    unlink(clock_path);
    return 0;
}

/* The calls of floods whose readers were lost go on, and a stop would wait for them to the end of
 * its grace. */
static int restart_with(void **state, struct net_config config)
{
    rig_ask(&rig, "\"end\"");
    stop(state);
    return start_with(config);
}

static int restart_hasty(void **state)
{
    struct net_config config = rig_config();
    config.send_stall_ms = 300;
    unsetenv("TENON_CLOCK_FILE");
    return restart_with(state, config);
}

static int restart_nervous(void **state)
{
    struct net_config config = rig_config();
    config.heartbeat_ms = 200;
    config.send_stall_ms = 1500;
    return restart_with(state, config);
}

static int restart_poor(void **state)
{
    struct net_config config = rig_config();
    config.bytes_in_flight_max = STREAM_UNSENT_BYTES / 4; /* more than that always waits */
    return restart_with(state, config);
}

static int restart(void **state)
{
    return restart_with(state, rig_config());
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(K2_a_client_that_leaves),
        cmocka_unit_test(T_15_the_call_goes_on_without_its_client),
        cmocka_unit_test(K2_bytes_on_a_stream),
        cmocka_unit_test(K2_bytes_behind_a_get),
        cmocka_unit_test(a_slow_reader_gets_all),
        cmocka_unit_test(what_a_reader_has_taken_is_known),
        cmocka_unit_test(a_slow_reader_that_leaves),
        cmocka_unit_test(idle_streams_cost_nothing),
        cmocka_unit_test(heartbeats),
        cmocka_unit_test_setup(a_reader_that_sleeps_is_cut, restart_hasty),
        cmocka_unit_test(a_reader_that_dozes_is_not_cut),
        cmocka_unit_test_setup(a_dead_peer_is_noticed, restart_nervous),
        cmocka_unit_test(a_reader_that_sleeps_is_not_dead),
        cmocka_unit_test_setup(what_waits_in_streams_counts, restart_poor),
        cmocka_unit_test_setup(an_orderly_stop, restart),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests_name("stream ends", tests, start, stop);
}
