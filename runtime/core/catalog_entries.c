/* core/catalog_entries.c - the list entries of a snapshot: filled once as the generated structs,
 * then written by the table of each negotiable revision, so that an older client never sees what
 * its revision does not know. */
#include "base/err.h"
#include "base/log.h"
#include "core/catalog.h"
#include "core/component.h"
#include "core/resource_uri.h"
#include "core/table_view.h"
#include "generated/edges.h"
#include "generated/methods.h"
#include "wire/json_write.h"

#include <stdlib.h>
#include <string.h>

struct compiled {
    struct str text;
    const struct json_schema *schema;
};

struct making {
    struct catalog *catalog;
    const struct search_limits *limits;
    const struct core_config *config;
    struct compiled outputs[VERB_N]; /* the last ones */
};

/* ---- Adding entries ------------------------------------------------------------------------- */

/* Writes the value by the definition's table of every negotiable revision. */
static int render(struct arena *arena, enum mcp_definition definition, const void *value,
                  struct catalog_entry *entry)
{
    struct buf text = {0};
    int err = 0;
    for (int i = 0; err == 0 && revision_at(i) >= 0; i++) {
        buf_clear(&text);
        err = wire_write(mcp_type((enum mcp_revision)revision_at(i), definition), value, &text);
        if (err == 0 && !(entry->json[revision_at(i)] = arena_buf(arena, &text)).p)
            err = ERR_NO_MEMORY;
    }
    buf_done(&text);
    return err;
}

static int add_entry(struct catalog *c, struct catalog_list *list, struct str name,
                     enum mcp_definition definition, const void *value)
{
    struct catalog_entry *entry = &list->v[list->n];
    entry->name = name;
    int err = name.p ? render(&c->arena, definition, value, entry) : ERR_NO_MEMORY;
    if (err == 0)
        list->n++;
    return err;
}

/* To the entry that was just added. */
static void note_table(struct catalog_list *list, uint32_t number, enum permission needs)
{
    list->v[list->n - 1].table = number;
    list->v[list->n - 1].needs = (uint8_t)needs;
}

static void note_component(struct catalog_list *list, struct str component)
{
    list->v[list->n - 1].component = component;
}

static int reserve(struct catalog *c, struct catalog_list *list, size_t n)
{
    list->v = arena_zalloc(&c->arena, (n + 1) * sizeof *list->v);
    return list->v ? 0 : ERR_NO_MEMORY;
}

static int compare_entries(const void *a, const void *b)
{
    return str_compare(((const struct catalog_entry *)a)->name,
                       ((const struct catalog_entry *)b)->name);
}

static void sort(struct catalog_list *list)
{
    qsort(list->v, list->n, sizeof *list->v, compare_entries);
}

/* ---- Tools ---------------------------------------------------------------------------------- */

/* 0, ERR_NO_MEMORY, or ERR_PARAMS: the table's schema holds what cannot stand in a tool's. */
static int compile(struct catalog *c, struct str name, struct str text,
                   const struct json_schema **ret)
{
    const struct tape_node *tape;
    struct wire_fault fault;
    struct schema_faults faults;
    char *padded = arena_zalloc(&c->arena, (size_t)text.n + JSON_PADDING_BYTES);
    if (!padded)
        return ERR_NO_MEMORY;
    memcpy(padded, text.p, text.n);
    int err = tape_open((struct str){padded, text.n}, &c->arena, &tape, &fault);
    if (err < 0)
        return err == ERR_NO_MEMORY ? err : ERR_INTERNAL;
    err = json_schema_compile(tape, NULL, &c->arena, ret, &faults);
    if (err == ERR_PARAMS)
        log_error("tool " STR_FMT " is left out, its schema cannot be used: %s: %s, expected %s",
                  STR_ARG(name), faults.v[0].pointer, faults.v[0].keyword, faults.v[0].expected);
    return err;
}

/* Tools that give a row have one output schema, and so have all that delete. */
static int compile_output(struct making *m, enum table_verb verb, struct mcp_tool *tool,
                          const struct json_schema **ret)
{
    struct compiled *own = &m->outputs[verb];
    for (enum table_verb other = 0; other < VERB_N; other++)
        if (m->outputs[other].text.p && str_eq(m->outputs[other].text, tool->output_schema))
            *own = m->outputs[other];
    if (!own->text.p || !str_eq(own->text, tool->output_schema)) {
        int err = compile(m->catalog, tool->name, tool->output_schema, &own->schema);
        if (err < 0)
            return err;
        own->text = tool->output_schema;
    }
    *ret = own->schema;
    return 0;
}

static void fill_annotations(enum table_verb verb, struct mcp_tool_annotations *a)
{
    const struct verb_hints *hints = verb_hints(verb);
    MCP_SET(a, read_only_hint, hints->read_only);
    MCP_SET(a, destructive_hint, hints->destructive);
    MCP_SET(a, idempotent_hint, hints->idempotent);
    MCP_SET(a, open_world_hint, false);
}

static int fill_tool(struct making *m, const struct table *table, enum table_verb verb,
                     struct mcp_tool *tool, struct mcp_tool_annotations *annotations)
{
    struct arena *arena = &m->catalog->arena;
    struct buf schema = {0};
    fill_annotations(verb, annotations);
    verb_write_input(verb, table, m->limits, &schema);
    struct str input = arena_buf(arena, &schema);
    buf_clear(&schema);
    verb_write_output(verb, table, &schema);
    struct str output = arena_buf(arena, &schema);
    buf_done(&schema);
    MCP_SET(tool, name, verb_tool_name(verb, table->tool_name, arena));
    MCP_SET(tool, title, verb_title(verb, table, arena));
    MCP_SET(tool, description, verb_description(verb, table, arena));
    MCP_SET(tool, input_schema, input);
    MCP_SET(tool, output_schema, output);
    MCP_SET(tool, annotations, annotations);
    bool complete = input.p && output.p && tool->name.p && tool->title.p && tool->description.p;
    return complete ? 0 : ERR_NO_MEMORY;
}

static int add_tool(struct making *m, const struct table *table, uint32_t number,
                    enum table_verb verb)
{
    struct catalog *c = m->catalog;
    struct catalog_list *list = &c->lists[PROFILE_APPLICATION][CATALOG_TOOLS];
    struct mcp_tool tool = {0};
    struct mcp_tool_annotations annotations = {0};
    struct catalog_tool *entry = &c->tools[c->n_tools];
    int err = fill_tool(m, table, verb, &tool, &annotations);
    if (err == 0)
        err = compile(c, tool.name, tool.input_schema, &entry->input);
    if (err == 0)
        err = compile_output(m, verb, &tool, &entry->output);
    if (err < 0)
        return err == ERR_PARAMS ? 0 : err;
    entry->name = tool.name;
    entry->title = tool.title;
    entry->description = tool.description;
    entry->input_text = tool.input_schema;
    entry->output_text = tool.output_schema;
    entry->table = table;
    entry->verb = verb;
    c->n_tools++;
    err = add_entry(c, list, tool.name, MCP_DEFINITION_TOOL, &tool);
    if (err == 0)
        note_table(list, number, verb_permission(verb));
    return err;
}

static int add_tools(struct making *m, const struct table *table, uint32_t number)
{
    int err = 0;
    for (enum table_verb verb = 0; err == 0 && verb < VERB_N; verb++)
        if (table_may(table, verb_permission(verb)))
            err = add_tool(m, table, number, verb);
    return err;
}

static int compare_tools(const void *a, const void *b)
{
    return str_compare(((const struct catalog_tool *)a)->name,
                       ((const struct catalog_tool *)b)->name);
}

static int add_component_tools(struct making *m)
{
    const struct offers *offers = m->catalog->offers;
    struct catalog *c = m->catalog;
    struct catalog_list *list = &c->lists[PROFILE_APPLICATION][CATALOG_TOOLS];
    int err = 0;
    for (uint32_t i = 0; offers && err == 0 && i < offers->n_tools; i++) {
        struct mcp_tool tool = {0};
        struct mcp_tool_annotations annotations = {0};
        component_fill_tool(&offers->tools[i], &tool, &annotations);
        err = add_entry(c, list, tool.name, MCP_DEFINITION_TOOL, &tool);
        if (err == 0)
            note_component(list, offers->tools[i].component);
    }
    return err;
}

static int make_tools(struct making *m)
{
    struct catalog *c = m->catalog;
    const struct offers *offers = m->catalog->offers;
    size_t n = (size_t)c->n_tables * VERB_N;
    int err = reserve(c, &c->lists[PROFILE_APPLICATION][CATALOG_TOOLS],
                      n + (offers ? offers->n_tools : 0));
    c->tools = arena_array(&c->arena, n + 1, sizeof *c->tools);
    if (!c->tools)
        return ERR_NO_MEMORY;
    for (uint32_t i = 0; err == 0 && i < c->n_tables; i++)
        err = add_tools(m, &c->tables[i], i + 1);
    if (err == 0)
        err = add_component_tools(m);
    if (err == 0)
        catalog_sort_tools(c);
    return err;
}

void catalog_sort_tools(struct catalog *catalog)
{
    sort(&catalog->lists[PROFILE_APPLICATION][CATALOG_TOOLS]);
    qsort(catalog->tools, catalog->n_tools, sizeof *catalog->tools, compare_tools);
}

int catalog_make_tools(struct catalog *view, const struct search_limits *limits,
                       const struct table *table, uint32_t number)
{
    struct making m = {.catalog = view, .limits = limits};
    return add_tools(&m, table, number);
}

/* ---- Operations ------------------------------------------------------------------------------ */

static int add_operation(struct making *m, const struct operation *o)
{
    struct catalog *c = m->catalog;
    struct mcp_tool tool = {0};
    struct mcp_tool_annotations annotations = {0};
    MCP_SET(&annotations, read_only_hint, o->read_only);
    MCP_SET(&annotations, destructive_hint, o->destructive);
    MCP_SET(&annotations, idempotent_hint, o->idempotent);
    MCP_SET(&annotations, open_world_hint, false);
    MCP_SET(&tool, name, str_of(o->name));
    MCP_SET(&tool, title, str_of(o->title));
    MCP_SET(&tool, description, str_of(o->description));
    MCP_SET(&tool, input_schema, str_of(o->input));
    MCP_SET(&tool, output_schema, str_of(o->output));
    MCP_SET(&tool, annotations, &annotations);
    struct catalog_operation *entry = &c->operations[c->n_operations++];
    entry->operation = o;
    int err = compile(c, tool.name, tool.input_schema, &entry->input);
    if (err == 0)
        err = compile(c, tool.name, tool.output_schema, &entry->output);
    return err < 0 ? err
                   : add_entry(c, &c->lists[PROFILE_OPERATIONS][CATALOG_TOOLS], tool.name,
                               MCP_DEFINITION_TOOL, &tool);
}

static int make_operations(struct making *m)
{
    struct catalog *c = m->catalog;
    const struct operation *o;
    uint32_t n = 0;
    while (operation_at(n))
        n++;
    int err = reserve(c, &c->lists[PROFILE_OPERATIONS][CATALOG_TOOLS], n);
    c->operations = arena_array(&c->arena, n, sizeof *c->operations);
    if (!c->operations)
        return ERR_NO_MEMORY;
    for (uint32_t i = 0; err == 0 && (o = operation_at(i)); i++)
        if (operation_is_allowed(m->config, o))
            err = add_operation(m, o);
    return err;
}

/* ---- Resources ------------------------------------------------------------------------------ */

static void fill_resource(struct mcp_resource *r, struct str uri, struct str name, struct str title,
                          struct str description)
{
    MCP_SET(r, uri, uri);
    MCP_SET(r, name, name);
    MCP_SET(r, title, title);
    MCP_SET(r, description, description);
    MCP_SET(r, mime_type, STR("application/json"));
}

static int add_resource(struct making *m, enum call_profile profile, const struct mcp_resource *r)
{
    bool complete = r->name.p && r->title.p && r->description.p;
    if (!complete)
        return ERR_NO_MEMORY;
    return add_entry(m->catalog, &m->catalog->lists[profile][CATALOG_RESOURCES], r->uri,
                     MCP_DEFINITION_RESOURCE, r);
}

static int add_about(struct making *m, enum call_profile profile)
{
    struct mcp_resource r = {0};
    fill_resource(
        &r, STR(URI_ABOUT), STR("about"), STR("About this server"),
        STR("Name, version, profile, protocol revisions and capabilities of the server."));
    return add_resource(m, profile, &r);
}

static int add_operations(struct making *m)
{
    struct mcp_resource r = {0};
    fill_resource(&r, STR(URI_OPERATIONS), STR("operations"), STR("Operations"),
                  STR("Names of the operations that may be called."));
    return add_resource(m, PROFILE_OPERATIONS, &r);
}

static int add_openapi(struct making *m, enum call_profile profile)
{
    struct mcp_resource r = {0};
    fill_resource(&r, STR(URI_OPENAPI), STR("openapi"), STR("OpenAPI"),
                  STR("The tools of the tables as an OpenAPI 3.1 document."));
    return add_resource(m, profile, &r);
}

static struct str title_of(const struct table *table)
{
    return table->title.p ? table->title : table->name;
}

static int read_annotations(struct making *m, const struct table *table,
                            struct mcp_annotations *ret)
{
    struct arena *arena = &m->catalog->arena;
    char *padded = arena_zalloc(arena, (size_t)table->annotations.n + JSON_PADDING_BYTES);
    if (!padded)
        return ERR_NO_MEMORY;
    memcpy(padded, table->annotations.p, table->annotations.n);
    return wire_parse(mcp_type((enum mcp_revision)revision_at(0), MCP_DEFINITION_ANNOTATIONS),
                      (struct str){padded, table->annotations.n}, arena, ret, NULL);
}

static int add_table(struct making *m, const struct table *t, uint32_t number)
{
    struct arena *arena = &m->catalog->arena;
    struct mcp_resource r = {0};
    struct mcp_annotations annotations = {0};
    int err = 0;
    fill_resource(
        &r,
        arena_printf(arena, "db://" STR_FMT "/" STR_FMT, STR_ARG(t->database), STR_ARG(t->name)),
        arena_printf(arena, STR_FMT "." STR_FMT, STR_ARG(t->database), STR_ARG(t->name)),
        title_of(t),
        t->description.p ? t->description : STR("The first page of the table's rows."));
    if (t->annotations.p) {
        err = read_annotations(m, t, &annotations);
        MCP_SET(&r, annotations, &annotations);
    }
    if (err == 0)
        err = add_resource(m, PROFILE_APPLICATION, &r);
    if (err == 0)
        note_table(&m->catalog->lists[PROFILE_APPLICATION][CATALOG_RESOURCES], number, MAY_READ);
    return err;
}

static int add_schema(struct making *m, const struct table *t, uint32_t number)
{
    struct arena *arena = &m->catalog->arena;
    struct mcp_resource r = {0};
    fill_resource(&r,
                  arena_printf(arena, "tenon://schema/" STR_FMT "/" STR_FMT, STR_ARG(t->database),
                               STR_ARG(t->name)),
                  arena_printf(arena, "schema of " STR_FMT "." STR_FMT, STR_ARG(t->database),
                               STR_ARG(t->name)),
                  arena_printf(arena, "Schema of " STR_FMT, STR_ARG(title_of(t))),
                  STR("JSON Schema of the table's rows, its primary key and its indexes."));
    int err = add_resource(m, PROFILE_APPLICATION, &r);
    if (err == 0)
        note_table(&m->catalog->lists[PROFILE_APPLICATION][CATALOG_RESOURCES], number,
                   MAY_DESCRIBE);
    return err;
}

static int add_component_resources(struct making *m)
{
    const struct offers *offers = m->catalog->offers;
    struct catalog_list *list = &m->catalog->lists[PROFILE_APPLICATION][CATALOG_RESOURCES];
    int err = 0;
    for (uint32_t i = 0; offers && err == 0 && i < offers->n_resources; i++) {
        struct mcp_resource r = {0};
        struct component_annotations annotations = {0};
        component_fill_resource(&offers->resources[i], &r, &annotations);
        err = add_entry(m->catalog, list, r.uri, MCP_DEFINITION_RESOURCE, &r);
        if (err == 0)
            note_component(list, offers->resources[i].component);
    }
    return err;
}

static int make_resources(struct making *m)
{
    struct catalog *c = m->catalog;
    const struct offers *offers = m->catalog->offers;
    struct catalog_list *application = &c->lists[PROFILE_APPLICATION][CATALOG_RESOURCES];
    struct catalog_list *operations = &c->lists[PROFILE_OPERATIONS][CATALOG_RESOURCES];
    int err =
        reserve(c, application, 2 * (size_t)c->n_tables + 2 + (offers ? offers->n_resources : 0));
    if (err == 0)
        err = reserve(c, operations, 3);
    if (err == 0)
        err = add_about(m, PROFILE_APPLICATION);
    if (err == 0)
        err = add_about(m, PROFILE_OPERATIONS);
    if (err == 0)
        err = add_openapi(m, PROFILE_APPLICATION);
    if (err == 0)
        err = add_openapi(m, PROFILE_OPERATIONS);
    if (err == 0)
        err = add_operations(m);
    for (uint32_t i = 0; err == 0 && i < c->n_tables; i++) {
        err = add_table(m, &c->tables[i], i + 1);
        if (err == 0)
            err = add_schema(m, &c->tables[i], i + 1);
    }
    if (err == 0)
        err = add_component_resources(m);
    sort(application);
    sort(operations);
    return err;
}

/* ---- Templates ------------------------------------------------------------------------------ */

static const struct {
    struct str uri_template, name, title, description;
} templates[] = {
    {STR_INIT(URI_TABLE), STR_INIT("table"), STR_INIT("Table"),
     STR_INIT("The first page of a table's rows, in the order of the primary key.")},
    {STR_INIT(URI_ROW), STR_INIT("row"), STR_INIT("Row"), STR_INIT("One row by its primary key.")},
    {STR_INIT(URI_SCHEMA), STR_INIT("schema"), STR_INIT("Schema of a table"),
     STR_INIT("JSON Schema of a table's rows, its primary key and its indexes.")},
};
#define N_TEMPLATES (sizeof templates / sizeof *templates)

static int add_component_templates(struct making *m, struct catalog_list *list)
{
    const struct offers *offers = m->catalog->offers;
    int err = 0;
    for (uint32_t i = 0; offers && err == 0 && i < offers->n_templates; i++) {
        struct mcp_resource_template t = {0};
        struct component_annotations annotations = {0};
        component_fill_template(&offers->templates[i], &t, &annotations);
        err = add_entry(m->catalog, list, t.uri_template, MCP_DEFINITION_RESOURCE_TEMPLATE, &t);
        if (err == 0)
            note_component(list, offers->templates[i].component);
    }
    return err;
}

static int make_templates(struct making *m)
{
    struct catalog *c = m->catalog;
    const struct offers *offers = m->catalog->offers;
    struct catalog_list *list = &c->lists[PROFILE_APPLICATION][CATALOG_TEMPLATES];
    int err = reserve(c, list, N_TEMPLATES + (offers ? offers->n_templates : 0));
    for (size_t i = 0; err == 0 && i < N_TEMPLATES; i++) {
        struct mcp_resource_template t = {0};
        MCP_SET(&t, uri_template, templates[i].uri_template);
        MCP_SET(&t, name, templates[i].name);
        MCP_SET(&t, title, templates[i].title);
        MCP_SET(&t, description, templates[i].description);
        MCP_SET(&t, mime_type, STR("application/json"));
        err = add_entry(c, list, t.uri_template, MCP_DEFINITION_RESOURCE_TEMPLATE, &t);
    }
    if (err == 0)
        err = add_component_templates(m, list);
    sort(list);
    return err;
}

/* ---- Prompts --------------------------------------------------------------------------------- */

static int make_prompts(struct making *m)
{
    struct catalog *c = m->catalog;
    const struct offers *offers = c->offers;
    struct catalog_list *list = &c->lists[PROFILE_APPLICATION][CATALOG_PROMPTS];
    int err = reserve(c, list, offers ? offers->n_prompts : 0);
    for (uint32_t i = 0; offers && err == 0 && i < offers->n_prompts; i++) {
        struct mcp_prompt prompt = {0};
        err = component_fill_prompt(&offers->prompts[i], &c->arena, &prompt);
        if (err == 0)
            err = add_entry(c, list, prompt.name, MCP_DEFINITION_PROMPT, &prompt);
        if (err == 0)
            note_component(list, offers->prompts[i].component);
    }
    sort(list);
    return err;
}

int catalog_make_entries(struct catalog *catalog, const struct search_limits *limits,
                         const struct core_config *config)
{
    struct making m = {.catalog = catalog, .limits = limits, .config = config};
    int err = make_tools(&m);
    if (err == 0)
        err = make_operations(&m);
    if (err == 0)
        err = make_resources(&m);
    if (err == 0)
        err = make_templates(&m);
    if (err == 0)
        err = make_prompts(&m);
    return err;
}
