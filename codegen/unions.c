/* codegen/unions.c - anyOf: one of several objects, one or many, or a scalar of several types.
 *
 * Objects are told apart by what the overlay's `union` lines say; without a line, by a member that
 * all of them require with different fixed values, or else by a member that each requires and no
 * other one has. Never by trying them in turn. What none of this settles is refused.
 */
#include "codegen/resolve.h"

#include <string.h>

#define ALTERNATIVES_MAX 32

struct members {
    struct object *v[ALTERNATIVES_MAX];
    struct str names[ALTERNATIVES_MAX];
    unsigned n;
};

/* ---- how the alternatives are told apart ----------------------------------------------------- */

static unsigned decider(struct resolver *r, struct object *object, struct str key)
{
    for (unsigned i = 0; i < object->n_fields; i++)
        if (str_eq(object->fields[i].key, key))
            return i;
    object_add_field(r, object,
                     (struct field){.key = key,
                                    .place = object->place,
                                    .shape = {.kind = KIND_RAW, .types = T_ANY}});
    return object->n_fields - 1;
}

/* Fields move when one is added, so all are added before any number is taken. */
static void list_deciders(struct resolver *r, struct object *object, const struct choice *choices)
{
    for (const struct choice *choice = choices; choice; choice = choice->next)
        for (const struct condition *c = choice->conditions; c; c = c->next)
            decider(r, object, c->member->text);
}

static void add_alternative(struct resolver *r, struct object *object, struct str name,
                            struct object *target, const struct condition *conditions)
{
    struct alternative alternative = {.name = name, .object = target};
    for (const struct condition *c = conditions; c; c = c->next) {
        unsigned bit = decider(r, object, c->member->text);
        if (c->literal.p) {
            alternative.fixed = bit;
            alternative.literal =
                arena_printf(r->model->arena, "\"" STR_FMT "\"", STR_ARG(c->literal));
        } else if (c->absent) {
            alternative.absent |= 1ull << bit;
        } else {
            alternative.present |= 1ull << bit;
        }
    }
    struct alternative *list =
        must(arena_array(r->model->arena, object->n_alternatives + 1, sizeof *list));
    if (object->n_alternatives)
        memcpy(list, object->alternatives, object->n_alternatives * sizeof *list);
    list[object->n_alternatives++] = alternative;
    object->alternatives = list;
}

static bool by_lines(struct resolver *r, struct object *object, const struct members *members,
                     const struct statement *line)
{
    bool used[ALTERNATIVES_MAX] = {false};
    list_deciders(r, object, line->choices);
    for (struct choice *choice = line->choices; choice; choice = choice->next)
        for (unsigned i = 0; i < members->n; i++)
            if (overlay_matches(choice->name->text, members->names[i]) &&
                (!used[i] || !memchr(choice->name->text.p, '*', choice->name->text.n))) {
                add_alternative(r, object, members->names[i], members->v[i], choice->conditions);
                choice->name->hits++;
                used[i] = true;
            }
    for (unsigned i = 0; i < members->n; i++)
        if (!used[i])
            fault_at(object->place,
                     "union \"" STR_FMT "\": no line of the overlay says when it is \"" STR_FMT
                     "\" (%s:%u)",
                     STR_ARG(object->name), STR_ARG(members->names[i]), r->model->overlay.path,
                     line->line);
    return true;
}

static bool is_fixed_apart(const struct members *members, struct str key)
{
    for (unsigned i = 0; i < members->n; i++) {
        const struct field *field = object_field(members->v[i], key);
        if (!field || !field->required || field->shape.kind != KIND_CONST)
            return false;
        for (unsigned k = 0; k < i; k++)
            if (str_eq(object_field(members->v[k], key)->shape.literal, field->shape.literal))
                return false;
    }
    return true;
}

static bool by_fixed_member(struct resolver *r, struct object *object,
                            const struct members *members)
{
    const struct object *first = members->v[0];
    for (unsigned i = 0; i < first->n_fields; i++) {
        struct str key = first->fields[i].key;
        if (!is_fixed_apart(members, key))
            continue;
        decider(r, object, key);
        for (unsigned k = 0; k < members->n; k++) {
            add_alternative(r, object, members->names[k], members->v[k], NULL);
            object->alternatives[k].literal = object_field(members->v[k], key)->shape.literal;
        }
        return true;
    }
    return false;
}

static const struct field *own_member(const struct members *members, unsigned which)
{
    const struct object *object = members->v[which];
    for (unsigned i = 0; i < object->n_fields; i++) {
        bool own = object->fields[i].required;
        for (unsigned k = 0; k < members->n && own; k++)
            own = k == which || !object_field(members->v[k], object->fields[i].key);
        if (own)
            return &object->fields[i];
    }
    return NULL;
}

static bool by_own_member(struct resolver *r, struct object *object, const struct members *members)
{
    for (unsigned i = 0; i < members->n; i++)
        if (!own_member(members, i))
            return false;
    for (unsigned i = 0; i < members->n; i++)
        decider(r, object, own_member(members, i)->key);
    for (unsigned i = 0; i < members->n; i++) {
        add_alternative(r, object, members->names[i], members->v[i], NULL);
        object->alternatives[i].present = 1ull << decider(r, object, own_member(members, i)->key);
    }
    return true;
}

/* ---- where it is stored ---------------------------------------------------------------------- */

static bool is_held(const struct statement *home, struct str name)
{
    return holds_kind(home, name) > 0;
}

unsigned holds_kind(const struct statement *home, struct str name)
{
    unsigned kind = 1;
    for (struct word *word = home->words; word; word = word->next, kind++)
        if (overlay_matches(word->text, name))
            return kind;
    return 0;
}

static struct statement *home_of(struct resolver *r, struct object *object,
                                 const struct members *members)
{
    struct statement *home = resolve_find(r, OVERLAY_HOLDS, members->names[0]);
    for (unsigned i = 0; home && i < members->n; i++)
        if (!is_held(home, members->names[i]))
            home = NULL;
    for (unsigned i = 0; home && i < object->n_alternatives; i++)
        object->alternatives[i].kind = holds_kind(home, object->alternatives[i].name);
    return home;
}

/* ---- the union as one object ----------------------------------------------------------------- */

static struct str name_of(struct resolver *r, const struct schema *schema,
                          const struct shape *shape)
{
    struct entry *entry = schema->ref.p ? model_entry(r->revision, schema->ref) : NULL;
    return entry ? entry->name : shape->object->name;
}

static bool is_object_shape(const struct shape *shape)
{
    return shape->object && shape->container == CONTAINER_ONE;
}

static void collect(struct resolver *r, const struct schemas *list, struct spot spot,
                    struct members *ret)
{
    for (uint32_t i = 0; i < list->n && ret->n < ALTERNATIVES_MAX; i++) {
        const struct schema *schema = list->v[i];
        if (schema->types == T_ARRAY)
            continue;
        struct shape shape = resolve_plain(r, schema, spot);
        if (is_object_shape(&shape) && !shape.object->complete) {
            fault_at(schema->place, "union: \"" STR_FMT "\" holds itself through this union",
                     STR_ARG(shape.object->name));
        } else if (is_object_shape(&shape)) {
            ret->names[ret->n] = name_of(r, schema, &shape);
            ret->v[ret->n++] = shape.object;
        } else {
            fault_at(schema->place, "union: expected objects only, or say `any`");
        }
    }
}

static bool refers_to(const struct schemas *list, struct str name)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (str_eq(list->v[i]->ref, name))
            return true;
    return false;
}

/* If all parts of the factored union are here, it takes their place. */
static void replace_parts(struct resolver *r, const struct definition *factored,
                          struct members *members)
{
    const struct schemas *parts = &factored->schema->any_of;
    struct members left = {.n = 0};
    for (unsigned i = 0; i < members->n; i++)
        if (!refers_to(parts, members->names[i])) {
            left.names[left.n] = members->names[i];
            left.v[left.n++] = members->v[i];
        }
    struct object *object = NULL;
    if (left.n < members->n && members->n - left.n == parts->n)
        object = resolve_definition(r, factored->name, factored->schema->place).object;
    if (!object)
        return;
    left.names[left.n] = factored->name;
    left.v[left.n++] = object;
    *members = left;
}

/* Alternatives that a `factor` line makes one object are replaced by it. */
static void use_factored(struct resolver *r, struct str name, struct members *members)
{
    for (struct statement *s = r->model->overlay.statements; s; s = s->next)
        for (struct word *word = s->words; word && s->kind == OVERLAY_FACTOR; word = word->next) {
            const struct definition *factored = schema_find(&r->revision->file, word->text);
            if (factored && !str_eq(word->text, name))
                replace_parts(r, factored, members);
        }
}

static struct object *union_object(struct resolver *r, struct place place, struct spot spot,
                                   const struct members *members)
{
    struct str name = spot_name(r, spot);
    struct object *object = object_make(r, name, place);
    struct statement *line = resolve_find(r, OVERLAY_UNION, name);
    if (!line)
        line = resolve_find(r, OVERLAY_UNION, spot_path(r, spot));
    bool settled = line ? by_lines(r, object, members, line)
                        : by_fixed_member(r, object, members) || by_own_member(r, object, members);
    if (!settled)
        fault_at(place,
                 "union \"" STR_FMT "\": nothing tells its alternatives apart; the overlay needs "
                 "a `union` line",
                 STR_ARG(name));
    struct statement *home = home_of(r, object, members);
    object = object_finish(r, object);
    object->home = home;
    return object;
}

/* ---- factor ---------------------------------------------------------------------------------- */

static struct shape factored(struct resolver *r, const struct schema *schema, struct spot spot,
                             const struct statement *line, const struct members *members)
{
    struct object *whole = object_make(r, spot.owner, schema->place);
    struct members parts = {.n = 0};
    for (unsigned i = 0; i < members->n; i++) {
        const struct field *field = object_field(members->v[i], line->to->text);
        if (!field || !is_object_shape(&field->shape) ||
            members->v[i]->n_fields != members->v[0]->n_fields) {
            fault_at(schema->place,
                     "`factor`: the alternatives differ in more than \"" STR_FMT "\"",
                     STR_ARG(line->to->text));
            return (struct shape){.kind = KIND_RAW, .types = T_ANY};
        }
        parts.names[parts.n] = field->shape.object->name;
        parts.v[parts.n++] = field->shape.object;
    }
    for (unsigned i = 0; i < members->v[0]->n_fields; i++) {
        struct field field = members->v[0]->fields[i];
        if (str_eq(field.key, line->to->text))
            field.shape = (struct shape){
                .kind = KIND_RAW,
                .types = T_OBJECT,
                .object =
                    union_object(r, schema->place,
                                 (struct spot){.owner = spot.owner, .member = field.key}, &parts)};
        object_add_field(r, whole, field);
    }
    return (struct shape){.kind = KIND_OBJECT, .object = object_finish(r, whole)};
}

/* ---- scalars --------------------------------------------------------------------------------- */

/* Scalars and arrays of scalars only: raw text of those types. */
static bool scalar_types(const struct schema *schema, struct shape *ret)
{
    for (uint32_t i = 0; i < schema->any_of.n; i++) {
        const struct schema *part = schema->any_of.v[i];
        if (!part->types || part->types & T_OBJECT || part->literal.p || part->n_choices)
            return false;
        if (part->types == T_ARRAY) {
            if (!part->items || !part->items->types || part->items->types & (T_ARRAY | T_OBJECT) ||
                ret->items)
                return false;
            ret->items = part->items->types;
        }
        ret->types |= part->types;
    }
    return true;
}

static const struct schema *array_part(const struct schema *schema)
{
    for (uint32_t i = 0; i < schema->any_of.n; i++)
        if (schema->any_of.v[i]->types == T_ARRAY)
            return schema->any_of.v[i];
    return NULL;
}

struct shape resolve_union(struct resolver *r, const struct schema *schema, struct spot spot)
{
    struct shape shape = {.kind = KIND_RAW};
    if (scalar_types(schema, &shape))
        return shape;
    struct members members = {.n = 0};
    collect(r, &schema->any_of, spot, &members);
    if (members.n == 0)
        return (struct shape){.kind = KIND_RAW, .types = T_ANY};
    struct statement *factor = spot.member.p ? NULL : resolve_find(r, OVERLAY_FACTOR, spot.owner);
    if (factor)
        return factored(r, schema, spot, factor, &members);
    struct str name = spot_name(r, spot);
    use_factored(r, name, &members);
    struct object *object = union_object(r, schema->place, spot, &members);
    shape = (struct shape){.kind = KIND_OBJECT, .object = object};
    const struct schema *many = array_part(schema);
    if (many) {
        struct shape each = resolve_plain(r, many->items, spot);
        if (each.kind != KIND_OBJECT || each.object->n_alternatives != object->n_alternatives)
            fault_at(many->place, "one or many: the array holds something else than the one");
        shape.container = CONTAINER_MANY;
    }
    return shape;
}
