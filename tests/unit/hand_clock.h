/* tests/unit/hand_clock.h - base/clock.h moved by hand only: a test that includes this has no other
 * clock, so nothing in it depends on how fast the machine is.
 */
#ifndef TENON_TESTS_UNIT_HAND_CLOCK_H
#define TENON_TESTS_UNIT_HAND_CLOCK_H

#include "base/clock.h"

static _Atomic int64_t hand_ms = 1000000;
static _Atomic int64_t hand_step_ms;   /* that every question for the monotonic time takes */
static _Atomic unsigned n_clock_asked; /* for it */
static void (*when_clock_asked)(unsigned n);

int64_t clock_mono_ms(void)
{
    unsigned n = ++n_clock_asked;
    if (when_clock_asked)
        when_clock_asked(n);
    return hand_ms += hand_step_ms;
}

int64_t clock_mono_us(void)
{
    return clock_mono_ms() * 1000;
}

int64_t clock_wall_ms(void)
{
    return INT64_C(1700000000000) + hand_ms;
}

void clock_advance_ms(int64_t ms)
{
    hand_ms += ms;
}

#endif
