/* cli_export.c - `tenon export`: a table as JSON array, NDJSON or CSV, as of one moment.
 *
 * What was exported can be imported again. A file appears only when it is complete; Ctrl-C leaves
 * nothing. The work is done by transfer.h.
 */
#include "base/err.h"
#include "cli_data.h"
#include "cli_stop.h"
#include "transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static int progress(void *ctx, const struct transfer_progress *now)
{
    (void)ctx;
    (void)now;
    return cli_stopped();
}

static int export(struct cli_data *data, struct transfer_export *job, const char *path)
{
    job->store = data->store;
    job->progress = progress;
    int err = transfer_export(job);
    if (err == ERR_IO && job->io_errno)
        return cli_failed("%s: %s", path, strerror(job->io_errno));
    if (err == ERR_CANCELLED)
        return cli_failed("stopped: nothing was exported");
    return err < 0 ? cli_store_failed(data, path, err) : CLI_DONE;
}

static int export_to_file(struct cli_data *data, struct transfer_export *job, const char *path)
{
    struct transfer_output output;
    if (transfer_output_open(&output, AT_FDCWD, path) < 0)
        return cli_failed("%s: %s", path, strerror(errno));
    job->out = output.file;
    int status = export(data, job, path);
    if (status == CLI_DONE && transfer_output_commit(&output) < 0)
        status = cli_failed("%s: %s", path, strerror(errno));
    transfer_output_abort(&output);
    if (status == CLI_DONE)
        printf("exported %llu rows to %s\n", (unsigned long long)job->n_rows, path);
    return status;
}

static int choose_format(const struct cli_args *args, enum record_format *ret)
{
    const char *format = cli_value(args, "--format"), *path = args->operands[1];
    *ret = RECORDS_JSON;
    if (format && record_format_of(format, ret) < 0)
        return cli_usage(args->command, "--format: expected json, ndjson or csv, found %s", format);
    if (!format && path && record_format_of(path, ret) < 0)
        return cli_usage(args->command, "the name %s does not tell the format: give --format",
                         path);
    return 0;
}

static int run(const struct cli_args *args)
{
    struct cli_data data;
    struct table table;
    struct transfer_export job = {.table = &table, .out = stdout};
    cli_data_init(&data);
    cli_stop_by_signals();
    int status = choose_format(args, &job.format);
    if (status == 0)
        status = cli_data_open(&data, args, CLI_READS);
    if (status == 0)
        status = cli_table_get(&data, args, &table);
    if (status == 0)
        status = args->operands[1] ? export_to_file(&data, &job, args->operands[1])
                                   : export(&data, &job, "standard output");
    cli_data_close(&data);
    return status;
}

static const struct cli_option options[] = {
    CLI_OPTION_CONFIG,
    CLI_OPTION_DATA,
    {"--format", "json|ndjson|csv", "of the output (default: by the end of FILE's name, else json)",
     NULL},
    CLI_OPTIONS_END,
};

const struct cli_command cli_export = {
    .name = "export",
    .operands = "DATABASE.TABLE [FILE]",
    .summary = "Export a table as of now, to standard output or FILE",
    .options = options,
    .notes = "CSV holds the attributes that the table's definition names.",
    .operands_min = 1,
    .operands_max = 2,
    .run = run,
};
