/* core/core.h - the protocol engine of one worker: takes calls, answers them; does no I/O itself.
 */
#ifndef TENON_CORE_CORE_H
#define TENON_CORE_CORE_H

#include "core/admission.h"
#include "core/call.h"
#include "core/loop.h"
#include "core/store.h"

struct audit;
struct bus;
struct core;
struct core_transfer;
struct metrics;
struct tenon;

/* Names in which * stands for any characters. */
struct name_globs {
    const struct str *v;
    uint32_t n;
};

/* What the config file and flags decide (config.h fills it). Strings outlive the core. */
struct core_config {
    int64_t session_idle_ms;
    bool allow_client_delete;
    uint32_t list_page;     /* entries of a list page, but tools */
    uint32_t tools_page[2]; /* per enum call_profile */
    uint32_t search_page, search_max;
    uint32_t search_scan_rows; /* 0: SEARCH_SCAN_ROWS */
    uint32_t row_bytes;        /* of JSON, of a row that a client writes; 0: what the store takes */
    bool profile_enabled[2];
    /* Of the whole server, for system_information. */
    int64_t started_ms; /* wall time */
    int32_t pid;
    uint32_t n_workers;
    struct name_globs operations_allow, operations_deny; /* allow without v: OPERATIONS_ALLOW */
    struct metrics
        *metrics;        /* core/metrics.h: the block of this worker; NULL: nothing is counted */
    struct audit *audit; /* core/audit.h: of this worker; NULL: off */
    const struct core_transfer *transfer; /* core/file_transfer.h; NULL: no files */
    /* core/access.h; NULL: nobody without a record may do anything. */
    const struct access_rules *access;
    struct bus *bus;                   /* to the other workers; NULL: there are none */
    struct tenon *components;          /* core/component.h; NULL: none. Not the core's own */
    int64_t ask_timeout_ms;            /* for a client's answer; 0: ASK_TIMEOUT_MS */
    uint32_t stream_frames;            /* kept of a stream; 0: STREAM_FRAMES */
    uint32_t coalesce_ms;              /* of subscriptions that do not say */
    uint32_t max_subscriptions;        /* of a session; 0: SUBSCRIPTIONS_SESSION_MAX */
    struct admission_limits limits[2]; /* per enum call_profile */
    struct rates *rates;               /* of all workers; NULL: rates have no limit */
};

/* Takes what may change while a server runs: times of sessions and questions, sizes of list
 * pages, what subscriptions get, rates and quotas.
 * The rest stays. A core reads them on its loop only. */
void core_config_renew(struct core_config *config, const struct core_config *from);

/* The store and the loop must outlive the core. */
int core_new(const struct core_config *config, struct store *store, struct loop *loop,
             struct core **ret);
/* The stdio transport tells where messages go that belong to no call (core/sink.h): before the
 * first call, and NULL when stdout is gone or the transport ends. The sink stays the transport's:
 * core sends only, neither `end`s it nor sets anything in it. */
void core_push_to(struct core *core, struct sink *sink);
void core_reload(struct core *core, const struct core_config *config); /* by core_config_renew */
/* Time-outs, wakes of other workers that were lost. Every 50 ms or so; cheap. */
void core_tick(struct core *core);
/* An orderly stop, in its order. No more requests come: streams that only listen end. */
void core_close(struct core *core);
/* The time of calls in flight is nearly over: they are cancelled. */
void core_hurry(struct core *core);
/* What runs for long ends soon. Before the loop is drained. */
void core_stop(struct core *core);
/* With no call in flight: drain the loop first, which also ends what waits for its turn. */
void core_free(struct core *core);

/* Takes the call. Checks in this order: body is JSON-RPC, session header, session, version header,
 * user, life-cycle state, method (acceptance REFERENCE a.1). Answers by call->finish. Loop only. */
void core_handle(struct core *core, struct call *call);

#endif
