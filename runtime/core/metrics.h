/* core/metrics.h - what a worker counts, where other processes can see it.
 *
 * Each worker slot has one block in memory that all processes share; only the worker that has the
 * slot writes it, on its loop, and whoever shows it reads (relaxed atomics: a number may be a
 * moment old, none is torn). A block belongs to the slot, so counters go on where the last life of
 * the worker left them and never fall; gauges are of the life that is there.
 */
#ifndef TENON_CORE_METRICS_H
#define TENON_CORE_METRICS_H

#include "core/call.h"
#include "generated/methods.h"

#include <stdatomic.h>

enum metric_outcome {
    METRIC_OK,
    METRIC_ERROR,  /* a JSON-RPC error */
    METRIC_DENIED, /* unknown user, missing permission, rate, quota */
    METRIC_SILENT, /* cancelled: it gets no answer */
    METRIC_OUTCOMES,
};

enum metric_gauge {
    METRIC_CALLS,         /* in flight that can be cancelled */
    METRIC_STREAMS,       /* open */
    METRIC_PENDING,       /* requests to clients that wait for an answer */
    METRIC_SUBSCRIPTIONS, /* followed here */
    METRIC_GAUGES,
};

#define METRIC_LATENCIES 14 /* bounds of the histogram: metrics.c */

struct metrics {
    _Atomic uint64_t requests[MCP_METHODS + 1][METRIC_OUTCOMES]; /* the last: of no known method */
    _Atomic uint64_t latency[METRIC_LATENCIES + 1]; /* that took as long; the last: longer */
    _Atomic uint64_t latency_us;                    /* of all */
    _Atomic uint64_t refused;                       /* at the head: 401, 403 */
    _Atomic uint64_t audit_lost;                    /* lines of the audit that were not written */
    _Atomic uint64_t cpu_before_us, cpu_us;         /* of earlier lives; of this one */
    _Atomic uint64_t lives;
    _Atomic uint64_t gauges[METRIC_GAUGES];
};

/* Any counter of one's own block. */
static inline void metric_add(_Atomic uint64_t *counter, uint64_t by)
{
    uint64_t v = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, v + by, memory_order_relaxed);
}

/* A new worker takes over the block of its slot. */
void metrics_begin(struct metrics *metrics);
/* The call has its answer: counts it, unless it is a batch (whose members are counted), no message,
 * or a response. Loop only. */
void metrics_count(struct metrics *metrics, const struct call *call);
/* With every tick: the gauges and the CPU time. Loop only. */
void metrics_look(struct core *core);

/* What the whole server shows beside the workers' own; -1: not known. */
struct metrics_totals {
    int64_t sessions, store_bytes, store_free_bytes, sequence, sys_bytes;
};
/* Appends the Prometheus text format, version 0.0.4, of n blocks. */
void metrics_write(const struct metrics *blocks, uint32_t n, const struct metrics_totals *totals,
                   struct buf *out);

#endif
