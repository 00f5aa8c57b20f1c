/* tests/unit/test_store_mem.c - the engine in memory when memory ends: at every allocation of a
 * transaction in turn. The engine is compiled into this file with an allocator that fails on
 * demand. */
#include <stdlib.h>

static long allocations_left = -1; /* -1: no end */

static int may_allocate(void)
{
    if (allocations_left == 0)
        return 0;
    allocations_left -= allocations_left > 0;
    return 1;
}

static void *failing_malloc(size_t size)
{
    return may_allocate() ? malloc(size) : NULL;
}

static void *failing_calloc(size_t n, size_t size)
{
    return may_allocate() ? calloc(n, size) : NULL;
}

#define malloc failing_malloc
#define calloc failing_calloc
#include "store/mem.c"
#undef malloc
#undef calloc

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>

#define KEYS 200

static struct str key_of(unsigned k, char space[8])
{
    snprintf(space, 8, "%04u", k);
    return (struct str){space, 4};
}

/* Every second key is taken away, every third changed, and as many added. */
static int change_much(struct kv_txn *txn)
{
    char space[8];
    int err = 0;
    for (unsigned k = 0; k < KEYS && !err; k++) {
        if (k % 2 == 0)
            err = kv_remove(txn, KV_ROWS, key_of(k, space));
        else if (k % 3 == 0)
            err = kv_put(txn, KV_ROWS, key_of(k, space), STR("changed"));
        if (!err)
            err = kv_put(txn, KV_ROWS, key_of(k + KEYS, space), STR("added"));
    }
    return err;
}

static struct kv_env *filled(void)
{
    struct kv_env *env;
    struct kv_txn txn;
    char space[8];
    assert_int_equal(kv_open_memory(STORE_DATA, &env), 0);
    assert_int_equal(kv_begin(env, true, &txn), 0);
    for (unsigned k = 0; k < KEYS; k++)
        assert_int_equal(kv_put(&txn, KV_ROWS, key_of(k, space), STR("before")), 0);
    assert_int_equal(kv_commit(&txn), 0);
    return env;
}

static int count_before(void *ctx, struct str key, struct str value)
{
    (void)key;
    assert_true(str_eq(value, STR("before")));
    ++*(unsigned *)ctx;
    return 0;
}

static void assert_as_before(struct kv_env *env)
{
    struct kv_txn txn;
    uint64_t kept = 0;
    unsigned n = 0;
    assert_int_equal(kv_begin(env, false, &txn), 0);
    assert_int_equal(kv_scan(&txn, KV_ROWS, STR(""), count_before, &n), 0);
    assert_int_equal(kv_count(&txn, KV_ROWS, &kept), 0);
    assert_true(n == KEYS && kept == KEYS);
    kv_end(&txn);
}

/* One try with `n` allocations. True if that was enough. */
static bool try_with(struct kv_env *env, long n)
{
    struct kv_txn txn;
    allocations_left = n;
    int err = kv_begin(env, true, &txn);
    if (!err) {
        err = change_much(&txn);
        if (!err)
            err = kv_commit(&txn);
        else
            kv_end(&txn);
    }
    allocations_left = -1;
    assert_true(err == 0 || err == ERR_NO_MEMORY);
    return err == 0;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct kv_env *env = filled();
    long n = 1;
    for (; !try_with(env, n); n++)
        assert_as_before(env);
    assert_in_range(n, KEYS, KEYS * 50);
    kv_close(env);
}

static void an_engine_that_cannot_be_made_is_not(void **state)
{
    (void)state;
    struct kv_env *env = NULL;
    for (allocations_left = 0; allocations_left < 2;) {
        long n = allocations_left;
        assert_int_equal(kv_open_memory(STORE_DATA, &env), ERR_NO_MEMORY);
        allocations_left = n + 1;
    }
    allocations_left = -1;
    assert_null(env);
}

static void a_snapshot_keeps_its_tree_while_others_change(void **state)
{
    (void)state;
    struct kv_env *env = filled();
    struct kv_txn view, txn;
    unsigned n = 0;
    assert_int_equal(kv_begin(env, false, &view), 0);
    assert_int_equal(kv_begin(env, true, &txn), 0);
    assert_int_equal(change_much(&txn), 0);
    assert_int_equal(kv_commit(&txn), 0);
    assert_int_equal(kv_scan(&view, KV_ROWS, STR(""), count_before, &n), 0);
    assert_int_equal(n, KEYS);
    kv_end(&view);
    kv_close(env);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(an_engine_that_cannot_be_made_is_not),
        cmocka_unit_test(a_snapshot_keeps_its_tree_while_others_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
