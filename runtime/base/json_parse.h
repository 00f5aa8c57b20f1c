/* base/json_parse.h - what json.re, json.y and json_tree.c share; for nobody else.
 *
 *   json_tree_parse -> json_parse_run (json.y) -> json_next_token (json_tree.c) -> json_lex
 * (json.re)
 *
 * The lexer knows bytes, the grammar knows tokens, json_tree.c makes nodes and messages.
 */
#ifndef TENON_BASE_JSON_PARSE_H
#define TENON_BASE_JSON_PARSE_H

#include "base/json_tree.h"

struct json_parse {
    struct arena *arena;
    const char *at, *end; /* not yet read; *end is NUL */
    const char *marker;   /* re2c's */
    const char *token;    /* start of the newest token */
    bool escaped;         /* the newest string token holds an escape */
    uint32_t depth;
    const char *counted; /* line and column are those of this byte */
    uint32_t line, column;
    struct json *root;
    int err; /* the first failure; sticky */
    struct json_error error;
};

/* Token code of runtime/base/json.h, 0 at the end, or -1 after json_fail. */
int json_lex(struct json_parse *parse);
/* As json_lex; *ret is the node of a value or of a key, NULL for punctuation. */
int json_next_token(struct json_parse *parse, struct json **ret);
void json_parse_run(struct json_parse *parse);

void json_append(struct json *container, struct json *child);
void json_set_key(struct json *value, const struct json *key);
/* Keeps the first failure, at the byte `at`. */
void json_fail(struct json_parse *parse, int err, const char *at, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Fails with what was expected instead of the newest token. `accepts` tells of each token code
 * below n whether it would have done. */
void json_fail_syntax(struct json_parse *parse, int found, const bool *accepts, int n);

#endif
