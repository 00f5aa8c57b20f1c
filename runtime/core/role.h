/* core/role.h - what a role may do: one tree of permissions, and the only place that judges by it.
 *
 *   {"super_user": true}                                    everything
 *   {"databases": {"geo": {"describe": true,                schema and names, of each of its tables
 *      "tables": {"cities": {"read": true, "insert": false, "update": true, "delete": false,
 *                            "describe": true,
 *         "attribute_permissions": [
 *             {"attribute_name": "mayor", "read": false, "insert": false, "update": false}]}}}},
 *    "operations": ["describe_*", "list_*"],                of the operations profile
 *    "tools": ["*"], "prompts": ["*"], "resources": ["*"],  of components, by name or URI
 *    "components": ["books"]}                               all that these offer
 *
 * What is not said is not allowed; "*" as the name of a database or table stands for those that
 * are not named. `read` of a table brings `describe` of it. Where attribute_permissions lists an
 * attribute, only what it says is allowed of that one; attributes that are not listed have what the
 * table has. In lists of names * stands for any characters.
 *
 * Attributes are those of the top of a row, at most ROLE_ATTRIBUTES_MAX of a table; the schema need
 * not name them. Whoever may read a table but not its primary key may at most insert. Operations on
 * structure (create, alter and drop tables and indexes) ask for the operation alone, as do those
 * that show the whole server (read_log, list_sessions); the others look at the role's tables too:
 * describe_* show what may be described, explain_search asks for read, export_table for read and
 * import_table for insert (with replace for update as well) of all attributes.
 *
 * A role is immutable and may be used by any thread.
 */
#ifndef TENON_CORE_ROLE_H
#define TENON_CORE_ROLE_H

#include "base/arena.h"
#include "schema/json_schema.h"

struct role;

enum permission {
    MAY_DESCRIBE,
    MAY_READ,
    MAY_INSERT,
    MAY_UPDATE,
    MAY_DELETE,
    PERMISSIONS,
};

enum offer_kind { OFFER_TOOL, OFFER_PROMPT, OFFER_RESOURCE, OFFER_KINDS };

/* The role that may do everything. Not to be freed. */
const struct role *role_super(void);

/* Reads a tree. 0; ERR_PARSE: no JSON; ERR_PARAMS: not such a tree, or longer than
 * ACCESS_RECORD_BYTES, `faults` say where; ERR_NO_MEMORY. The role lies in the arena. */
int role_parse(struct str text, struct arena *arena, const struct role **ret,
               struct schema_faults *faults);
/* May do what one of these may. NULL: no memory. Those must outlive it. */
const struct role *role_join(const struct role *const *roles, uint32_t n, struct arena *arena);

bool role_is_super(const struct role *role);
/* Roles of one text may do the same. It lives as long as the role. */
struct str role_text(const struct role *role);
bool role_may_table(const struct role *role, struct str database, struct str table,
                    enum permission permission);
/* MAY_READ, MAY_INSERT, MAY_UPDATE; MAY_DESCRIBE: may he know that there is such an attribute, if
 * he may describe the table? */
bool role_may_attribute(const struct role *role, struct str database, struct str table,
                        struct str attribute, enum permission permission);
/* How many attributes the role lists of that table, one for each list it is in; `fn` is told each,
 * if it is not NULL. */
typedef void (*role_attribute_fn)(void *ctx, struct str attribute);
uint32_t role_each_attribute(const struct role *role, struct str database, struct str table,
                             role_attribute_fn fn, void *ctx);
bool role_may_operation(const struct role *role, struct str name);
/* Something that a component registered: by its name (a resource or template: by its URI), or by
 * the component's. */
bool role_may_offer(const struct role *role, enum offer_kind kind, struct str component,
                    struct str name);

#endif
