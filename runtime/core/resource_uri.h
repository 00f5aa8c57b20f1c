/* core/resource_uri.h - the URIs of this server's resources: read by the templates that clients
 * are shown. */
#ifndef TENON_CORE_RESOURCE_URI_H
#define TENON_CORE_RESOURCE_URI_H

#include "base/arena.h"

#define URI_ABOUT      "tenon://about"
#define URI_OPERATIONS "tenon://operations"
#define URI_OPENAPI    "tenon://openapi"
#define URI_TABLE      "db://{database}/{table}"
#define URI_ROW        "db://{database}/{table}/{id}"
#define URI_SCHEMA     "tenon://schema/{database}/{table}"

enum resource_kind {
    RESOURCE_ABOUT,
    RESOURCE_TABLE,
    RESOURCE_ROW,
    RESOURCE_SCHEMA,
    RESOURCE_OPERATIONS,
    RESOURCE_OPENAPI,
    RESOURCE_KINDS,
};

struct template;
struct resource_uris {
    const struct template *templates[RESOURCE_KINDS];
};

int resource_uris_init(struct resource_uris *uris, struct arena *arena);

struct resource_uri {
    enum resource_kind kind;
    struct str database, table, id; /* decoded; STR_NONE where the kind has none */
};

/* Is its scheme one of ours? Components have none such. */
bool resource_uri_is_own(struct str uri);
/* 0; ERR_ABSENT: no URI, or none of ours; ERR_NO_MEMORY. Names are not looked up here. */
int resource_uri_read(const struct resource_uris *uris, struct str uri, struct arena *arena,
                      struct resource_uri *ret);

/* One that has variables, by its text as clients are shown it. NULL: none of ours. */
const struct template *resource_uri_template(const struct resource_uris *uris,
                                             struct str uri_template);

#endif
