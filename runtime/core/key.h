/* core/key.h - primary keys as bytes that sort as the values do, and as text in URIs.
 *
 * An integer is 8 bytes, big-endian, with the sign bit turned; a string is its UTF-8 bytes. The
 * type belongs to the table, so it is not stored. In a URI a key is one segment: decimal digits, or
 * the percent-encoded string. There is one text per key, so one row has one URI.
 */
#ifndef TENON_CORE_KEY_H
#define TENON_CORE_KEY_H

#include "base/arena.h"
#include "wire/tape.h"

/* NUMBER and BOOLEAN are for parts of index keys only. */
enum key_type { KEY_INTEGER, KEY_STRING, KEY_NUMBER, KEY_BOOLEAN };

const char *key_type_name(enum key_type type); /* "integer", "string" */

/* 0; ERR_PARAMS: not of the type; ERR_LIMIT: an empty string, or past KEY_BYTES_MAX;
 * ERR_NO_MEMORY. */
int key_encode(enum key_type type, const struct tape_node *value, struct arena *arena,
               struct str *ret);
/* Adds the value to a tape. `key` comes from key_encode; a damaged one is added as null. */
void key_add(enum key_type type, struct str key, struct tape_builder *tape);

/* Text as people see it, and as a URI segment. */
void key_write_text(enum key_type type, struct str key, struct buf *out);
void key_write_segment(enum key_type type, struct str key, struct buf *out);
/* The reverse of both. 0; ERR_SYNTAX: no key of this type has this text; ERR_LIMIT;
 * ERR_NO_MEMORY. */
int key_from_text(enum key_type type, struct str text, struct arena *arena, struct str *ret);
int key_from_segment(enum key_type type, struct str segment, struct arena *arena, struct str *ret);

/* One part of an index key, appended. Parts delimit themselves, so parts behind one another sort as
 * tuples do. NULL or null comes first (last, where the part descends: its bytes are inverted).
 * NUMBER: integers and doubles in one order, rounded to a double. 0; ERR_PARAMS: not of the type.
 */
int key_add_part(enum key_type type, bool descending, const struct tape_node *value,
                 struct buf *out);

#endif
