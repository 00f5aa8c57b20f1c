/* tests/unit/test_store_room.c - disks that are full or may not be written, and too many readers.
 * Each case gets its error and one sentence that names the file; nothing acknowledged is lost. */
#include "store_faults.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

/* ---- No room -------------------------------------------------------------------------------- */

/* Fills with rows of 1 KiB until one is refused. Returns how many went in. */
static int fill(struct store *store, int first, int *ret_err)
{
    static char text[1000];
    struct sample s;
    char key[16];
    memset(text, 'x', sizeof text);
    for (int i = first;; i++) {
        snprintf(key, sizeof key, "%08d", i);
        struct store_op op = row_op(
            TABLE, str_of(key), sample_row(&s, i, (struct str){text, sizeof text}), STORE_MISSING);
        struct waited w = {
            .write = {.space = STORE_DATA, .ops = &op, .n_ops = 1, .done = waited_done}};
        store_submit(store, &w.write);
        *ret_err = w.err;
        if (w.err || i == 200000)
            return i;
    }
}

static int refill(struct store *store, int n)
{
    int err = 0;
    fill(store, n, &err);
    return err;
}

/* All that were acknowledged are there, and what was refused is not. */
static bool holds_exactly(struct store *store, int n)
{
    char key[16];
    uint64_t counted = 0, scanned = 0;
    struct store_view *view;
    if (store_view_open(store, STORE_DATA, &view))
        return false;
    store_count_rows(view, TABLE, &counted);
    store_scan_rows(view, TABLE, NULL, count_row, &scanned);
    store_view_close(view);
    snprintf(key, sizeof key, "%08d", n - 1);
    return counted == (uint64_t)n && scanned == (uint64_t)n &&
           get_n(store, TABLE, str_of(key)) == n - 1;
}

static void a_full_map_refuses_and_keeps(void **state)
{
    (void)state;
    int err = 0;
    struct store_config small = {.mode = STORE_NOSYNC, .map_bytes = 2 << 20};
    struct store *store = open_ok(small);
    assert_int_equal(make_table(store, "t"), TABLE);
    int n = fill(store, 0, &err);
    assert_int_equal(err, ERR_STORE_FULL);
    assert_in_range(n, 500, 2000);
    assert_true(holds_exactly(store, n));
    store_close(store);
    store = open_ok((struct store_config){.mode = STORE_NOSYNC, .map_bytes = 4 << 20});
    assert_true(holds_exactly(store, n));
    int more = fill(store, n, &err);
    assert_true(more > n + 500);
    assert_int_equal(err, ERR_STORE_FULL);
    assert_true(holds_exactly(store, more));
    store_close(store);
}

static void more_views_than_reader_slots_are_refused(void **state)
{
    (void)state;
    static struct store_view *views[5000];
    int n = 0, err = 0;
    make_store();
    struct store *store = open_ok(NOSYNC);
    while (n < 5000 && !(err = store_view_open(store, STORE_DATA, &views[n])))
        n++;
    assert_int_equal(err, ERR_READERS);
    assert_in_range(n, 4000, 4096);
    store_view_close(views[--n]);
    assert_int_equal(get_n(store, TABLE, STR("001")), 1);
    while (n)
        store_view_close(views[--n]);
    store_close(store);
}

static struct rlimit file_limit(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    return limit;
}

static void fill_up_to_a_file_limit(void)
{
    int err = 0;
    struct store *store = NULL;
    struct rlimit limit = file_limit(3 << 20);
    signal(SIGXFSZ, SIG_IGN);
    REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    REQUIRE(open_with((struct store_config){.mode = STORE_NOSYNC}, &store) == 0);
    uint32_t id;
    REQUIRE(put_table(store, STR("db"), STR("t"), STORE_MISSING, &id) == 0 && id == TABLE);
    int n = fill(store, 0, &err);
    REQUIRE(err == ERR_STORE_FULL);
    REQUIRE(n > 500 && holds_exactly(store, n));
    REQUIRE(refill(store, n) == ERR_STORE_FULL); /* and again: it stays so, and stays usable */
    REQUIRE(holds_exactly(store, n));
    limit = file_limit(RLIM_INFINITY);
    REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    REQUIRE(put_n(store, TABLE, STR("after"), 1, STORE_MISSING, NULL) == 0);
    REQUIRE(get_n(store, TABLE, STR("after")) == 1);
    store_close(store);
}

static void a_file_that_may_not_grow_refuses_and_keeps(void **state)
{
    (void)state;
    in_child(fill_up_to_a_file_limit);
    struct store *store = open_ok(NOSYNC);
    assert_int_equal(get_n(store, TABLE, STR("after")), 1);
    store_close(store);
}

static void open_without_room(void)
{
    struct store *store = NULL;
    struct rlimit limit = file_limit(4096);
    signal(SIGXFSZ, SIG_IGN);
    REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    int err = open_with(NOSYNC, &store);
    REQUIRE(err == ERR_STORE_FULL || err == ERR_IO);
    REQUIRE(strstr(why_text, "data.mdb"));
}

static void a_disk_too_full_for_a_new_store_leaves_nothing(void **state)
{
    (void)state;
    in_child(open_without_room);
    assert_int_equal(access(file_in("data.mdb"), F_OK), -1);
    struct store *store = open_ok(NOSYNC);
    store_close(store);
}

/* A disk of its own, seen by this child only. Exit code 77: not allowed here. */
static void mount_small_disk(const char *size)
{
    char options[32];
    snprintf(options, sizeof options, "size=%s", size);
    if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("tmpfs", dir, "tmpfs", 0, options))
        _exit(77);
}

static void remount(const char *options, unsigned long flags)
{
    REQUIRE(mount("tmpfs", dir, "tmpfs", MS_REMOUNT | flags, options) == 0);
}

static void fill_a_small_disk(void)
{
    int err = 0;
    uint32_t id;
    struct store *store = NULL;
    mount_small_disk("4m");
    REQUIRE(open_with((struct store_config){.mode = STORE_SYNC}, &store) == 0);
    REQUIRE(put_table(store, STR("db"), STR("t"), STORE_MISSING, &id) == 0 && id == TABLE);
    int n = fill(store, 0, &err);
    REQUIRE(err == ERR_STORE_FULL);
    REQUIRE(n > 500 && holds_exactly(store, n));
    struct store_session s = {.id = STR("s"), .expires_ms = INT64_MAX};
    struct store_op op = {.kind = STORE_PUT_SESSION, .if_version = STORE_ANY, .session = &s};
    REQUIRE(write_list(store, STORE_SYS, &op, 1, NULL) <= 0); /* full or not: no crash */
    remount("size=8m", 0);
    REQUIRE(put_n(store, TABLE, STR("after"), 1, STORE_MISSING, NULL) == 0);
    store_close(store);
    store = NULL;
    REQUIRE(open_with(NOSYNC, &store) == 0);
    REQUIRE(get_n(store, TABLE, STR("after")) == 1);
    store_close(store);
}

static void a_full_disk_refuses_and_keeps(void **state)
{
    (void)state;
    in_child(fill_a_small_disk);
}

static void load_onto_a_full_disk(void)
{
    static char text[1000];
    uint32_t id;
    int err = 0;
    struct store *store = NULL;
    struct store_load *load;
    struct sample s;
    mount_small_disk("4m");
    REQUIRE(open_with(NOSYNC, &store) == 0);
    REQUIRE(put_table(store, STR("db"), STR("t"), STORE_MISSING, &id) == 0 && id == TABLE);
    REQUIRE(store_load_begin(store, TABLE, &load) == 0);
    for (int i = 0; i < 100000 && !err; i++) {
        char key[16];
        snprintf(key, sizeof key, "%08d", i);
        err = store_load_row(load, str_of(key), sample_row(&s, i, (struct str){text, sizeof text}),
                             STORE_MISSING);
    }
    REQUIRE(err == ERR_STORE_FULL);
    store_load_abort(load); /* taking back may need room, too: then it is done later */
    remount("size=32m", 0);
    REQUIRE(store_maintain(store) == 0);
    REQUIRE(count_rows(store, TABLE) == 0 && scan_count(store, TABLE) == 0);
    store_close(store);
}

static void a_load_that_fills_the_disk_is_taken_back(void **state)
{
    (void)state;
    in_child(load_onto_a_full_disk);
}

/* ---- No rights ------------------------------------------------------------------------------ */

static void read_a_read_only_disk(void)
{
    unsigned char secret[32];
    struct store *store = NULL;
    mount_small_disk("16m");
    make_store();
    remount(NULL, MS_RDONLY);
    REQUIRE(open_with(NOSYNC, &store) == ERR_STORE_READ_ONLY);
    REQUIRE(strstr(why_text, dir));
    REQUIRE(open_with((struct store_config){.read_only = true}, &store) == 0);
    REQUIRE(scan_count(store, TABLE) == 300);
    REQUIRE(put_n(store, TABLE, STR("k"), 1, STORE_ANY, NULL) == ERR_STORE_READ_ONLY);
    REQUIRE(store_secret(store, secret) == ERR_STORE_READ_ONLY);
    REQUIRE(store_maintain(store) == 0);
    store_close(store);
}

static void a_read_only_disk_can_be_read(void **state)
{
    (void)state;
    in_child(read_a_read_only_disk);
}

static void open_as_nobody(void)
{
    struct store *store = NULL;
    if (setgid(65534) || setuid(65534))
        _exit(77);
    REQUIRE(open_with(NOSYNC, &store) == ERR_STORE_READ_ONLY);
    REQUIRE(strstr(why_text, "data directory cannot be written"));
}

static void a_directory_without_rights_is_said(void **state)
{
    (void)state;
    assert_int_equal(chmod(dir, 0555), 0);
    in_child(open_as_nobody);
    assert_int_equal(chmod(dir, 0700), 0);
}

static void read_only_creates_nothing(void **state)
{
    (void)state;
    expect_refusal((struct store_config){.read_only = true}, ERR_ABSENT, "no store");
    assert_int_equal(access(file_in("data.mdb"), F_OK), -1);
    make_store();
    struct store *store = open_ok((struct store_config){.read_only = true});
    struct store_load *load;
    assert_int_equal(scan_count(store, TABLE), 300);
    assert_int_equal(put_n(store, TABLE, STR("k"), 1, STORE_ANY, NULL), ERR_STORE_READ_ONLY);
    assert_int_equal(store_load_begin(store, TABLE, &load), ERR_STORE_READ_ONLY);
    assert_int_equal(count_sessions(store), 1);
    store_close(store);
}

static void a_directory_that_is_none_is_said(void **state)
{
    (void)state;
    char path[96];
    overwrite("file", 0, 1, 'x');
    snprintf(path, sizeof path, "%s/file", dir);
    expect_refusal((struct store_config){.dir = path}, ERR_IO, "is not a directory");
    snprintf(path, sizeof path, "%s/no/parent", dir);
    expect_refusal((struct store_config){.dir = path}, ERR_IO, "No such file");
    snprintf(path, sizeof path, "%s/new", dir);
    struct store *store = open_ok((struct store_config){.dir = path, .mode = STORE_NOSYNC});
    store_close(store);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_int_equal(stat(strcat(path, "/data.mdb"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
}

static void a_secret_is_private_and_whole(void **state)
{
    (void)state;
    unsigned char a[32], b[32];
    struct stat st;
    struct store *store = open_ok(NOSYNC);
    assert_int_equal(store_secret(store, a), 0);
    assert_int_equal(stat(file_in("secret"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(chmod(file_in("secret"), 0644), 0);
    assert_int_equal(store_secret(store, b), ERR_FORBIDDEN);
    assert_int_equal(chmod(file_in("secret"), 0600), 0);
    store_close(store);
    store = open_ok(NOSYNC);
    assert_int_equal(store_secret(store, b), 0);
    assert_memory_equal(a, b, 32);
    assert_int_equal(truncate(file_in("secret"), 31), 0);
    assert_int_equal(store_secret(store, b), ERR_STORE_DAMAGED);
    store_close(store);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        CASE(a_full_map_refuses_and_keeps),
        CASE(more_views_than_reader_slots_are_refused),
        CASE(a_file_that_may_not_grow_refuses_and_keeps),
        CASE(a_disk_too_full_for_a_new_store_leaves_nothing),
        CASE(a_full_disk_refuses_and_keeps),
        CASE(a_load_that_fills_the_disk_is_taken_back),
        CASE(a_read_only_disk_can_be_read),
        CASE(a_directory_without_rights_is_said),
        CASE(read_only_creates_nothing),
        CASE(a_directory_that_is_none_is_said),
        CASE(a_secret_is_private_and_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
