/* tests/unit/plan_rig.h - runs a plan on rows in memory as a store would, and judges the answer by
 * testing every row. */
#ifndef PLAN_RIG_H
#define PLAN_RIG_H

#include "core/plan.h"
#include "filter_rig.h"

#define PLAN_ROWS_MAX 64

/* NULL: null or missing. The path has plain names. */
static inline const struct tape_node *rig_value(const struct tape_node *row, struct str path)
{
    while (row && path.n)
        row = tape_get(row, str_cut(&path, '.'));
    return row && row->kind != TAPE_NULL ? row : NULL;
}

static inline int rig_compare_values(const struct tape_node *a, const struct tape_node *b)
{
    return a && b ? filter_compare_nodes(a, b) : (a != NULL) - (b != NULL);
}

static inline int rig_compare(const struct plan_order *order, uint32_t n, const struct tape_node *a,
                              const struct tape_node *b)
{
    for (uint32_t i = 0; i < n; i++) {
        int c =
            rig_compare_values(rig_value(a, order[i].attribute), rig_value(b, order[i].attribute));
        if (c)
            return order[i].descending ? -c : c;
    }
    return 0;
}

static struct plan_order rig_sort_order[16];
static uint32_t rig_sort_n;

static inline int rig_by_order(const void *a, const void *b)
{
    return rig_compare(rig_sort_order, rig_sort_n, *(const struct tape_node *const *)a,
                       *(const struct tape_node *const *)b);
}

static inline void rig_sort(const struct tape_node **rows, size_t n, const struct plan_order *order,
                            uint32_t n_order)
{
    assert_true(n_order <= N(rig_sort_order));
    memcpy(rig_sort_order, order, n_order * sizeof *order);
    rig_sort_n = n_order;
    qsort(rows, n, sizeof *rows, rig_by_order);
}

/* The entries of an index, or of the primary key, over all rows. */
static inline void rig_entries(const struct store_index_part *parts, uint32_t n_parts,
                               struct str key, const struct tape_node **rows, size_t n)
{
    struct plan_order order[8];
    assert_true(n_parts < N(order));
    for (uint32_t i = 0; i < n_parts; i++)
        order[i] = (struct plan_order){parts[i].attribute, parts[i].descending};
    order[n_parts] = (struct plan_order){key, false};
    rig_sort(rows, n, order, n_parts + 1);
}

static inline bool rig_in_range(const struct plan *plan, const struct plan_range *r,
                                const struct tape_node *row)
{
    for (uint32_t i = 0; i < r->n_equal; i++) {
        const struct tape_node *wanted = r->equal[i].kind == TAPE_NULL ? NULL : &r->equal[i];
        if (rig_compare_values(rig_value(row, plan->parts[i].attribute), wanted) != 0)
            return false;
    }
    if (!r->has_lower && !r->has_upper)
        return true;
    const struct tape_node *value = rig_value(row, plan->parts[r->n_equal].attribute);
    int low = value && r->has_lower ? filter_compare_nodes(value, &r->lower) : 1;
    int high = value && r->has_upper ? filter_compare_nodes(value, &r->upper) : -1;
    return value && low >= r->lower_strict && high <= -r->upper_strict;
}

/* What a store would do with the entries of plan->index. Returns how many rows came. */
static inline size_t rig_run(const struct plan *plan, const struct filter *filter,
                             const struct tape_node *const *entries, size_t n_entries,
                             const struct tape_node **found)
{
    size_t n = 0;
    for (uint32_t k = 0; k < plan->n_ranges; k++) {
        uint32_t at = plan->descending ? plan->n_ranges - 1 - k : k, came = 0;
        for (size_t i = 0; i < n_entries; i++) {
            const struct tape_node *row = entries[plan->descending ? n_entries - 1 - i : i];
            if (!rig_in_range(plan, &plan->ranges[at], row))
                continue;
            came++;
            if (plan->test && !filter_test(filter, row))
                continue;
            assert_true(n < n_entries);
            found[n++] = row;
        }
        assert_true(!plan->unique || came <= 1);
    }
    return n;
}

/* The right rows, and in the plan's order if it says so? */
static inline void rig_check_plan(const struct plan *plan, const struct filter *filter,
                                  const struct tape_node *const *entries, size_t n_entries,
                                  const char *said)
{
    const struct tape_node *found[PLAN_ROWS_MAX];
    size_t n = rig_run(plan, filter, entries, n_entries, found), wanted = 0;
    for (size_t i = 0; i < n_entries; i++)
        wanted += filter == NULL || filter_test(filter, entries[i]);
    if (n != wanted)
        fail_msg("%zu rows, not %zu: %s", n, wanted, said);
    for (size_t i = 0; i < n; i++)
        if (filter && !filter_test(filter, found[i]))
            fail_msg("a wrong row: %s", said);
    for (size_t i = 0; plan->ordered && i + 1 < n; i++)
        if (rig_compare(plan->order, plan->n_order, found[i], found[i + 1]) >= 0)
            fail_msg("not in the plan's order: %s", said);
}

/* Sorting by the plan's order sorts by the wanted one. */
static inline void rig_check_order(const struct plan *plan, const struct plan_query *q,
                                   const struct tape_node *const *rows, size_t n_rows,
                                   const char *said)
{
    const struct tape_node *sorted[PLAN_ROWS_MAX];
    size_t n = 0;
    for (size_t i = 0; i < n_rows; i++)
        if (!q->filter || filter_test(q->filter, rows[i]))
            sorted[n++] = rows[i];
    rig_sort(sorted, n, plan->order, plan->n_order);
    for (size_t i = 0; i + 1 < n; i++)
        if (rig_compare(q->order, q->n_order, sorted[i], sorted[i + 1]) > 0)
            fail_msg("not the wanted order: %s", said);
}

#endif
