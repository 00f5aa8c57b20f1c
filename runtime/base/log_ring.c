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
    _Atomic uint64_t head; /* length of the text, and its level in the upper half */
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

void log_ring_add(enum log_level level, struct str text)
{
    uint64_t words[WORDS] = {0};
    if (!ring)
        return;
    uint64_t number = atomic_fetch_add(&ring->next, 1);
    struct slot *slot = &ring->slots[number % LOG_RING_LINES];
    uint32_t n = text.n < LOG_LINE_BYTES ? text.n : LOG_LINE_BYTES;
    if (!take(slot, number))
        return;
    if (n)
        memcpy(words, text.p, n);
    atomic_store_explicit(&slot->head, (uint64_t)level << 32 | n, memory_order_relaxed);
    for (size_t i = 0; i * sizeof *words < n; i++)
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
    for (size_t i = 0; i < WORDS; i++)
        words[i] = atomic_load_explicit(&slot->words[i], memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire); /* no word behind the state */
    if (atomic_load_explicit(&slot->state, memory_order_relaxed) != 2 * number + 2)
        return false;
    *ret = (struct log_entry){
        number, (enum log_level)(head >> 32), {(const char *)words, (uint32_t)head}};
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
