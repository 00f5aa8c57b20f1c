/* auth/metadata.h - how a client without a token finds out where to get one: Protected Resource
 * Metadata (RFC 9728), as MCP 2025-06-18, Authorization Server Location, demands it. */
#ifndef TENON_AUTH_METADATA_H
#define TENON_AUTH_METADATA_H

#include "base/arena.h"

#define METADATA_WELL_KNOWN "/.well-known/oauth-protected-resource"

struct metadata {
    struct str resource; /* the URI of this server */
    const struct str *servers;
    uint32_t n_servers;
    const struct str *scopes; /* "": left out; a name that stands twice is written once */
    uint32_t n_scopes;
};

/* Appends the document. */
void metadata_write(const struct metadata *metadata, struct buf *out);
/* Where it lies: the well-known path goes between host and path of the resource (RFC 9728, 3.1).
 * STR_NONE: no memory, or the resource is no URI. */
struct str metadata_url(struct str resource, struct arena *arena);

#endif
