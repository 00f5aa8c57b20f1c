/* tests/bench/latency.h - how soon a call that runs is heard, and hears. */
#ifndef TENON_TESTS_BENCH_LATENCY_H
#define TENON_TESTS_BENCH_LATENCY_H

/* Before the server starts: makes what it shares with the component. */
void latency_prepare(void);
/* Reports the first event of so many calls, and the cancellation of so many, on 4 workers. */
void latency_measure(int n_calls);

#endif
