/* core/row_contents.h - a row as a resource.
 *
 * Its contents are the row's JSON, and a blob for each attribute that is binary: whose schema says
 * `"contentEncoding": "base64"` (and what it is by `contentMediaType`), as JSON Schema has it. Such
 * an attribute is not in the JSON then; the blob's URI is the row's with #attribute, by which it
 * can be read alone. What is no base64 stays in the JSON: the encoding is no rule of the schema.
 * `_meta` says the row's version, and when it was changed.
 */
#ifndef TENON_CORE_ROW_CONTENTS_H
#define TENON_CORE_ROW_CONTENTS_H

#include "core/store.h"
#include "core/table.h"
#include "generated/types.h"

struct row_contents {
    struct mcp_resource_contents *v;
    uint32_t n;
};

/* `uri` is the row's; `part` names one attribute, STR_NONE: all of the row. 0; ERR_ABSENT: no blob
 * of that name; ERR_NO_MEMORY. */
int row_contents_make(const struct table *table, const struct store_row *row, struct str uri,
                      struct str part, struct arena *arena, struct row_contents *ret);

#endif
