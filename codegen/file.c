/* codegen/file.c - whole files in and out; see file.h. */
#include "codegen/file.h"

#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK_BYTES = 64 << 10 };

int file_read(const char *path, struct buf *out)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return ERR_IO;
    size_t got = 1;
    while (got && buf_reserve(out, CHUNK_BYTES)) {
        got = fread(out->p + out->n, 1, CHUNK_BYTES, file);
        out->n += got;
    }
    int err = out->failed ? ERR_NO_MEMORY : ferror(file) ? ERR_IO : 0;
    int cause = errno;
    fclose(file);
    errno = cause;
    return err;
}

static bool holds_already(const char *path, struct str text)
{
    struct buf old = {0};
    bool same = file_read(path, &old) == 0 && str_eq(buf_str(&old), text);
    buf_done(&old);
    return same;
}

/* mkdir -p of everything before the last slash */
static int make_folders(const char *path)
{
    char folder[4096];
    if (strlen(path) >= sizeof folder) {
        errno = ENAMETOOLONG;
        return ERR_IO;
    }
    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        memcpy(folder, path, (size_t)(slash - path));
        folder[slash - path] = '\0';
        if (mkdir(folder, 0777) && errno != EEXIST)
            return ERR_IO;
    }
    return 0;
}

static int write_new(const char *path, struct str text)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        return ERR_IO;
    bool written = fwrite(text.p, 1, text.n, file) == text.n;
    return fclose(file) == 0 && written ? 0 : ERR_IO;
}

int file_write(const char *path, struct str text)
{
    if (holds_already(path, text))
        return 0;
    struct buf fresh = {0};
    buf_printf(&fresh, "%s.new", path);
    if (fresh.failed)
        return ERR_NO_MEMORY;
    int err = make_folders(path);
    if (!err)
        err = write_new(fresh.p, text);
    if (!err && rename(fresh.p, path))
        err = ERR_IO;
    if (err) {
        int cause = errno;
        unlink(fresh.p);
        errno = cause;
    }
    buf_done(&fresh);
    return err;
}
