/* core/access_find.c - who somebody is, by the records of users, roles and tokens.
 *
 * What is wrong is told in words that say nothing of what exists: a token that is unknown, was
 * revoked, or whose user is gone reads the same.
 */
#include "core/access_parts.h"

#include "base/err.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#define NOT_VALID "the token is not valid"

static int refuse(struct access_look *look, const char *why)
{
    look->why = why;
    return ERR_UNAUTHORIZED;
}

/* ---- What comes of it ----------------------------------------------------------------------- */

void identity_free(struct identity *who)
{
    access_view_unref(who->view);
    free(who);
}

static char *copy(char *at, struct str from, struct str *ret)
{
    if (from.n)
        memcpy(at, from.p, from.n);
    *ret = (struct str){at, from.n};
    return at + from.n;
}

/* Takes the view over, if it succeeds. */
static int make(struct access_look *look, const struct access_source *source, struct str user,
                struct access_view *view, int64_t expires_ms, struct identity **ret)
{
    struct identity *who = malloc(sizeof *who + user.n + source->scopes.n + 1);
    if (!who)
        return ERR_NO_MEMORY;
    *who = (struct identity){.source = *source, .view = view};
    char *at = copy((char *)(who + 1), user, &who->source.user);
    copy(at, source->scopes, &who->source.scopes);
    who->access = (struct access){
        .refs = 1,
        .user = who->source.user,
        .role_name = view ? view->names : STR(""),
        .role = view ? view->role : role_super(),
        .version = look->version,
        .expires_ms = expires_ms,
        .source = &who->source,
    };
    if (expires_ms < who->source.fresh_until_ms)
        who->source.fresh_until_ms = expires_ms;
    *ret = who;
    return 0;
}

static int make_with(struct access_look *look, const struct access_source *source, struct str user,
                     struct str *names, uint32_t n, int64_t expires_ms, struct identity **ret)
{
    struct access_view *view;
    int err = access_view_get(look, names, n, &view);
    if (err < 0)
        return err;
    err = view->n_found || source->kind != CREDENTIAL_NONE ? 0 : refuse(look, NULL);
    if (err == 0 && source->is_signed && look->rules->n_scopes && !view->n_found)
        err = ERR_SCOPE;
    if (err == 0)
        err = make(look, source, user, view, expires_ms, ret);
    if (err < 0)
        access_view_unref(view);
    return err;
}

/* ---- Nobody --------------------------------------------------------------------------------- */

static int note_one(void *ctx, const struct store_access *access)
{
    (void)access;
    *(bool *)ctx = true;
    return 1;
}

static int find_any_user(struct access_look *look, bool *ret)
{
    *ret = false;
    int err = store_scan_access(look->view, STORE_USER, STR_NONE, note_one, ret);
    return err < 0 ? err : 0;
}

/* Whatever its tree says, nobody is a super user by a role of the config. */
static int as_anonymous(struct access_look *look, const struct access_source *source,
                        struct identity **ret)
{
    struct str role = look->rules->anonymous_role;
    int err = make_with(look, source, STR(""), &role, 1, INT64_MAX, ret);
    if (err < 0 || !role_is_super((*ret)->access.role))
        return err;
    identity_free(*ret);
    return refuse(look, NULL);
}

static int find_nobody(struct access_look *look, const struct access_source *source,
                       struct identity **ret)
{
    const struct access_rules *rules = look->rules;
    bool has_users;
    if (rules->anonymous == ANONYMOUS_ROLE)
        return as_anonymous(look, source, ret);
    if (rules->anonymous == ANONYMOUS_OFF || !rules->is_loopback || rules->verifier)
        return refuse(look, NULL);
    int err = find_any_user(look, &has_users);
    if (err == 0 && has_users)
        err = refuse(look, NULL);
    return err < 0 ? err : make(look, source, STR(""), NULL, INT64_MAX, ret);
}

/* ---- Users ---------------------------------------------------------------------------------- */

/* ERR_ABSENT: there is none. */
static int find_user(struct access_look *look, struct str name, struct access_user *ret)
{
    struct store_access stored;
    if (!access_user_name_is_valid(name))
        return ERR_ABSENT;
    int err = store_get_access(look->view, STORE_USER, name, look->arena, &stored);
    ret->name = name;
    return err < 0 ? err : access_user_read(stored.record, look->arena, ret);
}

static int as_user(struct access_look *look, const struct access_source *source,
                   const struct access_user *user, int64_t expires_ms, struct identity **ret)
{
    struct str *names = arena_array(look->arena, user->n_roles + 1, sizeof *names);
    if (!names)
        return ERR_NO_MEMORY;
    if (user->is_disabled)
        return refuse(look, "the user is switched off");
    if (user->n_roles)
        memcpy(names, user->roles, user->n_roles * sizeof *names);
    int err = make_with(look, source, user->name, names, user->n_roles, expires_ms, ret);
    if (err == 0)
        (*ret)->access.since_ms = user->created_ms;
    return err;
}

static int find_certificate(struct access_look *look, const struct access_source *source,
                            struct identity **ret)
{
    struct access_user user;
    int err = find_user(look, source->user, &user);
    if (err == ERR_ABSENT)
        return refuse(look, "the certificate is not that of a user");
    return err < 0 ? err : as_user(look, source, &user, INT64_MAX, ret);
}

/* ---- Tokens of ours ------------------------------------------------------------------------- */

static int find_token_record(struct access_look *look, const unsigned char *hash,
                             struct access_token *ret)
{
    struct store_access stored;
    char name[ACCESS_HASH_TEXT_BYTES + 1];
    access_hex(hash, ACCESS_HASH_BYTES, name);
    int err = store_get_access(look->view, STORE_TOKEN, str_of(name), look->arena, &stored);
    return err < 0 ? err : access_token_read(stored.record, look->arena, ret);
}

static bool is_same(struct str a, struct str b)
{
    return a.n == b.n && CRYPTO_memcmp(a.p, b.p, a.n) == 0;
}

static int find_token(struct access_look *look, const struct access_source *source,
                      struct identity **ret)
{
    struct access_token token;
    struct access_user user;
    int err = find_token_record(look, source->hash, &token);
    if (err == 0)
        err = find_user(look, token.user, &user);
    if (err == 0 && !is_same(user.generation, token.generation))
        err = ERR_ABSENT;
    if (err == ERR_ABSENT)
        return refuse(look, NOT_VALID);
    if (err < 0)
        return err;
    if (token.expires_ms && token.expires_ms <= look->now_ms)
        return refuse(look, "the token has expired");
    return as_user(look, source, &user, token.expires_ms ? token.expires_ms : INT64_MAX, ret);
}

/* ---- Signed tokens -------------------------------------------------------------------------- */

static bool has_scope(struct str scopes, struct str wanted)
{
    while (scopes.p)
        if (str_eq(str_cut(&scopes, ' '), wanted))
            return true;
    return false;
}

static int by_scopes(struct access_look *look, const struct access_source *source,
                     struct identity **ret)
{
    const struct access_rules *rules = look->rules;
    struct str *names = arena_array(look->arena, rules->n_scopes, sizeof *names);
    uint32_t n = 0;
    if (!names)
        return ERR_NO_MEMORY;
    for (uint32_t i = 0; i < rules->n_scopes; i++)
        if (has_scope(source->scopes, rules->scopes[i].scope))
            names[n++] = rules->scopes[i].role;
    return make_with(look, source, source->user, names, n, source->expires_ms, ret);
}

static int find_signed(struct access_look *look, const struct access_source *source,
                       struct identity **ret)
{
    const struct access_rules *rules = look->rules;
    struct access_user user;
    if (source->expires_ms <= look->now_ms)
        return refuse(look, "the token has expired");
    if (!access_user_name_is_valid(source->user)) /* it would stand in logs and records */
        return refuse(look, NOT_VALID);
    if (rules->required_scope.n && !has_scope(source->scopes, rules->required_scope))
        return ERR_SCOPE;
    int err = find_user(look, source->user, &user);
    if (err < 0 && err != ERR_ABSENT)
        return err;
    if (err == 0 && (user.is_disabled || !rules->n_scopes))
        return as_user(look, source, &user, source->expires_ms, ret);
    return rules->n_scopes ? by_scopes(look, source, ret) : ERR_SCOPE;
}

int access_find(struct access_look *look, const struct access_source *source, struct identity **ret)
{
    if (source->kind == CREDENTIAL_NONE)
        return find_nobody(look, source, ret);
    if (source->kind == CREDENTIAL_CERTIFICATE)
        return find_certificate(look, source, ret);
    return source->is_signed ? find_signed(look, source, ret) : find_token(look, source, ret);
}
