/* auth/verifier.h - the port core/access_verifier.h: signed tokens of one authorization server.
 *
 * One for each worker, with its own copy of the keys. RS256 and ES256; the library for signatures
 * (libcjose 0.6) knows no EdDSA.
 */
#ifndef TENON_AUTH_VERIFIER_H
#define TENON_AUTH_VERIFIER_H

#include "core/access_verifier.h"

/* Strings are borrowed. */
struct auth_config {
    struct str issuer, audience;
    const char *jwks; /* an http or https URL, or the path of a file */
    int64_t max_age_ms;
    int64_t skew_ms;
};

/* 0, ERR_NO_MEMORY. */
int auth_verifier_new(const struct auth_config *config, struct access_verifier **ret);
void auth_verifier_free(struct access_verifier *verifier); /* NULL is fine; no fetch may run */

/* Can the keys be had, if they lie in a file? 0; ERR_IO, ERR_PARAMS, ERR_LIMIT, ERR_NO_MEMORY, and
 * one line in the log. Nothing is fetched. */
int auth_check_file(const char *jwks);

#endif
