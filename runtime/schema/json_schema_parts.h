/* schema/json_schema_parts.h - the compiled form, shared by the files json_schema_*.c only.
 *
 *   document -> index (names, places) -> keywords (one struct subschema each) -> progress
 *   value    -> check: what kinds a subschema takes, then the rules for that kind, then the general
 *
 * A subschema keeps its rules by the kind of value they judge, so that a value meets only those
 * that can concern it, and one that asks for a type and no more is a bit mask.
 */
#ifndef TENON_SCHEMA_JSON_SCHEMA_PARTS_H
#define TENON_SCHEMA_JSON_SCHEMA_PARTS_H

#include "schema/json_schema.h"
#include "schema/json_schema_format.h"
#include "schema/json_schema_pattern.h"

#define TYPE_BIT(kind) (1u << (kind))
#define TYPES_ALL      0xffu
#define TYPES_INTEGRAL 0x100u /* a TAPE_NUM too, if it has no fraction */

struct subschema;

struct subschemas {
    const struct subschema **v;
    uint32_t n;
};

/* An enum, or the names of an object: open addressing over hashes of whole values. */
struct value_set {
    const struct tape_node **values;
    uint32_t n;
    uint32_t *slots; /* 1 + number in values, 0: free */
    uint32_t *hashes;
    uint32_t mask;
};

struct number_rules {
    const struct tape_node *minimum, *maximum, *above, *below, *multiple_of; /* NULL: none */
};

struct string_rules {
    uint64_t min, max; /* characters */
    const struct schema_pattern *pattern;
    enum schema_format format;
};

struct array_rules {
    uint64_t min, max, min_contains, max_contains;
    struct subschemas prefix;
    const struct subschema *rest, *contains, *unevaluated;
    const char *prefix_keyword, *rest_keyword; /* as the dialect calls them */
    bool unique;
};

struct property {
    struct str name;
    uint32_t hash;
    bool required;
    const struct subschema *schema; /* NULL: only required */
    const char *type;               /* what to say when it is missing */
};

struct pattern_property {
    const struct schema_pattern *pattern;
    const struct subschema *schema;
};

struct dependent {
    struct str name;
    const struct tape_node *required; /* array of names, or NULL */
    const struct subschema *schema;   /* or NULL */
    const char *keyword;
};

struct object_rules {
    uint64_t min, max;
    struct property *properties;
    uint32_t n_properties, n_required;
    uint32_t *slots; /* 1 + number in properties, 0: free */
    uint32_t mask;
    struct pattern_property *patterns;
    uint32_t n_patterns;
    struct dependent *dependents;
    uint32_t n_dependents;
    const struct subschema *additional, *names, *unevaluated;
};

struct general_rules {
    const struct value_set *choices; /* enum */
    const struct tape_node *choices_at;
    const struct tape_node *constant;
    struct subschemas all_of, any_of, one_of;
    const struct subschema * not, *if_, *then, *else_, *ref;
};

struct subschema {
    uint16_t types;
    bool simple;     /* types say it all */
    bool is_false;   /* the schema false */
    bool broken;     /* refused already: its keywords are not looked at */
    uint8_t visited; /* while looking for references without progress */
    uint16_t reach;  /* how many subschemas deep it judges one and the same value */
    struct number_rules *number;
    struct string_rules *string;
    struct array_rules *array;
    struct object_rules *object;
    struct general_rules *general;
    const struct tape_node *at; /* in the document */
};

struct json_schema {
    const struct subschema *root;
    pcre2_match_context *limits; /* NULL: no pattern */
};

/* ---- json_schema_fault.c -------------------------------------------------------------------- */

/* Faults gathered in document order: the first SCHEMA_FAULTS_MAX of them, whatever came first. */
struct fault_list {
    const struct tape_node *root;
    struct schema_faults *faults; /* NULL: nobody wants them */
    uint32_t at[SCHEMA_FAULTS_MAX];
};

/* A fault at the node, or at its member of that name (which may be missing). */
void fault_add(struct fault_list *list, const struct tape_node *node, struct str member,
               const char *keyword, const char *expected_fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* Appends the text of a value, cut to what an `expected` can hold. */
void fault_value_text(const struct tape_node *value, char *out, size_t size);

/* ---- json_schema_value.c -------------------------------------------------------------------- */

uint32_t value_hash(const struct tape_node *value); /* equal values have equal hashes */
uint32_t value_hash_str(struct str s);              /* as of a string's node */
int value_set_make(const struct tape_node *array, struct arena *arena, struct value_set *ret);
bool value_set_has(const struct value_set *set, const struct tape_node *value);
/* 1: all values of the array differ; 0; ERR_NO_MEMORY. */
int value_all_unique(const struct tape_node *array);

bool number_is_integral(double d);
int number_compare(const struct tape_node *a, const struct tape_node *b); /* exact */
/* In decimals, as both were written: 0.0075 is a multiple of 0.0001. */
bool number_is_multiple(const struct tape_node *value, const struct tape_node *of);

/* ---- json_schema_index.c, json_schema_keywords.c -------------------------------------------- */

struct schema_name {
    struct str uri;                   /* absolute as far as the document says, anchor included */
    const struct tape_node *resource; /* the schema it names */
    const struct tape_node *said_at;  /* the value of $id or $anchor; NULL: the document's own */
    const char *keyword;
};

struct compiler {
    struct arena *arena;
    const struct tape_node *document;
    enum json_schema_dialect dialect;
    bool asserts_formats;
    struct fault_list list;
    int err; /* other than faults */

    uint32_t *number_at;  /* by node of the document: 1 + number of its subschema, 0: none */
    struct subschema **v; /* by number */
    struct str *bases;    /* by number: the URI that its references are relative to */
    uint32_t n, cap;
    struct schema_name *names;
    uint32_t n_names, cap_names;
    bool named; /* no more names are taken */
    struct pattern_compiler patterns;
};

/* Gives a subschema, and those below it, their numbers. */
void index_schema(struct compiler *c, const struct tape_node *schema, struct str base,
                  uint32_t depth);
/* Sorts the names; refuses those that are given twice. */
void index_finish(struct compiler *c);
/* What a `$ref` in that subschema means; NULL and a fault if nothing in this document. */
const struct tape_node *index_resolve(struct compiler *c, const struct tape_node *ref,
                                      struct str base);
struct subschema *index_find(const struct compiler *c, const struct tape_node *schema);

/* Refuses: a fault about the keyword whose value stands at the node. */
#define refuse(c, node, keyword, ...) fault_add(&(c)->list, node, STR_NONE, keyword, __VA_ARGS__)
/* As arena_zalloc, but remembers that there was no memory. */
void *compiler_alloc(struct compiler *c, size_t n, size_t size);

/* What a keyword's value holds in the way of subschemas. */
enum keyword_form {
    FORM_NONE,
    FORM_SCHEMA,       /* one */
    FORM_SCHEMAS,      /* an array of them */
    FORM_SCHEMA_MAP,   /* an object of them */
    FORM_ITEMS,        /* draft-07: one, or an array */
    FORM_DEPENDENCIES, /* draft-07: an object of them, or of arrays of names */
};
/* The name comes back as static text. */
enum keyword_form keyword_form(const struct compiler *c, struct str name, const char **ret_keyword);
/* The dialect that a `$schema` names, or -1. */
int keyword_dialect(const struct tape_node *uri);
/* "string|null", for a fault. */
void keyword_type_text(uint16_t types, char *out, size_t size);
/* Fills the rules of one subschema from its keywords. */
void keywords_compile(struct compiler *c, struct subschema *sub, struct str base);

/* ---- json_schema_uri.c ---------------------------------------------------------------------- */

/* RFC 3986, 5.2: the reference as seen from the base, without its fragment. STR_NONE: no memory. */
struct str uri_resolve(struct str base, struct str reference, struct arena *arena);
/* Splits at '#': what stood behind it, STR_NONE without one. */
struct str uri_cut_fragment(struct str *uri);

#endif
