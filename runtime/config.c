/* config.c - the table of keys, and what follows from it; see config.h and config_parts.h.
 *
 * A file is checked as a whole by a JSON Schema that is written from the table; a flag's text
 * becomes a value, which is checked by the schema of its key. What has passed is only stored. Every
 * message names the key and what the table says was expected.
 */
#include "config_parts.h"

#include "base/err.h"
#include "base/limits.h"
#include "core/operations.h"
#include "schema/json_schema.h"
#include "wire/json_write.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define AT(member) offsetof(struct config, member)
#define DAY_S      86400
/* Rates and quotas of a profile, with the defaults of the first four. */
#define LIMITS(profile, i, per_tool, burst, per_session, at_once)                             \
    {                                                                                         \
        profile ".rateLimit.perToolPerSecond",                                                \
        RATE,                                                                                 \
        AT(limits[i].tool_per_s),                                                             \
        0,                                                                                    \
        0,                                                                                    \
        per_tool,                                                                             \
        "calls of one tool in a session; 0: any number"},                                     \
        {profile ".rateLimit.perToolBurst",                                                   \
         COUNT,                                                                               \
         AT(limits[i].tool_burst),                                                            \
         0,                                                                                   \
         RATE_BURST_MAX,                                                                      \
         burst,                                                                               \
         "of these at once; 0: as many as in a second"},                                      \
        {profile ".rateLimit.sessionPerSecond",                                               \
         RATE,                                                                                \
         AT(limits[i].session_per_s),                                                         \
         0,                                                                                   \
         0,                                                                                   \
         per_session,                                                                         \
         "calls of a session, and as many at once; 0: any number"},                           \
        {profile ".rateLimit.sessionConcurrency",                                             \
         COUNT,                                                                               \
         AT(limits[i].session_concurrency),                                                   \
         0,                                                                                   \
         CONCURRENCY_MAX,                                                                     \
         at_once,                                                                             \
         "calls of a session that run at the same time; 0: any number"},                      \
        {profile ".rateLimit.perClientPerSecond",                                             \
         RATE,                                                                                \
         AT(limits[i].client_per_s),                                                          \
         0,                                                                                   \
         0,                                                                                   \
         "0",                                                                                 \
         "calls of a user, or without one of an address; 0: any number"},                     \
        {profile ".rateLimit.perClientBurst",                                                 \
         COUNT,                                                                               \
         AT(limits[i].client_burst),                                                          \
         0,                                                                                   \
         RATE_BURST_MAX,                                                                      \
         "0",                                                                                 \
         "of these at once; 0: as many as in a second"},                                      \
        {profile ".rateLimit.identityHeader",                                                 \
         HEADER,                                                                              \
         AT(limits[i].identity_header),                                                       \
         0,                                                                                   \
         0,                                                                                   \
         NULL,                                                                                \
         "header that stands for the address, up to a comma: of a proxy that always sets it " \
         "itself"},                                                                           \
        {profile ".quota.perUser",                                                            \
         COUNT,                                                                               \
         AT(limits[i].quota),                                                                 \
         0,                                                                                   \
         1000000000,                                                                          \
         "0",                                                                                 \
         "calls of a user, or without one of an address, in a window; 0: any number"},        \
    {                                                                                         \
        profile ".quota.windowSeconds", COUNT, AT(limits[i].quota_window_s), 1,               \
            QUOTA_WINDOW_MAX_S, "86400", "length of a window; the first began in 1970"        \
    }

const struct key config_keys[] = {
    {"listen", ADDRESS, AT(listen), 0, 0, "127.0.0.1:8750", "HOST:PORT; port 0: any free one"},
    {"dataDir", TEXT, AT(data_dir), 0, 0, "data", "folder of the database; created if missing"},
    {"workers", COUNT, AT(workers), 0, WORKERS_MAX, "0", "worker processes; 0: one per core"},
    {"mode", MODE, AT(mode), 0, 0, "sync",
     "sync: acknowledged means on disk; nosync: survives a killed process, not a power cut"},
    {"components", LIST, AT(components), 0, 0, NULL,
     "shared objects (tenon.h) and folders (component.json) with tools and more of their own"},
    {"allowedOrigins", LIST, AT(allowed_origins), 0, 0, NULL,
     "Origin values of browser clients, beside loopback ones; \"*\": any"},
    {"allowedHosts", LIST, AT(allowed_hosts), 0, 0, NULL,
     "Host names without port, beside loopback ones"},
    {"auth.anonymousRole", TEXT, AT(anonymous_role), 0, 0, "",
     "role of clients without a token; none: they are refused. Not given: they are refused, but "
     "may do everything on a loopback address as long as there are no users"},
    {"auth.issuer", TEXT, AT(auth_issuer), 0, 0, NULL,
     "whose signed tokens are taken (iss); not given: nobody's"},
    {"auth.jwks", TEXT, AT(auth_jwks), 0, 0, NULL,
     "its public keys: a file, or an https URL (http: of this machine)"},
    {"auth.resource", TEXT, AT(auth_resource), 0, 0, NULL,
     "URL by which clients reach this server"},
    {"auth.audience", TEXT, AT(auth_audience), 0, 0, NULL,
     "whom a token must be made for (aud); not given: auth.resource"},
    {"auth.authorizationServers", LIST, AT(auth_servers), 0, 0, NULL,
     "where clients are sent for a token; not given: auth.issuer"},
    {"auth.scopes", LIST, AT(auth_scopes), 0, 0, NULL,
     "SCOPE=ROLE: roles that a scope of a token gives; none: those of the user of its subject"},
    {"auth.requiredScope", TEXT, AT(auth_required_scope), 0, 0, NULL,
     "scope that every token must have"},
    {"auth.jwksMaxAgeSeconds", COUNT, AT(auth_jwks_max_age_s), 1, DAY_S, "600",
     "keys so old are fetched again; if they cannot be had, they serve six times as long"},
    {"auth.clockSkewSeconds", COUNT, AT(auth_clock_skew_s), 0, 600, "60",
     "between the issuer's clock and this one"},
    {"bodyLimitBytes", COUNT, AT(body_limit_bytes), 1024, BODY_LIMIT_MAX_BYTES, "4194304",
     "largest request body"},
    {"maxConnections", COUNT, AT(max_connections), 1, CONNS_MAX, "8192",
     "open connections of a worker; the next is answered by 503"},
    {"listPageSize", COUNT, AT(list_page), 1, 10000, "200",
     "entries of a page of a list method, tools excepted"},
    {"tls.certificate", TEXT, AT(tls_certificate), 0, 0, NULL,
     "PEM file of the server's certificate and its chain: serves https instead of http"},
    {"tls.key", TEXT, AT(tls_key), 0, 0, NULL, "PEM file of its private key, mode 0600 or 0640"},
    {"tls.clientCa", TEXT, AT(tls_client_ca), 0, 0, NULL,
     "PEM file of the authorities that certificates of clients are verified by"},
    {"tls.requireClientCertificate", SWITCH, AT(tls_require_client), 0, 0, "false",
     "whether a client without a certificate is turned away"},
    {"metrics.listen", ADDRESS_OR_OFF, AT(metrics_listen), 0, 0, NULL,
     "HOST:PORT of /metrics, /healthz and /readyz, or off; unset: 127.0.0.1:9750, if it is free"},
    {"audit.file", TEXT, AT(audit_file), 0, 0, CONFIG_OFF,
     "gets a line of JSON for each call of a tool; stderr; or off"},
    {"audit.maxBytes", COUNT, AT(audit_max_bytes), AUDIT_LINE_BYTES, 1u << 31, "67108864",
     "of that file; then it becomes FILE.1, that FILE.2, and so on"},
    {"audit.keep", COUNT, AT(audit_keep), 0, AUDIT_KEEP_MAX, "5", "of these older files"},
    {"mcp.session.idleTimeoutSeconds", COUNT, AT(session_idle_s), 1, 365 * DAY_S, "1800",
     "a session unused for so long is gone"},
    {"mcp.session.allowClientDelete", SWITCH, AT(allow_client_delete), 0, 0, "false",
     "whether a client may end its session by DELETE"},
    {"mcp.session.max", COUNT, AT(max_sessions), 1, SESSIONS_MAX, "100000",
     "sessions that stand; initialize is answered by 503 beyond"},
    {"mcp.streams.heartbeatSeconds", COUNT, AT(heartbeat_s), 1, 3600, "15",
     "between two comments of an open stream; who confirms none from one to the next is gone"},
    {"mcp.application.mountPath", PATH, AT(mount_path), 0, 0, "/mcp", "path of the endpoint"},
    {"mcp.application.maxTools", COUNT, AT(max_tools), 1, 10000, "200",
     "tools of a page of tools/list"},
    {"mcp.application.searchMaxResults", COUNT, AT(search_max), 1, SEARCH_MAX, "1000",
     "rows that one search call may return"},
    {"mcp.application.searchScanRows", COUNT, AT(search_scan_rows), 1, 1000000000, "100000",
     "rows that one search may look at"},
    {"mcp.application.maxRowBytes", COUNT, AT(row_bytes), 16, ROW_BYTES_MAX, "1048576",
     "JSON text of a row that a client writes"},
    {"mcp.application.allow", LIST, AT(idle), 0, 0, NULL, NULL},
    {"mcp.application.deny", LIST, AT(idle), 0, 0, NULL, NULL},
    LIMITS("mcp.application", 0, "25", "50", "200", "50"),
    {"mcp.operations.mountPath", PATH, AT(operations_path), 0, 0, "/mcp/operations",
     "path of the endpoint to manage the database by"},
    {"mcp.operations.maxTools", COUNT, AT(operations_tools), 1, 10000, "200",
     "tools of a page of its tools/list"},
    {"mcp.operations.allow", LIST, AT(operations_allow), 0, 0, OPERATIONS_ALLOW,
     "operations that may be called; * stands for any characters"},
    {"mcp.operations.deny", LIST, AT(operations_deny), 0, 0, NULL,
     "operations that may not be, even if they are allowed"},
    LIMITS("mcp.operations", 1, "10", "20", "100", "25"),
    {"mcp.serverRequest.timeoutMs", COUNT, AT(ask_timeout_ms), 1, ASK_TIMEOUT_MAX_MS, "30000",
     "how long a client may take to answer a request of the server"},
    {"mcp.subscriptions.coalesceMs", COUNT, AT(coalesce_ms), 0, COALESCE_MS_MAX, "0",
     "changes of a resource so soon after the first are told together"},
    {"mcp.subscriptions.max", COUNT, AT(max_subscriptions), 1, SUBSCRIPTIONS_SESSION_MAX, "10000",
     "subscriptions of a session"},
};
#define N_KEYS (sizeof config_keys / sizeof *config_keys)
const size_t config_n_keys = N_KEYS;

/* By kind: its JSON Schema without the braces, and what a message says was expected. */
static const struct {
    const char *schema, *expected;
} kinds[] = {
    [COUNT] = {"\"type\":\"integer\"", "a whole number"}, /* the range comes behind it */
    [RATE] = {"\"type\":\"number\",\"minimum\":0,\"maximum\":100000,\"not\":{"
              "\"exclusiveMinimum\":0,\"exclusiveMaximum\":0.0001}",
              "0 or a number from 0.0001 to 100000"},
    [SWITCH] = {"\"type\":\"boolean\"", "true or false"},
    [TEXT] = {"\"type\":\"string\",\"pattern\":\"^[^\\\\u0000]+$\"", "a string that is not empty"},
    [HEADER] = {"\"type\":\"string\",\"pattern\":\"^[0-9A-Za-z-]{1,64}$\"",
                "the name of a header, such as X-Real-IP"},
    [ADDRESS] = {"\"type\":\"string\",\"pattern\":\"^(\\\\[[!-~]{1,63}\\\\]|[!-9;-Z^-~]{1,63}):[0-"
                 "9]{1,5}$\"",
                 "HOST:PORT, such as 127.0.0.1:8750 or [::1]:8750"},
    [ADDRESS_OR_OFF] =
        {"\"type\":\"string\",\"pattern\":\"^(off|(\\\\[[!-~]{1,63}\\\\]|[!-9;-Z^-~]{1,63}):[0-"
         "9]{1,5})$\"",
         "HOST:PORT, such as 127.0.0.1:9750, or off"},
    [PATH] =
        {"\"type\":\"string\",\"pattern\":\"^/[!-~]*[!-.0-~]$\",\"not\":{\"pattern\":\"[?#%]\"}",
         "a path such as /mcp"},
    [MODE] = {"\"enum\":[\"sync\",\"nosync\"]", "\"sync\" or \"nosync\""},
    [LIST] = {"\"type\":\"array\",\"items\":{\"type\":\"string\",\"minLength\":1}",
              "an array of strings that are not empty"},
};

int config_fault_at(struct config_fault *fault, uint32_t line, struct str path, const char *text)
{
    fault->line = line;
    snprintf(fault->text, sizeof fault->text, STR_FMT "%s%s", STR_ARG(path), path.n ? ": " : "",
             text);
    return ERR_SYNTAX;
}

int config_refuse(const struct setting *s)
{
    char text[120], range[40] = "";
    if (s->key->kind == COUNT)
        snprintf(range, sizeof range, " from %u to %u", s->key->min, s->key->max);
    snprintf(text, sizeof text, "expected %s%s", kinds[s->key->kind].expected, range);
    return config_fault_at(s->fault, s->line, str_of(s->key->path), text);
}

int config_no_memory(struct config_fault *fault)
{
    config_fault_at(fault, 0, STR(""), err_text(ERR_NO_MEMORY));
    return ERR_NO_MEMORY;
}

const struct key *config_find_key(struct str path)
{
    for (size_t i = 0; i < N_KEYS; i++)
        if (str_eq(str_of(config_keys[i].path), path))
            return &config_keys[i];
    return NULL;
}

/* ---- Groups of keys ------------------------------------------------------------------------- */

/* Of a key `path` below `group` ("" is the top): the name of the next level, else STR_NONE. */
static struct str level_below(struct str path, struct str group)
{
    if (group.n) {
        if (!str_starts_with(path, group) || path.n <= group.n || path.p[group.n] != '.')
            return STR_NONE;
        path = (struct str){path.p + group.n + 1, path.n - group.n - 1};
    }
    return str_cut(&path, '.');
}
/* ---- The schema ----------------------------------------------------------------------------- */

static void write_key_schema(const struct key *key, struct buf *out)
{
    buf_printf(out, "{%s", kinds[key->kind].schema);
    if (key->kind == COUNT)
        buf_printf(out, ",\"minimum\":%u,\"maximum\":%u", key->min, key->max);
    buf_add_char(out, '}');
}

static struct str path_within(struct str group, struct str name, struct arena *arena)
{
    return arena_printf(arena, STR_FMT "%s" STR_FMT, STR_ARG(group), group.n ? "." : "",
                        STR_ARG(name));
}

static void write_group_schema(struct str group, struct arena *arena, struct buf *out);

static void write_member_schema(struct str path, struct arena *arena, struct buf *out)
{
    const struct key *key = config_find_key(path);
    if (key)
        write_key_schema(key, out);
    else
        write_group_schema(path, arena, out);
}

static void write_group_schema(struct str group, struct arena *arena, struct buf *out)
{
    struct str last = STR_NONE;
    buf_add_lit(out, "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{");
    for (size_t i = 0; i < N_KEYS; i++) {
        struct str name = level_below(str_of(config_keys[i].path), group);
        if (!name.p || str_eq(name, last))
            continue;
        if (last.p)
            buf_add_char(out, ',');
        json_write_str(out, name);
        buf_add_char(out, ':');
        write_member_schema(path_within(group, name, arena), arena, out);
        last = name;
    }
    buf_add_lit(out, "}}");
}

/* Opens JSON text that is borrowed. */
int config_open_text(struct str text, struct arena *arena, const struct tape_node **ret,
                     struct wire_fault *fault)
{
    char *copy = arena_zalloc(arena, (size_t)text.n + JSON_PADDING_BYTES);
    if (!copy)
        return ERR_NO_MEMORY;
    if (text.n)
        memcpy(copy, text.p, text.n);
    return tape_open((struct str){copy, text.n}, arena, ret, fault);
}

/* Judges a value by the schema of a key, or (NULL) of the whole file. As json_schema_check. */
int config_check(const struct key *key, const struct tape_node *value, struct arena *arena,
                 struct schema_faults *faults)
{
    struct buf text = {0};
    const struct tape_node *document;
    const struct json_schema *schema;
    if (key)
        write_key_schema(key, &text);
    else
        write_group_schema(STR(""), arena, &text);
    int err =
        text.failed ? ERR_NO_MEMORY : config_open_text(buf_str(&text), arena, &document, NULL);
    buf_done(&text);
    if (err == 0)
        err = json_schema_compile(document, NULL, arena, &schema, faults);
    return err ? err : json_schema_check(schema, value, faults);
}

/* ---- Storing what has passed ---------------------------------------------------------------- */

/* HOST:PORT, the port behind the last colon; an IPv6 host stands in brackets. */
static int store_address(struct config_address *ret, struct str v)
{
    const char *colon = memrchr(v.p, ':', v.n);
    if (!colon) { /* off */
        *ret = (struct config_address){.host = CONFIG_OFF};
        return 0;
    }
    struct str host = {v.p, (uint32_t)(colon - v.p)}, digits = {colon + 1, v.n - host.n - 1};
    uint64_t port;
    if (str_to_u64(digits, &port) < 0 || port > UINT16_MAX || host.n >= sizeof ret->host)
        return ERR_PARAMS;
    if (host.p[0] == '[')
        host = (struct str){host.p + 1, host.n - 2};
    memcpy(ret->host, host.p, host.n);
    ret->host[host.n] = '\0';
    ret->port = (uint16_t)port;
    return 0;
}

static int store_list(struct config_list *ret, const struct tape_node *value, struct arena *arena)
{
    struct str *items = arena_array(arena, value->n + 1, sizeof *items);
    const struct tape_node *item = value + 1;
    if (!items)
        return ERR_NO_MEMORY;
    for (uint32_t i = 0; i < value->n; i++, item = tape_next(item))
        items[i] = tape_str(item);
    *ret = (struct config_list){items, value->n};
    return 0;
}

static int store_text(const char **ret, struct str v, struct arena *arena)
{
    struct str copy = arena_str(arena, v);
    if (!copy.p)
        return ERR_NO_MEMORY;
    *ret = copy.p;
    return 0;
}

int config_store(const struct setting *s, const struct tape_node *value)
{
    void *target = (char *)s->config + s->key->offset;
    switch (s->key->kind) {
    case COUNT:
        *(uint32_t *)target = (uint32_t)value->v.i;
        return 0;
    case RATE:
        *(double *)target = value->kind == TAPE_INT ? (double)value->v.i : value->v.d;
        return 0;
    case SWITCH:
        *(bool *)target = value->kind == TAPE_TRUE;
        return 0;
    case MODE:
        *(enum store_mode *)target =
            str_eq(tape_str(value), STR("sync")) ? STORE_SYNC : STORE_NOSYNC;
        return 0;
    case ADDRESS:
    case ADDRESS_OR_OFF:
        return store_address(target, tape_str(value));
    case LIST:
        return store_list(target, value, s->arena);
    case TEXT:
    case HEADER:
    case PATH:
        return store_text(target, tape_str(value), s->arena);
    }
    return 0;
}

/* ---- From a flag ---------------------------------------------------------------------------- */

static void add_list(struct tape_builder *b, struct str text)
{
    tape_open_array(b);
    while (text.p)
        tape_add_str(b, str_trim(str_cut(&text, ',')));
    tape_close(b);
}

/* A text that is nothing of its kind becomes a string, which the schema refuses. */
static int value_of_text(const struct key *key, struct str text, struct arena *arena,
                         const struct tape_node **ret)
{
    struct tape_builder b;
    uint64_t count;
    tape_begin(&b, arena);
    if (key->kind == LIST)
        add_list(&b, text);
    else if (key->kind == COUNT && str_to_u64(text, &count) == 0 && count <= INT64_MAX)
        tape_add_int(&b, (int64_t)count);
    else if (key->kind == SWITCH && (!text.p || str_eq(text, STR("true"))))
        tape_add_bool(&b, true);
    else if (key->kind == SWITCH && str_eq(text, STR("false")))
        tape_add_bool(&b, false);
    else
        tape_add_str(&b, text);
    return tape_finish(&b, ret);
}

int config_set(struct config *config, const char *path, const char *text, struct arena *arena,
               struct config_fault *fault)
{
    struct setting s = {config_find_key(str_of(path)), config, arena, fault, 0};
    const struct tape_node *value;
    struct schema_faults faults = {0};
    if (!s.key)
        return ERR_INTERNAL;
    int err = value_of_text(s.key, str_of(text), arena, &value);
    if (err == 0)
        err = config_check(s.key, value, arena, &faults);
    if (err == 0)
        err = config_store(&s, value);
    return err == ERR_NO_MEMORY ? config_no_memory(fault) : err ? config_refuse(&s) : 0;
}

/* ---- Defaults ------------------------------------------------------------------------------- */

/* What is not named here is zero by default: sync, false, a list that is not there. */
void config_init(struct config *config)
{
    memset(config, 0, sizeof *config);
    for (const struct key *key = config_keys; key < config_keys + N_KEYS; key++) {
        void *target = (char *)config + key->offset;
        uint64_t count;
        if (!key->help || !key->standard)
            continue;
        if (key->kind == TEXT || key->kind == PATH)
            *(const char **)target = key->standard;
        else if (key->kind == ADDRESS)
            store_address(target, str_of(key->standard));
        else if (key->kind == COUNT && str_to_u64(str_of(key->standard), &count) == 0)
            *(uint32_t *)target = (uint32_t)count;
        else if (key->kind == RATE)
            *(double *)target = strtod(key->standard, NULL);
    }
}

void config_print_keys(FILE *out)
{
    fputs("\nKeys of the settings file [default]; a dot stands for a nested object:\n", out);
    for (size_t i = 0; i < N_KEYS; i++)
        if (config_keys[i].help)
            fprintf(out, "  %s [%s]\n      %s\n", config_keys[i].path,
                    config_keys[i].standard ? config_keys[i].standard : "none",
                    config_keys[i].help);
}
