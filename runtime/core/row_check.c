/* core/row_check.c - one table of keywords: what each one's value must look like in a schema, and
 * how it judges a value. The path to the place being judged lives on the C stack (JSON_DEPTH_MAX
 * bounds it) and becomes text only for a fault. */
#include "core/row_check.h"

#include "base/err.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct path {
    const struct path *up;
    struct str key; /* absent: an index */
    uint32_t index;
};

struct check {
    const struct tape_node *schema; /* the one whose keyword is being looked at */
    const struct path *path;
    struct row_fault *fault;
};

typedef int (*check_fn)(const struct check *c, const struct tape_node *rule,
                        const struct tape_node *value);

/* ---- Faults --------------------------------------------------------------------------------- */

static size_t escape_segment(struct str s, char *out, size_t room)
{
    size_t n = 0;
    for (uint32_t i = 0; i < s.n && n + 2 < room; i++) {
        bool special = s.p[i] == '~' || s.p[i] == '/';
        if (special)
            out[n++] = '~';
        out[n++] = (char)(s.p[i] == '~' ? '0' : s.p[i] == '/' ? '1' : s.p[i]);
    }
    return n;
}

static void cut_at_character(char *text, size_t n)
{
    while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
        n--;
    memcpy(text + n, "...", 4);
}

void row_fault_within(struct row_fault *fault, struct str segment)
{
    char text[2 * JSON_POINTER_BYTES];
    size_t n = escape_segment(segment, text, sizeof text), old = strlen(fault->pointer);
    size_t room = sizeof fault->pointer - 1 - old;
    if (room == 0 || (old >= 3 && strcmp(fault->pointer + old - 3, "...") == 0))
        return;
    fault->pointer[old] = '/';
    memcpy(fault->pointer + old + 1, text, n < room ? n : room - 1);
    fault->pointer[n < room ? old + 1 + n : sizeof fault->pointer - 1] = '\0';
    if (n >= room)
        cut_at_character(fault->pointer, sizeof fault->pointer - 4);
}

int row_fault_set(struct row_fault *fault, const char *reason, const char *expected_fmt, ...)
{
    va_list args;
    va_start(args, expected_fmt);
    fault->reason = reason;
    int n = vsnprintf(fault->expected, sizeof fault->expected, expected_fmt, args);
    va_end(args);
    if (n >= (int)sizeof fault->expected)
        cut_at_character(fault->expected, sizeof fault->expected - 4);
    return ERR_PARAMS;
}

static void write_pointer(struct row_fault *fault, const struct path *path)
{
    char digits[16];
    if (!path) {
        fault->pointer[0] = '\0';
        return;
    }
    write_pointer(fault, path->up);
    snprintf(digits, sizeof digits, "%u", path->index);
    row_fault_within(fault, path->key.p ? path->key : str_of(digits));
}

#define fail(c, reason, ...) \
    (write_pointer((c)->fault, (c)->path), row_fault_set((c)->fault, reason, __VA_ARGS__))

/* ---- Judging a value ------------------------------------------------------------------------ */

static int check_value(const struct check *c, const struct tape_node *schema,
                       const struct tape_node *value);

static int check_member(const struct check *c, const struct tape_node *schema, struct str key,
                        const struct tape_node *value)
{
    struct path here = {c->path, key, 0};
    struct check inner = {schema, &here, c->fault};
    return check_value(&inner, schema, value);
}

static bool is_number(const struct tape_node *v)
{
    return v->kind == TAPE_INT || v->kind == TAPE_NUM;
}

static bool has_type(const struct tape_node *value, struct str type)
{
    if (str_eq(type, STR("integer")))
        return value->kind == TAPE_INT ||
               (value->kind == TAPE_NUM && value->v.d == trunc(value->v.d));
    if (str_eq(type, STR("number")))
        return is_number(value);
    if (str_eq(type, STR("boolean")))
        return value->kind == TAPE_TRUE || value->kind == TAPE_FALSE;
    return str_eq(type, str_of(tape_kind_name(value)));
}

static int check_type(const struct check *c, const struct tape_node *rule,
                      const struct tape_node *value)
{
    if (rule->kind == TAPE_STR) {
        if (has_type(value, tape_str(rule)))
            return 0;
        return fail(c, "type", STR_FMT, STR_ARG(tape_str(rule)));
    }
    char all[96] = "";
    const struct tape_node *type = rule + 1;
    for (uint32_t i = 0; i < rule->n; i++, type = tape_next(type)) {
        if (has_type(value, tape_str(type)))
            return 0;
        size_t n = strlen(all);
        snprintf(all + n, sizeof all - n, "%s" STR_FMT, i ? "|" : "", STR_ARG(tape_str(type)));
    }
    return fail(c, "type", "%s", all);
}

static int check_enum(const struct check *c, const struct tape_node *rule,
                      const struct tape_node *value)
{
    struct buf choices = {.limit = 512};
    const struct tape_node *choice = rule + 1;
    for (uint32_t i = 0; i < rule->n; i++, choice = tape_next(choice))
        if (tape_equal(choice, value))
            return 0;
    choice = rule + 1;
    for (uint32_t i = 0; i < rule->n && choices.n < 100; i++, choice = tape_next(choice)) {
        if (i)
            buf_add_char(&choices, '|');
        tape_write(choice, &choices);
    }
    int err = fail(c, "enum", STR_FMT, STR_ARG(buf_str(&choices)));
    buf_done(&choices);
    return err;
}

static int check_const(const struct check *c, const struct tape_node *rule,
                       const struct tape_node *value)
{
    if (tape_equal(rule, value))
        return 0;
    struct buf text = {.limit = 512};
    tape_write(rule, &text);
    int err = fail(c, "const", STR_FMT, STR_ARG(buf_str(&text)));
    buf_done(&text);
    return err;
}

static int compare_numbers(const struct tape_node *a, const struct tape_node *b)
{
    if (a->kind == TAPE_INT && b->kind == TAPE_INT)
        return (a->v.i > b->v.i) - (a->v.i < b->v.i);
    return (tape_num(a) > tape_num(b)) - (tape_num(a) < tape_num(b));
}

static int fail_bound(const struct check *c, const char *keyword, const char *relation,
                      const struct tape_node *rule)
{
    struct buf bound = {0};
    tape_write(rule, &bound);
    int err = fail(c, keyword, "%s " STR_FMT, relation, STR_ARG(buf_str(&bound)));
    buf_done(&bound);
    return err;
}

#define NUMBER_BOUND(name, keyword, relation, is_wrong)                          \
    static int check_##name(const struct check *c, const struct tape_node *rule, \
                            const struct tape_node *value)                       \
    {                                                                            \
        if (!is_number(value) || !(compare_numbers(value, rule) is_wrong))       \
            return 0;                                                            \
        return fail_bound(c, keyword, relation, rule);                           \
    }
NUMBER_BOUND(minimum, "minimum", "at least", < 0)
NUMBER_BOUND(maximum, "maximum", "at most", > 0)
NUMBER_BOUND(above, "exclusiveMinimum", "more than", <= 0)
NUMBER_BOUND(below, "exclusiveMaximum", "less than", >= 0)

static uint32_t count_characters(struct str s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s.n; i++)
        n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
    return n;
}

static int check_shorter(const struct check *c, const struct tape_node *rule,
                         const struct tape_node *value)
{
    if (value->kind != TAPE_STR || count_characters(tape_str(value)) <= tape_num(rule))
        return 0;
    return fail_bound(c, "maxLength", "characters: at most", rule);
}

static int check_longer(const struct check *c, const struct tape_node *rule,
                        const struct tape_node *value)
{
    if (value->kind != TAPE_STR || count_characters(tape_str(value)) >= tape_num(rule))
        return 0;
    return fail_bound(c, "minLength", "characters: at least", rule);
}

static int check_fewer(const struct check *c, const struct tape_node *rule,
                       const struct tape_node *value)
{
    if (value->kind != TAPE_ARRAY || value->n <= tape_num(rule))
        return 0;
    return fail_bound(c, "maxItems", "items: at most", rule);
}

static int check_more(const struct check *c, const struct tape_node *rule,
                      const struct tape_node *value)
{
    if (value->kind != TAPE_ARRAY || value->n >= tape_num(rule))
        return 0;
    return fail_bound(c, "minItems", "items: at least", rule);
}

static int check_items(const struct check *c, const struct tape_node *rule,
                       const struct tape_node *value)
{
    if (value->kind != TAPE_ARRAY)
        return 0;
    const struct tape_node *item = value + 1;
    for (uint32_t i = 0; i < value->n; i++, item = tape_next(item)) {
        struct path here = {c->path, STR_NONE, i};
        struct check inner = {rule, &here, c->fault};
        int err = check_value(&inner, rule, item);
        if (err < 0)
            return err;
    }
    return 0;
}

static int check_properties(const struct check *c, const struct tape_node *rule,
                            const struct tape_node *value)
{
    if (value->kind != TAPE_OBJECT)
        return 0;
    tape_each (value, key, member) {
        const struct tape_node *schema = tape_get(rule, tape_str(key));
        int err = schema ? check_member(c, schema, tape_str(key), member) : 0;
        if (err < 0)
            return err;
    }
    return 0;
}

static struct str type_of_property(const struct tape_node *schema, struct str name)
{
    const struct tape_node *properties = tape_get(schema, STR("properties"));
    const struct tape_node *property = properties ? tape_get(properties, name) : NULL;
    const struct tape_node *type = property ? tape_get(property, STR("type")) : NULL;
    return type && type->kind == TAPE_STR ? tape_str(type) : STR("a value");
}

static int check_required(const struct check *c, const struct tape_node *rule,
                          const struct tape_node *value)
{
    if (value->kind != TAPE_OBJECT)
        return 0;
    const struct tape_node *name = rule + 1;
    for (uint32_t i = 0; i < rule->n; i++, name = tape_next(name)) {
        if (tape_get(value, tape_str(name)))
            continue;
        struct path here = {c->path, tape_str(name), 0};
        struct check missing = {c->schema, &here, c->fault};
        struct str type = type_of_property(c->schema, tape_str(name));
        return fail(&missing, "required", STR_FMT, STR_ARG(type));
    }
    return 0;
}

/* "a, b, c": what an object may hold, for the fault. */
static void list_names(const struct tape_node *properties, char *out, size_t size)
{
    size_t n = 0;
    out[0] = '\0';
    tape_each (properties, key, schema) {
        (void)schema;
        if (n < size)
            n += (size_t)snprintf(out + n, size - n, "%s" STR_FMT, n ? ", " : "",
                                  STR_ARG(tape_str(key)));
    }
}

static int check_additional(const struct check *c, const struct tape_node *rule,
                            const struct tape_node *value)
{
    const struct tape_node *properties = tape_get(c->schema, STR("properties"));
    if (value->kind != TAPE_OBJECT || rule->kind == TAPE_TRUE)
        return 0;
    tape_each (value, key, member) {
        if (properties && tape_get(properties, tape_str(key)))
            continue;
        int err = 0;
        if (rule->kind == TAPE_FALSE) {
            struct path here = {c->path, tape_str(key), 0};
            struct check unknown = {c->schema, &here, c->fault};
            char names[96] = "";
            if (properties)
                list_names(properties, names, sizeof names);
            err = fail(&unknown, "additionalProperties", "%s", names[0] ? names : "no members");
        } else {
            err = check_member(c, rule, tape_str(key), member);
        }
        if (err < 0)
            return err;
    }
    return 0;
}

/* ---- Judging a schema ----------------------------------------------------------------------- */

static int accept_schema(const struct check *c, const struct tape_node *schema);

static int accept_any(const struct check *c, const struct tape_node *rule)
{
    (void)c, (void)rule;
    return 0;
}

static int accept_string(const struct check *c, const struct tape_node *rule)
{
    return rule->kind == TAPE_STR ? 0 : fail(c, "type", "string");
}

static int accept_bool(const struct check *c, const struct tape_node *rule)
{
    bool is_bool = rule->kind == TAPE_TRUE || rule->kind == TAPE_FALSE;
    return is_bool ? 0 : fail(c, "type", "boolean");
}

static int accept_number(const struct check *c, const struct tape_node *rule)
{
    return is_number(rule) ? 0 : fail(c, "type", "number");
}

static int accept_count(const struct check *c, const struct tape_node *rule)
{
    return rule->kind == TAPE_INT && rule->v.i >= 0 ? 0 : fail(c, "type", "integer, at least 0");
}

static int accept_array(const struct check *c, const struct tape_node *rule)
{
    return rule->kind == TAPE_ARRAY ? 0 : fail(c, "type", "array");
}

static int accept_type_name(const struct check *c, const struct tape_node *rule)
{
    static const char *const names[] = {"string", "integer", "number", "boolean",
                                        "object", "array",   "null"};
    for (size_t i = 0; rule->kind == TAPE_STR && i < sizeof names / sizeof *names; i++)
        if (str_eq(tape_str(rule), str_of(names[i])))
            return 0;
    return fail(c, "type", "string|integer|number|boolean|object|array|null");
}

/* Each member of an array by `accept`. */
static int accept_each(const struct check *c, const struct tape_node *array,
                       int (*accept)(const struct check *, const struct tape_node *))
{
    const struct tape_node *item = array + 1;
    for (uint32_t i = 0; i < array->n; i++, item = tape_next(item)) {
        struct path here = {c->path, STR_NONE, i};
        struct check inner = {c->schema, &here, c->fault};
        int err = accept(&inner, item);
        if (err < 0)
            return err;
    }
    return 0;
}

static int accept_type(const struct check *c, const struct tape_node *rule)
{
    if (rule->kind != TAPE_ARRAY)
        return accept_type_name(c, rule);
    if (rule->n == 0)
        return fail(c, "type", "at least one type");
    return accept_each(c, rule, accept_type_name);
}

static int accept_enum(const struct check *c, const struct tape_node *rule)
{
    return rule->kind == TAPE_ARRAY && rule->n ? 0 : fail(c, "type", "array that is not empty");
}

static int accept_names(const struct check *c, const struct tape_node *rule)
{
    return rule->kind == TAPE_ARRAY ? accept_each(c, rule, accept_string) : accept_array(c, rule);
}

static int accept_properties(const struct check *c, const struct tape_node *rule)
{
    if (rule->kind != TAPE_OBJECT)
        return fail(c, "type", "object");
    tape_each (rule, key, schema) {
        struct path here = {c->path, tape_str(key), 0};
        struct check inner = {schema, &here, c->fault};
        int err = accept_schema(&inner, schema);
        if (err < 0)
            return err;
    }
    return 0;
}

static int accept_additional(const struct check *c, const struct tape_node *rule)
{
    return rule->kind == TAPE_OBJECT ? accept_schema(c, rule) : accept_bool(c, rule);
}

/* ---- The keywords --------------------------------------------------------------------------- */

static const struct keyword {
    struct str name;
    int (*accept)(const struct check *c, const struct tape_node *rule);
    check_fn check; /* NULL: says nothing about values */
} keywords[] = {
    {STR_INIT("type"), accept_type, check_type},
    {STR_INIT("properties"), accept_properties, check_properties},
    {STR_INIT("required"), accept_names, check_required},
    {STR_INIT("additionalProperties"), accept_additional, check_additional},
    {STR_INIT("enum"), accept_enum, check_enum},
    {STR_INIT("const"), accept_any, check_const},
    {STR_INIT("minimum"), accept_number, check_minimum},
    {STR_INIT("maximum"), accept_number, check_maximum},
    {STR_INIT("exclusiveMinimum"), accept_number, check_above},
    {STR_INIT("exclusiveMaximum"), accept_number, check_below},
    {STR_INIT("minLength"), accept_count, check_longer},
    {STR_INIT("maxLength"), accept_count, check_shorter},
    {STR_INIT("items"), accept_schema, check_items},
    {STR_INIT("minItems"), accept_count, check_more},
    {STR_INIT("maxItems"), accept_count, check_fewer},
    {STR_INIT("title"), accept_string, NULL},
    {STR_INIT("description"), accept_string, NULL},
    {STR_INIT("default"), accept_any, NULL},
    {STR_INIT("examples"), accept_array, NULL},
    {STR_INIT("format"), accept_string, NULL}, /* an annotation, by JSON Schema 2020-12 */
    {STR_INIT("deprecated"), accept_bool, NULL},
    {STR_INIT("$comment"), accept_string, NULL},
};

static const struct keyword *find_keyword(struct str name)
{
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (str_eq(keywords[i].name, name))
            return &keywords[i];
    return NULL;
}

static int accept_schema(const struct check *c, const struct tape_node *schema)
{
    if (schema->kind != TAPE_OBJECT)
        return fail(c, "type", "object (a schema)");
    tape_each (schema, key, rule) {
        struct path here = {c->path, tape_str(key), 0};
        struct check inner = {schema, &here, c->fault};
        const struct keyword *keyword = find_keyword(tape_str(key));
        int err = keyword ? keyword->accept(&inner, rule)
                          : fail(&inner, "unsupported", "a keyword that tables support");
        if (err < 0)
            return err;
    }
    return 0;
}

static int check_value(const struct check *c, const struct tape_node *schema,
                       const struct tape_node *value)
{
    tape_each (schema, key, rule) {
        const struct keyword *keyword = find_keyword(tape_str(key));
        int err = keyword && keyword->check ? keyword->check(c, rule, value) : 0;
        if (err < 0)
            return err;
    }
    return 0;
}

int row_check(const struct tape_node *schema, const struct tape_node *value,
              struct row_fault *fault)
{
    struct check c = {schema, NULL, fault};
    return check_value(&c, schema, value);
}

int row_check_schema(const struct tape_node *schema, struct row_fault *fault)
{
    struct check c = {schema, NULL, fault};
    return accept_schema(&c, schema);
}
