/* net/monitor.c - see monitor.h. */
#include "net/monitor.h"

#include "base/err.h"
#include "base/log.h"
#include "net/listener.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

struct monitor {
    const struct child *child;
    struct MHD_Daemon *daemon;
};

/* ---- Pages ---------------------------------------------------------------------------------- */

static unsigned healthz(const struct monitor *m, struct buf *out)
{
    (void)m;
    buf_add_lit(out, "ok\n");
    return MHD_HTTP_OK;
}

static unsigned readyz(const struct monitor *m, struct buf *out)
{
    const struct board *board = m->child->board;
    if (board->stopping)
        buf_add_lit(out, "the server stops\n");
    for (uint32_t i = 0; i < m->child->config->n_workers; i++)
        if (!board->ready[i])
            buf_printf(out, "worker %u is not ready\n", i);
    if (out->n)
        return MHD_HTTP_SERVICE_UNAVAILABLE;
    return healthz(m, out);
}

static unsigned metrics(const struct monitor *m, struct buf *out)
{
    const struct net_callbacks *callbacks = m->child->callbacks;
    if (!callbacks->keeper_metrics)
        return MHD_HTTP_NOT_FOUND;
    callbacks->keeper_metrics(callbacks->ctx, out);
    return MHD_HTTP_OK;
}

static const struct page {
    const char *path, *type;
    unsigned (*write)(const struct monitor *m, struct buf *out); /* the status */
} pages[] = {
    {"/healthz", "text/plain; charset=utf-8", healthz},
    {"/readyz", "text/plain; charset=utf-8", readyz},
    {"/metrics", "text/plain; version=0.0.4; charset=utf-8", metrics},
};

static const struct page *find_page(const char *path)
{
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
        if (!strcmp(pages[i].path, path))
            return &pages[i];
    return NULL;
}

/* ---- Requests ------------------------------------------------------------------------------- */

/* An address, or localhost; with or without a port. */
static bool is_safe_host(const char *host)
{
    char name[64], ip[16];
    size_t n = host && *host == '[' ? strcspn(++host, "]") : host ? strcspn(host, ":") : 0;
    if (n == 0 || n >= sizeof name)
        return false;
    memcpy(name, host, n);
    name[n] = '\0';
    return !strcmp(name, "localhost") || inet_pton(AF_INET, name, ip) == 1 ||
           inet_pton(AF_INET6, name, ip) == 1;
}

static enum MHD_Result answer(struct MHD_Connection *c, unsigned status, const char *type,
                              struct buf *body)
{
    struct MHD_Response *r =
        MHD_create_response_from_buffer(body->n, body->p, MHD_RESPMEM_MUST_COPY);
    if (!r)
        return MHD_NO;
    MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    MHD_add_response_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    MHD_add_response_header(r, MHD_HTTP_HEADER_CONNECTION, "close");
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    enum MHD_Result queued = MHD_queue_response(c, status, r);
    MHD_destroy_response(r);
    return queued;
}

static enum MHD_Result on_request(void *ctx, struct MHD_Connection *c, const char *path,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_n, void **state)
{
    const struct page *page = find_page(path);
    struct buf body = {0};
    unsigned status = MHD_HTTP_METHOD_NOT_ALLOWED;
    (void)version, (void)upload, (void)upload_n, (void)state;
    if (!is_safe_host(MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST)))
        status = MHD_HTTP_FORBIDDEN;
    else if (!page)
        status = MHD_HTTP_NOT_FOUND;
    else if (!strcmp(method, "GET") || !strcmp(method, "HEAD"))
        status = page->write(ctx, &body);
    if (body.failed)
        status = MHD_HTTP_INTERNAL_SERVER_ERROR;
    enum MHD_Result result = answer(c, status, page ? page->type : pages[0].type, &body);
    buf_done(&body);
    return result;
}

/* ---- Start and end -------------------------------------------------------------------------- */

int monitor_listen(const struct net_config *config, int *ret_fd, uint16_t *ret_port)
{
    const struct net_address *a = config->monitor;
    const char *why = "";
    *ret_fd = -1;
    if (!a)
        return 0;
    int err = listener_probe(a, &why);
    if (err == 0)
        err = listener_bind(a, config->monitor_is_wanted, ret_fd, ret_port, &why);
    if (err == 0)
        return 0;
    if (err == ERR_EXISTS && !config->monitor_is_wanted) {
        log_warn("no metrics: cannot listen on %s port %u: %s", a->host, a->port, why);
        return 0;
    }
    log_error("cannot listen for metrics on %s port %u: %s", a->host, a->port, why);
    return err;
}

int monitor_start(const struct child *child, struct monitor **ret)
{
    struct monitor *m = calloc(1, sizeof *m);
    *ret = NULL;
    if (!m)
        return ERR_NO_MEMORY;
    m->child = child;
    m->daemon = MHD_start_daemon(
        MHD_USE_POLL_INTERNAL_THREAD, 0, NULL, NULL, on_request, m, MHD_OPTION_LISTEN_SOCKET,
        child->monitor, MHD_OPTION_CONNECTION_LIMIT, (unsigned)MONITOR_CONNS_MAX,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)MONITOR_DEADLINE_S,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MONITOR_HEAD_BYTES, MHD_OPTION_END);
    if (!m->daemon) {
        free(m);
        return ERR_IO;
    }
    *ret = m;
    return 0;
}

void monitor_stop(struct monitor *m)
{
    if (!m)
        return;
    MHD_stop_daemon(m->daemon);
    free(m);
}
