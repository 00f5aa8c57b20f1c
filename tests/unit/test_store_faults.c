/* tests/unit/test_store_faults.c - files that are damaged, foreign or of another version. Each case
 * gets its error and one sentence that names the file; nothing acknowledged is lost. */
#include "store_faults.h"

#include <lmdb.h>

/* ---- Damaged and foreign files -------------------------------------------------------------- */

static void expect_intact(void)
{
    struct store *store = open_ok(NOSYNC);
    assert_int_equal(scan_count(store, TABLE), 300);
    assert_int_equal(get_n(store, TABLE, STR("299")), 299);
    store_close(store);
}

static void a_file_that_was_cut_is_damaged(void **state)
{
    (void)state;
    static const off_t lengths[] = {40000, 12288, 8192, 4096, 100};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        make_store();
        assert_int_equal(truncate(file_in("data.mdb"), lengths[i]), 0);
        expect_refusal(NOSYNC, ERR_STORE_DAMAGED, "data.mdb");
        expect_refusal((struct store_config){.read_only = true}, ERR_STORE_DAMAGED, "data.mdb");
        unlink(file_in("data.mdb"));
    }
}

static void a_file_that_was_emptied_is_damaged_not_new(void **state)
{
    (void)state;
    make_store();
    assert_int_equal(truncate(file_in("data.mdb"), 0), 0);
    expect_refusal(NOSYNC, ERR_STORE_DAMAGED, "the file is empty");
    struct stat st;
    assert_int_equal(stat(file_in("data.mdb"), &st), 0); /* left for whoever looks into it */
}

static void zeroed_meta_pages_are_damaged(void **state)
{
    (void)state;
    make_store();
    overwrite("data.mdb", 0, 8192, 0);
    expect_refusal(NOSYNC, ERR_STORE_DAMAGED, "data.mdb");
}

static void another_kind_of_file_is_damaged(void **state)
{
    (void)state;
    overwrite("data.mdb", 0, 100000, 'x');
    expect_refusal(NOSYNC, ERR_STORE_DAMAGED, "not a file of this program");
}

static void a_file_of_another_program_has_an_unknown_format(void **state)
{
    (void)state;
    struct arena arena;
    struct str why;
    struct kv_env *env;
    arena_init(&arena, 0);
    struct kv_lmdb_config config = {.path = file_in("data.mdb"), .space = STORE_SYS};
    assert_int_equal(kv_open_lmdb(&config, &arena, &env, &why), 0);
    kv_close(env);
    arena_done(&arena);
    expect_refusal(NOSYNC, ERR_STORE_FORMAT, "another program");
}

static void remove_map(const char *file, const char *name)
{
    MDB_env *env;
    MDB_txn *txn;
    MDB_dbi map;
    assert_int_equal(mdb_env_create(&env), 0);
    assert_int_equal(mdb_env_set_maxdbs(env, 1), 0);
    assert_int_equal(mdb_env_set_mapsize(env, 1 << 30), 0);
    assert_int_equal(mdb_env_open(env, file_in(file), MDB_NOSUBDIR, 0600), 0);
    assert_int_equal(mdb_txn_begin(env, NULL, 0, &txn), 0);
    assert_int_equal(mdb_dbi_open(txn, name, 0, &map), 0);
    assert_int_equal(mdb_drop(txn, map, 1), 0);
    assert_int_equal(mdb_txn_commit(txn), 0);
    mdb_env_close(env);
}

static void set_format(struct store *store, enum store_space space, uint64_t format)
{
    struct kv_txn txn;
    assert_int_equal(kv_begin(store->envs[space], true, &txn), 0);
    assert_int_equal(meta_put(&txn, META_FORMAT, format), 0);
    assert_int_equal(kv_commit(&txn), 0);
}

static uint64_t format_of(struct store *store, enum store_space space)
{
    uint64_t format = 99;
    struct store_view *view = view_of(store, space);
    assert_int_equal(meta_get(&view->txn, META_FORMAT, &format), 0);
    store_view_close(view);
    return format;
}

/* What was written before there were indexes. */
static void a_file_without_the_newer_maps_is_brought_up_to_date(void **state)
{
    (void)state;
    static const struct store_index_part part[] = {{STR_INIT("n"), KEY_INTEGER, false}};
    struct store_index index = {.name = STR("by_n"), .unique = true, .parts = part, .n_parts = 1};
    struct store_index_build build = {0};
    make_store();
    struct store *store = open_ok(NOSYNC);
    set_format(store, STORE_DATA, 1);
    store_close(store);
    remove_map("data.mdb", "indexes");
    remove_map("data.mdb", "entries");
    remove_map("data.mdb", "dropped_idx");
    expect_refusal((struct store_config){.read_only = true}, ERR_STORE_FORMAT, "older version");
    expect_intact();
    store = open_ok(NOSYNC);
    assert_int_equal(format_of(store, STORE_DATA), STORE_FORMAT);
    assert_int_equal(store_create_index(store, TABLE, &index, &build), 0);
    assert_int_equal(put_n(store, TABLE, STR("new"), 299, STORE_ANY, NULL), ERR_EXISTS);
    store_close(store);
    expect_intact();
}

static int put_role(struct store *store)
{
    struct store_access role = {.kind = STORE_ROLE, .name = STR("r"), .record = STR("{}")};
    struct store_op op = {.kind = STORE_PUT_ACCESS, .if_version = STORE_ANY, .access = &role};
    return write_list(store, STORE_DATA, &op, 1, NULL);
}

static void a_file_from_before_there_were_users_gets_them(void **state)
{
    (void)state;
    uint64_t version = 9;
    make_store();
    struct store *store = open_ok(NOSYNC);
    set_format(store, STORE_DATA, 2);
    set_format(store, STORE_SYS, 4);
    store_close(store);
    remove_map("data.mdb", "access");
    remove_map("sys.mdb", "quotas");
    expect_refusal((struct store_config){.read_only = true}, ERR_STORE_FORMAT, "older version");
    store = open_ok(NOSYNC);
    assert_int_equal(format_of(store, STORE_DATA), STORE_FORMAT);
    assert_int_equal(format_of(store, STORE_SYS), SYS_FORMAT);
    assert_int_equal(count_sessions(store), 1);
    struct store_view *view = view_of(store, STORE_DATA);
    assert_int_equal(store_access_version(view, &version), 0);
    store_view_close(view);
    assert_true(version == 0);
    assert_int_equal(put_role(store), 0);
    store_close(store);
    expect_intact();
}

static void a_newer_format_is_refused(void **state)
{
    (void)state;
    make_store();
    struct store *store = open_ok(NOSYNC);
    set_format(store, STORE_DATA, STORE_FORMAT + 1);
    store_close(store);
    expect_refusal(NOSYNC, ERR_STORE_FORMAT, "newer version");
    expect_refusal((struct store_config){.read_only = true}, ERR_STORE_FORMAT, "newer version");
}

static void an_older_format_is_raised_by_who_may_write(void **state)
{
    (void)state;
    make_store();
    struct store *store = open_ok(NOSYNC);
    set_format(store, STORE_DATA, 1);
    set_format(store, STORE_SYS, 1);
    store_close(store);
    expect_refusal((struct store_config){.read_only = true}, ERR_STORE_FORMAT, "older version");
    expect_refusal((struct store_config){.read_only = true}, ERR_STORE_FORMAT,
                   "open it for writing");
    store = open_ok(NOSYNC);
    assert_int_equal(format_of(store, STORE_DATA), STORE_FORMAT);
    assert_int_equal(format_of(store, STORE_SYS), SYS_FORMAT);
    assert_int_equal(count_sessions(store), 1); /* `sys` was not set aside for it */
    store_close(store);
    store = open_ok((struct store_config){.read_only = true});
    assert_int_equal(scan_count(store, TABLE), 300);
    store_close(store);
}

static void look_at_two_sessions(void)
{
    struct store *store = NULL;
    REQUIRE(open_with((struct store_config){.read_only = true}, &store) == 0);
    REQUIRE(count_sessions(store) == 2);
    store_close(store);
}

static void sys_is_read_where_that_is_no_risk(void **state)
{
    (void)state;
    struct store_config look = {.read_only = true};
    make_store();
    struct store *server = open_ok(NOSYNC);
    put_session(server, "t");
    in_child(look_at_two_sessions); /* beside the one who writes */
    set_format(server, STORE_SYS, 1);
    store_close(server);
    struct store *store = open_ok(look);
    assert_int_equal(count_sessions(store), 0);
    store_close(store);
    store_close(open_ok(NOSYNC));
    store = open_ok(look);
    assert_int_equal(count_sessions(store), 2);
    store_close(store);
    overwrite("sys.state", 0, 10, 'x'); /* of another boot, and not clean */
    overwrite("sys.state", 10, 60, 'x');
    store = open_ok(look);
    assert_int_equal(count_sessions(store), 0);
    store_close(store);
    assert_int_equal(access(file_in("sys.mdb.aside"), F_OK), -1); /* it changes nothing */
}

static void a_row_of_a_newer_format_is_said(void **state)
{
    (void)state;
    struct kv_txn txn;
    struct row_key key;
    make_store();
    struct store *store = open_ok(NOSYNC);
    row_key(TABLE, STR("new"), &key);
    assert_int_equal(kv_begin(store->envs[STORE_DATA], true, &txn), 0);
    assert_int_equal(kv_put(&txn, KV_ROWS, (struct str){key.bytes, key.len}, STR("\x82\x02\x01")),
                     0);
    assert_int_equal(kv_commit(&txn), 0);
    assert_int_equal(get_n(store, TABLE, STR("new")), ERR_STORE_FORMAT);
    assert_int_equal(put_n(store, TABLE, STR("new"), 1, STORE_ANY, NULL), ERR_STORE_FORMAT);
    assert_int_equal(get_n(store, TABLE, STR("001")), 1);
    store_close(store);
}

static void a_row_that_is_no_record_is_damaged(void **state)
{
    (void)state;
    struct kv_txn txn;
    struct row_key key;
    uint64_t n = 0;
    make_store();
    struct store *store = open_ok(NOSYNC);
    row_key(TABLE, STR("150x"), &key);
    assert_int_equal(kv_begin(store->envs[STORE_DATA], true, &txn), 0);
    assert_int_equal(kv_put(&txn, KV_ROWS, (struct str){key.bytes, key.len}, STR("\x84\x01")), 0);
    assert_int_equal(kv_commit(&txn), 0);
    assert_int_equal(get_n(store, TABLE, STR("150x")), ERR_STORE_DAMAGED);
    struct store_view *view = view_of(store, STORE_DATA);
    assert_int_equal(store_scan_rows(view, TABLE, NULL, count_row, &n), ERR_STORE_DAMAGED);
    assert_int_equal(n, 151);
    store_view_close(view);
    assert_int_equal(delete_key(store, TABLE, STR("150x"), STORE_ANY, NULL), ERR_STORE_DAMAGED);
    store_close(store);
}

/* ---- `sys`: sessions may be lost, the data may not ------------------------------------------ */

static void expect_sys_set_aside(void)
{
    struct store *store = open_ok(NOSYNC);
    assert_int_equal(count_sessions(store), 0);
    assert_int_equal(scan_count(store, TABLE), 300);
    assert_int_equal(access(file_in("sys.mdb.aside"), F_OK), 0);
    put_session(store, "s");
    store_close(store);
}

/* As it was written before there were streams, without what a client was told; or with that, of so
 * many lists. */
static void put_older_session(struct store *store, const char *id, uint32_t n_seen)
{
    struct kv_txn txn;
    struct buf record = {0};
    struct expiry_key expiry;
    int64_t expires_ms = clock_wall_ms() + 3600000;
    record_begin(&record, 10 + n_seen);
    for (int i = 0; i < 5; i++)
        cbor_write_str(STR("{}"), &record);
    for (int i = 0; i < 4; i++)
        cbor_write_int(i, &record);
    cbor_write_int(expires_ms, &record);
    for (uint32_t i = 0; i < n_seen; i++)
        cbor_write_int(7, &record);
    assert_int_equal(kv_begin(store->envs[STORE_SYS], true, &txn), 0);
    assert_int_equal(kv_put(&txn, KV_SESSIONS, str_of(id), buf_str(&record)), 0);
    struct str entry = session_expiry_key(expires_ms, str_of(id), &expiry);
    assert_int_equal(kv_put(&txn, KV_SESSION_EXPIRY, entry, STR("")), 0);
    assert_int_equal(kv_commit(&txn), 0);
    buf_done(&record);
}

static void set_log_level_of(struct store *store, const char *id)
{
    struct store_session s = {.id = str_of(id), .log_level = 7};
    struct store_op op = {.kind = STORE_SET_LOG_LEVEL, .if_version = STORE_ANY, .session = &s};
    assert_int_equal(write_list(store, STORE_SYS, &op, 1, NULL), 0);
}

static void open_stream_of(struct store *store, const char *id)
{
    struct store_stream s = {.session = str_of(id), .id = 1};
    struct store_op ops[] = {
        {.kind = STORE_PUT_STREAM, .if_version = STORE_ANY, .stream = &s},
        {.kind = STORE_PUT_FRAME, .stream = &s, .n = 1, .message = STR("{}")},
    };
    assert_int_equal(write_list(store, STORE_SYS, ops, 2, NULL), 0);
}

static void expect_log_level(struct store *store, const char *id, int32_t level, uint64_t seen)
{
    struct arena arena;
    struct store_session s;
    arena_init(&arena, 0);
    struct store_view *view = view_of(store, STORE_SYS);
    assert_int_equal(store_get_session(view, str_of(id), &arena, &s), 0);
    assert_true(s.log_level == level && s.seen[STORE_TOOLS] == seen &&
                s.seen[STORE_RESOURCES] == seen);
    assert_true(s.seen[STORE_PROMPTS] == 0);
    store_view_close(view);
    arena_done(&arena);
}

static void a_sys_from_before_there_were_streams_keeps_its_sessions(void **state)
{
    static const char *const newer[] = {"streams",    "frames", "cut",     "claims",
                                        "pushes",     "mail",   "follows", "subscriptions",
                                        "unfollowed", "quotas"};
    (void)state;
    make_store();
    struct store *store = open_ok(NOSYNC);
    put_older_session(store, "older", 0);
    put_older_session(store, "newer", 2);
    set_format(store, STORE_SYS, 2);
    store_close(store);
    for (size_t i = 0; i < sizeof newer / sizeof *newer; i++)
        remove_map("sys.mdb", newer[i]);
    store = open_ok((struct store_config){.read_only = true}); /* as if it were empty */
    assert_int_equal(count_sessions(store), 0);
    assert_int_equal(scan_count(store, TABLE), 300);
    store_close(store);
    store = open_ok(NOSYNC);
    assert_int_equal(format_of(store, STORE_SYS), SYS_FORMAT);
    assert_int_equal(format_of(store, STORE_DATA), STORE_FORMAT);
    assert_int_equal(count_sessions(store), 3);
    expect_log_level(store, "older", 1, 0);
    expect_log_level(store, "newer", 1, 7);
    set_log_level_of(store, "older");
    set_log_level_of(store, "newer");
    open_stream_of(store, "older");
    expect_log_level(store, "older", 7, 0);
    expect_log_level(store, "newer", 7, 7);
    store_close(store);
}

/* As they were written before frames had a sequence. */
static void put_older_stream(struct store *store, struct str session)
{
    struct kv_txn txn;
    struct sys_key key;
    struct buf record = {0};
    const int64_t fields[] = {1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 1, 5, 1};
    assert_int_equal(stream_key(session, 7, &key), 0);
    assert_int_equal(kv_begin(store->envs[STORE_SYS], true, &txn), 0);
    record_begin(&record, 15);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        cbor_write_int(fields[i], &record);
    cbor_write_str(STR("1"), &record);
    assert_int_equal(kv_put(&txn, KV_STREAMS, sys_key_str(&key), buf_str(&record)), 0);
    record_begin(&record, 1);
    cbor_write_str(STR("{}"), &record);
    sys_key_add(&key, 1);
    assert_int_equal(kv_put(&txn, KV_FRAMES, sys_key_str(&key), buf_str(&record)), 0);
    assert_int_equal(kv_commit(&txn), 0);
    buf_done(&record);
}

static int expect_frame(void *ctx, uint64_t n, uint64_t seq, struct str message)
{
    uint64_t *next = ctx;
    assert_true(n == ++*next && seq == (n - 1) * 40 && str_eq(message, STR("{}")));
    return 0;
}

static void a_sys_from_before_frames_had_a_sequence_keeps_its_streams(void **state)
{
    static const char *const newer[] = {"follows", "subscriptions", "unfollowed", "quotas"};
    struct store_stream s = {.session = STR("s"), .id = 7, .seq = 40};
    struct store_subscription subscription = {.session = STR("s"), .uri = STR("u")};
    struct store_op ops[] = {
        {.kind = STORE_PUT_FRAME, .stream = &s, .n = 2, .message = STR("{}")},
        {.kind = STORE_PUT_SUBSCRIPTION, .subscription = &subscription},
    };
    uint64_t n = 0;
    (void)state;
    make_store();
    struct store *store = open_ok(NOSYNC);
    put_older_stream(store, STR("s"));
    set_format(store, STORE_SYS, 3);
    store_close(store);
    for (size_t i = 0; i < sizeof newer / sizeof *newer; i++)
        remove_map("sys.mdb", newer[i]);
    store = open_ok(NOSYNC);
    assert_int_equal(format_of(store, STORE_SYS), SYS_FORMAT);
    assert_int_equal(write_list(store, STORE_SYS, ops, 2, NULL), 0);
    struct store_view *view = view_of(store, STORE_SYS);
    assert_int_equal(store_scan_frames(view, STR("s"), 7, 0, expect_frame, &n), 0);
    assert_int_equal(n, 2);
    store_view_close(view);
    assert_int_equal(store_check(store, print_finding, NULL, NULL), 0);
    store_close(store);
}

static void a_damaged_sys_is_set_aside(void **state)
{
    (void)state;
    make_store();
    overwrite("sys.mdb", 0, 8192, 0);
    expect_sys_set_aside();
    assert_int_equal(truncate(file_in("sys.mdb"), 12288), 0);
    expect_sys_set_aside();
    struct store *store = open_ok(NOSYNC);
    assert_int_equal(count_sessions(store), 1);
    set_format(store, STORE_SYS, SYS_FORMAT + 1);
    store_close(store);
    expect_sys_set_aside();
}

static void write_state(const char *text)
{
    FILE *f = fopen(file_in("sys.state"), "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void after_another_boot_sys_is_kept_only_if_it_was_closed_clean(void **state)
{
    (void)state;
    make_store();
    write_state("00000000-0000-0000-0000-000000000000 clean\n");
    struct store *store = open_ok(NOSYNC);
    assert_int_equal(count_sessions(store), 1);
    store_close(store);
    write_state("00000000-0000-0000-0000-000000000000 running\n");
    expect_sys_set_aside();
    unlink(file_in("sys.state"));
    expect_sys_set_aside();
    expect_intact();
}

static bool state_says(const char *word)
{
    char text[128] = {0};
    FILE *f = fopen(file_in("sys.state"), "r");
    assert_non_null(f);
    assert_non_null(fgets(text, sizeof text, f));
    fclose(f);
    return strstr(text, word) != NULL;
}

static void open_and_close(void)
{
    struct store *store = NULL;
    REQUIRE(open_with(NOSYNC, &store) == 0);
    store_close(store);
}

static void only_the_last_who_closes_marks_sys_clean(void **state)
{
    (void)state;
    make_store();
    assert_true(state_says("clean"));
    struct store *store = open_ok(NOSYNC);
    assert_true(state_says("running"));
    in_child(open_and_close);
    assert_true(state_says("running"));
    store_close(store);
    assert_true(state_says("clean"));
}

static const char *damaged_output(void)
{
    return file_in("stderr");
}

static void scan_all(void)
{
    struct store *store = NULL;
    REQUIRE(freopen(damaged_output(), "w", stderr) != NULL);
    signal(SIGABRT, SIG_DFL);
    REQUIRE(open_with(NOSYNC, &store) == 0);
    scan_count(store, TABLE);
    store_close(store);
}

static bool says(const char *path, const char *text)
{
    char all[4096] = {0};
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    size_t n = fread(all, 1, sizeof all - 1, f);
    fclose(f);
    return n > 0 && strstr(all, text) != NULL;
}

/* Zeroes every page that holds the text of a row but the meta pages. */
static uint32_t zero_row_pages(void)
{
    unsigned char page[4096];
    uint32_t n = 0;
    int fd = open(file_in("data.mdb"), O_RDONLY);
    assert_true(fd >= 0);
    for (off_t at = 2 * sizeof page; pread(fd, page, sizeof page, at) == sizeof page;
         at += sizeof page)
        if (memmem(page, sizeof page,
                   "\0\0\0\001"
                   "150",
                   7)) {
            overwrite("data.mdb", at, sizeof page, 0);
            n++;
        }
    close(fd);
    return n;
}

static void a_damaged_page_is_said_before_the_abort(void **state)
{
    (void)state;
    int status = 0;
    make_store();
    assert_true(zero_row_pages() > 0);
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        scan_all();
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_true(says(damaged_output(), "data.mdb is damaged; restore it from a backup"));
}

static void sys_in_memory_touches_no_file(void **state)
{
    (void)state;
    struct store *store =
        open_ok((struct store_config){.mode = STORE_NOSYNC, .volatile_sys = true});
    put_session(store, "s");
    assert_int_equal(count_sessions(store), 1);
    store_close(store);
    assert_int_equal(access(file_in("sys.mdb"), F_OK), -1);
    assert_int_equal(access(file_in("sys.state"), F_OK), -1);
    assert_int_equal(access(file_in("data.mdb"), F_OK), 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        CASE(a_file_that_was_cut_is_damaged),
        CASE(a_file_that_was_emptied_is_damaged_not_new),
        CASE(zeroed_meta_pages_are_damaged),
        CASE(a_damaged_page_is_said_before_the_abort),
        CASE(another_kind_of_file_is_damaged),
        CASE(a_file_of_another_program_has_an_unknown_format),
        CASE(a_file_from_before_there_were_users_gets_them),
        CASE(a_newer_format_is_refused),
        CASE(an_older_format_is_raised_by_who_may_write),
        CASE(sys_is_read_where_that_is_no_risk),
        CASE(a_file_without_the_newer_maps_is_brought_up_to_date),
        CASE(a_row_of_a_newer_format_is_said),
        CASE(a_row_that_is_no_record_is_damaged),
        CASE(a_sys_from_before_there_were_streams_keeps_its_sessions),
        CASE(a_sys_from_before_frames_had_a_sequence_keeps_its_streams),
        CASE(a_damaged_sys_is_set_aside),
        CASE(after_another_boot_sys_is_kept_only_if_it_was_closed_clean),
        CASE(only_the_last_who_closes_marks_sys_clean),
        CASE(sys_in_memory_touches_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
