/* codegen/model.c - loading the inputs, and what several stages ask of the model. */
#include "codegen/model.h"

#include "codegen/names.h"

#include <string.h>

static void load_revision(struct model *model, const char *spec_dir, struct str name)
{
    struct revision *revision = &model->revisions[model->n_revisions++];
    char *c_name = must((void *)(uintptr_t)arena_str(model->arena, name).p);
    for (char *p = c_name; *p; p++)
        if (*p == '-')
            *p = '_';
    revision->name = name;
    revision->c_name = (struct str){c_name, name.n};
    schema_load(arena_printf(model->arena, "%s/" STR_FMT "/schema.json", spec_dir, STR_ARG(name)).p,
                model->arena, &revision->file);
}

void model_load(const char *spec_dir, struct arena *arena, struct model *ret)
{
    *ret = (struct model){.arena = arena};
    overlay_load(arena_printf(arena, "%s/overlay.mcp", spec_dir).p, arena, &ret->overlay);
    for (struct word *word = ret->overlay.revisions; word && fault_count() == 0; word = word->next)
        load_revision(ret, spec_dir, word->text);
}

static bool is_text(enum kind kind)
{
    return kind == KIND_STR || kind == KIND_RAW || kind == KIND_TOKEN;
}

static struct str record_of(struct arena *arena, const struct object *object)
{
    struct str name = object->home ? object->home->to->text : object->name;
    return arena_printf(arena, "struct mcp_" STR_FMT, STR_ARG(name_snake(arena, name)));
}

struct str shape_value_type(struct arena *arena, const struct shape *shape)
{
    switch (shape->kind) {
    case KIND_INT:
        return STR("int64_t");
    case KIND_NUM:
        return STR("double");
    case KIND_BOOL:
        return STR("bool");
    case KIND_ENUM:
        return arena_printf(arena, "enum mcp_" STR_FMT,
                            STR_ARG(name_snake(arena, shape->choices->name)));
    case KIND_OBJECT:
        return record_of(arena, shape->object);
    default:
        return STR("struct str");
    }
}

struct str shape_type(struct arena *arena, const struct shape *shape)
{
    struct str value = shape_value_type(arena, shape);
    if (shape->container == CONTAINER_MAP)
        return STR("struct mcp_pairs");
    if (shape->container != CONTAINER_ONE && is_text(shape->kind))
        return STR("struct mcp_strs");
    if (shape->container != CONTAINER_ONE)
        return arena_printf(arena, "struct { " STR_FMT " *v; uint32_t n; }", STR_ARG(value));
    return shape->kind == KIND_OBJECT ? arena_printf(arena, STR_FMT " *", STR_ARG(value)) : value;
}
