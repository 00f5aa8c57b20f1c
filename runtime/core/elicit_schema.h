/* core/elicit_schema.h - what a server may ask a user to fill in (MCP 2025-06-18, Elicitation,
 * Request Schema).
 *
 * A flat object of primitive properties, with few keywords. Which, says the table of the revision:
 * here a member that the table does not know is refused, not ignored, so that no client meets a
 * form that it cannot show.
 */
#ifndef TENON_CORE_ELICIT_SCHEMA_H
#define TENON_CORE_ELICIT_SCHEMA_H

#include "schema/json_schema.h"

/* `params`: the opened params of an elicitation, which have passed `type`, the revision's own. *ret
 * is what the answer's content has to fit; NULL where the revision lets ask without a schema. 0;
 * ERR_PARAMS with the one fault, its pointer relative to the params; ERR_NO_MEMORY. */
int elicit_schema_compile(const struct wire_type *type, const struct tape_node *params,
                          struct arena *arena, const struct json_schema **ret,
                          struct schema_fault *fault);

#endif
