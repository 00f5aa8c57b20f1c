/* cli_token.c - `tenon token create|list|revoke`: what a client shows to be a user.
 *
 * The text of a new token is all that goes to stdout, by one write and past the buffers of stdio,
 * and is wiped then.
 */
#include "base/clock.h"
#include "base/err.h"
#include "cli_manage.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DAY_MS       INT64_C(86400000)
#define EXPIRES_DAYS 90

/* ---- create --------------------------------------------------------------------------------- */

/* "30d", "12h", "never". */
static int read_expiry(const struct cli_args *args, int64_t *ret_ms)
{
    static const struct {
        char unit;
        int64_t ms;
    } units[] = {{'s', 1000}, {'m', 60000}, {'h', 3600000}, {'d', DAY_MS}, {'w', 7 * DAY_MS}};
    const char *given = cli_value(args, "--expires");
    struct str text = str_of(given ? given : "");
    uint64_t n = EXPIRES_DAYS;
    int64_t unit_ms = given ? 0 : DAY_MS;
    *ret_ms = 0;
    if (str_eq(text, STR("never")))
        return 0;
    for (size_t i = 0; text.n && i < sizeof units / sizeof *units; i++)
        if (text.p[text.n - 1] == units[i].unit)
            unit_ms = units[i].ms;
    bool fine = !given || (text.n > 1 && str_to_u64((struct str){text.p, text.n - 1}, &n) == 0);
    if (!unit_ms || !fine || n == 0 || n > (uint64_t)(36500 * DAY_MS / unit_ms))
        return cli_usage(args->command,
                         "--expires: expected never, or a number and one of s m h d w, such as "
                         "30d, at most 100 years");
    *ret_ms = clock_wall_ms() + (int64_t)n * unit_ms;
    return 0;
}

static int write_token(const char *text)
{
    char line[ACCESS_TOKEN_BYTES + 2];
    int n = snprintf(line, sizeof line, "%s\n", text);
    ssize_t written = write(STDOUT_FILENO, line, (size_t)n);
    explicit_bzero(line, sizeof line);
    return written == n ? 0 : -1;
}

static int create(struct cli_manage *c, const struct cli_args *args, int64_t expires_ms)
{
    struct manage_token token;
    struct str ignored;
    const char *label = cli_value(args, "--label");
    int err = manage_create_token(&c->m, str_of(args->operands[0]), str_of(label ? label : ""),
                                  expires_ms, &token);
    if (err < 0)
        return cli_manage_tell(c, err);
    if (write_token(token.text) < 0) {
        int reason = errno;
        manage_revoke_token(&c->m, str_of(token.id), &ignored); /* nobody has it */
        explicit_bzero(&token, sizeof token);
        return cli_failed("standard output: %s; no token was made", strerror(reason));
    }
    fprintf(stderr, "token %s of %s, expires ", token.id, args->operands[0]);
    if (expires_ms)
        cli_print_time(expires_ms, stderr);
    fprintf(stderr, "%s; it is not shown again\n", expires_ms ? "" : "never");
    explicit_bzero(&token, sizeof token);
    return CLI_DONE;
}

static int run_create(const struct cli_args *args)
{
    struct cli_manage c;
    int64_t expires_ms;
    int status = read_expiry(args, &expires_ms);
    if (status)
        return status;
    status = cli_manage_open(&c, args, false);
    if (status == 0)
        status = create(&c, args, expires_ms);
    cli_manage_close(&c);
    return status;
}

/* ---- list ----------------------------------------------------------------------------------- */

struct listing {
    int64_t now_ms;
    uint64_t n;
};

static int print_token(void *ctx, const struct access_token *token)
{
    struct listing *l = ctx;
    printf(STR_FMT "\t", STR_ARG(token->id));
    cli_print_text(token->user, stdout);
    putchar('\t');
    cli_print_text(token->label.n ? token->label : STR("-"), stdout);
    printf("\tcreated ");
    cli_print_time(token->created_ms, stdout);
    bool is_over = token->expires_ms && token->expires_ms <= l->now_ms;
    printf("\t%s ", is_over ? "expired" : "expires");
    if (token->expires_ms)
        cli_print_time(token->expires_ms, stdout);
    puts(token->expires_ms ? "" : "never");
    l->n++;
    return 0;
}

static int run_list(const struct cli_args *args)
{
    struct cli_manage c;
    struct listing l = {.now_ms = clock_wall_ms()};
    int status = cli_manage_open(&c, args, true);
    if (status == 0) {
        struct str user = args->operands[0] ? str_of(args->operands[0]) : STR_NONE;
        int err = manage_list_tokens(&c.m, user, print_token, &l);
        if (err == 0 && l.n == 0)
            fprintf(stderr, "no tokens%s%s in %s (tenon token create makes one)\n",
                    user.p ? " of " : "", user.p ? user.p : "", c.data.config.data_dir);
        status = err < 0 ? cli_manage_tell(&c, err) : cli_flush();
    }
    cli_manage_close(&c);
    return status;
}

/* ---- revoke --------------------------------------------------------------------------------- */

static int run_revoke(const struct cli_args *args)
{
    struct cli_manage c;
    struct str user;
    if (access_token_is_ours(str_of(args->operands[0]))) /* it would stay in the shell's history */
        return cli_usage(args->command, "that is a token; its id is asked for");
    int status = cli_manage_open(&c, args, false);
    if (status == 0) {
        int err = manage_revoke_token(&c.m, str_of(args->operands[0]), &user);
        if (err == 0)
            printf("revoked token %s of " STR_FMT "\n", args->operands[0], STR_ARG(user));
        status = err == ERR_ABSENT
                     ? cli_failed(STR_FMT " (tenon token list shows all)", STR_ARG(c.m.why))
                 : err < 0 ? cli_manage_tell(&c, err)
                           : cli_flush();
    }
    cli_manage_close(&c);
    return status;
}

/* ---- Their descriptions --------------------------------------------------------------------- */

static const struct cli_option create_options[] = {
    CLI_OPTION_CONFIG,
    CLI_OPTION_DATA,
    CLI_OPTION_MODE,
    {"--expires", "TIME", "30d, 12h, never, ... (default: 90d)", NULL},
    {"--label", "TEXT", "what it is for, shown by tenon token list", NULL},
    CLI_OPTIONS_END,
};

const struct cli_command cli_token_create = {
    .name = "token create",
    .operands = "USER",
    .summary = "Make a token by which a client is that user",
    .options = create_options,
    .notes = "The token alone goes to standard output, this once: only a hash of it is kept. A "
             "client sends it as\nAuthorization: Bearer TOKEN.",
    .operands_min = 1,
    .operands_max = 1,
    .run = run_create,
};

static const struct cli_option list_options[] = {
    CLI_OPTION_CONFIG,
    CLI_OPTION_DATA,
    CLI_OPTIONS_END,
};

const struct cli_command cli_token_list = {
    .name = "token list",
    .operands = "[USER]",
    .summary = "List the tokens, of all users or one",
    .options = list_options,
    .notes = "One a line, tabs between: id, user, label (-: none), day of its making, expiry.",
    .operands_max = 1,
    .run = run_list,
};

static const struct cli_option revoke_options[] = {
    CLI_OPTION_CONFIG,
    CLI_OPTION_DATA,
    CLI_OPTION_MODE,
    CLI_OPTIONS_END,
};

const struct cli_command cli_token_revoke = {
    .name = "token revoke",
    .operands = "ID",
    .summary = "Make a token worthless, at once and for good",
    .options = revoke_options,
    .notes = "ID is the first column of tenon token list.",
    .operands_min = 1,
    .operands_max = 1,
    .run = run_revoke,
};
