/* manifest/file_path.c - from the variables of a URI to a path, and from a path back to the URI.
 *
 * The way back is for changes, which are seen as files and told as URIs. It is clear, because no
 * part of a path holds two variables; what it finds counts only if the URI leads to the file.
 */
#include "base/err.h"
#include "manifest/file_parts.h"

#include <string.h>

int file_path_write(const struct file_source *source,
                    const char *(*get)(void *ctx, const char *variable), void *ctx, struct buf *out)
{
    for (uint32_t i = 0; i < source->path.n; i++) {
        const struct placeholder_part *part = &source->path.v[i];
        const char *text = part->is_name ? get(ctx, part->text.p) : NULL;
        if (part->is_name && !text)
            return ERR_ABSENT;
        buf_add_str(out, text ? str_of(text) : part->text);
    }
    buf_add_char(out, '\0');
    if (out->failed)
        return ERR_NO_MEMORY;
    out->n--;
    return 0;
}

struct matching {
    const struct file_source *source;
    struct arena *arena;
    struct buf *out;
    struct str *values; /* per part; of names only */
};

static struct str rest_of(struct str text, uint32_t from)
{
    return (struct str){text.p + from, text.n - from};
}

/* Of the variable; a part further on may repeat it. */
static struct str value_of(const struct matching *m, struct str name)
{
    for (uint32_t i = 0; i < m->source->path.n; i++)
        if (m->source->path.v[i].is_name && str_eq(m->source->path.v[i].text, name))
            return m->values[i];
    return STR_NONE;
}

static bool values_agree(const struct matching *m)
{
    const struct placeholders *path = &m->source->path;
    for (uint32_t i = 0; i < path->n; i++)
        if (path->v[i].is_name && !str_eq(value_of(m, path->v[i].text), m->values[i]))
            return false;
    return true;
}

static bool leads_back(const struct matching *m)
{
    const struct template_value *values;
    const struct template *t = m->source->template;
    if (template_match(t, buf_str(m->out), TEMPLATE_SAFE, m->arena, &values) < 0)
        return false;
    for (uint32_t i = 0; i < template_n_names(t); i++)
        if (values[i].n_items != 1 || !str_eq(values[i].items[0], value_of(m, template_name(t, i))))
            return false;
    return true;
}

static int write_uri(struct matching *m)
{
    const struct template *t = m->source->template;
    uint32_t n = template_n_names(t);
    struct template_value *values = arena_array(m->arena, n + 1, sizeof *values);
    struct str *items = arena_array(m->arena, n + 1, sizeof *items);
    if (!values || !items)
        return ERR_NO_MEMORY;
    if (!values_agree(m))
        return ERR_ABSENT;
    for (uint32_t i = 0; i < n; i++) {
        items[i] = value_of(m, template_name(t, i));
        values[i] = (struct template_value){template_name(t, i), TEMPLATE_STRING, &items[i], 1};
    }
    buf_clear(m->out);
    template_expand(t, values, n, m->out);
    if (m->out->failed)
        return ERR_NO_MEMORY;
    return leads_back(m) ? 0 : ERR_ABSENT;
}

/* The parts from `i` on take all of the text. The first way that leads back is it. */
static int match(struct matching *m, uint32_t i, struct str text)
{
    const struct placeholders *path = &m->source->path;
    int err = ERR_ABSENT;
    if (i == path->n)
        return text.n ? ERR_ABSENT : write_uri(m);
    if (!path->v[i].is_name)
        return str_starts_with(text, path->v[i].text)
                   ? match(m, i + 1, rest_of(text, path->v[i].text.n))
                   : ERR_ABSENT;
    for (uint32_t n = i + 1 == path->n ? text.n : 1; err == ERR_ABSENT && n && n <= text.n; n++) {
        m->values[i] = (struct str){text.p, n};
        err = match(m, i + 1, rest_of(text, n));
    }
    return err;
}

int file_uri_write(const struct file_source *source, struct str path, struct arena *arena,
                   struct buf *out)
{
    struct matching m = {.source = source, .arena = arena, .out = out};
    buf_clear(out);
    if (!source->template) {
        buf_add_str(out, source->uri);
        return out->failed ? ERR_NO_MEMORY : 0;
    }
    m.values = arena_zalloc(arena, (source->path.n + 1) * sizeof *m.values);
    return m.values ? match(&m, 0, path) : ERR_NO_MEMORY;
}
