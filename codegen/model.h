/* codegen/model.h - types, fields, methods, revisions: the only thing that emitters know.
 *
 *   struct object      one JSON object (or union of objects) in one revision: becomes a table
 *   struct record      one C struct for all revisions: becomes a struct in types.h
 *   struct choice_set  the allowed strings of one enum in one revision
 *   struct enumeration one C enum for all revisions
 *
 * resolve.c makes objects and choice sets from a schema and the overlay, merge.c makes records and
 * enumerations from those of all revisions and finds tables that say the same, methods.c the method
 * list, check.c refuses what does not fit together. All memory is the arena's.
 */
#ifndef TENON_CODEGEN_MODEL_H
#define TENON_CODEGEN_MODEL_H

#include "codegen/overlay_tree.h"
#include "codegen/schema.h"

/* As enum wire_kind, wire_container and wire_format; codegen may not include wire. */
enum kind {
    KIND_STR,
    KIND_INT,
    KIND_NUM,
    KIND_BOOL,
    KIND_ENUM,
    KIND_CONST,
    KIND_TOKEN,
    KIND_RAW,
    KIND_OBJECT
};
enum container { CONTAINER_ONE, CONTAINER_ARRAY, CONTAINER_MANY, CONTAINER_MAP };
enum format { FORMAT_PLAIN, FORMAT_URI, FORMAT_URI_TEMPLATE, FORMAT_BYTE };

struct shape {
    enum kind kind;
    enum container container;
    enum format format;
    uint32_t types, items; /* RAW: enum json_types */
    uint32_t max_items;
    bool has_min, has_max;
    double min, max;
    struct str literal;
    struct object *object; /* OBJECT; RAW: checks it, or NULL */
    struct choice_set *choices;
};

struct field {
    struct str key;
    bool required;
    struct shape shape;
    struct place place;
    unsigned bit;          /* filled by merge.c */
    struct member *member; /* of the record; NULL: not stored */
};

struct alternative {
    struct str name;
    struct object *object;
    uint64_t present, absent; /* over the union's own fields */
    struct str literal;       /* STR_NONE: none */
    unsigned fixed;           /* field that holds the literal */
    unsigned kind;            /* in the C enum; 0 without a record */
};

struct object {
    struct str name;
    unsigned revision;
    struct place place;
    struct field *fields; /* sorted by key; of a union: the members that decide */
    uint32_t n_fields;
    struct alternative *alternatives;
    uint32_t n_alternatives; /* > 0: a union */
    struct statement *home;  /* the `struct` or `open` line that names its record, or NULL */
    bool complete;
    bool stored; /* values of it are kept in a record */
    struct record *record;
    struct object *same; /* the earliest table that says the same; itself if none */
    struct str signature;
    struct object *next; /* of the revision */
};

struct choice_set {
    struct str name;
    unsigned revision;
    struct place place;
    struct str *values; /* sorted */
    uint32_t n;
    struct enumeration *enumeration;
    struct choice_set *same;
    struct choice_set *next;
};

struct member {
    struct str key, c_name;
    struct shape shape; /* of any revision, for its C type; a CONST has none */
    struct place place;
    unsigned bit;
    struct member *next; /* sorted by key */
};

struct record {
    struct str name, c_name;
    struct member *members;
    unsigned n_members;
    bool is_union;
    struct statement *home;
    uint32_t revisions;  /* mask */
    struct record *next; /* sorted by name */
};

struct enumeration {
    struct str name, c_name;
    struct str *values; /* in the order of their numbers, from 0 */
    uint32_t n;
    uint32_t revisions;
    struct enumeration *next; /* sorted by name */
};

enum progress { UNRESOLVED, RESOLVING, RESOLVED };

/* A definition of a schema file. */
struct entry {
    struct str published, name;
    enum progress progress;
    struct shape shape;
    struct place place;
};

struct method {
    struct str name;
    struct method_line *line;
    bool is_request;
    struct method_use {
        bool from_client, from_server; /* neither: the revision does not have it */
        bool params_required;
        const struct object *params; /* NULL: none */
        bool has_result;
        struct shape result;
    } uses[REVISIONS_MAX];
    struct method *next; /* sorted by name */
};

struct revision {
    struct str name;   /* 2025-06-18 */
    struct str c_name; /* 2025_06_18 */
    struct schema_file file;
    struct object *objects; /* in the order in which they were met; sorted by merge.c */
    struct choice_set *choice_sets;
    struct entry *entries; /* sorted by published name */
    uint32_t n_entries;
};

struct model {
    struct arena *arena;
    struct overlay overlay;
    struct revision revisions[REVISIONS_MAX];
    unsigned n_revisions;
    struct record *records;
    struct enumeration *enumerations;
    struct method *methods;
};

/* The stages, in this order; each may count faults. */
void model_load(const char *spec_dir, struct arena *arena, struct model *ret);
void model_resolve(struct model *model);
void model_find_methods(struct model *model);
void model_merge(struct model *model);
void model_check(struct model *model);

struct entry *model_entry(struct revision *revision, struct str name);
const struct field *object_field(const struct object *object, struct str key);
/* "struct str", "int64_t", "struct mcp_tool *": a value in memory, without its container. */
struct str shape_value_type(struct arena *arena, const struct shape *shape);
/* What a whole shape is in memory: with its container. */
struct str shape_type(struct arena *arena, const struct shape *shape);
/* May be the alternative that the objects of a record's `holds` line name. */
unsigned holds_kind(const struct statement *home, struct str name);

#endif
