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

static struct str scope_of(const struct call *call)
{
    return call->in.profile == PROFILE_OPERATIONS ? STR("operations") : STR("application");
}

static int read_cursor(struct call *call, enum catalog_kind kind, struct str cursor,
                       struct str *ret_after)
{
    if (!cursor.p)
        return 0;
    int err = cursor_read(&call->core->cursor_key, cursor_kinds[kind], scope_of(call), cursor,
                          &call->arena, ret_after);
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
    if (last.p)
        err = cursor_write(&call->core->cursor_key, cursor_kinds[kind], scope_of(call), last,
                           &call->arena, &next);
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
