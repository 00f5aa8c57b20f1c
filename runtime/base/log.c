/* base/log.c - see log.h. */
#include "base/log.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/log_ring.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static enum log_level lowest = LOG_INFO;
static char speaker[32] = "tenon";
static const char *const level_names[] = {"debug", "info", "warning", "error"};

void log_set_level(enum log_level level)
{
    lowest = level;
}

void log_set_name(const char *name)
{
    snprintf(speaker, sizeof speaker, "%s", name);
}

static int write_stamp(char *line, size_t size, enum log_level level)
{
    int64_t ms = clock_wall_ms();
    time_t s = (time_t)(ms / 1000);
    struct tm t;
    gmtime_r(&s, &t);
    return snprintf(line, size, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ %s[%d] %s: ", t.tm_year + 1900,
                    t.tm_mon + 1, t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec, (int)(ms % 1000),
                    speaker, (int)getpid(), level_names[level]);
}

void log_line(enum log_level level, const char *fmt, ...)
{
    char line[LOG_LINE_BYTES];
    if (level < lowest)
        return;
    size_t n = (size_t)write_stamp(line, sizeof line, level);
    va_list args;
    va_start(args, fmt);
    int more = vsnprintf(line + n, sizeof line - n - 1, fmt, args);
    va_end(args);
    if (more > 0)
        n += (size_t)more;
    if (n > sizeof line - 2)
        n = sizeof line - 2;
    log_ring_add(level, (struct str){line, (uint32_t)n});
    line[n++] = '\n';
    if (write(STDERR_FILENO, line, n) < 0) {
        /* nobody listens; there is no better place to say so */
    }
}

void fatal(const char *fmt, ...)
{
    va_list args;
    fputs("tenon: ", stderr);
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fputc('\n', stderr);
    exit(1);
}
