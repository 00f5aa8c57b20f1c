/* codegen/schema.h - one revision's schema file as it stands: keywords understood, nothing
 * resolved.
 *
 * Knows exactly the keywords that the five published files use, and refuses every other one with
 * its line: it might change what a message may be. Both dialects (draft-07 `definitions`, 2020-12
 * `$defs`). Annotations are passed over, so a published file and its import read the same; members
 * and definitions are sorted by name, so the order of keys in the file means nothing.
 */
#ifndef TENON_CODEGEN_SCHEMA_H
#define TENON_CODEGEN_SCHEMA_H

#include "base/arena.h"
#include "codegen/fault.h"

/* JSON types, with the same bits as enum wire_json_type of wire/table.h. */
enum json_types {
    T_NULL = 1,
    T_BOOL = 2,
    T_INTEGER = 4,
    T_NUMBER = 8,
    T_STRING = 16,
    T_ARRAY = 32,
    T_OBJECT = 64,
    T_ANY = 127,
};

struct schema;

struct schema_member {
    struct str name;
    bool required;
    struct schema *schema; /* NULL: required, but not described */
};

struct schemas {
    struct schema **v;
    uint32_t n;
};

struct schema {
    struct place place;
    uint32_t types; /* enum json_types; 0: not said */
    struct str ref; /* name of a definition, or STR_NONE */
    bool has_properties;
    struct schema_member *members; /* sorted by name */
    uint32_t n_members;
    struct schema *additional; /* additionalProperties; NULL: not said, or anything */
    struct schema *items;
    uint32_t max_items;
    struct str *choices; /* enum, in the order of the file */
    uint32_t n_choices;
    struct str literal; /* const as JSON text, or STR_NONE */
    bool has_min, has_max;
    double min, max;
    struct str format;
    struct schemas any_of, all_of;
};

struct definition {
    struct str name;
    struct schema *schema;
};

struct schema_file {
    const char *path;
    struct definition *definitions; /* sorted by name */
    uint32_t n;
};

/* Faults are counted (fault.h). */
void schema_load(const char *path, struct arena *arena, struct schema_file *ret);
const struct definition *schema_find(const struct schema_file *file, struct str name);
const struct schema_member *schema_member(const struct schema *schema, struct str name);
/* Says nothing at all: the value may be anything. */
bool schema_is_any(const struct schema *schema);

#endif
