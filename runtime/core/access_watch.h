/* core/access_watch.h - who is here already, and may no longer be, or may something else now.
 *
 * A request is judged when it comes. A stream stays, and so does a call that takes its time: when
 * the records of users, roles and tokens have changed, or a credential expires, each of this worker
 * is looked at again. One that is refused now ends: a call is cancelled (ERR_UNAUTHORIZED is its
 * answer, whatever its handler says), a stream ends. One with another role gets that: its lists are
 * compared, and what it subscribed to and may no longer read is not told (core/follow_tell.c) until
 * it may again; the subscription stays.
 *
 * Whoever tells something that a role may hide looks first, and after he has read what he tells: so
 * no change that came behind a change of the records is told by the old ones. Loop only.
 */
#ifndef TENON_CORE_ACCESS_WATCH_H
#define TENON_CORE_ACCESS_WATCH_H

#include "core/call.h"

struct access_watch {
    uint64_t version;   /* of the records by which all were looked at */
    int64_t expires_ms; /* wall time: of the first one that does */
    bool is_due;        /* there is one who was not looked at by that version */
    bool has_refused;   /* a stream waits for the answer of its call */
};

void access_watch_init(struct access_watch *watch);
/* A call that is to be handled now, by records that may have moved since its head came, and with a
 * credential that may have expired: a body may take its time. 0, or why not, as access_identify. */
int access_watch_arrived(struct core *core, struct call *call);
/* Somebody stays: a stream, a call. */
void access_watch_add(struct core *core, const struct access *access);
/* Cheap if nothing has moved. False: it cannot be known now, so nothing is to be told; ask again
 * soon. Streams may be gone after it. */
bool access_watch_look(struct core *core);
/* Often: ends the streams of calls that do not end though they are cancelled. */
void access_watch_tick(struct core *core);

#endif
