/* schema/json_schema_pattern.h - regular expressions of ECMA-262, run by PCRE2.
 *
 * The text is rewritten for PCRE2 escape by escape, and what the two languages do not share is
 * refused, so that no pattern means something else here than in a browser. Always with Unicode
 * semantics; `\d`, `\w` and `\b` are ASCII, `\s` is what ECMA says. Inside json_schema_*.c only.
 */
#ifndef TENON_SCHEMA_JSON_SCHEMA_PATTERN_H
#define TENON_SCHEMA_JSON_SCHEMA_PATTERN_H

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/arena.h"

#define PATTERN_SHORT_BYTES 256

struct schema_pattern {
    struct str text; /* as written in the schema */
    pcre2_code *code;
    pcre2_code *watched; /* the same, stopping at each item: for long texts */
};

/* All that PCRE2 allocates for a schema comes from its arena. */
struct pattern_compiler {
    struct arena *arena;
    pcre2_general_context *memory;
    pcre2_compile_context *context;
};

/* One thread's room for matching. A zeroed one is valid. */
struct pattern_room {
    pcre2_match_data *data;
    pcre2_match_context *watch; /* limits, and the clock of a long text */
};

/* 0; ERR_SYNTAX with *ret_why (static or of the arena); ERR_NO_MEMORY. */
int pattern_compile(struct pattern_compiler *compiler, struct str text,
                    const struct schema_pattern **ret, struct str *ret_why);
/* The limits of a match, for pattern_matches; NULL: no memory. */
pcre2_match_context *pattern_limits(struct pattern_compiler *compiler);

/* 1: somewhere in the text; 0: nowhere; ERR_LIMIT; ERR_TIMED_OUT: not found until then (monotonic
 * time); ERR_NO_MEMORY. PCRE2 counts the steps at each place of the text anew, and a run of one
 * class as one step, so its own limit bounds a short text only; in one of more than
 * PATTERN_SHORT_BYTES the clock is looked at, at every few items of the pattern. */
int pattern_matches(const struct schema_pattern *pattern, pcre2_match_context *limits,
                    struct pattern_room *room, struct str text, int64_t until_ms);
void pattern_room_done(struct pattern_room *room);

/* Rewrites for PCRE2 into `out`. NULL, or what is wrong (static text). */
const char *pattern_translate(struct str text, struct buf *out);

#endif
