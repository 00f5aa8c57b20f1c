/* net/loop.h - the event loop behind core/loop.h: libev, an inbox and handler threads.
 *
 * One loop per process, run by the thread that made it. Other threads reach it only by loop_post
 * and through the handler threads: both put their entry into an inbox and write an eventfd when it
 * was empty. A repeating tick of LOOP_TICK_MS is the only timer: libwebsockets needs it (RUNTIME.md
 * K10), deadlines are swept by it (K11), the supervisor's heartbeat beats with it.
 */
#ifndef TENON_NET_LOOP_H
#define TENON_NET_LOOP_H

#include "core/loop.h"

#include <stdbool.h>

#define LOOP_TICK_MS 50

struct ev_loop;

int loop_new(struct loop **ret); /* 0 or ERR_NO_MEMORY, ERR_IO */
/* Waits for running handlers and calls what is in the inbox, until there is neither. */
void loop_drain(struct loop *loop);
/* Likewise, but waits for handlers only so long each time. False: some go on, so nothing that they
 * may use can be freed, and the process had better end. */
bool loop_drain_for(struct loop *loop, int64_t ms);
/* Drains first. */
void loop_free(struct loop *loop);
struct ev_loop *loop_ev(struct loop *loop);

/* Until loop_stop, which any callback on the loop may call. */
void loop_run(struct loop *loop);
void loop_stop(struct loop *loop);

/* Monotonic time at the beginning of the turn: good enough for deadlines, and free. */
int64_t loop_now_ms(const struct loop *loop);
/* Up to LOOP_TICKERS_MAX functions, called on every tick in the order of addition. */
#define LOOP_TICKERS_MAX 4
void loop_on_tick(struct loop *loop, void (*fn)(void *ctx), void *ctx);

#endif
