/* net/listener.c - see listener.h. */
#include "net/listener.h"

#include "base/err.h"
#include "base/log.h"
#include "net/loop.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ev.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG        512
#define ACCEPTS_A_TURN 32
#define PAUSE_S        0.1 /* after running out of descriptors, so that the loop does not spin */

union any_address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

static int resolve(const struct net_address *address, union any_address *ret, socklen_t *ret_n,
                   const char **ret_why)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC,
                             .ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    char port[8];
    bool is_name = !strcmp(address->host, "localhost");
    if (!is_name)
        hints.ai_flags |= AI_NUMERICHOST; /* no surprises from a resolver */
    snprintf(port, sizeof port, "%u", address->port);
    if (getaddrinfo(is_name ? "127.0.0.1" : address->host, port, &hints, &found)) {
        *ret_why = "not a numeric address or \"localhost\"";
        return ERR_IO;
    }
    memcpy(ret, found->ai_addr, found->ai_addrlen);
    *ret_n = found->ai_addrlen;
    freeaddrinfo(found);
    return 0;
}

static bool is_loopback(const union any_address *a)
{
    if (a->any.sa_family == AF_INET)
        return ntohl(a->v4.sin_addr.s_addr) >> 24 == 127;
    return IN6_IS_ADDR_LOOPBACK(&a->v6.sin6_addr);
}

static uint16_t bound_port(int fd)
{
    union any_address a = {0};
    socklen_t n = sizeof a;
    getsockname(fd, &a.any, &n);
    return ntohs(a.any.sa_family == AF_INET ? a.v4.sin_port : a.v6.sin6_port);
}

static void set_on(int fd, int level, int option)
{
    int on = 1;
    setsockopt(fd, level, option, &on, sizeof on);
}

static int bind_socket(const union any_address *a, socklen_t n, bool shared, int *ret_fd,
                       const char **ret_why)
{
    int fd = socket(a->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0) {
        set_on(fd, SOL_SOCKET, SO_REUSEADDR);
        if (shared)
            set_on(fd, SOL_SOCKET, SO_REUSEPORT);
        if (a->any.sa_family == AF_INET6)
            set_on(fd, IPPROTO_IPV6, IPV6_V6ONLY);
        if (bind(fd, &a->any, n) == 0 && listen(fd, BACKLOG) == 0) {
            *ret_fd = fd;
            return 0;
        }
    }
    *ret_why = strerror(errno);
    int err = errno == EADDRINUSE ? ERR_EXISTS : ERR_IO;
    if (fd >= 0)
        close(fd);
    return err;
}

int listener_probe(const struct net_address *address, const char **ret_why)
{
    union any_address a;
    socklen_t n;
    int fd, err = resolve(address, &a, &n, ret_why);
    if (err < 0 || !address->port)
        return err;
    err = bind_socket(&a, n, false, &fd, ret_why);
    if (err == 0)
        close(fd);
    return err;
}

int listener_bind(const struct net_address *address, bool allow_public, int *ret_fd,
                  uint16_t *ret_port, const char **ret_why)
{
    union any_address a;
    socklen_t n;
    int fd, err = resolve(address, &a, &n, ret_why);
    if (err < 0)
        return err;
    if (!allow_public && !is_loopback(&a)) {
        *ret_why = "an address that others reach needs users first (tenon user create), "
                   "or auth.issuer";
        return ERR_FORBIDDEN;
    }
    err = bind_socket(&a, n, true, &fd, ret_why);
    if (err < 0)
        return err;
    *ret_port = bound_port(fd);
    *ret_fd = fd;
    return 0;
}

/* ---- Accepting --------------------------------------------------------------------------------*/

struct listener {
    struct loop *loop;
    struct ev_io readable;
    struct ev_timer pause;
    const struct net_address *address;
    void (*accepted)(void *ctx, int fd, const struct net_address *address);
    void *ctx;
};

static void pause_accepting(struct listener *l)
{
    log_warn("cannot accept a connection: %s", strerror(errno));
    ev_io_stop(loop_ev(l->loop), &l->readable);
    ev_timer_set(&l->pause, PAUSE_S, 0.);
    ev_timer_start(loop_ev(l->loop), &l->pause);
}

static void on_pause_over(struct ev_loop *ev, struct ev_timer *pause, int events)
{
    struct listener *l = pause->data;
    (void)events;
    ev_io_start(ev, &l->readable);
}

static bool is_passing(int error)
{
    return error == EAGAIN || error == EINTR || error == ECONNABORTED || error == EPROTO;
}

static void on_readable(struct ev_loop *ev, struct ev_io *readable, int events)
{
    struct listener *l = readable->data;
    (void)ev;
    (void)events;
    for (int i = 0; i < ACCEPTS_A_TURN; i++) {
        int fd = accept4(readable->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) {
            if (!is_passing(errno))
                pause_accepting(l);
            return;
        }
        set_on(fd, IPPROTO_TCP, TCP_NODELAY);
        l->accepted(l->ctx, fd, l->address);
    }
}

int listener_open(struct loop *loop, int fd, const struct net_address *address,
                  void (*accepted)(void *ctx, int fd, const struct net_address *address), void *ctx,
                  struct listener **ret)
{
    struct listener *l = calloc(1, sizeof *l);
    if (!l)
        return ERR_NO_MEMORY;
    l->loop = loop;
    l->address = address;
    l->accepted = accepted;
    l->ctx = ctx;
    ev_io_init(&l->readable, on_readable, fd, EV_READ);
    ev_timer_init(&l->pause, on_pause_over, PAUSE_S, 0.);
    l->readable.data = l->pause.data = l;
    ev_io_start(loop_ev(loop), &l->readable);
    *ret = l;
    return 0;
}

void listener_close(struct listener *l)
{
    if (!l)
        return;
    ev_io_stop(loop_ev(l->loop), &l->readable);
    ev_timer_stop(loop_ev(l->loop), &l->pause);
    close(l->readable.fd);
    free(l);
}
