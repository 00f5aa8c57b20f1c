/* store/check.c - store_check: does all of DATA agree? (SYS: check_sys.c)
 *
 * One snapshot, gone through map by map; what one map says is looked up in the others. Nothing is
 * kept but the ids of tables and indexes, so memory does not grow with the rows. A record that
 * cannot be read is a finding and the check goes on behind it; only an engine that fails ends it.
 */
#include "store/internal.h"

#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FINDING_BYTES 1024

struct check {
    struct kv_txn *txn;
    struct findings *findings;
    uint64_t seq, floor; /* of the log */
    uint64_t next_seq;   /* expected in it */
    uint64_t building;
    const struct store_table *table;
    const struct store_index *index;
    uint64_t n_rows, n_entries;
    char before[4 + INDEX_ENTRY_BYTES]; /* the entry before, */
    uint32_t before_len;                /* up to its row's key */
    struct buf entry;
    struct arena scratch; /* of a row or an entry */
};

/* ---- Saying it ------------------------------------------------------------------------------ */

void find(struct findings *f, const char *fmt, ...)
{
    char text[FINDING_BYTES];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    uint32_t len = n < 0 ? 0 : n < FINDING_BYTES ? (uint32_t)n : FINDING_BYTES - 1;
    f->n++;
    f->report(f->ctx, (struct str){text, len});
}

struct shown {
    char text[160];
};

/* The type of a key is core's business. But where integers from -2^56 to 2^62 have their first byte
 * no readable text has one. */
static const char *show_key(struct str key, struct shown *out)
{
    unsigned char first = key.n ? (unsigned char)key.p[0] : 0;
    struct buf text = {0};
    if (key.n == 8 && first >= 0x7f && first <= 0xbf)
        key_write_text(KEY_INTEGER, key, &text);
    else
        key_write_segment(KEY_STRING, key, &text); /* percent-encoded: any byte can be shown */
    snprintf(out->text, sizeof out->text, STR_FMT, (int)text.n, text.p ? text.p : "");
    buf_done(&text);
    return out->text;
}

#define OF_TABLE  "table " STR_FMT "." STR_FMT
#define TABLE_(c) STR_ARG((c)->table->database), STR_ARG((c)->table->name)

bool is_finding(int err)
{
    return err == ERR_STORE_DAMAGED || err == ERR_STORE_FORMAT;
}

/* ---- Changes -------------------------------------------------------------------------------- */

/* Is this what the log says of the sequence? What it forgot is not asked for. */
static int check_version(struct check *c, uint64_t version, enum store_change_kind kind,
                         struct str key, const char *what)
{
    unsigned char at[8];
    struct store_change change = {0};
    struct str value, log_key = {(char *)at, sizeof at};
    kv_put_u64(at, version);
    if (version > c->seq)
        find(c->findings, OF_TABLE ": %s has version %llu, but the last change is %llu", TABLE_(c),
             what, (unsigned long long)version, (unsigned long long)c->seq);
    if (version < c->floor || version > c->seq)
        return 0;
    int err = kv_get(c->txn, KV_LOG, log_key, &value);
    if (!err)
        err = change_read(log_key, value, &c->scratch, &change);
    if (err && err != ERR_ABSENT)
        return is_finding(err) ? 0 : err; /* the log's own check says it */
    if (err || change.kind != kind || change.table != c->table->id || !str_eq(change.key, key))
        find(c->findings, OF_TABLE ": %s has version %llu, of which the log knows something else",
             TABLE_(c), what, (unsigned long long)version);
    return 0;
}

static int check_change(void *ctx, struct str key, struct str value)
{
    struct check *c = ctx;
    struct store_change change;
    uint64_t seq = key.n == 8 ? kv_u64(key.p) : c->next_seq;
    arena_reset(&c->scratch);
    int err = change_read(key, value, &c->scratch, &change);
    if (is_finding(err))
        find(c->findings, "change log: change %llu cannot be read", (unsigned long long)seq);
    else if (err)
        return err;
    if (seq != c->next_seq)
        find(c->findings, "change log: change %llu is missing", (unsigned long long)c->next_seq);
    c->next_seq = seq + 1;
    c->findings->done.n_changes++;
    return 0;
}

static int check_log(struct check *c)
{
    c->next_seq = c->floor;
    int err = kv_scan(c->txn, KV_LOG, STR(""), check_change, c);
    if (!err && c->next_seq != c->seq + 1)
        find(c->findings, "change log: it ends at %llu, but the last change is %llu",
             (unsigned long long)c->next_seq - 1, (unsigned long long)c->seq);
    return err;
}

/* ---- Rows ----------------------------------------------------------------------------------- */

static int check_entry_of(struct check *c, const struct store_index *index,
                          const struct store_row *row)
{
    uint32_t len;
    bool has_null;
    struct str value;
    struct shown key;
    int err = index_entry(index, row->key, row->row, &c->entry, &len, &has_null);
    if (err == ERR_NO_MEMORY)
        return err;
    if (err) {
        find(c->findings, OF_TABLE ": row %s does not fit index " STR_FMT, TABLE_(c),
             show_key(row->key, &key), STR_ARG(index->name));
        return 0;
    }
    err = kv_get(c->txn, KV_ENTRIES, buf_str(&c->entry), &value);
    if (err == ERR_ABSENT)
        find(c->findings, OF_TABLE ": row %s has no entry in index " STR_FMT, TABLE_(c),
             show_key(row->key, &key), STR_ARG(index->name));
    return err == ERR_ABSENT ? 0 : err;
}

static int check_row(struct check *c, const struct store_row *row)
{
    struct shown key;
    char what[sizeof key.text + 8];
    int err = 0;
    for (uint32_t i = 0; i < c->table->n_indexes && !err; i++)
        if (c->table->indexes[i].ready)
            err = check_entry_of(c, &c->table->indexes[i], row);
    if (err)
        return err;
    snprintf(what, sizeof what, "row %s", show_key(row->key, &key));
    return check_version(c, row->version, STORE_ROW_PUT, row->key, what);
}

static int visit_row(void *ctx, struct str key, struct str value)
{
    struct check *c = ctx;
    struct store_row row;
    struct shown shown;
    if (key.n < 4 || kv_u32(key.p) != c->table->id)
        return 1;
    struct str own = {key.p + 4, key.n - 4};
    c->n_rows++;
    arena_reset(&c->scratch);
    int err = row_read(own, value, &c->scratch, &row);
    if (is_finding(err))
        find(c->findings, OF_TABLE ": row %s cannot be read: %s", TABLE_(c), show_key(own, &shown),
             err_text(err));
    else
        err = err ? err : check_row(c, &row);
    return err < 0 && !is_finding(err) ? err : 0;
}

static int check_rows(struct check *c)
{
    unsigned char id[4];
    struct store_view view = {.txn = *c->txn};
    uint64_t counted = 0;
    c->n_rows = 0;
    kv_put_u32(id, c->table->id);
    int err = kv_scan(c->txn, KV_ROWS, (struct str){(char *)id, 4}, visit_row, c);
    c->findings->done.n_rows += c->n_rows;
    if (err >= 0)
        err = store_count_rows(&view, c->table->id, &counted);
    if (!err && counted != c->n_rows)
        find(c->findings, OF_TABLE ": it counts %llu rows, but there are %llu", TABLE_(c),
             (unsigned long long)counted, (unsigned long long)c->n_rows);
    return err;
}

/* ---- Entries -------------------------------------------------------------------------------- */

enum match { ENTRY_FITS, ENTRY_WRONG, ENTRY_UNKNOWN };

/* Is the entry that of its row? An enum match, or an error. */
static int compare_with_row(struct check *c, struct str entry, struct str row_key,
                            bool *ret_has_null)
{
    struct store_row row;
    uint32_t len;
    arena_reset(&c->scratch);
    int err = row_find(c->txn, c->table->id, row_key, &c->scratch, &row);
    if (!err)
        err = index_entry(c->index, row_key, row.row, &c->entry, &len, ret_has_null);
    if (is_finding(err))
        return ENTRY_UNKNOWN; /* said where the rows are checked */
    if (err == ERR_ABSENT || err == ERR_LIMIT || err == ERR_PARAMS)
        return ENTRY_WRONG;
    return err ? err : str_eq(buf_str(&c->entry), entry) ? ENTRY_FITS : ENTRY_WRONG;
}

static int check_row_of(struct check *c, struct str entry, struct str row_key)
{
    struct shown shown;
    bool has_null;
    int match = compare_with_row(c, entry, row_key, &has_null);
    if (match == ENTRY_WRONG)
        find(c->findings,
             OF_TABLE ": index " STR_FMT " has an entry for row %s that is not there or is not so",
             TABLE_(c), STR_ARG(c->index->name), show_key(row_key, &shown));
    return match < 0 ? match : 0;
}

static bool is_repeated(const struct check *c, struct str wanted)
{
    return c->before_len && str_eq((struct str){c->before, c->before_len}, wanted);
}

/* Two entries with the same values, one behind the other. */
static int check_repetition(struct check *c, struct str entry, struct str row_key)
{
    bool has_null;
    struct shown shown;
    int match = compare_with_row(c, entry, row_key, &has_null);
    if (match == ENTRY_FITS && !has_null)
        find(c->findings,
             OF_TABLE ": row %s has the same values as another in the unique index " STR_FMT,
             TABLE_(c), show_key(row_key, &shown), STR_ARG(c->index->name));
    return match < 0 ? match : 0;
}

/* Those of a ready index are only counted, since each row was asked for its own. */
static int visit_entry(void *ctx, struct str key, struct str value)
{
    struct check *c = ctx;
    if (key.n < 4 || kv_u32(key.p) != c->index->id)
        return 1;
    uint32_t len = index_entry_split(key, value);
    c->n_entries++;
    if (!len || len > sizeof c->before) {
        find(c->findings, OF_TABLE ": index " STR_FMT " has an entry that cannot be read",
             TABLE_(c), STR_ARG(c->index->name));
        return 0;
    }
    struct str wanted = {key.p, len}, row_key = {key.p + len, key.n - len};
    int err = 0;
    if (!c->index->ready)
        err = check_row_of(c, key, row_key);
    else if (c->index->unique && is_repeated(c, wanted))
        err = check_repetition(c, key, row_key);
    memcpy(c->before, wanted.p, c->before_len = wanted.n);
    return err;
}

static int name_entry(void *ctx, struct str key, struct str value)
{
    struct check *c = ctx;
    if (key.n < 4 || kv_u32(key.p) != c->index->id)
        return 1;
    uint32_t len = index_entry_split(key, value);
    return len ? check_row_of(c, key, (struct str){key.p + len, key.n - len}) : 0;
}

static int check_index(struct check *c, const struct store_index *index)
{
    unsigned char id[4];
    struct str from = {(char *)id, 4};
    c->index = index;
    c->n_entries = c->before_len = 0;
    kv_put_u32(id, index->id);
    if (!index->ready && c->building != ((uint64_t)c->table->id << 32 | index->id))
        find(c->findings, OF_TABLE ": index " STR_FMT " is not ready, and nobody builds it",
             TABLE_(c), STR_ARG(index->name));
    int err = kv_scan(c->txn, KV_ENTRIES, from, visit_entry, c);
    c->findings->done.n_indexes++;
    c->findings->done.n_entries += c->n_entries;
    if (err < 0 || !index->ready || c->n_entries == c->n_rows)
        return err < 0 ? err : 0;
    find(c->findings, OF_TABLE ": index " STR_FMT " has %llu entries for %llu rows", TABLE_(c),
         STR_ARG(index->name), (unsigned long long)c->n_entries, (unsigned long long)c->n_rows);
    err = kv_scan(c->txn, KV_ENTRIES, from, name_entry, c);
    return err < 0 ? err : 0;
}

/* ---- Tables --------------------------------------------------------------------------------- */

static int visit_table(void *ctx, const struct store_table *table)
{
    struct check *c = ctx;
    c->table = table;
    c->findings->done.n_tables++;
    arena_reset(&c->scratch);
    if (!table_exists(c->txn, table->id))
        find(c->findings, OF_TABLE ": its count of rows is missing", TABLE_(c));
    int err = check_version(c, table->version, STORE_TABLE_PUT, STR_NONE, "it");
    if (!err)
        err = check_rows(c);
    for (uint32_t i = 0; i < table->n_indexes && !err; i++)
        err = check_index(c, &table->indexes[i]);
    return err;
}

/* What counts rows of a table has to be known to the catalog by the same id. */
static int check_counted(void *ctx, struct str key, struct str value)
{
    struct check *c = ctx;
    const struct tape_node *f[2];
    struct str record;
    int64_t id = 0;
    arena_reset(&c->scratch);
    int err = key.n == 4 ? record_read(value, "is", &c->scratch, f) : ERR_STORE_DAMAGED;
    if (!err)
        err = kv_get(c->txn, KV_CATALOG, record_str(f[1]), &record);
    if (!err)
        err = record_first_int(record, &id);
    if (err && err != ERR_ABSENT && !is_finding(err))
        return err;
    if (err || (uint32_t)id != kv_u32(key.p))
        find(c->findings, "a count of rows belongs to no table of the catalog");
    return 0;
}

static int check_tables(struct check *c)
{
    struct store_view view = {.txn = *c->txn};
    int err = store_scan_tables(&view, visit_table, c);
    if (is_finding(err))
        find(c->findings, "the catalog cannot be read to its end: %s", err_text(err));
    if (err && !is_finding(err))
        return err;
    return kv_scan(c->txn, KV_TABLES, STR(""), check_counted, c);
}

/* ---- What belongs to nobody ----------------------------------------------------------------- */

struct ids {
    uint32_t *v;
    uint32_t n, cap;
};

static int add_id(struct ids *ids, uint32_t id)
{
    if (ids->n == ids->cap) {
        uint32_t cap = ids->cap ? ids->cap * 2 : 64;
        uint32_t *v = realloc(ids->v, cap * sizeof *v);
        if (!v)
            return ERR_NO_MEMORY;
        ids->v = v;
        ids->cap = cap;
    }
    ids->v[ids->n++] = id;
    return 0;
}

/* The last four bytes of a key of TABLES, INDEXES or what was dropped. */
static int collect_id(void *ctx, struct str key, struct str value)
{
    (void)value;
    return key.n < 4 ? 0 : add_id(ctx, kv_u32(key.p + key.n - 4));
}

static bool has_id(const struct ids *ids, uint32_t id)
{
    for (uint32_t i = 0; i < ids->n; i++)
        if (ids->v[i] == id)
            return true;
    return false;
}

/* Jumps from id to id through a map whose keys begin with one. */
static int check_owners(struct check *c, enum kv_map map, const struct ids *owners,
                        const char *what)
{
    unsigned char at[4] = {0};
    struct str key, value;
    for (;;) {
        int err = kv_first(c->txn, map, (struct str){(char *)at, 4}, &key, &value);
        if (err)
            return err == ERR_ABSENT ? 0 : err;
        uint32_t id = key.n < 4 ? 0 : kv_u32(key.p);
        if (!has_id(owners, id))
            find(c->findings, "%s %u that is neither there nor dropped", what, id);
        if (id == UINT32_MAX)
            return 0;
        kv_put_u32(at, id + 1);
    }
}

static int check_orphans(struct check *c, enum kv_map living, enum kv_map dropped, enum kv_map map,
                         const char *what)
{
    struct ids ids = {0};
    int err = kv_scan(c->txn, living, STR(""), collect_id, &ids);
    if (!err)
        err = kv_scan(c->txn, dropped, STR(""), collect_id, &ids);
    if (!err)
        err = check_owners(c, map, &ids, what);
    free(ids.v);
    return err;
}

/* ---- All of it ------------------------------------------------------------------------------ */

static int check_all(struct check *c)
{
    uint64_t loading = 0;
    int err = meta_get(c->txn, META_SEQ, &c->seq);
    if (!err)
        err = meta_get(c->txn, META_LOAD, &loading);
    if (!err)
        err = meta_get(c->txn, META_BUILD, &c->building);
    if (!err)
        err = change_log_floor(c->txn, &c->floor);
    if (!err)
        err = check_log(c);
    if (!err)
        err = check_tables(c);
    if (!err)
        err = check_orphans(c, KV_TABLES, KV_DROPPED, KV_ROWS, "there are rows of a table");
    if (!err)
        err = check_orphans(c, KV_INDEXES, KV_DROPPED_INDEXES, KV_ENTRIES,
                            "there are entries of an index");
    if (!err)
        err = check_access(c->txn, c->findings);
    c->findings->done.has_unfinished_load = loading;
    c->findings->done.has_unfinished_build = c->building;
    return err;
}

static int check_data(struct kv_txn *txn, struct findings *findings)
{
    struct check *c = calloc(1, sizeof *c);
    if (!c)
        return ERR_NO_MEMORY;
    *c = (struct check){.txn = txn, .findings = findings};
    arena_init(&c->scratch, 0);
    int err = check_all(c);
    buf_done(&c->entry);
    arena_done(&c->scratch);
    free(c);
    return err;
}

static int check_space(struct store *store, enum store_space space,
                       int (*check)(struct kv_txn *txn, struct findings *findings),
                       struct findings *findings)
{
    struct store_view *view;
    int err = store_view_open(store, space, &view);
    if (err)
        return err;
    err = check(&view->txn, findings);
    store_view_close(view);
    return err;
}

int store_check(struct store *store, void (*report)(void *ctx, struct str finding), void *ctx,
                struct store_checked *ret)
{
    struct findings findings = {.report = report, .ctx = ctx};
    int err = check_space(store, STORE_DATA, check_data, &findings);
    if (!err)
        err = check_space(store, STORE_SYS, check_sys, &findings);
    if (!err && ret)
        *ret = findings.done;
    return err ? err : findings.n;
}
