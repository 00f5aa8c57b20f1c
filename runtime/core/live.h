/* core/live.h - the way from a handler thread to its client while the call runs.
 *
 * A handler thread may not touch the loop's things; what it has to say goes through the call's
 * `live`: the newest progress, log lines in order, one question at a time. The loop takes all of it
 * in one turn and sends it on the call's stream (call_send), in order, what is left before the
 * answer. Handlers never wait for a slow client: progress is overtaken by newer progress, log lines
 * beyond LIVE_LOGS are dropped and counted.
 */
#ifndef TENON_CORE_LIVE_H
#define TENON_CORE_LIVE_H

#include "core/pending.h"

struct live;

/* For a call whose handler may use it; freed with the call. Loop. */
int live_new(struct call *call, struct live **ret);
void live_free(struct live *live); /* NULL is fine */

/* Any one thread. Progress without a token, not rising, or after the end is not sent. total 0:
 * unknown. ERR_PARAMS: not rising, or no number. */
int live_progress(struct live *live, double progress, double total, struct str message);
/* `data` is JSON. Dropped where the session's level is above. */
int live_log(struct live *live, int level, struct str logger, struct str data);
/* Asks the client and waits. The answer's memory is the call's. Not on the loop. */
int live_ask(struct live *live, enum mcp_method method, struct str params, int64_t timeout_ms,
             struct pending_answer *ret);
/* Waits until the call is cancelled or the time is over; what call_is_cancelled says. */
int live_wait(struct live *live, int64_t ms);

/* Loop: sends what is left. Before the answer. */
void live_flush(struct live *live);
/* Loop, every 50 ms or so (core_tick): progress whose time has come. */
void live_tick(struct core *core);

#endif
