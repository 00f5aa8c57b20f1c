/* net/server.h - what main.c joins: HTTP server processes, and the stdio transport.
 *
 * net knows nothing of a store or of what a core is made from. `net_serve` forks the workers and
 * the keeper and calls back inside each: there, after the fork, main opens the store and makes the
 * core. The supervisor itself calls only `validate`. All callbacks get `ctx`; those that are NULL
 * are skipped, but worker_start.
 *
 * Lines on stdout: none. In the log, once the workers are ready:
 *   listening on http://127.0.0.1:8750/mcp        (https:// with TLS)
 */
#ifndef TENON_NET_SERVER_H
#define TENON_NET_SERVER_H

#include "core/core.h"

struct net_address {
    const char *host; /* numeric address or "localhost" */
    uint16_t port;    /* 0: the kernel chooses; see port_file */
};

/* Files in PEM; all NULL: no TLS. Read at start and again after SIGHUP. */
struct net_tls {
    const char *certificate; /* the server's own, then those that lead to one that clients know */
    const char *key;         /* for its owner's (and group's) eyes only */
    const char *client_ca; /* certificates of clients are verified by these; NULL: none is asked */
    bool require_client;   /* a client without one is turned away in the handshake */
};

/* Strings and arrays must outlive net_serve. Zero means the default in [brackets]. */
struct net_config {
    const struct net_address *listen;
    uint32_t n_listen;
    uint32_t n_workers;        /* [cores] at most WORKERS_MAX */
    struct net_tls tls;        /* of all listeners */
    const char *path[2];       /* per enum call_profile, "/mcp"; NULL: this profile is not served */
    const char *data_dir;      /* holds the lock file; NULL: no lock */
    const char *port_file;     /* gets the port of listen[0] as decimal text; NULL: none */
    size_t body_limit_bytes;   /* [BODY_LIMIT_BYTES] at most BODY_LIMIT_MAX_BYTES */
    const struct str *origins; /* allowed Origin values beside loopback ones; "*": any */
    uint32_t n_origins;
    const struct str *hosts; /* allowed Host names (without port) beside loopback and listen ones */
    uint32_t n_hosts;
    /* What a client without a good token is told of how to get one (RFC 9728): the JSON that is
     * served at the well-known paths, and its URL, visible ASCII. NULL: nothing. */
    const char *metadata, *metadata_url;
    const char *scope; /* that tokens must have, or NULL */
    bool allow_client_delete;
    const char *identity_header[2];    /* per enum call_profile: up to a comma it stands for the
                                          client's address; NULL: none does */
    const struct net_address *monitor; /* where net/monitor.h listens; NULL: nowhere */
    bool monitor_is_wanted; /* the operator asked for it: if it cannot, that is an error */
    bool allow_public;      /* else only loopback addresses may be bound */
    /* Tests lower these. */
    uint32_t conns_max; /* [CONNS_MAX, or less if the limit of descriptors is low] per worker */
    size_t bytes_in_flight_max; /* [BYTES_IN_FLIGHT_MAX] per worker */
    int64_t keepalive_ms;       /* [HTTP_KEEPALIVE_MS] idle connection */
    int64_t head_deadline_ms;   /* [HTTP_HEAD_DEADLINE_MS] from the first byte to the last header */
    int64_t
        body_deadline_ms;  /* [HTTP_BODY_DEADLINE_MS] from the last header to the last body byte */
    int64_t send_stall_ms; /* [HTTP_SEND_STALL_MS] */
    int64_t send_max_ms;   /* [HTTP_SEND_MAX_MS] of a reply, but not of a stream */
    int64_t heartbeat_ms;  /* [STREAM_HEARTBEAT_MS] between the comments of a stream */
    int64_t start_ms;      /* [WORKER_START_MS] a process that is not ready by then is killed */
    int64_t keeper_stall_ms; /* [KEEPER_STALL_MS] over the second that it rests between ticks */
    int64_t stall_ms;        /* [WORKER_STALL_MS] a loop that stands still this long is killed */
    int64_t stop_grace_ms;   /* [STOP_GRACE_MS] for replies in flight */
};

struct net_callbacks {
    void *ctx;
    /* In a new worker process, before it accepts. The core must use `loop`; `bus` goes
     * to the other workers, or is NULL (stdio). */
    int (*worker_start)(void *ctx, uint32_t slot, struct bus *bus, struct loop *loop,
                        struct core **ret);
    /* In the worker, on the loop, with every tick: how long something that others wait for has been
     * standing in this process (a write transaction). From stall_ms on the worker counts as one
     * whose loop stands still. */
    int64_t (*worker_standing_ms)(void *ctx);
    /* In the worker (of stdio too), on the loop, with every tick. */
    void (*worker_tick)(void *ctx);
    /* In the worker, on the loop: an orderly stop begins, and no more requests come; then, while
     * some are still in flight, STOP_HURRY_MS before the end of the grace. */
    void (*worker_closing)(void *ctx, struct core *core);
    void (*worker_hurry)(void *ctx, struct core *core);
    /* In the worker (of stdio too), on the loop, when all connections are gone: what still runs
     * should end. */
    void (*worker_ending)(void *ctx, struct core *core);
    /* In the worker (of stdio too), instead of worker_stop, if a handler does not end: nothing that
     * it may use is freed, but what is on its way to the store is written. */
    void (*worker_leaving)(void *ctx);
    /* In the worker, after the last answer. Frees the core and closes the store. */
    void (*worker_stop)(void *ctx, struct core *core);
    /* In the keeper process: once at start, then once a second, once at the end. A negative result
     * of keeper_start ends the whole server. keeper_start runs before any worker is forked. */
    int (*keeper_start)(void *ctx);
    int (*keeper_tick)(void *ctx);
    void (*keeper_stop)(void *ctx);
    /* In the keeper, on a thread of its own, between its start and stop: the text of /metrics. */
    void (*keeper_metrics)(void *ctx, struct buf *out);
    /* SIGHUP: `validate` in the supervisor; if it returns 0, `reload` in each worker, on the loop.
     * Without `reload` a line in the log says that nothing is read again. */
    int (*validate)(void *ctx);
    void (*reload)(void *ctx, struct core *core);
    /* In the supervisor, once every worker accepts connections. */
    void (*ready)(void *ctx, uint16_t port);
};

/* Serves until SIGTERM or SIGINT, then 0. A negative error when the server could not start; then
 * one line on stderr has said why. */
int net_serve(const struct net_config *config, const struct net_callbacks *callbacks);

/* Serves one client on stdin and stdout in this process, until end of input or SIGTERM: one JSON
 * message per line. Uses worker_start (slot 0), worker_tick, worker_ending, worker_leaving
 * and worker_stop.
 */
int net_stdio(const struct net_callbacks *callbacks, size_t body_limit_bytes);

#endif
