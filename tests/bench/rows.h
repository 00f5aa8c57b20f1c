/* tests/bench/rows.h - the generated rows of `make bench-data`.
 *
 * Row `i` of a table of `n` is a function of these two numbers, so the loader, the client that
 * asks for it and the next run agree without a file between them. Ten rows share each value of
 * `grp`, however many rows there are, and `score` is another for every row: a search by them finds
 * as much in a small table as in a large one. The rest is varied text, numbers and times.
 */
#ifndef TENON_BENCH_ROWS_H
#define TENON_BENCH_ROWS_H

#include "base/str.h"

#define ROWS_PER_GROUP 10

extern const char rows_definition[]; /* of the table, with its indexes */

uint64_t rows_mix(uint64_t x); /* a number to random bits */
/* One JSON object; i from 1, up to n and beyond (rows that are created later). */
void rows_write_json(uint64_t i, uint64_t n, struct buf *out);
/* A line of CSV, without what only nested values hold; i = 0: the names. */
void rows_write_csv(uint64_t i, uint64_t n, struct buf *out);

#endif
