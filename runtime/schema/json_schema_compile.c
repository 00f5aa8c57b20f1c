/* schema/json_schema_compile.c - the stages from a document to what a check runs on; and the search
 * for references that would go round for ever. */
#include "schema/json_schema_parts.h"

#include "base/err.h"

#include <string.h>

/* ---- progress ------------------------------------------------------------------------------- */

/* A subschema that judges the same value as another one, by reference or as its part, must not
 * come back to it: such a round would never end. How long the longest way is bounds the stack. */

enum { NEW, ACTIVE, DONE };

static uint16_t measure(struct compiler *c, const struct subschema *sub, uint32_t depth);

static void refuse_round(struct compiler *c, const struct subschema *from)
{
    const struct tape_node *ref =
        from->general && from->general->ref ? tape_get(from->at, STR("$ref")) : from->at;
    refuse(c, ref, "$ref", "a reference that comes to a smaller part of the value");
}

static void reach_for(struct compiler *c, struct subschema *from, const struct subschema *to,
                      uint32_t depth)
{
    if (!to)
        return;
    if (to->visited == ACTIVE) {
        refuse_round(c, from);
        return;
    }
    uint32_t reach = 1u + measure(c, to, depth + 1);
    if (reach > from->reach)
        from->reach = (uint16_t)reach;
}

static void reach_for_all(struct compiler *c, struct subschema *from, const struct subschemas *to,
                          uint32_t depth)
{
    for (uint32_t i = 0; i < to->n; i++)
        reach_for(c, from, to->v[i], depth);
}

static void reach_general(struct compiler *c, struct subschema *sub,
                          const struct general_rules *rules, uint32_t depth)
{
    reach_for(c, sub, rules->ref, depth);
    reach_for_all(c, sub, &rules->all_of, depth);
    reach_for_all(c, sub, &rules->any_of, depth);
    reach_for_all(c, sub, &rules->one_of, depth);
    reach_for(c, sub, rules->not, depth);
    reach_for(c, sub, rules->if_, depth);
    reach_for(c, sub, rules->then, depth);
    reach_for(c, sub, rules->else_, depth);
}

static uint16_t measure(struct compiler *c, const struct subschema *constant, uint32_t depth)
{
    struct subschema *sub = index_find(c, constant->at);
    if (sub->visited == DONE)
        return sub->reach;
    if (depth > SCHEMA_REACH_MAX) {
        refuse(c, sub->at, "$ref", "at most %d references one after the other", SCHEMA_REACH_MAX);
        return 0;
    }
    sub->visited = ACTIVE;
    if (sub->general)
        reach_general(c, sub, sub->general, depth);
    for (uint32_t i = 0; sub->object && i < sub->object->n_dependents; i++)
        reach_for(c, sub, sub->object->dependents[i].schema, depth);
    sub->visited = DONE;
    return sub->reach;
}

/* ---- stages --------------------------------------------------------------------------------- */

/* What names and references are relative to in a document that does not say: they need a path. */
#define DEFAULT_BASE "schema:///"

static void choose_dialect(struct compiler *c)
{
    const struct tape_node *said = tape_get(c->document, STR("$schema"));
    int dialect = said ? keyword_dialect(said) : -1;
    if (dialect >= 0)
        c->dialect = (enum json_schema_dialect)dialect;
    else if (said)
        refuse(c, said, "$schema", "https://json-schema.org/draft/2020-12/schema or draft-07's");
}

static bool went_well(const struct compiler *c)
{
    return !c->err && c->list.faults->n == 0;
}

/* References may give numbers to more subschemas while they are compiled. */
static void compile_keywords(struct compiler *c)
{
    for (uint32_t i = 0; i < c->n && !c->err; i++)
        if (!c->v[i]->broken)
            keywords_compile(c, c->v[i], c->bases[i]);
}

static void measure_all(struct compiler *c)
{
    for (uint32_t i = 0; i < c->n; i++)
        measure(c, c->v[i], 0);
}

static const struct json_schema *finish(struct compiler *c)
{
    struct json_schema *schema = compiler_alloc(c, 1, sizeof *schema);
    if (!schema)
        return NULL;
    schema->root = c->v[0];
    if (c->patterns.context && !(schema->limits = pattern_limits(&c->patterns)))
        c->err = ERR_NO_MEMORY;
    return schema;
}

static void run_stages(struct compiler *c)
{
    choose_dialect(c);
    if (went_well(c))
        index_schema(c, c->document, STR(DEFAULT_BASE), 0);
    if (went_well(c))
        index_finish(c);
    if (went_well(c))
        compile_keywords(c);
    if (went_well(c))
        measure_all(c);
}

int json_schema_compile(const struct tape_node *document, const struct json_schema_options *options,
                        struct arena *arena, const struct json_schema **ret,
                        struct schema_faults *faults)
{
    static const struct json_schema_options usual = {JSON_SCHEMA_2020_12, true};
    struct compiler c = {.arena = arena, .document = document};
    options = options ? options : &usual;
    c.dialect = options->dialect;
    c.asserts_formats = options->asserts_formats;
    c.list = (struct fault_list){.root = document, .faults = faults};
    c.patterns.arena = arena;
    faults->n = 0;
    c.number_at = compiler_alloc(&c, tape_size(document), sizeof *c.number_at);
    if (c.number_at)
        run_stages(&c);
    const struct json_schema *schema = went_well(&c) ? finish(&c) : NULL;
    if (c.err)
        return c.err;
    if (faults->n)
        return ERR_PARAMS;
    *ret = schema;
    return 0;
}
