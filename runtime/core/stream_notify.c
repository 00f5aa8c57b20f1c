/* core/stream_notify.c - notifications of subscriptions on a stream; see follow.h.
 *
 * Each is a frame that is committed together with the position that the session has reached by it,
 * under the claim by which its reader took the pushes when it was made. So it is in the store or
 * the position has not moved, and what another worker, or a later claim of this one, has begun to
 * tell is not told twice. Several of one stream in one commit share the operation that moves the
 * position. None goes out before its commit: readers get them from the store.
 */
#include "core/stream_parts.h"

#include "base/err.h"
#include "core/follow.h"

int stream_notify(struct stream *s, struct str message, const struct store_follow *to)
{
    struct reader *r = s->reader;
    if (s->is_broken || s->has_ended || s->is_handed_over || !r || !r->holds_pushes)
        return ERR_ABSENT;
    struct frame *f = stream_add_frame(s, message);
    if (!f)
        return ERR_NO_MEMORY;
    reader_watch(r);
    f->token = r->push_token;
    f->follow = *to;
    return 0;
}

/* ---- In the commit -------------------------------------------------------------------------- */

static bool has_note_of(const struct commit *c, const struct stream *s, uint64_t token)
{
    return s->note_op != OP_NONE && c->claims[s->note_op].token == token;
}

/* The subscriptions are those by which the first one was made: where they have become others since,
 * that one may tell of what is not subscribed to any more, or its position may be behind what a new
 * one has to be told, so none of them may go in. */
static void move_note(struct store_follow *note, const struct store_follow *to)
{
    uint64_t generation = note->generation;
    *note = *to;
    note->generation = generation;
}

uint32_t note_fill(struct commit *c, uint32_t i, struct frame *f)
{
    struct stream *s = f->stream;
    if (has_note_of(c, s, f->token)) {
        move_note(&c->follows[s->note_op], &f->follow);
        return i;
    }
    c->claims[i] = (struct store_claim){
        .session = stream_session(&s->name),
        .stream = s->name.id,
        .worker = store_worker_of(bus_self(s->streams->core->config.bus)),
        .token = f->token,
    };
    c->follows[i] = f->follow;
    c->ops[i] = (struct store_op){.kind = STORE_SET_FOLLOW,
                                  .if_version = STORE_ANY,
                                  .claim = &c->claims[i],
                                  .follow = &c->follows[i]};
    s->note_op = i;
    return i + 1;
}

/* ---- What became of it ---------------------------------------------------------------------- */

/* The reader under whose claim it was made, if it still takes the pushes. */
static struct reader *reader_of_note(const struct commit *c, const struct stream *s)
{
    struct reader *r = s->reader;
    return r && r->holds_pushes && has_note_of(c, s, r->push_token) ? r : NULL;
}

void notes_stored(struct commit *c, struct stream *s)
{
    struct reader *r = reader_of_note(c, s);
    if (!r)
        return;
    if (r->sent_n == s->last_n && r->sent_seq < c->follows[s->note_op].seq)
        r->sent_seq = c->follows[s->note_op].seq;
    follow_stored(r, 0);
}

/* Those of a stream under one claim. */
struct note_of {
    const struct stream *stream;
    uint64_t token;
};

/* What waits says that those of the commit were told. */
static bool is_behind_failed(const struct commit *c, const struct frame *f)
{
    return f->stream->is_touched && has_note_of(c, f->stream, f->token);
}

/* Takes notifications out of `frames`: those that `bad` is one of; NULL: those behind what failed.
 */
static void drop_notes(struct commit *c, struct frames *frames, const struct note_of *bad)
{
    struct frames rest;
    struct frame *f;
    frames_init(&rest);
    while ((f = frames_take(frames))) {
        bool is_bad = bad ? f->token == bad->token && f->stream == bad->stream
                          : f->token && is_behind_failed(c, f);
        if (!is_bad) {
            frames_add(&rest, f);
            continue;
        }
        frame_skip(f);
        frame_free(f); /* its stream stays: another one of it is in the commit */
    }
    frames_return(frames, &rest);
}

/* Has somebody else claimed the pushes since, and his letter is on its way? */
static bool is_claim_lost(struct reader *r)
{
    struct store_claim claim;
    struct store_view *view;
    if (store_view_open(r->streams->core->store, STORE_SYS, &view) < 0)
        return false;
    int err = store_get_claim(view, stream_session(&r->name), &claim);
    store_view_close(view);
    return err == ERR_ABSENT || (err == 0 && claim.token != r->push_token);
}

void notes_refused(struct commit *c, struct frame *bad, int err)
{
    const struct note_of those = {bad->stream, bad->token};
    drop_notes(c, &c->frames, &those);
    drop_notes(c, &c->streams->waiting, &those);
    struct reader *r = those.stream->reader;
    if (!r || !r->holds_pushes || r->push_token != those.token)
        return;
    if (is_claim_lost(r))
        reader_stop_pushes(r);
    else
        follow_stored(r, err);
}

void notes_failed(struct commit *c, int err)
{
    struct reader *r;
    drop_notes(c, &c->streams->waiting, NULL);
    for (struct stream *s = c->touched; s; s = s->touched)
        if ((r = reader_of_note(c, s)))
            follow_stored(r, err);
}
