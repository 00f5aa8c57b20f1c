/* tests/wire/wire_text.h - the request side of a transcript: lines behind `>` become bytes.
 *
 * A `>` line is a request line ("GET /mcp"), a header ("Name: value"; "-Name" leaves a usual one
 * out), or else a line of the body. Nothing given means: POST /mcp with Content-Type, Accept, the
 * session's id and version, and a right Content-Length. A `>>` line is a line of the body that
 * ends with CRLF, for chunked framing. In all of them $X stands for what a reply gave,
 * $repeat(N,TEXT) for TEXT N times, and $hex(FF00) for bytes.
 */
#ifndef TENON_TESTS_WIRE_TEXT_H
#define TENON_TESTS_WIRE_TEXT_H

#include "base/str.h"
#include "tests/lib/match.h"

#include <stdint.h>

struct wire_request {
    char method[16];
    char target[256];
    char minor;       /* of HTTP/1.x */
    struct buf extra; /* headers that the transcript gives, with CRLF */
    struct buf names; /* "\nname\n" of those headers and of the left out, lower case */
    struct buf body;
    bool has_body;
    bool begun; /* a line was added */
};

/* What a request gets unless it says otherwise. */
struct wire_usual {
    uint16_t port;
    const char *session; /* NULL: no such header */
    const char *version; /* NULL: no such header */
};

void wire_request_init(struct wire_request *r);
void wire_request_done(struct wire_request *r);
/* `line` is what stands behind "> ". */
void wire_request_add(struct wire_request *r, const char *line, const struct match_vars *vars);
void wire_request_add_raw(struct wire_request *r, const char *line, const struct match_vars *vars);
/* Appends the whole request. */
void wire_request_write(struct wire_request *r, const struct wire_usual *usual, struct buf *out);
/* Appends `text` with its $-words replaced. */
void wire_expand(const char *text, const struct match_vars *vars, struct buf *out);
/* "Name:" or "-Name" at the start of a line. */
bool wire_is_header(const char *line);

#endif
