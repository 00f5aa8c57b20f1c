/* codegen/check.c - what fits a grammar but not the tables: refused here, with its place. */
#include "codegen/model.h"

#include <string.h>

static void check_shape(const struct object *object, const struct field *field)
{
    const struct shape *shape = &field->shape;
    bool text = shape->kind == KIND_STR || shape->kind == KIND_RAW || shape->kind == KIND_TOKEN;
    if (shape->container == CONTAINER_MAP && !text)
        fault_at(field->place,
                 "\"" STR_FMT "." STR_FMT "\": a map holds strings or raw values; say `raw`",
                 STR_ARG(object->name), STR_ARG(field->key));
    if (shape->kind == KIND_RAW && shape->items && shape->container != CONTAINER_ONE &&
        shape->container != CONTAINER_MAP)
        fault_at(field->place, "\"" STR_FMT "." STR_FMT "\": items of items", STR_ARG(object->name),
                 STR_ARG(field->key));
}

/* A stored union is read into the struct of its alternatives, so they must share one. */
static void check_union(const struct object *object)
{
    for (uint32_t i = 0; i < object->n_alternatives; i++)
        if (object->stored && object->alternatives[i].object->record != object->record)
            fault_at(object->place,
                     "union \"" STR_FMT "\" is stored, but \"" STR_FMT
                     "\" has another struct; the overlay needs `struct ... holds` or `raw`",
                     STR_ARG(object->name), STR_ARG(object->alternatives[i].name));
}

static void check_object(const struct object *object)
{
    for (uint32_t i = 0; i < object->n_fields; i++)
        check_shape(object, &object->fields[i]);
    check_union(object);
    if (object->n_fields > 63)
        fault_at(object->place, "\"" STR_FMT "\" has more than 63 members", STR_ARG(object->name));
}

static void check_one_type(const struct model *model, const struct entry *entry, unsigned number)
{
    for (unsigned i = 0; i < number; i++)
        for (uint32_t k = 0; k < model->revisions[i].n_entries; k++) {
            const struct entry *other = &model->revisions[i].entries[k];
            if (str_eq(other->name, entry->name) &&
                !str_eq(shape_type(model->arena, &other->shape),
                        shape_type(model->arena, &entry->shape)))
                fault_at(entry->place,
                         "\"" STR_FMT "\" is \"" STR_FMT "\" here and \"" STR_FMT "\" at %s:%u; "
                         "the overlay must say `raw` or rename one",
                         STR_ARG(entry->name), STR_ARG(shape_type(model->arena, &entry->shape)),
                         STR_ARG(shape_type(model->arena, &other->shape)), other->place.file,
                         other->place.line);
        }
}

static void check_c_names(const struct model *model)
{
    for (const struct record *a = model->records; a; a = a->next) {
        for (const struct record *b = a->next; b; b = b->next)
            if (str_eq(a->c_name, b->c_name))
                fault_at(overlay_place(&model->overlay, 0),
                         "\"" STR_FMT "\" and \"" STR_FMT "\" are both struct " STR_FMT,
                         STR_ARG(a->name), STR_ARG(b->name), STR_ARG(a->c_name));
        for (const struct enumeration *e = model->enumerations; e; e = e->next)
            if (str_eq(a->c_name, e->c_name))
                fault_at(overlay_place(&model->overlay, 0),
                         "\"" STR_FMT "\" is both a struct and an enum", STR_ARG(a->name));
    }
}

/* One handler serves all revisions, so its params and result must be one C type. */
static void check_method(const struct model *model, const struct method *method)
{
    struct str params = STR_NONE, result = STR_NONE;
    struct place place = overlay_place(&model->overlay, method->line->name->line);
    for (unsigned i = 0; i < model->n_revisions; i++) {
        const struct method_use *use = &method->uses[i];
        if (!use->from_client)
            continue;
        struct str p = use->params ? use->params->record->name : STR_NONE;
        struct str r = use->has_result ? shape_type(model->arena, &use->result) : STR_NONE;
        if ((params.p && p.p && !str_eq(params, p)) || (result.p && r.p && !str_eq(result, r)))
            fault_at(place, "method \"" STR_FMT "\": params or result differ between revisions",
                     STR_ARG(method->name));
        params = p.p ? p : params;
        result = r.p ? r : result;
    }
    if (method->line->handled && !params.p)
        fault_at(place, "method \"" STR_FMT "\": a handler needs params", STR_ARG(method->name));
    if (method->line->handled && !method->line->from_client)
        fault_at(place, "method \"" STR_FMT "\": a handler of what no client sends",
                 STR_ARG(method->name));
}

void model_check(struct model *model)
{
    for (unsigned i = 0; i < model->n_revisions; i++) {
        for (const struct object *o = model->revisions[i].objects; o; o = o->next)
            check_object(o);
        for (uint32_t k = 0; k < model->revisions[i].n_entries; k++)
            check_one_type(model, &model->revisions[i].entries[k], i);
    }
    check_c_names(model);
    for (const struct method *method = model->methods; method; method = method->next)
        check_method(model, method);
    overlay_refuse_idle(&model->overlay);
}
