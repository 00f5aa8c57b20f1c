/* core/manage_access.h - makes, shows, changes and drops users, roles and tokens. As manage.h:
 * blocking, on a store, beside servers that run; each is done whole or not at all, and holds for
 * the next request on every worker.
 *
 * Whoever may call these may do everything: no check of a role stands here (operations_access.c has
 * it). Managers that come at the same time do one after the other: each looks at the records and
 * writes only if nobody changed any meanwhile, else it looks again, ACCESS_RETRIES_MAX times.
 *
 * Errors, beside those of the store: ERR_PARAMS: not a name, not a role; ERR_ABSENT: no such user,
 * role or token; ERR_EXISTS; ERR_LIMIT; ERR_FORBIDDEN: there would be no super user any more, and
 * `anyway` was not said; ERR_CONFLICT: the role is in use; ERR_STALE: overtaken too often.
 * manage_why tells all of them.
 */
#ifndef TENON_CORE_MANAGE_ACCESS_H
#define TENON_CORE_MANAGE_ACCESS_H

#include "core/access_record.h"
#include "core/manage.h"

/* ---- Users ---------------------------------------------------------------------------------- */

/* Borrowed until it returns. 0: go on; else stop. */
typedef int (*manage_user_fn)(void *ctx, const struct access_user *user);
/* By name, behind `after` (STR_NONE: from the first). */
int manage_list_users(struct manage *m, struct str after, manage_user_fn fn, void *ctx);

/* The roles must be there. */
int manage_create_user(struct manage *m, struct str name, const struct str *roles,
                       uint32_t n_roles);

struct manage_user_change {
    const struct str *roles; /* NULL: they stay */
    uint32_t n_roles;
    bool disables, enables; /* at most one */
    bool anyway;
};
int manage_alter_user(struct manage *m, struct str name, const struct manage_user_change *change);
/* His tokens go with him. */
int manage_drop_user(struct manage *m, struct str name, bool anyway);

/* ---- Roles ---------------------------------------------------------------------------------- */

/* `record` is the tree as JSON. */
typedef int (*manage_role_fn)(void *ctx, struct str name, struct str record);
int manage_list_roles(struct manage *m, struct str after, manage_role_fn fn, void *ctx);
/* Of a record. 0, ERR_NO_MEMORY; of one that is no role: false. Any thread. */
int manage_role_is_super(struct str record, bool *ret);
int manage_find_role(struct manage *m, struct str name, struct str *ret_record);
/* Makes the role, or gives it another tree. ERR_PARSE, or ERR_PARAMS with `faults` of m. */
int manage_put_role(struct manage *m, struct str name, struct str tree, bool anyway);
int manage_drop_role(struct manage *m, struct str name);

/* ---- Tokens --------------------------------------------------------------------------------- */

typedef int (*manage_token_fn)(void *ctx, const struct access_token *token);
/* In no order, but always the same. Of all users, or (`user` not STR_NONE) of one, who may be gone.
 */
int manage_list_tokens(struct manage *m, struct str user, manage_token_fn fn, void *ctx);

/* The text is in no record: who asked shows it once, and wipes this. */
struct manage_token {
    char text[ACCESS_TOKEN_BYTES + 1];
    char id[ACCESS_TOKEN_ID_BYTES + 1];
};
/* expires_ms 0: never. Those of the user that have expired go. */
int manage_create_token(struct manage *m, struct str user, struct str label, int64_t expires_ms,
                        struct manage_token *ret);
/* By its id, as list shows it; *ret_user is whose it was. */
int manage_revoke_token(struct manage *m, struct str id, struct str *ret_user);

#endif
