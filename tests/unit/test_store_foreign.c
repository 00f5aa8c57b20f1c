/* tests/unit/test_store_foreign.c - DATA was replaced by another one under the sessions: what they
 * were told of a log is known to be of the one before. */
#include "store_faults.h"

/* By a new one, while nobody has it open. */
static void replace_data(void)
{
    assert_int_equal(unlink(file_in("data.mdb")), 0);
    assert_int_equal(unlink(file_in("data.mdb-lock")), 0);
}

static int subscribe_from(struct store *store, struct str uri, uint64_t seq)
{
    struct store_subscription s = {.session = STR("s"), .uri = uri, .start_seq = seq};
    struct store_op op = {.kind = STORE_PUT_SUBSCRIPTION, .subscription = &s};
    return write_list(store, STORE_SYS, &op, 1, NULL);
}

static struct store_follow follow_of(struct store *store)
{
    struct store_follow follow = {0};
    struct store_view *view = view_of(store, STORE_SYS);
    assert_int_equal(store_get_follow(view, STR("s"), &follow), 0);
    store_view_close(view);
    return follow;
}

static int sum_starts(void *ctx, const struct store_subscription *s)
{
    *(uint64_t *)ctx += s->start_seq;
    return 0;
}

static uint64_t sum_of_starts(struct store *store)
{
    uint64_t sum = 0;
    struct store_view *view = view_of(store, STORE_SYS);
    assert_int_equal(store_scan_subscriptions(view, STR("s"), sum_starts, &sum), 0);
    store_view_close(view);
    return sum;
}

static void claim_and_set_follow(struct store *store, struct store_follow follow)
{
    struct store_claim claim = {.session = STR("s"), .worker = {1, 1}, .token = 1};
    struct store_op ops[] = {
        {.kind = STORE_CLAIM_PUSHES, .claim = &claim},
        {.kind = STORE_SET_FOLLOW, .claim = &claim, .follow = &follow},
    };
    assert_int_equal(write_list(store, STORE_SYS, ops, 2, NULL), 0);
}

static void positions_in_the_log_of_another_DATA_are_known_as_such(void **state)
{
    (void)state;
    make_store();
    struct store *store = open_ok(NOSYNC);
    assert_int_equal(subscribe_from(store, STR("a"), 250), 0);
    store_close(store);
    store = open_ok(NOSYNC);
    assert_false(follow_of(store).is_foreign);
    store_close(store);
    replace_data();
    store = open_ok(NOSYNC);
    assert_true(follow_of(store).is_foreign);
    assert_int_equal(subscribe_from(store, STR("b"), 3), 0);
    assert_int_equal(sum_of_starts(store), 250 + 3); /* not raised */
    struct store_follow follow = follow_of(store);
    assert_true(follow.is_foreign && follow.seq == 250 && follow.n == 2);
    claim_and_set_follow(store, follow); /* to the same numbers, but of this one */
    assert_false(follow_of(store).is_foreign);
    assert_int_equal(store_check(store, print_finding, NULL, NULL), 0);
    store_close(store);
}

static void a_first_subscription_is_of_the_DATA_that_there_is(void **state)
{
    struct store_subscription s = {.session = STR("s"), .uri = STR("a")};
    struct store_op op = {.kind = STORE_DELETE_SUBSCRIPTION, .subscription = &s};
    (void)state;
    make_store();
    struct store *store = open_ok(NOSYNC);
    assert_int_equal(subscribe_from(store, STR("a"), 250), 0);
    assert_int_equal(write_list(store, STORE_SYS, &op, 1, NULL), 0);
    store_close(store);
    replace_data();
    store = open_ok(NOSYNC);
    assert_int_equal(subscribe_from(store, STR("a"), 2), 0);
    struct store_follow follow = follow_of(store);
    assert_true(!follow.is_foreign && follow.seq == 2 && follow.sent_seq == 2);
    assert_int_equal(sum_of_starts(store), 2);
    store_close(store);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        CASE(positions_in_the_log_of_another_DATA_are_known_as_such),
        CASE(a_first_subscription_is_of_the_DATA_that_there_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
