/* tests/unit/store_children.h - what the tests of several processes on one store share:
 * children that work and tell by a pipe how far they are. LMDB is opened only after
 * a fork, never across one.
 */
#ifndef TENON_TESTS_STORE_CHILDREN_H
#define TENON_TESTS_STORE_CHILDREN_H

#include "store_scratch.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define TABLE 1 /* the first table of a store */

static inline struct store *open_store(enum store_mode mode)
{
    struct arena arena;
    struct str why = STR("");
    struct store *store = NULL;
    struct store_config config = {.dir = dir, .mode = mode};
    arena_init(&arena, 0);
    int err = store_open_lmdb(&config, &arena, &store, &why);
    if (err)
        fprintf(stderr, "%s: " STR_FMT "\n", err_name(err), STR_ARG(why));
    arena_done(&arena);
    return err ? NULL : store;
}

/* ---- Children ------------------------------------------------------------------------------- */

struct child {
    pid_t pid;
    int from; /* what it tells */
};

typedef void (*child_fn)(int to_parent);

static inline struct child start(child_fn fn)
{
    struct child c;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    c.pid = fork();
    assert_true(c.pid >= 0);
    if (c.pid == 0) {
        close(ends[0]);
        fn(ends[1]);
        _exit(0);
    }
    close(ends[1]);
    c.from = ends[0];
    return c;
}

static inline void tell(int to_parent, uint32_t number)
{
    if (write(to_parent, &number, sizeof number) != sizeof number)
        _exit(3);
}

static inline bool hear(struct child *c, uint32_t *ret)
{
    return read(c->from, ret, sizeof *ret) == sizeof *ret;
}

static inline void kill_child(struct child *c)
{
    int status = 0;
    kill(c->pid, SIGKILL);
    assert_int_equal(waitpid(c->pid, &status, 0), c->pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static inline void expect_success(struct child *c)
{
    int status = 0;
    assert_int_equal(waitpid(c->pid, &status, 0), c->pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    close(c->from);
}

static inline void wait_for_kill(void)
{
    for (;;)
        pause();
}

static inline void require(bool ok)
{
    if (!ok)
        _exit(2);
}

/* ---- What is left --------------------------------------------------------------------------- */

struct tally {
    uint64_t rows, next_seq, puts;
};

static inline int tally_change(void *ctx, const struct store_change *change)
{
    struct tally *t = ctx;
    assert_true(change->seq == t->next_seq);
    t->next_seq++;
    t->puts += change->kind == STORE_ROW_PUT;
    return 0;
}

/* Rows, count and log tell the same story. */
static inline void check_agreement(struct store *store)
{
    struct tally t = {.next_seq = 1};
    uint64_t seq = 0;
    struct store_view *view = view_of(store, STORE_DATA);
    assert_int_equal(store_scan_changes(view, 0, tally_change, &t), 0);
    assert_int_equal(store_last_seq(view, &seq), 0);
    assert_true(seq == t.next_seq - 1);
    store_view_close(view);
    assert_true(count_rows(store, TABLE) == t.puts);
    assert_true(scan_count(store, TABLE) == t.puts);
}

#endif
