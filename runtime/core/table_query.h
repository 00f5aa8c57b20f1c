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
    const struct filter *filter;    /* NULL: every row */
    const struct tape_node *select; /* names of attributes, or NULL: all */
    uint32_t limit;                 /* rows, at least 1 */
    bool total;                     /* how many rows match is asked for */
    struct plan plan;
    const struct query_order *order; /* total: ends with the primary key */
    uint32_t n_order;
    const struct tape_node *after; /* values in that order, one node each; NULL: from the start */
    struct str after_key;          /* the last of them as a key */
    const struct store_range *ranges; /* of primary keys, in the order of reading */
    uint32_t n_ranges;
    struct str scope; /* what a cursor is sealed with */
};

/* `args` have passed the input schema of search_T; NULL: the first page of everything. 0;
 * ERR_PARAMS explained to the call; ERR_NO_MEMORY. */
int table_query_read(struct call *call, const struct table *table, const struct tape_node *args,
                     struct table_query *ret);

/* The values of a row in the query's order, borrowed from it; a container stands as an empty
 * array, for it has no place among others. ERR_TOO_LARGE: one is longer than KEY_BYTES_MAX. */
int table_query_values(const struct table_query *query, const struct tape_node *row,
                       struct tape_node *ret);
/* null, booleans, numbers, text (by its bytes), containers. */
int table_query_compare(const struct table_query *query, const struct tape_node *a,
                        const struct tape_node *b);
/* The text from which the next page goes on behind these values. 0, ERR_NO_MEMORY, ERR_TOO_LARGE.
 */
int table_query_cursor(struct call *call, const struct table_query *query,
                       const struct tape_node *values, struct str *ret);

#endif
