/* core/stream_pushes.c - which stream of a session takes what belongs to no request.
 *
 * The one that was opened last: the claim in the store says whose it is. Claims may be committed in
 * another order than the streams were opened in, so a claim's token rises with the time at which
 * its stream was; one that comes too late changes nothing. Who takes the pushes also follows the
 * change log for the session (follow.h), from where its stream stands.
 */
#include "core/stream_parts.h"

#include "core/follow.h"
#include "core/list_changed.h"

#include <string.h>

void reader_stop_pushes(struct reader *r)
{
    if (!r->holds_pushes)
        return;
    r->holds_pushes = false;
    follow_end(r);
}

/* The one before stops to take pushes. Each message goes out once whoever takes it, so nobody waits
 * for that. */
static void stop_before(struct reader *r, const struct store_claim *before)
{
    struct stream_name name = r->name;
    name.id = before->stream;
    if (before->worker.epoch == 0 || before->token == r->push_token)
        return;
    if (!stream_is_self(r->streams, before->worker)) {
        if (stream_is_alive(r->streams, before->worker))
            tell_release(r->streams, before->worker, &name, before->token, 0, 0);
        return;
    }
    struct reader *old = reader_find(r->streams, &name, before->token);
    if (old)
        reader_stop_pushes(old);
}

/* Up to where its stream tells of the change log: as its last frame says, which nobody else can
 * write any more; else as the event that the client named. 0: a new one. */
static uint64_t position_of(struct reader *r)
{
    struct store_stream record;
    struct store_view *view;
    struct arena arena;
    uint64_t seq = r->named_seq;
    if (r->is_anew || store_view_open(r->streams->core->store, STORE_SYS, &view) < 0)
        return seq;
    arena_init(&arena, 0);
    if (store_get_stream(view, stream_session(&r->name), r->name.id, &arena, &record) == 0 &&
        record.seq)
        seq = record.seq;
    arena_done(&arena);
    store_view_close(view);
    return seq;
}

/* The session has opened another stream since. */
static bool is_late(const struct reader *r, const struct store_claim *before)
{
    return before->worker.epoch && before->token > r->push_token &&
           stream_is_alive(r->streams, before->worker);
}

void reader_take_pushes(struct reader *r, const struct store_claim *before)
{
    if (is_late(r, before))
        return;
    stop_before(r, before);
    reader_stop_pushes(r); /* under an older claim of its own */
    r->holds_pushes = true;
    memset(r->told, 0, sizeof r->told);
    follow_begin(r, position_of(r));
    push_drain(r);
    list_changed_compare(r);
}

static void claimed(struct errand *e, int err)
{
    struct reader *r = e->reader;
    if (err == 0 && r->sink && r->is_open && r->stream && e->claim.token == r->push_token)
        reader_take_pushes(r, &e->claim_before);
}

/* Later streams have higher ones; and each claim of a stream has its own. */
static uint64_t next_push_token(struct reader *r)
{
    uint64_t differs = (r->token + ++r->n_claims) & STREAM_TOKEN_MASK;
    return (r->token & ~STREAM_TOKEN_MASK) | differs;
}

void reader_fill_claim(struct errand *e, struct store_op *op)
{
    struct reader *r = e->reader;
    r->push_token = next_push_token(r);
    e->claim.worker = store_worker_of(bus_self(r->streams->core->config.bus));
    e->claim.token = r->push_token;
    *op = (struct store_op){.kind = STORE_CLAIM_PUSHES,
                            .if_version = STORE_ANY,
                            .claim = &e->claim,
                            .is_alive = streams_is_alive,
                            .check_ctx = r->streams,
                            .ret_claim = &e->claim_before};
}

void reader_claim_pushes(struct reader *r)
{
    struct errand *e = errand_new(r->streams, r, &r->name, STR_NONE);
    if (!e)
        return;
    reader_fill_claim(e, &e->ops[0]);
    errand_submit(e, 1, claimed);
}
