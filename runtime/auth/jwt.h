/* auth/jwt.h - one signed token judged by given keys (JSON Web Token, RFC 7519; as an access token,
 * RFC 9068).
 *
 * The header is read first, then the signature checked, and only what is signed is read further.
 * Everything is read by base/json_tree: names that stand twice, deep nesting and bytes that are not
 * UTF-8 are refused. What a header says about where its key could be had (jku, x5u, jwk, x5c) is
 * never looked at. No clock, no I/O, no state: the fuzzer calls this.
 */
#ifndef TENON_AUTH_JWT_H
#define TENON_AUTH_JWT_H

#include "auth/key_set.h"
#include "core/access_verifier.h"

struct jwt_rules {
    struct str issuer;   /* `iss`, bytewise */
    struct str audience; /* one of `aud`, by uri_is_same */
    int64_t skew_ms;     /* between the issuer's clock and ours */
};

/* 0; KEY_UNKNOWN; ERR_UNAUTHORIZED, *ret_why says what is wrong in words that a client may see;
 * ERR_NO_MEMORY. keys NULL: none are known. */
int jwt_verify(const struct jwt_rules *rules, const struct key_set *keys, struct str token,
               int64_t now_ms, struct arena *arena, struct access_claims *ret,
               const char **ret_why);

#endif
