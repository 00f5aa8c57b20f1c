/* store/sessions.c - sessions and their expiry.
 *
 *   SESSIONS        id              -> [format, user, profile, version, client_info, capabilities,
 *                                       initialized, log_level, created, active, expires,
 *                                       seen, seen, seen]; the last one or all three may be missing
 *   SESSION_EXPIRY  minute u32, id  -> nothing
 *
 * A record that expired is as good as gone from that moment, for readers and writers alike; the
 * sweep only takes its bytes away. A touch never makes a record, so a session that was deleted
 * stays deleted however late its touches come. With a session goes all that belongs to it.
 */
#include "store/internal.h"

#include "base/clock.h"
#include "base/err.h"

#include <stdlib.h>
#include <string.h>

#define SHORT_FIELD_BYTES 1024 /* user, profile, version */
#define SWEEP_ROWS        200  /* of one transaction */

static uint32_t minute_of(int64_t ms)
{
    int64_t minute = ms / 60000;
    return minute < 0 ? 0 : minute > UINT32_MAX ? UINT32_MAX : (uint32_t)minute;
}

struct str session_expiry_key(int64_t expires_ms, struct str id, struct expiry_key *space)
{
    kv_put_u32((unsigned char *)space->bytes, minute_of(expires_ms));
    memcpy(space->bytes + 4, id.p, id.n);
    space->len = 4 + id.n;
    return (struct str){space->bytes, space->len};
}

/* ---- The record ----------------------------------------------------------------------------- */

static bool is_within_limits(const struct store_session *s)
{
    return s->id.n > 0 && s->id.n <= SESSION_ID_BYTES && s->user.n <= SHORT_FIELD_BYTES &&
           s->profile.n <= SHORT_FIELD_BYTES && s->version.n <= SHORT_FIELD_BYTES &&
           s->client_info.n <= CLIENT_INFO_BYTES && s->capabilities.n <= CLIENT_INFO_BYTES;
}

static void write_record(const struct store_session *s, struct buf *out)
{
    record_begin(out, 10 + STORE_LISTS);
    cbor_write_str(s->user, out);
    cbor_write_str(s->profile, out);
    cbor_write_str(s->version, out);
    cbor_write_str(s->client_info, out);
    cbor_write_str(s->capabilities, out);
    cbor_write_int(s->initialized, out);
    cbor_write_int(s->log_level, out);
    cbor_write_int(s->created_ms, out);
    cbor_write_int(s->active_ms, out);
    cbor_write_int(s->expires_ms, out);
    for (int i = 0; i < STORE_LISTS; i++)
        cbor_write_int((int64_t)s->seen[i], out);
}

/* The newest first: records from before there were prompts, from before there was `seen`. */
static int read_fields(struct str value, struct arena *arena, const struct tape_node **f)
{
    static const char *const patterns[] = {"sssssiiiiiiii", "sssssiiiiiii", "sssssiiiii"};
    int err = ERR_STORE_DAMAGED;
    for (size_t i = 0; err == ERR_STORE_DAMAGED && i < sizeof patterns / sizeof *patterns; i++)
        err = record_read(value, patterns[i], arena, f);
    return err;
}

int session_read(struct str id, struct str value, struct arena *arena, struct store_session *ret)
{
    static const struct tape_node zero = {.kind = TAPE_INT};
    const struct tape_node *f[] = {[10 ... 9 + STORE_LISTS] = &zero};
    int err = read_fields(value, arena, f);
    if (err)
        return err;
    *ret = (struct store_session){
        .id = id,
        .user = record_str(f[0]),
        .profile = record_str(f[1]),
        .version = record_str(f[2]),
        .client_info = record_str(f[3]),
        .capabilities = record_str(f[4]),
        .initialized = f[5]->v.i != 0,
        .log_level = (int32_t)f[6]->v.i,
        .created_ms = f[7]->v.i,
        .active_ms = f[8]->v.i,
        .expires_ms = f[9]->v.i,
    };
    for (int i = 0; i < STORE_LISTS; i++)
        ret->seen[i] = (uint64_t)f[10 + i]->v.i;
    return 0;
}

/* ---- Operations ----------------------------------------------------------------------------- */

/* The record as it stands, expired or not: borrowed from the map, so copied before any change. */
static int find_record(struct batch *b, struct str id, struct store_session *ret)
{
    struct str value;
    if (id.n == 0 || id.n > SESSION_ID_BYTES)
        return ERR_LIMIT;
    int err = kv_get_kept(&b->txn, KV_SESSIONS, id, &b->scratch, &id, &value);
    return err ? err : session_read(id, value, &b->scratch, ret);
}

static int forget_expiry(struct batch *b, const struct store_session *s)
{
    struct expiry_key key;
    int err = batch_remove(b, KV_SESSION_EXPIRY, session_expiry_key(s->expires_ms, s->id, &key));
    return err == ERR_ABSENT ? 0 : err;
}

/* `old` is what stands there, or NULL. */
static int save(struct batch *b, const struct store_session *s, const struct store_session *old)
{
    struct expiry_key key;
    bool moves = !old || minute_of(old->expires_ms) != minute_of(s->expires_ms);
    int err = old && moves ? forget_expiry(b, old) : 0;
    buf_clear(&b->value);
    if (!err && moves)
        err = batch_put(b, KV_SESSION_EXPIRY, session_expiry_key(s->expires_ms, s->id, &key));
    if (err)
        return err;
    write_record(s, &b->value);
    return batch_put(b, KV_SESSIONS, s->id);
}

/* One that expired counts until the sweep has taken it away. */
static int check_room(struct batch *b)
{
    uint64_t n;
    int err = kv_count(&b->txn, KV_SESSIONS, &n);
    return err ? err : n < b->store->sessions_max ? 0 : ERR_SESSIONS;
}

int session_put(struct batch *b, struct store_op *op)
{
    struct store_session old;
    if (!is_within_limits(op->session))
        return ERR_LIMIT;
    int err = find_record(b, op->session->id, &old);
    if (err && err != ERR_ABSENT)
        return err;
    bool stands = !err;
    err = check_condition(op, stands && old.expires_ms > b->now_ms, 0);
    if (!err && !stands)
        err = check_room(b);
    return err ? err : save(b, op->session, stands ? &old : NULL);
}

int session_touch(struct batch *b, struct store_op *op)
{
    struct store_session old, now;
    int err = find_record(b, op->session->id, &old);
    if (err && err != ERR_ABSENT)
        return err;
    bool there = !err && old.expires_ms > b->now_ms;
    err = check_condition(op, there, 0);
    if (err || !there)
        return err;
    now = old;
    now.active_ms = op->session->active_ms;
    now.initialized = old.initialized || op->session->initialized;
    if (now.expires_ms < op->session->expires_ms)
        now.expires_ms = op->session->expires_ms;
    return save(b, &now, &old);
}

static int find_living(struct batch *b, struct str id, struct store_session *ret)
{
    struct store_session s;
    int err = find_record(b, id, &s);
    if (!err && s.expires_ms <= b->now_ms)
        err = ERR_ABSENT;
    if (!err)
        *ret = s;
    return err;
}

int session_require(struct batch *b, struct str id)
{
    struct store_session s;
    return find_living(b, id, &s);
}

int session_put_log_level(struct batch *b, struct store_op *op)
{
    struct store_session s;
    int err = find_living(b, op->session->id, &s);
    if (err)
        return err;
    s.log_level = op->session->log_level;
    return save(b, &s, &s);
}

int session_set_seen(struct batch *b, struct store_op *op)
{
    struct store_session s;
    int err = find_living(b, op->session->id, &s);
    if (err)
        return err;
    memcpy(s.seen, op->session->seen, sizeof s.seen);
    return save(b, &s, &s);
}

static int forget(struct batch *b, const struct store_session *s)
{
    int err = forget_expiry(b, s);
    if (!err)
        err = streams_forget_session(b, s->id);
    if (!err)
        err = pushes_forget_session(b, s->id);
    if (!err)
        err = subscriptions_forget_session(b, s->id);
    return err ? err : batch_remove(b, KV_SESSIONS, s->id);
}

int session_delete(struct batch *b, struct store_op *op)
{
    struct store_session old;
    int err = find_record(b, op->session->id, &old);
    if (err && err != ERR_ABSENT)
        return err;
    bool stands = !err;
    err = check_condition(op, stands && old.expires_ms > b->now_ms, 0);
    return err || !stands ? err : forget(b, &old);
}

/* ---- Sweep ---------------------------------------------------------------------------------- */

struct sweep {
    int64_t now_ms;
    uint32_t n;
    struct expiry_key at; /* the last one looked at */
    struct expiry_key keys[SWEEP_ROWS];
};

static int collect(void *ctx, struct str key, struct str value)
{
    struct sweep *sweep = ctx;
    (void)value;
    if (key.n <= 4 || key.n > sizeof sweep->at.bytes)
        return ERR_STORE_DAMAGED;
    if (kv_u32(key.p) > minute_of(sweep->now_ms) || sweep->n == SWEEP_ROWS)
        return 1;
    struct str last = {sweep->at.bytes, sweep->at.len};
    if (str_eq(key, last))
        return 0; /* where the transaction before ended */
    struct expiry_key *out = &sweep->keys[sweep->n++];
    memcpy(out->bytes, key.p, key.n);
    out->len = key.n;
    return 0;
}

/* 1 if a session was deleted. */
static int sweep_one(struct batch *b, const struct expiry_key *key, int64_t now_ms)
{
    struct store_session s;
    struct str id = {key->bytes + 4, key->len - 4};
    arena_reset(&b->scratch);
    int err = find_record(b, id, &s);
    if (err == ERR_ABSENT || (!err && minute_of(s.expires_ms) != kv_u32(key->bytes))) {
        err = batch_remove(b, KV_SESSION_EXPIRY, (struct str){key->bytes, key->len});
        return err == ERR_ABSENT ? 0 : err;
    }
    if (err || s.expires_ms > now_ms)
        return err;
    err = forget(b, &s);
    return err ? err : 1;
}

/* One transaction. Returns how many were deleted; *ret_more: there may be more. */
static int sweep_some(struct store *store, struct sweep *sweep, uint32_t max, bool *ret_more)
{
    struct batch b;
    uint32_t deleted = 0, i = 0;
    int err = batch_begin(store, STORE_SYS, &b);
    if (err)
        return err;
    sweep->n = 0;
    struct str from = {sweep->at.len ? sweep->at.bytes : "", sweep->at.len};
    err = kv_scan(&b.txn, KV_SESSION_EXPIRY, from, collect, sweep);
    for (; err >= 0 && i < sweep->n && deleted < max && b.changes < TXN_ROWS_MAX; i++) {
        err = sweep_one(&b, &sweep->keys[i], sweep->now_ms);
        deleted += err == 1;
        sweep->at = sweep->keys[i];
    }
    *ret_more = sweep->n == SWEEP_ROWS || i < sweep->n;
    if (err >= 0)
        err = batch_commit(&b);
    else
        batch_abort(&b);
    return err < 0 ? err : (int)deleted;
}

int store_sweep_sessions(struct store *store, int64_t now_ms, uint32_t max)
{
    bool more = true;
    uint32_t total = 0;
    struct sweep *sweep = calloc(1, sizeof *sweep);
    if (!sweep)
        return ERR_NO_MEMORY;
    sweep->now_ms = now_ms;
    int n = 0;
    while (more && total < max && n >= 0) {
        n = sweep_some(store, sweep, max - total, &more);
        total += n > 0 ? (uint32_t)n : 0;
    }
    free(sweep);
    return n < 0 ? n : (int)total;
}

/* ---- Reading -------------------------------------------------------------------------------- */

int store_get_session(struct store_view *view, struct str id, struct arena *arena,
                      struct store_session *ret)
{
    struct store_session s;
    struct str value;
    if (id.n == 0 || id.n > SESSION_ID_BYTES)
        return ERR_ABSENT;
    int err = kv_get_kept(&view->txn, KV_SESSIONS, id, arena, &id, &value);
    if (!err)
        err = session_read(id, value, arena, &s);
    if (!err && s.expires_ms <= clock_wall_ms())
        err = ERR_ABSENT;
    if (!err)
        *ret = s;
    return err;
}

int store_count_sessions(struct store_view *view, uint64_t *ret)
{
    return kv_count(&view->txn, KV_SESSIONS, ret);
}

struct session_scan {
    struct str after;
    store_session_fn fn;
    void *ctx;
    struct arena scratch;
};

static int visit_session(void *ctx, struct str key, struct str value)
{
    struct session_scan *scan = ctx;
    struct store_session s;
    if (scan->after.p && str_eq(key, scan->after))
        return 0;
    arena_reset(&scan->scratch);
    int err = session_read(key, value, &scan->scratch, &s);
    return err ? err : scan->fn(scan->ctx, &s);
}

int store_scan_sessions(struct store_view *view, struct str after_id, store_session_fn fn,
                        void *ctx)
{
    struct session_scan scan = {.after = after_id, .fn = fn, .ctx = ctx};
    if (after_id.n > SESSION_ID_BYTES)
        return ERR_LIMIT;
    arena_init(&scan.scratch, 0);
    struct str from = after_id.p ? after_id : STR("");
    int err = kv_scan(&view->txn, KV_SESSIONS, from, visit_session, &scan);
    arena_done(&scan.scratch);
    return err;
}
