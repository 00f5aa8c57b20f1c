/* core/manage.c - see manage.h: tables, and what the files of manage share. */
#include "core/manage.h"

#include "base/err.h"
#include "base/limits.h"
#include "core/table_indexes.h"
#include "wire/json_write.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- What went wrong ------------------------------------------------------------------------ */

int manage_fail(struct manage *m, int err, const char *fmt, ...)
{
    struct buf text = {0};
    char line[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    buf_add_str(&text, str_of(line));
    m->why = arena_buf(m->arena, &text);
    buf_done(&text);
    return err;
}

struct str manage_why(const struct manage *m, int err)
{
    return m->why.n ? m->why : str_of(err_text(err));
}

/* ---- Texts of definitions ------------------------------------------------------------------- */

static int fail_by_faults(struct manage *m, int err)
{
    const struct schema_fault *fault = &m->faults.v[0];
    if (m->faults.n == 0)
        return err;
    return manage_fail(m, err, "%s: %s, expected %s",
                       *fault->pointer ? fault->pointer : "the definition", fault->keyword,
                       fault->expected);
}

int manage_parse(struct manage *m, struct str definition, struct table *ret)
{
    m->faults.n = 0;
    if (definition.n > DEFINITION_BYTES_MAX)
        return manage_fail(m, ERR_TOO_LARGE, "the definition is larger than %u bytes",
                           DEFINITION_BYTES_MAX);
    int err = table_parse(definition, m->arena, ret, &m->faults);
    return err == ERR_PARSE || err == ERR_PARAMS ? fail_by_faults(m, err) : err;
}

static bool is_about_indexes(const struct tape_node *name)
{
    return str_eq(tape_str(name), STR("indexes")) || str_eq(tape_str(name), STR("indexed"));
}

/* A definition that was stored, or has been parsed. */
static int open_definition(struct str text, struct arena *arena, const struct tape_node **ret)
{
    struct wire_fault fault;
    char *copy = arena_zalloc(arena, (size_t)text.n + JSON_PADDING_BYTES);
    if (!copy)
        return ERR_NO_MEMORY;
    if (text.n)
        memcpy(copy, text.p, text.n);
    int err = tape_open((struct str){copy, text.n}, arena, ret, &fault);
    if (err == 0 && (*ret)->kind != TAPE_OBJECT)
        err = ERR_STORE_DAMAGED;
    return err == ERR_PARSE || err == ERR_PARAMS ? ERR_STORE_DAMAGED : err;
}

static void write_members(const struct tape_node *definition, struct buf *out)
{
    char before = '{';
    tape_each (definition, name, value) {
        if (is_about_indexes(name))
            continue;
        buf_add_char(out, before);
        json_write_str(out, tape_str(name));
        buf_add_char(out, ':');
        tape_write(value, out);
        before = ',';
    }
}

int manage_join(struct str definition, const struct store_index *indexes, uint32_t n,
                struct buf *out)
{
    struct arena scratch;
    const struct tape_node *tape;
    arena_init(&scratch, 0);
    int err = open_definition(definition, &scratch, &tape);
    if (err == 0)
        write_members(tape, out);
    arena_done(&scratch);
    if (err < 0)
        return err;
    if (n) {
        buf_add_lit(out, ",\"indexes\":");
        table_indexes_write(indexes, n, out);
    }
    buf_add_char(out, '}');
    return out->failed ? ERR_NO_MEMORY : 0;
}

int manage_strip(struct manage *m, struct str definition, struct str *ret)
{
    struct buf text = {0};
    int err = manage_join(definition, NULL, 0, &text);
    if (err == 0) {
        *ret = arena_buf(m->arena, &text);
        err = ret->p ? 0 : ERR_NO_MEMORY;
    }
    buf_done(&text);
    return err;
}

int manage_describe(const struct store_table *table, struct buf *out)
{
    struct store_index ready[TABLE_INDEXES_MAX];
    uint32_t n = 0;
    for (uint32_t i = 0; i < table->n_indexes && n < TABLE_INDEXES_MAX; i++)
        if (table->indexes[i].ready)
            ready[n++] = table->indexes[i];
    return manage_join(table->definition, ready, n, out);
}

struct str manage_key_text(struct manage *m, const struct table *table, struct str key)
{
    struct buf text = {0};
    if (table->key_type == KEY_STRING)
        json_write_str(&text, key);
    else
        key_write_text(table->key_type, key, &text);
    struct str copy = arena_buf(m->arena, &text);
    buf_done(&text);
    return copy;
}

/* ---- Finding -------------------------------------------------------------------------------- */

static bool copy_str(struct arena *arena, struct str *s)
{
    *s = arena_str(arena, *s);
    return s->p != NULL;
}

static int copy_table(struct arena *arena, const struct store_table *table, struct store_table *ret)
{
    *ret = *table;
    ret->indexes = table_indexes_copy(table->indexes, table->n_indexes, arena);
    bool fine = copy_str(arena, &ret->database) && copy_str(arena, &ret->name) &&
                copy_str(arena, &ret->definition) && (ret->indexes || !ret->n_indexes);
    return fine ? 0 : ERR_NO_MEMORY;
}

struct finding {
    struct manage *m;
    struct str database, name; /* absent: all tables */
    struct store_table *found;
    uint32_t n, cap;
};

static bool make_room(struct finding *f)
{
    if (f->n < f->cap)
        return true;
    uint32_t cap = f->cap ? 2 * f->cap : 1;
    struct store_table *found = arena_array(f->m->arena, cap, sizeof *found);
    if (!found)
        return false;
    if (f->n)
        memcpy(found, f->found, f->n * sizeof *found);
    f->found = found;
    f->cap = cap;
    return true;
}

static int take_table(void *ctx, const struct store_table *table)
{
    struct finding *f = ctx;
    if (f->name.p && (!str_eq(table->database, f->database) || !str_eq(table->name, f->name)))
        return 0;
    if (!make_room(f))
        return ERR_NO_MEMORY;
    int err = copy_table(f->m->arena, table, &f->found[f->n]);
    f->n += err == 0;
    return err;
}

static int find(struct finding *f)
{
    struct store_view *view;
    int err = store_view_open(f->m->store, STORE_DATA, &view);
    if (err < 0)
        return err;
    err = store_scan_tables(view, take_table, f);
    store_view_close(view);
    return err;
}

/* How much of a name is told, which may be anything. */
static int shown(struct str name)
{
    return name.n < NAME_BYTES_MAX ? (int)name.n : NAME_BYTES_MAX;
}

int manage_find_table(struct manage *m, struct str database, struct str name,
                      struct store_table *ret)
{
    struct finding f = {.m = m, .database = database, .name = name};
    int err = find(&f);
    if (err == 0 && f.n == 0)
        return manage_fail(m, ERR_ABSENT, "there is no table %.*s.%.*s", shown(database),
                           database.p, shown(name), name.p);
    if (err == 0)
        *ret = f.found[0];
    return err;
}

int manage_find_tables(struct manage *m, const struct store_table **ret, uint32_t *ret_n)
{
    struct finding f = {.m = m};
    int err = find(&f);
    if (err == 0) {
        *ret = f.found;
        *ret_n = f.n;
    }
    return err;
}

/* ---- Changing ------------------------------------------------------------------------------- */

int manage_apply(struct manage *m, struct store_op *op)
{
    struct store_write write = {.space = STORE_DATA, .ops = op, .n_ops = 1};
    return store_apply(m->store, &write);
}

static int check_name(struct manage *m, const char *what, struct str name)
{
    if (table_name_is_valid(name))
        return 0;
    return manage_fail(m, ERR_PARAMS,
                       "the name of the %s has to be a letter, then letters, digits and "
                       "underscores, at most %d in all",
                       what, NAME_BYTES_MAX);
}

static int put_new(struct manage *m, const struct store_table *table)
{
    struct store_op op = {.kind = STORE_PUT_TABLE, .if_version = STORE_MISSING, .put_table = table};
    int err = manage_apply(m, &op);
    if (err == ERR_EXISTS)
        return manage_fail(m, err, STR_FMT "." STR_FMT " is there already",
                           STR_ARG(table->database), STR_ARG(table->name));
    if (err == ERR_LIMIT)
        return manage_fail(m, err, "the definition is larger than %u bytes", DEFINITION_BYTES_MAX);
    return err;
}

int manage_create_table(struct manage *m, struct str database, struct str name,
                        struct str definition)
{
    struct store_table stored = {.database = database, .name = name};
    struct table table;
    int err = check_name(m, "database", database);
    if (err == 0)
        err = check_name(m, "table", name);
    if (err == 0)
        err = manage_parse(m, definition, &table);
    if (err == 0)
        err = manage_strip(m, definition, &stored.definition);
    if (err < 0)
        return err;
    stored.indexes = table.indexes;
    stored.n_indexes = table.n_indexes;
    return put_new(m, &stored);
}

int manage_drop_table(struct manage *m, struct str database, struct str name)
{
    struct store_table table;
    int err = manage_find_table(m, database, name, &table);
    if (err < 0)
        return err;
    struct store_op op = {.kind = STORE_DROP_TABLE, .if_version = STORE_PRESENT, .table = table.id};
    err = manage_apply(m, &op);
    if (err == ERR_ABSENT)
        return manage_fail(m, err, "somebody else dropped " STR_FMT "." STR_FMT, STR_ARG(database),
                           STR_ARG(name));
    return err;
}
