/* cli_progress.h - how far something long has come, on a terminal; and Ctrl-C, which ends it well.
 *
 * From cli_progress_start to cli_progress_end SIGINT and SIGTERM do not end the process but make
 * cli_progress_tell say so; a second one ends it.
 */
#ifndef TENON_CLI_PROGRESS_H
#define TENON_CLI_PROGRESS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#define CLI_PROGRESS_STOPS 2

struct cli_progress {
    bool is_shown, has_line;
    int64_t next_ms;
    struct sigaction before[CLI_PROGRESS_STOPS];
};

void cli_progress_start(struct cli_progress *progress);
/* As manage.h and store.h want it: ctx is the struct cli_progress; non-zero: stop. */
int cli_progress_tell(void *ctx, uint64_t done, uint64_t total);
void cli_progress_end(struct cli_progress *progress);

#endif
