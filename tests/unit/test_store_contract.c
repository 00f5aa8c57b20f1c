/* tests/unit/test_store_contract.c - the port core/store.h, the same cases on both engines: rows,
 * tables, limits and the change log. Sessions, queue and loads: test_store_contract_more.c. */
#include "store_contract.h"

#include "base/clock.h"

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

static void no_transaction_stands_behind_an_answer(void **state)
{
    struct fixture *f = *state;
    assert_true(store_write_standing_ms(f->store) == 0);
    assert_int_equal(put_n(f->store, f->table, STR("k"), 1, STORE_MISSING, NULL), 0);
    assert_int_equal(put_n(f->store, f->table, STR("k"), 1, STORE_MISSING, NULL), ERR_EXISTS);
    clock_advance_ms(60000);
    assert_true(store_write_standing_ms(f->store) == 0);
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

static int see_key(void *ctx, const struct store_row *row)
{
    assert_null(row->row);
    assert_true(row->version == 0 && row->changed_ms == 0);
    return see_row(ctx, row);
}

static void a_scan_of_keys_reads_no_rows(void **state)
{
    struct fixture *f = *state;
    struct store_range range = {.from = STR("b"), .to = STR("d"), .keys_only = true};
    struct seen forward = {0}, back = {0};
    put_letters(f);
    struct store_view *view = view_of(f->store, STORE_DATA);
    assert_int_equal(store_scan_rows(view, f->table, &range, see_key, &forward), 0);
    range.descending = true;
    assert_int_equal(store_scan_rows(view, f->table, &range, see_key, &back), 0);
    assert_string_equal(forward.keys, "b bb c ");
    assert_string_equal(back.keys, "c bb b ");
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

static void a_changed_resource_is_only_in_the_log(void **state)
{
    struct fixture *f = *state;
    char uri[URI_BYTES_MAX + 2];
    uint64_t before = last_seq(f->store);
    struct store_op op = {.kind = STORE_LOG_RESOURCE, .if_version = STORE_ANY, .key = STR("x://y")};
    assert_int_equal(write_list(f->store, STORE_DATA, &op, 1, NULL), 0);
    assert_int_equal(op.ret_seq, before + 1);
    struct changes c = read_changes(f->store, before);
    assert_true(c.n == 1 && c.last.kind == STORE_RESOURCE_CHANGED && c.last.table == 0);
    assert_string_equal(c.key, "x://y");
    memset(uri, 'x', sizeof uri);
    op.key = (struct str){uri, URI_BYTES_MAX + 1};
    assert_int_equal(write_list(f->store, STORE_DATA, &op, 1, NULL), ERR_LIMIT);
    assert_int_equal(read_changes(f->store, before).n, 1);
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

/* ---- The rest ------------------------------------------------------------------------------- */

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

#define CASES(X)                                          \
    X(rows_come_back_as_they_were_put)                    \
    X(conditions_are_obeyed)                              \
    X(no_transaction_stands_behind_an_answer)             \
    X(a_delete_of_nothing_is_no_change)                   \
    X(counts_follow_rows)                                 \
    X(a_list_is_done_whole_or_not_at_all)                 \
    X(operations_of_a_list_see_each_other)                \
    X(scans_go_in_key_order_within_their_range)           \
    X(a_scan_of_keys_reads_no_rows)                       \
    X(scans_stop_with_what_the_callback_says)             \
    X(a_callback_may_read_by_the_same_view)               \
    X(a_view_is_a_snapshot)                               \
    X(a_view_answers_only_for_its_space)                  \
    X(many_views_may_be_open)                             \
    X(tables_are_listed_by_database_and_name)             \
    X(table_names_and_ids_are_checked)                    \
    X(a_dropped_table_is_gone_with_its_rows)              \
    X(a_table_may_be_made_filled_and_dropped_in_one_list) \
    X(keys_have_a_limit)                                  \
    X(rows_have_a_limit)                                  \
    X(rows_have_a_limit_of_nodes)                         \
    X(lists_have_a_limit)                                 \
    X(an_operation_of_the_other_space_is_refused)         \
    X(every_change_is_in_the_log)                         \
    X(a_changed_resource_is_only_in_the_log)              \
    X(threads_leave_no_gap_in_the_log)                    \
    X(the_log_is_bounded_and_says_where_it_starts) X(a_random_mix_agrees_with_a_model)

int main(void)
{
    static const struct CMUnitTest tests[] = {CASES(CONTRACT_MEMORY) CASES(CONTRACT_LMDB)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
