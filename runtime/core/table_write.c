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
#include "core/row_prepare.h"

/* Does its JSON have more bytes than a client may write? */
static bool is_too_large(const struct run *run, const struct tape_node *row)
{
    struct buf text = {.limit = run->call->core->config.row_bytes};
    if (!text.limit || !row)
        return false;
    tape_write(row, &text);
    bool failed = text.failed;
    buf_done(&text);
    return failed;
}

static void submit(struct run *run, enum store_op_kind kind, uint64_t if_version,
                   const struct tape_node *row, void (*done)(struct store_write *, int))
{
    if (is_too_large(run, row)) {
        tool_fail(run->call, arena_printf(&run->call->arena,
                                          "The row is too large: its JSON may have %u bytes at "
                                          "most. Nothing was changed.",
                                          run->call->core->config.row_bytes));
        return;
    }
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

/* An index that clients may hear of; NULL: another, or one that is newer than the catalog. */
static const struct store_index *find_index(const struct table *t, uint32_t id)
{
    for (uint32_t i = 0; i < t->n_indexes; i++)
        if (t->indexes[i].id == id && table_shows_index(t, &t->indexes[i]))
            return &t->indexes[i];
    return NULL;
}

/* " by_region (region, -population)" */
static struct str index_text(struct run *run)
{
    const struct store_index *index = find_index(run->table, run->op.ret_index);
    struct buf text = {0};
    if (!index)
        return STR("");
    buf_printf(&text, " " STR_FMT " (", STR_ARG(index->name));
    for (uint32_t i = 0; i < index->n_parts; i++)
        buf_printf(&text, "%s%s" STR_FMT, i ? ", " : "", index->parts[i].descending ? "-" : "",
                   STR_ARG(index->parts[i].attribute));
    buf_add_char(&text, ')');
    struct str told = arena_buf(&run->call->arena, &text);
    buf_done(&text);
    return told;
}

/* The write was refused because of an index: false if it was not. */
static bool fail_by_index(struct run *run, int err)
{
    const char *why = err == ERR_EXISTS   ? "Another row has the same values in the unique index"
                      : err == ERR_LIMIT  ? "The row's values are too long for the index"
                      : err == ERR_PARAMS ? "The row's values are not of the types of the index"
                                          : NULL;
    if (!why || !run->op.ret_index)
        return false;
    tool_fail(run->call,
              arena_printf(&run->call->arena,
                           "%s" STR_FMT " of " STR_FMT "." STR_FMT ". Nothing was changed.", why,
                           STR_ARG(index_text(run)), STR_ARG(run->table->database),
                           STR_ARG(run->table->name)));
    return true;
}

static void created(struct store_write *write, int err)
{
    struct run *run = (struct run *)write;
    if (err < 0 && fail_by_index(run, err))
        return;
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

/* The whole row as it is to be stored, with its key. 0 or an error, explained. */
static int prepare_created(struct run *run, const struct tape_node **ret)
{
    const struct table *t = run->table;
    struct arena *arena = &run->call->arena;
    struct schema_faults faults = {.n = 1};
    int err = row_check_given(t, ROW_CREATED, run->args, &faults);
    if (err == 0)
        err = row_prepare(t, ROW_CREATED, run->args, NULL, arena, ret, &faults);
    /* what the input schema has seen is the row itself, if nothing was added */
    if (err == 0 && *ret != run->args && (err = table_check_row(t, *ret, &faults)) < 0)
        row_hide_faults(t, &faults);
    if (err == 0)
        err = table_row_key(t, *ret, arena, &run->key, &faults);
    return err == ERR_PARAMS || err == ERR_LIMIT ? run_explain(run, "/params/arguments", &faults)
                                                 : err;
}

int run_create(struct run *run)
{
    const struct tape_node *row;
    int err = prepare_created(run, &row);
    if (err < 0)
        return err;
    submit(run, STORE_PUT_ROW, STORE_MISSING, row, created);
    return CALL_LATER;
}

/* ---- update --------------------------------------------------------------------------------- */

static int start_update(struct run *run);

static void updated(struct store_write *write, int err)
{
    struct run *run = (struct run *)write;
    if (err < 0 && fail_by_index(run, err))
        return;
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

/* The row that the arguments make of the one that is there. */
static int make_row(struct run *run, const struct tape_node *before, const struct tape_node **ret)
{
    const struct tape_node *changes = tape_get(run->args, STR("changes")), *merged;
    struct arena *arena = &run->call->arena;
    struct schema_faults faults; /* of imports only */
    if (!changes)
        return row_prepare(run->table, ROW_REPLACED, tape_get(run->args, STR("row")), before, arena,
                           ret, &faults);
    int err = row_merge(before, changes, arena, &merged);
    return err < 0 ? err : row_prepare(run->table, ROW_CHANGED, merged, NULL, arena, ret, &faults);
}

static int start_update(struct run *run)
{
    struct store_row before;
    const struct tape_node *row;
    struct schema_faults faults;
    int err = call_is_cancelled(run->call); /* it may have been overtaken for a while */
    if (err == 0)
        err = run_read_row(run, &before);
    if (err == 0 && !is_as_expected(run, before.version))
        return 0;
    if (err == 0)
        err = make_row(run, before.row, &row);
    if (err < 0)
        return err;
    err = table_check_row(run->table, row, &faults);
    if (err == ERR_PARAMS || err == ERR_LIMIT) {
        row_hide_faults(run->table, &faults);
        tool_fail(run->call, tell_faults(run->call, &faults));
        return 0;
    }
    if (err < 0)
        return err;
    submit(run, STORE_PUT_ROW, before.version, row, updated);
    return 0;
}

/* The primary key stands among the changes only if rows may have any attribute. */
static int check_changes(const struct run *run, const struct tape_node *changes,
                         struct schema_faults *faults)
{
    struct str key = run->table->attributes[run->table->key].name;
    if (!tape_get(changes, key))
        return row_check_given(run->table, ROW_CHANGED, changes, faults);
    *faults = (struct schema_faults){.n = 1};
    schema_fault_within(&faults->v[0], key);
    return schema_fault_set(&faults->v[0], "primaryKey", "any attribute but the primary key");
}

/* A whole row may have its key or leave it out. */
static int check_whole(const struct run *run, const struct tape_node *row,
                       struct schema_faults *faults)
{
    struct str name = run->table->attributes[run->table->key].name, key;
    const struct tape_node *value = tape_get(row, name);
    int err = value ? table_value_key(run->table, value, &run->call->arena, &key, faults) : 0;
    if (err == ERR_NO_MEMORY)
        return err;
    if (!value || (err == 0 && str_eq(key, run->key)))
        return row_check_given(run->table, ROW_REPLACED, row, faults);
    *faults = (struct schema_faults){.n = 1};
    schema_fault_within(&faults->v[0], name);
    return schema_fault_set(&faults->v[0], "primaryKey", "the same as id, or none");
}

/* 0 or an error, explained. */
static int check_update(struct run *run)
{
    const struct tape_node *changes = tape_get(run->args, STR("changes"));
    const struct tape_node *row = tape_get(run->args, STR("row"));
    struct schema_faults faults = {.n = 1};
    if (!changes == !row) {
        schema_fault_set(&faults.v[0], "oneOf", "either changes or row%s", row ? ", not both" : "");
        return run_explain(run, "/params/arguments", &faults);
    }
    int err = row ? check_whole(run, row, &faults) : check_changes(run, changes, &faults);
    const char *prefix = row ? "/params/arguments/row" : "/params/arguments/changes";
    return err == ERR_PARAMS ? run_explain(run, prefix, &faults) : err;
}

int run_update(struct run *run)
{
    int err = run_take_id(run);
    if (err == 0)
        err = check_update(run);
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

/* ---- delete --------------------------------------------------------------------------------- */

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
