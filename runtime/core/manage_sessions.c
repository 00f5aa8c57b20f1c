/* core/manage_sessions.c - see manage_sessions.h. */
#include "core/manage_sessions.h"

#include "base/clock.h"
#include "base/err.h"

#include <openssl/evp.h>

int session_handle(struct str id, char ret[SESSION_HANDLE_BYTES + 1])
{
    unsigned char hash[EVP_MAX_MD_SIZE];
    if (!EVP_Digest(id.p, id.n, hash, NULL, EVP_sha256(), NULL))
        return ERR_NO_MEMORY;
    for (int i = 0; i < SESSION_HANDLE_BYTES; i++)
        ret[i] = "0123456789abcdef"[hash[i / 2] >> (i % 2 ? 0 : 4) & 15];
    ret[SESSION_HANDLE_BYTES] = '\0';
    return 0;
}

/* ---- Listing -------------------------------------------------------------------------------- */

struct listing {
    manage_session_fn fn;
    void *ctx;
    int64_t now_ms;
};

static int show(void *ctx, const struct store_session *session)
{
    const struct listing *l = ctx;
    char handle[SESSION_HANDLE_BYTES + 1];
    if (session->expires_ms <= l->now_ms)
        return 0; /* waits to be swept */
    int err = session_handle(session->id, handle);
    return err ? err : l->fn(l->ctx, handle, session);
}

int manage_list_sessions(struct manage *m, manage_session_fn fn, void *ctx)
{
    struct listing l = {.fn = fn, .ctx = ctx, .now_ms = clock_wall_ms()};
    struct store_view *view;
    int err = store_view_open(m->store, STORE_SYS, &view);
    if (err < 0)
        return err;
    err = store_scan_sessions(view, STR_NONE, show, &l);
    store_view_close(view);
    return err;
}

/* ---- Closing -------------------------------------------------------------------------------- */

struct search {
    struct arena *arena;
    struct str handle, id;
};

static int match(void *ctx, const char *handle, const struct store_session *session)
{
    struct search *s = ctx;
    if (!str_eq(str_of(handle), s->handle))
        return 0;
    s->id = arena_str(s->arena, session->id);
    return s->id.p ? 1 : ERR_NO_MEMORY;
}

int manage_close_session(struct manage *m, struct str handle, struct str *ret)
{
    struct search s = {.arena = m->arena, .handle = handle};
    int err = manage_list_sessions(m, match, &s);
    if (err < 0)
        return err;
    struct store_session session = {.id = s.id};
    struct store_op op = {
        .kind = STORE_DELETE_SESSION, .if_version = STORE_PRESENT, .session = &session};
    struct store_write write = {.space = STORE_SYS, .ops = &op, .n_ops = 1};
    err = s.id.p ? store_apply(m->store, &write) : ERR_ABSENT;
    if (err == ERR_ABSENT)
        return manage_fail(m, err, "there is no session %.*s",
                           handle.n < 2 * SESSION_HANDLE_BYTES ? (int)handle.n
                                                               : 2 * SESSION_HANDLE_BYTES,
                           handle.p);
    if (err == 0)
        *ret = s.id;
    return err;
}
