/* core/change_mark.h - what a change is about, as one number: who waits for changes says by the
 * same numbers for which, so that nobody is woken for others. Different things may share a mark.
 */
#ifndef TENON_CORE_CHANGE_MARK_H
#define TENON_CORE_CHANGE_MARK_H

#include "base/node_map.h"

static inline uint64_t mark_of_row(uint32_t table, struct str key)
{
    return node_hash(node_hash(NODE_HASH, &table, sizeof table), key.p, key.n);
}

static inline uint64_t mark_of_table(uint32_t table) /* of its rows, any of them */
{
    return node_hash(node_hash(NODE_HASH, "t", 1), &table, sizeof table);
}

static inline uint64_t mark_of_uri(struct str uri) /* of a component's resource */
{
    return node_hash(NODE_HASH, uri.p, uri.n);
}

/* Of all changes of a commit. */
struct change_marks {
    const uint64_t *v; /* NULL: too many, or of tables as a whole: all who follow are to look */
    uint32_t n;
    bool has_access; /* of a user, role or token: everybody is to look, whatever he waits for */
};

#endif
