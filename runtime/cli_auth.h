/* cli_auth.h - from the settings to signed tokens: whose are taken, and what clients are told of
 * how to get one. For `serve`. */
#ifndef TENON_CLI_AUTH_H
#define TENON_CLI_AUTH_H

#include "config.h"
#include "core/access.h"

/* All NULL without auth.issuer: signed tokens are not taken. The texts lie in the arena. */
struct cli_auth {
    struct access_verifier *verifier; /* before the fork: each worker has its own copy of it */
    const char *metadata, *metadata_url;
    const char *scope; /* auth.requiredScope */
};

/* Judges the auth.* keys together, and fills what `rules` says of signed tokens; the rest of it
 * stays. 0, or CLI_FAILED with the message written. */
int cli_auth_open(const struct config *config, struct arena *arena, struct cli_auth *ret,
                  struct access_rules *rules);
void cli_auth_close(struct cli_auth *auth);

#endif
