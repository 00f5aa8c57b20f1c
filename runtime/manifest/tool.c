/* manifest/tool.c - tools of a manifest: commands (exec.h). */
#include "base/err.h"
#include "manifest/exec.h"
#include "manifest/manifest.h"

static enum tenon_hint hint(const struct manifest_entry *entry, const char *name)
{
    const struct json *value = json_get(manifest_json(entry, "annotations"), str_of(name));
    return !value ? TENON_UNSAID : value->v.b ? TENON_YES : TENON_NO;
}

/* A schema as the text that clients get; NULL: there is none, or no memory. */
static const char *schema_text(const struct manifest_entry *entry, const char *member)
{
    const struct tape_node *schema = tape_get(entry->node, str_of(member));
    struct buf text = {0};
    if (!schema)
        return NULL;
    tape_write(schema, &text);
    struct str kept = arena_buf(&entry->m->arena, &text);
    buf_done(&text);
    return kept.p;
}

static int parse_exec(const struct manifest_entry *entry, const struct exec **ret)
{
    struct manifest *m = entry->m;
    struct json_error error;
    int err = exec_parse(manifest_json(entry, "exec"), manifest_json(entry, "inputSchema"),
                         json_str(manifest_json(entry, "name")), m->path, &m->arena, ret, &error);
    if (err == ERR_PARAMS)
        return manifest_fault_at_line(m, error.line, manifest_at(m, entry->pointer, STR("exec")),
                                      "%s", error.text);
    return err;
}

int manifest_add_tool(const struct manifest_entry *entry)
{
    const struct exec *exec;
    int err = parse_exec(entry, &exec);
    if (err < 0)
        return err;
    const struct tenon_tool tool = {
        .name = manifest_text(entry, "name"),
        .title = manifest_text(entry, "title"),
        .description = manifest_text(entry, "description"),
        .input_schema = schema_text(entry, "inputSchema"),
        .output_schema = schema_text(entry, "outputSchema"),
        .hints = {hint(entry, "readOnlyHint"), hint(entry, "destructiveHint"),
                  hint(entry, "idempotentHint"), hint(entry, "openWorldHint")},
        .run = exec_run,
        .ctx = (void *)(uintptr_t)exec,
    };
    if ((!tool.input_schema && tape_get(entry->node, STR("inputSchema"))) ||
        (!tool.output_schema && tape_get(entry->node, STR("outputSchema"))))
        return ERR_NO_MEMORY;
    return manifest_added(entry->m, entry->tenon, entry->pointer,
                          tenon_add_tool(entry->tenon, &tool));
}
