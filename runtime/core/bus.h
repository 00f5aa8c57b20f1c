/* core/bus.h - what core needs to know of the other workers: a port, implemented in net/.
 *
 * Only wakes travel between processes. A wake is a hint that something for the worker lies in the
 * store (core/mail.h, frames of a stream that it follows); who is woken looks there, and looks once
 * a second anyway, so a lost wake costs a second and loses nothing.
 *
 * A worker is known by its slot and its epoch, 64 random bits of one life: a slot whose epoch is
 * another one now has a new worker, and what only the old one knew is gone. Loop only, but that
 * bus_wake may be called by any thread.
 */
#ifndef TENON_CORE_BUS_H
#define TENON_CORE_BUS_H

#include <stdbool.h>
#include <stdint.h>

struct bus;
struct change_marks;
struct loop;

struct worker_id {
    uint32_t slot;
    uint64_t epoch; /* 0: nobody */
};

/* What a worker has, so that nobody is woken in vain. */
enum bus_flag {
    BUS_CALLS = 1 << 0,   /* that can be cancelled */
    BUS_STREAMS = 1 << 1, /* live */
    BUS_ASKS = 1 << 2,    /* questions to clients that wait for answers */
    BUS_FOLLOWS = 1 << 3, /* the change log for subscriptions */
};

/* All take NULL for a bus of one that wakes nobody: slot 0, epoch 1. A core always has a bus, one
 * of its own if it was given none. */
struct worker_id bus_self(const struct bus *bus);
uint32_t bus_slots(const struct bus *bus);                         /* slots are 0 .. n-1 */
struct worker_id bus_worker(const struct bus *bus, uint32_t slot); /* who has the slot now */
bool bus_is_alive(const struct bus *bus, struct worker_id worker);
/* Its on_wake is called soon; also for oneself. */
void bus_wake(struct bus *bus, uint32_t slot);
void bus_wake_all(struct bus *bus, uint32_t flags); /* that have one of these, oneself too */
/* Those with BUS_FOLLOWS that wait for one of these changes, or share a bucket with who does. Who
 * says so and then looks at the log misses none: either he sees it there, or he is woken. All who
 * are alive, if access changed. */
void bus_wake_followers(struct bus *bus, const struct change_marks *marks);
#define BUS_MARK_BUCKETS 65536
void bus_add_mark(struct bus *bus, uint64_t mark, int by); /* 1 or -1 */
/* Each has one user: whoever changes his leaves the others alone. */
void bus_set_flag(struct bus *bus, enum bus_flag flag, bool on);
uint32_t bus_flags(const struct bus *bus, uint32_t slot);
/* Questions to a session's client that wait for answers, counted by a hash of the session: here,
 * and of all other workers. Sessions that share a bucket are counted together. */
#define BUS_ASK_BUCKETS 4096
void bus_add_ask(struct bus *bus, uint32_t hash, int by); /* 1 or -1 */
uint32_t bus_asks_elsewhere(const struct bus *bus, uint32_t hash);
/* Called on the loop after wakes, and once a second without one. */
void bus_on_wake(struct bus *bus, void (*fn)(void *ctx), void *ctx);
/* That time has come: looks now. */
void bus_look(struct bus *bus);

/* The bus of a process that is alone: it is woken by itself only, by its loop. Free it with the
 * loop drained. */
int bus_new_alone(struct loop *loop, struct bus **ret);
void bus_free_alone(struct bus *bus); /* NULL is fine */

#endif
