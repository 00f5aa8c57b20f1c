/* core/table_attributes.h - what a definition says of attributes beyond their schemas.
 *
 *   "attributes": {"secret":  {"hidden": true, "default": {"value": ""}},
 *                  "note":    {"nullable": true},
 *                  "id":      {"default": "uuid"},
 *                  "made":    {"role": "createdTime"},
 *                  "changed": {"role": "updatedTime"},
 *                  "version": {"role": "version"}}
 *
 * hidden: clients never see it and cannot give it; import, export and the operations do. nullable:
 * its values may also be null. role: the server sets it, clients cannot. A time is a string
 * (date-time in UTC with milliseconds) or an integer (milliseconds); the version is an integer that
 * is never stored but filled in with the row's version where it is read, so filters, orders and
 * indexes cannot name it. default: what a new row gets where the attribute is missing: a value, a
 * random UUID, the time, the day in UTC.
 */
#ifndef TENON_CORE_TABLE_ATTRIBUTES_H
#define TENON_CORE_TABLE_ATTRIBUTES_H

#include "core/table.h"

/* JSON Schema of "attributes". */
#define TABLE_ATTRIBUTES_FORM                                                             \
    "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"object\",\"properties\":{" \
    "\"hidden\":{\"type\":\"boolean\"},\"nullable\":{\"type\":\"boolean\"},"              \
    "\"role\":{\"enum\":[\"createdTime\",\"updatedTime\",\"version\"]},"                  \
    "\"default\":{\"type\":[\"object\",\"string\"],\"properties\":{\"value\":{}},"        \
    "\"required\":[\"value\"],\"additionalProperties\":false,"                            \
    "\"if\":{\"type\":\"string\"},\"then\":{\"enum\":[\"uuid\",\"now\",\"today\"]}}},"    \
    "\"additionalProperties\":false}}"

/* Fills what t->attributes say of themselves from a definition whose form has been checked; those
 * of t are there, with `required`, and its key is known. 0; ERR_PARAMS with *faults; pointers lead
 * from the definition. */
int table_attributes_read(struct table *t, const struct tape_node *definition,
                          struct schema_faults *faults);
/* Once the schemas are made: do the values that the server will fill in fit them? The same. */
int table_attributes_check(const struct table *t, struct arena *arena,
                           struct schema_faults *faults);

/* The value that a new row gets here; its text lies in the arena. 0 or ERR_NO_MEMORY; ERR_IO
 * without randomness. */
int table_default_value(const struct table_attribute *attribute, int64_t now_ms,
                        struct arena *arena, const struct tape_node **ret);
/* A time in the attribute's type. 0 or ERR_NO_MEMORY. */
int table_time_value(const struct table_attribute *attribute, int64_t now_ms, struct arena *arena,
                     const struct tape_node **ret);

#endif
