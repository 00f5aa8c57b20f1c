/* schema/filter_tree.c - the order of values, and the tree: joined, negated, its lists settled.
 *
 * A negation never becomes a node. `not` turns and into or and each leaf into its opposite, which
 * holds in three-valued logic too; then "unknown" and "false" need no longer be told apart, since
 * and and or of what is left are true exactly when enough of their leaves are true.
 */
#include "schema/filter_parts.h"

#include "schema/filter_date.h"

#include <stdlib.h>
#include <string.h>

/* ---- Order of values ------------------------------------------------------------------------ */

enum filter_class filter_class_of(const struct filter_value *value)
{
    static const uint8_t classes[] = {
        [TAPE_NULL] = CLASS_JSON,  [TAPE_FALSE] = CLASS_BOOLEAN, [TAPE_TRUE] = CLASS_BOOLEAN,
        [TAPE_INT] = CLASS_NUMBER, [TAPE_NUM] = CLASS_NUMBER,    [TAPE_STR] = CLASS_STRING,
        [TAPE_ARRAY] = CLASS_JSON, [TAPE_OBJECT] = CLASS_JSON,
    };
    return value->is_instant ? CLASS_INSTANT : classes[value->node.kind];
}

enum filter_class filter_leaf_class(const struct filter_node *leaf)
{
    return filter_class_of(leaf->values);
}

int filter_compare_numbers(const struct tape_node *a, const struct tape_node *b)
{
    if (a->kind == TAPE_INT && b->kind == TAPE_INT)
        return (a->v.i > b->v.i) - (a->v.i < b->v.i);
    if (a->kind == TAPE_NUM && b->kind == TAPE_NUM)
        return (a->v.d > b->v.d) - (a->v.d < b->v.d);
    if (a->kind == TAPE_NUM)
        return -filter_compare_numbers(b, a);
    double d = b->v.d;
    if (d >= 0x1p63)
        return -1;
    if (d < -0x1p63)
        return 1;
    int64_t whole = (int64_t)d; /* towards zero */
    if (a->v.i != whole)
        return a->v.i < whole ? -1 : 1;
    double rest = d - (double)whole; /* exact: what has a fraction is below 2^53 */
    return (rest < 0) - (rest > 0);
}

int filter_compare_nodes(const struct tape_node *a, const struct tape_node *b)
{
    if (a->kind == TAPE_STR)
        return str_compare(tape_str(a), tape_str(b));
    if (a->kind == TAPE_INT || a->kind == TAPE_NUM)
        return filter_compare_numbers(a, b);
    return (a->kind > b->kind) - (a->kind < b->kind);
}

int filter_compare_values(enum filter_class class, const struct filter_value *a,
                          const struct filter_value *b)
{
    if (class == CLASS_INSTANT)
        return filter_instant_compare(a->instant, b->instant);
    return filter_compare_nodes(&a->node, &b->node);
}

static int by_value(const void *a, const void *b)
{
    const struct filter_value *x = a, *y = b;
    return filter_compare_values(filter_class_of(x), x, y);
}

/* ---- The tree ------------------------------------------------------------------------------- */

static bool is_equality(const struct filter_node *node)
{
    return (node->op == FILTER_EQ || node->op == FILTER_IN) &&
           filter_leaf_class(node) != CLASS_JSON;
}

/* Doubles, so that a long chain of equalities costs no square of memory. */
static bool make_room(struct filter_build *b, struct filter_node *leaf, uint32_t n)
{
    if (n <= leaf->values_cap)
        return true;
    uint32_t cap = n > leaf->values_cap * 2 ? n : leaf->values_cap * 2;
    struct filter_value *values = arena_array(b->arena, cap, sizeof *values);
    if (!values) {
        filter_no_memory(b);
        return false;
    }
    memcpy(values, leaf->values, leaf->n_values * sizeof *values);
    leaf->values = values;
    leaf->values_cap = cap;
    return true;
}

/* x = 1 or x in (2, 3): one list, which an index can serve. */
static bool merge_equality(struct filter_build *b, struct filter_node *into,
                           const struct filter_node *more)
{
    if (!is_equality(into) || !is_equality(more) ||
        !str_eq(into->column->path, more->column->path) ||
        filter_leaf_class(into) != filter_leaf_class(more))
        return false;
    if (!make_room(b, into, into->n_values + more->n_values))
        return true;
    memcpy(into->values + into->n_values, more->values, more->n_values * sizeof *more->values);
    into->n_values += more->n_values;
    into->op = FILTER_IN;
    return true;
}

static void append(struct filter_node *parent, struct filter_node *child)
{
    child->next = NULL;
    if (parent->last)
        parent->last->next = child;
    else
        parent->first = child;
    parent->last = child;
    parent->n_leaves += child->n_leaves;
}

/* Adds a leaf or a node of the other op. */
static void add_child(struct filter_build *b, struct filter_node *parent, struct filter_node *child)
{
    if (parent->op == FILTER_OR)
        for (struct filter_node *sibling = parent->first; sibling; sibling = sibling->next)
            if (merge_equality(b, sibling, child))
                return;
    append(parent, child);
}

static void add_all(struct filter_build *b, struct filter_node *parent, struct filter_node *node)
{
    if (node->op != parent->op) {
        add_child(b, parent, node);
        return;
    }
    for (struct filter_node *child = node->first, *next; child; child = next) {
        next = child->next;
        add_child(b, parent, child);
    }
}

struct filter_node *filter_join(struct filter_build *b, enum filter_op op, struct filter_node *left,
                                struct filter_node *right)
{
    struct filter_node *parent = filter_node_new(b);
    if (!parent)
        return NULL;
    if (left->op == op) {
        parent = left;
    } else {
        parent->op = op;
        add_child(b, parent, left);
    }
    add_all(b, parent, right);
    return parent->first == parent->last ? parent->first : parent;
}

static const uint8_t opposite[] = {
    [FILTER_AND] = FILTER_OR,
    [FILTER_OR] = FILTER_AND,
    [FILTER_EQ] = FILTER_NE,
    [FILTER_NE] = FILTER_EQ,
    [FILTER_LT] = FILTER_GE,
    [FILTER_LE] = FILTER_GT,
    [FILTER_GT] = FILTER_LE,
    [FILTER_GE] = FILTER_LT,
    [FILTER_IN] = FILTER_NOT_IN,
    [FILTER_NOT_IN] = FILTER_IN,
    [FILTER_LIKE] = FILTER_NOT_LIKE,
    [FILTER_NOT_LIKE] = FILTER_LIKE,
    [FILTER_IS_NULL] = FILTER_NOT_NULL,
    [FILTER_NOT_NULL] = FILTER_IS_NULL,
};

/* Takes the children out and puts their opposites in again, since equalities that stand side by
 * side under an `or` now become a list. */
struct filter_node *filter_negate(struct filter_build *b, struct filter_node *node, bool really)
{
    if (b->err || !really)
        return node;
    node->op = opposite[node->op];
    if (node->op > FILTER_OR)
        return node;
    struct filter_node *child = node->first, *next;
    node->first = node->last = NULL;
    node->n_leaves = 0;
    for (; child; child = next) {
        next = child->next;
        add_child(b, node, filter_negate(b, child, true));
    }
    return node->first == node->last ? node->first : node;
}

/* Sorts a list and takes out what is there twice; one value is an equality. */
static void settle_list(struct filter_node *leaf)
{
    uint32_t n = 1;
    qsort(leaf->values, leaf->n_values, sizeof *leaf->values, by_value);
    for (uint32_t i = 1; i < leaf->n_values; i++)
        if (by_value(&leaf->values[n - 1], &leaf->values[i]) != 0)
            leaf->values[n++] = leaf->values[i];
    leaf->n_values = n;
    if (n == 1)
        leaf->op = leaf->op == FILTER_IN ? FILTER_EQ : FILTER_NE;
}

void filter_settle(struct filter_node *node)
{
    if (node->op == FILTER_IN || node->op == FILTER_NOT_IN)
        settle_list(node);
    for (struct filter_node *child = node->first; child; child = child->next)
        filter_settle(child);
}
