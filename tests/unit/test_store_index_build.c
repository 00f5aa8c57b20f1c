/* tests/unit/test_store_index_build.c - contract of building and dropping indexes in core/store.h,
 * on both engines. The clock is moved by hand: with each look at it a millisecond goes by, so a
 * batch is over after some 25 rows and `progress` comes often. */
#include "hand_clock.h"

#include "store_contract.h"
#include "store_index.h"

#define ROWS 700

static struct str key_at(int i, char space[12])
{
    snprintf(space, 12, "%06d", i);
    return (struct str){space, 6};
}

static int put_at(struct store *store, uint32_t table, int i, int64_t n, uint32_t *ret_index)
{
    struct sample s;
    char space[12];
    struct store_op op =
        row_op(table, key_at(i, space), sample_row(&s, n, STR("some text")), STORE_ANY);
    int err = write_list(store, STORE_DATA, &op, 1, NULL);
    *ret_index = op.ret_index;
    return err;
}

static void fill_table(struct fixture *f, int n)
{
    uint32_t index;
    for (int i = 0; i < n; i++)
        assert_int_equal(put_at(f->store, f->table, 2 * i, i, &index), 0);
}

typedef void (*meanwhile_fn)(struct fixture *f, uint64_t done);

struct watch {
    struct fixture *f;
    meanwhile_fn meanwhile;
    uint64_t done, total;
    uint32_t n, stop_at; /* 0: never */
};

static int on_progress(void *ctx, uint64_t done, uint64_t total)
{
    struct watch *w = ctx;
    assert_true(done > w->done);
    w->done = done;
    w->total = total;
    w->n++;
    if (w->meanwhile) {
        int64_t step_ms = hand_step_ms;
        hand_step_ms = 0;
        w->meanwhile(w->f, done);
        hand_step_ms = step_ms;
    }
    return w->n == w->stop_at;
}

static int build_watched(struct fixture *f, const struct store_index *index, struct watch *w,
                         struct store_index_build *ret)
{
    w->f = f;
    *ret = (struct store_index_build){.progress = on_progress, .ctx = w};
    hand_step_ms = 1;
    int err = store_create_index(f->store, f->table, index, ret);
    hand_step_ms = 0;
    return err;
}

static void an_index_is_built_on_rows_that_are_there(void **state)
{
    struct fixture *f = *state;
    struct watch w = {0};
    struct store_index_build build;
    fill_table(f, ROWS);
    uint64_t seq = last_seq(f->store);
    assert_int_equal(build_watched(f, &by_n, &w, &build), 0);
    assert_int_equal(w.done, ROWS);
    assert_int_equal(w.total, ROWS);
    assert_in_range(w.n, ROWS / TXN_MS_MAX, ROWS / 10);
    assert_int_equal(scan_index_count(f->store, f->table, build.ret_index), ROWS);
    struct listed l = list_indexes(f->store, f->table);
    assert_true(l.n == 1 && l.n_ready == 1 && l.id == build.ret_index);
    assert_int_equal(building(f->store), 0);
    assert_true(last_seq(f->store) == seq); /* no row was changed */
    assert_int_equal(build_watched(f, &by_text, &(struct watch){0}, &build), 0);
    assert_int_equal(scan_index_count(f->store, f->table, build.ret_index), ROWS);
    check_is_clean(f->store);
}

static void a_batch_has_TXN_ROWS_MAX_rows(void **state)
{
    struct fixture *f = *state;
    struct watch w = {.f = f};
    struct store_index_build build = {.progress = on_progress, .ctx = &w};
    fill_table(f, 2 * TXN_ROWS_MAX + 1);
    assert_int_equal(store_create_index(f->store, f->table, &by_n, &build), 0); /* time stands */
    assert_int_equal(w.n, 3);
    check_is_clean(f->store);
}

static void an_empty_table_gets_an_index(void **state)
{
    struct fixture *f = *state;
    struct store_index_build build = {0};
    uint32_t index;
    assert_int_equal(store_create_index(f->store, f->table, &once_n, &build), 0);
    assert_int_equal(put_at(f->store, f->table, 1, 5, &index), 0);
    assert_int_equal(put_at(f->store, f->table, 2, 5, &index), ERR_EXISTS);
    assert_int_equal(index, build.ret_index);
    assert_int_equal(scan_index_count(f->store, f->table, build.ret_index), 1);
    check_is_clean(f->store);
}

static void the_catalog_version_tells_of_indexes(void **state)
{
    struct fixture *f = *state;
    struct store_index_build build = {0};
    uint64_t versions[3] = {0};
    for (int i = 0; i < 3; i++) {
        struct store_view *view = view_of(f->store, STORE_DATA);
        assert_int_equal(store_catalog_version(view, &versions[i]), 0);
        store_view_close(view);
        if (i == 0)
            assert_int_equal(store_create_index(f->store, f->table, &by_n, &build), 0);
        if (i == 1)
            assert_int_equal(store_drop_index(f->store, f->table, build.ret_index), 0);
    }
    assert_true(versions[0] < versions[1] && versions[1] < versions[2]);
}

/* ---- Others meanwhile ----------------------------------------------------------------------- */

static unsigned next_random(void)
{
    static unsigned random = 4711;
    random = random * 1103515245 + 12345;
    return random >> 16;
}

/* Rows before the build and behind it: new, changed, moved to another value, deleted. */
static void write_at_random(struct fixture *f, uint64_t done)
{
    uint32_t index;
    char space[12];
    (void)done;
    for (int i = 0; i < 20; i++) {
        int at = (int)(next_random() % (2 * ROWS));
        if (next_random() % 3 == 0)
            assert_int_equal(delete_key(f->store, f->table, key_at(at, space), STORE_ANY, NULL), 0);
        else
            assert_int_equal(put_at(f->store, f->table, at, next_random() % 50, &index), 0);
    }
}

static void what_is_written_during_the_build_has_its_entry(void **state)
{
    struct fixture *f = *state;
    struct watch w = {.meanwhile = write_at_random};
    struct store_index_build build;
    fill_table(f, ROWS);
    assert_int_equal(build_watched(f, &by_n, &w, &build), 0);
    assert_true(w.n > 10);
    assert_true(scan_index_count(f->store, f->table, build.ret_index) ==
                (int64_t)count_rows(f->store, f->table));
    check_is_clean(f->store);
}

static void load_and_abort(struct fixture *f, uint64_t done)
{
    struct store_load *load;
    struct sample s;
    char space[12];
    if (done > 200)
        return; /* else the rows grow faster than the index */
    assert_int_equal(store_load_begin(f->store, f->table, &load), 0);
    for (int i = 0; i < 600; i++)
        assert_int_equal(store_load_row(load, key_at((int)done + 3 * i, space),
                                        sample_row(&s, -i, STR("loaded")), STORE_ANY),
                         0);
    assert_int_equal(done % 2 ? store_load_commit(load) : store_load_abort(load), 0);
}

static void a_load_may_run_during_the_build(void **state)
{
    struct fixture *f = *state;
    struct watch w = {.meanwhile = load_and_abort};
    struct store_index_build build;
    fill_table(f, 300);
    assert_int_equal(build_watched(f, &by_text, &w, &build), 0);
    assert_true(scan_index_count(f->store, f->table, build.ret_index) ==
                (int64_t)count_rows(f->store, f->table));
    check_is_clean(f->store);
}

static void look_at_the_unready(struct fixture *f, uint64_t done)
{
    uint32_t index;
    struct store_index_build other = {0};
    struct listed l = list_indexes(f->store, f->table);
    assert_true(l.n == 1 && l.n_ready == 0);
    assert_int_equal(scan_index_count(f->store, f->table, l.id), ERR_ABSENT);
    assert_int_equal(store_create_index(f->store, f->table, &by_text, &other), ERR_BUSY);
    assert_int_equal(store_maintain(f->store), 0); /* leaves alone what lives */
    check_is_clean(f->store);
    if (done < 2)
        return;
    assert_int_equal(put_at(f->store, f->table, 1, 0, &index), ERR_EXISTS); /* row 0 has it */
    assert_int_equal(index, l.id);
}

static void an_index_that_is_built_refuses_but_is_not_searched(void **state)
{
    struct fixture *f = *state;
    struct watch w = {.meanwhile = look_at_the_unready};
    struct store_index_build build;
    fill_table(f, 100);
    assert_int_equal(build_watched(f, &once_n, &w, &build), 0);
    assert_true(w.n > 1);
}

/* ---- Failing -------------------------------------------------------------------------------- */

static void the_rows_that_break_a_unique_index_are_named(void **state)
{
    struct fixture *f = *state;
    struct watch w = {0};
    struct arena arena;
    uint32_t index;
    arena_init(&arena, 0);
    fill_table(f, 100);
    assert_int_equal(put_at(f->store, f->table, 151, 3, &index), 0); /* as 000006 */
    struct store_index_build build = {.progress = on_progress, .ctx = &w, .arena = &arena};
    w.f = f;
    hand_step_ms = 1;
    assert_int_equal(store_create_index(f->store, f->table, &once_n, &build), ERR_EXISTS);
    hand_step_ms = 0;
    assert_true(str_eq(build.ret_keys[0], STR("000006")));
    assert_true(str_eq(build.ret_keys[1], STR("000151")));
    assert_true(w.n > 1); /* not in the first batch */
    expect_no_index(f->store, f->table);
    assert_int_equal(put_at(f->store, f->table, 151, 1000, &index), 0);
    assert_int_equal(store_create_index(f->store, f->table, &once_n, &build), 0);
    check_is_clean(f->store);
    arena_done(&arena);
}

/* Row 4 has its entry by now, row 198 has not. */
static void make_doubles(struct fixture *f, uint64_t done)
{
    uint32_t index;
    if (done >= 50)
        return;
    assert_int_equal(put_at(f->store, f->table, 199, 2, &index), ERR_EXISTS);
    assert_int_equal(put_at(f->store, f->table, 199, 99, &index), 0);
}

static void a_double_made_during_the_build_is_refused_or_found(void **state)
{
    struct fixture *f = *state;
    struct watch w = {.meanwhile = make_doubles};
    struct store_index_build build;
    fill_table(f, 100);
    assert_int_equal(build_watched(f, &once_n, &w, &build), ERR_EXISTS);
    assert_int_equal(count_rows(f->store, f->table), 101);
    expect_no_index(f->store, f->table);
}

static void put_row_of(struct fixture *f, const char *key, struct tape_node value)
{
    const struct tape_node row[] = {
        {.kind = TAPE_OBJECT, .n = 1, .v.size = 3}, {.kind = TAPE_STR, .n = 1, .v.s = "n"}, value};
    struct store_op op = row_op(f->table, str_of(key), row, STORE_ANY);
    assert_int_equal(write_list(f->store, STORE_DATA, &op, 1, NULL), 0);
}

static void the_row_that_does_not_fit_is_named(void **state)
{
    static char text[600];
    static const struct store_index_part part[] = {{STR_INIT("n"), KEY_STRING, false}};
    struct store_index strings = {.name = STR("strings"), .parts = part, .n_parts = 1};
    struct fixture *f = *state;
    struct arena arena;
    arena_init(&arena, 0);
    struct store_index_build build = {.arena = &arena};
    memset(text, 'x', sizeof text);
    put_row_of(f, "fits", (struct tape_node){.kind = TAPE_STR, .n = 100, .v.s = text});
    put_row_of(f, "long", (struct tape_node){.kind = TAPE_STR, .n = 600, .v.s = text});
    assert_int_equal(store_create_index(f->store, f->table, &strings, &build), ERR_LIMIT);
    assert_true(str_eq(build.ret_keys[0], STR("long")));
    assert_null(build.ret_keys[1].p);
    put_row_of(f, "long", (struct tape_node){.kind = TAPE_TRUE});
    assert_int_equal(store_create_index(f->store, f->table, &strings, &build), ERR_PARAMS);
    assert_true(str_eq(build.ret_keys[0], STR("long")));
    expect_no_index(f->store, f->table);
    arena_done(&arena);
}

static void mend_what_does_not_fit(struct fixture *f, uint64_t done)
{
    char space[12];
    if (done > 60)
        return;
    put_row_of(f, key_at(2 * 98, space).p, (struct tape_node){.kind = TAPE_INT, .v.i = 1});
    assert_int_equal(delete_key(f->store, f->table, key_at(2 * 99, space), STORE_ANY, NULL), 0);
}

/* A row that stood there may be changed or deleted although the index cannot hold it. */
static void a_row_that_does_not_fit_can_be_mended_in_time(void **state)
{
    struct fixture *f = *state;
    struct watch w = {.meanwhile = mend_what_does_not_fit};
    struct store_index_build build;
    char space[12];
    fill_table(f, 100);
    put_row_of(f, key_at(2 * 98, space).p, (struct tape_node){.kind = TAPE_TRUE});
    put_row_of(f, key_at(2 * 99, space).p, (struct tape_node){.kind = TAPE_TRUE});
    assert_int_equal(build_watched(f, &by_n, &w, &build), 0);
    assert_int_equal(scan_index_count(f->store, f->table, build.ret_index), 99);
    check_is_clean(f->store);
}

static void progress_may_stop_a_build(void **state)
{
    struct fixture *f = *state;
    struct watch w = {.stop_at = 3};
    struct store_index_build build;
    fill_table(f, ROWS);
    assert_int_equal(build_watched(f, &by_n, &w, &build), ERR_CANCELLED);
    assert_int_equal(w.n, 3);
    expect_no_index(f->store, f->table);
}

static void drop_what_is_built(struct fixture *f, uint64_t done)
{
    (void)done;
    assert_int_equal(store_drop_index(f->store, f->table, list_indexes(f->store, f->table).id), 0);
}

static void dropping_it_stops_a_build(void **state)
{
    struct fixture *f = *state;
    struct watch w = {.meanwhile = drop_what_is_built};
    struct store_index_build build;
    fill_table(f, ROWS);
    assert_int_equal(build_watched(f, &by_n, &w, &build), ERR_CANCELLED);
    assert_int_equal(w.n, 1);
    expect_no_index(f->store, f->table);
}

static void drop_the_table(struct fixture *f, uint64_t done)
{
    (void)done;
    assert_int_equal(drop_table(f->store, f->table, STORE_PRESENT), 0);
}

static void dropping_the_table_stops_a_build(void **state)
{
    struct fixture *f = *state;
    struct watch w = {.meanwhile = drop_the_table};
    struct store_index_build build;
    fill_table(f, ROWS);
    assert_int_equal(build_watched(f, &by_n, &w, &build), ERR_ABSENT);
    assert_int_equal(w.n, 1);
    expect_no_index(f->store, f->table);
}

static void what_is_no_index_is_refused(void **state)
{
    struct fixture *f = *state;
    struct store_index_build build = {0};
    struct store_index none = {.name = STR("none"), .parts = part_n};
    struct store_index nameless = {.parts = part_n, .n_parts = 1};
    assert_int_equal(store_create_index(f->store, f->table + 7, &by_n, &build), ERR_ABSENT);
    assert_int_equal(store_create_index(f->store, f->table, &none, &build), ERR_LIMIT);
    assert_int_equal(store_create_index(f->store, f->table, &nameless, &build), ERR_LIMIT);
    assert_int_equal(store_create_index(f->store, f->table, &by_n, &build), 0);
    assert_int_equal(store_create_index(f->store, f->table, &by_n, &build), ERR_EXISTS);
    assert_null(build.ret_keys[0].p); /* it is the name */
    for (int i = 1; i < TABLE_INDEXES_MAX; i++) {
        char name[8];
        snprintf(name, sizeof name, "i%d", i);
        struct store_index another = by_n;
        another.name = str_of(name);
        assert_int_equal(store_create_index(f->store, f->table, &another, &build), 0);
    }
    assert_int_equal(store_create_index(f->store, f->table, &by_text, &build), ERR_LIMIT);
    check_is_clean(f->store);
}

/* ---- Dropping ------------------------------------------------------------------------------- */

static void a_dropped_index_is_gone_with_its_entries(void **state)
{
    struct fixture *f = *state;
    struct store_index_build kept = {0}, dropped = {0};
    uint32_t index;
    fill_table(f, ROWS);
    assert_int_equal(store_create_index(f->store, f->table, &by_text, &kept), 0);
    assert_int_equal(store_create_index(f->store, f->table, &once_n, &dropped), 0);
    uint32_t other = make_table(f->store, "other");
    assert_int_equal(store_drop_index(f->store, other, dropped.ret_index), ERR_ABSENT);
    assert_int_equal(store_drop_index(f->store, 99, dropped.ret_index), ERR_ABSENT);
    assert_int_equal(store_drop_index(f->store, f->table, dropped.ret_index), 0);
    assert_int_equal(store_drop_index(f->store, f->table, dropped.ret_index), ERR_ABSENT);
    assert_int_equal(scan_index_count(f->store, f->table, dropped.ret_index), ERR_ABSENT);
    assert_int_equal(scan_index_count(f->store, f->table, kept.ret_index), ROWS);
    assert_int_equal(count_map(f->store, KV_ENTRIES), ROWS);
    assert_int_equal(put_at(f->store, f->table, 1, 5, &index), 0); /* it refuses no more */
    check_is_clean(f->store);
}

#define CASES(X)                                          \
    X(an_index_is_built_on_rows_that_are_there)           \
    X(a_batch_has_TXN_ROWS_MAX_rows)                      \
    X(an_empty_table_gets_an_index)                       \
    X(the_catalog_version_tells_of_indexes)               \
    X(what_is_written_during_the_build_has_its_entry)     \
    X(a_load_may_run_during_the_build)                    \
    X(an_index_that_is_built_refuses_but_is_not_searched) \
    X(the_rows_that_break_a_unique_index_are_named)       \
    X(a_double_made_during_the_build_is_refused_or_found) \
    X(the_row_that_does_not_fit_is_named)                 \
    X(a_row_that_does_not_fit_can_be_mended_in_time)      \
    X(progress_may_stop_a_build)                          \
    X(dropping_it_stops_a_build)                          \
    X(dropping_the_table_stops_a_build)                   \
    X(what_is_no_index_is_refused)                        \
    X(a_dropped_index_is_gone_with_its_entries)

int main(void)
{
    static const struct CMUnitTest tests[] = {CASES(CONTRACT_MEMORY) CASES(CONTRACT_LMDB)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
