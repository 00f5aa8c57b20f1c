/* net/process.h - what the supervisor and the processes it forks have in common.
 *
 * Signals are blocked in all of them and read from a signalfd, so nothing ever runs in a signal
 * handler. A lifeline pipe, whose write end only the supervisor holds, tells its children that it
 * is gone. The board is shared memory in which each child says that it is ready and alive.
 */
#ifndef TENON_NET_PROCESS_H
#define TENON_NET_PROCESS_H

#include "base/limits.h"
#include "net/bus.h"
#include "net/server.h"

#include <stdatomic.h>

struct tls;

#define KEEPER_SLOT WORKERS_MAX
#define N_SLOTS     (WORKERS_MAX + 1)

#define EXIT_START_FAILED 3 /* of a child that could not start; it has said why */

struct board {
    _Atomic uint64_t beats[N_SLOTS]; /* rises as long as it is alive */
    _Atomic bool ready[N_SLOTS];
    _Atomic uint32_t settings, certificates; /* rise with each SIGHUP that found good ones */
    _Atomic bool stopping;
    struct bus_slot workers[WORKERS_MAX];
};

/* What a forked process gets. */
struct child {
    uint32_t slot;
    const struct net_config *config; /* defaults filled in, ports real */
    const struct net_callbacks *callbacks;
    struct board *board;
    struct tls *tls;                 /* NULL: plain HTTP */
    uint32_t settings, certificates; /* of the board, when it was forked */
    int lifeline;                    /* reads end of file when the supervisor is gone */
    int notify;                      /* eventfd: written after a change on the board */
    const int *wakes;                /* eventfds, one per worker: net/bus.h */
    const int *listeners;            /* one per config->listen; workers only */
    int monitor;                     /* listening socket of net/monitor.h; keeper only; -1: none */
};

/* Blocks the signals that Tenon handles and ignores SIGPIPE. */
void process_block_signals(void);
/* A signalfd for a zero-terminated list of them. Negative: errno says why. */
int process_signal_fd(const int *signals);
/* The next signal waiting on the fd, or 0. */
int process_next_signal(int fd);

/* Raises the limit of open descriptors as far as CONNS_MAX connections need it (libwebsockets sizes
 * its tables by the limit, so no further). How many connections it allows. Inherited by children.
 */
uint32_t process_raise_fd_limit(void);

/* Ends the process, whose handlers do not end though they are cancelled (a component that does not
 * look), without freeing what they may use. */
_Noreturn void process_leave(const struct net_callbacks *callbacks);

/* For the log and for ps: "worker 1" runs as "tenon worker 1". Copied. */
void child_set_name(const char *name);
void child_beat(const struct child *child);
void child_is_ready(const struct child *child);

/* The whole life of a worker or the keeper; the result is the exit code. */
int worker_main(const struct child *child);
int keeper_main(const struct child *child);

#endif
