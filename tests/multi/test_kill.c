/* tests/multi/test_kill.c - kill -9 in the middle of 1,000 creates.
 *
 * Eight clients create rows as fast as they are answered, each with a session that it replaces now
 * and then. When a third is acknowledged, a worker is killed, or the server with all its processes.
 * Afterwards every acknowledged row reads back exactly as it was sent and every acknowledged
 * session is served; what was in flight is there whole or not at all.
 */
#include "tests/lib/mcp.h"
#include "tests/lib/match.h"
#include "tests/lib/server.h"
#include "tests/lib/tap.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_CLIENTS       8
#define N_ROWS          125 /* of each client */
#define SESSION_EVERY   25
#define SESSIONS_MAX    (N_ROWS / SESSION_EVERY + 1)
#define KILL_AFTER_ROWS (N_CLIENTS * N_ROWS / 3)
#define TEXT_BYTES      700

enum fate { NOT_SENT, ACKNOWLEDGED, UNKNOWN, REFUSED };

struct writer {
    pthread_t thread;
    int number;
    uint16_t port;
    bool go_on; /* after a broken connection: the server is expected back */
    enum fate rows[N_ROWS];
    char sessions[SESSIONS_MAX][128];
    int n_sessions;
    int breaks;
};

static _Atomic int n_acknowledged;

/* A text that tells its row, so that a mixed-up or cut one shows. */
static void write_row(char *out, size_t size, int writer, int row)
{
    int n = snprintf(out, size, "{\"key\":\"%d-%d\",\"text\":\"", writer, row);
    for (int i = 0; i < TEXT_BYTES / 10; i++)
        n += snprintf(out + n, size - (size_t)n, "%02d.%03d.%02d ", writer, row, i);
    snprintf(out + n, size - (size_t)n, "\"}");
}

static bool renew_session(struct writer *w, struct mcp_client *c)
{
    mcp_close(c);
    for (int i = 0; i < 100; i++) {
        if (mcp_open(c, w->port, "2025-06-18")) {
            snprintf(w->sessions[w->n_sessions++], 128, "%s", c->session);
            return true;
        }
        w->breaks++;
        if (!w->go_on)
            return false;
    }
    return false;
}

static enum fate create(struct mcp_client *c, int writer, int row)
{
    char text[TEXT_BYTES * 2];
    char *body = NULL;
    write_row(text, sizeof text, writer, row);
    int status = mcp_call(c, "create_note", text, &body);
    bool fine = status == 200 && body && strstr(body, "\"result\"") && !strstr(body, "\"isError\"");
    free(body);
    return fine ? ACKNOWLEDGED : status == 0 ? UNKNOWN : REFUSED;
}

static void *write_all(void *arg)
{
    struct writer *w = arg;
    struct mcp_client c = {.conn.fd = -1};
    for (int row = 0; row < N_ROWS; row++) {
        if (row % SESSION_EVERY == 0 && !renew_session(w, &c))
            break;
        w->rows[row] = create(&c, w->number, row);
        n_acknowledged += w->rows[row] == ACKNOWLEDGED;
        if (w->rows[row] != UNKNOWN)
            continue;
        w->breaks++;
        if (!w->go_on || !mcp_reconnect(&c))
            break;
    }
    mcp_close(&c);
    return NULL;
}

/* ---- Looking at what is there ---------------------------------------------------------------- */

static bool is_there(struct mcp_client *c, int writer, int row, bool may_be_absent)
{
    char text[TEXT_BYTES * 2], arguments[64], why[512] = "";
    char *body = NULL, *pattern = NULL;
    struct match_vars vars = {{NULL}};
    write_row(text, sizeof text, writer, row);
    snprintf(arguments, sizeof arguments, "{\"id\":\"%d-%d\"}", writer, row);
    int status = mcp_call(c, "get_note", arguments, &body);
    bool absent = status == 200 && body && strstr(body, "\"isError\":true");
    if (asprintf(&pattern, "{\"result\":{\"structuredContent\":%s,...},...}", text) < 0)
        abort();
    bool ok = (absent && may_be_absent) ||
              (status == 200 && body && match_json(pattern, body, &vars, why));
    if (!ok)
        tap_note("row %d-%d: status %d, %s%s", writer, row, status, absent ? "absent " : "", why);
    free(body);
    free(pattern);
    return ok;
}

static void check_rows(struct writer *writers, uint16_t port, const char *after)
{
    struct mcp_client c;
    int n[4] = {0}, lost = 0, halves = 0;
    if (!tap_ok(mcp_open(&c, port, "2025-06-18"), "a new session is made after %s", after))
        return;
    for (int i = 0; i < N_CLIENTS; i++) {
        for (int row = 0; row < N_ROWS; row++) {
            enum fate fate = writers[i].rows[row];
            n[fate]++;
            if (fate == ACKNOWLEDGED)
                lost += !is_there(&c, i, row, false);
            else if (fate == UNKNOWN)
                halves += !is_there(&c, i, row, true);
        }
    }
    mcp_close(&c);
    tap_ok(lost == 0, "all of %d acknowledged rows are as sent after %s", n[ACKNOWLEDGED], after);
    tap_ok(halves == 0, "%d rows in flight are whole or absent after %s", n[UNKNOWN], after);
    tap_ok(n[REFUSED] == 0, "no row was refused around %s", after);
    tap_ok(n[UNKNOWN] > 0, "%s came in the middle of the creates", after);
}

static void check_sessions(struct writer *writers, uint16_t port, const char *after)
{
    int n = 0, lost = 0;
    for (int i = 0; i < N_CLIENTS; i++) {
        for (int s = 0; s < writers[i].n_sessions; s++, n++) {
            struct mcp_client c;
            lost += !mcp_join(&c, port, writers[i].sessions[s]) || !mcp_ping(&c);
            mcp_close(&c);
        }
    }
    tap_ok(lost == 0 && n > 0, "all of %d acknowledged sessions are served after %s", n, after);
}

/* ---- The two kills --------------------------------------------------------------------------- */

static void run_writers(struct writer *writers, struct server *s, bool go_on,
                        void (*kill_it)(struct server *s))
{
    n_acknowledged = 0;
    for (int i = 0; i < N_CLIENTS; i++) {
        writers[i] = (struct writer){.number = i, .port = s->port, .go_on = go_on};
        pthread_create(&writers[i].thread, NULL, write_all, &writers[i]);
    }
    server_wait(n_acknowledged >= KILL_AFTER_ROWS);
    kill_it(s);
    for (int i = 0; i < N_CLIENTS; i++)
        pthread_join(writers[i].thread, NULL);
}

static void kill_worker(struct server *s)
{
    pid_t workers[8];
    int n = server_workers(s, workers, 8);
    if (n > 0)
        kill(workers[n - 1], SIGKILL);
}

static void worker_is_killed(struct server *s)
{
    static struct writer writers[N_CLIENTS];
    const char *what = "the kill of a worker";
    pid_t before[8], after[8];
    int n_before = server_workers(s, before, 8);
    run_writers(writers, s, true, kill_worker);
    check_rows(writers, s->port, what);
    check_sessions(writers, s->port, what);
    bool back = server_wait(server_workers(s, after, 8) == n_before);
    tap_ok(back && n_before == 2, "there are two workers again");
}

static void server_is_killed(struct server *s)
{
    static struct writer writers[N_CLIENTS];
    const char *what = "the kill of the server";
    run_writers(writers, s, false, server_kill);
    if (!tap_ok(server_start(s, NULL, NULL, false), "it starts again after kill -9"))
        return;
    check_rows(writers, s->port, what);
    check_sessions(writers, s->port, what);
}

static bool fresh(struct server *s)
{
    return server_dir(s) && server_sh(s, "bash tests/wire/fixture.bash") == 0 &&
           server_start(s, NULL, NULL, false);
}

static void with_server(void (*test)(struct server *s))
{
    struct server s;
    if (tap_ok(fresh(&s), "a server with two workers starts")) {
        test(&s);
        if (!tap_ok(server_stop(&s), "it ends well"))
            server_show_log(&s);
    } else {
        server_show_log(&s);
    }
    server_remove(&s);
}

int main(void)
{
    with_server(worker_is_killed);
    with_server(server_is_killed);
    return tap_done();
}
