/* auth/uri.c - see uri.h. */
#include "auth/uri.h"

#include <arpa/inet.h>
#include <string.h>

static bool is_plain(struct str text)
{
    for (uint32_t i = 0; i < text.n; i++)
        if (text.p[i] <= ' ' || text.p[i] > '~' || strchr("\"\\<>^`{|}#", text.p[i]))
            return false;
    return true;
}

static bool is_scheme(struct str s)
{
    for (uint32_t i = 0; i < s.n; i++) {
        bool letter = (unsigned)(s.p[i] | 0x20) - 'a' < 26;
        if (!letter && (!i || ((unsigned)(s.p[i] - '0') > 9 && !strchr("+-.", s.p[i]))))
            return false;
    }
    return s.n > 0;
}

static struct str from(struct str s, uint32_t at)
{
    return (struct str){s.p + at, s.n - at};
}

/* HOST[:PORT]; the host may be an IPv6 address in brackets. */
static bool cut_authority(struct str text, struct uri *ret)
{
    const char *bracket = text.n && text.p[0] == '[' ? memchr(text.p, ']', text.n) : NULL;
    uint32_t host = bracket ? (uint32_t)(bracket - text.p) + 1 : 0;
    uint64_t port = 0;
    while (host < text.n && text.p[host] != ':')
        host++;
    ret->host = (struct str){text.p, host};
    ret->port = host < text.n ? from(text, host + 1) : STR_NONE;
    return ret->host.n && !memchr(text.p, '@', text.n) &&
           (!ret->port.p || (str_to_u64(ret->port, &port) == 0 && port - 1 < 65535));
}

bool uri_cut(struct str text, struct uri *ret)
{
    uint32_t end = 0;
    struct str rest = text, scheme = str_cut(&rest, ':');
    if (!is_plain(text) || !rest.p || !is_scheme(scheme) || !str_starts_with(rest, STR("//")))
        return false;
    rest = from(rest, 2);
    while (end < rest.n && rest.p[end] != '/' && rest.p[end] != '?')
        end++;
    ret->scheme = scheme;
    ret->rest = from(rest, end);
    return cut_authority((struct str){rest.p, end}, ret);
}

static struct str port_of(const struct uri *uri)
{
    if (uri->port.p)
        return uri->port;
    return str_eq_nocase(uri->scheme, STR("https"))  ? STR("443")
           : str_eq_nocase(uri->scheme, STR("http")) ? STR("80")
                                                     : STR_NONE;
}

static struct str without_slash(struct str rest)
{
    return rest.n && rest.p[rest.n - 1] == '/' ? (struct str){rest.p, rest.n - 1} : rest;
}

bool uri_is_same(struct str a, struct str b)
{
    struct uri x, y;
    if (!uri_cut(a, &x) || !uri_cut(b, &y))
        return str_eq(a, b);
    return str_eq_nocase(x.scheme, y.scheme) && str_eq_nocase(x.host, y.host) &&
           str_eq(port_of(&x), port_of(&y)) && str_eq(without_slash(x.rest), without_slash(y.rest));
}

bool uri_is_loopback(const struct uri *uri)
{
    char host[INET_ADDRSTRLEN];
    struct in_addr address;
    if (str_eq_nocase(uri->host, STR("localhost")) || str_eq(uri->host, STR("[::1]")))
        return true;
    if (uri->host.n >= sizeof host)
        return false;
    memcpy(host, uri->host.p, uri->host.n);
    host[uri->host.n] = '\0';
    return inet_pton(AF_INET, host, &address) == 1 && ntohl(address.s_addr) >> 24 == 127;
}

bool uri_is_safe(struct str text)
{
    struct uri uri;
    if (!uri_cut(text, &uri))
        return false;
    return str_eq_nocase(uri.scheme, STR("https")) ||
           (str_eq_nocase(uri.scheme, STR("http")) && uri_is_loopback(&uri));
}
