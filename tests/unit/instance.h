/* tests/unit/instance.h - makes JSON text that a table allows: only what is required, all there is,
 * or a random choice in random order, with blanks and escapes.
 */
#ifndef TENON_TESTS_INSTANCE_H
#define TENON_TESTS_INSTANCE_H

#include "wire/json_write.h"
#include "wire/table.h"

#include <math.h>
#include <string.h>

enum instance_size { MINIMAL, MAXIMAL, RANDOM };

struct instance {
    struct buf out;
    enum instance_size size;
    uint64_t random; /* state; not 0 */
    unsigned depth;
};

static inline uint32_t instance_roll(struct instance *in, uint32_t below)
{
    in->random ^= in->random << 13, in->random ^= in->random >> 7, in->random ^= in->random << 17;
    return (uint32_t)(in->random >> 33) % below;
}

static inline void instance_value(struct instance *in, const struct wire_type *t);
static inline void instance_object(struct instance *in, const struct wire_message *m);

static inline void instance_blank(struct instance *in)
{
    if (in->size == RANDOM && instance_roll(in, 8) == 0)
        buf_add_str(&in->out, instance_roll(in, 2) ? STR(" ") : STR("\n\t"));
}

static inline void instance_str(struct instance *in, const struct wire_type *t)
{
    static const struct str texts[][2] = {
        [WIRE_PLAIN] = {STR_INIT("\"text\""),
                        STR_INIT("\"a \\\"text\\\" \\u6f22\\ud83d\\ude00é\"")},
        [WIRE_URI] = {STR_INIT("\"db://geo/x\""), STR_INIT("\"file:\\/\\/\\/a%20b?c#d\"")},
        [WIRE_URI_TEMPLATE] = {STR_INIT("\"db://{a}/{+b}\""), STR_INIT("\"x:{?c,d*}\"")},
        [WIRE_BYTE] = {STR_INIT("\"QUJD\""), STR_INIT("\"\"")},
    };
    buf_add_str(&in->out, texts[t->format][in->size == RANDOM && instance_roll(in, 2)]);
}

/* The nearest whole number to 1 that the range allows; 1 more at random. */
static inline void instance_num(struct instance *in, const struct wire_type *t)
{
    double v = in->size == RANDOM ? instance_roll(in, 1000) : 1;
    const struct wire_range *range = t->of.range;
    if (range)
        v = fmax(range->min, fmin(range->max, v));
    if (in->size == RANDOM && t->kind == WIRE_NUM && v > 1 && !range)
        v -= 0.125;
    json_write_num(&in->out, v);
    if (in->size == RANDOM && v == floor(v) && instance_roll(in, 4) == 0)
        buf_add_lit(&in->out, ".0");
}

/* One value per JSON type, by bit. */
static inline void instance_raw_of(struct instance *in, unsigned types)
{
    static const struct str values[] = {STR_INIT("null"), STR_INIT("true"),  STR_INIT("-7"),
                                        STR_INIT("2.5"),  STR_INIT("\"r\""), STR_INIT("[]"),
                                        STR_INIT("{}")};
    unsigned pick = 6; /* objects first: they are what most raw members are */
    if (in->size == RANDOM)
        pick = instance_roll(in, 7);
    while (!(types >> pick & 1))
        pick = pick ? pick - 1 : 6;
    buf_add_str(&in->out, values[pick]);
}

static inline void instance_raw(struct instance *in, const struct wire_type *t)
{
    if (t->of.message && t->types & WIRE_T_OBJECT) {
        instance_object(in, t->of.message);
    } else if (t->items && t->types & WIRE_T_ARRAY) {
        buf_add_char(&in->out, '[');
        instance_raw_of(in, t->items);
        buf_add_char(&in->out, ']');
    } else {
        instance_raw_of(in, t->types);
    }
}

static inline void instance_one(struct instance *in, const struct wire_type *t)
{
    switch ((enum wire_kind)t->kind) {
    case WIRE_STR:
        instance_str(in, t);
        break;
    case WIRE_INT:
    case WIRE_NUM:
        instance_num(in, t);
        break;
    case WIRE_BOOL:
        buf_add_lit(&in->out, "true");
        break;
    case WIRE_ENUM:
        json_write_str(&in->out, t->of.choices->names[instance_roll(in, t->of.choices->n)]);
        break;
    case WIRE_CONST:
        buf_add(&in->out, t->of.literal, strlen(t->of.literal));
        break;
    case WIRE_TOKEN:
        buf_add_str(&in->out, instance_roll(in, 2) ? STR("0") : STR("\"\""));
        break;
    case WIRE_RAW:
        instance_raw(in, t);
        break;
    case WIRE_OBJECT:
        instance_object(in, t->of.message);
    }
}

static inline uint32_t instance_count(struct instance *in, const struct wire_type *t)
{
    uint32_t n = in->size == MINIMAL ? 0 : in->size == MAXIMAL ? 2 : instance_roll(in, 6);
    if (in->depth > 5)
        n = n > 0;
    return t->max_items && n > t->max_items ? t->max_items : n;
}

static inline void instance_list(struct instance *in, const struct wire_type *t)
{
    uint32_t n = instance_count(in, t);
    if (t->container == WIRE_MANY && n <= 1) {
        instance_one(in, t); /* stands alone, and is written so */
        return;
    }
    buf_add_char(&in->out, '[');
    for (uint32_t i = 0; i < n; i++) {
        if (i)
            buf_add_char(&in->out, ',');
        instance_one(in, t);
        instance_blank(in);
    }
    buf_add_char(&in->out, ']');
}

static inline void instance_map(struct instance *in, const struct wire_type *t)
{
    uint32_t n = instance_count(in, t);
    buf_add_char(&in->out, '{');
    for (uint32_t i = 0; i < n; i++) {
        if (i)
            buf_add_char(&in->out, ',');
        buf_printf(&in->out, "\"key %u\":", i);
        instance_blank(in);
        instance_one(in, t);
    }
    buf_add_char(&in->out, '}');
}

static inline void instance_value(struct instance *in, const struct wire_type *t)
{
    if (t->container == WIRE_ONE)
        instance_one(in, t);
    else if (t->container == WIRE_MAP)
        instance_map(in, t);
    else
        instance_list(in, t);
}

/* The bit among the deciding members of a union of the member with this row, or none. */
static inline uint64_t instance_sign(const struct wire_message *decider, const struct wire_row *row)
{
    for (unsigned i = 0; decider && i < decider->n_rows; i++)
        if (strcmp(row->name, decider->rows[i].name) == 0)
            return UINT64_C(1) << decider->rows[i].bit;
    return 0;
}

static inline bool instance_wants(struct instance *in, const struct wire_message *m,
                                  const struct wire_row *row)
{
    if (m->required >> row->bit & 1)
        return true;
    if (in->size == MAXIMAL)
        return in->depth < 6;
    return in->size == RANDOM && instance_roll(in, in->depth < 5 ? 2 : 6) == 0;
}

static inline void instance_members(struct instance *in, const struct wire_message *m,
                                    const struct wire_message *decider,
                                    const struct wire_variant *v)
{
    bool first = true;
    uint32_t start = in->size == RANDOM && m->n_rows ? instance_roll(in, m->n_rows) : 0;
    buf_add_char(&in->out, '{');
    in->depth++;
    for (uint32_t i = 0; i < m->n_rows; i++) {
        const struct wire_row *row = &m->rows[(start + i) % m->n_rows];
        uint64_t sign = instance_sign(decider, row);
        bool is_tag = sign && v->fixed_literal && sign == UINT64_C(1) << v->fixed_bit;
        if (sign & (v ? v->absent : 0))
            continue;
        if (!is_tag && !(sign & (v ? v->present : 0)) && !instance_wants(in, m, row))
            continue;
        if (!first)
            buf_add_char(&in->out, ',');
        first = false;
        instance_blank(in);
        buf_add(&in->out, row->name, row->key_len + 3u);
        instance_blank(in);
        if (is_tag)
            buf_add(&in->out, v->fixed_literal, strlen(v->fixed_literal));
        else
            instance_value(in, &row->type);
    }
    in->depth--;
    buf_add_char(&in->out, '}');
}

/* As alternative number `pick` of a union. */
static inline void instance_variant(struct instance *in, const struct wire_message *m,
                                    unsigned pick)
{
    instance_members(in, m->variants[pick].message, m, &m->variants[pick]);
}

static inline void instance_object(struct instance *in, const struct wire_message *m)
{
    if (m->variants)
        instance_variant(in, m, in->size == RANDOM ? instance_roll(in, m->n_variants) : 0);
    else
        instance_members(in, m, NULL, NULL);
}

#endif
