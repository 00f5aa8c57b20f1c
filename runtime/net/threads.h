/* net/threads.h - handler threads: made on demand, at most HANDLER_THREADS_MAX, gone when idle.
 *
 * Work that finds no idle thread and no room for a new one waits, up to HANDLER_QUEUE_MAX pieces;
 * then it is refused, so a flood of slow calls costs a bounded amount and its clients are told.
 */
#ifndef TENON_NET_THREADS_H
#define TENON_NET_THREADS_H

#include "core/loop.h"

#include <stdbool.h>

struct threads;

/* `done` of each piece of work is called on `loop`. */
int threads_new(struct loop *loop, struct threads **ret);
int threads_add(struct threads *threads, struct loop_work *work); /* 0 or ERR_BUSY */
/* Waits until all work has run and every thread has ended, at most so long (negative: for ever);
 * false: some go on. The last `done` calls are then in the loop's inbox; they may add more work, so
 * join again after delivering them. */
bool threads_join(struct threads *threads, int64_t ms);
void threads_free(struct threads *threads);

#endif
