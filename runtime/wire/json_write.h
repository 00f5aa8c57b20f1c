/* wire/json_write.h - writes JSON by table, and the pieces that hand-written writers need.
 *
 * Output is UTF-8 without blanks between tokens. Members stand in table order. What the table of
 * the revision does not know is not written, so an older client never sees a newer field.
 */
#ifndef TENON_WIRE_JSON_WRITE_H
#define TENON_WIRE_JSON_WRITE_H

#include "wire/table.h"

/* Appends *value by `type`. 0, or ERR_INTERNAL when a required member is missing or no variant
 * fits (a fault of ours), ERR_NO_MEMORY when the buffer failed. */
int wire_write(const struct wire_type *type, const void *value, struct buf *out);

/* A quoted, escaped string. Bytes that are not UTF-8 become U+FFFD. */
void json_write_str(struct buf *out, struct str s);
void json_write_num(struct buf *out, double v); /* shortest that reads back; NaN, inf: null */

#endif
