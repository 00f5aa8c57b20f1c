/* core/follow_load.c - what a session subscribed to and where it stands, from the store.
 *
 * Read when a follower begins and when its subscriptions became others. The second time only what
 * is new has to catch up, from where it began; what is pending stays. Where frames did not get into
 * the store it begins anew. A session with many subscriptions is not read again at once each time
 * that one is added: what changes meanwhile is told a moment later.
 */
#include "core/follow_parts.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"

#include <string.h>

#define LOADS_PER_TURN 10000 /* subscriptions */

struct loading {
    struct follower *follower;
    struct store_follow follow; /* n 0: it has none */
    uint64_t stored_seq;        /* of the stream; 0: none */
    uint64_t new_seq;           /* the earliest start of those that are new; UINT64_MAX: none is */
};

static struct interest *interest_at(struct map_node *node)
{
    return node ? MEMBER_OF(node, struct interest, by_uri) : NULL;
}

static struct interest *next_of(const struct follower *f, struct interest *i)
{
    return interest_at(node_map_each(&f->interests, i ? &i->by_uri : NULL));
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* ---- Reading -------------------------------------------------------------------------------- */

static int take_subscription(void *ctx, const struct store_subscription *s)
{
    struct loading *l = ctx;
    struct interest *i = interest_find(l->follower, s->uri);
    if (!i) {
        i = interest_new(l->follower, s);
        if (!i)
            return ERR_NO_MEMORY;
        i->after_seq = s->start_seq;
        l->new_seq = earlier(l->new_seq, s->start_seq);
    } else if (l->follower->is_lost) {
        i->after_seq = s->start_seq;
    }
    i->all = s->all;
    i->coalesce_ms = s->coalesce_ms;
    i->is_there = true;
    return 0;
}

/* Somebody else may have the session's pushes by now. */
static int check_claim(const struct follower *f, struct store_view *view)
{
    struct store_claim claim;
    int err = store_get_claim(view, stream_session(&f->reader->name), &claim);
    return err == 0 && claim.token != f->reader->push_token ? ERR_CONFLICT : err;
}

static int read_stream(struct loading *l, struct store_view *view)
{
    const struct stream_name *name = &l->follower->reader->name;
    struct store_stream record;
    struct arena arena;
    arena_init(&arena, 0);
    int err = store_get_stream(view, stream_session(name), name->id, &arena, &record);
    l->stored_seq = err == 0 ? record.seq : 0;
    arena_done(&arena);
    return err == ERR_ABSENT ? 0 : err;
}

static int read_sys(struct loading *l, struct store_view *view)
{
    struct str session = stream_session(&l->follower->reader->name);
    int err = check_claim(l->follower, view);
    if (err == 0)
        err = store_get_follow(view, session, &l->follow);
    if (err == ERR_ABSENT) { /* no claim, no subscription */
        l->follow = (struct store_follow){.n = 0};
        return 0;
    }
    if (err == 0 && l->follower->has_stored)
        err = read_stream(l, view);
    return err < 0 ? err : store_scan_subscriptions(view, session, take_subscription, l);
}

struct log_range {
    uint64_t floor, last;
};

static int read_log(struct store_view *data, struct log_range *ret)
{
    int err = store_last_seq(data, &ret->last);
    return err < 0 ? err : store_floor_seq(data, &ret->floor);
}

/* The log is read last: no subscription may start behind it. */
static int read_both(struct loading *l, struct log_range *ret)
{
    struct store *store = l->follower->follows->core->store;
    struct store_view *sys, *data;
    int err = store_view_open(store, STORE_SYS, &sys);
    if (err < 0)
        return err;
    err = read_sys(l, sys);
    if (err == 0)
        err = store_view_open(store, STORE_DATA, &data);
    if (err == 0) {
        err = read_log(data, ret);
        store_view_close(data);
    }
    store_view_close(sys);
    return err;
}

/* ---- Where to go on ------------------------------------------------------------------------- */

void follower_gap(struct follower *f, uint64_t from, uint64_t floor, uint64_t last)
{
    for (struct interest *i = NULL; (i = next_of(f, i));) {
        i->after_seq = later(i->after_seq, from);
        if (i->after_seq + 1 >= floor)
            continue;
        i->after_seq = last;
        interest_gap(i, from + 1);
    }
    follower_fall_behind(f, floor - 1);
}

/* A position that is not one of this log: all that there is may be new. */
static void begin_foreign(struct loading *l, const struct log_range *log)
{
    struct follower *f = l->follower;
    for (struct interest *i = NULL; (i = next_of(f, i));) {
        i->after_seq = log->last;
        interest_gap(i, 1);
    }
    f->told.seq = f->told.sent_seq = 0;
    follower_fall_behind(f, log->last);
}

static uint64_t begin_at(const struct loading *l, const struct log_range *log)
{
    const struct follower *f = l->follower;
    uint64_t seq = f->begin_seq;
    if (l->stored_seq && l->stored_seq <= f->told.seq)
        seq = later(seq, l->stored_seq);
    return seq == 0 || seq > log->last ? l->follow.sent_seq : seq;
}

static void begin(struct loading *l, const struct log_range *log)
{
    struct follower *f = l->follower;
    uint64_t seq = begin_at(l, log);
    follower_forget(f);
    f->is_lost = f->has_stored = false;
    f->told = l->follow;
    f->told.seq = f->begin_seq = seq;
    f->told.sent_seq = earlier(l->follow.sent_seq, seq);
    if (f->interests.n == 0)
        return;
    if (l->follow.is_foreign || seq > log->last) {
        begin_foreign(l, log);
        return;
    }
    for (struct interest *i = NULL; (i = next_of(f, i));)
        i->after_seq = later(i->after_seq, seq);
    if (seq + 1 < log->floor)
        follower_gap(f, seq, log->floor, log->last);
    else
        follower_fall_behind(f, seq);
}

/* What was there before has been looked at already. Of the first subscription nothing before it is
 * to be told. */
static void go_on(struct loading *l, uint64_t looked, bool had_none)
{
    struct follower *f = l->follower;
    f->told.generation = l->follow.generation;
    if (had_none && l->follow.n) {
        f->told = l->follow;
        f->begin_seq = l->follow.seq;
    }
    if (f->interests.n && l->new_seq < looked)
        follower_fall_behind(f, l->new_seq);
}

static void sweep(struct follower *f)
{
    struct interest *i = next_of(f, NULL), *next;
    for (; i; i = next) {
        next = next_of(f, i);
        if (!i->is_there)
            interest_free(i);
        else
            i->is_there = false;
    }
}

static void drop_all(struct follower *f)
{
    struct interest *i;
    follower_forget(f);
    while ((i = next_of(f, NULL)))
        interest_free(i);
}

/* ---- When ----------------------------------------------------------------------------------- */

/* Those whose memory did not suffice are not lost: their position stays where it is. */
static void failed(struct follower *f, int err)
{
    drop_all(f);
    if (err == ERR_CONFLICT)
        return; /* not ours: follow_end comes */
    follower_rest(f);
    if (!f->has_failed)
        log_warn("the subscriptions of %.8s... cannot be read now: %s", f->reader->name.session,
                 err_text(err));
    f->has_failed = true;
    follower_spoil(f, true);
    f->load_ms = clock_mono_ms() + FOLLOW_RETRY_MS;
}

static void load(struct follower *f)
{
    struct loading l = {.follower = f, .new_seq = UINT64_MAX};
    struct log_range log = {0};
    uint64_t looked = follower_looked(f);
    bool had_none = f->interests.n == 0;
    int err = read_both(&l, &log);
    f->is_stale = false;
    f->load_ms = clock_mono_ms() + f->interests.n / FOLLOW_LOADS_PER_MS;
    if (err < 0) {
        failed(f, err);
        return;
    }
    f->has_failed = false;
    sweep(f);
    if (f->interests.n == 0)
        follower_rest(f);
    if (f->is_lost)
        begin(&l, &log);
    else
        go_on(&l, looked, had_none);
    follower_make_ready(f);
    follows_post(f->follows);
}

void follows_load(struct follows *follows)
{
    int64_t now_ms = clock_mono_ms();
    uint32_t n = 0;
    for (struct link *at = follows->stale.next, *next; at != &follows->stale; at = next) {
        struct follower *f = MEMBER_OF(at, struct follower, stale);
        next = at->next;
        if (now_ms < f->load_ms) {
            follows_retry(follows, f->load_ms - now_ms);
            continue;
        }
        if (n >= LOADS_PER_TURN) {
            follows_post(follows);
            return;
        }
        link_remove(&f->stale);
        load(f);
        n += f->interests.n + 1;
    }
}
