/* core/on_resources.c - resources/list, resources/read, resources/templates/list.
 *
 *   tenon://about                        this server
 *   tenon://openapi                      the tables as an OpenAPI document
 *   tenon://operations                   names of the operations that may be called
 *   tenon://schema/{database}/{table}    how a table's rows look
 *   db://{database}/{table}              the first page of a table's rows
 *   db://{database}/{table}/{id}         one row
 *   ...#{attribute}                      what of that row is binary
 *   any other                            what components have
 *
 * A URI is checked as a URI, then matched by the same templates that clients are shown. What it
 * captures is looked up by exact name or key; nothing is ever walked as a path.
 */
#include "base/err.h"
#include "base/version.h"
#include "core/capability.h"
#include "core/component.h"
#include "core/core_state.h"
#include "core/dispatch.h"
#include "core/lists.h"
#include "core/openapi.h"
#include "core/row_contents.h"
#include "core/table_indexes.h"
#include "core/table_run.h"
#include "core/table_search.h"
#include "generated/edges.h"
#include "generated/methods.h"
#include "schema/percent.h"
#include "wire/json_write.h"

#include <stddef.h>

int mcp_on_resources_list(struct call *call, const struct mcp_paginated_request_params *params,
                          struct mcp_list_resources_result *result)
{
    (void)result;
    return list_write_page(call, CATALOG_RESOURCES, "resources", params->cursor);
}

int mcp_on_resources_templates_list(struct call *call,
                                    const struct mcp_paginated_request_params *params,
                                    struct mcp_list_resource_templates_result *result)
{
    (void)result;
    return list_write_page(call, CATALOG_TEMPLATES, "resourceTemplates", params->cursor);
}

/* ---- resources/read ------------------------------------------------------------------------- */

struct reading {
    struct search search;  /* of a table; first, so that `done` finds its way back */
    struct loop_work work; /* of the OpenAPI document */
    int err;
    struct call *call;
    struct str uri;
    struct str fragment; /* of it; STR_NONE: none */
    struct resource_uri parts;
    const struct table *table;
};

static struct reading *reading_of(struct loop_work *work)
{
    return (struct reading *)((char *)work - offsetof(struct reading, work));
}

static int explain_absent(struct reading *r)
{
    struct buf data = {0};
    if (r->uri.n > URI_BYTES_MAX)
        return call_explain(r->call, ERR_NOT_FOUND, STR("The URI is too long"), STR_NONE);
    buf_add_lit(&data, "{\"uri\":");
    json_write_str(&data, r->uri);
    buf_add_char(&data, '}');
    struct str json = arena_buf(&r->call->arena, &data);
    buf_done(&data);
    return call_explain(r->call, ERR_NOT_FOUND, STR_NONE, json);
}

static int write_contents(struct reading *r, struct str text)
{
    struct mcp_resource_contents contents = {0};
    struct mcp_read_resource_result result = {0};
    contents.kind = MCP_KIND_TEXT_RESOURCE_CONTENTS;
    MCP_SET(&contents, uri, r->uri);
    MCP_SET(&contents, mime_type, STR("application/json"));
    MCP_SET(&contents, text, text);
    result.contents.v = &contents;
    result.contents.n = 1;
    result.has_contents = 1;
    return call_write(r->call, &result);
}

/* The text comes from a buffer, which is freed. */
static int answer(struct reading *r, struct buf *text)
{
    int err = text->failed ? ERR_NO_MEMORY : write_contents(r, buf_str(text));
    buf_done(text);
    if (err < 0)
        return err;
    call_finish_written(r->call);
    return CALL_LATER;
}

static int read_about(struct reading *r)
{
    enum call_profile profile = r->call->in.profile;
    struct mcp_server_capabilities capabilities;
    struct buf text = {0};
    buf_add_lit(&text, "{\"name\":\"tenon\",\"version\":");
    json_write_str(&text, STR(TENON_VERSION));
    buf_printf(&text, ",\"profile\":\"%s\",\"protocolVersions\":[",
               profile == PROFILE_OPERATIONS ? "operations" : "application");
    for (int i = 0; revision_at(i) >= 0; i++) {
        if (i)
            buf_add_char(&text, ',');
        json_write_str(&text, revision_name(i));
    }
    buf_add_lit(&text, "],\"capabilities\":");
    capability_fill(profile, &capabilities);
    if (mcp_write_server_capabilities((enum mcp_revision)r->call->session->revision, &capabilities,
                                      &text) < 0)
        text.failed = true;
    buf_add_char(&text, '}');
    return answer(r, &text);
}

static int read_operations(struct reading *r)
{
    const struct catalog *c = r->call->catalog;
    struct buf text = {0};
    buf_add_lit(&text, "{\"operations\":[");
    for (uint32_t i = 0; i < c->n_operations; i++) {
        if (i)
            buf_add_char(&text, ',');
        json_write_str(&text, str_of(c->operations[i].operation->name));
    }
    buf_add_lit(&text, "]}");
    return answer(r, &text);
}

/* A document of many tables takes longer than the loop can wait. */
static void run_openapi(struct loop_work *work)
{
    struct reading *r = reading_of(work);
    struct buf text = {0};
    r->err = openapi_write(r->call->catalog, 0, &r->call->cancelled, &text);
    if (r->err == 0)
        r->err = write_contents(r, buf_str(&text));
    buf_done(&text);
}

static void openapi_done(struct loop_work *work)
{
    struct reading *r = reading_of(work);
    if (r->err < 0)
        call_fail(r->call, r->err, STR_NONE, STR_NONE);
    else
        call_finish_written(r->call);
}

static int read_openapi(struct reading *r)
{
    r->work = (struct loop_work){.run = run_openapi, .done = openapi_done};
    int err = loop_offload(r->call->core->loop, &r->work);
    return err < 0 ? err : CALL_LATER;
}

static void write_member(struct buf *out, const char *name, struct str value)
{
    if (!value.p)
        return;
    buf_printf(out, ",\"%s\":", name);
    json_write_str(out, value);
}

static int write_indexes(struct reading *r, struct buf *out)
{
    const struct table *t = r->table;
    struct store_index *shown =
        arena_array(&r->call->arena, (size_t)t->n_indexes + 1, sizeof *shown);
    uint32_t n = 0;
    if (!shown)
        return ERR_NO_MEMORY;
    for (uint32_t i = 0; i < t->n_indexes; i++)
        if (table_shows_index(t, &t->indexes[i]))
            shown[n++] = t->indexes[i];
    table_indexes_write(shown, n, out);
    return 0;
}

static int read_schema(struct reading *r)
{
    const struct table *t = r->table;
    struct buf text = {0};
    buf_add_lit(&text, "{\"database\":");
    json_write_str(&text, t->database);
    write_member(&text, "table", t->name);
    write_member(&text, "title", t->title);
    write_member(&text, "description", t->description);
    write_member(&text, "primaryKey", t->attributes[t->key].name);
    buf_add_lit(&text, ",\"indexes\":");
    text.failed |= write_indexes(r, &text) < 0;
    buf_add_lit(&text, ",\"schema\":");
    tape_write(t->described, &text);
    buf_add_char(&text, '}');
    return answer(r, &text);
}

static int write_row(struct reading *r, const struct store_row *row)
{
    struct arena *arena = &r->call->arena;
    struct mcp_read_resource_result result = {0};
    struct row_contents contents;
    struct str uri = r->uri, part = STR_NONE;
    int err = r->fragment.p ? percent_decode(r->fragment, arena, &part) : 0;
    if (r->fragment.p)
        uri.n -= r->fragment.n + 1;
    if (err == 0)
        err = row_contents_make(r->table, row, uri, part, arena, &contents);
    if (err < 0)
        return err;
    result.contents.v = contents.v;
    result.contents.n = contents.n;
    result.has_contents = 1;
    return call_write(r->call, &result);
}

static int read_row(struct reading *r)
{
    struct arena *arena = &r->call->arena;
    struct store_view *view;
    struct store_row row;
    struct str key;
    int err = key_from_text(r->table->key_type, r->parts.id, arena, &key);
    if (err == ERR_SYNTAX || err == ERR_LIMIT)
        return explain_absent(r);
    if (err == 0)
        err = store_view_open(r->call->core->store, STORE_DATA, &view);
    if (err < 0)
        return err;
    err = store_get_row(view, r->table->id, key, arena, &row);
    if (err == 0)
        err = write_row(r, &row);
    store_view_close(view);
    if (err == ERR_ABSENT || err == ERR_SYNTAX)
        return explain_absent(r);
    return err < 0 ? err : CALL_WRITTEN;
}

static int table_found(struct search *s)
{
    struct reading *r = s->ctx;
    struct str json;
    int err = table_search_json(r->call, s, &json);
    return err < 0 ? err : write_contents(r, json);
}

static void table_read(struct search *s, int err)
{
    struct reading *r = s->ctx;
    search_free(s);
    if (err < 0)
        call_fail(r->call, err, STR_NONE, STR_NONE);
    else
        call_finish_written(r->call);
}

static int read_table(struct reading *r)
{
    r->search = (struct search){
        .call = r->call,
        .table = r->table,
        .found = table_found,
        .done = table_read,
        .ctx = r,
    };
    int err = table_query_read(r->call, r->table, NULL, &r->search.query);
    if (err < 0)
        return err;
    err = search_start(&r->search);
    if (err != SEARCH_LATER)
        table_read(&r->search, err);
    return CALL_LATER;
}

static int (*const readers[RESOURCE_KINDS])(struct reading *r) = {
    [RESOURCE_ABOUT] = read_about,
    [RESOURCE_TABLE] = read_table,
    [RESOURCE_ROW] = read_row,
    [RESOURCE_SCHEMA] = read_schema,
    [RESOURCE_OPERATIONS] = read_operations,
    [RESOURCE_OPENAPI] = read_openapi,
};

static int find_table(struct reading *r)
{
    if (r->parts.kind == RESOURCE_ABOUT)
        return 0;
    bool manages = r->call->in.profile == PROFILE_OPERATIONS;
    bool of_both = r->parts.kind == RESOURCE_OPENAPI;
    if (!of_both && manages != (r->parts.kind == RESOURCE_OPERATIONS))
        return ERR_ABSENT;
    int err = catalog_use(r->call);
    if (err < 0 || manages || of_both)
        return err;
    r->table = catalog_find_table_for(r->call->catalog,
                                      r->parts.kind == RESOURCE_SCHEMA ? MAY_DESCRIBE : MAY_READ,
                                      r->parts.database, r->parts.table);
    return r->table ? 0 : ERR_ABSENT;
}

static int read_component(struct call *call, struct str uri)
{
    const struct component_resource *resource;
    const struct template_value *values = NULL;
    int err = resource_uri_is_own(uri) ? ERR_ABSENT : catalog_use(call);
    if (err == 0)
        err = component_find_resource(call->catalog->offers, uri, &call->arena, &resource, &values);
    return err < 0 ? err : component_read_resource(call, resource, uri, values);
}

/* A fragment is of a row alone. */
static int read_uri(struct reading *r, struct str uri)
{
    struct str rest = uri, plain = str_cut(&rest, '#');
    int err = resource_uri_read(&r->call->core->uris, plain, &r->call->arena, &r->parts);
    r->fragment = rest;
    return err == 0 && rest.p && r->parts.kind != RESOURCE_ROW ? ERR_ABSENT : err;
}

int mcp_on_resources_read(struct call *call, const struct mcp_read_resource_request_params *params,
                          struct mcp_read_resource_result *result)
{
    (void)result; /* written by answer() */
    int err = admission_ask(call, str_of(call->row->name));
    if (err)
        return err;
    struct reading *r = arena_zalloc(&call->arena, sizeof *r);
    if (!r)
        return ERR_NO_MEMORY;
    r->call = call;
    r->uri = params->uri;
    if (call->in.profile == PROFILE_APPLICATION) {
        int found = read_component(call, params->uri);
        if (found != ERR_ABSENT)
            return found;
    }
    err = read_uri(r, params->uri);
    if (err == 0)
        err = find_table(r);
    if (err == ERR_ABSENT)
        return explain_absent(r);
    return err < 0 ? err : readers[r->parts.kind](r);
}
