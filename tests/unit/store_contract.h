/* tests/unit/store_contract.h - the frame of the contract tests of core/store.h: each case runs on
 * both engines, with a fresh store that has one table. */
#ifndef TENON_TESTS_STORE_CONTRACT_H
#define TENON_TESTS_STORE_CONTRACT_H

#include "store_fixture.h"

struct fixture {
    struct store *store;
    char dir[64];
    uint32_t table;
};

static inline int open_lmdb(struct fixture *f)
{
    struct arena arena;
    struct str why = STR("");
    struct store_config config = {.dir = f->dir, .mode = STORE_NOSYNC};
    arena_init(&arena, 0);
    int err = store_open_lmdb(&config, &arena, &f->store, &why);
    if (err)
        print_error("%s: " STR_FMT "\n", err_name(err), STR_ARG(why));
    arena_done(&arena);
    return err;
}

static inline int set_up_memory(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    *state = f;
    assert_non_null(f);
    assert_int_equal(store_open_memory(&f->store), 0);
    f->table = make_table(f->store, "t");
    return 0;
}

static inline int set_up_lmdb(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    *state = f;
    assert_non_null(f);
    scratch_make(f->dir);
    assert_int_equal(open_lmdb(f), 0);
    f->table = make_table(f->store, "t");
    return 0;
}

static inline int tear_down(void **state)
{
    struct fixture *f = *state;
    store_close(f->store);
    if (*f->dir)
        scratch_remove(f->dir);
    free(f);
    return 0;
}

static inline int drop_table(struct store *store, uint32_t table, uint64_t if_version)
{
    struct store_op op = {.kind = STORE_DROP_TABLE, .if_version = if_version, .table = table};
    return write_list(store, STORE_DATA, &op, 1, NULL);
}

struct changes {
    uint64_t next; /* sequence expected */
    uint64_t n;
    struct store_change last;
    char key[16];
};

static inline int see_change(void *ctx, const struct store_change *change)
{
    struct changes *c = ctx;
    assert_true(change->seq == c->next);
    c->next++;
    c->n++;
    c->last = *change;
    snprintf(c->key, sizeof c->key, STR_FMT, STR_ARG(change->key));
    return 0;
}

static inline struct changes read_changes(struct store *store, uint64_t after)
{
    struct changes c = {.next = after + 1};
    struct store_view *view = view_of(store, STORE_DATA);
    assert_int_equal(store_scan_changes(view, after, see_change, &c), 0);
    store_view_close(view);
    return c;
}

#define CONTRACT_MEMORY(name) {"memory: " #name, name, set_up_memory, tear_down, NULL},
#define CONTRACT_LMDB(name)   {"lmdb: " #name, name, set_up_lmdb, tear_down, NULL},

#endif
