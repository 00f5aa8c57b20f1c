/* wire/json_scan.h - the letters of JSON: blanks, strings, numbers, and skipping a whole value.
 *
 * Inside wire/ only; the typed reader, the envelope and the tape stand on it. All functions take a
 * position and return the position behind what they read, or NULL after writing the fault. A text
 * ends in zero bytes, and a zero byte is no part of any token, so nothing here compares with an
 * end: every token stops at the zeros by itself, and reading up to 16 bytes ahead is safe.
 *
 * Strings are first tested byte by byte (most are short, and eight well predicted branches beat the
 * set-up of a vector loop; sixteen were 10 % slower on calls with many short arguments), then 16
 * bytes at a time. Values that nobody types are skipped
 * with one bit of memory per open bracket, so depth costs no stack.
 */
#ifndef TENON_WIRE_JSON_SCAN_H
#define TENON_WIRE_JSON_SCAN_H

#include "wire/json_read.h"

struct scan {
    const char *start, *end;
    struct wire_fault *fault; /* never NULL */
    unsigned depth;           /* brackets open around the position */
    const struct str *known;  /* values in this text that were validated before */
    uint32_t n_known;
};

/* Starts on a text; returns the position of its first token; NULL: the text is empty. Leaves
 * `known` as it is. `spare` takes the fault if the caller wants none. */
const char *scan_begin(struct scan *s, struct str text, struct wire_fault *fault,
                       struct wire_fault *spare);
/* After the value: nothing but blanks until the end? */
const char *scan_finish(struct scan *s, const char *p);

/* Off the usual way: kept small, and out of the way of what is fast. */
#define COLD __attribute__((cold, noinline))

/* Fills the fault; returns NULL, for `return scan_fail(...)`. */
COLD const char *scan_fail(struct scan *s, const char *at, enum wire_reason reason,
                           const char *expected);
int scan_error(const struct wire_fault *fault); /* the ERR_ value of its reason */
/* Puts "/key" or "/index" before the fault's pointer, on the way out. */
COLD void scan_within_key(struct wire_fault *fault, struct str key);
COLD void scan_within_item(struct wire_fault *fault, uint32_t index);

const char *scan_blanks_slow(const char *p);
static inline const char *scan_blanks(const char *p)
{
    return (unsigned char)*p > ' ' ? p : scan_blanks_slow(p);
}

/* Non-zero for the bytes at which the fast loop stops: controls, quote, backslash, non-ASCII. */
extern const uint8_t scan_special[256];
const char *scan_string_slow(struct scan *s, const char *p, bool *ret_escaped);

/* p stands behind the opening quote; returns the position of the closing one. */
static inline const char *scan_string(struct scan *s, const char *p, bool *ret_escaped)
{
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++)
        if (scan_special[(unsigned char)p[i]]) {
            if (p[i] != '"')
                return scan_string_slow(s, p + i, ret_escaped);
            *ret_escaped = false;
            return p + i;
        }
    return scan_string_slow(s, p + 8, ret_escaped);
}

/* Bytes of the UTF-8 sequence that begins at p with a byte above 0x7f; 0: it is not valid. Looks at
 * a byte only when those before it fit, so a zero behind the text stops it. */
unsigned scan_utf8(const unsigned char *p);
/* The same where strings are rare or short of room. */
const char *scan_string_apart(struct scan *s, const char *p, bool *ret_escaped);

/* Decodes validated text between quotes to `out`, which has room for end - p bytes. Returns the
 * bytes written. */
uint32_t scan_decode(const char *p, const char *end, char *out);
/* Is the validated text between quotes, once decoded, `want`? */
bool scan_string_is(const char *p, const char *end, struct str want);

const char *scan_number(struct scan *s, const char *p); /* syntax only */

/* Is the validated number an integer of any size? */
bool scan_is_integer(const char *p, const char *end);

enum scan_fit { SCAN_EXACT, SCAN_FRACTION, SCAN_TOO_BIG };
/* Of a validated number. An integer may be written as 1.0 or 1e2; SCAN_TOO_BIG is an integer that
 * int64_t does not hold. */
enum scan_fit scan_to_int(const char *p, const char *end, int64_t *ret);
bool scan_to_num(const char *p, const char *end, double *ret); /* false: no finite double */
/* The int64_t if it is one (SCAN_EXACT), else the double (SCAN_FRACTION, whether it has one or is
 * only large); SCAN_TOO_BIG: neither. */
enum scan_fit scan_to_either(const char *p, const char *end, int64_t *ret_int, double *ret_num);

/* JSON type of the value that starts at p (WIRE_T_NUMBER for any number), 0: none does. */
unsigned scan_type(const char *p);
/* Validates one value of any depth. */
const char *scan_value(struct scan *s, const char *p);
/* The same, without work for a value that is known. */
static inline const char *scan_raw(struct scan *s, const char *p)
{
    for (uint32_t i = 0; i < s->n_known; i++)
        if (s->known[i].p == p)
            return p + s->known[i].n;
    return scan_value(s, p);
}
/* Opens or closes a bracket for the depth limit; false after a fault. */
static inline bool scan_enter(struct scan *s, const char *p)
{
    if (s->depth < JSON_DEPTH_MAX) {
        s->depth++;
        return true;
    }
    scan_fail(s, p, WIRE_DEPTH, "fewer nested brackets");
    return false;
}

/* Walking an object by hand: p at the first byte behind '{' or ','. Returns the position of the
 * value; the key is [key, key_end) between its quotes. */
const char *scan_key(struct scan *s, const char *p, const char **ret_key, const char **ret_end,
                     bool *ret_escaped);

#endif
