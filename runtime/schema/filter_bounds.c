/* schema/filter_bounds.c - what the top-level conjunction says of each attribute, as a range of
 * values that an index can be asked for. Made once, when the filter is compiled. */
#include "schema/filter_parts.h"

#include "base/err.h"
#include "schema/filter_date.h"

#include <string.h>

struct work {
    struct arena *arena;
    struct filter_bound *bounds;
    uint32_t n;
    int err;
};

static void add_lower(struct filter_range *r, const struct tape_node *value, bool strict)
{
    int order = r->has_lower ? filter_compare_nodes(value, &r->lower) : 1;
    if (order > 0 || (order == 0 && strict)) {
        r->lower = *value;
        r->lower_strict = strict;
    }
    r->has_lower = true;
}

static void add_upper(struct filter_range *r, const struct tape_node *value, bool strict)
{
    int order = r->has_upper ? filter_compare_nodes(value, &r->upper) : -1;
    if (order < 0 || (order == 0 && strict)) {
        r->upper = *value;
        r->upper_strict = strict;
    }
    r->has_upper = true;
}

/* Keeps of both ascending lists what is in both. `list` is the caller's to overwrite. */
static void add_list(struct filter_range *r, struct tape_node *list, uint32_t n)
{
    uint32_t kept = 0, k = 0;
    for (uint32_t i = 0; r->values && i < n; i++) {
        while (k < r->n_values && filter_compare_nodes(&r->values[k], &list[i]) < 0)
            k++;
        if (k < r->n_values && filter_compare_nodes(&r->values[k], &list[i]) == 0)
            list[kept++] = list[i];
    }
    r->n_values = r->values ? kept : n;
    r->values = list;
    r->empty |= r->n_values == 0;
}

/* ---- Instants as strings -------------------------------------------------------------------- */

static bool write_day(struct work *w, int64_t day, struct tape_node *ret)
{
    char text[FILTER_DATE_BYTES + 1];
    if (!filter_day_is_writable(day))
        return false;
    filter_day_write(day, text);
    struct str copy = arena_str(w->arena, (struct str){text, FILTER_DATE_BYTES});
    if (!copy.p)
        w->err = ERR_NO_MEMORY;
    *ret = (struct tape_node){.kind = TAPE_STR, .n = copy.n, .v.s = copy.p};
    return copy.p != NULL;
}

static bool is_midnight(struct filter_instant instant)
{
    return instant.ns == 0 && instant.s % SECONDS_PER_DAY == 0;
}

static void bound_date(struct work *w, struct filter_range *r, enum filter_op op,
                       struct filter_instant instant)
{
    struct tape_node day;
    bool midnight = is_midnight(instant);
    if (!write_day(w, filter_instant_day(instant), &day))
        return;
    if (op == FILTER_GT || op == FILTER_GE)
        add_lower(r, &day, op == FILTER_GT || !midnight);
    else
        add_upper(r, &day, op == FILTER_LT && midnight);
}

/* The local date of an instant is at most a day away from that in UTC. */
static void bound_date_time(struct work *w, struct filter_range *r, enum filter_op op,
                            struct filter_instant instant)
{
    struct tape_node day;
    bool lower = op == FILTER_GT || op == FILTER_GE;
    if (!write_day(w, filter_instant_day(instant) + (lower ? -1 : 2), &day))
        return;
    if (lower)
        add_lower(r, &day, false);
    else
        add_upper(r, &day, true);
}

static void list_dates(struct work *w, struct filter_range *r, const struct filter_node *leaf)
{
    uint32_t n = 0;
    struct tape_node *list = arena_array(w->arena, leaf->n_values, sizeof *list);
    if (!list)
        w->err = ERR_NO_MEMORY;
    for (uint32_t i = 0; list && i < leaf->n_values; i++)
        if (is_midnight(leaf->values[i].instant) &&
            write_day(w, filter_instant_day(leaf->values[i].instant), &list[n]))
            n++;
    if (!w->err)
        add_list(r, list, n);
}

static void apply_instants(struct work *w, struct filter_range *r, const struct filter_node *leaf)
{
    const struct filter_value *first = leaf->values, *last = first + leaf->n_values - 1;
    bool dates = leaf->column->type == FILTER_DATE;
    void (*bound)(struct work *, struct filter_range *, enum filter_op, struct filter_instant) =
        dates ? bound_date : bound_date_time;
    r->exact = false; /* a text that is no date may stand between dates */
    if (leaf->column->type == FILTER_ANY)
        return;
    if (leaf->op != FILTER_EQ && leaf->op != FILTER_IN) {
        bound(w, r, leaf->op, first->instant);
    } else if (dates) {
        list_dates(w, r, leaf);
    } else {
        bound(w, r, FILTER_GE, first->instant);
        bound(w, r, FILTER_LE, last->instant);
    }
}

/* ---- Patterns ------------------------------------------------------------------------------- */

static uint32_t read_character(const unsigned char *p, uint32_t n)
{
    uint32_t c = n == 1 ? p[0] : p[0] & (0x7fu >> n);
    for (uint32_t i = 1; i < n; i++)
        c = c << 6 | (p[i] & 0x3f);
    return c;
}

static uint32_t write_character(uint32_t c, char *p)
{
    uint32_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (uint32_t i = n; i-- > 1; c >>= 6)
        p[i] = (char)(0x80 | (c & 0x3f));
    p[0] = (char)(n == 1 ? c : (0xf00u >> n & 0xff) | c);
    return n;
}

/* The least text that is greater than all that begin with `prefix`: its last character plus one.
 * False: there is none. */
static bool successor(struct str prefix, struct arena *arena, struct tape_node *ret)
{
    char *p = arena_alloc(arena, (size_t)prefix.n + 4);
    uint32_t n = prefix.n;
    while (p && n) {
        uint32_t start = n - 1;
        while (start && ((unsigned char)prefix.p[start] & 0xc0) == 0x80)
            start--;
        uint32_t c = read_character((const unsigned char *)prefix.p + start, n - start) + 1;
        if (c == 0xd800)
            c = 0xe000; /* surrogates are no characters */
        n = start;
        if (c > 0x10ffff)
            continue;
        memcpy(p, prefix.p, n);
        n += write_character(c, p + n);
        *ret = (struct tape_node){.kind = TAPE_STR, .n = n, .v.s = p};
        return true;
    }
    return false;
}

static void apply_pattern(struct work *w, struct filter_range *r, const struct filter_node *leaf)
{
    bool whole, rest;
    struct str prefix = filter_like_prefix(leaf->like, &whole, &rest);
    struct tape_node *node = arena_zalloc(w->arena, sizeof *node), after;
    if (!node) {
        w->err = ERR_NO_MEMORY;
        return;
    }
    *node = (struct tape_node){.kind = TAPE_STR, .n = prefix.n, .v.s = prefix.p};
    r->exact &= whole || rest;
    if (whole) {
        add_list(r, node, 1);
        return;
    }
    add_lower(r, node, false);
    if (successor(prefix, w->arena, &after))
        add_upper(r, &after, true);
}

/* ---- Leaves --------------------------------------------------------------------------------- */

static void list_values(struct work *w, struct filter_range *r, const struct filter_node *leaf)
{
    struct tape_node *list = arena_array(w->arena, leaf->n_values, sizeof *list);
    if (!list) {
        w->err = ERR_NO_MEMORY;
        return;
    }
    for (uint32_t i = 0; i < leaf->n_values; i++)
        list[i] = leaf->values[i].node;
    add_list(r, list, leaf->n_values);
}

/* Of an attribute without a type: a number and a string at once is nothing. */
static bool clashes(const struct filter_range *r, const struct filter_node *leaf)
{
    static const uint8_t kinds[] = {
        [TAPE_FALSE] = 1, [TAPE_TRUE] = 1,   [TAPE_INT] = 2,  [TAPE_NUM] = 2,
        [TAPE_STR] = 3,   [TAPE_OBJECT] = 4, [TAPE_ARRAY] = 4};
    const struct tape_node *said = r->values      ? r->n_values ? r->values : NULL
                                   : r->has_lower ? &r->lower
                                   : r->has_upper ? &r->upper
                                                  : NULL;
    return said && kinds[said->kind] != kinds[leaf->values[0].node.kind];
}

static void apply(struct work *w, struct filter_range *r, const struct filter_node *leaf)
{
    r->is_null |= leaf->op == FILTER_IS_NULL;
    r->not_null |= leaf->op != FILTER_IS_NULL;
    if (leaf->op >= FILTER_IS_NULL)
        return;
    if (clashes(r, leaf))
        r->empty = true;
    if (leaf->op == FILTER_NE || leaf->op == FILTER_NOT_IN || leaf->op == FILTER_NOT_LIKE ||
        leaf->container)
        r->exact = false;
    else if (r->empty)
        return;
    else if (leaf->op == FILTER_LIKE)
        apply_pattern(w, r, leaf);
    else if (filter_leaf_class(leaf) == CLASS_INSTANT)
        apply_instants(w, r, leaf);
    else if (leaf->op == FILTER_EQ || leaf->op == FILTER_IN)
        list_values(w, r, leaf);
    else if (leaf->op == FILTER_GT || leaf->op == FILTER_GE)
        add_lower(r, &leaf->values[0].node, leaf->op == FILTER_GT);
    else
        add_upper(r, &leaf->values[0].node, leaf->op == FILTER_LT);
}

static bool is_within(const struct filter_range *r, const struct tape_node *value)
{
    int low = r->has_lower ? filter_compare_nodes(value, &r->lower) : 1;
    int high = r->has_upper ? filter_compare_nodes(value, &r->upper) : -1;
    return (low > 0 || (low == 0 && !r->lower_strict)) &&
           (high < 0 || (high == 0 && !r->upper_strict));
}

/* A list takes the bounds in; contradictions become empty. */
static void settle(struct filter_range *r)
{
    if (r->values && !r->empty) {
        struct tape_node *list = (struct tape_node *)r->values; /* ours: made by add_list */
        uint32_t n = 0;
        for (uint32_t i = 0; i < r->n_values; i++)
            if (is_within(r, &list[i]))
                list[n++] = list[i];
        r->n_values = n;
        r->empty = n == 0;
        r->has_lower = r->has_upper = false;
    }
    if (r->has_lower && r->has_upper) {
        int order = filter_compare_nodes(&r->lower, &r->upper);
        r->empty |= order > 0 || (order == 0 && (r->lower_strict || r->upper_strict));
    }
    r->empty |= r->is_null && r->not_null;
}

static struct filter_bound *bound_of(struct work *w, const struct filter_column *column)
{
    for (uint32_t i = 0; i < w->n; i++)
        if (w->bounds[i].column == column || str_eq(w->bounds[i].column->path, column->path))
            return &w->bounds[i];
    w->bounds[w->n] = (struct filter_bound){.column = column, .range.exact = true};
    return &w->bounds[w->n++];
}

int filter_bounds_make(struct filter *filter, struct arena *arena)
{
    const struct filter_node *root = filter->root;
    struct work w = {.arena = arena};
    if (!root || root->op == FILTER_OR)
        return 0;
    w.bounds = arena_array(arena, root->n_leaves, sizeof *w.bounds);
    if (!w.bounds)
        return ERR_NO_MEMORY;
    for (const struct filter_node *leaf = root->op == FILTER_AND ? root->first : root; leaf;
         leaf = leaf->next)
        if (leaf->op != FILTER_OR)
            apply(&w, &bound_of(&w, leaf->column)->range, leaf);
    for (uint32_t i = 0; i < w.n; i++)
        settle(&w.bounds[i].range);
    filter->bounds = w.bounds;
    filter->n_bounds = w.n;
    return w.err;
}

bool filter_bounds(const struct filter *filter, struct str attribute, struct filter_range *ret)
{
    for (uint32_t i = 0; i < filter->n_bounds; i++)
        if (str_eq(filter->bounds[i].column->path, attribute)) {
            *ret = filter->bounds[i].range;
            return true;
        }
    return false;
}
