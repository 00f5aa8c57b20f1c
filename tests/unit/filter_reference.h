/* tests/unit/filter_reference.h - what a random filter means: the plain evaluator that
 * schema/filter is compared with. */
#ifndef FILTER_REFERENCE_H
#define FILTER_REFERENCE_H

#include "filter_expression.h"

enum truth { FALSE, UNKNOWN, TRUE }; /* and is the least, or the greatest */

static enum truth of(bool b)
{
    return b ? TRUE : FALSE;
}

static bool read_instant(enum shape shape, const char *text, long double *ret)
{
    struct tm tm = {0};
    int used = 0, hour = 0, minute = 0;
    char t = 0, sign = 0, rest[64];
    double fraction = 0;
    size_t n = strlen(text);
    if (sscanf(text, "%4d-%2d-%2d%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &used) != 3 ||
        used != 10)
        return false;
    tm.tm_year -= 1900;
    tm.tm_mon--;
    bool date_only = n == 10;
    if (!date_only) {
        int behind = 0;
        if (sscanf(text + 10, "%c%2d:%2d:%2d%n", &t, &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &used) !=
                4 ||
            used != 9 || (t | 32) != 't' || tm.tm_hour > 23)
            return false;
        const char *p = text + 19;
        if (*p == '.')
            p += sscanf(p, "%lf%n", &fraction, &behind) == 1 ? behind : 0;
        if ((*p | 32) != 'z' && sscanf(p, "%c%2d:%2d%63s", &sign, &hour, &minute, rest) != 3)
            return false;
    }
    if ((shape == S_DAY && !date_only) || (shape == S_MOMENT && date_only))
        return false;
    struct tm normal = tm;
    time_t s = timegm(&normal);
    if (tm.tm_sec < 60 && (normal.tm_mday != tm.tm_mday || normal.tm_mon != tm.tm_mon))
        return false;
    int ahead = (hour * 60 + minute) * 60;
    *ret = (long double)s + fraction - (sign == '-' ? -ahead : ahead);
    return true;
}

/* Three-way in *ret; false: they cannot be compared. */
static bool compare(const struct expression *e, const struct value *cell,
                    const struct value *literal, int *ret)
{
    long double a = 0, b = 0;
    enum shape shape = attributes[e->attribute].shape;
    bool number = cell->kind == INTEGER || cell->kind == DOUBLE;
    if (e->as_date) {
        if (cell->kind != TEXT || !read_instant(shape, cell->text, &a))
            return false;
        assert_true(read_instant(S_ANY, literal->text, &b));
    } else if (literal->kind == TEXT) {
        if (cell->kind != TEXT)
            return false;
        *ret = strcmp(cell->text, literal->text);
        return true;
    } else if (literal->kind == BOOLEAN) {
        if (cell->kind != BOOLEAN)
            return false;
        a = cell->truth;
        b = literal->truth;
    } else {
        if (!number)
            return false;
        a = cell->number;
        b = literal->number;
    }
    *ret = a < b ? -1 : a > b;
    return true;
}

static size_t character(const char *p)
{
    size_t n = 1;
    while (((unsigned char)p[n] & 0xc0) == 0x80)
        n++;
    return n;
}

static bool matches(const char *pattern, const char *text)
{
    if (*pattern == '%')
        return matches(pattern + 1, text) || (*text && matches(pattern, text + character(text)));
    if (*pattern == '_')
        return *text && matches(pattern + 1, text + character(text));
    if (*pattern == '\\')
        pattern++;
    if (!*pattern || !*text)
        return *pattern == *text;
    return *pattern == *text && matches(pattern + 1, text + 1);
}

static enum truth ask(const struct expression *e, const struct value *cell, int op, size_t i)
{
    int order;
    if (cell->kind <= NIL || !compare(e, cell, &e->values[i], &order))
        return UNKNOWN;
    const bool answers[] = {order == 0, order != 0, order<0, order <= 0, order> 0, order >= 0};
    return of(answers[op]);
}

static enum truth least(enum truth a, enum truth b)
{
    return a < b ? a : b;
}

static enum truth greatest(enum truth a, enum truth b)
{
    return a > b ? a : b;
}

static enum truth judge_leaf(const struct expression *e, const struct value *cell)
{
    enum truth found = FALSE;
    switch (e->form) {
    case COMPARE:
        return ask(e, cell, e->op, 0);
    case IS_NULL:
        found = of(cell->kind <= NIL);
        break;
    case LIKE:
        found = cell->kind == TEXT ? of(matches(e->values[0].text, cell->text)) : UNKNOWN;
        break;
    case BETWEEN:
        found = least(ask(e, cell, GE, 0), ask(e, cell, LE, 1));
        break;
    default:
        for (size_t i = 0; i < e->n; i++)
            found = greatest(found, ask(e, cell, EQ, i));
    }
    return e->negated ? TRUE - found : found;
}

static enum truth judge(const struct expression *e, const struct row *row)
{
    if (e->form == AND)
        return least(judge(e->left, row), judge(e->right, row));
    if (e->form == OR)
        return greatest(judge(e->left, row), judge(e->right, row));
    if (e->form == NOT)
        return TRUE - judge(e->left, row);
    return judge_leaf(e, &row->cells[e->attribute]);
}

#endif
