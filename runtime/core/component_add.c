/* core/component_add.c - see component_add.h. */
#include "core/component_add.h"

#include "base/err.h"
#include "base/limits.h"
#include "core/revision.h"

#include <string.h>

int component_add_refuse(struct tenon *tenon, const char *kind, const char *name, struct str what)
{
    if (!tenon->fault.p)
        tenon->fault = arena_printf(&tenon->arena, "%s %s: " STR_FMT, kind, name ? name : "(none)",
                                    STR_ARG(what));
    if (!tenon->fault.p)
        tenon->fault = str_of(err_text(ERR_NO_MEMORY));
    return TENON_ERR_ARGUMENT;
}

int component_add_no_memory(struct tenon *tenon)
{
    if (!tenon->fault.p)
        tenon->fault = str_of(err_text(ERR_NO_MEMORY));
    return TENON_ERR_NO_MEMORY;
}

bool component_is_name(const char *name)
{
    size_t n = name ? strlen(name) : 0;
    for (size_t i = 0; i < n; i++) {
        char c = name[i];
        bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                    c == '_' || c == '-' || c == '.';
        if (!fine)
            return false;
    }
    return n >= 1 && n <= COMPONENT_TOOL_NAME_BYTES;
}

/* ERR_NO_MEMORY, or what its own table says to it. */
static int check_by(enum mcp_revision revision, enum mcp_definition definition, const void *value,
                    struct buf *text, struct wire_fault *fault)
{
    buf_clear(text);
    int err = mcp_write(revision, definition, value, text);
    if (err < 0)
        return err;
    if (!buf_reserve(text, JSON_PADDING_BYTES))
        return ERR_NO_MEMORY;
    memset(text->p + text->n, 0, JSON_PADDING_BYTES);
    return mcp_check(revision, definition, buf_str(text), fault);
}

int component_add_check(struct tenon *tenon, enum mcp_definition definition, const void *value,
                        const char *kind, const char *name)
{
    struct wire_fault fault = {0};
    struct buf text = {0};
    int err = 0;
    for (int i = 0; err == 0 && revision_at(i) >= 0; i++)
        err = check_by((enum mcp_revision)revision_at(i), definition, value, &text, &fault);
    buf_done(&text);
    if (err == ERR_NO_MEMORY)
        return component_add_no_memory(tenon);
    if (err == 0)
        return 0;
    return component_add_refuse(
        tenon, kind, name,
        arena_printf(&tenon->arena, "%s: expected %s", fault.pointer,
                     fault.expected[0] ? fault.expected : "all that is required"));
}

struct str component_add_text(struct tenon *tenon, const char *text)
{
    return text ? arena_str(&tenon->into->arena, str_of(text)) : STR_NONE;
}

bool component_are_copied(const struct str *copies, const char *const *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (from[i] && !copies[i].p)
            return false;
    return true;
}

void *component_add_room(struct tenon *tenon, void *v, uint32_t n, uint32_t *cap, size_t size)
{
    if (n < *cap)
        return v;
    uint32_t more = *cap ? 2 * *cap : 8;
    void *grown = arena_array(&tenon->into->arena, more, size);
    if (grown && n)
        memcpy(grown, v, n * size);
    if (grown)
        *cap = more;
    return grown;
}
