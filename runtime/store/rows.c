/* store/rows.c - the rows of all tables.
 *
 *   ROWS  table u32, key -> [format, version, changed_ms, row]
 *
 * The version is the sequence of the row's last change. A row is encoded before its version is
 * known, so its bytes are appended to the head of the record.
 */
#include "store/internal.h"

#include "base/err.h"

#include <string.h>

static struct str key_of(const struct row_key *key)
{
    return (struct str){key->bytes, key->len};
}

int row_key(uint32_t table, struct str key, struct row_key *ret)
{
    if (key.n == 0 || key.n > KEY_BYTES_MAX)
        return ERR_LIMIT;
    kv_put_u32((unsigned char *)ret->bytes, table);
    memcpy(ret->bytes + 4, key.p, key.n);
    ret->len = 4 + key.n;
    return 0;
}

int row_encode(const struct tape_node *row, struct buf *out)
{
    uint32_t nodes = row->kind >= TAPE_ARRAY ? row->v.size : 1;
    if (nodes > ROW_NODES_MAX)
        return ERR_LIMIT;
    size_t start = out->n;
    cbor_write_tape(row, out);
    if (out->failed)
        return ERR_NO_MEMORY;
    return out->n - start > ROW_BYTES_MAX ? ERR_LIMIT : 0;
}

uint64_t store_row_bytes(const struct tape_node *row)
{
    struct buf body = {0};
    cbor_write_tape(row, &body);
    uint64_t n = body.failed ? 0 : body.n;
    buf_done(&body);
    return n;
}

/* ---- Operations ----------------------------------------------------------------------------- */

/* What is there now: 0 and its version, or ERR_ABSENT. */
static int version_of(struct batch *b, const struct row_key *key, uint64_t *ret)
{
    struct str value;
    int64_t version;
    int err = kv_get(&b->txn, KV_ROWS, key_of(key), &value);
    if (!err)
        err = record_first_int(value, &version);
    if (!err)
        *ret = (uint64_t)version;
    return err;
}

static int put_record(struct batch *b, const struct row_key *key, uint64_t version, struct str body)
{
    record_begin(&b->value, 3);
    cbor_write_int((int64_t)version, &b->value);
    cbor_write_int(b->now_ms, &b->value);
    buf_add_str(&b->value, body);
    return batch_put(b, KV_ROWS, key_of(key));
}

/* The row that stands there, in scratch; *ret NULL: none. */
static int standing(struct batch *b, const struct row_key *key, const struct tape_node **ret)
{
    struct store_row row;
    struct str own = {key->bytes + 4, key->len - 4};
    int err = row_find(&b->txn, kv_u32(key->bytes), own, &b->scratch, &row);
    *ret = err ? NULL : row.row;
    return err == ERR_ABSENT ? 0 : err;
}

int row_reindex(struct batch *b, const struct row_key *key, const struct tape_node *now,
                uint32_t *ret_index)
{
    const struct tape_node *before;
    struct index_changes changes;
    if (!b->slot.n_indexes)
        return 0;
    int err = standing(b, key, &before);
    if (!err)
        err = index_prepare(b, (struct str){key->bytes + 4, key->len - 4}, before, now, &changes,
                            ret_index);
    return err ? err : index_apply(b, &changes);
}

/* The row of an operation; of a load there are only its bytes. */
static int reindex_put(struct batch *b, const struct row_key *key, struct store_op *op,
                       struct str body)
{
    const struct tape_node *now = op->row;
    int err = now || !b->slot.n_indexes ? 0 : cbor_read_tape(body, &b->scratch, &now);
    return err ? err : row_reindex(b, key, now, &op->ret_index);
}

int row_write(struct batch *b, struct store_op *op, struct str body)
{
    struct row_key key;
    uint64_t version = 0;
    int err = row_key(op->table, op->key, &key);
    if (!err)
        err = batch_table(b, op->table);
    if (!err)
        err = batch_table_version(b, op->table_version);
    if (err)
        return err;
    err = version_of(b, &key, &version);
    bool there = !err;
    if (err && err != ERR_ABSENT)
        return err;
    err = check_condition(op, there, version);
    if (!err)
        err = reindex_put(b, &key, op, body);
    if (!err)
        err = batch_log(b, STORE_ROW_PUT, op->table, op->key);
    if (!err)
        err = put_record(b, &key, b->seq, body);
    if (err)
        return err;
    op->ret_seq = b->seq;
    b->slot.rows += !there;
    b->slot.changed |= !there;
    return 0;
}

int row_put(struct batch *b, struct store_op *op)
{
    buf_clear(&b->body);
    int err = row_encode(op->row, &b->body);
    return err ? err : row_write(b, op, buf_str(&b->body));
}

static int take_away(struct batch *b, struct store_op *op, const struct row_key *key)
{
    int err = row_reindex(b, key, NULL, &op->ret_index);
    if (!err)
        err = batch_log(b, STORE_ROW_DELETED, op->table, op->key);
    if (!err)
        err = batch_remove(b, KV_ROWS, key_of(key));
    if (err)
        return err;
    op->ret_seq = b->seq;
    b->slot.rows--;
    b->slot.changed = true;
    return 0;
}

int row_delete(struct batch *b, struct store_op *op)
{
    struct row_key key;
    uint64_t version = 0;
    int err = row_key(op->table, op->key, &key);
    if (!err)
        err = batch_table(b, op->table);
    if (!err)
        err = batch_table_version(b, op->table_version);
    if (!err)
        err = version_of(b, &key, &version);
    if (err && err != ERR_ABSENT)
        return err;
    bool there = !err;
    err = check_condition(op, there, version);
    return err || !there ? err : take_away(b, op, &key);
}

/* ---- Reading -------------------------------------------------------------------------------- */

int row_read(struct str key, struct str value, struct arena *arena, struct store_row *ret)
{
    const struct tape_node *f[3];
    int err = record_read(value, "ii*", arena, f);
    if (!err)
        *ret = (struct store_row){
            .key = key, .version = (uint64_t)f[0]->v.i, .changed_ms = f[1]->v.i, .row = f[2]};
    return err;
}

int row_find(struct kv_txn *txn, uint32_t table, struct str key, struct arena *arena,
             struct store_row *ret)
{
    struct row_key full;
    struct str value;
    int err = row_key(table, key, &full);
    if (!err)
        err = kv_get(txn, KV_ROWS, key_of(&full), &value);
    return err ? err : row_read(key, value, arena, ret);
}

int store_get_row(struct store_view *view, uint32_t table, struct str key, struct arena *arena,
                  struct store_row *ret)
{
    struct row_key full;
    struct str value;
    if (row_key(table, key, &full) || !table_exists(&view->txn, table))
        return ERR_ABSENT;
    int err = kv_get_kept(&view->txn, KV_ROWS, key_of(&full), arena, &key, &value);
    return err ? err : row_read(key, value, arena, ret);
}

struct row_scan {
    uint32_t table;
    const struct store_range *range;
    store_row_fn fn;
    void *ctx;
    struct arena scratch;
    bool ended; /* at the end of the range, not by `fn` */
};

static bool is_outside(const struct row_scan *scan, struct str key)
{
    const struct store_range *range = scan->range;
    if (range && range->descending)
        return range->from.p && str_compare(key, range->from) < (range->after ? 1 : 0);
    return range && range->to.p && str_compare(key, range->to) >= 0;
}

static bool is_left_out(const struct row_scan *scan, struct str key)
{
    const struct store_range *range = scan->range;
    return range && range->after && range->from.p && str_eq(key, range->from);
}

static int visit_row(void *ctx, struct str key, struct str value)
{
    struct row_scan *scan = ctx;
    struct store_row row;
    struct str own = {key.p + 4, key.n - 4};
    if (key.n < 4 || kv_u32(key.p) != scan->table || is_outside(scan, own)) {
        scan->ended = true;
        return 1;
    }
    if (is_left_out(scan, own))
        return 0;
    row = (struct store_row){.key = own};
    arena_reset(&scan->scratch);
    bool is_read = !scan->range || !scan->range->keys_only;
    int err = is_read ? row_read(own, value, &scan->scratch, &row) : 0;
    return err ? err : scan->fn(scan->ctx, &row);
}

/* Where a scan begins: at the lower end, or before the upper one. */
static int first_key(const struct row_scan *scan, struct row_key *ret)
{
    const struct store_range *range = scan->range;
    bool back = range && range->descending;
    struct str start = !range ? STR_NONE : back ? range->to : range->from;
    if (start.n > KEY_BYTES_MAX)
        return ERR_LIMIT;
    if (start.n)
        return row_key(scan->table, start, ret);
    ret->len = 4;
    kv_put_u32((unsigned char *)ret->bytes, scan->table + (back && !start.p));
    return 0;
}

int store_scan_rows(struct store_view *view, uint32_t table, const struct store_range *range,
                    store_row_fn fn, void *ctx)
{
    struct row_scan scan = {.table = table, .range = range, .fn = fn, .ctx = ctx};
    struct row_key start;
    if (!table_exists(&view->txn, table))
        return 0;
    int err = first_key(&scan, &start);
    if (err)
        return err;
    arena_init(&scan.scratch, 0);
    if (range && range->descending)
        err = kv_scan_back(&view->txn, KV_ROWS, key_of(&start), visit_row, &scan);
    else
        err = kv_scan(&view->txn, KV_ROWS, key_of(&start), visit_row, &scan);
    arena_done(&scan.scratch);
    return scan.ended ? 0 : err;
}

/* ---- Checking again ------------------------------------------------------------------------- */

struct recheck {
    struct kv_txn *txn;
    const struct store_op *op;
    uint32_t table;
    uint32_t n; /* changes of the table */
    struct arena scratch;
};

/* A row that was written again later is checked then. */
static int recheck_change(void *ctx, const struct store_change *change)
{
    struct recheck *r = ctx;
    struct row_key key;
    struct store_row row;
    struct str value;
    if (change->table != r->table || change->kind == STORE_ACCESS_CHANGED)
        return 0;
    if (++r->n > TXN_ROWS_MAX)
        return ERR_STALE;
    if (change->kind != STORE_ROW_PUT)
        return 0;
    arena_reset(&r->scratch);
    int err = row_key(r->table, change->key, &key);
    if (!err)
        err = kv_get(r->txn, KV_ROWS, key_of(&key), &value);
    if (!err)
        err = row_read(change->key, value, &r->scratch, &row);
    if (err)
        return err == ERR_ABSENT ? 0 : err;
    return row.version == change->seq ? r->op->check_row(r->op->check_ctx, &row) : 0;
}

int rows_recheck(struct batch *b, const struct store_op *op, uint32_t table)
{
    struct recheck r = {.txn = &b->txn, .op = op, .table = table};
    uint64_t floor;
    int err = change_log_floor(&b->txn, &floor);
    if (err)
        return err;
    if (op->since_seq > b->seq || b->seq - op->since_seq > RECHECK_LOG_MAX ||
        floor > op->since_seq + 1)
        return ERR_STALE;
    arena_init(&r.scratch, 0);
    err = change_log_scan(&b->txn, op->since_seq, recheck_change, &r);
    arena_done(&r.scratch);
    return err;
}
