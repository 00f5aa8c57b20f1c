/* cli_progress.c - see cli_progress.h. One line on stderr, written over itself ten times a second.
 */
#include "cli_progress.h"

#include "base/clock.h"
#include "cli_stop.h"

#include <stdio.h>
#include <unistd.h>

#define TELL_MS 100

void cli_progress_start(struct cli_progress *progress)
{
    *progress = (struct cli_progress){.is_shown = isatty(STDERR_FILENO)};
    cli_stop_by_signals();
}

int cli_progress_tell(void *ctx, uint64_t done, uint64_t total)
{
    struct cli_progress *progress = ctx;
    int64_t now_ms = clock_mono_ms();
    if (progress->is_shown && now_ms >= progress->next_ms) {
        fprintf(stderr, "\r  %llu of %llu rows", (unsigned long long)done,
                (unsigned long long)(total > done ? total : done));
        progress->next_ms = now_ms + TELL_MS;
        progress->has_line = true;
    }
    return cli_stopped();
}

void cli_progress_end(struct cli_progress *progress)
{
    if (progress->has_line)
        fputs("\r\033[K", stderr);
}
