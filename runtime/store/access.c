/* store/access.c - users, roles and tokens.
 *
 *   ACCESS  kind u8, name -> [format, version, record]
 *
 * They have one version, META's `access`: the sequence of the last change of any of them. What was
 * worked out of them holds as long as that stands. What a record says is core's own business.
 */
#include "store/internal.h"

#include "base/err.h"

#include <string.h>

static bool is_kind(int kind)
{
    return kind >= STORE_USER && kind <= STORE_TOKEN;
}

static bool is_name(struct str name)
{
    return name.n > 0 && name.n <= ACCESS_NAME_BYTES;
}

/* Of a name that is too long only so much that none which may be there is behind it. */
static struct str key_of(enum store_access_kind kind, struct str name, struct name_key *space)
{
    uint32_t n = name.n <= ACCESS_NAME_BYTES ? name.n : ACCESS_NAME_BYTES + 1;
    space->bytes[0] = (unsigned char)kind;
    if (n)
        memcpy(space->bytes + 1, name.p, n);
    space->len = 1 + n;
    return (struct str){(char *)space->bytes, space->len};
}

int access_read(struct str key, struct str value, struct arena *arena, struct store_access *ret)
{
    const struct tape_node *f[2];
    struct str name = {key.p + 1, key.n ? key.n - 1 : 0};
    if (!is_name(name) || !is_kind((unsigned char)key.p[0]))
        return ERR_STORE_DAMAGED;
    int err = record_read(value, "is", arena, f);
    if (!err)
        *ret = (struct store_access){.kind = (unsigned char)key.p[0],
                                     .name = name,
                                     .version = (uint64_t)f[0]->v.i,
                                     .record = record_str(f[1])};
    return err;
}

/* ---- Operations ----------------------------------------------------------------------------- */

/* What the list itself changed is no reason; what another list of the group changed is one. */
static int check_version(struct batch *b, const struct store_op *op)
{
    uint64_t version;
    int err = meta_get(&b->txn, META_ACCESS, &version);
    if (err)
        return err;
    if (version <= b->list_seq)
        b->list_access = version;
    return op->access_version && op->access_version != b->list_access ? ERR_STALE : 0;
}

/* The version that stands there; 0: none does. */
static int find_version(struct batch *b, struct str key, uint64_t *ret)
{
    int64_t version = 0;
    struct str value;
    int err = kv_get(&b->txn, KV_ACCESS, key, &value);
    if (!err)
        err = record_first_int(value, &version);
    if (err && err != ERR_ABSENT)
        return err;
    *ret = (uint64_t)version;
    return 0;
}

static int check(struct batch *b, struct store_op *op, struct str key, uint64_t *ret_version)
{
    int err = check_version(b, op);
    if (!err)
        err = find_version(b, key, ret_version);
    return err ? err : check_condition(op, *ret_version != 0, *ret_version);
}

static int check_room(struct batch *b)
{
    uint64_t n;
    int err = kv_count(&b->txn, KV_ACCESS, &n);
    return err ? err : n < b->store->access_max ? 0 : ERR_LIMIT;
}

/* The change gets its sequence, which is the version of all of them now. */
static int log_change(struct batch *b, struct store_op *op)
{
    int err = batch_log(b, STORE_ACCESS_CHANGED, op->access->kind, op->access->name);
    if (!err)
        err = meta_put(&b->txn, META_ACCESS, b->seq);
    if (!err)
        op->ret_seq = b->seq;
    return err;
}

int access_put(struct batch *b, struct store_op *op)
{
    const struct store_access *a = op->access;
    struct name_key space;
    struct str key = key_of(a->kind, a->name, &space);
    uint64_t version = 0;
    if (!is_kind(a->kind) || !is_name(a->name) || a->record.n > ACCESS_RECORD_BYTES)
        return ERR_LIMIT;
    int err = check(b, op, key, &version);
    if (!err && !version)
        err = check_room(b);
    if (!err)
        err = log_change(b, op);
    if (err)
        return err;
    record_begin(&b->value, 2);
    cbor_write_int((int64_t)b->seq, &b->value);
    cbor_write_str(a->record, &b->value);
    return batch_put(b, KV_ACCESS, key);
}

int access_delete(struct batch *b, struct store_op *op)
{
    const struct store_access *a = op->access;
    struct name_key space;
    struct str key = key_of(a->kind, a->name, &space);
    uint64_t version = 0;
    if (!is_kind(a->kind) || !is_name(a->name))
        return ERR_LIMIT;
    int err = check(b, op, key, &version);
    if (err || !version)
        return err;
    err = log_change(b, op);
    return err ? err : batch_remove(b, KV_ACCESS, key);
}

/* ---- Reading -------------------------------------------------------------------------------- */

int store_access_version(struct store_view *view, uint64_t *ret)
{
    return meta_get(&view->txn, META_ACCESS, ret);
}

int store_get_access(struct store_view *view, enum store_access_kind kind, struct str name,
                     struct arena *arena, struct store_access *ret)
{
    struct name_key space;
    struct str value, key = key_of(kind, name, &space);
    if (!is_name(name))
        return ERR_ABSENT;
    int err = kv_get_kept(&view->txn, KV_ACCESS, key, arena, &key, &value);
    return err ? err : access_read(key, value, arena, ret);
}

struct access_scan {
    struct str after; /* its key; the kind alone: from the first */
    store_access_fn fn;
    void *ctx;
    struct arena scratch;
};

static int visit(void *ctx, struct str key, struct str value)
{
    struct access_scan *scan = ctx;
    struct store_access access;
    if (str_eq(key, scan->after))
        return 0;
    arena_reset(&scan->scratch);
    int err = access_read(key, value, &scan->scratch, &access);
    return err ? err : scan->fn(scan->ctx, &access);
}

int store_scan_access(struct store_view *view, enum store_access_kind kind, struct str after,
                      store_access_fn fn, void *ctx)
{
    struct name_key space;
    struct str from = key_of(kind, after, &space);
    struct access_scan scan = {.after = from, .fn = fn, .ctx = ctx};
    arena_init(&scan.scratch, 0);
    int err = sys_scan(&view->txn, KV_ACCESS, (struct str){from.p, 1}, from, visit, &scan);
    arena_done(&scan.scratch);
    return err;
}
