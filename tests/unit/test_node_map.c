/* tests/unit/test_node_map.c - entries go in and out, beside a list of who is in. */
#include "base/node_map.h"

#include "fail_calloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <string.h>

#define N 2000

struct entry {
    struct map_node node;
    bool is_in, was_seen;
};

static struct entry entries[N];

static uint64_t hash_of(size_t i)
{
    uint64_t v = i / 3; /* three of each */
    return node_hash(NODE_HASH, &v, sizeof v);
}

static bool is_found(const struct node_map *map, size_t i)
{
    for (struct map_node *n = node_map_first(map, hash_of(i)); n; n = node_map_next(n))
        if (n == &entries[i].node)
            return true;
    return false;
}

static void compare(const struct node_map *map)
{
    uint32_t n = 0, n_seen = 0;
    for (struct map_node *at = NULL; (at = node_map_each(map, at)); n_seen++) {
        struct entry *e = (struct entry *)at;
        assert_true(e->is_in && !e->was_seen);
        e->was_seen = true;
    }
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(is_found(map, i), entries[i].is_in);
        n += entries[i].is_in;
        entries[i].was_seen = false;
    }
    assert_int_equal(map->n, n);
    assert_int_equal(n_seen, n);
}

static void what_is_in_is_found_and_nothing_else(void **state)
{
    (void)state;
    struct node_map map = {.n = 0};
    uint64_t random = 7;
    compare(&map);
    for (unsigned round = 0; round < 20000; round++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        struct entry *e = &entries[(random >> 33) % N];
        if (e->is_in)
            node_map_remove(&map, &e->node);
        else
            assert_true(node_map_add(&map, &e->node, hash_of((size_t)(e - entries))));
        e->is_in = !e->is_in;
        if (round % 1000 == 0)
            compare(&map);
    }
    compare(&map);
    for (struct map_node *at = node_map_each(&map, NULL), *next; at; at = next) {
        next = node_map_each(&map, at);
        ((struct entry *)at)->is_in = false;
        node_map_remove(&map, at);
        node_map_remove(&map, at); /* is in none */
    }
    compare(&map);
    node_map_done(&map);
}

static void without_memory_it_goes_on_with_what_it_has(void **state)
{
    (void)state;
    struct node_map map = {.n = 0};
    if (!heap_can_fail())
        skip();
    fail_calloc_in = 1;
    assert_false(node_map_add(&map, &entries[0].node, hash_of(0)));
    for (size_t i = 0; i < 100; i++) {
        fail_calloc_in = i ? 1 : 0;
        assert_true(node_map_add(&map, &entries[i].node, hash_of(i)));
        entries[i].is_in = true;
    }
    fail_calloc_in = 0;
    compare(&map);
    node_map_done(&map);
    memset(entries, 0, sizeof entries);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_in_is_found_and_nothing_else),
        cmocka_unit_test(without_memory_it_goes_on_with_what_it_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
