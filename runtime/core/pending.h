/* core/pending.h - requests that we sent to a client, and who waits for the answers.
 *
 * MCP 2025-06-18: Sampling, Elicitation, Roots; Lifecycle, Timeouts. A request's id is
 * "slot.epoch.random", so that an answer which another worker received finds the one that waits
 * (MAIL_ANSWER). It is asked only of a client that declared the capability. Every outcome is one
 * call of `done`: the client's result, checked by the revision's table; its error; ERR_ANSWER (a
 * result that is not what the method or the asked-for schema allows); ERR_TIMED_OUT (then the
 * client gets notifications/cancelled); ERR_CANCELLED or ERR_SESSION_GONE (of the call or session);
 * ERR_BUSY at once beyond PENDING_MAX of a session, on all workers together. A late, doubled or
 * forged answer, or one of another session, changes nothing. A dropped connection changes nothing
 * either: the stream can be resumed. Loop only.
 */
#ifndef TENON_CORE_PENDING_H
#define TENON_CORE_PENDING_H

#include "core/call.h"
#include "core/mail.h"
#include "generated/methods.h"

struct pending;

struct pending_answer {
    int err;            /* 0: result is there; ERR_REMOTE: the client answered by an error */
    struct str result;  /* raw JSON object */
    int code;           /* of ERR_REMOTE */
    struct str message; /* of ERR_REMOTE; of ERR_ANSWER: what was wrong */
};

struct pending_ask {
    enum mcp_method method; /* elicitation/create, roots/list, sampling/createMessage */
    struct str params;      /* raw JSON object of the request; is checked by the revision's table */
    int64_t timeout_ms;     /* 0: the configured one */
    /* Once, on the loop; not before pending_* returned. What `answer` points to is gone after it.
     */
    void (*done)(void *ctx, const struct pending_answer *answer);
    void *ctx;
};

#define PENDING_BUCKETS 256

struct pendings { /* all that wait, by session */
    struct pending *buckets[PENDING_BUCKETS];
    uint32_t n;
    uint64_t serial; /* of the newest */
    int64_t next_ms; /* none is over before */
};

/* On the call's own stream. 0 (done will be called), or ERR_CAPABILITY (the client did not declare
 * it, or its revision has no such request), ERR_PARAMS (not what the revision allows), ERR_BUSY,
 * ERR_NO_STREAM (the client takes no stream), ERR_NO_MEMORY. */
int pending_ask_call(struct call *call, const struct pending_ask *ask);
/* Outside a call: on the session's GET stream, now or when one is opened. */
int pending_ask_session(struct core *core, struct str session_id, const struct pending_ask *ask);

/* What a client POSTed that is no request or notification. Accepts the call (202), when the letter
 * to the waiting worker is written. */
void pending_answered(struct core *core, struct call *call);
/* The call or session ended: what waits for it is told. */
void pending_end_call(struct core *core, struct call *call, int err);
void pending_end_session(struct core *core, struct str session_id);
/* MAIL_ANSWER {"session", "body" (the whole message as a string)} */
void pending_take_answer(struct core *core, struct worker_id from, const struct tape_node *letter);
void pending_tick(struct core *core); /* time-outs */
/* The core goes: what still waits is told ERR_CLOSED. */
void pending_close(struct core *core);

#endif
