/* tests/unit/test_cursor.c - page cursors: what was sealed comes back, nothing else does. */
#include "base/err.h"
#include "base/limits.h"
#include "wire/cursor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <string.h>

static struct arena arena;
static const struct cursor_key key = {{1, 2, 3}}, other_key = {{1, 2, 4}};

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena, 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static struct str sealed(struct str payload)
{
    struct str text = STR_NONE;
    assert_int_equal(cursor_write(&key, CURSOR_TOOLS, STR("scope"), payload, &arena, &text), 0);
    return text;
}

static int opened(struct str text, struct str *ret)
{
    return cursor_read(&key, CURSOR_TOOLS, STR("scope"), text, &arena, ret);
}

static void what_was_sealed_comes_back(void **state)
{
    (void)state;
    char bytes[300];
    for (uint32_t n = 0; n < sizeof bytes; n++) {
        struct str back = STR_NONE, text;
        memset(bytes, (int)n * 7, n);
        text = sealed((struct str){bytes, n});
        for (uint32_t i = 0; i < text.n; i++)
            assert_non_null(strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                   "0123456789-_",
                                   text.p[i]));
        assert_int_equal(opened(text, &back), 0);
        assert_true(str_eq(back, (struct str){bytes, n}));
        arena_reset(&arena);
    }
}

static void PG_made_up_cursors_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "x",
                                      "=",
                                      "AAAA",
                                      "not a cursor!",
                                      "null",
                                      "\xff\xfe",
                                      "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"};
    struct str back = STR_NONE;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(opened(str_of(bad[i]), &back), ERR_PARAMS);
    assert_null(back.p);
}

static void PG_altered_cursors_are_refused(void **state)
{
    (void)state;
    struct str text = sealed(STR("page 2")), back = STR_NONE;
    char copy[200];
    for (uint32_t i = 0; i < text.n; i++)
        for (int c = 1; c < 256; c++) {
            memcpy(copy, text.p, text.n);
            if (copy[i] == (char)c)
                continue;
            copy[i] = (char)c;
            assert_int_equal(opened((struct str){copy, text.n}, &back), ERR_PARAMS);
            arena_reset(&arena);
            text = sealed(STR("page 2"));
        }
    for (uint32_t n = 0; n < text.n; n++)
        assert_int_equal(opened((struct str){text.p, n}, &back), ERR_PARAMS);
    memcpy(copy, text.p, text.n);
    copy[text.n] = '=';
    assert_int_equal(opened((struct str){copy, text.n + 1}, &back), ERR_PARAMS);
}

static void PG_cursors_of_another_list_or_key_are_refused(void **state)
{
    (void)state;
    struct str text = sealed(STR("x")), back = STR_NONE;
    assert_int_equal(cursor_read(&key, CURSOR_PROMPTS, STR("scope"), text, &arena, &back),
                     ERR_PARAMS);
    assert_int_equal(cursor_read(&key, CURSOR_TOOLS, STR("scopf"), text, &arena, &back),
                     ERR_PARAMS);
    assert_int_equal(cursor_read(&key, CURSOR_TOOLS, STR("scopex"), text, &arena, &back),
                     ERR_PARAMS);
    assert_int_equal(cursor_read(&key, CURSOR_TOOLS, STR_NONE, text, &arena, &back), ERR_PARAMS);
    assert_int_equal(cursor_read(&other_key, CURSOR_TOOLS, STR("scope"), text, &arena, &back),
                     ERR_PARAMS);
    assert_null(back.p);
}

static void the_length_is_bounded(void **state)
{
    (void)state;
    static char bytes[CURSOR_PAYLOAD_BYTES + 1], text[1 << 16];
    struct str out = STR_NONE, back = STR_NONE;
    struct str most = {bytes, CURSOR_PAYLOAD_BYTES}, more = {bytes, sizeof bytes};
    assert_int_equal(cursor_write(&key, CURSOR_SEARCH, STR(""), more, &arena, &out), ERR_LIMIT);
    assert_int_equal(cursor_write(&key, CURSOR_SEARCH, STR(""), most, &arena, &out), 0);
    assert_int_equal(cursor_read(&key, CURSOR_SEARCH, STR(""), out, &arena, &back), 0);
    memset(text, 'A', sizeof text);
    assert_int_equal(
        cursor_read(&key, CURSOR_SEARCH, STR(""), (struct str){text, sizeof text}, &arena, &back),
        ERR_PARAMS);
}

static void no_memory_is_said(void **state)
{
    (void)state;
    struct str text = sealed(STR("abcdefghijklmnopqrstuvwxyz")), out, back;
    int err = ERR_NO_MEMORY;
    for (size_t limit = 1; err; limit += 16) {
        struct arena small;
        arena_init(&small, limit);
        err = cursor_write(&key, CURSOR_TOOLS, STR("scope"), text, &small, &out);
        assert_true(err == 0 || err == ERR_NO_MEMORY);
        arena_done(&small);
    }
    err = ERR_NO_MEMORY;
    for (size_t limit = 1; err; limit += 16) {
        struct arena small;
        arena_init(&small, limit);
        err = cursor_read(&key, CURSOR_TOOLS, STR("scope"), text, &small, &back);
        assert_true(err == 0 || err == ERR_NO_MEMORY);
        arena_done(&small);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_was_sealed_comes_back),     TEST(PG_made_up_cursors_are_refused),
        TEST(PG_altered_cursors_are_refused), TEST(PG_cursors_of_another_list_or_key_are_refused),
        TEST(the_length_is_bounded),          TEST(no_memory_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
