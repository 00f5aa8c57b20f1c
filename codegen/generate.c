/* codegen/generate.c - the order of the stages: load, resolve, methods, merge, check, emit, write.
 */
#include "codegen/generate.h"

#include "codegen/emit.h"

#include <stdio.h>
#include <string.h>

struct options {
    const char *spec, *out, *sources;
};

static int read_options(int argc, char **argv, struct options *ret)
{
    for (int i = 1; i < argc; i++) {
        const char **value = strcmp(argv[i], "--spec") == 0      ? &ret->spec
                             : strcmp(argv[i], "--out") == 0     ? &ret->out
                             : strcmp(argv[i], "--sources") == 0 ? &ret->sources
                                                                 : NULL;
        if (!value || i + 1 == argc) {
            fprintf(stderr, "usage: tenon-gen generate [--spec DIR] [--out DIR] [--sources DIR]\n");
            return -1;
        }
        *value = argv[++i];
    }
    return 0;
}

static bool load_model(const struct options *options, struct arena *arena, struct model *model)
{
    void (*const stages[])(struct model *) = {model_resolve, model_find_methods, model_merge,
                                              model_check};
    model_load(options->spec, arena, model);
    for (size_t i = 0; i < sizeof stages / sizeof *stages && fault_count() == 0; i++)
        stages[i](model);
    return fault_count() == 0;
}

static int emit_all(const struct options *options, const struct model *model)
{
    struct out out = {.arena = model->arena};
    emit_types(model, &out);
    emit_tables(model, &out);
    emit_edges(model, &out);
    emit_methods(model, &out);
    emit_dispatch(model, &out);
    emit_golden(model, &out);
    emit_manifest(model, options->sources, &out);
    int err = fault_count() ? -1 : out_write(&out, options->out);
    out_done(&out);
    return err;
}

int generate_main(int argc, char **argv)
{
    struct options options = {"spec", "generated", "codegen"};
    struct arena arena;
    struct model model;
    if (read_options(argc, argv, &options) < 0)
        return 2;
    arena_init(&arena, 256u << 20);
    bool ok = load_model(&options, &arena, &model) && emit_all(&options, &model) == 0;
    arena_done(&arena);
    return ok ? 0 : 1;
}
