/* tests/unit/test_manage.c - tables and indexes made, described, changed and dropped, in memory and
 * in LMDB: what is refused says why, and leaves all as it was.
 */
#include "manage_rig.h"

/* ---- Tables --------------------------------------------------------------------------------- */

static void what_is_stored_names_no_indexes(void **state)
{
    struct rig *r = *state;
    create(r, CITY_INDEXED);
    struct store_table table = look(r);
    assert_int_equal(table.n_indexes, 2);
    assert_true(table.version > 0);
    assert_null(memmem(table.definition.p, table.definition.n, "index", 5));
    assert_description(r, CITY ",\"indexes\":[{\"name\":\"by_region_people\",\"on\":[\"region\","
                               "\"-people\"]},{\"name\":\"by_people\",\"on\":[\"people\"]}]}");
}

static void a_description_makes_the_same_table(void **state)
{
    struct rig *r = *state;
    struct buf first = {0}, second = {0};
    struct store_table table;
    create(r, CITY_INDEXED);
    table = look(r);
    assert_int_equal(manage_describe(&table, &first), 0);
    assert_int_equal(manage_create_table(&r->m, STR("geo"), STR("other"), buf_str(&first)), 0);
    assert_int_equal(manage_find_table(&r->m, STR("geo"), STR("other"), &table), 0);
    assert_int_equal(manage_describe(&table, &second), 0);
    assert_true(str_eq(buf_str(&first), buf_str(&second)));
    buf_done(&first);
    buf_done(&second);
}

static void tables_are_found_and_dropped(void **state)
{
    struct rig *r = *state;
    const struct store_table *tables;
    uint32_t n;
    create(r, CITY_PLAIN);
    assert_int_equal(manage_create_table(&r->m, STR("a"), STR("z"), STR(CITY_PLAIN)), 0);
    assert_int_equal(manage_create_table(&r->m, STR("geo"), STR("b"), STR(CITY_PLAIN)), 0);
    assert_int_equal(manage_find_tables(&r->m, &tables, &n), 0);
    assert_int_equal(n, 3);
    assert_true(str_eq(tables[0].name, STR("z")) && str_eq(tables[2].name, STR("city")));
    assert_int_equal(manage_drop_table(&r->m, STR("geo"), STR("city")), 0);
    assert_int_equal(manage_drop_table(&r->m, STR("geo"), STR("city")), ERR_ABSENT);
    assert_why(r, ERR_ABSENT, "there is no table geo.city");
    assert_int_equal(manage_find_tables(&r->m, &tables, &n), 0);
    assert_int_equal(n, 2);
}

static void a_table_is_made_once(void **state)
{
    struct rig *r = *state;
    create(r, CITY_PLAIN);
    uint64_t version = look(r).version;
    assert_int_equal(manage_create_table(&r->m, STR("geo"), STR("city"), STR(CITY_INDEXED)),
                     ERR_EXISTS);
    assert_why(r, ERR_EXISTS, "geo.city is there already");
    assert_int_equal(look(r).version, version);
}

static void bad_names_and_definitions_are_refused(void **state)
{
    static const struct {
        const char *database, *name, *definition;
        int err;
        const char *why;
    } cases[] = {
        {"", "city", CITY_PLAIN, ERR_PARAMS, "name of the database"},
        {"geo", "1x", CITY_PLAIN, ERR_PARAMS, "name of the table"},
        {"geo", "a.b", CITY_PLAIN, ERR_PARAMS, "name of the table"},
        {"geo", "../x", CITY_PLAIN, ERR_PARAMS, "name of the table"},
        {"geo", "city", "", ERR_PARSE, "the definition"},
        {"geo", "city", "[]", ERR_PARAMS, "the definition: type, expected object"},
        {"geo", "city", "{\"primaryKey\":1}", ERR_PARAMS, "expected"},
        {"geo", "city",
         "{\"primaryKey\":\"x\",\"schema\":{\"type\":\"object\",\"properties\":{"
         "\"a\":{\"type\":\"string\"}}}}",
         ERR_PARAMS, "/primaryKey: name"},
        {"geo", "city", CITY ",\"indexed\":[\"any\"]}", ERR_PARAMS, "/indexed"},
        {"geo", "city", CITY ",\"indexes\":[{\"on\":[\"nowhere\"]}]}", ERR_PARAMS,
         "/indexes/0/on/0"},
    };
    struct rig *r = *state;
    const struct store_table *tables;
    uint32_t n;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        r->m.why = STR_NONE;
        assert_int_equal(manage_create_table(&r->m, str_of(cases[i].database),
                                             str_of(cases[i].name), str_of(cases[i].definition)),
                         cases[i].err);
        assert_why(r, cases[i].err, cases[i].why);
    }
    assert_int_equal(manage_find_tables(&r->m, &tables, &n), 0);
    assert_int_equal(n, 0);
}

static void a_definition_has_a_size_and_a_depth(void **state)
{
    struct rig *r = *state;
    struct buf text = {0};
    buf_add_lit(&text, CITY ",\"description\":\"");
    while (text.n <= DEFINITION_BYTES_MAX)
        buf_add_lit(&text, "xxxxxxxxxxxxxxxx");
    buf_add_lit(&text, "\"}");
    assert_int_equal(manage_create_table(&r->m, STR("geo"), STR("city"), buf_str(&text)),
                     ERR_TOO_LARGE);
    assert_why(r, ERR_TOO_LARGE, "1048576 bytes");
    buf_clear(&text);
    for (int i = 0; i < 2000; i++)
        buf_add_lit(&text, "{\"schema\":");
    assert_true(manage_create_table(&r->m, STR("geo"), STR("city"), buf_str(&text)) < 0);
    buf_clear(&text);
    buf_add_lit(&text,
                "{\"primaryKey\":\"a\",\"schema\":{\"type\":\"object\",\"properties\":{\"a\":"
                "{\"type\":\"string\"},\"b\":");
    for (int i = 0; i < 100; i++)
        buf_add_lit(&text, "{\"not\":");
    buf_add_lit(&text, "{}");
    for (int i = 0; i < 103; i++)
        buf_add_char(&text, '}');
    assert_int_equal(manage_create_table(&r->m, STR("geo"), STR("city"), buf_str(&text)),
                     ERR_PARAMS);
    buf_done(&text);
}

/* ---- Indexes -------------------------------------------------------------------------------- */

static void an_index_is_made_and_dropped(void **state)
{
    struct rig *r = *state;
    struct str name;
    create(r, CITY_PLAIN);
    fill_cities(r);
    uint64_t version = look(r).version;
    assert_int_equal(create_index(r, "{\"on\":[\"region\",\"-people\"],\"unique\":true}", &name),
                     0);
    assert_true(str_eq(name, STR("by_region_people")));
    assert_int_equal(look(r).version, version);
    assert_true(look(r).indexes[0].ready && look(r).indexes[0].unique);
    assert_description(r, CITY ",\"indexes\":[{\"name\":\"by_region_people\",\"on\":[\"region\","
                               "\"-people\"],\"unique\":true}]}");
    assert_int_equal(create_index(r, "{\"name\":\"by_region_people\",\"on\":[\"people\"]}", &name),
                     ERR_EXISTS);
    assert_why(r, ERR_EXISTS, "an index by_region_people already");
    assert_int_equal(manage_drop_index(&r->m, STR("geo"), STR("city"), STR("by_region_people")), 0);
    assert_int_equal(look(r).n_indexes, 0);
    assert_int_equal(manage_drop_index(&r->m, STR("geo"), STR("city"), STR("by_region_people")),
                     ERR_ABSENT);
    assert_why(r, ERR_ABSENT, "geo.city has no index by_region_people");
}

static void an_index_that_rows_forbid_names_them(void **state)
{
    struct rig *r = *state;
    struct str name;
    create(r, CITY_PLAIN);
    fill_cities(r);
    assert_int_equal(create_index(r, "{\"on\":[\"region\"],\"unique\":true}", &name), ERR_EXISTS);
    assert_why(r, ERR_EXISTS,
               "the rows with code \"A\" and code \"C\" have the same values, so by_region cannot "
               "be unique");
    char row[1024] = "{\"code\":\"L\",\"region\":\"";
    memset(row + strlen(row), 'x', 600);
    strcat(row, "\"}");
    assert_int_equal(put(r, row), 0);
    assert_int_equal(create_index(r, "{\"on\":[\"region\"]}", &name), ERR_LIMIT);
    assert_why(r, ERR_LIMIT, "the row with code \"L\" are too long");
    assert_int_equal(put(r, "{\"code\":\"P\",\"people\":\"many\"}"),
                     0); /* no schema in the store */
    assert_int_equal(create_index(r, "{\"on\":[\"people\"]}", &name), ERR_PARAMS);
    assert_why(r, ERR_PARAMS, "the row with code \"P\"");
    assert_int_equal(look(r).n_indexes, 0);
}

static void bad_indexes_are_refused(void **state)
{
    static const struct {
        const char *definition;
        int err;
        const char *why;
    } cases[] = {
        {"", ERR_PARSE, "the index: "},
        {"{\"on\":[\"region\"]},{\"on\":[\"people\"]}", ERR_PARSE, "the index: "},
        {"[]", ERR_PARAMS, "type, expected object"},
        {"{}", ERR_PARAMS, "/on: required"},
        {"{\"on\":[]}", ERR_PARAMS, "/on"},
        {"{\"on\":[\"nowhere\"]}", ERR_PARAMS, "/on/0: name"},
        {"{\"on\":[\"any\"]}", ERR_PARAMS, "/on/0: type"},
        {"{\"on\":[\"region\",\"region\"]}", ERR_PARAMS, "/on"},
        {"{\"on\":[\"region\"],\"name\":\"a b\"}", ERR_PARAMS, "/name: name"},
        {"{\"on\":[\"region\"],\"color\":1}", ERR_PARAMS, "/color"},
    };
    struct rig *r = *state;
    struct str name;
    create(r, CITY_PLAIN);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(create_index(r, cases[i].definition, &name), cases[i].err);
        assert_why(r, cases[i].err, cases[i].why);
    }
    assert_int_equal(manage_create_index(&r->m, STR("geo"), STR("nowhere"), STR("{}"), &name),
                     ERR_ABSENT);
    for (int i = 0; i < TABLE_INDEXES_MAX; i++) {
        char text[64];
        snprintf(text, sizeof text, "{\"name\":\"i%d\",\"on\":[\"region\"]}", i);
        assert_int_equal(create_index(r, text, &name), 0);
    }
    assert_int_equal(create_index(r, "{\"on\":[\"people\"]}", &name), ERR_LIMIT);
    assert_why(r, ERR_LIMIT, "at most 16 indexes");
}

static void one_index_is_built_at_a_time(void **state)
{
    struct rig *r = *state;
    struct meanwhile w;
    struct str name;
    create(r, CITY_PLAIN);
    fill_cities(r);
    do_meanwhile(r, &w, build_another);
    assert_int_equal(create_index(r, "{\"on\":[\"region\"]}", &name), 0);
    assert_int_equal(w.err, ERR_BUSY);
    assert_int_equal(look(r).n_indexes, 1);
}

static void a_table_is_not_altered_against_an_index_being_built(void **state)
{
    struct rig *r = *state;
    struct meanwhile w;
    struct str name;
    create(r, CITY_PLAIN);
    assert_int_equal(put(r, "{\"code\":\"A\"}"), 0);
    do_meanwhile(r, &w, alter_people_to_text);
    assert_int_equal(create_index(r, "{\"on\":[\"people\"]}", &name), 0);
    assert_int_equal(w.err, ERR_PARAMS);
    r->m.progress = NULL;
    assert_int_equal(manage_drop_index(&r->m, STR("geo"), STR("city"), name), 0);
    assert_int_equal(alter_people_to_text(r), 0);
}

static void a_cancelled_build_leaves_nothing(void **state)
{
    struct rig *r = *state;
    struct str name;
    create(r, CITY_PLAIN);
    fill_cities(r);
    r->m.progress = cancel;
    assert_int_equal(create_index(r, "{\"on\":[\"region\"]}", &name), ERR_CANCELLED);
    assert_why(r, ERR_CANCELLED, "nothing of the index stays");
    assert_int_equal(look(r).n_indexes, 0);
    r->m.progress = NULL;
    assert_int_equal(create_index(r, "{\"on\":[\"region\"]}", &name), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(what_is_stored_names_no_indexes),
        BOTH(a_description_makes_the_same_table),
        BOTH(tables_are_found_and_dropped),
        BOTH(a_table_is_made_once),
        BOTH(bad_names_and_definitions_are_refused),
        BOTH(a_definition_has_a_size_and_a_depth),
        BOTH(an_index_is_made_and_dropped),
        BOTH(an_index_that_rows_forbid_names_them),
        BOTH(bad_indexes_are_refused),
        BOTH(one_index_is_built_at_a_time),
        BOTH(a_table_is_not_altered_against_an_index_being_built),
        BOTH(a_cancelled_build_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
