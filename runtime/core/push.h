/* core/push.h - messages to a client that belong to none of its requests.
 *
 * list_changed, log messages of the server, requests of our own outside calls. They go on the GET
 * stream that was opened last, and on no other (MCP 2025-06-18, Transports, Multiple Connections);
 * on stdio, to stdout. Where no stream is open, the message waits in the store until one is opened
 * or its time is over. Any worker may push; the worker that holds the session's newest stream takes
 * messages out of the store in the commit that writes their frames. Loop only.
 */
#ifndef TENON_CORE_PUSH_H
#define TENON_CORE_PUSH_H

#include "core/mail.h"

struct core;

/* `wait_ms`: how long it may wait for a stream; 0: it is dropped if there is none. Copied. */
void push_send(struct core *core, struct str session_id, struct str message, int64_t wait_ms);

/* MAIL_PUSH {"session"} */
void push_take(struct core *core, struct worker_id from, const struct tape_node *letter);

#endif
