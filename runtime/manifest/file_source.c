/* manifest/file_source.c - reads the member `file` of a resource or template; see files.h. */
#include "base/err.h"
#include "base/limits.h"
#include "manifest/file_parts.h"
#include "manifest/refuse.h"

#include <string.h>

static const char *const members[] = {"folder", "path", "maxBytes", "hidden"};

struct reading {
    struct arena *arena;
    struct json_error *error;
    struct file_source *source;
};

/* ---- The path ------------------------------------------------------------------------------- */

static bool is_variable(const struct template *t, struct str name)
{
    for (uint32_t i = 0; i < template_n_names(t); i++)
        if (str_eq(template_name(t, i), name))
            return true;
    return false;
}

static bool is_named(const struct placeholders *path, struct str name)
{
    for (uint32_t i = 0; i < path->n; i++)
        if (path->v[i].is_name && str_eq(path->v[i].text, name))
            return true;
    return false;
}

/* Two variables in one part would make it unclear which URI a file has. */
static int check_names(struct reading *r, const struct json *at)
{
    const struct placeholders *path = &r->source->path;
    const struct template *t = r->source->template;
    bool part_has_name = false;
    for (uint32_t i = 0; i < path->n; i++) {
        struct str text = path->v[i].text;
        if (!path->v[i].is_name) {
            part_has_name &= !memchr(text.p, '/', text.n);
            continue;
        }
        if (!t || !is_variable(t, text))
            return manifest_refuse(r->error, at, "path: " STR_FMT " is no variable of the URI",
                                   STR_ARG(text));
        if (part_has_name)
            return manifest_refuse(r->error, at, "path: expected one {{name}} between slashes");
        part_has_name = true;
    }
    for (uint32_t i = 0; t && i < template_n_names(t); i++)
        if (!is_named(path, template_name(t, i)))
            return manifest_refuse(r->error, at, "path: expected the variable " STR_FMT " in it",
                                   STR_ARG(template_name(t, i)));
    return 0;
}

static const char *a_letter(void *ctx, const char *variable)
{
    (void)ctx, (void)variable;
    return "x";
}

/* As it will be with harmless values. */
static int check_form(struct reading *r, const struct json *at)
{
    struct buf path = {0};
    int err = file_path_write(r->source, a_letter, NULL, &path);
    if (!err && !file_path_is_allowed(buf_str(&path), r->source->shows_hidden))
        err = manifest_refuse(r->error, at,
                              "path: expected one below the folder, without empty parts, \"..\"%s",
                              r->source->shows_hidden ? "" : " or hidden ones");
    buf_done(&path);
    return err;
}

/* Names are asked for as texts that end with NUL. */
static int end_names(struct reading *r)
{
    struct placeholders *path = &r->source->path;
    struct placeholder_part *v = arena_array(r->arena, path->n + 1, sizeof *v);
    if (!v)
        return ERR_NO_MEMORY;
    for (uint32_t i = 0; i < path->n; i++) {
        v[i] = path->v[i];
        if (v[i].is_name)
            v[i].text = arena_str(r->arena, v[i].text);
        if (!v[i].text.p)
            return ERR_NO_MEMORY;
    }
    path->v = v;
    return 0;
}

static int read_path(struct reading *r, const struct json *path)
{
    const char *what = NULL;
    struct str text = json_str(path);
    if (!text.n || memchr(text.p, '\0', text.n))
        return manifest_refuse(r->error, path, "path: expected a text without U+0000");
    int err = placeholders_parse(text, r->arena, &r->source->path, &what);
    if (err == ERR_SYNTAX)
        return manifest_refuse(r->error, path, "path: %s", what);
    if (!err)
        err = check_names(r, path);
    if (!err)
        err = check_form(r, path);
    return err ? err : end_names(r);
}

/* ---- The rest ------------------------------------------------------------------------------- */

static int read_folder(struct reading *r, const struct json *folder, struct str base)
{
    struct stat st;
    struct str text = json_str(folder), root = base;
    if (folder && (!text.n || memchr(text.p, '\0', text.n)))
        return manifest_refuse(r->error, folder, "folder: expected a path");
    if (folder)
        root = text.p[0] == '/'
                   ? text
                   : arena_printf(r->arena, STR_FMT "/" STR_FMT, STR_ARG(base), STR_ARG(text));
    r->source->root = root.p ? arena_str(r->arena, root).p : NULL;
    if (!r->source->root)
        return ERR_NO_MEMORY;
    if (folder && (stat(r->source->root, &st) < 0 || !S_ISDIR(st.st_mode)))
        return manifest_refuse(r->error, folder, "folder: there is no folder " STR_FMT,
                               STR_ARG(text));
    return 0;
}

static int read_object(struct reading *r, const struct json *file, struct str base)
{
    int64_t bytes_max = FILE_BYTES;
    const struct json *path = json_get(file, STR("path"));
    int err = manifest_check_members(file, members, sizeof members / sizeof *members, r->error);
    if (!err)
        err = manifest_read_int(file, STR("maxBytes"), 1, FILE_BYTES_MAX, &bytes_max, r->error);
    if (!err)
        err = manifest_read_bool(file, STR("hidden"), &r->source->shows_hidden, r->error);
    if (!err)
        err = read_folder(r, json_get(file, STR("folder")), base);
    r->source->bytes_max = (size_t)bytes_max;
    return err ? err : read_path(r, path ? path : file);
}

static int read_text(struct reading *r, const struct json *file, struct str base)
{
    int err = read_folder(r, NULL, base);
    r->source->bytes_max = FILE_BYTES;
    return err ? err : read_path(r, file);
}

static int read_all(struct reading *r, const struct json *file, struct str base)
{
    if (file->kind == JSON_OBJECT)
        return read_object(r, file, base);
    if (file->kind == JSON_STR)
        return read_text(r, file, base);
    return manifest_refuse(r->error, file, "file: expected a path or an object");
}

int file_source_parse(const struct json *file, bool is_template, struct str uri,
                      struct str mime_type, struct str folder, struct arena *arena,
                      const struct file_source **ret, struct json_error *error)
{
    struct template_fault fault = {0};
    struct reading r = {.arena = arena, .error = error};
    r.source = arena_zalloc(arena, sizeof *r.source);
    if (!r.source)
        return ERR_NO_MEMORY;
    r.source->uri = arena_str(arena, uri);
    r.source->mime_type = mime_type.n ? arena_str(arena, mime_type) : STR_NONE;
    if (!r.source->uri.p || (mime_type.n && !r.source->mime_type.p))
        return ERR_NO_MEMORY;
    int err = is_template ? template_parse(r.source->uri, arena, &r.source->template, &fault) : 0;
    if (err == ERR_SYNTAX || err == ERR_LIMIT)
        return manifest_refuse(error, file, "the URI template, byte %u: %s", fault.offset,
                               fault.what);
    if (!err)
        err = read_all(&r, file, folder);
    if (!err)
        *ret = r.source;
    return err;
}
