/* tests/unit/test_store_faults.c - disks and files that are not as they should be. Each case gets
 * its error and one sentence that names the file; nothing acknowledged is lost. */
#include "store_fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[64];
static char why_text[512]; /* of the last open */

static int set_up(void **state)
{
    (void)state;
    scratch_make(dir);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    scratch_remove(dir);
    return 0;
}

static int open_with(struct store_config config, struct store **ret)
{
    struct arena arena;
    struct str why = STR("");
    config.dir = config.dir ? config.dir : dir;
    arena_init(&arena, 0);
    int err = store_open_lmdb(&config, &arena, ret, &why);
    snprintf(why_text, sizeof why_text, STR_FMT, STR_ARG(why));
    arena_done(&arena);
    return err;
}

static struct store *open_ok(struct store_config config)
{
    struct store *store = NULL;
    int err = open_with(config, &store);
    if (err)
        print_error("%s: %s\n", err_name(err), why_text);
    assert_int_equal(err, 0);
    return store;
}

#define NOSYNC               \
    (struct store_config)    \
    {                        \
        .mode = STORE_NOSYNC \
    }

static void expect_refusal(struct store_config config, int err, const char *in_why)
{
    struct store *store = NULL;
    assert_int_equal(open_with(config, &store), err);
    assert_null(store);
    if (!strstr(why_text, in_why))
        print_error("\"%s\" should name \"%s\"\n", why_text, in_why);
    assert_non_null(strstr(why_text, in_why));
}

static const char *file_in(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static void put_session(struct store *store, const char *id)
{
    struct store_session s = {
        .id = str_of(id), .log_level = -1, .expires_ms = clock_wall_ms() + 3600000};
    struct store_op op = {.kind = STORE_PUT_SESSION, .if_version = STORE_ANY, .session = &s};
    assert_int_equal(write_list(store, STORE_SYS, &op, 1, NULL), 0);
}

static uint64_t count_sessions(struct store *store)
{
    uint64_t n = 99;
    struct store_view *view = view_of(store, STORE_SYS);
    assert_int_equal(store_count_sessions(view, &n), 0);
    store_view_close(view);
    return n;
}

#define TABLE 1

/* A closed store with 300 rows and a session. */
static void make_store(void)
{
    struct store *store = open_ok(NOSYNC);
    assert_int_equal(make_table(store, "t"), TABLE);
    for (int i = 0; i < 300; i++) {
        char key[16];
        snprintf(key, sizeof key, "%03d", i);
        assert_int_equal(put_n(store, TABLE, str_of(key), i, STORE_MISSING, NULL), 0);
    }
    put_session(store, "s");
    store_close(store);
}

static void expect_intact(void)
{
    struct store *store = open_ok(NOSYNC);
    assert_int_equal(scan_count(store, TABLE), 300);
    assert_int_equal(get_n(store, TABLE, STR("299")), 299);
    store_close(store);
}

/* ---- Damaged and foreign files -------------------------------------------------------------- */

static void overwrite(const char *name, off_t at, size_t n, int byte)
{
    char *bytes = malloc(n);
    assert_non_null(bytes);
    memset(bytes, byte, n);
    int fd = open(file_in(name), O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, bytes, n, at), (ssize_t)n);
    close(fd);
    free(bytes);
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

static void set_format(struct store *store, enum store_space space, uint64_t format)
{
    struct kv_txn txn;
    assert_int_equal(kv_begin(store->envs[space], true, &txn), 0);
    assert_int_equal(meta_put(&txn, META_FORMAT, format), 0);
    assert_int_equal(kv_commit(&txn), 0);
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
    set_format(store, STORE_SYS, STORE_FORMAT + 1);
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

/* Runs fn in a child; its exit code has to be 0. */
static void in_child(void (*fn)(void))
{
    int status = 0;
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        fn();
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) {
        fputs("NOT PERMITTED: to mount a small disk\n", stderr);
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

#define REQUIRE(x)                                                                 \
    do {                                                                           \
        if (!(x)) {                                                                \
            fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #x, why_text); \
            _exit(1);                                                              \
        }                                                                          \
    } while (0)

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
    assert_int_equal(err, ERR_BUSY);
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
    assert_int_equal(count_sessions(store), 0); /* in memory */
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

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        CASE(a_file_that_was_cut_is_damaged),
        CASE(a_file_that_was_emptied_is_damaged_not_new),
        CASE(zeroed_meta_pages_are_damaged),
        CASE(a_damaged_page_is_said_before_the_abort),
        CASE(another_kind_of_file_is_damaged),
        CASE(a_file_of_another_program_has_an_unknown_format),
        CASE(a_newer_format_is_refused),
        CASE(a_row_of_a_newer_format_is_said),
        CASE(a_row_that_is_no_record_is_damaged),
        CASE(a_damaged_sys_is_set_aside),
        CASE(after_another_boot_sys_is_kept_only_if_it_was_closed_clean),
        CASE(only_the_last_who_closes_marks_sys_clean),
        CASE(sys_in_memory_touches_no_file),
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
