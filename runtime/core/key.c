/* core/key.c - see key.h. */
#include "core/key.h"

#include "base/err.h"
#include "base/limits.h"
#include "schema/percent.h"

#include <string.h>

#define INTEGER_BYTES 8

const char *key_type_name(enum key_type type)
{
    static const char *const names[] = {"integer", "string", "number", "boolean"};
    return names[type];
}

static int encode_integer(int64_t v, struct arena *arena, struct str *ret)
{
    unsigned char *p = arena_alloc(arena, INTEGER_BYTES);
    uint64_t bits = (uint64_t)v ^ (UINT64_C(1) << 63);
    if (!p)
        return ERR_NO_MEMORY;
    for (int i = INTEGER_BYTES; i-- > 0; bits >>= 8)
        p[i] = (unsigned char)bits;
    *ret = (struct str){(char *)p, INTEGER_BYTES};
    return 0;
}

static int64_t decode_integer(struct str key)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < INTEGER_BYTES; i++)
        bits = bits << 8 | (unsigned char)key.p[i];
    return (int64_t)(bits ^ (UINT64_C(1) << 63));
}

static int encode_string(struct str s, struct arena *arena, struct str *ret)
{
    if (s.n == 0 || s.n > KEY_BYTES_MAX)
        return ERR_LIMIT;
    struct str copy = arena_str(arena, s);
    if (!copy.p)
        return ERR_NO_MEMORY;
    *ret = copy;
    return 0;
}

int key_encode(enum key_type type, const struct tape_node *value, struct arena *arena,
               struct str *ret)
{
    if (value->kind != (type == KEY_INTEGER ? TAPE_INT : TAPE_STR))
        return ERR_PARAMS;
    if (type == KEY_INTEGER)
        return encode_integer(value->v.i, arena, ret);
    return encode_string(tape_str(value), arena, ret);
}

void key_add(enum key_type type, struct str key, struct tape_builder *tape)
{
    if (type == KEY_STRING)
        tape_add_str(tape, key);
    else if (key.n == INTEGER_BYTES)
        tape_add_int(tape, decode_integer(key));
    else
        tape_add_null(tape);
}

void key_write_text(enum key_type type, struct str key, struct buf *out)
{
    if (type == KEY_STRING)
        buf_add_str(out, key);
    else if (key.n == INTEGER_BYTES)
        buf_add_i64(out, decode_integer(key));
}

void key_write_segment(enum key_type type, struct str key, struct buf *out)
{
    if (type == KEY_STRING)
        percent_encode(out, key, PERCENT_UNRESERVED);
    else
        key_write_text(type, key, out);
}

/* Only the form that key_write_text writes: no plus sign, no leading zero, no "-0". */
static int read_integer(struct str text, int64_t *ret)
{
    bool negative = text.n && text.p[0] == '-';
    struct str digits = {text.p + negative, text.n - negative};
    uint64_t v, most = (uint64_t)INT64_MAX + negative;
    if (str_to_u64(digits, &v) < 0 || v > most)
        return ERR_SYNTAX;
    if (digits.p[0] == '0' && (digits.n > 1 || negative))
        return ERR_SYNTAX;
    *ret = negative ? (int64_t)(0 - v) : (int64_t)v;
    return 0;
}

int key_from_text(enum key_type type, struct str text, struct arena *arena, struct str *ret)
{
    int64_t v;
    if (type == KEY_STRING)
        return encode_string(text, arena, ret);
    int err = read_integer(text, &v);
    return err < 0 ? err : encode_integer(v, arena, ret);
}

int key_from_segment(enum key_type type, struct str segment, struct arena *arena, struct str *ret)
{
    struct str text;
    int err = percent_decode(segment, arena, &text);
    return err < 0 ? err : key_from_text(type, text, arena, ret);
}

/* ---- Parts of index keys -------------------------------------------------------------------- */

#define PART_NULL  '\x01'
#define PART_VALUE '\x02'
#define SIGN       (UINT64_C(1) << 63)

static void add_bits(uint64_t bits, struct buf *out)
{
    for (int shift = 56; shift >= 0; shift -= 8)
        buf_add_char(out, (char)(bits >> shift));
}

static bool add_integer(const struct tape_node *value, struct buf *out)
{
    if (value->kind != TAPE_INT)
        return false;
    add_bits((uint64_t)value->v.i ^ SIGN, out);
    return true;
}

/* The bits of doubles of one sign sort as the doubles do, those of negative ones backwards. */
static bool add_number(const struct tape_node *value, struct buf *out)
{
    uint64_t bits;
    if (value->kind != TAPE_INT && value->kind != TAPE_NUM)
        return false;
    double d = tape_num(value) + 0.0; /* -0 becomes 0 */
    memcpy(&bits, &d, sizeof bits);
    add_bits(bits & SIGN ? ~bits : bits ^ SIGN, out);
    return true;
}

static bool add_boolean(const struct tape_node *value, struct buf *out)
{
    if (value->kind != TAPE_FALSE && value->kind != TAPE_TRUE)
        return false;
    buf_add_char(out, value->kind == TAPE_TRUE);
    return true;
}

/* Ends with 00 01; a zero byte inside is 00 FF, so that it sorts behind an end. */
static bool add_string(const struct tape_node *value, struct buf *out)
{
    if (value->kind != TAPE_STR)
        return false;
    for (struct str rest = tape_str(value); rest.n;) {
        const char *zero = memchr(rest.p, '\0', rest.n);
        uint32_t n = zero ? (uint32_t)(zero - rest.p) : rest.n;
        buf_add(out, rest.p, n);
        if (zero)
            buf_add(out, "\0\xff", 2);
        n += zero != NULL;
        rest = (struct str){rest.p + n, rest.n - n};
    }
    buf_add(out, "\0\x01", 2);
    return true;
}

static bool (*const add_value[])(const struct tape_node *value, struct buf *out) = {
    [KEY_INTEGER] = add_integer,
    [KEY_STRING] = add_string,
    [KEY_NUMBER] = add_number,
    [KEY_BOOLEAN] = add_boolean,
};

int key_add_part(enum key_type type, bool descending, const struct tape_node *value,
                 struct buf *out)
{
    size_t start = out->n;
    bool null = !value || value->kind == TAPE_NULL;
    buf_add_char(out, null ? PART_NULL : PART_VALUE);
    if (!null && !add_value[type](value, out))
        return ERR_PARAMS;
    for (size_t i = start; descending && !out->failed && i < out->n; i++)
        out->p[i] = (char)~out->p[i];
    return out->failed ? ERR_NO_MEMORY : 0;
}
