/* core/dispatch.h - from a message to its handler; between the files of core/ only. */
#ifndef TENON_CORE_DISPATCH_H
#define TENON_CORE_DISPATCH_H

#include "core/core_state.h"

/* Finds the session, checks version header and user, renews the expiry; sets call->session. 0 or
 * an error, explained. */
int dispatch_enter_session(struct core *core, struct call *call);
/* Takes one message of a call whose session is known: answers it, now or later. `read_err` and
 * `fault` are what rpc_read said (0 or ERR_PARAMS). */
void dispatch_message(struct core *core, struct call *call, int read_err,
                      const struct wire_fault *fault);
/* Runs the handler of a request, from its start; also of one that has returned CALL_LATER without
 * having begun anything. */
void dispatch_again(struct call *call);
/* Answers with `err` and what call_explain said. */
void dispatch_fail(struct call *call, int err);
/* Answers what rpc_read refused. */
void dispatch_fail_unread(struct call *call, int err, const struct wire_fault *fault);
bool dispatch_is_initialize(const struct rpc_message *message);

/* A batch (2025-03-26): core/batch.c. */
void batch_handle(struct core *core, struct call *call);
void batches_init(struct batches *batches);

/* Sends what call->out holds. */
void call_leave(struct call *call);
/* The transport has given its connection to a stream, and only frees. */
void call_leave_stream(struct call *call);
/* After call_open_result or call_write: closes the answer and sends it. */
void call_finish_written(struct call *call);

#endif
