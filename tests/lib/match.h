/* tests/lib/match.h - compares a JSON reply with the pattern that a transcript gives.
 *
 * A pattern is JSON in which
 *   *      stands for any value
 *   ...    in an object: further members are allowed; in an array: any number of elements
 *   $X     (one capital letter) holds the value: the first mention takes it, later ones compare
 *   "a*b"  in a string, * stands for any text
 * Members may stand in any order. Numbers are compared as they are written, so 1.0 is not 1. This
 * is a reader of its own on purpose: it shares no code with what it judges.
 */
#ifndef TENON_TESTS_MATCH_H
#define TENON_TESTS_MATCH_H

#include <stdbool.h>
#include <stddef.h>

struct match_vars {
    char *value[26]; /* of $A to $Z; a string's decoded text, else the raw JSON; NULL: not set */
};

void match_vars_clear(struct match_vars *vars);
void match_vars_set(struct match_vars *vars, char letter, const char *text);

/* Both texts end with NUL. false: `why` says what differs and where. */
bool match_json(const char *pattern, const char *json, struct match_vars *vars, char why[512]);
/* The same for a plain text, such as a header's value; a pattern "$X" takes or compares it. */
bool match_text(const char *pattern, const char *text, struct match_vars *vars);
/* One JSON value and nothing behind it. */
bool match_is_json(const char *text);
/* Raw text of a top-level member of an object, to be freed; NULL: none. */
char *match_member(const char *object, const char *key);

#endif
