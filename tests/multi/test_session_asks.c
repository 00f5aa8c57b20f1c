/* tests/multi/test_session_asks.c - a component asks the client of a session outside its calls: on
 * the stream that it listens to, whichever worker has that, and its answers come to any worker.
 */
#include "tests/lib/match.h"
#include "tests/lib/mcp.h"
#include "tests/lib/server.h"
#include "tests/lib/sse.h"
#include "tests/lib/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERSION "2025-06-18"
#define WAIT_MS 30000
#define ROUNDS  20

static bool start(struct server *s)
{
    char flags[256];
    const char *component = getenv("TENON_LIVE");
    snprintf(flags, sizeof flags, "--workers 4 --component %s",
             component ? component : "build/release/tests/multi/live.so");
    return server_start(s, NULL, flags, false);
}

static bool open_session(uint16_t port, char ret_session[128])
{
    static const char initialize[] =
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
        "\"" VERSION "\",\"capabilities\":{\"elicitation\":{}},"
        "\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}";
    struct http_conn c;
    struct http_reply r;
    if (!http_open(&c, port) || http_post(&c, NULL, NULL, initialize, &r) != HTTP_REPLY)
        return false;
    const char *session = http_header(&r, "Mcp-Session-Id");
    snprintf(ret_session, 128, "%s", session ? session : "");
    http_free(&r);
    bool ok = http_post(&c, ret_session, VERSION,
                        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}",
                        &r) == HTTP_REPLY &&
              r.status == 202;
    http_free(&r);
    http_close(&c);
    return ok;
}

/* On a connection of its own, so on any worker. */
static int post(uint16_t port, const char *session, const char *body)
{
    struct mcp_client c;
    if (!mcp_join(&c, port, session))
        return 0;
    int status = mcp_post(&c, body, NULL);
    mcp_close(&c);
    return status;
}

static bool start_asking(uint16_t port, const char *session)
{
    return post(port, session,
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
                "\"later\",\"arguments\":{}}}") == 200;
}

/* The next question says `message`; it is answered by this result. */
static bool answer(struct sse_stream *listening, uint16_t port, const char *session,
                   const char *message, const char *result)
{
    struct sse_event event = {.data = NULL};
    struct match_vars vars = {{NULL}};
    char pattern[512], body[512], why[512] = "nothing came";
    snprintf(pattern, sizeof pattern,
             "{\"jsonrpc\":\"2.0\",\"id\":$I,\"method\":\"elicitation/create\",\"params\":{"
             "\"message\":\"%s\",...}}",
             message);
    enum sse_got got = sse_next(listening, WAIT_MS, &event);
    bool ok = got == SSE_EVENT && match_json(pattern, event.data, &vars, why);
    const char *id = vars.value['I' - 'A'];
    snprintf(body, sizeof body, "{\"jsonrpc\":\"2.0\",\"id\":\"%s\",\"result\":%s}", id ? id : "",
             result);
    if (!ok)
        tap_note("got %d: %s\nwanted %s\n%s", got, event.data ? event.data : "-", pattern, why);
    ok = ok && post(port, session, body) == 202;
    match_vars_clear(&vars);
    free(event.data);
    return ok;
}

static bool answer_both(struct sse_stream *listening, uint16_t port, const char *session, int i)
{
    char result[128], second[64];
    snprintf(result, sizeof result, "{\"action\":\"accept\",\"content\":{\"value\":\"v%d\"}}", i);
    snprintf(second, sizeof second, "got 0 v%d", i);
    return answer(listening, port, session, "value?", result) &&
           answer(listening, port, session, second, "{\"action\":\"decline\"}");
}

static void answers_reach_whoever_asked(struct server *s)
{
    char session[128];
    int n = 0;
    bool ok = open_session(s->port, session);
    for (; ok && n < ROUNDS; n++) {
        struct sse_stream listening;
        ok = sse_get(&listening, s->port, session, NULL) && listening.status == 200 &&
             start_asking(s->port, session) && answer_both(&listening, s->port, session, n);
        sse_close(&listening);
    }
    tap_ok(ok, "SR outside a call: asked on the open stream, answered on any worker (%d times)", n);
}

static void a_question_waits_for_a_stream(struct server *s)
{
    char session[128];
    struct sse_stream listening = {.conn.fd = -1};
    bool ok = open_session(s->port, session) && start_asking(s->port, session) &&
              sse_get(&listening, s->port, session, NULL) && listening.status == 200 &&
              answer_both(&listening, s->port, session, 1);
    tap_ok(ok, "SR outside a call: without a stream the question waits for one");
    sse_close(&listening);
}

int main(void)
{
    struct server s;
    if (!server_dir(&s) || !start(&s)) {
        tap_ok(false, "a server with four workers starts");
        server_show_log(&s);
        return tap_done();
    }
    answers_reach_whoever_asked(&s);
    a_question_waits_for_a_stream(&s);
    if (!tap_ok(server_stop(&s), "it stops in good order"))
        server_show_log(&s);
    server_remove(&s);
    return tap_done();
}
