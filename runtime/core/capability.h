/* core/capability.h - what a profile offers.
 *
 * The generated tables know which methods have a handler, and so which capabilities the server can
 * have at all; a profile may take less. initialize declares it, dispatch goes by it: declared and
 * callable are the same.
 */
#ifndef TENON_CORE_CAPABILITY_H
#define TENON_CORE_CAPABILITY_H

#include "core/call.h"
#include "generated/types.h"

/* Are all of these (mask of enum mcp_capability) offered? */
bool capability_is_offered(enum call_profile profile, uint32_t gates);
/* As initialize declares them. What it points to is constant. */
void capability_fill(enum call_profile profile, struct mcp_server_capabilities *ret);

#endif
