/* wire/key_set.c - open addressing over borrowed names; see key_set.h. */
#include "wire/key_set.h"

#include "base/err.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static uint64_t secrets[2];

static void make_secrets(void)
{
    if (getrandom(secrets, sizeof secrets, 0) != sizeof secrets)
        secrets[0] = secrets[1] = (uint64_t)(uintptr_t)&secrets * UINT64_C(0x9E3779B97F4A7C15);
    secrets[1] |= 1;
}

static uint64_t fold(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint32_t seeded_hash(struct str key)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_secrets);
    uint64_t hash = secrets[0] ^ key.n;
    for (uint32_t at = 0; at < key.n; at += 8) {
        uint64_t word = 0;
        memcpy(&word, key.p + at, key.n - at < 8 ? key.n - at : 8);
        hash = fold(hash ^ word, secrets[1] ^ hash >> 32);
    }
    return (uint32_t)fold(hash, UINT64_C(0x9E3779B97F4A7C15));
}

/* The slot of `key`, or the free one where it belongs. */
static struct str *find_slot(struct str *slots, uint32_t n_slots, struct str key)
{
    uint32_t at = seeded_hash(key) & (n_slots - 1);
    while (slots[at].p && !str_eq(slots[at], key))
        at = (at + 1) & (n_slots - 1);
    return &slots[at];
}

static int grow(struct key_set *set)
{
    uint32_t n_slots = set->slots ? set->n_slots * 2 : KEY_SET_SMALL * 4;
    struct str *slots = calloc(n_slots, sizeof *slots);
    if (!slots)
        return ERR_NO_MEMORY;
    const struct str *old = set->slots ? set->slots : set->small;
    uint32_t n_old = set->slots ? set->n_slots : set->n;
    for (uint32_t i = 0; i < n_old; i++)
        if (old[i].p)
            *find_slot(slots, n_slots, old[i]) = old[i];
    free(set->slots);
    set->slots = slots;
    set->n_slots = n_slots;
    return 0;
}

static uint64_t mark_of(struct str key)
{
    unsigned first = key.n ? (unsigned char)key.p[0] : 0,
             last = key.n ? (unsigned char)key.p[key.n - 1] : 0;
    return UINT64_C(1) << ((first * 5 + last * 3 + key.n) & 63);
}

static int add_small(struct key_set *set, struct str key)
{
    uint64_t mark = mark_of(key);
    if (set->marks & mark)
        for (uint32_t i = 0; i < set->n; i++)
            if (str_eq(set->small[i], key))
                return 0;
    set->marks |= mark;
    set->small[set->n++] = key;
    return 1;
}

int key_set_add(struct key_set *set, struct str key)
{
    if (!key.p)
        key.p = "";
    if (!set->slots && set->n < KEY_SET_SMALL)
        return add_small(set, key);
    if (!set->slots || set->n >= set->n_slots / 2) {
        int err = grow(set);
        if (err)
            return err;
    }
    struct str *slot = find_slot(set->slots, set->n_slots, key);
    if (slot->p)
        return 0;
    *slot = key;
    set->n++;
    return 1;
}

void key_set_done(struct key_set *set)
{
    free(set->slots);
    key_set_init(set);
}
