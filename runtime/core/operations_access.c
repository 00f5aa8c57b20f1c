/* core/operations_access.c - operations on users, roles and tokens, for super users only (core
 * /operations.h, of_access); and whoami, for everybody.
 *
 * The text of a token stands in the answer to create_token and nowhere else: that call says nothing
 * before its answer, so it never becomes a stream, whose messages are kept.
 */
#include "base/clock.h"
#include "base/err.h"
#include "base/limits.h"
#include "core/manage_access.h"
#include "core/operations.h"
#include "core/role.h"
#include "wire/json_write.h"

#include <string.h>

#define PAGE_DEFAULT    100
#define TOKEN_EXPIRES_S (90 * 86400)

/* ---- Arguments and results ------------------------------------------------------------------ */

static struct str text_of(const struct tape_node *args, struct str name)
{
    const struct tape_node *value = tape_get(args, name);
    return value ? tape_str(value) : STR_NONE;
}

static struct str name_of(const struct tape_node *args)
{
    return text_of(args, STR("name"));
}

static bool is_true(const struct tape_node *value)
{
    return value && value->kind == TAPE_TRUE;
}

/* *ret NULL: not given. */
static int roles_of(const struct tape_node *args, struct arena *arena, struct str **ret,
                    uint32_t *ret_n)
{
    const struct tape_node *list = tape_get(args, STR("roles"));
    const struct tape_node *item = list ? list + 1 : NULL;
    *ret = NULL;
    *ret_n = list ? list->n : 0;
    if (!list)
        return 0;
    *ret = arena_array(arena, list->n + 1, sizeof **ret);
    if (!*ret)
        return ERR_NO_MEMORY;
    for (uint32_t i = 0; i < list->n; i++, item = tape_next(item))
        (*ret)[i] = tape_str(item);
    return 0;
}

static void write_text(struct buf *out, const char *before, struct str value)
{
    buf_add_str(out, str_of(before));
    json_write_str(out, value);
}

static void write_time(struct buf *out, const char *before, int64_t ms)
{
    char text[CLOCK_TEXT_BYTES];
    clock_write_text(ms, text);
    write_text(out, before, str_of(text));
}

static void write_name(struct buf *out, struct str name)
{
    write_text(out, "{\"name\":", name);
    buf_add_char(out, '}');
}

static void write_names(struct buf *out, const struct str *names, uint32_t n)
{
    buf_add_char(out, '[');
    for (uint32_t i = 0; i < n; i++)
        write_text(out, i ? "," : "", names[i]);
    buf_add_char(out, ']');
}

static const char *truth(bool value)
{
    return value ? "true" : "false";
}

/* ---- Pages ---------------------------------------------------------------------------------- */

struct page {
    struct buf *out;
    uint32_t limit, n;
    int64_t now_ms;
};

static struct page page_of(const struct tape_node *args, struct buf *out)
{
    const struct tape_node *limit = tape_get(args, STR("limit"));
    return (struct page){.out = out,
                         .limit = limit ? (uint32_t)tape_num(limit) : PAGE_DEFAULT,
                         .now_ms = clock_wall_ms()};
}

/* False: it is full. */
static bool next_in(struct page *page)
{
    if (page->n == page->limit)
        return false;
    if (page->n++)
        buf_add_char(page->out, ',');
    return true;
}

static int end_page(struct page *page, int err)
{
    if (err >= 0)
        buf_printf(page->out, "],\"more\":%s}", truth(err > 0));
    return err < 0 ? err : 0;
}

/* ---- Users ---------------------------------------------------------------------------------- */

static int write_user(void *ctx, const struct access_user *user)
{
    struct page *page = ctx;
    struct buf *out = page->out;
    if (!next_in(page))
        return 1;
    write_text(out, "{\"name\":", user->name);
    buf_add_lit(out, ",\"roles\":");
    write_names(out, user->roles, user->n_roles);
    buf_printf(out, ",\"disabled\":%s", truth(user->is_disabled));
    write_time(out, ",\"created\":", user->created_ms);
    buf_add_char(out, '}');
    return 0;
}

static int list_users(struct manage *m, const struct tape_node *args, struct buf *out)
{
    struct page page = page_of(args, out);
    buf_add_lit(out, "{\"users\":[");
    return end_page(&page, manage_list_users(m, text_of(args, STR("after")), write_user, &page));
}

static int create_user(struct manage *m, const struct tape_node *args, struct buf *out)
{
    struct str *roles;
    uint32_t n;
    int err = roles_of(args, m->arena, &roles, &n);
    write_name(out, name_of(args));
    return err < 0 ? err : manage_create_user(m, name_of(args), roles, n);
}

static int alter_user(struct manage *m, const struct tape_node *args, struct buf *out)
{
    const struct tape_node *disabled = tape_get(args, STR("disabled"));
    struct manage_user_change change = {.disables = is_true(disabled)};
    struct str *roles;
    int err = roles_of(args, m->arena, &roles, &change.n_roles);
    change.roles = roles;
    change.enables = disabled && !change.disables;
    write_name(out, name_of(args));
    return err < 0 ? err : manage_alter_user(m, name_of(args), &change);
}

static int drop_user(struct manage *m, const struct tape_node *args, struct buf *out)
{
    write_name(out, name_of(args));
    return manage_drop_user(m, name_of(args), false);
}

/* ---- Roles ---------------------------------------------------------------------------------- */

static int write_role(void *ctx, struct str name, struct str record)
{
    struct page *page = ctx;
    bool super;
    int err = manage_role_is_super(record, &super);
    if (err < 0 || !next_in(page))
        return err < 0 ? err : 1;
    write_text(page->out, "{\"name\":", name);
    buf_printf(page->out, ",\"superUser\":%s}", truth(super));
    return 0;
}

static int list_roles(struct manage *m, const struct tape_node *args, struct buf *out)
{
    struct page page = page_of(args, out);
    buf_add_lit(out, "{\"roles\":[");
    return end_page(&page, manage_list_roles(m, text_of(args, STR("after")), write_role, &page));
}

static int describe_role(struct manage *m, const struct tape_node *args, struct buf *out)
{
    struct str record;
    int err = manage_find_role(m, name_of(args), &record);
    if (err < 0)
        return err;
    write_text(out, "{\"name\":", name_of(args));
    buf_add_lit(out, ",\"permissions\":");
    buf_add_str(out, record);
    buf_add_char(out, '}');
    return 0;
}

static int put_role(struct manage *m, const struct tape_node *args, struct buf *out)
{
    struct buf tree = {0};
    tape_write(tape_get(args, STR("permissions")), &tree);
    int err =
        tree.failed ? ERR_NO_MEMORY : manage_put_role(m, name_of(args), buf_str(&tree), false);
    buf_done(&tree);
    write_name(out, name_of(args));
    return err;
}

static int drop_role(struct manage *m, const struct tape_node *args, struct buf *out)
{
    write_name(out, name_of(args));
    return manage_drop_role(m, name_of(args));
}

/* ---- Tokens --------------------------------------------------------------------------------- */

static int write_token(void *ctx, const struct access_token *token)
{
    struct page *page = ctx;
    struct buf *out = page->out;
    next_in(page);
    write_text(out, "{\"id\":", token->id);
    write_text(out, ",\"user\":", token->user);
    write_text(out, ",\"label\":", token->label);
    write_time(out, ",\"created\":", token->created_ms);
    if (token->expires_ms)
        write_time(out, ",\"expires\":", token->expires_ms);
    bool is_over = token->expires_ms && token->expires_ms <= page->now_ms;
    buf_printf(out, ",\"expired\":%s}", truth(is_over));
    return 0;
}

/* All of them: a user has not many. */
static int list_tokens(struct manage *m, const struct tape_node *args, struct buf *out)
{
    struct page page = {.out = out, .limit = UINT32_MAX, .now_ms = clock_wall_ms()};
    buf_add_lit(out, "{\"tokens\":[");
    int err = manage_list_tokens(m, text_of(args, STR("user")), write_token, &page);
    buf_add_lit(out, "]}");
    return err;
}

static int create_token(struct manage *m, const struct tape_node *args, struct buf *out)
{
    const struct tape_node *given = tape_get(args, STR("expiresInSeconds"));
    int64_t seconds = given ? (int64_t)tape_num(given) : TOKEN_EXPIRES_S;
    int64_t expires_ms = seconds ? clock_wall_ms() + seconds * 1000 : 0;
    struct str user = text_of(args, STR("user"));
    struct manage_token token;
    int err = manage_create_token(m, user, text_of(args, STR("label")), expires_ms, &token);
    if (err < 0)
        return err;
    write_text(out, "{\"id\":", str_of(token.id));
    write_text(out, ",\"user\":", user);
    write_text(out, ",\"token\":", str_of(token.text));
    if (expires_ms)
        write_time(out, ",\"expires\":", expires_ms);
    buf_add_char(out, '}');
    explicit_bzero(&token, sizeof token);
    return 0;
}

static int revoke_token(struct manage *m, const struct tape_node *args, struct buf *out)
{
    struct str user, id = text_of(args, STR("id"));
    int err = manage_revoke_token(m, id, &user);
    if (err < 0)
        return err;
    write_text(out, "{\"id\":", id);
    write_text(out, ",\"user\":", user);
    buf_add_char(out, '}');
    return 0;
}

/* ---- The caller ----------------------------------------------------------------------------- */

int operation_whoami(struct call *call, const struct tape_node *args, struct buf *out)
{
    const struct access *access = call->in.access;
    struct str rest = access->role_name.n ? access->role_name : STR_NONE;
    (void)args;
    write_text(out, "{\"user\":", access->user);
    buf_add_lit(out, ",\"roles\":[");
    for (const char *before = ""; rest.p; before = ",")
        write_text(out, before, str_cut(&rest, ' '));
    buf_printf(out, "],\"superUser\":%s", truth(role_is_super(access->role)));
    if (access->expires_ms != INT64_MAX)
        write_time(out, ",\"expires\":", access->expires_ms);
    buf_add_char(out, '}');
    return 0;
}

/* ---- The handlers --------------------------------------------------------------------------- */

#define HANDLER(name)                                                                      \
    int operation_##name(struct call *call, const struct tape_node *args, struct buf *out) \
    {                                                                                      \
        (void)out;                                                                         \
        return operation_change(call, args, name);                                         \
    }

HANDLER(alter_user)
HANDLER(create_token)
HANDLER(create_user)
HANDLER(describe_role)
HANDLER(drop_role)
HANDLER(drop_user)
HANDLER(list_roles)
HANDLER(list_tokens)
HANDLER(list_users)
HANDLER(put_role)
HANDLER(revoke_token)
