/* core/session.h - a client's session: its life-cycle, its negotiated revision, its record.
 *
 * The record lives in the store, so that any worker can take the next request and a restart ends
 * nothing. It is read for every request (about a microsecond); there is no cache, hence no dead
 * session that somebody still serves. Activity is written back lazily: only when it would move the
 * expiry by more than a tenth of the idle time, and never so that it could revive a deleted record.
 *
 *   initialize -> INITIALIZING -> notifications/initialized -> OPERATING -> DELETE -> ENDED
 *
 * Requests are served in INITIALIZING too (acceptance Q-05): the notification may still be on its
 * way through another worker. On stdio there is one session without an id, in memory.
 */
#ifndef TENON_CORE_SESSION_H
#define TENON_CORE_SESSION_H

#include "core/call.h"
#include "core/core.h"

enum session_state { SESSION_INITIALIZING, SESSION_OPERATING, SESSION_ENDED };

struct session {
    enum session_state state;
    int revision; /* enum mcp_revision of record.version */
    struct store_session record;
};

#define SESSION_RENEWAL_PARTS 10 /* of the idle time; a smaller move is not written */

const char *session_state_name(enum session_state state);
const char *profile_name(enum call_profile profile); /* as the record has it */

/* The session that the call names, in its arena. 0; ERR_NO_SESSION (no header, or stdio before
 * initialize), ERR_SESSION_GONE (also for one of the other profile), ERR_NO_MEMORY, or what the
 * store says. */
int session_find(struct core *core, struct call *call, struct session **ret);
/* That session as it is now, for what belongs to no request (stdio: id ""). 0, ERR_SESSION_GONE,
 * ERR_NO_MEMORY, or what the store says. */
int session_get(struct core *core, struct str id, struct arena *arena, const struct session **ret);
/* Renews the expiry if it is time for that. The request goes on meanwhile, but its answer waits, so
 * that a client that was answered has its session. Cannot fail the request. */
void session_renew(struct core *core, struct call *call);
/* How long the session may be silent. */
int64_t session_idle_ms(const struct core *core, const struct store_session *record);

/* A new record with a fresh id for this call, not yet stored. */
int session_new(struct core *core, struct call *call, struct str version, struct str client_info,
                struct str capabilities, struct session **ret);

/* These write, then call `then` on the loop (or at once on stdio). 0, or ERR_NO_MEMORY and `then`
 * is not called. */
typedef void (*session_then_fn)(struct call *call, int err);
int session_save_new(struct core *core, struct call *call, session_then_fn then);
int session_set_operating(struct core *core, struct call *call, session_then_fn then);
int session_set_level(struct core *core, struct call *call, int32_t level, session_then_fn then);
int session_end(struct core *core, struct call *call, session_then_fn then);

#endif
