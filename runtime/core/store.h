/* core/store.h - what core needs from a database: a port, with one implementation in LMDB and one
 * in memory (store/), both passing the same contract test. Nothing here may assume a local file.
 *
 * Two spaces with one writer each: DATA (catalog, rows, change log; acknowledged means durable in
 * mode sync) and SYS (sessions; survives a killed process).
 *
 * Reading: a `view` is a snapshot. It is cheap, belongs to one thread, and must not outlive a loop
 * turn or a scan. What a callback gets is borrowed until it returns; what a get returns is copied
 * into the caller's arena.
 *
 * Writing: `store_submit` hands over a list of operations that is applied whole or not at all, in
 * the order of submission per space; `done` is called on the submitting loop (see store_attach)
 * after the commit, so an acknowledged write is durable. A failed list tells which operation
 * failed.
 *
 * Every commit of DATA appends one change per row or table operation to the log, under a u64
 * sequence that is assigned in the transaction: commit order, free of gaps, never reused.
 */
#ifndef TENON_CORE_STORE_H
#define TENON_CORE_STORE_H

#include "core/change_mark.h"
#include "core/key.h"

struct store;
struct store_view;
struct loop;

enum store_space { STORE_DATA, STORE_SYS };

/* ---- Opening -------------------------------------------------------------------------------- */

enum store_mode { STORE_SYNC, STORE_NOSYNC };

struct store_config {
    const char *dir;      /* data directory; created (0700) if it is missing */
    enum store_mode mode; /* of DATA */
    bool read_only;       /* nothing is created or written; SYS as far as it can be read */
    bool has_keeper; /* which rolls back what an import left (store_maintain); else opening does */
    bool volatile_sys;  /* SYS in memory only: stdio and CLI commands beside a server */
    uint64_t map_bytes; /* DATA grows to this at most (ERR_STORE_FULL); 0: no bound in practice */
    uint64_t log_keep;  /* changes kept in the log; 0: CHANGE_LOG_KEEP */
    uint64_t sessions_max; /* that stand; 0: SESSIONS_MAX */
};

/* After the fork, once per process and directory. ERR_STORE_DAMAGED, ERR_STORE_FORMAT,
 * ERR_STORE_READ_ONLY, ERR_STORE_FULL, ERR_ABSENT (read_only, and there is no store), ERR_IO:
 * `ret_why` then gets one sentence for the operator (in arena). Nothing locks the directory for
 * longer than the call: any number of processes may have it open. */
int store_open_lmdb(const struct store_config *config, struct arena *arena, struct store **ret,
                    struct str *ret_why);
int store_open_memory(struct store **ret);
/* Waits until submitted writes are committed, calls no more callbacks, closes. On the loop, if one
 * is attached, and with all views closed. NULL is fine. */
void store_close(struct store *store);
/* Completions are posted to this loop from now on. Without one (CLI commands), store_submit waits
 * and calls `done` before it returns. Once, before the first submit. */
void store_attach(struct store *store, struct loop *loop);
/* Called after each commit of this process that entered something into the change log, on any
 * thread, so it only wakes. `marks` are borrowed. NULL: nobody is called any more, nor is being
 * called when this returns. Any time, but not from `fn`. */
void store_on_change(struct store *store, void (*fn)(void *ctx, const struct change_marks *marks),
                     void *ctx);
/* How long the write transaction that this process is in has been standing, in milliseconds; 0 when
 * it is in none. Waiting for another process to leave its own does not count. Any thread. While a
 * transaction stands nobody else can write, so a process in which it stands too long must go. */
int64_t store_write_standing_ms(struct store *store);
/* Answers with ERR_BUSY what has waited for WRITE_WAIT_MS to be written because another process
 * stands in a transaction. To be called about once a second where a loop is attached; any thread.
 */
void store_expire_writes(struct store *store);
/* Keeper's work: sync of SYS, stale readers, log retention. Call once a second from one process.
 * Also what is too old of jobs, streams, pushes and mail (MAIL_KEEP_MS). Expired sessions are swept
 * by store_sweep_sessions. Blocks: never on a loop. 0 or the first
 * error. */
int store_maintain(struct store *store);

/* ---- Tables (catalog) ----------------------------------------------------------------------- */

struct store_index_part {
    struct str attribute; /* path, dots between names */
    enum key_type type;   /* how its values become keys */
    bool descending;
};

struct store_index {
    uint32_t id; /* never reused; 0 in a new one */
    struct str name;
    bool unique; /* rows in which a part is null or missing do not collide */
    bool ready;  /* false: being built, and not to be searched by */
    const struct store_index_part *parts;
    uint32_t n_parts;
};

/* A table as stored: `definition` is the JSON that table.h of core reads. */
struct store_table {
    uint32_t id; /* never reused */
    struct str database, name;
    struct str definition;
    uint64_t version; /* sequence of its last change */
    /* PUT_TABLE makes them with a new table, and leaves those of one that is there alone. */
    const struct store_index *indexes;
    uint32_t n_indexes;
};

typedef int (*store_table_fn)(void *ctx, const struct store_table *table); /* 0: go on; else stop */

/* 0, ERR_READERS (no slot for one more), ERR_NO_MEMORY, ERR_STORE_DAMAGED, ERR_IO. Views of DATA
 * answer what is in DATA, views of SYS what is in SYS. */
int store_view_open(struct store *store, enum store_space space, struct store_view **ret);
void store_view_close(struct store_view *view); /* NULL is fine */

/* 16 random bytes made with DATA; a view of SYS tells with which DATA it was made. */
int store_database_id(struct store_view *view, unsigned char ret[16]);

struct store_stat {
    uint64_t used_bytes; /* that hold something */
    uint64_t free_bytes; /* in the file, for the next writes; 0 in memory */
    uint64_t disk_bytes; /* that the file takes on the disk; 0 in memory */
    uint64_t map_bytes;  /* used and free ones can come to so many; 0: no bound */
    uint32_t readers;    /* views of all processes that stand open, this one too; 0 in memory */
    uint64_t last_seq;   /* of DATA */
};

/* How large the space of the view is now. Looks at each list of free pages: microseconds, but some
 * milliseconds after a huge table was dropped. */
int store_stat(struct store_view *view, struct store_stat *ret);

/* Rises with every table operation; compare to know whether a catalog snapshot is current. */
int store_catalog_version(struct store_view *view, uint64_t *ret);
int store_scan_tables(struct store_view *view, store_table_fn fn,
                      void *ctx); /* by database, name */

/* ---- Rows ----------------------------------------------------------------------------------- */

struct store_row {
    struct str key;     /* encoded primary key (core/key.h), ordered bytewise */
    uint64_t version;   /* sequence of the row's last change */
    int64_t changed_ms; /* wall time, for people */
    const struct tape_node *row;
};

typedef int (*store_row_fn)(void *ctx, const struct store_row *row); /* 0: go on; else stop */

struct store_range {
    struct str from; /* STR_NONE: from the start */
    bool after;      /* leave out `from` itself */
    struct str to;   /* exclusive; STR_NONE: to the end */
    bool descending; /* read from the end; to go on, `to` is the last key that was seen */
    bool keys_only;  /* what `fn` gets has nothing but its key */
};

/* 0 or ERR_ABSENT (no such row or table). Copied into arena. */
int store_get_row(struct store_view *view, uint32_t table, struct str key, struct arena *arena,
                  struct store_row *ret);
/* In key order, or against it. Returns 0 at the end, or what `fn` stopped it with. A table that is
 * not there has no rows. `fn` may read by the same view. */
int store_scan_rows(struct store_view *view, uint32_t table, const struct store_range *range,
                    store_row_fn fn, void *ctx);
int store_count_rows(struct store_view *view, uint32_t table, uint64_t *ret);

/* Entries of an index, in its order; those with equal index keys by the row's key. Every row has
 * one. An entry's place is its index key (key_add_part) with the row's key behind it: `range` is
 * over places, so a place goes on a page, and an index key alone stands before all its entries. In
 * what `fn` gets the row's key lies directly behind the index key. ERR_ABSENT: no such index of
 * this table, or it is not ready. */
typedef int (*store_entry_fn)(void *ctx, struct str index_key, const struct store_row *row);
int store_scan_index(struct store_view *view, uint32_t table, uint32_t index,
                     const struct store_range *range, store_entry_fn fn, void *ctx);

/* An index for a table that has rows already. Built in batches of at most TXN_ROWS_MAX rows and
 * TXN_MS_MAX, so that others read and write meanwhile; what they write has its entry from the first
 * batch on, and is refused if the index cannot hold it (ret_index of the operation). Until the last
 * batch the index is not `ready`. A build that fails, is stopped, or dies with its process leaves
 * nothing: the keeper or the next who opens the store drops it. */
struct store_index_build {
    /* After each batch; non-zero stops it with ERR_CANCELLED. NULL is fine. `total` is what the
     * table had at the start. */
    int (*progress)(void *ctx, uint64_t done, uint64_t total);
    void *ctx;
    struct arena *arena; /* of ret_keys */
    uint32_t ret_index;  /* its id */
    /* The keys of the rows because of which it failed: two with the same values (ERR_EXISTS of a
     * unique one); one that the index cannot hold (ERR_LIMIT: too long with the row's key;
     * ERR_PARAMS: not of a part's type). Absent: because of the index itself. */
    struct str ret_keys[2];
};
/* 0; ERR_ABSENT: no such table (any more); ERR_EXISTS: the name is taken; ERR_LIMIT: too many
 * indexes or parts; ERR_BUSY: another build is going on; ERR_CANCELLED, also when somebody dropped
 * it meanwhile; and what store_submit may say. Blocks: handler threads and CLI only. */
int store_create_index(struct store *store, uint32_t table, const struct store_index *index,
                       struct store_index_build *build);
/* It is gone at once, its entries by and by (in batches, before this returns, or else by the
 * keeper). One that is being built: stops the build. 0; ERR_ABSENT: no such index of this table.
 * Blocks. */
int store_drop_index(struct store *store, uint32_t table, uint32_t index);

/* What a check compared. Unfinished: going on, or its process died; whoever opens the store for
 * writing next takes back what a dead one left. */
struct store_checked {
    uint64_t n_tables, n_rows, n_indexes, n_entries, n_changes;
    uint64_t n_access; /* users, roles and tokens */
    uint64_t n_sessions, n_jobs, n_quotas;
    uint64_t n_streams, n_frames, n_pushes, n_subscriptions;
    bool has_unfinished_load, has_unfinished_build;
};
/* Compares all of DATA in one snapshot: tables with their rows and counts, rows with the entries of
 * each index, rows with the changes that the log still has, the log with its sequence; and all of
 * SYS, unless it is in memory. `finding` is one sentence for the operator. Returns how many, or an
 * error. Blocks; memory is constant. `ret` may be NULL. */
int store_check(struct store *store, void (*report)(void *ctx, struct str finding), void *ctx,
                struct store_checked *ret);

/* ---- Users, roles, tokens (space DATA): core/access_record.h ------------------------------------
 */

enum store_access_kind { STORE_USER = 1, STORE_ROLE, STORE_TOKEN };

struct store_access {
    enum store_access_kind kind;
    struct str name;   /* any bytes, 1 to ACCESS_NAME_BYTES */
    struct str record; /* JSON of core's own, at most ACCESS_RECORD_BYTES */
    uint64_t version;  /* sequence of its last change; set by the store */
};

/* The sequence of the last change of any of them; 0: there never was one. */
int store_access_version(struct store_view *view, uint64_t *ret);
/* 0 or ERR_ABSENT. Copied into arena. */
int store_get_access(struct store_view *view, enum store_access_kind kind, struct str name,
                     struct arena *arena, struct store_access *ret);
typedef int (*store_access_fn)(void *ctx, const struct store_access *access); /* 0: go on */
/* By name, behind `after` (STR_NONE: from the first). */
int store_scan_access(struct store_view *view, enum store_access_kind kind, struct str after,
                      store_access_fn fn, void *ctx);

/* ---- Quotas (space SYS) --------------------------------------------------------------------- */

/* What has been used of the quota of this key in the window that stands; 0 if there is none. */
int store_get_quota(struct store_view *view, struct str key, int64_t now_ms, uint64_t *ret_used);

/* ---- Change log ----------------------------------------------------------------------------- */

enum store_change_kind {
    STORE_ROW_PUT = 1,
    STORE_ROW_DELETED,
    STORE_TABLE_PUT,
    STORE_TABLE_DROPPED,
    STORE_RESOURCE_CHANGED, /* of a component; `key` is its URI, `table` 0 */
    STORE_ACCESS_CHANGED,   /* of a user, role or token; `key` is its name, `table` its kind */
};

struct store_change {
    uint64_t seq;
    enum store_change_kind kind;
    uint32_t table;
    struct str key; /* of rows and resources */
    int64_t time_ms;
};

typedef int (*store_change_fn)(void *ctx, const struct store_change *change);

int store_last_seq(struct store_view *view, uint64_t *ret);
/* Lowest sequence still in the log. */
int store_floor_seq(struct store_view *view, uint64_t *ret);
int store_scan_changes(struct store_view *view, uint64_t after_seq, store_change_fn fn, void *ctx);

/* ---- Sessions (space SYS) ------------------------------------------------------------------- */

/* The lists of which a session is told that they changed. */
enum store_list { STORE_TOOLS, STORE_RESOURCES, STORE_PROMPTS, STORE_LISTS };

struct store_session {
    struct str id;      /* text of Mcp-Session-Id: 8 lower-case hex digits of the creation minute
                           (big-endian, so that new records lie together), then random ones */
    struct str user;    /* "" for nobody */
    struct str profile; /* "application" or "operations" */
    struct str version; /* negotiated protocol revision */
    struct str client_info;  /* raw JSON */
    struct str capabilities; /* raw JSON of the client's capabilities */
    bool initialized;
    int32_t log_level;          /* -1: never set */
    uint64_t seen[STORE_LISTS]; /* core's own: which of these it was told of last; 0: of none */
    int64_t created_ms, active_ms, expires_ms; /* wall time */
};

/* 0 or ERR_ABSENT; an expired record is absent. Copied into arena. */
int store_get_session(struct store_view *view, struct str id, struct arena *arena,
                      struct store_session *ret);
/* With those that are expired and not yet swept. */
int store_count_sessions(struct store_view *view, uint64_t *ret);
typedef int (*store_session_fn)(void *ctx, const struct store_session *session); /* 0: go on */
/* By id, behind `after_id` (STR_NONE: from the first); with expired ones. */
int store_scan_sessions(struct store_view *view, struct str after_id, store_session_fn fn,
                        void *ctx);

/* ---- Streams (space SYS) ---------------------------------------------------------------------
 * Why they are as they are: core/stream.h. All of a session's go with it. The keeper forgets those
 * that ended, or to which nobody listens any more, STREAM_KEEP_MS after their last change. */

struct store_worker { /* core/bus.h: struct worker_id */
    uint32_t slot;
    uint64_t epoch; /* 0: nobody */
};

struct store_stream {
    struct str session;
    uint64_t id;
    bool listens; /* opened by GET; else it answers a POST */
    bool ended;   /* its last frame is there */
    struct store_worker writer;
    struct store_worker reader;     /* who sends it to the client */
    uint64_t token;                 /* of that reader */
    uint64_t first_n, last_n;       /* frames below and behind are not there; both 0: none yet */
    uint64_t seq;                   /* of its last frame that has one; 0: none */
    uint64_t reserved_n;            /* the writer may have used numbers up to this one */
    struct str request;             /* raw id of the request that it answers; STR_NONE: listens */
    int64_t created_ms, changed_ms; /* wall time; set by the store */
};

/* 0 or ERR_ABSENT. Copied into arena. */
int store_get_stream(struct store_view *view, struct str session, uint64_t id, struct arena *arena,
                     struct store_stream *ret);
/* Of one session, in no order. */
typedef int (*store_stream_fn)(void *ctx, const struct store_stream *stream);
int store_scan_streams(struct store_view *view, struct str session, store_stream_fn fn, void *ctx);
/* Frames behind `after_n`, in order; `seq` as it was put. ERR_ABSENT: no such stream. */
typedef int (*store_frame_fn)(void *ctx, uint64_t n, uint64_t seq, struct str message);
int store_scan_frames(struct store_view *view, struct str session, uint64_t id, uint64_t after_n,
                      store_frame_fn fn, void *ctx);

/* Which of the session's streams gets what belongs to no request: core/push.h. */
struct store_claim {
    struct str session;
    uint64_t stream;
    struct store_worker worker;
    uint64_t token;
};
/* 0 or ERR_ABSENT. */
int store_get_claim(struct store_view *view, struct str session, struct store_claim *ret);

/* ---- Subscriptions (space SYS): core/follow.h. A session's go with it. ---------------------- */

struct store_subscription {
    struct str session, uri; /* as the client spelled it; URI_BYTES_MAX at most */
    uint64_t start_seq;      /* changes up to this one were there before it */
    bool all;                /* one notification for each change; else merged by URI */
    uint32_t coalesce_ms;
};
/* Of one session, in no order. */
typedef int (*store_subscription_fn)(void *ctx, const struct store_subscription *subscription);
int store_scan_subscriptions(struct store_view *view, struct str session, store_subscription_fn fn,
                             void *ctx);

/* How far a session with subscriptions has been told of the change log. One per session, from its
 * first subscription on. */
struct store_follow {
    uint64_t seq;        /* what changed up to this one is in frames (or concerned nobody) */
    uint64_t sent_seq;   /* and up to this one, at most `seq`, on a connection that took it */
    uint64_t generation; /* rises with each subscription that comes, changes or goes */
    uint32_t n;          /* subscriptions; set by the store */
    /* DATA is another one since then, so the two say nothing; set by the store. Until SET_FOLLOW.
     */
    bool is_foreign;
};
/* 0 or ERR_ABSENT: it never had a subscription. */
int store_get_follow(struct store_view *view, struct str session, struct store_follow *ret);

/* Messages that wait for such a stream, by `seq`, those whose time is over left out. */
typedef int (*store_push_fn)(void *ctx, uint64_t seq, struct str message);
int store_scan_pushes(struct store_view *view, struct str session, store_push_fn fn, void *ctx);

/* ---- Mail (space SYS): core/mail.h ---------------------------------------------------------- */

/* Letters to whoever had the slot, by `seq`: they rise, and none is used twice. */
typedef int (*store_mail_fn)(void *ctx, uint64_t seq, struct store_worker to, struct str text);
int store_scan_mail(struct store_view *view, uint32_t slot, uint64_t after_seq, store_mail_fn fn,
                    void *ctx);

/* ---- Jobs (space SYS) ----------------------------------------------------------------------- */

/* What a long operation has come to. The keeper forgets those that have not changed for JOB_KEEP_MS
 * and, beyond JOBS_KEEP, those whose ids sort first: so an id begins with the time of its making,
 * like that of a session. Never one that changed within JOB_REST_MS; so a new one beyond JOBS_MAX
 * is refused, ERR_LIMIT. */
struct store_job {
    struct str id;      /* at most JOB_ID_BYTES */
    struct str record;  /* JSON of core's own */
    int64_t changed_ms; /* set by the store */
};

typedef int (*store_job_fn)(void *ctx, const struct store_job *job); /* 0: go on; else stop */

/* 0 or ERR_ABSENT. Copied into arena. */
int store_get_job(struct store_view *view, struct str id, struct arena *arena,
                  struct store_job *ret);
int store_scan_jobs(struct store_view *view, store_job_fn fn, void *ctx); /* by id */

/* ---- Writing -------------------------------------------------------------------------------- */

enum store_op_kind {
    STORE_PUT_ROW,       /* ERR_ABSENT if there is no such table */
    STORE_DELETE_ROW,    /* STORE_ANY: no row is no error, and no change */
    STORE_PUT_TABLE,     /* creates or changes, by name; ret_table is its id */
    STORE_DROP_TABLE,    /* its rows go too */
    STORE_LOG_RESOURCE,  /* only enters a STORE_RESOURCE_CHANGED of `key`, URI_BYTES_MAX at most */
    STORE_PUT_ACCESS,    /* `access`, by its kind and name; if_version is of that record */
    STORE_DELETE_ACCESS, /* likewise; STORE_ANY: none is no error, and no change */
    STORE_PUT_SESSION,   /* the whole record */
    /* active_ms and expires_ms of `session`, and `initialized` if it is; never makes a record:
     * without one ERR_ABSENT by STORE_PRESENT, nothing by STORE_ANY */
    STORE_TOUCH_SESSION,
    STORE_DELETE_SESSION,
    STORE_SET_LOG_LEVEL, /* of `session`, by its id; ERR_ABSENT without a record */
    STORE_SET_SEEN,      /* likewise */
    STORE_PUT_JOB,
    STORE_DELETE_JOB, /* needs only the id */
    /* ERR_ABSENT: no such session. ERR_EXISTS: the id is taken. ERR_STREAMS: it listens, and
     * STREAMS_LISTENING_MAX do that have a living reader, which is_alive says; or there are
     * STREAMS_SESSION_MAX, none of which can be forgotten for it. The one at rest (it ended, or
     * its writer is not alive) that changed first is. */
    STORE_PUT_STREAM,
    /* `stream` has session, id, reader and token, which are put into the record; of one that
     * listens the reader becomes the writer too, with reserved_n raised by STREAM_NUMBERS.
     * *ret_stream is the record as it was before (session and request: STR_NONE). ERR_ABSENT.
     * if_version: STORE_ANY, or the token that the record must have, else ERR_CONFLICT; the same
     * with is_alive, if that has a higher token and a living reader. A reader
     * with epoch 0: nobody reads any more (and nobody writes, of one that listens). */
    STORE_CLAIM_STREAM,
    /* Appends `message` as frame `n` of `stream` (session, id, writer; ended: it is the last;
     * reserved_n: if higher than the one there; seq: kept with the frame, and if it is not 0 in the
     * record). ERR_ABSENT: no such stream (any more).
     * ERR_CONFLICT: another writer, n is not above the last, or it ended. Forgets the frames that
     * are too many (max_frames, STREAM_BYTES). *ret_stream is the record after it. An ended stream
     * without a last message: message STR_NONE, n 0. */
    STORE_PUT_FRAME,
    /* Makes `subscription`, or changes all and coalesce_ms of the one with its session and URI.
     * start_seq is raised to the session's follow.seq (unless that is foreign); of the session's
     * first one, seq and sent_seq begin there. *ret_claim: who takes the session's pushes, to be
     * told. ERR_ABSENT: no such session. ERR_LIMIT: there are SUBSCRIPTIONS_SESSION_MAX, or
     * max_subscriptions if that is not 0, or their URIs would come to more than
     * SUBSCRIPTIONS_BYTES. */
    STORE_PUT_SUBSCRIPTION,
    STORE_DELETE_SUBSCRIPTION, /* by session and uri; if it is there. *ret_claim likewise */
    /* seq and sent_seq of claim->session become those of `follow` (sent_seq at most seq).
     * ERR_CONFLICT: the claim to its pushes has another token than `claim`, or its subscriptions
     * another generation than `follow`. ERR_ABSENT: it has none. */
    STORE_SET_FOLLOW,
    STORE_CLAIM_PUSHES, /* `claim`; *ret_claim is the one before (worker.epoch 0: none). With
                           is_alive: nothing, if that has a higher token and a living worker.
                           ERR_ABSENT: no such session */
    STORE_DROP_CLAIM,   /* if it still has the token of `claim`, else nothing */
    STORE_PUT_PUSH,     /* `message` for claim->session until until_ms; *ret_claim as it is; ret_seq
                           its seq. Beyond PUSHES_WAITING_MAX and PUSHES_BYTES the oldest go.
                           ERR_ABSENT: no such session */
    STORE_DELETE_PUSH,  /* of claim->session, by push_seq. ERR_ABSENT: somebody took it.
                           ERR_CONFLICT: the claim has another token */
    STORE_PUT_MAIL,     /* `message` to `to`; ret_seq its seq */
    /* Adds `n` to what was used of the quota `key` (at most ACCESS_NAME_BYTES) in the window that
     * ends at until_ms; one that has ended begins anew. ERR_QUOTA: that would be more than
     * quota_max, and nothing is added. ret_seq: what is used then, also of what is refused.
     * ERR_LIMIT: no such key, or QUOTAS_MAX others have a window. Where the end of a window that
     * stands is another than until_ms, the nearer one holds. */
    STORE_TAKE_QUOTA,
    STORE_DELETE_MAIL, /* of slot to.slot, up to mail_seq; the first TXN_ROWS_MAX of them */
};

/* The condition on what is there: else ERR_EXISTS, ERR_ABSENT or ERR_CONFLICT and nothing is done.
 * Any other value: it must be there and have this version. */
#define STORE_ANY     UINT64_MAX
#define STORE_MISSING 0                /* must not be there */
#define STORE_PRESENT (UINT64_MAX - 1) /* must be there */

struct store_op {
    enum store_op_kind kind;
    uint64_t if_version;                 /* STORE_ANY, STORE_MISSING, STORE_PRESENT, or a version */
    uint32_t table;                      /* row operations, DROP_TABLE */
    struct str key;                      /* row operations */
    const struct tape_node *row;         /* PUT_ROW */
    const struct store_table *put_table; /* PUT_TABLE; id 0, or the id that the name has */
    const struct store_session *session; /* session operations; TOUCH and DELETE need only the id */
    const struct store_job *job;
    const struct store_access *access;
    /* PUT_ACCESS, DELETE_ACCESS: store_access_version as it was read; another one by now, but for
     * what the same list did before: ERR_STALE. 0: any. */
    uint64_t access_version;
    uint64_t quota_max;
    /* Streams, pushes, mail */
    const struct store_stream *stream;
    const struct store_claim *claim;
    const struct store_subscription *subscription;
    const struct store_follow *follow;
    uint32_t max_subscriptions;
    struct store_worker to;
    struct str message;
    uint64_t n, push_seq, mail_seq;
    uint32_t max_frames;                                  /* 0: STREAM_FRAMES */
    int64_t until_ms;                                     /* wall time */
    bool (*is_alive)(void *ctx, struct store_worker who); /* PUT_STREAM, with check_ctx; on the
                                                             writer's thread. NULL: all are */
    struct store_stream *ret_stream;                      /* may be NULL */
    struct store_claim *ret_claim;
    /* Row operations: the version of the table by which the row was checked; if the table has
     * another one by now: ERR_STALE. 0: any. */
    uint64_t table_version;
    /* PUT_TABLE of a table that is there: each of its rows that was written after since_seq is
     * shown to check_row inside the transaction (on the writer's thread; where others were in the
     * same group, perhaps twice), and what it returns stops the operation. More than TXN_ROWS_MAX
     * changes of the table since then, more than RECHECK_LOG_MAX of all, or so many that the
     * log forgot some: ERR_STALE, catch up and come again. NULL: no check. */
    uint64_t since_seq;
    store_row_fn check_row;
    /* PUT_TABLE of a table that is there: is shown it as it is, with all its indexes, before the
     * rows; stops the operation likewise. NULL: no check. */
    int (*check_table)(void *ctx, const struct store_table *now);
    void *check_ctx;
    uint64_t ret_seq; /* the change's sequence (0: no change); on ERR_CONFLICT the version that is
                         there */
    uint32_t ret_table;
    /* PUT_ROW, ERR_EXISTS: the unique index that has another such row; ERR_LIMIT, ERR_PARAMS: the
     * index that cannot hold the row (too long, with the row's key; not of the type). 0: none. */
    uint32_t ret_index;
};

struct store_write {
    enum store_space space;
    struct store_op *ops;
    uint32_t n_ops;                                   /* at most TXN_ROWS_MAX, else ERR_LIMIT */
    void (*done)(struct store_write *write, int err); /* exactly once */
    uint32_t failed_op;                               /* which one, when err < 0 */
    struct store_write *next;                         /* these five for the queue */
    int64_t submitted_ms;
    int state;
    bool is_waited_for;
    bool is_finished; /* of one that is waited for; under the writer's lock */
};

/* The memory of `write` and all it points to stays the caller's and untouched until `done`. Errors
 * besides the conditions: ERR_LIMIT (n_ops, key, name, row or record too large), ERR_STORE_FULL,
 * ERR_STORE_READ_ONLY, ERR_STORE_DAMAGED, ERR_NO_MEMORY, ERR_IO; ERR_BUSY (nothing was done, and it
 * may be tried again): WRITES_WAITING_MAX lists wait already, or this one waited for WRITE_WAIT_MS
 * while another process stood in a transaction. */
void store_submit(struct store *store, struct store_write *write);
/* The same, but waits for the commit and returns its error; `done` is not called. Handler threads
 * and CLI: never on a loop. */
int store_apply(struct store *store, struct store_write *write);

/* Deletes up to `max` sessions that expired before now_ms. Returns how many, or an error. Blocks:
 * never on a loop. */
int store_sweep_sessions(struct store *store, int64_t now_ms, uint32_t max);

/* Bulk load for imports: batches under an undo job that a restart rolls back; either all rows of
 * begin..commit are there afterwards, or none. Blocks; CLI only. Memory is constant. One load at a
 * time per store (else ERR_BUSY). Readers see rows as batches go in, before the commit; taking a
 * row back is a change as well, and leaves alone what somebody else wrote over it meanwhile. After
 * an error only abort is left. Rows go in by batches, so an error may belong to an earlier row:
 * store_load_failed_row says which, counted from 0. A commit that succeeds frees the load; else
 * abort does. */
struct store_load;
int store_load_begin(struct store *store, uint32_t table, struct store_load **ret);
/* A row that was not written, or could not be taken back. */
struct store_refusal {
    uint64_t row;   /* which of the load's rows, counted from 0 */
    int err;        /* ERR_EXISTS; ERR_LIMIT, ERR_PARAMS: as of a PUT_ROW */
    uint32_t index; /* because of this one; 0: of the primary key, or of the row itself */
    struct str key;
    const struct tape_node *content;
};
/* Of a row as it is stored, at most ROW_BYTES_MAX; 0: no memory. */
uint64_t store_row_bytes(const struct tape_node *row);
struct store_load_rules {
    uint64_t table_version; /* as of an operation: ERR_STALE when the table has another one */
    /* A row is refused: it is left out, and told here once its batch is committed; what this
     * returns other than 0 is the error of the load. NULL: then it is an error. */
    int (*refused)(void *ctx, const struct store_refusal *refusal);
    /* Of an abort: a row stays as the load wrote it, because `index` cannot hold what stood before
     * (`content`) any more: another row has its unique value. Also logged, and kept in the data
     * directory. May be NULL. */
    void (*kept)(void *ctx, const struct store_refusal *refusal);
    /* Of a commit: all rows are in and all refusals told, and it cannot fail by a row any more.
     * What this returns other than 0 is the error of the load. May be NULL. */
    int (*ready)(void *ctx);
    void *ctx;
};
/* Before the first row. */
void store_load_set_rules(struct store_load *load, const struct store_load_rules *rules);
int store_load_row(struct store_load *load, struct str key, const struct tape_node *row,
                   uint64_t if_version);
uint64_t store_load_failed_row(const struct store_load *load);
uint32_t store_load_failed_index(const struct store_load *load); /* see struct store_refusal */
int store_load_commit(struct store_load *load);
/* 0, or why rows are still there (no room to take them back): the keeper and the next process that
 * opens the store try again. NULL is fine. */
int store_load_abort(struct store_load *load);

/* 32 secret bytes that all processes on this store share (keys for cursors and tokens). Made by the
 * first who asks; ERR_STORE_READ_ONLY if it cannot; ERR_FORBIDDEN if the file is readable by
 * others, ERR_STORE_DAMAGED if it is no secret (both are logged). */
int store_secret(struct store *store, unsigned char ret[32]);

#endif
