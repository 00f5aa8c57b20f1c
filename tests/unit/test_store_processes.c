/* tests/unit/test_store_processes.c - processes that get in each other's way: one that stands in a
 * transaction, a reader that died, a map that grew, many that open at once.
 */
#include "store_children.h"

#include <sched.h>
#include <sys/stat.h>

/* ---- Inside a write transaction ------------------------------------------------------------- */

static void stop_inside_a_transaction(int to_parent)
{
    struct batch b;
    struct sample s;
    struct store *store = open_store(STORE_NOSYNC);
    require(store && batch_begin(store, STORE_DATA, &b) == 0);
    struct store_op op = row_op(TABLE, STR("half"), sample_row(&s, 1, STR("")), STORE_ANY);
    require(batch_apply(&b, &op) == 0);
    tell(to_parent, 1);
    wait_for_kill();
}

static void write_a_hundred(int to_parent)
{
    struct store *store = open_store(STORE_NOSYNC);
    require(store != NULL);
    tell(to_parent, 1);
    for (int i = 0; i < 100; i++) {
        char key[16];
        snprintf(key, sizeof key, "%03d", i);
        require(put_n(store, TABLE, str_of(key), i, STORE_MISSING, NULL) == 0);
    }
    store_close(store);
}

static void a_writer_goes_on_when_another_is_killed_in_its_transaction(void **state)
{
    (void)state;
    uint32_t told;
    struct store *store = open_store(STORE_NOSYNC);
    assert_non_null(store);
    assert_int_equal(make_table(store, "t"), TABLE);
    store_close(store);
    struct child stuck = start(stop_inside_a_transaction);
    assert_true(hear(&stuck, &told));
    struct child writer = start(write_a_hundred);
    assert_true(hear(&writer, &told)); /* opening does not need the write lock */
    kill_child(&stuck);
    close(stuck.from);
    expect_success(&writer);
    store = open_store(STORE_NOSYNC);
    assert_non_null(store);
    assert_int_equal(get_n(store, TABLE, STR("half")), ERR_ABSENT);
    assert_int_equal(count_rows(store, TABLE), 100);
    check_agreement(store);
    store_close(store);
}

#define TRIES 10000000 /* of looking whether a thread got somewhere */

/* The one of whom the write lock waits will not go on, nor die. */
static void a_write_is_refused_while_another_process_is_stopped_in_its_transaction(void **state)
{
    (void)state;
    uint32_t told;
    struct sample s;
    struct loop loop = {.lock = PTHREAD_MUTEX_INITIALIZER, .posted = PTHREAD_COND_INITIALIZER};
    struct store *store = open_store(STORE_NOSYNC);
    assert_non_null(store);
    assert_int_equal(make_table(store, "t"), TABLE);
    assert_int_equal(put_n(store, TABLE, STR("before"), 1, STORE_ANY, NULL), 0);
    store_close(store);
    struct child stuck = start(stop_inside_a_transaction);
    assert_true(hear(&stuck, &told));
    assert_int_equal(kill(stuck.pid, SIGSTOP), 0);
    store = open_store(STORE_NOSYNC);
    assert_non_null(store);
    store_attach(store, &loop);
    struct store_op op = row_op(TABLE, STR("k"), sample_row(&s, 5, STR("")), STORE_ANY);
    struct waited w = {.write = {.space = STORE_DATA, .ops = &op, .n_ops = 1, .done = waited_done}};
    store_submit(store, &w.write);
    clock_advance_ms(WRITE_WAIT_MS);
    for (int i = 0; i < TRIES && !loop_has_post(&loop); i++) {
        store_expire_writes(store);
        sched_yield(); /* the writer may not have come to the lock yet */
    }
    assert_true(loop_has_post(&loop));
    loop_run_once(&loop);
    assert_int_equal(w.n_done, 1);
    assert_int_equal(w.err, ERR_BUSY);
    assert_int_equal(get_n(store, TABLE, STR("before")), 1);
    assert_int_equal(get_n(store, TABLE, STR("k")), ERR_ABSENT);
    kill_child(&stuck);
    close(stuck.from);
    store_submit(store, &w.write);
    loop_run_once(&loop);
    assert_int_equal(w.err, 0);
    assert_int_equal(get_n(store, TABLE, STR("k")), 5);
    check_agreement(store);
    store_close(store);
}

/* ---- A reader that died --------------------------------------------------------------------- */

static void stop_with_a_view_open(int to_parent)
{
    struct store *store = open_store(STORE_NOSYNC);
    require(store != NULL);
    struct store_view *view = view_of(store, STORE_DATA);
    require(get_n_in(view, TABLE, STR("k"), NULL) == 0);
    tell(to_parent, 1);
    wait_for_kill();
}

static int64_t data_blocks(void)
{
    char path[96];
    struct stat st;
    snprintf(path, sizeof path, "%s/data.mdb", dir);
    assert_int_equal(stat(path, &st), 0);
    return st.st_blocks;
}

static void rewrite_often(struct store *store, int times)
{
    static char text[2000];
    struct sample s;
    memset(text, 'x', sizeof text);
    for (int i = 0; i < times; i++) {
        struct store_op op =
            row_op(TABLE, STR("k"), sample_row(&s, i, (struct str){text, sizeof text}), STORE_ANY);
        assert_int_equal(write_list(store, STORE_DATA, &op, 1, NULL), 0);
    }
}

static void a_dead_reader_stops_pinning_pages_after_maintain(void **state)
{
    (void)state;
    uint32_t told;
    struct store *store = open_store(STORE_NOSYNC);
    assert_non_null(store);
    assert_int_equal(make_table(store, "t"), TABLE);
    assert_int_equal(put_n(store, TABLE, STR("k"), 0, STORE_ANY, NULL), 0);
    store_close(store);
    struct child reader = start(stop_with_a_view_open);
    assert_true(hear(&reader, &told));
    store = open_store(STORE_NOSYNC); /* who opens alone clears all readers */
    assert_non_null(store);
    kill_child(&reader);
    close(reader.from);
    store->log_keep = 10;
    int64_t before = data_blocks();
    rewrite_often(store, 300);
    int64_t pinned = data_blocks() - before;
    assert_true(pinned > 300 * 8); /* a page of 4 KiB and more each */
    assert_int_equal(store_maintain(store), 0);
    rewrite_often(store, 300); /* into the pages that were freed */
    assert_true(data_blocks() - before < pinned + pinned / 2);
    store_close(store);
}

/* ---- A map that another process made larger ------------------------------------------------- */

static void write_much(int to_parent)
{
    static char text[1000];
    struct store *store = NULL;
    struct arena arena;
    struct str why;
    struct sample s;
    struct store_config config = {.dir = dir, .mode = STORE_NOSYNC, .map_bytes = 64 << 20};
    memset(text, 0x78, sizeof text);
    arena_init(&arena, 0);
    require(store_open_lmdb(&config, &arena, &store, &why) == 0);
    for (int i = 0; i < 5000; i++) {
        char key[16];
        snprintf(key, sizeof key, "%05d", i);
        struct store_op op = row_op(TABLE, str_of(key),
                                    sample_row(&s, i, (struct str){text, sizeof text}), STORE_ANY);
        require(write_list(store, STORE_DATA, &op, 1, NULL) == 0);
    }
    store_close(store);
    tell(to_parent, 1);
}

static void a_map_that_another_process_made_larger_is_followed(void **state)
{
    (void)state;
    uint32_t told;
    struct arena arena;
    struct str why;
    struct store *store = NULL;
    struct store_config config = {.dir = dir, .mode = STORE_NOSYNC, .map_bytes = 2 << 20};
    arena_init(&arena, 0);
    assert_int_equal(store_open_lmdb(&config, &arena, &store, &why), 0);
    assert_int_equal(make_table(store, "t"), TABLE);
    struct child other = start(write_much);
    assert_true(hear(&other, &told));
    expect_success(&other);
    assert_int_equal(get_n(store, TABLE, STR("04999")), 4999);
    assert_int_equal(put_n(store, TABLE, STR("more"), 1, STORE_MISSING, NULL), 0);
    assert_int_equal(scan_count(store, TABLE), 5001);
    store_close(store);
    arena_done(&arena);
}

/* ---- Many at once --------------------------------------------------------------------------- */

static void open_fresh_and_write(int to_parent)
{
    unsigned char secret[32];
    uint32_t id = 0;
    struct store *store = open_store(STORE_NOSYNC);
    require(store && store_secret(store, secret) == 0);
    tell(to_parent, kv_u32(secret));
    require(put_table(store, STR("db"), STR("t"), STORE_ANY, &id) == 0 && id == TABLE);
    for (int i = 0; i < 50; i++)
        require(put_n(store, TABLE, STR("k"), i, STORE_ANY, NULL) == 0);
    store_close(store);
}

static void processes_may_open_a_new_directory_at_once(void **state)
{
    (void)state;
    struct child children[6];
    uint32_t secrets[6];
    for (int i = 0; i < 6; i++)
        children[i] = start(open_fresh_and_write);
    for (int i = 0; i < 6; i++) {
        assert_true(hear(&children[i], &secrets[i]));
        assert_int_equal(secrets[i], secrets[0]);
        expect_success(&children[i]);
    }
    struct store *store = open_store(STORE_NOSYNC);
    assert_non_null(store);
    assert_int_equal(last_seq(store), 6 * 51);
    store_close(store);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        CASE(a_writer_goes_on_when_another_is_killed_in_its_transaction),
        CASE(a_write_is_refused_while_another_process_is_stopped_in_its_transaction),
        CASE(a_dead_reader_stops_pinning_pages_after_maintain),
        CASE(a_map_that_another_process_made_larger_is_followed),
        CASE(processes_may_open_a_new_directory_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
