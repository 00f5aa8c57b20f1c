/* core/plan.h - how a search reads its table: by primary key, by an index, or all of it.
 *
 * A pure function of the filter, the wanted order and the indexes; it reads no rows and keeps no
 * statistics. The rule, best first:
 *   points of something unique; a primary range with both ends; the longest equality prefix of an
 *   index (a list of values counts a little less, a range behind it adds a little); any other
 *   range; an order without a range; the whole table.
 * Between equals the one that gives the order wins, then the one with fewer parts, then the first.
 * A primary range that is open on one side may be half of the table, so it ranks as other ranges.
 *
 * It trusts that every row is in every ready index, that null (or missing) comes before any value
 * (behind, where a part descends), and that within equal index keys the rows' own keys ascend.
 * Values that an index cannot hold are in no row: the store refuses such rows.
 */
#ifndef TENON_CORE_PLAN_H
#define TENON_CORE_PLAN_H

#include "core/store.h"
#include "schema/filter.h"

struct plan_order {
    struct str attribute;
    bool descending;
};

struct plan_query {
    const struct filter *filter; /* NULL: every row */
    const struct plan_order *order;
    uint32_t n_order;
    struct store_index_part key; /* the primary key; ascending */
    const struct store_index *indexes;
    uint32_t n_indexes;
};

enum plan_access {
    PLAN_NOTHING, /* no row can match */
    PLAN_SCAN,    /* the whole table by primary key */
    PLAN_PRIMARY, /* ranges of the primary key */
    PLAN_INDEX,   /* ranges of an index, or all of it */
};

/* Rows whose leading parts have these values and whose next part lies between these ends. Ends are
 * by value, also where the part descends in the index. With an end, null lies outside. */
struct plan_range {
    const struct tape_node *equal; /* one node each; TAPE_NULL: null or missing */
    uint32_t n_equal;
    bool has_lower, lower_strict, has_upper, upper_strict;
    struct tape_node lower, upper;
};

struct plan {
    enum plan_access access;
    const struct store_index *index;      /* PLAN_INDEX */
    const struct store_index_part *parts; /* what the ranges are of */
    uint32_t n_parts;
    const struct plan_range *ranges; /* in the order of the index, apart from each other */
    uint32_t n_ranges;
    bool unique;     /* at most one row in each range */
    bool descending; /* read backwards: the last range first, each from its end */
    bool test;       /* rows must be tested by the filter: the ranges do not say all of it */
    bool ordered;    /* rows come in `order`, else they are to be sorted by it */
    /* A total order that begins with the wanted one and ends with the primary key. A cursor holds
     * these attributes' values of the last row; a query with this as its order goes on in it,
     * whatever plan is made then. */
    const struct plan_order *order;
    uint32_t n_order;
    /* The attribute that an index would serve, when `access` is a scan or only gives the order;
     * else absent. */
    struct str advice;
};

/* Nodes and strings are borrowed from the query. 0 or ERR_NO_MEMORY. */
int plan_make(const struct plan_query *query, struct arena *arena, struct plan *ret);

/* For people, one line; and as a JSON object. At most PLAN_SHOWN_RANGES ranges are written. */
#define PLAN_SHOWN_RANGES 5
void plan_write_text(const struct plan *plan, struct buf *out);
void plan_write_json(const struct plan *plan, struct buf *out);

#endif
