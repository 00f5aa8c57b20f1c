/* manifest/placeholders.c - see placeholders.h. */
#include "manifest/placeholders.h"

#include "base/err.h"
#include "base/limits.h"

#include <string.h>

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("_.-", c));
}

static struct str rest_of(struct str text, uint32_t from)
{
    return (struct str){text.p + from, text.n - from};
}

/* Bytes of the name behind {{; 0: it is none. */
static uint32_t name_bytes(struct str text)
{
    uint32_t n = 0;
    while (n < text.n && is_name_char(text.p[n]))
        n++;
    return n <= COMPONENT_TOOL_NAME_BYTES && str_starts_with(rest_of(text, n), STR("}}")) ? n : 0;
}

static uint32_t literal_bytes(struct str text)
{
    const char *at = memmem(text.p, text.n, "{{", 2);
    return at ? (uint32_t)(at - text.p) : text.n;
}

/* Takes the next part off *rest. */
static int take(struct str *rest, struct placeholder_part *ret)
{
    uint32_t n = literal_bytes(*rest), skipped = n;
    *ret = (struct placeholder_part){{rest->p, n}, false};
    if (!n && str_starts_with(*rest, STR("{{{{"))) {
        ret->text.n = 2;
        skipped = 4;
    } else if (!n) {
        n = name_bytes(rest_of(*rest, 2));
        if (!n)
            return ERR_SYNTAX;
        *ret = (struct placeholder_part){{rest->p + 2, n}, true};
        skipped = n + 4;
    }
    *rest = rest_of(*rest, skipped);
    return 0;
}

static uint32_t parts_at_most(struct str text)
{
    uint32_t n = 1;
    for (const char *at; (at = memmem(text.p, text.n, "{{", 2)); n += 2)
        text = rest_of(text, (uint32_t)(at - text.p) + 2);
    return n;
}

int placeholders_parse(struct str text, struct arena *arena, struct placeholders *ret,
                       const char **ret_what)
{
    uint32_t n = 0;
    struct placeholder_part *v = arena_array(arena, parts_at_most(text), sizeof *v);
    if (!v)
        return ERR_NO_MEMORY;
    while (text.n) {
        if (take(&text, &v[n++]) < 0) {
            *ret_what = "expected {{name}}, or {{{{ for the two braces";
            return ERR_SYNTAX;
        }
    }
    *ret = (struct placeholders){v, n};
    return 0;
}

bool placeholders_are_literal(const struct placeholders *p)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (p->v[i].is_name)
            return false;
    return true;
}
