/* codegen/emit_golden.c - golden.h: of every definition the smallest and a full instance as text.
 *
 * The smallest holds what is required, the full one every member; below FULL_DEPTH objects the full
 * one goes on with smallest ones, since objects may hold each other.
 */
#include "codegen/emit.h"

#include "codegen/names.h"

#define FULL_DEPTH 5

struct golden {
    struct buf *text;
    bool full;
    unsigned depth;
};

static void add_value(struct golden *g, const struct shape *shape);

static void add_string(struct golden *g, const struct shape *shape)
{
    static const char *const texts[] = {"\"text\"", "\"https://example.com/a?b=1\"",
                                        "\"https://example.com/{name}\"", "\"aGVsbG8=\""};
    buf_printf(g->text, "%s", texts[shape->format]);
}

static void add_number(struct golden *g, const struct shape *shape)
{
    double value = g->full ? 7 : 0;
    if (shape->has_min && value < shape->min)
        value = shape->min;
    if (shape->has_max && value > shape->max)
        value = shape->max;
    if (shape->kind == KIND_NUM && g->full && (!shape->has_max || shape->max >= value + 0.5))
        value += 0.5;
    buf_printf(g->text, "%.17g", value);
}

/* A member that tells alternatives apart holds what its alternative wants. */
struct pin {
    struct str key, literal;
};

static void add_members(struct golden *g, const struct object *object, struct pin pin)
{
    bool full = g->full;
    const char *between = "";
    g->full = full && g->depth < FULL_DEPTH;
    g->depth++;
    buf_add_char(g->text, '{');
    for (uint32_t i = 0; i < object->n_fields; i++) {
        const struct field *field = &object->fields[i];
        bool pinned = pin.literal.p && str_eq(field->key, pin.key);
        if (!field->required && !g->full && !pinned)
            continue;
        buf_printf(g->text, "%s\"" STR_FMT "\":", between, STR_ARG(field->key));
        if (pinned)
            buf_add_str(g->text, pin.literal);
        else
            add_value(g, &field->shape);
        between = ",";
    }
    buf_add_char(g->text, '}');
    g->depth--;
    g->full = full;
}

/* The smallest is the first alternative, the full one the last. */
static void add_object(struct golden *g, const struct object *object)
{
    struct pin pin = {STR_NONE, STR_NONE};
    while (object->n_alternatives) {
        const struct alternative *a =
            &object->alternatives[g->full ? object->n_alternatives - 1 : 0];
        if (a->literal.p)
            pin = (struct pin){object->fields[a->fixed].key, a->literal};
        object = a->object;
    }
    add_members(g, object, pin);
}

static void add_raw(struct golden *g, const struct shape *shape)
{
    static const struct {
        uint32_t type;
        const char *smallest, *full;
    } texts[] = {{T_OBJECT, "{}", "{\"any\":[1.5,null,true]}"},
                 {T_STRING, "\"\"", "\"text\""},
                 {T_NUMBER, "0", "1.5"},
                 {T_INTEGER, "0", "7"},
                 {T_NULL, "null", "null"},
                 {T_BOOL, "false", "true"},
                 {T_ARRAY, "[]", "[]"}};
    if (shape->object) {
        add_object(g, shape->object);
        return;
    }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (shape->types & texts[i].type) {
            buf_printf(g->text, "%s", g->full ? texts[i].full : texts[i].smallest);
            return;
        }
}

static void add_one(struct golden *g, const struct shape *shape)
{
    switch (shape->kind) {
    case KIND_STR:
        add_string(g, shape);
        break;
    case KIND_INT:
    case KIND_NUM:
        add_number(g, shape);
        break;
    case KIND_BOOL:
        buf_printf(g->text, "%s", g->full ? "true" : "false");
        break;
    case KIND_ENUM:
        buf_printf(g->text, "\"" STR_FMT "\"",
                   STR_ARG(shape->choices->values[g->full ? shape->choices->n - 1 : 0]));
        break;
    case KIND_CONST:
        buf_add_str(g->text, shape->literal);
        break;
    case KIND_TOKEN:
        buf_printf(g->text, "%s", g->full ? "\"token\"" : "1");
        break;
    case KIND_RAW:
        add_raw(g, shape);
        break;
    case KIND_OBJECT:
        add_object(g, shape->object);
        break;
    }
}

static void add_value(struct golden *g, const struct shape *shape)
{
    bool list = shape->container == CONTAINER_ARRAY ||
                (shape->container == CONTAINER_MANY && g->full && shape->max_items != 1);
    if (list)
        buf_add_char(g->text, '[');
    if (shape->container == CONTAINER_MAP)
        buf_add_char(g->text, '{');
    if (shape->container == CONTAINER_MAP && g->full)
        buf_add_lit(g->text, "\"key\":");
    if (g->full || (!list && shape->container != CONTAINER_MAP))
        add_one(g, shape);
    if (list && shape->container == CONTAINER_MANY) { /* one alone is written without brackets */
        buf_add_char(g->text, ',');
        add_one(g, shape);
    }
    if (list)
        buf_add_char(g->text, ']');
    if (shape->container == CONTAINER_MAP)
        buf_add_char(g->text, '}');
}

/* As a C string, cut into pieces of a line each. */
static void add_quoted(struct str json, struct buf *text)
{
    unsigned column = 0;
    buf_add_lit(text, "\n     \"");
    for (uint32_t i = 0; i < json.n; i++) {
        if (column > 85) {
            buf_add_lit(text, "\"\n     \"");
            column = 0;
        }
        if (json.p[i] == '"' || json.p[i] == '\\') {
            buf_add_char(text, '\\');
            column++;
        }
        buf_add_char(text, json.p[i]);
        column++;
    }
    buf_add_char(text, '"');
}

static void emit_instance(const struct shape *shape, bool full, struct buf *text)
{
    struct buf json = {0};
    struct golden golden = {.text = &json, .full = full};
    add_value(&golden, shape);
    add_quoted(buf_str(&json), text);
    buf_done(&json);
}

static void emit_revision(const struct model *model, const struct revision *revision,
                          struct buf *text)
{
    buf_printf(text, "\nstatic const struct mcp_golden mcp_golden_" STR_FMT "[] = {\n",
               STR_ARG(revision->c_name));
    for (uint32_t i = 0; i < revision->n_entries; i++) {
        const struct entry *entry = &revision->entries[i];
        buf_printf(text, "    {MCP_DEFINITION_" STR_FMT ",",
                   STR_ARG(name_upper(model->arena, entry->name)));
        emit_instance(&entry->shape, false, text);
        buf_add_char(text, ',');
        emit_instance(&entry->shape, true, text);
        buf_add_lit(text, "},\n");
    }
    buf_add_lit(text, "};\n");
}

void emit_golden(const struct model *model, struct out *out)
{
    struct buf *text = out_open(
        out,
        " * golden.h - for tests: of every definition the smallest instance and a full one.\n"
        " *\n"
        " * Members stand in the order of the tables, so a value that is read and written again is "
        "the\n"
        " * same text.",
        "golden.h");
    buf_add_lit(text, "\n#include \"generated/edges.h\"\n\nstruct mcp_golden {\n"
                      "    enum mcp_definition definition;\n"
                      "    const char *smallest, *full;\n};\n");
    for (unsigned i = 0; i < model->n_revisions; i++)
        emit_revision(model, &model->revisions[i], text);
    buf_add_lit(text, "\nstatic const struct mcp_golden_list {\n"
                      "    const struct mcp_golden *v;\n    unsigned n;\n"
                      "} mcp_golden[MCP_REVISIONS] = {\n");
    for (unsigned i = 0; i < model->n_revisions; i++) {
        struct str name = model->revisions[i].c_name;
        buf_printf(text,
                   "    [MCP_" STR_FMT "] = {mcp_golden_" STR_FMT
                   ",\n        sizeof mcp_golden_" STR_FMT " / sizeof *mcp_golden_" STR_FMT "},\n",
                   STR_ARG(name), STR_ARG(name), STR_ARG(name), STR_ARG(name));
    }
    buf_add_lit(text, "};\n");
}
