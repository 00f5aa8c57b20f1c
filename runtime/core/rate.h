/* core/rate.h - token buckets and counts of running calls, in memory that all workers share.
 *
 * A bucket is one 64-bit word: the moment at which it will be full again. To take a token moves
 * that moment on by the time that one token takes to come back, unless it would then be further
 * away than a whole bucket takes; so nothing has to be refilled, and a bucket that nobody uses is
 * the same as one that never was: no entry is ever made, pruned or cleared.
 *
 * The word is found by a hash of what the bucket is for. Two that share a word take each other's
 * tokens, so a collision may refuse what should be let through and never lets through what should
 * be refused. It is felt only if the other one is used up: with k buckets used up at a time an
 * innocent one is hit with a chance of k in RATE_BUCKETS, one in a million for each flood. The hash
 * is keyed by random bytes, so that nobody can choose whom he hits.
 *
 * Counts of running calls stand apart for each worker, so that those of one that died can be
 * forgotten; a limit holds for the sum. They collide in the same way, one in CONCURRENCY_COUNTS.
 *
 * All zero but for the key is the beginning. Any thread, any process.
 */
#ifndef TENON_CORE_RATE_H
#define TENON_CORE_RATE_H

#include "base/limits.h"
#include "base/str.h"

#include <stdatomic.h>

struct bus;

struct rates {
    uint64_t key[2];
    _Atomic uint64_t buckets[RATE_BUCKETS]; /* nanoseconds of clock_mono_us */
    _Atomic uint16_t counts[WORKERS_MAX][CONCURRENCY_COUNTS];
};

/* How much, and how much at once. */
struct rate {
    uint64_t interval_ns; /* until a token comes back; 0: there is no limit */
    uint32_t burst;       /* at least 1 */
};

/* Zeroed memory of this size becomes one. 0, or ERR_INTERNAL (no random bytes). */
int rates_init(struct rates *rates);

/* per_s 0: no limit; else from RATE_PER_S_MIN to RATE_PER_S_MAX. burst 0: as much as comes in a
 * second, at least 1; no more than RATE_BURST_MAX. */
struct rate rate_of(double per_s, uint32_t burst);

/* Hashes one thing after another: begin with 0. Never 0. */
uint64_t rate_hash(const struct rates *rates, uint64_t before, struct str text);
/* What a bucket is known by. A limit that is changed has other buckets, full ones. */
uint64_t rate_key(const struct rates *rates, uint64_t hash, const struct rate *rate);

/* How long until there is a token; 0: there is one. */
uint64_t rate_wait_ns(const struct rates *rates, uint64_t key, const struct rate *rate,
                      uint64_t now_ns);
/* Takes one; false: there is none. */
bool rate_take(struct rates *rates, uint64_t key, const struct rate *rate, uint64_t now_ns);
/* Of a call that came to nothing. */
void rate_give_back(struct rates *rates, uint64_t key, const struct rate *rate);

/* One more that runs here, unless there are `max` in all workers that are alive. Two that come at
 * the same moment may both be refused where one would do. max at most CONCURRENCY_MAX. */
bool count_enter(struct rates *rates, const struct bus *bus, uint64_t hash, uint32_t max);
void count_leave(struct rates *rates, const struct bus *bus, uint64_t hash);
/* Of all workers that are alive. */
uint32_t count_running(const struct rates *rates, const struct bus *bus, uint64_t hash);
/* A worker begins: what an earlier life of its slot left is gone. */
void counts_forget(struct rates *rates, const struct bus *bus);

#endif
