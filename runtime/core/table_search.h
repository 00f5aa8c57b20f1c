/* core/table_search.h - runs a table's query: one page of its rows.
 *
 * A search begins on the loop. If INLINE_SCAN_ENTRIES rows were not enough (a heavy row counts as
 * several) it goes on, on a handler thread, as soon as core/scans.h lets it: from the row where it
 * stopped, or, where the order has to be made or all rows are to be counted, anew. Anew too if the
 * index that it reads is dropped meanwhile, by another way. There it looks up every so many rows
 * whether it should still go on: not after SCAN_MS_MAX, not if the client went away; and
 * with every row whether its call was cancelled. It looks at `search_scan_rows` of the
 * configuration at most. A page ends at `limit` rows or SEARCH_BYTES_MAX bytes; there is a cursor
 * only if another row is there, so the last page never promises an empty one. `found` is called
 * where the search ended, on the loop or on that thread: a large answer takes longer to be written
 * than its rows to be found.
 */
#ifndef TENON_CORE_TABLE_SEARCH_H
#define TENON_CORE_TABLE_SEARCH_H

#include "core/loop.h"
#include "core/table_query.h"
#include "core/table_top.h"

struct search {
    struct loop_work work;
    /* set by the caller */
    struct call *call;
    const struct table *table;
    struct table_query query;
    int (*found)(struct search *search); /* the rows are there, to be written into the call */
    void (*done)(struct search *search, int err); /* on the loop, when SEARCH_LATER was returned */
    void *ctx;
    /* the answer */
    struct buf rows; /* JSON values with commas between */
    uint32_t n_rows;
    struct str cursor; /* of the next page; STR_NONE: there is none */
    uint64_t n_total;  /* if the query asks for it */
    /* its own */
    int (*take)(struct search *search, const struct store_row *row);
    struct top top;
    struct str next_cursor; /* behind the last row, once the page is full */
    uint64_t n_looked;
    bool on_thread;
    uint32_t budget; /* entries that may be looked at before the next check, plus 1; 0: all */
    int64_t deadline_ms;
    struct search *next;                  /* in the list of those that wait */
    char at_bytes[INDEX_ENTRY_BYTES + 1]; /* where to go on: this key or place, or before it if
                                             descending */
    struct str at;
    bool after; /* not at the key itself; of ascending ones */
    int err;
};

#define SEARCH_LATER 1

/* 0: the answer is there, and `found` was called. SEARCH_LATER: `done` will be called. Else an
 * error: ERR_LIMIT (too many rows looked at), ERR_TOO_LARGE (ordered by values that are too long),
 * ERR_BUSY, ERR_NO_MEMORY, what the store or `found` says. All memory that `search` points to stays
 * until then. Loop only. */
int search_start(struct search *search);
void search_free(struct search *search); /* what it holds */
/* 0, or why it should not go on: ERR_TIMED_OUT, ERR_CANCELLED (the client went away), why its
 * call was cancelled. Any thread. */
int search_check(const struct search *search);

#endif
