/* net/headers.h - reads the values of the HTTP headers that decide about a request.
 *
 * Each function takes the value as it was sent; a zero byte must stand behind it (value.p[value.n]
 * is readable and 0). Nothing is copied or allocated. Written in re2c (headers.re). Any thread.
 */
#ifndef TENON_NET_HEADERS_H
#define TENON_NET_HEADERS_H

#include "base/str.h"

struct header_accept {
    bool json;
    bool sse;
};

/* RFC 9110 section 12.5.1: the most specific range decides, q=0 refuses. Absent or empty accepts
 * all. What is not a media range is skipped, because clients send all kinds of things. */
struct header_accept header_accept(struct str value);

/* application/json with any parameters, in any case. */
bool header_is_json(struct str content_type);

/* "name", "name:port", "[::1]:port" -> the name, brackets included. 0 or ERR_SYNTAX. */
int header_host(struct str host, struct str *ret_name);
/* "https://name:port" -> the name. ERR_SYNTAX also for "null". */
int header_origin(struct str origin, struct str *ret_name);
/* localhost, 127.x.y.z, [::1]. */
bool header_is_loopback(struct str name);
/* A dotted quad, or an address in brackets: a name that DNS cannot rebind. */
bool header_is_address(struct str name);

/* RFC 6750 section 2.1: "Bearer", one or more spaces, a token68. Of another scheme only its name is
 * looked at. */
enum header_scheme { HEADER_BAD_SCHEME, HEADER_OTHER_SCHEME, HEADER_BEARER };
enum header_scheme header_bearer(struct str authorization, struct str *ret_token);

/* One or more bytes 0x21..0x7e (MCP 2025-06-18, Session Management 1). */
bool header_is_visible(struct str value);

/* RFC 9112 section 6.2: digits only; a number past UINT64_MAX reads as that. 0 or ERR_SYNTAX. */
int header_content_length(struct str value, uint64_t *ret);
/* Is `token` one of the comma-separated tokens? Lower case token; any case in the value. */
bool header_has_token(struct str value, struct str token);

#endif
