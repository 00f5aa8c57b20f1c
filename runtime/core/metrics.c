/* core/metrics.c - see metrics.h. */
#include "core/metrics.h"

#include "base/clock.h"
#include "base/err.h"
#include "core/core_state.h"
#include "core/follow_parts.h"
#include "core/stream_parts.h"

#include <time.h>

/* ---- Counting ------------------------------------------------------------------------------- */

/* Upper bounds in microseconds: from a point read to what people wait for. */
static const uint32_t bounds_us[METRIC_LATENCIES] = {
    50, 100, 250, 500, 1000, 2500, 5000, 10000, 25000, 100000, 250000, 500000, 1000000, 10000000,
};

static uint64_t load(const _Atomic uint64_t *v)
{
    return atomic_load_explicit((_Atomic uint64_t *)v, memory_order_relaxed);
}

static void set(_Atomic uint64_t *v, uint64_t to)
{
    atomic_store_explicit(v, to, memory_order_relaxed);
}

void metrics_begin(struct metrics *m)
{
    metric_add(&m->cpu_before_us, load(&m->cpu_us));
    metric_add(&m->lives, 1);
    set(&m->cpu_us, 0);
    for (int i = 0; i < METRIC_GAUGES; i++)
        set(&m->gauges[i], 0);
}

static bool is_denial(int err)
{
    return err == ERR_UNAUTHORIZED || err == ERR_FORBIDDEN || err == ERR_SCOPE || err == ERR_RATE ||
           err == ERR_QUOTA;
}

static enum metric_outcome outcome_of(const struct call *call)
{
    if (call->is_silent)
        return METRIC_SILENT;
    return is_denial(call->err) ? METRIC_DENIED : call->err < 0 ? METRIC_ERROR : METRIC_OK;
}

static int bucket_of(uint64_t us)
{
    int i = 0;
    while (i < METRIC_LATENCIES && us > bounds_us[i])
        i++;
    return i;
}

void metrics_count(struct metrics *m, const struct call *call)
{
    bool is_counted = call->in.verb == CALL_POST &&
                      (call->message.kind == RPC_REQUEST || call->message.kind == RPC_NOTIFICATION);
    if (!is_counted)
        return;
    int64_t us = clock_mono_us() - call->began_us;
    metric_add(&m->requests[call->row ? call->row->method : MCP_METHODS][outcome_of(call)], 1);
    metric_add(&m->latency[bucket_of(us > 0 ? (uint64_t)us : 0)], 1);
    metric_add(&m->latency_us, us > 0 ? (uint64_t)us : 0);
}

static uint64_t cpu_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

void metrics_look(struct core *core)
{
    struct metrics *m = core->config.metrics;
    if (!m)
        return;
    set(&m->cpu_us, cpu_us());
    set(&m->gauges[METRIC_CALLS], core->running.n);
    set(&m->gauges[METRIC_STREAMS], core->streams->n_readers);
    set(&m->gauges[METRIC_PENDING], core->pendings.n);
    set(&m->gauges[METRIC_SUBSCRIPTIONS], core->follows->n_interests);
}

/* ---- Showing -------------------------------------------------------------------------------- */

static const char *const outcomes[METRIC_OUTCOMES] = {
    [METRIC_OK] = "ok",
    [METRIC_ERROR] = "error",
    [METRIC_DENIED] = "denied",
    [METRIC_SILENT] = "cancelled",
};

static const struct {
    const char *name, *help;
} gauges[METRIC_GAUGES] = {
    [METRIC_CALLS] = {"tenon_calls_in_flight", "Calls that have no answer yet"},
    [METRIC_STREAMS] = {"tenon_streams_open", "Open event streams"},
    [METRIC_PENDING] = {"tenon_client_requests_pending", "Requests to clients without an answer"},
    [METRIC_SUBSCRIPTIONS] = {"tenon_subscriptions_live", "Subscriptions with an open stream"},
};

static void head(struct buf *out, const char *name, const char *help, const char *type)
{
    buf_printf(out, "# HELP %s %s.\n# TYPE %s %s\n", name, help, name, type);
}

static unsigned long long sum(const struct metrics *blocks, uint32_t n, size_t offset)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < n; i++)
        total += load((const _Atomic uint64_t *)((const char *)&blocks[i] + offset));
    return total;
}
#define SUM(member) sum(blocks, n, offsetof(struct metrics, member))

static void write_requests(const struct metrics *blocks, uint32_t n, struct buf *out)
{
    head(out, "tenon_requests_total", "Requests and notifications by method and outcome",
         "counter");
    for (int m = 0; m <= MCP_METHODS; m++)
        for (int o = 0; o < METRIC_OUTCOMES; o++) {
            size_t offset = offsetof(struct metrics, requests) +
                            ((size_t)m * METRIC_OUTCOMES + (size_t)o) * sizeof(uint64_t);
            unsigned long long total = sum(blocks, n, offset);
            const char *name = m < MCP_METHODS ? mcp_method_name((enum mcp_method)m) : "other";
            if (total)
                buf_printf(out, "tenon_requests_total{method=\"%s\",outcome=\"%s\"} %llu\n", name,
                           outcomes[o], total);
        }
}

static void write_latency(const struct metrics *blocks, uint32_t n, struct buf *out)
{
    unsigned long long total = 0;
    head(out, "tenon_request_seconds", "Time from a request to its answer", "histogram");
    for (int i = 0; i <= METRIC_LATENCIES; i++) {
        total += sum(blocks, n,
                     offsetof(struct metrics, latency) + (size_t)i * sizeof blocks->latency[0]);
        if (i < METRIC_LATENCIES)
            buf_printf(out, "tenon_request_seconds_bucket{le=\"%g\"} %llu\n", bounds_us[i] / 1e6,
                       total);
    }
    buf_printf(out,
               "tenon_request_seconds_bucket{le=\"+Inf\"} %llu\ntenon_request_seconds_sum %.6f\n"
               "tenon_request_seconds_count %llu\n",
               total, (double)SUM(latency_us) / 1e6, total);
}

static void write_workers(const struct metrics *blocks, uint32_t n, struct buf *out)
{
    head(out, "tenon_worker_cpu_seconds_total", "CPU time of a worker", "counter");
    for (uint32_t i = 0; i < n; i++)
        buf_printf(out, "tenon_worker_cpu_seconds_total{worker=\"%u\"} %.6f\n", i,
                   (double)(load(&blocks[i].cpu_before_us) + load(&blocks[i].cpu_us)) / 1e6);
    head(out, "tenon_worker_starts_total", "Times that a worker was started", "counter");
    for (uint32_t i = 0; i < n; i++)
        buf_printf(out, "tenon_worker_starts_total{worker=\"%u\"} %llu\n", i,
                   (unsigned long long)load(&blocks[i].lives));
}

static void write_total(struct buf *out, const char *name, const char *help, const char *type,
                        int64_t v)
{
    if (v < 0)
        return;
    head(out, name, help, type);
    buf_printf(out, "%s %lld\n", name, (long long)v);
}

void metrics_write(const struct metrics *blocks, uint32_t n, const struct metrics_totals *totals,
                   struct buf *out)
{
    write_requests(blocks, n, out);
    write_latency(blocks, n, out);
    for (int i = 0; i < METRIC_GAUGES; i++)
        write_total(
            out, gauges[i].name, gauges[i].help, "gauge",
            (int64_t)sum(blocks, n,
                         offsetof(struct metrics, gauges) + (size_t)i * sizeof blocks->gauges[0]));
    write_total(out, "tenon_refused_total", "Requests refused by their credential", "counter",
                (int64_t)SUM(refused));
    write_total(out, "tenon_audit_lost_total", "Lines of the audit that could not be written",
                "counter", (int64_t)SUM(audit_lost));
    write_workers(blocks, n, out);
    write_total(out, "tenon_sessions", "Sessions in the store", "gauge", totals->sessions);
    write_total(out, "tenon_store_used_bytes", "What the database holds", "gauge",
                totals->store_bytes);
    write_total(out, "tenon_store_free_bytes", "Free pages in the file of the database", "gauge",
                totals->store_free_bytes);
    write_total(out, "tenon_sys_used_bytes", "What sessions, streams and mail hold", "gauge",
                totals->sys_bytes);
    write_total(out, "tenon_change_sequence", "Sequence of the last change", "counter",
                totals->sequence);
}
