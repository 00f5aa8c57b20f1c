/* core/table_tools.h - the five tools of a table: their names, texts and JSON Schemas.
 *
 *   get_T    {id}                        the row
 *   search_T {where, select, order_by, limit, cursor, total}   {rows, nextCursor, total}
 *   create_T the row itself              the row
 *   update_T {id, changes or row, if_version}   the row as it is then
 *   delete_T {id}                        {deleted}
 *
 * Everything here is derived text; on_tools.c runs them.
 */
#ifndef TENON_CORE_TABLE_TOOLS_H
#define TENON_CORE_TABLE_TOOLS_H

#include "core/role.h"
#include "core/table.h"

enum table_verb { VERB_GET, VERB_SEARCH, VERB_CREATE, VERB_UPDATE, VERB_DELETE, VERB_N };

/* What a client is told about the effects (MCP 2025-06-18, ToolAnnotations). */
struct verb_hints {
    bool read_only, destructive, idempotent;
};

struct search_limits {
    uint32_t page, max;
};

const struct verb_hints *verb_hints(enum table_verb verb);
enum permission verb_permission(enum table_verb verb); /* what who calls it must be allowed */
/* Each STR_NONE without memory. */
struct str verb_tool_name(enum table_verb verb, struct str tool_name, struct arena *arena);
struct str verb_title(enum table_verb verb, const struct table *table, struct arena *arena);
struct str verb_description(enum table_verb verb, const struct table *table, struct arena *arena);
void verb_write_input(enum table_verb verb, const struct table *table,
                      const struct search_limits *limits, struct buf *out);
void verb_write_output(enum table_verb verb, const struct table *table, struct buf *out);

#endif
