/* core/completion.h - what the tables propose to one who fills in a template of ours.
 *
 * Databases and tables by a prefix in any case, in order, with their number. Rows by their keys: a
 * text key by its beginning as it is written, an integer by its digits; so the key's own order
 * serves, and 101 rows are read at most however many there are, but nobody knows how many more.
 */
#ifndef TENON_CORE_COMPLETION_H
#define TENON_CORE_COMPLETION_H

#include "base/limits.h"
#include "core/call.h"
#include "core/key.h"
#include "core/store.h"
#include "generated/types.h"

enum completion_of { COMPLETION_DATABASE, COMPLETION_TABLE, COMPLETION_ID };

struct completion_asked {
    enum completion_of of;
    enum permission needs;      /* of the table whose URI it is to be */
    struct str value;           /* what was typed */
    struct str database, table; /* that were chosen already; STR_NONE: not yet */
};

/* Answers. CALL_LATER or an error. The call has its catalog. */
int completion_of_tables(struct call *call, const struct completion_asked *asked);

/* core/completion_keys.c: the ranges of keys that begin with `typed`, the shortest first. */
#define COMPLETION_RANGES_MAX 20
struct completion_ranges {
    struct store_range v[COMPLETION_RANGES_MAX];
    uint32_t n;
};
/* 0 or ERR_NO_MEMORY. */
int completion_ranges(enum key_type type, struct str typed, struct arena *arena,
                      struct completion_ranges *ret);

#endif
