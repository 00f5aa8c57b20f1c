/* tests/wire/wire_play.c - see wire_play.h. */
#include "tests/wire/wire_play.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool fail(struct wire_play *p, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(p->why, sizeof p->why, fmt, args);
    va_end(args);
    return false;
}

/* ---- Sending -------------------------------------------------------------------------------- */

static void end_request(struct wire_play *p)
{
    if (!p->request.begun)
        return;
    const char *session = p->version ? p->vars.value['S' - 'A'] : NULL;
    bool has_header = p->version && strcmp(p->version, "2025-03-26") != 0;
    struct wire_usual usual = {p->port, session && session[0] ? session : NULL,
                               has_header ? p->version : NULL};
    wire_request_write(&p->request, &usual, &p->out);
    p->head_only = strcmp(p->request.method, "HEAD") == 0;
    wire_request_done(&p->request);
    wire_request_init(&p->request);
}

static bool flush(struct wire_play *p)
{
    end_request(p);
    if (p->out.n == 0)
        return true;
    if (p->conn.fd < 0 && !http_open(&p->conn, p->port))
        return fail(p, "the server takes no connection");
    if (p->bytes && p->out.n <= WIRE_BYTES_MAX)
        http_send_bytes(&p->conn, p->out.p, p->out.n);
    else
        http_send(&p->conn, p->out.p, p->out.n);
    buf_clear(&p->out); /* a server that stopped reading may have answered: that shows next */
    return true;
}

/* ---- Expecting ------------------------------------------------------------------------------ */

static bool check_header(struct wire_play *p, const struct http_reply *r, const char *line)
{
    char name[64];
    bool absent = *line == '-';
    snprintf(name, sizeof name, "%.*s", (int)strcspn(line + absent, ":"), line + absent);
    const char *value = http_header(r, name);
    if (absent)
        return !value || fail(p, "header %s should be absent, is \"%s\"", name, value);
    const char *pattern = strchr(line, ':') + 1;
    pattern += strspn(pattern, " ");
    if (!value)
        return fail(p, "header %s is absent", name);
    struct buf expected = {0};
    const char *held = pattern;
    if (pattern[0] != '$' || pattern[2])
        wire_expand(pattern, &p->vars, &expected), buf_add_char(&expected, 0), held = expected.p;
    bool ok = match_text(held, value, &p->vars);
    buf_done(&expected);
    return ok || fail(p, "header %s: expected %s, got %s", name, pattern, value);
}

static bool check_body(struct wire_play *p, const struct http_reply *r)
{
    if (p->body.n == 0)
        return r->body_n == 0 || fail(p, "expected no body, got %.300s", r->body);
    buf_add_char(&p->body, 0);
    const char *pattern = p->body.p;
    if (strcmp(pattern, "*") == 0)
        return true;
    if (r->body_n == 0)
        return fail(p, "expected a body, got none");
    char why[512];
    if (match_json(pattern, r->body, &p->vars, why))
        return true;
    return fail(p, "%s\nwhole reply: %.400s", why, r->body);
}

static bool check_reply(struct wire_play *p, struct http_reply *r)
{
    if (r->status != p->status)
        return fail(p, "expected status %d, got %d\n%s%.400s", p->status, r->status, r->head,
                    r->body);
    for (size_t at = 0; at < p->headers.n; at += strlen(p->headers.p + at) + 1) {
        if (!check_header(p, r, p->headers.p + at))
            return false;
    }
    return check_body(p, r);
}

static void broken(struct wire_law_state *law, const char *what, const char *text)
{
    if (!law->broken[0])
        snprintf(law->broken, sizeof law->broken, "%s: %.200s", what, text);
}

bool wire_is_utf8(const char *p, size_t n)
{
    for (size_t i = 0; i < n;) {
        unsigned char c = (unsigned char)p[i++];
        int more = c < 0x80 ? 0 : c >= 0xF0 ? 3 : c >= 0xE0 ? 2 : c >= 0xC2 ? 1 : -1;
        unsigned low = c == 0xE0 ? 0xA0 : c == 0xF0 ? 0x90 : 0x80;
        unsigned high = c == 0xED ? 0x9F : c == 0xF4 ? 0x8F : 0xBF;
        if (more < 0 || c > 0xF4)
            return false;
        for (; more > 0; more--, low = 0x80, high = 0xBF) {
            unsigned char next = i < n ? (unsigned char)p[i++] : 0;
            if (next < low || next > high)
                return false;
        }
    }
    return true;
}

static void judge_object(struct wire_law_state *laws, const char *json)
{
    char *version = match_member(json, "jsonrpc"), *result = match_member(json, "result");
    char *error = match_member(json, "error");
    laws[LAW_RPC_2_0].seen++;
    if (!version || strcmp(version, "\"2.0\"") != 0)
        broken(&laws[LAW_RPC_2_0], "no \"jsonrpc\":\"2.0\"", json);
    laws[LAW_XOR].seen++;
    if (!result == !error)
        broken(&laws[LAW_XOR], "not one of result and error", json);
    laws[LAW_RESULT_SHAPE].seen += result != NULL;
    if (result && *result != '{')
        broken(&laws[LAW_RESULT_SHAPE], "result is no object", json);
    char *code = error ? match_member(error, "code") : NULL;
    char *message = error ? match_member(error, "message") : NULL;
    laws[LAW_ERROR_SHAPE].seen += error != NULL;
    if (error && (!code || strspn(code, "-0123456789") != strlen(code) || !message ||
                  *message != '"' || strlen(message) < 3))
        broken(&laws[LAW_ERROR_SHAPE], "no integer code or no message", json);
    free(version), free(result), free(error), free(code), free(message);
}

void wire_judge(struct wire_law_state *laws, const char *json)
{
    laws[LAW_UTF8].seen++;
    if (!wire_is_utf8(json, strlen(json)) || strncmp(json, "\xEF\xBB\xBF", 3) == 0)
        broken(&laws[LAW_UTF8], "not UTF-8, or with a byte order mark", json);
    if (*json == '{')
        judge_object(laws, json);
}

static void judge_reply(struct wire_law_state *laws, const struct http_reply *r)
{
    const char *type = http_header(r, "Content-Type");
    bool is_json = type && strncmp(type, "application/json", 16) == 0;
    laws[LAW_MEDIA_TYPE].seen++;
    if (r->body_n > 0 && !is_json)
        broken(&laws[LAW_MEDIA_TYPE], "a body that is not application/json", r->head);
    if (r->body_n == 0 && is_json && r->status != 200)
        broken(&laws[LAW_MEDIA_TYPE], "application/json without a body", r->head);
    bool framed = http_header(r, "Content-Length") != NULL;
    laws[LAW_ONE_LENGTH].seen += r->status >= 200 && r->status != 204;
    if (r->status >= 200 && r->status != 204 && framed == !!http_header(r, "Transfer-Encoding"))
        broken(&laws[LAW_ONE_LENGTH], "Content-Length and Transfer-Encoding", r->head);
    if (r->body_n > 0 && is_json)
        wire_judge(laws, r->body);
}

const char *const wire_law_names[N_LAWS] = {
    [LAW_RPC_2_0] = "J-01 every message says jsonrpc 2.0",
    [LAW_XOR] = "J-08 every response has exactly one of result and error",
    [LAW_ERROR_SHAPE] = "J-09 every error has an integer code and a message",
    [LAW_RESULT_SHAPE] = "J-10 every result is an object",
    [LAW_UTF8] = "J-18 every reply is UTF-8 without a byte order mark",
    [LAW_MEDIA_TYPE] = "T-10 every body is application/json, no body no such type",
    [LAW_ONE_LENGTH] = "every reply has exactly one framing",
};

static bool read_reply(struct wire_play *p)
{
    struct http_reply r;
    enum http_got got = p->conn.fd < 0 ? HTTP_END : http_read(&p->conn, p->head_only, &r);
    static const char *const none[] = {"the connection ended without it", "nothing came",
                                       "what came is no HTTP"};
    if (got != HTTP_REPLY)
        return fail(p, "expected a reply with status %d; %s", p->status, none[-(int)got]);
    bool ok = check_reply(p, &r);
    judge_reply(p->laws, &r);
    bool closes = r.closes;
    http_free(&r);
    if (ok && closes) {
        ok = http_wait_end(&p->conn) || fail(p, "Connection: close, but it stays open");
        http_close(&p->conn);
    }
    return ok;
}

static bool end_expectation(struct wire_play *p)
{
    bool ok = p->status == 0 || read_reply(p);
    if (!ok)
        p->line = p->status_line;
    p->status = 0;
    buf_clear(&p->headers);
    buf_clear(&p->body);
    return ok;
}

/* ---- Lines ---------------------------------------------------------------------------------- */

static bool is_status(const char *s)
{
    return isdigit((unsigned char)s[0]) && isdigit((unsigned char)s[1]) &&
           isdigit((unsigned char)s[2]) && (!s[3] || s[3] == ' ');
}

static bool expect_line(struct wire_play *p, const char *line)
{
    if (is_status(line)) {
        if (!end_expectation(p) || !flush(p))
            return false;
        p->status = atoi(line);
        p->status_line = p->line;
        line += line[3] ? 4 : 3;
        if (!*line)
            return true;
    }
    if (p->status == 0)
        return fail(p, "an expectation begins with a status");
    if (p->body.n == 0 && wire_is_header(line)) {
        buf_add(&p->headers, line, strlen(line) + 1);
        return true;
    }
    if (p->body.n > 0)
        buf_add_char(&p->body, '\n');
    buf_add(&p->body, line, strlen(line));
    return true;
}

static bool act(struct wire_play *p, const char *what)
{
    if (!flush(p))
        return false;
    if (strcmp(what, "new connection") == 0 || strcmp(what, "close") == 0)
        http_close(&p->conn);
    else if (strcmp(what, "reset") == 0)
        http_abort(&p->conn);
    else if (strcmp(what, "server closes") != 0)
        return fail(p, "unknown action");
    else if (p->conn.fd >= 0 && !http_wait_end(&p->conn))
        return fail(p, "expected the server to close the connection");
    else
        http_close(&p->conn);
    return true;
}

static bool play_line(struct wire_play *p, const char *line)
{
    bool more = line[0] == '<' && line[1] == ' ' && !is_status(line + 2);
    if (line[0] && !more && !end_expectation(p))
        return false;
    if (strncmp(line, ">>", 2) == 0)
        wire_request_add_raw(&p->request, line[2] ? line + 3 : "", &p->vars);
    else if (strncmp(line, "> ", 2) == 0)
        wire_request_add(&p->request, line + 2, &p->vars);
    else if (strcmp(line, "+") == 0)
        end_request(p);
    else if (strncmp(line, "< ", 2) == 0)
        return expect_line(p, line + 2);
    else if (strncmp(line, "! ", 2) == 0)
        return act(p, line + 2);
    else if (line[0])
        return fail(p, "neither >, <, + nor !");
    return true;
}

static bool make_session(struct wire_play *p)
{
    char session[128];
    if (!http_open(&p->conn, p->port))
        return fail(p, "the server takes no connection");
    if (!http_handshake(&p->conn, p->version, session))
        return fail(p, "no session: the handshake for %s failed", p->version);
    match_vars_set(&p->vars, 'S', session);
    return true;
}

bool wire_play(struct wire_play *p, char *const *lines, int n)
{
    int first = p->line;
    p->conn.fd = -1;
    wire_request_init(&p->request);
    bool ok = !p->version || make_session(p);
    for (int i = 0; ok && i < n; i++) {
        p->line = first + i;
        ok = play_line(p, lines[i]);
    }
    ok = ok && end_expectation(p) && flush(p);
    http_close(&p->conn);
    match_vars_clear(&p->vars);
    wire_request_done(&p->request);
    buf_done(&p->out);
    buf_done(&p->headers);
    buf_done(&p->body);
    return ok;
}
