/* net/chunked.h - takes the chunked framing off a request body (RFC 9112 section 7.1).
 *
 * libwebsockets hands over the raw framing (RUNTIME.md, section A). Input comes in any pieces; the
 * body goes into a buffer whose limit bounds it, and everything around it is bounded here: sizes
 * to 15 hex digits, extensions and trailers together to CHUNKED_EXTRA_BYTES. Lines end with CRLF,
 * nothing else: what two parsers may read in two ways is refused.
 */
#ifndef TENON_NET_CHUNKED_H
#define TENON_NET_CHUNKED_H

#include "base/str.h"

#define CHUNKED_EXTRA_BYTES 4096

enum chunked_state {
    CHUNKED_SIZE_FIRST, /* the first digit of a size */
    CHUNKED_SIZE,
    CHUNKED_EXTENSION,
    CHUNKED_SIZE_LF,
    CHUNKED_DATA,
    CHUNKED_DATA_CR,
    CHUNKED_DATA_LF,
    CHUNKED_TRAILER, /* at the start of a trailer line */
    CHUNKED_TRAILER_TEXT,
    CHUNKED_TRAILER_LF,
    CHUNKED_END_LF,
    CHUNKED_DONE,
    CHUNKED_BAD,
};

/* Zeroed is ready. */
struct chunked {
    enum chunked_state state;
    uint64_t left;   /* bytes of this chunk */
    uint32_t digits; /* of this size */
    uint32_t extra;  /* bytes of extensions and trailers so far */
};

/* Appends what `in` holds of the body to *body. 1: the body is complete, *ret_used bytes of `in`
 * belonged to it; 0: more is needed; ERR_BAD_FRAMING; ERR_TOO_LARGE (body->limit). A failed one
 * stays failed. */
int chunked_feed(struct chunked *c, struct str in, struct buf *body, uint32_t *ret_used);

#endif
