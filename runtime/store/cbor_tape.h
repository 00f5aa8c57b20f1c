/* store/cbor_tape.h - a tape as CBOR (RFC 8949) and back.
 *
 * A tape is an array of nodes in document order, and so is CBOR with definite lengths: writing is
 * one loop. Reading uses libcbor's streaming decoder, which checks neither nesting nor claimed
 * counts, so both are counted here: a container may claim no more items than bytes are left, and
 * nothing is allocated by a claim. Accepted is what the writer makes: definite lengths, no tags,
 * finite numbers, 64-bit floats, names as text. Byte strings read as strings (keys in records).
 * Members are not compared with each other again: what was written had no duplicates.
 */
#ifndef TENON_STORE_CBOR_TAPE_H
#define TENON_STORE_CBOR_TAPE_H

#include "wire/tape.h"

/* Nesting of what is read: a value of JSON_DEPTH_MAX inside a record. */
#define CBOR_DEPTH_MAX (JSON_DEPTH_MAX + 2)

/* Appends; a failure sticks to `out`. */
void cbor_write_tape(const struct tape_node *node, struct buf *out);
void cbor_write_array(uint32_t n, struct buf *out); /* n items have to follow */
void cbor_write_int(int64_t v, struct buf *out);
void cbor_write_str(struct str s, struct buf *out);
void cbor_write_bytes(struct str s, struct buf *out);

/* Reads one value that takes all of `in`. 0, ERR_STORE_DAMAGED or ERR_NO_MEMORY. The nodes are in
 * the arena, strings point into `in`. */
int cbor_read_tape(struct str in, struct arena *arena, const struct tape_node **ret);

/* Reads only the first n nodes, into `ret`; the size of a container among them is not known yet. */
int cbor_read_front(struct str in, uint32_t n, struct tape_node *ret);

#endif
