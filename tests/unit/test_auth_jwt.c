/* tests/unit/test_auth_jwt.c - signed tokens: each way to be good, and each way not to be. */
#include "auth/jwt.h"
#include "auth/uri.h"
#include "base/err.h"
#include "base/limits.h"
#include "jwt_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static EVP_PKEY *rsa, *other_rsa, *ec, *p384;
static struct key_set *set;
static struct buf token, jwks;
static struct arena arena;
static struct access_claims claims;
static const char *why;
static const struct jwt_rules rules = {STR_INIT(RIG_ISSUER), STR_INIT(RIG_AUDIENCE), 60000};

#define RS256 "{\"alg\":\"RS256\",\"kid\":\"r\"}"
#define ES256 "{\"alg\":\"ES256\",\"kid\":\"e\"}"

static void use_keys(const char *text)
{
    key_set_free(set);
    set = NULL;
    why = NULL;
    int err = key_set_parse(str_of(text), &set, &why);
    if (err)
        fail_msg("%s: %s", err_name(err), why ? why : "");
}

static const char *two_keys(void)
{
    buf_clear(&jwks);
    buf_add_lit(&jwks, "{\"keys\":[");
    rig_add_jwk(rsa, ",\"kid\":\"r\",\"use\":\"sig\",\"alg\":\"RS256\"", &jwks);
    buf_add_char(&jwks, ',');
    rig_add_jwk(ec, ",\"kid\":\"e\",\"key_ops\":[\"verify\"]", &jwks);
    buf_add(&jwks, "]}", 3);
    return jwks.p;
}

static int set_up(void **state)
{
    (void)state;
    rsa = EVP_RSA_gen(2048);
    other_rsa = EVP_RSA_gen(2048);
    ec = EVP_EC_gen("P-256");
    p384 = EVP_EC_gen("P-384");
    arena_init(&arena, 0);
    use_keys(two_keys());
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    key_set_free(set);
    EVP_PKEY_free(rsa);
    EVP_PKEY_free(other_rsa);
    EVP_PKEY_free(ec);
    EVP_PKEY_free(p384);
    buf_done(&token);
    buf_done(&jwks);
    arena_done(&arena);
    return 0;
}

static int judge_at(struct str text, int64_t now_ms)
{
    /* what is behind the token is not the token's */
    char *exact = malloc(text.n + 1);
    memcpy(exact, text.p, text.n);
    exact[text.n] = '.';
    why = NULL;
    memset(&claims, 0, sizeof claims);
    arena_reset(&arena);
    int err = jwt_verify(&rules, set, (struct str){exact, text.n}, now_ms, &arena, &claims, &why);
    free(exact);
    assert_true(err != ERR_UNAUTHORIZED || why);
    return err;
}

static int judge(struct str text)
{
    return judge_at(text, RIG_NOW_S * 1000);
}

static int judge_claims(const char *text)
{
    return judge(rig_sign(ec, ES256, text, &token));
}

static void assert_refused(int err, const char *because)
{
    if (err != ERR_UNAUTHORIZED || !why || strcmp(why, because) != 0)
        fail_msg("%s (%s), expected: %s", err_name(err), why ? why : "", because);
}

/* ---- Good ones ------------------------------------------------------------------------------ */

static void A_04_a_token_of_each_algorithm_is_good(void **state)
{
    (void)state;
    assert_int_equal(judge(rig_sign(rsa, RS256, "{" RIG_CLAIMS "}", &token)), 0);
    assert_true(str_eq(claims.subject, STR("ann")));
    assert_true(str_eq(claims.scopes, STR("")));
    assert_int_equal(claims.expires_ms, 1800000300000);
    assert_int_equal(judge(rig_sign(ec, ES256, "{" RIG_CLAIMS "}", &token)), 0);
}

static void scopes_come_from_scope_and_scp(void **state)
{
    static const struct {
        const char *more, *scopes;
    } cases[] = {
        {",\"scope\":\"a b\"", "a b"},
        {",\"scope\":\" a   b \"", "a b"},
        {",\"scope\":\"\"", ""},
        {",\"scp\":[\"a\",\"b:c\"]", "a b:c"},
        {",\"scp\":\"a b\"", "a b"},
        {",\"scp\":[]", ""},
        {",\"scope\":\"a\",\"scp\":[\"b\"]", "a b"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        snprintf(text, sizeof text, "{" RIG_CLAIMS "%s}", cases[i].more);
        assert_int_equal(judge_claims(text), 0);
        if (!str_eq(claims.scopes, str_of(cases[i].scopes)))
            fail_msg("%s: " STR_FMT, cases[i].more, STR_ARG(claims.scopes));
    }
}

static void A_05_the_audience_is_one_of_several_and_canonical(void **state)
{
    static const struct {
        const char *aud;
        bool good;
    } cases[] = {
        {"\"" RIG_AUDIENCE "\"", true},
        {"[\"x\",\"" RIG_AUDIENCE "\"]", true},
        {"\"HTTPS://MCP.example/mcp\"", true},
        {"\"https://mcp.example:443/mcp/\"", true},
        {"\"https://mcp.example/MCP\"", false},
        {"\"https://mcp.example/\"", false},
        {"\"https://mcp.example:8443/mcp\"", false},
        {"\"http://mcp.example/mcp\"", false},
        {"\"https://mcp.example/mcp#a\"", false},
        {"\"https://mcp.example/mcp?a\"", false},
        {"\"https://mcp.example.evil/mcp\"", false},
        {"\"https://mcp.example/mcp\\u0000\"", false},
        {"\"\"", false},
        {"[]", false},
        {"[1,null,{}]", false},
        {"null", false},
        {"{\"" RIG_AUDIENCE "\":\"" RIG_AUDIENCE "\"}", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "{\"iss\":\"" RIG_ISSUER "\",\"aud\":%s,\"sub\":\"a\",\"exp\":1800000300}",
                 cases[i].aud);
        int err = judge_claims(text);
        if ((err == 0) != cases[i].good)
            fail_msg("%s: %s", cases[i].aud, err_name(err));
        if (!cases[i].good)
            assert_refused(err, "not for this server");
    }
    assert_refused(judge_claims("{\"iss\":\"" RIG_ISSUER "\",\"sub\":\"a\",\"exp\":1800000300}"),
                   "not for this server");
}

static void A_13_a_server_is_named_in_many_ways(void **state)
{
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {
        {"https://a.example", "https://a.example/", true},
        {"https://a.example", "HTTPS://A.EXAMPLE", true},
        {"http://a.example:80/x", "http://a.example/x", true},
        {"http://[::1]:8750/mcp", "HTTP://[::1]:8750/mcp/", true},
        {"https://a.example/x?y=1", "https://a.example/x?y=1", true},
        {"https://a.example/x", "https://a.example/x//", false},
        {"https://a.example:443", "http://a.example:443", false},
        {"https://a.example/%41", "https://a.example/A", false},
        {"https://u@a.example", "https://a.example", false},
        {"https://a.example:0", "https://a.example", false},
        {"https://a.example:65536", "https://a.example", false},
        {"https://", "https:///", false},
        {"urn:tenon", "urn:tenon", true},
        {"urn:tenon", "urn:Tenon", false},
        {"api", "api", true},
        {"api", "api/", false},
        {"", "", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (uri_is_same(str_of(cases[i].a), str_of(cases[i].b)) != cases[i].same ||
            uri_is_same(str_of(cases[i].b), str_of(cases[i].a)) != cases[i].same)
            fail_msg("%s and %s", cases[i].a, cases[i].b);
}

static void A_17_keys_come_by_https_or_from_this_machine(void **state)
{
    static const char *safe[] = {"https://a.example/jwks", "HTTPS://a/",
                                 "http://127.0.0.1:80/j",  "http://127.9.9.9/",
                                 "http://[::1]:1/",        "http://localhost/x"};
    static const char *unsafe[] = {
        "http://a.example/jwks", "http://127.0.0.1.evil/",  "http://localhost.evil/",
        "ftp://localhost/",      "file:///etc/passwd",      "https://u:p@a.example/",
        "http://128.0.0.1/",     "http://[::2]/",           "http://127.0.0.1@evil/x",
        "https://a.example/x y", "https://a.example/\r\n",  "https:a.example",
        "http://0.0.0.0/",       "http://127.0.0.1%00.a/x", "",
        "https://[::1/"};
    (void)state;
    for (size_t i = 0; i < sizeof safe / sizeof *safe; i++)
        if (!uri_is_safe(str_of(safe[i])))
            fail_msg("%s", safe[i]);
    for (size_t i = 0; i < sizeof unsafe / sizeof *unsafe; i++)
        if (uri_is_safe(str_of(unsafe[i])))
            fail_msg("%s", unsafe[i]);
}

static void the_type_may_be_said(void **state)
{
    static const struct {
        const char *typ;
        bool good;
    } cases[] = {
        {"\"at+jwt\"", true},      {"\"AT+JWT\"", true}, {"\"application/at+jwt\"", true},
        {"\"JWT\"", true},         {"\"jwt\"", true},    {"\"dpop+jwt\"", false},
        {"\"logout+jwt\"", false}, {"1", false},         {"null", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char header[128];
        snprintf(header, sizeof header, "{\"alg\":\"ES256\",\"kid\":\"e\",\"typ\":%s}",
                 cases[i].typ);
        int err = judge(rig_sign(ec, header, "{" RIG_CLAIMS "}", &token));
        if (cases[i].good)
            assert_int_equal(err, 0);
        else
            assert_refused(err, "not an access token");
    }
}

/* ---- Times ---------------------------------------------------------------------------------- */

static void A_06_times_count_with_the_allowed_skew(void **state)
{
    static const struct {
        const char *times;
        int64_t now_s;
        const char *why; /* NULL: good */
    } cases[] = {
        {"\"exp\":100", 159, NULL},
        {"\"exp\":100", 160, "expired"},
        {"\"exp\":99.5", 159, NULL},
        {"\"exp\":0", 0, NULL},
        {"\"exp\":100,\"nbf\":110", 50, NULL},
        {"\"exp\":100,\"nbf\":111", 50, "not valid yet"},
        {"\"exp\":100,\"iat\":110", 50, NULL},
        {"\"exp\":100,\"iat\":111", 50, "issued in the future"},
        {"\"nbf\":1", 50, "exp is missing"},
        {"\"exp\":null", 50, "malformed token"},
        {"\"exp\":\"100\"", 50, "malformed token"},
        {"\"exp\":-1", 50, "malformed token"},
        {"\"exp\":1e999", 50, "malformed token"},
        {"\"exp\":1e300", 50, "malformed token"},
        {"\"exp\":1800000300000", 50, "malformed token"}, /* JWT_SECONDS_MAX: they are no seconds */
        {"\"exp\":253402300799", 50, NULL},
        {"\"exp\":253402300800", 50, "malformed token"},
        {"\"exp\":100,\"nbf\":\"1\"", 50, "malformed token"},
        {"\"exp\":100,\"iat\":true", 50, "malformed token"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "{\"iss\":\"" RIG_ISSUER "\",\"aud\":\"" RIG_AUDIENCE "\",\"sub\":\"a\",%s}",
                 cases[i].times);
        int err = judge_at(rig_sign(ec, ES256, text, &token), cases[i].now_s * 1000);
        if (cases[i].why)
            assert_refused(err, cases[i].why);
        else if (err)
            fail_msg("%s: %s", cases[i].times, why);
    }
}

/* ---- Claims that are wrong ------------------------------------------------------------------ */

static void wrong_claims_are_refused(void **state)
{
#define HEAD "\"iss\":\"" RIG_ISSUER "\",\"aud\":\"" RIG_AUDIENCE "\",\"exp\":1800000300"
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"{\"iss\":\"https://issuer.example\",\"aud\":\"" RIG_AUDIENCE
         "\",\"sub\":\"a\",\"exp\":1800000300}",
         "another issuer"},
        {"{\"aud\":\"" RIG_AUDIENCE "\",\"sub\":\"a\",\"exp\":1800000300}", "another issuer"},
        {"{\"iss\":[\"" RIG_ISSUER "\"],\"aud\":\"" RIG_AUDIENCE "\",\"sub\":\"a\"}",
         "another issuer"},
        {"{" HEAD "}", "sub is missing"},
        {"{" HEAD ",\"sub\":\"\"}", "sub is missing"},
        {"{" HEAD ",\"sub\":7}", "sub is missing"},
        {"{" HEAD ",\"sub\":\"a\\nb\"}", "malformed token"},
        {"{" HEAD ",\"sub\":\"a\\u0000\"}", "malformed token"},
        {"{" RIG_CLAIMS ",\"sub\":\"root\"}", "malformed token"},
        {"{" RIG_CLAIMS ",\"s\\u0075b\":\"root\"}", "malformed token"},
        {"{" RIG_CLAIMS ",\"aud\":\"x\"}", "malformed token"},
        {"{" RIG_CLAIMS ",\"scope\":1}", "malformed token"},
        {"{" RIG_CLAIMS ",\"scope\":\"a\\\"b\"}", "malformed token"},
        {"{" RIG_CLAIMS ",\"scope\":\"a\\tb\"}", "malformed token"},
        {"{" RIG_CLAIMS ",\"scp\":[\"a\",1]}", "malformed token"},
        {"{" RIG_CLAIMS ",\"scp\":{}}", "malformed token"},
        {"{" RIG_CLAIMS ",\"cnf\":{\"jkt\":\"x\"}}", "bound to a key, which is not supported"},
        {"[]", "malformed token"},
        {"\"x\"", "malformed token"},
        {"{" RIG_CLAIMS "", "malformed token"},
        {"{" RIG_CLAIMS "}}", "malformed token"},
        {"{" RIG_CLAIMS ",\"x\":\"\xff\"}", "malformed token"},
        {"\xef\xbb\xbf{" RIG_CLAIMS "}", "malformed token"},
        {" ", "malformed token"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_refused(judge_claims(cases[i].text), cases[i].why);
}

static void beyond_ACCESS_NAME_BYTES_a_subject_is_refused(void **state)
{
    (void)state;
    for (int over = 0; over < 2; over++) {
        char text[1024];
        snprintf(text, sizeof text, "{" HEAD ",\"sub\":\"%0*d\"}", ACCESS_NAME_BYTES + over, 0);
        int err = judge_claims(text);
        if (over)
            assert_refused(err, "sub is too long");
        else
            assert_int_equal(err, 0);
    }
}

/* Behind the signature too: a fault of the issuer's must not take the server down. */
static void deep_json_is_refused(void **state)
{
    char text[2048] = "{" RIG_CLAIMS ",\"x\":";
    size_t n = strlen(text);
    (void)state;
    memset(text + n, '[', 600);
    memset(text + n + 600, ']', 600);
    strcpy(text + n + 1200, "}");
    assert_refused(judge_claims(text), "malformed token");
    assert_refused(judge(rig_sign(ec, text, "{" RIG_CLAIMS "}", &token)), "malformed token");
}

static void beyond_CREDENTIAL_BYTES_a_token_is_refused_unread(void **state)
{
    char text[3 * CREDENTIAL_BYTES / 4 + 512];
    (void)state;
    for (int over = 0; over < 2; over++) {
        int n = (CREDENTIAL_BYTES - 140) * 3 / 4 - 200 + over * 300;
        snprintf(text, sizeof text, "{" RIG_CLAIMS ",\"x\":\"%0*d\"}", n, 0);
        int err = judge_claims(text);
        assert_int_equal(token.n > CREDENTIAL_BYTES, over);
        if (over)
            assert_refused(err, "the token is too long");
        else
            assert_int_equal(err, 0);
    }
}

/* ---- Headers and signatures ----------------------------------------------------------------- */

static void wrong_headers_are_refused(void **state)
{
    static const struct {
        const char *header, *why;
    } cases[] = {
        {"{}", "the algorithm is not allowed"},
        {"{\"alg\":\"none\",\"kid\":\"e\"}", "the algorithm is not allowed"},
        {"{\"alg\":\"None\"}", "the algorithm is not allowed"},
        {"{\"alg\":\"es256\",\"kid\":\"e\"}", "the algorithm is not allowed"},
        {"{\"alg\":\"ES384\",\"kid\":\"e\"}", "the algorithm is not allowed"},
        {"{\"alg\":\"HS256\",\"kid\":\"e\"}", "the algorithm is not allowed"},
        {"{\"alg\":\"EdDSA\",\"kid\":\"e\"}", "the algorithm is not allowed"},
        {"{\"alg\":[\"ES256\"],\"kid\":\"e\"}", "the algorithm is not allowed"},
        {"{\"alg\":\"none\",\"alg\":\"ES256\"}", "malformed token"},
        {"{\"alg\":\"ES256\",\"\\u0061lg\":\"none\"}", "malformed token"},
        {"{\"alg\":\"ES256\",\"kid\":1}", "not an access token"},
        {"{\"alg\":\"ES256\",\"kid\":\"e\",\"crit\":[\"exp\"]}", "crit is not supported"},
        {"{\"alg\":\"ES256\",\"kid\":\"e\",\"crit\":[]}", "crit is not supported"},
        {"{\"alg\":\"ES256\",\"kid\":\"e\",\"b64\":false,\"crit\":[\"b64\"]}",
         "crit is not supported"},
        {"[\"ES256\"]", "malformed token"},
        {"null", "malformed token"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_refused(judge(rig_sign(ec, cases[i].header, "{" RIG_CLAIMS "}", &token)),
                       cases[i].why);
}

static void alg_none_has_no_way_in(void **state)
{
    (void)state;
    assert_refused(judge(rig_sign(NULL, "{\"alg\":\"none\"}", "{" RIG_CLAIMS "}", &token)),
                   "malformed token");
    assert_refused(judge(rig_sign(NULL, ES256, "{" RIG_CLAIMS "}", &token)), "malformed token");
}

/* The old trick: what everybody may know, the public key, as a secret. */
static void the_public_key_is_no_secret(void **state)
{
    static const char *headers[] = {"{\"alg\":\"HS256\",\"kid\":\"r\"}", "{\"alg\":\"HS256\"}",
                                    RS256, "{\"alg\":\"HS384\",\"kid\":\"r\"}"};
    struct buf jwk = {0};
    unsigned char *der = NULL;
    (void)state;
    int n_der = i2d_PUBKEY(rsa, &der);
    rig_add_jwk(rsa, "", &jwk);
    const struct str secrets[] = {buf_str(&jwk), {(char *)der, (uint32_t)n_der}, STR("")};
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        for (size_t k = 0; k < sizeof secrets / sizeof *secrets; k++)
            assert_int_equal(
                judge(rig_sign_hmac(secrets[k], headers[i], "{" RIG_CLAIMS "}", &token)),
                ERR_UNAUTHORIZED);
    OPENSSL_free(der);
    buf_done(&jwk);
}

static void a_symmetric_key_of_the_set_is_never_used(void **state)
{
    (void)state;
    use_keys("{\"keys\":[{\"kty\":\"oct\",\"kid\":\"o\",\"k\":"
             "\"c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2Vj\"}]}");
    assert_int_equal(key_set_count(set), 0);
    assert_refused(
        judge(rig_sign_hmac(STR("secretsecretsecretsecretsec"), "{\"alg\":\"HS256\",\"kid\":\"o\"}",
                            "{" RIG_CLAIMS "}", &token)),
        "the algorithm is not allowed");
    use_keys(two_keys());
}

/* A header that says where its key lies, or brings it along. */
static void keys_of_the_header_are_never_used(void **state)
{
    struct buf header = {0};
    (void)state;
    buf_add_lit(&header, "{\"alg\":\"RS256\",\"kid\":\"r\",\"jku\":\"http://127.0.0.1:1/\","
                         "\"x5u\":\"http://127.0.0.1:1/\",\"x5c\":[\"x\"],\"jwk\":");
    rig_add_jwk(other_rsa, "", &header);
    buf_add(&header, "}", 2);
    assert_refused(judge(rig_sign(other_rsa, header.p, "{" RIG_CLAIMS "}", &token)),
                   "the signature is wrong");
    assert_int_equal(judge(rig_sign(rsa, header.p, "{" RIG_CLAIMS "}", &token)), 0);
    buf_done(&header);
}

static void A_04_a_token_that_was_changed_anywhere_is_refused(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        rig_sign(k ? ec : rsa, k ? ES256 : RS256, "{" RIG_CLAIMS "}", &token);
        for (size_t i = 0; i < token.n; i++) {
            char was = token.p[i];
            token.p[i] = was == '.' ? 'A' : was == 'A' ? 'B' : 'A';
            int err = judge(buf_str(&token));
            if (err != ERR_UNAUTHORIZED && err != KEY_UNKNOWN) /* or it names another key */
                fail_msg("byte %zu of %zu: %s", i, token.n, err_name(err));
            token.p[i] = was;
        }
        assert_int_equal(judge(buf_str(&token)), 0);
    }
}

static void a_token_cut_anywhere_is_refused(void **state)
{
    (void)state;
    rig_sign(ec, ES256, "{" RIG_CLAIMS "}", &token);
    for (uint32_t n = 0; n < token.n; n++)
        assert_int_equal(judge((struct str){token.p, n}), ERR_UNAUTHORIZED);
}

static void only_three_parts_in_strict_base64url_are_a_token(void **state)
{
    static const char *behind[] = {".",    "=",     "==", " ", "\n",  "A",
                                   "AAAA", ".AAAA", "+",  "/", "\x01"};
    (void)state;
    for (size_t i = 0; i < sizeof behind / sizeof *behind; i++) {
        rig_sign(rsa, RS256, "{" RIG_CLAIMS "}", &token);
        buf_add_str(&token, str_of(behind[i]));
        assert_int_equal(judge(buf_str(&token)), ERR_UNAUTHORIZED);
    }
    static const char *texts[] = {"",
                                  ".",
                                  "..",
                                  "...",
                                  "a",
                                  "a.b",
                                  "a.b.c",
                                  "e30.e30.",
                                  ".e30.e30",
                                  "e30..e30",
                                  "e30.e30.e30.e30",
                                  "e30=.e30.e30",
                                  "e31.e30.e30"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(judge(str_of(texts[i])), ERR_UNAUTHORIZED);
}

/* The last digit of a part holds bits that no byte has: another text of the same bytes. */
static void stray_bits_of_the_signature_are_refused(void **state)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    (void)state;
    rig_sign(ec, ES256, "{" RIG_CLAIMS "}", &token); /* 64 bytes: the last digit has four of them */
    const char *at = strchr(digits, token.p[token.n - 1]);
    token.p[token.n - 1] = at[1];
    assert_refused(judge(buf_str(&token)), "the signature is wrong");
}

static void an_ES256_signature_has_64_bytes(void **state)
{
    struct buf part = {0};
    (void)state;
    static const unsigned char zeros[128];
    for (size_t n = 1; n <= sizeof zeros; n++) {
        rig_sign(NULL, ES256, "{" RIG_CLAIMS "}", &token);
        rig_encode(zeros, n, &token);
        assert_refused(judge(buf_str(&token)), "the signature is wrong");
    }
    buf_done(&part);
}

/* ---- Which key ------------------------------------------------------------------------------ */

static void a_key_is_found_by_its_name(void **state)
{
    (void)state;
    use_keys(two_keys());
    assert_int_equal(judge(rig_sign(rsa, "{\"alg\":\"RS256\"}", "{" RIG_CLAIMS "}", &token)), 0);
    assert_int_equal(
        judge(rig_sign(rsa, "{\"alg\":\"RS256\",\"kid\":\"x\"}", "{" RIG_CLAIMS "}", &token)),
        KEY_UNKNOWN);
    /* of that name, but of another kind */
    assert_int_equal(
        judge(rig_sign(rsa, "{\"alg\":\"RS256\",\"kid\":\"e\"}", "{" RIG_CLAIMS "}", &token)),
        KEY_UNKNOWN);
    assert_refused(judge(rig_sign(other_rsa, RS256, "{" RIG_CLAIMS "}", &token)),
                   "the signature is wrong");
    assert_int_equal(judge(rig_sign(other_rsa, "{\"alg\":\"RS256\"}", "{" RIG_CLAIMS "}", &token)),
                     KEY_UNKNOWN);
}

static void keys_without_a_name_are_tried_up_to_JWKS_TRIES_MAX(void **state)
{
    (void)state;
    for (int before = JWKS_TRIES_MAX - 1; before <= JWKS_TRIES_MAX; before++) {
        buf_clear(&jwks);
        buf_add_lit(&jwks, "{\"keys\":[");
        for (int i = 0; i < before; i++) {
            rig_add_jwk(other_rsa, "", &jwks);
            buf_add_char(&jwks, ',');
        }
        rig_add_jwk(rsa, "", &jwks);
        buf_add(&jwks, "]}", 3);
        use_keys(jwks.p);
        assert_int_equal(judge(rig_sign(rsa, RS256, "{" RIG_CLAIMS "}", &token)),
                         before < JWKS_TRIES_MAX ? 0 : KEY_UNKNOWN);
    }
    use_keys(two_keys());
}

static void no_keys_is_an_unknown_key(void **state)
{
    struct key_set *all = set;
    (void)state;
    set = NULL;
    assert_int_equal(judge(rig_sign(rsa, RS256, "{" RIG_CLAIMS "}", &token)), KEY_UNKNOWN);
    assert_refused(judge(STR("a.b.c")), "malformed token");
    set = all;
}

/* Whatever allocation of the arena fails, that is said, and nothing else. */
static void without_memory_no_token_is_judged(void **state)
{
    static const struct {
        const char *claims;
        int err;
    } cases[] = {{"{" RIG_CLAIMS ",\"scope\":\"a b\"}", 0},
                 {"{" RIG_CLAIMS ",\"sub\":\"twice\"}", ERR_UNAUTHORIZED}};
    struct access_claims none;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct str text = rig_sign(ec, ES256, cases[i].claims, &token);
        int err = ERR_NO_MEMORY;
        for (size_t limit = 64; err == ERR_NO_MEMORY; limit += 64) {
            struct arena little;
            arena_init(&little, limit);
            err = jwt_verify(&rules, set, text, RIG_NOW_S * 1000, &little, &none, &why);
            arena_done(&little);
            assert_true(limit < 1 << 20);
        }
        assert_int_equal(err, cases[i].err);
    }
}

/* ---- Sets of keys --------------------------------------------------------------------------- */

static uint32_t count_with(const EVP_PKEY *key, const char *more)
{
    buf_clear(&jwks);
    buf_add_lit(&jwks, "{\"keys\":[");
    rig_add_jwk(key, more, &jwks);
    buf_add(&jwks, "]}", 3);
    use_keys(jwks.p);
    return key_set_count(set);
}

static void what_is_not_for_signatures_is_passed_over(void **state)
{
    (void)state;
    assert_int_equal(count_with(rsa, ""), 1);
    assert_int_equal(count_with(rsa, ",\"use\":\"sig\",\"x5t\":\"y\""), 1);
    assert_int_equal(count_with(rsa, ",\"use\":\"enc\""), 0);
    assert_int_equal(count_with(rsa, ",\"use\":1"), 0);
    assert_int_equal(count_with(rsa, ",\"key_ops\":[\"encrypt\"]"), 0);
    assert_int_equal(count_with(rsa, ",\"alg\":\"RSA-OAEP\""), 0);
    assert_int_equal(count_with(rsa, ",\"alg\":\"PS256\""), 0);
    assert_int_equal(count_with(rsa, ",\"kid\":5"), 0);
    assert_int_equal(count_with(rsa, ",\"kty\":\"oct\""), 0);
    assert_int_equal(count_with(ec, ",\"alg\":\"ES256\""), 1);
    assert_int_equal(count_with(ec, ",\"alg\":\"RS256\""), 0);
    assert_int_equal(count_with(p384, ""), 0);
    use_keys(two_keys());
}

static void keys_shorter_than_RSA_BITS_MIN_or_longer_than_RSA_BITS_MAX_are_not_used(void **state)
{
    static const struct {
        uint32_t bits, n;
    } cases[] = {
        {RSA_BITS_MIN - 8, 0}, {RSA_BITS_MIN, 1}, {RSA_BITS_MAX, 1}, {RSA_BITS_MAX + 8, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char n[RSA_BITS_MAX / 8 + 2];
        memset(n, 0xff, sizeof n);
        buf_clear(&jwks);
        buf_add_lit(&jwks, "{\"keys\":[{\"kty\":\"RSA\",\"e\":\"AQAB\",\"n\":\"");
        rig_encode(n, cases[i].bits / 8, &jwks);
        buf_add(&jwks, "\"}]}", 5);
        use_keys(jwks.p);
        assert_int_equal(key_set_count(set), cases[i].n);
    }
    use_keys(two_keys());
}

static void broken_keys_are_passed_over(void **state)
{
    static const char *keys[] = {
        "1",
        "null",
        "[]",
        "{}",
        "{\"kty\":\"RSA\"}",
        "{\"kty\":\"RSA\",\"n\":\"AQAB\",\"e\":\"AQAB\"}",
        "{\"kty\":\"RSA\",\"n\":\"!\",\"e\":\"AQAB\"}",
        "{\"kty\":\"EC\",\"crv\":\"P-256\"}",
        "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"AA\",\"y\":\"AA\"}",
        /* no point of the curve */
        "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\","
        "\"y\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"}",
        "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":"
        "\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"}",
    };
    char text[1024];
    (void)state;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        snprintf(text, sizeof text, "{\"keys\":[%s]}", keys[i]);
        use_keys(text);
        if (key_set_count(set))
            fail_msg("%s", keys[i]);
    }
    use_keys("{\"keys\":[]}");
    assert_int_equal(judge(rig_sign(rsa, RS256, "{" RIG_CLAIMS "}", &token)), KEY_UNKNOWN);
    use_keys(two_keys());
}

static void refused_set(const char *text, int err, const char *because)
{
    struct key_set *none = NULL;
    why = NULL;
    assert_int_equal(key_set_parse(str_of(text), &none, &why), err);
    assert_null(none);
    assert_string_equal(why, because);
}

static void what_is_no_set_is_refused(void **state)
{
    static const char *texts[] = {"[]", "{}", "{\"keys\":{}}", "{\"keys\":[],\"keys\":[]}", "1"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        refused_set(texts[i], ERR_PARAMS, "no JSON Web Key Set: an object with \"keys\"");
    refused_set("", ERR_PARAMS, "no JSON");
    refused_set("<html>", ERR_PARAMS, "no JSON");
    refused_set("{\"keys\":[", ERR_PARAMS, "no JSON");
}

static void beyond_JWKS_KEYS_MAX_and_JWKS_BYTES_a_set_is_refused(void **state)
{
    (void)state;
    buf_clear(&jwks);
    buf_add_lit(&jwks, "{\"keys\":[{}");
    for (int i = 1; i < JWKS_KEYS_MAX; i++)
        buf_add_lit(&jwks, ",{}");
    size_t n = jwks.n;
    buf_add(&jwks, "]}", 3);
    use_keys(jwks.p);
    jwks.n = n;
    buf_add(&jwks, ",{}]}", 6);
    refused_set(jwks.p, ERR_LIMIT, "too many keys");

    buf_clear(&jwks);
    buf_add_lit(&jwks, "{\"keys\":[]}");
    while (jwks.n < JWKS_BYTES)
        buf_add_char(&jwks, ' ');
    buf_add_char(&jwks, '\0');
    use_keys(jwks.p);
    jwks.p[jwks.n - 1] = ' ';
    buf_add_char(&jwks, '\0');
    refused_set(jwks.p, ERR_LIMIT, "too large");
    use_keys(two_keys());
}

/* The densest text that JWKS_BYTES hold is read within JWKS_TREE_BYTES. */
static void JWKS_TREE_BYTES_hold_any_set(void **state)
{
    (void)state;
    buf_clear(&jwks);
    buf_add_lit(&jwks, "{\"keys\":[],\"x\":[0");
    while (jwks.n < JWKS_BYTES - 4)
        buf_add_lit(&jwks, ",0");
    buf_add(&jwks, "]}", 3);
    use_keys(jwks.p);
    use_keys(two_keys());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(A_04_a_token_of_each_algorithm_is_good),
        cmocka_unit_test(scopes_come_from_scope_and_scp),
        cmocka_unit_test(A_05_the_audience_is_one_of_several_and_canonical),
        cmocka_unit_test(A_13_a_server_is_named_in_many_ways),
        cmocka_unit_test(A_17_keys_come_by_https_or_from_this_machine),
        cmocka_unit_test(the_type_may_be_said),
        cmocka_unit_test(A_06_times_count_with_the_allowed_skew),
        cmocka_unit_test(wrong_claims_are_refused),
        cmocka_unit_test(beyond_ACCESS_NAME_BYTES_a_subject_is_refused),
        cmocka_unit_test(deep_json_is_refused),
        cmocka_unit_test(beyond_CREDENTIAL_BYTES_a_token_is_refused_unread),
        cmocka_unit_test(wrong_headers_are_refused),
        cmocka_unit_test(alg_none_has_no_way_in),
        cmocka_unit_test(the_public_key_is_no_secret),
        cmocka_unit_test(a_symmetric_key_of_the_set_is_never_used),
        cmocka_unit_test(keys_of_the_header_are_never_used),
        cmocka_unit_test(A_04_a_token_that_was_changed_anywhere_is_refused),
        cmocka_unit_test(a_token_cut_anywhere_is_refused),
        cmocka_unit_test(only_three_parts_in_strict_base64url_are_a_token),
        cmocka_unit_test(stray_bits_of_the_signature_are_refused),
        cmocka_unit_test(an_ES256_signature_has_64_bytes),
        cmocka_unit_test(a_key_is_found_by_its_name),
        cmocka_unit_test(keys_without_a_name_are_tried_up_to_JWKS_TRIES_MAX),
        cmocka_unit_test(no_keys_is_an_unknown_key),
        cmocka_unit_test(without_memory_no_token_is_judged),
        cmocka_unit_test(what_is_not_for_signatures_is_passed_over),
        cmocka_unit_test(keys_shorter_than_RSA_BITS_MIN_or_longer_than_RSA_BITS_MAX_are_not_used),
        cmocka_unit_test(broken_keys_are_passed_over),
        cmocka_unit_test(what_is_no_set_is_refused),
        cmocka_unit_test(beyond_JWKS_KEYS_MAX_and_JWKS_BYTES_a_set_is_refused),
        cmocka_unit_test(JWKS_TREE_BYTES_hold_any_set),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
