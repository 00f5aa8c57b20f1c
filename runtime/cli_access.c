/* cli_access.c - see cli_access.h. */
#include "cli_access.h"

#include "base/err.h"
#include "base/log.h"
#include "cli.h"
#include "core/access_record.h"
#include "net/headers.h"

static bool is_loopback(struct str host)
{
    return header_is_loopback(host) || str_eq(host, STR("::1"));
}

int cli_access_rules(const struct config *config, struct access_rules *ret)
{
    struct str role = str_of(config->anonymous_role);
    ret->is_loopback = is_loopback(str_of(config->listen.host));
    ret->anonymous = ANONYMOUS_ROLE;
    ret->anonymous_role = role;
    if (role.n == 0)
        ret->anonymous = ANONYMOUS_AS_LISTENER;
    else if (str_eq(role, STR("none")))
        ret->anonymous = ANONYMOUS_OFF;
    else if (!access_role_name_is_valid(role))
        return cli_failed("auth.anonymousRole: expected none, or the name of a role");
    return CLI_DONE;
}

/* ---- What it comes to ----------------------------------------------------------------------- */

static int note_one(void *ctx, const struct store_access *access)
{
    (void)access;
    *(bool *)ctx = true;
    return 1;
}

static bool has_users(struct store_view *view)
{
    bool found = false;
    return store_scan_access(view, STORE_USER, STR_NONE, note_one, &found) < 0 || found;
}

/* 0, ERR_ABSENT, or ERR_FORBIDDEN: it is of super users. */
static int judge_role(struct store_view *view, struct str name)
{
    struct store_access stored;
    struct schema_faults faults;
    const struct role *role;
    struct arena arena;
    arena_init(&arena, 0);
    int err = store_get_access(view, STORE_ROLE, name, &arena, &stored);
    if (err == 0)
        err = role_parse(stored.record, &arena, &role, &faults);
    if (err == 0 && role_is_super(role))
        err = ERR_FORBIDDEN;
    arena_done(&arena);
    return err;
}

static void say_role(struct store_view *view, struct str name)
{
    int err = judge_role(view, name);
    if (err == 0)
        log_info("clients without a token may do what the role " STR_FMT " may", STR_ARG(name));
    else if (err == ERR_FORBIDDEN)
        log_warn("auth.anonymousRole: the role " STR_FMT
                 " is of super users, so clients without a token are refused",
                 STR_ARG(name));
    else
        log_warn("auth.anonymousRole: there is no role " STR_FMT
                 ", so clients without a token are refused",
                 STR_ARG(name));
}

static void say(const struct access_rules *rules, struct store_view *view)
{
    if (rules->anonymous == ANONYMOUS_ROLE)
        say_role(view, rules->anonymous_role);
    else if (rules->anonymous == ANONYMOUS_AS_LISTENER && rules->is_loopback && !rules->verifier &&
             !has_users(view))
        log_info("there are no users: every client on this machine may do everything (tenon user "
                 "create ends that)");
    else
        log_info("clients without a token are refused");
}

void cli_access_say(const struct access_rules *rules, struct store *store)
{
    struct store_view *view;
    if (store_view_open(store, STORE_DATA, &view) < 0)
        return;
    say(rules, view);
    store_view_close(view);
}
