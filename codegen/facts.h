/* codegen/facts.h - questions to a schema of facts, answered on its tree.
 *
 * Just what the diff needs: where a reference leads, which fields an object has when its allOf
 * parts are put together, and a type as one line of text.
 */
#ifndef TENON_CODEGEN_FACTS_H
#define TENON_CODEGEN_FACTS_H

#include "base/json_tree.h"

const struct json *facts_definitions(const struct json *root);
/* The definition's name that `schema` refers to; STR_NONE if it is no reference. */
struct str facts_ref(const struct json *schema);
/* Follows references, aliases too; NULL if one leads nowhere or round in a circle. */
const struct json *facts_resolve(const struct json *root, const struct json *schema);

bool facts_requires(const struct json *schema, struct str name); /* by its own `required` */

struct facts_field {
    struct str name;
    const struct json *type;
    bool required;
    struct facts_field *next;
};

/* The fields of an object, sorted by name, its allOf parts put together (a later part replaces a
 * field of an earlier one). *ret is NULL if it has none. 0 or ERR_NO_MEMORY. */
int facts_fields(const struct json *root, const struct json *schema, struct arena *arena,
                 struct facts_field **ret);
const struct facts_field *facts_find(const struct facts_field *fields, struct str name);

/* The type as text. Without `fields`, an object's own fields are left out: "object". */
void facts_describe(const struct json *schema, bool fields, struct buf *out);

#endif
