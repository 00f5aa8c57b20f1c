/* net/reply.h - writes one HTTP/1.1 response, head and body in one piece.
 *
 * One piece because one write instead of two is a third of the whole request (PEERS.md section 3).
 */
#ifndef TENON_NET_REPLY_H
#define TENON_NET_REPLY_H

#include "base/str.h"

/* WWW-Authenticate (RFC 6750 section 3, RFC 9728 section 5.1). */
struct challenge {
    const char *metadata_url;
    const char *error; /* "invalid_token", ...; NULL: nothing was sent that could be wrong */
    const char *description;
    const char *scope;
};

struct reply {
    int status;
    bool close;                        /* Connection: close */
    bool head_only;                    /* says how long the body is, and sends none */
    uint32_t retry_after_s;            /* of 429 and 503; 0: 1 */
    const struct challenge *challenge; /* NULL: none */
    bool preflight;                    /* CORS: methods and headers too */
    struct str allowed_origin;         /* STR_NONE: no CORS headers */
    const char *allow;                 /* Allow header, or NULL */
    struct str session_id;             /* Mcp-Session-Id, or STR_NONE */
    struct str body;                   /* JSON; empty: none, and no Content-Type */
};

/* Appends it to `out`; a 429 or 503 says when to try again (check out->failed). */
void reply_write(struct buf *out, const struct reply *reply);
/* The head of a stream of events; one that is not chunked ends with the connection. */
void reply_write_stream_head(struct buf *out, struct str allowed_origin, bool is_chunked);
/* The JSON-RPC error object for an error found before the message was read: its id is null. */
void reply_write_error(struct buf *out, int err);

#endif
