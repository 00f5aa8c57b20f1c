/* core/component.c - the engine of components and the life of what they offer; see component.h. */
#include "core/component.h"

#include "base/err.h"
#include "base/limits.h"
#include "core/component_add.h"
#include "core/list_changed.h"
#include "core/store.h"
#include "core/table_tools.h"

#include <stdlib.h>

/* ---- Offers --------------------------------------------------------------------------------- */

struct offers_end {
    struct offers_end *next;
    void (*end)(void *ctx);
    void *ctx;
};

static struct offers *new_offers(uint64_t version)
{
    struct offers *offers = calloc(1, sizeof *offers);
    if (!offers)
        return NULL;
    offers->refs = 1;
    offers->version = version;
    arena_init(&offers->arena, CATALOG_BYTES_MAX);
    return offers;
}

struct offers *offers_ref(struct offers *offers)
{
    if (offers)
        offers->refs++;
    return offers;
}

void offers_unref(struct offers *offers)
{
    if (!offers || --offers->refs > 0)
        return;
    for (struct offers_end *e = offers->ends; e; e = e->next)
        e->end(e->ctx);
    arena_done(&offers->arena);
    free(offers);
}

int components_at_end(struct tenon *tenon, void (*end)(void *ctx), void *ctx)
{
    struct offers *into = tenon->into;
    struct offers_end *e = arena_alloc(&into->arena, sizeof *e);
    if (!e)
        return ERR_NO_MEMORY;
    *e = (struct offers_end){into->ends, end, ctx};
    into->ends = e;
    return 0;
}

/* ---- The engine ----------------------------------------------------------------------------- */

int components_new(struct tenon **ret)
{
    struct tenon *tenon = calloc(1, sizeof *tenon);
    struct offers *offers = new_offers(1);
    if (!tenon || !offers) {
        free(tenon);
        offers_unref(offers);
        return ERR_NO_MEMORY;
    }
    tenon->offers = tenon->into = offers;
    arena_init(&tenon->arena, 0);
    pthread_mutex_init(&tenon->mutex, NULL);
    pthread_cond_init(&tenon->answered, NULL);
    tenon->calls.last = &tenon->calls.first;
    *ret = tenon;
    return 0;
}

void components_free(struct tenon *tenon)
{
    if (!tenon)
        return;
    pthread_cond_destroy(&tenon->answered);
    pthread_mutex_destroy(&tenon->mutex);
    offers_unref(tenon->offers);
    arena_done(&tenon->arena);
    free(tenon);
}

/* ---- Registering ---------------------------------------------------------------------------- */

int components_fill(struct tenon *tenon, struct str component,
                    int (*fill)(struct tenon *tenon, void *ctx), void *ctx)
{
    tenon->component = arena_str(&tenon->into->arena, component);
    if (!tenon->component.p)
        return ERR_NO_MEMORY;
    int failed = fill(tenon, ctx);
    tenon->component = STR_NONE;
    if (failed && !tenon->fault.p)
        tenon->fault = arena_printf(&tenon->arena, "tenon_component returned %d: %s", failed,
                                    failed < 0 ? tenon_err_text(failed) : "expected 0");
    return tenon->fault.p || failed ? ERR_PARAMS : 0;
}

struct entry {
    int (*entry)(struct tenon *tenon);
};

static int enter(struct tenon *tenon, void *ctx)
{
    const struct entry *e = ctx;
    return e->entry(tenon);
}

int components_add(struct tenon *tenon, struct str component, int (*entry)(struct tenon *tenon))
{
    struct entry e = {entry};
    return components_fill(tenon, component, enter, &e);
}

struct keeping {
    const struct offers *from;
    struct str component;
};

static int keep_all(struct tenon *tenon, void *ctx)
{
    const struct keeping *k = ctx;
    int err = component_keep_tools(tenon, k->from, k->component);
    if (err == 0)
        err = component_keep_resources(tenon, k->from, k->component);
    if (err == 0)
        err = component_keep_templates(tenon, k->from, k->component);
    if (err == 0)
        err = component_keep_prompts(tenon, k->from, k->component);
    return err;
}

int components_keep(struct tenon *tenon, struct str component)
{
    struct keeping k = {tenon->offers, component};
    return components_fill(tenon, component, keep_all, &k);
}

static void use(struct tenon *tenon, struct offers *offers)
{
    offers_unref(tenon->offers);
    tenon->offers = offers;
    if (tenon->core)
        list_changed_check(tenon->core);
}

int components_remake(struct tenon *tenon, int (*make)(struct tenon *tenon, void *ctx), void *ctx)
{
    struct offers *fresh = new_offers(tenon->offers->version + 1);
    if (!fresh)
        return ERR_NO_MEMORY;
    tenon->fault = STR_NONE;
    arena_reset(&tenon->arena);
    tenon->into = fresh;
    int err = make(tenon, ctx);
    if (err >= 0 && tenon->fault.p)
        err = ERR_PARAMS;
    tenon->into = tenon->offers;
    if (err < 0) {
        offers_unref(fresh);
        return err;
    }
    tenon->into = fresh;
    use(tenon, fresh);
    return 0;
}

/* ---- Names of tables ------------------------------------------------------------------------ */

struct table_check {
    struct tenon *tenon;
    struct arena arena;
};

/* One that no client sees has no tools. */
static bool is_private(const struct store_table *stored, struct arena *arena)
{
    struct schema_faults faults;
    struct table table;
    return table_parse(stored->definition, arena, &table, &faults) == 0 && table.is_private;
}

static int check_table(void *ctx, const struct store_table *table)
{
    struct table_check *check = ctx;
    struct tenon *tenon = check->tenon;
    for (enum table_verb verb = 0; verb < VERB_N; verb++) {
        struct str name = verb_tool_name(verb, table->name, &check->arena);
        const struct component_tool *tool =
            name.p ? component_find_tool(tenon->offers, name) : NULL;
        if (!name.p)
            return ERR_NO_MEMORY;
        if (!tool || is_private(table, &check->arena))
            continue;
        tenon->fault = arena_printf(&tenon->arena,
                                    STR_FMT ": tool " STR_FMT ": the table " STR_FMT "." STR_FMT
                                            " has a tool of this name",
                                    STR_ARG(tool->component), STR_ARG(name),
                                    STR_ARG(table->database), STR_ARG(table->name));
        return ERR_EXISTS;
    }
    arena_reset(&check->arena);
    return 0;
}

int components_check_tables(struct tenon *tenon, struct store *store)
{
    struct table_check check = {.tenon = tenon};
    struct store_view *view;
    int err = store_view_open(store, STORE_DATA, &view);
    if (err < 0)
        return err;
    arena_init(&check.arena, 0);
    err = store_scan_tables(view, check_table, &check);
    arena_done(&check.arena);
    store_view_close(view);
    return err;
}
