/* tests/lib/mcp.c - see mcp.h. */
#include "tests/lib/mcp.h"
#include "tests/lib/match.h"
#include "tests/lib/tap.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool mcp_open(struct mcp_client *c, uint16_t port, const char *version)
{
    *c = (struct mcp_client){.port = port, .conn.fd = -1};
    if (http_open(&c->conn, port) && http_handshake(&c->conn, version, c->session))
        return true;
    http_close(&c->conn);
    return false;
}

void mcp_close(struct mcp_client *c)
{
    http_close(&c->conn);
}

bool mcp_join(struct mcp_client *c, uint16_t port, const char *session)
{
    *c = (struct mcp_client){.port = port, .conn.fd = -1};
    snprintf(c->session, sizeof c->session, "%s", session);
    return http_open(&c->conn, port);
}

bool mcp_reconnect(struct mcp_client *c)
{
    for (int i = 0; i < HTTP_WAIT_MS / 10; i++) {
        http_close(&c->conn);
        if (http_open(&c->conn, c->port) && mcp_ping(c))
            return true;
        poll(NULL, 0, 10);
    }
    return false;
}

static int take(enum http_got got, struct http_reply *r, struct mcp_client *c, char **ret_body)
{
    if (got != HTTP_REPLY) {
        http_close(&c->conn);
        return 0;
    }
    int status = r->status;
    if (ret_body) {
        *ret_body = r->body;
        r->body = NULL;
    }
    if (r->closes)
        http_close(&c->conn);
    http_free(r);
    return status;
}

int mcp_post(struct mcp_client *c, const char *message, char **ret_body)
{
    struct http_reply r;
    if (c->conn.fd < 0 && !http_open(&c->conn, c->port))
        return 0;
    return take(http_post(&c->conn, c->session, NULL, message, &r), &r, c, ret_body);
}

int mcp_delete(struct mcp_client *c)
{
    char head[900];
    struct http_reply r;
    int n = snprintf(head, sizeof head,
                     "DELETE /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n%sMcp-Session-Id: %s\r\n\r\n",
                     http_authorization(), c->session);
    if (c->conn.fd < 0 && !http_open(&c->conn, c->port))
        return 0;
    http_send(&c->conn, head, (size_t)n);
    return take(http_read(&c->conn, false, &r), &r, c, NULL);
}

int mcp_call(struct mcp_client *c, const char *tool, const char *arguments, char **ret_body)
{
    char *message;
    if (asprintf(&message,
                 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
                 "{\"name\":\"%s\",\"arguments\":%s}}",
                 tool, arguments) < 0)
        abort();
    int status = mcp_post(c, message, ret_body);
    free(message);
    return status;
}

bool mcp_call_gives(struct mcp_client *c, const char *tool, const char *arguments,
                    const char *pattern)
{
    char *body = NULL, why[512] = "no reply";
    struct match_vars vars = {{NULL}};
    int status = mcp_call(c, tool, arguments, &body);
    bool ok = status == 200 && body && match_json(pattern, body, &vars, why);
    if (!ok)
        tap_note("%s %.100s: status %d, %s", tool, arguments, status, why);
    match_vars_clear(&vars);
    free(body);
    return ok;
}

bool mcp_ping(struct mcp_client *c)
{
    char *body = NULL;
    int status = mcp_post(c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", &body);
    bool ok = status == 200 && body && strstr(body, "\"result\":{}");
    free(body);
    return ok;
}
