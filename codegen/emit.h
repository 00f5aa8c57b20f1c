/* codegen/emit.h - the emitters: each appends the text of its files to a list, nothing is written
 * before all of them are done.
 */
#ifndef TENON_CODEGEN_EMIT_H
#define TENON_CODEGEN_EMIT_H

#include "codegen/model.h"
#include "codegen/out.h"

void emit_types(const struct model *model, struct out *out);
void emit_tables(const struct model *model, struct out *out);
void emit_edges(const struct model *model, struct out *out);
void emit_methods(const struct model *model, struct out *out);
void emit_dispatch(const struct model *model, struct out *out);
void emit_golden(const struct model *model, struct out *out);
void emit_manifest(const struct model *model, const char *sources_dir, struct out *out);

/* C expressions of the tables, used by several emitters. */
struct str table_name(struct arena *arena, const struct model *model, const struct object *object);
/* `{WIRE_OBJECT, .of.message = &mcp_2025_06_18_tool}` */
void add_wire_type(const struct model *model, const struct shape *shape, struct buf *text);

#endif
