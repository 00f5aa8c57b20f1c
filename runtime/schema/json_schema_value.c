/* schema/json_schema_value.c - whole values compared: hashes, sets, uniqueness; and numbers.
 *
 * Hashes are seeded once per process, so that nobody can choose values that collide. Numbers are
 * compared exactly, and multipleOf counts in decimals, because 0.0075 and 0.0001 mean what they
 * say and not their nearest doubles. */
#include "schema/json_schema_parts.h"

#include "base/err.h"

#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* ---- hashes --------------------------------------------------------------------------------- */

static uint64_t seed[2];

static void make_seed(void)
{
    if (getrandom(seed, sizeof seed, 0) != sizeof seed)
        seed[0] = seed[1] = (uint64_t)(uintptr_t)&seed * UINT64_C(0x9E3779B97F4A7C15);
    seed[1] |= 1;
}

__attribute__((constructor)) static void init_seed(void)
{
    make_seed();
}

static inline uint64_t fold(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t load(const char *p, uint32_t n)
{
    uint64_t word = 0;
    memcpy(&word, p, n);
    return word;
}

static inline uint64_t hash_bytes(const char *p, uint32_t n)
{
    uint64_t hash = seed[0] ^ n;
    for (; n > 8; p += 8, n -= 8)
        hash = fold(hash ^ load(p, 8), seed[1] ^ hash >> 32);
    return fold(hash ^ (n == 8 ? load(p, 8) : load(p, n)), seed[1] ^ hash >> 32);
}

static uint64_t hash_value(const struct tape_node *value);

static uint64_t hash_number(const struct tape_node *value)
{
    uint64_t bits;
    double d = value->v.d;
    if (value->kind == TAPE_INT)
        bits = (uint64_t)value->v.i;
    else if (d >= -0x1p63 && d < 0x1p63 && d == trunc(d))
        bits = (uint64_t)(int64_t)d;
    else
        memcpy(&bits, &d, sizeof bits);
    return fold(bits ^ seed[0], seed[1]);
}

static uint64_t hash_array(const struct tape_node *array)
{
    uint64_t hash = seed[0] ^ TAPE_ARRAY;
    const struct tape_node *item = array + 1;
    for (uint32_t i = 0; i < array->n; i++, item = tape_next(item))
        hash = fold(hash ^ hash_value(item), seed[1]);
    return hash;
}

/* A sum, because members have no order. */
static uint64_t hash_object(const struct tape_node *object)
{
    uint64_t sum = object->n;
    tape_each (object, key, value)
        sum += fold(hash_bytes(key->v.s, key->n) ^ seed[0], hash_value(value) ^ seed[1]);
    return fold(sum ^ seed[0], seed[1]);
}

static uint64_t hash_value(const struct tape_node *value)
{
    switch ((enum tape_kind)value->kind) {
    case TAPE_INT:
    case TAPE_NUM:
        return hash_number(value);
    case TAPE_STR:
        return hash_bytes(value->v.s, value->n);
    case TAPE_ARRAY:
        return hash_array(value);
    case TAPE_OBJECT:
        return hash_object(value);
    default:
        return fold(seed[0] ^ value->kind, seed[1]);
    }
}

uint32_t value_hash(const struct tape_node *value)
{
    return (uint32_t)(hash_value(value) >> 32);
}

uint32_t value_hash_str(struct str s)
{
    return (uint32_t)(hash_bytes(s.p, s.n) >> 32);
}

/* ---- sets ----------------------------------------------------------------------------------- */

/* The slot that holds an equal value, or the free one where it belongs. */
static uint32_t find_slot(const struct value_set *set, const struct tape_node *value, uint32_t hash)
{
    uint32_t at = hash & set->mask;
    for (; set->slots[at]; at = (at + 1) & set->mask)
        if (set->hashes[at] == hash && tape_equal(set->values[set->slots[at] - 1], value))
            break;
    return at;
}

/* True if it was not there. */
static bool set_add(struct value_set *set, const struct tape_node *value)
{
    uint32_t hash = value_hash(value), at = find_slot(set, value, hash);
    if (set->slots[at])
        return false;
    set->values[set->n++] = value;
    set->slots[at] = set->n;
    set->hashes[at] = hash;
    return true;
}

static uint32_t n_slots_for(uint32_t n)
{
    uint32_t n_slots = 4;
    while (n_slots < n * 2)
        n_slots *= 2;
    return n_slots;
}

int value_set_make(const struct tape_node *array, struct arena *arena, struct value_set *ret)
{
    uint32_t n_slots = n_slots_for(array->n);
    struct value_set set = {.mask = n_slots - 1};
    set.values = arena_array(arena, array->n, sizeof *set.values);
    set.slots = arena_zalloc(arena, n_slots * sizeof *set.slots);
    set.hashes = arena_array(arena, n_slots, sizeof *set.hashes);
    if (!set.values || !set.slots || !set.hashes)
        return ERR_NO_MEMORY;
    const struct tape_node *value = array + 1;
    for (uint32_t i = 0; i < array->n; i++, value = tape_next(value))
        set_add(&set, value);
    *ret = set;
    return 0;
}

bool value_set_has(const struct value_set *set, const struct tape_node *value)
{
    return set->slots[find_slot(set, value, value_hash(value))] != 0;
}

#define UNIQUE_SMALL 8 /* compared one by one */

static bool differ_pairwise(const struct tape_node *array)
{
    const struct tape_node *a = array + 1;
    for (uint32_t i = 0; i < array->n; i++, a = tape_next(a)) {
        const struct tape_node *b = tape_next(a);
        for (uint32_t j = i + 1; j < array->n; j++, b = tape_next(b))
            if (tape_equal(a, b))
                return false;
    }
    return true;
}

static int differ_by_hash(const struct tape_node *array)
{
    uint32_t n_slots = n_slots_for(array->n);
    struct value_set set = {.mask = n_slots - 1};
    set.values = malloc(array->n * sizeof *set.values);
    set.slots = calloc(n_slots, 2 * sizeof *set.slots);
    int unique = set.values && set.slots ? 1 : ERR_NO_MEMORY;
    set.hashes = unique == 1 ? set.slots + n_slots : NULL;
    const struct tape_node *value = array + 1;
    for (uint32_t i = 0; i < array->n && unique == 1; i++, value = tape_next(value))
        unique = set_add(&set, value);
    free(set.values);
    free(set.slots);
    return unique;
}

int value_all_unique(const struct tape_node *array)
{
    return array->n <= UNIQUE_SMALL ? differ_pairwise(array) : differ_by_hash(array);
}

/* ---- numbers -------------------------------------------------------------------------------- */

bool number_is_integral(double d)
{
    return d == trunc(d);
}

static int compare_int_to_double(int64_t i, double d)
{
    if (d >= 0x1p63)
        return -1;
    if (d < -0x1p63)
        return 1;
    int64_t whole = (int64_t)d;
    if (i != whole)
        return i < whole ? -1 : 1;
    double fraction = d - (double)whole;
    return (fraction < 0) - (fraction > 0);
}

int number_compare(const struct tape_node *a, const struct tape_node *b)
{
    if (a->kind == TAPE_INT && b->kind == TAPE_INT)
        return (a->v.i > b->v.i) - (a->v.i < b->v.i);
    if (a->kind == TAPE_INT)
        return compare_int_to_double(a->v.i, b->v.d);
    if (b->kind == TAPE_INT)
        return -compare_int_to_double(b->v.i, a->v.d);
    return (a->v.d > b->v.d) - (a->v.d < b->v.d);
}

/* |value| = digits * 10^exponent */
struct decimal {
    uint64_t digits;
    int exponent;
};

/* By the fewest digits that read back as the same double. */
static struct decimal decimal_of_double(double d)
{
    char text[40];
    int precision = fabs(d) < DBL_MIN ? 0 : 14;
    do
        snprintf(text, sizeof text, "%.*e", precision, fabs(d));
    while (strtod(text, NULL) != fabs(d) && precision++ < 16);
    struct decimal ret = {0, 0};
    const char *p = text;
    for (; *p && *p != 'e'; p++)
        if (*p >= '0' && *p <= '9')
            ret.digits = ret.digits * 10 + (uint64_t)(*p - '0');
    ret.exponent = atoi(p + 1) - precision;
    while (ret.digits && ret.digits % 10 == 0) {
        ret.digits /= 10;
        ret.exponent++;
    }
    return ret;
}

static struct decimal decimal_of(const struct tape_node *number)
{
    if (number->kind == TAPE_NUM)
        return decimal_of_double(number->v.d);
    int64_t i = number->v.i;
    return (struct decimal){i < 0 ? -(uint64_t)i : (uint64_t)i, 0};
}

static uint64_t multiply_modulo(uint64_t a, uint64_t b, uint64_t m)
{
    return (uint64_t)((unsigned __int128)a * b % m);
}

static uint64_t power_of_ten_modulo(unsigned exponent, uint64_t m)
{
    uint64_t ret = 1 % m, base = 10 % m;
    for (; exponent; exponent >>= 1) {
        if (exponent & 1)
            ret = multiply_modulo(ret, base, m);
        base = multiply_modulo(base, base, m);
    }
    return ret;
}

bool number_is_multiple(const struct tape_node *value, const struct tape_node *of)
{
    if (value->kind == TAPE_INT && of->kind == TAPE_INT)
        return of->v.i == -1 || value->v.i % of->v.i == 0;
    struct decimal v = decimal_of(value), m = decimal_of(of);
    int shift = v.exponent - m.exponent;
    if (v.digits == 0)
        return true;
    if (shift >= 0)
        return multiply_modulo(v.digits % m.digits, power_of_ten_modulo((unsigned)shift, m.digits),
                               m.digits) == 0;
    unsigned __int128 scaled = m.digits; /* by at most 10^19, what v.digits can hold */
    for (; shift < 0 && scaled <= v.digits; shift++)
        scaled *= 10;
    return scaled <= v.digits && v.digits % (uint64_t)scaled == 0;
}
