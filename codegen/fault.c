/* codegen/fault.c - see fault.h. */
#include "codegen/fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned n_faults;

void fault_at(struct place place, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fprintf(stderr, "%s:%u: ", place.file, place.line);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
    n_faults++;
}

void fault_line(const char *line, int n)
{
    fprintf(stderr, "%.*s", n, line);
    n_faults++;
}

unsigned fault_count(void)
{
    return n_faults;
}

void *must(void *p)
{
    if (!p) {
        fputs("tenon-gen: out of memory\n", stderr);
        exit(1);
    }
    return p;
}
