/* core/admission.h - may this call go on now? The one place that is asked about rates and quotas.
 *
 * Handlers of tools/call, completion/complete, resources/read and resources/subscribe ask before
 * they do anything that costs; tools/call when it knows the tool. For the others the method stands
 * where the name of a tool does. Four limits (acceptance REFERENCE a.13), each off if it is 0:
 *
 *   per_tool      calls of this tool in this session
 *   session_rate  all calls of this session
 *   per_client    all calls of the user; without one, of the client's address
 *   concurrency   calls of this session that run at the same time
 *
 * All are looked at before any is charged. Then the quota of the user or client, which is in the
 * store and exact; it denies if the store fails. A denied tool is a result with isError and the
 * text {"kind":"rate_limited","scope","tool","message"} or {"kind":"quota_exceeded","tool",
 * "message","retryAfterSeconds"}; a denied method is ERR_RATE or ERR_QUOTA (429, Retry-After), with
 * the same as data. Members of a batch count one by one. Loop only.
 */
#ifndef TENON_CORE_ADMISSION_H
#define TENON_CORE_ADMISSION_H

#include "core/rate.h"

struct call;
struct core;

struct admission_limits {
    struct rate tool, session, client;
    uint32_t session_concurrency; /* 0: off; at most CONCURRENCY_MAX */
    uint64_t quota;               /* calls in a window; 0: off */
    int64_t quota_window_ms;
};

/* 0: go on. CALL_LATER: the call was answered, or its handler runs again, from its start, when the
 * store has counted it; then this returns 0. Else an error, explained. `name` is that of the tool,
 * in the call's arena. */
int admission_ask(struct call *call, struct str name);
/* The call is over, however it ended. */
void admission_leave(struct call *call);

#endif
