/* net/event_stream.h - the bytes of a response of type text/event-stream, as they are made and
 * taken.
 *
 * Events are framed when they come (WHATWG HTML, Server-sent events; RFC 9112 section 7.1) and wait
 * in one buffer, which the connection takes from whenever it can write: many events, one write. The
 * buffer is bounded, and there is none while nothing waits, so that thousands of idle streams cost
 * next to nothing. Knows nothing of connections.
 *
 *   id: 0123456789abcdef.1\n
 *   data: {"jsonrpc":"2.0",..}\n
 *   \n
 */
#ifndef TENON_NET_EVENT_STREAM_H
#define TENON_NET_EVENT_STREAM_H

#include "base/str.h"

/* Zeroed but for is_chunked is ready. */
struct event_stream {
    bool is_chunked; /* else the end of the connection ends the stream */
    bool is_full;    /* since the last event found no room behind it */
    struct buf bytes;
    size_t taken; /* of bytes */
};

/* What goes before the first event: the head of the response. */
void event_stream_add_head(struct event_stream *s, struct str head);
/* An event; STR_NONE: without an id. Line ends within the message, which as JSON has them between
 * tokens only, become blanks. It is always taken; false when there should be no more until
 * event_stream_drained. */
bool event_stream_add(struct event_stream *s, struct str id, struct str message);
/* A comment: says that somebody is still there. */
void event_stream_add_comment(struct event_stream *s);
void event_stream_add_end(struct event_stream *s);
/* Without memory for one of these the stream has a hole and must be broken off. */
bool event_stream_is_broken(const struct event_stream *s);

size_t event_stream_unsent(const struct event_stream *s);
/* What is next, at most so much of it; valid until something is added. */
struct str event_stream_next(const struct event_stream *s, size_t most);
void event_stream_take(struct event_stream *s, size_t n);
/* True once after it was full, when little waits. */
bool event_stream_drained(struct event_stream *s);
void event_stream_done(struct event_stream *s);

#endif
