/* wire/key_set.h - has this name been seen? For the members of objects without a table, and for
 * the names of tools.
 *
 * Up to KEY_SET_SMALL names are compared one by one, and only if a name with the same few bits was
 * seen; beyond that a hash table with a secret seed takes over, so that no choice of names makes it
 * quadratic.
 */
#ifndef TENON_WIRE_KEY_SET_H
#define TENON_WIRE_KEY_SET_H

#include "base/str.h"

#define KEY_SET_SMALL 32

struct key_set {
    struct str small[KEY_SET_SMALL];
    struct str *slots; /* heap; NULL while small is enough */
    uint32_t n, n_slots;
    uint64_t marks; /* of the names in small */
};

/* Leaves `small` as it is: only the first n are looked at. */
static inline void key_set_init(struct key_set *set)
{
    set->slots = NULL;
    set->n = set->n_slots = 0;
    set->marks = 0;
}
/* 1: added; 0: was there; ERR_NO_MEMORY. The bytes are borrowed. */
int key_set_add(struct key_set *set, struct str key);
void key_set_done(struct key_set *set);

#endif
