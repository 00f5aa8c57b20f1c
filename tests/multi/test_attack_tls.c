/* tests/multi/test_attack_tls.c - the same of a server that speaks TLS: what is attacked is the
 * handshake, and what comes before and behind it.
 */
#include "tests/multi/attack_rig.h"
#include "tests/unit/tls_pump.h"

#define HELLO_MAX  2048
#define SLOW_CONNS 100

/* ---- What is no TLS ---------------------------------------------------------------------------*/

/* Sends the bytes as they are; the server has to close, whatever it says before. */
static void must_end(struct attacker *a, const char *what, const char *bytes, size_t n)
{
    struct http_conn c;
    http_wrap = NULL;
    a->requests++;
    if (!http_open(&c, a->target->port))
        return;
    http_send(&c, bytes, n);
    shutdown(c.fd, SHUT_WR);
    int got;
    while ((got = http_receive(&c, HTTP_WAIT_MS)) > 0)
        continue;
    if (got < 0)
        blame(a, what, got);
    http_close(&c);
}

static void noise(struct attacker *a)
{
    static const char *const plain[] = {
        "GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99999\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "\x16\x03\x01\x40\x01" /* longer than a record may be */,
        "\x15\x03\x01\x01\x01" /* an alert first */,
        "\x80\x2e\x01\x03\x01" /* of SSL 2 */,
        "",
    };
    char bytes[3000];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)rand_r(&a->seed);
    must_end(a, "noise", bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        must_end(a, plain[i], plain[i], strlen(plain[i]));
}

/* ---- What is nearly TLS -----------------------------------------------------------------------*/

/* A client's first message; its length, 0 without memory. */
static size_t make_hello(char ret[HELLO_MAX])
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
    SSL *ssl = ctx ? SSL_new(ctx) : NULL;
    int n = 0;
    if (ssl) {
        SSL_set_bio(ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
        SSL_set_connect_state(ssl);
        SSL_do_handshake(ssl);
        n = BIO_read(SSL_get_wbio(ssl), ret, HELLO_MAX);
    }
    SSL_free(ssl);
    SSL_CTX_free(ctx);
    return n > 0 ? (size_t)n : 0;
}

static void bend(struct attacker *a)
{
    char hello[HELLO_MAX];
    size_t n = make_hello(hello);
    for (int i = 0; i < 16 && n && !attacks_end; i++) {
        char bent[HELLO_MAX];
        memcpy(bent, hello, n);
        for (int k = 0; k < 1 + i % 4; k++)
            bent[5 + (size_t)rand_r(&a->seed) % (n - 5)] ^= (char)(1 << rand_r(&a->seed) % 8);
        must_end(a, "a bent hello", bent, n);
        must_end(a, "a hello cut short", hello, (size_t)rand_r(&a->seed) % n);
    }
}

/* ---- Slow handshakes --------------------------------------------------------------------------*/

static void be_slow(struct attacker *a)
{
    static char hello[HELLO_MAX];
    static size_t n, at;
    struct pollfd ready[SLOW_CONNS];
    http_wrap = NULL;
    if (!a->held) {
        a->held = calloc(SLOW_CONNS, sizeof *a->held);
        n = make_hello(hello);
        for (int i = 0; i < SLOW_CONNS; i++, a->requests++)
            http_open(&a->held[i], a->target->port);
    }
    for (int i = 0; i < SLOW_CONNS; i++) {
        if (a->held[i].fd >= 0 && at < n - 1)
            http_send(&a->held[i], hello + at, 1);
        ready[i] = (struct pollfd){.fd = a->held[i].fd, .events = POLLIN};
    }
    at++;
    poll(ready, SLOW_CONNS, 50);
}

static void be_slow_no_more(struct attacker *a)
{
    for (int i = 0; i < SLOW_CONNS; i++)
        http_close(&a->held[i]);
    free(a->held);
}

/* ---- Handshakes, and nothing behind them, or nothing good -------------------------------------*/

static void shake_hands(struct attacker *a, long newest)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
    SSL *ssl = ctx ? SSL_new(ctx) : NULL;
    struct http_conn c;
    http_wrap = NULL;
    a->requests++;
    if (ssl && http_open(&c, a->target->port)) {
        struct timeval wait = {HTTP_WAIT_MS / 1000, 0};
        setsockopt(c.fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
        if (newest) {
            SSL_set_security_level(ssl, 0);
            SSL_set_min_proto_version(ssl, TLS1_VERSION);
            SSL_set_max_proto_version(ssl, newest);
        }
        SSL_set_fd(ssl, c.fd);
        int done = SSL_connect(ssl);
        if (newest && done == 1)
            blame(a, "an old version of TLS", done);
        if (a->requests % 2)
            http_abort(&c);
        else
            http_close(&c);
    }
    SSL_free(ssl);
    SSL_CTX_free(ctx);
}

static void flood(struct attacker *a)
{
    for (int i = 0; i < 8 && !attacks_end; i++)
        shake_hands(a, 0);
    shake_hands(a, TLS1_1_VERSION);
}

static void ask_badly(struct attacker *a)
{
    static const struct {
        const char *request;
        int status;
    } all[] = {
        {"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99999999\r\n\r\n", 401},
        {"GET /mcp HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403},
        {"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer x\r\n"
         "Authorization: Bearer x\r\n\r\n",
         400},
        {"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\n"
         "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n",
         400},
        {"GET /../../etc/passwd HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 404},
    };
    http_wrap = pump_start;
    for (size_t i = 0; i < sizeof all / sizeof *all && !attacks_end; i++) {
        int got = send_raw(a, all[i].request, strlen(all[i].request), false, true);
        if (got != all[i].status)
            blame(a, all[i].request, got);
    }
}

/* ---- All of them ------------------------------------------------------------------------------*/

static struct attacker all[] = {
    {.name = "no TLS", .round = noise},
    {.name = "handshakes that are bent", .round = bend},
    {.name = "slow handshakes", .round = be_slow, .end = be_slow_no_more},
    {.name = "floods of handshakes", .round = flood},
    {.name = "bad requests", .round = ask_badly},
};

static bool make_certificate(struct server *s)
{
    return server_sh(s, "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes "
                        "-subj /CN=localhost -days 2 -keyout $DATA.key -out $DATA.pem;"
                        "chmod 600 $DATA.key") == 0;
}

int main(void)
{
    static char config[512];
    struct server s;
    http_wrap = pump_start; /* of the client that behaves well */
    if (!server_dir(&s) || !make_certificate(&s))
        return 1;
    snprintf(config, sizeof config, "{\"tls\": {\"certificate\": \"%s.pem\", \"key\": \"%s.key\"}}",
             s.data, s.data);
    return attack_server(&s, config, all, sizeof all / sizeof *all);
}
