/* store/lmdb_env.h - what lmdb.c and lmdb_open.c share; the one file that includes lmdb.h. */
#ifndef TENON_STORE_LMDB_ENV_H
#define TENON_STORE_LMDB_ENV_H

#include "store/kv.h"

#include <lmdb.h>
#include <pthread.h>

#define READERS_POOLED 32

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

extern const struct kv_engine lmdb_engine;

int lmdb_err(int code);
/* LMDB calls a short write on a full disk EIO. */
int lmdb_err_of_write(struct lmdb *l, int code);
int lmdb_file(struct lmdb *l); /* its descriptor */

static inline MDB_val lmdb_val(struct str s)
{
    return (MDB_val){.mv_size = s.n, .mv_data = (void *)(uintptr_t)s.p};
}

#endif
