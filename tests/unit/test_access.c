/* tests/unit/test_access.c - who somebody is: each kind of credential, and what changes of records,
 * of time and of keys make of it.
 */
#include "tests/unit/access_rig.h"

#define NONE        CREDENTIAL_NONE
#define BEARER      CREDENTIAL_BEARER
#define CERTIFICATE CREDENTIAL_CERTIFICATE
#define NOT_VALID   "!the token is not valid"

/* ---- Nobody --------------------------------------------------------------------------------- */

static void nobody_may_do_everything_here_until_there_are_users(void **state)
{
    struct access *access;
    (void)state;
    assert_is(NONE, "", "", "!"); /* reached from outside */
    rules.is_loopback = true;
    assert_int_equal(identify(NONE, "", &access), 0);
    assert_true(role_is_super(access->role));
    assert_int_equal(access->user.n, 0);
    access_unref(access);
    rules.verifier = &verifier;
    bench.core->accesses->version = 99; /* as if the rules had always been so */
    assert_is(NONE, "", "", "!");
    rules.verifier = NULL;
    assert_is(NONE, "", "", "");
    make_user("ann", NULL);
    assert_is(NONE, "", "", "!");
    assert_null(last_why);
    assert_int_equal(manage_drop_user(&manager, STR("ann"), false), 0);
    assert_is(NONE, "", "", "");
}

static void nobody_has_the_role_that_the_operator_says(void **state)
{
    (void)state;
    rules.anonymous = ANONYMOUS_ROLE;
    rules.anonymous_role = STR("guest");
    assert_is(NONE, "", "", "!");
    put_role("guest", READER);
    assert_is(NONE, "", "", "guest");
    make_user("ann", NULL);
    assert_is(NONE, "", "", "guest");
    put_role("guest", SUPER);
    assert_is(NONE, "", "", "!");
    put_role("guest", READER);
    assert_is(NONE, "", "", "guest");
    assert_int_equal(manage_drop_role(&manager, STR("guest")), 0);
    assert_is(NONE, "", "", "!");
    rules = (struct access_rules){.anonymous = ANONYMOUS_OFF, .is_loopback = true};
    assert_is(NONE, "", "", "!");
}

static void without_rules_nobody_may_do_anything(void **state)
{
    (void)state;
    bench.core->config.access = NULL;
    assert_is(NONE, "", "", "!");
    assert_is(BEARER, "a/b", "", NOT_VALID);
    make_user("ann", "reader");
    assert_is(BEARER, make_token("ann", 0).text, "ann", "reader");
}

/* ---- Tokens --------------------------------------------------------------------------------- */

static void a_token_is_its_user(void **state)
{
    struct str both[] = {STR_INIT("reader"), STR_INIT("admin")};
    struct access *access;
    (void)state;
    make_user("ann", "reader");
    assert_int_equal(manage_create_user(&manager, STR("b\xc3\xb6 x"), both, 2), 0);
    make_user("none", NULL);
    struct manage_token ann = make_token("ann", 0), bo = make_token("b\xc3\xb6 x", 0);
    assert_is(BEARER, ann.text, "ann", "reader");
    assert_is(BEARER, bo.text, "b\xc3\xb6 x", "admin reader");
    assert_is(BEARER, make_token("none", 0).text, "none", "");
    assert_int_equal(identify(BEARER, bo.text, &access), 0);
    assert_true(role_is_super(access->role));
    assert_int_equal(access->expires_ms, INT64_MAX);
    access_unref(access);
    assert_int_equal(identify(BEARER, ann.text, &access), 0);
    assert_false(role_is_super(access->role));
    assert_true(role_may_table(access->role, STR("a"), STR("b"), MAY_READ));
    assert_false(role_may_table(access->role, STR("a"), STR("b"), MAY_UPDATE));
    access_unref(access);
}

static void who_has_no_role_may_do_nothing(void **state)
{
    struct access *access;
    (void)state;
    make_user("none", NULL);
    assert_int_equal(identify(BEARER, make_token("none", 0).text, &access), 0);
    assert_false(role_is_super(access->role));
    assert_false(role_may_table(access->role, STR("a"), STR("b"), MAY_DESCRIBE));
    assert_false(role_may_operation(access->role, STR("list_jobs")));
    access_unref(access);
}

static void what_is_no_token_is_refused(void **state)
{
    char text[ACCESS_TOKEN_BYTES + 2], *longer = calloc(1, CREDENTIAL_BYTES + 2);
    (void)state;
    rules.is_loopback = true; /* and a refused one never is nobody */
    assert_is(BEARER, "", "", NOT_VALID);
    assert_is(BEARER, "x", "", NOT_VALID);
    assert_is(BEARER, "tenon_", "", NOT_VALID);
    struct manage_token token;
    assert_int_equal(access_token_make(token.text), 0);
    assert_is(BEARER, token.text, "", NOT_VALID);
    make_user("ann", "reader");
    token = make_token("ann", 0);
    for (size_t i = 0; i < ACCESS_TOKEN_BYTES; i++) { /* each character counts */
        memcpy(text, token.text, sizeof token.text);
        text[i] = text[i] == 'A' ? 'B' : 'A';
        assert_is(BEARER, text, "", NOT_VALID);
    }
    snprintf(text, sizeof text, "%sA", token.text);
    assert_is(BEARER, text, "", NOT_VALID);
    memset(longer, 'a', CREDENTIAL_BYTES + 1);
    assert_is(BEARER, longer, "", "!the credential is too long");
    free(longer);
    assert_is(CERTIFICATE, token.text, "", "!the certificate is not that of a user");
    assert_is(BEARER, "ann", "", NOT_VALID);
}

static void a_token_expires(void **state)
{
    (void)state;
    make_user("ann", "reader");
    struct manage_token token = make_token("ann", clock_wall_ms() + 1000);
    assert_is(BEARER, token.text, "ann", "reader");
    clock_advance_ms(999);
    assert_is(BEARER, token.text, "ann", "reader");
    clock_advance_ms(1);
    assert_is(BEARER, token.text, "", "!the token has expired");
}

static void what_changes_counts_for_the_next_request(void **state)
{
    struct str admin = STR("admin"), user;
    (void)state;
    make_user("ann", "reader");
    make_user("root", "admin");
    struct manage_token token = make_token("ann", 0), other = make_token("ann", 0);
    assert_is(BEARER, token.text, "ann", "reader");
    struct manage_user_change change = {.roles = &admin, .n_roles = 1};
    assert_int_equal(manage_alter_user(&manager, STR("ann"), &change), 0);
    assert_is(BEARER, token.text, "ann", "admin");
    change = (struct manage_user_change){.disables = true};
    assert_int_equal(manage_alter_user(&manager, STR("ann"), &change), 0);
    assert_is(BEARER, token.text, "", "!the user is switched off");
    change = (struct manage_user_change){.enables = true};
    assert_int_equal(manage_alter_user(&manager, STR("ann"), &change), 0);
    assert_is(BEARER, token.text, "ann", "admin");
    assert_int_equal(manage_revoke_token(&manager, str_of(token.id), &user), 0);
    assert_is(BEARER, token.text, "", NOT_VALID);
    assert_is(BEARER, other.text, "ann", "admin");
    assert_int_equal(manage_drop_user(&manager, STR("ann"), false), 0);
    assert_is(BEARER, other.text, "", NOT_VALID);
    make_user("ann", "reader"); /* somebody else */
    assert_is(BEARER, other.text, "", NOT_VALID);
}

/* As one that survived the drop: made for another generation. */
static void a_token_of_another_generation_is_dead(void **state)
{
    struct access_key key;
    unsigned char hash[ACCESS_HASH_BYTES];
    char name[ACCESS_HASH_TEXT_BYTES + 1];
    struct manage_token token;
    struct buf text = {0};
    const struct access_token record = {.id = STR("0"),
                                        .user = STR("ann"),
                                        .generation = STR("00000000000000000000000000000000"),
                                        .label = STR("")};
    make_user("ann", "reader");
    assert_int_equal(access_key_open(bench.store, &key), 0);
    assert_int_equal(access_token_make(token.text), 0);
    assert_int_equal(access_hash(&key, ACCESS_HASH_TOKEN, str_of(token.text), hash), 0);
    access_key_close(&key);
    access_hex(hash, sizeof hash, name);
    access_token_write(&record, &text);
    struct store_access access = {
        .kind = STORE_TOKEN, .name = str_of(name), .record = buf_str(&text)};
    bench_write(*state, (struct store_op){
                            .kind = STORE_PUT_ACCESS, .if_version = STORE_ANY, .access = &access});
    assert_is(BEARER, token.text, "", NOT_VALID);
    buf_done(&text);
}

static void a_broken_record_lets_nobody_in(void **state)
{
    static const char *const records[] = {
        "",
        "{",
        "[]",
        "{}",
        "{\"roles\":[]}",
        "{\"roles\":[1],\"disabled\":false}",
        "{\"roles\":[\"admin\"],\"disabled\":0,\"generation\":\"\",\"created\":1}",
        "{\"roles\":[\"admin\"],\"disabled\":false,\"generation\":\"\",\"created\":-1}",
        "{\"roles\":[\"a b\"],\"disabled\":false,\"generation\":\"\",\"created\":1}"};
    struct access *access;
    for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
        struct store_access user = {
            .kind = STORE_USER, .name = STR("ann"), .record = str_of(records[i])};
        bench_write(
            *state,
            (struct store_op){.kind = STORE_PUT_ACCESS, .if_version = STORE_ANY, .access = &user});
        assert_int_equal(identify(CERTIFICATE, "ann", &access), ERR_STORE_DAMAGED);
    }
}

/* ---- Certificates --------------------------------------------------------------------------- */

static void a_certificate_is_the_user_of_its_name(void **state)
{
    struct manage_user_change change = {.disables = true};
    (void)state;
    assert_is(CERTIFICATE, "ann", "", "!the certificate is not that of a user");
    make_user("ann", "reader");
    assert_is(CERTIFICATE, "ann", "ann", "reader");
    assert_is(CERTIFICATE, "Ann", "", "!the certificate is not that of a user");
    assert_is(CERTIFICATE, "", "", "!the certificate is not that of a user");
    assert_is(CERTIFICATE, "ann\n", "", "!the certificate is not that of a user");
    assert_int_equal(manage_alter_user(&manager, STR("ann"), &change), 0);
    assert_is(CERTIFICATE, "ann", "", "!the user is switched off");
}

static void a_token_beside_a_certificate_is_of_the_same_user(void **state)
{
    struct access *access;
    const char *why;
    (void)state;
    make_user("ann", "reader");
    make_user("bo", "reader");
    struct manage_token token = make_token("ann", 0);
    struct credential both = {.kind = BEARER, .text = str_of(token.text), .also = STR("ann")};
    assert_int_equal(access_identify(bench.core, &both, &access, &why), 0);
    access_unref(access);
    both.also = STR("bo");
    assert_int_equal(access_identify(bench.core, &both, &access, &why), ERR_UNAUTHORIZED);
    assert_string_equal(why, "the token and the certificate name different users");
    both.also = STR("");
    assert_int_equal(access_identify(bench.core, &both, &access, &why), ERR_UNAUTHORIZED);
    both.kind = CERTIFICATE; /* a token is no name */
    assert_int_equal(access_identify(bench.core, &both, &access, &why), ERR_UNAUTHORIZED);
}

/* ---- Signed tokens -------------------------------------------------------------------------- */

static const struct access_scope scopes[] = {{STR_INIT("db:read"), STR_INIT("reader")},
                                             {STR_INIT("db:all"), STR_INIT("admin")},
                                             {STR_INIT("db:gone"), STR_INIT("nothing")}};

static void take_signed(bool by_scopes)
{
    rules.verifier = &verifier;
    rules.scopes = scopes;
    rules.n_scopes = by_scopes ? sizeof scopes / sizeof *scopes : 0;
}

static void assert_lacks_scope(const char *text)
{
    struct access *access;
    assert_int_equal(identify(BEARER, text, &access), ERR_SCOPE);
}

static void scopes_stand_for_roles(void **state)
{
    struct manage_user_change change = {.disables = true};
    (void)state;
    assert_is(BEARER, "ann/db:read", "", NOT_VALID); /* none are taken */
    take_signed(true);
    assert_is(BEARER, "ann/db:read", "ann", "reader");
    assert_is(BEARER, "ann/x db:read y", "ann", "reader");
    assert_is(BEARER, "ann/db:read db:all", "ann", "admin reader");
    assert_is(BEARER, "ann/db:all db:read db:read", "ann", "admin reader");
    assert_lacks_scope("ann/");
    assert_lacks_scope("ann/db:reader db:");
    assert_lacks_scope("ann/db:gone");
    make_user("ann", "admin"); /* who only gets what the token was granted */
    assert_is(BEARER, "ann/db:read", "ann", "reader");
    assert_lacks_scope("ann/");
    change.anyway = true;
    assert_int_equal(manage_alter_user(&manager, STR("ann"), &change), 0);
    assert_is(BEARER, "ann/db:read", "", "!the user is switched off");
}

static void without_scopes_the_record_says_the_roles(void **state)
{
    (void)state;
    take_signed(false);
    assert_lacks_scope("ann/db:read");
    make_user("ann", "reader");
    assert_is(BEARER, "ann/db:all", "ann", "reader");
    rules.required_scope = STR("tenon");
    assert_is(BEARER, "ann/db:all", "ann", "reader"); /* as it was found before */
    assert_lacks_scope("ann/tenon2 xtenon");
    assert_is(BEARER, "ann/db:all tenon", "ann", "reader");
}

static void a_subject_that_is_no_name_is_refused(void **state)
{
    (void)state;
    take_signed(true);
    assert_is(BEARER, "/db:read", "", NOT_VALID);
    assert_is(BEARER, "a\nb/db:read", "", NOT_VALID);
    assert_is(BEARER, " a/db:read", "", NOT_VALID);
    assert_is(BEARER, "a\xff/db:read", "", NOT_VALID);
    assert_is(BEARER, "a\xc2\x85/db:read", "", NOT_VALID);
    assert_is(BEARER, "a\xed\xa0\x80/db:read", "", NOT_VALID);
}

static void what_the_verifier_says_is_passed_on(void **state)
{
    struct access *access;
    (void)state;
    take_signed(true);
    rules.is_loopback = true;
    signer.err = ERR_UNAUTHORIZED;
    assert_is(BEARER, "ann/db:read", "", "!the signature is wrong");
    signer.err = ERR_BUSY;
    assert_int_equal(identify(BEARER, "ann/db:read", &access), ERR_BUSY);
    signer.err = ACCESS_LATER;
    assert_int_equal(identify(BEARER, "ann/db:read", &access), ACCESS_LATER);
    make_user("ann", "reader"); /* a token of ours is none of its matters */
    signer.err = ERR_UNAUTHORIZED;
    assert_is(BEARER, make_token("ann", 0).text, "ann", "reader");
}

static void a_signed_token_expires_behind_the_skew(void **state)
{
    struct access *access;
    (void)state;
    take_signed(true);
    rules.clock_skew_ms = 60000;
    signer.expires_ms = clock_wall_ms() + 1000;
    assert_int_equal(identify(BEARER, "ann/db:read", &access), 0);
    assert_int_equal(access->expires_ms, signer.expires_ms + 60000);
    access_unref(access);
    clock_advance_ms(60999);
    assert_is(BEARER, "ann/db:read", "ann", "reader");
    clock_advance_ms(1);
    assert_is(BEARER, "ann/db:read", "", "!the token has expired");
}

static void a_signature_is_verified_again_after_a_while(void **state)
{
    (void)state;
    take_signed(true);
    assert_is(BEARER, "ann/db:read", "ann", "reader");
    clock_advance_ms(ACCESS_SIGNED_MS - 1);
    assert_is(BEARER, "ann/db:read", "ann", "reader");
    assert_int_equal(signer.n_verified, 1);
    clock_advance_ms(1);
    assert_is(BEARER, "ann/db:read", "ann", "reader");
    assert_int_equal(signer.n_verified, 2);
    signer.err = ERR_UNAUTHORIZED; /* the key was withdrawn */
    clock_advance_ms(ACCESS_SIGNED_MS);
    assert_is(BEARER, "ann/db:read", "", "!the signature is wrong");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ACCESS_TEST(nobody_may_do_everything_here_until_there_are_users),
        ACCESS_TEST(nobody_has_the_role_that_the_operator_says),
        ACCESS_TEST(without_rules_nobody_may_do_anything),
        ACCESS_TEST(a_token_is_its_user),
        ACCESS_TEST(who_has_no_role_may_do_nothing),
        ACCESS_TEST(what_is_no_token_is_refused),
        ACCESS_TEST(a_token_expires),
        ACCESS_TEST(what_changes_counts_for_the_next_request),
        ACCESS_TEST(a_token_of_another_generation_is_dead),
        ACCESS_TEST(a_broken_record_lets_nobody_in),
        ACCESS_TEST(a_certificate_is_the_user_of_its_name),
        ACCESS_TEST(a_token_beside_a_certificate_is_of_the_same_user),
        ACCESS_TEST(scopes_stand_for_roles),
        ACCESS_TEST(without_scopes_the_record_says_the_roles),
        ACCESS_TEST(a_subject_that_is_no_name_is_refused),
        ACCESS_TEST(what_the_verifier_says_is_passed_on),
        ACCESS_TEST(a_signed_token_expires_behind_the_skew),
        ACCESS_TEST(a_signature_is_verified_again_after_a_while),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
