/* tests/bench/bench_subscriptions.c - how soon a commit is told to who subscribed, and what
 * subscriptions to other rows cost; `make bench-subscriptions`. Options: --commits (of each line),
 * --subscribers, --subscriptions, --rounds.
 *
 * Times: two workers, all streams on the first, who commits is connected to that or to the other.
 * One commit at a time, with the store durable and not. The time begins when the request to commit
 * is sent, so the request and the commit are part of it; that from its answer, which comes after
 * the commit, is below (negative: the event was first).
 *
 * Cost: three servers, whose workers commit in turns: one has no subscription, one has sessions
 * that listen, with one each, one has many more. None is to the row that changes. What is compared
 * is the processor time of the workers per commit.
 *
 * Exit status 1: a target is missed; 2: something went wrong.
 */
#include "tests/bench/asker.h"
#include "tests/bench/report.h"
#include "tests/bench/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define N_WORKERS       2
#define SUBSCRIBERS_MAX 8000
#define COMMITS_MAX     100000
#define EVENTS_MAX      4000000 /* of a line */
#define BUFFER_BYTES    4096
#define WAIT_MS         20000
#define SECONDS_MAX     600
#define WARM_COMMITS    50
#define N_LISTENERS     100 /* sessions that the subscriptions to other rows are of */
#define ROUND_COMMITS   1000
#define EVENT_TARGET_MS 1.0
#define COST_TARGET     1.1 /* no growth, as exactly as it can be told */

#define TABLE                                                                               \
    "echo '{\"primaryKey\":\"id\",\"schema\":{\"type\":\"object\",\"properties\":{\"id\":{" \
    "\"type\":\"string\"},\"n\":{\"type\":\"integer\"}},\"required\":[\"id\",\"n\"]}}' "    \
    ">\"$DATA.json\"; $TENON table create --data \"$DATA\" bench.item \"$DATA.json\"; "     \
    "for id in one all own other; do echo \"{\\\"id\\\":\\\"$id\\\",\\\"n\\\":0}\"; done "  \
    ">\"$DATA.ndjson\"; $TENON import --data \"$DATA\" bench.item \"$DATA.ndjson\""

struct options {
    int n_commits, n_subscribers, n_subscriptions, n_rounds;
};

struct subscriber {
    char session[128];
    struct http_conn conn;
    char text[BUFFER_BYTES]; /* of the event that is coming */
    size_t n;
    bool has_it;
};

struct scene {
    struct rig rig;
    struct subscriber *subscribers;
    int n;
    int set; /* of epoll: the streams */
};

/* ---- Subscribers ---------------------------------------------------------------------------- */

static void expect_answer(struct http_conn *c, const char *session, const char *body)
{
    struct http_reply r = {0};
    if (http_post(c, session, "2025-06-18", body, &r) != HTTP_REPLY || r.status != 200 ||
        !strstr(r.body, "\"result\":{}"))
        report_die("%s: status %d, %s", body, r.status, r.body ? r.body : "");
    http_free(&r);
}

static void subscribe(struct http_conn *c, const char *session, const char *row)
{
    char body[300];
    snprintf(body, sizeof body,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/subscribe\",\"params\":{\"uri\":"
             "\"db://bench/item/%s\"}}",
             row);
    expect_answer(c, session, body);
}

static void listen_on(struct rig *rig, struct subscriber *s, pid_t worker)
{
    struct http_conn c;
    rig_connect(rig, &c);
    rig_session(&c, s->session);
    http_close(&c);
    rig_connect_to(rig, s->session, worker, false, &s->conn);
    if (rig_listen(&s->conn, s->session) != 200)
        report_die("a stream does not open");
    s->conn.n = 0;
}

static void add_subscribers(struct scene *s, int n)
{
    for (; s->n < n; s->n++) {
        struct subscriber *one = &s->subscribers[s->n];
        struct epoll_event e = {.events = EPOLLIN, .data.ptr = one};
        listen_on(&s->rig, one, s->rig.workers[0]);
        epoll_ctl(s->set, EPOLL_CTL_ADD, one->conn.fd, &e);
    }
}

/* What all of them subscribe to, or each to a row of its own. */
static void subscribe_all(struct scene *s, const char *row)
{
    struct http_conn c;
    char own[32];
    rig_connect(&s->rig, &c);
    for (int i = 0; i < s->n; i++) {
        snprintf(own, sizeof own, i ? "own%d" : "own", i);
        subscribe(&c, s->subscribers[i].session, row ? row : own);
    }
    http_close(&c);
}

/* ---- Commits -------------------------------------------------------------------------------- */

static void open_writer(struct rig *rig, const char *row, pid_t worker, bool is_other,
                        struct asker *ret)
{
    struct http_conn c;
    char session[128], body[300];
    rig_connect(rig, &c);
    rig_session(&c, session);
    http_close(&c);
    rig_connect_to(rig, session, worker, is_other, &c);
    snprintf(body, sizeof body,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
             "\"update_item\",\"arguments\":{\"id\":\"%s\",\"changes\":{\"n\":1}}}}",
             row);
    asker_open(ret, &c, session, body);
}

static void check_answer(const struct asker *a)
{
    if (!asker_is_right(a, "\"structuredContent\""))
        report_die("a commit is refused: %s", a->reply);
}

/* Is the event whole by what has come? Heartbeats may stand before it. */
static bool take_event(struct subscriber *s)
{
    ssize_t n = recv(s->conn.fd, s->text + s->n, BUFFER_BYTES - 1 - s->n, MSG_DONTWAIT);
    if (n <= 0)
        report_die("a stream was closed");
    s->n += (size_t)n;
    s->text[s->n] = 0;
    char *found = strstr(s->text, "notifications/resources/updated");
    if (!found || !strstr(found, "\n\n"))
        return false;
    if (s->has_it || strstr(found + 1, "notifications/resources/updated"))
        report_die("a change is told twice: %s", s->text);
    s->n = 0;
    return s->has_it = true;
}

struct times {
    double *event_ms, *answer_ms; /* events from the request, and from the answer */
    size_t n;
};

/* One commit, and all of its events; `n_due` of them. */
static void commit(struct scene *s, struct asker *writer, int n_due, struct times *times)
{
    struct epoll_event events[64];
    size_t first = times->n;
    bool is_answered = false;
    int64_t from_ns = report_now_ns(), answered_ns = 0;
    asker_ask(writer);
    for (int left = n_due; left > 0 || !is_answered;) {
        int n = epoll_wait(s->set, events, 64, WAIT_MS);
        int64_t now_ns = report_now_ns();
        if (n <= 0)
            report_die("%d of %d events did not come", left, n_due);
        for (int i = 0; i < n; i++) {
            if (events[i].data.ptr == writer) {
                is_answered = asker_receive(writer);
                answered_ns = now_ns;
            } else if (take_event(events[i].data.ptr)) {
                times->event_ms[times->n++] = (double)(now_ns - from_ns) * 1e-6;
                left--;
            }
        }
    }
    check_answer(writer);
    for (size_t i = first; i < times->n; i++)
        times->answer_ms[i] = times->event_ms[i] - (double)(answered_ns - from_ns) * 1e-6;
    for (int i = 0; i < s->n; i++)
        s->subscribers[i].has_it = false;
}

static void report_times(const char *name, struct times *times, double target)
{
    char line[128];
    snprintf(line, sizeof line, "%s, p50", name);
    report_line(line, report_part(times->event_ms, times->n, 0.5), "ms", target);
    report_line("    p99", report_part(times->event_ms, times->n, 0.99), "ms", 0);
    report_line("    from the answer to the commit, p50",
                report_part(times->answer_ms, times->n, 0.5), "ms", 0);
}

static void measure_times(struct scene *s, const char *what, const char *row, int n_due,
                          int n_commits, double target)
{
    static double event_ms[EVENTS_MAX], answer_ms[EVENTS_MAX];
    for (int is_other = 0; is_other < 2; is_other++) {
        struct times times = {.event_ms = event_ms, .answer_ms = answer_ms};
        struct asker writer;
        char name[100];
        open_writer(&s->rig, row, s->rig.workers[0], is_other, &writer);
        struct epoll_event e = {.events = EPOLLIN, .data.ptr = &writer};
        epoll_ctl(s->set, EPOLL_CTL_ADD, writer.fd, &e);
        for (int i = 0; i < WARM_COMMITS; i++)
            commit(s, &writer, n_due, &times);
        times.n = 0;
        for (int i = 0; i < n_commits && times.n + (size_t)n_due <= EVENTS_MAX; i++)
            commit(s, &writer, n_due, &times);
        snprintf(name, sizeof name, "%s, %s worker", what, is_other ? "another" : "the same");
        report_times(name, &times, target);
        asker_close(&writer);
    }
}

static void measure_mode(const char *mode, const struct options *o, double target)
{
    static struct scene scene;
    char flags[40], what[60];
    struct scene *s = &scene;
    *s = (struct scene){.set = epoll_create1(EPOLL_CLOEXEC)};
    s->subscribers = calloc((size_t)o->n_subscribers, sizeof *s->subscribers);
    if (!s->subscribers || s->set < 0)
        report_die("no memory");
    snprintf(flags, sizeof flags, "--mode %s", mode);
    rig_start_as(&s->rig, N_WORKERS, flags, TABLE);
    printf("\nmode %s, from the request to commit to the event\n", mode);
    add_subscribers(s, 1);
    subscribe_all(s, "one");
    measure_times(s, "1 subscriber", "one", 1, o->n_commits, target);
    add_subscribers(s, o->n_subscribers);
    subscribe_all(s, NULL);
    snprintf(what, sizeof what, "1 of %d, each of a row of its own", s->n);
    measure_times(s, what, "own", 1, o->n_commits, target);
    subscribe_all(s, "all");
    snprintf(what, sizeof what, "%d of the same row", s->n);
    measure_times(s, what, "all", s->n, o->n_commits / 20 + 1, 0);
    for (int i = 0; i < s->n; i++)
        http_close(&s->subscribers[i].conn);
    close(s->set);
    free(s->subscribers);
    rig_stop(&s->rig);
}

/* ---- What others' subscriptions cost -------------------------------------------------------- */

struct side {
    struct rig rig;
    struct subscriber listeners[N_LISTENERS];
    int n_listeners;
    struct asker writers[N_WORKERS];
    double cpu_us, n_commits;
};

static void begin_side(struct side *side, int n_subscriptions)
{
    struct http_conn c;
    char row[32];
    rig_start_as(&side->rig, N_WORKERS, "--mode nosync", TABLE);
    side->n_listeners = n_subscriptions < N_LISTENERS ? n_subscriptions : N_LISTENERS;
    for (int i = 0; i < side->n_listeners; i++)
        listen_on(&side->rig, &side->listeners[i], side->rig.workers[i % N_WORKERS]);
    rig_connect(&side->rig, &c);
    for (int i = 0; i < n_subscriptions; i++) {
        snprintf(row, sizeof row, "row%d", i);
        subscribe(&c, side->listeners[i % N_LISTENERS].session, row);
    }
    http_close(&c);
    for (int i = 0; i < N_WORKERS; i++)
        open_writer(&side->rig, "other", side->rig.workers[i], false, &side->writers[i]);
}

static void commit_many(struct side *side, int n)
{
    double before_us = rig_cpu_us(&side->rig);
    for (int i = 0; i < n; i++) {
        struct asker *a = &side->writers[i % N_WORKERS];
        asker_ask(a);
        while (!asker_receive(a))
            ;
        check_answer(a);
    }
    side->cpu_us += rig_cpu_us(&side->rig) - before_us;
    side->n_commits += n;
}

/* Nothing but comments came. */
static void end_side(struct side *side)
{
    char text[BUFFER_BYTES];
    for (int i = 0; i < side->n_listeners; i++) {
        ssize_t n = recv(side->listeners[i].conn.fd, text, sizeof text - 1, MSG_DONTWAIT);
        text[n > 0 ? n : 0] = 0;
        if (n == 0 || strstr(text, "data:"))
            report_die("stream %d: %s", i, n ? text : "closed");
        http_close(&side->listeners[i].conn);
    }
    for (int i = 0; i < N_WORKERS; i++)
        asker_close(&side->writers[i]);
    rig_stop(&side->rig);
}

static double per_commit(const struct side *side)
{
    return side->cpu_us / side->n_commits;
}

static void measure_cost(const struct options *o)
{
    static struct side none, few, many;
    struct side *all[] = {&none, &few, &many};
    char name[100];
    begin_side(&none, 0);
    begin_side(&few, N_LISTENERS);
    begin_side(&many, o->n_subscriptions);
    for (int i = 0; i < 3; i++) {
        commit_many(all[i], ROUND_COMMITS);
        all[i]->cpu_us = all[i]->n_commits = 0; /* what there is on first use is there now */
    }
    for (int round = 0; round < o->n_rounds; round++)
        for (int i = 0; i < 3; i++)
            commit_many(all[i], ROUND_COMMITS);
    printf("\nmode nosync, CPU of two workers per commit of a row nobody subscribed to\n");
    report_line("no subscription", per_commit(&none), "us", 0);
    snprintf(name, sizeof name, "%d streams with a subscription each", few.n_listeners);
    report_line(name, per_commit(&few), "us", 0);
    snprintf(name, sizeof name, "%d streams with %d subscriptions", many.n_listeners,
             o->n_subscriptions);
    report_line(name, per_commit(&many), "us", 0);
    report_line("    of that with one each", per_commit(&many) / per_commit(&few), "times",
                COST_TARGET);
    report_line("    of that with none", per_commit(&many) / per_commit(&none), "times",
                COST_TARGET);
    for (int i = 0; i < 3; i++)
        end_side(all[i]);
}

/* ---- All together --------------------------------------------------------------------------- */

static void read_options(int argc, char **argv, struct options *o)
{
    const struct {
        const char *name;
        int *value, most;
    } all[] = {{"--commits", &o->n_commits, COMMITS_MAX},
               {"--subscribers", &o->n_subscribers, SUBSCRIBERS_MAX},
               {"--subscriptions", &o->n_subscriptions, 1000000},
               {"--rounds", &o->n_rounds, 1000}};
    for (int i = 1; i < argc; i += 2) {
        unsigned k = 0;
        while (k < 4 && strcmp(argv[i], all[k].name) != 0)
            k++;
        if (k == 4 || i + 1 == argc || atoi(argv[i + 1]) < 1 || atoi(argv[i + 1]) > all[k].most)
            report_die("usage: bench_subscriptions [--commits N] [--subscribers N] "
                       "[--subscriptions N] [--rounds N]");
        *all[k].value = atoi(argv[i + 1]);
    }
}

int main(int argc, char **argv)
{
    struct options o = {
        .n_commits = 1000, .n_subscribers = 1000, .n_subscriptions = 10000, .n_rounds = 15};
    struct rlimit limit;
    read_options(argc, argv, &o);
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    alarm(SECONDS_MAX); /* never longer, whatever hangs; the servers end with us */
    report_machine();
    measure_mode("nosync", &o, EVENT_TARGET_MS);
    measure_mode("sync", &o, 0);
    measure_cost(&o);
    return report_status();
}
