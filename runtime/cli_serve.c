/* cli_serve.c - `tenon serve` and `tenon stdio`: joins settings, store, core and transport.
 *
 * net forks and calls back in each new process; there the store is opened and, in a worker, the
 * core made on it. One process has one store at a time, so it lives in the one struct below.
 */
#include "base/clock.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/log_ring.h"
#include "cli.h"
#include "cli_metrics.h"
#include "cli_access.h"
#include "cli_audit.h"
#include "cli_auth.h"
#include "cli_limits.h"
#include "cli_public.h"
#include "component_watch.h"
#include "components.h"
#include "net/loop.h"
#include "net/server.h"
#include "transfer_jobs.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SWEEP_SESSIONS 1000 /* of one step */
#define SWEEP_MS       200  /* of one tick */

/* What the processes of a server tell each other of components that are folders. */
struct board {
    _Atomic uint32_t asked;  /* rises with each SIGHUP: they are to be tried again */
    _Atomic uint32_t passed; /* rises with each trial that went well: workers read them again */
    _Atomic bool is_kept;    /* there was a keeper before: what changed without one is not seen */
};

struct server {
    const struct cli_args *args;
    struct config config;
    struct arena arena;
    struct store_config store_config;
    struct core_transfer transfer;
    struct access_rules access;
    struct cli_auth auth;
    struct core_config core_config;
    struct store *store; /* of this process */
    struct core *core;   /* likewise; in a worker */
    struct loop *loop;
    struct board *board;           /* shared; NULL: of stdio */
    struct metrics *metrics;       /* shared, by slot of the worker; NULL: of stdio */
    struct component_watch *watch; /* in the keeper, and of stdio */
    uint32_t seen;                 /* of `asked` in the keeper, of `passed` in a worker */
};

static void fill_core_config(const struct cli_args *args, const struct config *config,
                             struct core_config *ret)
{
    *ret = (struct core_config){
        .session_idle_ms = config->session_idle_s * INT64_C(1000),
        .allow_client_delete = config->allow_client_delete,
        .list_page = config->list_page,
        .tools_page = {config->max_tools, config->operations_tools},
        .search_page = SEARCH_PAGE < config->search_max ? SEARCH_PAGE : config->search_max,
        .search_max = config->search_max,
        .search_scan_rows = config->search_scan_rows,
        .row_bytes = config->row_bytes,
        .ask_timeout_ms = config->ask_timeout_ms,
        .coalesce_ms = config->coalesce_ms,
        .max_subscriptions = config->max_subscriptions,
        .profile_enabled = {true, true},
        .started_ms = clock_wall_ms(),
        .pid = getpid(),
        .n_workers = 1,
        .operations_allow = {config->operations_allow.v, config->operations_allow.n},
        .operations_deny = {config->operations_deny.v, config->operations_deny.n},
    };
    for (int i = 0; i < 2; i++)
        cli_limits_fill(&config->limits[i], !cli_value(args, "--no-rate-limit"), &ret->limits[i]);
}

/* The configuration as it is now; only what may change while a server runs counts. Also in the
 * supervisor, from which workers are forked later. */
static int read_again(struct server *server)
{
    struct config config;
    struct core_config now;
    struct arena arena;
    arena_init(&arena, 0);
    int status = cli_config(server->args, &arena, &config); /* it says what is wrong */
    if (status == 0) {
        fill_core_config(server->args, &config, &now);
        core_config_renew(&server->core_config, &now);
    }
    arena_done(&arena);
    return status == 0 ? 0 : ERR_SYNTAX;
}

static int open_store(struct server *server)
{
    struct str why = STR_NONE;
    int err = store_open_lmdb(&server->store_config, &server->arena, &server->store, &why);
    if (err < 0)
        log_error(STR_FMT, STR_ARG(why.n ? why : str_of(err_text(err))));
    return err;
}

static void close_store(struct server *server)
{
    store_close(server->store);
    server->store = NULL;
}

/* Names that tables have as well, and tables of components. */
static int check_components(void *ctx, struct tenon *tenon)
{
    struct server *server = ctx;
    int err = server->store ? 0 : open_store(server);
    return err < 0 ? err : components_make_tables(&server->config.components, tenon, server->store);
}

/* ---- components that are folders ------------------------------------------------------------ */

static int enter_change(struct store *store, struct str uri)
{
    struct store_op op = {.kind = STORE_LOG_RESOURCE, .if_version = STORE_ANY, .key = uri};
    struct store_write write = {.space = STORE_DATA, .ops = &op, .n_ops = 1};
    return store_apply(store, &write);
}

/* Of stdio it is entered on the loop, which must not wait. */
static int file_changed(void *ctx, struct str uri)
{
    struct server *server = ctx;
    char text[URI_BYTES_MAX + 1];
    if (server->board)
        return enter_change(server->store, uri);
    snprintf(text, sizeof text, STR_FMT, STR_ARG(uri));
    return tenon_resource_changed(server->core_config.components, text);
}

static int watch_components(struct server *server)
{
    struct str state = arena_printf(&server->arena, "%s/components.seen", server->config.data_dir);
    const struct component_watch_config config = {
        .files = &server->config.components,
        .data_dir = server->config.data_dir,
        .mode = server->config.mode,
        .state = server->board ? state.p : NULL,
        .changed = file_changed,
        .ctx = server,
    };
    return state.p ? component_watch_new(&config, &server->watch) : ERR_NO_MEMORY;
}

/* ---- in a worker ---------------------------------------------------------------------------- */

static int worker_start(void *ctx, uint32_t slot, struct bus *bus, struct loop *loop,
                        struct core **ret)
{
    struct server *server = ctx;
    if (server->metrics)
        metrics_begin(server->core_config.metrics = &server->metrics[slot]);
    server->seen = server->board ? atomic_load(&server->board->passed) : 0;
    int err =
        components_load_what_works(&server->config.components, &server->core_config.components);
    if (err == 0)
        err = cli_audit_new(&server->config, &server->core_config.audit);
    if (err == 0)
        err = open_store(server);
    if (err < 0)
        return err;
    store_attach(server->store, loop);
    server->core_config.bus = bus;
    err = core_new(&server->core_config, server->store, loop, ret);
    if (err < 0)
        close_store(server);
    else
        server->core = *ret, server->loop = loop;
    return err < 0 || server->board ? err : watch_components(server);
}

/* While a write transaction stands in one process, all others wait to write. */
static int64_t worker_standing_ms(void *ctx)
{
    return store_write_standing_ms(((struct server *)ctx)->store);
}

static bool wants_components_again(struct server *server)
{
    if (!server->board)
        return component_watch_look(server->watch);
    uint32_t passed = atomic_load(&server->board->passed);
    bool is_new = passed != server->seen;
    server->seen = passed;
    return is_new;
}

/* And who waits for another process gets an answer some time. */
static void worker_tick(void *ctx)
{
    struct server *server = ctx;
    store_expire_writes(server->store);
    core_tick(server->core);
    if (wants_components_again(server))
        components_reload(&server->config.components, server->core_config.components);
}

static void worker_closing(void *ctx, struct core *core)
{
    (void)ctx;
    core_close(core);
}

static void worker_hurry(void *ctx, struct core *core)
{
    (void)ctx;
    core_hurry(core);
}

static void worker_reload(void *ctx, struct core *core)
{
    struct server *server = ctx;
    if (read_again(server) == 0)
        core_reload(core, &server->core_config);
}

static void worker_ending(void *ctx, struct core *core)
{
    (void)ctx;
    core_stop(core);
}

/* What is on its way to the store is the core's: letters, frames. */
static void write_waiting(struct server *server)
{
    struct store_write nothing = {.space = STORE_SYS};
    store_apply(server->store, &nothing);
}

static void settle(struct server *server)
{
    write_waiting(server);
    loop_drain(server->loop);
}

static void worker_leaving(void *ctx)
{
    struct server *server = ctx;
    write_waiting(server);
    if (server->core_config.audit)
        audit_file_settle(server->core_config.audit);
}

/* The components stay: threads of theirs may call what tenon.h offers up to the end. */
static void worker_stop(void *ctx, struct core *core)
{
    static struct tenon *volatile components; /* so that a search for leaks finds them in use */
    struct server *server = ctx;
    components = server->core_config.components;
    (void)components;
    if (!server->board)
        component_watch_free(server->watch);
    settle(server);
    core_free(core);
    audit_file_free(server->core_config.audit);
    close_store(server);
}

/* ---- in the keeper -------------------------------------------------------------------------- */

static int keeper_start(void *ctx)
{
    struct server *server = ctx;
    int err = open_store(server);
    server->seen = atomic_load(&server->board->asked);
    if (err == 0)
        err = watch_components(server);
    if (err == 0 && atomic_exchange(&server->board->is_kept, true))
        component_watch_force(server->watch);
    else if (err == 0)
        cli_access_say(&server->access, server->store);
    return err;
}

static void look_at_components(struct server *server)
{
    uint32_t asked = atomic_load(&server->board->asked);
    if (asked != server->seen)
        component_watch_force(server->watch);
    server->seen = asked;
    if (component_watch_look(server->watch))
        atomic_fetch_add(&server->board->passed, 1);
}

/* Until nothing is expired, or the time of a tick is used up. */
static int sweep(struct store *store)
{
    int64_t end_ms = clock_mono_ms() + SWEEP_MS;
    int n;
    do
        n = store_sweep_sessions(store, clock_wall_ms(), SWEEP_SESSIONS);
    while (n == SWEEP_SESSIONS && clock_mono_ms() < end_ms);
    return n < 0 ? n : 0;
}

static int keeper_tick(void *ctx)
{
    struct server *server = ctx;
    int err = store_maintain(server->store);
    int swept = sweep(server->store);
    look_at_components(server);
    return err < 0 ? err : swept;
}

static void keeper_stop(void *ctx)
{
    struct server *server = ctx;
    component_watch_free(server->watch);
    close_store(server);
}

static void keeper_metrics(void *ctx, struct buf *out)
{
    struct server *server = ctx;
    cli_metrics_write(server->metrics, server->core_config.n_workers, server->store, out);
}

/* ---- in the supervisor ---------------------------------------------------------------------- */

static int validate(void *ctx)
{
    struct server *server = ctx;
    int err = read_again(server);
    atomic_fetch_add(&server->board->asked, 1); /* whatever the settings say */
    if (err < 0)
        log_error("SIGHUP: the configuration is wrong; the one that holds stays");
    else
        log_info(
            "SIGHUP: times of sessions and of questions to clients, sizes of list pages, rates and "
            "quotas hold as they are now, folders of components are read again; all else as it was "
            "at "
            "the start");
    return err;
}

/* What to paste into a client: the entry for a server by URL, and the one that starts its own. */
static void print_client(void *ctx, uint16_t port)
{
    struct server *server = ctx;
    const struct config *config = &server->config;
    char *program = realpath("/proc/self/exe", NULL), *data = realpath(config->data_dir, NULL);
    bool v6 = strchr(config->listen.host, ':') != NULL;
    printf(
        "\nFor an MCP client that connects by URL:\n\n"
        "  {\"mcpServers\": {\"tenon\": {\"type\": \"http\", \"url\": \"http%s://%s%s%s:%u%s\"}}}\n"
        "\nFor one that starts its servers itself:\n\n"
        "  {\"mcpServers\": {\"tenon\": {\"command\": \"%s\", "
        "\"args\": [\"stdio\", \"--data\", \"%s\"]}}}\n\n",
        config->tls_certificate ? "s" : "", v6 ? "[" : "", config->listen.host, v6 ? "]" : "", port,
        config->mount_path, program ? program : "tenon", data ? data : config->data_dir);
    fflush(stdout);
    free(program);
    free(data);
}

/* ---- the commands --------------------------------------------------------------------------- */

static int server_init(struct server *server, const struct cli_args *args)
{
    *server = (struct server){.args = args};
    arena_init(&server->arena, 0);
    int status = cli_config(args, &server->arena, &server->config);
    if (status == 0)
        status = cli_audit_check(&server->config);
    if (status == 0)
        status = cli_gather_components(args, &server->arena, &server->config.components);
    if (status)
        return status;
    server->store_config = (struct store_config){
        .dir = server->config.data_dir,
        .mode = server->config.mode,
        .sessions_max = server->config.max_sessions,
    };
    fill_core_config(args, &server->config, &server->core_config);
    server->transfer = transfer_jobs(server->config.data_dir);
    server->core_config.transfer = &server->transfer;
    server->core_config.access = &server->access;
    server->core_config.rates = cli_limits_new();
    return server->core_config.rates ? 0 : cli_failed("%s", err_text(ERR_NO_MEMORY));
}

static uint32_t count_workers(const struct config *config)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (config->workers)
        return config->workers;
    return cores < 1 ? 1 : cores < WORKERS_MAX ? (uint32_t)cores : WORKERS_MAX;
}

static int open_board(struct server *server)
{
    void *board = mmap(NULL, sizeof *server->board, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (board == MAP_FAILED)
        return cli_failed("%s", err_text(ERR_NO_MEMORY)), ERR_NO_MEMORY;
    server->board = board;
    server->metrics = cli_metrics_new(server->core_config.n_workers);
    return server->metrics ? 0 : (cli_failed("%s", err_text(ERR_NO_MEMORY)), ERR_NO_MEMORY);
}

static int serve(struct server *server)
{
    const struct config *config = &server->config;
    if (cli_allow_own_host(&server->config, &server->arena) != CLI_DONE)
        return CLI_FAILED;
    server->core_config.n_workers = count_workers(config);
    server->store_config.has_keeper = true;
    const struct net_address listen = {config->listen.host, config->listen.port};
    struct net_address monitor;
    bool monitor_is_wanted, has_monitor = cli_metrics_address(config, &monitor, &monitor_is_wanted);
    struct net_config net = {
        .monitor = has_monitor ? &monitor : NULL,
        .monitor_is_wanted = monitor_is_wanted,
        .listen = &listen,
        .n_listen = 1,
        .n_workers = server->core_config.n_workers,
        .tls = {config->tls_certificate, config->tls_key, config->tls_client_ca,
                config->tls_require_client},
        .path = {config->mount_path, config->operations_path},
        .data_dir = config->data_dir,
        .port_file = cli_value(server->args, "--port-file"),
        .body_limit_bytes = config->body_limit_bytes,
        .conns_max = config->max_connections,
        .origins = config->allowed_origins.v,
        .n_origins = config->allowed_origins.n,
        .hosts = config->allowed_hosts.v,
        .n_hosts = config->allowed_hosts.n,
        .allow_client_delete = config->allow_client_delete,
        .heartbeat_ms = config->heartbeat_s * INT64_C(1000),
        .identity_header = {config->limits[0].identity_header, config->limits[1].identity_header},
    };
    const struct net_callbacks callbacks = {
        .ctx = server,
        .worker_start = worker_start,
        .worker_standing_ms = worker_standing_ms,
        .worker_tick = worker_tick,
        .worker_closing = worker_closing,
        .worker_hurry = worker_hurry,
        .worker_ending = worker_ending,
        .worker_leaving = worker_leaving,
        .validate = validate,
        .reload = worker_reload,
        .worker_stop = worker_stop,
        .keeper_start = keeper_start,
        .keeper_tick = keeper_tick,
        .keeper_stop = keeper_stop,
        .keeper_metrics = keeper_metrics,
        .ready = cli_value(server->args, "--print-client") ? print_client : NULL,
    };
    if (str_eq(str_of(config->mount_path), str_of(config->operations_path))) {
        log_error("mcp.operations.mountPath: expected another path than that of mcp.application");
        return CLI_FAILED;
    }
    if (cli_access_rules(config, &server->access) != CLI_DONE ||
        cli_auth_open(config, &server->arena, &server->auth, &server->access) != CLI_DONE)
        return CLI_FAILED;
    net.metadata = server->auth.metadata;
    net.metadata_url = server->auth.metadata_url;
    net.scope = server->auth.scope;
    net.allow_public = cli_may_be_public(config, &server->store_config, server->access.verifier,
                                         config->tls_certificate);
    if (open_board(server) < 0)
        return CLI_FAILED;
    if (components_try(&config->components, check_components, server) < 0)
        return CLI_FAILED;
    if (log_ring_open() < 0)
        log_warn("no memory for the ring of log lines: read_log will show none");
    int err = net_serve(&net, &callbacks);
    log_ring_close();
    return err < 0 ? CLI_FAILED : CLI_DONE;
}

static int run_serve(const struct cli_args *args)
{
    struct server server;
    int status = server_init(&server, args);
    if (status == 0)
        status = serve(&server);
    cli_auth_close(&server.auth);
    arena_done(&server.arena);
    return status;
}

/* Beside a server it must not touch that one's sessions: its own are in memory. */
static int run_stdio(const struct cli_args *args)
{
    struct server server;
    int status = server_init(&server, args);
    if (status == 0) {
        const struct net_callbacks callbacks = {
            .ctx = &server,
            .worker_start = worker_start,
            .worker_tick = worker_tick,
            .worker_ending = worker_ending,
            .worker_leaving = worker_leaving,
            .worker_stop = worker_stop,
        };
        server.store_config.volatile_sys = true;
        if (components_try(&server.config.components, check_components, &server) < 0)
            status = CLI_FAILED;
        else
            status =
                net_stdio(&callbacks, server.config.body_limit_bytes) < 0 ? CLI_FAILED : CLI_DONE;
    }
    arena_done(&server.arena);
    return status;
}

static const struct cli_option serve_options[] = {
    CLI_OPTION_CONFIG,
    CLI_OPTION_DATA,
    CLI_OPTION_MODE,
    CLI_OPTION_COMPONENT,
    {"--listen", "HOST:PORT", "address to serve on (default: 127.0.0.1:8750)", "listen"},
    {"--workers", "N", "worker processes (default: one per core)", "workers"},
    {"--tls-certificate", "FILE", "serve https with this certificate and its chain (PEM)",
     "tls.certificate"},
    {"--tls-key", "FILE", "its private key (PEM), mode 0600 or 0640", "tls.key"},
    {"--metrics-listen", "HOST:PORT", "address of /metrics, /healthz, /readyz, or off",
     "metrics.listen"},
    {"--audit-file", "FILE", "a line of JSON for each call of a tool goes there, or to stderr",
     "audit.file"},
    {"--allow-client-delete", NULL, "a client may end its session by DELETE",
     "mcp.session.allowClientDelete"},
    CLI_OPTION_NO_RATE_LIMIT,
    {"--port-file", "FILE", "gets the port as decimal text once it is open", NULL},
    {"--print-client", NULL, "print what to paste into a client once it serves", NULL},
    CLI_OPTIONS_END,
};

const struct cli_command cli_serve = {
    .name = "serve",
    .operands = "",
    .summary = "Serve the database over HTTP until SIGTERM or SIGINT",
    .options = serve_options,
    .print_notes = config_print_keys,
    .run = run_serve,
};

static const struct cli_option stdio_options[] = {
    CLI_OPTION_CONFIG,    CLI_OPTION_DATA,          CLI_OPTION_MODE,
    CLI_OPTION_COMPONENT, CLI_OPTION_NO_RATE_LIMIT, CLI_OPTIONS_END,
};

const struct cli_command cli_stdio = {
    .name = "stdio",
    .operands = "",
    .summary = "Serve one client on standard input and output",
    .options = stdio_options,
    .notes = "For clients that start their servers. May run beside `tenon serve` on the same data.",
    .run = run_stdio,
};
