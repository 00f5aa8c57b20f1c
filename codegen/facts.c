/* codegen/facts.c - questions to a schema of facts; see facts.h. */
#include "codegen/facts.h"

#include "base/err.h"

enum { ALIASES_MAX = 16 };

const struct json *facts_definitions(const struct json *root)
{
    const struct json *definitions = json_get(root, STR("$defs"));
    return definitions ? definitions : json_get(root, STR("definitions"));
}

struct str facts_ref(const struct json *schema)
{
    struct str path = json_str(json_get(schema, STR("$ref")));
    if (!path.p)
        return STR_NONE;
    str_cut(&path, '/'); /* # */
    str_cut(&path, '/'); /* definitions or $defs */
    return path;
}

const struct json *facts_resolve(const struct json *root, const struct json *schema)
{
    for (int i = 0; i < ALIASES_MAX && schema; i++) {
        struct str name = facts_ref(schema);
        if (!name.p)
            return schema;
        schema = json_get(facts_definitions(root), name);
    }
    return NULL;
}

/* ---- fields */

const struct facts_field *facts_find(const struct facts_field *fields, struct str name)
{
    while (fields && !str_eq(fields->name, name))
        fields = fields->next;
    return fields;
}

static int put_field(struct arena *arena, const struct json *property, struct facts_field **list)
{
    while (*list && str_compare((*list)->name, property->key) < 0)
        list = &(*list)->next;
    if (*list && str_eq((*list)->name, property->key)) {
        (*list)->type = property;
        return 0;
    }
    struct facts_field *field = arena_zalloc(arena, sizeof *field);
    if (!field)
        return ERR_NO_MEMORY;
    field->name = property->key;
    field->type = property;
    field->next = *list;
    *list = field;
    return 0;
}

typedef int part_fn(struct arena *arena, const struct json *part, struct facts_field **list);

static int put_properties(struct arena *arena, const struct json *part, struct facts_field **list)
{
    json_each (property, json_get(part, STR("properties"))) {
        int err = put_field(arena, property, list);
        if (err)
            return err;
    }
    return 0;
}

static int mark_required(struct arena *arena, const struct json *part, struct facts_field **list)
{
    (void)arena;
    json_each (name, json_get(part, STR("required"))) {
        struct facts_field *field = (struct facts_field *)facts_find(*list, json_str(name));
        if (field)
            field->required = true;
    }
    return 0;
}

static int each_part(const struct json *root, const struct json *schema, int level, part_fn *fn,
                     struct arena *arena, struct facts_field **list)
{
    schema = facts_resolve(root, schema);
    if (!schema || level > ALIASES_MAX)
        return 0;
    int err = 0;
    json_each (part, json_get(schema, STR("allOf"))) {
        err = each_part(root, part, level + 1, fn, arena, list);
        if (err)
            return err;
    }
    return fn(arena, schema, list);
}

int facts_fields(const struct json *root, const struct json *schema, struct arena *arena,
                 struct facts_field **ret)
{
    struct facts_field *list = NULL;
    int err = each_part(root, schema, 0, put_properties, arena, &list);
    if (!err) /* after all parts are in: one may require what another declares */
        err = each_part(root, schema, 0, mark_required, arena, &list);
    if (!err)
        *ret = list;
    return err;
}

/* ---- types as text */

static void describe_members(const struct json *array, const char *between, bool fields,
                             struct buf *out)
{
    json_each (member, array) {
        if (member->kind == JSON_STR)
            buf_add_str(out, member->v.s);
        else
            facts_describe(member, fields, out);
        if (member->next)
            buf_add_str(out, str_of(between));
    }
}

static void describe_enum(const struct json *choices, struct buf *out)
{
    json_each (choice, choices)
        buf_printf(out, "\"" STR_FMT "\"%s", STR_ARG(choice->v.s), choice->next ? " | " : "");
}

static void describe_const(const struct json *fixed, struct buf *out)
{
    if (fixed->kind == JSON_STR)
        buf_printf(out, "\"" STR_FMT "\"", STR_ARG(fixed->v.s));
    else
        buf_add_str(out, fixed->v.num.raw);
}

static void describe_array(const struct json *schema, bool fields, struct buf *out)
{
    const struct json *items = json_get(schema, STR("items"));
    const struct json *max = json_get(schema, STR("maxItems"));
    bool wrap = json_get(items, STR("anyOf")) || json_get(items, STR("enum")) ||
                json_get(items, STR("allOf"));
    if (wrap)
        buf_add_char(out, '(');
    facts_describe(items, fields, out);
    buf_add_str(out, wrap ? STR(")[]") : STR("[]"));
    if (max)
        buf_printf(out, "(at most " STR_FMT ")", STR_ARG(max->v.num.raw));
}

bool facts_requires(const struct json *schema, struct str name)
{
    json_each (required, json_get(schema, STR("required")))
        if (str_eq(json_str(required), name))
            return true;
    return false;
}

static void describe_object(const struct json *schema, bool fields, struct buf *out)
{
    const struct json *properties = json_get(schema, STR("properties"));
    const struct json *others = json_get(schema, STR("additionalProperties"));
    bool typed = json_first(others);
    if (typed && !json_first(properties)) {
        buf_add_lit(out, "map of ");
        facts_describe(others, fields, out);
        return;
    }
    buf_add_str(out, others && !typed ? STR("open object") : STR("object"));
    if (fields && json_first(properties)) {
        buf_add_lit(out, " {");
        json_each (property, properties) {
            buf_add_str(out, property->key);
            buf_add_str(out, facts_requires(schema, property->key) ? STR(": ") : STR("?: "));
            facts_describe(property, fields, out);
            buf_add_str(out, property->next ? STR(", ") : STR("}"));
        }
    }
    if (typed) {
        buf_add_lit(out, ", others ");
        facts_describe(others, fields, out);
    }
}

static void describe_limits(const struct json *schema, struct buf *out)
{
    const struct json *min = json_get(schema, STR("minimum"));
    const struct json *max = json_get(schema, STR("maximum"));
    struct str format = json_str(json_get(schema, STR("format")));
    if (format.p)
        buf_printf(out, "<" STR_FMT ">", STR_ARG(format));
    if (min)
        buf_printf(out, "(>=" STR_FMT ")", STR_ARG(min->v.num.raw));
    if (max)
        buf_printf(out, "(<=" STR_FMT ")", STR_ARG(max->v.num.raw));
}

static void describe_type(const struct json *schema, bool fields, struct buf *out)
{
    const struct json *type = json_get(schema, STR("type"));
    if (str_eq(json_str(type), STR("array")))
        describe_array(schema, fields, out);
    else if (str_eq(json_str(type), STR("object")) || json_get(schema, STR("properties")))
        describe_object(schema, fields, out);
    else if (!type)
        buf_add_lit(out, "any");
    else if (type->kind == JSON_ARRAY)
        describe_members(type, " | ", fields, out);
    else
        buf_add_str(out, type->v.s);
    describe_limits(schema, out);
}

void facts_describe(const struct json *schema, bool fields, struct buf *out)
{
    const struct json *detail;
    if (facts_ref(schema).p)
        buf_add_str(out, facts_ref(schema));
    else if ((detail = json_get(schema, STR("const"))))
        describe_const(detail, out);
    else if ((detail = json_get(schema, STR("enum"))))
        describe_enum(detail, out);
    else if ((detail = json_get(schema, STR("anyOf"))))
        describe_members(detail, " | ", true, out);
    else if ((detail = json_get(schema, STR("allOf"))))
        describe_members(detail, " & ", fields, out);
    else
        describe_type(schema, fields, out);
}
