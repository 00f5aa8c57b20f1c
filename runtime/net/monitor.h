/* net/monitor.h - what people and programs watch the server by, on a listener of its own.
 *
 *   GET /healthz   200 as long as the server runs
 *   GET /readyz    200 when every worker takes requests, else 503 and which does not
 *   GET /metrics   numbers in the Prometheus text format
 *
 * Served by a thread of the keeper, so that it answers when all workers are at their limits. There
 * is no user here: it says what an operator may see, and listens on loopback unless told
 * otherwise. A Host that is a name, other than localhost, is refused, since a page of another
 * origin could have it resolved to this address.
 */
#ifndef TENON_NET_MONITOR_H
#define TENON_NET_MONITOR_H

#include "net/process.h"

struct monitor;

/* A listening socket at the address of config->monitor, in the supervisor, before the forks; -1 if
 * there is none. A port that is taken is an error only if it was asked for
 * (config->monitor_is_wanted), else a warning. *ret_port is the real one. */
int monitor_listen(const struct net_config *config, int *ret_fd, uint16_t *ret_port);
/* In the keeper; child->monitor becomes its own. ERR_NO_MEMORY, ERR_IO. */
int monitor_start(const struct child *child, struct monitor **ret);
void monitor_stop(struct monitor *monitor); /* NULL is fine */

#endif
