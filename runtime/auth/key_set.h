/* auth/key_set.h - the public keys of an authorization server (JSON Web Key Set, RFC 7517).
 *
 * Only what may check a signature is taken from the text: RSA keys of RSA_BITS_MIN to RSA_BITS_MAX
 * bits and keys of the curve P-256. Symmetric keys are never read, so no token can be signed with
 * what everybody knows; keys of other kinds, for encryption, or that are broken are passed over, as
 * section 5 says. The text comes from outside and is read by base/json_tree, not by the library
 * that checks signatures: that one gets numbers only.
 *
 * A set is immutable. Signatures are checked by one thread at a time.
 */
#ifndef TENON_AUTH_KEY_SET_H
#define TENON_AUTH_KEY_SET_H

#include "base/str.h"

/* Each signs with keys of one kind only. */
enum jwt_alg { JWT_RS256, JWT_ES256, JWT_ALGS };

enum jwt_alg jwt_alg_find(struct str name); /* JWT_ALGS: none of these */

struct key_set;

/* At most JWKS_BYTES. 0; ERR_PARAMS with *ret_why: no set of keys; ERR_LIMIT likewise;
 * ERR_NO_MEMORY. A set may be empty: then no token is good. The text is not kept. */
int key_set_parse(struct str text, struct key_set **ret, const char **ret_why);
void key_set_free(struct key_set *set); /* NULL is fine */
uint32_t key_set_count(const struct key_set *set);

/* Is the token signed by a key of the set? `kid`: the key that the token names; STR_NONE: any. Keys
 * without a name are tried for every token; JWKS_TRIES_MAX at most. 0; KEY_UNKNOWN: by none of
 * those, and none was named so; ERR_UNAUTHORIZED: not by the one that is named; ERR_NO_MEMORY. */
#define KEY_UNKNOWN 1
int key_set_verify(const struct key_set *set, enum jwt_alg alg, struct str kid, struct str token);

#endif
