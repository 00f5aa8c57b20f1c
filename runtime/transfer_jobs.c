/* transfer_jobs.c - imports and exports that a server runs for its operators; see
 * core/file_transfer.h.
 *
 * Clients name files, so names are plain, folders are opened without following links, and so are
 * files: nothing outside DIR/exports and DIR/imports is read or written. A file is a regular one; a
 * pipe would hold the job for ever.
 */
#include "transfer_jobs.h"

#include "base/err.h"
#include "transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FAULTS_KEPT 10

struct running {
    struct file_transfer *t;
    char name[TRANSFER_NAME_BYTES_MAX + 1];
    struct transfer_output rejects;
    struct buf line;
    uint64_t n_faults;
    int io_errno; /* of the rejects */
};

static int fail(struct file_transfer *t, int err, const char *what, const char *reason)
{
    t->why = arena_printf(t->arena, "%s: %s", what, reason);
    return err;
}

/* ---- Names and folders ---------------------------------------------------------------------- */

static bool is_plain(struct str name)
{
    if (name.n == 0 || name.n > TRANSFER_NAME_BYTES_MAX || name.p[0] == '.')
        return false;
    for (uint32_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
            c != '.' && c != '_' && c != '-')
            return false;
    }
    return true;
}

static int take_name(struct running *r, enum record_format *ret_format)
{
    struct file_transfer *t = r->t;
    if (!is_plain(t->name))
        return fail(t, ERR_PARAMS, "name", "letters, digits, . _ and - only, no dot in front");
    memcpy(r->name, t->name.p, t->name.n);
    r->name[t->name.n] = 0;
    if (record_format_of(r->name, ret_format) < 0)
        return fail(t, ERR_PARAMS, r->name, "must end in .json, .ndjson or .csv");
    return 0;
}

/* A folder of the data directory, made if it is not there. A descriptor, or -1. */
static int open_folder(const char *dir, const char *folder)
{
    int fd = -1;
    int above = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (above < 0)
        return -1;
    if (mkdirat(above, folder, 0700) == 0 || errno == EEXIST)
        fd = openat(above, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int why = errno;
    close(above);
    errno = why;
    return fd;
}

/* ---- Export --------------------------------------------------------------------------------- */

/* An import goes through its file twice, and its job from nothing to all once. Of rows that are
 * taken back the job tells nothing: it stays where the load ended. */
static uint64_t done_of(const struct transfer_progress *now)
{
    switch (now->phase) {
    case TRANSFER_CHECKS:
        return now->bytes / 2;
    case TRANSFER_LOADS:
        return (now->total + now->bytes) / 2;
    default:
        return now->rows;
    }
}

static int tell_progress(void *ctx, const struct transfer_progress *now)
{
    const struct file_transfer *t = ((struct running *)ctx)->t;
    if (now->phase == TRANSFER_TAKES_BACK)
        return 0;
    return t->progress(t->progress_ctx, done_of(now), now->total);
}

static int export_to(struct running *r, int folder, enum record_format format)
{
    struct file_transfer *t = r->t;
    struct transfer_output output;
    if (transfer_output_open(&output, folder, r->name) < 0)
        return fail(t, ERR_IO, r->name, strerror(errno));
    struct transfer_export job = {.store = t->store,
                                  .table = t->table,
                                  .out = output.file,
                                  .format = format,
                                  .progress = tell_progress,
                                  .ctx = r};
    int err = transfer_export(&job);
    if (err == ERR_IO && job.io_errno)
        fail(t, err, r->name, strerror(job.io_errno));
    if (err == 0 && transfer_output_commit(&output) < 0)
        err = fail(t, ERR_IO, r->name, strerror(errno));
    transfer_output_abort(&output);
    t->n_rows = job.n_rows;
    return err;
}

static int export_file(void *ctx, struct file_transfer *t)
{
    struct running r = {.t = t};
    enum record_format format;
    int err = take_name(&r, &format);
    if (err < 0)
        return err;
    int folder = open_folder(ctx, "exports");
    if (folder < 0)
        return fail(t, ERR_IO, "exports", strerror(errno));
    err = export_to(&r, folder, format);
    close(folder);
    return err;
}

/* ---- Import --------------------------------------------------------------------------------- */

static int take_fault(void *ctx, const struct transfer_fault *fault)
{
    struct running *r = ctx;
    buf_clear(&r->line);
    transfer_write_fault(fault, &r->line);
    if (r->line.failed)
        return ERR_NO_MEMORY;
    if (r->rejects.file && fwrite(r->line.p, 1, r->line.n, r->rejects.file) != r->line.n) {
        r->io_errno = errno;
        return ERR_IO;
    }
    if (r->n_faults++ >= FAULTS_KEPT || r->line.n > 4096)
        return 0;
    if (r->t->faults.n)
        buf_add_char(&r->t->faults, ',');
    buf_add(&r->t->faults, r->line.p, r->line.n - 1);
    return 0;
}

/* Before the rows stay: bad records that could not be kept must not be lost. */
static int settle_rejects(void *ctx)
{
    struct running *r = ctx;
    if (!r->rejects.file || transfer_output_settle(&r->rejects) == 0)
        return 0;
    r->io_errno = errno;
    return ERR_IO;
}

static FILE *open_import(int folder, const char *name)
{
    struct stat st;
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool fine = fd >= 0 && fstat(fd, &st) == 0;
    if (fine && !S_ISREG(st.st_mode)) {
        errno = EINVAL;
        fine = false;
    }
    FILE *file = fine ? fdopen(fd, "rb") : NULL;
    if (!file && fd >= 0) {
        int why = errno;
        close(fd);
        errno = why;
    }
    return file;
}

static const char *why_not(int err, const struct transfer_import *job)
{
    static const struct {
        int err;
        const char *text;
    } better[] = {
        {ERR_SYNTAX, "it has bad records; nothing was imported"},
        {ERR_BUSY, "another import is running"},
        {ERR_ABSENT, "the table was dropped meanwhile"},
        {ERR_CONFLICT, "the file changed while it was read; nothing was imported"},
    };
    if (job->taking_back)
        return "rows that went in could not be taken back yet, and will be";
    if (job->n_kept)
        return "nothing was imported, but some rows stay as it wrote them, for others have their "
               "unique values now: see import-kept.ndjson in the data directory";
    for (size_t i = 0; i < sizeof better / sizeof *better; i++)
        if (better[i].err == err)
            return better[i].text;
    return err_text(err);
}

static int import_from(struct running *r, FILE *file, enum record_format format)
{
    struct file_transfer *t = r->t;
    struct transfer_import job = {.store = t->store,
                                  .table = t->table,
                                  .file = file,
                                  .format = format,
                                  .replaces = t->replaces,
                                  .skips_bad = t->skips_bad,
                                  .progress = tell_progress,
                                  .fault = take_fault,
                                  .ready = settle_rejects,
                                  .ctx = r};
    int err = transfer_import(&job);
    t->n_rows = job.n_rows;
    t->n_bad = job.n_bad;
    t->n_kept = job.n_kept;
    if (err && r->io_errno)
        return fail(t, err, r->rejects.path, strerror(r->io_errno));
    return err ? fail(t, err, r->name, why_not(err, &job)) : 0;
}

/* The rows are there, so what has the bad records is told, under whatever name. */
static void name_rejects(struct running *r)
{
    struct file_transfer *t = r->t;
    r->rejects.keeps_part = true;
    if (transfer_output_commit(&r->rejects) < 0)
        t->rejects_why = arena_printf(t->arena, "%s: %s", r->rejects.path, strerror(errno));
    const char *name = t->rejects_why.p ? r->rejects.part : r->rejects.path;
    t->rejects = arena_printf(t->arena, "%s", name);
}

/* The bad records of NAME are in NAME.rejects, which is no name that can be imported by mistake. */
static int import_with_rejects(struct running *r, int folder, FILE *file, enum record_format format)
{
    struct file_transfer *t = r->t;
    struct str path = arena_printf(t->arena, "%s.rejects", r->name);
    if (!path.p)
        return ERR_NO_MEMORY;
    if (transfer_output_open(&r->rejects, folder, path.p) < 0)
        return fail(t, ERR_IO, path.p, strerror(errno));
    int err = import_from(r, file, format);
    if (err == 0)
        name_rejects(r);
    transfer_output_abort(&r->rejects);
    return err;
}

static int import_file(void *ctx, struct file_transfer *t)
{
    struct running r = {.t = t};
    enum record_format format;
    int err = take_name(&r, &format);
    if (err < 0)
        return err;
    int folder = open_folder(ctx, "imports");
    if (folder < 0)
        return fail(t, ERR_IO, "imports", strerror(errno));
    FILE *file = open_import(folder, r.name);
    if (!file)
        err = fail(t, ERR_PARAMS, r.name,
                   errno == EINVAL || errno == ELOOP ? "not a regular file" : strerror(errno));
    else if (t->skips_bad)
        err = import_with_rejects(&r, folder, file, format);
    else
        err = import_from(&r, file, format);
    if (file)
        fclose(file);
    close(folder);
    buf_done(&r.line);
    return err;
}

struct core_transfer transfer_jobs(const char *dir)
{
    return (struct core_transfer){
        .ctx = (void *)(uintptr_t)dir, .import_file = import_file, .export_file = export_file};
}
