/* tests/unit/test_json_schema_pattern.c - regular expressions mean what ECMA-262 says, and what
 * only PCRE2 knows is refused. */
#include "base/clock.h"
#include "base/err.h"
#include "base/limits.h"
#include "schema/json_schema_pattern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <string.h>

#define N(array) (sizeof(array) / sizeof *(array))

static const struct {
    const char *pattern, *text;
    bool matches;
} cases[] = {
    {"", "", true},
    {"a", "bab", true},
    {"^a$", "a\n", false},
    {"^.$", "\n", false},
    {"^.$", "\r", false},
    {"^.$", "\xe2\x80\xa8", false}, /* U+2028 */
    {"^.$", "\xf0\x9f\x98\x80", true},
    {"^[.]$", "x", false},
    {"^\\d+$", "12", true},
    {"^\\d$", "\xd9\xa3", false}, /* Arabic digit */
    {"^\\w$", "\xc3\xa9", false},
    {"^\\s$", "\xef\xbb\xbf", true},
    {"^[\\s]$", "\xc2\xa0", true},
    {"^[^\\s]$", "\xc2\xa0", false},
    {"^[\\S]$", "a", true},
    {"^[\\S]$", "\t", false},
    {"^[^\\S]$", "\t", true},
    {"^[\\s-x]+$", "- x", true},
    {"^[\\s-x]$", "b", false},
    {"^[a-\\s]$", "-", true},
    {"^[\\w-]+$", "a-b", true},
    {"^[\\d-x]+$", "1-x", true},
    {"^[\\d-x]$", "b", false},
    {"^\\v$", "\v", true},
    {"^\\v$", "\n", false},
    {"^\\cJ$", "\n", true},
    {"^\\x41\\u0042$", "AB", true},
    {"^\\u{1F600}$", "\xf0\x9f\x98\x80", true},
    {"^\\uD83D\\uDE00$", "\xf0\x9f\x98\x80", true},
    {"^[\\u{1F600}-\\u{1F64F}]$", "\xf0\x9f\x98\x82", true},
    {"^[\\b]$", "\b", true},
    {"\\bfoo\\b", "a foo b", true},
    {"^\\p{Lu}\\p{Letter}\\P{L}$", "Ab1", true},
    {"^\\p{Script=Greek}+$", "\xcf\x80\xcf\x83", true},
    {"^\\p{gc=Uppercase_Letter}$", "A", true},
    {"^\\p{General_Category=Lu}$", "a", false},
    {"^[\\p{L}\\d]+$", "a1", true},
    {"^(a)\\1$", "aa", true},
    {"^(?<x>a)\\k<x>$", "aa", true},
    {"^(?:(a)|b)\\1$", "b", true}, /* a group that took no part matches nothing */
    {"^a{2,3}$", "aaaa", false},
    {"^a{2}?$", "aa", true},
    {"^a{,2}$", "a{,2}", true},
    {"^(?=a)(?!b)(?<=)a(?<!b)$", "a", true},
    {"^[]$", "a", false},
    {"^[^]$", "\n", true},
    {"^[[:alpha:]]$", "a]", true}, /* a class of : a l p h, then a bracket */
    {"^[[:alpha:]]$", "b", false},
    {"^\\/\\-\\.\\$$", "/-.$", true},
    {"^\\0$", "", false},
    {"^#a b$", "#a b", true},
    {"^[#]x$", "#x", true},
};

static int compile(struct arena *arena, const char *text, const struct schema_pattern **ret,
                   struct pattern_compiler *compiler)
{
    struct str why;
    *compiler = (struct pattern_compiler){.arena = arena};
    int err = pattern_compile(compiler, str_of(text), ret, &why);
    if (err == ERR_SYNTAX)
        assert_true(why.n > 0);
    return err;
}

static void RX_01_patterns_mean_what_ecma_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < N(cases); i++) {
        struct arena arena;
        struct pattern_compiler compiler;
        struct pattern_room room = {0};
        const struct schema_pattern *pattern;
        arena_init(&arena, 0);
        int err = compile(&arena, cases[i].pattern, &pattern, &compiler);
        if (err == 0)
            err = pattern_matches(pattern, pattern_limits(&compiler), &room, str_of(cases[i].text),
                                  INT64_MAX);
        if (err != cases[i].matches)
            fail_msg("%s on \"%s\": %d", cases[i].pattern, cases[i].text, err);
        pattern_room_done(&room);
        arena_done(&arena);
    }
}

/* Each place of the text costs as many steps as are left of it, and PCRE2 counts none of them; or
 * all from one place. */
static void RX_03_a_long_text_ends_with_its_time(void **state)
{
    static const char *const slow[] = {"[a-z]+[0-9]", "^([a-z]+[0-9]|a)*b"};
    struct buf text = {0};
    (void)state;
    for (int i = 0; i < 400000; i++)
        buf_add_char(&text, 'a');
    assert_false(text.failed);
    for (size_t i = 0; i < N(slow); i++) {
        struct arena arena;
        struct pattern_compiler compiler;
        struct pattern_room room = {0};
        const struct schema_pattern *pattern;
        arena_init(&arena, 0);
        assert_int_equal(compile(&arena, slow[i], &pattern, &compiler), 0);
        pcre2_match_context *limits = pattern_limits(&compiler);
        int64_t before_ms = clock_mono_ms();
        assert_int_equal(pattern_matches(pattern, limits, &room, buf_str(&text), before_ms + 50),
                         ERR_TIMED_OUT);
        assert_in_range(clock_mono_ms() - before_ms, 50, 5000);
        pattern_room_done(&room);
        arena_done(&arena);
    }
    buf_done(&text);
}

/* The same answers on both sides of PATTERN_SHORT_BYTES. */
static void RX_04_a_long_text_matches_as_a_short_one(void **state)
{
    static const struct {
        const char *pattern;
        int matches;
    } rules[] = {{"^(?:ab)+$", 1}, {"b$", 1}, {"^b", 0}, {"aa", 0}, {"(?=b)ba", 1}, {"c|ab$", 1}};
    (void)state;
    for (size_t i = 0; i < N(rules); i++)
        for (uint32_t n = PATTERN_SHORT_BYTES - 2; n <= PATTERN_SHORT_BYTES + 2; n += 2) {
            struct arena arena;
            struct pattern_compiler compiler;
            struct pattern_room room = {0};
            const struct schema_pattern *pattern;
            char text[PATTERN_SHORT_BYTES + 2];
            for (uint32_t at = 0; at < n; at++)
                text[at] = "ab"[at % 2];
            arena_init(&arena, 0);
            assert_int_equal(compile(&arena, rules[i].pattern, &pattern, &compiler), 0);
            assert_int_equal(pattern_matches(pattern, pattern_limits(&compiler), &room,
                                             (struct str){text, n}, INT64_MAX),
                             rules[i].matches);
            pattern_room_done(&room);
            arena_done(&arena);
        }
}

static void RX_02_what_ecma_does_not_know_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "(",
        ")",
        "[",
        "a**",
        "a++",
        "a?+",
        "*",
        "+a",
        "a|*",
        "(*ACCEPT)",
        "(*UTF)a",
        "(?>a)",
        "(?i)a",
        "(?|a)",
        "(?R)",
        "(?1)",
        "(?#x)",
        "(?C1)",
        "(?(1)a)",
        "(?P<n>a)",
        "(?'n'a)",
        "\\A",
        "\\Z",
        "\\z",
        "\\G",
        "\\K",
        "\\R",
        "\\X",
        "\\h",
        "\\Q+\\E",
        "\\a",
        "\\e",
        "\\C",
        "\\N",
        "\\g1",
        "\\1",
        "(a)\\2",
        "\\01",
        "\\x4",
        "\\u12",
        "\\u{110000}",
        "\\u{}",
        "\\ud800",
        "\\ud800\\u0041",
        "\\udc00",
        "\\c1",
        "\\c",
        "\\",
        "\\p",
        "\\p{",
        "\\p{Nope}",
        "\\p{^Lu}",
        "\\pL",
        "\\k",
        "[\\B]",
        "[b-a]",
        "a{2,1}",
        "(?<=a*)b",
        "[\\1]",
        "\\\xc3\xa9",
        "(?<n>a)(?<n>b)",
        "\\k<n>",
    };
    for (size_t i = 0; i < N(bad); i++) {
        struct arena arena;
        struct pattern_compiler compiler;
        const struct schema_pattern *pattern = NULL;
        arena_init(&arena, 0);
        int err = compile(&arena, bad[i], &pattern, &compiler);
        if (err != ERR_SYNTAX || pattern)
            fail_msg("%s: %d", bad[i], err);
        arena_done(&arena);
    }
}

static void RX_03_a_long_pattern_is_refused(void **state)
{
    (void)state;
    char text[SCHEMA_PATTERN_BYTES_MAX + 2];
    struct arena arena;
    struct pattern_compiler compiler;
    const struct schema_pattern *pattern;
    arena_init(&arena, 0);
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_int_equal(compile(&arena, text, &pattern, &compiler), ERR_SYNTAX);
    text[sizeof text - 2] = '\0';
    assert_int_equal(compile(&arena, text, &pattern, &compiler), 0);
    assert_int_equal(compile(&arena, "((a{1000}){1000}){1000}", &pattern, &compiler), ERR_SYNTAX);
    arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(RX_01_patterns_mean_what_ecma_says),
        cmocka_unit_test(RX_02_what_ecma_does_not_know_is_refused),
        cmocka_unit_test(RX_03_a_long_text_ends_with_its_time),
        cmocka_unit_test(RX_04_a_long_text_matches_as_a_short_one),
        cmocka_unit_test(RX_03_a_long_pattern_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
