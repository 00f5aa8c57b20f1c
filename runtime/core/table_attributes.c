/* core/table_attributes.c - see table_attributes.h. */
#include "core/table_attributes.h"

#include "base/err.h"
#include "core/table_parts.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

/* ---- Reading -------------------------------------------------------------------------------- */

static const char *const role_names[] = {
    [ROLE_CREATED_TIME] = "createdTime",
    [ROLE_UPDATED_TIME] = "updatedTime",
    [ROLE_VERSION] = "version",
};
static const char *const default_names[] = {
    [DEFAULT_UUID] = "uuid",
    [DEFAULT_NOW] = "now",
    [DEFAULT_TODAY] = "today",
};

/* Which of the names; 0: none. */
static unsigned find_name(const char *const *names, unsigned n, const struct tape_node *text)
{
    for (unsigned i = 1; i < n; i++)
        if (names[i] && str_eq(str_of(names[i]), tape_str(text)))
            return i;
    return 0;
}
#define FIND_NAME(names, text) find_name(names, sizeof names / sizeof *names, text)

static int fail(struct schema_faults *faults, const struct table_attribute *attribute,
                const char *member, const char *expected)
{
    table_fail_at(faults, "/attributes", attribute->name, member, expected);
    schema_fault_within(&faults->v[0], str_of(member));
    return ERR_PARAMS;
}

static bool is_true(const struct tape_node *value)
{
    return value && value->kind == TAPE_TRUE;
}

static void read_one(struct table_attribute *attribute, const struct tape_node *said)
{
    const struct tape_node *role = tape_get(said, STR("role"));
    const struct tape_node *fill = tape_get(said, STR("default"));
    attribute->hidden = is_true(tape_get(said, STR("hidden")));
    attribute->unknown = attribute->no_insert = attribute->no_update = attribute->hidden;
    attribute->nullable = is_true(tape_get(said, STR("nullable")));
    if (role)
        attribute->role = FIND_NAME(role_names, role);
    if (fill && fill->kind == TAPE_OBJECT) {
        attribute->fill = DEFAULT_VALUE;
        attribute->value = tape_get(fill, STR("value"));
    } else if (fill) {
        attribute->fill = FIND_NAME(default_names, fill);
    }
}

static int check_key(const struct table_attribute *key, struct schema_faults *faults)
{
    if (key->hidden)
        return fail(faults, key, "hidden", "false: clients go by the primary key");
    if (key->nullable)
        return fail(faults, key, "nullable", "false: the primary key is never null");
    if (key->role)
        return fail(faults, key, "role", "no role: the primary key never changes");
    return 0;
}

static int check_role(const struct table_attribute *a, struct schema_faults *faults)
{
    bool is_integer = table_has_type(a->schema, STR("integer"));
    if (a->role == ROLE_VERSION && !is_integer)
        return fail(faults, a, "role", "an attribute of type integer");
    if (!is_integer && !table_has_type(a->schema, STR("string")))
        return fail(faults, a, "role", "an attribute of type string or integer");
    if (a->nullable)
        return fail(faults, a, "nullable", "false: the server always sets it");
    if (a->fill)
        return fail(faults, a, "default", "no default: the server sets it");
    if (a->required)
        return fail(faults, a, "role",
                    "an attribute that is not required, as clients cannot give it");
    return 0;
}

static int check_one(const struct table *t, const struct table_attribute *a,
                     struct schema_faults *faults)
{
    int err = a == &t->attributes[t->key] ? check_key(a, faults) : 0;
    if (err == 0 && a->role)
        err = check_role(a, faults);
    if (err < 0)
        return err;
    if (a->hidden && a->required && !a->fill)
        return fail(faults, a, "hidden",
                    "a default, or one that is not required: clients cannot give it");
    return 0;
}

/* The first attribute of each role; a second one is a fault. */
static int note_role(struct table *t, const struct table_attribute *a, struct schema_faults *faults)
{
    if (!a->role)
        return 0;
    if (t->by_role[a->role])
        return fail(faults, a, "role", "at most one attribute of each role");
    t->by_role[a->role] = a;
    return 0;
}

int table_attributes_read(struct table *t, const struct tape_node *definition,
                          struct schema_faults *faults)
{
    const struct tape_node *said = tape_get(definition, STR("attributes"));
    if (!said)
        return 0;
    tape_each (said, name, value) {
        struct table_attribute *a =
            (struct table_attribute *)table_find_attribute(t, tape_str(name));
        if (!a)
            return table_fail_at(faults, "/attributes", tape_str(name), "name",
                                 "an attribute of the schema");
        read_one(a, value);
        int err = check_one(t, a, faults);
        if (err == 0)
            err = note_role(t, a, faults);
        if (err < 0)
            return err;
        t->n_hidden += a->hidden;
        t->is_special |= a->hidden || a->nullable || a->role || a->fill;
        t->is_filled |= a->hidden || a->role || a->fill;
    }
    return 0;
}

/* ---- Values --------------------------------------------------------------------------------- */

static bool is_number(const struct table_attribute *attribute)
{
    const struct tape_node *type = tape_get(attribute->schema, STR("type"));
    return type && (type->kind == TAPE_ARRAY ? table_is_named(type, STR("integer"))
                                             : str_eq(tape_str(type), STR("integer")));
}

static int make_text(struct arena *arena, struct str text, const struct tape_node **ret)
{
    struct tape_node *node = arena_zalloc(arena, sizeof *node);
    if (!node || !text.p)
        return ERR_NO_MEMORY;
    *node = (struct tape_node){.kind = TAPE_STR, .n = text.n, .v.s = text.p};
    *ret = node;
    return 0;
}

static int make_integer(struct arena *arena, int64_t value, const struct tape_node **ret)
{
    struct tape_node *node = arena_zalloc(arena, sizeof *node);
    if (!node)
        return ERR_NO_MEMORY;
    *node = (struct tape_node){.kind = TAPE_INT, .v.i = value};
    *ret = node;
    return 0;
}

static int make_date(struct arena *arena, int64_t now_ms, bool with_time,
                     const struct tape_node **ret)
{
    time_t seconds = (time_t)(now_ms / 1000);
    struct tm t;
    char text[64];
    gmtime_r(&seconds, &t);
    size_t n = strftime(text, sizeof text, with_time ? "%Y-%m-%dT%H:%M:%S" : "%Y-%m-%d", &t);
    if (with_time)
        snprintf(text + n, sizeof text - n, ".%03dZ", (int)(now_ms % 1000));
    return make_text(arena, arena_str(arena, str_of(text)), ret);
}

/* RFC 9562, version 4. */
static int make_uuid(struct arena *arena, const struct tape_node **ret)
{
    unsigned char r[16];
    if (getrandom(r, sizeof r, 0) != (ssize_t)sizeof r)
        return ERR_IO;
    r[6] = (unsigned char)((r[6] & 0x0f) | 0x40);
    r[8] = (unsigned char)((r[8] & 0x3f) | 0x80);
    struct str text = arena_printf(
        arena, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", r[0], r[1],
        r[2], r[3], r[4], r[5], r[6], r[7], r[8], r[9], r[10], r[11], r[12], r[13], r[14], r[15]);
    return make_text(arena, text, ret);
}

int table_time_value(const struct table_attribute *attribute, int64_t now_ms, struct arena *arena,
                     const struct tape_node **ret)
{
    return is_number(attribute) ? make_integer(arena, now_ms, ret)
                                : make_date(arena, now_ms, true, ret);
}

int table_default_value(const struct table_attribute *attribute, int64_t now_ms,
                        struct arena *arena, const struct tape_node **ret)
{
    if (attribute->fill == DEFAULT_UUID)
        return make_uuid(arena, ret);
    if (attribute->fill == DEFAULT_NOW)
        return table_time_value(attribute, now_ms, arena, ret);
    if (attribute->fill == DEFAULT_TODAY)
        return make_date(arena, now_ms, false, ret);
    *ret = attribute->value;
    return 0;
}

/* ---- Do they fit? --------------------------------------------------------------------------- */

#define SAMPLE_MS 1234567890123 /* some time */

static int sample(const struct table_attribute *a, struct arena *arena,
                  const struct tape_node **ret)
{
    *ret = NULL;
    if (a->role == ROLE_VERSION)
        return make_integer(arena, 1, ret);
    if (a->role)
        return table_time_value(a, SAMPLE_MS, arena, ret);
    return a->fill ? table_default_value(a, SAMPLE_MS, arena, ret) : 0;
}

static int make_sample(const struct table *t, struct arena *arena, const struct tape_node **ret)
{
    struct tape_builder b;
    int err = 0;
    tape_begin(&b, arena);
    tape_open_object(&b);
    for (uint32_t i = 0; i < t->n_attributes && err == 0; i++) {
        const struct tape_node *value;
        err = sample(&t->attributes[i], arena, &value);
        if (err < 0 || !value)
            continue;
        tape_add_str(&b, t->attributes[i].name);
        tape_add_node(&b, value);
    }
    tape_close(&b);
    return err < 0 ? err : tape_finish(&b, ret);
}

/* Of the schema only what is said of single attributes. */
static int make_sample_schema(const struct table *t, struct arena *arena,
                              const struct tape_node **ret)
{
    struct tape_builder b;
    tape_begin(&b, arena);
    tape_open_object(&b);
    tape_each (t->schema, key, value) {
        if (!str_eq(tape_str(key), STR("properties")) && !table_is_shared_keyword(tape_str(key)))
            continue;
        tape_add_str(&b, tape_str(key));
        tape_add_node(&b, value);
    }
    tape_close(&b);
    return tape_finish(&b, ret);
}

/* "/made/..." of the sample becomes "/attributes/made/role". */
static int move_fault(const struct table *t, struct schema_faults *faults)
{
    const struct schema_fault found = faults->v[0];
    char expected[sizeof found.expected + 32];
    struct str name = str_of(found.pointer + 1);
    const char *slash = memchr(name.p, '/', name.n);
    if (slash)
        name.n = (uint32_t)(slash - name.p);
    const struct table_attribute *a = table_find_attribute(t, name);
    snprintf(expected, sizeof expected, "what its schema allows: %s: %s", found.keyword,
             found.expected);
    return fail(faults, a, a->role ? "role" : "default", expected);
}

int table_attributes_check(const struct table *t, struct arena *arena, struct schema_faults *faults)
{
    const struct tape_node *row, *schema;
    const struct json_schema *compiled;
    if (!t->is_special)
        return 0;
    int err = make_sample(t, arena, &row);
    if (err == 0)
        err = make_sample_schema(t, arena, &schema);
    if (err == 0)
        err = json_schema_compile(schema, NULL, arena, &compiled, faults);
    if (err == 0)
        err = json_schema_check(compiled, row, faults);
    return err == ERR_PARAMS && faults->v[0].pointer[0] == '/' ? move_fault(t, faults) : err;
}
