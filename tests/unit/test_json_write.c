/* tests/unit/test_json_write.c - the writer by table, strings, numbers. */
#include "base/err.h"
#include "guarded.h"
#include "hand_table.h"
#include "wire/json_read.h"
#include "wire/json_write.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <float.h>
#include <locale.h>
#include <stdio.h>

static struct buf out;

static int set_up(void **state)
{
    (void)state;
    out = (struct buf){0};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    buf_done(&out);
    return 0;
}

static void assert_out(const char *want)
{
    if (!str_eq(buf_str(&out), str_of(want)))
        fail_msg("wrote " STR_FMT ", not %s", STR_ARG(buf_str(&out)), want);
    buf_clear(&out);
}

static void every_kind_is_written(void **state)
{
    (void)state;
    static const char text[] =
        "{\"text\":\"a\\n\\\"é\",\"count\":7,\"ratio\":-2.5,\"flag\":true,\"level\":\"info\","
        "\"version\":-32020,\"token\":12,\"raw\":[\"x\" , \"y\"],\"inner\":{\"name\":\"n\","
        "\"size\":-3},\"inners\":[{\"name\":\"1\"},{\"name\":\"2\"}],\"words\":[],"
        "\"numbersWithALongName\":[1,-9223372036854775808],\"stringsByName\":{\"a\":\"b\",\"c\":"
        "\"\"},\"innersByName\":{\"x\":{\"name\":\"y\"}},\"either\":[{\"type\":\"number\","
        "\"number\":1},{\"type\":\"text\",\"text\":\"\\t\"}],\"oneEither\":{\"link\":\"l\"},"
        "\"uri\":\"a:b\"}";
    struct guarded g = guarded_copy(STR(text));
    struct arena arena;
    struct sample sample;
    arena_init(&arena, 0);
    assert_int_equal(wire_parse(&sample_type, g.text, &arena, &sample, NULL), 0);
    assert_int_equal(wire_write(&sample_type, &sample, &out), 0);
    assert_out(text);
    arena_done(&arena);
    guarded_done(&g);
}

static void members_without_their_bit_are_left_out(void **state)
{
    (void)state;
    struct sample s = {.has = 1, .text = STR_INIT("x"), .count = 5};
    assert_int_equal(wire_write(&sample_type, &s, &out), 0);
    assert_out("{\"text\":\"x\"}");
    s.has |= 1 << 5;
    assert_int_equal(wire_write(&sample_type, &s, &out), 0);
    assert_out("{\"text\":\"x\",\"version\":-32020}");
}

static void one_of_many_is_written_alone(void **state)
{
    (void)state;
    struct either one = {.has = 2, .kind = 3, .text = STR_INIT("t")};
    struct sample s = {.has = 1 | 1 << 14, .text = STR_INIT("x"), .either = {&one, 1}};
    assert_int_equal(wire_write(&sample_type, &s, &out), 0);
    assert_out("{\"text\":\"x\",\"either\":{\"type\":\"text\",\"text\":\"t\"}}");
}

static void a_union_without_kind_is_chosen_by_its_members(void **state)
{
    (void)state;
    struct either one = {.has = 4, .number = 2};
    struct sample s = {.has = 1 | 1 << 14, .text = STR_INIT("x"), .either = {&one, 1}};
    assert_int_equal(wire_write(&sample_type, &s, &out), 0);
    assert_out("{\"text\":\"x\",\"either\":{\"type\":\"number\",\"number\":2}}");
}

static void what_is_missing_is_our_fault_and_leaves_nothing(void **state)
{
    (void)state;
    struct either none = {.has = 0}, unknown = {.has = 2, .kind = 9};
    struct inner empty = {.has = 0};
    struct sample bad[] = {
        {.has = 0},
        {.has = 1 | 1 << 8, .inner = &empty},
        {.has = 1 | 1 << 8, .inner = NULL},
        {.has = 1 | 1 << 14, .either = {&none, 1}},
        {.has = 1 | 1 << 14, .either = {&unknown, 1}},
        {.has = 1 | 1 << 4, .level = 99},
        {.has = 1 | 1 << 7, .raw = STR_NONE},
        {.has = 1 | 1 << 2, .ratio = NAN},
        {.has = 1 | 1 << 9, .inners = {NULL, 21}},
    };
    buf_add_lit(&out, "before");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(wire_write(&sample_type, &bad[i], &out), ERR_INTERNAL);
    assert_out("before");
}

static void a_full_buffer_is_no_memory(void **state)
{
    (void)state;
    struct sample s = {.has = 1, .text = STR_INIT("a text of some length")};
    out.limit = 10;
    assert_int_equal(wire_write(&sample_type, &s, &out), ERR_NO_MEMORY);
}

static void no_limit_of_the_buffer_leaves_half_a_text(void **state)
{
    (void)state;
    struct inner inner = {.has = 1, .name = STR_INIT("\"x\"")};
    struct sample s = {
        .has = 1 | 1 << 1 | 1 << 8, .text = STR_INIT("t\n"), .count = 5, .inner = &inner};
    static const char want[] = "{\"text\":\"t\\n\",\"count\":5,\"inner\":{\"name\":\"\\\"x\\\"\"}}";
    for (size_t limit = 1; limit < sizeof want + 8; limit++) {
        buf_done(&out);
        out.limit = limit;
        int err = wire_write(&sample_type, &s, &out);
        assert_int_equal(err, limit < sizeof want - 1 ? ERR_NO_MEMORY : 0);
    }
    assert_out(want);
}

static void strings_are_escaped(void **state)
{
    (void)state;
    json_write_str(&out, STR("a\"b\\c\b\f\n\r\t\x01\x1f\x7f/"));
    assert_out("\"a\\\"b\\\\c\\b\\f\\n\\r\\t\\u0001\\u001f\x7f/\"");
    json_write_str(&out, (struct str){"\0x", 2});
    assert_out("\"\\u0000x\"");
    json_write_str(&out, STR_NONE);
    assert_out("\"\"");
    json_write_str(&out, STR("0123456789abcdef0123456789abcdef\n漢字😀é"));
    assert_out("\"0123456789abcdef0123456789abcdef\\n漢字😀é\"");
}

static void J_18_bytes_that_are_not_utf8_are_replaced(void **state)
{
    (void)state;
    json_write_str(&out, STR("a\xff\xc0\xaf漢\xe6\xbc"));
    assert_out("\"a\uFFFD\uFFFD\uFFFD漢\uFFFD\uFFFD\"");
    json_write_str(&out, STR("\xed\xa0\x80"));
    assert_out("\"\uFFFD\uFFFD\uFFFD\"");
}

/* No string, at any length or alignment, reads a byte behind its end. */
static void strings_end_where_they_end(void **state)
{
    (void)state;
    struct guarded g = guarded_copy(STR("0123456789012345678901234567890123456789漢"));
    const char *end = g.text.p + g.text.n + JSON_PADDING_BYTES; /* the forbidden page */
    memmove((char *)end - g.text.n, g.text.p, g.text.n);
    for (uint32_t n = 0; n <= g.text.n; n++) {
        buf_clear(&out);
        json_write_str(&out, (struct str){end - n, n});
        assert_true(out.n >= n + 2u);
    }
    guarded_done(&g);
}

static double read_back(struct str text)
{
    static const struct wire_type number = {.kind = WIRE_NUM};
    static struct guarded room; /* one for all of the many texts */
    double v = 0;
    struct arena arena;
    arena_init(&arena, 0);
    if (!room.map)
        room = guarded_copy(STR("a text that is longer than any number is written"));
    guarded_reuse(&room, text);
    assert_int_equal(wire_parse(&number, room.text, &arena, &v, NULL), 0);
    arena_done(&arena);
    return v;
}

static void numbers_are_short(void **state)
{
    (void)state;
    static const struct {
        double v;
        const char *text;
    } rows[] = {
        {0, "0"},
        {-0.0, "-0"},
        {1, "1"},
        {-7, "-7"},
        {0.1, "0.1"},
        {0.5, "0.5"},
        {1e22, "1e+22"},
        {533333333333333312.0, "533333333333333312"},
        {1.0 / 3, "0.3333333333333333"},
        {9007199254740991, "9007199254740991"},
        {NAN, "null"},
        {HUGE_VAL, "null"},
        {-HUGE_VAL, "null"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_write_num(&out, rows[i].v);
        assert_out(rows[i].text);
    }
}

static void assert_round_trip(double v)
{
    buf_clear(&out);
    json_write_num(&out, v);
    double back = read_back(buf_str(&out));
    if (memcmp(&back, &v, sizeof v) != 0)
        fail_msg("%.17g came back as %.17g from " STR_FMT, v, back, STR_ARG(buf_str(&out)));
}

static void doubles_of_any_bits_come_back(void **state)
{
    (void)state;
    static const double edges[] = {
        DBL_MIN, DBL_MAX, DBL_TRUE_MIN,        DBL_EPSILON, 1e23, 5e-324, 9007199254740993.0,
        1e22,    1e-22,   123456789012345680.0};
    uint64_t random = 88172645463325252u;
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
        assert_round_trip(edges[i]);
    for (int i = 0; i < 20000; i++) {
        double v;
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        memcpy(&v, &random, sizeof v);
        if (isfinite(v))
            assert_round_trip(v);
        if (i % 2) /* and such as people write */
            assert_round_trip((double)(int64_t)(random >> 20) / 1000);
    }
}

/* Texts whose value the C library knows: our fast path has to agree to the last bit. */
static void decimal_texts_are_read_exactly(void **state)
{
    (void)state;
    uint64_t random = 362436069;
    char text[64];
    for (int i = 0; i < 20000; i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        snprintf(text, sizeof text, "%llu.%llue%d", (unsigned long long)(random >> (32 + i % 30)),
                 (unsigned long long)(random & 0xffff), (int)(random >> 16 & 63) - 32);
        double want = strtod(text, NULL), got = read_back(str_of(text));
        assert_memory_equal(&want, &got, sizeof want);
    }
}

static void a_locale_with_a_comma_changes_nothing(void **state)
{
    (void)state;
    /* whichever is installed; if none is, the test still proves that "C" works */
    (void)(setlocale(LC_ALL, "de_DE.UTF-8") || setlocale(LC_ALL, "fr_FR.UTF-8"));
    json_write_num(&out, 2.5e-7);
    assert_out("2.5e-07");
    assert_true(read_back(STR("0.12345678901234567890123")) == 0.12345678901234567890123);
    setlocale(LC_ALL, "C");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_kind_is_written),
        TEST(members_without_their_bit_are_left_out),
        TEST(one_of_many_is_written_alone),
        TEST(a_union_without_kind_is_chosen_by_its_members),
        TEST(what_is_missing_is_our_fault_and_leaves_nothing),
        TEST(a_full_buffer_is_no_memory),
        TEST(no_limit_of_the_buffer_leaves_half_a_text),
        TEST(strings_are_escaped),
        TEST(J_18_bytes_that_are_not_utf8_are_replaced),
        TEST(strings_end_where_they_end),
        TEST(numbers_are_short),
        TEST(doubles_of_any_bits_come_back),
        TEST(decimal_texts_are_read_exactly),
        TEST(a_locale_with_a_comma_changes_nothing),
    };
    hand_table_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
