/* schema/json_schema_index.c - which parts of a document are schemas, how they are called, and what
 * a reference means.
 *
 * One walk from the root through the keywords that hold schemas. Places that no keyword makes a
 * schema (within enum, or under a name nobody knows) are none, whatever they look like, until a
 * reference points there. Names are whole URIs, anchors with their '#', sorted once. */
#include "schema/json_schema_parts.h"

#include "base/err.h"
#include "schema/percent.h"

#include <stdlib.h>
#include <string.h>

void *compiler_alloc(struct compiler *c, size_t n, size_t size)
{
    void *p = n <= SIZE_MAX / size ? arena_zalloc(c->arena, n * size) : NULL;
    if (!p)
        c->err = ERR_NO_MEMORY;
    return p;
}

/* ---- names ---------------------------------------------------------------------------------- */

static bool grow_names(struct compiler *c)
{
    uint32_t cap = c->cap_names ? c->cap_names * 2 : 8;
    struct schema_name *names = compiler_alloc(c, cap, sizeof *names);
    if (!names)
        return false;
    if (c->n_names)
        memcpy(names, c->names, c->n_names * sizeof *names);
    c->names = names;
    c->cap_names = cap;
    return true;
}

static void add_name(struct compiler *c, struct str uri, const struct tape_node *resource,
                     const struct tape_node *said_at, const char *keyword)
{
    if (!uri.p)
        c->err = ERR_NO_MEMORY;
    if (c->named || c->err || (c->n_names == c->cap_names && !grow_names(c)))
        return;
    c->names[c->n_names++] = (struct schema_name){uri, resource, said_at, keyword};
}

static struct str with_fragment(struct compiler *c, struct str uri, struct str fragment)
{
    return arena_printf(c->arena, STR_FMT "#" STR_FMT, STR_ARG(uri), STR_ARG(fragment));
}

static bool is_anchor(struct str s)
{
    for (uint32_t i = 0; i < s.n; i++) {
        bool letter = (unsigned)(s.p[i] | 0x20) - 'a' < 26 || s.p[i] == '_';
        bool later = (unsigned)s.p[i] - '0' < 10 || s.p[i] == '-' || s.p[i] == '.';
        if (!letter && (i == 0 || !later))
            return false;
    }
    return s.n > 0;
}

/* What `$id` makes of the base. In draft-07 one that is but a fragment is an anchor. */
static struct str take_id(struct compiler *c, const struct tape_node *schema,
                          const struct tape_node *id, struct str base)
{
    struct str uri = id->kind == TAPE_STR ? tape_str(id) : STR_NONE;
    struct str fragment = uri.p ? uri_cut_fragment(&uri) : STR_NONE;
    if (!uri.p) {
        refuse(c, id, "$id", "string");
        return base;
    }
    if (fragment.n && (c->dialect == JSON_SCHEMA_2020_12 || uri.n)) {
        refuse(c, id, "$id", "a URI without a fragment");
        return base;
    }
    if (fragment.n) {
        add_name(c, with_fragment(c, base, fragment), schema, id, "$id");
        return base;
    }
    struct str resolved = uri_resolve(base, uri, c->arena);
    add_name(c, resolved, schema, id, "$id");
    return resolved.p ? resolved : base;
}

static void take_anchor(struct compiler *c, const struct tape_node *schema,
                        const struct tape_node *anchor, struct str base)
{
    if (anchor->kind == TAPE_STR && is_anchor(tape_str(anchor)))
        add_name(c, with_fragment(c, base, tape_str(anchor)), schema, anchor, "$anchor");
    else
        refuse(c, anchor, "$anchor", "a letter, then letters, digits, '-', '_' and '.'");
}

/* The base within the schema. */
static struct str take_names(struct compiler *c, const struct tape_node *schema, struct str base)
{
    bool latest = c->dialect == JSON_SCHEMA_2020_12;
    const struct tape_node *id = tape_get(schema, STR("$id"));
    const struct tape_node *anchor = latest ? tape_get(schema, STR("$anchor")) : NULL;
    bool hidden = !latest && tape_get(schema, STR("$ref"));
    if (id && !hidden)
        base = take_id(c, schema, id, base);
    if (schema == c->document && (!id || hidden))
        add_name(c, base, schema, NULL, "$id");
    if (anchor)
        take_anchor(c, schema, anchor, base);
    return base;
}

static int by_uri(const void *a, const void *b)
{
    const struct schema_name *x = a, *y = b;
    int order = str_compare(x->uri, y->uri);
    return order ? order : (x->resource > y->resource) - (x->resource < y->resource);
}

void index_finish(struct compiler *c)
{
    c->named = true;
    if (c->n_names)
        qsort(c->names, c->n_names, sizeof *c->names, by_uri);
    for (uint32_t i = 1; i < c->n_names; i++)
        if (str_eq(c->names[i - 1].uri, c->names[i].uri))
            refuse(c, c->names[i].said_at ? c->names[i].said_at : c->document, c->names[i].keyword,
                   "a name that no other schema has");
}

static const struct tape_node *find_name(const struct compiler *c, struct str uri)
{
    uint32_t low = 0, high = c->n_names;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = str_compare(c->names[middle].uri, uri);
        if (order == 0)
            return c->names[middle].resource;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* ---- the walk ------------------------------------------------------------------------------- */

static bool grow(struct compiler *c)
{
    uint32_t cap = c->cap ? c->cap * 2 : 32;
    struct subschema **v = compiler_alloc(c, cap, sizeof *v);
    struct str *bases = compiler_alloc(c, cap, sizeof *bases);
    if (!v || !bases)
        return false;
    if (c->n) {
        memcpy(v, c->v, c->n * sizeof *v);
        memcpy(bases, c->bases, c->n * sizeof *bases);
    }
    c->v = v;
    c->bases = bases;
    c->cap = cap;
    return true;
}

static struct subschema *add_subschema(struct compiler *c, const struct tape_node *schema)
{
    struct subschema *sub = c->n < c->cap || grow(c) ? compiler_alloc(c, 1, sizeof *sub) : NULL;
    if (!sub)
        return NULL;
    sub->at = schema;
    sub->types = TYPES_ALL;
    c->v[c->n++] = sub;
    c->number_at[schema - c->document] = c->n;
    return sub;
}

struct subschema *index_find(const struct compiler *c, const struct tape_node *schema)
{
    uint32_t number = c->number_at[schema - c->document];
    return number ? c->v[number - 1] : NULL;
}

static bool index_array(struct compiler *c, const struct tape_node *array, struct str base,
                        uint32_t depth, const char *keyword)
{
    if (array->kind != TAPE_ARRAY || array->n == 0) {
        refuse(c, array, keyword, "an array of at least one schema");
        return false;
    }
    const struct tape_node *item = array + 1;
    for (uint32_t i = 0; i < array->n; i++, item = tape_next(item))
        index_schema(c, item, base, depth);
    return true;
}

/* Arrays of names stand in place of schemas in draft-07's dependencies. */
static bool index_map(struct compiler *c, const struct tape_node *map, struct str base,
                      uint32_t depth, const char *keyword, bool or_names)
{
    if (map->kind != TAPE_OBJECT) {
        refuse(c, map, keyword, "an object of schemas");
        return false;
    }
    tape_each (map, key, value)
        if (!or_names || value->kind != TAPE_ARRAY)
            index_schema(c, value, base, depth);
    return true;
}

static bool index_member(struct compiler *c, struct str name, const struct tape_node *value,
                         struct str base, uint32_t depth)
{
    const char *keyword;
    enum keyword_form form = keyword_form(c, name, &keyword);
    switch (form) {
    case FORM_SCHEMAS:
        return index_array(c, value, base, depth, keyword);
    case FORM_SCHEMA_MAP:
    case FORM_DEPENDENCIES:
        return index_map(c, value, base, depth, keyword, form == FORM_DEPENDENCIES);
    case FORM_ITEMS:
        if (value->kind == TAPE_ARRAY)
            return value->n == 0 || index_array(c, value, base, depth, keyword);
        /* fallthrough */
    case FORM_SCHEMA:
        index_schema(c, value, base, depth);
        return true;
    default:
        return true;
    }
}

static bool may_add(struct compiler *c, const struct tape_node *schema, uint32_t depth)
{
    if (schema->kind != TAPE_OBJECT && schema->kind != TAPE_TRUE && schema->kind != TAPE_FALSE)
        refuse(c, schema, "type", "a schema: object, true or false");
    else if (depth > SCHEMA_DEPTH_MAX)
        refuse(c, schema, "depth", "at most %d schemas within schemas", SCHEMA_DEPTH_MAX);
    else if (c->n == SCHEMA_SUBSCHEMAS_MAX)
        refuse(c, schema, "size", "at most %d schemas in a document", SCHEMA_SUBSCHEMAS_MAX);
    else
        return true;
    return false;
}

void index_schema(struct compiler *c, const struct tape_node *schema, struct str base,
                  uint32_t depth)
{
    if (c->err || index_find(c, schema) || !may_add(c, schema, depth))
        return;
    struct subschema *sub = add_subschema(c, schema);
    uint32_t number = c->n - 1;
    if (!sub)
        return;
    if (schema->kind == TAPE_OBJECT) {
        base = take_names(c, schema, base);
        tape_each (schema, key, value)
            sub->broken |= !index_member(c, tape_str(key), value, base, depth + 1);
    }
    c->bases[number] = base;
}

/* ---- references ----------------------------------------------------------------------------- */

static struct str next_segment(struct compiler *c, struct str *rest)
{
    struct str raw = str_cut(rest, '/');
    char *text = arena_alloc(c->arena, (size_t)raw.n + 1);
    uint32_t n = 0;
    if (!text)
        return STR_NONE;
    for (uint32_t i = 0; i < raw.n; i++) {
        bool escape = raw.p[i] == '~' && i + 1 < raw.n && (raw.p[i + 1] | 1) == '1';
        text[n++] = (char)(escape ? raw.p[++i] == '0' ? '~' : '/' : raw.p[i]);
    }
    return (struct str){text, n};
}

static const struct tape_node *child(const struct tape_node *at, struct str segment)
{
    uint64_t index;
    if (at->kind == TAPE_OBJECT)
        return tape_get(at, segment);
    bool padded = segment.n > 1 && segment.p[0] == '0';
    if (at->kind != TAPE_ARRAY || padded || str_to_u64(segment, &index) < 0 || index >= at->n)
        return NULL;
    for (at++; index; index--)
        at = tape_next(at);
    return at;
}

/* Down from the resource; what lies there becomes a schema if it was none. */
static const struct tape_node *follow(struct compiler *c, const struct tape_node *at,
                                      struct str pointer)
{
    struct str rest = pointer, base = STR("");
    if (rest.n)
        str_cut(&rest, '/');
    else
        rest = STR_NONE;
    for (;;) {
        uint32_t number = c->number_at[at - c->document];
        base = number ? c->bases[number - 1] : base;
        if (!rest.p)
            break;
        struct str segment = next_segment(c, &rest);
        at = segment.p ? child(at, segment) : NULL;
        if (!at)
            return NULL;
    }
    if (!index_find(c, at))
        index_schema(c, at, base, 0);
    return index_find(c, at) ? at : NULL;
}

/* What the URI and the decoded fragment name, if anything in this document does. */
static const struct tape_node *look_up(struct compiler *c, struct str uri, struct str fragment)
{
    bool by_pointer = fragment.n == 0 || fragment.p[0] == '/';
    if (by_pointer) {
        const struct tape_node *resource = find_name(c, uri);
        return resource ? follow(c, resource, fragment) : NULL;
    }
    struct str name = with_fragment(c, uri, fragment);
    return name.p ? find_name(c, name) : NULL;
}

const struct tape_node *index_resolve(struct compiler *c, const struct tape_node *ref,
                                      struct str base)
{
    struct str text = ref->kind == TAPE_STR ? tape_str(ref) : STR_NONE;
    struct str fragment = text.p ? uri_cut_fragment(&text) : STR_NONE, decoded = STR("");
    struct str uri = text.p ? uri_resolve(base, text, c->arena) : STR_NONE;
    if (!text.p) {
        refuse(c, ref, "$ref", "string");
        return NULL;
    }
    int err = uri.p ? 0 : ERR_NO_MEMORY;
    if (err == 0 && fragment.n)
        err = percent_decode(fragment, c->arena, &decoded);
    if (err == ERR_NO_MEMORY)
        c->err = err;
    const struct tape_node *target = err == 0 ? look_up(c, uri, decoded) : NULL;
    if (!target && find_name(c, uri))
        refuse(c, ref, "$ref", "the place of a schema in this document");
    else if (!target)
        refuse(c, ref, "$ref", "a reference within this document (remote ones are not supported)");
    return target;
}
