/* core/manage_index.c - see manage.h: indexes of a table that is there.
 *
 * An index is read by the same rules as one in the definition of a new table: it is put into the
 * table's definition, and that is parsed. Its parts get their types by the definition as it is
 * then; so if that was altered while the index was being built, they are looked at again.
 */
#include "core/manage.h"

#include "base/err.h"
#include "base/limits.h"

#include <string.h>

/* ---- Reading -------------------------------------------------------------------------------- */

/* Pointers lead from the index that was given. */
static void move_up(struct schema_faults *faults)
{
    static const char prefix[] = "/indexes/0";
    for (uint32_t i = 0; i < faults->n; i++) {
        char *pointer = faults->v[i].pointer;
        if (strncmp(pointer, prefix, sizeof prefix - 1) == 0)
            memmove(pointer, pointer + sizeof prefix - 1, strlen(pointer) - sizeof prefix + 2);
    }
}

/* A value of JSON and nothing behind it: it will stand within another text. */
static int check_text(struct manage *m, struct str text)
{
    struct arena scratch;
    struct wire_fault fault;
    const struct tape_node *tape;
    if (text.n > DEFINITION_BYTES_MAX)
        return manage_fail(m, ERR_TOO_LARGE, "the index is larger than %u bytes",
                           DEFINITION_BYTES_MAX);
    arena_init(&scratch, 0);
    char *copy = arena_zalloc(&scratch, (size_t)text.n + JSON_PADDING_BYTES);
    if (copy && text.n)
        memcpy(copy, text.p, text.n);
    int err = copy ? tape_open((struct str){copy, text.n}, &scratch, &tape, &fault) : ERR_NO_MEMORY;
    if (err == ERR_PARSE || err == ERR_PARAMS)
        err = manage_fail(m, err, "the index: %s, expected %s", wire_reason_name(fault.reason),
                          fault.expected);
    arena_done(&scratch);
    return err;
}

/* The table, as if its only index were this one. */
static int read_index(struct manage *m, const struct store_table *stored, struct str definition,
                      struct table *ret)
{
    struct buf text = {0};
    int err = check_text(m, definition);
    if (err == 0)
        err = manage_join(stored->definition, NULL, 0, &text);
    if (err == 0) {
        text.n--;
        buf_add_lit(&text, ",\"indexes\":[");
        buf_add_str(&text, definition);
        buf_add_lit(&text, "]}");
        err = text.failed ? ERR_NO_MEMORY : manage_parse(m, buf_str(&text), ret);
    }
    move_up(&m->faults);
    buf_done(&text);
    return err;
}

/* ---- Building ------------------------------------------------------------------------------- */

/* "code \"A\"" */
static struct str row_text(struct manage *m, const struct table *table, struct str key)
{
    struct str name = table->attributes[table->key].name;
    struct str text = manage_key_text(m, table, key);
    return arena_printf(m->arena, STR_FMT " " STR_FMT, STR_ARG(name), STR_ARG(text));
}

static int explain_rows(struct manage *m, const struct table *table,
                        const struct store_index_build *build, int err)
{
    const struct store_index *index = &table->indexes[0];
    struct str first = row_text(m, table, build->ret_keys[0]);
    if (err == ERR_LIMIT)
        return manage_fail(m, err,
                           "the values of the row with " STR_FMT " are too long for " STR_FMT,
                           STR_ARG(first), STR_ARG(index->name));
    if (err == ERR_PARAMS)
        return manage_fail(m, err, "a value of the row with " STR_FMT " is not of its type",
                           STR_ARG(first));
    struct str second = row_text(m, table, build->ret_keys[1]);
    return manage_fail(m, err,
                       "the rows with " STR_FMT " and " STR_FMT " have the same values, so " STR_FMT
                       " cannot be unique",
                       STR_ARG(first), STR_ARG(second), STR_ARG(index->name));
}

static int explain_build(struct manage *m, const struct table *table,
                         const struct store_index_build *build, int err)
{
    if (err < 0 && build->ret_keys[0].p)
        return explain_rows(m, table, build, err);
    switch (err) {
    case ERR_EXISTS:
        return manage_fail(m, err, "there is an index " STR_FMT " already",
                           STR_ARG(table->indexes[0].name));
    case ERR_LIMIT:
        return manage_fail(m, err, "a table has at most %d indexes, of %d attributes each",
                           TABLE_INDEXES_MAX, INDEX_PARTS_MAX);
    case ERR_BUSY:
        return manage_fail(m, err, "another index is being built, try again when it is done");
    case ERR_CANCELLED:
        return manage_fail(m, err, "it was cancelled, and nothing of the index stays");
    case ERR_ABSENT:
        return manage_fail(m, err, "somebody else dropped the table");
    default:
        return err;
    }
}

static bool has_same_types(const struct store_index *a, const struct store_index *b)
{
    for (uint32_t i = 0; i < a->n_parts; i++)
        if (a->parts[i].type != b->parts[i].type)
            return false;
    return true;
}

/* The index is there. Was the definition altered meanwhile, so that it does not fit any more? */
static int check_again(struct manage *m, const struct store_table *before, struct str definition,
                       const struct table *table, uint32_t index)
{
    struct store_table now;
    struct table changed;
    int err = manage_find_table(m, before->database, before->name, &now);
    if (err == 0 && now.version == before->version)
        return 0;
    if (err == 0)
        err = read_index(m, &now, definition, &changed);
    if (err == 0 && has_same_types(&table->indexes[0], &changed.indexes[0]))
        return 0;
    store_drop_index(m->store, before->id, index);
    if (err < 0 && err != ERR_PARAMS)
        return err;
    m->faults.n = 0;
    return manage_fail(m, ERR_STALE,
                       "the table was altered meanwhile, and nothing of the index "
                       "stays");
}

int manage_create_index(struct manage *m, struct str database, struct str name,
                        struct str definition, struct str *ret)
{
    struct store_table stored;
    struct table table;
    struct store_index_build build = {.progress = m->progress, .ctx = m->ctx, .arena = m->arena};
    int err = manage_find_table(m, database, name, &stored);
    if (err == 0)
        err = read_index(m, &stored, definition, &table);
    if (err < 0)
        return err;
    err = store_create_index(m->store, stored.id, &table.indexes[0], &build);
    err = explain_build(m, &table, &build, err);
    if (err == 0)
        err = check_again(m, &stored, definition, &table, build.ret_index);
    if (err == 0)
        *ret = table.indexes[0].name;
    return err;
}

/* ---- Dropping ------------------------------------------------------------------------------- */

int manage_drop_index(struct manage *m, struct str database, struct str name, struct str index)
{
    struct store_table table;
    uint32_t i = 0;
    int err = manage_find_table(m, database, name, &table);
    if (err < 0)
        return err;
    while (i < table.n_indexes && !str_eq(table.indexes[i].name, index))
        i++;
    err = i < table.n_indexes ? store_drop_index(m->store, table.id, table.indexes[i].id)
                              : ERR_ABSENT;
    if (err == ERR_ABSENT)
        return manage_fail(m, err, STR_FMT "." STR_FMT " has no index %.*s", STR_ARG(database),
                           STR_ARG(name), index.n < NAME_BYTES_MAX ? (int)index.n : NAME_BYTES_MAX,
                           index.p);
    return err;
}
