/* core/operations_show.c - operations that only show: tables, log, the server itself. */
#include "base/clock.h"
#include "base/err.h"
#include "base/log_ring.h"
#include "base/version.h"
#include "core/catalog.h"
#include "core/core_state.h"
#include "core/operations.h"
#include "wire/json_write.h"

#include <string.h>

static void add_text(struct buf *out, const char *name, struct str value)
{
    if (!value.p)
        return;
    buf_printf(out, ",\"%s\":", name);
    json_write_str(out, value);
}

/* The members that every description of a table begins with; the object stays open. */
static int open_table(struct store_view *view, const struct table *t, struct buf *out)
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
    return 0;
}

int operation_describe_all(struct call *call, const struct tape_node *args, struct buf *out)
{
    const struct catalog *c = call->catalog;
    struct store_view *view;
    (void)args;
    int err = store_view_open(call->core->store, STORE_DATA, &view);
    if (err < 0)
        return err;
    buf_add_lit(out, "{\"tables\":[");
    for (uint32_t i = 0; err == 0 && i < c->n_tables; i++) {
        if (i)
            buf_add_char(out, ',');
        err = open_table(view, &c->tables[i], out);
        add_text(out, "title", c->tables[i].title);
        add_text(out, "description", c->tables[i].description);
        buf_add_char(out, '}');
    }
    buf_add_lit(out, "]}");
    store_view_close(view);
    return err;
}

int operation_describe_table(struct call *call, const struct tape_node *args, struct buf *out)
{
    const struct table *t =
        catalog_find_table(call->catalog, tape_str(tape_get(args, STR("database"))),
                           tape_str(tape_get(args, STR("table"))));
    struct store_view *view;
    int err = t ? store_view_open(call->core->store, STORE_DATA, &view) : ERR_ABSENT;
    if (err < 0)
        return err;
    err = open_table(view, t, out);
    store_view_close(view);
    add_text(out, "primaryKey", t->attributes[t->key].name);
    buf_add_lit(out, ",\"schema\":");
    tape_write(t->schema, out);
    buf_add_char(out, '}');
    return err;
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

int operation_system_information(struct call *call, const struct tape_node *args, struct buf *out)
{
    struct store_view *view;
    uint64_t sessions;
    (void)args;
    int err = store_view_open(call->core->store, STORE_SYS, &view);
    if (err < 0)
        return err;
    err = store_count_sessions(view, &sessions);
    store_view_close(view);
    if (err < 0)
        return err;
    buf_add_lit(out, "{\"name\":\"tenon\"");
    add_text(out, "version", STR(TENON_VERSION));
    buf_printf(out, ",\"tables\":%u,\"sessions\":", call->catalog->n_tables);
    buf_add_u64(out, sessions);
    buf_add_char(out, '}');
    return 0;
}
