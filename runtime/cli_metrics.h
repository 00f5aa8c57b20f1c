/* cli_metrics.h - the numbers that `tenon serve` shows at /metrics: what workers count, and what
 * the store holds. */
#ifndef TENON_CLI_METRICS_H
#define TENON_CLI_METRICS_H

#include "config.h"
#include "core/metrics.h"
#include "net/server.h"

/* Blocks for n workers in memory that processes forked later share; NULL: no memory. Never freed.
 */
struct metrics *cli_metrics_new(uint32_t n);
/* Where to listen: false if the config says nowhere. *ret_is_wanted: it says where. */
bool cli_metrics_address(const struct config *config, struct net_address *ret, bool *ret_is_wanted);
/* Appends the page. Any thread of a process that has the store open; it opens views. */
void cli_metrics_write(const struct metrics *blocks, uint32_t n, struct store *store,
                       struct buf *out);

#endif
