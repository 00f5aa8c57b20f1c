/* tests/unit/test_store_more_ops.c - contract of core/store.h, on both engines: versions of tables
 * at row writes, changing a table under running writes, scans backwards, jobs, lists of sessions.
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

static int write_job(struct store *store, enum store_op_kind kind, struct str id,
                     uint64_t if_version)
{
    struct store_job job = {.id = id, .record = STR("{\"state\":\"done\"}")};
    struct store_op op = {.kind = kind, .if_version = if_version, .job = &job};
    return write_list(store, STORE_SYS, &op, 1, NULL);
}

static int count_job(void *ctx, const struct store_job *job)
{
    assert_true(str_eq(job->record, STR("{\"state\":\"done\"}")));
    ++*(uint32_t *)ctx;
    return 0;
}

static uint32_t count_jobs(struct store *store)
{
    uint32_t n = 0;
    struct store_view *view = view_of(store, STORE_SYS);
    assert_int_equal(store_scan_jobs(view, count_job, &n), 0);
    store_view_close(view);
    return n;
}

static void jobs_are_kept_and_the_first_go(void **state)
{
    struct fixture *f = *state;
    struct store_job job;
    struct arena arena;
    assert_int_equal(write_job(f->store, STORE_PUT_JOB, STR(""), STORE_ANY), ERR_LIMIT);
    assert_int_equal(write_job(f->store, STORE_DELETE_JOB, STR("x"), STORE_PRESENT), ERR_ABSENT);
    for (int i = 0; i < JOBS_KEEP + 3; i++) {
        char id[16];
        snprintf(id, sizeof id, "%08d", i);
        assert_int_equal(write_job(f->store, STORE_PUT_JOB, str_of(id), STORE_MISSING), 0);
    }
    assert_int_equal(write_job(f->store, STORE_PUT_JOB, STR("00000007"), STORE_MISSING),
                     ERR_EXISTS);
    assert_int_equal(store_maintain(f->store), 0);
    assert_int_equal(count_jobs(f->store), JOBS_KEEP);
    arena_init(&arena, 0);
    struct store_view *view = view_of(f->store, STORE_SYS);
    assert_int_equal(store_get_job(view, STR("00000002"), &arena, &job), ERR_ABSENT);
    assert_int_equal(store_get_job(view, STR("00000003"), &arena, &job), 0);
    assert_true(str_eq(job.record, STR("{\"state\":\"done\"}")) && job.changed_ms > 0);
    store_view_close(view);
    arena_done(&arena);
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

#define CASES(X)                                \
    X(a_row_checked_by_an_older_table_is_stale) \
    X(altering_checks_rows_written_since)       \
    X(altering_too_far_behind_is_stale)         \
    X(rows_are_read_backwards)                  \
    X(jobs_are_kept_and_the_first_go)           \
    X(sessions_are_listed_behind_an_id)

int main(void)
{
    static const struct CMUnitTest tests[] = {CASES(CONTRACT_MEMORY) CASES(CONTRACT_LMDB)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
