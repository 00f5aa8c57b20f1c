/* core/sink.h - a connection that takes a stream of messages: a port, implemented in net/.
 *
 * An HTTP response of type text/event-stream, or the standard output of a stdio client. Core sends
 * messages into it while there is room; it is told when there is room again, and when the client is
 * gone. What the client did not get it can ask for again by the id of the last event that it saw,
 * so a sink may be lost at any moment and owes nobody anything. Loop only.
 */
#ifndef TENON_CORE_SINK_H
#define TENON_CORE_SINK_H

#include "base/str.h"

struct sink;

struct sink_ops {
    /* Takes a copy of the message (one JSON object), as an event of this id (STR_NONE: none; stdio
     * shows none). False: it was taken, but there is no room for more until `ready`. What is sent
     * all the same may be lost, with the connection. Never calls back. */
    bool (*send)(struct sink *sink, struct str id, struct str message);
    /* What was sent goes out, then the stream ends in good order. The sink is gone. Never calls
     * back. */
    void (*end)(struct sink *sink);
    /* Has the client's side of the connection taken all that was sent (its kernel acknowledged it)?
     * NULL: there is no telling, and it counts as taken. Never calls back. */
    bool (*is_taken)(struct sink *sink);
};

struct sink {
    const struct sink_ops *ops;
    /* Set by core before it returns to the loop. Both may send, end, or do nothing. */
    void (*ready)(struct sink *sink); /* after a send that returned false */
    void (*lost)(struct sink *sink);  /* the client went away or took nothing for too long; the sink
                                         is gone when this returns */
    void *ctx;                        /* core's own */
};

/* On stdio: a sink per call (call->open_sink), and one that is always there for what belongs to no
 * call, core->push_sink (core_push_to). Both write lines to stdout and always take the
 * message: a client that lets too much pile up is taken for gone. */

static inline bool sink_send(struct sink *sink, struct str id, struct str message)
{
    return sink->ops->send(sink, id, message);
}

static inline void sink_end(struct sink *sink)
{
    sink->ops->end(sink);
}

#endif
