/* cli_progress.h - how many rows something long has come by, on a terminal; Ctrl-C ends it well. */
#ifndef TENON_CLI_PROGRESS_H
#define TENON_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct cli_progress {
    bool is_shown, has_line;
    int64_t next_ms;
};

/* From now on signals stop it: see cli_stop.h. */
void cli_progress_start(struct cli_progress *progress);
/* As manage.h and store.h want it: ctx is the struct cli_progress; non-zero: stop. */
int cli_progress_tell(void *ctx, uint64_t done, uint64_t total);
void cli_progress_end(struct cli_progress *progress);

#endif
