/* core/table_run_parts.h - what the files that run a table's tools share: table_run.c answers and
 * reads, table_write.c writes. */
#ifndef TENON_CORE_TABLE_RUN_PARTS_H
#define TENON_CORE_TABLE_RUN_PARTS_H

#include "core/table_run.h"
#include "core/table_search.h"

struct run {
    struct store_write write; /* first, so that `done` finds its way back */
    struct store_op op;
    struct search search;
    struct call *call;
    const struct table *table;
    enum table_verb verb;
    const struct tape_node *args;
    struct str key;
    int64_t started_ms;  /* of an update */
    uint32_t n_rechecks; /* how often the table changed under it */
};

/* table_write.c. As table_run. */
int run_create(struct run *run);
int run_update(struct run *run);
int run_delete(struct run *run);

/* Checks the arguments by the table as it is now, and runs the tool anew: for one whose table
 * changed between the check and the write. Answers or sees to it. */
void run_again(struct run *run);

/* The key that the arguments name; else an error, explained. */
int run_take_id(struct run *run);
int run_read_row(struct run *run, struct store_row *ret);
/* The key as JSON. */
struct str run_key_text(struct run *run, struct buf *scratch);
int run_explain(struct run *run, const char *prefix, const struct schema_faults *faults);

/* Each answers the call. */
void run_succeed_with_row(struct run *run, const struct tape_node *row, uint64_t version);
/* "No row with code \"FR\" in geo.countries." */
void run_fail_about_key(struct run *run, const char *before, const char *after);
/* What went wrong in the store: the model may act on some of it, the rest is our fault. */
void run_fail_by(struct run *run, int err);

#endif
