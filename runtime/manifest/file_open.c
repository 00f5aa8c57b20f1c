/* manifest/file_open.c - opens files below a folder, and none that is not.
 *
 * Two walls. What a client asks for is looked at as text: no part of it may be "..", ".", or empty.
 * Then the kernel walks (openat2, RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS); where it has no such
 * call, or a sandbox forbids it, each part is opened by itself without following links.
 */
#include "manifest/file_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool part_is_allowed(struct str part, bool shows_hidden)
{
    if (!part.n || part.n > NAME_MAX || memchr(part.p, '\0', part.n))
        return false;
    if (part.p[0] != '.')
        return true;
    return shows_hidden && !str_eq(part, STR(".")) && !str_eq(part, STR(".."));
}

bool file_path_is_allowed(struct str path, bool shows_hidden)
{
    if (!path.p || path.n >= PATH_MAX)
        return false;
    while (path.p)
        if (!part_is_allowed(str_cut(&path, '/'), shows_hidden))
            return false;
    return true;
}

/* ---- Part by part --------------------------------------------------------------------------- */

static int open_part(int folder, struct str part, int flags)
{
    char name[NAME_MAX + 1];
    if (!part_is_allowed(part, true)) {
        errno = EXDEV;
        return -1;
    }
    memcpy(name, part.p, part.n);
    name[part.n] = '\0';
    return openat(folder, name, flags | O_NOFOLLOW | O_CLOEXEC);
}

int file_open_by_steps(int root, const char *path, int flags, int *ret_fd)
{
    struct str rest = str_of(path);
    int folder = dup(root);
    while (folder >= 0 && rest.p) {
        struct str part = str_cut(&rest, '/');
        int next = open_part(folder, part, rest.p ? O_PATH | O_DIRECTORY : flags);
        int failed = errno;
        close(folder);
        folder = next;
        errno = failed;
    }
    if (folder < 0)
        return errno;
    *ret_fd = folder;
    return 0;
}

/* ---- At once -------------------------------------------------------------------------------- */

static int open_at_once(int root, const char *path, int flags)
{
    const struct open_how how = {
        .flags = (unsigned)(flags | O_CLOEXEC),
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
    };
    return (int)syscall(SYS_openat2, root, path, &how, sizeof how);
}

int file_open_beneath(const char *root, const char *path, int flags, int *ret_fd)
{
    int folder = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return errno;
    int fd = file_path_is_allowed(str_of(path), true) ? open_at_once(folder, path, flags) : -1;
    int failed = fd < 0 ? errno : 0;
    if (!file_path_is_allowed(str_of(path), true))
        failed = EXDEV;
    else if (failed == ENOSYS || failed == EPERM)
        failed = file_open_by_steps(folder, path, flags, &fd);
    close(folder);
    if (!failed)
        *ret_fd = fd;
    return failed;
}

/* A FIFO without a writer would wait: O_NONBLOCK. */
int file_open_regular(const char *root, const char *path, int *ret_fd, struct stat *ret)
{
    int fd;
    int failed = file_open_beneath(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, &fd);
    if (failed)
        return failed;
    if (fstat(fd, ret) == 0 && S_ISREG(ret->st_mode)) {
        *ret_fd = fd;
        return 0;
    }
    close(fd);
    return ENXIO;
}
