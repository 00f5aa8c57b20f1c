/* store/change_log.c - every committed change of DATA, in commit order.
 *
 *   LOG  sequence u64 -> [format, kind, table, key, time_ms]
 *
 * The sequence counts in the write transaction, so it has no gaps, and the log is a run of numbers
 * from its floor to META's `seq`.
 */
#include "store/internal.h"

#include "base/err.h"
#include "base/limits.h"

struct seq_key {
    unsigned char bytes[8];
};

static struct str key_of(uint64_t seq, struct seq_key *space)
{
    kv_put_u64(space->bytes, seq);
    return (struct str){(char *)space->bytes, 8};
}

static void add_mark(struct batch *b, uint64_t mark)
{
    if (b->n_marks < BATCH_MARKS)
        b->marks[b->n_marks++] = mark;
    else
        b->n_marks = BATCH_MARKS + 1;
}

static void mark_change(struct batch *b, enum store_change_kind kind, uint32_t table,
                        struct str key)
{
    if (kind == STORE_ROW_PUT || kind == STORE_ROW_DELETED) {
        add_mark(b, mark_of_row(table, key));
        add_mark(b, mark_of_table(table));
    } else if (kind == STORE_RESOURCE_CHANGED) {
        add_mark(b, mark_of_uri(key));
    } else if (kind == STORE_ACCESS_CHANGED) {
        b->has_access = true; /* and nobody who waits for a row has to look */
    } else {
        b->n_marks = BATCH_MARKS + 1;
    }
}

int batch_log(struct batch *b, enum store_change_kind kind, uint32_t table, struct str key)
{
    struct seq_key seq;
    b->counters_changed = true;
    mark_change(b, kind, table, key);
    record_begin(&b->value, 4);
    cbor_write_int(kind, &b->value);
    cbor_write_int(table, &b->value);
    cbor_write_bytes(key, &b->value);
    cbor_write_int(b->now_ms, &b->value);
    return batch_put(b, KV_LOG, key_of(++b->seq, &seq));
}

int resource_log(struct batch *b, struct store_op *op)
{
    if (op->key.n > URI_BYTES_MAX)
        return ERR_LIMIT;
    int err = batch_log(b, STORE_RESOURCE_CHANGED, 0, op->key);
    if (!err)
        op->ret_seq = b->seq;
    return err;
}

int change_log_floor(struct kv_txn *txn, uint64_t *ret)
{
    struct str key, value;
    int err = kv_first(txn, KV_LOG, STR(""), &key, &value);
    if (!err && key.n != 8)
        return ERR_STORE_DAMAGED;
    if (!err)
        *ret = kv_u64(key.p);
    if (err != ERR_ABSENT)
        return err;
    err = meta_get(txn, META_SEQ, ret);
    *ret += !err;
    return err;
}

int change_log_trim(struct batch *b, uint64_t keep, uint32_t max)
{
    uint64_t floor;
    struct seq_key seq;
    uint32_t n = 0;
    int err = change_log_floor(&b->txn, &floor);
    while (!err && n < max && b->seq + 1 - floor > keep) {
        err = batch_remove(b, KV_LOG, key_of(floor++, &seq));
        n++;
    }
    return err ? err : (int)n;
}

/* ---- Reading -------------------------------------------------------------------------------- */

int store_last_seq(struct store_view *view, uint64_t *ret)
{
    return meta_get(&view->txn, META_SEQ, ret);
}

int store_floor_seq(struct store_view *view, uint64_t *ret)
{
    return change_log_floor(&view->txn, ret);
}

struct change_scan {
    store_change_fn fn;
    void *ctx;
    struct arena scratch;
};

int change_read(struct str key, struct str value, struct arena *arena, struct store_change *ret)
{
    const struct tape_node *f[4];
    int err = record_read(value, "iisi", arena, f);
    if (!err && key.n != 8)
        err = ERR_STORE_DAMAGED;
    if (!err)
        *ret = (struct store_change){.seq = kv_u64(key.p),
                                     .kind = (enum store_change_kind)f[0]->v.i,
                                     .table = (uint32_t)f[1]->v.i,
                                     .key = record_str(f[2]),
                                     .time_ms = f[3]->v.i};
    return err;
}

static int visit_change(void *ctx, struct str key, struct str value)
{
    struct change_scan *scan = ctx;
    struct store_change change;
    arena_reset(&scan->scratch);
    int err = change_read(key, value, &scan->scratch, &change);
    return err ? err : scan->fn(scan->ctx, &change);
}

int change_log_scan(struct kv_txn *txn, uint64_t after_seq, store_change_fn fn, void *ctx)
{
    struct change_scan scan = {.fn = fn, .ctx = ctx};
    struct seq_key from;
    if (after_seq == UINT64_MAX)
        return 0;
    arena_init(&scan.scratch, 0);
    int err = kv_scan(txn, KV_LOG, key_of(after_seq + 1, &from), visit_change, &scan);
    arena_done(&scan.scratch);
    return err;
}

int store_scan_changes(struct store_view *view, uint64_t after_seq, store_change_fn fn, void *ctx)
{
    return change_log_scan(&view->txn, after_seq, fn, ctx);
}
