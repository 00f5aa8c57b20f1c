/* cli_import.c - `tenon import`: a file of records into a table, all or nothing.
 *
 * With --skip-bad or --reject bad records are left out; --reject keeps them in a file, each with
 * its line and the reason. The work is done by transfer.h; here is what people see of it. Ctrl-C
 * takes back what went in.
 */
#include "base/clock.h"
#include "base/err.h"
#include "cli_data.h"
#include "cli_stop.h"
#include "transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BAD_SHOWN_MAX 20
#define PROGRESS_MS   200

struct import {
    const struct cli_args *args;
    struct cli_data data;
    struct table table;
    struct transfer_import job;
    struct transfer_rename renames[CLI_GIVEN_MAX];
    struct transfer_prefix prefixes[CLI_GIVEN_MAX];
    const char *path;
    uint64_t n_told;
    const char *reject_path; /* NULL: none */
    struct transfer_output reject;
    struct buf line; /* for it */
    int reject_errno;
    int64_t progress_ms;
};

/* ---- What is told on the way ---------------------------------------------------------------- */

static int keep_reject(struct import *im, const struct transfer_fault *fault)
{
    buf_clear(&im->line);
    transfer_write_fault(fault, &im->line);
    if (im->line.failed)
        return ERR_NO_MEMORY;
    if (fwrite(im->line.p, 1, im->line.n, im->reject.file) == im->line.n)
        return 0;
    im->reject_errno = errno;
    return ERR_IO;
}

static int take_fault(void *ctx, const struct transfer_fault *fault)
{
    struct import *im = ctx;
    if (im->n_told++ < BAD_SHOWN_MAX)
        fprintf(stderr, "%s:%llu: %s\n", im->path, (unsigned long long)fault->line, fault->text);
    return im->reject.file ? keep_reject(im, fault) : 0;
}

/* Before the rows stay: bad records that could not be kept must not be lost. */
static int settle_reject(void *ctx)
{
    struct import *im = ctx;
    if (!im->reject.file || transfer_output_settle(&im->reject) == 0)
        return 0;
    im->reject_errno = errno;
    return ERR_IO;
}

static void take_kept(void *ctx, const struct store_refusal *refusal)
{
    struct import *im = ctx;
    struct buf row = {0};
    tape_write(refusal->content, &row);
    fprintf(stderr,
            "tenon: a row cannot become again what it was, and stays as the import wrote it; "
            "it was: " STR_FMT "\n",
            row.failed ? 0 : (int)row.n, row.p);
    buf_done(&row);
    (void)im;
}

static int progress(void *ctx, const struct transfer_progress *now)
{
    static const char *const phases[] = {[TRANSFER_CHECKS] = "checking",
                                         [TRANSFER_LOADS] = "loading",
                                         [TRANSFER_TAKES_BACK] = "taking back"};
    struct import *im = ctx;
    int64_t now_ms = clock_mono_ms();
    if (!isatty(STDERR_FILENO) || (!now->last && now_ms - im->progress_ms < PROGRESS_MS))
        return cli_stopped();
    im->progress_ms = now_ms;
    double share = now->total ? 100.0 * (double)now->bytes / (double)now->total : 100;
    fprintf(stderr, "\r%s: %llu records, %3.0f %%%s", phases[now->phase],
            (unsigned long long)now->rows, share > 100 ? 100 : share, now->last ? "\n" : "");
    return cli_stopped();
}

/* ---- What came of it ------------------------------------------------------------------------ */

static void tell_more_bad(const struct import *im)
{
    if (im->n_told > BAD_SHOWN_MAX)
        fprintf(stderr, "... and %llu more\n", (unsigned long long)(im->n_told - BAD_SHOWN_MAX));
}

static int tell_failure(struct import *im, int err)
{
    const struct transfer_import *job = &im->job;
    tell_more_bad(im);
    if (im->reject_errno)
        cli_failed("%s: %s", im->reject_path, strerror(im->reject_errno));
    else if (err == ERR_BUSY)
        return cli_failed("another import is running: nothing was imported");
    else if (err == ERR_CONFLICT)
        cli_failed("%s changed while it was read", im->path);
    else if (err == ERR_ABSENT)
        cli_failed("%s was dropped meanwhile", im->args->operands[0]);
    else if (err == ERR_CANCELLED)
        cli_failed("stopped");
    else if (err != ERR_SYNTAX)
        cli_store_failed(&im->data, im->args->operands[0], err);
    if (job->taking_back)
        return cli_failed("rows that went in could not be taken back yet (%s); a server, or the "
                          "next command that writes, will",
                          err_text(job->taking_back));
    if (job->n_kept)
        return cli_failed("nothing was imported, but %llu rows stay as the import wrote them: what "
                          "they were is in %s/import-kept.ndjson",
                          (unsigned long long)job->n_kept, im->data.config.data_dir);
    return cli_failed("nothing was imported");
}

/* The rows are there, whatever this says. */
static int name_reject(struct import *im)
{
    im->reject.keeps_part = true;
    if (!im->reject.file || transfer_output_commit(&im->reject) == 0)
        return CLI_DONE;
    if (!*im->reject.part)
        return cli_failed("%s: %s", im->reject_path, strerror(errno));
    return cli_failed("%s: %s; what should be in it is in %s", im->reject_path, strerror(errno),
                      im->reject.part);
}

static int tell_success(struct import *im)
{
    const struct transfer_import *job = &im->job;
    tell_more_bad(im);
    int status = name_reject(im);
    bool see = im->reject_path && status == CLI_DONE;
    printf("imported %llu rows into %s", (unsigned long long)job->n_rows, im->args->operands[0]);
    if (job->n_bad)
        printf(", left out %llu bad records%s%s", (unsigned long long)job->n_bad,
               see ? ", see " : "", see ? im->reject_path : "");
    putchar('\n');
    return status;
}

static int import(struct import *im)
{
    im->job.store = im->data.store;
    im->job.table = &im->table;
    im->job.progress = progress;
    im->job.fault = take_fault;
    im->job.kept = take_kept;
    im->job.ready = settle_reject;
    im->job.ctx = im;
    int err = transfer_import(&im->job);
    return err < 0 ? tell_failure(im, err) : tell_success(im);
}

/* ---- the command ---------------------------------------------------------------------------- */

/* OLD=NEW */
static bool read_rename(const char *text, struct transfer_rename *ret)
{
    ret->new = str_of(text);
    ret->old = str_cut(&ret->new, '=');
    return ret->old.n && ret->new.n;
}

/* NEW=ATTRIBUTE:END */
static bool read_prefix(const char *text, struct transfer_prefix *ret)
{
    ret->end = str_of(text);
    ret->name = str_cut(&ret->end, '=');
    ret->of = ret->end.p ? str_cut(&ret->end, ':') : STR_NONE;
    return ret->name.n && ret->of.n && ret->end.n;
}

static int read_rules(struct import *im)
{
    struct transfer_import *job = &im->job;
    for (uint32_t i = 0; i < im->args->n_given; i++) {
        const struct cli_given *g = &im->args->given[i];
        if (strcmp(g->option->name, "--rename") == 0 &&
            !read_rename(g->value, &im->renames[job->n_renames++]))
            return cli_usage(im->args->command, "--rename: expected OLD=NEW, found %s", g->value);
        if (strcmp(g->option->name, "--prefix") == 0 &&
            !read_prefix(g->value, &im->prefixes[job->n_prefixes++]))
            return cli_usage(im->args->command, "--prefix: expected NEW=ATTRIBUTE:END, found %s",
                             g->value);
    }
    job->renames = im->renames;
    job->prefixes = im->prefixes;
    return 0;
}

static int choose_format(struct import *im)
{
    struct transfer_import *job = &im->job;
    const char *format = cli_value(im->args, "--format");
    job->root = cli_value(im->args, "--root");
    if (record_format_of(format ? format : im->path, &job->format) < 0)
        return cli_usage(im->args->command,
                         format ? "--format: expected json, ndjson or csv, found %s"
                                : "the name %s does not tell the format: give --format",
                         format ? format : im->path);
    if (job->root && (job->format != RECORDS_JSON || (*job->root && *job->root != '/')))
        return cli_usage(im->args->command, "--root: a JSON pointer such as /data, for JSON only");
    return 0;
}

static int open_file(struct import *im)
{
    struct stat st;
    bool standard_input = strcmp(im->path, "-") == 0;
    FILE *file = standard_input ? stdin : fopen(im->path, "rb");
    im->job.file = file;
    if (!file || fstat(fileno(file), &st) < 0)
        return cli_failed("%s: %s", im->path, strerror(errno));
    if (S_ISDIR(st.st_mode))
        return cli_failed("%s: is a directory", im->path);
    im->job.file = transfer_rewindable(file);
    if (!standard_input && im->job.file != file)
        fclose(file);
    if (!im->job.file)
        return cli_failed("%s: no temporary copy: %s", im->path, strerror(errno));
    return 0;
}

static int open_reject(struct import *im)
{
    struct stat in, out;
    if (!im->reject_path)
        return 0;
    if (stat(im->reject_path, &out) == 0 && fstat(fileno(im->job.file), &in) == 0 &&
        in.st_ino == out.st_ino && in.st_dev == out.st_dev)
        return cli_usage(im->args->command, "--reject: %s is the file to be imported",
                         im->reject_path);
    if (transfer_output_open(&im->reject, AT_FDCWD, im->reject_path) < 0)
        return cli_failed("%s: %s", im->reject_path, strerror(errno));
    return 0;
}

static int run(const struct cli_args *args)
{
    struct import im = {
        .args = args, .path = args->operands[1], .reject_path = cli_value(args, "--reject")};
    im.job.replaces = cli_value(args, "--replace") != NULL;
    im.job.skips_bad = im.reject_path || cli_value(args, "--skip-bad");
    cli_data_init(&im.data);
    cli_stop_by_signals();
    int status = read_rules(&im);
    if (status == 0)
        status = choose_format(&im);
    if (status == 0)
        status = open_file(&im);
    if (status == 0)
        status = cli_data_open(&im.data, args, CLI_WRITES);
    if (status == 0)
        status = cli_table_get(&im.data, args, &im.table);
    if (status == 0)
        status = open_reject(&im);
    if (status == 0)
        status = import(&im);
    if (im.job.file && im.job.file != stdin)
        fclose(im.job.file);
    transfer_output_abort(&im.reject);
    buf_done(&im.line);
    cli_data_close(&im.data);
    return status;
}

static const struct cli_option options[] = {
    CLI_OPTION_CONFIG,
    CLI_OPTION_DATA,
    CLI_OPTION_MODE,
    {"--format", "json|ndjson|csv", "of the file (default: by the end of its name)", NULL},
    {"--root", "POINTER", "JSON: where the array stands in the document, such as /data", NULL},
    {"--replace", NULL, "rows whose primary key exists are overwritten", NULL},
    {"--skip-bad", NULL, "leave bad records out and import the rest", NULL},
    {"--reject", "OUT", "the same, and write them to OUT: NDJSON of line, reason and record", NULL},
    {"--rename", "OLD=NEW", "name of an attribute in the file, and in the table; repeatable", NULL},
    {"--prefix", "NEW=ATTRIBUTE:END",
     "a new attribute: the text of ATTRIBUTE before the first END; repeatable", NULL},
    CLI_OPTIONS_END,
};

const struct cli_command cli_import = {
    .name = "import",
    .operands = "DATABASE.TABLE FILE",
    .summary = "Import a JSON array, NDJSON or CSV file, all or nothing",
    .options = options,
    .notes = "FILE \"-\" is standard input. The first line of a CSV file names the attributes; an\n"
             "empty cell leaves its attribute out. A cell is read by the types that the schema\n"
             "of its attribute allows. CSV does not tell text from other values (quotes do not\n"
             "count, but for empty cells): where no type is said all is text, and where text and\n"
             "others are allowed, what reads as one of the others is one, so 7 is a number.\n"
             "A bad record is told as FILE:LINE with the reason, and then nothing is imported,\n"
             "unless --skip-bad or --reject is given: then records that are no rows of the\n"
             "table, and rows whose primary key or unique value is taken, are left out.\n"
             "`jq -c .record OUT` gives them back, to be mended.",
    .operands_min = 2,
    .operands_max = 2,
    .run = run,
};
