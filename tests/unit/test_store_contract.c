/* tests/unit/test_store_contract.c - the port core/store.h, the same cases on both engines. */
#include "store_fixture.h"

struct fixture {
    struct store *store;
    char dir[64];
    uint32_t table;
};

static int open_lmdb(struct fixture *f)
{
    struct arena arena;
    struct str why = STR("");
    struct store_config config = {.dir = f->dir, .mode = STORE_NOSYNC};
    arena_init(&arena, 0);
    int err = store_open_lmdb(&config, &arena, &f->store, &why);
    if (err)
        print_error("%s: " STR_FMT "\n", err_name(err), STR_ARG(why));
    arena_done(&arena);
    return err;
}

static int set_up_memory(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    *state = f;
    assert_non_null(f);
    assert_int_equal(store_open_memory(&f->store), 0);
    f->table = make_table(f->store, "t");
    return 0;
}

static int set_up_lmdb(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    *state = f;
    assert_non_null(f);
    scratch_make(f->dir);
    assert_int_equal(open_lmdb(f), 0);
    f->table = make_table(f->store, "t");
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    store_close(f->store);
    if (*f->dir)
        scratch_remove(f->dir);
    free(f);
    return 0;
}

/* ---- Rows ----------------------------------------------------------------------------------- */

static void rows_come_back_as_they_were_put(void **state)
{
    struct fixture *f = *state;
    uint64_t seq = 0, version = 0;
    assert_int_equal(put_n(f->store, f->table, STR("k"), -7, STORE_ANY, &seq), 0);
    struct store_view *view = view_of(f->store, STORE_DATA);
    assert_int_equal(get_n_in(view, f->table, STR("k"), &version), -7);
    assert_true(version == seq && seq == last_seq(f->store));
    assert_int_equal(get_n_in(view, f->table, STR("l"), NULL), ERR_ABSENT);
    assert_int_equal(get_n_in(view, f->table + 1, STR("k"), NULL), ERR_ABSENT);
    assert_int_equal(get_n_in(view, f->table, STR(""), NULL), ERR_ABSENT);
    store_view_close(view);
}

static void conditions_are_obeyed(void **state)
{
    struct fixture *f = *state;
    struct store *s = f->store;
    uint64_t first = 0, second = 0, seq = 0;
    assert_int_equal(put_n(s, f->table, STR("k"), 1, STORE_PRESENT, NULL), ERR_ABSENT);
    assert_int_equal(put_n(s, f->table, STR("k"), 1, 12345, NULL), ERR_ABSENT);
    assert_int_equal(put_n(s, f->table, STR("k"), 1, STORE_MISSING, &first), 0);
    assert_int_equal(put_n(s, f->table, STR("k"), 2, STORE_MISSING, NULL), ERR_EXISTS);
    assert_int_equal(put_n(s, f->table, STR("k"), 2, first, &second), 0);
    assert_true(second > first);
    assert_int_equal(put_n(s, f->table, STR("k"), 3, first, &seq), ERR_CONFLICT);
    assert_true(seq == second);
    assert_int_equal(put_n(s, f->table, STR("k"), 4, STORE_PRESENT, NULL), 0);
    assert_int_equal(get_n(s, f->table, STR("k")), 4);
    assert_int_equal(delete_key(s, f->table, STR("k"), second, &seq), ERR_CONFLICT);
    assert_int_equal(delete_key(s, f->table, STR("k"), seq, NULL), 0);
    assert_int_equal(delete_key(s, f->table, STR("k"), STORE_PRESENT, NULL), ERR_ABSENT);
}

static void a_delete_of_nothing_is_no_change(void **state)
{
    struct fixture *f = *state;
    uint64_t before = last_seq(f->store), seq = 99;
    assert_int_equal(delete_key(f->store, f->table, STR("no"), STORE_ANY, &seq), 0);
    assert_int_equal(seq, 0);
    assert_int_equal(last_seq(f->store), before);
}

static void counts_follow_rows(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(count_rows(f->store, f->table), 0);
    put_n(f->store, f->table, STR("a"), 1, STORE_ANY, NULL);
    put_n(f->store, f->table, STR("b"), 1, STORE_ANY, NULL);
    put_n(f->store, f->table, STR("a"), 2, STORE_ANY, NULL);
    assert_int_equal(count_rows(f->store, f->table), 2);
    delete_key(f->store, f->table, STR("a"), STORE_ANY, NULL);
    assert_int_equal(count_rows(f->store, f->table), 1);
    assert_int_equal(scan_count(f->store, f->table), 1);
    assert_int_equal(count_rows(f->store, f->table + 7), 0);
}

static void a_list_is_done_whole_or_not_at_all(void **state)
{
    struct fixture *f = *state;
    struct sample a, b, c;
    uint32_t failed = 0;
    put_n(f->store, f->table, STR("b"), 1, STORE_ANY, NULL);
    uint64_t before = last_seq(f->store);
    struct store_op ops[] = {
        row_op(f->table, STR("a"), sample_row(&a, 1, STR("")), STORE_ANY),
        row_op(f->table, STR("b"), sample_row(&b, 2, STR("")), STORE_MISSING),
        row_op(f->table, STR("c"), sample_row(&c, 3, STR("")), STORE_ANY),
    };
    assert_int_equal(write_list(f->store, STORE_DATA, ops, 3, &failed), ERR_EXISTS);
    assert_int_equal(failed, 1);
    assert_int_equal(get_n(f->store, f->table, STR("a")), ERR_ABSENT);
    assert_int_equal(get_n(f->store, f->table, STR("b")), 1);
    assert_int_equal(last_seq(f->store), before);
    assert_int_equal(count_rows(f->store, f->table), 1);
    ops[1].if_version = STORE_PRESENT;
    assert_int_equal(write_list(f->store, STORE_DATA, ops, 3, NULL), 0);
    assert_int_equal(last_seq(f->store), before + 3);
    assert_true(ops[0].ret_seq == before + 1 && ops[2].ret_seq == before + 3);
}

static void operations_of_a_list_see_each_other(void **state)
{
    struct fixture *f = *state;
    struct sample a;
    struct store_op ops[] = {
        row_op(f->table, STR("a"), sample_row(&a, 1, STR("")), STORE_MISSING),
        row_op(f->table, STR("a"), NULL, STORE_PRESENT),
        row_op(f->table, STR("a"), a.nodes, STORE_MISSING),
    };
    assert_int_equal(write_list(f->store, STORE_DATA, ops, 3, NULL), 0);
    assert_int_equal(count_rows(f->store, f->table), 1);
}

/* ---- Scans ---------------------------------------------------------------------------------- */

struct seen {
    char keys[256];
    int n, stop_after, stop_with;
};

static int see_row(void *ctx, const struct store_row *row)
{
    struct seen *seen = ctx;
    snprintf(seen->keys + strlen(seen->keys), sizeof seen->keys - strlen(seen->keys), STR_FMT " ",
             STR_ARG(row->key));
    return ++seen->n == seen->stop_after ? seen->stop_with : 0;
}

static void expect_scan(struct fixture *f, struct store_range range, const char *keys)
{
    struct seen seen = {0};
    struct store_view *view = view_of(f->store, STORE_DATA);
    assert_int_equal(store_scan_rows(view, f->table, &range, see_row, &seen), 0);
    assert_string_equal(seen.keys, keys);
    store_view_close(view);
}

static void put_letters(struct fixture *f)
{
    static const char *const keys[] = {"c", "a", "bb", "e", "b", "d"};
    uint32_t other = make_table(f->store, "other");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        put_n(f->store, f->table, str_of(keys[i]), (int64_t)i, STORE_ANY, NULL);
        put_n(f->store, other, str_of(keys[i]), 100, STORE_ANY, NULL);
    }
}

static void scans_go_in_key_order_within_their_range(void **state)
{
    struct fixture *f = *state;
    put_letters(f);
    expect_scan(f, (struct store_range){.from = STR_NONE, .to = STR_NONE}, "a b bb c d e ");
    expect_scan(f, (struct store_range){.from = STR("b"), .to = STR_NONE}, "b bb c d e ");
    expect_scan(f, (struct store_range){.from = STR("b"), .after = true}, "bb c d e ");
    expect_scan(f, (struct store_range){.from = STR("ba"), .after = true}, "bb c d e ");
    expect_scan(f, (struct store_range){.from = STR("b"), .to = STR("d")}, "b bb c ");
    expect_scan(f, (struct store_range){.to = STR("bb")}, "a b ");
    expect_scan(f, (struct store_range){.from = STR("f"), .to = STR_NONE}, "");
    expect_scan(f, (struct store_range){.from = STR("d"), .to = STR("b")}, "");
}

static void scans_stop_with_what_the_callback_says(void **state)
{
    struct fixture *f = *state;
    put_letters(f);
    struct store_view *view = view_of(f->store, STORE_DATA);
    static const int stops[] = {1, 42, ERR_ABSENT, ERR_NO_MEMORY};
    for (size_t i = 0; i < 4; i++) {
        struct seen seen = {.stop_after = 2, .stop_with = stops[i]};
        assert_int_equal(store_scan_rows(view, f->table, NULL, see_row, &seen), stops[i]);
        assert_string_equal(seen.keys, "a b ");
    }
    store_view_close(view);
}

struct nested {
    struct store_view *view;
    uint32_t table;
    uint64_t inner;
};

static int scan_again(void *ctx, const struct store_row *row)
{
    struct nested *nested = ctx;
    int64_t before = sample_n(row->row);
    assert_int_equal(store_scan_rows(nested->view, nested->table, NULL, count_row, &nested->inner),
                     0);
    assert_int_equal(get_n_in(nested->view, nested->table, row->key, NULL), before);
    assert_int_equal(sample_n(row->row), before);
    return 0;
}

static void a_callback_may_read_by_the_same_view(void **state)
{
    struct fixture *f = *state;
    put_letters(f);
    struct nested nested = {.view = view_of(f->store, STORE_DATA), .table = f->table};
    assert_int_equal(store_scan_rows(nested.view, f->table, NULL, scan_again, &nested), 0);
    assert_int_equal(nested.inner, 36);
    store_view_close(nested.view);
}

static void a_view_is_a_snapshot(void **state)
{
    struct fixture *f = *state;
    uint64_t n = 0, seq = 0;
    put_n(f->store, f->table, STR("k"), 1, STORE_ANY, NULL);
    struct store_view *view = view_of(f->store, STORE_DATA);
    uint64_t before = last_seq(f->store);
    put_n(f->store, f->table, STR("k"), 2, STORE_ANY, NULL);
    put_n(f->store, f->table, STR("l"), 2, STORE_ANY, NULL);
    assert_int_equal(get_n_in(view, f->table, STR("k"), NULL), 1);
    assert_int_equal(get_n_in(view, f->table, STR("l"), NULL), ERR_ABSENT);
    assert_int_equal(store_count_rows(view, f->table, &n), 0);
    assert_int_equal(n, 1);
    assert_int_equal(store_last_seq(view, &seq), 0);
    assert_int_equal(seq, before);
    store_view_close(view);
    assert_int_equal(get_n(f->store, f->table, STR("k")), 2);
}

static void a_view_answers_only_for_its_space(void **state)
{
    struct fixture *f = *state;
    struct store_session s;
    struct arena arena;
    struct store_view *data = view_of(f->store, STORE_DATA), *sys = view_of(f->store, STORE_SYS);
    arena_init(&arena, 0);
    assert_true(get_n_in(sys, f->table, STR("k"), NULL) < 0);
    assert_true(store_get_session(data, STR("s"), &arena, &s) < 0);
    arena_done(&arena);
    store_view_close(data);
    store_view_close(sys);
}

static void many_views_may_be_open(void **state)
{
    struct fixture *f = *state;
    struct store_view *views[100];
    for (int i = 0; i < 100; i++) {
        put_n(f->store, f->table, STR("k"), i, STORE_ANY, NULL);
        views[i] = view_of(f->store, STORE_DATA);
    }
    for (int i = 0; i < 100; i++) {
        assert_int_equal(get_n_in(views[i], f->table, STR("k"), NULL), i);
        store_view_close(views[i]);
    }
}

/* ---- Tables --------------------------------------------------------------------------------- */

static int see_table(void *ctx, const struct store_table *table)
{
    struct seen *seen = ctx;
    snprintf(seen->keys + strlen(seen->keys), sizeof seen->keys - strlen(seen->keys),
             STR_FMT "." STR_FMT " ", STR_ARG(table->database), STR_ARG(table->name));
    return 0;
}

static uint64_t catalog_version(struct store *store)
{
    struct store_view *view = view_of(store, STORE_DATA);
    uint64_t v = 0;
    assert_int_equal(store_catalog_version(view, &v), 0);
    store_view_close(view);
    return v;
}

static void tables_are_listed_by_database_and_name(void **state)
{
    struct fixture *f = *state;
    uint32_t id;
    assert_int_equal(put_table(f->store, STR("z"), STR("a"), STORE_ANY, &id), 0);
    assert_int_equal(put_table(f->store, STR("d"), STR("z"), STORE_ANY, &id), 0);
    assert_int_equal(put_table(f->store, STR("db"), STR("b"), STORE_ANY, &id), 0);
    struct seen seen = {0};
    struct store_view *view = view_of(f->store, STORE_DATA);
    assert_int_equal(store_scan_tables(view, see_table, &seen), 0);
    assert_string_equal(seen.keys, "d.z db.b db.t z.a ");
    store_view_close(view);
}

static void table_names_and_ids_are_checked(void **state)
{
    struct fixture *f = *state;
    char longest[NAME_BYTES_MAX + 1];
    uint32_t id = 0, same = 0;
    memset(longest, 'x', sizeof longest);
    struct str fits = {longest, NAME_BYTES_MAX}, too_long = {longest, sizeof longest};
    assert_int_equal(put_table(f->store, fits, fits, STORE_MISSING, &id), 0);
    assert_int_equal(put_table(f->store, fits, fits, STORE_MISSING, &id), ERR_EXISTS);
    assert_int_equal(put_table(f->store, fits, fits, STORE_ANY, &same), 0);
    assert_int_equal(same, id);
    assert_int_equal(put_table(f->store, too_long, STR("t"), STORE_ANY, &id), ERR_LIMIT);
    assert_int_equal(put_table(f->store, STR("d"), too_long, STORE_ANY, &id), ERR_LIMIT);
    assert_int_equal(put_table(f->store, STR(""), STR("t"), STORE_ANY, &id), ERR_LIMIT);
    assert_int_equal(put_table(f->store, STR("d"), STR("a\0b"), STORE_ANY, &id), ERR_LIMIT);
    struct store_table table = {.id = 999, .database = STR("db"), .name = STR("t")};
    struct store_op op = {.kind = STORE_PUT_TABLE, .if_version = STORE_ANY, .put_table = &table};
    assert_int_equal(write_list(f->store, STORE_DATA, &op, 1, NULL), ERR_ABSENT);
}

static int drop_table(struct store *store, uint32_t table, uint64_t if_version)
{
    struct store_op op = {.kind = STORE_DROP_TABLE, .if_version = if_version, .table = table};
    return write_list(store, STORE_DATA, &op, 1, NULL);
}

static void a_dropped_table_is_gone_with_its_rows(void **state)
{
    struct fixture *f = *state;
    put_letters(f);
    uint64_t before = catalog_version(f->store);
    assert_int_equal(drop_table(f->store, f->table, STORE_PRESENT), 0);
    assert_true(catalog_version(f->store) > before);
    assert_int_equal(drop_table(f->store, f->table, STORE_PRESENT), ERR_ABSENT);
    assert_int_equal(drop_table(f->store, f->table, STORE_ANY), 0);
    assert_int_equal(get_n(f->store, f->table, STR("a")), ERR_ABSENT);
    assert_int_equal(scan_count(f->store, f->table), 0);
    assert_int_equal(put_n(f->store, f->table, STR("a"), 1, STORE_ANY, NULL), ERR_ABSENT);
    assert_int_equal(store_maintain(f->store), 0);
    struct store_view *view = view_of(f->store, STORE_DATA);
    uint64_t rows = 0;
    assert_int_equal(kv_count(&view->txn, KV_ROWS, &rows), 0);
    assert_int_equal(rows, 6); /* those of the other table */
    store_view_close(view);
    uint32_t again = make_table(f->store, "t");
    assert_true(again != f->table);
    assert_int_equal(scan_count(f->store, again), 0);
}

static void a_table_may_be_made_filled_and_dropped_in_one_list(void **state)
{
    struct fixture *f = *state;
    struct sample row;
    struct store_table table = {.database = STR("db"), .name = STR("new"), .definition = STR("{}")};
    uint32_t next = f->table + 1;
    struct store_op ops[] = {
        {.kind = STORE_PUT_TABLE, .if_version = STORE_MISSING, .put_table = &table},
        row_op(next, STR("k"), sample_row(&row, 1, STR("")), STORE_MISSING),
        row_op(f->table, STR("k"), row.nodes, STORE_MISSING),
        {.kind = STORE_DROP_TABLE, .if_version = STORE_PRESENT, .table = next},
    };
    assert_int_equal(write_list(f->store, STORE_DATA, ops, 3, NULL), 0);
    assert_int_equal(ops[0].ret_table, next);
    assert_int_equal(count_rows(f->store, next), 1);
    ops[0].if_version = STORE_PRESENT;
    ops[1].if_version = ops[2].if_version = STORE_ANY;
    assert_int_equal(write_list(f->store, STORE_DATA, ops, 4, NULL), 0);
    assert_int_equal(count_rows(f->store, next), 0);
    assert_int_equal(count_rows(f->store, f->table), 1);
}

/* ---- Limits --------------------------------------------------------------------------------- */

static void keys_have_a_limit(void **state)
{
    struct fixture *f = *state;
    char bytes[KEY_BYTES_MAX + 1] = {0};
    struct str longest = {bytes, KEY_BYTES_MAX}, too_long = {bytes, KEY_BYTES_MAX + 1};
    assert_int_equal(put_n(f->store, f->table, longest, 1, STORE_ANY, NULL), 0);
    assert_int_equal(get_n(f->store, f->table, longest), 1);
    assert_int_equal(put_n(f->store, f->table, too_long, 1, STORE_ANY, NULL), ERR_LIMIT);
    assert_int_equal(put_n(f->store, f->table, STR(""), 1, STORE_ANY, NULL), ERR_LIMIT);
    assert_int_equal(delete_key(f->store, f->table, too_long, STORE_ANY, NULL), ERR_LIMIT);
    assert_int_equal(get_n(f->store, f->table, too_long), ERR_ABSENT);
}

static void rows_have_a_limit(void **state)
{
    struct fixture *f = *state;
    struct sample s;
    char *text = malloc(ROW_BYTES_MAX);
    assert_non_null(text);
    memset(text, 'x', ROW_BYTES_MAX);
    struct store_op fits = row_op(
        f->table, STR("k"), sample_row(&s, 1, (struct str){text, ROW_BYTES_MAX - 100}), STORE_ANY);
    assert_int_equal(write_list(f->store, STORE_DATA, &fits, 1, NULL), 0);
    assert_int_equal(get_n(f->store, f->table, STR("k")), 1);
    fits.row = sample_row(&s, 2, (struct str){text, ROW_BYTES_MAX});
    assert_int_equal(write_list(f->store, STORE_DATA, &fits, 1, NULL), ERR_LIMIT);
    assert_int_equal(get_n(f->store, f->table, STR("k")), 1);
    free(text);
}

static void rows_have_a_limit_of_nodes(void **state)
{
    struct fixture *f = *state;
    struct tape_node *nodes = calloc(ROW_NODES_MAX + 1, sizeof *nodes);
    assert_non_null(nodes);
    nodes[0] =
        (struct tape_node){.kind = TAPE_ARRAY, .n = ROW_NODES_MAX - 1, .v.size = ROW_NODES_MAX};
    struct store_op op = row_op(f->table, STR("k"), nodes, STORE_ANY);
    assert_int_equal(write_list(f->store, STORE_DATA, &op, 1, NULL), 0);
    struct arena arena;
    struct store_row row;
    struct store_view *view = view_of(f->store, STORE_DATA);
    arena_init(&arena, 0); /* what was accepted fits the arena of a call */
    assert_int_equal(store_get_row(view, f->table, STR("k"), &arena, &row), 0);
    assert_int_equal(row.row->v.size, ROW_NODES_MAX);
    arena_done(&arena);
    store_view_close(view);
    nodes[0].n++, nodes[0].v.size++;
    assert_int_equal(write_list(f->store, STORE_DATA, &op, 1, NULL), ERR_LIMIT);
    free(nodes);
}

static void lists_have_a_limit(void **state)
{
    struct fixture *f = *state;
    struct sample s;
    struct store_op *ops = calloc(TXN_ROWS_MAX + 1, sizeof *ops);
    char keys[TXN_ROWS_MAX + 1][5];
    assert_non_null(ops);
    sample_row(&s, 1, STR(""));
    for (int i = 0; i <= TXN_ROWS_MAX; i++) {
        snprintf(keys[i], sizeof keys[i], "%04d", i);
        ops[i] = row_op(f->table, (struct str){keys[i], 4}, s.nodes, STORE_ANY);
    }
    assert_int_equal(write_list(f->store, STORE_DATA, ops, TXN_ROWS_MAX + 1, NULL), ERR_LIMIT);
    assert_int_equal(count_rows(f->store, f->table), 0);
    assert_int_equal(write_list(f->store, STORE_DATA, ops, TXN_ROWS_MAX, NULL), 0);
    assert_int_equal(count_rows(f->store, f->table), TXN_ROWS_MAX);
    assert_int_equal(write_list(f->store, STORE_DATA, ops, 0, NULL), 0);
    free(ops);
}

static void an_operation_of_the_other_space_is_refused(void **state)
{
    struct fixture *f = *state;
    struct store_session session = {.id = STR("s")};
    struct store_op op = {.kind = STORE_PUT_SESSION, .if_version = STORE_ANY, .session = &session};
    assert_int_equal(write_list(f->store, STORE_DATA, &op, 1, NULL), ERR_INTERNAL);
    op.kind = 77;
    assert_int_equal(write_list(f->store, STORE_SYS, &op, 1, NULL), ERR_INTERNAL);
}

/* ---- Change log ----------------------------------------------------------------------------- */

struct changes {
    uint64_t next; /* sequence expected */
    uint64_t n;
    struct store_change last;
    char key[16];
};

static int see_change(void *ctx, const struct store_change *change)
{
    struct changes *c = ctx;
    assert_true(change->seq == c->next);
    c->next++;
    c->n++;
    c->last = *change;
    snprintf(c->key, sizeof c->key, STR_FMT, STR_ARG(change->key));
    return 0;
}

static struct changes read_changes(struct store *store, uint64_t after)
{
    struct changes c = {.next = after + 1};
    struct store_view *view = view_of(store, STORE_DATA);
    assert_int_equal(store_scan_changes(view, after, see_change, &c), 0);
    store_view_close(view);
    return c;
}

static void every_change_is_in_the_log(void **state)
{
    struct fixture *f = *state;
    struct changes c = read_changes(f->store, 0);
    assert_true(c.n == 1 && c.last.kind == STORE_TABLE_PUT && c.last.table == f->table);
    uint64_t before = last_seq(f->store);
    put_n(f->store, f->table, STR("k"), 1, STORE_ANY, NULL);
    c = read_changes(f->store, before);
    assert_true(c.n == 1 && c.last.kind == STORE_ROW_PUT && c.last.table == f->table);
    assert_string_equal(c.key, "k");
    assert_true(c.last.time_ms > 1600000000000);
    delete_key(f->store, f->table, STR("k"), STORE_ANY, NULL);
    c = read_changes(f->store, before);
    assert_true(c.n == 2 && c.last.kind == STORE_ROW_DELETED);
    drop_table(f->store, f->table, STORE_ANY);
    c = read_changes(f->store, before);
    assert_true(c.n == 3 && c.last.kind == STORE_TABLE_DROPPED);
    assert_int_equal(read_changes(f->store, UINT64_MAX - 1).n, 0);
}

#define THREADS         4
#define WRITES_A_THREAD 200

struct worker {
    pthread_t thread;
    struct fixture *f;
    int id;
    uint64_t seqs[WRITES_A_THREAD];
    int failures;
};

static void *write_many(void *arg)
{
    struct worker *w = arg;
    for (int i = 0; i < WRITES_A_THREAD; i++) {
        struct sample s;
        char key[16];
        struct waited write = {0};
        snprintf(key, sizeof key, "%d-%d", w->id, i);
        struct store_op ops[2] = {
            row_op(w->f->table, str_of(key), sample_row(&s, i, STR("x")), STORE_MISSING),
            row_op(w->f->table, STR("shared"), s.nodes, STORE_ANY),
        };
        if (i % 10 == 9) /* one list in ten is refused at its second operation */
            ops[1].if_version = STORE_MISSING;
        write.write =
            (struct store_write){.space = STORE_DATA, .ops = ops, .n_ops = 2, .done = waited_done};
        store_submit(w->f->store, &write.write);
        w->failures += write.err != (i % 10 == 9 ? ERR_EXISTS : 0);
        w->seqs[i] = write.err ? 0 : ops[0].ret_seq;
    }
    return NULL;
}

static void threads_leave_no_gap_in_the_log(void **state)
{
    struct fixture *f = *state;
    static struct worker workers[THREADS];
    put_n(f->store, f->table, STR("shared"), 0, STORE_ANY, NULL);
    uint64_t before = last_seq(f->store);
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.f = f, .id = i};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, write_many, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    uint64_t done = THREADS * WRITES_A_THREAD / 10 * 9;
    struct changes c = read_changes(f->store, before);
    assert_int_equal(c.n, done * 2);
    assert_int_equal(last_seq(f->store), before + done * 2);
    assert_int_equal(count_rows(f->store, f->table), done + 1);
    assert_int_equal(scan_count(f->store, f->table), done + 1);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(workers[i].failures, 0);
        for (int k = 1; k < WRITES_A_THREAD; k++) /* in the order of submission */
            assert_true(!workers[i].seqs[k] || !workers[i].seqs[k - 1] ||
                        workers[i].seqs[k] > workers[i].seqs[k - 1]);
    }
}

static void the_log_is_bounded_and_says_where_it_starts(void **state)
{
    struct fixture *f = *state;
    struct store_view *view;
    uint64_t floor = 0;
    f->store->log_keep = 10;
    for (int i = 0; i < 30; i++)
        put_n(f->store, f->table, STR("k"), i, STORE_ANY, NULL);
    view = view_of(f->store, STORE_DATA);
    assert_int_equal(store_floor_seq(view, &floor), 0);
    assert_int_equal(floor, 1);
    store_view_close(view);
    assert_int_equal(store_maintain(f->store), 0);
    uint64_t last = last_seq(f->store);
    view = view_of(f->store, STORE_DATA);
    assert_int_equal(store_floor_seq(view, &floor), 0);
    assert_true(floor == last - 9);
    store_view_close(view);
    assert_int_equal(read_changes(f->store, floor - 1).n, 10);
    f->store->log_keep = 0;
    assert_int_equal(store_maintain(f->store), 0);
    view = view_of(f->store, STORE_DATA);
    assert_int_equal(store_floor_seq(view, &floor), 0);
    assert_true(floor == last + 1);
    store_view_close(view);
    uint64_t seq = 0;
    put_n(f->store, f->table, STR("k"), 1, STORE_ANY, &seq);
    assert_true(seq == last + 1); /* never reused */
}

/* ---- Sessions ------------------------------------------------------------------------------- */

static struct store_session session_of(const char *id, int64_t lives_ms)
{
    int64_t now = clock_wall_ms();
    return (struct store_session){.id = str_of(id),
                                  .user = STR("ada"),
                                  .profile = STR("application"),
                                  .version = STR("2025-06-18"),
                                  .client_info = STR("{\"name\":\"c\"}"),
                                  .capabilities = STR("{}"),
                                  .log_level = -1,
                                  .created_ms = now,
                                  .active_ms = now,
                                  .expires_ms = now + lives_ms};
}

static int session_op(struct store *store, enum store_op_kind kind, struct store_session *s,
                      uint64_t if_version)
{
    struct store_op op = {.kind = kind, .if_version = if_version, .session = s};
    return write_list(store, STORE_SYS, &op, 1, NULL);
}

static int get_session(struct store *store, const char *id, struct arena *arena,
                       struct store_session *ret)
{
    struct store_view *view = view_of(store, STORE_SYS);
    int err = store_get_session(view, str_of(id), arena, ret);
    store_view_close(view);
    return err;
}

static bool has_session(struct store *store, const char *id)
{
    struct arena arena;
    struct store_session s;
    arena_init(&arena, 0);
    int err = get_session(store, id, &arena, &s);
    arena_done(&arena);
    assert_true(err == 0 || err == ERR_ABSENT);
    return !err;
}

static uint64_t count_sessions(struct store *store)
{
    struct store_view *view = view_of(store, STORE_SYS);
    uint64_t n = 0;
    assert_int_equal(store_count_sessions(view, &n), 0);
    store_view_close(view);
    return n;
}

static void sessions_come_back_as_they_were_put(void **state)
{
    struct fixture *f = *state;
    struct store_session s = session_of("01bf5a2c00", 60000), back;
    struct arena arena;
    arena_init(&arena, 0);
    s.initialized = true;
    s.log_level = 5;
    assert_int_equal(session_op(f->store, STORE_PUT_SESSION, &s, STORE_MISSING), 0);
    assert_int_equal(session_op(f->store, STORE_PUT_SESSION, &s, STORE_MISSING), ERR_EXISTS);
    assert_int_equal(get_session(f->store, "01bf5a2c00", &arena, &back), 0);
    assert_true(str_eq(back.id, s.id) && str_eq(back.user, s.user));
    assert_true(str_eq(back.profile, s.profile) && str_eq(back.version, s.version));
    assert_true(str_eq(back.client_info, s.client_info));
    assert_true(str_eq(back.capabilities, s.capabilities));
    assert_true(back.initialized && back.log_level == 5 && back.created_ms == s.created_ms);
    assert_true(back.active_ms == s.active_ms && back.expires_ms == s.expires_ms);
    assert_false(has_session(f->store, "01bf5a2c01"));
    assert_false(has_session(f->store, ""));
    arena_done(&arena);
}

static void REFERENCE_c_5_a_late_touch_does_not_bring_a_session_back(void **state)
{
    struct fixture *f = *state;
    struct store_session s = session_of("a", 60000);
    assert_int_equal(session_op(f->store, STORE_PUT_SESSION, &s, STORE_MISSING), 0);
    assert_int_equal(session_op(f->store, STORE_DELETE_SESSION, &s, STORE_PRESENT), 0);
    assert_int_equal(session_op(f->store, STORE_TOUCH_SESSION, &s, STORE_ANY), 0);
    assert_false(has_session(f->store, "a"));
    assert_int_equal(session_op(f->store, STORE_TOUCH_SESSION, &s, STORE_PRESENT), ERR_ABSENT);
    assert_int_equal(session_op(f->store, STORE_PUT_SESSION, &s, STORE_PRESENT), ERR_ABSENT);
    assert_int_equal(session_op(f->store, STORE_DELETE_SESSION, &s, STORE_PRESENT), ERR_ABSENT);
    assert_int_equal(session_op(f->store, STORE_DELETE_SESSION, &s, STORE_ANY), 0);
    assert_int_equal(count_sessions(f->store), 0);
}

static void a_touch_moves_only_the_times(void **state)
{
    struct fixture *f = *state;
    struct store_session s = session_of("a", 60000), touch = {.id = STR("a")}, back;
    struct arena arena;
    arena_init(&arena, 0);
    assert_int_equal(session_op(f->store, STORE_PUT_SESSION, &s, STORE_MISSING), 0);
    touch.active_ms = s.active_ms + 1000;
    touch.expires_ms = s.expires_ms + 600000;
    assert_int_equal(session_op(f->store, STORE_TOUCH_SESSION, &touch, STORE_PRESENT), 0);
    assert_int_equal(get_session(f->store, "a", &arena, &back), 0);
    assert_true(str_eq(back.user, STR("ada")) && back.created_ms == s.created_ms);
    assert_true(back.active_ms == touch.active_ms && back.expires_ms == touch.expires_ms);
    arena_done(&arena);
    assert_int_equal(store_sweep_sessions(f->store, s.expires_ms + 1, 10), 0); /* not by then */
    assert_int_equal(store_sweep_sessions(f->store, touch.expires_ms + 1, 10), 1);
    assert_int_equal(count_sessions(f->store), 0);
}

static void an_expired_session_is_absent(void **state)
{
    struct fixture *f = *state;
    struct store_session s = session_of("a", 1000);
    assert_int_equal(session_op(f->store, STORE_PUT_SESSION, &s, STORE_MISSING), 0);
    assert_true(has_session(f->store, "a"));
    clock_advance_ms(1000);
    assert_false(has_session(f->store, "a"));
    s.expires_ms += 60000;
    assert_int_equal(session_op(f->store, STORE_TOUCH_SESSION, &s, STORE_PRESENT), ERR_ABSENT);
    assert_int_equal(session_op(f->store, STORE_PUT_SESSION, &s, STORE_PRESENT), ERR_ABSENT);
    assert_false(has_session(f->store, "a"));
    assert_int_equal(session_op(f->store, STORE_PUT_SESSION, &s, STORE_MISSING), 0);
    assert_true(has_session(f->store, "a"));
    assert_int_equal(count_sessions(f->store), 1);
}

static void the_sweep_takes_what_expired_and_no_more(void **state)
{
    struct fixture *f = *state;
    int64_t now = clock_wall_ms();
    for (int i = 0; i < 700; i++) {
        char id[16];
        snprintf(id, sizeof id, "s%04d", i);
        struct store_session s = session_of(id, 0);
        s.expires_ms = now + (i % 2 ? 200000 : 5000 + i);
        assert_int_equal(session_op(f->store, STORE_PUT_SESSION, &s, STORE_MISSING), 0);
    }
    assert_int_equal(store_sweep_sessions(f->store, now, 1000), 0);
    assert_int_equal(store_sweep_sessions(f->store, now + 100000, 0), 0);
    assert_int_equal(store_sweep_sessions(f->store, now + 100000, 30), 30);
    assert_int_equal(store_sweep_sessions(f->store, now + 100000, 1000), 320);
    assert_int_equal(count_sessions(f->store), 350);
    assert_true(has_session(f->store, "s0001"));
    assert_false(has_session(f->store, "s0000"));
    assert_int_equal(store_sweep_sessions(f->store, now + 200000, 1000), 350);
    struct store_view *view = view_of(f->store, STORE_SYS);
    uint64_t n = 99;
    assert_int_equal(kv_count(&view->txn, KV_SESSION_EXPIRY, &n), 0);
    assert_int_equal(n, 0);
    store_view_close(view);
}

static void session_fields_have_limits(void **state)
{
    struct fixture *f = *state;
    static char bytes[CLIENT_INFO_BYTES + 1];
    memset(bytes, 'x', sizeof bytes);
    struct store_session s = session_of("a", 60000);
    s.client_info = s.capabilities = (struct str){bytes, CLIENT_INFO_BYTES};
    s.id = (struct str){bytes, SESSION_ID_BYTES};
    assert_int_equal(session_op(f->store, STORE_PUT_SESSION, &s, STORE_ANY), 0);
    s.id.n++;
    assert_int_equal(session_op(f->store, STORE_PUT_SESSION, &s, STORE_ANY), ERR_LIMIT);
    assert_int_equal(session_op(f->store, STORE_TOUCH_SESSION, &s, STORE_ANY), ERR_LIMIT);
    s.id = STR("");
    assert_int_equal(session_op(f->store, STORE_DELETE_SESSION, &s, STORE_ANY), ERR_LIMIT);
    s.id = STR("a");
    s.capabilities.n++;
    assert_int_equal(session_op(f->store, STORE_PUT_SESSION, &s, STORE_ANY), ERR_LIMIT);
    s = session_of("a", 60000);
    s.user = (struct str){bytes, sizeof bytes};
    assert_int_equal(session_op(f->store, STORE_PUT_SESSION, &s, STORE_ANY), ERR_LIMIT);
}

/* ---- Completions on a loop ------------------------------------------------------------------ */

static void completions_come_on_the_loop_in_order(void **state)
{
    struct fixture *f = *state;
    struct loop loop = {.lock = PTHREAD_MUTEX_INITIALIZER, .posted = PTHREAD_COND_INITIALIZER};
    static struct waited writes[50];
    static struct store_op ops[50];
    struct sample s;
    memset(writes, 0, sizeof writes);
    sample_row(&s, 1, STR(""));
    store_close(f->store); /* a fresh one: a loop is attached before the first submit */
    if (*f->dir)
        assert_int_equal(open_lmdb(f), 0);
    else
        assert_int_equal(store_open_memory(&f->store), 0);
    store_attach(f->store, &loop);
    for (int i = 0; i < 50; i++) { /* no such table in memory: refused there, done in LMDB */
        ops[i] = row_op(f->table, STR("k"), s.nodes, STORE_ANY);
        writes[i].write = (struct store_write){
            .space = STORE_DATA, .ops = &ops[i], .n_ops = 1, .done = waited_done};
        store_submit(f->store, &writes[i].write);
    }
    while (!writes[49].n_done)
        loop_run_once(&loop);
    for (int i = 0; i < 50; i++) {
        assert_int_equal(writes[i].n_done, 1);
        assert_int_equal(writes[i].err, *f->dir ? 0 : ERR_ABSENT);
        assert_true(!*f->dir || i == 0 || ops[i].ret_seq == ops[i - 1].ret_seq + 1);
    }
}

static void closing_commits_what_waits_and_calls_nobody(void **state)
{
    struct fixture *f = *state;
    struct loop loop = {.lock = PTHREAD_MUTEX_INITIALIZER, .posted = PTHREAD_COND_INITIALIZER};
    struct waited write = {0};
    struct sample s;
    struct store_op op = row_op(f->table, STR("k"), sample_row(&s, 5, STR("")), STORE_ANY);
    store_close(f->store);
    f->store = NULL;
    if (!*f->dir)
        return; /* nothing would be left to look at */
    assert_int_equal(open_lmdb(f), 0);
    store_attach(f->store, &loop);
    write.write =
        (struct store_write){.space = STORE_DATA, .ops = &op, .n_ops = 1, .done = waited_done};
    store_submit(f->store, &write.write);
    store_close(f->store);
    loop_run_once(&loop);
    assert_int_equal(write.n_done, 0);
    assert_int_equal(open_lmdb(f), 0);
    assert_int_equal(get_n(f->store, f->table, STR("k")), 5);
}

/* ---- Loads ---------------------------------------------------------------------------------- */

static int load_n(struct store_load *load, int key, int64_t n, uint64_t if_version)
{
    struct sample s;
    char text[16];
    snprintf(text, sizeof text, "%06d", key);
    return store_load_row(load, str_of(text), sample_row(&s, n, STR("loaded")), if_version);
}

static struct store_load *begin_load(struct fixture *f)
{
    struct store_load *load = NULL;
    assert_int_equal(store_load_begin(f->store, f->table, &load), 0);
    return load;
}

static void assert_no_undo(struct store *store)
{
    struct store_view *view = view_of(store, STORE_DATA);
    uint64_t n = 99, open = 99;
    assert_int_equal(kv_count(&view->txn, KV_UNDO, &n), 0);
    assert_int_equal(meta_get(&view->txn, META_LOAD, &open), 0);
    assert_true(n == 0 && open == 0);
    store_view_close(view);
}

static void a_load_that_is_committed_is_there(void **state)
{
    struct fixture *f = *state;
    put_n(f->store, f->table, STR("000005"), 1, STORE_ANY, NULL);
    struct store_load *load = begin_load(f);
    uint64_t before = last_seq(f->store);
    for (int i = 0; i < 1234; i++)
        assert_int_equal(load_n(load, i, i, STORE_ANY), 0);
    assert_int_equal(store_load_commit(load), 0);
    assert_int_equal(count_rows(f->store, f->table), 1234);
    assert_int_equal(scan_count(f->store, f->table), 1234);
    assert_int_equal(get_n(f->store, f->table, STR("000005")), 5);
    assert_int_equal(read_changes(f->store, before).n, 1234);
    assert_no_undo(f->store);
}

static void a_load_that_is_aborted_leaves_what_stood_before(void **state)
{
    struct fixture *f = *state;
    uint64_t seq = 0, version = 0;
    put_n(f->store, f->table, STR("000005"), 1, STORE_ANY, &seq);
    struct store_load *load = begin_load(f);
    for (int i = 0; i < 1234; i++)
        assert_int_equal(load_n(load, i % 1000, i, STORE_ANY), 0); /* some twice */
    store_load_abort(load);
    assert_int_equal(count_rows(f->store, f->table), 1);
    assert_int_equal(scan_count(f->store, f->table), 1);
    struct store_view *view = view_of(f->store, STORE_DATA);
    assert_int_equal(get_n_in(view, f->table, STR("000005"), &version), 1);
    assert_true(version == seq);
    store_view_close(view);
    read_changes(f->store, 0); /* no gap */
    assert_no_undo(f->store);
}

static void a_load_obeys_conditions_and_names_the_row(void **state)
{
    struct fixture *f = *state;
    put_n(f->store, f->table, STR("000700"), 1, STORE_ANY, NULL);
    struct store_load *load = begin_load(f);
    int err = 0;
    for (int i = 0; i < 1000 && !err; i++)
        err = load_n(load, i, i, STORE_MISSING);
    if (!err)
        err = store_load_commit(load);
    assert_int_equal(err, ERR_EXISTS);
    assert_int_equal(store_load_failed_row(load), 700);
    assert_int_equal(load_n(load, 2000, 1, STORE_ANY), ERR_EXISTS); /* only abort is left */
    assert_int_equal(store_load_commit(load), ERR_EXISTS);
    store_load_abort(load);
    assert_int_equal(scan_count(f->store, f->table), 1);
    assert_no_undo(f->store);
}

static void a_load_names_a_row_over_a_limit(void **state)
{
    struct fixture *f = *state;
    char bytes[KEY_BYTES_MAX + 1] = {0};
    struct sample s;
    struct store_load *load = begin_load(f);
    assert_int_equal(load_n(load, 1, 1, STORE_ANY), 0);
    assert_int_equal(store_load_row(load, (struct str){bytes, sizeof bytes},
                                    sample_row(&s, 1, STR("")), STORE_ANY),
                     ERR_LIMIT);
    assert_int_equal(store_load_failed_row(load), 1);
    store_load_abort(load);
    assert_int_equal(scan_count(f->store, f->table), 0);
}

static void an_aborted_load_leaves_what_others_wrote_meanwhile(void **state)
{
    struct fixture *f = *state;
    struct store_load *load = begin_load(f);
    for (int i = 0; i < 500; i++) /* one batch: it is in */
        assert_int_equal(load_n(load, i, i, STORE_ANY), 0);
    assert_int_equal(get_n(f->store, f->table, STR("000001")), 1);
    put_n(f->store, f->table, STR("000001"), 77, STORE_PRESENT, NULL);
    delete_key(f->store, f->table, STR("000002"), STORE_PRESENT, NULL);
    store_load_abort(load);
    assert_int_equal(get_n(f->store, f->table, STR("000001")), 77);
    assert_int_equal(get_n(f->store, f->table, STR("000002")), ERR_ABSENT);
    assert_int_equal(count_rows(f->store, f->table), 1);
    assert_int_equal(scan_count(f->store, f->table), 1);
}

static void a_load_survives_the_drop_of_its_table(void **state)
{
    struct fixture *f = *state;
    struct store_load *load = begin_load(f);
    for (int i = 0; i < 500; i++)
        assert_int_equal(load_n(load, i, i, STORE_ANY), 0);
    drop_table(f->store, f->table, STORE_PRESENT);
    int err = load_n(load, 500, 1, STORE_ANY);
    assert_int_equal(err ? err : store_load_commit(load), ERR_ABSENT);
    store_load_abort(load);
    assert_no_undo(f->store);
}

static void one_load_at_a_time(void **state)
{
    struct fixture *f = *state;
    struct store_load *load = begin_load(f), *other = NULL;
    assert_int_equal(store_load_begin(f->store, f->table, &other), ERR_BUSY);
    assert_int_equal(load_n(load, 1, 1, STORE_ANY), 0);
    assert_int_equal(store_maintain(f->store), 0); /* does not touch a load that lives */
    assert_int_equal(store_load_commit(load), 0);
    assert_int_equal(get_n(f->store, f->table, STR("000001")), 1);
    assert_int_equal(store_load_begin(f->store, f->table + 9, &other), ERR_ABSENT);
    load = begin_load(f);
    store_load_abort(load);
}

/* ---- The rest ------------------------------------------------------------------------------- */

static void the_secret_and_the_id_stay_the_same(void **state)
{
    struct fixture *f = *state;
    unsigned char a[32], b[32], data_id[16], sys_id[16], zero[32] = {0};
    assert_int_equal(store_secret(f->store, a), 0);
    assert_int_equal(store_secret(f->store, b), 0);
    assert_memory_equal(a, b, 32);
    assert_true(memcmp(a, zero, 32) != 0);
    struct store_view *data = view_of(f->store, STORE_DATA), *sys = view_of(f->store, STORE_SYS);
    assert_int_equal(store_database_id(data, data_id), 0);
    assert_int_equal(store_database_id(sys, sys_id), 0);
    assert_memory_equal(data_id, sys_id, 16);
    assert_true(memcmp(data_id, zero, 16) != 0);
    store_view_close(data);
    store_view_close(sys);
}

/* A random mix against a plain array as the model. */
static void a_random_mix_agrees_with_a_model(void **state)
{
    struct fixture *f = *state;
    int64_t model[64];
    unsigned random = 12345;
    for (int i = 0; i < 64; i++)
        model[i] = ERR_ABSENT;
    for (int step = 0; step < 2000; step++) {
        char key[4];
        random = random * 1103515245 + 12345;
        unsigned k = (random >> 16) % 64;
        snprintf(key, sizeof key, "%02u", k);
        if (random >> 24 & 1) {
            assert_int_equal(put_n(f->store, f->table, str_of(key), step, STORE_ANY, NULL), 0);
            model[k] = step;
        } else {
            int err = delete_key(f->store, f->table, str_of(key), STORE_PRESENT, NULL);
            assert_int_equal(err, model[k] < 0 ? ERR_ABSENT : 0);
            model[k] = ERR_ABSENT;
        }
    }
    uint64_t n = 0;
    for (unsigned k = 0; k < 64; k++) {
        char key[4];
        snprintf(key, sizeof key, "%02u", k);
        assert_int_equal(get_n(f->store, f->table, str_of(key)), model[k]);
        n += model[k] >= 0;
    }
    assert_int_equal(count_rows(f->store, f->table), n);
    assert_int_equal(scan_count(f->store, f->table), n);
}

#define CASES(X)                                                \
    X(rows_come_back_as_they_were_put)                          \
    X(conditions_are_obeyed)                                    \
    X(a_delete_of_nothing_is_no_change)                         \
    X(counts_follow_rows)                                       \
    X(a_list_is_done_whole_or_not_at_all)                       \
    X(operations_of_a_list_see_each_other)                      \
    X(scans_go_in_key_order_within_their_range)                 \
    X(scans_stop_with_what_the_callback_says)                   \
    X(a_callback_may_read_by_the_same_view)                     \
    X(a_view_is_a_snapshot)                                     \
    X(a_view_answers_only_for_its_space)                        \
    X(many_views_may_be_open)                                   \
    X(tables_are_listed_by_database_and_name)                   \
    X(table_names_and_ids_are_checked)                          \
    X(a_dropped_table_is_gone_with_its_rows)                    \
    X(a_table_may_be_made_filled_and_dropped_in_one_list)       \
    X(keys_have_a_limit)                                        \
    X(rows_have_a_limit)                                        \
    X(rows_have_a_limit_of_nodes)                               \
    X(lists_have_a_limit)                                       \
    X(an_operation_of_the_other_space_is_refused)               \
    X(every_change_is_in_the_log)                               \
    X(threads_leave_no_gap_in_the_log)                          \
    X(the_log_is_bounded_and_says_where_it_starts)              \
    X(sessions_come_back_as_they_were_put)                      \
    X(REFERENCE_c_5_a_late_touch_does_not_bring_a_session_back) \
    X(a_touch_moves_only_the_times)                             \
    X(an_expired_session_is_absent)                             \
    X(the_sweep_takes_what_expired_and_no_more)                 \
    X(session_fields_have_limits)                               \
    X(completions_come_on_the_loop_in_order)                    \
    X(closing_commits_what_waits_and_calls_nobody)              \
    X(a_load_that_is_committed_is_there)                        \
    X(a_load_that_is_aborted_leaves_what_stood_before)          \
    X(a_load_obeys_conditions_and_names_the_row)                \
    X(a_load_names_a_row_over_a_limit)                          \
    X(an_aborted_load_leaves_what_others_wrote_meanwhile)       \
    X(a_load_survives_the_drop_of_its_table)                    \
    X(one_load_at_a_time)                                       \
    X(the_secret_and_the_id_stay_the_same)                      \
    X(a_random_mix_agrees_with_a_model)

int main(void)
{
#define MEMORY(name) {"memory: " #name, name, set_up_memory, tear_down, NULL},
#define LMDB(name)   {"lmdb: " #name, name, set_up_lmdb, tear_down, NULL},
    static const struct CMUnitTest tests[] = {CASES(MEMORY) CASES(LMDB)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
