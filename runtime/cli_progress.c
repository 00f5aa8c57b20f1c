/* cli_progress.c - see cli_progress.h. One line on stderr, written over itself ten times a second.
 */
#include "cli_progress.h"

#include "base/clock.h"

#include <stdio.h>
#include <unistd.h>

#define TELL_MS 100

static const int stops[CLI_PROGRESS_STOPS] = {SIGINT, SIGTERM};
static volatile sig_atomic_t stopped;

static void on_stop(int signal)
{
    (void)signal;
    stopped = 1;
}

void cli_progress_start(struct cli_progress *progress)
{
    const struct sigaction action = {.sa_handler = on_stop, .sa_flags = SA_RESETHAND | SA_RESTART};
    *progress = (struct cli_progress){.is_shown = isatty(STDERR_FILENO)};
    stopped = 0;
    for (int i = 0; i < CLI_PROGRESS_STOPS; i++) {
        sigaction(stops[i], NULL, &progress->before[i]);
        if (progress->before[i].sa_handler != SIG_IGN)
            sigaction(stops[i], &action, NULL);
    }
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
    return stopped;
}

void cli_progress_end(struct cli_progress *progress)
{
    for (int i = 0; i < CLI_PROGRESS_STOPS; i++)
        sigaction(stops[i], &progress->before[i], NULL);
    if (progress->has_line)
        fputs("\r\033[K", stderr);
}
