/* schema/filter_date.re - see filter_date.h. The automaton knows the form and the ranges of the
 * digits; what is left is the length of a month, and arithmetic on days (civil calendar, years that
 * begin in March so that the leap day is the last). */
#include "schema/filter_date.h"

#include <string.h>

/*!re2c
    re2c:define:YYCTYPE = "unsigned char";
    re2c:define:YYLIMIT = limit;
    re2c:yyfill:enable = 0;
    re2c:eof = 0;

    year     = [0-9]{4};
    month    = "0" [1-9] | "1" [0-2];
    day      = "0" [1-9] | [12] [0-9] | "3" [01];
    date     = year "-" month "-" day;
    hour     = [01] [0-9] | "2" [0-3];
    minute   = [0-5] [0-9];
    second   = [0-5] [0-9] | "60";
    fraction = "." [0-9]+;
    offset   = [zZ] | [+-] hour ":" minute;
    datetime = date [tT] hour ":" minute ":" second fraction? offset;
*/

/* The text must end with a NUL or lie before one more byte; a copy makes sure of that. Both forms
 * are short, but for the fraction. */
#define TEXT_BYTES_MAX 64

enum form { FORM_NONE, FORM_DATE, FORM_DATE_TIME };

static enum form recognise(const char *text, uint32_t n)
{
    const unsigned char *YYCURSOR = (const unsigned char *)text, *YYMARKER;
    const unsigned char *limit = YYCURSOR + n;
    enum form form = FORM_NONE;
    /*!re2c
        date     { form = FORM_DATE; goto done; }
        datetime { form = FORM_DATE_TIME; goto done; }
        $        { goto done; }
        *        { goto done; }
    */
done:
    return YYCURSOR == limit ? form : FORM_NONE;
}

static int number(const char *p, int digits)
{
    int v = 0;
    while (digits--)
        v = v * 10 + (*p++ - '0');
    return v;
}

static int month_days(int y, int m)
{
    static const char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
    return days[m - 1] + (m == 2 && leap);
}

#define DAYS_PER_ERA       146097 /* 400 years */
#define DAYS_BEFORE_1970   719468 /* from 0000-03-01 */

static int64_t day_of(int y, int m, int d)
{
    y -= m <= 2;
    int era = (y >= 0 ? y : y - 399) / 400;
    int year_of_era = y - era * 400;
    int day_of_year = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
    int day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return (int64_t)era * DAYS_PER_ERA + day_of_era - DAYS_BEFORE_1970;
}

static bool read_day(const char *p, int64_t *ret)
{
    int y = number(p, 4), m = number(p + 5, 2), d = number(p + 8, 2);
    if (d > month_days(y, m))
        return false;
    *ret = day_of(y, m, d);
    return true;
}

static uint32_t read_fraction(const char *p, const char *end)
{
    uint32_t ns = 0, unit = 100000000;
    for (; p < end && *p >= '0' && *p <= '9' && unit; p++, unit /= 10)
        ns += (uint32_t)(*p - '0') * unit;
    return ns;
}

/* Seconds that the local time is ahead of UTC. */
static int read_offset(const char *end)
{
    if ((end[-1] | 32) == 'z')
        return 0;
    int s = number(end - 5, 2) * 3600 + number(end - 2, 2) * 60;
    return end[-6] == '-' ? -s : s;
}

bool filter_date_read(struct str text, struct filter_instant *ret)
{
    char copy[TEXT_BYTES_MAX + 1];
    int64_t day;
    if (text.n != FILTER_DATE_BYTES)
        return false;
    memcpy(copy, text.p, text.n);
    copy[text.n] = '\0';
    if (recognise(copy, text.n) != FORM_DATE || !read_day(copy, &day))
        return false;
    *ret = (struct filter_instant){day * SECONDS_PER_DAY, 0};
    return true;
}

bool filter_date_time_read(struct str text, struct filter_instant *ret)
{
    char copy[TEXT_BYTES_MAX + 1];
    int64_t day;
    if (text.n > TEXT_BYTES_MAX)
        return false;
    memcpy(copy, text.p, text.n);
    copy[text.n] = '\0';
    if (recognise(copy, text.n) != FORM_DATE_TIME || !read_day(copy, &day))
        return false;
    const char *end = copy + text.n;
    int second = number(copy + 17, 2);
    int64_t s = day * SECONDS_PER_DAY + number(copy + 11, 2) * 3600 + number(copy + 14, 2) * 60 +
                second - read_offset(end);
    if (second == 60 && s % SECONDS_PER_DAY != 0)
        return false;
    *ret = (struct filter_instant){s, copy[19] == '.' ? read_fraction(copy + 20, end) : 0};
    return true;
}

int filter_instant_compare(struct filter_instant a, struct filter_instant b)
{
    if (a.s != b.s)
        return a.s < b.s ? -1 : 1;
    return (a.ns > b.ns) - (a.ns < b.ns);
}

int64_t filter_instant_day(struct filter_instant instant)
{
    int64_t day = instant.s / SECONDS_PER_DAY;
    return day - (instant.s % SECONDS_PER_DAY < 0);
}

#define FIRST_DAY (-719528) /* 0000-01-01 */
#define LAST_DAY  2932896   /* 9999-12-31 */

bool filter_day_is_writable(int64_t day)
{
    return day >= FIRST_DAY && day <= LAST_DAY;
}

static void put(char *p, int digits, int v)
{
    while (digits--) {
        p[digits] = (char)('0' + v % 10);
        v /= 10;
    }
}

void filter_day_write(int64_t day, char ret[FILTER_DATE_BYTES + 1])
{
    int64_t z = day + DAYS_BEFORE_1970;
    int era = (int)((z >= 0 ? z : z - (DAYS_PER_ERA - 1)) / DAYS_PER_ERA);
    int doe = (int)(z - (int64_t)era * DAYS_PER_ERA);
    int yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    int shifted = (5 * doy + 2) / 153;
    int m = shifted < 10 ? shifted + 3 : shifted - 9;
    memcpy(ret, "0000-00-00", FILTER_DATE_BYTES + 1);
    put(ret, 4, yoe + era * 400 + (m <= 2));
    put(ret + 5, 2, m);
    put(ret + 8, 2, doy - (153 * shifted + 2) / 5 + 1);
}

void filter_instant_write(struct filter_instant instant, struct buf *out)
{
    char date[FILTER_DATE_BYTES + 1];
    int64_t day = filter_instant_day(instant);
    int s = (int)(instant.s - day * SECONDS_PER_DAY);
    filter_day_write(day, date);
    buf_printf(out, "%sT%02d:%02d:%02d", date, s / 3600, s / 60 % 60, s % 60);
    if (instant.ns)
        buf_printf(out, ".%09u", instant.ns);
    buf_add_char(out, 'Z');
}
