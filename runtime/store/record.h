/* store/record.h - a value in the store: a CBOR array led by a format number.
 *
 * A pattern says what follows the number, one letter a field: i integer, s string, * anything.
 * A record of a newer format is refused (ERR_STORE_FORMAT); when the number rises, the reader of
 * the record that changed learns the older pattern too.
 */
#ifndef TENON_STORE_RECORD_H
#define TENON_STORE_RECORD_H

#include "store/cbor_tape.h"

#define RECORD_FORMAT     1
#define RECORD_FIELDS_MAX 16

/* Starts a record of n fields, in an emptied buffer; the fields follow by cbor_write_*. */
void record_begin(struct buf *out, uint32_t n);
/* 0, ERR_STORE_DAMAGED, ERR_STORE_FORMAT, ERR_NO_MEMORY. As many `fields` as the pattern has. */
int record_read(struct str value, const char *pattern, struct arena *arena,
                const struct tape_node **ret_fields);
/* Only the first field, which is an integer. */
int record_first_int(struct str value, int64_t *ret);
struct str record_str(const struct tape_node *field);

#endif
