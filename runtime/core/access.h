/* core/access.h - who asks: a credential becomes a user with a role.
 *
 * A transport takes the credential from what it got (a bearer token, a certificate that TLS has
 * verified, or none) and asks access_identify before it reads a body. What comes of it goes with
 * the call, and with each stream that the call opens. A credential that is refused never counts as
 * none (issue: a rejected credential never becomes anonymous).
 *
 * Users, roles and tokens are records of the store (core/access_record.h), with one version for all
 * of them: what was worked out of them is used as long as that version stands, so a change holds
 * for the next request on every worker, and streams look again when they are woken by it.
 *
 * Loop only, but that what a struct access holds may be read by any thread while its call lives.
 */
#ifndef TENON_CORE_ACCESS_H
#define TENON_CORE_ACCESS_H

#include "core/role.h"

struct call;
struct core;

enum credential_kind {
    CREDENTIAL_NONE,
    CREDENTIAL_BEARER,      /* text: the token */
    CREDENTIAL_CERTIFICATE, /* text: the common name of the client certificate's subject */
};

struct credential {
    enum credential_kind kind;
    struct str text;
};

struct access {
    uint32_t refs;
    struct str user;      /* "" for nobody */
    struct str role_name; /* the names of his roles, sorted, a space between; "" of super users
                             without one */
    const struct role *role;
    uint64_t version;   /* of the records by which it was found; 0: of none */
    int64_t expires_ms; /* wall time; INT64_MAX: never */
};

/* Everything, for nobody in particular: of stdio, whose client is who started it, and of a loopback
 * listener as long as there are no users. Never freed; references are not counted. */
struct access *access_super(void);
struct access *access_ref(struct access *access);
void access_unref(struct access *access); /* NULL is fine */

/* Who this is. 0; 1: a key must be fetched first, see access_wait; ERR_UNAUTHORIZED (*ret_why then
 * says what is wrong, in words that the client may see: "expired", ...; NULL: it sent no
 * credential, and nobody has a role), ERR_BUSY (keys cannot be had now), ERR_NO_MEMORY, or what the
 * store says. *ret is a reference. */
#define ACCESS_LATER 1
int access_identify(struct core *core, const struct credential *credential, struct access **ret,
                    const char **ret_why);

/* After ACCESS_LATER, instead of core_handle, with the call complete but for in.access: fetches the
 * keys on a handler thread, asks access_identify again, and hands the call to core_handle, or
 * answers it with the error (call->out.why then says what *ret_why would). The text of the
 * credential lies in the call's arena, and is wiped. */
void access_wait(struct core *core, struct call *call, const struct credential *credential);

#endif
