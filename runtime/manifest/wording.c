/* manifest/wording.c - see wording.h. */
#include "manifest/wording.h"

#include "base/base64.h"
#include "base/err.h"
#include "wire/json_scan.h"

#include <string.h>

/* ---- Members -------------------------------------------------------------------------------- */

struct manifest_entry manifest_member(const struct manifest_entry *entry, const char *member)
{
    return (struct manifest_entry){entry->m, entry->tenon, tape_get(entry->node, str_of(member)),
                                   manifest_at(entry->m, entry->pointer, str_of(member))};
}

struct str manifest_str(const struct manifest_entry *entry, const char *member)
{
    const struct tape_node *value = tape_get(entry->node, str_of(member));
    return value ? tape_str(value) : STR_NONE;
}

/* ---- Texts ---------------------------------------------------------------------------------- */

static int check_names(struct manifest *m, const struct placeholders *parts, const char *pointer,
                       const struct manifest_names *names)
{
    int err = 0;
    for (uint32_t i = 0; i < parts->n; i++)
        if (parts->v[i].is_name && !names->is_known(names->ctx, parts->v[i].text))
            err = manifest_fault(m, pointer, "{{" STR_FMT "}}: expected %s",
                                 STR_ARG(parts->v[i].text), names->what);
    return err;
}

int wording_parse(struct manifest *m, struct str text, const char *pointer,
                  const struct manifest_names *names, struct wording *ret)
{
    const char *what = "";
    int err = placeholders_parse(text, &m->arena, &ret->parts, &what);
    if (err == ERR_SYNTAX)
        return manifest_fault(m, pointer, "%s", what);
    if (err == 0)
        err = check_names(m, &ret->parts, pointer, names);
    ret->is_there = err == 0;
    return err;
}

int wording_of(const struct manifest_entry *entry, const char *member,
               const struct manifest_names *names, struct wording *ret)
{
    struct str text = manifest_str(entry, member);
    if (!text.p)
        return 0;
    return wording_parse(entry->m, text, manifest_at(entry->m, entry->pointer, str_of(member)),
                         names, ret);
}

/* What one part becomes; a literal one is no C string. */
static struct str part_text(struct tenon_call *call, const struct placeholder_part *part,
                            manifest_value_fn value, const void *ctx)
{
    const char *filled = part->is_name ? value(call, ctx, part->text) : NULL;
    return part->is_name ? str_of(filled ? filled : "") : part->text;
}

const char *wording_fill(struct tenon_call *call, const struct wording *text,
                         manifest_value_fn value, const void *ctx)
{
    size_t n = 0;
    if (!text->is_there)
        return NULL;
    for (uint32_t i = 0; i < text->parts.n; i++)
        n += part_text(call, &text->parts.v[i], value, ctx).n;
    char *filled = tenon_alloc(call, n + 1);
    if (!filled) {
        tenon_fail(call, "the text is too large");
        return NULL;
    }
    n = 0;
    for (uint32_t i = 0; i < text->parts.n; i++) {
        struct str part = part_text(call, &text->parts.v[i], value, ctx);
        if (part.n)
            memcpy(filled + n, part.p, part.n);
        n += part.n;
    }
    filled[n] = '\0';
    return filled;
}

/* ---- Bytes ---------------------------------------------------------------------------------- */

/* Zeros stand behind them, for what looks at characters. */
static int keep(struct manifest *m, struct buf *bytes, struct str *ret)
{
    size_t n = bytes->n;
    buf_add(bytes, "\0\0\0\0", 4);
    *ret = arena_buf(&m->arena, bytes);
    ret->n = (uint32_t)n;
    buf_done(bytes);
    return ret->p ? 0 : ERR_NO_MEMORY;
}

int manifest_bytes(struct manifest *m, struct str base64, const char *pointer, struct str *ret)
{
    struct buf bytes = {0};
    int err = base64_read(base64, &bytes);
    if (err == 0)
        return keep(m, &bytes, ret);
    buf_done(&bytes);
    return err == ERR_SYNTAX ? manifest_fault(m, pointer, "expected base64, with padding") : err;
}

int manifest_file_bytes(struct manifest *m, struct str name, const char *pointer, struct str *ret)
{
    struct buf bytes = {0};
    int err = manifest_read(m, name, pointer, MANIFEST_FILE_BYTES_MAX, &bytes);
    if (err == 0)
        return keep(m, &bytes, ret);
    buf_done(&bytes);
    return err;
}

/* What JSON can hold as it is. */
static bool is_text(struct str s)
{
    const unsigned char *p = (const unsigned char *)s.p, *end = p + s.n;
    unsigned n = 1;
    for (; p < end && n; p += n)
        n = *p < 0x80 ? *p != 0 : scan_utf8(p);
    return n;
}

int manifest_file_text(struct manifest *m, struct str name, const char *pointer, struct str *ret)
{
    int err = manifest_file_bytes(m, name, pointer, ret);
    if (err == 0 && !is_text(*ret))
        return manifest_fault(m, pointer, STR_FMT ": expected UTF-8 without U+0000", STR_ARG(name));
    return err;
}
