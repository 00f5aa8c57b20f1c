/* cli_index.c - `tenon index create|list|drop`, over core/manage.h. */
#include "base/err.h"
#include "cli_data.h"
#include "cli_progress.h"
#include "wire/json_write.h"

#include <stdio.h>

/* ---- create --------------------------------------------------------------------------------- */

/* An entry of "indexes" in a definition: {"name": ..., "on": ["region", "-population"], ...}. */
static void write_definition(const struct cli_args *args, struct buf *out)
{
    const char *name = cli_value(args, "--name");
    struct str rest = str_of(args->operands[1]);
    char before = '[';
    buf_add_char(out, '{');
    if (name) {
        buf_add_lit(out, "\"name\":");
        json_write_str(out, str_of(name));
        buf_add_char(out, ',');
    }
    buf_add_lit(out, "\"on\":");
    while (rest.p) {
        buf_add_char(out, before);
        json_write_str(out, str_trim(str_cut(&rest, ',')));
        before = ',';
    }
    buf_printf(out, "]%s}", cli_value(args, "--unique") ? ",\"unique\":true" : "");
}

/* The attribute that a pointer such as "/on/1" leads to. */
static struct str attribute_at(const char *pointer, const char *attributes)
{
    struct str path = str_of(pointer), rest = str_of(attributes), name = STR_NONE;
    uint64_t i;
    if (!str_starts_with(path, STR("/on/")) ||
        str_to_u64((struct str){path.p + 4, path.n - 4}, &i) < 0)
        return STR_NONE;
    for (uint64_t at = 0; at <= i && rest.p; at++)
        name = str_trim(str_cut(&rest, ','));
    return name;
}

static int tell_fault(const struct cli_args *args, const struct schema_fault *fault)
{
    struct str what = attribute_at(fault->pointer, args->operands[1]);
    if (!what.p)
        what = str_of(*fault->pointer ? fault->pointer + 1 : "the index");
    return cli_failed("%s: \"" STR_FMT "\": %s, expected %s", args->operands[0], STR_ARG(what),
                      fault->keyword, fault->expected);
}

static int create(struct cli_table *t, const struct cli_args *args, struct str definition)
{
    struct cli_progress progress;
    struct manage *m = &t->manage;
    struct str name = STR_NONE;
    m->progress = cli_progress_tell;
    m->ctx = &progress;
    cli_progress_start(&progress);
    int err = manage_create_index(m, t->stored.database, t->stored.name, definition, &name);
    cli_progress_end(&progress);
    if (err < 0 && m->faults.n)
        return tell_fault(args, &m->faults.v[0]);
    if (err < 0)
        return cli_manage_failed(t, err);
    printf("created index " STR_FMT " on %s\n", STR_ARG(name), args->operands[0]);
    return CLI_DONE;
}

static int run_create(const struct cli_args *args)
{
    struct cli_table t;
    struct buf definition = {0};
    write_definition(args, &definition);
    int status = cli_table_open(&t, args, CLI_WRITES);
    if (status == 0)
        status = definition.failed ? cli_failed("%s", err_text(ERR_NO_MEMORY))
                                   : create(&t, args, buf_str(&definition));
    cli_table_close(&t);
    buf_done(&definition);
    return status;
}

/* ---- list ----------------------------------------------------------------------------------- */

static void print_index(const struct store_index *index)
{
    printf(STR_FMT "\t", STR_ARG(index->name));
    for (uint32_t i = 0; i < index->n_parts; i++)
        printf("%s%s" STR_FMT, i ? "," : "", index->parts[i].descending ? "-" : "",
               STR_ARG(index->parts[i].attribute));
    printf("\t%s%s\n", index->unique ? "unique" : "",
           index->ready    ? ""
           : index->unique ? ", being built"
                           : "being built");
}

static int run_list(const struct cli_args *args)
{
    struct cli_table t;
    int status = cli_table_open(&t, args, CLI_READS);
    for (uint32_t i = 0; status == 0 && i < t.stored.n_indexes; i++)
        print_index(&t.stored.indexes[i]);
    if (status == 0 && t.stored.n_indexes == 0)
        fprintf(stderr, "%s has no indexes (tenon index create makes one)\n", args->operands[0]);
    cli_table_close(&t);
    return status ? status : cli_flush();
}

/* ---- drop ----------------------------------------------------------------------------------- */

static int run_drop(const struct cli_args *args)
{
    struct cli_table t;
    int status = cli_table_open(&t, args, CLI_WRITES);
    if (status == 0) {
        int err = manage_drop_index(&t.manage, t.stored.database, t.stored.name,
                                    str_of(args->operands[1]));
        if (err == 0)
            printf("dropped index %s of %s\n", args->operands[1], args->operands[0]);
        status = err < 0 ? cli_manage_failed(&t, err) : CLI_DONE;
    }
    cli_table_close(&t);
    return status;
}

/* ---- Their descriptions --------------------------------------------------------------------- */

static const struct cli_option create_options[] = {
    CLI_OPTION_CONFIG,
    CLI_OPTION_DATA,
    CLI_OPTION_MODE,
    {"--name", "NAME", "instead of by_ and the attributes", NULL},
    {"--unique", NULL, "rows with the same values are refused; null equals nothing", NULL},
    CLI_OPTIONS_END,
};

static const struct cli_option options[] = {
    CLI_OPTION_CONFIG,
    CLI_OPTION_DATA,
    CLI_OPTIONS_END,
};

const struct cli_command cli_index_create = {
    .name = "index create",
    .operands = "DATABASE.TABLE ATTRIBUTE[,-ATTRIBUTE...]",
    .summary = "Build an index on the rows that are there",
    .options = create_options,
    .notes =
        "Searches by these attributes, or in their order, then read the index. A minus turns an "
        "attribute's\norder round, a dot leads into an object (address.city). The table can be "
        "used while the index is\nbuilt. Ctrl-C stops it, and nothing of it stays.",
    .operands_min = 2,
    .operands_max = 2,
    .takes_hyphens = true,
    .run = run_create,
};

const struct cli_command cli_index_list = {
    .name = "index list",
    .operands = "DATABASE.TABLE",
    .summary = "List the indexes of a table",
    .options = options,
    .operands_min = 1,
    .operands_max = 1,
    .run = run_list,
};

const struct cli_command cli_index_drop = {
    .name = "index drop",
    .operands = "DATABASE.TABLE NAME",
    .summary = "Remove an index; the rows stay",
    .options = options,
    .operands_min = 2,
    .operands_max = 2,
    .run = run_drop,
};
