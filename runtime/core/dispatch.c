/* core/dispatch.c - the way of a request: message, session, state, method, parameters, handler.
 *
 * Which methods exist, who may send them, what they take and give, stands in the generated table of
 * the session's revision. Nothing here knows a method by name, except `initialize`, which has no
 * session yet. Order of checks and their answers: acceptance REFERENCE a.1.
 */
#include "core/dispatch.h"

#include "base/clock.h"
#include "base/err.h"
#include "core/capability.h"
#include "core/revision.h"
#include "generated/methods.h"

/* ---- Failing -------------------------------------------------------------------------------- */

void dispatch_fail(struct call *call, int err)
{
    call_fail(call, err, call->explanation, call->explanation_data);
}

static struct str fault_data(struct call *call, const char *prefix, const struct wire_fault *fault)
{
    struct buf data = {0};
    rpc_write_fault(&data, prefix, fault);
    struct str json = arena_buf(&call->arena, &data);
    buf_done(&data);
    return json;
}

void dispatch_fail_unread(struct call *call, int err, const struct wire_fault *fault)
{
    bool is_bad_text = err == ERR_PARSE || err == ERR_REQUEST;
    call_fail(call, err, STR_NONE, is_bad_text ? fault_data(call, "", fault) : STR_NONE);
}

/* ---- The session ---------------------------------------------------------------------------- */

static int check_version(struct call *call)
{
    if (call->in.stdio || !call->in.version.p || revision_find(call->in.version) >= 0)
        return 0;
    struct str names = revision_names(&call->arena);
    struct str message = arena_printf(
        &call->arena, "Unsupported MCP-Protocol-Version; supported: " STR_FMT, STR_ARG(names));
    return call_explain(call, ERR_VERSION, message, STR_NONE);
}

/* One who was dropped and made again is somebody else, by the same name. */
static bool is_of(const struct store_session *session, const struct access *access)
{
    return str_eq(session->user, access->user) && session->created_ms >= access->since_ms;
}

int dispatch_enter_session(struct core *core, struct call *call)
{
    struct session *session;
    int err = session_find(core, call, &session);
    if (err == ERR_NO_SESSION && call->in.stdio)
        return call_explain(call, ERR_REQUEST, STR("initialize comes first"), STR_NONE);
    if (err == 0)
        err = check_version(call);
    if (err == 0 && !is_of(&session->record, call->in.access))
        err = ERR_SESSION_GONE; /* as one that never was: CHECKLIST S-13 */
    if (err < 0)
        return err;
    call->session = session;
    session_renew(core, call);
    return 0;
}

/* ---- The method ----------------------------------------------------------------------------- */

bool dispatch_is_initialize(const struct rpc_message *message)
{
    return message->kind == RPC_REQUEST && str_eq(message->method, STR("initialize"));
}

static int parse_params(struct call *call, void **ret)
{
    struct wire_fault fault = {0};
    void *params = arena_zalloc(&call->arena, call->row->params_size);
    if (!params)
        return ERR_NO_MEMORY;
    int err = rpc_parse_params(call->row->params, &call->message, &call->arena, params, &fault);
    if (err == ERR_PARAMS || err == ERR_PARSE)
        return call_explain(call, ERR_PARAMS, STR_NONE, fault_data(call, "/params", &fault));
    if (err == 0)
        *ret = params;
    return err;
}

static bool is_cancellable(const struct call *call)
{
    return call->row->flags & MCP_CANCELLABLE && call->session;
}

void dispatch_again(struct call *call)
{
    int err = call->row->run(call, call->params, call->result);
    if (err < 0)
        dispatch_fail(call, err);
    else if (err == CALL_WRITTEN)
        call_finish_written(call);
    else if (err == 0)
        call_done(call, call->result);
}

/* When the handler says that the answer comes later it may have come already, and the call be gone;
 * so what can be cancelled is made known before. */
static void run(struct call *call)
{
    int err = parse_params(call, &call->params);
    if (err == 0 && is_cancellable(call))
        running_add(&call->core->running, call);
    if (err == 0) {
        call->result = arena_zalloc(&call->arena, call->row->result_size);
        err = call->result ? 0 : ERR_NO_MEMORY;
    }
    if (err < 0)
        dispatch_fail(call, err);
    else
        dispatch_again(call);
}

static const struct mcp_method_row *find_row(int revision, const struct call *call)
{
    return mcp_method_row((enum mcp_revision)revision, mcp_method_find(call->message.method));
}

static bool is_offered(const struct call *call, const struct mcp_method_row *row)
{
    return row && row->run && row->from_client &&
           capability_is_offered(call->in.profile, row->server_gate);
}

static void handle_request(struct call *call, int read_err, const struct wire_fault *fault)
{
    call->row = find_row(call->session->revision, call);
    if (!is_offered(call, call->row) || !call->row->is_request) {
        dispatch_fail(
            call, call_explain_name(call, ERR_METHOD, err_text(ERR_METHOD), call->message.method));
    } else if (read_err < 0) {
        call_explain(call, read_err, STR_NONE, fault_data(call, "", fault));
        dispatch_fail(call, read_err);
    } else {
        run(call);
    }
}

/* A notification that is unknown, or whose parameters do not fit, is no reason to answer. */
static void handle_notification(struct call *call, int read_err)
{
    void *params;
    call->row = find_row(call->session->revision, call);
    bool known = is_offered(call, call->row) && !call->row->is_request;
    int err = known && read_err == 0 && parse_params(call, &params) == 0
                  ? call->row->run(call, params, NULL)
                  : 0;
    if (err < 0)
        dispatch_fail(call, err);
    else if (err != CALL_LATER)
        call_accept(call, 202);
}

void dispatch_message(struct core *core, struct call *call, int read_err,
                      const struct wire_fault *fault)
{
    call->core = core;
    switch (call->message.kind) {
    case RPC_REQUEST:
        handle_request(call, read_err, fault);
        break;
    case RPC_NOTIFICATION:
        handle_notification(call, read_err);
        break;
    default:
        pending_answered(core, call);
    }
}

/* ---- The way in ----------------------------------------------------------------------------- */

/* There is no session yet; the parameters are read by the newest revision's table. */
static void handle_initialize(struct core *core, struct call *call, int read_err,
                              const struct wire_fault *fault)
{
    struct session *session;
    if (call->in.stdio || call->in.session_id.n) {
        int err = session_find(core, call, &session);
        if (err == 0)
            err = call_explain(call, ERR_REQUEST, STR("The session is initialized already"),
                               STR_NONE);
        if (err != ERR_NO_SESSION) {
            dispatch_fail(call, err);
            return;
        }
    }
    call->row = find_row(revision_at(0), call);
    if (read_err < 0) {
        call_explain(call, read_err, STR_NONE, fault_data(call, "", fault));
        dispatch_fail(call, read_err);
    } else {
        run(call);
    }
}

/* On stdio a client may ping before it initializes (MCP 2025-06-18, Lifecycle); over HTTP there is
 * no session that a ping could be in. */
static bool is_allowed_before(struct call *call)
{
    if (!call->in.stdio || call->message.kind != RPC_REQUEST)
        return false;
    call->row = find_row(revision_at(0), call);
    return is_offered(call, call->row) && (call->row->flags & MCP_BEFORE_INITIALIZED);
}

static void handle_post(struct core *core, struct call *call)
{
    struct wire_fault fault = {0};
    int read_err = rpc_read(call->in.body, &call->arena, &call->message, &fault);
    if (read_err < 0 && read_err != ERR_PARAMS) {
        dispatch_fail_unread(call, read_err, &fault);
        return;
    }
    if (call->message.kind == RPC_BATCH) {
        batch_handle(core, call);
        return;
    }
    if (dispatch_is_initialize(&call->message)) {
        handle_initialize(core, call, read_err, &fault);
        return;
    }
    int err = dispatch_enter_session(core, call);
    if (err == 0)
        dispatch_message(core, call, read_err, &fault);
    else if (call->in.stdio && call->message.kind != RPC_REQUEST)
        call_accept(call, 202); /* on stdio that is silence */
    else if (is_allowed_before(call) && read_err == 0)
        run(call);
    else
        dispatch_fail(call, err);
}

static void all_told(void *ctx, int err)
{
    (void)err; /* it is over; those who were not told see it within a second */
    call_accept(ctx, 204);
}

static void session_ended(struct call *call, int err)
{
    if (err < 0)
        dispatch_fail(call, err);
    else
        session_over(call->core, call->session->record.id, all_told, call);
}

static void handle_delete(struct core *core, struct call *call)
{
    int err = core->config.allow_client_delete ? 0 : ERR_HTTP_METHOD;
    if (err == 0)
        err = dispatch_enter_session(core, call);
    if (err == 0)
        err = session_end(core, call, session_ended);
    if (err < 0)
        dispatch_fail(call, err);
}

static void handle_get(struct core *core, struct call *call)
{
    int err = dispatch_enter_session(core, call);
    if (err == 0)
        err = streams_listen(core->streams, call);
    if (err < 0)
        dispatch_fail(call, err);
}

void core_handle(struct core *core, struct call *call)
{
    call->core = core;
    call->began_us = clock_mono_us();
    int err = call->in.access ? access_watch_arrived(core, call) : ERR_UNAUTHORIZED;
    if (err < 0)
        dispatch_fail(call, err);
    else if (!core->config.profile_enabled[call->in.profile])
        dispatch_fail(call, ERR_NO_ENDPOINT);
    else if (call->in.verb == CALL_POST)
        handle_post(core, call);
    else if (call->in.verb == CALL_DELETE)
        handle_delete(core, call);
    else
        handle_get(core, call);
}
