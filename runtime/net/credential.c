/* net/credential.c - see credential.h. */
#include "net/credential.h"

#include "base/err.h"
#include "base/limits.h"
#include "net/headers.h"

static int refuse(int err, const char *why, const char **ret_why)
{
    *ret_why = why;
    return err;
}

static int read_header(struct str value, struct str certificate, struct credential *ret,
                       const char **ret_why)
{
    struct str token;
    if (value.n > CREDENTIAL_BYTES)
        return refuse(ERR_REQUEST, "the Authorization header is too long", ret_why);
    switch (header_bearer(value, &token)) {
    case HEADER_BEARER:
        *ret = (struct credential){CREDENTIAL_BEARER, token, certificate};
        return 0;
    case HEADER_OTHER_SCHEME: /* RFC 6750 section 3.1: as if it had sent none, but refused */
        return refuse(ERR_UNAUTHORIZED, NULL, ret_why);
    default:
        return refuse(ERR_REQUEST, "the Authorization header is malformed", ret_why);
    }
}

int credential_read(const struct http_head *head, struct str certificate, struct credential *ret,
                    const char **ret_why)
{
    bool has_header = head->authorization.p;
    *ret_why = NULL;
    if (head->query_has_token)
        return refuse(has_header ? ERR_REQUEST : ERR_UNAUTHORIZED,
                      "a token in the query is not taken", ret_why);
    if (has_header)
        return read_header(head->authorization, certificate, ret, ret_why);
    *ret = certificate.p ? (struct credential){.kind = CREDENTIAL_CERTIFICATE, .text = certificate}
                         : (struct credential){.kind = CREDENTIAL_NONE};
    return 0;
}
