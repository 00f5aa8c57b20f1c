/* net/supervisor.c - net_serve: takes the lock and the listeners, forks, restarts, stops.
 *
 * One thread, no loop library, no store: it waits in poll for signals and for word from its
 * children, and looks at the clock four times a second. Order of a start: lock, listeners, keeper,
 * and when that is ready, workers; when those are ready, "listening on". Order of a stop: workers,
 * then the keeper.
 *
 * It keeps the listening sockets of all workers open, so connections that come while a worker is
 * being replaced wait instead of being refused.
 */
#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "net/listener.h"
#include "net/lock.h"
#include "net/monitor.h"
#include "net/process.h"
#include "net/tls.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define TICK_MS        250
#define BACKOFF_MS     100 /* doubled for each death soon after a start... */
#define BACKOFF_MAX_MS 5000
#define LIVED_WELL_MS  10000 /* ...and forgotten after a life this long */
#define KILL_AFTER_MS  2000  /* past the grace of an orderly stop */
#define KEEPER_STOP_MS 15000
#define N_STOP_SIGNALS 2
#define LISTEN_MAX     8

enum stage { KEEPER_STARTS, WORKERS_START, SERVING, WORKERS_STOP, KEEPER_STOPS, OVER };

struct slot {
    pid_t pid; /* 0: not running */
    int listeners[LISTEN_MAX];
    int64_t started_ms, restart_at_ms;
    unsigned deaths; /* in a row, soon after the start */
    uint64_t beat;   /* as last seen */
    unsigned still;  /* looks since it last changed */
};

struct supervisor {
    struct net_config config; /* with defaults */
    struct net_address listen[LISTEN_MAX];
    const struct net_callbacks *callbacks;
    enum stage stage;
    int err; /* what net_serve returns */
    struct slot slots[N_SLOTS];
    struct board *board;
    struct tls *tls;        /* NULL: plain HTTP */
    int wakes[WORKERS_MAX]; /* eventfds: net/bus.h */
    int lock, signals, notify, lifeline[2], monitor;
    struct net_address monitor_address; /* with its real port */
    int64_t kill_at_ms;
};

static struct slot *keeper(struct supervisor *s)
{
    return &s->slots[KEEPER_SLOT];
}

static void close_fd(int fd)
{
    if (fd >= 0)
        close(fd);
}

/* ---- Forking ----------------------------------------------------------------------------------*/

/* In the child: lets go of what only the supervisor may hold. */
static void drop_supervisor(struct supervisor *s, const struct slot *mine)
{
    close(s->lifeline[1]);
    close(s->signals);
    for (uint32_t i = 0; i < s->config.n_workers; i++)
        for (uint32_t j = 0; j < s->config.n_listen && &s->slots[i] != mine; j++)
            close(s->slots[i].listeners[j]);
}

_Noreturn static void be_child(struct supervisor *s, struct slot *slot)
{
    struct child child = {
        .slot = (uint32_t)(slot - s->slots),
        .config = &s->config,
        .callbacks = s->callbacks,
        .board = s->board,
        .tls = s->tls,
        .settings = s->board->settings,
        .certificates = s->board->certificates,
        .lifeline = s->lifeline[0],
        .notify = s->notify,
        .wakes = s->wakes,
        .listeners = slot->listeners,
        .monitor = s->monitor,
    };
    if (slot != keeper(s))
        close_fd(s->monitor);
    drop_supervisor(s, slot);
    if (slot == keeper(s))
        tls_free(s->tls);
    exit(slot == keeper(s) ? keeper_main(&child) : worker_main(&child));
}

static void start_child(struct supervisor *s, struct slot *slot)
{
    fflush(NULL); /* or the child would write it again */
    s->board->ready[slot - s->slots] = false;
    slot->started_ms = clock_mono_ms();
    slot->restart_at_ms = 0;
    slot->still = 0;
    slot->pid = fork();
    if (slot->pid == 0)
        be_child(s, slot);
    if (slot->pid < 0) {
        log_error("cannot fork: %s", strerror(errno));
        slot->pid = 0;
        slot->restart_at_ms = slot->started_ms + BACKOFF_MAX_MS;
    }
}

static void start_workers(struct supervisor *s)
{
    s->stage = WORKERS_START;
    for (uint32_t i = 0; i < s->config.n_workers; i++)
        start_child(s, &s->slots[i]);
}

/* ---- Stopping ---------------------------------------------------------------------------------*/

static bool any_worker(const struct supervisor *s)
{
    for (uint32_t i = 0; i < s->config.n_workers; i++)
        if (s->slots[i].pid)
            return true;
    return false;
}

static void signal_workers(struct supervisor *s, int signal)
{
    for (uint32_t i = 0; i < s->config.n_workers; i++)
        if (s->slots[i].pid)
            kill(s->slots[i].pid, signal);
}

static void stop_keeper(struct supervisor *s)
{
    s->stage = keeper(s)->pid ? KEEPER_STOPS : OVER;
    s->kill_at_ms = clock_mono_ms() + KEEPER_STOP_MS;
    if (keeper(s)->pid)
        kill(keeper(s)->pid, SIGTERM);
}

static void stop(struct supervisor *s)
{
    s->stage = WORKERS_STOP;
    s->board->stopping = true;
    s->kill_at_ms = clock_mono_ms() + s->config.stop_grace_ms + KILL_AFTER_MS;
    signal_workers(s, SIGTERM);
    if (!any_worker(s))
        stop_keeper(s);
}

static void fail(struct supervisor *s, int err)
{
    if (!s->err)
        s->err = err;
    stop(s);
}

/* Workers that are too late do not take the orderly end from the keeper. */
static void kill_late(struct supervisor *s)
{
    log_error("%s: killed",
              s->stage == WORKERS_STOP ? "a worker does not end" : "the keeper does not end");
    if (s->stage == WORKERS_STOP)
        signal_workers(s, SIGKILL);
    else if (keeper(s)->pid)
        kill(keeper(s)->pid, SIGKILL);
    s->kill_at_ms = clock_mono_ms() + KILL_AFTER_MS;
}

static void kill_all(struct supervisor *s)
{
    signal_workers(s, SIGKILL);
    if (keeper(s)->pid)
        kill(keeper(s)->pid, SIGKILL);
}

/* ---- Deaths -----------------------------------------------------------------------------------*/

static struct slot *slot_of(struct supervisor *s, pid_t pid)
{
    for (int i = 0; i < N_SLOTS; i++)
        if (s->slots[i].pid == pid)
            return &s->slots[i];
    return NULL;
}

struct name {
    char text[24];
};

static struct name name_of(const struct supervisor *s, const struct slot *slot)
{
    struct name name = {"the keeper"};
    if (slot != &s->slots[KEEPER_SLOT])
        snprintf(name.text, sizeof name.text, "worker %d", (int)(slot - s->slots));
    return name;
}

static void log_death(const struct supervisor *s, const struct slot *slot, int status)
{
    char how[48];
    if (WIFSIGNALED(status))
        snprintf(how, sizeof how, "was killed by signal %d", WTERMSIG(status));
    else
        snprintf(how, sizeof how, "exited with code %d", WEXITSTATUS(status));
    log_error("%s %s; it is restarted", name_of(s, slot).text, how);
}

static void plan_restart(struct slot *slot)
{
    int64_t now_ms = clock_mono_ms(), delay_ms = 0;
    slot->deaths = now_ms - slot->started_ms >= LIVED_WELL_MS ? 1 : slot->deaths + 1;
    if (slot->deaths > 1)
        delay_ms = BACKOFF_MS << (slot->deaths < 8 ? slot->deaths - 2 : 6);
    slot->restart_at_ms = now_ms + (delay_ms < BACKOFF_MAX_MS ? delay_ms : BACKOFF_MAX_MS);
}

/* A crash during the stop must not look like a good end; what we killed ourselves is known. */
static void note_bad_end(struct supervisor *s, int status)
{
    if (status == 0 || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL))
        return;
    log_error("a process ended badly during the stop (status %#x)", (unsigned)status);
    if (!s->err)
        s->err = ERR_INTERNAL;
}

static void on_death(struct supervisor *s, struct slot *slot, int status)
{
    slot->pid = 0;
    s->board->ready[slot - s->slots] = false;
    if (slot != keeper(s))
        bus_end(s->board->workers, s->wakes, s->config.n_workers, (uint32_t)(slot - s->slots));
    switch (s->stage) {
    case KEEPER_STARTS:
    case WORKERS_START:
        fail(s, ERR_IO); /* the child has said why */
        break;
    case SERVING:
        log_death(s, slot, status);
        plan_restart(slot);
        break;
    case WORKERS_STOP:
        note_bad_end(s, status);
        if (!any_worker(s))
            stop_keeper(s);
        break;
    default:
        note_bad_end(s, status);
        s->stage = keeper(s)->pid ? s->stage : OVER;
    }
}

static void reap(struct supervisor *s)
{
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
        struct slot *slot = slot_of(s, pid);
        if (slot)
            on_death(s, slot, status);
    }
}

/* ---- What happens while it runs ---------------------------------------------------------------*/

static int64_t patience_ms(const struct supervisor *s, uint32_t i)
{
    if (!s->board->ready[i])
        return s->config.start_ms;
    return i == KEEPER_SLOT ? s->config.keeper_stall_ms : s->config.stall_ms;
}

/* Counts its own looks, not time: when the whole machine stood still, nobody is to blame. */
static void look_after(struct supervisor *s, uint32_t i)
{
    struct slot *slot = &s->slots[i];
    uint64_t beat = s->board->beats[i];
    if (!slot->pid || beat != slot->beat) {
        slot->beat = beat;
        slot->still = 0;
        return;
    }
    int64_t ms = patience_ms(s, i);
    if (++slot->still * (int64_t)TICK_MS < ms)
        return;
    log_error("%s %s %lld ms: killed", name_of(s, slot).text,
              s->board->ready[i] ? "or its write transaction stands still for"
                                 : "is not ready after",
              (long long)ms);
    kill(slot->pid, SIGKILL);
    slot->still = 0;
}

static void restart_due(struct supervisor *s, struct slot *slot)
{
    if (slot->restart_at_ms && clock_mono_ms() >= slot->restart_at_ms)
        start_child(s, slot);
}

static void tick(struct supervisor *s)
{
    if (s->stage >= WORKERS_STOP) {
        if (clock_mono_ms() >= s->kill_at_ms)
            kill_late(s);
        return;
    }
    for (uint32_t i = 0; i < N_SLOTS; i++)
        look_after(s, i);
}

static void restart_all_due(struct supervisor *s)
{
    for (int i = 0; i < N_SLOTS && s->stage == SERVING; i++)
        restart_due(s, &s->slots[i]);
}

static void write_port_file(const struct supervisor *s)
{
    char path[4096];
    const char *file = s->config.port_file;
    if (!file)
        return;
    snprintf(path, sizeof path, "%s.new", file); /* so that nobody reads half of it */
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0 || dprintf(fd, "%u\n", s->listen[0].port) < 0 || rename(path, file) < 0)
        log_error("%s: %s", file, strerror(errno));
    if (fd >= 0)
        close(fd);
}

static void say_listening(const struct supervisor *s)
{
    for (uint32_t i = 0; i < s->config.n_listen; i++)
        for (int j = 0; j < 2; j++) {
            const struct net_address *a = &s->listen[i];
            bool v6 = strchr(a->host, ':');
            if (s->config.path[j])
                log_info("listening on http%s://%s%s%s:%u%s", s->tls ? "s" : "", v6 ? "[" : "",
                         a->host, v6 ? "]" : "", a->port, s->config.path[j]);
        }
    if (s->monitor >= 0)
        log_info("metrics on http://%s:%u/metrics", s->monitor_address.host,
                 s->monitor_address.port);
}

static bool all_ready(const struct supervisor *s)
{
    for (uint32_t i = 0; i < s->config.n_workers; i++)
        if (!s->board->ready[i])
            return false;
    return true;
}

static void on_notified(struct supervisor *s)
{
    if (s->stage == KEEPER_STARTS && s->board->ready[KEEPER_SLOT])
        start_workers(s);
    if (s->stage != WORKERS_START || !all_ready(s))
        return;
    s->stage = SERVING;
    say_listening(s);
    write_port_file(s);
    if (s->callbacks->ready)
        s->callbacks->ready(s->callbacks->ctx, s->listen[0].port);
}

static bool renew_settings(struct supervisor *s)
{
    const struct net_callbacks *callbacks = s->callbacks;
    if (callbacks->validate && callbacks->validate(callbacks->ctx) < 0)
        return false; /* it has said why */
    if (!callbacks->reload) {
        log_warn("SIGHUP: the configuration is read at start only; a change needs a restart");
        return false;
    }
    s->board->settings++;
    return true;
}

static bool renew_certificates(struct supervisor *s)
{
    bool renewed = s->tls && tls_renew(s->tls);
    s->board->certificates += renewed;
    return renewed;
}

/* One may be good while the other is not. */
static void reload(struct supervisor *s)
{
    bool settings = renew_settings(s), certificates = renew_certificates(s);
    if (settings || certificates)
        signal_workers(s, SIGHUP);
}

static void on_signal(struct supervisor *s, int signal)
{
    if (signal == SIGCHLD)
        reap(s);
    else if (signal == SIGHUP)
        reload(s);
    else if (s->stage < WORKERS_STOP)
        stop(s);
    else
        kill_all(s); /* asked twice */
}

static void run(struct supervisor *s)
{
    int64_t next_tick_ms = clock_mono_ms() + TICK_MS;
    struct pollfd fds[] = {{.fd = s->signals, .events = POLLIN},
                           {.fd = s->notify, .events = POLLIN}};
    while (s->stage != OVER) {
        uint64_t count;
        poll(fds, 2, BACKOFF_MS);
        for (int signal; (signal = process_next_signal(s->signals));)
            on_signal(s, signal);
        if (read(s->notify, &count, sizeof count) > 0)
            on_notified(s);
        restart_all_due(s);
        if (clock_mono_ms() < next_tick_ms)
            continue;
        next_tick_ms = clock_mono_ms() + TICK_MS;
        tick(s);
    }
}

/* ---- Start and end ----------------------------------------------------------------------------*/

#define DEFAULT(field, value)  \
    do {                       \
        if (!(field))          \
            (field) = (value); \
    } while (0)

static int fill_config(struct supervisor *s, const struct net_config *config)
{
    struct net_config *c = &s->config;
    *c = *config;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    DEFAULT(c->n_workers, cores > 0 ? (uint32_t)cores : 1);
    DEFAULT(c->body_limit_bytes, BODY_LIMIT_BYTES);
    uint32_t conns_room = process_raise_fd_limit();
    if (!c->conns_max || c->conns_max > conns_room)
        c->conns_max = conns_room;
    DEFAULT(c->bytes_in_flight_max, BYTES_IN_FLIGHT_MAX);
    DEFAULT(c->keepalive_ms, HTTP_KEEPALIVE_MS);
    DEFAULT(c->head_deadline_ms, HTTP_HEAD_DEADLINE_MS);
    DEFAULT(c->body_deadline_ms, HTTP_BODY_DEADLINE_MS);
    DEFAULT(c->send_stall_ms, HTTP_SEND_STALL_MS);
    DEFAULT(c->heartbeat_ms, STREAM_HEARTBEAT_MS);
    DEFAULT(c->send_max_ms, HTTP_SEND_MAX_MS);
    DEFAULT(c->start_ms, WORKER_START_MS);
    DEFAULT(c->keeper_stall_ms, KEEPER_STALL_MS);
    DEFAULT(c->stall_ms, WORKER_STALL_MS);
    DEFAULT(c->stop_grace_ms, STOP_GRACE_MS);
    if (!c->n_listen || c->n_listen > LISTEN_MAX || c->n_workers > WORKERS_MAX ||
        c->body_limit_bytes > BODY_LIMIT_MAX_BYTES) {
        log_error("needs 1 to %d listen addresses, at most %d workers and %u bytes of body",
                  LISTEN_MAX, WORKERS_MAX, BODY_LIMIT_MAX_BYTES);
        return ERR_LIMIT;
    }
    memcpy(s->listen, config->listen, c->n_listen * sizeof *s->listen);
    c->listen = s->listen;
    return 0;
}

static int bind_one(struct supervisor *s, uint32_t i)
{
    struct net_address *address = &s->listen[i];
    const char *why = "";
    int err = listener_probe(address, &why);
    /* the first bind settles which port 0 becomes; the others share it */
    for (uint32_t w = 0; !err && w < s->config.n_workers; w++)
        err = listener_bind(address, s->config.allow_public, &s->slots[w].listeners[i],
                            &address->port, &why);
    if (err < 0)
        log_error("cannot listen on %s port %u: %s%s", address->host, address->port, why,
                  err == ERR_EXISTS ? " (is another server running?)" : "");
    return err;
}

static int bind_all(struct supervisor *s)
{
    for (uint32_t i = 0; i < s->config.n_listen; i++) {
        int err = bind_one(s, i);
        if (err < 0)
            return err;
    }
    if (s->config.monitor)
        s->monitor_address = *s->config.monitor;
    return monitor_listen(&s->config, &s->monitor, &s->monitor_address.port);
}

/* Before the forks, so that workers of all lives have those of all. */
static bool open_wakes(struct supervisor *s)
{
    bool ok = true;
    for (uint32_t i = 0; i < s->config.n_workers; i++) {
        s->wakes[i] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
        ok = ok && s->wakes[i] >= 0;
    }
    return ok;
}

static int open_shared(struct supervisor *s)
{
    static const int wanted[] = {SIGTERM, SIGINT, SIGHUP, SIGCHLD, 0};
    void *board =
        mmap(NULL, sizeof *s->board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    s->board = board == MAP_FAILED ? NULL : board;
    s->signals = process_signal_fd(wanted);
    s->notify = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (!s->board || s->signals < 0 || s->notify < 0 || pipe2(s->lifeline, O_CLOEXEC) < 0 ||
        !open_wakes(s)) {
        log_error("cannot start: %s", strerror(errno));
        return ERR_IO;
    }
    return 0;
}

static void done(struct supervisor *s)
{
    tls_free(s->tls);
    for (int i = 0; i < N_SLOTS; i++)
        for (int j = 0; j < LISTEN_MAX; j++)
            close_fd(s->slots[i].listeners[j]);
    close_fd(s->lifeline[0]);
    close_fd(s->lifeline[1]);
    close_fd(s->signals);
    close_fd(s->notify);
    close_fd(s->lock);
    close_fd(s->monitor);
    for (int i = 0; i < WORKERS_MAX; i++)
        close_fd(s->wakes[i]);
    if (s->board)
        munmap(s->board, sizeof *s->board);
}

static void init(struct supervisor *s, const struct net_callbacks *callbacks)
{
    *s = (struct supervisor){.callbacks = callbacks, .stage = KEEPER_STARTS};
    s->lock = s->monitor = s->signals = s->notify = s->lifeline[0] = s->lifeline[1] = -1;
    for (int i = 0; i < N_SLOTS; i++)
        for (int j = 0; j < LISTEN_MAX; j++)
            s->slots[i].listeners[j] = -1;
    for (int i = 0; i < WORKERS_MAX; i++)
        s->wakes[i] = -1;
}

static int prepare(struct supervisor *s, const struct net_config *config)
{
    int err = fill_config(s, config);
    if (!err)
        err = tls_open(&s->config.tls, &s->tls);
    if (!err && s->config.data_dir)
        err = lock_take(s->config.data_dir, &s->lock);
    if (!err)
        err = bind_all(s);
    return err ? err : open_shared(s);
}

int net_serve(const struct net_config *config, const struct net_callbacks *callbacks)
{
    struct supervisor s;
    sigset_t before;
    init(&s, callbacks);
    sigprocmask(SIG_SETMASK, NULL, &before);
    process_block_signals();
    int err = prepare(&s, config);
    if (!err) {
        start_child(&s, keeper(&s));
        run(&s);
        err = s.err;
    }
    done(&s);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return err;
}
