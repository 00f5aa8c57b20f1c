/* schema/json_schema_run.h - one check in progress, shared by json_schema_check.c (the walk,
 * numbers, strings, what judges any value) and json_schema_containers.c (arrays and objects).
 *
 * While a branch is only tried the run is quiet: nobody hears of faults, and the first one ends it.
 * Every function answers whether the value fits; false as well when the run was given up (err).
 */
#ifndef TENON_SCHEMA_JSON_SCHEMA_RUN_H
#define TENON_SCHEMA_JSON_SCHEMA_RUN_H

#include "schema/json_schema_parts.h"

struct run {
    const struct json_schema *schema;
    struct fault_list list;
    uint32_t quiet; /* how many tries deep */
    bool in_name;   /* a member's name is judged, not a value */
    int err;        /* why the walk was given up */
    int64_t steps;  /* left */
    uint32_t depth;
    uint32_t n_matches;
    int64_t until_ms;
    const _Atomic int *stop; /* an error, set by another thread; NULL: by nobody */
    struct pattern_room room;
    uint8_t *seen; /* the stack of what was evaluated */
    size_t n_seen, cap_seen;
};

/* The members or items of one value that were evaluated: a piece of the stack, by its offset,
 * because the stack moves when it grows. */
struct seen {
    size_t at;
    uint32_t n;
};

/* By a subschema; what it finds evaluated goes to `seen`, which may be NULL. */
bool run_check(struct run *run, const struct subschema *sub, const struct tape_node *value,
               const struct seen *seen);
/* Aloud, and the schema false is a fault of the keyword. */
bool run_check_same(struct run *run, const struct subschema *sub, const struct tape_node *value,
                    const struct seen *seen, const char *keyword);
/* Quietly. What a failed try saw is forgotten. */
bool run_try(struct run *run, const struct subschema *sub, const struct tape_node *value,
             const struct seen *seen);

/* Ends the run with ERR_LIMIT and its one fault; false. */
bool run_give_up(struct run *run, const struct tape_node *value, const char *keyword,
                 const char *expected, unsigned limit);
/* False when there are no steps left. */
bool run_spend(struct run *run, uint64_t steps, const struct tape_node *value);
/* Does the pattern match? False too when the run was given up. */
bool run_matches(struct run *run, const struct schema_pattern *pattern,
                 const struct tape_node *text, const char *keyword);
bool run_push_seen(struct run *run, uint32_t n, struct seen *ret); /* not cleared */
void run_pop_seen(struct run *run, const struct seen *seen);

/* json_schema_containers.c */
bool run_check_array(struct run *run, const struct array_rules *rules,
                     const struct tape_node *array, const struct seen *seen);
bool run_check_object(struct run *run, const struct object_rules *rules,
                      const struct tape_node *object, const struct seen *seen);
bool run_check_unevaluated_items(struct run *run, const struct subschema *rule,
                                 const struct tape_node *array, const struct seen *seen);
bool run_check_unevaluated_members(struct run *run, const struct object_rules *rules,
                                   const struct tape_node *object, const struct seen *seen);

static inline bool run_is_heard(const struct run *run)
{
    return !run->quiet && !run->err;
}

#define fail_at(run, value, member, keyword, ...)                                               \
    (run_is_heard(run) ? (fault_add(&(run)->list, value, member,                                \
                                    (run)->in_name ? "propertyNames" : (keyword), __VA_ARGS__), \
                          false)                                                                \
                       : false)
#define fail(run, value, keyword, ...) fail_at(run, value, STR_NONE, keyword, __VA_ARGS__)

static inline void run_mark(struct run *run, const struct seen *seen, uint32_t i)
{
    if (seen)
        run->seen[seen->at + i] = 1;
}

static inline bool takes_kind(const struct subschema *sub, const struct tape_node *value)
{
    return (sub->types >> value->kind & 1) ||
           ((sub->types & TYPES_INTEGRAL) && value->kind == TAPE_NUM &&
            number_is_integral(value->v.d));
}

/* A part of the value by what the keyword says of it. */
static inline bool run_check_part(struct run *run, const struct subschema *sub,
                                  const struct tape_node *value, const char *keyword)
{
    if (sub->simple && takes_kind(sub, value))
        return true;
    if (sub->is_false)
        return fail(run, value, keyword, "nothing here");
    return run_check(run, sub, value, NULL);
}

#endif
