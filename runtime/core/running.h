/* core/running.h - the calls of this worker that are not answered at once, and how they are
 * stopped.
 *
 * A call that a handler thread works for, or that waits for a client, stands here from the moment
 * its handler returned CALL_LATER. It is known by its session and the raw text of its id (1 and "1"
 * are two ids), which is how notifications/cancelled names it (MCP 2025-06-18, Cancellation). A
 * cancelled call gets no response: its stream ends, or its request is answered without a body.
 * Loop only; call_is_cancelled is for any thread.
 */
#ifndef TENON_CORE_RUNNING_H
#define TENON_CORE_RUNNING_H

#include "core/call.h"
#include "core/mail.h"

struct running {
    struct call *first; /* by call->running_next */
    uint32_t n;
};

void running_add(struct running *running, struct call *call);
void running_remove(struct running *running, struct call *call); /* nothing if it is not there */
struct call *running_find(struct running *running, struct str session_id, struct str id);

/* Cancels it here, or tells the other workers that have calls. `then` is called once that is on its
 * way. Unknown ids, initialize, finished calls: nothing happens (C-02, C-04). */
void running_cancel(struct core *core, struct str session_id, struct str id, struct str reason,
                    void (*then)(void *ctx, int err), void *ctx);
/* The session ended: its calls here are cancelled. The other workers are told by MAIL_ENDED. */
void running_end_session(struct core *core, struct str session_id);

/* MAIL_CANCEL {"session", "id" (its raw text as a string), "reason"}; MAIL_ENDED {"session"}: the
 * calls, questions and streams of the session here end. */
void running_take_cancel(struct core *core, struct worker_id from, const struct tape_node *letter);
void running_take_ended(struct core *core, struct worker_id from, const struct tape_node *letter);

/* Sets the flag, and wakes the handler if it waits for something (call->wake). `err` is why:
 * ERR_CANCELLED (no response), ERR_SESSION_GONE. Once; the first reason stays. */
void call_cancel(struct call *call, int err);
/* 0, or why the call should end. Any thread. */
int call_is_cancelled(const struct call *call);

#endif
