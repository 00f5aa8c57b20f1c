/* core/call.c - making a call and answering it; see call.h. Every answer leaves through here. */
#include "core/call.h"

#include "base/err.h"
#include "base/log.h"
#include "core/admission.h"
#include "core/audit.h"
#include "core/catalog.h"
#include "core/core_state.h"
#include "core/dispatch.h"
#include "core/metrics.h"
#include "generated/methods.h"
#include "wire/json_write.h"

#include <stdlib.h>

#define NAME_SHOWN_MAX 200 /* bytes of a client's own text in an error message */

struct call *call_new(struct core *core)
{
    struct call *call = calloc(1, sizeof *call);
    if (!call)
        return NULL;
    arena_init(&call->arena, 0);
    call->core = core;
    return call;
}

void call_free(struct call *call)
{
    if (!call)
        return;
    access_unref(call->in.access);
    catalog_unref(call->catalog);
    buf_done(&call->out.body);
    arena_done(&call->arena);
    free(call);
}

bool call_is_orphaned(const struct call *call)
{
    return call->batch ? call->batch->orphaned : call->orphaned;
}

int call_explain(struct call *call, int err, struct str message, struct str data_json)
{
    call->explanation = message;
    call->explanation_data = data_json;
    return err;
}

int call_explain_name(struct call *call, int err, const char *what, struct str name)
{
    bool cut = name.n > NAME_SHOWN_MAX;
    struct str shown = {name.p, cut ? NAME_SHOWN_MAX : name.n};
    struct str message =
        arena_printf(&call->arena, "%s: " STR_FMT "%s", what, STR_ARG(shown), cut ? "..." : "");
    return call_explain(call, err, message, STR_NONE);
}

struct str call_fault_data(struct call *call, const char *prefix, const char *pointer,
                           const char *reason, const char *expected)
{
    struct buf data = {0};
    struct str where = arena_printf(&call->arena, "%s%s", prefix, pointer);
    buf_add_lit(&data, "{\"pointer\":");
    json_write_str(&data, where);
    buf_add_lit(&data, ",\"reason\":");
    json_write_str(&data, str_of(reason));
    buf_add_lit(&data, ",\"expected\":");
    json_write_str(&data, str_of(expected));
    buf_add_char(&data, '}');
    struct str json = where.p ? arena_buf(&call->arena, &data) : STR_NONE;
    buf_done(&data);
    return json;
}

struct str call_errors_data(struct call *call, const char *prefix,
                            const struct schema_faults *faults)
{
    struct buf data = {0};
    buf_add_lit(&data, "{\"errors\":");
    schema_faults_write(faults, prefix, &data);
    buf_add_char(&data, '}');
    struct str json = arena_buf(&call->arena, &data);
    buf_done(&data);
    return json;
}

/* ---- Answering ------------------------------------------------------------------------------ */

/* Whatever its handler said: who cancelled it has forgotten it, and of a session that is gone
 * nobody is left. */
static bool ends_silently(const struct call *call)
{
    int why = call_is_cancelled(call);
    return why == ERR_CANCELLED || why == ERR_SESSION_GONE;
}

/* What the transport gets last. */
static void finish(struct call *call)
{
    call->is_answered = true;
    admission_leave(call);
    if (call->core->config.metrics)
        metrics_count(call->core->config.metrics, call);
    audit_call(call);
    if (!call->is_renewing)
        call->finish(call);
}

void call_leave_stream(struct call *call)
{
    finish(call);
}

/* The answer is the last message of a stream. */
static void end_stream(struct call *call)
{
    struct stream *stream = call->stream;
    call->stream = NULL;
    stream_end(stream, call->out.body.n ? buf_str(&call->out.body) : STR_NONE);
}

/* Whoever asked is not to see what came of it. */
static void refuse_answer(struct call *call)
{
    if (!call->out.body.n || call->err == ERR_UNAUTHORIZED)
        return;
    buf_clear(&call->out.body);
    call->err = ERR_UNAUTHORIZED;
    call->out.http_status = err_http_status(ERR_UNAUTHORIZED);
    call->out.session_id = STR_NONE;
    rpc_write_error(&call->out.body, call->message.id, err_rpc_code(ERR_UNAUTHORIZED),
                    str_of(err_text(ERR_UNAUTHORIZED)), STR_NONE);
}

/* Without memory for the body there is still a status. */
void call_leave(struct call *call)
{
    if (call_is_cancelled(call) == ERR_UNAUTHORIZED)
        refuse_answer(call);
    bool silent = call->is_silent = ends_silently(call);
    bool was_running = running_remove(&call->core->running, call);
    if (call->core->pendings.n) /* nobody waits for them any more */
        pending_end_call(call->core, call, silent ? ERR_CANCELLED : ERR_CLOSED);
    if (was_running && silent) {
        call_end(call); /* comes back here */
        return;
    }
    if (call->live && !silent)
        live_flush(call->live);
    if (!silent)
        log_messages_end(call);
    if (call->out.body.failed) {
        buf_done(&call->out.body);
        call->out.http_status = err_http_status(ERR_NO_MEMORY);
    }
    if (call->stream)
        end_stream(call);
    finish(call);
}

/* The stream of the call; with the first message it becomes the answer. */
static int open_stream(struct call *call)
{
    if (call->batch || !call->session || !call->open_sink || !call->in.accepts_sse ||
        call_is_orphaned(call))
        return ERR_NO_STREAM;
    struct sink *sink = call->open_sink(call);
    if (!sink)
        return ERR_NO_STREAM;
    int err = stream_open(call, sink, &call->stream);
    if (err < 0)
        sink_end(sink);
    return err;
}

int call_send(struct call *call, struct str message)
{
    int err = call->stream ? 0 : open_stream(call);
    if (err == 0)
        stream_send(call->stream, message);
    return err;
}

/* A stream that ends says that there is nothing to come; where none was begun, an empty one does.
 */
void call_end(struct call *call)
{
    buf_clear(&call->out.body);
    struct sink *sink = NULL;
    if (!call->stream && !call->batch && !call->in.stdio && call->open_sink &&
        call->in.accepts_sse && !call_is_orphaned(call))
        sink = call->open_sink(call);
    if (sink)
        sink_end(sink);
    call->out.http_status = sink ? 200 : 202;
    call_leave(call);
}

void call_accept(struct call *call, int http_status)
{
    buf_clear(&call->out.body);
    call->out.http_status = http_status;
    call_leave(call);
}

/* A fault of ours, not of the client or of a full server; its cause is for the operator only.
 * ERR_OUTPUT was told where it was found. */
static bool is_ours(int err)
{
    return err_rpc_code(err) == err_rpc_code(ERR_INTERNAL) && err != ERR_BUSY &&
           err != ERR_SESSIONS && err != ERR_READERS && err != ERR_TIMED_OUT &&
           err != ERR_NO_MEMORY && err != ERR_OUTPUT && err != ERR_CLOSED;
}

void call_fail(struct call *call, int err, struct str message, struct str data_json)
{
    struct buf *body = &call->out.body;
    if (is_ours(err))
        log_error("%s failed: %s", call->row ? call->row->name : "a request", err_text(err));
    buf_clear(body);
    call->err = err;
    call->out.http_status = err_http_status(err);
    call->out.session_id = STR_NONE;
    rpc_write_error(body, call->message.id, err_rpc_code(err),
                    message.p ? message : str_of(err_text(err)), data_json);
    call_leave(call);
}

struct buf *call_open_result(struct call *call)
{
    buf_clear(&call->out.body);
    rpc_open_result(&call->out.body, call->message.id);
    return &call->out.body;
}

void call_finish_written(struct call *call)
{
    rpc_close(&call->out.body);
    if (call->out.body.failed) {
        call_fail(call, ERR_NO_MEMORY, STR_NONE, STR_NONE);
        return;
    }
    call->out.http_status = 200;
    call_leave(call);
}

int call_write(struct call *call, const void *result)
{
    return wire_write(call->row->result, result, call_open_result(call));
}

void call_done(struct call *call, const void *result)
{
    int err = call_write(call, result);
    if (err < 0)
        call_fail(call, err, STR_NONE, STR_NONE);
    else
        call_finish_written(call);
}
