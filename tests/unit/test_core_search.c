/* tests/unit/test_core_search.c - search_T: filters, orders, pages, totals, limits; and random
 * searches against a naive evaluation, with rows written between the pages. */
#include "tests/unit/ask.h"

#include <unistd.h>

#define N(a) (sizeof(a) / sizeof *(a))

#define CITY_DEFINITION                                                                        \
    "{\"primaryKey\":\"id\",\"schema\":{\"type\":\"object\",\"properties\":{\"id\":{\"type\":" \
    "\"integer\"},\"name\":{\"type\":\"string\"},\"pop\":{\"type\":[\"integer\",\"null\"]},"   \
    "\"at\":{\"type\":\"object\",\"properties\":{\"zone\":{\"type\":\"string\"}}},\"tags\":{"  \
    "\"type\":\"array\"},\"any\":{}},\"required\":[\"name\"],\"additionalProperties\":false}}"

static void search(struct bench *b, const char *args, const char *pattern)
{
    char params[7000];
    snprintf(params, sizeof params, "{\"name\":\"search_city\",\"arguments\":%s}", args);
    ask_method(b, "tools/call", params, pattern);
}

static void add(struct bench *b, const char *row)
{
    char params[2048];
    snprintf(params, sizeof params, "{\"name\":\"create_city\",\"arguments\":%s}", row);
    ask_method(b, "tools/call", params, "{\"-\":[\"isError\"]}");
}

static int open_cities(void **state)
{
    static const char *const rows[] = {
        "{\"id\":1,\"name\":\"Ulm\",\"pop\":120,\"at\":{\"zone\":\"A\"}}",
        "{\"id\":2,\"name\":\"Bern\",\"pop\":130,\"at\":{\"zone\":\"B\"}}",
        "{\"id\":3,\"name\":\"Graz\",\"pop\":null}",
        "{\"id\":4,\"name\":\"Linz\",\"pop\":120,\"any\":\"x\"}",
        "{\"id\":5,\"name\":\"Wien\",\"pop\":1900,\"any\":[1]}",
    };
    bench_open(&bench, &bench_config);
    bench_table(&bench, "geo", "city", CITY_DEFINITION);
    bench_connect(&bench, "2025-06-18");
    for (size_t i = 0; i < N(rows); i++)
        add(&bench, rows[i]);
    *state = &bench;
    return 0;
}

#define CITY_TEST(f) cmocka_unit_test_setup_teardown(f, open_cities, close_bench)
#define ROWS(rows)   "{\"structuredContent\":{\"rows\":[" rows "],\"-\":[\"nextCursor\"]}}"
#define ID(n)        "{\"id\":" #n "}"

static void filters_orders_and_selections(void **state)
{
    static const char *const cases[][2] = {
        {"{\"where\":\"pop > 120\"}", ROWS(ID(2) "," ID(5))},
        {"{\"where\":\"pop is null\"}", ROWS(ID(3))},
        {"{\"where\":\"at.zone = 'B' or name like 'L%'\"}", ROWS(ID(2) "," ID(4))},
        {"{\"where\":{\"at.zone\":\"A\"}}", ROWS(ID(1))},
        {"{\"where\":\"id between 2 and 3\"}", ROWS(ID(2) "," ID(3))},
        {"{\"where\":\"id > 2 and id < 5\",\"order_by\":[\"-id\"]}", ROWS(ID(4) "," ID(3))},
        {"{\"where\":\"id in (5, 1, 77)\"}", ROWS(ID(1) "," ID(5))},
        {"{\"where\":\"id = 1 and id = 2\"}", ROWS("")},
        {"{\"order_by\":[\"pop\"]}", ROWS(ID(3) "," ID(1) "," ID(4) "," ID(2) "," ID(5))},
        {"{\"order_by\":[\"-pop\",\"-name\"]}",
         ROWS(ID(5) "," ID(2) "," ID(1) "," ID(4) "," ID(3))},
        {"{\"order_by\":[\"name\"],\"where\":\"pop < 1000\"}", ROWS(ID(2) "," ID(4) "," ID(1))},
        {"{\"order_by\":[\"any\"]}", ROWS(ID(1) "," ID(2) "," ID(3) "," ID(4) "," ID(5))},
        {"{\"where\":\"id = 1\",\"select\":[\"name\"]}",
         ROWS("{\"name\":\"Ulm\",\"-\":[\"id\",\"pop\"]}")},
        {"{\"where\":\"id = 1\",\"select\":[]}", ROWS("{\"-\":[\"id\",\"name\"]}")},
        {"{\"limit\":1,\"total\":true}",
         "{\"structuredContent\":{\"rows\":[" ID(1) "],\"total\":5,\"nextCursor\":\"*\"}}"},
        {"{\"limit\":1,\"total\":true,\"where\":\"pop = 120\",\"order_by\":[\"-name\"]}",
         "{\"structuredContent\":{\"rows\":[" ID(1) "],\"total\":2,\"nextCursor\":\"*\"}}"},
        {"{}", "{\"structuredContent\":{\"-\":[\"total\"]}}"},
    };
    for (size_t i = 0; i < N(cases); i++)
        search(*state, cases[i][0], cases[i][1]);
}

static void filter_faults_name_column_and_what_was_expected(void **state)
{
    search(
        *state, "{\"where\":\"pop >\"}",
        "!{\"code\":-32602,\"message\":\"*\",\"data\":{\"errors\":[{\"pointer\":"
        "\"/params/arguments/where\",\"keyword\":\"filter\",\"column\":6,\"expected\":\"*\"}]}}");
    search(*state, "{\"where\":\"nmae = 'x'\"}",
           "!{\"code\":-32602,\"data\":{\"errors\":[{\"column\":1,\"found\":\"*\",\"suggestion\":"
           "\"name\"}]}}");
    search(*state, "{\"where\":\"pop = 'many'\"}",
           "!{\"code\":-32602,\"data\":{\"errors\":[{\"column\":7}]}}");
    search(*state, "{\"where\":{\"nmae\":1}}",
           "!{\"code\":-32602,\"data\":{\"errors\":[{\"suggestion\":\"name\",\"-\":[\"column\"]}]"
           "}}");
    search(*state, "{\"where\":5}",
           "!{\"code\":-32602,\"data\":{\"errors\":[{\"keyword\":\"type\"}]}}");
}

static void orders_by_what_has_none_are_refused(void **state)
{
    static const char *const wrong[] = {"at", "tags", "nmae", "", "-", "--pop", "-tags"};
    for (size_t i = 0; i < N(wrong); i++) {
        char args[128];
        snprintf(args, sizeof args, "{\"order_by\":[\"id\",\"%s\"]}", wrong[i]);
        search(*state, args,
               "!{\"code\":-32602,\"data\":{\"errors\":[{\"pointer\":\"/params/arguments/"
               "order_by/1\",\"keyword\":\"attribute\"}]}}");
    }
    search(*state,
           "{\"order_by\":[\"id\",\"id\",\"id\",\"id\",\"id\",\"id\",\"id\",\"id\",\"id\"]}",
           "!{\"code\":-32602,\"data\":{\"errors\":[{\"keyword\":\"maxItems\"}]}}");
}

static void a_filter_bomb_is_refused(void **state)
{
    char args[6000] = "{\"where\":\"";
    for (int i = 0; i < 1000; i++)
        strcat(args, "(");
    strcat(args, "id=1\"}");
    search(*state, args, "!{\"code\":-32602,\"data\":{\"errors\":[{\"keyword\":\"filter\"}]}}");
    strcpy(args, "{\"where\":\"id=1");
    for (int i = 0; i < 700; i++)
        strcat(args, " or id=1");
    strcat(args, "\"}");
    search(*state, args, "!{\"code\":-32602,\"data\":{\"errors\":[{\"keyword\":\"filter\"}]}}");
}

static bool take_cursor(struct bench *b, char *ret, size_t size)
{
    const char *at = strstr(b->body.p, "\"nextCursor\":\"");
    const char *end = at ? strchr(at + 14, '"') : NULL;
    if (at)
        snprintf(ret, size, "%.*s", (int)(end - at - 14), at + 14);
    return at != NULL;
}

static void a_cursor_of_another_table_user_or_query_is_refused(void **state)
{
    static const char *const others[] = {
        "{\"cursor\":\"%s\"}",
        "{\"cursor\":\"%s\",\"where\":\"pop > 1\"}",
        "{\"cursor\":\"%s\",\"order_by\":[\"-pop\"]}",
        "{\"cursor\":\"%s\",\"where\":\"pop > 2\",\"order_by\":[\"-pop\"]}",
    };
    char cursor[1024], args[1200];
    struct bench *b = *state;
    bench_table(b, "geo", "town", CITY_DEFINITION);
    search(b, "{\"where\":\"pop > 1\",\"order_by\":[\"-pop\"],\"limit\":1}", "{}");
    assert_true(take_cursor(b, cursor, sizeof cursor));
    for (size_t i = 0; i < N(others); i++) {
        snprintf(args, sizeof args, others[i], cursor);
        search(b, args,
               "!{\"code\":-32602,\"data\":{\"errors\":[{\"pointer\":\"/params/arguments/cursor\"}"
               "]}}");
    }
    snprintf(
        args, sizeof args,
        "{\"name\":\"search_town\",\"arguments\":{\"where\":\"pop > 1\",\"order_by\":[\"-pop\"],"
        "\"cursor\":\"%s\"}}",
        cursor);
    ask_method(b, "tools/call", args, "!{\"code\":-32602}");
    snprintf(args, sizeof args,
             "{\"cursor\":\"%s\",\"where\":\"( pop>1 )\",\"order_by\":[\"-pop\"]}", cursor);
    search(b, args, ROWS(ID(2) "," ID(1) "," ID(4)));
    strcpy(b->user, "eve");
    bench_connect(b, "2025-06-18");
    search(b, args, "!{\"code\":-32602}");
}

static void a_scan_past_its_rows_names_the_attribute_to_index(void **state)
{
    struct core_config config = bench_config;
    (void)state;
    config.search_scan_rows = 20;
    bench_open(&bench, &config);
    bench_table(&bench, "geo", "city", CITY_DEFINITION);
    bench_connect(&bench, "2025-06-18");
    for (int i = 0; i < 21; i++) {
        char row[64];
        snprintf(row, sizeof row, "{\"id\":%d,\"name\":\"n\",\"pop\":%d}", i, i % 2);
        add(&bench, row);
    }
    search(&bench, "{\"where\":\"pop = 7\"}",
           "{\"isError\":true,\"content\":[{\"text\":\"The search was stopped: it had looked at 20 "
           "rows before its page was full. An index on pop would serve it. Or narrow it down by "
           "the primary key (id) in `where`.\"}]}");
    search(&bench, "{\"order_by\":[\"name\"]}", "{\"isError\":true}");
    search(&bench, "{\"where\":\"pop = 1\",\"total\":true,\"limit\":1}", "{\"isError\":true}");
    search(&bench, "{\"where\":\"pop = 1\",\"limit\":5}", "{\"-\":[\"isError\"]}");
    search(&bench, "{\"limit\":20}", "{\"structuredContent\":{\"nextCursor\":\"*\"}}");
    search(&bench, "{\"limit\":21}", "{\"isError\":true}");
    search(&bench, "{\"where\":\"id < 10 and pop = 1\"}", "{\"-\":[\"isError\"]}");
    bench_close(&bench);
}

static void values_too_long_to_order_by_are_told(void **state)
{
    char row[1024];
    snprintf(row, sizeof row, "{\"id\":9,\"name\":\"%0*d\"}", INDEX_ENTRY_BYTES + 1, 0);
    add(*state, row);
    search(
        *state, "{\"order_by\":[\"name\"]}",
        "{\"isError\":true,\"content\":[{\"text\":\"The rows cannot be ordered like this: one of "
        "them has a value of more than 507 bytes there. Order by another attribute.\"}]}");
    search(*state, "{\"where\":\"id < 9\",\"order_by\":[\"name\"]}", "{\"-\":[\"isError\"]}");
}

/* ---- Random searches ------------------------------------------------------------------------ */

#define CITIES 400

static struct {
    bool there;
    int pop, name; /* pop 0: null */
} cities[2 * CITIES];

static uint32_t seed = 1;

static int roll(int n)
{
    seed = seed * 1664525 + 1013904223;
    return (int)((seed >> 8) % (uint32_t)n);
}

static void put_city(struct bench *b, int id)
{
    char row[128], pop[16];
    cities[id].there = true;
    cities[id].pop = roll(12);
    cities[id].name = roll(30);
    snprintf(pop, sizeof pop, cities[id].pop ? "%d" : "null", cities[id].pop);
    snprintf(row, sizeof row, "{\"id\":%d,\"name\":\"n%02d\",\"pop\":%s}", id, cities[id].name,
             pop);
    add(b, row);
}

struct question {
    int low, high, least, name; /* of id, pop, name; -1: says nothing */
    const char *order;
};

static const char *const orders[] = {"",
                                     "\"id\"",
                                     "\"-id\"",
                                     "\"pop\"",
                                     "\"-pop\"",
                                     "\"name\",\"-id\"",
                                     "\"-name\",\"pop\"",
                                     "\"pop\",\"name\"",
                                     "\"-pop\",\"-name\",\"-id\""};

static void write_where(const struct question *q, char *out, size_t size)
{
    int n = snprintf(out, size, "id >= %d and id < %d", q->low, q->high);
    if (q->least >= 0)
        n += snprintf(out + n, size - (size_t)n, " and pop >= %d", q->least);
    if (q->name >= 0)
        snprintf(out + n, size - (size_t)n, " and not name = 'n%02d'", q->name);
}

static bool matches(const struct question *q, int id)
{
    return cities[id].there && id >= q->low && id < q->high &&
           (q->least < 0 || (cities[id].pop && cities[id].pop >= q->least)) &&
           (q->name < 0 || cities[id].name != q->name);
}

/* By the text of the order, the plain way. */
static int compare_cities(const char *order, int a, int b)
{
    for (const char *at = order; (at = strchr(at, '"')); at = strchr(at + 1, '"') + 1) {
        bool down = at[1] == '-';
        char letter = at[1 + down];
        int c = letter == 'i'   ? a - b
                : letter == 'p' ? cities[a].pop - cities[b].pop
                                : cities[a].name - cities[b].name;
        if (c)
            return down ? -c : c;
    }
    return a - b;
}

/* Appends the ids of the page in the last answer. */
static void take_ids(struct bench *b, int *ids, unsigned *n)
{
    const char *at = strstr(b->body.p, "structuredContent");
    assert_non_null(at);
    while ((at = strstr(at, "{\"id\":"))) {
        assert_true(*n < 2 * CITIES);
        ids[(*n)++] = atoi(at += 6);
    }
}

/* Rows that come between the pages may be seen or not; the others are seen once, in order. */
static void judge(const struct question *q, const bool *before, const int *ids, unsigned n)
{
    bool seen[2 * CITIES] = {false};
    for (unsigned i = 0; i < n; i++) {
        assert_true(matches(q, ids[i]) && !seen[ids[i]]);
        seen[ids[i]] = true;
        if (i)
            assert_true(compare_cities(q->order, ids[i - 1], ids[i]) < 0);
    }
    for (int id = 0; id < 2 * CITIES; id++)
        if (before[id] && matches(q, id))
            assert_true(seen[id]);
}

static void ask_all_pages(struct bench *b, const struct question *q, int limit, bool writes)
{
    char where[256], cursor[1024], args[2048];
    bool before[2 * CITIES];
    int ids[2 * CITIES];
    unsigned n = 0, pages = 0;
    for (int id = 0; id < 2 * CITIES; id++)
        before[id] = cities[id].there;
    write_where(q, where, sizeof where);
    snprintf(args, sizeof args, "{\"where\":\"%s\",\"order_by\":[%s],\"limit\":%d}", where,
             q->order, limit);
    do {
        search(b, args, "{\"-\":[\"isError\"]}");
        take_ids(b, ids, &n);
        assert_true(++pages < 2 * CITIES);
        if (!take_cursor(b, cursor, sizeof cursor))
            break;
        snprintf(args, sizeof args,
                 "{\"where\":\"%s\",\"order_by\":[%s],\"limit\":%d,\"cursor\":\"%s\"}", where,
                 q->order, limit, cursor);
        int id = roll(2 * CITIES);
        if (writes && !cities[id].there)
            put_city(b, id);
    } while (true);
    judge(q, before, ids, n);
}

static void run_random(struct bench *b)
{
    memset(cities, 0, sizeof cities);
    for (int i = 0; i < CITIES; i++)
        put_city(b, 2 * i);
    for (int i = 0; i < 60; i++) {
        int low = roll(2 * CITIES);
        struct question q = {.low = roll(2) ? 0 : low,
                             .high = roll(2) ? 2 * CITIES : low + roll(CITIES),
                             .least = roll(12) - 4,
                             .name = roll(40) - 10,
                             .order = orders[roll(N(orders))]};
        ask_all_pages(b, &q, 7 + roll(90), i % 2);
    }
}

static void random_searches_agree_with_a_naive_one_in_memory(void **state)
{
    (void)state;
    bench_open(&bench, &bench_config);
    bench_table(&bench, "geo", "city", CITY_DEFINITION);
    bench_connect(&bench, "2025-06-18");
    run_random(&bench);
    bench_close(&bench);
}

static void random_searches_agree_with_a_naive_one_in_lmdb(void **state)
{
    char dir[] = "/tmp/tenon-search-XXXXXX", command[64];
    struct store_config config = {.dir = dir, .mode = STORE_NOSYNC, .volatile_sys = true};
    struct arena arena;
    struct str why;
    (void)state;
    assert_non_null(mkdtemp(dir));
    arena_init(&arena, 0);
    bench_open(&bench, &bench_config);
    core_free(bench.core);
    store_close(bench.store);
    assert_int_equal(store_open_lmdb(&config, &arena, &bench.store, &why), 0);
    store_attach(bench.store, &bench.loop);
    assert_int_equal(core_new(&bench.config, bench.store, &bench.loop, &bench.core), 0);
    bench_table(&bench, "geo", "city", CITY_DEFINITION);
    bench_connect(&bench, "2025-06-18");
    run_random(&bench);
    bench_close(&bench);
    arena_done(&arena);
    snprintf(command, sizeof command, "rm -r %s", dir);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CITY_TEST(filters_orders_and_selections),
        CITY_TEST(filter_faults_name_column_and_what_was_expected),
        CITY_TEST(orders_by_what_has_none_are_refused),
        CITY_TEST(a_filter_bomb_is_refused),
        CITY_TEST(a_cursor_of_another_table_user_or_query_is_refused),
        cmocka_unit_test(a_scan_past_its_rows_names_the_attribute_to_index),
        CITY_TEST(values_too_long_to_order_by_are_told),
        cmocka_unit_test(random_searches_agree_with_a_naive_one_in_memory),
        cmocka_unit_test(random_searches_agree_with_a_naive_one_in_lmdb),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
