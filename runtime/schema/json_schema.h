/* schema/json_schema.h - JSON Schema: compiled once, run many times over tapes.
 *
 * Dialects: 2020-12, and draft-07 where `$schema` declares it (its `$ref` hides its siblings, items
 * may be an array, definitions and dependencies). Three features are refused when a schema is
 * compiled, with a pointer, and never ignored: $dynamicRef with $dynamicAnchor, references out of
 * the document, and vocabularies other than the standard's. Keywords that nobody knows are
 * annotations, as the standard says. `pattern` is a regular expression of ECMA-262, run by PCRE2
 * with a match limit.
 *
 * Everything has a bound (SCHEMA_* of base/limits.h): what a schema may hold, how deep it may nest
 * and refer, and the steps and the time of one check. References that make no progress are refused
 * when the schema is compiled.
 *
 * A compiled schema is immutable: any number of threads may check with it at once.
 */
#ifndef TENON_SCHEMA_JSON_SCHEMA_H
#define TENON_SCHEMA_JSON_SCHEMA_H

#include "base/limits.h"
#include "wire/tape.h"

struct json_schema;

struct schema_fault {
    char pointer[JSON_POINTER_BYTES]; /* RFC 6901; of a missing member the place where it should
                                         be; cut with "..." */
    const char *keyword;              /* static text: "type", "required", "minimum", ... */
    char expected[96];                /* "string", "at least 3"; cut with "..." */
};

/* In document order. A zeroed one is empty. */
struct schema_faults {
    uint32_t n;
    struct schema_fault v[SCHEMA_FAULTS_MAX];
};

enum json_schema_dialect { JSON_SCHEMA_2020_12, JSON_SCHEMA_DRAFT_07 };

struct json_schema_options {
    enum json_schema_dialect dialect; /* of a document without `$schema` */
    bool asserts_formats; /* email, uri, date, date-time, uuid, ipv4, ipv6; others never assert */
};

/* 0, or ERR_PARAMS with *faults filled (pointers into the document); ERR_NO_MEMORY. What is
 * compiled lies in the arena, with all that PCRE2 needs, and refers to the document: it lives as
 * long as both, and is freed with the arena. `options` may be NULL: 2020-12, formats asserted. */
int json_schema_compile(const struct tape_node *document, const struct json_schema_options *options,
                        struct arena *arena, const struct json_schema **ret,
                        struct schema_faults *faults);

/* Does the value fit? 0; ERR_PARAMS with *faults filled (pointers relative to the value); ERR_LIMIT
 * (steps, time, recursion or a pattern's matching; the one fault says where); ERR_NO_MEMORY.
 * `faults` may be NULL: only the verdict, which stops at the first misfit. */
int json_schema_check(const struct json_schema *schema, const struct tape_node *value,
                      struct schema_faults *faults);
/* The same, but ends soon with what *stop becomes, if it is set meanwhile (an error; 0: go on). */
int json_schema_check_unless(const struct json_schema *schema, const struct tape_node *value,
                             const _Atomic int *stop, struct schema_faults *faults);

/* Of which JSON types (enum wire_json_type) the value of that member of an object may be, by its
 * own schema in `properties`; it may be fewer. WIRE_T_ANY: the schema does not say. */
uint8_t json_schema_member_types(const struct json_schema *schema, struct str name);

/* Appends [{"pointer":...,"keyword":...,"expected":...}, ...]; each pointer behind `prefix`. */
void schema_faults_write(const struct schema_faults *faults, const char *prefix, struct buf *out);

/* For those who find faults of their own. */
/* Sets the pointer to where the node stands below the root; a key stands for its member. */
void schema_fault_locate(struct schema_fault *fault, const struct tape_node *root,
                         const struct tape_node *node);
/* Appends "/segment" to the pointer, cut with "..." where it is too long. */
void schema_fault_within(struct schema_fault *fault, struct str segment);
/* Fills keyword and expected, and leaves the pointer; returns ERR_PARAMS. */
int schema_fault_set(struct schema_fault *fault, const char *keyword, const char *expected_fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
