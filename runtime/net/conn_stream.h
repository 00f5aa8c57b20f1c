/* net/conn_stream.h - a connection whose response is a stream: the port core/sink.h over HTTP.
 *
 * From open to end the connection is core's to send into, whatever becomes of the call. A reader
 * that takes nothing for send_stall_ms is cut. Every heartbeat_ms a comment goes out, and a peer
 * that has confirmed nothing from one to the next is dead: TCP itself would go on for a quarter of
 * an hour.
 *
 * Part of the fence, as conn.h.
 */
#ifndef TENON_NET_CONN_STREAM_H
#define TENON_NET_CONN_STREAM_H

#include "core/sink.h"
#include "net/conn.h"
#include "net/event_stream.h"

struct conn_stream {
    struct sink sink; /* first */
    struct conn *conn;
    struct event_stream events;
    struct deadline beat;
    bool listens;  /* the answer to a GET */
    bool ended;    /* core has no sink any more */
    bool is_asked; /* to be told when it can write */
    bool is_new;   /* nothing was written yet */
};

/* Makes the connection of this exchange a stream. NULL: no memory, or a GET while the server stops.
 */
struct sink *conn_stream_open(struct exchange *exchange);
/* Writes what it can. 0: go on; -1: close; 1: all of a stream that ended was sent. */
int conn_stream_write(struct conn *conn);
/* The connection is about to be closed: what a stream that ended still has goes first. */
void conn_stream_hurry(struct conn *conn);
/* The server stops: streams of GET end. */
void conn_stream_stop_listening(struct fence *fence);
/* The connection goes, or the stream is over. Tells core if it does not know. */
void conn_stream_free(struct conn *conn);

void conn_stream_set_deadlines(struct fence *fence);

#endif
