/* tests/lib/sse.h - reads streams of events as a client of tests, over tests/lib/http.h.
 *
 * One request, one connection. What comes is taken event by event, strictly: a line that the format
 * (WHATWG, Server-sent events) does not know, or half an event at the end, is SSE_BROKEN. A reply
 * of plain JSON reads as one event without an id. One thread per stream.
 */
#ifndef TENON_TESTS_SSE_H
#define TENON_TESTS_SSE_H

#include "tests/lib/http.h"

struct sse_stream {
    struct http_conn conn;
    int status; /* 0: no reply came */
    bool is_stream, is_chunked;
    size_t left; /* of the chunk, or of a body of known length */
    char *text;  /* decoded and not yet taken */
    size_t n, cap;
    bool ended; /* in good order */
    unsigned n_comments;
    char last_id[128]; /* of the last event that had one */
};

struct sse_event {
    char id[128]; /* "": none */
    char *data;   /* to be freed */
};

enum sse_got { SSE_EVENT = 1, SSE_END = 0, SSE_TIMEOUT = -1, SSE_BROKEN = -2 };

/* A POST of one message; false: no head came. `session` may be NULL. */
bool sse_post(struct sse_stream *s, uint16_t port, const char *session, const char *body);
/* `last_id` NULL: a new stream. */
bool sse_get(struct sse_stream *s, uint16_t port, const char *session, const char *last_id);
/* The next event that has data, within `ms`. SSE_END: the stream ended in good order; SSE_BROKEN
 * too if the connection did not. */
enum sse_got sse_next(struct sse_stream *s, int64_t ms, struct sse_event *ret);
void sse_close(struct sse_stream *s);

#endif
