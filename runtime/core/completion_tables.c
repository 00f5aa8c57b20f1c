/* core/completion_tables.c - see completion.h. A catalog of many tables is looked through on a
 * handler thread. */
#include "base/err.h"
#include "core/catalog.h"
#include "core/completion.h"
#include "core/core_state.h"
#include "core/dispatch.h"
#include "core/table_view.h"

#include <stddef.h>
#include <stdlib.h>

struct completing {
    struct loop_work work; /* first */
    struct call *call;
    struct completion_asked asked;
    struct str values[COMPLETIONS_MAX];
    uint64_t n;      /* that fit; the first are in `values` */
    bool is_counted; /* all of them */
    int err;
};

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Names of tables and databases are ASCII. */
static bool begins_with(struct str name, struct str typed)
{
    uint32_t i = 0;
    while (i < typed.n && i < name.n && lower(name.p[i]) == lower(typed.p[i]))
        i++;
    return i == typed.n;
}

static void propose(struct completing *c, struct str value)
{
    if (c->n < COMPLETIONS_MAX)
        c->values[c->n] = value;
    c->n++;
}

/* ---- Databases and tables ------------------------------------------------------------------- */

static bool is_chosen(struct str chosen, struct str name)
{
    return !chosen.p || str_eq(chosen, name);
}

/* Tables stand by database, so each is met once in a row. */
static int find_databases(struct completing *c)
{
    const struct catalog *catalog = c->call->catalog;
    struct str last = STR_NONE;
    for (uint32_t i = 0; i < catalog->n_tables; i++) {
        const struct table *t = &catalog->tables[i];
        if ((last.p && str_eq(last, t->database)) || !is_chosen(c->asked.table, t->name) ||
            !table_may(t, c->asked.needs))
            continue;
        last = t->database;
        if (begins_with(last, c->asked.value))
            propose(c, last);
    }
    return 0;
}

static int compare(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

/* One name may be in several databases. */
static int find_tables(struct completing *c)
{
    const struct catalog *catalog = c->call->catalog;
    struct str *names = arena_array(&c->call->arena, (size_t)catalog->n_tables + 1, sizeof *names);
    uint32_t n = 0;
    if (!names)
        return ERR_NO_MEMORY;
    for (uint32_t i = 0; i < catalog->n_tables; i++) {
        const struct table *t = &catalog->tables[i];
        if (is_chosen(c->asked.database, t->database) && begins_with(t->name, c->asked.value) &&
            table_may(t, c->asked.needs))
            names[n++] = t->name;
    }
    qsort(names, n, sizeof *names, compare);
    for (uint32_t i = 0; i < n; i++)
        if (i == 0 || !str_eq(names[i], names[i - 1]))
            propose(c, names[i]);
    return 0;
}

/* ---- Rows ----------------------------------------------------------------------------------- */

struct key_scan {
    struct completing *completing;
    enum key_type type;
};

static int add_key(void *ctx, const struct store_row *row)
{
    struct key_scan *scan = ctx;
    struct completing *c = scan->completing;
    struct buf text = {0};
    key_write_text(scan->type, row->key, &text);
    struct str value = text.n ? arena_buf(&c->call->arena, &text) : STR_NONE;
    buf_done(&text);
    if (!value.p)
        return ERR_NO_MEMORY;
    propose(c, value);
    return c->n > COMPLETIONS_MAX;
}

static int scan_keys(struct completing *c, const struct table *t,
                     const struct completion_ranges *ranges)
{
    struct key_scan scan = {c, t->key_type};
    struct store_view *view;
    int err = store_view_open(c->call->core->store, STORE_DATA, &view);
    if (err < 0)
        return err;
    for (uint32_t i = 0; err == 0 && i < ranges->n; i++)
        err = store_scan_rows(view, t->id, &ranges->v[i], add_key, &scan);
    store_view_close(view);
    return err < 0 ? err : 0;
}

static int find_ids(struct completing *c)
{
    struct completion_ranges ranges;
    const struct completion_asked *asked = &c->asked;
    const struct table *t =
        asked->database.p && asked->table.p
            ? catalog_find_table(c->call->catalog, asked->database, asked->table)
            : NULL;
    c->is_counted = !t;
    if (!t)
        return 0;
    int err = completion_ranges(t->key_type, asked->value, &c->call->arena, &ranges);
    return err < 0 ? err : scan_keys(c, t, &ranges);
}

/* ---- The answer ----------------------------------------------------------------------------- */

static int (*const finders[])(struct completing *c) = {
    [COMPLETION_DATABASE] = find_databases,
    [COMPLETION_TABLE] = find_tables,
    [COMPLETION_ID] = find_ids,
};

static void run(struct loop_work *work)
{
    struct completing *c = (struct completing *)work;
    struct mcp_completion completion = {0};
    struct mcp_complete_result result = {0};
    c->err = finders[c->asked.of](c);
    if (c->err < 0)
        return;
    uint32_t n = c->n < COMPLETIONS_MAX ? (uint32_t)c->n : COMPLETIONS_MAX;
    completion.values = (struct mcp_strs){c->values, n};
    completion.has_values = 1;
    if (c->is_counted)
        MCP_SET(&completion, total, (int64_t)c->n);
    MCP_SET(&completion, has_more, c->n > n);
    MCP_SET(&result, completion, &completion);
    c->err = call_write(c->call, &result);
}

static void done(struct loop_work *work)
{
    struct completing *c = (struct completing *)work;
    if (c->err < 0)
        call_fail(c->call, c->err, STR_NONE, STR_NONE);
    else
        call_finish_written(c->call);
}

int completion_of_tables(struct call *call, const struct completion_asked *asked)
{
    struct completing *c = arena_zalloc(&call->arena, sizeof *c);
    if (!c)
        return ERR_NO_MEMORY;
    *c = (struct completing){
        .work = {.run = run, .done = done},
        .call = call,
        .asked = *asked,
        .is_counted = true,
    };
    if (asked->of != COMPLETION_ID && call->catalog->n_tables > COMPLETION_TABLES_HERE) {
        int err = loop_offload(call->core->loop, &c->work);
        return err < 0 ? err : CALL_LATER;
    }
    run(&c->work);
    return c->err < 0 ? c->err : CALL_WRITTEN;
}
