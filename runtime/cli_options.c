/* cli_options.c - parses a command's options and prints its help, both from its one list. */
#include "cli.h"

#include <errno.h>
#include <string.h>

static const struct cli_option *find_option(const struct cli_command *command, struct str name)
{
    for (const struct cli_option *o = command->options; o && o->name; o++)
        if (str_eq(str_of(o->name), name))
            return o;
    return NULL;
}

static int write_line(const char *who, const char *fmt, va_list args)
{
    fprintf(stderr, "tenon%s%s: ", *who ? " " : "", who);
    vfprintf(stderr, fmt, args);
    return fputc('\n', stderr);
}

int cli_usage(const struct cli_command *command, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    write_line(command->name, fmt, args);
    va_end(args);
    fprintf(stderr, "Try: tenon %s --help\n", command->name);
    return CLI_USAGE;
}

int cli_failed(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    write_line("", fmt, args);
    va_end(args);
    return CLI_FAILED;
}

int cli_flush(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return CLI_DONE;
    return cli_failed("standard output: %s", strerror(errno));
}

/* One option at argv[*at], with its value there or in the next argument. */
static int parse_option(struct cli_args *args, int argc, char **argv, int *at)
{
    struct str value = str_of(argv[*at]), name = str_cut(&value, '=');
    const struct cli_option *option = find_option(args->command, name);
    if (!option)
        return cli_usage(args->command, "unknown option " STR_FMT, STR_ARG(name));
    if (!option->value && value.p)
        return cli_usage(args->command, "%s takes no value", option->name);
    if (option->value && !value.p) {
        if (++*at >= argc)
            return cli_usage(args->command, "%s needs a value: %s", option->name, option->value);
        value = str_of(argv[*at]);
    }
    if (args->n_given == CLI_GIVEN_MAX)
        return cli_usage(args->command, "more than %d options", CLI_GIVEN_MAX);
    args->given[args->n_given++] = (struct cli_given){option, value.p};
    return 0;
}

static int add_operand(struct cli_args *args, const char *text)
{
    if (args->n_operands == args->command->operands_max)
        return cli_usage(args->command, "too many arguments: %s", text);
    args->operands[args->n_operands++] = text;
    return 0;
}

static bool is_option(const struct cli_command *command, const char *text)
{
    return text[0] == '-' && text[1] && (text[1] == '-' || !command->takes_hyphens);
}

int cli_parse(const struct cli_command *command, int argc, char **argv, struct cli_args *ret)
{
    struct cli_args args = {.command = command};
    bool options = true;
    for (int i = 0; i < argc; i++) {
        int err = 0;
        if (options && strcmp(argv[i], "--") == 0)
            options = false;
        else if (options && is_option(command, argv[i]))
            err = parse_option(&args, argc, argv, &i);
        else
            err = add_operand(&args, argv[i]);
        if (err)
            return err;
    }
    if (args.n_operands < command->operands_min)
        return cli_usage(command, "missing arguments: %s", command->operands);
    *ret = args;
    return 0;
}

const char *cli_value(const struct cli_args *args, const char *name)
{
    for (uint32_t i = args->n_given; i-- > 0;)
        if (strcmp(args->given[i].option->name, name) == 0)
            return args->given[i].value ? args->given[i].value : "";
    return NULL;
}

void cli_print_help(const struct cli_command *command, FILE *out)
{
    fprintf(out, "Usage: tenon %s%s%s%s\n%s.\n", command->name,
            command->options ? " [OPTIONS]" : "", *command->operands ? " " : "", command->operands,
            command->summary);
    if (command->options)
        fputs("\nOptions:\n", out);
    for (const struct cli_option *o = command->options; o && o->name; o++)
        fprintf(out, "  %s%s%s\n      %s\n", o->name, o->value ? " " : "", o->value ? o->value : "",
                o->help);
    if (command->notes)
        fprintf(out, "\n%s\n", command->notes);
    if (command->print_notes)
        command->print_notes(out);
}

static int set_from_options(const struct cli_args *args, struct arena *arena, struct config *config)
{
    struct config_fault fault;
    for (uint32_t i = 0; i < args->n_given; i++) {
        const struct cli_given *given = &args->given[i];
        if (given->option->key &&
            config_set(config, given->option->key, given->value, arena, &fault) < 0) {
            /* "key: expected ..." reads better as "--flag: expected ..." */
            const char *reason = strstr(fault.text, ": ");
            return cli_usage(args->command, "%s%s", given->option->name,
                             reason ? reason : fault.text);
        }
    }
    return 0;
}

int cli_config(const struct cli_args *args, struct arena *arena, struct config *ret)
{
    const char *path = cli_value(args, "--config");
    struct config_fault fault;
    config_init(ret);
    if (path && config_load(ret, path, arena, &fault) < 0)
        return fault.line ? cli_failed("%s:%u: %s", path, fault.line, fault.text)
                          : cli_failed("%s: %s", path, fault.text);
    return set_from_options(args, arena, ret);
}
