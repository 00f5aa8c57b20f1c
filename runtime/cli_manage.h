/* cli_manage.h - what the commands on users, roles and tokens have in common. */
#ifndef TENON_CLI_MANAGE_H
#define TENON_CLI_MANAGE_H

#include "cli_data.h"
#include "core/manage_access.h"

struct cli_manage {
    struct cli_data data;
    struct manage m;
};

/* Settings and store, for writing or (reads) for looking at what must be there. 0, or the exit
 * status with the message written; to be closed in any case. */
int cli_manage_open(struct cli_manage *c, const struct cli_args *args, bool reads);
void cli_manage_close(struct cli_manage *c);
/* What a function of manage_access.h returned, as a message. Returns CLI_FAILED. */
int cli_manage_tell(struct cli_manage *c, int err);

/* Text on its way to a terminal: control characters become question marks. */
void cli_print_text(struct str text, FILE *out);
void cli_print_time(int64_t wall_ms, FILE *out);

#endif
