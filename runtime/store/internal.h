/* store/internal.h - what the files of this room share.
 *
 * - store.c: the port's opening, views, submit, locks; writer.c: queue, groups, completions
 * - batch.c: a write transaction and its counters
 * - load.c: imports; load_undo.c: how they are taken back
 * - catalog.c: tables; rows.c: rows; change_log.c: changes
 * - access.c: users, roles, tokens
 * - sessions.c, jobs.c, streams.c, frames.c, pushes.c, mail.c, subscriptions.c, quotas.c: what SYS
 *   holds; sys_key.c: its keys
 * - index.c: indexes and their entries; index_build.c: those of rows that are there
 * - check.c, check_access.c, check_sys.c, check_live.c: does all of it agree?
 * - directory.c: LMDB files of a data directory; secret.c: DIR/secret
 * - kv.h: ordered maps, by lmdb.c (lmdb_open.c) and mem.c; record.h, cbor_tape.h: values
 */
#ifndef TENON_STORE_INTERNAL_H
#define TENON_STORE_INTERNAL_H

#include "store/kv.h"
#include "store/record.h"

#include <pthread.h>

struct writer;
struct directory;

/* A key of what belongs to a session or a worker: sys_key.c. */
struct sys_key {
    uint32_t len;
    unsigned char bytes[1 + SESSION_ID_BYTES + 8 + 8];
};

/* A key with a name in it: access.c, quotas.c. */
struct name_key {
    uint32_t len;
    unsigned char bytes[1 + ACCESS_NAME_BYTES + 1];
};

struct store {
    struct kv_env *envs[2];     /* by enum store_space */
    struct writer *writers[2];  /* started by the first submit */
    pthread_mutex_t start_lock; /* of starting them */
    struct loop *loop;
    struct directory *directory; /* NULL: in memory */
    bool read_only;
    bool syncs_data; /* each commit of DATA is on disk */
    bool locked[2];  /* in memory: by enum store_lock, under start_lock */
    bool has_secret;
    unsigned char secret[32]; /* in memory */
    uint64_t log_keep;
    uint64_t sys_bytes_max;
    int64_t streams_keep_ms; /* as long as there is room: store/streams.c */
    uint64_t sessions_max, access_max, quotas_max;
    pthread_mutex_t change_lock; /* of these two, held while it is called */
    /* see store_on_change; may be NULL */
    void (*on_change)(void *ctx, const struct change_marks *marks);
    void *on_change_ctx;
    /* Where the rounds of store_maintain stand; its caller is one thread. */
    struct sys_key streams_at, pushes_at, mail_at;
    struct name_key quotas_at;
};

struct store_view {
    struct store *store;
    struct kv_txn txn;
};

/* What one process at a time may do. Such a lock ends with its process, so what is marked as under
 * way while nobody holds the lock was left behind. */
enum store_lock { LOCK_LOAD, LOCK_BUILD };

/* 0 (ret_fd for store_unlock), ERR_BUSY, or what opening the file failed by. */
int store_lock(struct store *store, enum store_lock lock, int *ret_fd);
void store_unlock(struct store *store, enum store_lock lock, int fd);

/* Tells whoever asked by store_on_change. */
void store_changed(struct store *store, const struct change_marks *marks);

/* With the defaults of what a config leaves open. NULL: no memory. */
struct store *store_alloc(void);

/* ---- Counters of an environment (map META) -------------------------------------------------- */

#define META_FORMAT  STR("format")
#define META_ID      STR("id")
#define META_SEQ     STR("seq")     /* of the last change */
#define META_TABLES  STR("tables")  /* highest table id ever given */
#define META_INDEXES STR("indexes") /* highest index id ever given */
#define META_CATALOG STR("catalog") /* catalog version */
#define META_LOAD    STR("load")    /* not 0: the entries in UNDO are to be rolled back */
#define META_BUILD   STR("build")   /* table and id (u32 each) of the index that is being built */
#define META_ACCESS  STR("access")  /* sequence of the last change of a user, role or token */
#define META_SYS_SEQ STR("sys_seq") /* of SYS: of the last push or letter */

/* Each is what the one before is and some more, so a file of an older one gains what it lacks. */
#define STORE_FORMAT 3 /* of DATA; before there were: 1 indexes; 2 users */
/* before there were: 1 jobs; 2 streams and letters; 3 subscriptions; 4 quotas */
#define SYS_FORMAT      5
#define DATABASE_ID_LEN 16

int meta_get(struct kv_txn *txn, struct str name, uint64_t *ret); /* absent: 0 */
int meta_put(struct kv_txn *txn, struct str name, uint64_t v);
/* Checks the format and id of an environment. ERR_ABSENT: it is new. ERR_STORE_FORMAT: of another
 * version. */
int meta_check(struct kv_txn *txn, uint64_t *ret_format, unsigned char ret_id[DATABASE_ID_LEN]);
/* Checks, and makes what is missing: `id` is written if the environment is new or has another (then
 * of SYS), and set from what is there if `id_is_known` is false. An older format is brought up to
 * date, unless the environment may only be read: ERR_STORE_FORMAT. *ret_format is what was there,
 * 0: nothing. */
int meta_prepare(struct kv_env *env, bool id_is_known, unsigned char id[DATABASE_ID_LEN],
                 uint64_t *ret_format);

/* ---- Write transactions --------------------------------------------------------------------- */

#define TABLE_KEY_BYTES (NAME_BYTES_MAX + 1 + NAME_BYTES_MAX)

/* The entry of the table written last: rows of one table come together, its count is put once. */
struct table_slot {
    uint32_t id; /* 0: none */
    bool changed;
    uint64_t rows;
    uint64_t version;                  /* of its definition; 0: not read yet */
    const struct store_index *indexes; /* in b->indexes */
    uint32_t n_indexes;
    uint32_t name_len;
    char name[TABLE_KEY_BYTES]; /* database NUL name: its key in CATALOG */
};

#define BATCH_MARKS 64         /* of changes; of more it is not said which */
#define BATCH_BYTES (8u << 20) /* a transaction that put as many takes in nothing more */

struct batch {
    struct store *store;
    enum store_space space;
    struct kv_txn txn;
    uint32_t changes; /* puts and removes so far */
    uint64_t bytes;   /* of the values put so far */
    uint32_t n_cut;   /* removed with what it belonged to */
    bool counters_changed;
    int64_t now_ms;
    uint64_t seq, tables, catalog;
    uint64_t began_seq;   /* `seq` at the beginning */
    uint64_t list_seq;    /* `seq` where the list of operations began */
    uint64_t list_access; /* META_ACCESS there, once that was asked for */
    bool has_access;      /* some change is of a user, role or token */
    uint64_t marks[BATCH_MARKS];
    uint32_t n_marks; /* beyond BATCH_MARKS: too many */
    struct table_slot slot;
    struct buf value, body; /* being encoded */
    struct arena indexes;   /* of the slot */
    struct arena scratch;
};

int batch_begin(struct store *store, enum store_space space, struct batch *ret);
int batch_commit(struct batch *b); /* ends it, also when it fails */
void batch_abort(struct batch *b);
/* Between the transactions of a long row of them; *gave_ms is its own, 0 at first. Their lock goes
 * to whoever is awake when it is free, so without a pause others would wait until the end. */
void batch_give_way(int64_t *gave_ms);
/* Puts b->value, unless encoding it failed. */
int batch_put(struct batch *b, enum kv_map map, struct str key);
int batch_remove(struct batch *b, enum kv_map map, struct str key);
/* One operation. When it fails, b->changes tells whether anything was changed before. */
int batch_apply(struct batch *b, struct store_op *op);
/* Gives the change a sequence and appends it to the log. */
int batch_log(struct batch *b, enum store_change_kind kind, uint32_t table, struct str key);
/* Makes b->slot that of the table; ERR_ABSENT. */
int batch_table(struct batch *b, uint32_t table);
/* ERR_STALE unless the table of b->slot has this version; 0: any. */
int batch_table_version(struct batch *b, uint64_t version);
int check_condition(struct store_op *op, bool there, uint64_t version);

/* ---- Operations, one file each -------------------------------------------------------------- */

int table_put(struct batch *b, struct store_op *op);
int table_drop(struct batch *b, struct store_op *op);
int resource_log(struct batch *b, struct store_op *op);
int table_slot_save(struct batch *b);
bool table_exists(struct kv_txn *txn, uint32_t table);
/* Deletes up to `max` rows of dropped tables. Returns how many. */
int tables_purge(struct batch *b, uint32_t max);

struct row_key {
    uint32_t len;
    char bytes[4 + KEY_BYTES_MAX];
};
/* ERR_LIMIT if the key is empty or too long. */
int row_key(uint32_t table, struct str key, struct row_key *ret);
/* ERR_LIMIT, ERR_NO_MEMORY. */
int row_encode(const struct tape_node *row, struct buf *out);
/* Puts an encoded row. */
int row_write(struct batch *b, struct store_op *op, struct str body);
int row_put(struct batch *b, struct store_op *op);
int row_delete(struct batch *b, struct store_op *op);
/* Before a row is written (now NULL: removed): makes its index entries those of `now`. */
int row_reindex(struct batch *b, const struct row_key *key, const struct tape_node *now,
                uint32_t *ret_index);
/* Shows the rows of a table that were written after op->since_seq to op->check_row. */
int rows_recheck(struct batch *b, const struct store_op *op, uint32_t table);

/* What changes in the indexes of b->slot by a row becoming another; either may be NULL. */
struct index_change {
    struct str before, now; /* keys in ENTRIES; STR_NONE: none */
    uint32_t index_key_len; /* of now */
    bool building;          /* `before` may not be there yet */
};
struct index_changes {
    uint32_t n;
    struct index_change v[TABLE_INDEXES_MAX];
};
/* Changes nothing yet. ERR_EXISTS, ERR_LIMIT, ERR_PARAMS: because of *ret_index. */
int index_prepare(struct batch *b, struct str row_key, const struct tape_node *before,
                  const struct tape_node *now, struct index_changes *ret, uint32_t *ret_index);
int index_apply(struct batch *b, const struct index_changes *changes);
/* The entry of a row: its key in ENTRIES, into an emptied buffer. ERR_LIMIT, ERR_PARAMS: the index
 * cannot hold it. */
int index_entry(const struct store_index *index, struct str row_key, const struct tape_node *row,
                struct buf *out, uint32_t *ret_index_key_len, bool *ret_has_null);
/* Where the row's key begins in an entry; 0: it is damaged. */
uint32_t index_entry_split(struct str entry, struct str value);
/* ERR_EXISTS if another row than this one has these values; *ret_key is its key, borrowed. */
int index_check_unique(struct kv_txn *txn, struct str entry, uint32_t index_key_len,
                       struct str *ret_key);
int index_put_entry(struct batch *b, struct str entry, uint32_t index_key_len);
struct index_key {
    unsigned char bytes[8];
};
/* The key in INDEXES. */
struct str index_key(uint32_t table, uint32_t id, struct index_key *space);
/* Appends an index with the next id to those of b->slot. */
int index_make(struct batch *b, const struct store_index *like, bool ready, uint32_t *ret_id);
int index_set_ready(struct batch *b, const struct store_index *index);
/* Forgets one of b->slot; its entries go later. ERR_ABSENT. */
int index_drop(struct batch *b, uint32_t id);
/* Drops an index whose building was left behind; nothing if one is being built. */
int index_recover(struct store *store);
/* The indexes of a table, copied. */
int index_list(struct kv_txn *txn, uint32_t table, struct arena *arena,
               const struct store_index **ret, uint32_t *ret_n);
/* Are the indexes of a new table as they may be? */
int index_check_all(const struct store_table *with);
/* Makes the (empty) indexes of a new table. */
int index_make_all(struct batch *b, const struct store_table *with);
/* Forgets the indexes of b->slot; their entries go later. */
int index_drop_all(struct batch *b);
int indexes_purge(struct batch *b, uint32_t max);
/* Deletes up to `max` entries of the maps `map` under an id that wait in `waiting`. */
int purge_ids(struct batch *b, enum kv_map waiting, enum kv_map map, uint32_t max);
/* A record of ROWS; the row's own key goes into what is returned. */
int row_read(struct str key, struct str value, struct arena *arena, struct store_row *ret);
/* The row of a record as it stands in ROWS, borrowed: ERR_ABSENT. */
int row_find(struct kv_txn *txn, uint32_t table, struct str key, struct arena *arena,
             struct store_row *ret);

struct expiry_key {
    uint32_t len;
    char bytes[4 + SESSION_ID_BYTES];
};
/* The key in SESSION_EXPIRY; of the same minute the same. */
struct str session_expiry_key(int64_t expires_ms, struct str id, struct expiry_key *space);
int session_read(struct str id, struct str value, struct arena *arena, struct store_session *ret);
int session_put(struct batch *b, struct store_op *op);
int session_touch(struct batch *b, struct store_op *op);
int session_delete(struct batch *b, struct store_op *op);
int session_put_log_level(struct batch *b, struct store_op *op);
int session_set_seen(struct batch *b, struct store_op *op);
/* 0; ERR_ABSENT, also of one that expired; ERR_LIMIT: no id. */
int session_require(struct batch *b, struct str id);

struct quota_record {
    int64_t until_ms;
    uint64_t used;
};
int quota_read(struct str key, struct str value, struct quota_record *ret);
int quota_take(struct batch *b, struct store_op *op);
/* Looks at up to `max` and forgets those whose window ended. Returns how many were looked at. */
int quotas_trim(struct batch *b, uint32_t max);

/* The key is of `key`, the record of `value`. */
int access_read(struct str key, struct str value, struct arena *arena, struct store_access *ret);
int access_put(struct batch *b, struct store_op *op);
int access_delete(struct batch *b, struct store_op *op);

int job_read(struct str key, struct str value, struct arena *arena, struct store_job *ret);
int job_put(struct batch *b, struct store_op *op);
int job_delete(struct batch *b, struct store_op *op);
/* Forgets up to `max` old jobs. Returns how many. */
int jobs_trim(struct batch *b, uint32_t max);

struct str sys_key_str(const struct sys_key *key);
int sys_key_begin(struct sys_key *key, struct str session); /* 0, ERR_LIMIT */
void sys_key_add(struct sys_key *key, uint64_t v);
struct sys_key sys_key_copy(struct str bytes);
/* A key with so many numbers behind the session. 0, ERR_STORE_DAMAGED. */
int sys_key_split(struct str key, uint32_t n_numbers, struct str *ret_session, uint64_t *ret_last);
/* As kv_scan and kv_first, of the keys that begin with `prefix`. */
int sys_scan(struct kv_txn *txn, enum kv_map map, struct str prefix, struct str from,
             kv_entry_fn fn, void *ctx);
int sys_first(struct kv_txn *txn, enum kv_map map, struct str prefix, struct str from,
              struct str *ret_key, struct str *ret);
/* Removes up to `max` entries that begin with `prefix`. Returns how many. */
int sys_remove_all(struct batch *b, enum kv_map map, struct str prefix, uint32_t max);
/* Removes what begins with `prefix` as far as a transaction may (CUT_MAX); the rest waits for the
 * keeper under `prefix` in `waiting`. */
int sys_cut(struct batch *b, enum kv_map map, enum kv_map waiting, const struct sys_key *prefix);
/* Removes up to `max` entries of what waits so. Returns how many. */
int sys_purge(struct batch *b, enum kv_map waiting, enum kv_map map, uint32_t max);
int sys_next_seq(struct batch *b, uint64_t *ret);
struct sys_chore {
    enum kv_map map;
    int (*is_old)(struct batch *b, struct str key, struct str value, struct arena *arena);
    int (*forget)(struct batch *b, const struct sys_key *key);
};
/* Looks at up to `max` entries behind *at and forgets the old ones; *at is then where to go on, or
 * empty at the end. Returns how many were looked at. */
int sys_round(struct batch *b, const struct sys_chore *chore, struct sys_key *at, uint32_t max);

struct stream_record {
    struct store_stream stream;
    uint64_t n_frames, bytes; /* of the values in FRAMES */
};
int stream_key(struct str session, uint64_t id, struct sys_key *ret); /* 0, ERR_LIMIT */
/* The session is of `key`, the request of `value`. */
int stream_read(struct str key, struct str value, struct arena *arena, struct stream_record *ret);
int stream_find(struct batch *b, const struct store_stream *which, struct sys_key *ret_key,
                struct stream_record *ret);
int stream_save(struct batch *b, const struct sys_key *key, struct stream_record *r);
void stream_tell(const struct store_op *op, const struct stream_record *r);
int stream_put(struct batch *b, struct store_op *op);
int stream_claim(struct batch *b, struct store_op *op);
int stream_forget(struct batch *b, const struct sys_key *key);
int streams_forget_session(struct batch *b, struct str session);
/* Each looks at or deletes up to `max`, and returns how many. */
int streams_look_at_room(struct store *store); /* before streams_trim: how long ended ones stay */
int streams_trim(struct batch *b, uint32_t max);
int streams_purge(struct batch *b, uint32_t max); /* frames of streams that are gone */
struct frame_record {
    uint64_t n, seq;
    struct str message;
};
int frame_read(struct str key, struct str value, struct arena *arena, struct frame_record *ret);
int frame_put(struct batch *b, struct store_op *op);

struct push_record {
    struct str session, message;
    uint64_t seq;
    int64_t until_ms;
};
int claim_read(struct str session, struct str value, struct arena *arena, struct store_claim *ret);
int push_read(struct str key, struct str value, struct arena *arena, struct push_record *ret);
/* The claim as it stands; nobody's (epoch 0) if there is none. */
int claim_find(struct batch *b, struct str session, struct store_claim *ret);
int pushes_claim(struct batch *b, struct store_op *op);
int pushes_drop_claim(struct batch *b, struct store_op *op);
int push_put(struct batch *b, struct store_op *op);
int push_delete(struct batch *b, struct store_op *op);
int pushes_forget_session(struct batch *b, struct str session); /* and its claim */
int pushes_trim(struct batch *b, uint32_t max);

struct mail_record {
    struct store_worker to;
    uint64_t seq;
    struct str text;
};
int mail_read(struct str key, struct str value, struct arena *arena, struct mail_record *ret);
int mail_put(struct batch *b, struct store_op *op);
int mail_delete(struct batch *b, struct store_op *op);
int mail_trim(struct batch *b, uint32_t max);

struct follow_record {
    struct store_follow follow;
    uint64_t set;   /* of its subscriptions */
    uint64_t bytes; /* of their URIs */
    uint64_t data;  /* the beginning of the id of the DATA that seq and sent_seq are of */
};
int follow_read(struct str session, struct str value, struct arena *arena,
                struct follow_record *ret);
struct sys_key subscription_set_key(uint64_t set); /* begins those of its subscriptions */
int subscription_key(uint64_t set, struct str uri, struct sys_key *ret);
/* All but the session. */
int subscription_read(struct str value, struct arena *arena, struct store_subscription *ret);
int subscription_put(struct batch *b, struct store_op *op);
int subscription_delete(struct batch *b, struct store_op *op);
int follow_set(struct batch *b, struct store_op *op);
int subscriptions_forget_session(struct batch *b, struct str session);
int subscriptions_purge(struct batch *b, uint32_t max); /* of sessions that are gone */

int change_read(struct str key, struct str value, struct arena *arena, struct store_change *ret);
int change_log_scan(struct kv_txn *txn, uint64_t after_seq, store_change_fn fn, void *ctx);
int change_log_floor(struct kv_txn *txn, uint64_t *ret);
/* Deletes up to `max` of the oldest changes beyond `keep`. Returns how many. */
int change_log_trim(struct batch *b, uint64_t keep, uint32_t max);

/* ---- Writer --------------------------------------------------------------------------------- */

int writer_start(struct store *store, enum store_space space, struct writer **ret);
void writer_submit(struct writer *w, struct store_write *write);
int writer_apply(struct writer *w, struct store_write *write); /* see store_apply */
void writer_expire(struct writer *w);                          /* see store_expire_writes */
int64_t writer_standing_ms(struct writer *w); /* see store_write_standing_ms; NULL is fine */
void writer_stop(struct writer *w);           /* commits what waits; NULL is fine */

/* ---- Loads ---------------------------------------------------------------------------------- */

int load_set_open(struct batch *b, uint64_t open);
/* Empties UNDO; with roll_back each row is taken back first. Who calls holds the load lock. */
int load_undo(struct store *store, bool roll_back, const struct store_load_rules *rules);
int load_recover_locked(struct store *store, int64_t until_ms);
/* Rolls back what a load left whose process is gone, or some of it by that time of the monotonic
 * clock (INT64_MAX: all); nothing if one is running. */
int load_recover(struct store *store, int64_t until_ms);

/* ---- Checks --------------------------------------------------------------------------------- */

struct findings {
    void (*report)(void *ctx, struct str finding);
    void *ctx;
    int n;
    struct store_checked done;
};
void find(struct findings *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* What is wrong with a record, and no reason to stop? */
bool is_finding(int err);
/* Users, roles, tokens. Returns an error of the engine, as the next two. */
int check_access(struct kv_txn *txn, struct findings *findings);
/* Of SYS. */
int check_sys(struct kv_txn *txn, struct findings *findings);
/* Its streams, claims, pushes, letters and subscriptions. */
int check_live(struct kv_txn *txn, struct findings *findings);
struct shown_id {
    char text[2 * SESSION_ID_BYTES + 4];
};
const char *show_id(struct str id, struct shown_id *out);

/* ---- Data directory ------------------------------------------------------------------------- */

/* See store_lock; ret_fd is to be closed. */
int directory_lock(struct directory *d, enum store_lock lock, int *ret_fd);
int directory_secret(struct directory *d, bool read_only, unsigned char ret[32]);
const char *directory_path(const struct directory *d);
/* 0, or ERR_FORBIDDEN: one of its files is none (a link, a pipe). */
int directory_check(const char *path, const char **ret_name, const char **ret_why);
void directory_close(struct directory *d, struct kv_env *sys);

#endif
