/* core/table_search.c - see table_search.h. */
#include "core/table_search.h"

#include "base/clock.h"
#include "base/err.h"
#include "core/core_state.h"
#include "core/table_ranges.h"

#include <string.h>

enum { STOP_FULL = 1, STOP_BUDGET, STOP_NO_INDEX };

static int take_row(struct search *s, const struct store_row *row);

/* ---- One row -------------------------------------------------------------------------------- */

#define COST_OF_UNIT 4096 /* bytes of patterns compared that count as one entry */

/* What a row costs by what it holds and by what the filter does with it, so that few heavy rows
 * hold the loop no longer than many small ones. */
static size_t units_of(const struct search *s, const struct tape_node *row)
{
    size_t units = 1 + (row->kind >= TAPE_ARRAY ? row->v.size / INLINE_ENTRY_NODES : 0);
    return s->query.plan.test ? units + filter_cost(s->query.filter, row) / COST_OF_UNIT : units;
}

static void pay(struct search *s, size_t units)
{
    if (s->budget)
        s->budget = units < s->budget - 1 ? s->budget - (uint32_t)units : 1;
}

int search_check(const struct search *s)
{
    int stop = call_is_cancelled(s->call);
    if (stop < 0)
        return stop;
    if (call_is_orphaned(s->call))
        return ERR_CANCELLED;
    return clock_mono_ms() < s->deadline_ms ? 0 : ERR_TIMED_OUT;
}

/* To go on with this row, or, reading backwards, with what is before the place behind it. The
 * longest places have no room for a byte behind them, but nothing begins with them either. */
static void stop_at(struct search *s, struct str place)
{
    uint32_t n = place.n < INDEX_ENTRY_BYTES ? place.n : INDEX_ENTRY_BYTES;
    struct buf at = {.p = s->at_bytes, .n = n};
    memcpy(s->at_bytes, place.p, n);
    s->at_bytes[n] = '\0';
    if (s->query.plan.descending && n == INDEX_ENTRY_BYTES)
        table_successor(&at);
    else
        at.n += s->query.plan.descending;
    s->at = (struct str){s->at_bytes, (uint32_t)at.n};
    s->after = false;
}

/* The budget is used up: the loop hands the rest on, a thread looks whether it may go on. */
static int pause_at(struct search *s, struct str place)
{
    if (!s->on_thread) {
        stop_at(s, place);
        return STOP_BUDGET;
    }
    s->budget = INLINE_SCAN_ENTRIES + 1;
    return search_check(s);
}

static uint64_t most_rows(const struct search *s)
{
    uint32_t most = s->call->core->config.search_scan_rows;
    return most ? most : SEARCH_SCAN_ROWS;
}

/* A page that is full stands; whether another row follows was not found out. */
static int end_of_rows(struct search *s)
{
    if (!s->next_cursor.p || s->take != take_row)
        return ERR_LIMIT;
    s->cursor = s->next_cursor;
    return STOP_FULL;
}

static int check_watched(void *ctx)
{
    return search_check(ctx);
}

/* 1: it is one of those asked for. */
static int test_row(struct search *s, const struct store_row *row)
{
    const struct filter_watch watch = {check_watched, s};
    return s->query.plan.test ? filter_test_watched(s->query.filter, row->row, &watch) : 1;
}

static int look_at(struct search *s, struct str place, const struct store_row *row)
{
    size_t units = units_of(s, row->row);
    bool is_too_much = s->budget == 1 || (s->budget && units > INLINE_SCAN_ENTRIES);
    int stop = is_too_much ? pause_at(s, place) : call_is_cancelled(s->call);
    if (stop)
        return stop;
    if (++s->n_looked > most_rows(s))
        return end_of_rows(s);
    pay(s, units);
    int found = test_row(s, row);
    return found == 1 ? s->take(s, row) : found;
}

static int look_at_row(void *ctx, const struct store_row *row)
{
    return look_at(ctx, row->key, row);
}

static int look_at_entry(void *ctx, struct str index_key, const struct store_row *row)
{
    return look_at(ctx, (struct str){index_key.p, index_key.n + row->key.n}, row);
}

static bool is_full(const struct search *s)
{
    return s->n_rows == s->query.limit || s->rows.n >= SEARCH_BYTES_MAX;
}

/* Appends the row; behind the last one that fits the page, the place is kept. */
static int add_row(struct search *s, const struct store_row *row)
{
    struct tape_node values[ORDER_BY_MAX + 1];
    size_t before = s->rows.n;
    if (s->n_rows++)
        buf_add_char(&s->rows, ',');
    table_write_row(s->table, row->row, row->version, s->query.select, &s->rows);
    pay(s, (s->rows.n - before) / INLINE_ENTRY_BYTES);
    if (s->rows.failed)
        return ERR_NO_MEMORY;
    if (!is_full(s))
        return 0;
    int err = table_query_values(&s->query, row->row, values);
    return err < 0 ? err : table_query_cursor(s->call, &s->query, values, &s->next_cursor);
}

static int take_row(struct search *s, const struct store_row *row)
{
    if (!is_full(s))
        return add_row(s, row);
    s->cursor = s->next_cursor;
    return STOP_FULL;
}

static int take_for_order(struct search *s, const struct store_row *row)
{
    return top_offer(&s->top, &s->query, row);
}

static int take_count(struct search *s, const struct store_row *row)
{
    (void)row;
    s->n_total++;
    return 0;
}

/* ---- All ------------------------------------------------------------------------------------ */

/* What of the range lies behind the place where the search goes on; false: nothing. */
static bool clip(const struct search *s, struct store_range *range)
{
    if (!s->at.p)
        return true;
    if (range->descending) {
        if (!range->to.p || str_compare(s->at, range->to) < 0)
            range->to = s->at;
    } else if (!range->from.p || str_compare(s->at, range->from) >= 0) {
        bool same = range->from.p && str_eq(s->at, range->from);
        range->after = s->after || (same && range->after);
        range->from = s->at;
    }
    return !range->from.p || !range->to.p || str_compare(range->from, range->to) < 0;
}

static int scan_range(struct search *s, struct store_view *view, const struct store_range *range)
{
    const struct store_index *index = s->query.plan.index;
    if (!index)
        return store_scan_rows(view, s->table->id, range, look_at_row, s);
    int stop = store_scan_index(view, s->table->id, index->id, range, look_at_entry, s);
    return stop == ERR_ABSENT ? STOP_NO_INDEX : stop;
}

static int scan(struct search *s, struct store_view *view,
                int (*take)(struct search *s, const struct store_row *row))
{
    int stop = 0;
    s->take = take;
    for (uint32_t i = 0; stop == 0 && i < s->query.n_ranges; i++) {
        struct store_range range = s->query.ranges[i];
        if (clip(s, &range))
            stop = scan_range(s, view, &range);
    }
    return stop;
}

/* The rows of the heap, which are read again in the view that they were found in. */
static int write_top(struct search *s, struct store_view *view)
{
    int err = 0;
    top_sort(&s->top, &s->query);
    for (uint32_t i = 0; err == 0 && i < s->top.n; i++) {
        struct store_row row;
        struct arena arena;
        if (is_full(s)) {
            s->cursor = s->next_cursor;
            break;
        }
        arena_init(&arena, 0);
        err = store_get_row(view, s->table->id, s->top.v[i]->key, &arena, &row);
        if (err == 0)
            err = add_row(s, &row);
        arena_done(&arena);
    }
    return err;
}

static int count(struct search *s, struct store_view *view)
{
    if (!s->query.filter)
        return store_count_rows(view, s->table->id, &s->n_total);
    struct str at = s->at; /* all rows count, not those behind the cursor only */
    s->at = STR_NONE;
    int stop = scan(s, view, take_count);
    s->at = at;
    s->n_looked = 0;
    return stop;
}

/* Rows behind the cursor are a range only where they are read in their order. */
static void go_to_cursor(struct search *s)
{
    s->at = s->query.plan.ordered ? s->query.after_place : STR_NONE;
    s->after = true;
}

static void begin_anew(struct search *s)
{
    top_clear(&s->top);
    buf_clear(&s->rows);
    s->n_rows = 0;
    s->n_total = s->n_looked = 0;
    s->cursor = s->next_cursor = STR_NONE;
    go_to_cursor(s);
}

static int read_page(struct search *s, struct store_view *view)
{
    int stop = 0;
    if (s->query.total)
        stop = count(s, view);
    if (stop == 0 && s->query.plan.ordered)
        stop = scan(s, view, take_row);
    else if (stop == 0)
        stop = scan(s, view, take_for_order);
    if (stop == 0 && !s->query.plan.ordered)
        stop = write_top(s, view);
    return stop == STOP_FULL ? 0 : stop;
}

/* Somebody dropped the index that the plan goes by: the page is made by another way, whole. */
static int do_without_index(struct search *s)
{
    int err = table_query_without_index(s->table, &s->call->arena, &s->query);
    if (err == 0)
        begin_anew(s);
    return err;
}

static int run(struct search *s)
{
    struct store_view *view;
    int stop = store_view_open(s->call->core->store, STORE_DATA, &view);
    if (stop < 0)
        return stop;
    stop = read_page(s, view);
    while (stop == STOP_NO_INDEX && (stop = do_without_index(s)) == 0)
        stop = read_page(s, view);
    store_view_close(view);
    return stop;
}

/* Only a scan in order can go on where it stopped: the rest depends on one view of the rows. */
static bool can_go_on(const struct search *s)
{
    return s->query.plan.ordered && !s->query.total;
}

/* On a handler thread. Nobody else touches the search meanwhile, except for `stop`. */
static void go_on(struct loop_work *work)
{
    struct search *s = (struct search *)work; /* its first member */
    int err = search_check(s);
    s->on_thread = true;
    s->budget = INLINE_SCAN_ENTRIES + 1;
    if (!can_go_on(s))
        begin_anew(s);
    if (err == 0)
        err = run(s);
    s->err = err < 0 ? err : s->found(s);
}

int search_start(struct search *s)
{
    s->deadline_ms = clock_mono_ms() + SCAN_MS_MAX;
    s->budget = INLINE_SCAN_ENTRIES + 1;
    go_to_cursor(s);
    int err = run(s);
    if (err != STOP_BUDGET)
        return err < 0 ? err : s->found(s);
    s->work.run = go_on;
    err = scans_add(&s->call->core->scans, s);
    return err < 0 ? err : SEARCH_LATER;
}

void search_free(struct search *s)
{
    buf_done(&s->rows);
    top_clear(&s->top);
}
