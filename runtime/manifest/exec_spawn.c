/* manifest/exec_spawn.c - starts a command and ends it with all that it started.
 *
 * vfork, because a worker may be large, and has many threads: the child does nothing but system
 * calls until it is another program. It leads a session of its own, so it has no terminal, and one
 * signal reaches all that it starts.
 *
 * A worker that is killed cannot end its commands. Of the command itself the kernel takes care
 * (PR_SET_PDEATHSIG); of what that has started, the guard: a process that holds nothing but the
 * read end of a pipe, from which it learns of each group that begins (its number) and is over (the
 * negative). When the pipe ends, so do the groups that are left.
 */
#include "base/limits.h"
#include "base/log.h"
#include "manifest/exec_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIRST_FREE_FD 3
#define FDS_OF_OLD    1024 /* what programs expect that use select() */
#define GROUPS_MAX    (2 * EXEC_RUNNING_MAX)
#define EXIT_NO_START 127

/* ---- Between fork and exec: system calls only ------------------------------------------------ */

static void close_from(unsigned first)
{
    struct rlimit limit = {0};
    if (syscall(SYS_close_range, first, ~0u, 0) == 0)
        return;
    getrlimit(RLIMIT_NOFILE, &limit);
    for (rlim_t fd = first; fd < limit.rlim_max; fd++)
        close((int)fd);
}

/* Of a guard that is gone a SIGPIPE waits: being blocked it was not ignored. Ignoring it anew drops
 * it. */
static void reset_signals(void)
{
    sigset_t none;
    signal(SIGPIPE, SIG_IGN);
    for (int i = 1; i < NSIG; i++)
        signal(i, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* A worker has raised it for its connections. */
static void lower_fd_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur <= FDS_OF_OLD)
        return;
    limit.rlim_cur = FDS_OF_OLD;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* ---- The guard ------------------------------------------------------------------------------ */

static pthread_mutex_t guard_mutex = PTHREAD_MUTEX_INITIALIZER;
static int guard_fd = -1; /* of this process, */
static pid_t guard_of;    /* not of the one that it was forked from */
static pid_t guard_pid;

static void note_group(pid_t groups[GROUPS_MAX], pid_t said)
{
    const pid_t old = said > 0 ? 0 : -said, new = said > 0 ? said : 0;
    for (int i = 0; i < GROUPS_MAX; i++)
        if (groups[i] == old) {
            groups[i] = new;
            return;
        }
}

_Noreturn static void be_guard(int fd)
{
    pid_t groups[GROUPS_MAX] = {0}, said;
    int null = open("/dev/null", O_RDWR);
    prctl(PR_SET_NAME, "tenon guard");
    for (int i = 0; i < FIRST_FREE_FD; i++)
        dup2(null, i);
    dup2(fd, FIRST_FREE_FD);
    close_from(FIRST_FREE_FD + 1);
    for (ssize_t n; (n = read(FIRST_FREE_FD, &said, sizeof said)) != 0;)
        if (n == sizeof said)
            note_group(groups, said);
        else if (errno != EINTR)
            break;
    for (int i = 0; i < GROUPS_MAX; i++)
        if (groups[i])
            kill(-groups[i], SIGKILL);
    _exit(0);
}

static int move_up(int fd)
{
    if (fd < 0 || fd >= FIRST_FREE_FD)
        return fd;
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
    close(fd);
    return moved;
}

/* Above 0, 1 and 2, which may be closed in a server. */
static bool open_pipe(int fds[2])
{
    if (pipe2(fds, O_CLOEXEC) < 0) {
        fds[0] = fds[1] = -1;
        return false;
    }
    fds[0] = move_up(fds[0]);
    fds[1] = move_up(fds[1]);
    return fds[0] >= 0 && fds[1] >= 0;
}

void exec_close(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void set_blocking(int fd, bool blocks)
{
    int flags = fcntl(fd, F_GETFL);
    fcntl(fd, F_SETFL, blocks ? flags & ~O_NONBLOCK : flags | O_NONBLOCK);
}

/* A server may be started with its children's ends ignored; their status would be lost. */
static void want_status(void)
{
    struct sigaction action;
    if (sigaction(SIGCHLD, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
        signal(SIGCHLD, SIG_DFL);
}

/* Under the mutex. A pipe that is full because the guard stands still must not stop a command. */
static void start_guard(void)
{
    int fds[2];
    pid_t pid = -1;
    guard_of = getpid();
    exec_close(&guard_fd);
    want_status();
    if (open_pipe(fds))
        pid = fork();
    if (pid == 0)
        be_guard(fds[0]);
    exec_close(&fds[0]);
    if (pid < 0) {
        exec_close(&fds[1]);
        log_warn("no guard of commands (%s): if this process is killed, what they have started "
                 "runs on",
                 strerror(errno));
        return;
    }
    set_blocking(fds[1], false);
    guard_fd = fds[1];
    guard_pid = pid;
}

static int get_guard(void)
{
    pthread_mutex_lock(&guard_mutex);
    if (guard_of != getpid())
        start_guard();
    int fd = guard_fd;
    pthread_mutex_unlock(&guard_mutex);
    return fd;
}

/* False: the guard is gone. Otherwise what it does not hear is lost; the kernel still ends the
 * command itself. */
static bool tell_guard(int fd, pid_t said)
{
    return fd < 0 || write(fd, &said, sizeof said) >= 0 || errno != EPIPE;
}

/* The next command gets another one. Its pipe is closed, so it ends now if it has not yet. */
static void lose_guard(int fd)
{
    pthread_mutex_lock(&guard_mutex);
    if (fd == guard_fd) {
        log_warn("the guard of commands is gone; there will be another one");
        exec_close(&guard_fd);
        guard_of = 0;
        while (waitpid(guard_pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    pthread_mutex_unlock(&guard_mutex);
}

/* ---- Starting ------------------------------------------------------------------------------- */

struct start {
    const struct exec *exec;
    char *const *argv;
    int fds[3], guard;
    pid_t parent;
    volatile int failed; /* errno */
};

_Noreturn static void become(struct start *s)
{
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != s->parent)
        _exit(EXIT_NO_START);
    tell_guard(s->guard, getpid());
    for (int i = 0; i < 3; i++)
        dup2(s->fds[i], i);
    close_from(FIRST_FREE_FD);
    lower_fd_limit();
    reset_signals();
    if (chdir(s->exec->folder) == 0)
        execve(s->exec->program, s->argv, s->exec->environment);
    s->failed = errno;
    _exit(EXIT_NO_START);
}

/* No handler of ours may run in the child, which has our memory. */
__attribute__((noinline)) static pid_t start(struct start *s)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t pid = vfork();
    if (pid == 0)
        become(s);
    int failed = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = failed;
    return pid;
}

struct pipes {
    int in[2], out[2], err[2];
};

static void close_pipes(struct pipes *p)
{
    int *const all[] = {p->in, p->out, p->err};
    for (int i = 0; i < 3; i++) {
        exec_close(&all[i][0]);
        exec_close(&all[i][1]);
    }
}

static bool open_pipes(struct pipes *p, bool wants_in)
{
    bool ok = open_pipe(p->out) && open_pipe(p->err);
    if (ok && wants_in)
        return open_pipe(p->in);
    p->in[0] = ok ? move_up(open("/dev/null", O_RDONLY | O_CLOEXEC)) : -1;
    return p->in[0] >= 0;
}

static void take_ours(struct pipes *p, struct exec_child *child)
{
    child->in = p->in[1];
    child->out = p->out[0];
    child->err = p->err[0];
    p->in[1] = p->out[0] = p->err[0] = -1;
    set_blocking(child->out, false);
    set_blocking(child->err, false);
    if (child->in >= 0)
        set_blocking(child->in, false);
}

static int run(struct pipes *p, struct start *s, struct exec_child *ret)
{
    pid_t pid = start(s);
    if (pid < 0)
        return errno;
    *ret = (struct exec_child){.pid = pid};
    take_ours(p, ret);
    ret->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (ret->pidfd >= 0 && ret->pidfd < FIRST_FREE_FD)
        ret->pidfd = move_up(ret->pidfd);
    if (s->failed)
        exec_bury(ret);
    return s->failed;
}

int exec_spawn(const struct exec *exec, char *const *argv, struct exec_child *ret)
{
    struct pipes p = {{-1, -1}, {-1, -1}, {-1, -1}};
    if (!open_pipes(&p, exec->wants_arguments)) {
        int failed = errno;
        close_pipes(&p);
        return failed;
    }
    struct start s = {
        .exec = exec,
        .argv = argv,
        .fds = {p.in[0], p.out[1], p.err[1]},
        .guard = get_guard(),
        .parent = getpid(),
    };
    int failed = run(&p, &s, ret);
    close_pipes(&p);
    return failed;
}

/* ---- Ending --------------------------------------------------------------------------------- */

void exec_signal(const struct exec_child *child, int signal)
{
    kill(-child->pid, signal);
}

bool exec_has_ended(const struct exec_child *child)
{
    siginfo_t info = {0};
    int err = waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT);
    return err == 0 ? info.si_pid == child->pid : errno == ECHILD;
}

/* As long as it is not waited for, nobody else gets its number. */
int exec_bury(struct exec_child *child)
{
    int status = 0;
    exec_signal(child, SIGKILL);
    int guard = get_guard();
    if (!tell_guard(guard, -child->pid))
        lose_guard(guard);
    while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
        ;
    exec_close(&child->in);
    exec_close(&child->out);
    exec_close(&child->err);
    exec_close(&child->pidfd);
    return status;
}
