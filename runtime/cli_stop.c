/* cli_stop.c - see cli_stop.h. */
#include "cli_stop.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t stopped;

static void stop(int number)
{
    (void)number;
    stopped = 1;
}

void cli_stop_by_signals(void)
{
    struct sigaction action = {.sa_handler = stop, .sa_flags = (int)(SA_RESETHAND | SA_RESTART)};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

int cli_stopped(void)
{
    return stopped;
}
