/* core/table_view.h - a table as a role sees it.
 *
 * What the role may not read does not exist for it: not in schemas, rows, filters, orders or the
 * texts of errors. What it may not insert or update has no place in what it gives. A table that it
 * may not read at all, but insert into or update, shows nothing of its rows. Without the primary
 * key a row cannot be addressed: who may read the table but not its key may at most insert.
 */
#ifndef TENON_CORE_TABLE_VIEW_H
#define TENON_CORE_TABLE_VIEW_H

#include "core/role.h"
#include "core/table.h"

/* *ret shares with `table` what is the same, and has the rest in `arena`; ret->may is 0 if the role
 * may do nothing with it. 0 or ERR_NO_MEMORY. */
int table_view(const struct table *table, const struct role *role, struct arena *arena,
               struct table *ret);
bool table_may(const struct table *table, enum permission permission);
/* ... with all attributes that clients know. */
bool table_may_wholly(const struct table *table, enum permission permission);

#endif
