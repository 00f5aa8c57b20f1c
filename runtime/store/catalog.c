/* store/catalog.c - tables.
 *
 *   CATALOG  database NUL name -> [format, id, version, definition]
 *   TABLES   id u32            -> [format, rows, key in CATALOG]
 *   DROPPED  id u32            -> nothing; its rows wait to be deleted
 *
 * Ids are never reused, so a dropped table is gone at once and its rows go later, in small
 * transactions, by store_maintain.
 */
#include "store/internal.h"

#include "base/err.h"

#include <string.h>

struct table_id {
    unsigned char bytes[4];
};

static struct str id_key(uint32_t table, struct table_id *space)
{
    kv_put_u32(space->bytes, table);
    return (struct str){(char *)space->bytes, 4};
}

static bool is_name(struct str s)
{
    return s.n > 0 && s.n <= NAME_BYTES_MAX && !memchr(s.p, '\0', s.n);
}

static struct str catalog_key(const struct store_table *table, char out[TABLE_KEY_BYTES])
{
    struct str database = table->database, name = table->name;
    if (!is_name(database) || !is_name(name))
        return STR_NONE;
    memcpy(out, database.p, database.n);
    out[database.n] = '\0';
    memcpy(out + database.n + 1, name.p, name.n);
    return (struct str){out, database.n + 1 + name.n};
}

static int read_table(struct str key, struct str value, struct arena *arena,
                      struct store_table *ret)
{
    const struct tape_node *f[3];
    int err = record_read(value, "iis", arena, f);
    if (err)
        return err;
    *ret = (struct store_table){.id = (uint32_t)f[0]->v.i,
                                .version = (uint64_t)f[1]->v.i,
                                .definition = record_str(f[2]),
                                .name = key};
    ret->database = str_cut(&ret->name, '\0');
    return ret->name.p ? 0 : ERR_STORE_DAMAGED;
}

/* ---- The slot of the table being written ---------------------------------------------------- */

int table_slot_save(struct batch *b)
{
    struct table_slot *slot = &b->slot;
    struct table_id id;
    if (!slot->id || !slot->changed)
        return 0;
    slot->changed = false;
    record_begin(&b->value, 2);
    cbor_write_int((int64_t)slot->rows, &b->value);
    cbor_write_bytes((struct str){slot->name, slot->name_len}, &b->value);
    int err = batch_put(b, KV_TABLES, id_key(slot->id, &id));
    b->changes--; /* it belongs to the operations before */
    return err;
}

int batch_table(struct batch *b, uint32_t table)
{
    const struct tape_node *f[2];
    struct table_id id;
    struct str value;
    if (table && b->slot.id == table)
        return 0;
    int err = table_slot_save(b);
    b->slot.id = 0;
    if (!err)
        err = kv_get(&b->txn, KV_TABLES, id_key(table, &id), &value);
    if (!err)
        err = record_read(value, "is", &b->scratch, f);
    if (!err && f[1]->n > TABLE_KEY_BYTES)
        err = ERR_STORE_DAMAGED;
    if (err)
        return err;
    b->slot = (struct table_slot){.id = table, .rows = (uint64_t)f[0]->v.i, .name_len = f[1]->n};
    memcpy(b->slot.name, f[1]->v.s, f[1]->n);
    arena_reset(&b->indexes);
    err = index_list(&b->txn, table, &b->indexes, &b->slot.indexes, &b->slot.n_indexes);
    if (err)
        b->slot.id = 0;
    return err;
}

/* ---- Operations ----------------------------------------------------------------------------- */

/* Makes b->slot that of a new table. */
static int add_table(struct batch *b, const struct store_table *table, struct str key)
{
    if (b->tables == UINT32_MAX)
        return ERR_LIMIT;
    int err = index_check_all(table);
    if (!err)
        err = table_slot_save(b);
    if (err)
        return err;
    b->slot = (struct table_slot){.id = (uint32_t)++b->tables, .changed = true, .name_len = key.n};
    memcpy(b->slot.name, key.p, key.n);
    return index_make_all(b, table);
}

static int save_table(struct batch *b, struct store_op *op, uint32_t id, struct str key)
{
    int err = batch_log(b, STORE_TABLE_PUT, id, STR_NONE);
    if (err)
        return err;
    b->catalog++;
    op->ret_table = id;
    if (b->slot.id == id)
        b->slot.version = b->seq;
    op->ret_seq = b->seq;
    record_begin(&b->value, 3);
    cbor_write_int(id, &b->value);
    cbor_write_int((int64_t)b->seq, &b->value);
    cbor_write_str(op->put_table->definition, &b->value);
    return batch_put(b, KV_CATALOG, key);
}

/* Rows of a load that is not committed may become what they were before, which whoever checked all
 * rows has not seen. */
static int check_no_load(struct batch *b)
{
    uint64_t open;
    int err = meta_get(&b->txn, META_LOAD, &open);
    return err ? err : open ? ERR_BUSY : 0;
}

/* Asks whoever changes it, who may have seen other indexes. */
static int check_table(struct batch *b, const struct store_op *op, struct store_table *now)
{
    if (!op->check_table)
        return 0;
    int err = index_list(&b->txn, now->id, &b->scratch, &now->indexes, &now->n_indexes);
    return err ? err : op->check_table(op->check_ctx, now);
}

int table_put(struct batch *b, struct store_op *op)
{
    const struct store_table *table = op->put_table;
    struct store_table old = {0};
    char space[TABLE_KEY_BYTES];
    struct str key = catalog_key(table, space), value;
    if (!key.p || table->definition.n > ROW_BYTES_MAX)
        return ERR_LIMIT;
    int err = kv_get(&b->txn, KV_CATALOG, key, &value);
    if (!err)
        err = read_table(key, value, &b->scratch, &old);
    if (err && err != ERR_ABSENT)
        return err;
    err = check_condition(op, old.id, old.version);
    if (!err && table->id && table->id != old.id)
        err = ERR_ABSENT;
    if (!err && old.id)
        err = check_table(b, op, &old);
    if (!err && old.id && op->check_row)
        err = check_no_load(b);
    if (!err && old.id && op->check_row)
        err = rows_recheck(b, op, old.id);
    if (!err && !old.id)
        err = add_table(b, table, key);
    return err ? err : save_table(b, op, old.id ? old.id : b->slot.id, key);
}

static int version_of(struct batch *b, struct str key, uint64_t *ret)
{
    struct store_table table;
    struct str value;
    int err = kv_get(&b->txn, KV_CATALOG, key, &value);
    if (!err)
        err = read_table(key, value, &b->scratch, &table);
    else if (err == ERR_ABSENT)
        err = ERR_STORE_DAMAGED; /* TABLES knows it */
    if (!err)
        *ret = table.version;
    return err;
}

int batch_table_version(struct batch *b, uint64_t version)
{
    int err = 0;
    if (version && !b->slot.version)
        err = version_of(b, (struct str){b->slot.name, b->slot.name_len}, &b->slot.version);
    return err ? err : version && version != b->slot.version ? ERR_STALE : 0;
}

static int forget_table(struct batch *b, struct store_op *op)
{
    struct table_id id;
    struct str key = {b->slot.name, b->slot.name_len};
    int err = batch_remove(b, KV_CATALOG, key);
    b->slot.changed = false;
    if (!err)
        err = index_drop_all(b);
    if (!err)
        err = batch_remove(b, KV_TABLES, id_key(op->table, &id));
    buf_clear(&b->value);
    if (!err)
        err = batch_put(b, KV_DROPPED, id_key(op->table, &id));
    b->slot.id = 0;
    if (!err)
        err = batch_log(b, STORE_TABLE_DROPPED, op->table, STR_NONE);
    b->catalog++;
    op->ret_seq = b->seq;
    return err;
}

int table_drop(struct batch *b, struct store_op *op)
{
    uint64_t version = 0;
    int err = batch_table(b, op->table);
    bool there = err != ERR_ABSENT;
    if (there && !err)
        err = table_slot_save(b); /* a table made in this very transaction */
    if (there && !err)
        err = version_of(b, (struct str){b->slot.name, b->slot.name_len}, &version);
    if (there && err)
        return err;
    err = check_condition(op, there, version);
    return err || !there ? err : forget_table(b, op);
}

static int purge_id(struct batch *b, enum kv_map map, uint32_t id, uint32_t max)
{
    struct {
        char bytes[4 + INDEX_ENTRY_BYTES];
    } from;
    struct str key, value;
    kv_put_u32((unsigned char *)from.bytes, id);
    for (uint32_t n = 0; n < max; n++) {
        int err = kv_first(&b->txn, map, (struct str){from.bytes, 4}, &key, &value);
        if (err && err != ERR_ABSENT)
            return err;
        if (err || key.n < 4 || kv_u32(key.p) != id)
            return (int)n;
        if (key.n > sizeof from.bytes)
            return ERR_STORE_DAMAGED;
        memcpy(from.bytes, key.p, key.n);
        err = batch_remove(b, map, (struct str){from.bytes, key.n});
        if (err)
            return err;
    }
    return (int)max;
}

int purge_ids(struct batch *b, enum kv_map waiting, enum kv_map map, uint32_t max)
{
    struct str key, value;
    int total = 0, n;
    while (max > (uint32_t)total) {
        int err = kv_first(&b->txn, waiting, STR(""), &key, &value);
        if (err)
            return err == ERR_ABSENT ? total : err;
        struct table_id id;
        struct str table = id_key(kv_u32(key.p), &id);
        n = purge_id(b, map, kv_u32(id.bytes), max - (uint32_t)total);
        if (n < 0)
            return n;
        total += n;
        if ((uint32_t)total < max && (err = batch_remove(b, waiting, table)))
            return err;
    }
    return total;
}

int tables_purge(struct batch *b, uint32_t max)
{
    return purge_ids(b, KV_DROPPED, KV_ROWS, max);
}

/* ---- Reading -------------------------------------------------------------------------------- */

bool table_exists(struct kv_txn *txn, uint32_t table)
{
    struct table_id id;
    struct str value;
    return !kv_get(txn, KV_TABLES, id_key(table, &id), &value);
}

int store_catalog_version(struct store_view *view, uint64_t *ret)
{
    return meta_get(&view->txn, META_CATALOG, ret);
}

struct table_scan {
    struct kv_txn *txn;
    store_table_fn fn;
    void *ctx;
    struct arena scratch;
};

static int visit_table(void *ctx, struct str key, struct str value)
{
    struct table_scan *scan = ctx;
    struct store_table table;
    arena_reset(&scan->scratch);
    int err = read_table(key, value, &scan->scratch, &table);
    if (!err)
        err = index_list(scan->txn, table.id, &scan->scratch, &table.indexes, &table.n_indexes);
    return err ? err : scan->fn(scan->ctx, &table);
}

int store_scan_tables(struct store_view *view, store_table_fn fn, void *ctx)
{
    struct table_scan scan = {.txn = &view->txn, .fn = fn, .ctx = ctx};
    arena_init(&scan.scratch, 0);
    int err = kv_scan(&view->txn, KV_CATALOG, STR(""), visit_table, &scan);
    arena_done(&scan.scratch);
    return err;
}

int store_count_rows(struct store_view *view, uint32_t table, uint64_t *ret)
{
    struct table_id id;
    struct str value;
    int64_t rows = 0;
    int err = kv_get(&view->txn, KV_TABLES, id_key(table, &id), &value);
    if (!err)
        err = record_first_int(value, &rows);
    if (err && err != ERR_ABSENT)
        return err;
    *ret = (uint64_t)rows;
    return 0;
}
