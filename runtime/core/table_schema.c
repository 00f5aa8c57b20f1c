/* core/table_schema.c - the schemas that follow from the one in a definition.
 *
 *   t->schema   of rows as the operator knows them: with the primary key among the required
 *   t->rows     of rows as they are stored, compiled: the attribute of the version has no place
 *   t->shown    of rows as clients see them: nothing hidden
 *   t->given    of rows as clients give them: without what the server sets, and without a demand
 *               for what it fills in
 *   t->replacing   the same of a row that takes the place of another
 *   t->described   what is told of rows to who need not be able to read them
 *
 * Where no attribute asks for a difference they are one. What a schema says of the row as a whole
 * (anyOf, dependentRequired and the like) may name what is hidden, or miss what is filled in later:
 * it is left out of all but the first two of a table with such attributes, and holds for the stored
 * row.
 */
#include "base/err.h"
#include "core/table_parts.h"

#include <stdio.h>
#include <string.h>

enum view { VIEW_ALL, VIEW_STORED, VIEW_SHOWN, VIEW_GIVEN, VIEW_REPLACING, VIEW_DESCRIBED };

/* ---- One attribute -------------------------------------------------------------------------- */

static bool is_given(enum view view)
{
    return view == VIEW_GIVEN || view == VIEW_REPLACING;
}

static bool has_place(const struct table_attribute *a, enum view view)
{
    const bool left_out[] = {
        [VIEW_ALL] = false,
        [VIEW_STORED] = a->role == ROLE_VERSION,
        [VIEW_SHOWN] = a->hidden,
        [VIEW_GIVEN] = a->no_insert || a->role,
        [VIEW_DESCRIBED] = a->unknown,
        [VIEW_REPLACING] = a->no_update || a->role,
    };
    return !a->is_other && !left_out[view];
}

/* Keywords by whose side nothing can be added to "type". */
static bool is_plain(const struct tape_node *schema)
{
    static const char *const others[] = {"const", "$ref",  "$dynamicRef", "anyOf",
                                         "oneOf", "allOf", "not",         "if"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (tape_get(schema, str_of(others[i])))
            return false;
    return true;
}

static void add_items(struct tape_builder *b, const struct tape_node *list)
{
    const struct tape_node *item = list + 1;
    for (uint32_t i = 0; i < list->n; i++, item = tape_next(item))
        tape_add_node(b, item);
}

/* "string" or ["string", "integer"], and null. */
static void add_nullable_type(struct tape_builder *b, const struct tape_node *type)
{
    bool is_list = type->kind == TAPE_ARRAY;
    bool has_null = is_list ? table_is_named(type, STR("null"))
                            : type->kind == TAPE_STR && str_eq(tape_str(type), STR("null"));
    tape_open_array(b);
    if (is_list)
        add_items(b, type);
    else
        tape_add_node(b, type);
    if (!has_null)
        tape_add_str(b, STR("null"));
    tape_close(b);
}

static void add_nullable_enum(struct tape_builder *b, const struct tape_node *values)
{
    const struct tape_node *item = values + 1;
    bool has_null = false;
    if (values->kind != TAPE_ARRAY) { /* the compiler says what is wrong */
        tape_add_node(b, values);
        return;
    }
    for (uint32_t i = 0; i < values->n; i++, item = tape_next(item))
        has_null |= item->kind == TAPE_NULL;
    tape_open_array(b);
    add_items(b, values);
    if (!has_null)
        tape_add_null(b);
    tape_close(b);
}

static void add_plain_nullable(struct tape_builder *b, const struct tape_node *schema)
{
    tape_open_object(b);
    tape_each (schema, key, value) {
        tape_add_str(b, tape_str(key));
        if (str_eq(tape_str(key), STR("type")))
            add_nullable_type(b, value);
        else if (str_eq(tape_str(key), STR("enum")))
            add_nullable_enum(b, value);
        else
            tape_add_node(b, value);
    }
    tape_close(b);
}

/* {"anyOf": [schema, {"type": "null"}]} */
static void add_other_nullable(struct tape_builder *b, const struct tape_node *schema)
{
    tape_open_object(b);
    tape_add_str(b, STR("anyOf"));
    tape_open_array(b);
    tape_add_node(b, schema);
    tape_open_object(b);
    tape_add_str(b, STR("type"));
    tape_add_str(b, STR("null"));
    tape_close(b);
    tape_close(b);
    tape_close(b);
}

/* Clients want objects as schemas of attributes: true becomes {}, false {"not": {}}. */
static void add_boolean(struct tape_builder *b, bool allows)
{
    tape_open_object(b);
    if (!allows) {
        tape_add_str(b, STR("not"));
        tape_open_object(b);
        tape_close(b);
    }
    tape_close(b);
}

static void add_attribute(struct tape_builder *b, const struct table_attribute *a, bool is_final)
{
    tape_add_str(b, a->name);
    if (a->schema->kind == TAPE_OBJECT && is_final)
        tape_add_node(b, a->schema);
    else if (a->nullable && a->schema->kind == TAPE_OBJECT && is_plain(a->schema))
        add_plain_nullable(b, a->schema);
    else if (a->nullable && a->schema->kind != TAPE_TRUE)
        add_other_nullable(b, a->schema);
    else if (a->schema->kind == TAPE_TRUE || a->schema->kind == TAPE_FALSE)
        add_boolean(b, a->schema->kind == TAPE_TRUE);
    else
        tape_add_node(b, a->schema);
}

/* ---- The row -------------------------------------------------------------------------------- */

bool table_is_shared_keyword(struct str keyword)
{
    return str_eq(keyword, STR("$schema")) || str_eq(keyword, STR("$defs")) ||
           str_eq(keyword, STR("definitions"));
}

/* What says nothing about attributes by their names. */
static bool is_of_any_view(struct str keyword)
{
    static const char *const kept[] = {"type", "title", "description", "additionalProperties",
                                       "patternProperties"};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (str_eq(keyword, str_of(kept[i])))
            return true;
    return table_is_shared_keyword(keyword);
}

static void add_properties(struct tape_builder *b, const struct table *t, enum view view)
{
    tape_open_object(b);
    for (uint32_t i = 0; i < t->n_attributes; i++)
        if (has_place(&t->attributes[i], view))
            add_attribute(b, &t->attributes[i], t->shown != NULL);
        else if (view == VIEW_STORED) { /* no place even where any attribute may be */
            tape_add_str(b, t->attributes[i].name);
            add_boolean(b, false);
        }
    tape_close(b);
}

static void add_required(struct tape_builder *b, const struct table *t, enum view view)
{
    tape_add_str(b, STR("required"));
    tape_open_array(b);
    for (uint32_t i = 0; i < t->n_attributes; i++) {
        const struct table_attribute *a = &t->attributes[i];
        if (a->required && has_place(a, view) && !(is_given(view) && a->fill))
            tape_add_str(b, a->name);
    }
    tape_close(b);
}

static int make(const struct table *t, enum view view, struct arena *arena,
                const struct tape_node **ret)
{
    bool all = view == VIEW_ALL || view == VIEW_STORED;
    struct tape_builder b;
    tape_begin(&b, arena);
    tape_open_object(&b);
    tape_each (t->schema, key, value) {
        struct str keyword = tape_str(key);
        bool is_properties = str_eq(keyword, STR("properties"));
        if (str_eq(keyword, STR("required")) ||
            (!all && !is_properties && !is_of_any_view(keyword)))
            continue;
        tape_add_str(&b, keyword);
        if (is_properties)
            add_properties(&b, t, view);
        else
            tape_add_node(&b, value);
    }
    add_required(&b, t, view);
    tape_close(&b);
    return tape_finish(&b, ret);
}

static int make_views(struct table *t, struct arena *arena, const struct tape_node **ret_stored)
{
    const struct tape_node *schema, *stored, *shown, *given;
    int err = make(t, VIEW_ALL, arena, &schema);
    stored = shown = given = schema;
    if (err == 0 && t->by_role[ROLE_VERSION])
        err = make(t, VIEW_STORED, arena, &stored);
    if (err == 0 && t->is_filled)
        err = make(t, VIEW_SHOWN, arena, &shown);
    if (err == 0 && t->is_filled)
        err = make(t, VIEW_GIVEN, arena, &given);
    if (err < 0)
        return err;
    t->schema = schema;
    t->shown = t->described = shown;
    t->given = t->replacing = given;
    *ret_stored = stored;
    for (uint32_t i = 0; i < t->n_attributes; i++)
        t->attributes[i].schema =
            tape_get(tape_get(schema, STR("properties")), t->attributes[i].name);
    return 0;
}

static int make_pruned(const struct table *t, enum view view, struct arena *arena,
                       const struct tape_node **ret)
{
    const struct tape_node *whole;
    int err = make(t, view, arena, &whole);
    return err < 0 ? err : table_prune_definitions(whole, arena, ret);
}

int table_schemas_view(struct table *t, struct arena *arena)
{
    const struct tape_node *shown, *given, *replacing, *described;
    int err = make_pruned(t, VIEW_SHOWN, arena, &shown);
    if (err == 0)
        err = make_pruned(t, VIEW_GIVEN, arena, &given);
    if (err == 0)
        err = make_pruned(t, VIEW_REPLACING, arena, &replacing);
    if (err == 0)
        err = make_pruned(t, VIEW_DESCRIBED, arena, &described);
    if (err < 0)
        return err;
    t->shown = shown;
    t->given = given;
    t->replacing = replacing;
    t->described = described;
    return 0;
}

/* ---- References ----------------------------------------------------------------------------- */

static bool leads_into_definitions(struct str ref)
{
    return ref.n == 0 || ref.p[0] != '#' || str_starts_with(ref, STR("#/$defs/")) ||
           str_starts_with(ref, STR("#/definitions/"));
}

/* Parts of the schema stand in the schemas of tools, where only its definitions are at their old
 * place. The first reference to another place, or NULL. */
static const struct tape_node *find_lost_reference(const struct tape_node *schema)
{
    const struct tape_node *end = tape_next(schema);
    for (const struct tape_node *at = schema + 1; at + 1 < end; at++)
        if (at->kind == TAPE_STR && str_eq(tape_str(at), STR("$ref")) && at[1].kind == TAPE_STR &&
            !leads_into_definitions(tape_str(at + 1)))
            return at;
    return NULL;
}

static int check_references(const struct table *t, struct schema_faults *faults)
{
    const struct tape_node *lost = find_lost_reference(t->schema);
    if (!lost)
        return 0;
    faults->n = 1;
    schema_fault_locate(&faults->v[0], t->schema, lost);
    return schema_fault_set(&faults->v[0], "$ref", "a reference into #/$defs or #/definitions");
}

/* ---- All ------------------------------------------------------------------------------------ */

static void move_below(struct schema_faults *faults, const char *prefix)
{
    for (uint32_t i = 0; i < faults->n; i++) {
        struct schema_fault *fault = &faults->v[i], inner = *fault;
        int n = snprintf(fault->pointer, sizeof fault->pointer, "%s%s", prefix, inner.pointer);
        if (n >= (int)sizeof fault->pointer)
            strcpy(fault->pointer + sizeof fault->pointer - 4, "...");
    }
}

int table_schemas_make(struct table *t, struct arena *arena, struct schema_faults *faults)
{
    const struct tape_node *stored;
    int err = make_views(t, arena, &stored);
    if (err == 0)
        err = json_schema_compile(stored, NULL, arena, &t->rows, faults);
    if (err == 0)
        err = check_references(t, faults);
    if (err == ERR_PARAMS)
        move_below(faults, "/schema");
    return err;
}
