/* tests/unit/tls_pump.h - lets tests of raw bytes speak to a server with TLS: what they write to
 * one end of a socket pair goes to the server in records, and back.
 *
 * A thread per connection. The end of either side is passed on: a half-close as close_notify.
 */
#ifndef TENON_TEST_TLS_PUMP_H
#define TENON_TEST_TLS_PUMP_H

#include <errno.h>
#include <fcntl.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define PUMP_BYTES 16384

/* Bytes on their way in one direction. */
struct pump_flow {
    char bytes[PUMP_BYTES];
    size_t at, n;
    bool ended, told; /* no more come; and that was passed on */
};

struct pump {
    int tcp, plain;
    SSL *ssl;
    struct pump_flow up, down;
    bool broken;
    short wants; /* of tcp, beside reading */
};

/* True if anything moved. */
static bool pump_fill_up(struct pump *p)
{
    struct pump_flow *up = &p->up;
    if (up->n || up->ended)
        return false;
    ssize_t n = recv(p->plain, up->bytes, PUMP_BYTES, MSG_DONTWAIT);
    up->ended = n == 0;
    up->at = 0;
    up->n = n > 0 ? (size_t)n : 0;
    return n >= 0;
}

static void pump_explain(struct pump *p, int result)
{
    int why = SSL_get_error(p->ssl, result);
    if (why == SSL_ERROR_WANT_WRITE)
        p->wants = POLLOUT;
    else if (why == SSL_ERROR_ZERO_RETURN && !p->down.ended)
        p->down.ended = true;
    else if (why != SSL_ERROR_WANT_READ)
        p->broken = true;
}

static bool pump_send_up(struct pump *p)
{
    struct pump_flow *up = &p->up;
    size_t sent = 0;
    if (up->ended && !up->n && !up->told) {
        up->told = true;
        SSL_shutdown(p->ssl);
        return true;
    }
    int ok = up->n ? SSL_write_ex(p->ssl, up->bytes + up->at, up->n, &sent) : 0;
    if (up->n && !ok)
        pump_explain(p, ok);
    up->at += sent;
    up->n -= sent;
    return sent > 0;
}

static bool pump_fill_down(struct pump *p)
{
    struct pump_flow *down = &p->down;
    if (down->n || down->ended)
        return false;
    int ok = SSL_read_ex(p->ssl, down->bytes, PUMP_BYTES, &down->n);
    down->at = 0;
    if (ok)
        return true;
    down->n = 0;
    pump_explain(p, ok);
    return down->ended;
}

static bool pump_send_down(struct pump *p)
{
    struct pump_flow *down = &p->down;
    if (!down->n)
        return false;
    ssize_t n = send(p->plain, down->bytes + down->at, down->n, MSG_DONTWAIT | MSG_NOSIGNAL);
    p->broken |= n < 0 && errno != EAGAIN;
    if (n <= 0)
        return false;
    down->at += (size_t)n;
    down->n -= (size_t)n;
    return true;
}

/* Who reads the clear bytes is gone: poll tells that of a socket pair, and a half-close otherwise.
 */
static bool pump_wait(struct pump *p, int ms)
{
    struct pollfd fds[] = {
        {.fd = p->plain, .events = p->up.ended || p->up.n ? 0 : POLLIN},
        {.fd = p->down.n || p->down.ended ? -1 : p->tcp, .events = (short)(POLLIN | p->wants)},
        {.fd = p->down.n ? p->plain : -1, .events = POLLOUT},
        {.fd = p->up.n ? p->tcp : -1, .events = p->wants},
    };
    poll(fds, 4, ms);
    p->wants = 0;
    return !(fds[0].revents & (POLLHUP | POLLERR));
}

static bool pump_turn(struct pump *p)
{
    bool moved = pump_fill_up(p);
    moved |= pump_send_up(p);
    moved |= pump_fill_down(p);
    moved |= pump_send_down(p);
    if (p->down.ended && !p->down.n && !p->down.told) {
        p->down.told = true;
        shutdown(p->plain, SHUT_WR);
    }
    return moved;
}

static void *pump_run(void *arg)
{
    struct pump *p = arg;
    bool there = true;
    while (!p->broken && (there || p->up.n) && !(p->up.told && p->down.told)) {
        bool moved = pump_turn(p);
        there = pump_wait(p, moved || !there ? 0 : 1000);
    }
    if (!p->up.told)
        SSL_shutdown(p->ssl);
    SSL_free(p->ssl);
    close(p->tcp);
    close(p->plain);
    free(p);
    return NULL;
}

/* Of all connections to come. */
static SSL_CTX *pump_ctx(void)
{
    static SSL_CTX *ctx;
    if (!ctx && !(ctx = SSL_CTX_new(TLS_client_method())))
        abort();
    SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE);
    return ctx;
}

/* Takes a connected socket; returns one for the clear bytes. */
__attribute__((unused)) static int pump_start(int tcp)
{
    int pair[2];
    pthread_t thread;
    struct pump *p = calloc(1, sizeof *p);
    signal(SIGPIPE, SIG_IGN); /* OpenSSL writes as if nobody ever left */
    if (!p || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        abort();
    fcntl(tcp, F_SETFL, O_NONBLOCK);
    p->tcp = tcp;
    p->plain = pair[1];
    p->ssl = SSL_new(pump_ctx());
    SSL_set_fd(p->ssl, tcp);
    SSL_set_connect_state(p->ssl);
    if (pthread_create(&thread, NULL, pump_run, p))
        abort();
    pthread_detach(thread);
    return pair[0];
}

#endif
