/* schema/percent.h - percent-encoding of URI text (RFC 3986, section 2).
 *
 * Shared by URI templates and by the keys of rows in `db://` URIs. Works on bytes, so UTF-8 needs
 * no thought.
 */
#ifndef TENON_SCHEMA_PERCENT_H
#define TENON_SCHEMA_PERCENT_H

#include "base/arena.h"

enum percent_allow {
    PERCENT_UNRESERVED, /* letters, digits, - . _ ~ stay */
    PERCENT_RESERVED,   /* the reserved ones and what is an escape already stay too */
};

void percent_encode(struct buf *out, struct str s, enum percent_allow allow);
/* 0; ERR_SYNTAX for a '%' without two hex digits; ERR_NO_MEMORY. */
int percent_decode(struct str s, struct arena *arena, struct str *ret);
/* The same, but a broken escape stays as it is. 0 or ERR_NO_MEMORY. */
int percent_decode_lenient(struct str s, struct arena *arena, struct str *ret);
/* Is the whole text made of bytes that a URI may hold, with a scheme in front? */
bool percent_is_uri(struct str s);

#endif
