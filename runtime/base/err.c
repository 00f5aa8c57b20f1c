/* base/err.c - look-ups into the list of err.h. */
#include "base/err.h"

#include <stddef.h>

struct entry {
    const char *name;
    const char *text;
    int rpc_code;
    int http_status;
};

static const struct entry entries[] = {{"OK", "OK", 0, 200},
#define ERR_ENTRY(name, code, status, text) {#name, text, code, status},
                                       ERR_LIST(ERR_ENTRY)
#undef ERR_ENTRY
};

static const struct entry *find(int err)
{
    size_t at = err > 0 ? 0 : (size_t) - (long)err;
    if (at >= sizeof entries / sizeof *entries)
        at = (size_t)-ERR_INTERNAL;
    return &entries[at];
}

const char *err_name(int err)
{
    return find(err)->name;
}

const char *err_text(int err)
{
    return find(err)->text;
}

int err_rpc_code(int err)
{
    return find(err)->rpc_code;
}

int err_http_status(int err)
{
    return find(err)->http_status;
}
