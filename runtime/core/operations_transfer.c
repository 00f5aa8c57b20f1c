/* core/operations_transfer.c - export_table and import_table, as jobs over the port of
 * file_transfer.h. */
#include "base/err.h"
#include "core/catalog.h"
#include "core/core_state.h"
#include "core/file_transfer.h"
#include "core/manage.h"
#include "core/operations.h"
#include "core/table_run.h"
#include "core/table_view.h"
#include "wire/json_write.h"

static bool flag_of(const struct tape_node *args, const char *name)
{
    const struct tape_node *value = tape_get(args, str_of(name));
    return value && value->kind == TAPE_TRUE;
}

/* The table as it is now, parsed for this thread. */
static int find_table(struct job *job, struct table *ret)
{
    struct manage m = {.store = job->core->store, .arena = &job->arena};
    struct schema_faults faults;
    struct store_table stored;
    int err = manage_find_table(&m, job->record.database, job->record.table, &stored);
    if (err < 0) {
        job->why = manage_why(&m, err);
        return err;
    }
    err = table_parse(stored.definition, &job->arena, ret, &faults);
    if (err < 0)
        return err == ERR_NO_MEMORY ? err : ERR_STORE_DAMAGED;
    ret->id = stored.id;
    ret->version = stored.version;
    ret->database = stored.database;
    ret->name = stored.name;
    return 0;
}

static void write_result(const struct file_transfer *t, bool imports, struct buf *out)
{
    buf_add_lit(out, "{\"name\":");
    json_write_str(out, t->name);
    buf_add_lit(out, ",\"rows\":");
    buf_add_u64(out, t->n_rows);
    if (imports) {
        buf_add_lit(out, ",\"bad\":");
        buf_add_u64(out, t->n_bad);
    }
    if (t->rejects.p) {
        buf_add_lit(out, ",\"rejects\":");
        json_write_str(out, t->rejects);
    }
    if (t->rejects_why.p) {
        buf_add_lit(out, ",\"rejectsError\":");
        json_write_str(out, t->rejects_why);
    }
    buf_add_char(out, '}');
}

static void write_details(const struct file_transfer *t, struct buf *out)
{
    if (!t->n_bad && !t->n_kept)
        return;
    buf_add_lit(out, "{\"bad\":");
    buf_add_u64(out, t->n_bad);
    buf_add_lit(out, ",\"kept\":");
    buf_add_u64(out, t->n_kept);
    buf_add_lit(out, ",\"first\":[");
    buf_add_str(out, buf_str(&t->faults));
    buf_add_lit(out, "]}");
}

static int run(struct job *job, bool imports)
{
    const struct core_transfer *port = job->core->config.transfer;
    struct table table;
    struct file_transfer t = {
        .store = job->core->store,
        .table = &table,
        .name = tape_str(tape_get(job->args, STR("name"))),
        .replaces = flag_of(job->args, "replace"),
        .skips_bad = flag_of(job->args, "skip_bad"),
        .progress = job_progress,
        .progress_ctx = job,
        .arena = &job->arena,
    };
    int err = find_table(job, &table);
    if (err < 0)
        return err;
    err = imports ? port->import_file(port->ctx, &t) : port->export_file(port->ctx, &t);
    if (err == 0) {
        write_result(&t, imports, &job->result);
    } else {
        job->why = t.why;
        write_details(&t, &job->details);
    }
    buf_done(&t.faults);
    return err;
}

static int run_import(struct job *job)
{
    return run(job, true);
}

static int run_export(struct job *job)
{
    return run(job, false);
}

/* Files have whole rows, so this is for who may read or write whole rows. */
static bool may_transfer(const struct table *table, bool imports, bool replaces)
{
    return table_may_wholly(table, imports ? MAY_INSERT : MAY_READ) &&
           (!replaces || table_may_wholly(table, MAY_UPDATE));
}

/* What can be told at once needs no job. */
static int start(struct call *call, const char *kind, const struct tape_node *args,
                 int (*run_job)(struct job *job))
{
    struct str database = tape_str(tape_get(args, STR("database"))),
               name = tape_str(tape_get(args, STR("table")));
    bool imports = run_job == run_import;
    const struct table *table =
        catalog_find_table_for(call->catalog, imports ? MAY_INSERT : MAY_READ, database, name);
    if (!call->core->config.transfer)
        tool_fail(call, STR("This server has no files."));
    else if (!table || !may_transfer(table, imports, imports && flag_of(args, "replace")))
        tool_fail(call, arena_printf(&call->arena, "There is no table " STR_FMT "." STR_FMT ".",
                                     STR_ARG(database), STR_ARG(name)));
    else
        return job_start(call, kind, args, run_job);
    return CALL_LATER;
}

int operation_export_table(struct call *call, const struct tape_node *args, struct buf *out)
{
    (void)out;
    return start(call, "export_table", args, run_export);
}

int operation_import_table(struct call *call, const struct tape_node *args, struct buf *out)
{
    (void)out;
    return start(call, "import_table", args, run_import);
}
