/* cli_http.h - a small HTTP/1.1 client for `tenon doctor`.
 *
 * One connection per request, time-outs on everything, answers up to a limit. Understands
 * Content-Length, chunked bodies and bodies that end with the connection.
 */
#ifndef TENON_CLI_HTTP_H
#define TENON_CLI_HTTP_H

#include "base/arena.h"

struct http_url {
    char host[256];
    char port[8];
    char path[1024];
    bool tls;
    const char *ca; /* file of the authorities to trust; NULL: those of the system */
};

struct http_header {
    const char *name;
    struct str value;
};

struct http_reply {
    int status;
    struct str session_id, content_type; /* STR_NONE: no such header */
    struct str body;                     /* JSON_PADDING_BYTES zeros behind it */
};

/* "http://host[:port][/path]", or https. 0, or ERR_SYNTAX. */
int http_url_parse(const char *text, struct http_url *ret);
/* Reads a whole answer, an interim one before it included. Headers are slices of `text`. 0,
 * ERR_BAD_FRAMING (not HTTP, or cut off) or ERR_NO_MEMORY. */
int http_reply_parse(struct str text, struct arena *arena, struct http_reply *ret);
/* Sends one request and reads the whole answer. 0, or an error with one sentence in *ret_why. */
int http_request(const struct http_url *url, const char *method, const struct http_header *headers,
                 uint32_t n_headers, struct str body, struct arena *arena, struct http_reply *ret,
                 struct str *ret_why);

#endif
