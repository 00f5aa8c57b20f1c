/* tests/unit/test_rate.c - token buckets and counts of running calls against plain models. */
#include "core/rate.h"

#include "net/bus.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000000)

static struct rates *rates;

static int open_rates(void **state)
{
    (void)state;
    rates = calloc(1, sizeof *rates);
    return rates ? rates_init(rates) : -1;
}

static int close_rates(void **state)
{
    (void)state;
    free(rates);
    return 0;
}

static uint64_t random_at = 7;

static uint32_t draw(uint32_t below)
{
    random_at = random_at * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(random_at >> 33) % below;
}

static uint64_t key_of(const char *text, const struct rate *rate)
{
    return rate_key(rates, rate_hash(rates, 0, str_of(text)), rate);
}

/* ---- Rates ---------------------------------------------------------------------------------- */

static void a_rate_of_0_is_off(void **state)
{
    (void)state;
    struct rate off = rate_of(0, 5);
    assert_int_equal(off.interval_ns, 0);
    for (int i = 0; i < 100000; i++)
        assert_true(rate_take(rates, 1, &off, 0));
    assert_int_equal(rate_wait_ns(rates, 1, &off, 0), 0);
    assert_int_equal(rate_of(-1, 5).interval_ns, 0);
}

static void a_burst_of_0_is_that_of_a_second(void **state)
{
    (void)state;
    assert_int_equal(rate_of(200, 0).burst, 200);
    assert_int_equal(rate_of(2.5, 0).burst, 2);
    assert_int_equal(rate_of(0.5, 0).burst, 1);
    assert_int_equal(rate_of(10, 20).burst, 20);
    assert_int_equal(rate_of(10, 20).interval_ns, SECOND / 10);
}

/* RATE_PER_S_MIN, RATE_PER_S_MAX, RATE_BURST_MAX: nothing overflows at the ends. */
static void the_ends_of_the_range_hold(void **state)
{
    (void)state;
    struct rate slow = rate_of(RATE_PER_S_MIN / 10, RATE_BURST_MAX + 1),
                fast = rate_of(RATE_PER_S_MAX * 10, 1);
    assert_int_equal(slow.interval_ns, 10000 * SECOND);
    assert_int_equal(slow.burst, RATE_BURST_MAX);
    assert_int_equal(fast.interval_ns, 10000);
    uint64_t key = key_of("slow", &slow), late = UINT64_C(100) * 365 * 86400 * SECOND;
    for (uint32_t i = 0; i < RATE_BURST_MAX; i++)
        assert_true(rate_take(rates, key, &slow, late));
    assert_false(rate_take(rates, key, &slow, late));
    assert_int_equal(rate_wait_ns(rates, key, &slow, late), slow.interval_ns);
}

static void a_token_comes_back_when_it_is_due_and_not_before(void **state)
{
    (void)state;
    struct rate rate = rate_of(10, 3);
    uint64_t key = key_of("a", &rate), now = 5 * SECOND;
    for (int i = 0; i < 3; i++)
        assert_true(rate_take(rates, key, &rate, now));
    assert_false(rate_take(rates, key, &rate, now + SECOND / 10 - 1));
    assert_int_equal(rate_wait_ns(rates, key, &rate, now + SECOND / 10 - 1), 1);
    assert_true(rate_take(rates, key, &rate, now + SECOND / 10));
    assert_false(rate_take(rates, key, &rate, now + SECOND / 10));
    rate_give_back(rates, key, &rate);
    assert_true(rate_take(rates, key, &rate, now + SECOND / 10));
}

/* ---- Against a model ------------------------------------------------------------------------ */

struct model {
    double tokens;
    uint64_t at_ns;
};

static double tokens_at(const struct model *m, const struct rate *rate, uint64_t now_ns)
{
    double tokens = m->tokens + (double)(now_ns - m->at_ns) / (double)rate->interval_ns;
    return tokens < rate->burst ? tokens : rate->burst;
}

/* The interval is a power of two, so that the model counts exactly as well. */
static void a_bucket_does_what_the_model_does(void **state)
{
    (void)state;
    struct rate rate = {.interval_ns = 1u << 20, .burst = 7};
    struct model model = {.tokens = rate.burst};
    uint64_t key = key_of("model", &rate), now = 0;
    for (int i = 0; i < 200000; i++) {
        now += draw(8) == 0 ? draw(20u << 20) : draw(1u << 19);
        double tokens = tokens_at(&model, &rate, now);
        assert_int_equal(rate_wait_ns(rates, key, &rate, now) == 0, tokens >= 1);
        if (draw(3) == 0)
            continue;
        assert_int_equal(rate_take(rates, key, &rate, now), tokens >= 1);
        model = (struct model){tokens >= 1 ? tokens - 1 : tokens, now};
    }
}

/* A clock that other processes see a little behind, or that a test sets back: never more. */
static void a_clock_that_steps_back_gives_nothing(void **state)
{
    (void)state;
    struct rate rate = rate_of(1, 5);
    uint64_t key = key_of("steps", &rate), now = 1000 * SECOND;
    for (int i = 0; i < 5; i++)
        assert_true(rate_take(rates, key, &rate, now));
    for (int i = 0; i < 1000; i++)
        assert_false(rate_take(rates, key, &rate, now - draw(1000) * (uint64_t)SECOND));
    assert_false(rate_take(rates, key, &rate, now + SECOND - 1));
    int n = 0;
    while (rate_take(rates, key, &rate, now + 100000 * SECOND))
        n++;
    assert_int_equal(n, 5);
}

/* ---- Collisions ----------------------------------------------------------------------------- */

/* The same word, whatever the limits: what one takes the other has not. RATE_BUCKETS apart. */
static void who_shares_a_bucket_gets_less_and_never_more(void **state)
{
    (void)state;
    struct rate slow = rate_of(1, 10), fast = rate_of(100, 50);
    uint64_t now = SECOND;
    for (int round = 0; round < 1000; round++) {
        uint64_t key = draw(RATE_BUCKETS);
        int n_slow = 0, n_fast = 0;
        now += 1000 * SECOND;
        for (int i = 0; i < 200; i++)
            if (draw(2))
                n_slow += rate_take(rates, key, &slow, now);
            else
                n_fast += rate_take(rates, key, &fast, now);
        assert_true(n_slow <= 10 && n_fast <= 50);
    }
}

static void keys_spread_and_depend_on_all(void **state)
{
    (void)state;
    struct rate a = rate_of(1, 10), b = rate_of(1, 11);
    uint64_t hash = rate_hash(rates, 0, STR("session"));
    assert_int_not_equal(rate_key(rates, hash, &a), rate_key(rates, hash, &b));
    assert_int_not_equal(hash, rate_hash(rates, 1, STR("session")));
    assert_int_not_equal(rate_hash(rates, hash, STR("ab")), rate_hash(rates, hash, STR("a")));
    assert_int_not_equal(rate_hash(rates, hash, STR("")), hash);
    static uint16_t found[RATE_BUCKETS];
    uint32_t most = 0;
    for (uint32_t i = 0; i < RATE_BUCKETS; i++) {
        char text[32];
        snprintf(text, sizeof text, "session %u", i);
        uint64_t key = key_of(text, &a);
        uint32_t n = ++found[(key ^ key >> 32) % RATE_BUCKETS];
        most = n > most ? n : most;
    }
    assert_true(most < 20); /* of balls thrown at random into as many bins: 8 to 11 */
}

/* ---- Many at a time ------------------------------------------------------------------------- */

#define THREADS 4

static struct rate shared_rate;
static uint64_t shared_key;
static _Atomic int n_taken;

static void *take_many(void *unused)
{
    for (int i = 0; i < 25000; i++)
        n_taken += rate_take(rates, shared_key, &shared_rate, SECOND);
    return unused;
}

static void in_threads(void *(*run)(void *))
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void many_at_a_time_take_exactly_the_burst(void **state)
{
    (void)state;
    shared_rate = rate_of(1, 10000);
    shared_key = key_of("threads", &shared_rate);
    n_taken = 0;
    in_threads(take_many);
    assert_int_equal(n_taken, 10000);
}

/* ---- Counts --------------------------------------------------------------------------------- */

static struct bus_slot slots[3];
static struct bus buses[3];

static int open_slots(void **state)
{
    int err = open_rates(state);
    for (uint32_t i = 0; i < 3 && !err; i++)
        err = bus_join(&buses[i], slots, NULL, 3, i);
    return err;
}

static void a_limit_holds_for_the_sum_of_all_workers(void **state)
{
    (void)state;
    uint64_t hash = rate_hash(rates, 0, STR("session"));
    for (int i = 0; i < 6; i++)
        assert_int_equal(count_enter(rates, &buses[i % 3], hash, 5), i < 5);
    assert_int_equal(count_running(rates, &buses[0], hash), 5);
    count_leave(rates, &buses[1], hash);
    assert_true(count_enter(rates, &buses[2], hash, 5));
    assert_false(count_enter(rates, &buses[0], hash, 5));
}

static void what_a_dead_worker_left_counts_no_more(void **state)
{
    (void)state;
    uint64_t hash = rate_hash(rates, 0, STR("session"));
    for (int i = 0; i < 5; i++)
        assert_true(count_enter(rates, &buses[i % 2], hash, 5));
    slots[0].epoch = 0;
    assert_int_equal(count_running(rates, &buses[1], hash), 2);
    assert_int_equal(bus_join(&buses[0], slots, NULL, 3, 0), 0);
    assert_int_equal(count_running(rates, &buses[1], hash), 5); /* never too few */
    counts_forget(rates, &buses[0]);
    assert_int_equal(count_running(rates, &buses[1], hash), 2);
}

static _Atomic int n_inside, n_refused;

static void *go_in_and_out(void *unused)
{
    for (int i = 0; i < 20000; i++) {
        if (!count_enter(rates, &buses[i % 3], 1, 2)) {
            n_refused++;
            continue;
        }
        int n = ++n_inside;
        if (n > 2)
            abort();
        n_inside--;
        count_leave(rates, &buses[i % 3], 1);
    }
    return unused;
}

/* CONCURRENCY_COUNTS apart they are others; CONCURRENCY_MAX fits a count. */
static void never_more_than_the_limit_run(void **state)
{
    (void)state;
    in_threads(go_in_and_out);
    assert_int_equal(count_running(rates, &buses[0], 1), 0);
    assert_true(count_enter(rates, &buses[0], 1, 1));
    assert_true(count_enter(rates, &buses[0], 2, 1));
    assert_false(count_enter(rates, &buses[0], 1 + CONCURRENCY_COUNTS, 1));
    assert_true(CONCURRENCY_MAX < UINT16_MAX);
}

#define RATE_TEST(f)  cmocka_unit_test_setup_teardown(f, open_rates, close_rates)
#define COUNT_TEST(f) cmocka_unit_test_setup_teardown(f, open_slots, close_rates)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RATE_TEST(a_rate_of_0_is_off),
        RATE_TEST(a_burst_of_0_is_that_of_a_second),
        RATE_TEST(the_ends_of_the_range_hold),
        RATE_TEST(a_token_comes_back_when_it_is_due_and_not_before),
        RATE_TEST(a_bucket_does_what_the_model_does),
        RATE_TEST(a_clock_that_steps_back_gives_nothing),
        RATE_TEST(who_shares_a_bucket_gets_less_and_never_more),
        RATE_TEST(keys_spread_and_depend_on_all),
        RATE_TEST(many_at_a_time_take_exactly_the_burst),
        COUNT_TEST(a_limit_holds_for_the_sum_of_all_workers),
        COUNT_TEST(what_a_dead_worker_left_counts_no_more),
        COUNT_TEST(never_more_than_the_limit_run),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("rate", tests, NULL, NULL);
}
