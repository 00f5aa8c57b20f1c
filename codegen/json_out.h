/* codegen/json_out.h - the pieces of JSON text that the generator's commands write. */
#ifndef TENON_CODEGEN_JSON_OUT_H
#define TENON_CODEGEN_JSON_OUT_H

#include "base/str.h"

/* Quoted and escaped; UTF-8 passes through. */
void json_out_string(struct buf *out, struct str s);
/* A new line, indented by one blank per level. */
void json_out_line(struct buf *out, int level);
/* Appends "/name" to a JSON pointer (RFC 6901: ~ is ~0, / is ~1). */
void json_out_pointer(struct buf *out, struct str name);

#endif
