/* wire/json_union.c - which alternative of a union is it?
 *
 * The object is walked once, looking only at the members that decide; as soon as its tag settles
 * the matter the walk stops. Then the object is read from its start by the table of the
 * alternative. Should that table refuse it, a later alternative that fits as well gets its chance,
 * as anyOf wants it. The fault names what a person would call wrong: a bad tag, or what the tagged
 * alternative lacks; else what the first fitting alternative said.
 */
#include "wire/json_interpret.h"

#include <stdio.h>
#include <string.h>

/* The deciding members. */
struct signs {
    uint64_t has;
    bool is_tagged;                    /* every alternative has a literal for the same member */
    const struct wire_variant *by_tag; /* the first one that the tag names */
    bool settled;                      /* ... and the only one */
    struct str values[64];             /* raw text, by bit */
};

static bool is_tagged(const struct wire_message *m)
{
    for (unsigned i = 0; i < m->n_variants; i++)
        if (!m->variants[i].fixed_literal || m->variants[i].fixed_bit != m->variants[0].fixed_bit)
            return false;
    return true;
}

static bool has_fixed_value(const struct wire_variant *v, const struct signs *signs)
{
    if (!v->fixed_literal)
        return true;
    if (!(signs->has >> v->fixed_bit & 1))
        return false;
    struct str value = signs->values[v->fixed_bit];
    return wire_is_literal(value.p, value.p + value.n, v->fixed_literal);
}

static void read_tag(const struct wire_message *m, struct signs *signs)
{
    unsigned named = 0;
    for (unsigned i = 0; i < m->n_variants; i++)
        if (has_fixed_value(&m->variants[i], signs) && named++ == 0)
            signs->by_tag = &m->variants[i];
    signs->settled = named == 1 && !signs->by_tag->absent;
}

/* p at a member's name; returns the position behind its value. */
static const char *note_member(struct reader *r, const char *p, const struct wire_message *m,
                               struct signs *signs)
{
    const struct wire_row *row;
    p = wire_read_key(r, p, m, &row);
    const char *end = p ? scan_value(&r->scan, p) : NULL;
    if (!end || !row || (signs->has >> row->bit & 1))
        return end;
    signs->has |= UINT64_C(1) << row->bit;
    signs->values[row->bit] = (struct str){p, (uint32_t)(end - p)};
    if (signs->is_tagged && row->bit == m->variants[0].fixed_bit)
        read_tag(m, signs);
    return end;
}

/* p at the opening brace. */
static bool read_signs(struct reader *r, const char *p, const struct wire_message *m,
                       struct signs *signs)
{
    signs->has = 0;
    signs->by_tag = NULL;
    signs->settled = false;
    signs->is_tagged = is_tagged(m);
    p = scan_blanks(p + 1);
    if (*p == '}')
        return true;
    for (;; p++) {
        p = note_member(r, scan_blanks(p), m, signs);
        if (!p)
            return false;
        p = scan_blanks(p);
        if (signs->settled || *p == '}')
            return true;
        if (*p != ',')
            return scan_fail(&r->scan, p, WIRE_SYNTAX, "',' or '}'") != NULL;
    }
}

static struct str key_of_bit(const struct wire_message *m, unsigned bit)
{
    for (unsigned i = 0; i < m->n_rows; i++)
        if (m->rows[i].bit == bit)
            return (struct str){m->rows[i].name + 1, m->rows[i].key_len};
    return STR("?");
}

/* "ref/prompt|ref/resource", or the names of the alternatives. */
static void list_variants(const struct wire_message *m, bool tags, char *ret, size_t size)
{
    size_t n = 0;
    for (unsigned i = 0; i < m->n_variants && n < size; i++) {
        const char *text = tags ? m->variants[i].fixed_literal : m->variants[i].name;
        size_t quote = *text == '"';
        n += (size_t)snprintf(ret + n, size - n, "%s%.*s", i ? "|" : "",
                              (int)(strlen(text) - 2 * quote), text + quote);
    }
}

COLD static const char *report_tag(struct reader *r, const char *open, const struct wire_message *m,
                                   const struct signs *signs)
{
    char expected[sizeof r->scan.fault->expected];
    unsigned bit = m->variants[0].fixed_bit;
    bool there = signs->has >> bit & 1;
    list_variants(m, true, expected, sizeof expected);
    scan_fail(&r->scan, there ? signs->values[bit].p : open, there ? WIRE_CHOICE : WIRE_REQUIRED,
              expected);
    scan_within_key(r->scan.fault, key_of_bit(m, bit));
    return NULL;
}

COLD static const char *report_none(struct reader *r, const char *open,
                                    const struct wire_message *m)
{
    char expected[sizeof r->scan.fault->expected];
    list_variants(m, false, expected, sizeof expected);
    return scan_fail(&r->scan, open, WIRE_VARIANT, expected);
}

static const char *read_by(struct reader *r, const char *p, const struct wire_message *m,
                           const struct wire_variant *v, char *out)
{
    unsigned depth = r->scan.depth;
    const char *end = wire_read_object(r, p, v->message, out);
    r->scan.depth = depth;
    if (end && out)
        *(int32_t *)(out + sizeof(uint64_t)) = v->kind;
    else if (out)
        memset(out, 0, m->size);
    return end;
}

/* May another alternative still take it after this fault? */
static bool is_misfit(const struct wire_fault *fault)
{
    return fault->reason >= WIRE_TYPE && fault->reason != WIRE_MEMORY;
}

static bool fits(const struct wire_variant *v, const struct signs *signs)
{
    return !(v->present & ~signs->has) && !(v->absent & signs->has) && has_fixed_value(v, signs);
}

static const char *try_all(struct reader *r, const char *p, const struct wire_message *m,
                           const struct signs *signs, char *out)
{
    struct wire_fault first = {.reason = WIRE_OK};
    for (unsigned i = 0; i < m->n_variants; i++) {
        if (!fits(&m->variants[i], signs))
            continue;
        const char *end = read_by(r, p, m, &m->variants[i], out);
        if (end || !is_misfit(r->scan.fault)) {
            if (end)
                r->scan.fault->reason = WIRE_OK;
            return end;
        }
        if (first.reason == WIRE_OK)
            first = *r->scan.fault;
    }
    if (first.reason == WIRE_OK)
        return report_none(r, p, m);
    *r->scan.fault = first;
    return NULL;
}

const char *union_read(struct reader *r, const char *p, const struct wire_message *m, char *out)
{
    struct signs signs;
    unsigned depth = r->scan.depth;
    if (*p != '{')
        return scan_fail(&r->scan, p, WIRE_TYPE, "object");
    if (!scan_enter(&r->scan, p) || !read_signs(r, p, m, &signs))
        return NULL;
    r->scan.depth = depth;
    if (signs.settled)
        return read_by(r, p, m, signs.by_tag, out);
    if (signs.is_tagged && !signs.by_tag)
        return report_tag(r, p, m, &signs);
    return try_all(r, p, m, &signs, out);
}
