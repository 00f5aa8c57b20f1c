/* tests/unit/jwt_rig.h - keys of an authorization server and tokens signed with them, made by
 * OpenSSL alone, so that what checks them is not what made them. */
#ifndef TENON_TESTS_JWT_RIG_H
#define TENON_TESTS_JWT_RIG_H

#include "base/str.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RIG_NOW_S    1800000000ll
#define RIG_ISSUER   "https://issuer.example/"
#define RIG_AUDIENCE "https://mcp.example/mcp"
/* claims of a good token; more members may follow */
#define RIG_CLAIMS                                                                                \
    "\"iss\":\"" RIG_ISSUER "\",\"aud\":\"" RIG_AUDIENCE "\",\"sub\":\"ann\",\"exp\":1800000300," \
    "\"iat\":1799999999"

/* Appends base64url. */
static inline void rig_encode(const void *data, size_t n, struct buf *out)
{
    char *text = malloc(n / 3 * 4 + 8);
    int len = EVP_EncodeBlock((unsigned char *)text, data, (int)n);
    while (len && text[len - 1] == '=')
        len--;
    for (int i = 0; i < len; i++)
        buf_add_char(out, text[i] == '+' ? '-' : text[i] == '/' ? '_' : text[i]);
    free(text);
}

static inline void rig_encode_text(const char *text, struct buf *out)
{
    rig_encode(text, strlen(text), out);
}

/* A number of the key, in `width` bytes (0: as many as it has). */
static inline void rig_add_number(const EVP_PKEY *key, const char *what, const char *name,
                                  int width, struct buf *out)
{
    BIGNUM *number = NULL;
    unsigned char bytes[1100];
    EVP_PKEY_get_bn_param(key, what, &number);
    int n = width ? width : BN_num_bytes(number);
    BN_bn2binpad(number, bytes, n);
    buf_printf(out, ",\"%s\":\"", name);
    rig_encode(bytes, (size_t)n, out);
    buf_add_char(out, '"');
    BN_free(number);
}

/* {"kty":...,<more>} of an RSA or P-256 key; `more`: ",\"kid\":\"1\"" or "". */
static inline void rig_add_jwk(const EVP_PKEY *key, const char *more, struct buf *out)
{
    bool is_rsa = EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA;
    buf_printf(out, "{\"kty\":\"%s\"%s%s", is_rsa ? "RSA" : "EC",
               is_rsa ? "" : ",\"crv\":\"P-256\"", more);
    if (is_rsa) {
        rig_add_number(key, OSSL_PKEY_PARAM_RSA_N, "n", 0, out);
        rig_add_number(key, OSSL_PKEY_PARAM_RSA_E, "e", 0, out);
    } else {
        rig_add_number(key, OSSL_PKEY_PARAM_EC_PUB_X, "x", 32, out);
        rig_add_number(key, OSSL_PKEY_PARAM_EC_PUB_Y, "y", 32, out);
    }
    buf_add_char(out, '}');
}

/* As in a token: an ECDSA signature is two numbers of 32 bytes there. */
static inline void rig_add_signature(EVP_PKEY *key, struct str text, struct buf *out)
{
    unsigned char made[1100], raw[64];
    size_t n = sizeof made;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    EVP_DigestSignInit(ctx, NULL, EVP_sha256(), NULL, key);
    EVP_DigestSign(ctx, made, &n, (const unsigned char *)text.p, text.n);
    EVP_MD_CTX_free(ctx);
    if (EVP_PKEY_get_base_id(key) == EVP_PKEY_EC) {
        const unsigned char *at = made;
        ECDSA_SIG *sig = d2i_ECDSA_SIG(NULL, &at, (long)n);
        BN_bn2binpad(ECDSA_SIG_get0_r(sig), raw, 32);
        BN_bn2binpad(ECDSA_SIG_get0_s(sig), raw + 32, 32);
        ECDSA_SIG_free(sig);
        rig_encode(raw, sizeof raw, out);
        return;
    }
    rig_encode(made, n, out);
}

/* The token in `out`, which is cleared before. key NULL: an empty signature. */
static inline struct str rig_sign(EVP_PKEY *key, const char *header, const char *claims,
                                  struct buf *out)
{
    buf_clear(out);
    rig_encode_text(header, out);
    buf_add_char(out, '.');
    rig_encode_text(claims, out);
    struct str text = {strndup(out->p, out->n), (uint32_t)out->n};
    buf_add_char(out, '.');
    if (key)
        rig_add_signature(key, text, out);
    free((char *)(uintptr_t)text.p);
    return buf_str(out);
}

/* HS256 with any bytes as the secret. */
static inline struct str rig_sign_hmac(struct str secret, const char *header, const char *claims,
                                       struct buf *out)
{
    unsigned char mac[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    rig_sign(NULL, header, claims, out);
    HMAC(EVP_sha256(), secret.p, (int)secret.n, (const unsigned char *)out->p, out->n - 1, mac, &n);
    rig_encode(mac, n, out);
    return buf_str(out);
}

#endif
