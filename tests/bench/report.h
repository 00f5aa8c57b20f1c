/* tests/bench/report.h - numbers of a benchmark: middles, lines, targets.
 *
 * Each result is one line; one with a target says whether it holds, and report_status is then the
 * exit status of the program. Only for the main thread.
 */
#ifndef TENON_TESTS_BENCH_REPORT_H
#define TENON_TESTS_BENCH_REPORT_H

#include <stddef.h>
#include <stdint.h>

int64_t report_now_ns(void);
void report_die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
/* The machine and how busy it is. */
void report_machine(void);
/* The one that `part` (0 to 1) of them do not exceed. Sorts them. */
double report_part(double *values, size_t n, double part);
/* `most` 0: there is no target. */
void report_line(const char *name, double value, const char *unit, double most);
int report_status(void);

#endif
