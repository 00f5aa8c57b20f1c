/* core/catalog.h - what the database offers right now, as one immutable snapshot.
 *
 * A snapshot holds the tables, the tools derived from them, and every list entry that a client may
 * ask for, rendered to JSON once per protocol revision: a list page is then a copy of bytes. The
 * snapshot is made anew when the store's catalog version has moved, or components offer something
 * else; a call keeps the one that it began with by a reference. Loop only, but that a handler
 * thread may read it while its call holds a reference.
 */
#ifndef TENON_CORE_CATALOG_H
#define TENON_CORE_CATALOG_H

#include "core/call.h"
#include "core/operations.h"
#include "core/revision.h"
#include "core/table_tools.h"
#include "generated/methods.h"

enum catalog_kind {
    CATALOG_TOOLS,
    CATALOG_RESOURCES,
    CATALOG_TEMPLATES,
    CATALOG_PROMPTS,
    CATALOG_KINDS,
};

struct catalog_entry {
    struct str name; /* lists are sorted by it: name of a tool, URI, URI template */
    struct str json[MCP_REVISIONS];
};

struct catalog_list {
    struct catalog_entry *v;
    uint32_t n;
};

struct catalog_tool {
    struct str name;
    struct str title, description, input_text, output_text;
    const struct table *table;
    enum table_verb verb;
    const struct json_schema *input, *output;
};

struct catalog_operation {
    const struct operation *operation;
    const struct json_schema *input, *output;
};

struct catalog {
    uint32_t refs;
    uint64_t serial;       /* the how manyth of this core: from 1 */
    uint64_t version;      /* of the tables in the store */
    struct offers *offers; /* of components; NULL: there are none */
    struct arena arena;
    struct table *tables; /* by database, then name */
    uint32_t n_tables;
    struct catalog_tool *tools; /* by name */
    uint32_t n_tools;
    struct catalog_operation *operations; /* those that are allowed */
    uint32_t n_operations;
    struct catalog_list lists[2][CATALOG_KINDS]; /* per enum call_profile */
};

/* Sets call->catalog to the current snapshot. 0, ERR_NO_MEMORY, or what the store says. */
int catalog_use(struct call *call);
/* The newest snapshot, for a look without a call; it is gone at the next use. NULL: what the store
 * says keeps it away. */
const struct catalog *catalog_now(struct core *core);
/* The same for a call that has an older one: what it holds of that is gone after success. */
int catalog_renew(struct call *call);
void catalog_unref(struct catalog *catalog); /* NULL is fine */

const struct table *catalog_find_table(const struct catalog *catalog, struct str database,
                                       struct str name);
const struct catalog_tool *catalog_find_tool(const struct catalog *catalog, struct str name);
const struct catalog_operation *catalog_find_operation(const struct catalog *catalog,
                                                       struct str name);

/* Is it in that list? */
bool catalog_has_entry(const struct catalog *catalog, enum call_profile profile,
                       enum catalog_kind kind, struct str name);
/* Appends the entries behind `after` (STR_NONE: from the first), at most `size` and LIST_BYTES_MAX,
 * with commas.  * Returns the name of the last one if more follow, else STR_NONE. */
struct str catalog_write_page(const struct catalog *catalog, enum call_profile profile,
                              enum catalog_kind kind, int revision, struct str after, uint32_t size,
                              struct buf *out);

/* catalog_entries.c: makes the lists from the tables. */
int catalog_make_entries(struct catalog *catalog, const struct search_limits *limits,
                         const struct core_config *config);

#endif
