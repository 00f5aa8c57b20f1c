/* config_file.c - reads a settings file: judged as a whole, faults told by line. */
#include "config_parts.h"

#include "base/err.h"
#include "base/json_tree.h"

#include <string.h>

/* A settings file: the tape is judged and stored, the tree knows the lines. */
struct file {
    const char *path;
    const struct tape_node *root;
    const struct json *tree;
};

/* "mcp.session.idle" of "/mcp/session/idle". */
static struct str path_of(const char *pointer, struct arena *arena)
{
    struct str path = arena_str(arena, str_of(*pointer ? pointer + 1 : pointer));
    for (char *p = (char *)(uintptr_t)path.p; p && *p; p++)
        *p = *p == '/' ? '.' : *p;
    return path;
}

/* What only the tape finds: a member that stands twice, a number beyond all range. */
static int refuse_tape(const struct json *tree, const struct wire_fault *found, struct arena *arena,
                       struct config_fault *fault)
{
    const struct json *at = json_at(tree, str_of(found->pointer));
    struct str path = path_of(found->pointer, arena);
    char text[120];
    if (found->reason == WIRE_DUPLICATE)
        return config_fault_at(fault, at->key_line, path, "stands twice in this object");
    snprintf(text, sizeof text, "expected %s", found->expected);
    return config_fault_at(fault, at->line, path, text);
}

static int read_file(struct file *file, struct arena *arena, struct config_fault *fault)
{
    struct buf text = {.limit = arena->limit};
    struct json_error error;
    struct json *tree = NULL;
    struct wire_fault found;
    int err = json_file_read(file->path, &text, &error);
    if (err == 0)
        err = json_tree_parse(buf_str(&text), arena, &tree, &error);
    if (err < 0)
        config_fault_at(fault, error.line, STR(""), error.text);
    else
        err = config_open_text(buf_str(&text), arena, &file->root, &found);
    if (err == ERR_PARAMS)
        err = refuse_tape(tree, &found, arena, fault);
    file->tree = tree;
    buf_done(&text);
    return err;
}

/* The key at a path, or the one that it leads into; NULL: a group. */
static const struct key *key_around(struct str path)
{
    const struct key *key;
    while (!(key = config_find_key(path)) && path.n)
        while (path.n && path.p[--path.n] != '.')
            ;
    return key;
}

static int refuse_file(const struct file *file, const struct schema_fault *fault,
                       const struct setting *base)
{
    const struct json *at = json_at(file->tree, str_of(fault->pointer));
    struct setting s = *base;
    struct str path = path_of(fault->pointer, s.arena);
    char text[160];
    s.key = key_around(path);
    s.line = at->line;
    if (strcmp(fault->keyword, "additionalProperties") == 0) {
        snprintf(text, sizeof text, "unknown key; known here: %s", fault->expected);
        return config_fault_at(s.fault, at->key_line, path, text);
    }
    return s.key ? config_refuse(&s)
                 : config_fault_at(s.fault, at->line, path, "expected an object");
}

static const struct tape_node *find_value(const struct tape_node *value, struct str path)
{
    while (value && path.p)
        value = tape_get(value, str_cut(&path, '.'));
    return value;
}

static uint32_t line_of(const struct json *value, struct str path)
{
    while (path.p)
        value = json_get(value, str_cut(&path, '.'));
    return value ? value->line : 0;
}

static int store_all(const struct file *file, const struct setting *base)
{
    struct setting s = *base;
    for (s.key = config_keys; s.key < config_keys + config_n_keys; s.key++) {
        const struct tape_node *value = find_value(file->root, str_of(s.key->path));
        if (!value)
            continue;
        s.line = line_of(file->tree, str_of(s.key->path));
        int err = config_store(&s, value);
        if (err < 0)
            return err == ERR_NO_MEMORY ? config_no_memory(s.fault) : config_refuse(&s);
        if (!s.key->help)
            fprintf(stderr, "%s:%u: %s is known but has no effect in this version\n", file->path,
                    s.line, s.key->path);
    }
    return 0;
}

int config_load(struct config *config, const char *path, struct arena *arena,
                struct config_fault *fault)
{
    struct file file = {.path = path};
    struct setting base = {NULL, config, arena, fault, 0};
    struct schema_faults faults = {0};
    int err = read_file(&file, arena, fault);
    if (err < 0)
        return err;
    err = config_check(NULL, file.root, arena, &faults);
    if (err < 0)
        return faults.n ? refuse_file(&file, &faults.v[0], &base) : config_no_memory(fault);
    return store_all(&file, &base);
}
