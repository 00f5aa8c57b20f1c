/* cli_user.c - `tenon user create|list|alter|drop`: who may use the servers on a data directory. */
#include "base/err.h"
#include "base/limits.h"
#include "cli_manage.h"

#include <stdio.h>
#include <string.h>

/* ---- Roles on the command line -------------------------------------------------------------- */

struct roles {
    struct str v[CLI_GIVEN_MAX];
    uint32_t n;
};

/* Each --role, and several in one with commas. */
static int read_roles(const struct cli_args *args, struct roles *ret)
{
    ret->n = 0;
    for (uint32_t i = 0; i < args->n_given; i++) {
        if (strcmp(args->given[i].option->name, "--role") != 0)
            continue;
        for (struct str rest = str_of(args->given[i].value); rest.p;) {
            if (ret->n == CLI_GIVEN_MAX)
                return cli_usage(args->command, "--role: a user has at most %d", ACCESS_ROLES_MAX);
            ret->v[ret->n++] = str_trim(str_cut(&rest, ','));
        }
    }
    return 0;
}

static void print_roles(const struct str *roles, uint32_t n, FILE *out)
{
    for (uint32_t i = 0; i < n; i++)
        fprintf(out, "%s" STR_FMT, i ? "," : "", STR_ARG(roles[i]));
    if (n == 0)
        putc('-', out);
}

/* ---- create --------------------------------------------------------------------------------- */

static int count(void *ctx, const struct access_user *user)
{
    (void)user;
    ++*(uint64_t *)ctx;
    return 0;
}

static void advise(struct cli_manage *c, const char *name)
{
    uint64_t n = 0;
    manage_list_users(&c->m, STR_NONE, count, &n);
    if (n == 1)
        fputs("the first user: from now on nobody may use a server on this data without a token "
              "(unless auth.anonymousRole says so)\n",
              stderr);
    fprintf(stderr, "next: tenon token create %s\n", name);
}

static int create(struct cli_manage *c, const struct cli_args *args, const struct roles *roles)
{
    struct str name = str_of(args->operands[0]);
    int err = manage_create_user(&c->m, name, roles->v, roles->n);
    if (err == ERR_EXISTS && cli_value(args, "--if-missing"))
        return CLI_DONE;
    if (err == ERR_EXISTS)
        return cli_failed(STR_FMT " (tenon user alter changes him)", STR_ARG(c->m.why));
    if (err < 0)
        return cli_manage_tell(c, err);
    printf("created user " STR_FMT "\n", STR_ARG(name));
    advise(c, args->operands[0]);
    return cli_flush();
}

static int run_create(const struct cli_args *args)
{
    struct cli_manage c;
    struct roles roles;
    int status = read_roles(args, &roles);
    if (status)
        return status;
    status = cli_manage_open(&c, args, false);
    if (status == 0)
        status = create(&c, args, &roles);
    cli_manage_close(&c);
    return status;
}

/* ---- list ----------------------------------------------------------------------------------- */

static int print_user(void *ctx, const struct access_user *user)
{
    cli_print_text(user->name, stdout);
    putchar('\t');
    print_roles(user->roles, user->n_roles, stdout);
    printf("\t%s\tcreated ", user->is_disabled ? "disabled" : "enabled");
    cli_print_time(user->created_ms, stdout);
    putchar('\n');
    ++*(uint64_t *)ctx;
    return 0;
}

static int run_list(const struct cli_args *args)
{
    struct cli_manage c;
    uint64_t n = 0;
    int status = cli_manage_open(&c, args, true);
    if (status == 0) {
        int err = manage_list_users(&c.m, STR_NONE, print_user, &n);
        if (err == 0 && n == 0)
            fprintf(stderr, "no users in %s (tenon user create makes one)\n",
                    c.data.config.data_dir);
        status = err < 0 ? cli_manage_tell(&c, err) : cli_flush();
    }
    cli_manage_close(&c);
    return status;
}

/* ---- alter ---------------------------------------------------------------------------------- */

static int read_change(const struct cli_args *args, const struct roles *roles,
                       struct manage_user_change *ret)
{
    bool none = cli_value(args, "--no-roles");
    *ret = (struct manage_user_change){
        .roles = roles->n || none ? roles->v : NULL,
        .n_roles = roles->n,
        .disables = cli_value(args, "--disable"),
        .enables = cli_value(args, "--enable"),
        .anyway = cli_value(args, "--yes"),
    };
    if (none && roles->n)
        return cli_usage(args->command, "--role and --no-roles exclude each other");
    if (ret->disables && ret->enables)
        return cli_usage(args->command, "--enable and --disable exclude each other");
    if (!ret->roles && !ret->disables && !ret->enables)
        return cli_usage(args->command,
                         "nothing to change: --role, --no-roles, --enable or --disable");
    return 0;
}

static int run_alter(const struct cli_args *args)
{
    struct cli_manage c;
    struct roles roles;
    struct manage_user_change change;
    int status = read_roles(args, &roles);
    if (status == 0)
        status = read_change(args, &roles, &change);
    if (status)
        return status;
    status = cli_manage_open(&c, args, false);
    if (status == 0) {
        int err = manage_alter_user(&c.m, str_of(args->operands[0]), &change);
        if (err == 0)
            printf("altered user %s\n", args->operands[0]);
        status = err < 0 ? cli_manage_tell(&c, err) : cli_flush();
    }
    cli_manage_close(&c);
    return status;
}

/* ---- drop ----------------------------------------------------------------------------------- */

static int run_drop(const struct cli_args *args)
{
    struct cli_manage c;
    int status = cli_manage_open(&c, args, false);
    if (status == 0) {
        int err = manage_drop_user(&c.m, str_of(args->operands[0]), cli_value(args, "--yes"));
        if (err == 0)
            printf("dropped user %s, and all tokens\n", args->operands[0]);
        status = err < 0 ? cli_manage_tell(&c, err) : cli_flush();
    }
    cli_manage_close(&c);
    return status;
}

/* ---- Their descriptions --------------------------------------------------------------------- */

#define OPTION_ROLE                                                                    \
    {                                                                                  \
        "--role", "NAME", "a role that the user has; repeatable, or with commas", NULL \
    }
#define OPTION_YES                                                               \
    {                                                                            \
        "--yes", NULL, "even if no super user is left who is not disabled", NULL \
    }

static const struct cli_option create_options[] = {
    CLI_OPTION_CONFIG,
    CLI_OPTION_DATA,
    CLI_OPTION_MODE,
    OPTION_ROLE,
    {"--if-missing", NULL, "one that is there already is fine, and stays as it is", NULL},
    CLI_OPTIONS_END,
};

const struct cli_command cli_user_create = {
    .name = "user create",
    .operands = "NAME",
    .summary = "Make a user",
    .options = create_options,
    .notes = "NAME is what the subject of a signed token or of a client certificate says, or "
             "anything.\nWithout a role he may do nothing; tenon role put makes one. Running "
             "servers know at once.",
    .operands_min = 1,
    .operands_max = 1,
    .run = run_create,
};

static const struct cli_option list_options[] = {
    CLI_OPTION_CONFIG,
    CLI_OPTION_DATA,
    CLI_OPTIONS_END,
};

const struct cli_command cli_user_list = {
    .name = "user list",
    .operands = "",
    .summary = "List the users",
    .options = list_options,
    .notes = "One a line, tabs between: name, roles (-: none), state, day of its making.",
    .run = run_list,
};

static const struct cli_option alter_options[] = {
    CLI_OPTION_CONFIG,
    CLI_OPTION_DATA,
    CLI_OPTION_MODE,
    OPTION_ROLE,
    {"--no-roles", NULL, "the user has no role", NULL},
    {"--disable", NULL, "all that the user has is refused, and open streams end", NULL},
    {"--enable", NULL, "the user and the tokens work again", NULL},
    OPTION_YES,
    CLI_OPTIONS_END,
};

const struct cli_command cli_user_alter = {
    .name = "user alter",
    .operands = "NAME",
    .summary = "Give a user other roles, or switch one off and on",
    .options = alter_options,
    .notes = "The roles that are given are all that the user has then.",
    .operands_min = 1,
    .operands_max = 1,
    .run = run_alter,
};

static const struct cli_option drop_options[] = {
    CLI_OPTION_CONFIG, CLI_OPTION_DATA, CLI_OPTION_MODE, OPTION_YES, CLI_OPTIONS_END,
};

const struct cli_command cli_user_drop = {
    .name = "user drop",
    .operands = "NAME",
    .summary = "Remove a user, with all tokens",
    .options = drop_options,
    .notes = "A user of that name that is made later is somebody else: no old token works.",
    .operands_min = 1,
    .operands_max = 1,
    .run = run_drop,
};
