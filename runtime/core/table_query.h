/* core/table_query.h - what a search asks for: the arguments of search_T made ready to run.
 *
 * A page goes on by keyset: the cursor holds a total order and the values that the last row has in
 * it, so pages neither repeat nor leave out a row that was there all the time, whatever is written
 * between them. It is sealed with the table, the filter, order_by and the user.
 */
#ifndef TENON_CORE_TABLE_QUERY_H
#define TENON_CORE_TABLE_QUERY_H

#include "core/call.h"
#include "core/plan.h"
#include "core/store.h"
#include "core/table.h"

struct query_order {
    const struct filter_column *column;
    bool descending;
};

struct table_query {
    const struct filter *filter;     /* NULL: every row */
    const struct tape_node *select;  /* names of attributes, or NULL: all */
    uint32_t limit;                  /* rows, at least 1 */
    bool total;                      /* how many rows match is asked for */
    const struct plan_order *wanted; /* order_by, or that of the cursor */
    uint32_t n_wanted;
    struct store_index *indexes; /* paths are written as filters write them */
    uint32_t n_indexes;
    struct plan plan;                /* its index is one of these */
    const struct query_order *order; /* total: ends with the primary key */
    uint32_t n_order;
    const struct tape_node *after; /* values in that order, one node each; NULL: from the start */
    struct str after_place; /* the same in what the plan reads, where it reads in this order */
    const struct store_range *ranges; /* of keys, or of places in the index; in reading order */
    uint32_t n_ranges;
    struct str scope; /* what a cursor is sealed with */
};

/* `args` have passed the input schema of search_T; NULL: the first page of everything. 0;
 * ERR_PARAMS explained to the call; ERR_NO_MEMORY. */
int table_query_read(struct call *call, const struct table *table, const struct tape_node *args,
                     struct table_query *ret);

/* Makes the plan again without the index that it goes by, which was dropped meanwhile. The order in
 * which a cursor goes on stays. Any thread that has `arena` to itself. 0 or ERR_NO_MEMORY. */
int table_query_without_index(const struct table *table, struct arena *arena,
                              struct table_query *query);

/* Appends the plan of such a search as a JSON object (plan_write_json), without a call. `where` is
 * text or an object, `order_by` an array of texts; NULL: none. 0; ERR_PARAMS with a sentence about
 * what is wrong in *ret_why (in the arena); ERR_NO_MEMORY. */
int table_query_explain(const struct table *table, const struct tape_node *where,
                        const struct tape_node *order_by, struct arena *arena, struct buf *out,
                        struct str *ret_why);

/* The values of a row in the query's order, borrowed from it; a container stands as an empty
 * array, for it has no place among others. ERR_TOO_LARGE: one is longer than INDEX_ENTRY_BYTES. */
int table_query_values(const struct table_query *query, const struct tape_node *row,
                       struct tape_node *ret);
/* null, booleans, numbers (as doubles, if the attribute may have fractions), text (by its bytes),
 * containers. */
int table_query_compare(const struct table_query *query, const struct tape_node *a,
                        const struct tape_node *b);
/* The text from which the next page goes on behind these values. 0, ERR_NO_MEMORY, ERR_TOO_LARGE.
 */
int table_query_cursor(struct call *call, const struct table_query *query,
                       const struct tape_node *values, struct str *ret);

#endif
