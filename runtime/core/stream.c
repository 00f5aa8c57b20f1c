/* core/stream.c - the writing side of streams; see stream.h.
 *
 *   stream_send --> waiting frames --(end of the turn)--> one commit --> the readers are told
 *        \--> at once into the reader of this worker, if it has got all before
 *
 * While a commit is under way the next frames gather, so one commit takes what came during the one
 * before. A frame goes out before it is committed only if its number was reserved by a commit, so
 * that no number is used twice after a crash; else the reader gets it from the store.
 */
#include "core/stream_parts.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"

#include <stdlib.h>
#include <string.h>

#define WAITING_BYTES_MAX (64u << 20) /* of all frames that the store has not taken yet */

/* ---- Lists ---------------------------------------------------------------------------------- */

static void frames_init(struct frames *frames)
{
    *frames = (struct frames){.first = NULL};
    frames->last = &frames->first;
}

static void frames_add(struct frames *frames, struct frame *frame)
{
    frame->next = NULL;
    *frames->last = frame;
    frames->last = &frame->next;
    frames->n_bytes += frame->message.n;
}

static struct frame *frames_take(struct frames *frames)
{
    struct frame *frame = frames->first;
    if (!frame)
        return NULL;
    frames->first = frame->next;
    if (!frames->first)
        frames->last = &frames->first;
    frames->n_bytes -= frame->message.n;
    return frame;
}

/* Puts all of `from` before what `to` has. */
static void frames_return(struct frames *to, struct frames *from)
{
    if (!from->first)
        return;
    *from->last = to->first;
    if (!to->first)
        to->last = from->last;
    to->first = from->first;
    to->n_bytes += from->n_bytes;
    frames_init(from);
}

static void frame_free(struct frame *frame)
{
    frame->stream->n_pending--;
    free(frame);
}

/* ---- Streams come and go -------------------------------------------------------------------- */

struct stream *stream_new(struct streams *streams, const struct stream_name *name, bool listens,
                          struct str request)
{
    struct stream *s = calloc(1, sizeof *s + request.n);
    if (!s)
        return NULL;
    s->streams = streams;
    s->name = *name;
    s->listens = listens;
    s->reserved_n = s->asked_n = STREAM_NUMBERS;
    frames_init(&s->held);
    if (request.p) {
        memcpy(s + 1, request.p, request.n);
        s->request = (struct str){(const char *)(s + 1), request.n};
    }
    s->next = streams->written;
    s->at = &streams->written;
    if (s->next)
        s->next->at = &s->next;
    streams->written = s;
    return s;
}

void stream_drop(struct stream *s)
{
    *s->at = s->next;
    if (s->next)
        s->next->at = s->at;
    free(s);
}

struct stream *streams_find(struct streams *streams, const struct stream_name *name)
{
    for (struct stream *s = streams->written; s; s = s->next)
        if (stream_name_eq(&s->name, name))
            return s;
    return NULL;
}

bool streams_pending(const struct streams *streams, const struct stream_name *name)
{
    for (const struct stream *s = streams->written; s; s = s->next)
        if (s->n_pending && stream_name_eq(&s->name, name))
            return true;
    return false;
}

/* Unless somebody else has claimed it meanwhile. */
static void clear_claim(struct streams *streams, const struct stream_name *name, uint64_t token)
{
    struct errand *e = errand_new(streams, NULL, name, STR_NONE);
    if (!e)
        return;
    e->ops[0] =
        (struct store_op){.kind = STORE_CLAIM_STREAM, .if_version = token, .stream = &e->stream};
    errand_submit(e, 1, NULL);
}

void stream_give_back(struct streams *streams, const struct stream_name *name, uint64_t token)
{
    for (struct stream *s = streams->written; s; s = s->next)
        if (s->n_pending && !s->is_broken && !s->reader && stream_name_eq(&s->name, name)) {
            s->token = token;
            return;
        }
    clear_claim(streams, name, token);
}

void stream_settle(struct stream *s)
{
    if (!s->has_ended || s->is_owned || s->n_pending || s->is_touched)
        return;
    struct reader *reader = s->reader;
    if (reader)
        reader_attach(reader, NULL);
    else if (s->listens && s->token && !s->is_broken && !s->streams->is_stopping)
        clear_claim(s->streams, &s->name, s->token);
    stream_drop(s);
    if (reader)
        reader_advance(reader);
}

void stream_break(struct stream *s)
{
    struct reader *reader = s->reader;
    s->is_broken = true;
    if (s->listens)
        s->has_ended = true;
    else if (reader && reader->is_open && reader->sent_n == s->last_n)
        return; /* it has got all, and may get the rest: see send_unstored */
    if (reader) {
        reader_attach(reader, NULL);
        reader_end(reader);
    }
}

/* ---- Committing ----------------------------------------------------------------------------- */

static uint32_t n_ops_of(const struct frame *f)
{
    return (uint32_t)f->makes_record + (f->n || f->is_last) + (f->push_seq != 0);
}

static void fill_record(struct commit *c, uint32_t i, struct stream *s)
{
    struct store_worker self = store_worker_of(bus_self(s->streams->core->config.bus));
    c->before[i] = (struct store_stream){
        .session = stream_session(&s->name),
        .id = s->name.id,
        .listens = s->listens,
        .writer = self,
        .reader = self,
        .token = s->token,
        .reserved_n = s->reserved_n,
        .request = s->request,
    };
    c->ops[i] = (struct store_op){.kind = STORE_PUT_STREAM,
                                  .if_version = STORE_MISSING,
                                  .stream = &c->before[i],
                                  .is_alive = streams_is_alive,
                                  .check_ctx = s->streams};
}

static void fill_frame(struct commit *c, uint32_t i, struct frame *f)
{
    struct core *core = f->stream->streams->core;
    c->before[i] = (struct store_stream){
        .session = stream_session(&f->stream->name),
        .id = f->stream->name.id,
        .writer = store_worker_of(bus_self(core->config.bus)),
        .ended = f->is_last,
        .reserved_n = f->stream->asked_n,
    };
    c->ops[i] = (struct store_op){
        .kind = STORE_PUT_FRAME,
        .if_version = STORE_ANY,
        .stream = &c->before[i],
        .n = f->n,
        .message = f->message,
        .max_frames = core->config.stream_frames ? core->config.stream_frames : STREAM_FRAMES,
        .ret_stream = &c->after[i],
    };
    f->stream->last_op = i;
}

static void fill_push(struct commit *c, uint32_t i, const struct frame *f)
{
    const struct stream *s = f->stream;
    c->claims[i] = (struct store_claim){
        .session = stream_session(&s->name),
        .stream = s->name.id,
        .worker = store_worker_of(bus_self(s->streams->core->config.bus)),
        .token = s->reader ? s->reader->push_token : 0,
    };
    c->ops[i] = (struct store_op){.kind = STORE_DELETE_PUSH,
                                  .if_version = STORE_ANY,
                                  .claim = &c->claims[i],
                                  .push_seq = f->push_seq};
}

static void touch(struct commit *c, struct stream *s)
{
    if (s->is_touched)
        return;
    s->is_touched = true;
    s->touched = c->touched;
    c->touched = s;
}

static void fill(struct commit *c, struct frame *f)
{
    uint32_t i = c->write.n_ops;
    f->op = i;
    touch(c, f->stream);
    if (f->makes_record)
        fill_record(c, i++, f->stream);
    if (f->n || f->is_last)
        fill_frame(c, i++, f);
    if (f->push_seq)
        fill_push(c, i++, f);
    c->write.n_ops = i;
    frames_add(&c->frames, f);
}

/* Somebody else writes the stream now, of one that listens. What the client did not get by it, it
 * gets by the new one. What went out was seen if the client named it, or one behind it, when it
 * came again; who took over says which (MAIL_RELEASE). If he does not, it is sent again: a repeat
 * is better than a loss. */
static bool is_unseen(const struct frame *f)
{
    return f->message.p && (!f->was_sent || f->n > f->stream->after_n);
}

static void hand_over(struct frame *f)
{
    struct stream *s = f->stream;
    if (!f->push_seq && is_unseen(f))
        push_send(s->streams->core, stream_session(&s->name), f->message, PUSH_HANDOVER_MS);
}

/* Frames whose fate is not known yet stay with the stream. */
static bool hold(struct frame *f)
{
    struct stream *s = f->stream;
    if (!s->listens || !s->is_handed_over || s->is_released || f->push_seq || !f->message.p)
        return false;
    s->held_until_ms = clock_mono_ms() + STREAM_HELD_MS;
    s->streams->has_held = true;
    frames_add(&s->held, f);
    return true;
}

/* Its stream takes no more. */
static void drop(struct frame *f)
{
    struct stream *s = f->stream;
    if (hold(f))
        return;
    if (s->is_handed_over)
        hand_over(f);
    frame_free(f);
    stream_settle(s);
}

void stream_release(struct stream *s)
{
    struct frame *f;
    s->is_handed_over = s->is_released = true;
    s->has_ended = true;
    while ((f = frames_take(&s->held))) {
        hand_over(f);
        frame_free(f);
    }
    stream_settle(s);
}

void streams_release_late(struct streams *streams, int64_t now_ms)
{
    struct stream *next;
    if (!streams->has_held)
        return;
    streams->has_held = false;
    for (struct stream *s = streams->written; s; s = next) {
        next = s->next;
        if (s->held.first && now_ms >= s->held_until_ms)
            stream_release(s);
        else
            streams->has_held |= s->held.first != NULL;
    }
}

static void committed(struct store_write *write, int err);

void streams_flush(struct streams *streams)
{
    struct commit *c = &streams->commit;
    struct frame *f;
    if (c->is_under_way)
        return;
    frames_init(&c->frames);
    c->touched = NULL;
    c->streams = streams;
    c->write =
        (struct store_write){.space = STORE_SYS, .ops = c->ops, .n_ops = 0, .done = committed};
    while ((f = streams->waiting.first) && c->write.n_ops + n_ops_of(f) <= COMMIT_OPS &&
           c->frames.n_bytes <= COMMIT_BYTES) {
        frames_take(&streams->waiting);
        if (!f->stream->is_broken) {
            fill(c, f);
            continue;
        }
        drop(f);
    }
    if (c->write.n_ops == 0)
        return;
    c->is_under_way = true;
    store_submit(streams->core->store, &c->write);
}

/* Who reads the stream is told: here, or by a wake of its worker. */
static uint64_t tell_reader(struct commit *c, struct stream *s)
{
    struct store_worker reader = c->after[s->last_op].reader;
    s->reserved_n = c->after[s->last_op].reserved_n;
    bool is_elsewhere = reader.epoch && !stream_is_self(s->streams, reader);
    struct stream *now = s->reader ? s : streams_find(s->streams, &s->name);
    if (now && now->reader)
        reader_advance(now->reader);
    return is_elsewhere && reader.slot < WORKERS_MAX ? UINT64_C(1) << reader.slot : 0;
}

static void wake_slots(struct streams *streams, uint64_t slots)
{
    for (uint32_t i = 0; i < WORKERS_MAX; i++)
        if (slots >> i & 1)
            bus_wake(streams->core->config.bus, i);
}

static struct stream *take_touched(struct commit *c)
{
    struct stream *s = c->touched;
    if (!s)
        return NULL;
    c->touched = s->touched;
    return s;
}

static void tell_all(struct commit *c)
{
    uint64_t slots = 0;
    struct frame *f;
    struct stream *s;
    while ((f = frames_take(&c->frames)))
        frame_free(f);
    while ((s = take_touched(c))) {
        slots |= tell_reader(c, s);
        s->is_touched = false;
        stream_settle(s);
    }
    wake_slots(c->streams, slots);
}

/* ---- When the store refuses ----------------------------------------------------------------- */

/* A waiting push that somebody else took leaves only its number unused: no gap for its reader. */
static void skip(const struct frame *f)
{
    struct reader *r = f->stream->reader;
    if (r && r->sent_n == f->n - 1)
        r->sent_n = f->n;
}

static void refuse(struct commit *c, struct frame *f, int err)
{
    enum store_op_kind kind = c->ops[c->write.failed_op].kind;
    struct stream *s = f->stream;
    log_debug("stream %.8s...: a frame was refused: %s", s->name.session, err_name(err));
    if (kind == STORE_DELETE_PUSH) {
        skip(f);
        return;
    }
    s->is_handed_over |= err == ERR_CONFLICT && s->listens;
    stream_break(s);
}

static struct frame *failed_frame(struct commit *c)
{
    for (struct frame *f = c->frames.first; f; f = f->next)
        if (c->write.failed_op >= f->op && c->write.failed_op < f->op + n_ops_of(f))
            return f;
    return NULL;
}

static void frames_remove(struct frames *frames, struct frame *frame)
{
    struct frames rest;
    struct frame *f;
    frames_init(&rest);
    while ((f = frames_take(frames)))
        if (f != frame)
            frames_add(&rest, f);
    frames_init(frames);
    frames_return(frames, &rest);
}

static void untouch(struct commit *c)
{
    struct stream *s;
    while ((s = take_touched(c))) {
        s->is_touched = false;
        stream_settle(s);
    }
}

/* The store itself is in trouble: what it did not take is lost to later readers, so those that
 * have not got it already end, and their clients see the gap. */
static void drop_all(struct commit *c, int err)
{
    struct frame *f;
    log_error("%u frames of streams were not stored: %s", c->write.n_ops, err_text(err));
    while ((f = frames_take(&c->frames))) {
        if (!f->was_sent || f->makes_record)
            stream_break(f->stream);
        frame_free(f);
    }
    untouch(c);
}

static bool is_of_one_frame(int err)
{
    return err == ERR_ABSENT || err == ERR_CONFLICT || err == ERR_EXISTS || err == ERR_LIMIT ||
           err == ERR_STREAMS;
}

static void retry(struct commit *c, int err)
{
    struct frame *bad = is_of_one_frame(err) ? failed_frame(c) : NULL;
    if (bad) {
        refuse(c, bad, err);
        frames_remove(&c->frames, bad);
        drop(bad);
    }
    frames_return(&c->streams->waiting, &c->frames);
    untouch(c);
}

static void committed(struct store_write *write, int err)
{
    struct commit *c = (struct commit *)write;
    struct streams *streams = c->streams;
    c->is_under_way = false;
    if (err == 0)
        tell_all(c);
    else if (is_of_one_frame(err) || err == ERR_BUSY)
        retry(c, err);
    else
        drop_all(c, err);
    if (err != ERR_BUSY) /* else the next tick tries again */
        streams_flush(streams);
}

/* ---- Appending ------------------------------------------------------------------------------ */

static void posted(struct loop_post *post)
{
    struct streams *streams = (struct streams *)((char *)post - offsetof(struct streams, post));
    streams->is_posted = false;
    streams_flush(streams);
}

static void post_flush(struct streams *streams)
{
    if (streams->is_posted)
        return;
    streams->is_posted = true;
    streams->post.fn = posted;
    loop_post(streams->core->loop, &streams->post);
}

static struct frame *frame_new(struct stream *s, struct str message)
{
    size_t waiting = s->streams->waiting.n_bytes + message.n;
    struct frame *f = waiting > WAITING_BYTES_MAX ? NULL : calloc(1, sizeof *f + message.n);
    if (!f)
        return NULL;
    f->stream = s;
    if (message.p) {
        memcpy(f + 1, message.p, message.n);
        f->message = (struct str){(const char *)(f + 1), message.n};
    }
    return f;
}

static bool may_go_at_once(const struct stream *s, const struct frame *f)
{
    const struct reader *r = s->reader;
    return f->n && !f->push_seq && r && r->is_open && r->has_room && r->sent_n == f->n - 1 &&
           f->n <= s->reserved_n;
}

/* The store does not take it, but who has got all so far gets the rest too; he just cannot resume.
 */
static void send_unstored(struct stream *s, struct str message)
{
    struct reader *r = s->reader;
    if (!r || !message.p)
        return;
    if (r->is_open && r->has_room && r->sent_n == s->last_n)
        reader_send(r, ++s->last_n, message);
    else
        reader_end(r);
}

void stream_append(struct stream *s, struct str message, bool is_last, uint64_t push_seq)
{
    if (s->is_broken) {
        send_unstored(s, message);
        return;
    }
    struct frame *f = frame_new(s, message);
    if (!f) {
        struct reader *r = s->listens ? NULL : s->reader;
        bool goes_on = r && r->is_open && r->sent_n == s->last_n; /* see stream_break */
        stream_break(s);
        if (goes_on)
            send_unstored(s, message);
        return;
    }
    f->makes_record = !s->listens && s->last_n == 0;
    f->n = message.p ? ++s->last_n : 0;
    f->is_last = is_last;
    f->push_seq = push_seq;
    if (s->last_n + STREAM_NUMBERS / 2 > s->asked_n)
        s->asked_n += STREAM_NUMBERS;
    s->n_pending++;
    frames_add(&s->streams->waiting, f);
    if (may_go_at_once(s, f)) {
        f->was_sent = true;
        reader_send(s->reader, f->n, f->message);
    }
    post_flush(s->streams);
}

/* ---- On stdio ------------------------------------------------------------------------------- */

static void plain_ready(struct sink *sink)
{
    (void)sink; /* what it has no room for, it keeps: a client on stdio is alone */
}

static void plain_lost(struct sink *sink)
{
    ((struct stream *)sink->ctx)->plain = NULL;
}

static void make_plain(struct stream *s, struct sink *sink)
{
    sink->ready = plain_ready;
    sink->lost = plain_lost;
    sink->ctx = s;
    s->plain = sink;
    s->is_broken = true; /* no store */
}

/* ---- For calls ------------------------------------------------------------------------------ */

int stream_open(struct call *call, struct sink *sink, struct stream **ret)
{
    struct streams *streams = call->core->streams;
    struct stream_name name;
    struct reader *reader = NULL;
    if (!stream_name_set(&name, call->session->record.id, stream_random()))
        return ERR_INTERNAL;
    struct stream *s = stream_new(streams, &name, false, call->message.id);
    if (s && !call->in.stdio)
        reader = reader_new(streams, &name, sink);
    if (!s || (!reader && !call->in.stdio)) {
        if (s)
            stream_drop(s);
        return ERR_NO_MEMORY;
    }
    s->is_owned = true;
    if (call->in.stdio) {
        make_plain(s, sink);
    } else {
        reader_attach(reader, s);
        reader->is_open = true;
    }
    *ret = s;
    return 0;
}

void stream_send(struct stream *s, struct str message)
{
    if (s->plain)
        sink_send(s->plain, STR_NONE, message);
    else
        stream_append(s, message, false, 0);
}

static void end_plain(struct stream *s, struct str last)
{
    if (!s->plain)
        return;
    if (last.p)
        sink_send(s->plain, STR_NONE, last);
    sink_end(s->plain);
    s->plain = NULL;
}

void stream_end(struct stream *s, struct str last)
{
    end_plain(s, last);
    if (last.p || s->last_n)
        stream_append(s, last, true, 0);
    s->has_ended = true;
    if (s->reader)
        reader_advance(s->reader);
    s->is_owned = false;
    stream_settle(s);
}

/* ---- All of a worker ------------------------------------------------------------------------ */

int streams_new(struct core *core, struct streams **ret)
{
    struct streams *streams = calloc(1, sizeof *streams);
    if (!streams)
        return ERR_NO_MEMORY;
    streams->core = core;
    frames_init(&streams->waiting);
    frames_init(&streams->commit.frames);
    *ret = streams;
    return 0;
}

/* The loop was drained: no commit and no errand is under way. */
void streams_free(struct streams *streams)
{
    struct frame *f;
    if (!streams)
        return;
    while ((f = frames_take(&streams->waiting)))
        free(f);
    streams->is_stopping = true; /* no more errands */
    while (streams->readers)
        reader_end(streams->readers);
    while (streams->written) {
        while ((f = frames_take(&streams->written->held)))
            free(f);
        stream_drop(streams->written);
    }
    free(streams);
}

void streams_end_session(struct streams *streams, struct str session)
{
    struct stream *next;
    struct reader *after;
    for (struct reader *r = streams->readers; r; r = after) {
        after = r->next;
        if (str_eq(stream_session(&r->name), session) && r->sink)
            reader_end(r);
    }
    for (struct stream *s = streams->written; s; s = next) {
        next = s->next;
        if (!str_eq(stream_session(&s->name), session) || s->plain)
            continue;
        stream_break(s);
        stream_settle(s);
    }
}
