/* core/table_run.c - get, search, create, update and delete on the rows of one table.
 *
 * Reads happen at once on the loop (a long search on a handler thread), writes by store_submit. An
 * update reads the row, merges the changes and writes it under the condition that nobody else wrote
 * it meanwhile; it starts again if somebody did, for a limited time.
 */
#include "core/table_run.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/log.h"
#include "core/core_state.h"
#include "core/dispatch.h"
#include "core/row_merge.h"
#include "core/table_search.h"
#include "wire/json_write.h"

struct run {
    struct store_write write; /* first, so that `done` finds its way back */
    struct store_op op;
    struct search search;
    struct call *call;
    const struct table *table;
    const struct tape_node *args;
    struct str key;
    int64_t started_ms; /* of an update */
};

/* ---- Failing -------------------------------------------------------------------------------- */

static struct str key_text(struct run *run, struct buf *scratch)
{
    buf_clear(scratch);
    if (run->table->key_type == KEY_STRING)
        json_write_str(scratch, run->key);
    else
        key_write_text(run->table->key_type, run->key, scratch);
    return buf_str(scratch);
}

/* "No row with code \"FR\" in geo.countries." */
static void fail_about_key(struct run *run, const char *before, const char *after)
{
    const struct table *t = run->table;
    struct buf key = {.limit = 2 * KEY_BYTES_MAX};
    struct str text = key_text(run, &key), name = t->attributes[t->key].name;
    struct str sentence = arena_printf(
        &run->call->arena, "%s " STR_FMT " " STR_FMT " %s " STR_FMT "." STR_FMT ".", before,
        STR_ARG(name), STR_ARG(text), after, STR_ARG(t->database), STR_ARG(t->name));
    buf_done(&key);
    tool_fail(run->call, sentence);
}

static bool is_for_the_model(int err)
{
    return err == ERR_LIMIT || err == ERR_STORE_FULL || err == ERR_STORE_READ_ONLY ||
           err == ERR_CONFLICT;
}

/* What went wrong in the store: the model may act on some of it, the rest is our fault. */
static void fail_by(struct run *run, int err)
{
    struct call *call = run->call;
    if (err == ERR_STORE_FULL || err == ERR_STORE_READ_ONLY)
        log_error("a write failed: %s", err_text(err));
    if (err == ERR_LIMIT)
        tool_fail(call, STR("The row is too large to be stored."));
    else if (err == ERR_BUSY)
        tool_fail(call, STR("The server is busy. Nothing was changed; try again in a moment."));
    else if (is_for_the_model(err))
        tool_fail(call, arena_printf(&call->arena, "%s. Nothing was changed.", err_text(err)));
    else
        call_fail(call, err, STR_NONE, STR_NONE);
}

static int explain_faults(struct call *call, const char *prefix, const struct schema_faults *faults)
{
    struct str data = call_errors_data(call, prefix, faults);
    return call_explain(call, ERR_PARAMS, STR_NONE, data);
}

/* The key that the arguments name. */
static int take_id(struct run *run)
{
    struct schema_faults faults;
    const struct tape_node *id = tape_get(run->args, STR("id"));
    int err = table_value_key(run->table, id, &run->call->arena, &run->key, &faults);
    return err == ERR_PARAMS ? explain_faults(run->call, "/params/arguments/id", &faults) : err;
}

/* ---- Answering ------------------------------------------------------------------------------ */

static void succeed_with_row(struct run *run, const struct tape_node *row, uint64_t version)
{
    struct buf json = {0};
    tape_write(row, &json);
    if (json.failed)
        call_fail(run->call, ERR_NO_MEMORY, STR_NONE, STR_NONE);
    else
        tool_succeed_with_version(run->call, buf_str(&json), version);
    buf_done(&json);
}

static int read_row(struct run *run, struct store_row *ret)
{
    struct store_view *view;
    int err = store_view_open(run->call->core->store, STORE_DATA, &view);
    if (err < 0)
        return err;
    err = store_get_row(view, run->table->id, run->key, &run->call->arena, ret);
    store_view_close(view);
    return err;
}

/* ---- get ------------------------------------------------------------------------------------ */

static int run_get(struct run *run)
{
    struct store_row row;
    int err = take_id(run);
    if (err < 0)
        return err;
    err = read_row(run, &row);
    if (err == ERR_ABSENT)
        fail_about_key(run, "There is no row with", "in");
    else if (err < 0)
        fail_by(run, err);
    else
        succeed_with_row(run, row.row, row.version);
    return CALL_LATER;
}

/* ---- search --------------------------------------------------------------------------------- */

int table_search_json(struct call *call, struct search *s, struct str *ret)
{
    struct buf json = {0};
    buf_add_lit(&json, "{\"rows\":[");
    buf_add_str(&json, buf_str(&s->rows));
    buf_add_char(&json, ']');
    if (s->cursor.p) {
        buf_add_lit(&json, ",\"nextCursor\":");
        json_write_str(&json, s->cursor);
    }
    if (s->query.total) {
        buf_add_lit(&json, ",\"total\":");
        buf_add_u64(&json, s->n_total);
    }
    buf_add_char(&json, '}');
    *ret = arena_buf(&call->arena, &json);
    buf_done(&json);
    return ret->p ? 0 : ERR_NO_MEMORY;
}

static void fail_by_time(struct run *run)
{
    const struct table *t = run->table;
    struct str key = t->attributes[t->key].name;
    tool_fail(run->call,
              arena_printf(&run->call->arena,
                           "The search was stopped after %d seconds. Narrow it down: name the "
                           "primary key (" STR_FMT ") in `where`, or ask for fewer rows by a "
                           "smaller `limit`.",
                           SCAN_MS_MAX / 1000, STR_ARG(key)));
}

static void fail_by_rows(struct run *run)
{
    const struct table *t = run->table;
    struct str key = t->attributes[t->key].name, advice = run->search.query.plan.advice;
    struct str index =
        advice.p ? arena_printf(&run->call->arena, " An index on " STR_FMT " would serve it.",
                                STR_ARG(advice))
                 : STR("");
    tool_fail(run->call,
              arena_printf(
                  &run->call->arena,
                  "The search was stopped: it had looked at %llu rows before its page was "
                  "full." STR_FMT " Or narrow it down by the primary key (" STR_FMT ") in `where`.",
                  (unsigned long long)run->search.n_looked - 1, STR_ARG(index), STR_ARG(key)));
}

static int search_found(struct search *s)
{
    struct run *run = s->ctx;
    struct str json;
    int err = table_search_json(run->call, s, &json);
    return err < 0 ? err : tool_write(run->call, json);
}

static void search_done(struct search *s, int err)
{
    struct run *run = s->ctx;
    search_free(s);
    if (err == ERR_TIMED_OUT)
        fail_by_time(run);
    else if (err == ERR_LIMIT)
        fail_by_rows(run);
    else if (err == ERR_TOO_LARGE)
        tool_fail(run->call, STR("The rows cannot be ordered like this: a value is too long. Order "
                                 "by another attribute."));
    else if (err < 0)
        fail_by(run, err);
    else
        call_finish_written(run->call);
}

static int run_search(struct run *run)
{
    run->search = (struct search){
        .call = run->call,
        .table = run->table,
        .found = search_found,
        .done = search_done,
        .ctx = run,
    };
    int err = table_query_read(run->call, run->table, run->args, &run->search.query);
    if (err < 0)
        return err;
    err = search_start(&run->search);
    if (err != SEARCH_LATER)
        search_done(&run->search, err);
    return CALL_LATER;
}

/* ---- Writing -------------------------------------------------------------------------------- */

static void submit(struct run *run, enum store_op_kind kind, uint64_t if_version,
                   const struct tape_node *row, void (*done)(struct store_write *, int))
{
    run->op = (struct store_op){.kind = kind,
                                .if_version = if_version,
                                .table = run->table->id,
                                .key = run->key,
                                .row = row};
    run->write =
        (struct store_write){.space = STORE_DATA, .ops = &run->op, .n_ops = 1, .done = done};
    store_submit(run->call->core->store, &run->write);
}

static void created(struct store_write *write, int err)
{
    struct run *run = (struct run *)write;
    if (err == ERR_EXISTS)
        fail_about_key(run, "There is already a row with", "in");
    else if (err == ERR_ABSENT)
        tool_fail(run->call, STR("The table does not exist any more."));
    else if (err < 0)
        fail_by(run, err);
    else
        succeed_with_row(run, run->op.row, run->op.ret_seq);
}

static int run_create(struct run *run)
{
    struct schema_faults faults = {.n = 1};
    int err = table_row_key(run->table, run->args, &run->call->arena, &run->key, &faults);
    if (err == ERR_PARAMS)
        return explain_faults(run->call, "/params/arguments", &faults);
    if (err < 0)
        return err;
    submit(run, STORE_PUT_ROW, STORE_MISSING, run->args, created);
    return CALL_LATER;
}

static int start_update(struct run *run);

static void updated(struct store_write *write, int err)
{
    struct run *run = (struct run *)write;
    /* by a version of the client's the second reading decides, however late */
    bool decides = tape_get(run->args, STR("if_version")) != NULL;
    if (err == ERR_CONFLICT && (decides || clock_mono_ms() - run->started_ms < UPDATE_MS_MAX))
        err = start_update(run);
    else if (err == 0)
        succeed_with_row(run, run->op.row, run->op.ret_seq);
    if (err == ERR_ABSENT)
        fail_about_key(run, "There is no row with", "in");
    else if (err < 0)
        fail_by(run, err);
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
    struct str text = key_text(run, &key);
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
    int err = read_row(run, &row);
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
    return explain_faults(run->call, "/params/arguments/changes", &faults);
}

static int run_update(struct run *run)
{
    int err = take_id(run);
    if (err == 0)
        err = check_changes(run);
    if (err < 0)
        return err;
    run->started_ms = clock_mono_ms();
    err = start_update(run);
    if (err == ERR_ABSENT)
        fail_about_key(run, "There is no row with", "in");
    else if (err < 0)
        fail_by(run, err);
    return CALL_LATER;
}

static void deleted(struct store_write *write, int err)
{
    struct run *run = (struct run *)write;
    if (err == ERR_ABSENT)
        tool_succeed(run->call, STR("{\"deleted\":false}"));
    else if (err < 0)
        fail_by(run, err);
    else
        tool_succeed(run->call, STR("{\"deleted\":true}"));
}

static int run_delete(struct run *run)
{
    int err = take_id(run);
    if (err < 0)
        return err;
    submit(run, STORE_DELETE_ROW, STORE_PRESENT, NULL, deleted);
    return CALL_LATER;
}

/* ---- All ------------------------------------------------------------------------------------ */

static int (*const runners[VERB_N])(struct run *run) = {
    [VERB_GET] = run_get,       [VERB_SEARCH] = run_search, [VERB_CREATE] = run_create,
    [VERB_UPDATE] = run_update, [VERB_DELETE] = run_delete,
};

int table_run(struct call *call, const struct catalog_tool *tool, const struct tape_node *args)
{
    struct run *run = arena_zalloc(&call->arena, sizeof *run);
    if (!run)
        return ERR_NO_MEMORY;
    run->call = call;
    run->table = tool->table;
    run->args = args;
    return runners[tool->verb](run);
}
