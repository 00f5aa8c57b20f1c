/* tests/unit/fail_calloc.h - lets a chosen calloc fail. Under valgrind, which has its own, this one
 * is not asked; heap_can_fail tells.
 */
#ifndef TENON_TESTS_FAIL_CALLOC_H
#define TENON_TESTS_FAIL_CALLOC_H

#include <stdbool.h>
#include <stdlib.h>

static unsigned fail_calloc_in; /* fails the calloc that many calls ahead; 0: none */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define NEXT_CALLOC __interceptor_calloc
#else
#define NEXT_CALLOC __libc_calloc
#endif
extern void *NEXT_CALLOC(size_t n, size_t size);
void *calloc(size_t n, size_t size);
void *calloc(size_t n, size_t size)
{
    if (fail_calloc_in && --fail_calloc_in == 0)
        return NULL;
    return NEXT_CALLOC(n, size);
}

static inline bool heap_can_fail(void)
{
    void *(*volatile allocate)(size_t n, size_t size) = calloc;
    fail_calloc_in = 1;
    void *p = allocate(1, 1);
    fail_calloc_in = 0;
    free(p);
    return p == NULL;
}

#endif
