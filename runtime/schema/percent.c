/* schema/percent.c - see percent.h. */
#include "schema/percent.h"

#include "base/err.h"

#include <string.h>

static bool is_alpha(unsigned char c)
{
    return (c | 32) >= 'a' && (c | 32) <= 'z';
}

static bool is_digit(unsigned char c)
{
    return c >= '0' && c <= '9';
}

static bool is_unreserved(unsigned char c)
{
    return is_alpha(c) || is_digit(c) || (c && strchr("-._~", c));
}

static bool is_reserved(unsigned char c)
{
    return c && strchr(":/?#[]@!$&'()*+,;=", c);
}

static int hex_digit(unsigned char c)
{
    if (is_digit(c))
        return c - '0';
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The byte that an escape at s.p[at] stands for, or -1. */
static int escape_at(struct str s, uint32_t at)
{
    if (s.p[at] != '%' || s.n - at < 3)
        return -1;
    int high = hex_digit((unsigned char)s.p[at + 1]);
    int low = hex_digit((unsigned char)s.p[at + 2]);
    return high < 0 || low < 0 ? -1 : high << 4 | low;
}

void percent_encode(struct buf *out, struct str s, enum percent_allow allow)
{
    static const char digits[] = "0123456789ABCDEF";
    for (uint32_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        bool stays = is_unreserved(c);
        if (allow == PERCENT_RESERVED)
            stays = stays || is_reserved(c) || escape_at(s, i) >= 0;
        if (stays) {
            buf_add_char(out, (char)c);
            continue;
        }
        const char escape[3] = {'%', digits[c >> 4], digits[c & 15]};
        buf_add(out, escape, sizeof escape);
    }
}

static int decode(struct str s, bool lenient, struct arena *arena, struct str *ret)
{
    char *out = arena_alloc(arena, (size_t)s.n + 1);
    uint32_t n = 0;
    if (!out)
        return ERR_NO_MEMORY;
    for (uint32_t i = 0; i < s.n; i++) {
        int byte = escape_at(s, i);
        if (byte < 0 && s.p[i] == '%' && !lenient)
            return ERR_SYNTAX;
        out[n++] = byte < 0 ? s.p[i] : (char)byte;
        if (byte >= 0)
            i += 2;
    }
    out[n] = '\0';
    *ret = (struct str){out, n};
    return 0;
}

int percent_decode(struct str s, struct arena *arena, struct str *ret)
{
    return decode(s, false, arena, ret);
}

int percent_decode_lenient(struct str s, struct arena *arena, struct str *ret)
{
    return decode(s, true, arena, ret);
}

bool percent_is_uri(struct str s)
{
    struct str rest = s;
    struct str scheme = str_cut(&rest, ':');
    if (!rest.p || scheme.n == 0 || !is_alpha((unsigned char)scheme.p[0]))
        return false;
    for (uint32_t i = 0; i < scheme.n; i++) {
        unsigned char c = (unsigned char)scheme.p[i];
        if (!is_alpha(c) && !is_digit(c) && !(c && strchr("+-.", c)))
            return false;
    }
    for (uint32_t i = 0; i < rest.n; i++) {
        unsigned char c = (unsigned char)rest.p[i];
        if (!is_unreserved(c) && !is_reserved(c) && escape_at(rest, i) < 0)
            return false;
    }
    return true;
}
