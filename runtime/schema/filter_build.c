/* schema/filter_build.c - what the grammar calls: literals, leaves with their types checked, and
 * what they may stand against. The tree is filter_tree.c's. */
#include "schema/filter_parts.h"

#include "base/err.h"
#include "runtime/schema/filter_grammar.h"
#include "schema/filter_date.h"

#include <string.h>

/* ---- Limits --------------------------------------------------------------------------------- */

void filter_enter(struct filter_build *b, struct filter_token token)
{
    if (++b->depth > FILTER_DEPTH_MAX)
        filter_fail(b, ERR_LIMIT, &token, "at most %d nested parentheses and nots",
                    FILTER_DEPTH_MAX);
}

void filter_leave(struct filter_build *b)
{
    b->depth--;
}

struct filter_node *filter_node_new(struct filter_build *b)
{
    if (b->err)
        return NULL;
    if (b->n_nodes++ == FILTER_NODES_MAX)
        filter_fail(b, ERR_LIMIT, NULL, "at most %d comparisons, ands and ors", FILTER_NODES_MAX);
    struct filter_node *node = arena_zalloc(b->arena, sizeof *node);
    if (!node)
        filter_no_memory(b);
    return b->err ? NULL : node;
}

/* ---- Names ---------------------------------------------------------------------------------- */

/* The text between quotes, each two of them inside as one. */
static struct str unquote(struct filter_build *b, struct str quoted)
{
    char quote = quoted.p[0];
    char *p = arena_alloc(b->arena, quoted.n);
    uint32_t n = 0;
    if (!p) {
        filter_no_memory(b);
        return STR_NONE;
    }
    for (uint32_t i = 1; i + 1 < quoted.n; i++) {
        p[n++] = quoted.p[i];
        i += quoted.p[i] == quote;
    }
    return (struct str){p, n};
}

static struct str name_of(struct filter_build *b, const struct filter_token *token)
{
    return token->kind == FILTER_TOKEN_QUOTED ? unquote(b, token->text) : token->text;
}

struct filter_path *filter_path_begin(struct filter_build *b, struct filter_token name)
{
    struct filter_path *path = b->err ? NULL : arena_zalloc(b->arena, sizeof *path);
    if (!path) {
        filter_no_memory(b);
        return NULL;
    }
    path->token = name;
    path->names[path->n_names++] = name_of(b, &name);
    return path;
}

struct filter_path *filter_path_add(struct filter_build *b, struct filter_path *path,
                                    struct filter_token name)
{
    if (b->err)
        return NULL;
    if (path->n_names == FILTER_PATH_MAX) {
        filter_fail(b, ERR_LIMIT, &name, "at most %d names in a path", FILTER_PATH_MAX);
        return NULL;
    }
    path->token.text.n = name.offset + name.text.n - path->token.offset;
    path->names[path->n_names++] = name_of(b, &name);
    return path;
}

/* ---- Literals ------------------------------------------------------------------------------- */

/* As a row's numbers are read, so that both have the same kind. */
static void read_number(struct filter_build *b, struct filter_literal *literal)
{
    struct str text = literal->token.text;
    const struct tape_node *node;
    char *copy = arena_zalloc(b->arena, (size_t)text.n + JSON_PADDING_BYTES);
    if (!copy) {
        filter_no_memory(b);
        return;
    }
    memcpy(copy, text.p, text.n);
    int err = tape_open((struct str){copy, text.n}, b->arena, &node, NULL);
    if (err == ERR_NO_MEMORY)
        filter_no_memory(b);
    else if (err < 0)
        filter_fail(b, ERR_SYNTAX, &literal->token, "a number that a double can hold");
    else if (node->kind == TAPE_NUM && node->v.d == 0) /* -0.0 */
        literal->value.node = (struct tape_node){.kind = TAPE_INT};
    else
        literal->value.node = *node;
}

static void check_years(struct filter_build *b, const struct filter_literal *literal)
{
    if (!filter_day_is_writable(filter_instant_day(literal->value.instant)))
        filter_fail(b, ERR_SYNTAX, &literal->token, "an instant of the years 0000 to 9999, in UTC");
}

static void read_text(struct filter_build *b, struct filter_literal *literal)
{
    const struct filter_token *token = &literal->token;
    struct filter_value *value = &literal->value;
    const char *quote = memchr(token->text.p, '\'', token->text.n);
    struct str text =
        unquote(b, (struct str){quote, (uint32_t)(token->text.p + token->text.n - quote)});
    value->node = (struct tape_node){.kind = TAPE_STR, .n = text.n, .v.s = text.p};
    value->is_instant = token->kind != FILTER_TOKEN_STRING;
    if (b->err || !value->is_instant)
        return;
    if (token->kind == FILTER_TOKEN_DATE ? !filter_date_read(text, &value->instant)
                                         : !filter_date_time_read(text, &value->instant))
        filter_fail(b, ERR_SYNTAX, token, "%s",
                    token->kind == FILTER_TOKEN_DATE
                        ? "a date that exists, as in date '2024-01-31'"
                        : "a date-time of RFC 3339 that exists, as in datetime "
                          "'2024-01-31T10:00:00Z'");
    check_years(b, literal);
}

struct filter_literal *filter_literal(struct filter_build *b, struct filter_token token)
{
    if (b->err)
        return NULL;
    struct filter_literal *literal = arena_zalloc(b->arena, sizeof *literal);
    if (!literal) {
        filter_no_memory(b);
        return NULL;
    }
    literal->token = token;
    if (token.kind == FILTER_TOKEN_NUMBER)
        read_number(b, literal);
    else if (token.kind == FILTER_TOKEN_TRUE || token.kind == FILTER_TOKEN_FALSE)
        literal->value.node.kind = token.kind == FILTER_TOKEN_TRUE ? TAPE_TRUE : TAPE_FALSE;
    else
        read_text(b, literal);
    return b->err ? NULL : literal;
}

struct filter_list *filter_list_add(struct filter_build *b, struct filter_list *list,
                                    struct filter_literal *item)
{
    if (b->err)
        return NULL;
    if (!list && !(list = arena_zalloc(b->arena, sizeof *list))) {
        filter_no_memory(b);
        return NULL;
    }
    if (list->n == FILTER_ITEMS_MAX) {
        filter_fail(b, ERR_LIMIT, &item->token, "at most %d values in a list", FILTER_ITEMS_MAX);
        return NULL;
    }
    if (list->last)
        list->last->next = item;
    else
        list->first = item;
    list->last = item;
    list->n++;
    return list;
}

/* ---- Types ---------------------------------------------------------------------------------- */

bool filter_read_instant(enum filter_type type, struct str text, struct filter_instant *ret)
{
    if (type == FILTER_DATE || (type == FILTER_ANY && text.n == FILTER_DATE_BYTES))
        return filter_date_read(text, ret);
    return filter_date_time_read(text, ret);
}

static const struct {
    uint8_t classes; /* bits by enum filter_class */
    const char *expected;
} literals_of[] = {
    [FILTER_INTEGER] = {1 << CLASS_NUMBER, "a number"},
    [FILTER_NUMBER] = {1 << CLASS_NUMBER, "a number"},
    [FILTER_STRING] = {1 << CLASS_STRING, "a string"},
    [FILTER_BOOLEAN] = {1 << CLASS_BOOLEAN, "true or false"},
    [FILTER_DATE] = {1 << CLASS_INSTANT, "a date ('2024-01-31') or date-time"},
    [FILTER_DATE_TIME] = {1 << CLASS_INSTANT, "a date or date-time ('2024-01-31T10:00:00Z')"},
    [FILTER_ARRAY] = {0, "is null or is not null"},
    [FILTER_OBJECT] = {0, "is null or is not null"},
    [FILTER_ANY] = {1 << CLASS_NUMBER | 1 << CLASS_STRING | 1 << CLASS_BOOLEAN | 1 << CLASS_INSTANT,
                    "a value"},
};

static bool is_date(const struct filter_column *column)
{
    return column->type == FILTER_DATE || column->type == FILTER_DATE_TIME;
}

static void fail_type(struct filter_build *b, const struct filter_column *column,
                      const struct filter_token *at)
{
    filter_fail(b, ERR_SYNTAX, at, "%s, as the type of " STR_FMT " is %s",
                literals_of[column->type].expected, STR_ARG(column->path),
                filter_type_name(column->type));
}

/* Text that stands against a date becomes one. */
static bool fit(struct filter_build *b, const struct filter_column *column,
                struct filter_literal *literal)
{
    struct filter_value *value = &literal->value;
    if (is_date(column) && filter_class_of(value) == CLASS_STRING) {
        value->is_instant =
            filter_read_instant(FILTER_ANY, tape_str(&value->node), &value->instant);
        if (value->is_instant)
            check_years(b, literal);
    }
    if (!(literals_of[column->type].classes >> filter_class_of(value) & 1))
        fail_type(b, column, &literal->token);
    return !b->err;
}

/* An operator that this attribute has not, whatever the value is? */
static bool fit_operator(struct filter_build *b, const struct filter_column *column,
                         const struct filter_token *op)
{
    bool listable =
        op->kind == FILTER_TOKEN_EQ || op->kind == FILTER_TOKEN_NE || op->kind == FILTER_TOKEN_IN;
    if (literals_of[column->type].classes == 0)
        fail_type(b, column, op);
    else if (column->type == FILTER_BOOLEAN && !listable)
        filter_fail(b, ERR_SYNTAX, op,
                    "=, !=, in or is null, as the type of " STR_FMT " is boolean",
                    STR_ARG(column->path));
    return !b->err;
}

static bool fit_ordered(struct filter_build *b, const struct filter_literal *literal)
{
    if (filter_class_of(&literal->value) == CLASS_BOOLEAN)
        filter_fail(b, ERR_SYNTAX, &literal->token, "a number, a string or a date to order by");
    return !b->err;
}

/* ---- Leaves --------------------------------------------------------------------------------- */

static struct filter_node *new_leaf(struct filter_build *b, enum filter_op op,
                                    const struct filter_column *column, uint32_t n_values)
{
    struct filter_node *leaf = filter_node_new(b);
    if (!leaf)
        return NULL;
    leaf->op = op;
    leaf->column = column;
    leaf->n_leaves = 1;
    leaf->n_values = leaf->values_cap = n_values;
    leaf->values = arena_array(b->arena, n_values ? n_values : 1, sizeof *leaf->values);
    if (!leaf->values)
        filter_no_memory(b);
    return b->err ? NULL : leaf;
}

static enum filter_op op_of(int token)
{
    switch (token) {
    case FILTER_TOKEN_EQ:
        return FILTER_EQ;
    case FILTER_TOKEN_NE:
        return FILTER_NE;
    case FILTER_TOKEN_LT:
        return FILTER_LT;
    case FILTER_TOKEN_LE:
        return FILTER_LE;
    case FILTER_TOKEN_GT:
        return FILTER_GT;
    default:
        return FILTER_GE;
    }
}

static struct filter_node *compare(struct filter_build *b, const struct filter_column *column,
                                   enum filter_op op, struct filter_literal *literal)
{
    if (b->err || !fit(b, column, literal) ||
        (op != FILTER_EQ && op != FILTER_NE && !fit_ordered(b, literal)))
        return NULL;
    struct filter_node *leaf = new_leaf(b, op, column, 1);
    if (leaf)
        leaf->values[0] = literal->value;
    return leaf;
}

struct filter_node *filter_compare(struct filter_build *b, const struct filter_column *column,
                                   struct filter_token op, struct filter_literal *value)
{
    if (b->err || !fit_operator(b, column, &op))
        return NULL;
    return compare(b, column, op_of(op.kind), value);
}

struct filter_node *filter_between(struct filter_build *b, const struct filter_column *column,
                                   struct filter_token op, struct filter_literal *from,
                                   struct filter_literal *to)
{
    if (b->err || !fit_operator(b, column, &op))
        return NULL;
    struct filter_node *low = compare(b, column, FILTER_GE, from);
    struct filter_node *high = compare(b, column, FILTER_LE, to);
    return filter_join(b, FILTER_AND, low, high);
}

struct filter_node *filter_in(struct filter_build *b, const struct filter_column *column,
                              struct filter_token op, struct filter_list *list)
{
    if (b->err || !fit_operator(b, column, &op))
        return NULL;
    struct filter_node *leaf = new_leaf(b, FILTER_IN, column, list->n);
    uint32_t n = 0;
    for (struct filter_literal *item = list->first; leaf && item; item = item->next) {
        if (!fit(b, column, item))
            return NULL;
        if (filter_class_of(&item->value) != filter_class_of(&list->first->value))
            filter_fail(b, ERR_SYNTAX, &item->token, "a value of the same type as the first");
        leaf->values[n++] = item->value;
    }
    if (b->err)
        return NULL;
    return leaf;
}

struct filter_node *filter_match(struct filter_build *b, const struct filter_column *column,
                                 struct filter_token op, struct filter_token pattern)
{
    const char *why = NULL;
    if (b->err || !fit_operator(b, column, &op))
        return NULL;
    if (column->type == FILTER_INTEGER || column->type == FILTER_NUMBER) {
        filter_fail(b, ERR_SYNTAX, &op, "a comparison, as the type of " STR_FMT " is %s",
                    STR_ARG(column->path), filter_type_name(column->type));
        return NULL;
    }
    struct filter_literal *literal = filter_literal(b, pattern);
    struct filter_node *leaf = literal ? new_leaf(b, FILTER_LIKE, column, 1) : NULL;
    if (!leaf)
        return NULL;
    leaf->values[0] = literal->value;
    int err = filter_like_compile(tape_str(&literal->value.node), b->arena, &leaf->like, &why);
    if (err == ERR_NO_MEMORY)
        filter_no_memory(b);
    else if (err < 0)
        filter_fail(b, err, &pattern, "%s", why);
    return b->err ? NULL : leaf;
}

struct filter_node *filter_null(struct filter_build *b, const struct filter_column *column)
{
    return b->err ? NULL : new_leaf(b, FILTER_IS_NULL, column, 0);
}

struct filter_node *filter_equal_json(struct filter_build *b, const struct filter_column *column,
                                      const struct tape_node *value)
{
    struct filter_literal literal = {.value.node = *value};
    if (value->kind == TAPE_NULL)
        return filter_null(b, column);
    if (value->kind < TAPE_ARRAY)
        return compare(b, column, FILTER_EQ, &literal);
    if (column->type < FILTER_ARRAY) {
        fail_type(b, column, &literal.token);
        return NULL;
    }
    struct filter_node *leaf = new_leaf(b, FILTER_EQ, column, 1);
    if (!leaf)
        return NULL;
    /* only its kind is looked at: the members stand behind the container itself */
    leaf->values[0] = (struct filter_value){.node = *value};
    leaf->container = value;
    return leaf;
}
