/* core/catalog.h - what the database offers a role right now, as one immutable snapshot.
 *
 * Whatever is listed, called, read, completed or subscribed to is looked up here, so there is one
 * answer to what a role may do: what it may not is not in its snapshot, and is missed like what
 * never was.
 *
 * A snapshot holds the tables, the tools derived from them, and every list entry that a client may
 * ask for, rendered to JSON once per protocol revision: a list page is then a copy of bytes. The
 * snapshot is made anew when the store's catalog version has moved, or components offer something
 * else; a call keeps the one that it began with by a reference. Loop only, but that a handler
 * thread may read it while its call holds a reference.
 *
 * That of a super user has everything. Those of other roles are views of it (core/catalog_view.c):
 * they share its tables, schemas and rendered entries, and have only their own lists of them, and
 * tables and tools of which the role may see or give less. Tools are called alike for all roles.
 * CATALOG_ROLES_MAX of them are kept, by the text of the role; the one that was not used for the
 * longest goes, earlier if together they have more than CATALOG_BYTES_MAX.
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
    struct str name;      /* lists are sorted by it: name of a tool, URI, URI template */
    struct str component; /* that offers it; STR_NONE: none does */
    uint32_t table;       /* which one of the super user's it is of, from 1; 0: none */
    uint8_t needs;        /* enum permission, of a table's */
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

/* What list_changed.c has worked out: of each list; 0: not yet. */
struct list_hashes {
    uint64_t v[2][MCP_REVISIONS][STORE_LISTS];
};

struct catalog {
    uint32_t refs;
    struct catalog *base;      /* of which it is a view, with a reference; NULL: it is none */
    struct str role_text;      /* of a view */
    uint64_t used;             /* of a view: the how manyth look-up was the last of it */
    uint64_t version;          /* of the tables in the store */
    struct offers *offers;     /* of components; NULL: there are none; of a view: those it has */
    struct list_hashes hashes; /* loop only, the one thing that changes */
    struct arena arena;
    struct table *tables; /* by database, then name; of a view: of which the role may do anything */
    uint32_t n_tables;
    struct catalog_tool *tools; /* by name */
    uint32_t n_tools;
    struct catalog_operation *operations; /* those that are allowed */
    uint32_t n_operations;
    struct catalog_list lists[2][CATALOG_KINDS]; /* per enum call_profile */
};

/* Sets call->catalog to the current snapshot. 0, ERR_NO_MEMORY, or what the store says. */
int catalog_use(struct call *call);
/* The newest snapshot of who asks, for a look without a call; it is gone at the next use. NULL:
 * what the store says, or no memory, keeps it away. */
const struct catalog *catalog_of(struct core *core, const struct access *access);
/* The same of a super user. */
const struct catalog *catalog_now(struct core *core);
/* A super user's of the same moment, for what does not depend on a role. */
const struct catalog *catalog_of_all(const struct catalog *catalog);
/* The same for a call that has an older one: what it holds of that is gone after success. */
int catalog_renew(struct call *call);
void catalog_unref(struct catalog *catalog); /* NULL is fine */
void catalog_forget(struct core *core);      /* all of them; calls keep theirs */

/* One of which the role may do this; NULL: none. */
const struct table *catalog_find_table_for(const struct catalog *catalog,
                                           enum permission permission, struct str database,
                                           struct str name);
/* One that it may read. */
const struct table *catalog_find_table(const struct catalog *catalog, struct str database,
                                       struct str name);
const struct catalog_tool *catalog_find_tool(const struct catalog *catalog, struct str name);
const struct catalog_operation *catalog_find_operation(const struct catalog *catalog,
                                                       struct str name);

/* Is it in that list? */
bool catalog_has_entry(const struct catalog *catalog, enum call_profile profile,
                       enum catalog_kind kind, struct str name);
/* Appends the entries behind `after` (STR_NONE: from the first), at most `size` and LIST_BYTES_MAX,
 * with commas. Returns the name of the last one if more follow, else STR_NONE. */
struct str catalog_write_page(const struct catalog *catalog, enum call_profile profile,
                              enum catalog_kind kind, int revision, struct str after, uint32_t size,
                              struct buf *out);

/* catalog_entries.c: makes the lists from the tables. */
int catalog_make_entries(struct catalog *catalog, const struct search_limits *limits,
                         const struct core_config *config);
/* The tools of a table of a view; it has room for them. They are not sorted yet. */
int catalog_make_tools(struct catalog *view, const struct search_limits *limits,
                       const struct table *table, uint32_t number);
void catalog_sort_tools(struct catalog *catalog);
/* catalog_view.c. *ret is a reference; no core knows it yet. 0 or ERR_NO_MEMORY. */
int catalog_make_view(struct catalog *base, const struct search_limits *limits,
                      const struct role *role, struct catalog **ret);

#endif
