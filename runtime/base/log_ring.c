/* base/log_ring.c - see log_ring.h.
 *
 * A slot's state is 2 * number + 1 while that line is being written and 2 * number + 2 when it is
 * there; 0: never used. The text is moved as atomic words, so that a reader who meets a writer sees
 * mixed words (and throws them away) but never undefined behaviour.
 */
#include "base/log_ring.h"

#include "base/err.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#define WORDS (LOG_LINE_BYTES / sizeof(uint64_t))

struct slot {
    _Atomic uint64_t state;
    _Atomic uint64_t head; /* bytes of `from` and of the text behind it, and the level */
    _Atomic uint64_t time_ms;
    _Atomic uint64_t words[WORDS];
};

struct ring {
    _Atomic uint64_t next; /* number of the line to come */
    struct slot slots[LOG_RING_LINES];
};

static struct ring *ring;

int log_ring_open(void)
{
    void *p = mmap(NULL, sizeof *ring, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return ERR_NO_MEMORY;
    ring = p;
    return 0;
}

void log_ring_close(void)
{
    if (ring)
        munmap(ring, sizeof *ring);
    ring = NULL;
}

/* ---- Writing -------------------------------------------------------------------------------- */

static bool take(struct slot *slot, uint64_t number)
{
    uint64_t state = atomic_load_explicit(&slot->state, memory_order_relaxed);
    if (state % 2 || state > 2 * number)
        return false;
    bool taken = atomic_compare_exchange_strong(&slot->state, &state, 2 * number + 1);
    atomic_thread_fence(memory_order_release); /* no word before the state */
    return taken;
}

/* Appends as much of it as there is room for; returns how much that is. */
static uint32_t put(uint64_t words[WORDS], uint32_t at, struct str s)
{
    uint32_t n = s.n < LOG_LINE_BYTES - at ? s.n : LOG_LINE_BYTES - at;
    if (n)
        memcpy((char *)words + at, s.p, n);
    return n;
}

void log_ring_add(const struct log_entry *entry)
{
    uint64_t words[WORDS] = {0};
    if (!ring)
        return;
    uint64_t number = atomic_fetch_add(&ring->next, 1);
    struct slot *slot = &ring->slots[number % LOG_RING_LINES];
    if (!take(slot, number))
        return;
    uint32_t from = put(words, 0, entry->from), text = put(words, from, entry->text);
    atomic_store_explicit(&slot->head, (uint64_t)entry->level << 32 | from << 16 | text,
                          memory_order_relaxed);
    atomic_store_explicit(&slot->time_ms, (uint64_t)entry->time_ms, memory_order_relaxed);
    for (size_t i = 0; i * sizeof *words < from + text; i++)
        atomic_store_explicit(&slot->words[i], words[i], memory_order_relaxed);
    atomic_store_explicit(&slot->state, 2 * number + 2, memory_order_release);
}

/* ---- Reading -------------------------------------------------------------------------------- */

/* False: left out, being written, or written over meanwhile. */
static bool copy(struct slot *slot, uint64_t number, uint64_t *words, struct log_entry *ret)
{
    if (atomic_load_explicit(&slot->state, memory_order_acquire) != 2 * number + 2)
        return false;
    uint64_t head = atomic_load_explicit(&slot->head, memory_order_relaxed);
    uint64_t time_ms = atomic_load_explicit(&slot->time_ms, memory_order_relaxed);
    uint32_t from = (uint32_t)head >> 16, text = (uint32_t)head & 0xffff;
    for (size_t i = 0; i < WORDS; i++)
        words[i] = atomic_load_explicit(&slot->words[i], memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire); /* no word behind the state */
    if (atomic_load_explicit(&slot->state, memory_order_relaxed) != 2 * number + 2)
        return false;
    *ret = (struct log_entry){.number = number,
                              .level = (enum log_level)(head >> 32),
                              .time_ms = (int64_t)time_ms,
                              .from = {(const char *)words, from},
                              .text = {(const char *)words + from, text}};
    return true;
}

uint32_t log_ring_read(enum log_level lowest, uint32_t limit,
                       int (*fn)(void *ctx, const struct log_entry *entry), void *ctx)
{
    uint64_t words[WORDS];
    struct log_entry entry;
    uint64_t end = ring ? atomic_load(&ring->next) : 0;
    uint64_t first = end > LOG_RING_LINES ? end - LOG_RING_LINES : 0;
    uint32_t n = 0;
    for (uint64_t i = end; i > first && n < limit; i--) {
        if (!copy(&ring->slots[(i - 1) % LOG_RING_LINES], i - 1, words, &entry) ||
            entry.level < lowest)
            continue;
        n++;
        if (fn(ctx, &entry) != 0)
            break;
    }
    return n;
}
