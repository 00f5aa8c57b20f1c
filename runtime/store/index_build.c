/* store/index_build.c - an index for a table that has rows already.
 *
 * The record of the index comes first, not ready: from that commit on every write of a row keeps
 * its entry. Then the rows are gone through by their keys, a batch in each transaction; an entry
 * that a writer made meanwhile is made again, to no effect. The batch that finds no more rows makes
 * the index ready in its own transaction, so there is no moment between.
 *
 * META's `build` names the index as long as it is built, and who builds holds a lock that ends with
 * its process. Named, but no lock: it was left behind, and is dropped.
 */
#include "store/internal.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"

#include <stdlib.h>

struct entry {
    struct str key; /* in ENTRIES */
    uint32_t index_key_len;
    bool has_null;
};

struct build {
    struct store *store;
    struct store_index_build *call;
    struct store_index index;
    uint32_t table;
    struct row_key last; /* of the rows that have entries; len 0: none */
    uint64_t done, total;
    struct arena arena; /* of a batch */
    struct buf key;
    struct entry entries[TXN_ROWS_MAX];
    uint32_t n;
    int64_t collect_until_ms;
};

/* ---- A batch of rows ------------------------------------------------------------------------ */

static int keep_key(struct build *build, int i, struct str key)
{
    if (!build->call->arena)
        return 0;
    build->call->ret_keys[i] = arena_str(build->call->arena, key);
    return build->call->ret_keys[i].p ? 0 : ERR_NO_MEMORY;
}

static int collect(void *ctx, const struct store_row *row)
{
    struct build *build = ctx;
    struct entry *e = &build->entries[build->n];
    int err = index_entry(&build->index, row->key, row->row, &build->key, &e->index_key_len,
                          &e->has_null);
    if (err == ERR_LIMIT || err == ERR_PARAMS)
        err = keep_key(build, 0, row->key) ? ERR_NO_MEMORY : err;
    if (err)
        return err;
    e->key = arena_buf(&build->arena, &build->key);
    if (!e->key.p)
        return ERR_NO_MEMORY;
    build->n++;
    return build->n == TXN_ROWS_MAX || clock_mono_ms() >= build->collect_until_ms;
}

static struct str row_key_of(const struct entry *e)
{
    uint32_t before = 4 + e->index_key_len;
    return (struct str){e->key.p + before, e->key.n - before};
}

static int add_entry(struct build *build, struct batch *b, const struct entry *e)
{
    struct str other;
    int err = 0;
    if (build->index.unique && !e->has_null)
        err = index_check_unique(&b->txn, e->key, e->index_key_len, &other);
    if (err == ERR_EXISTS && (keep_key(build, 0, other) || keep_key(build, 1, row_key_of(e))))
        return ERR_NO_MEMORY;
    return err ? err : index_put_entry(b, e->key, e->index_key_len);
}

static int add_entries(struct build *build, struct batch *b, int64_t until_ms)
{
    uint32_t i = 0;
    int err = 0;
    do {
        err = add_entry(build, b, &build->entries[i++]);
    } while (!err && i < build->n && clock_mono_ms() < until_ms);
    if (err)
        return err;
    build->done += i;
    return row_key(build->table, row_key_of(&build->entries[i - 1]), &build->last);
}

static bool is_still_there(const struct build *build, const struct batch *b)
{
    for (uint32_t i = 0; i < b->slot.n_indexes; i++)
        if (b->slot.indexes[i].id == build->index.id)
            return true;
    return false;
}

static int set_building(struct batch *b, uint64_t table_and_index)
{
    b->changes++;
    return meta_put(&b->txn, META_BUILD, table_and_index);
}

static int finish(struct build *build, struct batch *b)
{
    int err = index_set_ready(b, &build->index);
    return err ? err : set_building(b, 0);
}

/* 1: it was the last. */
static int run_batch(struct build *build, struct batch *b)
{
    int64_t now_ms = clock_mono_ms();
    struct store_view view = {.store = build->store, .txn = b->txn};
    struct store_range range = {.after = true};
    if (build->last.len)
        range.from = (struct str){build->last.bytes + 4, build->last.len - 4};
    int err = batch_table(b, build->table);
    if (!err && !is_still_there(build, b))
        err = ERR_CANCELLED;
    if (err)
        return err;
    build->n = 0;
    build->collect_until_ms = now_ms + TXN_MS_MAX / 2;
    arena_reset(&build->arena);
    err = store_scan_rows(&view, build->table, &range, collect, build);
    if (err < 0)
        return err;
    if (build->n == 0)
        err = finish(build, b);
    else
        err = add_entries(build, b, now_ms + TXN_MS_MAX);
    return err ? err : build->n == 0;
}

static int build_some(struct build *build)
{
    struct batch b;
    int err = batch_begin(build->store, STORE_DATA, &b);
    if (err)
        return err;
    int ended = run_batch(build, &b);
    if (ended < 0) {
        batch_abort(&b);
        return ended;
    }
    err = batch_commit(&b);
    return err ? err : ended;
}

static int build_all(struct build *build)
{
    struct store_index_build *call = build->call;
    int64_t gave_ms = 0;
    int err;
    do {
        batch_give_way(&gave_ms);
        err = build_some(build);
        if (!err && call->progress && call->progress(call->ctx, build->done, build->total))
            err = ERR_CANCELLED;
    } while (err == 0);
    return err < 0 ? err : 0;
}

/* ---- Dropping ------------------------------------------------------------------------------- */

static int purge_all(struct store *store)
{
    int64_t gave_ms = 0;
    int n;
    do {
        struct batch b;
        batch_give_way(&gave_ms);
        int err = batch_begin(store, STORE_DATA, &b);
        if (err)
            return err;
        n = indexes_purge(&b, TXN_ROWS_MAX);
        if (n < 0)
            batch_abort(&b);
        else if ((err = batch_commit(&b)))
            return err;
    } while (n == TXN_ROWS_MAX);
    return n < 0 ? n : 0;
}

static int drop(struct batch *b, uint32_t table, uint32_t index)
{
    int err = batch_table(b, table);
    bool found = false;
    for (uint32_t i = 0; !err && i < b->slot.n_indexes; i++)
        found |= b->slot.indexes[i].id == index;
    if (!err && !found)
        err = ERR_ABSENT;
    return err ? err : index_drop(b, index);
}

/* What META names; gone already is fine. */
static int drop_unfinished(struct batch *b)
{
    uint64_t building;
    int err = meta_get(&b->txn, META_BUILD, &building);
    if (err || !building)
        return err;
    err = drop(b, (uint32_t)(building >> 32), (uint32_t)building);
    return err && err != ERR_ABSENT ? err : set_building(b, 0);
}

/* Under the lock. */
static int clean_up(struct store *store)
{
    struct batch b;
    int err = batch_begin(store, STORE_DATA, &b);
    if (err)
        return err;
    err = drop_unfinished(&b);
    if (!err)
        return batch_commit(&b);
    batch_abort(&b);
    return err;
}

static int is_marked(struct store *store)
{
    struct kv_txn txn;
    uint64_t building = 0;
    int err = kv_begin(store->envs[STORE_DATA], false, &txn);
    if (err)
        return err;
    err = meta_get(&txn, META_BUILD, &building);
    kv_end(&txn);
    return err ? err : building != 0;
}

int index_recover(struct store *store)
{
    int fd;
    int err = is_marked(store);
    if (err <= 0)
        return err;
    err = store_lock(store, LOCK_BUILD, &fd);
    if (err)
        return err == ERR_BUSY ? 0 : err;
    err = is_marked(store); /* or it was finished meanwhile */
    if (err > 0)
        log_warn("dropping an index that was being built when its process ended");
    if (err > 0)
        err = clean_up(store);
    store_unlock(store, LOCK_BUILD, fd);
    return err;
}

int store_drop_index(struct store *store, uint32_t table, uint32_t index)
{
    struct batch b;
    int err = batch_begin(store, STORE_DATA, &b);
    if (err)
        return err;
    err = drop(&b, table, index);
    if (err) {
        batch_abort(&b);
        return err;
    }
    err = batch_commit(&b);
    if (!err && purge_all(store))
        log_warn("an index is dropped, but entries of it stay for the keeper");
    return err;
}

/* ---- Building ------------------------------------------------------------------------------- */

static int make_record(struct build *build, struct batch *b)
{
    int err = drop_unfinished(b);
    if (!err)
        err = batch_table(b, build->table);
    if (!err)
        err = index_make(b, &build->index, false, &build->index.id);
    build->total = b->slot.rows;
    return err ? err : set_building(b, (uint64_t)build->table << 32 | build->index.id);
}

static int start(struct build *build)
{
    struct batch b;
    int err = batch_begin(build->store, STORE_DATA, &b);
    if (err)
        return err;
    err = make_record(build, &b);
    if (!err)
        return batch_commit(&b);
    batch_abort(&b);
    return err;
}

static int run(struct build *build)
{
    int err = start(build);
    if (err)
        return err;
    err = build_all(build);
    if (!err)
        return 0;
    int left = clean_up(build->store);
    left = left ? left : purge_all(build->store);
    if (left)
        log_warn("a build of an index failed, and what it made stays for the keeper: %s",
                 err_text(left));
    return err;
}

int store_create_index(struct store *store, uint32_t table, const struct store_index *index,
                       struct store_index_build *call)
{
    int fd;
    call->ret_keys[0] = call->ret_keys[1] = STR_NONE;
    if (store->read_only)
        return ERR_STORE_READ_ONLY;
    struct build *build = calloc(1, sizeof *build);
    if (!build)
        return ERR_NO_MEMORY;
    *build = (struct build){.store = store, .call = call, .index = *index, .table = table};
    arena_init(&build->arena, 0);
    int err = store_lock(store, LOCK_BUILD, &fd);
    if (!err) {
        err = run(build);
        store_unlock(store, LOCK_BUILD, fd);
    }
    if (!err)
        call->ret_index = build->index.id;
    buf_done(&build->key);
    arena_done(&build->arena);
    free(build);
    return err;
}
