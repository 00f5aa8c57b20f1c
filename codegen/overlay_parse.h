/* codegen/overlay_parse.h - what overlay.re, overlay.y and overlay_tree.c share; for nobody else.
 */
#ifndef TENON_CODEGEN_OVERLAY_PARSE_H
#define TENON_CODEGEN_OVERLAY_PARSE_H

#include "codegen/overlay_tree.h"

struct overlay_token {
    struct str text;
    uint32_t line;
};

struct overlay_parse {
    struct overlay *overlay;
    const char *at, *marker; /* the text ends with a NUL */
    const char *end;
    uint32_t line;
    bool failed;
    struct statement **last_statement;
    struct method_line **last_method;
    struct word **last_revision;
};

/* Token code, 0 at the end; -1 after a fault. */
int overlay_lex(struct overlay_parse *parse, struct overlay_token *ret);
void overlay_parse_run(struct overlay_parse *parse);

struct word *overlay_word(struct overlay_parse *parse, struct overlay_token token);
struct word *overlay_append(struct word *list, struct word *word);
struct statement *overlay_add(struct overlay_parse *parse, enum statement_kind kind,
                              struct overlay_token keyword, struct word *words, struct span span);
struct method_line *overlay_add_method(struct overlay_parse *parse, struct word *name);
struct condition *overlay_condition(struct overlay_parse *parse, struct overlay_token member);
struct choice *overlay_choice(struct overlay_parse *parse, struct word *name,
                              struct condition *conditions);

#endif
