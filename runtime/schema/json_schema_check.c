/* schema/json_schema_check.c - does a value fit?
 *
 * A walk over value and schema together. What a subschema found evaluated of a value (for the
 * unevaluated keywords) is kept only below one of these: one byte per member or item, on a stack
 * of its own; a branch that fails puts back what was there before it. While a branch is only tried
 * (anyOf, not, if, ...) the run is quiet: nobody hears of faults, and the first one ends it. */
#include "schema/json_schema_parts.h"

#include "base/clock.h"
#include "base/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MATCHES_PER_LOOK 8 /* at the clock */

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

/* ---- faults and limits ---------------------------------------------------------------------- */

static bool is_heard(const struct run *run)
{
    return !run->quiet && !run->err;
}

#define fail_at(run, value, member, keyword, ...)                                           \
    (is_heard(run) ? (fault_add(&(run)->list, value, member,                                \
                                (run)->in_name ? "propertyNames" : (keyword), __VA_ARGS__), \
                      false)                                                                \
                   : false)
#define fail(run, value, keyword, ...) fail_at(run, value, STR_NONE, keyword, __VA_ARGS__)

__attribute__((cold)) static bool give_up(struct run *run, const struct tape_node *value,
                                          const char *keyword, const char *expected, unsigned limit)
{
    if (run->err)
        return false;
    run->err = ERR_LIMIT;
    if (run->list.faults)
        run->list.faults->n = 0;
    fault_add(&run->list, value, STR_NONE, keyword, "%s %u", expected, limit);
    return false;
}

static bool spend(struct run *run, uint64_t steps, const struct tape_node *value)
{
    run->steps -= (int64_t)steps;
    return run->steps >= 0 ||
           give_up(run, value, "steps", "steps of a check: at most", (unsigned)SCHEMA_STEPS_MAX);
}

static bool out_of_time(struct run *run)
{
    if (run->n_matches++ % MATCHES_PER_LOOK)
        return false;
    int64_t now = clock_mono_ms();
    if (run->n_matches == 1)
        run->until_ms = now + SCHEMA_CHECK_MS_MAX;
    return now > run->until_ms;
}

/* Does the pattern match? False too when the run was given up. */
static bool matches(struct run *run, const struct schema_pattern *pattern,
                    const struct tape_node *text, const char *keyword)
{
    if (out_of_time(run))
        return give_up(run, text, keyword, "milliseconds of a check: at most",
                       (unsigned)SCHEMA_CHECK_MS_MAX);
    int found = pattern_matches(pattern, run->schema->limits, &run->room, tape_str(text));
    if (found == ERR_LIMIT)
        return give_up(run, text, keyword, "a pattern's steps in matching: at most",
                       (unsigned)SCHEMA_PATTERN_STEPS_MAX);
    if (found < 0)
        run->err = found;
    return found > 0;
}

__attribute__((cold)) static bool fail_type(struct run *run, const struct subschema *sub,
                                            const struct tape_node *value)
{
    char types[96];
    if (!is_heard(run))
        return false;
    keyword_type_text(sub->types, types, sizeof types);
    return fail(run, value, "type", "%s", types);
}

__attribute__((cold)) static bool fail_by_value(struct run *run, const struct tape_node *value,
                                                const char *keyword, const char *relation,
                                                const struct tape_node *limit)
{
    char text[200];
    if (!is_heard(run))
        return false;
    snprintf(text, sizeof text, "%s", relation);
    fault_value_text(limit, text, sizeof text);
    return fail(run, value, keyword, "%s", text);
}

/* ---- what was evaluated --------------------------------------------------------------------- */

static bool push_seen(struct run *run, uint32_t n, struct seen *ret)
{
    if (run->n_seen + n > run->cap_seen) {
        size_t cap = (run->n_seen + n) * 2;
        uint8_t *seen = realloc(run->seen, cap);
        if (!seen) {
            run->err = ERR_NO_MEMORY;
            return false;
        }
        run->seen = seen;
        run->cap_seen = cap;
    }
    *ret = (struct seen){run->n_seen, n};
    run->n_seen += n;
    return true;
}

static void pop_seen(struct run *run, const struct seen *seen)
{
    run->n_seen = seen->at;
}

static inline void mark(struct run *run, const struct seen *seen, uint32_t i)
{
    if (seen)
        run->seen[seen->at + i] = 1;
}

static void mark_all(struct run *run, const struct seen *seen)
{
    if (seen && seen->n)
        memset(run->seen + seen->at, 1, seen->n);
}

/* ---- subschemas ----------------------------------------------------------------------------- */

static bool check(struct run *run, const struct subschema *sub, const struct tape_node *value,
                  const struct seen *seen);

static inline bool takes_kind(const struct subschema *sub, const struct tape_node *value)
{
    return (sub->types >> value->kind & 1) ||
           ((sub->types & TYPES_INTEGRAL) && value->kind == TAPE_NUM &&
            number_is_integral(value->v.d));
}

/* A part of the value by what the keyword says of it. `key` is what a fault points at. */
static inline bool check_part(struct run *run, const struct subschema *sub,
                              const struct tape_node *value, const char *keyword)
{
    if (sub->simple && takes_kind(sub, value))
        return true;
    if (sub->is_false)
        return fail(run, value, keyword, "nothing here");
    return check(run, sub, value, NULL);
}

/* By a subschema for the same value, aloud. */
static bool check_same(struct run *run, const struct subschema *sub, const struct tape_node *value,
                       const struct seen *seen, const char *keyword)
{
    if (sub->is_false)
        return fail(run, value, keyword, "nothing here");
    return check(run, sub, value, seen);
}

/* Quietly. What a failed try saw is forgotten. */
static bool try(struct run *run, const struct subschema *sub, const struct tape_node *value,
                const struct seen *seen)
{
    struct seen before;
    if (seen && !push_seen(run, seen->n, &before))
        return false;
    if (seen && seen->n)
        memcpy(run->seen + before.at, run->seen + seen->at, seen->n);
    run->quiet++;
    bool fits = check(run, sub, value, seen) && !run->err;
    run->quiet--;
    if (seen && !fits && seen->n)
        memcpy(run->seen + seen->at, run->seen + before.at, seen->n);
    if (seen)
        pop_seen(run, &before);
    return fits;
}

/* ---- numbers and strings -------------------------------------------------------------------- */

static bool check_number(struct run *run, const struct number_rules *rules,
                         const struct tape_node *value)
{
    bool ok = true;
    if (rules->minimum && number_compare(value, rules->minimum) < 0)
        ok = fail_by_value(run, value, "minimum", "at least ", rules->minimum);
    if (rules->maximum && number_compare(value, rules->maximum) > 0)
        ok = fail_by_value(run, value, "maximum", "at most ", rules->maximum);
    if (rules->above && number_compare(value, rules->above) <= 0)
        ok = fail_by_value(run, value, "exclusiveMinimum", "more than ", rules->above);
    if (rules->below && number_compare(value, rules->below) >= 0)
        ok = fail_by_value(run, value, "exclusiveMaximum", "less than ", rules->below);
    if (rules->multiple_of && !number_is_multiple(value, rules->multiple_of))
        ok = fail_by_value(run, value, "multipleOf", "a multiple of ", rules->multiple_of);
    return ok;
}

static uint32_t count_characters(struct str s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s.n; i++)
        n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
    return n;
}

/* Counts only where the number of bytes, at most four to a character, leaves it open. */
static bool check_length(struct run *run, const struct string_rules *rules,
                         const struct tape_node *value)
{
    uint64_t least = (value->n + 3ull) / 4, most = value->n;
    if (least >= rules->min && most <= rules->max)
        return true;
    uint32_t n = count_characters(tape_str(value));
    if (n < rules->min)
        return fail(run, value, "minLength", "characters: at least %llu",
                    (unsigned long long)rules->min);
    if (n > rules->max)
        return fail(run, value, "maxLength", "characters: at most %llu",
                    (unsigned long long)rules->max);
    return true;
}

static bool check_string(struct run *run, const struct string_rules *rules,
                         const struct tape_node *value)
{
    bool ok = check_length(run, rules, value);
    if (rules->pattern && !matches(run, rules->pattern, value, "pattern"))
        ok = fail(run, value, "pattern", STR_FMT, STR_ARG(rules->pattern->text));
    if (rules->format && !schema_format_fits(rules->format, tape_str(value)))
        ok = fail(run, value, "format", "%s", schema_format_name(rules->format));
    return ok;
}

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
    if (!spend(run, tape_size(array), array))
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
        ok &= check_part(run, rules->prefix.v[i], item, rules->prefix_keyword);
        mark(run, seen, i);
        if (!ok && run->quiet)
            return false;
    }
    for (; i < array->n && rules->rest; i++, item = tape_next(item)) {
        ok &= check_part(run, rules->rest, item, rules->rest_keyword);
        mark(run, seen, i);
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
        if (!try(run, rules->contains, item, NULL))
            continue;
        n++;
        mark(run, seen, i);
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

static bool check_array(struct run *run, const struct array_rules *rules,
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

static bool check_unevaluated_items(struct run *run, const struct subschema *rule,
                                    const struct tape_node *array, const struct seen *seen)
{
    bool ok = true;
    const struct tape_node *item = array + 1;
    for (uint32_t i = 0; i < array->n; i++, item = tape_next(item))
        if (!run->seen[seen->at + i])
            ok &= check_part(run, rule, item, "unevaluatedItems");
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
    if (!is_heard(run))
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
        if (!matches(run, rules->patterns[i].pattern, key, "patternProperties"))
            continue;
        *evaluated = true;
        ok &= check_part(run, rules->patterns[i].schema, value, "patternProperties");
    }
    return ok;
}

static bool check_additional(struct run *run, const struct object_rules *rules,
                             const struct tape_node *value)
{
    if (rules->additional->is_false)
        return fail_unknown(run, value, rules, "additionalProperties");
    return check_part(run, rules->additional, value, "additionalProperties");
}

static bool check_name(struct run *run, const struct subschema *rule, const struct tape_node *key)
{
    bool outer = run->in_name;
    run->in_name = true;
    bool ok = check_part(run, rule, key, "propertyNames");
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
        ok = check_part(run, property->schema, value, "properties");
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
    if (!is_heard(run) || !push_seen(run, rules->n_properties, &there))
        return false;
    memset(run->seen + there.at, 0, there.n);
    tape_each (object, key, value) {
        const struct property *property = find_property(rules, key, &next);
        if (property)
            mark(run, &there, (uint32_t)(property - rules->properties));
    }
    for (uint32_t i = 0; i < rules->n_properties; i++)
        if (rules->properties[i].required && !run->seen[there.at + i])
            fail_at(run, object, rules->properties[i].name, "required", "%s",
                    rules->properties[i].type);
    pop_seen(run, &there);
    return false;
}

static bool check_dependent(struct run *run, const struct dependent *dependent,
                            const struct tape_node *object, const struct seen *seen)
{
    bool ok = true;
    if (!spend(run, object->n, object) || !tape_get(object, dependent->name))
        return !run->err;
    if (dependent->schema)
        return check_same(run, dependent->schema, object, seen, dependent->keyword);
    const struct tape_node *name = dependent->required + 1;
    for (uint32_t i = 0; i < dependent->required->n; i++, name = tape_next(name))
        if (spend(run, object->n, object) && !tape_get(object, tape_str(name)))
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
            mark(run, seen, i);
        if ((!ok && run->quiet) || run->err)
            return false;
        i++;
    }
    return n_required == rules->n_required ? ok : fail_required(run, rules, object);
}

static bool check_object(struct run *run, const struct object_rules *rules,
                         const struct tape_node *object, const struct seen *seen)
{
    bool ok = check_count(run, object, object->n, rules->min, rules->max, "minProperties",
                          "maxProperties");
    if (rules->n_patterns && !spend(run, (uint64_t)object->n * rules->n_patterns, object))
        return false;
    ok &= check_members(run, rules, object, seen);
    for (uint32_t i = 0; i < rules->n_dependents && !run->err; i++)
        ok &= check_dependent(run, &rules->dependents[i], object, seen);
    return ok;
}

static bool check_unevaluated_members(struct run *run, const struct object_rules *rules,
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
            ok &= check_part(run, rules->unevaluated, value, "unevaluatedProperties");
    }
    return ok;
}

/* ---- any kind of value ---------------------------------------------------------------------- */

static bool check_choices(struct run *run, const struct general_rules *rules,
                          const struct tape_node *value)
{
    char text[128] = "";
    if (!spend(run, tape_size(value), value))
        return false;
    if (value_set_has(rules->choices, value))
        return true;
    for (uint32_t i = 0; !run->quiet && i < rules->choices->n && strlen(text) < 100; i++) {
        strcat(text, i ? "|" : "");
        fault_value_text(rules->choices->values[i], text, sizeof text);
    }
    return fail(run, value, "enum", "%s", text[0] ? text : "nothing");
}

static bool check_constant(struct run *run, const struct general_rules *rules,
                           const struct tape_node *value)
{
    if (!spend(run, tape_size(value), value))
        return false;
    return tape_equal(rules->constant, value) ||
           fail_by_value(run, value, "const", "", rules->constant);
}

static bool check_all_of(struct run *run, const struct subschemas *all,
                         const struct tape_node *value, const struct seen *seen)
{
    bool ok = true;
    for (uint32_t i = 0; i < all->n && !run->err && (ok || !run->quiet); i++)
        ok &= check_same(run, all->v[i], value, seen, "allOf");
    return ok;
}

/* Alternatives that only differ in type are told by it. */
__attribute__((cold)) static bool fail_alternatives(struct run *run,
                                                    const struct subschemas *alternatives,
                                                    const struct tape_node *value,
                                                    const char *keyword)
{
    char text[96];
    uint16_t types = 0;
    bool simple = true;
    if (!is_heard(run))
        return false;
    for (uint32_t i = 0; i < alternatives->n; i++) {
        simple &= alternatives->v[i]->simple;
        types |= alternatives->v[i]->types;
    }
    keyword_type_text(types, text, sizeof text);
    if (simple && text[0])
        return fail(run, value, keyword, "%s", text);
    return fail(run, value, keyword, "a value that fits one of %u alternatives", alternatives->n);
}

static bool check_any_of(struct run *run, const struct subschemas *any,
                         const struct tape_node *value, const struct seen *seen)
{
    bool fits = false;
    for (uint32_t i = 0; i < any->n && !run->err && (!fits || seen); i++)
        fits |= try(run, any->v[i], value, seen);
    return fits || fail_alternatives(run, any, value, "anyOf");
}

static bool check_one_of(struct run *run, const struct subschemas *one,
                         const struct tape_node *value, const struct seen *seen)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < one->n && !run->err && n < 2; i++)
        n += try(run, one->v[i], value, seen);
    if (n == 0)
        return fail_alternatives(run, one, value, "oneOf");
    return n == 1 ||
           fail(run, value, "oneOf", "a value that fits only one of %u alternatives", one->n);
}

static bool check_if(struct run *run, const struct general_rules *rules,
                     const struct tape_node *value, const struct seen *seen)
{
    if (try(run, rules->if_, value, seen))
        return !rules->then || check_same(run, rules->then, value, seen, "then");
    return !rules->else_ || check_same(run, rules->else_, value, seen, "else");
}

static bool check_general(struct run *run, const struct general_rules *rules,
                          const struct tape_node *value, const struct seen *seen)
{
    bool ok = true;
    if (rules->choices)
        ok &= check_choices(run, rules, value);
    if (rules->constant)
        ok &= check_constant(run, rules, value);
    if (rules->ref)
        ok &= check_same(run, rules->ref, value, seen, "$ref");
    if (rules->all_of.n)
        ok &= check_all_of(run, &rules->all_of, value, seen);
    if (rules->any_of.n)
        ok &= check_any_of(run, &rules->any_of, value, seen);
    if (rules->one_of.n)
        ok &= check_one_of(run, &rules->one_of, value, seen);
    if (rules->not &&try(run, rules->not, value, NULL))
        ok = fail(run, value, "not", "a value that does not fit the schema in \"not\"");
    if (rules->if_)
        ok &= check_if(run, rules, value, seen);
    return ok;
}

/* ---- the walk ------------------------------------------------------------------------------- */

static bool check_rules(struct run *run, const struct subschema *sub, const struct tape_node *value,
                        const struct seen *seen)
{
    bool ok = true;
    switch ((enum tape_kind)value->kind) {
    case TAPE_INT:
    case TAPE_NUM:
        ok = !sub->number || check_number(run, sub->number, value);
        break;
    case TAPE_STR:
        ok = !sub->string || check_string(run, sub->string, value);
        break;
    case TAPE_ARRAY:
        ok = !sub->array || check_array(run, sub->array, value, seen);
        break;
    case TAPE_OBJECT:
        ok = !sub->object || check_object(run, sub->object, value, seen);
        break;
    default:
        break;
    }
    if (sub->general && !run->err && (ok || !run->quiet))
        ok &= check_general(run, sub->general, value, seen);
    return ok;
}

/* With an unevaluated keyword, which looks at what all others left. */
static bool check_tracked(struct run *run, const struct subschema *sub,
                          const struct tape_node *value, const struct seen *outer)
{
    struct seen own;
    if (!push_seen(run, value->n, &own))
        return false;
    if (own.n)
        memset(run->seen + own.at, 0, own.n);
    bool ok = check_rules(run, sub, value, &own) && !run->err;
    if (ok && value->kind == TAPE_OBJECT)
        ok = check_unevaluated_members(run, sub->object, value, &own);
    else if (ok)
        ok = check_unevaluated_items(run, sub->array->unevaluated, value, &own);
    pop_seen(run, &own);
    if (ok)
        mark_all(run, outer);
    return ok;
}

static bool is_tracked(const struct subschema *sub, const struct tape_node *value)
{
    if (value->kind == TAPE_OBJECT)
        return sub->object && sub->object->unevaluated;
    return value->kind == TAPE_ARRAY && sub->array && sub->array->unevaluated;
}

static bool enter(struct run *run, const struct tape_node *value)
{
    if (run->depth == SCHEMA_RECURSION_MAX)
        return give_up(run, value, "depth", "schemas at work within each other: at most",
                       SCHEMA_RECURSION_MAX);
    if (run->err || !spend(run,
                           value->kind < TAPE_STR    ? 1
                           : value->kind == TAPE_STR ? 1 + value->n / 64
                                                     : 1 + value->n,
                           value))
        return false;
    run->depth++;
    return true;
}

static bool check(struct run *run, const struct subschema *sub, const struct tape_node *value,
                  const struct seen *seen)
{
    if (!takes_kind(sub, value))
        return sub->is_false ? false : fail_type(run, sub, value);
    if (sub->simple)
        return true;
    if (!enter(run, value))
        return false;
    bool ok = is_tracked(sub, value) ? check_tracked(run, sub, value, seen)
                                     : check_rules(run, sub, value, seen);
    run->depth--;
    return ok && !run->err;
}

int json_schema_check(const struct json_schema *schema, const struct tape_node *value,
                      struct schema_faults *faults)
{
    struct run run = {.schema = schema,
                      .list = {.root = value, .faults = faults},
                      .quiet = !faults,
                      .steps = SCHEMA_STEPS_MAX};
    if (faults)
        faults->n = 0;
    bool fits = check_same(&run, schema->root, value, NULL, "false");
    free(run.seen);
    if (run.room.data)
        pattern_room_done(&run.room);
    return run.err ? run.err : fits ? 0 : ERR_PARAMS;
}
