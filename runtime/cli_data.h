/* cli_data.h - what the commands that work on the database have in common. */
#ifndef TENON_CLI_DATA_H
#define TENON_CLI_DATA_H

#include "cli.h"
#include "core/manage.h"

/* What such a command holds, from cli_data_init to cli_data_close. */
struct cli_data {
    struct arena arena; /* lives as long as the command */
    struct config config;
    struct store *store;
    bool is_stuck; /* a write still waits for another process, and cannot be called back */
};

void cli_data_init(struct cli_data *data);
enum cli_access {
    CLI_WRITES,
    CLI_READS,    /* the database must be there, and nothing is written */
    CLI_SESSIONS, /* with the sessions of the servers that run */
};

/* Settings and store, beside servers that may run. An operand that the help calls DATABASE.TABLE
 * must be one. 0, or the exit status with the message written. */
int cli_data_open(struct cli_data *data, const struct cli_args *args, enum cli_access access);
void cli_data_close(struct cli_data *data);

/* Splits "database.table". 0, or CLI_USAGE with the message written. */
int cli_table_name(const struct cli_args *args, const char *text, struct str *ret_database,
                   struct str *ret_name);
/* The table that operand 0 names. 0, or the exit status with the message written. */
int cli_table_get(struct cli_data *data, const struct cli_args *args, struct table *ret);

/* `tenon doctor --data`. Returns the exit status. */
int cli_doctor_data(const struct cli_args *args);

/* Of the commands on one table: the store is open, and the table that operand 0 names is there. */
struct cli_table {
    struct cli_data data;
    struct manage manage;
    struct store_table stored;
};

/* 0, or the exit status with the message written; to be closed in any case. */
int cli_table_open(struct cli_table *t, const struct cli_args *args, enum cli_access access);
void cli_table_close(struct cli_table *t);
/* What a function of manage.h returned: "tenon: geo.places: sentence". Returns CLI_FAILED. */
int cli_manage_failed(struct cli_table *t, int err);

/* JSON text without blanks, indented for people; cli_print.c. */
void cli_print_json(struct str json, FILE *out);

/* "tenon: what: reason" for an error of the store. Returns CLI_FAILED. */
int cli_store_failed(struct cli_data *data, const char *what, int err);

#endif
