/* store/mail.c - letters from worker to worker.
 *
 *   MAIL  slot u32, seq u64 -> [format, written_ms, epoch, text]
 */
#include "store/internal.h"

#include "base/err.h"

#define MAIL_KEY_BYTES 12

static struct sys_key mail_key(uint32_t slot, uint64_t seq)
{
    struct sys_key key = {.len = 4};
    kv_put_u32(key.bytes, slot);
    sys_key_add(&key, seq);
    return key;
}

int mail_read(struct str key, struct str value, struct arena *arena, struct mail_record *ret)
{
    const struct tape_node *f[3];
    int err = key.n == MAIL_KEY_BYTES ? record_read(value, "iis", arena, f) : ERR_STORE_DAMAGED;
    if (!err)
        *ret = (struct mail_record){
            .seq = kv_u64(key.p + 4),
            .to = {kv_u32(key.p), (uint64_t)f[1]->v.i},
            .text = record_str(f[2]),
        };
    return err;
}

int mail_put(struct batch *b, struct store_op *op)
{
    uint64_t seq;
    if (op->message.n > MAIL_BYTES_MAX)
        return ERR_LIMIT;
    int err = sys_next_seq(b, &seq);
    if (err)
        return err;
    struct sys_key key = mail_key(op->to.slot, seq);
    record_begin(&b->value, 3);
    cbor_write_int(b->now_ms, &b->value);
    cbor_write_int((int64_t)op->to.epoch, &b->value);
    cbor_write_str(op->message, &b->value);
    err = batch_put(b, KV_MAIL, sys_key_str(&key));
    if (!err)
        op->ret_seq = seq;
    return err;
}

int mail_delete(struct batch *b, struct store_op *op)
{
    struct sys_key slot = {.len = 4};
    struct str key, value;
    int err = 0;
    kv_put_u32(slot.bytes, op->to.slot);
    for (uint32_t n = 0; n < TXN_ROWS_MAX && !err; n++) {
        struct str all = sys_key_str(&slot);
        err = sys_first(&b->txn, KV_MAIL, all, all, &key, &value);
        if (err || key.n != MAIL_KEY_BYTES || kv_u64(key.p + 4) > op->mail_seq)
            break;
        struct sys_key own = sys_key_copy(key);
        err = batch_remove(b, KV_MAIL, sys_key_str(&own));
    }
    return err == ERR_ABSENT ? 0 : err;
}

/* ---- Keeper's work -------------------------------------------------------------------------- */

static int is_old(struct batch *b, struct str key, struct str value, struct arena *arena)
{
    int64_t written_ms;
    (void)key;
    (void)arena;
    int err = record_first_int(value, &written_ms);
    return err ? err : b->now_ms - written_ms >= MAIL_KEEP_MS;
}

static int forget(struct batch *b, const struct sys_key *key)
{
    return batch_remove(b, KV_MAIL, sys_key_str(key));
}

int mail_trim(struct batch *b, uint32_t max)
{
    static const struct sys_chore chore = {KV_MAIL, is_old, forget};
    return sys_round(b, &chore, &b->store->mail_at, max);
}

/* ---- Reading -------------------------------------------------------------------------------- */

struct mail_scan {
    uint64_t after_seq;
    store_mail_fn fn;
    void *ctx;
    struct arena scratch;
};

static int visit_mail(void *ctx, struct str key, struct str value)
{
    struct mail_scan *scan = ctx;
    struct mail_record m;
    arena_reset(&scan->scratch);
    int err = mail_read(key, value, &scan->scratch, &m);
    if (err || m.seq <= scan->after_seq)
        return err;
    return scan->fn(scan->ctx, m.seq, m.to, m.text);
}

int store_scan_mail(struct store_view *view, uint32_t slot, uint64_t after_seq, store_mail_fn fn,
                    void *ctx)
{
    struct mail_scan scan = {.after_seq = after_seq, .fn = fn, .ctx = ctx};
    struct sys_key from = mail_key(slot, after_seq);
    arena_init(&scan.scratch, 0);
    int err = sys_scan(&view->txn, KV_MAIL, (struct str){(char *)from.bytes, 4}, sys_key_str(&from),
                       visit_mail, &scan);
    arena_done(&scan.scratch);
    return err;
}
