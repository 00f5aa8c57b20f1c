/* core/jobs.h - work that takes longer than a client should wait for.
 *
 * A job runs on a handler thread; the tool that began it answers with its id at once. What becomes
 * of it stands in the store (core/job_record.h), so that any worker can tell, also after a restart.
 * Few run at a time, the next wait, and beyond that they are refused. While it runs a job says now
 * and then how far it is; at most once a second that is written down, and then it is looked up
 * whether somebody wants it to stop.
 *
 * All but job_progress and what `run` does happens on the loop.
 */
#ifndef TENON_CORE_JOBS_H
#define TENON_CORE_JOBS_H

#include "core/call.h"
#include "core/job_record.h"
#include "core/loop.h"

struct job {
    struct loop_work work; /* first */
    struct core *core;
    struct arena arena; /* as long as the job lives */
    const struct tape_node *args;
    /* On a handler thread. 0 with `result`, or an error, with `why` if there is more to say than
     * err_text does. ERR_CANCELLED where job_progress said so. */
    int (*run)(struct job *job);
    struct buf result;  /* of what succeeds: one JSON object */
    struct str why;     /* of what fails: a sentence */
    struct buf details; /* of what fails: one JSON object, or nothing */
    /* its own */
    struct job_record record;
    struct call *call;  /* until the answer */
    struct str session; /* that began it; is told how it ends */
    struct store_write write;
    struct store_op ops[2];
    struct store_job stored, wish;
    struct buf text;
    _Atomic int stop; /* an error to end with */
    int64_t written_ms;
    struct job *next;
};

struct jobs {
    struct job *running[JOBS_RUNNING_MAX];
    struct job *first, **last; /* that wait */
    uint32_t n_running, n_waiting, n_starting;
    bool stopping;
};

void jobs_init(struct jobs *jobs);
/* The server stops: what runs ends soon, as failed, and what waits does not begin. */
void jobs_stop(struct jobs *jobs);

/* Begins a job of the kind (static text) for the call, with a copy of its arguments, of which
 * "database" and "table" go into the record. CALL_LATER: the call is answered by the id, or by what
 * was wrong. Else an error. */
int job_start(struct call *call, const char *kind, const struct tape_node *args,
              int (*run)(struct job *job));
/* Says how far it is (total 0: not known). Non-zero: it should end. Fits as a callback. */
int job_progress(void *job, uint64_t done, uint64_t total);

/* A job of this worker need not wait until it looks up its wish. */
void jobs_cancel_here(struct jobs *jobs, struct str id);
/* Asks for the end of a job, wherever it runs. 0; ERR_ABSENT; ERR_CONFLICT: it is over. *ret is its
 * record before. Blocks. */
int job_cancel(struct store *store, struct str id, struct arena *arena, struct job_record *ret);

#endif
