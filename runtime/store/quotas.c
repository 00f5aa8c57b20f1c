/* store/quotas.c - what has been used of quotas, in the window that stands.
 *
 *   QUOTAS  key -> [format, until_ms, used]
 *
 * The writer counts, so what is taken is exact however many processes take. A window that ended
 * counts no more from that moment; the keeper only takes its bytes away.
 */
#include "store/internal.h"

#include "base/err.h"

#include <string.h>

static bool is_key(struct str key)
{
    return key.n > 0 && key.n <= ACCESS_NAME_BYTES;
}

int quota_read(struct str key, struct str value, struct quota_record *ret)
{
    struct tape_node nodes[4]; /* the array, its format, and these two */
    int64_t until_ms;
    int err = is_key(key) ? record_first_int(value, &until_ms) : ERR_STORE_DAMAGED;
    if (!err)
        err = cbor_read_front(value, 4, nodes);
    if (!err && (nodes[0].n != 3 || nodes[3].kind != TAPE_INT))
        err = ERR_STORE_DAMAGED;
    if (!err)
        *ret = (struct quota_record){until_ms, (uint64_t)nodes[3].v.i};
    return err;
}

/* ---- Taking --------------------------------------------------------------------------------- */

/* ERR_ABSENT: there is none. */
static int find_record(struct kv_txn *txn, struct str key, struct quota_record *ret)
{
    struct str value;
    int err = kv_get(txn, KV_QUOTAS, key, &value);
    return err ? err : quota_read(key, value, ret);
}

static int check_room(struct batch *b)
{
    uint64_t n;
    int err = kv_count(&b->txn, KV_QUOTAS, &n);
    return err ? err : n < b->store->quotas_max ? 0 : ERR_LIMIT;
}

/* Who comes late, when his window has just ended, counts in that one, or in the next if somebody
 * began it. Of a window that was made shorter the nearer end holds. */
static void set_window(struct quota_record *r, int64_t until_ms, int64_t now_ms)
{
    if (r->until_ms <= now_ms && r->until_ms != until_ms)
        *r = (struct quota_record){.until_ms = until_ms};
    else if (until_ms > now_ms && until_ms < r->until_ms)
        r->until_ms = until_ms;
}

static int save(struct batch *b, struct str key, const struct quota_record *r)
{
    record_begin(&b->value, 2);
    cbor_write_int(r->until_ms, &b->value);
    cbor_write_int((int64_t)r->used, &b->value);
    return batch_put(b, KV_QUOTAS, key);
}

int quota_take(struct batch *b, struct store_op *op)
{
    struct quota_record r = {.until_ms = op->until_ms};
    if (!is_key(op->key) || op->quota_max > INT64_MAX)
        return ERR_LIMIT;
    int err = find_record(&b->txn, op->key, &r);
    if (err == ERR_ABSENT)
        err = check_room(b);
    if (err)
        return err;
    set_window(&r, op->until_ms, b->now_ms);
    op->ret_seq = r.used;
    if (r.used > op->quota_max || op->n > op->quota_max - r.used)
        return ERR_QUOTA;
    r.used += op->n;
    op->ret_seq = r.used;
    return op->n ? save(b, op->key, &r) : 0;
}

/* ---- Keeper's work -------------------------------------------------------------------------- */

static struct str key_str(const struct name_key *key)
{
    return (struct str){(const char *)key->bytes, key->len};
}

static void key_set(struct name_key *key, struct str bytes)
{
    key->len = bytes.n < sizeof key->bytes ? bytes.n : (uint32_t)sizeof key->bytes;
    memcpy(key->bytes, bytes.p, key->len);
}

struct round {
    struct batch *b;
    struct name_key *at;
    struct str *old;
    uint32_t n_old, n, max;
};

/* What cannot be read counts nothing: it begins anew. */
static int look_at(void *ctx, struct str key, struct str value)
{
    struct round *r = ctx;
    struct quota_record quota = {0};
    int err = quota_read(key, value, &quota);
    if (err && !is_finding(err))
        return err;
    if (quota.until_ms <= r->b->now_ms) {
        r->old[r->n_old] = arena_str(&r->b->scratch, key);
        if (!r->old[r->n_old++].p)
            return ERR_NO_MEMORY;
    }
    key_set(r->at, key);
    return ++r->n == r->max;
}

/* Nothing is removed while a scan goes on, so the keys are gathered first. */
int quotas_trim(struct batch *b, uint32_t max)
{
    struct name_key from = b->store->quotas_at;
    struct round r = {.b = b, .at = &b->store->quotas_at, .max = max};
    r.old = arena_array(&b->scratch, max, sizeof *r.old);
    int err = r.old ? kv_scan(&b->txn, KV_QUOTAS, key_str(&from), look_at, &r) : ERR_NO_MEMORY;
    for (uint32_t i = 0; err >= 0 && i < r.n_old; i++)
        err = batch_remove(b, KV_QUOTAS, r.old[i]);
    if (err >= 0 && r.n < max)
        r.at->len = 0;
    return err < 0 ? err : (int)r.n;
}

/* ---- Reading -------------------------------------------------------------------------------- */

int store_get_quota(struct store_view *view, struct str key, int64_t now_ms, uint64_t *ret_used)
{
    struct quota_record r = {0};
    int err = is_key(key) ? find_record(&view->txn, key, &r) : ERR_ABSENT;
    if (err && err != ERR_ABSENT)
        return err;
    *ret_used = r.until_ms > now_ms ? r.used : 0;
    return 0;
}
