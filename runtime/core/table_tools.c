/* core/table_tools.c - see table_tools.h. */
#include "core/table_tools.h"

#include "core/table_parts.h"
#include "wire/json_write.h"

typedef void (*input_fn)(const struct table *table, const struct search_limits *limits,
                         struct buf *out);
typedef void (*output_fn)(const struct table *table, struct buf *out);

/* ---- Schemas -------------------------------------------------------------------------------- */

/* {"type":"object","properties":{ ... each writer adds its members and closes the braces. */
#define OPEN_OBJECT "{\"type\":\"object\",\"properties\":{"

static void write_member(struct str name, const struct tape_node *value, struct buf *out)
{
    json_write_str(out, name);
    buf_add_char(out, ':');
    tape_write(value, out);
}

static void write_id(const struct table *table, struct buf *out)
{
    buf_add_lit(out, "\"id\":");
    tape_write(table->attributes[table->key].schema, out);
}

/* What the parts of this schema of rows may refer to. */
static void write_shared(const struct tape_node *schema, struct buf *out)
{
    tape_each (schema, key, value)
        if (table_is_shared_keyword(tape_str(key))) {
            buf_add_char(out, ',');
            write_member(tape_str(key), value, out);
        }
}

/* A row's schema; without its $id, because it is part of many schemas. */
static void write_row(const struct tape_node *schema, bool at_root, struct buf *out)
{
    char before = '{';
    tape_each (schema, key, value) {
        if (str_eq(tape_str(key), STR("$id")) ||
            (!at_root && table_is_shared_keyword(tape_str(key))))
            continue;
        buf_add_char(out, before);
        before = ',';
        write_member(tape_str(key), value, out);
    }
    buf_add_char(out, '}');
}

static void input_id(const struct table *table, const struct search_limits *limits, struct buf *out)
{
    (void)limits;
    buf_add_lit(out, OPEN_OBJECT);
    write_id(table, out);
    buf_add_lit(out, "},\"required\":[\"id\"],\"additionalProperties\":false");
    write_shared(table->replacing, out); /* which always has the key */
    buf_add_char(out, '}');
}

/* ---- Changes -------------------------------------------------------------------------------- */

static bool has_item(const struct tape_node *list, struct str text)
{
    const struct tape_node *item = list + 1;
    if (list->kind == TAPE_STR)
        return str_eq(tape_str(list), text);
    for (uint32_t i = 0; i < list->n; i++, item = tape_next(item))
        if (item->kind == TAPE_STR && str_eq(tape_str(item), text))
            return true;
    return false;
}

/* Of objects only a part may be given, and what keywords like anyOf make of null is hard to say:
 * there the check of the whole row, after the merge, has the last word. */
static bool is_checked_after(const struct tape_node *schema)
{
    static const char *const unclear[] = {"const", "$ref",  "$dynamicRef", "anyOf",
                                          "oneOf", "allOf", "not",         "if"};
    const struct tape_node *type = tape_get(schema, STR("type"));
    for (size_t i = 0; i < sizeof unclear / sizeof *unclear; i++)
        if (tape_get(schema, str_of(unclear[i])))
            return true;
    return type ? has_item(type, STR("object")) : !tape_get(schema, STR("enum"));
}

static bool is_about(struct str keyword)
{
    return str_eq(keyword, STR("title")) || str_eq(keyword, STR("description"));
}

/* "type" and "enum": the same with null. */
static void write_with_null(const struct tape_node *list, const char *null, struct buf *out)
{
    const struct tape_node *item = list + 1;
    bool has_null = list->kind == TAPE_STR && has_item(list, STR("null"));
    buf_add_char(out, '[');
    if (list->kind == TAPE_STR)
        tape_write(list, out);
    else
        for (uint32_t i = 0; i < list->n; i++, item = tape_next(item)) {
            if (i)
                buf_add_char(out, ',');
            tape_write(item, out);
            has_null |=
                item->kind == TAPE_NULL || (null[0] == '"' && str_eq(tape_str(item), STR("null")));
        }
    if (!has_null)
        buf_printf(out, ",%s", null);
    buf_add_char(out, ']');
}

static void write_change_keyword(struct str keyword, const struct tape_node *value, struct buf *out)
{
    bool is_type = str_eq(keyword, STR("type"));
    if (!is_type && !str_eq(keyword, STR("enum"))) {
        write_member(keyword, value, out);
        return;
    }
    json_write_str(out, keyword);
    buf_add_char(out, ':');
    write_with_null(value, is_type ? "\"null\"" : "null", out);
}

/* What may be given for an attribute of this schema: null as well, which removes it. */
static void write_change(const struct tape_node *schema, struct buf *out)
{
    bool first = true;
    if (schema->kind != TAPE_OBJECT) {
        tape_write(schema, out);
        return;
    }
    bool is_open = is_checked_after(schema);
    buf_add_char(out, '{');
    tape_each (schema, key, value) {
        if (is_open && !is_about(tape_str(key)))
            continue;
        if (!first)
            buf_add_char(out, ',');
        first = false;
        write_change_keyword(tape_str(key), value, out);
    }
    buf_add_char(out, '}');
}

static void write_changes(const struct table *table, struct buf *out)
{
    bool first = true;
    for (uint32_t i = 0; i < table->n_attributes; i++) {
        const struct table_attribute *a = &table->attributes[i];
        if (i == table->key || a->no_update || a->role || a->is_other)
            continue;
        if (!first)
            buf_add_char(out, ',');
        first = false;
        json_write_str(out, a->name);
        buf_add_char(out, ':');
        write_change(a->schema, out);
    }
}

/* The names of attributes as the values of an enum. */
static void write_names(const struct table *table, struct buf *out)
{
    bool first = true;
    for (uint32_t i = 0; i < table->n_attributes; i++) {
        if (table->attributes[i].hidden || table->attributes[i].is_other)
            continue;
        if (!first)
            buf_add_char(out, ',');
        first = false;
        json_write_str(out, table->attributes[i].name);
    }
}

static void input_search(const struct table *table, const struct search_limits *limits,
                         struct buf *out)
{
    buf_add_lit(out, OPEN_OBJECT
                "\"where\":{\"type\":[\"string\",\"object\"],\"description\":\"Which rows: a "
                "filter, or an object of attributes with the values they must have.\"},"
                "\"select\":{\"type\":\"array\",\"description\":\"Attributes to return; all if "
                "absent.\",\"items\":{\"enum\":[");
    write_names(table, out);
    buf_add_lit(out, "]}},\"order_by\":{\"type\":\"array\",\"description\":\"Attributes to order "
                     "by; with - before the name the greatest come first.\",\"items\":{\"type\":"
                     "\"string\"}");
    buf_printf(out,
               ",\"maxItems\":%d},\"limit\":{\"type\":\"integer\",\"description\":\"Most rows "
               "to return.\",\"minimum\":1,\"maximum\":%u,\"default\":%u}",
               ORDER_BY_MAX, limits->max, limits->page);
    buf_add_lit(out, ",\"cursor\":{\"type\":\"string\",\"description\":\"nextCursor of the page "
                     "before, with the same where and order_by.\"},\"total\":{\"type\":\"boolean\","
                     "\"description\":\"Whether to count all rows that match.\"}},"
                     "\"additionalProperties\":false}");
}

static void input_row(const struct table *table, const struct search_limits *limits,
                      struct buf *out)
{
    (void)limits;
    write_row(table->given, true, out);
}

static void write_required_but(const struct tape_node *names, struct str but, struct buf *out)
{
    const struct tape_node *name = names + 1;
    bool first = true;
    buf_add_lit(out, "\"required\":[");
    for (uint32_t i = 0; i < names->n; i++, name = tape_next(name)) {
        if (str_eq(tape_str(name), but))
            continue;
        if (!first)
            buf_add_char(out, ',');
        first = false;
        tape_write(name, out);
    }
    buf_add_char(out, ']');
}

/* A whole new row, whose key is known already. */
static void write_new_row(const struct table *table, struct buf *out)
{
    struct str key = table->attributes[table->key].name;
    buf_add_lit(out, "{\"description\":\"The whole new row; what it leaves out is gone.\"");
    tape_each (table->replacing, keyword, value) {
        struct str name = tape_str(keyword);
        if (str_eq(name, STR("$id")) || is_about(name) || table_is_shared_keyword(name))
            continue;
        buf_add_char(out, ',');
        if (str_eq(name, STR("required")))
            write_required_but(value, key, out);
        else
            write_member(name, value, out);
    }
    buf_add_char(out, '}');
}

static void input_update(const struct table *table, const struct search_limits *limits,
                         struct buf *out)
{
    (void)limits;
    const struct tape_node *additional = tape_get(table->replacing, STR("additionalProperties"));
    buf_add_lit(out, OPEN_OBJECT);
    write_id(table, out);
    buf_add_lit(out,
                ",\"if_version\":{\"type\":\"integer\",\"minimum\":1,\"description\":"
                "\"Change it only if this is its version (tenon/version in _meta).\"},"
                "\"changes\":{\"type\":\"object\",\"description\":\"A JSON merge patch: attributes "
                "with their new values, null to remove one; the others stay.\",\"properties\":{");
    write_changes(table, out);
    buf_add_char(out, '}');
    if (additional) {
        buf_add_lit(out, ",\"additionalProperties\":");
        write_change(additional, out);
    }
    buf_add_lit(out, "},\"row\":");
    write_new_row(table, out);
    buf_add_lit(out, "},\"required\":[\"id\"],\"additionalProperties\":false");
    write_shared(table->replacing, out);
    buf_add_char(out, '}');
}

static void output_row(const struct table *table, struct buf *out)
{
    write_row(table->shown, true, out);
}

/* A row of which `select` may leave out anything: what its members may be, not which. */
static void write_partial_row(const struct table *table, struct buf *out)
{
    static const char *const kept[] = {"properties", "patternProperties", "additionalProperties"};
    buf_add_lit(out, "{\"type\":\"object\"");
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        const struct tape_node *value = tape_get(table->shown, str_of(kept[i]));
        if (!value)
            continue;
        buf_add_char(out, ',');
        write_member(str_of(kept[i]), value, out);
    }
    buf_add_char(out, '}');
}

static void output_rows(const struct table *table, struct buf *out)
{
    buf_add_lit(out, OPEN_OBJECT "\"rows\":{\"type\":\"array\",\"items\":");
    write_partial_row(table, out);
    buf_add_lit(out, "},\"nextCursor\":{\"type\":\"string\"},\"total\":{\"type\":\"integer\","
                     "\"minimum\":0}},\"required\":[\"rows\"]");
    write_shared(table->shown, out);
    buf_add_char(out, '}');
}

static void output_deleted(const struct table *table, struct buf *out)
{
    (void)table;
    buf_add_lit(out, OPEN_OBJECT "\"deleted\":{\"type\":\"boolean\"}},\"required\":[\"deleted\"]}");
}

/* ---- The verbs ------------------------------------------------------------------------------ */

static const struct verb {
    const char *name, *title, *sentence;
    struct verb_hints hints;
    enum permission needs;
    input_fn input;
    output_fn output;
} verbs[VERB_N] = {
    [VERB_GET] = {"get",
                  "Get a row of",
                  "Returns one row by its primary key.",
                  {true, false, true},
                  MAY_READ,
                  input_id,
                  output_row},
    [VERB_SEARCH] = {"search",
                     "Search",
                     "Returns the rows that match `where`, page by page.",
                     {true, false, true},
                     MAY_READ,
                     input_search,
                     output_rows},
    [VERB_CREATE] = {"create",
                     "Create a row of",
                     "Adds a row. Fails if the primary key is taken.",
                     {false, false, false},
                     MAY_INSERT,
                     input_row,
                     output_row},
    [VERB_UPDATE] = {"update",
                     "Update a row of",
                     "Changes one row: either sets and removes attributes by `changes`, or puts a "
                     "whole new row in its place by `row`. Its primary key cannot change.",
                     {false, true, true},
                     MAY_UPDATE,
                     input_update,
                     output_row},
    [VERB_DELETE] = {"delete",
                     "Delete a row of",
                     "Deletes one row by its primary key, if it is there.",
                     {false, true, true},
                     MAY_DELETE,
                     input_id,
                     output_deleted},
};

enum permission verb_permission(enum table_verb verb)
{
    return verbs[verb].needs;
}

const struct verb_hints *verb_hints(enum table_verb verb)
{
    return &verbs[verb].hints;
}

static struct str title_of(const struct table *table)
{
    return table->title.p ? table->title : table->name;
}

struct str verb_tool_name(enum table_verb verb, struct str tool_name, struct arena *arena)
{
    return arena_printf(arena, "%s_" STR_FMT, verbs[verb].name, STR_ARG(tool_name));
}

struct str verb_title(enum table_verb verb, const struct table *table, struct arena *arena)
{
    return arena_printf(arena, "%s " STR_FMT, verbs[verb].title, STR_ARG(title_of(table)));
}

struct str verb_description(enum table_verb verb, const struct table *table, struct arena *arena)
{
    struct str key = table->attributes[table->key].name;
    const char *sentence = verbs[verb].sentence;
    struct str about = table->description.p ? table->description : title_of(table);
    bool ends = about.n && about.p[about.n - 1] == '.';
    return arena_printf(
        arena, "%s Table " STR_FMT "." STR_FMT ", primary key " STR_FMT ": " STR_FMT "%s%s%s",
        sentence, STR_ARG(table->database), STR_ARG(table->name), STR_ARG(key), STR_ARG(about),
        ends ? "" : ".", verb == VERB_SEARCH ? "\n`where`: " : "",
        verb == VERB_SEARCH ? filter_guide : "");
}

void verb_write_input(enum table_verb verb, const struct table *table,
                      const struct search_limits *limits, struct buf *out)
{
    verbs[verb].input(table, limits, out);
}

void verb_write_output(enum table_verb verb, const struct table *table, struct buf *out)
{
    verbs[verb].output(table, out);
}
