/* core/resource_uri.c - see resource_uri.h. */
#include "core/resource_uri.h"

#include "base/err.h"
#include "base/limits.h"
#include "schema/percent.h"
#include "schema/template.h"

static const struct {
    enum resource_kind kind;
    const char *text;
} kinds[RESOURCE_KINDS] = {
    {RESOURCE_ABOUT, URI_ABOUT},           {RESOURCE_ROW, URI_ROW},
    {RESOURCE_TABLE, URI_TABLE},           {RESOURCE_SCHEMA, URI_SCHEMA},
    {RESOURCE_OPERATIONS, URI_OPERATIONS}, {RESOURCE_OPENAPI, URI_OPENAPI},
};

static struct str value_at(const struct template *t, const struct template_value *values,
                           uint32_t i)
{
    return i < template_n_names(t) && values[i].n_items ? values[i].items[0] : STR_NONE;
}

int resource_uris_init(struct resource_uris *uris, struct arena *arena)
{
    int err = 0;
    for (size_t i = 0; err == 0 && i < sizeof kinds / sizeof *kinds; i++)
        err = template_parse(str_of(kinds[i].text), arena, &uris->templates[i], NULL);
    return err;
}

bool resource_uri_is_own(struct str uri)
{
    return str_starts_with(uri, STR("db:")) || str_starts_with(uri, STR("tenon:"));
}

int resource_uri_read(const struct resource_uris *uris, struct str uri, struct arena *arena,
                      struct resource_uri *ret)
{
    const struct template_value *values;
    int err = ERR_ABSENT;
    size_t i = 0;
    if (uri.n > URI_BYTES_MAX || !percent_is_uri(uri))
        return ERR_ABSENT;
    for (; i < sizeof kinds / sizeof *kinds; i++) {
        err = template_match(uris->templates[i], uri, TEMPLATE_EXACT, arena, &values);
        if (err != ERR_ABSENT)
            break;
    }
    if (err < 0)
        return err;
    *ret = (struct resource_uri){
        .kind = kinds[i].kind,
        .database = value_at(uris->templates[i], values, 0),
        .table = value_at(uris->templates[i], values, 1),
        .id = value_at(uris->templates[i], values, 2),
    };
    return 0;
}

const struct template *resource_uri_template(const struct resource_uris *uris,
                                             struct str uri_template)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (str_eq(str_of(kinds[i].text), uri_template))
            return template_n_names(uris->templates[i]) ? uris->templates[i] : NULL;
    return NULL;
}
