/* tests/unit/key_server.h - an HTTP server in a thread that says what the test put in, counts who
 * asked, and holds its answers while it is told to. With a certificate it speaks TLS. */
#ifndef TENON_TESTS_KEY_SERVER_H
#define TENON_TESTS_KEY_SERVER_H

#include <arpa/inet.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct key_server {
    int listener;
    uint16_t port;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t moved;
    char *answer; /* whole, with its head */
    unsigned n_asked;
    bool is_held;
    SSL_CTX *tls;     /* NULL: in clear */
    char asked[1024]; /* the last request */
};

static inline void key_server_says(struct key_server *server, const char *head, const char *body)
{
    char *answer = NULL;
    if (asprintf(&answer, "HTTP/1.1 %s\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n%s", head,
                 strlen(body), body) < 0)
        abort();
    pthread_mutex_lock(&server->mutex);
    free(server->answer);
    server->answer = answer;
    pthread_mutex_unlock(&server->mutex);
}

static inline void key_server_hold(struct key_server *server, bool held)
{
    pthread_mutex_lock(&server->mutex);
    server->is_held = held;
    pthread_cond_broadcast(&server->moved);
    pthread_mutex_unlock(&server->mutex);
}

static inline unsigned key_server_asked(struct key_server *server)
{
    pthread_mutex_lock(&server->mutex);
    unsigned n = server->n_asked;
    pthread_mutex_unlock(&server->mutex);
    return n;
}

static inline ssize_t key_server_read(SSL *tls, int fd, void *to, size_t n)
{
    return tls ? SSL_read(tls, to, (int)n) : read(fd, to, n);
}

static inline ssize_t key_server_send(SSL *tls, int fd, const void *from, size_t n)
{
    return tls ? SSL_write(tls, from, (int)n) : send(fd, from, n, MSG_NOSIGNAL);
}

static inline void key_server_answer(struct key_server *server, SSL *tls, int fd)
{
    size_t n = 0;
    ssize_t got;
    pthread_mutex_lock(&server->mutex);
    server->asked[0] = '\0';
    while (!strstr(server->asked, "\r\n\r\n") &&
           (got = key_server_read(tls, fd, server->asked + n, sizeof server->asked - 1 - n)) > 0)
        server->asked[n += (size_t)got] = '\0';
    server->n_asked += n > 0;
    while (server->is_held)
        pthread_cond_wait(&server->moved, &server->mutex);
    for (size_t at = 0, all = strlen(server->answer); n && at < all; at += (size_t)got)
        if ((got = key_server_send(tls, fd, server->answer + at, all - at)) <= 0)
            break;
    pthread_mutex_unlock(&server->mutex);
}

static inline void key_server_meet(struct key_server *server, int fd)
{
    SSL *tls = server->tls ? SSL_new(server->tls) : NULL;
    if (!tls) {
        key_server_answer(server, NULL, fd);
        return;
    }
    SSL_set_fd(tls, fd);
    if (SSL_accept(tls) == 1) {
        key_server_answer(server, tls, fd);
        SSL_shutdown(tls);
    }
    SSL_free(tls);
}

static inline void *key_server_run(void *ctx)
{
    struct key_server *server = ctx;
    int fd;
    while ((fd = accept(server->listener, NULL, NULL)) >= 0) {
        key_server_meet(server, fd);
        close(fd);
    }
    return NULL;
}

static inline void key_server_start(struct key_server *server)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof at;
    *server = (struct key_server){.listener = socket(AF_INET, SOCK_STREAM, 0)};
    if (bind(server->listener, (struct sockaddr *)&at, n) < 0 || listen(server->listener, 64) < 0 ||
        getsockname(server->listener, (struct sockaddr *)&at, &n) < 0)
        abort();
    server->port = ntohs(at.sin_port);
    pthread_mutex_init(&server->mutex, NULL);
    pthread_cond_init(&server->moved, NULL);
    key_server_says(server, "404 Not Found", "");
    if (pthread_create(&server->thread, NULL, key_server_run, server))
        abort();
}

static inline void key_server_stop(struct key_server *server)
{
    shutdown(server->listener, SHUT_RDWR);
    pthread_join(server->thread, NULL);
    close(server->listener);
    free(server->answer);
    SSL_CTX_free(server->tls);
    pthread_mutex_destroy(&server->mutex);
    pthread_cond_destroy(&server->moved);
}

#endif
