/* core/table_ranges.h - from a plan to what the store scans: ranges of primary keys, or of places
 * in an index (index key with the row's key behind it, see core/store.h).
 */
#ifndef TENON_CORE_TABLE_RANGES_H
#define TENON_CORE_TABLE_RANGES_H

#include "core/plan.h"

/* In the order of reading; ranges in which no key can lie are left out. 0 or ERR_NO_MEMORY. */
int table_ranges_make(const struct plan *plan, struct arena *arena, const struct store_range **ret,
                      uint32_t *ret_n);

/* Behind which bytes to go on, in the plan's order of reading, after a row of which `values` has
 * what it has in `order` (that ends with the primary key, as the plan's own does); what the filter
 * holds constant is taken from there. 0; ERR_PARAMS, ERR_LIMIT: there is no such place in what the
 * plan reads; ERR_NO_MEMORY. */
struct table_place {
    const struct plan_query *query;
    const struct plan_order *order;
    uint32_t n_order;
    const struct tape_node *values;
};
int table_place_make(const struct plan *plan, const struct table_place *row, struct arena *arena,
                     struct str *ret);

/* The first bytes behind all that begin with those in `b`. */
void table_successor(struct buf *b);

#endif
