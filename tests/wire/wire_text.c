/* tests/wire/wire_text.c - see wire_text.h. */
#include "tests/wire/wire_text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_text(struct buf *b, const char *s)
{
    buf_add(b, s, strlen(s));
}

void wire_request_init(struct wire_request *r)
{
    *r = (struct wire_request){.method = "POST", .target = "/mcp", .minor = '1'};
    add_text(&r->names, "\n");
}

void wire_request_done(struct wire_request *r)
{
    buf_done(&r->extra);
    buf_done(&r->names);
    buf_done(&r->body);
}

static const char *expand_repeat(const char *at, struct buf *out)
{
    char *text;
    unsigned long n = strtoul(at, &text, 10);
    const char *end = strchr(text, ')');
    if (*text != ',' || !end)
        return NULL;
    char *piece = strndup(text + 1, (size_t)(end - text - 1));
    for (unsigned long i = 0; i < n; i++)
        add_text(out, piece);
    free(piece);
    return end + 1;
}

static const char *expand_hex(const char *at, struct buf *out)
{
    for (; isxdigit((unsigned char)at[0]) && isxdigit((unsigned char)at[1]); at += 2) {
        char digits[3] = {at[0], at[1], 0};
        buf_add_char(out, (char)strtoul(digits, NULL, 16));
    }
    return *at == ')' ? at + 1 : NULL;
}

static const char *expand_word(const char *p, const struct match_vars *vars, struct buf *out)
{
    if (strncmp(p, "$repeat(", 8) == 0)
        return expand_repeat(p + 8, out);
    if (strncmp(p, "$hex(", 5) == 0)
        return expand_hex(p + 5, out);
    if (!isupper((unsigned char)p[1]) || isalnum((unsigned char)p[2]) || !vars->value[p[1] - 'A'])
        return NULL;
    add_text(out, vars->value[p[1] - 'A']);
    return p + 2;
}

void wire_expand(const char *text, const struct match_vars *vars, struct buf *out)
{
    while (*text) {
        const char *after = *text == '$' ? expand_word(text, vars, out) : NULL;
        if (after)
            text = after;
        else
            buf_add_char(out, *text++);
    }
}

bool wire_is_header(const char *line)
{
    bool minus = *line == '-';
    size_t n = 0;
    line += minus;
    while (isalnum((unsigned char)line[n]) || line[n] == '-' || line[n] == '_')
        n++;
    return n > 0 && (line[n] == ':' || (minus && !line[n] && isalpha((unsigned char)*line)));
}

static bool is_request_line(const char *line)
{
    size_t n = strspn(line, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    return n > 0 && n < 16 && line[n] == ' ' && (line[n + 1] == '/' || line[n + 1] == '*');
}

static void note_name(struct wire_request *r, const char *name, size_t n)
{
    for (size_t i = 0; i < n; i++)
        buf_add_char(&r->names, (char)tolower((unsigned char)name[i]));
    add_text(&r->names, "\n");
}

static void add_header(struct wire_request *r, const char *line, const struct match_vars *vars)
{
    if (*line == '-') {
        note_name(r, line + 1, strlen(line + 1));
        return;
    }
    note_name(r, line, strcspn(line, ":"));
    wire_expand(line, vars, &r->extra);
    add_text(&r->extra, "\r\n");
}

void wire_request_add(struct wire_request *r, const char *line, const struct match_vars *vars)
{
    r->begun = true;
    if (!r->has_body && is_request_line(line)) {
        char minor = 0;
        if (sscanf(line, "%15s %255s HTTP/1.%c", r->method, r->target, &minor) == 3)
            r->minor = minor;
    } else if (!r->has_body && wire_is_header(line)) {
        add_header(r, line, vars);
    } else {
        if (r->has_body)
            add_text(&r->body, "\n");
        wire_expand(line, vars, &r->body);
        r->has_body = true;
    }
}

void wire_request_add_raw(struct wire_request *r, const char *line, const struct match_vars *vars)
{
    wire_expand(line, vars, &r->body);
    add_text(&r->body, "\r\n");
    r->has_body = r->begun = true;
}

static bool named(const struct wire_request *r, const char *name)
{
    char line[64];
    int n = snprintf(line, sizeof line, "\n%s\n", name);
    return memmem(r->names.p, r->names.n, line, (size_t)n) != NULL;
}

static void add_usual(const struct wire_request *r, const char *name, const char *value,
                      struct buf *out)
{
    char lower[64];
    size_t n = 0;
    for (; name[n] && n < sizeof lower - 1; n++)
        lower[n] = (char)tolower((unsigned char)name[n]);
    lower[n] = 0;
    if (value && !named(r, lower))
        buf_printf(out, "%s: %s\r\n", name, value);
}

void wire_request_write(struct wire_request *r, const struct wire_usual *usual, struct buf *out)
{
    bool post = strcmp(r->method, "POST") == 0;
    char host[32], length[32];
    snprintf(host, sizeof host, "127.0.0.1:%u", usual->port);
    snprintf(length, sizeof length, "%zu", r->body.n);
    buf_printf(out, "%s %s HTTP/1.%c\r\n", r->method, r->target, r->minor);
    add_usual(r, "Host", host, out);
    add_usual(r, "Content-Type", post ? "application/json" : NULL, out);
    add_usual(r, "Accept",
              post                            ? "application/json, text/event-stream"
              : strcmp(r->method, "GET") == 0 ? "text/event-stream"
                                              : NULL,
              out);
    add_usual(r, "Mcp-Session-Id", usual->session, out);
    add_usual(r, "MCP-Protocol-Version", usual->version, out);
    buf_add(out, r->extra.p, r->extra.n);
    if ((post || r->has_body) && !named(r, "transfer-encoding"))
        add_usual(r, "Content-Length", length, out);
    add_text(out, "\r\n");
    buf_add(out, r->body.p, r->body.n);
}
