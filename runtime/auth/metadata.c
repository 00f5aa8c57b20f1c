/* auth/metadata.c - see metadata.h. */
#include "auth/metadata.h"

#include "auth/uri.h"
#include "wire/json_write.h"

static bool stands_before(const struct str *names, uint32_t at)
{
    for (uint32_t i = 0; i < at; i++)
        if (str_eq(names[i], names[at]))
            return true;
    return false;
}

/* An array; nothing if it would be empty. */
static void write_names(const char *name, const struct str *names, uint32_t n, struct buf *out)
{
    bool is_open = false;
    for (uint32_t i = 0; i < n; i++) {
        if (!names[i].n || stands_before(names, i))
            continue;
        if (is_open)
            buf_add_char(out, ',');
        else
            buf_printf(out, ",\"%s\":[", name);
        is_open = true;
        json_write_str(out, names[i]);
    }
    if (is_open)
        buf_add_char(out, ']');
}

void metadata_write(const struct metadata *metadata, struct buf *out)
{
    buf_add_lit(out, "{\"resource\":");
    json_write_str(out, metadata->resource);
    write_names("authorization_servers", metadata->servers, metadata->n_servers, out);
    write_names("scopes_supported", metadata->scopes, metadata->n_scopes, out);
    buf_add_lit(out, ",\"bearer_methods_supported\":[\"header\"]}");
}

struct str metadata_url(struct str resource, struct arena *arena)
{
    struct uri uri;
    if (!uri_cut(resource, &uri))
        return STR_NONE;
    if (str_eq(uri.rest, STR("/")))
        uri.rest = STR("");
    struct str origin = {resource.p, resource.n - uri.rest.n};
    if (uri.rest.n == 0 && origin.p[origin.n - 1] == '/')
        origin.n--;
    return arena_printf(arena, STR_FMT METADATA_WELL_KNOWN STR_FMT, STR_ARG(origin),
                        STR_ARG(uri.rest));
}
