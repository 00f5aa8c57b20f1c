/* component_watch.h - one process looks whether folders of components have changed.
 *
 * About once a second, from the keeper, or from the loop of stdio. A change is first tried by a
 * process of its own (`tenon component apply`), which tells what is wrong and makes and changes the
 * tables; only if that went well the workers are to read the folders again. So a faulty one is
 * logged once, and what was offered stays. The same look finds files that clients may subscribe to
 * and that have changed (manifest/files.h).
 */
#ifndef TENON_COMPONENT_WATCH_H
#define TENON_COMPONENT_WATCH_H

#include "config.h"

struct component_watch;

struct component_watch_config {
    const struct config_list *files; /* all components */
    const char *data_dir;
    enum store_mode mode;
    const char *state; /* file of what was last seen of subscribable files; NULL: none */
    /* The file behind this URI reads differently now. Negative: it is told again later. */
    int (*changed)(void *ctx, struct str uri);
    void *ctx;
};

/* *ret is NULL if no component is a folder. 0 or ERR_NO_MEMORY. */
int component_watch_new(const struct component_watch_config *config, struct component_watch **ret);
/* Ends what it has started, and waits for that. NULL is fine, also for the next two. */
void component_watch_free(struct component_watch *watch);
/* Tries them at the next look, changed or not. */
void component_watch_force(struct component_watch *watch);
/* A look. True: the workers shall read the folders again. */
bool component_watch_look(struct component_watch *watch);

#endif
