/* core/follow.h - subscriptions: follows the change log and tells who subscribed.
 *
 * MCP 2025-06-18, Resources, Subscriptions. A subscription is a record of the session in the store,
 * made by any worker, with the sequence at which it began. Who takes the session's pushes (core/
 * push.h: the worker that has its newest GET stream) follows the change log for it from where the
 * session was told last, and appends `notifications/resources/updated` to that stream. So a
 * subscription needs no open stream, and what changes while there is none is told by the next one.
 *
 * One look at the log serves all sessions of a worker: each changed row, table or resource is
 * looked up in one hash of what is subscribed to. A turn looks at FOLLOW_TURN_CHANGES of them and
 * tells each URI once, in the order of its last change; mode `all` tells each change, with its
 * sequence.
 *
 * Positions. A frame of such a notification is committed with the position that the session has
 * reached by it (STORE_SET_FOLLOW), goes out only after that commit, and shows the position as the
 * third part of its event id: `stream.n.seq` says that all up to seq was told on this stream. The
 * commit fails when another worker took the session over, or when a subscription came that this
 * worker had not seen: it reads them again and goes on. A stream goes on at the position of its
 * last frame; one that is new, at what a connection has taken for certain (sent_seq). Below the
 * floor of the log, every subscribed URI is told once. Loop only.
 */
#ifndef TENON_CORE_FOLLOW_H
#define TENON_CORE_FOLLOW_H

#include "core/call.h"
#include "core/mail.h"

struct follows; /* those of a worker */
struct reader;

int follows_new(struct core *core, struct follows **ret);
void follows_free(struct follows *follows); /* NULL is fine */
/* Something was committed, here or elsewhere; also once a second. */
void follows_wake(struct follows *follows);
/* Every 50 ms: coalescing, positions that are to be noted. Cheap without subscriptions. */
void follows_tick(struct follows *follows);

/* By core/stream*.c, listen.c. The reader takes the session's pushes from now on, and its stream
 * stands at `seq` (0: new, at the session's sent_seq). Looks up by itself whether there is
 * something to follow. */
void follow_begin(struct reader *reader, uint64_t seq);
/* It does not any more, or its stream ends, or it is gone: nothing of the reader is asked after
 * this. Its sink, unless it is NULL, can still say whether all was taken: then reader->sent_seq was
 * (0: no notification went out). What stream_notify has that is not committed may not be any more.
 */
void follow_end(struct reader *reader);
void follow_ready(struct reader *reader); /* there is room again */
/* What became of a commit with frames of stream_notify: 0 (they went out, or wait for room), or why
 * not: they are gone with all that came behind them, and none of them went out. ERR_CONFLICT: there
 * is a newer generation; the claim is still ours. Other errors: the store is in trouble, so not at
 * once again. Comes between begin and end only, and may append. */
void follow_stored(struct reader *reader, int err);

/* By core/on_subscriptions.c on stdio, whose subscriptions no store has. ERR_LIMIT: there are as
 * many as are allowed. */
int follow_put_plain(struct follows *follows, const struct store_subscription *subscription);
void follow_delete_plain(struct follows *follows, struct str uri);

/* MAIL_FOLLOW {"session"}: by core/on_subscriptions.c. */
void follow_take(struct core *core, struct worker_id from, const struct tape_node *letter);

#endif
