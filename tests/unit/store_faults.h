/* tests/unit/store_faults.h - what the tests of bad disks and files share: opening with an expected
 * refusal, a store with 300 rows, a child whose success counts.
 */
#ifndef TENON_TESTS_STORE_FAULTS_H
#define TENON_TESTS_STORE_FAULTS_H

#include "store_scratch.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char why_text[512]; /* of the last open */

static inline int open_with(struct store_config config, struct store **ret)
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

static inline struct store *open_ok(struct store_config config)
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

static inline void expect_refusal(struct store_config config, int err, const char *in_why)
{
    struct store *store = NULL;
    assert_int_equal(open_with(config, &store), err);
    assert_null(store);
    if (!strstr(why_text, in_why))
        print_error("\"%s\" should name \"%s\"\n", why_text, in_why);
    assert_non_null(strstr(why_text, in_why));
}

static inline const char *file_in(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static inline void put_session(struct store *store, const char *id)
{
    struct store_session s = {
        .id = str_of(id), .log_level = -1, .expires_ms = clock_wall_ms() + 3600000};
    struct store_op op = {.kind = STORE_PUT_SESSION, .if_version = STORE_ANY, .session = &s};
    assert_int_equal(write_list(store, STORE_SYS, &op, 1, NULL), 0);
}

static inline uint64_t count_sessions(struct store *store)
{
    uint64_t n = 99;
    struct store_view *view = view_of(store, STORE_SYS);
    assert_int_equal(store_count_sessions(view, &n), 0);
    store_view_close(view);
    return n;
}

#define TABLE 1

/* A closed store with 300 rows and a session. */
static inline void make_store(void)
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

static inline void overwrite(const char *name, off_t at, size_t n, int byte)
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

/* Runs fn in a child; its exit code has to be 0. */
static inline void in_child(void (*fn)(void))
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

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
