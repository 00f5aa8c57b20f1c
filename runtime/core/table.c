/* core/table.c - see table.h. A definition is itself checked by a schema, then by what no schema
 * says: that names exist, are valid, and that the key can be one. */
#include "core/table.h"

#include "base/err.h"

#include <stdio.h>
#include <string.h>

static const char definition_schema[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"title\":{\"type\":\"string\"},"
    "\"description\":{\"type\":\"string\"},"
    "\"primaryKey\":{\"type\":\"string\"},"
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
                     struct row_fault *fault)
{
    struct wire_fault wire = {0};
    char *copy = arena_zalloc(arena, (size_t)text.n + JSON_PADDING_BYTES);
    if (!copy)
        return ERR_NO_MEMORY;
    if (text.n)
        memcpy(copy, text.p, text.n);
    int err = tape_open((struct str){copy, text.n}, arena, ret, &wire);
    if (err < 0) {
        memcpy(fault->pointer, wire.pointer, sizeof fault->pointer);
        row_fault_set(fault, wire_reason_name(wire.reason), "%s", wire.expected);
    }
    return err;
}

static int fail_at(struct row_fault *fault, const char *pointer, struct str segment,
                   const char *reason, const char *expected)
{
    strcpy(fault->pointer, pointer);
    if (segment.p)
        row_fault_within(fault, segment);
    return row_fault_set(fault, reason, "%s", expected);
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

static int read_attributes(struct table *t, const struct tape_node *definition, struct arena *arena,
                           struct row_fault *fault)
{
    const struct tape_node *properties = tape_get(t->schema, STR("properties"));
    const struct tape_node *required = tape_get(t->schema, STR("required"));
    const struct tape_node *indexed = tape_get(definition, STR("indexed"));
    if (properties->n == 0)
        return fail_at(fault, "/schema/properties", STR_NONE, "required", "at least one attribute");
    t->attributes = arena_array(arena, properties->n, sizeof *t->attributes);
    if (!t->attributes)
        return ERR_NO_MEMORY;
    tape_each (properties, key, schema) {
        struct str name = tape_str(key);
        if (!table_name_is_valid(name))
            return fail_at(fault, "/schema/properties", name, "name",
                           "letters, digits and underscores, a letter first, not too long");
        t->attributes[t->n_attributes++] =
            (struct table_attribute){.name = name,
                                     .schema = schema,
                                     .required = is_named(required, name),
                                     .indexed = is_named(indexed, name)};
    }
    return 0;
}

static int read_key(struct table *t, const struct tape_node *definition, struct row_fault *fault)
{
    const struct table_attribute *key =
        table_find_attribute(t, text_of(definition, STR("primaryKey")));
    if (!key)
        return fail_at(fault, "/primaryKey", STR_NONE, "name", "an attribute of the schema");
    t->key = (uint32_t)(key - t->attributes);
    t->attributes[t->key].required = true;
    if (has_single_type(key->schema, STR("integer")))
        t->key_type = KEY_INTEGER;
    else if (has_single_type(key->schema, STR("string")))
        t->key_type = KEY_STRING;
    else
        return fail_at(fault, "/primaryKey", STR_NONE, "type",
                       "an attribute of type string or integer");
    return 0;
}

static bool is_scalar(const struct tape_node *schema)
{
    return has_single_type(schema, STR("string")) || has_single_type(schema, STR("integer")) ||
           has_single_type(schema, STR("number")) || has_single_type(schema, STR("boolean"));
}

static int check_indexed(struct table *t, const struct tape_node *definition,
                         struct row_fault *fault)
{
    const struct tape_node *indexed = tape_get(definition, STR("indexed"));
    const struct tape_node *name = indexed ? indexed + 1 : NULL;
    for (uint32_t i = 0; indexed && i < indexed->n; i++, name = tape_next(name)) {
        const struct table_attribute *attribute = table_find_attribute(t, tape_str(name));
        if (!attribute || !is_scalar(attribute->schema))
            return fail_at(fault, "/indexed", tape_str(name), "name",
                           "an attribute of type string, integer, number or boolean");
    }
    for (uint32_t i = 0; i < t->n_attributes; i++)
        t->n_indexed += t->attributes[i].indexed;
    if (indexed && t->n_indexed != indexed->n)
        return fail_at(fault, "/indexed", STR_NONE, "duplicate", "each attribute once");
    return 0;
}

/* Every name in "required" must be an attribute: a misspelt one could never be satisfied. */
static int check_required(const struct table *t, struct row_fault *fault)
{
    const struct tape_node *required = tape_get(t->schema, STR("required"));
    const struct tape_node *name = required ? required + 1 : NULL;
    for (uint32_t i = 0; required && i < required->n; i++, name = tape_next(name))
        if (!table_find_attribute(t, tape_str(name)))
            return fail_at(fault, "/schema/required", tape_str(name), "name",
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

static int check_form(const struct tape_node *definition, struct arena *arena,
                      struct row_fault *fault)
{
    const struct tape_node *form;
    int err = open_text(str_of(definition_schema), arena, &form, fault);
    if (err == 0)
        err = row_check(form, definition, fault);
    if (err < 0)
        return err;
    err = row_check_schema(tape_get(definition, STR("schema")), fault);
    if (err < 0) {
        struct row_fault inner = *fault;
        int n = snprintf(fault->pointer, sizeof fault->pointer, "/schema%s", inner.pointer);
        if (n >= (int)sizeof fault->pointer)
            strcpy(fault->pointer + sizeof fault->pointer - 4, "...");
    }
    return err;
}

int table_parse(struct str definition, struct arena *arena, struct table *ret,
                struct row_fault *fault)
{
    struct table t = {.database = STR(""), .name = STR(""), .tool_name = STR("")};
    const struct tape_node *tape;
    int err = open_text(definition, arena, &tape, fault);
    if (err == 0)
        err = check_form(tape, arena, fault);
    if (err < 0)
        return err;
    t.title = text_of(tape, STR("title"));
    t.description = text_of(tape, STR("description"));
    t.schema = tape_get(tape, STR("schema"));
    if ((err = read_attributes(&t, tape, arena, fault)) < 0 ||
        (err = read_key(&t, tape, fault)) < 0 || (err = check_indexed(&t, tape, fault)) < 0 ||
        (err = check_required(&t, fault)) < 0 || (err = complete_schema(&t, arena)) < 0 ||
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

int table_check_row(const struct table *table, const struct tape_node *row, struct row_fault *fault)
{
    return row_check(table->schema, row, fault);
}

int table_value_key(const struct table *table, const struct tape_node *value, struct arena *arena,
                    struct str *ret, struct row_fault *fault)
{
    int err = key_encode(table->key_type, value, arena, ret);
    if (err != ERR_PARAMS && err != ERR_LIMIT)
        return err;
    fault->pointer[0] = '\0';
    if (err == ERR_LIMIT)
        return row_fault_set(fault, "length", "1 to %d bytes of text", KEY_BYTES_MAX);
    return row_fault_set(fault, "type", "%s", key_type_name(table->key_type));
}

int table_row_key(const struct table *table, const struct tape_node *row, struct arena *arena,
                  struct str *ret, struct row_fault *fault)
{
    struct str name = table->attributes[table->key].name;
    const struct tape_node *value = tape_get(row, name);
    if (!value)
        return fail_at(fault, "", name, "required", key_type_name(table->key_type));
    int err = table_value_key(table, value, arena, ret, fault);
    if (err == ERR_PARAMS)
        row_fault_within(fault, name);
    return err;
}
