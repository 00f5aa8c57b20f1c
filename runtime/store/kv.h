/* store/kv.h - ordered maps with transactions: what the room needs from an engine.
 *
 * Two engines: LMDB (lmdb.c) and memory (mem.c). All meaning (records, conditions, change log,
 * sessions) is above this line and written once, so the two cannot differ in it. An environment
 * holds the maps of one space; it has one writer at a time and any number of readers, each with a
 * snapshot. Keys sort bytewise. What get and the cursors hand out is borrowed: until the end of a
 * read transaction, or until the next change in a write transaction.
 *
 * All return 0 or an error of base/err.h; ERR_ABSENT is the answer for a key that is not there.
 */
#ifndef TENON_STORE_KV_H
#define TENON_STORE_KV_H

#include "base/arena.h"
#include "core/store.h"

/* X(NAME, name in the file, in DATA, in SYS) */
#define KV_MAPS(X)                          \
    X(META, "meta", 1, 1)                   \
    X(CATALOG, "catalog", 1, 0)             \
    X(TABLES, "tables", 1, 0)               \
    X(DROPPED, "dropped", 1, 0)             \
    X(ROWS, "rows", 1, 0)                   \
    X(INDEXES, "indexes", 1, 0)             \
    X(ENTRIES, "entries", 1, 0)             \
    X(DROPPED_INDEXES, "dropped_idx", 1, 0) \
    X(LOG, "log", 1, 0)                     \
    X(ACCESS, "access", 1, 0)               \
    X(UNDO, "undo", 1, 0)                   \
    X(SESSIONS, "sessions", 0, 1)           \
    X(SESSION_EXPIRY, "session_exp", 0, 1)  \
    X(JOBS, "jobs", 0, 1)                   \
    X(STREAMS, "streams", 0, 1)             \
    X(FRAMES, "frames", 0, 1)               \
    X(CUT, "cut", 0, 1)                     \
    X(CLAIMS, "claims", 0, 1)               \
    X(PUSHES, "pushes", 0, 1)               \
    X(MAIL, "mail", 0, 1)                   \
    X(FOLLOWS, "follows", 0, 1)             \
    X(SUBSCRIPTIONS, "subscriptions", 0, 1) \
    X(UNFOLLOWED, "unfollowed", 0, 1)       \
    X(QUOTAS, "quotas", 0, 1)

enum kv_map {
#define KV_NAME(name, text, data, sys) KV_##name,
    KV_MAPS(KV_NAME)
#undef KV_NAME
        KV_MAP_COUNT
};

struct kv_env {
    const struct kv_engine *engine;
    enum store_space space;
};

struct kv_txn {
    struct kv_env *env;
    void *handle; /* the engine's */
    bool writes;
};

struct kv_cursor {
    struct kv_txn *txn;
    enum kv_map map;
    void *handle;  /* the engine's */
    struct str at; /* the key it stands on */
};

struct kv_engine {
    int (*begin)(struct kv_env *env, bool writes, void **ret_handle);
    int (*commit)(struct kv_txn *txn); /* ends it, also when it fails */
    void (*end)(struct kv_txn *txn);   /* abort, or end of reading */
    int (*get)(struct kv_txn *txn, enum kv_map map, struct str key, struct str *ret);
    int (*put)(struct kv_txn *txn, enum kv_map map, struct str key, struct str value);
    int (*remove)(struct kv_txn *txn, enum kv_map map, struct str key);
    int (*count)(struct kv_txn *txn, enum kv_map map, uint64_t *ret);
    int (*cursor_open)(struct kv_cursor *cursor);
    /* To the first key at or behind `key`. */
    int (*seek)(struct kv_cursor *cursor, struct str key, struct str *ret_key, struct str *ret);
    int (*next)(struct kv_cursor *cursor, struct str *ret_key, struct str *ret);
    /* To the last key before `key`. */
    int (*seek_before)(struct kv_cursor *cursor, struct str key, struct str *ret_key,
                       struct str *ret);
    int (*prev)(struct kv_cursor *cursor, struct str *ret_key, struct str *ret);
    void (*cursor_close)(struct kv_cursor *cursor);
    int (*stat)(struct kv_txn *txn, struct store_stat *ret); /* all but last_seq */
    int (*sync)(struct kv_env *env);
    int (*check_readers)(struct kv_env *env);
    void (*close)(struct kv_env *env);
};

int kv_begin(struct kv_env *env, bool writes, struct kv_txn *ret);
int kv_commit(struct kv_txn *txn);
void kv_end(struct kv_txn *txn);
int kv_get(struct kv_txn *txn, enum kv_map map, struct str key, struct str *ret);
/* The same, for who keeps it: the value and *own_key (the key, or what of it is the reader's)
 * become copies in arena. */
int kv_get_kept(struct kv_txn *txn, enum kv_map map, struct str key, struct arena *arena,
                struct str *own_key, struct str *ret);
int kv_put(struct kv_txn *txn, enum kv_map map, struct str key, struct str value);
int kv_remove(struct kv_txn *txn, enum kv_map map, struct str key);
int kv_count(struct kv_txn *txn, enum kv_map map, uint64_t *ret);
/* The txn must outlive the cursor; nothing is changed while one is open. */
int kv_cursor_open(struct kv_txn *txn, enum kv_map map, struct kv_cursor *ret);
int kv_seek(struct kv_cursor *cursor, struct str key, struct str *ret_key, struct str *ret);
int kv_next(struct kv_cursor *cursor, struct str *ret_key, struct str *ret);
void kv_cursor_close(struct kv_cursor *cursor);
typedef int (*kv_entry_fn)(void *ctx, struct str key, struct str value); /* 0: go on; else stop */
/* From the first key at or behind `from`. Returns 0 at the end, or what `fn` stopped it with. */
int kv_scan(struct kv_txn *txn, enum kv_map map, struct str from, kv_entry_fn fn, void *ctx);
/* Backwards, from the last key before `before`. */
int kv_scan_back(struct kv_txn *txn, enum kv_map map, struct str before, kv_entry_fn fn, void *ctx);
/* The first entry at or behind `key`, without keeping a cursor. */
int kv_first(struct kv_txn *txn, enum kv_map map, struct str key, struct str *ret_key,
             struct str *ret);
int kv_stat(struct kv_txn *txn, struct store_stat *ret);
int kv_sync(struct kv_env *env);
int kv_check_readers(struct kv_env *env);
void kv_close(struct kv_env *env); /* NULL is fine */

int kv_open_memory(enum store_space space, struct kv_env **ret);

struct kv_lmdb_config {
    const char *path; /* of the file; "-lock" is added for the lock file */
    enum store_space space;
    bool read_only;
    bool sync; /* each commit is on disk before it returns */
    uint64_t map_bytes;
};
/* What to say of a file that would have to be changed to be read. */
#define KV_OLDER_TEXT                                                                          \
    "written by an older version of this program; open it for writing once, by a server or a " \
    "command that writes, and it is brought up to date"
/* `ret_why` as store_open_lmdb. */
int kv_open_lmdb(const struct kv_lmdb_config *config, struct arena *arena, struct kv_env **ret,
                 struct str *ret_why);

/* Integers in keys are big-endian, so that their order is the order of the numbers. */
void kv_put_u32(unsigned char out[4], uint32_t v);
void kv_put_u64(unsigned char out[8], uint64_t v);
uint32_t kv_u32(const void *in);
uint64_t kv_u64(const void *in);

#endif
