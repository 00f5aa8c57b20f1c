/* core/stream_commit.c - frames go to the store: all of a worker's loop turn in one commit.
 *
 * While one commit is under way the next gathers. What the store takes is told to who reads it
 * elsewhere. Where it refuses one frame (its stream is gone, or another worker writes it now), the
 * others are committed without it; a stream that was taken over keeps what was refused until the
 * one who took over has said what its client has seen, and pushes the rest again.
 */
#include "core/stream_parts.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"

#include <stdlib.h>
#include <string.h>

/* ---- Lists ---------------------------------------------------------------------------------- */

void frames_init(struct frames *frames)
{
    *frames = (struct frames){.first = NULL};
    frames->last = &frames->first;
}

void frames_add(struct frames *frames, struct frame *frame)
{
    frame->next = NULL;
    *frames->last = frame;
    frames->last = &frame->next;
    frames->n_bytes += frame->message.n;
}

struct frame *frames_take(struct frames *frames)
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

void frames_return(struct frames *to, struct frames *from)
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

void frame_free(struct frame *frame)
{
    frame->stream->n_pending--;
    free(frame);
}

void frame_skip(const struct frame *f)
{
    struct reader *r = f->stream->reader;
    if (r && f->n && r->sent_n == f->n - 1)
        r->sent_n = f->n;
}

/* ---- Committing ----------------------------------------------------------------------------- */

/* At most. */
static uint32_t n_ops_of(const struct frame *f)
{
    return (uint32_t)f->makes_record + (f->n || f->is_last) + (f->push_seq != 0) + (f->token != 0);
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
        .seq = f->token ? f->follow.seq : 0,
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
    s->last_op = s->note_op = OP_NONE;
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
    if (f->token)
        i = note_fill(c, i, f);
    f->n_ops = i - f->op;
    c->write.n_ops = i;
    frames_add(&c->frames, f);
}

/* Somebody else writes the stream now, of one that listens, and makes its notifications of
 * subscriptions anew. What else the client did not get by it, it gets by the new one. What went out
 * was seen if the client named it, or one behind it, when it came again; who took over says which
 * (MAIL_RELEASE). If he does not, it is sent again: a repeat is better than a loss. */
static bool is_unseen(const struct frame *f)
{
    return f->message.p && (!f->was_sent || f->n > f->stream->after_n);
}

static void hand_over(struct frame *f)
{
    struct stream *s = f->stream;
    if (!f->push_seq && !f->token && is_unseen(f))
        push_send(s->streams->core, stream_session(&s->name), f->message, PUSH_HANDOVER_MS);
}

/* Frames whose fate is not known yet stay with the stream. */
static bool hold(struct frame *f)
{
    struct stream *s = f->stream;
    if (!s->listens || !s->is_handed_over || s->is_released || f->push_seq || f->token ||
        !f->message.p)
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
    struct store_worker reader = {0};
    if (s->last_op != OP_NONE) {
        reader = c->after[s->last_op].reader;
        s->reserved_n = c->after[s->last_op].reserved_n;
    }
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

/* Its reader here has got all before it: he need not ask the store. */
static void send_stored(const struct frame *f)
{
    struct reader *r = f->stream->reader;
    if (f->n && !f->was_sent && r && r->is_open && r->has_room && r->sent_n == f->n - 1)
        reader_send_frame(r, f->n, f->token ? f->follow.seq : 0, f->message);
}

static void tell_all(struct commit *c)
{
    uint64_t slots = 0;
    struct frame *f;
    struct stream *s;
    while ((f = frames_take(&c->frames))) {
        send_stored(f);
        frame_free(f);
    }
    while ((s = take_touched(c))) {
        slots |= tell_reader(c, s);
        notes_stored(c, s);
        s->is_touched = false;
        stream_settle(s);
    }
    wake_slots(c->streams, slots);
}

/* ---- When the store refuses ----------------------------------------------------------------- */

static void refuse(struct commit *c, struct frame *f, int err)
{
    enum store_op_kind kind = c->ops[c->write.failed_op].kind;
    struct stream *s = f->stream;
    log_debug("stream %.8s...: a frame was refused: %s", s->name.session, err_name(err));
    if (kind == STORE_DELETE_PUSH) {
        frame_skip(f); /* somebody else took it */
        return;
    }
    s->is_handed_over |= err == ERR_CONFLICT && s->listens;
    stream_break(s);
}

static struct frame *failed_frame(struct commit *c)
{
    for (struct frame *f = c->frames.first; f; f = f->next)
        if (c->write.failed_op >= f->op && c->write.failed_op < f->op + f->n_ops)
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
        if (f->token)
            frame_skip(f);
        else if (!f->was_sent || f->makes_record)
            stream_break(f->stream);
        frame_free(f);
    }
    notes_failed(c, err);
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
    if (bad && c->ops[c->write.failed_op].kind == STORE_SET_FOLLOW) {
        notes_refused(c, bad, err);
    } else if (bad) {
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
