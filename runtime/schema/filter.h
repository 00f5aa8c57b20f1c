/* schema/filter.h - the filter language of table search, compiled to a predicate over a row's tape.
 *
 *   population > 1000000 and region in ('Europe', 'Asia') and not name like 'New %'
 *   founded between date '1900-01-01' and date '1999-12-31' or address.city is null
 *
 * Comparisons = != <> < <= > >=; [not] in (...); [not] between ... and ...; [not] like '...';
 * is [not] null; and, or, not (the usual order), parentheses. Keywords in any case. An attribute is
 * a name, or a path with dots into nested objects; a name with odd characters, or one that is a
 * keyword, stands in double quotes ("" for one). Values: 'text' ('' for a quote), a number as in
 * JSON, true, false, date '2024-01-31', datetime '2024-01-31T10:00:00Z' (RFC 3339; `timestamp` is
 * the same). The attribute stands left, the value right.
 *
 * Null is as in SQL: a comparison with a null or missing value, or with one of another kind than
 * the literal's, is unknown, and `not` of unknown is unknown; a row matches only what is true. So
 * neither `x = 1` nor `not x = 1` finds a row without x; `x is null` does.
 *
 * Numbers compare exactly, an int64 with a double too. Text compares by its bytes, so case counts,
 * in `like` too, where % stands for any text, _ for one character, and \ takes the meaning from the
 * next % _ or \. An attribute of format date or date-time compares as an instant (a date is its
 * midnight, UTC; digits of a second past the ninth do not count), also with plain text, which must
 * then be a date; a value in the row that is none compares as unknown. An object, an array: only
 * `is null`. Booleans: only = != in.
 *
 * No backtracking: the time of a test grows with the filter's steps times the bytes of the row;
 * that may still be seconds for a pattern with a _ and a row of a megabyte, so filter_cost says
 * before, and filter_test_watched can be stopped. All compiled things live in the arena of the call
 * and are constant: any thread may test.
 */
#ifndef TENON_SCHEMA_FILTER_H
#define TENON_SCHEMA_FILTER_H

#include "base/arena.h"
#include "base/limits.h"
#include "wire/tape.h"

/* ---- Attributes ----------------------------------------------------------------------------- */

enum filter_type {
    FILTER_INTEGER,
    FILTER_NUMBER,
    FILTER_STRING,
    FILTER_BOOLEAN,
    FILTER_DATE,      /* a string of format date */
    FILTER_DATE_TIME, /* a string of format date-time */
    FILTER_ARRAY,
    FILTER_OBJECT,
    FILTER_ANY, /* no type, or several */
};

struct filter_column {
    struct str path; /* as a filter writes it: names with dots between, quoted where they must be */
    const struct str *names; /* the steps of the path */
    uint32_t n_names;
    enum filter_type type;
    bool open; /* paths below it are allowed and FILTER_ANY, since the schema does not say more */
};

struct filter_columns {
    const struct filter_column *v;
    uint32_t n;
};

const char *filter_type_name(enum filter_type type); /* "integer", ..., "date-time", "any" */

/* What a row's JSON Schema says of its attributes, nested objects too (before their members), in
 * the schema's order. Null beside another type is no type of its own. Only `properties`, `type` and
 * `format` are read; an attribute that says neither is FILTER_ANY. The schema must outlive the
 * result. 0; ERR_LIMIT (FILTER_COLUMNS_MAX; members past FILTER_PATH_MAX names are left out);
 * ERR_NO_MEMORY. */
int filter_columns_from_schema(const struct tape_node *row_schema, struct arena *arena,
                               struct filter_columns *ret);
/* By its path as a filter writes it; NULL if there is none. */
const struct filter_column *filter_find_column(const struct filter_columns *columns,
                                               struct str path);

/* ---- Compiling ------------------------------------------------------------------------------ */

struct filter;

struct filter_fault {
    uint32_t column;    /* 1-based, in characters; 0: not of a text */
    char found[64];     /* what stands there, cut with "..."; "" when nothing is meant */
    char expected[256]; /* what could stand there */
    char suggestion[NAME_BYTES_MAX * 2]; /* an attribute that is spelt nearly so; "" for none */
};

/* Compiles `text`, which is copied. 0; ERR_SYNTAX (also an unknown attribute or a value of the
 * wrong type) or ERR_LIMIT (FILTER_BYTES_MAX, _DEPTH_MAX, _NODES_MAX, _ITEMS_MAX, _LIKE_MAX) with
 * *fault filled; ERR_NO_MEMORY. `columns` must outlive the filter. */
int filter_compile(struct str text, const struct filter_columns *columns, struct arena *arena,
                   const struct filter **ret, struct filter_fault *fault);
/* The shorthand {"attribute": value, ...}: each must be equal, null asks for null or missing, an
 * array or object is equal as JSON. Keys are paths. Errors as above, with column 0. `object` must
 * outlive the filter. An empty object lets every row through. */
int filter_from_object(const struct tape_node *object, const struct filter_columns *columns,
                       struct arena *arena, const struct filter **ret, struct filter_fault *fault);
/* One sentence: "column 7: found 'popultion', expected an attribute: ...; did you mean ...?" */
void filter_fault_write(const struct filter_fault *fault, struct buf *out);

/* The language in a few lines, for those who have to write a filter: descriptions of tools. */
extern const char filter_guide[];

/* Does the row (an object) match? */
bool filter_test(const struct filter *filter, const struct tape_node *row);

/* Asked every millisecond or so of a test that takes long; non-zero ends it. */
struct filter_watch {
    int (*check)(void *ctx);
    void *ctx;
};
/* 1, 0, or what the watch ended it with (negative). */
int filter_test_watched(const struct filter *filter, const struct tape_node *row,
                        const struct filter_watch *watch);
/* How many bytes the test will compare at most, beside what every row takes: the texts that are
 * searched for patterns, as often as that. */
uint64_t filter_cost(const struct filter *filter, const struct tape_node *row);

/* One text for all spellings of the same filter: what a cursor is bound to. Of a filter that came
 * from text it compiles to the same filter again. */
void filter_canonical(const struct filter *filter, struct buf *out);

/* ---- For the planner ------------------------------------------------------------------------ */

/* `not` and `between` are gone: negation stands in the leaves (which is exact in three-valued
 * logic), so what is left is and, or, and leaves that are true or not. */
enum filter_op {
    FILTER_AND,
    FILTER_OR,
    FILTER_EQ,
    FILTER_NE,
    FILTER_LT,
    FILTER_LE,
    FILTER_GT,
    FILTER_GE,
    FILTER_IN,
    FILTER_NOT_IN,
    FILTER_LIKE,
    FILTER_NOT_LIKE,
    FILTER_IS_NULL,
    FILTER_NOT_NULL,
};

struct filter_instant {
    int64_t s; /* since 1970-01-01T00:00:00Z, leap seconds not counted */
    uint32_t ns;
};

struct filter_value {
    struct tape_node node; /* as written */
    bool is_instant;       /* compared as one */
    struct filter_instant instant;
};

struct filter_like;

struct filter_node {
    enum filter_op op;
    /* AND, OR: children, at least two, none of the same op */
    struct filter_node *first, *last;
    struct filter_node *next; /* sibling */
    uint32_t n_leaves;        /* of the subtree; 1 for a leaf */
    /* a leaf */
    const struct filter_column *column;
    struct filter_value *values; /* comparison, LIKE: one; IN: sorted, each once; else none */
    uint32_t n_values, values_cap;
    const struct filter_like *like;
    const struct tape_node *container; /* EQ, NE of a filter_from_object: equal as JSON */
};

/* NULL: every row matches. */
const struct filter_node *filter_root(const struct filter *filter);

/* What the value of an attribute must be in every row that matches, from the top-level conjunction.
 * It may be wider than the filter, never narrower: test the rows that it gives. Values order as
 * numbers do, or as strings by their bytes; instants are given as such strings (those of a
 * date-time, whose offset may be any, a day wider). Nodes point into the filter's arena. */
struct filter_range {
    bool empty;                     /* nothing can match */
    bool is_null, not_null;         /* it is null or missing; it is neither */
    const struct tape_node *values; /* it is one of these: ascending, each once */
    uint32_t n_values;              /* 1: equality; 0: no list */
    bool has_lower, lower_strict;   /* lower_strict: it is greater, not equal */
    bool has_upper, upper_strict;
    struct tape_node lower, upper;
    bool exact; /* all that the top-level conjunction says of this attribute is said here */
};

/* False: it says nothing of this attribute; *ret is untouched. */
bool filter_bounds(const struct filter *filter, struct str attribute, struct filter_range *ret);
/* Three-way; both numbers, both strings or both booleans. */
int filter_compare_nodes(const struct tape_node *a, const struct tape_node *b);

#endif
