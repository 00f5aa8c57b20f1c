/* core/revision.c - see revision.h. */
#include "core/revision.h"

#include "generated/methods.h"

/* Newest first. */
static const enum mcp_revision negotiable[] = {MCP_2025_06_18, MCP_2025_03_26};
#define N_NEGOTIABLE (int)(sizeof negotiable / sizeof *negotiable)

int revision_find(struct str version)
{
    for (int i = 0; i < N_NEGOTIABLE; i++)
        if (str_eq(revision_name(i), version))
            return negotiable[i];
    return -1;
}

int revision_at(int i)
{
    return i < N_NEGOTIABLE ? (int)negotiable[i] : -1;
}

struct str revision_name(int i)
{
    return str_of(mcp_revision_name(negotiable[i]));
}

struct str revision_names(struct arena *arena)
{
    struct str all = STR("");
    for (int i = 0; all.p && revision_at(i) >= 0; i++)
        all = arena_printf(arena, STR_FMT "%s" STR_FMT, STR_ARG(all), i ? ", " : "",
                           STR_ARG(revision_name(i)));
    return all;
}
