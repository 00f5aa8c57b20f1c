/* base/str.c - slices and the growing buffer; see str.h. */
#include "base/str.h"

#include "base/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct str str_of(const char *zero_terminated)
{
    return (struct str){zero_terminated, zero_terminated ? (uint32_t)strlen(zero_terminated) : 0};
}

bool str_eq(struct str a, struct str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

bool str_eq_nocase(struct str a, struct str b)
{
    if (a.n != b.n)
        return false;
    for (uint32_t i = 0; i < a.n; i++)
        if (lower(a.p[i]) != lower(b.p[i]))
            return false;
    return true;
}

int str_compare(struct str a, struct str b)
{
    uint32_t n = a.n < b.n ? a.n : b.n;
    int d = n ? memcmp(a.p, b.p, n) : 0;
    if (d)
        return d;
    return (a.n > b.n) - (a.n < b.n);
}

bool str_starts_with(struct str s, struct str prefix)
{
    return s.n >= prefix.n && (prefix.n == 0 || memcmp(s.p, prefix.p, prefix.n) == 0);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

struct str str_trim(struct str s)
{
    while (s.n && is_blank(s.p[0]))
        s.p++, s.n--;
    while (s.n && is_blank(s.p[s.n - 1]))
        s.n--;
    return s;
}

struct str str_cut(struct str *rest, char by)
{
    struct str all = *rest;
    const char *at = all.n ? memchr(all.p, by, all.n) : NULL;
    if (!at) {
        *rest = STR_NONE;
        return all;
    }
    uint32_t head = (uint32_t)(at - all.p);
    *rest = (struct str){at + 1, all.n - head - 1};
    return (struct str){all.p, head};
}

int str_to_u64(struct str s, uint64_t *ret)
{
    uint64_t v = 0;
    if (s.n == 0)
        return ERR_SYNTAX;
    for (uint32_t i = 0; i < s.n; i++) {
        unsigned digit = (unsigned char)s.p[i] - '0';
        if (digit > 9 || __builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, digit, &v))
            return ERR_SYNTAX;
    }
    *ret = v;
    return 0;
}

void buf_done(struct buf *b)
{
    free(b->p);
    *b = (struct buf){0};
}

void buf_clear(struct buf *b)
{
    b->n = 0;
    b->failed = false;
}

bool buf_reserve(struct buf *b, size_t more)
{
    size_t need;
    if (b->failed)
        return false;
    if (__builtin_add_overflow(b->n, more, &need) || (b->limit && need > b->limit)) {
        b->failed = true;
        return false;
    }
    if (need <= b->cap)
        return true;
    size_t cap = b->cap ? b->cap : 256;
    while (cap < need)
        cap += cap;
    char *p = realloc(b->p, cap);
    if (!p) {
        b->failed = true;
        return false;
    }
    b->p = p;
    b->cap = cap;
    return true;
}

void buf_add(struct buf *b, const void *p, size_t n)
{
    if (n == 0 || !buf_reserve(b, n))
        return;
    memcpy(b->p + b->n, p, n);
    b->n += n;
}

void buf_add_str(struct buf *b, struct str s)
{
    buf_add(b, s.p, s.n);
}

void buf_add_char(struct buf *b, char c)
{
    if (buf_reserve(b, 1))
        b->p[b->n++] = c;
}

void buf_add_u64(struct buf *b, uint64_t v)
{
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + v % 10);
        v /= 10;
    } while (v);
    buf_add(b, digits + at, sizeof digits - at);
}

void buf_add_i64(struct buf *b, int64_t v)
{
    if (v < 0)
        buf_add_char(b, '-');
    buf_add_u64(b, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (n >= 0 && buf_reserve(b, (size_t)n + 1)) {
        vsnprintf(b->p + b->n, (size_t)n + 1, fmt, again);
        b->n += (size_t)n;
    }
    va_end(again);
}

struct str buf_str(const struct buf *b)
{
    return (struct str){b->p ? b->p : "", (uint32_t)b->n};
}
