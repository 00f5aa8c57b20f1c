/* core/table_write.c - create, update and delete.
 *
 * Writes go by store_submit. Each names the version of the table by which it was checked; if the
 * table changed meanwhile it is checked by the new one. An update reads the row, changes it and
 * writes it under the condition that nobody else wrote it meanwhile; it starts again if somebody
 * did, for a limited time.
 */
#include "core/table_run_parts.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/limits.h"
#include "core/core_state.h"
#include "core/row_merge.h"

static void submit(struct run *run, enum store_op_kind kind, uint64_t if_version,
                   const struct tape_node *row, void (*done)(struct store_write *, int))
{
    run->op = (struct store_op){.kind = kind,
                                .if_version = if_version,
                                .table = run->table->id,
                                .table_version = run->table->version,
                                .key = run->key,
                                .row = row};
    run->write =
        (struct store_write){.space = STORE_DATA, .ops = &run->op, .n_ops = 1, .done = done};
    store_submit(run->call->core->store, &run->write);
}

static void created(struct store_write *write, int err)
{
    struct run *run = (struct run *)write;
    if (err == ERR_STALE)
        run_again(run);
    else if (err == ERR_EXISTS)
        run_fail_about_key(run, "There is already a row with", "in");
    else if (err == ERR_ABSENT)
        tool_fail(run->call, STR("The table does not exist any more."));
    else if (err < 0)
        run_fail_by(run, err);
    else
        run_succeed_with_row(run, run->op.row, run->op.ret_seq);
}

int run_create(struct run *run)
{
    struct schema_faults faults = {.n = 1};
    int err = table_row_key(run->table, run->args, &run->call->arena, &run->key, &faults);
    if (err == ERR_PARAMS)
        return run_explain(run, "/params/arguments", &faults);
    if (err < 0)
        return err;
    submit(run, STORE_PUT_ROW, STORE_MISSING, run->args, created);
    return CALL_LATER;
}

static int start_update(struct run *run);

static void updated(struct store_write *write, int err)
{
    struct run *run = (struct run *)write;
    if (err == ERR_STALE) {
        run_again(run);
        return;
    }
    /* by a version of the client's the second reading decides, however late */
    bool decides = tape_get(run->args, STR("if_version")) != NULL;
    if (err == ERR_CONFLICT && (decides || clock_mono_ms() - run->started_ms < UPDATE_MS_MAX))
        err = start_update(run);
    else if (err == 0)
        run_succeed_with_row(run, run->op.row, run->op.ret_seq);
    if (err == ERR_ABSENT)
        run_fail_about_key(run, "There is no row with", "in");
    else if (err < 0)
        run_fail_by(run, err);
}

static struct str tell_faults(struct call *call, const struct schema_faults *faults)
{
    struct buf text = {0};
    buf_add_lit(&text, "The row would not fit its schema: ");
    for (uint32_t i = 0; i < faults->n; i++)
        buf_printf(&text, "%s%s: %s, expected %s", i ? "; " : "", faults->v[i].pointer,
                   faults->v[i].keyword, faults->v[i].expected);
    struct str told = arena_buf(&call->arena, &text);
    buf_done(&text);
    return told;
}

/* Whether the row has the version that the client goes by; told if not. */
static bool is_as_expected(struct run *run, uint64_t version)
{
    const struct tape_node *wanted = tape_get(run->args, STR("if_version"));
    if (!wanted || tape_num(wanted) == (double)version)
        return true;
    const struct table *t = run->table;
    struct buf key = {.limit = 2 * KEY_BYTES_MAX};
    struct str text = run_key_text(run, &key);
    struct str sentence = arena_printf(&run->call->arena,
                                       "The row " STR_FMT " of " STR_FMT "." STR_FMT
                                       " has version %llu, not %.0f. Nothing was changed.",
                                       STR_ARG(text), STR_ARG(t->database), STR_ARG(t->name),
                                       (unsigned long long)version, tape_num(wanted));
    buf_done(&key);
    tool_fail(run->call, sentence);
    return false;
}

static int start_update(struct run *run)
{
    struct store_row row;
    const struct tape_node *merged, *changes = tape_get(run->args, STR("changes"));
    struct schema_faults faults;
    int err = run_read_row(run, &row);
    if (err == 0 && !is_as_expected(run, row.version))
        return 0;
    if (err == 0)
        err = row_merge(row.row, changes, &run->call->arena, &merged);
    if (err < 0)
        return err;
    err = table_check_row(run->table, merged, &faults);
    if (err == ERR_PARAMS || err == ERR_LIMIT) {
        tool_fail(run->call, tell_faults(run->call, &faults));
        return 0;
    }
    if (err < 0)
        return err;
    submit(run, STORE_PUT_ROW, row.version, merged, updated);
    return 0;
}

/* The primary key stands among the changes only if rows may have any attribute. */
static int check_changes(struct run *run)
{
    struct str key = run->table->attributes[run->table->key].name;
    struct schema_faults faults = {.n = 1};
    if (!tape_get(tape_get(run->args, STR("changes")), key))
        return 0;
    schema_fault_within(&faults.v[0], key);
    schema_fault_set(&faults.v[0], "primaryKey", "any attribute but the primary key");
    return run_explain(run, "/params/arguments/changes", &faults);
}

int run_update(struct run *run)
{
    int err = run_take_id(run);
    if (err == 0)
        err = check_changes(run);
    if (err < 0)
        return err;
    run->started_ms = clock_mono_ms();
    err = start_update(run);
    if (err == ERR_ABSENT)
        run_fail_about_key(run, "There is no row with", "in");
    else if (err < 0)
        run_fail_by(run, err);
    return CALL_LATER;
}

static void deleted(struct store_write *write, int err)
{
    struct run *run = (struct run *)write;
    if (err == ERR_STALE)
        run_again(run);
    else if (err == ERR_ABSENT)
        tool_succeed(run->call, STR("{\"deleted\":false}"));
    else if (err < 0)
        run_fail_by(run, err);
    else
        tool_succeed(run->call, STR("{\"deleted\":true}"));
}

int run_delete(struct run *run)
{
    int err = run_take_id(run);
    if (err < 0)
        return err;
    submit(run, STORE_DELETE_ROW, STORE_PRESENT, NULL, deleted);
    return CALL_LATER;
}
