/* tests/multi/test_attack.c - a server under attack serves others as before, and nothing of the
 * attack stays (issue: Shown by 4).
 */
#include "tests/multi/attack_rig.h"

#define ATTACK_HOST "Host: 127.0.0.1\r\n"
#define ATTACK_POST                                                           \
    "POST /mcp HTTP/1.1\r\n" ATTACK_HOST "Content-Type: application/json\r\n" \
    "Accept: application/json, text/event-stream\r\n"                         \
    "%s"
#define ATTACK_PING     "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"
#define ATTACK_SMUGGLED "GET /smuggled HTTP/1.1\r\n" ATTACK_HOST "\r\n"

/* The text may hold one %s: an Authorization header with the good token. */
static void expect(struct attacker *a, const char *text, int status)
{
    char bytes[2048], header[128];
    snprintf(header, sizeof header, "Authorization: Bearer %s\r\n", a->target->token);
    const char *at = strstr(text, "%s");
    int n = at ? snprintf(bytes, sizeof bytes, "%.*s%s%s", (int)(at - text), text, header, at + 2)
               : snprintf(bytes, sizeof bytes, "%s", text);
    int got = send_raw(a, bytes, (size_t)n, false, true);
    if (got != status)
        blame(a, text, got);
}

/* ---- Smuggling --------------------------------------------------------------------------------*/

static void smuggle(struct attacker *a)
{
    static const char *const all[] = {
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" ATTACK_SMUGGLED,
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" ATTACK_SMUGGLED,
        "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n" ATTACK_SMUGGLED,
        "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" ATTACK_SMUGGLED,
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n0\r\n\r\n" ATTACK_SMUGGLED,
        "Transfer-Encoding : chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" ATTACK_SMUGGLED,
        "X: y\r\n Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n" ATTACK_SMUGGLED,
        "Content-Length: 0\r\nContent-Length: 44\r\n\r\n" ATTACK_SMUGGLED,
        "Content-Length: 0, 0\r\n\r\n" ATTACK_SMUGGLED,
        "Content-Length: +5\r\n\r\n" ATTACK_SMUGGLED,
        "Content-Length: 0x5\r\n\r\n" ATTACK_SMUGGLED,
        "Content-Length: -1\r\n\r\n" ATTACK_SMUGGLED,
        "X: y\nContent-Length: 5\r\n\r\n" ATTACK_SMUGGLED,
        "X: y\rContent-Length: 5\r\n\r\n" ATTACK_SMUGGLED,
    };
    for (size_t i = 0; i < sizeof all / sizeof *all && !attacks_end; i++) {
        char text[1024];
        snprintf(text, sizeof text, ATTACK_POST "%s", "%s", all[i]);
        expect(a, text, 400);
    }
}

/* ---- Slow clients -----------------------------------------------------------------------------*/

#define SLOW_CONNS 100

/* Half of them never end a head, half (with a good token) a body. */
static void open_slow(struct attacker *a, int i)
{
    struct http_conn *c = &a->held[i];
    char head[512];
    int n = snprintf(head, sizeof head, "POST /mcp HTTP/1.1\r\n" ATTACK_HOST "X-Slow: ");
    if (i % 2)
        n = snprintf(head, sizeof head,
                     "POST /mcp HTTP/1.1\r\n" ATTACK_HOST "Content-Type: application/json\r\n"
                     "Authorization: Bearer %s\r\nContent-Length: 100000\r\n\r\n",
                     a->target->token);
    http_close(c);
    a->requests++;
    if (http_open(c, a->target->port))
        http_send(c, head, (size_t)n);
}

static void be_slow(struct attacker *a)
{
    struct pollfd ready[SLOW_CONNS];
    bool is_new = !a->held;
    if (is_new)
        a->held = calloc(SLOW_CONNS, sizeof *a->held);
    for (int i = 0; i < SLOW_CONNS; i++) {
        if (is_new)
            a->held[i].fd = -1;
        if (a->held[i].fd < 0)
            open_slow(a, i);
        else
            http_send(&a->held[i], "x", 1);
        ready[i] = (struct pollfd){.fd = a->held[i].fd, .events = POLLIN};
    }
    poll(ready, SLOW_CONNS, 50); /* the server has had enough of these */
    for (int i = 0; i < SLOW_CONNS; i++)
        if (ready[i].revents)
            http_close(&a->held[i]);
}

static void be_slow_no_more(struct attacker *a)
{
    for (int i = 0; i < SLOW_CONNS; i++)
        http_close(&a->held[i]);
    free(a->held);
}

/* ---- Too much ---------------------------------------------------------------------------------*/

static void send_huge_head(struct attacker *a)
{
    static char head[40000];
    size_t n = (size_t)sprintf(head, "POST /mcp HTTP/1.1\r\n" ATTACK_HOST "X-Huge: ");
    memset(head + n, 'x', sizeof head - n);
    int status = send_raw(a, head, sizeof head, true, false);
    if (status == 200 || status < 0)
        blame(a, "a huge head", status);
}

static void send_deep_json(struct attacker *a)
{
    enum { DEPTH = 50000 };
    static char text[DEPTH + 512];
    size_t n =
        (size_t)snprintf(text, sizeof text,
                         "POST /mcp HTTP/1.1\r\n" ATTACK_HOST "Content-Type: application/json\r\n"
                         "Authorization: Bearer %s\r\nContent-Length: %d\r\n\r\n",
                         a->target->token, DEPTH);
    memset(text + n, '[', DEPTH);
    int status = send_raw(a, text, n + DEPTH, false, false);
    if (status != 400)
        blame(a, "deep JSON", status);
}

static void oversize(struct attacker *a)
{
    send_huge_head(a);
    send_deep_json(a);
    expect(a, ATTACK_POST "Content-Length: 99999999999\r\n\r\n{", 413);
    expect(a, ATTACK_POST "Content-Length: 99999999999999999999999\r\n\r\n{", 413);
    expect(a, ATTACK_POST "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nx", 400);
    expect(a, ATTACK_POST "Transfer-Encoding: chunked\r\n\r\n7fffffff\r\nx", 413);
    expect(a, "POST /mcp HTTP/1.1\r\n" ATTACK_HOST "Content-Length: 99999999999\r\n\r\n{", 401);
}

/* ---- Floods of connections --------------------------------------------------------------------*/

static void flood(struct attacker *a)
{
    enum { AT_ONCE = 64 };
    struct http_conn c[AT_ONCE];
    for (int i = 0; i < AT_ONCE; i++) {
        a->requests++;
        if (http_open(&c[i], a->target->port) && i % 4 == 1)
            http_send(&c[i], "POST /mcp", 9);
    }
    for (int i = 0; i < AT_ONCE; i++)
        if (i % 2)
            http_abort(&c[i]);
        else
            http_close(&c[i]);
}

/* Requests whose clients are gone before the answer, or before the end of the body. */
static void abandon(struct attacker *a)
{
    char text[1024];
    for (int i = 0; i < 16 && !attacks_end; i++) {
        struct http_conn c;
        int n = snprintf(text, sizeof text,
                         "POST /mcp HTTP/1.1\r\n" ATTACK_HOST "Content-Type: application/json\r\n"
                         "Authorization: Bearer %s\r\nContent-Length: %zu\r\n\r\n%s",
                         a->target->token, sizeof ATTACK_PING - 1, ATTACK_PING);
        a->requests++;
        if (!http_open(&c, a->target->port))
            continue;
        http_send(&c, text, (size_t)n - (size_t)(i % 3) * 9);
        http_abort(&c);
    }
}

/* ---- What is no HTTP --------------------------------------------------------------------------*/

static void garbage(struct attacker *a)
{
    static const char hello[] = "\x16\x03\x01\x00\x75\x01\x00\x00\x71\x03\x03"
                                "a random that is too short";
    static const char *const lines[] = {
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "GET /mcp HTTP/9.9\r\n\r\n",
        "GET /mcp\r\n\r\n",
        "CONNECT 127.0.0.1:22 HTTP/1.1\r\n" ATTACK_HOST "\r\n",
        "TRACE /mcp HTTP/1.1\r\n" ATTACK_HOST "\r\n",
        "GET /mcp HTTP/1.1\r\n" ATTACK_HOST "Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
        "GET http://127.0.0.1:22/ HTTP/1.1\r\n" ATTACK_HOST "\r\n",
        "\r\n\r\n\r\n\r\n",
        "{\"jsonrpc\":\"2.0\"}\n",
    };
    char noise[3000];
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (char)rand_r(&a->seed);
    int of_noise = send_raw(a, noise, sizeof noise, true, false);
    int of_hello = send_raw(a, hello, sizeof hello - 1, true, false);
    if (of_noise == 200 || of_noise < 0 || of_hello == 200 || of_hello < 0)
        blame(a, "noise", of_noise < 0 ? of_noise : of_hello);
    for (size_t i = 0; i < sizeof lines / sizeof *lines && !attacks_end; i++) {
        int status = send_raw(a, lines[i], strlen(lines[i]), true, false);
        if ((status >= 200 && status < 300) || status < 0)
            blame(a, lines[i], status);
    }
}

/* ---- Where nothing is -------------------------------------------------------------------------*/

static void traverse(struct attacker *a)
{
    static const char *const paths[] = {
        "/../../etc/passwd",
        "/mcp/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/..%2f..%2fetc/passwd",
        "/mcp/..;/etc/passwd",
        "/mcp%00/x",
        "//etc/passwd",
        "/mcp/operations/../../data.mdb",
        "/secret",
        "/.well-known/../secret",
        "/.well-known/oauth-protected-resource/../../secret",
        "/mcp\\..\\secret",
    };
    for (size_t i = 0; i < sizeof paths / sizeof *paths && !attacks_end; i++) {
        char text[512];
        int n = snprintf(text, sizeof text,
                         "GET %s HTTP/1.1\r\n" ATTACK_HOST "Authorization: Bearer %s\r\n\r\n",
                         paths[i], a->target->token);
        int status = send_raw(a, text, (size_t)n, true, false);
        if (status > 0 && status < 400)
            blame(a, paths[i], status);
    }
}

/* ---- What was made up -------------------------------------------------------------------------*/

static void expect_with(struct attacker *a, const char *token, const char *session, int status)
{
    char text[1024];
    int n = snprintf(text, sizeof text,
                     "POST /mcp HTTP/1.1\r\n" ATTACK_HOST "Content-Type: application/json\r\n"
                     "Connection: close\r\nAuthorization: Bearer %s\r\nMcp-Session-Id: %s\r\n"
                     "Content-Length: %zu\r\n\r\n%s",
                     token, session, sizeof ATTACK_PING - 1, ATTACK_PING);
    int got = send_raw(a, text, (size_t)n, false, true);
    if (got != status)
        blame(a, session, got);
}

static void change_one(struct attacker *a, const char *text, char ret[128])
{
    snprintf(ret, 128, "%s", text);
    size_t i = strlen(ret) - 1 - (size_t)rand_r(&a->seed) % 20;
    ret[i] = ret[i] == 'A' ? 'B' : 'A';
}

static void forge(struct attacker *a)
{
    const struct target *t = a->target;
    char made_up[128];
    expect_with(a, t->token, t->session, 404); /* S-13: another user's */
    change_one(a, t->session, made_up);
    expect_with(a, t->token, made_up, 404);
    expect_with(a, t->token, "../../data.mdb", 404);
    change_one(a, t->other_token, made_up);
    expect_with(a, made_up, t->session, 401);
    expect_with(a, "tenon_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", t->session, 401);
    expect_with(a, "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ.", t->session, 401);
    expect(a,
           "GET /mcp HTTP/1.1\r\n" ATTACK_HOST "Accept: text/event-stream\r\n%s"
           "Mcp-Session-Id: x\r\nLast-Event-ID: 1.2.3\r\n\r\n",
           404);
    expect(a, "DELETE /mcp HTTP/1.1\r\n" ATTACK_HOST "%sMcp-Session-Id: x\r\n\r\n", 405);
    expect(a, "POST /mcp HTTP/1.1\r\n" ATTACK_HOST "%sAuthorization: Bearer x\r\n\r\n", 400);
    expect(a, "POST /mcp?access_token=x HTTP/1.1\r\n" ATTACK_HOST "\r\n", 401);
}

/* ---- All of them ------------------------------------------------------------------------------*/

static struct attacker all[] = {
    {.name = "smuggling", .round = smuggle},
    {.name = "slow clients", .round = be_slow, .end = be_slow_no_more},
    {.name = "oversize", .round = oversize},
    {.name = "floods", .round = flood},
    {.name = "clients that leave", .round = abandon},
    {.name = "garbage", .round = garbage},
    {.name = "path traversal", .round = traverse},
    {.name = "forged ids", .round = forge},
};
int main(void)
{
    struct server s;
    return server_dir(&s) ? attack_server(&s, NULL, all, sizeof all / sizeof *all) : 1;
}
