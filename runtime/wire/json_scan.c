/* wire/json_scan.c - strings and whole values; see json_scan.h. Numbers: json_number.c. */
#include "wire/json_scan.h"

#include "base/err.h"

#include <assert.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define EACH_16(x) x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x

const uint8_t scan_special[256] = {
    EACH_16(1), EACH_16(1), ['"'] = 1, ['\\'] = 1, [0x80 ... 0xff] = 1,
};

#ifndef NDEBUG
/* Zeros stand behind a whole text; behind a span cut out of one stands what may follow a value. */
static bool is_padded(struct str text)
{
    const char *behind = text.p + text.n;
    if (*behind)
        return strchr(",:]} \t\r\n", *behind) != NULL;
    for (int i = 0; i < JSON_PADDING_BYTES; i++)
        if (behind[i])
            return false;
    return true;
}
#endif

const char *scan_begin(struct scan *s, struct str text, struct wire_fault *fault,
                       struct wire_fault *spare)
{
    s->start = text.p;
    s->end = text.p + text.n;
    s->fault = fault ? fault : spare;
    s->depth = 0;
    s->fault->reason = WIRE_OK;
    if (text.n == 0)
        return scan_fail(s, text.p, WIRE_SYNTAX, "a JSON value");
    assert(is_padded(text));
    return scan_blanks(text.p);
}

const char *scan_finish(struct scan *s, const char *p)
{
    if (p > s->end) /* a token that only the bytes behind the text complete */
        return scan_fail(s, s->end, WIRE_SYNTAX, "a JSON value");
    p = scan_blanks(p);
    if (p < s->end)
        return scan_fail(s, p, WIRE_SYNTAX, "end of text");
    return p;
}

const char *scan_fail(struct scan *s, const char *at, enum wire_reason reason, const char *expected)
{
    struct wire_fault *fault = s->fault;
    fault->reason = reason;
    fault->offset = at < s->end ? (uint32_t)(at - s->start) : (uint32_t)(s->end - s->start);
    fault->pointer[0] = '\0';
    size_t n = strnlen(expected, sizeof fault->expected - 1);
    memcpy(fault->expected, expected, n);
    fault->expected[n] = '\0';
    return NULL;
}

int scan_error(const struct wire_fault *fault)
{
    if (fault->reason == WIRE_OK)
        return 0;
    if (fault->reason == WIRE_MEMORY)
        return ERR_NO_MEMORY;
    return fault->reason <= WIRE_DEPTH ? ERR_PARSE : ERR_PARAMS;
}

const char *scan_blanks_slow(const char *p)
{
    while (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')
        p++;
    return p;
}

/* ---- strings -------------------------------------------------------------------------------- */

static bool is_tail(unsigned char c)
{
    return (c & 0xc0) == 0x80;
}

/* Overlong forms, surrogates and values above U+10FFFF are not valid. */
static inline unsigned utf8_length(const unsigned char *p)
{
    unsigned char lead = p[0];
    if (lead >= 0xe0 && lead < 0xf0) {
        if (!is_tail(p[1]) || !is_tail(p[2]))
            return 0;
        if ((lead == 0xe0 && p[1] < 0xa0) || (lead == 0xed && p[1] >= 0xa0))
            return 0;
        return 3;
    }
    if (lead < 0xe0)
        return lead >= 0xc2 && is_tail(p[1]) ? 2 : 0;
    if (lead > 0xf4 || !is_tail(p[1]) || !is_tail(p[2]) || !is_tail(p[3]))
        return 0;
    if ((lead == 0xf0 && p[1] < 0x90) || (lead == 0xf4 && p[1] >= 0x90))
        return 0;
    return 4;
}

unsigned scan_utf8(const unsigned char *p)
{
    return utf8_length(p);
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Four hex digits at p; -1 if one is not. */
static int hex_unit(const char *p)
{
    int unit = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(p[i]);
        if (digit < 0)
            return -1;
        unit = unit << 4 | digit;
    }
    return unit;
}

static bool is_high_surrogate(int unit)
{
    return (unit & 0xfc00) == 0xd800;
}

static bool is_low_surrogate(int unit)
{
    return (unit & 0xfc00) == 0xdc00;
}

/* p at the backslash; returns the position behind the escape, a surrogate pair being one. */
static const char *scan_escape(struct scan *s, const char *p)
{
    if (p[1] != 'u')
        return p[1] && strchr("\"\\/bfnrt", p[1]) ? p + 2
                                                  : scan_fail(s, p, WIRE_SYNTAX, "an escape");
    int unit = hex_unit(p + 2);
    if (unit < 0)
        return scan_fail(s, p, WIRE_SYNTAX, "four hexadecimal digits");
    if (is_low_surrogate(unit))
        return scan_fail(s, p, WIRE_SURROGATE, "a surrogate pair");
    if (!is_high_surrogate(unit))
        return p + 6;
    if (p[6] != '\\' || p[7] != 'u' || !is_low_surrogate(hex_unit(p + 8)))
        return scan_fail(s, p, WIRE_SURROGATE, "a surrogate pair");
    return p + 12;
}

/* The first special byte from p on. */
static inline const char *plain_run(const char *p)
{
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\'),
                  space = _mm_set1_epi8(' ');
    for (;; p += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)p);
        /* signed: bytes above 0x7f are negative and so below ' ', as the controls are */
        __m128i stop =
            _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, slash)),
                         _mm_cmplt_epi8(v, space));
        unsigned mask = (unsigned)_mm_movemask_epi8(stop);
        if (mask)
            return p + __builtin_ctz(mask);
    }
#else
    const uint64_t ones = UINT64_C(0x0101010101010101), highs = ones << 7;
    for (;; p += 8) {
        uint64_t v, q, b;
        memcpy(&v, p, 8);
        q = v ^ ones * '"';
        b = v ^ ones * '\\';
        /* the lowest set bit is exact; a borrow can only spoil bytes above it */
        uint64_t stop = (v | (v - ones * ' ') | (q - ones) | (b - ones)) & highs;
        if (stop)
            break;
    }
    while (!scan_special[(unsigned char)*p])
        p++;
    return p;
#endif
}

const char *scan_string_slow(struct scan *s, const char *p, bool *ret_escaped)
{
    bool escaped = false;
    for (;;) {
        p = plain_run(p);
        if (*p == '"')
            break;
        if (*p == '\\') {
            escaped = true;
            p = scan_escape(s, p);
            if (!p)
                return NULL;
        } else if ((unsigned char)*p < ' ') {
            return scan_fail(s, p, WIRE_SYNTAX, "'\"' at the end of the string");
        }
        while ((unsigned char)*p > 0x7f) {
            unsigned n = utf8_length((const unsigned char *)p);
            if (n == 0)
                return scan_fail(s, p, WIRE_UTF8, "UTF-8");
            p += n;
        }
    }
    *ret_escaped = escaped;
    return p;
}

const char *scan_string_apart(struct scan *s, const char *p, bool *ret_escaped)
{
    return scan_string(s, p, ret_escaped);
}

static char *put_utf8(char *out, unsigned c)
{
    if (c < 0x80) {
        *out++ = (char)c;
    } else if (c < 0x800) {
        *out++ = (char)(0xc0 | c >> 6);
        *out++ = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        *out++ = (char)(0xe0 | c >> 12);
        *out++ = (char)(0x80 | (c >> 6 & 0x3f));
        *out++ = (char)(0x80 | (c & 0x3f));
    } else {
        *out++ = (char)(0xf0 | c >> 18);
        *out++ = (char)(0x80 | (c >> 12 & 0x3f));
        *out++ = (char)(0x80 | (c >> 6 & 0x3f));
        *out++ = (char)(0x80 | (c & 0x3f));
    }
    return out;
}

static char short_escape(char c)
{
    static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
    const char *at = strchr(from, c);
    return at ? to[at - from] : c;
}

/* p at the backslash of a valid escape. */
static const char *decode_escape(const char *p, char **out)
{
    if (p[1] != 'u') {
        *(*out)++ = short_escape(p[1]);
        return p + 2;
    }
    unsigned unit = (unsigned)hex_unit(p + 2);
    if (!is_high_surrogate((int)unit)) {
        *out = put_utf8(*out, unit);
        return p + 6;
    }
    unsigned low = (unsigned)hex_unit(p + 8);
    *out = put_utf8(*out, 0x10000 + ((unit & 0x3ff) << 10 | (low & 0x3ff)));
    return p + 12;
}

uint32_t scan_decode(const char *p, const char *end, char *out)
{
    char *at = out;
    while (p < end) {
        const char *slash = memchr(p, '\\', (size_t)(end - p));
        size_t run = (size_t)((slash ? slash : end) - p);
        memcpy(at, p, run);
        at += run;
        p += run;
        if (slash)
            p = decode_escape(p, &at);
    }
    return (uint32_t)(at - out);
}

bool scan_string_is(const char *p, const char *end, struct str want)
{
    size_t raw = (size_t)(end - p);
    char decoded[512];
    if (raw == want.n && memcmp(p, want.p, raw) == 0)
        return memchr(p, '\\', raw) == NULL;
    /* an escape is at most six bytes for one */
    if (raw <= want.n || raw > sizeof decoded || raw > (size_t)want.n * 6)
        return false;
    return str_eq((struct str){decoded, scan_decode(p, end, decoded)}, want);
}

/* ---- values --------------------------------------------------------------------------------- */

static const uint8_t type_of_lead[256] = {
    ['n'] = WIRE_T_NULL,   ['t'] = WIRE_T_BOOL,           ['f'] = WIRE_T_BOOL,
    ['-'] = WIRE_T_NUMBER, ['0' ... '9'] = WIRE_T_NUMBER, ['"'] = WIRE_T_STRING,
    ['['] = WIRE_T_ARRAY,  ['{'] = WIRE_T_OBJECT,
};

unsigned scan_type(const char *p)
{
    return type_of_lead[(unsigned char)*p];
}

static const char *scan_word(struct scan *s, const char *p)
{
    if (memcmp(p, "true", 4) == 0 || memcmp(p, "null", 4) == 0)
        return p + 4;
    if (memcmp(p, "false", 5) == 0)
        return p + 5;
    return scan_fail(s, p, WIRE_SYNTAX, "a JSON value");
}

/* A string, number or word. */
static inline const char *scan_scalar(struct scan *s, const char *p)
{
    bool escaped;
    switch (scan_type(p)) {
    case WIRE_T_STRING:
        p = scan_string(s, p + 1, &escaped);
        return p ? p + 1 : NULL;
    case WIRE_T_NUMBER:
        return scan_number(s, p);
    default:
        return scan_word(s, p);
    }
}

static const char *expect_colon(struct scan *s, const char *p)
{
    p = scan_blanks(p);
    return *p == ':' ? scan_blanks(p + 1) : scan_fail(s, p, WIRE_SYNTAX, "':'");
}

const char *scan_key(struct scan *s, const char *p, const char **ret_key, const char **ret_end,
                     bool *ret_escaped)
{
    if (*p != '"')
        return scan_fail(s, p, WIRE_SYNTAX, "a member name");
    *ret_key = p + 1;
    p = scan_string(s, p + 1, ret_escaped);
    if (!p)
        return NULL;
    *ret_end = p;
    return p[1] == ':' ? scan_blanks(p + 2) : expect_colon(s, p + 1);
}

struct bracket_stack {
    uint64_t is_object[JSON_DEPTH_MAX / 64 + 1];
};

static inline void push(struct bracket_stack *stack, unsigned depth, bool is_object)
{
    uint64_t bit = UINT64_C(1) << (depth & 63), *word = &stack->is_object[depth >> 6];
    *word = is_object ? *word | bit : *word & ~bit;
}

static inline bool is_in_object(const struct bracket_stack *stack, unsigned depth)
{
    return stack->is_object[depth >> 6] >> (depth & 63) & 1;
}

/* A machine of three states (at a value, at a key, behind a value); the jumps are its edges. */
const char *scan_value(struct scan *s, const char *p)
{
    struct bracket_stack stack;
    unsigned base = s->depth;
    const char *key, *end;
    bool escaped;
at_value:
    if (*p == '{' || *p == '[') {
        bool is_object = *p == '{';
        if (!scan_enter(s, p))
            return NULL;
        push(&stack, s->depth, is_object);
        p = scan_blanks(p + 1);
        if (*p == (is_object ? '}' : ']'))
            goto at_close;
        if (!is_object)
            goto at_value;
    at_key:
        p = scan_key(s, p, &key, &end, &escaped);
        if (!p)
            return NULL;
        goto at_value;
    }
    p = scan_scalar(s, p);
    if (!p)
        return NULL;
behind_value:
    if (s->depth == base)
        return p;
    p = scan_blanks(p);
    bool in_object = is_in_object(&stack, s->depth);
    if (*p == ',') {
        p = scan_blanks(p + 1);
        if (in_object)
            goto at_key;
        goto at_value;
    }
    if (*p != (in_object ? '}' : ']'))
        return scan_fail(s, p, WIRE_SYNTAX, in_object ? "',' or '}'" : "',' or ']'");
at_close:
    p++;
    s->depth--;
    goto behind_value;
}

/* ---- public pieces -------------------------------------------------------------------------- */

int wire_skip(struct str text, struct str *ret, struct str *ret_rest, struct wire_fault *fault)
{
    struct wire_fault spare;
    struct scan s = {.n_known = 0};
    const char *p = scan_begin(&s, text, fault, &spare);
    const char *end = p ? scan_value(&s, p) : NULL;
    if (end && end > s.end)
        end = scan_fail(&s, s.end, WIRE_SYNTAX, "a JSON value");
    if (!end || (!ret_rest && !scan_finish(&s, end)))
        return scan_error(s.fault);
    *ret = (struct str){p, (uint32_t)(end - p)};
    if (ret_rest)
        *ret_rest = (struct str){end, (uint32_t)(s.end - end)};
    return 0;
}

int wire_decode_string(struct str raw, struct arena *arena, struct str *ret)
{
    struct str body = {raw.p + 1, raw.n - 2};
    if (!memchr(body.p, '\\', body.n)) {
        struct str copy = arena_str(arena, body);
        if (!copy.p)
            return ERR_NO_MEMORY;
        *ret = copy;
        return 0;
    }
    char *out = arena_alloc(arena, (size_t)body.n + 1);
    if (!out)
        return ERR_NO_MEMORY;
    *ret = (struct str){out, scan_decode(body.p, body.p + body.n, out)};
    return 0;
}
