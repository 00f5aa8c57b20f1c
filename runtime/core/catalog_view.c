/* core/catalog_view.c - the snapshot of a role: a view of a super user's.
 *
 * It takes over each list entry, tool and table that the role may have, which costs a copy of their
 * pointers. Only tools of tables of which it sees less (core/table_view.h) are made anew. */
#include "core/catalog.h"

#include "base/err.h"
#include "core/component.h"
#include "core/table_view.h"

#include <stdlib.h>

struct viewing {
    struct catalog *base, *view;
    const struct role *role;
    uint32_t *places; /* of each table of base: from 1 among the view's; 0: it is not there */
};

static const enum offer_kind offer_kinds[CATALOG_KINDS] = {
    [CATALOG_TOOLS] = OFFER_TOOL,
    [CATALOG_RESOURCES] = OFFER_RESOURCE,
    [CATALOG_TEMPLATES] = OFFER_RESOURCE,
    [CATALOG_PROMPTS] = OFFER_PROMPT,
};

/* ---- Tables --------------------------------------------------------------------------------- */

static int view_tables(struct viewing *v)
{
    struct arena *arena = &v->view->arena;
    uint32_t n = v->base->n_tables;
    int err = 0;
    v->view->tables = arena_array(arena, (size_t)n + 1, sizeof *v->view->tables);
    v->places = arena_zalloc(arena, ((size_t)n + 1) * sizeof *v->places);
    if (!v->view->tables || !v->places)
        return ERR_NO_MEMORY;
    for (uint32_t i = 0; i < n && err == 0; i++) {
        struct table *to = &v->view->tables[v->view->n_tables];
        err = table_view(&v->base->tables[i], v->role, arena, to);
        if (err == 0 && to->may)
            v->places[i] = ++v->view->n_tables;
    }
    return err;
}

/* Of the base's table with this number, from 1; NULL: the role has none. */
static const struct table *table_at(const struct viewing *v, uint32_t number)
{
    uint32_t place = v->places[number - 1];
    return place ? &v->view->tables[place - 1] : NULL;
}

/* ---- What components offer ------------------------------------------------------------------ */

static bool may_offer(const struct viewing *v, enum offer_kind kind, struct str component,
                      struct str name)
{
    return role_may_offer(v->role, kind, component, name);
}

static int view_resources(struct viewing *v, const struct component_resource *from, uint32_t n,
                          struct component_resource **ret, uint32_t *ret_n)
{
    *ret = arena_array(&v->view->arena, (size_t)n + 1, sizeof **ret);
    if (!*ret)
        return ERR_NO_MEMORY;
    for (uint32_t i = 0; i < n; i++)
        if (may_offer(v, OFFER_RESOURCE, from[i].component, from[i].uri))
            (*ret)[(*ret_n)++] = from[i];
    return 0;
}

static int view_tools_of_components(struct viewing *v, const struct offers *from, struct offers *to)
{
    to->tools = arena_array(&v->view->arena, (size_t)from->n_tools + 1, sizeof *to->tools);
    if (!to->tools)
        return ERR_NO_MEMORY;
    for (uint32_t i = 0; i < from->n_tools; i++)
        if (may_offer(v, OFFER_TOOL, from->tools[i].component, from->tools[i].name))
            to->tools[to->n_tools++] = from->tools[i];
    return 0;
}

static int view_prompts(struct viewing *v, const struct offers *from, struct offers *to)
{
    to->prompts = arena_array(&v->view->arena, (size_t)from->n_prompts + 1, sizeof *to->prompts);
    if (!to->prompts)
        return ERR_NO_MEMORY;
    for (uint32_t i = 0; i < from->n_prompts; i++)
        if (may_offer(v, OFFER_PROMPT, from->prompts[i].component, from->prompts[i].name))
            to->prompts[to->n_prompts++] = from->prompts[i];
    return 0;
}

/* They are the base's, whose reference to the whole of them serves for both. */
static int view_offers(struct viewing *v)
{
    const struct offers *from = v->base->offers;
    struct offers *to = from ? arena_zalloc(&v->view->arena, sizeof *to) : NULL;
    if (!from)
        return 0;
    if (!to)
        return ERR_NO_MEMORY;
    to->version = from->version;
    v->view->offers = to;
    int err = view_tools_of_components(v, from, to);
    if (err == 0)
        err = view_prompts(v, from, to);
    if (err == 0)
        err =
            view_resources(v, from->resources, from->n_resources, &to->resources, &to->n_resources);
    if (err == 0)
        err =
            view_resources(v, from->templates, from->n_templates, &to->templates, &to->n_templates);
    return err;
}

/* ---- Tools and operations ------------------------------------------------------------------- */

static int view_tools(struct viewing *v)
{
    const struct catalog *base = v->base;
    struct catalog *view = v->view;
    view->tools = arena_array(&view->arena, (size_t)base->n_tools + 1, sizeof *view->tools);
    if (!view->tools)
        return ERR_NO_MEMORY;
    for (uint32_t i = 0; i < base->n_tools; i++) {
        const struct catalog_tool *from = &base->tools[i];
        const struct table *table = table_at(v, (uint32_t)(from->table - base->tables) + 1);
        if (!table || table->is_cut || !table_may(table, verb_permission(from->verb)))
            continue;
        view->tools[view->n_tools] = *from;
        view->tools[view->n_tools++].table = table;
    }
    return 0;
}

static int make_cut_tools(struct viewing *v, const struct search_limits *limits)
{
    int err = 0;
    for (uint32_t i = 1; i <= v->base->n_tables && err == 0; i++) {
        const struct table *table = table_at(v, i);
        if (table && table->is_cut)
            err = catalog_make_tools(v->view, limits, table, i);
    }
    catalog_sort_tools(v->view);
    return err;
}

static int view_operations(struct viewing *v)
{
    const struct catalog *base = v->base;
    struct catalog *view = v->view;
    view->operations =
        arena_array(&view->arena, (size_t)base->n_operations + 1, sizeof *view->operations);
    if (!view->operations)
        return ERR_NO_MEMORY;
    for (uint32_t i = 0; i < base->n_operations; i++)
        if (role_may_operation(v->role, str_of(base->operations[i].operation->name)))
            view->operations[view->n_operations++] = base->operations[i];
    return 0;
}

/* ---- Lists ---------------------------------------------------------------------------------- */

static bool has_entry(const struct viewing *v, enum call_profile profile, enum catalog_kind kind,
                      const struct catalog_entry *entry)
{
    const struct table *table = entry->table ? table_at(v, entry->table) : NULL;
    bool is_tool = kind == CATALOG_TOOLS;
    if (entry->component.p)
        return may_offer(v, offer_kinds[kind], entry->component, entry->name);
    if (entry->table)
        return table && table_may(table, entry->needs) && !(is_tool && table->is_cut);
    return !is_tool || profile != PROFILE_OPERATIONS || role_may_operation(v->role, entry->name);
}

static int view_list(struct viewing *v, enum call_profile profile, enum catalog_kind kind)
{
    const struct catalog_list *from = &v->base->lists[profile][kind];
    struct catalog_list *to = &v->view->lists[profile][kind];
    to->v = arena_array(&v->view->arena, (size_t)from->n + 1, sizeof *to->v);
    if (!to->v)
        return ERR_NO_MEMORY;
    for (uint32_t i = 0; i < from->n; i++)
        if (has_entry(v, profile, kind, &from->v[i]))
            to->v[to->n++] = from->v[i];
    return 0;
}

static int view_lists(struct viewing *v)
{
    int err = 0;
    for (int i = 0; i < 2 * CATALOG_KINDS && err == 0; i++)
        err = view_list(v, i / CATALOG_KINDS, i % CATALOG_KINDS);
    return err;
}

/* ---- All ------------------------------------------------------------------------------------ */

static int fill(struct viewing *v, const struct search_limits *limits)
{
    v->view->role_text = arena_str(&v->view->arena, role_text(v->role));
    int err = v->view->role_text.p ? view_tables(v) : ERR_NO_MEMORY;
    if (err == 0)
        err = view_offers(v);
    if (err == 0)
        err = view_tools(v);
    if (err == 0)
        err = view_operations(v);
    if (err == 0)
        err = view_lists(v);
    return err < 0 ? err : make_cut_tools(v, limits);
}

int catalog_make_view(struct catalog *base, const struct search_limits *limits,
                      const struct role *role, struct catalog **ret)
{
    struct catalog *view = calloc(1, sizeof *view);
    struct viewing v = {.base = base, .view = view, .role = role};
    if (!view)
        return ERR_NO_MEMORY;
    view->refs = 1;
    view->base = base;
    base->refs++;
    view->version = base->version;
    arena_init(&view->arena, CATALOG_BYTES_MAX);
    int err = fill(&v, limits);
    if (err < 0)
        catalog_unref(view);
    else
        *ret = view;
    return err;
}
