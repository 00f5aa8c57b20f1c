/* net/bus.c - see core/bus.h and bus.h. */
#include "net/bus.h"

#include "base/err.h"
#include "base/log.h"
#include "core/change_mark.h"

#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

static const struct worker_id alone = {.slot = 0, .epoch = 1};

static void forget_asks(struct bus_slot *slot)
{
    for (uint32_t i = 0; i < BUS_ASK_BUCKETS; i++)
        if (slot->asks[i])
            slot->asks[i] = 0;
}

static void forget_marks(struct bus_slot *slot)
{
    for (uint32_t i = 0; slot->has_marks && i < BUS_MARK_BUCKETS; i++)
        if (slot->marks[i])
            slot->marks[i] = 0;
    slot->has_marks = false;
}

/* ---- Lives ---------------------------------------------------------------------------------- */

int bus_join(struct bus *bus, struct bus_slot *slots, const int *wakes, uint32_t n, uint32_t self)
{
    struct bus_slot *mine = &slots[self];
    uint64_t epoch = 0;
    while (epoch <= alone.epoch) /* that of a process on its own, and nobody's, are never drawn */
        if (getrandom(&epoch, sizeof epoch, 0) != (ssize_t)sizeof epoch)
            return ERR_INTERNAL;
    *bus = (struct bus){.slots = slots, .wakes = wakes, .n = n, .self = self};
    mine->flags = 0;
    mine->woken = false;
    forget_asks(mine);
    forget_marks(mine);
    mine->epoch = epoch;
    return 0;
}

static void on_post(struct loop_post *post)
{
    bus_look((struct bus *)post); /* its first member */
}

int bus_new_alone(struct loop *loop, struct bus **ret)
{
    struct bus *bus = calloc(1, sizeof *bus);
    if (!bus)
        return ERR_NO_MEMORY;
    bus->post.fn = on_post;
    bus->loop = loop;
    bus->slots = &bus->own;
    bus->own.epoch = alone.epoch;
    bus->n = 1;
    *ret = bus;
    return 0;
}

void bus_free_alone(struct bus *bus)
{
    free(bus);
}

/* ---- Wakes ---------------------------------------------------------------------------------- */

static void write_wake(int fd)
{
    const uint64_t one = 1;
    if (write(fd, &one, sizeof one) != sizeof one)
        log_warn("a worker cannot be woken"); /* it looks within a second */
}

void bus_end(struct bus_slot *slots, const int *wakes, uint32_t n, uint32_t slot)
{
    slots[slot].epoch = 0;
    slots[slot].flags = 0;
    forget_asks(&slots[slot]);
    forget_marks(&slots[slot]);
    for (uint32_t i = 0; i < n; i++)
        if (slots[i].epoch)
            write_wake(wakes[i]);
}

void bus_wake(struct bus *bus, uint32_t slot)
{
    if (!bus || slot >= bus->n || atomic_exchange(&bus->slots[slot].woken, true))
        return;
    if (bus->loop)
        loop_post(bus->loop, &bus->post);
    else
        write_wake(bus->wakes[slot]);
}

void bus_wake_all(struct bus *bus, uint32_t flags)
{
    for (uint32_t i = 0; i < bus_slots(bus); i++)
        if (bus_flags(bus, i) & flags)
            bus_wake(bus, i);
}

static uint32_t bucket_of(uint64_t mark)
{
    return (uint32_t)(mark ^ mark >> 32) % BUS_MARK_BUCKETS;
}

static bool waits_for(const struct bus_slot *slot, const struct change_marks *marks)
{
    if (marks->has_access)
        return slot->epoch != 0;
    if (!(slot->flags & BUS_FOLLOWS))
        return false;
    for (uint32_t i = 0; marks->v && i < marks->n; i++)
        if (slot->marks[bucket_of(marks->v[i])])
            return true;
    return !marks->v;
}

/* The commit before what was said of marks, as there the mark before the look: so that one of the
 * two sees the other. */
void bus_wake_followers(struct bus *bus, const struct change_marks *marks)
{
    atomic_thread_fence(memory_order_seq_cst);
    for (uint32_t i = 0; bus && i < bus->n; i++)
        if (waits_for(&bus->slots[i], marks))
            bus_wake(bus, i);
}

void bus_add_mark(struct bus *bus, uint64_t mark, int by)
{
    if (!bus)
        return;
    bus->slots[bus->self].has_marks = true;
    atomic_fetch_add(&bus->slots[bus->self].marks[bucket_of(mark)], (uint32_t)by);
    atomic_thread_fence(memory_order_seq_cst);
}

void bus_on_wake(struct bus *bus, void (*fn)(void *ctx), void *ctx)
{
    if (!bus)
        return;
    bus->on_wake = fn;
    bus->ctx = ctx;
}

/* The mark goes first: what comes after it wakes again. The post of one that is alone is in its
 * loop for as long as the mark stands. */
void bus_look(struct bus *bus)
{
    if (!bus)
        return;
    bus->slots[bus->self].woken = false;
    if (bus->on_wake)
        bus->on_wake(bus->ctx);
}

/* ---- Who is there --------------------------------------------------------------------------- */

struct worker_id bus_self(const struct bus *bus)
{
    return bus ? bus_worker(bus, bus->self) : alone;
}

uint32_t bus_slots(const struct bus *bus)
{
    return bus ? bus->n : 1;
}

struct worker_id bus_worker(const struct bus *bus, uint32_t slot)
{
    if (!bus)
        return slot == 0 ? alone : (struct worker_id){.slot = slot};
    return (struct worker_id){slot, slot < bus->n ? bus->slots[slot].epoch : 0};
}

bool bus_is_alive(const struct bus *bus, struct worker_id worker)
{
    return worker.epoch && bus_worker(bus, worker.slot).epoch == worker.epoch;
}

void bus_set_flag(struct bus *bus, enum bus_flag flag, bool on)
{
    if (!bus)
        return;
    if (on)
        atomic_fetch_or(&bus->slots[bus->self].flags, flag);
    else
        atomic_fetch_and(&bus->slots[bus->self].flags, ~(uint32_t)flag);
}

uint32_t bus_flags(const struct bus *bus, uint32_t slot)
{
    return bus && slot < bus->n ? bus->slots[slot].flags : 0;
}

/* ---- Questions ------------------------------------------------------------------------------ */

void bus_add_ask(struct bus *bus, uint32_t hash, int by)
{
    if (bus)
        atomic_fetch_add(&bus->slots[bus->self].asks[hash % BUS_ASK_BUCKETS], (uint16_t)by);
}

uint32_t bus_asks_elsewhere(const struct bus *bus, uint32_t hash)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < bus_slots(bus); i++)
        if (bus && i != bus->self)
            n += bus->slots[i].asks[hash % BUS_ASK_BUCKETS];
    return n;
}
