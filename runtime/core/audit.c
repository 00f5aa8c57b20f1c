/* core/audit.c - see audit.h. */
#include "core/audit.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/limits.h"
#include "core/call.h"
#include "core/core_state.h"
#include "core/metrics.h"
#include "generated/methods.h"

#define SESSION_SHOWN  8 /* characters of an id: the minute in which it was made */
#define REST_OF_A_LINE 2048

void audit_begin_line(struct buf *line)
{
    char time[CLOCK_TEXT_BYTES];
    clock_write_text(clock_wall_ms(), time);
    buf_printf(line, "{\"time\":\"%s\",\"category\":\"mcp.audit\"", time);
}

/* Without memory for a line it is lost like one for which the port has no room. */
void audit_end_line(struct core *core, struct buf *line)
{
    struct audit *audit = core->config.audit;
    buf_add_lit(line, "}\n");
    uint32_t lost = line->failed ? 1 : audit->write(audit, buf_str(line));
    if (lost && core->config.metrics)
        metric_add(&core->config.metrics->audit_lost, lost);
    buf_done(line);
}

static const char *status_of(const struct call *call)
{
    return call->is_silent          ? "cancelled"
           : call->err == ERR_RATE  ? "rate_limited"
           : call->err == ERR_QUOTA ? "quota_exceeded"
           : call->err < 0          ? "protocol_error"
           : call->is_tool_error    ? "isError"
                                    : "ok";
}

static void add_text(struct buf *line, const char *name, struct str text)
{
    buf_printf(line, ",\"%s\":", name);
    audit_write_text(line, text, AUDIT_TEXT_BYTES);
}

static void add_session(const struct call *call, struct buf *line)
{
    struct str id = call->session ? call->session->record.id : STR("");
    if (id.n > SESSION_SHOWN)
        buf_printf(line, ",\"sessionId\":\"%.*s...\"", SESSION_SHOWN, id.p);
}

/* Of a call whose parameters could not be read there is neither. */
static void add_what(const struct call *call, struct buf *line)
{
    const struct mcp_call_tool_request_params *params = call->params;
    if (!params)
        return;
    add_text(line, "tool", params->name);
    buf_add_lit(line, ",\"args\":");
    if (params->arguments.p)
        audit_write_args(line, params->arguments, AUDIT_LINE_BYTES - REST_OF_A_LINE);
    else
        buf_add_lit(line, "{}");
}

static void add_error(const struct call *call, struct buf *line)
{
    if (call->err >= 0)
        return;
    struct str message = call->explanation;
    add_text(line, "errorMessage", message.p ? message : str_of(err_text(call->err)));
}

void audit_call(struct call *call)
{
    struct buf line = {0};
    bool operations = call->in.profile == PROFILE_OPERATIONS;
    if (!call->row || call->row->method != MCP_TOOLS_CALL || !call->core->config.audit)
        return;
    buf_reserve(&line, 512);
    audit_begin_line(&line);
    buf_printf(&line, ",\"profile\":\"%s\"", operations ? "operations" : "application");
    add_session(call, &line);
    add_text(&line, "user", call->in.access ? call->in.access->user : STR(""));
    add_what(call, &line);
    int64_t us = clock_mono_us() - call->began_us;
    buf_printf(&line, ",\"status\":\"%s\",\"durationMs\":%lld.%03d", status_of(call),
               (long long)(us / 1000), (int)(us % 1000));
    add_error(call, &line);
    audit_end_line(call->core, &line);
}
