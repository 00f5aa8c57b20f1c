/* core/operations_jobs.c - operations that show jobs, and end them. */
#include "base/err.h"
#include "base/limits.h"
#include "core/core_state.h"
#include "core/operations.h"
#include "core/table_run.h"

#define LIST_DEFAULT 100

static int fail_by_absence(struct call *call, struct str id)
{
    tool_fail(call, arena_printf(&call->arena,
                                 "There is no job " STR_FMT ". Jobs are forgotten after some days.",
                                 STR_ARG(id)));
    return CALL_LATER;
}

static bool may_begin_on_structure(const struct role *role, const struct job_record *job)
{
    static const char *const of_structure[] = {"alter_table", "create_index"};
    for (size_t i = 0; i < sizeof of_structure / sizeof *of_structure; i++)
        if (str_eq(job->kind, str_of(of_structure[i])))
            return role_may_operation(role, job->kind);
    return false;
}

/* Of a table that he may know, or of a kind that concerns no rows and that he may begin. */
static bool may_see(const struct call *call, const struct job_record *job)
{
    const struct role *role = call->in.access->role;
    if (may_begin_on_structure(role, job))
        return true;
    return job->table.p ? role_may_table(role, job->database, job->table, MAY_DESCRIBE)
                        : role_may_operation(role, job->kind);
}

/* Keys and values of rows, attributes and files stand in it: it is for whoever may read all of the
 * table, and for whoever may begin such a job: on the structure, or an import of whole rows. */
static bool may_see_outcome(const struct call *call, const struct job_record *job)
{
    const struct role *role = call->in.access->role;
    if (role_is_super(role) || !job->table.p || may_begin_on_structure(role, job))
        return true;
    if (role_each_attribute(role, job->database, job->table, NULL, NULL))
        return false;
    bool writes = str_eq(job->kind, STR("import_table")) && role_may_operation(role, job->kind);
    return role_may_table(role, job->database, job->table, MAY_READ) ||
           (writes && role_may_table(role, job->database, job->table, MAY_INSERT));
}

static int get_visible(struct call *call, struct store_view *view, struct str id,
                       struct arena *arena, struct job_record *ret)
{
    int err = job_record_get(view, id, arena, ret);
    return err == 0 && !may_see(call, ret) ? ERR_ABSENT : err;
}

int operation_get_job(struct call *call, const struct tape_node *args, struct buf *out)
{
    struct str id = tape_str(tape_get(args, STR("id")));
    struct store_view *view;
    struct job_record job;
    int err = store_view_open(call->core->store, STORE_SYS, &view);
    if (err < 0)
        return err;
    err = get_visible(call, view, id, &call->arena, &job);
    store_view_close(view);
    if (err == 0)
        job_record_show(&job, may_see_outcome(call, &job), out);
    return err == ERR_ABSENT ? fail_by_absence(call, id) : err;
}

/* ---- What reads many or writes, on a handler thread ----------------------------------------- */

struct asked {
    struct loop_work work; /* first */
    struct call *call;
    const struct tape_node *args;
    struct buf out;
    struct job_record job;
    int err;
};

static int ask(struct call *call, const struct tape_node *args, void (*run)(struct loop_work *work),
               void (*done)(struct loop_work *work))
{
    struct asked *asked = arena_zalloc(&call->arena, sizeof *asked);
    if (!asked)
        return ERR_NO_MEMORY;
    *asked = (struct asked){.work = {.run = run, .done = done}, .call = call, .args = args};
    if (loop_offload(call->core->loop, &asked->work) < 0)
        tool_fail(call, STR("The server is busy. Try again in a moment."));
    return CALL_LATER;
}

/* A comma goes before all but the first; those that he may not see are not there. */
static int show(struct call *call, struct store_view *view, struct str id, struct buf *out)
{
    struct job_record job;
    struct arena scratch;
    arena_init(&scratch, 0);
    int err = get_visible(call, view, id, &scratch, &job);
    if (err == 0 && out->n && out->p[out->n - 1] == '}')
        buf_add_char(out, ',');
    if (err == 0)
        job_record_show(&job, may_see_outcome(call, &job), out);
    arena_done(&scratch);
    return err == ERR_ABSENT ? 0 : err;
}

/* A page is of those that he may see: it is not shorter for those that he may not. */
static bool is_wanted(void *ctx, const struct job_record *job)
{
    const struct asked *asked = ctx;
    const struct tape_node *state = tape_get(asked->args, STR("state"));
    return may_see(asked->call, job) && (!state || job->state == job_state_read(tape_str(state)));
}

/* Ends early when it has become too large to be of use. */
static int list_in(struct asked *asked, struct store_view *view)
{
    const struct tape_node *limit = tape_get(asked->args, STR("limit"));
    struct buf *out = &asked->out;
    const struct str *ids;
    uint32_t n;
    int err = job_ids_list(view, is_wanted, asked, limit ? (uint32_t)limit->v.i : LIST_DEFAULT,
                           &asked->call->arena, &ids, &n);
    if (err < 0)
        return err;
    buf_add_lit(out, "{\"jobs\":[");
    for (uint32_t i = 0; err == 0 && i < n && out->n < LIST_BYTES_MAX; i++)
        err = show(asked->call, view, ids[i], out);
    buf_add_lit(out, "]}");
    return err == 0 && out->failed ? ERR_NO_MEMORY : err;
}

static void list(struct loop_work *work)
{
    struct asked *asked = (struct asked *)work;
    struct store_view *view;
    asked->err = store_view_open(asked->call->core->store, STORE_SYS, &view);
    if (asked->err < 0)
        return;
    asked->err = list_in(asked, view);
    store_view_close(view);
}

static void listed(struct loop_work *work)
{
    struct asked *asked = (struct asked *)work;
    struct buf out = asked->out; /* the answer may free the call and all in it */
    if (asked->err < 0)
        call_fail(asked->call, asked->err, STR_NONE, STR_NONE);
    else
        tool_succeed(asked->call, buf_str(&out));
    buf_done(&out);
}

int operation_list_jobs(struct call *call, const struct tape_node *args, struct buf *out)
{
    (void)out;
    return ask(call, args, list, listed);
}

static struct str id_of(const struct asked *asked)
{
    return tape_str(tape_get(asked->args, STR("id")));
}

static void cancel(struct loop_work *work)
{
    struct asked *asked = (struct asked *)work;
    struct call *call = asked->call;
    struct store_view *view;
    asked->err = store_view_open(call->core->store, STORE_SYS, &view);
    if (asked->err < 0)
        return;
    asked->err = get_visible(call, view, id_of(asked), &call->arena, &asked->job);
    store_view_close(view);
    if (asked->err == 0)
        asked->err = job_cancel(call->core->store, id_of(asked), &call->arena, &asked->job);
}

static void cancelled(struct loop_work *work)
{
    struct asked *asked = (struct asked *)work;
    struct call *call = asked->call;
    struct str id = id_of(asked);
    if (asked->err == ERR_ABSENT) {
        fail_by_absence(call, id);
    } else if (asked->err == ERR_CONFLICT) {
        tool_fail(call, arena_printf(&call->arena, "The job is over already: it is %s.",
                                     job_state_name(asked->job.state)));
    } else if (asked->err < 0) {
        call_fail(call, asked->err, STR_NONE, STR_NONE);
    } else {
        jobs_cancel_here(&call->core->jobs, id);
        tool_succeed(call, arena_printf(&call->arena, "{\"job\":\"" STR_FMT "\"}", STR_ARG(id)));
    }
}

int operation_cancel_job(struct call *call, const struct tape_node *args, struct buf *out)
{
    (void)out;
    return ask(call, args, cancel, cancelled);
}
