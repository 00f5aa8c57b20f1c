/* codegen/merge.c - the objects of all revisions to one set of C structs and enums, and tables that
 * say the same found.
 *
 * An object is stored if a value of it can come out of a parse: it is a definition that is not
 * raw, the params of a method, or held by a stored object. Others are only looked at while
 * checking and need no struct. A member must lie in memory alike in every revision; where it does
 * not, the overlay has to say how it is kept.
 */
#include "codegen/model.h"

#include "codegen/names.h"

#include <string.h>

/* ---- what is stored -------------------------------------------------------------------------- */

static void store_object(struct object *object);

static void store_shape(const struct shape *shape)
{
    if (shape->kind == KIND_OBJECT)
        store_object(shape->object);
}

static void store_object(struct object *object)
{
    if (object->stored)
        return;
    object->stored = true;
    for (uint32_t i = 0; i < object->n_alternatives; i++)
        store_object(object->alternatives[i].object);
    for (uint32_t i = 0; i < object->n_fields; i++)
        store_shape(&object->fields[i].shape);
}

static void find_stored(struct model *model)
{
    for (unsigned i = 0; i < model->n_revisions; i++)
        for (uint32_t k = 0; k < model->revisions[i].n_entries; k++)
            store_shape(&model->revisions[i].entries[k].shape);
    for (struct method *method = model->methods; method; method = method->next)
        for (unsigned i = 0; i < model->n_revisions; i++)
            if (method->uses[i].params)
                store_object((struct object *)(uintptr_t)method->uses[i].params);
}

/* ---- records --------------------------------------------------------------------------------- */

static struct str record_name(const struct object *object)
{
    return object->home ? object->home->to->text : object->name;
}

static struct record *record_get(struct model *model, const struct object *object)
{
    struct str name = record_name(object);
    struct record **at = &model->records;
    while (*at && str_compare((*at)->name, name) < 0)
        at = &(*at)->next;
    if (*at && str_eq((*at)->name, name))
        return *at;
    struct record *record = must(arena_zalloc(model->arena, sizeof *record));
    record->name = name;
    record->c_name =
        arena_printf(model->arena, "mcp_" STR_FMT, STR_ARG(name_snake(model->arena, name)));
    record->next = *at;
    *at = record;
    return record;
}

static struct member *member_get(struct model *model, struct record *record,
                                 const struct field *field)
{
    struct member **at = &record->members;
    while (*at && str_compare((*at)->key, field->key) < 0)
        at = &(*at)->next;
    if (*at && str_eq((*at)->key, field->key))
        return *at;
    struct member *member = must(arena_zalloc(model->arena, sizeof *member));
    member->key = field->key;
    member->c_name = name_member(model->arena, field->key);
    member->shape = field->shape;
    member->place = field->place;
    member->next = *at;
    *at = member;
    record->n_members++;
    return member;
}

/* An array and "one or many" lie alike. */
static bool lies_alike(struct arena *arena, const struct shape *a, const struct shape *b)
{
    bool text_a = a->kind == KIND_RAW || a->kind == KIND_TOKEN;
    bool text_b = b->kind == KIND_RAW || b->kind == KIND_TOKEN;
    return text_a == text_b && str_eq(shape_type(arena, a), shape_type(arena, b));
}

static void merge_member(struct model *model, struct record *record, struct field *field)
{
    struct member *member = member_get(model, record, field);
    field->member = member;
    if (member->shape.kind == KIND_CONST) {
        member->shape = field->shape;
        member->place = field->place;
    }
    if (field->shape.kind != KIND_CONST && !lies_alike(model->arena, &member->shape, &field->shape))
        fault_at(field->place,
                 "\"" STR_FMT "." STR_FMT "\" is \"" STR_FMT "\" here and \"" STR_FMT
                 "\" at %s:%u; the overlay must say how it is kept",
                 STR_ARG(record->name), STR_ARG(field->key),
                 STR_ARG(shape_type(model->arena, &field->shape)),
                 STR_ARG(shape_type(model->arena, &member->shape)), member->place.file,
                 member->place.line);
}

static void join_record(struct model *model, struct object *object)
{
    struct record *record = object->record;
    record->revisions |= 1u << object->revision;
    if (object->home && object->home->kind == OVERLAY_HOLDS)
        record->home = object->home;
    record->is_union |= object->n_alternatives > 0;
    for (uint32_t i = 0; i < object->n_fields && object->n_alternatives == 0; i++)
        merge_member(model, record, &object->fields[i]);
}

static void number_bits(struct model *model, struct record *record)
{
    unsigned bit = 0;
    for (struct member *member = record->members; member; member = member->next) {
        member->bit = bit++;
        for (const struct member *other = record->members; other != member; other = other->next)
            if (str_eq(other->c_name, member->c_name))
                fault_at(member->place,
                         "\"" STR_FMT "\" and \"" STR_FMT "\" are both \"" STR_FMT "\" in C",
                         STR_ARG(other->key), STR_ARG(member->key), STR_ARG(member->c_name));
    }
    if (bit > 63)
        fault_at(record->members->place, "\"" STR_FMT "\" has more than 63 members",
                 STR_ARG(record->name));
    (void)model;
}

static void number_fields(struct object *object)
{
    for (uint32_t i = 0; i < object->n_fields; i++) {
        struct field *field = &object->fields[i];
        field->bit = field->member ? field->member->bit : i;
        if (!object->stored || field->shape.kind == KIND_CONST)
            field->member = NULL;
    }
}

/* ---- enumerations ---------------------------------------------------------------------------- */

static struct enumeration *enumeration_get(struct model *model, struct str name)
{
    struct enumeration **at = &model->enumerations;
    while (*at && str_compare((*at)->name, name) < 0)
        at = &(*at)->next;
    if (*at && str_eq((*at)->name, name))
        return *at;
    struct enumeration *e = must(arena_zalloc(model->arena, sizeof *e));
    e->name = name;
    e->c_name = arena_printf(model->arena, "mcp_" STR_FMT, STR_ARG(name_snake(model->arena, name)));
    e->next = *at;
    *at = e;
    return e;
}

static void insert_value(struct model *model, struct enumeration *e, struct str value)
{
    uint32_t at = 0;
    while (at < e->n && str_compare(e->values[at], value) < 0)
        at++;
    if (at < e->n && str_eq(e->values[at], value))
        return;
    struct str *values = must(arena_array(model->arena, e->n + 1, sizeof *values));
    for (uint32_t i = 0; i < e->n; i++)
        values[i < at ? i : i + 1] = e->values[i];
    values[at] = value;
    e->values = values;
    e->n++;
}

/* The overlay's order takes the place of the alphabetical one. */
static void apply_order(struct model *model, struct enumeration *e, struct place place)
{
    struct statement *order = NULL;
    for (unsigned i = 0; i < model->n_revisions && !order; i++)
        order = overlay_find_to(&model->overlay, OVERLAY_ORDER, i, e->name);
    if (!order)
        return;
    uint32_t n = 0, known = 0;
    struct str *values = NULL;
    for (struct word *word = order->words; word; word = word->next)
        n++;
    values = must(arena_array(model->arena, n, sizeof *values));
    n = 0;
    for (struct word *word = order->words; word; word = word->next) {
        values[n++] = word->text;
        for (uint32_t i = 0; i < e->n; i++)
            if (str_eq(e->values[i], word->text)) {
                word->hits++;
                known++;
            }
    }
    if (known != e->n)
        fault_at(place, "`order` of \"" STR_FMT "\" in %s:%u leaves out values", STR_ARG(e->name),
                 model->overlay.path, order->line);
    e->values = values;
    e->n = n;
}

static void merge_enumerations(struct model *model)
{
    for (unsigned i = 0; i < model->n_revisions; i++)
        for (struct choice_set *set = model->revisions[i].choice_sets; set; set = set->next) {
            set->enumeration = enumeration_get(model, set->name);
            set->enumeration->revisions |= 1u << i;
            for (uint32_t k = 0; k < set->n; k++)
                insert_value(model, set->enumeration, set->values[k]);
        }
    for (struct enumeration *e = model->enumerations; e; e = e->next)
        apply_order(model, e, (struct place){model->overlay.path, 0});
}

/* ---- tables that say the same ---------------------------------------------------------------- */

static void add_shape(struct buf *out, const struct shape *s)
{
    buf_printf(out, "%d %d %d %x %x %u ", s->kind, s->container, s->format, s->types, s->items,
               s->max_items);
    if (s->has_min)
        buf_printf(out, "min %.17g ", s->min);
    if (s->has_max)
        buf_printf(out, "max %.17g ", s->max);
    buf_add_str(out, s->literal);
    if (s->object)
        buf_printf(out, "object " STR_FMT, STR_ARG(s->object->name));
    for (uint32_t i = 0; s->choices && i < s->choices->n; i++)
        buf_printf(out, "choice " STR_FMT, STR_ARG(s->choices->values[i]));
    buf_add_char(out, '\n');
}

static void sign(struct model *model, struct object *object)
{
    struct buf out = {0};
    buf_printf(&out, STR_FMT " in " STR_FMT "\n", STR_ARG(object->name),
               STR_ARG(object->record ? object->record->name : STR("nothing")));
    for (uint32_t i = 0; i < object->n_fields; i++) {
        buf_printf(&out, STR_FMT " %d ", STR_ARG(object->fields[i].key),
                   object->fields[i].required);
        add_shape(&out, &object->fields[i].shape);
    }
    for (uint32_t i = 0; i < object->n_alternatives; i++) {
        const struct alternative *a = &object->alternatives[i];
        buf_printf(&out, "alternative " STR_FMT " %llx %llx " STR_FMT " %u %u\n", STR_ARG(a->name),
                   (unsigned long long)a->present, (unsigned long long)a->absent,
                   STR_ARG(a->literal), a->fixed, a->kind);
    }
    object->signature = arena_buf(model->arena, &out);
    buf_done(&out);
}

static struct object *object_named(const struct revision *revision, struct str name)
{
    for (struct object *object = revision->objects; object; object = object->next)
        if (str_eq(object->name, name))
            return object;
    return NULL;
}

static void find_same(struct model *model, struct object *object)
{
    for (unsigned i = 0; i < object->revision; i++) {
        struct object *earlier = object_named(&model->revisions[i], object->name);
        if (earlier && str_eq(earlier->signature, object->signature)) {
            object->same = earlier;
            return;
        }
    }
}

/* Whether what the two tables point to is the same too, as far as is known. */
static bool targets_same(const struct object *a, const struct object *b)
{
    for (uint32_t i = 0; i < a->n_fields; i++)
        if (a->fields[i].shape.object &&
            a->fields[i].shape.object->same != b->fields[i].shape.object->same)
            return false;
    for (uint32_t i = 0; i < a->n_alternatives; i++)
        if (a->alternatives[i].object->same != b->alternatives[i].object->same)
            return false;
    return true;
}

/* Splits until nothing more splits: a table that points to different ones is different. */
static bool split_once(struct model *model)
{
    bool any = false;
    for (unsigned i = 1; i < model->n_revisions; i++)
        for (struct object *object = model->revisions[i].objects; object; object = object->next) {
            if (object->same == object || targets_same(object, object->same))
                continue;
            struct object *before = object->same;
            object->same = object;
            for (unsigned k = before->revision + 1; k < i && object->same == object; k++) {
                struct object *earlier = object_named(&model->revisions[k], object->name);
                if (earlier && earlier->same == earlier &&
                    str_eq(earlier->signature, object->signature))
                    object->same = earlier;
            }
            any = true;
        }
    return any;
}

static bool choices_equal(const struct choice_set *a, const struct choice_set *b)
{
    bool equal = str_eq(a->name, b->name) && a->n == b->n;
    for (uint32_t i = 0; i < a->n && equal; i++)
        equal = str_eq(a->values[i], b->values[i]);
    return equal;
}

static void share_choice_set(struct model *model, struct choice_set *set)
{
    for (unsigned i = 0; i < set->revision; i++)
        for (struct choice_set *e = model->revisions[i].choice_sets; e; e = e->next)
            if (choices_equal(e, set)) {
                set->same = e->same;
                return;
            }
}

static void share_choice_sets(struct model *model)
{
    for (unsigned i = 1; i < model->n_revisions; i++)
        for (struct choice_set *set = model->revisions[i].choice_sets; set; set = set->next)
            share_choice_set(model, set);
}

/* ---- order ----------------------------------------------------------------------------------- */

static void sort_objects(struct revision *revision)
{
    struct object *sorted = NULL;
    while (revision->objects) {
        struct object *object = revision->objects, **at = &sorted;
        revision->objects = object->next;
        while (*at && str_compare((*at)->name, object->name) < 0)
            at = &(*at)->next;
        object->next = *at;
        *at = object;
    }
    revision->objects = sorted;
}

static void sort_choice_sets(struct revision *revision)
{
    struct choice_set *sorted = NULL;
    while (revision->choice_sets) {
        struct choice_set *set = revision->choice_sets, **at = &sorted;
        revision->choice_sets = set->next;
        while (*at && str_compare((*at)->name, set->name) < 0)
            at = &(*at)->next;
        set->next = *at;
        *at = set;
    }
    revision->choice_sets = sorted;
}

#define each_object(model, object)                         \
    for (unsigned i_ = 0; i_ < (model)->n_revisions; i_++) \
        for (struct object *object = (model)->revisions[i_].objects; object; object = object->next)

void model_merge(struct model *model)
{
    for (unsigned i = 0; i < model->n_revisions; i++) {
        sort_objects(&model->revisions[i]);
        sort_choice_sets(&model->revisions[i]);
    }
    merge_enumerations(model);
    find_stored(model);
    each_object(model, object) if (object->stored) object->record = record_get(model, object);
    each_object(model, object) if (object->stored) join_record(model, object);
    for (struct record *record = model->records; record; record = record->next)
        number_bits(model, record);
    each_object(model, object) number_fields(object);
    each_object(model, object) sign(model, object);
    each_object(model, object) find_same(model, object);
    while (split_once(model))
        ;
    share_choice_sets(model);
}
