/* store/batch.c - a write transaction of one space: its counters, the change log, and the table of
 * operations. See internal.h. */
#include "store/internal.h"

#include "base/clock.h"
#include "base/err.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>

/* ---- Counters ------------------------------------------------------------------------------- */

int meta_get(struct kv_txn *txn, struct str name, uint64_t *ret)
{
    struct str value;
    int err = kv_get(txn, KV_META, name, &value);
    if (err == ERR_ABSENT) {
        *ret = 0;
        return 0;
    }
    if (!err && value.n != 8)
        err = ERR_STORE_DAMAGED;
    if (!err)
        *ret = kv_u64(value.p);
    return err;
}

int meta_put(struct kv_txn *txn, struct str name, uint64_t v)
{
    unsigned char bytes[8];
    kv_put_u64(bytes, v);
    return kv_put(txn, KV_META, name, (struct str){(char *)bytes, sizeof bytes});
}

static uint64_t format_of_space(enum store_space space)
{
    return space == STORE_SYS ? SYS_FORMAT : STORE_FORMAT;
}

int meta_check(struct kv_txn *txn, uint64_t *ret_format, unsigned char ret_id[DATABASE_ID_LEN])
{
    struct str id;
    uint64_t format;
    int err = meta_get(txn, META_FORMAT, &format);
    if (err)
        return err;
    *ret_format = format;
    if (format == 0)
        return ERR_ABSENT;
    if (format != format_of_space(txn->env->space))
        return ERR_STORE_FORMAT;
    err = kv_get(txn, KV_META, META_ID, &id);
    if (err == ERR_ABSENT || (!err && id.n != DATABASE_ID_LEN))
        return ERR_STORE_DAMAGED;
    if (!err)
        memcpy(ret_id, id.p, DATABASE_ID_LEN);
    return err;
}

/* An older format lacks newer maps, which the engine made when it opened the file. */
static int raise_format(struct kv_txn *txn, uint64_t *format, unsigned char ret_id[DATABASE_ID_LEN])
{
    int err = meta_put(txn, META_FORMAT, format_of_space(txn->env->space));
    return err ? err : meta_check(txn, format, ret_id);
}

static int write_head(struct kv_txn *txn, bool id_is_known, unsigned char id[DATABASE_ID_LEN])
{
    unsigned char found[DATABASE_ID_LEN];
    uint64_t format;
    int err = meta_check(txn, &format, found);
    if (err == ERR_STORE_FORMAT && format < format_of_space(txn->env->space))
        err = raise_format(txn, &format, found);
    if (!err && !id_is_known) {
        memcpy(id, found, sizeof found);
        return 0;
    }
    if (err == ERR_ABSENT)
        err = meta_put(txn, META_FORMAT, format_of_space(txn->env->space));
    if (!err && !id_is_known && getrandom(id, DATABASE_ID_LEN, 0) != DATABASE_ID_LEN)
        err = ERR_IO;
    return err ? err : kv_put(txn, KV_META, META_ID, (struct str){(char *)id, DATABASE_ID_LEN});
}

static int save_head(struct kv_env *env, bool id_is_known, unsigned char id[DATABASE_ID_LEN])
{
    struct kv_txn txn;
    int err = kv_begin(env, true, &txn);
    if (err)
        return err;
    err = write_head(&txn, id_is_known, id);
    if (!err)
        return kv_commit(&txn);
    kv_end(&txn);
    return err;
}

int meta_prepare(struct kv_env *env, bool id_is_known, unsigned char id[DATABASE_ID_LEN],
                 uint64_t *ret_format)
{
    struct kv_txn txn;
    unsigned char found[DATABASE_ID_LEN];
    *ret_format = 0;
    int err = kv_begin(env, false, &txn);
    if (err)
        return err;
    err = meta_check(&txn, ret_format, found);
    kv_end(&txn);
    if (err == ERR_STORE_FORMAT && *ret_format < format_of_space(env->space)) {
        err = save_head(env, id_is_known, id);
        return err == ERR_STORE_READ_ONLY ? ERR_STORE_FORMAT : err;
    }
    if (err == ERR_ABSENT || (!err && id_is_known && memcmp(id, found, sizeof found)))
        return save_head(env, id_is_known, id);
    if (!err)
        memcpy(id, found, sizeof found);
    return err;
}

/* ---- Begin and end -------------------------------------------------------------------------- */

static int read_counters(struct batch *b)
{
    if (b->space != STORE_DATA)
        return 0;
    int err = meta_get(&b->txn, META_SEQ, &b->seq);
    b->began_seq = b->seq;
    if (!err)
        err = meta_get(&b->txn, META_TABLES, &b->tables);
    return err ? err : meta_get(&b->txn, META_CATALOG, &b->catalog);
}

static int save_counters(struct batch *b)
{
    int err = table_slot_save(b);
    if (err || !b->counters_changed)
        return err;
    err = meta_put(&b->txn, META_SEQ, b->seq);
    if (!err)
        err = meta_put(&b->txn, META_TABLES, b->tables);
    return err ? err : meta_put(&b->txn, META_CATALOG, b->catalog);
}

static void release(struct batch *b)
{
    buf_done(&b->value);
    buf_done(&b->body);
    arena_done(&b->scratch);
    arena_done(&b->indexes);
}

int batch_begin(struct store *store, enum store_space space, struct batch *ret)
{
    if (store->read_only)
        return ERR_STORE_READ_ONLY;
    memset(ret, 0, sizeof *ret);
    ret->store = store;
    ret->space = space;
    ret->now_ms = clock_wall_ms();
    arena_init(&ret->scratch, 0);
    arena_init(&ret->indexes, 0);
    int err = kv_begin(store->envs[space], true, &ret->txn);
    if (err)
        return err;
    err = read_counters(ret);
    if (err)
        batch_abort(ret);
    return err;
}

static void tell_changes(const struct batch *b)
{
    bool has_all = b->n_marks <= BATCH_MARKS;
    store_changed(b->store,
                  &(struct change_marks){has_all ? b->marks : NULL, b->n_marks, b->has_access});
}

int batch_commit(struct batch *b)
{
    int err = b->changes ? save_counters(b) : 0;
    if (err || !b->changes) {
        batch_abort(b);
        return err;
    }
    err = kv_commit(&b->txn);
    if (!err && b->seq != b->began_seq)
        tell_changes(b);
    release(b);
    return err;
}

void batch_abort(struct batch *b)
{
    kv_end(&b->txn);
    release(b);
}

/* A tenth of the time is enough for a waiter to wake up and take the lock. */
#define HELD_MS  10
#define PAUSE_NS 1000000

void batch_give_way(int64_t *gave_ms)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    int64_t now_ms = clock_mono_ms();
    if (*gave_ms && now_ms - *gave_ms < HELD_MS)
        return;
    nanosleep(&pause, NULL);
    *gave_ms = clock_mono_ms();
}

/* ---- Changes -------------------------------------------------------------------------------- */

int batch_put(struct batch *b, enum kv_map map, struct str key)
{
    if (b->value.failed)
        return ERR_NO_MEMORY;
    b->changes++;
    b->bytes += b->value.n;
    return kv_put(&b->txn, map, key, buf_str(&b->value));
}

int batch_remove(struct batch *b, enum kv_map map, struct str key)
{
    b->changes++;
    return kv_remove(&b->txn, map, key);
}

int check_condition(struct store_op *op, bool there, uint64_t version)
{
    if (op->if_version == STORE_ANY)
        return 0;
    if (op->if_version == STORE_MISSING)
        return there ? ERR_EXISTS : 0;
    if (!there)
        return ERR_ABSENT;
    if (op->if_version == STORE_PRESENT || op->if_version == version)
        return 0;
    op->ret_seq = version;
    return ERR_CONFLICT;
}

typedef int (*apply_fn)(struct batch *b, struct store_op *op);

static const struct {
    apply_fn apply;
    enum store_space space;
} operations[] = {
    [STORE_PUT_ROW] = {row_put, STORE_DATA},
    [STORE_DELETE_ROW] = {row_delete, STORE_DATA},
    [STORE_PUT_TABLE] = {table_put, STORE_DATA},
    [STORE_DROP_TABLE] = {table_drop, STORE_DATA},
    [STORE_LOG_RESOURCE] = {resource_log, STORE_DATA},
    [STORE_PUT_ACCESS] = {access_put, STORE_DATA},
    [STORE_DELETE_ACCESS] = {access_delete, STORE_DATA},
    [STORE_PUT_SESSION] = {session_put, STORE_SYS},
    [STORE_TOUCH_SESSION] = {session_touch, STORE_SYS},
    [STORE_DELETE_SESSION] = {session_delete, STORE_SYS},
    [STORE_SET_LOG_LEVEL] = {session_put_log_level, STORE_SYS},
    [STORE_SET_SEEN] = {session_set_seen, STORE_SYS},
    [STORE_PUT_JOB] = {job_put, STORE_SYS},
    [STORE_DELETE_JOB] = {job_delete, STORE_SYS},
    [STORE_PUT_STREAM] = {stream_put, STORE_SYS},
    [STORE_CLAIM_STREAM] = {stream_claim, STORE_SYS},
    [STORE_PUT_FRAME] = {frame_put, STORE_SYS},
    [STORE_PUT_SUBSCRIPTION] = {subscription_put, STORE_SYS},
    [STORE_DELETE_SUBSCRIPTION] = {subscription_delete, STORE_SYS},
    [STORE_SET_FOLLOW] = {follow_set, STORE_SYS},
    [STORE_CLAIM_PUSHES] = {pushes_claim, STORE_SYS},
    [STORE_DROP_CLAIM] = {pushes_drop_claim, STORE_SYS},
    [STORE_PUT_PUSH] = {push_put, STORE_SYS},
    [STORE_DELETE_PUSH] = {push_delete, STORE_SYS},
    [STORE_PUT_MAIL] = {mail_put, STORE_SYS},
    [STORE_TAKE_QUOTA] = {quota_take, STORE_SYS},
    [STORE_DELETE_MAIL] = {mail_delete, STORE_SYS},
};

int batch_apply(struct batch *b, struct store_op *op)
{
    size_t kind = op->kind;
    if (kind >= sizeof operations / sizeof *operations || operations[kind].space != b->space)
        return ERR_INTERNAL;
    op->ret_seq = 0;
    op->ret_index = 0;
    arena_reset(&b->scratch);
    return operations[kind].apply(b, op);
}
