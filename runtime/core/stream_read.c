/* core/stream_read.c - the reading side of streams; see stream.h.
 *
 * A reader that is attached to a stream of this worker and has got all of it gets new frames at
 * once. In every other case it reads the store: it fell behind, it resumed, or another worker
 * writes. What is not in the store any more is a gap, and a gap ends the connection: the client
 * then learns from its next request that the stream cannot go on.
 */
#include "core/stream_parts.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "core/follow.h"
#include "core/list_changed.h"

#include <stdlib.h>
#include <string.h>

/* ---- Readers come and go -------------------------------------------------------------------- */

static void reader_free(struct reader *r)
{
    reader_part(r);
    *r->at = r->next;
    if (r->next)
        r->next->at = r->at;
    r->streams->n_readers--;
    access_unref(r->access);
    free(r);
}

void reader_attach(struct reader *r, struct stream *stream)
{
    if (!stream)
        reader_stop_pushes(r);
    if (r->stream)
        r->stream->reader = NULL;
    r->stream = stream;
    reader_watch(r);
    if (!stream)
        return;
    stream->reader = r;
    stream->token = r->token;
}

static void flag_bus(struct streams *streams)
{
    struct bus *bus = streams->core->config.bus;
    bus_set_flag(bus, BUS_STREAMS, streams->n_readers > 0);
}

static void drop_claim(struct reader *r)
{
    struct errand *e = errand_new(r->streams, NULL, &r->name, STR_NONE);
    if (!e)
        return;
    e->claim.token = r->push_token;
    e->ops[0] =
        (struct store_op){.kind = STORE_DROP_CLAIM, .if_version = STORE_ANY, .claim = &e->claim};
    e->repeats = true;
    errand_submit(e, 1, NULL);
}

/* A GET stream is written only as long as it is read; what was written stays for a resume. */
static void leave_stream(struct reader *r)
{
    struct stream *s = r->stream;
    if (!s)
        return;
    reader_attach(r, NULL);
    if (s->listens)
        s->has_ended = true;
    stream_settle(s);
}

void reader_settle(struct reader *r)
{
    struct streams *streams = r->streams;
    if (r->sink || r->n_errands)
        return;
    reader_free(r);
    flag_bus(streams);
}

/* The sink is gone. */
static void reader_leave(struct reader *r)
{
    r->sink = NULL;
    reader_stop_pushes(r);
    r->is_open = false;
    if (r->push_token && !r->streams->is_stopping)
        drop_claim(r);
    if (r->has_claimed && r->listens && !r->stream && !r->streams->is_stopping)
        stream_give_back(r->streams, &r->name, r->token);
    leave_stream(r);
    reader_settle(r);
}

void reader_end(struct reader *r)
{
    reader_stop_pushes(r);
    if (r->sink)
        sink_end(r->sink);
    reader_leave(r);
}

static void on_ready(struct sink *sink)
{
    struct reader *r = sink->ctx;
    r->has_room = true;
    r->n_errands++; /* it stays to be asked */
    reader_advance(r);
    if (r->has_room && r->holds_pushes)
        follow_ready(r);
    r->n_errands--;
    reader_settle(r);
}

static void on_lost(struct sink *sink)
{
    reader_leave(sink->ctx);
}

struct reader *reader_new(struct streams *streams, const struct stream_name *name,
                          struct sink *sink, struct access *access)
{
    struct reader *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->streams = streams;
    r->name = *name;
    if (!reader_join(r)) {
        free(r);
        return NULL;
    }
    r->sink = sink;
    r->access = access_ref(access);
    access_watch_add(streams->core, access);
    r->token = stream_token();
    r->has_room = true;
    r->next = streams->readers;
    r->at = &streams->readers;
    if (r->next)
        r->next->at = &r->next;
    streams->readers = r;
    streams->n_readers++;
    reader_watch(r);
    sink->ctx = r;
    sink->ready = on_ready;
    sink->lost = on_lost;
    flag_bus(streams);
    return r;
}

struct reader *reader_find(struct streams *streams, const struct stream_name *name, uint64_t token)
{
    for (struct reader *r = readers_of(streams, stream_session(name)); r; r = r->next_of)
        if (r->sink && token && (r->token == token || r->push_token == token) &&
            stream_name_eq(&r->name, name))
            return r;
    return NULL;
}

struct reader *reader_of_pushes(struct streams *streams, struct str session)
{
    for (struct reader *r = readers_of(streams, session); r; r = r->next_of)
        if (r->holds_pushes)
            return r;
    return NULL;
}

/* ---- Sending -------------------------------------------------------------------------------- */

void reader_send(struct reader *r, uint64_t n, uint64_t seq, struct str message)
{
    char text[EVENT_ID_BYTES];
    const struct event_id id = {
        .stream = r->name.id, .n = n, .seq = !seq && r->is_anew ? r->named_seq : seq};
    r->has_room = sink_send(r->sink, event_id_write(&id, text), message);
    r->sent_n = n;
    if (!seq)
        return;
    r->sent_seq = seq;
    r->is_anew = false;
}

void reader_send_frame(struct reader *r, uint64_t n, uint64_t seq, struct str message)
{
    if (seq && n <= r->anew_n)
        r->sent_n = n;
    else
        reader_send(r, n, seq, message);
}

static int send_frame(void *ctx, uint64_t n, uint64_t seq, struct str message)
{
    struct reader *r = ctx;
    reader_send_frame(r, n, seq, message);
    return r->has_room ? 0 : 1;
}

/* ---- The writer died ------------------------------------------------------------------------ */

/* Another reader may have been first; then its frame is found by the next check. */
static void lost_reported(struct errand *e, int err)
{
    e->reader->is_telling_lost = false;
    if (err == 0)
        reader_advance(e->reader);
}

/* The number is behind all that the dead one may have sent out. */
static void report_lost(struct reader *r, const struct store_stream *record)
{
    struct buf text = {0};
    rpc_write_error(&text, record->request, err_rpc_code(ERR_LOST), str_of(err_text(ERR_LOST)),
                    STR_NONE);
    struct errand *e = text.failed ? NULL : errand_new(r->streams, r, &r->name, buf_str(&text));
    buf_done(&text);
    if (!e)
        return; /* the next check tries again */
    r->is_telling_lost = true;
    e->stream.writer = record->writer;
    e->stream.ended = true;
    uint64_t last_n = record->last_n;
    e->ops[0] = (struct store_op){
        .kind = STORE_PUT_FRAME,
        .if_version = STORE_ANY,
        .stream = &e->stream,
        .n = (record->reserved_n > last_n ? record->reserved_n : last_n) + 1,
        .message = e->message,
        .max_frames = STREAM_FRAMES,
    };
    errand_submit(e, 1, lost_reported);
}

static bool is_writer_lost(const struct reader *r, const struct store_stream *record)
{
    return !r->listens && !r->stream && !record->ended && !r->is_telling_lost &&
           (stream_is_self(r->streams, record->writer) ||
            !stream_is_alive(r->streams, record->writer));
}

/* ---- Reading the store ---------------------------------------------------------------------- */

static int read_frames(struct reader *r, struct store_view *view, struct store_stream *ret)
{
    struct arena arena;
    arena_init(&arena, 0);
    int err = store_get_stream(view, stream_session(&r->name), r->name.id, &arena, ret);
    if (err == 0 && ret->last_n && ret->first_n > r->sent_n + 1)
        err = ERR_LIMIT; /* a gap */
    if (err == 0)
        err =
            store_scan_frames(view, stream_session(&r->name), r->name.id, r->sent_n, send_frame, r);
    bool lost = err == 0 && is_writer_lost(r, ret);
    if (lost)
        report_lost(r, ret);
    arena_done(&arena);
    return err;
}

/* All of it was read, and nothing of it waits for a commit. */
static bool has_read_all(const struct reader *r, const struct store_stream *record)
{
    return r->has_room && r->sent_n >= record->last_n && !streams_pending(r->streams, &r->name);
}

static void advance_by_store(struct reader *r)
{
    struct store_view *view;
    struct store_stream record;
    int err = store_view_open(r->streams->core->store, STORE_SYS, &view);
    if (err == 0) {
        err = read_frames(r, view, &record);
        store_view_close(view);
    }
    if (err == ERR_READERS || err == ERR_NO_MEMORY)
        return; /* comes again with the next check */
    if (err < 0) {
        log_debug("stream of %.8s... ends: %s", r->name.session, err_name(err));
        reader_end(r);
    } else if (has_read_all(r, &record)) {
        if (r->stream)
            r->sent_n = r->stream->last_n; /* numbers behind were not used */
        if (r->holds_pushes)
            follow_ready(r); /* who was behind had no room */
        if (record.ended || (r->stream && r->stream->has_ended))
            reader_end(r);
    }
}

void reader_advance(struct reader *r)
{
    struct stream *s = r->stream;
    if (!r->sink || !r->is_open || !r->has_room)
        return;
    if (!s || r->sent_n != s->last_n)
        advance_by_store(r);
    else if (s->has_ended)
        reader_end(r);
}

/* ---- From time to time ---------------------------------------------------------------------- */

static bool is_waiting(const struct reader *r)
{
    return r->sink && !r->is_open && r->release_ms;
}

void readers_tick(struct streams *streams)
{
    struct reader *next;
    int64_t now_ms = clock_mono_ms();
    if (!streams->has_waiting)
        return;
    streams->has_waiting = false;
    for (struct reader *r = streams->readers; r; r = next) {
        next = r->next;
        if (!is_waiting(r))
            continue;
        if (now_ms >= r->release_ms || !stream_is_alive(streams, store_worker_of(r->old))) {
            reader_begin(r); /* others may be gone after it; this one waits no more */
            next = streams->readers;
        } else {
            streams->has_waiting = true;
        }
    }
}

void streams_wake(struct streams *streams)
{
    struct reader *next;
    for (struct reader *r = streams->behind; r; r = next) {
        next = r->next_behind;
        if (r->stream && r->sent_n == r->stream->last_n)
            reader_unwatch(r);
        else
            reader_advance(r);
    }
    list_changed_check(streams->core);
}

static void keep_sessions(struct streams *streams, int64_t now_ms);

void streams_tick(struct streams *streams)
{
    int64_t now_ms = clock_mono_ms();
    streams_flush(streams);
    readers_tick(streams);
    streams_release_late(streams, now_ms);
    streams_look(streams, now_ms);
    errands_again(streams, now_ms);
    if (now_ms - streams->checked_ms < READER_CHECK_MS)
        return;
    streams->checked_ms = now_ms;
    streams_wake(streams);
    keep_sessions(streams, now_ms);
}

void streams_stop(struct streams *streams)
{
    struct reader *next;
    for (struct reader *r = streams->readers; r; r = next) {
        next = r->next;
        bool is_answered = r->stream && !r->listens; /* a call goes on, and ends it */
        if (r->sink && !is_answered)
            reader_end(r);
    }
    streams_look(streams, INT64_MAX);
    streams_flush(streams);
}

/* ---- Sessions stay alive -------------------------------------------------------------------- */

static int64_t touch_interval_ms(const struct streams *streams, const struct store_session *record)
{
    return session_idle_ms(streams->core, record) / SESSION_RENEWAL_PARTS;
}

static void touch(struct streams *streams, const struct stream_name *name,
                  const struct store_session *record)
{
    struct errand *e = errand_new(streams, NULL, name, STR_NONE);
    if (!e)
        return;
    e->session.active_ms = clock_wall_ms();
    e->session.expires_ms = e->session.active_ms + session_idle_ms(streams->core, record);
    e->ops[0] = (struct store_op){
        .kind = STORE_TOUCH_SESSION, .if_version = STORE_ANY, .session = &e->session};
    errand_submit(e, 1, NULL);
}

/* A round of looks at the sessions of those that are there. */
struct keeping {
    struct streams *streams;
    struct store_view *view;
    struct arena arena;
    int64_t now_ms;
    struct stream_name gone[GONE_PER_TICK]; /* their sessions ended elsewhere */
    uint32_t n_gone;
};

static bool keep(struct keeping *k, const struct stream_name *name, bool is_due, int64_t *ret_ms)
{
    struct store_session record;
    arena_reset(&k->arena);
    int err = store_get_session(k->view, stream_session(name), &k->arena, &record);
    if (err == ERR_ABSENT && k->n_gone < GONE_PER_TICK)
        k->gone[k->n_gone++] = *name;
    if (err < 0 || !is_due)
        return false;
    touch(k->streams, name, &record);
    *ret_ms = k->now_ms + touch_interval_ms(k->streams, &record);
    return true;
}

/* Whoever took the session's pushes has gone, or the claim of this one did not get into the store:
 * of those that are left the newest takes them. Where more than one tries, the later token stands.
 */
static void claim_left(const struct keeping *k, struct reader *r)
{
    struct store_claim claim;
    if (!r->listens || !r->is_open || !r->stream || r->holds_pushes || r->n_errands)
        return;
    int err = store_get_claim(k->view, stream_session(&r->name), &claim);
    bool is_free =
        err == ERR_ABSENT || (err == 0 && (claim.token < r->token || claim.token == r->push_token ||
                                           !stream_is_alive(k->streams, claim.worker)));
    if (is_free)
        reader_claim_pushes(r);
}

static void keep_calling(struct keeping *k)
{
    struct stream_name name;
    struct streams *streams = k->streams;
    int64_t next_ms = 0;
    if (k->now_ms < streams->touch_calls_ms)
        return;
    streams->touch_calls_ms =
        k->now_ms + streams->core->config.session_idle_ms / SESSION_RENEWAL_PARTS;
    for (struct call *c = streams->core->running.first; c; c = c->running_next)
        if (c->session && !c->in.stdio && stream_name_set(&name, c->session->record.id, 0))
            keep(k, &name, true, &next_ms);
}

/* Each is due once in an interval, so of n of them so many in a second; where all came at once the
 * rest is due a second later. Some that are not due are looked at too, by turns, so that the end of
 * a session ends its quiet streams. */
static void keep_listening(struct keeping *k)
{
    struct streams *streams = k->streams;
    int64_t seconds =
        streams->core->config.session_idle_ms / SESSION_RENEWAL_PARTS / READER_CHECK_MS;
    uint32_t n = 0, i = 0, most = streams->n_readers / (uint32_t)(seconds + 1) + TOUCHES_PER_TICK;
    uint32_t from = streams->look_from < streams->n_readers ? streams->look_from : 0;
    for (struct reader *r = streams->readers; r; r = r->next, i++) {
        bool is_due = k->now_ms >= r->touch_ms && n < most;
        if (!r->sink || !(is_due || i - from < LOOKS_PER_TICK))
            continue;
        n += keep(k, &r->name, is_due, &r->touch_ms);
        claim_left(k, r);
    }
    streams->look_from = from + LOOKS_PER_TICK;
}

static void end_gone(struct keeping *k)
{
    for (uint32_t i = 0; i < k->n_gone; i++)
        session_over(k->streams->core, stream_session(&k->gone[i]), NULL, NULL);
}

/* Who listens, or waits for a call, is there. */
static void keep_sessions(struct streams *streams, int64_t now_ms)
{
    struct keeping k = {.streams = streams, .now_ms = now_ms};
    if ((!streams->readers && !streams->core->running.first) ||
        store_view_open(streams->core->store, STORE_SYS, &k.view) < 0)
        return;
    arena_init(&k.arena, 0);
    keep_listening(&k);
    keep_calling(&k);
    arena_done(&k.arena);
    store_view_close(k.view);
    end_gone(&k);
}
