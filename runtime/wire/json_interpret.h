/* wire/json_interpret.h - between the files of the table interpreter. Inside wire/ only. */
#ifndef TENON_WIRE_JSON_INTERPRET_H
#define TENON_WIRE_JSON_INTERPRET_H

#include "wire/json_scan.h"

struct reader {
    struct scan scan;
    struct arena *arena; /* for what is stored, and for the names of maps; never NULL */
};

/* Reads a value of one kind to `out` (NULL: check only). Returns the position behind it, or NULL
 * after filling the fault. */
typedef const char *(*read_fn)(struct reader *r, const char *p, const struct wire_type *t,
                               char *out);
extern const read_fn wire_read_kind[]; /* by enum wire_kind */
const char *wire_read_str(struct reader *r, const char *p, const struct wire_type *t, char *out);
const char *wire_read_object_pointer(struct reader *r, const char *p, const struct wire_type *t,
                                     char *out);

COLD const char *wire_no_memory(struct reader *r, const char *p);
COLD const char *wire_wrong_type(struct reader *r, const char *p, const char *expected);

/* An object, into the struct at `out`; NULL: check only. Returns the position behind it, or NULL
 * after filling the fault. */
const char *wire_read_object(struct reader *r, const char *p, const struct wire_message *m,
                             char *out);
/* p at a member's name; returns the position of its value, *ret_row is NULL for an unknown name. */
const char *wire_read_key(struct reader *r, const char *p, const struct wire_message *m,
                          const struct wire_row **ret_row);
/* wire_parse, knowing some values of the text to be valid. */
int wire_parse_known(const struct wire_type *type, struct str text, const struct str *known,
                     uint32_t n_known, struct arena *arena, void *ret, struct wire_fault *fault);
/* Is the validated value [p, end) equal to a literal of a table? */
bool wire_is_literal(const char *p, const char *end, const char *literal);

/* The same as wire_read_object for a message with variants. */
const char *union_read(struct reader *r, const char *p, const struct wire_message *m, char *out);

#endif
