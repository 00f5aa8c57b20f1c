/* core/table_search.c - see table_search.h. */
#include "core/table_search.h"

#include "base/clock.h"
#include "base/err.h"
#include "core/core_state.h"

#include <string.h>

enum { STOP_FULL = 1, STOP_BUDGET, STOP_MEMORY, STOP_CHECK };

static void copy_key(char *to, uint32_t *ret_n, struct str key)
{
    *ret_n = key.n < KEY_BYTES_MAX ? key.n : KEY_BYTES_MAX;
    memcpy(to, key.p, *ret_n);
}

/* Null asks for rows where the attribute is null or missing. */
static bool meets(const struct tape_node *row, const struct tape_node *where)
{
    tape_each (where, key, wanted) {
        const struct tape_node *value = tape_get(row, tape_str(key));
        if (value ? !tape_equal(value, wanted) : wanted->kind != TAPE_NULL)
            return false;
    }
    return true;
}

/* A row costs by what it holds, so that few heavy rows hold the loop no longer than many small. */
static void pay(struct search *s, size_t units)
{
    if (s->budget)
        s->budget = units < s->budget - 1 ? s->budget - (uint32_t)units : 1;
}

int search_check(const struct search *s)
{
    int stop = s->stop;
    if (stop < 0)
        return stop;
    if (call_is_orphaned(s->call))
        return ERR_CANCELLED;
    return clock_mono_ms() < s->deadline_ms ? 0 : ERR_TIMED_OUT;
}

/* The budget is used up: the loop hands the rest on, a thread looks whether it may go on. */
static int pause_at(struct search *s, const struct store_row *row)
{
    if (!s->on_thread) {
        copy_key(s->stop_key, &s->stop_key_n, row->key);
        return STOP_BUDGET;
    }
    s->err = search_check(s);
    s->budget = INLINE_SCAN_ENTRIES + 1;
    return s->err < 0 ? STOP_CHECK : 0;
}

static int look_at(void *ctx, const struct store_row *row)
{
    struct search *s = ctx;
    int stop = s->budget == 1 ? pause_at(s, row) : 0;
    if (stop)
        return stop;
    pay(s, 1 + (row->row->kind >= TAPE_ARRAY ? row->row->v.size / INLINE_ENTRY_NODES : 0));
    if (s->where && !meets(row->row, s->where))
        return 0;
    if (s->n_rows == s->limit || s->rows.n >= SEARCH_BYTES_MAX) {
        s->more = true;
        return STOP_FULL;
    }
    if (s->n_rows++)
        buf_add_char(&s->rows, ',');
    size_t written = s->rows.n;
    tape_write(row->row, &s->rows);
    pay(s, (s->rows.n - written) / INLINE_ENTRY_BYTES);
    copy_key(s->last_key, &s->last_key_n, row->key);
    return s->rows.failed ? STOP_MEMORY : 0;
}

static int scan(struct search *s, const struct store_range *range)
{
    struct store_view *view;
    int err = store_view_open(s->call->core->store, STORE_DATA, &view);
    if (err < 0)
        return err;
    err = store_scan_rows(view, s->table->id, range, look_at, s);
    store_view_close(view);
    return err == STOP_MEMORY ? ERR_NO_MEMORY : err == STOP_CHECK ? s->err : err;
}

/* On a handler thread. Nobody else touches the search meanwhile, except for `stop`. */
static void go_on(struct loop_work *work)
{
    struct search *s = (struct search *)work; /* its first member */
    struct store_range rest = {.from = {s->stop_key, s->stop_key_n}};
    int err = search_check(s);
    s->on_thread = true;
    s->budget = INLINE_SCAN_ENTRIES + 1;
    if (err == 0)
        err = scan(s, &rest);
    s->err = err < 0 ? err : s->found(s);
}

/* A condition on the primary key leaves one row at most. */
static int look_up(struct search *s, const struct tape_node *value)
{
    struct store_view *view;
    struct store_row row;
    struct arena arena;
    struct str key;
    arena_init(&arena, 0);
    int err = key_encode(s->table->key_type, value, &arena, &key);
    bool is_key = err == 0 && (!s->after.p || str_compare(key, s->after) > 0);
    if (err == 0 && is_key &&
        (err = store_view_open(s->call->core->store, STORE_DATA, &view)) == 0) {
        err = store_get_row(view, s->table->id, key, &arena, &row);
        if (err == 0)
            err = look_at(s, &row) == STOP_MEMORY ? ERR_NO_MEMORY : 0;
        store_view_close(view);
    }
    arena_done(&arena);
    return err == ERR_ABSENT || err == ERR_PARAMS || err == ERR_LIMIT ? 0 : err;
}

int search_start(struct search *s)
{
    struct str key_name = s->table->attributes[s->table->key].name;
    const struct tape_node *key_value = s->where ? tape_get(s->where, key_name) : NULL;
    struct store_range range = {.from = s->after, .after = true};
    s->deadline_ms = clock_mono_ms() + SCAN_MS_MAX;
    s->budget = INLINE_SCAN_ENTRIES + 1;
    int err = key_value ? look_up(s, key_value) : scan(s, &range);
    if (err != STOP_BUDGET)
        return err < 0 ? err : s->found(s);
    s->work.run = go_on;
    err = scans_add(&s->call->core->scans, s);
    return err < 0 ? err : SEARCH_LATER;
}
