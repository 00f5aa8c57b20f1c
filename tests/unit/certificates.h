/* tests/unit/certificates.h - keys and certificates made by the test, as objects and as files.
 */
#ifndef TENON_TEST_CERTIFICATES_H
#define TENON_TEST_CERTIFICATES_H

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct pair {
    EVP_PKEY *key;
    X509 *x;
};

static char pair_dir[] = "/tmp/tenon-tls.XXXXXX";

/* Files are made in a folder of their own, which the process goes to. */
static void pairs_begin(void)
{
    if (!mkdtemp(pair_dir) || chdir(pair_dir) < 0)
        abort();
}

static void pairs_end(void)
{
    char command[sizeof pair_dir + 16];
    snprintf(command, sizeof command, "rm -rf %s", pair_dir);
    if (system(command))
        abort();
}

static void add_authority(X509 *x)
{
    X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, NULL, NID_basic_constraints, "critical,CA:TRUE");
    X509_add_ext(x, e, -1);
    X509_EXTENSION_free(e);
}

/* Of a subject with these common names, as raw bytes; signed by `ca` (NULL: by itself). */
static struct pair pair_of_names(EVP_PKEY *key, const struct str *names, int n_names,
                                 const struct pair *ca, long from_s, long to_s)
{
    static long serial = 1;
    struct pair p = {key, X509_new()};
    X509_NAME *subject = X509_get_subject_name(p.x);
    X509_set_version(p.x, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(p.x), serial++);
    X509_gmtime_adj(X509_getm_notBefore(p.x), from_s);
    X509_gmtime_adj(X509_getm_notAfter(p.x), to_s);
    for (int i = 0; i < n_names; i++)
        X509_NAME_add_entry_by_NID(subject, NID_commonName, V_ASN1_UTF8STRING,
                                   (const unsigned char *)names[i].p, (int)names[i].n, -1, 0);
    X509_set_issuer_name(p.x, ca ? X509_get_subject_name(ca->x) : subject);
    X509_set_pubkey(p.x, key);
    if (!ca)
        add_authority(p.x);
    if (!X509_sign(p.x, ca ? ca->key : key, EVP_sha256()))
        abort();
    return p;
}

static struct pair pair_for(EVP_PKEY *key, const char *name, const struct pair *ca, long to_s)
{
    const struct str names[] = {str_of(name)};
    return pair_of_names(key, names, 1, ca, -3600, to_s);
}

static void pair_done(struct pair *p)
{
    EVP_PKEY_free(p->key);
    X509_free(p->x);
}

static FILE *pair_create(const char *file, mode_t mode)
{
    FILE *f = fopen(file, "w");
    if (!f || chmod(file, mode) < 0)
        abort();
    return f;
}

static void pair_write_key(const char *file, mode_t mode, EVP_PKEY *key)
{
    FILE *f = pair_create(file, mode);
    PEM_write_PrivateKey(f, key, NULL, NULL, 0, NULL, NULL);
    fclose(f);
}

static void pair_write_cert(const char *file, const struct pair *p, const struct pair *more)
{
    FILE *f = pair_create(file, 0644);
    PEM_write_X509(f, p->x);
    if (more)
        PEM_write_X509(f, more->x);
    fclose(f);
}

static void pair_write_text(const char *file, const char *text)
{
    FILE *f = pair_create(file, 0600);
    fputs(text, f);
    fclose(f);
}

#endif
