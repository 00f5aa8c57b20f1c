/* core/plan.c - see plan.h. Each way to read the table becomes a candidate with a cost; the least
 * wins, and only then its ranges are built. */
#include "core/plan.h"

#include "base/err.h"
#include "base/limits.h"

#include <math.h>
#include <string.h>

/* ---- What the filter says of one part ------------------------------------------------------- */

enum use { USE_NONE, USE_EQUAL, USE_LIST, USE_RANGE };

struct said {
    enum use use;
    bool exact; /* all that the filter's conjunction says of the attribute */
    struct filter_range range;
};

/* Integers know no fractions: > 1.5 is > 1, and < 1.5 is < 2. False: no key lies there. */
static bool fit_lower_integer(struct filter_range *r)
{
    double d = r->lower.v.d;
    if (r->lower.kind == TAPE_INT)
        return true;
    if (d >= 0x1p63)
        return false;
    r->has_lower = d >= -0x1p63;
    if (r->has_lower)
        r->lower = (struct tape_node){.kind = TAPE_INT, .v.i = (int64_t)floor(d)};
    r->lower_strict = true;
    return true;
}

static bool fit_upper_integer(struct filter_range *r)
{
    double d = r->upper.v.d;
    if (r->upper.kind == TAPE_INT)
        return true;
    if (d < -0x1p63)
        return false;
    r->has_upper = d < 0x1p63;
    if (r->has_upper)
        r->upper = (struct tape_node){.kind = TAPE_INT, .v.i = (int64_t)ceil(d)};
    r->upper_strict = true;
    return true;
}

/* A text that is too long for a key: the key of a greater one may begin with all of it that fits.
 */
static void fit_strings(struct said *said)
{
    struct filter_range *r = &said->range;
    if (r->has_lower && r->lower.n > KEY_BYTES_MAX) {
        r->lower.n = KEY_BYTES_MAX;
        while (r->lower.n && ((unsigned char)r->lower.v.s[r->lower.n] & 0xc0) == 0x80)
            r->lower.n--;
        r->lower_strict = said->exact = false;
    }
    if (r->has_upper && r->upper.n > KEY_BYTES_MAX)
        r->has_upper = said->exact = false;
    if (r->has_lower && r->lower.n == 0)
        r->has_lower = said->exact = false;
}

/* Two numbers that are not integers may have one key, so the ends of a range belong to it. */
static void fit_type(struct said *said, enum key_type type)
{
    struct filter_range *r = &said->range;
    bool text = (r->has_lower ? &r->lower : &r->upper)->kind == TAPE_STR;
    bool none = text != (type == KEY_STRING);
    if (type == KEY_STRING && text)
        fit_strings(said);
    else if (type == KEY_INTEGER && !none)
        none = (r->has_lower && !fit_lower_integer(r)) || (r->has_upper && !fit_upper_integer(r));
    else
        said->exact = r->lower_strict = r->upper_strict = false;
    if (none)
        r->has_lower = r->has_upper = false;
}

static bool node_has_type(const struct tape_node *node, enum key_type type)
{
    if (type == KEY_INTEGER)
        return node->kind == TAPE_INT;
    if (type == KEY_STRING)
        return node->kind == TAPE_STR && node->n <= KEY_BYTES_MAX;
    return node->kind != TAPE_STR;
}

/* Are all its values ones that a key can hold? Else the list is left to the test of each row. */
static bool list_fits(const struct filter_range *r, enum key_type type)
{
    for (uint32_t i = 0; i < r->n_values; i++)
        if (!node_has_type(&r->values[i], type))
            return false;
    return r->n_values > 0;
}

/* May it share its key with other numbers? */
static bool is_rounded(const struct tape_node *value, enum key_type type)
{
    return value && type != KEY_INTEGER && (value->kind == TAPE_INT || value->kind == TAPE_NUM);
}

static struct said ask(const struct filter *filter, const struct store_index_part *part)
{
    static const struct tape_node null = {.kind = TAPE_NULL};
    struct said said = {0};
    if (!filter || !filter_bounds(filter, part->attribute, &said.range))
        return said;
    said.exact = said.range.exact;
    if (said.range.is_null) {
        said.range.values = &null;
        said.range.n_values = 1;
        said.use = USE_EQUAL;
    } else if (list_fits(&said.range, part->type)) {
        said.use = said.range.n_values == 1 ? USE_EQUAL : USE_LIST;
    } else if (said.range.has_lower || said.range.has_upper) {
        fit_type(&said, part->type);
        said.use = said.range.has_lower || said.range.has_upper ? USE_RANGE : USE_NONE;
    }
    said.exact &= !is_rounded(said.range.values, part->type);
    return said;
}

/* ---- Candidates ----------------------------------------------------------------------------- */

/* In the order of preference. */
enum cost { COST_POINTS, COST_PRIMARY_RANGE, COST_PREFIX, COST_RANGE, COST_ORDER, COST_SCAN };

struct candidate {
    const struct store_index *index; /* NULL: the primary key */
    const struct store_index_part *parts;
    uint32_t n_parts;
    uint32_t n_equal; /* leading parts with one value */
    struct said next; /* the part behind them */
    bool ordered, descending, unique;
    enum cost cost;
    uint32_t worth; /* among those of one cost: the greater the better */
};

static bool both_ends(const struct filter_range *r)
{
    return r->has_lower && r->has_upper;
}

static uint32_t worth_of(const struct candidate *c)
{
    static const uint32_t uses[] = {
        [USE_NONE] = 0, [USE_EQUAL] = 4, [USE_LIST] = 3, [USE_RANGE] = 1};
    bool closed = c->next.use == USE_RANGE && both_ends(&c->next.range);
    if (c->unique)
        return UINT32_MAX - (c->next.use == USE_LIST ? c->next.range.n_values : 1);
    return c->n_equal * 4 + uses[c->next.use] + closed;
}

static bool is_null(const struct filter *filter, const struct store_index_part *part)
{
    struct filter_range r;
    return filter_bounds(filter, part->attribute, &r) && r.is_null;
}

/* Null is not unique: any number of rows may have it. */
static bool has_points(const struct plan_query *q, const struct candidate *c)
{
    uint32_t n = c->n_equal + (c->next.use == USE_LIST);
    if (n < c->n_parts || (c->index && !c->index->unique))
        return false;
    for (uint32_t i = 0; i < c->n_equal; i++)
        if (is_null(q->filter, &c->parts[i]))
            return false;
    return true;
}

static enum cost cost_of(const struct candidate *c)
{
    if (c->unique)
        return COST_POINTS;
    if (c->n_equal || c->next.use == USE_LIST)
        return COST_PREFIX;
    if (c->next.use == USE_RANGE)
        return c->index || !both_ends(&c->next.range) ? COST_RANGE : COST_PRIMARY_RANGE;
    return COST_SCAN;
}

/* ---- Order ---------------------------------------------------------------------------------- */

/* One value in all rows that match: its place in an order says nothing. */
static bool is_constant(const struct filter *filter, struct str attribute)
{
    struct filter_range r;
    return filter && filter_bounds(filter, attribute, &r) && (r.is_null || r.n_values == 1);
}

struct sequence {
    struct plan_order *v;
    uint32_t n;
};

/* Adds unless it changes nothing: constant, there already, or behind the primary key. */
static void add_order(struct sequence *s, const struct plan_query *q, struct plan_order order)
{
    bool is_key = str_eq(order.attribute, q->key.attribute);
    if (!is_key && is_constant(q->filter, order.attribute))
        return;
    for (uint32_t i = 0; i < s->n; i++)
        if (str_eq(s->v[i].attribute, order.attribute) ||
            str_eq(s->v[i].attribute, q->key.attribute))
            return;
    s->v[s->n++] = order;
}

static int wanted_order(const struct plan_query *q, struct arena *arena, struct sequence *ret)
{
    ret->v = arena_array(arena, (size_t)q->n_order + 1, sizeof *ret->v);
    ret->n = 0;
    if (!ret->v)
        return ERR_NO_MEMORY;
    for (uint32_t i = 0; i < q->n_order; i++)
        add_order(ret, q, q->order[i]);
    return 0;
}

/* The order in which a candidate gives its rows, read forwards. */
static int natural_order(const struct plan_query *q, const struct candidate *c, struct arena *arena,
                         struct sequence *ret)
{
    ret->v = arena_array(arena, (size_t)c->n_parts + 1, sizeof *ret->v);
    ret->n = 0;
    if (!ret->v)
        return ERR_NO_MEMORY;
    for (uint32_t i = 0; i < c->n_parts; i++)
        add_order(ret, q, (struct plan_order){c->parts[i].attribute, c->parts[i].descending});
    add_order(ret, q, (struct plan_order){q->key.attribute, q->key.descending});
    return 0;
}

/* Does reading it, in one direction, give the wanted order? */
static void match_order(struct candidate *c, const struct sequence *natural,
                        const struct sequence *wanted)
{
    c->ordered = wanted->n <= natural->n;
    c->descending = wanted->n && wanted->v[0].descending != natural->v[0].descending;
    for (uint32_t i = 0; c->ordered && i < wanted->n; i++)
        c->ordered = str_eq(wanted->v[i].attribute, natural->v[i].attribute) &&
                     (wanted->v[i].descending != natural->v[i].descending) == c->descending;
    c->descending &= c->ordered;
}

/* ---- Choosing ------------------------------------------------------------------------------- */

static int weigh(const struct plan_query *q, const struct sequence *wanted, struct arena *arena,
                 struct candidate *c)
{
    struct sequence natural;
    struct said said = {0};
    while (c->n_equal < c->n_parts &&
           (said = ask(q->filter, &c->parts[c->n_equal])).use == USE_EQUAL)
        c->n_equal++;
    if (c->n_equal < c->n_parts)
        c->next = said;
    int err = natural_order(q, c, arena, &natural);
    if (err < 0)
        return err;
    match_order(c, &natural, wanted);
    c->unique = has_points(q, c);
    c->cost = cost_of(c);
    if (c->cost == COST_SCAN && c->ordered && wanted->n)
        c->cost = COST_ORDER;
    c->worth = worth_of(c);
    return 0;
}

static bool is_better(const struct candidate *a, const struct candidate *b)
{
    if (a->cost != b->cost)
        return a->cost < b->cost;
    if (a->worth != b->worth)
        return a->worth > b->worth;
    if (a->ordered != b->ordered)
        return a->ordered;
    if (!a->index != !b->index)
        return !a->index;
    return a->n_parts < b->n_parts;
}

static int choose(const struct plan_query *q, const struct sequence *wanted, struct arena *arena,
                  struct candidate *ret)
{
    struct candidate best = {.parts = &q->key, .n_parts = 1};
    int err = weigh(q, wanted, arena, &best);
    for (uint32_t i = 0; err == 0 && i < q->n_indexes; i++) {
        const struct store_index *index = &q->indexes[i];
        struct candidate c = {.index = index, .parts = index->parts, .n_parts = index->n_parts};
        if (!index->ready)
            continue;
        err = weigh(q, wanted, arena, &c);
        if (err == 0 && c.cost < COST_SCAN && is_better(&c, &best))
            best = c;
    }
    *ret = best;
    return err;
}

/* ---- Building ------------------------------------------------------------------------------- */

static int build_ranges(const struct plan_query *q, const struct candidate *c, struct arena *arena,
                        struct plan *plan)
{
    const struct filter_range *next = &c->next.range;
    bool list = c->next.use == USE_LIST;
    uint32_t n = list ? next->n_values : 1, n_equal = c->n_equal + list;
    struct plan_range *ranges = arena_array(arena, n, sizeof *ranges);
    struct tape_node *equal = arena_array(arena, (size_t)n * (n_equal + 1), sizeof *equal);
    if (!ranges || !equal)
        return ERR_NO_MEMORY;
    for (uint32_t i = 0; i < n; i++, equal += n_equal) {
        ranges[i] = (struct plan_range){.equal = equal, .n_equal = n_equal};
        for (uint32_t k = 0; k < c->n_equal; k++)
            equal[k] = ask(q->filter, &c->parts[k]).range.values[0];
        if (list) /* in the order of the index */
            equal[c->n_equal] = next->values[c->parts[c->n_equal].descending ? n - 1 - i : i];
    }
    if (c->next.use == USE_RANGE) {
        ranges->has_lower = next->has_lower;
        ranges->lower = next->lower;
        ranges->lower_strict = next->lower_strict;
        ranges->has_upper = next->has_upper;
        ranges->upper = next->upper;
        ranges->upper_strict = next->upper_strict;
    }
    plan->ranges = ranges;
    plan->n_ranges = n;
    return 0;
}

/* The order of the rows: the candidate's own if it serves, else the wanted one; to the end. */
static int build_order(const struct plan_query *q, const struct candidate *c,
                       const struct sequence *wanted, struct arena *arena, struct plan *plan)
{
    struct sequence order = *wanted; /* has room for the key */
    if (c->ordered) {
        int err = natural_order(q, c, arena, &order);
        if (err < 0)
            return err;
        for (uint32_t i = 0; i < order.n; i++)
            order.v[i].descending ^= c->descending;
    } else {
        add_order(&order, q, (struct plan_order){q->key.attribute, false});
    }
    plan->order = order.v;
    plan->n_order = order.n;
    return 0;
}

/* The leaves that the top-level conjunction consists of; NULL at the end. */
static const struct filter_node *first_leaf(const struct filter *filter)
{
    const struct filter_node *root = filter ? filter_root(filter) : NULL;
    return root && root->op == FILTER_AND ? root->first : root;
}

static bool says_leaf(const struct plan_query *q, const struct candidate *c,
                      const struct filter_node *leaf)
{
    uint32_t n_used = c->n_equal + (c->next.use != USE_NONE);
    for (uint32_t i = 0; leaf->op != FILTER_OR && i < n_used; i++)
        if (str_eq(c->parts[i].attribute, leaf->column->path))
            return ask(q->filter, &c->parts[i]).exact;
    return false;
}

static bool needs_test(const struct plan_query *q, const struct candidate *c)
{
    for (const struct filter_node *leaf = first_leaf(q->filter); leaf; leaf = leaf->next)
        if (!says_leaf(q, c, leaf))
            return true;
    return false;
}

/* No integer is 1.5, or lies above 1e300. */
static bool is_no_integer(const struct filter *filter, const struct store_index_part *key)
{
    struct filter_range r;
    if (key->type != KEY_INTEGER || !filter_bounds(filter, key->attribute, &r))
        return false;
    for (uint32_t i = 0; i < r.n_values; i++)
        if (r.values[i].kind == TAPE_INT)
            return false;
    return r.n_values || (r.has_lower && r.lower.kind == TAPE_NUM && !fit_lower_integer(&r)) ||
           (r.has_upper && r.upper.kind == TAPE_NUM && !fit_upper_integer(&r));
}

static bool is_impossible(const struct filter *filter, const struct store_index_part *key)
{
    struct filter_range r;
    for (const struct filter_node *leaf = first_leaf(filter); leaf; leaf = leaf->next)
        if (leaf->op != FILTER_OR && filter_bounds(filter, leaf->column->path, &r) && r.empty)
            return true;
    return filter && (is_null(filter, key) || is_no_integer(filter, key));
}

/* Which attribute an index would serve: never the primary key, which is one. An equality is worth
 * most, then a range, then the order. */
static struct str advise(const struct plan_query *q, const struct candidate *c,
                         const struct sequence *wanted)
{
    struct str ranged = STR_NONE;
    for (const struct filter_node *leaf = first_leaf(q->filter); leaf; leaf = leaf->next) {
        struct filter_range r;
        if (leaf->op == FILTER_OR || str_eq(leaf->column->path, q->key.attribute) ||
            !filter_bounds(q->filter, leaf->column->path, &r))
            continue;
        if (r.n_values || r.is_null)
            return leaf->column->path;
        if (!ranged.p && (r.has_lower || r.has_upper))
            ranged = leaf->column->path;
    }
    if (ranged.p || c->ordered)
        return ranged;
    return wanted->v[0].attribute; /* of an empty order every way is one */
}

int plan_make(const struct plan_query *query, struct arena *arena, struct plan *ret)
{
    struct sequence wanted;
    struct candidate c;
    int err = wanted_order(query, arena, &wanted);
    if (err < 0 || (err = choose(query, &wanted, arena, &c)) < 0)
        return err;
    bool scan = c.cost == COST_SCAN || c.cost == COST_ORDER;
    struct plan plan = {
        .access = c.index ? PLAN_INDEX
                  : scan  ? PLAN_SCAN
                          : PLAN_PRIMARY,
        .index = c.index,
        .parts = c.parts,
        .n_parts = c.n_parts,
        .unique = c.unique,
        .descending = c.descending,
        .ordered = c.ordered,
        .test = needs_test(query, &c),
        .advice = scan ? advise(query, &c, &wanted) : STR_NONE,
    };
    if ((err = build_ranges(query, &c, arena, &plan)) < 0 ||
        (err = build_order(query, &c, &wanted, arena, &plan)) < 0)
        return err;
    if (is_impossible(query->filter, &query->key)) {
        plan.access = PLAN_NOTHING;
        plan.index = NULL;
        plan.n_ranges = 0;
        plan.test = false;
        plan.ordered = true;
        plan.advice = STR_NONE;
    }
    *ret = plan;
    return 0;
}
