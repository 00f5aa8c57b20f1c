/* base/node_map.c - see node_map.h. */
#include "base/node_map.h"

#include <stdlib.h>

#define FIRST_SLOTS 16

uint64_t node_hash(uint64_t hash, const void *p, size_t n)
{
    const unsigned char *bytes = p;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* The low bits of FNV are the best mixed, but short keys leave the high ones alone. */
static struct map_node **slot_of(struct map_node **slots, uint32_t n_slots, uint64_t hash)
{
    return &slots[(hash ^ hash >> 32) & (n_slots - 1)];
}

static void link_at(struct map_node **slot, struct map_node *node)
{
    node->next = *slot;
    node->at = slot;
    if (node->next)
        node->next->at = &node->next;
    *slot = node;
}

static bool grow(struct node_map *map)
{
    uint32_t n_slots = map->n_slots ? map->n_slots * 2 : FIRST_SLOTS;
    struct map_node **slots = n_slots ? calloc(n_slots, sizeof(struct map_node *)) : NULL;
    if (!slots)
        return map->n_slots > 0;
    for (uint32_t i = 0; i < map->n_slots; i++)
        for (struct map_node *node = map->slots[i], *next; node; node = next) {
            next = node->next;
            link_at(slot_of(slots, n_slots, node->hash), node);
        }
    free(map->slots);
    map->slots = slots;
    map->n_slots = n_slots;
    return true;
}

void node_map_done(struct node_map *map)
{
    free(map->slots);
    *map = (struct node_map){.slots = NULL};
}

bool node_map_add(struct node_map *map, struct map_node *node, uint64_t hash)
{
    if (map->n >= map->n_slots && !grow(map))
        return false;
    node->hash = hash;
    link_at(slot_of(map->slots, map->n_slots, hash), node);
    map->n++;
    return true;
}

void node_map_remove(struct node_map *map, struct map_node *node)
{
    if (!node->at)
        return;
    *node->at = node->next;
    if (node->next)
        node->next->at = node->at;
    node->at = NULL;
    map->n--;
}

static struct map_node *with_hash(struct map_node *node, uint64_t hash)
{
    while (node && node->hash != hash)
        node = node->next;
    return node;
}

struct map_node *node_map_first(const struct node_map *map, uint64_t hash)
{
    return map->n ? with_hash(*slot_of(map->slots, map->n_slots, hash), hash) : NULL;
}

struct map_node *node_map_next(const struct map_node *node)
{
    return with_hash(node->next, node->hash);
}

struct map_node *node_map_each(const struct node_map *map, const struct map_node *node)
{
    uint32_t i = 0;
    if (node && node->next)
        return node->next;
    if (node)
        i = (uint32_t)(slot_of(map->slots, map->n_slots, node->hash) - map->slots) + 1;
    while (i < map->n_slots && !map->slots[i])
        i++;
    return i < map->n_slots ? map->slots[i] : NULL;
}
