/* net/bus.h - the bus of core/bus.h over shared memory and an eventfd per worker.
 *
 * Both are made by the supervisor before it forks, so every worker of every life has them. A worker
 * joins when it begins; when it died the supervisor ends its part, so its epoch lives exactly as
 * long as its process. A worker is woken by its eventfd, and once only until it looks: whoever
 * finds the mark set already leaves the writing to who set it. One that dies between the two leaves
 * a mark without a wake, which the next look by the clock takes away.
 *
 * A process that is alone has a bus of one, which wakes itself by its loop.
 */
#ifndef TENON_NET_BUS_H
#define TENON_NET_BUS_H

#include "core/bus.h"
#include "core/loop.h"

#include <stdatomic.h>

/* Of one worker, in shared memory. */
struct bus_slot {
    _Atomic uint64_t epoch; /* 0: nobody */
    _Atomic uint32_t flags;
    _Atomic bool woken;     /* and has not looked yet */
    _Atomic bool has_marks; /* it had some: those below are not all 0 */
    _Atomic uint16_t asks[BUS_ASK_BUCKETS];
    _Atomic uint32_t marks[BUS_MARK_BUCKETS];
};

/* As one worker sees it. */
struct bus {
    struct loop_post post; /* of one that is alone; first, so that it finds its way back */
    struct loop *loop;     /* likewise; else NULL */
    struct bus_slot own;   /* likewise */
    struct bus_slot *slots;
    const int *wakes; /* eventfds by slot */
    uint32_t n, self;
    void (*on_wake)(void *ctx);
    void *ctx;
};

/* In a new worker: a new epoch, nothing of an earlier life. 0, or ERR_INTERNAL (no random bytes).
 */
int bus_join(struct bus *bus, struct bus_slot *slots, const int *wakes, uint32_t n, uint32_t self);
/* In the supervisor: the worker of this slot died. The others are woken, to see what it left. */
void bus_end(struct bus_slot *slots, const int *wakes, uint32_t n, uint32_t slot);

#endif
