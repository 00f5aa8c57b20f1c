/* cli_public.c - see cli_public.h. */
#include "cli_public.h"

#include "auth/uri.h"
#include "base/err.h"
#include "base/log.h"
#include "cli.h"
#include "net/headers.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int note_one(void *ctx, const struct store_access *access)
{
    (void)access;
    *(bool *)ctx = true;
    return 1;
}

/* A store that cannot be opened has none: why, the server says when it tries. */
static bool has_users_here(const struct store_config *config)
{
    struct store_config to_read = *config;
    struct store *store;
    struct store_view *view;
    struct arena arena;
    struct str why;
    bool found = false;
    to_read.read_only = true;
    arena_init(&arena, 0);
    if (store_open_lmdb(&to_read, &arena, &store, &why) < 0)
        return false;
    if (store_view_open(store, STORE_DATA, &view) < 0)
        return false;
    return store_scan_access(view, STORE_USER, STR_NONE, note_one, &found) >= 0 && found;
}

static bool has_users(const struct store_config *config)
{
    int status = -1;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        _exit(has_users_here(config) ? 0 : 1);
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static bool is_loopback(struct str host)
{
    return header_is_loopback(host) || str_eq(host, STR("::1"));
}

static bool names_others(const struct config_list *hosts)
{
    for (uint32_t i = 0; i < hosts->n; i++)
        if (!is_loopback(hosts->v[i]))
            return true;
    return false;
}

/* Whoever allows another name has put something in front that others reach. */
static void warn_of_proxy(void)
{
    log_warn("allowedHosts has names of other machines, and there are no users: whoever reaches "
             "this server by such a name may do what clients without a token may");
}

static void warn_of_clear_text(const char *host)
{
    log_warn("%s can be reached from other machines, without TLS: tokens and data can be read on "
             "the way (tls.certificate, or a proxy that speaks TLS, ends that)",
             host);
}

bool cli_may_be_public(const struct config *config, const struct store_config *store,
                       bool has_verifier, bool has_tls)
{
    bool is_public = !is_loopback(str_of(config->listen.host));
    if (!is_public && !names_others(&config->allowed_hosts))
        return false;
    bool is_known = has_verifier || has_users(store);
    if (!is_public && !is_known)
        warn_of_proxy();
    if (is_public && is_known && !has_tls)
        warn_of_clear_text(config->listen.host);
    return is_known;
}

int cli_allow_own_host(struct config *config, struct arena *arena)
{
    struct uri uri;
    struct config_list *hosts = &config->allowed_hosts;
    if (!config->auth_resource || !uri_cut(str_of(config->auth_resource), &uri))
        return CLI_DONE; /* who judges auth.resource says what is wrong */
    struct str *v = arena_array(arena, hosts->n + 1, sizeof *v);
    if (!v)
        return cli_failed("%s", err_text(ERR_NO_MEMORY));
    for (uint32_t i = 0; i < hosts->n; i++)
        v[i] = hosts->v[i];
    v[hosts->n] = uri.host;
    *hosts = (struct config_list){v, hosts->n + 1};
    return CLI_DONE;
}
