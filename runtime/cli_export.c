/* cli_export.c - `tenon export`: a table as JSON array, NDJSON or CSV, as of one moment.
 *
 * Rows come in key order from one snapshot. A file appears only when it is complete: the text is
 * written beside it first. What was exported can be imported again.
 */
#include "base/err.h"
#include "cli_data.h"
#include "records.h"

#include <csv.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

struct export
{
    const struct table *table;
    enum record_format format;
    FILE *out;
    struct buf text; /* of one row or cell */
    uint64_t n_rows;
};

static int put(struct export *ex, struct str text)
{
    return fwrite(text.p, 1, text.n, ex->out) == text.n ? 0 : ERR_IO;
}

static int put_json_row(struct export *ex, const struct tape_node *row)
{
    bool array = ex->format == RECORDS_JSON;
    buf_clear(&ex->text);
    if (array)
        buf_add_str(&ex->text, ex->n_rows ? STR(",\n") : STR("\n"));
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

static int put_csv_row(struct export *ex, const struct tape_node *row)
{
    const struct table *table = ex->table;
    int err = 0;
    for (uint32_t i = 0; err == 0 && i < table->n_attributes; i++) {
        err = i ? put(ex, STR(",")) : 0;
        if (err == 0)
            err = row ? put_value(ex, tape_get(row, table->attributes[i].name))
                      : put_cell(ex, table->attributes[i].name);
    }
    return err ? err : put(ex, STR("\n"));
}

/* ---- the whole table ------------------------------------------------------------------------ */

static int put_row(void *ctx, const struct store_row *row)
{
    struct export *ex = ctx;
    int err = ex->format == RECORDS_CSV ? put_csv_row(ex, row->row) : put_json_row(ex, row->row);
    ex->n_rows += err == 0;
    return err;
}

static int put_table(struct export *ex, struct store_view *view)
{
    const struct store_range all = {0};
    int err = ex->format == RECORDS_CSV    ? put_csv_row(ex, NULL)
              : ex->format == RECORDS_JSON ? put(ex, STR("["))
                                           : 0;
    if (err == 0)
        err = store_scan_rows(view, ex->table->id, &all, put_row, ex);
    if (err == 0 && ex->format == RECORDS_JSON)
        err = put(ex, STR("\n]\n"));
    if (err == 0 && fflush(ex->out) != 0)
        err = ERR_IO;
    return err;
}

static int export(struct cli_data *data, struct export *ex, const char *path)
{
    struct store_view *view;
    int err = store_view_open(data->store, STORE_DATA, &view);
    if (err < 0)
        return cli_store_failed(data, path, err);
    errno = 0;
    err = put_table(ex, view);
    store_view_close(view);
    if (err == ERR_IO && errno)
        return cli_failed("%s: %s", path, strerror(errno));
    return err < 0 ? cli_store_failed(data, path, err) : CLI_DONE;
}

/* Writes "path.part" and gives it its name at the end. */
static int export_to_file(struct cli_data *data, struct export *ex, const char *path)
{
    struct str part = arena_printf(&data->arena, "%s.part", path);
    ex->out = part.p ? fopen(part.p, "wb") : NULL;
    if (!ex->out)
        return cli_failed("%s.part: %s", path, strerror(errno));
    int status = export(data, ex, path);
    if (fclose(ex->out) != 0 && status == CLI_DONE)
        status = cli_failed("%s: %s", path, strerror(errno));
    if (status == CLI_DONE && rename(part.p, path) != 0)
        status = cli_failed("%s: %s", path, strerror(errno));
    if (status != CLI_DONE)
        unlink(part.p);
    else
        printf("exported %llu rows to %s\n", (unsigned long long)ex->n_rows, path);
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
    struct export ex = {.table = &table, .out = stdout};
    cli_data_init(&data);
    int status = choose_format(args, &ex.format);
    if (status == 0)
        status = cli_data_open(&data, args, true);
    if (status == 0)
        status = cli_table_get(&data, args, &table);
    if (status == 0)
        status = args->operands[1] ? export_to_file(&data, &ex, args->operands[1])
                                   : export(&data, &ex, "standard output");
    buf_done(&ex.text);
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
