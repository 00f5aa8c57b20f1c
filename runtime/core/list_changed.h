/* core/list_changed.h - tells the sessions that listen when what they may list has changed.
 *
 * MCP 2025-06-18: Tools and Resources, List Changed Notification. A session's record has what its
 * lists were when it was told last (a hash of each, as its revision shows them); whoever holds its
 * newest GET stream compares. So it does not matter which worker made the change, or whether the
 * session listened then: a stream that is opened later is told at once. Several changes between two
 * looks are one notification. Nothing before `initialized`. On stdio the record is in memory, and
 * stdout is the stream. Loop only.
 */
#ifndef TENON_CORE_LIST_CHANGED_H
#define TENON_CORE_LIST_CHANGED_H

#include "core/call.h"
#include "core/store.h"

struct reader;

/* The lists of now, for a new session: 0 without a catalog. */
void list_changed_look(struct core *core, const struct access *access, enum call_profile profile,
                       int revision, uint64_t ret_seen[STORE_LISTS]);
/* Compares for all sessions that listen here, if the catalog or what they may see has moved. */
void list_changed_check(struct core *core);
/* For the session of one that has just begun to listen. */
void list_changed_compare(struct reader *reader);
/* The catalog was changed by this process. Any thread: it only wakes. */
void list_changed_here(struct core *core);

#endif
