/* cli.h - what the commands of `tenon` have in common: their description, and parsed arguments.
 *
 * A command is one `struct cli_command`; its list of options serves both parsing and --help. main.c
 * holds the list of commands. A command's `run` gets checked arguments and returns the exit status:
 * 0 done, 1 failed (one line on stderr has said why), 2 wrong usage.
 */
#ifndef TENON_CLI_H
#define TENON_CLI_H

#include "config.h"

#define CLI_OPERANDS_MAX 2
#define CLI_GIVEN_MAX    64

enum { CLI_DONE = 0, CLI_FAILED = 1, CLI_USAGE = 2 };

struct cli_option {
    const char *name;  /* "--listen" */
    const char *value; /* what stands for its value in help, "HOST:PORT"; NULL: a switch */
    const char *help;
    const char *key; /* the config key that it sets; NULL: none */
};

struct cli_args;

struct cli_command {
    const char *name;     /* "serve", "table create" */
    const char *operands; /* "DATABASE.TABLE FILE", "" */
    const char *summary;
    const struct cli_option *options; /* up to one without a name; NULL: none */
    const char *notes;                /* printed at the end of --help, or NULL */
    void (*print_notes)(FILE *out);   /* the same, computed */
    uint8_t operands_min, operands_max;
    bool takes_hyphens; /* an operand may begin with one: "-population" */
    int (*run)(const struct cli_args *args);
};

struct cli_given {
    const struct cli_option *option;
    const char *value; /* NULL for a switch */
};

struct cli_args {
    const struct cli_command *command;
    const char *operands[CLI_OPERANDS_MAX]; /* NULL: not given */
    struct cli_given given[CLI_GIVEN_MAX];  /* in the order of the command line */
    uint32_t n_operands, n_given;
};

/* Reads argv behind the command's name. 0, or CLI_USAGE after a line on stderr. "--name value" and
 * "--name=value" both work; "--" ends the options. */
int cli_parse(const struct cli_command *command, int argc, char **argv, struct cli_args *ret);
/* The last value given, "" for a switch that was given, NULL if it was not. */
const char *cli_value(const struct cli_args *args, const char *name);
void cli_print_help(const struct cli_command *command, FILE *out);
/* "tenon import: <text>" and the way to help, on stderr. Returns CLI_USAGE. */
int cli_usage(const struct cli_command *command, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* "tenon: <text>" on stderr. Returns CLI_FAILED. */
int cli_failed(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Has all of stdout been written? The exit status, with the message if not. */
int cli_flush(void);

/* Defaults, the file of --config if given, then every option that sets a key. 0, CLI_FAILED or
 * CLI_USAGE, with the message written. */
int cli_config(const struct cli_args *args, struct arena *arena, struct config *ret);

/* The list of the settings, then what --component gives. 0, or CLI_FAILED with the message written.
 */
int cli_gather_components(const struct cli_args *args, struct arena *arena,
                          struct config_list *list);

/* Options that several commands share. */
#define CLI_OPTION_CONFIG                                   \
    {                                                       \
        "--config", "FILE", "settings, one JSON file", NULL \
    }
#define CLI_OPTION_DATA                                                      \
    {                                                                        \
        "--data", "DIR", "folder of the database (default: data)", "dataDir" \
    }
#define CLI_OPTION_MODE                                                         \
    {                                                                           \
        "--mode", "sync|nosync", "how durable an acknowledged write is", "mode" \
    }
#define CLI_OPTION_COMPONENT                                                                   \
    {                                                                                          \
        "--component", "PATH", "a shared object, or a folder with component.json; repeatable", \
            NULL                                                                               \
    }
#define CLI_OPTION_NO_RATE_LIMIT                                                             \
    {                                                                                        \
        "--no-rate-limit", NULL, "whatever the settings say of rateLimit; quotas hold", NULL \
    }
#define CLI_OPTIONS_END        \
    {                          \
        NULL, NULL, NULL, NULL \
    }

extern const struct cli_command cli_serve, cli_stdio;
extern const struct cli_command cli_table_create, cli_table_list, cli_table_describe;
extern const struct cli_command cli_table_alter, cli_table_drop;
extern const struct cli_command cli_index_create, cli_index_list, cli_index_drop;
extern const struct cli_command cli_session_list, cli_session_close;
extern const struct cli_command cli_user_create, cli_user_list, cli_user_alter, cli_user_drop;
extern const struct cli_command cli_role_put, cli_role_list, cli_role_show, cli_role_drop;
extern const struct cli_command cli_token_create, cli_token_list, cli_token_revoke;
extern const struct cli_command cli_component_check, cli_component_apply;
extern const struct cli_command cli_explain, cli_import, cli_export, cli_doctor;

#endif
