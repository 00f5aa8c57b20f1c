/* core/table_indexes.h - the indexes that a definition names, checked and read.
 *
 *   "indexes": [{"name": "by_region", "on": ["region", "-population"], "unique": true}]
 *   "indexed": ["region"]                       the same as one index for each attribute
 *
 * An attribute is a path with dots into nested objects; a - before it begins with the greatest
 * value. It holds single values of one type (or null), which decides how they become keys. Without
 * a name an index is called by_<attribute>[_<attribute>]. What is read here is what is wanted; once
 * a table is there, its indexes are what the store says.
 */
#ifndef TENON_CORE_TABLE_INDEXES_H
#define TENON_CORE_TABLE_INDEXES_H

#include "core/store.h"
#include "schema/filter.h"
#include "schema/json_schema.h"

/* JSON Schema of an entry of "indexes"; INDEX_PARTS_MAX is checked by table_index_read. */
#define TABLE_INDEX_FORM                                                          \
    "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"},"        \
    "\"on\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"minItems\":1}," \
    "\"unique\":{\"type\":\"boolean\"}},\"required\":[\"on\"],\"additionalProperties\":false}"

/* What "indexes" and "indexed" of a definition (whose form has been checked) ask for; names are
 * borrowed from it. 0; ERR_PARAMS with *faults, whose pointers lead from the definition;
 * ERR_NO_MEMORY. */
int table_indexes_read(const struct tape_node *definition, const struct filter_columns *columns,
                       struct arena *arena, const struct store_index **ret, uint32_t *ret_n,
                       struct schema_faults *faults);
/* One entry of "indexes"; pointers lead from it. */
int table_index_read(const struct tape_node *entry, const struct filter_columns *columns,
                     struct arena *arena, struct store_index *ret, struct schema_faults *faults);

/* The attribute of an index or an order: a path, with or without the quotes that a filter wants
 * around odd names. NULL: there is none. */
const struct filter_column *table_find_column(const struct filter_columns *columns,
                                              struct str path);

/* A copy that outlives `indexes`; NULL without memory (and n is not 0). */
const struct store_index *table_indexes_copy(const struct store_index *indexes, uint32_t n,
                                             struct arena *arena);
/* As a JSON array, the way a definition has it. */
void table_indexes_write(const struct store_index *indexes, uint32_t n, struct buf *out);

#endif
