/* tests/unit/test_json_tree.c - the cold JSON reader: values, places, messages, limits. */
#include "base/err.h"
#include "base/json_tree.h"
#include "base/limits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct arena arena;
static struct json_error error;

static int setup(void **state)
{
    (void)state;
    arena_init(&arena, 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static const struct json *parse(const char *text)
{
    struct json *root = NULL;
    memset(&error, 0, sizeof error);
    if (json_tree_parse(str_of(text), &arena, &root, &error))
        print_message("# %u:%u %s\n", error.line, error.column, error.text);
    assert_non_null(root);
    return root;
}

static void assert_fails(const char *text, uint32_t line, uint32_t column, const char *message)
{
    struct json *root = NULL;
    memset(&error, 0, sizeof error);
    assert_int_equal(json_tree_parse(str_of(text), &arena, &root, &error), ERR_PARSE);
    assert_null(root);
    assert_string_equal(error.text, message);
    assert_int_equal(error.line, line);
    assert_int_equal(error.column, column);
}

static void every_kind_is_read(void **state)
{
    (void)state;
    const struct json *root = parse(" {\"a\":[null,true,false,\"x\"],\"b\":{},\"c\":[],\"d\":-7} ");
    assert_int_equal(root->kind, JSON_OBJECT);
    assert_int_equal(root->n, 4);
    const struct json *a = json_get(root, STR("a"));
    static const char *const kinds[] = {"null", "boolean", "boolean", "string"};
    int i = 0;
    json_each (it, a)
        assert_string_equal(json_kind_name(it), kinds[i++]);
    assert_int_equal(i, 4);
    assert_true(a->v.children.first->next->v.b);
    assert_true(str_eq(json_str(a->v.children.last), STR("x")));
    assert_string_equal(json_kind_name(json_get(root, STR("b"))), "object");
    assert_string_equal(json_kind_name(json_get(root, STR("c"))), "array");
    assert_string_equal(json_kind_name(json_get(root, STR("d"))), "number");
    assert_null(json_get(root, STR("e")));
    assert_null(json_get(NULL, STR("e")));
    assert_null(json_get(a, STR("e")));
    assert_null(json_str(a).p);
    assert_null(json_first(a->v.children.first));
}

static void a_scalar_is_a_text(void **state)
{
    (void)state;
    assert_int_equal(parse("42")->v.num.i, 42);
    assert_int_equal(json_str(parse("\"\"")).n, 0);
    assert_non_null(json_str(parse("\"\"")).p);
}

static void escapes_are_decoded(void **state)
{
    (void)state;
    struct str s = json_str(parse("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u20AC\\uD83d\\ude00"
                                  "\\uFFFF\\u0000!\""));
    struct str want = STR("\"\\/\b\f\n\r\tA\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xef\xbf\xbf\0!");
    assert_true(str_eq(s, want));
    assert_int_equal(s.p[s.n], '\0');
    assert_true(str_eq(parse("{\"\\u0061\":1}")->v.children.first->key, STR("a")));
}

static void numbers_keep_text_and_value(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is_int;
        int64_t i;
        double d;
    } cases[] = {
        {"0", true, 0, 0},
        {"-0", true, 0, -0.0},
        {"9223372036854775807", true, INT64_MAX, 9223372036854775807.0},
        {"-9223372036854775808", true, INT64_MIN, -9223372036854775808.0},
        {"9223372036854775808", false, 0, 9223372036854775808.0},
        {"1.0", true, 1, 1},
        {"1e2", true, 100, 100},
        {"9007199254740991.0", true, 9007199254740991, 9007199254740991.0},
        {"9007199254740993e0", false, 0, 9007199254740992.0},
        {"1.5", false, 0, 1.5},
        {"1e-400", true, 0, 0},
        {"1e400", false, 0, HUGE_VAL},
        {"-1e400", false, 0, -HUGE_VAL},
        {"1.7976931348623157e308", false, 0, DBL_MAX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct json *v = parse(cases[i].text);
        assert_true(str_eq(v->v.num.raw, str_of(cases[i].text)));
        assert_int_equal(v->is_int, cases[i].is_int);
        assert_true(v->v.num.i == cases[i].i);
        assert_true(v->v.num.d == cases[i].d);
    }
}

static void places_count_characters(void **state)
{
    (void)state;
    const struct json *root =
        parse("{\n  \"\xc3\xa4\xe2\x82\xac\": 1,\r\n\t\"b\": [ \"x\",\n null]}");
    const struct json *first = root->v.children.first, *b = first->next;
    assert_int_equal(root->line, 1);
    assert_int_equal(root->column, 1);
    assert_int_equal(first->key_line, 2);
    assert_int_equal(first->key_column, 3);
    assert_int_equal(first->column, 9);
    assert_int_equal(b->key_line, 3);
    assert_int_equal(b->key_column, 2);
    assert_int_equal(b->line, 3);
    assert_int_equal(b->column, 7);
    assert_int_equal(b->v.children.last->line, 4);
    assert_int_equal(b->v.children.last->column, 2);
}

static void the_last_duplicate_wins_and_can_be_found(void **state)
{
    (void)state;
    const struct json *root = parse("{\"a\":1,\"b\":2,\n\"a\":3}");
    assert_int_equal(root->n, 3);
    assert_int_equal(json_get(root, STR("a"))->v.num.i, 3);
    const struct json *again = json_duplicate(root);
    assert_non_null(again);
    assert_int_equal(again->key_line, 2);
    assert_int_equal(again->key_column, 1);
    assert_null(json_duplicate(parse("{\"a\":1,\"A\":1}")));
    assert_null(json_duplicate(NULL));
}

static void a_pointer_leads_to_a_value_or_as_far_as_it_can(void **state)
{
    static const struct {
        const char *pointer;
        uint32_t line;
    } cases[] = {
        {"", 1},        {"/a", 2},       {"/a/0", 2},      {"/a/1", 3}, {"/a/2", 2}, {"/a/x", 2},
        {"/b~1~0c", 4}, {"/b~1~0c/", 5}, {"/b~1~0c/d", 4}, {"/b", 1},   {"/e", 7},
    };
    (void)state;
    const struct json *root =
        parse("{\n\"a\": [1,\n2],\n\"b/~c\": {\n\"\": 1},\n\"e\": 1,\"e\":\n2}");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (json_at(root, str_of(cases[i].pointer))->line != cases[i].line)
            fail_msg("%s: line %u", cases[i].pointer,
                     json_at(root, str_of(cases[i].pointer))->line);
}

static void a_fault_names_place_and_expectation(void **state)
{
    (void)state;
    assert_fails("", 1, 1, "expected a value, found the end of the text");
    assert_fails(" \n ", 2, 2, "expected a value, found the end of the text");
    assert_fails("[1 2]", 1, 4, "expected ',' or ']', found a number");
    assert_fails("[1,]", 1, 4, "expected a value, found ']'");
    assert_fails("[", 1, 2, "expected a value or ']', found the end of the text");
    assert_fails("[1}", 1, 3, "expected ',' or ']', found '}'");
    assert_fails("{\"a\" 1}", 1, 6, "expected ':', found a number");
    assert_fails("{\"a\":}", 1, 6, "expected a value, found '}'");
    assert_fails("{\"a\":1,\n}", 2, 1, "expected a string, found '}'");
    assert_fails("{1:2}", 1, 2, "expected a string or '}', found a number");
    assert_fails("1 x", 1, 3, "expected the end of the text, found 'x'");
    assert_fails("]", 1, 1, "expected a value, found ']'");
    assert_fails("nul", 1, 1, "expected a value, found 'nul'");
    assert_fails("truefalse_and_a_long_tail", 1, 1,
                 "expected a value, found 'truefalse_and_a_long...'");
    assert_fails("[1,.5]", 1, 4, "expected a value, found '.'");
    assert_fails("\xef\xbb\xbf{}", 1, 1, "expected a value, found byte 0xef");
    assert_fails("// no", 1, 1, "expected a value, found '/'");
}

static void a_fault_in_a_string_has_its_own_place(void **state)
{
    (void)state;
    assert_fails("\"ab", 1, 4, "expected '\"' at the end of the string, found the end of the text");
    assert_fails("[\"a\nb\"]", 1, 4, "expected an escape, found a control character in a string");
    assert_fails("\"a\\x\"", 1, 3, "expected one of \" \\ / b f n r t uXXXX behind the backslash");
    assert_fails("\"\\u12g4\"", 1, 2,
                 "expected one of \" \\ / b f n r t uXXXX behind the backslash");
    assert_fails("\"\\ud800\"", 1, 2, "expected a surrogate pair, found half of one");
    assert_fails("\"\\ud800\\u0041\"", 1, 2, "expected a surrogate pair, found half of one");
    assert_fails("\"x\\udc00\"", 1, 3, "expected a surrogate pair, found half of one");
    static const char *const not_utf8[] = {"\"\xff\"",         "\"\xc0\xaf\"",
                                           "\"\xe0\x80\xaf\"", "\"\xed\xa0\x80\"",
                                           "\"\xe2\x82\"",     "\"\xf4\x90\x80\x80\""};
    for (size_t i = 0; i < sizeof not_utf8 / sizeof *not_utf8; i++)
        assert_fails(not_utf8[i], 1, 2, "expected UTF-8, found other bytes in a string");
}

static void a_nul_byte_is_no_end(void **state)
{
    (void)state;
    struct json *root = NULL;
    assert_int_equal(json_tree_parse(STR("1\0"), &arena, &root, &error), ERR_PARSE);
    assert_string_equal(error.text, "expected the end of the text, found byte 0x00");
    assert_int_equal(json_tree_parse(STR("\"\0\""), &arena, &root, &error), ERR_PARSE);
    assert_string_equal(error.text, "expected an escape, found a control character in a string");
    assert_int_equal(json_tree_parse(STR_NONE, &arena, &root, NULL), ERR_PARSE);
    assert_null(root);
}

/* `depth` containers around a 1, closed again; with objects the deepest stack of the grammar. */
static char *nest(int depth, const char *open, const char *close)
{
    struct buf b = {0};
    for (int i = 0; i < depth; i++)
        buf_add_str(&b, str_of(open));
    buf_add_char(&b, '1');
    for (int i = 0; i < depth; i++)
        buf_add_str(&b, str_of(close));
    buf_add_char(&b, '\0');
    return b.p;
}

static void C_017_deep_nesting(void **state)
{
    (void)state;
    static const char *const open[] = {"[", "{\"a\":", "[1,", "{\"a\":1,\"b\":"};
    static const char *const close[] = {"]", "}", "]", "}"};
    for (int i = 0; i < 4; i++) {
        struct json *root = NULL;
        char *fits = nest(JSON_DEPTH_MAX, open[i], close[i]);
        char *too_deep = nest(JSON_DEPTH_MAX + 1, open[i], close[i]);
        assert_int_equal(json_tree_parse(str_of(fits), &arena, &root, &error), 0);
        assert_int_equal(json_tree_parse(str_of(too_deep), &arena, &root, &error), ERR_LIMIT);
        assert_string_equal(error.text, "expected at most 128 nested arrays and objects");
        assert_int_equal(error.column, JSON_DEPTH_MAX * strlen(open[i]) + 1);
        free(fits);
        free(too_deep);
    }
}

static void every_failing_allocation_is_reported(void **state)
{
    (void)state;
    static const char text[] = "{\"a\":[1,2,{\"b\":\"c\\n\"}],\"d\":[[],[],[],[]]}";
    struct json *root = NULL;
    size_t limit = 64;
    int err;
    do {
        struct arena small;
        arena_init(&small, limit);
        err = json_tree_parse(STR(text), &small, &root, &error);
        assert_true(err == 0 || err == ERR_NO_MEMORY);
        if (err)
            assert_string_equal(error.text, "out of memory");
        arena_done(&small);
        limit += 64;
    } while (err);
    assert_true(limit > 1024);
}

static void a_file_is_loaded(void **state)
{
    (void)state;
    char path[] = "/tmp/tenon-json-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "{\"a\":[1]}\n", 10), 10);
    close(fd);
    struct json *root = NULL;
    assert_int_equal(json_tree_load(path, &arena, &root, &error), 0);
    assert_int_equal(root->n, 1);
    struct arena small;
    arena_init(&small, 8);
    assert_int_equal(json_tree_load(path, &small, &root, &error), ERR_NO_MEMORY);
    arena_done(&small);
    unlink(path);
    assert_int_equal(json_tree_load(path, &arena, &root, &error), ERR_IO);
    assert_string_equal(error.text, "No such file or directory");
    assert_int_equal(json_tree_load("/tmp", &arena, &root, &error), ERR_IO);
    assert_string_equal(error.text, "Is a directory");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_kind_is_read),
        TEST(a_scalar_is_a_text),
        TEST(escapes_are_decoded),
        TEST(numbers_keep_text_and_value),
        TEST(places_count_characters),
        TEST(the_last_duplicate_wins_and_can_be_found),
        TEST(a_pointer_leads_to_a_value_or_as_far_as_it_can),
        TEST(a_fault_names_place_and_expectation),
        TEST(a_fault_in_a_string_has_its_own_place),
        TEST(a_nul_byte_is_no_end),
        TEST(C_017_deep_nesting),
        TEST(every_failing_allocation_is_reported),
        TEST(a_file_is_loaded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
