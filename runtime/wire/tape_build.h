/* wire/tape_build.h - the pieces of the builder that tape_open uses too. Inside wire/ only. */
#ifndef TENON_WIRE_TAPE_BUILD_H
#define TENON_WIRE_TAPE_BUILD_H

#include "wire/tape.h"

/* Room for n nodes at once; a failure shows when they are added. */
void tape_expect(struct tape_builder *b, size_t n);
bool tape_grow(struct tape_builder *b); /* room for one more */
/* Appends a node, whatever is open; NULL: no memory. Valid until the next one. */
static inline struct tape_node *tape_add(struct tape_builder *b, enum tape_kind kind)
{
    if (b->n == b->cap && !tape_grow(b))
        return NULL;
    struct tape_node *node = &b->nodes[b->n++];
    *node = (struct tape_node){.kind = (uint8_t)kind};
    return node;
}
/* The container at index `at` ends here and has n values or members. */
void tape_seal(struct tape_builder *b, uint32_t at, uint32_t n);
/* 1; 0 with the name that stands twice; ERR_NO_MEMORY. */
int tape_keys_unique(const struct tape_node *object, struct str *ret_twice);

#endif
