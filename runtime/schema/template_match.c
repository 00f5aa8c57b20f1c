/* schema/template_match.c - which values of a template's variables give this URI?
 *
 * First, from the last part to the first, a bit per byte position: can the rest of the template
 * match from here? That is linear in the text for each part. Then one walk forward takes the
 * longest run for each expression from which the rest can still match, and cuts it into values.
 * What the cutting finds wrong (an unknown query member, a prefix that is too long) ends the match;
 * shorter runs are not tried then.
 */
#include "schema/template.h"

#include "base/err.h"
#include "schema/percent.h"
#include "schema/template_parts.h"

#include <string.h>

struct match {
    const struct template *t;
    struct str uri;
    enum template_mode mode;
    struct arena *arena;
    unsigned char *can; /* (n_parts + 1) rows of row_bytes: can[part][position] */
    size_t row_bytes;
    struct template_value *values;
};

static bool get_bit(const struct match *m, uint32_t part, uint32_t at)
{
    return m->can[part * m->row_bytes + at / 8] >> (at % 8) & 1;
}

static void set_bit(struct match *m, uint32_t part, uint32_t at)
{
    m->can[part * m->row_bytes + at / 8] |= (unsigned char)(1u << (at % 8));
}

static bool is_crossing(const struct template_part *part)
{
    return part->op == '+' || part->op == '#';
}

/* May this byte stand in a run of the expression? */
static bool is_of(const struct template *t, const struct template_part *part, char c)
{
    if (is_crossing(part))
        return true;
    if (c == '#' || (c == '/' && part->op != '/' && part->op != '?' && part->op != '&'))
        return false;
    if (c == '?')
        return part->op == '?' || part->op == '&';
    if (c == '/' && part->op == '/')
        return part->n > 1 || t->variables[part->first].explode;
    return true;
}

static bool has_lead(const struct template_part *part)
{
    return part->op != ' ' && part->op != '+';
}

static bool has_literal(const struct match *m, const struct template_part *part, uint32_t at)
{
    struct str l = part->literal;
    return m->uri.n - at >= l.n && memcmp(m->uri.p + at, l.p, l.n) == 0;
}

static void fill_literal(struct match *m, uint32_t i)
{
    const struct template_part *part = &m->t->parts[i];
    for (uint32_t at = 0; at <= m->uri.n; at++)
        if (has_literal(m, part, at) && get_bit(m, i + 1, at + part->literal.n))
            set_bit(m, i, at);
}

static void fill_expression(struct match *m, uint32_t i)
{
    const struct template_part *part = &m->t->parts[i];
    bool rest_later = false; /* some run from at + 1 leads to a place where the rest matches */
    for (uint32_t at = m->uri.n + 1; at-- > 0;) {
        char c = at < m->uri.n ? m->uri.p[at] : '\0';
        bool inside = at < m->uri.n;
        bool rest_here = get_bit(m, i + 1, at);
        if (has_lead(part)) {
            if (rest_here || (inside && c == part->op && rest_later))
                set_bit(m, i, at);
        } else if (inside && is_of(m->t, part, c) && rest_later) {
            set_bit(m, i, at);
        }
        rest_later = rest_here || (inside && is_of(m->t, part, c) && rest_later);
    }
}

/* The end of the longest run that begins at `at` and lets the rest match. */
static uint32_t longest_run(const struct match *m, uint32_t i, uint32_t at)
{
    const struct template_part *part = &m->t->parts[i];
    uint32_t best = at;
    if (has_lead(part) && (at == m->uri.n || m->uri.p[at] != part->op))
        return at;
    for (uint32_t end = at; end < m->uri.n; end++) {
        bool is_the_lead = end == at && has_lead(part);
        if (!is_the_lead && !is_of(m->t, part, m->uri.p[end]))
            break;
        if (get_bit(m, i + 1, end + 1))
            best = end + 1;
    }
    return best;
}

/* ---- Cutting a run into values -------------------------------------------------------------- */

static uint32_t count_characters(struct str s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s.n; i++)
        n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
    return n;
}

static bool has_escaped_separator(struct str s)
{
    for (uint32_t i = 0; i + 2 < s.n; i++)
        if (s.p[i] == '%' && (str_eq_nocase((struct str){s.p + i, 3}, STR("%2F")) ||
                              str_eq_nocase((struct str){s.p + i, 3}, STR("%5C"))))
            return true;
    return false;
}

static int decode_value(const struct match *m, const struct template_part *part,
                        const struct template_variable *variable, struct str raw, struct str *ret)
{
    if (m->mode == TEMPLATE_SAFE && !is_crossing(part) && has_escaped_separator(raw))
        return ERR_ABSENT;
    int err = percent_decode_lenient(raw, m->arena, ret);
    if (err == 0 && variable->prefix && count_characters(*ret) > variable->prefix)
        return ERR_ABSENT;
    return err;
}

/* The items with room behind the last; they double when their number is a power of two. */
static struct str *room_for_one(struct match *m, const struct template_value *value)
{
    uint32_t n = value->n_items;
    if (n & (n - 1))
        return (struct str *)value->items;
    struct str *items = arena_array(m->arena, n ? 2 * n : 1, sizeof *items);
    if (items && n)
        memcpy(items, value->items, n * sizeof *items);
    return items;
}

/* One more item for a variable: the first, or the next of an exploded list. */
static int add_item(struct match *m, const struct template_part *part, uint32_t v, struct str raw)
{
    const struct template_variable *variable = &m->t->variables[v];
    struct template_value *value = &m->values[v];
    if (value->n_items && !variable->explode)
        return ERR_ABSENT;
    struct str *items = room_for_one(m, value);
    if (!items)
        return ERR_NO_MEMORY;
    int err = decode_value(m, part, variable, raw, &items[value->n_items]);
    if (err < 0)
        return err;
    value->items = items;
    value->n_items++;
    value->shape = variable->explode ? TEMPLATE_LIST : TEMPLATE_STRING;
    return 0;
}

static int cut_named(struct match *m, const struct template_part *part, struct str run)
{
    char separator = part->op == ';' ? ';' : '&';
    while (run.p) {
        struct str value = str_cut(&run, separator);
        struct str name = str_cut(&value, '=');
        uint32_t v = part->first;
        while (v < part->first + part->n && !str_eq(m->t->variables[v].name, name))
            v++;
        if (v == part->first + part->n)
            return ERR_ABSENT;
        int err = add_item(m, part, v, value.p ? value : STR(""));
        if (err < 0)
            return err;
    }
    return 0;
}

static int cut_unnamed(struct match *m, const struct template_part *part, struct str run)
{
    char separator = part->op == '/' || part->op == '.' ? part->op : ',';
    uint32_t last = part->first + part->n - 1, v = part->first;
    bool whole = part->n == 1 && !m->t->variables[last].explode;
    while (run.p) {
        struct str raw = run;
        if (whole)
            run = STR_NONE;
        else
            raw = str_cut(&run, separator);
        int err = add_item(m, part, v, raw);
        if (err < 0)
            return err;
        if (v < last && !m->t->variables[v].explode)
            v++;
    }
    return 0;
}

static int cut_run(struct match *m, const struct template_part *part, struct str run)
{
    if (run.n == 0)
        return 0; /* absent as a whole */
    if (has_lead(part))
        run.p++, run.n--;
    bool named = part->op == '?' || part->op == '&' || part->op == ';';
    return named ? cut_named(m, part, run) : cut_unnamed(m, part, run);
}

static int capture(struct match *m)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < m->t->n_parts; i++) {
        const struct template_part *part = &m->t->parts[i];
        if (part->op == 'L') {
            at += part->literal.n;
            continue;
        }
        uint32_t end = longest_run(m, i, at);
        int err = cut_run(m, part, (struct str){m->uri.p + at, end - at});
        if (err < 0)
            return err;
        at = end;
    }
    return 0;
}

int template_match(const struct template *t, struct str uri, enum template_mode mode,
                   struct arena *arena, const struct template_value **ret)
{
    struct match m = {.t = t, .uri = uri, .mode = mode, .arena = arena};
    if (uri.n > URI_BYTES_MAX)
        return ERR_LIMIT;
    m.row_bytes = uri.n / 8 + 1;
    m.can = arena_zalloc(arena, (t->n_parts + 1) * m.row_bytes);
    m.values = arena_zalloc(arena, (t->n_variables + 1) * sizeof *m.values);
    if (!m.can || !m.values)
        return ERR_NO_MEMORY;
    for (uint32_t v = 0; v < t->n_variables; v++)
        m.values[v].name = t->variables[v].name;
    set_bit(&m, t->n_parts, uri.n);
    for (uint32_t i = t->n_parts; i-- > 0;) {
        if (t->parts[i].op == 'L')
            fill_literal(&m, i);
        else
            fill_expression(&m, i);
    }
    if (!get_bit(&m, 0, 0))
        return ERR_ABSENT;
    int err = capture(&m);
    if (err == 0)
        *ret = m.values;
    return err;
}
