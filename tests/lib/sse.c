/* tests/lib/sse.c - see sse.h. */
#include "tests/lib/sse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void take_in(struct http_conn *c, size_t n)
{
    c->n -= n;
    memmove(c->in, c->in + n, c->n);
}

/* ---- The head ------------------------------------------------------------------------------- */

static bool has_value(const char *head, const char *name, const char *value)
{
    struct http_reply reply = {.head = (char *)head};
    const char *found = http_header(&reply, name);
    return found && strncasecmp(found, value, strlen(value)) == 0;
}

static bool read_head(struct sse_stream *s, int64_t until_ms)
{
    char *end;
    while (!s->conn.n || !(end = memmem(s->conn.in, s->conn.n, "\r\n\r\n", 4)))
        if (http_receive(&s->conn, until_ms - now_ms()) <= 0)
            return false;
    *end = 0;
    struct http_reply reply = {.head = s->conn.in};
    const char *length = http_header(&reply, "Content-Length");
    s->left = length ? strtoul(length, NULL, 10) : 0;
    s->is_chunked = has_value(s->conn.in, "Transfer-Encoding", "chunked");
    s->is_stream = has_value(s->conn.in, "Content-Type", "text/event-stream");
    int minor;
    bool ok = sscanf(s->conn.in, "HTTP/1.%d %3d", &minor, &s->status) == 2;
    take_in(&s->conn, (size_t)(end - s->conn.in) + 4);
    return ok;
}

static bool ask(struct sse_stream *s, uint16_t port, const char *head, const char *body)
{
    *s = (struct sse_stream){0};
    if (!http_open(&s->conn, port))
        return false;
    return http_send(&s->conn, head, strlen(head)) && http_send(&s->conn, body, strlen(body)) &&
           read_head(s, now_ms() + HTTP_WAIT_MS);
}

static void add_header(char *head, size_t size, const char *name, const char *value)
{
    size_t n = strlen(head);
    if (value)
        snprintf(head + n, size - n, "%s: %s\r\n", name, value);
}

bool sse_post(struct sse_stream *s, uint16_t port, const char *session, const char *body)
{
    char head[1024];
    snprintf(head, sizeof head,
             "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
             "Accept: application/json, text/event-stream\r\nContent-Length: %zu\r\n",
             http_path, strlen(body));
    strcat(head, http_authorization());
    add_header(head, sizeof head, "Mcp-Session-Id", session);
    strcat(head, "\r\n");
    return ask(s, port, head, body);
}

bool sse_get(struct sse_stream *s, uint16_t port, const char *session, const char *last_id)
{
    char head[1024];
    snprintf(head, sizeof head,
             "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n", http_path);
    strcat(head, http_authorization());
    add_header(head, sizeof head, "Mcp-Session-Id", session);
    add_header(head, sizeof head, "Last-Event-ID", last_id);
    strcat(head, "\r\n");
    return ask(s, port, head, "");
}

/* ---- The body ------------------------------------------------------------------------------- */

static void add_text(struct sse_stream *s, size_t n)
{
    if (s->cap - s->n < n + 1) {
        s->cap = s->cap * 2 + n + 1;
        s->text = realloc(s->text, s->cap);
        if (!s->text)
            abort();
    }
    memcpy(s->text + s->n, s->conn.in, n);
    s->n += n;
    s->text[s->n] = 0;
    take_in(&s->conn, n);
}

/* The size line of the next chunk, with the end of the one before. 1, 0: not there yet, -1: none.
 */
static int begin_chunk(struct sse_stream *s)
{
    size_t skip = s->conn.n >= 2 && memcmp(s->conn.in, "\r\n", 2) == 0 ? 2 : 0;
    char *end = s->conn.n > skip ? memmem(s->conn.in + skip, s->conn.n - skip, "\r\n", 2) : NULL;
    char *after;
    if (!end)
        return 0;
    s->left = strtoul(s->conn.in + skip, &after, 16);
    if (after != end)
        return -1;
    take_in(&s->conn, (size_t)(end - s->conn.in) + 2);
    s->ended = s->left == 0;
    return 1;
}

/* Moves what has come into the text. False: garbage. */
static bool decode(struct sse_stream *s)
{
    while (s->conn.n && !s->ended) {
        if (s->left == 0 && s->is_chunked) {
            int got = begin_chunk(s);
            if (got <= 0)
                return got == 0;
            continue;
        }
        bool is_bounded = s->is_chunked || !s->is_stream;
        size_t n = is_bounded && s->left < s->conn.n ? s->left : s->conn.n;
        if (n == 0)
            return true;
        add_text(s, n);
        s->left -= is_bounded ? n : 0;
    }
    return true;
}

static void take_text(struct sse_stream *s, size_t n)
{
    s->n -= n;
    memmove(s->text, s->text + n, s->n + 1);
}

/* ---- Events --------------------------------------------------------------------------------- */

static void add_data(struct sse_event *event, const char *p, size_t n)
{
    size_t had = event->data ? strlen(event->data) + 1 : 0;
    event->data = realloc(event->data, had + n + 1);
    if (!event->data)
        abort();
    if (had)
        event->data[had - 1] = '\n';
    memcpy(event->data + had, p, n);
    event->data[had + n] = 0;
}

static bool take_line(struct sse_stream *s, const char *line, size_t n, struct sse_event *event)
{
    static const char *const ignored[] = {"event: message", "retry: "};
    s->n_comments += n > 0 && line[0] == ':';
    if (n == 0 || line[0] == ':')
        return true;
    if (n >= 6 && memcmp(line, "data: ", 6) == 0) {
        add_data(event, line + 6, n - 6);
        return true;
    }
    if (n >= 4 && memcmp(line, "id: ", 4) == 0 && n - 4 < sizeof event->id) {
        memcpy(event->id, line + 4, n - 4);
        event->id[n - 4] = 0;
        return true;
    }
    for (int i = 0; i < 2; i++)
        if (n >= strlen(ignored[i]) && memcmp(line, ignored[i], strlen(ignored[i])) == 0)
            return true;
    return false;
}

/* The first whole block of lines. 1: an event; 0: none is there; -1: garbage. */
static int take_block(struct sse_stream *s, struct sse_event *ret)
{
    char *end;
    while (s->n && (end = strstr(s->text, "\n\n"))) {
        struct sse_event event = {0};
        bool ok = true;
        for (char *line = s->text; ok && line < end + 1;) {
            char *line_end = strchr(line, '\n');
            ok = take_line(s, line, (size_t)(line_end - line), &event);
            line = line_end + 1;
        }
        take_text(s, (size_t)(end - s->text) + 2);
        if (!ok) {
            free(event.data);
            return -1;
        }
        if (event.id[0])
            memcpy(s->last_id, event.id, sizeof event.id);
        if (event.data) {
            *ret = event;
            return 1;
        }
    }
    return 0;
}

static int take_json(struct sse_stream *s, struct sse_event *ret)
{
    if (s->left > 0 || s->n == 0)
        return 0;
    *ret = (struct sse_event){.data = strdup(s->text)};
    take_text(s, s->n);
    s->ended = true;
    return 1;
}

enum sse_got sse_next(struct sse_stream *s, int64_t ms, struct sse_event *ret)
{
    int64_t until_ms = now_ms() + ms;
    for (;;) {
        if (!decode(s))
            return SSE_BROKEN;
        int got = s->is_stream ? take_block(s, ret) : take_json(s, ret);
        if (got != 0)
            return got > 0 ? SSE_EVENT : SSE_BROKEN;
        if (s->ended || (!s->is_stream && s->left == 0))
            return s->n ? SSE_BROKEN : SSE_END;
        int more = http_receive(&s->conn, until_ms - now_ms());
        if (more < 0)
            return SSE_TIMEOUT;
        if (more == 0)
            return !s->is_chunked && s->is_stream && s->n == 0 ? SSE_END : SSE_BROKEN;
    }
}

void sse_close(struct sse_stream *s)
{
    http_close(&s->conn);
    free(s->text);
    *s = (struct sse_stream){.conn.fd = -1};
}
