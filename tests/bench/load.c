/* tests/bench/load.c - a load generator: keep-alive connections that each have one POST in flight.
 *
 *   load PORT BODY [--seconds S] [--connections N] [--sessions] [--core K] [--expect TEXT]
 *
 * Prints "requests R seconds S errors E". One thread, one epoll set, pinned to core K (1), so that
 * the server on core 0 is what is measured. With --sessions each connection makes an MCP session
 * first. A reply counts if it is a 200 that holds TEXT.
 */
#include "tests/lib/http.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CONNECTIONS_MAX 1024
#define REPLY_MAX       65536

struct options {
    uint16_t port;
    const char *body, *expect;
    double seconds;
    int connections, core;
    bool sessions;
};

struct client {
    int fd;
    char *request;
    size_t request_n;
    char *reply; /* what has come of the reply */
    size_t n;
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

static void prepare(struct client *c, const struct options *o)
{
    struct http_conn conn;
    char session[128] = "";
    if (!http_open(&conn, o->port))
        die("the server takes no connection");
    if (o->sessions && !http_handshake(&conn, "2025-06-18", session))
        die("the handshake failed");
    int n = asprintf(
        &c->request,
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nContent-Type: application/json\r\n"
        "Accept: application/json, text/event-stream\r\n%s%s%s"
        "Content-Length: %zu\r\n\r\n%s",
        o->port, session[0] ? "Mcp-Session-Id: " : "", session,
        session[0] ? "\r\nMCP-Protocol-Version: 2025-06-18\r\n" : "", strlen(o->body), o->body);
    c->reply = malloc(REPLY_MAX);
    if (n < 0 || !c->reply)
        die("no memory");
    c->request_n = (size_t)n;
    c->fd = conn.fd; /* taken over; nothing is left unread behind a handshake */
    free(conn.in);
}

static void ask(struct client *c)
{
    c->n = 0;
    if (send(c->fd, c->request, c->request_n, MSG_NOSIGNAL) != (ssize_t)c->request_n)
        die("the server does not take a request");
}

/* Bytes of the whole reply, 0 if its head is not complete. */
static size_t reply_size(const struct client *c)
{
    const char *end = memmem(c->reply, c->n, "\r\n\r\n", 4);
    if (!end)
        return 0;
    const char *length = strcasestr(c->reply, "\r\ncontent-length:");
    if (!length || length > end)
        die("a reply without Content-Length");
    return (size_t)(end - c->reply) + 4 + strtoul(length + 17, NULL, 10);
}

static bool is_right(const struct client *c, const char *expect)
{
    return memcmp(c->reply, "HTTP/1.1 200", 12) == 0 &&
           (!expect || memmem(c->reply, c->n, expect, strlen(expect)));
}

static void on_readable(struct client *c, const struct options *o, struct tally *tally)
{
    ssize_t n = recv(c->fd, c->reply + c->n, REPLY_MAX - 1 - c->n, 0);
    if (n <= 0)
        die("the server closed a connection");
    c->n += (size_t)n;
    c->reply[c->n] = 0;
    size_t size = reply_size(c);
    if (size == 0 || c->n < size)
        return;
    tally->requests++;
    tally->errors += !is_right(c, o->expect);
    ask(c);
}

static void run(struct client *clients, const struct options *o)
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
        ask(&clients[i]);
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
    static struct client clients[CONNECTIONS_MAX];
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
    for (int i = 0; i < o.connections; i++) {
        close(clients[i].fd);
        free(clients[i].request);
        free(clients[i].reply);
    }
    return 0;
}
