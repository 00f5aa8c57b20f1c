/* tests/unit/test_manage_alter.c - another definition for a table with rows, in memory and in LMDB,
 * while others write, import, alter and drop: it stands for all rows or not at all.
 */
#include "manage_rig.h"

static void a_table_is_altered_if_its_rows_fit(void **state)
{
    struct rig *r = *state;
    create(r, CITY_INDEXED);
    fill_cities(r);
    struct store_table before = look(r);
    assert_int_equal(alter(r, CITY_LARGE), ERR_PARAMS);
    assert_why(r, ERR_PARAMS, "1 rows do not fit it; the first is \"A\" (/people: minimum");
    assert_int_equal(r->m.broken.n, 1);
    assert_int_equal(look(r).version, before.version);
    assert_int_equal(put(r, "{\"code\":\"A\",\"region\":\"n\",\"people\":10}"), 0);
    assert_int_equal(alter(r, CITY_LARGE), 0);
    struct store_table after = look(r);
    assert_true(after.version > before.version);
    assert_int_equal(after.id, before.id);
    assert_int_equal(after.n_indexes, 2); /* they stay */
    assert_true(str_eq(after.definition, STR(CITY_LARGE)));
}

static void all_rows_that_break_are_counted_and_ten_shown(void **state)
{
    struct rig *r = *state;
    create(r, CITY_PLAIN);
    for (int i = 0; i < 2500; i++) {
        char row[64];
        snprintf(row, sizeof row, "{\"code\":\"k%04d\",\"people\":%d}", i, i % 100);
        assert_int_equal(put(r, row), 0);
        if (i % 100 == 0)
            arena_reset(&r->arena);
    }
    assert_int_equal(alter(r, CITY_LARGE), ERR_PARAMS);
    assert_int_equal(r->m.broken.n, 250);
    assert_true(str_eq(r->m.broken.v[0].key, STR("\"k0000\"")));
    assert_true(str_eq(r->m.broken.v[9].key, STR("\"k0009\"")));
    assert_string_equal(r->m.broken.v[9].fault.pointer, "/people");
    assert_string_equal(r->m.broken.v[9].fault.keyword, "minimum");
}

static void the_key_and_the_indexes_stay(void **state)
{
    struct rig *r = *state;
    create(r, CITY_INDEXED);
    assert_int_equal(alter(r, "{\"primaryKey\":\"region\",\"schema\":{\"type\":\"object\","
                              "\"properties\":{\"code\":{\"type\":\"string\"},\"region\":{\"type\":"
                              "\"string\"},\"people\":{\"type\":\"integer\"}}}}"),
                     ERR_PARAMS);
    assert_why(r, ERR_PARAMS, "/primaryKey: primaryKey, expected code of type string");
    assert_int_equal(alter(r, "{\"primaryKey\":\"code\",\"schema\":{\"type\":\"object\","
                              "\"properties\":{\"code\":{\"type\":\"integer\"},\"region\":{"
                              "\"type\":\"string\"},\"people\":{\"type\":\"integer\"}}}}"),
                     ERR_PARAMS);
    assert_why(r, ERR_PARAMS, "/primaryKey");
    assert_int_equal(alter_people_to_text(r), ERR_PARAMS);
    assert_int_equal(alter(r, "{\"primaryKey\":\"code\",\"schema\":{\"type\":\"object\","
                              "\"properties\":{\"code\":{\"type\":\"string\"},\"region\":{"
                              "\"type\":\"string\"}}}}"),
                     ERR_PARAMS);
    assert_why(r, ERR_PARAMS, "the index by_region_people goes by an attribute that would go away");
    assert_int_equal(alter(r, CITY ",\"indexed\":[\"region\"]}"), ERR_PARAMS);
    assert_why(r, ERR_PARAMS, "/indexes: indexes");
    assert_int_equal(alter(r, "[1]"), ERR_PARAMS);
    assert_int_equal(alter(r, "{"), ERR_PARSE);
    assert_int_equal(alter(r, CITY_INDEXED), 0); /* as described */
    assert_int_equal(manage_alter_table(&r->m, STR("geo"), STR("x"), STR("{}")), ERR_ABSENT);
}

#define CITY_HIDING(more) \
    CITY ",\"attributes\":{\"people\":{\"hidden\":true},\"region\":{\"nullable\":true}" more "}}"

/* What clients cannot see is indexed and checked all the same. */
static void attributes_that_are_hidden_or_filled_in(void **state)
{
    struct rig *r = *state;
    struct str name;
    create(r, CITY_HIDING(""));
    assert_int_equal(put(r, "{\"code\":\"A\",\"region\":null,\"people\":5}"), 0);
    assert_int_equal(create_index(r, "{\"on\":[\"people\"]}", &name), 0);
    assert_int_equal(alter(r, CITY_PLAIN), ERR_PARAMS); /* no longer null */
    assert_why(r, ERR_PARAMS, "the first is \"A\" (/region: type");
    assert_int_equal(alter(r, CITY_HIDING(",\"code\":{\"default\":\"uuid\"}")), 0);
    assert_description(r, CITY ",\"attributes\":{\"people\":{\"hidden\":true},\"region\":{"
                               "\"nullable\":true},\"code\":{\"default\":\"uuid\"}},\"indexes\":["
                               "{\"name\":\"by_people\",\"on\":[\"people\"]}]}");
}

/* The fault is not one of the schema by which rows are stored. */
static void rows_that_hold_what_becomes_the_version_are_told(void **state)
{
    struct rig *r = *state;
    create(r, CITY_PLAIN);
    assert_int_equal(put(r, "{\"code\":\"A\"}"), 0);
    assert_int_equal(put(r, "{\"code\":\"B\",\"people\":5}"), 0);
    assert_int_equal(alter(r, CITY ",\"attributes\":{\"people\":{\"role\":\"version\"}}}"),
                     ERR_PARAMS);
    assert_why(r, ERR_PARAMS,
               "1 rows do not fit it; the first is \"B\" (/people: role, expected nothing: the "
               "server sets the version, so rows may not hold it)");
    assert_string_equal(r->m.broken.v[0].fault.pointer, "/people");
    assert_string_equal(r->m.broken.v[0].fault.keyword, "role");
    assert_int_equal(put(r, "{\"code\":\"B\"}"), 0);
    assert_int_equal(alter(r, CITY ",\"attributes\":{\"people\":{\"role\":\"version\"}}}"), 0);
}

static int write_a_small_one(struct rig *r)
{
    return put(r, "{\"code\":\"Z\",\"people\":1}");
}

static int write_a_large_one(struct rig *r)
{
    return put(r, "{\"code\":\"Z\",\"people\":100}");
}

static int mend(struct rig *r)
{
    int err = put(r, "{\"code\":\"Z\",\"people\":1}");
    return err ? err : put(r, "{\"code\":\"Z\",\"people\":10}");
}

static int write_many(struct rig *r)
{
    int err = 0;
    for (int i = 0; err == 0 && i < TXN_ROWS_MAX + 500; i++) {
        char row[64];
        snprintf(row, sizeof row, "{\"code\":\"m%d\",\"people\":%d}", i, 10 + i);
        err = put(r, row);
    }
    return err;
}

static int drop_it(struct rig *r)
{
    struct manage m = another(r);
    return manage_drop_table(&m, STR("geo"), STR("city"));
}

static int alter_it(struct rig *r)
{
    struct manage m = another(r);
    return manage_alter_table(&m, STR("geo"), STR("city"), STR(CITY_PLAIN));
}

static void rows_that_are_written_meanwhile_are_checked(void **state)
{
    static const struct {
        int (*act)(struct rig *r);
        int err;
        const char *why;
    } cases[] = {
        {write_a_small_one, ERR_PARAMS, "the first is \"Z\""},
        {write_a_large_one, 0, ""},
        {mend, 0, ""},
        {write_many, 0, ""},
        {alter_it, ERR_CONFLICT, "somebody else altered"},
        {drop_it, ERR_ABSENT, "somebody else dropped"},
    };
    struct rig *r = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct meanwhile w;
        create(r, CITY_PLAIN);
        assert_int_equal(put(r, "{\"code\":\"Y\",\"people\":10}"), 0);
        uint64_t version = look(r).version;
        do_meanwhile(r, &w, cases[i].act);
        assert_int_equal(alter(r, CITY_LARGE), cases[i].err);
        assert_int_equal(w.err, 0);
        assert_why(r, cases[i].err, cases[i].why);
        r->m.progress = NULL;
        if (cases[i].err == ERR_PARAMS)
            assert_int_equal(look(r).version, version);
        if (cases[i].act != drop_it)
            assert_int_equal(drop_it(r), 0);
        arena_reset(&r->arena);
    }
}

/* The last transaction looks at the indexes as they are then. */
static void an_index_that_is_made_meanwhile_stays(void **state)
{
    struct rig *r = *state;
    struct meanwhile w;
    create(r, CITY_PLAIN);
    assert_int_equal(put(r, "{\"code\":\"A\"}"), 0);
    do_meanwhile(r, &w, build_another);
    assert_int_equal(alter(r, PEOPLE_AS_TEXT), ERR_PARAMS);
    assert_int_equal(w.err, 0);
    assert_why(r, ERR_PARAMS, "the index by_people goes by an attribute that would");
    assert_true(str_eq(look(r).definition, STR(CITY_PLAIN)));
    assert_int_equal(look(r).n_indexes, 1);
}

/* After each piece somebody writes another row: this has to end all the same. */
static int write_always(void *ctx, uint64_t done, uint64_t total)
{
    (void)done;
    (void)total;
    return write_a_large_one(ctx);
}

static void writes_that_never_end_do_not_hold_it_up(void **state)
{
    struct rig *r = *state;
    create(r, CITY_PLAIN);
    r->m.progress = write_always;
    r->m.ctx = r;
    assert_int_equal(alter(r, CITY_LARGE), 0);
    assert_true(str_eq(look(r).definition, STR(CITY_LARGE)));
}

/* More rows in each piece than the last transaction may look at. */
static int write_faster(void *ctx, uint64_t done, uint64_t total)
{
    static struct store_op ops[TXN_ROWS_MAX];
    static char keys[TXN_ROWS_MAX][8];
    struct rig *r = ctx;
    const struct tape_node *row = open_json(r, "{\"code\":\"x\",\"people\":10}");
    (void)done;
    (void)total;
    uint32_t table = look(r).id;
    for (int i = 0; i < TXN_ROWS_MAX; i++) {
        snprintf(keys[i], sizeof keys[i], "f%d", i);
        ops[i] = row_op(table, str_of(keys[i]), row, STORE_ANY);
    }
    assert_int_equal(write_list(r->store, STORE_DATA, ops, TXN_ROWS_MAX, NULL), 0);
    assert_int_equal(write_list(r->store, STORE_DATA, ops, 1, NULL), 0);
    arena_reset(&r->arena);
    return 0;
}

static void what_is_written_too_fast_ends_it(void **state)
{
    struct rig *r = *state;
    create(r, CITY_PLAIN);
    struct arena arena;
    arena_init(&arena, 0);
    r->m.arena = &arena; /* the other is emptied by whoever writes */
    r->m.progress = write_faster;
    r->m.ctx = r;
    assert_int_equal(alter(r, CITY_LARGE), ERR_TIMED_OUT);
    assert_why(r, ERR_TIMED_OUT, "written faster than they can be checked");
    r->m.progress = NULL;
    assert_true(str_eq(look(r).definition, STR(CITY_PLAIN)));
    assert_int_equal(alter(r, CITY_LARGE), 0);
    r->m.arena = &r->arena;
    arena_done(&arena);
}

static int write_more_than_the_log_keeps(struct rig *r)
{
    int err = 0;
    for (int i = 0; err == 0 && i < 50; i++)
        err = write_a_large_one(r);
    return err ? err : store_maintain(r->store);
}

static void what_the_log_forgot_is_checked_anew(void **state)
{
    struct rig *r = *state;
    struct meanwhile w;
    struct str why;
    store_close(r->store);
    const struct store_config config = {.dir = r->dir, .mode = STORE_NOSYNC, .log_keep = 5};
    assert_int_equal(store_open_lmdb(&config, &r->arena, &r->store, &why), 0);
    r->m.store = r->store;
    create(r, CITY_PLAIN);
    assert_int_equal(put(r, "{\"code\":\"Y\",\"people\":10}"), 0);
    do_meanwhile(r, &w, write_more_than_the_log_keeps);
    assert_int_equal(alter(r, CITY_LARGE), 0);
    assert_int_equal(w.err, 0);
    assert_int_equal(put(r, "{\"code\":\"Z\",\"people\":1}"), 0);
    do_meanwhile(r, &w, write_more_than_the_log_keeps);
    assert_int_equal(alter(r, CITY_LARGE), ERR_PARAMS); /* seen before it was mended */
}

/* Rows of an import may still be taken back to what they were, which nobody would check. */
static void a_table_is_not_altered_during_an_import(void **state)
{
    struct rig *r = *state;
    struct store_load *load;
    create(r, CITY_PLAIN);
    assert_int_equal(store_load_begin(r->store, look(r).id, &load), 0);
    assert_int_equal(alter(r, CITY_LARGE), ERR_BUSY);
    assert_why(r, ERR_BUSY, "rows are being imported");
    assert_int_equal(store_load_abort(load), 0);
    assert_int_equal(alter(r, CITY_LARGE), 0);
}

static void a_cancelled_alter_changes_nothing(void **state)
{
    struct rig *r = *state;
    create(r, CITY_PLAIN);
    fill_cities(r);
    r->m.progress = cancel;
    assert_int_equal(alter(r, CITY_LARGE), ERR_CANCELLED);
    assert_why(r, ERR_CANCELLED, "nothing was changed");
    assert_true(str_eq(look(r).definition, STR(CITY_PLAIN)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(a_table_is_altered_if_its_rows_fit),
        BOTH(all_rows_that_break_are_counted_and_ten_shown),
        BOTH(the_key_and_the_indexes_stay),
        BOTH(attributes_that_are_hidden_or_filled_in),
        BOTH(rows_that_hold_what_becomes_the_version_are_told),
        BOTH(rows_that_are_written_meanwhile_are_checked),
        BOTH(an_index_that_is_made_meanwhile_stays),
        BOTH(writes_that_never_end_do_not_hold_it_up),
        BOTH(what_is_written_too_fast_ends_it),
        cmocka_unit_test_setup_teardown(what_the_log_forgot_is_checked_anew, set_up_lmdb,
                                        tear_down),
        BOTH(a_table_is_not_altered_during_an_import),
        BOTH(a_cancelled_alter_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
