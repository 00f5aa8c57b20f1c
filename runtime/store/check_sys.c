/* store/check_sys.c - store_check of what SYS holds: sessions, their expiry, jobs, quotas; the
 * rest: check_live.c.
 *
 * In a process that has SYS in memory only there is nothing to see.
 */
#include "store/internal.h"

#include "base/err.h"

#include <stdio.h>

struct sys_check {
    struct kv_txn *txn;
    struct findings *findings;
    struct arena scratch; /* of a record */
};

/* The id of a session lets whoever knows it speak for its user: only its beginning is shown, the
 * minute of its making. */
#define SHOWN_BYTES 8

const char *show_id(struct str id, struct shown_id *out)
{
    size_t at = 0;
    for (uint32_t i = 0; i < id.n && i < SHOWN_BYTES; i++) {
        unsigned char c = (unsigned char)id.p[i];
        at += (size_t)snprintf(out->text + at, sizeof out->text - at,
                               c > ' ' && c < 0x7f ? "%c" : "\\x%02x", c);
    }
    snprintf(out->text + at, sizeof out->text - at, "%s", id.n > SHOWN_BYTES ? "..." : "");
    return out->text;
}

static int check_session(void *ctx, struct str id, struct str value)
{
    struct sys_check *c = ctx;
    struct store_session s;
    struct expiry_key key;
    struct shown_id shown;
    struct str nothing;
    c->findings->done.n_sessions++;
    arena_reset(&c->scratch);
    int err =
        id.n <= SESSION_ID_BYTES ? session_read(id, value, &c->scratch, &s) : ERR_STORE_DAMAGED;
    if (is_finding(err)) {
        find(c->findings, "session %s cannot be read: %s", show_id(id, &shown), err_text(err));
        return 0;
    }
    if (!err)
        err =
            kv_get(c->txn, KV_SESSION_EXPIRY, session_expiry_key(s.expires_ms, id, &key), &nothing);
    if (err != ERR_ABSENT)
        return err;
    find(c->findings, "session %s is not among those that will expire", show_id(id, &shown));
    return 0;
}

/* Does the session expire in the minute that its entry says? One that cannot be read was told. */
static int is_of_session(struct sys_check *c, struct str entry)
{
    struct store_session s;
    struct expiry_key key;
    struct str value, id = {entry.p + 4, entry.n - 4};
    int err = kv_get(c->txn, KV_SESSIONS, id, &value);
    if (!err)
        err = session_read(id, value, &c->scratch, &s);
    if (err)
        return err == ERR_ABSENT ? 0 : is_finding(err) ? 1 : err;
    return str_eq(session_expiry_key(s.expires_ms, id, &key), entry);
}

static int check_expiry(void *ctx, struct str key, struct str value)
{
    struct sys_check *c = ctx;
    struct shown_id shown;
    (void)value;
    arena_reset(&c->scratch);
    bool is_key = key.n > 4 && key.n <= 4 + SESSION_ID_BYTES;
    int fits = is_key ? is_of_session(c, key) : 0;
    if (fits < 0)
        return fits;
    if (!is_key)
        find(c->findings, "an entry of what will expire cannot be read");
    else if (!fits)
        find(c->findings, "an entry says that session %s expires, which is not there or not then",
             show_id((struct str){key.p + 4, key.n - 4}, &shown));
    return 0;
}

static int check_job(void *ctx, struct str id, struct str value)
{
    struct sys_check *c = ctx;
    struct store_job job;
    struct shown_id shown;
    c->findings->done.n_jobs++;
    arena_reset(&c->scratch);
    int err = job_read(id, value, &c->scratch, &job);
    if (!is_finding(err))
        return err;
    find(c->findings, "job %s cannot be read: %s", show_id(id, &shown), err_text(err));
    return 0;
}

static int check_quota(void *ctx, struct str key, struct str value)
{
    struct sys_check *c = ctx;
    struct quota_record quota;
    c->findings->done.n_quotas++;
    int err = quota_read(key, value, &quota);
    if (is_finding(err))
        find(c->findings, "a quota cannot be read: %s", err_text(err));
    return is_finding(err) ? 0 : err;
}

int check_sys(struct kv_txn *txn, struct findings *findings)
{
    struct sys_check c = {.txn = txn, .findings = findings};
    arena_init(&c.scratch, 0);
    int err = kv_scan(txn, KV_SESSIONS, STR(""), check_session, &c);
    if (!err)
        err = kv_scan(txn, KV_SESSION_EXPIRY, STR(""), check_expiry, &c);
    if (!err)
        err = kv_scan(txn, KV_JOBS, STR(""), check_job, &c);
    if (!err)
        err = kv_scan(txn, KV_QUOTAS, STR(""), check_quota, &c);
    arena_done(&c.scratch);
    return err ? err : check_live(txn, findings);
}
