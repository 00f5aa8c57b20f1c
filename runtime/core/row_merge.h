/* core/row_merge.h - a row with changes made to it, as by a JSON merge patch (RFC 7396).
 *
 * null removes an attribute, an object is merged into the object that is there, anything else takes
 * the place of what is there.
 */
#ifndef TENON_CORE_ROW_MERGE_H
#define TENON_CORE_ROW_MERGE_H

#include "wire/tape.h"

/* Both are objects. Changed attributes stay in their old places, new ones follow in the order of
 * `changes`. The nodes are copied into `arena`, the texts borrowed. 0 or ERR_NO_MEMORY. */
int row_merge(const struct tape_node *row, const struct tape_node *changes, struct arena *arena,
              const struct tape_node **ret);

#endif
