/* tests/unit/test_store_memory.c - the n-th allocation fails, for every n, while an index is built,
 * a stream or a subscription is written or a store is checked: it is an error, nothing is lost or
 * left, and the next attempt works. */
#include "failing_heap.h"

#include "store_contract.h"
#include "store_index.h"
#include "store_live.h"

#define ROWS 40

static void make_rows(struct fixture *f)
{
    for (int i = 0; i < ROWS; i++) {
        char key[12];
        snprintf(key, sizeof key, "%04d", i);
        assert_int_equal(put_n(f->store, f->table, str_of(key), i, STORE_MISSING, NULL), 0);
    }
}

/* What a failed build could not take back at once is for the keeper. */
static void nothing_is_left(struct fixture *f)
{
    assert_int_equal(store_maintain(f->store), 0);
    expect_no_index(f->store, f->table);
    assert_int_equal(scan_count(f->store, f->table), ROWS);
}

static void a_build_without_memory_leaves_nothing(void **state)
{
    struct fixture *f = *state;
    int err = ERR_NO_MEMORY;
    unsigned n = 0;
    make_rows(f);
    while (err) {
        struct store_index_build build = {0};
        heap_fail_at(++n);
        err = store_create_index(f->store, f->table, &once_n, &build);
        bool had_all = heap_ok();
        assert_true(n < 2000 && (err == 0 || err == ERR_NO_MEMORY));
        if (err)
            nothing_is_left(f);
        else
            assert_true(had_all);
    }
    assert_true(n > 10);
    struct listed l = list_indexes(f->store, f->table);
    assert_true(l.n == 1 && l.n_ready == 1);
    assert_int_equal(scan_index_count(f->store, f->table, l.id), ROWS);
    check_is_clean(f->store);
}

static void the_two_rows_of_a_double_need_memory_too(void **state)
{
    struct fixture *f = *state;
    struct arena arena;
    int err = ERR_NO_MEMORY;
    make_rows(f);
    put_n(f->store, f->table, STR("0039"), 7, STORE_ANY, NULL);
    for (unsigned n = 1; err == ERR_NO_MEMORY; n++) {
        arena_init(&arena, 0);
        struct store_index_build build = {.arena = &arena};
        heap_fail_at(n);
        err = store_create_index(f->store, f->table, &once_n, &build);
        heap_ok();
        assert_true(n < 2000 && (err == ERR_EXISTS || err == ERR_NO_MEMORY));
        if (err == ERR_EXISTS)
            assert_true(str_eq(build.ret_keys[0], STR("0007")) &&
                        str_eq(build.ret_keys[1], STR("0039")));
        nothing_is_left(f);
        arena_done(&arena);
    }
}

/* In this thread, the one whose heap fails. */
static int apply(struct store *store, struct store_op *ops, uint32_t n)
{
    struct batch b;
    int err = batch_begin(store, STORE_SYS, &b);
    if (err)
        return err;
    for (uint32_t i = 0; i < n && !err; i++)
        err = batch_apply(&b, &ops[i]);
    if (!err)
        return batch_commit(&b);
    batch_abort(&b);
    return err;
}

static int delete_session(struct store *store)
{
    struct store_session s = {.id = SESSION};
    struct store_op op = {.kind = STORE_DELETE_SESSION, .if_version = STORE_ANY, .session = &s};
    return apply(store, &op, 1);
}

/* A whole life of a stream, in one list. */
static int live(struct store *store, uint64_t id)
{
    struct store_stream s = stream_of(SESSION, id);
    struct store_claim claim = {.session = SESSION, .stream = id, .worker = me, .token = 1};
    struct store_op ops[] = {
        {.kind = STORE_PUT_STREAM, .stream = &s},
        {.kind = STORE_CLAIM_PUSHES, .claim = &claim},
        {.kind = STORE_PUT_PUSH, .claim = &claim, .message = STR("a"), .until_ms = INT64_MAX},
        frame_op(&s, 1, STR("a")),
        frame_op(&s, 2, STR("b")),
        {.kind = STORE_PUT_MAIL, .to = you, .message = STR("c")},
    };
    ops[4].max_frames = 1;
    return apply(store, ops, 6);
}

static void a_stream_without_memory_is_written_whole_or_not_at_all(void **state)
{
    struct fixture *f = *state;
    int err = ERR_NO_MEMORY;
    unsigned n = 0;
    assert_int_equal(session_op(f->store, STORE_PUT_SESSION, SESSION), 0);
    while (err) {
        heap_fail_at(++n);
        err = live(f->store, 5);
        heap_ok();
        assert_true(n < 2000 && (err == 0 || err == ERR_NO_MEMORY));
        uint64_t expected = err ? 0 : 1;
        assert_int_equal(count_sys(f->store, KV_STREAMS), expected);
        assert_int_equal(count_sys(f->store, KV_FRAMES), expected);
        assert_int_equal(count_sys(f->store, KV_PUSHES), expected);
        assert_int_equal(count_sys(f->store, KV_MAIL), expected);
    }
    assert_true(n > 2);
    check_is_clean(f->store);
}

static void a_session_without_memory_goes_whole_or_not_at_all(void **state)
{
    struct fixture *f = *state;
    int err = ERR_NO_MEMORY;
    assert_int_equal(session_op(f->store, STORE_PUT_SESSION, SESSION), 0);
    assert_int_equal(live(f->store, 5), 0);
    for (unsigned n = 1; err; n++) {
        heap_fail_at(n);
        err = delete_session(f->store);
        heap_ok();
        assert_true(n < 2000 && (err == 0 || err == ERR_NO_MEMORY));
        uint64_t expected = err ? 1 : 0;
        assert_int_equal(count_sys(f->store, KV_SESSIONS), expected);
        assert_int_equal(count_sys(f->store, KV_STREAMS), expected);
        assert_int_equal(count_sys(f->store, KV_FRAMES), expected);
        assert_int_equal(count_sys(f->store, KV_PUSHES), expected);
    }
    check_is_clean(f->store);
}

/* Two subscriptions, one of them gone again, and a position with its frame. */
static int follow(struct store *store)
{
    struct store_claim claim = {.session = SESSION, .stream = 5, .worker = me, .token = 1};
    struct store_follow to = {.seq = 9, .sent_seq = 8, .generation = 3};
    struct store_subscription a = {.session = SESSION, .uri = STR("a"), .start_seq = 7};
    struct store_subscription b = {.session = SESSION, .uri = STR("b"), .start_seq = 7};
    struct store_stream s = stream_of(SESSION, 5);
    s.seq = 9;
    struct store_op ops[] = {
        {.kind = STORE_PUT_STREAM, .stream = &s},
        {.kind = STORE_CLAIM_PUSHES, .claim = &claim},
        {.kind = STORE_PUT_SUBSCRIPTION, .subscription = &a},
        {.kind = STORE_PUT_SUBSCRIPTION, .subscription = &b},
        {.kind = STORE_DELETE_SUBSCRIPTION, .subscription = &a},
        {.kind = STORE_SET_FOLLOW, .claim = &claim, .follow = &to},
        frame_op(&s, 1, STR("a")),
    };
    return apply(store, ops, 7);
}

static void expect_followed(struct store *store, bool followed)
{
    struct store_follow got = {0};
    assert_int_equal(count_sys(store, KV_SUBSCRIPTIONS), followed);
    assert_int_equal(count_sys(store, KV_FOLLOWS), followed);
    assert_int_equal(count_sys(store, KV_FRAMES), followed);
    struct store_view *view = view_of(store, STORE_SYS);
    assert_int_equal(store_get_follow(view, SESSION, &got), followed ? 0 : ERR_ABSENT);
    assert_true(!followed || (got.seq == 9 && got.sent_seq == 8 && got.n == 1));
    store_view_close(view);
}

static void subscriptions_without_memory_are_written_whole_or_not_at_all(void **state)
{
    struct fixture *f = *state;
    int err = ERR_NO_MEMORY;
    unsigned n = 0;
    assert_int_equal(session_op(f->store, STORE_PUT_SESSION, SESSION), 0);
    while (err) {
        heap_fail_at(++n);
        err = follow(f->store);
        heap_ok();
        assert_true(n < 2000 && (err == 0 || err == ERR_NO_MEMORY));
        expect_followed(f->store, !err);
    }
    assert_true(n > 2);
    check_is_clean(f->store);
    for (err = ERR_NO_MEMORY, n = 1; err; n++) {
        heap_fail_at(n);
        err = delete_session(f->store);
        heap_ok();
        assert_true(n < 2000 && (err == 0 || err == ERR_NO_MEMORY));
        expect_followed(f->store, err);
    }
    check_is_clean(f->store);
}

static int count_uri(void *ctx, const struct store_subscription *s)
{
    (void)s;
    ++*(int *)ctx;
    return 0;
}

static void a_scan_of_subscriptions_without_memory_says_so(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(session_op(f->store, STORE_PUT_SESSION, SESSION), 0);
    assert_int_equal(follow(f->store), 0);
    struct store_view *view = view_of(f->store, STORE_SYS);
    int err = ERR_NO_MEMORY, seen = 0;
    for (unsigned n = 1; err; n++) {
        heap_fail_at(n);
        seen = 0;
        err = store_scan_subscriptions(view, SESSION, count_uri, &seen);
        heap_ok();
        assert_true(n < 2000 && (err == 0 || err == ERR_NO_MEMORY));
    }
    assert_int_equal(seen, 1);
    store_view_close(view);
}

static void a_check_without_memory_says_so(void **state)
{
    struct fixture *f = *state;
    struct store_index_build build = {0};
    int found = ERR_NO_MEMORY;
    make_rows(f);
    assert_int_equal(store_create_index(f->store, f->table, &by_text, &build), 0);
    for (unsigned n = 1; found == ERR_NO_MEMORY; n++) {
        heap_fail_at(n);
        found = store_check(f->store, print_finding, NULL, NULL);
        heap_ok();
        assert_true(n < 2000 && (found == 0 || found == ERR_NO_MEMORY));
    }
}

#define CASES(X)                                                    \
    X(a_build_without_memory_leaves_nothing)                        \
    X(the_two_rows_of_a_double_need_memory_too)                     \
    X(a_stream_without_memory_is_written_whole_or_not_at_all)       \
    X(a_session_without_memory_goes_whole_or_not_at_all)            \
    X(subscriptions_without_memory_are_written_whole_or_not_at_all) \
    X(a_scan_of_subscriptions_without_memory_says_so)               \
    X(a_check_without_memory_says_so)

int main(void)
{
    static const struct CMUnitTest tests[] = {CASES(CONTRACT_MEMORY) CASES(CONTRACT_LMDB)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
