/* core/rate.c - see rate.h. */
#include "core/rate.h"

#include "base/err.h"
#include "core/bus.h"

#include <math.h>
#include <string.h>
#include <sys/random.h>

#define NS_PER_S 1000000000.0

int rates_init(struct rates *rates)
{
    bool ok = getrandom(rates->key, sizeof rates->key, 0) == (ssize_t)sizeof rates->key;
    return ok ? 0 : ERR_INTERNAL;
}

/* Rounded to the strict side. */
struct rate rate_of(double per_s, uint32_t burst)
{
    if (!(per_s > 0))
        return (struct rate){0};
    double at_once = burst ? burst : floor(per_s);
    return (struct rate){
        .interval_ns = (uint64_t)ceil(NS_PER_S / fmin(fmax(per_s, RATE_PER_S_MIN), RATE_PER_S_MAX)),
        .burst = (uint32_t)fmin(fmax(at_once, 1), RATE_BURST_MAX),
    };
}

/* ---- Keys ----------------------------------------------------------------------------------- */

/* All bits of the product of both. */
static uint64_t mix(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t load(const char *p, uint32_t n)
{
    uint64_t word = 0;
    memcpy(&word, p, n);
    return word;
}

uint64_t rate_hash(const struct rates *rates, uint64_t before, struct str text)
{
    uint64_t h = mix(before ^ rates->key[0], rates->key[1] | 1) ^ text.n;
    while (text.n > 0) {
        uint32_t n = text.n < 8 ? text.n : 8;
        h = mix(h ^ load(text.p, n) ^ rates->key[0], UINT64_C(0x9E3779B97F4A7C15)) + rates->key[1];
        text = (struct str){text.p + n, text.n - n};
    }
    h = mix(h ^ rates->key[1], UINT64_C(0xD6E8FEB86659FD93));
    return h ? h : 1;
}

uint64_t rate_key(const struct rates *rates, uint64_t hash, const struct rate *rate)
{
    return mix(hash ^ rate->interval_ns, (rates->key[0] ^ (uint64_t)rate->burst << 1) | 1) ^ hash;
}

/* ---- Buckets -------------------------------------------------------------------------------- */

static _Atomic uint64_t *bucket(const struct rates *rates, uint64_t key)
{
    return (_Atomic uint64_t *)(uintptr_t)&rates->buckets[(key ^ key >> 32) % RATE_BUCKETS];
}

static uint64_t after(uint64_t full_ns, const struct rate *rate, uint64_t now_ns)
{
    return (full_ns > now_ns ? full_ns : now_ns) + rate->interval_ns;
}

static uint64_t wait_for(uint64_t full_ns, const struct rate *rate, uint64_t now_ns)
{
    uint64_t would = after(full_ns, rate, now_ns) - now_ns, most = rate->burst * rate->interval_ns;
    return would > most ? would - most : 0;
}

uint64_t rate_wait_ns(const struct rates *rates, uint64_t key, const struct rate *rate,
                      uint64_t now_ns)
{
    if (!rate->interval_ns)
        return 0;
    return wait_for(atomic_load(bucket(rates, key)), rate, now_ns);
}

bool rate_take(struct rates *rates, uint64_t key, const struct rate *rate, uint64_t now_ns)
{
    if (!rate->interval_ns)
        return true;
    _Atomic uint64_t *at = bucket(rates, key);
    uint64_t full_ns = atomic_load(at);
    do
        if (wait_for(full_ns, rate, now_ns))
            return false;
    while (!atomic_compare_exchange_weak(at, &full_ns, after(full_ns, rate, now_ns)));
    return true;
}

void rate_give_back(struct rates *rates, uint64_t key, const struct rate *rate)
{
    if (rate->interval_ns)
        atomic_fetch_sub(bucket(rates, key), rate->interval_ns);
}

/* ---- Counts --------------------------------------------------------------------------------- */

static _Atomic uint16_t *count_of(const struct rates *rates, uint32_t slot, uint64_t hash)
{
    uint64_t at = (hash ^ hash >> 32) % CONCURRENCY_COUNTS;
    return (_Atomic uint16_t *)(uintptr_t)&rates->counts[slot][at];
}

uint32_t count_running(const struct rates *rates, const struct bus *bus, uint64_t hash)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < bus_slots(bus); i++)
        if (bus_worker(bus, i).epoch)
            n += atomic_load(count_of(rates, i, hash));
    return n;
}

/* First in, then counted: of any that come together the last to look sees all the others. */
bool count_enter(struct rates *rates, const struct bus *bus, uint64_t hash, uint32_t max)
{
    atomic_fetch_add(count_of(rates, bus_self(bus).slot, hash), 1);
    if (count_running(rates, bus, hash) <= max)
        return true;
    count_leave(rates, bus, hash);
    return false;
}

void count_leave(struct rates *rates, const struct bus *bus, uint64_t hash)
{
    atomic_fetch_sub(count_of(rates, bus_self(bus).slot, hash), 1);
}

void counts_forget(struct rates *rates, const struct bus *bus)
{
    _Atomic uint16_t *counts = rates->counts[bus_self(bus).slot];
    for (uint32_t i = 0; i < CONCURRENCY_COUNTS; i++)
        if (counts[i]) /* reading alone makes no page of its own */
            counts[i] = 0;
}
