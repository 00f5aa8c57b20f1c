/* tests/unit/filter_expression.h - random rows and filters as trees of their own, their text in a
 * random spelling. Of test_filter_random.c, which says more. */
#ifndef FILTER_EXPRESSION_H
#define FILTER_EXPRESSION_H

#include "filter_rig.h"

#include <time.h>

#define PLANNED 20 /* sound rows */

static uint64_t seed;

static uint32_t random_below(uint32_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 33) % n;
}

#define PICK(array) ((array)[random_below(N(array))])

/* ---- Values --------------------------------------------------------------------------------- */

enum kind { MISSING, NIL, INTEGER, DOUBLE, TEXT, BOOLEAN, LIST };

struct value {
    enum kind kind;
    long double number;
    const char *text; /* of TEXT; of a number, as it is written */
    bool truth;
};

static const struct value numbers[] = {
    {INTEGER, 0, "0", false},
    {INTEGER, 1, "1", false},
    {INTEGER, 2, "2.0", false},
    {INTEGER, 3, "3", false},
    {INTEGER, -1, "-1", false},
    {INTEGER, 100, "1e2", false},
    {DOUBLE, 0.5L, "0.5", false},
    {DOUBLE, 1.5L, "1.5", false},
    {DOUBLE, -0.5L, "-5e-1", false},
    {DOUBLE, 1e300L, "1e300", false},
    {INTEGER, 9007199254740992.0L, "9007199254740992", false},
    {INTEGER, 9007199254740993.0L, "9007199254740993", false},
    {INTEGER, 9223372036854775807.0L, "9223372036854775807", false},
    {INTEGER, -9223372036854775808.0L, "-9223372036854775808", false},
    {DOUBLE, 9223372036854775808.0L, "9223372036854775808", false},
    {INTEGER, 9223372036854774784.0L, "9223372036854774784.0", false},
    {DOUBLE, -9223372036854777856.0L, "-9223372036854777856", false},
};
static const char *const texts[] = {"",
                                    "a",
                                    "b",
                                    "ab",
                                    "abc",
                                    "aab",
                                    "ba",
                                    "it's",
                                    "%",
                                    "_",
                                    "ö",
                                    "öa",
                                    "aöb",
                                    "A",
                                    "a%b",
                                    "a_b",
                                    "\\",
                                    "zz",
                                    "1",
                                    "\"",
                                    "a b",
                                    "日本",
                                    "a\xf4\x8f\xbf\xbf",
                                    "b\x7f"};
static const char *const patterns[] = {"%",    "a%",    "%a",   "%a%", "_",   "__",    "a_b",
                                       "%_b%", "a%b",   "ab",   "",    "%%",  "_%_",   "\\%",
                                       "\\_%", "ö%",    "%ö_",  "日%", "_ö_", "%a_b%", "a\\\\%",
                                       "\\\\", "a%a%b", "%aab", "%_"};
static const char *const days[] = {"2024-01-31", "2024-02-29", "2023-12-31", "2024-03-01",
                                   "0000-01-01", "9999-12-31", "1969-12-31", "2000-02-29"};
static const char *const moments[] = {
    "2024-01-31T00:00:00Z",      "2024-01-31T00:00:00.5Z",    "2024-01-31T01:30:00+01:30",
    "2024-01-30T23:00:00-01:00", "2024-02-29T12:00:00z",      "2016-12-31T23:59:60Z",
    "2017-01-01t00:00:00Z",      "1969-12-31T23:59:59.25Z",   "9999-12-31T23:00:00Z",
    "0000-01-01T00:00:00Z",      "2024-02-01T00:00:00+23:59", "2024-01-30T00:00:00-23:59",
};
static const char *const no_dates[] = {
    "2023-02-29", "soon", "", "2024-01-31T25:00:00Z", "2024-01-31 00:00:00Z", "2024-1-31"};

static struct value text_value(const char *text)
{
    return (struct value){.kind = TEXT, .text = text};
}

static struct value truth_value(bool truth)
{
    return (struct value){.kind = BOOLEAN, .truth = truth};
}

/* ---- Attributes ----------------------------------------------------------------------------- */

enum shape { S_INTEGER, S_NUMBER, S_TEXT, S_BOOLEAN, S_DAY, S_MOMENT, S_LIST, S_ANY };

static const struct {
    const char *path, *quoted; /* two spellings */
    enum shape shape;
} attributes[] = {
    {"i", "\"i\"", S_INTEGER},  {"x", "\"x\"", S_NUMBER},  {"s", "\"s\"", S_TEXT},
    {"b", "\"b\"", S_BOOLEAN},  {"d", "\"d\"", S_DAY},     {"t", "\"t\"", S_MOMENT},
    {"l", "\"l\"", S_LIST},     {"a", "\"a\"", S_ANY},     {"o.k", "o . \"k\"", S_INTEGER},
    {"o.s", "\"o\".s", S_TEXT}, {"m.z", "m.\"z\"", S_ANY}, {"\"odd name\"", "\"odd name\"", S_TEXT},
    {"id", "id", S_INTEGER},
};
#define A    N(attributes)
#define A_O  8  /* first of the two in o */
#define A_M  10 /* the one in m */
#define A_ID 12

static const char schema[] =
    "{\"properties\":{\"i\":{\"type\":\"integer\"},\"x\":{\"type\":\"number\"},"
    "\"s\":{\"type\":\"string\"},\"b\":{\"type\":\"boolean\"},"
    "\"d\":{\"type\":\"string\",\"format\":\"date\"},"
    "\"t\":{\"type\":[\"null\",\"string\"],\"format\":\"date-time\"},\"l\":{\"type\":\"array\"},"
    "\"a\":{},\"o\":{\"type\":\"object\",\"properties\":{\"k\":{\"type\":\"integer\"},"
    "\"s\":{\"type\":\"string\"}}},\"m\":{\"type\":\"object\"},\"id\":{\"type\":\"integer\"},\"odd "
    "name\":{\"type\":\"string\"}}}";

static struct value value_of_shape(enum shape shape)
{
    switch (shape) {
    case S_INTEGER:
    case S_NUMBER:
        return PICK(numbers);
    case S_TEXT:
        return text_value(PICK(texts));
    case S_BOOLEAN:
        return truth_value(random_below(2));
    case S_DAY:
        return text_value(PICK(days));
    case S_MOMENT:
        return text_value(PICK(moments));
    case S_LIST:
        return (struct value){.kind = LIST};
    default:
        return value_of_shape((enum shape)random_below(S_ANY));
    }
}

static struct value random_value(enum shape shape)
{
    uint32_t dice = random_below(20);
    if (dice == 0)
        return (struct value){.kind = NIL};
    if (dice == 1)
        return (struct value){.kind = MISSING};
    if (dice == 2) /* what the schema does not allow */
        return value_of_shape(S_ANY);
    if (dice == 3 && (shape == S_DAY || shape == S_MOMENT))
        return text_value(PICK(no_dates));
    return value_of_shape(shape);
}

/* ---- Rows ----------------------------------------------------------------------------------- */

struct row {
    struct value cells[A];
    const struct tape_node *tape;
};

static void write_json_text(const char *text, struct buf *out)
{
    buf_add_char(out, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            buf_add_char(out, '\\');
        buf_add_char(out, *text);
    }
    buf_add_char(out, '"');
}

static void write_json(const struct value *v, struct buf *out)
{
    if (v->kind == NIL)
        buf_add_lit(out, "null");
    else if (v->kind == TEXT)
        write_json_text(v->text, out);
    else if (v->kind == BOOLEAN)
        buf_add_str(out, v->truth ? STR("true") : STR("false"));
    else if (v->kind == LIST)
        buf_add_lit(out, "[1,\"a\"]");
    else
        buf_add_str(out, str_of(v->text));
}

/* `,"key":value` unless it is missing. */
static void write_member(const char *key, const struct value *v, struct buf *out)
{
    if (v->kind == MISSING)
        return;
    if (out->p[out->n - 1] != '{')
        buf_add_char(out, ',');
    write_json_text(key, out);
    buf_add_char(out, ':');
    write_json(v, out);
}

static void lose(struct row *row, size_t from, size_t n)
{
    for (size_t i = from; i < from + n; i++)
        row->cells[i].kind = MISSING;
}

/* An object that may be missing itself, or be something else. */
static void write_object(struct row *row, const char *key, size_t from, const char *const *names,
                         size_t n, struct buf *out)
{
    static const char *const others[] = {"null", "5", "[]", "\"x\""};
    uint32_t dice = random_below(10);
    if (dice < 2)
        lose(row, from, n);
    if (dice == 0)
        return;
    if (out->p[out->n - 1] != '{')
        buf_add_char(out, ',');
    buf_printf(out, "\"%s\":", key);
    if (dice == 1) {
        buf_add_str(out, str_of(PICK(others)));
        return;
    }
    buf_add_char(out, '{');
    for (size_t i = 0; i < n; i++)
        write_member(names[i], &row->cells[from + i], out);
    buf_add_char(out, '}');
}

static void write_row(struct row *row)
{
    static const char *const of_o[] = {"k", "s"}, *const of_m[] = {"z"};
    struct buf json = {0};
    buf_add_char(&json, '{');
    for (size_t i = 0; i < A_O; i++)
        write_member(attributes[i].path, &row->cells[i], &json);
    write_object(row, "o", A_O, of_o, 2, &json);
    write_object(row, "m", A_M, of_m, 1, &json);
    write_member("odd name", &row->cells[A_ID - 1], &json);
    write_member("id", &row->cells[A_ID], &json);
    buf_add_lit(&json, "}");
    buf_add_char(&json, '\0');
    row->tape = rig_tape(json.p);
    buf_done(&json);
}

static void make_row(struct row *row)
{
    for (size_t i = 0; i < A; i++)
        row->cells[i] = random_value(attributes[i].shape);
    write_row(row);
}

/* A row that a store would take: of the right types, with a key. */
static void make_sound_row(struct row *row, size_t id)
{
    static char keys[PLANNED][8];
    for (size_t i = 0; i < A; i++) {
        bool whole = attributes[i].shape == S_INTEGER;
        do
            row->cells[i] = value_of_shape(attributes[i].shape);
        while (whole && row->cells[i].kind != INTEGER);
        if (random_below(8) == 0)
            row->cells[i].kind = random_below(2) ? NIL : MISSING;
    }
    snprintf(keys[id], sizeof keys[id], "%zu", id);
    row->cells[A_ID] = (struct value){INTEGER, (long double)id, keys[id], false};
    write_row(row);
}

/* ---- Filters -------------------------------------------------------------------------------- */

enum form { AND, OR, NOT, COMPARE, IN, BETWEEN, LIKE, IS_NULL, FORMS };

struct expression {
    enum form form;
    bool negated; /* not in, not between, not like, is not null */
    const struct expression *left, *right;
    size_t attribute;
    enum { EQ, NE, LT, LE, GT, GE } op;
    bool as_date; /* the literals are instants */
    struct value values[4];
    size_t n;
};

static const char *const op_texts[][2] = {{"=", "="},   {"!=", "<>"}, {"<", "<"},
                                          {"<=", "<="}, {">", ">"},   {">=", ">="}};

static void fill_values(struct expression *e, enum shape shape)
{
    bool dated = shape == S_DAY || shape == S_MOMENT;
    e->as_date = dated;
    for (size_t i = 0; i < e->n; i++) {
        if (dated) /* either attribute takes either literal */
            shape = random_below(2) ? S_DAY : S_MOMENT;
        do
            e->values[i] = value_of_shape(shape);
        while (e->values[i].kind == LIST);
    }
}

static void make_leaf(struct expression *e)
{
    e->attribute = random_below(A);
    enum shape shape = attributes[e->attribute].shape;
    if (shape == S_LIST) {
        e->form = IS_NULL;
        return;
    }
    if (shape == S_ANY)
        shape = (enum shape)random_below(S_LIST);
    bool ordered = shape != S_BOOLEAN, textual = shape == S_TEXT || shape == S_DAY;
    if (e->form == LIKE && !textual)
        e->form = COMPARE;
    if (e->form == BETWEEN && !ordered)
        e->form = IN;
    e->op = random_below(ordered ? 6 : 2);
    e->n = e->form == BETWEEN ? 2 : e->form == IN ? 1 + random_below(4) : 1;
    if (e->form == LIKE)
        e->values[0] = text_value(PICK(patterns));
    else if (e->form != IS_NULL)
        fill_values(e, shape);
}

static const struct expression *make_expression(uint32_t depth)
{
    struct expression *e = arena_zalloc(&rig_arena, sizeof *e);
    assert_non_null(e);
    e->form = (enum form)random_below(FORMS + 4);
    if (e->form >= FORMS)
        e->form = random_below(2) ? AND : COMPARE;
    if (depth == 0 && e->form <= NOT)
        e->form = COMPARE;
    e->negated = random_below(3) == 0;
    if (e->form > NOT) {
        make_leaf(e);
        return e;
    }
    e->left = make_expression(depth - 1);
    if (e->form != NOT)
        e->right = make_expression(depth - 1);
    return e;
}

static void write_word(const char *word, struct buf *out)
{
    bool upper = random_below(4) == 0;
    buf_add_char(out, random_below(8) ? ' ' : '\n');
    for (; *word; word++)
        buf_add_char(out, upper && *word >= 'a' && *word <= 'z' ? (char)(*word - 32) : *word);
    buf_add_char(out, ' ');
}

static void write_literal(const struct expression *e, const struct value *v, struct buf *out)
{
    if (v->kind == BOOLEAN) {
        write_word(v->truth ? "true" : "false", out);
    } else if (v->kind != TEXT) {
        buf_add_str(out, str_of(v->text));
    } else {
        /* plain text is a date only where the attribute is one */
        enum shape shape = attributes[e->attribute].shape;
        if (e->as_date && (shape == S_ANY || random_below(2)))
            write_word(strlen(v->text) == 10 ? "date"
                       : random_below(2)     ? "datetime"
                                             : "timestamp",
                       out);
        buf_add_char(out, '\'');
        for (const char *p = v->text; *p; p++) {
            if (*p == '\'')
                buf_add_char(out, '\'');
            buf_add_char(out, *p);
        }
        buf_add_char(out, '\'');
    }
}

static void write_expression(const struct expression *e, struct buf *out);

static void write_list(const struct expression *e, struct buf *out)
{
    write_word("in", out);
    buf_add_char(out, '(');
    for (size_t i = 0; i < e->n; i++) {
        if (i)
            buf_add_char(out, ',');
        write_literal(e, &e->values[i], out);
    }
    buf_add_char(out, ')');
}

static void write_leaf(const struct expression *e, struct buf *out)
{
    buf_add_str(out, str_of(random_below(2) ? attributes[e->attribute].path
                                            : attributes[e->attribute].quoted));
    if (e->form == IS_NULL)
        write_word(e->negated ? "is not null" : "is null", out);
    else if (e->form != COMPARE && e->negated)
        write_word("not", out);
    if (e->form == COMPARE) {
        buf_add_str(out, str_of(op_texts[e->op][random_below(2)]));
        write_literal(e, &e->values[0], out);
    } else if (e->form == IN) {
        write_list(e, out);
    } else if (e->form == LIKE) {
        write_word("like", out);
        write_literal(e, &e->values[0], out);
    } else if (e->form == BETWEEN) {
        write_word("between", out);
        write_literal(e, &e->values[0], out);
        write_word("and", out);
        write_literal(e, &e->values[1], out);
    }
}

/* Parentheses where precedence asks for them, and sometimes elsewhere. */
static void write_inner(const struct expression *e, bool needed, struct buf *out)
{
    bool parentheses = needed || random_below(5) == 0;
    if (parentheses)
        buf_add_char(out, '(');
    write_expression(e, out);
    if (parentheses)
        buf_add_char(out, ')');
}

static void write_expression(const struct expression *e, struct buf *out)
{
    if (e->form == NOT) {
        write_word("not", out);
        write_inner(e->left, e->left->form < NOT, out);
    } else if (e->form < NOT) {
        write_inner(e->left, e->form == AND && e->left->form == OR, out);
        write_word(e->form == AND ? "and" : "or", out);
        write_inner(e->right, e->form == AND && e->right->form == OR, out);
    } else {
        write_leaf(e, out);
    }
}

/* Half of them begin as people write them: a condition and ... */
static const struct expression *make_filter(void)
{
    const struct expression *rest = make_expression(random_below(5));
    struct expression *e = arena_zalloc(&rig_arena, sizeof *e);
    if (random_below(2))
        return rest;
    assert_non_null(e);
    e->form = AND;
    e->left = make_expression(0);
    e->right = rest;
    return e;
}

#endif
