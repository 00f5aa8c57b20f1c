/* tests/unit/store_index.h - what the tests of built indexes share: building, listing, and a check
 * that finds nothing. */
#ifndef TENON_TESTS_STORE_INDEX_H
#define TENON_TESTS_STORE_INDEX_H

#include "store_fixture.h"

static const struct store_index_part part_n[] = {{STR_INIT("n"), KEY_INTEGER, false}};
static const struct store_index_part parts_text[] = {{STR_INIT("text"), KEY_STRING, true},
                                                     {STR_INIT("n"), KEY_NUMBER, false}};
static const struct store_index by_n = {.name = STR_INIT("by_n"), .parts = part_n, .n_parts = 1};
static const struct store_index once_n = {
    .name = STR_INIT("once_n"), .unique = true, .parts = part_n, .n_parts = 1};
static const struct store_index by_text = {
    .name = STR_INIT("by_text"), .parts = parts_text, .n_parts = 2};

struct listed {
    uint32_t table, n, n_ready;
    uint32_t id; /* of the last one */
};

static inline int count_listed(void *ctx, const struct store_table *table)
{
    struct listed *l = ctx;
    for (uint32_t i = 0; table->id == l->table && i < table->n_indexes; i++) {
        l->n++;
        l->n_ready += table->indexes[i].ready;
        l->id = table->indexes[i].id;
    }
    return 0;
}

static inline struct listed list_indexes(struct store *store, uint32_t table)
{
    struct listed l = {.table = table};
    struct store_view *view = view_of(store, STORE_DATA);
    assert_int_equal(store_scan_tables(view, count_listed, &l), 0);
    store_view_close(view);
    return l;
}

static inline uint64_t count_map(struct store *store, enum kv_map map)
{
    uint64_t n = 99;
    struct store_view *view = view_of(store, STORE_DATA);
    assert_int_equal(kv_count(&view->txn, map, &n), 0);
    store_view_close(view);
    return n;
}

static inline uint64_t building(struct store *store)
{
    uint64_t building = 99;
    struct store_view *view = view_of(store, STORE_DATA);
    assert_int_equal(meta_get(&view->txn, META_BUILD, &building), 0);
    store_view_close(view);
    return building;
}

static inline void check_is_clean(struct store *store)
{
    assert_int_equal(store_check(store, print_finding, NULL, NULL), 0);
}

/* Nothing of an index is left, nor of its building. */
static inline void expect_no_index(struct store *store, uint32_t table)
{
    assert_int_equal(list_indexes(store, table).n, 0);
    assert_int_equal(count_map(store, KV_ENTRIES), 0);
    assert_int_equal(count_map(store, KV_DROPPED_INDEXES), 0);
    assert_int_equal(building(store), 0);
    check_is_clean(store);
}

struct counted_entries {
    uint64_t n;
    char last[600]; /* place */
    uint32_t last_len;
};

static inline int count_entry(void *ctx, struct str index_key, const struct store_row *row)
{
    struct counted_entries *c = ctx;
    struct str place = {index_key.p, index_key.n + row->key.n};
    assert_true(!c->n || str_compare((struct str){c->last, c->last_len}, place) < 0);
    memcpy(c->last, place.p, c->last_len = place.n);
    c->n++;
    return 0;
}

/* How many entries a scan gives, in order; or the error. */
static inline int64_t scan_index_count(struct store *store, uint32_t table, uint32_t index)
{
    struct counted_entries c = {0};
    struct store_view *view = view_of(store, STORE_DATA);
    int err = store_scan_index(view, table, index, NULL, count_entry, &c);
    store_view_close(view);
    return err ? err : (int64_t)c.n;
}

#endif
