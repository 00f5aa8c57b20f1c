/* cli_audit.c - see cli_audit.h. */
#include "cli_audit.h"

#include "cli.h"

#include <errno.h>
#include <string.h>

static struct audit_file_config settings(const struct config *config)
{
    return (struct audit_file_config){
        .path = config->audit_file,
        .max_bytes = config->audit_max_bytes,
        .keep = config->audit_keep,
    };
}

static bool is_off(const struct config *config)
{
    return !strcmp(config->audit_file, CONFIG_OFF);
}

int cli_audit_check(const struct config *config)
{
    const struct audit_file_config file = settings(config);
    if (is_off(config) || audit_file_check(&file) == 0)
        return CLI_DONE;
    return cli_failed("audit.file: %s: %s", file.path, strerror(errno));
}

int cli_audit_new(const struct config *config, struct audit **ret)
{
    const struct audit_file_config file = settings(config);
    *ret = NULL;
    return is_off(config) ? 0 : audit_file_new(&file, ret);
}
