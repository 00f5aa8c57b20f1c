/* store/check_live.c - store_check of streams with their frames, of claims and pushes with their
 * sessions, of letters, and of subscriptions.
 */
#include "store/internal.h"

#include "base/err.h"

#include <inttypes.h>

struct live_check {
    struct kv_txn *txn;
    struct findings *findings;
    struct arena scratch; /* of a record */
    uint64_t first_n, last_n, n, bytes;
    struct sys_key stream; /* whose frames are passing by */
    uint64_t n_waiting;    /* subscriptions that the keeper will remove */
};

static int is_there(struct kv_txn *txn, enum kv_map map, struct str key)
{
    struct str value;
    int err = kv_get(txn, map, key, &value);
    return err == ERR_ABSENT ? 0 : err ? err : 1;
}

/* `what` of a session; negative: an error of the engine. */
static int check_session(struct live_check *c, struct str session, const char *what)
{
    struct shown_id shown;
    int there = is_there(c->txn, KV_SESSIONS, session);
    if (there == 0)
        find(c->findings, "%s of session %s, which is not there", what, show_id(session, &shown));
    return there < 0 ? there : 0;
}

static int cannot_be_read(struct live_check *c, const char *what, int err)
{
    if (!is_finding(err))
        return err;
    find(c->findings, "%s cannot be read: %s", what, err_text(err));
    return 0;
}

/* ---- Streams -------------------------------------------------------------------------------- */

static int measure_frame(void *ctx, struct str key, struct str value)
{
    struct live_check *c = ctx;
    if (key.n < 8)
        return 0;
    c->last_n = kv_u64(key.p + key.n - 8);
    c->first_n = c->n++ ? c->first_n : c->last_n;
    c->bytes += value.n;
    return 0;
}

static int compare_frames(struct live_check *c, struct str key, const struct stream_record *r)
{
    struct shown_id shown;
    c->first_n = c->last_n = c->n = c->bytes = 0;
    int err = sys_scan(c->txn, KV_FRAMES, key, key, measure_frame, c);
    if (err)
        return err;
    if (c->n != r->n_frames || c->bytes != r->bytes || c->first_n < r->stream.first_n ||
        c->last_n != r->stream.last_n)
        find(c->findings,
             "a stream of session %s has %" PRIu64 " frames (%" PRIu64 " bytes, from %" PRIu64
             " to %" PRIu64 "), but says %" PRIu64 " (%" PRIu64 " bytes, from %" PRIu64
             " to %" PRIu64 ")",
             show_id(r->stream.session, &shown), c->n, c->bytes, c->first_n, c->last_n, r->n_frames,
             r->bytes, r->stream.first_n, r->stream.last_n);
    return 0;
}

static int check_stream(void *ctx, struct str key, struct str value)
{
    struct live_check *c = ctx;
    struct stream_record r;
    c->findings->done.n_streams++;
    arena_reset(&c->scratch);
    int err = stream_read(key, value, &c->scratch, &r);
    if (err)
        return cannot_be_read(c, "a stream", err);
    err = check_session(c, r.stream.session, "a stream");
    return err ? err : compare_frames(c, key, &r);
}

/* Once for all frames of a stream, which come together. */
static int check_owner(struct live_check *c, struct str key)
{
    struct str stream = {key.p, key.n - 8};
    struct shown_id shown;
    if (str_eq(stream, sys_key_str(&c->stream)))
        return 0;
    c->stream = sys_key_copy(stream);
    int there = is_there(c->txn, KV_STREAMS, stream);
    if (there == 0)
        there = is_there(c->txn, KV_CUT, stream);
    if (there == 0)
        find(c->findings, "frames of a stream of session %s, which is not there",
             show_id((struct str){key.p + 1, (unsigned char)key.p[0]}, &shown));
    return there < 0 ? there : 0;
}

static int check_frame(void *ctx, struct str key, struct str value)
{
    struct live_check *c = ctx;
    struct frame_record frame;
    c->findings->done.n_frames++;
    arena_reset(&c->scratch);
    int err = frame_read(key, value, &c->scratch, &frame);
    return err ? cannot_be_read(c, "a frame", err) : check_owner(c, key);
}

/* ---- Claims, pushes, letters ---------------------------------------------------------------- */

static int check_claim(void *ctx, struct str key, struct str value)
{
    struct live_check *c = ctx;
    struct store_claim claim;
    arena_reset(&c->scratch);
    int err = claim_read(key, value, &c->scratch, &claim);
    return err ? cannot_be_read(c, "a claim", err) : check_session(c, key, "a claim");
}

static int check_push(void *ctx, struct str key, struct str value)
{
    struct live_check *c = ctx;
    struct push_record push;
    c->findings->done.n_pushes++;
    arena_reset(&c->scratch);
    int err = push_read(key, value, &c->scratch, &push);
    return err ? cannot_be_read(c, "a waiting message", err)
               : check_session(c, push.session, "a waiting message");
}

static int check_letter(void *ctx, struct str key, struct str value)
{
    struct live_check *c = ctx;
    struct mail_record letter;
    arena_reset(&c->scratch);
    int err = mail_read(key, value, &c->scratch, &letter);
    return err ? cannot_be_read(c, "a letter", err) : 0;
}

/* ---- Subscriptions -------------------------------------------------------------------------- */

static int count_entry(void *ctx, struct str key, struct str value)
{
    (void)key;
    (void)value;
    ++*(uint64_t *)ctx;
    return 0;
}

static int measure_subscription(void *ctx, struct str key, struct str value)
{
    struct live_check *c = ctx;
    struct store_subscription s;
    (void)key;
    arena_reset(&c->scratch);
    int err = subscription_read(value, &c->scratch, &s);
    c->n++;
    c->bytes += err ? 0 : s.uri.n;
    return is_finding(err) ? 0 : err;
}

static int compare_subscriptions(struct live_check *c, struct str session,
                                 const struct follow_record *r)
{
    struct sys_key set = subscription_set_key(r->set);
    struct str prefix = sys_key_str(&set);
    struct shown_id shown;
    c->n = c->bytes = 0;
    int err = sys_scan(c->txn, KV_SUBSCRIPTIONS, prefix, prefix, measure_subscription, c);
    c->findings->done.n_subscriptions += c->n;
    if (!err && (c->n != r->follow.n || c->bytes != r->bytes))
        find(c->findings,
             "session %s has %" PRIu64 " subscriptions (%" PRIu64 " bytes), but says %" PRIu32
             " (%" PRIu64 " bytes)",
             show_id(session, &shown), c->n, c->bytes, r->follow.n, r->bytes);
    return err;
}

static int check_follow(void *ctx, struct str key, struct str value)
{
    struct live_check *c = ctx;
    struct follow_record r;
    struct shown_id shown;
    arena_reset(&c->scratch);
    int err = follow_read(key, value, &c->scratch, &r);
    if (err)
        return cannot_be_read(c, "a position in the change log", err);
    if (r.follow.sent_seq > r.follow.seq)
        find(c->findings,
             "session %s has taken what changed up to %" PRIu64
             ", but was told only up to %" PRIu64,
             show_id(key, &shown), r.follow.sent_seq, r.follow.seq);
    err = check_session(c, key, "subscriptions");
    return err ? err : compare_subscriptions(c, key, &r);
}

static int count_unfollowed(void *ctx, struct str key, struct str value)
{
    struct live_check *c = ctx;
    (void)value;
    return sys_scan(c->txn, KV_SUBSCRIPTIONS, key, key, count_entry, &c->n_waiting);
}

static int check_subscription(void *ctx, struct str key, struct str value)
{
    struct live_check *c = ctx;
    struct store_subscription s;
    struct sys_key own;
    arena_reset(&c->scratch);
    int err = subscription_read(value, &c->scratch, &s);
    if (!err)
        err = key.n < 8 ? ERR_STORE_DAMAGED : subscription_key(kv_u64(key.p), s.uri, &own);
    if (err)
        return cannot_be_read(c, "a subscription", err);
    if (!str_eq(key, sys_key_str(&own)))
        find(c->findings, "a subscription is not where its URI is looked for");
    return 0;
}

/* Each is in a set, and each set has a session or waits for the keeper. */
static int check_sets(struct live_check *c)
{
    uint64_t n, n_owned = c->findings->done.n_subscriptions + c->n_waiting;
    int err = kv_count(c->txn, KV_SUBSCRIPTIONS, &n);
    if (!err && n > n_owned)
        find(c->findings, "%" PRIu64 " subscriptions belong to no session", n - n_owned);
    return err;
}

int check_live(struct kv_txn *txn, struct findings *findings)
{
    static const struct {
        enum kv_map map;
        kv_entry_fn check;
    } checks[] = {{KV_STREAMS, check_stream},        {KV_FRAMES, check_frame},
                  {KV_CLAIMS, check_claim},          {KV_PUSHES, check_push},
                  {KV_MAIL, check_letter},           {KV_FOLLOWS, check_follow},
                  {KV_UNFOLLOWED, count_unfollowed}, {KV_SUBSCRIPTIONS, check_subscription}};
    struct live_check c = {.txn = txn, .findings = findings};
    int err = 0;
    arena_init(&c.scratch, 0);
    for (size_t i = 0; i < sizeof checks / sizeof *checks && !err; i++)
        err = kv_scan(txn, checks[i].map, STR(""), checks[i].check, &c);
    if (!err)
        err = check_sets(&c);
    arena_done(&c.scratch);
    return err;
}
