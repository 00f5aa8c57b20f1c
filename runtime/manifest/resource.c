/* manifest/resource.c - resources and templates of a manifest: what they hold stands in it, or in a
 * file (files.h). */
#include "base/err.h"
#include "manifest/completion.h"
#include "manifest/files.h"
#include "manifest/wording.h"
#include "schema/template.h"

struct fixed {
    bool is_blob;
    struct str contents;
};

struct varying {
    struct str uri_template;
    const struct template *template;
    struct wording text;
    struct file_source *file; /* NULL: the text */
    struct completion *completions;
    uint32_t n_completions;
};

/* ---- Files ---------------------------------------------------------------------------------- */

static int watch(struct manifest *m, const struct file_source *source)
{
    struct manifest_source *watched = arena_alloc(&m->arena, sizeof *watched);
    if (!watched)
        return ERR_NO_MEMORY;
    *watched = (struct manifest_source){m->sources, source};
    m->sources = watched;
    return 0;
}

static bool is_subscribable(const struct manifest_entry *entry)
{
    const struct tape_node *value = tape_get(entry->node, STR("subscribable"));
    return value && value->kind == TAPE_TRUE;
}

static int open_file(const struct manifest_entry *entry, const char *uri_member,
                     struct file_source **ret)
{
    struct manifest *m = entry->m;
    const struct file_source *source;
    struct json_error error;
    bool is_template = uri_member[3] != '\0';
    int err = file_source_parse(
        manifest_json(entry, "file"), is_template, json_str(manifest_json(entry, uri_member)),
        json_str(manifest_json(entry, "mimeType")), m->path, &m->arena, &source, &error);
    if (err == ERR_PARAMS)
        return manifest_fault_at_line(m, error.line, manifest_at(m, entry->pointer, STR("file")),
                                      "%s", error.text);
    if (err == 0 && is_subscribable(entry))
        err = watch(m, source);
    if (err == 0)
        *ret = (struct file_source *)(uintptr_t)source;
    return err;
}

/* ---- Resources ------------------------------------------------------------------------------ */

static int read_fixed(struct tenon_call *call, void *ctx)
{
    const struct fixed *fixed = ctx;
    if (fixed->is_blob)
        return tenon_contents_blob(call, NULL, NULL, fixed->contents.p, fixed->contents.n);
    return tenon_contents_text(call, NULL, NULL, fixed->contents.p);
}

static int make_fixed(const struct manifest_entry *entry, struct fixed **ret)
{
    struct manifest *m = entry->m;
    struct str blob = manifest_str(entry, "blob");
    struct fixed *fixed = arena_zalloc(&m->arena, sizeof *fixed);
    int err = fixed ? 0 : ERR_NO_MEMORY;
    if (err == 0 && blob.p)
        err =
            manifest_bytes(m, blob, manifest_at(m, entry->pointer, STR("blob")), &fixed->contents);
    else if (err == 0)
        fixed->contents = json_str(manifest_json(entry, "text"));
    if (err == 0) {
        fixed->is_blob = blob.p != NULL;
        *ret = fixed;
    }
    return err;
}

int manifest_add_resource(const struct manifest_entry *entry)
{
    struct fixed *fixed = NULL;
    struct file_source *file = NULL;
    bool is_file = tape_get(entry->node, STR("file")) != NULL;
    int err = is_file ? open_file(entry, "uri", &file) : make_fixed(entry, &fixed);
    if (err < 0)
        return err;
    const struct tenon_resource resource = {
        .uri = manifest_text(entry, "uri"),
        .name = manifest_text(entry, "name"),
        .title = manifest_text(entry, "title"),
        .description = manifest_text(entry, "description"),
        .mime_type = manifest_text(entry, "mimeType"),
        .annotations = manifest_annotations(entry),
        .size = fixed ? fixed->contents.n : 0,
        .subscribable = is_subscribable(entry),
        .is_inline = fixed != NULL,
        .read = fixed ? read_fixed : file_read,
        .ctx = fixed ? (void *)fixed : (void *)file,
    };
    return manifest_added(entry->m, entry->tenon, entry->pointer,
                          tenon_add_resource(entry->tenon, &resource));
}

/* ---- Templates ------------------------------------------------------------------------------ */

struct reading {
    const struct template *template;
    const char **values; /* of its variables; NULL: none */
};

static bool is_named(const struct template *template, uint32_t i, struct str name)
{
    return str_eq(template_name(template, i), name);
}

static const char *variable_value(struct tenon_call *call, const void *ctx, struct str name)
{
    const struct reading *r = ctx;
    uint32_t i = 0;
    (void)call;
    while (!is_named(r->template, i, name))
        i++;
    return r->values[i];
}

static int read_text(struct tenon_call *call, const struct varying *varying)
{
    struct reading r = {.template = varying->template};
    uint32_t n = template_n_names(r.template);
    r.values = tenon_alloc(call, (n + 1) * sizeof *r.values);
    if (!r.values)
        return TENON_ERR_NO_MEMORY;
    for (uint32_t i = 0; i < n; i++) {
        char *name = tenon_format(call, STR_FMT, STR_ARG(template_name(r.template, i)));
        if (!name)
            return TENON_ERR_NO_MEMORY;
        r.values[i] = tenon_variable(call, name, 0);
    }
    const char *text = wording_fill(call, &varying->text, variable_value, &r);
    return text ? tenon_contents_text(call, NULL, NULL, text) : TENON_ERR_FAILED;
}

static int read_varying(struct tenon_call *call, void *ctx)
{
    const struct varying *varying = ctx;
    return varying->file ? file_read(call, varying->file) : read_text(call, varying);
}

static int complete(struct tenon_call *call, const char *variable, const char *typed, void *ctx)
{
    const struct varying *varying = ctx;
    for (uint32_t i = 0; i < varying->n_completions; i++)
        if (str_eq(varying->completions[i].name, str_of(variable)))
            return completion_run(call, &varying->completions[i], typed);
    return varying->file ? file_complete(call, variable, typed, varying->file) : 0;
}

static bool is_variable(const void *ctx, struct str name)
{
    const struct template *template = ctx;
    for (uint32_t i = 0; i < template_n_names(template); i++)
        if (is_named(template, i, name))
            return true;
    return false;
}

static int read_variables(const struct manifest_entry *entry, struct varying *ret)
{
    const struct manifest_entry list = manifest_member(entry, "variables");
    int result = 0;
    if (!list.node)
        return 0;
    ret->completions = arena_array(&entry->m->arena, list.node->n + 1, sizeof *ret->completions);
    if (!ret->completions)
        return ERR_NO_MEMORY;
    tape_each (list.node, key, value) {
        const char *pointer = manifest_at(entry->m, list.pointer, tape_str(key));
        const struct manifest_entry variable = {entry->m, entry->tenon, value, pointer};
        int err =
            is_variable(ret->template, tape_str(key))
                ? 0
                : manifest_fault(entry->m, pointer, "expected a variable of the URI template");
        if (err == 0 && tape_get(value, STR("complete")))
            err =
                completion_parse(&variable, tape_str(key), &ret->completions[ret->n_completions++]);
        result = err ? err : result;
    }
    return result;
}

static int parse_template(const struct manifest_entry *entry, struct varying *ret)
{
    struct manifest *m = entry->m;
    struct template_fault fault = {0};
    ret->uri_template = json_str(manifest_json(entry, "uriTemplate"));
    int err = template_parse(ret->uri_template, &m->arena, &ret->template, &fault);
    if (err < 0 && err != ERR_NO_MEMORY)
        return manifest_fault(m, manifest_at(m, entry->pointer, STR("uriTemplate")), "byte %u: %s",
                              fault.offset, fault.what);
    return err;
}

static int make_varying(const struct manifest_entry *entry, struct varying *ret)
{
    const struct manifest_names names = {is_variable, ret->template,
                                         "a variable of the URI template"};
    int contents = tape_get(entry->node, STR("file"))
                       ? open_file(entry, "uriTemplate", &ret->file)
                       : wording_of(entry, "text", &names, &ret->text);
    int variables = read_variables(entry, ret);
    return contents ? contents : variables;
}

/* Reads of files and looks into tables may have to wait for a disk. */
static bool waits(const struct varying *varying)
{
    for (uint32_t i = 0; i < varying->n_completions; i++)
        if (completion_is_query(&varying->completions[i]))
            return true;
    return varying->file != NULL;
}

int manifest_add_template(const struct manifest_entry *entry)
{
    struct varying *varying = arena_zalloc(&entry->m->arena, sizeof *varying);
    int err = varying ? parse_template(entry, varying) : ERR_NO_MEMORY;
    if (err == 0)
        err = make_varying(entry, varying);
    if (err < 0)
        return err;
    const struct tenon_template added = {
        .uri_template = manifest_text(entry, "uriTemplate"),
        .name = manifest_text(entry, "name"),
        .title = manifest_text(entry, "title"),
        .description = manifest_text(entry, "description"),
        .mime_type = manifest_text(entry, "mimeType"),
        .annotations = manifest_annotations(entry),
        .subscribable = is_subscribable(entry),
        .is_inline = !waits(varying),
        .read = read_varying,
        .complete = varying->n_completions || varying->file ? complete : NULL,
        .ctx = varying,
    };
    return manifest_added(entry->m, entry->tenon, entry->pointer,
                          tenon_add_template(entry->tenon, &added));
}
