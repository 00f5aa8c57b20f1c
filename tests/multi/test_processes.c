/* tests/multi/test_processes.c - each kind of process of a server dies alone; clients that vanish.
 *
 * The keeper and the workers are replaced. When the supervisor is killed its children end by
 * themselves, so that a new server can take over the directory with all sessions.
 */
#include "tests/lib/mcp.h"
#include "tests/lib/server.h"
#include "tests/lib/tap.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define N_VANISHING 300

static int gone(const pid_t *pids, int n)
{
    int dead = 0;
    for (int i = 0; i < n; i++)
        dead += kill(pids[i], 0) != 0;
    return dead;
}

static pid_t keeper_of(const struct server *s)
{
    pid_t children[16], workers[16];
    int n = server_children(s->pid, children, 16), n_workers = server_workers(s, workers, 16);
    for (int i = 0; i < n; i++) {
        bool works = false;
        for (int j = 0; j < n_workers; j++)
            works = works || children[i] == workers[j];
        if (!works)
            return children[i];
    }
    return 0;
}

static void the_keeper_is_replaced(struct server *s)
{
    struct mcp_client c;
    pid_t old = keeper_of(s);
    bool made = mcp_open(&c, s->port, "2025-06-18");
    kill(old, SIGKILL);
    bool replaced = server_wait(keeper_of(s) != 0 && keeper_of(s) != old);
    tap_ok(old > 0 && made && replaced && mcp_ping(&c), "a keeper that dies is replaced");
    mcp_close(&c);
}

/* Connections that send a whole call, or half of one, and are reset at once. */
static void clients_may_vanish(struct server *s)
{
    static const char call[] =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
        "{\"name\":\"create_note\",\"arguments\":{\"key\":\"%d\",\"text\":\"vanishing\"}}}";
    struct mcp_client c;
    char body[256], request[700];
    pid_t before[4], after[4];
    bool made = mcp_open(&c, s->port, "2025-06-18");
    int n_before = server_workers(s, before, 4);
    for (int i = 0; made && i < N_VANISHING; i++) {
        struct http_conn conn;
        snprintf(body, sizeof body, call, i);
        int n =
            snprintf(request, sizeof request,
                     "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                     "Mcp-Session-Id: %s\r\nContent-Length: %zu\r\n\r\n%s",
                     c.session, strlen(body), body);
        if (!http_open(&conn, s->port))
            break;
        http_send(&conn, request, i % 2 ? (size_t)n : (size_t)(n * (i % 97) / 97));
        http_abort(&conn);
    }
    /* what was sent whole may have been done; the key of an even number was not sent whole */
    bool as_said =
        mcp_call_gives(&c, "get_note", "{\"id\":\"2\"}", "{\"result\":{\"isError\":true,...},...}");
    int n_after = server_workers(s, after, 4);
    tap_ok(as_said && n_before == 2 && n_after == 2 &&
               memcmp(before, after, 2 * sizeof(pid_t)) == 0,
           "%d clients that vanish disturb nobody", N_VANISHING);
    mcp_close(&c);
}

static void children_end_with_the_supervisor(struct server *s)
{
    struct mcp_client c;
    pid_t children[16];
    bool made = mcp_open(&c, s->port, "2025-06-18");
    int n = server_children(s->pid, children, 16);
    kill(s->pid, SIGKILL);
    waitpid(s->pid, NULL, 0);
    s->pid = 0;
    tap_ok(n == 3 && server_wait(gone(children, n) == n),
           "when the supervisor is killed its children end");
    bool again = server_start(s, NULL, NULL, false);
    uint16_t port = s->port;
    char session[128];
    snprintf(session, sizeof session, "%s", c.session);
    mcp_close(&c);
    tap_ok(made && again && mcp_join(&c, port, session) && mcp_ping(&c),
           "a new server takes over, with the sessions");
    mcp_close(&c);
}

int main(void)
{
    struct server s;
    void (*const tests[])(struct server *) = {the_keeper_is_replaced, clients_may_vanish,
                                              children_end_with_the_supervisor};
    bool ready = server_dir(&s) && server_sh(&s, "bash tests/wire/fixture.bash") == 0 &&
                 server_start(&s, NULL, NULL, false);
    if (tap_ok(ready, "a server with two workers starts")) {
        for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
            tests[i](&s);
        if (!tap_ok(server_stop(&s), "it ends well"))
            server_show_log(&s);
    } else {
        server_show_log(&s);
    }
    server_remove(&s);
    return tap_done();
}
