/* transfer.h - tables in and out of files: the engines behind `tenon import`, `tenon export` and
 * the operations import_table and export_table. They print nothing.
 *
 * Memory does not grow with the file or the table.
 *
 * An import reads the file twice. The first pass judges every record and writes nothing, so a bad
 * record on the last line costs nothing; the second judges again and loads. A load that fails
 * half-way is taken back by the store: all records are there afterwards, or none. With skips_bad
 * each bad record is told and left out, and the rest goes in.
 *
 * An export is of one moment: one view of the store, which stands only while rows are read and
 * written to a local file. What is written from it has its name only when it is complete.
 */
#ifndef TENON_TRANSFER_H
#define TENON_TRANSFER_H

#include "core/table.h"
#include "core/store.h"
#include "records.h"

/* ---- Import --------------------------------------------------------------------------------- */

/* What is wrong with one record. Strings are valid during the call. */
struct transfer_fault {
    uint64_t line;
    const char *pointer;  /* into the record; "" for all of it */
    const char *keyword;  /* "syntax", a JSON Schema keyword, "exists", "unique", "limit" */
    const char *expected; /* may be "" */
    const char *text;     /* all of it for people, without the line */
    bool fatal;           /* what stands behind it cannot be read */
    const struct tape_node *record; /* NULL: it could not be read */
    struct str raw;                 /* then its text, if that is known; STR_NONE */
};

struct transfer_rename {
    struct str old, new;
};

/* A new attribute: the text of another one before the first `end`. */
struct transfer_prefix {
    struct str name, of, end;
};

enum transfer_phase { TRANSFER_CHECKS, TRANSFER_LOADS, TRANSFER_TAKES_BACK, TRANSFER_WRITES };

struct transfer_progress {
    enum transfer_phase phase;
    uint64_t rows, bytes;
    uint64_t total; /* bytes of the file, or rows of the table */
    bool last;      /* of this phase */
};

/* Called often. Non-zero stops the transfer with ERR_CANCELLED. */
typedef int (*transfer_progress_fn)(void *ctx, const struct transfer_progress *progress);

struct transfer_import {
    struct store *store;
    const struct table *table;
    FILE *file; /* can be rewound: see transfer_rewindable */
    enum record_format format;
    const char *root; /* JSON: pointer to the array in the document; NULL: the document */
    bool replaces;    /* rows whose primary key exists */
    bool skips_bad;
    const struct transfer_rename *renames;
    const struct transfer_prefix *prefixes;
    uint32_t n_renames, n_prefixes;
    transfer_progress_fn progress; /* may be NULL */
    /* Each bad record once, but for those behind one that stopped the import: with skips_bad, those
     * that are left out; else all that the first pass finds, or the one by which the load failed.
     * What it returns other than 0 stops the import with that error. */
    int (*fault)(void *ctx, const struct transfer_fault *fault);
    /* A row that stays as the import wrote it: see struct store_load_rules. May be NULL. */
    void (*kept)(void *ctx, const struct store_refusal *refusal);
    /* Every record is judged and every bad one told; the rows stay unless this returns other than
     * 0, which is the error by which they are taken back. May be NULL. */
    int (*ready)(void *ctx);
    void *ctx;

    uint64_t n_rows, n_bad, n_kept; /* what came of it */
    int taking_back; /* error by which rows are still there, to be taken back later */
};

/* 0, and the rows are there. Else nothing is there, but for what n_kept and taking_back tell:
 * ERR_SYNTAX (bad records, all told), ERR_BUSY (another import is going on), ERR_STALE (the table's
 * definition was changed meanwhile), ERR_CONFLICT (the file changed while it was read),
 * ERR_CANCELLED, ERR_IO, and what the store may say. */
int transfer_import(struct transfer_import *import);

/* The file itself, or a nameless copy of what cannot be rewound (then the file is not closed).
 * NULL: errno says why. */
FILE *transfer_rewindable(FILE *file);

/* Appends the fault as one line of JSON: line, pointer, keyword, expected, reason, and the record
 * itself (`record`, or `text` where it is no JSON). */
void transfer_write_fault(const struct transfer_fault *fault, struct buf *out);

/* ---- Export --------------------------------------------------------------------------------- */

struct transfer_export {
    struct store *store;
    const struct table *table;
    FILE *out;
    enum record_format format;
    transfer_progress_fn progress; /* may be NULL */
    void *ctx;

    uint64_t n_rows;
    int io_errno; /* of ERR_IO while writing; 0: of the store */
};

/* 0; ERR_IO with io_errno (ENOSPC); ERR_CANCELLED; what the store may say. `out` is flushed. If it
 * is no file on a disk, a nameless copy is written first, so that a slow reader of a pipe does not
 * hold the view: pages that it sees cannot be used again by writers. */
int transfer_export(struct transfer_export *export);

/* ---- Files that appear when they are complete ----------------------------------------------- */

struct transfer_output {
    FILE *file;
    int dir_fd;
    bool keeps_part; /* set it, and what cannot get its name at last stays under that of `part` */
    char path[1024];
    char part[1040]; /* its name before; "": it has none */
};

/* Opens a nameless file (or else a temporary one) beside `path`, which is relative to dir_fd
 * (AT_FDCWD: as usual). 0, or ERR_IO with errno. */
int transfer_output_open(struct transfer_output *o, int dir_fd, const char *path);
/* Writes it through to the disk, so that a commit only has to rename it. 0, or ERR_IO with errno.
 */
int transfer_output_settle(struct transfer_output *o);
/* Settles it and gives it its name. 0, or ERR_IO with errno: it is gone, or where `part` says. */
int transfer_output_commit(struct transfer_output *o);
/* Nothing is left of it. Fine after a commit and on a zeroed one. */
void transfer_output_abort(struct transfer_output *o);

#endif
