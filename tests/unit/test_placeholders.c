/* Texts with {{name}} in them, and base64 read back. */
#include "base/arena.h"
#include "base/base64.h"
#include "base/err.h"
#include "base/limits.h"
#include "manifest/placeholders.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct arena arena;

/* Literals as they are, names in <>, joined by |. */
static void parses(const char *text, const char *wanted)
{
    struct placeholders p;
    const char *what = NULL;
    struct buf got = {0};
    assert_int_equal(placeholders_parse(str_of(text), &arena, &p, &what), 0);
    for (uint32_t i = 0; i < p.n; i++)
        buf_printf(&got, p.v[i].is_name ? "%s<" STR_FMT ">" : "%s" STR_FMT, i ? "|" : "",
                   STR_ARG(p.v[i].text));
    buf_add_char(&got, '\0');
    assert_string_equal(got.p, wanted);
    buf_done(&got);
    arena_reset(&arena);
}

static void refuses(const char *text)
{
    struct placeholders p;
    const char *what = NULL;
    assert_int_equal(placeholders_parse(str_of(text), &arena, &p, &what), ERR_SYNTAX);
    assert_non_null(what);
    arena_reset(&arena);
}

static void texts_are_cut_at_their_names(void **state)
{
    (void)state;
    parses("", "");
    parses("plain", "plain");
    parses("{{a}}", "<a>");
    parses("--x={{a}}{{b.c-d_1}}!", "--x=|<a>|<b.c-d_1>|!");
    parses("{ {a} }} {", "{ {a} }} {");
    parses("{{{{a}} {{a}}", "{{|a}} |<a>");
    parses("{{a}}}}", "<a>|}}");
}

static void what_is_no_name_is_refused(void **state)
{
    (void)state;
    char longest[COMPONENT_TOOL_NAME_BYTES + 8] = "{{";
    refuses("{{");
    refuses("{{}}");
    refuses("{{a}");
    refuses("{{ a }}");
    refuses("x{{a b}}");
    refuses("{{{a}}}");
    memset(longest + 2, 'n', COMPONENT_TOOL_NAME_BYTES + 1);
    strcpy(longest + 3 + COMPONENT_TOOL_NAME_BYTES, "}}");
    refuses(longest);
}

static void reads(const char *text, const char *wanted, size_t n)
{
    struct buf got = {0};
    assert_int_equal(base64_read(str_of(text), &got), 0);
    assert_int_equal(got.n, n);
    assert_memory_equal(got.p ? got.p : "", wanted, n);
    buf_done(&got);
}

static void base64_is_read_strictly(void **state)
{
    (void)state;
    static const char *const wrong[] = {"Zg",   "Zg=",      "Z===",     "Zh==", "Zm9=", "Zm9v=",
                                        "Zm9*", "Zg==Zg==", "Zm9v\nZg", "====", "=Zm9", "Z=m="};
    reads("", "", 0);
    reads("Zg==", "f", 1);
    reads("Zm8=", "fo", 2);
    reads("Zm9vAP+/", "foo\0\xff\xbf", 6);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct buf got = {0};
        assert_int_equal(base64_read(str_of(wrong[i]), &got), ERR_SYNTAX);
        buf_done(&got);
    }
}

static void what_was_written_is_read(void **state)
{
    (void)state;
    unsigned char bytes[300];
    struct buf text = {0}, got = {0};
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 37);
    for (size_t n = 0; n <= sizeof bytes; n++) {
        buf_clear(&text);
        buf_clear(&got);
        base64_write(bytes, n, &text);
        assert_int_equal(base64_read(buf_str(&text), &got), 0);
        assert_int_equal(got.n, n);
        assert_memory_equal(got.p ? got.p : "", bytes, n);
    }
    buf_done(&text);
    buf_done(&got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_cut_at_their_names),
        cmocka_unit_test(what_is_no_name_is_refused),
        cmocka_unit_test(base64_is_read_strictly),
        cmocka_unit_test(what_was_written_is_read),
    };
    arena_init(&arena, 0);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_done(&arena);
    return failed;
}
