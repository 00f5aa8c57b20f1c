/* transfer_export.c - a table as JSON array, NDJSON or CSV; see transfer.h.
 *
 * Rows come in key order from one view. As long as a view stands, pages that writers replace cannot
 * be used again, and the database grows by what is written meanwhile. So it stands while rows go to
 * a file (a million rows in two or three seconds), and never while a pipe is read: what goes to one
 * is written to a nameless file first. Ending the view now and then would be of no use: the export
 * would be of many moments.
 */
#include "transfer.h"

#include "base/err.h"

#include <csv.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROGRESS_ROWS 1000

struct export
{
    struct transfer_export *job;
    const struct table *table;
    enum record_format format;
    FILE *out;
    struct buf text; /* of one row or cell */
    uint64_t total;  /* rows */
};

static int put(struct export *ex, struct str text)
{
    return fwrite_unlocked(text.p, 1, text.n, ex->out) == text.n ? 0 : ERR_IO;
}

static int put_json_row(struct export *ex, const struct tape_node *row)
{
    bool array = ex->format == RECORDS_JSON;
    buf_clear(&ex->text);
    if (array)
        buf_add_str(&ex->text, ex->job->n_rows ? STR(",\n") : STR("\n"));
    tape_write(row, &ex->text);
    if (!array)
        buf_add_char(&ex->text, '\n');
    return ex->text.failed ? ERR_NO_MEMORY : put(ex, buf_str(&ex->text));
}

/* ---- CSV: one column per attribute of the table's definition -------------------------------- */

static int put_cell(struct export *ex, struct str text)
{
    return csv_fwrite(ex->out, text.p, text.n) == 0 ? 0 : ERR_IO;
}

static int put_value(struct export *ex, const struct tape_node *value)
{
    if (!value || value->kind == TAPE_NULL)
        return 0; /* an empty cell */
    if (value->kind == TAPE_STR)
        return put_cell(ex, tape_str(value));
    buf_clear(&ex->text);
    tape_write(value, &ex->text);
    if (ex->text.failed)
        return ERR_NO_MEMORY;
    bool nested = value->kind == TAPE_ARRAY || value->kind == TAPE_OBJECT;
    return nested ? put_cell(ex, buf_str(&ex->text)) : put(ex, buf_str(&ex->text));
}

/* The header without a row. A version is never stored, so it has no column. */
static int put_csv_row(struct export *ex, const struct tape_node *row)
{
    const struct table *table = ex->table;
    bool first = true;
    int err = 0;
    for (uint32_t i = 0; err == 0 && i < table->n_attributes; i++) {
        const struct table_attribute *a = &table->attributes[i];
        if (a->role == ROLE_VERSION)
            continue;
        err = first ? 0 : put(ex, STR(","));
        first = false;
        if (err == 0)
            err = row ? put_value(ex, tape_get(row, a->name)) : put_cell(ex, a->name);
    }
    return err ? err : put(ex, STR("\n"));
}

/* ---- the whole table ------------------------------------------------------------------------ */

static int tell_progress(struct export *ex, bool last)
{
    struct transfer_export *job = ex->job;
    const struct transfer_progress now = {
        .phase = TRANSFER_WRITES, .rows = job->n_rows, .total = ex->total, .last = last};
    return job->progress && job->progress(job->ctx, &now) ? ERR_CANCELLED : 0;
}

static int put_row(void *ctx, const struct store_row *row)
{
    struct export *ex = ctx;
    int err = ex->format == RECORDS_CSV ? put_csv_row(ex, row->row) : put_json_row(ex, row->row);
    ex->job->n_rows += err == 0;
    if (err == 0 && ex->job->n_rows % PROGRESS_ROWS == 0)
        err = tell_progress(ex, false);
    return err;
}

static int put_table(struct export *ex, struct store_view *view)
{
    int err = ex->format == RECORDS_CSV    ? put_csv_row(ex, NULL)
              : ex->format == RECORDS_JSON ? put(ex, STR("["))
                                           : 0;
    if (err == 0)
        err = store_scan_rows(view, ex->table->id, NULL, put_row, ex);
    if (err == 0 && ex->format == RECORDS_JSON)
        err = put(ex, STR("\n]\n"));
    if (err == 0 && fflush(ex->out) != 0)
        err = ERR_IO;
    return err ? err : tell_progress(ex, true);
}

static int write_all(struct export *ex)
{
    struct store_view *view;
    int err = store_view_open(ex->job->store, STORE_DATA, &view);
    if (err < 0)
        return err;
    err = store_count_rows(view, ex->table->id, &ex->total);
    errno = 0;
    if (err == 0)
        err = put_table(ex, view);
    ex->job->io_errno = err == ERR_IO ? errno : 0;
    store_view_close(view);
    return err;
}

/* ---- where it goes -------------------------------------------------------------------------- */

static bool is_on_disk(FILE *out)
{
    struct stat st;
    return fstat(fileno(out), &st) == 0 && S_ISREG(st.st_mode);
}

static int copy(struct export *ex, FILE *from, FILE *to)
{
    char piece[65536];
    size_t n = 0;
    int err = 0;
    rewind(from);
    errno = 0;
    while (err == 0 && (n = fread(piece, 1, sizeof piece, from)) > 0) {
        if (fwrite(piece, 1, n, to) != n)
            err = ERR_IO;
        else
            err = tell_progress(ex, false);
    }
    if (err == 0 && (ferror(from) || fflush(to) != 0))
        err = ERR_IO;
    ex->job->io_errno = err == ERR_IO ? errno : 0;
    return err;
}

static int write_by_copy(struct export *ex)
{
    FILE *out = ex->out;
    ex->out = tmpfile();
    if (!ex->out) {
        ex->job->io_errno = errno;
        return ERR_IO;
    }
    int err = write_all(ex);
    if (err == 0)
        err = copy(ex, ex->out, out);
    fclose(ex->out);
    return err;
}

int transfer_export(struct transfer_export *job)
{
    struct export ex = {.job = job, .table = job->table, .format = job->format, .out = job->out};
    job->n_rows = 0;
    job->io_errno = 0;
    int err = is_on_disk(job->out) ? write_all(&ex) : write_by_copy(&ex);
    buf_done(&ex.text);
    return err;
}
