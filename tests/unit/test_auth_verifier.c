/* tests/unit/test_auth_verifier.c - where keys come from: rotation, outage, what is refused as a
 * source, and how seldom the authorization server is asked. */
#include "auth/fetch.h"
#include "auth/verifier.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/limits.h"
#include "jwt_rig.h"
#include "key_server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <signal.h>
#include <sys/stat.h>

#define MAX_AGE_MS 600000
#define LATER      1

static EVP_PKEY *one, *two;
static struct key_server server;
static struct access_verifier *verifier;
static struct arena arena;
static struct buf scratch;
static const char *why;
static char path[64], url[64];

static struct str token_of(EVP_PKEY *key)
{
    return rig_sign(key,
                    key == one ? "{\"alg\":\"ES256\",\"kid\":\"one\"}"
                               : "{\"alg\":\"ES256\",\"kid\":\"two\"}",
                    "{" RIG_CLAIMS "}", &scratch);
}

static const char *set_of(EVP_PKEY *key)
{
    buf_clear(&scratch);
    buf_add_lit(&scratch, "{\"keys\":[");
    rig_add_jwk(key, key == one ? ",\"kid\":\"one\"" : ",\"kid\":\"two\"", &scratch);
    buf_add(&scratch, "]}", 3);
    return scratch.p;
}

static void put_file(const char *text)
{
    char new_path[80];
    snprintf(new_path, sizeof new_path, "%s.new", path);
    FILE *f = fopen(new_path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    assert_int_equal(rename(new_path, path), 0);
}

static void open_verifier(const char *jwks)
{
    const struct auth_config config = {STR_INIT(RIG_ISSUER), STR_INIT(RIG_AUDIENCE), jwks,
                                       MAX_AGE_MS, 60000};
    assert_int_equal(auth_verifier_new(&config, &verifier), 0);
}

static int judge(struct str token)
{
    struct access_claims claims;
    why = NULL;
    arena_reset(&arena);
    return verifier->verify(verifier->ctx, token, RIG_NOW_S * 1000, &arena, &claims, &why);
}

/* As core does: once more when the keys were fetched. */
static int ask(EVP_PKEY *key)
{
    int err = judge(token_of(key));
    if (err != LATER)
        return err;
    err = verifier->fetch(verifier->ctx);
    return err ? err : judge(token_of(key));
}

static int set_up(void **state)
{
    (void)state;
    one = EVP_EC_gen("P-256");
    two = EVP_EC_gen("P-256");
    arena_init(&arena, 0);
    snprintf(path, sizeof path, "/tmp/tenon-jwks.%d", getpid());
    signal(SIGPIPE, SIG_IGN); /* OpenSSL writes to who has gone */
    unsetenv("SSL_CERT_FILE");
    setenv("http_proxy", "http://127.0.0.1:1", 1); /* is not for this machine */
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    EVP_PKEY_free(one);
    EVP_PKEY_free(two);
    buf_done(&scratch);
    arena_done(&arena);
    return 0;
}

static int start(void **state)
{
    (void)state;
    key_server_start(&server);
    snprintf(url, sizeof url, "http://127.0.0.1:%u/jwks", server.port);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    auth_verifier_free(verifier);
    verifier = NULL;
    key_server_stop(&server);
    unlink(path);
    return 0;
}

/* ---- Files ---------------------------------------------------------------------------------- */

static void keys_of_a_file_are_read_when_they_are_first_needed(void **state)
{
    (void)state;
    put_file(set_of(one));
    open_verifier(path);
    assert_int_equal(judge(token_of(one)), LATER);
    assert_int_equal(verifier->fetch(verifier->ctx), 0);
    assert_int_equal(judge(token_of(one)), 0);
    assert_int_equal(judge(token_of(one)), 0);
}

static void a_file_that_was_changed_is_read_after_JWKS_FILE_AGAIN_MS(void **state)
{
    (void)state;
    put_file(set_of(one));
    open_verifier(path);
    assert_int_equal(ask(one), 0);
    put_file(set_of(two));
    assert_int_equal(judge(token_of(two)), ERR_UNAUTHORIZED);
    assert_string_equal(why, "its key is not known");
    assert_int_equal(judge(token_of(one)), 0);
    clock_advance_ms(JWKS_FILE_AGAIN_MS);
    assert_int_equal(ask(two), 0);
    assert_int_equal(ask(one), ERR_UNAUTHORIZED); /* withdrawn */
}

static void one_request_renews_old_keys_and_the_others_go_on(void **state)
{
    (void)state;
    put_file(set_of(one));
    open_verifier(path);
    assert_int_equal(ask(one), 0);
    clock_advance_ms(JWKS_FILE_AGAIN_MS);
    assert_int_equal(judge(token_of(one)), LATER);
    assert_int_equal(judge(token_of(one)), 0);
    assert_int_equal(judge(token_of(one)), 0);
}

static void without_a_file_nobody_gets_in_and_nobody_is_refused(void **state)
{
    (void)state;
    open_verifier(path);
    assert_int_equal(ask(one), ERR_BUSY);
    assert_int_equal(judge(token_of(one)), ERR_BUSY);
    put_file(set_of(one));
    clock_advance_ms(JWKS_FILE_AGAIN_MS);
    assert_int_equal(ask(one), 0);
}

static void a_file_that_breaks_leaves_the_old_keys(void **state)
{
    static const char *texts[] = {"", "{\"keys\":[", "[]"};
    (void)state;
    put_file(set_of(one));
    open_verifier(path);
    assert_int_equal(ask(one), 0);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        put_file(texts[i]);
        clock_advance_ms(JWKS_FILE_AGAIN_MS);
        assert_int_equal(ask(one), 0);
        assert_int_equal(ask(two), ERR_BUSY); /* it may be good: the keys cannot be had */
    }
    put_file(set_of(two));
    clock_advance_ms(JWKS_FILE_AGAIN_MS);
    assert_int_equal(ask(two), 0);
    assert_int_equal(ask(one), ERR_UNAUTHORIZED);
}

static void an_empty_set_withdraws_all_keys(void **state)
{
    (void)state;
    put_file(set_of(one));
    open_verifier(path);
    assert_int_equal(ask(one), 0);
    put_file("{\"keys\":[]}");
    clock_advance_ms(JWKS_FILE_AGAIN_MS);
    assert_int_equal(ask(one), ERR_UNAUTHORIZED);
}

static void assert_unreadable(const char *because)
{
    struct fetch_mark mark = {0};
    struct buf text = {.limit = JWKS_BYTES};
    char said[FETCH_WHY_BYTES];
    assert_int_equal(fetch_file(path, &mark, &text, said), ERR_IO);
    assert_string_equal(said, because);
    assert_true(auth_check_file(path) < 0);
    buf_done(&text);
}

static void only_a_plain_file_that_not_everybody_writes_is_a_source(void **state)
{
    (void)state;
    assert_unreadable("No such file or directory");
    put_file(set_of(one));
    chmod(path, 0666);
    assert_unreadable("everybody may write it");
    chmod(path, 0644);
    assert_int_equal(auth_check_file(path), 0);
    put_file("{}");
    assert_int_equal(auth_check_file(path), ERR_PARAMS);
    unlink(path);
    mkdir(path, 0700);
    assert_unreadable("no plain file");
    rmdir(path);
    mkfifo(path, 0600); /* it would be waited for */
    assert_unreadable("no plain file");
    unlink(path);
    FILE *f = fopen(path, "w");
    assert_int_equal(ftruncate(fileno(f), JWKS_BYTES + 1), 0);
    fclose(f);
    assert_unreadable("too large");
}

/* ---- URLs ----------------------------------------------------------------------------------- */

static void keys_of_a_URL_rotate(void **state)
{
    (void)state;
    key_server_says(&server, "200 OK", set_of(one));
    open_verifier(url);
    assert_int_equal(ask(one), 0);
    assert_non_null(strstr(server.asked, "GET /jwks HTTP/1.1\r\n"));
    assert_non_null(strstr(server.asked, "\r\nAccept: application/jwk-set+json"));
    key_server_says(&server, "200 OK", set_of(two));
    clock_advance_ms(JWKS_FETCH_AGAIN_MS);
    assert_int_equal(ask(two), 0);
    assert_int_equal(ask(one), ERR_UNAUTHORIZED);
    assert_int_equal(key_server_asked(&server), 2);
}

static void unknown_keys_are_asked_for_once_in_JWKS_FETCH_AGAIN_MS(void **state)
{
    (void)state;
    key_server_says(&server, "200 OK", set_of(one));
    open_verifier(url);
    for (int i = 0; i < 50; i++)
        assert_int_equal(ask(two), ERR_UNAUTHORIZED);
    assert_int_equal(key_server_asked(&server), 1);
    clock_advance_ms(JWKS_FETCH_AGAIN_MS - 1000);
    assert_int_equal(ask(two), ERR_UNAUTHORIZED);
    assert_int_equal(key_server_asked(&server), 1);
    clock_advance_ms(1000);
    assert_int_equal(ask(two), ERR_UNAUTHORIZED);
    assert_int_equal(key_server_asked(&server), 2);
    for (int i = 0; i < 50; i++) /* whoever calls it */
        assert_int_equal(verifier->fetch(verifier->ctx), 0);
    assert_int_equal(key_server_asked(&server), 2);
}

static void what_is_refused_costs_no_fetch(void **state)
{
    static const char *texts[] = {"a.b.c", "..", "e30.e30.AA"};
    (void)state;
    open_verifier(url);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(judge(str_of(texts[i])), ERR_UNAUTHORIZED);
}

static void an_outage_is_borne_for_JWKS_OUTAGE_FACTOR_ages(void **state)
{
    (void)state;
    key_server_says(&server, "200 OK", set_of(one));
    open_verifier(url);
    assert_int_equal(ask(one), 0);
    key_server_says(&server, "503 Service Unavailable", "");
    for (int i = 1; i < JWKS_OUTAGE_FACTOR; i++) {
        clock_advance_ms(MAX_AGE_MS);
        assert_int_equal(ask(one), 0);
        assert_int_equal(ask(two), ERR_BUSY);
    }
    assert_int_equal(key_server_asked(&server), JWKS_OUTAGE_FACTOR);
    clock_advance_ms(MAX_AGE_MS + 1000);
    assert_int_equal(ask(one), ERR_BUSY);
    assert_int_equal(judge(token_of(one)), ERR_BUSY);
    key_server_says(&server, "200 OK", set_of(one));
    clock_advance_ms(JWKS_FETCH_AGAIN_MS);
    assert_int_equal(ask(one), 0);
}

static void other_answers_than_a_set_are_none(void **state)
{
    static const struct {
        const char *head, *body;
    } cases[] = {
        {"500 Internal Server Error", "{\"keys\":[]}"},
        {"404 Not Found", "{\"keys\":[]}"},
        {"204 No Content", ""},
        {"302 Found\r\nLocation: /other", "{\"keys\":[]}"},
        {"200 OK", "<html>"},
        {"200 OK", ""},
        {"200 OK\r\nContent-Length: 5", "{}"},
        {"", ""},
    };
    (void)state;
    open_verifier(url);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        key_server_says(&server, cases[i].head, cases[i].body);
        clock_advance_ms(JWKS_FETCH_AGAIN_MS);
        if (ask(one) != ERR_BUSY || key_server_asked(&server) != i + 1)
            fail_msg("%s, %s", cases[i].head, cases[i].body);
    }
}

static void assert_unfetched(const char *from, long timeout_ms, const char *because)
{
    struct buf text = {.limit = JWKS_BYTES};
    char said[FETCH_WHY_BYTES] = "";
    int err = fetch_url(from, timeout_ms, &text, said);
    if (err != ERR_IO || strcmp(said, because) != 0)
        fail_msg("%s: %s, %s", from, err_name(err), said);
    buf_done(&text);
}

static void a_redirect_is_not_followed(void **state)
{
    (void)state;
    key_server_says(&server, "302 Found\r\nLocation: /other", "");
    assert_unfetched(url, JWKS_FETCH_MS, "the answer is 302");
    assert_int_equal(key_server_asked(&server), 1);
}

static void beyond_JWKS_BYTES_an_answer_is_cut(void **state)
{
    char *body = malloc(JWKS_BYTES + 2);
    (void)state;
    memset(body, ' ', JWKS_BYTES + 1);
    body[JWKS_BYTES + 1] = '\0';
    key_server_says(&server, "200 OK", body);
    assert_unfetched(url, JWKS_FETCH_MS, "the answer is too large");
    free(body);
}

static void who_does_not_answer_is_given_up(void **state)
{
    (void)state;
    key_server_hold(&server, true);
    assert_unfetched(url, 50, "Timeout was reached");
    key_server_hold(&server, false);
}

static void other_protocols_are_not_spoken(void **state)
{
    (void)state;
    assert_unfetched("file:///etc/hostname", JWKS_FETCH_MS, "Unsupported protocol");
    assert_unfetched("http://tenon.invalid/", JWKS_FETCH_MS, "Unsupported protocol");
    assert_unfetched("gopher://127.0.0.1/", JWKS_FETCH_MS, "Unsupported protocol");
}

/* ---- TLS ------------------------------------------------------------------------------------ */

static void name_extension(X509 *made, int nid, const char *value)
{
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, NULL, nid, value);
    assert_int_equal(X509_add_ext(made, extension, -1), 1);
    X509_EXTENSION_free(extension);
}

/* Signed by itself, good for a day. */
static X509 *make_certificate(const char *address)
{
    X509 *made = X509_new();
    X509_NAME *name = X509_get_subject_name(made);
    X509_set_version(made, 2);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"keys", -1, -1, 0);
    X509_set_issuer_name(made, name);
    X509_gmtime_adj(X509_getm_notBefore(made), -60);
    X509_gmtime_adj(X509_getm_notAfter(made), 86400);
    X509_set_pubkey(made, one);
    name_extension(made, NID_subject_alt_name, address);
    assert_true(X509_sign(made, one, EVP_sha256()) > 0);
    return made;
}

/* From now on it speaks TLS by a certificate for `address`, which stands in `path`. */
static void speak_tls(const char *address)
{
    X509 *certificate = make_certificate(address);
    FILE *f = fopen(path, "w");
    assert_int_equal(PEM_write_X509(f, certificate), 1);
    fclose(f);
    server.tls = SSL_CTX_new(TLS_server_method());
    assert_int_equal(SSL_CTX_use_certificate(server.tls, certificate), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey(server.tls, one), 1);
    X509_free(certificate);
    snprintf(url, sizeof url, "https://127.0.0.1:%u/jwks", server.port);
    key_server_says(&server, "200 OK", set_of(one));
}

static void keys_come_by_TLS_from_whom_SSL_CERT_FILE_trusts(void **state)
{
    (void)state;
    speak_tls("IP:127.0.0.1");
    setenv("SSL_CERT_FILE", path, 1);
    open_verifier(url);
    assert_int_equal(ask(one), 0);
    unsetenv("SSL_CERT_FILE");
}

static void a_certificate_that_nobody_trusts_is_refused(void **state)
{
    (void)state;
    speak_tls("IP:127.0.0.1");
    assert_unfetched(url, JWKS_FETCH_MS, "SSL peer certificate or SSH remote key was not OK");
    assert_int_equal(key_server_asked(&server), 0);
}

static void a_certificate_for_another_host_is_refused(void **state)
{
    (void)state;
    speak_tls("IP:127.0.0.2,DNS:localhost");
    setenv("SSL_CERT_FILE", path, 1);
    assert_unfetched(url, JWKS_FETCH_MS, "SSL peer certificate or SSH remote key was not OK");
    assert_int_equal(key_server_asked(&server), 0);
    unsetenv("SSL_CERT_FILE");
}

/* ---- Threads -------------------------------------------------------------------------------- */

#define THREADS (JWKS_WAITING_MAX + 2) /* one fetches, the last finds no place to wait */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int n_busy, n_fine;

static void *fetch_one(void *ctx)
{
    (void)ctx;
    int err = verifier->fetch(verifier->ctx);
    pthread_mutex_lock(&mutex);
    n_busy += err == ERR_BUSY;
    n_fine += err == 0;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void many_wait_for_one_fetch_but_no_more_than_JWKS_WAITING_MAX(void **state)
{
    pthread_t threads[THREADS];
    (void)state;
    key_server_says(&server, "200 OK", set_of(one));
    key_server_hold(&server, true);
    open_verifier(url);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, fetch_one, NULL), 0);
    pthread_mutex_lock(&mutex);
    while (!n_busy)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
    assert_int_equal(judge(token_of(one)), LATER); /* may wait for it as well */
    key_server_hold(&server, false);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(n_busy, 1);
    assert_int_equal(n_fine, THREADS - 1);
    assert_int_equal(key_server_asked(&server), 1);
    assert_int_equal(judge(token_of(one)), 0);
}

static void tokens_with_a_dot_are_signed_ones(void **state)
{
    (void)state;
    open_verifier(path);
    assert_true(verifier->is_mine(verifier->ctx, STR("a.b.c")));
    assert_true(verifier->is_mine(verifier->ctx, STR(".")));
    assert_false(verifier->is_mine(verifier->ctx, STR("tenon_AAAA")));
    assert_false(verifier->is_mine(verifier->ctx, STR("")));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(keys_of_a_file_are_read_when_they_are_first_needed),
        TEST(a_file_that_was_changed_is_read_after_JWKS_FILE_AGAIN_MS),
        TEST(one_request_renews_old_keys_and_the_others_go_on),
        TEST(without_a_file_nobody_gets_in_and_nobody_is_refused),
        TEST(a_file_that_breaks_leaves_the_old_keys),
        TEST(an_empty_set_withdraws_all_keys),
        TEST(only_a_plain_file_that_not_everybody_writes_is_a_source),
        TEST(keys_of_a_URL_rotate),
        TEST(unknown_keys_are_asked_for_once_in_JWKS_FETCH_AGAIN_MS),
        TEST(what_is_refused_costs_no_fetch),
        TEST(an_outage_is_borne_for_JWKS_OUTAGE_FACTOR_ages),
        TEST(other_answers_than_a_set_are_none),
        TEST(a_redirect_is_not_followed),
        TEST(beyond_JWKS_BYTES_an_answer_is_cut),
        TEST(who_does_not_answer_is_given_up),
        TEST(other_protocols_are_not_spoken),
        TEST(keys_come_by_TLS_from_whom_SSL_CERT_FILE_trusts),
        TEST(a_certificate_that_nobody_trusts_is_refused),
        TEST(a_certificate_for_another_host_is_refused),
        TEST(many_wait_for_one_fetch_but_no_more_than_JWKS_WAITING_MAX),
        TEST(tokens_with_a_dot_are_signed_ones),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
