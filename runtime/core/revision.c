/* core/revision.c - see revision.h. */
#include "core/revision.h"

#include "generated/methods.h"

static const struct {
    struct str name;
    int revision;
} negotiable[] = {
    {STR_INIT("2025-06-18"), MCP_2025_06_18},
    {STR_INIT("2025-03-26"), MCP_2025_03_26},
};

int revision_find(struct str version)
{
    for (size_t i = 0; i < sizeof negotiable / sizeof *negotiable; i++)
        if (str_eq(negotiable[i].name, version))
            return negotiable[i].revision;
    return -1;
}

int revision_at(int i)
{
    return i < (int)(sizeof negotiable / sizeof *negotiable) ? negotiable[i].revision : -1;
}

struct str revision_name(int i)
{
    return negotiable[i].name;
}

const char *revision_names(void)
{
    return "2025-06-18, 2025-03-26";
}
