/* tests/unit/test_manage.c - tables and indexes made, described, changed and dropped, in memory and
 * in LMDB: what is refused says why, and leaves all as it was.
 */
#include "core/manage.h"

#include "core/table_indexes.h"
#include "store_fixture.h"

#define CITY                                                                           \
    "{\"primaryKey\":\"code\",\"title\":\"Cities\",\"schema\":{\"type\":\"object\","   \
    "\"properties\":{\"code\":{\"type\":\"string\"},\"region\":{\"type\":\"string\"}," \
    "\"people\":{\"type\":\"integer\"},\"any\":{}}}"
#define CITY_PLAIN CITY "}"
#define CITY_INDEXED \
    CITY ",\"indexes\":[{\"on\":[\"region\",\"-people\"]}],\"indexed\":[\"people\"]}"
/* people must be at least 10 */
#define CITY_LARGE                                                                 \
    "{\"primaryKey\":\"code\",\"schema\":{\"type\":\"object\",\"properties\":{"    \
    "\"code\":{\"type\":\"string\"},\"region\":{\"type\":\"string\"},\"people\":{" \
    "\"type\":\"integer\",\"minimum\":10}}}}"

struct rig {
    struct store *store;
    struct arena arena;
    struct manage m;
    char dir[64];
};

static int open_rig(struct rig *r)
{
    arena_init(&r->arena, 0);
    r->m = (struct manage){.store = r->store, .arena = &r->arena};
    return 0;
}

static int set_up_memory(void **state)
{
    static struct rig rig;
    rig = (struct rig){0};
    *state = &rig;
    assert_int_equal(store_open_memory(&rig.store), 0);
    return open_rig(&rig);
}

static int set_up_lmdb(void **state)
{
    static struct rig rig;
    struct str why;
    rig = (struct rig){0};
    *state = &rig;
    scratch_make(rig.dir);
    arena_init(&rig.arena, 0);
    const struct store_config config = {.dir = rig.dir, .mode = STORE_NOSYNC};
    assert_int_equal(store_open_lmdb(&config, &rig.arena, &rig.store, &why), 0);
    arena_done(&rig.arena);
    return open_rig(&rig);
}

static int tear_down(void **state)
{
    struct rig *r = *state;
    store_close(r->store);
    arena_done(&r->arena);
    if (r->dir[0])
        scratch_remove(r->dir);
    return 0;
}

/* ---- Helpers -------------------------------------------------------------------------------- */

static void create(struct rig *r, const char *definition)
{
    assert_int_equal(manage_create_table(&r->m, STR("geo"), STR("city"), str_of(definition)), 0);
}

static struct store_table look(struct rig *r)
{
    struct store_table table = {0};
    assert_int_equal(manage_find_table(&r->m, STR("geo"), STR("city"), &table), 0);
    return table;
}

static const struct tape_node *open_json(struct rig *r, const char *text)
{
    const struct tape_node *tape = NULL;
    size_t n = strlen(text);
    char *copy = arena_zalloc(&r->arena, n + JSON_PADDING_BYTES);
    memcpy(copy, text, n);
    assert_int_equal(tape_open((struct str){copy, (uint32_t)n}, &r->arena, &tape, NULL), 0);
    return tape;
}

static int put(struct rig *r, const char *json)
{
    const struct tape_node *row = open_json(r, json);
    struct store_op op = row_op(look(r).id, tape_str(tape_get(row, STR("code"))), row, STORE_ANY);
    return write_list(r->store, STORE_DATA, &op, 1, NULL);
}

static void assert_why(struct rig *r, int err, const char *part)
{
    struct str why = manage_why(&r->m, err);
    char text[1024];
    snprintf(text, sizeof text, STR_FMT, STR_ARG(why));
    if (!strstr(text, part))
        fail_msg("\"%s\" does not say \"%s\"", text, part);
}

static void assert_description(struct rig *r, const char *expected)
{
    struct buf text = {0};
    struct store_table table = look(r);
    assert_int_equal(manage_describe(&table, &text), 0);
    buf_add(&text, "", 1);
    assert_string_equal(text.p, expected);
    buf_done(&text);
}

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

static int create_index(struct rig *r, const char *definition, struct str *ret)
{
    r->m.why = STR_NONE;
    return manage_create_index(&r->m, STR("geo"), STR("city"), str_of(definition), ret);
}

static void fill_cities(struct rig *r)
{
    assert_int_equal(put(r, "{\"code\":\"A\",\"region\":\"n\",\"people\":5}"), 0);
    assert_int_equal(put(r, "{\"code\":\"B\",\"region\":\"s\",\"people\":50}"), 0);
    assert_int_equal(put(r, "{\"code\":\"C\",\"region\":\"n\",\"people\":500}"), 0);
}

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

/* What another thread or process would do while an index is being built. */
struct meanwhile {
    struct rig *rig;
    int (*act)(struct rig *r);
    int err, n;
};

static int do_once(void *ctx, uint64_t done, uint64_t total)
{
    struct meanwhile *w = ctx;
    (void)done;
    (void)total;
    if (w->n++ == 0)
        w->err = w->act(w->rig);
    return 0;
}

static void do_meanwhile(struct rig *r, struct meanwhile *w, int (*act)(struct rig *r))
{
    *w = (struct meanwhile){.rig = r, .act = act, .err = 1};
    r->m.progress = do_once;
    r->m.ctx = w;
}

static struct manage another(struct rig *r)
{
    return (struct manage){.store = r->store, .arena = &r->arena};
}

static int build_another(struct rig *r)
{
    struct manage m = another(r);
    struct str name;
    return manage_create_index(&m, STR("geo"), STR("city"), STR("{\"on\":[\"people\"]}"), &name);
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

static int alter_people_to_text(struct rig *r)
{
    struct manage m = another(r);
    return manage_alter_table(&m, STR("geo"), STR("city"),
                              STR("{\"primaryKey\":\"code\",\"schema\":{\"type\":\"object\","
                                  "\"properties\":{\"code\":{\"type\":\"string\"},\"people\":{"
                                  "\"type\":\"string\"}}}}"));
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

static int cancel(void *ctx, uint64_t done, uint64_t total)
{
    (void)ctx;
    (void)done;
    (void)total;
    return 1;
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

/* ---- Altering ------------------------------------------------------------------------------- */

static int alter(struct rig *r, const char *definition)
{
    return manage_alter_table(&r->m, STR("geo"), STR("city"), str_of(definition));
}

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

#define BOTH(test)                                             \
    {#test " (memory)", test, set_up_memory, tear_down, NULL}, \
    {                                                          \
#test " (LMDB)", test, set_up_lmdb, tear_down, NULL    \
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
        BOTH(a_table_is_altered_if_its_rows_fit),
        BOTH(all_rows_that_break_are_counted_and_ten_shown),
        BOTH(the_key_and_the_indexes_stay),
        BOTH(attributes_that_are_hidden_or_filled_in),
        BOTH(rows_that_are_written_meanwhile_are_checked),
        BOTH(writes_that_never_end_do_not_hold_it_up),
        BOTH(what_is_written_too_fast_ends_it),
        cmocka_unit_test_setup_teardown(what_the_log_forgot_is_checked_anew, set_up_lmdb,
                                        tear_down),
        BOTH(a_table_is_not_altered_during_an_import),
        BOTH(a_cancelled_alter_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
