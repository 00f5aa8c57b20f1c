/* net/listener.h - listening sockets of our own.
 *
 * libwebsockets 4.1.6 never sets SO_REUSEPORT and binds all interfaces when asked for 127.0.0.1
 * (RUNTIME.md K7, K8). The supervisor makes one socket per worker and address before it forks;
 * each worker accepts from its own.
 */
#ifndef TENON_NET_LISTENER_H
#define TENON_NET_LISTENER_H

#include "net/server.h"

struct loop;
struct listener;

/* Is anybody listening there? SO_REUSEPORT would let a second server start without a word, so ask
 * without it. 0 (free) or ERR_EXISTS, ERR_IO; *ret_why is then a sentence (static memory). */
int listener_probe(const struct net_address *address, const char **ret_why);
/* A bound, listening socket, shared by SO_REUSEPORT; *ret_port is the real one. ERR_FORBIDDEN: not
 * a loopback address and !allow_public. ERR_IO. */
int listener_bind(const struct net_address *address, bool allow_public, int *ret_fd,
                  uint16_t *ret_port, const char **ret_why);

/* Accepts on `fd`, which becomes its own, and hands each connection (non-blocking, no Nagle) to
 * `accepted` with its ownership. ERR_NO_MEMORY. */
int listener_open(struct loop *loop, int fd, const struct net_address *address,
                  void (*accepted)(void *ctx, int fd, const struct net_address *address), void *ctx,
                  struct listener **ret);
void listener_close(struct listener *listener);

#endif
