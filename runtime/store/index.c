/* store/index.c - indexes of tables and their entries.
 *
 *   INDEXES          table u32, id u32            -> [format, name, unique, ready, parts]
 *   ENTRIES          id u32, index key, row's key -> length of the index key, u16
 *   DROPPED_INDEXES  id u32                       -> nothing; its entries wait to be deleted
 *
 * An entry is all key, so that both engines keep the order of rows under one index key, and a place
 * in an index is plain bytes. The price: index key and row's key together fit INDEX_ENTRY_BYTES.
 * Index keys delimit themselves, so what starts with one has the same values. Entries are written
 * in the transaction of their row, and only those that change.
 */
#include "store/internal.h"

#include "base/err.h"

#include <string.h>

struct str index_key(uint32_t table, uint32_t id, struct index_key *space)
{
    kv_put_u32(space->bytes, table);
    kv_put_u32(space->bytes + 4, id);
    return (struct str){(char *)space->bytes, 8};
}

/* ---- Records -------------------------------------------------------------------------------- */

static void write_index(const struct store_index *index, struct buf *out)
{
    record_begin(out, 4);
    cbor_write_str(index->name, out);
    cbor_write_int(index->unique, out);
    cbor_write_int(index->ready, out);
    cbor_write_array(3 * index->n_parts, out);
    for (uint32_t i = 0; i < index->n_parts; i++) {
        cbor_write_str(index->parts[i].attribute, out);
        cbor_write_int(index->parts[i].type, out);
        cbor_write_int(index->parts[i].descending, out);
    }
}

static int read_parts(const struct tape_node *array, struct arena *arena, struct store_index *ret)
{
    uint32_t n = array->kind == TAPE_ARRAY ? array->n / 3 : 0;
    if (n == 0 || n > INDEX_PARTS_MAX || array->n % 3 || array->v.size != array->n + 1)
        return ERR_STORE_DAMAGED;
    struct store_index_part *parts = arena_array(arena, n, sizeof *parts);
    if (!parts)
        return ERR_NO_MEMORY;
    for (uint32_t i = 0; i < n; i++) {
        const struct tape_node *f = array + 1 + 3 * i;
        if (f[0].kind != TAPE_STR || f[1].kind != TAPE_INT || f[2].kind != TAPE_INT ||
            f[1].v.i < KEY_INTEGER || f[1].v.i > KEY_BOOLEAN)
            return ERR_STORE_DAMAGED;
        parts[i] =
            (struct store_index_part){tape_str(&f[0]), (enum key_type)f[1].v.i, f[2].v.i != 0};
    }
    ret->parts = parts;
    ret->n_parts = n;
    return 0;
}

static int read_index(struct str key, struct str value, struct arena *arena,
                      struct store_index *ret)
{
    const struct tape_node *f[4];
    value = arena_str(arena, value);
    if (!value.p)
        return ERR_NO_MEMORY;
    int err = key.n == 8 ? record_read(value, "sii*", arena, f) : ERR_STORE_DAMAGED;
    if (err)
        return err;
    *ret = (struct store_index){.id = kv_u32(key.p + 4),
                                .name = record_str(f[0]),
                                .unique = f[1]->v.i != 0,
                                .ready = f[2]->v.i != 0};
    return read_parts(f[3], arena, ret);
}

struct listing {
    uint32_t table, n;
    struct arena *arena;
    struct store_index *v;
};

static int visit_index(void *ctx, struct str key, struct str value)
{
    struct listing *l = ctx;
    if (key.n < 4 || kv_u32(key.p) != l->table)
        return 1;
    if (l->n == TABLE_INDEXES_MAX)
        return ERR_STORE_DAMAGED;
    if (!l->v)
        l->v = arena_array(l->arena, TABLE_INDEXES_MAX, sizeof *l->v);
    if (!l->v)
        return ERR_NO_MEMORY;
    return read_index(key, value, l->arena, &l->v[l->n++]);
}

int index_list(struct kv_txn *txn, uint32_t table, struct arena *arena,
               const struct store_index **ret, uint32_t *ret_n)
{
    struct listing l = {.table = table, .arena = arena};
    struct index_key from;
    struct str start = index_key(table, 0, &from);
    int err = kv_scan(txn, KV_INDEXES, start, visit_index, &l);
    if (err < 0)
        return err;
    *ret = l.v;
    *ret_n = l.n;
    return 0;
}

/* ---- Making and dropping -------------------------------------------------------------------- */

static bool is_index(const struct store_index *index)
{
    bool fine = index->n_parts > 0 && index->n_parts <= INDEX_PARTS_MAX && index->name.n > 0 &&
                index->name.n <= ROW_BYTES_MAX;
    for (uint32_t i = 0; fine && i < index->n_parts; i++)
        fine = index->parts[i].attribute.n > 0 && index->parts[i].attribute.n <= ROW_BYTES_MAX;
    return fine;
}

static int put_index(struct batch *b, const struct store_index *index)
{
    struct index_key key;
    write_index(index, &b->value);
    return batch_put(b, KV_INDEXES, index_key(b->slot.id, index->id, &key));
}

static bool has_name(const struct store_index *indexes, uint32_t n, struct str name)
{
    for (uint32_t i = 0; i < n; i++)
        if (str_eq(indexes[i].name, name))
            return true;
    return false;
}

int index_check_all(const struct store_table *with)
{
    if (with->n_indexes > TABLE_INDEXES_MAX)
        return ERR_LIMIT;
    for (uint32_t i = 0; i < with->n_indexes; i++) {
        if (!is_index(&with->indexes[i]))
            return ERR_LIMIT;
        if (has_name(with->indexes, i, with->indexes[i].name))
            return ERR_EXISTS;
    }
    return 0;
}

static int list_again(struct batch *b)
{
    arena_reset(&b->indexes);
    return index_list(&b->txn, b->slot.id, &b->indexes, &b->slot.indexes, &b->slot.n_indexes);
}

static int put_new(struct batch *b, const struct store_index *like, bool ready, uint32_t *ret_id)
{
    struct store_index index = *like;
    uint64_t last;
    int err = meta_get(&b->txn, META_INDEXES, &last);
    if (!err && last == UINT32_MAX)
        err = ERR_LIMIT;
    if (!err)
        err = meta_put(&b->txn, META_INDEXES, ++last);
    if (err)
        return err;
    index.id = *ret_id = (uint32_t)last;
    index.ready = ready;
    return put_index(b, &index);
}

int index_make_all(struct batch *b, const struct store_table *with)
{
    uint32_t id;
    int err = 0;
    for (uint32_t i = 0; !err && i < with->n_indexes; i++)
        err = put_new(b, &with->indexes[i], true, &id);
    return err ? err : list_again(b);
}

/* Other processes notice by the catalog's version. */
static void note_catalog_change(struct batch *b)
{
    b->catalog++;
    b->counters_changed = true;
}

int index_make(struct batch *b, const struct store_index *like, bool ready, uint32_t *ret_id)
{
    if (!is_index(like) || b->slot.n_indexes == TABLE_INDEXES_MAX)
        return ERR_LIMIT;
    if (has_name(b->slot.indexes, b->slot.n_indexes, like->name))
        return ERR_EXISTS;
    note_catalog_change(b);
    int err = put_new(b, like, ready, ret_id);
    return err ? err : list_again(b);
}

int index_set_ready(struct batch *b, const struct store_index *index)
{
    struct store_index done = *index;
    done.ready = true;
    note_catalog_change(b);
    return put_index(b, &done);
}

static int forget(struct batch *b, uint32_t id)
{
    struct index_key key;
    struct str record = index_key(b->slot.id, id, &key);
    int err = batch_remove(b, KV_INDEXES, record);
    buf_clear(&b->value);
    return err ? err : batch_put(b, KV_DROPPED_INDEXES, (struct str){record.p + 4, 4});
}

int index_drop(struct batch *b, uint32_t id)
{
    int err = forget(b, id);
    note_catalog_change(b);
    return err ? err : list_again(b);
}

int index_drop_all(struct batch *b)
{
    int err = 0;
    for (uint32_t i = 0; i < b->slot.n_indexes && !err; i++)
        err = forget(b, b->slot.indexes[i].id);
    return err;
}

int indexes_purge(struct batch *b, uint32_t max)
{
    return purge_ids(b, KV_DROPPED_INDEXES, KV_ENTRIES, max);
}

/* ---- Entries of a row ----------------------------------------------------------------------- */

static const struct tape_node *value_at(const struct tape_node *row, struct str path)
{
    while (row && row->kind == TAPE_OBJECT) {
        struct str name = str_cut(&path, '.');
        row = tape_get(row, name);
        if (!path.p)
            return row;
    }
    return NULL;
}

int index_entry(const struct store_index *index, struct str row_key, const struct tape_node *row,
                struct buf *out, uint32_t *ret_index_key_len, bool *ret_has_null)
{
    unsigned char id[4];
    bool has_null = false;
    int err = 0;
    kv_put_u32(id, index->id);
    buf_clear(out);
    buf_add(out, id, sizeof id);
    for (uint32_t i = 0; i < index->n_parts && !err; i++) {
        const struct store_index_part *part = &index->parts[i];
        const struct tape_node *value = value_at(row, part->attribute);
        has_null |= !value || value->kind == TAPE_NULL;
        err = key_add_part(part->type, part->descending, value, out);
    }
    if (err)
        return err;
    uint32_t len = (uint32_t)out->n - 4;
    buf_add_str(out, row_key);
    if (out->failed)
        return ERR_NO_MEMORY;
    if (out->n > 4 + INDEX_ENTRY_BYTES)
        return ERR_LIMIT;
    *ret_index_key_len = len;
    *ret_has_null = has_null;
    return 0;
}

/* Its own entry may stand there, and before the other one. */
int index_check_unique(struct kv_txn *txn, struct str entry, uint32_t index_key_len,
                       struct str *ret_key)
{
    struct kv_cursor cursor;
    struct str key, value, wanted = {entry.p, 4 + index_key_len};
    int err = kv_cursor_open(txn, KV_ENTRIES, &cursor);
    if (err)
        return err;
    err = kv_seek(&cursor, wanted, &key, &value);
    if (!err && str_eq(key, entry))
        err = kv_next(&cursor, &key, &value);
    bool other = !err && str_starts_with(key, wanted);
    kv_cursor_close(&cursor);
    if (other)
        *ret_key = (struct str){key.p + wanted.n, key.n - wanted.n};
    return other ? ERR_EXISTS : err == ERR_ABSENT ? 0 : err;
}

/* Rows that stood before an index may be such as it cannot hold. */
static bool is_unfit(int err)
{
    return err == ERR_LIMIT || err == ERR_PARAMS;
}

static int prepare_entry(struct batch *b, const struct store_index *index, struct str row_key,
                         const struct tape_node *row, struct index_change *c, struct str *ret,
                         bool *ret_has_null)
{
    *ret = STR_NONE;
    if (!row)
        return 0;
    int err = index_entry(index, row_key, row, &b->value, &c->index_key_len, ret_has_null);
    if (err)
        return err;
    *ret = arena_buf(&b->scratch, &b->value);
    return ret->p ? 0 : ERR_NO_MEMORY;
}

static int prepare(struct batch *b, const struct store_index *index, struct str row_key,
                   const struct tape_node *before, const struct tape_node *now,
                   struct index_change *ret)
{
    bool has_null = false;
    struct index_change c = {.building = !index->ready};
    struct str other;
    int err = prepare_entry(b, index, row_key, before, &c, &c.before, &has_null);
    if (c.building && is_unfit(err))
        err = 0;
    if (!err)
        err = prepare_entry(b, index, row_key, now, &c, &c.now, &has_null);
    if (err)
        return err;
    if (c.before.p && c.now.p && str_eq(c.before, c.now))
        c.before = c.now = STR_NONE;
    if (c.now.p && index->unique && !has_null)
        err = index_check_unique(&b->txn, c.now, c.index_key_len, &other);
    *ret = c;
    return err;
}

int index_prepare(struct batch *b, struct str row_key, const struct tape_node *before,
                  const struct tape_node *now, struct index_changes *ret, uint32_t *ret_index)
{
    ret->n = 0;
    for (uint32_t i = 0; i < b->slot.n_indexes; i++) {
        int err = prepare(b, &b->slot.indexes[i], row_key, before, now, &ret->v[ret->n++]);
        if (err) {
            *ret_index = b->slot.indexes[i].id;
            return err;
        }
    }
    return 0;
}

int index_put_entry(struct batch *b, struct str entry, uint32_t index_key_len)
{
    buf_clear(&b->value);
    buf_add_char(&b->value, (char)(index_key_len >> 8));
    buf_add_char(&b->value, (char)index_key_len);
    return batch_put(b, KV_ENTRIES, entry);
}

int index_apply(struct batch *b, const struct index_changes *changes)
{
    int err = 0;
    for (uint32_t i = 0; i < changes->n && !err; i++) {
        const struct index_change *c = &changes->v[i];
        if (c->before.p)
            err = batch_remove(b, KV_ENTRIES, c->before);
        if (err == ERR_ABSENT)
            err = c->building ? 0 : ERR_STORE_DAMAGED;
        if (!err && c->now.p)
            err = index_put_entry(b, c->now, c->index_key_len);
    }
    return err;
}

/* ---- Reading -------------------------------------------------------------------------------- */

struct entry_scan {
    struct kv_txn *txn;
    uint32_t table, index;
    const struct store_range *range;
    store_entry_fn fn;
    void *ctx;
    struct arena scratch;
    bool ended; /* at the end of the range, not by `fn` */
};

static bool is_outside(const struct store_range *range, struct str place)
{
    if (range && range->descending)
        return range->from.p && str_compare(place, range->from) < (range->after ? 1 : 0);
    return range && range->to.p && str_compare(place, range->to) >= 0;
}

uint32_t index_entry_split(struct str entry, struct str value)
{
    const unsigned char *len = (const unsigned char *)value.p;
    if (value.n != 2)
        return 0;
    uint32_t n = 4 + ((uint32_t)len[0] << 8 | len[1]);
    return n < entry.n ? n : 0;
}

/* `n` bytes of the place are the index key. */
static int show_entry(struct entry_scan *scan, struct str place, uint32_t n)
{
    struct store_row row;
    arena_reset(&scan->scratch);
    int err = row_find(scan->txn, scan->table, (struct str){place.p + n, place.n - n},
                       &scan->scratch, &row);
    if (err)
        return err == ERR_ABSENT ? ERR_STORE_DAMAGED : err;
    return scan->fn(scan->ctx, (struct str){place.p, n}, &row);
}

static int visit_entry(void *ctx, struct str key, struct str value)
{
    struct entry_scan *scan = ctx;
    const struct store_range *range = scan->range;
    struct str place = {key.p + 4, key.n - 4};
    if (key.n < 4 || kv_u32(key.p) != scan->index || is_outside(range, place)) {
        scan->ended = true;
        return 1;
    }
    if (range && range->after && range->from.p && str_eq(place, range->from))
        return 0;
    uint32_t split = index_entry_split(key, value);
    return split ? show_entry(scan, place, split - 4) : ERR_STORE_DAMAGED;
}

static int scan_entries(struct entry_scan *scan)
{
    char start[4 + INDEX_ENTRY_BYTES];
    const struct store_range *range = scan->range;
    bool back = range && range->descending;
    struct str place = !range ? STR_NONE : back ? range->to : range->from;
    if (place.n > INDEX_ENTRY_BYTES)
        return ERR_LIMIT;
    kv_put_u32((unsigned char *)start, scan->index + (back && !place.p));
    if (place.n)
        memcpy(start + 4, place.p, place.n);
    struct str at = {start, 4 + place.n};
    return back ? kv_scan_back(scan->txn, KV_ENTRIES, at, visit_entry, scan)
                : kv_scan(scan->txn, KV_ENTRIES, at, visit_entry, scan);
}

int store_scan_index(struct store_view *view, uint32_t table, uint32_t index,
                     const struct store_range *range, store_entry_fn fn, void *ctx)
{
    struct entry_scan scan = {
        .txn = &view->txn, .table = table, .index = index, .range = range, .fn = fn, .ctx = ctx};
    struct index_key key;
    struct store_index found;
    struct str value, record = index_key(table, index, &key);
    int err = kv_get(&view->txn, KV_INDEXES, record, &value);
    if (err)
        return err;
    arena_init(&scan.scratch, 0);
    err = read_index(record, value, &scan.scratch, &found);
    if (!err)
        err = found.ready ? scan_entries(&scan) : ERR_ABSENT;
    arena_done(&scan.scratch);
    return scan.ended ? 0 : err;
}
