/* core/openapi.c - see openapi.h.
 *
 * Each schema becomes a component with an $id of its own: what it refers to within itself
 * ("#/$defs/...") then still means itself and not the whole document (JSON Schema 2020-12, 9.3).
 * Tools of one table that answer alike share a component, the row.
 */
#include "core/openapi.h"

#include "base/err.h"
#include "base/limits.h"
#include "base/version.h"
#include "wire/json_write.h"

struct document {
    struct buf paths, schemas; /* members, with commas between */
    uint32_t n_omitted;
};

static const char *const verbs[VERB_N] = {"get", "search", "create", "update", "delete"};

static void write_member(struct buf *out, const char *name, struct str value)
{
    buf_printf(out, "\"%s\":", name);
    json_write_str(out, value);
}

static void begin_member(struct buf *out)
{
    if (out->n)
        buf_add_char(out, ',');
}

/* ---- Schemas -------------------------------------------------------------------------------- */

/* "NAME":{"$id":"...", and the rest of the schema, which is an object without $id. */
static void write_schema(struct document *d, struct str name, struct str schema)
{
    struct buf *out = &d->schemas;
    begin_member(out);
    json_write_str(out, name);
    buf_printf(out, ":{\"$id\":\"tenon://openapi/" STR_FMT "\"", STR_ARG(name));
    if (schema.n > 2)
        buf_add_char(out, ',');
    buf_add(out, schema.p + 1, schema.n - 1);
}

static void write_body(struct buf *out, struct str schema)
{
    buf_printf(
        out,
        "\"content\":{\"application/json\":{\"schema\":{\"$ref\":\"#/components/schemas/" STR_FMT
        "\"}}}",
        STR_ARG(schema));
}

/* ---- Tools ---------------------------------------------------------------------------------- */

struct table_tools {
    const struct catalog_tool *v[VERB_N]; /* NULL: left out of the catalog */
    struct str input[VERB_N], output[VERB_N];
};

/* The name of the first tool's component with the same text. */
static struct str find_output(const struct table_tools *t, enum table_verb verb)
{
    for (enum table_verb other = 0; other < verb; other++)
        if (t->v[other] && str_eq(t->v[other]->output_text, t->v[verb]->output_text))
            return t->output[other];
    return STR_NONE;
}

static int find_tools(const struct catalog *c, const struct table *table, struct arena *arena,
                      struct table_tools *ret)
{
    for (enum table_verb verb = 0; verb < VERB_N; verb++) {
        struct str name = verb_tool_name(verb, table->tool_name, arena);
        if (!name.p)
            return ERR_NO_MEMORY;
        if (!(ret->v[verb] = catalog_find_tool(c, name)))
            continue;
        ret->input[verb] = arena_printf(arena, STR_FMT "_input", STR_ARG(name));
        ret->output[verb] = find_output(ret, verb);
        if (!ret->output[verb].p)
            ret->output[verb] = arena_printf(arena, STR_FMT "_output", STR_ARG(name));
        if (!ret->input[verb].p || !ret->output[verb].p)
            return ERR_NO_MEMORY;
    }
    return 0;
}

static void write_path(struct buf *out, const struct table *table, const struct table_tools *t,
                       enum table_verb verb)
{
    const struct catalog_tool *tool = t->v[verb];
    begin_member(out);
    buf_printf(out, "\"/" STR_FMT "/" STR_FMT "/%s\":{\"post\":{", STR_ARG(table->database),
               STR_ARG(table->name), verbs[verb]);
    write_member(out, "operationId", tool->name);
    buf_printf(out, ",\"tags\":[\"" STR_FMT "." STR_FMT "\"],", STR_ARG(table->database),
               STR_ARG(table->name));
    write_member(out, "summary", tool->title);
    buf_add_char(out, ',');
    write_member(out, "description", tool->description);
    buf_add_lit(out, ",\"requestBody\":{\"required\":true,");
    write_body(out, t->input[verb]);
    buf_add_lit(out, "},\"responses\":{\"200\":{\"description\":\"structuredContent of the "
                     "tool's result\",");
    write_body(out, t->output[verb]);
    buf_add_lit(out, "}}}}");
}

static void write_table(struct document *d, const struct table *table, const struct table_tools *t)
{
    for (enum table_verb verb = 0; verb < VERB_N; verb++) {
        if (!t->v[verb])
            continue;
        write_path(&d->paths, table, t, verb);
        write_schema(d, t->input[verb], t->v[verb]->input_text);
        if (!find_output(t, verb).p)
            write_schema(d, t->output[verb], t->v[verb]->output_text);
    }
}

/* All of the table, or nothing but its count. */
static int add_table(struct document *d, const struct catalog *c, const struct table *table,
                     size_t most)
{
    struct table_tools tools = {0};
    struct arena arena;
    size_t n_paths = d->paths.n, n_schemas = d->schemas.n;
    arena_init(&arena, 0);
    int err = find_tools(c, table, &arena, &tools);
    if (err == 0)
        write_table(d, table, &tools);
    arena_done(&arena);
    if (d->paths.failed || d->schemas.failed)
        err = ERR_NO_MEMORY;
    if (err == 0 && d->paths.n + d->schemas.n > most) {
        d->paths.n = n_paths;
        d->schemas.n = n_schemas;
        d->n_omitted++;
    }
    return err;
}

/* ---- All ------------------------------------------------------------------------------------ */

static void write_document(const struct document *d, struct buf *out)
{
    buf_add_lit(out, "{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"Tables\",\"version\":");
    json_write_str(out, STR(TENON_VERSION));
    buf_add_lit(out, ",\"description\":\"The tools of the tables as operations. Each is called by "
                     "MCP: tools/call with the operationId as name and the request body as "
                     "arguments.\"},\"jsonSchemaDialect\":"
                     "\"https://json-schema.org/draft/2020-12/schema\",");
    if (d->n_omitted)
        buf_printf(out, "\"x-omitted-tables\":%u,", d->n_omitted);
    buf_add_lit(out, "\"paths\":{");
    buf_add_str(out, buf_str(&d->paths));
    buf_add_lit(out, "},\"components\":{\"schemas\":{");
    buf_add_str(out, buf_str(&d->schemas));
    buf_add_lit(out, "}}}");
}

int openapi_write(const struct catalog *catalog, size_t most, const _Atomic int *stop,
                  struct buf *out)
{
    struct document d = {0};
    int err = 0;
    for (uint32_t i = 0; err == 0 && i < catalog->n_tables; i++)
        err = stop && *stop
                  ? *stop
                  : add_table(&d, catalog, &catalog->tables[i], most ? most : OPENAPI_BYTES_MAX);
    if (err == 0)
        write_document(&d, out);
    buf_done(&d.paths);
    buf_done(&d.schemas);
    return err == 0 && out->failed ? ERR_NO_MEMORY : err;
}
