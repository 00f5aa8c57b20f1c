/* tests/lib/http.h - a small blocking HTTP/1.1 client for tests, on raw sockets.
 *
 * It sends exactly the bytes it is given and hides nothing of the reply, so that tests can send
 * what no real client would. Every wait ends after HTTP_WAIT_MS. One thread per connection.
 */
#ifndef TENON_TESTS_HTTP_H
#define TENON_TESTS_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_WAIT_MS 10000

struct http_conn {
    int fd;   /* -1: not open */
    char *in; /* received and not yet taken */
    size_t n, cap;
    bool ended; /* the server has closed its side */
};

struct http_reply {
    int status; /* 0: none came */
    char *head; /* status line and headers, NUL behind */
    char *body; /* decoded, NUL behind */
    size_t body_n;
    bool closes; /* the server says or shows that the connection ends here */
};

enum http_got {
    HTTP_REPLY = 1,
    HTTP_END = 0,      /* the server closed without a (whole) reply */
    HTTP_TIMEOUT = -1, /* nothing more came */
    HTTP_GARBAGE = -2, /* what came is no HTTP reply */
};

/* What becomes of a connected socket of this thread: the one to use instead. NULL: itself. */
extern _Thread_local int (*http_wrap)(int fd);
/* To 127.0.0.1. false: refused. */
bool http_open(struct http_conn *c, uint16_t port);
void http_close(struct http_conn *c);
/* RST instead of FIN. */
void http_abort(struct http_conn *c);
/* false: the server no longer takes it (what it has sent can still be read). */
bool http_send(struct http_conn *c, const void *p, size_t n);
/* The same, one byte per segment. */
bool http_send_bytes(struct http_conn *c, const void *p, size_t n);
/* What has arrived is appended to c->in, waiting for it so long. 1: more; 0: the end; -1: nothing.
 */
int http_receive(struct http_conn *c, int64_t ms);
/* The next reply, also a 1xx. `head_only`: of a HEAD request. Free it by http_free. */
enum http_got http_read(struct http_conn *c, bool head_only, struct http_reply *ret);
void http_free(struct http_reply *r);
/* Waits until the server closes the connection; false: it did not, or sent more. */
bool http_wait_end(struct http_conn *c);
/* Value of a header (last one of that name) without blanks around; NULL: absent. Valid until the
 * next call in this thread. */
const char *http_header(const struct http_reply *r, const char *name);

/* Where http_post goes to in this thread: "/mcp", unless it is set. */
extern _Thread_local const char *http_path;
/* The token that all requests of this thread are sent with; NULL: none. */
extern _Thread_local const char *http_token;
/* The header for it, or "". Valid until the next call in this thread. */
const char *http_authorization(void);
/* A POST of `body` to http_path with the usual headers, read to its end; session may be NULL. */
enum http_got http_post(struct http_conn *c, const char *session, const char *version,
                        const char *body, struct http_reply *ret);
/* initialize and notifications/initialized on this connection. Writes the session id, "" if the
 * server gives none. false: refused. */
bool http_handshake(struct http_conn *c, const char *version, char ret_session[128]);

#endif
