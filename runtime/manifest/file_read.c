/* manifest/file_read.c - answers resources/read and completion/complete by files.
 *
 * A file that is replaced while it is read (a new one renamed over it) is read to the end as it
 * was. One that is written into is read again, until it stands still for as long as that takes.
 */
#include "base/err.h"
#include "base/limits.h"
#include "base/log.h"
#include "manifest/file_parts.h"
#include "wire/json_scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READS_MAX  4 /* of a file that is written into meanwhile */
#define READ_BYTES (64u << 10)

/* ---- Contents ------------------------------------------------------------------------------- */

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec && a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
           a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* To its end, whatever size it was said to have. 0, an errno; EFBIG. */
static int read_to_end(int fd, size_t bytes_max, struct buf *out)
{
    buf_clear(out);
    for (;;) {
        if (!buf_reserve(out, READ_BYTES))
            return ENOMEM;
        ssize_t n = pread(fd, out->p + out->n, READ_BYTES, (off_t)out->n);
        if (n == 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return errno;
        out->n += n > 0 ? (size_t)n : 0;
        if (out->n > bytes_max)
            return EFBIG;
    }
}

static int read_quiet(int fd, struct stat *before, size_t bytes_max, struct buf *out)
{
    struct stat after;
    for (int i = 0; i < READS_MAX; i++) {
        int failed = before->st_size > (off_t)bytes_max ? EFBIG : read_to_end(fd, bytes_max, out);
        if (failed || fstat(fd, &after) < 0 || is_same(before, &after))
            return failed;
        *before = after;
    }
    return 0; /* it never rests: what it was */
}

static int read_file(const struct file_source *source, const char *path, struct buf *out)
{
    struct stat st;
    int fd;
    int failed = file_open_regular(source->root, path, &fd, &st);
    if (failed)
        return failed;
    failed = read_quiet(fd, &st, source->bytes_max, out);
    close(fd);
    return failed;
}

/* UTF-8 without NUL; a zero stands behind it. */
static bool is_text(const struct buf *bytes)
{
    const unsigned char *p = (const unsigned char *)bytes->p, *end = p + bytes->n;
    while (p < end) {
        unsigned n = *p < 0x80 ? *p != 0 : scan_utf8(p);
        if (!n)
            return false;
        p += n;
    }
    return true;
}

static int give(struct tenon_call *call, const struct file_source *source, struct str path,
                const struct buf *bytes)
{
    struct str type = source->mime_type.p ? source->mime_type : file_type_of(path);
    bool as_text = (!type.p || file_is_text_type(type)) && is_text(bytes);
    if (as_text)
        return tenon_contents_text(call, NULL, type.p ? type.p : "text/plain", bytes->p);
    return tenon_contents_blob(call, NULL, type.p ? type.p : "application/octet-stream", bytes->p,
                               bytes->n);
}

/* ---- Reading -------------------------------------------------------------------------------- */

static const char *get_variable(void *ctx, const char *variable)
{
    return tenon_variable(ctx, variable, 0);
}

static int fail(struct tenon_call *call, const struct file_source *source, int failed)
{
    static const int not_there[] = {ENOENT, ENOTDIR, ELOOP, EXDEV, ENXIO, ENAMETOOLONG, EISDIR};
    for (size_t i = 0; i < sizeof not_there / sizeof *not_there; i++)
        if (failed == not_there[i])
            return TENON_ERR_NOT_FOUND;
    if (failed == EFBIG)
        return tenon_fail(call, "The file is larger than %zu bytes", source->bytes_max);
    log_error("resource " STR_FMT ": a file below %s cannot be read: %s", STR_ARG(source->uri),
              source->root, strerror(failed));
    return failed == ENOMEM ? TENON_ERR_NO_MEMORY : tenon_fail(call, "The file cannot be read");
}

static int read_path(struct tenon_call *call, const struct file_source *source, struct str path)
{
    struct buf bytes = {0};
    if (!file_path_is_allowed(path, source->shows_hidden))
        return TENON_ERR_NOT_FOUND;
    int failed = read_file(source, path.p, &bytes);
    if (!failed) {
        buf_add_char(&bytes, '\0');
        bytes.n -= !bytes.failed;
        failed = bytes.failed ? ENOMEM : 0;
    }
    int err = failed ? fail(call, source, failed) : give(call, source, path, &bytes);
    buf_done(&bytes);
    return err;
}

/* A value ends with NUL, so one that holds another would be taken for a shorter one. */
static bool holds_nul(const char *uri)
{
    return uri && strstr(uri, "%00");
}

int file_read(struct tenon_call *call, void *ctx)
{
    const struct file_source *source = ctx;
    struct buf path = {0};
    if (source->template && holds_nul(tenon_uri(call)))
        return TENON_ERR_NOT_FOUND;
    int err = file_path_write(source, get_variable, call, &path);
    if (!err)
        err = read_path(call, source, buf_str(&path));
    else
        err = err == ERR_ABSENT ? TENON_ERR_NOT_FOUND : TENON_ERR_NO_MEMORY;
    buf_done(&path);
    return err;
}

/* ---- Completion ----------------------------------------------------------------------------- */

struct completing {
    struct tenon_call *call;
    const struct file_source *source;
    const char *variable;
    struct str before, behind; /* of a name: what stands around the variable in the last part */
    struct str typed;
    struct buf folder; /* the parts before the last one */
    char **names;      /* values that fit */
    size_t n, cap;
};

/* Only the last part of a path can be proposed; with a / in a value there is no one part. */
static const char *get_known(void *ctx, const char *variable)
{
    const struct completing *c = ctx;
    const char *value = tenon_context(c->call, variable);
    if (strcmp(variable, c->variable) == 0)
        return "*";
    return value && *value && !strchr(value, '/') ? value : NULL;
}

/* Cuts the path at the variable, for which a * stands. */
static bool split(struct completing *c, const struct buf *path)
{
    const struct placeholders *p = &c->source->path;
    const struct placeholder_part *v = NULL;
    uint32_t at = 0;
    for (uint32_t i = 0; i < p->n; i++)
        if (p->v[i].is_name && strcmp(p->v[i].text.p, c->variable) == 0) {
            if (v)
                return false;
            v = &p->v[at = i];
        }
    if (!v || at + 2 < p->n ||
        (at + 1 < p->n && memchr(p->v[at + 1].text.p, '/', p->v[at + 1].text.n)))
        return false;
    c->behind = at + 1 < p->n ? p->v[at + 1].text : STR("");
    size_t star = path->n - c->behind.n - 1, start = star;
    while (start && path->p[start - 1] != '/')
        start--;
    c->before = (struct str){path->p + start, (uint32_t)(star - start)};
    buf_add(&c->folder, path->p, start ? start - 1 : 0);
    buf_add_char(&c->folder, '\0');
    return !c->folder.failed;
}

static bool is_regular(int folder, const struct dirent *entry)
{
    struct stat st;
    if (entry->d_type != DT_UNKNOWN)
        return entry->d_type == DT_REG;
    return fstatat(folder, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
}

/* The variable's value in a name; absent: it does not fit. */
static struct str value_in(const struct completing *c, struct str name)
{
    struct str value = {name.p + c->before.n, name.n - c->before.n - c->behind.n};
    if (name.n <= c->before.n + c->behind.n || !str_starts_with(name, c->before) ||
        !str_eq((struct str){value.p + value.n, c->behind.n}, c->behind))
        return STR_NONE;
    return str_starts_with(value, c->typed) ? value : STR_NONE;
}

static bool keep(struct completing *c, struct str value)
{
    if (c->n == c->cap) {
        size_t cap = c->cap ? 2 * c->cap : 64;
        char **names = reallocarray(c->names, cap, sizeof *names);
        if (!names)
            return false;
        c->names = names;
        c->cap = cap;
    }
    c->names[c->n] = strndup(value.p, value.n);
    return c->names[c->n++] != NULL;
}

static bool is_utf8(struct str name)
{
    const struct buf text = {.p = (char *)(uintptr_t)name.p, .n = name.n};
    return is_text(&text);
}

/* False: no memory. */
static bool look_through(struct completing *c, DIR *dir)
{
    unsigned n_seen = 0;
    for (struct dirent *entry; n_seen < FILES_LISTED_MAX && (entry = readdir(dir)); n_seen++) {
        struct str name = str_of(entry->d_name), value = value_in(c, name);
        if (!value.p || !is_utf8(name) || !file_path_is_allowed(name, c->source->shows_hidden) ||
            !is_regular(dirfd(dir), entry))
            continue;
        if (!keep(c, value))
            return false;
    }
    return true;
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int propose(struct completing *c)
{
    int err = 0;
    if (c->n)
        qsort(c->names, c->n, sizeof *c->names, compare);
    for (size_t i = 0; !err && i < c->n; i++)
        err = tenon_complete(c->call, c->names[i]);
    return err;
}

static DIR *open_folder(const struct completing *c)
{
    int fd = -1;
    bool is_root = c->folder.n <= 1;
    if (is_root)
        fd = open(c->source->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    else if (file_path_is_allowed(str_of(c->folder.p), c->source->shows_hidden))
        file_open_beneath(c->source->root, c->folder.p, O_RDONLY | O_DIRECTORY, &fd);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir && fd >= 0)
        close(fd);
    return dir;
}

/* What cannot be listed has no proposals. */
static int complete(struct completing *c, const struct buf *path)
{
    if (!split(c, path))
        return 0;
    DIR *dir = open_folder(c);
    if (!dir)
        return 0;
    int err = look_through(c, dir) ? propose(c) : TENON_ERR_NO_MEMORY;
    closedir(dir);
    return err;
}

int file_complete(struct tenon_call *call, const char *variable, const char *value, void *ctx)
{
    struct completing c = {
        .call = call, .source = ctx, .variable = variable, .typed = str_of(value)};
    struct buf path = {0};
    int err = file_path_write(c.source, get_known, &c, &path);
    err = err == ERR_ABSENT ? 0 : err ? TENON_ERR_NO_MEMORY : complete(&c, &path);
    for (size_t i = 0; i < c.n; i++)
        free(c.names[i]);
    free(c.names);
    buf_done(&c.folder);
    buf_done(&path);
    return err;
}
