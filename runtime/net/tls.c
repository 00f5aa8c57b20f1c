/* net/tls.c - see tls.h. */
#include "net/tls.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SECURE_HEAP_BYTES (64 << 10) /* for private keys: not in a core file, not in swap */
#define SECURE_LEAST      16

#define CIPHERS "ECDHE+AESGCM:ECDHE+CHACHA20" /* of TLS 1.2; all of 1.3 are as good */

struct tls {
    const struct net_tls *config;
    SSL_CTX *now;
};

/* A file on its way in, and what complaints about it name. */
struct source {
    const char *key, *file;
};

static int complain(struct source s, const char *why)
{
    log_error("%s: %s: %s", s.key, s.file, why);
    return ERR_IO;
}

/* OpenSSL's first word about it, which is the cause; the others say what failed for it. */
static int complain_ssl(struct source s, const char *otherwise)
{
    unsigned long code = ERR_peek_error();
    const char *why = code ? ERR_reason_error_string(code) : NULL;
    ERR_clear_error();
    return complain(s, why ? why : otherwise);
}

/* ---- Files ------------------------------------------------------------------------------------*/

static bool is_private(const struct stat *st)
{
    return !(st->st_mode & (S_IRWXO | S_IWGRP | S_IXGRP));
}

static int check_file(struct source s, int fd, bool secret)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return complain(s, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return complain(s, "is not a file");
    if (secret && !is_private(&st))
        return complain(s, "is open to others: its mode must be 0600 (or 0640)");
    if (st.st_size > (off_t)TLS_FILE_BYTES_MAX)
        return complain(s, "is too large");
    return 0;
}

/* Up to the end; a file that grows meanwhile is cut. */
static ssize_t read_all(int fd, char *to, size_t room)
{
    size_t n = 0;
    ssize_t got;
    while (n < room && (got = read(fd, to + n, room - n)) != 0) {
        if (got > 0)
            n += (size_t)got;
        else if (errno != EINTR)
            return -1;
    }
    return (ssize_t)n;
}

/* The text of a file for OpenSSL; to be given back by close_text, which wipes it. */
struct text {
    char *p;
    BIO *bio;
};

static void close_text(struct text *text)
{
    BIO_free(text->bio);
    if (text->p)
        explicit_bzero(text->p, TLS_FILE_BYTES_MAX);
    free(text->p);
}

static int fill_text(struct source s, int fd, bool secret, struct text *text)
{
    int err = check_file(s, fd, secret);
    if (err < 0)
        return err;
    text->p = malloc(TLS_FILE_BYTES_MAX);
    ssize_t n = text->p ? read_all(fd, text->p, TLS_FILE_BYTES_MAX) : 0;
    if (n < 0)
        return complain(s, strerror(errno));
    text->bio = text->p ? BIO_new_mem_buf(text->p, (int)n) : NULL;
    return text->bio ? 0 : complain(s, err_text(ERR_NO_MEMORY));
}

static int open_text(struct source s, bool secret, struct text *ret)
{
    *ret = (struct text){0};
    int fd = open(s.file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return complain(s, strerror(errno));
    int err = fill_text(s, fd, secret, ret);
    close(fd);
    if (err < 0)
        close_text(ret);
    return err;
}

/* ---- What is in them --------------------------------------------------------------------------*/

/* Nobody is there to type one. */
static int no_passphrase(char *to, int size, int writes, void *ctx)
{
    (void)to, (void)size, (void)writes, (void)ctx;
    return 0;
}

/* Hands each certificate of a text to `take`, which refuses it by 0. How many, or an error. */
static int read_certificates(struct source s, SSL_CTX *ctx, int (*take)(SSL_CTX *, X509 *, int))
{
    struct text text;
    int n = 0, err = open_text(s, false, &text);
    X509 *x;
    if (err < 0)
        return err;
    while (!err && (x = PEM_read_bio_X509(text.bio, NULL, no_passphrase, NULL))) {
        if (!take(ctx, x, n++))
            err = complain_ssl(s, "a certificate cannot be used");
        X509_free(x);
    }
    /* the end of the text is an error to OpenSSL too */
    bool at_end = n && ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
    if (!err && !n)
        err = complain(s, "holds no certificate in PEM");
    else if (!err && !at_end)
        err = complain_ssl(s, "is damaged");
    ERR_clear_error();
    close_text(&text);
    return err;
}

/* The server's own first, then those that lead from it to one that clients know. */
static int take_own(SSL_CTX *ctx, X509 *x, int i)
{
    return i ? (int)SSL_CTX_add1_chain_cert(ctx, x) : SSL_CTX_use_certificate(ctx, x);
}

static int take_client_ca(SSL_CTX *ctx, X509 *x, int i)
{
    (void)i;
    return X509_STORE_add_cert(SSL_CTX_get_cert_store(ctx), x) && SSL_CTX_add_client_CA(ctx, x);
}

static int read_key(struct source s, SSL_CTX *ctx)
{
    struct text text;
    int err = open_text(s, true, &text);
    if (err < 0)
        return err;
    EVP_PKEY *key = PEM_read_bio_PrivateKey(text.bio, NULL, no_passphrase, NULL);
    close_text(&text);
    if (!key)
        return complain(s, "holds no private key in PEM, or one that is damaged or encrypted");
    if (!SSL_CTX_use_PrivateKey(ctx, key) || !SSL_CTX_check_private_key(ctx))
        err = complain(s, "is not the key of the certificate");
    EVP_PKEY_free(key);
    ERR_clear_error();
    return err;
}

/* ---- Contexts ---------------------------------------------------------------------------------*/

static int choose_http11(SSL *ssl, const unsigned char **ret, unsigned char *ret_n,
                         const unsigned char *offered, unsigned n, void *ctx)
{
    static const unsigned char ours[] = "\x08http/1.1";
    (void)ssl, (void)ctx;
    int found =
        SSL_select_next_proto((unsigned char **)ret, ret_n, ours, sizeof ours - 1, offered, n);
    return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

/* Whatever the name: without this, libwebsockets would put its own context back. */
static int any_name(SSL *ssl, int *alert, void *ctx)
{
    (void)ssl, (void)alert, (void)ctx;
    return SSL_TLSEXT_ERR_OK;
}

static bool harden(SSL_CTX *ctx)
{
    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION |
                                 SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
    SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_alpn_select_cb(ctx, choose_http11, NULL);
    SSL_CTX_set_tlsext_servername_callback(ctx, any_name);
    return SSL_CTX_set_num_tickets(ctx, 0) && SSL_CTX_set_cipher_list(ctx, CIPHERS) &&
           SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
}

static int read_own(const struct net_tls *config, SSL_CTX *ctx)
{
    int err =
        read_certificates((struct source){"tls.certificate", config->certificate}, ctx, take_own);
    return err < 0 ? err : read_key((struct source){"tls.key", config->key}, ctx);
}

static int read_client_ca(const struct net_tls *config, SSL_CTX *ctx)
{
    int must = config->require_client ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0;
    if (!config->client_ca)
        return 0;
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | must, NULL);
    return read_certificates((struct source){"tls.clientCa", config->client_ca}, ctx,
                             take_client_ca);
}

static int load(const struct net_tls *config, SSL_CTX **ret)
{
    ERR_clear_error();
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
    int err = ctx && harden(ctx) ? 0 : ERR_NO_MEMORY;
    if (err < 0)
        log_error("TLS cannot be set up: %s", err_text(err));
    else
        err = read_own(config, ctx);
    if (!err)
        err = read_client_ca(config, ctx);
    if (err < 0)
        SSL_CTX_free(ctx);
    else
        *ret = ctx;
    return err;
}

static int check_config(const struct net_tls *config)
{
    const char *missing = !config->certificate                           ? "tls.certificate"
                          : !config->key                                 ? "tls.key"
                          : config->require_client && !config->client_ca ? "tls.clientCa"
                                                                         : NULL;
    if (missing)
        log_error("%s: expected, as another key of tls is given", missing);
    return missing ? ERR_IO : 0;
}

int tls_new(const struct net_tls *config, struct tls **ret)
{
    int err = check_config(config);
    if (err < 0)
        return err;
    if (!CRYPTO_secure_malloc_initialized())
        CRYPTO_secure_malloc_init(SECURE_HEAP_BYTES, SECURE_LEAST);
    struct tls *tls = calloc(1, sizeof *tls);
    if (!tls)
        return ERR_NO_MEMORY;
    tls->config = config;
    err = tls_reload(tls);
    if (err < 0)
        free(tls);
    else
        *ret = tls;
    return err;
}

int tls_reload(struct tls *tls)
{
    SSL_CTX *ctx;
    int err = load(tls->config, &ctx);
    if (err < 0)
        return err;
    SSL_CTX_free(tls->now); /* connections that have it keep it alive */
    tls->now = ctx;
    return 0;
}

void tls_free(struct tls *tls)
{
    if (!tls)
        return;
    SSL_CTX_free(tls->now);
    free(tls);
}

static int give_context(SSL *ssl, int *alert, void *ctx)
{
    const struct tls *tls = ctx;
    if (!SSL_set_SSL_CTX(ssl, tls->now)) {
        *alert = SSL_AD_INTERNAL_ERROR;
        return SSL_CLIENT_HELLO_ERROR;
    }
    SSL_set_verify(ssl, SSL_CTX_get_verify_mode(tls->now), NULL);
    return SSL_CLIENT_HELLO_SUCCESS;
}

void tls_adopt(struct tls *tls, SSL_CTX *theirs)
{
    if (!harden(theirs))
        log_error("TLS cannot be set up: no connection will succeed");
    SSL_CTX_set_client_hello_cb(theirs, give_context, tls);
}

/* ---- Certificates -----------------------------------------------------------------------------*/

static int64_t wall_ms(const ASN1_TIME *time)
{
    struct tm tm;
    return ASN1_TIME_to_tm(time, &tm) ? timegm(&tm) * INT64_C(1000) : 0;
}

static void warn_of(struct source s, X509 *x)
{
    int64_t now_ms = clock_wall_ms();
    char name[200];
    X509_NAME_oneline(X509_get_subject_name(x), name, sizeof name);
    if (now_ms >= wall_ms(X509_get0_notAfter(x)))
        log_warn("%s: %s: the certificate of %s has expired", s.key, s.file, name);
    if (now_ms < wall_ms(X509_get0_notBefore(x)))
        log_warn("%s: %s: the certificate of %s does not hold yet", s.key, s.file, name);
}

static void warn(const struct tls *tls)
{
    struct source own = {"tls.certificate", tls->config->certificate};
    struct source ca = {"tls.clientCa", tls->config->client_ca};
    STACK_OF(X509) *chain = NULL;
    warn_of(own, SSL_CTX_get0_certificate(tls->now));
    SSL_CTX_get0_chain_certs(tls->now, &chain);
    for (int i = 0; i < sk_X509_num(chain); i++)
        warn_of(own, sk_X509_value(chain, i));
    STACK_OF(X509) *cas = X509_STORE_get1_all_certs(SSL_CTX_get_cert_store(tls->now));
    for (int i = 0; i < sk_X509_num(cas); i++)
        warn_of(ca, sk_X509_value(cas, i));
    sk_X509_pop_free(cas, X509_free);
}

int tls_open(const struct net_tls *config, struct tls **ret)
{
    if (!config->certificate && !config->key && !config->client_ca && !config->require_client)
        return 0;
    int err = tls_new(config, ret);
    if (!err)
        warn(*ret);
    return err;
}

bool tls_renew(struct tls *tls)
{
    if (tls_reload(tls) < 0) {
        log_error("SIGHUP: the certificate that holds stays");
        return false;
    }
    log_info("SIGHUP: new connections get the certificate as it is now");
    warn(tls);
    return true;
}

/* ---- Those of clients -------------------------------------------------------------------------*/

static bool is_name(const unsigned char *p, int n)
{
    for (int i = 0; i < n; i++)
        if (p[i] < ' ' || p[i] == 127)
            return false;
    return n > 0 && n <= ACCESS_NAME_BYTES;
}

static int copy_name(const ASN1_STRING *value, struct tls_peer *ret)
{
    unsigned char *text = NULL;
    int n = ASN1_STRING_to_UTF8(&text, value);
    bool good = n > 0 && is_name(text, n);
    if (good) {
        memcpy(ret->name, text, (size_t)n);
        ret->name[n] = '\0';
        ret->name_n = (uint32_t)n;
    }
    OPENSSL_free(text);
    ERR_clear_error();
    return good ? 0 : ERR_UNAUTHORIZED;
}

static int name_of(const X509 *x, struct tls_peer *ret)
{
    const X509_NAME *subject = X509_get_subject_name(x);
    int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
    if (at < 0 || X509_NAME_get_index_by_NID(subject, NID_commonName, at) >= 0)
        return ERR_UNAUTHORIZED;
    return copy_name(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)), ret);
}

int tls_peer(const SSL *ssl, struct tls_peer *ret)
{
    const X509 *x = SSL_get0_peer_certificate(ssl);
    if (!x)
        return 0;
    if (SSL_get_verify_result(ssl) != X509_V_OK || name_of(x, ret) < 0)
        return ERR_UNAUTHORIZED;
    ret->until_ms = wall_ms(X509_get0_notAfter(x));
    return 1;
}
