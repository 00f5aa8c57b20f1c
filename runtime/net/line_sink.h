/* net/line_sink.h - the port core/sink.h over a stream of lines: what stdio has for streams.
 *
 * All sinks write to the one output, each message a line; ids are not shown, since a client that
 * lost its server cannot come back to it. None of them is ever full: while output waits no more
 * input is read (net/stdio.c), which is what holds a client back.
 */
#ifndef TENON_NET_LINE_SINK_H
#define TENON_NET_LINE_SINK_H

#include "core/sink.h"

struct line_sinks;

struct line_sink {
    struct sink sink; /* first */
    struct line_sinks *all;
    struct line_sink *next, **at;
};

struct line_sinks {
    void (*put)(void *ctx, struct str message);
    bool (*is_written)(void *ctx);
    void *ctx;
    struct line_sink always; /* for what belongs to no call; never ends */
    struct line_sink *first;
};

/* is_written: has all that was put left the process? */
void line_sinks_init(struct line_sinks *sinks, void (*put)(void *ctx, struct str message),
                     bool (*is_written)(void *ctx), void *ctx);
/* One more; NULL: no memory. */
struct sink *line_sinks_open(struct line_sinks *sinks);
/* The output is gone: so are they. */
void line_sinks_lose(struct line_sinks *sinks);

#endif
