/* core/operations_show.c - operations that only show: tables, log, the server itself. */
#include "base/clock.h"
#include "base/err.h"
#include "base/log_ring.h"
#include "base/version.h"
#include "core/catalog.h"
#include "core/core_state.h"
#include "core/manage.h"
#include "core/operations.h"
#include "core/revision.h"
#include "core/table_indexes.h"
#include "core/table_query.h"
#include "core/table_run.h"
#include "wire/json_write.h"

#include <unistd.h>

static void add_text(struct buf *out, const char *name, struct str value)
{
    if (!value.p)
        return;
    buf_printf(out, ",\"%s\":", name);
    json_write_str(out, value);
}

/* The members that every description of a table begins with; the object stays open. */
static int open_table(struct store_view *view, const struct store_table *t, struct buf *out)
{
    uint64_t rows;
    int err = store_count_rows(view, t->id, &rows);
    if (err < 0)
        return err;
    buf_add_lit(out, "{\"database\":");
    json_write_str(out, t->database);
    add_text(out, "table", t->name);
    buf_add_lit(out, ",\"rows\":");
    buf_add_u64(out, rows);
    buf_add_lit(out, ",\"version\":");
    buf_add_u64(out, t->version);
    return 0;
}

struct listing {
    struct call *call;
    struct store_view *view;
    struct buf *out;
    uint32_t n;
};

static bool sees_all(const struct call *call)
{
    return role_is_super(call->in.access->role);
}

static uint32_t count_indexes(const struct table *t)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->n_indexes; i++)
        n += table_shows_index(t, &t->indexes[i]);
    return n;
}

/* A table that the catalog has not, because its definition is damaged, is there all the same; but
 * only for who may see any. */
static int add_table(void *ctx, const struct store_table *stored)
{
    struct listing *l = ctx;
    bool all = sees_all(l->call);
    const struct table *t =
        catalog_find_table_for(l->call->catalog, MAY_DESCRIBE, stored->database, stored->name);
    if (!t && !all)
        return 0;
    if (l->n++)
        buf_add_char(l->out, ',');
    int err = open_table(l->view, stored, l->out);
    if (t) {
        add_text(l->out, "title", t->title);
        add_text(l->out, "description", t->description);
    }
    buf_printf(l->out, ",\"indexes\":%u}", all ? stored->n_indexes : count_indexes(t));
    return err;
}

int operation_describe_all(struct call *call, const struct tape_node *args, struct buf *out)
{
    struct listing l = {.call = call, .out = out};
    (void)args;
    int err = store_view_open(call->core->store, STORE_DATA, &l.view);
    if (err < 0)
        return err;
    buf_add_lit(out, "{\"tables\":[");
    err = store_scan_tables(l.view, add_table, &l);
    buf_add_lit(out, "]}");
    store_view_close(l.view);
    return err;
}

/* Names of indexes that searches do not go by yet. */
static void add_building(const struct store_table *t, struct buf *out)
{
    bool first = true;
    for (uint32_t i = 0; i < t->n_indexes; i++) {
        if (t->indexes[i].ready)
            continue;
        buf_add_str(out, first ? STR(",\"building\":[") : STR(","));
        json_write_str(out, t->indexes[i].name);
        first = false;
    }
    if (!first)
        buf_add_char(out, ']');
}

/* The definition's members stand among those that every description begins with: it is an object
 * and never empty. */
static int add_definition(const struct store_table *t, struct buf *out)
{
    struct buf definition = {0};
    int err = manage_describe(t, &definition);
    if (err == 0) {
        buf_add_char(out, ',');
        buf_add(out, definition.p + 1, definition.n - 1);
    }
    buf_done(&definition);
    return err;
}

/* Of a table of which not all may be seen: what may be. */
static int add_view(struct call *call, const struct table *t, struct buf *out)
{
    struct store_index *shown = arena_array(&call->arena, (size_t)t->n_indexes + 1, sizeof *shown);
    uint32_t n = 0;
    if (!shown)
        return ERR_NO_MEMORY;
    for (uint32_t i = 0; i < t->n_indexes; i++)
        if (t->indexes[i].ready && table_shows_index(t, &t->indexes[i]))
            shown[n++] = t->indexes[i];
    add_text(out, "title", t->title);
    add_text(out, "description", t->description);
    add_text(out, "primaryKey", t->attributes[t->key].name);
    buf_add_lit(out, ",\"schema\":");
    tape_write(t->described, out);
    buf_add_lit(out, ",\"indexes\":");
    table_indexes_write(shown, n, out);
    buf_add_char(out, '}');
    return 0;
}

int operation_describe_table(struct call *call, const struct tape_node *args, struct buf *out)
{
    struct manage m = {.store = call->core->store, .arena = &call->arena};
    struct str database = tape_str(tape_get(args, STR("database")));
    struct str name = tape_str(tape_get(args, STR("table")));
    const struct table *known = catalog_find_table_for(call->catalog, MAY_DESCRIBE, database, name);
    struct store_table t;
    struct store_view *view;
    int err = known || sees_all(call) ? manage_find_table(&m, database, name, &t) : ERR_ABSENT;
    if (err == 0)
        err = store_view_open(call->core->store, STORE_DATA, &view);
    if (err < 0)
        return err;
    err = open_table(view, &t, out);
    store_view_close(view);
    if (err == 0 && known && known->is_cut)
        return add_view(call, known, out);
    add_building(&t, out);
    return err < 0 ? err : add_definition(&t, out);
}

/* ---- Searches ------------------------------------------------------------------------------- */

int operation_explain_search(struct call *call, const struct tape_node *args, struct buf *out)
{
    const struct table *t =
        catalog_find_table(call->catalog, tape_str(tape_get(args, STR("database"))),
                           tape_str(tape_get(args, STR("table"))));
    struct str why = STR_NONE;
    if (!t)
        return ERR_ABSENT;
    int err = table_query_explain(t, tape_get(args, STR("where")), tape_get(args, STR("order_by")),
                                  &call->arena, out, &why);
    if (err != ERR_PARAMS || !why.p)
        return err;
    tool_fail(call, why);
    return CALL_LATER;
}

/* ---- The log -------------------------------------------------------------------------------- */

static int add_entry(void *ctx, const struct log_entry *entry)
{
    struct buf *out = ctx;
    char time[CLOCK_TEXT_BYTES];
    if (out->p[out->n - 1] != '[')
        buf_add_char(out, ',');
    clock_write_text(entry->time_ms, time);
    buf_printf(out, "{\"time\":\"%s\",\"level\":\"%s\"", time, log_level_name(entry->level));
    add_text(out, "from", entry->from);
    add_text(out, "text", entry->text);
    buf_add_char(out, '}');
    return out->failed ? ERR_NO_MEMORY : 0;
}

static enum log_level read_level(const struct tape_node *node)
{
    for (enum log_level level = LOG_DEBUG; node && level <= LOG_ERROR; level++)
        if (str_eq(str_of(log_level_name(level)), tape_str(node)))
            return level;
    return LOG_DEBUG;
}

int operation_read_log(struct call *call, const struct tape_node *args, struct buf *out)
{
    const struct tape_node *limit = tape_get(args, STR("limit"));
    (void)call;
    buf_add_lit(out, "{\"entries\":[");
    if (out->failed)
        return ERR_NO_MEMORY;
    log_ring_read(read_level(tape_get(args, STR("level"))), limit ? (uint32_t)limit->v.i : 100,
                  add_entry, out);
    buf_add_lit(out, "]}");
    return 0;
}

/* ---- The server ----------------------------------------------------------------------------- */

struct counts {
    struct call *call;
    struct store_view *view;
    uint64_t tables, rows, sequence, sessions;
    struct store_stat data, sys;
};

static int count_table(void *ctx, const struct store_table *table)
{
    struct counts *c = ctx;
    uint64_t rows;
    if (!sees_all(c->call) &&
        !catalog_find_table_for(c->call->catalog, MAY_DESCRIBE, table->database, table->name))
        return 0;
    int err = store_count_rows(c->view, table->id, &rows);
    if (err < 0)
        return err;
    c->tables++;
    c->rows += rows;
    return 0;
}

static int count_data(struct counts *c)
{
    int err = store_scan_tables(c->view, count_table, c);
    if (err == 0)
        err = store_last_seq(c->view, &c->sequence);
    return err < 0 ? err : store_stat(c->view, &c->data);
}

static int count_sys(struct counts *c)
{
    int err = store_count_sessions(c->view, &c->sessions);
    return err < 0 ? err : store_stat(c->view, &c->sys);
}

static int in_view(struct store *store, enum store_space space, int (*count)(struct counts *c),
                   struct counts *c)
{
    int err = store_view_open(store, space, &c->view);
    if (err < 0)
        return err;
    err = count(c);
    store_view_close(c->view);
    return err;
}

static void add_number(struct buf *out, const char *name, uint64_t value)
{
    buf_printf(out, ",\"%s\":", name);
    buf_add_u64(out, value);
}

static void add_versions(struct buf *out)
{
    buf_add_lit(out, ",\"protocolVersions\":[");
    for (int i = 0; revision_at(i) >= 0; i++) {
        if (i)
            buf_add_char(out, ',');
        json_write_str(out, revision_name(i));
    }
    buf_add_char(out, ']');
}

/* `worker` is who answers. */
static void add_server(const struct core_config *config, struct buf *out)
{
    char started[CLOCK_TEXT_BYTES];
    int64_t up_ms = clock_wall_ms() - config->started_ms;
    clock_write_text(config->started_ms, started);
    add_text(out, "started", str_of(started));
    add_number(out, "uptimeSeconds", up_ms > 0 ? (uint64_t)up_ms / 1000 : 0);
    add_number(out, "pid", (uint64_t)config->pid);
    add_number(out, "worker", (uint64_t)getpid());
    add_number(out, "workers", config->n_workers);
}

static void add_space(const char *name, const struct store_stat *stat, struct buf *out)
{
    buf_printf(out, ",\"%s\":{\"usedBytes\":", name);
    buf_add_u64(out, stat->used_bytes);
    add_number(out, "freeBytes", stat->free_bytes);
    add_number(out, "diskBytes", stat->disk_bytes);
    add_number(out, "mostBytes", stat->map_bytes);
    add_number(out, "readers", stat->readers);
    buf_add_char(out, '}');
}

int operation_system_information(struct call *call, const struct tape_node *args, struct buf *out)
{
    struct store *store = call->core->store;
    struct counts c = {.call = call};
    (void)args;
    int err = in_view(store, STORE_DATA, count_data, &c);
    if (err == 0)
        err = in_view(store, STORE_SYS, count_sys, &c);
    if (err < 0)
        return err;
    buf_add_lit(out, "{\"name\":\"tenon\"");
    add_text(out, "version", STR(TENON_VERSION));
    add_versions(out);
    add_server(&call->core->config, out);
    add_number(out, "tables", c.tables);
    add_number(out, "rows", c.rows);
    add_number(out, "sessions", c.sessions);
    add_number(out, "sequence", c.sequence);
    add_space("data", &c.data, out);
    add_space("system", &c.sys, out);
    buf_add_char(out, '}');
    return 0;
}
