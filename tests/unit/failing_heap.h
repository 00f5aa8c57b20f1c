/* tests/unit/failing_heap.h - the n-th allocation of libtenon in this thread fails. The linker
 * sends them through here (--wrap, see the Makefile), so it works under sanitizers too.
 */
#ifndef TENON_TESTS_FAILING_HEAP_H
#define TENON_TESTS_FAILING_HEAP_H

#include <stdbool.h>
#include <stddef.h>

static _Thread_local unsigned fail_in; /* that many allocations ahead; 0: none fails */
static _Thread_local bool heap_failed;

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);

static bool heap_fails(void)
{
    bool now = fail_in && --fail_in == 0;
    heap_failed |= now;
    return now;
}

void *__wrap_malloc(size_t n)
{
    return heap_fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return heap_fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
    return heap_fails() ? NULL : __real_realloc(p, n);
}

/* The n-th from now fails, until heap_ok. */
static inline void heap_fail_at(unsigned n)
{
    heap_failed = false;
    fail_in = n;
}

/* Did it come to that? */
static inline bool heap_ok(void)
{
    fail_in = 0;
    return !heap_failed;
}

#endif
