/* schema/json_schema_keywords.c - the one table of keywords: in which dialects each stands, what
 * schemas it holds, and how its value becomes a rule. What is not in the table is an annotation. */
#include "schema/json_schema_keyword.h"

#include "base/err.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define LATEST (1u << JSON_SCHEMA_2020_12)
#define OLD    (1u << JSON_SCHEMA_DRAFT_07)
#define BOTH   (LATEST | OLD)

/* ---- rules are made when the first keyword needs them ---------------------------------------- */

static struct number_rules *number_rules(const struct use *use)
{
    if (!use->sub->number)
        use->sub->number = compiler_alloc(use->c, 1, sizeof(struct number_rules));
    return use->sub->number;
}

static struct string_rules *string_rules(const struct use *use)
{
    if (!use->sub->string) {
        use->sub->string = compiler_alloc(use->c, 1, sizeof(struct string_rules));
        if (use->sub->string)
            use->sub->string->max = UINT64_MAX;
    }
    return use->sub->string;
}

static struct array_rules *array_rules(const struct use *use)
{
    if (!use->sub->array) {
        use->sub->array = compiler_alloc(use->c, 1, sizeof(struct array_rules));
        if (use->sub->array) {
            use->sub->array->max = use->sub->array->max_contains = UINT64_MAX;
            use->sub->array->min_contains = 1;
        }
    }
    return use->sub->array;
}

static struct general_rules *general_rules(const struct use *use)
{
    if (!use->sub->general)
        use->sub->general = compiler_alloc(use->c, 1, sizeof(struct general_rules));
    return use->sub->general;
}

/* The member of some rules at the keyword's offset; NULL if there was no memory for them. */
static void *member(const struct use *use, void *rules)
{
    return rules ? (char *)rules + use->keyword->offset : NULL;
}

/* ---- type, enum, const ---------------------------------------------------------------------- */

static const struct {
    struct str name;
    uint16_t types;
} type_names[] = {
    {STR_INIT("string"), TYPE_BIT(TAPE_STR)},
    {STR_INIT("integer"), TYPE_BIT(TAPE_INT) | TYPES_INTEGRAL},
    {STR_INIT("number"), TYPE_BIT(TAPE_INT) | TYPE_BIT(TAPE_NUM)},
    {STR_INIT("boolean"), TYPE_BIT(TAPE_TRUE) | TYPE_BIT(TAPE_FALSE)},
    {STR_INIT("object"), TYPE_BIT(TAPE_OBJECT)},
    {STR_INIT("array"), TYPE_BIT(TAPE_ARRAY)},
    {STR_INIT("null"), TYPE_BIT(TAPE_NULL)},
};
#define N_TYPES (sizeof type_names / sizeof *type_names)

static uint16_t types_of(const struct tape_node *name)
{
    for (size_t i = 0; name->kind == TAPE_STR && i < N_TYPES; i++)
        if (str_eq(type_names[i].name, tape_str(name)))
            return type_names[i].types;
    return 0;
}

const char *keyword_type_name(struct str name)
{
    for (size_t i = 0; i < N_TYPES; i++)
        if (str_eq(type_names[i].name, name))
            return type_names[i].name.p;
    return NULL;
}

void keyword_type_text(uint16_t types, char *out, size_t size)
{
    size_t n = 0;
    bool any_number = types & TYPE_BIT(TAPE_NUM);
    out[0] = '\0';
    for (size_t i = 0; i < N_TYPES && n < size; i++) {
        bool integer = type_names[i].types & TYPES_INTEGRAL;
        if ((type_names[i].types & types) == type_names[i].types && !(integer && any_number))
            n += (size_t)snprintf(out + n, size - n, "%s%s", n ? "|" : "", type_names[i].name.p);
    }
}

static void add_type(const struct use *use, const struct tape_node *name)
{
    uint16_t types = types_of(name);
    if (!types)
        misuse(use, name, "string|integer|number|boolean|object|array|null");
    use->sub->types |= types;
}

static void compile_type(const struct use *use)
{
    const struct tape_node *type = use->value;
    use->sub->types = 0;
    if (type->kind != TAPE_ARRAY) {
        add_type(use, type);
        return;
    }
    const struct tape_node *name = type + 1;
    for (uint32_t i = 0; i < type->n; i++, name = tape_next(name))
        add_type(use, name);
    int unique = value_all_unique(type);
    if (unique < 0)
        use->c->err = unique;
    else if (!unique || type->n == 0)
        misuse(use, type, "at least one type, each once");
}

static void compile_enum(const struct use *use)
{
    if (use->value->kind != TAPE_ARRAY) {
        misuse(use, use->value, "array");
        return;
    }
    struct general_rules *rules = general_rules(use);
    struct value_set *set = compiler_alloc(use->c, 1, sizeof *set);
    if (!rules || !set)
        return;
    if (value_set_make(use->value, use->c->arena, set) < 0)
        use->c->err = ERR_NO_MEMORY;
    rules->choices = set;
    rules->choices_at = use->value;
}

static void compile_const(const struct use *use)
{
    struct general_rules *rules = general_rules(use);
    if (rules)
        rules->constant = use->value;
}

/* ---- numbers and counts --------------------------------------------------------------------- */

static bool is_number(const struct tape_node *node)
{
    return node->kind == TAPE_INT || node->kind == TAPE_NUM;
}

static void compile_number(const struct use *use)
{
    const struct tape_node **at = member(use, number_rules(use));
    if (!is_number(use->value))
        misuse(use, use->value, "number");
    else if (at)
        *at = use->value;
}

static void compile_multiple(const struct use *use)
{
    if (is_number(use->value) && tape_num(use->value) <= 0)
        misuse(use, use->value, "a number above 0");
    else
        compile_number(use);
}

/* 2.0 is a count; what no uint64_t holds is the largest one. */
static void set_count(const struct use *use, void *rules)
{
    uint64_t *at = member(use, rules);
    const struct tape_node *value = use->value;
    bool integral =
        value->kind == TAPE_INT || (value->kind == TAPE_NUM && number_is_integral(value->v.d));
    if (!integral || tape_num(value) < 0)
        misuse(use, value, "an integer, at least 0");
    else if (at)
        *at = value->kind == TAPE_INT           ? (uint64_t)value->v.i
              : value->v.d < (double)UINT64_MAX ? (uint64_t)value->v.d
                                                : UINT64_MAX;
}

static void compile_string_count(const struct use *use)
{
    set_count(use, string_rules(use));
}

static void compile_array_count(const struct use *use)
{
    set_count(use, array_rules(use));
}

static void compile_object_count(const struct use *use)
{
    set_count(use, keyword_object_rules(use));
}

/* ---- strings -------------------------------------------------------------------------------- */

const struct schema_pattern *keyword_take_pattern(const struct use *use,
                                                  const struct tape_node *text)
{
    const struct schema_pattern *pattern = NULL;
    struct str why;
    int err = pattern_compile(&use->c->patterns, tape_str(text), &pattern, &why);
    if (err == ERR_SYNTAX)
        misuse(use, text, "a regular expression of ECMA-262: " STR_FMT, STR_ARG(why));
    else if (err < 0)
        use->c->err = err;
    return pattern;
}

static void compile_pattern(const struct use *use)
{
    struct string_rules *rules = string_rules(use);
    if (use->value->kind != TAPE_STR)
        misuse(use, use->value, "string");
    else if (rules)
        rules->pattern = keyword_take_pattern(use, use->value);
}

static void compile_format(const struct use *use)
{
    if (use->value->kind != TAPE_STR) {
        misuse(use, use->value, "string");
        return;
    }
    enum schema_format format = schema_format_find(tape_str(use->value));
    if (format == FORMAT_ANY || !use->c->asserts_formats)
        return;
    struct string_rules *rules = string_rules(use);
    if (rules)
        rules->format = format;
}

/* ---- subschemas ----------------------------------------------------------------------------- */

static void set_schema(const struct use *use, void *rules)
{
    const struct subschema **at = member(use, rules);
    if (at)
        *at = index_find(use->c, use->value);
}

static void compile_array_schema(const struct use *use)
{
    set_schema(use, array_rules(use));
}

static void compile_object_schema(const struct use *use)
{
    set_schema(use, keyword_object_rules(use));
}

static void compile_general_schema(const struct use *use)
{
    set_schema(use, general_rules(use));
}

static void set_schemas(const struct use *use, struct subschemas *ret)
{
    const struct tape_node *item = use->value + 1;
    const struct subschema **v = compiler_alloc(use->c, use->value->n + 1, sizeof *v);
    if (!v || !ret)
        return;
    for (uint32_t i = 0; i < use->value->n; i++, item = tape_next(item))
        v[i] = index_find(use->c, item);
    *ret = (struct subschemas){v, use->value->n};
}

static void compile_general_schemas(const struct use *use)
{
    set_schemas(use, member(use, general_rules(use)));
}

static void compile_ref(const struct use *use)
{
    struct general_rules *rules = general_rules(use);
    const struct tape_node *target = index_resolve(use->c, use->value, use->base);
    if (rules && target)
        rules->ref = index_find(use->c, target);
}

static void compile_unsupported(const struct use *use)
{
    misuse(use, use->value, "a schema without it (dynamic references are not supported)");
}

static void compile_vocabulary(const struct use *use)
{
    misuse(use, use->value, "a schema without it (only the standard vocabulary is supported)");
}

static void compile_schema_uri(const struct use *use)
{
    int dialect = keyword_dialect(use->value);
    if (dialect != (int)use->c->dialect)
        misuse(use, use->value, "%s",
               use->sub->at != use->c->document
                   ? "the dialect of the whole document"
                   : "https://json-schema.org/draft/2020-12/schema or draft-07's");
}

/* ---- arrays --------------------------------------------------------------------------------- */

static void compile_prefix(const struct use *use)
{
    struct array_rules *rules = array_rules(use);
    if (!rules)
        return;
    set_schemas(use, &rules->prefix);
    rules->prefix_keyword = use->keyword->name.p;
}

static void compile_items(const struct use *use)
{
    struct array_rules *rules = array_rules(use);
    if (use->value->kind == TAPE_ARRAY) {
        compile_prefix(use);
    } else if (rules) {
        rules->rest = index_find(use->c, use->value);
        rules->rest_keyword = use->keyword->name.p;
    }
}

/* Means something beside an array of items only. */
static void compile_additional_items(const struct use *use)
{
    const struct tape_node *items = tape_get(use->sub->at, STR("items"));
    if (items && items->kind == TAPE_ARRAY)
        compile_items(use);
}

static void compile_unique(const struct use *use)
{
    struct array_rules *rules = array_rules(use);
    if (use->value->kind != TAPE_TRUE && use->value->kind != TAPE_FALSE)
        misuse(use, use->value, "boolean");
    else if (rules)
        rules->unique = use->value->kind == TAPE_TRUE;
}

/* ---- the table ------------------------------------------------------------------------------ */

#define IN(rules, field) offsetof(struct rules, field)

static const struct keyword keywords[] = {
    {STR_INIT("$schema"), BOTH, FORM_NONE, 0, compile_schema_uri},
    {STR_INIT("$vocabulary"), LATEST, FORM_NONE, 0, compile_vocabulary},
    {STR_INIT("$dynamicRef"), LATEST, FORM_NONE, 0, compile_unsupported},
    {STR_INIT("$dynamicAnchor"), LATEST, FORM_NONE, 0, compile_unsupported},
    {STR_INIT("$ref"), BOTH, FORM_NONE, 0, compile_ref},
    {STR_INIT("$defs"), LATEST, FORM_SCHEMA_MAP, 0, NULL},
    {STR_INIT("definitions"), BOTH, FORM_SCHEMA_MAP, 0, NULL},
    {STR_INIT("type"), BOTH, FORM_NONE, 0, compile_type},
    {STR_INIT("enum"), BOTH, FORM_NONE, 0, compile_enum},
    {STR_INIT("const"), BOTH, FORM_NONE, 0, compile_const},
    {STR_INIT("minimum"), BOTH, FORM_NONE, IN(number_rules, minimum), compile_number},
    {STR_INIT("maximum"), BOTH, FORM_NONE, IN(number_rules, maximum), compile_number},
    {STR_INIT("exclusiveMinimum"), BOTH, FORM_NONE, IN(number_rules, above), compile_number},
    {STR_INIT("exclusiveMaximum"), BOTH, FORM_NONE, IN(number_rules, below), compile_number},
    {STR_INIT("multipleOf"), BOTH, FORM_NONE, IN(number_rules, multiple_of), compile_multiple},
    {STR_INIT("minLength"), BOTH, FORM_NONE, IN(string_rules, min), compile_string_count},
    {STR_INIT("maxLength"), BOTH, FORM_NONE, IN(string_rules, max), compile_string_count},
    {STR_INIT("pattern"), BOTH, FORM_NONE, 0, compile_pattern},
    {STR_INIT("format"), BOTH, FORM_NONE, 0, compile_format},
    {STR_INIT("minItems"), BOTH, FORM_NONE, IN(array_rules, min), compile_array_count},
    {STR_INIT("maxItems"), BOTH, FORM_NONE, IN(array_rules, max), compile_array_count},
    {STR_INIT("uniqueItems"), BOTH, FORM_NONE, 0, compile_unique},
    {STR_INIT("prefixItems"), LATEST, FORM_SCHEMAS, 0, compile_prefix},
    {STR_INIT("items"), LATEST, FORM_SCHEMA, 0, compile_items},
    {STR_INIT("items"), OLD, FORM_ITEMS, 0, compile_items},
    {STR_INIT("additionalItems"), OLD, FORM_SCHEMA, 0, compile_additional_items},
    {STR_INIT("contains"), BOTH, FORM_SCHEMA, IN(array_rules, contains), compile_array_schema},
    {STR_INIT("minContains"), LATEST, FORM_NONE, IN(array_rules, min_contains),
     compile_array_count},
    {STR_INIT("maxContains"), LATEST, FORM_NONE, IN(array_rules, max_contains),
     compile_array_count},
    {STR_INIT("unevaluatedItems"), LATEST, FORM_SCHEMA, IN(array_rules, unevaluated),
     compile_array_schema},
    {STR_INIT("minProperties"), BOTH, FORM_NONE, IN(object_rules, min), compile_object_count},
    {STR_INIT("maxProperties"), BOTH, FORM_NONE, IN(object_rules, max), compile_object_count},
    {STR_INIT("required"), BOTH, FORM_NONE, 0, keyword_compile_required},
    {STR_INIT("properties"), BOTH, FORM_SCHEMA_MAP, 0, keyword_compile_properties},
    {STR_INIT("patternProperties"), BOTH, FORM_SCHEMA_MAP, 0, keyword_compile_pattern_properties},
    {STR_INIT("additionalProperties"), BOTH, FORM_SCHEMA, IN(object_rules, additional),
     compile_object_schema},
    {STR_INIT("propertyNames"), BOTH, FORM_SCHEMA, IN(object_rules, names), compile_object_schema},
    {STR_INIT("unevaluatedProperties"), LATEST, FORM_SCHEMA, IN(object_rules, unevaluated),
     compile_object_schema},
    {STR_INIT("dependentRequired"), LATEST, FORM_NONE, 0, keyword_compile_dependents},
    {STR_INIT("dependentSchemas"), LATEST, FORM_SCHEMA_MAP, 0, keyword_compile_dependents},
    {STR_INIT("dependencies"), OLD, FORM_DEPENDENCIES, 0, keyword_compile_dependents},
    {STR_INIT("allOf"), BOTH, FORM_SCHEMAS, IN(general_rules, all_of), compile_general_schemas},
    {STR_INIT("anyOf"), BOTH, FORM_SCHEMAS, IN(general_rules, any_of), compile_general_schemas},
    {STR_INIT("oneOf"), BOTH, FORM_SCHEMAS, IN(general_rules, one_of), compile_general_schemas},
    {STR_INIT("not"), BOTH, FORM_SCHEMA, IN(general_rules, not ), compile_general_schema},
    {STR_INIT("if"), BOTH, FORM_SCHEMA, IN(general_rules, if_), compile_general_schema},
    {STR_INIT("then"), BOTH, FORM_SCHEMA, IN(general_rules, then), compile_general_schema},
    {STR_INIT("else"), BOTH, FORM_SCHEMA, IN(general_rules, else_), compile_general_schema},
};

static const struct keyword *find_keyword(const struct compiler *c, struct str name)
{
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if ((keywords[i].dialects & 1u << c->dialect) && str_eq(keywords[i].name, name))
            return &keywords[i];
    return NULL;
}

enum keyword_form keyword_form(const struct compiler *c, struct str name, const char **ret_keyword)
{
    const struct keyword *keyword = find_keyword(c, name);
    if (!keyword)
        return FORM_NONE;
    *ret_keyword = keyword->name.p;
    return keyword->form;
}

int keyword_dialect(const struct tape_node *uri)
{
    static const struct {
        struct str uri;
        enum json_schema_dialect dialect;
    } dialects[] = {
        {STR_INIT("https://json-schema.org/draft/2020-12/schema"), JSON_SCHEMA_2020_12},
        {STR_INIT("http://json-schema.org/draft-07/schema"), JSON_SCHEMA_DRAFT_07},
        {STR_INIT("https://json-schema.org/draft-07/schema"), JSON_SCHEMA_DRAFT_07},
    };
    struct str text = uri->kind == TAPE_STR ? tape_str(uri) : STR("");
    if (text.n && text.p[text.n - 1] == '#')
        text.n--;
    for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++)
        if (str_eq(dialects[i].uri, text))
            return dialects[i].dialect;
    return -1;
}

void keywords_compile(struct compiler *c, struct subschema *sub, struct str base)
{
    const struct tape_node *schema = sub->at;
    if (schema->kind != TAPE_OBJECT) {
        sub->is_false = schema->kind == TAPE_FALSE;
        sub->types = sub->is_false ? 0 : TYPES_ALL;
        sub->simple = true;
        return;
    }
    bool only_ref = c->dialect == JSON_SCHEMA_DRAFT_07 && tape_get(schema, STR("$ref"));
    tape_each (schema, name, value) {
        const struct keyword *keyword = find_keyword(c, tape_str(name));
        struct use use = {c, sub, value, base, keyword};
        if (keyword && keyword->compile && !c->err &&
            (!only_ref || keyword->compile == compile_ref))
            keyword->compile(&use);
    }
    sub->simple = !sub->number && !sub->string && !sub->array && !sub->object && !sub->general;
}
