/* core/log_messages.h - notifications/message: what the server and its handlers tell a client.
 *
 * MCP 2025-06-18, Logging. The level of a session stands in its record, so it holds on all workers
 * at once: it is read for each message. Nothing below it is sent. Before a client sets one, "info"
 * holds. Loop only.
 */
#ifndef TENON_CORE_LOG_MESSAGES_H
#define TENON_CORE_LOG_MESSAGES_H

#include "core/call.h"
#include "generated/types.h"

/* On the call's stream, at most LOG_MESSAGES_PER_S in a second; how many were dropped is told
 * later. `data` is raw JSON (other text goes as a string); logger may be STR_NONE. */
void log_message_call(struct call *call, enum mcp_logging_level level, struct str logger,
                      struct str data);
/* Before the call's answer: tells what has not been told. */
void log_messages_end(struct call *call);
/* On the session's GET stream, if one is open. */
void log_message_session(struct core *core, struct str session_id, enum mcp_logging_level level,
                         struct str logger, struct str data);

#endif
