/* core/elicit_schema.c - see elicit_schema.h. */
#include "core/elicit_schema.h"

#include "base/err.h"

#include <stdio.h>
#include <string.h>

struct walk {
    const struct tape_node *root;
    struct schema_fault *fault;
};

static int refuse(const struct walk *w, const struct tape_node *at, const char *keyword,
                  const char *expected)
{
    schema_fault_locate(w->fault, w->root, at);
    return schema_fault_set(w->fault, keyword, "%s", expected);
}

static const struct wire_row *find_row(const struct wire_message *message, struct str key)
{
    for (uint32_t i = 0; i < message->n_rows; i++) {
        const struct wire_row *row = &message->rows[i];
        if (str_eq((struct str){row->name + 1, row->key_len}, key))
            return row;
    }
    return NULL;
}

static const struct tape_node *member(const struct wire_message *message,
                                      const struct tape_node *object, uint32_t row)
{
    return tape_get(object, (struct str){message->rows[row].name + 1, message->rows[row].key_len});
}

static uint64_t members_of(const struct wire_message *message, const struct tape_node *object)
{
    uint64_t has = 0;
    for (uint32_t i = 0; i < message->n_rows; i++)
        if (member(message, object, i))
            has |= UINT64_C(1) << message->rows[i].bit;
    return has;
}

/* Literals that decide are strings: "\"text\"". */
static bool is_literal(const struct tape_node *value, const char *literal)
{
    struct str text = {literal + 1, (uint32_t)strlen(literal) - 2};
    return value && value->kind == TAPE_STR && str_eq(tape_str(value), text);
}

static bool is_fixed(const struct wire_message *message, const struct tape_node *object,
                     const struct wire_variant *variant)
{
    for (uint32_t i = 0; variant->fixed_literal && i < message->n_rows; i++)
        if (message->rows[i].bit == variant->fixed_bit)
            return is_literal(member(message, object, i), variant->fixed_literal);
    return true;
}

/* The alternative that the object is, as wire/table.h tells it; NULL: none. */
static const struct wire_message *resolve(const struct wire_message *message,
                                          const struct tape_node *object)
{
    while (message && message->variants) {
        const struct wire_message *found = NULL;
        uint64_t has = members_of(message, object);
        for (uint32_t i = 0; !found && i < message->n_variants; i++) {
            const struct wire_variant *v = &message->variants[i];
            if ((v->present & ~has) == 0 && (v->absent & has) == 0 && is_fixed(message, object, v))
                found = v->message;
        }
        message = found;
    }
    return message;
}

/* By the tables a property may also be an alternative that ignores the members which made it this
 * one: an enum of numbers is a string with a strange member. Here it has to be what it looks like.
 */
static int check_alternative(const struct walk *w, const struct wire_message *message,
                             const struct tape_node *object)
{
    static const char padding[JSON_PADDING_BYTES];
    const struct wire_type type = {.kind = WIRE_OBJECT, .of.message = message};
    struct wire_fault fault = {0};
    struct buf text = {0};
    tape_write(object, &text);
    struct str json = buf_str(&text);
    buf_add(&text, padding, sizeof padding);
    json.p = text.p;
    int err = text.failed ? ERR_NO_MEMORY : wire_check(&type, json, &fault);
    buf_done(&text);
    if (err != ERR_PARAMS)
        return err;
    refuse(w, object, "type", fault.expected);
    size_t n = strlen(w->fault->pointer);
    snprintf(w->fault->pointer + n, sizeof w->fault->pointer - n, "%s", fault.pointer);
    return ERR_PARAMS;
}

static int check_known(const struct walk *w, const struct wire_type *type,
                       const struct tape_node *value);

static int check_object(const struct walk *w, const struct wire_message *message,
                        const struct tape_node *object)
{
    const struct wire_message *one = resolve(message, object);
    if (!one)
        return refuse(w, object, "type", "a primitive type");
    if (one != message) {
        int err = check_alternative(w, one, object);
        if (err < 0)
            return err;
    }
    tape_each (object, key, value) {
        const struct wire_row *row = find_row(one, tape_str(key));
        int err = row ? check_known(w, &row->type, value)
                      : refuse(w, key, "unknown", "only what the revision allows here");
        if (err < 0)
            return err;
    }
    return 0;
}

static int check_array(const struct walk *w, const struct wire_message *message,
                       const struct tape_node *array)
{
    const struct tape_node *item = array + 1;
    for (uint32_t i = 0; i < array->n; i++, item = tape_next(item)) {
        int err = item->kind == TAPE_OBJECT ? check_object(w, message, item) : 0;
        if (err < 0)
            return err;
    }
    return 0;
}

static int check_map(const struct walk *w, const struct wire_message *message,
                     const struct tape_node *map)
{
    tape_each (map, key, value) {
        int err = value->kind == TAPE_OBJECT ? check_object(w, message, value) : 0;
        if (err < 0)
            return err;
    }
    return 0;
}

/* Has no object in it a member that its table does not know? The rest was checked by the table. */
static int check_known(const struct walk *w, const struct wire_type *type,
                       const struct tape_node *value)
{
    bool is_deep = type->kind == WIRE_OBJECT || type->kind == WIRE_RAW;
    const struct wire_message *message = is_deep ? type->of.message : NULL;
    if (!message)
        return 0;
    if (type->container == WIRE_MAP && value->kind == TAPE_OBJECT)
        return check_map(w, message, value);
    if (value->kind == TAPE_ARRAY)
        return check_array(w, message, value);
    return value->kind == TAPE_OBJECT ? check_object(w, message, value) : 0;
}

/* A property that is required and not described could not be filled in. */
static int check_required(const struct walk *w, const struct tape_node *schema)
{
    const struct tape_node *required = tape_get(schema, STR("required"));
    const struct tape_node *properties = tape_get(schema, STR("properties"));
    const struct tape_node *name = required ? required + 1 : NULL;
    for (uint32_t i = 0; required && i < required->n; i++, name = tape_next(name))
        if (!tape_get(properties, tape_str(name)))
            return refuse(w, name, "required", "the name of a property");
    return 0;
}

static int check_names(const struct walk *w, const struct tape_node *schema)
{
    tape_each (tape_get(schema, STR("properties")), key, property) {
        const struct tape_node *names = tape_get(property, STR("enumNames"));
        const struct tape_node *values = tape_get(property, STR("enum"));
        if (names && values && names->n != values->n)
            return refuse(w, names, "enumNames", "as many as values");
    }
    return 0;
}

int elicit_schema_compile(const struct wire_type *type, const struct tape_node *params,
                          struct arena *arena, const struct json_schema **ret,
                          struct schema_fault *fault)
{
    const struct walk w = {params, fault};
    const struct wire_message *message = resolve(type->of.message, params);
    const struct wire_row *row = message ? find_row(message, STR("requestedSchema")) : NULL;
    const struct tape_node *schema = row ? tape_get(params, STR("requestedSchema")) : NULL;
    struct schema_faults faults = {0};
    if (!schema) {
        *ret = NULL;
        return 0;
    }
    int err = check_known(&w, &row->type, schema);
    if (err == 0)
        err = check_required(&w, schema);
    if (err == 0)
        err = check_names(&w, schema);
    if (err < 0)
        return err;
    err = json_schema_compile(schema, NULL, arena, ret, &faults);
    if (err == ERR_PARAMS) {
        *fault = faults.v[0];
        snprintf(fault->pointer, sizeof fault->pointer, "/requestedSchema%.*s",
                 (int)sizeof fault->pointer - 20, faults.v[0].pointer);
    }
    return err;
}
