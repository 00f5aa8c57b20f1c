/* manifest/completion.h - `complete` of an argument of a prompt or a variable of a template; inside
 * manifest only.
 *
 *   {"values": ["paris", "park"]}                those that begin with what was typed, in any case
 *   {"table": "shop.items", "attribute": "sku"}  what rows hold, in the order of the attribute
 *
 * Of a table only what lies next to what was typed is read, one row for each value: the attribute
 * has to be the primary key or the first of an index, and a string. A table or an attribute that
 * clients do not see gives nothing.
 */
#ifndef TENON_MANIFEST_COMPLETION_H
#define TENON_MANIFEST_COMPLETION_H

#include "manifest/manifest.h"

struct completion {
    struct str name; /* of the argument or variable */
    const struct str *values;
    uint32_t n_values;
    struct str database, table, attribute; /* absent: values */
};

/* Reads `complete` of the entry. *ret is zeroed but for the name if there is none. */
int completion_parse(const struct manifest_entry *entry, struct str name, struct completion *ret);
/* Proposes. NULL: nothing. 0 or an error of tenon.h. */
int completion_run(struct tenon_call *call, const struct completion *completion, const char *typed);
bool completion_is_query(const struct completion *completion);

#endif
