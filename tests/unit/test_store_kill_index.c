/* tests/unit/test_store_kill_index.c - processes that die by SIGKILL while they build or drop an
 * index: what the next one finds is the index as a whole or nothing of it, and store_check agrees.
 */
#include "store_children.h"
#include "store_index.h"

#define ROWS   2500
#define ROUNDS 20

static void name_row(int i, char out[16])
{
    snprintf(out, 16, "%06d", i);
}

static void make_rows(void)
{
    struct store *store = open_store(STORE_NOSYNC);
    struct store_load *load;
    assert_non_null(store);
    assert_int_equal(make_table(store, "t"), TABLE);
    assert_int_equal(store_load_begin(store, TABLE, &load), 0);
    for (int i = 0; i < ROWS; i++) {
        struct sample s;
        char key[16];
        name_row(2 * i, key);
        assert_int_equal(
            store_load_row(load, str_of(key), sample_row(&s, i, STR("text")), STORE_MISSING), 0);
    }
    assert_int_equal(store_load_commit(load), 0);
    store_close(store);
}

static int tell_progress(void *ctx, uint64_t done, uint64_t total)
{
    (void)total;
    tell(*(int *)ctx, (uint32_t)done);
    return 0;
}

static void build_and_drop(int to_parent)
{
    struct store *store = open_store(STORE_NOSYNC);
    require(store != NULL);
    for (;;) {
        struct store_index_build build = {.progress = tell_progress, .ctx = &to_parent};
        require(store_create_index(store, TABLE, &once_n, &build) == 0);
        tell(to_parent, 1);
        require(store_drop_index(store, TABLE, build.ret_index) == 0);
        tell(to_parent, 2);
    }
}

static void write_for_ever(int to_parent)
{
    unsigned random = (unsigned)getpid();
    struct store *store = open_store(STORE_NOSYNC);
    require(store != NULL);
    tell(to_parent, 1);
    for (uint32_t i = 0;; i++) {
        struct sample s;
        char key[16];
        random = random * 1103515245 + 12345;
        name_row((int)(random >> 8) % (2 * ROWS), key);
        int64_t n = ROWS + i; /* nobody else's */
        struct store_op op =
            row_op(TABLE, str_of(key), random % 5 ? sample_row(&s, n, STR("x")) : NULL, STORE_ANY);
        require(write_list(store, STORE_DATA, &op, 1, NULL) == 0);
    }
}

/* Whole, or not there; and nothing is left of what was begun. */
static void look_at_what_is_left(struct store *store)
{
    struct listed l = list_indexes(store, TABLE);
    assert_true(l.n <= 1 && l.n_ready == l.n);
    assert_int_equal(building(store), 0);
    check_is_clean(store);
    if (l.n)
        assert_true(scan_index_count(store, TABLE, l.id) == (int64_t)count_rows(store, TABLE));
    while (count_map(store, KV_DROPPED_INDEXES))
        assert_int_equal(store_maintain(store), 0);
    assert_int_equal(count_map(store, KV_ENTRIES), l.n ? count_rows(store, TABLE) : 0);
    check_is_clean(store);
    if (l.n)
        assert_int_equal(store_drop_index(store, TABLE, l.id), 0);
}

/* Rows may be written while this looks, but the checks are of one snapshot. */
static void maintain_once(int to_parent)
{
    (void)to_parent;
    struct store *store = open_store(STORE_NOSYNC);
    require(store && store_maintain(store) == 0);
    struct listed l = list_indexes(store, TABLE);
    require(l.n <= 1 && l.n_ready == l.n && building(store) == 0);
    require(store_check(store, print_finding, NULL, NULL) == 0);
    if (l.n)
        require(store_drop_index(store, TABLE, l.id) == 0);
    store_close(store);
}

static void a_build_killed_anywhere_is_whole_or_not_there(void **state)
{
    (void)state;
    unsigned random = (unsigned)getpid();
    make_rows();
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t told;
        struct child c = start(build_and_drop);
        random = random * 1103515245 + 12345;
        for (unsigned n = 1 + (random >> 16) % 20; n && hear(&c, &told); n--)
            ;
        kill_child(&c);
        close(c.from);
        struct store *store = open_store(STORE_NOSYNC);
        assert_non_null(store);
        look_at_what_is_left(store);
        store_close(store);
    }
}

/* Others have the store open all the time and write, so it is the keeper who finds what was left.
 */
static void a_build_killed_among_writers_is_dropped_by_the_keeper(void **state)
{
    (void)state;
    unsigned random = (unsigned)getpid();
    uint32_t told;
    make_rows();
    struct child writer = start(write_for_ever);
    assert_true(hear(&writer, &told));
    for (int round = 0; round < ROUNDS / 2; round++) {
        struct child c = start(build_and_drop);
        random = random * 1103515245 + 12345;
        for (unsigned n = 1 + (random >> 16) % 20; n && hear(&c, &told); n--)
            ;
        kill_child(&c);
        close(c.from);
        struct child keeper = start(maintain_once);
        expect_success(&keeper);
    }
    kill_child(&writer);
    close(writer.from);
    struct store *store = open_store(STORE_NOSYNC);
    assert_non_null(store);
    look_at_what_is_left(store);
    store_close(store);
}

static int stop_for_ever(void *ctx, uint64_t done, uint64_t total)
{
    tell_progress(ctx, done, total);
    wait_for_kill();
    return 0;
}

static void stand_still_in_a_build(int to_parent)
{
    struct store *store = open_store(STORE_NOSYNC);
    struct store_index_build build = {.progress = stop_for_ever, .ctx = &to_parent};
    require(store != NULL);
    store_create_index(store, TABLE, &by_n, &build);
}

static void a_build_that_lives_is_left_alone_and_dropped_by_the_keeper(void **state)
{
    (void)state;
    uint32_t told;
    struct store_index_build other = {0};
    make_rows();
    struct child c = start(stand_still_in_a_build);
    assert_true(hear(&c, &told));
    struct store *store = open_store(STORE_NOSYNC);
    assert_non_null(store);
    assert_int_equal(store_maintain(store), 0);
    struct listed l = list_indexes(store, TABLE);
    assert_true(l.n == 1 && l.n_ready == 0);
    check_is_clean(store);
    assert_int_equal(store_create_index(store, TABLE, &by_text, &other), ERR_BUSY);
    kill_child(&c);
    close(c.from);
    check_is_clean(store); /* it is named as being built until the keeper comes */
    assert_int_equal(store_maintain(store), 0);
    expect_no_index(store, TABLE);
    store_close(store);
}

/* Who builds next need not wait for the keeper. */
static void a_new_build_drops_the_one_that_died(void **state)
{
    (void)state;
    uint32_t told;
    struct store_index_build build = {0};
    make_rows();
    struct child c = start(stand_still_in_a_build);
    assert_true(hear(&c, &told));
    struct store *store = open_store(STORE_NOSYNC);
    assert_non_null(store);
    kill_child(&c);
    close(c.from);
    assert_int_equal(store_create_index(store, TABLE, &by_n, &build), 0); /* the same name */
    struct listed l = list_indexes(store, TABLE);
    assert_true(l.n == 1 && l.n_ready == 1);
    assert_int_equal(scan_index_count(store, TABLE, l.id), ROWS);
    check_is_clean(store);
    store_close(store);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        CASE(a_build_killed_anywhere_is_whole_or_not_there),
        CASE(a_build_killed_among_writers_is_dropped_by_the_keeper),
        CASE(a_build_that_lives_is_left_alone_and_dropped_by_the_keeper),
        CASE(a_new_build_drops_the_one_that_died),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
