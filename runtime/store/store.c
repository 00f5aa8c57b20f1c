/* store/store.c - the port's life: opening, views, submitting, keeper's work. See core/store.h. */
#include "store/internal.h"

#include "base/clock.h"
#include "base/err.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define MAINTAIN_ROWS    500  /* of one transaction */
#define MAINTAIN_BATCHES 20   /* of one call */
#define MAINTAIN_UNDO_MS 3000 /* of one call, for rows of an import that did not end */

/* ---- Opening and closing -------------------------------------------------------------------- */

struct store *store_alloc(void)
{
    struct store *store = calloc(1, sizeof *store);
    if (!store)
        return NULL;
    pthread_mutex_init(&store->start_lock, NULL);
    pthread_mutex_init(&store->change_lock, NULL);
    store->log_keep = CHANGE_LOG_KEEP;
    store->streams_keep_ms = STREAM_KEEP_MS;
    store->sys_bytes_max = SYS_BYTES_MAX;
    store->sessions_max = SESSIONS_MAX;
    store->access_max = ACCESS_RECORDS_MAX;
    store->quotas_max = QUOTAS_MAX;
    return store;
}

static int prepare_memory(struct store *store)
{
    unsigned char id[DATABASE_ID_LEN];
    uint64_t format;
    int err = kv_open_memory(STORE_DATA, &store->envs[STORE_DATA]);
    if (!err)
        err = kv_open_memory(STORE_SYS, &store->envs[STORE_SYS]);
    if (!err)
        err = meta_prepare(store->envs[STORE_DATA], false, id, &format);
    return err ? err : meta_prepare(store->envs[STORE_SYS], true, id, &format);
}

int store_open_memory(struct store **ret)
{
    struct store *store = store_alloc();
    if (!store)
        return ERR_NO_MEMORY;
    int err = prepare_memory(store);
    if (err)
        store_close(store);
    else
        *ret = store;
    return err;
}

void store_close(struct store *store)
{
    if (!store)
        return;
    writer_stop(store->writers[STORE_DATA]);
    writer_stop(store->writers[STORE_SYS]);
    if (store->envs[STORE_DATA] && !store->read_only && !store->syncs_data)
        kv_sync(store->envs[STORE_DATA]);
    kv_close(store->envs[STORE_DATA]);
    if (store->directory)
        directory_close(store->directory, store->envs[STORE_SYS]);
    else
        kv_close(store->envs[STORE_SYS]);
    pthread_mutex_destroy(&store->start_lock);
    pthread_mutex_destroy(&store->change_lock);
    free(store);
}

void store_attach(struct store *store, struct loop *loop)
{
    store->loop = loop;
}

void store_on_change(struct store *store, void (*fn)(void *ctx, const struct change_marks *marks),
                     void *ctx)
{
    pthread_mutex_lock(&store->change_lock);
    store->on_change = fn;
    store->on_change_ctx = ctx;
    pthread_mutex_unlock(&store->change_lock);
}

void store_changed(struct store *store, const struct change_marks *marks)
{
    pthread_mutex_lock(&store->change_lock);
    if (store->on_change)
        store->on_change(store->on_change_ctx, marks);
    pthread_mutex_unlock(&store->change_lock);
}

/* ---- Views ---------------------------------------------------------------------------------- */

int store_view_open(struct store *store, enum store_space space, struct store_view **ret)
{
    struct store_view *view = malloc(sizeof *view);
    if (!view)
        return ERR_NO_MEMORY;
    view->store = store;
    int err = kv_begin(store->envs[space], false, &view->txn);
    if (err)
        free(view);
    else
        *ret = view;
    return err;
}

void store_view_close(struct store_view *view)
{
    if (!view)
        return;
    kv_end(&view->txn);
    free(view);
}

int store_database_id(struct store_view *view, unsigned char ret[16])
{
    uint64_t format;
    return meta_check(&view->txn, &format, ret);
}

int store_stat(struct store_view *view, struct store_stat *ret)
{
    struct store_stat stat = {0};
    int err = kv_stat(&view->txn, &stat);
    if (!err)
        err = meta_get(&view->txn, META_SEQ, &stat.last_seq);
    if (!err)
        *ret = stat;
    return err;
}

/* ---- Writing -------------------------------------------------------------------------------- */

static struct writer *writer_of(struct store *store, enum store_space space)
{
    pthread_mutex_lock(&store->start_lock);
    if (!store->writers[space])
        writer_start(store, space, &store->writers[space]);
    struct writer *w = store->writers[space];
    pthread_mutex_unlock(&store->start_lock);
    return w;
}

void store_submit(struct store *store, struct store_write *write)
{
    struct writer *w = writer_of(store, write->space);
    if (w)
        writer_submit(w, write);
    else
        write->done(write, ERR_NO_MEMORY);
}

int store_apply(struct store *store, struct store_write *write)
{
    struct writer *w = writer_of(store, write->space);
    return w ? writer_apply(w, write) : ERR_NO_MEMORY;
}

void store_expire_writes(struct store *store)
{
    struct writer *writers[2];
    pthread_mutex_lock(&store->start_lock);
    memcpy(writers, store->writers, sizeof writers);
    pthread_mutex_unlock(&store->start_lock);
    for (int space = STORE_DATA; space <= STORE_SYS; space++)
        if (writers[space])
            writer_expire(writers[space]);
}

int64_t store_write_standing_ms(struct store *store)
{
    int64_t longest_ms = 0;
    pthread_mutex_lock(&store->start_lock);
    for (int space = STORE_DATA; space <= STORE_SYS; space++) {
        int64_t ms = writer_standing_ms(store->writers[space]);
        longest_ms = ms > longest_ms ? ms : longest_ms;
    }
    pthread_mutex_unlock(&store->start_lock);
    return longest_ms;
}

/* ---- Locks ---------------------------------------------------------------------------------- */

static int lock_memory(struct store *store, enum store_lock lock)
{
    pthread_mutex_lock(&store->start_lock);
    int err = store->locked[lock] ? ERR_BUSY : 0;
    store->locked[lock] = true;
    pthread_mutex_unlock(&store->start_lock);
    return err;
}

int store_lock(struct store *store, enum store_lock lock, int *ret_fd)
{
    *ret_fd = -1;
    return store->directory ? directory_lock(store->directory, lock, ret_fd)
                            : lock_memory(store, lock);
}

void store_unlock(struct store *store, enum store_lock lock, int fd)
{
    if (fd >= 0)
        close(fd);
    pthread_mutex_lock(&store->start_lock);
    store->locked[lock] = false;
    pthread_mutex_unlock(&store->start_lock);
}

/* ---- Keeper's work -------------------------------------------------------------------------- */

typedef int (*chore_fn)(struct batch *b, uint32_t max);

static int trim(struct batch *b, uint32_t max)
{
    return change_log_trim(b, b->store->log_keep, max);
}

/* Small transactions until nothing is left to do, or the share of this call is used up. */
static int do_chore(struct store *store, enum store_space space, chore_fn chore)
{
    for (int i = 0; i < MAINTAIN_BATCHES; i++) {
        struct batch b;
        int err = batch_begin(store, space, &b);
        if (err)
            return err;
        int n = chore(&b, MAINTAIN_ROWS);
        if (n < 0)
            batch_abort(&b);
        else
            err = batch_commit(&b);
        if (n < MAINTAIN_ROWS || err)
            return n < 0 ? n : err;
    }
    return 0;
}

static int keep_first(int first, int err)
{
    return first < 0 ? first : err;
}

int store_maintain(struct store *store)
{
    if (store->read_only)
        return 0;
    int err = kv_sync(store->envs[STORE_SYS]);
    if (!store->syncs_data)
        err = keep_first(err, kv_sync(store->envs[STORE_DATA]));
    err = keep_first(err, kv_check_readers(store->envs[STORE_SYS]));
    err = keep_first(err, kv_check_readers(store->envs[STORE_DATA]));
    err = keep_first(err, do_chore(store, STORE_DATA, trim));
    err = keep_first(err, do_chore(store, STORE_DATA, tables_purge));
    err = keep_first(err, index_recover(store));
    err = keep_first(err, do_chore(store, STORE_DATA, indexes_purge));
    err = keep_first(err, do_chore(store, STORE_SYS, jobs_trim));
    err = keep_first(err, streams_look_at_room(store));
    err = keep_first(err, do_chore(store, STORE_SYS, streams_trim));
    err = keep_first(err, do_chore(store, STORE_SYS, streams_purge));
    err = keep_first(err, do_chore(store, STORE_SYS, subscriptions_purge));
    err = keep_first(err, do_chore(store, STORE_SYS, pushes_trim));
    err = keep_first(err, do_chore(store, STORE_SYS, mail_trim));
    err = keep_first(err, do_chore(store, STORE_SYS, quotas_trim));
    return keep_first(err, load_recover(store, clock_mono_ms() + MAINTAIN_UNDO_MS));
}

/* ---- The secret ----------------------------------------------------------------------------- */

static int memory_secret(struct store *store, unsigned char ret[32])
{
    int err = 0;
    pthread_mutex_lock(&store->start_lock);
    if (!store->has_secret)
        err = getrandom(store->secret, 32, 0) == 32 ? 0 : ERR_IO;
    store->has_secret = !err;
    if (!err)
        memcpy(ret, store->secret, 32);
    pthread_mutex_unlock(&store->start_lock);
    return err;
}

int store_secret(struct store *store, unsigned char ret[32])
{
    if (!store->directory)
        return memory_secret(store, ret);
    return directory_secret(store->directory, store->read_only, ret);
}
