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
 * Whose is what:
 *   - a token of our own ("tenon_..."): that of the user it was made for, with his roles;
 *   - a certificate: that of the user of its name;
 *   - a signed token: that of its subject. With a list of scopes (rules.scopes) its roles are those
 *     that its scopes stand for, and a user record of the subject's name can only switch him off:
 *     a token must not do more than it was granted. Without such a list the record says the roles.
 *   - nothing: anonymous, see enum access_anonymous.
 *
 * Loop only, but that what a struct access holds may be read by any thread while its call lives.
 */
#ifndef TENON_CORE_ACCESS_H
#define TENON_CORE_ACCESS_H

#include "core/access_verifier.h"
#include "core/role.h"

struct access_source;
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
    struct str also; /* beside a token: the name of the client's certificate. It adds nothing, but
                        the user must be this one. STR_NONE: none. */
};

struct access {
    uint32_t refs;
    struct str user;      /* "" for nobody */
    struct str role_name; /* the names of his roles, sorted, a space between; "" of super users
                             without one */
    const struct role *role;
    uint64_t version;                   /* of the records by which it was found; 0: of none */
    int64_t since_ms;                   /* wall time: when the user was made; 0: no record says so.
                                           Sessions that are older are somebody else's. */
    int64_t expires_ms;                 /* wall time; INT64_MAX: never */
    const struct access_source *source; /* access.c's own: what to look for again, but no token;
                                           NULL: it holds whatever the records say */
};

/* What a client without a credential may do. */
enum access_anonymous {
    /* Everything, on a loopback listener as long as there are no users and signed tokens are not
     * taken; else nothing. */
    ANONYMOUS_AS_LISTENER,
    ANONYMOUS_OFF,
    ANONYMOUS_ROLE, /* what the role of that name may, unless that is everything: then nothing */
};

struct access_scope {
    struct str scope, role;
};

/* What the operator decides; see core_config. All of it outlives the core. */
struct access_rules {
    enum access_anonymous anonymous;
    struct str anonymous_role;
    bool is_loopback;                       /* nobody but this machine reaches any listener */
    const struct access_verifier *verifier; /* of signed tokens; NULL: they are not taken */
    const struct access_scope *scopes;
    uint32_t n_scopes;         /* 0: the roles are those of the user records */
    struct str required_scope; /* that each signed token must have; n 0: none */
    int64_t clock_skew_ms;     /* for which a signed token is taken after it expired */
};

/* Everything, for nobody in particular: of stdio, whose client is who started it. Never freed;
 * references are not counted. */
struct access *access_super(void);
struct access *access_ref(struct access *access);
void access_unref(struct access *access); /* NULL is fine */

/* Who this is. 0; ACCESS_LATER: a key must be fetched first, see access_wait; ERR_UNAUTHORIZED
 * (*ret_why then says what is wrong, static words that the client may see; NULL: it sent no
 * credential, and nobody has a role), ERR_SCOPE (the token is good, but allows nothing here),
 * ERR_BUSY (keys cannot be had now), ERR_NO_MEMORY, or what the store says. *ret is a reference. */
#define ACCESS_LATER 1
int access_identify(struct core *core, const struct credential *credential, struct access **ret,
                    const char **ret_why);

/* After ACCESS_LATER, instead of core_handle, with the call complete but for in.access: fetches the
 * keys on a handler thread, asks access_identify again, and hands the call to core_handle, or
 * answers it with the error (call->out.why then says what *ret_why would). The text of the
 * credential lies in the call's arena, and is wiped. */
void access_wait(struct core *core, struct call *call, const struct credential *credential);

/* The same who, by the records of now: for a stream, when the records have changed or the time has
 * come that it expires. As access_identify, but never later; *ret may be `access` itself, with one
 * reference more. */
int access_renew(struct core *core, struct access *access, struct access **ret,
                 const char **ret_why);

/* The version of the records now, for who wants to know whether access_renew is due. 0, or what the
 * store says. */
int access_version_now(struct core *core, uint64_t *ret);

/* For core.c only. What a worker keeps of whom it has identified. */
struct accesses;
int accesses_new(struct core *core, struct accesses **ret);
void accesses_free(struct accesses *accesses); /* NULL is fine */

#endif
