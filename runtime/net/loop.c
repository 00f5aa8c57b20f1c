/* net/loop.c - see loop.h and core/loop.h. */
#include "net/loop.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/log.h"
#include "net/threads.h"

#include <ev.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct ticker {
    void (*fn)(void *ctx);
    void *ctx;
};

struct loop {
    struct ev_loop *ev;
    struct ev_timer tick;
    struct ev_check turn;
    struct ev_io wake;
    int wake_fd;
    int64_t now_ms;
    struct ticker tickers[LOOP_TICKERS_MAX];
    unsigned n_tickers;
    struct threads *threads;
    pthread_mutex_t mutex; /* of the inbox */
    struct loop_post *first, **last;
};

/* Before all else of a turn: a deadline that is set in it counts from what is now, even if the
 * process or its clock has leapt since the turn before. */
static void on_turn(struct ev_loop *ev, struct ev_check *turn, int events)
{
    struct loop *loop = turn->data;
    (void)ev;
    (void)events;
    loop->now_ms = clock_mono_ms();
}

static void on_tick(struct ev_loop *ev, struct ev_timer *tick, int events)
{
    struct loop *loop = tick->data;
    (void)ev;
    (void)events;
    for (unsigned i = 0; i < loop->n_tickers; i++)
        loop->tickers[i].fn(loop->tickers[i].ctx);
}

static struct loop_post *take_posts(struct loop *loop)
{
    pthread_mutex_lock(&loop->mutex);
    struct loop_post *first = loop->first;
    loop->first = NULL;
    loop->last = &loop->first;
    pthread_mutex_unlock(&loop->mutex);
    return first;
}

/* True if there was anything. What is posted meanwhile waits for the next turn. */
static bool deliver(struct loop *loop)
{
    struct loop_post *post = take_posts(loop), *next;
    bool any = post;
    for (; post; post = next) {
        next = post->next; /* the entry is the callee's from here on */
        post->fn(post);
    }
    return any;
}

static void on_wake(struct ev_loop *ev, struct ev_io *wake, int events)
{
    struct loop *loop = wake->data;
    uint64_t count;
    (void)ev;
    (void)events;
    if (read(loop->wake_fd, &count, sizeof count) == sizeof count)
        deliver(loop);
}

void loop_post(struct loop *loop, struct loop_post *post)
{
    const uint64_t one = 1;
    post->next = NULL;
    pthread_mutex_lock(&loop->mutex);
    bool was_empty = !loop->first;
    *loop->last = post;
    loop->last = &post->next;
    pthread_mutex_unlock(&loop->mutex);
    if (was_empty && write(loop->wake_fd, &one, sizeof one) != sizeof one)
        log_error("an event loop cannot be woken");
}

static void start_watchers(struct loop *loop)
{
    ev_timer_init(&loop->tick, on_tick, LOOP_TICK_MS / 1e3, LOOP_TICK_MS / 1e3);
    loop->tick.data = loop;
    ev_timer_start(loop->ev, &loop->tick);
    ev_check_init(&loop->turn, on_turn);
    ev_set_priority(&loop->turn, EV_MAXPRI);
    loop->turn.data = loop;
    ev_check_start(loop->ev, &loop->turn);
    ev_io_init(&loop->wake, on_wake, loop->wake_fd, EV_READ);
    loop->wake.data = loop;
    ev_io_start(loop->ev, &loop->wake);
}

static void destroy(struct loop *loop)
{
    if (loop->ev)
        ev_loop_destroy(loop->ev);
    if (loop->wake_fd >= 0)
        close(loop->wake_fd);
    pthread_mutex_destroy(&loop->mutex);
    free(loop);
}

int loop_new(struct loop **ret)
{
    struct loop *loop = calloc(1, sizeof *loop);
    if (!loop)
        return ERR_NO_MEMORY;
    pthread_mutex_init(&loop->mutex, NULL);
    loop->last = &loop->first;
    loop->now_ms = clock_mono_ms();
    loop->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    /* K9: poll() costs by the number of connections, so nothing but epoll will do */
    loop->ev = ev_loop_new(EVBACKEND_EPOLL | EVFLAG_NOENV);
    if (!loop->ev || loop->wake_fd < 0) {
        destroy(loop);
        return ERR_IO;
    }
    int err = threads_new(loop, &loop->threads);
    if (err < 0) {
        destroy(loop);
        return err;
    }
    start_watchers(loop);
    *ret = loop;
    return 0;
}

bool loop_drain_for(struct loop *loop, int64_t ms)
{
    bool all_ended;
    do
        all_ended = threads_join(loop->threads, ms);
    while (all_ended && deliver(loop));
    return all_ended;
}

void loop_drain(struct loop *loop)
{
    loop_drain_for(loop, -1);
}

void loop_free(struct loop *loop)
{
    if (!loop)
        return;
    loop_drain(loop);
    threads_free(loop->threads);
    ev_check_stop(loop->ev, &loop->turn);
    ev_timer_stop(loop->ev, &loop->tick);
    ev_io_stop(loop->ev, &loop->wake);
    destroy(loop);
}

struct ev_loop *loop_ev(struct loop *loop)
{
    return loop->ev;
}

void loop_run(struct loop *loop)
{
    ev_run(loop->ev, 0);
}

void loop_stop(struct loop *loop)
{
    ev_break(loop->ev, EVBREAK_ALL);
}

int64_t loop_now_ms(const struct loop *loop)
{
    return loop->now_ms;
}

void loop_on_tick(struct loop *loop, void (*fn)(void *ctx), void *ctx)
{
    if (loop->n_tickers == LOOP_TICKERS_MAX)
        fatal("more than %d tickers on a loop", LOOP_TICKERS_MAX);
    loop->tickers[loop->n_tickers++] = (struct ticker){fn, ctx};
}

int loop_offload(struct loop *loop, struct loop_work *work)
{
    return threads_add(loop->threads, work);
}
