/* tests/fuzz/fuzz_files.c - a URI template on the first line, a path with {{names}} on the second,
 * a path behind it: whatever URI a file has must lead to that file, and only below the folder. */
#include "manifest/file_parts.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct values {
    const struct template *template;
    const struct template_value *v;
    struct arena *arena;
};

static const char *get(void *ctx, const char *variable)
{
    const struct values *values = ctx;
    for (uint32_t i = 0; i < template_n_names(values->template); i++)
        if (str_eq(template_name(values->template, i), str_of(variable)))
            return values->v[i].n_items ? arena_str(values->arena, values->v[i].items[0]).p : NULL;
    return NULL;
}

static void go_back(const struct file_source *source, struct str path, struct str uri,
                    struct arena *arena)
{
    struct values values = {.template = source->template, .arena = arena};
    struct buf again = {0};
    if (template_match(source->template, uri, TEMPLATE_SAFE, arena, &values.v) < 0)
        abort();
    if (file_path_write(source, get, &values, &again) < 0 || !str_eq(buf_str(&again), path))
        abort();
    buf_done(&again);
}

/* As text, the wall must hold by itself. */
static void check_allowed(struct str path)
{
    char text[8192];
    if (!file_path_is_allowed(path, true) || path.n > sizeof text - 3)
        return;
    text[0] = '/';
    memcpy(text + 1, path.p, path.n);
    memcpy(text + 1 + path.n, "/", 2);
    if (strlen(text) != path.n + 2 || strstr(text, "/../") || strstr(text, "//") ||
        strstr(text, "/./"))
        abort();
}

static void try_source(struct str uri, struct str pattern, struct str path, struct arena *arena)
{
    const struct file_source *source;
    struct json_error error;
    struct json file = {.kind = JSON_STR, .v.s = arena_str(arena, pattern)};
    struct buf out = {.limit = 1u << 20};
    if (!file.v.s.p ||
        file_source_parse(&file, true, uri, STR_NONE, STR("/tmp"), arena, &source, &error) < 0)
        return;
    path = arena_str(arena, path);
    if (path.p && path.n < 64 && file_path_is_allowed(path, false) &&
        file_uri_write(source, path, arena, &out) == 0)
        go_back(source, path, buf_str(&out), arena);
    buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct str path = {(const char *)data, (uint32_t)size};
    struct str uri = str_cut(&path, '\n');
    struct str pattern = path.p ? str_cut(&path, '\n') : STR("");
    arena_init(&arena, 0);
    if (path.p) {
        check_allowed(path);
        try_source(uri, pattern, path, &arena);
    }
    arena_done(&arena);
    return 0;
}
