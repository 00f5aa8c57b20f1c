/* core/revision.h - the protocol revisions that a session can have, newest first. A client that
 * asks for another one gets the newest (MCP 2025-06-18, Lifecycle, Version Negotiation). */
#ifndef TENON_CORE_REVISION_H
#define TENON_CORE_REVISION_H

#include "base/arena.h"

/* enum mcp_revision of a negotiable revision, or -1. */
int revision_find(struct str version);
/* The i-th negotiable one, newest first; -1 behind the last. */
int revision_at(int i);
struct str revision_name(int i); /* of the i-th */
/* All of them with commas between, for messages. */
struct str revision_names(struct arena *arena);

#endif
