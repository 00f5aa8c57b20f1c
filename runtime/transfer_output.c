/* transfer_output.c - a file that has its name only when all of it is on the disk; see transfer.h.
 *
 * It has no name at all while it is written, so that nothing is left of it whatever ends the
 * process. A nameless file cannot take the place of another one, so at the end it is first linked
 * under a name that nobody has, which then is renamed. Where the file system knows no nameless
 * files (or there is no /proc, by which they are linked) it has that other name from the start.
 */
#include "transfer.h"

#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRIES         16
#define FD_LINK_BYTES 32

static void name_fd(char out[FD_LINK_BYTES], int fd)
{
    snprintf(out, FD_LINK_BYTES, "/proc/self/fd/%d", fd);
}

/* A nameless file in the folder of the path, or -1. */
static int open_nameless(const struct transfer_output *o)
{
    char folder[sizeof o->path], link[FD_LINK_BYTES];
    strcpy(folder, o->path);
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = 0;
    int fd = openat(o->dir_fd, slash ? folder : ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    name_fd(link, fd);
    if (fd < 0 || access(link, F_OK) == 0)
        return fd;
    close(fd);
    return -1;
}

static int make_part(const struct transfer_output *o, const char *part)
{
    return openat(o->dir_fd, part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
}

static int link_part(const struct transfer_output *o, const char *part)
{
    char link[FD_LINK_BYTES];
    name_fd(link, fileno(o->file));
    return linkat(AT_FDCWD, link, o->dir_fd, part, AT_SYMLINK_FOLLOW);
}

/* Beside the path, under a name that nobody else has. What `make` returned, or -1 with errno. */
static int name_part(struct transfer_output *o,
                     int (*make)(const struct transfer_output *o, const char *part))
{
    char part[sizeof o->part];
    int made = -1;
    for (int i = 0; i < TRIES && made < 0; i++) {
        unsigned random;
        if (getrandom(&random, sizeof random, 0) != sizeof random)
            return -1;
        snprintf(part, sizeof part, "%s.%08x.part", o->path, random);
        made = make(o, part);
        if (made < 0 && errno != EEXIST)
            return -1;
    }
    if (made >= 0)
        strcpy(o->part, part);
    return made;
}

static void drop_part(struct transfer_output *o)
{
    if (*o->part)
        unlinkat(o->dir_fd, o->part, 0);
    *o->part = 0;
}

static int check_path(const struct transfer_output *o, const char *path)
{
    struct stat st;
    errno = strlen(path) >= sizeof o->path ? ENAMETOOLONG : 0;
    if (errno == 0 && fstatat(o->dir_fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0)
        errno = S_ISDIR(st.st_mode) ? EISDIR : 0;
    return errno == ENAMETOOLONG || errno == EISDIR ? ERR_IO : 0;
}

int transfer_output_open(struct transfer_output *o, int dir_fd, const char *path)
{
    *o = (struct transfer_output){.dir_fd = dir_fd};
    if (check_path(o, path) < 0)
        return ERR_IO;
    strcpy(o->path, path);
    int fd = open_nameless(o);
    if (fd < 0)
        fd = name_part(o, make_part);
    o->file = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (o->file)
        return 0;
    int why = errno;
    if (fd >= 0)
        close(fd);
    drop_part(o);
    errno = why;
    return ERR_IO;
}

int transfer_output_settle(struct transfer_output *o)
{
    if (ferror(o->file) || fflush(o->file) != 0 || fsync(fileno(o->file)) != 0)
        return ERR_IO;
    return *o->part || name_part(o, link_part) == 0 ? 0 : ERR_IO;
}

int transfer_output_commit(struct transfer_output *o)
{
    int err = transfer_output_settle(o), why = errno;
    fclose(o->file); /* all is on the disk, or it failed already */
    o->file = NULL;
    if (err == 0 && renameat(o->dir_fd, o->part, o->dir_fd, o->path) == 0) {
        *o->part = 0;
        return 0;
    }
    why = err ? why : errno;
    if (err || !o->keeps_part)
        drop_part(o);
    errno = why;
    return ERR_IO;
}

void transfer_output_abort(struct transfer_output *o)
{
    if (!o->file)
        return;
    fclose(o->file);
    o->file = NULL;
    drop_part(o);
}
