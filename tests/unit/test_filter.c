/* tests/unit/test_filter.c - the filter language by tables: what it finds, what it refuses and
 * where, its limits, its canonical text, and what it says of an attribute. */
#include "filter_rig.h"

#include "filter_cases.h"

static struct filter_columns columns;
static const struct tape_node *rows[N(filter_rows)];

static int start(void **state)
{
    rig_start(state);
    columns = rig_columns(filter_schema);
    for (size_t i = 0; i < N(filter_rows); i++)
        rows[i] = rig_tape(filter_rows[i]);
    return 0;
}

static const char *found_by(const struct filter *filter)
{
    static char found[64];
    size_t n = 0;
    found[0] = '\0';
    for (size_t i = 0; i < N(rows); i++)
        if (filter_test(filter, rows[i]))
            n += (size_t)sprintf(found + n, "%s%zu", n ? " " : "", i + 1);
    return found;
}

static void each_filter_finds_its_rows(void **state)
{
    (void)state;
    size_t wrong = 0;
    for (size_t i = 0; i < N(filter_cases); i++) {
        const char *found = found_by(rig_filter(&columns, filter_cases[i].text));
        if (strcmp(found, filter_cases[i].rows) != 0) {
            print_error("%s: found %s, not %s\n", filter_cases[i].text, found,
                        filter_cases[i].rows);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
    assert_true(N(filter_cases) >= 120);
}

static void each_fault_names_its_column(void **state)
{
    (void)state;
    size_t wrong = 0;
    for (size_t i = 0; i < N(filter_faults); i++) {
        const struct filter *filter = NULL;
        struct filter_fault fault = {0};
        struct buf said = {0};
        int err =
            filter_compile(str_of(filter_faults[i].text), &columns, &rig_arena, &filter, &fault);
        filter_fault_write(&fault, &said);
        buf_add_char(&said, '\0');
        if (err != ERR_SYNTAX || filter || fault.column != filter_faults[i].column ||
            !strstr(said.p, filter_faults[i].said)) {
            print_error("%s: %d, %s; not column %u: %s\n", filter_faults[i].text, err, said.p,
                        filter_faults[i].column, filter_faults[i].said);
            wrong++;
        }
        buf_done(&said);
    }
    assert_int_equal(wrong, 0);
}

/* ---- Limits --------------------------------------------------------------------------------- */

static struct filter_fault refused_by_limit(struct buf *text)
{
    const struct filter *filter = NULL;
    struct filter_fault fault = {0};
    assert_false(text->failed);
    assert_int_equal(filter_compile(buf_str(text), &columns, &rig_arena, &filter, &fault),
                     ERR_LIMIT);
    assert_null(filter);
    buf_done(text);
    return fault;
}

static void taken(struct buf *text)
{
    const struct filter *filter = NULL;
    struct filter_fault fault = {0};
    assert_int_equal(filter_compile(buf_str(text), &columns, &rig_arena, &filter, &fault), 0);
    assert_non_null(filter);
    buf_done(text);
}

static void repeat(struct buf *text, const char *what, size_t n)
{
    while (n--)
        buf_add_str(text, str_of(what));
}

static void the_text_has_a_limit(void **state)
{
    (void)state;
    struct buf text = {0}, longer = {0};
    repeat(&text, " ", FILTER_BYTES_MAX - 6);
    buf_add_lit(&text, "id = 1");
    taken(&text);
    repeat(&longer, " ", FILTER_BYTES_MAX - 5);
    buf_add_lit(&longer, "id = 1");
    assert_string_equal(refused_by_limit(&longer).expected, "a filter of at most 8192 bytes");
}

static void depth_has_a_limit(void **state)
{
    (void)state;
    static const char *const openings[] = {"(", "not ", "id = 1 or id = 2 and not (", "not("};
    static const uint32_t deep[] = {1, 1, 2, 2};
    for (size_t i = 0; i < N(openings); i++) {
        struct buf text = {0}, deeper = {0};
        uint32_t n = FILTER_DEPTH_MAX / deep[i];
        bool closes = strchr(openings[i], '(') != NULL;
        repeat(&text, openings[i], n);
        buf_add_lit(&text, "id=1");
        repeat(&text, closes ? ")" : "", n);
        taken(&text);
        repeat(&deeper, openings[i], n + 1);
        struct filter_fault fault = refused_by_limit(&deeper);
        assert_string_equal(fault.expected, "at most 64 nested parentheses and nots");
        if (deep[i] == 1)
            assert_int_equal(fault.column, strlen(openings[i]) * FILTER_DEPTH_MAX + 1);
    }
}

static void a_bomb_of_openings_is_refused(void **state)
{
    (void)state;
    struct buf text = {0}, nots = {0};
    repeat(&text, "(", FILTER_BYTES_MAX);
    assert_int_equal(refused_by_limit(&text).column, FILTER_DEPTH_MAX + 1);
    repeat(&nots, "not ", FILTER_BYTES_MAX / 4);
    assert_int_equal(refused_by_limit(&nots).column, FILTER_DEPTH_MAX * 4 + 1);
}

static void nodes_have_a_limit(void **state)
{
    (void)state;
    struct buf text = {0}, more = {0};
    repeat(&text, "id<1 or ", 499);
    buf_add_lit(&text, "id<1"); /* 500 leaves, 499 ors */
    taken(&text);
    repeat(&more, "id<1 or ", 500);
    buf_add_lit(&more, "id<1");
    assert_string_equal(refused_by_limit(&more).expected, "at most 1000 comparisons, ands and ors");
}

static void a_list_has_a_limit(void **state)
{
    (void)state;
    struct buf text = {0}, more = {0};
    buf_add_lit(&text, "id in (0");
    repeat(&text, ",1", FILTER_ITEMS_MAX - 1);
    buf_add_lit(&text, ")");
    taken(&text);
    buf_add_lit(&more, "id in (0");
    repeat(&more, ",1", FILTER_ITEMS_MAX);
    struct filter_fault fault = refused_by_limit(&more);
    assert_string_equal(fault.expected, "at most 1000 values in a list");
    assert_int_equal(fault.column, 8 + 2 * FILTER_ITEMS_MAX);
}

static void a_path_has_a_limit(void **state)
{
    (void)state;
    struct buf text = {0}, more = {0};
    buf_add_lit(&text, "extra");
    repeat(&text, ".x", FILTER_PATH_MAX - 1);
    buf_add_lit(&text, " is null");
    taken(&text);
    buf_add_lit(&more, "extra");
    repeat(&more, ".x", FILTER_PATH_MAX);
    buf_add_lit(&more, " is null");
    assert_string_equal(refused_by_limit(&more).expected, "at most 16 names in a path");
}

static void holes_between_percents_have_a_limit(void **state)
{
    (void)state;
    struct buf text = {0}, more = {0};
    buf_add_lit(&text, "name like '%_");
    repeat(&text, "ö", FILTER_LIKE_MAX - 1);
    buf_add_lit(&text, "%'");
    taken(&text);
    buf_add_lit(&more, "name like '%_");
    repeat(&more, "ö", FILTER_LIKE_MAX);
    buf_add_lit(&more, "%'");
    assert_int_equal(refused_by_limit(&more).column, 11);
}

/* Exponential or quadratic matching would take minutes. */
static void like_does_not_explode(void **state)
{
    (void)state;
    struct buf pattern = {0}, json = {0};
    buf_add_lit(&pattern, "name like '");
    repeat(&pattern, "%a_a", 1500);
    buf_add_lit(&pattern, "%b'");
    buf_add_char(&pattern, '\0');
    buf_add_lit(&json, "{\"name\":\"");
    repeat(&json, "a", 1000000);
    buf_add_lit(&json, "\"}");
    buf_add_char(&json, '\0');
    assert_false(filter_test(rig_filter(&columns, pattern.p), rig_tape(json.p)));
    buf_done(&pattern);
    buf_add_lit(&pattern, "name like '%_");
    repeat(&pattern, "a", 62);
    buf_add_lit(&pattern, "b%'");
    buf_add_char(&pattern, '\0');
    assert_false(filter_test(rig_filter(&columns, pattern.p), rig_tape(json.p)));
    buf_done(&pattern);
    buf_done(&json);
}

/* A chain of equalities becomes one list; neither memory nor time may grow with its square. */
static void a_long_chain_of_equalities_stays_small(void **state)
{
    (void)state;
    struct buf text = {0};
    struct arena small;
    const struct filter *filter;
    buf_add_lit(&text, "id in (0");
    for (int i = 1; i < 800; i++)
        buf_printf(&text, ",%d", i);
    buf_add_lit(&text, ")");
    for (int i = 0; i < 480; i++)
        buf_printf(&text, "or id=%d ", i % 10);
    assert_true(text.n < FILTER_BYTES_MAX);
    arena_init(&small, 1u << 20);
    assert_int_equal(filter_compile(buf_str(&text), &columns, &small, &filter, NULL), 0);
    assert_int_equal(filter_root(filter)->op, FILTER_IN);
    assert_int_equal(filter_root(filter)->n_values, 800);
    assert_string_equal(found_by(filter), "1 2 3 4 5 6 7 8");
    arena_done(&small);
    buf_done(&text);
}

/* The n-th allocation fails, for every n: by a limit of the arena that grows. */
static void memory_that_runs_out_is_said(void **state)
{
    (void)state;
    static const char text[] =
        "(name like 'B%' or id in (1,2,3)) and not (founded > '2024-01-31' and extra.x = 5) "
        "and founded in ('2024-01-31') and \"odd name\" = 1.5 and name like 'B%'";
    int err = ERR_NO_MEMORY;
    uint32_t failures = 0;
    for (size_t limit = 1; err != 0; limit += 64) {
        struct arena small;
        const struct filter *filter = NULL;
        arena_init(&small, limit);
        err = filter_compile(STR(text), &columns, &small, &filter, NULL);
        assert_true(err == 0 || err == ERR_NO_MEMORY);
        assert_true((err == 0) == (filter != NULL));
        failures += err != 0;
        arena_done(&small);
    }
    assert_true(failures > 0);
}

/* ---- Columns -------------------------------------------------------------------------------- */

static void columns_come_from_the_schema(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        enum filter_type type;
        bool open;
    } expected[] = {
        {"id", FILTER_INTEGER, false},
        {"name", FILTER_STRING, false},
        {"population", FILTER_INTEGER, false},
        {"area", FILTER_NUMBER, false},
        {"capital", FILTER_BOOLEAN, false},
        {"founded", FILTER_DATE, false},
        {"seen", FILTER_DATE_TIME, false},
        {"tags", FILTER_ARRAY, false},
        {"address", FILTER_OBJECT, false},
        {"address.city", FILTER_STRING, false},
        {"address.geo", FILTER_OBJECT, false},
        {"address.geo.lat", FILTER_NUMBER, false},
        {"address.\"in\"", FILTER_INTEGER, false},
        {"extra", FILTER_OBJECT, true},
        {"anything", FILTER_ANY, true},
        {"date", FILTER_STRING, false},
        {"\"odd name\"", FILTER_INTEGER, false},
        {"\"or\"", FILTER_INTEGER, false},
        {"\"q\"\"q\"", FILTER_INTEGER, false},
        {"größe", FILTER_INTEGER, false},
    };
    assert_int_equal(columns.n, N(expected));
    for (uint32_t i = 0; i < columns.n; i++) {
        assert_true(str_eq(columns.v[i].path, str_of(expected[i].path)));
        assert_int_equal(columns.v[i].type, expected[i].type);
        assert_int_equal(columns.v[i].open, expected[i].open);
        assert_ptr_equal(filter_find_column(&columns, str_of(expected[i].path)), &columns.v[i]);
    }
    assert_null(filter_find_column(&columns, STR("nobody")));
}

static void odd_schemas_give_columns_without_a_type(void **state)
{
    (void)state;
    struct filter_columns c = rig_columns(
        "{\"properties\":{\"a\":true,\"b\":{\"type\":[\"string\",\"integer\"]},\"c\":{\"type\":5},"
        "\"d\":{\"type\":[]},\"e\":{\"type\":\"object\",\"properties\":7},\"f\":{\"$ref\":\"#\"},"
        "\"g\":{\"type\":[\"null\",\"string\"],\"format\":\"date\"},\"h\":{\"type\":\"null\"}}}");
    assert_int_equal(c.n, 8);
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(c.v[i].type, i == 4 ? FILTER_OBJECT : i == 6 ? FILTER_DATE : FILTER_ANY);
    assert_int_equal(rig_columns("{}").n, 0);
    assert_int_equal(rig_columns("true").n, 0);
    assert_int_equal(rig_columns("{\"properties\":[]}").n, 0);
}

static void too_many_columns_are_refused(void **state)
{
    (void)state;
    struct buf schema = {0};
    struct filter_columns c = {0};
    buf_add_lit(&schema, "{\"properties\":{\"a\":{}");
    for (int i = 0; i < FILTER_COLUMNS_MAX; i++)
        buf_printf(&schema, ",\"a%d\":{}", i);
    buf_add_lit(&schema, "}}");
    buf_add_char(&schema, '\0');
    assert_int_equal(filter_columns_from_schema(rig_tape(schema.p), &rig_arena, &c), ERR_LIMIT);
    assert_null(c.v);
    buf_done(&schema);
}

/* ---- The object shorthand ------------------------------------------------------------------- */

static const struct {
    const char *object, *rows;
} object_cases[] = {
    {"{}", "1 2 3 4 5 6 7 8"},
    {"{\"id\":1}", "1"},
    {"{\"id\":1.0,\"name\":\"Berlin\"}", "1"},
    {"{\"id\":1,\"name\":\"Bonn\"}", ""},
    {"{\"population\":null}", "3 4"},
    {"{\"tags\":[]}", "2"},
    {"{\"tags\":[\"a\",\"b\"]}", "8"},
    {"{\"address\":{\"city\":\"O'Hara\"}}", "2"},
    {"{\"address.city\":\"Mitte\"}", "1"},
    {"{\"odd name\":8}", "2"},
    {"{\"or\":2}", "2"},
    {"{\"anything\":[1,2.0]}", "8"},
    {"{\"anything\":\"1\"}", "2"},
    {"{\"capital\":true}", "1 5"},
    {"{\"seen\":\"2024-01-31T12:00:00+02:00\"}", "1"},
    {"{\"founded\":\"1237-10-28\"}", "1"},
    {"{\"größe\":5}", "2"},
};

static void an_object_asks_for_equality(void **state)
{
    (void)state;
    for (size_t i = 0; i < N(object_cases); i++) {
        const struct filter *filter;
        struct filter_fault fault;
        assert_int_equal(filter_from_object(rig_tape(object_cases[i].object), &columns, &rig_arena,
                                            &filter, &fault),
                         0);
        assert_string_equal(found_by(filter), object_cases[i].rows);
    }
}

static void an_object_of_wrong_conditions_is_refused(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"{\"nam\":\"x\"}", "found nam, expected an attribute such as id, name, "},
        {"{\"id\":\"x\"}", "found id, expected a number, as the type of id is integer"},
        {"{\"id\":[1]}", "found id, expected a number, as the type of id is integer"},
        {"{\"tags\":\"a\"}", "found tags, expected is null or is not null"},
        {"{\"founded\":\"soon\"}", "found founded, expected a date"},
    };
    for (size_t i = 0; i < N(cases); i++) {
        const struct filter *filter = NULL;
        struct filter_fault fault;
        struct buf said = {0};
        assert_int_equal(
            filter_from_object(rig_tape(cases[i][0]), &columns, &rig_arena, &filter, &fault),
            ERR_SYNTAX);
        filter_fault_write(&fault, &said);
        buf_add_char(&said, '\0');
        if (strncmp(said.p, cases[i][1], strlen(cases[i][1])) != 0)
            fail_msg("%s: %s", cases[i][0], said.p);
        assert_int_equal(fault.column, 0);
        buf_done(&said);
    }
}

/* ---- Canonical text ------------------------------------------------------------------------- */

static const char *const canonical_cases[][2] = {
    {"id=1", "id = 1"},
    {"  ( id  =  1.0 )", "id = 1"},
    {"not id between 1 and 2", "id < 1 or id > 2"},
    {"not (id = 1 and (name = 'x' or id IS NULL))", "id != 1 or name != 'x' and id is not null"},
    {"(id < 1 or id > 5) and name = 'it''s'", "(id < 1 or id > 5) and name = 'it''s'"},
    {"id in (3, 1, 3.0)", "id in (1, 3)"},
    {"id in (3)", "id = 3"},
    {"id not in (3)", "id != 3"},
    {"id = 3 or id = 1 or id in (2, 3)", "id in (1, 2, 3)"},
    {"not (id != 3 and id != 1)", "id in (1, 3)"},
    {"id = 1 and (id = 2 and id = 3)", "id = 1 and id = 2 and id = 3"},
    {"\"id\" = -0.0 and \"odd name\" <> 1e2", "id = 0 and \"odd name\" != 100"},
    {"address.in=1 and \"or\"=2", "address.\"in\" = 1 and \"or\" = 2"},
    {"seen > '2024-01-31T12:00:00.250+02:00'", "seen > datetime '2024-01-31T10:00:00.250000000Z'"},
    {"founded = date '2024-01-31'", "founded = datetime '2024-01-31T00:00:00Z'"},
    {"name LIKE 'a\\%%'", "name like 'a\\%%'"},
    {"capital in (true,false,true)", "capital in (false, true)"},
    {"area > 0.1", "area > 0.1"},
};

static void spellings_of_a_filter_have_one_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < N(canonical_cases); i++)
        if (canonical_cases[i][1])
            assert_string_equal(rig_canonical(rig_filter(&columns, canonical_cases[i][0])),
                                canonical_cases[i][1]);
}

static void the_canonical_text_compiles_to_itself(void **state)
{
    (void)state;
    for (size_t i = 0; i < N(filter_cases); i++) {
        const char *text = rig_canonical(rig_filter(&columns, filter_cases[i].text));
        const struct filter *again = rig_filter(&columns, text);
        assert_string_equal(rig_canonical(again), text);
        assert_string_equal(found_by(again), filter_cases[i].rows);
    }
}

/* ---- Bounds --------------------------------------------------------------------------------- */

static void add_node(struct buf *out, const struct tape_node *node)
{
    if (node->kind == TAPE_STR)
        buf_printf(out, "'" STR_FMT "'", STR_ARG(tape_str(node)));
    else
        tape_write(node, out);
}

/* "empty", "null", or "!null" with "in a, b", "> a", "< b"; "~" when it is not all that is said */
static void describe(const struct filter_range *r, struct buf *out)
{
    if (r->empty)
        buf_add_lit(out, "empty");
    else if (r->is_null)
        buf_add_lit(out, "null");
    else if (r->n_values)
        buf_add_lit(out, "in");
    for (uint32_t i = 0; !r->empty && i < r->n_values; i++) {
        buf_add_char(out, ' ');
        add_node(out, &r->values[i]);
    }
    if (!r->empty && r->has_lower) {
        buf_add_str(out, r->lower_strict ? STR("> ") : STR(">= "));
        add_node(out, &r->lower);
    }
    if (!r->empty && r->has_upper) {
        buf_add_str(out, r->has_lower ? STR(" ") : STR(""));
        buf_add_str(out, r->upper_strict ? STR("< ") : STR("<= "));
        add_node(out, &r->upper);
    }
    if (!out->n)
        buf_add_lit(out, "!null");
    if (!r->exact)
        buf_add_lit(out, " ~");
    buf_add_char(out, '\0');
}

static const struct {
    const char *filter, *attribute, *range; /* NULL: says nothing */
} bound_cases[] = {
    {"id = 1", "id", "in 1"},
    {"id = 1", "name", NULL},
    {"id = 1 or name = 'x'", "id", NULL},
    {"(id = 1 or id = 2)", "id", "in 1 2"},
    {"id in (3, 1) and id > 1", "id", "in 3"},
    {"id in (3, 1) and id in (1, 2)", "id", "in 1"},
    {"id in (3, 1) and id in (2, 4)", "id", "empty"},
    {"id in (3, 1) and id > 3", "id", "empty"},
    {"id = 1 and id = 2", "id", "empty"},
    {"id > 1", "id", "> 1"},
    {"id > 1 and id >= 1", "id", "> 1"},
    {"id >= 1 and id > 1 and id >= 0.5", "id", "> 1"},
    {"id < 5 and id > 1 and id <= 5", "id", "> 1 < 5"},
    {"id > 5 and id < 5", "id", "empty"},
    {"id >= 5 and id <= 5", "id", ">= 5 <= 5"},
    {"id > 5 and id <= 5", "id", "empty"},
    {"id between 2 and 4", "id", ">= 2 <= 4"},
    {"not id between 2 and 4", "id", NULL},
    {"not (id < 2 or id > 4)", "id", ">= 2 <= 4"},
    {"id != 1", "id", "!null ~"},
    {"id > 0 and id != 1", "id", "> 0 ~"},
    {"id is null", "id", "null"},
    {"id is not null", "id", "!null"},
    {"id is null and id = 1", "id", "empty"},
    {"id > 1 and (id < 5 or name = 'x')", "id", "> 1"},
    {"name like 'Bo%'", "name", ">= 'Bo' < 'Bp'"},
    {"name like 'Bo%n'", "name", ">= 'Bo' < 'Bp' ~"},
    {"name like 'Bo_'", "name", ">= 'Bo' < 'Bp' ~"},
    {"name like 'Bonn'", "name", "in 'Bonn'"},
    {"name like 'a\\%%'", "name", ">= 'a%' < 'a&'"},
    {"name like '%x'", "name", ">= '' ~"},
    {"name like 'ö%'", "name", ">= 'ö' < '÷'"},
    {"name like '\x7f%'", "name", ">= '\x7f' < '\xc2\x80'"},
    {"name like '\xed\x9f\xbf%'", "name", ">= '\xed\x9f\xbf' < '\xee\x80\x80'"},
    {"name like 'a\xf4\x8f\xbf\xbf%'", "name", ">= 'a\xf4\x8f\xbf\xbf' < 'b'"},
    {"name like '\xf4\x8f\xbf\xbf%'", "name", ">= '\xf4\x8f\xbf\xbf'"},
    {"name not like 'B%'", "name", "!null ~"},
    {"founded = date '2024-01-31'", "founded", "in '2024-01-31' ~"},
    {"founded = datetime '2024-01-31T00:00:01Z'", "founded", "empty ~"},
    {"founded > datetime '2024-01-31T00:00:01Z'", "founded", "> '2024-01-31' ~"},
    {"founded >= datetime '2024-01-31T00:00:01Z'", "founded", "> '2024-01-31' ~"},
    {"founded >= date '2024-01-31'", "founded", ">= '2024-01-31' ~"},
    {"founded < date '2024-01-31'", "founded", "< '2024-01-31' ~"},
    {"founded < datetime '2024-01-31T00:00:01Z'", "founded", "<= '2024-01-31' ~"},
    {"seen = datetime '2024-01-31T10:00:00Z'", "seen", ">= '2024-01-30' < '2024-02-02' ~"},
    {"seen in ('2024-01-31', '2024-03-01')", "seen", ">= '2024-01-30' < '2024-03-03' ~"},
    {"seen > date '2024-03-01'", "seen", ">= '2024-02-29' ~"},
    {"seen < date '9999-12-31'", "seen", "!null ~"},
    {"seen > date '0000-01-01'", "seen", "!null ~"},
    {"capital = true", "capital", "in true"},
    {"address.city = 'x'", "address.city", "in 'x'"},
    {"extra.x = 5 and extra.x > 'a'", "extra.x", "empty"},
    {"extra.x > 5 and extra.x = 'a'", "extra.x", "empty"},
    {"extra.x > 5 and extra.x > 7", "extra.x", "> 7"},
    {"anything > date '2024-03-01'", "anything", "!null ~"},
};

static void a_filter_bounds_its_attributes(void **state)
{
    (void)state;
    size_t wrong = 0;
    for (size_t i = 0; i < N(bound_cases); i++) {
        struct filter_range range;
        struct buf text = {0};
        const char *wanted = bound_cases[i].range;
        bool said = filter_bounds(rig_filter(&columns, bound_cases[i].filter),
                                  str_of(bound_cases[i].attribute), &range);
        if (said)
            describe(&range, &text);
        if (said != !!wanted || (said && strcmp(text.p, wanted) != 0)) {
            print_error("%s: %s\n", bound_cases[i].filter, said ? text.p : "nothing");
            wrong++;
        }
        buf_done(&text);
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_filter_finds_its_rows),
        cmocka_unit_test(each_fault_names_its_column),
        cmocka_unit_test(the_text_has_a_limit),
        cmocka_unit_test(depth_has_a_limit),
        cmocka_unit_test(a_bomb_of_openings_is_refused),
        cmocka_unit_test(nodes_have_a_limit),
        cmocka_unit_test(a_list_has_a_limit),
        cmocka_unit_test(a_path_has_a_limit),
        cmocka_unit_test(holes_between_percents_have_a_limit),
        cmocka_unit_test(like_does_not_explode),
        cmocka_unit_test(a_long_chain_of_equalities_stays_small),
        cmocka_unit_test(memory_that_runs_out_is_said),
        cmocka_unit_test(columns_come_from_the_schema),
        cmocka_unit_test(odd_schemas_give_columns_without_a_type),
        cmocka_unit_test(too_many_columns_are_refused),
        cmocka_unit_test(an_object_asks_for_equality),
        cmocka_unit_test(an_object_of_wrong_conditions_is_refused),
        cmocka_unit_test(spellings_of_a_filter_have_one_text),
        cmocka_unit_test(the_canonical_text_compiles_to_itself),
        cmocka_unit_test(a_filter_bounds_its_attributes),
    };
    return cmocka_run_group_tests(tests, start, rig_stop);
}
