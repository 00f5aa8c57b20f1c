/* net/event_stream.c - see event_stream.h. */
#include "net/event_stream.h"

#include "base/limits.h"

#include <string.h>

#define LITTLE_BYTES (STREAM_UNSENT_BYTES / 4)

size_t event_stream_unsent(const struct event_stream *s)
{
    return s->bytes.n - s->taken;
}

bool event_stream_is_broken(const struct event_stream *s)
{
    return s->bytes.failed;
}

/* ---- Framing ----------------------------------------------------------------------------------*/

/* What was taken does not grow the buffer for ever. */
static void make_room(struct event_stream *s, size_t bytes)
{
    if (s->taken && s->taken >= s->bytes.n / 2) {
        memmove(s->bytes.p, s->bytes.p + s->taken, s->bytes.n - s->taken);
        s->bytes.n -= s->taken;
        s->taken = 0;
    }
    buf_reserve(&s->bytes, bytes);
}

static void open_chunk(struct event_stream *s, size_t bytes)
{
    make_room(s, bytes + 32);
    if (s->is_chunked)
        buf_printf(&s->bytes, "%zx\r\n", bytes);
}

static void close_chunk(struct event_stream *s)
{
    if (s->is_chunked)
        buf_add_lit(&s->bytes, "\r\n");
}

static void blank_out(char *p, size_t n, char c)
{
    for (char *end = p + n; (p = memchr(p, c, (size_t)(end - p)));)
        *p++ = ' ';
}

static void add_line(struct event_stream *s, struct str text)
{
    size_t from = s->bytes.n;
    buf_add_str(&s->bytes, text);
    if (s->bytes.failed || !text.n)
        return;
    blank_out(s->bytes.p + from, text.n, '\n');
    blank_out(s->bytes.p + from, text.n, '\r');
}

void event_stream_add_head(struct event_stream *s, struct str head)
{
    buf_add_str(&s->bytes, head);
}

bool event_stream_add(struct event_stream *s, struct str id, struct str message)
{
    size_t id_bytes = id.p ? strlen("id: \n") + id.n : 0;
    open_chunk(s, id_bytes + strlen("data: \n\n") + message.n);
    if (id.p) {
        buf_add_lit(&s->bytes, "id: ");
        add_line(s, id);
        buf_add_char(&s->bytes, '\n');
    }
    buf_add_lit(&s->bytes, "data: ");
    add_line(s, message);
    buf_add_lit(&s->bytes, "\n\n");
    close_chunk(s);
    s->is_full |= event_stream_unsent(s) >= STREAM_UNSENT_BYTES;
    return !s->is_full && !s->bytes.failed;
}

void event_stream_add_comment(struct event_stream *s)
{
    static const struct str comment = STR_INIT(":\n\n");
    open_chunk(s, comment.n);
    buf_add_str(&s->bytes, comment);
    close_chunk(s);
}

void event_stream_add_end(struct event_stream *s)
{
    if (s->is_chunked)
        buf_add_lit(&s->bytes, "0\r\n\r\n");
}

/* ---- Taking -----------------------------------------------------------------------------------*/

struct str event_stream_next(const struct event_stream *s, size_t most)
{
    size_t n = event_stream_unsent(s);
    return (struct str){s->bytes.p + s->taken, (uint32_t)(n < most ? n : most)};
}

void event_stream_take(struct event_stream *s, size_t n)
{
    s->taken += n;
    if (s->taken < s->bytes.n)
        return;
    buf_done(&s->bytes);
    s->taken = 0;
}

bool event_stream_drained(struct event_stream *s)
{
    if (!s->is_full || event_stream_unsent(s) > LITTLE_BYTES)
        return false;
    s->is_full = false;
    return true;
}

void event_stream_done(struct event_stream *s)
{
    buf_done(&s->bytes);
    s->taken = 0;
}
