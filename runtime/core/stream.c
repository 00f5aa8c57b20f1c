/* core/stream.c - the writing side of streams; see stream.h. How frames are stored:
 * stream_commit.c.
 *
 *   stream_send --> waiting frames --(end of the turn)--> one commit --> the readers are told
 *        \--> at once into the reader of this worker, if it has got all before
 *
 * While a commit is under way the next frames gather, so one commit takes what came during the one
 * before. A frame goes out before it is committed only if its number was reserved by a commit, so
 * that no number is used twice after a crash; else the reader gets it from the store.
 */
#include "core/stream_parts.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

#define WAITING_BYTES_MAX (64u << 20) /* of all frames that the store has not taken yet */

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
    if (!stream_join(s)) {
        free(s);
        return NULL;
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
    stream_part(s);
    *s->at = s->next;
    if (s->next)
        s->next->at = s->at;
    free(s);
}

struct stream *streams_find(struct streams *streams, const struct stream_name *name)
{
    for (struct stream *s = streams_of(streams, stream_session(name)); s; s = s->next_of)
        if (stream_name_eq(&s->name, name))
            return s;
    return NULL;
}

bool streams_pending(const struct streams *streams, const struct stream_name *name)
{
    for (const struct stream *s = streams_of(streams, stream_session(name)); s; s = s->next_of)
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
    e->repeats = true; /* else it counts as one that listens as long as this worker lives */
    errand_submit(e, 1, NULL);
}

void stream_give_back(struct streams *streams, const struct stream_name *name, uint64_t token)
{
    for (struct stream *s = streams_of(streams, stream_session(name)); s; s = s->next_of)
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
        reader_send(r, ++s->last_n, 0, message);
    else
        reader_end(r);
}

struct frame *stream_add_frame(struct stream *s, struct str message)
{
    struct frame *f = frame_new(s, message);
    if (!f)
        return NULL;
    f->n = message.p ? ++s->last_n : 0;
    if (s->last_n + STREAM_NUMBERS / 2 > s->asked_n)
        s->asked_n += STREAM_NUMBERS;
    s->n_pending++;
    frames_add(&s->streams->waiting, f);
    post_flush(s->streams);
    return f;
}

void stream_append(struct stream *s, struct str message, bool is_last, uint64_t push_seq)
{
    if (s->is_broken) {
        send_unstored(s, message);
        return;
    }
    bool makes_record = !s->listens && s->last_n == 0;
    struct frame *f = stream_add_frame(s, message);
    if (!f) {
        struct reader *r = s->listens ? NULL : s->reader;
        bool goes_on = r && r->is_open && r->sent_n == s->last_n; /* see stream_break */
        stream_break(s);
        if (goes_on)
            send_unstored(s, message);
        return;
    }
    f->makes_record = makes_record;
    f->is_last = is_last;
    f->push_seq = push_seq;
    if (may_go_at_once(s, f)) {
        f->was_sent = true;
        reader_send(s->reader, f->n, 0, f->message);
    } else if (s->reader) {
        reader_watch(s->reader);
    }
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
        reader = reader_new(streams, &name, sink, call->in.access);
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
    errands_free(streams);
    free(streams->sessions.buckets);
    free(streams);
}

void streams_end_session(struct streams *streams, struct str session)
{
    struct stream *next;
    struct reader *after;
    for (struct reader *r = readers_of(streams, session); r; r = after) {
        after = r->next_of;
        if (r->sink)
            reader_end(r);
    }
    for (struct stream *s = streams_of(streams, session); s; s = next) {
        next = s->next_of;
        if (s->plain)
            continue;
        stream_break(s);
        stream_settle(s);
    }
}
