/* core/file_transfer.h - what core needs for files of the data directory: a port, which main fills
 * (transfer_jobs.c over transfer.h). Exports lie in DIR/exports, what is to be imported in
 * DIR/imports.
 */
#ifndef TENON_CORE_FILE_TRANSFER_H
#define TENON_CORE_FILE_TRANSFER_H

#include "core/store.h"
#include "core/table.h"

/* Letters, digits, . _ and -, no dot in front, and an end that tells the format. */
#define TRANSFER_NAME_PATTERN   "^[A-Za-z0-9_-][A-Za-z0-9._-]*\\\\.(json|ndjson|jsonl|csv)$"
#define TRANSFER_NAME_BYTES_MAX 128

/* One import or export. */
struct file_transfer {
    struct store *store;
    const struct table *table;
    struct str name;          /* of the file; must fit the pattern, which is checked again */
    bool replaces, skips_bad; /* of imports */
    int (*progress)(void *ctx, uint64_t done, uint64_t total); /* non-zero: stop */
    void *progress_ctx;
    struct arena *arena; /* of what follows */

    uint64_t n_rows, n_bad, n_kept;
    struct str rejects;     /* name of the file in DIR/imports that has the bad records; STR_NONE */
    struct str rejects_why; /* why it has not the name it should have; STR_NONE */
    struct str why;         /* what went wrong, as a sentence without a full stop */
    struct buf faults;      /* the first bad records, one JSON object each with a comma between */
};

/* On a handler thread. 0, or an error with `why`. */
struct core_transfer {
    void *ctx;
    int (*import_file)(void *ctx, struct file_transfer *transfer);
    int (*export_file)(void *ctx, struct file_transfer *transfer);
};

#endif
