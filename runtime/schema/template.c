/* schema/template.c - compiling a URI template and expanding it; matching is template_match.c. */
#include "schema/template.h"

#include "base/err.h"
#include "schema/percent.h"
#include "schema/template_parts.h"

#include <stdlib.h>
#include <string.h>

/* ---- Compiling ------------------------------------------------------------------------------ */

void template_fail(struct template_build *b, int err, uint32_t offset, const char *what)
{
    if (b->err)
        return;
    b->err = err;
    b->fault = (struct template_fault){offset, what};
}

static struct template_part *add_part(struct template_build *b, uint32_t offset)
{
    static struct template_part spare;
    if (b->t->n_parts < TEMPLATE_PARTS_MAX)
        return &b->t->parts[b->t->n_parts++];
    template_fail(b, ERR_LIMIT, offset, "too many parts");
    return &spare;
}

/* Kept as it stands in a URI, so that expansion and match see the same. */
void template_add_literal(struct template_build *b, struct template_token text)
{
    struct buf encoded = {0};
    percent_encode(&encoded, text.text, PERCENT_RESERVED);
    struct str literal = arena_buf(b->arena, &encoded);
    buf_done(&encoded);
    if (!literal.p)
        template_fail(b, ERR_NO_MEMORY, text.offset, "out of memory");
    *add_part(b, text.offset) = (struct template_part){.op = 'L', .literal = literal};
}

void template_open_expression(struct template_build *b, struct template_token op)
{
    *add_part(b, op.offset) =
        (struct template_part){.op = op.text.p[0], .first = b->t->n_variables};
}

uint32_t template_prefix(struct template_build *b, struct template_token digits)
{
    uint64_t n = 0;
    struct str number = {digits.text.p + 1, digits.text.n - 1};
    if (str_to_u64(number, &n) < 0)
        template_fail(b, ERR_SYNTAX, digits.offset, "a prefix is 1 to 9999");
    return (uint32_t)n;
}

void template_add_variable(struct template_build *b, struct template_token name, uint32_t prefix,
                           bool explode)
{
    struct template *t = b->t;
    for (uint32_t i = 0; i < t->n_variables; i++)
        if (str_eq(t->variables[i].name, name.text))
            template_fail(b, ERR_SYNTAX, name.offset, "this variable occurs twice");
    if (t->n_variables == TEMPLATE_PARTS_MAX)
        template_fail(b, ERR_LIMIT, name.offset, "too many variables");
    if (b->err)
        return;
    t->variables[t->n_variables++] =
        (struct template_variable){.name = name.text, .prefix = prefix, .explode = explode};
    t->parts[t->n_parts - 1].n++;
}

static void run_grammar(struct template_build *b, struct str text, void *parser)
{
    struct template_lexer lexer = {text.p, text.p, text.p + text.n, false};
    struct template_token token;
    int kind;
    do {
        kind = template_lex(&lexer, &token);
        if (kind < 0)
            template_fail(b, ERR_SYNTAX, token.offset,
                          lexer.inside ? "not allowed in an expression" : "not allowed in a URI");
        else
            template_grammar(parser, kind, token, b);
    } while (kind > 0 && !b->err);
}

int template_parse(struct str text, struct arena *arena, const struct template **ret,
                   struct template_fault *fault)
{
    struct template_build b = {.arena = arena};
    if (text.n > TEMPLATE_BYTES_MAX)
        template_fail(&b, ERR_LIMIT, TEMPLATE_BYTES_MAX, "the template is too long");
    text = arena_str(arena, text);
    b.t = arena_zalloc(arena, sizeof *b.t);
    void *parser = text.p && b.t ? template_grammarAlloc(malloc) : NULL;
    if (!parser)
        return ERR_NO_MEMORY;
    if (!b.err)
        run_grammar(&b, text, parser);
    template_grammarFree(parser, free);
    if (b.err && fault)
        *fault = b.fault;
    if (!b.err)
        *ret = b.t;
    return b.err;
}

uint32_t template_n_names(const struct template *t)
{
    return t->n_variables;
}

struct str template_name(const struct template *t, uint32_t i)
{
    return t->variables[i].name;
}

/* ---- Expanding (RFC 6570, section 3.2 and appendix A) --------------------------------------- */

struct operator_rule {
    char op;
    char lead;      /* 0: none */
    char separator; /* between values */
    bool named;     /* name=value */
    bool equals;    /* "name=" for an empty value, else "name" */
    enum percent_allow allow;
};

static const struct operator_rule operator_rules[] = {
    {' ', 0, ',', false, false, PERCENT_UNRESERVED},
    {'+', 0, ',', false, false, PERCENT_RESERVED},
    {'#', '#', ',', false, false, PERCENT_RESERVED},
    {'.', '.', '.', false, false, PERCENT_UNRESERVED},
    {'/', '/', '/', false, false, PERCENT_UNRESERVED},
    {';', ';', ';', true, false, PERCENT_UNRESERVED},
    {'?', '?', '&', true, true, PERCENT_UNRESERVED},
    {'&', '&', '&', true, true, PERCENT_UNRESERVED},
};

static const struct operator_rule *rule_of(char op)
{
    const struct operator_rule *rule = operator_rules;
    while (rule->op != op)
        rule++;
    return rule;
}

static const struct template_value *value_of(const struct template_value *values, uint32_t n,
                                             struct str name)
{
    for (uint32_t i = 0; i < n; i++)
        if (str_eq(values[i].name, name))
            return values[i].n_items ? &values[i] : NULL;
    return NULL;
}

/* The first `count` characters, not bytes. */
static struct str cut_characters(struct str s, uint32_t count)
{
    uint32_t n = 0;
    while (n < s.n && (count > 0 || ((unsigned char)s.p[n] & 0xc0) == 0x80)) {
        count -= ((unsigned char)s.p[n] & 0xc0) != 0x80;
        n++;
    }
    return (struct str){s.p, n};
}

static void add_named(struct buf *out, const struct operator_rule *rule, struct str name,
                      struct str value)
{
    percent_encode(out, name, PERCENT_RESERVED);
    if (value.n || rule->equals)
        buf_add_char(out, '=');
    percent_encode(out, value, rule->allow);
}

static void expand_exploded(struct buf *out, const struct operator_rule *rule, struct str name,
                            const struct template_value *v)
{
    uint32_t step = v->shape == TEMPLATE_MAP ? 2 : 1;
    for (uint32_t i = 0; i + step <= v->n_items; i += step) {
        if (i)
            buf_add_char(out, rule->separator);
        if (v->shape == TEMPLATE_MAP) {
            percent_encode(out, v->items[i], rule->allow);
            buf_add_char(out, '=');
            percent_encode(out, v->items[i + 1], rule->allow);
        } else if (rule->named) {
            add_named(out, rule, name, v->items[i]);
        } else {
            percent_encode(out, v->items[i], rule->allow);
        }
    }
}

static void expand_joined(struct buf *out, const struct operator_rule *rule, struct str name,
                          const struct template_value *v)
{
    if (rule->named) {
        percent_encode(out, name, PERCENT_RESERVED);
        buf_add_char(out, '=');
    }
    for (uint32_t i = 0; i < v->n_items; i++) {
        if (i)
            buf_add_char(out, ',');
        percent_encode(out, v->items[i], rule->allow);
    }
}

static void expand_variable(struct buf *out, const struct operator_rule *rule,
                            const struct template_variable *variable,
                            const struct template_value *v)
{
    if (v->shape != TEMPLATE_STRING && variable->explode) {
        expand_exploded(out, rule, variable->name, v);
    } else if (v->shape != TEMPLATE_STRING) {
        expand_joined(out, rule, variable->name, v);
    } else {
        struct str s = v->items[0];
        if (variable->prefix)
            s = cut_characters(s, variable->prefix);
        if (rule->named)
            add_named(out, rule, variable->name, s);
        else
            percent_encode(out, s, rule->allow);
    }
}

void template_expand(const struct template *t, const struct template_value *values, uint32_t n,
                     struct buf *out)
{
    for (uint32_t i = 0; i < t->n_parts; i++) {
        const struct template_part *part = &t->parts[i];
        if (part->op == 'L') {
            buf_add_str(out, part->literal);
            continue;
        }
        const struct operator_rule *rule = rule_of(part->op);
        char before = rule->lead;
        for (uint32_t k = part->first; k < part->first + part->n; k++) {
            const struct template_value *v = value_of(values, n, t->variables[k].name);
            if (!v)
                continue;
            if (before)
                buf_add_char(out, before);
            expand_variable(out, rule, &t->variables[k], v);
            before = rule->separator;
        }
    }
}
