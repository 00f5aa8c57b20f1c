/* codegen/emit_methods.c - methods.h and methods.re: names of methods and revisions, what a method
 * is, and the handlers that a person writes.
 */
#include "codegen/emit.h"

#include "codegen/names.h"

#include <string.h>

/* ---- gates and flags ------------------------------------------------------------------------- */

struct gate {
    struct str name; /* SERVER_RESOURCES_SUBSCRIBE */
    struct gate *next;
};

static void add_gate(const struct model *model, const char *side, const struct word *word,
                     struct gate **list)
{
    if (!word)
        return;
    struct str name = arena_printf(model->arena, "%s_" STR_FMT, side,
                                   STR_ARG(name_upper(model->arena, word->text)));
    while (*list && str_compare((*list)->name, name) < 0)
        list = &(*list)->next;
    if (*list && str_eq((*list)->name, name))
        return;
    struct gate *gate = must(arena_zalloc(model->arena, sizeof *gate));
    gate->name = name;
    gate->next = *list;
    *list = gate;
}

static const struct {
    const char *word, *name, *about;
} flags[] = {
    {"cancellable", "CANCELLABLE", "notifications/cancelled may name it"},
    {"progress", "PROGRESS", "its _meta may hold a progress token"},
    {"paginated", "PAGINATED", "takes and gives cursors"},
    {"before-initialized", "BEFORE_INITIALIZED", "allowed before the session is initialized"},
    {"no-session", "NO_SESSION", "needs no session"},
};

static void check_flags(const struct model *model, const struct method *method)
{
    for (const struct word *word = method->line->flags; word; word = word->next) {
        bool known = false;
        for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
            known |= str_eq(word->text, str_of(flags[i].word));
        if (!known)
            fault_at(overlay_place(&model->overlay, word->line),
                     "no flag is called \"" STR_FMT "\"", STR_ARG(word->text));
    }
}

static void add_flags(const struct method *method, const struct method_use *use, struct buf *text)
{
    const char *between = "";
    size_t start = text->n;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        for (const struct word *word = method->line->flags; word; word = word->next)
            if (str_eq(word->text, str_of(flags[i].word))) {
                buf_printf(text, "%sMCP_%s", between, flags[i].name);
                between = " | ";
            }
    if (use->params_required) {
        buf_printf(text, "%sMCP_PARAMS_REQUIRED", between);
        between = " | ";
    }
    if (method->line->ignored)
        buf_printf(text, "%sMCP_IGNORED", between);
    if (text->n == start)
        buf_add_char(text, '0');
}

/* ---- methods.h ------------------------------------------------------------------------------- */

static struct str upper(const struct model *model, const struct method *method)
{
    return name_upper(model->arena, method->name);
}

static void emit_gates(const struct model *model, struct buf *text)
{
    struct gate *gates = NULL;
    unsigned bit = 0;
    for (const struct method *m = model->methods; m; m = m->next) {
        add_gate(model, "SERVER", m->line->server_gate, &gates);
        add_gate(model, "CLIENT", m->line->client_gate, &gates);
    }
    buf_add_lit(text,
                "\n/* Capabilities that methods depend on, as bits. */\nenum mcp_capability {\n");
    for (const struct gate *gate = gates; gate; gate = gate->next)
        buf_printf(text, "    MCP_" STR_FMT " = 1 << %u,\n", STR_ARG(gate->name), bit++);
    buf_add_lit(text, "};\n");
}

static void emit_enums(const struct model *model, struct buf *text)
{
    buf_add_lit(text, "\nenum mcp_method {\n");
    for (const struct method *m = model->methods; m; m = m->next)
        buf_printf(text, "    MCP_" STR_FMT ",\n", STR_ARG(upper(model, m)));
    buf_add_lit(text, "    MCP_METHODS,\n};\n");
    emit_gates(model, text);
    buf_add_lit(text, "\nenum mcp_method_flag {\n");
    unsigned bit = 0;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        buf_printf(text, "    MCP_%s = 1 << %u, /* %s */\n", flags[i].name, bit++, flags[i].about);
    buf_printf(text, "    MCP_PARAMS_REQUIRED = 1 << %u,\n", bit++);
    buf_printf(text, "    MCP_IGNORED = 1 << %u, /* accepted, and nothing is done */\n", bit);
    buf_add_lit(text, "};\n");
}

static const struct method_use *handled_use(const struct model *model, const struct method *method)
{
    if (!method->line->handled)
        return NULL;
    for (unsigned i = 0; i < model->n_revisions; i++)
        if (method->uses[i].from_client)
            return &method->uses[i];
    return NULL;
}

static struct str handler_name(const struct model *model, const struct method *method)
{
    return arena_printf(model->arena, "mcp_on_" STR_FMT,
                        STR_ARG(name_snake(model->arena, method->name)));
}

static void emit_handlers(const struct model *model, struct buf *text)
{
    buf_add_lit(
        text, "\n/* The handlers, written by hand. 0, an error of base/err.h, or what core/call.h\n"
              " * says of answers that come later. */\n");
    for (const struct method *m = model->methods; m; m = m->next) {
        const struct method_use *use = handled_use(model, m);
        if (!use)
            continue;
        struct str name = handler_name(model, m);
        buf_printf(text, "int " STR_FMT "(struct call *call, const struct " STR_FMT " *params",
                   STR_ARG(name), STR_ARG(use->params->record->c_name));
        if (use->has_result)
            buf_printf(text, ",\n%*s" STR_FMT " *ret", (int)name.n + 5, "",
                       STR_ARG(shape_value_type(model->arena, &use->result)));
        buf_add_lit(text, ");\n");
    }
}

static void emit_lookups(const struct model *model, struct buf *text)
{
    buf_add_lit(text, "\n/* MCP_METHODS if no revision has a method of that name. */\n"
                      "enum mcp_method mcp_method_find(struct str name);\n"
                      "const char *mcp_method_name(enum mcp_method method);\n"
                      "/* 0, or ERR_VERSION for a text that is no revision here. */\n"
                      "int mcp_revision_find(struct str text, enum mcp_revision *ret);\n"
                      "const char *mcp_revision_name(enum mcp_revision revision);\n\n");
    for (unsigned i = 0; i < model->n_revisions; i++)
        buf_printf(text, "extern const struct mcp_dispatch mcp_" STR_FMT "_dispatch;\n",
                   STR_ARG(model->revisions[i].c_name));
    buf_add_lit(text, "\nstatic inline const struct mcp_dispatch *mcp_dispatch(enum mcp_revision "
                      "revision)\n{\n"
                      "    static const struct mcp_dispatch *const dispatch[MCP_REVISIONS] = {\n");
    for (unsigned i = 0; i < model->n_revisions; i++)
        buf_printf(text, "        &mcp_" STR_FMT "_dispatch,\n",
                   STR_ARG(model->revisions[i].c_name));
    buf_add_lit(text,
                "    };\n    return dispatch[revision];\n}\n\n"
                "/* NULL if the revision does not have the method (or it is MCP_METHODS). */\n"
                "static inline const struct mcp_method_row *mcp_method_row(enum mcp_revision "
                "revision,\n"
                "                                                          enum mcp_method "
                "method)\n{\n"
                "    const struct mcp_method_row *row =\n"
                "        method < MCP_METHODS ? &mcp_dispatch(revision)->rows[method] : "
                "NULL;\n"
                "    return row && row->name ? row : NULL;\n}\n");
}

static void emit_header(const struct model *model, struct out *out)
{
    struct buf *text = out_open(
        out,
        " * methods.h - the methods of all revisions, their rows in each, and their handlers.\n"
        " *\n"
        " * A handler that is declared here and written nowhere does not link. A row without `run` "
        "is\n"
        " * a method that exists and is not offered: it is answered as not found.",
        "methods.h");
    buf_add_lit(text,
                "\n#include \"generated/types.h\"\n#include \"wire/table.h\"\n\nstruct call;\n");
    emit_enums(model, text);
    buf_add_lit(
        text, "\nstruct mcp_method_row {\n"
              "    const char *name; /* NULL: the revision does not have it */\n"
              "    enum mcp_method method;\n"
              "    bool is_request;\n"
              "    bool from_client, from_server; /* who may send it */\n"
              "    uint16_t flags;        /* enum mcp_method_flag */\n"
              "    uint32_t server_gate;  /* enum mcp_capability that the server must declare */\n"
              "    uint32_t client_gate;  /* ... that the client must declare */\n"
              "    const struct wire_type *params; /* NULL: none */\n"
              "    const struct wire_type *result; /* NULL: a notification */\n"
              "    uint16_t params_size, result_size; /* of their structs */\n"
              "    int (*run)(struct call *call, const void *params, void *result);\n"
              "};\n\n"
              "struct mcp_dispatch {\n"
              "    const struct mcp_method_row *rows; /* by enum mcp_method */\n"
              "    uint32_t capabilities; /* of the server: gates of the methods that run */\n"
              "};\n");
    emit_lookups(model, text);
    emit_handlers(model, text);
}

/* ---- methods.re ------------------------------------------------------------------------------ */

static void emit_lexer(const struct model *model, struct out *out)
{
    struct buf *text = out_open(
        out, " * methods.re - the recognisers of method and revision names.", "methods.re");
    buf_add_lit(
        text,
        "#include \"generated/methods.h\"\n\n#include \"base/err.h\"\n\n#include <string.h>\n\n"
        "/*!re2c\n    re2c:define:YYCTYPE = \"unsigned char\";\n"
        "    re2c:define:YYCURSOR = at;\n    re2c:yyfill:enable = 0;\n    end = \"\\x00\";\n*/\n\n"
        "/* The names of methods are shorter; the copy ends with a NUL, the text need not. */\n"
        "#define NAME_BYTES 64\n\n"
        "static enum mcp_method recognise(const char *at)\n{\n    const char *marker;\n"
        "    /*!re2c\n        re2c:define:YYMARKER = marker;\n");
    for (const struct method *m = model->methods; m; m = m->next)
        buf_printf(text, "        \"" STR_FMT "\" end { return MCP_" STR_FMT "; }\n",
                   STR_ARG(m->name), STR_ARG(upper(model, m)));
    buf_add_lit(text,
                "        * { return MCP_METHODS; }\n    */\n}\n\n"
                "enum mcp_method mcp_method_find(struct str name)\n{\n    char copy[NAME_BYTES];\n"
                "    if (name.n == 0 || name.n >= sizeof copy || memchr(name.p, 0, name.n))\n"
                "        return MCP_METHODS;\n    memcpy(copy, name.p, name.n);\n"
                "    copy[name.n] = 0;\n    return recognise(copy);\n}\n\n"
                "const char *mcp_method_name(enum mcp_method method)\n{\n"
                "    static const char *const names[MCP_METHODS] = {\n");
    for (const struct method *m = model->methods; m; m = m->next)
        buf_printf(text, "        [MCP_" STR_FMT "] = \"" STR_FMT "\",\n", STR_ARG(upper(model, m)),
                   STR_ARG(m->name));
    buf_add_lit(text, "    };\n    return method < MCP_METHODS ? names[method] : \"?\";\n}\n\n"
                      "static const char *const revisions[MCP_REVISIONS] = {\n");
    for (unsigned i = 0; i < model->n_revisions; i++)
        buf_printf(text, "    [MCP_" STR_FMT "] = \"" STR_FMT "\",\n",
                   STR_ARG(model->revisions[i].c_name), STR_ARG(model->revisions[i].name));
    buf_add_lit(text, "};\n\nint mcp_revision_find(struct str text, enum mcp_revision *ret)\n{\n"
                      "    for (unsigned i = 0; i < MCP_REVISIONS; i++)\n"
                      "        if (str_eq(text, str_of(revisions[i]))) {\n"
                      "            *ret = (enum mcp_revision)i;\n            return 0;\n        }\n"
                      "    return ERR_VERSION;\n}\n\n"
                      "const char *mcp_revision_name(enum mcp_revision revision)\n{\n"
                      "    return revision < MCP_REVISIONS ? revisions[revision] : \"?\";\n}\n");
}

void emit_methods(const struct model *model, struct out *out)
{
    for (const struct method *m = model->methods; m; m = m->next)
        check_flags(model, m);
    emit_header(model, out);
    emit_lexer(model, out);
}

/* ---- <rev>/dispatch.c ------------------------------------------------------------------------ */

static bool runs(const struct method *method, const struct method_use *use)
{
    return method->line->handled && use->from_client;
}

static void emit_trampoline(const struct model *model, const struct method *method,
                            const struct method_use *use, struct buf *text)
{
    struct str snake = name_snake(model->arena, method->name);
    buf_printf(text,
               "\nstatic int run_" STR_FMT
               "(struct call *call, const void *params, void *result)\n{\n",
               STR_ARG(snake));
    if (!use->has_result)
        buf_add_lit(text, "    (void)result;\n");
    buf_printf(text, "    return mcp_on_" STR_FMT "(call, params%s);\n}\n", STR_ARG(snake),
               use->has_result ? ", result" : "");
}

/* The members of a row as items of a list. */
struct row_out {
    struct buf *text;
    unsigned column;
};

static void add_item(struct row_out *row, struct str item)
{
    row->column = out_item(row->text, row->column, 8, item);
}

static void add_gate_mask(const struct model *model, const char *side, const struct word *word,
                          struct row_out *row)
{
    if (word)
        add_item(row, arena_printf(model->arena, ".%s_gate = MCP_%s_" STR_FMT ",",
                                   *side == 'S' ? "server" : "client", side,
                                   STR_ARG(name_upper(model->arena, word->text))));
}

static void add_part(const struct model *model, const char *part, const struct shape *shape,
                     struct row_out *row)
{
    struct buf type = {0};
    add_wire_type(model, shape, &type);
    add_item(row,
             arena_printf(model->arena, ".%s = TYPE(%.*s),", part, (int)type.n - 4, type.p + 3));
    if (shape->object && shape->object->record)
        add_item(row, arena_printf(model->arena, ".%s_size = sizeof(struct " STR_FMT "),", part,
                                   STR_ARG(shape->object->record->c_name)));
    buf_done(&type);
}

static void add_senders(const struct model *model, const struct method *method,
                        const struct method_use *use, struct row_out *row)
{
    struct buf text = {0};
    if (method->is_request)
        add_item(row, STR(".is_request = true,"));
    if (use->from_client)
        add_item(row, STR(".from_client = true,"));
    if (use->from_server)
        add_item(row, STR(".from_server = true,"));
    add_flags(method, use, &text);
    add_item(row, arena_printf(model->arena, ".flags = " STR_FMT ",", STR_ARG(buf_str(&text))));
    buf_done(&text);
}

static void emit_method_row(const struct model *model, const struct method *method,
                            const struct method_use *use, struct buf *text)
{
    struct shape params = {.kind = KIND_OBJECT, .object = (struct object *)(uintptr_t)use->params};
    struct row_out row = {text, 8};
    struct str name = upper(model, method);
    buf_printf(text, "    [MCP_" STR_FMT "] = {\n        ", STR_ARG(name));
    add_item(&row, arena_printf(model->arena, ".name = \"" STR_FMT "\",", STR_ARG(method->name)));
    add_item(&row, arena_printf(model->arena, ".method = MCP_" STR_FMT ",", STR_ARG(name)));
    add_senders(model, method, use, &row);
    add_gate_mask(model, "SERVER", method->line->server_gate, &row);
    add_gate_mask(model, "CLIENT", method->line->client_gate, &row);
    if (use->params)
        add_part(model, "params", &params, &row);
    if (use->has_result)
        add_part(model, "result", &use->result, &row);
    if (runs(method, use))
        add_item(&row, arena_printf(model->arena, ".run = run_" STR_FMT ",",
                                    STR_ARG(name_snake(model->arena, method->name))));
    buf_add_lit(text, "\n    },\n");
}

static void add_capabilities(const struct model *model, unsigned number, struct buf *text)
{
    struct gate *gates = NULL;
    for (const struct method *m = model->methods; m; m = m->next)
        if (runs(m, &m->uses[number]))
            add_gate(model, "SERVER", m->line->server_gate, &gates);
    if (!gates)
        buf_add_char(text, '0');
    for (const struct gate *gate = gates; gate; gate = gate->next)
        buf_printf(text, "MCP_" STR_FMT "%s", STR_ARG(gate->name), gate->next ? " | " : "");
}

static void emit_revision(const struct model *model, unsigned number, struct out *out)
{
    const struct revision *revision = &model->revisions[number];
    struct str about =
        arena_printf(model->arena,
                     " * " STR_FMT "/dispatch.c - the methods of this revision: which tables, who, "
                     "when, and the handler.",
                     STR_ARG(revision->name));
    struct buf *text = out_open(out, about.p, STR_FMT "/dispatch.c", STR_ARG(revision->name));
    buf_add_lit(text, "#include \"generated/methods.h\"\n#include \"generated/tables.h\"\n");
    for (const struct method *m = model->methods; m; m = m->next)
        if (runs(m, &m->uses[number]))
            emit_trampoline(model, m, &m->uses[number], text);
    buf_add_lit(text, "\nstatic const struct mcp_method_row rows[MCP_METHODS] = {\n");
    for (const struct method *m = model->methods; m; m = m->next)
        if (m->uses[number].from_client || m->uses[number].from_server)
            emit_method_row(model, m, &m->uses[number], text);
    buf_printf(text,
               "};\n\nconst struct mcp_dispatch mcp_" STR_FMT
               "_dispatch = {\n    .rows = rows,\n    .capabilities = ",
               STR_ARG(revision->c_name));
    add_capabilities(model, number, text);
    buf_add_lit(text, ",\n};\n");
}

void emit_dispatch(const struct model *model, struct out *out)
{
    for (unsigned i = 0; i < model->n_revisions; i++)
        emit_revision(model, i, out);
}
