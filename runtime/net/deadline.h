/* net/deadline.h - time-outs of connections, in constant time.
 *
 * libwebsockets keeps its timers in one sorted list with linear insertion, so ten thousand idle
 * connections with a timer each cost 280 microseconds per request (RUNTIME.md K11). All deadlines
 * of a class lie equally far ahead, so a queue in order of setting is a queue in order of expiry:
 * set appends, clear unlinks, the sweep looks at the head only. Belongs to one loop.
 */
#ifndef TENON_NET_DEADLINE_H
#define TENON_NET_DEADLINE_H

#include <stdint.h>

struct deadline_queue;

/* Zeroed is "not set". Part of the object it guards. */
struct deadline {
    struct deadline *prev, *next;
    struct deadline_queue *queue;
    int64_t at_ms;
};

struct deadline_queue {
    struct deadline *first, *last;
    int64_t after_ms;
    void (*expired)(struct deadline *deadline); /* is cleared already; may set or clear any */
};

/* Moves it here, to the end, from wherever it was. now_ms must not fall. */
void deadline_set(struct deadline_queue *queue, struct deadline *deadline, int64_t now_ms);
void deadline_clear(struct deadline *deadline);
/* Calls `expired` for each that is due. */
void deadline_sweep(struct deadline_queue *queue, int64_t now_ms);

#endif
