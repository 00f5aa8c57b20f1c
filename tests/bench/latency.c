/* tests/bench/latency.c - see latency.h.
 *
 *   first event    from the handler's call of tenon_log to the event at the client: a call, a
 *                  connection and a stream each time
 *   cancellation   from before the client sends it, to a worker that does not run the call, to the
 *                  return of tenon_wait in the handler
 *
 * One call at a time, so nothing waits for another.
 */
#include "tests/bench/latency.h"

#include "tests/bench/report.h"
#include "tests/lib/sse.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CALLS_MAX  10000
#define EVENT_MS   10000
#define TARGET_1ST 1.0
#define TARGET_CUT 2.0

static _Atomic int64_t *slots;

void latency_prepare(void)
{
    char path[] = "/tmp/tenon-bench-XXXXXX", shared[64];
    size_t n = CALLS_MAX * sizeof *slots;
    int fd = mkstemp(path);
    unlink(path);
    if (fd < 0 || ftruncate(fd, (off_t)n) < 0)
        report_die("no shared file");
    slots = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (slots == MAP_FAILED)
        report_die("no shared memory");
    snprintf(shared, sizeof shared, "/proc/%d/fd/%d", (int)getpid(), fd);
    setenv("TENON_BENCH_SLOTS", shared, 1);
}

static void call(struct rig *rig, const char *session, const char *tool, int i,
                 struct sse_stream *ret)
{
    char body[300];
    snprintf(body, sizeof body,
             "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\","
             "\"arguments\":{\"slot\":%d}}}",
             i, tool, i);
    if (!sse_post(ret, rig->server.port, session, body) || ret->status != 200 || !ret->is_stream)
        report_die("call %d of %s: no stream but %d", i, tool, ret->status);
}

/* The next event; its number behind `before`. */
static int64_t next_number(struct sse_stream *s, const char *before)
{
    struct sse_event event;
    if (sse_next(s, EVENT_MS, &event) != SSE_EVENT)
        report_die("no event");
    const char *found = strstr(event.data, before);
    if (!found)
        report_die("an unexpected event: %s", event.data);
    int64_t n = strtoll(found + strlen(before), NULL, 10);
    free(event.data);
    return n;
}

static void expect_end(struct sse_stream *s, int n_events)
{
    struct sse_event event;
    enum sse_got got;
    while ((got = sse_next(s, EVENT_MS, &event)) == SSE_EVENT) {
        n_events--;
        free(event.data);
    }
    if (got != SSE_END || n_events != 0)
        report_die("a stream does not end as it should");
    sse_close(s);
}

static double first_event_ms(struct rig *rig, const char *session, int i)
{
    struct sse_stream s;
    call(rig, session, "tell", i, &s);
    int64_t sent_ns = next_number(&s, "\"data\":"), got_ns = report_now_ns();
    expect_end(&s, 1);
    return (double)(got_ns - sent_ns) * 1e-6;
}

static double cancel_ms(struct rig *rig, const char *session, int i)
{
    struct sse_stream s;
    struct http_conn c;
    struct http_reply r = {0};
    char body[200];
    snprintf(body, sizeof body,
             "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
             "\"requestId\":%d}}",
             i);
    call(rig, session, "hold", i, &s);
    pid_t runs_it = (pid_t)next_number(&s, "worker ");
    rig_connect_to(rig, session, runs_it, true, &c);
    int64_t sent_ns = report_now_ns();
    if (http_post(&c, session, "2025-06-18", body, &r) != HTTP_REPLY || r.status != 202)
        report_die("a cancellation is refused: %d", r.status);
    http_free(&r);
    http_close(&c);
    expect_end(&s, 0);
    int64_t seen_ns = atomic_load(&slots[i]);
    if (seen_ns == 0)
        report_die("call %d ended, but was not cancelled", i);
    return (double)(seen_ns - sent_ns) * 1e-6;
}

void latency_measure(struct rig *rig, int n, bool has_targets)
{
    static double first[CALLS_MAX], cut[CALLS_MAX];
    struct http_conn c;
    char session[128];
    n = n < CALLS_MAX ? n : CALLS_MAX;
    rig_connect(rig, &c);
    rig_session(&c, session);
    http_close(&c);
    for (int i = 0; i < n; i++) {
        atomic_store(&slots[i], 0);
        first[i] = first_event_ms(rig, session, i);
        cut[i] = cancel_ms(rig, session, i);
    }
    printf("%d calls and %d cancellations, one at a time, %d workers\n", n, n, rig->n_workers);
    report_line("from the handler's call to its first event here, p50", report_part(first, n, 0.5),
                "ms", has_targets ? TARGET_1ST : 0);
    report_line("    p99", report_part(first, n, 0.99), "ms", 0);
    report_line("from a cancellation on another worker to the handler, p50",
                report_part(cut, n, 0.5), "ms", has_targets ? TARGET_CUT : 0);
    report_line("    p99", report_part(cut, n, 0.99), "ms", 0);
}
