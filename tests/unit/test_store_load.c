/* tests/unit/test_store_load.c - loads beside other writers and unique indexes: rows that are left
 * out, and what comes of a load that is taken back when its rows' old values are gone. On both
 * engines. */
#include "store_contract.h"

static const struct store_index_part part_text[] = {{STR_INIT("text"), KEY_STRING, false}};
static const struct store_index once_text = {
    .name = STR_INIT("once_text"), .unique = true, .parts = part_text, .n_parts = 1};

static uint32_t make_unique(struct fixture *f)
{
    struct store_table table = {.database = STR("db"),
                                .name = STR("people"),
                                .definition = STR("{}"),
                                .indexes = &once_text,
                                .n_indexes = 1};
    struct store_op op = {
        .kind = STORE_PUT_TABLE, .if_version = STORE_MISSING, .put_table = &table};
    assert_int_equal(write_list(f->store, STORE_DATA, &op, 1, NULL), 0);
    return op.ret_table;
}

static int put(struct fixture *f, uint32_t table, const char *key, int64_t n, const char *text)
{
    struct sample s;
    struct store_op op = row_op(table, str_of(key), sample_row(&s, n, str_of(text)), STORE_ANY);
    return write_list(f->store, STORE_DATA, &op, 1, NULL);
}

static int load(struct store_load *l, const char *key, int64_t n, const char *text,
                uint64_t if_version)
{
    struct sample s;
    return store_load_row(l, str_of(key), sample_row(&s, n, str_of(text)), if_version);
}

/* Full batches of other rows: what was loaded before is in the store. */
static void fill(struct store_load *l, int n)
{
    for (int i = 0; i < n; i++) {
        char text[16];
        snprintf(text, sizeof text, "fill%06d", i);
        assert_int_equal(load(l, text, i, text, STORE_ANY), 0);
    }
}

struct told {
    uint32_t n;
    struct {
        uint64_t row;
        int err;
        uint32_t index;
        int64_t content;
        char key[16];
    } v[8];
    int answer;
};

static int refused(void *ctx, const struct store_refusal *r)
{
    struct told *t = ctx;
    assert_true(t->n < 8);
    t->v[t->n].row = r->row;
    t->v[t->n].err = r->err;
    t->v[t->n].index = r->index;
    t->v[t->n].content = sample_n(r->content);
    snprintf(t->v[t->n].key, 16, STR_FMT, STR_ARG(r->key));
    t->n++;
    return t->answer;
}

static void kept(void *ctx, const struct store_refusal *r)
{
    refused(ctx, r);
}

static struct store_load *begin(struct fixture *f, uint32_t table, struct told *told, bool skips)
{
    struct store_load *l = NULL;
    struct store_load_rules rules = {.refused = skips ? refused : NULL, .kept = kept, .ctx = told};
    assert_int_equal(store_load_begin(f->store, table, &l), 0);
    store_load_set_rules(l, &rules);
    return l;
}

static void finding(void *ctx, struct str text)
{
    (void)ctx;
    print_error(STR_FMT "\n", STR_ARG(text));
}

static void assert_sound(struct fixture *f)
{
    uint64_t n = 99, open = 99;
    struct store_view *view = view_of(f->store, STORE_DATA);
    assert_int_equal(kv_count(&view->txn, KV_UNDO, &n), 0);
    assert_int_equal(meta_get(&view->txn, META_LOAD, &open), 0);
    assert_true(n == 0 && open == 0);
    store_view_close(view);
    assert_int_equal(store_check(f->store, finding, NULL, NULL), 0);
}

/* ---- Rows that are left out ----------------------------------------------------------------- */

static void refused_rows_are_left_out_and_told(void **state)
{
    struct fixture *f = *state;
    uint32_t table = make_unique(f);
    struct told told = {0};
    char long_key[KEY_BYTES_MAX + 2] = {0};
    memset(long_key, 'k', sizeof long_key - 1);
    assert_int_equal(put(f, table, "a", 1, "ta"), 0);
    struct store_load *l = begin(f, table, &told, true);
    assert_int_equal(load(l, "b", 2, "tb", STORE_MISSING), 0);
    assert_int_equal(load(l, "a", 3, "tc", STORE_MISSING), 0);      /* the key is there */
    assert_int_equal(load(l, "c", 4, "ta", STORE_MISSING), 0);      /* the index has it */
    assert_int_equal(load(l, "b", 5, "td", STORE_MISSING), 0);      /* twice in the load */
    assert_int_equal(load(l, long_key, 6, "te", STORE_MISSING), 0); /* told at once */
    assert_int_equal(told.n, 1);
    fill(l, 700);
    assert_int_equal(load(l, "d", 7, "fill000003", STORE_MISSING), 0);
    assert_int_equal(store_load_commit(l), 0);
    static const struct {
        uint64_t row;
        int err, content;
        bool by_index;
        const char *key;
    } expected[] = {{4, ERR_LIMIT, 6, false, "kkkkkkkkkkkkkkk"},
                    {1, ERR_EXISTS, 3, false, "a"},
                    {2, ERR_EXISTS, 4, true, "c"},
                    {3, ERR_EXISTS, 5, false, "b"},
                    {705, ERR_EXISTS, 7, true, "d"}};
    assert_int_equal(told.n, 5);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(told.v[i].row, expected[i].row);
        assert_int_equal(told.v[i].err, expected[i].err);
        assert_int_equal(told.v[i].content, expected[i].content);
        assert_int_equal(told.v[i].index != 0, expected[i].by_index);
        assert_string_equal(told.v[i].key, expected[i].key);
    }
    assert_int_equal(count_rows(f->store, table), 702);
    assert_int_equal(get_n(f->store, table, STR("a")), 1);
    assert_int_equal(get_n(f->store, table, STR("c")), ERR_ABSENT);
    assert_sound(f);
}

static void a_load_all_of_whose_rows_are_refused_writes_nothing(void **state)
{
    struct fixture *f = *state;
    struct told told = {0};
    assert_int_equal(put(f, f->table, "a", 1, "x"), 0);
    uint64_t before = last_seq(f->store);
    struct store_load *l = begin(f, f->table, &told, true);
    assert_int_equal(load(l, "a", 2, "x", STORE_MISSING), 0);
    assert_int_equal(store_load_commit(l), 0);
    assert_int_equal(told.n, 1);
    assert_true(last_seq(f->store) == before);
    assert_sound(f);
}

static void who_cannot_note_a_refused_row_stops_the_load(void **state)
{
    struct fixture *f = *state;
    struct told told = {.answer = ERR_IO};
    assert_int_equal(put(f, f->table, "a", 1, "x"), 0);
    struct store_load *l = begin(f, f->table, &told, true);
    assert_int_equal(load(l, "b", 2, "x", STORE_MISSING), 0);
    assert_int_equal(load(l, "a", 2, "x", STORE_MISSING), 0);
    assert_int_equal(store_load_commit(l), ERR_IO);
    assert_int_equal(store_load_abort(l), 0);
    assert_int_equal(count_rows(f->store, f->table), 1);
    assert_sound(f);
}

static void a_load_that_fails_names_the_index(void **state)
{
    struct fixture *f = *state;
    uint32_t table = make_unique(f);
    struct told told = {0};
    assert_int_equal(put(f, table, "a", 1, "ta"), 0);
    struct store_load *l = begin(f, table, &told, false);
    assert_int_equal(load(l, "b", 2, "tb", STORE_MISSING), 0);
    assert_int_equal(load(l, "c", 2, "ta", STORE_MISSING), 0);
    assert_int_equal(store_load_commit(l), ERR_EXISTS);
    assert_int_equal(store_load_failed_row(l), 1);
    assert_int_not_equal(store_load_failed_index(l), 0);
    assert_int_equal(store_load_abort(l), 0);
    l = begin(f, table, &told, false);
    assert_int_equal(load(l, "a", 2, "tz", STORE_MISSING), 0);
    assert_int_equal(store_load_commit(l), ERR_EXISTS);
    assert_int_equal(store_load_failed_index(l), 0);
    assert_int_equal(store_load_abort(l), 0);
    assert_int_equal(count_rows(f->store, table), 1);
    assert_sound(f);
}

/* ---- A definition that changes -------------------------------------------------------------- */

static int no_check(void *ctx, const struct store_row *row)
{
    (void)ctx;
    (void)row;
    return 0;
}

static int change_definition(struct fixture *f, bool checks)
{
    struct store_table table = {
        .database = STR("db"), .name = STR("t"), .definition = STR("{\"x\":1}")};
    struct store_op op = {.kind = STORE_PUT_TABLE,
                          .if_version = STORE_PRESENT,
                          .put_table = &table,
                          .since_seq = last_seq(f->store),
                          .check_row = checks ? no_check : NULL};
    return write_list(f->store, STORE_DATA, &op, 1, NULL);
}

static int version_of(void *ctx, const struct store_table *table)
{
    *(uint64_t *)ctx = table->version;
    return 0;
}

static void rows_checked_by_another_definition_stay_out(void **state)
{
    struct fixture *f = *state;
    struct store_load_rules rules = {0};
    struct store_load *l = NULL;
    struct store_view *view = view_of(f->store, STORE_DATA);
    assert_int_equal(store_scan_tables(view, version_of, &rules.table_version), 0);
    store_view_close(view);
    assert_int_equal(store_load_begin(f->store, f->table, &l), 0);
    store_load_set_rules(l, &rules);
    fill(l, 500);
    assert_int_equal(change_definition(f, true), ERR_BUSY); /* rows may come back yet */
    assert_int_equal(change_definition(f, false), 0);
    assert_int_equal(load(l, "a", 1, "a", STORE_ANY), 0);
    assert_int_equal(store_load_commit(l), ERR_STALE);
    assert_int_equal(store_load_abort(l), 0);
    assert_int_equal(count_rows(f->store, f->table), 0);
    assert_int_equal(change_definition(f, true), 0);
    assert_sound(f);
}

/* ---- Taking back ---------------------------------------------------------------------------- */

/* "a" had ta; the load gave it tb; somebody else took ta. */
static void a_unique_value_taken_meanwhile_stays_with_its_new_owner(void **state)
{
    struct fixture *f = *state;
    uint32_t table = make_unique(f);
    struct told told = {0};
    assert_int_equal(put(f, table, "a", 1, "ta"), 0);
    assert_int_equal(put(f, table, "z", 9, "tz"), 0);
    struct store_load *l = begin(f, table, &told, false);
    assert_int_equal(load(l, "a", 2, "tb", STORE_ANY), 0);
    assert_int_equal(load(l, "z", 10, "ty", STORE_ANY), 0);
    fill(l, 498);
    assert_int_equal(put(f, table, "other", 3, "ta"), 0);
    assert_int_equal(store_load_abort(l), 0);
    assert_int_equal(get_n(f->store, table, STR("other")), 3);
    assert_int_equal(get_n(f->store, table, STR("a")), 2); /* nothing is lost: it was told */
    assert_int_equal(get_n(f->store, table, STR("z")), 9);
    assert_int_equal(count_rows(f->store, table), 3);
    assert_int_equal(told.n, 1);
    assert_string_equal(told.v[0].key, "a");
    assert_int_equal(told.v[0].content, 1);
    assert_int_equal(told.v[0].err, ERR_EXISTS);
    assert_int_not_equal(told.v[0].index, 0);
    assert_sound(f);
}

/* "a" is in the load twice; what it was in between is taken by others, what it was first is not. */
static void a_row_loaded_twice_finds_its_first_value(void **state)
{
    struct fixture *f = *state;
    uint32_t table = make_unique(f);
    struct told told = {0};
    assert_int_equal(put(f, table, "a", 1, "ta"), 0);
    struct store_load *l = begin(f, table, &told, false);
    assert_int_equal(load(l, "a", 2, "tb", STORE_ANY), 0);
    assert_int_equal(load(l, "a", 3, "tc", STORE_ANY), 0);
    assert_int_equal(load(l, "new", 5, "tn", STORE_ANY), 0);
    assert_int_equal(load(l, "new", 6, "tm", STORE_ANY), 0);
    fill(l, 496);
    assert_int_equal(put(f, table, "other", 4, "tb"), 0);
    assert_int_equal(store_load_abort(l), 0);
    assert_int_equal(get_n(f->store, table, STR("a")), 1);
    assert_int_equal(get_n(f->store, table, STR("other")), 4);
    assert_int_equal(count_rows(f->store, table), 2);
    assert_int_equal(told.n, 1); /* of what it was in between */
    assert_int_equal(told.v[0].content, 2);
    assert_sound(f);
}

/* Values that go round within the load come back in any order of its rows. */
static void values_that_rows_handed_on_come_back(void **state)
{
    struct fixture *f = *state;
    uint32_t table = make_unique(f);
    struct told told = {0};
    assert_int_equal(put(f, table, "a", 1, "x"), 0);
    assert_int_equal(put(f, table, "b", 2, "y"), 0);
    struct store_load *l = begin(f, table, &told, false);
    assert_int_equal(load(l, "a", 3, "z", STORE_ANY), 0);
    assert_int_equal(load(l, "b", 4, "x", STORE_ANY), 0);
    assert_int_equal(load(l, "a", 5, "y", STORE_ANY), 0);
    fill(l, 600);
    assert_int_equal(store_load_abort(l), 0);
    assert_int_equal(told.n, 0);
    assert_int_equal(get_n(f->store, table, STR("a")), 1);
    assert_int_equal(get_n(f->store, table, STR("b")), 2);
    assert_int_equal(count_rows(f->store, table), 2);
    assert_sound(f);
}

/* An index that was made meanwhile may not hold what stood before: that must not end in a load that
 * can never be taken back. */
static void an_index_made_meanwhile_does_not_stop_it(void **state)
{
    struct fixture *f = *state;
    struct told told = {0};
    char space[600];
    memset(space, 'x', sizeof space - 1);
    space[sizeof space - 1] = 0;
    assert_int_equal(put(f, f->table, "a", 1, space), 0);
    struct store_load *l = begin(f, f->table, &told, false);
    assert_int_equal(load(l, "a", 2, "short", STORE_ANY), 0);
    fill(l, 499);
    struct store_index_build build = {0};
    assert_int_equal(store_create_index(f->store, f->table, &once_text, &build), 0);
    assert_int_equal(store_load_abort(l), 0);
    assert_int_equal(told.n, 1);
    assert_int_equal(told.v[0].err, ERR_LIMIT);
    assert_int_equal(get_n(f->store, f->table, STR("a")), 2);
    assert_int_equal(count_rows(f->store, f->table), 1);
    assert_sound(f);
}

/* What cannot be put back is kept beside the database, whoever takes it back. */
static void what_cannot_be_put_back_is_in_a_file(void **state)
{
    struct fixture *f = *state;
    char path[128], line[512] = "";
    snprintf(path, sizeof path, "%s/import-kept.ndjson", f->dir);
    a_unique_value_taken_meanwhile_stays_with_its_new_owner(state);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    assert_null(fgets(line + 256, 256, file));
    fclose(file);
    assert_string_equal(line, "{\"database\":\"db\",\"table\":\"people\",\"index\":\"once_text\","
                              "\"error\":\"EXISTS\",\"before\":{\"n\":1,\"text\":\"ta\"}}\n");
}

#define CASES(X)                                               \
    X(refused_rows_are_left_out_and_told)                      \
    X(a_load_all_of_whose_rows_are_refused_writes_nothing)     \
    X(who_cannot_note_a_refused_row_stops_the_load)            \
    X(a_load_that_fails_names_the_index)                       \
    X(rows_checked_by_another_definition_stay_out)             \
    X(a_unique_value_taken_meanwhile_stays_with_its_new_owner) \
    X(a_row_loaded_twice_finds_its_first_value)                \
    X(values_that_rows_handed_on_come_back)                    \
    X(an_index_made_meanwhile_does_not_stop_it)

int main(void)
{
    static const struct CMUnitTest tests[] = {CASES(CONTRACT_MEMORY) CASES(
        CONTRACT_LMDB) CONTRACT_LMDB(what_cannot_be_put_back_is_in_a_file)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
