/* wire/tape.c - from text to a tape, and walking it; see tape.h. Building: tape_build.c. */
#include "wire/tape.h"

#include "base/err.h"
#include "wire/json_scan.h"
#include "wire/json_write.h"
#include "wire/tape_build.h"

#include <stdlib.h>
#include <string.h>

#define GUESS_NODES_MAX (1u << 16) /* room made in advance for a long text */

_Static_assert(sizeof(struct tape_node) == 16, "a node is two words");

/* ---- opening -------------------------------------------------------------------------------- */

struct opener {
    struct scan scan;
    struct tape_builder builder;
};

static const char *open_value(struct opener *o, const char *p);

/* The builder has no room: our only reason to fail on text that was scanned well. */
COLD static const char *no_memory(struct opener *o, const char *p)
{
    return scan_fail(&o->scan, p, WIRE_MEMORY, "");
}

/* Adds the text between two quotes as a node; false: no memory. */
static bool add_text(struct opener *o, const char *p, const char *end, bool escaped)
{
    struct tape_node *node = tape_add(&o->builder, TAPE_STR);
    if (!node)
        return false;
    node->n = (uint32_t)(end - p);
    node->v.s = p;
    if (!escaped)
        return true;
    char *copy = arena_alloc(o->builder.arena, (size_t)(end - p) + 1);
    if (!copy)
        return false;
    node->n = scan_decode(p, end, copy);
    node->v.s = copy;
    return true;
}

static const char *open_string(struct opener *o, const char *p)
{
    bool escaped;
    const char *end = scan_string(&o->scan, p + 1, &escaped);
    if (!end)
        return NULL;
    return add_text(o, p + 1, end, escaped) ? end + 1 : no_memory(o, p);
}

static const char *open_number(struct opener *o, const char *p)
{
    double d;
    int64_t i;
    const char *end = scan_number(&o->scan, p);
    if (!end)
        return NULL;
    enum scan_fit fit = scan_to_either(p, end, &i, &d);
    if (fit == SCAN_TOO_BIG)
        return scan_fail(&o->scan, p, WIRE_RANGE, "a finite double");
    struct tape_node *node = tape_add(&o->builder, fit == SCAN_EXACT ? TAPE_INT : TAPE_NUM);
    if (!node)
        return no_memory(o, p);
    if (fit == SCAN_EXACT)
        node->v.i = i;
    else
        node->v.d = d;
    return end;
}

static const char *open_word(struct opener *o, const char *p)
{
    const char *end = scan_value(&o->scan, p);
    if (!end)
        return NULL;
    enum tape_kind kind = *p == 'n' ? TAPE_NULL : *p == 't' ? TAPE_TRUE : TAPE_FALSE;
    return tape_add(&o->builder, kind) ? end : no_memory(o, p);
}

static const char *open_array(struct opener *o, const char *p)
{
    uint32_t at = o->builder.n, n = 0;
    if (!scan_enter(&o->scan, p))
        return NULL;
    if (!tape_add(&o->builder, TAPE_ARRAY))
        return no_memory(o, p);
    p = scan_blanks(p + 1);
    if (*p != ']')
        for (;; p++) {
            p = open_value(o, scan_blanks(p));
            if (!p) {
                scan_within_item(o->scan.fault, n);
                return NULL;
            }
            n++;
            p = scan_blanks(p);
            if (*p != ',')
                break;
        }
    if (*p != ']')
        return scan_fail(&o->scan, p, WIRE_SYNTAX, "',' or ']'");
    o->scan.depth--;
    tape_seal(&o->builder, at, n);
    return p + 1;
}

static const char *open_member(struct opener *o, const char *p)
{
    const char *key, *end;
    bool escaped;
    uint32_t at = o->builder.n;
    p = scan_key(&o->scan, p, &key, &end, &escaped);
    if (!p)
        return NULL;
    if (!add_text(o, key, end, escaped))
        return no_memory(o, p);
    p = open_value(o, p);
    if (!p)
        scan_within_key(o->scan.fault, tape_str(&o->builder.nodes[at]));
    return p;
}

/* p at the closing brace. */
static const char *close_object(struct opener *o, const char *p, uint32_t at, uint32_t n)
{
    struct str twice;
    tape_seal(&o->builder, at, n);
    int unique = tape_keys_unique(&o->builder.nodes[at], &twice);
    if (unique < 0)
        return no_memory(o, p);
    if (!unique) {
        scan_fail(&o->scan, p, WIRE_DUPLICATE, "one member of this name");
        scan_within_key(o->scan.fault, twice);
        return NULL;
    }
    o->scan.depth--;
    return p + 1;
}

static const char *open_object(struct opener *o, const char *p)
{
    uint32_t at = o->builder.n, n = 0;
    if (!scan_enter(&o->scan, p))
        return NULL;
    if (!tape_add(&o->builder, TAPE_OBJECT))
        return no_memory(o, p);
    p = scan_blanks(p + 1);
    if (*p != '}')
        for (;; p++) {
            p = open_member(o, scan_blanks(p));
            if (!p)
                return NULL;
            n++;
            p = scan_blanks(p);
            if (*p != ',')
                break;
        }
    if (*p != '}')
        return scan_fail(&o->scan, p, WIRE_SYNTAX, "',' or '}'");
    return close_object(o, p, at, n);
}

static const char *open_value(struct opener *o, const char *p)
{
    switch (scan_type(p)) {
    case WIRE_T_STRING:
        return open_string(o, p);
    case WIRE_T_NUMBER:
        return open_number(o, p);
    case WIRE_T_OBJECT:
        return open_object(o, p);
    case WIRE_T_ARRAY:
        return open_array(o, p);
    default:
        return open_word(o, p);
    }
}

/* As in json_read.c: a text that is not JSON is told so, whatever misfit came first. */
COLD static int verdict(struct opener *o, struct str text)
{
    struct wire_fault fault;
    struct str value;
    int err = scan_error(o->scan.fault);
    if (err == ERR_PARAMS && wire_skip(text, &value, NULL, &fault) != 0) {
        *o->scan.fault = fault;
        err = scan_error(&fault);
    }
    return err;
}

int tape_open(struct str text, struct arena *arena, const struct tape_node **ret,
              struct wire_fault *fault)
{
    struct wire_fault spare;
    struct opener o;
    o.scan.n_known = 0;
    const char *p = scan_begin(&o.scan, text, fault, &spare);
    tape_begin(&o.builder, arena);
    tape_expect(&o.builder, text.n < GUESS_NODES_MAX * 8 ? text.n / 8 + 4 : GUESS_NODES_MAX);
    if (p)
        p = open_value(&o, p);
    if (!p || !scan_finish(&o.scan, p))
        return verdict(&o, text);
    *ret = o.builder.nodes;
    return 0;
}

/* ---- walking -------------------------------------------------------------------------------- */

uint32_t tape_size(const struct tape_node *node)
{
    return node->kind >= TAPE_ARRAY ? node->v.size : 1;
}

const struct tape_node *tape_next(const struct tape_node *node)
{
    return node + tape_size(node);
}

struct str tape_str(const struct tape_node *node)
{
    return (struct str){node->v.s, node->n};
}

double tape_num(const struct tape_node *node)
{
    return node->kind == TAPE_INT ? (double)node->v.i : node->v.d;
}

const struct tape_node *tape_get(const struct tape_node *object, struct str key)
{
    if (object->kind != TAPE_OBJECT)
        return NULL;
    tape_each (object, name, value)
        if (name->n == key.n && memcmp(name->v.s, key.p, key.n) == 0)
            return value;
    return NULL;
}

const char *tape_kind_name(const struct tape_node *node)
{
    static const char *const names[] = {
        [TAPE_NULL] = "null",   [TAPE_FALSE] = "boolean", [TAPE_TRUE] = "boolean",
        [TAPE_INT] = "integer", [TAPE_NUM] = "number",    [TAPE_STR] = "string",
        [TAPE_ARRAY] = "array", [TAPE_OBJECT] = "object",
    };
    return names[node->kind];
}

/* ---- equality ------------------------------------------------------------------------------- */

static bool equal_numbers(const struct tape_node *a, const struct tape_node *b)
{
    if (a->kind == b->kind)
        return a->kind == TAPE_INT ? a->v.i == b->v.i : a->v.d == b->v.d;
    double d = a->kind == TAPE_NUM ? a->v.d : b->v.d;
    int64_t i = a->kind == TAPE_INT ? a->v.i : b->v.i;
    return d >= -0x1p63 && d < 0x1p63 && (int64_t)d == i && (double)i == d;
}

static bool equal_arrays(const struct tape_node *a, const struct tape_node *b)
{
    const struct tape_node *x = a + 1, *y = b + 1;
    for (uint32_t i = 0; i < a->n; i++, x = tape_next(x), y = tape_next(y))
        if (!tape_equal(x, y))
            return false;
    return true;
}

static int by_key(const void *a, const void *b)
{
    return str_compare(tape_str(*(const struct tape_node *const *)a),
                       tape_str(*(const struct tape_node *const *)b));
}

static void sort_members(const struct tape_node *object, const struct tape_node **ret)
{
    uint32_t n = 0;
    tape_each (object, key, value)
        ret[n++] = key;
    qsort(ret, n, sizeof *ret, by_key);
}

static bool equal_members(const struct tape_node *a, const struct tape_node *b)
{
    return str_eq(tape_str(a), tape_str(b)) && tape_equal(a + 1, b + 1);
}

/* The members of large objects in another order: sorting keeps the time below quadratic. */
static bool equal_sorted(const struct tape_node *a, const struct tape_node *b,
                         const struct tape_node **room)
{
    sort_members(a, room);
    sort_members(b, room + a->n);
    for (uint32_t i = 0; i < a->n; i++)
        if (!equal_members(room[i], room[a->n + i]))
            return false;
    return true;
}

static bool equal_looked_up(const struct tape_node *a, const struct tape_node *b)
{
    tape_each (a, key, value) {
        const struct tape_node *other = tape_get(b, tape_str(key));
        if (!other || !tape_equal(value, other))
            return false;
    }
    return true;
}

static bool same_order(const struct tape_node *a, const struct tape_node *b)
{
    const struct tape_node *other = b + 1;
    tape_each (a, key, value) {
        if (!str_eq(tape_str(key), tape_str(other)))
            return false;
        other = tape_next(other + 1);
    }
    return true;
}

static bool equal_in_order(const struct tape_node *a, const struct tape_node *b)
{
    const struct tape_node *other = b + 1;
    tape_each (a, key, value) {
        if (!tape_equal(value, other + 1))
            return false;
        other = tape_next(other + 1);
    }
    return true;
}

static bool equal_objects(const struct tape_node *a, const struct tape_node *b)
{
    if (same_order(a, b))
        return equal_in_order(a, b);
    const struct tape_node **room =
        a->n > 16 ? calloc((size_t)a->n * 2, sizeof(struct tape_node *)) : NULL;
    bool equal = room ? equal_sorted(a, b, room) : equal_looked_up(a, b);
    free(room);
    return equal;
}

static bool is_number(const struct tape_node *node)
{
    return node->kind == TAPE_INT || node->kind == TAPE_NUM;
}

bool tape_equal(const struct tape_node *a, const struct tape_node *b)
{
    if (is_number(a) && is_number(b))
        return equal_numbers(a, b);
    if (a->kind != b->kind)
        return false;
    if (a->kind == TAPE_STR)
        return str_eq(tape_str(a), tape_str(b));
    if (a->kind < TAPE_ARRAY)
        return true;
    if (a->n != b->n)
        return false;
    return a->kind == TAPE_ARRAY ? equal_arrays(a, b) : equal_objects(a, b);
}

/* ---- writing -------------------------------------------------------------------------------- */

static void write_array(const struct tape_node *array, struct buf *out)
{
    const struct tape_node *node = array + 1;
    buf_add_char(out, '[');
    for (uint32_t i = 0; i < array->n; i++, node = tape_next(node)) {
        if (i)
            buf_add_char(out, ',');
        tape_write(node, out);
    }
    buf_add_char(out, ']');
}

static void write_object(const struct tape_node *object, struct buf *out)
{
    buf_add_char(out, '{');
    tape_each (object, key, value) {
        if (key != object + 1)
            buf_add_char(out, ',');
        json_write_str(out, tape_str(key));
        buf_add_char(out, ':');
        tape_write(value, out);
    }
    buf_add_char(out, '}');
}

void tape_write(const struct tape_node *node, struct buf *out)
{
    static const struct str words[] = {
        [TAPE_NULL] = STR_INIT("null"),
        [TAPE_FALSE] = STR_INIT("false"),
        [TAPE_TRUE] = STR_INIT("true"),
    };
    switch ((enum tape_kind)node->kind) {
    case TAPE_INT:
        buf_add_i64(out, node->v.i);
        break;
    case TAPE_NUM:
        json_write_num(out, node->v.d);
        break;
    case TAPE_STR:
        json_write_str(out, tape_str(node));
        break;
    case TAPE_ARRAY:
        write_array(node, out);
        break;
    case TAPE_OBJECT:
        write_object(node, out);
        break;
    default:
        buf_add_str(out, words[node->kind]);
    }
}
