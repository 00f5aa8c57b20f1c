/* tests/unit/test_base.c - err, str, buf, arena and clock. */
#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/limits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <string.h>

static void err_list_has_codes_and_texts(void **state)
{
    (void)state;
    assert_int_equal(err_rpc_code(ERR_PARSE), -32700);
    assert_int_equal(err_http_status(ERR_SESSION_GONE), 404);
    assert_string_equal(err_name(ERR_CLOSED), "CLOSED");
    assert_int_equal(err_rpc_code(ERR_OK), 0);
    assert_int_equal(err_rpc_code(-9999), -32603);
}

static void str_cut_and_compare(void **state)
{
    (void)state;
    struct str rest = STR("a,b,");
    assert_true(str_eq(str_cut(&rest, ','), STR("a")));
    assert_true(str_eq(str_cut(&rest, ','), STR("b")));
    assert_int_equal(str_cut(&rest, ',').n, 0);
    assert_null(rest.p);
    assert_true(str_compare(STR("a"), STR("ab")) < 0);
    assert_true(str_eq_nocase(STR("Mcp-Session-ID"), STR("mcp-session-id")));
    assert_true(str_eq(str_trim(STR(" \tx ")), STR("x")));
}

static void str_to_u64_refuses_all_but_digits(void **state)
{
    (void)state;
    uint64_t v = 7;
    assert_int_equal(str_to_u64(STR("18446744073709551615"), &v), 0);
    assert_true(v == UINT64_MAX);
    static const char *const bad[] = {"", "-1", "+3", "5, 5", "1e2", "18446744073709551616"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(str_to_u64(str_of(bad[i]), &v), ERR_SYNTAX);
}

static void buf_stays_failed_past_its_limit(void **state)
{
    (void)state;
    struct buf b = {.limit = 4};
    buf_add_lit(&b, "abc");
    buf_add_lit(&b, "de");
    assert_true(b.failed);
    buf_add_lit(&b, "f");
    assert_int_equal(b.n, 3);
    buf_done(&b);
}

static void buf_writes_extreme_integers(void **state)
{
    (void)state;
    struct buf b = {0};
    buf_add_i64(&b, INT64_MIN);
    buf_add_char(&b, ' ');
    buf_add_u64(&b, UINT64_MAX);
    assert_true(str_eq(buf_str(&b), STR("-9223372036854775808 18446744073709551615")));
    buf_done(&b);
}

static void arena_keeps_its_limit(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, 64 << 10);
    size_t got = 0;
    while (arena_alloc(&a, 1000))
        got += 1000;
    assert_true(got > 48 << 10 && a.used <= 64 << 10);
    arena_reset(&a);
    assert_non_null(arena_alloc(&a, 1000));
    assert_null(arena_alloc(&a, SIZE_MAX));
    assert_null(arena_array(&a, SIZE_MAX / 2, 4));
    arena_done(&a);
}

static void a_time_as_text(void **state)
{
    static const struct {
        int64_t ms;
        const char *text;
    } times[] = {{0, "1970-01-01T00:00:00.000Z"},
                 {951827696789, "2000-02-29T12:34:56.789Z"},
                 {-1, "1969-12-31T23:59:59.999Z"},
                 {-86400000, "1969-12-31T00:00:00.000Z"},
                 {253402300799999, "9999-12-31T23:59:59.999Z"},
                 {253402300800000, ""},
                 {INT64_MAX, ""},
                 {INT64_MIN, ""}};
    char text[CLOCK_TEXT_BYTES];
    (void)state;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        clock_write_text(times[i].ms, text);
        assert_string_equal(text, times[i].text);
    }
}

static void clock_can_be_moved(void **state)
{
    (void)state;
    int64_t before = clock_mono_ms();
    clock_advance_ms(3600000);
    assert_true(clock_mono_ms() >= before + 3600000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(err_list_has_codes_and_texts),
        cmocka_unit_test(str_cut_and_compare),
        cmocka_unit_test(str_to_u64_refuses_all_but_digits),
        cmocka_unit_test(buf_stays_failed_past_its_limit),
        cmocka_unit_test(buf_writes_extreme_integers),
        cmocka_unit_test(arena_keeps_its_limit),
        cmocka_unit_test(clock_can_be_moved),
        cmocka_unit_test(a_time_as_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
