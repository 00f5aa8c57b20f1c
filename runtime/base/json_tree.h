/* base/json_tree.h - the cold JSON reader: text to a tree that remembers its places.
 *
 * For files that people write or publish: schemas, settings, manifests. A re2c lexer (json.re)
 * feeds a lemon grammar (json.y); every value and every key knows its line and column, so that
 * whoever reads the tree can say where something is wrong. Also the second, independent judge of
 * the hot reader of wire/json_read.h. Strict RFC 8259: no comments, no byte order mark, UTF-8 only,
 * no lone surrogates, JSON_DEPTH_MAX levels.
 *
 * The tree lies in the arena and keeps nothing of the caller's text. Any thread; no global state.
 */
#ifndef TENON_BASE_JSON_TREE_H
#define TENON_BASE_JSON_TREE_H

#include "base/arena.h"

enum json_kind { JSON_NULL, JSON_BOOL, JSON_NUM, JSON_STR, JSON_ARRAY, JSON_OBJECT };

struct json {
    enum json_kind kind;
    uint32_t line, column;         /* of the value's first byte; from 1, columns in characters */
    uint32_t key_line, key_column; /* of the key, if it is a member of an object */
    struct str key;                /* decoded; STR_NONE if it is not a member */
    struct json *next;             /* sibling in text order, or NULL */
    uint32_t n;                    /* ARRAY: values; OBJECT: members, each duplicate counted */
    bool is_int;                   /* NUM: integral (1.0 and 1e2 are) and held by v.num.i */
    union {
        bool b;
        struct str s; /* STR: decoded, NUL-terminated, may hold \0 */
        struct {
            struct str raw; /* as it stood in the text */
            int64_t i;      /* 0 unless is_int */
            double d;       /* nearest; infinite past the range */
        } num;
        struct {
            struct json *first, *last;
        } children;
    } v;
};

struct json_error {
    uint32_t line, column; /* 0 when the fault has no place (memory, unreadable file) */
    char text[160];        /* "expected ',' or ']', found '}'" */
};

/* One JSON value with optional blanks around. 0; ERR_PARSE; ERR_LIMIT (nested too deep);
 * ERR_NO_MEMORY. On failure *error is filled (error may be NULL). */
int json_tree_parse(struct str text, struct arena *arena, struct json **ret,
                    struct json_error *error);
/* Appends the whole file, up to the limit of `out`. ERR_IO; ERR_NO_MEMORY: too large as well. */
int json_file_read(const char *path, struct buf *out, struct json_error *error);
/* The same from a file. Also ERR_IO. */
int json_tree_load(const char *path, struct arena *arena, struct json **ret,
                   struct json_error *error);

/* The member of that name, of duplicates the last; NULL if none, or if `object` is NULL or no
 * object. */
const struct json *json_get(const struct json *object, struct str key);
/* The first member whose key stands earlier in the object already, or NULL. */
const struct json *json_duplicate(const struct json *object);
/* The decoded string; STR_NONE if `value` is NULL or no string. */
struct str json_str(const struct json *value);
/* Where an RFC 6901 pointer leads, or as far on its way as there is something. */
const struct json *json_at(const struct json *value, struct str pointer);
const char *json_kind_name(const struct json *value); /* "object", "number", "boolean", ... */

/* for (each value of an array, or member of an object, in text order); nothing for NULL and for
 * scalars. */
#define json_each(it, container) \
    for (const struct json *it = json_first(container); it; it = it->next)
const struct json *json_first(const struct json *container);

#endif
