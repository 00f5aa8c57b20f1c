/* tests/multi/test_reload.c - SIGHUP: what a changed configuration changes while the server runs,
 * in all workers, those of later too; one that is wrong changes nothing.
 */
#include "tests/lib/mcp.h"
#include "tests/lib/server.h"
#include "tests/lib/tap.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIST  "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/list\"}"
#define TRIES 20 /* connections, so that each worker gets some */

static bool write_config(const struct server *s, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/config.json", s->dir);
    FILE *file = fopen(path, "w");
    bool ok = file && fputs(text, file) >= 0;
    return file && fclose(file) == 0 && ok;
}

static bool log_has(const struct server *s, const char *text)
{
    char command[256];
    snprintf(command, sizeof command, "grep -q '%s' %s/log", text, s->dir);
    return system(command) == 0;
}

/* Whether lists come in several pages, as wanted, whoever answers. */
static bool pages_are(struct server *s, const char *session, bool wanted)
{
    for (int i = 0; i < TRIES; i++) {
        struct mcp_client c;
        char *body = NULL;
        if (!mcp_join(&c, s->port, session))
            return false;
        bool as_wanted = mcp_post(&c, LIST, &body) == 200 && body &&
                         (strstr(body, "nextCursor") != NULL) == wanted;
        free(body);
        mcp_close(&c);
        if (!as_wanted)
            return false;
    }
    return true;
}

static void all_workers_take_it(struct server *s, const char *session)
{
    bool before = pages_are(s, session, true);
    write_config(s, "{\"listPageSize\": 100}");
    kill(s->pid, SIGHUP);
    tap_ok(before && server_wait(pages_are(s, session, false)),
           "a page size holds from SIGHUP on, in all workers");
}

static void a_wrong_one_changes_nothing(struct server *s, const char *session)
{
    write_config(s, "{\"listPageSize\": 1, \"mcp\": {\"session\": {\"idleTimeoutSeconds\": -5}}}");
    kill(s->pid, SIGHUP);
    tap_ok(server_wait(log_has(s, "SIGHUP: the configuration is wrong")) &&
               log_has(s, "idleTimeoutSeconds") && pages_are(s, session, false),
           "a configuration that is wrong is named, and changes nothing");
}

static void later_workers_have_it(struct server *s, const char *session)
{
    pid_t before[4], after[4];
    int n = server_workers(s, before, 4);
    for (int i = 0; i < n; i++)
        kill(before[i], SIGKILL);
    bool replaced =
        server_wait(server_workers(s, after, 4) == n && after[0] != before[0] &&
                    after[0] != before[1] && after[1] != before[0] && after[1] != before[1]);
    tap_ok(n == 2 && replaced && server_wait(pages_are(s, session, false)),
           "workers that are started later have what held before, not what is wrong");
}

static bool open_session(const struct server *s, char *ret)
{
    struct mcp_client c;
    if (!mcp_open(&c, s->port, "2025-06-18"))
        return false;
    strcpy(ret, c.session);
    mcp_close(&c);
    return true;
}

int main(void)
{
    struct server s;
    char session[128];
    void (*const tests[])(struct server *, const char *) = {
        all_workers_take_it, a_wrong_one_changes_nothing, later_workers_have_it};
    bool ready = server_dir(&s) && server_start(&s, "{\"listPageSize\": 1}", NULL, false) &&
                 open_session(&s, session);
    if (tap_ok(ready, "a server with two workers starts"))
        for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
            tests[i](&s, session);
    if (!tap_ok(ready && server_stop(&s), "it ends well"))
        server_show_log(&s);
    server_remove(&s);
    return tap_done();
}
