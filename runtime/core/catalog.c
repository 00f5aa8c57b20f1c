/* core/catalog.c - snapshots of what is offered: when they are made, and how they are found. */
#include "core/catalog.h"

#include "base/err.h"
#include "base/log.h"
#include "core/component.h"
#include "core/core_state.h"
#include "core/table_indexes.h"
#include "core/table_view.h"
#include "wire/key_set.h"

#include <stdlib.h>
#include <string.h>

/* ---- Reading the tables --------------------------------------------------------------------- */

struct reading {
    struct catalog *catalog;
    uint32_t cap;
};

static int add_table(struct reading *r, const struct table *table)
{
    struct catalog *c = r->catalog;
    if (c->n_tables == r->cap) {
        uint32_t cap = r->cap ? 2 * r->cap : 16;
        struct table *tables = arena_array(&c->arena, cap, sizeof *tables);
        if (!tables)
            return ERR_NO_MEMORY;
        if (c->n_tables)
            memcpy(tables, c->tables, c->n_tables * sizeof *tables);
        c->tables = tables;
        r->cap = cap;
    }
    c->tables[c->n_tables++] = *table;
    return 0;
}

/* A definition that cannot be read takes away its table, not the whole catalog. */
static int read_table(void *ctx, const struct store_table *stored)
{
    struct reading *r = ctx;
    struct arena *arena = &r->catalog->arena;
    struct schema_faults faults = {0};
    struct table table;
    int err = table_parse(stored->definition, arena, &table, &faults);
    if (err == ERR_NO_MEMORY)
        return err;
    if (err < 0) {
        log_error("table " STR_FMT "." STR_FMT " is left out, its definition is damaged: %s: %s",
                  STR_ARG(stored->database), STR_ARG(stored->name), faults.v[0].pointer,
                  faults.v[0].expected);
        return 0;
    }
    if (table.is_private)
        return 0;
    table.id = stored->id;
    table.version = stored->version;
    table.database = arena_str(arena, stored->database);
    table.name = arena_str(arena, stored->name);
    table.indexes = table_indexes_copy(stored->indexes, stored->n_indexes, arena);
    table.n_indexes = stored->n_indexes;
    if (!table.database.p || !table.name.p || (table.n_indexes && !table.indexes))
        return ERR_NO_MEMORY;
    return add_table(r, &table);
}

/* ---- Naming the tools ----------------------------------------------------------------------- */

struct naming {
    struct arena *arena;
    const struct offers *offers;
    struct key_set taken;
};

/* 1: added; 0: a table or the tool of a component has it; ERR_NO_MEMORY. */
static int take_name(struct naming *n, struct str name)
{
    for (enum table_verb verb = 0; n->offers && verb < VERB_N; verb++) {
        struct str tool = verb_tool_name(verb, name, n->arena);
        if (!tool.p)
            return ERR_NO_MEMORY;
        if (component_find_tool(n->offers, tool))
            return 0;
    }
    return key_set_add(&n->taken, name);
}

/* The table's own name; if an older table or a component has it, database_table; then with the
 * table's number. */
static int name_tools(struct naming *n, struct table *t)
{
    struct arena *arena = n->arena;
    struct str name = t->name;
    int added = take_name(n, name);
    if (added == 0) {
        name = arena_printf(arena, STR_FMT "_" STR_FMT, STR_ARG(t->database), STR_ARG(t->name));
        if (name.p && name.n > TOOL_NAME_BYTES_MAX)
            name = arena_printf(arena, STR_FMT "_%u", STR_ARG(t->name), t->id);
        added = name.p ? take_name(n, name) : ERR_NO_MEMORY;
    }
    while (added == 0) {
        name = arena_printf(arena, STR_FMT "_%u", STR_ARG(name), t->id);
        added = name.p ? take_name(n, name) : ERR_NO_MEMORY;
    }
    t->tool_name = name;
    return added < 0 ? added : 0;
}

static int compare_id(const void *a, const void *b)
{
    uint32_t one = (*(struct table *const *)a)->id, other = (*(struct table *const *)b)->id;
    return one < other ? -1 : one > other;
}

/* Oldest first, so that a new table never renames the tools of an older one. */
static int name_all(struct catalog *c)
{
    struct naming naming = {.arena = &c->arena, .offers = c->offers};
    int err = 0;
    if (!c->n_tables)
        return 0;
    struct table **by_id = arena_array(&c->arena, c->n_tables, sizeof(struct table *));
    if (!by_id)
        return ERR_NO_MEMORY;
    for (uint32_t i = 0; i < c->n_tables; i++)
        by_id[i] = &c->tables[i];
    qsort(by_id, c->n_tables, sizeof *by_id, compare_id);
    key_set_init(&naming.taken);
    for (uint32_t i = 0; i < c->n_tables && !err; i++)
        err = name_tools(&naming, by_id[i]);
    key_set_done(&naming.taken);
    return err;
}

/* ---- Snapshots ------------------------------------------------------------------------------ */

void catalog_unref(struct catalog *catalog)
{
    if (!catalog || --catalog->refs > 0)
        return;
    if (catalog->base)
        catalog_unref(catalog->base);
    else
        offers_unref(catalog->offers);
    arena_done(&catalog->arena);
    free(catalog);
}

static struct offers *offers_of(const struct core *core)
{
    return core->config.components ? core->config.components->offers : NULL;
}

static struct search_limits limits_of(const struct core *core)
{
    return (struct search_limits){core->config.search_page, core->config.search_max};
}

static int make(struct core *core, struct store_view *view, uint64_t version, struct catalog **ret)
{
    const struct search_limits limits = limits_of(core);
    struct catalog *c = calloc(1, sizeof *c);
    struct reading reading = {.catalog = c};
    if (!c)
        return ERR_NO_MEMORY;
    c->refs = 1;
    c->version = version;
    c->offers = offers_ref(offers_of(core));
    arena_init(&c->arena, CATALOG_BYTES_MAX);
    int err = store_scan_tables(view, read_table, &reading);
    if (err == 0)
        err = name_all(c);
    if (err == 0)
        err = catalog_make_entries(c, &limits, &core->config);
    if (err < 0) {
        catalog_unref(c);
        return err;
    }
    *ret = c;
    return 0;
}

static bool is_current(const struct core *core, uint64_t version)
{
    const struct catalog *c = core->catalog;
    return c && c->version == version && c->offers == offers_of(core);
}

static int refresh(struct core *core)
{
    struct store_view *view;
    uint64_t version;
    struct catalog *fresh = NULL;
    int err = store_view_open(core->store, STORE_DATA, &view);
    if (err < 0)
        return err;
    err = store_catalog_version(view, &version);
    if (err == 0 && !is_current(core, version))
        err = make(core, view, version, &fresh);
    store_view_close(view);
    if (err == 0 && fresh) {
        catalog_forget(core);
        core->catalog = fresh;
    }
    return err;
}

void catalog_forget(struct core *core)
{
    for (int i = 0; i < CATALOG_ROLES_MAX; i++) {
        catalog_unref(core->views[i]);
        core->views[i] = NULL;
    }
    catalog_unref(core->catalog);
    core->catalog = NULL;
}

/* The place of the role's view, else a free one, else that of the one that was not used for the
 * longest. */
static struct catalog **find_place(struct core *core, struct str role_text)
{
    struct catalog **best = &core->views[0];
    for (int i = 0; i < CATALOG_ROLES_MAX; i++) {
        struct catalog **at = &core->views[i];
        if (*at && str_eq((*at)->role_text, role_text))
            return at;
        if (*best && (!*at || (*at)->used < (*best)->used))
            best = at;
    }
    return best;
}

/* The view that was not used for the longest, but this one; NULL: there is no other. */
static struct catalog **find_oldest(struct core *core, const struct catalog *but, size_t *ret_bytes)
{
    struct catalog **oldest = NULL;
    *ret_bytes = 0;
    for (int i = 0; i < CATALOG_ROLES_MAX; i++) {
        struct catalog **at = &core->views[i];
        if (!*at)
            continue;
        *ret_bytes += (*at)->arena.used;
        if (*at != but && (!oldest || (*at)->used < (*oldest)->used))
            oldest = at;
    }
    return oldest;
}

/* All of them together may have as much memory as that of which they are views. */
static void make_room(struct core *core, const struct catalog *newest)
{
    size_t bytes;
    struct catalog **oldest;
    while ((oldest = find_oldest(core, newest, &bytes)) && bytes > CATALOG_BYTES_MAX) {
        catalog_unref(*oldest);
        *oldest = NULL;
    }
}

static int find_view(struct core *core, const struct role *role, struct catalog **ret)
{
    const struct search_limits limits = limits_of(core);
    struct catalog **place = find_place(core, role_text(role)), *fresh;
    if (!*place || !str_eq((*place)->role_text, role_text(role))) {
        int err = catalog_make_view(core->catalog, &limits, role, &fresh);
        if (err < 0)
            return err;
        catalog_unref(*place);
        *place = fresh;
        core->n_views_made++;
        make_room(core, fresh);
    }
    (*place)->used = ++core->n_view_uses;
    *ret = *place;
    return 0;
}

/* Borrowed. */
static int find(struct core *core, const struct access *access, struct catalog **ret)
{
    int err = refresh(core);
    if (err < 0)
        return err;
    if (!role_is_super(access->role))
        return find_view(core, access->role, ret);
    *ret = core->catalog;
    return 0;
}

const struct catalog *catalog_of(struct core *core, const struct access *access)
{
    struct catalog *catalog;
    return find(core, access, &catalog) < 0 ? NULL : catalog;
}

const struct catalog *catalog_now(struct core *core)
{
    return catalog_of(core, access_super());
}

const struct catalog *catalog_of_all(const struct catalog *catalog)
{
    return catalog->base ? catalog->base : catalog;
}

static int use_newest(struct call *call)
{
    struct catalog *newest;
    int err = find(call->core, call->in.access, &newest);
    if (err < 0)
        return err;
    newest->refs++;
    catalog_unref(call->catalog);
    call->catalog = newest;
    return 0;
}

int catalog_use(struct call *call)
{
    return call->catalog ? 0 : use_newest(call);
}

int catalog_renew(struct call *call)
{
    return use_newest(call);
}

/* ---- Finding -------------------------------------------------------------------------------- */

struct table_name {
    struct str database, name;
};

static int compare_table(const void *key, const void *item)
{
    const struct table_name *wanted = key;
    const struct table *table = item;
    int d = str_compare(wanted->database, table->database);
    return d ? d : str_compare(wanted->name, table->name);
}

const struct table *catalog_find_table_for(const struct catalog *catalog,
                                           enum permission permission, struct str database,
                                           struct str name)
{
    struct table_name wanted = {database, name};
    if (!catalog->n_tables)
        return NULL;
    const struct table *found = bsearch(&wanted, catalog->tables, catalog->n_tables,
                                        sizeof *catalog->tables, compare_table);
    return found && table_may(found, permission) ? found : NULL;
}

const struct table *catalog_find_table(const struct catalog *catalog, struct str database,
                                       struct str name)
{
    return catalog_find_table_for(catalog, MAY_READ, database, name);
}

static int compare_tool(const void *key, const void *item)
{
    return str_compare(*(const struct str *)key, ((const struct catalog_tool *)item)->name);
}

const struct catalog_tool *catalog_find_tool(const struct catalog *catalog, struct str name)
{
    if (!catalog->n_tools)
        return NULL;
    return bsearch(&name, catalog->tools, catalog->n_tools, sizeof *catalog->tools, compare_tool);
}

const struct catalog_operation *catalog_find_operation(const struct catalog *catalog,
                                                       struct str name)
{
    for (uint32_t i = 0; i < catalog->n_operations; i++)
        if (str_eq(str_of(catalog->operations[i].operation->name), name))
            return &catalog->operations[i];
    return NULL;
}

/* The first entry whose name sorts behind `after`. */
static uint32_t first_behind(const struct catalog_list *list, struct str after)
{
    uint32_t low = 0, high = after.p ? list->n : 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (str_compare(list->v[middle].name, after) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool catalog_has_entry(const struct catalog *catalog, enum call_profile profile,
                       enum catalog_kind kind, struct str name)
{
    const struct catalog_list *list = &catalog->lists[profile][kind];
    uint32_t behind = name.p ? first_behind(list, name) : 0;
    return behind > 0 && str_eq(list->v[behind - 1].name, name);
}

struct str catalog_write_page(const struct catalog *catalog, enum call_profile profile,
                              enum catalog_kind kind, int revision, struct str after, uint32_t size,
                              struct buf *out)
{
    const struct catalog_list *list = &catalog->lists[profile][kind];
    uint32_t first = first_behind(list, after), i = first;
    size_t start = out->n;
    for (; i < list->n && i - first < size; i++) {
        if (out->n - start + list->v[i].json[revision].n > LIST_BYTES_MAX && i > first)
            break;
        if (i > first)
            buf_add_char(out, ',');
        buf_add_str(out, list->v[i].json[revision]);
    }
    return i < list->n && i > first ? list->v[i - 1].name : STR_NONE;
}
