/* core/access_views.c - what several roles together may: joined once, shared by all who have them.
 *
 * A role that has no record allows nothing: one that a scope stands for may be missing, and so may
 * that of an old record.
 */
#include "core/access_parts.h"

#include "base/err.h"
#include "base/limits.h"

#include <stdlib.h>

void access_view_unref(struct access_view *view)
{
    if (!view || --view->refs)
        return;
    arena_done(&view->arena);
    free(view);
}

void access_views_clear(struct access_views *views)
{
    while (views->first) {
        struct access_view *view = views->first;
        views->first = view->next;
        access_view_unref(view);
    }
    views->n = 0;
}

static int read_role(struct access_look *look, struct access_view *view, struct str name,
                     const struct role **ret)
{
    struct store_access stored;
    struct schema_faults faults = {0};
    int err = store_get_access(look->view, STORE_ROLE, name, look->arena, &stored);
    if (err == 0)
        err = role_parse(stored.record, &view->arena, ret, &faults);
    return err == ERR_PARSE || err == ERR_PARAMS ? ERR_STORE_DAMAGED : err;
}

static int read_roles(struct access_look *look, struct access_view *view, const struct str *names,
                      uint32_t n)
{
    const struct role **roles = arena_array(&view->arena, n + 1, sizeof *roles);
    if (!roles)
        return ERR_NO_MEMORY;
    for (uint32_t i = 0; i < n; i++) {
        int err = read_role(look, view, names[i], &roles[view->n_found]);
        if (err < 0 && err != ERR_ABSENT)
            return err;
        view->n_found += err == 0;
    }
    if (view->n_found == 0) {
        struct schema_faults faults = {0};
        return role_parse(STR("{}"), &view->arena, &view->role, &faults);
    }
    view->role = view->n_found == 1 ? roles[0] : role_join(roles, view->n_found, &view->arena);
    return view->role ? 0 : ERR_NO_MEMORY;
}

static struct str join_names(const struct str *names, uint32_t n, struct arena *arena)
{
    struct buf text = {0};
    for (uint32_t i = 0; i < n; i++) {
        if (i)
            buf_add_char(&text, ' ');
        buf_add_str(&text, names[i]);
    }
    struct str copy = n ? arena_buf(arena, &text) : STR("");
    buf_done(&text);
    return copy;
}

static int make(struct access_look *look, struct str joined, const struct str *names, uint32_t n,
                struct access_view **ret)
{
    struct access_view *view = calloc(1, sizeof *view);
    if (!view)
        return ERR_NO_MEMORY;
    view->refs = 1;
    arena_init(&view->arena, 0);
    view->names = arena_str(&view->arena, joined);
    int err = view->names.p ? read_roles(look, view, names, n) : ERR_NO_MEMORY;
    if (err < 0)
        access_view_unref(view);
    else
        *ret = view;
    return err;
}

static struct access_view *find(const struct access_views *views, struct str names)
{
    struct access_view *view = views->first;
    while (view && !str_eq(view->names, names))
        view = view->next;
    return view;
}

static void keep(struct access_views *views, struct access_view *view)
{
    if (views->n == ACCESS_VIEWS_MAX)
        access_views_clear(views);
    view->refs++;
    view->next = views->first;
    views->first = view;
    views->n++;
}

int access_view_get(struct access_look *look, struct str *names, uint32_t n,
                    struct access_view **ret)
{
    struct access_views *views = &look->accesses->views;
    n = access_sort_names(names, n);
    struct str joined = join_names(names, n, look->arena);
    if (!joined.p)
        return ERR_NO_MEMORY;
    struct access_view *view = find(views, joined);
    if (view) {
        view->refs++;
        *ret = view;
        return 0;
    }
    int err = make(look, joined, names, n, ret);
    if (err == 0)
        keep(views, *ret);
    return err;
}
