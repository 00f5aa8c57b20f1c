/* net/head_read.c - see head_read.h. */
#include "net/head_read.h"

#include "base/err.h"
#include "base/limits.h"

#include <ctype.h>
#include <libwebsockets.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define TEXT_BYTES (2 * HTTP_HEADER_BYTES)

static const struct {
    enum lws_token_indexes token;
    size_t offset;
} known_headers[] = {
    {WSI_TOKEN_HOST, offsetof(struct http_head, host)},
    {WSI_TOKEN_ORIGIN, offsetof(struct http_head, origin)},
    {WSI_TOKEN_HTTP_ACCEPT, offsetof(struct http_head, accept)},
    {WSI_TOKEN_HTTP_CONTENT_TYPE, offsetof(struct http_head, content_type)},
    {WSI_TOKEN_HTTP_CONTENT_LENGTH, offsetof(struct http_head, content_length)},
    {WSI_TOKEN_HTTP_TRANSFER_ENCODING, offsetof(struct http_head, transfer_encoding)},
    {WSI_TOKEN_HTTP_EXPECT, offsetof(struct http_head, expect)},
    {WSI_TOKEN_CONNECTION, offsetof(struct http_head, connection)},
    {WSI_TOKEN_HTTP_AUTHORIZATION, offsetof(struct http_head, authorization)},
};

/* Stored by libwebsockets in lower case, with the colon. */
static const struct {
    struct str name;
    size_t offset;
} custom_headers[] = {
    {STR_INIT("mcp-session-id:"), offsetof(struct http_head, session_id)},
    {STR_INIT("mcp-protocol-version:"), offsetof(struct http_head, version)},
    {STR_INIT("last-event-id:"), offsetof(struct http_head, last_event)},
};

static struct str *member(struct http_head *head, size_t offset)
{
    return (struct str *)((char *)head + offset);
}

/* Room for a value of n bytes and its zero; all values of a head fit, since libwebsockets keeps no
 * more than HTTP_HEADER_BYTES of it. */
static char *text_room(struct head_reader *r, int n)
{
    if (n < 0 || r->text_n + (size_t)n + 1 > TEXT_BYTES)
        return NULL;
    char *room = r->text + r->text_n;
    r->text_n += (size_t)n + 1;
    return room;
}

/* Leading blanks are gone already, trailing ones are not. */
static struct str trimmed(char *text, int n)
{
    while (n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\t'))
        n--;
    text[n] = 0;
    return (struct str){text, (uint32_t)n};
}

static void read_known(struct head_reader *r, struct lws *wsi, size_t i)
{
    int n = lws_hdr_total_length(wsi, known_headers[i].token);
    char *room = n > 0 ? text_room(r, n) : NULL;
    if (room && (n = lws_hdr_copy(wsi, room, n + 1, known_headers[i].token)) >= 0)
        *member(&r->head, known_headers[i].offset) = trimmed(room, n);
}

static void read_custom(struct head_reader *r, struct lws *wsi, size_t i)
{
    const struct str name = custom_headers[i].name;
    int n = lws_hdr_custom_length(wsi, name.p, (int)name.n);
    char *room = n >= 0 ? text_room(r, n) : NULL;
    if (room && (n = lws_hdr_custom_copy(wsi, room, n + 1, name.p, (int)name.n)) >= 0)
        *member(&r->head, custom_headers[i].offset) = trimmed(room, n);
}

/* Of some names libwebsockets keeps a number instead of the text; -1: of others. */
static int find_token(const char *name, size_t n)
{
    for (int i = 0; i < WSI_TOKEN_COUNT; i++) {
        const char *known = (const char *)lws_token_to_string((enum lws_token_indexes)i);
        if (known && strncasecmp(known, name, n) == 0 && strcmp(known + n, ":") == 0)
            return i;
    }
    return -1;
}

struct str head_read_named(struct head_reader *r, struct lws *wsi, const char *name)
{
    char lower[80];
    size_t len = 0;
    while (name[len] && len < sizeof lower - 2) {
        lower[len] = (char)tolower((unsigned char)name[len]);
        len++;
    }
    memcpy(lower + len, ":", 2);
    int token = find_token(name, len), n_name = (int)len + 1;
    enum lws_token_indexes known = (enum lws_token_indexes)token;
    int n =
        token < 0 ? lws_hdr_custom_length(wsi, lower, n_name) : lws_hdr_total_length(wsi, known);
    char *room = n > 0 ? text_room(r, n) : NULL;
    if (!room)
        return STR_NONE;
    n = token < 0 ? lws_hdr_custom_copy(wsi, room, n + 1, lower, n_name)
                  : lws_hdr_copy(wsi, room, n + 1, known);
    return n > 0 ? trimmed(room, n) : STR_NONE;
}

static enum http_method method_of(int lws_method)
{
    static const enum http_method methods[] = {
        [LWSHUMETH_GET] = HTTP_GET,         [LWSHUMETH_POST] = HTTP_POST,
        [LWSHUMETH_OPTIONS] = HTTP_OPTIONS, [LWSHUMETH_PUT] = HTTP_OTHER,
        [LWSHUMETH_PATCH] = HTTP_OTHER,     [LWSHUMETH_DELETE] = HTTP_DELETE,
        [LWSHUMETH_CONNECT] = HTTP_OTHER,   [LWSHUMETH_HEAD] = HTTP_HEAD,
        [LWSHUMETH_COLON_PATH] = HTTP_OTHER};
    size_t n = sizeof methods / sizeof *methods;
    return lws_method >= 0 && (size_t)lws_method < n ? methods[lws_method] : HTTP_OTHER;
}

static bool is_http10(struct lws *wsi)
{
    char version[16];
    return lws_hdr_copy(wsi, version, sizeof version, WSI_TOKEN_HTTP) <= 0 ||
           strncmp(version, "HTTP/1.1", 8) != 0;
}

/* libwebsockets has undone the percent signs, and cut at each &. Copied to where values come later,
 * since what may be a token belongs nowhere else. */
static bool has_query_token(struct head_reader *r, struct lws *wsi)
{
    const struct str name = STR("access_token=");
    bool found = false;
    for (int i = 0, n = 0; n >= 0 && !found; i++) {
        n = lws_hdr_copy_fragment(wsi, r->text, TEXT_BYTES, WSI_TOKEN_HTTP_URI_ARGS, i);
        found = n > 0 && str_starts_with((struct str){r->text, (uint32_t)n}, name);
        if (n > 0)
            explicit_bzero(r->text, (size_t)n);
    }
    return found;
}

void head_reader_forget(struct head_reader *r)
{
    struct str *token = &r->head.authorization;
    if (token->n) /* else it is a constant */
        explicit_bzero(r->text + (token->p - r->text), token->n);
    *token = STR_NONE;
}

void head_read(struct head_reader *r, struct lws *wsi, bool is_authorized)
{
    char *path = NULL;
    int path_n = 0;
    head_reader_forget(r);
    r->text_n = 0;
    r->head = (struct http_head){0};
    r->head.query_has_token = has_query_token(r, wsi);
    r->head.method = method_of(lws_http_get_uri_and_method(wsi, &path, &path_n));
    r->head.path = (struct str){path, (uint32_t)path_n};
    r->head.http10 = is_http10(wsi);
    for (size_t i = 0; i < sizeof known_headers / sizeof *known_headers; i++)
        read_known(r, wsi, i);
    for (size_t i = 0; i < sizeof custom_headers / sizeof *custom_headers; i++)
        read_custom(r, wsi, i);
    if (is_authorized && !r->head.authorization.p)
        r->head.authorization = STR("");
}

int head_reader_init(struct head_reader *r)
{
    r->text = malloc(TEXT_BYTES);
    return r->text ? 0 : ERR_NO_MEMORY;
}

void head_reader_done(struct head_reader *r)
{
    head_reader_forget(r);
    free(r->text);
}
