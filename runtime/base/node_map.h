/* base/node_map.h - a hash map whose entries are members of the caller's structs.
 *
 * It allocates its slots only; several entries may have one hash, and whoever looks compares them
 * himself. An entry can be taken out without the key. Without memory to grow it becomes slower, and
 * goes on.
 */
#ifndef TENON_BASE_NODE_MAP_H
#define TENON_BASE_NODE_MAP_H

#include "base/str.h"

struct map_node {
    struct map_node *next, **at; /* at NULL: in no map */
    uint64_t hash;
};

/* A zeroed one is valid and empty. */
struct node_map {
    struct map_node **slots;
    uint32_t n, n_slots; /* a power of 2 */
};

void node_map_done(struct node_map *map); /* entries stay the caller's */
/* False: no memory for the first slots. */
bool node_map_add(struct node_map *map, struct map_node *node, uint64_t hash);
void node_map_remove(struct node_map *map, struct map_node *node); /* in no map is fine */
/* The first entry with this hash, and the next such one behind `node`. NULL: no more. */
struct map_node *node_map_first(const struct node_map *map, uint64_t hash);
struct map_node *node_map_next(const struct map_node *node);
/* All entries in no order: the first for NULL. The one that was returned last may be removed once
 * the next is known. */
struct map_node *node_map_each(const struct node_map *map, const struct map_node *node);

/* FNV-1a, to be begun with NODE_HASH: nobody gains by making his own entries collide. */
#define NODE_HASH UINT64_C(0xcbf29ce484222325)
uint64_t node_hash(uint64_t hash, const void *p, size_t n);

#endif
