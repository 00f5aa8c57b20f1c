/* store/subscriptions.c - what sessions subscribed to, and how far each was told of the change log.
 *
 *   FOLLOWS        session -> [format, seq, sent_seq, generation, n of them, set, bytes of URIs,
 *                              DATA]
 *   SUBSCRIPTIONS  set u64, hash of a URI -> [format, start_seq, all, coalesce_ms, URI]
 *   UNFOLLOWED     set u64 -> nothing: its session is gone, some of the set is not yet
 *
 * The subscriptions of a session are a set with a number that is never used again. So it goes with
 * its session by one record, however many are in it, and the keeper takes them away. The hash
 * stands for a URI because a key of LMDB has no room for a long one. Putting or deleting one looks
 * at no other.
 */
#include "store/internal.h"

#include "base/err.h"

#include <openssl/evp.h>
#include <string.h>

/* ---- Records and keys ----------------------------------------------------------------------- */

int follow_read(struct str session, struct str value, struct arena *arena,
                struct follow_record *ret)
{
    const struct tape_node *f[7];
    bool is_id = session.n > 0 && session.n <= SESSION_ID_BYTES;
    int err = is_id ? record_read(value, "iiiiiii", arena, f) : ERR_STORE_DAMAGED;
    if (!err)
        *ret = (struct follow_record){
            .follow =
                {
                    .seq = (uint64_t)f[0]->v.i,
                    .sent_seq = (uint64_t)f[1]->v.i,
                    .generation = (uint64_t)f[2]->v.i,
                    .n = (uint32_t)f[3]->v.i,
                },
            .set = (uint64_t)f[4]->v.i,
            .bytes = (uint64_t)f[5]->v.i,
            .data = (uint64_t)f[6]->v.i,
        };
    return err;
}

/* By which a position is known to be of the DATA that there is: another one may have been put in
 * its place. */
static int data_of(struct kv_txn *txn, uint64_t *ret)
{
    unsigned char id[DATABASE_ID_LEN];
    uint64_t format;
    int err = meta_check(txn, &format, id);
    if (!err)
        *ret = kv_u64(id);
    return err;
}

static int save_follow(struct batch *b, struct str session, const struct follow_record *r)
{
    record_begin(&b->value, 7);
    cbor_write_int((int64_t)r->follow.seq, &b->value);
    cbor_write_int((int64_t)r->follow.sent_seq, &b->value);
    cbor_write_int((int64_t)r->follow.generation, &b->value);
    cbor_write_int(r->follow.n, &b->value);
    cbor_write_int((int64_t)r->set, &b->value);
    cbor_write_int((int64_t)r->bytes, &b->value);
    cbor_write_int((int64_t)r->data, &b->value);
    return batch_put(b, KV_FOLLOWS, session);
}

static int get_follow(struct kv_txn *txn, struct str session, struct arena *arena,
                      struct follow_record *ret)
{
    struct str value;
    if (session.n == 0 || session.n > SESSION_ID_BYTES)
        return ERR_ABSENT;
    uint64_t data;
    int err = kv_get(txn, KV_FOLLOWS, session, &value);
    if (!err)
        err = follow_read(session, value, arena, ret);
    if (!err)
        err = data_of(txn, &data);
    if (!err)
        ret->follow.is_foreign = ret->data != data;
    return err;
}

struct sys_key subscription_set_key(uint64_t set)
{
    struct sys_key key = {.len = 0};
    sys_key_add(&key, set);
    return key;
}

int subscription_key(uint64_t set, struct str uri, struct sys_key *ret)
{
    struct sys_key key = subscription_set_key(set);
    unsigned int n = 0;
    _Static_assert(sizeof key.bytes >= 8 + EVP_MAX_MD_SIZE, "a hash fits into a key");
    if (!EVP_Digest(uri.p, uri.n, key.bytes + key.len, &n, EVP_sha256(), NULL))
        return ERR_NO_MEMORY;
    key.len += n;
    *ret = key;
    return 0;
}

int subscription_read(struct str value, struct arena *arena, struct store_subscription *ret)
{
    const struct tape_node *f[4];
    int err = record_read(value, "iiis", arena, f);
    if (!err)
        *ret = (struct store_subscription){
            .start_seq = (uint64_t)f[0]->v.i,
            .all = f[1]->v.i != 0,
            .coalesce_ms = (uint32_t)f[2]->v.i,
            .uri = record_str(f[3]),
        };
    return err;
}

static int save_subscription(struct batch *b, const struct sys_key *key,
                             const struct store_subscription *s)
{
    record_begin(&b->value, 4);
    cbor_write_int((int64_t)s->start_seq, &b->value);
    cbor_write_int(s->all, &b->value);
    cbor_write_int(s->coalesce_ms, &b->value);
    cbor_write_str(s->uri, &b->value);
    return batch_put(b, KV_SUBSCRIPTIONS, sys_key_str(key));
}

/* ---- Operations ----------------------------------------------------------------------------- */

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* What an operation on one subscription is about. */
struct place {
    struct follow_record follow;
    struct store_subscription old;
    bool has_follow, has_old;
    struct sys_key key; /* if there is a follow */
    struct store_claim claim;
};

static int find_old(struct batch *b, struct str uri, struct place *p)
{
    struct str value;
    int err = subscription_key(p->follow.set, uri, &p->key);
    if (!err)
        err = kv_get(&b->txn, KV_SUBSCRIPTIONS, sys_key_str(&p->key), &value);
    if (!err)
        err = subscription_read(value, &b->scratch, &p->old);
    p->has_old = !err;
    return err == ERR_ABSENT ? 0 : err;
}

static int find_place(struct batch *b, const struct store_subscription *s, struct place *p)
{
    memset(p, 0, sizeof *p);
    int err = claim_find(b, s->session, &p->claim);
    if (err)
        return err;
    err = get_follow(&b->txn, s->session, &b->scratch, &p->follow);
    if (err)
        return err == ERR_ABSENT ? 0 : err;
    p->has_follow = true;
    return find_old(b, s->uri, p);
}

static void tell(const struct store_op *op, const struct place *p)
{
    if (op->ret_claim)
        *op->ret_claim = p->claim;
}

static int check_room(const struct store_op *op, const struct follow_record *r)
{
    uint32_t max = op->max_subscriptions;
    if (max == 0 || max > SUBSCRIPTIONS_SESSION_MAX)
        max = SUBSCRIPTIONS_SESSION_MAX;
    bool fits = r->follow.n < max && r->bytes + op->subscription->uri.n <= SUBSCRIPTIONS_BYTES;
    return fits ? 0 : ERR_LIMIT;
}

static int begin_follow(struct batch *b, const struct store_subscription *s, struct place *p)
{
    int err = sys_next_seq(b, &p->follow.set);
    return err ? err : subscription_key(p->follow.set, s->uri, &p->key);
}

static int move(struct batch *b, struct follow_record *r, uint64_t seq, uint64_t sent_seq)
{
    r->follow.seq = seq;
    r->follow.sent_seq = sent_seq;
    return data_of(&b->txn, &r->data);
}

/* With no other there is nothing to be told of what was before. */
static int add(struct batch *b, const struct store_op *op, struct place *p)
{
    struct store_subscription now = *op->subscription;
    struct store_follow *follow = &p->follow.follow;
    int err = check_room(op, &p->follow);
    if (!err && !p->has_follow)
        err = begin_follow(b, &now, p);
    if (err)
        return err;
    if (!follow->is_foreign)
        now.start_seq = later(now.start_seq, follow->seq);
    if (follow->n++ == 0)
        err = move(b, &p->follow, now.start_seq, now.start_seq);
    follow->generation++;
    p->follow.bytes += now.uri.n;
    if (!err)
        err = save_subscription(b, &p->key, &now);
    return err ? err : save_follow(b, now.session, &p->follow);
}

static int alter(struct batch *b, const struct store_op *op, struct place *p)
{
    struct store_subscription now = *op->subscription;
    if (now.all == p->old.all && now.coalesce_ms == p->old.coalesce_ms)
        return 0;
    now.start_seq = p->old.start_seq;
    p->follow.follow.generation++;
    int err = save_subscription(b, &p->key, &now);
    return err ? err : save_follow(b, now.session, &p->follow);
}

int subscription_put(struct batch *b, struct store_op *op)
{
    struct place p;
    const struct store_subscription *s = op->subscription;
    if (s->uri.n == 0 || s->uri.n > URI_BYTES_MAX)
        return ERR_LIMIT;
    int err = session_require(b, s->session);
    if (!err)
        err = find_place(b, s, &p);
    if (!err)
        err = p.has_old ? alter(b, op, &p) : add(b, op, &p);
    if (!err)
        tell(op, &p);
    return err;
}

int subscription_delete(struct batch *b, struct store_op *op)
{
    struct place p;
    int err = find_place(b, op->subscription, &p);
    if (!err && p.has_old) {
        p.follow.follow.n--;
        p.follow.bytes -= op->subscription->uri.n;
        p.follow.follow.generation++;
        err = batch_remove(b, KV_SUBSCRIPTIONS, sys_key_str(&p.key));
        if (!err)
            err = save_follow(b, op->subscription->session, &p.follow);
    }
    if (!err)
        tell(op, &p);
    return err;
}

static int check_follower(struct batch *b, const struct store_op *op, const struct store_follow *is)
{
    struct store_claim claim;
    int err = claim_find(b, op->claim->session, &claim);
    if (err)
        return err;
    bool holds = claim.worker.epoch && claim.token == op->claim->token;
    return holds && is->generation == op->follow->generation ? 0 : ERR_CONFLICT;
}

int follow_set(struct batch *b, struct store_op *op)
{
    struct follow_record r;
    const struct store_follow *to = op->follow;
    struct store_follow *now = &r.follow;
    if (to->sent_seq > to->seq)
        return ERR_PARAMS;
    int err = get_follow(&b->txn, op->claim->session, &b->scratch, &r);
    if (!err)
        err = check_follower(b, op, now);
    if (err || (now->seq == to->seq && now->sent_seq == to->sent_seq && !now->is_foreign))
        return err;
    err = move(b, &r, to->seq, to->sent_seq);
    return err ? err : save_follow(b, op->claim->session, &r);
}

/* ---- Forgetting ----------------------------------------------------------------------------- */

/* A record that cannot be read goes as well: what it named is for the doctor to find. */
int subscriptions_forget_session(struct batch *b, struct str session)
{
    struct follow_record r;
    int err = get_follow(&b->txn, session, &b->scratch, &r);
    if (err == ERR_ABSENT)
        return 0;
    if (!err && r.follow.n > 0) {
        struct sys_key set = subscription_set_key(r.set);
        err = sys_cut(b, KV_SUBSCRIPTIONS, KV_UNFOLLOWED, &set);
    }
    if (err && !is_finding(err))
        return err;
    return batch_remove(b, KV_FOLLOWS, session);
}

int subscriptions_purge(struct batch *b, uint32_t max)
{
    return sys_purge(b, KV_UNFOLLOWED, KV_SUBSCRIPTIONS, max);
}

/* ---- Reading -------------------------------------------------------------------------------- */

static int view_follow(struct store_view *view, struct str session, struct follow_record *ret)
{
    struct arena arena;
    arena_init(&arena, 0);
    int err = get_follow(&view->txn, session, &arena, ret);
    arena_done(&arena);
    return err;
}

int store_get_follow(struct store_view *view, struct str session, struct store_follow *ret)
{
    struct follow_record r;
    int err = view_follow(view, session, &r);
    if (!err)
        *ret = r.follow;
    return err;
}

struct subscription_scan {
    struct str session;
    store_subscription_fn fn;
    void *ctx;
    struct arena scratch;
};

static int visit_subscription(void *ctx, struct str key, struct str value)
{
    struct subscription_scan *scan = ctx;
    struct store_subscription s;
    (void)key;
    arena_reset(&scan->scratch);
    int err = subscription_read(value, &scan->scratch, &s);
    s.session = scan->session;
    return err ? err : scan->fn(scan->ctx, &s);
}

int store_scan_subscriptions(struct store_view *view, struct str session, store_subscription_fn fn,
                             void *ctx)
{
    struct subscription_scan scan = {.session = session, .fn = fn, .ctx = ctx};
    struct follow_record r;
    int err = view_follow(view, session, &r);
    if (err)
        return err == ERR_ABSENT ? 0 : err;
    struct sys_key set = subscription_set_key(r.set);
    arena_init(&scan.scratch, 0);
    err = sys_scan(&view->txn, KV_SUBSCRIPTIONS, sys_key_str(&set), sys_key_str(&set),
                   visit_subscription, &scan);
    arena_done(&scan.scratch);
    return err;
}
