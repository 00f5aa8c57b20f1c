/* core/table.c - see table.h. A definition is itself checked by a schema, then by what
 * no schema says: that names exist, are valid, and that the key can be one.
 * Its schemas are made in table_schema.c, what is about rows is in table_row.c. */
#include "base/err.h"
#include "core/table_attributes.h"
#include "core/table_indexes.h"
#include "core/table_parts.h"

#include <string.h>

static const char definition_schema[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"title\":{\"type\":\"string\"},"
    "\"description\":{\"type\":\"string\"},"
    "\"primaryKey\":{\"type\":\"string\"},"
    "\"indexes\":{\"type\":\"array\",\"items\":" TABLE_INDEX_FORM "},"
    "\"indexed\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
    "\"attributes\":" TABLE_ATTRIBUTES_FORM ","
    "\"mcp\":{\"type\":\"boolean\"},"
    "\"annotations\":{\"type\":\"object\",\"properties\":{"
    "\"audience\":{\"type\":\"array\",\"items\":{\"enum\":[\"user\",\"assistant\"]}},"
    "\"priority\":{\"type\":\"number\",\"minimum\":0,\"maximum\":1}},"
    "\"additionalProperties\":false},"
    "\"schema\":{\"type\":\"object\",\"properties\":{"
    "\"type\":{\"const\":\"object\"},"
    "\"properties\":{\"type\":\"object\"},"
    "\"required\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}},"
    "\"required\":[\"type\",\"properties\"]}},"
    "\"required\":[\"primaryKey\",\"schema\"],\"additionalProperties\":false}";

bool table_name_is_valid(struct str name)
{
    if (name.n == 0 || name.n > NAME_BYTES_MAX)
        return false;
    for (uint32_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        bool letter = (c | 32) >= 'a' && (c | 32) <= 'z';
        bool later = (c >= '0' && c <= '9') || c == '_';
        if (!letter && (i == 0 || !later))
            return false;
    }
    return true;
}

/* ---- Reading -------------------------------------------------------------------------------- */

static int open_text(struct str text, struct arena *arena, const struct tape_node **ret,
                     struct schema_faults *faults)
{
    struct wire_fault wire = {0};
    char *copy = arena_zalloc(arena, (size_t)text.n + JSON_PADDING_BYTES);
    if (!copy)
        return ERR_NO_MEMORY;
    if (text.n)
        memcpy(copy, text.p, text.n);
    int err = tape_open((struct str){copy, text.n}, arena, ret, &wire);
    if (err < 0) {
        faults->n = 1;
        memcpy(faults->v[0].pointer, wire.pointer, sizeof faults->v[0].pointer);
        schema_fault_set(&faults->v[0], wire_reason_name(wire.reason), "%s", wire.expected);
    }
    return err;
}

int table_fail_at(struct schema_faults *faults, const char *pointer, struct str segment,
                  const char *keyword, const char *expected)
{
    faults->n = 1;
    strcpy(faults->v[0].pointer, pointer);
    if (segment.p)
        schema_fault_within(&faults->v[0], segment);
    return schema_fault_set(&faults->v[0], keyword, "%s", expected);
}

bool table_is_named(const struct tape_node *names, struct str name)
{
    const struct tape_node *at = names ? names + 1 : NULL;
    for (uint32_t i = 0; names && i < names->n; i++, at = tape_next(at))
        if (at->kind == TAPE_STR && str_eq(tape_str(at), name))
            return true;
    return false;
}

static struct str text_of(const struct tape_node *object, struct str key)
{
    const struct tape_node *value = tape_get(object, key);
    return value ? tape_str(value) : STR_NONE;
}

bool table_has_type(const struct tape_node *schema, struct str type)
{
    const struct tape_node *named = tape_get(schema, STR("type"));
    return named && named->kind == TAPE_STR && str_eq(tape_str(named), type);
}

static int read_attributes(struct table *t, struct arena *arena, struct schema_faults *faults)
{
    const struct tape_node *properties = tape_get(t->schema, STR("properties"));
    const struct tape_node *required = tape_get(t->schema, STR("required"));
    if (properties->n == 0)
        return table_fail_at(faults, "/schema/properties", STR_NONE, "required",
                             "at least one attribute");
    t->attributes = arena_array(arena, properties->n, sizeof *t->attributes);
    if (!t->attributes)
        return ERR_NO_MEMORY;
    tape_each (properties, key, schema) {
        struct str name = tape_str(key);
        if (!table_name_is_valid(name))
            return table_fail_at(faults, "/schema/properties", name, "name",
                                 "letters, digits and underscores, a letter first, not too long");
        t->attributes[t->n_attributes++] = (struct table_attribute){
            .name = name, .schema = schema, .required = table_is_named(required, name)};
    }
    return 0;
}

static int find_key(struct table *t, const struct tape_node *definition,
                    struct schema_faults *faults)
{
    const struct table_attribute *key =
        table_find_attribute(t, text_of(definition, STR("primaryKey")));
    if (!key)
        return table_fail_at(faults, "/primaryKey", STR_NONE, "name", "an attribute of the schema");
    t->key = (uint32_t)(key - t->attributes);
    t->attributes[t->key].required = true;
    return 0;
}

static int read_key_type(struct table *t, struct schema_faults *faults)
{
    const struct tape_node *schema = t->attributes[t->key].schema;
    if (table_has_type(schema, STR("integer")))
        t->key_type = KEY_INTEGER;
    else if (table_has_type(schema, STR("string")))
        t->key_type = KEY_STRING;
    else
        return table_fail_at(faults, "/primaryKey", STR_NONE, "type",
                             "an attribute of type string or integer");
    return 0;
}

/* Every name in "required" must be an attribute: a misspelt one could never be satisfied. */
static int check_required(const struct table *t, struct schema_faults *faults)
{
    const struct tape_node *required = tape_get(t->schema, STR("required"));
    const struct tape_node *name = required ? required + 1 : NULL;
    for (uint32_t i = 0; required && i < required->n; i++, name = tape_next(name))
        if (!table_find_attribute(t, tape_str(name)))
            return table_fail_at(faults, "/schema/required", tape_str(name), "name",
                                 "an attribute of the schema");
    return 0;
}

static int write_annotations(struct table *t, const struct tape_node *definition,
                             struct arena *arena)
{
    const struct tape_node *annotations = tape_get(definition, STR("annotations"));
    struct buf text = {0};
    if (!annotations)
        return 0;
    tape_write(annotations, &text);
    t->annotations = arena_buf(arena, &text);
    buf_done(&text);
    return t->annotations.p ? 0 : ERR_NO_MEMORY;
}

/* The form's own compiled schema is needed for the moment only. */
static int check_form(const struct tape_node *definition, struct schema_faults *faults)
{
    struct arena scratch;
    const struct tape_node *form;
    const struct json_schema *schema;
    arena_init(&scratch, 0);
    int err = open_text(str_of(definition_schema), &scratch, &form, faults);
    if (err == 0)
        err = json_schema_compile(form, NULL, &scratch, &schema, faults);
    if (err == 0)
        err = json_schema_check(schema, definition, faults);
    arena_done(&scratch);
    return err;
}

/* Those of the columns that clients may name, or that are stored. */
int table_pick_columns(const struct table *t, const struct filter_columns *all, bool shown,
                       struct arena *arena, struct filter_columns *ret)
{
    struct filter_column *picked = arena_array(arena, (size_t)all->n + 1, sizeof *picked);
    uint32_t n = 0;
    if (!picked)
        return ERR_NO_MEMORY;
    for (uint32_t i = 0; i < all->n; i++) {
        const struct table_attribute *a = table_find_attribute(t, all->v[i].names[0]);
        if (a->role != ROLE_VERSION && !(shown && a->hidden))
            picked[n++] = all->v[i];
    }
    *ret = (struct filter_columns){picked, n};
    return 0;
}

/* What filters and indexes may name. */
static int read_columns(struct table *t, struct arena *arena, struct schema_faults *faults)
{
    struct filter_columns all;
    int err = filter_columns_from_schema(t->schema, arena, &all);
    if (err == ERR_LIMIT) {
        faults->n = 1;
        strcpy(faults->v[0].pointer, "/schema/properties");
        return schema_fault_set(&faults->v[0], "properties",
                                "at most %d attributes, nested ones too", FILTER_COLUMNS_MAX);
    }
    t->columns = t->index_columns = all;
    if (err == 0 && t->is_filled)
        err = table_pick_columns(t, &all, true, arena, &t->columns);
    if (err == 0 && t->is_filled)
        err = table_pick_columns(t, &all, false, arena, &t->index_columns);
    return err;
}

static bool is_false(const struct tape_node *value)
{
    return value && value->kind == TAPE_FALSE;
}

int table_parse(struct str definition, struct arena *arena, struct table *ret,
                struct schema_faults *faults)
{
    struct table t = {
        .database = STR(""), .name = STR(""), .tool_name = STR(""), .may = UINT32_MAX};
    const struct tape_node *tape;
    int err = open_text(definition, arena, &tape, faults);
    if (err == 0)
        err = check_form(tape, faults);
    if (err < 0)
        return err;
    t.title = text_of(tape, STR("title"));
    t.description = text_of(tape, STR("description"));
    t.is_private = is_false(tape_get(tape, STR("mcp")));
    t.schema = tape_get(tape, STR("schema"));
    if ((err = read_attributes(&t, arena, faults)) < 0 || (err = find_key(&t, tape, faults)) < 0 ||
        (err = check_required(&t, faults)) < 0 ||
        (err = table_attributes_read(&t, tape, faults)) < 0 ||
        (err = table_schemas_make(&t, arena, faults)) < 0 ||
        (err = table_attributes_check(&t, arena, faults)) < 0 ||
        (err = read_columns(&t, arena, faults)) < 0 || (err = read_key_type(&t, faults)) < 0 ||
        (err = table_indexes_read(tape, &t.index_columns, arena, &t.indexes, &t.n_indexes,
                                  faults)) < 0 ||
        (err = write_annotations(&t, tape, arena)) < 0)
        return err;
    *ret = t;
    return 0;
}
