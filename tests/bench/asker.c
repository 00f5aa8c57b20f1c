/* tests/bench/asker.c - see asker.h. */
#include "tests/bench/asker.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define REPLY_MAX 65536

static void die(const char *what)
{
    fprintf(stderr, "asker: %s\n", what);
    exit(1);
}

void asker_open(struct asker *a, struct http_conn *conn, const char *session, const char *body)
{
    int n =
        asprintf(&a->request,
                 "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                 "Accept: application/json, text/event-stream\r\n%s%s%s"
                 "Content-Length: %zu\r\n\r\n%s",
                 session[0] ? "Mcp-Session-Id: " : "", session,
                 session[0] ? "\r\nMCP-Protocol-Version: 2025-06-18\r\n" : "", strlen(body), body);
    a->reply = malloc(REPLY_MAX);
    if (n < 0 || !a->reply)
        die("no memory");
    a->request_n = (size_t)n;
    a->n = 0;
    a->fd = conn->fd; /* nothing is left unread behind a handshake */
    free(conn->in);
    *conn = (struct http_conn){.fd = -1};
}

void asker_close(struct asker *a)
{
    close(a->fd);
    free(a->request);
    free(a->reply);
}

void asker_ask(struct asker *a)
{
    a->n = 0;
    if (send(a->fd, a->request, a->request_n, MSG_NOSIGNAL) != (ssize_t)a->request_n)
        die("the server does not take a request");
}

/* Bytes of the whole reply, 0 if its head is not complete. */
static size_t reply_size(const struct asker *a)
{
    const char *end = memmem(a->reply, a->n, "\r\n\r\n", 4);
    if (!end)
        return 0;
    const char *length = strcasestr(a->reply, "\r\ncontent-length:");
    if (!length || length > end)
        die("a reply without Content-Length");
    return (size_t)(end - a->reply) + 4 + strtoul(length + 17, NULL, 10);
}

bool asker_receive(struct asker *a)
{
    ssize_t n = recv(a->fd, a->reply + a->n, REPLY_MAX - 1 - a->n, 0);
    if (n <= 0)
        die("the server closed a connection");
    a->n += (size_t)n;
    a->reply[a->n] = 0;
    size_t size = reply_size(a);
    return size > 0 && a->n >= size;
}

bool asker_is_right(const struct asker *a, const char *expect)
{
    return memcmp(a->reply, "HTTP/1.1 200", 12) == 0 && (!expect || strstr(a->reply, expect));
}
