/* core/component.c - the registry: what is taken into it, and how it is found again; see
 * component.h. */
#include "core/component.h"

#include "base/err.h"
#include "base/limits.h"
#include "core/component_call.h"
#include "core/revision.h"
#include "core/store.h"
#include "core/table_tools.h"
#include "generated/edges.h"
#include "schema/percent.h"
#include "schema/template.h"

#include <stdlib.h>
#include <string.h>

int components_new(struct tenon **ret)
{
    struct tenon *tenon = calloc(1, sizeof *tenon);
    if (!tenon)
        return ERR_NO_MEMORY;
    arena_init(&tenon->arena, CATALOG_BYTES_MAX);
    pthread_mutex_init(&tenon->mutex, NULL);
    pthread_cond_init(&tenon->answered, NULL);
    tenon->calls.last = &tenon->calls.first;
    *ret = tenon;
    return 0;
}

void components_free(struct tenon *tenon)
{
    if (!tenon)
        return;
    pthread_cond_destroy(&tenon->answered);
    pthread_mutex_destroy(&tenon->mutex);
    arena_done(&tenon->arena);
    free(tenon);
}

/* ---- Refusing ------------------------------------------------------------------------------- */

/* "kind NAME: what"; the first one stays. */
static int refuse(struct tenon *tenon, const char *kind, const char *name, struct str what)
{
    if (!tenon->fault.p)
        tenon->fault = arena_printf(&tenon->arena, "%s %s: " STR_FMT, kind, name ? name : "(none)",
                                    STR_ARG(what));
    return TENON_ERR_ARGUMENT;
}

static int no_memory(struct tenon *tenon)
{
    if (!tenon->fault.p)
        tenon->fault = str_of(err_text(ERR_NO_MEMORY));
    return TENON_ERR_NO_MEMORY;
}

static struct str text_of(const char *text)
{
    return text ? str_of(text) : STR_NONE;
}

/* ---- Schemas -------------------------------------------------------------------------------- */

static int refuse_schema(struct tenon *tenon, const char *tool, const char *member,
                         const char *pointer, const char *expected)
{
    struct str what = arena_printf(&tenon->arena, "%s%s: expected %s", member, pointer, expected);
    return refuse(tenon, "tool", tool, what);
}

static int open_schema(struct tenon *tenon, const char *tool, const char *member, struct str text,
                       const struct tape_node **ret)
{
    struct wire_fault fault = {0};
    char *padded = arena_zalloc(&tenon->arena, (size_t)text.n + JSON_PADDING_BYTES);
    if (!padded)
        return no_memory(tenon);
    memcpy(padded, text.p, text.n);
    int err = tape_open((struct str){padded, text.n}, &tenon->arena, ret, &fault);
    if (err == ERR_NO_MEMORY)
        return no_memory(tenon);
    return err < 0 ? refuse_schema(tenon, tool, member, fault.pointer, fault.expected) : 0;
}

/* TL-02, TL-12: the root says that it is an object. */
static bool is_of_objects(const struct tape_node *schema)
{
    const struct tape_node *type =
        schema->kind == TAPE_OBJECT ? tape_get(schema, STR("type")) : NULL;
    return type && type->kind == TAPE_STR && str_eq(tape_str(type), STR("object"));
}

static int compile(struct tenon *tenon, const char *tool, const char *member, struct str text,
                   const struct json_schema **ret)
{
    const struct tape_node *document;
    struct schema_faults faults = {0};
    int err = open_schema(tenon, tool, member, text, &document);
    if (err)
        return err;
    if (!is_of_objects(document))
        return refuse_schema(tenon, tool, member, "/type", "\"object\"");
    err = json_schema_compile(document, NULL, &tenon->arena, ret, &faults);
    if (err == ERR_PARAMS) {
        const struct schema_fault *f = &faults.v[0];
        struct str what = arena_printf(&tenon->arena, "%s%s: %s: expected %s", member, f->pointer,
                                       f->keyword, f->expected);
        return refuse(tenon, "tool", tool, what);
    }
    return err < 0 ? no_memory(tenon) : 0;
}

/* ---- By the protocol's tables --------------------------------------------------------------- */

/* As every negotiable revision will have it. */
static int check(struct tenon *tenon, enum mcp_definition definition, const void *value,
                 const char *kind, const char *name)
{
    struct buf text = {0};
    int err = 0;
    for (int i = 0; err == 0 && revision_at(i) >= 0; i++) {
        enum mcp_revision revision = (enum mcp_revision)revision_at(i);
        struct wire_fault fault = {0};
        buf_clear(&text);
        int failed = mcp_write(revision, definition, value, &text);
        if (failed == 0 && !buf_reserve(&text, JSON_PADDING_BYTES))
            failed = ERR_NO_MEMORY;
        if (failed == 0) {
            memset(text.p + text.n, 0, JSON_PADDING_BYTES);
            failed = mcp_check(revision, definition, buf_str(&text), &fault);
        }
        if (failed == ERR_NO_MEMORY)
            err = no_memory(tenon);
        else if (failed < 0)
            err = refuse(tenon, kind, name,
                         arena_printf(&tenon->arena, "%s: expected %s", fault.pointer,
                                      fault.expected[0] ? fault.expected : "all that is required"));
    }
    buf_done(&text);
    return err;
}

static bool are_copied(const struct str *texts, const char *const *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (from[i] && !texts[i].p)
            return false;
    return true;
}

static struct str keep(struct tenon *tenon, const char *text)
{
    return text ? arena_str(&tenon->arena, str_of(text)) : STR_NONE;
}

/* Room for one more; NULL: no memory. */
static void *grow(struct tenon *tenon, void *v, uint32_t n, uint32_t *cap, size_t size)
{
    if (n < *cap)
        return v;
    uint32_t more = *cap ? 2 * *cap : 8;
    void *grown = arena_array(&tenon->arena, more, size);
    if (grown && n)
        memcpy(grown, v, n * size);
    if (grown)
        *cap = more;
    return grown;
}

/* ---- Tools ---------------------------------------------------------------------------------- */

static bool is_tool_name(struct str name)
{
    for (uint32_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                    c == '_' || c == '-' || c == '.';
        if (!fine)
            return false;
    }
    return name.n >= 1 && name.n <= COMPONENT_TOOL_NAME_BYTES;
}

static int check_tool(struct tenon *tenon, const struct tenon_tool *tool)
{
    const char *name = tool->name;
    if (!tenon->component.p)
        return refuse(tenon, "tool", name, STR("tools are added in tenon_component only"));
    if (!is_tool_name(text_of(name)))
        return refuse(tenon, "tool", name, STR("its name: expected 1 to 128 of A-Z a-z 0-9 _ . -"));
    if (component_find_tool(tenon, str_of(name)))
        return refuse(tenon, "tool", name, STR("another one has this name"));
    if (!tool->description || !*tool->description)
        return refuse(tenon, "tool", name, STR("it has no description"));
    return tool->run ? 0 : refuse(tenon, "tool", name, STR("it has no run callback"));
}

static int copy_tool(struct tenon *tenon, const struct tenon_tool *from, struct component_tool *to)
{
    *to = (struct component_tool){
        .component = tenon->component,
        .name = keep(tenon, from->name),
        .title = keep(tenon, from->title),
        .description = keep(tenon, from->description),
        .input_text =
            from->input_schema ? keep(tenon, from->input_schema) : STR("{\"type\":\"object\"}"),
        .output_text = keep(tenon, from->output_schema),
        .hints = from->hints,
        .is_inline = from->is_inline,
        .run = from->run,
        .ctx = from->ctx,
    };
    const char *const texts[] = {from->name, from->title, from->description, from->output_schema};
    const struct str copies[] = {to->name, to->title, to->description, to->output_text};
    bool complete = to->input_text.p && are_copied(copies, texts, sizeof texts / sizeof *texts);
    return complete ? 0 : no_memory(tenon);
}

int tenon_add_tool(struct tenon *tenon, const struct tenon_tool *tool)
{
    struct mcp_tool shown = {0};
    struct mcp_tool_annotations annotations = {0};
    int err = check_tool(tenon, tool);
    if (err)
        return err;
    void *v = grow(tenon, tenon->tools, tenon->n_tools, &tenon->tools_cap, sizeof *tenon->tools);
    if (!v)
        return no_memory(tenon);
    tenon->tools = v;
    struct component_tool *to = &tenon->tools[tenon->n_tools];
    err = copy_tool(tenon, tool, to);
    if (!err)
        err = compile(tenon, tool->name, "inputSchema", to->input_text, &to->input);
    if (!err && to->output_text.p)
        err = compile(tenon, tool->name, "outputSchema", to->output_text, &to->output);
    if (err)
        return err;
    component_fill_tool(to, &shown, &annotations);
    err = check(tenon, MCP_DEFINITION_TOOL, &shown, "tool", tool->name);
    tenon->n_tools += err == 0;
    return err;
}

/* ---- Resources and templates ---------------------------------------------------------------- */

static bool is_ours(struct str uri)
{
    return str_starts_with(uri, STR("db:")) || str_starts_with(uri, STR("tenon:"));
}

static bool is_taken(const struct component_resource *v, uint32_t n, struct str uri)
{
    for (uint32_t i = 0; i < n; i++)
        if (str_eq(v[i].uri, uri))
            return true;
    return false;
}

static int check_resource(struct tenon *tenon, const char *kind, const struct tenon_template *r)
{
    const char *uri = r->uri_template;
    bool is_template = kind[0] == 't';
    if (!tenon->component.p)
        return refuse(tenon, kind, uri, STR("it is added in tenon_component only"));
    if (!uri || !*uri || (!is_template && !percent_is_uri(str_of(uri))))
        return refuse(tenon, kind, uri, STR("expected a URI with a scheme"));
    if (is_ours(str_of(uri)))
        return refuse(tenon, kind, uri, STR("the schemes db: and tenon: are the server's"));
    if (is_template ? is_taken(tenon->templates, tenon->n_templates, str_of(uri))
                    : is_taken(tenon->resources, tenon->n_resources, str_of(uri)))
        return refuse(tenon, kind, uri, STR("another one has this URI"));
    if (!r->name || !*r->name)
        return refuse(tenon, kind, uri, STR("it has no name"));
    if (r->mime_type && !component_is_mime_type(str_of(r->mime_type)))
        return refuse(tenon, kind, uri, STR("its mime type: expected such as text/plain"));
    return r->read ? 0 : refuse(tenon, kind, uri, STR("it has no read callback"));
}

static int copy_resource(struct tenon *tenon, const struct tenon_template *from,
                         struct component_resource *to)
{
    *to = (struct component_resource){
        .component = tenon->component,
        .uri = keep(tenon, from->uri_template),
        .name = keep(tenon, from->name),
        .title = keep(tenon, from->title),
        .description = keep(tenon, from->description),
        .mime_type = keep(tenon, from->mime_type),
        .is_inline = from->is_inline,
        .read = from->read,
        .complete = from->complete,
        .ctx = from->ctx,
    };
    const char *const texts[] = {from->uri_template, from->name, from->title, from->description,
                                 from->mime_type};
    const struct str copies[] = {to->uri, to->name, to->title, to->description, to->mime_type};
    return are_copied(copies, texts, sizeof texts / sizeof *texts) ? 0 : no_memory(tenon);
}

int tenon_add_resource(struct tenon *tenon, const struct tenon_resource *resource)
{
    const struct tenon_template as_template = {
        .uri_template = resource->uri,
        .name = resource->name,
        .title = resource->title,
        .description = resource->description,
        .mime_type = resource->mime_type,
        .is_inline = resource->is_inline,
        .read = resource->read,
        .ctx = resource->ctx,
    };
    struct mcp_resource shown = {0};
    int err = check_resource(tenon, "resource", &as_template);
    if (err)
        return err;
    void *v = grow(tenon, tenon->resources, tenon->n_resources, &tenon->resources_cap,
                   sizeof *tenon->resources);
    if (!v)
        return no_memory(tenon);
    tenon->resources = v;
    struct component_resource *to = &tenon->resources[tenon->n_resources];
    err = copy_resource(tenon, &as_template, to);
    if (err)
        return err;
    component_fill_resource(to, &shown);
    err = check(tenon, MCP_DEFINITION_RESOURCE, &shown, "resource", resource->uri);
    tenon->n_resources += err == 0;
    return err;
}

static int parse_template(struct tenon *tenon, struct component_resource *to)
{
    struct template_fault fault = {0};
    int err = template_parse(to->uri, &tenon->arena, &to->template, &fault);
    if (err == ERR_NO_MEMORY)
        return no_memory(tenon);
    if (err < 0)
        return refuse(tenon, "template", to->uri.p,
                      arena_printf(&tenon->arena, "byte %u: %s", fault.offset, fault.what));
    return 0;
}

int tenon_add_template(struct tenon *tenon, const struct tenon_template *from)
{
    struct mcp_resource_template shown = {0};
    int err = check_resource(tenon, "template", from);
    if (err)
        return err;
    void *v = grow(tenon, tenon->templates, tenon->n_templates, &tenon->templates_cap,
                   sizeof *tenon->templates);
    if (!v)
        return no_memory(tenon);
    tenon->templates = v;
    struct component_resource *to = &tenon->templates[tenon->n_templates];
    err = copy_resource(tenon, from, to);
    if (!err)
        err = parse_template(tenon, to);
    if (err)
        return err;
    component_fill_template(to, &shown);
    err = check(tenon, MCP_DEFINITION_RESOURCE_TEMPLATE, &shown, "template", from->uri_template);
    tenon->n_templates += err == 0;
    return err;
}

/* ---- Components ----------------------------------------------------------------------------- */

int components_add(struct tenon *tenon, struct str component, int (*entry)(struct tenon *tenon))
{
    tenon->component = arena_str(&tenon->arena, component);
    if (!tenon->component.p)
        return ERR_NO_MEMORY;
    int failed = entry(tenon);
    tenon->component = STR_NONE;
    if (failed && !tenon->fault.p)
        tenon->fault = arena_printf(&tenon->arena, "tenon_component returned %d: %s", failed,
                                    failed < 0 ? tenon_err_text(failed) : "expected 0");
    return tenon->fault.p || failed ? ERR_PARAMS : 0;
}

struct table_check {
    struct tenon *tenon;
    struct arena arena;
};

static int check_table(void *ctx, const struct store_table *table)
{
    struct table_check *check = ctx;
    struct tenon *tenon = check->tenon;
    for (enum table_verb verb = 0; verb < VERB_N; verb++) {
        struct str name = verb_tool_name(verb, table->name, &check->arena);
        const struct component_tool *tool = name.p ? component_find_tool(tenon, name) : NULL;
        if (!name.p)
            return ERR_NO_MEMORY;
        if (!tool)
            continue;
        tenon->fault = arena_printf(&tenon->arena,
                                    STR_FMT ": tool " STR_FMT ": the table " STR_FMT "." STR_FMT
                                            " has a tool of this name",
                                    STR_ARG(tool->component), STR_ARG(name),
                                    STR_ARG(table->database), STR_ARG(table->name));
        return ERR_EXISTS;
    }
    arena_reset(&check->arena);
    return 0;
}

int components_check_tables(struct tenon *tenon, struct store *store)
{
    struct table_check check = {.tenon = tenon};
    struct store_view *view;
    int err = store_view_open(store, STORE_DATA, &view);
    if (err < 0)
        return err;
    arena_init(&check.arena, 0);
    err = store_scan_tables(view, check_table, &check);
    arena_done(&check.arena);
    store_view_close(view);
    return err;
}

/* ---- Finding -------------------------------------------------------------------------------- */

const struct component_tool *component_find_tool(const struct tenon *tenon, struct str name)
{
    for (uint32_t i = 0; tenon && i < tenon->n_tools; i++)
        if (str_eq(tenon->tools[i].name, name))
            return &tenon->tools[i];
    return NULL;
}

int component_find_resource(const struct tenon *tenon, struct str uri, struct arena *arena,
                            const struct component_resource **ret,
                            const struct template_value **ret_values)
{
    int err = ERR_ABSENT;
    if (!tenon || uri.n > URI_BYTES_MAX || !percent_is_uri(uri))
        return ERR_ABSENT;
    for (uint32_t i = 0; i < tenon->n_resources; i++)
        if (str_eq(tenon->resources[i].uri, uri)) {
            *ret = &tenon->resources[i];
            return 0;
        }
    for (uint32_t i = 0; err == ERR_ABSENT && i < tenon->n_templates; i++) {
        err = template_match(tenon->templates[i].template, uri, TEMPLATE_SAFE, arena, ret_values);
        if (err == 0)
            *ret = &tenon->templates[i];
    }
    return err;
}

/* ---- For the lists -------------------------------------------------------------------------- */

#define SET_IF(object, member, text)         \
    do {                                     \
        if ((text).p)                        \
            MCP_SET(object, member, (text)); \
    } while (0)

#define SET_HINT(object, member, hint)                    \
    do {                                                  \
        if ((hint) != TENON_UNSAID)                       \
            MCP_SET(object, member, (hint) == TENON_YES); \
    } while (0)

void component_fill_tool(const struct component_tool *from, struct mcp_tool *tool,
                         struct mcp_tool_annotations *annotations)
{
    MCP_SET(tool, name, from->name);
    MCP_SET(tool, description, from->description);
    MCP_SET(tool, input_schema, from->input_text);
    SET_IF(tool, title, from->title);
    SET_IF(tool, output_schema, from->output_text);
    SET_HINT(annotations, read_only_hint, from->hints.read_only);
    SET_HINT(annotations, destructive_hint, from->hints.destructive);
    SET_HINT(annotations, idempotent_hint, from->hints.idempotent);
    SET_HINT(annotations, open_world_hint, from->hints.open_world);
    if (annotations->has)
        MCP_SET(tool, annotations, annotations);
}

void component_fill_resource(const struct component_resource *from, struct mcp_resource *resource)
{
    MCP_SET(resource, uri, from->uri);
    MCP_SET(resource, name, from->name);
    SET_IF(resource, title, from->title);
    SET_IF(resource, description, from->description);
    SET_IF(resource, mime_type, from->mime_type);
}

void component_fill_template(const struct component_resource *from,
                             struct mcp_resource_template *template)
{
    MCP_SET(template, uri_template, from->uri);
    MCP_SET(template, name, from->name);
    SET_IF(template, title, from->title);
    SET_IF(template, description, from->description);
    SET_IF(template, mime_type, from->mime_type);
}
