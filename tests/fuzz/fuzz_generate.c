/* tests/fuzz/fuzz_generate.c - the generator's stages on any overlay and any schema.
 *
 * The input is the overlay, a NUL, and the schema of revision "one". Nothing is written.
 */
#include "codegen/emit.h"
#include "codegen/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/tmp/tenon-fuzz.XXXXXX";

static void remove_folder(void)
{
    char path[64];
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, i ? "overlay.mcp" : "one/schema.json");
        remove(path);
    }
    snprintf(path, sizeof path, "%s/one", folder);
    remove(path);
    remove(folder);
}

static void write_input(const char *name, const uint8_t *data, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file))
        abort();
}

static void start(void)
{
    static bool started;
    char path[64];
    if (started)
        return;
    if (!mkdtemp(folder))
        abort();
    snprintf(path, sizeof path, "%s/one", folder);
    mkdir(path, 0700);
    atexit(remove_folder);
    started = true;
}

static void emit_all(const struct model *model)
{
    struct out out = {.arena = model->arena};
    emit_types(model, &out);
    emit_tables(model, &out);
    emit_edges(model, &out);
    emit_methods(model, &out);
    emit_dispatch(model, &out);
    emit_golden(model, &out);
    out_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    void (*const stages[])(struct model *) = {model_resolve, model_find_methods, model_merge,
                                              model_check};
    const uint8_t *cut = size ? memchr(data, 0, size) : NULL;
    struct arena arena;
    struct model model;
    if (!cut)
        return 0;
    start();
    write_input("overlay.mcp", data, (size_t)(cut - data));
    write_input("one/schema.json", cut + 1, size - (size_t)(cut - data) - 1);
    fault_forget();
    arena_init(&arena, 256u << 20);
    model_load(folder, &arena, &model);
    for (size_t i = 0; i < sizeof stages / sizeof *stages && fault_count() == 0; i++)
        stages[i](&model);
    if (fault_count() == 0)
        emit_all(&model);
    arena_done(&arena);
    return 0;
}
