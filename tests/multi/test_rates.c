/* tests/multi/test_rates.c - rates, quotas and running calls are counted over all workers.
 *
 * Issue 6, Shown by 3: 1,000 parallel calls against a limit of 100 over 4 workers admit exactly
 * 100; of a bucket that gives nothing back meanwhile, and of a quota, also after kill -9.
 */
#include "tests/lib/mcp.h"
#include "tests/lib/server.h"
#include "tests/lib/tap.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_THREADS 40
#define N_CALLS   25 /* of a thread: 1,000 together */
#define LIMIT     100
#define HELD      6

static bool start(struct server *s, const char *limits)
{
    char config[512];
    const char *live = getenv("TENON_LIVE");
    snprintf(config, sizeof config, "{\"components\":[\"%s\"],\"mcp\":{\"application\":{%s}}}",
             live ? live : "build/release/tests/multi/live.so", limits);
    s->is_limited = true;
    return server_start(s, config, "--workers 4", false);
}

static bool begin(struct server *s, const char *limits)
{
    return tap_ok(server_dir(s) && start(s, limits), "a server with %s", limits);
}

static void end(struct server *s)
{
    if (!tap_ok(server_stop(s), "it ends well"))
        server_show_log(s);
    server_remove(s);
}

/* ---- Many calls at a time ------------------------------------------------------------------- */

struct flood {
    uint16_t port;
    const char *session; /* NULL: each thread has its own */
    const char *kind;    /* of a denial */
    _Atomic int n_admitted, n_denied, n_other;
};

static void call(struct flood *f, struct mcp_client *c)
{
    char *body = NULL;
    int status = mcp_call(c, "tell", "{\"call\":1}", &body);
    if (status == 200 && body && strstr(body, f->kind) && strstr(body, "\"isError\":true"))
        f->n_denied++;
    else if (status == 200 && body && strstr(body, "told 1"))
        f->n_admitted++;
    else if (f->n_other++ == 0)
        tap_note("%d %s", status, body ? body : "");
    free(body);
}

static void *flood(void *arg)
{
    struct flood *f = arg;
    struct mcp_client c;
    bool ok = f->session ? mcp_join(&c, f->port, f->session) : mcp_open(&c, f->port, "2025-06-18");
    for (int i = 0; i < N_CALLS; i++)
        if (ok)
            call(f, &c);
        else
            f->n_other++;
    mcp_close(&c);
    return NULL;
}

static void run_flood(struct flood *f)
{
    pthread_t threads[N_THREADS];
    for (int i = 0; i < N_THREADS; i++)
        if (pthread_create(&threads[i], NULL, flood, f))
            abort();
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void expect(struct flood *f, int n_admitted, const char *what)
{
    tap_ok(f->n_admitted == n_admitted && f->n_other == 0 &&
               f->n_denied == N_THREADS * N_CALLS - n_admitted,
           "%s: of %d parallel calls over 4 workers %d are admitted (%d denied, %d else)", what,
           N_THREADS * N_CALLS, f->n_admitted, f->n_denied, f->n_other);
}

static void a_bucket_admits_exactly_its_burst(void)
{
    struct server s;
    struct mcp_client one, two;
    if (begin(&s, "\"rateLimit\":{\"perToolPerSecond\":0.001,\"perToolBurst\":100,"
                  "\"sessionPerSecond\":0,\"sessionConcurrency\":0}") &&
        mcp_open(&one, s.port, "2025-06-18") && mcp_open(&two, s.port, "2025-06-18")) {
        struct flood first = {.port = s.port, .session = one.session, .kind = "rate_limited"};
        struct flood second = {.port = s.port, .session = two.session, .kind = "rate_limited"};
        run_flood(&first);
        expect(&first, LIMIT, "a bucket");
        run_flood(&second);
        expect(&second, LIMIT, "that one session flooded denies another nothing");
        mcp_close(&one);
        mcp_close(&two);
    }
    end(&s);
}

static void a_client_has_one_bucket_for_all_its_sessions(void)
{
    struct server s;
    if (begin(&s, "\"rateLimit\":{\"perToolPerSecond\":0,\"sessionPerSecond\":0,"
                  "\"perClientPerSecond\":0.001,\"perClientBurst\":100}")) {
        struct flood f = {.port = s.port, .kind = "per_client"};
        run_flood(&f);
        expect(&f, LIMIT, "a client with 40 sessions");
    }
    end(&s);
}

static void a_quota_admits_exactly_what_it_says(void)
{
    static const char limits[] = "\"rateLimit\":{\"perToolPerSecond\":0,\"sessionPerSecond\":0,"
                                 "\"sessionConcurrency\":0},"
                                 "\"quota\":{\"perUser\":100,\"windowSeconds\":31622400}";
    struct server s;
    if (begin(&s, limits)) {
        struct flood f = {.port = s.port, .kind = "quota_exceeded"};
        run_flood(&f);
        expect(&f, LIMIT, "a quota");
        struct flood again = {.kind = "quota_exceeded"};
        server_kill(&s);
        bool ok = start(&s, limits);
        again.port = s.port;
        if (ok)
            run_flood(&again);
        expect(&again, 0, "the same quota after kill -9");
    }
    end(&s);
}

/* ---- Behind a proxy ------------------------------------------------------------------------- */

static bool read_as(struct server *s, const char *session, const char *header, int wanted)
{
    static const char body[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\","
                               "\"params\":{\"uri\":\"tenon://about\"}}";
    char request[1024];
    struct http_conn c;
    struct http_reply reply = {0};
    int n = snprintf(request, sizeof request,
                     "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                     "Accept: application/json, text/event-stream\r\nMcp-Session-Id: %s\r\n"
                     "%sContent-Length: %zu\r\n\r\n%s",
                     session, header, strlen(body), body);
    bool ok = http_open(&c, s->port) && http_send(&c, request, (size_t)n) &&
              http_read(&c, false, &reply) == HTTP_REPLY && reply.status == wanted &&
              (wanted != 429 || http_header(&reply, "Retry-After"));
    if (!ok)
        tap_note("%s-> %d, wanted %d", header, reply.status, wanted);
    http_free(&reply);
    http_close(&c);
    return ok;
}

/* One that libwebsockets knows and one that it does not. */
static void a_header_says_who_it_is(const char *name)
{
    struct server s;
    struct mcp_client c;
    char limits[300], a[100], b[100], other[100];
    snprintf(limits, sizeof limits,
             "\"rateLimit\":{\"perClientPerSecond\":0.001,\"perClientBurst\":1,"
             "\"identityHeader\":\"%s\"}",
             name);
    snprintf(a, sizeof a, "%s: 10.0.0.1\r\n", name);
    snprintf(b, sizeof b, "%s: 10.0.0.2, 10.0.0.1\r\n", name);
    snprintf(other, sizeof other, "X-%s: 10.0.0.3\r\n", name);
    bool ok = begin(&s, limits) && mcp_open(&c, s.port, "2025-06-18");
    ok = ok && read_as(&s, c.session, a, 200) && read_as(&s, c.session, b, 200) &&
         read_as(&s, c.session, "", 200);
    tap_ok(ok, "each value of %s is a client, and so is the address", name);
    ok = ok && read_as(&s, c.session, a, 429) && read_as(&s, c.session, b, 429) &&
         read_as(&s, c.session, other, 429);
    tap_ok(ok, "and each is denied by 429 with Retry-After; another header says nothing");
    mcp_close(&c);
    end(&s);
}

/* ---- Running calls -------------------------------------------------------------------------- */

/* 1: it runs; 0: it is denied; -1: something else. */
static int hold(struct http_conn *c, uint16_t port, const char *session)
{
    static const char body[] =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
        "\"name\":\"hold\",\"arguments\":{},\"_meta\":{\"progressToken\":1}}}";
    char request[1024];
    int n = snprintf(request, sizeof request,
                     "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                     "Accept: application/json, text/event-stream\r\nMcp-Session-Id: %s\r\n"
                     "Content-Length: %zu\r\n\r\n%s",
                     session, strlen(body), body);
    if (!http_open(c, port) || !http_send(c, request, (size_t)n))
        return -1;
    while (http_receive(c, HTTP_WAIT_MS) > 0) {
        char *text = strndup(c->in, c->n);
        int got = strstr(text, "\\\"concurrency\\\"")      ? 0
                  : strstr(text, "notifications/progress") ? 1
                                                           : -1;
        free(text);
        if (got >= 0)
            return got;
    }
    return -1;
}

/* As many as are admitted; the first that is denied ends it. */
static int hold_all(struct http_conn *conns, int max, uint16_t port, const char *session)
{
    int n = 0, got;
    while (n < max && (got = hold(&conns[n], port, session)) == 1)
        n++;
    if (n < max)
        http_close(&conns[n]);
    return n < max && got < 0 ? -1 : n;
}

/* Those that have ended are closed, and the rest moves up. */
static int sort_out(struct http_conn *conns, int n)
{
    int n_left = 0;
    for (int i = 0; i < n; i++) {
        while (!conns[i].ended && http_receive(&conns[i], 20) > 0)
            ;
        if (conns[i].ended)
            http_close(&conns[i]);
        else
            conns[n_left++] = conns[i];
    }
    return n_left;
}

static void what_a_dead_worker_ran_counts_no_more(struct server *s, const char *session)
{
    struct http_conn conns[3 * HELD];
    pid_t workers[4], now[4];
    int n_workers = server_workers(s, workers, 4), n_lost_all = 0;
    int n = hold_all(conns, 2 * HELD, s->port, session);
    tap_ok(n == HELD && n_workers == 4, "%d calls of a session run, one more is denied", n);
    for (int i = 0; i < n_workers && n >= 0; i++) {
        kill(workers[i], SIGKILL);
        bool back = server_wait(server_workers(s, now, 4) == 4 && kill(workers[i], 0) != 0);
        int n_left = sort_out(conns, n), n_lost = n - n_left;
        int n_new = hold_all(conns + n_left, 2 * HELD, s->port, session);
        tap_ok(back && n_new == n_lost, "a worker with %d of them is killed: %d more may run",
               n_lost, n_new);
        n_lost_all += n_lost;
        n = n_left + (n_new < 0 ? 0 : n_new);
    }
    tap_ok(n_lost_all > 0, "there were calls on workers that died: %d", n_lost_all);
    for (int i = 0; i < n; i++)
        http_close(&conns[i]);
}

static void calls_that_run_are_counted_over_all_workers(void)
{
    struct server s;
    struct mcp_client one, two;
    if (begin(&s, "\"rateLimit\":{\"perToolPerSecond\":0,\"sessionPerSecond\":0,"
                  "\"sessionConcurrency\":6}") &&
        mcp_open(&one, s.port, "2025-06-18") && mcp_open(&two, s.port, "2025-06-18")) {
        what_a_dead_worker_ran_counts_no_more(&s, one.session);
        struct http_conn conns[2 * HELD];
        int n = hold_all(conns, 2 * HELD, s.port, two.session);
        tap_ok(n == HELD, "another session has its own: %d", n);
        for (int i = 0; i < n; i++)
            http_close(&conns[i]);
        mcp_close(&one);
        mcp_close(&two);
    }
    end(&s);
}

/* ---- Caps that the settings lower ----------------------------------------------------------- */

/* Whoever was refused before may not be gone yet. */
static bool joins(struct mcp_client *c, uint16_t port, const char *session)
{
    if (mcp_join(c, port, session) && mcp_ping(c))
        return true;
    mcp_close(c);
    return false;
}

static void sessions_and_connections_have_the_caps_of_the_settings(void)
{
    struct server s;
    struct mcp_client clients[3] = {[2] = {.conn.fd = -1}};
    struct http_reply reply;
    bool ok = server_dir(&s) && server_start(&s,
                                             "{\"maxConnections\":3,"
                                             "\"mcp\":{\"session\":{\"max\":2}}}",
                                             "--workers 1", false);
    int n = 0;
    while (ok && n < 3 && mcp_open(&clients[n], s.port, "2025-06-18"))
        n++;
    tap_ok(ok && n == 2, "a server with room for 2 sessions makes %d", n);
    struct http_conn more;
    bool third = ok && server_wait(joins(&clients[2], s.port, clients[0].session));
    bool refused = third && http_open(&more, s.port) &&
                   http_read(&more, false, &reply) == HTTP_REPLY && reply.status == 503;
    tap_ok(refused, "with room for 3 connections it serves the third and refuses the fourth");
    if (refused)
        http_free(&reply);
    if (third)
        http_close(&more);
    mcp_close(&clients[2]);
    for (int i = 0; i < n; i++)
        mcp_close(&clients[i]);
    end(&s);
}

int main(void)
{
    sessions_and_connections_have_the_caps_of_the_settings();
    a_bucket_admits_exactly_its_burst();
    a_client_has_one_bucket_for_all_its_sessions();
    a_quota_admits_exactly_what_it_says();
    a_header_says_who_it_is("X-Forwarded-For");
    a_header_says_who_it_is("X-Real-IP");
    calls_that_run_are_counted_over_all_workers();
    return tap_done();
}
