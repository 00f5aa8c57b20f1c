/* core/manage_users.c - see manage_access.h: users and roles. */
#include "core/manage_access_parts.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/limits.h"
#include "wire/tape.h"

#include <string.h>

/* ---- Listing -------------------------------------------------------------------------------- */

static int scan(struct manage *m, enum store_access_kind kind, struct str after, store_access_fn fn,
                void *ctx)
{
    struct store_view *view;
    int err = store_view_open(m->store, STORE_DATA, &view);
    if (err < 0)
        return err;
    err = store_scan_access(view, kind, after, fn, ctx);
    store_view_close(view);
    return err;
}

struct listing {
    manage_user_fn user;
    manage_role_fn role;
    void *ctx;
};

static int show_user(void *ctx, const struct store_access *access)
{
    const struct listing *l = ctx;
    struct access_user user = {.name = access->name};
    struct arena scratch;
    arena_init(&scratch, 0);
    int err = access_user_read(access->record, &scratch, &user);
    if (err == 0)
        err = l->user(l->ctx, &user);
    arena_done(&scratch);
    return err;
}

int manage_list_users(struct manage *m, struct str after, manage_user_fn fn, void *ctx)
{
    struct listing l = {.user = fn, .ctx = ctx};
    return scan(m, STORE_USER, after, show_user, &l);
}

static int show_role(void *ctx, const struct store_access *access)
{
    const struct listing *l = ctx;
    return l->role(l->ctx, access->name, access->record);
}

int manage_list_roles(struct manage *m, struct str after, manage_role_fn fn, void *ctx)
{
    struct listing l = {.role = fn, .ctx = ctx};
    return scan(m, STORE_ROLE, after, show_role, &l);
}

int manage_find_role(struct manage *m, struct str name, struct str *ret_record)
{
    struct store_view *view;
    struct store_access stored;
    int err = manage_check_role_name(m, name);
    if (err == 0)
        err = store_view_open(m->store, STORE_DATA, &view);
    if (err < 0)
        return err;
    err = store_get_access(view, STORE_ROLE, name, m->arena, &stored);
    store_view_close(view);
    if (err == ERR_ABSENT)
        return manage_fail(m, err, "there is no role " STR_FMT, STR_ARG(name));
    if (err == 0)
        *ret_record = stored.record;
    return err;
}

/* ---- Users ---------------------------------------------------------------------------------- */

struct user_plan {
    struct str name;
    const struct str *roles; /* of a new one */
    uint32_t n_roles;
    struct manage_user_change change; /* of one that is there */
};

static int put_user(struct access_plan *plan, const struct access_user *user, uint64_t if_version)
{
    struct buf text = {0};
    access_user_write(user, &text);
    int err = text.failed
                  ? ERR_NO_MEMORY
                  : access_plan_add(plan, STORE_USER, user->name, buf_str(&text), if_version);
    buf_done(&text);
    return err;
}

/* Sorted, in the try's arena. */
static int copy_roles(struct access_plan *plan, const struct str *roles, uint32_t n,
                      struct access_user *user)
{
    struct str *copy = arena_array(plan->arena, n + 1, sizeof *copy);
    if (!copy)
        return ERR_NO_MEMORY;
    if (n)
        memcpy(copy, roles, n * sizeof *copy);
    user->roles = copy;
    user->n_roles = access_sort_names(copy, n);
    return access_plan_roles(plan, user->roles, user->n_roles);
}

static int plan_create(struct access_plan *plan)
{
    const struct user_plan *p = plan->ctx;
    char generation[ACCESS_GENERATION_BYTES + 1];
    struct access_user user = {.name = p->name, .created_ms = clock_wall_ms()};
    struct store_access stored;
    int err = manage_check_user_name(plan->m, p->name);
    if (err == 0)
        err = store_get_access(plan->view, STORE_USER, p->name, plan->arena, &stored);
    if (err == 0)
        return manage_fail(plan->m, ERR_EXISTS, "there is a user " STR_FMT " already",
                           STR_ARG(p->name));
    if (err != ERR_ABSENT)
        return err;
    err = copy_roles(plan, p->roles, p->n_roles, &user);
    if (err == 0)
        err = access_random_hex(generation, ACCESS_GENERATION_BYTES);
    user.generation = str_of(generation);
    return err < 0 ? err : put_user(plan, &user, STORE_MISSING);
}

int manage_create_user(struct manage *m, struct str name, const struct str *roles, uint32_t n_roles)
{
    struct user_plan p = {.name = name, .roles = roles, .n_roles = n_roles};
    return manage_change_access(m, plan_create, &p);
}

static int check_after(struct access_plan *plan, const struct user_plan *p,
                       const struct access_user *as)
{
    struct access_after after = {.user = p->name, .as = as};
    return p->change.anyway ? 0 : access_plan_keeps_super(plan, &after);
}

static int plan_alter(struct access_plan *plan)
{
    const struct user_plan *p = plan->ctx;
    const struct manage_user_change *change = &p->change;
    struct access_user user;
    uint64_t version;
    int err = access_plan_user(plan, p->name, &user, &version);
    if (err == 0 && change->roles)
        err = copy_roles(plan, change->roles, change->n_roles, &user);
    if (err < 0)
        return err;
    user.is_disabled = (user.is_disabled || change->disables) && !change->enables;
    err = check_after(plan, p, &user);
    return err < 0 ? err : put_user(plan, &user, version);
}

int manage_alter_user(struct manage *m, struct str name, const struct manage_user_change *change)
{
    struct user_plan p = {.name = name, .change = *change};
    return manage_change_access(m, plan_alter, &p);
}

static bool is_of_user(void *ctx, const struct access_token *token)
{
    return str_eq(token->user, ((const struct user_plan *)ctx)->name);
}

static int plan_drop(struct access_plan *plan)
{
    struct user_plan *p = plan->ctx;
    struct access_user user;
    uint64_t version;
    int err = access_plan_user(plan, p->name, &user, &version);
    if (err == 0)
        err = check_after(plan, p, NULL);
    if (err == 0)
        err = access_plan_add(plan, STORE_USER, p->name, STR_NONE, version);
    return err < 0 ? err : access_plan_drop_tokens(plan, is_of_user, p);
}

int manage_drop_user(struct manage *m, struct str name, bool anyway)
{
    struct user_plan p = {.name = name, .change.anyway = anyway};
    return manage_change_access(m, plan_drop, &p);
}

/* ---- Roles ---------------------------------------------------------------------------------- */

struct role_plan {
    struct str name, record;
    bool is_super, anyway;
};

/* As it is stored: without blanks. Its faults have been looked for. */
static int compact(struct manage *m, struct str tree, struct str *ret)
{
    struct buf text = {0};
    const struct tape_node *tape;
    char *copy = arena_zalloc(m->arena, (size_t)tree.n + JSON_PADDING_BYTES);
    if (!copy)
        return ERR_NO_MEMORY;
    memcpy(copy, tree.p, tree.n);
    int err = tape_open((struct str){copy, tree.n}, m->arena, &tape, NULL);
    if (err == 0) {
        tape_write(tape, &text);
        *ret = arena_buf(m->arena, &text);
        err = ret->p ? 0 : ERR_NO_MEMORY;
    }
    buf_done(&text);
    return err;
}

static int check_tree(struct manage *m, struct str tree, struct role_plan *p)
{
    const struct role *role;
    if (tree.n > ACCESS_RECORD_BYTES)
        return manage_fail(m, ERR_TOO_LARGE, "a role is at most %u bytes", ACCESS_RECORD_BYTES);
    m->faults.n = 0;
    int err = role_parse(tree, m->arena, &role, &m->faults);
    if (err == ERR_PARAMS && m->faults.n)
        return manage_fail(m, err, "%s: %s, expected %s",
                           *m->faults.v[0].pointer ? m->faults.v[0].pointer : "the role",
                           m->faults.v[0].keyword, m->faults.v[0].expected);
    if (err == ERR_PARSE)
        return manage_fail(m, err, "the role is not JSON");
    if (err < 0)
        return err;
    p->is_super = role_is_super(role);
    err = compact(m, tree, &p->record);
    if (err == 0 && p->record.n > ACCESS_RECORD_BYTES)
        return manage_fail(m, ERR_TOO_LARGE, "a role is at most %u bytes", ACCESS_RECORD_BYTES);
    return err;
}

static int plan_put_role(struct access_plan *plan)
{
    const struct role_plan *p = plan->ctx;
    struct access_after after = {.role = p->name, .role_is_super = p->is_super};
    struct store_access stored;
    int err = store_get_access(plan->view, STORE_ROLE, p->name, plan->arena, &stored);
    if (err < 0 && err != ERR_ABSENT)
        return err;
    if (err == 0 && str_eq(stored.record, p->record))
        return 0;
    uint64_t if_version = err == 0 ? stored.version : STORE_MISSING;
    err = p->anyway ? 0 : access_plan_keeps_super(plan, &after);
    return err < 0 ? err : access_plan_add(plan, STORE_ROLE, p->name, p->record, if_version);
}

int manage_put_role(struct manage *m, struct str name, struct str tree, bool anyway)
{
    struct role_plan p = {.name = name, .anyway = anyway};
    int err = manage_check_role_name(m, name);
    if (err == 0)
        err = check_tree(m, tree, &p);
    return err < 0 ? err : manage_change_access(m, plan_put_role, &p);
}

struct role_use {
    struct access_plan *plan;
    struct str role;
};

static int refuse_if_used(void *ctx, const struct access_user *user)
{
    const struct role_use *use = ctx;
    for (uint32_t i = 0; i < user->n_roles; i++)
        if (str_eq(user->roles[i], use->role))
            return manage_fail(use->plan->m, ERR_CONFLICT, STR_FMT " has the role " STR_FMT,
                               STR_ARG(user->name), STR_ARG(use->role));
    return 0;
}

static int plan_drop_role(struct access_plan *plan)
{
    const struct role_plan *p = plan->ctx;
    struct role_use use = {plan, p->name};
    struct listing l = {.user = refuse_if_used, .ctx = &use};
    int err = access_plan_roles(plan, &p->name, 1);
    if (err == 0)
        err = store_scan_access(plan->view, STORE_USER, STR_NONE, show_user, &l);
    return err < 0 ? err : access_plan_add(plan, STORE_ROLE, p->name, STR_NONE, STORE_PRESENT);
}

int manage_drop_role(struct manage *m, struct str name)
{
    struct role_plan p = {.name = name};
    return manage_change_access(m, plan_drop_role, &p);
}
