/* cli_table.c - `tenon table list|describe|drop`. What takes a definition: cli_table_define.c. */
#include "base/err.h"
#include "cli_data.h"

#include <stdio.h>
#include <unistd.h>

/* ---- list ----------------------------------------------------------------------------------- */

struct listing {
    struct store_view *view;
    uint32_t n;
};

static int print_table(void *ctx, const struct store_table *stored)
{
    struct listing *listing = ctx;
    uint64_t n_rows;
    int err = store_count_rows(listing->view, stored->id, &n_rows);
    if (err < 0)
        return err;
    printf(STR_FMT "." STR_FMT "\t%llu rows\n", STR_ARG(stored->database), STR_ARG(stored->name),
           (unsigned long long)n_rows);
    listing->n++;
    return 0;
}

static int list(struct cli_data *data)
{
    struct listing listing = {0};
    int err = store_view_open(data->store, STORE_DATA, &listing.view);
    if (err == 0) {
        err = store_scan_tables(listing.view, print_table, &listing);
        store_view_close(listing.view);
    }
    if (err < 0)
        return cli_store_failed(data, "table list", err);
    if (listing.n == 0)
        fprintf(stderr, "no tables in %s (tenon table create makes one)\n", data->config.data_dir);
    return CLI_DONE;
}

static int run_list(const struct cli_args *args)
{
    struct cli_data data;
    cli_data_init(&data);
    int status = cli_data_open(&data, args, CLI_READS);
    if (status == 0)
        status = list(&data);
    cli_data_close(&data);
    return status;
}

/* ---- describe ------------------------------------------------------------------------------- */

static int count_rows(struct cli_table *t, uint64_t *ret)
{
    struct store_view *view;
    int err = store_view_open(t->data.store, STORE_DATA, &view);
    if (err < 0)
        return err;
    err = store_count_rows(view, t->stored.id, ret);
    store_view_close(view);
    return err;
}

static int describe(struct cli_table *t, bool whole, struct buf *out)
{
    uint64_t n_rows;
    int err = count_rows(t, &n_rows);
    if (err < 0)
        return err;
    if (whole)
        buf_printf(out,
                   "{\"database\":\"" STR_FMT "\",\"table\":\"" STR_FMT
                   "\",\"rows\":%llu,\"version\":%llu,\"definition\":",
                   STR_ARG(t->stored.database), STR_ARG(t->stored.name), (unsigned long long)n_rows,
                   (unsigned long long)t->stored.version);
    err = manage_describe(&t->stored, out);
    if (whole)
        buf_add_char(out, '}');
    return err == 0 && out->failed ? ERR_NO_MEMORY : err;
}

static int run_describe(const struct cli_args *args)
{
    struct cli_table t;
    struct buf text = {0};
    int status = cli_table_open(&t, args, CLI_READS);
    if (status == 0) {
        int err = describe(&t, !cli_value(args, "--definition"), &text);
        if (err == 0)
            cli_print_json(buf_str(&text), stdout);
        status = err < 0 ? cli_manage_failed(&t, err) : cli_flush();
    }
    buf_done(&text);
    cli_table_close(&t);
    return status;
}

/* ---- drop ----------------------------------------------------------------------------------- */

static bool is_yes(const char *line)
{
    return line[0] == 'y' || line[0] == 'Y';
}

/* 0, or the exit status: a table goes with all its rows, so somebody has to say yes. */
static int confirm(const struct cli_args *args)
{
    char line[16] = "";
    if (cli_value(args, "--yes"))
        return 0;
    if (!isatty(STDIN_FILENO))
        return cli_usage(args->command, "give --yes to remove %s with its rows", args->operands[0]);
    printf("Remove %s with its rows? [y/N] ", args->operands[0]);
    fflush(stdout);
    if (!fgets(line, sizeof line, stdin) || !is_yes(line))
        return cli_failed("%s was left alone", args->operands[0]);
    return 0;
}

static int drop(struct cli_table *t)
{
    int err = manage_drop_table(&t->manage, t->stored.database, t->stored.name);
    if (err < 0)
        return cli_manage_failed(t, err);
    printf("dropped " STR_FMT "." STR_FMT "\n", STR_ARG(t->stored.database),
           STR_ARG(t->stored.name));
    return CLI_DONE;
}

static int run_drop(const struct cli_args *args)
{
    struct cli_table t;
    int status = cli_table_open(&t, args, CLI_WRITES);
    if (status == 0)
        status = confirm(args);
    if (status == 0)
        status = drop(&t);
    cli_table_close(&t);
    return status;
}

/* ---- their descriptions --------------------------------------------------------------------- */

static const struct cli_option list_options[] = {
    CLI_OPTION_CONFIG,
    CLI_OPTION_DATA,
    CLI_OPTIONS_END,
};

static const struct cli_option describe_options[] = {
    CLI_OPTION_CONFIG,
    CLI_OPTION_DATA,
    {"--definition", NULL, "only the definition, as tenon table alter takes it", NULL},
    CLI_OPTIONS_END,
};

static const struct cli_option drop_options[] = {
    CLI_OPTION_CONFIG,
    CLI_OPTION_DATA,
    {"--yes", NULL, "do not ask", NULL},
    CLI_OPTIONS_END,
};

const struct cli_command cli_table_list = {
    .name = "table list",
    .operands = "",
    .summary = "List the tables and how many rows each has",
    .options = list_options,
    .run = run_list,
};

const struct cli_command cli_table_describe = {
    .name = "table describe",
    .operands = "DATABASE.TABLE",
    .summary = "Print a table's definition with its indexes, its rows and its version",
    .options = describe_options,
    .notes = "To change a table: describe it with --definition into a file, edit that, and give it "
             "to\ntenon table alter.",
    .operands_min = 1,
    .operands_max = 1,
    .run = run_describe,
};

const struct cli_command cli_table_drop = {
    .name = "table drop",
    .operands = "DATABASE.TABLE",
    .summary = "Remove a table with its rows",
    .options = drop_options,
    .operands_min = 1,
    .operands_max = 1,
    .run = run_drop,
};
