/* tests/bench/rig.c - see rig.h. */
#include "tests/bench/rig.h"

#include "tests/bench/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

void rig_start_as(struct rig *rig, int n_workers, const char *more, const char *before)
{
    char flags[400];
    const char *component = getenv("TENON_STAMP");
    snprintf(flags, sizeof flags, "--workers %d --component %s %s", n_workers,
             component ? component : "build/release/tests/bench/stamp.so", more ? more : "");
    *rig = (struct rig){.n_workers = n_workers};
    remember(rig);
    if (!server_dir(&rig->server) || (before && server_sh(&rig->server, before) != 0) ||
        !server_start(&rig->server, NULL, flags, false) ||
        !server_wait(server_workers(&rig->server, rig->workers, RIG_WORKERS_MAX) == n_workers)) {
        server_show_log(&rig->server);
        report_die("the server does not start");
    }
}

void rig_start(struct rig *rig, int n_workers)
{
    rig_start_as(rig, n_workers, NULL, NULL);
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

int rig_listen(struct http_conn *c, const char *session)
{
    char head[400];
    int n = snprintf(head, sizeof head,
                     "GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n"
                     "Mcp-Session-Id: %s\r\n\r\n",
                     session);
    if (!http_send(c, head, (size_t)n))
        return 0;
    while (!c->n || !memmem(c->in, c->n, "\r\n\r\n", 4) || !memmem(c->in, c->n, ":\n\n", 3))
        if (http_receive(c, HTTP_WAIT_MS) <= 0)
            break;
    int minor, status = 0;
    return c->n && sscanf(c->in, "HTTP/1.%d %3d", &minor, &status) == 2 ? status : 0;
}

double rig_cpu_us(const struct rig *rig)
{
    double us = 0;
    for (int i = 0; i < rig->n_workers; i++) {
        clockid_t clock;
        struct timespec t;
        if (clock_getcpuclockid(rig->workers[i], &clock) || clock_gettime(clock, &t) < 0)
            report_die("the time of worker %d is unknown", (int)rig->workers[i]);
        us += (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
    }
    return us;
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
