/* tests/unit/test_tls_listener.c - a server over TLS: what is no handshake, many handshakes,
 * SIGHUP, certificates of clients. What is the same without TLS: the HTTP tests, run by
 * tests/net/tls.sh.
 */
#include "net_rig.h"

#include "base/clock.h"
#include "certificates.h"
#include "worker_work.h"

#include <dirent.h>

static struct rig rig;
static struct pair ca, own, other;
static char clock_path[64];

static void write_own(const struct pair *p)
{
    pair_write_cert("cert.pem", p, NULL);
    pair_write_key("key.pem", 0600, p->key);
}

static void start(struct net_config config)
{
    rig = (struct rig){0};
    assert_true(rig_start(&rig, config));
    worker = (pid_t)rig_ask(&rig, "\"pid\"");
}

/* One without TLS. */
static int connect_plain(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_port = htons(rig.port),
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_return_code(connect(fd, (struct sockaddr *)&a, sizeof a), errno);
    return fd;
}

static int worker_fds(void)
{
    char path[64];
    int n = 0;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)worker);
    DIR *dir = opendir(path);
    assert_non_null(dir);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

/* The server may not have seen yet that somebody left. */
static void wait_for_fds(int most)
{
    int64_t since_ms = clock_mono_ms();
    while (worker_fds() > most) {
        assert_true(clock_mono_ms() - since_ms < RIG_WAIT_MS);
        poll(NULL, 0, 10);
    }
}

/* ---- What is no handshake ---------------------------------------------------------------------*/

/* All that comes back is at most an alert, and then the end. */
static void assert_is_ended(int fd)
{
    char answer[256];
    ssize_t n;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    do
        assert_int_equal(poll(&p, 1, RIG_WAIT_MS), 1);
    while ((n = recv(fd, answer, sizeof answer, 0)) > 0 && answer[0] == 0x15);
    assert_true(n <= 0);
    close(fd);
}

static void what_is_no_handshake_is_ended(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
    } garbage[] = {
#define BYTES(text) {text, sizeof(text) - 1}
        BYTES("POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1\r\n\r\n1"),
        BYTES("\x16\x03\x01\x00\x05hello, this is no handshake"),
        BYTES("\x16\x03\x01\xff\xff\x01"),
        BYTES("\x80\x2e\x01\x00\x02\x00\x15\x00\x00\x00\x10\x01\x00\x80\x03"),
        BYTES("\x15\x03\x01\x00\x02\x02\x28"),
        BYTES("\x17\x03\x03\x00\x10yyyyyyyyyyyyyyyy"),
        BYTES("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"),
    };
    struct net_config config = rig_config();
    config.head_deadline_ms = 300; /* of those that might still be the beginning of one */
    start(config);
    int fds = worker_fds();
    for (int round = 0; round < 10; round++)
        for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++) {
            int fd = connect_plain();
            rig_send_n(fd, garbage[i].bytes, garbage[i].n);
            if (round)
                shutdown(fd, SHUT_WR);
            assert_is_ended(fd);
        }
    rig_is_alive(&rig);
    wait_for_fds(fds);
    rig_stop(&rig);
}

/* HTTP_HEAD_DEADLINE_MS counts from the connection on, through handshake and head. */
static void a_slow_handshake_is_ended(void **state)
{
    (void)state;
    struct net_config config = rig_config();
    config.head_deadline_ms = 300;
    start(config);
    int silent = connect_plain(), slow = connect_plain();
    int64_t since_ms = clock_mono_ms();
    static const char hello[] = "\x16\x03\x01\x01\x00\x01\x00\x00\xfc\x03\x03";
    for (size_t i = 0; clock_mono_ms() - since_ms < 2000; i++) {
        struct pollfd p = {.fd = slow, .events = POLLIN};
        rig_send_n(slow, i < sizeof hello ? hello + i : "x", 1);
        if (poll(&p, 1, 20))
            break;
    }
    assert_is_ended(slow);
    assert_is_ended(silent);
    assert_true(clock_mono_ms() - since_ms < 2000);
    assert_rests();
    rig_is_alive(&rig);
    rig_stop(&rig);
}

/* ---- Many -------------------------------------------------------------------------------------*/

#define N_MANY 1000

static void handshake_once(int i)
{
    int fd = rig_connect(&rig);
    if (i % 3) {
        struct answer a = rig_post(fd, "", "1");
        assert_int_equal(a.status, 200);
        answer_done(&a);
    }
    close(fd);
}

static void a_thousand_handshakes_leave_nothing(void **state)
{
    (void)state;
    start(rig_config());
    for (int i = 0; i < 200; i++) /* the heap is warm then */
        handshake_once(i);
    rig_is_alive(&rig);
    int fds = worker_fds();
    long kib = worker_kib("VmRSS");
    for (int i = 0; i < N_MANY; i++)
        handshake_once(i);
    wait_for_fds(fds);
    print_message("%ld KiB more after %d handshakes\n", worker_kib("VmRSS") - kib, N_MANY);
#if !defined(__SANITIZE_ADDRESS__)
    assert_true(worker_kib("VmRSS") - kib < 1024);
#endif
    rig_stop(&rig);
}

#define N_OPEN 200

static void memory_of_a_resting_connection(void **state)
{
    (void)state;
    static int fds[N_OPEN];
    start(rig_config());
    for (int i = 0; i < N_OPEN; i++)
        handshake_once(1);
    long kib = worker_kib("VmRSS");
    for (int i = 0; i < N_OPEN; i++) {
        fds[i] = rig_connect(&rig);
        struct answer a = rig_post(fds[i], "", "1");
        answer_done(&a);
    }
    long each = (worker_kib("VmRSS") - kib) * 1024 / N_OPEN;
    print_message("%ld bytes for each of %d resting connections\n", each, N_OPEN);
#if !defined(__SANITIZE_ADDRESS__)
    assert_true(each < 24000);
#endif
    for (int i = 0; i < N_OPEN; i++)
        close(fds[i]);
    rig_stop(&rig);
}

/* ---- SIGHUP -----------------------------------------------------------------------------------*/

/* Whom the server shows now. */
static bool shows(const struct pair *whom)
{
    int fd = connect_plain();
    SSL *ssl = SSL_new(pump_ctx());
    SSL_set_fd(ssl, fd);
    bool good = SSL_connect(ssl) == 1 && X509_cmp(SSL_get0_peer_certificate(ssl), whom->x) == 0;
    SSL_free(ssl);
    close(fd);
    return good;
}

static void until_shows(const struct pair *whom)
{
    int64_t since_ms = clock_mono_ms();
    while (!shows(whom))
        assert_true(clock_mono_ms() - since_ms < RIG_WAIT_MS);
}

static void post_on(int fd)
{
    struct answer a = rig_post(fd, "", "{\"n\":1}");
    assert_int_equal(a.status, 200);
    answer_done(&a);
}

static void sighup_swaps_the_certificate(void **state)
{
    (void)state;
    struct net_config config = rig_config();
    config.n_workers = 2;
    start(config);
    int fd = rig_connect(&rig);
    post_on(fd);
    for (int i = 0; i < 4; i++) {
        const struct pair *next = i % 2 ? &own : &other;
        write_own(next);
        kill(rig.pid, SIGHUP);
        for (int k = 0; k < 10; k++) { /* on either worker */
            until_shows(next);
            post_on(fd);
        }
    }
    pair_write_key("key.pem", 0600, other.key); /* does not fit */
    kill(rig.pid, SIGHUP);
    for (int k = 0; k < 20; k++)
        assert_true(shows(&own));
    post_on(fd);
    close(fd);
    write_own(&own);
    rig_stop(&rig);
}

/* A worker that is forked after the files went bad has what holds. */
static void a_new_worker_gets_what_holds(void **state)
{
    (void)state;
    start(rig_config());
    write_own(&other);
    kill(rig.pid, SIGHUP);
    until_shows(&other);
    pair_write_text("cert.pem", "");
    kill(worker, SIGKILL);
    until_shows(&other);
    rig.n_workers++; /* starts */
    write_own(&own);
    rig_stop(&rig);
}

/* ---- Certificates of clients ------------------------------------------------------------------*/

static void use_certificate(const struct pair *p)
{
    SSL_CTX_use_certificate(pump_ctx(), p->x);
    SSL_CTX_use_PrivateKey(pump_ctx(), p->key);
}

static struct net_config with_client_ca(bool must)
{
    struct net_config config = rig_config();
    config.tls.client_ca = "ca.pem";
    config.tls.require_client = must;
    return config;
}

/* The status of "who" with this certificate and header; *ret: the user. */
static int ask_who(const char *header, char *ret, size_t size)
{
    int fd = rig_connect(&rig);
    struct answer a = rig_post(fd, header, "\"who\"");
    snprintf(ret, size, "%s", a.body ? a.body : "");
    int status = a.status;
    answer_done(&a);
    close(fd);
    return status;
}

static void a_certificate_is_a_credential(void **state)
{
    (void)state;
    char who[64];
    const struct str two[] = {STR("good"), STR("bad")};
    struct pair good = pair_for(EVP_EC_gen("P-256"), "good", &ca, 3600);
    struct pair bad = pair_for(EVP_EC_gen("P-256"), "bad", &ca, 3600);
    struct pair both = pair_of_names(EVP_EC_gen("P-256"), two, 2, &ca, -60, 3600);
    start(with_client_ca(false));
    assert_int_equal(ask_who("", who, sizeof who), 200); /* without one: nobody */
    assert_null(strstr(who, "good"));
    use_certificate(&good);
    assert_int_equal(ask_who("", who, sizeof who), 200);
    assert_non_null(strstr(who, "good"));
    assert_int_equal(ask_who("Authorization: Bearer good\r\n", who, sizeof who), 200);
    assert_int_equal(ask_who("Authorization: Bearer wrong\r\n", who, sizeof who), 401);
    assert_int_equal(ask_who("Authorization: Basic good\r\n", who, sizeof who), 401);
    use_certificate(&bad);
    assert_int_equal(ask_who("", who, sizeof who), 401);
    use_certificate(&both);
    assert_int_equal(ask_who("", who, sizeof who), 401);
    assert_int_equal(ask_who("Authorization: Bearer good\r\n", who, sizeof who), 401);
    use_certificate(&own); /* of an authority that nobody knows */
    assert_int_equal(ask_who("", who, sizeof who), 0);
    rig_stop(&rig);
    pair_done(&good);
    pair_done(&bad);
    pair_done(&both);
    use_certificate(&own);
}

static void set_clock(long long ms)
{
    char next[sizeof clock_path + 5];
    snprintf(next, sizeof next, "%s.next", clock_path);
    FILE *f = fopen(next, "w");
    fprintf(f, "%lld\n", ms);
    fclose(f);
    rename(next, clock_path);
}

/* On a connection that was opened while it was good. */
static void a_certificate_expires(void **state)
{
    (void)state;
    struct pair good = pair_for(EVP_EC_gen("P-256"), "good", &ca, 3600);
    struct net_config config = with_client_ca(true);
    config.keepalive_ms = 100 * 3600 * 1000;
    set_clock(0);
    use_certificate(&good);
    start(config);
    int fd = rig_connect(&rig);
    post_on(fd);
    set_clock(3500 * 1000);
    post_on(fd);
    set_clock(3700 * 1000);
    struct answer a = rig_post(fd, "", "1");
    assert_int_equal(a.status, 401);
    assert_non_null(strstr(a.head, "expired"));
    answer_done(&a);
    a = rig_post(fd, "Authorization: Bearer good\r\n", "1");
    assert_int_not_equal(a.status, 200);
    answer_done(&a);
    close(fd);
    rig_stop(&rig);
    set_clock(0);
    pair_done(&good);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_no_handshake_is_ended),
        cmocka_unit_test(a_slow_handshake_is_ended),
        cmocka_unit_test(a_thousand_handshakes_leave_nothing),
        cmocka_unit_test(memory_of_a_resting_connection),
        cmocka_unit_test(sighup_swaps_the_certificate),
        cmocka_unit_test(a_new_worker_gets_what_holds),
        cmocka_unit_test(a_certificate_is_a_credential),
        cmocka_unit_test(a_certificate_expires),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    pairs_begin();
    snprintf(clock_path, sizeof clock_path, "%s/clock", pair_dir);
    setenv("TENON_CLOCK_FILE", clock_path, 1);
    setenv("TENON_RIG_TLS", pair_dir, 1);
    ca = pair_for(EVP_EC_gen("P-256"), "authority", NULL, 7200);
    own = pair_for(EVP_EC_gen("P-256"), "localhost", NULL, 7200);
    other = pair_for(EVP_RSA_gen(2048), "other", NULL, 7200);
    pair_write_cert("ca.pem", &ca, NULL);
    write_own(&own);
    int failed = cmocka_run_group_tests_name("tls listener", tests, NULL, NULL);
    pair_done(&ca);
    pair_done(&own);
    pair_done(&other);
    pairs_end();
    return failed;
}
