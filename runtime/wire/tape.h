/* wire/tape.h - a JSON value opened once: the form in which rows and arguments travel.
 *
 * A tape is a flat array of nodes in document order. A container's node is followed by its
 * children; `next` jumps over a subtree. Object members are a key node (a string) followed by its
 * value. Duplicate keys are refused. Validator, handler and store read the same tape; nothing is
 * parsed twice. A tape and all it points to live in one arena (or, during a store scan's callback,
 * in the store: copy what should outlive it).
 */
#ifndef TENON_WIRE_TAPE_H
#define TENON_WIRE_TAPE_H

#include "wire/json_read.h"

enum tape_kind {
    TAPE_NULL,
    TAPE_FALSE,
    TAPE_TRUE,
    TAPE_INT, /* fits int64_t: also 1.0 and 1e2 */
    TAPE_NUM, /* a finite double */
    TAPE_STR,
    TAPE_ARRAY,
    TAPE_OBJECT,
};

struct tape_node {
    uint8_t kind;
    uint32_t n; /* STR: bytes; ARRAY: values; OBJECT: members */
    union {
        int64_t i;
        double d;
        const char *s; /* decoded UTF-8 */
        uint32_t size; /* ARRAY, OBJECT: nodes of the subtree, this one included */
    } v;
};

/* Opens JSON text (padded as json_read.h says). 0; ERR_PARSE; ERR_PARAMS with reason
 * WIRE_DUPLICATE, or WIRE_RANGE for a number that is no finite double. */
int tape_open(struct str text, struct arena *arena, const struct tape_node **ret,
              struct wire_fault *fault);
void tape_write(const struct tape_node *node, struct buf *out); /* as JSON */

/* Walking. `tape_next` is the sibling behind a node; the caller counts by `n`. */
const struct tape_node *tape_next(const struct tape_node *node);
const struct tape_node *tape_get(const struct tape_node *object, struct str key); /* or NULL */
struct str tape_str(const struct tape_node *node);                                /* STR only */
double tape_num(const struct tape_node *node);                                    /* INT or NUM */
bool tape_equal(const struct tape_node *a, const struct tape_node *b); /* JSON equality: 1 = 1.0 */
uint32_t tape_size(const struct tape_node *node);                      /* nodes of the subtree */
const char *tape_kind_name(const struct tape_node *node); /* "object", "integer", ... */

/* for (each member) of an object: `key` and `value` are set in turn. `object` is read twice. */
#define tape_each(object, key, value)                                     \
    for (const struct tape_node *key = (object) + 1, *value = key + 1,    \
                                *key##_end = (object) + (object)->v.size; \
         key < key##_end; key = tape_next(value), value = key + 1)

/* Building. Add in document order; in an object a key before each value. Sticky failure: the first
 * error (memory, duplicate key, depth, wrong nesting) is reported by tape_finish. */
struct tape_builder {
    struct arena *arena;
    struct tape_node *nodes;
    uint32_t n, cap, depth;
    uint32_t open[JSON_DEPTH_MAX + 1];
    int err;
};

void tape_begin(struct tape_builder *b, struct arena *arena);
void tape_add_null(struct tape_builder *b);
void tape_add_bool(struct tape_builder *b, bool v);
void tape_add_int(struct tape_builder *b, int64_t v);
void tape_add_num(struct tape_builder *b, double v);
void tape_add_str(struct tape_builder *b, struct str s); /* also a key; borrowed, not copied */
void tape_add_node(struct tape_builder *b, const struct tape_node *subtree); /* copies the nodes */
void tape_open_array(struct tape_builder *b);
void tape_open_object(struct tape_builder *b);
void tape_close(struct tape_builder *b);
int tape_finish(struct tape_builder *b, const struct tape_node **ret);

#endif
