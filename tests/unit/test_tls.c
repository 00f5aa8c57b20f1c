/* tests/unit/test_tls.c - net/tls.c by itself: files that are good and bad, reloading, what is
 * negotiated, and whom the certificates of clients name. Handshakes go through memory. The server
 * over TLS: tests/net/tls.sh and test_tls_listener.c.
 */
#include "base/clock.h"
#include "base/err.h"
#include "net/tls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "certificates.h"

static struct pair ca, own, other;
static struct net_tls config;

/* ---- Handshakes -------------------------------------------------------------------------------*/

struct meeting {
    SSL_CTX *server_ctx, *client_ctx;
    SSL *server, *client;
    const char *host; /* to ask for; NULL: none */
};

static struct meeting meet_begin(struct tls *tls)
{
    struct meeting m = {.server_ctx = SSL_CTX_new(TLS_server_method()),
                        .client_ctx = SSL_CTX_new(TLS_client_method())};
    tls_adopt(tls, m.server_ctx);
    SSL_CTX_set_security_level(m.client_ctx, 0);
    return m;
}

/* True if both think that it went well, and a byte gets through. */
static bool meet(struct meeting *m)
{
    BIO *a, *b;
    char byte = 0;
    m->server = SSL_new(m->server_ctx);
    m->client = SSL_new(m->client_ctx);
    if (m->host)
        SSL_set_tlsext_host_name(m->client, m->host);
    BIO_new_bio_pair(&a, 65536, &b, 65536);
    SSL_set_bio(m->server, a, a);
    SSL_set_bio(m->client, b, b);
    SSL_set_accept_state(m->server);
    SSL_set_connect_state(m->client);
    for (int i = 0; i < 10; i++) {
        SSL_do_handshake(m->client);
        SSL_do_handshake(m->server);
    }
    return SSL_is_init_finished(m->server) && SSL_is_init_finished(m->client) &&
           SSL_write(m->server, "x", 1) == 1 && SSL_read(m->client, &byte, 1) == 1 && byte == 'x';
}

static void meet_end(struct meeting *m)
{
    SSL_free(m->server);
    SSL_free(m->client);
    SSL_CTX_free(m->server_ctx);
    SSL_CTX_free(m->client_ctx);
}

static struct tls *new_tls(void)
{
    struct tls *tls;
    assert_int_equal(tls_new(&config, &tls), 0);
    return tls;
}

/* Whom a client sees. */
static bool meets(struct tls *tls, const struct pair *whom)
{
    struct meeting m = meet_begin(tls);
    bool good = meet(&m) && X509_cmp(SSL_get0_peer_certificate(m.client), whom->x) == 0;
    meet_end(&m);
    return good;
}

/* ---- Files ------------------------------------------------------------------------------------*/

static int set_up(void **state)
{
    (void)state;
    pair_write_cert("cert.pem", &own, NULL);
    pair_write_key("key.pem", 0600, own.key);
    pair_write_cert("ca.pem", &ca, NULL);
    config = (struct net_tls){.certificate = "cert.pem", .key = "key.pem"};
    return 0;
}

static void assert_refused(const char *what)
{
    struct tls *tls;
    if (tls_new(&config, &tls) >= 0)
        fail_msg("taken: %s", what);
}

static void a_good_pair_is_shown(void **state)
{
    (void)state;
    struct tls *tls = new_tls();
    assert_true(meets(tls, &own));
    tls_free(tls);
    chmod("key.pem", 0640);
    tls = new_tls();
    tls_free(tls);
}

static void the_chain_is_sent(void **state)
{
    (void)state;
    struct pair leaf = pair_for(EVP_EC_gen("P-256"), "leaf", &ca, 3600);
    pair_write_cert("cert.pem", &leaf, &ca);
    pair_write_key("key.pem", 0600, leaf.key);
    struct tls *tls = new_tls();
    struct meeting m = meet_begin(tls);
    assert_true(meet(&m));
    assert_int_equal(sk_X509_num(SSL_get_peer_cert_chain(m.client)), 2);
    meet_end(&m);
    tls_free(tls);
    pair_done(&leaf);
}

static void bad_files_are_refused(void **state)
{
    (void)state;
    pair_write_key("key.pem", 0600, other.key);
    assert_refused("a key of another certificate");
    const mode_t open_modes[] = {0644, 0604, 0620, 0601};
    for (size_t i = 0; i < sizeof open_modes / sizeof *open_modes; i++) {
        pair_write_key("key.pem", open_modes[i], own.key);
        assert_refused("a key that others may read or write");
    }
    pair_write_text("key.pem", "");
    assert_refused("an empty key");
    pair_write_text("key.pem", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n");
    assert_refused("a damaged key");
    FILE *f = pair_create("key.pem", 0600);
    PEM_write_PrivateKey(f, own.key, EVP_aes_128_cbc(), (const unsigned char *)"secret", 6, NULL,
                         NULL);
    fclose(f);
    assert_refused("an encrypted key");
    pair_write_key("key.pem", 0600, own.key);
    pair_write_text("cert.pem", "nothing of that kind\n");
    assert_refused("no certificate");
    f = pair_create("cert.pem", 0644);
    PEM_write_X509(f, own.x);
    fputs("-----BEGIN CERTIFICATE-----\nAAAA\n", f);
    fclose(f);
    assert_refused("a chain that is cut");
    config.certificate = "none.pem";
    assert_refused("no file");
    config.certificate = pair_dir;
    assert_refused("a folder");
    config.certificate = "/dev/zero";
    assert_refused("a device");
    config.certificate = NULL;
    assert_refused("a key alone");
    set_up(NULL);
    config.require_client = true;
    assert_refused("clients must have one, but nobody can verify it");
    config.client_ca = "key.pem";
    assert_refused("authorities that are none");
}

static void TLS_FILE_BYTES_MAX_bounds_a_file(void **state)
{
    (void)state;
    FILE *f = fopen("cert.pem", "a");
    for (size_t i = 0; i < TLS_FILE_BYTES_MAX - 2048; i++)
        fputc('\n', f);
    fclose(f);
    tls_free(new_tls());
    f = fopen("cert.pem", "a");
    for (size_t i = 0; i < 2048; i++)
        fputc('\n', f);
    fclose(f);
    assert_refused("a file that is too large");
}

/* ---- Again ------------------------------------------------------------------------------------*/

static void new_connections_get_the_new_certificate(void **state)
{
    (void)state;
    struct tls *tls = new_tls();
    struct meeting before = meet_begin(tls);
    assert_true(meet(&before));
    pair_write_cert("cert.pem", &other, NULL); /* of another kind of key, too */
    pair_write_key("key.pem", 0600, other.key);
    assert_int_equal(tls_reload(tls), 0);
    assert_true(meets(tls, &other));
    char byte;
    assert_int_equal(SSL_write(before.client, "y", 1), 1);
    assert_int_equal(SSL_read(before.server, &byte, 1), 1);
    meet_end(&before);
    tls_free(tls);
}

static void bad_files_change_nothing(void **state)
{
    (void)state;
    struct tls *tls = new_tls();
    pair_write_key("key.pem", 0600, other.key);
    assert_true(tls_reload(tls) < 0);
    assert_true(meets(tls, &own));
    unlink("cert.pem");
    assert_true(tls_reload(tls) < 0);
    assert_true(meets(tls, &own));
    tls_free(tls);
}

/* ---- What is negotiated -----------------------------------------------------------------------*/

static bool meets_version(struct tls *tls, int version)
{
    struct meeting m = meet_begin(tls);
    SSL_CTX_set_min_proto_version(m.client_ctx, version);
    SSL_CTX_set_max_proto_version(m.client_ctx, version);
    bool good = meet(&m);
    meet_end(&m);
    return good;
}

static void old_versions_are_refused(void **state)
{
    (void)state;
    struct tls *tls = new_tls();
    assert_true(meets_version(tls, TLS1_3_VERSION));
    assert_true(meets_version(tls, TLS1_2_VERSION));
    assert_false(meets_version(tls, TLS1_1_VERSION));
    assert_false(meets_version(tls, TLS1_VERSION));
    tls_free(tls);
}

static bool meets_cipher(struct tls *tls, const char *cipher)
{
    struct meeting m = meet_begin(tls);
    SSL_CTX_set_max_proto_version(m.client_ctx, TLS1_2_VERSION);
    assert_true(SSL_CTX_set_cipher_list(m.client_ctx, cipher));
    bool good = meet(&m);
    meet_end(&m);
    return good;
}

static void weak_ciphers_are_refused(void **state)
{
    (void)state;
    struct tls *tls = new_tls();
    assert_true(meets_cipher(tls, "ECDHE-ECDSA-AES128-GCM-SHA256"));
    assert_true(meets_cipher(tls, "ECDHE-ECDSA-CHACHA20-POLY1305"));
    assert_false(meets_cipher(tls, "ECDHE-ECDSA-AES128-SHA"));
    assert_false(meets_cipher(tls, "ECDHE-ECDSA-AES256-CCM"));
    tls_free(tls);
    pair_write_cert("cert.pem", &other, NULL);
    pair_write_key("key.pem", 0600, other.key);
    tls = new_tls();
    assert_true(meets_cipher(tls, "ECDHE-RSA-AES256-GCM-SHA384"));
    assert_false(meets_cipher(tls, "AES128-GCM-SHA256"));
    assert_false(meets_cipher(tls, "DHE-RSA-AES128-GCM-SHA256"));
    tls_free(tls);
}

static void only_http11_is_chosen(void **state)
{
    (void)state;
    struct tls *tls = new_tls();
    const unsigned char *chosen;
    unsigned n;
    struct meeting m = meet_begin(tls);
    SSL_CTX_set_alpn_protos(m.client_ctx, (const unsigned char *)"\x02h2\x08http/1.1", 12);
    assert_true(meet(&m));
    SSL_get0_alpn_selected(m.client, &chosen, &n);
    assert_int_equal(n, 8);
    assert_memory_equal(chosen, "http/1.1", 8);
    meet_end(&m);
    m = meet_begin(tls);
    SSL_CTX_set_alpn_protos(m.client_ctx, (const unsigned char *)"\x02h2", 3);
    assert_false(meet(&m));
    meet_end(&m);
    tls_free(tls);
}

/* Whatever name the client asks for. */
static void a_name_changes_nothing(void **state)
{
    (void)state;
    struct tls *tls = new_tls();
    struct meeting m = meet_begin(tls);
    m.host = "unknown.example";
    assert_true(meet(&m));
    meet_end(&m);
    tls_free(tls);
}

static void nothing_is_resumed(void **state)
{
    (void)state;
    struct tls *tls = new_tls();
    const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};
    for (int i = 0; i < 2; i++) {
        struct meeting m = meet_begin(tls);
        SSL_CTX_set_max_proto_version(m.client_ctx, versions[i]);
        assert_true(meet(&m));
        SSL_SESSION *session = SSL_get1_session(m.client);
        assert_false(SSL_SESSION_has_ticket(session));
        assert_false(SSL_SESSION_is_resumable(session));
        SSL_SESSION_free(session);
        meet_end(&m);
    }
    tls_free(tls);
}

static void renegotiation_is_refused(void **state)
{
    (void)state;
    struct tls *tls = new_tls();
    struct meeting m = meet_begin(tls);
    SSL_CTX_set_max_proto_version(m.client_ctx, TLS1_2_VERSION);
    assert_true(meet(&m));
    char byte;
    SSL_renegotiate(m.client);
    for (int i = 0; i < 5; i++) {
        SSL_do_handshake(m.client);
        SSL_read(m.server, &byte, 1);
    }
    assert_true(SSL_renegotiate_pending(m.client) || !SSL_is_init_finished(m.client));
    meet_end(&m);
    tls_free(tls);
}

/* ---- Certificates of clients ------------------------------------------------------------------*/

static void use_client_ca(bool must)
{
    config.client_ca = "ca.pem";
    config.require_client = must;
}

/* What tls_peer says of a client with this certificate; 2: the handshake failed. */
static int peer_of(struct tls *tls, const struct pair *client, struct tls_peer *ret)
{
    struct meeting m = meet_begin(tls);
    if (client) {
        SSL_CTX_use_certificate(m.client_ctx, client->x);
        SSL_CTX_use_PrivateKey(m.client_ctx, client->key);
    }
    int result = meet(&m) ? tls_peer(m.server, ret) : 2;
    meet_end(&m);
    return result;
}

static int peer_named(struct tls *tls, const struct str *names, int n, struct tls_peer *ret)
{
    struct pair p = pair_of_names(EVP_EC_gen("P-256"), names, n, &ca, -3600, 3600);
    int result = peer_of(tls, &p, ret);
    pair_done(&p);
    return result;
}

static void a_client_is_its_common_name(void **state)
{
    (void)state;
    use_client_ca(false);
    struct tls *tls = new_tls();
    struct tls_peer peer = {0};
    const struct str alice[] = {STR("alice"), STR("bob")};
    int64_t now_ms = clock_wall_ms();
    assert_int_equal(peer_of(tls, NULL, &peer), 0);
    assert_int_equal(peer_named(tls, alice, 1, &peer), 1);
    assert_int_equal(peer.name_n, 5);
    assert_string_equal(peer.name, "alice");
    assert_in_range(peer.until_ms - now_ms, 3590000, 3610000);
    assert_int_equal(peer_named(tls, alice, 2, &peer), ERR_UNAUTHORIZED);
    assert_int_equal(peer_named(tls, alice, 0, &peer), ERR_UNAUTHORIZED);
    tls_free(tls);
}

static void ACCESS_NAME_BYTES_and_control_bytes_of_a_name(void **state)
{
    (void)state;
    static char text[ACCESS_NAME_BYTES + 1];
    use_client_ca(true);
    struct tls *tls = new_tls();
    struct tls_peer peer = {0};
    const struct str bad[] = {STR("alice\0.evil"), STR("al\nice"), STR("alice\x7f"), STR("\tx")};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(peer_named(tls, &bad[i], 1, &peer), ERR_UNAUTHORIZED);
    const struct str good = STR("J\xc3\xbcrgen O'Neil");
    assert_int_equal(peer_named(tls, &good, 1, &peer), 1);
    assert_string_equal(peer.name, good.p);
    memset(text, 'n', sizeof text);
    /* the library bounds what it makes, not what it reads */
    ASN1_STRING_TABLE_add(NID_commonName, 1, sizeof text, DIRSTRING_TYPE, 0);
    const struct str longest = {text, ACCESS_NAME_BYTES}, longer = {text, sizeof text};
    assert_int_equal(peer_named(tls, &longest, 1, &peer), 1);
    assert_int_equal(peer.name_n, ACCESS_NAME_BYTES);
    assert_int_equal(peer_named(tls, &longer, 1, &peer), ERR_UNAUTHORIZED);
    tls_free(tls);
}

static void who_cannot_be_verified_is_turned_away(void **state)
{
    (void)state;
    struct tls_peer peer = {0};
    struct pair stranger = pair_for(EVP_EC_gen("P-256"), "alice", NULL, 3600);
    struct pair expired = pair_for(EVP_EC_gen("P-256"), "alice", &ca, -60);
    const struct str name[] = {STR("alice")};
    struct pair future = pair_of_names(EVP_EC_gen("P-256"), name, 1, &ca, 3600, 7200);
    for (int must = 0; must < 2; must++) {
        use_client_ca(must);
        struct tls *tls = new_tls();
        assert_int_equal(peer_of(tls, &stranger, &peer), 2);
        assert_int_equal(peer_of(tls, &expired, &peer), 2);
        assert_int_equal(peer_of(tls, &future, &peer), 2);
        assert_int_equal(peer_of(tls, NULL, &peer), must ? 2 : 0);
        tls_free(tls);
    }
    pair_done(&stranger);
    pair_done(&expired);
    pair_done(&future);
}

static void authorities_are_read_again_too(void **state)
{
    (void)state;
    use_client_ca(true);
    struct tls *tls = new_tls();
    struct tls_peer peer = {0};
    const struct str name[] = {STR("alice")};
    assert_int_equal(peer_named(tls, name, 1, &peer), 1);
    pair_write_cert("ca.pem", &other, NULL);
    assert_int_equal(tls_reload(tls), 0);
    assert_int_equal(peer_named(tls, name, 1, &peer), 2);
    tls_free(tls);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, set_up)
    const struct CMUnitTest tests[] = {
        TEST(a_good_pair_is_shown),
        TEST(the_chain_is_sent),
        TEST(bad_files_are_refused),
        TEST(TLS_FILE_BYTES_MAX_bounds_a_file),
        TEST(new_connections_get_the_new_certificate),
        TEST(bad_files_change_nothing),
        TEST(old_versions_are_refused),
        TEST(weak_ciphers_are_refused),
        TEST(only_http11_is_chosen),
        TEST(a_name_changes_nothing),
        TEST(nothing_is_resumed),
        TEST(renegotiation_is_refused),
        TEST(a_client_is_its_common_name),
        TEST(ACCESS_NAME_BYTES_and_control_bytes_of_a_name),
        TEST(who_cannot_be_verified_is_turned_away),
        TEST(authorities_are_read_again_too),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    pairs_begin();
    ca = pair_for(EVP_EC_gen("P-256"), "authority", NULL, 7200);
    own = pair_for(EVP_EC_gen("P-256"), "localhost", NULL, 7200);
    other = pair_for(EVP_RSA_gen(2048), "other", NULL, 7200);
    int failed = cmocka_run_group_tests_name("tls", tests, NULL, NULL);
    pair_done(&ca);
    pair_done(&own);
    pair_done(&other);
    pairs_end();
    return failed;
}
