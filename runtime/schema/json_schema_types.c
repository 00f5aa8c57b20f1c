/* schema/json_schema_types.c - of which types a member's value may be, as far as keywords say that
 * judge the value itself: type, enum, const, $ref, and the parts of allOf, anyOf and oneOf. It is
 * for those who read values from text that does not say (CSV). What `not`, `if`, or a keyword of
 * the whole object takes away is not looked for: the answer may be too wide, never too narrow.
 *
 * References cannot go round (json_schema_compile.c), but many that lead to the same place can make
 * very many ways, so the walk has a bound; what lies behind it may be anything.
 */
#include "schema/json_schema_run.h"

#define LOOKS_MAX 4096 /* at subschemas */

static uint16_t types_of(const struct subschema *sub, uint32_t *n_looks);

/* One of them has to fit. */
static uint16_t types_of_any(const struct subschemas *any, uint32_t *n_looks)
{
    uint16_t types = 0;
    for (uint32_t i = 0; i < any->n; i++)
        types |= types_of(any->v[i], n_looks);
    return types;
}

/* Of the values that the subschema's own type lets through. */
static uint16_t types_of_choices(const struct subschema *sub, const struct value_set *choices)
{
    uint16_t types = 0;
    for (uint32_t i = 0; i < choices->n; i++)
        if (takes_kind(sub, choices->values[i]))
            types |= TYPE_BIT(choices->values[i]->kind);
    return types;
}

static uint16_t types_of_constant(const struct subschema *sub, const struct tape_node *constant)
{
    return takes_kind(sub, constant) ? TYPE_BIT(constant->kind) : 0;
}

static uint16_t types_of(const struct subschema *sub, uint32_t *n_looks)
{
    const struct general_rules *rules = sub->general;
    uint16_t types = sub->types & TYPES_ALL;
    if ((*n_looks)++ >= LOOKS_MAX)
        return TYPES_ALL;
    if (!rules)
        return types;
    if (rules->choices)
        types = types_of_choices(sub, rules->choices);
    if (rules->constant)
        types &= types_of_constant(sub, rules->constant);
    if (rules->ref)
        types &= types_of(rules->ref, n_looks);
    for (uint32_t i = 0; i < rules->all_of.n; i++)
        types &= types_of(rules->all_of.v[i], n_looks);
    if (rules->any_of.n)
        types &= types_of_any(&rules->any_of, n_looks);
    if (rules->one_of.n)
        types &= types_of_any(&rules->one_of, n_looks);
    return types;
}

static uint8_t as_json_types(uint16_t types)
{
    static const uint8_t of[] = {
        [TAPE_NULL] = WIRE_T_NULL,   [TAPE_FALSE] = WIRE_T_BOOL,    [TAPE_TRUE] = WIRE_T_BOOL,
        [TAPE_INT] = WIRE_T_INTEGER, [TAPE_NUM] = WIRE_T_NUMBER,    [TAPE_STR] = WIRE_T_STRING,
        [TAPE_ARRAY] = WIRE_T_ARRAY, [TAPE_OBJECT] = WIRE_T_OBJECT,
    };
    uint8_t json = 0;
    for (uint32_t kind = 0; kind < sizeof of / sizeof *of; kind++)
        if (types & TYPE_BIT(kind))
            json |= of[kind];
    return json;
}

uint8_t json_schema_member_types(const struct json_schema *schema, struct str name)
{
    const struct object_rules *object = schema->root->object;
    uint32_t n_looks = 0;
    for (uint32_t i = 0; object && i < object->n_properties; i++)
        if (object->properties[i].schema && str_eq(object->properties[i].name, name))
            return as_json_types(types_of(object->properties[i].schema, &n_looks));
    return WIRE_T_ANY;
}
