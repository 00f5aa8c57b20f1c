/* tests/bench/latency.h - how soon a call that runs is heard, and hears. */
#ifndef TENON_TESTS_BENCH_LATENCY_H
#define TENON_TESTS_BENCH_LATENCY_H

#include "tests/bench/rig.h"

/* Before the server starts: makes what it shares with the component. */
void latency_prepare(void);
/* Reports the first event of so many calls, and the cancellation of so many. */
void latency_measure(struct rig *rig, int n_calls, bool has_targets);

#endif
