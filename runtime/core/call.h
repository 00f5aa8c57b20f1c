/* core/call.h - one message in flight, from the transport to its answer.
 *
 * A transport (net/http, net/stdio) makes a call with call_new, fills the inbound part, and hands
 * it to core_handle. Core answers exactly once by `finish`, at once or later, always on the loop.
 * A call that says more than its answer (progress, log messages, questions) does so by call_send;
 * then all of it goes out as a stream (core/stream.h), the answer last.
 * If the client went away meanwhile the transport sets `orphaned`; the work goes on (a dropped
 * connection is not a cancellation, MCP 2025-06-18 Transports) and `finish` is still called. Only a
 * long search stops: it changes nothing, and nobody could fetch what it finds.
 * The transport frees the call, with its arena, after it has sent the answer.
 */
#ifndef TENON_CORE_CALL_H
#define TENON_CORE_CALL_H

#include "base/arena.h"
#include "core/access.h"
#include "schema/json_schema.h"
#include "wire/rpc.h"

struct catalog;
struct core;
struct live;
struct session;
struct sink;
struct stream;
struct mcp_method_row;

enum call_verb { CALL_POST, CALL_GET, CALL_DELETE };
enum call_profile { PROFILE_APPLICATION, PROFILE_OPERATIONS };

struct call_inbound {
    enum call_verb verb;
    enum call_profile profile;
    bool stdio; /* one implicit session; headers do not exist */
    bool accepts_json;
    bool accepts_sse;
    struct str body;       /* in the arena, JSON_PADDING_BYTES zeros behind it */
    struct str session_id; /* Mcp-Session-Id as sent; STR_NONE: no such header */
    struct str version;    /* MCP-Protocol-Version as sent; STR_NONE: no such header */
    struct str last_event; /* Last-Event-ID as sent (GET); STR_NONE: no such header */
    struct access *access; /* who asks: a reference of the call's own; NULL: nobody may */
    struct str client;     /* where he asks from: an address; STR_NONE on stdio */
};

struct call_answer {
    int http_status;        /* 200, 202, 204, 4xx, 5xx */
    struct str session_id;  /* to be sent as Mcp-Session-Id; STR_NONE: not */
    struct buf body;        /* JSON; empty: no body and no Content-Type */
    const char *why;        /* of 401: what is wrong with the credential (access_identify); NULL */
    uint32_t retry_after_s; /* of 429 and 503; 0: 1 */
};

struct call {
    struct arena arena;
    struct call_inbound in;
    struct call_answer out;
    struct rpc_message message;
    void (*finish)(struct call *call); /* set by the transport; on the loop, exactly once */
    /* Turns the answer into a stream: its head goes out at once, and from then on the connection is
     * the sink's. `finish` is called all the same, later, and then only frees. NULL: it cannot (no
     * memory, the client is gone). Set by the transport; NULL: it has no streams. Once, on the
     * loop, before the answer. */
    struct sink *(*open_sink)(struct call *call);
    void *transport;                  /* the transport's own */
    struct session *session;          /* set by core once known */
    const struct mcp_method_row *row; /* of a request being handled */
    void *params, *result;            /* which its handler gets */
    struct core *core;
    struct catalog *catalog; /* the snapshot that this call works by, or NULL */
    /* of the tool that is called: what its result must fit, and its name */
    const struct json_schema *output;
    struct str tool;
    struct call *batch; /* the batch this one is a member of, or NULL */
    struct call *next;
    uint32_t n_waiting;    /* of a batch: members without an answer */
    struct stream *stream; /* once a message went out before the answer */
    struct live *live;     /* of a call whose handler may talk to the client; NULL: it does not */
    struct {
        int64_t since_ms;
        uint32_t n, n_dropped;
    } logged;                        /* core/log_messages.h: in this second; told of later */
    _Atomic int cancelled;           /* core/running.h: why it should end, or 0 */
    void (*wake)(struct call *call); /* wakes the handler, which waits; loop; NULL: it does not */
    struct call *running_next, **running_at; /* core/running.h */
    _Atomic bool orphaned;                   /* read by handler threads too */
    bool is_admitted;                        /* core/admission.h: it was let through */
    uint64_t counted;                        /* likewise: among what runs of its session; 0: not */
    bool is_renewing, is_answered; /* the answer waits while the session is being renewed */
    bool is_tool_error;            /* the result says isError */
    int64_t began_us;              /* monotonic */
    int err;                       /* that it was answered by, or 0 */
    bool is_silent;                /* cancelled: it got no answer */
    /* what call_explain said about the error to come */
    struct str explanation, explanation_data;
};

struct call *call_new(struct core *core); /* NULL: no memory */
void call_free(struct call *call);
/* Is nobody there any more to take its answer, or that of the batch it is in? Any thread. */
bool call_is_orphaned(const struct call *call);

/* What a generated handler may return besides 0 and errors: the answer comes later by
 * call_done(call, result) or call_fail(call, err, ...). */
#define CALL_LATER 1
/* ... or the handler wrote the result's JSON itself, into what call_open_result gave it. */
#define CALL_WRITTEN 2

/* Starts the answer; the caller appends one JSON object. */
struct buf *call_open_result(struct call *call);

/* For handlers that returned CALL_LATER. On the loop, once. `result` is the struct that the
 * method's result table writes. */
void call_done(struct call *call, const void *result);
/* Its first half: writes the answer, which call_finish_written then sends. Also on a handler
 * thread, as long as nobody else has the call. 0, or an error for call_fail. */
int call_write(struct call *call, const void *result);
/* Answers with a JSON-RPC error: code and text from `err` unless message says better; data_json
 * raw or STR_NONE. */
void call_fail(struct call *call, int err, struct str message, struct str data_json);

/* Sends a message (one JSON object; copied) to the client before the answer, on the call's own
 * stream, which begins with the first. 0, ERR_NO_STREAM (the client does not accept one, or the
 * call is a member of a batch), ERR_NO_MEMORY. On the loop. */
int call_send(struct call *call, struct str message);
/* The answer that is none: of a call that was cancelled. On the loop, instead of call_done. */
void call_end(struct call *call);

/* For a handler that returns an error: what to say beyond err_text. Returns `err`. */
int call_explain(struct call *call, int err, struct str message, struct str data_json);
/* The same with "what: name", the name cut where it is long. */
int call_explain_name(struct call *call, int err, const char *what, struct str name);
/* The data member for invalid params: {"pointer":..,"reason":..,"expected":..}, in the call's
 * arena; STR_NONE without memory. `prefix` goes before the pointer. */
struct str call_fault_data(struct call *call, const char *prefix, const char *pointer,
                           const char *reason, const char *expected);
/* The same for several faults: {"errors":[{"pointer":..,"keyword":..,"expected":..}, ..]}. */
struct str call_errors_data(struct call *call, const char *prefix,
                            const struct schema_faults *faults);
/* Answers without a body: 202, 204. */
void call_accept(struct call *call, int http_status);

#endif
