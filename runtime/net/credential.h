/* net/credential.h - what a request shows of who sends it (RFC 6750, MCP 2025-06-18 Authorization).
 *
 * A token comes in the Authorization header and nowhere else. What is there and cannot be read is
 * refused: it never counts as nothing.
 */
#ifndef TENON_NET_CREDENTIAL_H
#define TENON_NET_CREDENTIAL_H

#include "core/access.h"
#include "net/head.h"

/* `certificate`: the name that TLS has verified, or STR_NONE; a token goes before it, and must be
 * of the same user. Borrowed from the head. 0; ERR_REQUEST: malformed; ERR_UNAUTHORIZED: of a kind
 * that this server does not take; then *ret_why says what is wrong, or is NULL. */
int credential_read(const struct http_head *head, struct str certificate, struct credential *ret,
                    const char **ret_why);

#endif
