/* cli_data.c - see cli_data.h. */
#include "cli_data.h"

#include "base/err.h"

#include <string.h>

void cli_data_init(struct cli_data *data)
{
    *data = (struct cli_data){0};
    arena_init(&data->arena, 0);
}

/* Is the first operand, which the help calls so, a table? */
static int check_table_name(const struct cli_args *args)
{
    struct str ignored;
    if (!args->n_operands ||
        !str_starts_with(str_of(args->command->operands), STR("DATABASE.TABLE")))
        return 0;
    return cli_table_name(args, args->operands[0], &ignored, &ignored);
}

int cli_data_open(struct cli_data *data, const struct cli_args *args, enum cli_access access)
{
    struct str why = STR_NONE;
    int status = check_table_name(args);
    if (status == 0)
        status = cli_config(args, &data->arena, &data->config);
    if (status)
        return status;
    const struct store_config config = {
        .dir = data->config.data_dir,
        .mode = data->config.mode,
        .read_only = access == CLI_READS,
        .volatile_sys = access != CLI_SESSIONS,
    };
    int err = store_open_lmdb(&config, &data->arena, &data->store, &why);
    if (err < 0)
        return cli_failed(STR_FMT, STR_ARG(why.n ? why : str_of(err_text(err))));
    return 0;
}

void cli_data_close(struct cli_data *data)
{
    if (!data->is_stuck) /* else closing would wait too; it ends with the process */
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

/* ---- a table ------------------------------------------------------------------------------- */

static int find_table(struct cli_data *data, struct manage *m, const struct cli_args *args,
                      struct store_table *ret)
{
    struct str database, name;
    int status = cli_table_name(args, args->operands[0], &database, &name);
    if (status)
        return status;
    int err = manage_find_table(m, database, name, ret);
    if (err == ERR_ABSENT)
        return cli_failed("there is no table %s in %s (tenon table list shows all)",
                          args->operands[0], data->config.data_dir);
    return err < 0 ? cli_store_failed(data, args->operands[0], err) : 0;
}

int cli_table_get(struct cli_data *data, const struct cli_args *args, struct table *ret)
{
    struct manage m = {.store = data->store, .arena = &data->arena};
    struct schema_faults faults;
    struct store_table stored;
    int status = find_table(data, &m, args, &stored);
    if (status)
        return status;
    int err = table_parse(stored.definition, &data->arena, ret, &faults);
    if (err < 0)
        return cli_store_failed(data, args->operands[0],
                                err == ERR_NO_MEMORY ? err : ERR_STORE_DAMAGED);
    ret->id = stored.id;
    ret->version = stored.version;
    ret->database = stored.database;
    ret->name = stored.name;
    ret->indexes = stored.indexes;
    ret->n_indexes = stored.n_indexes;
    return 0;
}

int cli_table_open(struct cli_table *t, const struct cli_args *args, enum cli_access access)
{
    cli_data_init(&t->data);
    t->manage = (struct manage){.arena = &t->data.arena};
    int status = cli_data_open(&t->data, args, access);
    t->manage.store = t->data.store;
    return status ? status : find_table(&t->data, &t->manage, args, &t->stored);
}

void cli_table_close(struct cli_table *t)
{
    cli_data_close(&t->data);
}

/* ---- messages ------------------------------------------------------------------------------- */

int cli_manage_failed(struct cli_table *t, int err)
{
    struct str table = arena_printf(t->manage.arena, STR_FMT "." STR_FMT,
                                    STR_ARG(t->stored.database), STR_ARG(t->stored.name));
    struct str why = t->manage.why;
    if (why.n && str_starts_with(why, table)) /* it says so itself */
        return cli_failed(STR_FMT, STR_ARG(why));
    if (why.n)
        return cli_failed(STR_FMT ": " STR_FMT, STR_ARG(table), STR_ARG(why));
    return cli_store_failed(&t->data, table.p ? table.p : "the table", err);
}

int cli_store_failed(struct cli_data *data, const char *what, int err)
{
    static const struct {
        int err;
        const char *text;
    } better[] = {
        {ERR_BUSY, "another process stands in a write transaction; nothing was changed, try again"},
        {ERR_READERS, "all slots for readers are taken; end a process that uses the database"},
        {ERR_LIMIT, "too large"},
        {ERR_STORE_FULL, "the disk is full"},
        {ERR_STORE_READ_ONLY, "the data directory cannot be written"},
        {ERR_STORE_DAMAGED, "damaged; tenon doctor --data tells more"},
        {ERR_STORE_FORMAT, "written by another version of this program"},
    };
    const char *text = err_text(err);
    data->is_stuck = err == ERR_BUSY;
    for (size_t i = 0; i < sizeof better / sizeof *better; i++)
        text = better[i].err == err ? better[i].text : text;
    return cli_failed("%s: %s (database in %s)", what, text, data->config.data_dir);
}
