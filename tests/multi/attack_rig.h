/* tests/multi/attack_rig.h - how long others wait while a server is attacked, and what stays of it.
 *
 * Each attack is a thread that goes round until it is told to stop. A round that gets another
 * answer than it should is counted as wrong, and the first one is kept for the report. Its threads
 * stand back for others (nice 10): the machine that attacks is not the one that serves.
 *
 * How long others wait is measured while nobody attacks and while all do, by a client that asks one
 * thing after the other. What the machine itself adds when it is busy is measured beside it, in
 * turns: the way to a thread and back over a socket, which no server is part of.
 */
#ifndef TENON_TESTS_ATTACK_RIG_H
#define TENON_TESTS_ATTACK_RIG_H

#include "tests/lib/mcp.h"
#include "tests/lib/server.h"
#include "tests/lib/tap.h"

#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define N_WORKERS   2
#define N_CONNS     4 /* of the client that behaves well: on all workers, most likely */
#define N_IDLE      600
#define ROUNDS      5 /* that each attack makes at least */
#define ATTACK_MS   5000
#define TOO_LONG_MS 15000       /* however few rounds there were */
#define MARGIN_US   100         /* some turns of a scheduler */
#define HEAP_KEPT   (20l << 20) /* of each worker: runtime/net/worker.c keeps 16 MiB */
#define SETTLE_MS   15000

struct target {
    uint16_t port;
    char token[80];       /* good, of one who may read */
    char other_token[80]; /* of another user, to be tampered with */
    char session[128];    /* of that other user */
};

struct attacker {
    const char *name;
    void (*round)(struct attacker *a);
    void (*end)(struct attacker *a); /* NULL: nothing is left */
    const struct target *target;
    pthread_t thread;
    _Atomic unsigned rounds;
    unsigned requests, wrong;
    char first_wrong[200];
    unsigned seed;
    struct http_conn *held; /* of who holds connections; NULL: not yet */
};

static _Atomic bool attacks_end;

/* ---- One request ------------------------------------------------------------------------------*/

static void blame(struct attacker *a, const char *what, int status)
{
    if (!a->wrong++)
        snprintf(a->first_wrong, sizeof a->first_wrong, "%d to %.*s", status,
                 (int)strcspn(what, "\r"), what);
}

/* Status, or 0 where the server just closes. With `ends`, nothing may come behind the reply. */
static int send_raw(struct attacker *a, const char *bytes, size_t n, bool half_close, bool ends)
{
    struct http_conn c;
    struct http_reply r = {0};
    a->requests++;
    if (!http_open(&c, a->target->port))
        return 0;
    http_send(&c, bytes, n);
    if (half_close)
        shutdown(c.fd, SHUT_WR);
    enum http_got got = http_read(&c, false, &r);
    int status = got == HTTP_REPLY ? r.status : got == HTTP_END ? 0 : got;
    if (ends && status > 0 && (c.n || !http_wait_end(&c)))
        blame(a, "more than one reply", status);
    if (got == HTTP_REPLY)
        http_free(&r);
    http_close(&c);
    return status;
}

/* ---- All attacks ------------------------------------------------------------------------------*/

static void *attack(void *arg)
{
    struct attacker *a = arg;
    setpriority(PRIO_PROCESS, 0, 10); /* of this thread */
    while (!attacks_end) {
        a->round(a);
        a->rounds++;
    }
    if (a->end)
        a->end(a);
    return NULL;
}

static struct attacker *attackers;
static size_t n_attackers;

static void attacks_start(const struct target *target)
{
    attacks_end = false;
    for (size_t i = 0; i < n_attackers; i++) {
        attackers[i].target = target;
        attackers[i].seed = (unsigned)i + 1;
        attackers[i].rounds = 0;
        if (pthread_create(&attackers[i].thread, NULL, attack, &attackers[i]))
            abort();
    }
}

static void attacks_stop(void)
{
    attacks_end = true;
    for (size_t i = 0; i < n_attackers; i++)
        pthread_join(attackers[i].thread, NULL);
}

/* Each has gone round so often. */
static bool attacks_have_made(unsigned rounds)
{
    for (size_t i = 0; i < n_attackers; i++)
        if (attackers[i].rounds < rounds)
            return false;
    return true;
}

/* ---- A server with two users ------------------------------------------------------------------*/

/* The first line that a command says. */
static bool ask_shell(struct server *s, const char *command, char *ret, size_t size)
{
    char path[128], line[512];
    snprintf(path, sizeof path, "%s/said", s->dir);
    snprintf(line, sizeof line, "%s >%s", command, path);
    FILE *said = server_sh(s, line) == 0 ? fopen(path, "r") : NULL;
    bool ok = said && fgets(ret, (int)size, said);
    if (said)
        fclose(said);
    if (ok)
        ret[strcspn(ret, "\n")] = 0;
    unlink(path);
    return ok;
}

static bool make_users(struct server *s, struct target *t)
{
    return server_sh(s, "echo '{\"super_user\": true}' >$DATA.role;"
                        "$TENON role put boss $DATA.role --data $DATA;"
                        "echo '{\"databases\": {\"*\": {\"describe\": true}}}' >$DATA.role;"
                        "$TENON role put guest $DATA.role --data $DATA;"
                        "$TENON user create ada --role boss --data $DATA;"
                        "$TENON user create bob --role guest --data $DATA") == 0 &&
           ask_shell(s, "$TENON token create ada --data $DATA", t->other_token, 80) &&
           ask_shell(s, "$TENON token create bob --data $DATA", t->token, 80);
}

/* ---- What it holds ----------------------------------------------------------------------------*/

struct holding {
    int n_workers;
    pid_t workers[N_WORKERS + 2];
    int fds[N_WORKERS + 2];
    long bytes[N_WORKERS + 2];
    int sessions;
};

static int count_fds(pid_t pid)
{
    char path[64];
    int n = 0;
    snprintf(path, sizeof path, "/proc/%d/fd", pid);
    DIR *dir = opendir(path);
    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n;
}

static long resident_bytes(pid_t pid)
{
    char path[64];
    long pages = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", pid);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%*d %ld", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

static int count_sessions(struct server *s)
{
    char n[32] = "-1";
    ask_shell(s, "$TENON session list --data $DATA | wc -l", n, sizeof n);
    return atoi(n);
}

static struct holding look(struct server *s)
{
    struct holding h = {.sessions = count_sessions(s)};
    h.n_workers = server_workers(s, h.workers, N_WORKERS + 2);
    for (int i = 0; i < h.n_workers; i++) {
        h.fds[i] = count_fds(h.workers[i]);
        h.bytes[i] = resident_bytes(h.workers[i]);
    }
    return h;
}

static bool has_fds_of(const struct holding *before)
{
    for (int i = 0; i < before->n_workers; i++)
        if (count_fds(before->workers[i]) != before->fds[i])
            return false;
    return true;
}

static bool is_sanitized(void)
{
    const char *sanitized = getenv("TENON_ASAN");
    return sanitized && strcmp(sanitized, server_binary()) == 0;
}

static void nothing_stays(struct server *s, const struct holding *before)
{
    bool fds = server_wait_ms(has_fds_of(before), SETTLE_MS);
    struct holding after = look(s);
    bool same = after.n_workers == before->n_workers &&
                memcmp(after.workers, before->workers, sizeof after.workers) == 0;
    long grown = 0;
    for (int i = 0; i < after.n_workers; i++)
        if (after.bytes[i] - before->bytes[i] > grown)
            grown = after.bytes[i] - before->bytes[i];
    tap_ok(same, "no worker ended");
    tap_ok(fds, "the workers have the descriptors that they had (%d and %d of %d and %d)",
           after.fds[0], after.fds[1], before->fds[0], before->fds[1]);
    tap_ok(after.sessions == before->sessions, "there are the sessions that there were (%d of %d)",
           after.sessions, before->sessions);
    tap_ok(grown <= HEAP_KEPT || is_sanitized(), "a worker has grown by no more than %ld MiB (%ld)",
           HEAP_KEPT >> 20, grown >> 20);
}

/* ---- How long others wait ---------------------------------------------------------------------*/

static int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

struct waits {
    unsigned n, failed;
    int64_t us[1 << 18], echo_us[1 << 18];
};

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Orders the values. */
static int64_t quantile(int64_t *us, unsigned n, unsigned percent)
{
    qsort(us, n, sizeof *us, by_size);
    return n ? us[(uint64_t)(n - 1) * percent / 100] : 0;
}

static void *echo(void *arg)
{
    int fd = *(int *)arg;
    char c;
    while (recv(fd, &c, 1, 0) == 1 && send(fd, &c, 1, MSG_NOSIGNAL) == 1)
        continue;
    return NULL;
}

struct client {
    struct mcp_client conns[N_CONNS];
    int echo[2];
    pthread_t echo_thread;
};

static void measure(struct client *c, struct waits *w)
{
    char byte = 'x';
    int64_t start_us = now_us();
    w->failed += !mcp_ping(&c->conns[w->n % N_CONNS]);
    int64_t answered_us = now_us();
    if (send(c->echo[0], &byte, 1, MSG_NOSIGNAL) == 1 && recv(c->echo[0], &byte, 1, 0) == 1)
        w->echo_us[w->n] = now_us() - answered_us;
    w->us[w->n++] = answered_us - start_us;
}

static bool client_open(struct client *c, const struct target *t)
{
    http_token = t->other_token;
    bool ok = mcp_open(&c->conns[0], t->port, "2025-06-18");
    for (int i = 1; ok && i < N_CONNS; i++)
        ok = mcp_join(&c->conns[i], t->port, c->conns[0].session) && mcp_ping(&c->conns[i]);
    return ok && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, c->echo) == 0 &&
           pthread_create(&c->echo_thread, NULL, echo, &c->echo[1]) == 0;
}

static void client_close(struct client *c)
{
    for (int i = 0; i < N_CONNS; i++)
        mcp_close(&c->conns[i]);
    close(c->echo[0]);
    pthread_join(c->echo_thread, NULL);
    close(c->echo[1]);
}

static void attack_all(struct client *c, const struct target *t, struct waits *w)
{
    int64_t start_ms = server_now_ms(), ms = 0;
    attacks_start(t);
    while ((ms < ATTACK_MS || !attacks_have_made(ROUNDS)) && ms < TOO_LONG_MS &&
           w->n < sizeof w->us / sizeof *w->us) {
        measure(c, w);
        ms = server_now_ms() - start_ms;
    }
    attacks_stop();
}

static void compare(struct waits *idle, struct waits *attacked)
{
    int64_t before = quantile(idle->us, idle->n, 50), now = quantile(attacked->us, attacked->n, 50);
    int64_t echo_before = quantile(idle->echo_us, idle->n, 50);
    int64_t busy = quantile(attacked->echo_us, attacked->n, 50) - echo_before;
    int64_t most = 2 * before + 2 * (busy > 0 ? busy : 0) + (is_sanitized() ? 10 : 1) * MARGIN_US;
    tap_ok(attacked->failed == 0 && idle->failed == 0, "each of %u requests of others is answered",
           attacked->n + idle->n);
    tap_ok(now <= most, "others wait %lld us, %lld when nobody attacks (at most %lld)",
           (long long)now, (long long)before, (long long)most);
    tap_note("99%%: %lld and %lld us; a busy machine adds %lld us to the way there and back",
             (long long)quantile(attacked->us, attacked->n, 99),
             (long long)quantile(idle->us, idle->n, 99), (long long)busy);
}

static void report(void)
{
    for (size_t i = 0; i < n_attackers; i++) {
        const struct attacker *a = &attackers[i];
        tap_ok(a->wrong == 0 && a->rounds >= ROUNDS, "%s: %u requests, refused as they should be",
               a->name, a->requests);
        if (a->wrong)
            tap_note("%u wrong, first: %s", a->wrong, a->first_wrong);
    }
}

static void run_attacks(struct server *s, struct target *t)
{
    static struct client client;
    static struct waits idle, attacked;
    bool ok = client_open(&client, t);
    tap_ok(ok, "a user has a session on %d connections", N_CONNS);
    if (!ok)
        return;
    snprintf(t->session, sizeof t->session, "%s", client.conns[0].session);
    while (idle.n < N_IDLE)
        measure(&client, &idle);
    struct holding before = look(s);
    attack_all(&client, t, &attacked);
    report();
    compare(&idle, &attacked);
    nothing_stays(s, &before);
    tap_ok(mcp_ping(&client.conns[0]), "the session of before goes on");
    client_close(&client);
}

/* Returns the exit status of the program. `config` as server_start takes it. */
static int attack_server(struct server *s, const char *config, struct attacker *all, size_t n)
{
    static struct target target;
    attackers = all;
    n_attackers = n;
    bool ok = make_users(s, &target) && server_start(s, config, "--workers 2", false);
    if (tap_ok(ok, "a server with users starts")) {
        target.port = s->port;
        run_attacks(s, &target);
        tap_ok(server_stop(s), "it stops in good order");
    }
    int failed = tap_done();
    if (failed)
        server_show_log(s);
    server_remove(s);
    return failed;
}

#endif
