/* auth/fetch_file.c - see fetch.h. */
#include "auth/fetch.h"

#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int refuse(const char *why, char ret_why[FETCH_WHY_BYTES])
{
    snprintf(ret_why, FETCH_WHY_BYTES, "%s", why);
    return ERR_IO;
}

static struct fetch_mark mark_of(const struct stat *st)
{
    return (struct fetch_mark){
        .device = st->st_dev,
        .inode = st->st_ino,
        .size = (uint64_t)st->st_size,
        .mtime_s = st->st_mtim.tv_sec,
        .mtime_ns = st->st_mtim.tv_nsec,
        .ctime_s = st->st_ctim.tv_sec,
        .ctime_ns = st->st_ctim.tv_nsec,
    };
}

static int read_all(int fd, struct buf *out, char ret_why[FETCH_WHY_BYTES])
{
    char chunk[8192];
    ssize_t n;
    while ((n = read(fd, chunk, sizeof chunk)) > 0)
        buf_add(out, chunk, (size_t)n);
    if (n < 0)
        return refuse(strerror(errno), ret_why);
    return out->failed ? refuse("too large", ret_why) : 0;
}

/* Who may write it decides whom the server believes. */
static int read_open(int fd, struct fetch_mark *mark, struct buf *out,
                     char ret_why[FETCH_WHY_BYTES])
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return refuse(strerror(errno), ret_why);
    if (!S_ISREG(st.st_mode))
        return refuse("no plain file", ret_why);
    if (st.st_mode & S_IWOTH)
        return refuse("everybody may write it", ret_why);
    struct fetch_mark now = mark_of(&st);
    if (memcmp(&now, mark, sizeof now) == 0)
        return FETCH_SAME;
    int err = read_all(fd, out, ret_why);
    if (err == 0)
        *mark = now;
    return err;
}

int fetch_file(const char *path, struct fetch_mark *mark, struct buf *out,
               char ret_why[FETCH_WHY_BYTES])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return refuse(strerror(errno), ret_why);
    int err = read_open(fd, mark, out, ret_why);
    close(fd);
    return err;
}
