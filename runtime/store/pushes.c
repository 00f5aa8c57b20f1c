/* store/pushes.c - which stream of a session gets what belongs to no request, and what waits for
 * one.
 *
 *   CLAIMS  session        -> [format, stream, worker slot, worker epoch, token]
 *   PUSHES  session, seq   -> [format, until_ms, message]
 *
 * A sequence is never used twice, so who takes a message out cannot take another by mistake.
 */
#include "store/internal.h"

#include "base/clock.h"
#include "base/err.h"

/* ---- Claims --------------------------------------------------------------------------------- */

int claim_read(struct str session, struct str value, struct arena *arena, struct store_claim *ret)
{
    const struct tape_node *f[4];
    bool is_id = session.n > 0 && session.n <= SESSION_ID_BYTES;
    int err = is_id ? record_read(value, "iiii", arena, f) : ERR_STORE_DAMAGED;
    if (!err)
        *ret = (struct store_claim){
            .session = session,
            .stream = (uint64_t)f[0]->v.i,
            .worker = {(uint32_t)f[1]->v.i, (uint64_t)f[2]->v.i},
            .token = (uint64_t)f[3]->v.i,
        };
    return err;
}

static int get_claim(struct kv_txn *txn, struct str session, struct arena *arena,
                     struct store_claim *ret)
{
    struct str value;
    if (session.n == 0 || session.n > SESSION_ID_BYTES)
        return ERR_ABSENT;
    int err = kv_get(txn, KV_CLAIMS, session, &value);
    return err ? err : claim_read(session, value, arena, ret);
}

int claim_find(struct batch *b, struct str session, struct store_claim *ret)
{
    *ret = (struct store_claim){.session = session};
    int err = get_claim(&b->txn, session, &b->scratch, ret);
    return err == ERR_ABSENT ? 0 : err;
}

static void tell(const struct store_op *op, const struct store_claim *claim)
{
    if (op->ret_claim)
        *op->ret_claim = *claim;
}

static bool is_late(const struct store_op *op, const struct store_claim *before)
{
    return op->is_alive && before->worker.epoch && before->token > op->claim->token &&
           op->is_alive(op->check_ctx, before->worker);
}

int pushes_claim(struct batch *b, struct store_op *op)
{
    struct store_claim before;
    const struct store_claim *now = op->claim;
    int err = session_require(b, now->session);
    if (!err)
        err = claim_find(b, op->claim->session, &before);
    if (err)
        return err;
    if (is_late(op, &before)) {
        tell(op, &before);
        return 0;
    }
    record_begin(&b->value, 4);
    cbor_write_int((int64_t)now->stream, &b->value);
    cbor_write_int(now->worker.slot, &b->value);
    cbor_write_int((int64_t)now->worker.epoch, &b->value);
    cbor_write_int((int64_t)now->token, &b->value);
    err = batch_put(b, KV_CLAIMS, now->session);
    if (!err)
        tell(op, &before);
    return err;
}

int pushes_drop_claim(struct batch *b, struct store_op *op)
{
    struct store_claim now;
    int err = claim_find(b, op->claim->session, &now);
    if (err || !now.worker.epoch || now.token != op->claim->token)
        return err;
    return batch_remove(b, KV_CLAIMS, op->claim->session);
}

int store_get_claim(struct store_view *view, struct str session, struct store_claim *ret)
{
    struct arena arena;
    arena_init(&arena, 0);
    int err = get_claim(&view->txn, session, &arena, ret);
    arena_done(&arena);
    return err;
}

/* ---- Pushes --------------------------------------------------------------------------------- */

int push_read(struct str key, struct str value, struct arena *arena, struct push_record *ret)
{
    const struct tape_node *f[2];
    struct str session;
    uint64_t seq;
    int err = sys_key_split(key, 1, &session, &seq);
    if (!err)
        err = record_read(value, "is", arena, f);
    if (!err)
        *ret = (struct push_record){
            .session = session, .seq = seq, .until_ms = f[0]->v.i, .message = record_str(f[1])};
    return err;
}

struct waiting {
    uint32_t n;
    uint64_t bytes;
};

static int count_push(void *ctx, struct str key, struct str value)
{
    struct waiting *w = ctx;
    (void)key;
    w->n++;
    w->bytes += value.n;
    return 0;
}

/* The oldest go for one more of so many bytes. */
static int make_room(struct batch *b, struct str session, uint64_t bytes)
{
    struct waiting w = {.bytes = bytes};
    struct str key, value;
    int err = sys_scan(&b->txn, KV_PUSHES, session, session, count_push, &w);
    while (!err && w.n > 0 && (w.n >= PUSHES_WAITING_MAX || w.bytes > PUSHES_BYTES)) {
        err = sys_first(&b->txn, KV_PUSHES, session, session, &key, &value);
        if (err)
            break;
        struct sys_key own = sys_key_copy(key);
        w.n--;
        w.bytes -= value.n;
        err = batch_remove(b, KV_PUSHES, sys_key_str(&own));
    }
    return err;
}

int push_put(struct batch *b, struct store_op *op)
{
    struct store_claim claim;
    struct sys_key key;
    uint64_t seq;
    if (op->message.n > FRAME_BYTES_MAX)
        return ERR_LIMIT;
    int err = session_require(b, op->claim->session);
    if (!err)
        err = claim_find(b, op->claim->session, &claim);
    if (!err)
        err = sys_key_begin(&key, op->claim->session);
    if (!err)
        err = make_room(b, sys_key_str(&key), op->message.n);
    if (!err)
        err = sys_next_seq(b, &seq);
    if (err)
        return err;
    sys_key_add(&key, seq);
    record_begin(&b->value, 2);
    cbor_write_int(op->until_ms, &b->value);
    cbor_write_str(op->message, &b->value);
    err = batch_put(b, KV_PUSHES, sys_key_str(&key));
    if (err)
        return err;
    op->ret_seq = seq;
    tell(op, &claim);
    return 0;
}

int push_delete(struct batch *b, struct store_op *op)
{
    struct store_claim claim;
    struct sys_key key;
    int err = sys_key_begin(&key, op->claim->session);
    if (!err)
        err = claim_find(b, op->claim->session, &claim);
    if (!err && (!claim.worker.epoch || claim.token != op->claim->token))
        err = ERR_CONFLICT;
    if (err)
        return err;
    sys_key_add(&key, op->push_seq);
    return batch_remove(b, KV_PUSHES, sys_key_str(&key));
}

/* ---- Forgetting ----------------------------------------------------------------------------- */

int pushes_forget_session(struct batch *b, struct str session)
{
    struct sys_key key;
    int err = batch_remove(b, KV_CLAIMS, session);
    if (!err || err == ERR_ABSENT)
        err = sys_key_begin(&key, session);
    if (!err)
        err = sys_remove_all(b, KV_PUSHES, sys_key_str(&key), UINT32_MAX);
    return err < 0 ? err : 0;
}

static int is_old(struct batch *b, struct str key, struct str value, struct arena *arena)
{
    int64_t until_ms;
    (void)key;
    (void)arena;
    int err = record_first_int(value, &until_ms);
    return err ? err : until_ms <= b->now_ms;
}

static int forget(struct batch *b, const struct sys_key *key)
{
    return batch_remove(b, KV_PUSHES, sys_key_str(key));
}

int pushes_trim(struct batch *b, uint32_t max)
{
    static const struct sys_chore chore = {KV_PUSHES, is_old, forget};
    return sys_round(b, &chore, &b->store->pushes_at, max);
}

/* ---- Reading -------------------------------------------------------------------------------- */

struct push_scan {
    int64_t now_ms;
    store_push_fn fn;
    void *ctx;
    struct arena scratch;
};

static int visit_push(void *ctx, struct str key, struct str value)
{
    struct push_scan *scan = ctx;
    struct push_record p;
    arena_reset(&scan->scratch);
    int err = push_read(key, value, &scan->scratch, &p);
    if (err || p.until_ms <= scan->now_ms)
        return err;
    return scan->fn(scan->ctx, p.seq, p.message);
}

int store_scan_pushes(struct store_view *view, struct str session, store_push_fn fn, void *ctx)
{
    struct push_scan scan = {.now_ms = clock_wall_ms(), .fn = fn, .ctx = ctx};
    struct sys_key key;
    if (sys_key_begin(&key, session))
        return 0;
    arena_init(&scan.scratch, 0);
    struct str prefix = sys_key_str(&key);
    int err = sys_scan(&view->txn, KV_PUSHES, prefix, prefix, visit_push, &scan);
    arena_done(&scan.scratch);
    return err;
}
