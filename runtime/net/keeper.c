/* net/keeper.c - the keeper process: calls keeper_tick once a second, from the fork to its exit.
 *
 * It has no loop: what a tick does (syncs, sweeps) may block, and nobody waits for it; but one that
 * stands for KEEPER_STALL_MS is killed and replaced, like a worker.
 */
#include "base/err.h"
#include "base/log.h"
#include "net/monitor.h"
#include "net/process.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#define KEEPER_TICK_MS 1000

static int call(int (*fn)(void *ctx), void *ctx)
{
    return fn ? fn(ctx) : 0;
}

static void tick(const struct net_callbacks *callbacks)
{
    int err = call(callbacks->keeper_tick, callbacks->ctx);
    if (err < 0)
        log_error("the keeper failed: %s", err_text(err));
}

/* Until SIGTERM, or until the supervisor is gone. */
static void keep(const struct child *child, int signals)
{
    struct pollfd fds[] = {{.fd = signals, .events = POLLIN},
                           {.fd = child->lifeline, .events = POLLIN}};
    for (;;) {
        child_beat(child);
        int n = poll(fds, 2, KEEPER_TICK_MS);
        if (n > 0 && (fds[1].revents || process_next_signal(signals) == SIGTERM))
            return;
        if (n == 0)
            tick(child->callbacks);
    }
}

static struct monitor *start_monitor(const struct child *child)
{
    struct monitor *monitor = NULL;
    int err = child->monitor < 0 ? 0 : monitor_start(child, &monitor);
    if (err < 0)
        log_error("no metrics: %s", err_text(err));
    return monitor;
}

int keeper_main(const struct child *child)
{
    static const int wanted[] = {SIGTERM, 0};
    const struct net_callbacks *callbacks = child->callbacks;
    child_set_name("keeper");
    int err = call(callbacks->keeper_start, callbacks->ctx);
    if (err < 0) {
        log_error("cannot start: %s", err_text(err));
        return EXIT_START_FAILED;
    }
    int signals = process_signal_fd(wanted);
    struct monitor *monitor = start_monitor(child);
    child_is_ready(child);
    keep(child, signals);
    monitor_stop(monitor);
    close(signals);
    if (callbacks->keeper_stop)
        callbacks->keeper_stop(callbacks->ctx);
    return 0;
}
