/* net/process.c - see process.h. */
#include "net/process.h"

#include "base/limits.h"
#include "base/log.h"

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

void process_block_signals(void)
{
    static const int handled[] = {SIGTERM, SIGINT, SIGHUP, SIGCHLD};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof handled / sizeof *handled; i++)
        sigaddset(&set, handled[i]);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
}

int process_signal_fd(const int *signals)
{
    sigset_t set;
    sigemptyset(&set);
    for (; *signals; signals++)
        sigaddset(&set, *signals);
    return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

int process_next_signal(int fd)
{
    struct signalfd_siginfo info;
    return read(fd, &info, sizeof info) == sizeof info ? (int)info.ssi_signo : 0;
}

uint32_t process_raise_fd_limit(void)
{
    const rlim_t wanted = CONNS_MAX + FDS_RESERVED;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return CONNS_MAX;
    limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    setrlimit(RLIMIT_NOFILE, &limit);
    rlim_t reserved = limit.rlim_cur > 2 * FDS_RESERVED ? FDS_RESERVED : limit.rlim_cur / 2;
    return (uint32_t)(limit.rlim_cur - reserved);
}

_Noreturn void process_leave(const struct net_callbacks *callbacks)
{
    log_error("a call has not ended %d ms after it was cancelled: the process ends without it",
              STOP_STUCK_MS);
    if (callbacks->worker_leaving)
        callbacks->worker_leaving(callbacks->ctx);
    fflush(NULL);
    _exit(0);
}

void child_set_name(const char *name)
{
    char title[16]; /* the kernel keeps no more */
    log_set_name(name);
    snprintf(title, sizeof title, "tenon %s", name);
    prctl(PR_SET_NAME, title);
}

void child_beat(const struct child *child)
{
    child->board->beats[child->slot]++;
}

void child_is_ready(const struct child *child)
{
    const uint64_t one = 1;
    child_beat(child); /* what came before does not count as standing still */
    child->board->ready[child->slot] = true;
    if (write(child->notify, &one, sizeof one) != sizeof one)
        log_warn("the supervisor cannot be told that all is ready");
}
