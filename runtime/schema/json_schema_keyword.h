/* schema/json_schema_keyword.h - one keyword of a schema being compiled; for json_schema_keywords.c
 * and its parts only. */
#ifndef TENON_SCHEMA_JSON_SCHEMA_KEYWORD_H
#define TENON_SCHEMA_JSON_SCHEMA_KEYWORD_H

#include "schema/json_schema_parts.h"

struct use {
    struct compiler *c;
    struct subschema *sub;
    const struct tape_node *value;
    struct str base;
    const struct keyword *keyword;
};

struct keyword {
    struct str name;
    uint8_t dialects;
    uint8_t form;
    uint16_t offset; /* where in its rules the value goes, for those who take it from here */
    void (*compile)(const struct use *use); /* NULL: nothing to judge by */
};

/* The value is not what it should be. */
#define misuse(use, node, ...) refuse((use)->c, node, (use)->keyword->name.p, __VA_ARGS__)

/* NULL: it is none (a fault is set), or there was no memory. */
const struct schema_pattern *keyword_take_pattern(const struct use *use,
                                                  const struct tape_node *text);
/* As messages have it; NULL: there is no such type. */
const char *keyword_type_name(struct str name);

/* json_schema_keywords_object.c. Made when the first keyword needs them; NULL without memory. */
struct object_rules *keyword_object_rules(const struct use *use);
void keyword_compile_properties(const struct use *use);
void keyword_compile_required(const struct use *use);
void keyword_compile_pattern_properties(const struct use *use);
/* dependentRequired, dependentSchemas and dependencies go to one list. */
void keyword_compile_dependents(const struct use *use);

#endif
