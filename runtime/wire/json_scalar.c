/* wire/json_scalar.c - values that are no typed object: strings, numbers, enums, literals, raw
 * text.
 *
 * One function per kind, in a table by kind. Each takes the position of the value's first byte.
 */
#include "wire/json_interpret.h"

#include "wire/format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *wire_no_memory(struct reader *r, const char *p)
{
    return scan_fail(&r->scan, p, WIRE_MEMORY, "");
}

const char *wire_wrong_type(struct reader *r, const char *p, const char *expected)
{
    return scan_fail(&r->scan, p, WIRE_TYPE, expected);
}

/* p at a value that has to be a string; the decoded text may be a view into the input. */
static const char *read_text(struct reader *r, const char *p, struct str *ret)
{
    bool escaped;
    if (*p != '"')
        return wire_wrong_type(r, p, "string");
    const char *body = p + 1, *end = scan_string(&r->scan, body, &escaped);
    if (!end)
        return NULL;
    *ret = (struct str){body, (uint32_t)(end - body)};
    if (escaped) {
        char *copy = arena_alloc(r->arena, (size_t)(end - body) + 1);
        if (!copy)
            return wire_no_memory(r, p);
        *ret = (struct str){copy, scan_decode(body, end, copy)};
    }
    return end + 1;
}

const char *wire_read_str(struct reader *r, const char *p, const struct wire_type *t, char *out)
{
    struct str text;
    const char *behind = read_text(r, p, &text);
    if (!behind)
        return NULL;
    if (t->format != WIRE_PLAIN && !format_fits((enum wire_format)t->format, text))
        return scan_fail(&r->scan, p, WIRE_FORMAT, format_name((enum wire_format)t->format));
    if (out)
        *(struct str *)out = text;
    return behind;
}

COLD static const char *out_of_range(struct reader *r, const char *p,
                                     const struct wire_range *range)
{
    char expected[64];
    if (range->min > -HUGE_VAL && range->max < HUGE_VAL)
        snprintf(expected, sizeof expected, "%.17g to %.17g", range->min, range->max);
    else if (range->min > -HUGE_VAL)
        snprintf(expected, sizeof expected, "at least %.17g", range->min);
    else
        snprintf(expected, sizeof expected, "at most %.17g", range->max);
    return scan_fail(&r->scan, p, WIRE_RANGE, expected);
}

static const char *read_int(struct reader *r, const char *p, const struct wire_type *t, char *out)
{
    int64_t v;
    if (scan_type(p) != WIRE_T_NUMBER)
        return wire_wrong_type(r, p, "integer");
    const char *end = scan_number(&r->scan, p);
    if (!end)
        return NULL;
    enum scan_fit fit = scan_to_int(p, end, &v);
    if (fit == SCAN_FRACTION)
        return wire_wrong_type(r, p, "integer");
    if (fit == SCAN_TOO_BIG)
        return scan_fail(&r->scan, p, WIRE_RANGE, "an integer of 64 bits");
    const struct wire_range *range = t->of.range;
    if (range && !((double)v >= range->min && (double)v <= range->max))
        return out_of_range(r, p, range);
    if (out)
        *(int64_t *)out = v;
    return end;
}

static const char *read_num(struct reader *r, const char *p, const struct wire_type *t, char *out)
{
    double v;
    if (scan_type(p) != WIRE_T_NUMBER)
        return wire_wrong_type(r, p, "number");
    const char *end = scan_number(&r->scan, p);
    if (!end)
        return NULL;
    if (!scan_to_num(p, end, &v))
        return scan_fail(&r->scan, p, WIRE_RANGE, "a finite double");
    const struct wire_range *range = t->of.range;
    if (range && !(v >= range->min && v <= range->max))
        return out_of_range(r, p, range);
    if (out)
        *(double *)out = v;
    return end;
}

static const char *read_bool(struct reader *r, const char *p, const struct wire_type *t, char *out)
{
    (void)t;
    if (scan_type(p) != WIRE_T_BOOL)
        return wire_wrong_type(r, p, "boolean");
    const char *end = scan_value(&r->scan, p);
    if (end && out)
        *(bool *)out = *p == 't';
    return end;
}

COLD static const char *not_a_choice(struct reader *r, const char *p,
                                     const struct wire_enum *choices)
{
    char expected[sizeof r->scan.fault->expected] = "";
    size_t n = 0;
    for (unsigned i = 0; i < choices->n && n < sizeof expected; i++)
        n += (size_t)snprintf(expected + n, sizeof expected - n, "%s" STR_FMT, i ? "|" : "",
                              STR_ARG(choices->names[i]));
    return scan_fail(&r->scan, p, WIRE_CHOICE, expected);
}

static int find_choice(const struct wire_enum *choices, const char *p, const char *end)
{
    for (int i = 0; i < choices->n; i++)
        if (scan_string_is(p, end, choices->names[i]))
            return i;
    return -1;
}

static const char *read_enum(struct reader *r, const char *p, const struct wire_type *t, char *out)
{
    bool escaped;
    if (*p != '"')
        return wire_wrong_type(r, p, "string");
    const char *end = scan_string_apart(&r->scan, p + 1, &escaped);
    if (!end)
        return NULL;
    int i = find_choice(t->of.choices, p + 1, end);
    if (i < 0)
        return not_a_choice(r, p, t->of.choices);
    if (out)
        *(int32_t *)out = t->of.choices->values[i];
    return end + 1;
}

bool wire_is_literal(const char *p, const char *end, const char *literal)
{
    size_t n = strlen(literal);
    if (*literal != *p && (*p == '"' || *literal == '"'))
        return false;
    if (*p == '"')
        return scan_string_is(p + 1, end - 1, (struct str){literal + 1, (uint32_t)n - 2});
    int64_t v, want;
    if (scan_type(p) != WIRE_T_NUMBER)
        return (size_t)(end - p) == n && memcmp(p, literal, n) == 0;
    return scan_to_int(p, end, &v) == SCAN_EXACT &&
           scan_to_int(literal, literal + n, &want) == SCAN_EXACT && v == want;
}

static const char *read_const(struct reader *r, const char *p, const struct wire_type *t, char *out)
{
    (void)out;
    const char *end = scan_value(&r->scan, p);
    if (!end)
        return NULL;
    const char *literal = t->of.literal;
    if (wire_is_literal(p, end, literal))
        return end;
    if (scan_type(p) != scan_type(literal))
        return wire_wrong_type(r, p, *literal == '"' ? "string" : "integer");
    char expected[sizeof r->scan.fault->expected];
    size_t n = strlen(literal), quote = *literal == '"';
    snprintf(expected, sizeof expected, "%.*s", (int)(n - 2 * quote), literal + quote);
    return scan_fail(&r->scan, p, WIRE_CHOICE, expected);
}

/* ---- raw text ------------------------------------------------------------------------------- */

COLD static const char *wrong_types(struct reader *r, const char *p, unsigned types)
{
    static const char *const names[] = {"null",   "boolean", "integer", "number",
                                        "string", "array",   "object"};
    char expected[64] = "";
    size_t n = 0;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (types >> i & 1)
            n +=
                (size_t)snprintf(expected + n, sizeof expected - n, "%s%s", n ? "|" : "", names[i]);
    return wire_wrong_type(r, p, expected);
}

static bool is_allowed(const char *p, const char *end, unsigned types)
{
    unsigned type = scan_type(p);
    if (type == WIRE_T_NUMBER && !(types & WIRE_T_NUMBER))
        return (types & WIRE_T_INTEGER) && scan_is_integer(p, end);
    return (types & type) != 0;
}

/* Of a validated array. */
static const char *check_items(struct reader *r, const char *p, unsigned types)
{
    p = scan_blanks(p + 1);
    for (uint32_t i = 0; *p != ']'; i++) {
        const char *end = scan_value(&r->scan, p);
        if (!is_allowed(p, end, types)) {
            wrong_types(r, p, types);
            scan_within_item(r->scan.fault, i);
            return NULL;
        }
        p = scan_blanks(end);
        if (*p == ',')
            p = scan_blanks(p + 1);
    }
    return p + 1;
}

static const char *read_raw(struct reader *r, const char *p, const struct wire_type *t, char *out)
{
    const char *end = scan_raw(&r->scan, p);
    if (!end)
        return NULL;
    unsigned types = t->kind == WIRE_TOKEN ? WIRE_T_STRING | WIRE_T_INTEGER : t->types;
    if (types != WIRE_T_ANY && !is_allowed(p, end, types))
        return wrong_types(r, p, types);
    if (t->items && *p == '[' && !check_items(r, p, t->items))
        return NULL;
    if (t->kind == WIRE_RAW && t->of.message && *p == '{' &&
        !wire_read_object(r, p, t->of.message, NULL))
        return NULL;
    if (out)
        *(struct str *)out = (struct str){p, (uint32_t)(end - p)};
    return end;
}

const read_fn wire_read_kind[] = {
    [WIRE_STR] = wire_read_str, [WIRE_INT] = read_int,   [WIRE_NUM] = read_num,
    [WIRE_BOOL] = read_bool,    [WIRE_ENUM] = read_enum, [WIRE_CONST] = read_const,
    [WIRE_TOKEN] = read_raw,    [WIRE_RAW] = read_raw,   [WIRE_OBJECT] = wire_read_object_pointer,
};
