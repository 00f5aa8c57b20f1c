/* core/table_run.c - runs the tools of one table: what is common to them, get and search.
 *
 * Reads happen at once on the loop (a long search on a handler thread). Writes are in
 * table_write.c.
 */
#include "base/err.h"
#include "base/limits.h"
#include "base/log.h"
#include "core/core_state.h"
#include "core/dispatch.h"
#include "core/table_run_parts.h"
#include "wire/json_write.h"

/* ---- Failing -------------------------------------------------------------------------------- */

struct str run_key_text(struct run *run, struct buf *scratch)
{
    buf_clear(scratch);
    if (run->table->key_type == KEY_STRING)
        json_write_str(scratch, run->key);
    else
        key_write_text(run->table->key_type, run->key, scratch);
    return buf_str(scratch);
}

void run_fail_about_key(struct run *run, const char *before, const char *after)
{
    const struct table *t = run->table;
    struct buf key = {.limit = 2 * KEY_BYTES_MAX};
    struct str text = run_key_text(run, &key), name = t->attributes[t->key].name;
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

void run_fail_by(struct run *run, int err)
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

int run_explain(struct run *run, const char *prefix, const struct schema_faults *faults)
{
    struct str data = call_errors_data(run->call, prefix, faults);
    return call_explain(run->call, ERR_PARAMS, STR_NONE, data);
}

int run_take_id(struct run *run)
{
    struct schema_faults faults;
    const struct tape_node *id = tape_get(run->args, STR("id"));
    int err = table_value_key(run->table, id, &run->call->arena, &run->key, &faults);
    return err == ERR_PARAMS ? run_explain(run, "/params/arguments/id", &faults) : err;
}

/* ---- Answering ------------------------------------------------------------------------------ */

void run_succeed_with_row(struct run *run, const struct tape_node *row, uint64_t version)
{
    struct buf json = {0};
    table_write_row(run->table, row, version, NULL, &json);
    if (json.failed)
        call_fail(run->call, ERR_NO_MEMORY, STR_NONE, STR_NONE);
    else
        tool_succeed_with_version(run->call, buf_str(&json), version);
    buf_done(&json);
}

int run_read_row(struct run *run, struct store_row *ret)
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
    int err = run_take_id(run);
    if (err < 0)
        return err;
    err = run_read_row(run, &row);
    if (err == ERR_ABSENT)
        run_fail_about_key(run, "There is no row with", "in");
    else if (err < 0)
        run_fail_by(run, err);
    else
        run_succeed_with_row(run, row.row, row.version);
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
        tool_fail(run->call,
                  arena_printf(&run->call->arena,
                               "The rows cannot be ordered like this: one of them has a value of "
                               "more than %d bytes there. Order by another attribute.",
                               INDEX_ENTRY_BYTES));
    else if (err < 0)
        run_fail_by(run, err);
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
    run->verb = tool->verb;
    run->args = args;
    return runners[run->verb](run);
}

static const struct catalog_tool *find_tool(const struct catalog *c, uint32_t table,
                                            enum table_verb verb)
{
    for (uint32_t i = 0; i < c->n_tools; i++)
        if (c->tools[i].table->id == table && c->tools[i].verb == verb)
            return &c->tools[i];
    return NULL;
}

/* By the table as it is now. ERR_ABSENT: it is gone; other errors are explained. */
static int check_again(struct run *run)
{
    struct schema_faults faults;
    uint32_t table = run->table->id;
    int err = catalog_renew(run->call);
    if (err < 0)
        return err;
    const struct catalog_tool *tool = find_tool(run->call->catalog, table, run->verb);
    if (!tool)
        return ERR_ABSENT;
    run->table = tool->table;
    run->call->output = tool->output;
    err = json_schema_check(tool->input, run->args, &faults);
    return err == ERR_PARAMS || err == ERR_LIMIT ? run_explain(run, "/params/arguments", &faults)
                                                 : err;
}

void run_again(struct run *run)
{
    if (run->n_rechecks++ == WRITE_RECHECKS_MAX) {
        tool_fail(run->call, STR("The table is being changed again and again. Nothing was written; "
                                 "try again in a moment."));
        return;
    }
    int err = check_again(run);
    if (err == ERR_ABSENT) {
        tool_fail(run->call, STR("The table does not exist any more."));
        return;
    }
    if (err == 0)
        err = runners[run->verb](run);
    if (err < 0)
        dispatch_fail(run->call, err);
}
