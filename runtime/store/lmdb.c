/* store/lmdb.c - the engine on LMDB 0.9.24: the one file that includes lmdb.h.
 *
 * An environment is one file beside its lock file, opened after the fork, never with WRITEMAP (a
 * full disk would be a SIGBUS), with a map so large that it never has to grow in practice. Read
 * transactions belong to views, not to threads (MDB_NOTLS); ended ones keep their reader slot in a
 * pool and are renewed, which costs a microsecond.
 *
 * LMDB never looks at the length of its file, and reading behind the end is a SIGBUS. So it is
 * checked at open. For that check to be right each write transaction first makes the file longer
 * than it can need: pages that LMDB took at the end of the file and gave back in the same
 * transaction are never written, and would else look as if they had been cut off.
 */
#include "store/kv.h"

#include "base/err.h"
#include "base/log.h"

#include <errno.h>
#include <limits.h>
#include <lmdb.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define READERS_POOLED  32
#define READERS_MAX     4096
#define MAP_BYTES       ((uint64_t)1 << 40) /* of address space, not of disk */
#define MAP_BYTES_LEAST ((uint64_t)1 << 30)
#define SPARE_PAGES     2048       /* that the file is longer than the store, with a hole */
#define FREE_LEAST      (1u << 20) /* less on the disk, and a failed write is for want of space */

struct lmdb {
    struct kv_env env;
    MDB_env *mdb;
    MDB_dbi maps[KV_MAP_COUNT];
    bool read_only;
    size_t page_bytes;
    uint64_t file_bytes; /* known to be there; only a writer looks */
    pthread_mutex_t lock;
    pthread_cond_t idle; /* active fell to 0, or remapping ended */
    bool remapping;
    uint32_t active; /* transactions of this process */
    uint32_t n_pooled;
    MDB_txn *pool[READERS_POOLED];
};

static const struct {
    const char *name;
    bool of_space[2];
} map_names[] = {
#define MAP_ROW(name, text, data, sys) {text, {data, sys}},
    KV_MAPS(MAP_ROW)
#undef MAP_ROW
};

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
    {MDB_READERS_FULL, ERR_BUSY},
    {MDB_MAP_RESIZED, ERR_BUSY},
    {ENOMEM, ERR_NO_MEMORY},
    {ENOENT, ERR_ABSENT},
    {EIO, ERR_IO},
    {MDB_PANIC, ERR_IO},
};

static int err_of(int code)
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

static int file_of(struct lmdb *l)
{
    mdb_filehandle_t fd = -1;
    mdb_env_get_fd(l->mdb, &fd);
    return fd;
}

/* LMDB calls a short write on a full disk EIO. */
static int err_of_write(struct lmdb *l, int code)
{
    struct statvfs disk;
    if (code == EIO && fstatvfs(file_of(l), &disk) == 0 &&
        (uint64_t)disk.f_bavail * disk.f_frsize < FREE_LEAST)
        return ERR_STORE_FULL;
    return err_of(code);
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
    if (used + spare / 2 <= l->file_bytes || fstat(file_of(l), &file))
        return;
    l->file_bytes = (uint64_t)file.st_size;
    if (used + spare / 2 > l->file_bytes && ftruncate(file_of(l), (off_t)(used + spare)) == 0)
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
        return err_of_write(l, code);
    }
    *ret_handle = txn;
    return 0;
}

static int commit(struct kv_txn *txn)
{
    struct lmdb *l = lmdb_of(txn);
    int code = mdb_txn_commit(txn->handle);
    leave(l);
    return err_of_write(l, code);
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

static MDB_val val_of(struct str s)
{
    return (MDB_val){.mv_size = s.n, .mv_data = (void *)(uintptr_t)s.p};
}

static struct str str_of_val(MDB_val v)
{
    return (struct str){v.mv_size ? v.mv_data : "", (uint32_t)v.mv_size};
}

static int get(struct kv_txn *txn, enum kv_map map, struct str key, struct str *ret)
{
    MDB_val k = val_of(key), v;
    int code = mdb_get(txn->handle, lmdb_of(txn)->maps[map], &k, &v);
    if (!code)
        *ret = str_of_val(v);
    return err_of(code);
}

static int put(struct kv_txn *txn, enum kv_map map, struct str key, struct str value)
{
    MDB_val k = val_of(key), v = val_of(value);
    int code = mdb_put(txn->handle, lmdb_of(txn)->maps[map], &k, &v, 0);
    return err_of_write(lmdb_of(txn), code);
}

static int remove_key(struct kv_txn *txn, enum kv_map map, struct str key)
{
    MDB_val k = val_of(key);
    int code = mdb_del(txn->handle, lmdb_of(txn)->maps[map], &k, NULL);
    return err_of_write(lmdb_of(txn), code);
}

static int count(struct kv_txn *txn, enum kv_map map, uint64_t *ret)
{
    MDB_stat stat;
    int code = mdb_stat(txn->handle, lmdb_of(txn)->maps[map], &stat);
    if (!code)
        *ret = stat.ms_entries;
    return err_of(code);
}

static int cursor_open(struct kv_cursor *cursor)
{
    MDB_cursor *c;
    int code = mdb_cursor_open(cursor->txn->handle, lmdb_of(cursor->txn)->maps[cursor->map], &c);
    if (!code)
        cursor->handle = c;
    return err_of(code);
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
    return err_of(code);
}

static int seek(struct kv_cursor *cursor, struct str key, struct str *ret_key, struct str *ret)
{
    MDB_val k = val_of(key);
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
    MDB_val k = val_of(key), v;
    int code = mdb_cursor_get(cursor->handle, &k, &v, MDB_SET_RANGE);
    if (code && code != MDB_NOTFOUND)
        return err_of(code);
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

static int sync_env(struct kv_env *env)
{
    struct lmdb *l = (struct lmdb *)env;
    return err_of_write(l, mdb_env_sync(l->mdb, 1));
}

static int check_readers(struct kv_env *env)
{
    int dead;
    return err_of(mdb_reader_check(((struct lmdb *)env)->mdb, &dead));
}

/* ---- Opening and closing -------------------------------------------------------------------- */

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

static const struct kv_engine lmdb_engine = {
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
    .check_readers = check_readers,
    .close = close_env,
};

/* LMDB trusts its pages; where one contradicts itself it calls this and then aborts the process. */
static void explain_abort(MDB_env *mdb, const char *text)
{
    const char *path = "";
    mdb_env_get_path(mdb, &path);
    log_error("%s is damaged; restore it from a backup (export what can still be read): %s", path,
              text);
}

static int open_with_map(struct lmdb *l, const struct kv_lmdb_config *config, uint64_t map_bytes)
{
    unsigned flags = MDB_NOSUBDIR | MDB_NOTLS | (config->read_only ? MDB_RDONLY : 0) |
                     (config->sync ? 0 : MDB_NOSYNC);
    int code = mdb_env_create(&l->mdb);
    if (code)
        return code;
    mdb_env_set_assert(l->mdb, explain_abort);
    mdb_env_set_maxdbs(l->mdb, KV_MAP_COUNT);
    mdb_env_set_maxreaders(l->mdb, READERS_MAX);
    code = mdb_env_set_mapsize(l->mdb, map_bytes);
    if (!code)
        code = mdb_env_open(l->mdb, config->path, flags, 0600);
    if (code) {
        mdb_env_close(l->mdb);
        l->mdb = NULL;
    }
    return code;
}

/* Where address space is short (a limit on the process; valgrind, which says EINVAL) a smaller map
 * has to do. */
static int open_env(struct lmdb *l, const struct kv_lmdb_config *config)
{
    uint64_t map_bytes = config->map_bytes ? config->map_bytes : MAP_BYTES;
    int code = open_with_map(l, config, map_bytes);
    while ((code == ENOMEM || code == EINVAL) && !config->map_bytes && map_bytes > MAP_BYTES_LEAST)
        code = open_with_map(l, config, map_bytes /= 4);
    return code;
}

static int open_maps(struct lmdb *l, bool create)
{
    MDB_txn *txn;
    int code = mdb_txn_begin(l->mdb, NULL, create ? 0 : MDB_RDONLY, &txn);
    if (code)
        return code;
    for (int i = 0; i < KV_MAP_COUNT && !code; i++)
        if (map_names[i].of_space[l->env.space])
            code = mdb_dbi_open(txn, map_names[i].name, create ? MDB_CREATE : 0, &l->maps[i]);
    if (!code)
        return mdb_txn_commit(txn); /* keeps the handles, of a reader too */
    mdb_txn_abort(txn);
    return code;
}

/* Does the file hold nothing at all? */
static int is_empty(struct lmdb *l)
{
    MDB_txn *txn;
    MDB_dbi root;
    MDB_stat stat = {.ms_entries = 1};
    int code = mdb_txn_begin(l->mdb, NULL, MDB_RDONLY, &txn);
    if (code)
        return 0;
    if (!mdb_dbi_open(txn, NULL, 0, &root))
        mdb_stat(txn, root, &stat);
    mdb_txn_abort(txn);
    return stat.ms_entries == 0;
}

/* Made by an earlier version of this program, which had fewer maps? */
static bool has_meta(struct lmdb *l)
{
    MDB_txn *txn;
    MDB_dbi meta;
    if (mdb_txn_begin(l->mdb, NULL, MDB_RDONLY, &txn))
        return false;
    MDB_val k = val_of(STR("format")), v;
    bool there =
        !mdb_dbi_open(txn, map_names[KV_META].name, 0, &meta) && !mdb_get(txn, meta, &k, &v);
    mdb_txn_abort(txn);
    return there;
}

struct complaint {
    const char *path;
    struct arena *arena;
    struct str *why;
};

static int complain(const struct complaint *c, int err, const char *text)
{
    *c->why = arena_printf(c->arena, "%s: %s", c->path, text);
    return err;
}

static int check_length(struct lmdb *l, const struct complaint *c)
{
    MDB_envinfo info;
    MDB_stat stat;
    struct stat file;
    mdb_env_info(l->mdb, &info);
    mdb_env_stat(l->mdb, &stat);
    l->page_bytes = stat.ms_psize;
    uint64_t needed = ((uint64_t)info.me_last_pgno + 1) * stat.ms_psize;
    if (fstat(file_of(l), &file))
        return complain(c, ERR_IO, strerror(errno));
    if ((uint64_t)file.st_size >= needed)
        return 0;
    *c->why = arena_printf(c->arena,
                           "%s is damaged: it is %llu bytes long, but its header wants %llu; "
                           "restore it from a backup",
                           c->path, (unsigned long long)file.st_size, (unsigned long long)needed);
    return ERR_STORE_DAMAGED;
}

static int explain_open(const struct complaint *c, int code)
{
    int err = err_of(code);
    switch (err) {
    case ERR_STORE_DAMAGED:
        return complain(c, err, "damaged, or not a file of this program; restore it from a backup");
    case ERR_STORE_FORMAT:
        return complain(c, err, "written by another version of the storage library");
    case ERR_ABSENT:
        return complain(c, err, "there is no store yet");
    case ERR_NO_MEMORY:
        return complain(c, err, "no address space left to map it");
    default:
        return complain(c, err, mdb_strerror(code));
    }
}

static int prepare_maps(struct lmdb *l, const struct complaint *c)
{
    int code = open_maps(l, false);
    if (code != MDB_NOTFOUND)
        return code ? explain_open(c, code) : 0;
    bool older = has_meta(l);
    if (older && l->read_only)
        return complain(c, ERR_STORE_FORMAT, KV_OLDER_TEXT);
    if (!older && !is_empty(l))
        return complain(c, ERR_STORE_FORMAT, "made by another program, or by another version");
    if (l->read_only)
        return complain(c, ERR_ABSENT, "there is no store yet");
    code = open_maps(l, true);
    if (!code)
        return 0;
    return complain(c, err_of_write(l, code), mdb_strerror(code));
}

/* LMDB would take a file that was cut to nothing for a new one. */
static int check_not_emptied(const struct complaint *c, bool *ret_existed)
{
    struct stat file;
    *ret_existed = stat(c->path, &file) == 0;
    if (*ret_existed && file.st_size == 0)
        return complain(c, ERR_STORE_DAMAGED,
                        "the file is empty; restore it from a backup, or remove it to start anew");
    return 0;
}

static int open_checked(struct lmdb *l, const struct kv_lmdb_config *config,
                        const struct complaint *c)
{
    bool existed;
    int err = check_not_emptied(c, &existed);
    if (err)
        return err;
    int code = open_env(l, config);
    if (code)
        err = explain_open(c, code);
    if (!err)
        err = check_length(l, c);
    if (!err)
        err = prepare_maps(l, c);
    if (err && !existed && !config->read_only)
        unlink(config->path);
    return err;
}

int kv_open_lmdb(const struct kv_lmdb_config *config, struct arena *arena, struct kv_env **ret,
                 struct str *ret_why)
{
    struct complaint c = {.path = config->path, .arena = arena, .why = ret_why};
    struct lmdb *l = calloc(1, sizeof *l);
    if (!l)
        return complain(&c, ERR_NO_MEMORY, "out of memory");
    l->env = (struct kv_env){.engine = &lmdb_engine, .space = config->space};
    l->read_only = config->read_only;
    for (int i = 0; i < KV_MAP_COUNT; i++)
        l->maps[i] = UINT_MAX; /* of the other space: LMDB says no */
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->idle, NULL);
    int err = open_checked(l, config, &c);
    if (err)
        close_env(&l->env);
    else
        *ret = &l->env;
    return err;
}
