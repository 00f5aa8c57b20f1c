/* core/operations_change.c - operations that change tables and indexes.
 *
 * All of them write and wait for it, so none runs on the loop. What goes by the rows of a table is
 * a job; the rest is answered when it is done.
 */
#include "base/err.h"
#include "core/catalog.h"
#include "core/core_state.h"
#include "core/list_changed.h"
#include "core/manage.h"
#include "core/operations.h"
#include "core/table_run.h"
#include "wire/json_write.h"

/* ---- Arguments and outcomes ----------------------------------------------------------------- */

static struct str text_of(const struct tape_node *args, const char *name)
{
    return tape_str(tape_get(args, str_of(name)));
}

static struct str raw_of(const struct tape_node *args, const char *name, struct arena *arena)
{
    struct buf text = {0};
    tape_write(tape_get(args, str_of(name)), &text);
    struct str copy = arena_buf(arena, &text);
    buf_done(&text);
    return copy;
}

static void write_names(const struct tape_node *args, const char *const *names, struct buf *out)
{
    for (char before = '{'; *names; names++, before = ',') {
        buf_printf(out, "%c\"%s\":", before, *names);
        json_write_str(out, text_of(args, *names));
    }
    buf_add_char(out, '}');
}

/* A sentence with all faults of a definition. */
static struct str explain(const struct manage *m, int err)
{
    struct buf text = {0};
    buf_add_str(&text, manage_why(m, err));
    for (uint32_t i = 1; i < m->faults.n; i++)
        buf_printf(&text, "; %s: %s, expected %s", m->faults.v[i].pointer, m->faults.v[i].keyword,
                   m->faults.v[i].expected);
    struct str copy = arena_buf(m->arena, &text);
    buf_done(&text);
    return copy.p ? copy : str_of(err_text(err));
}

/* ---- Answered when done --------------------------------------------------------------------- */

struct change {
    struct loop_work work; /* first */
    struct call *call;
    const struct tape_node *args;
    int (*run)(struct manage *m, const struct tape_node *args, struct buf *out);
    struct manage manage;
    struct buf out;
    int err;
};

static void run_change(struct loop_work *work)
{
    struct change *c = (struct change *)work;
    c->err = c->run(&c->manage, c->args, &c->out);
    if (c->err == 0 && c->out.failed)
        c->err = ERR_NO_MEMORY;
}

static bool is_ours(int err)
{
    return err == ERR_NO_MEMORY || err == ERR_INTERNAL || err == ERR_IO || err == ERR_STORE_DAMAGED;
}

static void end_change(struct loop_work *work)
{
    struct change *c = (struct change *)work;
    struct call *call = c->call;
    if (c->err == 0)
        tool_succeed(call, buf_str(&c->out));
    else if (is_ours(c->err))
        call_fail(call, c->err, STR_NONE, STR_NONE);
    else
        tool_fail(call, arena_printf(&call->arena, "Nothing was changed: " STR_FMT ".",
                                     STR_ARG(explain(&c->manage, c->err))));
}

static void end_and_free(struct loop_work *work)
{
    struct buf out = ((struct change *)work)->out; /* the answer may free the call and all in it */
    if (((struct change *)work)->err == 0)
        list_changed_here(((struct change *)work)->call->core);
    end_change(work);
    buf_done(&out);
}

int operation_change(struct call *call, const struct tape_node *args,
                     int (*run)(struct manage *m, const struct tape_node *args, struct buf *out))
{
    struct change *c = arena_zalloc(&call->arena, sizeof *c);
    if (!c)
        return ERR_NO_MEMORY;
    c->work = (struct loop_work){.run = run_change, .done = end_and_free};
    c->call = call;
    c->args = args;
    c->run = run;
    c->manage = (struct manage){.store = call->core->store, .arena = &call->arena};
    if (loop_offload(call->core->loop, &c->work) < 0)
        tool_fail(call, STR("The server is busy. Nothing was changed; try again in a moment."));
    return CALL_LATER;
}

static const char *const table_names[] = {"database", "table", NULL};
static const char *const index_names[] = {"database", "table", "index", NULL};

static int create_table(struct manage *m, const struct tape_node *args, struct buf *out)
{
    struct str definition = raw_of(args, "definition", m->arena);
    if (!definition.p)
        return ERR_NO_MEMORY;
    write_names(args, table_names, out);
    return manage_create_table(m, text_of(args, "database"), text_of(args, "table"), definition);
}

static int drop_table(struct manage *m, const struct tape_node *args, struct buf *out)
{
    write_names(args, table_names, out);
    return manage_drop_table(m, text_of(args, "database"), text_of(args, "table"));
}

static int drop_index(struct manage *m, const struct tape_node *args, struct buf *out)
{
    write_names(args, index_names, out);
    return manage_drop_index(m, text_of(args, "database"), text_of(args, "table"),
                             text_of(args, "index"));
}

int operation_create_table(struct call *call, const struct tape_node *args, struct buf *out)
{
    (void)out;
    return operation_change(call, args, create_table);
}

int operation_drop_table(struct call *call, const struct tape_node *args, struct buf *out)
{
    (void)out;
    return operation_change(call, args, drop_table);
}

int operation_drop_index(struct call *call, const struct tape_node *args, struct buf *out)
{
    (void)out;
    return operation_change(call, args, drop_index);
}

/* ---- Jobs ----------------------------------------------------------------------------------- */

static struct manage manage_for(struct job *job)
{
    return (struct manage){
        .store = job->core->store, .arena = &job->arena, .progress = job_progress, .ctx = job};
}

static void write_broken(const struct manage_broken *broken, struct buf *out)
{
    buf_add_lit(out, "{\"rows\":");
    buf_add_u64(out, broken->n);
    buf_add_lit(out, ",\"first\":[");
    for (uint32_t i = 0; i < broken->n && i < MANAGE_BROKEN_SHOWN; i++) {
        const struct schema_fault *fault = &broken->v[i].fault;
        buf_printf(out, i ? ",{\"key\":" : "{\"key\":");
        buf_add_str(out, broken->v[i].key);
        buf_add_lit(out, ",\"pointer\":");
        json_write_str(out, str_of(fault->pointer));
        buf_add_lit(out, ",\"keyword\":");
        json_write_str(out, str_of(fault->keyword));
        buf_add_lit(out, ",\"expected\":");
        json_write_str(out, str_of(fault->expected));
        buf_add_char(out, '}');
    }
    buf_add_lit(out, "]}");
}

static int tell_failure(struct job *job, const struct manage *m, int err)
{
    job->why = manage_why(m, err);
    if (err < 0 && m->broken.n) {
        write_broken(&m->broken, &job->details);
    } else if (err < 0 && m->faults.n) {
        buf_add_lit(&job->details, "{\"errors\":");
        schema_faults_write(&m->faults, "", &job->details);
        buf_add_char(&job->details, '}');
    }
    return err;
}

static int run_alter_table(struct job *job)
{
    struct manage m = manage_for(job);
    struct str definition = raw_of(job->args, "definition", &job->arena);
    if (!definition.p)
        return ERR_NO_MEMORY;
    int err = manage_alter_table(&m, job->record.database, job->record.table, definition);
    if (err < 0)
        return tell_failure(job, &m, err);
    list_changed_here(job->core);
    buf_add_lit(&job->result, "{\"rows\":");
    buf_add_u64(&job->result, job->record.done);
    buf_add_char(&job->result, '}');
    return 0;
}

static int run_create_index(struct job *job)
{
    struct manage m = manage_for(job);
    struct str name, definition = raw_of(job->args, "index", &job->arena);
    if (!definition.p)
        return ERR_NO_MEMORY;
    int err = manage_create_index(&m, job->record.database, job->record.table, definition, &name);
    if (err < 0)
        return tell_failure(job, &m, err);
    list_changed_here(job->core);
    buf_add_lit(&job->result, "{\"index\":");
    json_write_str(&job->result, name);
    buf_add_char(&job->result, '}');
    return 0;
}

/* What can be told at once needs no job. The structure of tables is the matter of who may call the
 * operation, whatever he may do with their rows. */
static bool has_table(struct call *call, const struct tape_node *args)
{
    struct str database = text_of(args, "database"), name = text_of(args, "table");
    if (catalog_find_table(catalog_of_all(call->catalog), database, name))
        return true;
    tool_fail(call, arena_printf(&call->arena, "There is no table " STR_FMT "." STR_FMT ".",
                                 STR_ARG(database), STR_ARG(name)));
    return false;
}

int operation_alter_table(struct call *call, const struct tape_node *args, struct buf *out)
{
    (void)out;
    if (!has_table(call, args))
        return CALL_LATER;
    return job_start(call, "alter_table", args, run_alter_table);
}

int operation_create_index(struct call *call, const struct tape_node *args, struct buf *out)
{
    (void)out;
    if (!has_table(call, args))
        return CALL_LATER;
    return job_start(call, "create_index", args, run_create_index);
}
