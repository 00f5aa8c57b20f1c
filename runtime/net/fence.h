/* net/fence.h - HTTP/1.1 of one worker: libwebsockets 4.1.6 with a fence at each of its traps.
 *
 * The only room that knows libwebsockets. A request becomes a call for core; core's answer becomes
 * one write. Which trap is fenced where stands in fence.c beside each fence, by its number in
 * RUNTIME.md.
 */
#ifndef TENON_NET_FENCE_H
#define TENON_NET_FENCE_H

#include "net/server.h"

struct fence;
struct tls;

/* `config` with every default filled in; `tls` NULL: plain HTTP. 0, ERR_NO_MEMORY or ERR_IO. */
int fence_open(const struct net_config *config, struct tls *tls, struct loop *loop,
               struct core *core, struct fence **ret);
/* Accepts on this listening socket, which becomes the fence's own. */
int fence_listen(struct fence *fence, int fd, const struct net_address *address);

/* Closes the listeners and idle connections, lets running requests finish; then, or after
 * grace_ms, calls loop_stop. */
void fence_stop(struct fence *fence, int64_t grace_ms);
/* Cuts what is left. Calls that core still holds are freed when they finish. */
void fence_close(struct fence *fence);

#endif
