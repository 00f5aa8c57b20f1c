/* net/worker.c - one worker process: a loop, a core, HTTP; from the fork to its exit.
 *
 * SIGTERM is an orderly stop: no new connections, replies in flight are finished, and what still
 * runs shortly before the end of the grace is cancelled. An orphan (the
 * supervisor is gone) stops likewise, but in half a second, so that a new server can start.
 */
#include "base/err.h"
#include "base/log.h"
#include "net/fence.h"
#include "net/loop.h"
#include "net/process.h"
#include "net/tls.h"

#include <ev.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define ORPHAN_GRACE_MS  500
#define HEAP_KEPT_BYTES  (16 << 20)
#define HEAP_LARGE_BYTES (512 << 10) /* goes back to the system when freed */

struct worker {
    const struct child *child;
    struct loop *loop;
    struct core *core;
    struct fence *fence;
    struct bus bus;
    struct ev_io signals, lifeline, wakes;
    uint32_t settings, certificates; /* of the board, as last seen */
    bool closing;
    int64_t hurry_at_ms; /* once it is closing; INT64_MAX: done */
};

static void tell(struct worker *w, void (*fn)(void *ctx, struct core *core))
{
    if (fn)
        fn(w->child->callbacks->ctx, w->core);
}

/* Again, with less grace: an orphan that was closing already. */
static void close_worker(struct worker *w, int64_t grace_ms)
{
    int64_t hurry_ms = grace_ms / 2 < STOP_HURRY_MS ? grace_ms / 2 : STOP_HURRY_MS;
    int64_t at_ms = loop_now_ms(w->loop) + grace_ms - hurry_ms;
    bool again = w->closing;
    if (!again || at_ms < w->hurry_at_ms)
        w->hurry_at_ms = at_ms;
    w->closing = true;
    if (!again)
        tell(w, w->child->callbacks->worker_closing);
    fence_stop(w->fence, grace_ms);
}

static void hurry_if_due(struct worker *w)
{
    if (!w->closing || loop_now_ms(w->loop) < w->hurry_at_ms)
        return;
    w->hurry_at_ms = INT64_MAX;
    tell(w, w->child->callbacks->worker_hurry);
}

static void renew_certificates(struct worker *w)
{
    uint32_t now = atomic_load(&w->child->board->certificates);
    if (now != w->certificates && tls_reload(w->child->tls) < 0)
        log_error("new connections of this process get the certificate from before");
    w->certificates = now;
}

static void renew(struct worker *w)
{
    uint32_t now = atomic_load(&w->child->board->settings);
    if (now != w->settings)
        tell(w, w->child->callbacks->reload);
    w->settings = now;
    renew_certificates(w);
}

static void on_signal(struct ev_loop *ev, struct ev_io *signals, int events)
{
    struct worker *w = signals->data;
    (void)ev;
    (void)events;
    for (int signal; (signal = process_next_signal(signals->fd));) {
        if (signal == SIGTERM)
            close_worker(w, w->child->config->stop_grace_ms);
        else
            renew(w);
    }
}

static void on_orphaned(struct ev_loop *ev, struct ev_io *lifeline, int events)
{
    struct worker *w = lifeline->data;
    (void)events;
    ev_io_stop(ev, lifeline);
    log_warn("the supervisor is gone");
    close_worker(w, ORPHAN_GRACE_MS);
}

static void on_woken(struct ev_loop *ev, struct ev_io *wakes, int events)
{
    struct worker *w = wakes->data;
    uint64_t count;
    (void)ev;
    (void)events;
    if (read(wakes->fd, &count, sizeof count) == sizeof count)
        bus_look(&w->bus);
}

static void beat(void *ctx)
{
    struct worker *w = ctx;
    const struct child *child = w->child;
    const struct net_callbacks *callbacks = child->callbacks;
    int64_t ms = callbacks->worker_standing_ms ? callbacks->worker_standing_ms(callbacks->ctx) : 0;
    if (ms < child->config->stall_ms)
        child_beat(child);
    hurry_if_due(w);
}

static void watch(struct worker *w)
{
    static const int signals[] = {SIGTERM, SIGHUP, 0};
    ev_io_init(&w->signals, on_signal, process_signal_fd(signals), EV_READ);
    ev_io_init(&w->lifeline, on_orphaned, w->child->lifeline, EV_READ);
    ev_io_init(&w->wakes, on_woken, w->child->wakes[w->child->slot], EV_READ);
    w->signals.data = w->lifeline.data = w->wakes.data = w;
    ev_io_start(loop_ev(w->loop), &w->signals);
    ev_io_start(loop_ev(w->loop), &w->lifeline);
    ev_io_start(loop_ev(w->loop), &w->wakes);
    loop_on_tick(w->loop, beat, w);
    if (w->child->callbacks->worker_tick)
        loop_on_tick(w->loop, w->child->callbacks->worker_tick, w->child->callbacks->ctx);
}

static int open_http(struct worker *w)
{
    const struct net_config *config = w->child->config;
    int err = fence_open(config, w->child->tls, w->loop, w->core, &w->fence);
    for (uint32_t i = 0; !err && i < config->n_listen; i++)
        err = fence_listen(w->fence, w->child->listeners[i], &config->listen[i]);
    return err;
}

static int start(struct worker *w)
{
    const struct child *child = w->child;
    const struct net_callbacks *callbacks = child->callbacks;
    int err = bus_join(&w->bus, child->board->workers, child->wakes, child->config->n_workers,
                       child->slot);
    if (err == 0)
        err = loop_new(&w->loop);
    if (err < 0)
        return err;
    err = callbacks->worker_start(callbacks->ctx, child->slot, &w->bus, w->loop, &w->core);
    return err < 0 ? err : open_http(w);
}

/* All that is freed below could be in use by a handler that does not end. */
static void finish(struct worker *w)
{
    const struct net_callbacks *callbacks = w->child->callbacks;
    fence_close(w->fence);
    if (w->core)
        tell(w, callbacks->worker_ending);
    if (w->loop && !loop_drain_for(w->loop, STOP_STUCK_MS))
        process_leave(callbacks);
    if (w->core)
        tell(w, callbacks->worker_stop);
    loop_free(w->loop);
}

/* Every request takes and gives back some 30 KiB; with the defaults the heap shrinks and grows with
 * it, by a system call and fresh pages each time. */
static void keep_heap(void)
{
    mallopt(M_TRIM_THRESHOLD, HEAP_KEPT_BYTES);
    mallopt(M_MMAP_THRESHOLD, HEAP_LARGE_BYTES);
}

/* A core file would hold the tokens of whoever was being served. One byte is a size that the kernel
 * takes for none, also where it hands core files to a program, which 0 does not keep it from. */
static void forbid_core_files(void)
{
    const struct rlimit one = {1, 1};
    if (setrlimit(RLIMIT_CORE, &one) < 0)
        prctl(PR_SET_DUMPABLE, 0);
}

int worker_main(const struct child *child)
{
    char name[32];
    struct worker w = {
        .child = child, .settings = child->settings, .certificates = child->certificates};
    snprintf(name, sizeof name, "worker %u", child->slot);
    child_set_name(name);
    keep_heap();
    forbid_core_files();
    int err = start(&w);
    if (err < 0) {
        log_error("cannot start: %s", err_text(err));
        finish(&w);
        return EXIT_START_FAILED;
    }
    watch(&w);
    child_is_ready(child);
    loop_run(w.loop);
    finish(&w);
    close(w.signals.fd);
    return 0;
}
