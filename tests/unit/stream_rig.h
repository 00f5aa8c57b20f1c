/* tests/unit/stream_rig.h - net_rig.h with a core that opens streams.
 *
 * A GET listens: its stream begins with an event when it has a Last-Event-ID, its text as the id.
 * Words of a POST, besides those of net_rig.h:
 *   "stream N"   N events {"n":1}.. with ids s.1.., in one turn; the stream ends, then the call
 *   "early N"    the same, but the call is finished before the first event
 *   "flood N"    N events of 1000 bytes, as many at a time as there is room for
 *   "huge N"     one event of N bytes
 *   "hold"       one event; the stream stays open, its call unfinished
 *   "finish"     finishes the calls of such
 *   "end"        ends all streams, and what calls are left then
 *   "tell X"     X as an event to all that are open
 *   "last"       once a stream is lost, what "stream 1" does
 *   "push X"     X to the sink of stdio that belongs to no call
 *   "open"       how many streams are open
 *   "lost"       how many were lost
 *   "orphans"    how many held calls are orphaned
 *   "unsent"     how many events of floods have not found room
 *   "taken"      of how many the client has all that was sent (the one of stdio counts)
 */
#ifndef TENON_TEST_STREAM_RIG_H
#define TENON_TEST_STREAM_RIG_H

#include "core/sink.h"
#include "net_rig.h"

#define FLOOD_BYTES 1000

struct rig_stream {
    struct sink *sink;
    struct call *call; /* unfinished, or NULL */
    long n_left, n_sent;
    struct rig_stream *next;
};

static struct rig_stream *rig_streams;
static long rig_n_lost;
static struct call *rig_when_lost;

/* ---- In the server ----------------------------------------------------------------------------*/

static void rig_forget(struct rig_stream *s)
{
    struct rig_stream **at = &rig_streams;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    free(s);
}

static void rig_finish_stream(struct rig_stream *s)
{
    struct call *call = s->call;
    s->call = NULL;
    if (call) {
        call->core->n_held--;
        call->finish(call);
    }
}

static void rig_numbers(struct call *call, long n, bool early);

static void rig_on_lost(struct sink *sink)
{
    struct rig_stream *s = sink->ctx;
    struct call *waiting = rig_when_lost;
    rig_n_lost++;
    s->sink = NULL;
    if (!s->call)
        rig_forget(s);
    rig_when_lost = NULL;
    if (waiting)
        rig_numbers(waiting, 1, false);
}

static bool rig_event(struct rig_stream *s, struct str message)
{
    char id[32];
    snprintf(id, sizeof id, "s.%ld", ++s->n_sent);
    return sink_send(s->sink, str_of(id), message);
}

static void rig_on_ready(struct sink *sink)
{
    static char text[FLOOD_BYTES + 1];
    struct rig_stream *s = sink->ctx;
    snprintf(text, sizeof text, "{\"x\":\"%0*d\"}", FLOOD_BYTES - 8, 0);
    bool more = true;
    while (more && s->n_left) {
        s->n_left--;
        more = rig_event(s, str_of(text));
    }
    if (!s->n_left) {
        sink_end(sink);
        s->sink = NULL;
        rig_finish_stream(s);
        rig_forget(s);
    }
}

static struct rig_stream *rig_open(struct call *call)
{
    struct sink *sink = call->open_sink ? call->open_sink(call) : NULL;
    if (!sink) {
        rig_answer(call, 503, STR("\"no sink\""));
        return NULL;
    }
    struct rig_stream *s = calloc(1, sizeof *s);
    *s = (struct rig_stream){.sink = sink, .call = call, .next = rig_streams};
    rig_streams = s;
    sink->ctx = s;
    sink->lost = rig_on_lost;
    sink->ready = rig_on_ready;
    return s;
}

static void rig_listen(struct call *call)
{
    struct rig_stream *s = rig_open(call);
    if (!s)
        return;
    if (call->in.last_event.p)
        sink_send(s->sink, call->in.last_event, STR("{\"resumed\":true}"));
    rig_finish_stream(s);
}

static void rig_numbers(struct call *call, long n, bool early)
{
    struct rig_stream *s = rig_open(call);
    if (!s)
        return;
    if (early)
        rig_finish_stream(s);
    for (long i = 1; i <= n; i++) {
        char text[32];
        snprintf(text, sizeof text, "{\"n\":%ld}", i);
        rig_event(s, str_of(text));
    }
    sink_end(s->sink);
    s->sink = NULL;
    rig_finish_stream(s);
    rig_forget(s);
}

static void rig_flood(struct call *call, long n)
{
    struct rig_stream *s = rig_open(call);
    if (!s)
        return;
    s->n_left = n;
    rig_on_ready(s->sink);
}

static void rig_huge(struct call *call, long n)
{
    struct rig_stream *s = rig_open(call);
    char *text = malloc((size_t)n + 1);
    snprintf(text, (size_t)n + 1, "\"%0*d\"", (int)n - 2, 0);
    rig_event(s, str_of(text));
    free(text);
    sink_end(s->sink);
    s->sink = NULL;
    rig_finish_stream(s);
    rig_forget(s);
}

static void rig_hold(struct call *call)
{
    struct rig_stream *s = rig_open(call);
    if (s)
        rig_event(s, STR("{\"held\":true}"));
}

static void rig_end_all(void)
{
    while (rig_streams) {
        struct rig_stream *s = rig_streams;
        if (s->sink)
            sink_end(s->sink);
        rig_finish_stream(s);
        rig_forget(s);
    }
}

static void rig_tell(struct str message)
{
    for (struct rig_stream *s = rig_streams; s; s = s->next)
        if (s->sink)
            rig_event(s, message);
}

static bool rig_is_taken(struct sink *sink)
{
    return sink && sink->ops->is_taken(sink);
}

static long rig_count(struct core *core, struct str what)
{
    long open = 0, orphans = 0, unsent = 0, taken = rig_is_taken(core->push);
    for (struct rig_stream *s = rig_streams; s; s = s->next) {
        open += s->sink != NULL;
        taken += rig_is_taken(s->sink);
        orphans += s->call && s->call->orphaned;
        unsent += s->n_left;
    }
    return str_eq(what, STR("\"open\""))      ? open
           : str_eq(what, STR("\"lost\""))    ? rig_n_lost
           : str_eq(what, STR("\"taken\""))   ? taken
           : str_eq(what, STR("\"orphans\"")) ? orphans
                                              : unsent;
}

static long rig_number_of(struct str body)
{
    const char *blank = memchr(body.p, ' ', body.n);
    return blank ? strtol(blank, NULL, 10) : 0;
}

static bool rig_stream_words(struct core *core, struct call *call)
{
    struct str body = call->in.body;
    if (call->in.verb == CALL_GET) {
        rig_listen(call);
    } else if (str_starts_with(body, STR("\"stream ")) || str_starts_with(body, STR("\"early "))) {
        rig_numbers(call, rig_number_of(body), body.p[1] == 'e');
    } else if (str_starts_with(body, STR("\"flood "))) {
        rig_flood(call, rig_number_of(body));
    } else if (str_starts_with(body, STR("\"huge "))) {
        rig_huge(call, rig_number_of(body));
    } else if (str_eq(body, STR("\"hold\""))) {
        rig_hold(call);
    } else if (str_eq(body, STR("\"last\""))) {
        rig_when_lost = call;
    } else if (str_eq(body, STR("\"finish\""))) {
        for (struct rig_stream *s = rig_streams; s; s = s->next)
            rig_finish_stream(s);
        rig_answer(call, 200, body);
    } else if (str_eq(body, STR("\"end\""))) {
        rig_end_all();
        rig_answer(call, 200, body);
    } else if (str_starts_with(body, STR("\"tell "))) {
        rig_tell((struct str){body.p + 6, body.n - 7});
        rig_answer(call, 200, STR("\"told\""));
    } else if (str_starts_with(body, STR("\"push "))) {
        if (core->push)
            sink_send(core->push, STR_NONE, (struct str){body.p + 6, body.n - 7});
        rig_answer(call, 200, STR("\"pushed\""));
    } else if (str_eq(body, STR("\"open\"")) || str_eq(body, STR("\"lost\"")) ||
               str_eq(body, STR("\"orphans\"")) || str_eq(body, STR("\"taken\"")) ||
               str_eq(body, STR("\"unsent\""))) {
        rig_number(call, rig_count(core, body));
    } else {
        return false;
    }
    return true;
}

/* ---- The client: a strict reader of streams ---------------------------------------------------*/

struct reader {
    int fd;
    bool is_chunked, is_over; /* the last chunk has come, or the end of the connection */
    size_t chunk_left;
    struct answer head;
    char *in; /* of malloc: read already */
    size_t in_n, in_at;
    bool is_unbuffered; /* so that nothing behind the stream is taken */
};

struct event {
    bool is_comment;
    char id[64];
    char *data; /* of malloc; NULL: the stream is over */
};

#define READER_BYTES 16384

/* A byte as it comes, or -1 at the end. */
static int reader_raw(struct reader *r)
{
    if (r->in_at < r->in_n)
        return (unsigned char)r->in[r->in_at++];
    struct pollfd p = {.fd = r->fd, .events = POLLIN};
    if (!r->in)
        r->in = malloc(READER_BYTES);
    assert_int_not_equal(poll(&p, 1, RIG_WAIT_MS), 0);
    ssize_t n = recv(r->fd, r->in, r->is_unbuffered ? 1 : READER_BYTES, 0);
    r->in_n = n > 0 ? (size_t)n : 0;
    r->in_at = 0;
    return n > 0 ? (unsigned char)r->in[r->in_at++] : -1;
}

/* The size of the next chunk: hexadecimal digits and nothing else. */
static void reader_chunk(struct reader *r)
{
    char line[32];
    size_t n = 0;
    int c;
    while ((c = reader_raw(r)) >= 0 && c != '\n' && n < sizeof line - 1)
        line[n++] = (char)c;
    if (c < 0) {
        r->is_over = true;
        return;
    }
    assert_true(n >= 2 && line[n - 1] == '\r');
    line[n - 1] = 0;
    assert_int_equal(strspn(line, "0123456789abcdef"), n - 1);
    r->chunk_left = strtoul(line, NULL, 16);
    if (r->chunk_left)
        return;
    r->is_over = true;
    assert_int_equal(reader_raw(r), '\r');
    assert_int_equal(reader_raw(r), '\n');
}

/* A byte of the stream, or -1 at its end. */
static int reader_byte(struct reader *r)
{
    if (r->is_chunked && !r->is_over && !r->chunk_left)
        reader_chunk(r);
    if (r->is_over)
        return -1;
    int c = reader_raw(r);
    r->is_over = c < 0;
    if (r->is_chunked && c >= 0 && !--r->chunk_left) {
        assert_int_equal(reader_raw(r), '\r');
        assert_int_equal(reader_raw(r), '\n');
    }
    return c;
}

/* A line without its LF; false at the end, where no half line may be. */
static bool reader_line(struct reader *r, struct buf *line)
{
    int c;
    buf_clear(line);
    while ((c = reader_byte(r)) >= 0 && c != '\n') {
        assert_int_not_equal(c, '\r');
        buf_add_char(line, (char)c);
    }
    if (c < 0)
        assert_int_equal(line->n, 0);
    buf_add_char(line, 0);
    return c >= 0;
}

/* The next event or comment. An event has at most one id, then one line of data. */
UNUSED static struct event reader_event(struct reader *r)
{
    struct event e = {0};
    struct buf line = {0};
    while (reader_line(r, &line) && line.p[0]) {
        if (line.p[0] == ':') {
            e.is_comment = true;
        } else if (!strncmp(line.p, "id: ", 4)) {
            assert_true(!e.id[0] && !e.data);
            snprintf(e.id, sizeof e.id, "%s", line.p + 4);
        } else {
            assert_memory_equal(line.p, "data: ", 6);
            assert_null(e.data);
            e.data = strdup(line.p + 6);
        }
    }
    assert_true(r->is_over || e.is_comment != (e.data != NULL));
    buf_done(&line);
    return e;
}

UNUSED static void reader_expect(struct reader *r, const char *id, const char *data)
{
    struct event e;
    while ((e = reader_event(r)).is_comment)
        continue;
    assert_non_null(e.data);
    assert_string_equal(e.data, data);
    assert_string_equal(e.id, id);
    free(e.data);
}

UNUSED static void reader_expect_comment(struct reader *r)
{
    struct event e = reader_event(r);
    assert_true(e.is_comment);
}

UNUSED static void reader_expect_end(struct reader *r)
{
    struct event e = reader_event(r);
    assert_true(r->is_over);
    assert_null(e.data);
}

/* The head of a stream on this connection. */
UNUSED static struct reader reader_begin(int fd)
{
    struct reader r = {.fd = fd};
    assert_true(rig_read_head(fd, &r.head));
    assert_int_equal(atoi(r.head.head + 9), 200);
    assert_string_equal(answer_header(&r.head, "Content-Type"), "text/event-stream");
    assert_string_equal(answer_header(&r.head, "Cache-Control"), "no-store");
    assert_string_equal(answer_header(&r.head, "X-Accel-Buffering"), "no");
    assert_null(answer_header(&r.head, "Content-Length"));
    r.is_chunked = answer_header(&r.head, "Transfer-Encoding") != NULL;
    return r;
}

UNUSED static struct reader reader_post(int fd, const char *body)
{
    rig_send_post(fd, "", body);
    return reader_begin(fd);
}

UNUSED static struct reader reader_get(int fd, const char *headers)
{
    char text[1024];
    snprintf(text, sizeof text,
             "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n%s\r\n",
             headers);
    rig_send(fd, text);
    struct reader r = reader_begin(fd);
    reader_expect_comment(&r);
    return r;
}

UNUSED static void reader_done(struct reader *r)
{
    answer_done(&r->head);
    free(r->in);
    close(r->fd);
    *r = (struct reader){.fd = -1};
}

#endif
