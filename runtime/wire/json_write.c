/* wire/json_write.c - the writer by table; see json_write.h.
 *
 * The mirror of the reader: one function per kind, the rows in order. A row carries its key as it
 * is written, quotes and colon included. Raw text is copied. What is missing or unknown is our own
 * fault, so nothing is reported but that it happened, and the buffer is left as it was.
 */
#include "wire/json_write.h"

#include "base/err.h"
#include "wire/json_number.h"
#include "wire/layout.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* ---- strings and numbers -------------------------------------------------------------------- */

/* The first byte of [p, end) that is not plain ASCII text. Unlike the reader's, these bytes have no
 * zeros behind them. */
static const char *plain_run(const char *p, const char *end)
{
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\'),
                  space = _mm_set1_epi8(' ');
    for (; end - p >= 16; p += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)p);
        __m128i stop =
            _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, slash)),
                         _mm_cmplt_epi8(v, space));
        unsigned mask = (unsigned)_mm_movemask_epi8(stop);
        if (mask)
            return p + __builtin_ctz(mask);
    }
#endif
    while (p < end && !scan_special[(unsigned char)*p])
        p++;
    return p;
}

static unsigned utf8_before(const char *p, const char *end)
{
    unsigned char padded[4] = {0};
    if (end - p >= 4)
        return scan_utf8((const unsigned char *)p);
    memcpy(padded, p, (size_t)(end - p));
    return scan_utf8(padded);
}

/* The first byte that has to be escaped or replaced. */
static const char *text_run(const char *p, const char *end)
{
    for (;;) {
        p = plain_run(p, end);
        if (p == end || (unsigned char)*p < 0x80)
            return p;
        unsigned n = utf8_before(p, end);
        if (n == 0)
            return p;
        p += n;
    }
}

static void write_escape(struct buf *out, unsigned char c)
{
    static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt", hex[] = "0123456789abcdef";
    const char *at = c ? strchr(from, c) : NULL;
    if (c >= 0x80)
        buf_add_lit(out, "\xef\xbf\xbd");
    else if (at)
        buf_add(out, (char[]){'\\', to[at - from]}, 2);
    else
        buf_add(out, (char[]){'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]}, 6);
}

void json_write_str(struct buf *out, struct str s)
{
    const char *p = s.p, *end = s.p + s.n;
    buf_reserve(out, (size_t)s.n + 2);
    buf_add_char(out, '"');
    while (p < end) {
        const char *stop = text_run(p, end);
        buf_add(out, p, (size_t)(stop - p));
        if (stop < end)
            write_escape(out, (unsigned char)*stop++);
        p = stop;
    }
    buf_add_char(out, '"');
}

/* The shortest of three precisions that reads back; 17 digits always do. */
static int print_num(char *text, size_t size, double v)
{
    locale_t locale = json_locale(), old = locale ? uselocale(locale) : (locale_t)0;
    int n = 0;
    for (int precision = 15; precision <= 17; precision++) {
        n = snprintf(text, size, "%.*g", precision, v);
        if (json_strtod(text) == v)
            break;
    }
    if (locale)
        uselocale(old);
    return n;
}

void json_write_num(struct buf *out, double v)
{
    char text[40];
    if (!isfinite(v))
        buf_add_lit(out, "null");
    else if (fabs(v) < 0x1p63 && v == (double)(int64_t)v && !(v == 0 && signbit(v)))
        /* all digits, even where fewer read back: a reader may take them for an int64 */
        buf_add_i64(out, (int64_t)v);
    else
        buf_add(out, text, (size_t)print_num(text, sizeof text, v));
}

/* ---- kinds ---------------------------------------------------------------------------------- */

/* Appends the value at `at`; false: it is not one that the table allows. */
typedef bool (*write_fn)(const struct wire_type *t, const char *at, struct buf *out);

static bool write_object(const struct wire_message *m, const char *at, struct buf *out);
static bool write_value(const struct wire_type *t, const char *at, struct buf *out);

static bool write_str(const struct wire_type *t, const char *at, struct buf *out)
{
    (void)t;
    json_write_str(out, *(const struct str *)at);
    return true;
}

static bool write_int(const struct wire_type *t, const char *at, struct buf *out)
{
    (void)t;
    buf_add_i64(out, *(const int64_t *)at);
    return true;
}

static bool write_num(const struct wire_type *t, const char *at, struct buf *out)
{
    (void)t;
    double v = *(const double *)at;
    json_write_num(out, v);
    return isfinite(v);
}

static bool write_bool(const struct wire_type *t, const char *at, struct buf *out)
{
    (void)t;
    buf_add_str(out, *(const bool *)at ? STR("true") : STR("false"));
    return true;
}

static bool write_enum(const struct wire_type *t, const char *at, struct buf *out)
{
    const struct wire_enum *choices = t->of.choices;
    for (unsigned i = 0; i < choices->n; i++)
        if (choices->values[i] == *(const int32_t *)at) {
            json_write_str(out, choices->names[i]);
            return true;
        }
    return false;
}

static bool write_const(const struct wire_type *t, const char *at, struct buf *out)
{
    (void)at;
    buf_add(out, t->of.literal, strlen(t->of.literal));
    return true;
}

static bool write_raw(const struct wire_type *t, const char *at, struct buf *out)
{
    (void)t;
    struct str raw = *(const struct str *)at;
    buf_add_str(out, raw);
    return raw.n > 0;
}

static bool write_object_pointer(const struct wire_type *t, const char *at, struct buf *out)
{
    const char *object = *(const char *const *)at;
    return object && write_object(t->of.message, object, out);
}

static const write_fn write_kind[] = {
    [WIRE_STR] = write_str,   [WIRE_INT] = write_int,   [WIRE_NUM] = write_num,
    [WIRE_BOOL] = write_bool, [WIRE_ENUM] = write_enum, [WIRE_CONST] = write_const,
    [WIRE_TOKEN] = write_raw, [WIRE_RAW] = write_raw,   [WIRE_OBJECT] = write_object_pointer,
};

/* ---- containers ----------------------------------------------------------------------------- */

static bool write_element(const struct wire_type *t, const char *at, struct buf *out)
{
    if (t->kind == WIRE_OBJECT)
        return write_object(t->of.message, at, out);
    return write_kind[t->kind](t, at, out);
}

static bool write_array(const struct wire_type *t, const char *at, struct buf *out)
{
    const struct wire_list *list = (const struct wire_list *)at;
    size_t size = wire_element_size(t);
    if (t->max_items && list->n > t->max_items)
        return false;
    buf_add_char(out, '[');
    for (uint32_t i = 0; i < list->n; i++) {
        if (i)
            buf_add_char(out, ',');
        if (!write_element(t, list->v + i * size, out))
            return false;
    }
    buf_add_char(out, ']');
    return true;
}

/* One value stands alone: older revisions know no array here. */
static bool write_many(const struct wire_type *t, const char *at, struct buf *out)
{
    const struct wire_list *list = (const struct wire_list *)at;
    return list->n == 1 ? write_element(t, list->v, out)
                        : t->max_items != 1 && write_array(t, at, out);
}

static bool write_map(const struct wire_type *t, const char *at, struct buf *out)
{
    const struct wire_list *list = (const struct wire_list *)at;
    size_t size = wire_entry_size(t);
    buf_add_char(out, '{');
    for (uint32_t i = 0; i < list->n; i++) {
        const char *entry = list->v + i * size;
        if (i)
            buf_add_char(out, ',');
        json_write_str(out, *(const struct str *)entry);
        buf_add_char(out, ':');
        if (!write_kind[t->kind](t, entry + sizeof(struct str), out))
            return false;
    }
    buf_add_char(out, '}');
    return true;
}

static bool write_one(const struct wire_type *t, const char *at, struct buf *out)
{
    return write_kind[t->kind](t, at, out);
}

static bool write_value(const struct wire_type *t, const char *at, struct buf *out)
{
    static const write_fn write_container[] = {
        [WIRE_ONE] = write_one,
        [WIRE_ARRAY] = write_array,
        [WIRE_MANY] = write_many,
        [WIRE_MAP] = write_map,
    };
    return write_container[t->container](t, at, out);
}

/* ---- objects -------------------------------------------------------------------------------- */

static uint64_t has_of(const char *object)
{
    return *(const uint64_t *)object;
}

static bool write_members(const struct wire_message *m, const char *at, struct buf *out)
{
    uint64_t has = has_of(at);
    bool first = true;
    buf_add_char(out, '{');
    for (unsigned i = 0; i < m->n_rows; i++) {
        const struct wire_row *row = &m->rows[i];
        bool is_const = row->type.kind == WIRE_CONST;
        if (!(has >> row->bit & 1)) {
            if (!(m->required >> row->bit & 1))
                continue;
            if (!is_const)
                return false;
        }
        if (!first)
            buf_add_char(out, ',');
        first = false;
        buf_add(out, row->name, row->key_len + 3u);
        if (!write_value(&row->type, at + row->offset, out))
            return false;
    }
    buf_add_char(out, '}');
    return true;
}

/* The members that an author has to set. */
static uint64_t required_by_hand(const struct wire_message *m)
{
    uint64_t required = m->required;
    for (unsigned i = 0; i < m->n_rows; i++)
        if (m->rows[i].type.kind == WIRE_CONST)
            required &= ~(UINT64_C(1) << m->rows[i].bit);
    return required;
}

static const struct wire_message *alternative_of(const struct wire_message *m, const char *at)
{
    int32_t kind = *(const int32_t *)(at + sizeof(uint64_t));
    for (unsigned i = 0; i < m->n_variants; i++) {
        const struct wire_variant *v = &m->variants[i];
        if (kind ? v->kind == kind : !(required_by_hand(v->message) & ~has_of(at)))
            return v->message;
    }
    return NULL;
}

static bool write_object(const struct wire_message *m, const char *at, struct buf *out)
{
    if (m->variants)
        m = alternative_of(m, at);
    return m && write_members(m, at, out);
}

int wire_write(const struct wire_type *type, const void *value, struct buf *out)
{
    size_t start = out->n;
    bool is_struct = type->kind == WIRE_OBJECT && type->container == WIRE_ONE;
    bool fits =
        is_struct ? write_object(type->of.message, value, out) : write_value(type, value, out);
    if (out->failed)
        return ERR_NO_MEMORY;
    if (fits)
        return 0;
    out->n = start;
    return ERR_INTERNAL;
}
