/* core/scans.h - which searches run on handler threads, and which wait for that.
 *
 * Threads that only compute gain nothing beyond the number of cores, and take from the loop: at
 * HANDLER_NICE one weighs about a ninth of it, so 256 of them leave it 4 % of a core, SCANS_MAX of
 * them 70 %. More than one run, so that a long search does not hold up the short ones behind it.
 * The rest wait in a list, first in, first out. A search that is past its deadline when its turn
 * comes is refused as busy, so nobody waits for longer than SCAN_MS_MAX and one check of a running
 * search. Handler threads as such are many more, for work that blocks instead.
 *
 * Everything here happens on the loop.
 */
#ifndef TENON_CORE_SCANS_H
#define TENON_CORE_SCANS_H

#include "base/limits.h"
#include "base/str.h"

struct search;

struct scans {
    struct search *running[SCANS_MAX];
    struct search *first, **last; /* that wait */
    uint32_t n_running, n_waiting;
};

void scans_init(struct scans *scans);
/* Runs `search->work` now or later; then calls `search->done`. 0, or ERR_BUSY and nothing will be
 * called. */
int scans_add(struct scans *scans, struct search *search);

#endif
