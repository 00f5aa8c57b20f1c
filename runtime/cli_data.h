/* cli_data.h - what the commands that work on the database have in common. */
#ifndef TENON_CLI_DATA_H
#define TENON_CLI_DATA_H

#include "cli.h"
#include "core/table.h"

/* What such a command holds, from cli_data_init to cli_data_close. */
struct cli_data {
    struct arena arena; /* lives as long as the command */
    struct config config;
    struct store *store;
};

void cli_data_init(struct cli_data *data);
/* Settings and store, beside servers that may run. An operand 0 must name a table. 0, or the exit
 * status with the message written. `read_only`: the database must be there, and nothing is written.
 */
int cli_data_open(struct cli_data *data, const struct cli_args *args, bool read_only);
void cli_data_close(struct cli_data *data);

/* Splits "database.table". 0, or CLI_USAGE with the message written. */
int cli_table_name(const struct cli_args *args, const char *text, struct str *ret_database,
                   struct str *ret_name);
/* The table that operand 0 names. 0, or the exit status with the message written. */
int cli_table_get(struct cli_data *data, const struct cli_args *args, struct table *ret);

/* `tenon doctor --data`. Returns the exit status. */
int cli_doctor_data(const struct cli_args *args);

/* "tenon: what: reason" for an error of the store. Returns CLI_FAILED. */
int cli_store_failed(const struct cli_data *data, const char *what, int err);

#endif
