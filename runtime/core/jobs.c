/* core/jobs.c - see jobs.h. */
#include "core/jobs.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/log.h"
#include "core/core_state.h"
#include "core/table_run.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define WRITE_TRIES 5 /* of the last record, which must not be lost */

static void begin_waiting(struct jobs *jobs);

void jobs_init(struct jobs *jobs)
{
    *jobs = (struct jobs){0};
    jobs->last = &jobs->first;
}

/* ---- Making --------------------------------------------------------------------------------- */

static void job_free(struct job *job)
{
    buf_done(&job->result);
    buf_done(&job->details);
    buf_done(&job->text);
    arena_done(&job->arena);
    free(job);
}

static int copy_args(struct job *job, const struct tape_node *args)
{
    struct wire_fault fault;
    struct buf text = {0};
    tape_write(args, &text);
    char *copy = text.failed ? NULL : arena_zalloc(&job->arena, text.n + JSON_PADDING_BYTES);
    if (copy)
        memcpy(copy, text.p, text.n);
    struct str json = {copy, (uint32_t)text.n};
    buf_done(&text);
    return copy ? tape_open(json, &job->arena, &job->args, &fault) : ERR_NO_MEMORY;
}

static struct str argument(const struct job *job, const char *name)
{
    const struct tape_node *value = tape_get(job->args, str_of(name));
    return value && value->kind == TAPE_STR ? tape_str(value) : STR_NONE;
}

static int make_record(struct job *job, const char *kind)
{
    struct buf worker = {0};
    job->record = (struct job_record){
        .kind = str_of(kind),
        .database = argument(job, "database"),
        .table = argument(job, "table"),
        .state = JOB_QUEUED,
        .created_ms = clock_wall_ms(),
    };
    job_worker_write(&worker);
    job->record.worker = arena_buf(&job->arena, &worker);
    buf_done(&worker);
    int err = job->record.worker.p ? 0 : ERR_NO_MEMORY;
    if (err == 0)
        err = job_id_make(job->record.created_ms, &job->arena, &job->record.id);
    if (err == 0)
        job->wish.id = job_wish_id(job->record.id, &job->arena);
    return err || job->wish.id.p ? err : ERR_NO_MEMORY;
}

static int job_new(struct call *call, const char *kind, const struct tape_node *args,
                   struct job **ret)
{
    struct job *job = calloc(1, sizeof *job);
    if (!job)
        return ERR_NO_MEMORY;
    job->core = call->core;
    arena_init(&job->arena, 0);
    job->session = arena_str(&job->arena, call->session->record.id);
    int err = job->session.p ? copy_args(job, args) : ERR_NO_MEMORY;
    if (err == 0)
        err = make_record(job, kind);
    if (err < 0)
        job_free(job);
    else
        *ret = job;
    return err;
}

/* ---- The record ----------------------------------------------------------------------------- */

/* Makes job->write one of the record as it is. The last takes the wish away. */
static int prepare_write(struct job *job, uint64_t if_version)
{
    buf_clear(&job->text);
    job_record_write(&job->record, &job->text);
    if (job->text.failed)
        return ERR_NO_MEMORY;
    job->stored = (struct store_job){.id = job->record.id, .record = buf_str(&job->text)};
    job->ops[0] =
        (struct store_op){.kind = STORE_PUT_JOB, .if_version = if_version, .job = &job->stored};
    job->ops[1] =
        (struct store_op){.kind = STORE_DELETE_JOB, .if_version = STORE_ANY, .job = &job->wish};
    job->write = (struct store_write){
        .space = STORE_SYS, .ops = job->ops, .n_ops = job_is_over(job->record.state) ? 2 : 1};
    return 0;
}

/* On its thread. */
static int write_record(struct job *job)
{
    int err = prepare_write(job, STORE_PRESENT);
    job->written_ms = clock_mono_ms();
    return err ? err : store_apply(job->core->store, &job->write);
}

static void write_last_record(struct job *job)
{
    int err = ERR_BUSY;
    for (int i = 0; err < 0 && i < WRITE_TRIES; i++)
        err = write_record(job);
    if (err < 0)
        log_error("what became of job " STR_FMT " could not be written: %s",
                  STR_ARG(job->record.id), err_text(err));
}

/* ---- On its thread -------------------------------------------------------------------------- */

static bool is_unwanted(struct job *job)
{
    struct arena scratch;
    if (job->stop)
        return true;
    arena_init(&scratch, 0);
    if (job_is_unwanted(job->core->store, job->record.id, &scratch))
        job->stop = ERR_CANCELLED;
    arena_done(&scratch);
    return job->stop;
}

int job_progress(void *ctx, uint64_t done, uint64_t total)
{
    struct job *job = ctx;
    job->record.done = done;
    job->record.total = total;
    if (!job->stop && clock_mono_ms() - job->written_ms >= JOB_PROGRESS_MS) {
        write_record(job); /* if that fails, the next one may not */
        is_unwanted(job);
    }
    return job->stop;
}

static void end_well(struct job *job)
{
    job->record.state = JOB_DONE;
    if (job->record.total)
        job->record.done = job->record.total;
    job->record.result = buf_str(&job->result);
}

static void end_badly(struct job *job, int err)
{
    struct job_record *record = &job->record;
    bool stopped = job->stop == ERR_CLOSED;
    record->state = job->stop == ERR_CANCELLED && err == ERR_CANCELLED ? JOB_CANCELLED : JOB_FAILED;
    record->error = job->why.n ? job->why : str_of(err_text(err));
    if (stopped && err == ERR_CANCELLED)
        record->error = STR("the server was stopped");
    if (job->details.n && !job->details.failed)
        record->details = buf_str(&job->details);
}

static int begin(struct job *job)
{
    job->record.state = JOB_RUNNING;
    job->record.started_ms = clock_wall_ms();
    return is_unwanted(job) ? ERR_CANCELLED : write_record(job);
}

static void run(struct loop_work *work)
{
    struct job *job = (struct job *)work; /* its first member */
    int err = begin(job);
    if (err == 0)
        err = job->run(job);
    if (err == 0 && job->result.failed)
        err = ERR_NO_MEMORY;
    job->record.finished_ms = clock_wall_ms();
    if (err < 0)
        end_badly(job, err);
    else
        end_well(job);
    write_last_record(job);
}

static struct job *job_of(struct store_write *write)
{
    return (struct job *)((char *)write - offsetof(struct job, write));
}

/* ---- On the loop ---------------------------------------------------------------------------- */

/* The session that began it hears how it ended, if it listens and wants to. */
static void tell_session(const struct job *job)
{
    static const enum mcp_logging_level levels[JOB_STATES] = {
        [JOB_DONE] = MCP_LOGGING_LEVEL_INFO,
        [JOB_FAILED] = MCP_LOGGING_LEVEL_ERROR,
        [JOB_CANCELLED] = MCP_LOGGING_LEVEL_NOTICE,
    };
    struct buf text = {0};
    job_record_show(&job->record, true, &text);
    if (!text.failed)
        log_message_session(job->core, job->session, levels[job->record.state], STR("jobs"),
                            buf_str(&text));
    buf_done(&text);
}

static void forget(struct jobs *jobs, const struct job *job)
{
    uint32_t i = 0;
    while (jobs->running[i] != job)
        i++;
    jobs->running[i] = jobs->running[--jobs->n_running];
}

static void ended(struct loop_work *work)
{
    struct job *job = (struct job *)work;
    struct jobs *jobs = &job->core->jobs;
    forget(jobs, job);
    tell_session(job);
    job_free(job);
    begin_waiting(jobs);
}

static void append(struct jobs *jobs, struct job *job)
{
    job->next = NULL;
    *jobs->last = job;
    jobs->last = &job->next;
    jobs->n_waiting++;
}

static struct job *take_first(struct jobs *jobs)
{
    struct job *job = jobs->first;
    jobs->first = job->next;
    if (!jobs->first)
        jobs->last = &jobs->first;
    jobs->n_waiting--;
    return job;
}

static void given_up(struct store_write *write, int err)
{
    struct job *job = job_of(write);
    tell_session(job);
    if (err < 0)
        log_error("that job " STR_FMT " did not begin could not be written: %s",
                  STR_ARG(job->record.id), err_text(err));
    job_free(job);
}

/* Ends a job that has not begun. */
static void give_up(struct job *job, enum job_state state, int why)
{
    job->record.state = state;
    job->record.finished_ms = clock_wall_ms();
    job->record.error = str_of(err_text(why));
    int err = prepare_write(job, STORE_PRESENT);
    job->write.done = given_up;
    if (err < 0)
        given_up(&job->write, err);
    else
        store_submit(job->core->store, &job->write);
}

/* Without a thread for it a job waits for the end of another one, if there is one. */
static void begin_waiting(struct jobs *jobs)
{
    while (jobs->n_running < JOBS_RUNNING_MAX && jobs->first) {
        struct job *job = jobs->first;
        if (jobs->stopping)
            job->stop = ERR_CLOSED;
        int err = loop_offload(job->core->loop, &job->work);
        if (err < 0 && jobs->n_running)
            return;
        take_first(jobs);
        if (err < 0)
            give_up(job, JOB_FAILED, err);
        else
            jobs->running[jobs->n_running++] = job;
    }
}

static void answer(struct job *job, int err)
{
    struct call *call = job->call;
    job->call = NULL;
    if (err == ERR_LIMIT)
        tool_fail(call, STR("Too many jobs are remembered. Try again in some minutes."));
    else if (err == ERR_BUSY)
        tool_fail(call, STR("The server is busy. Nothing was begun; try again in a moment."));
    else if (err < 0)
        call_fail(call, err, STR_NONE, STR_NONE);
    else
        tool_succeed(
            call, arena_printf(&call->arena, "{\"job\":\"" STR_FMT "\"}", STR_ARG(job->record.id)));
}

static void recorded(struct store_write *write, int err)
{
    struct job *job = job_of(write);
    struct jobs *jobs = &job->core->jobs;
    int unwanted = call_is_cancelled(job->call); /* before its client learnt of the job */
    jobs->n_starting--;
    answer(job, err);
    if (err < 0) {
        job_free(job);
        return;
    }
    if (unwanted) {
        give_up(job, JOB_CANCELLED, ERR_CANCELLED);
        return;
    }
    append(jobs, job);
    begin_waiting(jobs);
}

int job_start(struct call *call, const char *kind, const struct tape_node *args,
              int (*run_job)(struct job *job))
{
    struct jobs *jobs = &call->core->jobs;
    struct job *job;
    if (jobs->n_running + jobs->n_waiting + jobs->n_starting >=
        JOBS_RUNNING_MAX + JOBS_WAITING_MAX) {
        tool_fail(call, STR("Too many jobs wait already. Try again when some are done."));
        return CALL_LATER;
    }
    int err = job_new(call, kind, args, &job);
    if (err == 0 && (err = prepare_write(job, STORE_MISSING)) < 0)
        job_free(job);
    if (err < 0)
        return err;
    job->run = run_job;
    job->call = call;
    job->work = (struct loop_work){.run = run, .done = ended};
    job->write.done = recorded;
    jobs->n_starting++;
    store_submit(call->core->store, &job->write);
    return CALL_LATER;
}

/* ---- Ending them ---------------------------------------------------------------------------- */

static void stop_waiting(struct jobs *jobs, struct str id)
{
    struct job **at = &jobs->first, *job;
    while (*at && !str_eq((*at)->record.id, id))
        at = &(*at)->next;
    if (!(job = *at))
        return;
    *at = job->next;
    if (!job->next)
        jobs->last = at;
    jobs->n_waiting--;
    give_up(job, JOB_CANCELLED, ERR_CANCELLED);
}

void jobs_cancel_here(struct jobs *jobs, struct str id)
{
    for (uint32_t i = 0; i < jobs->n_running; i++)
        if (str_eq(jobs->running[i]->record.id, id))
            jobs->running[i]->stop = ERR_CANCELLED;
    stop_waiting(jobs, id);
}

void jobs_stop(struct jobs *jobs)
{
    jobs->stopping = true;
    for (uint32_t i = 0; i < jobs->n_running; i++)
        jobs->running[i]->stop = ERR_CLOSED;
}

int job_cancel(struct store *store, struct str id, struct arena *arena, struct job_record *ret)
{
    struct store_view *view;
    int err = store_view_open(store, STORE_SYS, &view);
    if (err < 0)
        return err;
    err = job_record_get(view, id, arena, ret);
    store_view_close(view);
    if (err == 0 && job_is_over(ret->state))
        return ERR_CONFLICT;
    if (err < 0)
        return err;
    struct store_job wish = {.id = job_wish_id(id, arena), .record = STR("{}")};
    struct store_op op = {.kind = STORE_PUT_JOB, .if_version = STORE_ANY, .job = &wish};
    struct store_write write = {.space = STORE_SYS, .ops = &op, .n_ops = 1};
    return wish.id.p ? store_apply(store, &write) : ERR_NO_MEMORY;
}
