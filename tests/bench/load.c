/* tests/bench/load.c - a load generator: keep-alive connections that each have one POST in flight.
 *
 *   load PORT BODY [--seconds S] [--connections N] [--sessions] [--core K] [--expect TEXT]
 *
 * Prints "requests R seconds S errors E". One thread, one epoll set, pinned to core K (1), so that
 * the server on core 0 is what is measured. With --sessions each connection makes an MCP session
 * first. A reply counts if it is a 200 that holds TEXT.
 */
#include "tests/bench/asker.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#define CONNECTIONS_MAX 1024

struct options {
    uint16_t port;
    const char *body, *expect;
    double seconds;
    int connections, core;
    bool sessions;
};

struct tally {
    uint64_t requests, errors;
};

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void die(const char *what)
{
    fprintf(stderr, "load: %s\n", what);
    exit(1);
}

static void pin(int core)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)core, &set);
    sched_setaffinity(0, sizeof set, &set); /* on one core only there is nothing to pin to */
}

static void prepare(struct asker *c, const struct options *o)
{
    struct http_conn conn;
    char session[128] = "";
    if (!http_open(&conn, o->port))
        die("the server takes no connection");
    if (o->sessions && !http_handshake(&conn, "2025-06-18", session))
        die("the handshake failed");
    asker_open(c, &conn, session, o->body);
}

static void on_readable(struct asker *c, const struct options *o, struct tally *tally)
{
    if (!asker_receive(c))
        return;
    tally->requests++;
    tally->errors += !asker_is_right(c, o->expect);
    asker_ask(c);
}

static void run(struct asker *clients, const struct options *o)
{
    struct epoll_event events[256];
    struct tally tally = {0};
    int set = epoll_create1(EPOLL_CLOEXEC);
    for (int i = 0; i < o->connections; i++) {
        struct epoll_event e = {.events = EPOLLIN, .data.ptr = &clients[i]};
        epoll_ctl(set, EPOLL_CTL_ADD, clients[i].fd, &e);
    }
    double start = now_s(), end = start + o->seconds;
    for (int i = 0; i < o->connections; i++)
        asker_ask(&clients[i]);
    while (now_s() < end) {
        int n = epoll_wait(set, events, 256, 1000);
        if (n <= 0)
            die("no reply for a second");
        for (int i = 0; i < n; i++)
            on_readable(events[i].data.ptr, o, &tally);
    }
    printf("requests %llu seconds %.3f errors %llu\n", (unsigned long long)tally.requests,
           now_s() - start, (unsigned long long)tally.errors);
    close(set);
}

static void read_option(struct options *o, const char *name, const char *value)
{
    if (strcmp(name, "--seconds") == 0)
        o->seconds = atof(value);
    else if (strcmp(name, "--connections") == 0)
        o->connections = atoi(value);
    else if (strcmp(name, "--core") == 0)
        o->core = atoi(value);
    else if (strcmp(name, "--expect") == 0)
        o->expect = value;
    else
        die("unknown option");
}

int main(int argc, char **argv)
{
    static struct asker clients[CONNECTIONS_MAX];
    struct options o = {.seconds = 2, .connections = 64, .core = 1};
    if (argc < 3)
        die("usage: load PORT BODY [--seconds S] [--connections N] [--sessions] [--core K] "
            "[--expect TEXT]");
    o.port = (uint16_t)atoi(argv[1]);
    o.body = argv[2];
    for (int i = 3; i < argc; i++) {
        if (strcmp(argv[i], "--sessions") == 0)
            o.sessions = true;
        else if (i + 1 < argc)
            read_option(&o, argv[i], argv[i + 1]), i++;
    }
    if (o.connections < 1 || o.connections > CONNECTIONS_MAX)
        die("1 to 1024 connections");
    pin(o.core);
    for (int i = 0; i < o.connections; i++)
        prepare(&clients[i], &o);
    run(clients, &o);
    for (int i = 0; i < o.connections; i++)
        asker_close(&clients[i]);
    return 0;
}
