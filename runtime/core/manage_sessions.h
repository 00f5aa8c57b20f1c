/* core/manage_sessions.h - who has a session, and ending one. As manage.h: blocking, on a store.
 *
 * The id of a session lets anybody use it, so it is never shown. A session is told by its handle, a
 * part of the id's hash: enough to close it by, and nothing else.
 */
#ifndef TENON_CORE_MANAGE_SESSIONS_H
#define TENON_CORE_MANAGE_SESSIONS_H

#include "core/manage.h"

#define SESSION_HANDLE_BYTES 16

/* 0: go on; else stop. Borrowed until it returns. */
typedef int (*manage_session_fn)(void *ctx, const char *handle,
                                 const struct store_session *session);

/* Those that have not expired, the oldest first. 0, or what `fn` stopped it with. The store must
 * have SYS open really (not volatile_sys, not read_only). */
int manage_list_sessions(struct manage *m, manage_session_fn fn, void *ctx);
/* Ends it, as its client could; *ret is its id. ERR_ABSENT: there is none of this handle (any
 * more). What of it still runs in a server ends when the server notices (core/running.h). */
int manage_close_session(struct manage *m, struct str handle, struct str *ret);

/* 16 hex digits and a NUL. 0, or ERR_NO_MEMORY. */
int session_handle(struct str id, char ret[SESSION_HANDLE_BYTES + 1]);

#endif
