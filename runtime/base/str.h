/* base/str.h - a borrowed slice of bytes, and a buffer that grows.
 *
 * `struct str` never owns and is never NUL-terminated; {NULL, 0} means "absent", {non-NULL, 0} is
 * the empty string. `struct buf` owns heap memory; an append that fails (out of memory, or past
 * `limit`) sets `failed` and every later append is ignored, so a writer checks once, at the end.
 */
#ifndef TENON_BASE_STR_H
#define TENON_BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct str {
    const char *p;
    uint32_t n; /* bytes */
};

#define STR(literal) ((struct str){literal, sizeof(literal) - 1})
#define STR_INIT(literal)            \
    {                                \
        literal, sizeof(literal) - 1 \
    }
#define STR_NONE   ((struct str){NULL, 0})
#define STR_FMT    "%.*s"
#define STR_ARG(s) (int)(s).n, (s).p

struct str str_of(const char *zero_terminated);
bool str_eq(struct str a, struct str b);
bool str_eq_nocase(struct str a, struct str b); /* ASCII only */
int str_compare(struct str a, struct str b);    /* bytewise; a prefix sorts first */
bool str_starts_with(struct str s, struct str prefix);
struct str str_trim(struct str s); /* spaces and tabs at both ends */
/* Cuts `*rest` at the first `by`; returns what stood before it. Without `by` takes all and leaves
 * *rest absent. */
struct str str_cut(struct str *rest, char by);
/* Decimal digits only, whole slice. 0, or ERR_SYNTAX (empty, sign, other bytes, overflow). */
int str_to_u64(struct str s, uint64_t *ret);

struct buf {
    char *p;
    size_t n;     /* bytes used */
    size_t cap;   /* bytes owned */
    size_t limit; /* 0: none */
    bool failed;
};

/* A zeroed struct buf is valid and empty. buf_done frees and zeroes it. */
void buf_done(struct buf *b);
void buf_clear(struct buf *b); /* keeps the memory */
/* Room for `more` bytes behind n; false (and failed) when there is none. */
bool buf_reserve(struct buf *b, size_t more);
void buf_add(struct buf *b, const void *p, size_t n);
void buf_add_str(struct buf *b, struct str s);
void buf_add_char(struct buf *b, char c);
void buf_add_i64(struct buf *b, int64_t v);
void buf_add_u64(struct buf *b, uint64_t v);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#define buf_add_lit(b, literal) buf_add(b, literal, sizeof(literal) - 1)
struct str buf_str(const struct buf *b); /* valid until the next append */

#endif
