/* base/log_ring.h - the last log lines of all processes of a server, in shared memory.
 *
 * The supervisor opens the ring before it forks; from then on log_line of every process writes into
 * it, and any of them can read it. A writer has its slot for itself: it takes it by one
 * compare-and-swap and gives it back with the line's number. Who finds the slot taken (by a writer
 * a whole round late, or one that was killed within its line) leaves its line out: a ring must
 * never make a worker wait. A reader takes only lines whose number is the same before and after.
 */
#ifndef TENON_BASE_LOG_RING_H
#define TENON_BASE_LOG_RING_H

#include "base/limits.h"
#include "base/log.h"
#include "base/str.h"

struct log_entry {
    uint64_t number; /* rises; there are gaps where lines were left out */
    enum log_level level;
    int64_t time_ms;       /* wall time */
    struct str from, text; /* who speaks ("worker 1[123]"), and what; borrowed until fn returns */
};

/* Once, before the fork. 0 or ERR_NO_MEMORY. Without it lines go to stderr only. */
int log_ring_open(void);
void log_ring_close(void);
/* All but the number. Cut at LOG_LINE_BYTES. Any thread, any process. */
void log_ring_add(const struct log_entry *entry);
/* Newest first, those of at least this level, at most `limit`; `fn` stops it by anything but 0.
 * Returns how many were shown. */
uint32_t log_ring_read(enum log_level lowest, uint32_t limit,
                       int (*fn)(void *ctx, const struct log_entry *entry), void *ctx);

#endif
