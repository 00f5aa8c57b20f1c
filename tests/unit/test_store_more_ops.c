/* tests/unit/test_store_more_ops.c - contract of core/store.h, on both engines: versions of tables
 * at row writes, changing a table under running writes, scans backwards, lists of sessions.
 */
#include "store_contract.h"

static uint64_t table_version(struct fixture *f)
{
    struct store_table table = {.database = STR("db"), .name = STR("t"), .definition = STR("{1}")};
    struct store_op op = {.kind = STORE_PUT_TABLE, .if_version = STORE_ANY, .put_table = &table};
    assert_int_equal(write_list(f->store, STORE_DATA, &op, 1, NULL), 0);
    return op.ret_seq;
}

static void a_row_checked_by_an_older_table_is_stale(void **state)
{
    struct fixture *f = *state;
    struct sample s;
    uint64_t now = table_version(f);
    struct store_op op = row_op(f->table, STR("k"), sample_row(&s, 1, STR("x")), STORE_ANY);
    op.table_version = now - 1;
    assert_int_equal(write_list(f->store, STORE_DATA, &op, 1, NULL), ERR_STALE);
    assert_int_equal(get_n(f->store, f->table, STR("k")), ERR_ABSENT);
    op.table_version = now;
    assert_int_equal(write_list(f->store, STORE_DATA, &op, 1, NULL), 0);
    uint64_t later = table_version(f);
    struct store_op gone = row_op(f->table, STR("k"), NULL, STORE_ANY);
    gone.table_version = now;
    assert_int_equal(write_list(f->store, STORE_DATA, &gone, 1, NULL), ERR_STALE);
    gone.table_version = later;
    assert_int_equal(write_list(f->store, STORE_DATA, &gone, 1, NULL), 0);
}

static int refuse_13(void *ctx, const struct store_row *row)
{
    ++*(uint32_t *)ctx;
    return sample_n(row->row) == 13 ? ERR_PARAMS : 0;
}

static int alter(struct fixture *f, uint64_t since, uint32_t *ret_seen)
{
    struct store_table table = {.database = STR("db"), .name = STR("t"), .definition = STR("{2}")};
    struct store_op op = {.kind = STORE_PUT_TABLE,
                          .if_version = STORE_PRESENT,
                          .put_table = &table,
                          .since_seq = since,
                          .check_row = refuse_13,
                          .check_ctx = ret_seen};
    *ret_seen = 0;
    return write_list(f->store, STORE_DATA, &op, 1, NULL);
}

static void altering_checks_rows_written_since(void **state)
{
    struct fixture *f = *state;
    uint32_t seen;
    put_n(f->store, f->table, STR("before"), 13, STORE_ANY, NULL);
    uint64_t since = last_seq(f->store);
    put_n(f->store, f->table, STR("a"), 1, STORE_ANY, NULL);
    put_n(f->store, f->table, STR("a"), 2, STORE_ANY, NULL);
    put_n(f->store, f->table, STR("b"), 13, STORE_ANY, NULL);
    uint64_t last = last_seq(f->store);
    assert_int_equal(alter(f, since, &seen), ERR_PARAMS);
    assert_true(last_seq(f->store) == last); /* nothing of it was done */
    delete_key(f->store, f->table, STR("b"), STORE_ANY, NULL);
    assert_int_equal(alter(f, since, &seen), 0);
    assert_int_equal(seen, 1);
}

static void altering_too_far_behind_is_stale(void **state)
{
    struct fixture *f = *state;
    uint32_t seen;
    uint64_t since = last_seq(f->store);
    for (int i = 0; i <= TXN_ROWS_MAX; i++)
        put_n(f->store, f->table, STR("a"), i, STORE_ANY, NULL);
    assert_int_equal(alter(f, since, &seen), ERR_STALE);
    assert_int_equal(alter(f, last_seq(f->store) + 1, &seen), ERR_STALE);
    assert_int_equal(alter(f, since + 1, &seen), 0);
    assert_int_equal(seen, 1); /* the row as it is now, not each of its versions */
}

/* `n` rows in lists of TXN_ROWS_MAX. */
static void write_many(struct store *store, uint32_t table, uint32_t n)
{
    static struct store_op ops[TXN_ROWS_MAX];
    struct sample s;
    for (uint32_t i = 0; i < TXN_ROWS_MAX; i++)
        ops[i] = row_op(table, STR("k"), sample_row(&s, 1, STR("")), STORE_ANY);
    for (; n; n -= n < TXN_ROWS_MAX ? n : TXN_ROWS_MAX)
        assert_int_equal(
            write_list(store, STORE_DATA, ops, n < TXN_ROWS_MAX ? n : TXN_ROWS_MAX, NULL), 0);
}

/* Up to RECHECK_LOG_MAX: somewhere the write transaction has to end. */
static void another_busy_table_does_not_hold_up_altering(void **state)
{
    struct fixture *f = *state;
    uint32_t seen, other = make_table(f->store, "other");
    uint64_t since = last_seq(f->store);
    put_n(f->store, f->table, STR("a"), 1, STORE_ANY, NULL);
    write_many(f->store, other, RECHECK_LOG_MAX - 1);
    put_n(f->store, other, STR("a"), 1, STORE_ANY, NULL);
    assert_int_equal(alter(f, since, &seen), ERR_STALE);
    assert_int_equal(alter(f, since + 1, &seen), 0);
    assert_int_equal(seen, 0);
    since = last_seq(f->store);
    write_many(f->store, other, TXN_ROWS_MAX);
    write_many(f->store, f->table, TXN_ROWS_MAX);
    assert_int_equal(alter(f, since, &seen), 0);
    assert_int_equal(seen, 1);
}

struct keys {
    char text[64];
};

static int note_key(void *ctx, const struct store_row *row)
{
    strncat(((struct keys *)ctx)->text, row->key.p, row->key.n);
    return 0;
}

static void is_read(struct fixture *f, struct store_range range, const char *expected)
{
    struct keys keys = {""};
    struct store_view *view = view_of(f->store, STORE_DATA);
    range.descending = true;
    assert_int_equal(store_scan_rows(view, f->table, &range, note_key, &keys), 0);
    store_view_close(view);
    assert_string_equal(keys.text, expected);
}

static void rows_are_read_backwards(void **state)
{
    struct fixture *f = *state;
    is_read(f, (struct store_range){0}, "");
    for (const char *k = "bdac"; *k; k++)
        put_n(f->store, f->table, (struct str){k, 1}, 1, STORE_ANY, NULL);
    is_read(f, (struct store_range){0}, "dcba");
    put_n(f->store, make_table(f->store, "after"), STR("z"), 1, STORE_ANY, NULL);
    is_read(f, (struct store_range){0}, "dcba");
    is_read(f, (struct store_range){.to = STR("c")}, "ba");
    is_read(f, (struct store_range){.from = STR("b")}, "dcb");
    is_read(f, (struct store_range){.from = STR("b"), .after = true, .to = STR("d")}, "c");
    is_read(f, (struct store_range){.from = STR("e")}, "");
}

static int note_session(void *ctx, const struct store_session *session)
{
    strncat(((struct keys *)ctx)->text, session->id.p, session->id.n);
    return 0;
}

static void sessions_are_listed_behind_an_id(void **state)
{
    struct fixture *f = *state;
    struct keys keys = {""};
    for (const char *id = "cab"; *id; id++) {
        struct store_session s = {.id = {id, 1}, .log_level = -1, .expires_ms = INT64_MAX};
        struct store_op op = {
            .kind = STORE_PUT_SESSION, .if_version = STORE_MISSING, .session = &s};
        assert_int_equal(write_list(f->store, STORE_SYS, &op, 1, NULL), 0);
    }
    struct store_view *view = view_of(f->store, STORE_SYS);
    assert_int_equal(store_scan_sessions(view, STR_NONE, note_session, &keys), 0);
    assert_int_equal(store_scan_sessions(view, STR("a"), note_session, &keys), 0);
    store_view_close(view);
    assert_string_equal(keys.text, "abcbc");
}

static struct store_stat stat_of(struct store *store, enum store_space space)
{
    struct store_stat stat = {.readers = 99};
    struct store_view *view = view_of(store, space);
    assert_int_equal(store_stat(view, &stat), 0);
    store_view_close(view);
    return stat;
}

static void sizes_follow_what_is_stored(void **state)
{
    struct fixture *f = *state;
    bool in_memory = !*f->dir;
    struct store_stat before = stat_of(f->store, STORE_DATA);
    for (int i = 0; i < TXN_ROWS_MAX; i++) {
        char key[16];
        snprintf(key, sizeof key, "%06d", i);
        put_n(f->store, f->table, str_of(key), i, STORE_ANY, NULL);
    }
    struct store_view *view = view_of(f->store, STORE_DATA);
    struct store_stat full = stat_of(f->store, STORE_DATA);
    store_view_close(view);
    assert_true(full.used_bytes > before.used_bytes + 50 * TXN_ROWS_MAX);
    assert_true(full.last_seq == before.last_seq + TXN_ROWS_MAX);
    assert_int_equal(before.readers, in_memory ? 0 : 1);
    assert_int_equal(full.readers, in_memory ? 0 : 2);
    assert_int_equal(full.disk_bytes > 0, !in_memory);
    assert_true(full.used_bytes + full.free_bytes <= full.map_bytes || in_memory);
    assert_int_equal(drop_table(f->store, f->table, STORE_ANY), 0);
    f->store->log_keep = 1;
    assert_int_equal(store_maintain(f->store), 0);
    struct store_stat empty = stat_of(f->store, STORE_DATA);
    assert_true(empty.used_bytes < full.used_bytes - 50 * TXN_ROWS_MAX);
    assert_true(empty.free_bytes > full.free_bytes || in_memory);
    assert_true(stat_of(f->store, STORE_SYS).used_bytes > 0);
    assert_true(stat_of(f->store, STORE_SYS).last_seq == 0);
}

#define CASES(X)                                    \
    X(a_row_checked_by_an_older_table_is_stale)     \
    X(altering_checks_rows_written_since)           \
    X(altering_too_far_behind_is_stale)             \
    X(another_busy_table_does_not_hold_up_altering) \
    X(rows_are_read_backwards)                      \
    X(sessions_are_listed_behind_an_id)             \
    X(sizes_follow_what_is_stored)

int main(void)
{
    static const struct CMUnitTest tests[] = {CASES(CONTRACT_MEMORY) CASES(CONTRACT_LMDB)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
