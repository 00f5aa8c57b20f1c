/* tests/unit/test_core_rows.c - rows and keys at their limits, and arguments that are none: what
 * is refused, how it is told, and that nothing is changed by it. */
#include "base/limits.h"
#include "tests/unit/ask.h"

#define N(a) (sizeof(a) / sizeof *(a))

static void call_tool(struct bench *b, const char *name, const char *args, const char *pattern)
{
    char params[4096];
    snprintf(params, sizeof params, "{\"name\":\"%s\",\"arguments\":%s}", name, args);
    ask_method(b, "tools/call", params, pattern);
}

/* `n` times `what`. */
static void repeat(struct buf *out, const char *what, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        buf_add_str(out, str_of(what));
}

/* A call whose arguments are too long for a pattern's buffer: before, n times what, after. */
static void call_long(struct bench *b, const char *name, const char *before, const char *what,
                      unsigned n, const char *after, const char *pattern)
{
    struct buf body = {0};
    buf_printf(&body,
               "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
               "\"%s\",\"arguments\":%s",
               name, before);
    repeat(&body, what, n);
    buf_printf(&body, "%s}}", after);
    bench_send(b, buf_str(&body));
    buf_done(&body);
    bool is_parsed = !strstr(pattern, "-32700");
    expect(b, is_parsed ? 200 : 400, pattern, name);
}

#define REFUSED(pointer, keyword)                                                                \
    "{\"error\":{\"code\":-32602,\"data\":{\"errors\":[{\"pointer\":\"/params/arguments" pointer \
    "\",\"keyword\":\"" keyword "\",\"expected\":\"*\"}]}}}"
#define DONE "{\"result\":{\"structuredContent\":{},\"-\":[\"isError\"]}}"

/* ---- Texts with NUL ------------------------------------------------------------------------- */

/* JSON allows it anywhere in a text, so it is kept: a key ends where it ends, not at the NUL. */
static void C_013_NUL_in_keys_and_values_is_kept(void **state)
{
    call_tool(*state, "create_note", "{\"key\":\"a\\u0000b\",\"text\":\"\\u0000\",\"m\\u0000\":1}",
              "{\"structuredContent\":{\"key\":\"a\\u0000b\"}}");
    call_tool(*state, "create_note", "{\"key\":\"a\",\"text\":\"another\"}", "{}");
    call_tool(
        *state, "get_note", "{\"id\":\"a\\u0000b\"}",
        "{\"structuredContent\":{\"key\":\"a\\u0000b\",\"text\":\"\\u0000\",\"m\\u0000\":1}}");
    call_tool(*state, "get_note", "{\"id\":\"a\"}",
              "{\"structuredContent\":{\"text\":\"another\"}}");
    call_tool(
        *state, "get_note", "{\"id\":\"a\\u0000\"}",
        "{\"isError\":true,\"content\":[{\"text\":\"There is no row with key \\\"a\\\\u0000\\\" "
        "in shop.note.\"}]}");
    call_tool(*state, "search_note", "{\"where\":{\"text\":\"\\u0000\"}}",
              "{\"structuredContent\":{\"rows\":[{\"key\":\"a\\u0000b\"}]}}");
    call_tool(
        *state, "update_note", "{\"id\":\"a\\u0000b\",\"row\":{\"key\":\"a\",\"text\":\"x\"}}",
        "!{\"code\":-32602,\"data\":{\"errors\":[{\"pointer\":\"/params/arguments/row/key\"}]}}");
    call_tool(
        *state, "update_note", "{\"id\":\"a\\u0000b\",\"row\":{\"text\":\"x\"}}",
        "{\"structuredContent\":{\"key\":\"a\\u0000b\",\"text\":\"x\",\"-\":[\"m\\u0000\"]}}");
    call_tool(*state, "delete_note", "{\"id\":\"a\\u0000b\"}",
              "{\"structuredContent\":{\"deleted\":true}}");
    call_tool(*state, "get_note", "{\"id\":\"a\"}", "{\"structuredContent\":{\"key\":\"a\"}}");
}

/* ---- Keys ----------------------------------------------------------------------------------- */

static void TL_06_keys_beyond_KEY_BYTES_MAX_are_refused_by_every_tool(void **state)
{
    static const char *const forms[][3] = {
        {"create_note", "{\"key\":\"", "\"}"},
        {"get_note", "{\"id\":\"", "\"}"},
        {"delete_note", "{\"id\":\"", "\"}"},
        {"update_note", "{\"changes\":{},\"id\":\"", "\"}"},
        {"update_note", "{\"row\":{},\"id\":\"", "\"}"},
    };
    for (size_t i = 0; i < N(forms); i++)
        call_long(*state, forms[i][0], forms[i][1], "k", KEY_BYTES_MAX + 1, forms[i][2],
                  i ? REFUSED("/id", "length") : REFUSED("/key", "length"));
    call_long(*state, "create_note", "{\"key\":\"", "k", KEY_BYTES_MAX, "\"}", DONE);
    call_long(*state, "update_note", "{\"row\":{\"text\":\"t\"},\"id\":\"", "k", KEY_BYTES_MAX,
              "\"}", DONE);
    call_long(*state, "delete_note", "{\"id\":\"", "k", KEY_BYTES_MAX, "\"}", DONE);
}

static void TL_06_keys_that_are_none(void **state)
{
    static const char *const ids[][2] = {
        {"null", "type"},  {"true", "type"}, {"[]", "type"},    {"{}", "type"},
        {"\"1\"", "type"}, {"1.5", "type"},  {"1e300", "type"}, {"9223372036854775808", "type"},
    };
    static const char *const forms[][3] = {
        {"get_book", "{\"id\":%s}", "id"},
        {"delete_book", "{\"id\":%s}", "id"},
        {"update_book", "{\"id\":%s,\"row\":{\"title\":\"t\"}}", "id"},
        {"create_book", "{\"id\":%s,\"title\":\"t\"}", "id"},
        {"update_book", "{\"id\":1,\"row\":{\"id\":%s,\"title\":\"t\"}}", "row/id"},
    };
    for (size_t i = 0; i < N(ids) * N(forms); i++) {
        const char *const *form = forms[i / N(ids)], *const *id = ids[i % N(ids)];
        char args[128], wanted[256];
        bool is_number = strpbrk(id[0], "0123456789") == id[0] && !strchr(id[0], '.');
        snprintf(args, sizeof args, form[1], id[0]);
        snprintf(wanted, sizeof wanted,
                 "!{\"code\":-32602,\"data\":{\"errors\":[{\"pointer\":\"/params/arguments/%s\","
                 "\"keyword\":\"%s\"}]}}",
                 form[2], is_number && strchr(form[2], '/') ? "primaryKey" : id[1]);
        call_tool(*state, form[0], args, wanted);
    }
    call_tool(*state, "get_book", "{\"id\":1}", "{\"structuredContent\":{\"title\":\"First\"}}");
}

/* ---- Names that come twice ------------------------------------------------------------------ */

static void J_11_a_name_that_comes_twice_is_refused_at_any_depth(void **state)
{
    static const char *const cases[][3] = {
        {"create_note", "{\"key\":\"k\",\"text\":\"a\",\"text\":\"b\"}", "/text"},
        {"create_note", "{\"key\":\"k\",\"key\":\"k\"}", "/key"},
        {"create_note", "{\"key\":\"k\",\"more\":{\"a\":[{\"b\":1,\"b\":1}]}}", "/more/a/0/b"},
        {"create_note", "{\"key\":\"k\",\"te\\u0078t\":\"a\",\"text\":\"b\"}", "/text"},
        {"update_note", "{\"id\":\"k\",\"changes\":{\"a\":1,\"a\":null}}", "/changes/a"},
        {"update_note", "{\"id\":\"k\",\"changes\":{},\"changes\":{}}", "/changes"},
        {"update_note", "{\"id\":\"k\",\"row\":{\"a\":1,\"a\":2}}", "/row/a"},
    };
    for (size_t i = 0; i < N(cases); i++) {
        char wanted[256];
        snprintf(wanted, sizeof wanted,
                 "!{\"code\":-32602,\"data\":{\"errors\":[{\"pointer\":\"/params/arguments%s\","
                 "\"keyword\":\"duplicate\"}]}}",
                 cases[i][2]);
        call_tool(*state, cases[i][0], cases[i][1], wanted);
    }
    call_tool(*state, "search_note", "{}", "{\"structuredContent\":{\"rows\":[]}}");
}

/* ---- Deep rows ------------------------------------------------------------------------------ */

/* A message nests JSON_DEPTH_MAX deep; the row of a call stands three objects below its top, the
 * changes of one four. What was taken can be read again. */
static void C_017_rows_nest_as_deep_as_a_message_may(void **state)
{
    struct buf after = {0};
    unsigned deepest = JSON_DEPTH_MAX - 3;
    for (unsigned more = 0; more < 2; more++) {
        buf_clear(&after);
        repeat(&after, "]", deepest + more);
        buf_add(&after, "}", 2);
        call_long(*state, "create_note",
                  more ? "{\"key\":\"l\",\"d\":" : "{\"key\":\"k\",\"d\":", "[", deepest + more,
                  after.p, more ? "{\"error\":{\"code\":-32700}}" : DONE);
    }
    buf_done(&after);
    call_tool(*state, "get_note", "{\"id\":\"k\"}", "{}");
    assert_non_null(strstr(bench.body.p, "[[[[[[]]]]]]"));
    call_tool(*state, "update_note", "{\"id\":\"k\",\"changes\":{\"text\":\"t\"}}", "{}");
    assert_non_null(strstr(bench.body.p, "\"text\":\"t\""));
    call_tool(*state, "get_note", "{\"id\":\"l\"}", "{\"isError\":true}");
}

/* ---- Large rows ----------------------------------------------------------------------------- */

#define TOO_LARGE                                                                               \
    "{\"result\":{\"isError\":true,\"content\":[{\"text\":\"The row is too large to be stored." \
    "\"}],\"-\":[\"structuredContent\"]}}"

static void rows_beyond_ROW_BYTES_MAX_are_refused(void **state)
{
    call_long(*state, "create_note", "{\"key\":\"k\",\"text\":\"", "x", ROW_BYTES_MAX, "\"}",
              TOO_LARGE);
    call_tool(*state, "get_note", "{\"id\":\"k\"}", "{\"isError\":true}");
}

/* Each part is small enough, the row that comes of them is not. */
static void a_row_that_a_merge_makes_too_large_stays_as_it_was(void **state)
{
    call_long(*state, "create_note", "{\"key\":\"k\",\"a\":\"", "x", ROW_BYTES_MAX * 6 / 10, "\"}",
              DONE);
    call_long(*state, "update_note", "{\"id\":\"k\",\"changes\":{\"b\":\"", "y",
              ROW_BYTES_MAX * 6 / 10, "\"}}", TOO_LARGE);
    call_tool(*state, "get_note", "{\"id\":\"k\"}",
              "{\"structuredContent\":{\"key\":\"k\",\"-\":[\"b\"]}}");
    call_long(*state, "update_note", "{\"id\":\"k\",\"changes\":{\"a\":null,\"b\":\"", "y",
              ROW_BYTES_MAX * 6 / 10, "\"}}", DONE);
}

static int open_small(void **state)
{
    struct core_config config = bench_config;
    config.row_bytes = 64;
    bench_shop(&bench, &config);
    *state = &bench;
    return 0;
}

/* {"key":"k","text":""} has 21 bytes. */
static void maxRowBytes_holds_for_what_is_created_put_and_merged(void **state)
{
    static const char *const told =
        "{\"result\":{\"isError\":true,\"content\":[{\"text\":\"The row is too large: its JSON may "
        "have 64 bytes at most. Nothing was changed.\"}]}}";
    call_long(*state, "create_note", "{\"key\":\"k\",\"text\":\"", "x", 64 - 21, "\"}", DONE);
    call_long(*state, "create_note", "{\"key\":\"l\",\"text\":\"", "x", 65 - 21, "\"}", told);
    call_long(*state, "update_note", "{\"id\":\"k\",\"changes\":{\"text\":\"", "x", 65 - 21, "\"}}",
              told);
    call_long(*state, "update_note", "{\"id\":\"k\",\"row\":{\"text\":\"", "x", 65 - 21, "\"}}",
              told);
    call_tool(*state, "update_note", "{\"id\":\"k\",\"changes\":{\"n\":1}}", "{\"isError\":true}");
    call_long(*state, "update_note", "{\"id\":\"k\",\"row\":{\"text\":\"", "y", 64 - 21, "\"}}",
              DONE);
    call_tool(*state, "delete_note", "{\"id\":\"k\"}",
              "{\"structuredContent\":{\"deleted\":true}}");
}

/* ---- Indexes that refuse -------------------------------------------------------------------- */

#define PERSON                                                                                   \
    "{\"primaryKey\":\"id\",\"indexes\":[{\"on\":[\"mail\"],\"unique\":true},{\"on\":["          \
    "\"pin\"],\"unique\":true},{\"name\":\"by_text\",\"on\":[\"text\",\"-id\"]}],"               \
    "\"attributes\":{\"pin\":{\"hidden\":true,\"default\":{\"value\":7}}},\"schema\":{\"type\":" \
    "\"object\",\"properties\":{\"id\":{\"type\":\"integer\"},\"mail\":{\"type\":\"string\"},"   \
    "\"pin\":{\"type\":\"integer\"},\"text\":{\"type\":\"string\"}}}}"

static void a_row_that_an_index_refuses_names_the_index(void **state)
{
    bench_table(*state, "shop", "person", PERSON);
    call_tool(*state, "create_person", "{\"id\":1,\"mail\":\"a@b\"}", "{\"-\":[\"isError\"]}");
    call_tool(*state, "create_person", "{\"id\":2,\"mail\":\"a@b\"}",
              "{\"isError\":true,\"content\":[{\"text\":\"Another row has the same values in the "
              "unique index by_mail (mail) of shop.person. Nothing was changed.\"}]}");
    /* of an index on what is hidden no name is told */
    call_tool(*state, "create_person", "{\"id\":2,\"mail\":\"c@d\"}",
              "{\"isError\":true,\"content\":[{\"text\":\"Another row has the same values in the "
              "unique index of shop.person. Nothing was changed.\"}]}");
    call_long(
        *state, "update_person", "{\"id\":1,\"changes\":{\"text\":\"", "x", INDEX_ENTRY_BYTES,
        "\"}}",
        "{\"result\":{\"isError\":true,\"content\":[{\"text\":\"The row's values are too long "
        "for the index by_text (text, -id) of shop.person. Nothing was changed.\"}]}}");
    call_tool(*state, "get_person", "{\"id\":1}",
              "{\"structuredContent\":{\"mail\":\"a@b\",\"-\":[\"text\"]}}");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        SHOP_TEST(C_013_NUL_in_keys_and_values_is_kept),
        SHOP_TEST(TL_06_keys_beyond_KEY_BYTES_MAX_are_refused_by_every_tool),
        SHOP_TEST(TL_06_keys_that_are_none),
        SHOP_TEST(J_11_a_name_that_comes_twice_is_refused_at_any_depth),
        SHOP_TEST(C_017_rows_nest_as_deep_as_a_message_may),
        SHOP_TEST(rows_beyond_ROW_BYTES_MAX_are_refused),
        SHOP_TEST(a_row_that_a_merge_makes_too_large_stays_as_it_was),
        cmocka_unit_test_setup_teardown(maxRowBytes_holds_for_what_is_created_put_and_merged,
                                        open_small, close_bench),
        SHOP_TEST(a_row_that_an_index_refuses_names_the_index),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
