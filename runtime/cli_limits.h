/* cli_limits.h - rates and quotas as the settings say them, for core/admission.h. */
#ifndef TENON_CLI_LIMITS_H
#define TENON_CLI_LIMITS_H

#include "config.h"
#include "core/admission.h"

/* Buckets and counts in memory that processes forked later share; NULL: no memory. Never freed. */
struct rates *cli_limits_new(void);
/* `rates`: else only the quota is filled. */
void cli_limits_fill(const struct config_limits *config, bool rates, struct admission_limits *ret);

#endif
