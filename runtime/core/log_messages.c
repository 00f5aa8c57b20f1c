/* core/log_messages.c - see log_messages.h.
 *
 * A call says at most LOG_MESSAGES_PER_S in a second; what it says beyond is counted, and the count
 * told when it may speak again (MCP 2025-06-18, Logging, Implementation Considerations).
 */
#include "core/log_messages.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "core/capability.h"
#include "core/core_state.h"
#include "generated/methods.h"
#include "wire/json_write.h"

#include <string.h>

/* ---- Writing -------------------------------------------------------------------------------- */

/* Text that is no JSON goes as a string: nothing that a handler says breaks a message. */
static struct str checked_data(struct str data, struct arena *arena)
{
    struct str value;
    struct wire_fault fault;
    struct buf quoted = {0};
    char *copy = arena_zalloc(arena, (size_t)data.n + JSON_PADDING_BYTES);
    if (!copy)
        return STR_NONE;
    if (data.n)
        memcpy(copy, data.p, data.n);
    if (wire_skip((struct str){copy, data.n}, &value, NULL, &fault) == 0)
        return value;
    json_write_str(&quoted, data);
    value = arena_buf(arena, &quoted);
    buf_done(&quoted);
    return value;
}

static int write_message(const struct mcp_method_row *row, enum mcp_logging_level level,
                         struct str logger, struct str data, struct arena *arena, struct buf *out)
{
    struct mcp_logging_message_notification_params params = {.has = 0};
    struct str value = checked_data(data, arena);
    if (!value.p)
        return ERR_NO_MEMORY;
    MCP_SET(&params, level, level);
    MCP_SET(&params, data, value);
    if (logger.p)
        MCP_SET(&params, logger, logger);
    rpc_open_call(out, STR_NONE, row->name);
    int err = wire_write(row->params, &params, out);
    rpc_close(out);
    return err ? err : out->failed ? ERR_NO_MEMORY : 0;
}

/* Does the session, as it is now, want to hear it? */
static bool is_wanted(struct core *core, struct str session_id, enum mcp_logging_level level,
                      struct arena *arena, const struct mcp_method_row **ret)
{
    const struct session *session;
    if (session_get(core, session_id, arena, &session) < 0)
        return false;
    int32_t least = session->record.log_level;
    *ret = mcp_method_row((enum mcp_revision)session->revision, MCP_NOTIFICATIONS_MESSAGE);
    return *ret && level >= (least < 0 ? MCP_LOGGING_LEVEL_INFO : (enum mcp_logging_level)least);
}

/* What a session is told, or nothing (out stays empty). */
static void make(struct core *core, struct str session_id, enum mcp_logging_level level,
                 struct str logger, struct str data, struct buf *out)
{
    const struct mcp_method_row *row;
    struct arena arena;
    arena_init(&arena, 0);
    int err = is_wanted(core, session_id, level, &arena, &row)
                  ? write_message(row, level, logger, data, &arena, out)
                  : 0;
    arena_done(&arena);
    if (err == 0)
        return;
    log_error("a log message to a client was lost: %s", err_text(err));
    buf_done(out);
}

/* ---- Of calls ------------------------------------------------------------------------------- */

void log_messages_end(struct call *call)
{
    struct buf text = {0}, message = {0};
    if (call->logged.n_dropped == 0)
        return;
    buf_printf(&text, "{\"dropped\":%u}", call->logged.n_dropped);
    call->logged.n_dropped = 0;
    make(call->core, call->session->record.id, MCP_LOGGING_LEVEL_WARNING, STR("log"),
         buf_str(&text), &message);
    if (message.n)
        call_send(call, buf_str(&message));
    buf_done(&message);
    buf_done(&text);
}

static bool may_speak(struct call *call)
{
    int64_t now_ms = clock_mono_ms();
    if (now_ms - call->logged.since_ms >= 1000) {
        call->logged.since_ms = now_ms;
        call->logged.n = 0;
        log_messages_end(call);
    }
    if (call->logged.n < LOG_MESSAGES_PER_S)
        return call->logged.n++, true;
    call->logged.n_dropped++;
    return false;
}

void log_message_call(struct call *call, enum mcp_logging_level level, struct str logger,
                      struct str data)
{
    struct buf message = {0};
    if (!call->session || call->is_answered)
        return;
    make(call->core, call->session->record.id, level, logger, data, &message);
    if (message.n && may_speak(call))
        call_send(call, buf_str(&message)); /* a client that takes no stream goes without */
    buf_done(&message);
}

/* ---- Of the server -------------------------------------------------------------------------- */

void log_message_session(struct core *core, struct str session_id, enum mcp_logging_level level,
                         struct str logger, struct str data)
{
    struct buf message = {0};
    make(core, session_id, level, logger, data, &message);
    if (message.n)
        push_send(core, session_id, buf_str(&message), 0);
    buf_done(&message);
}
