/* tests/lib/match.c - see match_json.h. */
#include "tests/lib/match.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct match {
    struct match_vars *vars;
    char *why;      /* 512 bytes */
    char path[256]; /* where we are, as a JSON pointer */
};

void match_vars_clear(struct match_vars *vars)
{
    for (int i = 0; i < 26; i++) {
        free(vars->value[i]);
        vars->value[i] = NULL;
    }
}

void match_vars_set(struct match_vars *vars, char letter, const char *text)
{
    char **slot = &vars->value[letter - 'A'];
    free(*slot);
    *slot = strdup(text);
}

static const char *blanks(const char *p)
{
    return p + strspn(p, " \t\r\n");
}

/* ---- Skipping a value: NULL when it is none ------------------------------------------------- */

static const char *skip_string(const char *p)
{
    for (p++; *p != '"'; p++) {
        if ((unsigned char)*p < 0x20)
            return NULL;
        if (*p == '\\' && !*++p)
            return NULL;
    }
    return p + 1;
}

static const char *skip_value(const char *p, int depth);

static const char *skip_container(const char *p, char close, int depth)
{
    p = blanks(p + 1);
    if (*p == close)
        return p + 1;
    for (;;) {
        if (close == '}') {
            p = *p == '"' ? skip_string(p) : NULL;
            p = p ? blanks(p) : NULL;
            if (!p || *p != ':')
                return NULL;
            p++;
        }
        p = skip_value(blanks(p), depth + 1);
        if (!p)
            return NULL;
        p = blanks(p);
        if (*p == close)
            return p + 1;
        if (*p != ',')
            return NULL;
        p = blanks(p + 1);
    }
}

static const char *skip_bare(const char *p)
{
    size_t n = strcspn(p, " \t\r\n,]}");
    if (n == 4 && (!memcmp(p, "true", 4) || !memcmp(p, "null", 4)))
        return p + n;
    if (n == 5 && !memcmp(p, "false", 5))
        return p + n;
    char *end;
    if (n == 0 || strspn(p, "+-.eE0123456789") < n || *p == '+' || *p == '.')
        return NULL;
    strtod(p, &end);
    return end == p + n ? end : NULL;
}

static const char *skip_value(const char *p, int depth)
{
    if (depth > 1000)
        return NULL;
    switch (*p) {
    case '"':
        return skip_string(p);
    case '{':
        return skip_container(p, '}', depth);
    case '[':
        return skip_container(p, ']', depth);
    default:
        return skip_bare(p);
    }
}

bool match_is_json(const char *text)
{
    const char *end = skip_value(blanks(text), 0);
    return end && !*blanks(end);
}

/* ---- Strings -------------------------------------------------------------------------------- */

static char *put_utf8(char *out, uint32_t c)
{
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    int n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (int i = n - 1; i > 0; i--, c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3F));
    out[0] = n == 1 ? (char)c : (char)(lead[n] | c);
    return out + n;
}

static uint32_t hex4(const char *p)
{
    char digits[5] = {0};
    memcpy(digits, p, 4);
    return (uint32_t)strtoul(digits, NULL, 16);
}

/* Decodes one escape at *p (the backslash); advances it. */
static char *decode_escape(const char **p, char *out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    char c = (*p)[1];
    if (c != 'u') {
        const char *at = strchr(from, c);
        *p += 2;
        *out = at ? to[at - from] : c;
        return out + 1;
    }
    uint32_t code = hex4(*p + 2);
    *p += 6;
    if (code >= 0xD800 && code < 0xDC00 && (*p)[0] == '\\' && (*p)[1] == 'u') {
        code = 0x10000 + ((code - 0xD800) << 10) + (hex4(*p + 2) - 0xDC00);
        *p += 6;
    }
    return put_utf8(out, code);
}

/* Text of the string at p, which is valid; to be freed. */
static char *decode(const char *p)
{
    const char *end = skip_string(p) - 1;
    char *text = malloc((size_t)(end - p) + 1), *out = text;
    for (p++; p < end;) {
        if (*p == '\\')
            out = decode_escape(&p, out);
        else
            *out++ = *p++;
    }
    *out = 0;
    return text;
}

static bool glob(const char *pattern, const char *text)
{
    const char *star = NULL, *retry = NULL;
    while (*text) {
        if (*pattern == '*') {
            star = pattern++;
            retry = text;
        } else if (*pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star + 1;
            text = ++retry;
        } else {
            return false;
        }
    }
    return pattern[strspn(pattern, "*")] == 0;
}

static bool is_var(const char *p)
{
    return p[0] == '$' && isupper((unsigned char)p[1]) && !isalnum((unsigned char)p[2]);
}

static bool match_held(struct match_vars *vars, char letter, const char *text)
{
    const char *held = vars->value[letter - 'A'];
    if (held)
        return strcmp(held, text) == 0;
    match_vars_set(vars, letter, text);
    return true;
}

bool match_text(const char *pattern, const char *text, struct match_vars *vars)
{
    if (is_var(pattern) && !pattern[2])
        return match_held(vars, pattern[1], text);
    return glob(pattern, text);
}

/* ---- Matching -------------------------------------------------------------------------------- */

static bool differ(struct match *m, const char *expected, const char *got)
{
    const char *end = skip_value(got, 0);
    snprintf(m->why, 512, "at \"%s\": expected %.120s, got %.*s", m->path, expected,
             end ? (int)(end - got < 200 ? end - got : 200) : (int)strlen(got), got);
    return false;
}

static bool match_value(struct match *m, const char **pattern, const char *json);

/* The value of `key` in an object, or NULL. */
static const char *find_member(const char *object, const char *key, int *ret_count)
{
    const char *found = NULL, *p = blanks(object + 1);
    for (*ret_count = 0; *p == '"'; (*ret_count)++) {
        char *name = decode(p);
        p = blanks(blanks(skip_string(p)) + 1);
        if (strcmp(name, key) == 0)
            found = p;
        free(name);
        p = blanks(skip_value(p, 0));
        if (*p == ',')
            p = blanks(p + 1);
    }
    return found;
}

static bool match_named(struct match *m, const char **pattern, const char *json)
{
    char *key = decode(*pattern);
    size_t path_n = strlen(m->path);
    int count;
    const char *value = find_member(json, key, &count);
    const char *p = blanks(skip_string(*pattern));
    p = *p == ':' ? blanks(p + 1) : p;
    snprintf(m->path + path_n, sizeof m->path - path_n, "/%s", key);
    free(key);
    bool ok = value ? match_value(m, &p, value) : differ(m, "this member", "none");
    if (ok)
        m->path[path_n] = 0;
    *pattern = blanks(p);
    return ok;
}

static bool match_object(struct match *m, const char **pattern, const char *json)
{
    if (*json != '{')
        return differ(m, "an object", json);
    const char *p = blanks(*pattern + 1);
    int named = 0, there;
    bool open = false;
    while (*p && *p != '}') {
        if (strncmp(p, "...", 3) == 0) {
            open = true;
            p = blanks(p + 3);
        } else if (*p != '"') {
            return differ(m, "(the pattern is no JSON)", json);
        } else if (!match_named(m, &p, json)) {
            return false;
        } else {
            named++;
        }
        p = *p == ',' ? blanks(p + 1) : p;
    }
    *pattern = *p ? p + 1 : p;
    find_member(json, "", &there);
    return open || there == named || differ(m, "no other members", json);
}

/* Steps over an array: the next element behind `p`, or NULL at its end. */
static const char *element_after(const char *p)
{
    p = blanks(skip_value(p, 0));
    return *p == ',' ? blanks(p + 1) : NULL;
}

static bool match_somewhere(struct match *m, const char **pattern, const char **at)
{
    for (; *at; *at = element_after(*at)) {
        const char *p = *pattern;
        size_t path_n = strlen(m->path);
        if (match_value(m, &p, *at)) {
            *pattern = p;
            *at = element_after(*at);
            return true;
        }
        m->path[path_n] = 0;
    }
    return differ(m, *pattern, "no such element");
}

static bool match_array(struct match *m, const char **pattern, const char *json)
{
    if (*json != '[')
        return differ(m, "an array", json);
    const char *p = blanks(*pattern + 1), *at = blanks(json + 1);
    at = *at == ']' ? NULL : at;
    bool any = false;
    while (*p && *p != ']') {
        if (strncmp(p, "...", 3) == 0) {
            any = true;
            p = blanks(p + 3);
        } else if (any) {
            if (!match_somewhere(m, &p, &at))
                return false;
            any = false;
        } else if (!at) {
            return differ(m, "more elements", json);
        } else {
            if (!match_value(m, &p, at))
                return false;
            at = element_after(at);
        }
        p = blanks(p);
        p = *p == ',' ? blanks(p + 1) : p;
    }
    *pattern = *p ? p + 1 : p;
    return !at || any || differ(m, "fewer elements", json);
}

static bool match_string(struct match *m, const char **pattern, const char *json)
{
    const char *start = *pattern;
    *pattern = skip_string(start);
    if (!*pattern || *json != '"')
        return differ(m, start, json);
    char *expected = decode(start), *text = decode(json);
    bool ok = glob(expected, text) || differ(m, start, json);
    free(expected);
    free(text);
    return ok;
}

static bool match_taken(struct match *m, const char **pattern, const char *json)
{
    char letter = (*pattern)[1];
    *pattern += 2;
    const char *end = skip_value(json, 0);
    char *text = *json == '"' ? decode(json) : strndup(json, (size_t)(end - json));
    bool ok = match_held(m->vars, letter, text);
    free(text);
    return ok || differ(m, m->vars->value[letter - 'A'], json);
}

static bool match_bare(struct match *m, const char **pattern, const char *json)
{
    size_t n = strcspn(*pattern, " \t\r\n,]}");
    const char *start = *pattern, *end = skip_value(json, 0);
    *pattern += n;
    if ((size_t)(end - json) == n && memcmp(start, json, n) == 0)
        return true;
    return differ(m, start, json);
}

/* `json` was checked as a whole, so that skip_value never fails below. */
static bool match_value(struct match *m, const char **pattern, const char *json)
{
    switch (**pattern) {
    case '*':
        ++*pattern;
        return true;
    case '{':
        return match_object(m, pattern, json);
    case '[':
        return match_array(m, pattern, json);
    case '"':
        return match_string(m, pattern, json);
    case '$':
        if (is_var(*pattern))
            return match_taken(m, pattern, json);
        /* fall through */
    default:
        return match_bare(m, pattern, json);
    }
}

bool match_json(const char *pattern, const char *json, struct match_vars *vars, char why[512])
{
    struct match m = {.vars = vars, .why = why};
    why[0] = 0;
    if (!match_is_json(json)) {
        snprintf(why, 512, "the reply is no JSON: %.200s", json);
        return false;
    }
    pattern = blanks(pattern);
    if (!match_value(&m, &pattern, blanks(json)))
        return false;
    if (!*blanks(pattern))
        return true;
    snprintf(why, 512, "the pattern goes on: %.100s", pattern);
    return false;
}

char *match_member(const char *object, const char *key)
{
    object = blanks(object);
    if (*object != '{' || !match_is_json(object))
        return NULL;
    int count;
    const char *value = find_member(object, key, &count);
    return value ? strndup(value, (size_t)(skip_value(value, 0) - value)) : NULL;
}
