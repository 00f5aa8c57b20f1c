/* manifest/fault.c - what is wrong with a manifest, as lines for people; and pointers. */
#include "manifest/manifest.h"

#include "base/err.h"
#include "core/component.h"

#include <stdio.h>
#include <string.h>

static int add(struct manifest *m, uint32_t line, const char *pointer, const char *fmt,
               va_list args)
{
    char text[512], place[16] = "";
    uint32_t i = m->faults.n++;
    if (i >= MANIFEST_FAULTS_MAX)
        return ERR_PARAMS;
    vsnprintf(text, sizeof text, fmt, args);
    if (line)
        snprintf(place, sizeof place, ":%u", line);
    m->faults.lines[i] = arena_printf(&m->arena, STR_FMT "%s: %s%s%s", STR_ARG(m->file), place,
                                      pointer, *pointer ? ": " : "", text);
    return ERR_PARAMS;
}

int manifest_fault_at_line(struct manifest *m, uint32_t line, const char *pointer, const char *fmt,
                           ...)
{
    va_list args;
    va_start(args, fmt);
    int err = add(m, line, pointer, fmt, args);
    va_end(args);
    return err;
}

int manifest_fault(struct manifest *m, const char *pointer, const char *fmt, ...)
{
    const struct json *at = json_at(m->tree, str_of(pointer));
    va_list args;
    va_start(args, fmt);
    int err = add(m, at->line, pointer, fmt, args);
    va_end(args);
    return err;
}

/* "~" and "/" are written as RFC 6901 says. */
const char *manifest_at(struct manifest *m, const char *pointer, struct str member)
{
    struct buf text = {0};
    buf_printf(&text, "%s/", pointer);
    for (uint32_t i = 0; i < member.n; i++)
        if (member.p[i] == '~' || member.p[i] == '/')
            buf_add_str(&text, member.p[i] == '~' ? STR("~0") : STR("~1"));
        else
            buf_add_char(&text, member.p[i]);
    struct str made = arena_buf(&m->arena, &text);
    buf_done(&text);
    return made.p ? made.p : "";
}

const char *manifest_at_n(struct manifest *m, const char *pointer, uint32_t n)
{
    struct str made = arena_printf(&m->arena, "%s/%u", pointer, n);
    return made.p ? made.p : "";
}

int manifest_added(struct manifest *m, struct tenon *tenon, const char *pointer, int result)
{
    struct str why = tenon->fault;
    if (result == TENON_ERR_NO_MEMORY)
        return ERR_NO_MEMORY;
    if (result == 0)
        return 0;
    tenon->fault = STR_NONE; /* each entry has its own */
    return manifest_fault(m, pointer, STR_FMT, STR_ARG(why));
}
