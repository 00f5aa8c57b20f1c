/* store/secret.c - DIR/secret: 32 bytes that all processes on a directory share, mode 0600.
 *
 * The first who asks makes it, whole under another name and then linked: of several processes one
 * wins, and nobody ever reads half of it. A secret that others may read is refused, not used.
 */
#include "store/internal.h"

#include "base/err.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECRET_BYTES 32

static int err_of_errno(void)
{
    return errno == EACCES || errno == EROFS || errno == EPERM ? ERR_STORE_READ_ONLY
           : errno == ENOSPC || errno == EDQUOT                ? ERR_STORE_FULL
                                                               : ERR_IO;
}

static int write_draft(const char *draft)
{
    unsigned char secret[SECRET_BYTES];
    if (getrandom(secret, sizeof secret, 0) != sizeof secret)
        return ERR_IO;
    int fd = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_of_errno();
    bool whole = write(fd, secret, sizeof secret) == sizeof secret && fsync(fd) == 0;
    int err = whole ? 0 : err_of_errno();
    close(fd);
    return err;
}

static int make_secret(const char *path)
{
    char draft[PATH_MAX + 64];
    unsigned char random[8];
    if (getrandom(random, sizeof random, 0) != sizeof random)
        return ERR_IO;
    snprintf(draft, sizeof draft, "%s.%02x%02x%02x%02x%02x%02x%02x%02x", path, random[0], random[1],
             random[2], random[3], random[4], random[5], random[6], random[7]);
    int err = write_draft(draft);
    if (!err && link(draft, path) && errno != EEXIST)
        err = err_of_errno();
    unlink(draft);
    return err;
}

static int check_file(int fd, const char *path)
{
    struct stat st;
    if (fstat(fd, &st))
        return ERR_IO;
    if (!S_ISREG(st.st_mode) || st.st_size != SECRET_BYTES) {
        log_error("%s: not a secret of %d bytes; remove it to have a new one made", path,
                  SECRET_BYTES);
        return ERR_STORE_DAMAGED;
    }
    if (st.st_mode & (S_IRWXG | S_IRWXO)) {
        log_error("%s: others may read it (mode %04o); chmod 600 it, or remove it to have a new "
                  "one made",
                  path, (unsigned)(st.st_mode & 07777));
        return ERR_FORBIDDEN;
    }
    return 0;
}

static int read_secret(const char *path, unsigned char ret[SECRET_BYTES])
{
    unsigned char secret[SECRET_BYTES];
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? ERR_ABSENT : err_of_errno();
    int err = check_file(fd, path);
    if (!err && read(fd, secret, sizeof secret) != sizeof secret)
        err = ERR_IO;
    close(fd);
    if (!err)
        memcpy(ret, secret, sizeof secret);
    return err;
}

int directory_secret(struct directory *d, bool read_only, unsigned char ret[SECRET_BYTES])
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/secret", directory_path(d));
    int err = read_secret(path, ret);
    if (err != ERR_ABSENT)
        return err;
    err = read_only ? ERR_STORE_READ_ONLY : make_secret(path);
    return err ? err : read_secret(path, ret);
}
