/* core/table_indexes.c - see table_indexes.h. */
#include "core/table_indexes.h"

#include "base/err.h"
#include "base/limits.h"
#include "core/table.h"
#include "wire/json_write.h"

#include <stdio.h>
#include <string.h>

/* Refuses at the pointer that the format makes. */
#define FAIL_AT(faults, keyword, expected, ...)                                                    \
    (snprintf((faults)->v[0].pointer, sizeof(faults)->v[0].pointer, __VA_ARGS__), (faults)->n = 1, \
     schema_fault_set(&(faults)->v[0], keyword, "%s", expected))

/* ---- Attributes ----------------------------------------------------------------------------- */

/* The store cuts paths at their dots, so no name may hold one. */
static bool is_dotted_path(const struct filter_column *column, struct str path)
{
    for (uint32_t i = 0; i < column->n_names; i++) {
        struct str name = str_cut(&path, '.');
        if (!str_eq(name, column->names[i]))
            return false;
    }
    return !path.p;
}

const struct filter_column *table_find_column(const struct filter_columns *columns, struct str path)
{
    for (uint32_t i = 0; i < columns->n; i++)
        if (is_dotted_path(&columns->v[i], path))
            return &columns->v[i];
    return filter_find_column(columns, path);
}

static int key_type_of(enum filter_type type)
{
    static const signed char types[] = {
        [FILTER_INTEGER] = KEY_INTEGER,
        [FILTER_NUMBER] = KEY_NUMBER,
        [FILTER_STRING] = KEY_STRING,
        [FILTER_BOOLEAN] = KEY_BOOLEAN,
        [FILTER_DATE] = KEY_STRING,
        [FILTER_DATE_TIME] = KEY_STRING,
        [FILTER_ARRAY] = -1,
        [FILTER_OBJECT] = -1,
        [FILTER_ANY] = -1,
    };
    return types[type];
}

/* The names with dots between; STR_NONE without memory. */
static struct str dotted_path(const struct filter_column *column, struct arena *arena)
{
    struct buf path = {0};
    for (uint32_t i = 0; i < column->n_names; i++) {
        buf_add_str(&path, i ? STR(".") : STR(""));
        buf_add_str(&path, column->names[i]);
    }
    struct str text = arena_buf(arena, &path);
    buf_done(&path);
    return text;
}

static bool has_dot(const struct filter_column *column)
{
    for (uint32_t i = 0; i < column->n_names; i++)
        if (memchr(column->names[i].p, '.', column->names[i].n))
            return true;
    return false;
}

static int read_part(struct str text, const struct filter_columns *columns, struct arena *arena,
                     struct store_index_part *ret, const char **ret_keyword,
                     const char **ret_expected)
{
    bool descending = text.n && text.p[0] == '-';
    struct str path = {text.p + descending, text.n - descending};
    const struct filter_column *column = table_find_column(columns, path);
    if (!column || has_dot(column)) {
        *ret_keyword = "name";
        *ret_expected =
            "an attribute of the schema (after a -: from the greatest; dots lead into nested ones)";
        return ERR_PARAMS;
    }
    int type = key_type_of(column->type);
    if (type < 0) {
        *ret_keyword = "type";
        *ret_expected = "an attribute of type string, integer, number or boolean (or null)";
        return ERR_PARAMS;
    }
    *ret = (struct store_index_part){dotted_path(column, arena), (enum key_type)type, descending};
    return ret->attribute.p ? 0 : ERR_NO_MEMORY;
}

static bool has_part(const struct store_index_part *parts, uint32_t n, struct str attribute)
{
    for (uint32_t i = 0; i < n; i++)
        if (str_eq(parts[i].attribute, attribute))
            return true;
    return false;
}

/* ---- Names ---------------------------------------------------------------------------------- */

static void add_letters(struct buf *out, struct str text)
{
    for (uint32_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        bool fine = ((c | 32) >= 'a' && (c | 32) <= 'z') || (c >= '0' && c <= '9');
        buf_add_char(out, fine ? c : '_');
    }
}

static struct str default_name(const struct store_index *index, struct arena *arena)
{
    struct buf name = {0};
    buf_add_lit(&name, "by");
    for (uint32_t i = 0; i < index->n_parts; i++) {
        buf_add_char(&name, '_');
        add_letters(&name, index->parts[i].attribute);
    }
    if (name.n > NAME_BYTES_MAX)
        name.n = NAME_BYTES_MAX;
    struct str text = arena_buf(arena, &name);
    buf_done(&name);
    return text;
}

static int take_name(const struct tape_node *name, struct arena *arena, struct store_index *index,
                     struct schema_faults *faults)
{
    if (name && !table_name_is_valid(tape_str(name)))
        return FAIL_AT(faults, "name",
                       "letters, digits and underscores, a letter first, not too long", "/name");
    index->name = name ? tape_str(name) : default_name(index, arena);
    return index->name.p ? 0 : ERR_NO_MEMORY;
}

/* ---- Indexes -------------------------------------------------------------------------------- */

int table_index_read(const struct tape_node *entry, const struct filter_columns *columns,
                     struct arena *arena, struct store_index *ret, struct schema_faults *faults)
{
    const struct tape_node *on = tape_get(entry, STR("on")), *item = on + 1;
    const struct tape_node *unique = tape_get(entry, STR("unique"));
    struct store_index index = {.unique = unique && unique->kind == TAPE_TRUE};
    if (on->n > INDEX_PARTS_MAX) {
        snprintf(faults->v[0].pointer, sizeof faults->v[0].pointer, "/on");
        faults->n = 1;
        return schema_fault_set(&faults->v[0], "maxItems", "at most %d attributes",
                                INDEX_PARTS_MAX);
    }
    struct store_index_part *parts = arena_array(arena, on->n, sizeof *parts);
    if (!parts)
        return ERR_NO_MEMORY;
    index.parts = parts;
    for (uint32_t i = 0; i < on->n; i++, item = tape_next(item)) {
        const char *keyword, *expected;
        int err = read_part(tape_str(item), columns, arena, &parts[i], &keyword, &expected);
        if (err == ERR_PARAMS)
            return FAIL_AT(faults, keyword, expected, "/on/%u", i);
        if (err < 0)
            return err;
        if (has_part(parts, i, parts[i].attribute))
            return FAIL_AT(faults, "duplicate", "each attribute once", "/on/%u", i);
        index.n_parts++;
    }
    int err = take_name(tape_get(entry, STR("name")), arena, &index, faults);
    if (err == 0)
        *ret = index;
    return err;
}

struct reading {
    const struct filter_columns *columns;
    struct arena *arena;
    struct store_index *v;
    uint32_t n;
    struct schema_faults *faults;
};

/* A fault within an entry, seen from the definition. */
static int move_below(struct schema_faults *faults, const char *list, uint32_t i)
{
    struct schema_fault *fault = &faults->v[0], inner = *fault;
    snprintf(fault->pointer, sizeof fault->pointer, "/%s/%u%.32s", list, i, inner.pointer);
    return ERR_PARAMS;
}

static int add_index(struct reading *r, const struct store_index *index, const char *list,
                     uint32_t at)
{
    for (uint32_t i = 0; i < r->n; i++)
        if (str_eq(r->v[i].name, index->name))
            return FAIL_AT(r->faults, "duplicate",
                           "a name of its own (without one it is by_<attributes>)", "/%s/%u", list,
                           at);
    if (r->n == TABLE_INDEXES_MAX) {
        snprintf(r->faults->v[0].pointer, sizeof r->faults->v[0].pointer, "/%s/%u", list, at);
        r->faults->n = 1;
        return schema_fault_set(&r->faults->v[0], "maxItems", "at most %d indexes of a table",
                                TABLE_INDEXES_MAX);
    }
    r->v[r->n++] = *index;
    return 0;
}

static int read_full(struct reading *r, const struct tape_node *list)
{
    const struct tape_node *entry = list + 1;
    for (uint32_t i = 0; i < list->n; i++, entry = tape_next(entry)) {
        struct store_index index;
        int err = table_index_read(entry, r->columns, r->arena, &index, r->faults);
        if (err == ERR_PARAMS)
            return move_below(r->faults, "indexes", i);
        if (err == 0)
            err = add_index(r, &index, "indexes", i);
        if (err < 0)
            return err;
    }
    return 0;
}

static int read_short(struct reading *r, const struct tape_node *list)
{
    const struct tape_node *name = list + 1;
    for (uint32_t i = 0; i < list->n; i++, name = tape_next(name)) {
        struct store_index_part *part = arena_alloc(r->arena, sizeof *part);
        const char *keyword, *expected;
        int err = part ? read_part(tape_str(name), r->columns, r->arena, part, &keyword, &expected)
                       : ERR_NO_MEMORY;
        if (err == ERR_PARAMS)
            return FAIL_AT(r->faults, keyword, expected, "/indexed/%u", i);
        struct store_index index = {.parts = part, .n_parts = 1};
        if (err == 0)
            err = take_name(NULL, r->arena, &index, r->faults);
        if (err == 0)
            err = add_index(r, &index, "indexed", i);
        if (err < 0)
            return err;
    }
    return 0;
}

int table_indexes_read(const struct tape_node *definition, const struct filter_columns *columns,
                       struct arena *arena, const struct store_index **ret, uint32_t *ret_n,
                       struct schema_faults *faults)
{
    const struct tape_node *full = tape_get(definition, STR("indexes"));
    const struct tape_node *names = tape_get(definition, STR("indexed"));
    struct reading r = {.columns = columns, .arena = arena, .faults = faults};
    int err = 0;
    if ((full || names) && !(r.v = arena_array(arena, TABLE_INDEXES_MAX, sizeof *r.v)))
        return ERR_NO_MEMORY;
    if (full)
        err = read_full(&r, full);
    if (err == 0 && names)
        err = read_short(&r, names);
    if (err == 0) {
        *ret = r.v;
        *ret_n = r.n;
    }
    return err;
}

/* ---- Copying and writing -------------------------------------------------------------------- */

static bool copy_index(const struct store_index *from, struct arena *arena, struct store_index *ret)
{
    struct store_index_part *parts = arena_array(arena, from->n_parts, sizeof *parts);
    *ret = *from;
    ret->name = arena_str(arena, from->name);
    ret->parts = parts;
    bool fine = parts && ret->name.p;
    for (uint32_t i = 0; fine && i < from->n_parts; i++) {
        parts[i] = from->parts[i];
        parts[i].attribute = arena_str(arena, from->parts[i].attribute);
        fine = parts[i].attribute.p != NULL;
    }
    return fine;
}

const struct store_index *table_indexes_copy(const struct store_index *indexes, uint32_t n,
                                             struct arena *arena)
{
    struct store_index *copy = arena_array(arena, n, sizeof *copy);
    for (uint32_t i = 0; copy && i < n; i++)
        if (!copy_index(&indexes[i], arena, &copy[i]))
            return NULL;
    return copy;
}

static void write_part(const struct store_index_part *part, struct buf *out)
{
    struct buf text = {0};
    if (part->descending)
        buf_add_char(&text, '-');
    buf_add_str(&text, part->attribute);
    json_write_str(out, buf_str(&text));
    out->failed |= text.failed;
    buf_done(&text);
}

void table_indexes_write(const struct store_index *indexes, uint32_t n, struct buf *out)
{
    buf_add_char(out, '[');
    for (uint32_t i = 0; i < n; i++) {
        buf_add_str(out, i ? STR(",{\"name\":") : STR("{\"name\":"));
        json_write_str(out, indexes[i].name);
        buf_add_lit(out, ",\"on\":[");
        for (uint32_t k = 0; k < indexes[i].n_parts; k++) {
            buf_add_str(out, k ? STR(",") : STR(""));
            write_part(&indexes[i].parts[k], out);
        }
        buf_add_str(out, indexes[i].unique ? STR("],\"unique\":true}") : STR("]}"));
    }
    buf_add_char(out, ']');
}
