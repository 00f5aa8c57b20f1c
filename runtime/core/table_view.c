/* core/table_view.c - see table_view.h.
 *
 * A role may list attributes that the schema does not name, as rows may have others: the view gets
 * them as attributes that may be anything, so that all that looks at attributes finds them. */
#include "core/table_view.h"

#include "base/err.h"
#include "core/table_parts.h"

#include <string.h>

#define BIT(permission) (1u << (permission))

bool table_may(const struct table *table, enum permission permission)
{
    return table->may >> permission & 1;
}

bool table_may_wholly(const struct table *table, enum permission permission)
{
    return table_may(table, permission) && !(table->cut >> permission & 1);
}

struct viewing {
    const struct table *table;
    const struct role *role;
    struct table *view;
};

static bool may_attribute(const struct viewing *v, struct str attribute, enum permission permission)
{
    return role_may_attribute(v->role, v->table->database, v->table->name, attribute, permission);
}

static uint32_t find_permissions(const struct viewing *v)
{
    struct str key = v->table->attributes[v->table->key].name;
    uint32_t may = 0;
    for (enum permission p = 0; p < PERMISSIONS; p++)
        if (role_may_table(v->role, v->table->database, v->table->name, p))
            may |= BIT(p);
    if (may & BIT(MAY_READ) && !may_attribute(v, key, MAY_READ))
        may &= BIT(MAY_INSERT);
    if (may & BIT(MAY_DESCRIBE) && !may_attribute(v, key, MAY_DESCRIBE))
        may &= ~BIT(MAY_DESCRIBE);
    return may;
}

/* ---- Attributes ----------------------------------------------------------------------------- */

static void limit(struct viewing *v, bool *flag, struct str attribute, enum permission permission)
{
    if (*flag || (table_may(v->view, permission) && may_attribute(v, attribute, permission)))
        return;
    *flag = true;
    v->view->cut |= BIT(permission);
}

/* The primary key never changes, so a row that names it is none that changes it. */
static void limit_attribute(struct viewing *v, struct table_attribute *a, bool is_key)
{
    limit(v, &a->hidden, a->name, MAY_READ);
    limit(v, &a->unknown, a->name, MAY_DESCRIBE);
    if (table_may(v->view, MAY_INSERT))
        limit(v, &a->no_insert, a->name, MAY_INSERT);
    else
        a->no_insert = a->hidden;
    if (is_key)
        a->no_update = false;
    else if (table_may(v->view, MAY_UPDATE))
        limit(v, &a->no_update, a->name, MAY_UPDATE);
    else
        a->no_update = a->hidden;
}

/* Two roles may list the same one: it is there twice then, and both say the same. */
static void add_other(void *ctx, struct str name)
{
    static const struct tape_node anything = {.kind = TAPE_TRUE};
    struct viewing *v = ctx;
    struct table *t = v->view;
    if (!table_find_attribute(v->table, name))
        t->attributes[t->n_attributes++] =
            (struct table_attribute){.name = name, .schema = &anything, .is_other = true};
}

static bool has_others(const struct table *table)
{
    const struct tape_node *more = tape_get(table->schema, STR("additionalProperties"));
    return !more || more->kind != TAPE_FALSE || tape_get(table->schema, STR("patternProperties"));
}

static int copy_attributes(struct viewing *v, struct arena *arena)
{
    const struct table *from = v->table;
    struct table *to = v->view;
    size_t others = role_each_attribute(v->role, from->database, from->name, NULL, NULL);
    to->attributes = arena_array(arena, from->n_attributes + others, sizeof *to->attributes);
    if (!to->attributes)
        return ERR_NO_MEMORY;
    memcpy(to->attributes, from->attributes, from->n_attributes * sizeof *to->attributes);
    for (int i = 0; i < ROLES; i++)
        if (from->by_role[i])
            to->by_role[i] = &to->attributes[from->by_role[i] - from->attributes];
    if (has_others(from))
        role_each_attribute(v->role, from->database, from->name, add_other, v);
    return 0;
}

/* Who may not give what every row must have cannot insert one. */
static int limit_attributes(struct viewing *v, struct arena *arena)
{
    struct table *t = v->view;
    int err = copy_attributes(v, arena);
    if (err < 0)
        return err;
    t->n_hidden = 0;
    for (uint32_t i = 0; i < t->n_attributes; i++) {
        limit_attribute(v, &t->attributes[i], i == t->key);
        t->n_hidden += t->attributes[i].hidden;
        if (t->attributes[i].required && t->attributes[i].no_insert && !t->attributes[i].fill)
            t->may &= ~BIT(MAY_INSERT);
    }
    return 0;
}

/* ---- The table ------------------------------------------------------------------------------ */

/* Of what a role does not do it needs no schemas: many see no more than the names of many tables.
 */
static bool is_limited_by_list(const struct viewing *v)
{
    const struct table *t = v->table;
    uint32_t rows = BIT(MAY_INSERT) | BIT(MAY_UPDATE);
    return role_each_attribute(v->role, t->database, t->name, NULL, NULL) > 0 ||
           (v->view->is_unread && v->view->may & rows);
}

/* A list may have names that the text of the role ends before this view does. */
static int keep_names(const struct table *from, struct table *t, struct arena *arena)
{
    for (uint32_t i = from->n_attributes; i < t->n_attributes; i++) {
        t->attributes[i].name = arena_str(arena, t->attributes[i].name);
        if (!t->attributes[i].name.p)
            return ERR_NO_MEMORY;
    }
    return 0;
}

static int cut(struct viewing *v, struct arena *arena)
{
    struct table *t = v->view;
    int err = limit_attributes(v, arena);
    if (err < 0)
        return err;
    if (!t->cut) {
        uint32_t may = t->may;
        *t = *v->table;
        t->may = may;
        return 0;
    }
    t->is_cut = t->is_filled = true;
    err = keep_names(v->table, t, arena);
    if (err == 0)
        err = table_schemas_view(t, arena);
    return err < 0 ? err : table_pick_columns(t, &v->table->columns, true, arena, &t->columns);
}

int table_view(const struct table *table, const struct role *role, struct arena *arena,
               struct table *ret)
{
    struct table view = *table;
    struct viewing v = {.table = table, .role = role, .view = &view};
    view.may = find_permissions(&v);
    view.is_unread = view.is_cut = !(view.may & BIT(MAY_READ));
    int err = view.may && is_limited_by_list(&v) ? cut(&v, arena) : 0;
    if (err == 0)
        *ret = view;
    return err;
}
