/* core/loop.h - what core needs from the event loop it runs on: a port, implemented in net/.
 *
 * One loop per worker process; all of core runs on it, except what `loop_offload` takes to a
 * handler thread. Nothing here blocks.
 */
#ifndef TENON_CORE_LOOP_H
#define TENON_CORE_LOOP_H

#include <stdint.h>

struct loop;

/* A unit of work for a handler thread. The caller owns the memory until `done` was called. */
struct loop_work {
    void (*run)(struct loop_work *work);  /* on a handler thread; may block */
    void (*done)(struct loop_work *work); /* on the loop */
    struct loop_work *next;               /* for the queue */
};

/* 0, or ERR_BUSY when HANDLER_QUEUE_MAX pieces wait (then neither callback is called). Loop only.
 */
int loop_offload(struct loop *loop, struct loop_work *work);

/* Calls `fn` on the loop soon. Any thread. The entry belongs to the loop until `fn` starts. */
struct loop_post {
    void (*fn)(struct loop_post *post);
    struct loop_post *next;
};
void loop_post(struct loop *loop, struct loop_post *post);

#endif
