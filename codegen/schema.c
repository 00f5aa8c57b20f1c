/* codegen/schema.c - see schema.h. One function per keyword, found in a table. */
#include "codegen/schema.h"

#include "base/json_tree.h"

#include <stdlib.h>
#include <string.h>

struct reader {
    struct arena *arena;
    const char *path;
};

static struct schema *read_schema(struct reader *r, const struct json *json);

static struct place place_of(const struct reader *r, const struct json *json)
{
    return (struct place){r->path, json->line};
}

static bool wants(const struct reader *r, const struct json *json, enum json_kind kind,
                  const char *expected)
{
    if (json->kind == kind)
        return true;
    fault_at(place_of(r, json), "\"" STR_FMT "\": expected %s, found %s", STR_ARG(json->key),
             expected, json_kind_name(json));
    return false;
}

/* ---- keywords -------------------------------------------------------------------------------- */

static uint32_t type_bit(const struct reader *r, const struct json *json)
{
    static const struct {
        const char *name;
        uint32_t bit;
    } types[] = {{"null", T_NULL},     {"boolean", T_BOOL},  {"integer", T_INTEGER},
                 {"number", T_NUMBER}, {"string", T_STRING}, {"array", T_ARRAY},
                 {"object", T_OBJECT}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (str_eq(json_str(json), str_of(types[i].name)))
            return types[i].bit;
    fault_at(place_of(r, json), "\"type\": expected the name of a JSON type");
    return 0;
}

static void read_type(struct reader *r, const struct json *json, struct schema *ret)
{
    if (json->kind != JSON_ARRAY) {
        ret->types = type_bit(r, json);
        return;
    }
    json_each (it, json)
        ret->types |= type_bit(r, it);
}

static void read_ref(struct reader *r, const struct json *json, struct schema *ret)
{
    struct str ref = json_str(json);
    if (str_starts_with(ref, STR("#/definitions/")))
        ret->ref = (struct str){ref.p + 14, ref.n - 14};
    else if (str_starts_with(ref, STR("#/$defs/")))
        ret->ref = (struct str){ref.p + 8, ref.n - 8};
    else
        fault_at(place_of(r, json), "\"$ref\": expected #/definitions/X or #/$defs/X");
}

static int by_member(const void *a, const void *b)
{
    return str_compare(((const struct schema_member *)a)->name,
                       ((const struct schema_member *)b)->name);
}

static struct schema_member *member_of(const struct schema *schema, struct str name)
{
    for (uint32_t i = 0; i < schema->n_members; i++)
        if (str_eq(schema->members[i].name, name))
            return &schema->members[i];
    return NULL;
}

static struct schema_member *member_make(struct schema *schema, struct str name)
{
    struct schema_member *member = member_of(schema, name);
    if (member)
        return member;
    schema->members[schema->n_members] = (struct schema_member){.name = name};
    return &schema->members[schema->n_members++];
}

static void read_properties(struct reader *r, const struct json *json, struct schema *ret)
{
    if (!wants(r, json, JSON_OBJECT, "an object"))
        return;
    ret->has_properties = true;
    json_each (it, json)
        member_make(ret, it->key)->schema = read_schema(r, it);
}

static void read_required(struct reader *r, const struct json *json, struct schema *ret)
{
    if (!wants(r, json, JSON_ARRAY, "an array"))
        return;
    json_each (it, json) {
        if (it->kind == JSON_STR)
            member_make(ret, it->v.s)->required = true;
        else
            fault_at(place_of(r, it), "\"required\": expected names");
    }
}

static void read_additional(struct reader *r, const struct json *json, struct schema *ret)
{
    if (json->kind == JSON_BOOL && json->v.b)
        return;
    if (json->kind == JSON_BOOL) {
        fault_at(place_of(r, json), "\"additionalProperties\": false is not supported");
        return;
    }
    struct schema *additional = read_schema(r, json);
    ret->additional = schema_is_any(additional) ? NULL : additional;
}

static void read_items(struct reader *r, const struct json *json, struct schema *ret)
{
    ret->items = read_schema(r, json);
}

static void read_max_items(struct reader *r, const struct json *json, struct schema *ret)
{
    if (!wants(r, json, JSON_NUM, "a number"))
        return;
    if (!json->is_int || json->v.num.i < 1 || json->v.num.i > UINT16_MAX)
        fault_at(place_of(r, json), "\"maxItems\": expected 1 to %d", UINT16_MAX);
    else
        ret->max_items = (uint32_t)json->v.num.i;
}

static void read_enum(struct reader *r, const struct json *json, struct schema *ret)
{
    if (!wants(r, json, JSON_ARRAY, "an array"))
        return;
    ret->choices = must(arena_array(r->arena, json->n + 1, sizeof *ret->choices));
    json_each (it, json) {
        if (it->kind == JSON_STR)
            ret->choices[ret->n_choices++] = it->v.s;
        else
            fault_at(place_of(r, it), "\"enum\": expected strings only");
    }
}

static void read_const(struct reader *r, const struct json *json, struct schema *ret)
{
    if (json->kind == JSON_STR && !memchr(json->v.s.p, '"', json->v.s.n) &&
        !memchr(json->v.s.p, '\\', json->v.s.n))
        ret->literal = arena_printf(r->arena, "\"" STR_FMT "\"", STR_ARG(json->v.s));
    else if (json->kind == JSON_NUM && json->is_int)
        ret->literal = json->v.num.raw;
    else
        fault_at(place_of(r, json), "\"const\": expected a plain string or an integer");
}

static void read_minimum(struct reader *r, const struct json *json, struct schema *ret)
{
    ret->has_min = wants(r, json, JSON_NUM, "a number");
    ret->min = ret->has_min ? json->v.num.d : 0;
}

static void read_maximum(struct reader *r, const struct json *json, struct schema *ret)
{
    ret->has_max = wants(r, json, JSON_NUM, "a number");
    ret->max = ret->has_max ? json->v.num.d : 0;
}

static void read_format(struct reader *r, const struct json *json, struct schema *ret)
{
    if (wants(r, json, JSON_STR, "a string"))
        ret->format = json->v.s;
}

static void read_list(struct reader *r, const struct json *json, struct schemas *ret)
{
    if (!wants(r, json, JSON_ARRAY, "an array"))
        return;
    ret->v = must(arena_array(r->arena, json->n + 1, sizeof *ret->v));
    json_each (it, json)
        ret->v[ret->n++] = read_schema(r, it);
}

static void read_any_of(struct reader *r, const struct json *json, struct schema *ret)
{
    read_list(r, json, &ret->any_of);
}

static void read_all_of(struct reader *r, const struct json *json, struct schema *ret)
{
    read_list(r, json, &ret->all_of);
}

static void pass_over(struct reader *r, const struct json *json, struct schema *ret)
{
    (void)r, (void)json, (void)ret;
}

static const struct keyword {
    const char *name;
    void (*read)(struct reader *r, const struct json *json, struct schema *ret);
} keywords[] = {
    {"type", read_type},
    {"$ref", read_ref},
    {"properties", read_properties},
    {"required", read_required},
    {"additionalProperties", read_additional},
    {"items", read_items},
    {"maxItems", read_max_items},
    {"enum", read_enum},
    {"const", read_const},
    {"minimum", read_minimum},
    {"maximum", read_maximum},
    {"format", read_format},
    {"anyOf", read_any_of},
    {"allOf", read_all_of},
    {"description", pass_over},
    {"title", pass_over},
    {"examples", pass_over},
    {"$comment", pass_over},
};

static const struct keyword *keyword_find(struct str name)
{
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (str_eq(name, str_of(keywords[i].name)))
            return &keywords[i];
    return NULL;
}

/* ---- schemas and the file -------------------------------------------------------------------- */

static uint32_t count_of(const struct json *json, struct str key)
{
    const struct json *member = json_get(json, key);
    return member ? member->n : 0;
}

static struct schema *read_schema(struct reader *r, const struct json *json)
{
    struct schema *schema = must(arena_zalloc(r->arena, sizeof *schema));
    schema->place = place_of(r, json);
    if (json->kind == JSON_BOOL && json->v.b)
        return schema;
    if (!wants(r, json, JSON_OBJECT, "a schema object"))
        return schema;
    const struct json *twice = json_duplicate(json);
    if (twice)
        fault_at(place_of(r, twice), "keyword \"" STR_FMT "\" stands twice", STR_ARG(twice->key));
    uint32_t room = count_of(json, STR("properties")) + count_of(json, STR("required"));
    schema->members = must(arena_array(r->arena, room + 1, sizeof *schema->members));
    json_each (it, json) {
        const struct keyword *keyword = keyword_find(it->key);
        if (keyword)
            keyword->read(r, it, schema);
        else
            fault_at(place_of(r, it), "unknown keyword \"" STR_FMT "\"", STR_ARG(it->key));
    }
    if (schema->n_members)
        qsort(schema->members, schema->n_members, sizeof *schema->members, by_member);
    return schema;
}

bool schema_is_any(const struct schema *schema)
{
    return !schema->types && !schema->ref.p && !schema->has_properties && !schema->n_members &&
           !schema->additional && !schema->items && !schema->n_choices && !schema->literal.p &&
           !schema->any_of.n && !schema->all_of.n && !schema->has_min && !schema->has_max;
}

static int by_name(const void *a, const void *b)
{
    return str_compare(((const struct definition *)a)->name, ((const struct definition *)b)->name);
}

static void read_file(struct reader *r, const struct json *root, struct schema_file *ret)
{
    const struct json *definitions = json_get(root, STR("$defs"));
    if (!definitions)
        definitions = json_get(root, STR("definitions"));
    if (!definitions || definitions->kind != JSON_OBJECT) {
        fault_at(place_of(r, root), "expected an object \"definitions\" or \"$defs\"");
        return;
    }
    json_each (it, root) {
        if (it != definitions && !str_eq(it->key, STR("$schema")))
            fault_at(place_of(r, it), "unknown keyword \"" STR_FMT "\"", STR_ARG(it->key));
    }
    const struct json *twice = json_duplicate(definitions);
    if (twice)
        fault_at(place_of(r, twice), "definition \"" STR_FMT "\" stands twice",
                 STR_ARG(twice->key));
    ret->definitions = must(arena_array(r->arena, definitions->n + 1, sizeof *ret->definitions));
    json_each (it, definitions)
        ret->definitions[ret->n++] = (struct definition){it->key, read_schema(r, it)};
    if (ret->n)
        qsort(ret->definitions, ret->n, sizeof *ret->definitions, by_name);
}

void schema_load(const char *path, struct arena *arena, struct schema_file *ret)
{
    struct reader reader = {arena, path};
    struct json_error error;
    struct json *root;
    *ret = (struct schema_file){.path = path};
    if (json_tree_load(path, arena, &root, &error) < 0)
        fault_at((struct place){path, error.line}, "%s", error.text);
    else
        read_file(&reader, root, ret);
}

const struct definition *schema_find(const struct schema_file *file, struct str name)
{
    struct definition key = {.name = name};
    return file->n ? bsearch(&key, file->definitions, file->n, sizeof key, by_name) : NULL;
}

const struct schema_member *schema_member(const struct schema *schema, struct str name)
{
    return member_of(schema, name);
}
