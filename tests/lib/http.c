/* tests/lib/http.c - see http.h. */
#include "tests/lib/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

_Thread_local int (*http_wrap)(int fd);

bool http_open(struct http_conn *c, uint16_t port)
{
    *c = (struct http_conn){.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int one = 1;
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(c->fd, (struct sockaddr *)&to, sizeof to) < 0) {
        http_close(c);
        return false;
    }
    if (http_wrap)
        c->fd = http_wrap(c->fd);
    return true;
}

void http_close(struct http_conn *c)
{
    if (c->fd >= 0)
        close(c->fd);
    free(c->in);
    *c = (struct http_conn){.fd = -1};
}

void http_abort(struct http_conn *c)
{
    struct linger now = {.l_onoff = 1, .l_linger = 0};
    if (c->fd >= 0)
        setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    http_close(c);
}

/* Takes what has arrived, waiting for it until the deadline. 1: more; 0: the end; -1: timeout. */
static int receive(struct http_conn *c, int64_t deadline)
{
    if (c->ended)
        return 0;
    struct pollfd p = {.fd = c->fd, .events = POLLIN};
    int64_t left = deadline - now_ms();
    if (left <= 0 || poll(&p, 1, (int)left) <= 0)
        return -1;
    if (c->cap - c->n < 65536) {
        c->cap = c->cap * 2 + 131072;
        c->in = realloc(c->in, c->cap);
        if (!c->in)
            abort();
    }
    ssize_t n = recv(c->fd, c->in + c->n, c->cap - c->n, 0);
    c->ended = n <= 0;
    c->n += n > 0 ? (size_t)n : 0;
    return n > 0;
}

int http_receive(struct http_conn *c, int64_t ms)
{
    return receive(c, now_ms() + ms);
}

bool http_send(struct http_conn *c, const void *p, size_t n)
{
    const char *at = p;
    while (n > 0) {
        ssize_t sent = send(c->fd, at, n, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent > 0) {
            at += sent;
            n -= (size_t)sent;
        } else if (sent < 0 && errno == EAGAIN) {
            struct pollfd f = {.fd = c->fd, .events = POLLOUT | POLLIN};
            if (poll(&f, 1, HTTP_WAIT_MS) <= 0)
                return false;
            if ((f.revents & POLLIN) && receive(c, now_ms() + HTTP_WAIT_MS) == 0)
                return false;
        } else {
            return false;
        }
    }
    return true;
}

bool http_send_bytes(struct http_conn *c, const void *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!http_send(c, (const char *)p + i, 1))
            return false;
        sched_yield(); /* lets the server see the byte alone, most of the time */
    }
    return true;
}

static char *copy(const char *p, size_t n)
{
    char *s = malloc(n + 1);
    if (!s)
        abort();
    memcpy(s, p, n);
    s[n] = 0;
    return s;
}

static void take(struct http_conn *c, size_t n)
{
    c->n -= n;
    memmove(c->in, c->in + n, c->n);
}

static enum http_got ended_or_late(int got)
{
    return got < 0 ? HTTP_TIMEOUT : HTTP_END;
}

static enum http_got read_head(struct http_conn *c, int64_t deadline, struct http_reply *r)
{
    char *end;
    while (!c->n || !(end = memmem(c->in, c->n, "\r\n\r\n", 4))) {
        int got = receive(c, deadline);
        if (got <= 0)
            return ended_or_late(got);
    }
    size_t n = (size_t)(end - c->in) + 2;
    r->head = copy(c->in, n);
    take(c, n + 2);
    int minor;
    if (sscanf(r->head, "HTTP/1.%d %3d", &minor, &r->status) != 2)
        return HTTP_GARBAGE;
    return HTTP_REPLY;
}

static enum http_got read_n(struct http_conn *c, int64_t deadline, size_t n, struct http_reply *r)
{
    while (c->n < n) {
        int got = receive(c, deadline);
        if (got <= 0)
            return ended_or_late(got);
    }
    r->body = realloc(r->body, r->body_n + n + 1);
    if (!r->body)
        abort();
    memcpy(r->body + r->body_n, c->in, n);
    r->body_n += n;
    r->body[r->body_n] = 0;
    take(c, n);
    return HTTP_REPLY;
}

static enum http_got read_chunks(struct http_conn *c, int64_t deadline, struct http_reply *r)
{
    for (;;) {
        char *line;
        while (!c->n || !(line = memmem(c->in, c->n, "\r\n", 2))) {
            int got = receive(c, deadline);
            if (got <= 0)
                return ended_or_late(got);
        }
        size_t n = strtoul(c->in, NULL, 16);
        take(c, (size_t)(line - c->in) + 2);
        enum http_got got = read_n(c, deadline, n, r);
        if (got != HTTP_REPLY)
            return got;
        size_t before = r->body_n;
        got = read_n(c, deadline, 2, r); /* the CRLF behind the chunk */
        if (got != HTTP_REPLY || n == 0) {
            r->body_n = before;
            r->body[before] = 0;
            return got;
        }
        r->body_n = before;
    }
}

static enum http_got read_to_end(struct http_conn *c, int64_t deadline, struct http_reply *r)
{
    int got;
    while ((got = receive(c, deadline)) > 0)
        ;
    return got < 0 ? HTTP_TIMEOUT : read_n(c, deadline, c->n, r);
}

static enum http_got read_body(struct http_conn *c, int64_t deadline, bool head_only,
                               struct http_reply *r)
{
    const char *length = http_header(r, "Content-Length");
    if (head_only || r->status < 200 || r->status == 204 || r->status == 304)
        return read_n(c, deadline, 0, r);
    if (length)
        return read_n(c, deadline, strtoul(length, NULL, 10), r);
    if (http_header(r, "Transfer-Encoding"))
        return read_chunks(c, deadline, r);
    r->closes = true;
    return read_to_end(c, deadline, r);
}

enum http_got http_read(struct http_conn *c, bool head_only, struct http_reply *ret)
{
    struct http_reply r = {0};
    int64_t deadline = now_ms() + HTTP_WAIT_MS;
    enum http_got got = read_head(c, deadline, &r);
    if (got == HTTP_REPLY) {
        const char *connection = http_header(&r, "Connection");
        r.closes = connection && strcasecmp(connection, "close") == 0;
        got = read_body(c, deadline, head_only, &r);
    }
    if (got == HTTP_REPLY)
        *ret = r;
    else
        http_free(&r);
    return got;
}

void http_free(struct http_reply *r)
{
    free(r->head);
    free(r->body);
    *r = (struct http_reply){0};
}

bool http_wait_end(struct http_conn *c)
{
    size_t before = c->n;
    int got = receive(c, now_ms() + HTTP_WAIT_MS);
    return got == 0 && c->n == before;
}

const char *http_header(const struct http_reply *r, const char *name)
{
    static _Thread_local char value[8192];
    size_t n = strlen(name);
    const char *found = NULL;
    for (const char *line = strstr(r->head, "\r\n"); line; line = strstr(line + 2, "\r\n")) {
        if (strncasecmp(line + 2, name, n) == 0 && line[2 + n] == ':')
            found = line + 3 + n;
    }
    if (!found)
        return NULL;
    found += strspn(found, " \t");
    size_t len = strcspn(found, "\r");
    while (len > 0 && (found[len - 1] == ' ' || found[len - 1] == '\t'))
        len--;
    snprintf(value, sizeof value, "%.*s", (int)len, found);
    return value;
}

_Thread_local const char *http_path = "/mcp";
_Thread_local const char *http_token;

const char *http_authorization(void)
{
    static _Thread_local char header[512];
    header[0] = 0;
    if (http_token)
        snprintf(header, sizeof header, "Authorization: Bearer %s\r\n", http_token);
    return header;
}

enum http_got http_post(struct http_conn *c, const char *session, const char *version,
                        const char *body, struct http_reply *ret)
{
    char head[1024];
    int n = snprintf(head, sizeof head,
                     "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                     "Accept: application/json, text/event-stream\r\nContent-Length: %zu\r\n"
                     "%s%s%s%s%s%s%s\r\n",
                     http_path, strlen(body), http_authorization(),
                     session ? "Mcp-Session-Id: " : "", session ? session : "",
                     session ? "\r\n" : "", version ? "MCP-Protocol-Version: " : "",
                     version ? version : "", version ? "\r\n" : "");
    char *all = malloc((size_t)n + strlen(body) + 1);
    if (!all)
        abort();
    memcpy(all, head, (size_t)n);
    strcpy(all + n, body);
    bool sent = http_send(c, all, strlen(all));
    free(all);
    enum http_got got = http_read(c, false, ret);
    return sent || got == HTTP_REPLY ? got : HTTP_END;
}

bool http_handshake(struct http_conn *c, const char *version, char ret_session[128])
{
    char body[512];
    snprintf(body, sizeof body,
             "{\"jsonrpc\":\"2.0\",\"id\":\"init\",\"method\":\"initialize\",\"params\":"
             "{\"protocolVersion\":\"%s\",\"capabilities\":{},"
             "\"clientInfo\":{\"name\":\"test\",\"version\":\"1\"}}}",
             version);
    struct http_reply r;
    if (http_post(c, NULL, NULL, body, &r) != HTTP_REPLY)
        return false;
    const char *session = http_header(&r, "Mcp-Session-Id");
    char id[128];
    snprintf(id, sizeof id, "%s", session ? session : "");
    bool ok = r.status == 200;
    http_free(&r);
    if (!ok || http_post(c, id[0] ? id : NULL, version,
                         "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}",
                         &r) != HTTP_REPLY)
        return false;
    ok = r.status == 202;
    http_free(&r);
    if (ok)
        strcpy(ret_session, id);
    return ok;
}
