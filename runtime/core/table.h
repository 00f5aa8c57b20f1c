/* core/table.h - the definition of a table, and what follows from it for a row.
 *
 * A definition is one JSON object:
 *
 *   {"title": "...", "description": "...",            optional, for people and models
 *    "primaryKey": "code",                            an attribute of type string or integer
 *    "indexes": [{"name": "by_region", "on": ["region", "-population"], "unique": false}],
 *    "indexed": ["region"],                           optional both; see table_indexes.h
 *    "attributes": {"secret": {"hidden": true}},      optional; see table_attributes.h
 *    "mcp": false,                                    no client ever sees the table
 *    "annotations": {"audience": ["user"], "priority": 0.5},   optional, of its resource
 *    "schema": {"type": "object", "properties": {...}, "required": [...]}}   JSON Schema of a row
 *
 * The primary key is always required, whether "required" names it or not. Names of databases,
 * tables and attributes are letters, digits and underscores with a letter first. The tools and
 * their schemas are derived in table_tools.c.
 */
#ifndef TENON_CORE_TABLE_H
#define TENON_CORE_TABLE_H

#include "core/store.h"
#include "schema/filter.h"
#include "schema/json_schema.h"

/* What the server fills in for whom; table_attributes.h says more. */
enum attribute_role { ROLE_NONE, ROLE_CREATED_TIME, ROLE_UPDATED_TIME, ROLE_VERSION, ROLES };
enum attribute_default { DEFAULT_NONE, DEFAULT_VALUE, DEFAULT_UUID, DEFAULT_NOW, DEFAULT_TODAY };

struct table_attribute {
    struct str name;
    const struct tape_node *schema;
    bool required, hidden, nullable;
    /* As a role sees the table (table_view.h) `hidden` is what it may not read. What is hidden by
     * the definition is all of these. */
    bool unknown, no_insert, no_update;
    bool is_other; /* the schema does not name it, but a role does: rows may have it all the same */
    enum attribute_role role;
    enum attribute_default fill;
    const struct tape_node *value; /* of DEFAULT_VALUE */
};

struct table {
    uint32_t id;      /* of the store; whoever loads the table fills it and the next three */
    uint64_t version; /* of the definition */
    struct str database, name;     /* "" for a definition that has no name yet */
    struct str tool_name;          /* what the tools are called after: get_<tool_name> */
    struct str title, description; /* STR_NONE: not given */
    struct str annotations;        /* raw JSON, or STR_NONE */
    /* Of a row, with the primary key among the required: as the operator knows it, as clients see
     * it, as they give a new one and one in the place of another, and as it is described to them
     * (table_schema.c). Clients must not learn of `schema`. */
    const struct tape_node *schema, *shown, *given, *replacing, *described;
    const struct json_schema *rows;      /* of a row as it is stored */
    struct filter_columns columns;       /* what filters and orders may name */
    struct filter_columns index_columns; /* what indexes may name */
    struct table_attribute *attributes;
    uint32_t n_attributes, n_hidden;
    const struct table_attribute *by_role[ROLES]; /* NULL: there is none */
    uint32_t may;    /* 1 << enum permission: what the role whose view this is may do; else all */
    uint32_t cut;    /* of these, what it may do with less than all attributes */
    bool is_cut;     /* a view of less than all attributes, or none */
    bool is_unread;  /* a view in which nothing of a row is shown */
    bool is_private; /* "mcp": false: not in any catalog */
    bool is_special; /* some attribute has a role, a default, is hidden or nullable */
    bool is_filled;  /* ... or more than nullable: rows are not stored just as clients give them */
    /* What the definition asks for (no ids, not ready); in a catalog what the store has. */
    const struct store_index *indexes;
    uint32_t n_indexes;
    uint32_t key; /* which attribute */
    enum key_type key_type;
};

/* [A-Za-z][A-Za-z0-9_]*, at most NAME_BYTES_MAX. */
bool table_name_is_valid(struct str name);

/* Reads a definition into `arena` (the text is copied). 0; ERR_PARSE or ERR_PARAMS with *faults
 * filled; ERR_NO_MEMORY. */
int table_parse(struct str definition, struct arena *arena, struct table *ret,
                struct schema_faults *faults);

/* Is this a row of the table? As json_schema_check. */
int table_check_row(const struct table *table, const struct tape_node *row,
                    struct schema_faults *faults);
/* The encoded primary key of a row that passed table_check_row, or of a bare value. 0; ERR_PARAMS
 * with *faults (empty or too long a key); ERR_NO_MEMORY. */
int table_row_key(const struct table *table, const struct tape_node *row, struct arena *arena,
                  struct str *ret, struct schema_faults *faults);
int table_value_key(const struct table *table, const struct tape_node *value, struct arena *arena,
                    struct str *ret, struct schema_faults *faults);
const struct table_attribute *table_find_attribute(const struct table *table, struct str name);
bool table_is_hidden(const struct table *table, struct str name);
/* Is nothing in it unknown to clients? */
bool table_shows_index(const struct table *table, const struct store_index *index);
/* As clients see it: with its version where there is an attribute for that, without what is hidden,
 * and only with the attributes of `select` (an array of names; NULL: all). */
void table_write_row(const struct table *table, const struct tape_node *row, uint64_t version,
                     const struct tape_node *select, struct buf *out);

#endif
