/* tests/multi/test_rows_stdio.c - what calls say while they run, over stdio: progress, log lines,
 * questions and cancellation of the fixture's tools, all on the one stdout.
 *
 * A conversation is lines: "> " goes to the server (with $I, which an answer's pattern took), "< "
 * is the pattern of the next line that comes. A ping at the end shows that nothing else came.
 */
#include "tests/lib/match.h"
#include "tests/lib/server.h"
#include "tests/lib/tap.h"

#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALL(id, tool, arguments, meta)                                                           \
    "> {\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\":\"" tool \
    "\",\"arguments\":" arguments meta "}}"
#define TOKEN      ",\"_meta\":{\"progressToken\":\"t\"}"
#define RESULT(id) "< {\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{...}}"
#define TEXT(id, text)                                                                  \
    "< {\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{\"content\":[{\"type\":\"text\"," \
    "\"text\":\"" text "\"}],...}}"
#define NOTE(method, p) \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/" method "\",\"params\":" p "}"
#define PROGRESS(n) "< " NOTE("progress", "{\"progressToken\":\"t\",\"progress\":" n ",...}")
#define LOG         "< " NOTE("message", "{\"level\":\"info\",\"data\":\"Tool *\",...}")
#define CANCEL(id)  "> " NOTE("cancelled", "{\"requestId\":" id "}")
#define LEVEL(level)                                                               \
    "> {\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"logging/setLevel\",\"params\":{" \
    "\"level\":\"" level "\"}}"
#define QUESTION(method) "< {\"jsonrpc\":\"2.0\",\"id\":$I,\"method\":\"" method "\",...}"
#define ANSWER(text)     "> {\"jsonrpc\":\"2.0\",\"id\":\"$I\"," text "}"
#define LINES_MAX        12

static const struct {
    const char *name, *lines[LINES_MAX];
} talks[] = {
    {"L-03 a session over stdio",
     {"> {\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
      "\"2025-06-18\",\"capabilities\":{\"sampling\":{},\"elicitation\":{},\"roots\":{}},"
      "\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}",
      RESULT("0"), "> {\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"}},
    {"G-01 G-03 G-07 progress, then the answer",
     {CALL("1", "test_tool_with_progress", "{}", TOKEN), PROGRESS("0"), PROGRESS("50"),
      PROGRESS("100"), RESULT("1")}},
    {"G-06 no token, no progress", {CALL("1", "test_tool_with_progress", "{}", ""), RESULT("1")}},
    {"LG-02 LG-09 what is not below the level is told",
     {LEVEL("debug"), RESULT("9"), CALL("1", "test_tool_with_logging", "{}", ""), LOG, LOG, LOG,
      RESULT("1"), LEVEL("error"), RESULT("9"), CALL("1", "test_tool_with_logging", "{}", ""),
      RESULT("1")}},
    {"SR-01 SR-02 EL-05 C-005 a question and its answer",
     {CALL("1", "test_elicitation", "{\"message\":\"Who?\"}", ""), QUESTION("elicitation/create"),
      "> {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"action\":\"accept\",\"content\":{}}}",
      ANSWER("\"result\":{\"action\":\"decline\"}"), TEXT("1", "*action=decline*")}},
    {"SM-05 an error of the client is passed on",
     {CALL("1", "test_sampling", "{\"prompt\":\"x\"}", ""), QUESTION("sampling/createMessage"),
      ANSWER("\"error\":{\"code\":-1,\"message\":\"no\"}"), TEXT("1", "*no")}},
    {"RT-04 roots that are no files are not there",
     {CALL("1", "test_roots", "{}", ""), QUESTION("roots/list"),
      ANSWER("\"result\":{\"roots\":[{\"uri\":\"http://x/\"},{\"uri\":\"file:///a\"}]}"),
      TEXT("1", "*[{\\\"uri\\\":\\\"file:///a\\\"}]*")}},
    {"C-09 C-037 another type of id cancels nothing",
     {CALL("\"1\"", "test_slow", "{\"seconds\":0.2}", ""), CANCEL("1"), RESULT("\"1\"")}},
    {"C-03 C-06 C-037 a cancelled call is not answered, twice or not",
     {CALL("\"1\"", "test_slow", "{\"seconds\":60}", ""), CANCEL("\"1\""), CANCEL("\"1\"")}},
    {"P-01 a ping is answered, while a call runs too",
     {CALL("2", "test_slow", "{\"seconds\":0.3}", ""),
      "> {\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}",
      "< {\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}", RESULT("2")}},
};

struct child {
    pid_t pid;
    FILE *in, *out;
};

static void run(struct server *s, const int in[2], const int out[2])
{
    char component[PATH_MAX + 32], program[PATH_MAX];
    char *real = realpath(server_binary(), NULL);
    snprintf(program, sizeof program, "%s", real ? real : server_binary());
    snprintf(component, sizeof component, "%s/conformance/fixture.so", dirname(program));
    dup2(in[0], 0);
    dup2(out[1], 1);
    close(in[1]);
    close(out[0]);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(60);
    execl(server_binary(), "tenon", "stdio", "--data", s->data, "--component", component,
          (char *)NULL);
    _exit(127);
}

static bool start(struct server *s, struct child *c)
{
    int in[2], out[2];
    if (pipe(in) < 0 || pipe(out) < 0 || (c->pid = fork()) < 0)
        return false;
    if (c->pid == 0)
        run(s, in, out);
    close(in[0]);
    close(out[1]);
    c->in = fdopen(in[1], "w");
    c->out = fdopen(out[0], "r");
    return c->in && c->out;
}

static void say(struct child *c, const char *line, const struct match_vars *vars)
{
    const char *at = strstr(line, "$I"), *id = vars->value['I' - 'A'];
    if (at)
        fprintf(c->in, "%.*s%s%s\n", (int)(at - line), line, id ? id : "", at + 2);
    else
        fprintf(c->in, "%s\n", line);
    fflush(c->in);
}

static bool hear(struct child *c, const char *pattern, struct match_vars *vars)
{
    char *line = NULL, why[512] = "the output ended";
    size_t size = 0;
    bool ok = getline(&line, &size, c->out) > 0 && match_json(pattern, line, vars, why);
    if (!ok)
        tap_note("%s\nwanted %s\n%s", line ? line : "-", pattern, why);
    free(line);
    return ok;
}

static bool play(struct child *c, const char *const *lines)
{
    struct match_vars vars = {0};
    bool ok = true;
    for (int i = 0; ok && i < LINES_MAX && lines[i]; i++)
        if (lines[i][0] == '>')
            say(c, lines[i] + 2, &vars);
        else
            ok = hear(c, lines[i] + 2, &vars);
    match_vars_clear(&vars);
    return ok;
}

static bool nothing_else_came(struct child *c)
{
    static const char *const ping[LINES_MAX] = {
        "> {\"jsonrpc\":\"2.0\",\"id\":\"end\",\"method\":\"ping\"}",
        "< {\"jsonrpc\":\"2.0\",\"id\":\"end\",\"result\":{}}"};
    return play(c, ping);
}

int main(void)
{
    struct server s;
    struct child c = {0};
    int status = -1;
    signal(SIGPIPE, SIG_IGN);
    if (!server_dir(&s) || !start(&s, &c)) {
        tap_ok(false, "it starts");
        return tap_done();
    }
    for (size_t i = 0; i < sizeof talks / sizeof *talks; i++)
        tap_ok(play(&c, talks[i].lines) && nothing_else_came(&c), "%s", talks[i].name);
    fclose(c.in);
    waitpid(c.pid, &status, 0);
    tap_ok(status == 0, "IO-06 it ends with its input");
    fclose(c.out);
    server_remove(&s);
    return tap_done();
}
