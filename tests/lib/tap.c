/* tests/lib/tap.c - see tap.h. */
#include "tests/lib/tap.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static int n_tests, n_failed;

bool tap_ok(bool ok, const char *name, ...)
{
    n_tests++;
    n_failed += !ok;
    printf("%s %d - ", ok ? "ok" : "not ok", n_tests);
    va_list args;
    va_start(args, name);
    vprintf(name, args);
    va_end(args);
    putchar('\n');
    fflush(stdout);
    return ok;
}

void tap_note(const char *text, ...)
{
    char *s = NULL;
    va_list args;
    va_start(args, text);
    if (vasprintf(&s, text, args) < 0)
        s = NULL;
    va_end(args);
    for (char *line = s; line && *line;) {
        char *end = line;
        while (*end && *end != '\n')
            end++;
        printf("# %.*s\n", (int)(end - line), line);
        line = *end ? end + 1 : end;
    }
    free(s);
    fflush(stdout);
}

int tap_done(void)
{
    printf("1..%d\n", n_tests);
    return n_failed > 0;
}
