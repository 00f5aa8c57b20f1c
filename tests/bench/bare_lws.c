/* tests/bench/bare_lws.c - the least that a libwebsockets server does for a POST: the yardstick.
 *
 * Answers every POST with a fixed JSON-RPC result, head and body in one write, from the completion
 * of the body, on the library's own poll loop with its own listener: none of the fences that a
 * real server needs (RUNTIME.md, section D). One process, 127.0.0.1, a port that the kernel
 * chooses and that is written to the file named as its argument. Ends on SIGTERM.
 */
#include <libwebsockets.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static volatile sig_atomic_t stopped;

static void on_term(int signal)
{
    (void)signal;
    stopped = 1;
}

static int answer(struct lws *wsi)
{
    static const char text[] = "HTTP/1.1 200 OK\r\n"
                               "Content-Type: application/json\r\n"
                               "Content-Length: 36\r\n\r\n"
                               "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}";
    unsigned char out[LWS_PRE + sizeof text];
    memcpy(out + LWS_PRE, text, sizeof text - 1);
    if (lws_write(wsi, out + LWS_PRE, sizeof text - 1, LWS_WRITE_HTTP_HEADERS) < 0)
        return -1;
    return lws_http_transaction_completed(wsi) ? -1 : 0;
}

static int on_event(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                    size_t len)
{
    (void)user;
    (void)in;
    (void)len;
    return reason == LWS_CALLBACK_HTTP_BODY_COMPLETION ? answer(wsi) : 0;
}

static const struct lws_protocols protocols[] = {
    {.name = "bare", .callback = on_event},
    {0},
};

static const struct lws_http_mount mount = {
    .mountpoint = "/",
    .mountpoint_len = 1,
    .origin = "bare",
    .protocol = "bare",
    .origin_protocol = LWSMPRO_CALLBACK,
};

static int write_port(const char *path, int port)
{
    FILE *f = fopen(path, "w");
    return f && fprintf(f, "%d\n", port) > 0 && fclose(f) == 0 ? 0 : -1;
}

int main(int argc, char **argv)
{
    struct lws_context_creation_info info = {
        .port = 0,
        .iface = "127.0.0.1",
        .options = LWS_SERVER_OPTION_EXPLICIT_VHOSTS | LWS_SERVER_OPTION_DISABLE_IPV6,
        .vhost_name = "bare",
        .protocols = protocols,
        .mounts = &mount,
        .keepalive_timeout = 60,
        .gid = (gid_t)-1,
        .uid = (uid_t)-1,
    };
    signal(SIGTERM, on_term);
    lws_set_log_level(LLL_ERR, NULL);
    struct lws_context *context = lws_create_context(&info);
    struct lws_vhost *vhost = context ? lws_create_vhost(context, &info) : NULL;
    if (!vhost || argc != 2 || write_port(argv[1], lws_get_vhost_listen_port(vhost)) < 0)
        return 1;
    while (!stopped && lws_service(context, 0) >= 0)
        continue;
    lws_context_destroy(context);
    return 0;
}
