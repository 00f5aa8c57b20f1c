/* base/base64.c - see base64.h. */
#include "base/base64.h"

#include "base/err.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* One to three bytes as four digits. */
static void write_group(const unsigned char *in, size_t n, char *out)
{
    unsigned bits = (unsigned)in[0] << 16;
    bits |= n > 1 ? (unsigned)in[1] << 8 : 0;
    bits |= n > 2 ? in[2] : 0;
    out[0] = digits[bits >> 18];
    out[1] = digits[bits >> 12 & 63];
    out[2] = n > 1 ? digits[bits >> 6 & 63] : '=';
    out[3] = n > 2 ? digits[bits & 63] : '=';
}

void base64_write(const void *data, size_t n, struct buf *out)
{
    const unsigned char *in = data;
    if (n > SIZE_MAX / 2 || !buf_reserve(out, (n + 2) / 3 * 4)) {
        out->failed = true;
        return;
    }
    for (size_t i = 0; i < n; i += 3, out->n += 4)
        write_group(in + i, n - i, out->p + out->n);
}

/* The six bits of a digit, or -1. */
static int value_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Four digits, of which the last `n_pad` are padding, as three to one bytes. */
static int read_group(const char *in, uint32_t n_pad, struct buf *out)
{
    unsigned bits = 0;
    for (uint32_t i = 0; i < 4; i++) {
        int value = i < 4 - n_pad ? value_of(in[i]) : 0;
        if (value < 0)
            return ERR_SYNTAX;
        bits = bits << 6 | (unsigned)value;
    }
    for (uint32_t i = 0; i < 3 - n_pad; i++)
        buf_add_char(out, (char)(bits >> (16 - 8 * i)));
    return bits & ((1u << 8 * n_pad) - 1) ? ERR_SYNTAX : 0;
}

static uint32_t count_padding(struct str text)
{
    uint32_t n = 0;
    while (n < 2 && n < text.n && text.p[text.n - 1 - n] == '=')
        n++;
    return n;
}

int base64_read(struct str text, struct buf *out)
{
    uint32_t n_pad = count_padding(text);
    int err = text.n % 4 ? ERR_SYNTAX : 0;
    if (!err && !buf_reserve(out, text.n / 4 * (size_t)3))
        err = ERR_NO_MEMORY;
    for (uint32_t i = 0; !err && i < text.n; i += 4)
        err = read_group(text.p + i, i + 4 == text.n ? n_pad : 0, out);
    return err;
}

static int url_value_of(char c)
{
    if (c == '+' || c == '/')
        return -1;
    return value_of(c == '-' ? '+' : c == '_' ? '/' : c);
}

int base64url_read(struct str text, struct buf *out)
{
    unsigned bits = 0, n_bits = 0;
    if (text.n % 4 == 1)
        return ERR_SYNTAX;
    if (!buf_reserve(out, text.n / 4 * (size_t)3 + 2))
        return ERR_NO_MEMORY;
    for (uint32_t i = 0; i < text.n; i++) {
        int value = url_value_of(text.p[i]);
        if (value < 0)
            return ERR_SYNTAX;
        bits = bits << 6 | (unsigned)value;
        n_bits += 6;
        if (n_bits < 8)
            continue;
        n_bits -= 8;
        buf_add_char(out, (char)(bits >> n_bits));
        bits &= (1u << n_bits) - 1;
    }
    return bits ? ERR_SYNTAX : 0;
}
