/* tests/unit/fill.h - fills the structs that a table describes at random, and compares two of them
 * by the table. With writer and reader between the two this proves that nothing is lost.
 */
#ifndef TENON_TESTS_FILL_H
#define TENON_TESTS_FILL_H

#include "base/arena.h"
#include "instance.h"
#include "wire/layout.h"

struct fill {
    struct instance in; /* its dice, and raw text */
    struct arena *arena;
    unsigned depth;
};

static inline void fill_value(struct fill *f, const struct wire_type *t, char *out);
static inline void fill_object(struct fill *f, const struct wire_message *m, char *out);

static inline struct str fill_text(struct fill *f, const struct wire_type *t)
{
    static const struct str plain[] = {STR_INIT(""),
                                       STR_INIT("text"),
                                       STR_INIT("\"quoted\" \\ / \b"),
                                       STR_INIT("line\nline\ttab\x01\x1f\x7f"),
                                       STR_INIT("漢字😀é"),
                                       STR_INIT("a long text, longer than one vector register")};
    static const struct str formed[][2] = {
        [WIRE_URI] = {STR_INIT("db://geo/x"), STR_INIT("urn:a%20b")},
        [WIRE_URI_TEMPLATE] = {STR_INIT("db://{a}"), STR_INIT("x:y")},
        [WIRE_BYTE] = {STR_INIT("QUJD"), STR_INIT("QQ==")},
    };
    if (t->format == WIRE_PLAIN)
        return plain[instance_roll(&f->in, sizeof plain / sizeof *plain)];
    return formed[t->format][instance_roll(&f->in, 2)];
}

static inline struct str fill_raw(struct fill *f, const struct wire_type *t)
{
    buf_clear(&f->in.out);
    instance_one(&f->in, t);
    return arena_str(f->arena, str_trim(buf_str(&f->in.out)));
}

static inline double fill_num(struct fill *f, const struct wire_type *t)
{
    const struct wire_range *range = t->of.range;
    double v = (double)instance_roll(&f->in, 1u << 30) / (1 << instance_roll(&f->in, 12)) - 1e5;
    if (range)
        v = fmax(range->min, fmin(range->max, v));
    return v;
}

static inline void fill_one(struct fill *f, const struct wire_type *t, char *out)
{
    switch ((enum wire_kind)t->kind) {
    case WIRE_STR:
        *(struct str *)out = fill_text(f, t);
        break;
    case WIRE_INT:
        *(int64_t *)out = (int64_t)floor(fill_num(f, t));
        if (!t->of.range)
            *(int64_t *)out *= INT64_C(4000000007);
        break;
    case WIRE_NUM:
        *(double *)out = fill_num(f, t);
        break;
    case WIRE_BOOL:
        *(bool *)out = instance_roll(&f->in, 2);
        break;
    case WIRE_ENUM:
        *(int32_t *)out = t->of.choices->values[instance_roll(&f->in, t->of.choices->n)];
        break;
    case WIRE_CONST:
        break;
    case WIRE_TOKEN:
    case WIRE_RAW:
        *(struct str *)out = fill_raw(f, t);
        break;
    case WIRE_OBJECT:
        *(char **)out = arena_zalloc(f->arena, t->of.message->size);
        fill_object(f, t->of.message, *(char **)out);
    }
}

static inline uint32_t fill_count(struct fill *f, const struct wire_type *t)
{
    uint32_t n = instance_roll(&f->in, f->depth < 4 ? 4 : 2);
    if (t->container == WIRE_MANY && t->max_items == 1)
        return 1;
    return t->max_items && n > t->max_items ? t->max_items : n;
}

static inline void fill_list(struct fill *f, const struct wire_type *t, struct wire_list *list)
{
    bool is_map = t->container == WIRE_MAP;
    size_t size = is_map ? wire_entry_size(t) : wire_element_size(t);
    list->n = fill_count(f, t);
    list->v = arena_zalloc(f->arena, (list->n + 1) * size);
    for (uint32_t i = 0; i < list->n; i++) {
        char *element = list->v + i * size;
        if (is_map) {
            *(struct str *)element = arena_printf(f->arena, "key\t%u", i);
            fill_one(f, t, element + sizeof(struct str));
        } else if (t->kind == WIRE_OBJECT) {
            fill_object(f, t->of.message, element);
        } else {
            fill_one(f, t, element);
        }
    }
}

static inline void fill_value(struct fill *f, const struct wire_type *t, char *out)
{
    if (t->container == WIRE_ONE)
        fill_one(f, t, out);
    else
        fill_list(f, t, (struct wire_list *)out);
}

static inline void fill_members(struct fill *f, const struct wire_message *m,
                                const struct wire_message *decider, const struct wire_variant *v,
                                char *out)
{
    uint64_t has = 0;
    f->depth++;
    for (unsigned i = 0; i < m->n_rows; i++) {
        const struct wire_row *row = &m->rows[i];
        uint64_t sign = instance_sign(decider, row);
        bool is_tag = sign && v->fixed_literal && sign == UINT64_C(1) << v->fixed_bit;
        bool wanted = is_tag || sign & (v ? v->present : 0) || m->required >> row->bit & 1 ||
                      instance_roll(&f->in, f->depth < 4 ? 2 : 5) == 0;
        if (!wanted || sign & (v ? v->absent : 0))
            continue;
        has |= UINT64_C(1) << row->bit;
        if (is_tag && row->type.kind == WIRE_STR)
            *(struct str *)(out + row->offset) =
                (struct str){v->fixed_literal + 1, (uint32_t)strlen(v->fixed_literal) - 2};
        else
            fill_value(f, &row->type, out + row->offset);
    }
    f->depth--;
    *(uint64_t *)out = has;
}

static inline void fill_object(struct fill *f, const struct wire_message *m, char *out)
{
    if (!m->variants) {
        fill_members(f, m, NULL, NULL, out);
        return;
    }
    const struct wire_variant *v = &m->variants[instance_roll(&f->in, m->n_variants)];
    fill_members(f, v->message, m, v, out);
    *(int32_t *)(out + sizeof(uint64_t)) = v->kind;
}

/* ---- comparing ------------------------------------------------------------------------------ */

static inline bool same_object(const struct wire_message *m, const char *a, const char *b);

static inline bool same_one(const struct wire_type *t, const char *a, const char *b)
{
    switch ((enum wire_kind)t->kind) {
    case WIRE_STR:
    case WIRE_TOKEN:
    case WIRE_RAW:
        return str_eq(*(const struct str *)a, *(const struct str *)b);
    case WIRE_INT:
        return *(const int64_t *)a == *(const int64_t *)b;
    case WIRE_NUM:
        return *(const double *)a == *(const double *)b;
    case WIRE_BOOL:
        return *(const bool *)a == *(const bool *)b;
    case WIRE_ENUM:
        return *(const int32_t *)a == *(const int32_t *)b;
    case WIRE_OBJECT:
        return same_object(t->of.message, *(char *const *)a, *(char *const *)b);
    case WIRE_CONST:
        break;
    }
    return true;
}

static inline bool same_list(const struct wire_type *t, const struct wire_list *a,
                             const struct wire_list *b)
{
    bool is_map = t->container == WIRE_MAP, same = a->n == b->n;
    size_t size = is_map ? wire_entry_size(t) : wire_element_size(t);
    for (uint32_t i = 0; same && i < a->n; i++) {
        const char *x = a->v + i * size, *y = b->v + i * size;
        if (is_map)
            same = str_eq(*(const struct str *)x, *(const struct str *)y) &&
                   same_one(t, x + sizeof(struct str), y + sizeof(struct str));
        else
            same = t->kind == WIRE_OBJECT ? same_object(t->of.message, x, y) : same_one(t, x, y);
    }
    return same;
}

static inline bool same_value(const struct wire_type *t, const char *a, const char *b)
{
    if (t->container == WIRE_ONE)
        return same_one(t, a, b);
    return same_list(t, (const struct wire_list *)a, (const struct wire_list *)b);
}

static inline bool same_object(const struct wire_message *m, const char *a, const char *b)
{
    if (m->variants) {
        int32_t kind = *(const int32_t *)(a + sizeof(uint64_t));
        if (kind != *(const int32_t *)(b + sizeof(uint64_t)))
            return false;
        for (unsigned i = 0; i < m->n_variants; i++)
            if (m->variants[i].kind == kind)
                return same_object(m->variants[i].message, a, b);
        return false;
    }
    uint64_t has = *(const uint64_t *)a;
    if (has != *(const uint64_t *)b)
        return false;
    for (unsigned i = 0; i < m->n_rows; i++) {
        const struct wire_row *row = &m->rows[i];
        if (has >> row->bit & 1 && !same_value(&row->type, a + row->offset, b + row->offset))
            return false;
    }
    return true;
}

#endif
