/* tests/unit/test_store_subscriptions.c - what sessions subscribed to: how it comes, changes and
 * goes, on both engines. The clock is moved by hand. */
#include "hand_clock.h"

#include "store_subscriptions.h"

static int stop_at_once(void *ctx, const struct store_subscription *s)
{
    (void)s;
    ++*(uint32_t *)ctx;
    return 77;
}

/* ---- Putting and deleting ------------------------------------------------------------------- */

static void subscriptions_come_back_as_they_were_put(void **state)
{
    struct store *store = store_with_sessions(state);
    uint32_t n = 0;
    expect_subscriptions(store, SESSION, "");
    expect_subscriptions(store, STR(""), "");
    assert_int_equal(subscribe(store, SESSION, STR("data://db/t"), 7), 0);
    assert_int_equal(subscribe_all(store, STR("data://db/t/1"), 9, 60000), 0);
    assert_int_equal(subscribe(store, OTHER, STR("data://db/t"), 3), 0);
    expect_subscriptions(store, SESSION, "data://db/t/1@9 all+60000 data://db/t@7+0 ");
    expect_subscriptions(store, OTHER, "data://db/t@3+0 ");
    expect_subscriptions(store, NOBODY, "");
    struct store_view *view = view_of(store, STORE_SYS);
    assert_int_equal(store_scan_subscriptions(view, SESSION, stop_at_once, &n), 77);
    assert_int_equal(n, 1);
    store_view_close(view);
    expect_no_finding(store);
}

static void a_subscription_belongs_to_a_session_that_is_there(void **state)
{
    struct store *store = store_with_sessions(state);
    struct store_follow got;
    assert_int_equal(subscribe(store, NOBODY, STR("u"), 1), ERR_ABSENT);
    assert_int_equal(subscribe(store, STR(""), STR("u"), 1), ERR_LIMIT);
    assert_int_equal(unsubscribe(store, NOBODY, STR("u")), 0);
    assert_int_equal(get_follow(store, NOBODY, &got), ERR_ABSENT);
    assert_int_equal(get_follow(store, STR(""), &got), ERR_ABSENT);
    assert_int_equal(get_follow(store, SESSION, &got), ERR_ABSENT);
    clock_advance_ms(INT64_C(86400000));
    assert_int_equal(subscribe(store, SESSION, STR("u"), 1), ERR_ABSENT);
    assert_int_equal(count_sys(store, KV_SUBSCRIPTIONS), 0);
}

static void a_uri_may_have_URI_BYTES_MAX_and_is_told_apart_by_its_last_byte(void **state)
{
    struct store *store = store_with_sessions(state);
    static char long_uri[URI_BYTES_MAX + 1];
    memset(long_uri, 'u', sizeof long_uri);
    struct str uri = {long_uri, URI_BYTES_MAX};
    assert_int_equal(subscribe(store, SESSION, STR(""), 1), ERR_LIMIT);
    assert_int_equal(subscribe(store, SESSION, (struct str){long_uri, URI_BYTES_MAX + 1}, 1),
                     ERR_LIMIT);
    assert_int_equal(subscribe(store, SESSION, uri, 1), 0);
    long_uri[URI_BYTES_MAX - 1] = 'v';
    assert_int_equal(unsubscribe(store, SESSION, uri), 0);
    assert_int_equal(count_of(store, SESSION), 1);
    assert_int_equal(subscribe(store, SESSION, uri, 1), 0);
    assert_int_equal(count_of(store, SESSION), 2);
    assert_int_equal(unsubscribe(store, SESSION, uri), 0);
    assert_int_equal(count_of(store, SESSION), 1);
    expect_no_finding(store);
}

/* ASan and valgrind see a read beyond. */
static void a_uri_is_taken_as_bytes(void **state)
{
    struct store *store = store_with_sessions(state);
    assert_int_equal(subscribe(store, SESSION, STR("data://db/a\0b"), 1), 0);
    assert_int_equal(subscribe(store, SESSION, STR("data://db/a"), 1), 0);
    assert_int_equal(subscribe(store, SESSION, STR("\xff\xfe"), 1), 0);
    assert_int_equal(count_of(store, SESSION), 3);
    assert_int_equal(unsubscribe(store, SESSION, STR("data://db/a")), 0);
    assert_int_equal(count_of(store, SESSION), 2);
}

static void the_later_options_hold_and_the_start_does_not_move(void **state)
{
    struct store *store = store_with_sessions(state);
    assert_int_equal(subscribe(store, SESSION, STR("u"), 7), 0);
    expect_follow(store, 7, 7, 1, 1);
    assert_int_equal(subscribe_all(store, STR("u"), 20, 50), 0);
    expect_subscriptions(store, SESSION, "u@7 all+50 ");
    expect_follow(store, 7, 7, 2, 1);
    assert_int_equal(subscribe_all(store, STR("u"), 30, 50), 0); /* nothing that is new */
    expect_follow(store, 7, 7, 2, 1);
    assert_int_equal(subscribe(store, SESSION, STR("u"), 30), 0);
    expect_subscriptions(store, SESSION, "u@7+0 ");
    expect_follow(store, 7, 7, 3, 1);
}

static void what_is_not_subscribed_to_is_no_error_and_no_change(void **state)
{
    struct store *store = store_with_sessions(state);
    subscribe(store, SESSION, STR("u"), 7);
    assert_int_equal(unsubscribe(store, SESSION, STR("other")), 0);
    assert_int_equal(unsubscribe(store, OTHER, STR("u")), 0);
    expect_follow(store, 7, 7, 1, 1);
    assert_int_equal(unsubscribe(store, SESSION, STR("u")), 0);
    expect_follow(store, 7, 7, 2, 0);
    assert_int_equal(unsubscribe(store, SESSION, STR("u")), 0);
    expect_follow(store, 7, 7, 2, 0);
    expect_subscriptions(store, SESSION, "");
    assert_int_equal(count_sys(store, KV_SUBSCRIPTIONS), 0);
    expect_no_finding(store);
}

static void all_of_a_list_are_there_or_none(void **state)
{
    struct store *store = store_with_sessions(state);
    struct store_subscription s[] = {subscription_of(SESSION, STR("a"), 1),
                                     subscription_of(SESSION, STR("b"), 1),
                                     subscription_of(NOBODY, STR("c"), 1)};
    struct store_op ops[3];
    uint32_t failed = 0;
    for (int i = 0; i < 3; i++)
        ops[i] = subscription_op(STORE_PUT_SUBSCRIPTION, &s[i]);
    assert_int_equal(write_list(store, STORE_SYS, ops, 3, &failed), ERR_ABSENT);
    assert_int_equal(failed, 2);
    expect_subscriptions(store, SESSION, "");
    s[2].session = SESSION;
    assert_int_equal(write_list(store, STORE_SYS, ops, 3, NULL), 0);
    expect_subscriptions(store, SESSION, "a@1+0 b@1+0 c@1+0 ");
    expect_no_finding(store);
}

/* ---- Bounds --------------------------------------------------------------------------------- */

static void many_uris(char uris[][16], struct store_subscription *s, struct store_op *ops,
                      uint32_t from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        snprintf(uris[i], sizeof uris[i], "u%u", from + i);
        s[i] = subscription_of(SESSION, str_of(uris[i]), 1);
        ops[i] = subscription_op(STORE_PUT_SUBSCRIPTION, &s[i]);
    }
}

/* `n` of SESSION, by lists as long as a transaction. */
static void subscribe_to_many(struct store *store, uint32_t n)
{
    static char uris[TXN_ROWS_MAX][16];
    static struct store_subscription s[TXN_ROWS_MAX];
    static struct store_op ops[TXN_ROWS_MAX];
    for (uint32_t done = 0; done < n; done += TXN_ROWS_MAX) {
        uint32_t now = n - done < TXN_ROWS_MAX ? n - done : TXN_ROWS_MAX;
        many_uris(uris, s, ops, done, now);
        assert_int_equal(write_list(store, STORE_SYS, ops, now, NULL), 0);
    }
}

static void no_more_than_SUBSCRIPTIONS_SESSION_MAX_of_a_session(void **state)
{
    struct store *store = store_with_sessions(state);
    subscribe_to_many(store, SUBSCRIPTIONS_SESSION_MAX);
    assert_int_equal(subscribe(store, SESSION, STR("one more"), 1), ERR_LIMIT);
    assert_int_equal(subscribe_all(store, STR("u17"), 1, 0), 0); /* one that is there */
    assert_int_equal(subscribe(store, OTHER, STR("one more"), 1), 0);
    assert_int_equal(unsubscribe(store, SESSION, STR("u4711")), 0);
    assert_int_equal(subscribe(store, SESSION, STR("one more"), 1), 0);
    assert_int_equal(subscribe(store, SESSION, STR("u4711"), 1), ERR_LIMIT);
    assert_int_equal(count_of(store, SESSION), SUBSCRIPTIONS_SESSION_MAX);
    expect_no_finding(store);
}

static int subscribe_below(struct store *store, struct str uri, uint32_t max)
{
    struct store_subscription s = subscription_of(SESSION, uri, 1);
    struct store_op op = subscription_op(STORE_PUT_SUBSCRIPTION, &s);
    op.max_subscriptions = max;
    return write_op(store, &op);
}

static void max_subscriptions_may_say_less_but_not_more(void **state)
{
    struct store *store = store_with_sessions(state);
    assert_int_equal(subscribe_below(store, STR("a"), 2), 0);
    assert_int_equal(subscribe_below(store, STR("b"), 2), 0);
    assert_int_equal(subscribe_below(store, STR("c"), 2), ERR_LIMIT);
    assert_int_equal(subscribe_below(store, STR("b"), 1), 0); /* it is there */
    assert_int_equal(subscribe_below(store, STR("c"), 3), 0);
    subscribe_to_many(store, SUBSCRIPTIONS_SESSION_MAX - 3);
    assert_int_equal(subscribe_below(store, STR("d"), UINT32_MAX), ERR_LIMIT);
}

static void the_uris_of_a_session_come_to_SUBSCRIPTIONS_BYTES_at_most(void **state)
{
    struct store *store = store_with_sessions(state);
    static char text[URI_BYTES_MAX];
    struct str uri = {text, URI_BYTES_MAX};
    memset(text, 'u', sizeof text);
    for (uint32_t i = 0; i < SUBSCRIPTIONS_BYTES / URI_BYTES_MAX; i++) {
        memcpy(text, &i, sizeof i);
        assert_int_equal(subscribe(store, SESSION, uri, 1), 0);
    }
    assert_int_equal(subscribe(store, SESSION, STR("u"), 1), ERR_LIMIT);
    assert_int_equal(subscribe_all(store, uri, 1, 0), 0); /* one that is there */
    expect_no_finding(store);
    assert_int_equal(unsubscribe(store, SESSION, uri), 0);
    text[0]++;
    assert_int_equal(subscribe(store, SESSION, (struct str){text, URI_BYTES_MAX - 1}, 1), 0);
    assert_int_equal(subscribe(store, SESSION, STR("u"), 1), 0);
    assert_int_equal(subscribe(store, SESSION, STR("v"), 1), ERR_LIMIT);
    expect_no_finding(store);
}

static void one_that_is_refused_does_not_fail_its_group(void **state)
{
    static struct loop loop = {.lock = PTHREAD_MUTEX_INITIALIZER,
                               .posted = PTHREAD_COND_INITIALIZER};
    struct store *store = store_with_sessions(state);
    struct waited lists[3] = {0};
    struct store_subscription s[3];
    struct store_op ops[3];
    struct batch holder;
    store_attach(store, &loop);
    assert_int_equal(batch_begin(store, STORE_SYS, &holder), 0);
    for (unsigned i = 0; i < 3; i++) {
        s[i] = subscription_of(SESSION, i ? STR("b") : STR("a"), 1);
        ops[i] = subscription_op(STORE_PUT_SUBSCRIPTION, &s[i]);
        ops[i].max_subscriptions = 1;
        lists[i].write = (struct store_write){
            .space = STORE_SYS, .ops = &ops[i], .n_ops = 1, .done = waited_done};
        store_submit(store, &lists[i].write);
    }
    batch_abort(&holder);
    for (unsigned i = 0; i < 3; i++)
        while (!lists[i].n_done)
            loop_run_once(&loop);
    assert_int_equal(lists[0].err, 0);
    assert_int_equal(lists[1].err, ERR_LIMIT);
    assert_int_equal(lists[2].err, ERR_LIMIT);
    expect_subscriptions(store, SESSION, "a@1+0 ");
}

/* ---- With the session ----------------------------------------------------------------------- */

static void with_a_session_go_its_subscriptions(void **state)
{
    struct store *store = store_with_sessions(state);
    struct store_follow got;
    subscribe(store, SESSION, STR("a"), 7);
    subscribe(store, SESSION, STR("b"), 7);
    subscribe(store, OTHER, STR("a"), 7);
    assert_int_equal(session_op(store, STORE_DELETE_SESSION, SESSION), 0);
    assert_int_equal(get_follow(store, SESSION, &got), ERR_ABSENT);
    assert_int_equal(count_sys(store, KV_SUBSCRIPTIONS), 1);
    assert_int_equal(count_sys(store, KV_UNFOLLOWED), 0);
    expect_subscriptions(store, OTHER, "a@7+0 ");
    clock_advance_ms(INT64_C(86400000) + 60000);
    assert_int_equal(store_sweep_sessions(store, clock_wall_ms(), 100), 1);
    assert_int_equal(count_sys(store, KV_SUBSCRIPTIONS), 0);
    assert_int_equal(count_sys(store, KV_FOLLOWS), 0);
    expect_no_finding(store);
}

static void maintain_until_done(struct store *store)
{
    for (int i = 0; i < 10 && count_sys(store, KV_UNFOLLOWED); i++)
        assert_int_equal(store_maintain(store), 0);
    assert_int_equal(count_sys(store, KV_UNFOLLOWED), 0);
}

/* At once for everybody, though a transaction takes away but some of the records. */
static void those_of_a_session_with_many_are_gone_at_once_and_removed_by_and_by(void **state)
{
    struct store *store = store_with_sessions(state);
    subscribe(store, OTHER, STR("a"), 7);
    subscribe_to_many(store, SUBSCRIPTIONS_SESSION_MAX);
    assert_int_equal(session_op(store, STORE_DELETE_SESSION, SESSION), 0);
    assert_true(count_sys(store, KV_SUBSCRIPTIONS) >= SUBSCRIPTIONS_SESSION_MAX - TXN_ROWS_MAX);
    assert_int_equal(count_of(store, SESSION), 0);
    expect_no_finding(store);
    /* A session of the same name has nothing of them. */
    assert_int_equal(session_op(store, STORE_PUT_SESSION, SESSION), 0);
    assert_int_equal(count_of(store, SESSION), 0);
    subscribe(store, SESSION, STR("u1"), 9);
    expect_subscriptions(store, SESSION, "u1@9+0 ");
    expect_follow(store, 9, 9, 1, 1);
    maintain_until_done(store);
    assert_int_equal(count_sys(store, KV_SUBSCRIPTIONS), 2);
    expect_subscriptions(store, SESSION, "u1@9+0 ");
    expect_subscriptions(store, OTHER, "a@7+0 ");
    expect_no_finding(store);
}

static void the_sweep_of_a_session_with_many_is_bounded_too(void **state)
{
    struct store *store = store_with_sessions(state);
    subscribe_to_many(store, 2500);
    clock_advance_ms(INT64_C(86400000) + 60000);
    assert_int_equal(store_sweep_sessions(store, clock_wall_ms(), 100), 2);
    assert_true(count_sys(store, KV_SUBSCRIPTIONS) >= 2500 - TXN_ROWS_MAX);
    assert_int_equal(count_sys(store, KV_FOLLOWS), 0);
    maintain_until_done(store);
    assert_int_equal(count_sys(store, KV_SUBSCRIPTIONS), 0);
    expect_no_finding(store);
}

#define CASES(X)                                                           \
    X(subscriptions_come_back_as_they_were_put)                            \
    X(a_subscription_belongs_to_a_session_that_is_there)                   \
    X(a_uri_may_have_URI_BYTES_MAX_and_is_told_apart_by_its_last_byte)     \
    X(a_uri_is_taken_as_bytes)                                             \
    X(the_later_options_hold_and_the_start_does_not_move)                  \
    X(what_is_not_subscribed_to_is_no_error_and_no_change)                 \
    X(all_of_a_list_are_there_or_none)                                     \
    X(no_more_than_SUBSCRIPTIONS_SESSION_MAX_of_a_session)                 \
    X(max_subscriptions_may_say_less_but_not_more)                         \
    X(the_uris_of_a_session_come_to_SUBSCRIPTIONS_BYTES_at_most)           \
    X(one_that_is_refused_does_not_fail_its_group)                         \
    X(with_a_session_go_its_subscriptions)                                 \
    X(those_of_a_session_with_many_are_gone_at_once_and_removed_by_and_by) \
    X(the_sweep_of_a_session_with_many_is_bounded_too)

int main(void)
{
    static const struct CMUnitTest tests[] = {CASES(CONTRACT_MEMORY) CASES(CONTRACT_LMDB)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
