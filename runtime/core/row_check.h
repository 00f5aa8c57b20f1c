/* core/row_check.h - does a value have the form that a table's JSON Schema asks for?
 *
 * A small checker for the schemas of tables: types, required, enum, bounds, nested properties and
 * items. It reads the schema's tape as it stands. What it does not know is refused when a table is
 * made, so nothing is silently ignored. The full JSON Schema validator of schema/ takes its place:
 * the two functions below are all that the rest of core knows of it.
 */
#ifndef TENON_CORE_ROW_CHECK_H
#define TENON_CORE_ROW_CHECK_H

#include "base/limits.h"
#include "wire/tape.h"

/* What is wrong, where (RFC 6901), which keyword says so, and what it wants. */
struct row_fault {
    char pointer[JSON_POINTER_BYTES]; /* cut with "..." */
    const char *reason;               /* "type", "required", "minimum", ... */
    char expected[96];
};

/* 0 or ERR_PARAMS with *fault filled. */
int row_check(const struct tape_node *schema, const struct tape_node *value,
              struct row_fault *fault);
/* Can row_check work by this schema? 0 or ERR_PARAMS; the fault points into the schema. */
int row_check_schema(const struct tape_node *schema, struct row_fault *fault);

/* For those who find faults of their own. Appends "/segment" to the pointer; fills the rest. */
void row_fault_within(struct row_fault *fault, struct str segment);
int row_fault_set(struct row_fault *fault, const char *reason, const char *expected_fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
