/* cli_table.c - `tenon table create|list|drop`. */
#include "base/err.h"
#include "base/json_tree.h"
#include "cli_data.h"
#include "core/manage.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- create --------------------------------------------------------------------------------- */

static int read_file(const char *path, struct buf *out)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return ERR_IO;
    size_t n;
    do {
        if (!buf_reserve(out, 4096))
            break;
        n = fread(out->p + out->n, 1, 4096, file);
        out->n += n;
    } while (n);
    int err = ferror(file) ? ERR_IO : out->failed ? ERR_TOO_LARGE : 0;
    fclose(file);
    return err;
}

/* The line of the value that an RFC 6901 pointer names, or of the nearest value around it. */
static uint32_t line_at(const struct json *value, struct str pointer)
{
    str_cut(&pointer, '/');
    while (pointer.p) {
        struct str token = str_cut(&pointer, '/');
        const struct json *below = json_get(value, token);
        if (!below)
            break;
        value = below;
    }
    return value->line;
}

/* Reads and judges the definition; faults are told by line. */
static int load_definition(const char *path, struct arena *arena, struct buf *text,
                           struct table *ret)
{
    struct json *tree;
    struct json_error error;
    struct schema_faults faults;
    text->limit = DEFINITION_BYTES_MAX;
    if (read_file(path, text) < 0)
        return cli_failed("%s: cannot be read, or is larger than 1 MiB", path);
    if (json_tree_parse(buf_str(text), arena, &tree, &error) < 0)
        return cli_failed("%s:%u: %s", path, error.line, error.text);
    int err = table_parse(buf_str(text), arena, ret, &faults);
    if (err == ERR_NO_MEMORY)
        return cli_failed("%s: %s", path, err_text(err));
    if (err < 0)
        return cli_failed("%s:%u: %s: %s, expected %s", path,
                          line_at(tree, str_of(faults.v[0].pointer)),
                          *faults.v[0].pointer ? faults.v[0].pointer : "the definition",
                          faults.v[0].keyword, faults.v[0].expected);
    return 0;
}

static int create(struct cli_data *data, const struct cli_args *args, struct str definition)
{
    struct manage m = {.store = data->store, .arena = &data->arena};
    struct str database, name;
    int status = cli_table_name(args, args->operands[0], &database, &name);
    if (status)
        return status;
    int err = manage_create_table(&m, database, name, definition);
    if (err == ERR_EXISTS && cli_value(args, "--if-missing"))
        return CLI_DONE;
    if (err == ERR_EXISTS)
        return cli_failed("%s is there already (tenon table drop removes it)", args->operands[0]);
    if (err < 0)
        return cli_store_failed(data, args->operands[0], err);
    printf("created %s\n", args->operands[0]);
    return CLI_DONE;
}

static int run_create(const struct cli_args *args)
{
    struct cli_data data;
    struct buf text = {0};
    struct table table;
    struct str ignored;
    cli_data_init(&data);
    int status = cli_table_name(args, args->operands[0], &ignored, &ignored);
    if (status == 0)
        status = load_definition(args->operands[1], &data.arena, &text, &table);
    if (status == 0)
        status = cli_data_open(&data, args, false);
    if (status == 0)
        status = create(&data, args, buf_str(&text));
    cli_data_close(&data);
    buf_done(&text);
    return status;
}

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
    int status = cli_data_open(&data, args, true);
    if (status == 0)
        status = list(&data);
    cli_data_close(&data);
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

static int drop(struct cli_data *data, const struct cli_args *args)
{
    struct manage m = {.store = data->store, .arena = &data->arena};
    struct str database, name;
    int status = cli_table_name(args, args->operands[0], &database, &name);
    if (status)
        return status;
    int err = manage_drop_table(&m, database, name);
    if (err < 0)
        return cli_store_failed(data, args->operands[0], err);
    printf("dropped %s\n", args->operands[0]);
    return CLI_DONE;
}

static int run_drop(const struct cli_args *args)
{
    struct cli_data data;
    struct table table;
    cli_data_init(&data);
    int status = cli_data_open(&data, args, false);
    if (status == 0)
        status = cli_table_get(&data, args, &table);
    if (status == 0)
        status = confirm(args);
    if (status == 0)
        status = drop(&data, args);
    cli_data_close(&data);
    return status;
}

/* ---- their descriptions --------------------------------------------------------------------- */

static const struct cli_option create_options[] = {
    CLI_OPTION_CONFIG, CLI_OPTION_DATA,
    CLI_OPTION_MODE,   {"--if-missing", NULL, "do nothing if the table is there already", NULL},
    CLI_OPTIONS_END,
};
static const struct cli_option list_options[] = {
    CLI_OPTION_CONFIG,
    CLI_OPTION_DATA,
    CLI_OPTIONS_END,
};

static const struct cli_option drop_options[] = {
    CLI_OPTION_CONFIG,
    CLI_OPTION_DATA,
    {"--yes", NULL, "do not ask", NULL},
    CLI_OPTIONS_END,
};

const struct cli_command cli_table_create = {
    .name = "table create",
    .operands = "DATABASE.TABLE FILE",
    .summary = "Create a table from its definition",
    .options = create_options,
    .notes = "FILE holds one JSON object:\n"
             "  {\"title\": \"...\", \"description\": \"...\",\n"
             "   \"primaryKey\": \"code\",\n"
             "   \"indexed\": [\"region\"],\n"
             "   \"schema\": {\"type\": \"object\", \"properties\": {...}, \"required\": [...]}}\n"
             "primaryKey is an attribute of type string or integer; title, description and indexed "
             "may be left out.",
    .operands_min = 2,
    .operands_max = 2,
    .run = run_create,
};

const struct cli_command cli_table_list = {
    .name = "table list",
    .operands = "",
    .summary = "List the tables and how many rows each has",
    .options = list_options,
    .run = run_list,
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
