/* schema/filter_parts.h - what the parts of the filter language share; for nobody else.
 *
 *   filter.c          entry points, the grammar's loop, syntax faults, the compiled steps
 *   filter_lex.re     text to tokens
 *   filter_grammar.y  tokens to calls of filter_build.c
 *   filter_build.c    names, literals and leaves: types checked
 *   filter_tree.c     order of values; nodes joined, negation pushed into the leaves
 *   filter_columns.c  attributes from a schema, and finding them by path
 *   filter_like.c     patterns
 *   filter_bounds.c   what a filter says of one attribute
 *   filter_write.c    canonical text and faults
 */
#ifndef TENON_SCHEMA_FILTER_PARTS_H
#define TENON_SCHEMA_FILTER_PARTS_H

#include "base/limits.h"
#include "schema/filter.h"

/* What a leaf compares: one kind of literal, one kind of value in the row. */
enum filter_class { CLASS_NUMBER, CLASS_STRING, CLASS_BOOLEAN, CLASS_INSTANT, CLASS_JSON };

struct filter_step {
    const struct filter_node *leaf;
    uint8_t class;
    uint8_t order_mask;         /* comparisons: bit 0 less, bit 1 equal, bit 2 greater */
    uint16_t on_true, on_false; /* index of a step, STEP_ACCEPT or STEP_REJECT */
};
#define STEP_ACCEPT UINT16_MAX
#define STEP_REJECT (UINT16_MAX - 1)

struct filter_bound {
    const struct filter_column *column;
    struct filter_range range;
};

struct filter {
    const struct filter_node *root;
    const struct filter_step *steps;
    uint32_t n_steps;
    bool has_like; /* else filter_cost is 0 */
    const struct filter_bound *bounds;
    uint32_t n_bounds;
};

struct filter_token {
    struct str text;
    uint32_t offset;
    int kind; /* FILTER_TOKEN_..., 0: the end, -1: bad */
};

struct filter_path {
    struct filter_token token; /* its text is the whole path */
    struct str names[FILTER_PATH_MAX];
    uint32_t n_names;
};

struct filter_literal {
    struct filter_token token;
    struct filter_value value;
    struct filter_literal *next;
};

struct filter_list {
    struct filter_literal *first, *last;
    uint32_t n;
};

/* What one compilation carries. The first failure stays; after it nothing is built any more. */
struct filter_build {
    struct arena *arena;
    const struct filter_columns *columns;
    const char *start, *at, *end; /* text; *end is NUL */
    bool after_dot;               /* a keyword is a name there */
    uint32_t depth, n_nodes;
    struct filter_node *root;
    bool refused; /* the grammar refused the last token */
    int err;
    struct filter_fault fault;
    const char *bad; /* of a token -1: what was expected */
    struct filter_token newest;
};

int filter_lex(struct filter_build *b, struct filter_token *ret); /* also the kind */
bool filter_is_keyword(struct str name);
bool filter_is_plain_name(struct str name); /* needs no quotes */

/* at NULL: the place of the newest token. */
void filter_fail(struct filter_build *b, int err, const struct filter_token *at,
                 const char *expected_fmt, ...) __attribute__((format(printf, 4, 5)));
/* expected: of each token code, whether it would have done. */
void filter_fail_syntax(struct filter_build *b, const struct filter_token *at,
                        const bool *expected);
int filter_parse(struct filter_build *b);
void filter_no_memory(struct filter_build *b);

/* For the grammar. Each returns NULL after a failure, and takes NULL. */
struct filter_path *filter_path_begin(struct filter_build *b, struct filter_token name);
struct filter_path *filter_path_add(struct filter_build *b, struct filter_path *path,
                                    struct filter_token name);
const struct filter_column *filter_resolve(struct filter_build *b, const struct filter_path *path);
struct filter_literal *filter_literal(struct filter_build *b, struct filter_token token);
struct filter_list *filter_list_add(struct filter_build *b, struct filter_list *list,
                                    struct filter_literal *item);
/* `op` is the operator's token. */
struct filter_node *filter_compare(struct filter_build *b, const struct filter_column *column,
                                   struct filter_token op, struct filter_literal *value);
struct filter_node *filter_in(struct filter_build *b, const struct filter_column *column,
                              struct filter_token op, struct filter_list *list);
struct filter_node *filter_between(struct filter_build *b, const struct filter_column *column,
                                   struct filter_token op, struct filter_literal *from,
                                   struct filter_literal *to);
struct filter_node *filter_match(struct filter_build *b, const struct filter_column *column,
                                 struct filter_token op, struct filter_token pattern);
struct filter_node *filter_null(struct filter_build *b, const struct filter_column *column);
struct filter_node *filter_equal_json(struct filter_build *b, const struct filter_column *column,
                                      const struct tape_node *value);
struct filter_node *filter_join(struct filter_build *b, enum filter_op op, struct filter_node *left,
                                struct filter_node *right);
struct filter_node *filter_negate(struct filter_build *b, struct filter_node *node, bool really);
struct filter_node *filter_node_new(struct filter_build *b); /* counted; NULL after a failure */
/* When the tree is whole: puts its lists in order. */
void filter_settle(struct filter_node *node);
void filter_enter(struct filter_build *b, struct filter_token token);
void filter_leave(struct filter_build *b);

enum filter_class filter_class_of(const struct filter_value *value);
/* The class that a leaf with values compares by. */
enum filter_class filter_leaf_class(const struct filter_node *leaf);
int filter_compare_values(enum filter_class class, const struct filter_value *a,
                          const struct filter_value *b);
int filter_compare_numbers(const struct tape_node *a, const struct tape_node *b);
/* The instant that a text is for an attribute of this type. */
bool filter_read_instant(enum filter_type type, struct str text, struct filter_instant *ret);

/* A finished column for `names`; NULL without memory. */
struct filter_column *filter_column_new(struct arena *arena, const struct str *names, uint32_t n,
                                        enum filter_type type);
void filter_write_path(const struct str *names, uint32_t n, struct buf *out);
void filter_suggest(const struct filter_columns *columns, struct str path,
                    struct filter_fault *ret);

/* 0, ERR_LIMIT or ERR_SYNTAX with *ret_why, ERR_NO_MEMORY. */
int filter_like_compile(struct str pattern, struct arena *arena, const struct filter_like **ret,
                        const char **ret_why);
/* 1, 0, or what the watch (may be NULL) ended it with. */
int filter_like_test(const struct filter_like *like, struct str text,
                     const struct filter_watch *watch);
/* How often a byte of the text may be compared. */
uint32_t filter_like_weight(const struct filter_like *like);
/* What every matching text begins with; *ret_whole: and it ends there (no wildcard at all);
 * *ret_rest: whatever follows (nothing but one % behind it). */
struct str filter_like_prefix(const struct filter_like *like, bool *ret_whole, bool *ret_rest);

int filter_bounds_make(struct filter *filter, struct arena *arena);

#endif
