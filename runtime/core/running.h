/* core/running.h - the calls of this worker that are not answered yet, and how they are stopped.
 *
 * A request that its method's row lets be cancelled stands here from before its handler runs until
 * it is answered. It is known by its session and the raw text of its id (1 and "1" are two ids),
 * which is how notifications/cancelled names it (MCP 2025-06-18, Cancellation). A cancelled call
 * gets no response, whatever its handler says afterwards: its stream ends, or its request is
 * answered without a body. All of that happens on the loop, so a call has one outcome. Loop only;
 * call_is_cancelled is for any thread.
 */
#ifndef TENON_CORE_RUNNING_H
#define TENON_CORE_RUNNING_H

#include "core/call.h"
#include "core/mail.h"

struct running {
    struct call *first; /* by call->running_next, the newest */
    uint32_t n;
    bool is_told; /* BUS_CALLS is set; taken away by the tick, not by every call */
};

void running_add(struct running *running, struct call *call);
bool running_remove(struct running *running, struct call *call); /* false: it is not there */
struct call *running_find(struct running *running, struct str session_id, struct str id);

/* Cancels it here, or tells the other workers that have calls. `then` is called once that is on its
 * way. Unknown ids, initialize, finished calls: nothing happens (C-02, C-04). */
void running_cancel(struct core *core, struct str session_id, struct str id, struct str reason,
                    mail_then_fn then, void *ctx);
/* The session ended: its calls here are cancelled. */
void running_end_session(struct core *core, struct str session_id);
/* It ended, on all workers: its calls, questions and streams end. `then` (may be NULL) as above. */
void session_over(struct core *core, struct str session_id, mail_then_fn then, void *ctx);
/* The server stops and its grace is over: all of them are cancelled. */
void running_stop(struct core *core);
/* About once a second: what of a session that is gone from the store still runs (it expired, or
 * somebody closed it from outside) is ended. */
void running_look(struct core *core);
void running_tick(struct core *core);

/* MAIL_CANCEL {"session", "id" (its raw text as a string)}, without the reason: what a client says
 * is not stored for a line of the log; MAIL_ENDED {"session"}: the calls, questions and streams of
 * the session here end. */
void running_take_cancel(struct core *core, struct worker_id from, const struct tape_node *letter);
void running_take_ended(struct core *core, struct worker_id from, const struct tape_node *letter);

/* Sets the flag, ends the questions of the call, and wakes the handler if it waits for something
 * (call->wake, which may answer: the call may be gone afterwards). `err` is why: ERR_CANCELLED,
 * ERR_SESSION_GONE, ERR_CLOSED (the server stops; then an error is its answer), ERR_UNAUTHORIZED
 * (core/access_watch.h; likewise). Once; the first
 * reason stays. */
void call_cancel(struct call *call, int err);
/* 0, or why the call should end. Any thread. */
int call_is_cancelled(const struct call *call);

#endif
