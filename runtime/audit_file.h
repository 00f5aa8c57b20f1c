/* audit_file.h - where the lines of the audit go: a file that is set aside when it is full, or
 * stderr. Implements the port of core/audit.h.
 *
 * The loop puts lines into a ring of AUDIT_RING_BYTES; a thread writes what is there, as many
 * together as there are. When the ring is full, or the disk takes nothing, lines are lost and
 * counted, and the next line that is written says how many; a call never waits or fails for it.
 *
 * Several processes write the same file. Each writes whole lines under a lock (flock) on the file
 * that has the name at that moment, so lines are never torn and none goes into a file after it was
 * set aside; what a killed process left of a line is taken away by the next writer. Somebody else
 * may rename the file, too: that is seen by the next line, without a signal.
 */
#ifndef TENON_AUDIT_FILE_H
#define TENON_AUDIT_FILE_H

#include "core/audit.h"

struct audit_file_config {
    const char *path;   /* or "stderr" */
    uint64_t max_bytes; /* then PATH becomes PATH.1, that PATH.2, ... */
    uint32_t keep;      /* of those; 0: what is full is thrown away */
    bool is_slow;       /* tests: nothing is written before audit_file_settle */
};

/* Can it be written? Makes it with mode 0600. 0 or ERR_IO (errno says why). */
int audit_file_check(const struct audit_file_config *config);
/* In the process that writes, after the fork; `path` must outlive it. 0, ERR_NO_MEMORY, ERR_IO. */
int audit_file_new(const struct audit_file_config *config, struct audit **ret);
/* Writes what waits, and takes no more. Waits for the disk. */
void audit_file_settle(struct audit *audit);
void audit_file_free(struct audit *audit); /* settles first; NULL is fine */

#endif
