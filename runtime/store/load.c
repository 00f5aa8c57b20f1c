/* store/load.c - imports: many rows, in small transactions, all there in the end or none.
 *
 * Each batch writes its rows together with how to take them back (load_undo.c), so at any moment a
 * stop leaves a store that can be brought back.
 *
 * Rows go in by batches, so a row that the store refuses (its key is there, a unique index has its
 * value) is found out later than it was handed over. Whoever imports may let such rows be left out:
 * they are told once the batch is committed.
 *
 * Whoever loads, or rolls back, holds the load lock, which ends with its process; that is how
 * others know a load that lives from one that was left behind.
 */
#include "store/internal.h"

#include "base/err.h"
#include "base/log.h"

#include <stdlib.h>
#include <string.h>

#define LOAD_ROWS  500         /* of one batch */
#define LOAD_BYTES (1u << 20)  /* of encoded rows in one batch, but for the last */
#define LOAD_ARENA (16u << 20) /* of one batch */

struct pending_row {
    uint64_t row; /* of the load */
    struct str key, body;
    uint64_t if_version;
    int err; /* it was refused */
    uint32_t index;
};

struct store_load {
    struct store *store;
    uint32_t table;
    int lock_fd;
    int err; /* sticky */
    struct store_load_rules rules;
    uint64_t n_undo, n_rows, failed_row;
    uint32_t failed_index;
    struct buf body;
    struct arena arena; /* of the pending rows */
    uint32_t n_pending, pending_bytes;
    struct pending_row pending[LOAD_ROWS];
};

/* ---- Loading -------------------------------------------------------------------------------- */

static int start(struct store *store, uint32_t table)
{
    struct batch b;
    int err = load_recover_locked(store, INT64_MAX);
    if (!err)
        err = batch_begin(store, STORE_DATA, &b);
    if (err)
        return err;
    err = batch_table(&b, table);
    if (!err)
        err = load_set_open(&b, b.seq + 1);
    if (!err)
        return batch_commit(&b);
    batch_abort(&b);
    return err;
}

static void load_free(struct store_load *load)
{
    store_unlock(load->store, LOCK_LOAD, load->lock_fd);
    buf_done(&load->body);
    arena_done(&load->arena);
    free(load);
}

int store_load_begin(struct store *store, uint32_t table, struct store_load **ret)
{
    int fd;
    if (store->read_only)
        return ERR_STORE_READ_ONLY;
    struct store_load *load = calloc(1, sizeof *load);
    if (!load)
        return ERR_NO_MEMORY;
    int err = store_lock(store, LOCK_LOAD, &fd);
    if (err) {
        free(load);
        return err;
    }
    load->store = store;
    load->table = table;
    load->lock_fd = fd;
    arena_init(&load->arena, LOAD_ARENA);
    err = start(store, table);
    if (err)
        load_free(load);
    else
        *ret = load;
    return err;
}

/* What stands there now, as it will have to be put back: ret->p is NULL if nothing does. */
static int copy_before(struct batch *b, const struct row_key *key, struct str *ret)
{
    struct str value;
    int err = kv_get(&b->txn, KV_ROWS, (struct str){key->bytes, key->len}, &value);
    *ret = STR_NONE;
    if (err)
        return err == ERR_ABSENT ? 0 : err;
    *ret = arena_str(&b->scratch, value);
    return ret->p ? 0 : ERR_NO_MEMORY;
}

static int put_undo(struct store_load *load, struct batch *b, const struct store_op *op,
                    struct str before)
{
    unsigned char at[8];
    kv_put_u64(at, UINT64_MAX - ++load->n_undo);
    record_begin(&b->value, 5);
    cbor_write_int(op->table, &b->value);
    cbor_write_bytes(op->key, &b->value);
    cbor_write_int((int64_t)op->ret_seq, &b->value);
    cbor_write_int(before.p != NULL, &b->value);
    cbor_write_bytes(before, &b->value);
    return batch_put(b, KV_UNDO, (struct str){(char *)at, sizeof at});
}

static int write_row(struct store_load *load, struct batch *b, struct pending_row *row)
{
    struct store_op op = {.table = load->table,
                          .key = row->key,
                          .if_version = row->if_version,
                          .table_version = load->rules.table_version};
    struct row_key key;
    struct str before;
    arena_reset(&b->scratch);
    int err = row_key(load->table, row->key, &key);
    if (!err)
        err = copy_before(b, &key, &before);
    if (!err)
        err = row_write(b, &op, row->body);
    row->index = op.ret_index;
    return err ? err : put_undo(load, b, &op, before);
}

/* What a row itself is to blame for. */
static bool is_refused(int err)
{
    return err == ERR_EXISTS || err == ERR_LIMIT || err == ERR_PARAMS;
}

/* A row that is refused before it changed anything may be left out. */
static int try_row(struct store_load *load, struct batch *b, struct pending_row *row)
{
    uint32_t changes = b->changes;
    int err = write_row(load, b, row);
    load->failed_row = row->row;
    load->failed_index = row->index;
    if (!load->rules.refused || !is_refused(err) || b->changes != changes)
        return err;
    row->err = err;
    return 0;
}

static int tell_refused(struct store_load *load, const struct pending_row *row)
{
    struct arena arena;
    struct store_refusal refusal = {
        .row = row->row, .err = row->err, .index = row->index, .key = row->key};
    arena_init(&arena, 0);
    int err = cbor_read_tape(row->body, &arena, &refusal.content);
    if (!err)
        err = load->rules.refused(load->rules.ctx, &refusal);
    arena_done(&arena);
    return err;
}

static int write_pending(struct store_load *load)
{
    struct batch b;
    load->failed_row = load->pending[0].row;
    load->failed_index = 0;
    int err = batch_begin(load->store, STORE_DATA, &b);
    if (err)
        return err;
    for (uint32_t i = 0; i < load->n_pending && !err; i++)
        err = try_row(load, &b, &load->pending[i]);
    if (!err)
        err = batch_commit(&b);
    else
        batch_abort(&b);
    for (uint32_t i = 0; i < load->n_pending && !err; i++)
        if (load->pending[i].err)
            err = tell_refused(load, &load->pending[i]);
    return err;
}

static int flush(struct store_load *load)
{
    if (load->n_pending && !load->err)
        load->err = write_pending(load);
    load->n_pending = load->pending_bytes = 0;
    arena_reset(&load->arena);
    return load->err;
}

static int keep_row(struct store_load *load, struct str key, const struct tape_node *row,
                    uint64_t if_version)
{
    if (key.n == 0 || key.n > KEY_BYTES_MAX)
        return ERR_LIMIT;
    buf_clear(&load->body);
    int err = row_encode(row, &load->body);
    if (err)
        return err;
    struct pending_row *out = &load->pending[load->n_pending];
    *out = (struct pending_row){.row = load->n_rows,
                                .key = arena_str(&load->arena, key),
                                .body = arena_buf(&load->arena, &load->body),
                                .if_version = if_version};
    if (!out->key.p || !out->body.p)
        return ERR_NO_MEMORY;
    load->n_pending++;
    load->pending_bytes += out->body.n;
    return 0;
}

static int refuse_now(struct store_load *load, struct str key, const struct tape_node *row)
{
    const struct store_refusal refusal = {
        .row = load->n_rows, .err = ERR_LIMIT, .key = key, .content = row};
    return load->rules.refused(load->rules.ctx, &refusal);
}

int store_load_row(struct store_load *load, struct str key, const struct tape_node *row,
                   uint64_t if_version)
{
    if (load->err)
        return load->err;
    load->failed_row = load->n_rows;
    load->failed_index = 0;
    load->err = keep_row(load, key, row, if_version);
    if (load->err == ERR_LIMIT && load->rules.refused)
        load->err = refuse_now(load, key, row);
    if (load->err)
        return load->err;
    load->n_rows++;
    if (load->n_pending == LOAD_ROWS || load->pending_bytes >= LOAD_BYTES)
        return flush(load);
    return 0;
}

uint64_t store_load_failed_row(const struct store_load *load)
{
    return load->failed_row;
}

uint32_t store_load_failed_index(const struct store_load *load)
{
    return load->failed_index;
}

void store_load_set_rules(struct store_load *load, const struct store_load_rules *rules)
{
    load->rules = *rules;
}

/* From this commit on the rows are there for good. */
static int end_load(struct store *store)
{
    struct batch b;
    int err = batch_begin(store, STORE_DATA, &b);
    if (err)
        return err;
    err = load_set_open(&b, 0);
    if (!err)
        return batch_commit(&b);
    batch_abort(&b);
    return err;
}

int store_load_commit(struct store_load *load)
{
    struct store *store = load->store;
    if (!flush(load) && load->rules.ready)
        load->err = load->rules.ready(load->rules.ctx);
    if (!load->err)
        load->err = end_load(store);
    if (load->err)
        return load->err;
    int err = load_undo(store, false, NULL);
    if (err)
        log_warn("an import is complete, but its undo job stays for the keeper: %s", err_text(err));
    load_free(load);
    return 0;
}

int store_load_abort(struct store_load *load)
{
    if (!load)
        return 0;
    int err = load_undo(load->store, true, &load->rules);
    load_free(load);
    return err;
}
