/* store/load.c - imports: many rows, in small transactions, all there in the end or none.
 *
 *   UNDO  u64, newest first -> [format, table, key, version, stood, before]
 *   META  "load" = 1 while what stands in UNDO is to be rolled back; 0: it is only to be deleted
 *
 * Each batch writes its rows together with how to take them back, so at any moment a stop leaves a
 * store that can be brought back. A row is taken back only if it still has the version that the
 * load gave it: what others wrote over it was acknowledged to them, and stays. A row that stood
 * before gets its old version again.
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
    struct str key, body;
    uint64_t if_version;
};

struct store_load {
    struct store *store;
    uint32_t table;
    int lock_fd;
    int err; /* sticky */
    uint64_t n_undo, n_rows, failed_row;
    struct buf body;
    struct arena arena; /* of the pending rows */
    uint32_t n_pending, pending_bytes;
    struct pending_row pending[LOAD_ROWS];
};

/* ---- Rolling back --------------------------------------------------------------------------- */

static int set_open(struct batch *b, uint64_t open)
{
    b->changes++;
    return meta_put(&b->txn, META_LOAD, open);
}

/* Somebody else may have taken what a unique index allows once: then the row stays as it is. */
static int put_back(struct batch *b, const struct row_key *key, struct str before)
{
    const struct tape_node *f[3];
    uint32_t index;
    int err = record_read(before, "ii*", &b->scratch, f);
    if (!err)
        err = row_reindex(b, key, f[2], &index);
    if (err == ERR_EXISTS)
        log_warn("a row that an import changed stays so: another one has its unique value now");
    if (err)
        return err == ERR_EXISTS ? 0 : err;
    buf_clear(&b->value);
    buf_add_str(&b->value, before);
    err = batch_put(b, KV_ROWS, (struct str){key->bytes, key->len});
    struct str own = {key->bytes + 4, key->len - 4};
    return err ? err : batch_log(b, STORE_ROW_PUT, b->slot.id, own);
}

static int take_back(struct batch *b, const struct row_key *key)
{
    uint32_t index;
    int err = row_reindex(b, key, NULL, &index);
    if (!err)
        err = batch_remove(b, KV_ROWS, (struct str){key->bytes, key->len});
    b->slot.rows--;
    b->slot.changed = true;
    struct str own = {key->bytes + 4, key->len - 4};
    return err ? err : batch_log(b, STORE_ROW_DELETED, b->slot.id, own);
}

/* 1 if the row is as the load left it. */
static int is_ours(struct batch *b, const struct row_key *key, int64_t version)
{
    struct str value;
    int64_t now;
    int err = kv_get(&b->txn, KV_ROWS, (struct str){key->bytes, key->len}, &value);
    if (!err)
        err = record_first_int(value, &now);
    if (err)
        return err == ERR_ABSENT ? 0 : err;
    return now == version;
}

static int undo_row(struct batch *b, struct str value)
{
    const struct tape_node *f[5];
    struct row_key key;
    int err = record_read(value, "isiis", &b->scratch, f);
    if (!err)
        err = row_key((uint32_t)f[0]->v.i, record_str(f[1]), &key);
    if (!err)
        err = batch_table(b, (uint32_t)f[0]->v.i);
    if (err)
        return err == ERR_ABSENT ? 0 : err; /* the table was dropped, and its rows with it */
    err = is_ours(b, &key, f[2]->v.i);
    if (err != 1)
        return err;
    return f[3]->v.i ? put_back(b, &key, record_str(f[4])) : take_back(b, &key);
}

static int undo_newest(struct batch *b, bool roll_back)
{
    struct str key, value;
    char at[8];
    int err = kv_first(&b->txn, KV_UNDO, STR(""), &key, &value);
    if (err)
        return err;
    if (key.n != sizeof at)
        return ERR_STORE_DAMAGED;
    memcpy(at, key.p, sizeof at);
    arena_reset(&b->scratch);
    value = roll_back ? arena_str(&b->scratch, value) : STR_NONE;
    if (roll_back)
        err = value.p ? undo_row(b, value) : ERR_NO_MEMORY;
    return err ? err : batch_remove(b, KV_UNDO, (struct str){at, sizeof at});
}

/* 1 when nothing is left. */
static int undo_some(struct store *store, bool roll_back)
{
    struct batch b;
    int err = batch_begin(store, STORE_DATA, &b);
    if (err)
        return err;
    for (int i = 0; i < LOAD_ROWS && b.bytes < BATCH_BYTES && !err; i++)
        err = undo_newest(&b, roll_back);
    bool empty = err == ERR_ABSENT;
    if (empty)
        err = set_open(&b, 0);
    if (!err)
        err = batch_commit(&b);
    else
        batch_abort(&b);
    return err ? err : empty;
}

static int undo_all(struct store *store, bool roll_back)
{
    int64_t gave_ms = 0;
    int err;
    do {
        batch_give_way(&gave_ms);
        err = undo_some(store, roll_back);
    } while (err == 0);
    return err < 0 ? err : 0;
}

/* 0: nothing was left behind; 1: to be deleted; 2: to be rolled back. */
static int look_for_remains(struct store *store)
{
    struct kv_txn txn;
    uint64_t open, n;
    int err = kv_begin(store->envs[STORE_DATA], false, &txn);
    if (err)
        return err;
    err = meta_get(&txn, META_LOAD, &open);
    if (!err)
        err = kv_count(&txn, KV_UNDO, &n);
    kv_end(&txn);
    return err ? err : open ? 2 : n > 0;
}

static int recover_locked(struct store *store)
{
    int found = look_for_remains(store);
    if (found <= 0)
        return found;
    if (found == 2)
        log_warn("rolling back an import that did not end");
    return undo_all(store, found == 2);
}

int load_recover(struct store *store)
{
    int fd;
    int err = look_for_remains(store);
    if (err <= 0)
        return err;
    err = store_lock(store, LOCK_LOAD, &fd);
    if (err)
        return err == ERR_BUSY ? 0 : err;
    err = recover_locked(store);
    store_unlock(store, LOCK_LOAD, fd);
    return err;
}

/* ---- Loading -------------------------------------------------------------------------------- */

static int start(struct store *store, uint32_t table)
{
    struct batch b;
    int err = recover_locked(store);
    if (!err)
        err = batch_begin(store, STORE_DATA, &b);
    if (err)
        return err;
    err = batch_table(&b, table);
    if (!err)
        err = set_open(&b, 1);
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

static int write_row(struct store_load *load, struct batch *b, const struct pending_row *row)
{
    struct store_op op = {.table = load->table, .key = row->key, .if_version = row->if_version};
    struct row_key key;
    struct str before;
    arena_reset(&b->scratch);
    int err = row_key(load->table, row->key, &key);
    if (!err)
        err = copy_before(b, &key, &before);
    if (!err)
        err = row_write(b, &op, row->body);
    return err ? err : put_undo(load, b, &op, before);
}

static int write_pending(struct store_load *load)
{
    struct batch b;
    uint64_t first = load->n_rows - load->n_pending;
    load->failed_row = first;
    int err = batch_begin(load->store, STORE_DATA, &b);
    if (err)
        return err;
    for (uint32_t i = 0; i < load->n_pending && !err; i++) {
        load->failed_row = first + i;
        err = write_row(load, &b, &load->pending[i]);
    }
    if (!err)
        return batch_commit(&b);
    batch_abort(&b);
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
    *out = (struct pending_row){.key = arena_str(&load->arena, key),
                                .body = arena_buf(&load->arena, &load->body),
                                .if_version = if_version};
    if (!out->key.p || !out->body.p)
        return ERR_NO_MEMORY;
    load->n_pending++;
    load->pending_bytes += out->body.n;
    return 0;
}

int store_load_row(struct store_load *load, struct str key, const struct tape_node *row,
                   uint64_t if_version)
{
    if (load->err)
        return load->err;
    load->failed_row = load->n_rows;
    load->err = keep_row(load, key, row, if_version);
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

/* From this commit on the rows are there for good. */
static int end_load(struct store *store)
{
    struct batch b;
    int err = batch_begin(store, STORE_DATA, &b);
    if (err)
        return err;
    err = set_open(&b, 0);
    if (!err)
        return batch_commit(&b);
    batch_abort(&b);
    return err;
}

int store_load_commit(struct store_load *load)
{
    struct store *store = load->store;
    if (!flush(load))
        load->err = end_load(store);
    if (load->err)
        return load->err;
    int err = undo_all(store, false);
    if (err)
        log_warn("an import is complete, but its undo job stays for the keeper: %s", err_text(err));
    load_free(load);
    return 0;
}

int store_load_abort(struct store_load *load)
{
    if (!load)
        return 0;
    int err = undo_all(load->store, true);
    load_free(load);
    return err;
}
