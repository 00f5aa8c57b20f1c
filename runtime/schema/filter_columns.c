/* schema/filter_columns.c - the attributes that a filter may name, from a row's JSON Schema. */
#include "schema/filter_parts.h"

#include "base/err.h"

#include <stdio.h>
#include <string.h>

const char *filter_type_name(enum filter_type type)
{
    static const char *const names[] = {
        [FILTER_INTEGER] = "integer", [FILTER_NUMBER] = "number", [FILTER_STRING] = "string",
        [FILTER_BOOLEAN] = "boolean", [FILTER_DATE] = "date",     [FILTER_DATE_TIME] = "date-time",
        [FILTER_ARRAY] = "array",     [FILTER_OBJECT] = "object", [FILTER_ANY] = "any",
    };
    return names[type];
}

/* ---- From a schema -------------------------------------------------------------------------- */

struct reader {
    struct arena *arena;
    struct filter_column *v;
    uint32_t n, cap;
    int err;
    struct str names[FILTER_PATH_MAX]; /* the path to where the reader is */
};

static bool text_is(const struct tape_node *node, struct str text)
{
    return node && node->kind == TAPE_STR && str_eq(tape_str(node), text);
}

/* The one type besides null, or NULL. */
static const struct tape_node *single_type(const struct tape_node *type)
{
    const struct tape_node *found = NULL;
    if (!type || type->kind != TAPE_ARRAY)
        return type;
    const struct tape_node *item = type + 1;
    for (uint32_t i = 0; i < type->n; i++, item = tape_next(item)) {
        if (text_is(item, STR("null")))
            continue;
        if (found)
            return NULL;
        found = item;
    }
    return found;
}

static enum filter_type type_of(const struct tape_node *schema)
{
    const struct tape_node *type = single_type(tape_get(schema, STR("type")));
    const struct tape_node *format = tape_get(schema, STR("format"));
    if (text_is(type, STR("string")) && text_is(format, STR("date")))
        return FILTER_DATE;
    if (text_is(type, STR("string")) && text_is(format, STR("date-time")))
        return FILTER_DATE_TIME;
    for (enum filter_type t = FILTER_INTEGER; t < FILTER_ANY; t++)
        if (t != FILTER_DATE && t != FILTER_DATE_TIME && text_is(type, str_of(filter_type_name(t))))
            return t;
    return FILTER_ANY;
}

static void add_column(struct reader *r, const struct filter_column *column)
{
    if (r->n == FILTER_COLUMNS_MAX)
        r->err = ERR_LIMIT;
    if (!r->err && r->n == r->cap) {
        uint32_t cap = r->cap ? r->cap * 2 : 16;
        struct filter_column *v = arena_array(r->arena, cap, sizeof *v);
        if (v && r->n)
            memcpy(v, r->v, r->n * sizeof *v);
        r->err = v ? 0 : ERR_NO_MEMORY;
        r->v = v;
        r->cap = cap;
    }
    if (!r->err)
        r->v[r->n++] = *column;
}

static void read_properties(struct reader *r, const struct tape_node *properties, uint32_t depth)
{
    if (depth == FILTER_PATH_MAX)
        return;
    tape_each (properties, key, schema) {
        r->names[depth] = tape_str(key);
        enum filter_type type = type_of(schema);
        const struct tape_node *members = tape_get(schema, STR("properties"));
        struct filter_column *column = filter_column_new(r->arena, r->names, depth + 1, type);
        if (!column)
            r->err = ERR_NO_MEMORY;
        if (r->err)
            return;
        bool nested = members && members->kind == TAPE_OBJECT;
        column->open = !nested && (type == FILTER_OBJECT || type == FILTER_ANY);
        add_column(r, column);
        if (nested && !r->err)
            read_properties(r, members, depth + 1);
    }
}

int filter_columns_from_schema(const struct tape_node *row_schema, struct arena *arena,
                               struct filter_columns *ret)
{
    struct reader r = {.arena = arena};
    const struct tape_node *properties = tape_get(row_schema, STR("properties"));
    if (properties && properties->kind == TAPE_OBJECT)
        read_properties(&r, properties, 0);
    if (!r.err)
        *ret = (struct filter_columns){r.v, r.n};
    return r.err;
}

/* ---- Paths ---------------------------------------------------------------------------------- */

static void write_name(struct str name, struct buf *out)
{
    if (filter_is_plain_name(name)) {
        buf_add_str(out, name);
        return;
    }
    buf_add_char(out, '"');
    for (uint32_t i = 0; i < name.n; i++) {
        if (name.p[i] == '"')
            buf_add_char(out, '"');
        buf_add_char(out, name.p[i]);
    }
    buf_add_char(out, '"');
}

void filter_write_path(const struct str *names, uint32_t n, struct buf *out)
{
    for (uint32_t i = 0; i < n; i++) {
        if (i)
            buf_add_char(out, '.');
        write_name(names[i], out);
    }
}

struct filter_column *filter_column_new(struct arena *arena, const struct str *names, uint32_t n,
                                        enum filter_type type)
{
    struct buf path = {0};
    struct filter_column *column = arena_zalloc(arena, sizeof *column);
    struct str *copy = arena_array(arena, n, sizeof *copy);
    filter_write_path(names, n, &path);
    struct str text = arena_buf(arena, &path);
    buf_done(&path);
    if (!column || !copy || !text.p)
        return NULL;
    memcpy(copy, names, n * sizeof *copy);
    *column = (struct filter_column){.path = text, .names = copy, .n_names = n, .type = type};
    return column;
}

const struct filter_column *filter_find_column(const struct filter_columns *columns,
                                               struct str path)
{
    for (uint32_t i = 0; i < columns->n; i++)
        if (str_eq(columns->v[i].path, path))
            return &columns->v[i];
    return NULL;
}

static bool begins_with(const struct filter_path *path, const struct filter_column *column)
{
    if (column->n_names > path->n_names)
        return false;
    for (uint32_t i = 0; i < column->n_names; i++)
        if (!str_eq(column->names[i], path->names[i]))
            return false;
    return true;
}

#define SHOWN_NAMES 8

static void fail_unknown(struct filter_build *b, const struct filter_path *path)
{
    char known[128] = "";
    size_t n = 0;
    uint32_t i = 0;
    for (; i < b->columns->n; i++) {
        struct str name = b->columns->v[i].path;
        if (i == SHOWN_NAMES || n + name.n + 2 >= sizeof known)
            break;
        n += (size_t)sprintf(known + n, "%s" STR_FMT, i ? ", " : "", STR_ARG(name));
    }
    filter_fail(b, ERR_SYNTAX, &path->token, "an attribute%s%s%s", n ? " such as " : "", known,
                i < b->columns->n ? ", ..." : "");
    filter_suggest(b->columns, path->token.text, &b->fault);
}

const struct filter_column *filter_resolve(struct filter_build *b, const struct filter_path *path)
{
    const struct filter_column *open = NULL;
    if (b->err)
        return NULL;
    for (uint32_t i = 0; i < b->columns->n; i++) {
        const struct filter_column *column = &b->columns->v[i];
        if (!begins_with(path, column))
            continue;
        if (column->n_names == path->n_names)
            return column;
        if (column->open)
            open = column;
    }
    if (!open) {
        fail_unknown(b, path);
        return NULL;
    }
    struct filter_column *below =
        filter_column_new(b->arena, path->names, path->n_names, FILTER_ANY);
    if (!below)
        filter_no_memory(b);
    return below;
}

/* ---- Spelling ------------------------------------------------------------------------------- */

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 32) : c;
}

#define SPELLING_BYTES_MAX NAME_BYTES_MAX

/* Letters to change, add or leave out, case aside. */
static uint32_t distance(struct str a, struct str b)
{
    uint32_t row[SPELLING_BYTES_MAX + 1];
    for (uint32_t k = 0; k <= b.n; k++)
        row[k] = k;
    for (uint32_t i = 0; i < a.n; i++) {
        uint32_t corner = row[0];
        row[0] = i + 1;
        for (uint32_t k = 0; k < b.n; k++) {
            uint32_t change = corner + (lower(a.p[i]) != lower(b.p[k]));
            uint32_t other = (row[k] < row[k + 1] ? row[k] : row[k + 1]) + 1;
            corner = row[k + 1];
            row[k + 1] = change < other ? change : other;
        }
    }
    return row[b.n];
}

void filter_suggest(const struct filter_columns *columns, struct str path, struct filter_fault *ret)
{
    uint32_t best = path.n / 3 + 2; /* so many are another word */
    if (path.n > SPELLING_BYTES_MAX)
        return;
    for (uint32_t i = 0; i < columns->n; i++) {
        struct str name = columns->v[i].path;
        uint32_t apart = name.n > path.n ? name.n - path.n : path.n - name.n;
        uint32_t d = name.n > SPELLING_BYTES_MAX || apart >= best ? best : distance(path, name);
        if (d < best) {
            best = d;
            snprintf(ret->suggestion, sizeof ret->suggestion, STR_FMT, STR_ARG(name));
        }
    }
}
