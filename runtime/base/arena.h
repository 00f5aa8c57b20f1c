/* base/arena.h - memory that is freed all at once.
 *
 * Bump allocation in blocks that double (8 KiB first). One arena serves one request, or one file
 * being read; there is no free of a single object. Not thread-safe: whoever works on a call owns
 * its arena for that time.
 */
#ifndef TENON_BASE_ARENA_H
#define TENON_BASE_ARENA_H

#include "base/str.h"

struct arena_block;

struct arena {
    struct arena_block *block; /* newest */
    char *at, *end;
    size_t used;  /* bytes owned by all blocks */
    size_t limit; /* bytes; an allocation past it fails */
};

/* limit 0: ARENA_LIMIT_BYTES of base/limits.h. No memory is taken yet. */
void arena_init(struct arena *a, size_t limit);
void arena_done(struct arena *a);  /* frees every block; the arena is as after init */
void arena_reset(struct arena *a); /* as done, but keeps the first block */
/* 16-byte aligned, not zeroed; NULL when memory or the limit is exhausted. */
void *arena_alloc(struct arena *a, size_t n);
void *arena_zalloc(struct arena *a, size_t n);
/* An array of n elements of `size`, NULL also on overflow. */
void *arena_array(struct arena *a, size_t n, size_t size);
/* Copies; a NUL stands behind the copy. {NULL,0} when there is no memory. */
struct str arena_str(struct arena *a, struct str s);
struct str arena_printf(struct arena *a, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Takes over what `b` holds as a copy in the arena; STR_NONE if b failed or no memory. */
struct str arena_buf(struct arena *a, const struct buf *b);

#endif
