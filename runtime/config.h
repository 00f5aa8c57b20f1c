/* config.h - the settings of a server: defaults, one JSON file, and flags on top.
 *
 * One table of keys (config.c) says for each its path, kind, range, default, flag and help;
 * reading, checking and every help text come from it. Keys are nested objects in the file:
 * "mcp.session.idleTimeoutSeconds" is {"mcp": {"session": {"idleTimeoutSeconds": 1800}}}.
 * A key that the protocol's other servers know but that has no effect here yet is checked like the
 * others and named in one warning line on stderr, so that nobody relies on it.
 */
#ifndef TENON_CONFIG_H
#define TENON_CONFIG_H

#include "base/arena.h"
#include "core/store.h"

#include <stdio.h>

struct config_list {
    struct str *v;
    uint32_t n;
};

struct config_address {
    char host[64]; /* without the brackets of an IPv6 address */
    uint16_t port;
};

#define CONFIG_OFF "off" /* as the host of an address: none */

/* Of a profile; core/admission.h. Rates and counts: 0 is off; bursts: 0 is what comes in a second.
 */
struct config_limits {
    double tool_per_s, session_per_s, client_per_s;
    uint32_t tool_burst, client_burst, session_concurrency;
    const char *identity_header; /* NULL: none */
    uint32_t quota, quota_window_s;
};

struct config {
    struct config_address listen;
    struct config_address metrics_listen; /* no host: not given */
    const char *data_dir;
    const char *audit_file; /* or CONFIG_OFF */
    uint32_t audit_max_bytes, audit_keep;
    uint32_t workers; /* 0: one per core */
    enum store_mode mode;
    struct config_list allowed_origins, allowed_hosts;
    struct config_list components; /* their files */
    uint32_t body_limit_bytes;
    uint32_t list_page;
    uint32_t max_connections; /* of a worker */
    uint32_t max_sessions;
    uint32_t session_idle_s;
    bool allow_client_delete;
    uint32_t heartbeat_s;                                  /* of streams */
    const char *tls_certificate, *tls_key, *tls_client_ca; /* files; NULL: none */
    bool tls_require_client;
    const char *mount_path;
    uint32_t max_tools;
    const char *operations_path;
    uint32_t operations_tools;
    struct config_list operations_allow, operations_deny; /* v NULL: not given */
    uint32_t search_max, search_scan_rows, row_bytes;
    uint32_t ask_timeout_ms;
    uint32_t coalesce_ms, max_subscriptions;
    const char *anonymous_role; /* "": not given; "none" */
    /* signed tokens; NULL: not given */
    const char *auth_resource, *auth_issuer, *auth_audience, *auth_jwks, *auth_required_scope;
    struct config_list auth_servers, auth_scopes;
    uint32_t auth_jwks_max_age_s, auth_clock_skew_s;
    struct config_limits limits[2]; /* per enum call_profile */
    union {
        struct config_list list;
    } idle; /* where values of keys without effect end; nobody reads it */
};

/* What is wrong and where: line 0 for a flag or an unreadable file. */
struct config_fault {
    uint32_t line;
    char text[256];
};

void config_init(struct config *config); /* the defaults */
/* Reads the file over what is set. 0, or an error with *fault filled; *config may then be half set.
 * Strings lie in the arena. */
int config_load(struct config *config, const char *path, struct arena *arena,
                struct config_fault *fault);
/* Sets one key by its path from a flag's text (NULL: a switch, true). Lists take commas. */
int config_set(struct config *config, const char *path, const char *text, struct arena *arena,
               struct config_fault *fault);

/* One line per key that works: path, what it is, default. */
void config_print_keys(FILE *out);

#endif
