/* tests/unit/store_fixture.h - what the store's tests share: small tapes, one-operation writes, a
 * scratch directory, and a loop that only keeps posts until it is run. */
#ifndef TENON_TESTS_STORE_FIXTURE_H
#define TENON_TESTS_STORE_FIXTURE_H

#include "base/clock.h"
#include "base/err.h"
#include "core/loop.h"
#include "store/internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- A loop that is run by hand ------------------------------------------------------------- */

struct loop {
    pthread_mutex_t lock;
    pthread_cond_t posted;
    struct loop_post *head;
};

void loop_post(struct loop *loop, struct loop_post *post)
{
    pthread_mutex_lock(&loop->lock);
    post->next = loop->head;
    loop->head = post;
    pthread_cond_signal(&loop->posted);
    pthread_mutex_unlock(&loop->lock);
}

static inline void loop_run_once(struct loop *loop)
{
    pthread_mutex_lock(&loop->lock);
    while (!loop->head)
        pthread_cond_wait(&loop->posted, &loop->lock);
    struct loop_post *post = loop->head;
    loop->head = post->next;
    pthread_mutex_unlock(&loop->lock);
    post->fn(post);
}

static inline bool loop_has_post(struct loop *loop)
{
    pthread_mutex_lock(&loop->lock);
    bool has = loop->head != NULL;
    pthread_mutex_unlock(&loop->lock);
    return has;
}

/* ---- A scratch directory -------------------------------------------------------------------- */

static inline void scratch_make(char out[64])
{
    strcpy(out, "/tmp/tenon-store-XXXXXX");
    assert_non_null(mkdtemp(out));
}

static inline void scratch_remove(const char *dir)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    assert_int_equal(system(command), 0);
}

/* ---- Rows: {"n": <number>, "text": <text>} -------------------------------------------------- */

struct sample {
    struct tape_node nodes[5];
};

static inline const struct tape_node *sample_row(struct sample *s, int64_t n, struct str text)
{
    s->nodes[0] = (struct tape_node){.kind = TAPE_OBJECT, .n = 2, .v.size = 5};
    s->nodes[1] = (struct tape_node){.kind = TAPE_STR, .n = 1, .v.s = "n"};
    s->nodes[2] = (struct tape_node){.kind = TAPE_INT, .v.i = n};
    s->nodes[3] = (struct tape_node){.kind = TAPE_STR, .n = 4, .v.s = "text"};
    s->nodes[4] = (struct tape_node){.kind = TAPE_STR, .n = text.n, .v.s = text.p};
    return s->nodes;
}

static inline int64_t sample_n(const struct tape_node *row)
{
    assert_int_equal(row[0].kind, TAPE_OBJECT);
    assert_int_equal(row[2].kind, TAPE_INT);
    return row[2].v.i;
}

/* ---- Writes --------------------------------------------------------------------------------- */

struct waited {
    struct store_write write; /* first */
    int err;
    int n_done;
};

static inline void waited_done(struct store_write *write, int err)
{
    struct waited *w = (struct waited *)write;
    w->err = err;
    w->n_done++;
}

/* Submits to a store without a loop. */
static inline int write_list(struct store *store, enum store_space space, struct store_op *ops,
                             uint32_t n_ops, uint32_t *ret_failed)
{
    struct waited w = {.write = {.space = space, .ops = ops, .n_ops = n_ops, .done = waited_done}};
    store_submit(store, &w.write);
    assert_int_equal(w.n_done, 1);
    if (ret_failed)
        *ret_failed = w.write.failed_op;
    return w.err;
}

static inline struct store_op row_op(uint32_t table, struct str key, const struct tape_node *row,
                                     uint64_t if_version)
{
    return (struct store_op){.kind = row ? STORE_PUT_ROW : STORE_DELETE_ROW,
                             .if_version = if_version,
                             .table = table,
                             .key = key,
                             .row = row};
}

static inline int put_n(struct store *store, uint32_t table, struct str key, int64_t n,
                        uint64_t if_version, uint64_t *ret_seq)
{
    struct sample s;
    struct store_op op = row_op(table, key, sample_row(&s, n, STR("x")), if_version);
    int err = write_list(store, STORE_DATA, &op, 1, NULL);
    if (ret_seq)
        *ret_seq = op.ret_seq;
    return err;
}

static inline int delete_key(struct store *store, uint32_t table, struct str key,
                             uint64_t if_version, uint64_t *ret_seq)
{
    struct store_op op = row_op(table, key, NULL, if_version);
    int err = write_list(store, STORE_DATA, &op, 1, NULL);
    if (ret_seq)
        *ret_seq = op.ret_seq;
    return err;
}

static inline int put_table(struct store *store, struct str database, struct str name,
                            uint64_t if_version, uint32_t *ret_id)
{
    struct store_table table = {.database = database, .name = name, .definition = STR("{}")};
    struct store_op op = {.kind = STORE_PUT_TABLE, .if_version = if_version, .put_table = &table};
    int err = write_list(store, STORE_DATA, &op, 1, NULL);
    if (!err)
        *ret_id = op.ret_table;
    return err;
}

static inline uint32_t make_table(struct store *store, const char *name)
{
    uint32_t id = 0;
    assert_int_equal(put_table(store, STR("db"), str_of(name), STORE_MISSING, &id), 0);
    assert_true(id > 0);
    return id;
}

/* ---- Reads in a view of their own ----------------------------------------------------------- */

static inline struct store_view *view_of(struct store *store, enum store_space space)
{
    struct store_view *view = NULL;
    assert_int_equal(store_view_open(store, space, &view), 0);
    return view;
}

/* The number in the row, or the error. */
static inline int64_t get_n_in(struct store_view *view, uint32_t table, struct str key,
                               uint64_t *ret_version)
{
    struct arena arena;
    struct store_row row;
    arena_init(&arena, 0);
    int64_t n = store_get_row(view, table, key, &arena, &row);
    if (n == 0) {
        assert_true(str_eq(row.key, key));
        n = sample_n(row.row);
        if (ret_version)
            *ret_version = row.version;
    }
    arena_done(&arena);
    return n;
}

static inline int64_t get_n(struct store *store, uint32_t table, struct str key)
{
    struct store_view *view = view_of(store, STORE_DATA);
    int64_t n = get_n_in(view, table, key, NULL);
    store_view_close(view);
    return n;
}

static inline uint64_t count_rows(struct store *store, uint32_t table)
{
    struct store_view *view = view_of(store, STORE_DATA);
    uint64_t n = UINT64_MAX;
    assert_int_equal(store_count_rows(view, table, &n), 0);
    store_view_close(view);
    return n;
}

static inline uint64_t last_seq(struct store *store)
{
    struct store_view *view = view_of(store, STORE_DATA);
    uint64_t seq = UINT64_MAX;
    assert_int_equal(store_last_seq(view, &seq), 0);
    store_view_close(view);
    return seq;
}

static inline int count_row(void *ctx, const struct store_row *row)
{
    (void)row;
    ++*(uint64_t *)ctx;
    return 0;
}

/* Rows that a scan sees: has to agree with the count that is kept. */
static inline uint64_t scan_count(struct store *store, uint32_t table)
{
    struct store_view *view = view_of(store, STORE_DATA);
    uint64_t n = 0;
    assert_int_equal(store_scan_rows(view, table, NULL, count_row, &n), 0);
    store_view_close(view);
    return n;
}

static inline void print_finding(void *ctx, struct str finding)
{
    (void)ctx;
    print_error(STR_FMT "\n", STR_ARG(finding));
}

#endif
