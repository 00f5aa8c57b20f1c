/* manifest/load.c - from the folder to a tape that fits the schema, and to what is registered.
 *
 * The tape is judged, the tree knows the lines; both are of the same text. */
#include "base/err.h"
#include "core/component.h"
#include "manifest/manifest.h"
#include "schema/json_schema.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAULT_BYTES (64u << 10) /* to say that all else was too little */

/* ---- Reading -------------------------------------------------------------------------------- */

static struct str padded(struct arena *arena, const void *text, uint32_t n)
{
    char *copy = arena_zalloc(arena, (size_t)n + JSON_PADDING_BYTES);
    if (copy && n)
        memcpy(copy, text, n);
    return copy ? (struct str){copy, n} : STR_NONE;
}

static int refuse_tape(struct manifest *m, const struct wire_fault *fault)
{
    const struct json *at = json_at(m->tree, str_of(fault->pointer));
    if (fault->reason == WIRE_DUPLICATE)
        return manifest_fault_at_line(m, at->key_line, fault->pointer,
                                      "expected once, it stands twice in this object");
    return manifest_fault(m, fault->pointer, "expected %s", fault->expected);
}

static int open_text(struct manifest *m, struct str text, const struct tape_node **ret)
{
    struct json_error error;
    struct wire_fault fault = {0};
    struct str copy = padded(&m->arena, text.p, text.n);
    int err = copy.p ? json_tree_parse(text, &m->arena, &m->tree, &error) : ERR_NO_MEMORY;
    if (err == ERR_NO_MEMORY)
        return err;
    if (err < 0)
        return manifest_fault_at_line(m, error.line, "", "%s", error.text);
    err = tape_open(copy, &m->arena, ret, &fault);
    return err < 0 && err != ERR_NO_MEMORY ? refuse_tape(m, &fault) : err;
}

/* ---- By the schema -------------------------------------------------------------------------- */

static const struct {
    const char *keyword, *fmt;
} wordings[] = {
    {"additionalProperties", "unknown here; expected %s"},
    {"propertyNames", "has no place here; expected %s"},
    {"pattern", "expected a string that matches %s"},
    {"minLength", "expected a string; %s"},
    {"maxLength", "expected a string; %s"},
};

static void tell(struct manifest *m, const struct schema_fault *fault)
{
    char text[160];
    const struct json *at = json_at(m->tree, str_of(fault->pointer));
    bool is_name = fault->keyword[0] == 'a' || strcmp(fault->keyword, "propertyNames") == 0;
    snprintf(text, sizeof text, "expected %s", fault->expected);
    for (size_t i = 0; i < sizeof wordings / sizeof *wordings; i++)
        if (strcmp(wordings[i].keyword, fault->keyword) == 0)
            snprintf(text, sizeof text, wordings[i].fmt, fault->expected);
    manifest_fault_at_line(m, is_name && at->key_line ? at->key_line : at->line, fault->pointer,
                           "%s", text);
}

static int check(struct manifest *m, const struct tape_node *root, struct arena *scratch)
{
    const struct tape_node *document;
    const struct json_schema *schema;
    struct schema_faults faults = {0};
    struct str text = padded(scratch, manifest_schema, manifest_schema_bytes);
    int err = text.p ? tape_open(text, scratch, &document, NULL) : ERR_NO_MEMORY;
    if (err == 0)
        err = json_schema_compile(document, NULL, scratch, &schema, &faults);
    if (err == 0)
        err = json_schema_check(schema, root, &faults);
    for (uint32_t i = 0; i < faults.n; i++)
        tell(m, &faults.v[i]);
    return err == ERR_LIMIT ? ERR_PARAMS : err;
}

/* A text of C ends with NUL, so none can hold one. */
static int check_strings(struct manifest *m, const struct tape_node *root)
{
    struct schema_fault place;
    for (uint32_t i = 0; i < tape_size(root); i++) {
        if (root[i].kind != TAPE_STR || !memchr(root[i].v.s, '\0', root[i].n))
            continue;
        schema_fault_locate(&place, root, &root[i]);
        manifest_fault(m, place.pointer, "expected a string without U+0000");
    }
    return m->faults.n ? ERR_PARAMS : 0;
}

static int judge(struct manifest *m, const struct tape_node *root)
{
    struct arena scratch;
    arena_init(&scratch, 0);
    int err = check(m, root, &scratch);
    arena_done(&scratch);
    if (err == 0)
        err = check_strings(m, root);
    if (err == 0)
        m->root = root;
    return err;
}

/* ---- Lists of entries ----------------------------------------------------------------------- */

static int add_one(const struct manifest_entry *entry, int (*add)(const struct manifest_entry *))
{
    int err = add(entry);
    return err == ERR_PARAMS ? 0 : err; /* the fault is there; so the next ones are tried, too */
}

static int add_all(struct manifest *m, struct tenon *tenon, struct str list,
                   int (*add)(const struct manifest_entry *))
{
    const struct tape_node *entries = tape_get(m->root, list);
    const char *pointer = manifest_at(m, "", list);
    int err = 0;
    if (!entries)
        return 0;
    if (entries->n > MANIFEST_ENTRIES_MAX)
        return manifest_fault(m, pointer, "expected at most %d", MANIFEST_ENTRIES_MAX), 0;
    const struct tape_node *node = entries + 1;
    for (uint32_t i = 0; err == 0 && i < entries->n; i++, node = tape_next(node))
        err = add_one(&(struct manifest_entry){m, tenon, node, manifest_at_n(m, pointer, i)}, add);
    return err;
}

int manifest_register(struct tenon *tenon, void *ctx)
{
    static const struct {
        struct str list;
        int (*add)(const struct manifest_entry *);
    } lists[] = {
        {STR_INIT("tables"), manifest_check_table},
        {STR_INIT("tools"), manifest_add_tool},
        {STR_INIT("resources"), manifest_add_resource},
        {STR_INIT("resourceTemplates"), manifest_add_template},
        {STR_INIT("prompts"), manifest_add_prompt},
    };
    struct manifest *m = ctx;
    int err = 0;
    for (size_t i = 0; err == 0 && i < sizeof lists / sizeof *lists; i++)
        err = add_all(m, tenon, lists[i].list, lists[i].add);
    return err == ERR_NO_MEMORY ? TENON_ERR_NO_MEMORY : m->faults.n ? TENON_ERR_ARGUMENT : 0;
}

/* ---- Members of an entry -------------------------------------------------------------------- */

const char *manifest_text(const struct manifest_entry *entry, const char *member)
{
    const struct tape_node *value = tape_get(entry->node, str_of(member));
    return value ? arena_str(&entry->m->arena, tape_str(value)).p : NULL;
}

const struct json *manifest_json(const struct manifest_entry *entry, const char *member)
{
    return json_get(json_at(entry->m->tree, str_of(entry->pointer)), str_of(member));
}

struct tenon_annotations manifest_annotations(const struct manifest_entry *entry)
{
    struct tenon_annotations ret = {0};
    const struct json *from = manifest_json(entry, "annotations");
    const struct json *priority = json_get(from, STR("priority"));
    json_each (role, json_get(from, STR("audience"))) {
        ret.for_user |= str_eq(json_str(role), STR("user"));
        ret.for_assistant |= str_eq(json_str(role), STR("assistant"));
    }
    ret.has_priority = priority != NULL;
    ret.priority = priority ? priority->v.num.d : 0;
    ret.last_modified = json_str(json_get(from, STR("lastModified"))).p;
    return ret;
}

/* ---- The whole ------------------------------------------------------------------------------ */

static int init(struct manifest *m, struct str folder)
{
    arena_init(&m->arena, MANIFEST_MEMORY_BYTES);
    while (folder.n > 1 && folder.p[folder.n - 1] == '/')
        folder.n--;
    m->folder = arena_str(&m->arena, folder);
    m->file = arena_printf(&m->arena, STR_FMT "/" MANIFEST_FILE, STR_ARG(folder));
    return m->folder.p && m->file.p ? 0 : ERR_NO_MEMORY;
}

static int find_folder(struct manifest *m)
{
    char *path = realpath(m->folder.p, NULL);
    if (!path)
        return manifest_fault_at_line(m, 0, "", "%s", strerror(errno));
    m->path = arena_str(&m->arena, str_of(path));
    free(path);
    return m->path.p ? 0 : ERR_NO_MEMORY;
}

/* Its own limit, and not the machine's: what did not fit any more was one of a few large parts. */
static bool is_too_large(const struct manifest *m)
{
    return m->arena.used >= MANIFEST_MEMORY_BYTES / 4;
}

/* A fault like any other: what is in use stays, and this is tried again when it changes. */
static int refuse_size(struct manifest *m)
{
    m->arena.limit += FAULT_BYTES;
    return manifest_fault_at_line(m, 0, "", "expected less, it would take more than %u MiB",
                                  MANIFEST_MEMORY_BYTES >> 20);
}

static int load(struct manifest *m)
{
    struct buf text = {0};
    const struct tape_node *root;
    int err = find_folder(m);
    if (err == 0)
        err = manifest_read(m, STR(MANIFEST_FILE), NULL, MANIFEST_BYTES_MAX, &text);
    if (err == 0)
        err = open_text(m, buf_str(&text), &root);
    if (err == 0)
        err = judge(m, root);
    buf_done(&text);
    return err == ERR_NO_MEMORY && is_too_large(m) ? refuse_size(m) : err;
}

int manifest_load(struct str folder, struct manifest **ret)
{
    struct manifest *m = calloc(1, sizeof *m);
    int err = m ? init(m, folder) : ERR_NO_MEMORY;
    if (err == 0)
        err = load(m);
    if (err == 0 || err == ERR_PARAMS)
        *ret = m;
    else
        manifest_free(m);
    return err;
}

void manifest_free(struct manifest *m)
{
    if (!m)
        return;
    arena_done(&m->arena);
    free(m);
}
