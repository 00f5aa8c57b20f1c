/* base/base64.c - see base64.h. */
#include "base/base64.h"

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
