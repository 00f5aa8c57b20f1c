/* manifest/placeholders.h - texts of a manifest with {{name}} in them.
 *
 * Parsed once, when the manifest is read; filled in for each call. What is filled in is never
 * looked at again, so a value that holds {{x}} stays as it is. `{{{{` is a literal `{{`.
 */
#ifndef TENON_MANIFEST_PLACEHOLDERS_H
#define TENON_MANIFEST_PLACEHOLDERS_H

#include "base/arena.h"

struct placeholder_part {
    struct str text;
    bool is_name; /* else it is literal */
};

struct placeholders {
    const struct placeholder_part *v;
    uint32_t n;
};

/* Names are 1 to 128 of A-Z a-z 0-9 _ . - 0; ERR_SYNTAX with *ret_what, a constant text of what is
 * wrong; ERR_NO_MEMORY. The parts point into `text`. */
int placeholders_parse(struct str text, struct arena *arena, struct placeholders *ret,
                       const char **ret_what);
/* Whether it holds none. */
bool placeholders_are_literal(const struct placeholders *p);

#endif
