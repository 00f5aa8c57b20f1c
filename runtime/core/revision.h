/* core/revision.h - the protocol revisions that a session can have. */
#ifndef TENON_CORE_REVISION_H
#define TENON_CORE_REVISION_H

#include "base/str.h"

/* Newest first. A client that asks for another one gets the first (MCP 2025-06-18, Lifecycle,
 * Version Negotiation). */
#define REVISION_LATEST STR("2025-06-18")
#define REVISION_BATCH  STR("2025-03-26") /* the only one with batches */

/* enum mcp_revision of a negotiable revision, or -1. */
int revision_find(struct str version);
/* The i-th negotiable one, newest first; -1 behind the last. */
int revision_at(int i);
struct str revision_name(int i); /* of the i-th */
/* "2025-06-18, 2025-03-26": for messages. */
const char *revision_names(void);

#endif
