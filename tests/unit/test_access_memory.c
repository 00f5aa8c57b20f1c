/* tests/unit/test_access_memory.c - the n-th allocation fails, for every n, while somebody is
 * identified, renewed or waits for keys, and while users, roles and tokens are managed: it says so,
 * nobody is let in by it, and the next try works.
 *
 * Only those of this thread fail; those of the store's writer are the store's tests.
 */
#include "failing_heap.h"

#include "tests/unit/access_rig.h"

#define N_MAX 1000

static const struct access_scope scopes[] = {{STR_INIT("read"), STR_INIT("reader")},
                                             {STR_INIT("all"), STR_INIT("admin")}};
static struct manage_token token;

static int open_all(void **state)
{
    open_access(state);
    rules.verifier = &verifier;
    rules.scopes = scopes;
    rules.n_scopes = 2;
    make_user("ann", "reader");
    make_user("root", "admin");
    token = make_token("ann", 0);
    return 0;
}
#define MEMORY_TEST(f) cmocka_unit_test_setup_teardown(f, open_all, close_access)

/* ---- Identifying ---------------------------------------------------------------------------- */

static void identify_failing(enum credential_kind kind, const char *text, const char *user)
{
    bool was_hit = true;
    for (unsigned n = 1; was_hit; n++) {
        struct access *access = NULL;
        bench.core->accesses->version = 99; /* so that nothing is known */
        heap_fail_at(n);
        int err = identify(kind, text, &access);
        was_hit = !heap_ok();
        assert_true(n < N_MAX);
        assert_true(err == 0 || (was_hit && err == ERR_NO_MEMORY));
        if (err == 0)
            assert_true(str_eq(access->user, str_of(user)));
        access_unref(access);
    }
}

static void who_cannot_be_identified_is_not_let_in(void **state)
{
    (void)state;
    identify_failing(CREDENTIAL_BEARER, token.text, "ann");
    identify_failing(CREDENTIAL_CERTIFICATE, "root", "root");
    identify_failing(CREDENTIAL_BEARER, "eve/read all", "eve");
    rules.anonymous = ANONYMOUS_ROLE;
    rules.anonymous_role = STR("reader");
    identify_failing(CREDENTIAL_NONE, "", "");
}

static void who_cannot_be_renewed_is_told_so(void **state)
{
    struct access *access, *now;
    bool was_hit = true;
    (void)state;
    assert_int_equal(identify(CREDENTIAL_BEARER, token.text, &access), 0);
    make_user("bo", NULL);
    for (unsigned n = 1; was_hit; n++) {
        now = NULL;
        bench.core->accesses->version = 99;
        heap_fail_at(n);
        int err = access_renew(bench.core, access, &now, &last_why);
        was_hit = !heap_ok();
        assert_true(err == 0 || (was_hit && err == ERR_NO_MEMORY));
        access_unref(now);
    }
    access_unref(access);
}

static void finish(struct call *call)
{
    heap_ok();
    take_answer(call);
}

static void who_waits_without_memory_is_answered(void **state)
{
    bool was_hit = true;
    (void)state;
    for (unsigned n = 1; was_hit; n++) {
        struct call *call = call_new(bench.core);
        fill(&bench, call, STR(PING));
        call->in.access = NULL;
        call->finish = finish;
        struct str text = arena_str(&call->arena, STR("eve/read"));
        const struct credential credential = {.kind = CREDENTIAL_BEARER, .text = text};
        if (n == 1)
            leave_bytes(&call->arena, 0);
        bench.core->accesses->version = 99;
        signer.err = ACCESS_LATER;
        signer.fetch_helps = true;
        bench.n_answers = 0;
        heap_fail_at(n);
        access_wait(bench.core, call, &credential);
        while (bench.n_answers == 0)
            assert_true(loop_turn(&bench.loop, 10));
        was_hit = !heap_ok() || n == 1;
        assert_true(n < N_MAX);
    }
}

/* ---- Managing ------------------------------------------------------------------------------- */

static int create_user(struct manage *m)
{
    struct str roles[] = {STR("reader"), STR("admin")};
    return manage_create_user(m, STR("new"), roles, 2);
}

static int alter_user(struct manage *m)
{
    struct str roles[] = {STR("reader")};
    const struct manage_user_change change = {.roles = roles, .n_roles = 1};
    return manage_alter_user(m, STR("new"), &change);
}

static int drop_user(struct manage *m)
{
    return manage_drop_user(m, STR("new"), false);
}

static int put_new_role(struct manage *m)
{
    return manage_put_role(m, STR("new"), STR("{\"tools\":[\"x\"]}"), false);
}

static int put_bad_role(struct manage *m)
{
    return manage_put_role(m, STR("new"), STR("{\"tools\":1}"), false);
}

static int drop_role(struct manage *m)
{
    return manage_drop_role(m, STR("new"));
}

static int show_role(struct manage *m)
{
    struct str record;
    return manage_find_role(m, STR("reader"), &record);
}

static struct manage_token made;

static int create_token(struct manage *m)
{
    return manage_create_token(m, STR("ann"), STR("x"), 0, &made);
}

static int revoke_token(struct manage *m)
{
    struct str user;
    return manage_revoke_token(m, str_of(made.id), &user);
}

static int drop_last(struct manage *m)
{
    return manage_drop_user(m, STR("root"), false);
}

static int see_user(void *ctx, const struct access_user *user)
{
    (void)ctx;
    (void)user;
    return 0;
}

static int see_token(void *ctx, const struct access_token *seen)
{
    (void)ctx;
    (void)seen;
    return 0;
}

static int list_users(struct manage *m)
{
    return manage_list_users(m, STR_NONE, see_user, NULL);
}

static int list_tokens(struct manage *m)
{
    return manage_list_tokens(m, STR_NONE, see_token, NULL);
}

/* In this order: each finds what the one before left. */
static const struct {
    int (*run)(struct manage *m);
    int wanted;
} steps[] = {
    {create_user, 0},
    {alter_user, 0},
    {drop_user, 0},
    {put_new_role, 0},
    {put_bad_role, ERR_PARAMS},
    {drop_role, 0},
    {show_role, 0},
    {create_token, 0},
    {list_tokens, 0},
    {revoke_token, 0},
    {drop_last, ERR_FORBIDDEN},
    {list_users, 0},
};

static void what_cannot_be_done_is_not_done(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        int err = ERR_NO_MEMORY;
        for (unsigned n = 1; err == ERR_NO_MEMORY; n++) {
            struct arena arena;
            arena_init(&arena, 0);
            struct manage m = {.store = bench.store, .arena = &arena};
            heap_fail_at(n);
            err = steps[i].run(&m);
            bool was_hit = !heap_ok();
            assert_true(n < N_MAX);
            if (err != steps[i].wanted && !(was_hit && err == ERR_NO_MEMORY))
                fail_msg("step %zu, allocation %u: %s", i, n, err_name(err));
            arena_done(&arena);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MEMORY_TEST(who_cannot_be_identified_is_not_let_in),
        MEMORY_TEST(who_cannot_be_renewed_is_told_so),
        MEMORY_TEST(who_waits_without_memory_is_answered),
        MEMORY_TEST(what_cannot_be_done_is_not_done),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
