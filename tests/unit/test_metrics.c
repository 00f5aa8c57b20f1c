/* tests/unit/test_metrics.c - what a worker counts, and what is left of it when another takes over;
 * the page's format is judged by tests/cli/monitor.sh. */
#include "core/metrics.h"
#include "tests/unit/ask.h"

static struct metrics blocks[2];
static struct buf page;

static int open_all(void **state)
{
    struct core_config config = bench_config;
    (void)state;
    memset(blocks, 0, sizeof blocks);
    config.metrics = &blocks[0];
    metrics_begin(&blocks[0]);
    bench_open(&bench, &config);
    bench_connect(&bench, "2025-06-18");
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    bench_close(&bench);
    buf_done(&page);
    return 0;
}

/* Of both blocks, with nothing known of the store. */
static const char *shown(void)
{
    static const struct metrics_totals unknown = {-1, -1, -1, -1, -1};
    buf_clear(&page);
    metrics_write(blocks, 2, &unknown, &page);
    buf_add_char(&page, '\0');
    return page.p;
}

static void has_line(const char *line)
{
    if (!strstr(shown(), line))
        fail_msg("no %s in:\n%s", line, page.p);
}

static void each_outcome_is_counted_by_its_method(void **state)
{
    (void)state;
    ask_method(&bench, "ping", "", "{}");
    ask_method(&bench, "ping", "", "{}");
    ask(&bench, 200, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\\\"b\\n\"}", "{\"error\":{}}");
    ask(&bench, 200, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"}", "{\"error\":{}}");
    has_line("\ntenon_requests_total{method=\"ping\",outcome=\"ok\"} 2\n");
    has_line("\ntenon_requests_total{method=\"other\",outcome=\"error\"} 1\n");
    has_line("\ntenon_requests_total{method=\"tools/call\",outcome=\"error\"} 1\n");
    has_line("\ntenon_request_seconds_count 6\n"); /* with two of the beginning */
    has_line("\ntenon_request_seconds_bucket{le=\"+Inf\"} 6\n");
}

static void workers_are_added_up(void **state)
{
    (void)state;
    metric_add(&blocks[0].refused, 2);
    metric_add(&blocks[1].refused, 3);
    metric_add(&blocks[1].audit_lost, 1);
    has_line("\ntenon_refused_total 5\n");
    has_line("\ntenon_audit_lost_total 1\n");
}

static void counters_outlive_a_worker_and_gauges_do_not(void **state)
{
    (void)state;
    ask_method(&bench, "ping", "", "{}");
    blocks[0].gauges[METRIC_STREAMS] = 7;
    blocks[0].cpu_us = 1500000;
    has_line("\ntenon_streams_open 7\n");
    has_line("\ntenon_worker_cpu_seconds_total{worker=\"0\"} 1.500000\n");
    metrics_begin(&blocks[0]);
    has_line("\ntenon_streams_open 0\n");
    has_line("\ntenon_requests_total{method=\"ping\",outcome=\"ok\"} 1\n");
    has_line("\ntenon_worker_cpu_seconds_total{worker=\"0\"} 1.500000\n");
    has_line("\ntenon_worker_starts_total{worker=\"0\"} 2\n");
}

static void what_is_not_known_is_not_shown(void **state)
{
    (void)state;
    assert_null(strstr(shown(), "tenon_sessions"));
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, open_all, close_all)
    const struct CMUnitTest tests[] = {
        TEST(each_outcome_is_counted_by_its_method),
        TEST(workers_are_added_up),
        TEST(counters_outlive_a_worker_and_gauges_do_not),
        TEST(what_is_not_known_is_not_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
