/* schema/filter_like.c - the patterns of `like`.
 *
 * A pattern is cut at each %. The first part must stand at the beginning, the last at the end, and
 * those between are looked for from left to right, each where it comes first: a later place could
 * never help. Plain parts are found by memmem, which is linear; one that holds a _ is tried at each
 * place, so its length is limited (FILTER_LIKE_MAX).
 */
#include "schema/filter_parts.h"

#include "base/err.h"

#include <string.h>

#define HOLE '\xff' /* a _ inside a part: a byte that UTF-8 never has */

#define WATCH_PLACES 16384 /* tried between two looks at the watch: a millisecond at most */
#define WATCH_BYTES  65536 /* a text that is searched by memmem so long is worth a look before */

struct part {
    struct str text;
    uint32_t n_chars;
    bool has_hole;
};

struct filter_like {
    uint32_t n_parts;
    struct part parts[];
};

static bool is_tail(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

static void add_byte(struct part *part, char *out, char c)
{
    out[part->text.n++] = c;
    part->n_chars += !is_tail(c);
    part->has_hole |= c == HOLE;
}

static uint32_t count_parts(struct str pattern)
{
    uint32_t n = 1;
    for (uint32_t i = 0; i < pattern.n; i++)
        n += pattern.p[i] == '%';
    return n;
}

/* A new part begins behind a %; an empty one between two is not needed. */
static struct part *cut(struct filter_like *like, char *out)
{
    struct part *part = &like->parts[like->n_parts - 1];
    if (like->n_parts == 1 || part->text.n)
        part = &like->parts[like->n_parts++];
    *part = (struct part){.text = {out, 0}};
    return part;
}

static int check_parts(const struct filter_like *like, const char **ret_why)
{
    for (uint32_t i = 1; i + 1 < like->n_parts; i++)
        if (like->parts[i].has_hole && like->parts[i].n_chars > FILTER_LIKE_MAX) {
            *ret_why = "fewer characters between two % (at most 64 where there is a _)";
            return ERR_LIMIT;
        }
    return 0;
}
_Static_assert(FILTER_LIKE_MAX == 64, "the text above says so");

int filter_like_compile(struct str pattern, struct arena *arena, const struct filter_like **ret,
                        const char **ret_why)
{
    struct filter_like *like =
        arena_zalloc(arena, sizeof *like + count_parts(pattern) * sizeof *like->parts);
    char *out = arena_alloc(arena, pattern.n + 1);
    if (!like || !out)
        return ERR_NO_MEMORY;
    struct part *part = &like->parts[like->n_parts++];
    part->text.p = out;
    for (uint32_t i = 0; i < pattern.n; i++) {
        char c = pattern.p[i];
        if (c == '%') {
            out += part->text.n;
            part = cut(like, out);
            continue;
        }
        if (c == '\\') {
            if (++i == pattern.n || !memchr("%_\\", pattern.p[i], 3)) {
                *ret_why = "one of % _ \\ behind a backslash of the pattern";
                return ERR_SYNTAX;
            }
            add_byte(part, out, pattern.p[i]);
        } else {
            add_byte(part, out, c == '_' ? HOLE : c);
        }
    }
    *ret = like;
    return check_parts(like, ret_why);
}

/* The position behind the part, if it stands at p. */
static const char *match_here(const struct part *part, const char *p, const char *end)
{
    const char *at = part->text.p, *part_end = at + part->text.n;
    if (!part->has_hole) {
        bool same = (size_t)(end - p) >= part->text.n && memcmp(p, at, part->text.n) == 0;
        return same ? p + part->text.n : NULL;
    }
    for (; at < part_end; at++) {
        if (p == end || (*at != HOLE && *at != *p))
            return NULL;
        p++;
        while (*at == HOLE && p < end && is_tail(*p))
            p++;
    }
    return p;
}

static int look_at(const struct filter_watch *watch)
{
    return watch ? watch->check(watch->ctx) : 0;
}

/* A part with holes at the first place where it stands. 1, 0, or an error of the watch. */
static int try_places(const struct part *part, const char *p, const char *end,
                      const struct filter_watch *watch, const char **ret)
{
    for (uint32_t n = 1; p < end; p++, n++) {
        const char *behind = is_tail(*p) ? NULL : match_here(part, p, end);
        if (behind) {
            *ret = behind;
            return 1;
        }
        int err = n % WATCH_PLACES ? 0 : look_at(watch);
        if (err < 0)
            return err;
    }
    return 0;
}

/* 1 (*ret is behind the part), 0, or an error of the watch. */
static int find(const struct part *part, const char *p, const char *end,
                const struct filter_watch *watch, const char **ret)
{
    int err = end - p > WATCH_BYTES ? look_at(watch) : 0;
    if (err < 0)
        return err;
    if (part->has_hole)
        return try_places(part, p, end, watch, ret);
    p = memmem(p, (size_t)(end - p), part->text.p, part->text.n);
    if (p)
        *ret = p + part->text.n;
    return p != NULL;
}

static bool match_end(const struct part *part, const char *p, const char *end)
{
    const char *start = end;
    for (uint32_t n = part->n_chars; n && start > p; n--)
        do
            start--;
        while (start > p && is_tail(*start));
    return match_here(part, start, end) == end;
}

int filter_like_test(const struct filter_like *like, struct str text,
                     const struct filter_watch *watch)
{
    const char *p = text.p, *end = p + text.n;
    p = match_here(&like->parts[0], p, end);
    if (like->n_parts == 1)
        return p == end;
    int found = p != NULL;
    for (uint32_t i = 1; found == 1 && i + 1 < like->n_parts; i++)
        found = find(&like->parts[i], p, end, watch, &p);
    return found == 1 ? match_end(&like->parts[like->n_parts - 1], p, end) : found;
}

/* The parts are looked for one behind the other, so no byte is tried for two of them more often
 * than for the one that takes most. */
uint32_t filter_like_weight(const struct filter_like *like)
{
    uint32_t weight = 1;
    for (uint32_t i = 1; i + 1 < like->n_parts; i++)
        if (like->parts[i].has_hole && like->parts[i].n_chars > weight)
            weight = like->parts[i].n_chars;
    return weight;
}

struct str filter_like_prefix(const struct filter_like *like, bool *ret_whole, bool *ret_rest)
{
    struct str text = like->parts[0].text;
    const char *hole = text.n ? memchr(text.p, HOLE, text.n) : NULL;
    *ret_whole = !hole && like->n_parts == 1;
    *ret_rest = !hole && like->n_parts == 2 && like->parts[1].text.n == 0;
    if (hole)
        text.n = (uint32_t)(hole - text.p);
    return text;
}
