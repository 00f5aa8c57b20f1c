/* core/table_run.h - runs the derived tools of a table. */
#ifndef TENON_CORE_TABLE_RUN_H
#define TENON_CORE_TABLE_RUN_H

#include "core/catalog.h"

/* Arguments have passed the tool's input schema. CALL_LATER: the call is answered already or will
 * be, by tool_succeed, tool_fail or call_fail. Else an error, explained; nothing was done then. */
int table_run(struct call *call, const struct catalog_tool *tool, const struct tape_node *args);

/* on_tools.c. The result of a tool: `json` is an object, as structured content and as text. */
void tool_succeed(struct call *call, struct str json);
/* The same with the version of the row in _meta. */
void tool_succeed_with_version(struct call *call, struct str json, uint64_t version);
/* Its first half, as call_write is that of call_done. */
int tool_write(struct call *call, struct str json);
/* A failure inside the tool, which the model should read: isError with this text. */
void tool_fail(struct call *call, struct str text);

/* A page of rows as {"rows":[...],"nextCursor":"...","total":5}; also what reading a table gives.
 */
struct search;
int table_search_json(struct call *call, struct search *search, struct str *ret);

#endif
