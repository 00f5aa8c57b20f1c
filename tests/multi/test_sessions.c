/* tests/multi/test_sessions.c - a session belongs to the server, not to a worker or a process.
 *
 * It works on any worker, outlives a restart of any kind, ends everywhere when its client ends it,
 * and expires by the clock, which the test moves (TENON_CLOCK_FILE).
 */
#include "tests/lib/mcp.h"
#include "tests/lib/server.h"
#include "tests/lib/tap.h"

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CONFIG    "{\"mcp\":{\"session\":{\"allowClientDelete\":true,\"idleTimeoutSeconds\":600}}}"
#define JOINS_MAX 500 /* the kernel shares them out as it likes */

static bool start(struct server *s)
{
    return server_start(s, CONFIG, NULL, true);
}

/* ---- S-15 ------------------------------------------------------------------------------------ */

static int count_sockets(pid_t pid)
{
    char path[300], target[64];
    int n = 0;
    snprintf(path, sizeof path, "/proc/%d/fd", pid);
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        snprintf(path, sizeof path, "/proc/%d/fd/%s", pid, e->d_name);
        ssize_t len = readlink(path, target, sizeof target - 1);
        n += len > 7 && memcmp(target, "socket:", 7) == 0;
    }
    if (dir)
        closedir(dir);
    return n;
}

/* How many of the workers hold more sockets than before. */
static int count_used(const pid_t *workers, const int *before, int n_workers)
{
    int used = 0;
    for (int i = 0; i < n_workers; i++)
        used += count_sockets(workers[i]) > before[i];
    return used;
}

/* The kernel chooses the worker of a connection: more of them until all workers hold one. */
static void any_worker_serves_a_session(struct server *s)
{
    static struct mcp_client clients[JOINS_MAX];
    struct mcp_client first;
    pid_t workers[4];
    int before[4] = {0}, joined = 0, served = 0, used = 0,
        n_workers = server_workers(s, workers, 4);
    bool made = mcp_open(&first, s->port, "2025-06-18");
    for (int i = 0; i < n_workers; i++)
        before[i] = count_sockets(workers[i]);
    while (made && joined < JOINS_MAX && served == joined && used < n_workers) {
        struct mcp_client *c = &clients[joined++];
        served += mcp_join(c, s->port, first.session) && mcp_ping(c);
        used = count_used(workers, before, n_workers);
    }
    tap_ok(made && served == joined && n_workers == 2 && used == 2,
           "S-15 a session works on every worker (%d of %d workers, %d of %d connections)", used,
           n_workers, served, joined);
    for (int i = 0; i < joined; i++)
        mcp_close(&clients[i]);
    mcp_close(&first);
}

/* ---- C-047 ----------------------------------------------------------------------------------- */

/* Does it still have the revision it negotiated? 2025-03-26 takes batches, 2025-06-18 does not. */
static bool is_as_before(uint16_t port, const char *session, bool takes_batches)
{
    struct mcp_client c;
    bool ok = mcp_join(&c, port, session) && mcp_ping(&c);
    int status = mcp_post(&c, "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", NULL);
    mcp_close(&c);
    return ok && status == (takes_batches ? 200 : 400);
}

static void a_session_survives_restarts(struct server *s)
{
    struct mcp_client older, newer;
    bool made = mcp_open(&older, s->port, "2025-03-26") && mcp_open(&newer, s->port, "2025-06-18");
    mcp_close(&older);
    mcp_close(&newer);
    bool ok = made && server_stop(s) && start(s) && is_as_before(s->port, older.session, true) &&
              is_as_before(s->port, newer.session, false);
    tap_ok(ok, "C-047 L-20 a session survives an orderly restart, with its revision");
    server_kill(s);
    ok = start(s) && is_as_before(s->port, older.session, true) &&
         is_as_before(s->port, newer.session, false);
    tap_ok(ok, "C-047 a session survives kill -9, with its revision");
}

/* ---- S-05, S-08: DELETE against parallel requests ---------------------------------------------
 */

#define N_POSTERS 6

struct poster {
    pthread_t thread;
    uint16_t port;
    const char *session;
    int alive, gone,
        wrong; /* replies; wrong: 200 to what was sent after the 204, or another status */
};

static _Atomic bool ended, stop_posting;

static void *post_on(void *arg)
{
    struct poster *p = arg;
    struct mcp_client c;
    if (!mcp_join(&c, p->port, p->session))
        p->wrong++;
    while (!stop_posting) {
        bool after = ended;
        int status = mcp_post(&c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", NULL);
        p->alive += status == 200 && !after;
        p->gone += status == 404;
        p->wrong += (status != 200 && status != 404) || (status == 200 && after);
    }
    mcp_close(&c);
    return NULL;
}

static int sum(const struct poster *posters, size_t offset)
{
    int total = 0;
    for (int i = 0; i < N_POSTERS; i++)
        total += *(const int *)((const char *)&posters[i] + offset);
    return total;
}
#define SUM(member) sum(posters, offsetof(struct poster, member))

static void delete_among_posts(struct server *s, char ret_session[128])
{
    static struct poster posters[N_POSTERS];
    struct mcp_client c;
    ended = stop_posting = false;
    bool made = mcp_open(&c, s->port, "2025-06-18");
    for (int i = 0; i < N_POSTERS; i++) {
        posters[i] = (struct poster){.port = s->port, .session = c.session};
        pthread_create(&posters[i].thread, NULL, post_on, &posters[i]);
    }
    server_wait(SUM(alive) >= 50);
    int status = mcp_delete(&c);
    ended = true;
    server_wait(SUM(gone) >= 100);
    stop_posting = true;
    for (int i = 0; i < N_POSTERS; i++)
        pthread_join(posters[i].thread, NULL);
    tap_ok(made && status == 204 && SUM(wrong) == 0,
           "S-05 after DELETE every worker says 404 (%d served before, %d refused, %d wrong)",
           SUM(alive), SUM(gone), SUM(wrong));
    snprintf(ret_session, 128, "%s", c.session);
    mcp_close(&c);
}

static int status_of(uint16_t port, const char *session)
{
    struct mcp_client c;
    if (!mcp_join(&c, port, session))
        return 0;
    int status = mcp_post(&c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", NULL);
    mcp_close(&c);
    return status;
}

static void delete_is_final(struct server *s)
{
    char sessions[3][128];
    int gone = 0;
    for (int i = 0; i < 3; i++)
        delete_among_posts(s, sessions[i]);
    bool again = server_stop(s) && start(s);
    for (int i = 0; i < 3; i++)
        gone += status_of(s->port, sessions[i]) == 404;
    tap_ok(again && gone == 3, "S-05 no ended session comes back with a restart");
}

/* ---- S-05: expiry ---------------------------------------------------------------------------- */

static void sessions_expire(struct server *s)
{
    struct mcp_client active, idle;
    bool made = mcp_open(&active, s->port, "2025-06-18") && mcp_open(&idle, s->port, "2025-06-18");
    mcp_close(&active);
    mcp_close(&idle);
    bool lives = made;
    for (int i = 1; i <= 5 && lives; i++) {
        server_set_clock(s, i * 400000);
        lives = status_of(s->port, active.session) == 200;
        if (i == 1)
            tap_ok(lives && status_of(s->port, idle.session) == 200,
                   "S-15 a session lives within its idle time");
    }
    tap_ok(lives, "S-15 activity extends the life of a session beyond its idle time");
    tap_ok(status_of(s->port, idle.session) == 404, "S-05 an idle session is gone: 404");
    server_set_clock(s, 5 * 400000 + 601000);
    tap_ok(status_of(s->port, active.session) == 404, "S-05 and so is the active one, once idle");
    struct mcp_client next;
    tap_ok(mcp_open(&next, s->port, "2025-06-18") && mcp_ping(&next), "S-07 a new one can be made");
    mcp_close(&next);
}

/* ---- S-02 ------------------------------------------------------------------------------------ */

static int compare_ids(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void ids_differ(struct server *s)
{
    enum { N = 500 };
    static char ids[N][128];
    int made = 0, same = 0;
    for (; made < N; made++) {
        struct mcp_client c;
        if (!mcp_open(&c, s->port, "2025-06-18"))
            break;
        strcpy(ids[made], c.session);
        mcp_close(&c);
    }
    bool plain = true;
    for (int i = 0; i < made; i++) {
        for (const char *p = ids[i]; *p; p++)
            plain = plain && *p >= 0x21 && *p <= 0x7e;
    }
    qsort(ids, (size_t)made, sizeof ids[0], compare_ids);
    for (int i = 1; i < made; i++)
        same += strcmp(ids[i - 1], ids[i]) == 0;
    tap_ok(made == N && same == 0, "S-02 S-12 %d session ids, %d equal", made, same);
    tap_ok(plain && strlen(ids[0]) >= 22,
           "S-03 ids are visible ASCII and long enough for 128 bits");
}

int main(void)
{
    struct server s;
    void (*const tests[])(struct server *) = {any_worker_serves_a_session, ids_differ,
                                              a_session_survives_restarts, delete_is_final,
                                              sessions_expire};
    if (tap_ok(server_dir(&s) && start(&s), "a server with two workers starts")) {
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
