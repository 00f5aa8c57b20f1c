/* tests/multi/test_component.c - calls of the conformance fixture as a client sees them: questions
 * that are answered over other connections (on any worker), cancellations, and as many calls that
 * block as there may be, beside which searches go on. */
#include "tests/lib/match.h"
#include "tests/lib/mcp.h"
#include "tests/lib/server.h"
#include "tests/lib/sse.h"
#include "tests/lib/tap.h"

#include <dirent.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERSION "2025-06-18"
#define CONFIG  "{\"mcp\":{\"session\":{\"allowClientDelete\":true}}}"
#define WAIT_MS 10000
#define BLOCKED 256 /* COMPONENT_CALLS_MAX */
#define WAITING 20  /* that find no room */

/* A session whose client can be asked anything. */
static bool open_session(uint16_t port, char ret_session[128])
{
    static const char initialize[] =
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
        "\"" VERSION "\",\"capabilities\":{\"sampling\":{},\"elicitation\":{},\"roots\":{}},"
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

/* On a connection of its own. */
static int post(uint16_t port, const char *session, const char *body)
{
    struct http_conn c;
    struct http_reply r = {0};
    if (!http_open(&c, port))
        return 0;
    int status = http_post(&c, session, VERSION, body, &r) == HTTP_REPLY ? r.status : 0;
    http_free(&r);
    http_close(&c);
    return status;
}

static bool next_fits(struct sse_stream *s, const char *pattern, struct match_vars *vars)
{
    struct sse_event event = {.data = NULL};
    char why[512] = "";
    enum sse_got got = sse_next(s, WAIT_MS, &event);
    bool fits = got == SSE_EVENT && match_json(pattern, event.data, vars, why);
    if (!fits)
        tap_note("got %d: %s\nwanted %s\n%s", got, got == SSE_EVENT ? event.data : "-", pattern,
                 why);
    if (got == SSE_EVENT)
        free(event.data);
    return fits;
}

/* ---- Questions ------------------------------------------------------------------------------ */

static const struct {
    const char *tool, *arguments, *request, *answer, *text;
} questions[] = {
    {"test_sampling", "{\"prompt\":\"Why?\"}",
     "{\"jsonrpc\":\"2.0\",\"id\":$I,\"method\":\"sampling/createMessage\",\"params\":{"
     "\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"Why?\"}}],"
     "\"maxTokens\":100}}",
     "\"result\":{\"role\":\"assistant\",\"content\":{\"type\":\"text\",\"text\":\"Because\"},"
     "\"model\":\"m\",\"stopReason\":\"endTurn\"}",
     "LLM response: Because"},
    {"test_sampling", "{\"prompt\":\"Why?\"}",
     "{\"jsonrpc\":\"2.0\",\"id\":$I,\"method\":\"sampling/createMessage\",...}",
     "\"error\":{\"code\":-1,\"message\":\"User rejected\"}",
     "Sampling failed: The client answered with an error: User rejected"},
    {"test_elicitation", "{\"message\":\"Who?\"}",
     "{\"jsonrpc\":\"2.0\",\"id\":$I,\"method\":\"elicitation/create\",\"params\":{\"message\":"
     "\"Who?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{\"username\":{...},"
     "\"email\":{...}},\"required\":[\"username\",\"email\"]}}}",
     "\"result\":{\"action\":\"accept\",\"content\":{\"username\":\"u\",\"email\":\"e@x.org\"}}",
     "User response: action=accept, content=*username*e@x.org*"},
    {"test_elicitation", "{\"message\":\"Who?\"}",
     "{\"jsonrpc\":\"2.0\",\"id\":$I,\"method\":\"elicitation/create\",...}",
     "\"result\":{\"action\":\"decline\"}", "User response: action=decline, content={}"},
    {"test_roots", "{}", "{\"jsonrpc\":\"2.0\",\"id\":$I,\"method\":\"roots/list\",...}",
     "\"result\":{\"roots\":[{\"uri\":\"file:///a\",\"name\":\"a\"}]}", "*file:///a*"},
};

static void ask(uint16_t port, const char *session, size_t i)
{
    struct sse_stream s;
    struct match_vars vars = {0};
    char body[1024], answer[1024], result[512];
    snprintf(body, sizeof body,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\","
             "\"arguments\":%s}}",
             questions[i].tool, questions[i].arguments);
    snprintf(result, sizeof result,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":"
             "\"%s\"}],...}}",
             questions[i].text);
    bool ok = sse_post(&s, port, session, body) && s.status == 200 && s.is_stream &&
              next_fits(&s, questions[i].request, &vars);
    const char *id = vars.value['I' - 'A'];
    snprintf(answer, sizeof answer, "{\"jsonrpc\":\"2.0\",\"id\":\"%s\",%s}", id ? id : "",
             questions[i].answer);
    ok = ok && post(port, session, answer) == 202 && next_fits(&s, result, &vars);
    tap_ok(ok, "%s is answered: %s", questions[i].tool, questions[i].text);
    sse_close(&s);
    match_vars_clear(&vars);
}

/* ---- Cancellation --------------------------------------------------------------------------- */

static void cancel(uint16_t port, const char *session)
{
    struct sse_stream s;
    struct sse_event event;
    enum sse_got got = SSE_BROKEN;
    int n = 0, n_results = 0;
    bool ok = sse_post(&s, port, session,
                       "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"tools/call\",\"params\":{"
                       "\"name\":\"test_slow\",\"arguments\":{\"seconds\":60},\"_meta\":{"
                       "\"progressToken\":1}}}");
    while (ok && n < 100 && (got = sse_next(&s, WAIT_MS, &event)) == SSE_EVENT) {
        n_results += strstr(event.data, "\"result\"") || strstr(event.data, "\"error\"");
        free(event.data);
        if (++n == 1)
            ok = post(port, session,
                      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
                      "\"requestId\":\"x\"}}") == 202;
    }
    tap_ok(ok && got == SSE_END && n > 0 && n_results == 0,
           "C-03 a cancelled call ends its stream without a response (%d events, end %d)", n, got);
    sse_close(&s);
}

/* ---- As many as may block ------------------------------------------------------------------- */

static bool send_slow(struct http_conn *c, uint16_t port, const char *session, int id)
{
    char body[256], text[1024];
    snprintf(body, sizeof body,
             "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":"
             "\"test_slow\",\"arguments\":{\"seconds\":60}}}",
             id);
    snprintf(text, sizeof text,
             "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: "
             "application/json, text/event-stream\r\nMcp-Session-Id: %s\r\nContent-Length: %zu\r\n"
             "\r\n%s",
             session, strlen(body), body);
    return http_open(c, port) && http_send(c, text, strlen(text));
}

static int count_threads(pid_t pid)
{
    char path[64];
    int n = 0;
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && (e = readdir(dir));)
        n += e->d_name[0] != '.';
    if (dir)
        closedir(dir);
    return n;
}

static void block(struct server *server)
{
    static struct http_conn conns[BLOCKED + WAITING];
    char session[128];
    struct mcp_client client;
    int n_sent = 0, n_ended = 0;
    bool ok = open_session(server->port, session);
    for (int i = 0; ok && i < BLOCKED + WAITING; i++)
        n_sent += send_slow(&conns[i], server->port, session, i);
    pid_t worker;
    ok = ok && server_workers(server, &worker, 1) == 1 &&
         server_wait(count_threads(worker) > BLOCKED);
    bool joined = ok && mcp_open(&client, server->port, VERSION);
    int64_t start_ms = server_now_ms();
    bool found =
        joined && mcp_call_gives(&client, "search_thing", "{\"where\":\"name = 'n599'\"}",
                                 "{\"jsonrpc\":\"2.0\",\"id\":*,\"result\":{\"structuredContent\":{"
                                 "\"rows\":[{\"id\":599,...}],...},...}}");
    tap_ok(n_sent == BLOCKED + WAITING && found,
           "a search goes on while %d calls block and %d wait (%lld ms)", BLOCKED, WAITING,
           (long long)(server_now_ms() - start_ms));
    start_ms = server_now_ms();
    struct mcp_client owner;
    bool ended = mcp_join(&owner, server->port, session) && mcp_delete(&owner) == 204;
    for (int i = 0; ended && i < n_sent; i++) {
        struct http_reply r = {0};
        n_ended += http_read(&conns[i], false, &r) == HTTP_REPLY && r.body_n < 50;
        http_free(&r);
    }
    tap_ok(ended && n_ended == n_sent, "they all end with their session (%d of %d, %lld ms)",
           n_ended, n_sent, (long long)(server_now_ms() - start_ms));
    for (int i = 0; i < n_sent; i++)
        http_close(&conns[i]);
    mcp_close(&owner);
    mcp_close(&client);
}

/* ---- All ------------------------------------------------------------------------------------ */

static bool make_things(struct server *s)
{
    return server_sh(s,
                     "cd \"$(dirname \"$DATA\")\" && echo '{\"primaryKey\":\"id\",\"schema\":{"
                     "\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"integer\"},"
                     "\"name\":{\"type\":\"string\"}}}}' >thing.json && "
                     "for i in $(seq 600); do echo \"{\\\"id\\\":$i,\\\"name\\\":\\\"n$i\\\"}\"; "
                     "done >things.jsonl && $TENON table create --data \"$DATA\" shop.thing "
                     "thing.json && $TENON import --data \"$DATA\" shop.thing things.jsonl") == 0;
}

static bool start(struct server *s, int workers)
{
    char flags[PATH_MAX + 64], program[PATH_MAX];
    snprintf(program, sizeof program, "%s", server_binary());
    const char *real = realpath(program, NULL);
    snprintf(program, sizeof program, "%s", real ? real : server_binary());
    snprintf(flags, sizeof flags, "--workers %d --component %s/conformance/fixture.so", workers,
             dirname(program));
    free((char *)real);
    return server_start(s, CONFIG, flags, false);
}

int main(void)
{
    struct server s;
    char session[128];
    if (!server_dir(&s) || !make_things(&s) || !start(&s, 2) || !open_session(s.port, session)) {
        tap_ok(false, "the server starts with the fixture");
        server_show_log(&s);
        return tap_done();
    }
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        ask(s.port, session, i);
    cancel(s.port, session);
    tap_ok(server_stop(&s), "it stops in good order");
    if (start(&s, 1)) {
        block(&s);
        tap_ok(server_stop(&s), "it stops in good order");
    } else {
        tap_ok(false, "one worker starts");
    }
    server_remove(&s);
    return tap_done();
}
