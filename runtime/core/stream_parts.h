/* core/stream_parts.h - what the files of streams share: stream.c writes, stream_read.c reads,
 * listen.c opens and resumes, push.c and list_changed.c find who listens.
 *
 *   stream  this worker appends to it; its frames wait here for the next commit
 *   reader  a connection of this worker; attached to the stream if that is written here
 *   errand  a list of operations with what is to be done after it
 */
#ifndef TENON_CORE_STREAM_PARTS_H
#define TENON_CORE_STREAM_PARTS_H

#include "base/limits.h"
#include "core/core_state.h"
#include "core/event_id.h"

#define COMMIT_OPS       256 /* of one commit of frames */
#define OP_NONE          UINT32_MAX
#define COMMIT_BYTES     (16u << 20)
#define ERRAND_OPS       2
#define ERRAND_PAUSE_MS  500 /* before one that found the store busy is tried again */
#define ERRAND_TRIES     20
#define ERRANDS_PER_TICK 128
#define ERRANDS_BYTES    (32u << 20) /* of those that wait for that; what is beyond is forgotten */
#define READER_CHECK_MS  1000
#define TOUCHES_PER_TICK 64
#define LOOKS_PER_TICK   256 /* at the sessions of quiet streams */
#define GONE_PER_TICK    64
#define LISTS_PER_TURN   256   /* readers that are told of changed lists */
#define HEX64_BYTES      17    /* 16 digits, NUL */
#define STREAM_LOOK_MS   200   /* for a stream that somebody names and that is not stored yet */
#define PUSH_HANDOVER_MS 30000 /* for a stream that is there, but in other hands soon */
#define STREAM_HELD_MS   5000  /* for the word of who took a stream over; longer than he may take */

struct errand;
struct reader;
struct looking;
struct session_streams;

struct stream_name {
    char session[SESSION_ID_BYTES + 1];
    uint64_t id;
};

struct frame {
    struct frame *next;
    struct stream *stream;
    uint64_t n;         /* 0: no message, only what the flags say */
    uint64_t push_seq;  /* of the waiting push that it takes; 0: none */
    uint64_t token;     /* of a notification: of the claim under which it was made; 0: none */
    uint32_t op, n_ops; /* of the commit it is in: the first one, and how many */
    bool makes_record, is_last, was_sent;
    struct store_follow follow; /* of a notification: where the session stands by it */
    struct str message;         /* behind this struct */
};

struct frames {
    struct frame *first, **last;
    size_t n_bytes;
};

struct stream {
    struct streams *streams;
    struct stream *next, **at;
    struct session_streams *of; /* its session: */
    struct stream *next_of, **at_of;
    struct stream_name name;
    struct reader *reader;  /* of this worker, that reads it; or NULL */
    struct sink *plain;     /* stdio: there is no log */
    struct str request;     /* raw id, behind this struct; STR_NONE: it listens */
    uint64_t last_n;        /* given to a frame */
    uint64_t reserved_n;    /* committed: numbers up to this one may go out */
    uint64_t asked_n;       /* to be reserved by the next frame */
    uint64_t token;         /* of the reader that left; for clearing its claim */
    uint32_t n_pending;     /* frames without a commit */
    uint32_t last_op;       /* of the commit under way: of its last frame, */
    uint32_t note_op;       /* and of its position; OP_NONE */
    struct stream *touched; /* next one in it */
    bool is_touched;
    bool listens;
    bool is_owned;         /* a call holds it */
    bool has_ended;        /* nothing more is appended */
    bool is_broken;        /* the store does not take its frames (any more) */
    bool is_handed_over;   /* another worker writes it now */
    bool is_released;      /* and said what the client had seen: */
    uint64_t after_n;      /* the highest that a client named */
    struct frames held;    /* refused by the store; released, or sent again after a while */
    int64_t held_until_ms; /* monotonic */
};

struct reader {
    struct streams *streams;
    struct reader *next, **at;
    struct session_streams *of; /* its session: */
    struct reader *next_of, **at_of;
    struct reader *next_behind, **at_behind; /* of those to be looked at after a wake; NULL */
    struct sink *sink;     /* NULL: the connection is gone, an errand is still under way */
    struct stream *stream; /* that is written here; NULL: it follows the store */
    struct stream_name name;
    uint64_t sent_n;
    uint64_t sent_seq;          /* position of the last notification that went out here; 0: none */
    uint64_t named_seq;         /* of the event that the client named; 0: none */
    uint64_t anew_n;            /* notifications up to this frame are not sent: they come anew */
    uint64_t used_n, kept_n;    /* when it claimed: numbers reserved, the first frame still there */
    uint64_t token, push_token; /* its claims; push_token 0: never claimed */
    uint32_t n_claims;          /* to the pushes */
    uint64_t told[STORE_LISTS]; /* of its lists: list_changed.c; 0: nothing yet */
    uint64_t lists_version;     /* of the lists that it was compared with */
    uint64_t push_seen;         /* waiting pushes up to this one are on their way */
    uint32_t n_errands;
    struct follower *follower; /* core/follow.c's own */
    struct worker_id old;      /* reader that was told to release */
    int64_t release_ms;        /* monotonic: begin anyway; 0: nobody is waited for */
    int64_t touch_ms;          /* monotonic: the session is kept alive then */
    struct access *access;     /* who reads it, a reference */
    int64_t refused_ms;        /* monotonic: since then he may not any more; 0: he may */
    enum call_profile profile;
    int revision;
    bool listens, has_claimed, is_open, has_room;
    bool holds_pushes;    /* then it has a stream, and core/follow.h knows of it */
    bool is_anew;         /* the event that the client named stands alone: what went out so far */
    bool is_early;        /* its session was not initialized when it was looked at */
    bool is_telling_lost; /* an errand that says so is under way */
};

struct commit {
    struct store_write write; /* first, so that `done` finds its way back */
    struct streams *streams;
    struct frames frames;
    struct stream *touched;
    bool is_under_way;
    struct store_op ops[COMMIT_OPS];
    struct store_stream before[COMMIT_OPS], after[COMMIT_OPS];
    struct store_claim claims[COMMIT_OPS];
    struct store_follow follows[COMMIT_OPS];
};

struct stream_sessions {
    struct session_streams **buckets;
    uint32_t n_buckets, n; /* n_buckets: a power of two, or 0 */
};

struct streams {
    struct core *core;
    struct stream *written;
    struct reader *readers; /* newest first */
    struct stream_sessions sessions;
    struct reader *behind; /* who may not have got all of his stream */
    struct frames waiting; /* for the next commit */
    struct loop_post post;
    struct looking *looking; /* GET requests: listen.c */
    bool is_posted, is_stopping;
    /* There may be one that waits for a release, holds frames, is early: else nobody looks through
     * all of them at each tick. */
    bool has_waiting, has_held, has_early;
    int64_t checked_ms;     /* monotonic */
    uint64_t lists_version; /* rises when the sessions here have other lists to be told of */
    uint64_t tables_version, offers_version, access_version; /* what those were made of */
    struct loop_post lists;                                  /* the next turn of telling them */
    bool is_telling_lists;
    uint32_t look_from; /* the reader whose session is looked at next */
    uint32_t n_readers;
    int64_t touch_calls_ms;           /* monotonic */
    struct errand *late, **last_late; /* the store was busy; first to be tried first */
    size_t late_bytes;
    struct commit commit;
};

struct errand {
    struct store_write write; /* first */
    struct streams *streams;
    struct reader *reader; /* or NULL; stays until `done` */
    void (*done)(struct errand *errand, int err);
    struct store_op ops[ERRAND_OPS];
    struct store_stream stream, before;
    struct store_claim claim, claim_before;
    struct store_session session;
    struct stream_name name; /* what `stream.session` and so on point to */
    uint64_t token;
    struct worker_id to;
    struct str message; /* behind this struct */
    /* Set before it is submitted. It has no reader, and `done` comes after the last try. */
    bool repeats;                             /* when the store is busy */
    bool (*is_wanted)(struct errand *errand); /* asked before it is tried again; NULL: yes */
    struct errand *next;                      /* of those that wait for that */
    int64_t again_ms;                         /* monotonic */
    uint32_t n_tries;
};

/* ---- stream.c */
struct stream *stream_new(struct streams *streams, const struct stream_name *name, bool listens,
                          struct str request);
/* One that nobody has seen yet. */
void stream_drop(struct stream *stream);
struct stream *streams_find(struct streams *streams, const struct stream_name *name);
/* Do frames of it wait for a commit? Of one that was handed over and came back too, which is two
 * structs for a while. */
bool streams_pending(const struct streams *streams, const struct stream_name *name);
/* Nobody reads it any more, so it does not count as one that listens; once what waits of it is
 * stored, as nobody writes it either from then on. */
void stream_give_back(struct streams *streams, const struct stream_name *name, uint64_t token);
/* push_seq: of the waiting push that the message is; it goes out only after the commit. */
void stream_append(struct stream *stream, struct str message, bool is_last, uint64_t push_seq);
/* A frame that waits for the next commit; NULL: no memory, or too much waits. */
struct frame *stream_add_frame(struct stream *stream, struct str message);
/* Frees it if nobody needs it any more. */
void stream_settle(struct stream *stream);
/* Nothing more of it can be written: its reader ends. */
void stream_break(struct stream *stream);

/* ---- stream_sessions.c: those of one session, newest first, by their `next_of` */
struct stream *streams_of(const struct streams *streams, struct str session);
struct reader *readers_of(const struct streams *streams, struct str session);
bool stream_join(struct stream *stream); /* false: no memory */
void stream_part(struct stream *stream);
bool reader_join(struct reader *reader);
void reader_part(struct reader *reader);
/* From now on it may be behind its stream, or follows the store: it is looked at after each wake.
 */
void reader_watch(struct reader *reader);
void reader_unwatch(struct reader *reader);

/* ---- stream_commit.c */
void frames_init(struct frames *frames);
void frames_add(struct frames *frames, struct frame *frame);
struct frame *frames_take(struct frames *frames); /* the first, or NULL */
/* Puts all of `from` before what `to` has. */
void frames_return(struct frames *to, struct frames *from);
void frame_free(struct frame *frame);
/* A frame that never comes leaves only its number unused: no gap for its reader. */
void frame_skip(const struct frame *frame);
void streams_flush(struct streams *streams);
/* Another worker has claimed it, for a client that has seen all up to after_n. */
void stream_release(struct stream *stream);
void streams_release_late(struct streams *streams, int64_t now_ms);

/* ---- stream_read.c */
struct reader *reader_new(struct streams *streams, const struct stream_name *name,
                          struct sink *sink, struct access *access);
void reader_attach(struct reader *reader, struct stream *stream);
/* Sends what it can. It may be gone after this, as after the next. */
void reader_advance(struct reader *reader);
void reader_send(struct reader *reader, uint64_t n, uint64_t seq, struct str message);
/* The same of one that is stored: of a reader that begins anew not always. */
void reader_send_frame(struct reader *reader, uint64_t n, uint64_t seq, struct str message);
void reader_end(struct reader *reader);
/* Frees it if its connection is gone and nothing of it is under way. */
void reader_settle(struct reader *reader);
struct reader *reader_find(struct streams *streams, const struct stream_name *name, uint64_t token);
/* The reader that gets the pushes of the session, or NULL. */
struct reader *reader_of_pushes(struct streams *streams, struct str session);
void readers_tick(struct streams *streams);

/* ---- listen.c */
void reader_begin(struct reader *reader);
/* Looks again for streams that were not there yet. */
void streams_look(struct streams *streams, int64_t now_ms);

/* Its stream was claimed by another worker, for a client that has seen all up to after_n. */
void reader_displace(struct streams *streams, const struct stream_name *name, uint64_t token,
                     uint64_t after_n);

/* ---- stream_notify.c: notifications of subscriptions */
/* Appends one (STR_NONE: none, only the position moves) to the stream of a reader that holds the
 * pushes. It goes out only after the commit in which the session becomes `to`, as an event whose id
 * says to->seq. Its reader is told by follow_stored, once per commit; when the store refuses one,
 * those behind it are dropped too. 0; ERR_NO_MEMORY: nothing was appended, and no follow_stored
 * comes for it; ERR_ABSENT: the stream takes nothing any more. */
int stream_notify(struct stream *stream, struct str message, const struct store_follow *to);
uint32_t note_fill(struct commit *commit, uint32_t i, struct frame *frame); /* the next op */
/* After their commit, when the reader has got them, for each stream in it. */
void notes_stored(struct commit *commit, struct stream *stream);
/* The store refused this one, which is gone after it with those behind it; or all of the commit,
 * which were taken out of it. */
void notes_refused(struct commit *commit, struct frame *frame, int err);
void notes_failed(struct commit *commit, int err);

/* ---- stream_pushes.c: who takes a session's pushes */
void reader_claim_pushes(struct reader *reader);
/* The claim as an operation of this errand, and once that is committed, what it brings. */
void reader_fill_claim(struct errand *errand, struct store_op *op);
void reader_take_pushes(struct reader *reader, const struct store_claim *before);
/* It does not take them any more. Before its sink or its stream is gone. */
void reader_stop_pushes(struct reader *reader);

/* ---- push.c */
void push_drain(struct reader *reader);

/* ---- stream_letters.c */
/* Tells the worker `who` that `next` has taken over what the reader with this token had; 0: only
 * the pushes. */
void tell_release(struct streams *streams, struct store_worker who, const struct stream_name *name,
                  uint64_t token, uint64_t next, uint64_t after_n);

/* ---- errands, tokens, names: stream_errand.c */
struct errand *errand_new(struct streams *streams, struct reader *reader,
                          const struct stream_name *name, struct str message);
void errand_submit(struct errand *errand, uint32_t n_ops,
                   void (*done)(struct errand *errand, int err));
void errands_again(struct streams *streams, int64_t now_ms);
void errands_free(struct streams *streams);
bool stream_name_set(struct stream_name *ret, struct str session, uint64_t id);
struct str stream_session(const struct stream_name *name);
bool stream_name_eq(const struct stream_name *a, const struct stream_name *b);
uint64_t stream_random(void); /* never 0 */
/* In the same microsecond they differ by these. */
#define STREAM_TOKEN_BITS 16
#define STREAM_TOKEN_MASK ((UINT64_C(1) << STREAM_TOKEN_BITS) - 1)
/* Of a reader: who opened later has a higher one, whichever worker it is at. */
uint64_t stream_token(void);
void hex64_write(uint64_t v, char ret[HEX64_BYTES]);
int hex64_read(struct str text, uint64_t *ret);
struct store_worker store_worker_of(struct worker_id id);
struct worker_id worker_id_of(struct store_worker worker);
bool stream_is_self(const struct streams *streams, struct store_worker worker);
bool stream_is_alive(const struct streams *streams, struct store_worker worker);
bool streams_is_alive(void *ctx, struct store_worker who); /* the same, as the store asks */

#endif
