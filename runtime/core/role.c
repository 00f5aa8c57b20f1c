/* core/role.c - see role.h. A tree is checked by a schema first, then read into lists that are
 * sorted by name, so that each question is a search by halves.
 *
 * A joined role asks its members one after the other: what one of them grants of a table may be
 * limited by its own list of attributes only, and a list of one says nothing about the grants of
 * another. */
#include "core/role.h"

#include "base/err.h"
#include "core/operations.h"
#include "wire/key_set.h"

#include <stdlib.h>
#include <string.h>

struct name_list {
    struct str *v;
    uint32_t n;
};

/* Each list of rules begins its elements with the name, for find_rule. */
struct attribute_rule {
    struct str name;
    bool may[PERMISSIONS];
};

struct table_rule {
    struct str name;
    bool may[PERMISSIONS];
    struct attribute_rule *attributes;
    uint32_t n_attributes;
};

struct database_rule {
    struct str name;
    bool describes;
    struct table_rule *tables;
    uint32_t n_tables;
};

struct role {
    bool is_super;
    struct str text;
    struct database_rule *databases;
    uint32_t n_databases;
    struct name_list operations, components, offers[OFFER_KINDS];
    const struct role *const *members; /* of a joined one, which has nothing else */
    uint32_t n_members;
};

#define TEXT_(x)    #x
#define TEXT_OF(x)  TEXT_(x)
#define FLAG        "{\"type\":\"boolean\"}"
#define GLOBS       "{\"$ref\":\"#/$defs/globs\"}"
#define NAMES_BEGIN "{\"type\":\"object\",\"propertyNames\":{\"$ref\":\"#/$defs/name\"}"
#define CLOSED      "\"additionalProperties\":false}"

static const char form_text[] =
    "{\"type\":\"object\",\"properties\":{\"super_user\":" FLAG ",\"databases\":" NAMES_BEGIN
    ",\"additionalProperties\":{\"$ref\":\"#/$defs/database\"}},\"operations\":" GLOBS
    ",\"tools\":" GLOBS ",\"prompts\":" GLOBS ",\"resources\":" GLOBS ",\"components\":" GLOBS
    "}," CLOSED;
/* Behind the first brace of form_text. */
static const char form_definitions[] =
    "{\"$defs\":{\"globs\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"minLength\":1,"
    "\"maxLength\":" TEXT_OF(
        ACCESS_NAME_BYTES) "}},"
                           "\"name\":{\"pattern\":\"^([A-Za-z][A-Za-z0-9_]{0,63}|\\\\*)$\"},"
                           "\"database\":{\"type\":\"object\",\"properties\":{\"describe\":" FLAG
                           ",\"tables\":" NAMES_BEGIN
                           ",\"additionalProperties\":{\"$ref\":\"#/$defs/table\"}}}," CLOSED
                           ",\"table\":{\"type\":\"object\",\"properties\":{\"describe\":" FLAG
                           ",\"read\":" FLAG ",\"insert\":" FLAG ",\"update\":" FLAG
                           ",\"delete\":" FLAG
                           ",\"attribute_permissions\":{\"type\":\"array\",\"maxItems\":" TEXT_OF(
                               ROLE_ATTRIBUTES_MAX) ",\"items\":{\"$ref\":\"#/"
                                                    "$defs/attribute\"}}}," CLOSED
                                                    ",\"attribute\":{\"type\":\"object\","
                                                    "\"properties\":{\"attribute_name\":"
                                                    "{\"type\":"
                                                    "\"string\",\"pattern\":\"^[A-Za-z][A-Za-z0-9_]"
                                                    "{0,63}$\"},\"read\":" FLAG ",\"insert\":" FLAG
                                                    ",\"update\":" FLAG
                                                    "},\"required\":[\"attribute_name\"]," CLOSED
                                                    "},";
static const char *const permission_names[PERMISSIONS] = {
    [MAY_DESCRIBE] = "describe", [MAY_READ] = "read",     [MAY_INSERT] = "insert",
    [MAY_UPDATE] = "update",     [MAY_DELETE] = "delete",
};
static const char *const offer_names[OFFER_KINDS] = {
    [OFFER_TOOL] = "tools",
    [OFFER_PROMPT] = "prompts",
    [OFFER_RESOURCE] = "resources",
};

/* ---- Checking the form ---------------------------------------------------------------------- */

static int open_text(struct str text, struct arena *arena, const struct tape_node **ret,
                     struct schema_faults *faults)
{
    struct wire_fault wire = {0};
    char *copy = arena_zalloc(arena, (size_t)text.n + JSON_PADDING_BYTES);
    if (!copy)
        return ERR_NO_MEMORY;
    if (text.n)
        memcpy(copy, text.p, text.n);
    int err = tape_open((struct str){copy, text.n}, arena, ret, &wire);
    if (err == ERR_PARSE || err == ERR_PARAMS) {
        faults->n = 1;
        memcpy(faults->v[0].pointer, wire.pointer, sizeof faults->v[0].pointer);
        schema_fault_set(&faults->v[0], wire_reason_name(wire.reason), "%s", wire.expected);
    }
    return err;
}

/* The form's own compiled schema is needed for the moment only. */
static int check_form(const struct tape_node *tree, struct schema_faults *faults)
{
    struct arena scratch;
    const struct tape_node *form;
    const struct json_schema *schema;
    arena_init(&scratch, 0);
    struct str text = arena_printf(&scratch, "%s%s", form_definitions, form_text + 1);
    int err = text.p ? open_text(text, &scratch, &form, faults) : ERR_NO_MEMORY;
    if (err == 0)
        err = json_schema_compile(form, NULL, &scratch, &schema, faults);
    if (err == 0)
        err = json_schema_check(schema, tree, faults);
    arena_done(&scratch);
    return err;
}

/* ---- Reading -------------------------------------------------------------------------------- */

static bool is_true(const struct tape_node *object, struct str name)
{
    const struct tape_node *value = tape_get(object, name);
    return value && value->kind == TAPE_TRUE;
}

static int by_name(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

static int read_names(const struct tape_node *tree, struct str member, struct arena *arena,
                      struct name_list *ret)
{
    const struct tape_node *list = tape_get(tree, member), *item = list ? list + 1 : NULL;
    if (!list || list->n == 0)
        return 0;
    ret->v = arena_array(arena, list->n, sizeof *ret->v);
    if (!ret->v)
        return ERR_NO_MEMORY;
    for (; ret->n < list->n; item = tape_next(item))
        ret->v[ret->n++] = tape_str(item);
    return 0;
}

static void read_permissions(const struct tape_node *said, bool *may)
{
    for (enum permission p = 0; p < PERMISSIONS; p++)
        may[p] = is_true(said, str_of(permission_names[p]));
    may[MAY_DESCRIBE] |= may[MAY_READ];
}

static int fail_twice(const struct tape_node *tree, const struct tape_node *name,
                      struct schema_faults *faults)
{
    faults->n = 1;
    schema_fault_locate(&faults->v[0], tree, name);
    return schema_fault_set(&faults->v[0], "uniqueItems", "each attribute once");
}

static int read_attribute(const struct tape_node *tree, const struct tape_node *said,
                          struct key_set *seen, struct table_rule *rule,
                          struct schema_faults *faults)
{
    const struct tape_node *name = tape_get(said, STR("attribute_name"));
    struct attribute_rule *attribute = &rule->attributes[rule->n_attributes++];
    attribute->name = tape_str(name);
    read_permissions(said, attribute->may);
    int added = key_set_add(seen, attribute->name);
    return added > 0 ? 0 : added < 0 ? added : fail_twice(tree, name, faults);
}

static int read_attributes(const struct tape_node *tree, const struct tape_node *said,
                           struct arena *arena, struct table_rule *rule,
                           struct schema_faults *faults)
{
    const struct tape_node *list = tape_get(said, STR("attribute_permissions"));
    const struct tape_node *item = list ? list + 1 : NULL;
    struct key_set seen;
    int err = 0;
    if (!list || list->n == 0)
        return 0;
    rule->attributes = arena_array(arena, list->n, sizeof *rule->attributes);
    if (!rule->attributes)
        return ERR_NO_MEMORY;
    key_set_init(&seen);
    for (uint32_t i = 0; i < list->n && err == 0; i++, item = tape_next(item))
        err = read_attribute(tree, item, &seen, rule, faults);
    key_set_done(&seen);
    qsort(rule->attributes, rule->n_attributes, sizeof *rule->attributes, by_name);
    return err;
}

static int read_tables(const struct tape_node *tree, const struct tape_node *said,
                       struct arena *arena, struct database_rule *rule,
                       struct schema_faults *faults)
{
    const struct tape_node *tables = tape_get(said, STR("tables"));
    int err = 0;
    if (!tables || tables->n == 0)
        return 0;
    rule->tables = arena_zalloc(arena, tables->n * sizeof *rule->tables);
    if (!rule->tables)
        return ERR_NO_MEMORY;
    tape_each (tables, name, value) {
        struct table_rule *table = &rule->tables[rule->n_tables++];
        table->name = tape_str(name);
        read_permissions(value, table->may);
        table->may[MAY_DESCRIBE] |= rule->describes;
        if ((err = read_attributes(tree, value, arena, table, faults)) < 0)
            return err;
    }
    qsort(rule->tables, rule->n_tables, sizeof *rule->tables, by_name);
    return 0;
}

static int read_databases(const struct tape_node *tree, struct arena *arena, struct role *role,
                          struct schema_faults *faults)
{
    const struct tape_node *databases = tape_get(tree, STR("databases"));
    int err = 0;
    if (!databases || databases->n == 0)
        return 0;
    role->databases = arena_zalloc(arena, databases->n * sizeof *role->databases);
    if (!role->databases)
        return ERR_NO_MEMORY;
    tape_each (databases, name, value) {
        struct database_rule *database = &role->databases[role->n_databases++];
        database->name = tape_str(name);
        database->describes = is_true(value, STR("describe"));
        if ((err = read_tables(tree, value, arena, database, faults)) < 0)
            return err;
    }
    qsort(role->databases, role->n_databases, sizeof *role->databases, by_name);
    return 0;
}

static int read_tree(const struct tape_node *tree, struct arena *arena, struct role *role,
                     struct schema_faults *faults)
{
    role->is_super = is_true(tree, STR("super_user"));
    int err = read_databases(tree, arena, role, faults);
    for (enum offer_kind kind = 0; kind < OFFER_KINDS && err == 0; kind++)
        err = read_names(tree, str_of(offer_names[kind]), arena, &role->offers[kind]);
    if (err == 0)
        err = read_names(tree, STR("operations"), arena, &role->operations);
    if (err == 0)
        err = read_names(tree, STR("components"), arena, &role->components);
    return err;
}

static int fail_too_long(struct schema_faults *faults)
{
    faults->n = 1;
    faults->v[0].pointer[0] = '\0';
    return schema_fault_set(&faults->v[0], "length", "at most %u bytes", ACCESS_RECORD_BYTES);
}

int role_parse(struct str text, struct arena *arena, const struct role **ret,
               struct schema_faults *faults)
{
    const struct tape_node *tree;
    struct role *role;
    if (text.n > ACCESS_RECORD_BYTES)
        return fail_too_long(faults);
    int err = open_text(text, arena, &tree, faults);
    if (err == 0)
        err = check_form(tree, faults);
    if (err < 0)
        return err;
    role = arena_zalloc(arena, sizeof *role);
    if (!role || !(role->text = arena_str(arena, text)).p)
        return ERR_NO_MEMORY;
    err = read_tree(tree, arena, role, faults);
    if (err == 0)
        *ret = role;
    return err;
}

/* ---- Whole roles ---------------------------------------------------------------------------- */

const struct role *role_super(void)
{
    static const struct role super = {.is_super = true, .text = STR_INIT("{\"super_user\":true}")};
    return &super;
}

const struct role *role_join(const struct role *const *roles, uint32_t n, struct arena *arena)
{
    struct role *role = arena_zalloc(arena, sizeof *role);
    const struct role **members = arena_array(arena, (size_t)n + 1, sizeof *members);
    struct buf text = {0};
    if (!role || !members)
        return NULL;
    for (uint32_t i = 0; i < n; i++) {
        members[i] = roles[i];
        role->is_super |= roles[i]->is_super;
        buf_add_str(&text, roles[i]->text);
        buf_add_char(&text, '\n');
    }
    role->members = members;
    role->n_members = n;
    role->text = n ? arena_buf(arena, &text) : STR("");
    buf_done(&text);
    return role->text.p ? role : NULL;
}

bool role_is_super(const struct role *role)
{
    return role->is_super;
}

struct str role_text(const struct role *role)
{
    return role->is_super ? role_super()->text : role->text;
}

/* ---- May he? -------------------------------------------------------------------------------- */

/* Of a list of rules that is sorted by the name each begins with. */
static const void *find_rule(const void *rules, uint32_t n, size_t size, struct str name)
{
    return n ? bsearch(&name, rules, n, size, by_name) : NULL;
}

static const void *find_or_any(const void *rules, uint32_t n, size_t size, struct str name)
{
    const void *rule = find_rule(rules, n, size, name);
    return rule ? rule : find_rule(rules, n, size, STR("*"));
}

static const struct database_rule *find_database(const struct role *role, struct str database)
{
    return find_or_any(role->databases, role->n_databases, sizeof *role->databases, database);
}

static const struct table_rule *find_table(const struct database_rule *database, struct str table)
{
    return find_or_any(database->tables, database->n_tables, sizeof *database->tables, table);
}

static bool may_table(const struct role *role, struct str database, struct str table,
                      enum permission permission)
{
    const struct database_rule *in = find_database(role, database);
    const struct table_rule *rule = in ? find_table(in, table) : NULL;
    if (rule)
        return rule->may[permission];
    return in && in->describes && permission == MAY_DESCRIBE;
}

bool role_may_table(const struct role *role, struct str database, struct str table,
                    enum permission permission)
{
    bool may = role->is_super || may_table(role, database, table, permission);
    for (uint32_t i = 0; i < role->n_members && !may; i++)
        may = role_may_table(role->members[i], database, table, permission);
    return may;
}

static bool may_attribute(const struct role *role, struct str database, struct str table,
                          struct str attribute, enum permission permission)
{
    const struct database_rule *in = find_database(role, database);
    const struct table_rule *rule = in ? find_table(in, table) : NULL;
    const struct attribute_rule *of =
        rule ? find_rule(rule->attributes, rule->n_attributes, sizeof *rule->attributes, attribute)
             : NULL;
    enum permission needed = permission == MAY_DESCRIBE ? MAY_READ : permission;
    return may_table(role, database, table, permission) && (!of || of->may[needed]);
}

bool role_may_attribute(const struct role *role, struct str database, struct str table,
                        struct str attribute, enum permission permission)
{
    bool may = role->is_super || may_attribute(role, database, table, attribute, permission);
    for (uint32_t i = 0; i < role->n_members && !may; i++)
        may = role_may_attribute(role->members[i], database, table, attribute, permission);
    return may;
}

uint32_t role_each_attribute(const struct role *role, struct str database, struct str table,
                             role_attribute_fn fn, void *ctx)
{
    const struct database_rule *in = find_database(role, database);
    const struct table_rule *rule = in ? find_table(in, table) : NULL;
    uint32_t n = rule ? rule->n_attributes : 0;
    for (uint32_t i = 0; i < n && fn; i++)
        fn(ctx, rule->attributes[i].name);
    for (uint32_t i = 0; i < role->n_members; i++)
        n += role_each_attribute(role->members[i], database, table, fn, ctx);
    return n;
}

static bool fits(const struct name_list *globs, struct str name)
{
    for (uint32_t i = 0; i < globs->n; i++)
        if (operation_glob(globs->v[i], name))
            return true;
    return false;
}

bool role_may_operation(const struct role *role, struct str name)
{
    bool may = role->is_super || (fits(&role->operations, name) && !operation_is_of_access(name));
    for (uint32_t i = 0; i < role->n_members && !may; i++)
        may = role_may_operation(role->members[i], name);
    return may;
}

bool role_may_offer(const struct role *role, enum offer_kind kind, struct str component,
                    struct str name)
{
    bool may =
        role->is_super || fits(&role->components, component) || fits(&role->offers[kind], name);
    for (uint32_t i = 0; i < role->n_members && !may; i++)
        may = role_may_offer(role->members[i], kind, component, name);
    return may;
}
