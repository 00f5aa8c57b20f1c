/* core/manage_access_parts.h - what the files of manage_access.h share: a change of the records. */
#ifndef TENON_CORE_MANAGE_ACCESS_PARTS_H
#define TENON_CORE_MANAGE_ACCESS_PARTS_H

#include "core/manage_access.h"
#include "core/role.h"

/* One try: `plan` looks by the view and adds operations, which are then done together. It is asked
 * anew if somebody else was faster. */
struct access_plan {
    struct manage *m;
    struct store_view *view;
    struct arena *arena; /* of this try */
    void *ctx;
    struct store_op *ops;
    struct store_access *records; /* of the operations */
    uint32_t n_ops, cap;
};
typedef int (*access_plan_fn)(struct access_plan *plan);

int manage_change_access(struct manage *m, access_plan_fn plan, void *ctx);
/* Adds one. `record` STR_NONE: it goes. */
int access_plan_add(struct access_plan *plan, enum store_access_kind kind, struct str name,
                    struct str record, uint64_t if_version);

/* Adds each that `fn` says 1 to: those will go. */
int access_plan_drop_tokens(struct access_plan *plan,
                            bool (*wants)(void *ctx, const struct access_token *token), void *ctx);

/* Each reads one, and says it if there is none. `user` with his version in *ret_version. */
int access_plan_user(struct access_plan *plan, struct str name, struct access_user *ret,
                     uint64_t *ret_version);
int access_plan_roles(struct access_plan *plan, const struct str *names, uint32_t n);

/* What the records will be, as far as it matters for who is a super user. */
struct access_after {
    struct str user;              /* STR_NONE: no user changes */
    const struct access_user *as; /* NULL: he will be gone */
    struct str role;              /* STR_NONE: no role changes */
    bool role_is_super;
};
/* ERR_FORBIDDEN, said, if there are super users and will be none. */
int access_plan_keeps_super(struct access_plan *plan, const struct access_after *after);

int manage_check_user_name(struct manage *m, struct str name);
int manage_check_role_name(struct manage *m, struct str name);

#endif
