/* tests/unit/test_store_writer.c - the queue of a space: its bounds in number and in time, and that
 * a list is either done or refused, on both engines. The clock is moved by hand. */
#include "hand_clock.h"

#include "store_contract.h"

#include <sched.h>

#define TRIES 10000000 /* of looking whether a thread got somewhere */

static struct loop loop = {.lock = PTHREAD_MUTEX_INITIALIZER, .posted = PTHREAD_COND_INITIALIZER};

struct list {
    struct waited waited; /* first */
    struct store_op op;
    struct sample sample;
    char key[12];
};

static struct list *make_lists(uint32_t n, uint32_t table)
{
    struct list *lists = calloc(n, sizeof *lists);
    assert_non_null(lists);
    for (uint32_t i = 0; i < n; i++) {
        struct list *l = &lists[i];
        snprintf(l->key, sizeof l->key, "%06u", i);
        l->op = row_op(table, str_of(l->key), sample_row(&l->sample, i, STR("")), STORE_MISSING);
        l->waited.write = (struct store_write){
            .space = STORE_DATA, .ops = &l->op, .n_ops = 1, .done = waited_done};
    }
    return lists;
}

static void submit_lists(struct fixture *f, struct list *lists, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        store_submit(f->store, &lists[i].waited.write);
}

static void run_until_done(struct list *lists, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        while (!lists[i].waited.n_done)
            loop_run_once(&loop);
}

/* Done means there, refused means not there. */
static void check_lists(struct fixture *f, struct list *lists, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        struct waited *w = &lists[i].waited;
        assert_int_equal(w->n_done, 1);
        assert_true(w->err == 0 || w->err == ERR_BUSY);
        assert_int_equal(get_n(f->store, f->table, str_of(lists[i].key)),
                         w->err ? ERR_ABSENT : (int)i);
    }
}

/* The writer thread may not have come to the lock yet. */
static void expire_until_posted(struct fixture *f)
{
    for (int i = 0; i < TRIES && !loop_has_post(&loop); i++) {
        store_expire_writes(f->store);
        sched_yield();
    }
    assert_true(loop_has_post(&loop));
}

static void writes_past_WRITES_WAITING_MAX_are_refused_at_once(void **state)
{
    struct fixture *f = *state;
    struct batch holder;
    uint32_t n = WRITES_WAITING_MAX + 3;
    struct list *lists = make_lists(n, f->table);
    store_attach(f->store, &loop);
    assert_int_equal(batch_begin(f->store, STORE_DATA, &holder), 0);
    submit_lists(f, lists, n);
    run_until_done(lists + n - 3, 3);
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(lists[i].waited.n_done, i >= n - 3);
        assert_int_equal(lists[i].waited.err, i >= n - 3 ? ERR_BUSY : 0);
    }
    batch_abort(&holder);
    run_until_done(lists, n);
    check_lists(f, lists, n);
    assert_int_equal(count_rows(f->store, f->table), WRITES_WAITING_MAX);
    free(lists);
}

static void a_write_that_waits_for_WRITE_WAIT_MS_is_refused(void **state)
{
    struct fixture *f = *state;
    struct batch holder;
    struct list *lists = make_lists(6, f->table);
    store_attach(f->store, &loop);
    assert_int_equal(batch_begin(f->store, STORE_DATA, &holder), 0);
    submit_lists(f, lists, 3);
    clock_advance_ms(WRITE_WAIT_MS - 1);
    store_expire_writes(f->store);
    assert_false(loop_has_post(&loop));
    submit_lists(f, lists + 3, 3);
    clock_advance_ms(1);
    expire_until_posted(f);
    run_until_done(lists, 3);
    for (int i = 0; i < 6; i++)
        assert_int_equal(lists[i].waited.n_done, i < 3);
    batch_abort(&holder);
    run_until_done(lists, 6);
    for (int i = 0; i < 6; i++)
        assert_int_equal(lists[i].waited.err, i < 3 ? ERR_BUSY : 0);
    check_lists(f, lists, 6);
    free(lists);
}

static _Atomic bool hurrying;

static void *hurry(void *arg)
{
    while (hurrying) {
        clock_advance_ms(WRITE_WAIT_MS);
        store_expire_writes(arg);
        sched_yield();
    }
    return NULL;
}

/* Lists are taken and refused at the same time, while the lock is held now and then. */
static void a_list_is_done_or_refused_and_never_both(void **state)
{
    struct fixture *f = *state;
    pthread_t thread;
    uint32_t n_refused = 0;
    struct list *lists = make_lists(4000, f->table);
    store_attach(f->store, &loop);
    hurrying = true;
    assert_int_equal(pthread_create(&thread, NULL, hurry, f->store), 0);
    for (int i = 0; i < 4000; i += 20) {
        struct batch holder;
        assert_int_equal(batch_begin(f->store, STORE_DATA, &holder), 0);
        submit_lists(f, lists + i, 10);
        batch_abort(&holder);
        submit_lists(f, lists + i + 10, 10);
    }
    run_until_done(lists, 4000);
    hurrying = false;
    pthread_join(thread, NULL);
    check_lists(f, lists, 4000);
    for (int i = 0; i < 4000; i++)
        n_refused += lists[i].waited.err != 0;
    assert_true(count_rows(f->store, f->table) == 4000 - n_refused);
    free(lists);
}

static void *submit_and_wait(void *arg)
{
    struct fixture *f = arg;
    static int err;
    err = put_n(f->store, f->table, STR("k"), 1, STORE_MISSING, NULL);
    return &err;
}

static void without_a_loop_the_wait_ends_too(void **state)
{
    struct fixture *f = *state;
    struct batch holder;
    pthread_t thread;
    void *err;
    assert_int_equal(batch_begin(f->store, STORE_DATA, &holder), 0);
    hand_step_ms = WRITE_WAIT_MS;
    assert_int_equal(pthread_create(&thread, NULL, submit_and_wait, f), 0);
    assert_int_equal(pthread_join(thread, &err), 0);
    hand_step_ms = 0;
    batch_abort(&holder);
    assert_int_equal(*(int *)err, ERR_BUSY);
    assert_int_equal(get_n(f->store, f->table, STR("k")), ERR_ABSENT);
    assert_int_equal(put_n(f->store, f->table, STR("k"), 1, STORE_MISSING, NULL), 0);
}

struct transactions {
    int64_t at_ms; /* rows of one transaction have one time */
    uint32_t n, rows, most_rows;
};

static int count_transaction(void *ctx, const struct store_row *row)
{
    struct transactions *t = ctx;
    if (row->changed_ms != t->at_ms) {
        t->n++;
        t->rows = 0;
    }
    t->at_ms = row->changed_ms;
    t->rows++;
    t->most_rows = t->rows > t->most_rows ? t->rows : t->most_rows;
    return 0;
}

static struct transactions write_as_groups(struct fixture *f, uint32_t n, int64_t step_ms)
{
    struct batch holder;
    struct transactions t = {0};
    struct list *lists = make_lists(n, f->table);
    store_attach(f->store, &loop);
    assert_int_equal(batch_begin(f->store, STORE_DATA, &holder), 0);
    submit_lists(f, lists, n);
    hand_step_ms = step_ms;
    batch_abort(&holder);
    run_until_done(lists, n);
    hand_step_ms = 0;
    struct store_view *view = view_of(f->store, STORE_DATA);
    assert_int_equal(store_scan_rows(view, f->table, NULL, count_transaction, &t), 0);
    store_view_close(view);
    free(lists);
    return t;
}

/* The clock goes on by a millisecond with each list. */
static void a_transaction_ends_after_TXN_MS_MAX(void **state)
{
    struct transactions t = write_as_groups(*state, 200, 1);
    assert_int_equal(t.most_rows, TXN_MS_MAX);
    assert_int_equal(t.n, 200 / TXN_MS_MAX);
}

static uint32_t make_indexed_table(struct store *store)
{
    static const struct store_index_part part = {STR_INIT("n"), KEY_INTEGER, false};
    static const struct store_index by_n = {.name = STR_INIT("by_n"), .parts = &part, .n_parts = 1};
    struct store_table table = {.database = STR("db"),
                                .name = STR("indexed"),
                                .definition = STR("{}"),
                                .indexes = &by_n,
                                .n_indexes = 1};
    struct store_op op = {.kind = STORE_PUT_TABLE, .if_version = STORE_ANY, .put_table = &table};
    assert_int_equal(write_list(store, STORE_DATA, &op, 1, NULL), 0);
    return op.ret_table;
}

/* The clock goes on with each list, so that a second transaction would have another time. */
static void a_row_that_an_index_cannot_hold_does_not_fail_its_group(void **state)
{
    struct fixture *f = *state;
    struct batch holder;
    struct transactions t = {0};
    uint32_t table = make_indexed_table(f->store);
    struct list *lists = make_lists(20, table);
    lists[5].sample.nodes[2] = (struct tape_node){.kind = TAPE_STR, .n = 1, .v.s = "x"};
    store_attach(f->store, &loop);
    assert_int_equal(batch_begin(f->store, STORE_DATA, &holder), 0);
    submit_lists(f, lists, 20);
    hand_step_ms = 1;
    batch_abort(&holder);
    run_until_done(lists, 20);
    hand_step_ms = 0;
    for (int i = 0; i < 20; i++)
        assert_int_equal(lists[i].waited.err, i == 5 ? ERR_PARAMS : 0);
    assert_true(lists[5].op.ret_index > 0);
    struct store_view *view = view_of(f->store, STORE_DATA);
    assert_int_equal(store_scan_rows(view, table, NULL, count_transaction, &t), 0);
    store_view_close(view);
    assert_int_equal(t.n, 1);
    assert_int_equal(t.most_rows, 19);
    free(lists);
}

#define CASES(X)                                          \
    X(writes_past_WRITES_WAITING_MAX_are_refused_at_once) \
    X(a_write_that_waits_for_WRITE_WAIT_MS_is_refused)    \
    X(a_list_is_done_or_refused_and_never_both)           \
    X(without_a_loop_the_wait_ends_too)                   \
    X(a_transaction_ends_after_TXN_MS_MAX)                \
    X(a_row_that_an_index_cannot_hold_does_not_fail_its_group)

int main(void)
{
    static const struct CMUnitTest tests[] = {CASES(CONTRACT_MEMORY) CASES(CONTRACT_LMDB)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
