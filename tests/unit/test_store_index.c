/* tests/unit/test_store_index.c - contract of indexes in core/store.h, on both engines: entries
 * follow their rows, unique ones refuse, scans in both directions, a random run against a model. */
#include "store_contract.h"

static const struct store_index_part by_n[] = {{STR("n"), KEY_NUMBER, true}};
static const struct store_index_part by_text[] = {{STR("text"), KEY_STRING, false},
                                                  {STR("n"), KEY_INTEGER, false}};
static const struct store_index indexes[] = {
    {.name = STR("by_n"), .parts = by_n, .n_parts = 1},
    {.name = STR("by_text"), .unique = true, .parts = by_text, .n_parts = 2},
};

struct ids {
    uint32_t table, n, text;
};

static int find_ids(void *ctx, const struct store_table *table)
{
    struct ids *ids = ctx;
    if (table->id != ids->table)
        return 0;
    assert_int_equal(table->n_indexes, 2);
    for (uint32_t i = 0; i < 2; i++) {
        const struct store_index *index = &table->indexes[i];
        assert_true(index->ready && index->id > 0);
        assert_true(str_eq(index->name, indexes[i].name));
        assert_int_equal(index->unique, indexes[i].unique);
        assert_int_equal(index->n_parts, indexes[i].n_parts);
        assert_int_equal(index->parts[0].descending, indexes[i].parts[0].descending);
    }
    ids->n = table->indexes[0].id;
    ids->text = table->indexes[1].id;
    return 0;
}

static struct ids make_indexed(struct fixture *f)
{
    struct ids ids = {0};
    struct store_table table = {.database = STR("db"),
                                .name = STR("indexed"),
                                .definition = STR("{}"),
                                .indexes = indexes,
                                .n_indexes = 2};
    struct store_op op = {
        .kind = STORE_PUT_TABLE, .if_version = STORE_MISSING, .put_table = &table};
    assert_int_equal(write_list(f->store, STORE_DATA, &op, 1, NULL), 0);
    ids.table = op.ret_table;
    struct store_view *view = view_of(f->store, STORE_DATA);
    assert_int_equal(store_scan_tables(view, find_ids, &ids), 0);
    store_view_close(view);
    return ids;
}

static int put(struct fixture *f, uint32_t table, struct str key, int64_t n, struct str text,
               uint32_t *ret_index)
{
    struct sample s;
    struct store_op op = row_op(table, key, sample_row(&s, n, text), STORE_ANY);
    int err = write_list(f->store, STORE_DATA, &op, 1, NULL);
    *ret_index = op.ret_index;
    return err;
}

struct seen {
    char keys[256];
    uint32_t n;
    char place[600], before[600];
    uint32_t place_len, before_len;
    bool descending;
};

static int note(void *ctx, struct str index_key, const struct store_row *row)
{
    struct seen *seen = ctx;
    assert_ptr_equal(index_key.p + index_key.n, row->key.p);
    memcpy(seen->before, seen->place, seen->before_len = seen->place_len);
    seen->place_len = index_key.n + row->key.n;
    memcpy(seen->place, index_key.p, seen->place_len);
    int d = str_compare((struct str){seen->before, seen->before_len},
                        (struct str){seen->place, seen->place_len});
    assert_true(seen->n == 0 || (seen->descending ? d > 0 : d < 0));
    if (seen->n++ < 64)
        strncat(seen->keys, row->key.p, row->key.n);
    return 0;
}

static struct seen scan(struct fixture *f, uint32_t table, uint32_t index, struct store_range range)
{
    struct seen seen = {.descending = range.descending};
    struct store_view *view = view_of(f->store, STORE_DATA);
    assert_int_equal(store_scan_index(view, table, index, &range, note, &seen), 0);
    store_view_close(view);
    return seen;
}

static void entries_follow_their_rows(void **state)
{
    struct fixture *f = *state;
    struct ids ids = make_indexed(f);
    uint32_t index;
    assert_int_equal(put(f, ids.table, STR("a"), 1, STR("x"), &index), 0);
    assert_int_equal(put(f, ids.table, STR("b"), 3, STR("w"), &index), 0);
    assert_int_equal(put(f, ids.table, STR("c"), 2, STR("y"), &index), 0);
    assert_int_equal(put(f, ids.table, STR("d"), 3, STR("v"), &index), 0);
    assert_string_equal(scan(f, ids.table, ids.n, (struct store_range){0}).keys, "bdca");
    assert_string_equal(scan(f, ids.table, ids.text, (struct store_range){0}).keys, "dbac");
    assert_string_equal(scan(f, ids.table, ids.n, (struct store_range){.descending = true}).keys,
                        "acdb");
    assert_int_equal(put(f, ids.table, STR("b"), 0, STR("z"), &index), 0);
    assert_int_equal(delete_key(f->store, ids.table, STR("c"), STORE_PRESENT, NULL), 0);
    assert_string_equal(scan(f, ids.table, ids.n, (struct store_range){0}).keys, "dab");
    assert_string_equal(scan(f, ids.table, ids.text, (struct store_range){0}).keys, "dab");
}

static void a_place_goes_on_in_both_directions(void **state)
{
    struct fixture *f = *state;
    struct ids ids = make_indexed(f);
    struct buf key = {0};
    uint32_t index;
    for (const char *k = "abcd"; *k; k++)
        assert_int_equal(put(f, ids.table, (struct str){k, 1}, 7, (struct str){k, 1}, &index), 0);
    struct tape_node seven = {.kind = TAPE_INT, .v.i = 7};
    assert_int_equal(key_add_part(KEY_NUMBER, true, &seven, &key), 0);
    assert_string_equal(scan(f, ids.table, ids.n, (struct store_range){.from = buf_str(&key)}).keys,
                        "abcd");
    assert_string_equal(scan(f, ids.table, ids.n, (struct store_range){.to = buf_str(&key)}).keys,
                        "");
    buf_add_char(&key, 'b');
    struct str place = buf_str(&key);
    struct store_range on = {.from = place, .after = true};
    struct store_range back = {.to = place, .descending = true};
    assert_string_equal(scan(f, ids.table, ids.n, on).keys, "cd");
    assert_string_equal(scan(f, ids.table, ids.n, back).keys, "a");
    buf_done(&key);
}

static void a_unique_index_names_itself(void **state)
{
    struct fixture *f = *state;
    struct ids ids = make_indexed(f);
    uint32_t index;
    assert_int_equal(put(f, ids.table, STR("a"), 1, STR("x"), &index), 0);
    uint64_t seq = last_seq(f->store);
    assert_int_equal(put(f, ids.table, STR("b"), 1, STR("x"), &index), ERR_EXISTS);
    assert_int_equal(index, ids.text);
    assert_true(last_seq(f->store) == seq);
    assert_int_equal(put(f, ids.table, STR("a"), 1, STR("x"), &index), 0); /* itself */
    assert_int_equal(put(f, ids.table, STR("b"), 2, STR("x"), &index), 0);
}

static void what_an_index_cannot_hold_is_refused(void **state)
{
    static char text[600], most[KEY_BYTES_MAX];
    struct fixture *f = *state;
    struct ids ids = make_indexed(f);
    uint32_t index;
    memset(text, 'x', sizeof text);
    memset(most, 'k', sizeof most);
    assert_int_equal(put(f, ids.table, STR("a"), 1, (struct str){text, 600}, &index), ERR_LIMIT);
    assert_int_equal(index, ids.text);
    /* 1 + text + 2, 9 of the number, 1 of the row's key */
    assert_int_equal(put(f, ids.table, STR("a"), 1, (struct str){text, 495}, &index), ERR_LIMIT);
    assert_int_equal(put(f, ids.table, STR("a"), 1, (struct str){text, 494}, &index), 0);
    assert_int_equal(put(f, ids.table, (struct str){most, sizeof most}, 1, STR("x"), &index), 0);
    struct tape_node row[5];
    struct sample s;
    memcpy(row, sample_row(&s, 1, STR("x")), sizeof row);
    row[2] = (struct tape_node){.kind = TAPE_NUM, .v.d = 1.5};
    struct store_op op = row_op(ids.table, STR("b"), row, STORE_ANY);
    assert_int_equal(write_list(f->store, STORE_DATA, &op, 1, NULL), ERR_PARAMS);
    assert_int_equal(op.ret_index, ids.text);
    assert_int_equal(count_rows(f->store, ids.table), 2);
}

static int make_with(struct fixture *f, const struct store_index *with, uint32_t n)
{
    struct store_table table = {.database = STR("db"),
                                .name = STR("limits"),
                                .definition = STR("{}"),
                                .indexes = with,
                                .n_indexes = n};
    struct store_op op = {
        .kind = STORE_PUT_TABLE, .if_version = STORE_MISSING, .put_table = &table};
    return write_list(f->store, STORE_DATA, &op, 1, NULL);
}

static void an_index_past_INDEX_PARTS_MAX_is_refused(void **state)
{
    struct fixture *f = *state;
    struct store_index_part parts[INDEX_PARTS_MAX + 1];
    struct store_index_build build = {0};
    struct store_index index = {
        .name = STR("wide"), .parts = parts, .n_parts = INDEX_PARTS_MAX + 1};
    for (uint32_t i = 0; i <= INDEX_PARTS_MAX; i++)
        parts[i] = by_n[0];
    assert_int_equal(make_with(f, &index, 1), ERR_LIMIT);
    assert_int_equal(store_create_index(f->store, f->table, &index, &build), ERR_LIMIT);
    index.n_parts = 0;
    assert_int_equal(make_with(f, &index, 1), ERR_LIMIT);
    index.n_parts = INDEX_PARTS_MAX;
    assert_int_equal(make_with(f, &index, 1), 0);
    assert_int_equal(store_create_index(f->store, f->table, &index, &build), 0);
}

static void nulls_do_not_collide(void **state)
{
    struct fixture *f = *state;
    struct ids ids = make_indexed(f);
    const struct tape_node row[] = {{.kind = TAPE_OBJECT, .n = 1, .v.size = 3},
                                    {.kind = TAPE_STR, .n = 4, .v.s = "text"},
                                    {.kind = TAPE_NULL}};
    for (const char *k = "ab"; *k; k++) {
        struct store_op op = row_op(ids.table, (struct str){k, 1}, row, STORE_ANY);
        assert_int_equal(write_list(f->store, STORE_DATA, &op, 1, NULL), 0);
    }
    uint32_t index;
    assert_int_equal(put(f, ids.table, STR("c"), 1, STR(""), &index), 0);
    assert_string_equal(scan(f, ids.table, ids.text, (struct store_range){0}).keys, "abc");
    assert_string_equal(scan(f, ids.table, ids.n, (struct store_range){0}).keys, "cab");
}

static uint64_t entries(struct store *store)
{
    uint64_t n = 99;
    struct store_view *view = view_of(store, STORE_DATA);
    assert_int_equal(kv_count(&view->txn, KV_ENTRIES, &n), 0);
    store_view_close(view);
    return n;
}

static void an_aborted_load_leaves_entries_as_they_were(void **state)
{
    struct fixture *f = *state;
    struct ids ids = make_indexed(f);
    struct store_load *load;
    struct sample s;
    uint32_t index;
    assert_int_equal(put(f, ids.table, STR("0007"), 7777, STR("old"), &index), 0);
    assert_int_equal(store_load_begin(f->store, ids.table, &load), 0);
    for (int i = 0; i < 700; i++) {
        char key[16];
        snprintf(key, sizeof key, "%04d", i);
        assert_int_equal(store_load_row(load, str_of(key), sample_row(&s, i, STR("t")), STORE_ANY),
                         0);
    }
    assert_int_equal(entries(f->store), 2 * 500);
    assert_int_equal(store_load_abort(load), 0);
    assert_int_equal(entries(f->store), 2);
    assert_string_equal(scan(f, ids.table, ids.text, (struct store_range){0}).keys, "0007");
    assert_int_equal(put(f, ids.table, STR("new"), 7777, STR("old"), &index), ERR_EXISTS);
}

static void a_dropped_table_loses_its_entries(void **state)
{
    struct fixture *f = *state;
    struct ids ids = make_indexed(f);
    uint32_t index;
    for (const char *k = "abc"; *k; k++)
        assert_int_equal(put(f, ids.table, (struct str){k, 1}, 1, (struct str){k, 1}, &index), 0);
    assert_int_equal(drop_table(f->store, ids.table, STORE_PRESENT), 0);
    struct store_view *view = view_of(f->store, STORE_DATA);
    assert_int_equal(store_scan_index(view, ids.table, ids.n, NULL, note, NULL), ERR_ABSENT);
    store_view_close(view);
    struct ids again = make_indexed(f);
    assert_true(again.n > ids.text); /* ids are never reused */
    assert_int_equal(put(f, again.table, STR("a"), 1, STR("a"), &index), 0);
    assert_int_equal(store_maintain(f->store), 0);
    assert_int_equal(entries(f->store), 2);
}

/* 2,000 random puts and deletes over 40 keys; each index then has exactly the rows, in order. */
static void random_writes_keep_entries_whole(void **state)
{
    struct fixture *f = *state;
    struct ids ids = make_indexed(f);
    unsigned random = 12345;
    uint32_t index;
    for (int i = 0; i < 2000; i++) {
        random = random * 1103515245 + 12345;
        char key[] = {'a', (char)('A' + (random >> 16) % 40)};
        char text[] = {(char)((random >> 8) % 3), (char)((random >> 24) % 5)};
        int64_t n = (int64_t)((random >> 12) % 7) - 3;
        if ((random >> 20) % 4 == 0)
            assert_int_equal(delete_key(f->store, ids.table, (struct str){key, 2}, STORE_ANY, NULL),
                             0);
        else if (put(f, ids.table, (struct str){key, 2}, n, (struct str){text, 2}, &index))
            assert_int_equal(index, ids.text);
    }
    uint64_t rows = count_rows(f->store, ids.table);
    assert_true(rows > 5);
    struct store_range back = {.descending = true};
    assert_int_equal(scan(f, ids.table, ids.n, (struct store_range){0}).n, rows);
    assert_int_equal(scan(f, ids.table, ids.text, back).n, rows);
    assert_int_equal(entries(f->store), 2 * rows);
}

#define CASES(X)                                   \
    X(entries_follow_their_rows)                   \
    X(a_place_goes_on_in_both_directions)          \
    X(a_unique_index_names_itself)                 \
    X(what_an_index_cannot_hold_is_refused)        \
    X(an_index_past_INDEX_PARTS_MAX_is_refused)    \
    X(nulls_do_not_collide)                        \
    X(an_aborted_load_leaves_entries_as_they_were) \
    X(a_dropped_table_loses_its_entries)           \
    X(random_writes_keep_entries_whole)

int main(void)
{
    static const struct CMUnitTest tests[] = {CASES(CONTRACT_MEMORY) CASES(CONTRACT_LMDB)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
