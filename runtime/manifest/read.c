/* manifest/read.c - the files that a manifest is made of: read beneath its folder, and looked at
 * again to see whether they are others now. */
#include "base/err.h"
#include "manifest/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int64_t changed_ns(const struct stat *st)
{
    return st->st_mtim.tv_sec * INT64_C(1000000000) + st->st_mtim.tv_nsec;
}

static bool is_same(const struct manifest_file *file, const struct stat *st)
{
    return file->dev == st->st_dev && file->ino == st->st_ino && file->size == st->st_size &&
           file->changed_ns == changed_ns(st);
}

/* Before it is opened: what changes it while it is read is then seen as a change. */
static int remember(struct manifest *m, struct str path)
{
    struct manifest_file *file = arena_zalloc(&m->arena, sizeof *file);
    struct stat st;
    if (!file)
        return ERR_NO_MEMORY;
    file->path = path;
    if (stat(path.p, &st) == 0) {
        file->dev = st.st_dev;
        file->ino = st.st_ino;
        file->size = st.st_size;
        file->changed_ns = changed_ns(&st);
    }
    file->next = m->files;
    m->files = file;
    return 0;
}

bool manifest_is_changed(const struct manifest *m)
{
    static const struct stat nothing;
    for (const struct manifest_file *file = m->files; file; file = file->next) {
        struct stat st;
        if (!is_same(file, stat(file->path.p, &st) == 0 ? &st : &nothing))
            return true;
    }
    return false;
}

/* Nothing above the folder, and no device or queue that would block. */
static int open_beneath(const struct manifest *m, const char *name)
{
    const struct open_how how = {
        .flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
    };
    struct stat st;
    int folder = open(m->path.p, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return -1;
    int fd = (int)syscall(SYS_openat2, folder, name, &how, sizeof how);
    int why = errno;
    close(folder);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        return fd;
    if (fd >= 0)
        close(fd);
    errno = fd >= 0 ? EINVAL : why;
    return -1;
}

static const char *why_not(int error)
{
    switch (error) {
    case EXDEV:
        return "expected a file below the folder";
    case EINVAL:
        return "expected a regular file";
    default:
        return strerror(error);
    }
}

static int refuse(struct manifest *m, const char *pointer, struct str name, const char *why)
{
    if (!pointer)
        return manifest_fault_at_line(m, 0, "", "%s", why);
    return manifest_fault(m, pointer, STR_FMT ": %s", STR_ARG(name), why);
}

static int read_all(int fd, struct buf *out)
{
    ssize_t n;
    do {
        n = buf_reserve(out, 8192) ? read(fd, out->p + out->n, 8192) : 0;
        out->n += n > 0 ? (size_t)n : 0;
    } while (n > 0);
    return n < 0 ? -1 : 0;
}

int manifest_read(struct manifest *m, struct str name, const char *pointer, size_t max_bytes,
                  struct buf *out)
{
    char limit[48];
    struct str path = arena_printf(&m->arena, STR_FMT "/" STR_FMT, STR_ARG(m->path), STR_ARG(name));
    int err = path.p ? remember(m, path) : ERR_NO_MEMORY;
    if (err < 0)
        return err;
    int fd = open_beneath(m, path.p + m->path.n + 1);
    if (fd < 0)
        return refuse(m, pointer, name, why_not(errno));
    out->limit = out->n + max_bytes + 8192;
    int failed = read_all(fd, out) < 0 ? errno : 0;
    close(fd);
    if (failed)
        return refuse(m, pointer, name, strerror(failed));
    snprintf(limit, sizeof limit, "expected at most %zu bytes", max_bytes);
    if (out->n > max_bytes || (out->failed && out->n > max_bytes - 8192))
        return refuse(m, pointer, name, limit);
    return out->failed ? ERR_NO_MEMORY : 0;
}
