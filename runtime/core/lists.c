/* core/lists.c - pages of tools, resources, templates and prompts.
 *
 * A cursor holds the name of the last entry sent, so pages stay right when entries come and go
 * between them: what was sent is not sent again, what is left is not skipped. A page is bounded in
 * entries and in bytes.
 */
#include "core/lists.h"

#include "base/err.h"
#include "core/core_state.h"
#include "wire/json_write.h"

static const enum cursor_kind cursor_kinds[CATALOG_KINDS] = {
    [CATALOG_TOOLS] = CURSOR_TOOLS,
    [CATALOG_RESOURCES] = CURSOR_RESOURCES,
    [CATALOG_TEMPLATES] = CURSOR_TEMPLATES,
    [CATALOG_PROMPTS] = CURSOR_PROMPTS,
};

/* A cursor serves who got it. */
static struct str scope_of(struct call *call)
{
    const struct access *access = call->in.access;
    const char *profile = call->in.profile == PROFILE_OPERATIONS ? "operations" : "application";
    struct str user = access->user, role = access->role_name;
    return arena_printf(&call->arena, "%s " STR_FMT "\n" STR_FMT, profile, STR_ARG(user),
                        STR_ARG(role));
}

static int read_cursor(struct call *call, enum catalog_kind kind, struct str cursor,
                       struct str *ret_after)
{
    if (!cursor.p)
        return 0;
    struct str scope = scope_of(call);
    int err = scope.p ? cursor_read(&call->core->cursor_key, cursor_kinds[kind], scope, cursor,
                                    &call->arena, ret_after)
                      : ERR_NO_MEMORY;
    if (err != ERR_PARAMS)
        return err;
    struct str data =
        call_fault_data(call, "/params", "/cursor", "cursor", "nextCursor of a page of this list");
    return call_explain(call, err, STR("Invalid cursor"), data);
}

int list_write_page(struct call *call, enum catalog_kind kind, const char *name, struct str cursor)
{
    const struct core_config *config = &call->core->config;
    uint32_t size =
        kind == CATALOG_TOOLS ? config->tools_page[call->in.profile] : config->list_page;
    struct str after = STR_NONE, next = STR_NONE;
    int err = read_cursor(call, kind, cursor, &after);
    if (err == 0)
        err = catalog_use(call);
    if (err < 0)
        return err;
    struct buf *out = call_open_result(call);
    buf_printf(out, "{\"%s\":[", name);
    struct str last = catalog_write_page(call->catalog, call->in.profile, kind,
                                         call->session->revision, after, size, out);
    struct str scope = last.p ? scope_of(call) : STR("");
    if (last.p)
        err = scope.p ? cursor_write(&call->core->cursor_key, cursor_kinds[kind], scope, last,
                                     &call->arena, &next)
                      : ERR_NO_MEMORY;
    if (err < 0)
        return err;
    buf_add_char(out, ']');
    if (next.p) {
        buf_add_lit(out, ",\"nextCursor\":");
        json_write_str(out, next);
    }
    buf_add_char(out, '}');
    return CALL_WRITTEN;
}
