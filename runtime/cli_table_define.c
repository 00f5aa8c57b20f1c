/* cli_table_define.c - `tenon table create|alter`: what takes a definition. Its faults are told by
 * file and line.
 */
#include "base/err.h"
#include "base/json_tree.h"
#include "base/limits.h"
#include "cli_data.h"
#include "cli_progress.h"

#include <stdio.h>

/* ---- The file ------------------------------------------------------------------------------- */

struct definition {
    const char *path;
    struct buf text;
    struct json *tree;
    struct table table;
};

static int tell_fault(const struct definition *d, const struct schema_fault *fault)
{
    return cli_failed(
        "%s:%u: %s: %s, expected %s", d->path, json_at(d->tree, str_of(fault->pointer))->line,
        *fault->pointer ? fault->pointer : "the definition", fault->keyword, fault->expected);
}

/* Reads and judges it, before a database is opened. */
static int load_definition(struct definition *d, struct arena *arena)
{
    struct json_error error;
    struct schema_faults faults = {0};
    d->text.limit = 2 * DEFINITION_BYTES_MAX; /* what is larger than one is told as such */
    if (json_file_read(d->path, &d->text, &error) < 0)
        return cli_failed("%s: %s", d->path, error.text);
    if (json_tree_parse(buf_str(&d->text), arena, &d->tree, &error) < 0)
        return cli_failed("%s:%u: %s", d->path, error.line, error.text);
    int err = table_parse(buf_str(&d->text), arena, &d->table, &faults);
    if (err < 0 && faults.n == 0)
        return cli_failed("%s: %s", d->path, err_text(err));
    return err < 0 ? tell_fault(d, &faults.v[0]) : 0;
}

/* ---- create --------------------------------------------------------------------------------- */

static int create(struct cli_table *t, const struct cli_args *args, const struct definition *d)
{
    int err =
        manage_create_table(&t->manage, t->stored.database, t->stored.name, buf_str(&d->text));
    if (err == ERR_EXISTS && cli_value(args, "--if-missing"))
        return CLI_DONE;
    if (err == ERR_EXISTS)
        return cli_failed("%s is there already (tenon table alter changes it, tenon table drop "
                          "removes it)",
                          args->operands[0]);
    if (err < 0)
        return cli_manage_failed(t, err);
    printf("created %s\n", args->operands[0]);
    return CLI_DONE;
}

static int run_create(const struct cli_args *args)
{
    struct cli_table t = {0};
    struct definition d = {.path = args->operands[1]};
    cli_data_init(&t.data);
    int status = cli_table_name(args, args->operands[0], &t.stored.database, &t.stored.name);
    if (status == 0)
        status = load_definition(&d, &t.data.arena);
    if (status == 0)
        status = cli_data_open(&t.data, args, CLI_WRITES);
    t.manage = (struct manage){.store = t.data.store, .arena = &t.data.arena};
    if (status == 0)
        status = create(&t, args, &d);
    cli_table_close(&t);
    buf_done(&d.text);
    return status;
}

/* ---- alter ---------------------------------------------------------------------------------- */

/* "geo.places: 12 rows do not fit the new definition:" and the first of them. */
static int tell_broken(const struct cli_table *t, const char *table)
{
    const struct manage_broken *broken = &t->manage.broken;
    uint64_t n_shown = broken->n < MANAGE_BROKEN_SHOWN ? broken->n : MANAGE_BROKEN_SHOWN;
    for (uint64_t i = 0; i < n_shown; i++)
        fprintf(stderr, "row " STR_FMT ": %s: %s, expected %s\n", STR_ARG(broken->v[i].key),
                broken->v[i].fault.pointer, broken->v[i].fault.keyword,
                broken->v[i].fault.expected);
    if (broken->n > n_shown)
        fprintf(stderr, "... and %llu more\n", (unsigned long long)(broken->n - n_shown));
    return cli_failed("%s: %llu %s not fit the new definition: nothing was changed", table,
                      (unsigned long long)broken->n, broken->n == 1 ? "row does" : "rows do");
}

static int alter(struct cli_table *t, const struct cli_args *args, const struct definition *d)
{
    struct cli_progress progress;
    struct manage *m = &t->manage;
    m->progress = cli_progress_tell;
    m->ctx = &progress;
    cli_progress_start(&progress);
    int err = manage_alter_table(m, t->stored.database, t->stored.name, buf_str(&d->text));
    cli_progress_end(&progress);
    if (err < 0 && m->broken.n)
        return tell_broken(t, args->operands[0]);
    if (err < 0 && m->faults.n)
        return tell_fault(d, &m->faults.v[0]);
    if (err < 0)
        return cli_manage_failed(t, err);
    printf("altered %s\n", args->operands[0]);
    return CLI_DONE;
}

static int run_alter(const struct cli_args *args)
{
    struct cli_table t;
    struct definition d = {.path = args->operands[1]};
    int status = cli_table_open(&t, args, CLI_WRITES);
    if (status == 0)
        status = load_definition(&d, &t.data.arena);
    if (status == 0)
        status = alter(&t, args, &d);
    cli_table_close(&t);
    buf_done(&d.text);
    return status;
}

/* ---- Their descriptions --------------------------------------------------------------------- */

static const struct cli_option create_options[] = {
    CLI_OPTION_CONFIG, CLI_OPTION_DATA,
    CLI_OPTION_MODE,   {"--if-missing", NULL, "do nothing if the table is there already", NULL},
    CLI_OPTIONS_END,
};

static const struct cli_option alter_options[] = {
    CLI_OPTION_CONFIG,
    CLI_OPTION_DATA,
    CLI_OPTION_MODE,
    CLI_OPTIONS_END,
};

static void print_definition(FILE *out)
{
    fputs(
        "\nFILE holds one JSON object:\n"
        "  {\"title\": \"...\", \"description\": \"...\",\n"
        "   \"primaryKey\": \"code\",\n"
        "   \"indexes\": [{\"name\": \"by_region\", \"on\": [\"region\", \"-population\"]},\n"
        "               {\"on\": [\"code3\"], \"unique\": true}],\n"
        "   \"attributes\": {\"note\": {\"hidden\": true}, \"changed\": {\"role\": "
        "\"updatedTime\"}},\n"
        "   \"schema\": {\"type\": \"object\", \"properties\": {...}, \"required\": [...]}}\n"
        "primaryKey is an attribute of type string or integer; schema is a JSON Schema of a row.\n"
        "All else may be left out:\n"
        "  indexes     searches go by them. A minus turns an attribute's order round, a dot leads\n"
        "              into an object; unique refuses rows with the same values. \"indexed\":\n"
        "              [\"region\"] is short for indexes of one attribute each\n"
        "  mcp         false: no client of the application profile ever sees the table\n"
        "  attributes  for each: hidden (clients never see it), nullable (null is allowed too),\n"
        "              role createdTime, updatedTime or version (the server sets it), default\n"
        "              {\"value\": ...}, \"uuid\", \"now\" or \"today\" (where a new row lacks "
        "it)\n",
        out);
}

static void print_alter_notes(FILE *out)
{
    fputs(
        "\nAll rows have to fit the new definition, else nothing is changed and the first that do "
        "not are\ntold. The primary key stays; indexes are made and dropped by tenon index. The "
        "table can be used\nmeanwhile. Ctrl-C stops it and changes nothing.\n",
        out);
    print_definition(out);
}

const struct cli_command cli_table_create = {
    .name = "table create",
    .operands = "DATABASE.TABLE FILE",
    .summary = "Create a table from its definition",
    .options = create_options,
    .print_notes = print_definition,
    .operands_min = 2,
    .operands_max = 2,
    .run = run_create,
};

const struct cli_command cli_table_alter = {
    .name = "table alter",
    .operands = "DATABASE.TABLE FILE",
    .summary = "Give a table another definition, which all its rows fit",
    .options = alter_options,
    .print_notes = print_alter_notes,
    .operands_min = 2,
    .operands_max = 2,
    .run = run_alter,
};
