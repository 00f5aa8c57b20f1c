/* codegen/emit_edges.c - edges.h and edges.c: parse, check and write, typed, per definition. */
#include "codegen/emit.h"

#include "codegen/names.h"

#include <string.h>

struct edge {
    struct str name;
    struct str type;
    struct edge *next; /* sorted by name */
};

static void add_edge(const struct model *model, const struct entry *entry, struct edge **list)
{
    while (*list && str_compare((*list)->name, entry->name) < 0)
        list = &(*list)->next;
    if (*list && str_eq((*list)->name, entry->name))
        return;
    struct edge *edge = must(arena_zalloc(model->arena, sizeof *edge));
    bool inner = entry->shape.kind == KIND_OBJECT && entry->shape.container == CONTAINER_ONE;
    edge->name = entry->name;
    edge->type = inner ? shape_value_type(model->arena, &entry->shape)
                       : shape_type(model->arena, &entry->shape);
    if (memchr(edge->type.p, '{', edge->type.n))
        fault_at(entry->place, "\"" STR_FMT "\": an array of this kind needs a struct around it",
                 STR_ARG(entry->name));
    edge->next = *list;
    *list = edge;
}

static void emit_enum(const struct model *model, const struct edge *edges, struct buf *text)
{
    unsigned column = 4;
    buf_add_lit(text, "\nenum mcp_definition {\n    ");
    for (const struct edge *edge = edges; edge; edge = edge->next)
        column = out_item(text, column, 4,
                          arena_printf(model->arena, "MCP_DEFINITION_" STR_FMT ",",
                                       STR_ARG(name_upper(model->arena, edge->name))));
    buf_add_lit(text, "\n    MCP_DEFINITIONS,\n};\n\n");
}

static void emit_macro(struct buf *text)
{
    buf_add_lit(
        text,
        "/* The definitions of a revision, MCP_DEFINITIONS of them; `type` is NULL for what the\n"
        " * revision does not have. */\n"
        "const struct wire_definition *mcp_definitions(enum mcp_revision revision);\n"
        "/* NULL: the revision does not have it. */\n"
        "const struct wire_type *mcp_type(enum mcp_revision revision, enum mcp_definition "
        "definition);\n\n"
        "/* For every definition X below, with the C type that stands there:\n"
        " *   mcp_parse_x  reads JSON text into *ret\n"
        " *   mcp_check_x  the same verdict without storing\n"
        " *   mcp_write_x  appends JSON text\n"
        " * Return as wire_parse, wire_check and wire_write do; ERR_ABSENT if the revision does "
        "not\n"
        " * have the definition. */\n"
        "int mcp_parse(enum mcp_revision revision, enum mcp_definition definition, struct str "
        "text,\n"
        "              struct arena *arena, void *ret, struct wire_fault *fault);\n"
        "int mcp_check(enum mcp_revision revision, enum mcp_definition definition, struct str "
        "text,\n"
        "              struct wire_fault *fault);\n"
        "int mcp_write(enum mcp_revision revision, enum mcp_definition definition, const void "
        "*value,\n"
        "              struct buf *out);\n\n"
        "#define MCP_EDGE(name, id, type)                                                          "
        "\\\n"
        "    static inline int mcp_parse_##name(enum mcp_revision revision, struct str text,       "
        "\\\n"
        "                                       struct arena *arena, type *ret,                    "
        "\\\n"
        "                                       struct wire_fault *fault)                          "
        "\\\n"
        "    {                                                                                     "
        "\\\n"
        "        return mcp_parse(revision, MCP_DEFINITION_##id, text, arena, ret, fault);         "
        "\\\n"
        "    }                                                                                     "
        "\\\n"
        "    static inline int mcp_check_##name(enum mcp_revision revision, struct str text,       "
        "\\\n"
        "                                       struct wire_fault *fault)                          "
        "\\\n"
        "    {                                                                                     "
        "\\\n"
        "        return mcp_check(revision, MCP_DEFINITION_##id, text, fault);                     "
        "\\\n"
        "    }                                                                                     "
        "\\\n"
        "    static inline int mcp_write_##name(enum mcp_revision revision, const type *value,     "
        "\\\n"
        "                                       struct buf *out)                                   "
        "\\\n"
        "    {                                                                                     "
        "\\\n"
        "        return mcp_write(revision, MCP_DEFINITION_##id, value, out);                      "
        "\\\n"
        "    }\n\n");
}

static void emit_header(const struct model *model, const struct edge *edges, struct out *out)
{
    struct buf *text = out_open(
        out, " * edges.h - typed functions around the tables, one set per definition.", "edges.h");
    buf_add_lit(text, "\n#include \"generated/types.h\"\n#include \"wire/json_read.h\"\n"
                      "#include \"wire/json_write.h\"\n");
    emit_enum(model, edges, text);
    emit_macro(text);
    for (const struct edge *edge = edges; edge; edge = edge->next)
        buf_printf(text, "MCP_EDGE(" STR_FMT ", " STR_FMT ", " STR_FMT ")\n",
                   STR_ARG(name_snake(model->arena, edge->name)),
                   STR_ARG(name_upper(model->arena, edge->name)), STR_ARG(edge->type));
}

static void emit_definitions(const struct model *model, const struct revision *revision,
                             struct buf *text)
{
    buf_printf(text, "    [MCP_" STR_FMT "] = {\n", STR_ARG(revision->c_name));
    for (uint32_t i = 0; i < revision->n_entries; i++) {
        const struct entry *entry = &revision->entries[i];
        struct buf type = {0};
        unsigned column = 8;
        add_wire_type(model, &entry->shape, &type);
        buf_add_lit(text, "        ");
        column = out_item(text, column, 8,
                          arena_printf(model->arena, "[MCP_DEFINITION_" STR_FMT "] =",
                                       STR_ARG(name_upper(model->arena, entry->name))));
        column =
            out_item(text, column, 12,
                     arena_printf(model->arena, "{\"" STR_FMT "\",", STR_ARG(entry->published)));
        out_item(text, column, 12,
                 arena_printf(model->arena, "TYPE(%.*s)},", (int)type.n - 4, type.p + 3));
        buf_add_char(text, '\n');
        buf_done(&type);
    }
    buf_add_lit(text, "    },\n");
}

static void emit_source(const struct model *model, struct out *out)
{
    struct buf *text = out_open(out, " * edges.c - see edges.h.", "edges.c");
    buf_add_lit(text, "#include \"generated/edges.h\"\n\n#include \"base/err.h\"\n#include "
                      "\"generated/tables.h\"\n");
    buf_add_lit(text, "\nstatic const struct wire_definition "
                      "definitions[MCP_REVISIONS][MCP_DEFINITIONS] = {\n");
    for (unsigned i = 0; i < model->n_revisions; i++)
        emit_definitions(model, &model->revisions[i], text);
    buf_add_lit(
        text,
        "};\n\n"
        "const struct wire_definition *mcp_definitions(enum mcp_revision revision)\n"
        "{\n    return definitions[revision];\n}\n\n"
        "const struct wire_type *mcp_type(enum mcp_revision revision, enum mcp_definition "
        "definition)\n"
        "{\n    return definitions[revision][definition].type;\n}\n\n"
        "int mcp_parse(enum mcp_revision revision, enum mcp_definition definition, struct str "
        "text,\n"
        "              struct arena *arena, void *ret, struct wire_fault *fault)\n"
        "{\n"
        "    const struct wire_type *type = mcp_type(revision, definition);\n"
        "    return type ? wire_parse(type, text, arena, ret, fault) : ERR_ABSENT;\n}\n\n"
        "int mcp_check(enum mcp_revision revision, enum mcp_definition definition, struct str "
        "text,\n"
        "              struct wire_fault *fault)\n"
        "{\n"
        "    const struct wire_type *type = mcp_type(revision, definition);\n"
        "    return type ? wire_check(type, text, fault) : ERR_ABSENT;\n}\n\n"
        "int mcp_write(enum mcp_revision revision, enum mcp_definition definition, const void "
        "*value,\n"
        "              struct buf *out)\n"
        "{\n"
        "    const struct wire_type *type = mcp_type(revision, definition);\n"
        "    return type ? wire_write(type, value, out) : ERR_ABSENT;\n}\n");
}

void emit_edges(const struct model *model, struct out *out)
{
    struct edge *edges = NULL;
    for (unsigned i = 0; i < model->n_revisions; i++)
        for (uint32_t k = 0; k < model->revisions[i].n_entries; k++)
            add_edge(model, &model->revisions[i].entries[k], &edges);
    emit_header(model, edges, out);
    emit_source(model, out);
}
