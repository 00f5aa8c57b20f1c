/* schema/json_schema_uri.c - a reference as seen from a base URI (RFC 3986, section 5.2), for $id
 * and $ref. Nothing is normalised beyond that: two spellings of one URI are two names. */
#include "schema/json_schema_parts.h"

#include <string.h>

struct uri {
    struct str scheme, authority, path, query; /* STR_NONE: absent; the path never is */
};

struct str uri_cut_fragment(struct str *uri)
{
    struct str rest = *uri;
    *uri = str_cut(&rest, '#');
    return rest;
}

/* The length of "scheme" before a colon, 0 if there is none. */
static uint32_t scheme_length(struct str s)
{
    for (uint32_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool letter = (unsigned)(c | 0x20) - 'a' < 26;
        if (c == ':')
            return i;
        if (!letter && (i == 0 || !((unsigned)c - '0' < 10 || c == '+' || c == '-' || c == '.')))
            return 0;
    }
    return 0;
}

static struct uri split(struct str s)
{
    struct uri uri = {STR_NONE, STR_NONE, STR_NONE, STR_NONE};
    uint32_t n = scheme_length(s);
    if (n) {
        uri.scheme = (struct str){s.p, n};
        s = (struct str){s.p + n + 1, s.n - n - 1};
    }
    struct str rest = s;
    s = str_cut(&rest, '?');
    uri.query = rest;
    if (str_starts_with(s, STR("//"))) {
        uint32_t end = 2;
        while (end < s.n && s.p[end] != '/')
            end++;
        uri.authority = (struct str){s.p + 2, end - 2};
        s = (struct str){s.p + end, s.n - end};
    }
    uri.path = s;
    return uri;
}

/* Takes the last segment off what was written since `start`, with the slash before it. */
static void drop_segment(struct buf *out, size_t start)
{
    while (out->n > start && out->p[out->n - 1] != '/')
        out->n--;
    if (out->n > start)
        out->n--;
}

/* 5.2.4, for a path that starts with a slash. */
static void add_without_dots(struct buf *out, struct str path)
{
    size_t start = out->n;
    for (uint32_t at = 0, end; at < path.n; at = end) {
        for (end = at + 1; end < path.n && path.p[end] != '/';)
            end++;
        struct str segment = {path.p + at, end - at};
        bool up = str_eq(segment, STR("/.."));
        if (up)
            drop_segment(out, start);
        if (!up && !str_eq(segment, STR("/.")))
            buf_add_str(out, segment);
        else if (end == path.n)
            buf_add_char(out, '/');
    }
}

/* 5.2.3: the base's path up to its last slash, then the reference's. */
static void merge_paths(struct buf *out, const struct uri *base, struct str path)
{
    uint32_t n = base->path.n;
    while (n && base->path.p[n - 1] != '/')
        n--;
    if (base->authority.p && base->path.n == 0)
        buf_add_char(out, '/');
    buf_add(out, base->path.p, n);
    buf_add_str(out, path);
}

static void add_path(struct buf *out, const struct uri *base, const struct uri *ref)
{
    struct buf merged = {0};
    struct str path = ref->path;
    bool own = ref->scheme.p || ref->authority.p || (path.n && path.p[0] == '/');
    if (!own) {
        if (path.n)
            merge_paths(&merged, base, path);
        else
            buf_add_str(&merged, base->path);
        path = buf_str(&merged);
    }
    if (path.n && path.p[0] == '/')
        add_without_dots(out, path);
    else
        buf_add_str(out, path);
    out->failed |= merged.failed;
    buf_done(&merged);
}

struct str uri_resolve(struct str base_text, struct str reference, struct arena *arena)
{
    struct buf out = {0};
    uri_cut_fragment(&reference);
    struct uri base = split(base_text), ref = split(reference);
    bool own_authority = ref.scheme.p || ref.authority.p;
    struct str scheme = ref.scheme.p ? ref.scheme : base.scheme;
    struct str authority = own_authority ? ref.authority : base.authority;
    struct str query = own_authority || ref.path.n || ref.query.p ? ref.query : base.query;
    if (scheme.p) {
        buf_add_str(&out, scheme);
        buf_add_char(&out, ':');
    }
    if (authority.p) {
        buf_add_lit(&out, "//");
        buf_add_str(&out, authority);
    }
    add_path(&out, &base, &ref);
    if (query.p) {
        buf_add_char(&out, '?');
        buf_add_str(&out, query);
    }
    struct str uri = arena_buf(arena, &out);
    buf_done(&out);
    return uri;
}
