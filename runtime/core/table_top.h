/* core/table_top.h - the first rows of a search by an order that no index gives: a heap of at most
 * `limit` + 1 keys with the values they are ordered by, the greatest on top. The rows themselves
 * are read again at the end, so memory is bounded whatever the rows hold.
 */
#ifndef TENON_CORE_TABLE_TOP_H
#define TENON_CORE_TABLE_TOP_H

#include "core/table_query.h"

struct top_entry {
    struct str key;            /* encoded primary key */
    struct tape_node values[]; /* in the order of the query; what they point to follows */
};

struct top {
    struct top_entry **v;
    uint32_t n;
};

/* A zeroed one is empty. 0, ERR_NO_MEMORY, ERR_TOO_LARGE (of table_query_values). */
int top_offer(struct top *top, const struct table_query *query, const struct store_row *row);
void top_sort(struct top *top, const struct table_query *query); /* the end of offering */
void top_clear(struct top *top);

#endif
