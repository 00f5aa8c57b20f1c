/* base/log.c - see log.h. */
#include "base/log.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/log_ring.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

const char *log_level_name(enum log_level level)
{
    return level_names[level];
}

/* What a client says may stand in a line: it neither begins another one nor moves a terminal's
 * cursor. Control characters of ASCII, and those of Latin-1 in UTF-8. */
static void disarm(char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        unsigned char next = i + 1 < n ? (unsigned char)text[i + 1] : 0;
        if (c < 0x20 || c == 0x7f)
            text[i] = '?';
        else if (c == 0xc2 && next >= 0x80 && next < 0xa0)
            text[i] = text[i + 1] = '?';
    }
}

void log_line(enum log_level level, const char *fmt, ...)
{
    char line[LOG_LINE_BYTES], time[CLOCK_TEXT_BYTES], from[sizeof speaker + 16];
    if (level < lowest)
        return;
    struct log_entry entry = {.level = level, .time_ms = clock_wall_ms()};
    clock_write_text(entry.time_ms, time);
    snprintf(from, sizeof from, "%s[%d]", speaker, (int)getpid());
    size_t n = (size_t)snprintf(line, sizeof line, "%s %s %s: ", time, from, level_names[level]);
    size_t start = n;
    va_list args;
    va_start(args, fmt);
    int more = vsnprintf(line + n, sizeof line - n - 1, fmt, args);
    va_end(args);
    if (more > 0)
        n += (size_t)more;
    if (n > sizeof line - 2)
        n = sizeof line - 2;
    disarm(line + start, n - start);
    entry.from = str_of(from);
    entry.text = (struct str){line + start, (uint32_t)(n - start)};
    log_ring_add(&entry);
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
