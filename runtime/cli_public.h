/* cli_public.h - whether a server may be reached from other machines.
 */
#ifndef TENON_CLI_PUBLIC_H
#define TENON_CLI_PUBLIC_H

#include "config.h"

/* Only where each client has to say who it is: there are users, or signed tokens are taken
 * (`has_verifier`). Looks into the store in a process of its own, before the server's are forked.
 * What is doubtful about the settings is said in the log. */
bool cli_may_be_public(const struct config *config, const struct store_config *store,
                       bool has_verifier, bool has_tls);

/* The host of auth.resource, by which clients reach the server, becomes one of allowedHosts. 0, or
 * CLI_FAILED with the message written. */
int cli_allow_own_host(struct config *config, struct arena *arena);

#endif
