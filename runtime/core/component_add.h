/* core/component_add.h - what registering a tool, a resource or a prompt has in common; inside
 * core/component*.c only.
 *
 * All return what tenon_add_x returns; the first fault is kept in tenon->fault. */
#ifndef TENON_CORE_COMPONENT_ADD_H
#define TENON_CORE_COMPONENT_ADD_H

#include "core/component.h"
#include "generated/edges.h"

/* "kind NAME: what" */
int component_add_refuse(struct tenon *tenon, const char *kind, const char *name, struct str what);
int component_add_no_memory(struct tenon *tenon);
/* 1 to 128 of A-Z a-z 0-9 _ . - */
bool component_is_name(const char *name);
/* Will it be written as every negotiable revision has it? */
int component_add_check(struct tenon *tenon, enum mcp_definition definition, const void *value,
                        const char *kind, const char *name);

/* A copy in the offers' arena; absent for NULL. */
struct str component_add_text(struct tenon *tenon, const char *text);
/* Each of the `n` that is there has its copy. */
bool component_are_copied(const struct str *copies, const char *const *from, size_t n);
/* The array at `v` with room for one more; NULL: no memory. */
void *component_add_room(struct tenon *tenon, void *v, uint32_t n, uint32_t *cap, size_t size);

#define COMPONENT_SET_IF(object, member, text) \
    do {                                       \
        if ((text).p)                          \
            MCP_SET(object, member, (text));   \
    } while (0)

/* They register again what an entry of older offers was registered with. */
int component_keep_tools(struct tenon *tenon, const struct offers *from, struct str component);
int component_keep_resources(struct tenon *tenon, const struct offers *from, struct str component);
int component_keep_templates(struct tenon *tenon, const struct offers *from, struct str component);
int component_keep_prompts(struct tenon *tenon, const struct offers *from, struct str component);

#endif
