/* tests/unit/test_access_kept.c - what a worker keeps of whom it has identified, and its bounds;
 * access_renew, for streams; access_wait, for calls whose keys must be fetched.
 */
#include "tests/unit/access_rig.h"

static const struct access_scope scopes[] = {{STR_INIT("read"), STR_INIT("reader")}};

static int open_signed(void **state)
{
    open_access(state);
    rules.verifier = &verifier;
    rules.scopes = scopes;
    rules.n_scopes = 1;
    return 0;
}
#define SIGNED_TEST(f) cmocka_unit_test_setup_teardown(f, open_signed, close_access)

static struct access *get(enum credential_kind kind, const char *text)
{
    struct access *access = NULL;
    assert_int_equal(identify(kind, text, &access), 0);
    return access;
}

/* ---- What is kept --------------------------------------------------------------------------- */

static void who_is_known_is_the_same_until_records_change(void **state)
{
    (void)state;
    make_user("ann", "reader");
    struct manage_token token = make_token("ann", 0), other = make_token("ann", 0);
    struct access *first = get(CREDENTIAL_BEARER, token.text);
    struct access *again = get(CREDENTIAL_BEARER, token.text);
    struct access *beside = get(CREDENTIAL_BEARER, other.text);
    assert_ptr_equal(first, again);
    assert_ptr_not_equal(first, beside);
    assert_ptr_equal(first->role, beside->role); /* joined once */
    make_user("bo", NULL);
    struct access *later = get(CREDENTIAL_BEARER, token.text);
    assert_ptr_not_equal(first, later);
    assert_true(later->version > first->version);
    assert_true(role_may_table(first->role, STR("a"), STR("b"), MAY_READ)); /* it stays whole */
    access_unref(first);
    access_unref(again);
    access_unref(beside);
    access_unref(later);
}

static void identify_number(int i)
{
    char text[64];
    snprintf(text, sizeof text, "user%d/read", i);
    access_unref(get(CREDENTIAL_BEARER, text));
}

static void ACCESS_CACHED_MAX_bounds_whom_a_worker_knows(void **state)
{
    (void)state;
    for (int i = 0; i < ACCESS_CACHED_MAX; i++)
        identify_number(i);
    assert_int_equal(bench.core->accesses->map.n, ACCESS_CACHED_MAX);
    assert_int_equal(signer.n_verified, ACCESS_CACHED_MAX);
    identify_number(0); /* seen again, so the second goes first */
    assert_int_equal(signer.n_verified, ACCESS_CACHED_MAX);
    identify_number(ACCESS_CACHED_MAX);
    assert_int_equal(bench.core->accesses->map.n, ACCESS_CACHED_MAX);
    identify_number(0);
    assert_int_equal(signer.n_verified, ACCESS_CACHED_MAX + 1);
    identify_number(1);
    assert_int_equal(signer.n_verified, ACCESS_CACHED_MAX + 2);
}

static void ACCESS_VIEWS_MAX_bounds_the_sets_of_roles(void **state)
{
    char name[32];
    (void)state;
    for (int i = 0; i <= ACCESS_VIEWS_MAX; i++) {
        snprintf(name, sizeof name, "role%d", i);
        put_role(name, READER);
        snprintf(name + 16, sizeof name - 16, "user%d", i);
        make_user(name + 16, name);
    }
    struct access *first = get(CREDENTIAL_CERTIFICATE, "user0");
    for (int i = 1; i <= ACCESS_VIEWS_MAX; i++) {
        snprintf(name, sizeof name, "user%d", i);
        access_unref(get(CREDENTIAL_CERTIFICATE, name));
        assert_true(bench.core->accesses->views.n <= ACCESS_VIEWS_MAX);
    }
    assert_true(role_may_table(first->role, STR("a"), STR("b"), MAY_READ)); /* in use, so kept */
    access_unref(first);
}

static void no_token_is_kept(void **state)
{
    (void)state;
    make_user("ann", "reader");
    struct manage_token token = make_token("ann", 0);
    struct access *access = get(CREDENTIAL_BEARER, token.text);
    const struct identity *who = (const struct identity *)access;
    size_t n = sizeof *who + who->source.user.n + who->source.scopes.n;
    assert_null(memmem(who, n, token.text + 6, 16));
    assert_null(memmem(bench.core->accesses, sizeof *bench.core->accesses, token.text + 6, 16));
    access_unref(access);
}

/* ---- Again ---------------------------------------------------------------------------------- */

static int renew(struct access *access, struct access **ret)
{
    *ret = NULL;
    return access_renew(bench.core, access, ret, &last_why);
}

static void assert_renewed(struct access *access, const char *roles)
{
    struct access *now;
    assert_int_equal(renew(access, &now), 0);
    assert_true(str_eq(now->role_name, str_of(roles)));
    access_unref(now);
}

static void a_stream_of_a_token_gets_what_holds_now(void **state)
{
    struct str admin = STR("admin"), user;
    struct access *now;
    uint64_t version;
    (void)state;
    make_user("ann", "reader");
    struct manage_token token = make_token("ann", clock_wall_ms() + 5000);
    struct access *access = get(CREDENTIAL_BEARER, token.text);
    assert_int_equal(access->expires_ms, clock_wall_ms() + 5000);
    assert_int_equal(access_version_now(bench.core, &version), 0);
    assert_int_equal(version, access->version);
    assert_int_equal(renew(access, &now), 0);
    assert_ptr_equal(now, access);
    access_unref(now);
    make_user("bo", NULL);
    assert_int_equal(access_version_now(bench.core, &version), 0);
    assert_true(version > access->version);
    assert_renewed(access, "reader");
    struct manage_user_change change = {.roles = &admin, .n_roles = 1};
    assert_int_equal(manage_alter_user(&manager, STR("ann"), &change), 0);
    assert_renewed(access, "admin");
    clock_advance_ms(5000);
    assert_int_equal(renew(access, &now), ERR_UNAUTHORIZED);
    assert_string_equal(last_why, "the token has expired");
    assert_int_equal(manage_revoke_token(&manager, str_of(token.id), &user), 0);
    assert_int_equal(renew(access, &now), ERR_UNAUTHORIZED);
    assert_string_equal(last_why, "the token is not valid");
    access_unref(access);
}

static void a_stream_of_a_signed_token_is_renewed_by_its_claims(void **state)
{
    struct access *now;
    (void)state;
    signer.expires_ms = clock_wall_ms() + 10 * ACCESS_SIGNED_MS;
    struct access *access = get(CREDENTIAL_BEARER, "ann/read");
    signer.err = ERR_UNAUTHORIZED;
    clock_advance_ms(2 * ACCESS_SIGNED_MS);
    make_user("bo", NULL);
    assert_renewed(access, "reader");
    assert_int_equal(signer.n_verified, 1);
    /* what it was renewed to does not stand for the token itself */
    assert_is(CREDENTIAL_BEARER, "ann/read", "", "!the signature is wrong");
    put_role("reader", SUPER);
    assert_int_equal(renew(access, &now), 0);
    assert_true(role_is_super(now->role));
    access_unref(now);
    assert_int_equal(manage_drop_role(&manager, STR("reader")), 0);
    assert_int_equal(renew(access, &now), ERR_SCOPE);
    clock_advance_ms(8 * ACCESS_SIGNED_MS);
    assert_int_equal(renew(access, &now), ERR_UNAUTHORIZED);
    access_unref(access);
}

static void streams_of_nobody_and_of_certificates_are_renewed(void **state)
{
    struct access *now;
    (void)state;
    rules.is_loopback = true;
    struct access *nobody = get(CREDENTIAL_NONE, "");
    assert_renewed(nobody, "");
    make_user("ann", "reader");
    assert_int_equal(renew(nobody, &now), ERR_UNAUTHORIZED);
    assert_null(last_why);
    struct access *ann = get(CREDENTIAL_CERTIFICATE, "ann");
    make_user("bo", "reader");
    assert_renewed(ann, "reader");
    assert_int_equal(manage_drop_user(&manager, STR("ann"), false), 0);
    assert_int_equal(renew(ann, &now), ERR_UNAUTHORIZED);
    assert_int_equal(renew(access_super(), &now), 0); /* stdio */
    assert_ptr_equal(now, access_super());
    access_unref(now);
    access_unref(nobody);
    access_unref(ann);
}

/* ---- Waiting for keys ----------------------------------------------------------------------- */

static const char *answer_why;

static void take_answer_and_why(struct call *call)
{
    answer_why = call->out.why;
    for (uint32_t i = 0; i < call->in.last_event.n; i++)
        assert_int_equal(call->in.last_event.p[i], 0); /* wiped */
    take_answer(call);
}

static void begin_wait(const char *token)
{
    struct call *call = call_new(bench.core);
    fill(&bench, call, STR(INITIALIZE("2025-06-18")));
    call->in.access = NULL;
    call->finish = take_answer_and_why;
    struct credential credential = {.kind = CREDENTIAL_BEARER,
                                    .text = arena_str(&call->arena, str_of(token))};
    call->in.last_event = credential.text; /* a POST has none, so it is free to look at later */
    access_wait(bench.core, call, &credential);
}

static void wait_for(unsigned n)
{
    while (bench.n_answers < n)
        if (!loop_turn(&bench.loop, 10))
            fail_msg("%u answers of %u", bench.n_answers, n);
}

static void a_call_goes_on_once_its_key_is_there(void **state)
{
    struct access *access;
    (void)state;
    signer.err = ACCESS_LATER;
    signer.fetch_helps = true;
    assert_int_equal(identify(CREDENTIAL_BEARER, "user/read", &access), ACCESS_LATER);
    begin_wait("user/read");
    begin_wait("user/read"); /* both by one look at the keys */
    assert_int_equal(bench.n_answers, 0);
    wait_for(2);
    assert_int_equal(bench.status, 200);
    assert_null(answer_why);
    assert_int_equal(signer.n_fetched, 1);
    assert_is(CREDENTIAL_BEARER, "user/read", "user", "reader");
}

static void a_key_that_nobody_knows_is_told(void **state)
{
    (void)state;
    signer.err = ACCESS_LATER;
    begin_wait("user/read");
    wait_for(1);
    assert_int_equal(bench.status, 401);
    assert_string_equal(answer_why, "the token is signed with an unknown key");
    signer.fetch_err = ERR_BUSY; /* nor can it be asked for */
    begin_wait("user/read");
    wait_for(2);
    assert_int_equal(bench.status, 503);
    assert_null(answer_why);
    signer.fetch_err = 0;
    signer.err = ERR_UNAUTHORIZED;
    begin_wait("user/read");
    wait_for(3);
    assert_int_equal(bench.status, 401);
    assert_string_equal(answer_why, "the signature is wrong");
    signer.err = 0;
    begin_wait("user/other");
    wait_for(4);
    assert_int_equal(bench.status, 403);
    assert_null(answer_why);
    assert_int_equal(signer.n_fetched, 4);
}

static void ACCESS_WAITING_MAX_bounds_who_waits(void **state)
{
    (void)state;
    signer.err = ACCESS_LATER;
    bench.loop.busy = true;
    begin_wait("user/read");
    assert_int_equal(bench.n_answers, 1);
    assert_int_equal(bench.status, 503);
    bench.loop.busy = false;
    for (int i = 0; i < ACCESS_WAITING_MAX; i++)
        begin_wait("user/read");
    assert_int_equal(bench.n_answers, 1);
    begin_wait("user/read");
    assert_int_equal(bench.n_answers, 2);
    assert_int_equal(bench.status, 503);
    wait_for(ACCESS_WAITING_MAX + 2);
    assert_int_equal(bench.status, 401);
    assert_int_equal(signer.n_fetched, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ACCESS_TEST(who_is_known_is_the_same_until_records_change),
        SIGNED_TEST(ACCESS_CACHED_MAX_bounds_whom_a_worker_knows),
        ACCESS_TEST(ACCESS_VIEWS_MAX_bounds_the_sets_of_roles),
        ACCESS_TEST(no_token_is_kept),
        ACCESS_TEST(a_stream_of_a_token_gets_what_holds_now),
        SIGNED_TEST(a_stream_of_a_signed_token_is_renewed_by_its_claims),
        ACCESS_TEST(streams_of_nobody_and_of_certificates_are_renewed),
        SIGNED_TEST(a_call_goes_on_once_its_key_is_there),
        SIGNED_TEST(a_key_that_nobody_knows_is_told),
        SIGNED_TEST(ACCESS_WAITING_MAX_bounds_who_waits),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
