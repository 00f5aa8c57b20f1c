/* core/access_verifier.h - what core needs to know whose a signed token is: a port, implemented in
 * auth/ (JSON Web Tokens by the keys of an authorization server).
 *
 * MCP 2025-06-18, Authorization, Token Handling: the signature, issuer, audience and times of the
 * token have been checked when `verify` returns 0; what the claims allow is core's matter.
 */
#ifndef TENON_CORE_ACCESS_VERIFIER_H
#define TENON_CORE_ACCESS_VERIFIER_H

#include "base/arena.h"

struct access_claims {
    struct str subject;
    struct str scopes;  /* names with one space between; "" for none */
    int64_t expires_ms; /* wall time, without the allowed skew */
};

struct access_verifier {
    void *ctx;
    /* Is it shaped like a signed token, so that it is this one's to judge? Any thread. */
    bool (*is_mine)(void *ctx, struct str token);
    /* Loop; does no I/O. 0; 1: its key is not known, and may be fetched (not too often);
     * ERR_UNAUTHORIZED with *ret_why; ERR_BUSY: keys cannot be had now; ERR_NO_MEMORY. Copied into
     * the arena. */
    int (*verify)(void *ctx, struct str token, int64_t now_ms, struct arena *arena,
                  struct access_claims *ret, const char **ret_why);
    /* Handler thread: fetches the keys anew, by I/O with a deadline. 0, ERR_BUSY, ERR_NO_MEMORY.
     * Several may do so at once; one does it, the others wait for that one. */
    int (*fetch)(void *ctx);
};

#endif
