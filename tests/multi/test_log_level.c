/* tests/multi/test_log_level.c - LG-09: a level that is set on one worker holds on all of them, and
 * what any worker has to say comes on the session's one stream.
 *
 * Jobs say how they ended. Each is begun over a new connection, so on whatever worker that lands.
 */
#include "tests/lib/match.h"
#include "tests/lib/mcp.h"
#include "tests/lib/server.h"
#include "tests/lib/sse.h"
#include "tests/lib/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The operations stand where the tables are else. */
#define CONFIG                                                                             \
    "{\"mcp\":{\"application\":{\"mountPath\":\"/tables\"},\"operations\":{\"mountPath\":" \
    "\"/mcp\",\"allow\":[\"*\"]}}}"
#define ROUNDS   12
#define EVENT_MS 5000
#define TABLE    "\"database\":\"t\",\"table\":\"small\""
#define DEFINITION                                                                    \
    "{\"primaryKey\":\"id\",\"schema\":{\"type\":\"object\",\"properties\":{\"id\":{" \
    "\"type\":\"integer\"}}}}"

static bool start_job(struct mcp_client *c, const char *definition, char id[64])
{
    char *body = NULL, why[512], args[512];
    struct match_vars vars = {{NULL}};
    snprintf(args, sizeof args, "{" TABLE ",\"definition\":%s}", definition);
    bool ok =
        mcp_reconnect(c) && mcp_call(c, "alter_table", args, &body) == 200 && body &&
        match_json("{\"result\":{\"structuredContent\":{\"job\":$J},...},...}", body, &vars, why);
    if (ok)
        snprintf(id, 64, "%s", vars.value['J' - 'A']);
    else
        tap_note("no job: %s", body ? body : "no answer");
    match_vars_clear(&vars);
    free(body);
    return ok;
}

static bool is_over(struct mcp_client *c, const char *id)
{
    char args[128];
    snprintf(args, sizeof args, "{\"id\":\"%s\"}", id);
    return mcp_reconnect(c) &&
           mcp_call_gives(c, "get_job", args,
                          "{\"result\":{\"structuredContent\":{\"finished\":\"*\",...},...},...}");
}

static bool set_level(struct mcp_client *c, const char *level)
{
    char message[128];
    snprintf(message, sizeof message,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"logging/setLevel\",\"params\":{\"level\":"
             "\"%s\"}}",
             level);
    return mcp_reconnect(c) && mcp_post(c, message, NULL) == 200;
}

/* The next event, among those of other kinds, is the end of this job. */
static bool is_told(struct sse_stream *s, const char *id, const char *level)
{
    struct sse_event event;
    char wanted[128];
    bool ok = false;
    snprintf(wanted, sizeof wanted, "\"id\":\"%s\"", id);
    while (sse_next(s, EVENT_MS, &event) == SSE_EVENT) {
        bool is_log = strstr(event.data, "\"notifications/message\"");
        ok = is_log && strstr(event.data, wanted) && strstr(event.data, level);
        if (is_log && !ok)
            tap_note("wanted %s, got %s", id, event.data);
        free(event.data);
        if (is_log)
            break;
    }
    return ok;
}

static void what_is_not_below_is_told_once(struct mcp_client *c, struct sse_stream *s)
{
    char id[64];
    int n_told = 0;
    bool ok = set_level(c, "info");
    for (int i = 0; ok && i < ROUNDS; i++)
        n_told += start_job(c, DEFINITION, id) && is_told(s, id, "\"level\":\"info\"");
    tap_ok(n_told == ROUNDS, "LG-09 %d jobs of any worker, each told once (%d)", ROUNDS, n_told);
}

static void what_is_below_is_not(struct mcp_client *c)
{
    char id[64];
    int n_over = 0;
    bool ok = set_level(c, "emergency");
    for (int i = 0; ok && i < ROUNDS; i++)
        n_over += start_job(c, DEFINITION, id) && server_wait(is_over(c, id));
    tap_ok(n_over == ROUNDS, "%d jobs below the level (%d)", ROUNDS, n_over);
}

/* The stream ends with the server: then all that was to come has come. */
static void nothing_more_comes(struct sse_stream *s)
{
    struct sse_event event;
    enum sse_got got;
    int n_logs = 0;
    while ((got = sse_next(s, EVENT_MS, &event)) == SSE_EVENT) {
        n_logs += strstr(event.data, "\"notifications/message\"") != NULL;
        free(event.data);
    }
    tap_ok(got == SSE_END && n_logs == 0, "LG-09 nothing of them was told (%d), the stream ends",
           n_logs);
}

int main(void)
{
    struct server s;
    struct mcp_client c;
    struct sse_stream stream;
    if (!server_dir(&s))
        return 1;
    if (!tap_ok(server_start(&s, CONFIG, "--workers 3 --mode nosync", false), "three workers") ||
        !mcp_open(&c, s.port, "2025-06-18")) {
        server_show_log(&s);
        server_remove(&s);
        return tap_done();
    }
    tap_ok(mcp_call(&c, "create_table", "{" TABLE ",\"definition\":" DEFINITION "}", NULL) == 200 &&
               sse_get(&stream, s.port, c.session, NULL),
           "a table and a stream");
    what_is_not_below_is_told_once(&c, &stream);
    what_is_below_is_not(&c);
    mcp_close(&c);
    tap_ok(server_stop(&s), "it ends well");
    nothing_more_comes(&stream);
    sse_close(&stream);
    server_remove(&s);
    return tap_done();
}
