/* core/manage_tokens.c - see manage_access.h: tokens. */
#include "core/manage_access_parts.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/limits.h"

#include <string.h>

/* ---- Listing -------------------------------------------------------------------------------- */

struct listing {
    struct str user;
    manage_token_fn fn;
    void *ctx;
};

static int show(void *ctx, const struct store_access *access)
{
    const struct listing *l = ctx;
    struct access_token token;
    struct arena scratch;
    arena_init(&scratch, 0);
    int err = access_token_read(access->record, &scratch, &token);
    if (err == 0 && (!l->user.p || str_eq(l->user, token.user)))
        err = l->fn(l->ctx, &token);
    arena_done(&scratch);
    return err;
}

int manage_list_tokens(struct manage *m, struct str user, manage_token_fn fn, void *ctx)
{
    struct listing l = {user, fn, ctx};
    struct store_view *view;
    int err = store_view_open(m->store, STORE_DATA, &view);
    if (err < 0)
        return err;
    err = store_scan_access(view, STORE_TOKEN, STR_NONE, show, &l);
    store_view_close(view);
    return err;
}

/* ---- Making --------------------------------------------------------------------------------- */

struct token_plan {
    struct str user, label;
    int64_t now_ms, expires_ms;
    char name[ACCESS_HASH_TEXT_BYTES + 1]; /* of the record */
    struct manage_token *made;
    uint32_t n_living; /* of the user */
};

/* And counts those that stay. */
static bool is_over(void *ctx, const struct access_token *token)
{
    struct token_plan *p = ctx;
    if (!str_eq(token->user, p->user))
        return false;
    bool over = token->expires_ms && token->expires_ms <= p->now_ms;
    p->n_living += !over;
    return over;
}

static int put_token(struct access_plan *plan, const struct token_plan *p, struct str generation)
{
    struct buf text = {0};
    const struct access_token token = {
        .id = str_of(p->made->id),
        .user = p->user,
        .generation = generation,
        .label = p->label,
        .created_ms = p->now_ms,
        .expires_ms = p->expires_ms,
    };
    access_token_write(&token, &text);
    int err = text.failed ? ERR_NO_MEMORY
                          : access_plan_add(plan, STORE_TOKEN, str_of(p->name), buf_str(&text),
                                            STORE_MISSING);
    buf_done(&text);
    return err;
}

static int plan_create(struct access_plan *plan)
{
    struct token_plan *p = plan->ctx;
    struct access_user user;
    uint64_t version;
    p->n_living = 0;
    int err = access_plan_user(plan, p->user, &user, &version);
    if (err == 0)
        err = put_token(plan, p, user.generation);
    if (err == 0)
        err = access_plan_drop_tokens(plan, is_over, p);
    if (err == 0 && p->n_living >= ACCESS_TOKENS_MAX)
        return manage_fail(plan->m, ERR_LIMIT, STR_FMT " has %d tokens already", STR_ARG(p->user),
                           ACCESS_TOKENS_MAX);
    return err;
}

static int check(struct manage *m, const struct token_plan *p)
{
    if (p->label.n > ACCESS_LABEL_BYTES || (p->label.n && !access_user_name_is_valid(p->label)))
        return manage_fail(m, ERR_PARAMS,
                           "a label has to be at most %d bytes of text, without control "
                           "characters and blanks at its ends",
                           ACCESS_LABEL_BYTES);
    if (p->expires_ms && p->expires_ms <= p->now_ms)
        return manage_fail(m, ERR_PARAMS, "the token would have expired already");
    return 0;
}

static int make_secrets(struct manage *m, struct token_plan *p)
{
    struct access_key key = {0};
    unsigned char hash[ACCESS_HASH_BYTES];
    int err = access_key_open(m->store, &key);
    if (err == 0)
        err = access_token_make(p->made->text);
    if (err == 0)
        err = access_random_hex(p->made->id, ACCESS_TOKEN_ID_BYTES);
    if (err == 0)
        err = access_hash(&key, ACCESS_HASH_TOKEN, str_of(p->made->text), hash);
    if (err == 0)
        access_hex(hash, ACCESS_HASH_BYTES, p->name);
    access_key_close(&key);
    return err;
}

int manage_create_token(struct manage *m, struct str user, struct str label, int64_t expires_ms,
                        struct manage_token *ret)
{
    struct manage_token made;
    struct token_plan p = {.user = user,
                           .label = label.p ? label : STR(""),
                           .now_ms = clock_wall_ms(),
                           .expires_ms = expires_ms,
                           .made = &made};
    int err = check(m, &p);
    if (err == 0)
        err = make_secrets(m, &p);
    if (err == 0)
        err = manage_change_access(m, plan_create, &p);
    if (err == 0)
        *ret = made;
    explicit_bzero(&made, sizeof made);
    return err;
}

/* ---- Revoking ------------------------------------------------------------------------------- */

struct revocation {
    struct manage *m;
    struct str id, user;
};

static bool is_it(void *ctx, const struct access_token *token)
{
    struct revocation *r = ctx;
    if (!str_eq(token->id, r->id))
        return false;
    r->user = arena_str(r->m->arena, token->user);
    return true;
}

static int plan_revoke(struct access_plan *plan)
{
    struct revocation *r = plan->ctx;
    int err = access_plan_drop_tokens(plan, is_it, r);
    if (err == 0 && plan->n_ops == 0)
        return manage_fail(plan->m, ERR_ABSENT, "there is no token %.*s",
                           r->id.n < 64 ? (int)r->id.n : 64, r->id.p);
    return err < 0 || r->user.p ? err : ERR_NO_MEMORY;
}

int manage_revoke_token(struct manage *m, struct str id, struct str *ret_user)
{
    struct revocation r = {.m = m, .id = id};
    int err = manage_change_access(m, plan_revoke, &r);
    if (err == 0)
        *ret_user = r.user;
    return err;
}
