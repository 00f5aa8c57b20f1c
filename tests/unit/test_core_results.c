/* tests/unit/test_core_results.c - results that would break the outputSchema of their tool: by rows
 * that were put straight into the store. */
#include "base/log_ring.h"
#include "tests/unit/ask.h"

#define MISFIT \
    "!{\"code\":-32603,\"message\":\"The result breaks its outputSchema\",\"-\":[\"data\"]}"
#define GET      "{\"name\":\"get_book\",\"arguments\":{\"id\":7}}"
#define SEARCH   "{\"name\":\"search_book\",\"arguments\":{}}"
#define SELECTED "{\"name\":\"search_book\",\"arguments\":{\"select\":[\"id\"]}}"

/* Row 7 of shop.book, whatever the table says about rows. */
static void put_row(const char *json)
{
    static const struct tape_node id = {.kind = TAPE_INT, .v.i = 7};
    struct arena arena;
    struct str key;
    arena_init(&arena, 0);
    assert_int_equal(key_encode(KEY_INTEGER, &id, &arena, &key), 0);
    bench_write(&bench, (struct store_op){.kind = STORE_PUT_ROW,
                                          .if_version = STORE_ANY,
                                          .table = 1,
                                          .key = key,
                                          .row = open_json(&arena, str_of(json))});
    arena_done(&arena);
}

static int keep_line(void *ctx, const struct log_entry *entry)
{
    snprintf(ctx, LOG_LINE_BYTES, "%d " STR_FMT, (int)entry->level, STR_ARG(entry->text));
    return 1;
}

/* The last thing that the log says. */
static void logged(const char *wanted)
{
    char line[LOG_LINE_BYTES] = "";
    log_ring_read(LOG_DEBUG, 1, keep_line, line);
    if (line[0] != '0' + LOG_ERROR || !strstr(line, wanted))
        fail_msg("logged: %s\n  wanted: %s", line, wanted);
}

static int open_shop_with_log(void **state)
{
    assert_int_equal(log_ring_open(), 0);
    return open_shop(state);
}

static int close_shop_with_log(void **state)
{
    log_ring_close();
    return close_bench(state);
}

static void a_row_that_breaks_the_schema_is_not_shown(void **state)
{
    put_row("{\"id\":7,\"title\":\"Old\",\"year\":3.5}");
    ask_method(*state, "tools/call", GET, MISFIT);
    logged("tool get_book: the result breaks its outputSchema: /year: type, expected");
    put_row("{\"id\":7,\"title\":\"\"}");
    ask_method(*state, "tools/call", GET, MISFIT);
    logged("tool get_book: the result breaks its outputSchema: /title: minLength, expected");
    put_row("{\"id\":7}");
    ask_method(*state, "tools/call", GET, MISFIT);
    logged("tool get_book: the result breaks its outputSchema: /title: required, expected");
    put_row("{\"id\":7,\"title\":\"x\",\"secret\":\"S3CRET\"}");
    ask_method(*state, "tools/call", GET, MISFIT);
    logged("tool get_book: the result breaks its outputSchema: /secret: additionalProperties");
    assert_null(strstr(bench.body.p, "S3CRET"));
}

static void a_page_of_rows_is_shown_if_all_fit(void **state)
{
    put_row("{\"id\":7,\"title\":\"Old\",\"genre\":\"essay\"}");
    ask_method(*state, "tools/call", SEARCH, MISFIT);
    logged("tool search_book: the result breaks its outputSchema: /rows/2/genre: enum, expected");
    ask_method(*state, "tools/call", SELECTED,
               "{\"structuredContent\":{\"rows\":[{\"id\":1},{\"id\":2},{\"id\":7}]}}");
    put_row("{\"id\":7,\"title\":\"Old\",\"genre\":\"poem\"}");
    ask_method(*state, "tools/call", SEARCH, "{\"structuredContent\":{\"rows\":[\"...\"]}}");
}

/* The control: what is asked for is done and told. */
static void a_bad_row_can_be_mended_and_deleted(void **state)
{
    put_row("{\"id\":7,\"title\":\"Old\",\"genre\":\"essay\"}");
    ask_method(*state, "tools/call",
               "{\"name\":\"update_book\",\"arguments\":{\"id\":7,\"changes\":{\"year\":1999}}}",
               "{\"isError\":true}");
    ask_method(
        *state, "tools/call",
        "{\"name\":\"update_book\",\"arguments\":{\"id\":7,\"changes\":{\"genre\":\"poem\"}}}",
        "{\"structuredContent\":{\"id\":7,\"genre\":\"poem\"}}");
    put_row("{\"id\":7,\"title\":1}");
    ask_method(*state, "tools/call", "{\"name\":\"delete_book\",\"arguments\":{\"id\":7}}",
               "{\"structuredContent\":{\"deleted\":true}}");
}

static void failures_have_no_schema(void **state)
{
    ask_method(*state, "tools/call", GET, "{\"isError\":true,\"-\":[\"structuredContent\"]}");
}

/* Opened in memory of its own. */
static void a_large_page_is_checked_too(void **state)
{
    static char row[16384];
    strcpy(row, "{\"id\":7,\"title\":\"");
    memset(row + strlen(row), 'x', 9000);
    strcat(row, "\",\"year\":1}");
    put_row(row);
    ask_method(*state, "tools/call", SEARCH, MISFIT);
    logged("/rows/2/year: minimum, expected");
    ask_method(*state, "tools/call", GET, MISFIT);
}

#define LOG_TEST(f) cmocka_unit_test_setup_teardown(f, open_shop_with_log, close_shop_with_log)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOG_TEST(a_row_that_breaks_the_schema_is_not_shown),
        LOG_TEST(a_page_of_rows_is_shown_if_all_fit),
        LOG_TEST(a_bad_row_can_be_mended_and_deleted),
        LOG_TEST(failures_have_no_schema),
        LOG_TEST(a_large_page_is_checked_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
