/* codegen/emit_types.c - types.h: the revisions, the enums, and one struct per record. */
#include "codegen/emit.h"

#include "codegen/names.h"

/* "2025-03-26 to 2025-11-25", "all revisions", "2025-06-18" */
static void add_revisions(const struct model *model, uint32_t mask, struct buf *text)
{
    const char *between = "";
    if (mask == (1u << model->n_revisions) - 1) {
        buf_add_lit(text, "all revisions");
        return;
    }
    for (unsigned i = 0; i < model->n_revisions; i++) {
        unsigned last = i;
        if (!(mask >> i & 1))
            continue;
        while (mask >> (last + 1) & 1)
            last++;
        buf_printf(text, "%s" STR_FMT, between, STR_ARG(model->revisions[i].name));
        if (last > i)
            buf_printf(text, " to " STR_FMT, STR_ARG(model->revisions[last].name));
        between = ", ";
        i = last;
    }
}

static void add_enum_line(struct buf *text, unsigned *column, struct str item)
{
    *column = out_item(text, *column, 4, item);
}

static void emit_revisions(const struct model *model, struct buf *text)
{
    unsigned column = 4;
    buf_add_lit(text, "\nenum mcp_revision {\n    ");
    for (unsigned i = 0; i < model->n_revisions; i++)
        add_enum_line(
            text, &column,
            arena_printf(model->arena, "MCP_" STR_FMT ",", STR_ARG(model->revisions[i].c_name)));
    buf_printf(text, "\n};\n#define MCP_REVISIONS %u\n", model->n_revisions);
}

static void emit_enumeration(const struct model *model, const struct enumeration *e,
                             struct buf *text)
{
    unsigned column = 4;
    buf_printf(text, "\n/* " STR_FMT ": ", STR_ARG(e->name));
    add_revisions(model, e->revisions, text);
    buf_printf(text, ". */\nenum " STR_FMT " {\n    ", STR_ARG(e->c_name));
    for (uint32_t i = 0; i < e->n; i++)
        add_enum_line(text, &column,
                      arena_printf(model->arena, "MCP_" STR_FMT "_" STR_FMT ",",
                                   STR_ARG(name_upper(model->arena, e->name)),
                                   STR_ARG(name_upper(model->arena, e->values[i]))));
    buf_add_lit(text, "\n};\n");
}

static void emit_kinds(const struct model *model, const struct record *record, struct buf *text)
{
    unsigned column = 4, kind = 1;
    buf_printf(text, "\nenum " STR_FMT "_kind {\n    ", STR_ARG(record->c_name));
    for (const struct word *word = record->home->words; word; word = word->next, kind++)
        add_enum_line(text, &column,
                      arena_printf(model->arena, "MCP_KIND_" STR_FMT " = %u,",
                                   STR_ARG(name_upper(model->arena, word->text)), kind));
    buf_add_lit(text, "\n};\n");
}

static void emit_bits(const struct model *model, const struct record *record, struct buf *text)
{
    unsigned column = 13;
    if (!record->members) {
        buf_add_lit(text, "    uint64_t has;\n");
        return;
    }
    buf_add_lit(text, "    MCP_MEMBERS(");
    for (const struct member *m = record->members; m; m = m->next)
        column =
            out_item(text, column, 16,
                     arena_printf(model->arena, "has_" STR_FMT " : 1%s",
                                  STR_ARG(name_snake(model->arena, m->key)), m->next ? "," : ""));
    buf_add_lit(text, ");\n");
}

static void emit_member(const struct model *model, const struct member *member, struct buf *text)
{
    struct str type = shape_type(model->arena, &member->shape);
    if (member->shape.kind == KIND_CONST)
        return;
    buf_printf(text, "    " STR_FMT "%s" STR_FMT ";\n", STR_ARG(type),
               type.p[type.n - 1] == '*' ? "" : " ", STR_ARG(member->c_name));
}

static void emit_record(const struct model *model, const struct record *record, struct buf *text)
{
    if (record->is_union)
        emit_kinds(model, record, text);
    buf_printf(text, "\n/* " STR_FMT ": ", STR_ARG(record->name));
    add_revisions(model, record->revisions, text);
    buf_printf(text, ". */\nstruct " STR_FMT " {\n", STR_ARG(record->c_name));
    emit_bits(model, record, text);
    if (record->is_union)
        buf_printf(text, "    int32_t kind; /* enum " STR_FMT "_kind */\n",
                   STR_ARG(record->c_name));
    for (const struct member *m = record->members; m; m = m->next)
        emit_member(model, m, text);
    buf_add_lit(text, "};\n");
}

void emit_types(const struct model *model, struct out *out)
{
    struct buf *text = out_open(
        out,
        " * types.h - one struct and one enum per definition, for all protocol revisions.\n"
        " *\n"
        " * Every struct begins with the word `has`: a bit per member, set when the member is "
        "there\n"
        " * (has_x). How members lie in memory is told by wire/table.h. Which revision knows "
        "which\n"
        " * member is told by its tables; what a revision does not know is neither read nor "
        "written.",
        "types.h");
    buf_add_lit(text, "\n#include \"base/str.h\"\n\n"
                      "#define MCP_MEMBERS(...)          \\\n"
                      "    union {                       \\\n"
                      "        uint64_t has;             \\\n"
                      "        struct {                  \\\n"
                      "            uint64_t __VA_ARGS__; \\\n"
                      "        };                        \\\n"
                      "    }\n\n"
                      "/* Sets a member and says that it is there. */\n"
                      "#define MCP_SET(object, member, value) \\\n"
                      "    ((object)->member = (value), (object)->has_##member = 1)\n\n"
                      "struct mcp_strs {\n    struct str *v;\n    uint32_t n;\n};\n\n"
                      "struct mcp_pairs {\n    struct mcp_pair {\n        struct str key, value;\n"
                      "    } *v;\n    uint32_t n;\n};\n");
    emit_revisions(model, text);
    for (const struct enumeration *e = model->enumerations; e; e = e->next)
        emit_enumeration(model, e, text);
    for (const struct record *record = model->records; record; record = record->next)
        emit_record(model, record, text);
}
