/* core/manage_alter.c - see manage.h: another definition for a table that has rows.
 *
 * The rows are checked by the new definition in pieces, each in a view of its own, so that no
 * snapshot stands for long. At all times holds: every row fits, or has a change in the log behind
 * `since_seq`. The log is then followed until little is left, and the definition is put in a
 * transaction that looks at that rest. So the old definition stands or the new one does, with all
 * its rows, and there is no state between.
 */
#include "core/manage.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/limits.h"
#include "core/table_indexes.h"

#include <string.h>

#define ALTER_PIECE_MS   50   /* of rows, or changes, looked at in one view */
#define ALTER_PIECES_MAX 5000 /* of changes, from the first to the last */
#define ALTER_LAG_MAX    20   /* pieces after which no fewer changes are left */
#define ALTER_ROUNDS_MAX 20

enum { PIECE_IS_FULL = 1 };

struct altering {
    struct manage *m;
    struct store_table now; /* as it was found */
    struct str text;        /* of the new definition, as it is stored */
    struct table table;     /* by it */
    uint64_t since_seq;
    uint64_t done, total; /* rows */
    uint32_t n_pieces;    /* of changes */
    uint64_t n_left;      /* changes behind the last piece */
    /* the piece at work */
    struct store_view *view;
    uint32_t n;
    int64_t until_ms;
    char last_bytes[KEY_BYTES_MAX];
    struct str last; /* row that was looked at */
};

static int tell_progress(struct altering *a)
{
    struct manage *m = a->m;
    if (!m->progress || m->progress(m->ctx, a->done, a->total) == 0)
        return 0;
    return manage_fail(m, ERR_CANCELLED, "it was cancelled, and nothing was changed");
}

/* ---- May the definition be this? ------------------------------------------------------------ */

static int fail_at(struct manage *m, const char *pointer, const char *keyword, const char *expected)
{
    m->faults.n = 1;
    strcpy(m->faults.v[0].pointer, pointer);
    schema_fault_set(&m->faults.v[0], keyword, "%s", expected);
    return manage_fail(m, ERR_PARAMS, "%s: %s, expected %s", pointer, keyword, expected);
}

static int check_key(struct altering *a, const struct table *old)
{
    struct str name = old->attributes[old->key].name;
    struct str expected =
        arena_printf(a->m->arena, STR_FMT " of type %s, by which the rows are kept", STR_ARG(name),
                     key_type_name(old->key_type));
    if (!expected.p)
        return ERR_NO_MEMORY;
    if (str_eq(name, a->table.attributes[a->table.key].name) && old->key_type == a->table.key_type)
        return 0;
    return fail_at(a->m, "/primaryKey", "primaryKey", expected.p);
}

static bool is_same_index(const struct store_index *a, const struct store_index *b)
{
    bool same = str_eq(a->name, b->name) && a->unique == b->unique && a->n_parts == b->n_parts;
    for (uint32_t i = 0; same && i < a->n_parts; i++)
        same = str_eq(a->parts[i].attribute, b->parts[i].attribute) &&
               a->parts[i].type == b->parts[i].type &&
               a->parts[i].descending == b->parts[i].descending;
    return same;
}

static bool has_index(const struct store_table *stored, const struct store_index *index)
{
    for (uint32_t i = 0; i < stored->n_indexes; i++)
        if (is_same_index(&stored->indexes[i], index))
            return true;
    return false;
}

/* A definition that was described and changed by hand names the indexes that are there. */
static int check_named_indexes(struct altering *a)
{
    for (uint32_t i = 0; i < a->table.n_indexes; i++)
        if (!has_index(&a->now, &a->table.indexes[i]))
            return fail_at(a->m, "/indexes", "indexes",
                           "those that are there as they are; others are made and dropped one by "
                           "one");
    return 0;
}

/* An index of the store has to be one by the new definition too, with the same types. */
static int read_again(struct altering *a, const struct store_index *index, struct arena *scratch,
                      struct store_index *ret)
{
    struct schema_faults faults;
    struct wire_fault fault;
    const struct tape_node *tape;
    struct buf text = {0};
    table_indexes_write(index, 1, &text);
    size_t n = text.n;
    char *copy = text.failed ? NULL : arena_zalloc(scratch, n + JSON_PADDING_BYTES);
    if (copy)
        memcpy(copy, text.p, n);
    buf_done(&text);
    if (!copy)
        return ERR_NO_MEMORY;
    int err = tape_open((struct str){copy, (uint32_t)n}, scratch, &tape, &fault);
    return err ? err : table_index_read(tape + 1, &a->table.index_columns, scratch, ret, &faults);
}

static int check_index(struct altering *a, const struct store_index *index)
{
    struct store_index now;
    struct arena scratch;
    arena_init(&scratch, 0);
    int err = read_again(a, index, &scratch, &now);
    bool fits = err == 0 && is_same_index(&now, index);
    arena_done(&scratch);
    if (fits || (err < 0 && err != ERR_PARAMS))
        return err;
    return manage_fail(a->m, ERR_PARAMS,
                       "the index " STR_FMT
                       " goes by an attribute that would go away or change its type; drop the "
                       "index first",
                       STR_ARG(index->name));
}

static int check_indexes(struct altering *a, const struct store_table *stored)
{
    int err = 0;
    for (uint32_t i = 0; err == 0 && i < stored->n_indexes; i++)
        err = check_index(a, &stored->indexes[i]);
    return err;
}

static int read_old(struct altering *a, struct table *ret)
{
    struct schema_faults faults;
    int err = table_parse(a->now.definition, a->m->arena, ret, &faults);
    return err == ERR_PARSE || err == ERR_PARAMS ? ERR_STORE_DAMAGED : err;
}

static int prepare(struct altering *a, struct str database, struct str name, struct str definition)
{
    struct table old;
    int err = manage_find_table(a->m, database, name, &a->now);
    if (err == 0)
        err = manage_parse(a->m, definition, &a->table);
    if (err == 0)
        err = manage_strip(a->m, definition, &a->text);
    if (err == 0)
        err = read_old(a, &old);
    if (err == 0)
        err = check_key(a, &old);
    if (err == 0)
        err = check_named_indexes(a);
    return err ? err : check_indexes(a, &a->now);
}

/* ---- Rows ----------------------------------------------------------------------------------- */

static int note_broken(struct altering *a, struct str key, const struct schema_fault *fault)
{
    struct manage_broken *broken = &a->m->broken;
    if (broken->n++ >= MANAGE_BROKEN_SHOWN)
        return 0;
    broken->v[broken->n - 1].key = manage_key_text(a->m, &a->table, key);
    broken->v[broken->n - 1].fault = *fault;
    return broken->v[broken->n - 1].key.p ? 0 : ERR_NO_MEMORY;
}

/* In the schema of stored rows that attribute has no place; its fault would be about that. */
static void mend_fault(const struct table *table, struct schema_fault *fault)
{
    const struct table_attribute *version = table->by_role[ROLE_VERSION];
    if (version && fault->pointer[0] == '/' && str_eq(str_of(fault->pointer + 1), version->name))
        schema_fault_set(fault, "role",
                         "nothing: the server sets the version, so rows may not hold it");
}

/* 0, also if it does not fit: then it is noted. */
static int look_at(struct altering *a, const struct store_row *row)
{
    struct schema_faults faults = {0};
    int err = table_check_row(&a->table, row->row, &faults);
    if (err != ERR_PARAMS && err != ERR_LIMIT)
        return err;
    mend_fault(&a->table, &faults.v[0]);
    return note_broken(a, row->key, &faults.v[0]);
}

static int fail_by_broken(struct altering *a)
{
    const struct manage_broken *broken = &a->m->broken;
    if (broken->n == 0)
        return 0;
    return manage_fail(
        a->m, ERR_PARAMS, "%llu rows do not fit it; the first is " STR_FMT " (%s: %s, expected %s)",
        (unsigned long long)broken->n, STR_ARG(broken->v[0].key), broken->v[0].fault.pointer,
        broken->v[0].fault.keyword, broken->v[0].fault.expected);
}

static int begin_piece(struct altering *a)
{
    a->n = 0;
    a->until_ms = clock_mono_ms() + ALTER_PIECE_MS;
    return store_view_open(a->m->store, STORE_DATA, &a->view);
}

/* What one piece was stopped by; 0: there is no more. */
static int end_piece(struct altering *a, int stop)
{
    store_view_close(a->view);
    int err = stop < 0 ? stop : tell_progress(a);
    return err < 0 ? err : stop;
}

static bool is_full(struct altering *a)
{
    return ++a->n >= TXN_ROWS_MAX || clock_mono_ms() >= a->until_ms;
}

static int visit_row(void *ctx, const struct store_row *row)
{
    struct altering *a = ctx;
    int err = look_at(a, row);
    if (err < 0)
        return err;
    a->done++;
    memcpy(a->last_bytes, row->key.p, row->key.n);
    a->last = (struct str){a->last_bytes, row->key.n};
    return is_full(a) ? PIECE_IS_FULL : 0;
}

static int check_piece(struct altering *a)
{
    struct store_range range = {.from = a->last, .after = true};
    int err = begin_piece(a);
    if (err < 0)
        return err;
    if (!a->last.p) {
        err = store_last_seq(a->view, &a->since_seq);
        if (err == 0)
            err = store_count_rows(a->view, a->now.id, &a->total);
    }
    return end_piece(a, err ? err : store_scan_rows(a->view, a->now.id, &range, visit_row, a));
}

static int check_all(struct altering *a)
{
    int stop;
    a->done = 0;
    a->last = STR_NONE;
    do {
        stop = check_piece(a);
    } while (stop == PIECE_IS_FULL);
    return stop < 0 ? stop : fail_by_broken(a);
}

/* ---- What was written meanwhile ------------------------------------------------------------- */

/* A row that was changed again comes once more, later. */
static int visit_change(void *ctx, const struct store_change *change)
{
    struct altering *a = ctx;
    struct store_row row;
    struct arena scratch;
    int err = 0;
    a->since_seq = change->seq;
    if (change->table == a->now.id && change->kind == STORE_ROW_PUT) {
        arena_init(&scratch, 0);
        err = store_get_row(a->view, a->now.id, change->key, &scratch, &row);
        if (err == 0 && row.version == change->seq)
            err = look_at(a, &row);
        arena_done(&scratch);
    }
    if (err < 0 && err != ERR_ABSENT)
        return err;
    return is_full(a) ? PIECE_IS_FULL : 0;
}

/* ERR_STALE: the log forgot some. */
static int follow_piece(struct altering *a)
{
    uint64_t floor = 0, last = 0;
    int err = begin_piece(a);
    if (err < 0)
        return err;
    err = store_floor_seq(a->view, &floor);
    if (err == 0)
        err = store_last_seq(a->view, &last);
    if (err == 0 && floor > a->since_seq + 1)
        err = ERR_STALE;
    if (err == 0)
        err = store_scan_changes(a->view, a->since_seq, visit_change, a);
    a->n_left = last - a->since_seq;
    return end_piece(a, err);
}

static int fail_by_speed(struct altering *a)
{
    return manage_fail(a->m, ERR_TIMED_OUT,
                       "the rows are written faster than they can be checked; try again when "
                       "less is written");
}

/* Until no change is left, in the end; ERR_TIMED_OUT: they come faster than they are looked at. */
static int follow(struct altering *a)
{
    uint64_t least = UINT64_MAX;
    int stop = PIECE_IS_FULL;
    for (uint32_t lag = 0; stop == PIECE_IS_FULL; lag++) {
        if (lag == ALTER_LAG_MAX || a->n_pieces++ == ALTER_PIECES_MAX)
            return fail_by_speed(a);
        stop = follow_piece(a);
        if (a->n_left < least) {
            least = a->n_left;
            lag = 0;
        }
    }
    return stop < 0 ? stop : fail_by_broken(a);
}

/* ---- The change ----------------------------------------------------------------------------- */

/* In the transaction, before the rows; perhaps twice. */
static int check_table_at_last(void *ctx, const struct store_table *now)
{
    struct altering *a = ctx;
    a->m->broken.n = 0;
    a->until_ms = clock_mono_ms() + TXN_MS_MAX;
    return check_indexes(a, now);
}

static int check_row_at_last(void *ctx, const struct store_row *row)
{
    struct altering *a = ctx;
    if (clock_mono_ms() >= a->until_ms)
        return ERR_STALE;
    int err = look_at(a, row);
    return err ? err : fail_by_broken(a);
}

static int put(struct altering *a)
{
    struct store_table table = {
        .id = a->now.id, .database = a->now.database, .name = a->now.name, .definition = a->text};
    struct store_op op = {.kind = STORE_PUT_TABLE,
                          .if_version = a->now.version,
                          .put_table = &table,
                          .since_seq = a->since_seq,
                          .check_row = check_row_at_last,
                          .check_table = check_table_at_last,
                          .check_ctx = a};
    int err = manage_apply(a->m, &op);
    if (err == ERR_CONFLICT)
        return manage_fail(a->m, err, "somebody else altered the table meanwhile");
    if (err == ERR_ABSENT)
        return manage_fail(a->m, err, "somebody else dropped the table");
    if (err == ERR_BUSY)
        return manage_fail(a->m, err, "rows are being imported; try again when that is done");
    return err;
}

/* Each round leaves less to look at than the one before, unless others write faster than that. */
static int change(struct altering *a)
{
    int err = ERR_STALE;
    for (uint32_t i = 0; err == ERR_STALE && i < ALTER_ROUNDS_MAX; i++) {
        err = follow(a);
        if (err == ERR_STALE)
            err = check_all(a);
        if (err == 0)
            err = put(a);
    }
    return err == ERR_STALE ? fail_by_speed(a) : err;
}

int manage_alter_table(struct manage *m, struct str database, struct str name,
                       struct str definition)
{
    struct altering a = {.m = m};
    m->why = STR_NONE;
    m->broken.n = 0;
    int err = prepare(&a, database, name, definition);
    if (err == 0)
        err = check_all(&a);
    return err ? err : change(&a);
}
