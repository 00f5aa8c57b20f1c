/* store/sys_key.c - keys of what belongs to a session (or a worker), and walks over them.
 *
 *   length of the session's id u8, id, then big-endian numbers
 *
 * So all of a session lies together, no id is the beginning of another, and sessions of the same
 * minute are near each other.
 */
#include "store/internal.h"

#include "base/err.h"

#include <string.h>

struct str sys_key_str(const struct sys_key *key)
{
    return (struct str){(const char *)key->bytes, key->len};
}

int sys_key_begin(struct sys_key *key, struct str session)
{
    if (session.n == 0 || session.n > SESSION_ID_BYTES)
        return ERR_LIMIT;
    key->bytes[0] = (unsigned char)session.n;
    memcpy(key->bytes + 1, session.p, session.n);
    key->len = 1 + session.n;
    return 0;
}

void sys_key_add(struct sys_key *key, uint64_t v)
{
    kv_put_u64(key->bytes + key->len, v);
    key->len += 8;
}

struct sys_key sys_key_copy(struct str bytes)
{
    struct sys_key key;
    key.len = bytes.n < sizeof key.bytes ? bytes.n : (uint32_t)sizeof key.bytes;
    memcpy(key.bytes, bytes.p, key.len);
    return key;
}

int sys_key_split(struct str key, uint32_t n_numbers, struct str *ret_session, uint64_t *ret_last)
{
    uint32_t len = key.n ? (unsigned char)key.p[0] : 0;
    if (len == 0 || len > SESSION_ID_BYTES || key.n != 1 + len + 8 * n_numbers)
        return ERR_STORE_DAMAGED;
    *ret_session = (struct str){key.p + 1, len};
    *ret_last = kv_u64(key.p + key.n - 8);
    return 0;
}

/* ---- Walks ---------------------------------------------------------------------------------- */

struct prefix_scan {
    struct str prefix;
    kv_entry_fn fn;
    void *ctx;
    bool is_past;
};

static int visit(void *ctx, struct str key, struct str value)
{
    struct prefix_scan *scan = ctx;
    scan->is_past = !str_starts_with(key, scan->prefix);
    return scan->is_past ? 1 : scan->fn(scan->ctx, key, value);
}

int sys_scan(struct kv_txn *txn, enum kv_map map, struct str prefix, struct str from,
             kv_entry_fn fn, void *ctx)
{
    struct prefix_scan scan = {.prefix = prefix, .fn = fn, .ctx = ctx};
    int err = kv_scan(txn, map, from, visit, &scan);
    return scan.is_past ? 0 : err;
}

int sys_first(struct kv_txn *txn, enum kv_map map, struct str prefix, struct str from,
              struct str *ret_key, struct str *ret)
{
    struct str key, value;
    int err = kv_first(txn, map, from, &key, &value);
    if (!err && !str_starts_with(key, prefix))
        err = ERR_ABSENT;
    if (err)
        return err;
    *ret_key = key;
    *ret = value;
    return 0;
}

int sys_remove_all(struct batch *b, enum kv_map map, struct str prefix, uint32_t max)
{
    uint32_t n = 0;
    int err = 0;
    while (n < max && !err) {
        struct str key, value;
        err = sys_first(&b->txn, map, prefix, prefix, &key, &value);
        if (err)
            break;
        struct sys_key own = sys_key_copy(key);
        err = batch_remove(b, map, sys_key_str(&own));
        n += !err;
    }
    return err && err != ERR_ABSENT ? err : (int)n;
}

#define CUT_MAX 300 /* entries that a transaction removes with what they belonged to */

int sys_cut(struct batch *b, enum kv_map map, enum kv_map waiting, const struct sys_key *prefix)
{
    uint32_t max = b->n_cut < CUT_MAX ? CUT_MAX - b->n_cut : 0;
    int n = sys_remove_all(b, map, sys_key_str(prefix), max);
    if (n < 0)
        return n;
    b->n_cut += (uint32_t)n;
    if ((uint32_t)n < max)
        return 0;
    buf_clear(&b->value);
    return batch_put(b, waiting, sys_key_str(prefix));
}

int sys_purge(struct batch *b, enum kv_map waiting, enum kv_map map, uint32_t max)
{
    struct str key, value;
    uint32_t total = 0;
    while (total < max) {
        int err = kv_first(&b->txn, waiting, STR(""), &key, &value);
        if (err)
            return err == ERR_ABSENT ? (int)total : err;
        struct sys_key own = sys_key_copy(key);
        int n = sys_remove_all(b, map, sys_key_str(&own), max - total);
        if (n < 0)
            return n;
        total += (uint32_t)n;
        if (total < max && (err = batch_remove(b, waiting, sys_key_str(&own))))
            return err;
        total += total < max;
    }
    return (int)total;
}

int sys_next_seq(struct batch *b, uint64_t *ret)
{
    uint64_t seq;
    int err = meta_get(&b->txn, META_SYS_SEQ, &seq);
    if (!err)
        err = meta_put(&b->txn, META_SYS_SEQ, seq + 1);
    if (!err) {
        b->changes++;
        *ret = seq + 1;
    }
    return err;
}

/* ---- Rounds --------------------------------------------------------------------------------- */

struct round {
    struct batch *b;
    const struct sys_chore *chore;
    struct str after;
    struct arena scratch; /* of a record */
    struct sys_key *old;
    struct sys_key at;
    uint32_t n_old, n, max;
};

static int look_at(void *ctx, struct str key, struct str value)
{
    struct round *r = ctx;
    if (r->after.n && str_eq(key, r->after))
        return 0;
    arena_reset(&r->scratch);
    int old = r->chore->is_old(r->b, key, value, &r->scratch);
    if (old < 0 && !is_finding(old)) /* what cannot be read helps nobody */
        return old;
    r->at = sys_key_copy(key);
    if (old)
        r->old[r->n_old++] = r->at;
    return ++r->n == r->max;
}

static int forget_all(struct round *r)
{
    int err = 0;
    for (uint32_t i = 0; i < r->n_old && !err; i++)
        err = r->chore->forget(r->b, &r->old[i]);
    return err;
}

/* Nothing is removed while a scan goes on, so the keys are gathered first. */
int sys_round(struct batch *b, const struct sys_chore *chore, struct sys_key *at, uint32_t max)
{
    struct round r = {.b = b, .chore = chore, .max = max, .after = sys_key_str(at)};
    arena_init(&r.scratch, 0);
    r.old = arena_array(&b->scratch, max, sizeof *r.old);
    int err = r.old ? kv_scan(&b->txn, chore->map, r.after, look_at, &r) : ERR_NO_MEMORY;
    if (err >= 0)
        err = forget_all(&r);
    arena_done(&r.scratch);
    if (err < 0)
        return err;
    *at = r.n == max ? r.at : (struct sys_key){.len = 0};
    return (int)r.n;
}
