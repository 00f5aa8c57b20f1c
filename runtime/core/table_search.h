/* core/table_search.h - rows of a table that meet equality conditions, in key order, by pages.
 *
 * A search begins on the loop. If INLINE_SCAN_ENTRIES rows were not enough (a heavy row counts as
 * several) it goes on, from the row where it stopped, on a handler thread, as soon as core/scans.h
 * lets it. There it looks up every so many rows whether it should still go on: not after
 * SCAN_MS_MAX, not if the client went away, not if `stop` says so. A page ends at `limit` rows or
 * SEARCH_BYTES_MAX bytes; `more` is true only if another row is there, so the last page never
 * promises an empty one. `found` is called where the search ended, on the loop or on that thread: a
 * large answer takes longer to be written than its rows to be found.
 */
#ifndef TENON_CORE_TABLE_SEARCH_H
#define TENON_CORE_TABLE_SEARCH_H

#include "core/call.h"
#include "core/loop.h"
#include "core/store.h"
#include "core/table.h"

struct search {
    struct loop_work work;
    /* set by the caller */
    struct call *call;
    const struct table *table;
    const struct tape_node *where;       /* an object, or NULL */
    uint32_t limit;                      /* rows, at least 1 */
    struct str after;                    /* encoded key; STR_NONE: from the start */
    int (*found)(struct search *search); /* the rows are there, to be written into the call */
    void (*done)(struct search *search, int err); /* on the loop, when SEARCH_LATER was returned */
    void *ctx;
    /* the answer */
    struct buf rows; /* JSON values with commas between; the caller calls buf_done */
    uint32_t n_rows;
    bool more;
    char last_key[KEY_BYTES_MAX]; /* of the last row in `rows` */
    uint32_t last_key_n;
    _Atomic int stop; /* an error to end with; core may set it while the search goes on */
    /* its own */
    bool on_thread;
    uint32_t budget; /* entries that may be looked at before the next check, plus 1; 0: all */
    int64_t deadline_ms;
    struct search *next; /* in the list of those that wait */
    char stop_key[KEY_BYTES_MAX];
    uint32_t stop_key_n;
    int err;
};

#define SEARCH_LATER 1

/* 0: the answer is there, and `found` was called. SEARCH_LATER: `done` will be called. Else an
 * error (ERR_BUSY, ERR_NO_MEMORY, what the store or `found` says). All memory that `search` points
 * to stays until then. Loop only. */
int search_start(struct search *search);
/* 0, or why it should not go on: ERR_TIMED_OUT, ERR_CANCELLED (the client went away), what stands
 * in `stop`. Any thread. */
int search_check(const struct search *search);

#endif
