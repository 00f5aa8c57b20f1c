/* base/clock.c - see clock.h. */
#include "base/clock.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static _Atomic int64_t advanced_ms;

/* Read on every question: only test servers have the file, and they ask seldom. */
static int64_t file_ms(void)
{
    static const char *path;
    static _Atomic int looked;
    if (!looked) {
        path = getenv("TENON_CLOCK_FILE");
        looked = 1;
    }
    if (!path)
        return 0;
    char text[24] = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    return n > 0 ? strtoll(text, NULL, 10) : 0;
}

static int64_t now_us(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000 + (advanced_ms + file_ms()) * 1000;
}

int64_t clock_mono_ms(void)
{
    return now_us(CLOCK_MONOTONIC) / 1000;
}

int64_t clock_mono_us(void)
{
    return now_us(CLOCK_MONOTONIC);
}

int64_t clock_wall_ms(void)
{
    return now_us(CLOCK_REALTIME) / 1000;
}

void clock_advance_ms(int64_t ms)
{
    advanced_ms += ms;
}
