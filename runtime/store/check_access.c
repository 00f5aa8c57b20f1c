/* store/check_access.c - store_check of users, roles and tokens: does each have the version that
 * the change log says, and all of them together theirs?
 */
#include "store/internal.h"

#include "base/err.h"

#include <inttypes.h>
#include <stdio.h>

struct access_check {
    struct kv_txn *txn;
    struct findings *findings;
    uint64_t seq, floor, version;
    struct arena scratch;
};

/* A token is named by its hash, which tells nobody anything. */
static const char *const kinds[] = {
    [STORE_USER] = "user", [STORE_ROLE] = "role", [STORE_TOKEN] = "a token"};

struct shown_name {
    char text[256];
};

static const char *show(const struct store_access *a, struct shown_name *out)
{
    struct buf text = {0};
    if (a->kind != STORE_TOKEN)
        key_write_segment(KEY_STRING, a->name, &text);
    snprintf(out->text, sizeof out->text, "%s%s" STR_FMT, kinds[a->kind], text.n ? " " : "",
             (int)text.n, text.p ? text.p : "");
    buf_done(&text);
    return out->text;
}

/* The log's own check says what of it cannot be read. ERR_ABSENT: it forgot that, or has nothing.
 */
static int read_change(struct access_check *c, uint64_t seq, struct store_change *ret)
{
    unsigned char at[8];
    struct str value, key = {(char *)at, sizeof at};
    kv_put_u64(at, seq);
    int err = kv_get(c->txn, KV_LOG, key, &value);
    return err ? err : change_read(key, value, &c->scratch, ret);
}

static int check_change(struct access_check *c, const struct store_access *a)
{
    struct store_change change;
    struct shown_name shown;
    if (a->version < c->floor)
        return 0;
    int err = read_change(c, a->version, &change);
    if (is_finding(err))
        return 0;
    if (err && err != ERR_ABSENT)
        return err;
    if (err || change.kind != STORE_ACCESS_CHANGED || change.table != (uint32_t)a->kind ||
        !str_eq(change.key, a->name))
        find(c->findings, "%s has version %" PRIu64 ", of which the log knows something else",
             show(a, &shown), a->version);
    return 0;
}

static int check_record(void *ctx, struct str key, struct str value)
{
    struct access_check *c = ctx;
    struct store_access a;
    struct shown_name shown;
    c->findings->done.n_access++;
    arena_reset(&c->scratch);
    int err = access_read(key, value, &c->scratch, &a);
    if (is_finding(err)) {
        find(c->findings, "a user, role or token cannot be read: %s", err_text(err));
        return 0;
    }
    if (err)
        return err;
    if (a.version > c->version)
        find(c->findings, "%s has version %" PRIu64 ", but the last change of any is %" PRIu64,
             show(&a, &shown), a.version, c->version);
    return check_change(c, &a);
}

static int check_version(struct access_check *c)
{
    struct store_change change;
    if (c->version > c->seq)
        find(c->findings,
             "users, roles and tokens have version %" PRIu64 ", but the last change is %" PRIu64,
             c->version, c->seq);
    if (c->version < c->floor || c->version > c->seq)
        return 0;
    int err = read_change(c, c->version, &change);
    if (!err && change.kind != STORE_ACCESS_CHANGED)
        find(c->findings,
             "users, roles and tokens have version %" PRIu64
             ", of which the log knows something else",
             c->version);
    return err == ERR_ABSENT || is_finding(err) ? 0 : err;
}

int check_access(struct kv_txn *txn, struct findings *findings)
{
    struct access_check c = {.txn = txn, .findings = findings};
    arena_init(&c.scratch, 0);
    int err = meta_get(txn, META_SEQ, &c.seq);
    if (!err)
        err = meta_get(txn, META_ACCESS, &c.version);
    if (!err)
        err = change_log_floor(txn, &c.floor);
    if (!err)
        err = check_version(&c);
    if (!err)
        err = kv_scan(txn, KV_ACCESS, STR(""), check_record, &c);
    arena_done(&c.scratch);
    return err;
}
