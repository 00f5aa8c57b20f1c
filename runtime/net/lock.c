/* net/lock.c - see lock.h. */
#include "net/lock.h"

#include "base/err.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Orphans of a killed server need up to half a second to go (worker.c). */
#define ORPHANS_TRIES   40
#define ORPHANS_WAIT_MS 50

static pid_t read_pid(int fd)
{
    char text[24] = {0};
    return pread(fd, text, sizeof text - 1, 0) > 0 ? (pid_t)strtol(text, NULL, 10) : 0;
}

static void write_pid(int fd)
{
    char text[24];
    int n = snprintf(text, sizeof text, "%d\n", (int)getpid());
    if (ftruncate(fd, 0) < 0 || pwrite(fd, text, (size_t)n, 0) != n)
        log_warn("cannot write the process id into the lock file: %s", strerror(errno));
}

static bool is_alive(pid_t pid)
{
    return pid > 0 && (kill(pid, 0) == 0 || errno == EPERM);
}

static int wait_for_lock(int fd, const char *path)
{
    for (int i = 0; flock(fd, LOCK_EX | LOCK_NB) < 0; i++) {
        pid_t pid = read_pid(fd);
        if (is_alive(pid) || i == ORPHANS_TRIES) {
            log_error("%s: the data directory is in use by another server (process %d)", path,
                      (int)pid);
            return ERR_STORE_LOCKED;
        }
        poll(NULL, 0, ORPHANS_WAIT_MS);
    }
    return 0;
}

/* Container volumes are often so, hence no error. */
static void warn_if_open_to_all(const char *data_dir)
{
    struct stat st;
    if (stat(data_dir, &st) == 0 && st.st_mode & S_IWOTH)
        log_warn("%s: everybody on this machine may write to it, and so read and change all of "
                 "its data (chmod o-w ends that)",
                 data_dir);
}

int lock_take(const char *data_dir, int *ret_fd)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/serve.lock", data_dir);
    if (mkdir(data_dir, 0700) < 0 && errno != EEXIST) {
        log_error("%s: %s", data_dir, strerror(errno));
        return ERR_IO;
    }
    warn_if_open_to_all(data_dir);
    int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        log_error("%s: %s", path, strerror(errno));
        return ERR_IO;
    }
    int err = wait_for_lock(fd, path);
    if (err < 0) {
        close(fd);
        return err;
    }
    write_pid(fd);
    *ret_fd = fd;
    return 0;
}
