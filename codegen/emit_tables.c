/* codegen/emit_tables.c - <rev>/tables.c: the constant tables that wire/ interprets, and tables.h.
 *
 * A table that an earlier revision has too is not written again but referred to. For each object
 * the multiplier of a perfect hash over its keys is looked for here.
 */
#include "codegen/emit.h"

#include "base/key_hash.h"
#include "codegen/names.h"

#include <string.h>

/* ---- expressions ----------------------------------------------------------------------------- */

static struct str symbol(struct arena *arena, const struct model *model, unsigned revision,
                         struct str name)
{
    return arena_printf(arena, "mcp_" STR_FMT "_" STR_FMT,
                        STR_ARG(model->revisions[revision].c_name),
                        STR_ARG(name_snake(arena, name)));
}

struct str table_name(struct arena *arena, const struct model *model, const struct object *object)
{
    return symbol(arena, model, object->same->revision, object->same->name);
}

/* JSON text as a C string. */
static struct str quoted(struct arena *arena, struct str json)
{
    if (*json.p != '"')
        return arena_printf(arena, "\"" STR_FMT "\"", STR_ARG(json));
    return arena_printf(arena, "\"\\\"" STR_FMT "\\\"\"",
                        STR_ARG(((struct str){json.p + 1, json.n - 2})));
}

static void add_json_types(const char *what, uint32_t types, struct buf *text)
{
    static const char *const names[] = {"NULL",   "BOOL",  "INTEGER", "NUMBER",
                                        "STRING", "ARRAY", "OBJECT"};
    const char *between = "";
    buf_printf(text, ", .%s = ", what);
    if (types == T_ANY) {
        buf_add_lit(text, "WIRE_T_ANY");
        return;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (types >> i & 1) {
            buf_printf(text, "%sWIRE_T_%s", between, names[i]);
            between = " | ";
        }
}

static void add_bound(const char *before, bool given, double value, const char *else_text,
                      struct buf *text)
{
    buf_add(text, before, strlen(before));
    if (given)
        buf_printf(text, "%.17g", value);
    else
        buf_add(text, else_text, strlen(else_text));
}

static void add_details(const struct model *model, const struct shape *shape, struct buf *text)
{
    if (shape->object)
        buf_printf(text, ", OF(" STR_FMT ")",
                   STR_ARG(table_name(model->arena, model, shape->object)));
    if (shape->choices)
        buf_printf(text, ", .of.choices = &" STR_FMT,
                   STR_ARG(symbol(model->arena, model, shape->choices->same->revision,
                                  shape->choices->name)));
    if (shape->kind == KIND_CONST)
        buf_printf(text, ", .of.literal = " STR_FMT, STR_ARG(quoted(model->arena, shape->literal)));
    if (shape->has_min || shape->has_max) {
        add_bound(", .of.range = &(const struct wire_range){", shape->has_min, shape->min,
                  "-HUGE_VAL", text);
        add_bound(", ", shape->has_max, shape->max, "HUGE_VAL", text);
        buf_add_char(text, '}');
    }
}

void add_wire_type(const struct model *model, const struct shape *shape, struct buf *text)
{
    static const char *const kinds[] = {"STR",   "INT",   "NUM", "BOOL",  "ENUM",
                                        "CONST", "TOKEN", "RAW", "OBJECT"};
    static const char *const containers[] = {"", "ARRAY", "MANY", "MAP"};
    static const char *const formats[] = {"", "URI", "URI_TEMPLATE", "BYTE"};
    buf_printf(text, "IS(%s", kinds[shape->kind]);
    if (shape->container != CONTAINER_ONE)
        buf_printf(text, ", .container = WIRE_%s", containers[shape->container]);
    if (shape->format != FORMAT_PLAIN)
        buf_printf(text, ", .format = WIRE_%s", formats[shape->format]);
    if (shape->kind == KIND_RAW)
        add_json_types("types", shape->types, text);
    if (shape->items)
        add_json_types("items", shape->items, text);
    if (shape->max_items)
        buf_printf(text, ", .max_items = %u", shape->max_items);
    add_details(model, shape, text);
    buf_add_char(text, ')');
}

/* ---- one object ------------------------------------------------------------------------------ */

static uint64_t word_at(struct str key, unsigned at)
{
    uint64_t word = 0;
    for (unsigned i = 0; i < 8; i++) {
        unsigned k = at + i;
        unsigned char c = k < key.n        ? (unsigned char)key.p[k]
                          : k == key.n     ? '"'
                          : k == key.n + 1 ? ':'
                                           : 0;
        word |= (uint64_t)c << 8 * i;
    }
    return word;
}

/* The fields of a row as items of a list, so that a long row breaks between them. */
static void emit_row(const struct model *model, const struct object *object,
                     const struct field *field, const char *end, struct buf *text)
{
    struct arena *arena = model->arena;
    struct buf type = {0};
    unsigned column = 4;
    add_wire_type(model, &field->shape, &type);
    buf_add_lit(text, "\n    ");
    if (field->member) {
        column = out_item(text, column, 4,
                          arena_printf(arena, "ROW(" STR_FMT ",", STR_ARG(object->record->c_name)));
        column = out_item(text, column, 8,
                          arena_printf(arena, STR_FMT ",", STR_ARG(field->member->c_name)));
        column =
            out_item(text, column, 8, arena_printf(arena, "\"" STR_FMT "\",", STR_ARG(field->key)));
    } else {
        column = out_item(text, column, 4,
                          arena_printf(arena, "BARE_ROW(\"" STR_FMT "\",", STR_ARG(field->key)));
    }
    column = out_item(text, column, 8,
                      arena_printf(arena, "0x%llx, 0x%llx, %u,",
                                   (unsigned long long)word_at(field->key, 0),
                                   (unsigned long long)word_at(field->key, 8), field->bit));
    out_item(text, column, 8, arena_printf(arena, STR_FMT ")%s", STR_ARG(buf_str(&type)), end));
    buf_done(&type);
}

struct hash {
    uint32_t multiplier;
    unsigned bits;
    uint8_t slots[256];
};

static bool fits(const struct object *object, struct hash *hash)
{
    memset(hash->slots, 0, sizeof hash->slots);
    for (uint32_t i = 0; i < object->n_fields; i++) {
        struct str key = object->fields[i].key;
        uint8_t *slot =
            &hash->slots[key_hash_slot(key_hash(key.p, key.n), hash->multiplier, hash->bits)];
        if (*slot)
            return false;
        *slot = (uint8_t)(i + 1);
    }
    return true;
}

/* Odd multipliers of a fixed sequence, in the smallest index first: the same every time. */
static void find_hash(const struct object *object, struct hash *ret)
{
    for (ret->bits = 1; ret->bits <= 8; ret->bits++) {
        uint32_t seed = 1;
        if (1u << ret->bits < object->n_fields)
            continue;
        for (unsigned i = 0; i < 20000; i++) {
            ret->multiplier = seed | 1;
            if (fits(object, ret))
                return;
            seed = seed * 1664525u + 1013904223u;
        }
    }
    fault_at(object->place, "\"" STR_FMT "\": no perfect hash of its members was found",
             STR_ARG(object->name));
}

static void add_index(const struct model *model, const struct hash *hash, unsigned column,
                      struct buf *text)
{
    column = out_item(text, column, 8,
                      arena_printf(model->arena, "INDEX(%u, 0x%x,", hash->bits, hash->multiplier));
    for (unsigned i = 0; i < 1u << hash->bits; i++)
        column = out_item(text, column, 8,
                          arena_printf(model->arena, "%u%s", hash->slots[i],
                                       i + 1 < 1u << hash->bits ? "," : "),"));
}

static void emit_variant(const struct model *model, const struct alternative *a, struct buf *text)
{
    unsigned column = 4;
    buf_add_lit(text, "    ");
    column = out_item(text, column, 4,
                      arena_printf(model->arena, "{.name = \"" STR_FMT "\",", STR_ARG(a->name)));
    if (a->present)
        column = out_item(
            text, column, 5,
            arena_printf(model->arena, ".present = 0x%llx,", (unsigned long long)a->present));
    if (a->absent)
        column = out_item(
            text, column, 5,
            arena_printf(model->arena, ".absent = 0x%llx,", (unsigned long long)a->absent));
    if (a->literal.p)
        column =
            out_item(text, column, 5,
                     arena_printf(model->arena, ".fixed_bit = %u, .fixed_literal = " STR_FMT ",",
                                  a->fixed, STR_ARG(quoted(model->arena, a->literal))));
    if (a->kind)
        column = out_item(text, column, 5, arena_printf(model->arena, ".kind = %u,", a->kind));
    out_item(text, column, 5,
             arena_printf(model->arena, ".message = &" STR_FMT "},",
                          STR_ARG(table_name(model->arena, model, a->object))));
    buf_add_char(text, '\n');
}

static void emit_variants(const struct model *model, const struct object *object, struct str snake,
                          struct buf *text)
{
    buf_printf(text, "static const struct wire_variant " STR_FMT "_variants[] = {\n",
               STR_ARG(snake));
    for (uint32_t i = 0; i < object->n_alternatives; i++)
        emit_variant(model, &object->alternatives[i], text);
    buf_add_lit(text, "};\n");
}

static uint64_t required_mask(const struct object *object)
{
    uint64_t mask = 0;
    for (uint32_t i = 0; i < object->n_fields; i++)
        if (object->fields[i].required)
            mask |= 1ull << object->fields[i].bit;
    return mask;
}

static struct str size_of(const struct model *model, const struct object *object)
{
    if (!object->record)
        return STR("0,");
    return arena_printf(model->arena, "sizeof(struct " STR_FMT "),",
                        STR_ARG(object->record->c_name));
}

/* MESSAGE with its required mask, or UNION with its alternatives. */
static void emit_table(const struct model *model, const struct object *object, struct buf *text)
{
    struct str snake = name_snake(model->arena, object->name);
    bool is_union = object->n_alternatives > 0;
    struct hash hash;
    unsigned column = 4;
    find_hash(object, &hash);
    column = out_item(text, column, 4,
                      arena_printf(model->arena, "%s(\"" STR_FMT "\",",
                                   is_union ? "UNION" : "MESSAGE", STR_ARG(object->name)));
    column = out_item(text, column, 8, size_of(model, object));
    column = out_item(text, column, 8,
                      is_union ? arena_printf(model->arena, STR_FMT "_variants,", STR_ARG(snake))
                               : arena_printf(model->arena, "0x%llx,",
                                              (unsigned long long)required_mask(object)));
    add_index(model, &hash, column, text);
    for (uint32_t i = 0; i < object->n_fields; i++)
        emit_row(model, object, &object->fields[i], i + 1 < object->n_fields ? "," : ");\n", text);
}

static void emit_object(const struct model *model, const struct object *object, struct buf *text)
{
    buf_add_char(text, '\n');
    if (object->n_alternatives)
        emit_variants(model, object, name_snake(model->arena, object->name), text);
    buf_printf(text, "const struct wire_message " STR_FMT " =\n    ",
               STR_ARG(table_name(model->arena, model, object)));
    if (object->n_fields)
        emit_table(model, object, text);
    else
        buf_printf(text, "EMPTY_MESSAGE(\"" STR_FMT "\", %.*s);\n", STR_ARG(object->name),
                   (int)size_of(model, object).n - 1, size_of(model, object).p);
}

/* ---- enums, definitions, files --------------------------------------------------------------- */

static unsigned number_of(const struct enumeration *e, struct str value)
{
    unsigned number = 0;
    while (!str_eq(e->values[number], value))
        number++;
    return number;
}

static void emit_choices(const struct model *model, const struct choice_set *set, struct buf *text)
{
    unsigned column = 4;
    buf_printf(text, "\nconst struct wire_enum " STR_FMT " = {\n    ",
               STR_ARG(symbol(model->arena, model, set->revision, set->name)));
    for (uint32_t i = 0; i < set->n; i++)
        column = out_item(text, column, 4,
                          arena_printf(model->arena, "%sSTR_INIT(\"" STR_FMT "\")%s",
                                       i ? "" : "(const struct str[]){", STR_ARG(set->values[i]),
                                       i + 1 < set->n ? "," : "},"));
    for (uint32_t i = 0; i < set->n; i++)
        column = out_item(text, column, 4,
                          arena_printf(model->arena, "%s%u%s", i ? "" : "(const int32_t[]){",
                                       number_of(set->enumeration, set->values[i]),
                                       i + 1 < set->n ? "," : "},"));
    out_item(text, column, 4, arena_printf(model->arena, "%u};\n", set->n));
}

static void emit_revision(const struct model *model, unsigned number, struct out *out)
{
    const struct revision *revision = &model->revisions[number];
    struct str about = arena_printf(
        model->arena,
        " * " STR_FMT "/tables.c - what this revision says otherwise than an earlier one.",
        STR_ARG(revision->name));
    struct buf *text = out_open(out, about.p, STR_FMT "/tables.c", STR_ARG(revision->name));
    buf_add_lit(text, "#include \"generated/tables.h\"\n");
    for (const struct choice_set *set = revision->choice_sets; set; set = set->next)
        if (set->same == set)
            emit_choices(model, set, text);
    for (const struct object *object = revision->objects; object; object = object->next)
        if (object->same == object)
            emit_object(model, object, text);
}

static void emit_header(const struct model *model, struct out *out)
{
    struct buf *text = out_open(out,
                                " * tables.h - for the tables of all revisions only: they refer to "
                                "each other.\n"
                                " *\n"
                                " * The numbers of a row are its key and what follows it as two "
                                "words; see wire/table.h.",
                                "tables.h");
    buf_add_lit(
        text,
        "\n#include \"generated/types.h\"\n#include \"wire/table.h\"\n\n#include <math.h>\n"
        "#include <stddef.h>\n\n"
        "#define ROW(record, member, key, w0, w1, bit, ...)                                    \\\n"
        "    {                                                                                 \\\n"
        "        w0, w1, \"\\\"\" key \"\\\":\", offsetof(struct record, member), sizeof(key) - 1, "
        "bit, \\\n"
        "            __VA_ARGS__                                                               \\\n"
        "    }\n"
        "/* Of a member that is not stored. */\n"
        "#define BARE_ROW(key, w0, w1, bit, ...)                                               \\\n"
        "    {                                                                                 \\\n"
        "        w0, w1, \"\\\"\" key \"\\\":\", 0, sizeof(key) - 1, bit, __VA_ARGS__              "
        "      \\\n"
        "    }\n"
        "#define ROWS(...)                                                                     \\\n"
        "    .rows = (const struct wire_row[]){__VA_ARGS__},                                   \\\n"
        "    .n_rows = sizeof((const struct wire_row[]){__VA_ARGS__}) / sizeof(struct wire_row)\n"
        "#define INDEX(bits, multiplier, ...) bits, multiplier, ((const uint8_t[]){__VA_ARGS__})\n"
        "#define MESSAGE(...) MESSAGE_(__VA_ARGS__)\n"
        "#define MESSAGE_(title, bytes, mask, bits, multiplier, index, ...)                    \\\n"
        "    {                                                                                 \\\n"
        "        .name = title, .size = bytes, .required = mask, .hash_bits = bits,            \\\n"
        "        .hash_multiplier = multiplier, .hash_index = index, ROWS(__VA_ARGS__)         \\\n"
        "    }\n"
        "#define UNION(...) UNION_(__VA_ARGS__)\n"
        "#define UNION_(title, bytes, list, bits, multiplier, index, ...)                      \\\n"
        "    {                                                                                 \\\n"
        "        .name = title, .size = bytes, .variants = list, .hash_bits = bits,            \\\n"
        "        .n_variants = sizeof(list) / sizeof(struct wire_variant),                     \\\n"
        "        .hash_multiplier = multiplier, .hash_index = index, ROWS(__VA_ARGS__)         \\\n"
        "    }\n"
        "#define EMPTY_MESSAGE(title, bytes) {.name = title, .size = bytes}\n"
        "#define OF(table)   .of.message = &table\n"
        "#define IS(k, ...) {.kind = WIRE_##k, ##__VA_ARGS__}\n"
        "#define TYPE(...)  &(const struct wire_type)IS(__VA_ARGS__)\n"
        "\n");
    for (unsigned i = 0; i < model->n_revisions; i++) {
        for (const struct choice_set *set = model->revisions[i].choice_sets; set; set = set->next)
            if (set->same == set)
                buf_printf(text, "extern const struct wire_enum " STR_FMT ";\n",
                           STR_ARG(symbol(model->arena, model, i, set->name)));
        for (const struct object *o = model->revisions[i].objects; o; o = o->next)
            if (o->same == o)
                buf_printf(text, "extern const struct wire_message " STR_FMT ";\n",
                           STR_ARG(table_name(model->arena, model, o)));
    }
}

void emit_tables(const struct model *model, struct out *out)
{
    emit_header(model, out);
    for (unsigned i = 0; i < model->n_revisions; i++)
        emit_revision(model, i, out);
}
