/* cli_http.c - see cli_http.h. */
#include "cli_http.h"

#include "base/err.h"
#include "base/limits.h"
#include "cli_link.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define REPLY_BYTES_MAX (8u << 20)

static bool copy_part(char *ret, size_t size, struct str part)
{
    if (part.n == 0 || part.n >= size)
        return false;
    for (uint32_t i = 0; i < part.n; i++)
        if ((unsigned char)part.p[i] <= ' ')
            return false;
    memcpy(ret, part.p, part.n);
    ret[part.n] = '\0';
    return true;
}

/* "host", "host:port", "[::1]:port" */
static bool parse_authority(struct str text, struct http_url *url)
{
    struct str host = text, port = url->tls ? STR("443") : STR("80");
    const char *colon = text.n ? memrchr(text.p, ':', text.n) : NULL;
    if (colon && !memchr(colon, ']', text.n - (size_t)(colon - text.p))) {
        host.n = (uint32_t)(colon - text.p);
        port = (struct str){colon + 1, text.n - host.n - 1};
    }
    if (host.n > 2 && host.p[0] == '[' && host.p[host.n - 1] == ']')
        host = (struct str){host.p + 1, host.n - 2};
    return copy_part(url->host, sizeof url->host, host) &&
           copy_part(url->port, sizeof url->port, port);
}

int http_url_parse(const char *text, struct http_url *ret)
{
    struct str all = str_of(text);
    struct http_url url = {.tls = str_starts_with(all, STR("https://"))};
    struct str scheme = url.tls ? STR("https://") : STR("http://");
    if (!str_starts_with(all, scheme))
        return ERR_SYNTAX;
    all.p += scheme.n;
    all.n -= scheme.n;
    struct str rest = all, authority = str_cut(&rest, '/');
    struct str path = {authority.p + authority.n, all.n - authority.n};
    if (!parse_authority(authority, &url) ||
        !copy_part(url.path, sizeof url.path, path.n ? path : STR("/")))
        return ERR_SYNTAX;
    *ret = url;
    return 0;
}

/* ---- request -------------------------------------------------------------------------------- */

static void write_request(struct buf *out, const struct http_url *url, const char *method,
                          const struct http_header *headers, uint32_t n_headers, struct str body)
{
    bool v6 = strchr(url->host, ':') != NULL;
    buf_printf(out, "%s %s HTTP/1.1\r\nHost: %s%s%s:%s\r\nConnection: close\r\n", method, url->path,
               v6 ? "[" : "", url->host, v6 ? "]" : "", url->port);
    for (uint32_t i = 0; i < n_headers; i++)
        if (headers[i].value.p)
            buf_printf(out, "%s: " STR_FMT "\r\n", headers[i].name, STR_ARG(headers[i].value));
    if (body.p)
        buf_printf(out, "Content-Length: %u\r\n", body.n);
    buf_add_lit(out, "\r\n");
    buf_add_str(out, body);
}

/* ---- answer --------------------------------------------------------------------------------- */

struct framing {
    int64_t length; /* -1: until the connection ends */
    bool chunked;
};

static struct str cut_line(struct str *rest)
{
    struct str line = str_cut(rest, '\n');
    if (line.n && line.p[line.n - 1] == '\r')
        line.n--;
    return line;
}

static void read_header(struct str line, struct http_reply *reply, struct framing *framing)
{
    struct str value = line, name = str_cut(&value, ':');
    uint64_t length;
    value = str_trim(value);
    if (str_eq_nocase(name, STR("Mcp-Session-Id")))
        reply->session_id = value;
    else if (str_eq_nocase(name, STR("Content-Type")))
        reply->content_type = value;
    else if (str_eq_nocase(name, STR("Transfer-Encoding")))
        framing->chunked = str_eq_nocase(value, STR("chunked"));
    else if (str_eq_nocase(name, STR("Content-Length")) && str_to_u64(value, &length) == 0 &&
             length <= REPLY_BYTES_MAX)
        framing->length = (int64_t)length;
}

/* Status line and headers; *rest is what stands behind them. False: not HTTP/1.x. */
static bool read_head(struct str *rest, struct http_reply *reply, struct framing *framing)
{
    struct str line = cut_line(rest), code = line;
    uint64_t status;
    str_cut(&code, ' ');
    code = str_cut(&code, ' ');
    if (!str_starts_with(line, STR("HTTP/1.")) || str_to_u64(code, &status) < 0 || status > 999)
        return false;
    *reply = (struct http_reply){.status = (int)status};
    *framing = (struct framing){.length = -1};
    while (rest->p && (line = cut_line(rest)).n)
        read_header(line, reply, framing);
    return rest->p != NULL;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Appends each chunk's bytes; false if the framing is wrong or the body ends early. */
static bool unchunk(struct str rest, struct buf *out)
{
    for (;;) {
        struct str line = cut_line(&rest);
        uint32_t size = 0, i = 0;
        for (; i < line.n && hex_digit(line.p[i]) >= 0 && size <= REPLY_BYTES_MAX; i++)
            size = size * 16 + (uint32_t)hex_digit(line.p[i]);
        if (i == 0 || !rest.p)
            return false;
        if (size == 0)
            return true;
        if (size > rest.n)
            return false;
        buf_add(out, rest.p, size);
        rest.p += size;
        rest.n -= size;
        cut_line(&rest);
    }
}

static bool read_body(struct str rest, const struct framing *framing, struct buf *body)
{
    if (framing->chunked)
        return unchunk(rest, body);
    if (framing->length > (int64_t)rest.n)
        return false;
    buf_add(body, rest.p, framing->length < 0 ? rest.n : (size_t)framing->length);
    return true;
}

int http_reply_parse(struct str text, struct arena *arena, struct http_reply *ret)
{
    static const char padding[JSON_PADDING_BYTES];
    struct framing framing = {0};
    struct buf body = {0};
    int err = ERR_BAD_FRAMING;
    do /* "100 Continue" may come first */
        if (!read_head(&text, ret, &framing))
            return err;
    while (ret->status == 100);
    if (read_body(text, &framing, &body)) {
        size_t n = body.n;
        buf_add(&body, padding, sizeof padding);
        ret->body = arena_buf(arena, &body);
        ret->body.n = (uint32_t)n;
        err = ret->body.p ? 0 : ERR_NO_MEMORY;
    }
    buf_done(&body);
    return err;
}

static int receive_all(struct link *link, struct buf *in)
{
    ssize_t n;
    do {
        if (!buf_reserve(in, 16384))
            return ERR_TOO_LARGE;
        n = link_receive(link, in->p + in->n, 16384);
        in->n += n > 0 ? (size_t)n : 0;
    } while (n > 0);
    return n < 0 ? ERR_IO : 0;
}

static int exchange(struct link *link, struct str request, struct arena *arena,
                    struct http_reply *ret, struct str *ret_why)
{
    struct buf in = {.limit = REPLY_BYTES_MAX};
    int err = link_send(link, request) ? receive_all(link, &in) : ERR_IO;
    if (err == ERR_IO)
        *ret_why = arena_printf(arena, "no answer: %s",
                                errno == EAGAIN ? "it took longer than 10 s" : strerror(errno));
    else if (err < 0)
        *ret_why = STR("the answer is too large");
    if (err == 0) {
        struct str text = arena_buf(arena, &in); /* the headers are kept by slice */
        err = text.p ? http_reply_parse(text, arena, ret) : ERR_NO_MEMORY;
        if (err < 0)
            *ret_why = STR("the answer is not complete HTTP/1.1");
    }
    buf_done(&in);
    return err;
}

int http_request(const struct http_url *url, const char *method, const struct http_header *headers,
                 uint32_t n_headers, struct str body, struct arena *arena, struct http_reply *ret,
                 struct str *ret_why)
{
    struct buf request = {0};
    struct link link;
    int err = link_open(url, arena, &link, ret_why);
    if (err < 0)
        return err;
    write_request(&request, url, method, headers, n_headers, body);
    if (request.failed) {
        err = ERR_NO_MEMORY;
        *ret_why = str_of(err_text(err));
    } else {
        err = exchange(&link, buf_str(&request), arena, ret, ret_why);
    }
    buf_done(&request);
    link_close(&link);
    return err;
}
