/* tests/unit/store_scratch.h - a scratch directory for each test, for those that open stores of
 * their own in it.
 */
#ifndef TENON_TESTS_STORE_SCRATCH_H
#define TENON_TESTS_STORE_SCRATCH_H

#include "store_fixture.h"

static char dir[64];

static inline int set_up(void **state)
{
    (void)state;
    scratch_make(dir);
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    scratch_remove(dir);
    return 0;
}

#endif
