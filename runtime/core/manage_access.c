/* core/manage_access.c - see manage_access.h: the way of a change, and who stays a super user. */
#include "core/manage_access_parts.h"

#include "base/err.h"
#include "base/limits.h"

#include <string.h>

/* ---- Names ---------------------------------------------------------------------------------- */

int manage_check_user_name(struct manage *m, struct str name)
{
    if (access_user_name_is_valid(name))
        return 0;
    return manage_fail(m, ERR_PARAMS,
                       "the name of a user has to be 1 to %d bytes of text, without control "
                       "characters and blanks at its ends",
                       ACCESS_NAME_BYTES);
}

int manage_check_role_name(struct manage *m, struct str name)
{
    if (access_role_name_is_valid(name))
        return 0;
    return manage_fail(m, ERR_PARAMS,
                       "the name of a role has to be a letter, then letters, digits and any of "
                       "_ - . , at most %d in all",
                       NAME_BYTES_MAX);
}

/* ---- Operations ----------------------------------------------------------------------------- */

static bool make_room(struct access_plan *plan)
{
    if (plan->ops)
        return plan->n_ops < plan->cap;
    plan->cap = TXN_ROWS_MAX;
    plan->ops = arena_array(plan->arena, plan->cap, sizeof *plan->ops);
    plan->records = arena_array(plan->arena, plan->cap, sizeof *plan->records);
    return plan->ops && plan->records;
}

int access_plan_add(struct access_plan *plan, enum store_access_kind kind, struct str name,
                    struct str record, uint64_t if_version)
{
    if (!make_room(plan))
        return plan->n_ops < TXN_ROWS_MAX ? ERR_NO_MEMORY : ERR_LIMIT;
    struct store_access *access = &plan->records[plan->n_ops];
    *access = (struct store_access){.kind = kind, .name = arena_str(plan->arena, name)};
    if (record.p)
        access->record = arena_str(plan->arena, record);
    plan->ops[plan->n_ops++] = (struct store_op){
        .kind = record.p ? STORE_PUT_ACCESS : STORE_DELETE_ACCESS,
        .if_version = if_version,
        .access = access,
    };
    return access->name.p && (access->record.p || !record.p) ? 0 : ERR_NO_MEMORY;
}

/* All in one transaction, so one comparison is enough; behind it the version has moved. */
static int apply(struct access_plan *plan, uint64_t version)
{
    struct store_write write = {.space = STORE_DATA, .ops = plan->ops, .n_ops = plan->n_ops};
    if (plan->n_ops == 0)
        return 0;
    plan->ops[0].access_version = version;
    return store_apply(plan->m->store, &write);
}

static int look(struct access_plan *plan, access_plan_fn fn, uint64_t *ret_version)
{
    int err = store_view_open(plan->m->store, STORE_DATA, &plan->view);
    if (err < 0)
        return err;
    err = store_access_version(plan->view, ret_version);
    if (err == 0)
        err = fn(plan);
    store_view_close(plan->view);
    return err;
}

/* What somebody else did between the look and the write. */
static bool is_overtaken(int err)
{
    return err == ERR_STALE || err == ERR_CONFLICT || err == ERR_ABSENT || err == ERR_EXISTS;
}

static int try_change(struct manage *m, access_plan_fn fn, void *ctx, bool *ret_again)
{
    struct arena arena;
    uint64_t version;
    arena_init(&arena, 0);
    struct access_plan plan = {.m = m, .arena = &arena, .ctx = ctx};
    int err = look(&plan, fn, &version);
    *ret_again = false;
    if (err == 0) {
        err = apply(&plan, version);
        *ret_again = is_overtaken(err);
    }
    arena_done(&arena);
    return err;
}

int manage_change_access(struct manage *m, access_plan_fn fn, void *ctx)
{
    bool again = true;
    int err = 0;
    for (int i = 0; again && i < ACCESS_RETRIES_MAX; i++) {
        m->why = STR_NONE;
        err = try_change(m, fn, ctx, &again);
    }
    if (again)
        return manage_fail(m, ERR_STALE,
                           "users and roles are being changed all the time; try again");
    if (err == ERR_LIMIT && m->why.n == 0)
        return manage_fail(m, err, "there are too many users, roles and tokens");
    return err;
}

/* ---- Reading what stands -------------------------------------------------------------------- */

int access_plan_user(struct access_plan *plan, struct str name, struct access_user *ret,
                     uint64_t *ret_version)
{
    struct store_access stored;
    int err = manage_check_user_name(plan->m, name);
    if (err < 0)
        return err;
    err = store_get_access(plan->view, STORE_USER, name, plan->arena, &stored);
    if (err == ERR_ABSENT)
        return manage_fail(plan->m, err, "there is no user " STR_FMT, STR_ARG(name));
    if (err < 0)
        return err;
    *ret_version = stored.version;
    *ret = (struct access_user){.name = name};
    return access_user_read(stored.record, plan->arena, ret);
}

int access_plan_roles(struct access_plan *plan, const struct str *names, uint32_t n)
{
    struct store_access stored;
    if (n > ACCESS_ROLES_MAX)
        return manage_fail(plan->m, ERR_LIMIT, "a user has at most %d roles", ACCESS_ROLES_MAX);
    for (uint32_t i = 0; i < n; i++) {
        int err = manage_check_role_name(plan->m, names[i]);
        if (err == 0)
            err = store_get_access(plan->view, STORE_ROLE, names[i], plan->arena, &stored);
        if (err == ERR_ABSENT)
            return manage_fail(plan->m, err, "there is no role " STR_FMT, STR_ARG(names[i]));
        if (err < 0)
            return err;
    }
    return 0;
}

/* ---- Tokens that go ------------------------------------------------------------------------- */

struct token_drop {
    struct access_plan *plan;
    bool (*wants)(void *ctx, const struct access_token *token);
    void *ctx;
};

static int drop_token(void *ctx, const struct store_access *access)
{
    struct token_drop *drop = ctx;
    struct access_token token;
    struct arena scratch;
    arena_init(&scratch, 0);
    int err = access_token_read(access->record, &scratch, &token);
    if (err == 0 && drop->wants(drop->ctx, &token))
        err = access_plan_add(drop->plan, STORE_TOKEN, access->name, STR_NONE, STORE_ANY);
    arena_done(&scratch);
    return err == ERR_STORE_DAMAGED ? 0 : err; /* it is nobody's */
}

int access_plan_drop_tokens(struct access_plan *plan,
                            bool (*wants)(void *ctx, const struct access_token *token), void *ctx)
{
    struct token_drop drop = {plan, wants, ctx};
    return store_scan_access(plan->view, STORE_TOKEN, STR_NONE, drop_token, &drop);
}

/* ---- Who is a super user -------------------------------------------------------------------- */

struct supers {
    struct access_plan *plan;
    const struct access_after *after;
    struct str *roles; /* that are, or will be, of super users */
    uint32_t n_roles, cap;
    bool counts_after, found;
};

int manage_role_is_super(struct str record, bool *ret)
{
    struct arena arena;
    const struct role *role;
    struct schema_faults faults = {0};
    arena_init(&arena, 0);
    int err = role_parse(record, &arena, &role, &faults);
    *ret = err == 0 && role_is_super(role);
    arena_done(&arena);
    return err == ERR_NO_MEMORY ? err : 0;
}

static int add_role(struct supers *s, struct str name)
{
    if (s->n_roles == s->cap) {
        uint32_t cap = s->cap ? 2 * s->cap : 8;
        struct str *roles = arena_array(s->plan->arena, cap, sizeof *roles);
        if (!roles)
            return ERR_NO_MEMORY;
        if (s->n_roles)
            memcpy(roles, s->roles, s->n_roles * sizeof *roles);
        s->roles = roles;
        s->cap = cap;
    }
    s->roles[s->n_roles] = arena_str(s->plan->arena, name);
    return s->roles[s->n_roles++].p ? 0 : ERR_NO_MEMORY;
}

static int note_role(void *ctx, const struct store_access *access)
{
    struct supers *s = ctx;
    bool changes = s->counts_after && s->after->role.p && str_eq(access->name, s->after->role);
    bool super = s->after->role_is_super;
    int err = changes ? 0 : manage_role_is_super(access->record, &super);
    return err == 0 && super ? add_role(s, access->name) : err;
}

static bool has_super_role(const struct supers *s, const struct access_user *user)
{
    for (uint32_t i = 0; i < user->n_roles; i++)
        for (uint32_t j = 0; j < s->n_roles; j++)
            if (str_eq(user->roles[i], s->roles[j]))
                return true;
    return false;
}

static int note_user(void *ctx, const struct store_access *access)
{
    struct supers *s = ctx;
    struct access_user user = {.name = access->name};
    const struct access_user *as = &user;
    struct arena scratch;
    arena_init(&scratch, 0);
    int err = access_user_read(access->record, &scratch, &user);
    if (s->counts_after && s->after->user.p && str_eq(access->name, s->after->user))
        as = s->after->as;
    if (err == 0 && as && !as->is_disabled && has_super_role(s, as))
        s->found = true;
    arena_done(&scratch);
    return s->found ? 1 : err == ERR_STORE_DAMAGED ? 0 : err;
}

static int find_super(struct access_plan *plan, const struct access_after *after, bool counts_after,
                      bool *ret)
{
    struct supers s = {.plan = plan, .after = after, .counts_after = counts_after};
    int err = store_scan_access(plan->view, STORE_ROLE, STR_NONE, note_role, &s);
    if (err == 0)
        err = store_scan_access(plan->view, STORE_USER, STR_NONE, note_user, &s);
    *ret = s.found;
    return err < 0 ? err : 0;
}

int access_plan_keeps_super(struct access_plan *plan, const struct access_after *after)
{
    bool is_one, will_be_one;
    int err = find_super(plan, after, true, &will_be_one);
    if (err < 0 || will_be_one)
        return err;
    err = find_super(plan, after, false, &is_one);
    if (err < 0 || !is_one)
        return err;
    return manage_fail(plan->m, ERR_FORBIDDEN,
                       "no super user would be left who is not switched off");
}
