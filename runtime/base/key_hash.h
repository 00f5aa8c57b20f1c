/* base/key_hash.h - the hash of a JSON member name, for the perfect hashes in generated tables.
 *
 * The generator looks for a multiplier that spreads a message's keys; the reader finds the row by
 * it when its guess of the next member was wrong. Both sides must agree, so the function stands
 * here, and changing it means regenerating. Eight bytes at both ends and the length are enough to
 * tell any two names of the protocol apart. Reads nothing outside [p, p + n).
 */
#ifndef TENON_BASE_KEY_HASH_H
#define TENON_BASE_KEY_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t key_hash_load(const char *p, size_t n)
{
    uint64_t word = 0;
    memcpy(&word, p, n); /* little-endian, as the tables are */
    return word;
}

/* Over the decoded bytes of the key, without quotes. */
static inline uint32_t key_hash(const char *p, size_t n)
{
    uint64_t head, tail;
    if (n >= 8) {
        head = key_hash_load(p, 8);
        tail = key_hash_load(p + n - 8, 8);
    } else if (n >= 4) {
        head = key_hash_load(p, 4);
        tail = key_hash_load(p + n - 4, 4);
    } else {
        head = n ? ((uint64_t)(unsigned char)p[0] << 16 | (uint64_t)(unsigned char)p[n / 2] << 8 |
                    (unsigned char)p[n - 1])
                 : 0;
        tail = 0;
    }
    uint64_t mix = (head ^ (tail << 29 | tail >> 35) ^ n) * UINT64_C(0x9E3779B97F4A7C15);
    return (uint32_t)(mix >> 32);
}

/* Slot in an index of 1 << bits entries; bits is 1 to 31. */
static inline uint32_t key_hash_slot(uint32_t hash, uint32_t multiplier, unsigned bits)
{
    return (uint32_t)(hash * multiplier) >> (32 - bits);
}

#endif
