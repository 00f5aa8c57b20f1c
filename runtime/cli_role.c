/* cli_role.c - `tenon role put|list|show|drop`: what users may do. */
#include "base/err.h"
#include "base/json_tree.h"
#include "base/limits.h"
#include "cli_manage.h"
#include "core/role.h"

#include <stdio.h>
#include <string.h>

/* ---- put ------------------------------------------------------------------------------------ */

struct source {
    const char *path;
    struct buf text;
};

static int tell_fault(const struct source *s, const struct schema_fault *fault,
                      const struct json *tree)
{
    const struct json *at = json_at(tree, str_of(fault->pointer));
    return cli_failed("%s:%u: %s: %s, expected %s", s->path, at ? at->line : 0,
                      *fault->pointer ? fault->pointer : "the role", fault->keyword,
                      fault->expected);
}

/* Reads and judges it, before a database is opened. */
static int load(struct source *s)
{
    struct json_error error;
    struct json *tree;
    struct arena arena;
    const struct role *role;
    struct schema_faults faults = {0};
    const char *path = strcmp(s->path, "-") == 0 ? "/dev/stdin" : s->path;
    s->text.limit = ACCESS_RECORD_BYTES;
    if (json_file_read(path, &s->text, &error) < 0)
        return cli_failed("%s: %s", s->path, error.text);
    arena_init(&arena, 0);
    int status = json_tree_parse(buf_str(&s->text), &arena, &tree, &error) < 0
                     ? cli_failed("%s:%u: %s", s->path, error.line, error.text)
                     : 0;
    int err = status ? 0 : role_parse(buf_str(&s->text), &arena, &role, &faults);
    if (err < 0)
        status = faults.n ? tell_fault(s, &faults.v[0], tree)
                          : cli_failed("%s: %s", s->path, err_text(err));
    arena_done(&arena);
    return status;
}

static int put(struct cli_manage *c, const struct cli_args *args, const struct source *s)
{
    int err = manage_put_role(&c->m, str_of(args->operands[0]), buf_str(&s->text),
                              cli_value(args, "--yes"));
    if (err < 0)
        return cli_manage_tell(c, err);
    printf("put role %s\n", args->operands[0]);
    return cli_flush();
}

static int run_put(const struct cli_args *args)
{
    struct cli_manage c;
    struct source s = {.path = args->operands[1]};
    int status = load(&s);
    if (status == 0) {
        status = cli_manage_open(&c, args, false);
        if (status == 0)
            status = put(&c, args, &s);
        cli_manage_close(&c);
    }
    buf_done(&s.text);
    return status;
}

/* ---- list ----------------------------------------------------------------------------------- */

static int print_role(void *ctx, struct str name, struct str record)
{
    bool super;
    int err = manage_role_is_super(record, &super);
    if (err < 0)
        return err;
    printf(STR_FMT "\t%s\n", STR_ARG(name), super ? "super user" : "limited");
    ++*(uint64_t *)ctx;
    return 0;
}

static int run_list(const struct cli_args *args)
{
    struct cli_manage c;
    uint64_t n = 0;
    int status = cli_manage_open(&c, args, true);
    if (status == 0) {
        int err = manage_list_roles(&c.m, STR_NONE, print_role, &n);
        if (err == 0 && n == 0)
            fprintf(stderr, "no roles in %s (tenon role put makes one)\n", c.data.config.data_dir);
        status = err < 0 ? cli_manage_tell(&c, err) : cli_flush();
    }
    cli_manage_close(&c);
    return status;
}

/* ---- show and drop -------------------------------------------------------------------------- */

static int run_show(const struct cli_args *args)
{
    struct cli_manage c;
    struct str record;
    int status = cli_manage_open(&c, args, true);
    if (status == 0) {
        int err = manage_find_role(&c.m, str_of(args->operands[0]), &record);
        if (err == 0)
            cli_print_json(record, stdout);
        status = err < 0 ? cli_manage_tell(&c, err) : cli_flush();
    }
    cli_manage_close(&c);
    return status;
}

static int run_drop(const struct cli_args *args)
{
    struct cli_manage c;
    int status = cli_manage_open(&c, args, false);
    if (status == 0) {
        int err = manage_drop_role(&c.m, str_of(args->operands[0]));
        if (err == 0)
            printf("dropped role %s\n", args->operands[0]);
        status = err == ERR_CONFLICT
                     ? cli_failed(STR_FMT " (tenon user alter gives another one)", STR_ARG(c.m.why))
                 : err < 0 ? cli_manage_tell(&c, err)
                           : cli_flush();
    }
    cli_manage_close(&c);
    return status;
}

/* ---- Their descriptions --------------------------------------------------------------------- */

static const struct cli_option put_options[] = {
    CLI_OPTION_CONFIG, CLI_OPTION_DATA,
    CLI_OPTION_MODE,   {"--yes", NULL, "even if no super user is left who is not disabled", NULL},
    CLI_OPTIONS_END,
};

const struct cli_command cli_role_put = {
    .name = "role put",
    .operands = "NAME FILE",
    .summary = "Make a role, or give it other permissions",
    .options = put_options,
    .notes =
        "FILE is JSON (-: standard input). {\"super_user\": true} may do everything;\n"
        "{\"databases\": {\"geo\": {\"tables\": {\"cities\": {\"read\": true, \"update\": "
        "true}}}}}\n"
        "what it says. \"*\" stands for all that are not named. The README tells all members.\n"
        "It holds for the next request of everybody who has the role.",
    .operands_min = 2,
    .operands_max = 2,
    .run = run_put,
};

static const struct cli_option read_options[] = {
    CLI_OPTION_CONFIG,
    CLI_OPTION_DATA,
    CLI_OPTIONS_END,
};

const struct cli_command cli_role_list = {
    .name = "role list",
    .operands = "",
    .summary = "List the roles",
    .options = read_options,
    .notes = "One a line, a tab between: name, and whether it may do everything.",
    .run = run_list,
};

const struct cli_command cli_role_show = {
    .name = "role show",
    .operands = "NAME",
    .summary = "Print the permissions of a role as JSON",
    .options = read_options,
    .operands_min = 1,
    .operands_max = 1,
    .run = run_show,
};

static const struct cli_option drop_options[] = {
    CLI_OPTION_CONFIG,
    CLI_OPTION_DATA,
    CLI_OPTION_MODE,
    CLI_OPTIONS_END,
};

const struct cli_command cli_role_drop = {
    .name = "role drop",
    .operands = "NAME",
    .summary = "Remove a role that no user has",
    .options = drop_options,
    .operands_min = 1,
    .operands_max = 1,
    .run = run_drop,
};
