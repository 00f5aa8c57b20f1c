/* tests/unit/test_key_parts.c - parts of index keys sort as their values do: by random pairs and by
 * the awkward ones. */
#include "base/err.h"
#include "core/key.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

static uint64_t state_of_random = 88172645463325252u;

static uint64_t random_bits(void)
{
    state_of_random ^= state_of_random << 13;
    state_of_random ^= state_of_random >> 7;
    return state_of_random ^= state_of_random << 17;
}

struct part {
    struct tape_node node;
    char text[8];
};

static double random_double(void)
{
    uint64_t bits = random_bits();
    double d;
    memcpy(&d, &bits, sizeof d);
    return isfinite(d) ? d : -0.0;
}

static void random_string(struct part *p)
{
    static const char letters[] = {0, 1, 2, 'a', '\xff'};
    p->node = (struct tape_node){.kind = TAPE_STR, .n = (uint32_t)(random_bits() % 5)};
    for (uint32_t i = 0; i < p->node.n; i++)
        p->text[i] = letters[random_bits() % sizeof letters];
    p->node.v.s = p->text;
}

static void random_part(enum key_type type, struct part *p)
{
    int64_t small = (int64_t)(random_bits() % 7) - 3;
    int64_t i = random_bits() % 2 ? small : (int64_t)random_bits();
    if (random_bits() % 8 == 0)
        p->node = (struct tape_node){.kind = TAPE_NULL};
    else if (type == KEY_STRING)
        random_string(p);
    else if (type == KEY_BOOLEAN)
        p->node = (struct tape_node){.kind = random_bits() % 2 ? TAPE_TRUE : TAPE_FALSE};
    else if (type == KEY_NUMBER && random_bits() % 2)
        p->node = (struct tape_node){.kind = TAPE_NUM, .v.d = random_double()};
    else
        p->node = (struct tape_node){.kind = TAPE_INT, .v.i = i};
}

static int sign(double d)
{
    return (d > 0) - (d < 0);
}

/* Numbers as they are rounded. */
static int compare_parts(enum key_type type, const struct tape_node *a, const struct tape_node *b)
{
    if (a->kind == TAPE_NULL || b->kind == TAPE_NULL)
        return (a->kind != TAPE_NULL) - (b->kind != TAPE_NULL);
    if (type == KEY_STRING)
        return sign(str_compare(tape_str(a), tape_str(b)));
    if (type == KEY_BOOLEAN)
        return a->kind - b->kind;
    if (type == KEY_INTEGER)
        return (a->v.i > b->v.i) - (a->v.i < b->v.i);
    double x = tape_num(a), y = tape_num(b);
    return (x > y) - (x < y);
}

static void random_keys_sort_as_their_values(void **state)
{
    (void)state;
    for (int round = 0; round < 200000; round++) {
        struct buf keys[2] = {{0}, {0}};
        int expected = 0;
        for (int i = 0; i < 3; i++) {
            enum key_type type = (enum key_type)(random_bits() % 4);
            bool descending = random_bits() % 2;
            struct part parts[2];
            for (int k = 0; k < 2; k++) {
                random_part(type, &parts[k]);
                assert_int_equal(key_add_part(type, descending, &parts[k].node, &keys[k]), 0);
            }
            int d = compare_parts(type, &parts[0].node, &parts[1].node);
            expected = expected ? expected : descending ? -d : d;
        }
        assert_int_equal(sign(str_compare(buf_str(&keys[0]), buf_str(&keys[1]))), expected);
        buf_done(&keys[0]);
        buf_done(&keys[1]);
    }
}

static void minus_zero_is_zero_and_missing_is_null(void **state)
{
    (void)state;
    const struct tape_node zero = {.kind = TAPE_INT}, null = {.kind = TAPE_NULL},
                           minus = {.kind = TAPE_NUM, .v.d = -0.0};
    struct buf a = {0}, b = {0};
    assert_int_equal(key_add_part(KEY_NUMBER, false, &zero, &a), 0);
    assert_int_equal(key_add_part(KEY_NUMBER, true, NULL, &a), 0);
    assert_int_equal(key_add_part(KEY_NUMBER, false, &minus, &b), 0);
    assert_int_equal(key_add_part(KEY_NUMBER, true, &null, &b), 0);
    assert_true(str_eq(buf_str(&a), buf_str(&b)));
    buf_done(&a);
    buf_done(&b);
}

static void a_part_of_another_type_is_refused(void **state)
{
    (void)state;
    const struct tape_node half = {.kind = TAPE_NUM, .v.d = 0.5}, text = {.kind = TAPE_STR};
    struct buf out = {0};
    assert_int_equal(key_add_part(KEY_INTEGER, false, &half, &out), ERR_PARAMS);
    assert_int_equal(key_add_part(KEY_STRING, false, &half, &out), ERR_PARAMS);
    assert_int_equal(key_add_part(KEY_BOOLEAN, true, &half, &out), ERR_PARAMS);
    assert_int_equal(key_add_part(KEY_NUMBER, false, &text, &out), ERR_PARAMS);
    buf_done(&out);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_keys_sort_as_their_values),
        cmocka_unit_test(minus_zero_is_zero_and_missing_is_null),
        cmocka_unit_test(a_part_of_another_type_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
