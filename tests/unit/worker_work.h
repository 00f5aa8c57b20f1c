/* tests/unit/worker_work.h - how much a worker of a rig works, and what it holds.
 */
#ifndef TENON_TEST_WORKER_WORK_H
#define TENON_TEST_WORKER_WORK_H

#include "net_rig.h"

static pid_t worker; /* by "pid", after the start */

UNUSED static int64_t worker_cpu_ns(void)
{
    char path[64];
    long long ns = 0;
    snprintf(path, sizeof path, "/proc/%d/schedstat", (int)worker);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%lld", &ns), 1);
    fclose(f);
    return ns;
}

/* A spinning loop takes all the time that it gets; a resting one wakes 20 times a second. */
UNUSED static void assert_rests(void)
{
    int64_t before_ns = worker_cpu_ns();
    poll(NULL, 0, 200);
    int64_t ns = worker_cpu_ns() - before_ns;
    if (ns > 40000000)
        fail_msg("the worker spins: %lld ms of CPU in 200 ms", (long long)ns / 1000000);
}

/* A line of /proc/N/status in KiB. */
UNUSED static long worker_kib(const char *name)
{
    char path[64], line[256];
    long kib = -1;
    snprintf(path, sizeof path, "/proc/%d/status", (int)worker);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f))
        if (!strncmp(line, name, strlen(name)))
            kib = strtol(line + strlen(name) + 1, NULL, 10);
    fclose(f);
    return kib;
}

#endif
