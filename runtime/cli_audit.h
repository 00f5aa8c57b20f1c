/* cli_audit.h - the settings audit.* and the file that comes of them. */
#ifndef TENON_CLI_AUDIT_H
#define TENON_CLI_AUDIT_H

#include "audit_file.h"
#include "config.h"

/* At start: CLI_DONE, or CLI_FAILED (it has said why). */
int cli_audit_check(const struct config *config);
/* In a process that answers calls. *ret NULL: audit.file is off. 0, ERR_NO_MEMORY. */
int cli_audit_new(const struct config *config, struct audit **ret);

#endif
