/* schema/filter.c - see filter.h. Here: the entry points, faults, and the compiled form.
 *
 * The tree's leaves, in order, become steps. Each knows where to go when it is true and when it is
 * not, so a test is a loop without recursion that looks at no leaf in vain.
 */
#include "schema/filter.h"

#include "base/err.h"
#include "runtime/schema/filter_grammar.h"
#include "schema/filter_date.h"
#include "schema/filter_parts.h"

#include <stdio.h>
#include <string.h>

/* ---- Faults --------------------------------------------------------------------------------- */

static bool is_tail(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

static uint32_t column_of(const struct filter_build *b, uint32_t offset)
{
    uint32_t column = 1;
    for (uint32_t i = 0; i < offset; i++)
        column += !is_tail(b->start[i]);
    return column;
}

/* At most size - 1 bytes, whole characters, "..." where it was cut. */
static void cut_into(char *to, size_t size, const char *text, size_t n)
{
    bool cut = n > size - 1;
    if (cut) {
        n = size - 4;
        while (n && is_tail(text[n]))
            n--;
    }
    for (size_t i = 0; i < n; i++)
        to[i] = (unsigned char)text[i] < ' ' ? '?' : text[i];
    memcpy(to + n, cut ? "..." : "", cut ? 4 : 1);
}

static void show_found(struct filter_fault *fault, const struct filter_token *at)
{
    if (at->kind == 0)
        strcpy(fault->found, "the end");
    else if (at->text.n == 1 && (unsigned char)at->text.p[0] >= 0x80)
        snprintf(fault->found, sizeof fault->found, "byte %02x", (unsigned char)at->text.p[0]);
    else
        cut_into(fault->found, sizeof fault->found, at->text.p, at->text.n);
}

void filter_fail(struct filter_build *b, int err, const struct filter_token *at,
                 const char *expected_fmt, ...)
{
    char expected[512];
    va_list args;
    if (b->err)
        return;
    b->err = err;
    b->fault = (struct filter_fault){0};
    if (!at)
        at = &b->newest;
    if (b->start) {
        b->fault.column = column_of(b, at->offset);
        show_found(&b->fault, at);
    }
    va_start(args, expected_fmt);
    int n = vsnprintf(expected, sizeof expected, expected_fmt, args);
    va_end(args);
    if (n >= (int)sizeof expected)
        n = sizeof expected - 1;
    cut_into(b->fault.expected, sizeof b->fault.expected, expected, n < 0 ? 0 : (size_t)n);
}

void filter_no_memory(struct filter_build *b)
{
    filter_fail(b, ERR_NO_MEMORY, NULL, "memory");
}

/* What stands for a token in a fault; neighbours with the same words are one. */
static const struct {
    int token;
    const char *name;
} shown[] = {
    {FILTER_TOKEN_NAME, "an attribute"},
    {FILTER_TOKEN_QUOTED, "an attribute"},
    {FILTER_TOKEN_NUMBER, "a value ('text', a number, true, false, date '2024-01-31')"},
    {FILTER_TOKEN_EQ, "a comparison (= != < <= > >=)"},
    {FILTER_TOKEN_DOT, "."},
    {FILTER_TOKEN_IN, "in"},
    {FILTER_TOKEN_BETWEEN, "between"},
    {FILTER_TOKEN_LIKE, "like"},
    {FILTER_TOKEN_IS, "is"},
    {FILTER_TOKEN_NOT, "not"},
    {FILTER_TOKEN_AND, "and"},
    {FILTER_TOKEN_OR, "or"},
    {FILTER_TOKEN_COMMA, ","},
    {FILTER_TOKEN_LPAREN, "("},
    {FILTER_TOKEN_RPAREN, ")"},
    {0, "the end"},
};

static void add_word(struct buf *out, const char *word)
{
    if (out->n)
        buf_add_lit(out, ", ");
    buf_add_str(out, str_of(word));
}

void filter_fail_syntax(struct filter_build *b, const struct filter_token *at, const bool *expected)
{
    struct buf list = {0};
    const char *before = "";
    bool value = expected[FILTER_TOKEN_NUMBER];
    if (!value && expected[FILTER_TOKEN_STRING])
        add_word(&list, "a pattern ('text')");
    if (!value && expected[FILTER_TOKEN_NULL])
        add_word(&list, "null");
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        if (expected[shown[i].token] && strcmp(shown[i].name, before) != 0)
            add_word(&list, before = shown[i].name);
    bool quoted = (value || expected[FILTER_TOKEN_STRING]) && at->kind == FILTER_TOKEN_QUOTED;
    filter_fail(b, ERR_SYNTAX, at, STR_FMT "%s", STR_ARG(buf_str(&list)),
                quoted ? "; text stands in single quotes" : "");
    if (list.failed)
        b->err = ERR_NO_MEMORY;
    buf_done(&list);
}

void filter_fault_write(const struct filter_fault *fault, struct buf *out)
{
    if (fault->column)
        buf_printf(out, "column %u: ", fault->column);
    if (fault->found[0])
        buf_printf(out, "found %s, ", fault->found);
    buf_printf(out, "expected %s", fault->expected);
    if (fault->suggestion[0])
        buf_printf(out, "; did you mean %s?", fault->suggestion);
}

/* ---- Steps ---------------------------------------------------------------------------------- */

#define LESS    1
#define EQUAL   2
#define GREATER 4

static const uint8_t order_masks[] = {
    [FILTER_EQ] = EQUAL,   [FILTER_NE] = LESS | GREATER, [FILTER_LT] = LESS,
    [FILTER_GT] = GREATER, [FILTER_LE] = LESS | EQUAL,   [FILTER_GE] = GREATER | EQUAL,
    [FILTER_IS_NULL] = 0,
};

static void emit(struct filter_step *steps, uint16_t at, const struct filter_node *node,
                 uint16_t on_true, uint16_t on_false)
{
    if (node->op > FILTER_OR) {
        bool valued = node->n_values != 0;
        steps[at] = (struct filter_step){
            .leaf = node,
            .class = (uint8_t)(valued ? filter_leaf_class(node) : CLASS_JSON),
            .order_mask = node->op < FILTER_IN ? order_masks[node->op] : 0,
            .on_true = on_true,
            .on_false = on_false,
        };
        return;
    }
    for (const struct filter_node *child = node->first; child; child = child->next) {
        uint16_t behind = (uint16_t)(at + child->n_leaves);
        bool conjunction = node->op == FILTER_AND;
        emit(steps, at, child, child->next && conjunction ? behind : on_true,
             child->next && !conjunction ? behind : on_false);
        at = behind;
    }
}

static int finish(struct filter_build *b, const struct filter **ret)
{
    struct filter *filter = arena_zalloc(b->arena, sizeof *filter);
    uint32_t n = b->root ? b->root->n_leaves : 0;
    struct filter_step *steps = arena_array(b->arena, n + 1, sizeof *steps);
    if (!filter || !steps)
        return ERR_NO_MEMORY;
    if (n) {
        filter_settle(b->root);
        emit(steps, 0, b->root, STEP_ACCEPT, STEP_REJECT);
    }
    filter->root = b->root;
    filter->steps = steps;
    filter->n_steps = n;
    for (uint32_t i = 0; i < n; i++)
        filter->has_like |= steps[i].leaf->like != NULL;
    int err = filter_bounds_make(filter, b->arena);
    if (err == 0)
        *ret = filter;
    return err;
}

/* ---- Compiling ------------------------------------------------------------------------------ */

static int end(struct filter_build *b, const struct filter **ret, struct filter_fault *fault)
{
    if (!b->err)
        b->err = finish(b, ret);
    if (b->err && fault)
        *fault = b->fault;
    return b->err;
}

int filter_compile(struct str text, const struct filter_columns *columns, struct arena *arena,
                   const struct filter **ret, struct filter_fault *fault)
{
    struct filter_build b = {.arena = arena, .columns = columns};
    if (text.n > FILTER_BYTES_MAX) {
        filter_fail(&b, ERR_LIMIT, NULL, "a filter of at most %u bytes", FILTER_BYTES_MAX);
        return end(&b, ret, fault);
    }
    struct str copy = arena_str(arena, text);
    if (!copy.p)
        return ERR_NO_MEMORY;
    b.start = b.at = copy.p;
    b.end = copy.p + copy.n;
    filter_parse(&b);
    return end(&b, ret, fault);
}

static const struct filter_column *column_of_key(struct filter_build *b, struct str key)
{
    const struct filter_column *column = filter_find_column(b->columns, key);
    if (column)
        return column;
    struct filter_path path = {.token.text = key, .names = {key}, .n_names = 1};
    return filter_resolve(b, &path);
}

/* Without a text there is no column: the attribute says where. */
static void name_place(struct filter_build *b, struct str key)
{
    if (!b->fault.found[0])
        cut_into(b->fault.found, sizeof b->fault.found, key.p, key.n);
}

int filter_from_object(const struct tape_node *object, const struct filter_columns *columns,
                       struct arena *arena, const struct filter **ret, struct filter_fault *fault)
{
    struct filter_build b = {.arena = arena, .columns = columns};
    tape_each (object, key, value) {
        const struct filter_column *column = column_of_key(&b, tape_str(key));
        struct filter_node *leaf = b.err ? NULL : filter_equal_json(&b, column, value);
        if (leaf && b.root)
            leaf = filter_join(&b, FILTER_AND, b.root, leaf);
        if (b.err) {
            name_place(&b, tape_str(key));
            break;
        }
        b.root = leaf;
    }
    return end(&b, ret, fault);
}

const struct filter_node *filter_root(const struct filter *filter)
{
    return filter->root;
}

/* ---- Testing -------------------------------------------------------------------------------- */

static inline const struct tape_node *member(const struct tape_node *object, struct str name)
{
    if (object->kind != TAPE_OBJECT)
        return NULL;
    tape_each (object, key, value)
        if (key->n == name.n && memcmp(key->v.s, name.p, name.n) == 0)
            return value;
    return NULL;
}

static const struct tape_node *look_up(const struct filter_column *column,
                                       const struct tape_node *row)
{
    for (uint32_t i = 0; row && i < column->n_names; i++)
        row = member(row, column->names[i]);
    return row && row->kind != TAPE_NULL ? row : NULL;
}

/* Can it be compared? The value then stands in *ret. */
static bool take(const struct filter_step *step, const struct tape_node *value,
                 struct filter_value *ret)
{
    switch ((enum filter_class)step->class) {
    case CLASS_NUMBER:
        ret->node = *value;
        return value->kind == TAPE_INT || value->kind == TAPE_NUM;
    case CLASS_STRING:
        ret->node = *value;
        return value->kind == TAPE_STR;
    case CLASS_BOOLEAN:
        ret->node = *value;
        return value->kind == TAPE_TRUE || value->kind == TAPE_FALSE;
    case CLASS_INSTANT:
        return value->kind == TAPE_STR &&
               filter_read_instant(step->leaf->column->type, tape_str(value), &ret->instant);
    default:
        return value->kind == step->leaf->values[0].node.kind;
    }
}

static bool is_listed(const struct filter_step *step, const struct filter_value *value)
{
    const struct filter_value *values = step->leaf->values;
    uint32_t low = 0, high = step->leaf->n_values;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        int order = filter_compare_values(step->class, value, &values[middle]);
        if (order == 0)
            return true;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return false;
}

/* 1, 0, or an error of the watch. */
static int test_step(const struct filter_step *step, const struct tape_node *row,
                     const struct filter_watch *watch)
{
    const struct filter_node *leaf = step->leaf;
    const struct tape_node *value = look_up(leaf->column, row);
    struct filter_value taken;
    if (leaf->op >= FILTER_IS_NULL)
        return (leaf->op == FILTER_IS_NULL) == !value;
    if (!value || !take(step, value, &taken))
        return false;
    if (leaf->op >= FILTER_LIKE) {
        int found = filter_like_test(leaf->like, tape_str(value), watch);
        return found < 0 ? found : found == (leaf->op == FILTER_LIKE);
    }
    if (leaf->op >= FILTER_IN)
        return is_listed(step, &taken) == (leaf->op == FILTER_IN);
    if (step->class == CLASS_JSON)
        return tape_equal(leaf->container, value) == (leaf->op == FILTER_EQ);
    int order = filter_compare_values(step->class, &taken, leaf->values);
    return step->order_mask >> (order < 0 ? 0 : order > 0 ? 2 : 1) & 1;
}

int filter_test_watched(const struct filter *filter, const struct tape_node *row,
                        const struct filter_watch *watch)
{
    uint16_t at = filter->n_steps ? 0 : STEP_ACCEPT;
    while (at < STEP_REJECT) {
        const struct filter_step *step = &filter->steps[at];
        int found = test_step(step, row, watch);
        if (found < 0)
            return found;
        at = found ? step->on_true : step->on_false;
    }
    return at == STEP_ACCEPT;
}

bool filter_test(const struct filter *filter, const struct tape_node *row)
{
    return filter_test_watched(filter, row, NULL);
}

uint64_t filter_cost(const struct filter *filter, const struct tape_node *row)
{
    uint64_t cost = 0;
    for (uint32_t i = 0; filter->has_like && i < filter->n_steps; i++) {
        const struct filter_node *leaf = filter->steps[i].leaf;
        if (leaf->op != FILTER_LIKE && leaf->op != FILTER_NOT_LIKE)
            continue;
        const struct tape_node *value = look_up(leaf->column, row);
        if (value && value->kind == TAPE_STR)
            cost += (uint64_t)value->n * filter_like_weight(leaf->like);
    }
    return cost;
}
