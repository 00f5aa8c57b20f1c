/* core/event_id.h - the id of an event on a stream: `stream.n` or `stream.n.seq`.
 *
 * 16 hex digits, the number of the frame in decimal, and of a notification of a subscription the
 * sequence of the change log up to which all was told on this stream: core/follow.h.
 */
#ifndef TENON_CORE_EVENT_ID_H
#define TENON_CORE_EVENT_ID_H

#include "base/str.h"

#define EVENT_ID_BYTES 64 /* of its text, with the NUL */

struct event_id {
    uint64_t stream, n; /* n from 1 */
    uint64_t seq;       /* 0: none */
};

struct str event_id_write(const struct event_id *id, char ret[EVENT_ID_BYTES]);
/* ERR_EVENT_ID: it is none of ours. */
int event_id_read(struct str text, struct event_id *ret);

#endif
