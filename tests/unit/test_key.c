/* tests/unit/test_key.c - primary keys: order, round trips, text, limits. */
#include "base/err.h"
#include "base/limits.h"
#include "core/key.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#define N(a) (sizeof(a) / sizeof *(a))

static int start(void **state)
{
    static struct arena a;
    arena_init(&a, 0);
    *state = &a;
    return 0;
}

static int stop(void **state)
{
    arena_done(*state);
    return 0;
}

static struct str encode_int(struct arena *a, int64_t v)
{
    struct tape_node node = {.kind = TAPE_INT, .v.i = v};
    struct str key = STR_NONE;
    assert_int_equal(key_encode(KEY_INTEGER, &node, a, &key), 0);
    return key;
}

static void integers_sort_as_numbers(void **state)
{
    static const int64_t order[] = {INT64_MIN, INT64_MIN + 1, -4294967296, -256,  -1,       0,
                                    1,         255,           256,         65536, INT64_MAX};
    for (size_t i = 1; i < N(order); i++)
        assert_true(str_compare(encode_int(*state, order[i - 1]), encode_int(*state, order[i])) <
                    0);
    srand(1);
    for (int i = 0; i < 10000; i++) {
        int64_t a = (int64_t)((uint64_t)rand() << 33 ^ (uint64_t)rand() << 11 ^ (uint64_t)rand());
        int64_t b = rand() % 3 ? -a : a + rand() % 5 - 2;
        int d = str_compare(encode_int(*state, a), encode_int(*state, b));
        assert_int_equal((d > 0) - (d < 0), (a > b) - (a < b));
    }
}

static void strings_sort_bytewise(void **state)
{
    static const char *const order[] = {"A", "AB", "B", "a", "\xc3\xa9"};
    struct str last = STR("");
    for (size_t i = 0; i < N(order); i++) {
        struct tape_node node = {
            .kind = TAPE_STR, .n = (uint32_t)strlen(order[i]), .v.s = order[i]};
        struct str key;
        assert_int_equal(key_encode(KEY_STRING, &node, *state, &key), 0);
        assert_true(str_compare(last, key) < 0);
        last = key;
    }
}

static void keys_come_back_as_values(void **state)
{
    struct tape_builder b;
    const struct tape_node *tape;
    tape_begin(&b, *state);
    tape_open_array(&b);
    key_add(KEY_INTEGER, encode_int(*state, -42), &b);
    key_add(KEY_STRING, STR("FR"), &b);
    key_add(KEY_INTEGER, STR("bad"), &b);
    tape_close(&b);
    assert_int_equal(tape_finish(&b, &tape), 0);
    assert_true(tape[1].kind == TAPE_INT && tape[1].v.i == -42);
    assert_true(str_eq(tape_str(&tape[2]), STR("FR")));
    assert_int_equal(tape[3].kind, TAPE_NULL);
}

static void wrong_types_and_sizes_are_refused(void **state)
{
    static char text[KEY_BYTES_MAX + 1];
    memset(text, 'x', sizeof text);
    struct tape_node num = {.kind = TAPE_NUM, .v.d = 1.5}, null = {.kind = TAPE_NULL};
    struct tape_node empty = {.kind = TAPE_STR, .v.s = ""};
    struct tape_node most = {.kind = TAPE_STR, .n = KEY_BYTES_MAX, .v.s = text};
    struct tape_node more = {.kind = TAPE_STR, .n = KEY_BYTES_MAX + 1, .v.s = text};
    struct str key = STR("untouched");
    assert_int_equal(key_encode(KEY_INTEGER, &num, *state, &key), ERR_PARAMS);
    assert_int_equal(key_encode(KEY_STRING, &num, *state, &key), ERR_PARAMS);
    assert_int_equal(key_encode(KEY_STRING, &null, *state, &key), ERR_PARAMS);
    assert_int_equal(key_encode(KEY_INTEGER, &most, *state, &key), ERR_PARAMS);
    assert_int_equal(key_encode(KEY_STRING, &empty, *state, &key), ERR_LIMIT);
    assert_int_equal(key_encode(KEY_STRING, &more, *state, &key), ERR_LIMIT);
    assert_true(str_eq(key, STR("untouched")));
    assert_int_equal(key_encode(KEY_STRING, &most, *state, &key), 0);
    struct arena none;
    arena_init(&none, 1);
    assert_int_equal(key_encode(KEY_STRING, &most, &none, &key), ERR_NO_MEMORY);
    assert_int_equal(key_from_text(KEY_INTEGER, STR("1"), &none, &key), ERR_NO_MEMORY);
}

static void one_text_per_key(void **state)
{
    static const char *const good[] = {"0", "-1", "42", "9223372036854775807",
                                       "-9223372036854775808"};
    static const char *const bad[] = {"",
                                      "-",
                                      "-0",
                                      "00",
                                      "01",
                                      "+1",
                                      "1.0",
                                      "1e2",
                                      " 1",
                                      "1 ",
                                      "9223372036854775808",
                                      "-9223372036854775809",
                                      "x",
                                      "--1"};
    struct buf text = {0};
    struct str key;
    for (size_t i = 0; i < N(good); i++) {
        assert_int_equal(key_from_text(KEY_INTEGER, str_of(good[i]), *state, &key), 0);
        buf_clear(&text);
        key_write_segment(KEY_INTEGER, key, &text);
        assert_true(str_eq(buf_str(&text), str_of(good[i])));
    }
    for (size_t i = 0; i < N(bad); i++)
        assert_int_equal(key_from_text(KEY_INTEGER, str_of(bad[i]), *state, &key), ERR_SYNTAX);
    buf_done(&text);
}

static void segments_are_percent_encoded(void **state)
{
    static const char *const texts[] = {"FR-75",       "a/b",   "..", "a b%2F",
                                        "caf\xc3\xa9", "x?y#z", "~"};
    static const char *const segments[] = {"FR-75",     "a%2Fb",     "..", "a%20b%252F",
                                           "caf%C3%A9", "x%3Fy%23z", "~"};
    struct buf text = {0};
    struct str key;
    for (size_t i = 0; i < N(texts); i++) {
        buf_clear(&text);
        key_write_segment(KEY_STRING, str_of(texts[i]), &text);
        assert_true(str_eq(buf_str(&text), str_of(segments[i])));
        assert_int_equal(key_from_segment(KEY_STRING, str_of(segments[i]), *state, &key), 0);
        assert_true(str_eq(key, str_of(texts[i])));
    }
    assert_int_equal(key_from_segment(KEY_STRING, STR("%2"), *state, &key), ERR_SYNTAX);
    assert_int_equal(key_from_segment(KEY_STRING, STR(""), *state, &key), ERR_LIMIT);
    assert_int_equal(key_from_segment(KEY_INTEGER, STR("%31"), *state, &key), 0);
    buf_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(integers_sort_as_numbers, start, stop),
        cmocka_unit_test_setup_teardown(strings_sort_bytewise, start, stop),
        cmocka_unit_test_setup_teardown(keys_come_back_as_values, start, stop),
        cmocka_unit_test_setup_teardown(wrong_types_and_sizes_are_refused, start, stop),
        cmocka_unit_test_setup_teardown(one_text_per_key, start, stop),
        cmocka_unit_test_setup_teardown(segments_are_percent_encoded, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
