/* wire/layout.h - bytes that a value of a table's type takes in memory; see table.h for the rules.
 * Inside wire/ only. */
#ifndef TENON_WIRE_LAYOUT_H
#define TENON_WIRE_LAYOUT_H

#include "wire/table.h"

/* How ARRAY, MANY and MAP lie in memory. */
struct wire_list {
    char *v;
    uint32_t n;
};

size_t wire_value_size(const struct wire_type *t);   /* at the top: of an OBJECT, the struct */
size_t wire_element_size(const struct wire_type *t); /* of an ARRAY or MANY */
size_t wire_entry_size(const struct wire_type *t);   /* of a MAP: key and value */

#endif
