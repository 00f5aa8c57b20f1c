/* core/core_state.h - what a worker's core holds; for the files of core/ only. */
#ifndef TENON_CORE_CORE_STATE_H
#define TENON_CORE_CORE_STATE_H

#include "core/access_watch.h"
#include "core/core.h"
#include "core/jobs.h"
#include "core/live.h"
#include "core/log_messages.h"
#include "core/push.h"
#include "core/running.h"
#include "core/stream.h"
#include "core/resource_uri.h"
#include "core/scans.h"
#include "core/session.h"
#include "generated/methods.h"
#include "wire/cursor.h"

struct catalog;

/* Those with members yet to be run, which core/batch.c does by turns. */
struct batches {
    struct loop_post post; /* first, so that a turn finds its way back */
    struct batch *first, **last;
    bool posted;
};

struct core {
    struct core_config config;
    struct store *store;
    struct loop *loop;
    struct cursor_key cursor_key;
    struct arena arena; /* what lives as long as the core */
    struct resource_uris uris;
    struct catalog *catalog;                  /* the newest snapshot; NULL before the first use */
    struct catalog *views[CATALOG_ROLES_MAX]; /* of it, for roles; NULL: a free place */
    uint64_t n_view_uses, n_views_made;
    struct scans scans;
    struct jobs jobs;
    struct batches batches;
    struct accesses *accesses;
    int64_t quota_told_ms; /* when the log was told last that quotas cannot be counted; 0: never */
    struct access_watch watch;
    struct bus *own_bus; /* if the config has none; NULL */
    struct mail mail;
    struct running running;
    int64_t look_at_ms; /* next look for what others left, without a wake */
    struct pendings pendings;
    struct streams *streams;
    struct follows *follows;
    struct sink *push_sink; /* of stdio, or NULL: core.h */
    struct live *late;      /* with progress that was too fast: core/live.c */

    struct session *stdio_session; /* in the arena */
};

#endif
