/* schema/json_schema_containers.c - what a schema says of arrays and objects. */
#include "schema/json_schema_run.h"

#include "base/err.h"

#include <stdio.h>
#include <string.h>

/* ---- arrays --------------------------------------------------------------------------------- */

static bool check_count(struct run *run, const struct tape_node *value, uint64_t n, uint64_t min,
                        uint64_t max, const char *min_keyword, const char *max_keyword)
{
    if (n < min)
        return fail(run, value, min_keyword, "at least %llu", (unsigned long long)min);
    if (n > max)
        return fail(run, value, max_keyword, "at most %llu", (unsigned long long)max);
    return true;
}

static bool check_unique(struct run *run, const struct tape_node *array)
{
    if (!run_spend(run, tape_size(array), array))
        return false;
    int unique = value_all_unique(array);
    if (unique < 0)
        run->err = unique;
    return unique || fail(run, array, "uniqueItems", "items that differ from each other");
}

static bool check_items(struct run *run, const struct array_rules *rules,
                        const struct tape_node *array, const struct seen *seen)
{
    bool ok = true;
    const struct tape_node *item = array + 1;
    uint32_t i = 0;
    for (; i < array->n && i < rules->prefix.n; i++, item = tape_next(item)) {
        ok &= run_check_part(run, rules->prefix.v[i], item, rules->prefix_keyword);
        run_mark(run, seen, i);
        if (!ok && run->quiet)
            return false;
    }
    for (; i < array->n && rules->rest; i++, item = tape_next(item)) {
        ok &= run_check_part(run, rules->rest, item, rules->rest_keyword);
        run_mark(run, seen, i);
        if (!ok && run->quiet)
            return false;
    }
    return ok;
}

static bool check_contains(struct run *run, const struct array_rules *rules,
                           const struct tape_node *array, const struct seen *seen)
{
    uint64_t n = 0;
    const struct tape_node *item = array + 1;
    for (uint32_t i = 0; i < array->n && !run->err; i++, item = tape_next(item)) {
        if (!run_try(run, rules->contains, item, NULL))
            continue;
        n++;
        run_mark(run, seen, i);
    }
    if (n == 0 && rules->min_contains == 1)
        return fail(run, array, "contains", "at least one item of a certain form");
    if (n < rules->min_contains)
        return fail(run, array, "minContains", "items of a certain form: at least %llu",
                    (unsigned long long)rules->min_contains);
    if (n > rules->max_contains)
        return fail(run, array, "maxContains", "items of a certain form: at most %llu",
                    (unsigned long long)rules->max_contains);
    return true;
}

bool run_check_array(struct run *run, const struct array_rules *rules,
                     const struct tape_node *array, const struct seen *seen)
{
    bool ok = check_count(run, array, array->n, rules->min, rules->max, "minItems", "maxItems");
    if (rules->unique)
        ok &= check_unique(run, array);
    if (rules->prefix.n || rules->rest)
        ok &= check_items(run, rules, array, seen);
    if (rules->contains)
        ok &= check_contains(run, rules, array, seen);
    return ok;
}

bool run_check_unevaluated_items(struct run *run, const struct subschema *rule,
                                 const struct tape_node *array, const struct seen *seen)
{
    bool ok = true;
    const struct tape_node *item = array + 1;
    for (uint32_t i = 0; i < array->n; i++, item = tape_next(item))
        if (!run->seen[seen->at + i])
            ok &= run_check_part(run, rule, item, "unevaluatedItems");
    return ok;
}

/* ---- objects -------------------------------------------------------------------------------- */

/* Most objects have their members in the order of the schema: the one behind the last is tried
 * first. */
static inline const struct property *find_property(const struct object_rules *rules,
                                                   const struct tape_node *key, uint32_t *next)
{
    if (*next < rules->n_properties) {
        const struct property *property = &rules->properties[*next];
        if (property->name.n == key->n && memcmp(property->name.p, key->v.s, key->n) == 0) {
            ++*next;
            return property;
        }
    }
    if (!rules->n_properties)
        return NULL;
    uint32_t hash = value_hash_str(tape_str(key));
    for (uint32_t at = hash & rules->mask; rules->slots[at]; at = (at + 1) & rules->mask) {
        const struct property *property = &rules->properties[rules->slots[at] - 1];
        if (property->hash == hash && str_eq(property->name, tape_str(key))) {
            *next = rules->slots[at];
            return property;
        }
    }
    return NULL;
}

/* "a, b, c": what an object may hold, for a fault. */
__attribute__((cold)) static bool fail_unknown(struct run *run, const struct tape_node *value,
                                               const struct object_rules *rules,
                                               const char *keyword)
{
    char names[128] = "";
    size_t n = 0;
    if (!run_is_heard(run))
        return false;
    for (uint32_t i = 0; rules && i < rules->n_properties && n < sizeof names; i++)
        if (rules->properties[i].schema)
            n += (size_t)snprintf(names + n, sizeof names - n, "%s" STR_FMT, n ? ", " : "",
                                  STR_ARG(rules->properties[i].name));
    return fail(run, value, keyword, "%s", names[0] ? names : "no such member");
}

/* By the patterns that the name matches; *evaluated if any does. */
static bool check_patterns(struct run *run, const struct object_rules *rules,
                           const struct tape_node *key, const struct tape_node *value,
                           bool *evaluated)
{
    bool ok = true;
    for (uint32_t i = 0; i < rules->n_patterns && !run->err; i++) {
        if (!run_matches(run, rules->patterns[i].pattern, key, "patternProperties"))
            continue;
        *evaluated = true;
        ok &= run_check_part(run, rules->patterns[i].schema, value, "patternProperties");
    }
    return ok;
}

static bool check_additional(struct run *run, const struct object_rules *rules,
                             const struct tape_node *value)
{
    if (rules->additional->is_false)
        return fail_unknown(run, value, rules, "additionalProperties");
    return run_check_part(run, rules->additional, value, "additionalProperties");
}

static bool check_name(struct run *run, const struct subschema *rule, const struct tape_node *key)
{
    bool outer = run->in_name;
    run->in_name = true;
    bool ok = run_check_part(run, rule, key, "propertyNames");
    run->in_name = outer;
    return ok;
}

static bool check_member(struct run *run, const struct object_rules *rules,
                         const struct property *property, const struct tape_node *key,
                         bool *evaluated)
{
    bool ok = true;
    const struct tape_node *value = key + 1;
    if (property && property->schema) {
        *evaluated = true;
        ok = run_check_part(run, property->schema, value, "properties");
    }
    if (rules->n_patterns)
        ok &= check_patterns(run, rules, key, value, evaluated);
    if (!*evaluated && rules->additional) {
        *evaluated = true;
        ok &= check_additional(run, rules, value);
    }
    if (rules->names)
        ok &= check_name(run, rules->names, key);
    return ok;
}

/* Which of the required are not there? */
__attribute__((cold)) static bool fail_required(struct run *run, const struct object_rules *rules,
                                                const struct tape_node *object)
{
    struct seen there;
    uint32_t next = 0;
    if (!run_is_heard(run) || !run_push_seen(run, rules->n_properties, &there))
        return false;
    memset(run->seen + there.at, 0, there.n);
    tape_each (object, key, value) {
        const struct property *property = find_property(rules, key, &next);
        if (property)
            run_mark(run, &there, (uint32_t)(property - rules->properties));
    }
    for (uint32_t i = 0; i < rules->n_properties; i++)
        if (rules->properties[i].required && !run->seen[there.at + i])
            fail_at(run, object, rules->properties[i].name, "required", "%s",
                    rules->properties[i].type);
    run_pop_seen(run, &there);
    return false;
}

static bool check_dependent(struct run *run, const struct dependent *dependent,
                            const struct tape_node *object, const struct seen *seen)
{
    bool ok = true;
    if (!run_spend(run, object->n, object) || !tape_get(object, dependent->name))
        return !run->err;
    if (dependent->schema)
        return run_check_same(run, dependent->schema, object, seen, dependent->keyword);
    const struct tape_node *name = dependent->required + 1;
    for (uint32_t i = 0; i < dependent->required->n; i++, name = tape_next(name))
        if (run_spend(run, object->n, object) && !tape_get(object, tape_str(name)))
            ok = fail_at(run, object, tape_str(name), dependent->keyword,
                         "a value, because there is " STR_FMT, STR_ARG(dependent->name));
    return ok;
}

static bool check_members(struct run *run, const struct object_rules *rules,
                          const struct tape_node *object, const struct seen *seen)
{
    bool ok = true;
    uint32_t i = 0, next = 0, n_required = 0;
    tape_each (object, key, value) {
        bool evaluated = false;
        const struct property *property = find_property(rules, key, &next);
        n_required += property && property->required;
        ok &= check_member(run, rules, property, key, &evaluated);
        if (evaluated)
            run_mark(run, seen, i);
        if ((!ok && run->quiet) || run->err)
            return false;
        i++;
    }
    return n_required == rules->n_required ? ok : fail_required(run, rules, object);
}

bool run_check_object(struct run *run, const struct object_rules *rules,
                      const struct tape_node *object, const struct seen *seen)
{
    bool ok = check_count(run, object, object->n, rules->min, rules->max, "minProperties",
                          "maxProperties");
    if (rules->n_patterns && !run_spend(run, (uint64_t)object->n * rules->n_patterns, object))
        return false;
    ok &= check_members(run, rules, object, seen);
    for (uint32_t i = 0; i < rules->n_dependents && !run->err; i++)
        ok &= check_dependent(run, &rules->dependents[i], object, seen);
    return ok;
}

bool run_check_unevaluated_members(struct run *run, const struct object_rules *rules,
                                   const struct tape_node *object, const struct seen *seen)
{
    bool ok = true;
    uint32_t i = 0;
    tape_each (object, key, value) {
        if (run->seen[seen->at + i++])
            continue;
        if (rules->unevaluated->is_false)
            ok = fail_unknown(run, value, rules, "unevaluatedProperties");
        else
            ok &= run_check_part(run, rules->unevaluated, value, "unevaluatedProperties");
    }
    return ok;
}
