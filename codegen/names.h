/* codegen/names.h - from names of the schema to names in C. */
#ifndef TENON_CODEGEN_NAMES_H
#define TENON_CODEGEN_NAMES_H

#include "base/arena.h"

/* "CallToolResult" and "_meta" and "date-time" in small letters and underscores; of a name with
 * a prefix ("io.modelcontextprotocol/clientInfo") only what follows it. */
struct str name_snake(struct arena *arena, struct str name);
/* As a member: a word of C gets an underscore behind it. */
struct str name_member(struct arena *arena, struct str name);
struct str name_upper(struct arena *arena, struct str name);
/* "InitializeRequest" and "params": "InitializeRequestParams". */
struct str name_nested(struct arena *arena, struct str owner, struct str member);

#endif
