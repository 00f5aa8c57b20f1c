/* codegen/resolve.c - one revision's schema and the overlay, to objects and shapes.
 *
 * Follows references, puts allOf together, names what has no name, and asks the overlay at every
 * spot. Unions are in unions.c. A definition is resolved once, when first needed; an object is in
 * the list before its members are, so objects may hold each other.
 */
#include "codegen/resolve.h"

#include "codegen/names.h"

#include <stdlib.h>
#include <string.h>

struct statement *resolve_find(struct resolver *r, enum statement_kind kind, struct str path)
{
    return overlay_find(&r->model->overlay, kind, r->number, path);
}

struct str spot_path(struct resolver *r, struct spot spot)
{
    if (!spot.member.p)
        return spot.owner;
    return arena_printf(r->model->arena, STR_FMT "." STR_FMT, STR_ARG(spot.owner),
                        STR_ARG(spot.member));
}

struct str spot_name(struct resolver *r, struct spot spot)
{
    if (!spot.member.p)
        return spot.owner;
    struct statement *name = resolve_find(r, OVERLAY_NAME, spot_path(r, spot));
    return name ? name->to->text : name_nested(r->model->arena, spot.owner, spot.member);
}

/* ---- objects --------------------------------------------------------------------------------- */

static struct object *object_find(const struct resolver *r, struct str name)
{
    for (struct object *object = r->revision->objects; object; object = object->next)
        if (str_eq(object->name, name))
            return object;
    return NULL;
}

struct object *object_make(struct resolver *r, struct str name, struct place place)
{
    struct object *object = must(arena_zalloc(r->model->arena, sizeof *object));
    object->name = name;
    object->revision = r->number;
    object->place = place;
    object->same = object;
    return object;
}

static int by_key(const void *a, const void *b)
{
    return str_compare(((const struct field *)a)->key, ((const struct field *)b)->key);
}

void object_add_field(struct resolver *r, struct object *object, struct field field)
{
    struct field *fields = must(arena_array(r->model->arena, object->n_fields + 1, sizeof *fields));
    if (object->n_fields)
        memcpy(fields, object->fields, object->n_fields * sizeof *fields);
    fields[object->n_fields++] = field;
    qsort(fields, object->n_fields, sizeof *fields, by_key);
    object->fields = fields;
}

const struct field *object_field(const struct object *object, struct str key)
{
    for (uint32_t i = 0; i < object->n_fields; i++)
        if (str_eq(object->fields[i].key, key))
            return &object->fields[i];
    return NULL;
}

static bool shape_agrees(const struct shape *a, const struct shape *b)
{
    bool same_object = a->object == b->object ||
                       (a->object && b->object && str_eq(a->object->name, b->object->name));
    bool same_choices = a->choices == b->choices ||
                        (a->choices && b->choices && str_eq(a->choices->name, b->choices->name));
    return a->kind == b->kind && a->container == b->container && a->format == b->format &&
           a->types == b->types && a->items == b->items && a->max_items == b->max_items &&
           a->has_min == b->has_min && a->has_max == b->has_max && a->min == b->min &&
           a->max == b->max && str_eq(a->literal, b->literal) && same_object && same_choices;
}

static bool object_agrees(const struct object *a, const struct object *b)
{
    if (a->n_fields != b->n_fields || a->n_alternatives != b->n_alternatives)
        return false;
    for (uint32_t i = 0; i < a->n_fields; i++)
        if (!str_eq(a->fields[i].key, b->fields[i].key) ||
            a->fields[i].required != b->fields[i].required ||
            !shape_agrees(&a->fields[i].shape, &b->fields[i].shape))
            return false;
    for (uint32_t i = 0; i < a->n_alternatives; i++)
        if (!str_eq(a->alternatives[i].name, b->alternatives[i].name))
            return false;
    return true;
}

struct object *object_finish(struct resolver *r, struct object *object)
{
    struct object *other = object_find(r, object->name);
    object->complete = true;
    if (!other || other == object) {
        object->home = resolve_find(r, OVERLAY_HOLDS, object->name);
        if (!other) {
            object->next = r->revision->objects;
            r->revision->objects = object;
        }
        return object;
    }
    if (!other->complete || !object_agrees(object, other))
        fault_at(object->place, "\"" STR_FMT "\" is also the name of something else (line %u)",
                 STR_ARG(object->name), other->place.line);
    return other;
}

static void check_member_twice(const struct schema *schema)
{
    for (uint32_t i = 0; i < schema->n_members; i++)
        if (!schema->members[i].schema)
            fault_at(schema->place, "\"required\" names \"" STR_FMT "\", which is no property",
                     STR_ARG(schema->members[i].name));
}

static void fill_object(struct resolver *r, const struct schema *schema, struct object *object)
{
    check_member_twice(schema);
    for (uint32_t i = 0; i < schema->n_members; i++) {
        const struct schema_member *member = &schema->members[i];
        if (!member->schema)
            continue;
        struct field field = {
            .key = member->name, .required = member->required, .place = member->schema->place};
        field.shape = resolve_shape(r, member->schema, (struct spot){object->name, member->name});
        object_add_field(r, object, field);
    }
}

static struct shape lost_shape(struct resolver *r, struct str type, struct place place)
{
    struct object *object = object_find(r, type);
    if (str_eq(type, STR("object")))
        return (struct shape){.kind = KIND_RAW, .types = T_OBJECT};
    if (object)
        return (struct shape){.kind = KIND_OBJECT, .object = object};
    return resolve_definition(r, type, place);
}

/* Members that the overlay adds: to an object that has no such member. After all else, when every
 * object is known. */
static void add_lost(struct resolver *r, struct object *object)
{
    for (struct statement *s = r->model->overlay.statements; s; s = s->next) {
        if (s->kind != OVERLAY_ADD || !(s->span.mask >> r->number & 1))
            continue;
        for (struct word *word = s->words; word; word = word->next) {
            struct str member = word->text, type = str_cut(&member, '.');
            if (!member.p || !overlay_matches(type, object->name) || object_field(object, member))
                continue;
            struct field field = {.key = member,
                                  .place = overlay_place(&r->model->overlay, s->line)};
            field.shape = lost_shape(r, s->to->text, field.place);
            object_add_field(r, object, field);
            word->hits++;
        }
    }
}

static struct shape object_shape(struct resolver *r, const struct schema *schema, struct spot spot)
{
    struct object *object = object_make(r, spot_name(r, spot), schema->place);
    if (!spot.member.p && !object_find(r, object->name)) { /* listed first: it may hold itself */
        object->next = r->revision->objects;
        r->revision->objects = object;
    }
    fill_object(r, schema, object);
    return (struct shape){.kind = KIND_OBJECT, .object = object_finish(r, object)};
}

/* ---- scalars and containers ------------------------------------------------------------------ */

static enum format format_of(const struct schema *schema)
{
    static const char *const names[] = {"", "uri", "uri-template", "byte"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_eq(schema->format, str_of(names[i])) || (i == 0 && !schema->format.p))
            return (enum format)i;
    fault_at(schema->place, "unknown format \"" STR_FMT "\"", STR_ARG(schema->format));
    return FORMAT_PLAIN;
}

static int by_text(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

static struct choice_set *choice_set_find(const struct resolver *r, struct str name)
{
    for (struct choice_set *set = r->revision->choice_sets; set; set = set->next)
        if (str_eq(set->name, name))
            return set;
    return NULL;
}

static bool choice_sets_agree(const struct choice_set *a, const struct choice_set *b)
{
    if (a->n != b->n)
        return false;
    for (uint32_t i = 0; i < a->n; i++)
        if (!str_eq(a->values[i], b->values[i]))
            return false;
    return true;
}

static struct shape enum_shape(struct resolver *r, const struct schema *schema, struct spot spot)
{
    struct choice_set *set = must(arena_zalloc(r->model->arena, sizeof *set));
    set->name = spot_name(r, spot);
    set->revision = r->number;
    set->place = schema->place;
    set->values = schema->choices;
    set->n = schema->n_choices;
    set->same = set;
    qsort(set->values, set->n, sizeof *set->values, by_text);
    struct choice_set *other = choice_set_find(r, set->name);
    if (other && !choice_sets_agree(set, other))
        fault_at(schema->place, "\"" STR_FMT "\" is also the name of another enum (line %u)",
                 STR_ARG(set->name), other->place.line);
    if (!other) {
        set->next = r->revision->choice_sets;
        r->revision->choice_sets = other = set;
    }
    return (struct shape){.kind = KIND_ENUM, .choices = other};
}

static struct shape array_shape(struct resolver *r, const struct schema *schema, struct spot spot)
{
    struct shape shape = {.kind = KIND_RAW, .types = T_ARRAY};
    if (!schema->items || schema_is_any(schema->items))
        return shape;
    shape = resolve_shape(r, schema->items, spot);
    if (shape.container != CONTAINER_ONE)
        fault_at(schema->place, "an array of arrays or maps is not supported: say `raw`");
    shape.container = CONTAINER_ARRAY;
    shape.max_items = schema->max_items;
    return shape;
}

static struct shape map_shape(struct resolver *r, const struct schema *schema, struct spot spot)
{
    struct shape shape = resolve_shape(r, schema->additional, spot);
    if (shape.container != CONTAINER_ONE)
        fault_at(schema->place, "a map of arrays or maps is not supported: say `raw`");
    shape.container = CONTAINER_MAP;
    return shape;
}

static struct shape members_shape(struct resolver *r, const struct schema *schema, struct spot spot)
{
    if (schema->n_members > 0 && schema->additional)
        fault_at(schema->place,
                 "properties together with typed additionalProperties are not supported");
    if (schema->n_members > 0)
        return object_shape(r, schema, spot);
    if (schema->additional)
        return map_shape(r, schema, spot);
    return (struct shape){.kind = KIND_RAW, .types = T_OBJECT};
}

static struct shape number_shape(const struct schema *schema, enum kind kind)
{
    return (struct shape){.kind = kind,
                          .has_min = schema->has_min,
                          .has_max = schema->has_max,
                          .min = schema->min,
                          .max = schema->max};
}

static struct shape typed_shape(struct resolver *r, const struct schema *schema, struct spot spot)
{
    switch (schema->types) {
    case T_STRING:
        return (struct shape){.kind = KIND_STR, .format = format_of(schema)};
    case T_INTEGER:
        return number_shape(schema, KIND_INT);
    case T_NUMBER:
        return number_shape(schema, KIND_NUM);
    case T_BOOL:
        return (struct shape){.kind = KIND_BOOL};
    case T_ARRAY:
        return array_shape(r, schema, spot);
    case T_OBJECT:
        return members_shape(r, schema, spot);
    default:
        if (schema->has_properties || schema->items)
            fault_at(schema->place, "members or items of a value of several types");
        return (struct shape){.kind = KIND_RAW, .types = schema->types};
    }
}

static struct shape const_shape(const struct schema *schema)
{
    uint32_t type = *schema->literal.p == '"' ? T_STRING : T_INTEGER;
    if (schema->types && !(schema->types & type))
        fault_at(schema->place, "the fixed value is not of the type given");
    return (struct shape){.kind = KIND_CONST, .literal = schema->literal};
}

/* ---- allOf ----------------------------------------------------------------------------------- */

static const struct schema *definition_schema(struct resolver *r, const struct schema *schema)
{
    const struct schema *first = schema;
    for (uint32_t steps = 0; schema->ref.p; steps++) {
        const struct definition *definition = schema_find(&r->revision->file, schema->ref);
        if (!definition || steps > r->revision->file.n) {
            fault_at(first->place, "\"" STR_FMT "\" %s", STR_ARG(first->ref),
                     definition ? "refers to itself" : "leads to no definition");
            return first;
        }
        schema = definition->schema;
    }
    return schema;
}

/* The narrower of two descriptions of one member: a fixed value, or whatever says something. */
static struct schema *narrower(struct schema *a, struct schema *b)
{
    if (!a || (b && schema_is_any(a)))
        return b;
    if (!b || schema_is_any(b))
        return a;
    if (a->literal.p && b->types)
        return a;
    if (!b->literal.p || !a->types)
        fault_at(b->place, "allOf: the parts describe this member in two ways");
    return b;
}

static void add_part(struct schema *whole, const struct schema *part)
{
    if (part->types & ~(uint32_t)T_OBJECT || part->any_of.n || part->all_of.n || part->additional)
        fault_at(part->place, "allOf: expected objects without unions and maps");
    for (uint32_t i = 0; i < part->n_members; i++) {
        const struct schema_member *new = &part->members[i];
        struct schema_member *old = NULL;
        for (uint32_t k = 0; k < whole->n_members && !old; k++)
            if (str_eq(whole->members[k].name, new->name))
                old = &whole->members[k];
        if (!old) {
            whole->members[whole->n_members++] = *new;
            continue;
        }
        old->required |= new->required;
        old->schema = narrower(old->schema, new->schema);
    }
}

static const struct schema *put_together(struct resolver *r, const struct schema *schema)
{
    struct schema *whole = must(arena_zalloc(r->model->arena, sizeof *whole));
    uint32_t room = 1;
    for (uint32_t i = 0; i < schema->all_of.n; i++)
        room += definition_schema(r, schema->all_of.v[i])->n_members;
    whole->place = schema->place;
    whole->types = T_OBJECT;
    whole->has_properties = true;
    whole->members = must(arena_array(r->model->arena, room, sizeof *whole->members));
    for (uint32_t i = 0; i < schema->all_of.n; i++)
        add_part(whole, definition_schema(r, schema->all_of.v[i]));
    return whole;
}

/* ---- what the overlay says of a spot --------------------------------------------------------- */

static void make_raw(struct shape *shape)
{
    bool of_anything = shape->kind == KIND_RAW && shape->types == T_ANY && !shape->object;
    if (of_anything && shape->container != CONTAINER_ONE)
        *shape = (struct shape){.kind = KIND_RAW,
                                .types = shape->container == CONTAINER_MAP ? (uint32_t)T_OBJECT
                                                                           : (uint32_t)T_ARRAY};
    if (shape->kind == KIND_OBJECT)
        *shape = (struct shape){.kind = KIND_RAW,
                                .container = shape->container,
                                .max_items = shape->max_items,
                                .types = T_OBJECT,
                                .object = shape->object};
}

static void make_number(struct shape *shape)
{
    if (shape->kind == KIND_INT)
        shape->kind = KIND_NUM;
    if (shape->types & T_INTEGER)
        shape->types = (shape->types & ~(uint32_t)T_INTEGER) | T_NUMBER;
}

static void make_open(struct resolver *r, struct shape *shape, struct statement *open,
                      struct spot spot, struct place place)
{
    if (shape->kind != KIND_RAW || shape->types != T_OBJECT || shape->object) {
        fault_at(place, "`open`: \"" STR_FMT "\" is not an object without known members",
                 STR_ARG(spot_path(r, spot)));
        return;
    }
    struct object *object = object_make(r, spot_name(r, spot), place);
    shape->kind = KIND_OBJECT;
    shape->types = 0;
    shape->object = object_finish(r, object);
    shape->object->home = open;
}

static void amend(struct resolver *r, struct shape *shape, struct spot spot, struct place place)
{
    struct str path = spot_path(r, spot);
    if (shape->kind == KIND_RAW && resolve_find(r, OVERLAY_TOKEN, path))
        shape->kind = KIND_TOKEN;
    if (((shape->kind == KIND_INT) || (shape->types & (T_INTEGER | T_NUMBER)) ||
         shape->kind == KIND_NUM) &&
        resolve_find(r, OVERLAY_NUMBER, path))
        make_number(shape);
    if (shape->container == CONTAINER_ONE && resolve_find(r, OVERLAY_MANY, path)) {
        shape->container = CONTAINER_MANY;
        shape->max_items = 1;
    }
    struct statement *open = resolve_find(r, OVERLAY_OPEN, path);
    if (open)
        make_open(r, shape, open, spot, place);
    if ((shape->kind == KIND_OBJECT || shape->kind == KIND_RAW) &&
        resolve_find(r, OVERLAY_RAW, path))
        make_raw(shape);
}

struct shape resolve_plain(struct resolver *r, const struct schema *schema, struct spot spot)
{
    if (schema->all_of.n)
        schema = put_together(r, schema);
    if (schema->ref.p)
        return resolve_definition(r, schema->ref, schema->place);
    if (schema->literal.p)
        return const_shape(schema);
    if (schema->n_choices)
        return enum_shape(r, schema, spot);
    if (schema->any_of.n)
        return resolve_union(r, schema, spot);
    if (schema->types)
        return typed_shape(r, schema, spot);
    if (schema->has_properties)
        return members_shape(r, schema, spot);
    return (struct shape){.kind = KIND_RAW, .types = T_ANY};
}

struct shape resolve_shape(struct resolver *r, const struct schema *schema, struct spot spot)
{
    if (resolve_find(r, OVERLAY_ANY, spot_path(r, spot)))
        return (struct shape){.kind = KIND_RAW, .types = T_ANY};
    struct shape shape = resolve_plain(r, schema, spot);
    amend(r, &shape, spot, schema->place);
    return shape;
}

/* ---- definitions ----------------------------------------------------------------------------- */

static struct str renamed(struct resolver *r, struct str published)
{
    struct statement *rename = resolve_find(r, OVERLAY_RENAME, published);
    return rename ? rename->to->text : published;
}

struct entry *model_entry(struct revision *revision, struct str name)
{
    for (uint32_t i = 0; i < revision->n_entries; i++)
        if (str_eq(revision->entries[i].name, name) || str_eq(revision->entries[i].published, name))
            return &revision->entries[i];
    return NULL;
}

/* An object that is being resolved further up is already listed. */
static struct shape unfinished(struct resolver *r, struct str name, struct place from)
{
    struct object *object = object_find(r, name);
    if (!object)
        fault_at(from, "\"" STR_FMT "\" refers to itself without an object between", STR_ARG(name));
    struct shape shape = {
        .kind = object ? KIND_OBJECT : KIND_RAW, .types = T_ANY, .object = object};
    if (object && resolve_find(r, OVERLAY_RAW, name))
        make_raw(&shape);
    return shape;
}

struct shape resolve_definition(struct resolver *r, struct str name, struct place from)
{
    struct entry *entry = model_entry(r->revision, name);
    if (!entry) {
        fault_at(from, "no definition is called \"" STR_FMT "\" (or it is omitted)", STR_ARG(name));
        return (struct shape){.kind = KIND_RAW, .types = T_ANY};
    }
    if (entry->progress == RESOLVED)
        return entry->shape;
    if (entry->progress == RESOLVING)
        return unfinished(r, entry->name, from);
    entry->progress = RESOLVING;
    entry->shape = resolve_shape(r, schema_find(&r->revision->file, entry->published)->schema,
                                 (struct spot){.owner = entry->name});
    entry->progress = RESOLVED;
    return entry->shape;
}

static void list_entries(struct resolver *r)
{
    struct schema_file *file = &r->revision->file;
    r->revision->entries = must(arena_array(r->model->arena, file->n + 1, sizeof(struct entry)));
    for (uint32_t i = 0; i < file->n; i++) {
        struct str published = file->definitions[i].name;
        if (resolve_find(r, OVERLAY_OMIT, published))
            continue;
        r->revision->entries[r->revision->n_entries++] =
            (struct entry){.published = published,
                           .name = renamed(r, published),
                           .place = file->definitions[i].schema->place};
    }
}

void model_resolve(struct model *model)
{
    for (unsigned i = 0; i < model->n_revisions; i++) {
        struct resolver r = {model, &model->revisions[i], i};
        list_entries(&r);
        for (uint32_t k = 0; k < r.revision->n_entries; k++)
            resolve_definition(&r, r.revision->entries[k].name, r.revision->entries[k].place);
        for (struct object *object = r.revision->objects; object; object = object->next)
            add_lost(&r, object);
    }
}
