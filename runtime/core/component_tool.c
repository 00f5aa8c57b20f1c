/* core/component_tool.c - the tools of components: taken in, found, shown in the list. */
#include "base/err.h"
#include "core/component_add.h"

#include <string.h>

static int refuse(struct tenon *tenon, const char *tool, struct str what)
{
    return component_add_refuse(tenon, "tool", tool, what);
}

/* ---- Schemas -------------------------------------------------------------------------------- */

static int refuse_schema(struct tenon *tenon, const char *tool, const char *member,
                         const char *pointer, const char *expected)
{
    return refuse(tenon, tool,
                  arena_printf(&tenon->arena, "%s%s: expected %s", member, pointer, expected));
}

static int open_schema(struct tenon *tenon, const char *tool, const char *member, struct str text,
                       const struct tape_node **ret)
{
    struct arena *arena = &tenon->into->arena;
    struct wire_fault fault = {0};
    char *padded = arena_zalloc(arena, (size_t)text.n + JSON_PADDING_BYTES);
    if (!padded)
        return component_add_no_memory(tenon);
    memcpy(padded, text.p, text.n);
    int err = tape_open((struct str){padded, text.n}, arena, ret, &fault);
    if (err == ERR_NO_MEMORY)
        return component_add_no_memory(tenon);
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
    err = json_schema_compile(document, NULL, &tenon->into->arena, ret, &faults);
    if (err == ERR_PARAMS) {
        const struct schema_fault *f = &faults.v[0];
        struct str what = arena_printf(&tenon->arena, "%s%s: %s: expected %s", member, f->pointer,
                                       f->keyword, f->expected);
        return refuse(tenon, tool, what);
    }
    return err < 0 ? component_add_no_memory(tenon) : 0;
}

/* ---- Adding --------------------------------------------------------------------------------- */

static int check_tool(struct tenon *tenon, const struct tenon_tool *tool)
{
    const char *name = tool->name;
    if (!tenon->component.p)
        return refuse(tenon, name, STR("tools are added in tenon_component only"));
    if (!component_is_name(name))
        return refuse(tenon, name, STR("its name: expected 1 to 128 of A-Z a-z 0-9 _ . -"));
    if (component_find_tool(tenon->into, str_of(name)))
        return refuse(tenon, name, STR("another one has this name"));
    if (!tool->description || !*tool->description)
        return refuse(tenon, name, STR("it has no description"));
    return tool->run ? 0 : refuse(tenon, name, STR("it has no run callback"));
}

static int copy_tool(struct tenon *tenon, const struct tenon_tool *from, struct component_tool *to)
{
    *to = (struct component_tool){
        .component = tenon->component,
        .name = component_add_text(tenon, from->name),
        .title = component_add_text(tenon, from->title),
        .description = component_add_text(tenon, from->description),
        .input_text = from->input_schema ? component_add_text(tenon, from->input_schema)
                                         : STR("{\"type\":\"object\"}"),
        .output_text = component_add_text(tenon, from->output_schema),
        .hints = from->hints,
        .is_inline = from->is_inline,
        .run = from->run,
        .ctx = from->ctx,
    };
    const char *const texts[] = {from->name, from->title, from->description, from->output_schema};
    const struct str copies[] = {to->name, to->title, to->description, to->output_text};
    bool complete =
        to->input_text.p && component_are_copied(copies, texts, sizeof texts / sizeof *texts);
    return complete ? 0 : component_add_no_memory(tenon);
}

int tenon_add_tool(struct tenon *tenon, const struct tenon_tool *tool)
{
    struct offers *o = tenon->into;
    struct mcp_tool shown = {0};
    struct mcp_tool_annotations annotations = {0};
    int err = check_tool(tenon, tool);
    if (err)
        return err;
    void *v = component_add_room(tenon, o->tools, o->n_tools, &o->tools_cap, sizeof *o->tools);
    if (!v)
        return component_add_no_memory(tenon);
    o->tools = v;
    struct component_tool *to = &o->tools[o->n_tools];
    err = copy_tool(tenon, tool, to);
    if (!err)
        err = compile(tenon, tool->name, "inputSchema", to->input_text, &to->input);
    if (!err && to->output_text.p)
        err = compile(tenon, tool->name, "outputSchema", to->output_text, &to->output);
    if (err)
        return err;
    component_fill_tool(to, &shown, &annotations);
    err = component_add_check(tenon, MCP_DEFINITION_TOOL, &shown, "tool", tool->name);
    o->n_tools += err == 0;
    return err;
}

static int keep(struct tenon *tenon, const struct component_tool *t)
{
    return tenon_add_tool(tenon, &(struct tenon_tool){
                                     .name = t->name.p,
                                     .title = t->title.p,
                                     .description = t->description.p,
                                     .input_schema = t->input_text.p,
                                     .output_schema = t->output_text.p,
                                     .hints = t->hints,
                                     .is_inline = t->is_inline,
                                     .run = t->run,
                                     .ctx = t->ctx,
                                 });
}

int component_keep_tools(struct tenon *tenon, const struct offers *from, struct str component)
{
    int err = 0;
    for (uint32_t i = 0; err == 0 && i < from->n_tools; i++)
        if (str_eq(from->tools[i].component, component))
            err = keep(tenon, &from->tools[i]);
    return err;
}

/* ---- Finding and showing -------------------------------------------------------------------- */

const struct component_tool *component_find_tool(const struct offers *offers, struct str name)
{
    for (uint32_t i = 0; offers && i < offers->n_tools; i++)
        if (str_eq(offers->tools[i].name, name))
            return &offers->tools[i];
    return NULL;
}

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
    COMPONENT_SET_IF(tool, title, from->title);
    COMPONENT_SET_IF(tool, output_schema, from->output_text);
    SET_HINT(annotations, read_only_hint, from->hints.read_only);
    SET_HINT(annotations, destructive_hint, from->hints.destructive);
    SET_HINT(annotations, idempotent_hint, from->hints.idempotent);
    SET_HINT(annotations, open_world_hint, from->hints.open_world);
    if (annotations->has)
        MCP_SET(tool, annotations, annotations);
}
