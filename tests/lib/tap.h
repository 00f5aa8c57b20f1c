/* tests/lib/tap.h - writes TAP, for test programs that are no cmocka groups. */
#ifndef TENON_TESTS_TAP_H
#define TENON_TESTS_TAP_H

#include <stdbool.h>

/* One result line; returns `ok`. */
bool tap_ok(bool ok, const char *name, ...) __attribute__((format(printf, 2, 3)));
/* A "# " line under the last result; newlines in the text become further "# " lines. */
void tap_note(const char *text, ...) __attribute__((format(printf, 1, 2)));
/* The plan; returns the exit status of the program. */
int tap_done(void);

#endif
