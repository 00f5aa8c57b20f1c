/* tests/unit/test_json_read.c - the table interpreter, on hand-written tables. Every text lies
 * before a no-access page; wire_check has to agree with wire_parse each time. */
#include "base/err.h"
#include "fail_calloc.h"
#include "guarded.h"
#include "hand_table.h"
#include "wire/json_read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>

static struct arena arena;
static struct guarded input;
static struct sample sample;
static struct wire_fault fault;

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena, 0);
    input = guarded_copy(STR(""));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_done(&arena);
    guarded_done(&input);
    return 0;
}

static int parse_str(struct str text)
{
    struct wire_fault check_fault;
    guarded_done(&input);
    input = guarded_copy(text);
    arena_reset(&arena);
    int err = wire_parse(&sample_type, input.text, &arena, &sample, &fault);
    assert_int_equal(wire_check(&sample_type, input.text, &check_fault), err);
    assert_int_equal(check_fault.reason, fault.reason);
    if (err) {
        assert_string_equal(check_fault.pointer, fault.pointer);
        assert_string_equal(check_fault.expected, fault.expected);
        assert_int_equal(check_fault.offset, fault.offset);
        assert_int_equal(sample.has, 0);
    }
    return err;
}

/* Parses {"text":"",<members>}. */
static int parse(const char *members)
{
    char text[4096];
    int n = snprintf(text, sizeof text, "{\"text\":\"\",%s}", members);
    return parse_str((struct str){text, (uint32_t)n});
}

static void assert_fault(const char *members, enum wire_reason reason, const char *pointer,
                         const char *expected)
{
    int err = parse(members);
    if (err != ERR_PARAMS || fault.reason != reason || strcmp(fault.pointer, pointer) != 0 ||
        (expected && strcmp(fault.expected, expected) != 0))
        fail_msg("%s: %s %s %s (%s)", members, err_name(err), wire_reason_name(fault.reason),
                 fault.pointer, fault.expected);
}

#define assert_str(actual, want) assert_true(str_eq(actual, str_of(want)))

static void every_kind_is_read(void **state)
{
    (void)state;
    assert_int_equal(
        parse_str(str_of(
            " { \"text\" : \"a\\u00e9\\n\" , \"count\":7,\"ratio\":-2.5,\"flag\":true,\"level\":"
            "\"info\",\"version\":-32020,\"token\":\"x\",\"raw\":[\"a\" , "
            "\"b\"],\"inner\":{\"name\""
            ":\"n\",\"size\":-3},\"inners\":[{\"name\":\"1\"},{\"name\":\"2\"},{\"name\":\"3\"},"
            "{\"name\":\"4\"},{\"name\":\"5\"}],\"words\":[],\"numbersWithALongName\":[1,2],"
            "\"stringsByName\":{\"a\":\"b\",\"c\\u0064\":\"\"},\"innersByName\":{\"x\":{\"name\":"
            "\"y\"}},\"either\":{\"type\":\"number\",\"number\":1},\"oneEither\":{\"link\":\"l\"},"
            "\"uri\":\"db://geo/a%20b\",\"unknown\":{\"deep\":[{}]}} \n")),
        0);
    assert_str(sample.text, "aé\n");
    assert_int_equal(sample.count, 7);
    assert_true(sample.ratio == -2.5);
    assert_true(sample.flag);
    assert_int_equal(sample.level, 6);
    assert_str(sample.token, "\"x\"");
    assert_str(sample.raw, "[\"a\" , \"b\"]");
    assert_str(sample.inner->name, "n");
    assert_int_equal(sample.inner->size, -3);
    assert_int_equal(sample.inners.n, 5);
    assert_str(sample.inners.v[4].name, "5");
    assert_int_equal(sample.inners.v[4].has, 1);
    assert_int_equal(sample.words.n, 0);
    assert_int_equal(sample.numbers.n, 2);
    assert_int_equal(sample.numbers.v[1], 2);
    assert_str(sample.strings_by_name.v[1].key, "cd");
    assert_str(sample.strings_by_name.v[0].value, "b");
    assert_str(sample.inners_by_name.v[0].value->name, "y");
    assert_int_equal(sample.either.n, 1);
    assert_int_equal(sample.either.v[0].kind, 5);
    assert_true(sample.either.v[0].number == 1);
    assert_int_equal(sample.one_either->kind, 2);
    assert_str(sample.one_either->link, "l");
    assert_int_equal(sample.has, 0x1ffff);
}

static void strings_without_escapes_are_views(void **state)
{
    (void)state;
    assert_int_equal(parse("\"uri\":\"a:b\""), 0);
    assert_true(sample.uri.p > input.text.p && sample.uri.p < input.text.p + input.text.n);
}

static void any_order_is_read(void **state)
{
    (void)state;
    static const char *const orders[] = {"\"count\":1,\"ratio\":0,\"flag\":false",
                                         "\"flag\":false,\"ratio\":0,\"count\":1",
                                         "\"ratio\":0,\"flag\":false,\"count\":1",
                                         "\"zz\":0,\"ratio\":0,\"y\":0,\"flag\":false,"
                                         "\"count\":1"};
    for (int round = 0; round < 3; round++)
        for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
            assert_int_equal(parse(orders[i]), 0);
            assert_int_equal(sample.count, 1);
            assert_int_equal(sample.has, 0xf);
        }
}

static void J_14_required_members_are_missed(void **state)
{
    (void)state;
    assert_int_equal(parse_str(STR("{\"count\":1}")), ERR_PARAMS);
    assert_int_equal(fault.reason, WIRE_REQUIRED);
    assert_string_equal(fault.pointer, "/text");
    assert_int_equal(parse_str(STR("{}")), ERR_PARAMS);
    assert_fault("\"inners\":[{\"name\":\"\"},{}]", WIRE_REQUIRED, "/inners/1/name", NULL);
}

static void J_14_wrong_types_are_refused(void **state)
{
    (void)state;
    assert_int_equal(parse_str(STR("{\"text\":null}")), ERR_PARAMS); /* null is not absence */
    assert_int_equal(fault.offset, 8);
    assert_int_equal(parse_str(STR("[]")), ERR_PARAMS);
    assert_string_equal(fault.expected, "object");
    assert_fault("\"count\":\"1\"", WIRE_TYPE, "/count", "integer");
    assert_fault("\"count\":1.5", WIRE_TYPE, "/count", "integer");
    assert_fault("\"ratio\":true", WIRE_TYPE, "/ratio", "number");
    assert_fault("\"flag\":\"true\"", WIRE_TYPE, "/flag", "boolean");
    assert_fault("\"level\":1", WIRE_TYPE, "/level", "string");
    assert_fault("\"token\":1.5", WIRE_TYPE, "/token", "integer|string");
    assert_fault("\"token\":null", WIRE_TYPE, "/token", "integer|string");
    assert_fault("\"raw\":\"s\"", WIRE_TYPE, "/raw", "integer|array|object");
    assert_fault("\"raw\":1.5", WIRE_TYPE, "/raw", "integer|array|object");
    assert_fault("\"raw\":[\"a\",1]", WIRE_TYPE, "/raw/1", "string");
    assert_fault("\"inner\":[]", WIRE_TYPE, "/inner", "object");
    assert_fault("\"inner\":{\"name\":1}", WIRE_TYPE, "/inner/name", "string");
    assert_fault("\"inners\":{}", WIRE_TYPE, "/inners", "array");
    assert_fault("\"words\":[\"\",\"\",7]", WIRE_TYPE, "/words/2", "string");
    assert_fault("\"stringsByName\":{\"a/b~c\":1}", WIRE_TYPE, "/stringsByName/a~1b~0c", "string");
    assert_fault("\"innersByName\":{\"k\":{\"name\":[]}}", WIRE_TYPE, "/innersByName/k/name", NULL);
    assert_fault("\"version\":\"-32020\"", WIRE_TYPE, "/version", "integer");
}

static void whole_numbers_are_integers(void **state)
{
    (void)state;
    assert_int_equal(parse("\"count\":1.0"), 0);
    assert_int_equal(sample.count, 1);
    assert_int_equal(parse("\"count\":0.09e2"), 0);
    assert_int_equal(sample.count, 9);
    assert_int_equal(parse("\"count\":-0.000e-99999999999999999999"), 0);
    assert_int_equal(parse("\"version\":-3.202e4,\"token\":1e2,\"raw\":5.0"), 0);
}

static void ranges_are_kept(void **state)
{
    (void)state;
    assert_int_equal(parse("\"count\":0"), 0);
    assert_int_equal(parse("\"count\":9"), 0);
    assert_fault("\"count\":-1", WIRE_RANGE, "/count", "0 to 9");
    assert_fault("\"count\":10", WIRE_RANGE, "/count", "0 to 9");
    assert_fault("\"ratio\":1.0000001", WIRE_RANGE, "/ratio", "at most 1");
    assert_fault("\"ratio\":-1e999", WIRE_RANGE, "/ratio", "a finite double");
    assert_fault("\"numbersWithALongName\":[9223372036854775808]", WIRE_RANGE,
                 "/numbersWithALongName/0", "an integer of 64 bits");
    assert_int_equal(parse("\"numbersWithALongName\":[9223372036854775807,"
                           "-9223372036854775808,922337203685477580.7e1]"),
                     0);
    assert_true(sample.numbers.v[0] == INT64_MAX && sample.numbers.v[1] == INT64_MIN &&
                sample.numbers.v[2] == INT64_MAX);
    assert_fault("\"numbersWithALongName\":[-9223372036854775809]", WIRE_RANGE,
                 "/numbersWithALongName/0", NULL);
    assert_fault("\"numbersWithALongName\":[1e99999999999999999999]", WIRE_RANGE,
                 "/numbersWithALongName/0", NULL);
}

static void items_are_counted(void **state)
{
    (void)state;
    char text[1024] = "\"inners\":[";
    for (int i = 0; i < 20; i++)
        strcat(text, i ? ",{\"name\":\"\"}" : "{\"name\":\"\"}");
    strcat(text, "]");
    assert_int_equal(parse(text), 0);
    text[strlen(text) - 1] = '\0';
    strcat(text, ",{}]");
    assert_fault(text, WIRE_ITEMS, "/inners", "at most 20 items");
}

static void choices_are_kept(void **state)
{
    (void)state;
    assert_fault("\"level\":\"warn\"", WIRE_CHOICE, "/level", "debug|error|info");
    assert_fault("\"level\":\"inf\"", WIRE_CHOICE, "/level", NULL);
    assert_fault("\"level\":\"info\\u0000\"", WIRE_CHOICE, "/level", NULL);
    assert_fault("\"version\":-32021", WIRE_CHOICE, "/version", "-32020");
}

static void J_24_duplicate_members_are_refused(void **state)
{
    (void)state;
    assert_fault("\"text\":\"\"", WIRE_DUPLICATE, "/text", NULL);
    assert_fault("\"inner\":{\"name\":\"\",\"n\\u0061me\":\"\"}", WIRE_DUPLICATE, "/inner/name",
                 NULL);
    assert_fault("\"stringsByName\":{\"a\":\"\",\"b\":\"\",\"\\u0061\":\"\"}", WIRE_DUPLICATE,
                 "/stringsByName/a", NULL);
    assert_fault("\"either\":{\"type\":\"text\",\"text\":\"\",\"type\":\"text\"}", WIRE_DUPLICATE,
                 "/either/type", NULL);
    char text[4000] = "\"stringsByName\":{";
    for (int i = 0; i < 100; i++)
        sprintf(text + strlen(text), "\"k%d\":\"\",", i);
    strcat(text, "\"k42\":\"\"}");
    assert_fault(text, WIRE_DUPLICATE, "/stringsByName/k42", NULL);
}

static void C_009_escapes_in_names_enums_and_tags(void **state)
{
    (void)state;
    assert_int_equal(
        parse("\"l\\u0065vel\":\"\\u0069nfo\",\"either\":{\"t\\u0079pe\":\"te\\u0078t\""
              ",\"text\":\"\\ud83d\\ude00\"},\"\\u006eumbersWithALongName\":[4]"),
        0);
    assert_int_equal(sample.level, 6);
    assert_int_equal(sample.either.v[0].kind, 3);
    assert_str(sample.either.v[0].text, "😀");
    assert_int_equal(sample.numbers.v[0], 4);
    assert_int_equal(parse("\"raw\":[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"],\"uri\":\"x:\\/\\/y\""), 0);
    assert_str(sample.uri, "x://y");
}

static void unions_are_chosen_by_tag(void **state)
{
    (void)state;
    assert_int_equal(parse("\"either\":[{\"text\":\"a\",\"type\":\"text\"},{\"type\":\"number\","
                           "\"number\":2,\"text\":5}]"),
                     0);
    assert_int_equal(sample.either.n, 2);
    assert_int_equal(sample.either.v[0].kind, 3);
    assert_int_equal(sample.either.v[1].kind, 5);
    assert_fault("\"either\":{\"type\":\"nope\"}", WIRE_CHOICE, "/either/type", "text|number");
    assert_fault("\"either\":[{\"type\":5}]", WIRE_CHOICE, "/either/0/type", "text|number");
    assert_fault("\"either\":{\"text\":\"\"}", WIRE_REQUIRED, "/either/type", "text|number");
    assert_fault("\"either\":{\"type\":\"text\"}", WIRE_REQUIRED, "/either/text", NULL);
    assert_fault("\"either\":{\"type\":\"text\",\"text\":4}", WIRE_TYPE, "/either/text", "string");
    assert_fault("\"either\":3", WIRE_TYPE, "/either", "object");
}

static void unions_are_chosen_by_presence(void **state)
{
    (void)state;
    assert_int_equal(parse("\"oneEither\":{\"text\":\"a\",\"link\":\"b\"}"), 0);
    assert_int_equal(sample.one_either->kind, 1);
    assert_int_equal(parse("\"oneEither\":{\"text\":5,\"link\":\"b\"}"), 0);
    assert_int_equal(sample.one_either->kind, 2);
    assert_int_equal(sample.one_either->has, 8);
    assert_fault("\"oneEither\":{}", WIRE_VARIANT, "/oneEither", "Bare|Link");
    assert_fault("\"oneEither\":{\"text\":5,\"link\":6}", WIRE_TYPE, "/oneEither/text", NULL);
    assert_fault("\"oneEither\":{\"link\":6}", WIRE_TYPE, "/oneEither/link", NULL);
}

static void formats_are_checked(void **state)
{
    (void)state;
    static const char *const good[] = {"a:",    "db://geo/x",  "mailto:a@b", "http://[::1]:80/?q#f",
                                       "x:%41", "file:///a/漢"};
    static const char *const bad[] = {"",     "x",     "/a",  "1a:b", "a b:c",      "x:a b",
                                      "x:%4", "x:{a}", "x:<", ":a",   "x\\u0000:a", "a:\\u0000"};
    char text[64];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        snprintf(text, sizeof text, "\"uri\":\"%s\"", good[i]);
        assert_int_equal(parse(text), 0);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(text, sizeof text, "\"uri\":\"%s\"", bad[i]);
        assert_fault(text, WIRE_FORMAT, "/uri", "uri");
    }
}

static void J_15_broken_text_is_a_parse_error(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "\"count\":x",          "\"count\":tru",
        "\"flag\":tru",         "\"flag\":nul",
        "\"count\":01",         "\"count\":-",
        "\"count\":1.",         "\"count\":1e",
        "\"ratio\":.5",         "\"ratio\":+1",
        "\"ratio\":NaN",        "\"words\":[\"a\",]",
        "\"words\":[",          "\"inner\":{,}",
        "\"inner\":{\"name\"",  "\"inner\":{\"name\":}",
        "\"zz\":{\"a\"}",       "\"text\":\"\x01\"",
        "\"text\":\"\\x\"",     "\"text\":\"\\u12g4\"",
        "\"zz\":1 2",           "'a':1",
        "\"count\":5,,",        "\"level\":\"a\" x",
        "\"zz\":\"\\ud800\"",   "\"text\":1,\"a\":",
        "\"inners\":5,\"a\":]", "a",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int err = parse(bad[i]);
        if (err != ERR_PARSE)
            fail_msg("%s: %s", bad[i], err_name(err));
    }
    assert_int_equal(parse_str(STR("")), ERR_PARSE);
    assert_int_equal(parse_str(STR(" ")), ERR_PARSE);
    assert_int_equal(parse_str(STR("{\"text\":\"\"} x")), ERR_PARSE);
    assert_int_equal(parse_str(STR("{\"text\":\"\"}\0")), ERR_PARSE);
}

static const char whole[] =
    "{\"text\":\"a\\u00e9\\ud83d\\ude00 and then some more\",\"count\":7,\"ratio\":-2.5e-3,"
    "\"flag\":true,\"level\":\"info\",\"version\":-32020,\"token\":12,\"raw\":{\"a\":[1,null,"
    "false]},\"inner\":{\"name\":\"n\",\"size\":-3},\"inners\":[{\"name\":\"漢字\"},{\"name\":"
    "\"2\"}],\"words\":[\"x\",\"\\n\"],\"numbersWithALongName\":[1,2,3,4,5,6],\"stringsByName\":"
    "{\"a\\n\":\"b\",\"c\":\"\"},\"innersByName\":{\"x\":{\"name\":\"y\"}},\"either\":[{\"type\":"
    "\"number\",\"number\":1},{\"type\":\"text\",\"text\":\"\\t\"}],\"oneEither\":{\"link\":\"l\"},"
    "\"uri\":\"db://geo/a\"}";

static void truncated_text_is_refused(void **state)
{
    (void)state;
    assert_int_equal(parse_str(STR(whole)), 0);
    for (uint32_t n = 0; n < sizeof whole - 1; n++)
        assert_int_equal(parse_str((struct str){whole, n}), ERR_PARSE);
}

/* Changing any byte to any other never crashes, and never gives another verdict to check. */
static void changed_bytes_do_no_harm(void **state)
{
    (void)state;
    static const unsigned char with[] = "\0\"\\{}[]:, 0-.eu\x80\xff";
    char text[sizeof whole];
    struct guarded g = guarded_copy(STR(whole));
    for (uint32_t at = 0; at < sizeof whole - 1; at++)
        for (size_t i = 0; i < sizeof with - 1; i++) {
            memcpy(text, whole, sizeof whole);
            text[at] = (char)with[i];
            guarded_reuse(&g, (struct str){text, sizeof whole - 1});
            arena_reset(&arena);
            int err = wire_parse(&sample_type, g.text, &arena, &sample, &fault);
            assert_int_equal(wire_check(&sample_type, g.text, NULL), err);
            assert_true(err == 0 || err == ERR_PARSE || err == ERR_PARAMS);
        }
    guarded_done(&g);
}

static void C_017_depth_is_bounded_in_typed_and_raw_values(void **state)
{
    (void)state;
    char text[1000];
    for (int depth = JSON_DEPTH_MAX - 2; depth <= JSON_DEPTH_MAX; depth++) {
        memset(text, 0, sizeof text);
        strcpy(text, "\"raw\":");
        size_t n = strlen(text);
        strcpy(text + n, "{\"a\":");
        n += 5;
        memset(text + n, '[', (size_t)depth - 1);
        memset(text + n + depth - 1, ']', (size_t)depth - 1);
        strcat(text, "}");
        assert_int_equal(parse(text), depth < JSON_DEPTH_MAX ? 0 : ERR_PARSE);
    }
    assert_int_equal(fault.reason, WIRE_DEPTH);
}

static void pointers_are_cut_with_dots(void **state)
{
    (void)state;
    char text[1024], key[300];
    memset(key, 'k', sizeof key - 1);
    key[sizeof key - 1] = '\0';
    snprintf(text, sizeof text, "\"stringsByName\":{\"%s\":1}", key);
    assert_int_equal(parse(text), ERR_PARAMS);
    assert_int_equal(strlen(fault.pointer), JSON_POINTER_BYTES - 1);
    assert_true(str_starts_with(str_of(fault.pointer), STR("/stringsByName/kkk")));
    assert_string_equal(fault.pointer + JSON_POINTER_BYTES - 4, "...");
    for (int shift = 0; shift < 3; shift++) { /* never in the middle of a character */
        snprintf(text, sizeof text,
                 "\"stringsByName\":{\"%.*s漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢"
                 "漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢\":1}",
                 shift, "abc");
        assert_int_equal(parse(text), ERR_PARAMS);
        struct str quoted, pointer = str_of(fault.pointer);
        char json[200];
        snprintf(json, sizeof json, "\"" STR_FMT "\"", STR_ARG(pointer));
        struct guarded g = guarded_copy(str_of(json));
        assert_int_equal(wire_skip(g.text, &quoted, NULL, NULL), 0);
        guarded_done(&g);
    }
}

static void wire_skip_leaves_the_rest(void **state)
{
    (void)state;
    struct str value, rest;
    struct guarded g = guarded_copy(STR(" {\"a\":[1]} , 5"));
    assert_int_equal(wire_skip(g.text, &value, &rest, &fault), 0);
    assert_str(value, "{\"a\":[1]}");
    assert_str(rest, " , 5");
    assert_int_equal(wire_skip(g.text, &value, NULL, &fault), ERR_PARSE);
    assert_int_equal(fault.offset, 11);
    guarded_done(&g);
}

static void strings_are_decoded(void **state)
{
    (void)state;
    struct str text;
    assert_int_equal(
        wire_decode_string(STR("\"a\\u0041\\u00e9\\u6f22\\ud83d\\ude00\\\"\""), &arena, &text), 0);
    assert_str(text, "aAé漢😀\"");
    assert_int_equal(wire_decode_string(STR("\"\""), &arena, &text), 0);
    assert_int_equal(text.n, 0);
    assert_non_null(text.p);
}

/* Every arena allocation fails once: the limit rises byte by byte until all fits. */
static void memory_may_end_anywhere(void **state)
{
    (void)state;
    struct guarded g = guarded_copy(STR(whole));
    int err = ERR_NO_MEMORY;
    for (size_t limit = 1; err; limit += 16) {
        struct arena small;
        arena_init(&small, limit);
        err = wire_parse(&sample_type, g.text, &small, &sample, &fault);
        if (err) {
            assert_int_equal(err, ERR_NO_MEMORY);
            assert_int_equal(fault.reason, WIRE_MEMORY);
            assert_int_equal(sample.has, 0);
        }
        arena_done(&small);
        assert_true(limit < 1 << 20);
    }
    guarded_done(&g);
}

/* The names of large maps are kept in a heap table, whose allocations fail in turn. */
static void memory_may_end_in_the_names_of_a_map(void **state)
{
    (void)state;
    char text[4000] = "{\"text\":\"\",\"stringsByName\":{";
    for (int i = 0; i < 100; i++)
        sprintf(text + strlen(text), "\"k%d\":\"\",", i);
    strcat(text, "\"z\":\"\"}}");
    struct guarded g = guarded_copy(str_of(text));
    for (unsigned nth = 1; heap_can_fail() && nth <= 3; nth++) {
        fail_calloc_in = nth;
        int err = wire_parse(&sample_type, g.text, &arena, &sample, &fault);
        assert_int_equal(err, nth <= 2 ? ERR_NO_MEMORY : 0);
        fail_calloc_in = nth;
        assert_int_equal(wire_check(&sample_type, g.text, NULL), err);
    }
    fail_calloc_in = 0;
    guarded_done(&g);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_kind_is_read),
        TEST(strings_without_escapes_are_views),
        TEST(any_order_is_read),
        TEST(J_14_required_members_are_missed),
        TEST(J_14_wrong_types_are_refused),
        TEST(whole_numbers_are_integers),
        TEST(ranges_are_kept),
        TEST(items_are_counted),
        TEST(choices_are_kept),
        TEST(J_24_duplicate_members_are_refused),
        TEST(C_009_escapes_in_names_enums_and_tags),
        TEST(unions_are_chosen_by_tag),
        TEST(unions_are_chosen_by_presence),
        TEST(formats_are_checked),
        TEST(J_15_broken_text_is_a_parse_error),
        TEST(truncated_text_is_refused),
        TEST(changed_bytes_do_no_harm),
        TEST(C_017_depth_is_bounded_in_typed_and_raw_values),
        TEST(pointers_are_cut_with_dots),
        TEST(wire_skip_leaves_the_rest),
        TEST(strings_are_decoded),
        TEST(memory_may_end_anywhere),
        TEST(memory_may_end_in_the_names_of_a_map),
    };
    hand_table_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
