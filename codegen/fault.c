/* codegen/fault.c - see fault.h. */
#include "codegen/fault.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned n_faults;
static bool silent;

void fault_at(struct place place, const char *fmt, ...)
{
    va_list args;
    n_faults++;
    if (silent)
        return;
    va_start(args, fmt);
    fprintf(stderr, "%s:%u: ", place.file, place.line);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
}

void fault_line(const char *line, int n)
{
    n_faults++;
    if (!silent)
        fprintf(stderr, "%.*s", n, line);
}

unsigned fault_count(void)
{
    return n_faults;
}

void fault_forget(void)
{
    n_faults = 0;
    silent = true;
}

void *must(void *p)
{
    if (!p) {
        fputs("tenon-gen: out of memory\n", stderr);
        exit(1);
    }
    return p;
}
