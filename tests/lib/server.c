/* tests/lib/server.c - see server.h. */
#include "tests/lib/server.h"
#include "tests/lib/tap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define START_MS 10000
#define STOP_MS  10000

int64_t server_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void pause_ms(int ms)
{
    poll(NULL, 0, ms);
}

const char *server_binary(void)
{
    const char *path = getenv("TENON");
    return path ? path : "build/tenon";
}

bool server_dir(struct server *s)
{
    *s = (struct server){0};
    strcpy(s->dir, "/tmp/tenon-test-XXXXXX");
    if (!mkdtemp(s->dir))
        return false;
    snprintf(s->data, sizeof s->data, "%s/data", s->dir);
    return true;
}

static void in_dir(const struct server *s, const char *name, char ret[128])
{
    snprintf(ret, 128, "%s/%s", s->dir, name);
}

static void log_to(const struct server *s)
{
    char path[128];
    in_dir(s, "log", path);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    int null = open("/dev/null", O_RDONLY);
    if (fd < 0 || null < 0)
        _exit(126);
    dup2(null, 0);
    dup2(fd, 1);
    dup2(fd, 2);
}

int server_sh(struct server *s, const char *command)
{
    pid_t pid = fork();
    if (pid == 0) {
        log_to(s);
        setenv("TENON", server_binary(), 1);
        setenv("DATA", s->data, 1);
        execl("/bin/sh", "sh", "-e", "-c", command, (char *)NULL);
        _exit(127);
    }
    int status;
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
        return -1;
    return WEXITSTATUS(status);
}

static bool write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        close(fd);
    return ok;
}

void server_set_clock(struct server *s, int64_t ms_ahead)
{
    char path[128], next[132], text[32];
    in_dir(s, "clock", path);
    snprintf(next, sizeof next, "%s.new", path);
    snprintf(text, sizeof text, "%lld\n", (long long)ms_ahead);
    if (write_file(next, text))
        rename(next, path); /* a reader never sees half a number */
}

static void run_serve(struct server *s, const char *config, const char *flags, bool clock)
{
    char path[128], port_file[128], clock_file[128];
    const char *argv[64] = {server_binary(), "serve",       "--data",           s->data,
                            "--listen",      "127.0.0.1:0", "--metrics-listen", "off"};
    int n = 8;
    in_dir(s, "port", port_file);
    if (!s->is_limited)
        argv[n++] = "--no-rate-limit";
    argv[n++] = "--port-file";
    argv[n++] = port_file;
    in_dir(s, "config.json", path);
    if (config) {
        argv[n++] = "--config";
        argv[n++] = path;
    }
    char *words = strdup(flags ? flags : "--workers 2");
    for (char *word = strtok(words, " "); word && n < 63; word = strtok(NULL, " "))
        argv[n++] = word;
    argv[n] = NULL;
    in_dir(s, "clock", clock_file);
    if (clock)
        setenv("TENON_CLOCK_FILE", clock_file, 1);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    log_to(s);
    execv(argv[0], (char **)argv);
    _exit(127);
}

static bool read_port(struct server *s)
{
    char path[128], text[32] = {0};
    in_dir(s, "port", path);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0 || !strchr(text, '\n'))
        return false;
    const char *digits = strrchr(text, ':');
    s->port = (uint16_t)atoi(digits ? digits + 1 : text);
    return s->port != 0;
}

bool server_start(struct server *s, const char *config, const char *flags, bool clock)
{
    char path[128];
    in_dir(s, "config.json", path);
    if (config && !write_file(path, config))
        return false;
    if (clock)
        server_set_clock(s, 0);
    in_dir(s, "port", path);
    unlink(path);
    s->pid = fork();
    if (s->pid == 0)
        run_serve(s, config, flags, clock);
    for (int64_t end = server_now_ms() + START_MS; server_now_ms() < end;) {
        if (read_port(s))
            return true;
        if (waitpid(s->pid, NULL, WNOHANG) == s->pid) {
            s->pid = 0;
            return false;
        }
        pause_ms(2);
    }
    server_kill(s);
    return false;
}

/* Of a server built with ASan and UBSan: also a worker that was restarted shows here. */
static bool sanitizer_complained(const struct server *s)
{
    char command[200];
    snprintf(command, sizeof command, "grep -qE 'Sanitizer|runtime error' %s/log", s->dir);
    return system(command) == 0;
}

bool server_stop(struct server *s)
{
    if (s->pid <= 0)
        return false;
    kill(s->pid, SIGTERM);
    for (int64_t end = server_now_ms() + STOP_MS; server_now_ms() < end;) {
        int status;
        if (waitpid(s->pid, &status, WNOHANG) == s->pid) {
            s->pid = 0;
            return WIFEXITED(status) && WEXITSTATUS(status) == 0 && !sanitizer_complained(s);
        }
        pause_ms(2);
    }
    server_kill(s);
    return false;
}

int server_children(pid_t parent, pid_t *ret, int max)
{
    DIR *proc = opendir("/proc");
    int n = 0;
    for (struct dirent *e; proc && n < max && (e = readdir(proc));) {
        char path[300], text[512] = {0};
        snprintf(path, sizeof path, "/proc/%s/stat", e->d_name);
        int fd = e->d_name[0] >= '1' && e->d_name[0] <= '9' ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        if (fd < 0)
            continue;
        ssize_t got = read(fd, text, sizeof text - 1);
        close(fd);
        char *after_name = got > 0 ? strrchr(text, ')') : NULL;
        int ppid;
        if (after_name && sscanf(after_name, ") %*c %d", &ppid) == 1 && ppid == parent)
            ret[n++] = atoi(e->d_name);
    }
    if (proc)
        closedir(proc);
    return n;
}

static bool is_keeper(pid_t pid)
{
    char path[64], name[64] = {0};
    snprintf(path, sizeof path, "/proc/%d/comm", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, name, sizeof name - 1);
    if (fd >= 0)
        close(fd);
    return n > 0 && strstr(name, "keeper");
}

int server_workers(const struct server *s, pid_t *ret, int max)
{
    pid_t children[128];
    int n = server_children(s->pid, children, 128), n_workers = 0;
    for (int i = 0; i < n && n_workers < max; i++) {
        if (!is_keeper(children[i]))
            ret[n_workers++] = children[i];
    }
    return n_workers;
}

/* The children are ours once their parent is gone. Waiting for their pids to be free instead takes
 * as long as the reaper of orphans does, which may be a second or two. */
static void reap(const pid_t *children, int n)
{
    int64_t end = server_now_ms() + STOP_MS;
    for (int i = 0; i < n; i++)
        while (waitpid(children[i], NULL, WNOHANG) == 0 && server_now_ms() < end)
            pause_ms(2);
}

/* Stopped first, so that no supervisor restarts a child in between. */
void server_kill(struct server *s)
{
    if (s->pid <= 0)
        return;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    kill(s->pid, SIGSTOP);
    pid_t children[128];
    int n = server_children(s->pid, children, 128);
    for (int i = 0; i < n; i++)
        kill(children[i], SIGKILL);
    kill(s->pid, SIGKILL);
    waitpid(s->pid, NULL, 0);
    reap(children, n);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    s->pid = 0;
}

void server_show_log(struct server *s)
{
    char path[128];
    in_dir(s, "log", path);
    FILE *f = fopen(path, "r");
    if (!f)
        return;
    if (fseek(f, -4000, SEEK_END) != 0)
        rewind(f);
    static char text[4001];
    size_t n = fread(text, 1, 4000, f);
    fclose(f);
    text[n] = 0;
    tap_note("server log:\n%s", text);
}

void server_remove(struct server *s)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", s->dir);
    if (s->dir[0] && system(command) != 0)
        tap_note("could not remove %s", s->dir);
    s->dir[0] = 0;
}
