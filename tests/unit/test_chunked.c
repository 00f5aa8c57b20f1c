/* tests/unit/test_chunked.c - the de-chunker: any split gives the same, bad framing is refused. */
#include "base/err.h"
#include "net/chunked.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

/* Feeds `text` in pieces of `step` bytes; the result of the last call, and what was used in all. */
static int feed(const char *text, uint32_t n, uint32_t step, struct buf *body, uint32_t *ret_used)
{
    struct chunked c = {0};
    int err = 0;
    for (uint32_t at = 0; at < n && err == 0; at += step) {
        uint32_t used = 0, piece = n - at < step ? n - at : step;
        char *copy = malloc(piece); /* so that a read past its end is seen */
        memcpy(copy, text + at, piece);
        err = chunked_feed(&c, (struct str){copy, piece}, body, &used);
        free(copy);
        *ret_used = at + used;
    }
    return err;
}

static void check(const char *text, size_t limit, int expected, const char *body)
{
    uint32_t n = (uint32_t)strlen(text), used = 0;
    for (uint32_t step = 1; step <= n; step++) {
        struct buf got = {.limit = limit};
        int err = feed(text, n, step, &got, &used);
        if (err != expected)
            fail_msg("\"%s\" by %u: %d", text, step, err);
        if (expected == 1) {
            assert_int_equal(used, n);
            assert_int_equal(got.n, strlen(body));
            assert_memory_equal(got.n ? got.p : "", body, got.n);
        }
        buf_done(&got);
    }
}

static void bodies_come_out_whole_in_any_split(void **state)
{
    (void)state;
    check("0\r\n\r\n", 0, 1, "");
    check("5\r\nhello\r\n0\r\n\r\n", 0, 1, "hello");
    check("5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", 0, 1, "hello world");
    check("00A\r\n0123456789\r\n000\r\n\r\n", 0, 1, "0123456789");
    check("3;name=value\r\nabc\r\n0;x\r\n\r\n", 0, 1, "abc");
    check("3 ; a=\"b\"\r\nabc\r\n0\r\nTrailer: x\r\nOther: y\r\n\r\n", 0, 1, "abc");
    check("2\r\n\r\n\r\n0\r\n\r\n", 0, 1, "\r\n");
}

static void bad_framing_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"\r\n",
                                      "g\r\n",
                                      "-1\r\n",
                                      "+1\r\n",
                                      "0x5\r\nhello",
                                      " 5\r\nhello",
                                      "5\nhello",
                                      "5\r\nhelloX",
                                      "5\r\nhello\n0",
                                      "5\r\nhello\r\r",
                                      "5\rX",
                                      "1000000000000000\r\n",
                                      "ffffffffffffffffff\r\n",
                                      "0\r\n\n",
                                      "0\r\nA: b\n",
                                      "0\r\n\rX",
                                      "5;a\nb\r\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check(bad[i], 0, ERR_BAD_FRAMING, NULL);
}

static void unfinished_bodies_want_more(void **state)
{
    (void)state;
    check("5", 0, 0, NULL);
    check("5\r\nhell", 0, 0, NULL);
    check("5\r\nhello\r\n", 0, 0, NULL);
    check("5\r\nhello\r\n0\r\n", 0, 0, NULL);
    check("5\r\nhello\r\n0\r\nA: b\r\n", 0, 0, NULL);
}

static void C_041_the_limit_holds(void **state)
{
    (void)state;
    check("5\r\nhello\r\n0\r\n\r\n", 5, 1, "hello");
    check("6\r\n", 5, ERR_TOO_LARGE, NULL); /* before the data comes */
    check("3\r\nabc\r\n3\r\n", 5, ERR_TOO_LARGE, NULL);
    check("fffffffffffffff\r\n", 5, ERR_TOO_LARGE, NULL);
}

static void extensions_and_trailers_are_bounded(void **state)
{
    (void)state;
    char text[CHUNKED_EXTRA_BYTES + 64];
    uint32_t used;
    struct buf body = {0};
    memset(text, 'x', sizeof text);
    memcpy(text, "5;", 2);
    assert_int_equal(feed(text, sizeof text, 100, &body, &used), ERR_BAD_FRAMING);
    memcpy(text, "0\r\n", 3);
    assert_int_equal(feed(text, sizeof text, 100, &body, &used), ERR_BAD_FRAMING);
    buf_done(&body);
}

static void what_follows_is_left(void **state)
{
    (void)state;
    struct chunked c = {0};
    struct buf body = {0};
    uint32_t used = 0;
    assert_int_equal(chunked_feed(&c, STR("1\r\na\r\n0\r\n\r\nPOST /"), &body, &used), 1);
    assert_int_equal(used, 11);
    buf_done(&body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_come_out_whole_in_any_split),
        cmocka_unit_test(bad_framing_is_refused),
        cmocka_unit_test(unfinished_bodies_want_more),
        cmocka_unit_test(C_041_the_limit_holds),
        cmocka_unit_test(extensions_and_trailers_are_bounded),
        cmocka_unit_test(what_follows_is_left),
    };
    return cmocka_run_group_tests_name("chunked", tests, NULL, NULL);
}
