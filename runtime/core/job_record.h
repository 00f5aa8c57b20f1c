/* core/job_record.h - what is known of a job, as it lies in the store, so that any worker can tell.
 *
 * Only the worker that runs a job writes its record. Whoever wants it to stop leaves a wish beside
 * it, under an id of its own, so that neither overwrites the other. A record says which process
 * runs the job: if that is gone, the job has failed, whatever else stands there.
 */
#ifndef TENON_CORE_JOB_RECORD_H
#define TENON_CORE_JOB_RECORD_H

#include "core/store.h"

enum job_state { JOB_QUEUED, JOB_RUNNING, JOB_DONE, JOB_FAILED, JOB_CANCELLED, JOB_STATES };

struct job_record {
    struct str id;
    struct str kind;            /* of the operation */
    struct str database, table; /* STR_NONE: none */
    enum job_state state;
    uint64_t done, total;                        /* total 0: not known */
    int64_t created_ms, started_ms, finished_ms; /* 0: not yet */
    struct str worker;                           /* see job_worker_write */
    struct str result;                           /* raw JSON of what is done, or STR_NONE */
    struct str error, details; /* of what failed: a sentence, and raw JSON or STR_NONE */
    bool is_cancelling;        /* somebody asked for it */
};

#define JOB_STATE_NAMES "\"queued\",\"running\",\"done\",\"failed\",\"cancelled\""

const char *job_state_name(enum job_state state);
enum job_state job_state_read(struct str name); /* JOB_STATES: none of them */
static inline bool job_is_over(enum job_state state)
{
    return state >= JOB_DONE;
}

/* A new id. 0, ERR_INTERNAL, ERR_NO_MEMORY. */
int job_id_make(int64_t now_ms, struct arena *arena, struct str *ret);

/* Which process this is, in words that none after it has. */
void job_worker_write(struct buf *out);

/* As it is stored, and as a client sees it: one JSON object; without its outcome the client learns
 * of no rows (their keys and values may stand in it), files and attributes. */
void job_record_write(const struct job_record *job, struct buf *out);
void job_record_show(const struct job_record *job, bool with_outcome, struct buf *out);

/* 0 or ERR_ABSENT, for any text; into the arena. Of a process that is gone: JOB_FAILED. */
int job_record_get(struct store_view *view, struct str id, struct arena *arena,
                   struct job_record *ret);

typedef bool (*job_wanted_fn)(void *ctx, const struct job_record *job);
/* The ids of the newest ones that are wanted, newest first, at most `max`. */
int job_ids_list(struct store_view *view, job_wanted_fn wanted, void *ctx, uint32_t max,
                 struct arena *arena, const struct str **ret, uint32_t *ret_n);

/* The id of the wish that a job should stop. */
struct str job_wish_id(struct str id, struct arena *arena);
/* Did somebody wish so? */
bool job_is_unwanted(struct store *store, struct str id, struct arena *scratch);

#endif
