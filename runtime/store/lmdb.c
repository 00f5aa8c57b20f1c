/* store/lmdb.c - the engine on LMDB 0.9.24: transactions, reading and writing.
 *
 * Read transactions belong to views, not to threads (MDB_NOTLS); ended ones keep their reader slot
 * in a pool and are renewed, which costs a microsecond.
 *
 * LMDB never looks at the length of its file, and reading behind the end is a SIGBUS. So it is
 * checked at open (lmdb_open.c). For that check to be right each write transaction first makes the
 * file longer than it can need: pages that LMDB took at the end of the file and gave back in the
 * same transaction are never written, and would else look as if they had been cut off.
 */
#include "store/lmdb_env.h"

#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define SPARE_PAGES 2048       /* that the file is longer than the store, with a hole */
#define FREE_LEAST  (1u << 20) /* less on the disk, and a failed write is for want of space */

/* ---- Errors --------------------------------------------------------------------------------- */

static const struct {
    int code;
    int err;
} codes[] = {
    {0, 0},
    {MDB_NOTFOUND, ERR_ABSENT},
    {MDB_MAP_FULL, ERR_STORE_FULL},
    {ENOSPC, ERR_STORE_FULL},
    {EDQUOT, ERR_STORE_FULL},
    {EFBIG, ERR_STORE_FULL},
    {EROFS, ERR_STORE_READ_ONLY},
    {EACCES, ERR_STORE_READ_ONLY},
    {EPERM, ERR_STORE_READ_ONLY},
    {MDB_INVALID, ERR_STORE_DAMAGED},
    {MDB_CORRUPTED, ERR_STORE_DAMAGED},
    {MDB_PAGE_NOTFOUND, ERR_STORE_DAMAGED},
    {MDB_VERSION_MISMATCH, ERR_STORE_FORMAT},
    {MDB_INCOMPATIBLE, ERR_STORE_FORMAT},
    {MDB_READERS_FULL, ERR_READERS},
    {MDB_MAP_RESIZED, ERR_BUSY},
    {ENOMEM, ERR_NO_MEMORY},
    {ENOENT, ERR_ABSENT},
    {EIO, ERR_IO},
    {MDB_PANIC, ERR_IO},
};

int lmdb_err(int code)
{
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i].code == code)
            return codes[i].err;
    return ERR_INTERNAL;
}

static struct lmdb *lmdb_of(const struct kv_txn *txn)
{
    return (struct lmdb *)txn->env;
}

int lmdb_file(struct lmdb *l)
{
    mdb_filehandle_t fd = -1;
    mdb_env_get_fd(l->mdb, &fd);
    return fd;
}

int lmdb_err_of_write(struct lmdb *l, int code)
{
    struct statvfs disk;
    if (code == EIO && fstatvfs(lmdb_file(l), &disk) == 0 &&
        (uint64_t)disk.f_bavail * disk.f_frsize < FREE_LEAST)
        return ERR_STORE_FULL;
    return lmdb_err(code);
}

/* ---- Transactions --------------------------------------------------------------------------- */

static void enter(struct lmdb *l)
{
    pthread_mutex_lock(&l->lock);
    while (l->remapping)
        pthread_cond_wait(&l->idle, &l->lock);
    l->active++;
    pthread_mutex_unlock(&l->lock);
}

static void leave(struct lmdb *l)
{
    pthread_mutex_lock(&l->lock);
    if (--l->active == 0)
        pthread_cond_broadcast(&l->idle);
    pthread_mutex_unlock(&l->lock);
}

static bool wait_until_idle(struct lmdb *l)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1;
    while (l->active)
        if (pthread_cond_timedwait(&l->idle, &l->lock, &until))
            return false;
    return true;
}

/* Another process made the map larger than ours. Called by one who has entered; only with no
 * transaction of this process may the map be moved. */
static int adopt_map_size(struct lmdb *l)
{
    int code = MDB_MAP_RESIZED;
    pthread_mutex_lock(&l->lock);
    l->active--;
    while (l->remapping)
        pthread_cond_wait(&l->idle, &l->lock);
    l->remapping = true;
    if (wait_until_idle(l))
        code = mdb_env_set_mapsize(l->mdb, 0);
    l->remapping = false;
    l->active++;
    pthread_cond_broadcast(&l->idle);
    pthread_mutex_unlock(&l->lock);
    return code;
}

static MDB_txn *take_pooled(struct lmdb *l)
{
    pthread_mutex_lock(&l->lock);
    MDB_txn *txn = l->n_pooled ? l->pool[--l->n_pooled] : NULL;
    pthread_mutex_unlock(&l->lock);
    return txn;
}

static void give_pooled(struct lmdb *l, MDB_txn *txn)
{
    pthread_mutex_lock(&l->lock);
    bool fits = l->n_pooled < READERS_POOLED;
    if (fits)
        l->pool[l->n_pooled++] = txn;
    pthread_mutex_unlock(&l->lock);
    if (!fits)
        mdb_txn_abort(txn);
}

static int begin_read(struct lmdb *l, MDB_txn **ret)
{
    MDB_txn *txn = take_pooled(l);
    if (!txn)
        return mdb_txn_begin(l->mdb, NULL, MDB_RDONLY, ret);
    int code = mdb_txn_renew(txn);
    if (code)
        give_pooled(l, txn);
    else
        *ret = txn;
    return code;
}

/* Inside the write lock, so nobody else makes the file shorter or longer. Best effort: a disk that
 * is full says so at the commit. */
static void make_file_longer(struct lmdb *l)
{
    MDB_envinfo info;
    struct stat file;
    mdb_env_info(l->mdb, &info);
    uint64_t used = ((uint64_t)info.me_last_pgno + 1) * l->page_bytes;
    uint64_t spare = (uint64_t)SPARE_PAGES * l->page_bytes;
    if (used + spare / 2 <= l->file_bytes || fstat(lmdb_file(l), &file))
        return;
    l->file_bytes = (uint64_t)file.st_size;
    if (used + spare / 2 > l->file_bytes && ftruncate(lmdb_file(l), (off_t)(used + spare)) == 0)
        l->file_bytes = used + spare;
}

static int begin_write(struct lmdb *l, MDB_txn **ret)
{
    int code = mdb_txn_begin(l->mdb, NULL, 0, ret);
    if (!code)
        make_file_longer(l);
    return code;
}

static int begin(struct kv_env *env, bool writes, void **ret_handle)
{
    struct lmdb *l = (struct lmdb *)env;
    MDB_txn *txn;
    if (writes && l->read_only)
        return ERR_STORE_READ_ONLY;
    enter(l);
    int code = writes ? begin_write(l, &txn) : begin_read(l, &txn);
    if (code == MDB_MAP_RESIZED && (code = adopt_map_size(l)) == 0)
        code = writes ? begin_write(l, &txn) : begin_read(l, &txn);
    if (code) {
        leave(l);
        return lmdb_err_of_write(l, code);
    }
    *ret_handle = txn;
    return 0;
}

static int commit(struct kv_txn *txn)
{
    struct lmdb *l = lmdb_of(txn);
    int code = mdb_txn_commit(txn->handle);
    leave(l);
    return lmdb_err_of_write(l, code);
}

static void end(struct kv_txn *txn)
{
    struct lmdb *l = lmdb_of(txn);
    if (txn->writes) {
        mdb_txn_abort(txn->handle);
    } else {
        mdb_txn_reset(txn->handle);
        give_pooled(l, txn->handle);
    }
    leave(l);
}

/* ---- Reading and writing -------------------------------------------------------------------- */

static struct str str_of_val(MDB_val v)
{
    return (struct str){v.mv_size ? v.mv_data : "", (uint32_t)v.mv_size};
}

static int get(struct kv_txn *txn, enum kv_map map, struct str key, struct str *ret)
{
    MDB_val k = lmdb_val(key), v;
    int code = mdb_get(txn->handle, lmdb_of(txn)->maps[map], &k, &v);
    if (!code)
        *ret = str_of_val(v);
    return lmdb_err(code);
}

static int put(struct kv_txn *txn, enum kv_map map, struct str key, struct str value)
{
    MDB_val k = lmdb_val(key), v = lmdb_val(value);
    int code = mdb_put(txn->handle, lmdb_of(txn)->maps[map], &k, &v, 0);
    return lmdb_err_of_write(lmdb_of(txn), code);
}

static int remove_key(struct kv_txn *txn, enum kv_map map, struct str key)
{
    MDB_val k = lmdb_val(key);
    int code = mdb_del(txn->handle, lmdb_of(txn)->maps[map], &k, NULL);
    return lmdb_err_of_write(lmdb_of(txn), code);
}

static int count(struct kv_txn *txn, enum kv_map map, uint64_t *ret)
{
    MDB_stat stat;
    int code = mdb_stat(txn->handle, lmdb_of(txn)->maps[map], &stat);
    if (!code)
        *ret = stat.ms_entries;
    return lmdb_err(code);
}

static int cursor_open(struct kv_cursor *cursor)
{
    MDB_cursor *c;
    int code = mdb_cursor_open(cursor->txn->handle, lmdb_of(cursor->txn)->maps[cursor->map], &c);
    if (!code)
        cursor->handle = c;
    return lmdb_err(code);
}

static int move(struct kv_cursor *cursor, MDB_val *k, MDB_cursor_op op, struct str *ret_key,
                struct str *ret)
{
    MDB_val v;
    int code = mdb_cursor_get(cursor->handle, k, &v, op);
    if (!code) {
        *ret_key = cursor->at = str_of_val(*k);
        *ret = str_of_val(v);
    }
    return lmdb_err(code);
}

static int seek(struct kv_cursor *cursor, struct str key, struct str *ret_key, struct str *ret)
{
    MDB_val k = lmdb_val(key);
    return move(cursor, &k, key.n ? MDB_SET_RANGE : MDB_FIRST, ret_key, ret);
}

static int next(struct kv_cursor *cursor, struct str *ret_key, struct str *ret)
{
    MDB_val k;
    return move(cursor, &k, MDB_NEXT, ret_key, ret);
}

static int seek_before(struct kv_cursor *cursor, struct str key, struct str *ret_key,
                       struct str *ret)
{
    MDB_val k = lmdb_val(key), v;
    int code = mdb_cursor_get(cursor->handle, &k, &v, MDB_SET_RANGE);
    if (code && code != MDB_NOTFOUND)
        return lmdb_err(code);
    return move(cursor, &k, code ? MDB_LAST : MDB_PREV, ret_key, ret);
}

static int prev(struct kv_cursor *cursor, struct str *ret_key, struct str *ret)
{
    MDB_val k;
    return move(cursor, &k, MDB_PREV, ret_key, ret);
}

static void cursor_close(struct kv_cursor *cursor)
{
    mdb_cursor_close(cursor->handle);
}

/* ---- The environment ------------------------------------------------------------------------ */

/* LMDB keeps the numbers of free pages in a map of its own, in lists that begin with their length.
 */
static int count_free_pages(MDB_txn *txn, uint64_t *ret)
{
    const MDB_dbi free_pages = 0;
    MDB_cursor *cursor;
    MDB_val k, v;
    uint64_t n = 0;
    int code = mdb_cursor_open(txn, free_pages, &cursor);
    if (code)
        return code;
    while ((code = mdb_cursor_get(cursor, &k, &v, MDB_NEXT)) == 0)
        n += v.mv_size >= sizeof(size_t) ? *(size_t *)v.mv_data : 0;
    mdb_cursor_close(cursor);
    if (code == MDB_NOTFOUND)
        *ret = n;
    return code == MDB_NOTFOUND ? 0 : code;
}

/* A line of LMDB's list: process, thread and the transaction that is read, or "-". */
static int count_reader(const char *line, void *ctx)
{
    unsigned long long reads;
    *(uint32_t *)ctx += sscanf(line, "%*d %*x %llu", &reads) == 1;
    return 0;
}

static int stat_txn(struct kv_txn *txn, struct store_stat *ret)
{
    struct lmdb *l = lmdb_of(txn);
    MDB_envinfo info;
    struct stat file;
    uint64_t n_free = 0;
    int code = count_free_pages(txn->handle, &n_free);
    if (!code)
        code = mdb_env_info(l->mdb, &info);
    if (code || fstat(lmdb_file(l), &file))
        return code ? lmdb_err(code) : ERR_IO;
    ret->used_bytes = (info.me_last_pgno + 1 - n_free) * l->page_bytes;
    ret->free_bytes = n_free * l->page_bytes;
    ret->disk_bytes = (uint64_t)file.st_blocks * 512;
    ret->map_bytes = info.me_mapsize;
    ret->readers = 0;
    mdb_reader_list(l->mdb, count_reader, &ret->readers);
    return 0;
}

static int sync_env(struct kv_env *env)
{
    struct lmdb *l = (struct lmdb *)env;
    return lmdb_err_of_write(l, mdb_env_sync(l->mdb, 1));
}

static int check_readers(struct kv_env *env)
{
    int dead;
    return lmdb_err(mdb_reader_check(((struct lmdb *)env)->mdb, &dead));
}

static void close_env(struct kv_env *env)
{
    struct lmdb *l = (struct lmdb *)env;
    while (l->n_pooled)
        mdb_txn_abort(l->pool[--l->n_pooled]);
    if (l->mdb)
        mdb_env_close(l->mdb);
    pthread_mutex_destroy(&l->lock);
    pthread_cond_destroy(&l->idle);
    free(l);
}

const struct kv_engine lmdb_engine = {
    .begin = begin,
    .commit = commit,
    .end = end,
    .get = get,
    .put = put,
    .remove = remove_key,
    .count = count,
    .cursor_open = cursor_open,
    .seek = seek,
    .next = next,
    .seek_before = seek_before,
    .prev = prev,
    .cursor_close = cursor_close,
    .sync = sync_env,
    .stat = stat_txn,
    .check_readers = check_readers,
    .close = close_env,
};
