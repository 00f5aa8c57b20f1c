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

static void add_thousandths(struct buf *out, unsigned v)
{
    const char digits[4] = {'.', (char)('0' + v / 100), (char)('0' + v / 10 % 10),
                            (char)('0' + v % 10)};
    buf_add(out, digits, sizeof digits);
}

/* A text of a time costs as much as all else of a line: that of a second is used again. */
void audit_begin_line(struct audit *audit, struct buf *line)
{
    int64_t now_ms = clock_wall_ms();
    if (audit->text_second != now_ms / 1000 || !audit->text[0])
        clock_write_text(now_ms, audit->text);
    audit->text_second = now_ms / 1000;
    buf_add_lit(line, "{\"time\":\"");
    buf_add(line, audit->text, sizeof "2026-01-31T23:59:59" - 1);
    add_thousandths(line, (unsigned)(now_ms % 1000));
    buf_add_lit(line, "Z\",\"category\":\"mcp.audit\"");
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
    buf_add_lit(line, ",\"");
    buf_add_str(line, str_of(name));
    buf_add_lit(line, "\":");
    audit_write_text(line, text, AUDIT_TEXT_BYTES);
}

static void add_session(const struct call *call, struct buf *line)
{
    struct str id = call->session ? call->session->record.id : STR("");
    if (id.n <= SESSION_SHOWN)
        return;
    buf_add_lit(line, ",\"sessionId\":\"");
    buf_add(line, id.p, SESSION_SHOWN);
    buf_add_lit(line, "...\"");
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

static void add_end(const struct call *call, struct buf *line)
{
    int64_t us = clock_mono_us() - call->began_us;
    buf_add_lit(line, ",\"status\":\"");
    buf_add_str(line, str_of(status_of(call)));
    buf_add_lit(line, "\",\"durationMs\":");
    buf_add_i64(line, us / 1000);
    add_thousandths(line, (unsigned)(us % 1000));
    add_error(call, line);
}

void audit_call(struct call *call)
{
    struct buf line = {0};
    bool operations = call->in.profile == PROFILE_OPERATIONS;
    if (!call->row || call->row->method != MCP_TOOLS_CALL || !call->core->config.audit)
        return;
    buf_reserve(&line, 512);
    audit_begin_line(call->core->config.audit, &line);
    buf_add_lit(&line, ",\"profile\":\"");
    buf_add_str(&line, operations ? STR("operations") : STR("application"));
    buf_add_char(&line, '"');
    add_session(call, &line);
    add_text(&line, "user", call->in.access ? call->in.access->user : STR(""));
    add_what(call, &line);
    add_end(call, &line);
    audit_end_line(call->core, &line);
}
