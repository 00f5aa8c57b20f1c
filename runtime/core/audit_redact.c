/* core/audit_redact.c - text and arguments of clients as they may stand in the audit; see audit.h.
 *
 * Arguments are copied from the text that came, token by token, without a tree: the audit must not
 * cost much, and a text that is not JSON (of a call that was refused for it) ends where it breaks.
 */
#include "core/audit.h"

#include "base/limits.h"

#include <string.h>

#define REDACTED    "\"[redacted]\""
#define CUT         "\"[cut]\""
#define TOKEN_LEAST 20   /* characters behind "tenon_" */
#define TOKEN_AHEAD 64   /* bytes beyond the cut that are searched for a token that begins before */
#define ROOM_KEPT   1024 /* of the room, for the value that passes the bound, and brackets */

/* ---- Names ---------------------------------------------------------------------------------- */

static bool equals(const char *text, const char *word, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((text[i] | 0x20) != word[i] && text[i] != word[i])
            return false;
    return true;
}

static bool has_word(struct str name, struct str word)
{
    for (uint32_t i = 0; i + word.n <= name.n; i++)
        if (equals(name.p + i, word.p, word.n))
            return true;
    return false;
}

bool audit_is_secret(struct str name)
{
    static const struct str parts[] = {
        STR_INIT("secret"),  STR_INIT("password"), STR_INIT("token"),      STR_INIT("api-key"),
        STR_INIT("api_key"), STR_INIT("apikey"),   STR_INIT("credential"), STR_INIT("auth"),
    };
    static const struct str names[] = {STR_INIT("value"), STR_INIT("values"), STR_INIT("envelope")};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (name.n == names[i].n && equals(name.p, names[i].p, name.n))
            return true;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (has_word(name, parts[i]))
            return true;
    return false;
}

/* ---- Tokens in a text ----------------------------------------------------------------------- */

static size_t count_base64(const char *p, const char *end)
{
    const char *at = p;
    while (at < end && ((*at | 0x20) >= 'a' && (*at | 0x20) <= 'z' ? true
                        : *at >= '0' && *at <= '9'                 ? true
                                                                   : *at == '-' || *at == '_'))
        at++;
    return (size_t)(at - p);
}

/* Two parts of at least eight characters with a point between: the third may be cut off. */
static bool is_signed_token(const char *p, const char *end)
{
    size_t n = count_base64(p, end);
    if (n < 8 || p + n >= end || p[n] != '.')
        return false;
    return count_base64(p + n + 1, end) >= 8;
}

static bool holds_token(const char *p, const char *end)
{
    if (end - p < TOKEN_LEAST) /* neither kind is so short */
        return false;
    for (const char *at = p; (at = memmem(at, (size_t)(end - at), "tenon_", 6)); at += 6)
        if (count_base64(at + 6, end) >= TOKEN_LEAST)
            return true;
    for (const char *at = p; (at = memmem(at, (size_t)(end - at), "eyJ", 3)); at += 3)
        if (is_signed_token(at, end))
            return true;
    return false;
}

/* ---- Text ----------------------------------------------------------------------------------- */

/* Bytes of the character at p; 0: it is no UTF-8. */
static unsigned character(const unsigned char *p, const unsigned char *end, uint32_t *ret)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned n = *p < 0x80 ? 1 : *p < 0xc2 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : *p < 0xf5 ? 4 : 0;
    uint32_t code = n == 1 ? *p : *p & (0x7fu >> n);
    if (n == 0 || (size_t)(end - p) < n)
        return 0;
    for (unsigned i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (p[i] & 0x3f);
    }
    *ret = code;
    return code < least[n] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0 : n;
}

static bool needs_escape(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029;
}

/* One character of plain text; returns how many bytes it took. */
static unsigned put_plain(struct buf *out, const char *p, const char *end)
{
    uint32_t code;
    unsigned n = character((const unsigned char *)p, (const unsigned char *)end, &code);
    if (n == 0)
        buf_add_lit(out, "\\ufffd");
    else if (needs_escape(code))
        buf_printf(out, "\\u%04x", (unsigned)code);
    else if (code == '"' || code == '\\')
        buf_add_char(out, '\\'), buf_add_char(out, (char)code);
    else
        buf_add(out, p, n);
    return n ? n : 1;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'                     ? c - '0'
           : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                    : -1;
}

static int hex_four(const char *p)
{
    int code = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(p[i]);
        if (digit < 0)
            return -1;
        code = code << 4 | digit;
    }
    return code;
}

/* One escape of JSON text. ASCII that did not need one is written plainly, so that what looks for
 * names and tokens sees it. */
static unsigned put_escape(struct buf *out, const char *p, const char *end)
{
    int code = end - p >= 6 && p[1] == 'u' ? hex_four(p + 2) : -1;
    if (code > 0x20 && code < 0x7f && code != '"' && code != '\\') {
        buf_add_char(out, (char)code);
        return 6;
    }
    if (code >= 0) {
        buf_add(out, p, 6);
        return 6;
    }
    if (end - p >= 2 && p[1] && strchr("\"\\/bfnrt", p[1])) {
        buf_add(out, p, 2);
        return 2;
    }
    buf_add_lit(out, "\\ufffd");
    return 1;
}

/* Bytes of ASCII that stand for themselves: nearly all of nearly every text. */
static size_t count_plain(const char *p, const char *end, size_t most)
{
    size_t n = (size_t)(end - p) < most ? (size_t)(end - p) : most, i = 0;
    while (i < n && p[i] >= ' ' && p[i] < 0x7f && p[i] != '"' && p[i] != '\\')
        i++;
    return i;
}

/* The text in quotes; `is_json`: with its escapes. What is cut off ends in three points. */
static void put_text(struct buf *out, struct str text, size_t max, bool is_json)
{
    size_t start, shown = 0;
    const char *p = text.p, *end = text.p + text.n;
    buf_add_char(out, '"');
    start = out->n;
    while (p < end && !out->failed && out->n - start < max + TOKEN_AHEAD) {
        size_t used = out->n - start;
        if (!shown && used >= max)
            shown = out->n;
        size_t n = count_plain(p, end, used < max ? max - used : max + TOKEN_AHEAD - used);
        if (n) {
            buf_add(out, p, n);
            p += n;
        } else {
            p += is_json && *p == '\\' ? put_escape(out, p, end) : put_plain(out, p, end);
        }
    }
    if (out->failed)
        return;
    if (out->n > start && holds_token(out->p + start, out->p + out->n)) {
        out->n = start - 1;
        buf_add_lit(out, REDACTED);
        return;
    }
    if (shown || p < end) {
        out->n = shown ? shown : out->n;
        buf_add_lit(out, "...");
    }
    buf_add_char(out, '"');
}

void audit_write_text(struct buf *out, struct str text, size_t max)
{
    put_text(out, text.p ? text : STR(""), max, false);
}

/* ---- Arguments ------------------------------------------------------------------------------ */

struct walk {
    const char *p, *end;
    struct buf *out;
    size_t until; /* of out->n; what begins later is cut */
    bool is_over; /* cut, or the text is broken: brackets are closed, and that is all */
};

static void blanks(struct walk *w)
{
    while (w->p < w->end && (*w->p == ' ' || *w->p == '\n' || *w->p == '\r' || *w->p == '\t'))
        w->p++;
}

static bool take(struct walk *w, char c)
{
    blanks(w);
    if (w->p >= w->end || *w->p != c)
        return false;
    w->p++;
    return true;
}

/* The position is at the opening quote, and then behind the closing one. */
static bool take_string(struct walk *w, struct str *ret)
{
    const char *start = w->p + 1, *p = start;
    while (p < w->end && *p != '"')
        p += *p == '\\' ? 2 : 1;
    if (p >= w->end)
        return false;
    *ret = (struct str){start, (uint32_t)(p - start)};
    w->p = p + 1;
    return true;
}

static void give_up(struct walk *w)
{
    if (!w->is_over)
        buf_add_lit(w->out, CUT);
    w->is_over = true;
}

static size_t scalar_bytes(const struct walk *w)
{
    const char *p = w->p;
    while (p<w->end && * p> ' ' && !strchr(",:{}[]\"", *p))
        p++;
    return (size_t)(p - w->p);
}

/* Of any depth. False: the text ends before it. */
static bool skip_value(struct walk *w)
{
    struct str ignored;
    size_t depth = 0;
    do {
        blanks(w);
        if (w->p >= w->end)
            return false;
        if (*w->p == '"') {
            if (!take_string(w, &ignored))
                return false;
        } else if (strchr("{[", *w->p)) {
            depth++, w->p++;
        } else if (strchr("}]", *w->p)) {
            if (depth == 0)
                return false;
            depth--, w->p++;
        } else if (strchr(",:", *w->p)) {
            if (depth == 0)
                return false;
            w->p++;
        } else {
            size_t n = scalar_bytes(w);
            w->p += n ? n : 1;
        }
    } while (depth);
    return true;
}

static void put_redacted(struct walk *w)
{
    if (skip_value(w))
        buf_add_lit(w->out, REDACTED);
    else
        give_up(w);
}

static void put_string(struct walk *w)
{
    struct str text;
    if (take_string(w, &text))
        put_text(w->out, text, AUDIT_TEXT_BYTES, true);
    else
        give_up(w);
}

/* A number or a word of JSON: one that reaches the end of the text may not be all of it. */
static bool is_scalar(const struct walk *w, size_t n)
{
    static const struct str words[] = {STR_INIT("true"), STR_INIT("false"), STR_INIT("null")};
    struct str text = {w->p, (uint32_t)n};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_eq(text, words[i]))
            return true;
    if (n == 0 || n > AUDIT_TEXT_BYTES || w->p + n == w->end)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!memchr("0123456789+-.eE", text.p[i], 15))
            return false;
    return true;
}

static void put_scalar(struct walk *w)
{
    size_t n = scalar_bytes(w);
    if (!is_scalar(w, n)) {
        give_up(w);
        return;
    }
    buf_add(w->out, w->p, n);
    w->p += n;
}

static void put_value(struct walk *w, unsigned depth);

static bool put_key(struct walk *w, bool *ret_is_secret)
{
    struct str key;
    blanks(w);
    if (w->p >= w->end || *w->p != '"' || !take_string(w, &key))
        return false;
    size_t at = w->out->n;
    put_text(w->out, key, AUDIT_TEXT_BYTES, true);
    if (w->out->failed || !take(w, ':'))
        return false;
    *ret_is_secret =
        key.n > AUDIT_TEXT_BYTES || /* its end was not seen */
        audit_is_secret((struct str){w->out->p + at + 1, (uint32_t)(w->out->n - at - 2)});
    buf_add_char(w->out, ':');
    return true;
}

static void put_member(struct walk *w, unsigned depth)
{
    bool is_secret;
    size_t at = w->out->n;
    if (w->out->n > w->until || !put_key(w, &is_secret)) {
        w->out->n = at;
        buf_add_lit(w->out, "\"[cut]\":true");
        w->is_over = true;
    } else if (is_secret) {
        put_redacted(w);
    } else {
        put_value(w, depth + 1);
    }
}

static void put_container(struct walk *w, unsigned depth)
{
    bool is_object = *w->p++ == '{';
    char close = is_object ? '}' : ']';
    bool is_empty = true;
    buf_add_char(w->out, is_object ? '{' : '[');
    while (!w->is_over && !w->out->failed && !take(w, close)) {
        if (!is_empty) {
            buf_add_char(w->out, ',');
            take(w, ',');
        }
        is_empty = false;
        if (is_object)
            put_member(w, depth);
        else
            put_value(w, depth + 1);
    }
    buf_add_char(w->out, close);
}

static void put_value(struct walk *w, unsigned depth)
{
    blanks(w);
    if (w->p >= w->end || w->out->n > w->until)
        give_up(w);
    else if (depth > AUDIT_DEPTH_MAX)
        put_redacted(w);
    else if (*w->p == '{' || *w->p == '[')
        put_container(w, depth);
    else if (*w->p == '"')
        put_string(w);
    else
        put_scalar(w);
}

void audit_write_args(struct buf *out, struct str json, size_t room)
{
    size_t kept = room / 2 < ROOM_KEPT ? room / 2 : ROOM_KEPT;
    struct walk w = {json.p, json.p + json.n, out, out->n + room - kept, false};
    put_value(&w, 0);
}
