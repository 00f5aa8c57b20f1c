/* tests/bench/rig.c - see rig.h. */
#include "tests/bench/rig.h"

#include "tests/bench/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RIGS_MAX     8
#define CONNECTS_MAX 500

static struct rig *rigs[RIGS_MAX];

static void clean_up(void)
{
    for (int i = 0; i < RIGS_MAX; i++)
        if (rigs[i]) {
            server_kill(&rigs[i]->server);
            server_remove(&rigs[i]->server);
        }
}

static void remember(struct rig *rig)
{
    static bool is_registered;
    if (!is_registered)
        atexit(clean_up);
    is_registered = true;
    for (int i = 0; i < RIGS_MAX; i++)
        if (!rigs[i]) {
            rigs[i] = rig;
            return;
        }
    report_die("too many servers");
}

void rig_start(struct rig *rig, int n_workers)
{
    char flags[300];
    const char *component = getenv("TENON_STAMP");
    snprintf(flags, sizeof flags, "--workers %d --component %s", n_workers,
             component ? component : "build/release/tests/bench/stamp.so");
    *rig = (struct rig){.n_workers = n_workers};
    remember(rig);
    if (!server_dir(&rig->server) || !server_start(&rig->server, NULL, flags, false) ||
        !server_wait(server_workers(&rig->server, rig->workers, RIG_WORKERS_MAX) == n_workers)) {
        server_show_log(&rig->server);
        report_die("the server does not start");
    }
}

void rig_stop(struct rig *rig)
{
    if (!server_stop(&rig->server)) {
        server_show_log(&rig->server);
        report_die("the server does not stop in good order");
    }
    server_remove(&rig->server);
    for (int i = 0; i < RIGS_MAX; i++)
        if (rigs[i] == rig)
            rigs[i] = NULL;
}

void rig_session(struct http_conn *c, char ret[128])
{
    if (!http_handshake(c, "2025-06-18", ret) || !ret[0])
        report_die("the handshake failed");
}

void rig_connect(struct rig *rig, struct http_conn *ret)
{
    if (!http_open(ret, rig->server.port))
        report_die("the server takes no connection");
}

pid_t rig_where(struct http_conn *c, const char *session)
{
    struct http_reply r = {0};
    int pid = 0;
    bool ok = http_post(c, session, "2025-06-18",
                        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
                        "\"name\":\"where\",\"arguments\":{}}}",
                        &r) == HTTP_REPLY;
    const char *found = ok ? strstr(r.body, "worker ") : NULL;
    ok = found && sscanf(found, "worker %d.", &pid) == 1;
    http_free(&r);
    if (!ok)
        report_die("the server does not say which worker it is");
    return pid;
}

void rig_connect_to(struct rig *rig, const char *session, pid_t worker, bool is_other,
                    struct http_conn *ret)
{
    for (int i = 0; i < CONNECTS_MAX; i++) {
        rig_connect(rig, ret);
        if ((rig_where(ret, session) == worker) != is_other)
            return;
        http_close(ret);
    }
    report_die("no connection reached the worker that it should");
}
