/* auth/key_set.c - see key_set.h. */
#include "auth/key_set.h"

#include "base/base64.h"
#include "base/err.h"
#include "base/json_tree.h"
#include "base/limits.h"

#include <cjose/cjose.h>
#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>

#define COORDINATE_BYTES 32 /* of a point of P-256 */
#define EXPONENT_BYTES   4  /* of an RSA key */
#define SIGNATURE_BYTES  64 /* of ES256: two numbers */

struct key {
    struct str kid; /* STR_NONE: it has no name */
    enum jwt_alg alg;
    cjose_jwk_t *jwk;
};

struct key_set {
    struct arena arena; /* names */
    struct key keys[JWKS_KEYS_MAX];
    uint32_t n;
};

/* ---- Reading -------------------------------------------------------------------------------- */

static bool lists(const struct json *array, struct str word)
{
    json_each (item, array)
        if (str_eq(json_str(item), word))
            return true;
    return false;
}

/* What the publisher says about its use, where he does. */
static bool may_check(const struct json *jwk, struct str alg)
{
    const struct json *use = json_get(jwk, STR("use")), *ops = json_get(jwk, STR("key_ops"));
    const struct json *only = json_get(jwk, STR("alg"));
    return (!use || str_eq(json_str(use), STR("sig"))) && (!ops || lists(ops, STR("verify"))) &&
           (!only || str_eq(json_str(only), alg));
}

/* The bytes of a member in base64url. False: not there, or none. */
static bool read_number(const struct json *jwk, struct str name, struct buf *ret)
{
    struct str text = json_str(json_get(jwk, name));
    return text.n && base64url_read(text, ret) == 0 && ret->n;
}

static uint32_t count_bits(const struct buf *number)
{
    size_t zeros = 0;
    while (zeros < number->n && !number->p[zeros])
        zeros++;
    uint32_t bits = (uint32_t)(number->n - zeros) * 8;
    for (unsigned top = bits ? (unsigned char)number->p[zeros] : 0x80; !(top & 0x80); top <<= 1)
        bits--;
    return bits;
}

static bool is_fine_rsa(const struct buf *n, const struct buf *e)
{
    uint32_t bits = count_bits(n);
    return bits >= RSA_BITS_MIN && bits <= RSA_BITS_MAX && n->p[n->n - 1] & 1 &&
           e->n <= EXPONENT_BYTES && count_bits(e) >= 2 && e->p[e->n - 1] & 1;
}

static cjose_jwk_t *make_rsa(const struct json *jwk)
{
    struct buf n = {0}, e = {0};
    cjose_jwk_t *made = NULL;
    cjose_err why;
    if (read_number(jwk, STR("n"), &n) && read_number(jwk, STR("e"), &e) && is_fine_rsa(&n, &e)) {
        cjose_jwk_rsa_keyspec spec = {
            .n = (uint8_t *)n.p, .nlen = n.n, .e = (uint8_t *)e.p, .elen = e.n};
        made = cjose_jwk_create_RSA_spec(&spec, &why);
    }
    buf_done(&n);
    buf_done(&e);
    return made;
}

static cjose_jwk_t *make_p256(const struct json *jwk)
{
    struct buf x = {0}, y = {0};
    cjose_jwk_t *made = NULL;
    cjose_err why;
    if (str_eq(json_str(json_get(jwk, STR("crv"))), STR("P-256")) &&
        read_number(jwk, STR("x"), &x) && read_number(jwk, STR("y"), &y) &&
        x.n == COORDINATE_BYTES && y.n == COORDINATE_BYTES) {
        cjose_jwk_ec_keyspec spec = {.crv = CJOSE_JWK_EC_P_256,
                                     .x = (uint8_t *)x.p,
                                     .xlen = x.n,
                                     .y = (uint8_t *)y.p,
                                     .ylen = y.n};
        made = cjose_jwk_create_EC_spec(&spec, &why); /* NULL for what is no point of the curve */
    }
    buf_done(&x);
    buf_done(&y);
    return made;
}

static const struct {
    struct str kty, name;
    cjose_jwk_t *(*make)(const struct json *jwk);
} algs[JWT_ALGS] = {
    [JWT_RS256] = {STR_INIT("RSA"), STR_INIT("RS256"), make_rsa},
    [JWT_ES256] = {STR_INIT("EC"), STR_INIT("ES256"), make_p256},
};

enum jwt_alg jwt_alg_find(struct str name)
{
    enum jwt_alg alg = 0;
    while (alg < JWT_ALGS && !str_eq(algs[alg].name, name))
        alg++;
    return alg;
}

/* Passes over what is no key for one of our algorithms. */
static int add_key(struct key_set *set, const struct json *jwk)
{
    struct str kty = json_str(json_get(jwk, STR("kty")));
    const struct json *name = json_get(jwk, STR("kid"));
    struct key *key = &set->keys[set->n];
    for (enum jwt_alg alg = 0; alg < JWT_ALGS; alg++) {
        if (!str_eq(kty, algs[alg].kty) || !may_check(jwk, algs[alg].name) || json_duplicate(jwk) ||
            (name && name->kind != JSON_STR))
            continue;
        *key = (struct key){.alg = alg, .jwk = algs[alg].make(jwk)};
        if (!key->jwk)
            continue;
        set->n++;
        if (name && !(key->kid = arena_str(&set->arena, json_str(name))).p)
            return ERR_NO_MEMORY;
    }
    return 0;
}

static int refuse(int err, const char *why, const char **ret_why)
{
    *ret_why = why;
    return err;
}

static int add_keys(struct key_set *set, const struct json *root, const char **ret_why)
{
    const struct json *keys = json_get(root, STR("keys"));
    int err = 0;
    if (!keys || keys->kind != JSON_ARRAY || json_duplicate(root))
        return refuse(ERR_PARAMS, "no JSON Web Key Set: an object with \"keys\"", ret_why);
    if (keys->n > JWKS_KEYS_MAX)
        return refuse(ERR_LIMIT, "too many keys", ret_why);
    json_each (jwk, keys)
        if (err == 0)
            err = add_key(set, jwk);
    return err;
}

static int parse(struct key_set *set, struct str text, struct arena *arena, const char **ret_why)
{
    struct json *root;
    if (text.n > JWKS_BYTES)
        return refuse(ERR_LIMIT, "too large", ret_why);
    int err = json_tree_parse(text, arena, &root, NULL);
    if (err == ERR_NO_MEMORY)
        return err;
    return err ? refuse(ERR_PARAMS, "no JSON", ret_why) : add_keys(set, root, ret_why);
}

int key_set_parse(struct str text, struct key_set **ret, const char **ret_why)
{
    struct key_set *set = calloc(1, sizeof *set);
    struct arena arena;
    if (!set)
        return ERR_NO_MEMORY;
    arena_init(&set->arena, 0);
    arena_init(&arena, JWKS_TREE_BYTES);
    int err = parse(set, text, &arena, ret_why);
    arena_done(&arena);
    ERR_clear_error(); /* of keys that were passed over */
    if (err < 0)
        key_set_free(set);
    else
        *ret = set;
    return err;
}

void key_set_free(struct key_set *set)
{
    if (!set)
        return;
    for (uint32_t i = 0; i < set->n; i++)
        cjose_jwk_release(set->keys[i].jwk);
    arena_done(&set->arena);
    free(set);
}

uint32_t key_set_count(const struct key_set *set)
{
    return set->n;
}

/* ---- Checking ------------------------------------------------------------------------------- */

/* The library cuts an ES256 signature in the middle, whatever its length is. */
static bool has_fine_signature(enum jwt_alg alg, struct str token)
{
    const char *dot = memrchr(token.p, '.', token.n);
    struct buf bytes = {0};
    if (!dot)
        return false;
    int err =
        base64url_read((struct str){dot + 1, (uint32_t)(token.p + token.n - dot - 1)}, &bytes);
    bool fine = err == 0 && (alg != JWT_ES256 || bytes.n == SIGNATURE_BYTES);
    buf_done(&bytes);
    return fine;
}

/* 0, ERR_UNAUTHORIZED, ERR_NO_MEMORY. What OpenSSL leaves of a failure would be read as one of the
 * next connection that asks it. */
static int check(const struct key *key, struct str token)
{
    cjose_err why = {0};
    cjose_jws_t *jws = cjose_jws_import(token.p, token.n, &why);
    bool fine = jws && cjose_jws_verify(jws, key->jwk, &why);
    cjose_jws_release(jws);
    ERR_clear_error();
    return fine ? 0 : why.code == CJOSE_ERR_NO_MEMORY ? ERR_NO_MEMORY : ERR_UNAUTHORIZED;
}

int key_set_verify(const struct key_set *set, enum jwt_alg alg, struct str kid, struct str token)
{
    uint32_t n_tried = 0;
    bool is_named = false;
    if (!has_fine_signature(alg, token))
        return ERR_UNAUTHORIZED;
    for (uint32_t i = 0; i < set->n && n_tried < JWKS_TRIES_MAX; i++) {
        const struct key *key = &set->keys[i];
        if (key->alg != alg || (kid.p && key->kid.p && !str_eq(kid, key->kid)))
            continue;
        int err = check(key, token);
        if (err != ERR_UNAUTHORIZED)
            return err;
        is_named = is_named || (kid.p && key->kid.p);
        n_tried++;
    }
    return is_named ? ERR_UNAUTHORIZED : KEY_UNKNOWN;
}
