/* schema/template.h - URI templates (RFC 6570): parse once, then expand and match.
 *
 * A template is compiled to a list of parts: literal text, or an expression with its operator and
 * variables. Expansion covers all four levels of the RFC. Matching is its reverse where a reverse
 * exists: `{x}` is one path segment and not empty, `{+x}` crosses segments, the operators with a
 * lead (`/ . ; ? & #`) may be absent as a whole, `{?a,b}` takes its members in any order. Leftmost
 * captures are as long as possible. The cost of a match is parts times bytes, whatever the text.
 */
#ifndef TENON_SCHEMA_TEMPLATE_H
#define TENON_SCHEMA_TEMPLATE_H

#include "base/arena.h"

struct template;

enum template_shape { TEMPLATE_STRING, TEMPLATE_LIST, TEMPLATE_MAP };

struct template_value {
    struct str name;
    enum template_shape shape;
    const struct str *items; /* STRING: one; LIST: its members; MAP: key, value, key, value ... */
    uint32_t n_items;        /* 0: undefined, as for the RFC an empty list is */
};

struct template_fault {
    uint32_t offset; /* bytes into the template */
    const char *what;
};

/* Compiles `text` into `arena`. 0; ERR_SYNTAX (also for a variable that occurs twice, which could
 * not be matched), ERR_LIMIT (TEMPLATE_BYTES_MAX, TEMPLATE_PARTS_MAX) with *fault filled; or
 * ERR_NO_MEMORY. */
int template_parse(struct str text, struct arena *arena, const struct template **ret,
                   struct template_fault *fault);
/* Its variables in order of appearance. */
uint32_t template_n_names(const struct template *t);
struct str template_name(const struct template *t, uint32_t i);

/* Appends the expansion; values that the template does not name are ignored. */
void template_expand(const struct template *t, const struct template_value *values, uint32_t n,
                     struct buf *out);

enum template_mode {
    TEMPLATE_SAFE,  /* an escaped separator (%2F, %5C) in `{x}` does not match */
    TEMPLATE_EXACT, /* it does: for names that are looked up, never walked as a path */
};

/* 0; ERR_ABSENT when `uri` does not match; ERR_LIMIT past URI_BYTES_MAX; ERR_NO_MEMORY. On 0 one
 * value per variable, in the order of template_name, percent-decoded (a broken escape stays);
 * absent ones have n_items 0. They live in the arena. */
int template_match(const struct template *t, struct str uri, enum template_mode mode,
                   struct arena *arena, const struct template_value **ret);

#endif
