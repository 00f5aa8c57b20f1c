/* wire/rpc.h - the JSON-RPC 2.0 envelope (MCP 2025-06-18, Base Protocol, Messages).
 *
 * Reads one message and says what it is; params, result and error stay raw spans that the
 * dispatcher reads by table. Ids keep their raw text, so that they are echoed exactly.
 * By decision: "params": null reads as absent; a duplicate member is ERR_REQUEST; an id that is
 * mathematically an integer ("1.0") is accepted and echoed as sent.
 */
#ifndef TENON_WIRE_RPC_H
#define TENON_WIRE_RPC_H

#include "wire/json_read.h"

enum rpc_kind { RPC_REQUEST, RPC_NOTIFICATION, RPC_RESULT, RPC_ERROR, RPC_BATCH };

#define RPC_KNOWN_MAX 4 /* members of params whose ends are remembered */

struct rpc_message {
    enum rpc_kind kind;
    struct str id;             /* raw JSON text; STR_NONE for notifications and batches */
    struct str method;         /* decoded */
    struct str params;         /* raw object, or STR_NONE */
    struct str meta;           /* raw params._meta object, or STR_NONE */
    struct str progress_token; /* raw, or STR_NONE */
    struct str payload;        /* raw result or error */
    struct str body; /* the whole text; RPC_BATCH: the array, to be walked by rpc_batch_next */
    uint32_t n_known;
    /* Objects and arrays right under params, for rpc_parse_params. */
    struct str known[RPC_KNOWN_MAX];
};

/* 0; ERR_PARSE (not JSON); ERR_REQUEST (not a message; ret->id is set if one could be read);
 * ERR_PARAMS (params._meta or its progressToken has the wrong type; ret is complete). */
int rpc_read(struct str text, struct arena *arena, struct rpc_message *ret,
             struct wire_fault *fault);
/* Reads the message's params by `type`, absent ones as {}. As wire_parse, the fault's pointer being
 * relative to params; but the objects that rpc_read has validated and that stay raw (arguments,
 * _meta) are not gone through again. The text has to be as rpc_read saw it. */
int rpc_parse_params(const struct wire_type *type, const struct rpc_message *message,
                     struct arena *arena, void *ret, struct wire_fault *fault);
/* Walks the members of a batch: *rest starts as batch.body. 1: *ret is the next member's span;
 * 0: no more. The batch as a whole was validated by rpc_read. */
int rpc_batch_next(struct str *rest, struct str *ret);

/* Writers. `id` is raw text; STR_NONE is written as null in an error, as the JSON-RPC text wants
 * it (MCP's schema before 2025-11-25 has no place for it: acceptance Q-02). */
void rpc_write_result(struct buf *out, struct str id, struct str result_json);
void rpc_open_result(struct buf *out, struct str id); /* ...then the result object, then: */
void rpc_close(struct buf *out);
/* A request or notification (id STR_NONE) of ours: ...then the params object, then rpc_close. */
void rpc_open_call(struct buf *out, struct str id, const char *method);
/* data_json: raw, or STR_NONE. */
void rpc_write_error(struct buf *out, struct str id, int code, struct str message,
                     struct str data_json);
/* The data member for a fault: {"pointer":..,"reason":..,"expected":..,"offset":..}. `prefix` goes
 * before the pointer ("/params"). */
void rpc_write_fault(struct buf *out, const char *prefix, const struct wire_fault *fault);

#endif
