/* tests/unit/fail_calloc.h - lets a chosen calloc fail. Where a sanitizer or valgrind has its own
 * allocator this one is not asked; heap_can_fail tells.
 */
#ifndef TENON_TESTS_FAIL_CALLOC_H
#define TENON_TESTS_FAIL_CALLOC_H

#include <stdbool.h>
#include <stdlib.h>

static unsigned fail_calloc_in; /* fails the calloc that many calls ahead; 0: none */

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern void *__libc_calloc(size_t n, size_t size);
void *calloc(size_t n, size_t size);
void *calloc(size_t n, size_t size)
{
    if (fail_calloc_in && --fail_calloc_in == 0)
        return NULL;
    return __libc_calloc(n, size);
}
#endif

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
