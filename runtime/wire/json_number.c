/* wire/json_number.c - numbers: their syntax, and their exact values.
 *
 * A double whose digits fit in 53 bits and whose power of ten is at most 22 is one exact
 * multiplication or division away (Clinger's fast path); all others go through strtod_l with the C
 * locale, which rounds correctly and never reads a comma as the point.
 */
#include "wire/json_number.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static inline bool is_digit(char c)
{
    return (unsigned)c - '0' <= 9;
}

static inline const char *digits(const char *p)
{
    while (is_digit(*p))
        p++;
    return p;
}

const char *scan_number(struct scan *s, const char *p)
{
    const char *start = p;
    if (*p == '-')
        p++;
    if (!is_digit(*p))
        return scan_fail(s, start, WIRE_SYNTAX, "a number");
    p = *p == '0' ? p + 1 : digits(p + 1);
    if (*p == '.') {
        if (!is_digit(p[1]))
            return scan_fail(s, start, WIRE_SYNTAX, "a digit behind the point");
        p = digits(p + 1);
    }
    if (*p == 'e' || *p == 'E') {
        p += p[1] == '+' || p[1] == '-' ? 2 : 1;
        if (!is_digit(*p))
            return scan_fail(s, start, WIRE_SYNTAX, "a digit in the exponent");
        p = digits(p);
    }
    return p;
}

/* A number as digits times a power of ten, without zeros at either end. */
struct decimal {
    bool negative;
    uint64_t digits; /* wrapped if n_digits > 19 */
    uint64_t n_digits;
    int64_t exponent; /* of ten, behind the last digit */
};

#define EXPONENT_MAX INT64_C(1000000000000) /* far beyond any text's length */

static int64_t read_exponent(const char *p, const char *end)
{
    bool negative = *p == '-';
    int64_t v = 0;
    if (*p == '-' || *p == '+')
        p++;
    for (; p < end; p++)
        if (v < EXPONENT_MAX)
            v = v * 10 + (*p - '0');
    return negative ? -v : v;
}

static struct decimal read_decimal(const char *p, const char *end)
{
    struct decimal d = {.negative = *p == '-'};
    uint64_t zeros = 0; /* seen since the last other digit */
    int64_t shift = 0;  /* digits behind the point */
    bool fraction = false;
    for (p += d.negative; p < end && *p != 'e' && *p != 'E'; p++) {
        if (*p == '.') {
            fraction = true;
            continue;
        }
        shift += fraction;
        if (*p == '0') {
            zeros += d.n_digits > 0;
            continue;
        }
        for (d.n_digits += zeros + 1; zeros; zeros--)
            d.digits *= 10;
        d.digits = d.digits * 10 + (uint64_t)(*p - '0');
    }
    d.exponent = (int64_t)zeros - shift;
    if (p < end)
        d.exponent += read_exponent(p + 1, end);
    return d;
}

static enum scan_fit decimal_to_int(struct decimal d, int64_t *ret)
{
    if (d.n_digits == 0) {
        *ret = 0;
        return SCAN_EXACT;
    }
    if (d.exponent < 0)
        return SCAN_FRACTION;
    if (d.exponent > 18 || d.n_digits + (uint64_t)d.exponent > 19)
        return SCAN_TOO_BIG;
    for (; d.exponent; d.exponent--)
        d.digits *= 10;
    if (d.digits > (uint64_t)INT64_MAX + d.negative)
        return SCAN_TOO_BIG;
    *ret = (int64_t)(d.negative ? 0 - d.digits : d.digits);
    return SCAN_EXACT;
}

/* Nothing but a sign and at most 18 digits, as nearly all integers are. */
static inline bool is_plain_int(const char *p, const char *end, int64_t *ret)
{
    int64_t v = 0;
    bool negative = *p == '-';
    if (end - p > 18)
        return false;
    for (p += negative; p < end; p++) {
        if (!is_digit(*p))
            return false;
        v = v * 10 + (*p - '0');
    }
    *ret = negative ? -v : v;
    return true;
}

enum scan_fit scan_to_int(const char *p, const char *end, int64_t *ret)
{
    if (is_plain_int(p, end, ret))
        return SCAN_EXACT;
    return decimal_to_int(read_decimal(p, end), ret);
}

bool scan_is_integer(const char *p, const char *end)
{
    int64_t v;
    return scan_to_int(p, end, &v) != SCAN_FRACTION;
}

static locale_t c_locale;

static void make_c_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

locale_t json_locale(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_c_locale);
    return c_locale;
}

double json_strtod(const char *text)
{
    locale_t locale = json_locale();
    return locale ? strtod_l(text, NULL, locale) : strtod(text, NULL);
}

/* p: where the number stands. */
static bool decimal_to_num(struct decimal d, const char *p, double *ret)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    double v;
    if (d.n_digits == 0)
        v = 0;
    else if (d.n_digits <= 19 && d.digits <= UINT64_C(1) << 53 && d.exponent >= -22 &&
             d.exponent <= 22)
        v = d.exponent < 0 ? (double)d.digits / powers[-d.exponent]
                           : (double)d.digits * powers[d.exponent];
    else
        v = fabs(json_strtod(p)); /* stops at the byte behind the number, which is no part of one */
    if (!isfinite(v))
        return false;
    *ret = d.negative ? -v : v;
    return true;
}

bool scan_to_num(const char *p, const char *end, double *ret)
{
    return decimal_to_num(read_decimal(p, end), p, ret);
}

enum scan_fit scan_to_either(const char *p, const char *end, int64_t *ret_int, double *ret_num)
{
    if (is_plain_int(p, end, ret_int))
        return SCAN_EXACT;
    struct decimal d = read_decimal(p, end);
    if (decimal_to_int(d, ret_int) == SCAN_EXACT)
        return SCAN_EXACT;
    return decimal_to_num(d, p, ret_num) ? SCAN_FRACTION : SCAN_TOO_BIG;
}
