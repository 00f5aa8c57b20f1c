/* core/row_contents.c - see row_contents.h. */
#include "core/row_contents.h"

#include "base/base64.h"
#include "base/clock.h"
#include "base/err.h"
#include "core/component.h"
#include "schema/percent.h"

struct making {
    const struct table *table;
    const struct store_row *row;
    struct str uri, meta;
    struct arena *arena;
    struct row_contents *contents;
};

static struct str keyword(const struct table_attribute *a, const char *name)
{
    bool is_object = a && a->schema && a->schema->kind == TAPE_OBJECT;
    const struct tape_node *value = is_object ? tape_get(a->schema, str_of(name)) : NULL;
    return value && value->kind == TAPE_STR ? tape_str(value) : STR_NONE;
}

static bool is_base64(struct str text)
{
    struct buf bytes = {0};
    int err = base64_read(text, &bytes);
    buf_done(&bytes);
    return err == 0;
}

/* NULL: this member of the row is none. */
static const struct table_attribute *find_binary(const struct table *table,
                                                 const struct tape_node *name,
                                                 const struct tape_node *value)
{
    const struct table_attribute *a = table_find_attribute(table, tape_str(name));
    struct str encoding = keyword(a, "contentEncoding");
    bool says_so = encoding.p && str_eq(encoding, STR("base64")) && !a->hidden;
    return says_so && value->kind == TAPE_STR && is_base64(tape_str(value)) ? a : NULL;
}

static struct str blob_uri(struct making *m, struct str name)
{
    struct buf uri = {0};
    buf_add_str(&uri, m->uri);
    buf_add_char(&uri, '#');
    percent_encode(&uri, name, PERCENT_UNRESERVED);
    struct str kept = arena_buf(m->arena, &uri);
    buf_done(&uri);
    return kept;
}

static struct mcp_resource_contents *add(struct making *m, int32_t kind, struct str uri,
                                         struct str mime_type)
{
    struct mcp_resource_contents *c = &m->contents->v[m->contents->n++];
    *c = (struct mcp_resource_contents){.kind = kind};
    MCP_SET(c, uri, uri);
    MCP_SET(c, mime_type, mime_type);
    MCP_SET(c, meta, m->meta);
    return c;
}

static int add_blob(struct making *m, const struct table_attribute *a, struct str text)
{
    struct str uri = blob_uri(m, a->name), type = keyword(a, "contentMediaType");
    if (!uri.p)
        return ERR_NO_MEMORY;
    struct mcp_resource_contents *c =
        add(m, MCP_KIND_BLOB_RESOURCE_CONTENTS, uri,
            component_is_mime_type(type) ? type : STR("application/octet-stream"));
    MCP_SET(c, blob, text);
    return 0;
}

/* Blobs of the row; the names of all else go to `others`. */
static int add_blobs(struct making *m, struct str part, struct tape_builder *others)
{
    int err = 0;
    tape_each (m->row->row, name, value) {
        const struct table_attribute *a = find_binary(m->table, name, value);
        if (!a)
            tape_add_str(others, tape_str(name));
        else if (err == 0 && (!part.p || str_eq(part, a->name)))
            err = add_blob(m, a, tape_str(value));
    }
    return err;
}

static int add_json(struct making *m, const struct tape_node *select)
{
    struct buf text = {0};
    table_write_row(m->table, m->row->row, m->row->version, select, &text);
    struct str kept = arena_buf(m->arena, &text);
    buf_done(&text);
    if (!kept.p)
        return ERR_NO_MEMORY;
    struct mcp_resource_contents *c =
        add(m, MCP_KIND_TEXT_RESOURCE_CONTENTS, m->uri, STR("application/json"));
    MCP_SET(c, text, kept);
    return 0;
}

/* The JSON is first, but what is in it is known once the blobs are made. */
static void put_last_first(struct row_contents *contents)
{
    struct mcp_resource_contents last = contents->v[contents->n - 1];
    for (uint32_t i = contents->n - 1; i > 0; i--)
        contents->v[i] = contents->v[i - 1];
    contents->v[0] = last;
}

static int make_all(struct making *m)
{
    const struct table_attribute *of_version = m->table->by_role[ROLE_VERSION];
    struct tape_builder others;
    const struct tape_node *select;
    tape_begin(&others, m->arena);
    tape_open_array(&others);
    int err = add_blobs(m, STR_NONE, &others);
    if (of_version)
        tape_add_str(&others, of_version->name);
    tape_close(&others);
    if (err == 0)
        err = tape_finish(&others, &select);
    if (err == 0)
        err = add_json(m, m->contents->n ? select : NULL);
    if (err == 0)
        put_last_first(m->contents);
    return err;
}

static int make_part(struct making *m, struct str part)
{
    struct tape_builder others;
    tape_begin(&others, m->arena);
    tape_open_array(&others);
    int err = add_blobs(m, part, &others);
    return err < 0 ? err : m->contents->n ? 0 : ERR_ABSENT;
}

int row_contents_make(const struct table *table, const struct store_row *row, struct str uri,
                      struct str part, struct arena *arena, struct row_contents *ret)
{
    char changed[CLOCK_TEXT_BYTES];
    struct making m = {.table = table, .row = row, .uri = uri, .arena = arena, .contents = ret};
    clock_write_text(row->changed_ms, changed);
    m.meta = arena_printf(arena, "{\"tenon/version\":%llu,\"tenon/lastModified\":\"%s\"}",
                          (unsigned long long)row->version, changed);
    ret->n = 0;
    ret->v = arena_array(arena, (size_t)table->n_attributes + 1, sizeof *ret->v);
    if (!m.meta.p || !ret->v)
        return ERR_NO_MEMORY;
    return part.p ? make_part(&m, part) : make_all(&m);
}
