/* cli_data.c - see cli_data.h. */
#include "cli_data.h"

#include "base/err.h"

#include <string.h>

void cli_data_init(struct cli_data *data)
{
    *data = (struct cli_data){0};
    arena_init(&data->arena, 0);
}

int cli_data_open(struct cli_data *data, const struct cli_args *args, bool read_only)
{
    struct str why = STR_NONE;
    struct str ignored;
    int status = args->n_operands ? cli_table_name(args, args->operands[0], &ignored, &ignored) : 0;
    if (status == 0)
        status = cli_config(args, &data->arena, &data->config);
    if (status)
        return status;
    const struct store_config config = {
        .dir = data->config.data_dir,
        .mode = data->config.mode,
        .read_only = read_only,
        .volatile_sys = true,
    };
    int err = store_open_lmdb(&config, &data->arena, &data->store, &why);
    if (err < 0)
        return cli_failed(STR_FMT, STR_ARG(why.n ? why : str_of(err_text(err))));
    return 0;
}

void cli_data_close(struct cli_data *data)
{
    store_close(data->store);
    arena_done(&data->arena);
}

int cli_table_name(const struct cli_args *args, const char *text, struct str *ret_database,
                   struct str *ret_name)
{
    struct str name = str_of(text), database = str_cut(&name, '.');
    if (!table_name_is_valid(database) || !table_name_is_valid(name))
        return cli_usage(args->command,
                         "not a table: %s (DATABASE.TABLE, each a letter, then letters, "
                         "digits and underscores)",
                         text);
    *ret_database = database;
    *ret_name = name;
    return 0;
}

/* ---- finding a table ------------------------------------------------------------------------ */

struct search {
    struct arena *arena;
    struct str database, name;
    struct table *ret;
    bool found;
};

static int match(void *ctx, const struct store_table *stored)
{
    struct search *search = ctx;
    struct schema_faults faults;
    if (!str_eq(stored->database, search->database) || !str_eq(stored->name, search->name))
        return 0;
    int err = table_parse(stored->definition, search->arena, search->ret, &faults);
    if (err < 0)
        return err == ERR_NO_MEMORY ? err : ERR_STORE_DAMAGED;
    search->ret->id = stored->id;
    search->ret->version = stored->version;
    search->ret->database = search->database;
    search->ret->name = search->name;
    search->found = true;
    return 1;
}

static int find_table(struct store *store, struct search *search)
{
    struct store_view *view;
    int err = store_view_open(store, STORE_DATA, &view);
    if (err < 0)
        return err;
    err = store_scan_tables(view, match, search);
    store_view_close(view);
    return err < 0 ? err : search->found ? 0 : ERR_ABSENT;
}

int cli_table_get(struct cli_data *data, const struct cli_args *args, struct table *ret)
{
    struct search search = {.arena = &data->arena, .ret = ret};
    int status = cli_table_name(args, args->operands[0], &search.database, &search.name);
    if (status)
        return status;
    int err = find_table(data->store, &search);
    if (err == ERR_ABSENT)
        return cli_failed("there is no table %s in %s (tenon table list shows all)",
                          args->operands[0], data->config.data_dir);
    return err < 0 ? cli_store_failed(data, args->operands[0], err) : 0;
}

int cli_store_failed(const struct cli_data *data, const char *what, int err)
{
    static const struct {
        int err;
        const char *text;
    } better[] = {
        {ERR_BUSY, "too many programs have the database open"},
        {ERR_LIMIT, "too large"},
        {ERR_STORE_FULL, "the disk is full"},
        {ERR_STORE_READ_ONLY, "the data directory cannot be written"},
    };
    const char *text = err_text(err);
    for (size_t i = 0; i < sizeof better / sizeof *better; i++)
        text = better[i].err == err ? better[i].text : text;
    return cli_failed("%s: %s (database in %s)", what, text, data->config.data_dir);
}
