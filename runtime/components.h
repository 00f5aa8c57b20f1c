/* components.h - loads what brings tools, resources and prompts: shared objects (tenon.h from
 * outside), and folders with a component.json (manifest/manifest.h).
 *
 * Each process that serves loads them for itself, after the fork. What is wrong with them is found
 * before that, once, by components_try, so that the operator reads it once and no worker starts. A
 * shared object stays what it is until the process ends; folders are read again by
 * components_reload.
 */
#ifndef TENON_COMPONENTS_H
#define TENON_COMPONENTS_H

#include "config.h"
#include "core/component.h"

struct manifest;

/* Loads them in their order. 0 with *ret (NULL if there are none), or an error after lines in the
 * log that name the file and the reason. */
int components_load(const struct config_list *files, struct tenon **ret);
/* The same, but of a folder what is wrong now is left out, after its lines: for a worker that takes
 * the place of another one while a server runs. */
int components_load_what_works(const struct config_list *files, struct tenon **ret);
/* The same in a process of its own, which then calls `check` (0: fine). 0, or an error that was
 * logged. */
int components_try(const struct config_list *files, int (*check)(void *ctx, struct tenon *tenon),
                   void *ctx);
/* Offers what the folders hold now. An error, after lines in the log: all is as it was. On the
 * loop. */
int components_reload(const struct config_list *files, struct tenon *tenon);
/* Makes and changes the tables of all folders, after which no tool may have the name of a table's.
 * Blocks. 0, or an error that was logged. */
int components_make_tables(const struct config_list *files, struct tenon *tenon,
                           struct store *store);

bool component_is_folder(struct str file);
/* Logs what is wrong with it, a line each. */
void component_log_faults(const struct manifest *m);

#endif
