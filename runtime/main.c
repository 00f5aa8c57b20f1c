/* main.c - the program `tenon`: finds the command and runs it.
 *
 * A command is one or two words ("serve", "table create"). Every command lives in its own cli_*.c;
 * this file holds only their list.
 */
#include "base/version.h"
#include "cli.h"

#include <signal.h>
#include <string.h>

static const struct cli_command *const commands[] = {
    &cli_serve,           &cli_stdio,       &cli_table_create, &cli_table_list,
    &cli_table_describe,  &cli_table_alter, &cli_table_drop,   &cli_index_create,
    &cli_index_list,      &cli_index_drop,  &cli_session_list, &cli_session_close,
    &cli_user_create,     &cli_user_list,   &cli_user_alter,   &cli_user_drop,
    &cli_role_put,        &cli_role_list,   &cli_role_show,    &cli_role_drop,
    &cli_token_create,    &cli_token_list,  &cli_token_revoke, &cli_component_check,
    &cli_component_apply, &cli_explain,     &cli_import,       &cli_export,
    &cli_doctor,
};
#define N_COMMANDS (sizeof commands / sizeof *commands)

/* How many words of argv are the command's name; 0: it is another one. */
static int match(const struct cli_command *command, int argc, char **argv)
{
    struct str rest = str_of(command->name);
    int words = 0;
    while (rest.p) {
        if (words == argc || !str_eq(str_cut(&rest, ' '), str_of(argv[words])))
            return 0;
        words++;
    }
    return words;
}

static void print_overview(FILE *out)
{
    fputs("Tenon: a database as an MCP server.\n\nUsage: tenon COMMAND [OPTIONS]\n\n", out);
    for (size_t i = 0; i < N_COMMANDS; i++)
        fprintf(out, "  %-15s %s\n", commands[i]->name, commands[i]->summary);
    fputs("\ntenon COMMAND --help says more; tenon --version prints the version.\n", out);
}

/* "table" alone, or "table creat": names that begin with the same word help more than all. */
static int unknown_command(const char *word)
{
    struct str first = str_of(word);
    fprintf(stderr, "tenon: unknown command: %s\n", word);
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (str_starts_with(str_of(commands[i]->name), first))
            fprintf(stderr, "  tenon %s %s\n", commands[i]->name, commands[i]->operands);
    fputs("Try: tenon --help\n", stderr);
    return CLI_USAGE;
}

static int run(const struct cli_command *command, int argc, char **argv)
{
    struct cli_args args;
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            cli_print_help(command, stdout);
            return CLI_DONE;
        }
    int err = cli_parse(command, argc, argv, &args);
    return err ? err : command->run(&args);
}

int main(int argc, char **argv)
{
    signal(SIGCHLD, SIG_DFL); /* who started us may ignore it; how our children end would be lost */
    if (argc < 2) {
        print_overview(stderr);
        return CLI_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_overview(stdout);
        return CLI_DONE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("tenon " TENON_VERSION);
        return CLI_DONE;
    }
    for (size_t i = 0; i < N_COMMANDS; i++) {
        int words = match(commands[i], argc - 1, argv + 1);
        if (words)
            return run(commands[i], argc - 1 - words, argv + 1 + words);
    }
    return unknown_command(argv[1]);
}
