/* schema/json_schema_formats.re - see json_schema_format.h.
 *
 * A scanner per format over the whole text. The text is a slice with foreign bytes behind it, so
 * its end is looked at for every byte (YYPEEK); a NUL, which no format allows, stands for the end.
 */
#include "schema/json_schema_format.h"

#include <string.h>

struct text {
    const char *at, *end, *marker;
};

#define YYPEEK()    (text->at < text->end ? *text->at : '\0')
#define YYSKIP()    text->at++
#define YYBACKUP()  text->marker = text->at
#define YYRESTORE() text->at = text->marker

/*!re2c
    re2c:define:YYCTYPE = "unsigned char";
    re2c:flags:input = custom;
    re2c:yyfill:enable = 0;

    digit       = [0-9];
    hex         = [0-9A-Fa-f];
    alpha       = [A-Za-z];
    alnum       = alpha | digit;

    year        = digit{4};
    month       = "0" [1-9] | "1" [0-2];
    day         = "0" [1-9] | [12] digit | "3" [01];
    hour        = [01] digit | "2" [0-3];
    minute      = [0-5] digit;
    second      = [0-5] digit | "60";
    full_date   = year "-" month "-" day;
    offset      = [Zz] | [+-] hour ":" minute;
    date_time   = full_date [Tt] hour ":" minute ":" second ("." digit+)? offset;

    uuid        = hex{8} "-" hex{4} "-" hex{4} "-" hex{4} "-" hex{12};

    octet       = digit | [1-9] digit | "1" digit{2} | "2" [0-4] digit | "25" [0-5];
    ipv4        = octet "." octet "." octet "." octet;
    h16         = hex{1,4};
    ls32        = h16 ":" h16 | ipv4;
    ipv6        = (h16 ":"){6} ls32
                | "::" (h16 ":"){5} ls32
                | h16? "::" (h16 ":"){4} ls32
                | ((h16 ":"){0,1} h16)? "::" (h16 ":"){3} ls32
                | ((h16 ":"){0,2} h16)? "::" (h16 ":"){2} ls32
                | ((h16 ":"){0,3} h16)? "::" h16 ":" ls32
                | ((h16 ":"){0,4} h16)? "::" ls32
                | ((h16 ":"){0,5} h16)? "::" h16
                | ((h16 ":"){0,6} h16)? "::";

    // RFC 5321, 4.1.2 and 4.1.3
    atext       = alnum | [!#$%&'*+/=?^_`{|}~-];
    dot_string  = atext+ ("." atext+)*;
    quoted      = ["] ([\x20\x21\x23-\x5b\x5d-\x7e] | "\\" [\x20-\x7e])* ["];
    label       = alnum ((alnum | "-")* alnum)?;
    domain      = label ("." label)*;
    tag         = alnum ((alnum | "-")* alnum)? ":" [\x21-\x5a\x5e-\x7e]+;
    in_brackets = "[" [\x21-\x5a\x5e-\x7e]* "]";
    email       = (dot_string | quoted) "@" (domain | in_brackets);

    // RFC 3986, appendix A
    unreserved  = alnum | [._~-];
    escape      = "%" hex hex;
    sub_delims  = [!$&'()*+,;=];
    pchar       = unreserved | escape | sub_delims | [:@];
    scheme      = alpha (alnum | [+.-])*;
    userinfo    = (unreserved | escape | sub_delims | ":")*;
    ipvfuture   = [vV] hex+ "." (unreserved | sub_delims | ":")+;
    host        = in_brackets | (unreserved | escape | sub_delims)*;
    authority   = (userinfo "@")? host (":" digit*)?;
    segments    = ("/" pchar*)*;
    hier_part   = "//" authority segments | "/" (pchar+ segments)? | pchar+ segments | "";
    tail        = (pchar | [/?])*;
    uri         = scheme ":" hier_part ("?" tail)? ("#" tail)?;
*/

static bool scan_date(struct text *text)
{
    /*!re2c
        full_date { return true; }
        *         { return false; }
    */
}

static bool scan_date_time(struct text *text)
{
    /*!re2c
        date_time { return true; }
        *         { return false; }
    */
}

static bool scan_uuid(struct text *text)
{
    /*!re2c
        uuid { return true; }
        *    { return false; }
    */
}

static bool scan_ipv4(struct text *text)
{
    /*!re2c
        ipv4 { return true; }
        *    { return false; }
    */
}

static bool scan_ipv6(struct text *text)
{
    /*!re2c
        ipv6 { return true; }
        *    { return false; }
    */
}

static bool scan_email(struct text *text)
{
    /*!re2c
        email { return true; }
        *     { return false; }
    */
}

static bool scan_tagged(struct text *text)
{
    /*!re2c
        tag { return true; }
        *   { return false; }
    */
}

static bool scan_ipvfuture(struct text *text)
{
    /*!re2c
        ipvfuture { return true; }
        *         { return false; }
    */
}

static bool scan_uri(struct text *text)
{
    /*!re2c
        uri { return true; }
        *   { return false; }
    */
}

static bool is_whole(bool (*scan)(struct text *text), struct str s)
{
    struct text text = {s.p, s.p + s.n, s.p};
    return scan(&text) && text.at == text.end;
}

/* What stands between the brackets of an email address, which close it, must be an address. */
static bool is_mailbox(struct str s)
{
    const char *open = s.p[s.n - 1] == ']' ? memrchr(s.p, '[', s.n) : NULL;
    if (!open)
        return true;
    struct str inner = {open + 1, (uint32_t)(s.p + s.n - 2 - open)};
    if (inner.n >= 5 && str_eq_nocase((struct str){inner.p, 5}, STR("IPv6:")))
        return is_whole(scan_ipv6, (struct str){inner.p + 5, inner.n - 5});
    return is_whole(scan_ipv4, inner) || is_whole(scan_tagged, inner);
}

/* Only the host of a URI has brackets. */
static bool is_host(struct str s)
{
    const char *open = memchr(s.p, '[', s.n), *close = memchr(s.p, ']', s.n);
    if (!open)
        return true;
    struct str inner = {open + 1, (uint32_t)(close - open - 1)};
    return is_whole(scan_ipv6, inner) || is_whole(scan_ipvfuture, inner);
}

/* The decimal number of n digits. */
static int number(const char *p, int n)
{
    int value = 0;
    for (int i = 0; i < n; i++)
        value = value * 10 + p[i] - '0';
    return value;
}

static bool is_day_of_month(struct str s)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year = number(s.p, 4), month = number(s.p + 5, 2);
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return number(s.p + 8, 2) <= days[month - 1] + (month == 2 && leap);
}

/* A leap second is the last one of a day in UTC. */
static bool is_second(struct str s)
{
    int minutes = number(s.p + 11, 2) * 60 + number(s.p + 14, 2);
    if (number(s.p + 17, 2) != 60)
        return true;
    const char *offset = s.p + s.n - 6;
    if ((s.p[s.n - 1] | 0x20) != 'z') {
        int ahead = number(offset + 1, 2) * 60 + number(offset + 4, 2);
        minutes += *offset == '+' ? -ahead : ahead;
    }
    return (minutes + 1440) % 1440 == 1439;
}

static bool is_real_time(struct str s)
{
    return is_day_of_month(s) && is_second(s);
}

static const struct {
    struct str name;
    bool (*scan)(struct text *text);
    bool (*check)(struct str s); /* what the scanner cannot see; NULL: nothing */
} formats[] = {
    [FORMAT_EMAIL] = {STR_INIT("email"), scan_email, is_mailbox},
    [FORMAT_URI] = {STR_INIT("uri"), scan_uri, is_host},
    [FORMAT_DATE] = {STR_INIT("date"), scan_date, is_day_of_month},
    [FORMAT_DATE_TIME] = {STR_INIT("date-time"), scan_date_time, is_real_time},
    [FORMAT_UUID] = {STR_INIT("uuid"), scan_uuid, NULL},
    [FORMAT_IPV4] = {STR_INIT("ipv4"), scan_ipv4, NULL},
    [FORMAT_IPV6] = {STR_INIT("ipv6"), scan_ipv6, NULL},
};

enum schema_format schema_format_find(struct str name)
{
    for (enum schema_format format = FORMAT_ANY + 1; format < FORMATS_N; format++)
        if (str_eq(formats[format].name, name))
            return format;
    return FORMAT_ANY;
}

const char *schema_format_name(enum schema_format format)
{
    return format == FORMAT_ANY ? "any" : formats[format].name.p;
}

bool schema_format_fits(enum schema_format format, struct str s)
{
    if (format == FORMAT_ANY)
        return true;
    return is_whole(formats[format].scan, s) &&
           (!formats[format].check || formats[format].check(s));
}
