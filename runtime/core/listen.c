/* core/listen.c - GET: a stream to listen to, or the rest of one that broke.
 *
 * MCP 2025-06-18, Transports: Listening for Messages, Resumability and Redelivery. The answer's
 * head needs only reads; what is then written, the record or the claim, ends the stream if it
 * fails. A resume claims the stream; whoever read it before is told to stop and says so; only then
 * the first frame goes out, so none is delivered twice.
 */
#include "core/stream_parts.h"

#include "base/clock.h"
#include "base/err.h"
#include "core/dispatch.h"

#include <stdlib.h>

/* ---- A new stream --------------------------------------------------------------------------- */

struct counting {
    struct streams *streams;
    uint32_t n;
};

static int count_listening(void *ctx, const struct store_stream *stream)
{
    struct counting *c = ctx;
    c->n += stream->listens && !stream->ended && stream_is_alive(c->streams, stream->reader);
    return 0;
}

static int check_room(struct streams *streams, struct str session)
{
    struct counting c = {.streams = streams};
    struct store_view *view;
    int err = store_view_open(streams->core->store, STORE_SYS, &view);
    if (err < 0)
        return err;
    err = store_scan_streams(view, session, count_listening, &c);
    store_view_close(view);
    return err < 0 ? err : c.n >= STREAMS_LISTENING_MAX ? ERR_STREAMS : 0;
}

static void opened(struct errand *e, int err)
{
    struct reader *r = e->reader;
    if (!r->sink || !r->stream)
        return;
    if (err < 0) {
        r->stream->is_broken = true; /* there is no record to be cleared */
        reader_end(r);
        return;
    }
    reader_take_pushes(r, &e->claim_before);
}

/* The connection's reader, with its call; the head of the answer is on its way. */
static struct reader *open_reader(struct streams *streams, struct call *call,
                                  const struct stream_name *name)
{
    struct sink *sink = call->open_sink(call);
    if (!sink)
        return NULL;
    struct reader *r = reader_new(streams, name, sink, call->in.access);
    if (!r) {
        sink_end(sink);
        return NULL;
    }
    r->profile = call->in.profile;
    r->revision = call->session->revision;
    return r;
}

static void submit_record(struct reader *r)
{
    struct streams *streams = r->streams;
    struct errand *e = errand_new(streams, r, &r->name, STR_NONE);
    if (!e) {
        reader_end(r);
        return;
    }
    e->stream.listens = true;
    e->stream.writer = e->stream.reader = store_worker_of(bus_self(streams->core->config.bus));
    e->stream.token = r->token;
    e->stream.reserved_n = STREAM_NUMBERS;
    e->ops[0] = (struct store_op){.kind = STORE_PUT_STREAM,
                                  .if_version = STORE_MISSING,
                                  .stream = &e->stream,
                                  .is_alive = streams_is_alive,
                                  .check_ctx = streams};
    reader_fill_claim(e, &e->ops[1]);
    errand_submit(e, 2, opened);
}

static int listen_anew(struct streams *streams, struct call *call)
{
    struct stream_name name;
    if (!stream_name_set(&name, call->session->record.id, stream_random()))
        return ERR_INTERNAL;
    int err = check_room(streams, call->session->record.id);
    if (err < 0)
        return err;
    struct stream *s = stream_new(streams, &name, true, STR_NONE);
    struct reader *r = s ? open_reader(streams, call, &name) : NULL;
    if (!r) {
        if (s)
            stream_drop(s);
        return ERR_NO_MEMORY;
    }
    r->listens = r->is_open = true;
    reader_attach(r, s);
    submit_record(r);
    return 0;
}

/* ---- Going on with one ---------------------------------------------------------------------- */

/* Is all of it behind `n` still there, or can it do without? */
static bool can_go_on(const struct store_stream *record, uint64_t n, bool is_anew)
{
    uint64_t most = record->reserved_n > record->last_n ? record->reserved_n : record->last_n;
    return n <= most && (is_anew || record->last_n == 0 || record->first_n <= n + 1);
}

/* An event says a position if it is a notification of a subscription, or went out behind a
 * beginning like this. In the second case, or when it is forgotten, what stands behind it does not
 * go on from that position: so notifications are made from there, and what else stands behind it is
 * sent. */
struct event {
    struct event_id id;
    bool is_there;
};

static int find_event(void *ctx, uint64_t n, uint64_t seq, struct str message)
{
    struct event *e = ctx;
    (void)message;
    e->is_there = n == e->id.n && seq == e->id.seq;
    return 1;
}

static bool must_begin_anew(struct store_view *view, const struct store_stream *record,
                            const struct event_id *id)
{
    struct event e = {*id, false};
    if (!record->listens || !id->seq)
        return false;
    store_scan_frames(view, record->session, record->id, id->n - 1, find_event, &e);
    return !e.is_there;
}

/* ERR_ABSENT: no such stream, or not yet. */
static int read_record(struct streams *streams, struct call *call, const struct event_id *id,
                       struct stream_name *ret_name, struct store_stream *ret, bool *ret_is_anew)
{
    struct stream_name name;
    if (!stream_name_set(&name, call->session->record.id, id->stream))
        return ERR_EVENT_ID;
    struct store_view *view;
    int err = store_view_open(streams->core->store, STORE_SYS, &view);
    if (err < 0)
        return err;
    err = store_get_stream(view, stream_session(&name), name.id, &call->arena, ret);
    if (err == 0) {
        *ret_name = name;
        *ret_is_anew = must_begin_anew(view, ret, id);
    }
    store_view_close(view);
    return err;
}

/* Of a stream that listens this worker is the writer from now on: its numbers go on behind all that
 * the one before may have used. */
static struct stream *take_over(struct reader *r, uint64_t used_n)
{
    struct stream *s = stream_new(r->streams, &r->name, true, STR_NONE);
    if (!s)
        return NULL;
    s->last_n = used_n;
    s->reserved_n = s->asked_n = used_n + STREAM_NUMBERS;
    return s;
}

/* The stream that it reads, if that is written here. */
static struct stream *find_written(struct reader *r)
{
    struct stream *s = streams_find(r->streams, &r->name);
    if (s && (s->is_broken || s->is_handed_over))
        s = NULL;
    return s || !r->listens ? s : take_over(r, r->used_n);
}

/* Whoever read it here, and claimed it before, leaves. */
static void attach(struct reader *r, struct stream *s)
{
    bool was_owned = s->is_owned;
    s->is_owned = true; /* so that it stays */
    if (s->reader)
        reader_end(s->reader);
    s->is_owned = was_owned;
    if (s->listens)
        s->has_ended = false;
    reader_attach(r, s);
}

static void begin_anew(struct reader *r, const struct stream *s)
{
    r->anew_n = s->last_n;
    if (r->sent_n + 1 < r->kept_n)
        r->sent_n = r->kept_n - 1;
}

void reader_begin(struct reader *r)
{
    r->release_ms = 0;
    struct stream *s = find_written(r);
    if (!s && r->listens) {
        reader_end(r);
        return;
    }
    if (s)
        attach(r, s);
    if (s && r->is_anew)
        begin_anew(r, s);
    r->is_open = true;
    if (r->listens)
        reader_claim_pushes(r);
    reader_advance(r);
}

static void wait_for_release(struct reader *r, const struct store_stream *before)
{
    r->old = worker_id_of(before->reader);
    r->release_ms = clock_mono_ms() + STREAM_RELEASE_MS;
    r->streams->has_waiting = true;
    tell_release(r->streams, before->reader, &r->name, before->token, r->token, r->sent_n);
}

/* The client named this event when it came: it has seen it, and all before. */
static void note_seen(struct streams *streams, const struct stream_name *name, uint64_t n)
{
    for (struct stream *s = streams_of(streams, stream_session(name)); s; s = s->next_of)
        if (s->after_n < n && stream_name_eq(&s->name, name))
            s->after_n = n;
}

/* That this worker has. */
static void end_old(struct reader *r, uint64_t token)
{
    struct reader *old = reader_find(r->streams, &r->name, token);
    if (old && old != r)
        reader_end(old);
}

/* The client is gone already. Who read before is not to go on, as he has no claim any more. */
static void give_up(struct reader *r)
{
    if (r->listens)
        stream_give_back(r->streams, &r->name, r->token);
}

static void claimed(struct errand *e, int err)
{
    struct reader *r = e->reader;
    struct store_worker reader = e->before.reader;
    bool is_elsewhere = stream_is_alive(r->streams, reader) && !stream_is_self(r->streams, reader);
    if (err < 0) {
        if (r->sink)
            reader_end(r);
        return;
    }
    r->used_n = e->before.reserved_n;
    r->kept_n = e->before.first_n;
    r->has_claimed = true;
    note_seen(r->streams, &r->name, r->sent_n);
    end_old(r, e->before.token);
    if (is_elsewhere)
        wait_for_release(r, &e->before);
    if (!r->sink)
        give_up(r);
    else if (!is_elsewhere)
        reader_begin(r);
}

static void submit_claim(struct reader *r)
{
    struct errand *e = errand_new(r->streams, r, &r->name, STR_NONE);
    if (!e) {
        reader_end(r);
        return;
    }
    e->stream.reader = store_worker_of(bus_self(r->streams->core->config.bus));
    e->stream.token = r->token;
    e->ops[0] = (struct store_op){.kind = STORE_CLAIM_STREAM,
                                  .if_version = STORE_ANY,
                                  .stream = &e->stream,
                                  .is_alive = streams_is_alive,
                                  .check_ctx = r->streams,
                                  .ret_stream = &e->before};
    errand_submit(e, 1, claimed);
}

static int resume(struct streams *streams, struct call *call)
{
    struct stream_name name;
    struct store_stream record;
    struct event_id id;
    bool is_anew = false;
    int err = event_id_read(call->in.last_event, &id);
    if (err == 0)
        err = read_record(streams, call, &id, &name, &record, &is_anew);
    if (err == 0 && !can_go_on(&record, id.n, is_anew))
        err = ERR_EVENT_ID;
    if (err < 0)
        return err;
    struct reader *r = open_reader(streams, call, &name);
    if (!r)
        return ERR_NO_MEMORY;
    r->sent_n = id.n;
    r->named_seq = id.seq;
    r->is_anew = is_anew;
    r->listens = record.listens;
    submit_claim(r);
    return 0;
}

/* ---- A stream that is not there yet --------------------------------------------------------- */

/* An event goes out before it is stored, so a client may come back with its id a moment too early:
 * what is unknown is looked for a little longer. */
struct looking {
    struct looking *next;
    struct call *call;
    int64_t until_ms; /* monotonic */
};

static int look_again(struct streams *streams, struct call *call)
{
    struct looking *l = arena_zalloc(&call->arena, sizeof *l);
    if (!l)
        return ERR_NO_MEMORY;
    l->call = call;
    l->until_ms = clock_mono_ms() + STREAM_LOOK_MS;
    l->next = streams->looking;
    streams->looking = l;
    return 0;
}

void streams_look(struct streams *streams, int64_t now_ms)
{
    struct looking *l = streams->looking;
    streams->looking = NULL;
    while (l) {
        struct looking *next = l->next;
        int err = resume(streams, l->call);
        if (err == ERR_ABSENT && now_ms < l->until_ms) {
            l->next = streams->looking;
            streams->looking = l;
        } else if (err < 0) {
            dispatch_fail(l->call, err == ERR_ABSENT ? ERR_EVENT_ID : err);
        } else {
            call_leave_stream(l->call);
        }
        l = next;
    }
}

int streams_listen(struct streams *streams, struct call *call)
{
    if (!call->in.accepts_sse || !call->open_sink)
        return ERR_NOT_ACCEPTABLE;
    int err = call->in.last_event.p ? resume(streams, call) : listen_anew(streams, call);
    if (err == ERR_ABSENT)
        return look_again(streams, call);
    if (err == 0)
        call_leave_stream(call);
    return err;
}

/* ---- Others go on with one ------------------------------------------------------------------- */

/* What is written here of a stream that somebody else writes now: by the reader that he displaced,
 * or without one. One that came back and went again is several structs for a while. */
static struct stream *find_displaced(struct streams *streams, const struct stream_name *name,
                                     uint64_t token)
{
    for (struct stream *s = streams_of(streams, stream_session(name)); s; s = s->next_of)
        if (s->listens && !s->is_released && (s->token == token || !s->reader) &&
            stream_name_eq(&s->name, name))
            return s;
    return NULL;
}

/* The connection, if it is there still, and what was not stored of a stream that listens. */
void reader_displace(struct streams *streams, const struct stream_name *name, uint64_t token,
                     uint64_t after_n)
{
    struct stream *s;
    struct reader *r = reader_find(streams, name, token);
    note_seen(streams, name, after_n);
    if (r && r->stream && r->listens)
        r->stream->is_handed_over = true;
    if (r)
        reader_end(r);
    while ((s = find_displaced(streams, name, token)))
        stream_release(s);
}
