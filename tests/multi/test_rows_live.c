/* tests/multi/test_rows_live.c - what the specification asks of calls that talk while they run, row
 * by row, as a client sees it: two workers, a connection of its own for each request, the fixture.
 *
 * Each test is named after the rows and cases of tests/CHECKLIST.md that it shows.
 */
#include "tests/lib/match.h"
#include "tests/lib/server.h"
#include "tests/lib/sse.h"
#include "tests/lib/tap.h"

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALL        "{\"sampling\":{},\"elicitation\":{},\"roots\":{}}"
#define WAIT_MS    10000
#define SILENCE_MS 300
#define ASK_MS     "400"
#define EVENTS_MAX 64

static struct server server;

/* ---- Talking -------------------------------------------------------------------------------- */

static int post(const char *session, const char *body)
{
    struct http_conn c;
    struct http_reply r = {0};
    if (!http_open(&c, server.port))
        return 0;
    int status = http_post(&c, session, NULL, body, &r) == HTTP_REPLY ? r.status : 0;
    http_free(&r);
    http_close(&c);
    return status;
}

static bool initialize(const char *version, const char *capabilities, char ret[128])
{
    struct http_conn c;
    struct http_reply r = {0};
    char body[400];
    snprintf(body, sizeof body,
             "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
             "\"protocolVersion\":\"%s\",\"capabilities\":%s,\"clientInfo\":{\"name\":\"c\","
             "\"version\":\"1\"}}}",
             version, capabilities);
    bool ok = http_open(&c, server.port) && http_post(&c, NULL, NULL, body, &r) == HTTP_REPLY;
    const char *id = ok ? http_header(&r, "Mcp-Session-Id") : NULL;
    snprintf(ret, 128, "%s", id ? id : "");
    http_free(&r);
    http_close(&c);
    return id;
}

static bool open_session(const char *version, const char *capabilities, char ret[128])
{
    return initialize(version, capabilities, ret) &&
           post(ret, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}") == 202;
}

/* `id` and `token` are JSON; token "" is none. */
static bool call(struct sse_stream *s, const char *session, const char *id, const char *tool,
                 const char *arguments, const char *token)
{
    char body[600];
    snprintf(body, sizeof body,
             "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\","
             "\"arguments\":%s%s%s%s}}",
             id, tool, arguments, *token ? ",\"_meta\":{\"progressToken\":" : "", token,
             *token ? "}" : "");
    return sse_post(s, server.port, session, body) && s->status == 200;
}

static int cancel(const char *session, const char *id)
{
    char body[200];
    snprintf(body, sizeof body,
             "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
             "\"requestId\":%s,\"reason\":\"test\"}}",
             id);
    return post(session, body);
}

static int answer(const char *session, const char *id, const char *result)
{
    char body[400];
    snprintf(body, sizeof body, "{\"jsonrpc\":\"2.0\",\"id\":%s,%s}", id, result);
    return post(session, body);
}

/* ---- What came ------------------------------------------------------------------------------ */

struct events {
    int n;
    struct sse_event at[EVENTS_MAX];
    enum sse_got end; /* why there are no more */
};

static bool take(struct sse_stream *s, int64_t ms, struct events *to)
{
    to->end = to->n < EVENTS_MAX ? sse_next(s, ms, &to->at[to->n]) : SSE_BROKEN;
    to->n += to->end == SSE_EVENT;
    return to->end == SSE_EVENT;
}

static void take_all(struct sse_stream *s, int64_t ms, struct events *to)
{
    while (take(s, ms, to))
        ;
}

static void forget(struct events *e)
{
    for (int i = 0; i < e->n; i++)
        free(e->at[i].data);
    e->n = 0;
}

static int count(const struct events *e, const char *text)
{
    int n = 0;
    for (int i = 0; i < e->n; i++)
        n += strstr(e->at[i].data, text) != NULL;
    return n;
}

static bool fits(const struct events *e, int i, const char *pattern)
{
    struct match_vars vars = {0};
    char why[512] = "";
    bool ok = i >= 0 && i < e->n && match_json(pattern, e->at[i].data, &vars, why);
    if (!ok)
        tap_note("%d of %d (end %d): %s\nwanted %s\n%s", i, e->n, e->end,
                 i >= 0 && i < e->n ? e->at[i].data : "-", pattern, why);
    match_vars_clear(&vars);
    return ok;
}

static bool is_notification(const struct events *e, int i)
{
    char *id = match_member(e->at[i].data, "id"), *method = match_member(e->at[i].data, "method");
    bool ok = !id && method;
    free(id);
    free(method);
    return ok;
}

static bool all_distinct(const struct events *e)
{
    for (int i = 0; i < e->n; i++)
        for (int j = 0; j < i; j++)
            if (!e->at[i].id[0] || strcmp(e->at[i].id, e->at[j].id) == 0)
                return false;
    return true;
}

/* Notifications that rise, then the answer, then the end. */
static bool is_whole(const struct events *e, const char *token, const char *id)
{
    char pattern[300];
    double last = -1, now = 0;
    snprintf(pattern, sizeof pattern, "{\"progressToken\":%s,\"progress\":*,...}", token);
    for (int i = 0; i < e->n - 1; i++) {
        char all[400];
        snprintf(all, sizeof all,
                 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":%s}",
                 pattern);
        const char *progress = strstr(e->at[i].data, "\"progress\":");
        if (!fits(e, i, all) || !is_notification(e, i) || !progress ||
            sscanf(progress, "\"progress\":%lf", &now) != 1 || now <= last)
            return false;
        last = now;
    }
    snprintf(pattern, sizeof pattern, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{...}}", id);
    return e->end == SSE_END && e->n > 1 && fits(e, e->n - 1, pattern);
}

/* ---- Streams -------------------------------------------------------------------------------- */

static void streams_of_calls(const char *session)
{
    struct sse_stream listen, also, s[3];
    struct events e[3] = {0}, heard = {0};
    static const char *const tokens[] = {"\"7\"", "7", "\"\xC3\xA9\""};
    bool ok = sse_get(&listen, server.port, session, NULL) && listen.status == 200 &&
              sse_get(&also, server.port, session, NULL) && also.status == 200;
    tap_ok(ok && listen.is_stream && also.is_stream, "T-20 T-25 Q-08 two GET streams are open");
    for (int i = 0; i < 3; i++)
        ok = call(&s[i], session, tokens[i], "test_slow", "{\"seconds\":0.5}", tokens[i]) && ok;
    for (int i = 0; i < 3; i++) {
        take_all(&s[i], WAIT_MS, &e[i]);
        ok = is_whole(&e[i], tokens[i], tokens[i]) && all_distinct(&e[i]) && ok;
        sse_close(&s[i]);
    }
    tap_ok(ok, "T-11 T-12 T-13 T-14 T-25 J-12 G-01 G-03 G-09 three calls, each on its own stream, "
               "the answer last");
    take_all(&listen, SILENCE_MS, &heard);
    tap_ok(heard.n == 0 && heard.end == SSE_TIMEOUT, "T-23 nothing of them on the one GET stream");
    take_all(&also, SILENCE_MS, &heard);
    tap_ok(heard.n == 0 && heard.end == SSE_TIMEOUT,
           "T-22 T-23 G-07 nothing on the other, nor behind the answer");
    sse_close(&listen);
    sse_close(&also);
    for (int i = 0; i < 3; i++)
        forget(&e[i]);
}

static void fractions(const char *session)
{
    struct sse_stream s;
    struct events e = {0};
    bool ok = call(&s, session, "1", "test_slow", "{\"seconds\":0.0125}", "1");
    take_all(&s, WAIT_MS, &e);
    tap_ok(ok && is_whole(&e, "1", "1") && count(&e, "\"total\":12.5") == 1,
           "G-04 a total with a fraction");
    forget(&e);
    sse_close(&s);
    ok = call(&s, session, "1", "test_slow", "{\"seconds\":0.2}", "");
    take_all(&s, WAIT_MS, &e);
    tap_ok(ok && e.n == 1 && count(&e, "\"result\"") == 1, "G-06 no token, no progress");
    forget(&e);
    sse_close(&s);
}

static void heartbeats(const char *session)
{
    struct http_conn c;
    struct http_reply r = {0};
    struct sse_stream s;
    struct events e = {0};
    char head[400];
    snprintf(head, sizeof head,
             "GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n"
             "Mcp-Session-Id: %s\r\n\r\n",
             session);
    int64_t start_ms = server_now_ms();
    bool ok = http_open(&c, server.port) && http_send(&c, head, strlen(head)) &&
              http_read(&c, true, &r) == HTTP_REPLY && r.status == 200;
    const char *type = ok ? http_header(&r, "Content-Type") : NULL;
    ok = type && strcmp(type, "text/event-stream") == 0 && !http_header(&r, "Content-Length");
    const char *cache = ok ? http_header(&r, "Cache-Control") : NULL;
    ok = cache && strstr(cache, "no-store");
    const char *buffering = ok ? http_header(&r, "X-Accel-Buffering") : NULL;
    tap_ok(buffering && strcmp(buffering, "no") == 0 && server_now_ms() - start_ms < 1000,
           "C-049 T-20 the head of a GET stream comes at once");
    http_free(&r);
    http_close(&c);
    ok = sse_get(&s, server.port, session, NULL);
    take_all(&s, SILENCE_MS, &e);
    unsigned first = s.n_comments;
    take_all(&s, 2000, &e);
    tap_ok(ok && e.n == 0 && first >= 1 && s.n_comments > first,
           "C-049 a comment at once (%u), and heartbeats (%u)", first, s.n_comments);
    sse_close(&s);
}

/* ---- Resumption ----------------------------------------------------------------------------- */

static void resume(const char *session, const char *other)
{
    struct sse_stream a, b, again;
    struct events first = {0}, running = {0}, later = {0}, of_b = {0};
    bool ok = call(&a, session, "\"a\"", "test_slow", "{\"seconds\":0.6}", "\"a\"") &&
              call(&b, session, "\"b\"", "test_slow", "{\"seconds\":0.6}", "\"b\"") &&
              take(&a, WAIT_MS, &first);
    http_abort(&a.conn);
    ok = ok && sse_get(&again, server.port, session, first.at[0].id) && again.status == 200;
    take_all(&again, WAIT_MS, &running);
    sse_close(&again);
    tap_ok(ok && is_whole(&running, "\"a\"", "\"a\"") && all_distinct(&running),
           "X-01 X-03 X-04 T-15 T-16 C-051 a cut stream goes on while its call runs, and only it");
    ok = ok && sse_get(&again, server.port, session, first.at[0].id) && again.status == 200;
    take_all(&again, WAIT_MS, &later);
    sse_close(&again);
    ok = ok && later.end == SSE_END && later.n == running.n;
    for (int i = 0; ok && i < later.n; i++)
        ok = strcmp(later.at[i].id, running.at[i].id) == 0 &&
             strcmp(later.at[i].data, running.at[i].data) == 0;
    tap_ok(ok, "X-03 X-05 C-053 the rest and the answer can be got later, each by its id");
    take_all(&b, WAIT_MS, &of_b);
    tap_ok(is_whole(&of_b, "\"b\"", "\"b\""), "X-04 C-051 the stream beside it misses nothing");
    ok = first.n && sse_get(&again, server.port, other, first.at[0].id);
    tap_ok(ok && again.status == 400, "X-07 another session cannot resume it (%d)", again.status);
    sse_close(&again);
    sse_close(&b);
    sse_close(&a);
    forget(&first);
    forget(&running);
    forget(&later);
    forget(&of_b);
}

static void take_over(const char *session)
{
    struct sse_stream old, new;
    struct events e = {0};
    bool ok = call(&old, session, "1", "test_slow", "{\"seconds\":0.6}", "1") &&
              take(&old, WAIT_MS, &e) && sse_get(&new, server.port, session, e.at[0].id) &&
              new.status == 200;
    int n_first = e.n;
    take_all(&old, WAIT_MS, &e);
    bool old_ends = e.end != SSE_TIMEOUT;
    take_all(&new, WAIT_MS, &e);
    tap_ok(ok && n_first == 1 && old_ends && is_whole(&e, "1", "1") && all_distinct(&e),
           "X-06 who resumes a stream that is open takes it over, nothing comes twice (%d)", e.n);
    forget(&e);
    sse_close(&old);
    sse_close(&new);
}

/* ---- Cancellation --------------------------------------------------------------------------- */

static void cancel_running(const char *session, const char *other)
{
    struct sse_stream s;
    struct events e = {0};
    bool ok = call(&s, session, "\"1\"", "test_slow", "{\"seconds\":60}", "\"1\"") &&
              take(&s, WAIT_MS, &e) && cancel(other, "\"1\"") == 202 &&
              cancel(session, "1") == 202 && take(&s, WAIT_MS, &e) && take(&s, WAIT_MS, &e) &&
              take(&s, WAIT_MS, &e);
    tap_ok(ok, "C-09 C-037 neither another session nor another type of id cancels it");
    int64_t start_ms = server_now_ms();
    ok = ok && cancel(session, "\"1\"") == 202 && cancel(session, "\"1\"") == 202;
    take_all(&s, WAIT_MS, &e);
    tap_ok(ok && e.end == SSE_END && count(&e, "\"progress\"") == e.n &&
               server_now_ms() - start_ms < 2000,
           "C-03 C-06 C-10 C-037 Q-11 a cancelled call ends its stream without an answer");
    tap_ok(post(session, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}") == 200,
           "C-037 the session works on");
    forget(&e);
    sse_close(&s);
}

/* ---- Questions ------------------------------------------------------------------------------ */

#define FORM "{\"message\":\"Who?\"}"
#define ACCEPTED \
    "\"result\":{\"action\":\"accept\",\"content\":{\"username\":\"u\",\"email\":\"e@x.org\"}}"

/* The request that a call sends as its first event; its id as JSON, to be freed. NULL: none. */
static char *question(struct sse_stream *s, const char *session, const char *tool,
                      const char *arguments, struct events *e)
{
    if (!call(s, session, "1", tool, arguments, "") || !take(s, WAIT_MS, e))
        return NULL;
    char *id = match_member(e->at[e->n - 1].data, "id");
    if (id && strstr(e->at[e->n - 1].data, "\"method\""))
        return id;
    free(id);
    return NULL;
}

static void answers_of_others(const char *session, const char *other)
{
    struct sse_stream s, listen;
    struct events e = {0}, heard = {0};
    bool ok = sse_get(&listen, server.port, session, NULL);
    char *id = question(&s, session, "test_elicitation", FORM, &e);
    tap_ok(ok && id && id[0] == '"' && strcmp(id, "\"1\"") != 0,
           "J-02 J-03 SR-04 C-005 the question is on the call's stream, by an id of the server's");
    ok = id && answer(session, "1", ACCEPTED) != 0 && answer(other, id, ACCEPTED) != 0 &&
         answer(session, "\"0.0.0\"", ACCEPTED) != 0 && cancel(session, id) == 202;
    ok = ok && answer(session, id, ACCEPTED) == 202;
    take_all(&s, WAIT_MS, &e);
    tap_ok(ok && e.n == 2 && e.end == SSE_END && count(&e, "action=accept") == 1 &&
               fits(&e, 1, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{...}}"),
           "SR-01 SR-02 C-005 C-09 only the answer of the asked session to that id counts");
    tap_ok(ok && answer(session, id, ACCEPTED) == 202,
           "SR-02 C-05 a second answer is of no effect");
    take_all(&listen, SILENCE_MS, &heard);
    tap_ok(heard.n == 0, "SR-04 T-23 nothing of it is on the GET stream");
    free(id);
    forget(&e);
    sse_close(&s);
    sse_close(&listen);
}

static const struct {
    const char *tool, *arguments;
} asking[] = {
    {"test_sampling", "{\"prompt\":\"x\"}"}, {"test_elicitation", FORM}, {"test_roots", "{}"}};

static void undeclared(void)
{
    char session[128], old[128];
    bool ok = open_session("2025-06-18", "{}", session) && open_session("2025-03-26", ALL, old);
    for (int i = 0; ok && i < 3; i++) {
        struct sse_stream s;
        struct events e = {0};
        ok = call(&s, session, "1", asking[i].tool, asking[i].arguments, "");
        take_all(&s, WAIT_MS, &e);
        ok = ok && e.n == 1 && count(&e, "\"isError\":true") == 1;
        forget(&e);
        sse_close(&s);
    }
    tap_ok(ok, "L-11 SM-01 EL-01 RT-01 C-065 who declared nothing is asked nothing");
    struct sse_stream s;
    struct events e = {0};
    ok = ok && call(&s, old, "1", "test_elicitation", FORM, "");
    take_all(&s, WAIT_MS, &e);
    tap_ok(ok && e.n == 1 && count(&e, "\"isError\":true") == 1,
           "L-10 EL-01 no elicitation in a session of 2025-03-26");
    forget(&e);
    sse_close(&s);
}

static void unanswered(const char *session)
{
    for (int i = 0; i < 3; i++) {
        struct sse_stream s;
        struct events e = {0};
        char pattern[300];
        char *id = question(&s, session, asking[i].tool, asking[i].arguments, &e);
        take_all(&s, WAIT_MS, &e);
        snprintf(pattern, sizeof pattern,
                 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
                 "\"requestId\":%s,...}}",
                 id ? id : "0");
        tap_ok(
            id && e.n == 3 && fits(&e, 1, pattern) && count(&e, "\"isError\":true") == 1 &&
                e.end == SSE_END && answer(session, id, ACCEPTED) == 202,
            "L-15 L-16 L-19 C-01 C-05 SR-03 C-065 %s: a time-out is told, a late answer too late",
            asking[i].tool);
        free(id);
        forget(&e);
        sse_close(&s);
    }
}

static void refused(const char *session)
{
    static const struct {
        int i;
        const char *answer, *row;
    } cases[] = {
        {0, "\"error\":{\"code\":-1,\"message\":\"no\"}", "SM-05"},
        {0, "\"result\":{\"role\":\"assistant\"}", "SM-03"},
        {1, "\"result\":{\"action\":\"accept\",\"content\":{\"username\":5}}", "EL-04"},
        {2, "\"error\":{\"code\":-32601,\"message\":\"no roots\"}", "RT-05"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sse_stream s;
        struct events e = {0};
        char *id = question(&s, session, asking[cases[i].i].tool, asking[cases[i].i].arguments, &e);
        bool ok = id && answer(session, id, cases[i].answer) / 100 * 100 != 500;
        take_all(&s, WAIT_MS, &e);
        tap_ok(ok && e.end == SSE_END && count(&e, "\"isError\":true") == 1,
               "%s C-065 the handler gets an error by %s", cases[i].row, cases[i].answer);
        free(id);
        forget(&e);
        sse_close(&s);
    }
}

static void dropped(const char *session)
{
    struct sse_stream s, again;
    struct events e = {0};
    char *id = question(&s, session, "test_elicitation", FORM, &e);
    http_abort(&s.conn);
    bool ok = id && answer(session, id, ACCEPTED) == 202 &&
              sse_get(&again, server.port, session, e.at[0].id) && again.status == 200;
    take_all(&again, WAIT_MS, &e);
    tap_ok(
        ok && e.n == 2 && e.end == SSE_END && count(&e, "action=accept") == 1,
        "T-15 X-03 C-065 a question of a stream that broke can be answered, and the call goes on");
    free(id);
    forget(&e);
    sse_close(&s);
    sse_close(&again);
}

static void roots(const char *session)
{
    struct sse_stream s;
    struct events e = {0};
    char *id = question(&s, session, "test_roots", "{}", &e);
    bool ok = id && answer(session, id,
                           "\"result\":{\"roots\":[{\"uri\":\"http://x/\"},{\"uri\":\"file:///"
                           "a\"}]}") == 202;
    take_all(&s, WAIT_MS, &e);
    tap_ok(ok && e.n == 2 && count(&e, "file:///a") == 1 && count(&e, "http://") == 0,
           "RT-04 roots that are no files are not there");
    free(id);
    forget(&e);
    sse_close(&s);
}

static const char *const outcomes[][2] = {
    {"\"result\":{\"action\":\"decline\"}", "action=decline"},
    {"\"result\":{\"action\":\"cancel\"}", "action=cancel"},
    {ACCEPTED, "action=accept"},
};

static void three_outcomes(const char *session)
{
    bool ok = true;
    for (int i = 0; ok && i < 3; i++) {
        struct sse_stream s;
        struct events e = {0};
        char *id = question(&s, session, "test_elicitation", FORM, &e);
        ok = id && answer(session, id, outcomes[i][0]) == 202;
        take_all(&s, WAIT_MS, &e);
        ok = ok && e.n == 2 && count(&e, outcomes[i][1]) == 1;
        free(id);
        forget(&e);
        sse_close(&s);
    }
    tap_ok(ok, "EL-05 accept, decline and cancel are three outcomes");
}

/* ---- Levels --------------------------------------------------------------------------------- */

static bool set_level(const char *session, const char *level)
{
    char body[200];
    snprintf(body, sizeof body,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"logging/setLevel\",\"params\":{\"level\":"
             "\"%s\"}}",
             level);
    return post(session, body) == 200;
}

/* So many lines come of a tool that logs three. */
static bool logs(const char *session, int n)
{
    struct sse_stream s;
    struct events e = {0};
    bool ok = call(&s, session, "1", "test_tool_with_logging", "{}", "");
    take_all(&s, WAIT_MS, &e);
    for (int i = 0; ok && i < e.n - 1; i++)
        ok = is_notification(&e, i) &&
             fits(&e, i,
                  "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":"
                  "\"info\",\"data\":\"Tool *\",...}}");
    ok = ok && e.n == n + 1 && e.end == SSE_END && count(&e, "\"result\"") == 1;
    forget(&e);
    sse_close(&s);
    return ok;
}

static void levels(const char *session, const char *other)
{
    bool ok = set_level(session, "error") && set_level(other, "debug");
    for (int i = 0; ok && i < 6; i++)
        ok = logs(session, 0) && logs(other, 3);
    tap_ok(ok, "LG-02 LG-08 LG-09 C-059 a level is the session's, whatever worker is asked");
    ok = ok && set_level(session, "info") && set_level(other, "notice") && logs(session, 3) &&
         logs(other, 0);
    tap_ok(ok, "LG-02 C-059 it can be changed at any time");
}

/* ---- The list changes ----------------------------------------------------------------------- */

static void list_changed(void)
{
    struct sse_stream s[2][2], early;
    struct events e[2] = {0}, none = {0};
    char sessions[2][128], unready[128];
    bool ok = initialize("2025-06-18", ALL, unready) && sse_get(&early, server.port, unready, NULL);
    for (int i = 0; ok && i < 4; i++)
        ok = (i % 2 || open_session("2025-06-18", ALL, sessions[i / 2])) &&
             sse_get(&s[i / 2][i % 2], server.port, sessions[i / 2], NULL);
    ok = ok &&
         server_sh(&server,
                   "echo '{\"primaryKey\":\"id\",\"schema\":{\"type\":\"object\",\"properties\":{"
                   "\"id\":{\"type\":\"integer\"}}}}' >\"$DATA.json\" && "
                   "$TENON table create --data \"$DATA\" shop.thing \"$DATA.json\"") == 0;
    for (int i = 0; ok && i < 2; i++) {
        while (e[i].n < 2 && take(&s[i][1], WAIT_MS, &e[i]))
            ;
        take_all(&s[i][0], SILENCE_MS, &e[i]);
        take_all(&s[i][1], SILENCE_MS, &e[i]);
        ok = e[i].n == 2 && count(&e[i], "notifications/tools/list_changed") == 1 &&
             count(&e[i], "notifications/resources/list_changed") == 1 &&
             is_notification(&e[i], 0) && is_notification(&e[i], 1);
    }
    tap_ok(ok, "TL-03 RS-09 T-22 T-26 J-12 each session is told once, on one stream (%d, %d)",
           e[0].n, e[1].n);
    take_all(&early, SILENCE_MS, &none);
    tap_ok(none.n == 0 && none.end == SSE_TIMEOUT, "L-08 who is not ready is told nothing");
    forget(&e[0]);
    forget(&e[1]);
    for (int i = 0; i < 4; i++)
        sse_close(&s[i / 2][i % 2]);
    sse_close(&early);
}

/* ---- Ends ----------------------------------------------------------------------------------- */

static void session_ends(void)
{
    struct sse_stream listen, s;
    struct http_conn c;
    struct http_reply r = {0};
    struct events e = {0}, heard = {0};
    char session[128], head[300];
    bool ok =
        open_session("2025-06-18", ALL, session) && sse_get(&listen, server.port, session, NULL);
    char *id = question(&s, session, "test_elicitation", FORM, &e);
    snprintf(head, sizeof head,
             "DELETE /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nMcp-Session-Id: %s\r\n\r\n", session);
    ok = ok && id && http_open(&c, server.port) && http_send(&c, head, strlen(head)) &&
         http_read(&c, false, &r) == HTTP_REPLY && r.status / 100 == 2;
    take_all(&listen, WAIT_MS, &heard);
    take_all(&s, WAIT_MS, &e);
    tap_ok(ok && heard.n == 0 && heard.end == SSE_END && e.end == SSE_END &&
               count(&e, "\"result\":") == 0 && answer(session, id, ACCEPTED) == 404,
           "S-09 its end closes a session's streams and drops its question");
    http_free(&r);
    http_close(&c);
    free(id);
    forget(&e);
    sse_close(&listen);
    sse_close(&s);
}

/* Ids of five streams and of five questions are added. */
static bool gather(const char *session, struct events *streams, struct events *questions)
{
    bool ok = true;
    for (int i = 0; i < 5; i++) {
        struct sse_stream s;
        char *id = question(&s, session, "test_elicitation", FORM, streams);
        ok = ok && id && answer(session, id, ACCEPTED) == 202;
        struct sse_event *to = &questions->at[questions->n++];
        snprintf(to->id, sizeof to->id, "%s", id ? id : "");
        to->data = NULL;
        free(id);
        take_all(&s, WAIT_MS, streams);
        ok = ok && streams->end == SSE_END;
        sse_close(&s);
    }
    return ok;
}

static bool start(void)
{
    char flags[PATH_MAX + 64], program[PATH_MAX];
    char *real = realpath(server_binary(), NULL);
    snprintf(program, sizeof program, "%s", real ? real : server_binary());
    snprintf(flags, sizeof flags, "--workers 2 --component %s/conformance/fixture.so",
             dirname(program));
    free(real);
    return server_start(&server,
                        "{\"mcp\":{\"session\":{\"allowClientDelete\":true},\"streams\":{"
                        "\"heartbeatSeconds\":1},\"serverRequest\":{\"timeoutMs\":" ASK_MS "}}}",
                        flags, false);
}

static void restart(const char *session)
{
    static struct events streams, questions;
    struct sse_stream listen;
    struct events heard = {0};
    bool ok = gather(session, &streams, &questions) && sse_get(&listen, server.port, session, NULL);
    ok = server_stop(&server) && ok;
    take_all(&listen, WAIT_MS, &heard);
    tap_ok(ok && heard.end == SSE_END, "T-24 a server that stops ends its GET streams");
    sse_close(&listen);
    ok = start() && gather(session, &streams, &questions) && ok;
    tap_ok(ok && streams.n >= 20 && all_distinct(&streams),
           "X-02 ids of %d events, on two workers and over a restart, are distinct", streams.n);
    tap_ok(ok && questions.n == 10 && all_distinct(&questions),
           "J-04 ids of %d questions, on two workers and over a restart, are distinct",
           questions.n);
    forget(&streams);
}

int main(void)
{
    char session[128], other[128];
    if (!server_dir(&server) || !start() || !open_session("2025-06-18", ALL, session) ||
        !open_session("2025-06-18", ALL, other)) {
        tap_ok(false, "the server starts with the fixture");
        server_show_log(&server);
        return tap_done();
    }
    streams_of_calls(session);
    fractions(session);
    heartbeats(session);
    resume(session, other);
    take_over(session);
    cancel_running(session, other);
    answers_of_others(session, other);
    undeclared();
    unanswered(session);
    refused(session);
    dropped(session);
    roots(session);
    three_outcomes(session);
    levels(session, other);
    list_changed();
    session_ends();
    restart(session);
    tap_ok(server_stop(&server), "it stops in good order");
    server_remove(&server);
    return tap_done();
}
