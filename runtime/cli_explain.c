/* cli_explain.c - `tenon explain DATABASE.TABLE`: how a search would find its rows. */
#include "base/err.h"
#include "cli_data.h"
#include "core/table_query.h"
#include "wire/tape.h"

/* A filter as text. NULL: none was given. */
static int read_where(const struct cli_args *args, struct arena *arena,
                      const struct tape_node **ret)
{
    const char *where = cli_value(args, "--where");
    struct tape_builder b;
    if (!where)
        return 0;
    tape_begin(&b, arena);
    tape_add_str(&b, str_of(where));
    return tape_finish(&b, ret);
}

/* "region,-population" as an array of texts. NULL: none was given. */
static int read_order_by(const struct cli_args *args, struct arena *arena,
                         const struct tape_node **ret)
{
    const char *order_by = cli_value(args, "--order-by");
    struct tape_builder b;
    if (!order_by)
        return 0;
    tape_begin(&b, arena);
    tape_open_array(&b);
    for (struct str rest = str_of(order_by); rest.p;)
        tape_add_str(&b, str_trim(str_cut(&rest, ',')));
    tape_close(&b);
    return tape_finish(&b, ret);
}

static int explain(struct cli_data *data, const struct cli_args *args, const struct table *table,
                   struct buf *out)
{
    const struct tape_node *where = NULL, *order_by = NULL;
    struct str why = STR_NONE;
    int err = read_where(args, &data->arena, &where);
    if (err == 0)
        err = read_order_by(args, &data->arena, &order_by);
    if (err == 0)
        err = table_query_explain(table, where, order_by, &data->arena, out, &why);
    if (err < 0 && why.p)
        return cli_failed("%s: " STR_FMT, args->operands[0], STR_ARG(why));
    if (err < 0)
        return cli_failed("%s: %s", args->operands[0], err_text(err));
    cli_print_json(buf_str(out), stdout);
    return cli_flush();
}

static int run(const struct cli_args *args)
{
    struct cli_data data;
    struct table table;
    struct buf out = {0};
    cli_data_init(&data);
    int status = cli_data_open(&data, args, CLI_READS);
    if (status == 0)
        status = cli_table_get(&data, args, &table);
    if (status == 0)
        status = explain(&data, args, &table, &out);
    buf_done(&out);
    cli_data_close(&data);
    return status;
}

static const struct cli_option options[] = {
    CLI_OPTION_CONFIG,
    CLI_OPTION_DATA,
    {"--where", "FILTER", "such as \"population > 1000000 and region in ('Europe', 'Asia')\"",
     NULL},
    {"--order-by", "A,-B", "attributes; a minus: the greatest first", NULL},
    CLI_OPTIONS_END,
};

const struct cli_command cli_explain = {
    .name = "explain",
    .operands = "DATABASE.TABLE",
    .summary = "Show how a search would find its rows",
    .options = options,
    .notes = "Does it read an index, a range of the primary key, or all rows? Nothing is searched.",
    .operands_min = 1,
    .operands_max = 1,
    .run = run,
};
