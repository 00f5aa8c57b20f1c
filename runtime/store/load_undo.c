/* store/load_undo.c - taking back what a load wrote, by the load itself or by who finds it left.
 *
 *   UNDO  u64, newest first -> [format, table, key, version, stood, before]
 *         ff x 8, version u64 -> u64: while rolling back, what became of that version of a row
 *   META  "load" = sequence before the load + 1 while what stands in UNDO is to be rolled back;
 *         0: it is only to be deleted
 *
 * A row is taken back only if it still has the version that the load gave it: what others wrote
 * over it was acknowledged to them, and stays. A row that stood before is written again, with a new
 * version as at any change, so that whoever follows the log sees it; the second kind of entry lets
 * an older entry of the same row know it by that version.
 *
 * An index may not allow that any more, because another row took a unique value that was free for a
 * while. That write was acknowledged and goes first: the import's row stays, and what stood before
 * is logged, told, and kept as a line of DIR/import-kept.ndjson.
 */
#include "store/internal.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "wire/json_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define UNDO_ROWS 500 /* of one batch */

struct undo {
    struct store *store;
    bool roll_back;
    const struct store_load_rules *rules; /* NULL: nobody listens */
    uint64_t start_seq;                   /* before the load */
};

int load_set_open(struct batch *b, uint64_t open)
{
    b->changes++;
    return meta_put(&b->txn, META_LOAD, open);
}

/* ---- Rows that cannot be taken back --------------------------------------------------------- */

static struct str index_name(const struct batch *b, uint32_t index)
{
    for (uint32_t i = 0; i < b->slot.n_indexes; i++)
        if (b->slot.indexes[i].id == index)
            return b->slot.indexes[i].name;
    return STR_NONE;
}

static void write_kept(const struct batch *b, const struct store_refusal *kept, struct buf *out)
{
    struct str table = {b->slot.name, b->slot.name_len}, database = str_cut(&table, '\0');
    buf_add_lit(out, "{\"database\":");
    json_write_str(out, database);
    buf_add_lit(out, ",\"table\":");
    json_write_str(out, table);
    buf_add_lit(out, ",\"index\":");
    json_write_str(out, index_name(b, kept->index));
    buf_add_lit(out, ",\"error\":");
    json_write_str(out, str_of(err_name(kept->err)));
    buf_add_lit(out, ",\"before\":");
    tape_write(kept->content, out);
    buf_add_lit(out, "}\n");
}

/* 0, or an errno. */
static int append(const char *dir, struct str line)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/import-kept.ndjson", dir);
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return errno;
    ssize_t n = write(fd, line.p, line.n);
    int err = n < 0 ? errno : (uint32_t)n < line.n ? ENOSPC : fsync(fd) < 0 ? errno : 0;
    close(fd);
    return err;
}

/* What a row holds is nobody else's business, unless the log is all that will be left of it. */
static void log_kept(const struct batch *b, const struct store_refusal *kept, bool has_file,
                     int err, struct str line)
{
    struct str table = {b->slot.name, b->slot.name_len}, database = str_cut(&table, '\0');
    struct str index = index_name(b, kept->index);
    bool all = err || !has_file;
    log_warn("an import into " STR_FMT "." STR_FMT
             " is taken back, but a row that it changed stays "
             "so: index " STR_FMT " cannot hold what it was before (%s); that is %s%s" STR_FMT,
             STR_ARG(database), STR_ARG(table), STR_ARG(index), err_text(kept->err),
             err        ? "lost but for this line, for the file cannot be written: "
             : has_file ? "kept in import-kept.ndjson in the data directory"
                        : "",
             err ? strerror(err) : "", all ? (int)line.n : 0, line.p);
}

/* Before the commit: if that fails it is told twice, which is better than never. */
static int tell_kept(struct undo *undo, struct batch *b, const struct store_refusal *kept)
{
    struct buf line = {0};
    struct directory *directory = undo->store->directory;
    write_kept(b, kept, &line);
    int err = line.failed ? ERR_NO_MEMORY : 0;
    if (!err)
        log_kept(b, kept, directory != NULL,
                 directory ? append(directory_path(directory), buf_str(&line)) : 0,
                 (struct str){line.p, (uint32_t)line.n - 1});
    buf_done(&line);
    if (!err && undo->rules && undo->rules->kept)
        undo->rules->kept(undo->rules->ctx, kept);
    return err;
}

/* ---- One row -------------------------------------------------------------------------------- */

struct alias {
    char bytes[16];
};

static struct str alias_key(uint64_t version, struct alias *space)
{
    memset(space->bytes, 0xff, 8);
    kv_put_u64((unsigned char *)space->bytes + 8, version);
    return (struct str){space->bytes, sizeof space->bytes};
}

/* What the load wrote as `version` is `now` by now: an older entry may ask for it. */
static int put_alias(struct undo *undo, struct batch *b, uint64_t version, uint64_t now)
{
    struct alias space;
    unsigned char bytes[8];
    if (version <= undo->start_seq || version == now)
        return 0;
    kv_put_u64(bytes, now);
    buf_clear(&b->value);
    buf_add(&b->value, bytes, sizeof bytes);
    return batch_put(b, KV_UNDO, alias_key(version, &space));
}

static int look_up_alias(struct batch *b, uint64_t *version)
{
    struct alias space;
    struct str value;
    int err = kv_get(&b->txn, KV_UNDO, alias_key(*version, &space), &value);
    if (!err && value.n != 8)
        err = ERR_STORE_DAMAGED;
    if (!err)
        *version = kv_u64(value.p);
    return err == ERR_ABSENT ? 0 : err;
}

static bool is_refused(int err)
{
    return err == ERR_EXISTS || err == ERR_LIMIT || err == ERR_PARAMS;
}

/* As it stood before, under a version of its own. */
static int write_again(struct batch *b, const struct row_key *key, const struct tape_node *f[3])
{
    int err = batch_log(b, STORE_ROW_PUT, b->slot.id, (struct str){key->bytes + 4, key->len - 4});
    record_begin(&b->value, 3);
    cbor_write_int((int64_t)b->seq, &b->value);
    cbor_write_int(f[1]->v.i, &b->value);
    cbor_write_tape(f[2], &b->value);
    return err ? err : batch_put(b, KV_ROWS, (struct str){key->bytes, key->len});
}

static int put_back(struct undo *undo, struct batch *b, const struct row_key *key, uint64_t now,
                    struct str before)
{
    const struct tape_node *f[3];
    struct store_refusal kept = {.key = {key->bytes + 4, key->len - 4}};
    int err = record_read(before, "ii*", &b->scratch, f);
    if (err)
        return err;
    kept.content = f[2];
    kept.err = row_reindex(b, key, f[2], &kept.index);
    if (is_refused(kept.err))
        err = tell_kept(undo, b, &kept);
    else
        err = kept.err ? kept.err : write_again(b, key, f);
    return err ? err : put_alias(undo, b, (uint64_t)f[0]->v.i, kept.err ? now : b->seq);
}

static int take_away(struct batch *b, const struct row_key *key)
{
    uint32_t index;
    int err = row_reindex(b, key, NULL, &index);
    if (!err)
        err = batch_remove(b, KV_ROWS, (struct str){key->bytes, key->len});
    b->slot.rows--;
    b->slot.changed = true;
    struct str own = {key->bytes + 4, key->len - 4};
    return err ? err : batch_log(b, STORE_ROW_DELETED, b->slot.id, own);
}

/* 1 if the row is as the load left it. */
static int is_ours(struct batch *b, const struct row_key *key, uint64_t version)
{
    struct str value;
    int64_t now;
    int err = kv_get(&b->txn, KV_ROWS, (struct str){key->bytes, key->len}, &value);
    if (!err)
        err = record_first_int(value, &now);
    if (err)
        return err == ERR_ABSENT ? 0 : err;
    return (uint64_t)now == version;
}

static int undo_row(struct undo *undo, struct batch *b, struct str value)
{
    const struct tape_node *f[5];
    struct row_key key;
    int err = record_read(value, "isiis", &b->scratch, f);
    if (!err)
        err = row_key((uint32_t)f[0]->v.i, record_str(f[1]), &key);
    if (!err)
        err = batch_table(b, (uint32_t)f[0]->v.i);
    if (err)
        return err == ERR_ABSENT ? 0 : err; /* the table was dropped, and its rows with it */
    uint64_t version = (uint64_t)f[2]->v.i;
    err = look_up_alias(b, &version);
    if (!err)
        err = is_ours(b, &key, version);
    if (err != 1)
        return err;
    return f[3]->v.i ? put_back(undo, b, &key, version, record_str(f[4])) : take_away(b, &key);
}

/* ---- All of them ---------------------------------------------------------------------------- */

static int undo_newest(struct undo *undo, struct batch *b)
{
    struct str key, value;
    char at[16];
    int err = kv_first(&b->txn, KV_UNDO, STR(""), &key, &value);
    if (err)
        return err;
    if (key.n != 8 && key.n != sizeof at)
        return ERR_STORE_DAMAGED;
    memcpy(at, key.p, key.n);
    key.p = at;
    bool is_row = undo->roll_back && key.n == 8;
    arena_reset(&b->scratch);
    value = is_row ? arena_str(&b->scratch, value) : STR_NONE;
    if (is_row)
        err = value.p ? undo_row(undo, b, value) : ERR_NO_MEMORY;
    return err ? err : batch_remove(b, KV_UNDO, key);
}

/* 1 when nothing is left. */
static int undo_some(struct undo *undo)
{
    struct batch b;
    uint64_t open;
    int err = batch_begin(undo->store, STORE_DATA, &b);
    if (err)
        return err;
    err = meta_get(&b.txn, META_LOAD, &open);
    undo->start_seq = open ? open - 1 : 0;
    for (int i = 0; i < UNDO_ROWS && b.bytes < BATCH_BYTES && !err; i++)
        err = undo_newest(undo, &b);
    bool empty = err == ERR_ABSENT;
    if (empty)
        err = load_set_open(&b, 0);
    if (!err)
        err = batch_commit(&b);
    else
        batch_abort(&b);
    return err ? err : empty;
}

/* 1 when nothing is left; 0 when the time is over. */
static int undo_until(struct undo *undo, int64_t until_ms)
{
    int64_t gave_ms = 0;
    int err;
    do {
        batch_give_way(&gave_ms);
        err = undo_some(undo);
    } while (err == 0 && clock_mono_ms() < until_ms);
    return err;
}

int load_undo(struct store *store, bool roll_back, const struct store_load_rules *rules)
{
    struct undo undo = {.store = store, .roll_back = roll_back, .rules = rules};
    int err = undo_until(&undo, INT64_MAX);
    return err < 0 ? err : 0;
}

/* 0: nothing was left behind; 1: to be deleted; 2: to be rolled back. */
static int look_for_remains(struct store *store, uint64_t *ret_left)
{
    struct kv_txn txn;
    uint64_t open, n = 0;
    int err = kv_begin(store->envs[STORE_DATA], false, &txn);
    if (err)
        return err;
    err = meta_get(&txn, META_LOAD, &open);
    if (!err)
        err = kv_count(&txn, KV_UNDO, &n);
    kv_end(&txn);
    if (!err)
        *ret_left = n;
    return err ? err : open ? 2 : n > 0;
}

int load_recover_locked(struct store *store, int64_t until_ms)
{
    uint64_t left;
    int found = look_for_remains(store, &left);
    if (found <= 0)
        return found;
    struct undo undo = {.store = store, .roll_back = found == 2};
    if (undo.roll_back)
        log_warn("rolling back an import that did not end: %llu rows to take back",
                 (unsigned long long)left);
    int done = undo_until(&undo, until_ms);
    if (undo.roll_back && done == 1)
        log_info("the import is rolled back");
    return done < 0 ? done : 0;
}

int load_recover(struct store *store, int64_t until_ms)
{
    int fd;
    uint64_t left;
    int err = look_for_remains(store, &left);
    if (err <= 0)
        return err;
    err = store_lock(store, LOCK_LOAD, &fd);
    if (err)
        return err == ERR_BUSY ? 0 : err;
    err = load_recover_locked(store, until_ms);
    store_unlock(store, LOCK_LOAD, fd);
    return err;
}
