/* codegen/resolve.h - what resolve.c and unions.c share; for nobody else. */
#ifndef TENON_CODEGEN_RESOLVE_H
#define TENON_CODEGEN_RESOLVE_H

#include "codegen/model.h"

/* One revision being resolved. */
struct resolver {
    struct model *model;
    struct revision *revision;
    unsigned number;
};

/* Where a schema stands: a member of an object, or a definition (no member). */
struct spot {
    struct str owner, member;
};

struct shape resolve_shape(struct resolver *r, const struct schema *schema, struct spot spot);
/* The same without what the overlay says of the spot. */
struct shape resolve_plain(struct resolver *r, const struct schema *schema, struct spot spot);
/* The shape of a definition, by its name in the model. */
struct shape resolve_definition(struct resolver *r, struct str name, struct place from);
struct str spot_path(struct resolver *r, struct spot spot);
/* The name of what stands there: given by the overlay, or made of owner and member. */
struct str spot_name(struct resolver *r, struct spot spot);
struct statement *resolve_find(struct resolver *r, enum statement_kind kind, struct str path);

struct object *object_make(struct resolver *r, struct str name, struct place place);
/* The object is complete: returns it, or the one of that name, with which it must agree. */
struct object *object_finish(struct resolver *r, struct object *object);
void object_add_field(struct resolver *r, struct object *object, struct field field);

/* The schema's anyOf as one shape. */
struct shape resolve_union(struct resolver *r, const struct schema *schema, struct spot spot);

#endif
