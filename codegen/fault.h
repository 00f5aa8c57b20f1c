/* codegen/fault.h - how the generator refuses its input: "file:line: reason", one line each.
 *
 * A stage goes on after a fault where it can, so that a person sees more than one; whoever runs
 * the stages asks fault_count between them and writes nothing when there is any.
 */
#ifndef TENON_CODEGEN_FAULT_H
#define TENON_CODEGEN_FAULT_H

#include <stdint.h>

/* Where something stood, for messages. */
struct place {
    const char *file;
    uint32_t line;
};

/* Prints to stderr and counts. */
void fault_at(struct place place, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same for a line that is worded already, its place and newline in it. */
void fault_line(const char *line, int n);
unsigned fault_count(void);
/* For tests that run the stages many times: nothing was wrong so far; from now on say nothing. */
void fault_forget(void);

/* Memory of the generator never runs out in practice; if it does, it says so and exits with 1. */
void *must(void *p);

#endif
