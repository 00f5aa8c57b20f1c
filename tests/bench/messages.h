/* tests/bench/messages.h - a rotating set of distinct client messages, as bench_parse measures.
 *
 * Repeating one message flatters branch prediction, so every message differs in its ids, names,
 * numbers, text lengths and members. Two sets: `mix` is what a session sends (thirteen methods,
 * small), `calls` are tools/call messages with arguments of some hundred bytes.
 */
#ifndef TENON_BENCH_MESSAGES_H
#define TENON_BENCH_MESSAGES_H

#include "base/str.h"

#include <stdlib.h>

struct messages {
    struct str *v; /* each with JSON_PADDING_BYTES zeros behind it, one after the other */
    uint32_t n;
    size_t bytes;
    char *memory;
};

/* The same set every time. Exits when memory is short: a benchmark has no other way. */
struct messages messages_mix(uint32_t n);
struct messages messages_calls(uint32_t n);
void messages_done(struct messages *m);

#endif
