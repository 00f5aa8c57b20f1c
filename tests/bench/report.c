/* tests/bench/report.c - see report.h. */
#include "tests/bench/report.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static unsigned n_targets, n_broken;

int64_t report_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void report_die(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(2);
}

static void cpu_model(char ret[128])
{
    FILE *f = fopen("/proc/cpuinfo", "r");
    char line[256];
    strcpy(ret, "unknown");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "model name : %127[^\n]", ret) == 1)
            break;
    if (f)
        fclose(f);
}

void report_machine(void)
{
    struct utsname name = {0};
    char model[128];
    double load[3] = {0};
    cpu_model(model);
    uname(&name);
    getloadavg(load, 3);
    printf("machine: %ld x %s, Linux %s, gcc %s\n", sysconf(_SC_NPROCESSORS_ONLN), model,
           name.release, __VERSION__);
    printf("load average before: %.2f %.2f %.2f (on a busy machine times say little)\n", load[0],
           load[1], load[2]);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double report_part(double *values, size_t n, double part)
{
    qsort(values, n, sizeof *values, compare);
    size_t i = (size_t)(part * (double)n);
    return n ? values[i < n ? i : n - 1] : 0;
}

void report_line(const char *name, double value, const char *unit, double most)
{
    bool is_broken = most > 0 && value > most;
    printf("%-58s %10.2f %-6s", name, value, unit);
    if (most > 0)
        printf(" target %.2f%s", most, is_broken ? ": BROKEN" : "");
    putchar('\n');
    fflush(stdout);
    n_targets += most > 0;
    n_broken += is_broken;
}

int report_status(void)
{
    printf("%u of %u targets hold\n", n_targets - n_broken, n_targets);
    return n_broken > 0;
}
