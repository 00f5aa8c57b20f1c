/* schema/template_parts.h - a compiled template, shared by its lexer, grammar and machine only. */
#ifndef TENON_SCHEMA_TEMPLATE_PARTS_H
#define TENON_SCHEMA_TEMPLATE_PARTS_H

#include "base/limits.h"
#include "schema/template.h"

struct template_variable {
    struct str name;
    uint32_t prefix; /* characters, 0: all */
    bool explode;
};

struct template_part {
    char op; /* 'L': literal; else one of "+#./;?&" or ' ' for the simple form */
    struct str literal;
    uint32_t first, n; /* of its variables */
};

struct template
{
    uint32_t n_parts, n_variables;
    struct template_part parts[TEMPLATE_PARTS_MAX];
    struct template_variable variables[TEMPLATE_PARTS_MAX];
};

/* What the grammar fills. The first fault stays. */
struct template_build {
    struct arena *arena;
    struct template *t;
    int err;
    struct template_fault fault;
};

struct template_token {
    struct str text;
    uint32_t offset;
};

/* Token numbers are those of template_grammar.h; 0 at the end, -1 for a byte that fits nowhere. */
struct template_lexer {
    const char *start, *at, *end;
    bool inside; /* between { and } */
};
int template_lex(struct template_lexer *lexer, struct template_token *ret);

void template_add_literal(struct template_build *b, struct template_token text);
void template_open_expression(struct template_build *b, struct template_token op);
void template_add_variable(struct template_build *b, struct template_token name, uint32_t prefix,
                           bool explode);
void template_fail(struct template_build *b, int err, uint32_t offset, const char *what);
uint32_t template_prefix(struct template_build *b, struct template_token digits);

void *template_grammarAlloc(void *(*allocate)(size_t));
void template_grammarFree(void *parser, void (*release)(void *));
void template_grammar(void *parser, int token, struct template_token value,
                      struct template_build *build);

#endif
