/* tests/unit/test_tape.c - opening, walking, comparing, writing and building tapes. */
#include "base/err.h"
#include "fail_calloc.h"
#include "guarded.h"
#include "wire/tape.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static struct arena arena;
static struct guarded input;
static struct wire_fault fault;
static struct buf out;

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena, 0);
    input = guarded_copy(STR(""));
    out = (struct buf){0};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_done(&arena);
    guarded_done(&input);
    buf_done(&out);
    return 0;
}

static int open_str(struct str text, const struct tape_node **ret)
{
    guarded_done(&input);
    input = guarded_copy(text);
    return tape_open(input.text, &arena, ret, &fault);
}

/* The text is copied into the arena first, so that several tapes live at once. */
static const struct tape_node *tape(const char *text)
{
    const struct tape_node *node = NULL;
    size_t n = strlen(text);
    char *copy = arena_zalloc(&arena, n + JSON_PADDING_BYTES);
    memcpy(copy, text, n);
    assert_int_equal(tape_open((struct str){copy, (uint32_t)n}, &arena, &node, &fault), 0);
    return node;
}

#define assert_str(actual, want) assert_true(str_eq(actual, str_of(want)))

static void assert_written(const struct tape_node *node, const char *want)
{
    buf_clear(&out);
    tape_write(node, &out);
    if (!str_eq(buf_str(&out), str_of(want)))
        fail_msg("wrote " STR_FMT ", not %s", STR_ARG(buf_str(&out)), want);
}

static void values_of_every_kind_are_opened_and_written(void **state)
{
    (void)state;
    static const char text[] = "{\"a\":[1,-2,0.5,1e+300,true,false,null],\"b\\n\":{\"\":{}},"
                               "\"c\":\"é\\u0001\",\"d\":[],\"e\":9223372036854775807}";
    const struct tape_node *node = tape(text);
    assert_int_equal(node->kind, TAPE_OBJECT);
    assert_int_equal(node->n, 5);
    assert_int_equal(tape_size(node), 20);
    assert_written(node, text);
    assert_str(tape_str(tape_get(node, STR("c"))), "é\x01");
    assert_int_equal(tape_get(node, STR("a"))->n, 7);
    assert_null(tape_get(node, STR("z")));
    assert_null(tape_get(tape("5"), STR("z")));
    assert_int_equal(tape_get(node, STR("b\n"))->n, 1);
}

static void members_are_walked(void **state)
{
    (void)state;
    char seen[64] = "";
    const struct tape_node *node = tape("{\"a\":{\"x\":[1,2]},\"b\":2,\"c\":[[],{}]}");
    tape_each (node, key, value) {
        strncat(seen, key->v.s, key->n);
        strcat(seen, tape_kind_name(value));
    }
    assert_string_equal(seen, "aobjectbintegercarray");
    const struct tape_node *empty = tape("{}");
    tape_each (empty, key, value)
        fail();
}

static void whole_numbers_are_integers(void **state)
{
    (void)state;
    assert_int_equal(tape("1.0")->kind, TAPE_INT);
    assert_int_equal(tape("1e2")->v.i, 100);
    assert_int_equal(tape("9223372036854775808")->kind, TAPE_NUM);
    assert_int_equal(tape("-9223372036854775808")->kind, TAPE_INT);
    assert_int_equal(tape("1.5")->kind, TAPE_NUM);
    assert_true(tape_num(tape("7")) == 7);
    assert_true(tape_num(tape("1e-400")) == 0);
}

static void assert_refused(const char *text, int err, enum wire_reason reason, const char *pointer)
{
    const struct tape_node *node = NULL;
    int got = open_str(str_of(text), &node);
    if (got != err || fault.reason != reason || strcmp(fault.pointer, pointer) != 0)
        fail_msg("%s: %s %s %s", text, err_name(got), wire_reason_name(fault.reason),
                 fault.pointer);
    assert_null(node);
}

static void J_24_duplicate_keys_are_refused(void **state)
{
    (void)state;
    assert_refused("{\"a\":1,\"a\":2}", ERR_PARAMS, WIRE_DUPLICATE, "/a");
    assert_refused("{\"a\":1,\"\\u0061\":2}", ERR_PARAMS, WIRE_DUPLICATE, "/a");
    assert_refused("[0,{\"x\":{\"\":1,\"b\":2,\"\":3}}]", ERR_PARAMS, WIRE_DUPLICATE, "/1/x/");
    assert_refused("{\"a\":1,\"a\":2,}", ERR_PARSE, WIRE_SYNTAX, "");
    assert_written(tape("{\"a\":{\"a\":1},\"b\":{\"a\":1}}"), "{\"a\":{\"a\":1},\"b\":{\"a\":1}}");
}

static void J_24_numbers_without_a_double_are_refused(void **state)
{
    (void)state;
    assert_refused("{\"a\":[1e999]}", ERR_PARAMS, WIRE_RANGE, "/a/0");
    assert_refused("-1e400", ERR_PARAMS, WIRE_RANGE, "");
}

static void J_15_broken_texts_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",      " ",       "{",         "[1,]",  "{\"a\":1,}",
                                      "[1 2]", "{\"a\"}", "{\"a\":}",  "tru",   "\"",
                                      "01",    "1.",      "\"\\q\"",   "[1] 2", "{a:1}",
                                      "nul",   "-",       "{\"a\" 1}", "]",     "[\"\t\"]"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct tape_node *node = NULL;
        assert_int_equal(open_str(str_of(bad[i]), &node), ERR_PARSE);
    }
    const struct tape_node *node = NULL;
    assert_int_equal(open_str(STR("[\"\xc0\x80\"]"), &node), ERR_PARSE);
    assert_int_equal(fault.reason, WIRE_UTF8);
    assert_int_equal(open_str(STR("[\"\\udc00\"]"), &node), ERR_PARSE);
    assert_int_equal(fault.reason, WIRE_SURROGATE);
}

static void C_017_depth_is_bounded(void **state)
{
    (void)state;
    const struct tape_node *node;
    char *text = calloc(1, 200001);
    for (int depth = JSON_DEPTH_MAX; depth <= 100000;
         depth += depth == JSON_DEPTH_MAX ? 1 : 99871) {
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        int err = open_str((struct str){text, 2 * (uint32_t)depth}, &node);
        assert_int_equal(err, depth == JSON_DEPTH_MAX ? 0 : ERR_PARSE);
    }
    assert_int_equal(fault.reason, WIRE_DEPTH);
    free(text);
}

static void truncated_texts_are_refused(void **state)
{
    (void)state;
    static const char whole[] =
        "{\"a\\n\":[1,-2.5e3,\"\\ud83d\\ude00\",true,null],\"b\":{\"c\":{}}}";
    for (uint32_t n = 0; n < sizeof whole - 1; n++) {
        const struct tape_node *node = NULL;
        assert_int_equal(open_str((struct str){whole, n}, &node), ERR_PARSE);
        assert_null(node);
    }
}

static void equality_is_that_of_json(void **state)
{
    (void)state;
    static const char *const equal[][2] = {
        {"1", "1.0"},
        {"1e2", "100"},
        {"0", "-0.0"},
        {"\"a\"", "\"\\u0061\""},
        {"[1,{\"a\":2}]", "[1.0,{\"a\":2}]"},
        {"{\"a\":1,\"b\":[2]}", "{\"b\":[2],\"a\":1}"},
        {"0.1", "1e-1"},
    };
    static const char *const unequal[][2] = {
        {"1", "\"1\""},
        {"0", "false"},
        {"null", "false"},
        {"true", "false"},
        {"[1,2]", "[2,1]"},
        {"[1]", "[1,1]"},
        {"{}", "[]"},
        {"{\"a\":1}", "{\"b\":1}"},
        {"{\"a\":1}", "{\"a\":2}"},
        {"9007199254740993", "9007199254740992.5"},
        {"9223372036854775807", "9223372036854775808"},
    };
    for (size_t i = 0; i < sizeof equal / sizeof *equal; i++)
        assert_true(tape_equal(tape(equal[i][0]), tape(equal[i][1])));
    for (size_t i = 0; i < sizeof unequal / sizeof *unequal; i++)
        assert_false(tape_equal(tape(unequal[i][0]), tape(unequal[i][1])));
}

/* {"k0":0,...}, forward or backward, with one value changed. */
static const struct tape_node *many(int n, bool backward, int changed)
{
    struct tape_builder b;
    const struct tape_node *node = NULL;
    tape_begin(&b, &arena);
    tape_open_object(&b);
    for (int i = 0; i < n; i++) {
        int k = backward ? n - 1 - i : i;
        tape_add_str(&b, arena_printf(&arena, "k%d", k));
        tape_add_int(&b, k == changed ? -1 : k);
    }
    tape_close(&b);
    assert_int_equal(tape_finish(&b, &node), 0);
    return node;
}

static void large_objects_are_not_quadratic(void **state)
{
    (void)state;
    assert_true(tape_equal(many(20, false, -1), many(20, true, -1)));
    assert_true(tape_equal(many(15000, false, -1), many(15000, true, -1)));
    assert_false(tape_equal(many(15000, false, -1), many(15000, true, 777)));
    assert_true(tape_equal(many(15, false, -1), many(15, true, -1)));
}

static void building(struct tape_builder *b)
{
    tape_begin(b, &arena);
    tape_open_object(b);
    tape_add_str(b, STR("list"));
    tape_open_array(b);
    tape_add_null(b);
    tape_add_bool(b, true);
    tape_add_bool(b, false);
    tape_add_int(b, -5);
    tape_add_num(b, 2.0);
    tape_add_num(b, 0.25);
    tape_add_node(b, tape("{\"x\":[1]}"));
    tape_close(b);
    tape_add_str(b, STR("s"));
    tape_add_str(b, STR("v"));
    tape_close(b);
}

static void what_is_built_is_what_is_opened(void **state)
{
    (void)state;
    struct tape_builder b;
    const struct tape_node *node;
    building(&b);
    assert_int_equal(tape_finish(&b, &node), 0);
    static const char want[] = "{\"list\":[null,true,false,-5,2,0.25,{\"x\":[1]}],\"s\":\"v\"}";
    assert_written(node, want);
    const struct tape_node *opened = tape(want);
    assert_int_equal(tape_size(node), tape_size(opened));
    assert_true(tape_equal(node, opened));
    assert_int_equal(tape_get(tape_get(node, STR("list")) + 7, STR("x"))->n, 1);
}

static void misuse_of_the_builder_is_reported(void **state)
{
    (void)state;
    struct tape_builder b;
    const struct tape_node *node = NULL;

    tape_begin(&b, &arena);
    assert_int_equal(tape_finish(&b, &node), ERR_INTERNAL); /* nothing */

    tape_begin(&b, &arena);
    tape_add_int(&b, 1);
    tape_add_int(&b, 2);
    assert_int_equal(tape_finish(&b, &node), ERR_INTERNAL); /* two values */

    tape_begin(&b, &arena);
    tape_open_object(&b);
    tape_add_int(&b, 1);
    tape_close(&b);
    assert_int_equal(tape_finish(&b, &node), ERR_INTERNAL); /* a number as key */

    tape_begin(&b, &arena);
    tape_open_object(&b);
    tape_add_str(&b, STR("k"));
    tape_close(&b);
    assert_int_equal(tape_finish(&b, &node), ERR_INTERNAL); /* no value */

    tape_begin(&b, &arena);
    tape_open_array(&b);
    assert_int_equal(tape_finish(&b, &node), ERR_INTERNAL); /* not closed */

    tape_begin(&b, &arena);
    tape_close(&b);
    assert_int_equal(tape_finish(&b, &node), ERR_INTERNAL); /* not opened */

    tape_begin(&b, &arena);
    tape_add_num(&b, NAN);
    assert_int_equal(tape_finish(&b, &node), ERR_PARAMS);

    tape_begin(&b, &arena);
    tape_open_object(&b);
    for (int i = 0; i < 2; i++) {
        tape_add_str(&b, STR("k"));
        tape_add_null(&b);
    }
    tape_close(&b);
    assert_int_equal(tape_finish(&b, &node), ERR_PARAMS); /* twice the same */

    tape_begin(&b, &arena);
    for (int i = 0; i <= JSON_DEPTH_MAX; i++)
        tape_open_array(&b);
    assert_int_equal(tape_finish(&b, &node), ERR_LIMIT);
    assert_null(node);
}

static char *large_text(void)
{
    char *text = calloc(1, 4000), *at = text;
    at += sprintf(at, "{\"a\":[");
    for (int i = 0; i < 100; i++)
        at += sprintf(at, "%d,", i);
    at += sprintf(at, "0],\"o\":{");
    for (int i = 0; i < 100; i++)
        at += sprintf(at, "\"k\\t%d\":\"\\n\",", i);
    sprintf(at, "\"z\":0}}");
    return text;
}

/* Every arena allocation fails once, then every heap allocation of the key sets. */
static void memory_may_end_anywhere(void **state)
{
    (void)state;
    char *text = large_text();
    struct guarded g = guarded_copy(str_of(text));
    const struct tape_node *node = NULL;
    int err = ERR_NO_MEMORY;
    for (size_t limit = 1; err; limit += 48) {
        struct arena small;
        arena_init(&small, limit);
        err = tape_open(g.text, &small, &node, &fault);
        assert_true(err == 0 || (err == ERR_NO_MEMORY && fault.reason == WIRE_MEMORY && !node));
        arena_done(&small);
        assert_true(limit < 1 << 20);
    }
    for (unsigned nth = 1; heap_can_fail() && nth <= 3; nth++) {
        fail_calloc_in = nth;
        err = tape_open(g.text, &arena, &node, &fault);
        assert_int_equal(err, nth <= 2 ? ERR_NO_MEMORY : 0);
    }
    fail_calloc_in = 0;
    guarded_done(&g);
    free(text);
}

static void a_builder_without_memory_says_so(void **state)
{
    (void)state;
    struct tape_builder b;
    struct arena none;
    const struct tape_node *node = NULL;
    arena_init(&none, 8);
    tape_begin(&b, &none);
    tape_open_array(&b);
    tape_add_node(&b, tape("[1]"));
    tape_close(&b);
    assert_int_equal(tape_finish(&b, &node), ERR_NO_MEMORY);
    assert_null(node);
    arena_done(&none);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(values_of_every_kind_are_opened_and_written),
        TEST(members_are_walked),
        TEST(whole_numbers_are_integers),
        TEST(J_24_duplicate_keys_are_refused),
        TEST(J_24_numbers_without_a_double_are_refused),
        TEST(J_15_broken_texts_are_refused),
        TEST(C_017_depth_is_bounded),
        TEST(truncated_texts_are_refused),
        TEST(equality_is_that_of_json),
        TEST(large_objects_are_not_quadratic),
        TEST(what_is_built_is_what_is_opened),
        TEST(misuse_of_the_builder_is_reported),
        TEST(memory_may_end_anywhere),
        TEST(a_builder_without_memory_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
