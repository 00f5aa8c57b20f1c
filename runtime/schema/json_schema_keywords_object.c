/* schema/json_schema_keywords_object.c - the keywords of objects become rules. */
#include "schema/json_schema_keyword.h"

#include <string.h>

struct object_rules *keyword_object_rules(const struct use *use)
{
    if (!use->sub->object) {
        use->sub->object = compiler_alloc(use->c, 1, sizeof(struct object_rules));
        if (use->sub->object)
            use->sub->object->max = UINT64_MAX;
    }
    return use->sub->object;
}

static bool are_names(const struct use *use, const struct tape_node *array)
{
    const struct tape_node *name = array + 1;
    if (array->kind != TAPE_ARRAY) {
        misuse(use, array, "an array of strings");
        return false;
    }
    for (uint32_t i = 0; i < array->n; i++, name = tape_next(name))
        if (name->kind != TAPE_STR) {
            misuse(use, name, "string");
            return false;
        }
    int unique = value_all_unique(array);
    if (unique < 0)
        use->c->err = unique;
    else if (!unique)
        misuse(use, array, "each name once");
    return unique == 1;
}

static struct property *find_property(struct object_rules *rules, struct str name, uint32_t hash)
{
    uint32_t at = hash & rules->mask;
    for (; rules->slots[at]; at = (at + 1) & rules->mask) {
        struct property *property = &rules->properties[rules->slots[at] - 1];
        if (property->hash == hash && str_eq(property->name, name))
            return property;
    }
    rules->properties[rules->n_properties] =
        (struct property){.name = name, .hash = hash, .type = "a value"};
    rules->slots[at] = ++rules->n_properties;
    return &rules->properties[rules->n_properties - 1];
}

/* Room for n properties with an index of their names. */
static bool make_room(const struct use *use, struct object_rules *rules, uint32_t n)
{
    uint32_t n_slots = 4;
    while (n_slots < n * 2)
        n_slots *= 2;
    struct property *properties = compiler_alloc(use->c, n, sizeof *properties);
    uint32_t *slots = compiler_alloc(use->c, n_slots, sizeof *slots);
    if (!properties || !slots)
        return false;
    for (uint32_t i = 0; i < rules->n_properties; i++) {
        uint32_t at = rules->properties[i].hash & (n_slots - 1);
        while (slots[at])
            at = (at + 1) & (n_slots - 1);
        slots[at] = i + 1;
        properties[i] = rules->properties[i];
    }
    rules->properties = properties;
    rules->slots = slots;
    rules->mask = n_slots - 1;
    return true;
}

static struct property *add_property(struct object_rules *rules, const struct tape_node *name)
{
    return find_property(rules, tape_str(name), value_hash_str(tape_str(name)));
}

static const char *single_type_name(const struct tape_node *schema)
{
    const struct tape_node *type = tape_get(schema, STR("type"));
    const char *name = type && type->kind == TAPE_STR ? keyword_type_name(tape_str(type)) : NULL;
    return name ? name : "a value";
}

void keyword_compile_properties(const struct use *use)
{
    struct object_rules *rules = keyword_object_rules(use);
    if (!rules || !make_room(use, rules, rules->n_properties + use->value->n + 1))
        return;
    tape_each (use->value, name, schema) {
        struct property *property = add_property(rules, name);
        property->schema = index_find(use->c, schema);
        property->type = single_type_name(schema);
    }
}

void keyword_compile_required(const struct use *use)
{
    struct object_rules *rules = keyword_object_rules(use);
    if (!are_names(use, use->value) || !rules ||
        !make_room(use, rules, rules->n_properties + use->value->n + 1))
        return;
    const struct tape_node *name = use->value + 1;
    for (uint32_t i = 0; i < use->value->n; i++, name = tape_next(name))
        add_property(rules, name)->required = true;
    rules->n_required = use->value->n;
}

void keyword_compile_pattern_properties(const struct use *use)
{
    struct object_rules *rules = keyword_object_rules(use);
    struct pattern_property *v = compiler_alloc(use->c, use->value->n + 1, sizeof *v);
    uint32_t n = 0;
    if (!rules || !v)
        return;
    tape_each (use->value, text, schema)
        v[n++] =
            (struct pattern_property){keyword_take_pattern(use, text), index_find(use->c, schema)};
    rules->patterns = v;
    rules->n_patterns = n;
}

void keyword_compile_dependents(const struct use *use)
{
    struct object_rules *rules = keyword_object_rules(use);
    if (use->value->kind != TAPE_OBJECT) {
        misuse(use, use->value, "object");
        return;
    }
    if (!rules)
        return;
    struct dependent *v =
        compiler_alloc(use->c, rules->n_dependents + use->value->n + 1, sizeof *v);
    if (!v)
        return;
    if (rules->n_dependents)
        memcpy(v, rules->dependents, rules->n_dependents * sizeof *v);
    rules->dependents = v;
    tape_each (use->value, name, value) {
        struct dependent *dependent = &v[rules->n_dependents++];
        *dependent = (struct dependent){.name = tape_str(name), .keyword = use->keyword->name.p};
        if (use->keyword->form != FORM_NONE)
            dependent->schema = index_find(use->c, value);
        if (!dependent->schema && are_names(use, value))
            dependent->required = value;
    }
}
