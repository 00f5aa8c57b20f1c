/* core/follow_may.c - may a session still read what it subscribed to?
 *
 * Asked for each notice, when it is about to be told: roles change while subscriptions stand. It is
 * the same answer that resources/subscribe gets, and of a table that is gone the one that it would
 * get if the table were there: that it went is told to whoever might read it.
 */
#include "core/follow_parts.h"

#include "base/err.h"
#include "core/catalog.h"
#include "core/component.h"

static bool may_table(const struct catalog *catalog, const struct role *role,
                      const struct watched *w)
{
    if (!role_may_table(role, w->database, w->name, MAY_READ))
        return false;
    bool is_there = catalog_find_table(catalog_of_all(catalog), w->database, w->name);
    return !is_there || catalog_find_table(catalog, w->database, w->name);
}

static int may_component(const struct catalog *catalog, struct str uri, bool *ret)
{
    const struct component_resource *resource;
    const struct template_value *values;
    struct arena arena;
    arena_init(&arena, 0);
    int err = component_find_resource(catalog->offers, uri, &arena, &resource, &values);
    arena_done(&arena);
    *ret = err == 0;
    return err == ERR_ABSENT ? 0 : err;
}

int interest_may_be_told(const struct interest *i, bool *ret)
{
    const struct reader *r = i->follower->reader;
    *ret = !r || role_is_super(r->access->role);
    if (*ret)
        return 0;
    const struct catalog *catalog = catalog_of(i->follower->follows->core, r->access);
    if (!catalog)
        return ERR_NO_MEMORY;
    if (!i->table)
        return may_component(catalog, i->uri, ret);
    *ret = may_table(catalog, r->access->role, i->table);
    return 0;
}
