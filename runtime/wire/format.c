/* wire/format.c - is this text a URI (RFC 3986), a URI template (RFC 6570), base64 (RFC 4648)?
 *
 * Only what decides whether the text can be taken for one: a scheme and the allowed characters,
 * braces that pair, an alphabet with its padding. What a URI names, and whether a template can be
 * expanded, is for those who use it. Characters beyond ASCII pass: clients send IRIs.
 */
#include "wire/format.h"

#include <string.h>

static bool is_alpha(char c)
{
    return (unsigned)(c | 0x20) - 'a' < 26;
}

static bool is_digit(char c)
{
    return (unsigned)c - '0' < 10;
}

static bool is_hex(char c)
{
    return is_digit(c) || (unsigned)(c | 0x20) - 'a' < 6;
}

static bool is_uri_char(char c)
{
    return (unsigned char)c > ' ' && c != 0x7f && !strchr("\"<>\\^`{|}", c);
}

/* Of the first n bytes: a letter, then letters, digits, + - . */
static bool is_scheme(const char *p, uint32_t n)
{
    if (n == 0 || !is_alpha(p[0]))
        return false;
    for (uint32_t i = 1; i < n; i++)
        if (!is_alpha(p[i]) && !is_digit(p[i]) && !strchr("+-.", p[i]))
            return false;
    return true;
}

static bool are_uri_chars(struct str s)
{
    for (uint32_t i = 0; i < s.n; i++) {
        if (!is_uri_char(s.p[i]))
            return false;
        if (s.p[i] == '%' && (i + 2 >= s.n || !is_hex(s.p[i + 1]) || !is_hex(s.p[i + 2])))
            return false;
    }
    return true;
}

static bool is_uri(struct str s)
{
    const char *colon = s.n ? memchr(s.p, ':', s.n) : NULL;
    return colon && is_scheme(s.p, (uint32_t)(colon - s.p)) && are_uri_chars(s);
}

static bool is_expression_char(char c)
{
    return is_alpha(c) || is_digit(c) || (c && strchr("_.%,:*+#/;?&=!@|", c));
}

static bool is_uri_template(struct str s)
{
    bool inside = false;
    for (uint32_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (c == '{' || c == '}') {
            if (inside != (c == '}') || (inside && s.p[i - 1] == '{'))
                return false;
            inside = !inside;
        } else if (inside ? !is_expression_char(c) : !is_uri_char(c)) {
            return false;
        }
    }
    return !inside;
}

static bool is_base64(struct str s)
{
    uint32_t n = s.n;
    for (int pad = 0; pad < 2 && n && s.p[n - 1] == '='; pad++)
        n--;
    for (uint32_t i = 0; i < n; i++)
        if (!is_alpha(s.p[i]) && !is_digit(s.p[i]) && s.p[i] != '+' && s.p[i] != '/')
            return false;
    return s.n % 4 == 0;
}

static const struct {
    const char *name;
    bool (*fits)(struct str s);
} formats[] = {
    [WIRE_URI] = {"uri", is_uri},
    [WIRE_URI_TEMPLATE] = {"uri-template", is_uri_template},
    [WIRE_BYTE] = {"base64 text", is_base64},
};

bool format_fits(enum wire_format format, struct str s)
{
    return format == WIRE_PLAIN || formats[format].fits(s);
}

const char *format_name(enum wire_format format)
{
    return format == WIRE_PLAIN ? "string" : formats[format].name;
}
