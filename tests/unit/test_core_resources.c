/* tests/unit/test_core_resources.c - resources: the checklist's RS rows and C-061. */
#include "tests/unit/ask.h"

#define N(a) (sizeof(a) / sizeof *(a))

static void read_uri(struct bench *b, const char *uri, const char *pattern)
{
    char params[4096];
    snprintf(params, sizeof params, "{\"uri\":\"%s\"}", uri);
    ask_method(b, "resources/read", params, pattern);
}

static void RS_02_tables_and_descriptions_are_listed(void **state)
{
    ask_method(*state, "resources/list", "",
               "{\"resources\":[{\"uri\":\"db://shop/"
               "book\",\"name\":\"shop.book\",\"title\":\"Books\",\"description\":"
               "\"What is on the "
               "shelves\",\"mimeType\":\"application/json\"},{\"uri\":\"db://shop/note\"},"
               "{\"uri\":\"tenon://about\",\"name\":\"about\"},{\"uri\":\"tenon://openapi\"},"
               "{\"uri\":\"tenon://schema/shop/book\"},"
               "{\"uri\":\"tenon://schema/shop/note\"}],\"-\":[\"nextCursor\"]}");
    ask_method(
        *state, "resources/templates/list", "",
        "{\"resourceTemplates\":[{\"uriTemplate\":\"db://{database}/{table}\",\"name\":\"table\"},"
        "{\"uriTemplate\":\"db://{database}/{table}/{id}\",\"name\":\"row\"},"
        "{\"uriTemplate\":\"tenon://schema/{database}/"
        "{table}\",\"name\":\"schema\"}],\"-\":[\"nextCursor\"]}");
}

static void L_10_2025_03_26_lists_have_no_title(void **state)
{
    bench_connect(*state, "2025-03-26");
    ask_method(*state, "resources/list", "",
               "{\"resources\":[{\"uri\":\"db://shop/book\",\"-\":[\"title\"]},\"...\"]}");
    ask_method(*state, "resources/templates/list", "",
               "{\"resourceTemplates\":[{\"-\":[\"title\"]},\"...\"]}");
}

static void RS_17_annotations_of_a_table_are_those_of_its_resource(void **state)
{
    bench_table(*state, "a", "t",
                "{\"primaryKey\":\"k\",\"annotations\":{\"audience\":[\"user\"],\"priority\":0.5},"
                "\"schema\":{\"type\":"
                "\"object\",\"properties\":{\"k\":{\"type\":\"string\"}}}}");
    ask_method(*state, "resources/list", "",
               "{\"resources\":[{\"uri\":\"db://a/"
               "t\",\"annotations\":{\"audience\":[\"user\"],\"priority\":0.5}},\"...\"]}");
}

static void RS_03_rows_tables_and_descriptions_are_read(void **state)
{
    read_uri(
        *state, "db://shop/book/2",
        "{\"contents\":[{\"uri\":\"db://shop/book/2\",\"mimeType\":\"application/json\",\"text\":"
        "\"{\\\"id\\\":2,\\\"title\\\":\\\"Second\\\",\\\"genre\\\":\\\"poem\\\",\\\"year\\\":1999}"
        "\",\"-\":[\"blob\"]}]}");
    read_uri(*state, "db://shop/note",
             "{\"contents\":[{\"uri\":\"db://shop/note\",\"text\":\"{\\\"rows\\\":[]}\"}]}");
    read_uri(*state, "db://shop/book",
             "{\"contents\":[{\"uri\":\"db://shop/book\",\"text\":\"*\"}]}");
    assert_non_null(strstr(bench.body.p, "{\\\"rows\\\":[{\\\"id\\\":1,"));
    read_uri(*state, "tenon://about",
             "{\"contents\":[{\"uri\":\"tenon://about\",\"text\":\"*\"}]}");
    assert_non_null(
        strstr(bench.body.p, "\\\"protocolVersions\\\":[\\\"2025-06-18\\\",\\\"2025-03-26\\\"]"));
    assert_non_null(
        strstr(bench.body.p,
               "\\\"capabilities\\\":{\\\"completions\\\":{},\\\"logging\\\":{},\\\"prompts\\\":{"
               "\\\"listChanged\\\":true},\\\"resources\\\":{"
               "\\\"listChanged\\\":true,\\\"subscribe\\\":true},\\\"tools\\\":{"
               "\\\"listChanged\\\":true}}"));
    read_uri(*state, "tenon://schema/shop/book", "{\"contents\":[{\"text\":\"*\"}]}");
    assert_non_null(
        strstr(bench.body.p,
               "\\\"primaryKey\\\":\\\"id\\\",\\\"indexes\\\":[{\\\"name\\\":\\\"by_genre\\\","
               "\\\"on\\\":[\\\"genre\\\"]}],\\\"schema\\\":{\\\"type\\\":\\\"object\\\""));
}

static void a_table_is_read_by_its_first_page(void **state)
{
    struct core_config config = bench_config;
    char cursor[512], args[700];
    (void)state;
    config.search_page = 1;
    bench_shop(&bench, &config);
    read_uri(&bench, "db://shop/book", "{\"contents\":[{\"text\":\"*\"}]}");
    const char *at = strstr(bench.body.p, "nextCursor\\\":\\\"");
    assert_non_null(at);
    snprintf(cursor, sizeof cursor, "%.*s", (int)strcspn(at + 15, "\\"), at + 15);
    snprintf(args, sizeof args, "{\"name\":\"search_book\",\"arguments\":{\"cursor\":\"%s\"}}",
             cursor);
    ask_method(&bench, "tools/call", args, "{\"structuredContent\":{\"rows\":[{\"id\":2}]}}");
    bench_close(&bench);
}

static void large_pages_of_a_table_leave_the_loop(void **state)
{
    struct core_config config = bench_config;
    (void)state;
    config.search_page = 1000;
    bench_shop(&bench, &config);
    for (int i = 0; i < INLINE_SCAN_ENTRIES + 10; i++) {
        char params[128];
        snprintf(params, sizeof params,
                 "{\"name\":\"create_note\",\"arguments\":{\"key\":\"n%d\"}}", i);
        ask_method(&bench, "tools/call", params, "{\"-\":[\"isError\"]}");
    }
    bench.loop.n_offloaded = 0;
    read_uri(&bench, "db://shop/note", "{\"contents\":[{\"text\":\"*\"}]}");
    assert_int_equal(bench.loop.n_offloaded, 1);
    bench.loop.busy = true;
    ask(&bench, 503,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\",\"params\":{\"uri\":\"db://"
        "shop/note\"}}",
        "{\"error\":{\"code\":-32603}}");
    bench_close(&bench);
}

static void keys_are_percent_encoded_segments(void **state)
{
    static const char *const keys[][2] = {
        {"a/b", "a%2Fb"},
        {"a b", "a%20b"},
        {"..", ".."},
        {"%2F", "%252F"},
        {"caf\xc3\xa9", "caf%C3%A9"},
        {"?x=1#y", "%3Fx%3D1%23y"},
        {"a\\\\b", "a%5Cb"},
    };
    for (size_t i = 0; i < N(keys); i++) {
        char params[256], uri[128];
        snprintf(params, sizeof params, "{\"name\":\"create_note\",\"arguments\":{\"key\":\"%s\"}}",
                 keys[i][0]);
        ask_method(*state, "tools/call", params, "{\"-\":[\"isError\"]}");
        snprintf(uri, sizeof uri, "db://shop/note/%s", keys[i][1]);
        snprintf(params, sizeof params,
                 "{\"contents\":[{\"uri\":\"%s\",\"text\":\"{\\\"key\\\":\\\"%s\\\"}\"}]}", uri,
                 strchr(keys[i][0], '\\') ? "a\\\\\\\\b" : keys[i][0]);
        read_uri(*state, uri, params);
    }
}

#define PICTURE_DEFINITION                                                                         \
    "{\"primaryKey\":\"key\",\"attributes\":{\"secret\":{\"hidden\":true},\"v\":{\"role\":"        \
    "\"version\"}},\"schema\":{\"type\":\"object\",\"properties\":{\"key\":{\"type\":\"string\"}," \
    "\"png\":{\"type\":[\"string\",\"null\"],\"contentEncoding\":\"base64\",\"contentMediaType\":" \
    "\"image/png\"},\"a_b\":{\"type\":\"string\",\"contentEncoding\":\"base64\"},\"odd\":{"        \
    "\"type\":\"string\",\"contentEncoding\":\"base64\",\"contentMediaType\":\"odd\"},\"secret\":" \
    "{"                                                                                            \
    "\"type\":\"string\",\"contentEncoding\":\"base64\"},\"v\":{\"type\":\"integer\"}}}}"

static void put_picture(struct bench *b, const char *key, const char *members)
{
    char body[1024];
    snprintf(body, sizeof body, "{\"name\":\"create_picture\",\"arguments\":{\"key\":\"%s\"%s%s}}",
             key, *members ? "," : "", members);
    ask_method(b, "tools/call", body, "{\"-\":[\"isError\"]}");
}

static void RS_03_RS_08_what_of_a_row_is_binary_is_a_blob(void **state)
{
    bench_table(*state, "shop", "picture", PICTURE_DEFINITION);
    put_picture(*state, "one", "\"png\":\"iVBORw==\",\"a_b\":\"YWI=\",\"odd\":\"\",\"more\":7");
    read_uri(*state, "db://shop/picture/one",
             "{\"contents\":[{\"uri\":\"db://shop/picture/one\",\"mimeType\":\"application/json\","
             "\"text\":\"*\",\"-\":[\"blob\"]},"
             "{\"uri\":\"db://shop/picture/one#png\",\"mimeType\":\"image/png\",\"blob\":"
             "\"iVBORw==\",\"-\":[\"text\"]},"
             "{\"uri\":\"db://shop/picture/one#a_b\",\"mimeType\":\"application/octet-stream\","
             "\"blob\":\"YWI=\"},"
             "{\"uri\":\"db://shop/picture/one#odd\",\"mimeType\":\"application/octet-stream\","
             "\"blob\":\"\"}]}");
    assert_non_null(strstr(bench.body.p, "{\\\"key\\\":\\\"one\\\",\\\"more\\\":7,\\\"v\\\":"));
    read_uri(*state, "db://shop/picture/one#a%5Fb",
             "{\"contents\":[{\"uri\":\"db://shop/picture/one#a_b\",\"blob\":\"YWI=\"}]}");
    read_uri(*state, "db://shop/picture/one#png", "{\"contents\":[{\"blob\":\"iVBORw==\"}]}");
    put_picture(*state, "two", "\"png\":null,\"a_b\":\"no base64\"");
    read_uri(*state, "db://shop/picture/two", "{\"contents\":[{\"text\":\"*\"}]}");
    assert_non_null(strstr(bench.body.p, "\\\"png\\\":null,\\\"a_b\\\":\\\"no base64\\\""));
}

static void RS_04_a_part_that_a_row_has_not_is_absent(void **state)
{
    static const char *const uris[] = {
        "db://shop/picture/one#",     "db://shop/picture/one#key",
        "db://shop/picture/one#a b",  "db://shop/picture/one#secret",
        "db://shop/picture/none#png", "db://shop/picture#png",
        "tenon://about#png",          "db://shop/picture/one#%2e%2e",
    };
    bench_table(*state, "shop", "picture", PICTURE_DEFINITION);
    put_picture(*state, "one", "\"png\":\"iVBORw==\"");
    for (size_t i = 0; i < N(uris); i++) {
        char params[128];
        snprintf(params, sizeof params, "{\"uri\":\"%s\"}", uris[i]);
        ask_method(*state, "resources/read", params,
                   strchr(uris[i], ' ') ? "!{\"code\":-32602}" : "!{\"code\":-32002}");
    }
}

/* In _meta: the schema has no annotations for contents. */
static void RS_17_a_row_says_when_it_was_changed(void **state)
{
    read_uri(*state, "db://shop/book/2",
             "{\"contents\":[{\"_meta\":{\"tenon/version\":\"*\",\"tenon/lastModified\":\"*\"}}]}");
    const char *at = strstr(bench.body.p, "\"tenon/lastModified\":\"2");
    assert_non_null(at);
    at += strlen("\"tenon/lastModified\":\"");
    assert_true(at[4] == '-' && at[10] == 'T' && at[23] == 'Z' && at[24] == '"');
    bench_connect(*state, "2025-03-26");
    read_uri(*state, "db://shop/book/2", "{\"contents\":[{\"text\":\"*\",\"-\":[\"_meta\"]}]}");
}

static void RS_04_RS_06_C_061_what_is_not_there(void **state)
{
    static const char *const uris[] = {
        "x:none",
        "app://no/such",
        "db://shop/book/99",
        "db://shop/nothing",
        "db://nobody/book",
        "tenon://schema/shop/nothing",
        "tenon://nothing",
        "tenon://about/",
        "tenon://openapi/",
        "db://shop",
        "db://shop/",
        "db://shop/book/",
        "db://shop/book/1/2",
        "db://shop//1",
        "db://shop/book?x=1",
        "db://shop/book#x",
        "db://shop/book/1?x",
        "DB://shop/book/1",
        "db://shop/book/01",
        "db://shop/book/+1",
        "db://shop/book/1.0",
        "db://shop/book/x",
        "db://shop/book/99999999999999999999",
        "db://Shop/book/1",
        "file:///../../etc/passwd",
        "db://shop/%2e%2e/book",
        "db://shop/../shop/book",
        "db://shop/book/..%2Fnote%2Fk",
        "db://shop%2Fbook/1",
        "db://shop/book%2F1",
        "db://shop/book%00",
        "db://shop/note/%00",
        "db://shop/note/%FF",
        "db:shop/book/1",
        "db://shop/note/\xc3\xa9",
    };
    for (size_t i = 0; i < N(uris); i++) {
        char wanted[256];
        snprintf(wanted, sizeof wanted,
                 "!{\"code\":-32002,\"message\":\"Resource not found\",\"data\":{\"uri\":\"%s\"}}",
                 uris[i]);
        read_uri(*state, uris[i], wanted);
    }
    read_uri(*state, "db://shop/book/1", "{\"contents\":[\"*\"]}");
}

/* They fail the format of the parameter already. */
static void RS_06_C_061_what_is_no_uri(void **state)
{
    static const char *const uris[] = {"",
                                       "not a uri",
                                       "db://shop/note/%zz",
                                       "db://shop/note/%",
                                       "db://shop/no te/1",
                                       "//shop/book/1",
                                       "db://shop/note/a\\u0000b"};
    for (size_t i = 0; i < N(uris); i++)
        read_uri(*state, uris[i], "!{\"code\":-32602,\"data\":{\"pointer\":\"/params/uri\"}}");
}

static void RS_06_a_long_uri_is_refused_without_echo(void **state)
{
    struct buf body = {0};
    buf_add_lit(&body, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/"
                       "read\",\"params\":{\"uri\":\"db://shop/note/");
    for (int i = 0; i < 100000; i++)
        buf_add_char(&body, 'x');
    buf_add_lit(&body, "\"}}");
    bench_send(*state, buf_str(&body));
    expect(*state, 200, "{\"error\":{\"code\":-32002,\"-\":[\"data\"]}}", "a long URI");
    buf_done(&body);
}

static void RS_16_uri_is_required_and_a_string(void **state)
{
    ask_method(*state, "resources/read", "",
               "!{\"code\":-32602,\"data\":{\"pointer\":\"/params/uri\"}}");
    ask_method(*state, "resources/read", "{}",
               "!{\"code\":-32602,\"data\":{\"pointer\":\"/params/uri\"}}");
    ask_method(*state, "resources/read", "{\"uri\":42}",
               "!{\"code\":-32602,\"data\":{\"pointer\":\"/params/uri\"}}");
}

static void PG_02_resources_come_in_pages(void **state)
{
    struct core_config config = bench_config;
    (void)state;
    for (config.list_page = 1; config.list_page <= 6; config.list_page++) {
        char params[700] = "";
        unsigned n = 0;
        bench_shop(&bench, &config);
        for (;;) {
            ask_method(&bench, "resources/list", params, "{\"resources\":\"*\"}");
            for (const char *at = bench.body.p; (at = strstr(at, "\"mimeType\":")); at++)
                n++;
            const char *at = strstr(bench.body.p, "\"nextCursor\":\"");
            if (!at)
                break;
            snprintf(params, sizeof params, "{\"cursor\":\"%.*s\"}", (int)strcspn(at + 14, "\""),
                     at + 14);
        }
        assert_int_equal(n, 6);
        bench_close(&bench);
    }
}

/* As many tables as are given, each with a description of so many bytes. */
static void make_described_tables(struct bench *b, int n, int bytes)
{
    struct buf definition = {0};
    buf_add_lit(&definition, "{\"primaryKey\":\"key\",\"schema\":{\"type\":\"object\","
                             "\"properties\":{\"key\":{\"type\":\"string\"}}},"
                             "\"description\":\"");
    for (int k = 0; k < bytes; k++)
        buf_add_char(&definition, 'd');
    buf_add_lit(&definition, "\"}");
    buf_add_char(&definition, '\0');
    for (int i = 0; i < n; i++) {
        char name[32];
        snprintf(name, sizeof name, "wordy%d", i);
        bench_table(b, "shop", name, definition.p);
    }
    buf_done(&definition);
}

/* Follows nextCursor to the end; returns how many resources came, and the largest page. */
static unsigned walk_list(struct bench *b, unsigned *ret_pages, uint32_t *ret_most)
{
    char params[700] = "";
    unsigned n = 0;
    *ret_pages = *ret_most = 0;
    do {
        ask_method(b, "resources/list", params, "{\"resources\":[{\"uri\":\"*\"},\"...\"]}");
        for (const char *at = b->body.p; (at = strstr(at, "\"uri\":")); at++)
            n++;
        *ret_most = b->body.n > *ret_most ? b->body.n : *ret_most;
        assert_true(++*ret_pages < 50);
        const char *cursor = strstr(b->body.p, "\"nextCursor\":\"");
        if (!cursor)
            return n;
        snprintf(params, sizeof params, "{\"cursor\":\"%.*s\"}", (int)strcspn(cursor + 14, "\""),
                 cursor + 14);
    } while (true);
}

static void PG_02_a_page_of_a_list_is_bounded_in_bytes(void **state)
{
    unsigned pages;
    uint32_t most;
    make_described_tables(*state, 12, LIST_BYTES_MAX / 4);
    assert_int_equal(walk_list(*state, &pages, &most), 2 + 2 * (2 + 12));
    assert_int_equal(pages, 4); /* three of them and small ones fit a page */
    assert_in_range(most, LIST_BYTES_MAX / 2, LIST_BYTES_MAX + 1000);
}

/* Its entries hold each description several times. */
static void beyond_CATALOG_BYTES_MAX_a_list_fails_and_the_server_lives(void **state)
{
    make_described_tables(*state, 8, ROW_BYTES_MAX - 1024);
    ask(*state, 200, PING, PONG);
    ask_method(*state, "tools/list", "", "{\"tools\":[\"*\",\"...\"]}");
    make_described_tables(*state, 20, ROW_BYTES_MAX - 1024);
    ask(*state, 500, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}",
        "{\"error\":{\"code\":-32603}}");
    ask(*state, 200, PING, PONG);
}

static void the_operations_profile_shows_no_tables(void **state)
{
    bench.profile = PROFILE_OPERATIONS;
    bench_connect(*state, "2025-06-18");
    ask_method(*state, "resources/list", "",
               "{\"resources\":[{\"uri\":\"tenon://about\"},{\"uri\":\"tenon://"
               "openapi\"},{\"uri\":\"tenon://operations\"}]}");
    ask_method(*state, "resources/templates/list", "", "{\"resourceTemplates\":[]}");
    read_uri(*state, "db://shop/book/1", "!{\"code\":-32002}");
    read_uri(*state, "tenon://operations", "{\"contents\":[\"*\"]}");
    assert_non_null(strstr(bench.body.p, "describe_table"));
    read_uri(*state, "tenon://about", "{\"contents\":[\"*\"]}");
    assert_non_null(strstr(bench.body.p, "\\\"profile\\\":\\\"operations\\\""));
}

static void every_failing_allocation_is_answered(void **state)
{
    static const char *const uris[] = {"db://shop/book/1",         "db://shop/book/9",
                                       "db://shop/book",           "tenon://about",
                                       "tenon://schema/shop/book", "nothing"};
    unsigned n_failed = 0;
    for (size_t i = 0; i < N(uris); i++) {
        char body[256];
        int status = 500;
        snprintf(body, sizeof body,
                 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/"
                 "read\",\"params\":{\"uri\":\"%s\"}}",
                 uris[i]);
        for (size_t limit = 1; status == 500; limit += 16) {
            bench.arena_limit = limit;
            bench_send(*state, str_of(body));
            status = bench.status;
            n_failed += status == 500;
        }
        assert_int_equal(status, 200);
        bench.arena_limit = 0;
    }
    assert_true(n_failed > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SHOP_TEST(RS_02_tables_and_descriptions_are_listed),
        SHOP_TEST(L_10_2025_03_26_lists_have_no_title),
        SHOP_TEST(RS_17_annotations_of_a_table_are_those_of_its_resource),
        SHOP_TEST(RS_03_rows_tables_and_descriptions_are_read),
        cmocka_unit_test(a_table_is_read_by_its_first_page),
        cmocka_unit_test(large_pages_of_a_table_leave_the_loop),
        SHOP_TEST(keys_are_percent_encoded_segments),
        SHOP_TEST(RS_03_RS_08_what_of_a_row_is_binary_is_a_blob),
        SHOP_TEST(RS_04_a_part_that_a_row_has_not_is_absent),
        SHOP_TEST(RS_17_a_row_says_when_it_was_changed),
        SHOP_TEST(RS_04_RS_06_C_061_what_is_not_there),
        SHOP_TEST(RS_06_C_061_what_is_no_uri),
        SHOP_TEST(RS_06_a_long_uri_is_refused_without_echo),
        SHOP_TEST(RS_16_uri_is_required_and_a_string),
        cmocka_unit_test(PG_02_resources_come_in_pages),
        SHOP_TEST(PG_02_a_page_of_a_list_is_bounded_in_bytes),
        SHOP_TEST(beyond_CATALOG_BYTES_MAX_a_list_fails_and_the_server_lives),
        SHOP_TEST(the_operations_profile_shows_no_tables),
        SHOP_TEST(every_failing_allocation_is_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
