/* core/on_lifecycle.c - initialize, ping, and the notifications of a session's beginning and of
 * cancelled requests. */
#include "base/err.h"
#include "base/version.h"
#include "core/capability.h"
#include "core/core_state.h"
#include "core/dispatch.h"
#include "core/list_changed.h"
#include "core/revision.h"
#include "generated/methods.h"
#include "wire/tape.h"

#include <stdio.h>

/* ---- initialize ----------------------------------------------------------------------------- */

static int write_member(const struct tape_node *object, struct str name, struct arena *arena,
                        struct str *ret)
{
    const struct tape_node *value = tape_get(object, name);
    struct buf text = {.limit = CLIENT_INFO_BYTES};
    if (value)
        tape_write(value, &text);
    *ret = arena_buf(arena, &text);
    bool too_large = text.failed;
    buf_done(&text);
    return too_large ? ERR_LIMIT : ret->p ? 0 : ERR_NO_MEMORY;
}

static int explain_size(struct call *call, const char *pointer)
{
    char most[48];
    snprintf(most, sizeof most, "at most %u bytes of JSON", CLIENT_INFO_BYTES);
    struct str data = call_fault_data(call, "/params", pointer, "size", most);
    return call_explain(call, ERR_PARAMS, STR_NONE, data);
}

/* What the client says about itself is kept as it said it, within bounds. */
static int read_client(struct call *call, struct str *ret_info, struct str *ret_capabilities)
{
    const struct tape_node *params;
    struct wire_fault fault = {0};
    int err = tape_open(call->message.params, &call->arena, &params, &fault);
    if (err == ERR_PARAMS)
        return call_explain(call, ERR_PARAMS, STR_NONE,
                            call_fault_data(call, "/params", fault.pointer,
                                            wire_reason_name(fault.reason), fault.expected));
    if (err < 0)
        return err;
    err = write_member(params, STR("clientInfo"), &call->arena, ret_info);
    if (err == ERR_LIMIT)
        return explain_size(call, "/clientInfo");
    if (err == 0)
        err = write_member(params, STR("capabilities"), &call->arena, ret_capabilities);
    return err == ERR_LIMIT ? explain_size(call, "/capabilities") : err;
}

static void answer_initialize(struct call *call, int err)
{
    struct mcp_initialize_result result = {0};
    struct mcp_implementation info = {0};
    struct mcp_server_capabilities capabilities;
    if (err < 0) {
        dispatch_fail(call, err);
        return;
    }
    MCP_SET(&info, name, STR("tenon"));
    MCP_SET(&info, title, STR("Tenon"));
    MCP_SET(&info, version, STR(TENON_VERSION));
    capability_fill(call->in.profile, &capabilities);
    MCP_SET(&result, protocol_version, call->session->record.version);
    MCP_SET(&result, capabilities, &capabilities);
    MCP_SET(&result, server_info, &info);
    call->row = mcp_method_row((enum mcp_revision)call->session->revision, MCP_INITIALIZE);
    if (!call->in.stdio)
        call->out.session_id = call->session->record.id;
    call_done(call, &result);
}

int mcp_on_initialize(struct call *call, const struct mcp_initialize_request_params *params,
                      struct mcp_initialize_result *result)
{
    struct str info, capabilities;
    bool is_known = revision_find(params->protocol_version) >= 0;
    struct str version = is_known ? params->protocol_version : revision_name(0);
    (void)result; /* written by the negotiated revision's table, after the session was stored */
    int err = read_client(call, &info, &capabilities);
    if (err == 0)
        err = session_new(call->core, call, version, info, capabilities, &call->session);
    if (err == 0)
        list_changed_look(call->core, call->in.access, call->in.profile, call->session->revision,
                          call->session->record.seen);
    if (err == 0)
        err = session_save_new(call->core, call, answer_initialize);
    return err < 0 ? err : CALL_LATER;
}

/* ---- The rest ------------------------------------------------------------------------------- */

static void answer_initialized(struct call *call, int err)
{
    if (err == ERR_SESSION_GONE)
        dispatch_fail(call, err);
    else
        call_accept(call, 202);
}

int mcp_on_notifications_initialized(struct call *call,
                                     const struct mcp_notification_params *params)
{
    (void)params;
    int err = session_set_operating(call->core, call, answer_initialized);
    return err < 0 ? err : CALL_LATER;
}

static void cancel_told(void *ctx, int err)
{
    (void)err; /* the client hears of nothing; mail.c has logged it */
    call_accept(ctx, 202);
}

/* One without an id names nothing (2025-11-25 allows that, for tasks). */
int mcp_on_notifications_cancelled(struct call *call,
                                   const struct mcp_cancelled_notification_params *params)
{
    if (!params->has_request_id)
        return 0;
    running_cancel(call->core, call->session->record.id, params->request_id,
                   params->has_reason ? params->reason : STR_NONE, cancel_told, call);
    return CALL_LATER;
}

int mcp_on_ping(struct call *call, const struct mcp_request_params *params, struct mcp_result *ret)
{
    (void)call, (void)params, (void)ret;
    return 0;
}
