/* tests/unit/access_rig.h - a core whose rules a test sets, with roles and users, a verifier that
 * takes what looks like "subject/scopes", and time that is moved by hand.
 */
#ifndef TENON_TESTS_UNIT_ACCESS_RIG_H
#define TENON_TESTS_UNIT_ACCESS_RIG_H

#include "hand_clock.h"

#include "core/access_parts.h"
#include "core/manage_access.h"
#include "tests/unit/ask.h"

#define READER "{\"databases\":{\"*\":{\"tables\":{\"*\":{\"read\":true}}}}}"
#define SUPER  "{\"super_user\":true}"

/* ---- Signed tokens -------------------------------------------------------------------------- */

static struct {
    int err; /* of verify; 0: fine */
    int fetch_err;
    int64_t expires_ms;
    unsigned n_verified;
    _Atomic unsigned n_fetched;
    bool fetch_helps;
} signer;

static inline bool signed_is_mine(void *ctx, struct str token)
{
    (void)ctx;
    return token.n && memchr(token.p, '/', token.n);
}

static inline int signed_verify(void *ctx, struct str token, int64_t now_ms, struct arena *arena,
                                struct access_claims *ret, const char **ret_why)
{
    struct str rest = arena_str(arena, token);
    (void)ctx;
    (void)now_ms;
    signer.n_verified++;
    if (signer.err == ERR_UNAUTHORIZED)
        *ret_why = "the signature is wrong";
    if (signer.err || !rest.p)
        return signer.err ? signer.err : ERR_NO_MEMORY;
    ret->subject = str_cut(&rest, '/');
    ret->scopes = rest;
    ret->expires_ms = signer.expires_ms;
    return 0;
}

static inline int signed_fetch(void *ctx)
{
    (void)ctx;
    signer.n_fetched++;
    if (signer.fetch_helps)
        signer.err = 0;
    return signer.fetch_err;
}

static const struct access_verifier verifier = {
    .is_mine = signed_is_mine, .verify = signed_verify, .fetch = signed_fetch};

/* ---- The rig -------------------------------------------------------------------------------- */

static struct access_rules rules;
static struct manage manager;
static struct arena manager_arena;

static inline void make_user(const char *name, const char *role)
{
    struct str roles[] = {str_of(role ? role : "")};
    assert_int_equal(manage_create_user(&manager, str_of(name), roles, role != NULL), 0);
}

static inline void put_role(const char *name, const char *tree)
{
    assert_int_equal(manage_put_role(&manager, str_of(name), str_of(tree), true), 0);
}

static inline int open_access(void **state)
{
    struct core_config config = bench_config;
    rules = (struct access_rules){0};
    memset(&signer, 0, sizeof signer);
    signer.expires_ms = INT64_MAX;
    config.access = &rules;
    bench_open(&bench, &config);
    *state = &bench;
    arena_init(&manager_arena, 0);
    manager = (struct manage){.store = bench.store, .arena = &manager_arena};
    put_role("reader", READER);
    put_role("admin", SUPER);
    return 0;
}

static inline int close_access(void **state)
{
    arena_done(&manager_arena);
    return close_bench(state);
}

#define ACCESS_TEST(f) cmocka_unit_test_setup_teardown(f, open_access, close_access)

/* ---- Asking --------------------------------------------------------------------------------- */

static const char *last_why;

static inline int identify(enum credential_kind kind, const char *text, struct access **ret)
{
    const struct credential credential = {.kind = kind, .text = str_of(text)};
    return access_identify(bench.core, &credential, ret, &last_why);
}

/* By role names, or "!why" of what is refused. */
static inline void assert_is(enum credential_kind kind, const char *text, const char *user,
                             const char *roles)
{
    struct access *access;
    int err = identify(kind, text, &access);
    if (roles[0] == '!') {
        assert_int_equal(err, ERR_UNAUTHORIZED);
        assert_string_equal(last_why ? last_why : "", roles + 1);
        return;
    }
    if (err)
        fail_msg("%s: %s %s", text, err_name(err), last_why ? last_why : "");
    assert_true(str_eq(access->user, str_of(user)));
    assert_true(str_eq(access->role_name, str_of(roles)));
    assert_non_null(access->role);
    access_unref(access);
}

static inline struct manage_token make_token(const char *user, int64_t expires_ms)
{
    struct manage_token token;
    assert_int_equal(manage_create_token(&manager, str_of(user), STR("test"), expires_ms, &token),
                     0);
    return token;
}

#endif
