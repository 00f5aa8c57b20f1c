/* core/push.c - see push.h. */
#include "core/stream_parts.h"

#include "base/clock.h"
#include "base/err.h"
#include "wire/tape.h"

/* ---- Where it goes -------------------------------------------------------------------------- */

struct target {
    struct streams *streams;
    struct store_worker worker; /* epoch 0: nobody listens */
    int64_t created_ms;
};

/* Of those here the record may be late, so it is not believed. */
static bool is_read(struct streams *streams, const struct store_stream *stream)
{
    struct stream_name name;
    if (!stream_is_self(streams, stream->reader))
        return stream_is_alive(streams, stream->reader);
    return stream_name_set(&name, stream->session, stream->id) &&
           reader_find(streams, &name, stream->token);
}

/* The newest that a living worker reads. */
static int find_listening(void *ctx, const struct store_stream *stream)
{
    struct target *t = ctx;
    if (stream->listens && !stream->ended && stream->created_ms >= t->created_ms &&
        is_read(t->streams, stream)) {
        t->created_ms = stream->created_ms;
        t->worker = stream->reader;
    }
    return 0;
}

static int find_target(struct streams *streams, struct str session, struct target *ret)
{
    struct target t = {.streams = streams};
    struct store_claim claim;
    struct store_view *view;
    int err = store_view_open(streams->core->store, STORE_SYS, &view);
    if (err < 0)
        return err;
    err = store_get_claim(view, session, &claim);
    if (err == 0 && stream_is_alive(streams, claim.worker) &&
        !stream_is_self(streams, claim.worker))
        t.worker = claim.worker;
    else
        err = store_scan_streams(view, session, find_listening, &t);
    store_view_close(view);
    if (err == 0)
        *ret = t;
    return err;
}

/* ---- Taking what waits ---------------------------------------------------------------------- */

static int take_one(void *ctx, uint64_t seq, struct str message)
{
    struct reader *r = ctx;
    if (seq > r->push_seen && r->stream) {
        r->push_seen = seq;
        stream_append(r->stream, message, false, seq);
    }
    return r->stream ? 0 : 1; /* without memory it was broken off */
}

void push_drain(struct reader *r)
{
    struct store_view *view;
    r->n_errands++; /* it has to be there to the end */
    if (store_view_open(r->streams->core->store, STORE_SYS, &view) == 0) {
        store_scan_pushes(view, stream_session(&r->name), take_one, r);
        store_view_close(view);
    }
    r->n_errands--;
    reader_settle(r);
}

/* The one that was opened last, though it does not take the pushes yet. */
static struct reader *find_listener(struct streams *streams, struct str session)
{
    for (struct reader *r = readers_of(streams, session); r; r = r->next_of)
        if (r->listens && r->is_open && r->sink && r->stream)
            return r;
    return NULL;
}

static void tell(struct streams *streams, const struct stream_name *name, struct worker_id to);

/* The stream that was here is not any more: the next newest may be elsewhere. */
static void pass_on(struct streams *streams, struct str session)
{
    struct stream_name name;
    struct target target;
    if (find_target(streams, session, &target) == 0 && target.worker.epoch &&
        !stream_is_self(streams, target.worker) && stream_name_set(&name, session, 0))
        tell(streams, &name, worker_id_of(target.worker));
}

static void take_pushes_here(struct streams *streams, struct str session)
{
    struct reader *r = reader_of_pushes(streams, session), *listener;
    if (r)
        push_drain(r);
    else if ((listener = find_listener(streams, session)))
        reader_claim_pushes(listener);
    else
        pass_on(streams, session);
}

void push_take(struct core *core, struct worker_id from, const struct tape_node *letter)
{
    (void)from;
    const struct tape_node *session = tape_get(letter, STR("session"));
    if (session && session->kind == TAPE_STR)
        take_pushes_here(core->streams, tape_str(session));
}

/* ---- Sending -------------------------------------------------------------------------------- */

static void tell(struct streams *streams, const struct stream_name *name, struct worker_id to)
{
    struct buf body = {0};
    if (stream_is_self(streams, store_worker_of(to))) {
        take_pushes_here(streams, stream_session(name));
        return;
    }
    buf_printf(&body, "\"session\":\"%s\"", name->session);
    if (!body.failed)
        mail_send(streams->core, to, MAIL_PUSH, buf_str(&body), NULL, NULL);
    buf_done(&body);
}

/* Whoever held the claim at the commit knows of it; a later holder finds it when it takes over. */
static void waits(struct errand *e, int err)
{
    struct store_worker holder = e->claim_before.worker;
    if (err < 0)
        return;
    if (stream_is_alive(e->streams, holder) &&
        (!stream_is_self(e->streams, holder) ||
         reader_of_pushes(e->streams, stream_session(&e->name))))
        tell(e->streams, &e->name, worker_id_of(holder));
    else if (e->to.epoch)
        tell(e->streams, &e->name, e->to);
}

static void put(struct streams *streams, struct str session, struct str message,
                const struct target *target, int64_t wait_ms)
{
    struct stream_name name;
    struct errand *e =
        stream_name_set(&name, session, 0) ? errand_new(streams, NULL, &name, message) : NULL;
    if (!e)
        return;
    if (target->worker.epoch && wait_ms < PUSH_HANDOVER_MS)
        wait_ms = PUSH_HANDOVER_MS;
    e->to = worker_id_of(target->worker);
    e->ops[0] = (struct store_op){.kind = STORE_PUT_PUSH,
                                  .if_version = STORE_ANY,
                                  .claim = &e->claim,
                                  .message = e->message,
                                  .until_ms = clock_wall_ms() + wait_ms,
                                  .ret_claim = &e->claim_before};
    e->repeats = true; /* later than others, but not lost */
    errand_submit(e, 1, waits);
}

void push_send(struct core *core, struct str session, struct str message, int64_t wait_ms)
{
    struct streams *streams = core->streams;
    struct target target;
    if (core->stdio_session) {
        if (core->push_sink)
            sink_send(core->push_sink, STR_NONE, message);
        return;
    }
    struct reader *r = reader_of_pushes(streams, session);
    if (r)
        stream_append(r->stream, message, false, 0);
    else if (find_target(streams, session, &target) == 0 && (target.worker.epoch || wait_ms > 0))
        put(streams, session, message, &target, wait_ms);
}
