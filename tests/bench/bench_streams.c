/* tests/bench/bench_streams.c - what open streams cost, and how soon a call that runs is
 * heard; `make bench-streams`. Options: --streams, --pings (of a round), --seconds, --calls.
 *
 * Two servers of two workers, both with N sessions. In one a GET stream of each session is opened.
 * What the memory of its workers grew by, divided by N, is that of a stream (the kernel's part of a
 * connection not counted, pages of the database that it has looked at are). Then both are pinged in
 * turns by connections that are spread evenly over the workers, and the processor time of the
 * workers per ping is compared, over two heartbeats of each stream. At the end each stream has to
 * be open still. Exit status 1: a target is missed; 2: something went wrong.
 */
#include "tests/bench/asker.h"
#include "tests/bench/latency.h"
#include "tests/bench/report.h"
#include "tests/bench/rig.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define N_WORKERS         2
#define N_LIVE_WORKERS    4 /* without streams: so most requests land on another than the call */
#define N_ASKERS          64
#define N_THREADS         8
#define ROUNDS_MIN        10
#define STREAMS_MAX       16000 /* two workers take so many connections */
#define OPEN_TRIES        100
#define SECONDS_MAX       115
#define STREAM_KIB_TARGET 4.0
#define PING_TARGET       1.3

struct options {
    int n_streams, n_pings, n_calls, seconds;
};

struct side {
    struct rig rig;
    char (*sessions)[128];
    int *streams; /* descriptors */
    int n;
    struct asker askers[N_ASKERS];
    double pings, ping_us; /* how many, and what they took together */
};

/* ---- Many at once --------------------------------------------------------------------------- */

struct crew {
    struct side *side;
    void (*work)(struct side *side, struct http_conn *c, int i);
    _Atomic int next;
};

static void *run_crew(void *arg)
{
    struct crew *crew = arg;
    struct http_conn c;
    rig_connect(&crew->side->rig, &c);
    for (int i; (i = crew->next++) < crew->side->n;)
        crew->work(crew->side, &c, i);
    http_close(&c);
    return NULL;
}

static void for_all(struct side *side, void (*work)(struct side *side, struct http_conn *c, int i))
{
    struct crew crew = {.side = side, .work = work};
    pthread_t threads[N_THREADS];
    for (int i = 0; i < N_THREADS; i++)
        if (pthread_create(&threads[i], NULL, run_crew, &crew))
            report_die("no thread");
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void make_session(struct side *side, struct http_conn *c, int i)
{
    rig_session(c, side->sessions[i]);
}

/* ---- Streams -------------------------------------------------------------------------------- */

/* The kernel shares connections out as it likes: one that meets a full worker is tried again. */
static void open_stream(struct side *side, struct http_conn *unused, int i)
{
    int status = 0;
    (void)unused;
    for (int try = 0; try < OPEN_TRIES; try++) {
        struct http_conn c;
        rig_connect(&side->rig, &c);
        status = rig_listen(&c, side->sessions[i]);
        if (status == 200) {
            side->streams[i] = c.fd;
            free(c.in);
            return;
        }
        http_close(&c);
        if (status && status != 503)
            break;
    }
    report_die("stream %d does not open: status %d", i, status);
}

/* Nothing but comments came. */
static void check_stream(struct side *side, int i)
{
    char text[4096];
    ssize_t n = recv(side->streams[i], text, sizeof text - 1, MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno != EAGAIN))
        report_die("stream %d was closed", i);
    text[n > 0 ? n : 0] = 0;
    if (strstr(text, "data:"))
        report_die("stream %d: %s", i, text);
}

/* ---- Memory --------------------------------------------------------------------------------- */

struct memory {
    double rss, pss, own; /* KiB, of the workers together */
};

static void add_memory(pid_t pid, struct memory *sum)
{
    char path[64], line[256];
    double kib;
    snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)pid);
    FILE *f = fopen(path, "r");
    if (!f)
        report_die("%s cannot be read", path);
    while (fgets(line, sizeof line, f)) {
        sum->rss += sscanf(line, "Rss: %lf", &kib) == 1 ? kib : 0;
        sum->pss += sscanf(line, "Pss: %lf", &kib) == 1 ? kib : 0;
        sum->own += sscanf(line, "Anonymous: %lf", &kib) == 1 ? kib : 0;
    }
    fclose(f);
}

static struct memory memory_of(const struct rig *rig)
{
    struct memory sum = {0};
    for (int i = 0; i < rig->n_workers; i++)
        add_memory(rig->workers[i], &sum);
    return sum;
}

/* ---- Pings ---------------------------------------------------------------------------------- */

/* As many on each worker. */
static void open_askers(struct side *side)
{
    for (int i = 0; i < N_ASKERS; i++) {
        const char *session = side->sessions[i % side->n];
        struct http_conn c;
        rig_connect_to(&side->rig, session, side->rig.workers[i % N_WORKERS], false, &c);
        asker_open(&side->askers[i], &c, session,
                   "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
    }
}

static void ping(struct side *side, int n)
{
    struct epoll_event events[N_ASKERS];
    int set = epoll_create1(EPOLL_CLOEXEC), n_asked = N_ASKERS, n_answered = 0;
    for (int i = 0; i < N_ASKERS; i++) {
        struct epoll_event e = {.events = EPOLLIN, .data.ptr = &side->askers[i]};
        epoll_ctl(set, EPOLL_CTL_ADD, side->askers[i].fd, &e);
        asker_ask(&side->askers[i]);
    }
    while (n_answered < n_asked) {
        int n_events = epoll_wait(set, events, N_ASKERS, 10000);
        if (n_events <= 0)
            report_die("no answer to a ping");
        for (int i = 0; i < n_events; i++) {
            struct asker *a = events[i].data.ptr;
            if (!asker_receive(a))
                continue;
            if (!asker_is_right(a, "\"result\":{}"))
                report_die("a wrong answer to a ping: %s", a->reply);
            n_answered++;
            if (n_asked < n) {
                asker_ask(a);
                n_asked++;
            }
        }
    }
    close(set);
}

static void measure_pings(struct side *side, int n)
{
    double before = rig_cpu_us(&side->rig);
    ping(side, n);
    side->ping_us += rig_cpu_us(&side->rig) - before;
    side->pings += n;
}

/* ---- All together --------------------------------------------------------------------------- */

static void begin(struct side *side, int n)
{
    side->n = n;
    side->sessions = calloc((size_t)n, sizeof *side->sessions);
    side->streams = calloc((size_t)n, sizeof *side->streams);
    if (!side->sessions || !side->streams)
        report_die("no memory");
    rig_start(&side->rig, N_WORKERS);
    for_all(side, make_session);
    open_askers(side);
    ping(side, 2000); /* so that all there is on first use is there */
}

static void end(struct side *side)
{
    for (int i = 0; i < N_ASKERS; i++)
        asker_close(&side->askers[i]);
    rig_stop(&side->rig);
    free(side->sessions);
    free(side->streams);
}

/* What the workers grew by, per stream: the most of what was seen. */
static double grown(double before, double first, double last, int n)
{
    return ((first > last ? first : last) - before) / n;
}

static void report_memory(const struct memory m[3], int n)
{
    report_line("memory per stream: resident in the workers (RSS)",
                grown(m[0].rss, m[1].rss, m[2].rss, n), "KiB", STREAM_KIB_TARGET);
    report_line("    shared pages by halves (PSS)", grown(m[0].pss, m[1].pss, m[2].pss, n), "KiB",
                0);
    report_line("    without mapped files", grown(m[0].own, m[1].own, m[2].own, n), "KiB", 0);
}

static void report_pings(const struct side *none, const struct side *many)
{
    double idle = none->ping_us / none->pings, busy = many->ping_us / many->pings;
    report_line("CPU per ping, no stream open", idle, "us", 0);
    report_line("CPU per ping, all streams open", busy, "us", 0);
    report_line("    of that without", busy / idle, "times", PING_TARGET);
}

static void measure_streams(const struct options *o)
{
    static struct side many, none;
    struct memory memory[3];
    begin(&none, o->n_streams);
    begin(&many, o->n_streams);
    memory[0] = memory_of(&many.rig);
    for_all(&many, open_stream);
    memory[1] = memory_of(&many.rig);
    int64_t end_ns = report_now_ns() + o->seconds * INT64_C(1000000000);
    for (int i = 0; i < ROUNDS_MIN || report_now_ns() < end_ns; i++) {
        measure_pings(&none, o->n_pings);
        measure_pings(&many, o->n_pings);
    }
    memory[2] = memory_of(&many.rig);
    for (int i = 0; i < many.n; i++)
        check_stream(&many, i);
    printf("\n%d GET streams, each of a session of its own, %d workers; %d connections ping\n",
           many.n, N_WORKERS, N_ASKERS);
    report_memory(memory, many.n);
    report_pings(&none, &many);
    printf("\nwith all of them open still: ");
    latency_measure(&many.rig, o->n_calls / 2, false);
    for (int i = 0; i < many.n; i++)
        close(many.streams[i]);
    end(&many);
    end(&none);
}

static void measure_calls(const struct options *o)
{
    static struct rig rig;
    rig_start(&rig, N_LIVE_WORKERS);
    putchar('\n');
    latency_measure(&rig, o->n_calls, true);
    rig_stop(&rig);
}

static void read_options(int argc, char **argv, struct options *o)
{
    const struct {
        const char *name;
        int *value, most;
    } all[] = {{"--streams", &o->n_streams, STREAMS_MAX},
               {"--pings", &o->n_pings, 1000000},
               {"--calls", &o->n_calls, 10000},
               {"--seconds", &o->seconds, 60}};
    for (int i = 1; i < argc; i += 2) {
        unsigned k = 0;
        while (k < 4 && strcmp(argv[i], all[k].name) != 0)
            k++;
        if (k == 4 || i + 1 == argc || atoi(argv[i + 1]) < 1 || atoi(argv[i + 1]) > all[k].most)
            report_die("usage: bench_streams [--streams N] [--pings N] [--seconds N] [--calls N]");
        *all[k].value = atoi(argv[i + 1]);
    }
}

/* Ours, and those of the workers, which raise their own. */
static void need_descriptors(int n)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_max < (rlim_t)n)
        report_die("%d descriptors are needed, and %llu allowed (ulimit -Hn)", n,
                   (unsigned long long)limit.rlim_max);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

int main(int argc, char **argv)
{
    struct options o = {.n_streams = 10000, .n_pings = 10000, .n_calls = 1000, .seconds = 35};
    read_options(argc, argv, &o);
    need_descriptors(o.n_streams + 1000);
    alarm(SECONDS_MAX); /* never longer, whatever hangs; the servers end with us */
    report_machine();
    latency_prepare();
    measure_streams(&o);
    measure_calls(&o);
    return report_status();
}
