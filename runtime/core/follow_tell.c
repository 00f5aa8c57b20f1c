/* core/follow_tell.c - notices: what a follower is to be told, and how it is.
 *
 * All that are pending stand in one list by the sequence of their change; a merged interest that
 * changes again moves to the end. So everything before the first one was told, and that is the
 * follower's position. Those that may go now stand in a second list in the same order; those whose
 * interest coalesces wait in a third. Only what the reader has room for becomes a frame: until then
 * changes of merged interests cost nothing.
 */
#include "core/follow_parts.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "wire/json_write.h"

#include <stdlib.h>
#include <string.h>

/* ---- Notices come and go -------------------------------------------------------------------- */

static struct notice *notice_in_all(struct link *link)
{
    return MEMBER_OF(link, struct notice, all);
}

static struct notice *notice_in_turn(struct link *link)
{
    return MEMBER_OF(link, struct notice, turn);
}

/* From the end: what comes is nearly always the newest. */
static void enter_all(struct follower *f, struct notice *notice)
{
    struct link *at = f->all.before;
    while (at != &f->all && notice_in_all(at)->seq > notice->seq)
        at = at->before;
    link_add_after(at, &notice->all);
}

static void enter_due(struct follower *f, struct notice *notice)
{
    notice->is_due = true;
    struct link *at = f->due.before;
    while (at != &f->due && notice_in_turn(at)->seq > notice->seq)
        at = at->before;
    link_add_after(at, &notice->turn);
    follower_make_ready(f);
}

static void enter_turn(struct follower *f, struct notice *notice)
{
    struct interest *i = notice->interest;
    if (i->coalesce_ms == 0 || clock_mono_ms() >= i->window_ms) {
        enter_due(f, notice);
        return;
    }
    link_add_after(f->waiting.before, &notice->turn);
    f->follows->has_waiting = true;
}

static void add(struct notice *notice)
{
    struct interest *i = notice->interest;
    if (i->n_notices++ == 0 && i->coalesce_ms)
        i->window_ms = clock_mono_ms() + i->coalesce_ms;
    notice->is_pending = true;
    enter_all(i->follower, notice);
    enter_turn(i->follower, notice);
}

static void take_out(struct notice *notice)
{
    notice->is_pending = notice->is_due = false;
    notice->interest->n_notices--;
    link_remove(&notice->all);
    link_remove(&notice->turn);
}

void notice_free(struct notice *notice)
{
    struct follower *f = notice->interest->follower;
    take_out(notice);
    notice->is_gap = false;
    if (!notice->is_event)
        return;
    free(notice);
    if (--f->n_events == 0 && f->is_full) {
        f->is_full = false;
        follows_post(f->follows);
    }
}

void follower_forget(struct follower *f)
{
    while (!link_is_empty(&f->all))
        notice_free(notice_in_all(f->all.next));
    link_remove(&f->ready);
}

/* ---- A change ------------------------------------------------------------------------------- */

static void merge(struct interest *i, uint64_t seq)
{
    struct notice *notice = &i->notice;
    if (notice->is_pending && seq <= notice->seq)
        return;
    if (!notice->is_pending) {
        notice->seq = seq;
        add(notice);
        return;
    }
    bool is_due = clock_mono_ms() >= i->window_ms;
    notice->seq = seq;
    link_remove(&notice->all);
    enter_all(i->follower, notice);
    if (!is_due)
        return; /* it waits, in no order */
    link_remove(&notice->turn);
    enter_due(i->follower, notice);
}

static struct notice *event_new(struct interest *i, const struct store_change *change)
{
    bool has_row = i->table && change->kind <= STORE_ROW_DELETED && !i->id.p;
    struct str key = has_row ? change->key : STR_NONE;
    struct notice *notice = calloc(1, sizeof *notice + key.n + 1);
    if (!notice)
        return NULL;
    notice->interest = i;
    notice->seq = change->seq;
    notice->is_event = true;
    if (has_row) {
        memcpy(notice + 1, key.p, key.n);
        notice->key = (struct str){(const char *)(notice + 1), key.n};
    }
    return notice;
}

void interest_gap(struct interest *i, uint64_t seq)
{
    struct notice *notice = &i->notice;
    notice->is_gap = true;
    if (notice->is_pending)
        return;
    notice->seq = seq;
    add(notice);
}

void interest_hit(struct interest *i, const struct store_change *change)
{
    struct follower *f = i->follower;
    if (change->seq <= i->after_seq)
        return;
    i->after_seq = change->seq;
    if (!i->all) {
        merge(i, change->seq);
        return;
    }
    struct notice *notice = event_new(i, change);
    if (!notice) {
        interest_gap(i, change->seq);
        return;
    }
    f->n_events++;
    add(notice);
}

/* ---- The text ------------------------------------------------------------------------------- */

static void write_row_uri(const struct notice *notice, struct buf *out)
{
    const struct watched *w = notice->interest->table;
    struct buf uri = {0};
    buf_printf(&uri, "db://" STR_FMT "/" STR_FMT "/", STR_ARG(w->database), STR_ARG(w->name));
    key_write_segment(w->key_type, notice->key, &uri);
    out->failed |= uri.failed;
    if (!uri.failed)
        json_write_str(out, buf_str(&uri));
    buf_done(&uri);
}

static void write_meta(const struct notice *notice, struct buf *out)
{
    buf_add_lit(out, ",\"_meta\":{");
    if (notice->is_event)
        buf_printf(out, "\"tenon/seq\":%llu", (unsigned long long)notice->seq);
    else
        buf_add_lit(out, "\"tenon/gap\":true");
    if (notice->key.p) {
        buf_add_lit(out, ",\"tenon/uri\":");
        write_row_uri(notice, out);
    }
    buf_add_char(out, '}');
}

static void write_message(const struct notice *notice, struct buf *out)
{
    rpc_open_call(out, STR_NONE, "notifications/resources/updated");
    buf_add_lit(out, "{\"uri\":");
    json_write_str(out, notice->interest->uri);
    if (notice->is_event || (notice->is_gap && notice->interest->all))
        write_meta(notice, out);
    buf_add_char(out, '}');
    rpc_close(out);
}

/* ---- Sending -------------------------------------------------------------------------------- */

uint64_t follower_position(const struct follower *f)
{
    if (link_is_empty(&f->all))
        return follower_looked(f);
    return MEMBER_OF(f->all.next, struct notice, all)->seq - 1;
}

static bool plain_has_room(const struct follower *f)
{
    struct core *core = f->follows->core;
    return core->push_sink && core->stdio_session;
}

static uint32_t unsent_max(const struct follower *f)
{
    uint32_t kept = f->follows->core->config.stream_frames;
    kept = kept ? kept : STREAM_FRAMES;
    return kept / 2 < 1 ? 1 : kept / 2 > FOLLOW_UNSENT_MAX ? FOLLOW_UNSENT_MAX : kept / 2;
}

/* Frames that are in the store but not sent may be forgotten there, if too many come. */
static bool has_room(const struct follower *f)
{
    const struct reader *r = f->reader;
    const struct stream *s = r ? r->stream : NULL;
    if (!r)
        return plain_has_room(f);
    return s && r->sink && r->is_open && r->has_room && !f->is_stale && !f->is_lost &&
           s->n_pending < unsent_max(f) &&
           (r->sent_n >= s->last_n || s->last_n - r->sent_n < unsent_max(f));
}

/* The position is as if the notice were told already. */
static int send(struct follower *f, struct str message)
{
    struct store_follow to = f->told;
    if (!f->reader) {
        sink_send(f->follows->core->push_sink, STR_NONE, message);
        return 0;
    }
    to.seq = follower_position(f);
    if (to.sent_seq > to.seq)
        to.sent_seq = to.seq;
    int err = stream_notify(f->reader->stream, message, &to);
    if (err == 0)
        f->told = to;
    return err;
}

static int write_and_send(struct notice *notice)
{
    struct follower *f = notice->interest->follower;
    struct buf text = {0};
    write_message(notice, &text);
    link_remove(&notice->all);
    int err = text.failed ? ERR_NO_MEMORY : send(f, buf_str(&text));
    enter_all(f, notice);
    buf_done(&text);
    return err;
}

/* False: no memory, or no room. What may not be read is passed over. */
static bool tell_first(struct follower *f)
{
    struct notice *notice = notice_in_turn(f->due.next);
    bool may = false;
    if (!has_room(f))
        return false;
    int err = interest_may_be_told(notice->interest, &may);
    if (err < 0)
        follows_retry(f->follows, FOLLOW_RETRY_MS);
    if (err < 0)
        return false;
    err = may ? write_and_send(notice) : 0;
    if (err == 0)
        notice_free(notice);
    else if (err == ERR_NO_MEMORY)
        follows_retry(f->follows, FOLLOW_RETRY_MS);
    return err == 0;
}

uint32_t follower_tell(struct follower *f, uint32_t most)
{
    uint32_t n = 0;
    f->is_telling = true; /* a stream that cannot go on ends at once */
    while (n < most && !f->is_over && !link_is_empty(&f->due) && tell_first(f))
        n++;
    f->is_telling = false;
    if (f->is_over)
        follower_free(f);
    else if (n < most)
        link_remove(&f->ready); /* comes again by follow_ready and the like */
    return n;
}

void follower_make_ready(struct follower *f)
{
    if (link_is_empty(&f->due) || f->ready.next)
        return;
    link_add_after(f->follows->ready.before, &f->ready);
    follows_post(f->follows);
}

/* One walk, however many have become due: to put each in its place would take one for each. */
static void sort_due(struct follower *f)
{
    for (struct link *l = f->all.next; l != &f->all; l = l->next) {
        struct notice *notice = notice_in_all(l);
        if (!notice->is_due)
            continue;
        link_remove(&notice->turn);
        link_add_after(f->due.before, &notice->turn);
    }
}

void follower_wait_over(struct follower *f, int64_t now_ms)
{
    bool any_over = false;
    for (struct link *l = f->waiting.next, *next; l != &f->waiting; l = next) {
        struct notice *notice = notice_in_turn(l);
        next = l->next;
        if (now_ms < notice->interest->window_ms) {
            f->follows->has_waiting = true;
            continue;
        }
        any_over = notice->is_due = true;
        link_remove(&notice->turn);
        link_add_after(f->due.before, &notice->turn);
    }
    if (!any_over)
        return;
    sort_due(f);
    follower_make_ready(f);
}

/* ---- Positions ------------------------------------------------------------------------------ */

static bool is_taken(const struct reader *r)
{
    if (!r->sink || !r->is_open)
        return false;
    return !r->sink->ops->is_taken || r->sink->ops->is_taken(r->sink);
}

/* Does nothing wait to be committed or sent? */
static bool is_all_sent(const struct reader *r)
{
    return r->stream->n_pending == 0 && r->sent_n >= r->stream->last_n;
}

/* Where it would stand by what the connection has taken. False: as it did. `most`: changes of no
 * concern that a next connection may look at again. */
static bool has_moved(const struct follower *f, uint64_t most, struct store_follow *ret)
{
    const struct reader *r = f->reader;
    struct store_follow now = f->told;
    if (f->interests.n == 0 || f->is_stale || f->is_lost || !r || !r->stream)
        return false;
    uint64_t position = follower_position(f);
    if (is_all_sent(r) && (now.sent_seq < now.seq || position > now.seq + most))
        now.seq = now.sent_seq = position;
    else if (r->sent_seq > now.sent_seq)
        now.sent_seq = r->sent_seq < now.seq ? r->sent_seq : now.seq;
    *ret = now;
    return now.sent_seq > f->told.sent_seq && is_taken(r);
}

void follower_note(struct follower *f)
{
    struct store_follow now;
    if (has_moved(f, FOLLOW_NOTE_CHANGES, &now) &&
        stream_notify(f->reader->stream, STR_NONE, &now) == 0)
        f->told = now;
}

struct note {
    struct store_write write; /* first */
    struct store_op op;
    struct store_claim claim;
    struct store_follow follow;
    struct stream_name name;
};

static void noted(struct store_write *write, int err)
{
    (void)err; /* somebody else has the claim, or the session is gone */
    free(write);
}

void follower_note_last(struct follower *f)
{
    struct store_follow now;
    struct note *note = has_moved(f, 0, &now) ? calloc(1, sizeof *note) : NULL;
    if (!note)
        return;
    note->name = f->reader->name;
    note->follow = now;
    note->claim.session = stream_session(&note->name);
    note->claim.stream = note->name.id;
    note->claim.token = f->reader->push_token;
    note->op = (struct store_op){.kind = STORE_SET_FOLLOW,
                                 .if_version = STORE_ANY,
                                 .claim = &note->claim,
                                 .follow = &note->follow};
    note->write =
        (struct store_write){.space = STORE_SYS, .ops = &note->op, .n_ops = 1, .done = noted};
    store_submit(f->follows->core->store, &note->write);
}
