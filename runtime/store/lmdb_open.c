/* store/lmdb_open.c - opens an environment of LMDB, and says why it cannot.
 *
 * An environment is one file beside its lock file, opened after the fork, never with WRITEMAP (a
 * full disk would be a SIGBUS), with a map so large that it never has to grow in practice. What is
 * no file of this program, was cut, or is of another version is told apart before anything is read
 * from it.
 */
#include "store/lmdb_env.h"

#include "base/err.h"
#include "base/log.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READERS_MAX     4096
#define MAP_BYTES       ((uint64_t)1 << 40) /* of address space, not of disk */
#define MAP_BYTES_LEAST ((uint64_t)1 << 30)

static const struct {
    const char *name;
    bool of_space[2];
} map_names[] = {
#define MAP_ROW(name, text, data, sys) {text, {data, sys}},
    KV_MAPS(MAP_ROW)
#undef MAP_ROW
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
    MDB_val k = lmdb_val(STR("format")), v;
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
    if (fstat(lmdb_file(l), &file))
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
    int err = lmdb_err(code);
    switch (err) {
    case ERR_STORE_DAMAGED:
        return complain(c, err, "damaged, or not a file of this program; restore it from a backup");
    case ERR_STORE_FORMAT:
        return complain(c, err, "written by another version of the storage library");
    case ERR_ABSENT:
        return complain(c, err, "there is no store yet");
    case ERR_NO_MEMORY:
        return complain(c, err, "no address space left to map it");
    case ERR_READERS:
        return complain(c, err, "all slots for readers are taken; end a process that uses it");
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
    return complain(c, lmdb_err_of_write(l, code), mdb_strerror(code));
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
        kv_close(&l->env);
    else
        *ret = &l->env;
    return err;
}
