/* base/clock_text.c - a time as text; apart from clock.c, which tests replace. */
#include "base/clock.h"

#include <stdio.h>
#include <time.h>

void clock_write_text(int64_t wall_ms, char ret[CLOCK_TEXT_BYTES])
{
    int ms = (int)(wall_ms % 1000);
    time_t s = (time_t)(wall_ms / 1000 - (ms < 0));
    struct tm t;
    ret[0] = '\0';
    if (!gmtime_r(&s, &t) || t.tm_year < -1900 || t.tm_year > 9999 - 1900)
        return;
    size_t n = strftime(ret, CLOCK_TEXT_BYTES, "%Y-%m-%dT%H:%M:%S", &t);
    snprintf(ret + n, CLOCK_TEXT_BYTES - n, ".%03dZ", ms < 0 ? ms + 1000 : ms);
}
