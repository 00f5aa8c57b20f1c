/* tests/unit/test_cli_doctor.c - `tenon doctor --data` on stores that were damaged on purpose: each
 * finding is printed, the summary counts, the exit status says so, and nothing is written. */
#include "cli.h"
#include "store_contract.h"
#include "store_index.h"

#include <fcntl.h>
#include <unistd.h>

#define ROWS 20

/* What the doctor writes about the directory, and its exit status. */
static int visit(const char *dir, char *out, size_t size)
{
    const char *argv[] = {"--data", dir};
    struct cli_args args;
    int ends[2], kept[2] = {dup(STDOUT_FILENO), dup(STDERR_FILENO)};
    assert_int_equal(cli_parse(&cli_doctor, 2, (char **)argv, &args), 0);
    assert_int_equal(pipe(ends), 0);
    fflush(stdout);
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    int status = cli_doctor.run(&args); /* little enough for the pipe */
    for (int i = 0; i < 2; i++) {
        dup2(kept[i], STDOUT_FILENO + i);
        close(kept[i]);
    }
    close(ends[1]);
    ssize_t n = read(ends[0], out, size - 1);
    close(ends[0]);
    out[n > 0 ? n : 0] = '\0';
    return status;
}

static void expect_visit(struct fixture *f, int status, const char *text)
{
    char out[4000];
    store_close(f->store); /* it opens the store in another process */
    f->store = NULL;
    int got = visit(f->dir, out, sizeof out);
    if (got != status || !strstr(out, text))
        print_error("status %d, expected %d with \"%s\":\n%s", got, status, text, out);
    assert_int_equal(got, status);
    assert_non_null(strstr(out, text));
    assert_int_equal(open_lmdb(f), 0);
}

static uint32_t make_rows(struct fixture *f)
{
    struct store_index_build build = {0};
    char key[12];
    for (int i = 0; i < ROWS; i++) {
        snprintf(key, sizeof key, "k%02d", i);
        assert_int_equal(put_n(f->store, f->table, str_of(key), i, STORE_ANY, NULL), 0);
    }
    assert_int_equal(store_create_index(f->store, f->table, &once_n, &build), 0);
    return build.ret_index;
}

static void change(struct fixture *f, enum kv_map map, struct str key, struct str value)
{
    struct kv_txn txn;
    assert_int_equal(kv_begin(f->store->envs[STORE_DATA], true, &txn), 0);
    if (value.p)
        assert_int_equal(kv_put(&txn, map, key, value), 0);
    else
        assert_int_equal(kv_remove(&txn, map, key), 0);
    assert_int_equal(kv_commit(&txn), 0);
}

/* The row loses its entry. */
static void remove_entry(struct fixture *f, uint32_t index, int64_t n, const char *key)
{
    struct sample s;
    struct buf entry = {0};
    struct store_index like = once_n;
    uint32_t len;
    bool has_null;
    like.id = index;
    assert_int_equal(
        index_entry(&like, str_of(key), sample_row(&s, n, STR("")), &entry, &len, &has_null), 0);
    change(f, KV_ENTRIES, buf_str(&entry), STR_NONE);
    buf_done(&entry);
}

static void a_whole_store_has_no_findings(void **state)
{
    struct fixture *f = *state;
    make_rows(f);
    expect_visit(f, CLI_DONE,
                 ": 1 tables, 20 rows, 1 indexes with 20 entries, 21 changes of the log: all of it "
                 "agrees\n");
}

/* The note stands only where a server was. */
static void what_sessions_have_is_counted(void **state)
{
    struct fixture *f = *state;
    char out[4000];
    struct store_session s = {.id = STR("0000000a-one"), .expires_ms = INT64_MAX};
    struct store_subscription to = {.session = s.id, .uri = STR("data://db/t")};
    struct store_op ops[] = {{.kind = STORE_PUT_SESSION, .session = &s, .if_version = STORE_ANY},
                             {.kind = STORE_PUT_SUBSCRIPTION, .subscription = &to}};
    store_close(f->store);
    assert_int_equal(visit(f->dir, out, sizeof out), CLI_DONE);
    assert_null(strstr(out, "sessions"));
    assert_int_equal(open_lmdb(f), 0);
    assert_int_equal(write_list(f->store, STORE_SYS, ops, 2, NULL), 0);
    expect_visit(f, CLI_DONE,
                 "note  1 sessions with 0 streams (0 frames), 1 subscriptions and 0 waiting "
                 "messages; 0 jobs\n");
}

static void each_finding_is_printed_and_counted(void **state)
{
    struct fixture *f = *state;
    uint32_t index = make_rows(f);
    remove_entry(f, index, 7, "k07");
    expect_visit(f, CLI_FAILED, "FAIL  table db.t: row k07 has no entry in index once_n\n");
    expect_visit(f, CLI_FAILED, "FAIL  table db.t: index once_n has 19 entries for 20 rows\n");
    expect_visit(f, CLI_FAILED, "19 entries, 21 changes of the log: 2 findings\n");
}

static void a_hole_in_the_log_is_printed(void **state)
{
    struct fixture *f = *state;
    make_rows(f);
    change(f, KV_LOG, STR("\0\0\0\0\0\0\0\x08"), STR_NONE);
    expect_visit(f, CLI_FAILED, "FAIL  change log: change 8 is missing\n");
}

static void a_row_that_cannot_be_read_is_printed(void **state)
{
    struct fixture *f = *state;
    struct row_key key;
    make_rows(f);
    assert_int_equal(row_key(f->table, STR("k03"), &key), 0);
    change(f, KV_ROWS, (struct str){key.bytes, key.len}, STR("\x84\x01"));
    expect_visit(f, CLI_FAILED, "FAIL  table db.t: row k03 cannot be read");
}

/* Seen as they are: another process may be at it, and the doctor takes nothing back. */
static void unfinished_work_is_a_note_and_no_finding(void **state)
{
    struct fixture *f = *state;
    char out[4000];
    make_rows(f);
    change(f, KV_META, META_LOAD, STR("\0\0\0\0\0\0\0\1"));
    change(f, KV_META, META_BUILD, STR("\0\0\0\1\0\0\0\x63"));
    store_close(f->store);
    f->store = NULL;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(visit(f->dir, out, sizeof out), CLI_DONE);
        assert_non_null(strstr(out, "note  an import is going on, or was cut off"));
        assert_non_null(strstr(out, "note  an index is being built"));
        assert_non_null(strstr(out, "all of it agrees"));
    }
}

static void no_slot_for_a_reader_is_said(void **state)
{
    static struct store_view *views[5000];
    struct fixture *f = *state;
    char out[4000];
    int n = 0, status;
    while (n < 5000 && store_view_open(f->store, STORE_DATA, &views[n]) == 0)
        n++;
    status = visit(f->dir, out, sizeof out);
    while (n)
        store_view_close(views[--n]);
    assert_int_equal(status, CLI_FAILED);
    assert_non_null(strstr(out, "data.mdb: all slots for readers are taken"));
}

#define CASES(X)                                \
    X(a_whole_store_has_no_findings)            \
    X(what_sessions_have_is_counted)            \
    X(each_finding_is_printed_and_counted)      \
    X(a_hole_in_the_log_is_printed)             \
    X(a_row_that_cannot_be_read_is_printed)     \
    X(unfinished_work_is_a_note_and_no_finding) \
    X(no_slot_for_a_reader_is_said)

int main(void)
{
    static const struct CMUnitTest tests[] = {CASES(CONTRACT_LMDB)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
