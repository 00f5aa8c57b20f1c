/* schema/filter_write.c - the canonical text of a filter. Blanks, case of keywords, quotes,
 * `between`, negations, the order and repetition in a list and the offset of an instant are gone;
 * the order of conditions stays. */
#include "schema/filter_parts.h"

#include "schema/filter_date.h"
#include "wire/json_write.h"

const char filter_guide[] =
    "Conditions: = != < <= > >=, in (...), between ... and ..., like 'a%' (% any text, _ one "
    "character), is null, is not null; join them with and, or, not and parentheses. Values: "
    "'text' in single quotes, numbers, true, false, date '2024-01-31', datetime "
    "'2024-01-31T10:00:00Z'. Attributes of nested objects: address.city. Text compares by case; a "
    "condition on a missing value is never true, but for is null.";

static void write_text(struct str s, struct buf *out)
{
    buf_add_char(out, '\'');
    for (uint32_t i = 0; i < s.n; i++) {
        if (s.p[i] == '\'')
            buf_add_char(out, '\'');
        buf_add_char(out, s.p[i]);
    }
    buf_add_char(out, '\'');
}

static void write_value(const struct filter_value *value, struct buf *out)
{
    const struct tape_node *node = &value->node;
    if (value->is_instant) {
        buf_add_lit(out, "datetime '");
        filter_instant_write(value->instant, out);
        buf_add_char(out, '\'');
    } else if (node->kind == TAPE_STR) {
        write_text(tape_str(node), out);
    } else {
        tape_write(node, out);
    }
}

static const char *const words[] = {
    [FILTER_AND] = " and ",        [FILTER_OR] = " or ",
    [FILTER_EQ] = " = ",           [FILTER_NE] = " != ",
    [FILTER_LT] = " < ",           [FILTER_LE] = " <= ",
    [FILTER_GT] = " > ",           [FILTER_GE] = " >= ",
    [FILTER_IN] = " in (",         [FILTER_NOT_IN] = " not in (",
    [FILTER_LIKE] = " like ",      [FILTER_NOT_LIKE] = " not like ",
    [FILTER_IS_NULL] = " is null", [FILTER_NOT_NULL] = " is not null",
};

static void write_leaf(const struct filter_node *leaf, struct buf *out)
{
    bool list = leaf->op == FILTER_IN || leaf->op == FILTER_NOT_IN;
    buf_add_str(out, leaf->column->path);
    buf_add_str(out, str_of(words[leaf->op]));
    if (leaf->container) {
        tape_write(leaf->container, out);
        return;
    }
    for (uint32_t i = 0; i < leaf->n_values; i++) {
        if (i)
            buf_add_lit(out, ", ");
        write_value(&leaf->values[i], out);
    }
    if (list)
        buf_add_char(out, ')');
}

static void write_node(const struct filter_node *node, struct buf *out)
{
    if (node->op > FILTER_OR) {
        write_leaf(node, out);
        return;
    }
    for (const struct filter_node *child = node->first; child; child = child->next) {
        bool inner = node->op == FILTER_AND && child->op == FILTER_OR;
        if (child != node->first)
            buf_add_str(out, str_of(words[node->op]));
        if (inner)
            buf_add_char(out, '(');
        write_node(child, out);
        if (inner)
            buf_add_char(out, ')');
    }
}

void filter_canonical(const struct filter *filter, struct buf *out)
{
    if (filter->root)
        write_node(filter->root, out);
}
