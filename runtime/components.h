/* components.h - loads the shared objects that bring tools and resources: tenon.h from outside.
 *
 * Each process that serves loads them for itself, after the fork. What is wrong with them is found
 * before that, once, by components_try, so that the operator reads it once and no worker starts.
 */
#ifndef TENON_COMPONENTS_H
#define TENON_COMPONENTS_H

#include "config.h"
#include "core/component.h"

/* Loads the files in their order. 0 with *ret (NULL if there are none), or an error after a line in
 * the log that names the file and the reason. */
int components_load(const struct config_list *files, struct tenon **ret);
/* The same in a process of its own, which then calls `check` (0: fine). 0, or an error that was
 * logged. */
int components_try(const struct config_list *files, int (*check)(void *ctx, struct tenon *tenon),
                   void *ctx);

#endif
