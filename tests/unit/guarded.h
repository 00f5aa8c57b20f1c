/* tests/unit/guarded.h - a text that ends, after its padding, at a page that may not be touched. */
#ifndef TENON_TESTS_GUARDED_H
#define TENON_TESTS_GUARDED_H

#include "base/limits.h"
#include "base/str.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct guarded {
    char *map;
    size_t size;
    struct str text;
};

/* A copy of s; the byte behind its JSON_PADDING_BYTES zeros faults when read. */
static inline struct guarded guarded_copy(struct str s)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t body = ((size_t)s.n + JSON_PADDING_BYTES + page - 1) / page * page;
    struct guarded g = {.size = body + page};
    g.map = mmap(NULL, g.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (g.map == MAP_FAILED || mprotect(g.map + body, page, PROT_NONE) != 0)
        _exit(99);
    char *p = g.map + body - JSON_PADDING_BYTES - s.n;
    if (s.n)
        memcpy(p, s.p, s.n);
    g.text = (struct str){p, s.n};
    return g;
}

/* Moves another text of at most the same length into the map. */
static inline void guarded_reuse(struct guarded *g, struct str s)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *end = g->map + g->size - page - JSON_PADDING_BYTES;
    if (s.n)
        memcpy(end - s.n, s.p, s.n);
    g->text = (struct str){end - s.n, s.n};
}

static inline void guarded_done(struct guarded *g)
{
    munmap(g->map, g->size);
}

#endif
