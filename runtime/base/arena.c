/* base/arena.c - blocks that double; see arena.h. */
#include "base/arena.h"

#include "base/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arena_block {
    struct arena_block *older;
    size_t size; /* with this header */
    _Alignas(16) char bytes[];
};

void arena_init(struct arena *a, size_t limit)
{
    *a = (struct arena){.limit = limit ? limit : ARENA_LIMIT_BYTES};
}

static void free_until(struct arena_block *block, struct arena_block *keep)
{
    while (block != keep) {
        struct arena_block *older = block->older;
        free(block);
        block = older;
    }
}

void arena_done(struct arena *a)
{
    free_until(a->block, NULL);
    arena_init(a, a->limit);
}

static void use_block(struct arena *a, struct arena_block *block)
{
    a->block = block;
    a->at = block->bytes;
    a->end = (char *)block + block->size;
}

void arena_reset(struct arena *a)
{
    struct arena_block *first = a->block;
    if (!first)
        return;
    while (first->older)
        first = first->older;
    free_until(a->block, first);
    a->used = first->size;
    use_block(a, first);
}

static bool add_block(struct arena *a, size_t need)
{
    size_t size = a->block ? a->block->size * 2 : ARENA_FIRST_BLOCK_BYTES;
    if (need > SIZE_MAX / 2 - sizeof(struct arena_block))
        return false;
    need += sizeof(struct arena_block);
    if (size < need)
        size = need;
    if (a->used + size > a->limit)
        size = need; /* near the limit, take what is asked for and no more */
    if (size > a->limit || a->used > a->limit - size)
        return false;
    struct arena_block *block = malloc(size);
    if (!block)
        return false;
    block->older = a->block;
    block->size = size;
    a->used += size;
    use_block(a, block);
    return true;
}

void *arena_alloc(struct arena *a, size_t n)
{
    if (n > SIZE_MAX - 15)
        return NULL;
    n = (n + 15) & ~(size_t)15;
    if ((size_t)(a->end - a->at) < n && !add_block(a, n))
        return NULL;
    void *p = a->at;
    a->at += n;
    return p;
}

void *arena_zalloc(struct arena *a, size_t n)
{
    void *p = arena_alloc(a, n);
    return p ? memset(p, 0, n) : NULL;
}

void *arena_array(struct arena *a, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes))
        return NULL;
    return arena_alloc(a, bytes);
}

struct str arena_str(struct arena *a, struct str s)
{
    char *p = arena_alloc(a, (size_t)s.n + 1);
    if (!p)
        return STR_NONE;
    if (s.n)
        memcpy(p, s.p, s.n);
    p[s.n] = '\0';
    return (struct str){p, s.n};
}

struct str arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    char *p = n < 0 ? NULL : arena_alloc(a, (size_t)n + 1);
    if (p)
        vsnprintf(p, (size_t)n + 1, fmt, again);
    va_end(again);
    return p ? (struct str){p, (uint32_t)n} : STR_NONE;
}

struct str arena_buf(struct arena *a, const struct buf *b)
{
    return b->failed ? STR_NONE : arena_str(a, buf_str(b));
}
