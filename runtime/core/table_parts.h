/* core/table_parts.h - between the files that read a table's definition (table.c, table_schema.c,
 * table_attributes.c); nobody else needs it. */
#ifndef TENON_CORE_TABLE_PARTS_H
#define TENON_CORE_TABLE_PARTS_H

#include "core/table.h"

/* One fault at pointer[/segment]; ERR_PARAMS. */
int table_fail_at(struct schema_faults *faults, const char *pointer, struct str segment,
                  const char *keyword, const char *expected);
bool table_is_named(const struct tape_node *names, struct str name); /* `names` may be NULL */
/* Is this the schema's only type? */
bool table_has_type(const struct tape_node *schema, struct str type);

/* table_schema.c. Makes the schemas of the table from that of its definition, and compiles that of
 * rows as they are stored. Pointers of faults lead from the definition. */
int table_schemas_make(struct table *t, struct arena *arena, struct schema_faults *faults);

/* Makes those that clients see anew, from the finished schema and what the attributes of the table
 * say. 0 or ERR_NO_MEMORY. */
int table_schemas_view(struct table *t, struct arena *arena);

/* table_definitions.c: without definitions that nothing in it leads to. 0 or ERR_NO_MEMORY. */
int table_prune_definitions(const struct tape_node *schema, struct arena *arena,
                            const struct tape_node **ret);

/* table.c: those of the columns that clients may name (`shown`), or that are stored. */
int table_pick_columns(const struct table *t, const struct filter_columns *all, bool shown,
                       struct arena *arena, struct filter_columns *ret);

/* The text of JSON Schema's keyword that leads to definitions, or a dialect: what parts of the
 * schema refer to, wherever they stand. */
bool table_is_shared_keyword(struct str keyword);

#endif
