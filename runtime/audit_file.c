/* audit_file.c - see audit_file.h. */
#include "audit_file.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define GATHER_NS \
    20000000              /* that lines wait for others, since each write costs some system calls */
#define COMPLAIN_MS 60000 /* between two lines of the log about the same trouble */

struct lines {
    char *p;
    size_t bytes;
    uint32_t n;
};

struct audit_file {
    struct audit audit; /* first */
    struct audit_file_config config;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
    /* under the lock */
    struct lines waiting;
    bool ends;
    uint32_t n_lost; /* not yet told by audit->write */
    uint32_t n_gap;  /* not yet told by a line */
    /* of the thread */
    struct lines taken;
    int fd; /* -1: not open */
    int64_t complain_at_ms;
};

/* ---- The file ------------------------------------------------------------------------------- */

static bool is_stderr(const struct audit_file_config *config)
{
    return !strcmp(config->path, "stderr");
}

static int open_file(const struct audit_file_config *config)
{
    struct stat st;
    int fd =
        open(config->path,
             O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        return fd;
    if (fd >= 0) {
        close(fd);
        errno = EINVAL;
    }
    return -1;
}

static void close_file(struct audit_file *f)
{
    if (f->fd >= 0)
        close(f->fd); /* and with it the lock */
    f->fd = -1;
}

/* Has the open file still its name? */
static bool is_current(const struct audit_file *f, struct stat *ret)
{
    struct stat named;
    return fstat(f->fd, ret) == 0 && lstat(f->config.path, &named) == 0 &&
           named.st_ino == ret->st_ino && named.st_dev == ret->st_dev;
}

/* The file that has the name, locked. */
static bool lock_current(struct audit_file *f, struct stat *ret)
{
    for (;;) {
        if (f->fd < 0)
            f->fd = open_file(&f->config);
        if (f->fd < 0)
            return false;
        while (flock(f->fd, LOCK_EX) < 0)
            if (errno != EINTR)
                return false;
        if (is_current(f, ret))
            return true;
        close_file(f);
    }
}

static void name_of(const struct audit_file *f, uint32_t i, char ret[4096])
{
    snprintf(ret, 4096, i ? "%s.%u" : "%s", f->config.path, i);
}

/* Under the lock of the full one: nobody else does it, since who waits for that lock finds
 * another file by that name. */
static void set_aside(struct audit_file *f)
{
    char from[4096], to[4096];
    name_of(f, f->config.keep, to);
    for (uint32_t i = f->config.keep; i > 0; i--) {
        name_of(f, i - 1, from);
        rename(from, to);
        memcpy(to, from, sizeof to);
    }
    if (f->config.keep == 0)
        unlink(f->config.path);
    close_file(f);
}

/* What a process that was killed within a line left: up to the last newline. */
static off_t heal(struct audit_file *f, off_t size)
{
    char end[AUDIT_LINE_BYTES];
    if (size == 0 || (pread(f->fd, end, 1, size - 1) == 1 && end[0] == '\n'))
        return size;
    off_t start = size > (off_t)sizeof end ? size - (off_t)sizeof end : 0;
    ssize_t n = pread(f->fd, end, (size_t)(size - start), start);
    while (n > 0 && end[n - 1] != '\n')
        n--;
    return n >= 0 && ftruncate(f->fd, start + n) == 0 ? start + n : size;
}

static bool append(struct audit_file *f, const char *p, size_t n)
{
    struct stat st;
    if (!lock_current(f, &st))
        return false;
    if (st.st_size > 0 && (uint64_t)st.st_size + n > f->config.max_bytes) {
        set_aside(f);
        if (!lock_current(f, &st))
            return false;
    }
    off_t size = heal(f, st.st_size);
    ssize_t written;
    while ((written = write(f->fd, p, n)) < 0 && errno == EINTR)
        ;
    bool ok = written == (ssize_t)n;
    if (!ok && written > 0 && ftruncate(f->fd, size) == 0)
        errno = ENOSPC; /* nothing, rather than half a line */
    int why = errno;
    flock(f->fd, LOCK_UN);
    errno = why;
    return ok;
}

/* ---- The thread ----------------------------------------------------------------------------- */

static bool put(struct audit_file *f, const char *p, size_t n)
{
    return is_stderr(&f->config) ? write(STDERR_FILENO, p, n) == (ssize_t)n : append(f, p, n);
}

static void lose(struct audit_file *f, uint32_t n)
{
    pthread_mutex_lock(&f->lock);
    f->n_lost += n;
    f->n_gap += n;
    pthread_mutex_unlock(&f->lock);
}

static void complain(struct audit_file *f)
{
    int64_t now_ms = clock_mono_ms();
    if (now_ms < f->complain_at_ms)
        return;
    f->complain_at_ms = now_ms + COMPLAIN_MS;
    log_error("the audit cannot be written, its lines are lost: %s", strerror(errno));
}

/* A line about those that are missing before the next ones. */
static bool put_gap(struct audit_file *f, uint32_t n)
{
    char text[200], time[CLOCK_TEXT_BYTES];
    clock_write_text(clock_wall_ms(), time);
    int bytes =
        snprintf(text, sizeof text,
                 "{\"time\":\"%s\",\"category\":\"mcp.audit\",\"status\":\"lost\",\"lines\":"
                 "%u}\n",
                 time, n);
    return put(f, text, (size_t)bytes);
}

/* As many whole lines as a file may hold. */
static size_t first_part(const struct audit_file *f, const char *p, size_t n)
{
    size_t most = f->config.max_bytes < n ? (size_t)f->config.max_bytes : n;
    const char *end = memrchr(p, '\n', most);
    if (!end)
        end = memchr(p, '\n', n);
    return end ? (size_t)(end - p) + 1 : n;
}

static uint32_t count_lines(const char *p, size_t n)
{
    uint32_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += p[i] == '\n';
    return count;
}

static void write_taken(struct audit_file *f, uint32_t n_gap)
{
    if (n_gap && !put_gap(f, n_gap)) {
        pthread_mutex_lock(&f->lock);
        f->n_gap += n_gap;
        pthread_mutex_unlock(&f->lock);
    }
    for (size_t at = 0; at < f->taken.bytes;) {
        size_t n = first_part(f, f->taken.p + at, f->taken.bytes - at);
        if (!put(f, f->taken.p + at, n)) {
            complain(f);
            lose(f, count_lines(f->taken.p + at, n));
        }
        at += n;
    }
}

static bool has_work(const struct audit_file *f)
{
    return f->ends || (f->waiting.bytes && !f->config.is_slow);
}

static bool is_half_full(const struct audit_file *f)
{
    return f->waiting.bytes >= AUDIT_RING_BYTES / 2;
}

/* Under the lock, which it gives back meanwhile. */
static void gather(struct audit_file *f)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += GATHER_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    while (!f->ends && !is_half_full(f) && pthread_cond_timedwait(&f->wake, &f->lock, &until) == 0)
        ;
}

static void *write_lines(void *arg)
{
    struct audit_file *f = arg;
    bool ends = false;
    while (!ends) {
        pthread_mutex_lock(&f->lock);
        while (!has_work(f))
            pthread_cond_wait(&f->wake, &f->lock);
        gather(f);
        struct lines empty = {.p = f->taken.p};
        uint32_t n_gap = f->n_gap;
        f->n_gap = 0;
        f->taken = f->waiting;
        f->waiting = empty;
        ends = f->ends;
        pthread_mutex_unlock(&f->lock);
        write_taken(f, n_gap);
    }
    return NULL;
}

/* ---- The port ------------------------------------------------------------------------------- */

/* The lock is held for as long as a line is copied, by the thread for less. */
static uint32_t take_line(struct audit *audit, struct str line)
{
    struct audit_file *f = (struct audit_file *)audit;
    pthread_mutex_lock(&f->lock);
    bool fits = !f->ends && f->waiting.bytes + line.n <= AUDIT_RING_BYTES;
    bool was_empty = f->waiting.bytes == 0, was_half = is_half_full(f);
    if (fits) {
        memcpy(f->waiting.p + f->waiting.bytes, line.p, line.n);
        f->waiting.bytes += line.n;
    }
    f->n_gap += !fits;
    uint32_t lost = f->n_lost + !fits;
    f->n_lost = 0;
    bool wakes = was_empty || was_half != is_half_full(f);
    pthread_mutex_unlock(&f->lock);
    if (fits && wakes)
        pthread_cond_signal(&f->wake);
    return lost;
}

int audit_file_check(const struct audit_file_config *config)
{
    int fd = is_stderr(config) ? dup(STDERR_FILENO) : open_file(config);
    if (fd < 0)
        return ERR_IO;
    close(fd);
    return 0;
}

static void free_all(struct audit_file *f)
{
    free(f->waiting.p);
    free(f->taken.p);
    free(f);
}

int audit_file_new(const struct audit_file_config *config, struct audit **ret)
{
    struct audit_file *f = calloc(1, sizeof *f);
    if (!f)
        return ERR_NO_MEMORY;
    f->audit.write = take_line;
    f->config = *config;
    f->fd = -1;
    f->waiting.p = malloc(AUDIT_RING_BYTES);
    f->taken.p = malloc(AUDIT_RING_BYTES);
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->wake, NULL);
    if (!f->waiting.p || !f->taken.p || pthread_create(&f->thread, NULL, write_lines, f) != 0) {
        free_all(f);
        return ERR_NO_MEMORY;
    }
    *ret = &f->audit;
    return 0;
}

void audit_file_settle(struct audit *audit)
{
    struct audit_file *f = (struct audit_file *)audit;
    pthread_mutex_lock(&f->lock);
    bool first = !f->ends;
    f->ends = true;
    pthread_cond_signal(&f->wake);
    pthread_mutex_unlock(&f->lock);
    if (first)
        pthread_join(f->thread, NULL);
}

void audit_file_free(struct audit *audit)
{
    struct audit_file *f = (struct audit_file *)audit;
    if (!f)
        return;
    audit_file_settle(audit);
    close_file(f);
    pthread_mutex_destroy(&f->lock);
    pthread_cond_destroy(&f->wake);
    free_all(f);
}
