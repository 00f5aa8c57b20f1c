/* core/table.c - see table.h. A definition is itself checked by a schema, then by what
 * no schema says: that names exist, are valid, and that the key can be one. */
#include "core/table.h"

#include "base/err.h"
#include "core/table_indexes.h"
#include "wire/json_write.h"

#include <stdio.h>
#include <string.h>

static const char definition_schema[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"title\":{\"type\":\"string\"},"
    "\"description\":{\"type\":\"string\"},"
    "\"primaryKey\":{\"type\":\"string\"},"
    "\"indexes\":{\"type\":\"array\",\"items\":" TABLE_INDEX_FORM "},"
    "\"indexed\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
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

static int fail_at(struct schema_faults *faults, const char *pointer, struct str segment,
                   const char *keyword, const char *expected)
{
    faults->n = 1;
    strcpy(faults->v[0].pointer, pointer);
    if (segment.p)
        schema_fault_within(&faults->v[0], segment);
    return schema_fault_set(&faults->v[0], keyword, "%s", expected);
}

static bool is_named(const struct tape_node *names, struct str name)
{
    const struct tape_node *at = names ? names + 1 : NULL;
    for (uint32_t i = 0; names && i < names->n; i++, at = tape_next(at))
        if (str_eq(tape_str(at), name))
            return true;
    return false;
}

static struct str text_of(const struct tape_node *object, struct str key)
{
    const struct tape_node *value = tape_get(object, key);
    return value ? tape_str(value) : STR_NONE;
}

static bool has_single_type(const struct tape_node *schema, struct str type)
{
    const struct tape_node *named = tape_get(schema, STR("type"));
    return named && named->kind == TAPE_STR && str_eq(tape_str(named), type);
}

static int read_attributes(struct table *t, struct arena *arena, struct schema_faults *faults)
{
    const struct tape_node *properties = tape_get(t->schema, STR("properties"));
    const struct tape_node *required = tape_get(t->schema, STR("required"));
    if (properties->n == 0)
        return fail_at(faults, "/schema/properties", STR_NONE, "required",
                       "at least one attribute");
    t->attributes = arena_array(arena, properties->n, sizeof *t->attributes);
    if (!t->attributes)
        return ERR_NO_MEMORY;
    tape_each (properties, key, schema) {
        struct str name = tape_str(key);
        if (!table_name_is_valid(name))
            return fail_at(faults, "/schema/properties", name, "name",
                           "letters, digits and underscores, a letter first, not too long");
        t->attributes[t->n_attributes++] = (struct table_attribute){
            .name = name, .schema = schema, .required = is_named(required, name)};
    }
    return 0;
}

static int find_key(struct table *t, const struct tape_node *definition,
                    struct schema_faults *faults)
{
    const struct table_attribute *key =
        table_find_attribute(t, text_of(definition, STR("primaryKey")));
    if (!key)
        return fail_at(faults, "/primaryKey", STR_NONE, "name", "an attribute of the schema");
    t->key = (uint32_t)(key - t->attributes);
    t->attributes[t->key].required = true;
    return 0;
}

static int read_key_type(struct table *t, struct schema_faults *faults)
{
    const struct tape_node *schema = t->attributes[t->key].schema;
    if (has_single_type(schema, STR("integer")))
        t->key_type = KEY_INTEGER;
    else if (has_single_type(schema, STR("string")))
        t->key_type = KEY_STRING;
    else
        return fail_at(faults, "/primaryKey", STR_NONE, "type",
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
            return fail_at(faults, "/schema/required", tape_str(name), "name",
                           "an attribute of the schema");
    return 0;
}

static void add_required(struct tape_builder *b, const struct table *t)
{
    tape_add_str(b, STR("required"));
    tape_open_array(b);
    for (uint32_t i = 0; i < t->n_attributes; i++)
        if (t->attributes[i].required)
            tape_add_str(b, t->attributes[i].name);
    tape_close(b);
}

/* The schema again, with a "required" that holds the primary key. */
static int complete_schema(struct table *t, struct arena *arena)
{
    struct tape_builder b;
    const struct tape_node *complete;
    tape_begin(&b, arena);
    tape_open_object(&b);
    tape_each (t->schema, key, value) {
        if (str_eq(tape_str(key), STR("required")))
            continue;
        tape_add_str(&b, tape_str(key));
        tape_add_node(&b, value);
    }
    add_required(&b, t);
    tape_close(&b);
    int err = tape_finish(&b, &complete);
    if (err < 0)
        return err;
    t->schema = complete;
    const struct tape_node *properties = tape_get(complete, STR("properties"));
    for (uint32_t i = 0; i < t->n_attributes; i++)
        t->attributes[i].schema = tape_get(properties, t->attributes[i].name);
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

/* Pointers of a fault in the row's schema lead from the definition. */
static void move_below(struct schema_faults *faults, const char *prefix)
{
    for (uint32_t i = 0; i < faults->n; i++) {
        struct schema_fault *fault = &faults->v[i], inner = *fault;
        int n = snprintf(fault->pointer, sizeof fault->pointer, "%s%s", prefix, inner.pointer);
        if (n >= (int)sizeof fault->pointer)
            strcpy(fault->pointer + sizeof fault->pointer - 4, "...");
    }
}

static bool leads_into_definitions(struct str ref)
{
    return ref.n == 0 || ref.p[0] != '#' || str_starts_with(ref, STR("#/$defs/")) ||
           str_starts_with(ref, STR("#/definitions/"));
}

/* Parts of the schema stand in the schemas of tools, where only its definitions are at their old
 * place. The first reference to another place, or NULL. */
static const struct tape_node *find_lost_reference(const struct tape_node *schema)
{
    const struct tape_node *end = tape_next(schema);
    for (const struct tape_node *at = schema + 1; at + 1 < end; at++)
        if (at->kind == TAPE_STR && str_eq(tape_str(at), STR("$ref")) && at[1].kind == TAPE_STR &&
            !leads_into_definitions(tape_str(at + 1)))
            return at;
    return NULL;
}

static int check_references(const struct table *t, struct schema_faults *faults)
{
    const struct tape_node *lost = find_lost_reference(t->schema);
    if (!lost)
        return 0;
    faults->n = 1;
    schema_fault_locate(&faults->v[0], t->schema, lost);
    return schema_fault_set(&faults->v[0], "$ref", "a reference into #/$defs or #/definitions");
}

static int compile_rows(struct table *t, struct arena *arena, struct schema_faults *faults)
{
    int err = complete_schema(t, arena);
    if (err == 0)
        err = json_schema_compile(t->schema, NULL, arena, &t->rows, faults);
    if (err == 0)
        err = check_references(t, faults);
    if (err == ERR_PARAMS)
        move_below(faults, "/schema");
    return err;
}

/* What filters may name. */
static int read_columns(struct table *t, struct arena *arena, struct schema_faults *faults)
{
    int err = filter_columns_from_schema(t->schema, arena, &t->columns);
    if (err != ERR_LIMIT)
        return err;
    faults->n = 1;
    strcpy(faults->v[0].pointer, "/schema/properties");
    return schema_fault_set(&faults->v[0], "properties", "at most %d attributes, nested ones too",
                            FILTER_COLUMNS_MAX);
}

int table_parse(struct str definition, struct arena *arena, struct table *ret,
                struct schema_faults *faults)
{
    struct table t = {.database = STR(""), .name = STR(""), .tool_name = STR("")};
    const struct tape_node *tape;
    int err = open_text(definition, arena, &tape, faults);
    if (err == 0)
        err = check_form(tape, faults);
    if (err < 0)
        return err;
    t.title = text_of(tape, STR("title"));
    t.description = text_of(tape, STR("description"));
    t.schema = tape_get(tape, STR("schema"));
    if ((err = read_attributes(&t, arena, faults)) < 0 || (err = find_key(&t, tape, faults)) < 0 ||
        (err = check_required(&t, faults)) < 0 || (err = compile_rows(&t, arena, faults)) < 0 ||
        (err = read_columns(&t, arena, faults)) < 0 || (err = read_key_type(&t, faults)) < 0 ||
        (err = table_indexes_read(tape, &t.columns, arena, &t.indexes, &t.n_indexes, faults)) < 0 ||
        (err = write_annotations(&t, tape, arena)) < 0)
        return err;
    *ret = t;
    return 0;
}

/* ---- Rows ----------------------------------------------------------------------------------- */

const struct table_attribute *table_find_attribute(const struct table *table, struct str name)
{
    for (uint32_t i = 0; i < table->n_attributes; i++)
        if (str_eq(table->attributes[i].name, name))
            return &table->attributes[i];
    return NULL;
}

int table_check_row(const struct table *table, const struct tape_node *row,
                    struct schema_faults *faults)
{
    return json_schema_check(table->rows, row, faults);
}

int table_value_key(const struct table *table, const struct tape_node *value, struct arena *arena,
                    struct str *ret, struct schema_faults *faults)
{
    int err = key_encode(table->key_type, value, arena, ret);
    if (err != ERR_PARAMS && err != ERR_LIMIT)
        return err;
    faults->n = 1;
    faults->v[0].pointer[0] = '\0';
    if (err == ERR_LIMIT)
        return schema_fault_set(&faults->v[0], "length", "1 to %d bytes of text", KEY_BYTES_MAX);
    return schema_fault_set(&faults->v[0], "type", "%s", key_type_name(table->key_type));
}

int table_row_key(const struct table *table, const struct tape_node *row, struct arena *arena,
                  struct str *ret, struct schema_faults *faults)
{
    struct str name = table->attributes[table->key].name;
    const struct tape_node *value = tape_get(row, name);
    if (!value)
        return fail_at(faults, "", name, "required", key_type_name(table->key_type));
    int err = table_value_key(table, value, arena, ret, faults);
    if (err == ERR_PARAMS)
        schema_fault_within(&faults->v[0], name);
    return err;
}

void table_write_row(const struct table *table, const struct tape_node *row,
                     const struct tape_node *select, struct buf *out)
{
    char before = '{';
    (void)table;
    if (!select) {
        tape_write(row, out);
        return;
    }
    tape_each (row, name, value) {
        if (!is_named(select, tape_str(name)))
            continue;
        buf_add_char(out, before);
        json_write_str(out, tape_str(name));
        buf_add_char(out, ':');
        tape_write(value, out);
        before = ',';
    }
    buf_printf(out, before == '{' ? "{}" : "}");
}
