/* cli_access.h - from the settings to the rules of access (core/access.h), for `serve`. */
#ifndef TENON_CLI_ACCESS_H
#define TENON_CLI_ACCESS_H

#include "config.h"
#include "core/access.h"

/* What the settings say of clients without a credential; the rest of the rules stays. 0, or
 * CLI_FAILED with the message written. Texts are those of the config. */
int cli_access_rules(const struct config *config, struct access_rules *ret);
/* One line of the log: what a client without a credential may do. Once, at the start. */
void cli_access_say(const struct access_rules *rules, struct store *store);

#endif
