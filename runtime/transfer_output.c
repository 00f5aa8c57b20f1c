/* transfer_output.c - a file that has its name only when all of it is on the disk; see transfer.h.
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

#define TRIES 16

/* Beside the path, under a name that nobody else has. */
static int open_part(struct transfer_output *o)
{
    int fd = -1;
    for (int i = 0; i < TRIES && fd < 0; i++) {
        unsigned random;
        if (getrandom(&random, sizeof random, 0) != sizeof random)
            return -1;
        snprintf(o->part, sizeof o->part, "%s.%08x.part", o->path, random);
        fd = openat(o->dir_fd, o->part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            return -1;
    }
    return fd;
}

int transfer_output_open(struct transfer_output *o, int dir_fd, const char *path)
{
    *o = (struct transfer_output){.dir_fd = dir_fd};
    if (strlen(path) >= sizeof o->path) {
        errno = ENAMETOOLONG;
        return ERR_IO;
    }
    strcpy(o->path, path);
    int fd = open_part(o);
    o->file = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (o->file)
        return 0;
    int why = errno;
    if (fd >= 0) {
        close(fd);
        unlinkat(dir_fd, o->part, 0);
    }
    errno = why;
    return ERR_IO;
}

int transfer_output_commit(struct transfer_output *o)
{
    FILE *file = o->file;
    bool whole = !ferror(file) && fflush(file) == 0 && fsync(fileno(file)) == 0;
    int why = errno;
    o->file = NULL;
    if (fclose(file) != 0 && whole) {
        why = errno;
        whole = false;
    }
    if (whole && renameat(o->dir_fd, o->part, o->dir_fd, o->path) == 0)
        return 0;
    why = whole ? errno : why;
    unlinkat(o->dir_fd, o->part, 0);
    errno = why;
    return ERR_IO;
}

void transfer_output_abort(struct transfer_output *o)
{
    if (!o->file)
        return;
    fclose(o->file);
    o->file = NULL;
    unlinkat(o->dir_fd, o->part, 0);
}
