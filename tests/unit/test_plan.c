/* tests/unit/test_plan.c - which way a search reads its table: by a table of queries, and by
 * random queries that are run by the plan on rows in memory and compared with the naive answer. */
#include "plan_rig.h"

#include "base/limits.h"

static const char schema[] =
    "{\"properties\":{\"id\":{\"type\":\"integer\"},\"region\":{\"type\":\"string\"},"
    "\"population\":{\"type\":\"integer\"},\"area\":{\"type\":\"number\"},"
    "\"code\":{\"type\":\"string\"},\"founded\":{\"type\":\"string\",\"format\":\"date\"},"
    "\"seen\":{\"type\":\"string\",\"format\":\"date-time\"},"
    "\"address\":{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\"}}},"
    "\"name\":{\"type\":\"string\"},\"loose\":{}}}";

#define PART(name, type, down)     \
    {                              \
        STR_INIT(name), type, down \
    }
static const struct store_index_part by_region[] = {PART("region", KEY_STRING, false)};
static const struct store_index_part by_region_population[] = {
    PART("region", KEY_STRING, false), PART("population", KEY_INTEGER, true)};
static const struct store_index_part by_population[] = {PART("population", KEY_INTEGER, false)};
static const struct store_index_part by_code[] = {PART("code", KEY_STRING, false)};
static const struct store_index_part by_founded[] = {PART("founded", KEY_STRING, false)};
static const struct store_index_part by_seen[] = {PART("seen", KEY_STRING, true)};
static const struct store_index_part by_city[] = {PART("address.city", KEY_STRING, false),
                                                  PART("region", KEY_STRING, false)};
static const struct store_index_part by_name[] = {PART("name", KEY_STRING, false)};
static const struct store_index_part by_loose[] = {PART("loose", KEY_STRING, false)};

#define INDEX(id, parts, unique, ready)                      \
    {                                                        \
        id, STR_INIT(#parts), unique, ready, parts, N(parts) \
    }
static const struct store_index indexes[] = {
    INDEX(1, by_region, false, true),     INDEX(2, by_region_population, false, true),
    INDEX(3, by_population, false, true), INDEX(4, by_code, true, true),
    INDEX(5, by_founded, false, true),    INDEX(6, by_seen, false, true),
    INDEX(7, by_city, false, true),       INDEX(8, by_name, false, false),
    INDEX(9, by_loose, false, true),
};

static struct filter_columns columns;

static int start(void **state)
{
    rig_start(state);
    columns = rig_columns(schema);
    return 0;
}

/* "-a,b" as an order; the text must stay. */
static struct plan_query query_of(const char *filter, const char *order)
{
    struct plan_query q = {
        .key = PART("id", KEY_INTEGER, false), .indexes = indexes, .n_indexes = N(indexes)};
    struct str rest = str_of(order);
    struct plan_order *list = arena_array(&rig_arena, 8, sizeof *list);
    assert_non_null(list);
    while (rest.n) {
        struct str name = str_cut(&rest, ',');
        bool down = name.p[0] == '-';
        list[q.n_order++] = (struct plan_order){{name.p + down, name.n - down}, down};
    }
    q.order = list;
    q.filter = filter ? rig_filter(&columns, filter) : NULL;
    return q;
}

static const struct {
    const char *filter, *order, *plan;
} cases[] = {
    /* nothing to go by */
    {NULL, "", "scan; in the order id"},
    {NULL, "id", "scan; in the order id"},
    {NULL, "-id", "scan; backwards; in the order -id"},
    {"name = 'x'", "", "scan; each row tested; in the order id; an index on name would help"},
    {"name > 'x' and area = 5", "",
     "scan; each row tested; in the order id; an index on area would help"},
    {"id = 1 or region = 'x'", "", "scan; each row tested; in the order id"},
    {NULL, "area", "scan; then sorted by area, id; an index on area would help"},
    {NULL, "-area,id", "scan; then sorted by -area, id; an index on area would help"},
    {"region != 'x'", "", "scan; each row tested; in the order id"},
    {"region is not null", "", "scan; each row tested; in the order id"},
    /* the primary key */
    {"id = 5", "", "primary: id = 5; in the order id"},
    {"id = 5", "area,name", "primary: id = 5; then sorted by area, name, id"},
    {"id = 5 and region = 'x'", "", "primary: id = 5; each row tested; in the order id"},
    {"id in (7, 5)", "-id", "primary: id = 5, id = 7; backwards; in the order -id"},
    {"id between 5 and 7", "", "primary: id >= 5 and id <= 7; in the order id"},
    {"id > 5.5 and id < 7.5", "", "primary: id > 5 and id < 8; in the order id"},
    {"id > -5.5", "", "primary: id > -6; in the order id"},
    {"id < 1e300", "", "scan; each row tested; in the order id"},
    {"id > 5 and region = 'x'", "",
     "index by_region: region = \"x\"; each row tested; in the order id"},
    {"id > 5 and id < 9 and region = 'x'", "",
     "primary: id > 5 and id < 9; each row tested; in the order id"},
    {"id is null", "", "nothing"},
    /* unique */
    {"code = 'x'", "", "index by_code: code = \"x\"; in the order id"},
    {"code = 'x' and id > 5 and id < 9", "",
     "index by_code: code = \"x\"; each row tested; in the order id"},
    {"code = 'x' and id in (1, 2)", "",
     "index by_code: code = \"x\"; each row tested; in the order id"},
    {"code = 'x' and id = 1", "", "primary: id = 1; each row tested; in the order id"},
    {"code in ('b', 'a')", "", "index by_code: code = \"a\", code = \"b\"; in the order code, id"},
    {"code is null", "", "index by_code: code = null; in the order id"},
    /* prefixes */
    {"region = 'x'", "", "index by_region: region = \"x\"; in the order id"},
    {"region = 'x'", "-id", "index by_region: region = \"x\"; backwards; in the order -id"},
    {"region = 'x'", "population",
     "index by_region_population: region = \"x\"; backwards; in the order population, -id"},
    {"region = 'x'", "-population",
     "index by_region_population: region = \"x\"; in the order -population, id"},
    {"region = 'x'", "-population,-id",
     "index by_region: region = \"x\"; then sorted by -population, -id"},
    {"region = 'x'", "region,-population",
     "index by_region_population: region = \"x\"; in the order -population, id"},
    {"region = 'x' and population = 5", "",
     "index by_region_population: region = \"x\" and population = 5; in the order id"},
    {"region = 'x' and population > 5", "",
     "index by_region_population: region = \"x\" and population > 5; in the order -population, id"},
    {"region = 'x' and population in (1, 3)", "",
     "index by_region_population: region = \"x\" and population = 3, region = \"x\" and population "
     "= 1; in the order -population, id"},
    {"region in ('x', 'y')", "",
     "index by_region: region = \"x\", region = \"y\"; in the order region, id"},
    {"region in ('x', 'y')", "-region",
     "index by_region: region = \"x\", region = \"y\"; backwards; in the order -region, -id"},
    {"region = 'x' or region = 'y'", "region,-population",
     "index by_region_population: region = \"x\", region = \"y\"; in the order region, "
     "-population, id"},
    {"population is null and region = 'x'", "",
     "index by_region_population: region = \"x\" and population = null; in the order id"},
    {"address.city = 'x' and population > 5", "",
     "index by_city: address.city = \"x\"; each row tested; in the order region, id"},
    {"founded = '2024-01-31'", "",
     "index by_founded: founded = \"2024-01-31\"; each row tested; in the order id"},
    /* ranges */
    {"population > 5", "", "index by_population: population > 5; in the order population, id"},
    {"population > 5 and area < 7", "-population",
     "index by_population: population > 5; backwards; each row tested; in the order -population, "
     "-id"},
    {"population > 5", "area", "index by_population: population > 5; then sorted by area, id"},
    {"region > 'a' and population between 1 and 9", "",
     "index by_population: population >= 1 and population <= 9; each row tested; in the order "
     "population, id"},
    {"region like 'Eu%'", "",
     "index by_region: region >= \"Eu\" and region < \"Ev\"; in the order region, id"},
    {"region like 'E_%'", "",
     "index by_region: region >= \"E\" and region < \"F\"; each row tested; in the order region, "
     "id"},
    {"region like '%x'", "",
     "scan; each row tested; in the order id; an index on region would help"},
    {"seen > '2024-01-31T10:00:00Z'", "",
     "index by_seen: seen >= \"2024-01-30\"; each row tested; in the order -seen, id"},
    {"id > 5 and population > 5", "", "primary: id > 5; each row tested; in the order id"},
    /* order only */
    {NULL, "population", "index by_population; in the order population, id"},
    {NULL, "-population", "index by_population; backwards; in the order -population, -id"},
    {NULL, "region", "index by_region; in the order region, id"},
    {NULL, "region,-population",
     "index by_region_population; in the order region, -population, id"},
    {NULL, "-region,population",
     "index by_region_population; backwards; in the order -region, population, -id"},
    {NULL, "region,population",
     "scan; then sorted by region, population, id; an index on region would help"},
    {NULL, "population,id", "index by_population; in the order population, id"},
    {NULL, "population,-id",
     "scan; then sorted by population, -id; an index on population would help"},
    {NULL, "population,population,id,area", "index by_population; in the order population, id"},
    {"area > 5", "population",
     "index by_population; each row tested; in the order population, id; an index on area would "
     "help"},
    /* what cannot be used */
    {"name = 'x'", "name", "scan; each row tested; in the order id; an index on name would help"},
    {"loose > 5", "", "scan; each row tested; in the order id; an index on loose would help"},
    {"loose = 5", "", "scan; each row tested; in the order id; an index on loose would help"},
    {"loose > 'a'", "", "index by_loose: loose > \"a\"; in the order loose, id"},
    {"population = 1.5", "",
     "scan; each row tested; in the order id; an index on population would help"},
    {"id = 1.5", "", "nothing"},
    {"id in (1.5, 2.5)", "", "nothing"},
    {"id > 1e300", "", "nothing"},
    {"id < -1e300 or id = 1.5", "", "scan; each row tested; in the order id"},
    {"population > 5 and population < 5", "", "nothing"},
    {"region = 'x' and region = 'y'", "population", "nothing"},
    {"founded = datetime '2024-01-31T10:00:00Z'", "", "nothing"},
};

static void each_query_has_its_plan(void **state)
{
    (void)state;
    size_t wrong = 0;
    for (size_t i = 0; i < N(cases); i++) {
        struct plan_query q = query_of(cases[i].filter, cases[i].order);
        struct plan plan;
        struct buf text = {0};
        assert_int_equal(plan_make(&q, &rig_arena, &plan), 0);
        plan_write_text(&plan, &text);
        buf_add_char(&text, '\0');
        if (strcmp(text.p, cases[i].plan) != 0) {
            print_error("%s by %s:\n  %s\n", cases[i].filter ? cases[i].filter : "all",
                        cases[i].order, text.p);
            wrong++;
        }
        buf_done(&text);
    }
    assert_int_equal(wrong, 0);
}

static void a_plan_is_json_too(void **state)
{
    (void)state;
    struct plan_query q =
        query_of("region = 'x' and population > 5 and area = 1", "area,-population");
    struct plan plan;
    struct buf text = {0};
    assert_int_equal(plan_make(&q, &rig_arena, &plan), 0);
    plan_write_json(&plan, &text);
    buf_add_char(&text, '\0');
    assert_string_equal(text.p,
                        "{\"access\":\"index\",\"index\":\"by_region_population\",\"rangeCount\":1,"
                        "\"ranges\":[{\"equal\":{\"region\":\"x\"},\"attribute\":\"population\","
                        "\"above\":5}],\"unique\":false,\"descending\":false,\"test\":true,"
                        "\"ordered\":true,\"order\":[\"-population\",\"id\"]}");
    rig_tape(text.p);
    buf_done(&text);
}

static void a_long_list_is_shown_in_part(void **state)
{
    (void)state;
    struct plan_query q = query_of("id in (1,2,3,4,5,6,7)", "");
    struct plan plan;
    struct buf text = {0};
    assert_int_equal(plan_make(&q, &rig_arena, &plan), 0);
    assert_int_equal(plan.n_ranges, 7);
    plan_write_text(&plan, &text);
    buf_add_char(&text, '\0');
    assert_string_equal(text.p, "primary: id = 1, id = 2, id = 3, id = 4, id = 5, ... (7 ranges); "
                                "in the order id");
    buf_done(&text);
}

/* Text past what a key can hold must not cut rows off. */
static void bounds_too_long_for_a_key_are_widened(void **state)
{
    (void)state;
    struct buf text = {0};
    struct plan plan;
    buf_add_lit(&text, "region > '");
    for (int i = 0; i < KEY_BYTES_MAX; i++)
        buf_add_lit(&text, "ö");
    buf_add_lit(&text, "'");
    buf_add_char(&text, '\0');
    struct plan_query q = query_of(text.p, "");
    assert_int_equal(plan_make(&q, &rig_arena, &plan), 0);
    assert_int_equal(plan.access, PLAN_INDEX);
    assert_true(plan.test);
    assert_true(plan.ranges->has_lower && !plan.ranges->lower_strict);
    assert_int_equal(plan.ranges->lower.n, KEY_BYTES_MAX);
    text.p[7] = '<';
    q = query_of(text.p, "");
    assert_int_equal(plan_make(&q, &rig_arena, &plan), 0);
    assert_int_equal(plan.access, PLAN_SCAN);
    text.p[7] = '=';
    q = query_of(text.p, "");
    assert_int_equal(plan_make(&q, &rig_arena, &plan), 0);
    assert_int_equal(plan.access, PLAN_SCAN);
    buf_done(&text);
}

static void memory_that_runs_out_is_said(void **state)
{
    (void)state;
    struct plan_query q = query_of("region = 'x' and population in (1, 3)", "area");
    int err = ERR_NO_MEMORY;
    uint32_t failures = 0;
    for (size_t limit = 1; err != 0; limit += 64, failures++) {
        struct arena small;
        struct plan plan = {0};
        arena_init(&small, limit);
        err = plan_make(&q, &small, &plan);
        assert_true(err == 0 || (err == ERR_NO_MEMORY && plan.n_order == 0));
        arena_done(&small);
    }
    assert_true(failures > 1);
}

/* ---- Random queries, run ---------------------------------------------------------------------*/

#define ROWS    60
#define QUERIES 20000

static uint64_t seed = 20240131;

static uint32_t random_below(uint32_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 33) % n;
}

#define PICK(array) ((array)[random_below(N(array))])

static const struct tape_node *rows[ROWS];

static void make_rows(void)
{
    static const char *const texts[] = {"\"\"", "\"a\"", "\"ab\"", "\"b\"", "\"ö\"", "null"};
    static const char *const numbers[] = {"-1", "0", "1", "2", "9007199254740993", "null"};
    static const char *const dates[] = {"\"2024-01-30\"", "\"2024-01-31\"", "\"2024-02-01\"",
                                        "null"};
    static const char *const moments[] = {"\"2024-01-31T00:00:00Z\"",
                                          "\"2024-02-01T10:00:00+23:00\"",
                                          "\"2024-01-30T10:00:00-23:00\"", "null"};
    for (int i = 0; i < ROWS; i++) {
        struct buf json = {0};
        buf_printf(&json, "{\"id\":%d,\"region\":%s,\"area\":%s,\"founded\":%s,\"seen\":%s", i - 20,
                   PICK(texts), PICK(numbers), PICK(dates), PICK(moments));
        if (random_below(5))
            buf_printf(&json, ",\"population\":%s", PICK(numbers));
        if (random_below(5))
            buf_printf(&json, ",\"address\":{\"city\":%s}", PICK(texts));
        if (random_below(3))
            buf_printf(&json, ",\"code\":\"c%d\"", i);
        buf_add_lit(&json, "}");
        buf_add_char(&json, '\0');
        rows[i] = rig_tape(json.p);
        buf_done(&json);
    }
}

static void add_condition(struct buf *out)
{
    static const char *const conditions[] = {
        "id = 3",
        "id > -5",
        "id < 2.5",
        "id in (1, 2, 3)",
        "region = 'a'",
        "region > 'a'",
        "region < 'b'",
        "region in ('a', 'b')",
        "region is null",
        "region != 'a'",
        "region like 'a%'",
        "region like '_b'",
        "region = ''",
        "population = 1",
        "population > 0",
        "population <= 1.5",
        "population >= 1",
        "population in (0, 1, 9)",
        "population is null",
        "population > -1.5",
        "population < 9007199254740993",
        "code = 'c5'",
        "code in ('c5', 'c7', 'c8')",
        "code is null",
        "code > 'c4'",
        "founded = '2024-01-31'",
        "founded > '2024-01-30'",
        "founded < datetime '2024-01-31T10:00:00Z'",
        "seen > '2024-01-31'",
        "seen = '2024-01-31T11:00:00Z'",
        "seen < '2024-02-01T01:00:00Z'",
        "address.city = 'a'",
        "address.city >= 'a'",
        "area > 0.5",
        "area = 1",
        "not (id > 5 or region = 'b')",
        "(id > 5 or region = 'b')",
        "(region = 'a' or region = 'ö')",
        "not population = 1",
        "region is not null",
    };
    buf_add_str(out, str_of(PICK(conditions)));
}

static void add_order(struct buf *out)
{
    static const char *const names[] = {"id",   "region",  "population", "area",
                                        "code", "founded", "seen",       "address.city"};
    for (uint32_t n = random_below(4); n; n--) {
        if (out->n)
            buf_add_char(out, ',');
        buf_add_str(out, random_below(2) ? STR("-") : STR(""));
        buf_add_str(out, str_of(PICK(names)));
    }
    buf_add_char(out, '\0');
}

static void check(const struct plan *plan, const struct plan_query *q, const char *said)
{
    const struct tape_node *entries[ROWS];
    memcpy(entries, rows, sizeof entries);
    rig_entries(plan->parts, plan->n_parts, q->key.attribute, entries, ROWS);
    rig_check_plan(plan, q->filter, entries, ROWS, said);
    rig_check_order(plan, q, rows, ROWS, said);
}

static void plans_find_the_rows_in_order(void **state)
{
    (void)state;
    uint32_t uses[4] = {0}, ordered = 0, untested = 0;
    make_rows();
    for (int i = 0; i < QUERIES; i++) {
        struct buf text = {0}, order = {0}, said = {0};
        uint32_t n = random_below(4);
        for (uint32_t k = 0; k < n; k++) {
            buf_add_str(&text, k ? STR(" and ") : STR(""));
            add_condition(&text);
        }
        buf_add_char(&text, '\0');
        add_order(&order);
        struct plan_query q = query_of(n ? text.p : NULL, order.p), next = q;
        struct plan plan, again;
        assert_int_equal(plan_make(&q, &rig_arena, &plan), 0);
        buf_printf(&said, "%s by %s: ", text.p, order.p);
        plan_write_text(&plan, &said);
        buf_add_char(&said, '\0');
        check(&plan, &q, said.p);
        next.order = plan.order; /* the next page */
        next.n_order = plan.n_order;
        next.n_indexes = random_below(N(indexes) + 1); /* some were dropped since */
        assert_int_equal(plan_make(&next, &rig_arena, &again), 0);
        assert_int_equal(again.n_order, plan.n_order);
        for (uint32_t k = 0; k < plan.n_order; k++)
            assert_true(str_eq(again.order[k].attribute, plan.order[k].attribute) &&
                        again.order[k].descending == plan.order[k].descending);
        check(&again, &next, said.p);
        uses[plan.access]++;
        ordered += plan.ordered;
        untested += !plan.test;
        buf_done(&text);
        buf_done(&order);
        buf_done(&said);
        if (i % 500 == 499) {
            arena_reset(&rig_arena);
            columns = rig_columns(schema);
            make_rows();
        }
    }
    print_message("# %u queries: %u nothing, %u scans, %u primary, %u by index; %u in order, %u "
                  "untested\n",
                  QUERIES, uses[0], uses[1], uses[2], uses[3], ordered, untested);
    assert_true(uses[0] > 100 && uses[2] > 1000 && uses[3] > 1000 && untested > 1000);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_query_has_its_plan),
        cmocka_unit_test(a_plan_is_json_too),
        cmocka_unit_test(a_long_list_is_shown_in_part),
        cmocka_unit_test(bounds_too_long_for_a_key_are_widened),
        cmocka_unit_test(memory_that_runs_out_is_said),
        cmocka_unit_test(plans_find_the_rows_in_order),
    };
    return cmocka_run_group_tests(tests, start, rig_stop);
}
