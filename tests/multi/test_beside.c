/* tests/multi/test_beside.c - what may run beside a server, and what may not.
 *
 * CLI commands and `tenon stdio` work on the data directory of a running server, and it sees their
 * commits within a second. A second server on the directory, or on the port, is refused.
 */
#include "tests/lib/mcp.h"
#include "tests/lib/match.h"
#include "tests/lib/server.h"
#include "tests/lib/tap.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEEN_MS 1000

/* Does a message get a 200 whose body fits? Without a note when not. */
static bool gives(struct mcp_client *c, const char *message, const char *pattern)
{
    char *body = NULL, why[512];
    struct match_vars vars = {{NULL}};
    bool ok = mcp_post(c, message, &body) == 200 && body && match_json(pattern, body, &vars, why);
    match_vars_clear(&vars);
    free(body);
    return ok;
}

#define CALL(tool, arguments)                                                              \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"" tool \
    "\",\"arguments\":" arguments "}}"
#define RESULT(structured) "{\"result\":{\"structuredContent\":" structured ",...},...}"

/* Runs a command; then within a second the message has to be answered so, on two connections in
 * turn, since each worker has to notice by itself. */
static void seen_after(struct server *s, const char *command, const char *message,
                       const char *pattern, const char *name)
{
    struct mcp_client c[6] = {{.port = 0}};
    bool all = mcp_open(&c[0], s->port, "2025-06-18");
    for (int i = 1; i < 6; i++)
        all = mcp_join(&c[i], s->port, c[0].session) && mcp_ping(&c[i]) && all;
    int status = server_sh(s, command);
    int64_t end = server_now_ms() + SEEN_MS;
    for (int i = 0; i < 6 && all; i++)
        all = server_wait_ms(gives(&c[i], message, pattern), (int)(end - server_now_ms()));
    if (!tap_ok(all && status == 0, "%s", name))
        tap_note("status %d of: %s", status, command);
    for (int i = 0; i < 6; i++)
        mcp_close(&c[i]);
}

static void cli_commits_are_seen(struct server *s)
{
    seen_after(s,
               "echo '{\"key\":\"cli\",\"text\":\"imported\"}' >$DATA.ndjson;"
               "\"$TENON\" import --data \"$DATA\" shop.note \"$DATA.ndjson\"",
               CALL("get_note", "{\"id\":\"cli\"}"),
               RESULT("{\"key\":\"cli\",\"text\":\"imported\"}"),
               "rows imported beside a server are seen within a second");
    seen_after(s, "\"$TENON\" table create --data \"$DATA\" shop.late tests/wire/fixture/note.json",
               CALL("create_late", "{\"key\":\"x\",\"text\":\"y\"}"), "{\"result\":{...},...}",
               "a table made beside a server has tools within a second");
    seen_after(s, "\"$TENON\" table drop --data \"$DATA\" shop.late --yes",
               CALL("get_late", "{\"id\":\"x\"}"), "{\"error\":{\"code\":-32602,...},...}",
               "a table dropped beside a server has none within a second");
}

static void stdio_runs_beside(struct server *s)
{
    static const char script[] =
        "{ echo '{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":"
        "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},"
        "\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}';"
        "  echo '" CALL(
            "create_note",
            "{\"key\":\"stdio\",\"text\":\"written\"}") "';"
                                                        "  echo '" CALL(
                                                            "get_note",
                                                            "{\"id\":\"http\"}") "'; } |"
                                                                                 "\"$TENON\" stdio "
                                                                                 "--data \"$DATA\" "
                                                                                 ">\"$DATA.out\"; "
                                                                                 "grep -q '\"from "
                                                                                 "http\"' "
                                                                                 "\"$DATA.out\"";
    struct mcp_client c;
    bool made = mcp_open(&c, s->port, "2025-06-18") &&
                mcp_call_gives(&c, "create_note", "{\"key\":\"http\",\"text\":\"from http\"}",
                               "{\"result\":{...},...}");
    mcp_close(&c);
    tap_ok(made, "a row is written through the server");
    seen_after(s, script, CALL("get_note", "{\"id\":\"stdio\"}"),
               RESULT("{\"key\":\"stdio\",\"text\":\"written\"}"),
               "stdio beside a server sees its rows, and the server sees those of stdio");
}

/* A second `serve` must end by itself, not with 0, and say something. */
static void refused(struct server *s, const char *flags, const char *name)
{
    char command[512];
    snprintf(command, sizeof command,
             "timeout 10 \"$TENON\" serve %s >\"$DATA.second\" 2>&1 && exit 1;"
             "[ $? -ne 124 ] && grep -qi \"in use\" \"$DATA.second\"",
             flags);
    bool ok = server_sh(s, command) == 0;
    if (!tap_ok(ok, "%s", name))
        server_sh(s, "cat \"$DATA.second\""), server_show_log(s);
}

static void a_second_server_is_refused(struct server *s)
{
    char flags[256];
    struct mcp_client c;
    bool made = mcp_open(&c, s->port, "2025-06-18");
    refused(s, "--data \"$DATA\" --listen 127.0.0.1:0",
            "a second server on the data directory is refused");
    snprintf(flags, sizeof flags, "--data \"$DATA.other\" --listen 127.0.0.1:%u", s->port);
    refused(s, flags, "a second server on the port is refused");
    tap_ok(made && mcp_ping(&c), "the first one goes on");
    mcp_close(&c);
}

/* Local addresses of listening sockets on this port, other than 127.0.0.1. */
static int listens_elsewhere(uint16_t port, int *ret_here)
{
    static const char *const files[] = {"/proc/net/tcp", "/proc/net/tcp6"};
    int elsewhere = 0;
    for (int i = 0; i < 2; i++) {
        FILE *f = fopen(files[i], "r");
        char line[256], address[40];
        unsigned local, state;
        while (f && fgets(line, sizeof line, f)) {
            if (sscanf(line, " %*d: %39[0-9A-F]:%x %*[0-9A-F]:%*x %x", address, &local, &state) !=
                    3 ||
                local != port || state != 0x0A)
                continue;
            bool here = strcmp(address, "0100007F") == 0;
            *ret_here += here;
            elsewhere += !here;
        }
        if (f)
            fclose(f);
    }
    return elsewhere;
}

static void it_listens_on_loopback_only(struct server *s)
{
    int here = 0;
    int elsewhere = listens_elsewhere(s->port, &here);
    tap_ok(here > 0 && elsewhere == 0, "T-04 it listens on 127.0.0.1 and nowhere else");
}

/* As many as before, and none of those. */
static bool all_replaced(const struct server *s, const pid_t *before, int n)
{
    pid_t now[4];
    bool fresh = server_workers(s, now, 4) == n;
    for (int i = 0; i < n && fresh; i++)
        for (int j = 0; j < n; j++)
            fresh = fresh && now[i] != before[j];
    return fresh;
}

static void an_idle_worker_that_dies_is_replaced(struct server *s)
{
    pid_t before[4];
    struct mcp_client c;
    int n = server_workers(s, before, 4), served = 0;
    for (int i = 0; i < n; i++)
        kill(before[i], SIGKILL);
    bool back = server_wait(all_replaced(s, before, n));
    for (int i = 0; i < 20; i++) {
        served += mcp_open(&c, s->port, "2025-06-18") && mcp_ping(&c);
        mcp_close(&c);
    }
    tap_ok(n == 2 && back && served == 20, "both workers killed: new ones serve all that come");
}

static void damaged_data_is_told(struct server *s)
{
    tap_ok(server_stop(s), "the server ends");
    int status = server_sh(s, "cp \"$DATA/data/data.mdb\" \"$DATA.copy\" 2>/dev/null ||"
                              " cp \"$DATA/data.mdb\" \"$DATA.copy\"");
    tap_ok(status == 0, "its data file is found");
    status = server_sh(
        s, "f=\"$DATA/data/data.mdb\"; [ -f \"$f\" ] || f=\"$DATA/data.mdb\";"
           "dd if=/dev/zero of=\"$f\" bs=4096 count=2 conv=notrunc 2>/dev/null;"
           "timeout 20 \"$TENON\" serve --data \"$DATA\" --listen 127.0.0.1:0 >\"$DATA.third\" 2>&1"
           " && exit 1; [ $? -ne 124 ] && grep -qiE \"damaged|corrupt|not a database\" "
           "\"$DATA.third\"");
    if (!tap_ok(status == 0, "a damaged data file: serve says so and ends"))
        server_sh(s, "cat \"$DATA.third\""), server_show_log(s);
    status = server_sh(s, "f=\"$DATA/data/data.mdb\"; [ -f \"$f\" ] || f=\"$DATA/data.mdb\";"
                          "cp \"$DATA.copy\" \"$f\"");
    tap_ok(status == 0 && server_start(s, NULL, NULL, false), "with the file restored it serves");
}

int main(void)
{
    struct server s;
    void (*const tests[])(struct server *) = {cli_commits_are_seen,
                                              stdio_runs_beside,
                                              a_second_server_is_refused,
                                              it_listens_on_loopback_only,
                                              an_idle_worker_that_dies_is_replaced,
                                              damaged_data_is_told};
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
