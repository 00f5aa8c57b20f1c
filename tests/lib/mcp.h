/* tests/lib/mcp.h - what tests of several processes say to a server, over tests/lib/http.h.
 *
 * A client is one connection with one session. A call that fails on a connection that is gone is
 * not repeated: whether it was done is then unknown, and the caller decides.
 */
#ifndef TENON_TESTS_MCP_H
#define TENON_TESTS_MCP_H

#include "tests/lib/http.h"

struct mcp_client {
    uint16_t port;
    struct http_conn conn;
    char session[128];
};

/* Connects and makes a session of this revision. */
bool mcp_open(struct mcp_client *c, uint16_t port, const char *version);
void mcp_close(struct mcp_client *c); /* the connection; the session stays */
/* A connection for a session that is there already. */
bool mcp_join(struct mcp_client *c, uint16_t port, const char *session);
/* A new connection for the same session, as often as it takes within HTTP_WAIT_MS. */
bool mcp_reconnect(struct mcp_client *c);

/* One message; HTTP status, or 0 when no reply came. *ret_body (to be freed) may be NULL. */
int mcp_post(struct mcp_client *c, const char *message, char **ret_body);
int mcp_delete(struct mcp_client *c);
/* tools/call; `arguments` is JSON text. */
int mcp_call(struct mcp_client *c, const char *tool, const char *arguments, char **ret_body);
/* The same, and whether it was answered by 200 with a body that fits the pattern (match.h). */
bool mcp_call_gives(struct mcp_client *c, const char *tool, const char *arguments,
                    const char *pattern);
bool mcp_ping(struct mcp_client *c); /* 200 and an empty result */

#endif
